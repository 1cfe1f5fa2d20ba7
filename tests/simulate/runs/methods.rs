//! Every method, with errors that fall with the tolerance.

use bgm::simulate::integrate::Method;

use crate::support::trial::Trial;

const TOLERANCES: [f64; 3] = [1e-4, 1e-6, 1e-8];

/// The error at each tolerance: each at most `factor` times its tolerance, falling from one to the next, and by two
/// orders of magnitude or more altogether.
fn falls(method: Method, trial: &Trial, name: &str, factor: f64, truth: &dyn Fn(f64) -> f64) {
    let (mut first, mut last) = (f64::NAN, f64::INFINITY);
    for tolerance in TOLERANCES {
        let trial = trial.clone().tolerance(tolerance, 1e-3 * tolerance);
        let result = trial.method(method).run(&[name]);
        let off = result.off(0, truth);
        let method = method.name();
        assert!(
            off <= factor * tolerance,
            "{method} at {tolerance}: {off:e}"
        );
        // Steps are never longer than a part of the run: a loose tolerance may be kept by far.
        assert!(
            off < 0.5 * last || off <= tolerance,
            "{method} at {tolerance}: {off:e} after {last:e}"
        );
        last = off;
        if first.is_nan() {
            first = off;
        }
    }
    assert!(
        last <= 0.01 * first || last <= 10.0 * TOLERANCES[2],
        "{}: {last:e} after {first:e}",
        method.name()
    );
}

/// A coil, a resistor and a capacitor in series at 1 V: e'' + (R/L) e' + e/(L C) = 1/(L C), less than critically
/// damped, R = 0.2, L = C = 1.
#[test]
fn oscillation() {
    let text = "@electrical
        model M\n submodel (ConstantVoltage) U0(E = 1)\n submodel (Resistor) R1(R = 0.2)\n submodel (Inductor) L1(L = 1)
        submodel (Capacitor) C1(C = 1)\n submodel Ground\n connect Ground - U0 - R1 - L1 - C1 - Ground\nend";
    let (d, w) = (0.1_f64, (1.0_f64 - 0.01).sqrt());
    let truth = |t: f64| 1.0 - (-d * t).exp() * ((w * t).cos() + d / w * (w * t).sin());
    for method in Method::ALL {
        falls(method, &Trial::of(text, 20.0), "C1.u", 1000.0, &truth);
    }
}

/// The RLC network of the 1990 paper.
#[test]
fn rlc() {
    let tau = 0.1e-6 * 100.0 * 20.0 / 120.0;
    let truth = |t: f64| 10.0 / 6.0 * (1.0 - (-t / tau).exp());
    for method in Method::ALL {
        falls(
            method,
            &Trial::file("examples/rlc.bgm"),
            "y1",
            300.0,
            &truth,
        );
    }
}

/// A decay that is turned round whenever it comes to a threshold: from 1 down to 0.5 and up to 1 again (towards 1.5),
/// each way ln 2 long.
#[test]
fn events() {
    let text = "model M\n local x, up\n der(x) = (if up then 1.5 else 0) - x\n init(x) = 1
        new(up) = x < 0.5 or up and not x > 1\nend";
    let way = 2.0_f64.ln();
    let truth = |t: f64| {
        let ways = (t / way).floor();
        let since = t - ways * way;
        match ways as i64 % 2 {
            0 => (-since).exp(),
            _ => 1.5 - (-since).exp(),
        }
    };
    for method in Method::ALL {
        falls(method, &Trial::of(text, 6.0), "x", 1000.0, &truth);
    }
}
