

# ---- Positions of switches. At an event each position that is tried begins from the values before it, and only the last one is kept.
# Where they do not satisfy what the position asks of them, they jump, and the impulses that make them do so decide relations before all
# else. As in `bgm simulate`. ----


class _Standing:
    """What the rounds of an event have come to."""

    def __init__(self, before, kept):
        # Values that positions begin from, and what was kept when the position was entered.
        self.before, self.kept = before, kept
        # The run is where its truths say; states have jumped.
        self.stands, self.jumped = True, False
        self.impulse = [0.0] * len(RELATIONS)

    def landed(self, values):
        """A jump has been made: what comes now begins from the values after it."""
        self.before, self.jumped = values, False
        self.impulse = [0.0] * len(RELATIONS)


def _solve_jump(mode, t, v, s, z):
    """Solves for what jumps from the values z; None where there is no solution."""
    start, last, first = list(z), math.inf, None
    for _ in range(51):
        rest, terms, a = mode.jump(t, v, s, start, z)
        first = first or [list(row) for row in a]
        if last <= 1e-14:
            break
        order = _factor(a)
        if order is None:
            return None
        change = _backwards(a, order, rest)
        z = [w - c for w, c in zip(z, change)]
        if not all(map(math.isfinite, z)):
            return None
        largest = max(max(map(abs, z)), max(map(abs, start)))
        size = max(abs(c) / max(abs(w) + abs(b) + 1e-9 * largest, 1e-300) for c, w, b in zip(change, z, start))
        mode.put(v, z)
        last = 0.0 if size >= last and size < 1e-9 else size
    else:
        return None
    # With coefficients that are others afterwards it would matter in which order things jump.
    for term, row, other in zip(terms, first, a):
        for j, (here, there) in enumerate(zip(row, other)):
            if term < 0.0 and z[j] != start[j] and abs(here - there) > 1e-7 * (abs(here) + abs(there)):
                return None
    return z


