//! Values and the arithmetic of constant expressions (parameters, sizes, indices).

use super::{BinaryOp, Function, UnaryOp};
use serde::Serialize;
use std::fmt::Write;

/// As data it is the number or the truth value itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Real(f64),
    Bool(bool),
}

impl Value {
    pub fn real(self) -> Option<f64> {
        match self {
            Value::Real(value) => Some(value),
            Value::Bool(_) => None,
        }
    }

    pub fn bool(self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(value),
            Value::Real(_) => None,
        }
    }

    /// false and true are 0 and 1.
    pub fn number(self) -> f64 {
        match self {
            Value::Real(value) => value,
            Value::Bool(value) => f64::from(u8::from(value)),
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Value::Real(_) => "real",
            Value::Bool(_) => "boolean",
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Real(value) => f.write_str(&show_number(*value)),
            Value::Bool(value) => write!(f, "{value}"),
        }
    }
}

/// The shortest text that reads back as the same number: `100`, `0.5`, `1.5e-7`.
pub fn show_number(value: f64) -> String {
    let mut text = String::new();
    write_number(value, &mut text);
    text
}

/// Appends the number to `out`.
pub fn write_number(value: f64, out: &mut String) {
    let begin = out.len();
    // Writing to a string does not fail.
    let _ = write!(out, "{value:?}");
    if out[begin..].ends_with(".0") {
        out.truncate(out.len() - 2);
    }
}

/// A number for a message: at most 9 digits, and an exponent if it is very large or small.
pub fn show_briefly(value: f64) -> String {
    /// Longer texts are hard to read.
    const LONG: usize = 11;
    let exact = show_number(value);
    if exact.len() <= LONG || !value.is_finite() {
        return exact;
    }
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    let (plain, power) = (show_number(rounded), format!("{rounded:e}"));
    match plain.len() <= LONG + 1 && plain.len() <= power.len() + 4 {
        true => plain,
        false => power,
    }
}

/// `None` where the operand has the wrong type.
pub fn apply_unary(op: UnaryOp, a: Value) -> Option<Value> {
    Some(match (op, a) {
        (UnaryOp::Minus, Value::Real(a)) => Value::Real(-a),
        (UnaryOp::Plus, Value::Real(a)) => Value::Real(a),
        (UnaryOp::Not, Value::Bool(a)) => Value::Bool(!a),
        _ => return None,
    })
}

/// `None` where an operand has the wrong type.
pub fn apply_binary(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    use BinaryOp::*;
    use Value::{Bool, Real};
    Some(match (op, a, b) {
        (Or, Bool(a), Bool(b)) => Bool(a || b),
        (And, Bool(a), Bool(b)) => Bool(a && b),
        (Equal, Bool(a), Bool(b)) => Bool(a == b),
        (NotEqual, Bool(a), Bool(b)) => Bool(a != b),
        (Less, Real(a), Real(b)) => Bool(a < b),
        (LessEqual, Real(a), Real(b)) => Bool(a <= b),
        (Greater, Real(a), Real(b)) => Bool(a > b),
        (GreaterEqual, Real(a), Real(b)) => Bool(a >= b),
        (Equal, Real(a), Real(b)) => Bool(a == b),
        (NotEqual, Real(a), Real(b)) => Bool(a != b),
        (Add, Real(a), Real(b)) => Real(a + b),
        (Sub, Real(a), Real(b)) => Real(a - b),
        (Mul, Real(a), Real(b)) => Real(a * b),
        (Div, Real(a), Real(b)) => Real(a / b),
        (Pow, Real(a), Real(b)) => Real(a.powf(b)),
        _ => return None,
    })
}

/// Functions of numbers. `None` for a wrong type and for functions that are not constant
/// (`der`, `sample`, ...) or that take lists (`table`, see [`interpolate`]).
pub fn apply_call(function: Function, args: &[Value]) -> Option<Value> {
    use Function::*;
    let a = args.first()?.real()?;
    let value = match function {
        Sin => a.sin(),
        Cos => a.cos(),
        Tan => a.tan(),
        Asin => a.asin(),
        Acos => a.acos(),
        Atan => a.atan(),
        Atan2 => a.atan2(args.get(1)?.real()?),
        Sinh => a.sinh(),
        Cosh => a.cosh(),
        Tanh => a.tanh(),
        Exp => a.exp(),
        Ln => a.ln(),
        Log10 => a.log10(),
        Sqrt => a.sqrt(),
        Abs => a.abs(),
        Sign if a == 0.0 => 0.0,
        Sign => a.signum(),
        Floor => a.floor(),
        Ceil => a.ceil(),
        Mod => {
            let b = args.get(1)?.real()?;
            a - (a / b).floor() * b
        }
        Min | Max => {
            let mut best = a;
            for arg in &args[1..] {
                let b = arg.real()?;
                best = if function == Min {
                    best.min(b)
                } else {
                    best.max(b)
                };
            }
            best
        }
        Table | Sample | Der | Der2 | New | Init | Pre => return None,
    };
    Some(Value::Real(value))
}

/// Linear interpolation; beyond its ends the value is constant. `xs` ascend.
pub fn interpolate(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let at = xs.partition_point(|&known| known <= x);
    match (at.checked_sub(1), xs.get(at)) {
        (None, _) => ys.first().copied().unwrap_or(f64::NAN),
        (Some(last), None) => ys[last],
        (Some(low), Some(&above)) => {
            let (x0, y0, y1) = (xs[low], ys[low], ys[at]);
            y0 + (y1 - y0) * (x - x0) / (above - x0)
        }
    }
}
