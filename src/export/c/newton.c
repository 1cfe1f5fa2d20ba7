
/* Newton's method from one guess; steps are halved while they lead away. As in `bgm simulate`: a step is long or short beside the
   values before and after the whole step, for a variable on its way through zero has no size of its own. `room` is for 6 n numbers. */
static int MODEL_newton_KIND_from(MODEL *m, int n, MODEL_space_KIND *space, double *z, MODEL_residuals *residuals, double *room)
{
    double *r = room, *next = r + n, *step = next + n, *other = step + n, *beside = other + n, *most = beside + n;
    if (residuals(m, z, r))
        return 1;
    for (int i = 0; i < n; i++)
        most[i] = fabs(z[i]);
    for (int round = 0; round < 60; round++) {
        int zero = 1;
        for (int i = 0; i < n; i++) {
            if (!isfinite(r[i]))
                return 1;
            zero &= r[i] == 0.0;
        }
        if (zero)
            return 0;
        if (MODEL_factor_KIND(m, n, space, z, r, other, next, residuals))
            return 1;
        for (int i = 0; i < n; i++)
            step[i] = -r[i];
        MODEL_solve_KIND(n, space, step);
        for (int i = 0; i < n; i++)
            beside[i] = fmax(fabs(z[i]), fabs(z[i] + step[i]));
        double size = MODEL_size(n, step, beside, most), part = 1.0;
        if (!(size < HUGE_VAL))
            return 1;
        for (;; part /= 2.0) {
            for (int i = 0; i < n; i++)
                next[i] = z[i] + part * step[i];
            int fails = residuals(m, next, r);
            if (!fails) {
                memcpy(other, r, sizeof(double) * (size_t)n);
                MODEL_solve_KIND(n, space, other);
                /* Done, or nearer than before. */
                double beyond = MODEL_size(n, other, beside, most);
                if ((part == 1.0 && size < 1e-9) || beyond <= (1.0 - part / 4.0) * size) {
                    memcpy(z, next, sizeof(double) * (size_t)n);
                    for (int i = 0; i < n; i++)
                        most[i] = fmax(most[i], fabs(z[i]));
                    if (part == 1.0 && (size < 1e-9 || beyond < 1e-14))
                        return 0;
                    break;
                }
            }
            if (part < 1e-9) {
                /* Rounding keeps it from coming nearer: no step makes the residuals smaller, and it is one that a run does not see. */
                int small = 1;
                for (int i = 0; i < n; i++)
                    small &= fabs(step[i]) <= 0.1 * (m->absolute + m->relative * fmax(fabs(z[i]), most[i]));
                if (small || size < 1e-7)
                    return residuals(m, z, r);
                return 1;
            }
        }
    }
    return 1;
}

/* Solves a loop from its last solution, else from other guesses. `room` is for 7 n numbers. */
static int MODEL_attempts_KIND(MODEL *m, int n, MODEL_space_KIND *space, double *z, const double *first, MODEL_residuals *residuals,
                               const char *about, double *room)
{
    static const double guesses[] = {0.7, 0.01, 20.0, -1.0, 0.0, 300.0, 1e-6, -20.0};
    int fails = 1, some = 0;
    double *last = room + 6 * n;
    memcpy(last, z, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++)
        some |= z[i] != 0.0;
    /* Nothing but zeros is what it was before anything was solved. */
    for (int attempt = some ? -2 : -1; fails && attempt < 8; attempt++) {
        int failed = m->failed;
        for (int i = 0; i < n; i++)
            z[i] = attempt == -2 ? last[i] : attempt == -1 ? first[i] : guesses[attempt];
        fails = MODEL_newton_KIND_from(m, n, space, z, residuals, room);
        m->failed = failed;
    }
    if (fails) {
        memcpy(z, last, sizeof(double) * (size_t)n);
        MODEL_fail(m, "no solution of a loop was found", about);
    }
    return fails;
}