class Run(Run):
    """A run: begin(), then advance(until) and columns(), again and again."""

    def kept(self):
        return list(self.h), list(self.d)

    def put_back(self, kept):
        self.h, self.d = list(kept[0]), list(kept[1])

    def enter(self, to, st):
        """Goes into a position from the values before the event."""
        mode, s, before = _MODES[to], self.s, st.before
        st.jumped, st.stands, st.impulse = False, False, [0.0] * len(RELATIONS)
        s.position = to
        self.x = [_number(before[name]) for name in STATES]
        if mode.size:
            # What cannot jump is as it is here; what can, as it was.
            try:
                v = self.values()
            except _TROUBLE:
                v = dict(before)
            z = mode.get(before)
            mode.put(v, z)
            rest, terms, _ = mode.jump(self.time, v, s, z, z)
            if not all(term < 0.0 or abs(r) <= 1e-12 * term for r, term in zip(rest, terms)):
                mode.apart(self.time, v, s, self.sizes)
                z = _solve_jump(mode, self.time, v, s, z)
                if z is None:
                    raise ModelError("what jumps cannot be computed in a position of the switches", mode.name, self.time)
                now = [_number(v[name]) for name in STATES]
                for i, (a, b) in enumerate(zip(self.x, now)):
                    least = max(self.absolute + self.relative * max(self.sizes[i], abs(a)), 2e-12 * self.largest)
                    st.jumped = st.jumped or abs(b - a) > least
                self.x = now
                if st.jumped:
                    sides = [[z[at] if at >= 0 else 0.0 for at in pair] for pair in mode.sides]
                    largest = max((abs(e) for pair in sides for e in pair), default=0.0)
                    sides = [[e if abs(e) > 1e-12 * largest else 0.0 for e in pair] for pair in sides]
                    st.impulse = [a - b for a, b in sides]
        self.project()
        values = self.values()
        self.x = [_number(values[name]) for name in STATES]
        st.kept, st.stands = self.kept(), True

    def where(self):
        """The position that the truths mean, -1 if it is impossible."""
        return _BY_KEY[_key(self.time, self.values(), self.h, self.s)]

    def stand(self, st):
        """Goes where the truths say."""
        to = self.where()
        # A source that jumps in the same position moves what is tied to it.
        if st.stands and to == self.s.position and self.kept() == st.kept:
            return
        st.stands = False
        if to < 0:
            raise ModelError("switches come to a position that is impossible", "", self.time)
        self.enter(to, st)

    def flip(self, i):
        self.d[_OWN[i]] = not self.d[_OWN[i]]

    def accompanied(self, st, moved=()):
        """Looks for a position in which one or two more of the switches that decide for themselves have changed, but not those that
        just did; the run stands there then."""
        kept = self.kept()
        own = [i for i, at in enumerate(_OWN) if at >= 0 and at not in moved]
        for more in [(i,) for i in own] + [(i, j) for i in own for j in own if i < j]:
            for i in more:
                self.flip(i)
            try:
                self.stand(st)
                return True
            except _TROUBLE:
                self.put_back(kept)
        return False

    def to_be_other(self):
        """Discrete variables that are to be other than they are: place and next value."""
        values = self.values()
        nexts = (values["new(%s)" % name] for name in DISCRETES)
        return [(i, after) for i, after in enumerate(nexts) if after != self.d[i]]

    def suits(self, st):
        """Whether nothing is against a position: relations that are sure have their truth, and those whose sides are equal and do not
        move may be either."""
        here = self.s.position
        at_zero = _MODES[here].at_zero
        for _ in range(10):
            judged, changed = self.judge(st.impulse), False
            for i, (verdict, decided, _) in enumerate(judged):
                known = verdict in ("sure", "moves") or (verdict == "tie" and at_zero[i])
                if known and decided != self.h[i]:
                    self.h[i], changed = decided, True
            if self.where() != here:
                return False
            if not changed:
                break
        count = len(self.to_be_other())
        for i, (verdict, _, _) in enumerate(self.judge(st.impulse)):
            held = self.h[i]
            if not count or verdict != "tie" or at_zero[i] or held not in (True, False):
                continue
            self.h[i] = not held
            better = len(self.to_be_other())
            if better < count and self.where() == here:
                count = better
            else:
                self.h[i] = held
        st.kept = self.kept()
        return not count

    def search(self, st):
        """Looks for a position that nothing is against, one switch away, then two, and so on."""
        kept = self.kept()
        key = _key(self.time, self.values(), self.h, self.s)
        own = sum(1 << i for i, at in enumerate(_OWN) if at >= 0)
        others = [other for other, at in enumerate(_BY_KEY) if at >= 0 and not (key ^ other) & ~own]
        for other in sorted(others, key=lambda other: (bin(key ^ other).count("1"), other)):
            self.put_back(kept)
            for i in range(len(_OWN)):
                if (key ^ other) >> i & 1:
                    self.flip(i)
            try:
                if _key(self.time, self.values(), self.h, self.s) == other:
                    self.stand(st)
                    if self.suits(st):
                        return
            except _TROUBLE:
                pass
            st.stands = False
        self.put_back(kept)
        raise ModelError("no position of the switches is consistent", "", self.time)

    def act(self, d, x, fixed):
        return _whens(self.time, self.values(), self.h, self.s, self.conditions, d, x, fixed)

    def rounds(self):
        st = _Standing(self.values(), self.kept())
        self.settle(st)
        self.largest = max([self.largest] + [abs(x) for x in self.x])

    def settle(self, st):
        single, barred, refused, seen, last, why = False, set(), False, set(), None, None
        for _ in range(200 + 8 * (len(self.h) + len(self.d))):
            try:
                self.stand(st)
            except _TROUBLE as error:
                # Back, and another way.
                why, jumped, st.stands = error, st.jumped, False
                if last is None:
                    if self.accompanied(st):
                        continue
                    raise
                kept, changes = last
                last = None
                if not single and len(changes) > 1:
                    single = True
                else:
                    barred.update(changes)
                    moved = [at for kind, at in changes if kind == "d"]
                    if not jumped and self.accompanied(st, moved):
                        barred, single = set(), True
                        continue
                self.put_back(kept)
                refused = True
                continue
            changes = []
            for i, (verdict, decided, _) in enumerate(self.judge(st.impulse)):
                if verdict != "unknown" and decided != self.h[i]:
                    # What impulses decide comes first, and the values after a jump last.
                    changes.append((2 if st.jumped and st.impulse[i] == 0.0 else 0, "h", i, decided))
            changes += [(1, "d", i, after) for i, after in self.to_be_other()]
            d, x, fixed = list(self.d), list(self.x), [False] * len(self.x)
            acts = self.act(d, x, fixed)
            wanted = bool(changes)
            changes = [change for change in changes if change[1:3] not in barred]
            first = min((change[0] for change in changes), default=0)
            changes = [change for change in changes if change[0] == first]
            if not changes and not acts:
                if refused and wanted:
                    barred, refused = set(), False
                    try:
                        self.search(st)
                    except _TROUBLE:
                        raise why
                if not st.jumped:
                    return
                # What the impulses decide is decided; now for the values after the jump.
                st.landed(self.values())
                single, seen, last = False, set(), None
                continue
            changes = changes[:1] if single else changes
            last = None if any(fixed) else (self.kept(), [change[1:3] for change in changes])
            changes += [(1, "d", i, b) for i, (a, b) in enumerate(zip(self.d, d)) if a != b]
            for _, kind, i, value in changes:
                (self.h if kind == "h" else self.d)[i] = value
            if any(fixed):
                self.x = x
                self.project(fixed)
                st.before = self.values()
            mark = (tuple(self.h), tuple(self.d), tuple(self.x))
            if mark not in seen:
                seen.add(mark)
                continue
            # It goes round: a position that is not against what it says itself.
            self.search(st)
            d = list(self.d)
            acts = self.act(d, list(self.x), [False] * len(self.x))
            if not acts and not st.jumped:
                return
            if not acts:
                st.landed(self.values())
            self.d = d
            single, seen, last = False, set(), None
        raise ModelError("an event comes to no end: something is true when it is false", "", self.time)

    def as_given(self, at):
        """Whether switches that decide for themselves are in a position as their variables say."""
        keys = (key for key, place in enumerate(_BY_KEY) if place == at)
        own = [(i, bool(self.d[place])) for i, place in enumerate(_OWN) if place >= 0]
        return any(all(bool(key >> i & 1) == truth for i, truth in own) for key in keys)

    def first_truths(self):
        """The position to begin in: the first in which nothing has to change; else the first that is as the discrete variables say and
        in which nothing jumps (where a current is zero only for the moment, relations as they are written say otherwise); else the
        first that is possible."""
        x, kept, found, best, why = self.x, self.kept(), 0, None, None
        for at in range(len(_MODES)):
            self.x, self.s.position = x, at
            self.put_back(kept)
            st = _Standing(_starting(self), kept)
            try:
                self.enter(at, st)
                # Without switches truths alone decide what constraints say: the start values do not jump once these are known.
                for _ in range(3):
                    truths = list(self.h)
                    if not st.jumped or len(_BY_KEY) > 1:
                        break
                    self.decide_all()
                    if self.h == truths:
                        break
                    now = self.kept()
                    self.x = x
                    self.put_back(now)
                    st = _Standing(_starting(self), now)
                    self.enter(at, st)
                same = not st.jumped
                rank = 2 if same and self.as_given(at) else 1
                for _ in range(3):
                    if same:
                        self.decide_all()
                        same = self.where() == at
                if same and not self.to_be_other():
                    rank = 3
            except _TROUBLE as error:
                why = error
                continue
            if rank > found:
                found, best = rank, (at, self.x, self.kept())
            if found == 3:
                break
        if best is None:
            raise why
        self.s.position, self.x = best[:2]
        self.put_back(best[2])


def _starting(run):
    """Start values, and nothing else yet."""
    values = {name: 0.0 for name in _NAMES}
    values.update(zip(STATES, run.x))
    values.update(zip(DISCRETES, run.d))
    return values
