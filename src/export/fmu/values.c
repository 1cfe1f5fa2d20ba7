
/* ---- Values: read and set by their references; the whole state of an instance kept, put back, and as bytes. ---- */

static fmi2Status MODEL_unit_refuse_value(const MODEL_unit *i, const char *function, fmi2ValueReference at, const char *why)
{
    char text[400];
    if (at < MODEL_UNIT_ALL)
        snprintf(text, sizeof text, "`%.200s`: %s", MODEL_unit_names[at], why);
    else
        snprintf(text, sizeof text, "%u: %s", at, why);
    return MODEL_unit_refuse(i, function, text);
}

/* Reads values; what is computed is computed if need be. */
static fmi2Status MODEL_unit_read(MODEL_unit *i, const char *function, const fmi2ValueReference at[], size_t count, int boolean,
                             fmi2Real real[], fmi2Boolean truth[])
{
    if (!MODEL_unit_may(i, MODEL_UNIT_NEW | MODEL_UNIT_STARTING | MODEL_UNIT_RUNS | MODEL_UNIT_OVER, function))
        return fmi2Error;
    MODEL_unit_kept *k = &i->kept;
    for (size_t n = 0; n < count; n++) {
        if (at[n] >= MODEL_UNIT_ALL || !(MODEL_unit_roles[at[n]] & MODEL_UNIT_BOOLEAN) != !boolean)
            return MODEL_unit_refuse_value(i, function, at[n], "there is no variable of this type with this value reference");
        int direct = (MODEL_unit_roles[at[n]] & MODEL_UNIT_DIRECT) && (k->stage & (MODEL_UNIT_RUNS | MODEL_UNIT_OVER));
        if (!direct && MODEL_unit_compute(k, 1))
            return MODEL_unit_fails(i, function, k->stage == MODEL_UNIT_MOVING ? fmi2Discard : fmi2Error);
        double value = *MODEL_unit_place(k, at[n]);
        if (boolean)
            truth[n] = value != 0.0;
        else
            real[n] = value;
    }
    return fmi2OK;
}

/* Sets values: before the start they are kept until all are known, later they count at once. */
static fmi2Status MODEL_unit_write(MODEL_unit *i, const char *function, const fmi2ValueReference at[], size_t count, int boolean,
                              const fmi2Real real[], const fmi2Boolean truth[])
{
    if (!MODEL_unit_may(i, MODEL_UNIT_NEW | MODEL_UNIT_STARTING | MODEL_UNIT_RUNS, function))
        return fmi2Error;
    MODEL_unit_kept *k = &i->kept;
    for (size_t n = 0; n < count; n++) {
        if (at[n] >= MODEL_UNIT_ALL || !(MODEL_unit_roles[at[n]] & MODEL_UNIT_BOOLEAN) != !boolean)
            return MODEL_unit_refuse_value(i, function, at[n], "there is no variable of this type with this value reference");
        int role = MODEL_unit_roles[at[n]];
        double value = boolean ? truth[n] != 0 : real[n];
        if (!(role & (MODEL_UNIT_PARAMETER | MODEL_UNIT_BEGINS | MODEL_UNIT_INPUT)))
            return MODEL_unit_refuse_value(i, function, at[n], "the model computes it, it cannot be set");
        if (!isfinite(value))
            return MODEL_unit_refuse_value(i, function, at[n], "the value is not a number");
        if (k->stage & (MODEL_UNIT_NEW | MODEL_UNIT_STARTING)) {
            k->given[at[n]] = value;
            k->is_given[at[n]] = 1;
            k->known = 0;
            continue;
        }
        if (role & MODEL_UNIT_BEGINS)
            return MODEL_unit_refuse_value(i, function, at[n], "a start value cannot be set after the start");
        if (role & MODEL_UNIT_PARAMETER && k->stage == MODEL_UNIT_MOVING)
            return MODEL_unit_refuse_value(i, function, at[n], "a parameter can be set at events only");
        if (*MODEL_unit_place(k, at[n]) == value)
            continue;
        *MODEL_unit_place(k, at[n]) = value;
        k->known = 0;
        k->touched = 1;
        k->derives |= (role & MODEL_UNIT_PARAMETER) != 0;
    }
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetReal)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Real value[])
{
    return MODEL_unit_read(c, "fmi2GetReal", at, count, 0, value, NULL);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetBoolean)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Boolean value[])
{
    return MODEL_unit_read(c, "fmi2GetBoolean", at, count, 1, NULL, value);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetReal)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Real value[])
{
    return MODEL_unit_write(c, "fmi2SetReal", at, count, 0, value, NULL);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetBoolean)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Boolean value[])
{
    return MODEL_unit_write(c, "fmi2SetBoolean", at, count, 1, NULL, value);
}

