
/* ---- Sparse matrices: factors by columns, rows chosen as pivots while they are computed (Gilbert and Peierls 1988). ---- */

typedef struct {
    int n;
    size_t l_room, u_room;
    size_t *l_start, *u_start;            /* where columns begin; the diagonals are in `pivot` */
    int *l_row, *u_row;                   /* rows of the lower part are those of the matrix until all are known, then steps */
    int *step_of;                         /* the step in which a row is the pivot; -1 before */
    int *count, *seen, *path, *reach, *ints;
    size_t *next;
    double *l, *u, *pivot, *x, *scale;
} MODEL_lu;

static void MODEL_lu_close(MODEL_lu *f)
{
    free(f->l_start);
    free(f->ints);
    free(f->pivot);
    free(f->l_row);
    free(f->u_row);
    free(f->l);
    free(f->u);
    memset(f, 0, sizeof *f);
}

/* Room for matrices of a size; 0 if there is none. */
static int MODEL_lu_open(MODEL_lu *f, int n)
{
    size_t size = (size_t)n + 1;
    memset(f, 0, sizeof *f);
    f->n = n;
    f->l_start = malloc(3 * size * sizeof *f->l_start);
    f->ints = malloc(5 * size * sizeof *f->ints);
    f->pivot = malloc(3 * size * sizeof *f->pivot);
    if (!f->l_start || !f->ints || !f->pivot) {
        MODEL_lu_close(f);
        return 0;
    }
    f->u_start = f->l_start + size;
    f->next = f->u_start + size;
    f->step_of = f->ints;
    f->count = f->step_of + size;
    f->seen = f->count + size;
    f->path = f->seen + size;
    f->reach = f->path + size;
    f->x = f->pivot + size;
    f->scale = f->x + size;
    return 1;
}

/* One more column of up to `more` entries. */
static int MODEL_lu_grow(size_t *room, size_t used, size_t more, int **row, double **value)
{
    if (used + more <= *room)
        return 1;
    size_t size = 2 * used + more + 64;
    int *rows = realloc(*row, size * sizeof **row);
    if (rows)
        *row = rows;
    double *values = realloc(*value, size * sizeof **value);
    if (values)
        *value = values;
    if (!rows || !values)
        return 0;
    *room = size;
    return 1;
}

/* All rows that column `column` reaches through the factors of before, each behind those that it is computed from: f->reach from
   the place that comes back on. */
static int MODEL_lu_reach(MODEL_lu *f, int k, int column, const int *start, const int *row)
{
    int top = f->n;
    for (int entry = start[column]; entry < start[column + 1]; entry++) {
        if (f->seen[row[entry]] == k)
            continue;
        int depth = 0;
        f->path[0] = row[entry];
        while (depth >= 0) {
            int i = f->path[depth], step = f->step_of[i], deeper = 0;
            if (f->seen[i] != k) {
                f->seen[i] = k;
                f->next[depth] = step < 0 ? 0 : f->l_start[step];
            }
            size_t end = step < 0 ? 0 : f->l_start[step + 1];
            for (size_t p = f->next[depth]; p < end && !deeper; p++)
                if (f->seen[f->l_row[p]] != k) {
                    f->next[depth] = p + 1;
                    f->path[++depth] = f->l_row[p];
                    deeper = 1;
                }
            if (!deeper) {
                f->reach[--top] = i;
                depth--;
            }
        }
    }
    return top;
}

enum { MODEL_REGULAR, MODEL_SINGULAR, MODEL_NO_MEMORY };

/* Factors of a matrix given by columns, which are taken in an order. Of the rows that will do as pivots (a tenth of the best, weighed
   by the largest entries of rows) that of the diagonal is taken if `diagonal`, else one with few entries. */
