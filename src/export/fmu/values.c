
/* ---- Values: read and set by their references; the whole state of an instance kept, put back, and as bytes. ---- */

static fmi2Status MODEL_refuse_value(const MODEL_instance *i, const char *function, fmi2ValueReference at, const char *why)
{
    char text[400];
    if (at < MODEL_ALL)
        snprintf(text, sizeof text, "`%.200s`: %s", MODEL_names[at], why);
    else
        snprintf(text, sizeof text, "%u: %s", at, why);
    return MODEL_refuse(i, function, text);
}

/* Reads values; what is computed is computed if need be. */
static fmi2Status MODEL_read(MODEL_instance *i, const char *function, const fmi2ValueReference at[], size_t count, int boolean,
                             fmi2Real real[], fmi2Boolean truth[])
{
    if (!MODEL_may(i, MODEL_NEW | MODEL_STARTING | MODEL_RUNS | MODEL_OVER, function))
        return fmi2Error;
    MODEL_kept *k = &i->kept;
    for (size_t n = 0; n < count; n++) {
        if (at[n] >= MODEL_ALL || !(MODEL_roles[at[n]] & MODEL_BOOLEAN) != !boolean)
            return MODEL_refuse_value(i, function, at[n], "there is no variable of this type with this value reference");
        int direct = (MODEL_roles[at[n]] & MODEL_DIRECT) && (k->stage & (MODEL_RUNS | MODEL_OVER));
        if (!direct && MODEL_compute(k, 1))
            return MODEL_fails(i, function, k->stage == MODEL_MOVING ? fmi2Discard : fmi2Error);
        double value = *MODEL_place(k, at[n]);
        if (boolean)
            truth[n] = value != 0.0;
        else
            real[n] = value;
    }
    return fmi2OK;
}

/* Sets values: before the start they are kept until all are known, later they count at once. */
static fmi2Status MODEL_write(MODEL_instance *i, const char *function, const fmi2ValueReference at[], size_t count, int boolean,
                              const fmi2Real real[], const fmi2Boolean truth[])
{
    if (!MODEL_may(i, MODEL_NEW | MODEL_STARTING | MODEL_RUNS, function))
        return fmi2Error;
    MODEL_kept *k = &i->kept;
    for (size_t n = 0; n < count; n++) {
        if (at[n] >= MODEL_ALL || !(MODEL_roles[at[n]] & MODEL_BOOLEAN) != !boolean)
            return MODEL_refuse_value(i, function, at[n], "there is no variable of this type with this value reference");
        int role = MODEL_roles[at[n]];
        double value = boolean ? truth[n] != 0 : real[n];
        if (!(role & (MODEL_PARAMETER | MODEL_BEGINS | MODEL_INPUT)))
            return MODEL_refuse_value(i, function, at[n], "the model computes it, it cannot be set");
        if (!isfinite(value))
            return MODEL_refuse_value(i, function, at[n], "the value is not a number");
        if (k->stage & (MODEL_NEW | MODEL_STARTING)) {
            k->given[at[n]] = value;
            k->is_given[at[n]] = 1;
            k->known = 0;
            continue;
        }
        if (role & MODEL_BEGINS)
            return MODEL_refuse_value(i, function, at[n], "a start value cannot be set after the start");
        if (role & MODEL_PARAMETER && k->stage == MODEL_MOVING)
            return MODEL_refuse_value(i, function, at[n], "a parameter can be set at events only");
        if (*MODEL_place(k, at[n]) == value)
            continue;
        *MODEL_place(k, at[n]) = value;
        k->known = 0;
        k->touched = 1;
        k->derives |= (role & MODEL_PARAMETER) != 0;
    }
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetReal)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Real value[])
{
    return MODEL_read(c, "fmi2GetReal", at, count, 0, value, NULL);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetBoolean)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Boolean value[])
{
    return MODEL_read(c, "fmi2GetBoolean", at, count, 1, NULL, value);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetReal)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Real value[])
{
    return MODEL_write(c, "fmi2SetReal", at, count, 0, value, NULL);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetBoolean)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Boolean value[])
{
    return MODEL_write(c, "fmi2SetBoolean", at, count, 1, NULL, value);
}

