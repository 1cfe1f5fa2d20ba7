
/* ---- An instance: what it keeps, what it tells, how it comes and goes. ---- */

/* Where an instance is in its life; sets of these say where a function may be called. */
enum {
    MODEL_UNIT_NEW = 1,       /* made; values of the start may be set */
    MODEL_UNIT_STARTING = 2,  /* initialization mode */
    MODEL_UNIT_AT_EVENT = 4,  /* event mode of model exchange */
    MODEL_UNIT_MOVING = 8,    /* continuous-time mode of model exchange */
    MODEL_UNIT_STEPPING = 16, /* between steps of co-simulation */
    MODEL_UNIT_OVER = 32,
    MODEL_UNIT_RUNS = 4 + 8 + 16
};

typedef struct {
    fmi2CallbackFunctions callbacks;
    fmi2Type kind;
    int talks;
    const char *name;
    MODEL_unit_kept kept;
} MODEL_unit;

/* Says something to whoever runs this: a message is a format, in which some characters have a meaning. */
static void MODEL_unit_say(const MODEL_unit *i, fmi2Status status, const char *text)
{
    char message[4200];
    size_t n = 0;
    for (; *text && n < sizeof message - 2; text++) {
        if (*text == '%' || *text == '#')
            message[n++] = *text;
        message[n++] = *text;
    }
    message[n] = 0;
    if (i->callbacks.logger)
        i->callbacks.logger(i->callbacks.componentEnvironment, i->name, status,
                            status == fmi2Error ? "logStatusError" : status == fmi2Discard ? "logStatusDiscard" : "logEvents", message);
}

/* A call that cannot be served. */
static fmi2Status MODEL_unit_refuse(const MODEL_unit *i, const char *function, const char *why)
{
    char text[500];
    snprintf(text, sizeof text, "%s: %s", function, why);
    MODEL_unit_say(i, fmi2Error, text);
    return fmi2Error;
}

/* The model fails: what, when, and which equation. */
static fmi2Status MODEL_unit_fails(const MODEL_unit *i, const char *function, fmi2Status status)
{
    char why[2000], text[2100];
    MODEL_message(&i->kept.m, why, sizeof why);
    snprintf(text, sizeof text, "%s: %s", function, why);
    MODEL_unit_say(i, status, text);
    return status;
}

/* Whether a function may be called now. */
static int MODEL_unit_may(const MODEL_unit *i, int stages, const char *function)
{
    if (!i)
        return 0;
    if (i->kept.stage & stages)
        return 1;
    MODEL_unit_refuse(i, function, "the standard does not allow this call now");
    return 0;
}

static void MODEL_unit_renew(MODEL_unit_kept *k)
{
    memset(k, 0, sizeof *k);
    k->stage = MODEL_UNIT_NEW;
    k->from = MODEL_FROM;
    k->span = (MODEL_UNTIL) - (MODEL_FROM);
    k->relative = 0.0;
}

static double *MODEL_unit_place(MODEL_unit_kept *k, unsigned at) { return (double *)((char *)k + MODEL_unit_places[at]); }

/* The longest step, of a run as long as this. */
static void MODEL_unit_lengths(MODEL_unit_kept *k)
{
    MODEL *m = &k->m;
    m->span = k->span;
    m->longest = m->span / (MODEL_STATES > 0 ? 20.0 : 2000.0);
}

/* The values at the start, from what was set: 0 if that went well. Start values that follow parameters do so. */
static int MODEL_unit_ready(MODEL_unit_kept *k)
{
    MODEL *m = &k->m;
    MODEL_start(m, k->from);
    m->own_inputs = 0;
    m->failed = 0;
    if (k->relative > 0.0) {
        m->relative = k->relative;
        m->absolute = k->relative * MODEL_UNIT_NOMINAL;
    }
    MODEL_unit_lengths(k);
    for (unsigned at = 0; at < MODEL_UNIT_ALL; at++)
        if (k->is_given[at] && (MODEL_unit_roles[at] & MODEL_UNIT_PARAMETER))
            *MODEL_unit_place(k, at) = k->given[at];
    if (MODEL_derive(m))
        return 1;
    MODEL_initial(m);
    MODEL_unit_first_inputs(m);
    for (unsigned at = 0; at < MODEL_UNIT_ALL; at++)
        if (k->is_given[at] && !(MODEL_unit_roles[at] & MODEL_UNIT_PARAMETER))
            *MODEL_unit_place(k, at) = k->given[at];
    k->derives = 0;
    k->touched = 0;
    k->settled = k->from;
    return MODEL_begin(m);
}

