"""Asks two Modelica front ends of other people about a class: pymoca and rumoca.

judge.py count FILE...             file,equations,unknowns (both by pymoca),equations,unknowns (both by rumoca, of real variables
                                   that are not discrete)
judge.py run FILE ROWS [u=1 ...]   simulates the class (rumoca) as its experiment annotation says, tighter, and prints what it has
                                   at the times of ROWS, a CSV file, for the columns of that file; inputs may be given
judge.py words FILE                what rumoca says against simulating it
"""

import csv
import re
import sys


def text_of(file):
    with open(file, encoding="utf-8") as source:
        return source.read()


def by_pymoca(text):
    import pymoca.ast as ast
    import pymoca.parser
    import pymoca.tree

    tree = pymoca.parser.parse(text)
    assert tree is not None, "pymoca cannot read the class"
    name = list(tree.classes)[-1]
    flat = pymoca.tree.flatten(tree, ast.ComponentRef(name=name)).classes[name]
    known = {"parameter", "constant", "input"}
    unknowns = [s for s in flat.symbols.values() if not known & set(s.prefixes)]
    equations = 0
    for equation in flat.equations:
        if isinstance(equation, ast.WhenEquation):
            # Each variable that it sets, however many branches do; restarts set none.
            blocks = [one for block in equation.blocks for one in block if isinstance(one, ast.Equation)]
            equations += len({str(one.left) for one in blocks})
        else:
            equations += 1
    return equations, len(unknowns)


def compiled(text):
    import rumoca

    return rumoca.Session().loads(text, filename="class.mo")


def by_rumoca(text):
    model = compiled(text)
    assert model.structure().is_balanced, "rumoca finds the class unbalanced"
    # Before index reduction, which adds equations.
    equations = model.to_dict("dae")["storage"]["continuous_equation_operations"]
    return len(equations), len(model.states) + len(model.algebraics) + len(model.outputs)


def simulated(text, inputs):
    import rumoca

    value = lambda word: float(re.search(word + r" = ([^,)]*)", text).group(1))
    start, stop, step = value("StartTime"), value("StopTime"), value("Interval")
    config = rumoca.SimConfig(rtol=1e-9, atol=1e-12, max_wall_seconds=60)
    given = {name: float(number) for name, number in inputs}
    if not step > 0:
        step = None
    return compiled(text).simulate((start, stop), dt=step, config=config, inputs=given or None), stop - start


def quoted(name):
    spelled = "".join(c if " " <= c <= "~" else "{U+%04X}" % ord(c) for c in name)
    return "'" + spelled + "'"


def run(file, rows, inputs):
    result, span = simulated(text_of(file), inputs)
    with open(rows, encoding="utf-8", newline="") as source:
        table = list(csv.reader(source))
    found = []
    for name in table[0][1:]:
        own = [key for key in (name, quoted(name)) if key in result]
        if own:
            # Not result[...]: that takes `t` for the time, whatever is called so.
            found.append((name, result.to_numpy([own[0]])[0]))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["Time"] + [name for name, _ in found])
    times, at = list(result.time), 0
    for row in table[1:]:
        time = float(row[0])
        # The last value at this time: what is after an event.
        while at + 1 < len(times) and times[at + 1] <= time + 1e-10 * span:
            at += 1
        assert abs(times[at] - time) <= 1e-10 * span, "nothing at Time = %r" % time
        out.writerow([repr(time)] + [repr(float(values[at])) for _, values in found])


def main(mode, *arguments):
    if mode == "count":
        for file in arguments:
            text = text_of(file)
            print(file, *by_pymoca(text), *by_rumoca(text), sep=",")
    elif mode == "run":
        run(arguments[0], arguments[1], [one.split("=") for one in arguments[2:]])
    elif mode == "words":
        try:
            simulated(text_of(arguments[0]), [])
        except Exception as error:
            print(type(error).__name__, error)


main(*sys.argv[1:])
