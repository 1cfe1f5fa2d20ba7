
/* ---- Linear loops of many equations. ---- */

typedef struct {
    int n;
    const int *start, *row, *order;       /* the matrix by columns, and the order in which they are taken */
    const double *numbers;                /* what is the same in every run: the matrix, then the right side */
    int (*fill)(MODEL *m, double *a, double *b);
    int (*read)(MODEL *m, const double *b);
    const char *about;
} MODEL_system;

static int MODEL_large(MODEL *m, const MODEL_system *system)
{
    int n = system->n, entries = system->start[n], state = MODEL_NO_MEMORY;
    size_t size = (size_t)entries + (size_t)n;
    MODEL_lu factors;
    double *a = MODEL_room(m, size);
    if (!a)
        return 1;
    memcpy(a, system->numbers, size * sizeof *a);
    int fails = system->fill(m, a, a + entries);
    if (!fails) {
        if (MODEL_lu_open(&factors, n))
            state = MODEL_lu_factor(&factors, system->start, system->row, a, system->order, 0);
        if (state == MODEL_REGULAR) {
            MODEL_lu_solve(&factors, system->order, a + entries);
            fails = system->read(m, a + entries);
        } else if (state == MODEL_SINGULAR)
            fails = MODEL_fail(m, "a linear loop is singular", system->about);
        else
            fails = MODEL_fail(m, "there is not enough memory", system->about);
        MODEL_lu_close(&factors);
    }
    free(a);
    return fails;
}
