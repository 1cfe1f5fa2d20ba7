
/* ---- Nonlinear loops of many equations: Newton's method with a sparse matrix. ---- */

typedef struct {
    int n, colors;
    const int *start, *row, *order;       /* derivatives of residuals by columns, and the order in which they are taken */
    const int *color_start, *color_column; /* what can be moved together */
} MODEL_pattern;

typedef struct {
    const MODEL_pattern *pattern;
    MODEL_lu factors;
    double *a, *kept, *delta;
    int *left;
} MODEL_space_sparse;

static int MODEL_factor_sparse(MODEL *m, int n, MODEL_space_sparse *sparse, double *z, const double *r, double *other,
                               MODEL_residuals *residuals)
{
    const MODEL_pattern *pattern = sparse->pattern;
    double *a = sparse->a, *kept = sparse->kept, *delta = sparse->delta;
    int *left = sparse->left;
    memcpy(kept, z, sizeof(double) * (size_t)n);
    for (int color = 0; color < pattern->colors; color++) {
        int count = pattern->color_start[color + 1] - pattern->color_start[color];
        memcpy(left, pattern->color_column + pattern->color_start[color], sizeof(int) * (size_t)count);
        /* As small as z itself, unless that is lost in rounding. */
        for (int s = 0; s < count; s++)
            delta[left[s]] = kept[left[s]] != 0.0 ? 1e-7 * fabs(kept[left[s]]) : 1e-13;
        for (int larger = 0; count > 0 && larger < 4; larger++) {
            int rest = 0;
            for (int s = 0; s < count; s++)
                z[left[s]] = kept[left[s]] + delta[left[s]];
            if (residuals(m, z, other))
                return 1;
            for (int s = 0; s < count; s++) {
                int j = left[s], moves = 0;
                for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
                    int i = pattern->row[p];
                    a[p] = (other[i] - r[i]) / (z[j] - kept[j]);
                    moves |= other[i] != r[i];
                }
                z[j] = kept[j];
                delta[j] *= 1e4;
                if (!moves)
                    left[rest++] = j;
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
    double *room = MODEL_room(m, entries + 8 * n);
    if (!room)
        return 1;
    if (!MODEL_lu_open(&sparse.factors, pattern->n)) {
        free(room);
        return MODEL_fail(m, "there is not enough memory", about);
    }
    sparse.pattern = pattern;
    sparse.a = room + 5 * n;
    sparse.kept = sparse.a + entries;
    sparse.delta = sparse.kept + n;
    sparse.left = (int *)(sparse.delta + n);
    int fails = MODEL_attempts_sparse(m, pattern->n, &sparse, z, first, residuals, about, room);
    MODEL_lu_close(&sparse.factors);
    free(room);
    return fails;
}
