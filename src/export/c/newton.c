
/* Newton's method from one guess; steps are halved while they lead away. `room` is for 4 n numbers. */
static int MODEL_newton_KIND_from(MODEL *m, int n, MODEL_space_KIND *space, double *z, MODEL_residuals *residuals, double *room)
{
    double *r = room, *next = r + n, *step = next + n, *other = step + n;
    if (residuals(m, z, r))
        return 1;
    for (int round = 0; round < 60; round++) {
        int zero = 1;
        for (int i = 0; i < n; i++) {
            if (!isfinite(r[i]))
                return 1;
            zero &= r[i] == 0.0;
        }
        if (zero)
            return 0;
        if (MODEL_factor_KIND(m, n, space, z, r, other, residuals))
            return 1;
        for (int i = 0; i < n; i++)
            step[i] = -r[i];
        MODEL_solve_KIND(n, space, step);
        double size = MODEL_size(n, step, z), part = 1.0;
        for (;; part /= 2.0) {
            for (int i = 0; i < n; i++)
                next[i] = z[i] + part * step[i];
            int fails = residuals(m, next, r);
            if (!fails) {
                memcpy(other, r, sizeof(double) * (size_t)n);
                MODEL_solve_KIND(n, space, other);
                /* Done, or nearer than before. */
                double beyond = MODEL_size(n, other, next);
                if ((part == 1.0 && size < 1e-9) || beyond <= (1.0 - part / 4.0) * size) {
                    memcpy(z, next, sizeof(double) * (size_t)n);
                    if (part == 1.0 && (size < 1e-9 || beyond < 1e-14))
                        return 0;
                    break;
                }
            }
            if (part < 1e-9) {
                /* Rounding keeps it from coming nearer. */
                if (size < 1e-7)
                    return residuals(m, z, r);
                return 1;
            }
        }
    }
    return 1;
}

/* Solves a loop from its last solution, else from other guesses. `room` is for 5 n numbers. */
static int MODEL_attempts_KIND(MODEL *m, int n, MODEL_space_KIND *space, double *z, const double *first, MODEL_residuals *residuals,
                               const char *about, double *room)
{
    static const double guesses[] = {0.7, 0.01, 20.0, -1.0, 0.0, 300.0, 1e-6, -20.0};
    int fails = 1;
    double *last = room + 4 * n;
    memcpy(last, z, sizeof(double) * (size_t)n);
    for (int attempt = -2; fails && attempt < 8; attempt++) {
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
