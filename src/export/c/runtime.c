/* ---- What follows is the same for all models. ---- */

static double MODEL_square(double a) { return a * a; }
static double MODEL_sign(double a) { return (a > 0.0) - (a < 0.0); }
static double MODEL_mod(double a, double b) { return a - floor(a / b) * b; }

/* Linear interpolation that holds its end values; x ascends. */
static double MODEL_table(double a, int n, const double *x, const double *y)
{
    int i = 0;
    while (i < n && x[i] <= a)
        i++;
    if (i == 0)
        return y[0];
    if (i == n)
        return y[n - 1];
    return y[i - 1] + (y[i] - y[i - 1]) * (a - x[i - 1]) / (x[i] - x[i - 1]);
}

/* Keeps the reason of a failure: what, and the text that it is about. The first one counts. */
static int MODEL_fail(MODEL *m, const char *what, const char *about)
{
    if (!m->failed) {
        m->failed = 1;
        m->what = what;
        m->about = about;
        m->failed_at = m->time;
    }
    return 1;
}

/* Why the last function failed, as a text. */
void MODEL_message(const MODEL *m, char *text, size_t size)
{
    snprintf(text, size, "%s at Time = %.9g: %s", m->what ? m->what : "nothing failed",
             m->failed_at, m->about ? m->about : "");
}

/* Room for numbers; a failure if there is none. */
static double *MODEL_room(MODEL *m, size_t count)
{
    double *room = malloc((count + 1) * sizeof *room);
    if (!room)
        MODEL_fail(m, "there is not enough memory", "");
    return room;
}

/* a (n rows of n) becomes its factors; 0 if it is singular. */
static int MODEL_factor(int n, double *a, int *row, double *scale)
{
    for (int i = 0; i < n; i++) {
        scale[i] = 0.0;
        for (int j = 0; j < n; j++)
            scale[i] = fmax(scale[i], fabs(a[i * n + j]));
        if (!(scale[i] > 0.0) || !isfinite(scale[i]))
            return 0;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) / scale[i] > fabs(a[best * n + k]) / scale[best])
                best = i;
        row[k] = best;
        if (!(fabs(a[best * n + k]) > 1e-15 * scale[best]))
            return 0;
        if (best != k) {
            for (int j = 0; j < n; j++) {
                double swap = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = swap;
            }
            scale[best] = scale[k];
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] /= a[k * n + k];
            if (factor != 0.0)
                for (int j = k + 1; j < n; j++)
                    a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return 1;
}

static void MODEL_solve(int n, const double *a, const int *row, double *b)
{
    for (int k = 0; k < n; k++) {
        double swap = b[k];
        b[k] = b[row[k]];
        b[row[k]] = swap;
    }
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++)
            b[i] -= a[i * n + k] * b[k];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

/* a*x = b; x comes back in b. */
static int MODEL_linear(MODEL *m, int n, double *a, double *b, const char *about)
{
    double scale[MODEL_LARGEST + 1];
    int row[MODEL_LARGEST + 1];
    if (!MODEL_factor(n, a, row, scale))
        return MODEL_fail(m, "a linear loop is singular", about);
    MODEL_solve(n, a, row, b);
    return 0;
}

typedef int MODEL_residuals(MODEL *m, const double *z, double *r);

/* How long a step is beside these values, and a part of the largest there have been. */
static double MODEL_size(int n, const double *step, const double *beside, const double *most)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        double part = fabs(step[i]) / fmax(fmax(beside[i], 1e-3 * most[i]), 1e-10);
        if (!(part <= size))
            size = part;
    }
    return isfinite(size) ? size : HUGE_VAL;
}

/* By how much slopes from one move and from twice that move differ at most, each beside itself: much where the moves are lost in
   rounding or lead round a bend. A row that does not move tells nothing. */
static double MODEL_apart(double once, double twice, int *moves)
{
    double size = fmax(fabs(once), fabs(twice));
    if (size == 0.0)
        return 0.0;
    *moves = 1;
    return fabs(once - twice) / size;
}

/* A first move that is not too small beside the largest unknown needs no second look. */
static double MODEL_first_move(double z, double largest, int *sure)
{
    *sure = fabs(z) > 1e-4 * largest;
    return z != 0.0 ? 1e-7 * fabs(z) : 1e-13;
}

static double MODEL_largest(int n, const double *z)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(z[i]));
    return largest;
}

/* Newton's method with a full matrix: the derivatives of the residuals at z, where these are r, and their factors; 0 if there are any. */
typedef struct {
    double *a, *scale;
    int *row;
} MODEL_space_full;

