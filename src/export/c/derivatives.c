
/* The first thing that is not a number, as a failure. */
static int MODEL_not_finite(MODEL *m)
{
    const double *v = (const double *)&m->v;
    for (int i = 0; i < MODEL_COMPUTED; i++)
        if (!isfinite(v[i]))
            return MODEL_fail(m, "not a number", MODEL_variable_names[i]);
    return MODEL_fail(m, "a derivative is not a number", "");
}

/* Derivatives of the states, where everything was computed. */
static int MODEL_finite_rates(MODEL *m, double *rate)
{
    MODEL_rates(m, rate);
    for (int i = 0; i < MODEL_STATES; i++)
        if (!isfinite(rate[i]))
            return MODEL_not_finite(m);
    return 0;
}

/* Derivatives of the states at m->time, m->x, m->u; all else is computed on the way. 0 if that went well. */
int MODEL_derivatives(MODEL *m, double *rate) { return MODEL_evaluate(m) || MODEL_finite_rates(m, rate); }

/* Moves states back onto their constraints, as little as possible; those that are fixed stay. */
int MODEL_project(MODEL *m, const int *fixed)
{
    int fails;
    /* Not every model needs all of these. */
    (void)MODEL_square, (void)MODEL_sign, (void)MODEL_mod, (void)MODEL_table, (void)MODEL_linear, (void)MODEL_newton;
    (void)MODEL_nearest;
    if (!MODEL_SELECTIONS)
        return 0;
    for (int i = 0; i < MODEL_STATES; i++)
        m->fixed[i] = fixed ? fixed[i] : 0;
    m->projects = 1;
    fails = MODEL_evaluate(m);
    m->projects = 0;
    return fails;
}
