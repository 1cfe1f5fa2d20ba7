//! Time derivatives of flat expressions by truncated power series: a second plain walk over the tree.
//!
//! Before: values of variables and of their derivatives at one instant. After: the coefficients of
//! the expression's own series in time; its t-th derivative is the t-th coefficient times t!. Every rule
//! is written out here once more; nothing is shared with symbolic differentiation.

use bgm::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use bgm::flat::{Flat, Kind, Leaf, Type};

use crate::support::oracle::{Met, TOLERANCE, Trouble, Values, walk};

/// Coefficients of 1, t, t**2, ...
pub type Series = Vec<f64>;

pub fn factorial(of: usize) -> f64 {
    (1..=of).map(|factor| factor as f64).product()
}

/// The series of a real expression up to this degree.
pub fn series(
    flat: &Flat,
    id: ExprId,
    values: &Values,
    degree: usize,
    met: &mut Met,
) -> Result<Series, Trouble> {
    let series = step(flat, id, values, degree, met)?;
    for (at, coefficient) in series.iter().enumerate() {
        if !coefficient.is_finite() {
            let text = flat.expression(id);
            return Err(Trouble::Wrong(format!("{text} has no derivative {at}")));
        }
        met.scale = met.scale.max(coefficient.abs() * factorial(at));
    }
    Ok(series)
}

fn step(
    flat: &Flat,
    id: ExprId,
    values: &Values,
    degree: usize,
    met: &mut Met,
) -> Result<Series, Trouble> {
    let mut of = |id: ExprId| series(flat, id, values, degree, met);
    Ok(match flat.exprs.node(id) {
        Node::Number(number) => constant(number.0, degree),
        Node::Time => (0..=degree)
            .map(|at| match at {
                0 => values.time,
                1 => 1.0,
                _ => 0.0,
            })
            .collect(),
        Node::Leaf(leaf) => leaf_series(flat, leaf, values, degree)?,
        Node::Unary(UnaryOp::Minus, a) => of(a)?.iter().map(|a| -a).collect(),
        Node::Unary(UnaryOp::Plus, a) => of(a)?,
        Node::Binary(op, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match op {
                BinaryOp::Add => zip(&a, &b, |a, b| a + b),
                BinaryOp::Sub => zip(&a, &b, |a, b| a - b),
                BinaryOp::Mul => product(&a, &b),
                BinaryOp::Div => quotient(&a, &b),
                BinaryOp::Pow => power(&a, &b),
                _ => return Err(Trouble::Wrong(format!("{op:?} is no number"))),
            }
        }
        Node::If(condition, a, b) => match walk(flat, condition, values, met)? {
            Value::Bool(true) => series(flat, a, values, degree, met)?,
            Value::Bool(false) => series(flat, b, values, degree, met)?,
            Value::Real(_) => return Err(Trouble::Wrong("a number as condition".into())),
        },
        Node::Call(Function::Table, args) => {
            let args = flat.exprs.args(args);
            let x = of(args[0])?;
            let list = |id: ExprId| -> Result<Vec<f64>, Trouble> {
                match flat.exprs.node(id) {
                    Node::List(items) => (flat.exprs.args(items).iter())
                        .map(|&item| {
                            let value = walk(flat, item, values, &mut Met::default())?;
                            value.real().ok_or(Trouble::Wrong("a truth".into()))
                        })
                        .collect(),
                    _ => Err(Trouble::Wrong("a table without a list".into())),
                }
            };
            table(&x, &list(args[1])?, &list(args[2])?, met)
        }
        Node::Call(function, args) => {
            let args: Result<Vec<Series>, Trouble> =
                flat.exprs.args(args).iter().map(|&arg| of(arg)).collect();
            call(function, &args?, met)?
        }
        Node::Bool(_) | Node::List(_) | Node::Unary(UnaryOp::Not, _) => {
            return Err(Trouble::Wrong("no number".into()));
        }
    })
}

/// What does not change by itself has the derivative 0.
fn leaf_series(flat: &Flat, leaf: Leaf, values: &Values, degree: usize) -> Result<Series, Trouble> {
    let value = |leaf: Leaf| match values.of.get(&leaf) {
        Some(Value::Real(value)) => Ok(*value),
        Some(Value::Bool(_)) => Err(Trouble::Wrong("a truth".into())),
        None => Err(Trouble::Missing(leaf)),
    };
    let variable = flat.variable(leaf.variable());
    let fixed = matches!(
        variable.kind,
        Kind::Parameter | Kind::Constant | Kind::Discrete
    );
    match leaf.order() {
        Some(order) if !fixed && variable.ty == Type::Real => (0..=degree)
            .map(|at| {
                let higher = Leaf::at_order(leaf.variable(), order + at as u8);
                Ok(value(higher)? / factorial(at))
            })
            .collect(),
        _ => Ok(constant(value(leaf)?, degree)),
    }
}

