
# ---- What follows is the same for all models. ----


class ModelError(ArithmeticError):
    """Something cannot be computed: what, the equation, Time."""

    def __init__(self, what, about, time):
        super().__init__("%s at Time = %.9g: %s" % (what, time, about))
        self.what, self.about, self.time = what, about, time


# What arithmetic may raise where the model has no value.
_TROUBLE = (ArithmeticError, ValueError)


def _exp(a):
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def _sinh(a):
    return math.sinh(a) if abs(a) < 700.0 else math.copysign(math.inf, a)


def _cosh(a):
    return math.cosh(a) if abs(a) < 700.0 else math.inf


def _pow(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf


def _sign(a):
    return float((a > 0.0) - (a < 0.0))


def _mod(a, b):
    return a - math.floor(a / b) * b


def _table(a, xs, ys):
    """Linear interpolation that holds its end values; xs ascend."""
    i = 0
    while i < len(xs) and xs[i] <= a:
        i += 1
    if i == 0:
        return ys[0]
    if i == len(xs):
        return ys[-1]
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (a - xs[i - 1]) / (xs[i] - xs[i - 1])


def _finite(value, about, time):
    if not math.isfinite(value):
        raise ModelError("a `when` sets something to what is not a number", about, time)
    return value


def _factor(a):
    """Rows of a matrix become its factors; the order of rows comes back, None if it is singular."""
    n = len(a)
    scale = [max((abs(e) for e in row), default=0.0) for row in a]
    if not all(0.0 < s < math.inf for s in scale):
        return None
    order = []
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(a[i][k]) / scale[i])
        order.append(best)
        if not abs(a[best][k]) > 1e-15 * scale[best]:
            return None
        a[k], a[best] = a[best], a[k]
        scale[k], scale[best] = scale[best], scale[k]
        pivot = a[k]
        for i in range(k + 1, n):
            row = a[i]
            if row[k] != 0.0:
                factor = row[k] = row[k] / pivot[k]
                for j in range(k + 1, n):
                    row[j] -= factor * pivot[j]
    return order


