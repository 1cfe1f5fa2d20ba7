
/* ---- Model exchange: derivatives, event indicators, events. ---- */

MODEL_SEEN fmi2Status MODEL_NAME(fmi2EnterEventMode)(fmi2Component c)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_MOVING | MODEL_AT_EVENT, "fmi2EnterEventMode"))
        return fmi2Error;
    i->kept.stage = MODEL_AT_EVENT;
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2EnterContinuousTimeMode)(fmi2Component c)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_AT_EVENT, "fmi2EnterContinuousTimeMode"))
        return fmi2Error;
    i->kept.stage = MODEL_MOVING;
    return fmi2OK;
}

/* Settles the event of this moment: one call does all of it. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_AT_EVENT, "fmi2NewDiscreteStates"))
        return fmi2Error;
    MODEL_kept *k = &i->kept;
    MODEL_states before = k->m.x;
    if (k->touched && MODEL_settle(i, 1))
        return MODEL_fails(i, "fmi2NewDiscreteStates", fmi2Error);
    if (MODEL_compute(k, 0))
        return MODEL_fails(i, "fmi2NewDiscreteStates", fmi2Error);
    const double *was = (const double *)&before, *is = (const double *)&k->m.x;
    memset(info, 0, sizeof *info);
    for (int at = 0; at < MODEL_STATES; at++)
        if (was[at] != is[at])
            info->valuesOfContinuousStatesChanged = fmi2True;
    info->nextEventTime = MODEL_next_known(&k->m);
    info->nextEventTimeDefined = info->nextEventTime < HUGE_VAL;
    if (!info->nextEventTimeDefined)
        info->nextEventTime = 0.0;
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetTime)(fmi2Component c, fmi2Real time)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_AT_EVENT | MODEL_MOVING, "fmi2SetTime"))
        return fmi2Error;
    if (!isfinite(time))
        return MODEL_refuse(i, "fmi2SetTime", "a time is not a number");
    if (time != i->kept.m.time) {
        i->kept.m.time = time;
        i->kept.known = 0;
        i->kept.touched = 1;
    }
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t count)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_AT_EVENT | MODEL_MOVING, "fmi2SetContinuousStates"))
        return fmi2Error;
    if (count != MODEL_STATES)
        return MODEL_refuse(i, "fmi2SetContinuousStates", "not as many numbers as there are states");
    if (count > 0 && memcmp(&i->kept.m.x, x, count * sizeof *x) != 0) {
        memcpy(&i->kept.m.x, x, count * sizeof *x);
        i->kept.known = 0;
        i->kept.touched = 1;
    }
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t count)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_STARTING | MODEL_RUNS | MODEL_OVER, "fmi2GetContinuousStates"))
        return fmi2Error;
    if (count != MODEL_STATES)
        return MODEL_refuse(i, "fmi2GetContinuousStates", "not as many numbers as there are states");
    if (i->kept.stage == MODEL_STARTING && MODEL_compute(&i->kept, 0))
        return MODEL_fails(i, "fmi2GetContinuousStates", fmi2Error);
    if (count > 0)
        memcpy(x, &i->kept.m.x, count * sizeof *x);
    return fmi2OK;
}

/* Absolute tolerances are made of these: where a state is smaller than this, digits of it do not count. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominal[], size_t count)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_NEW | MODEL_STARTING | MODEL_RUNS | MODEL_OVER, "fmi2GetNominalsOfContinuousStates"))
        return fmi2Error;
    if (count != MODEL_STATES)
        return MODEL_refuse(i, "fmi2GetNominalsOfContinuousStates", "not as many numbers as there are states");
    for (size_t at = 0; at < count; at++)
        nominal[at] = MODEL_NOMINAL;
    return fmi2OK;
}

/* Where derivatives cannot be computed a shorter step may help. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetDerivatives)(fmi2Component c, fmi2Real rate[], size_t count)
{
    MODEL_instance *i = c;
    if (!MODEL_may(i, MODEL_STARTING | MODEL_RUNS | MODEL_OVER, "fmi2GetDerivatives"))
        return fmi2Error;
    if (count != MODEL_STATES)
        return MODEL_refuse(i, "fmi2GetDerivatives", "not as many numbers as there are states");
    if (MODEL_compute(&i->kept, 0))
        return MODEL_fails(i, "fmi2GetDerivatives", i->kept.stage == MODEL_MOVING ? fmi2Discard : fmi2Error);
    if (count > 0)
        memcpy(rate, i->kept.rate, count * sizeof *rate);
    return fmi2OK;
}

/* Positive as long as a relation is true and may stay so, negative as long as it is false; of what has more than two values, positive
   as long as it may keep the one it has. Beyond the place where the sides are equal there is a margin, wider than what counts as
   equal at events: so what has just been settled is not at zero, and it is clear which way it was settled. */
