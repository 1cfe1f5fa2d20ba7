
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

/* Decides all relations as they are written, the sides being equal or not. */
static void MODEL_decide_all(MODEL *m)
{
    double side[2 * MODEL_WATCHES + 2];
    MODEL_sides(m, side);
    for (int i = 0; i < MODEL_WATCHES; i++) {
        double decided = MODEL_decide(MODEL_kinds[i], side[2 * i] - side[2 * i + 1]);
        m->held[i] = isnan(decided) ? 0.0 : decided;
        double size = fmax(fabs(side[2 * i]), fabs(side[2 * i + 1]));
        if (isfinite(size))
            m->largest = fmax(m->largest, size);
    }
}

/* What a relation is: by its sides or their impulse, by the way they move where they are equal, or they are equal and do not move. */
enum { SURE, MOVES, TIE, UNKNOWN };

typedef struct {
    int verdict;
    double decided, rest; /* what it is; what it is where its sides rest */
} MODEL_judged;

static void MODEL_judge(MODEL *m, const double *impulse, MODEL_judged *all)
{
    double side[2 * MODEL_WATCHES + 2], slope[MODEL_WATCHES + 1] = {0};
    int sloped = 0;
    MODEL_sides(m, side);
    for (int i = 0; i < MODEL_WATCHES; i++) {
        int kind = MODEL_kinds[i];
        double difference = side[2 * i] - side[2 * i + 1], zero = 4.0 * MODEL_zero(m, i, side);
        all[i].verdict = UNKNOWN;
        all[i].decided = all[i].rest = m->held[i];
        if (isnan(difference))
            continue;
        all[i].verdict = SURE;
        all[i].rest = MODEL_decide_at(kind, difference, 0.0);
        if (impulse && impulse[i] != 0.0) {
            all[i].decided = MODEL_decide(kind, impulse[i]);
            continue;
        }
        double nearest = kind == FLOOR || kind == CEIL ? difference - floor(difference + 0.5) : difference;
        int tie = fabs(nearest) <= zero;
        all[i].decided = MODEL_decide(kind, difference);
        if (!tie && MODEL_timed[i] && all[i].decided != m->held[i]) {
            /* Of a time that was computed the last digits are not known. */
            if (!sloped++)
                MODEL_slopes(m, side, slope);
            tie = fabs(nearest) <= zero + 16.0 * DBL_EPSILON * fabs(m->time * slope[i]);
        }
        if (!tie && m->crossed[i])
            tie = fabs(nearest) <= 1e-7 * fmax(m->scale[i], fmax(fabs(side[2 * i]), fabs(side[2 * i + 1])));
        if (!tie)
            continue;
        if (!sloped++)
            MODEL_slopes(m, side, slope);
        all[i].verdict = slope[i] != 0.0 ? MOVES : TIE;
        all[i].decided = slope[i] != 0.0 ? MODEL_decide_at(kind, difference, slope[i]) : all[i].rest;
    }
}
