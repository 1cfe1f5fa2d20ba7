
/* Ways to change what is not as it should be: all at once; one at a time, which ends where that goes round; and ties that do not
   move keep their truth; and ties are ties, however they move. */
enum { TOGETHER, SINGLE, KEEPING, RESTING };

static int MODEL_rounds(MODEL *m)
{
    int way = TOGETHER, round = 0, most = 40 + 4 * (MODEL_WATCHES + MODEL_DISCRETES);
    for (;;) {
        MODEL_judged judged[MODEL_WATCHES + 1];
        double held[MODEL_WATCHES + 1] = {0};
        int changes = 0;
        if (MODEL_evaluate(m))
            return 1;
        MODEL_judge(m, NULL, judged);
        for (int i = 0; i < MODEL_WATCHES; i++) {
            double decided = judged[i].decided;
            held[i] = m->held[i];
            if (judged[i].verdict == UNKNOWN)
                continue;
            if (judged[i].verdict == MOVES && way == RESTING)
                decided = judged[i].rest;
            else if (judged[i].verdict == TIE && way == KEEPING)
                decided = held[i];
            m->rests[i] = judged[i].verdict != SURE && way == RESTING;
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

/* Relations for the first time, as they are written. Truths are needed to compute the sides of others: twice is enough for most,
   the rest is settled. */
static int MODEL_first_truths(MODEL *m)
{
    if (MODEL_project(m, NULL))
        return 1;
    memcpy(m->held, MODEL_truths_at_start, sizeof(double) * MODEL_WATCHES);
    for (int round = 0; round < 2; round++) {
        if (MODEL_evaluate(m))
            return 1;
        MODEL_decide_all(m);
    }
    return MODEL_evaluate(m);
}
