
/* ---- Nonlinear loops of many equations: Newton's method with a sparse matrix. ---- */

typedef struct {
    int n, colors;
    const int *start, *row, *order;       /* derivatives of residuals by columns, and the order in which they are taken */
    const int *color_start, *color_column; /* what can be moved together */
} MODEL_pattern;

typedef struct {
    const MODEL_pattern *pattern;
    MODEL_lu factors;
    double *a, *kept, *delta, *best;
    int *left;
} MODEL_space_sparse;

static int MODEL_factor_sparse(MODEL *m, int n, MODEL_space_sparse *sparse, double *z, const double *r, double *other, double *twice,
                               MODEL_residuals *residuals)
{
    const MODEL_pattern *pattern = sparse->pattern;
    double *a = sparse->a, *kept = sparse->kept, *delta = sparse->delta, *best = sparse->best;
    int *left = sparse->left;
    double largest = MODEL_largest(n, z);
    memcpy(kept, z, sizeof(double) * (size_t)n);
    for (int color = 0; color < pattern->colors; color++) {
        int count = pattern->color_start[color + 1] - pattern->color_start[color], all = 1;
        memcpy(left, pattern->color_column + pattern->color_start[color], sizeof(int) * (size_t)count);
        for (int s = 0; s < count; s++) {
            int sure;
            delta[left[s]] = MODEL_first_move(kept[left[s]], largest, &sure);
            best[left[s]] = HUGE_VAL;
            all &= sure;
        }
        for (int larger = 0; count > 0 && larger < 6; larger++) {
            int rest = 0, fails = 0;
            for (int s = 0; s < count; s++)
                z[left[s]] = kept[left[s]] + delta[left[s]];
            fails = residuals(m, z, other);
            for (int s = 0; s < count; s++)
                z[left[s]] = kept[left[s]] + 2.0 * delta[left[s]];
            fails = fails || (!all && residuals(m, z, twice));
            for (int s = 0; s < count; s++) {
                int j = left[s], moves = 0;
                double apart = 0.0, once = (kept[j] + delta[j]) - kept[j], both = z[j] - kept[j];
                z[j] = kept[j];
                for (int p = pattern->start[j]; p < pattern->start[j + 1] && !fails; p++) {
                    int i = pattern->row[p];
                    double slope = (other[i] - r[i]) / once;
                    apart = fmax(apart, MODEL_apart(slope, all ? slope : (twice[i] - r[i]) / both, &moves));
                }
                if (!moves)
                    apart = 1e3;
                if (!fails && apart < best[j]) {
                    best[j] = apart;
                    for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
                        a[p] = (other[pattern->row[p]] - r[pattern->row[p]]) / once;
                }
                delta[j] *= 100.0;
                if (best[j] > 1e-3 && !fails)
                    left[rest++] = j;
                else if (!(best[j] < HUGE_VAL))
                    return 1;
            }
            count = rest;
        }
    }
    return MODEL_lu_factor(&sparse->factors, pattern->start, pattern->row, a, pattern->order, 0) != MODEL_REGULAR;
}

static void MODEL_solve_sparse(int n, MODEL_space_sparse *sparse, double *b)
{
    (void)n;
    MODEL_lu_solve(&sparse->factors, sparse->pattern->order, b);
}

static int MODEL_attempts_sparse(MODEL *m, int n, MODEL_space_sparse *space, double *z, const double *first,
                                 MODEL_residuals *residuals, const char *about, double *room);

static int MODEL_newton_sparse(MODEL *m, const MODEL_pattern *pattern, const double *first, double *z, MODEL_residuals *residuals,
                               const char *about)
{
    MODEL_space_sparse sparse;
    size_t n = (size_t)pattern->n, entries = (size_t)pattern->start[n];
    double *room = MODEL_room(m, entries + 11 * n);
    if (!room)
        return 1;
    if (!MODEL_lu_open(&sparse.factors, pattern->n)) {
        free(room);
        return MODEL_fail(m, "there is not enough memory", about);
    }
    sparse.pattern = pattern;
    sparse.a = room + 7 * n;
    sparse.kept = sparse.a + entries;
    sparse.delta = sparse.kept + n;
    sparse.best = sparse.delta + n;
    sparse.left = (int *)(sparse.best + n);
    int fails = MODEL_attempts_sparse(m, pattern->n, &sparse, z, first, residuals, about, room);
    MODEL_lu_close(&sparse.factors);
    free(room);
    return fails;
}
