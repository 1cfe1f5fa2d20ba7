
/* ---- Events: relations are decided, discrete variables get their next values, `when`s act. ---- */

enum { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, SIGN, FLOOR, CEIL };

static double MODEL_decide(int kind, double difference)
{
    switch (kind) {
    case LESS: return difference < 0.0;
    case LESS_EQUAL: return difference <= 0.0;
    case GREATER: return difference > 0.0;
    case GREATER_EQUAL: return difference >= 0.0;
    case SIGN: return MODEL_sign(difference);
    case FLOOR: return floor(difference);
    default: return ceil(difference);
    }
}

/* The same where the sides are equal, by the way they move. */
static double MODEL_decide_at(int kind, double difference, double slope)
{
    double whole = floor(difference + 0.5);
    switch (kind) {
    case FLOOR: return whole - (slope < 0.0);
    case CEIL: return whole + (slope > 0.0);
    default: return MODEL_decide(kind, slope);
    }
}

/* How far it is from where it is decided otherwise, as seen from what is kept. */
static double MODEL_distance(int kind, double difference, double held)
{
    switch (kind) {
    case FLOOR: return difference < held + 0.5 ? difference - held : difference - held - 1.0;
    case CEIL: return difference < held - 0.5 ? difference - held + 1.0 : difference - held;
    default: return difference;
    }
}

/* Times that are the same but for rounding. */
static int MODEL_at_once(double a, double b) { return fabs(a - b) <= 8.0 * DBL_EPSILON * fabs(a); }

/* Differences of sides smaller than this are zero. */
static double MODEL_zero(const MODEL *m, int i, const double *side)
{
    double size = fmax(fabs(side[2 * i]), fabs(side[2 * i + 1]));
    return 1e-13 * fmax(m->scale[i], m->shared * m->largest) + 4.0 * DBL_EPSILON * size;
}

/* Whether a relation is not what it was, clearly. */
static int MODEL_changed(const MODEL *m, int i, const double *side)
{
    double difference = side[2 * i] - side[2 * i + 1];
    double distance = MODEL_distance(MODEL_kinds[i], difference, m->held[i]);
    double times = pow(10.0, m->dull[i]) * (m->rests[i] ? 16.0 : 1.0);
    if (!(fabs(distance) > times * MODEL_zero(m, i, side)))
        return 0;
    return MODEL_decide(MODEL_kinds[i], difference) != m->held[i];
}

static void MODEL_remember(MODEL *m)
{
    double side[2 * MODEL_WATCHES + 2];
    MODEL_sides(m, side);
    for (int i = 0; i < MODEL_WATCHES; i++) {
        double size = fmax(fabs(side[2 * i]), fabs(side[2 * i + 1]));
        if (isfinite(size)) {
            m->scale[i] = fmax(m->scale[i], size);
            m->largest = fmax(m->largest, size);
        }
        if (fabs(side[2 * i] - side[2 * i + 1]) > pow(10.0, m->dull[i] + 1) * MODEL_zero(m, i, side))
            m->dull[i] = 0;
    }
}

/* Counts a change of a relation: endlessly many in no time are a failure, and so are those that come ever sooner, as of a ball that
   comes to rest. As in `bgm simulate`. */
static int MODEL_count(MODEL *m, int i)
{
    int was = m->held[i] != 0.0;
    double between = m->crowd[was][i] > 0 ? m->time - m->last_event[was][i] : 0.0, unlike = 1e3 * DBL_EPSILON * fabs(m->time);
    m->sooner[was][i] = between < 0.98 * m->between[was][i] ? m->sooner[was][i] + 1 : 0;
    m->between[was][i] = between;
    m->last_event[was][i] = m->time;
    if (m->crowd[was][i] == 0 || !(m->time - m->crowd_since[was][i] < fmax(1e-5 * m->span, unlike))) {
        m->crowd[was][i] = 0;
        m->crowd_since[was][i] = m->time;
    }
    if (++m->crowd[was][i] > 100 || (m->sooner[was][i] >= 20 && between < 1e-6 * m->span))
        return MODEL_fail(m, "events follow each other without end", MODEL_relations[i]);
    return 0;
}