/* No model here has integers or texts. */
static fmi2Status MODEL_unit_none(MODEL_unit *i, const char *function, size_t count)
{
    if (!i)
        return fmi2Error;
    return count == 0 ? fmi2OK : MODEL_unit_refuse(i, function, "the model has no variables of this type");
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetInteger)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Integer value[])
{
    (void)at, (void)value;
    return MODEL_unit_none(c, "fmi2GetInteger", count);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetInteger)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Integer value[])
{
    (void)at, (void)value;
    return MODEL_unit_none(c, "fmi2SetInteger", count);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetString)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2String value[])
{
    (void)at, (void)value;
    return MODEL_unit_none(c, "fmi2GetString", count);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetString)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2String value[])
{
    (void)at, (void)value;
    return MODEL_unit_none(c, "fmi2SetString", count);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference of[], size_t count,
                                                               const fmi2ValueReference by[], size_t directions, const fmi2Real along[],
                                                               fmi2Real value[])
{
    (void)of, (void)count, (void)by, (void)directions, (void)along, (void)value;
    return c ? MODEL_unit_refuse(c, "fmi2GetDirectionalDerivative", "this unit does not offer it") : fmi2Error;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    MODEL_unit *i = c;
    if (!i || !state)
        return fmi2Error;
    if (!*state)
        *state = i->callbacks.allocateMemory ? i->callbacks.allocateMemory(1, sizeof(MODEL_unit_kept)) : calloc(1, sizeof(MODEL_unit_kept));
    if (!*state)
        return MODEL_unit_refuse(i, "fmi2GetFMUstate", "there is not enough memory");
    memcpy(*state, &i->kept, sizeof(MODEL_unit_kept));
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    MODEL_unit *i = c;
    if (!i)
        return fmi2Error;
    if (!state)
        return MODEL_unit_refuse(i, "fmi2SetFMUstate", "there is no state");
    memcpy(&i->kept, state, sizeof(MODEL_unit_kept));
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    MODEL_unit *i = c;
    if (!i)
        return fmi2Error;
    if (state && *state) {
        MODEL_unit_release(i, *state);
        *state = NULL;
    }
    return fmi2OK;
}

/* A state as bytes begins with the guid: that of another unit is not taken. */
MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    if (!c || !state || !size)
        return fmi2Error;
    *size = sizeof MODEL_UNIT_GUID + sizeof(MODEL_unit_kept);
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    MODEL_unit *i = c;
    if (!i || !state || !bytes)
        return fmi2Error;
    if (size < sizeof MODEL_UNIT_GUID + sizeof(MODEL_unit_kept))
        return MODEL_unit_refuse(i, "fmi2SerializeFMUstate", "the place for the bytes is too small");
    const MODEL *m = &((const MODEL_unit_kept *)state)->m;
    const char *nothing = NULL;
    char *to = bytes + sizeof MODEL_UNIT_GUID;
    memcpy(bytes, MODEL_UNIT_GUID, sizeof MODEL_UNIT_GUID);
    memcpy(to, state, sizeof(MODEL_unit_kept));
    /* Addresses mean nothing elsewhere: the texts of a failure stay here. */
    memcpy(to + ((const char *)&m->what - (const char *)state), &nothing, sizeof nothing);
    memcpy(to + ((const char *)&m->about - (const char *)state), &nothing, sizeof nothing);
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    MODEL_unit *i = c;
    if (!i || !bytes || !state)
        return fmi2Error;
    if (size != sizeof MODEL_UNIT_GUID + sizeof(MODEL_unit_kept) || memcmp(bytes, MODEL_UNIT_GUID, sizeof MODEL_UNIT_GUID) != 0)
        return MODEL_unit_refuse(i, "fmi2DeSerializeFMUstate", "these bytes are not a state of this unit");
    if (!*state)
        *state = i->callbacks.allocateMemory ? i->callbacks.allocateMemory(1, sizeof(MODEL_unit_kept)) : calloc(1, sizeof(MODEL_unit_kept));
    if (!*state)
        return MODEL_unit_refuse(i, "fmi2DeSerializeFMUstate", "there is not enough memory");
    memcpy(*state, bytes + sizeof MODEL_UNIT_GUID, sizeof(MODEL_unit_kept));
    return fmi2OK;
}
