
/* ---- Integration: Rodas4 (Hairer and Wanner, Solving Ordinary Differential Equations II), a Rosenbrock method of order 4 for
   stiff and other models, with derivatives by differences. A step that ends behind an event is made again, shorter. ---- */

/* Room for the time of one MODEL_advance: a run itself keeps none, so that a copy of it is a run. */
typedef struct {
    MODEL *kept, *past;
    double *x, *to, *rate, *drift, *delta, *there, *beside, *k[6], *from, *side, *held;
    int *crossed;
    MODEL_matrix matrix;
} MODEL_work;

static void MODEL_close(MODEL_work *work)
{
    free(work->kept);
    MODEL_close_matrix(&work->matrix);
}

static int MODEL_open(MODEL *m, MODEL_work *work)
{
    size_t states = MODEL_STATES, watches = 2 * (size_t)MODEL_WATCHES;
    if (!MODEL_open_matrix(&work->matrix))
        return MODEL_fail(m, "there is not enough memory", "");
    work->kept = malloc(2 * sizeof *work->kept + (13 * states + 4 * watches) * sizeof(double));
    if (!work->kept) {
        MODEL_close(work);
        return MODEL_fail(m, "there is not enough memory", "");
    }
    double **places[] = {&work->x, &work->to, &work->rate, &work->drift, &work->delta, &work->there, &work->beside,
                         &work->k[0], &work->k[1], &work->k[2], &work->k[3], &work->k[4], &work->k[5]};
    work->past = work->kept + 1;
    double *next = (double *)(work->kept + 2);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++, next += states)
        *places[i] = next;
    work->from = next;
    work->side = work->from + watches;
    work->held = work->side + watches;
    work->crossed = (int *)(work->held + watches);
    return 0;
}

/* One step of length h from work->x at a time, where rates, their derivatives by states and by Time are known: work->to, and how far
   off it may be beside the tolerance. */
