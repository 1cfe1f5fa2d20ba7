

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


if __name__ == "__main__":
    import sys

    # [until [points [tolerance]]]
    _numbers = [float(number) for number in sys.argv[1:4]]
    if len(_numbers) > 1:
        _numbers[1] = int(_numbers[1])
    try:
        print(_HEAD)
        for _row in simulate(**dict(zip(("until", "points", "tolerance"), _numbers))):
            print(",".join("%.17g" % value for value in _row))
    except _TROUBLE as error:
        sys.exit(str(error))