/* All that is computed at this moment: 0 if that went well. */
static int MODEL_unit_compute(MODEL_unit_kept *k, int all)
{
    MODEL *m = &k->m;
    if (k->known == 0) {
        if ((k->stage & (MODEL_UNIT_NEW | MODEL_UNIT_STARTING)) && MODEL_unit_ready(k))
            return 1;
        m->failed = 0;
        if (k->derives && MODEL_derive(m))
            return 1;
        if (MODEL_derivatives(m, k->rate))
            return 1;
        k->known = 1;
    }
    if (all && k->known == 1) {
        MODEL_complete(m);
        k->known = 2;
    }
    return 0;
}

/* What happens now is settled: 0 if that went well. Where changes are counted, too many in no time are a failure. */
static int MODEL_unit_settle(MODEL_unit *i, int counts)
{
    MODEL_unit_kept *k = &i->kept;
    MODEL *m = &k->m;
    m->failed = 0;
    k->known = 0;
    if (k->derives) {
        if (MODEL_derive(m))
            return 1;
        MODEL_unit_lengths(k);
        MODEL_limit(m);
        k->derives = 0;
    }
    if (MODEL_project(m, NULL) || MODEL_evaluate(m))
        return 1;
    if (MODEL_WATCHES > 0 && counts) {
        double side[2 * MODEL_WATCHES + 2];
        MODEL_sides(m, side);
        /* Who integrates from outside stops near the place where the sides are equal: the way they move decides there. */
        for (int at = 0; at < MODEL_WATCHES; at++) {
            m->crossed[at] = MODEL_changed(m, at, side);
            if (m->crossed[at] && MODEL_count(m, at))
                return 1;
        }
    }
    /* A sample that has been taken at this time is not taken again. */
    m->resettles = MODEL_at_once(k->settled, m->time);
    int fails = MODEL_event(m);
    memset(m->crossed, 0, sizeof m->crossed);
    m->resettles = 0;
    k->settled = m->time;
    k->touched = 0;
    if (!fails && i->talks) {
        char text[80];
        snprintf(text, sizeof text, "an event at Time = %.9g", m->time);
        MODEL_unit_say(i, fmi2OK, text);
    }
    return fails;
}

static void MODEL_unit_release(const MODEL_unit *i, void *memory)
{
    if (!i->callbacks.allocateMemory)
        free(memory);
    else if (i->callbacks.freeMemory)
        i->callbacks.freeMemory(memory);
}

MODEL_UNIT_SEEN const char *MODEL_UNIT_NAME(fmi2GetTypesPlatform)(void) { return "default"; }
MODEL_UNIT_SEEN const char *MODEL_UNIT_NAME(fmi2GetVersion)(void) { return "2.0"; }

MODEL_UNIT_SEEN fmi2Component MODEL_UNIT_NAME(fmi2Instantiate)(fmi2String name, fmi2Type kind, fmi2String guid, fmi2String resources,
                                                     const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean talks)
{
    MODEL_unit *i;
    const char *why = NULL;
    (void)resources, (void)visible;
    if (!callbacks)
        return NULL;
    i = callbacks->allocateMemory ? callbacks->allocateMemory(1, sizeof *i) : calloc(1, sizeof *i);
    if (!i) {
        if (callbacks->logger)
            callbacks->logger(callbacks->componentEnvironment, name ? name : "", fmi2Error, "logStatusError",
                              "fmi2Instantiate: there is not enough memory");
        return NULL;
    }
    memset(i, 0, sizeof *i);
    i->callbacks = *callbacks;
    i->kind = kind;
    i->talks = talks;
    i->name = "";
    if (!name || !*name)
        why = "the instance has no name";
    else if (!guid || strcmp(guid, MODEL_UNIT_GUID) != 0)
        why = "the guid is not that of this unit, which is " MODEL_UNIT_GUID;
    else if (kind != fmi2ModelExchange && kind != fmi2CoSimulation)
        why = "neither model exchange nor co-simulation";
    if (!why) {
        size_t size = strlen(name) + 1;
        char *own = callbacks->allocateMemory ? callbacks->allocateMemory(size, 1) : calloc(size, 1);
        if (own)
            i->name = memcpy(own, name, size);
        else
            why = "there is not enough memory";
    }
    if (why) {
        MODEL_unit_refuse(i, "fmi2Instantiate", why);
        MODEL_unit_release(i, i);
        return NULL;
    }
    MODEL_unit_renew(&i->kept);
    return i;
}

