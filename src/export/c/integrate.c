
/* ---- Integration: Rodas4 (Hairer and Wanner, Solving Ordinary Differential Equations II), a Rosenbrock method of order 4 for
   stiff and other models, with derivatives by differences. A step that ends behind an event is made again, shorter. ---- */

/* Derivatives of all states at a time; nothing else is changed but what is computed. */
static int MODEL_at(MODEL *m, double time, const double *x, double *rate)
{
    m->time = time;
    memcpy(&m->x, x, sizeof(double) * MODEL_STATES);
    return MODEL_derivatives(m, rate);
}

/* One step of length h from x at m->time: `to`, and how far off it may be beside the tolerance. The matrix of derivatives and the
   derivative by time are those of the place where the step begins. */
static int MODEL_step(MODEL *m, double time, double h, const double *x, const double *matrix, const double *drift, double *w,
                      double *to, double *off)
{
    enum { N = MODEL_STATES };
    static const double gamma = 0.25;
    static const double a[6][5] = {
        {0},
        {1.544},
        {0.9466785280815826, 0.2557011698983284},
        {3.314825187068521, 2.896124015972201, 0.9986419139977817},
        {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
        {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0}};
    static const double c[6][5] = {
        {0},
        {-5.6688},
        {-2.430093356833875, -0.2063599157091915},
        {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
        {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
        {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
    static const double alpha[6] = {0.0, 0.386, 0.21, 0.63, 1.0, 1.0};
    static const double g[6] = {0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0};
    double k[6][N + 1], f[N + 1];
    int row[MODEL_LARGEST + 1], size = N;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            w[i * size + j] = (i == j) / (h * gamma) - matrix[i * size + j];
    if (!MODEL_factor(size, w, row))
        return 1;
    for (int s = 0; s < 6; s++) {
        for (int i = 0; i < size; i++) {
            to[i] = x[i];
            for (int l = 0; l < s; l++)
                to[i] += a[s][l] * k[l][i];
        }
        if (MODEL_at(m, time + alpha[s] * h, to, f))
            return 1;
        for (int i = 0; i < size; i++) {
            k[s][i] = f[i] + h * g[s] * drift[i];
            for (int l = 0; l < s; l++)
                k[s][i] += c[s][l] / h * k[l][i];
        }
        MODEL_solve(size, w, row, k[s]);
    }
    *off = 0.0;
    for (int i = 0; i < size; i++) {
        to[i] += k[5][i];
        double scale = m->absolute + m->relative * fmax(fabs(x[i]), fabs(to[i]));
        *off += k[5][i] / scale * (k[5][i] / scale) / size;
    }
    *off = sqrt(*off);
    return !isfinite(*off);
}

/* The matrix of derivatives at a place. */
static int MODEL_linearize(MODEL *m, double time, double h, const double *x, double *matrix, double *drift)
{
    double here[MODEL_STATES + 1], there[MODEL_STATES + 1], near[MODEL_STATES + 1];
    int n = MODEL_STATES;
    if (MODEL_at(m, time, x, here))
        return 1;
    memcpy(near, x, sizeof(double) * (size_t)n);
    for (int j = 0; j < n; j++) {
        double delta = 1.5e-8 * fmax(fmax(fabs(x[j]), m->sizes[j]), fabs(here[j]) * h);
        delta = delta > 0.0 ? delta : 1e-8;
        near[j] = x[j] + (here[j] < 0.0 ? -delta : delta);
        delta = near[j] - x[j];
        if (MODEL_at(m, time, near, there)) {
            m->failed = 0;
            near[j] = x[j] - delta;
            delta = near[j] - x[j];
            if (MODEL_at(m, time, near, there))
                return 1;
        }
        near[j] = x[j];
        for (int i = 0; i < n; i++)
            matrix[i * n + j] = (there[i] - here[i]) / delta;
    }
    double later = time + fmax(1e-5 * h, 1e-10 * fabs(time));
    if (MODEL_at(m, later, x, there)) {
        m->failed = 0;
        memcpy(there, here, sizeof there);
    }
    for (int i = 0; i < n; i++)
        drift[i] = (there[i] - here[i]) / (later - time);
    return 0;
}

/* Whether any relation is not what it was, at the states of now; and where, by the straight line from `from`, the first is met. */
static int MODEL_crossed(MODEL *m, const double *from, double *met)
{
    double side[2 * MODEL_WATCHES + 2];
    int some = 0;
    MODEL_sides(m, side);
    for (int i = 0; i < MODEL_WATCHES; i++)
        if (MODEL_changed(m, i, side)) {
            double before = MODEL_distance(MODEL_kinds[i], from[2 * i] - from[2 * i + 1], m->held[i]);
            double now = MODEL_distance(MODEL_kinds[i], side[2 * i] - side[2 * i + 1], m->held[i]);
            double part = before == now ? 0.5 : before / (before - now);
            *met = some ? fmin(*met, part) : part;
            some = 1;
        }
    return some;
}

/* The first step: a part of how long the states take to double. */
static double MODEL_first(const MODEL *m, const double *x, const double *rate)
{
    double size = 0.0, speed = 0.0;
    for (int i = 0; i < MODEL_STATES; i++) {
        double scale = m->absolute + m->relative * fabs(x[i]);
        size = fmax(size, fabs(x[i]) / scale);
        speed = fmax(speed, fabs(rate[i]) / scale);
    }
    double h = size > 0.0 && speed > 0.0 ? 0.01 * size / speed : speed > 0.0 ? 0.01 / speed : m->longest;
    return fmin(h, 1e-3 * m->longest);
}

static int MODEL_go(MODEL *m, double until, double *matrix, double *w)
{
    enum { N = MODEL_STATES };
    double x[N + 1], to[N + 1], drift[N + 1], off = 0.0;
    double from[2 * MODEL_WATCHES + 2], side[2 * MODEL_WATCHES + 2];
    int rejected = 0;
    while (m->time < until && !MODEL_at_once(m->time, until)) {
        double time = m->time, known = MODEL_next_known(m), stop = fmin(until, known);
        int cut = 0;
        memcpy(x, &m->x, sizeof(double) * MODEL_STATES);
        if (MODEL_derivatives(m, to))
            return 1;
        double h = m->step > 0.0 ? m->step : MODEL_first(m, x, to), wish = h, linear = h;
        MODEL_sides(m, from);
        if (N > 0 && MODEL_linearize(m, time, h, x, matrix, drift))
            return 1;
        for (;;) {
            h = fmin(h, m->longest);
            cut = time + 1.01 * h >= stop;
            if (cut)
                h = stop - time;
            if (time + h <= time)
                return MODEL_fail(m, "the integrator can go no further", "no step is short enough");
            if (h < 0.1 * linear && N > 0) {
                linear = h;
                if (MODEL_linearize(m, time, h, x, matrix, drift))
                    return 1;
            }
            MODEL local = *m;
            int fails = N > 0 && MODEL_step(m, time, h, x, matrix, drift, w, to, &off);
            if (!fails && off <= 1.0) {
                m->time = cut ? stop : time + h;
                memcpy(&m->x, to, sizeof(double) * MODEL_STATES);
                fails = MODEL_project(m, NULL) || MODEL_evaluate(m);
            }
            if (!fails && off <= 1.0)
                break;
            const char *what = m->what, *about = m->about;
            double at = m->failed_at;
            int failed = m->failed;
            *m = local;
            rejected = 1;
            h *= fails ? 0.25 : fmax(0.1, 0.9 * pow(off, -0.25));
            if (h <= 4.0 * DBL_EPSILON * fabs(time) || h < 1e-20 * m->span) {
                if (!failed)
                    return MODEL_fail(m, "the integrator can go no further", "no step is short enough");
                MODEL_fail(m, what, about);
                m->failed_at = at;
                return 1;
            }
        }
        double grown = h * (off > 0.0 ? fmin(rejected ? 1.0 : 5.0, fmax(0.2, 0.9 * pow(off, -0.25))) : 5.0);
        rejected = 0;
        double met = 1.0;
        if (MODEL_WATCHES > 0 && MODEL_crossed(m, from, &met)) {
            /* Between `low`, where nothing has changed, and `high`: nearer and nearer. */
            double low = 0.0, high = h, least = 4.0 * DBL_EPSILON * fmax(fabs(time), fabs(time + h));
            double reach = least;
            /* A tie that was decided by the way it moves may begin a little beyond: then `low` is first to be found, and where there
               is none the event is at once. */
            int seeks = 0;
            for (int i = 0; i < MODEL_WATCHES; i++)
                seeks |= MODEL_changed(m, i, from);
            MODEL past = *m;
            for (int turn = 0; high - low > least && turn < 200; turn++) {
                double part = seeks || turn % 3 == 2 ? 0.5 : fmin(fmax(met, 0.0), 1.0), length = high - low;
                double tried = fmin(fmax(low + part * length * (1.0 + 1e-12), low + 0.25 * least), high - 0.25 * least);
                /* From the other side too: where the line leads is never quite beyond. */
                if (turn % 3 == 1 && !seeks)
                    tried = fmin(tried + reach, high - 0.25 * least);
                m->time = time + tried;
                int fails = N > 0 && MODEL_step(m, time, tried, x, matrix, drift, w, to, &off);
                m->time = time + tried;
                memcpy(&m->x, to, sizeof(double) * MODEL_STATES);
                if (fails || MODEL_project(m, NULL) || MODEL_evaluate(m)) {
                    m->failed = 0;
                    high = tried;
                    continue;
                }
                double next = 1.0;
                if (MODEL_crossed(m, from, &next)) {
                    high = tried;
                    past = *m;
                    met = next;
                    reach = least;
                } else {
                    low = tried;
                    reach *= 4.0;
                    seeks = 0;
                    MODEL_sides(m, from);
                    *m = past;
                    MODEL_crossed(m, from, &met);
                }
            }
            *m = past;
            double held[MODEL_WATCHES + 1];
            int crossed[MODEL_WATCHES + 1];
            memcpy(held, m->held, sizeof held);
            MODEL_sides(m, side);
            for (int i = 0; i < MODEL_WATCHES; i++)
                crossed[i] = MODEL_changed(m, i, side);
            for (int i = 0; i < MODEL_WATCHES; i++)
                if (crossed[i] && MODEL_count(m, i))
                    return 1;
            if (MODEL_event(m))
                return 1;
            for (int i = 0; i < MODEL_WATCHES; i++)
                if (crossed[i])
                    m->dull[i] = m->held[i] == held[i] && m->shared > 0.0 ? (m->dull[i] < 6 ? m->dull[i] + 1 : 6) : 0;
            m->events++;
            /* What begins here is new: a long step may not see that a relation comes back and goes again. */
            cut = 0;
            grown = 0.0;
        } else if (m->time >= known || MODEL_at_once(m->time, known)) {
            if (MODEL_event(m))
                return 1;
            m->events++;
        } else
            MODEL_remember(m);
        for (int i = 0; i < MODEL_STATES; i++)
            m->sizes[i] = fmax(m->sizes[i], fabs(((double *)&m->x)[i]));
        /* A step that was cut short says nothing of the next. */
        m->step = cut ? fmax(grown, wish) : grown;
    }
    if (m->time == until)
        return 0;
    /* The same but for rounding. */
    m->time = until;
    return MODEL_evaluate(m);
}

/* Goes on to a time, through all events before and at it. 0 if that went well. */
int MODEL_advance(MODEL *m, double until)
{
    size_t size = (size_t)MODEL_STATES * MODEL_STATES + 1;
    if (!(until >= m->time || MODEL_at_once(m->time, until)))
        return MODEL_fail(m, "a run cannot go back", "the time to go to is before that of now");
    double *matrix = malloc(2 * size * sizeof *matrix);
    if (!matrix)
        return MODEL_fail(m, "there is not enough memory", "");
    int fails = MODEL_go(m, until, matrix, matrix + size);
    free(matrix);
    return fails;
}

#ifdef MODEL_MAIN
/* The number that an argument is, if it is one. */
static int MODEL_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && strspn(text, "+-.0123456789eE") == strlen(text) && fabs(*value) <= DBL_MAX;
}

/* Integrates, and prints the columns of `bgm simulate`: [until [points [tolerance]]] */
int main(int count, char **arguments)
{
    static MODEL m;
    double values[MODEL_COLUMNS + 1], given[3];
    char text[2000];
    MODEL_start(&m, MODEL_FROM);
    given[0] = MODEL_UNTIL;
    given[1] = MODEL_POINTS;
    given[2] = m.relative;
    for (int i = 1; i < count; i++) {
        const char *wrong = NULL;
        if (i > 3)
            wrong = "is too much";
        else if (!MODEL_number(arguments[i], &given[i - 1]))
            wrong = "is no number";
        else if (i == 1 && given[0] < MODEL_FROM)
            wrong = "is before the start of the run";
        else if (i == 2 && !(given[1] >= 1 && given[1] <= 2e9 && given[1] == floor(given[1])))
            wrong = "is no number of points";
        else if (i == 3 && !(given[2] > 0))
            wrong = "is no tolerance";
        if (wrong) {
            fprintf(stderr, "error: `%s` %s\nusage: %s [until [points [tolerance]]]\n", arguments[i], wrong, arguments[0]);
            return 2;
        }
    }
    double until = given[0];
    int points = until == MODEL_FROM ? 1 : (int)given[1];
    if (given[2] != m.relative) {
        m.relative = given[2];
        m.absolute = 1e-3 * m.relative;
    }
    m.span = until - MODEL_FROM;
    m.longest = m.span / (MODEL_STATES > 0 ? 20.0 : 2000.0);
    int fails = MODEL_begin(&m);
    printf("%s\n", MODEL_HEAD);
    for (int point = 0; !fails && point < points; point++) {
        double time = points == 1 ? until : MODEL_FROM + m.span * point / (points - 1);
        if (MODEL_STEP > 0.0 && until == MODEL_UNTIL && points == MODEL_POINTS)
            time = fmin(MODEL_FROM + point * MODEL_STEP, until);
        fails = MODEL_advance(&m, time) || MODEL_columns(&m, values);
        if (fails)
            break;
        printf("%.17g", time);
        for (int i = 0; i < MODEL_COLUMNS; i++)
            printf(",%.17g", values[i]);
        printf("\n");
    }
    if (fails) {
        MODEL_message(&m, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    return fails;
}
#endif