fn constant(value: f64, degree: usize) -> Series {
    let mut series = vec![0.0; degree + 1];
    series[0] = value;
    series
}

fn zip(a: &[f64], b: &[f64], op: impl Fn(f64, f64) -> f64) -> Series {
    a.iter().zip(b).map(|(&a, &b)| op(a, b)).collect()
}

fn product(a: &[f64], b: &[f64]) -> Series {
    (0..a.len())
        .map(|at| (0..=at).map(|of| a[of] * b[at - of]).sum())
        .collect()
}

/// q*b = a, solved for one coefficient after the other.
fn quotient(a: &[f64], b: &[f64]) -> Series {
    let mut quotient: Series = Vec::new();
    for at in 0..a.len() {
        let before: f64 = (0..at).map(|of| quotient[of] * b[at - of]).sum();
        quotient.push((a[at] - before) / b[0]);
    }
    quotient
}

/// f(a) from its value and `slope`, which is f'(a) as far as f(a) is known: f(a)' = f'(a)*a'.
fn integrated(value: f64, a: &[f64], slope: impl Fn(&[f64], &[f64]) -> Series) -> Series {
    let mut series = vec![value];
    for at in 1..a.len() {
        let slope = slope(&a[..at], &series);
        let sum: f64 = (1..=at).map(|of| of as f64 * a[of] * slope[at - of]).sum();
        series.push(sum / at as f64);
    }
    series
}

fn one_minus_square(a: &[f64], sign: f64) -> Series {
    let mut square = product(a, a);
    for part in &mut square {
        *part *= sign;
    }
    square[0] += 1.0;
    square
}

fn root(a: &[f64]) -> Series {
    integrated(a[0].sqrt(), a, |_, root| {
        quotient(&constant(0.5, root.len() - 1), root)
    })
}

fn exponential(a: &[f64]) -> Series {
    integrated(a[0].exp(), a, |_, itself| itself.to_vec())
}

fn logarithm(a: &[f64]) -> Series {
    integrated(a[0].ln(), a, |a, _| {
        quotient(&constant(1.0, a.len() - 1), a)
    })
}

/// Sine and cosine, or with `sign` 1 the hyperbolic ones.
fn waves(a: &[f64], sine: f64, cosine: f64, sign: f64) -> (Series, Series) {
    let (mut s, mut c) = (vec![sine], vec![cosine]);
    for at in 1..a.len() {
        let sum = |other: &[f64]| -> f64 {
            let terms = (1..=at).map(|of| of as f64 * a[of] * other[at - of]);
            terms.sum::<f64>() / at as f64
        };
        let (next_s, next_c) = (sum(&c), sign * sum(&s));
        s.push(next_s);
        c.push(next_c);
    }
    (s, c)
}

fn sine_and_cosine(a: &[f64]) -> (Series, Series) {
    waves(a, a[0].sin(), a[0].cos(), -1.0)
}

fn power(base: &[f64], exponent: &[f64]) -> Series {
    if exponent[1..].iter().any(|&part| part != 0.0) {
        return exponential(&product(exponent, &logarithm(base)));
    }
    let (degree, exponent) = (base.len() - 1, exponent[0]);
    if exponent.fract() == 0.0 && exponent.abs() <= 8.0 {
        let one = constant(1.0, degree);
        let product =
            (0..exponent.abs() as u32).fold(one.clone(), |so_far, _| product(&so_far, base));
        return match exponent < 0.0 {
            true => quotient(&one, &product),
            false => product,
        };
    }
    if base[1..].iter().all(|&part| part == 0.0) {
        return constant(base[0].powf(exponent), degree);
    }
    // a*p' = n*a'*p, also where the base is negative and the exponent whole.
    integrated(base[0].powf(exponent), base, |base, itself| {
        let ratio = quotient(itself, base);
        ratio.iter().map(|part| part * exponent).collect()
    })
}