static double MODEL_indicator(const MODEL *m, int at, const double *side)
{
    double difference = side[2 * at] - side[2 * at + 1], held = m->held[at];
    double margin = fmax((m->rests[at] ? 256.0 : 16.0) * MODEL_zero(m, at, side), 1e-200);
    switch (MODEL_kinds[at]) {
    case LESS:
    case LESS_EQUAL: return held != 0.0 ? margin - difference : -margin - difference;
    case GREATER:
    case GREATER_EQUAL: return held != 0.0 ? difference + margin : difference - margin;
    case SIGN: return held == 0.0 ? margin - fabs(difference) : held > 0.0 ? difference + margin : margin - difference;
    case FLOOR: return fmin(difference - held, held + 1.0 - difference) + margin;
    default: return fmin(difference - held + 1.0, held - difference) + margin;
    }
}

/* Relations that move with Time alone are not among them: their times are told beforehand. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetEventIndicators)(fmi2Component c, fmi2Real indicator[], size_t count)
{
    MODEL_instance *i = c;
    size_t n = 0;
    if (!MODEL_may(i, MODEL_STARTING | MODEL_RUNS | MODEL_OVER, "fmi2GetEventIndicators"))
        return fmi2Error;
    if (count != MODEL_INDICATORS)
        return MODEL_refuse(i, "fmi2GetEventIndicators", "not as many numbers as there are event indicators");
    if (MODEL_compute(&i->kept, 0))
        return MODEL_fails(i, "fmi2GetEventIndicators", i->kept.stage == MODEL_MOVING ? fmi2Discard : fmi2Error);
    double side[2 * MODEL_WATCHES + 2];
    MODEL_sides(&i->kept.m, side);
    for (int at = 0; at < MODEL_WATCHES; at++)
        if (!MODEL_timed[at])
            indicator[n++] = MODEL_indicator(&i->kept.m, at, side);
    return fmi2OK;
}

/* A step of the integrator outside is done: how large the sides of relations are is remembered. States that drift away from their
   constraints are to be moved back, which needs an event. */
MODEL_SEEN fmi2Status MODEL_NAME(fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean forward, fmi2Boolean *event, fmi2Boolean *ends)
{
    MODEL_instance *i = c;
    (void)forward;
    if (!MODEL_may(i, MODEL_MOVING, "fmi2CompletedIntegratorStep"))
        return fmi2Error;
    MODEL *m = &i->kept.m;
    *event = *ends = fmi2False;
    if (MODEL_compute(&i->kept, 0))
        return MODEL_fails(i, "fmi2CompletedIntegratorStep", fmi2Error);
    MODEL_remember(m);
    if (MODEL_SELECTIONS) {
        MODEL_states before = m->x;
        if (MODEL_project(m, NULL))
            return MODEL_fails(i, "fmi2CompletedIntegratorStep", fmi2Error);
        const double *was = (const double *)&before, *is = (const double *)&m->x;
        for (int at = 0; at < MODEL_STATES; at++)
            if (fabs(is[at] - was[at]) > m->absolute + m->relative * fabs(is[at]))
                *event = fmi2True;
        m->x = before;
        i->kept.known = 0;
        i->kept.touched = 1;
    }
    return fmi2OK;
}
