

# ---- Runs: events as in `bgm simulate`, steps by Rodas4 (Hairer and Wanner, Solving Ordinary Differential Equations II). ----

_EPSILON = 2.0**-52


def _decide(kind, difference):
    if kind == "floor":
        return float(math.floor(difference))
    if kind == "ceil":
        return float(math.ceil(difference))
    if kind == "sign":
        return _sign(difference)
    if kind == "<":
        return difference < 0.0
    if kind == "<=":
        return difference <= 0.0
    if kind == ">":
        return difference > 0.0
    return difference >= 0.0


def _decide_at(kind, difference, slope):
    """Where the sides are equal: by the way they move."""
    whole = math.floor(difference + 0.5)
    if kind == "floor":
        return float(whole - (slope < 0.0))
    if kind == "ceil":
        return float(whole + (slope > 0.0))
    return _decide(kind, slope)


def _distance(kind, difference, held):
    """How far it is from where it is decided otherwise, as seen from what is kept."""
    if kind == "floor":
        return difference - held if difference < held + 0.5 else difference - held - 1.0
    if kind == "ceil":
        return difference - held + 1.0 if difference < held - 0.5 else difference - held
    return difference


def _at_once(a, b):
    return abs(a - b) <= 8.0 * _EPSILON * abs(a)


_A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
_C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
_ALPHA = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
_GAMMA = (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0)


