//! The oracle: flat equations evaluated by a plain walk over the tree as it was flattened.
//!
//! Nothing is shared with the compiler but the shape of an expression: every operator and function
//! is written out here once more.

use std::collections::HashMap;

use bgm::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use bgm::flat::{Equation, EquationKind, Flat, Leaf};

/// Values of leaves, and the time.
#[derive(Clone, Debug, Default)]
pub struct Values {
    pub of: HashMap<Leaf, Value>,
    pub time: f64,
}

/// What was met on the way through an expression.
#[derive(Clone, Copy, Debug, Default)]
pub struct Met {
    /// The largest number.
    pub scale: f64,
    /// A relation was decided by less than rounding can turn.
    pub tie: bool,
}

/// Why an expression has no value.
#[derive(Clone, Debug)]
pub enum Trouble {
    Missing(Leaf),
    Wrong(String),
}

/// Differences smaller than this part of the largest term are rounding.
pub const TOLERANCE: f64 = 1e-9;

pub fn walk(flat: &Flat, id: ExprId, values: &Values, met: &mut Met) -> Result<Value, Trouble> {
    let value = step(flat, id, values, met)?;
    if let Value::Real(number) = value {
        if number.is_nan() {
            return Err(Trouble::Wrong(format!("{} is nan", flat.expression(id))));
        }
        met.scale = met.scale.max(number.abs());
    }
    Ok(value)
}

fn step(flat: &Flat, id: ExprId, values: &Values, met: &mut Met) -> Result<Value, Trouble> {
    Ok(match flat.exprs.node(id) {
        Node::Number(number) => Value::Real(number.0),
        Node::Bool(truth) => Value::Bool(truth),
        Node::Time => Value::Real(values.time),
        Node::Leaf(leaf) => *values.of.get(&leaf).ok_or(Trouble::Missing(leaf))?,
        Node::Unary(op, a) => match (op, walk(flat, a, values, met)?) {
            (UnaryOp::Minus, Value::Real(a)) => Value::Real(0.0 - a),
            (UnaryOp::Plus, Value::Real(a)) => Value::Real(a),
            (UnaryOp::Not, Value::Bool(a)) => Value::Bool(!a),
            other => return Err(Trouble::Wrong(format!("{other:?}"))),
        },
        Node::Binary(op, a, b) => {
            let a = walk(flat, a, values, met)?;
            let b = walk(flat, b, values, met)?;
            binary(op, a, b, met)?
        }
        Node::If(condition, a, b) => match truth(walk(flat, condition, values, met)?)? {
            true => walk(flat, a, values, met)?,
            false => walk(flat, b, values, met)?,
        },
        Node::Call(Function::Table, args) => {
            let args = flat.exprs.args(args);
            let x = number(walk(flat, args[0], values, met)?)?;
            let list = |id: ExprId| -> Result<Vec<f64>, Trouble> {
                match flat.exprs.node(id) {
                    Node::List(items) => (flat.exprs.args(items).iter())
                        .map(|&item| number(walk(flat, item, values, &mut Met::default())?))
                        .collect(),
                    _ => Err(Trouble::Wrong("a table without a list".into())),
                }
            };
            Value::Real(look_up(x, &list(args[1])?, &list(args[2])?))
        }
        Node::Call(function, args) => {
            let args: Result<Vec<f64>, Trouble> = (flat.exprs.args(args).iter())
                .map(|&arg| number(walk(flat, arg, values, met)?))
                .collect();
            Value::Real(call(function, &args?)?)
        }
        Node::List(_) => return Err(Trouble::Wrong("a list is not a value".into())),
    })
}

fn number(value: Value) -> Result<f64, Trouble> {
    match value {
        Value::Real(number) => Ok(number),
        Value::Bool(_) => Err(Trouble::Wrong("a boolean where a number is wanted".into())),
    }
}

fn truth(value: Value) -> Result<bool, Trouble> {
    match value {
        Value::Bool(truth) => Ok(truth),
        Value::Real(_) => Err(Trouble::Wrong("a number where a boolean is wanted".into())),
    }
}

fn binary(op: BinaryOp, a: Value, b: Value, met: &mut Met) -> Result<Value, Trouble> {
    if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
        return Ok(Value::Bool(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Equal => a == b,
            BinaryOp::NotEqual => a ^ b,
            _ => return Err(Trouble::Wrong(format!("{op:?} of booleans"))),
        }));
    }
    let (a, b) = (number(a)?, number(b)?);
    let truth = match op {
        BinaryOp::Less => a < b,
        BinaryOp::LessEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterEqual => a >= b,
        BinaryOp::Equal => a == b,
        BinaryOp::NotEqual => a != b,
        _ => {
            return Ok(Value::Real(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                BinaryOp::Pow => power(a, b),
                _ => return Err(Trouble::Wrong(format!("{op:?} of numbers"))),
            }));
        }
    };
    // Absolute: what is nearly zero comes of terms that are not.
    met.tie |= (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs()));
    Ok(Value::Bool(truth))
}

