//! Every operator and function of the language through the program: values against the operators of
//! expressions, derivatives against differences and at special points against what is known of them.

use bgm::expr::{BinaryOp, Function, UnaryOp, Value, apply_binary, apply_call, apply_unary};
use bgm::passes::relations::WatchKind;
use bgm::program::machine::{Extent, Machine};

use super::subject::{Subject, number};
use crate::support::random::Random;

/// The rate of the third state is a function of the first two.
fn subject(text: &str, boolean: bool) -> Subject {
    let of = match boolean {
        true => format!("if {text} then 1 else 0"),
        false => text.into(),
    };
    let text =
        format!("model M\n  local a, b, c\n  der(a) = 0*c\n  der(b) = 0*c\n  der(c) = {of}\nend\n");
    Subject::of(super::flat(&text)).expect(&text)
}

/// Where a, b and c are in the vector of states.
fn places(subject: &Subject) -> [usize; 3] {
    ["a", "b", "c"].map(|name| {
        let mut states = subject.program.states.iter();
        let place = states.position(|&leaf| subject.solved.flat.leaf_name(leaf) == name);
        place.expect("a state")
    })
}

/// Puts (a, b) in, with the truths of relations there.
fn evaluated<'p>(subject: &'p Subject, a: f64, b: f64) -> (Machine<'p>, f64) {
    let mut machine = Machine::new(&subject.program);
    let at = places(subject);
    let mut states = vec![0.0; 3];
    (states[at[0]], states[at[1]]) = (a, b);
    machine
        .evaluate(0.0, &states, Extent::Watches)
        .expect("no loops");
    for watch in &subject.program.watches {
        let (left, right) = (machine.get(watch.sides.0), machine.get(watch.sides.1));
        let kept = match watch.kind {
            // inf - inf is no number, and inf < inf is false.
            WatchKind::Relation(op) => {
                number(apply_binary(op, Value::Real(left), Value::Real(right)).expect("a truth"))
            }
            kind => kind.decide(left - right),
        };
        machine.set(watch.held, kept);
    }
    machine
        .evaluate(0.0, &states, Extent::Rates)
        .expect("no loops");
    let mut rates = vec![0.0; 3];
    machine.rates(&mut rates);
    (machine, rates[at[2]])
}

/// By a and by b.
fn derivatives(subject: &Subject, machine: &mut Machine<'_>) -> [f64; 2] {
    let at = places(subject);
    let pattern = machine.pattern().clone();
    let mut entries = vec![f64::NAN; pattern.rows.len()];
    machine.jacobian(&mut entries).expect("no loops");
    [at[0], at[1]].map(|column| {
        let mut inside = pattern.starts[column]..pattern.starts[column + 1];
        let place = inside.find(|&place| pattern.rows[place] == at[2]);
        place.map_or(0.0, |place| entries[place])
    })
}

const SPECIAL: [f64; 16] = [
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 1e-8, -1e-8, 1e8, -1e8, 1e160, -1e160, 710.0,
];

fn points() -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for a in SPECIAL {
        all.extend(SPECIAL.map(|b| (a, b)));
    }
    let mut random = Random::new(7);
    for _ in 0..200 {
        all.push((random.real(-3.0, 3.0), random.real(-3.0, 3.0)));
        all.push((random.real(0.01, 0.99), random.real(0.5, 3.0)));
    }
    all
}

fn same(found: f64, wanted: f64) -> bool {
    let near = (found - wanted).abs() <= 1e-14 * wanted.abs() + 1e-300;
    near || found == wanted || found.is_nan() && wanted.is_nan()
}

/// Compares a text with a function of (a, b), values and, where it is smooth, slopes.
fn check(text: &str, boolean: bool, smooth: bool, f: &dyn Fn(f64, f64) -> Option<Value>) {
    let subject = subject(text, boolean);
    let mut compared = 0;
    for (a, b) in points() {
        let wanted = number(f(a, b).expect("a value"));
        let (mut machine, found) = evaluated(&subject, a, b);
        assert!(
            same(found, wanted),
            "{text} at a = {a:?}, b = {b:?}: {found:?}, and should be {wanted:?}"
        );
        let slopes = derivatives(&subject, &mut machine);
        if !wanted.is_finite() {
            continue;
        }
        for (slope, along) in slopes.into_iter().zip([(1.0, 0.0), (0.0, 1.0)]) {
            if !smooth {
                assert!(slope == 0.0, "{text} at a = {a}, b = {b}: {slope}");
                continue;
            }
            let off = |step: f64| {
                let (da, db) = (along.0 * step, along.1 * step);
                number(f(a + da, b + db).expect("a value"))
            };
            let size = if along.0 > 0.0 { a.abs() } else { b.abs() };
            let difference = |step: f64| {
                let near = 8.0 * (off(step) - off(-step));
                (near - (off(2.0 * step) - off(-2.0 * step))) / (12.0 * step)
            };
            let step = 1e-3 * size.clamp(1e-5, 1e200);
            let (wide, narrow) = (difference(step), difference(step / 2.0));
            // Kinks, poles, ends of the domain, and powers of negative numbers.
            let like = (wide - narrow).abs() <= 1e-7 * narrow.abs() + 1e-12 * wanted.abs() / step;
            let (right, left) = (off(step) - wanted, wanted - off(-step));
            let kink =
                (right - left).abs() > 0.1 * right.abs().max(left.abs()) && narrow.abs() < 10.0;
            let complex = text == "a ** b" && along.1 > 0.0 && a < 0.0;
            if !like || !wide.is_finite() || kink || complex {
                continue;
            }
            compared += 1;
            let near = 1e-6 * narrow.abs() + 1e-12 * wanted.abs() / step + 1e-300;
            assert!(
                (slope - narrow).abs() <= near,
                "the slope of {text} at a = {a:?}, b = {b:?} along {along:?}: {slope:?}, \
                 by differences {narrow:?}"
            );
        }
    }
    assert!(compared > 300 || !smooth, "{text}: {compared}");
}

