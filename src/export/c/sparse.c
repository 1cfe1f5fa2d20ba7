
/* ---- Derivatives of rates by states, as a sparse matrix: which rate depends on which state is known, and so are the states that
   can be moved together (Curtis, Powell and Reid 1974), an order of elimination and the places that it fills. ---- */

typedef struct {
    double *rates, *w, *lu, *rows, *columns, *x;
    MODEL_lu factors;                     /* where the order that was chosen in advance does not do */
    int opened, pivots;
} MODEL_matrix;

static void MODEL_close_matrix(MODEL_matrix *a)
{
    free(a->rates);
    if (a->opened)
        MODEL_lu_close(&a->factors);
}

/* 0 if there is no room. */
static int MODEL_open_matrix(MODEL_matrix *a)
{
    size_t n = MODEL_STATES, entries = MODEL_ENTRIES, filled = MODEL_FILLED;
    a->opened = a->pivots = 0;
    a->rates = malloc((2 * entries + filled + 3 * n) * sizeof *a->rates);
    if (!a->rates)
        return 0;
    a->w = a->rates + entries;
    a->lu = a->w + entries;
    a->rows = a->lu + filled;
    a->columns = a->rows + n;
    a->x = a->columns + n;
    return 1;
}

/* What comes of moving some states together: all one way, or all the other. */
static int MODEL_move(MODEL *m, MODEL_matrix *a, double time, const double *x, const double *here, const double *delta, double *beside,
                      double *there, const int *states, int count)
{
    int fails = 1;
    for (int way = 1; fails && way >= -1; way -= 2) {
        m->failed = 0;
        for (int s = 0; s < count; s++)
            beside[states[s]] = x[states[s]] + way * delta[states[s]];
        fails = MODEL_at(m, time, beside, there);
    }
    for (int s = 0; s < count; s++) {
        int j = states[s];
        for (int p = MODEL_entry_start[j]; p < MODEL_entry_start[j + 1] && !fails; p++) {
            int i = MODEL_entry_row[p];
            a->rates[p] = (there[i] - here[i]) / (beside[j] - x[j]);
        }
        beside[j] = x[j];
    }
    return fails;
}

/* From the rates `here` at x: what comes of moving each state by its delta, many states at once. */
static int MODEL_differences(MODEL *m, MODEL_matrix *a, double time, const double *x, const double *here, const double *delta,
                             double *beside, double *there)
{
    memcpy(beside, x, sizeof(double) * MODEL_STATES);
    for (int color = 0; color < MODEL_COLORS; color++) {
        const int *states = MODEL_color_state + MODEL_color_start[color];
        int count = MODEL_color_start[color + 1] - MODEL_color_start[color];
        if (!MODEL_move(m, a, time, x, here, delta, beside, there, states, count))
            continue;
        for (int s = 0; s < count; s++)
            if (count == 1 || MODEL_move(m, a, time, x, here, delta, beside, there, states + s, 1))
                return 1;
    }
    return 0;
}

/* Row by row in the order that was chosen in advance. Entries that grow far beyond those of their row and column, or a pivot far
   below them, tell that the order does not do. */
static int MODEL_factor_static(MODEL_matrix *a)
{
    static const double most = 1e5, least = 1e-10;
    double *x = a->x;
    memset(a->lu, 0, sizeof *a->lu * MODEL_FILLED);
    memset(a->rows, 0, 3 * sizeof *a->rows * MODEL_STATES);
    for (int p = 0; p < MODEL_ENTRIES; p++) {
        a->lu[MODEL_entry_place[p]] = a->w[p];
        a->rows[MODEL_entry_row[p]] = fmax(a->rows[MODEL_entry_row[p]], fabs(a->w[p]));
    }
    for (int j = 0; j < MODEL_STATES; j++)
        for (int p = MODEL_entry_start[j]; p < MODEL_entry_start[j + 1]; p++)
            a->columns[MODEL_step_of[j]] = fmax(a->columns[MODEL_step_of[j]], fabs(a->w[p]) / a->rows[MODEL_entry_row[p]]);
    for (int i = 0; i < MODEL_STATES; i++) {
        int begin = MODEL_lu_begin[i], diagonal = MODEL_lu_diagonal[i], end = MODEL_lu_begin[i + 1];
        double row = a->rows[MODEL_order[i]];
        for (int p = begin; p < end; p++)
            x[MODEL_lu_column[p]] = a->lu[p];
        for (int p = begin; p < diagonal; p++) {
            int k = MODEL_lu_column[p];
            if (!(fabs(x[k]) <= most * row * a->columns[k]))
                return 1;
            double factor = x[k] /= a->lu[MODEL_lu_diagonal[k]];
            if (factor != 0.0)
                for (int q = MODEL_lu_diagonal[k] + 1; q < MODEL_lu_begin[k + 1]; q++)
                    x[MODEL_lu_column[q]] -= factor * a->lu[q];
        }
        for (int p = begin; p < end; p++) {
            int j = MODEL_lu_column[p];
            a->lu[p] = x[j];
            if (p >= diagonal && !(fabs(x[j]) <= most * row * a->columns[j]))
                return 1;
        }
        if (!(fabs(a->lu[diagonal]) > least * row * a->columns[i]))
            return 1;
    }
    return 0;
}

/* Factors of 1/(h gamma) less the derivatives; 0 if they can be computed. */
static int MODEL_factor_matrix(MODEL_matrix *a, double diagonal)
{
    for (int p = 0; p < MODEL_ENTRIES; p++)
        a->w[p] = -a->rates[p];
    for (int i = 0; i < MODEL_STATES; i++)
        a->w[MODEL_entry_diagonal[i]] += diagonal;
    a->pivots = MODEL_factor_static(a);
    if (!a->pivots)
        return 0;
    if (!a->opened && !(a->opened = MODEL_lu_open(&a->factors, MODEL_STATES)))
        return 1;
    return MODEL_lu_factor(&a->factors, MODEL_entry_start, MODEL_entry_row, a->w, MODEL_order, 1) != MODEL_REGULAR;
}

static void MODEL_solve_matrix(MODEL_matrix *a, double *b)
{
    double *x = a->x;
    if (a->pivots) {
        MODEL_lu_solve(&a->factors, MODEL_order, b);
        return;
    }
    for (int i = 0; i < MODEL_STATES; i++) {
        x[i] = b[MODEL_order[i]];
        for (int p = MODEL_lu_begin[i]; p < MODEL_lu_diagonal[i]; p++)
            x[i] -= a->lu[p] * x[MODEL_lu_column[p]];
    }
    for (int i = MODEL_STATES - 1; i >= 0; i--) {
        int diagonal = MODEL_lu_diagonal[i];
        for (int p = diagonal + 1; p < MODEL_lu_begin[i + 1]; p++)
            x[i] -= a->lu[p] * x[MODEL_lu_column[p]];
        b[MODEL_order[i]] = x[i] /= a->lu[diagonal];
    }
}
