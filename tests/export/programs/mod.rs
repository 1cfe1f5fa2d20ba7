//! Programs in other languages do what the simulator does: they are made, run and compared.

mod generated;
mod large;
mod pattern;
mod random;
mod requests;

use std::process::Command;

use crate::support::programs::{agree, compiled, exported, folder, has, run, simulated, stderr};

/// File, model, how far a program may be off.
const MODELS: &[(&str, &str, f64)] = &[
    ("rlc", "RLC", 1e-7),
    ("lever_arm", "LeverArm", 1e-9),
    ("dc_motor", "DCMotor", 1e-7),
    // Linear and nonlinear loops.
    ("wheatstone", "Wheatstone", 1e-12),
    ("pipes", "Network", 1e-9),
    ("lamp", "LampCircuit", 1e-9),
    // Stiff.
    ("hires", "Hires", 1e-6),
    // Events: relations, `new`, `when`, `pre`, samples.
    ("rectifier", "Rectifier", 1e-7),
    ("bouncing_ball", "BouncingBall", 1e-8),
    ("sampled_control", "SampledControl", 1e-9),
    ("thermostat", "Thermostat", 1e-8),
    // Index reduction, states chosen by the run: all of them are states, moved back onto their constraints.
    ("differential", "Car", 1e-7),
    ("pendulum", "Pendulum", 1e-6),
    ("slider_crank", "SliderCrank", 1e-5),
    // Switches that change the order, in the form of the 1995 paper.
    ("inductive_load", "InductiveLoad", 1e-7),
    ("inductive_wave", "InductiveWave", 1e-7),
    // Switches with other equations in each position: states that jump, parts that hang in the air.
    ("buck", "Buck", 1e-8),
    ("buck", "Charger", 1e-9),
    ("bridge", "OnRC", 1e-8),
    ("bridge", "OnR", 1e-12),
    ("thyristor_bridge", "OnR", 1e-12),
    ("thyristor_bridge", "OnRL", 1e-7),
    ("freewheel", "Freewheel", 1e-8),
    ("interrupted_coil", "InterruptedCoil", 1e-7),
    ("switched_capacitors", "SwitchedCapacitors", 1e-12),
    ("clutch", "Clutch", 1e-12),
];

fn options(model: &str) -> [&str; 4] {
    ["--tolerance", "1e-9", "--model", model]
}

#[test]
fn c_programs_agree_with_the_simulator() {
    if !has("cc") {
        return;
    }
    let folder = folder("c");
    for &(name, model, part) in MODELS {
        let source = format!("examples/{name}.bgm");
        let file = folder.join(format!("{name}_{model}.c"));
        exported(&source, "c", &file, &options(model));
        let found = run(&mut Command::new(compiled(&file, model)));
        agree(
            model,
            &simulated(&source, &["--model", model]),
            &found,
            part,
        );
    }
}

#[test]
fn python_modules_agree_with_the_simulator() {
    if !has("python3") {
        return;
    }
    let folder = folder("python");
    for &(name, model, part) in MODELS {
        let source = format!("examples/{name}.bgm");
        let file = folder.join(format!("{name}_{model}.py"));
        exported(&source, "python", &file, &options(model));
        let found = run(Command::new("python3").arg(&file));
        agree(
            model,
            &simulated(&source, &["--model", model]),
            &found,
            part,
        );
    }
}

/// Runs through a module and says how far its flattened equations are from holding, beside their largest term.
const RESIDUALS: &str = "
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    m = importlib.import_module(name)
    run, worst, what = m.Run(), 0.0, ''
    run.begin()
    for k in range(12):
        run.advance(m.FROM + (m.UNTIL - m.FROM) * k / 11)
        values = run.values()
        size = 1.0 + max(abs(float(value)) for value in values.values() if abs(float(value)) < 1e100)
        rest = m.residuals(run.time, values)
        assert len(rest) == len(m.EQUATIONS) > 0
        for equation, r in zip(m.EQUATIONS, rest):
            if not abs(r) <= worst * size:
                worst, what = abs(r) / size, equation
    print(name, worst, what, sep=',')
";

