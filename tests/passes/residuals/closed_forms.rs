//! The power series themselves, against derivatives known from tables, and against the values near by.

use bgm::flat::{EquationKind, Flat, Leaf};

use super::flat;
use super::taylor::{factorial, series};
use crate::support::oracle::{Met, Values, walk};

const TIME: f64 = 0.6;

/// The derivatives of order 0, 1, ... of an expression at `TIME`.
fn derivatives(expression: &str, degree: usize) -> (Vec<f64>, bool) {
    let flat = flat(&format!("model M\n  output y\n  y = {expression}\nend\n"));
    let mut met = Met::default();
    let values = at(&flat, TIME);
    let found = series(&flat, right(&flat), &values, degree, &mut met).expect(expression);
    let scaled = found.iter().enumerate();
    let scaled = scaled.map(|(at, coefficient)| coefficient * factorial(at));
    (scaled.collect(), met.tie)
}

fn at(flat: &Flat, time: f64) -> Values {
    let mut values = Values {
        time,
        ..Values::default()
    };
    for given in &flat.values {
        values.of.insert(Leaf::Var(given.variable), given.value);
    }
    values
}

fn right(flat: &Flat) -> bgm::expr::ExprId {
    let equation = (flat.equations.iter()).find(|one| one.kind == EquationKind::Equation);
    equation.expect("there is one").right
}

#[track_caller]
fn are(expression: &str, wanted: &[f64]) {
    let (found, tie) = derivatives(expression, wanted.len() - 1);
    assert!(!tie, "{expression}");
    for (order, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let off = (found - wanted).abs();
        assert!(
            off <= 1e-12 * (1.0 + wanted.abs()),
            "derivative {order} of {expression}: {found} and not {wanted}"
        );
    }
}

#[test]
fn derivatives_are_those_of_the_tables() {
    let t = TIME;
    let half_turn = std::f64::consts::FRAC_PI_2;
    let many = |of: &dyn Fn(i32) -> f64| -> Vec<f64> { (0..8).map(of).collect() };
    let sign = |n: i32| if n % 2 == 0 { 1.0 } else { -1.0 };
    let wave =
        |n: i32, shift: f64| 2f64.powi(n) * (2.0 * t + f64::from(n) * half_turn + shift).sin();
    are("sin(2*Time)", &many(&|n| wave(n, 0.0)));
    are("cos(2*Time)", &many(&|n| wave(n, half_turn)));
    are(
        "exp(-3*Time)",
        &many(&|n| (-3f64).powi(n) * (-3.0 * t).exp()),
    );
    let turns = |n: i32, even: f64, odd: f64| if n % 2 == 0 { even } else { odd };
    are("sinh(Time)", &many(&|n| turns(n, t.sinh(), t.cosh())));
    are("cosh(Time)", &many(&|n| turns(n, t.cosh(), t.sinh())));
    let logarithm = |n: i32| match n {
        0 => t.ln(),
        _ => -sign(n) * factorial(n as usize - 1) / t.powi(n),
    };
    are("ln(Time)", &many(&logarithm));
    are("log10(Time)", &many(&|n| logarithm(n) / 10f64.ln()));
    are(
        "1/Time",
        &many(&|n| sign(n) * factorial(n as usize) / t.powi(n + 1)),
    );
    let power = |exponent: f64, n: i32| {
        let falling: f64 = (0..n).map(|at| exponent - f64::from(at)).product();
        falling * t.powf(exponent - f64::from(n))
    };
    are("sqrt(Time)", &many(&|n| power(0.5, n)));
    are("Time**2.5", &many(&|n| power(2.5, n)));
    are("Time**3", &many(&|n| power(3.0, n)));
    are("Time**(-2)", &many(&|n| power(-2.0, n)));
    are("Time**11", &many(&|n| power(11.0, n)));
    are("(-Time)**11", &many(&|n| -power(11.0, n)));
    are("2**Time", &many(&|n| 2f64.ln().powi(n) * 2f64.powf(t)));
    let (itself, slope) = (t.powf(t), t.ln() + 1.0);
    are(
        "Time**Time",
        &[itself, itself * slope, itself * (slope * slope + 1.0 / t)],
    );
}

