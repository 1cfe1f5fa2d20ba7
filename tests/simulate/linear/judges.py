"""Judges `bgm poles`, `bgm linearize` and `bgm bode` by python-control: poles, zeros, responses, margins.

Arguments: the program, and files of models with one input and one output. Prints what differs.
"""
import json
import subprocess
import sys

import control
import numpy as np

bgm, wrong = sys.argv[1], 0


def run(*words):
    out = subprocess.run([bgm, *words, "--format", "json"], capture_output=True, check=True)
    return json.loads(out.stdout)


def differ(what, found, wanted, size):
    global wrong
    if not abs(found - wanted) <= 1e-6 * size:
        wrong += 1
        print(f"{what}: {found}, control says {wanted}")


def same(what, found, wanted):
    global wrong
    found, wanted = list(found), list(wanted)
    if len(found) != len(wanted):
        wrong += 1
        print(f"{what}: {found}, control says {wanted}")
        return
    size = max([abs(root) for root in wanted], default=1.0)
    for root in found:
        nearest = min(wanted, key=lambda other: abs(other - root))
        wanted.remove(nearest)
        # Double roots are known to half of the digits.
        if not abs(root - nearest) <= 1e-5 * size:
            wrong += 1
            print(f"{what}: {root}, control says {nearest}")


for model in sys.argv[2:]:
    of = run("linearize", model)
    matrix = lambda name, rows, columns: np.array(of[name], dtype=float).reshape(rows, columns)
    n, m, p = len(of["states"]), len(of["inputs"]), len(of["outputs"])
    system = control.ss(matrix("A", n, n), matrix("B", n, m), matrix("C", p, n), matrix("D", p, m))
    poles = run("poles", model)
    same(f"{model}: poles", [complex(q["re"], q["im"]) for q in poles["poles"]], system.poles())
    zeros = [complex(z["re"], z["im"]) for z in poles["zeros"][0]["zeros"]]
    same(f"{model}: zeros", zeros, system.zeros())
    bode = run("bode", model)
    for f, re, im in list(zip(bode["frequency"], bode["re"], bode["im"]))[::20]:
        wanted = complex(system(2j * np.pi * f))
        differ(f"{model}: at {f} Hz", complex(re, im), wanted, abs(wanted))
    gain, phase, at_phase, at_gain = control.margin(system)
    found = bode["margins"]
    pairs = [
        ("gain margin", found["gain_db"], 20 * np.log10(gain) if np.isfinite(gain) else None),
        ("phase margin", found["phase_deg"], phase if np.isfinite(phase) else None),
        ("phase crossover", found["phase_crossover"], at_phase / 2 / np.pi if np.isfinite(at_phase) else None),
        ("gain crossover", found["gain_crossover"], at_gain / 2 / np.pi if np.isfinite(at_gain) else None),
    ]
    for what, value, wanted in pairs:
        if (value is None) != (wanted is None):
            wrong += 1
            print(f"{model}: {what}: {value}, control says {wanted}")
        elif value is not None:
            differ(f"{model}: {what}", value, wanted, max(abs(wanted), 1e-3))
print("agrees" if wrong == 0 else f"{wrong} differ")