/* No model here has integers or texts. */
static fmi2Status MODEL_none(MODEL_instance *i, const char *function, size_t count)
{
    if (!i)
        return fmi2Error;
    return count == 0 ? fmi2OK : MODEL_refuse(i, function, "the model has no variables of this type");
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetInteger)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2Integer value[])
{
    (void)at, (void)value;
    return MODEL_none(c, "fmi2GetInteger", count);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetInteger)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2Integer value[])
{
    (void)at, (void)value;
    return MODEL_none(c, "fmi2SetInteger", count);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetString)(fmi2Component c, const fmi2ValueReference at[], size_t count, fmi2String value[])
{
    (void)at, (void)value;
    return MODEL_none(c, "fmi2GetString", count);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetString)(fmi2Component c, const fmi2ValueReference at[], size_t count, const fmi2String value[])
{
    (void)at, (void)value;
    return MODEL_none(c, "fmi2SetString", count);
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference of[], size_t count,
                                                               const fmi2ValueReference by[], size_t directions, const fmi2Real along[],
                                                               fmi2Real value[])
{
    (void)of, (void)count, (void)by, (void)directions, (void)along, (void)value;
    return c ? MODEL_refuse(c, "fmi2GetDirectionalDerivative", "this unit does not offer it") : fmi2Error;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    MODEL_instance *i = c;
    if (!i || !state)
        return fmi2Error;
    if (!*state)
        *state = i->callbacks.allocateMemory ? i->callbacks.allocateMemory(1, sizeof(MODEL_kept)) : calloc(1, sizeof(MODEL_kept));
    if (!*state)
        return MODEL_refuse(i, "fmi2GetFMUstate", "there is not enough memory");
    memcpy(*state, &i->kept, sizeof(MODEL_kept));
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    MODEL_instance *i = c;
    if (!i)
        return fmi2Error;
    if (!state)
        return MODEL_refuse(i, "fmi2SetFMUstate", "there is no state");
    memcpy(&i->kept, state, sizeof(MODEL_kept));
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    MODEL_instance *i = c;
    if (!i)
        return fmi2Error;
    if (state && *state) {
        MODEL_release(i, *state);
        *state = NULL;
    }
    return fmi2OK;
}

/* A state as bytes begins with the guid: that of another unit is not taken. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    if (!c || !state || !size)
        return fmi2Error;
    *size = sizeof MODEL_GUID + sizeof(MODEL_kept);
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    MODEL_instance *i = c;
    if (!i || !state || !bytes)
        return fmi2Error;
    if (size < sizeof MODEL_GUID + sizeof(MODEL_kept))
        return MODEL_refuse(i, "fmi2SerializeFMUstate", "the place for the bytes is too small");
    const MODEL *m = &((const MODEL_kept *)state)->m;
    const char *nothing = NULL;
    char *to = bytes + sizeof MODEL_GUID;
    memcpy(bytes, MODEL_GUID, sizeof MODEL_GUID);
    memcpy(to, state, sizeof(MODEL_kept));
    /* Addresses mean nothing elsewhere: the texts of a failure stay here. */
    memcpy(to + ((const char *)&m->what - (const char *)state), &nothing, sizeof nothing);
    memcpy(to + ((const char *)&m->about - (const char *)state), &nothing, sizeof nothing);
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    MODEL_instance *i = c;
    if (!i || !bytes || !state)
        return fmi2Error;
    if (size != sizeof MODEL_GUID + sizeof(MODEL_kept) || memcmp(bytes, MODEL_GUID, sizeof MODEL_GUID) != 0)
        return MODEL_refuse(i, "fmi2DeSerializeFMUstate", "these bytes are not a state of this unit");
    if (!*state)
        *state = i->callbacks.allocateMemory ? i->callbacks.allocateMemory(1, sizeof(MODEL_kept)) : calloc(1, sizeof(MODEL_kept));
    if (!*state)
        return MODEL_refuse(i, "fmi2DeSerializeFMUstate", "there is not enough memory");
    memcpy(*state, bytes + sizeof MODEL_GUID, sizeof(MODEL_kept));
    return fmi2OK;
}
