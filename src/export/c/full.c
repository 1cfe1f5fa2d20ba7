
/* ---- Derivatives of rates by states, as a full matrix: the states are few, or nearly all rates depend on nearly all of them. ---- */

typedef struct {
    double *rates, *w, *scale;
    int *row;
} MODEL_matrix;

static void MODEL_close_matrix(MODEL_matrix *a)
{
    free(a->rates);
}

/* 0 if there is no room. */
static int MODEL_open_matrix(MODEL_matrix *a)
{
    size_t n = MODEL_STATES;
    a->rates = malloc((2 * n * n + 2 * n + 1) * sizeof *a->rates);
    if (!a->rates)
        return 0;
    a->w = a->rates + n * n;
    a->scale = a->w + n * n;
    a->row = (int *)(a->scale + n);
    return 1;
}

/* From the rates `here` at x: what comes of moving each state by its delta; the other way where nothing comes of that. */
static int MODEL_differences(MODEL *m, MODEL_matrix *a, double time, const double *x, const double *here, const double *delta,
                             double *beside, double *there)
{
    size_t n = MODEL_STATES;
    memcpy(beside, x, sizeof(double) * n);
    for (size_t j = 0; j < n; j++) {
        beside[j] = x[j] + delta[j];
        if (MODEL_at(m, time, beside, there)) {
            m->failed = 0;
            beside[j] = x[j] - delta[j];
            if (MODEL_at(m, time, beside, there))
                return 1;
        }
        for (size_t i = 0; i < n; i++)
            a->rates[i * n + j] = (there[i] - here[i]) / (beside[j] - x[j]);
        beside[j] = x[j];
    }
    return 0;
}

/* Factors of 1/(h gamma) less the derivatives; 0 if they can be computed. */
static int MODEL_factor_matrix(MODEL_matrix *a, double diagonal)
{
    size_t n = MODEL_STATES;
    for (size_t i = 0; i < n * n; i++)
        a->w[i] = -a->rates[i];
    for (size_t i = 0; i < n; i++)
        a->w[i * n + i] += diagonal;
    return !MODEL_factor(MODEL_STATES, a->w, a->row, a->scale);
}

static void MODEL_solve_matrix(MODEL_matrix *a, double *b)
{
    MODEL_solve(MODEL_STATES, a->w, a->row, b);
}