MODEL_UNIT_SEEN void MODEL_UNIT_NAME(fmi2FreeInstance)(fmi2Component c)
{
    MODEL_unit *i = c;
    if (!i)
        return;
    MODEL_unit_release(i, (void *)i->name);
    MODEL_unit_release(i, i);
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean talks, size_t count, const fmi2String categories[])
{
    static const char *const known[] = {"logAll", "logEvents", "logStatusError", "logStatusDiscard"};
    MODEL_unit *i = c;
    if (!i)
        return fmi2Error;
    for (size_t at = 0; at < count; at++) {
        int found = 0;
        for (size_t k = 0; categories && categories[at] && k < sizeof known / sizeof *known; k++)
            found |= strcmp(categories[at], known[k]) == 0;
        if (!found)
            return MODEL_unit_refuse(i, "fmi2SetDebugLogging", "there is no such category of messages");
    }
    /* Failures are told in any case. */
    i->talks = talks;
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                                      fmi2Boolean has_stop, fmi2Real stop)
{
    MODEL_unit *i = c;
    if (!MODEL_unit_may(i, MODEL_UNIT_NEW, "fmi2SetupExperiment"))
        return fmi2Error;
    if (!isfinite(start))
        return MODEL_unit_refuse(i, "fmi2SetupExperiment", "the start time is not a number");
    if (has_stop && !(stop >= start))
        return MODEL_unit_refuse(i, "fmi2SetupExperiment", "the stop time is before the start time");
    if (has_tolerance && !(tolerance > 0.0 && tolerance < 1.0))
        return MODEL_unit_refuse(i, "fmi2SetupExperiment", "the tolerance is not between 0 and 1");
    i->kept.from = start;
    if (has_stop && stop > start && isfinite(stop))
        i->kept.span = stop - start;
    i->kept.relative = has_tolerance ? tolerance : 0.0;
    i->kept.known = 0;
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2EnterInitializationMode)(fmi2Component c)
{
    MODEL_unit *i = c;
    if (!MODEL_unit_may(i, MODEL_UNIT_NEW, "fmi2EnterInitializationMode"))
        return fmi2Error;
    i->kept.stage = MODEL_UNIT_STARTING;
    i->kept.known = 0;
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2ExitInitializationMode)(fmi2Component c)
{
    MODEL_unit *i = c;
    if (!MODEL_unit_may(i, MODEL_UNIT_STARTING, "fmi2ExitInitializationMode"))
        return fmi2Error;
    if (MODEL_unit_compute(&i->kept, 0))
        return MODEL_unit_fails(i, "fmi2ExitInitializationMode", fmi2Error);
    i->kept.stage = i->kind == fmi2ModelExchange ? MODEL_UNIT_AT_EVENT : MODEL_UNIT_STEPPING;
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2Terminate)(fmi2Component c)
{
    MODEL_unit *i = c;
    if (!MODEL_unit_may(i, MODEL_UNIT_RUNS, "fmi2Terminate"))
        return fmi2Error;
    i->kept.stage = MODEL_UNIT_OVER;
    return fmi2OK;
}

MODEL_UNIT_SEEN fmi2Status MODEL_UNIT_NAME(fmi2Reset)(fmi2Component c)
{
    MODEL_unit *i = c;
    if (!i)
        return fmi2Error;
    MODEL_unit_renew(&i->kept);
    return fmi2OK;
}
