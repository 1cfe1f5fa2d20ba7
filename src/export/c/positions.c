
/* ---- Positions of switches. At an event each position that is tried begins from the values before it, and only the last one is
   kept. Where they do not satisfy what the position asks of them, they jump, and the impulses that make them do so decide relations
   before all else. As in `bgm simulate`. ---- */

/* What keeps its value between events, as far as an event may change it. */
typedef struct {
    double held[MODEL_WATCHES + 1];
    MODEL_discretes d;
} MODEL_truths;

/* What the rounds of an event have come to. */
typedef struct {
    MODEL before;    /* values that positions begin from */
    MODEL_truths kept; /* when the position was entered */
    int stands;      /* the run is where its truths say */
    int jumped;       /* states have jumped */
    double impulse[MODEL_WATCHES + 1];
} MODEL_standing;

static MODEL_truths MODEL_keeps(const MODEL *m)
{
    MODEL_truths kept;
    memset(&kept, 0, sizeof kept);
    memcpy(kept.held, m->held, sizeof kept.held);
    kept.d = m->d;
    return kept;
}

static void MODEL_put_back(MODEL *m, const MODEL_truths *kept)
{
    memcpy(m->held, kept->held, sizeof m->held);
    m->d = kept->d;
}

/* Whether the values satisfy what a position asks of them. */
static int MODEL_holds(int n, const double *rest, const double *terms)
{
    for (int i = 0; i < n; i++)
        if (terms[i] >= 0.0 && !(fabs(rest[i]) <= 1e-12 * terms[i]))
            return 0;
    return 1;
}