#[test]
fn operators() {
    use BinaryOp::*;
    let all = [
        (Add, "+", true),
        (Sub, "-", true),
        (Mul, "*", true),
        (Div, "/", true),
        (Pow, "**", true),
        (Less, "<", false),
        (LessEqual, "<=", false),
        (Greater, ">", false),
        (GreaterEqual, ">=", false),
        (Equal, "==", false),
        (NotEqual, "<>", false),
    ];
    for (op, sign, smooth) in all {
        let text = format!("a {sign} b");
        check(&text, !smooth, smooth, &|a, b| {
            apply_binary(op, Value::Real(a), Value::Real(b))
        });
    }
    check("-a", false, true, &|a, _| {
        apply_unary(UnaryOp::Minus, Value::Real(a))
    });
    for (op, word) in [(And, "and"), (Or, "or"), (Equal, "=="), (NotEqual, "<>")] {
        let text = format!("(a > 0) {word} (not b > 0)");
        check(&text, true, false, &|a, b| {
            apply_binary(op, Value::Bool(a > 0.0), Value::Bool(b <= 0.0))
        });
    }
}

#[test]
fn powers_with_whole_exponents() {
    for exponent in [-3i32, -2, -1, 2, 3, 4, 7, 63, 65] {
        let power = |a: f64, _: f64| {
            let value = a.powf(f64::from(exponent));
            Some(Value::Real(value))
        };
        check(&format!("a**({exponent})"), false, true, &power);
    }
    let root = |a: f64, _: f64| Some(Value::Real(a.sqrt()));
    check("abs(a)**0.5", false, true, &|a, b| root(a.abs(), b));
}

#[test]
fn functions() {
    use Function::*;
    let one = [
        (Sin, "sin", true),
        (Cos, "cos", true),
        (Tan, "tan", true),
        (Asin, "asin", true),
        (Acos, "acos", true),
        (Atan, "atan", true),
        (Sinh, "sinh", true),
        (Cosh, "cosh", true),
        (Tanh, "tanh", true),
        (Exp, "exp", true),
        (Ln, "ln", true),
        (Log10, "log10", true),
        (Sqrt, "sqrt", true),
        (Abs, "abs", true),
        (Sign, "sign", false),
        (Floor, "floor", false),
        (Ceil, "ceil", false),
    ];
    for (function, name, smooth) in one {
        check(&format!("{name}(a)"), false, smooth, &|a, _| {
            apply_call(function, &[Value::Real(a)])
        });
    }
    for (function, name) in [(Atan2, "atan2"), (Min, "min"), (Max, "max")] {
        check(&format!("{name}(a, b)"), false, true, &|a, b| {
            apply_call(function, &[Value::Real(a), Value::Real(b)])
        });
    }
    check("max(a, b, 1)", false, true, &|a, b| {
        apply_call(Max, &[a, b, 1.0].map(Value::Real))
    });
    check(
        "table(a, [-1, 0, 2], [-1, 0.5, 1])",
        false,
        true,
        &|a, _| {
            let value = bgm::expr::interpolate(a, &[-1.0, 0.0, 2.0], &[-1.0, 0.5, 1.0]);
            Some(Value::Real(value))
        },
    );
    // Of a quotient too large for a whole number nothing is left over but rounding.
    check("mod(min(abs(a), 9), 2)", false, true, &|a, _| {
        let a = a.abs().min(9.0);
        apply_call(Mod, &[Value::Real(a), Value::Real(2.0)])
    });
}

/// Where other factors are infinite, zero counts for nothing.
#[test]
fn slopes_at_the_ends_of_domains() {
    // By a and by b at (a, b).
    let known = [
        ("a**b", 0.0, 2.0, [0.0, 0.0]),
        ("a**b", 0.0, 1.0, [1.0, 0.0]),
        ("a**b", 1.0, 0.0, [0.0, 0.0]),
        ("a**2", 0.0, 0.0, [0.0, 0.0]),
        ("a**3*b", 0.0, 1.0, [0.0, 0.0]),
        ("sqrt(a*0) + b", 0.0, 1.0, [0.0, 1.0]),
        ("atan2(a, b)", 0.0, 1e200, [1e-200, 0.0]),
        ("atan2(a, b)", 1e200, 1e200, [5e-201, -5e-201]),
        ("if a > 0 then ln(a) else b", -1.0, 3.0, [0.0, 1.0]),
        ("if a > 0 then sqrt(a) else b**2", -1.0, 3.0, [0.0, 6.0]),
        ("tanh(a)", 15.0, 0.0, [4.0 * f64::exp(-30.0), 0.0]),
    ];
    for (text, a, b, wanted) in known {
        let subject = subject(text, false);
        let (mut machine, _) = evaluated(&subject, a, b);
        let found = derivatives(&subject, &mut machine);
        for (found, wanted) in found.into_iter().zip(wanted) {
            let near = (found - wanted).abs() <= 1e-12 * wanted.abs();
            assert!(
                near,
                "{text} at a = {a}, b = {b}: {found:?}, not {wanted:?}"
            );
        }
    }
}