static int MODEL_step(MODEL *m, MODEL_work *work, double time, double h, double *off)
{
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
    const double *x = work->x, *f = work->rate;
    double *to = work->to, **k = work->k;
    int size = MODEL_STATES;
    if (MODEL_factor_matrix(&work->matrix, 1.0 / (h * gamma)))
        return 1;
    for (int s = 0; s < 6; s++) {
        if (s > 0) {
            memcpy(to, x, sizeof(double) * MODEL_STATES);
            for (int l = 0; l < s; l++)
                for (int i = 0; i < size; i++)
                    to[i] += a[s][l] * k[l][i];
            if (MODEL_at(m, time + alpha[s] * h, to, work->there))
                return 1;
            f = work->there;
        }
        for (int i = 0; i < size; i++)
            k[s][i] = f[i] + h * g[s] * work->drift[i];
        for (int l = 0; l < s; l++)
            for (int i = 0; i < size; i++)
                k[s][i] += c[s][l] / h * k[l][i];
        MODEL_solve_matrix(&work->matrix, k[s]);
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

/* The derivatives of rates by states and by Time, at work->x, where the rates are known. */
static int MODEL_linearize(MODEL *m, MODEL_work *work, double time, double h)
{
    const double *x = work->x, *here = work->rate;
    double *there = work->there, later = time + fmax(1e-5 * h, 1e-10 * fabs(time));
    for (int j = 0; j < MODEL_STATES; j++) {
        double delta = 1.5e-8 * fmax(fmax(fabs(x[j]), m->sizes[j]), fabs(here[j]) * h);
        delta = delta > 0.0 ? delta : 1e-8;
        double moved = x[j] + (here[j] < 0.0 ? -delta : delta);
        work->delta[j] = moved - x[j];
    }
    if (MODEL_differences(m, &work->matrix, time, x, here, work->delta, work->beside, there))
        return 1;
    if (MODEL_at(m, later, x, there)) {
        m->failed = 0;
        memcpy(there, here, sizeof(double) * MODEL_STATES);
    }
    for (int i = 0; i < MODEL_STATES; i++)
        work->drift[i] = (there[i] - here[i]) / (later - time);
    return 0;
}

/* Whether any relation is not what it was, at the states of now; and where, by the straight line from `from`, the first is met. */
static int MODEL_crossed(MODEL *m, const double *from, double *side, double *met)
{
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

static int MODEL_go(MODEL *m, double until, MODEL_work *work)
{
    enum { N = MODEL_STATES };
    double off = 0.0, *x = work->x, *to = work->to, *from = work->from, *side = work->side, *held = work->held;
    int rejected = 0, goes_on = 0, *crossed = work->crossed;
    while (m->time < until && !MODEL_at_once(m->time, until)) {
        double time = m->time, known = MODEL_next_known(m), stop = fmin(until, known);
        int cut = 0;
        memcpy(x, &m->x, sizeof(double) * MODEL_STATES);
        /* A step ends where everything was computed. */
        if (goes_on ? MODEL_finite_rates(m, work->rate) : MODEL_derivatives(m, work->rate))
            return 1;
        goes_on = 1;
        double h = m->step > 0.0 ? m->step : MODEL_first(m, x, work->rate), wish = h, linear = h;
        MODEL_sides(m, from);
        if (N > 0 && MODEL_linearize(m, work, time, h))
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
                if (MODEL_linearize(m, work, time, h))
                    return 1;
            }
            *work->kept = *m;
            int fails = N > 0 && MODEL_step(m, work, time, h, &off);
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
            *m = *work->kept;
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
        if (MODEL_WATCHES > 0 && MODEL_crossed(m, from, side, &met)) {
            /* Between `low`, where nothing has changed, and `high`: nearer and nearer. */
            double low = 0.0, high = h, least = 4.0 * DBL_EPSILON * fmax(fabs(time), fabs(time + h));
            double reach = least;
            /* A tie that was decided by the way it moves may begin a little beyond: then `low` is first to be found, and where there
               is none the event is at once. */
            int seeks = 0;
            for (int i = 0; i < MODEL_WATCHES; i++)
                seeks |= MODEL_changed(m, i, from);
            *work->past = *m;
            for (int turn = 0; high - low > least && turn < 200; turn++) {
                double part = seeks || turn % 3 == 2 ? 0.5 : fmin(fmax(met, 0.0), 1.0), length = high - low;
                double tried = fmin(fmax(low + part * length * (1.0 + 1e-12), low + 0.25 * least), high - 0.25 * least);
                /* From the other side too: where the line leads is never quite beyond. */
                if (turn % 3 == 1 && !seeks)
                    tried = fmin(tried + reach, high - 0.25 * least);
                m->time = time + tried;
                int fails = N > 0 && MODEL_step(m, work, time, tried, &off);
                m->time = time + tried;
                memcpy(&m->x, to, sizeof(double) * MODEL_STATES);
                if (fails || MODEL_project(m, NULL) || MODEL_evaluate(m)) {
                    m->failed = 0;
                    high = tried;
                    continue;
                }
                double next = 1.0;
                if (MODEL_crossed(m, from, side, &next)) {
                    high = tried;
                    *work->past = *m;
                    met = next;
                    reach = least;
                } else {
                    low = tried;
                    reach *= 4.0;
                    seeks = 0;
                    MODEL_sides(m, from);
                    *m = *work->past;
                    MODEL_crossed(m, from, side, &met);
                }
            }
            *m = *work->past;
            memcpy(held, m->held, sizeof(double) * MODEL_WATCHES);
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
    MODEL_work work;
    if (!(until >= m->time || MODEL_at_once(m->time, until)))
        return MODEL_fail(m, "a run cannot go back", "the time to go to is before that of now");
    if (MODEL_open(m, &work))
        return 1;
    int fails = MODEL_go(m, until, &work);
    MODEL_close(&work);
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
    static double values[MODEL_COLUMNS + 1];
    double given[3];
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
    printf("Time");
    for (int i = 0; i < MODEL_COLUMNS; i++)
        printf(",%s", MODEL_head[i]);
    printf("\n");
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