/* Solves for what jumps; z are the values before it and then those after it, with impulses. `a` has room for two matrices. */
static int MODEL_solve_jump(MODEL *m, const MODEL_mode *mode, double *z, double *a)
{
    int n = mode->size, row[MODEL_JUMP + 1];
    double start[MODEL_JUMP + 1], rest[MODEL_JUMP + 1], terms[MODEL_JUMP + 1], scale[MODEL_JUMP + 1];
    double last = HUGE_VAL, *first = a + (size_t)n * n;
    memcpy(start, z, sizeof(double) * (size_t)n);
    for (int turn = 0;; turn++) {
        double largest = 0.0, change = 0.0;
        memset(a, 0, sizeof(double) * (size_t)n * n);
        mode->jump(m, start, z, rest, terms, a);
        if (turn == 0)
            memcpy(first, a, sizeof(double) * (size_t)n * n);
        if (turn > 0 && (last <= 1e-14 || turn == 50))
            break;
        if (!MODEL_factor(n, a, row, scale))
            return 1;
        MODEL_solve(n, a, row, rest);
        for (int j = 0; j < n; j++) {
            if (!isfinite(rest[j]))
                return 1;
            z[j] -= rest[j];
            largest = fmax(largest, fmax(fabs(z[j]), fabs(start[j])));
        }
        for (int j = 0; j < n; j++)
            change = fmax(change, fabs(rest[j]) / fmax(fabs(z[j]) + fabs(start[j]) + 1e-9 * largest, DBL_MIN));
        mode->put(m, z);
        if (change >= last && change < 1e-9)
            change = 0.0;
        last = change;
    }
    if (!(last <= 1e-14))
        return 1;
    /* With coefficients that are others afterwards it would matter in which order things jump. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && terms[i] < 0.0; j++) {
            double here = first[i * n + j], there = a[i * n + j];
            if (z[j] != start[j] && fabs(here - there) > 1e-7 * (fabs(here) + fabs(there)))
                return 1;
        }
    return 0;
}

/* Goes into a position from the values before the event. */
static int MODEL_enter(MODEL *m, int to, MODEL_standing *s)
{
    const MODEL_mode *mode = &MODEL_modes[to];
    int n = mode->size;
    (void)MODEL_or_zero;
    s->jumped = s->stands = 0;
    memset(s->impulse, 0, sizeof s->impulse);
    m->position = to;
    m->x = s->before.x;
    m->v = s->before.v;
    if (n > 0) {
        double z[MODEL_JUMP + 1], rest[MODEL_JUMP + 1], terms[MODEL_JUMP + 1], largest = 0.0;
        double *a = calloc(2 * (size_t)n * n, sizeof *a);
        MODEL *trial = malloc(sizeof *trial);
        int fails = !a || !trial;
        if (fails)
            MODEL_fail(m, "there is not enough memory", "");
        if (!fails) {
            /* What cannot jump is as it is here; what can, as it was. */
            *trial = *m;
            if (MODEL_evaluate(trial))
                *trial = *m;
            mode->get(&s->before, z);
            mode->put(trial, z);
            mode->jump(trial, z, z, rest, terms, a);
            if (!MODEL_holds(n, rest, terms)) {
                fails = mode->apart(trial);
                if (fails) {
                    m->failed = 1, m->what = trial->what, m->about = trial->about, m->failed_at = m->time;
                } else if (MODEL_solve_jump(trial, mode, z, a)) {
                    fails = MODEL_fail(m, "what jumps cannot be computed in a position of the switches", mode->name);
                } else {
                    const double *from = (const double *)&s->before.x, *now = (const double *)&trial->x;
                    for (int i = 0; i < MODEL_STATES; i++) {
                        double size = fmax(m->sizes[i], fabs(from[i]));
                        double least = fmax(m->absolute + m->relative * size, 2e-12 * m->largest);
                        s->jumped |= fabs(now[i] - from[i]) > least;
                    }
                    mode->put(m, z);
                    for (int i = 0; i < 2 * MODEL_WATCHES; i++)
                        if (mode->sides[i] >= 0)
                            largest = fmax(largest, fabs(z[mode->sides[i]]));
                    for (int i = 0; s->jumped && i < 2 * MODEL_WATCHES; i++)
                        if (mode->sides[i] >= 0 && fabs(z[mode->sides[i]]) > 1e-12 * largest)
                            s->impulse[i / 2] += (i % 2 ? -1.0 : 1.0) * z[mode->sides[i]];
                }
            }
        }
        free(a);
        free(trial);
        if (fails)
            return 1;
    }
    if (MODEL_project(m, NULL) || MODEL_evaluate(m))
        return 1;
    s->kept = MODEL_keeps(m);
    s->stands = 1;
    return 0;
}

/* Goes where the truths say. */
static int MODEL_stand(MODEL *m, MODEL_standing *s)
{
    if (MODEL_evaluate(m))
        return 1;
    int to = MODEL_by_key[MODEL_key(m)];
    MODEL_truths kept = MODEL_keeps(m);
    /* A source that jumps in the same position moves what is tied to it. */
    if (s->stands && to == m->position && !memcmp(&kept, &s->kept, sizeof kept))
        return 0;
    s->stands = 0;
    if (to < 0)
        return MODEL_fail(m, "switches come to a position that is impossible", "");
    return MODEL_enter(m, to, s);
}

/* A switch that decides for itself goes into its other position. */
static void MODEL_flip(MODEL *m, int i)
{
    double *d = (double *)&m->d;
    d[MODEL_own[i]] = 1.0 - d[MODEL_own[i]];
}

/* Looks for a position in which one or two more of the switches that decide for themselves have changed, but not those that just
   did; 1 if there is one: the run stands there then. */
static int MODEL_accompanied(MODEL *m, MODEL_standing *s, const int *moved)
{
    MODEL_truths kept = MODEL_keeps(m);
    int failed = m->failed;
    for (int pairs = 0; pairs < 2; pairs++)
        for (int i = 0; i < MODEL_SWITCHES; i++)
            for (int j = pairs ? i + 1 : i; j < (pairs ? MODEL_SWITCHES : i + 1); j++) {
                if (MODEL_own[i] < 0 || MODEL_own[j] < 0 || (moved && (moved[MODEL_own[i]] || moved[MODEL_own[j]])))
                    continue;
                MODEL_flip(m, i);
                if (j != i)
                    MODEL_flip(m, j);
                if (!MODEL_stand(m, s))
                    return 1;
                m->failed = failed;
                MODEL_put_back(m, &kept);
            }
    return 0;
}

/* How many discrete variables are to be other than they are. */
static int MODEL_to_be_other(const MODEL *m)
{
    const double *now = (const double *)&m->d, *next = (const double *)&m->next;
    int count = 0;
    for (int i = 0; i < MODEL_DISCRETES; i++)
        count += next[i] != now[i] && !isnan(next[i]);
    return count;
}

/* Whether nothing is against a position: relations that are sure have their truth, and those whose sides are equal and do not move
   may be either. */
static int MODEL_suits(MODEL *m, MODEL_standing *s)
{
    const int *at_zero = MODEL_modes[m->position].at_zero;
    MODEL_judged judged[MODEL_WATCHES + 1];
    int here = m->position, count;
    for (int turn = 0, changed = 1; changed && turn < 10; turn++) {
        changed = 0;
        MODEL_judge(m, s->impulse, judged);
        for (int i = 0; i < MODEL_WATCHES; i++) {
            int decided = judged[i].verdict == SURE || judged[i].verdict == MOVES || (judged[i].verdict == TIE && at_zero[i]);
            if (decided && judged[i].decided != m->held[i]) {
                m->held[i] = judged[i].decided;
                changed = 1;
            }
        }
        if (MODEL_evaluate(m) || MODEL_by_key[MODEL_key(m)] != here)
            return 0;
    }
    count = MODEL_to_be_other(m);
    MODEL_judge(m, s->impulse, judged);
    for (int i = 0; i < MODEL_WATCHES && count; i++) {
        double held = m->held[i];
        if (judged[i].verdict != TIE || at_zero[i] || (held != 0.0 && held != 1.0))
            continue;
        m->held[i] = 1.0 - held;
        int better = MODEL_evaluate(m) ? count : MODEL_to_be_other(m);
        if (better < count && MODEL_by_key[MODEL_key(m)] == here) {
            count = better;
            continue;
        }
        m->held[i] = held;
        MODEL_evaluate(m);
    }
    s->kept = MODEL_keeps(m);
    return !count;
}

/* Looks for a position that nothing is against, one switch away, then two, and so on. */
static int MODEL_search(MODEL *m, MODEL_standing *s)
{
    MODEL_truths kept = MODEL_keeps(m);
    int failed = m->failed;
    if (MODEL_evaluate(m))
        return 1;
    unsigned key = MODEL_key(m);
    for (int away = 0; away <= MODEL_SWITCHES; away++)
        for (unsigned other = 0; other < 1u << MODEL_SWITCHES; other++) {
            int count = 0, free = MODEL_by_key[other] >= 0;
            for (int i = 0; i < MODEL_SWITCHES; i++)
                if ((key ^ other) >> i & 1u) {
                    count++;
                    free &= MODEL_own[i] >= 0;
                }
            if (!free || count != away)
                continue;
            MODEL_put_back(m, &kept);
            for (int i = 0; i < MODEL_SWITCHES; i++)
                if ((key ^ other) >> i & 1u)
                    MODEL_flip(m, i);
            if (!MODEL_evaluate(m) && MODEL_key(m) == other && !MODEL_stand(m, s) && MODEL_suits(m, s))
                return 0;
            m->failed = failed;
            s->stands = 0;
        }
    MODEL_put_back(m, &kept);
    return MODEL_fail(m, "no position of the switches is consistent", "");
}

/* What comes first: relations, and then what follows from them. Where there are impulses, what they decide, and only then what the
   values after the jump say. */
static int MODEL_rank(const MODEL_standing *s, int i) { return s->jumped && s->impulse[i] == 0.0 ? 2 : 0; }

static unsigned long long MODEL_mark(const MODEL *m)
{
    MODEL_truths kept = MODEL_keeps(m);
    const unsigned char *bytes = (const unsigned char *)&kept, *states = (const unsigned char *)&m->x;
    unsigned long long mark = 14695981039346656037ull;
    for (size_t i = 0; i < sizeof kept; i++)
        mark = (mark ^ bytes[i]) * 1099511628211ull;
    for (size_t i = 0; i < sizeof m->x; i++)
        mark = (mark ^ states[i]) * 1099511628211ull;
    return mark;
}

/* A jump has been made: what comes now begins from the values after it. */
static void MODEL_landed(const MODEL *m, MODEL_standing *s)
{
    s->before = *m;
    s->jumped = 0;
    memset(s->impulse, 0, sizeof s->impulse);
}

static int MODEL_settle_positions(MODEL *m, MODEL_standing *s)
{
    enum { ROUNDS = 200 + 8 * (MODEL_WATCHES + MODEL_DISCRETES), ALL = MODEL_WATCHES + MODEL_DISCRETES };
    unsigned long long seen[ROUNDS];
    int single = 0, barred[ALL + 1] = {0}, refused = 0, marks = 0, last_count = 0, last_changes[ALL + 1] = {0};
    MODEL_truths last;
    const char *what = NULL, *about = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        int failed = m->failed;
        if (MODEL_stand(m, s)) {
            /* Back, and another way. */
            what = m->what, about = m->about;
            int jumped = s->jumped;
            m->failed = failed;
            s->stands = 0;
            if (!last_count) {
                if (MODEL_accompanied(m, s, NULL))
                    continue;
                return MODEL_fail(m, what, about);
            }
            if (!single && last_count > 1)
                single = 1;
            else {
                for (int i = 0; i < ALL; i++)
                    barred[i] |= last_changes[i];
                if (!jumped && MODEL_accompanied(m, s, last_changes + MODEL_WATCHES)) {
                    memset(barred, 0, sizeof barred);
                    single = 1;
                    last_count = 0;
                    continue;
                }
            }
            MODEL_put_back(m, &last);
            last_count = 0;
            refused = 1;
            continue;
        }
        MODEL_judged judged[MODEL_WATCHES + 1];
        MODEL_discretes d = m->d;
        MODEL_states x = m->x;
        int changes[ALL + 1] = {0}, count = 0, wanted = 0, least = 4, fixed[MODEL_STATES + 1] = {0}, acts = 0, restarts = 0;
        const double *next = (const double *)&m->next;
        double *now = (double *)&m->d, value[ALL + 1], *set = (double *)&d;
        MODEL_judge(m, s->impulse, judged);
        for (int i = 0; i < MODEL_WATCHES; i++) {
            value[i] = judged[i].decided;
            changes[i] = judged[i].verdict != UNKNOWN && value[i] != m->held[i] ? 1 + MODEL_rank(s, i) : 0;
        }
        for (int i = 0; i < MODEL_DISCRETES; i++) {
            value[MODEL_WATCHES + i] = next[i];
            changes[MODEL_WATCHES + i] = next[i] != now[i] && !isnan(next[i]) ? 2 : 0;
        }
        if (MODEL_whens(m, &d, &x, fixed, &acts))
            return 1;
        for (int i = 0; i < MODEL_STATES; i++)
            restarts |= fixed[i];
        for (int i = 0; i < ALL; i++) {
            wanted += changes[i] > 0;
            if (changes[i] && !barred[i])
                least = changes[i] < least ? changes[i] : least;
        }
        for (int i = 0; i < ALL; i++) {
            changes[i] = changes[i] == least && !barred[i] && (!single || !count);
            count += changes[i];
        }
        if (!count && !acts) {
            if (refused && wanted) {
                memset(barred, 0, sizeof barred);
                refused = 0;
                if (MODEL_search(m, s))
                    return MODEL_fail(m, what, about);
            }
            if (!s->jumped)
                return 0;
            /* What the impulses decide is decided; now for the values after the jump. */
            MODEL_landed(m, s);
            single = marks = last_count = 0;
            continue;
        }
        last = MODEL_keeps(m);
        for (int i = 0; i < MODEL_DISCRETES; i++)
            if (set[i] != now[i])
                now[i] = set[i];
            else if (changes[MODEL_WATCHES + i])
                now[i] = value[MODEL_WATCHES + i];
        for (int i = 0; i < MODEL_WATCHES; i++)
            if (changes[i])
                m->held[i] = value[i];
        memcpy(last_changes, changes, sizeof changes);
        last_count = restarts ? 0 : count;
        if (restarts) {
            m->x = x;
            if (MODEL_project(m, fixed) || MODEL_evaluate(m))
                return 1;
            s->before = *m;
        }
        unsigned long long mark = MODEL_mark(m);
        int again = 0;
        for (int i = 0; i < marks; i++)
            again |= seen[i] == mark;
        seen[marks++] = mark;
        if (!again)
            continue;
        /* It goes round: a position that is not against what it says itself. */
        if (MODEL_search(m, s))
            return 1;
        d = m->d;
        acts = 0;
        if (MODEL_whens(m, &d, &x, fixed, &acts))
            return 1;
        if (!acts && !s->jumped)
            return 0;
        if (!acts)
            MODEL_landed(m, s);
        m->d = d;
        single = marks = last_count = 0;
    }
    return MODEL_fail(m, "an event comes to no end: something is true when it is false", "");
}