def _backwards(a, order, b):
    n = len(a)
    b = list(b)
    for k in range(n):
        b[k], b[order[k]] = b[order[k]], b[k]
    for i in range(n):
        for j in range(i):
            b[i] -= a[i][j] * b[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            b[i] -= a[i][j] * b[j]
        b[i] /= a[i][i]
    return b


def _linear(a, b, about, time):
    order = _factor(a)
    if order is None:
        raise ModelError("a linear loop is singular", about, time)
    return _backwards(a, order, b)


def _apart(once, twice):
    """By how much slopes from one move and from twice that move differ at most, each beside itself: much where the moves are lost in
    rounding or lead round a bend. What does not move at all may have been lost, too."""
    if not any(once) and not any(twice):
        return 1e3
    return max(abs(a - b) / max(abs(a), abs(b), 5e-324) for a, b in zip(once, twice))


def _slopes(residuals, z, r, j, largest):
    """The derivatives of residuals by one unknown."""
    delta, best, found = 1e-7 * abs(z[j]) or 1e-13, math.inf, None
    sure = abs(z[j]) > 1e-4 * largest
    for _ in range(6):
        near, slopes = list(z), []
        try:
            for move in (delta,) if sure else (delta, 2.0 * delta):
                near[j] = z[j] + move
                by = near[j] - z[j]
                slopes.append([(a - b) / by for a, b in zip(residuals(near)[0], r)])
        except _TROUBLE:
            break
        apart = _apart(slopes[0], slopes[-1])
        if apart < best:
            best, found = apart, slopes[0]
        if best <= 1e-3:
            break
        delta *= 100.0
    if found is None:
        raise ArithmeticError
    return found


def _beside(steps, values, most):
    """How long a step is beside these values, and a part of the largest there have been."""
    return max(abs(s) / max(v, 1e-3 * w, 1e-10) for s, v, w in zip(steps, values, most))


def _newton_from(residuals, z):
    """Newton's method from one guess; steps are halved while they lead away. As in `bgm simulate`: a step is long or short beside
    the values before and after the whole step, for a variable on its way through zero has no size of its own."""
    n = len(z)
    r, inner = residuals(z)
    most = [abs(w) for w in z]
    for _ in range(60):
        if not all(map(math.isfinite, r)):
            return None
        if not any(r):
            return z, inner
        largest = max(map(abs, z))
        columns = [_slopes(residuals, z, r, j, largest) for j in range(n)]
        a = [[columns[j][i] for j in range(n)] for i in range(n)]
        order = _factor(a)
        if order is None:
            return None
        step = _backwards(a, order, [-e for e in r])
        wide = [max(abs(w), abs(w + s)) for w, s in zip(z, step)]
        size, part = _beside(step, wide, most), 1.0
        if not size < math.inf:
            return None
        while True:
            there = [w + part * s for w, s in zip(z, step)]
            try:
                after, inside = residuals(there)
                beyond = _beside(_backwards(a, order, after), wide, most)
            except _TROUBLE:
                beyond = math.inf
            # Done, or nearer than before.
            if beyond < math.inf and (part == 1.0 and size < 1e-9 or beyond <= (1.0 - part / 4.0) * size):
                z, r, inner = there, after, inside
                most = [max(a, abs(b)) for a, b in zip(most, z)]
                if part == 1.0 and (size < 1e-9 or beyond < 1e-14):
                    return z, inner
                break
            if part < 1e-9:
                # Rounding keeps it from coming nearer: no step makes the residuals smaller, and it is one that a run does not see.
                seen = [0.1 * (ABSOLUTE + TOLERANCE * max(abs(w), v)) for w, v in zip(z, most)]
                small = size < 1e-7 or all(abs(s) <= v for s, v in zip(step, seen))
                return (z, inner) if small else None
            part /= 2.0
    return None


def _newton(residuals, state, loop, first, about, time):
    """Solves a loop from its last solution, else from other guesses."""
    last = state.guess.get(loop, first)
    for guess in (last, first, 0.7, 0.01, 20.0, -1.0, 0.0, 300.0, 1e-6, -20.0):
        z = list(guess) if not isinstance(guess, float) else [guess] * len(first)
        try:
            found = _newton_from(residuals, z)
        except _TROUBLE:
            found = None
        if found is not None:
            state.guess[loop] = found[0]
            return found
    raise ModelError("no solution of a loop was found", about, time)


def _nearest(residuals, z, fixed, about, time):
    """Moves z as little as possible (Gauss and Newton) until the residuals vanish; what is fixed stays."""
    n = len(z)
    for _ in range(30):
        r = residuals(z)
        g = [[0.0] * n for _ in r]
        for j in range(n):
            if fixed[j]:
                continue
            near = list(z)
            near[j] += 1e-7 * (abs(z[j]) + 1e-3)
            for i, other in enumerate(residuals(near)):
                g[i][j] = (other - r[i]) / (near[j] - z[j])
        a = [[sum(p * q for p, q in zip(one, other)) for other in g] for one in g]
        order = _factor(a)
        if order is None:
            break
        r = _backwards(a, order, r)
        change = [-sum(row[j] * e for row, e in zip(g, r)) for j in range(n)]
        z = [w + c for w, c in zip(z, change)]
        if max(map(abs, change)) <= 1e-12 * max(map(abs, z)):
            return z
    raise ModelError("states cannot be moved back onto their constraint", about, time)


class _State:
    """What an evaluation reads beside its arguments, and the last solutions of loops."""

    def __init__(self):
        self.guess = {}
        self.pre = list(_PRE)
        self.sampled = [False] * len(_SAMPLERS)
        # Next values are computed at events only.
        self.event = False
        self.projects = False
        self.fixed = [False] * len(STATES)
        # Of a model with positions: which one, and truths of relations.
        self.position, self.h = 0, None


_PLAIN = _State()


_DEFAULTS = _parameters({})


def _prepared(t, u, p, d, h, s):
    p = _DEFAULTS if not p else p if isinstance(p, tuple) else _parameters(p)
    if u is None or isinstance(u, dict):
        own = _inputs(t, p, h, s)
        for name in u or ():
            if name not in INPUTS:
                raise ModelError("no input of the model", name, t)
        u = own if u is None else [u.get(name, value) for name, value in zip(INPUTS, own)]
    if d is None or isinstance(d, dict):
        d = [(d or {}).get(name, value) for name, value in DISCRETES.items()]
    return u, p, d


def full(t, x, u=None, p=None, d=None, h=None):
    """Every variable and derivative by name. u: inputs in the order of INPUTS, or a dict of some; nothing: what the experiment says.
    p: a dict of parameters that have other values. d: values of DISCRETES. h: truths of RELATIONS; nothing: as they are written."""
    u, p, d = _prepared(t, u, p, d, h, _PLAIN)
    return _evaluate(t, x, u, p, d, h, _PLAIN)


def rhs(t, x, u=None, p=None, d=None, h=None):
    """Derivatives of STATES: the right sides for an integrator, scipy.integrate.solve_ivp(rhs, (0, 1), INITIAL)."""
    values = full(t, x, u, p, d, h)
    return [values[name] for name in RATES]


def outputs(t, x, u=None, p=None, d=None, h=None):
    """Values of OUTPUTS."""
    values = full(t, x, u, p, d, h)
    return [values[name] for name in OUTPUTS]


def events(t, x, u=None, p=None, d=None, h=None):
    """Where one of these passes through zero, something may happen."""
    u, p, d = _prepared(t, u, p, d, h, _PLAIN)
    sides = _sides(t, _evaluate(t, x, u, p, d, h, _PLAIN), h, _PLAIN)
    return [left - right for left, right in sides]


def initial(p=None):
    """Start values of STATES for other parameters."""
    return _initial(_DEFAULTS if not p else _parameters(p))


def project(t, x, u=None, p=None, d=None, fixed=None):
    """The states next to these that satisfy the constraints between them."""
    if not _PROJECTS:
        return list(x)
    u, p, d = _prepared(t, u, p, d, None, _PLAIN)
    _PLAIN.projects, _PLAIN.fixed = True, list(fixed or [False] * len(STATES))
    try:
        values = _evaluate(t, x, u, p, d, None, _PLAIN)
    finally:
        _PLAIN.projects = False
    return [values[name] for name in STATES]