/// Whole powers by multiplication, so that a negative base is right beyond doubt.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 8.0 {
        let product = (0..exponent.abs() as u32).fold(1.0, |product, _| product * base);
        return if exponent < 0.0 {
            1.0 / product
        } else {
            product
        };
    }
    base.powf(exponent)
}

fn call(function: Function, args: &[f64]) -> Result<f64, Trouble> {
    let a = args[0];
    Ok(match function {
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.sin() / a.cos(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Atan2 => a.atan2(args[1]),
        Function::Sinh => (a.exp() - (-a).exp()) / 2.0,
        Function::Cosh => (a.exp() + (-a).exp()) / 2.0,
        Function::Tanh => a.tanh(),
        Function::Exp => a.exp(),
        Function::Ln => a.ln(),
        Function::Log10 => a.log10(),
        Function::Sqrt => a.sqrt(),
        Function::Abs => {
            if a < 0.0 {
                -a
            } else {
                a
            }
        }
        Function::Sign => {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        Function::Min => args.iter().fold(f64::INFINITY, |low, &x| low.min(x)),
        Function::Max => args.iter().fold(f64::NEG_INFINITY, |high, &x| high.max(x)),
        Function::Floor => a.floor(),
        Function::Ceil => a.ceil(),
        Function::Mod => a - args[1] * (a / args[1]).floor(),
        Function::Table
        | Function::Sample
        | Function::Der
        | Function::Der2
        | Function::New
        | Function::Init
        | Function::Pre => return Err(Trouble::Wrong(format!("{} has no value", function.text()))),
    })
}

/// Straight lines between the points, the end values outside.
fn look_up(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    if x <= xs[0] {
        return ys[0];
    }
    for at in 1..xs.len() {
        if x < xs[at] {
            let part = (x - xs[at - 1]) / (xs[at] - xs[at - 1]);
            return ys[at - 1] * (1.0 - part) + ys[at] * part;
        }
    }
    ys[ys.len() - 1]
}

/// What is nothing but rounding (the current of an open switch that was solved for with others) has
/// no larger term beside it: this part of the largest term of the whole model is nothing.
pub const NOTHING: f64 = 1e-13;

/// Both sides of each equation agree; `Err` says how they do not. The answer: whether rounding
/// decided a relation.
pub fn all_hold(flat: &Flat, values: &Values) -> Result<bool, String> {
    let largest = (values.of.values())
        .filter_map(|value| value.real())
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let mut tie = false;
    for equation in flat.equations.iter().filter(|one| holds_at_all_times(one)) {
        tie |= holds(flat, equation, values, NOTHING * largest)?;
    }
    Ok(tie)
}

fn holds(flat: &Flat, equation: &Equation, values: &Values, nothing: f64) -> Result<bool, String> {
    let mut met = Met::default();
    let text = || {
        format!(
            "{} = {}",
            flat.expression(equation.left),
            flat.expression(equation.right)
        )
    };
    let mut side = |id: ExprId| {
        walk(flat, id, values, &mut met).map_err(|trouble| match trouble {
            Trouble::Missing(leaf) => {
                format!("`{}`: no value of {}", text(), flat.leaf_name(leaf))
            }
            Trouble::Wrong(why) => format!("`{}`: {why}", text()),
        })
    };
    match (side(equation.left)?, side(equation.right)?) {
        (Value::Bool(left), Value::Bool(right)) if left == right => Ok(met.tie),
        (Value::Real(left), Value::Real(right)) => {
            let off = (left - right).abs();
            if off <= TOLERANCE * met.scale + nothing {
                return Ok(met.tie);
            }
            Err(format!(
                "`{}`: {left} = {right} is off by {off:e}, with terms up to {:e}",
                text(),
                met.scale
            ))
        }
        (left, right) => Err(format!("`{}`: {left} = {right}", text())),
    }
}

/// Equations that hold at any point: not what happens at events or at the start.
pub fn holds_at_all_times(equation: &Equation) -> bool {
    match equation.kind {
        EquationKind::Equation
        | EquationKind::Coupling
        | EquationKind::Sum
        | EquationKind::ZeroFlow
        | EquationKind::Reference
        | EquationKind::Constraint
        | EquationKind::Derivative(_)
        | EquationKind::New => true,
        EquationKind::Init | EquationKind::When(..) => false,
    }
}