static MODEL_standing *MODEL_stand_here(MODEL *m)
{
    MODEL_standing *s = calloc(1, sizeof *s);
    if (!s) {
        MODEL_fail(m, "there is not enough memory", "");
        return NULL;
    }
    s->before = *m;
    s->kept = MODEL_keeps(m);
    s->stands = 1;
    return s;
}

static int MODEL_rounds(MODEL *m)
{
    MODEL_standing *s = MODEL_stand_here(m);
    int fails = !s || MODEL_settle_positions(m, s);
    free(s);
    for (int i = 0; i < MODEL_STATES; i++)
        m->largest = fmax(m->largest, fabs(((double *)&m->x)[i]));
    return fails;
}

/* Whether switches that decide for themselves are in a position as their variables say. */
static int MODEL_as_given(const MODEL *m, int at)
{
    const double *d = (const double *)&m->d;
    for (unsigned key = 0; key < 1u << MODEL_SWITCHES; key++) {
        int same = MODEL_by_key[key] == at;
        for (int i = 0; i < MODEL_SWITCHES && same; i++)
            same = MODEL_own[i] < 0 || (d[MODEL_own[i]] != 0.0) == (int)(key >> i & 1u);
        if (same)
            return 1;
    }
    return 0;
}

/* The position to begin in: the first in which nothing has to change; else the first that is as the discrete variables say and in
   which nothing jumps (where a current is zero only for the moment, relations as they are written say otherwise); else the first
   that is possible. */