#[test]
fn what_a_python_module_computes_satisfies_the_flattened_equations() {
    if !has("python3") {
        return;
    }
    let folder = folder("residuals");
    let mut names = Vec::new();
    for &(name, model, _) in MODELS {
        let module = format!("{name}_{model}");
        let file = folder.join(format!("{module}.py"));
        let source = format!("examples/{name}.bgm");
        exported(&source, "python", &file, &["--model", model]);
        names.push(module);
    }
    let script = folder.join("check.py");
    std::fs::write(&script, RESIDUALS).expect("a file can be written");
    let output = Command::new("python3")
        .args([&script, &folder])
        .args(&names)
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), names.len());
    for line in text.lines() {
        let far: f64 = line
            .split(',')
            .nth(1)
            .expect("a number")
            .parse()
            .expect("a number");
        assert!(far < 1e-9, "{line}");
    }
}

/// A plain Runge-Kutta method, as somebody else would use `rhs`; other parameters, inputs as a list and as a dict.
const RUNGE_KUTTA: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import rlc as m
p, u, h = {'R1.R': 50.0}, [5.0], 1e-8
x, t = list(m.initial(p)), 0.0
print('Time', *m.OUTPUTS, sep=',')
for step in range(2001):
    if step % 20 == 0:
        print(2e-5 * step / 2000, *m.outputs(t, x, u, p), sep=',')
    a = m.rhs(t, x, u, p)
    b = m.rhs(t + h/2, [v + h/2*k for v, k in zip(x, a)], {'u': 5.0}, p)
    c = m.rhs(t + h/2, [v + h/2*k for v, k in zip(x, b)], u, p)
    d = m.rhs(t + h, [v + h*k for v, k in zip(x, c)], u, p)
    x = [v + h/6*(e + 2*f + 2*g + k) for v, e, f, g, k in zip(x, a, b, c, d)]
    t += h
assert m.MODEL == 'RLC' and m.STATES == ('L1.f', 'C1.e') and m.INPUTS == ('u',) and m.INITIAL == [0.0, 0.0]
assert m.PARAMETERS['R1.R'] == 100.0 and m.RATES == ('der(L1.f)', 'der(C1.e)')
try:
    m.rhs(0.0, x, u, {'nothing': 1.0})
except m.ModelError as error:
    assert 'no parameter' in str(error), error
else:
    raise AssertionError('a parameter that is none')
";

#[test]
fn a_module_is_ready_for_other_integrators() {
    if !has("python3") {
        return;
    }
    let folder = folder("rhs");
    exported("examples/rlc.bgm", "python", &folder.join("rlc.py"), &[]);
    let script = folder.join("check.py");
    std::fs::write(&script, RUNGE_KUTTA).expect("a file can be written");
    let found = run(Command::new("python3").args([&script, &folder]));
    let wanted = simulated(
        "examples/rlc.bgm",
        &["--set", "R1.R=50", "--input", "u=5", "--vars", "y1,y2"],
    );
    agree("rlc", &wanted, &found, 1e-7);
}

/// A program of somebody else around the C functions: other parameters, inputs from outside, a copy of a run.
const AROUND: &str = r#"
#include "rlc.c"
int main(void)
{
    RLC m, copy;
    RLC_outputs y;
    double rate[RLC_STATES];
    RLC_start(&m, 0.0);
    m.p.R1_R = 50.0;
    m.own_inputs = 0;
    m.u.u = 5.0;
    m.relative = 1e-9;
    m.absolute = 1e-12;
    if (RLC_begin(&m))
        return 1;
    printf("Time,y1,y2\n");
    for (int i = 0; i <= 100; i++) {
        double time = 2e-5 * i / 100;
        if (RLC_advance(&m, time) || RLC_derivatives(&m, rate))
            return 1;
        if (i == 50)
            copy = m;
        RLC_read_outputs(&m, &y);
        printf("%.17g,%.17g,%.17g\n", time, y.y1, y.y2);
    }
    if (RLC_advance(&copy, 2e-5) || RLC_derivatives(&copy, rate))
        return 1;
    return fabs(copy.x.C1_e - m.x.C1_e) > 1e-7;
}
"#;

#[test]
fn c_functions_can_be_used_by_other_programs() {
    if !has("cc") {
        return;
    }
    let folder = folder("around");
    exported("examples/rlc.bgm", "c", &folder.join("rlc.c"), &[]);
    let file = folder.join("around.c");
    std::fs::write(&file, AROUND).expect("a file can be written");
    let found = run(&mut Command::new(compiled(&file, "NONE")));
    let wanted = simulated(
        "examples/rlc.bgm",
        &["--set", "R1.R=50", "--input", "u=5", "--vars", "y1,y2"],
    );
    agree("rlc", &wanted, &found, 1e-7);
}