fn call(function: Function, args: &[Series], met: &mut Met) -> Result<Series, Trouble> {
    let a = &args[0];
    let degree = a.len() - 1;
    let one = |a: &[f64]| constant(1.0, a.len() - 1);
    // At a kink a series says nothing.
    let mut kink = |distance: f64, scale: f64| {
        met.tie |= distance.abs() <= TOLERANCE * (1.0 + scale.abs());
    };
    let whole = |value: f64| (value - value.round()).abs();
    Ok(match function {
        Function::Sin => sine_and_cosine(a).0,
        Function::Cos => sine_and_cosine(a).1,
        Function::Tan => {
            let (sine, cosine) = sine_and_cosine(a);
            quotient(&sine, &cosine)
        }
        Function::Asin => integrated(a[0].asin(), a, |a, _| {
            quotient(&one(a), &root(&one_minus_square(a, -1.0)))
        }),
        Function::Acos => {
            let minus: Series = a.iter().map(|a| -a).collect();
            integrated(a[0].acos(), &minus, |minus, _| {
                quotient(&one(minus), &root(&one_minus_square(minus, -1.0)))
            })
        }
        Function::Atan => integrated(a[0].atan(), a, |a, _| {
            quotient(&one(a), &one_minus_square(a, 1.0))
        }),
        Function::Atan2 => angle(a, &args[1]),
        Function::Sinh => waves(a, a[0].sinh(), a[0].cosh(), 1.0).0,
        Function::Cosh => waves(a, a[0].sinh(), a[0].cosh(), 1.0).1,
        Function::Tanh => integrated(a[0].tanh(), a, |_, itself| one_minus_square(itself, -1.0)),
        Function::Exp => exponential(a),
        Function::Ln => logarithm(a),
        Function::Log10 => {
            let natural = logarithm(a);
            natural.iter().map(|part| part / 10f64.ln()).collect()
        }
        // sqrt(0) stays what it is.
        Function::Sqrt if a.iter().all(|&part| part == 0.0) => a.clone(),
        Function::Sqrt => root(a),
        Function::Abs => {
            kink(a[0], 0.0);
            a.iter().map(|part| part * a[0].signum()).collect()
        }
        Function::Sign => {
            kink(a[0], 0.0);
            constant(if a[0] == 0.0 { 0.0 } else { a[0].signum() }, degree)
        }
        Function::Min | Function::Max => {
            let ahead = |a: f64, b: f64| match function {
                Function::Min => a < b,
                _ => a > b,
            };
            let mut best = 0;
            for other in 1..args.len() {
                if ahead(args[other][0], args[best][0]) {
                    best = other;
                }
            }
            for (at, other) in args.iter().enumerate().filter(|(at, _)| *at != best) {
                // The same twice is no choice.
                if args[at] != args[best] {
                    kink(other[0] - args[best][0], other[0]);
                }
            }
            args[best].clone()
        }
        Function::Floor => {
            kink(whole(a[0]), a[0]);
            constant(a[0].floor(), degree)
        }
        Function::Ceil => {
            kink(whole(a[0]), a[0]);
            constant(a[0].ceil(), degree)
        }
        Function::Mod => {
            let times = a[0] / args[1][0];
            kink(whole(times), times);
            zip(a, &args[1], |a, b| a - b * times.floor())
        }
        Function::Table
        | Function::Sample
        | Function::Der
        | Function::Der2
        | Function::New
        | Function::Init
        | Function::Pre => return Err(Trouble::Wrong(format!("{} has no value", function.text()))),
    })
}

/// atan2(y, x)' = (x*y' - y*x')/(x**2 + y**2)
fn angle(y: &[f64], x: &[f64]) -> Series {
    let square = zip(&product(x, x), &product(y, y), |x, y| x + y);
    let slope = |a: &[f64]| -> Series {
        let mut slope: Series = (1..a.len()).map(|at| a[at] * at as f64).collect();
        slope.push(0.0);
        slope
    };
    let above = zip(&product(x, &slope(y)), &product(y, &slope(x)), |a, b| a - b);
    let rate = quotient(&above, &square);
    let mut series = vec![y[0].atan2(x[0])];
    series.extend((1..y.len()).map(|at| rate[at - 1] / at as f64));
    series
}

fn table(x: &[f64], xs: &[f64], ys: &[f64], met: &mut Met) -> Series {
    for corner in xs {
        met.tie |= (x[0] - corner).abs() <= TOLERANCE * (1.0 + corner.abs());
    }
    let last = xs.len() - 1;
    if x[0] <= xs[0] || x[0] >= xs[last] {
        let end = if x[0] <= xs[0] { ys[0] } else { ys[last] };
        return constant(end, x.len() - 1);
    }
    let at = (1..last).find(|&at| x[0] < xs[at]).unwrap_or(last);
    let slope = (ys[at] - ys[at - 1]) / (xs[at] - xs[at - 1]);
    let mut series: Series = x.iter().map(|part| part * slope).collect();
    series[0] = ys[at - 1] + slope * (x[0] - xs[at - 1]);
    series
}
