

def simulate(until=UNTIL, points=POINTS, p=None, u=None, tolerance=TOLERANCE):
    """Rows [Time, values of COLUMNS] of a run."""
    run = Run(p, u, FROM, until - FROM, tolerance, ABSOLUTE if tolerance == TOLERANCE else None)
    run.begin()
    for point in range(points):
        time = until if points == 1 else FROM + (until - FROM) * point / (points - 1)
        if STEP is not None and (until, points) == (UNTIL, POINTS):
            time = min(FROM + point * STEP, until)
        run.advance(time)
        yield [time] + [float(value) for value in run.columns()]


def _arguments(given):
    """What [until [points [tolerance]]] say; ValueError for what cannot be."""
    import re

    numbers = [UNTIL, POINTS, TOLERANCE]
    for i, text in enumerate(given):
        if i > 2:
            raise ValueError("`%s` is too much" % text)
        plain = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
        value = float(text) if plain else math.inf
        if math.isinf(value):
            raise ValueError("`%s` is no number" % text)
        if i == 0 and value < FROM:
            raise ValueError("`%s` is before the start of the run" % text)
        if i == 1 and not (1 <= value <= 2e9 and value == math.floor(value)):
            raise ValueError("`%s` is no number of points" % text)
        if i == 2 and not value > 0:
            raise ValueError("`%s` is no tolerance" % text)
        numbers[i] = int(value) if i == 1 else value
    until, points, tolerance = numbers
    return until, 1 if until == FROM else points, tolerance


if __name__ == "__main__":
    import sys

    try:
        _until, _points, _tolerance = _arguments(sys.argv[1:])
    except ValueError as error:
        print("error: %s\nusage: %s [until [points [tolerance]]]" % (error, sys.argv[0]), file=sys.stderr)
        sys.exit(2)
    try:
        print(_HEAD)
        for _row in simulate(_until, _points, tolerance=_tolerance):
            print(",".join("%.17g" % value for value in _row))
    except _TROUBLE as error:
        sys.exit(str(error))