#[test]
fn derivatives_of_angles_are_those_of_the_tables() {
    let t = TIME;
    let s = 1.0 / (1.0 + t * t);
    let angle = [
        t.atan(),
        s,
        -2.0 * t * s * s,
        (6.0 * t * t - 2.0) * s * s * s,
    ];
    are("atan(Time)", &angle);
    are("atan2(3*Time, 3)", &angle);
    are("atan2(-1 + 0*Time, Time)", &[(-1f64).atan2(t), s]);
    let c = 1.0 - t * t;
    let slopes = [
        c.powf(-0.5),
        t * c.powf(-1.5),
        (1.0 + 2.0 * t * t) * c.powf(-2.5),
    ];
    are("asin(Time)", &[t.asin(), slopes[0], slopes[1], slopes[2]]);
    are(
        "acos(Time)",
        &[t.acos(), -slopes[0], -slopes[1], -slopes[2]],
    );
    let (tan, sec) = (t.tan(), 1.0 / t.cos().powi(2));
    are(
        "tan(Time)",
        &[
            tan,
            sec,
            2.0 * sec * tan,
            2.0 * sec * sec + 4.0 * sec * tan * tan,
        ],
    );
    let (tanh, less) = (t.tanh(), 1.0 - t.tanh().powi(2));
    are(
        "tanh(Time)",
        &[
            tanh,
            less,
            -2.0 * tanh * less,
            less * (6.0 * tanh * tanh - 2.0),
        ],
    );
}

#[test]
fn pieces_have_the_derivatives_of_the_piece() {
    are("abs(Time - 1)", &[0.4, -1.0, 0.0]);
    are("sign(Time - 1)", &[-1.0, 0.0, 0.0]);
    are("min(Time, Time**2, 5)", &[0.36, 1.2, 2.0, 0.0]);
    are("max(Time, Time**2, -5)", &[0.6, 1.0, 0.0]);
    are("floor(5*Time + 0.5)", &[3.0, 0.0]);
    are("ceil(5*Time + 0.5)", &[4.0, 0.0]);
    are("mod(3*Time, 0.7)", &[1.8 - 1.4, 3.0, 0.0]);
    are(
        "mod(-2.9*Time, Time**2)",
        &[-1.74 + 5.0 * 0.36, -2.9 + 5.0 * 1.2, 10.0],
    );
    are("table(Time, [0, 0.5, 1], [1, 2, 5])", &[2.6, 6.0, 0.0]);
    are("table(2 - Time, [0, 0.5, 1], [1, 2, 5])", &[5.0, 0.0]);
    are(
        "(if Time < 0.7 then Time**2 else exp(Time))",
        &[0.36, 1.2, 2.0],
    );
    are("sqrt(0*sin(Time))", &[0.0, 0.0]);
    for kink in [
        "abs(Time - 0.6)",
        "max(Time, 0.6)",
        "floor(5*Time)",
        "(if Time < 0.6 then 1 else 2)",
    ] {
        assert!(derivatives(kink, 1).1, "{kink}");
    }
}

/// The polynomial has the values that the plain walk finds a little earlier and later.
#[test]
fn series_go_through_the_values_near_by() {
    let expressions = [
        "sin(Time)*cos(2*Time)/(1 + Time**2)",
        "exp(sin(3*Time))*atan(Time - 1)",
        "sqrt(2 + cos(Time))*tanh(Time**2)",
        "asin(0.5*sin(Time)) + acos(Time/3)",
        "atan2(sin(Time), -1 - Time) - atan2(-Time, -2)",
        "ln(1 + Time**2)*log10(3 + sin(Time))",
        "tan(Time/2) - sinh(Time)/cosh(2*Time)",
        "(1 + Time)**sin(Time) + (2 + Time)**(-1.5) - (Time - 3)**7",
        "abs(Time - 2)*min(Time, 3)*mod(Time + 5, 1.7) + max(-Time, -Time**2)",
        "table(sin(Time), [-1, 0, 2], [-1, 0.5, 1])*(if Time > 5 then 1 else Time**3)",
    ];
    for expression in expressions {
        let flat = flat(&format!("model M\n  output y\n  y = {expression}\nend\n"));
        let id = right(&flat);
        let found = series(&flat, id, &at(&flat, TIME), 12, &mut Met::default()).expect("it has");
        for step in [-0.1, -0.03, 0.03, 0.1] {
            let polynomial = found.iter().rev().fold(0.0, |sum, part| sum * step + part);
            let value = walk(&flat, id, &at(&flat, TIME + step), &mut Met::default());
            let value = value.expect("it has").real().expect("a number");
            let off = (polynomial - value).abs();
            assert!(off < 1e-9, "{expression} is off by {off:e} at {step}");
        }
    }
}