class Run:
    """A run: begin(), then advance(until) and columns(), again and again."""

    def __init__(self, p=None, u=None, start=FROM, span=UNTIL - FROM, tolerance=TOLERANCE, absolute=None):
        self.time = start
        self.p = _parameters(p or {})
        # Inputs: a function of Time, or nothing: what the experiment says.
        self.u = u
        self.x = _initial(self.p)
        self.d = list(DISCRETES.values())
        self.h = [False] * len(RELATIONS)
        self.s = _State()
        self.relative = tolerance
        self.absolute = 1e-3 * tolerance if absolute is None else absolute
        self.span = span
        self.longest = span / (20.0 if STATES else 2000.0)
        self.step = 0.0
        self.sizes = [0.0] * len(STATES)
        self.scale = [0.0] * len(RELATIONS)
        self.largest = 0.0
        self.rests = [False] * len(RELATIONS)
        self.dull = [0] * len(RELATIONS)
        self.conditions = [False] * _CONDITIONS
        # Of each relation and what it was: how many changes since when, the last, the time between the last two, how often sooner.
        self.recent = {}
        self.events = 0

    def at(self, time, x):
        u = _inputs(time, self.p, self.h, self.s) if self.u is None else self.u(time)
        return _evaluate(time, x, u, self.p, self.d, self.h, self.s)

    def values(self):
        """Every variable and derivative by name, now."""
        return self.at(self.time, self.x)

    def columns(self):
        """What `bgm simulate` records, now."""
        return _columns(self.time, self.values(), self.h, self.s)

    def rates(self, time, x):
        values = self.at(time, x)
        rates = [values[name] for name in RATES]
        if not all(map(math.isfinite, rates)):
            for name, value in values.items():
                if not math.isfinite(value):
                    raise ModelError("not a number", name, time)
        return rates

    def sides(self):
        return _sides(self.time, self.values(), self.h, self.s)

    # Events.

    def zero(self, i, side):
        size = max(abs(side[0]), abs(side[1]))
        return 1e-13 * max(self.scale[i], _SHARED * self.largest) + 4.0 * _EPSILON * size

    def changed(self, i, side):
        """Whether a relation is not what it was, clearly."""
        difference = side[0] - side[1]
        distance = _distance(RELATIONS[i][0], difference, self.h[i])
        times = 10.0 ** self.dull[i] * (16.0 if self.rests[i] else 1.0)
        if not abs(distance) > times * self.zero(i, side):
            return False
        return _decide(RELATIONS[i][0], difference) != self.h[i]

    def remember(self):
        for i, side in enumerate(self.sides()):
            size = max(abs(side[0]), abs(side[1]))
            if math.isfinite(size):
                self.scale[i] = max(self.scale[i], size)
                self.largest = max(self.largest, size)
            if abs(side[0] - side[1]) > 10.0 ** (self.dull[i] + 1) * self.zero(i, side):
                self.dull[i] = 0

    def count(self, i):
        """Counts a change of a relation: endlessly many in no time are a failure, and so are those that come ever sooner, as of a ball
        that comes to rest. As in `bgm simulate`."""
        time = self.time
        crowd, since, last, before, sooner = self.recent.get((i, bool(self.h[i])), (0, time, time, 0.0, 0))
        between = time - last
        sooner = sooner + 1 if between < 0.98 * before else 0
        if not time - since < max(1e-5 * self.span, 1e3 * _EPSILON * abs(time)):
            crowd, since = 0, time
        self.recent[i, bool(self.h[i])] = crowd + 1, since, time, between, sooner
        if crowd >= 100 or (sooner >= 20 and between < 1e-6 * self.span):
            raise ModelError("events follow each other without end", RELATIONS[i][1], time)

    def slopes(self, sides):
        """How the sides of relations move along the solution."""
        time = self.time
        later = time + 1e-8 * self.span
        try:
            rates = self.rates(time, self.x)
            x = [w + (later - time) * r for w, r in zip(self.x, rates)]
            moved = _sides(later, self.at(later, x), self.h, self.s)
        except _TROUBLE:
            return [0.0] * len(sides)
        slopes = []
        for side, other in zip(sides, moved):
            change = (other[0] - other[1]) - (side[0] - side[1])
            size = max(abs(side[0]), abs(side[1]))
            slopes.append(change / (later - time) if abs(change) > 8.0 * _EPSILON * size else 0.0)
        return slopes

    def rounds(self):
        """Changes what is not as it should be: all at once; then one at a time, which ends where that goes round; then ties that do
        not move keep their truth; then ties are ties, however they move."""
        for way in ("together", "single", "keeping", "resting"):
            for _ in range(40 + 4 * (len(self.h) + len(self.d))):
                if not self.round(way):
                    return
        raise ModelError("an event comes to no end: something is true when it is false", "", self.time)

    def judge(self, impulse=None):
        """What each relation is: "sure" by its sides or their impulse, "moves" by the way they do where they are equal, a "tie" where
        they do not; with what it is, and what it is where its sides rest."""
        sides, slopes, judged = self.sides(), None, []
        for i, side in enumerate(sides):
            kind = RELATIONS[i][0]
            difference, zero = side[0] - side[1], 4.0 * self.zero(i, side)
            if math.isnan(difference):
                judged.append(("unknown", self.h[i], self.h[i]))
                continue
            rest = _decide_at(kind, difference, 0.0)
            if impulse and impulse[i] != 0.0:
                judged.append(("sure", _decide(kind, impulse[i]), rest))
                continue
            whole = kind in ("floor", "ceil")
            nearest = abs(difference - math.floor(difference + 0.5) if whole else difference)
            tie = nearest <= zero
            decided = _decide(kind, difference)
            if not tie and _TIMED[i] and decided != self.h[i]:
                # Of a time that was computed the last digits are not known.
                slopes = slopes or self.slopes(sides)
                tie = nearest <= zero + 16.0 * _EPSILON * abs(self.time * slopes[i])
            if not tie:
                judged.append(("sure", decided, rest))
                continue
            slopes = slopes or self.slopes(sides)
            if slopes[i] != 0.0:
                judged.append(("moves", _decide_at(kind, difference, slopes[i]), rest))
            else:
                judged.append(("tie", rest, rest))
        return judged

    def round(self, way):
        values = self.values()
        held, changes = list(self.h), 0
        for i, (verdict, decided, rest) in enumerate(self.judge()):
            if verdict == "unknown":
                continue
            if verdict == "moves" and way == "resting":
                decided = rest
            elif verdict == "tie" and way == "keeping":
                decided = self.h[i]
            self.rests[i] = verdict != "sure" and way == "resting"
            if decided != self.h[i] and (way == "together" or not changes):
                held[i] = decided
                changes += 1
        d, x, fixed = list(self.d), list(self.x), [False] * len(self.x)
        for i, name in enumerate(DISCRETES):
            after = values.get("new(%s)" % name, d[i])
            if after != d[i] and (way == "together" or not changes):
                d[i] = after
                changes += 1
        acts = _whens(self.time, values, self.h, self.s, self.conditions, d, x, fixed)
        if not changes and not acts:
            return False
        self.h, self.d, self.x = held, d, x
        if acts:
            self.project(fixed)
        return True

    def project(self, fixed=None):
        if _PROJECTS:
            self.s.projects, self.s.fixed = True, fixed or [False] * len(STATES)
            try:
                values = self.values()
            finally:
                self.s.projects = False
            self.x = [values[name] for name in STATES]

    def next_known(self):
        """The next time that is known in advance, of a sample or a relation that is linear in Time."""
        time, known = self.time, math.inf
        if any(_TIMED):
            later = time + 1e-3 * self.span
            values = self.values()
            here, there = (_sides(at, values, self.h, self.s) for at in (time, later))
            for i, (kind, _) in enumerate(RELATIONS):
                if not _TIMED[i]:
                    continue
                difference = here[i][0] - here[i][1]
                slope = (there[i][0] - there[i][1] - difference) / (later - time)
                left = -difference
                if kind in ("floor", "ceil"):
                    left = self.h[i] - difference + ((slope > 0.0) if kind == "floor" else -(slope < 0.0))
                if slope != 0.0 and left / slope > 8.0 * _EPSILON * abs(time):
                    known = min(known, time + left / slope)
        for start, period in self.samples():
            count = max(0, math.floor((time - start) / period))
            while start + count * period <= time or _at_once(start + count * period, time):
                count += 1
            known = min(known, start + count * period)
        return known

    def samples(self):
        if not _SAMPLERS:
            return ()
        samples = _samples(self.time, self.values(), self.h, self.s)
        if not all(period > 0.0 for _, period in samples):
            raise ModelError("a sample needs a period above zero", "", self.time)
        return samples

    def event(self):
        """Settles what happens now: relations, discrete variables, `when`s."""
        s = self.s
        s.event = True
        try:
            s.pre = _keep(self.values())
            for i, (start, period) in enumerate(self.samples()):
                count = max(0, math.floor((self.time - start) / period + 0.5))
                s.sampled[i] = _at_once(start + count * period, self.time)
            self.rounds()
            if any(s.sampled):
                s.sampled = [False] * len(_SAMPLERS)
                self.rounds()
            s.pre = _keep(self.values())
        finally:
            s.sampled = [False] * len(_SAMPLERS)
            s.event = False
        self.remember()

    def decide_all(self):
        """Relations as they are written, the sides being equal or not."""
        for i, side in enumerate(self.sides()):
            self.h[i] = _decide(RELATIONS[i][0], side[0] - side[1])
            self.largest = max(self.largest, abs(side[0]), abs(side[1]))

    def first_truths(self):
        """Truths are needed to compute the sides of others: twice is enough for most, the rest is settled."""
        self.project()
        self.h = list(_TRUTHS_AT_START)
        for _ in range(2):
            self.decide_all()

    def begin(self):
        """A consistent start: relations as they are written, then an event."""
        self.s.event = True
        self.first_truths()
        _whens(self.time, self.values(), self.h, self.s, self.conditions, list(self.d), list(self.x), [False] * len(self.x))
        # No step is longer than half a period of a sine, an eighth where a relation may come and go: it would be passed over.
        values, delta = self.values(), 1e-6 * self.span
        here, there = (_sines(at, values, self.h, self.s) for at in (self.time, self.time + delta))
        shortest, part = (1e-4, math.pi) if all(_TIMED) else (1e-6, 0.25 * math.pi)
        for a, b in zip(here, there):
            if a != b:
                self.longest = min(self.longest, max(part * delta / abs(b - a), shortest * self.span))
        self.event()

    # Steps.

    def linearize(self, time, x, h):
        """The matrix of derivatives, and the derivative by Time, at a place."""
        n = len(x)
        here = self.rates(time, x)
        matrix = [[0.0] * n for _ in range(n)]
        for j in range(n):
            delta = 1.5e-8 * max(abs(x[j]), self.sizes[j], abs(here[j]) * h) or 1e-8
            delta = -delta if here[j] < 0.0 else delta
            near = list(x)
            near[j] = x[j] + delta
            try:
                there = self.rates(time, near)
            except _TROUBLE:
                near[j] = x[j] - delta
                there = self.rates(time, near)
            for i in range(n):
                matrix[i][j] = (there[i] - here[i]) / (near[j] - x[j])
        later = time + max(1e-5 * h, 1e-10 * abs(time))
        try:
            there = self.rates(later, x)
        except _TROUBLE:
            there = here
        return matrix, [(b - a) / (later - time) for a, b in zip(here, there)]

    def rodas(self, time, h, x, linear):
        """One step: where it leads, and how far off it may be beside the tolerance."""
        matrix, drift = linear
        n = len(x)
        w = [[(4.0 / h if i == j else 0.0) - matrix[i][j] for j in range(n)] for i in range(n)]
        order = _factor(w)
        if order is None:
            raise ModelError("the integrator can go no further", "a matrix is singular", time)
        k = []
        for a, c, alpha, gamma in zip(_A, _C, _ALPHA, _GAMMA):
            to = [x[i] + sum(e * q[i] for e, q in zip(a, k)) for i in range(n)]
            f = self.rates(time + alpha * h, to)
            b = [f[i] + h * gamma * drift[i] + sum(e / h * q[i] for e, q in zip(c, k)) for i in range(n)]
            k.append(_backwards(w, order, b))
        off = 0.0
        for i in range(n):
            to[i] += k[5][i]
            scale = self.absolute + self.relative * max(abs(x[i]), abs(to[i]))
            off += (k[5][i] / scale) ** 2 / n
        if not math.isfinite(off):
            raise ModelError("not a number", "a step of the integrator", time)
        return to, math.sqrt(off)

    def try_step(self, time, h, x, linear, end):
        """Goes to the end of a step."""
        to, off = self.rodas(time, h, x, linear) if x else ([], 0.0)
        if off <= 1.0:
            self.time, self.x = end, to
            self.project()
            self.values()
        return off

    def crossed(self, sides):
        """Whether any relation is not what it was; and where, by the straight line from these sides, the first is met."""
        met = None
        for i, (side, before) in enumerate(zip(self.sides(), sides)):
            if self.changed(i, side):
                kind, held = RELATIONS[i][0], self.h[i]
                first = _distance(kind, before[0] - before[1], held)
                last = _distance(kind, side[0] - side[1], held)
                part = 0.5 if first == last else first / (first - last)
                met = part if met is None else min(met, part)
        return met

    def first(self):
        """The first step: a part of how long the states take to double."""
        size = speed = 0.0
        for x, rate in zip(self.x, self.rates(self.time, self.x)):
            scale = self.absolute + self.relative * abs(x)
            size, speed = max(size, abs(x) / scale), max(speed, abs(rate) / scale)
        h = self.longest if speed == 0.0 else 0.01 * (size or 1.0) / speed
        return min(h, 1e-3 * self.longest)

    def advance(self, until):
        """Goes on to a time, through all events before and at it."""
        if not (until >= self.time or _at_once(self.time, until)):
            raise ModelError("a run cannot go back", "the time to go to is before that of now", self.time)
        while self.time < until and not _at_once(self.time, until):
            time, x, known = self.time, self.x, self.next_known()
            stop = min(until, known)
            wish = h = self.step or self.first()
            sides = self.sides() if RELATIONS else ()
            linear, made = (self.linearize(time, x, h), h) if x else (None, h)
            rejected = False
            while True:
                h = min(h, self.longest)
                cut = time + 1.01 * h >= stop
                h = stop - time if cut else h
                if time + h <= time:
                    raise ModelError("the integrator can go no further", "no step is short enough", time)
                if x and h < 0.1 * made:
                    linear, made = self.linearize(time, x, h), h
                trouble = None
                try:
                    off = self.try_step(time, h, x, linear, stop if cut else time + h)
                except _TROUBLE as error:
                    trouble, off = error, math.inf
                if off <= 1.0:
                    break
                self.time, self.x, rejected = time, x, True
                h *= 0.25 if trouble else max(0.1, 0.9 * off**-0.25)
                if h <= 4.0 * _EPSILON * abs(time) or h < 1e-20 * self.span:
                    if trouble is None:
                        raise ModelError("the integrator can go no further", "no step is short enough", time)
                    raise trouble if isinstance(trouble, ModelError) else ModelError("not a number", str(trouble), time)
            grown = h * (5.0 if off == 0.0 else min(1.0 if rejected else 5.0, max(0.2, 0.9 * off**-0.25)))
            met = self.crossed(sides) if RELATIONS else None
            if met is not None:
                self.locate(time, h, x, linear, sides, met)
                self.event_here()
                # What begins here is new: a long step may not see that a relation comes back and goes again.
                cut, grown = False, 0.0
            elif self.time >= known or _at_once(self.time, known):
                self.event()
                self.events += 1
            elif RELATIONS:
                self.remember()
            self.sizes = [max(size, abs(w)) for size, w in zip(self.sizes, self.x)]
            # A step that was cut short says nothing of the next.
            self.step = max(grown, wish) if cut else grown
        # The same but for rounding.
        self.time = until

    def locate(self, time, h, x, linear, sides, met):
        """Between a time where nothing has changed and one where something has: nearer and nearer."""
        low, high = 0.0, h
        least = 4.0 * _EPSILON * max(abs(time), abs(time + h))
        past, reach = (self.time, self.x), least
        # A tie that was decided by the way it moves may begin a little beyond: then `low` is first to be found, and where there is none
        # the event is at once.
        seeks = any(self.changed(i, side) for i, side in enumerate(sides))
        for turn in range(200):
            if high - low <= least:
                break
            part = 0.5 if seeks or turn % 3 == 2 else min(max(met, 0.0), 1.0)
            # From the other side too: where the line leads is never quite beyond.
            tried = low + part * (high - low) * (1.0 + 1e-12) + (reach if turn % 3 == 1 and not seeks else 0.0)
            tried = min(max(tried, low + 0.25 * least), high - 0.25 * least)
            try:
                self.time, self.x = time + tried, self.rodas(time, tried, x, linear)[0] if x else []
                self.project()
                here = self.crossed(sides)
            except _TROUBLE:
                high = tried
                continue
            if here is not None:
                high, met, past, reach = tried, here, (self.time, self.x), least
            else:
                low, sides, reach, seeks = tried, self.sides(), 4.0 * reach, False
                self.time, self.x = past
                met = self.crossed(sides) or 0.5
        self.time, self.x = past

    def event_here(self):
        crossed = [i for i, side in enumerate(self.sides()) if self.changed(i, side)]
        held = list(self.h)
        for i in crossed:
            self.count(i)
        self.event()
        for i in crossed:
            stays = self.h[i] == held[i] and _SHARED > 0.0
            self.dull[i] = min(self.dull[i] + 1, 6) if stays else 0
        self.events += 1