/* How the sides of relations move along the solution. */
static int MODEL_slopes(MODEL *m, const double *side, double *slope)
{
    double later[2 * MODEL_WATCHES + 2];
    double time = m->time, delta = 1e-8 * m->span, *states = (double *)&m->x;
    /* Too large for a stack. */
    struct {
        MODEL_states x;
        MODEL_inputs u;
        MODEL_variables v;
        double rate[MODEL_STATES + 1];
    } *kept = malloc(sizeof *kept);
    int failed = m->failed;
    memset(slope, 0, sizeof *slope * MODEL_WATCHES);
    if (!kept)
        return !MODEL_fail(m, "there is not enough memory", "");
    kept->x = m->x;
    kept->u = m->u;
    kept->v = m->v;
    MODEL_rates(m, kept->rate);
    m->time += delta;
    delta = m->time - time;
    for (int i = 0; i < MODEL_STATES; i++)
        states[i] += delta * kept->rate[i];
    int fails = MODEL_evaluate(m);
    if (!fails)
        MODEL_sides(m, later);
    m->failed = failed;
    m->x = kept->x;
    m->u = kept->u;
    m->v = kept->v;
    m->time = time;
    free(kept);
    for (int i = 0; i < MODEL_WATCHES; i++) {
        double moved = fails ? 0.0 : (later[2 * i] - later[2 * i + 1]) - (side[2 * i] - side[2 * i + 1]);
        double size = fmax(fabs(side[2 * i]), fabs(side[2 * i + 1]));
        slope[i] = fabs(moved) > 8.0 * DBL_EPSILON * size ? moved / delta : 0.0;
    }
    return !fails;
}

/* Ways to change what is not as it should be: all at once; one at a time, which ends where that goes round; and ties that do not
   move keep their truth; and ties are ties, however they move. */
enum { TOGETHER, SINGLE, KEEPING, RESTING };

static int MODEL_rounds(MODEL *m)
{
    int way = TOGETHER, round = 0, most = 40 + 4 * (MODEL_WATCHES + MODEL_DISCRETES);
    for (;;) {
        double side[2 * MODEL_WATCHES + 2], slope[MODEL_WATCHES + 1];
        int changes = 0, sloped = 0;
        if (MODEL_evaluate(m))
            return 1;
        double held[MODEL_WATCHES + 1] = {0};
        MODEL_sides(m, side);
        for (int i = 0; i < MODEL_WATCHES; i++) {
            int kind = MODEL_kinds[i];
            double difference = side[2 * i] - side[2 * i + 1], zero = 4.0 * MODEL_zero(m, i, side);
            held[i] = m->held[i];
            if (isnan(difference))
                continue;
            double nearest = kind == FLOOR || kind == CEIL ? difference - floor(difference + 0.5) : difference;
            int tie = fabs(nearest) <= zero;
            double decided = MODEL_decide(kind, difference);
            if (!tie && MODEL_timed[i] && decided != m->held[i]) {
                /* Of a time that was computed the last digits are not known. */
                if (!sloped++)
                    MODEL_slopes(m, side, slope);
                tie = fabs(nearest) <= zero + 16.0 * DBL_EPSILON * fabs(m->time * slope[i]);
            }
            if (tie) {
                if (!sloped++)
                    MODEL_slopes(m, side, slope);
                if (slope[i] != 0.0 && way != RESTING)
                    decided = MODEL_decide_at(kind, difference, slope[i]);
                else if (slope[i] == 0.0 && way == KEEPING)
                    decided = m->held[i];
                else
                    decided = MODEL_decide_at(kind, difference, 0.0);
            }
            m->rests[i] = tie && way == RESTING;
            if (decided != m->held[i] && (way == TOGETHER || !changes)) {
                held[i] = decided;
                changes++;
            }
        }
        MODEL_discretes d = m->d;
        double *now = (double *)&d;
        const double *next = (const double *)&m->next;
        for (int i = 0; i < MODEL_DISCRETES; i++)
            if (next[i] != now[i] && !isnan(next[i]) && (way == TOGETHER || !changes)) {
                now[i] = next[i];
                changes++;
            }
        MODEL_states x = m->x;
        int fixed[MODEL_STATES + 1] = {0}, acts = 0;
        if (MODEL_whens(m, &d, &x, fixed, &acts))
            return 1;
        if (!changes && !acts)
            return 0;
        memcpy(m->held, held, sizeof held);
        m->d = d;
        m->x = x;
        if (acts && MODEL_project(m, fixed))
            return 1;
        if (++round > most) {
            round = 0;
            if (++way > RESTING)
                return MODEL_fail(m, "an event comes to no end: something is true when it is false", "");
        }
    }
}

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
    double side[2 * MODEL_WATCHES + 2];
    m->failed = 0;
    if (MODEL_derive(m) || MODEL_project(m, NULL))
        return 1;
    m->event = 1;
    for (int round = 0; round < 2; round++) {
        if (MODEL_evaluate(m))
            return 1;
        MODEL_sides(m, side);
        for (int i = 0; i < MODEL_WATCHES; i++) {
            double decided = MODEL_decide(MODEL_kinds[i], side[2 * i] - side[2 * i + 1]);
            m->held[i] = isnan(decided) ? 0.0 : decided;
            double size = fmax(fabs(side[2 * i]), fabs(side[2 * i + 1]));
            if (isfinite(size))
                m->largest = fmax(m->largest, size);
        }
    }
    if (MODEL_evaluate(m))
        return 1;
    MODEL_conditions(m);
    m->event = 0;
    MODEL_limit(m);
    return MODEL_event(m);
}
