
/* The next time that is known in advance, of a sample or a relation that is linear in Time; those of now do not count. */
static double MODEL_next_known(MODEL *m)
{
    double next = HUGE_VAL, time = m->time, delta = 1e-3 * m->span;
    double side[2 * MODEL_WATCHES + 2], later[2 * MODEL_WATCHES + 2];
    MODEL_sides(m, side);
    m->time = time + delta;
    MODEL_sides(m, later);
    m->time = time;
    for (int i = 0; i < MODEL_WATCHES; i++) {
        if (!MODEL_timed[i])
            continue;
        double difference = side[2 * i] - side[2 * i + 1];
        double slope = (later[2 * i] - later[2 * i + 1] - difference) / delta, left = -difference;
        if (MODEL_kinds[i] == FLOOR || MODEL_kinds[i] == CEIL)
            left = m->held[i] - difference + (MODEL_kinds[i] == FLOOR ? slope > 0.0 : -(slope < 0.0));
        if (isfinite(left / slope) && left / slope > 8.0 * DBL_EPSILON * fabs(time))
            next = fmin(next, time + left / slope);
    }
    double start[MODEL_SAMPLERS + 1], period[MODEL_SAMPLERS + 1];
    MODEL_samples(m, start, period);
    for (int i = 0; i < MODEL_SAMPLERS; i++) {
        double count = fmax(0.0, floor((time - start[i]) / period[i])), at;
        if (!(period[i] > 0.0))
            continue;
        while ((at = start[i] + count * period[i]) <= time || MODEL_at_once(at, time))
            count += 1.0;
        next = fmin(next, at);
    }
    return next;
}

/* Settles what happens now: relations, discrete variables, `when`s. 0 if that went well. */
int MODEL_event(MODEL *m)
{
    int fails, sampled = 0;
    if (!MODEL_EVENTS)
        return MODEL_evaluate(m);
    m->event = 1;
    fails = MODEL_evaluate(m);
    if (!fails) {
        double start[MODEL_SAMPLERS + 1], period[MODEL_SAMPLERS + 1];
        MODEL_keep(m);
        MODEL_samples(m, start, period);
        for (int i = 0; i < MODEL_SAMPLERS; i++) {
            double count = fmax(0.0, floor((m->time - start[i]) / period[i] + 0.5));
            m->sampled[i] = !m->resettles && MODEL_at_once(start[i] + count * period[i], m->time);
            sampled |= m->sampled[i] != 0.0;
        }
        fails = MODEL_rounds(m);
        if (!fails && sampled) {
            memset(m->sampled, 0, sizeof m->sampled);
            fails = MODEL_rounds(m);
        }
    }
    memset(m->sampled, 0, sizeof m->sampled);
    if (!fails)
        MODEL_keep(m);
    m->event = 0;
    fails = fails || MODEL_evaluate(m);
    if (!fails)
        MODEL_remember(m);
    return fails;
}

/* No step is longer than half a period of a sine, an eighth where a relation may come and go: it would be passed over. */
static void MODEL_limit(MODEL *m)
{
    double here[MODEL_SINES + 1], there[MODEL_SINES + 1], time = m->time, delta = 1e-6 * m->span;
    double shortest = 1e-4, part = 3.141592653589793;
    for (int i = 0; i < MODEL_WATCHES; i++)
        if (!MODEL_timed[i]) {
            shortest = 1e-6;
            part = 0.25 * 3.141592653589793;
        }
    MODEL_sine_arguments(m, here);
    m->time = time + delta;
    MODEL_sine_arguments(m, there);
    m->time = time;
    for (int i = 0; i < MODEL_SINES; i++) {
        double speed = fabs(there[i] - here[i]) / delta;
        if (speed > 0.0 && isfinite(speed))
            m->longest = fmin(m->longest, fmax(part / speed, shortest * m->span));
    }
}

/* Values at the start: relations as they are written, then an event. Parameters, inputs and states are as they were set. */
int MODEL_begin(MODEL *m)
{
    m->failed = 0;
    if (MODEL_derive(m))
        return 1;
    m->event = 1;
    if (MODEL_first_truths(m))
        return 1;
    MODEL_conditions(m);
    m->event = 0;
    MODEL_limit(m);
    return MODEL_event(m);
}