static int MODEL_first_truths(MODEL *m)
{
    enum { NONE, POSSIBLE, GIVEN, SUITS };
    MODEL_standing *s = MODEL_stand_here(m);
    MODEL *best = malloc(sizeof *best);
    int found = NONE;
    if (!s || !best) {
        free(s);
        free(best);
        return MODEL_fail(m, "there is not enough memory", "");
    }
    for (int at = 0; at < MODEL_MODES && found < SUITS; at++) {
        *m = s->before;
        if (MODEL_enter(m, at, s))
            continue;
        /* Without switches truths alone decide what constraints say: the start values do not jump once these are known. */
        int fails = 0;
        for (int round = 0; round < 3 && !MODEL_SWITCHES && s->jumped && !fails; round++) {
            MODEL_decide_all(m);
            if (!memcmp(s->before.held, m->held, sizeof m->held))
                break;
            memcpy(s->before.held, m->held, sizeof m->held);
            *m = s->before;
            s->kept = MODEL_keeps(m);
            fails = MODEL_enter(m, at, s);
        }
        if (fails)
            continue;
        int same = !s->jumped, rank = same && MODEL_as_given(m, at) ? GIVEN : POSSIBLE;
        for (int round = 0; round < 3 && same; round++) {
            MODEL_decide_all(m);
            same = !MODEL_evaluate(m) && MODEL_by_key[MODEL_key(m)] == at;
        }
        if (same && !MODEL_to_be_other(m))
            rank = SUITS;
        if (rank > found) {
            m->failed = 0;
            found = rank;
            *best = *m;
        }
    }
    if (found)
        *m = *best;
    free(s);
    free(best);
    return !found || MODEL_evaluate(m);
}