static int MODEL_lu_factor(MODEL_lu *f, const int *start, const int *row, const double *a, const int *order, int diagonal)
{
    int n = f->n;
    size_t l_used = 0, u_used = 0;
    for (int i = 0; i < n; i++) {
        f->scale[i] = 0.0;
        f->count[i] = 0;
        f->step_of[i] = f->seen[i] = -1;
    }
    for (int p = 0; p < start[n]; p++) {
        f->scale[row[p]] = fmax(f->scale[row[p]], fabs(a[p]));
        f->count[row[p]]++;
        if (!isfinite(a[p]))
            return MODEL_SINGULAR;
    }
    for (int i = 0; i < n; i++)
        if (!(f->scale[i] > 0.0))
            return MODEL_SINGULAR;
    for (int k = 0; k < n; k++) {
        int column = order[k], top = MODEL_lu_reach(f, k, column, start, row), chosen = -1;
        size_t most = (size_t)(n - top);
        double largest = 0.0, best = 0.0;
        f->l_start[k] = l_used;
        f->u_start[k] = u_used;
        if (!MODEL_lu_grow(&f->l_room, l_used, most, &f->l_row, &f->l) || !MODEL_lu_grow(&f->u_room, u_used, most, &f->u_row, &f->u))
            return MODEL_NO_MEMORY;
        for (int p = top; p < n; p++)
            f->x[f->reach[p]] = 0.0;
        for (int p = start[column]; p < start[column + 1]; p++) {
            f->x[row[p]] = a[p];
            largest = fmax(largest, fabs(a[p]) / f->scale[row[p]]);
        }
        for (int p = top; p < n; p++) {
            int i = f->reach[p], step = f->step_of[i];
            double value = f->x[i];
            if (step < 0)
                continue;
            f->u_row[u_used] = step;
            f->u[u_used++] = value;
            if (value != 0.0)
                for (size_t q = f->l_start[step]; q < f->l_start[step + 1]; q++)
                    f->x[f->l_row[q]] -= f->l[q] * value;
        }
        for (int p = top; p < n; p++)
            if (f->step_of[f->reach[p]] < 0)
                best = fmax(best, fabs(f->x[f->reach[p]]) / f->scale[f->reach[p]]);
        if (!(best > 1e-15 * largest) || !isfinite(best))
            return MODEL_SINGULAR;
        for (int p = top; p < n; p++) {
            int i = f->reach[p];
            if (f->step_of[i] >= 0 || fabs(f->x[i]) / f->scale[i] < 0.1 * best)
                continue;
            if (diagonal && i == column) {
                chosen = i;
                break;
            }
            if (chosen < 0 || f->count[i] < f->count[chosen])
                chosen = i;
        }
        f->step_of[chosen] = k;
        f->pivot[k] = f->x[chosen];
        for (int p = top; p < n; p++) {
            int i = f->reach[p];
            if (f->step_of[i] < 0 && f->x[i] != 0.0) {
                f->l_row[l_used] = i;
                f->l[l_used++] = f->x[i] / f->pivot[k];
            }
        }
        f->l_start[k + 1] = l_used;
    }
    f->l_start[n] = l_used;
    f->u_start[n] = u_used;
    for (size_t p = 0; p < l_used; p++)
        f->l_row[p] = f->step_of[f->l_row[p]];
    return MODEL_REGULAR;
}

/* The solution comes back in b. */
static void MODEL_lu_solve(MODEL_lu *f, const int *order, double *b)
{
    for (int i = 0; i < f->n; i++)
        f->x[f->step_of[i]] = b[i];
    for (int k = 0; k < f->n; k++)
        for (size_t p = f->l_start[k]; p < f->l_start[k + 1]; p++)
            f->x[f->l_row[p]] -= f->l[p] * f->x[k];
    for (int k = f->n - 1; k >= 0; k--) {
        f->x[k] /= f->pivot[k];
        for (size_t p = f->u_start[k]; p < f->u_start[k + 1]; p++)
            f->x[f->u_row[p]] -= f->u[p] * f->x[k];
        b[order[k]] = f->x[k];
    }
}
