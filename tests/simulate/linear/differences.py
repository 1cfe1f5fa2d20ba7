"""Compares A, B, C and D of `bgm linearize` with differences of the exported program's `rhs` and `outputs`.

Arguments: the program, and files of models. Prints what differs.
"""
import importlib.util
import json
import subprocess
import sys
import tempfile

bgm, wrong = sys.argv[1], 0

for number, model in enumerate(sys.argv[2:]):
    found = subprocess.run([bgm, "linearize", model, "--format", "json"], capture_output=True, check=True)
    of = json.loads(found.stdout)
    path = f"{tempfile.mkdtemp()}/m{number}.py"
    subprocess.run([bgm, "export", model, "--to", "python", "-o", path], check=True, capture_output=True)
    spec = importlib.util.spec_from_file_location(f"m{number}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert list(module.STATES) == of["states"] and list(module.INPUTS) == of["inputs"], model
    x = [of["point"][name] for name in module.STATES]
    u = [of["point"][name] for name in module.INPUTS]

    def at(x, u):
        rates, values = module.rhs(of["time"], x, list(u)), module.outputs(of["time"], x, list(u))
        return list(rates) + list(values)

    def column(move):
        # Of the fourth order.
        h = 1e-3
        a, b, c, d = (move(k * h) for k in (-2, -1, 1, 2))
        return [(p - 8 * q + 8 * r - s) / (12 * h) for p, q, r, s in zip(a, b, c, d)]

    def moved(values, k, by):
        return [value + by * (at == k) for at, value in enumerate(values)]

    n = len(x)
    for state in range(n):
        slopes = column(lambda by: at(moved(x, state, by), u))
        wanted = [row[state] for row in of["A"]] + [row[state] for row in of["C"]]
        for row, (slope, value) in enumerate(zip(slopes, wanted)):
            if not abs(slope - value) <= 1e-7 * (1 + abs(value) + max(map(abs, slopes))):
                wrong += 1
                print(f"{model}: row {row} by {module.STATES[state]}: {value}, differences say {slope}")
    for k, name in enumerate(module.INPUTS):
        slopes = column(lambda by: at(x, moved(u, k, by)))
        wanted = [row[k] for row in of["B"]] + [row[k] for row in of["D"]]
        for row, (slope, value) in enumerate(zip(slopes, wanted)):
            if not abs(slope - value) <= 1e-7 * (1 + abs(value) + max(map(abs, slopes))):
                wrong += 1
                print(f"{model}: row {row} by {name}: {value}, differences say {slope}")
print("agrees" if wrong == 0 else f"{wrong} differ")