static int MODEL_factor_full(MODEL *m, int n, MODEL_space_full *space, double *z, const double *r, double *other, double *twice,
                             MODEL_residuals *residuals)
{
    double *a = space->a, largest = MODEL_largest(n, z);
    for (int j = 0; j < n; j++) {
        int sure, found = 0;
        double kept = z[j], delta = MODEL_first_move(kept, largest, &sure), best = HUGE_VAL;
        for (int larger = 0; larger < 6 && best > 1e-3; larger++, delta *= 100.0) {
            int moves = 0;
            double apart = 0.0, once, both;
            z[j] = kept + delta;
            once = z[j] - kept;
            if (residuals(m, z, other))
                break;
            z[j] = kept + 2.0 * delta;
            both = z[j] - kept;
            if (!sure && residuals(m, z, twice))
                break;
            for (int i = 0; i < n; i++) {
                double slope = (other[i] - r[i]) / once;
                apart = fmax(apart, MODEL_apart(slope, sure ? slope : (twice[i] - r[i]) / both, &moves));
            }
            /* What does not move at all may have been lost; it may also be flat. */
            if (!moves)
                apart = 1e3;
            if (!(apart < best))
                continue;
            best = apart;
            found = 1;
            for (int i = 0; i < n; i++)
                a[i * n + j] = (other[i] - r[i]) / once;
        }
        z[j] = kept;
        if (!found)
            return 1;
    }
    return !MODEL_factor(n, a, space->row, space->scale);
}

static void MODEL_solve_full(int n, MODEL_space_full *space, double *b) { MODEL_solve(n, space->a, space->row, b); }

static int MODEL_attempts_full(MODEL *m, int n, MODEL_space_full *space, double *z, const double *first, MODEL_residuals *residuals,
                               const char *about, double *room);

static int MODEL_newton(MODEL *m, int n, double *z, const double *first, MODEL_residuals *residuals, const char *about)
{
    double few[MODEL_FEW * (MODEL_FEW + 8)], *room = few;
    int rows[MODEL_FEW];
    MODEL_space_full space = {NULL, NULL, rows};
    if (n > MODEL_FEW) {
        size_t size = (size_t)n;
        room = MODEL_room(m, size * (size + 9));
        if (!room)
            return 1;
        space.row = (int *)(room + size * (size + 8));
    }
    space.scale = room + 7 * n;
    space.a = space.scale + n;
    int fails = MODEL_attempts_full(m, n, &space, z, first, residuals, about, room);
    if (room != few)
        free(room);
    return fails;
}

/* Moves z as little as possible (Gauss and Newton) until k residuals vanish; n > k. `fixed` stays. `room` is for k times n + k + 4
   numbers. */
static int MODEL_nearest_in(MODEL *m, int n, int k, double *z, const int *fixed, MODEL_residuals *residuals, const char *about, double *room)
{
    double *r = room, *other = r + k, *scale = other + k, *a = scale + k, *g = a + k * k;
    int *row = (int *)(g + k * n);
    for (int round = 0; round < 30; round++) {
        if (residuals(m, z, r))
            return 1;
        for (int j = 0; j < n; j++) {
            double kept = z[j], delta = 1e-7 * (fabs(kept) + 1e-3);
            z[j] = kept + delta;
            delta = z[j] - kept;
            if (residuals(m, z, other))
                return 1;
            z[j] = kept;
            for (int i = 0; i < k; i++)
                g[i * n + j] = fixed && fixed[j] ? 0.0 : (other[i] - r[i]) / delta;
        }
        for (int i = 0; i < k; i++)
            for (int l = 0; l < k; l++) {
                a[i * k + l] = 0.0;
                for (int j = 0; j < n; j++)
                    a[i * k + l] += g[i * n + j] * g[l * n + j];
            }
        if (!MODEL_factor(k, a, row, scale))
            return MODEL_fail(m, "states cannot be moved back onto their constraint", about);
        MODEL_solve(k, a, row, r);
        double size = 0.0, largest = 0.0;
        for (int j = 0; j < n; j++) {
            double change = 0.0;
            for (int i = 0; i < k; i++)
                change -= g[i * n + j] * r[i];
            z[j] += change;
            size = fmax(size, fabs(change));
            largest = fmax(largest, fabs(z[j]));
        }
        if (size <= 1e-12 * largest)
            return 0;
        if (!isfinite(size))
            break;
    }
    return MODEL_fail(m, "states cannot be moved back onto their constraint", about);
}

static int MODEL_nearest(MODEL *m, int n, int k, double *z, const int *fixed, MODEL_residuals *residuals, const char *about)
{
    double *room = MODEL_room(m, (size_t)k * ((size_t)n + (size_t)k + 4));
    if (!room)
        return 1;
    int fails = MODEL_nearest_in(m, n, k, z, fixed, residuals, about, room);
    free(room);
    return fails;
}
