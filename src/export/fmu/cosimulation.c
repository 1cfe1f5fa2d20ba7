
/* ---- Co-simulation: steps with the integrator of the program, through all events. ---- */

MODEL_SEEN fmi2Status MODEL_NAME(fmi2DoStep)(fmi2Component c, fmi2Real now, fmi2Real length, fmi2Boolean forward)
{
    MODEL_instance *i = c;
    (void)forward;
    if (!MODEL_may(i, MODEL_STEPPING, "fmi2DoStep"))
        return fmi2Error;
    MODEL_kept *k = &i->kept;
    MODEL *m = &k->m;
    double until = now + length;
    if (!isfinite(until) || !(length >= 0.0))
        return MODEL_refuse(i, "fmi2DoStep", "the length of the step is not a positive number");
    if (fabs(now - m->time) > 1e-9 * fmax(m->span, fabs(m->time)))
        return MODEL_refuse(i, "fmi2DoStep", "the communication point is not where the last step ended");
    if (k->touched) {
        double held[MODEL_WATCHES + 1];
        memcpy(held, m->held, sizeof held);
        if (MODEL_settle(i, 0))
            return MODEL_fails(i, "fmi2DoStep", fmi2Error);
        /* What begins here is new. */
        if (memcmp(held, m->held, sizeof held) != 0)
            m->step = 0.0;
    }
    m->failed = 0;
    k->known = 0;
    if (until > m->time && MODEL_advance(m, until))
        return MODEL_fails(i, "fmi2DoStep", fmi2Error);
    k->settled = m->time;
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2CancelStep)(fmi2Component c)
{
    return c ? MODEL_refuse(c, "fmi2CancelStep", "no step is under way: steps are done when fmi2DoStep comes back") : fmi2Error;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference at[], size_t count,
                                                              const fmi2Integer order[], const fmi2Real value[])
{
    (void)at, (void)order, (void)value;
    if (!c)
        return fmi2Error;
    return count == 0 ? fmi2OK : MODEL_refuse(c, "fmi2SetRealInputDerivatives", "inputs are constant during a step");
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference at[], size_t count,
                                                               const fmi2Integer order[], fmi2Real value[])
{
    (void)at, (void)order, (void)value;
    if (!c)
        return fmi2Error;
    return count == 0 ? fmi2OK : MODEL_refuse(c, "fmi2GetRealOutputDerivatives", "this unit does not offer derivatives of outputs");
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status *value)
{
    (void)value, (void)kind;
    return c ? MODEL_refuse(c, "fmi2GetStatus", "no step is under way: steps are done when fmi2DoStep comes back") : fmi2Error;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetRealStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Real *value)
{
    MODEL_instance *i = c;
    if (!i || !value)
        return fmi2Error;
    if (kind != fmi2LastSuccessfulTime)
        return MODEL_refuse(i, "fmi2GetRealStatus", "there is no such status");
    *value = i->kept.m.time;
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    return c ? MODEL_refuse(c, "fmi2GetIntegerStatus", "there is no such status") : fmi2Error;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value)
{
    MODEL_instance *i = c;
    if (!i || !value)
        return fmi2Error;
    if (kind != fmi2Terminated)
        return MODEL_refuse(i, "fmi2GetBooleanStatus", "there is no such status");
    *value = fmi2False;
    return fmi2OK;
}

MODEL_SEEN fmi2Status MODEL_NAME(fmi2GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String *value)
{
    (void)kind, (void)value;
    return c ? MODEL_refuse(c, "fmi2GetStringStatus", "there is no such status") : fmi2Error;
}
