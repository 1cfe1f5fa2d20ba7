//! The range of values that an expression can take, to prove that divisors cannot vanish.
//!
//! Interval arithmetic over the expression, with one more bit: whether zero is excluded (`exp(x)`
//! is never zero, although its values come arbitrarily close). Conditions of `if`s can be fixed, so
//! that a divisor can be examined for every combination of them: the determinant `Q102*R - Q101` of
//! a loop with a switch is regular in both positions, which an interval for both together does not
//! show.

use rustc_hash::FxHashMap;

use super::{
    Arena, BinaryOp, ExprId, Function, Leaf, Node, UnaryOp, Value, apply_call, interpolate,
};

/// A sum counts as zero if it is smaller than its terms by this factor.
const ROUNDING: f64 = 1e-14;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    /// Zero is not among the values.
    pub nonzero: bool,
}

impl Range {
    pub const ANY: Range = Range {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        nonzero: false,
    };

    pub fn point(value: f64) -> Range {
        Range::new(value, value)
    }

    pub fn new(low: f64, high: f64) -> Range {
        // Infinity minus infinity and similar cases: nothing is known.
        if low.is_nan() || high.is_nan() || low > high {
            return Range::ANY;
        }
        Range {
            low,
            high,
            nonzero: low > 0.0 || high < 0.0,
        }
    }

    fn but_zero(self, nonzero: bool) -> Range {
        Range {
            nonzero: self.nonzero || nonzero,
            ..self
        }
    }

    /// The value, if it is the only one.
    pub fn value(self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    fn union(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nonzero: self.nonzero && other.nonzero,
        }
    }
}

/// What is known about leaves and conditions.
pub trait Knowledge<L> {
    fn leaf(&self, leaf: L) -> Range;
    /// The expression that a leaf stands for, if it is an auxiliary.
    fn definition(&self, _leaf: L) -> Option<ExprId> {
        None
    }
    /// The truth of a condition.
    fn condition(&self, _condition: ExprId) -> Option<bool> {
        None
    }
}

/// The range of an expression. Booleans have no range.
pub fn range<L: Leaf>(arena: &Arena<L>, root: ExprId, known: &impl Knowledge<L>) -> Range {
    let mut done: FxHashMap<ExprId, Range> = FxHashMap::default();
    let mut stack = vec![root];
    let mut operands = Vec::new();
    while let Some(&id) = stack.last() {
        if done.contains_key(&id) {
            stack.pop();
            continue;
        }
        let node = arena.node(id);
        operands.clear();
        match node {
            Node::If(condition, a, b) => match known.condition(condition) {
                Some(true) => operands.push(a),
                Some(false) => operands.push(b),
                None => operands.extend([a, b]),
            },
            Node::Leaf(leaf) => operands.extend(known.definition(leaf)),
            _ => arena.operands(id, &mut operands),
        }
        let before = stack.len();
        stack.extend(operands.iter().filter(|id| !done.contains_key(id)));
        if stack.len() > before {
            continue;
        }
        let of = |id: &ExprId| done.get(id).copied().unwrap_or(Range::ANY);
        let result = match node {
            Node::Number(value) => Range::point(value.0),
            Node::Leaf(leaf) => operands.first().map_or_else(|| known.leaf(leaf), of),
            Node::Unary(op, a) => unary(op, of(&a)),
            Node::Binary(op, a, b) if a == b => square(op, of(&a)),
            Node::Binary(op, a, b) => binary(op, of(&a), of(&b)),
            Node::If(..) => (operands.iter().map(of).reduce(Range::union)).unwrap_or(Range::ANY),
            Node::Call(Function::Table, args) => table(arena, arena.args(args), &of),
            Node::Call(function, args) => {
                let args: Vec<Range> = arena.args(args).iter().map(of).collect();
                call(function, &args)
            }
            Node::Bool(_) | Node::Time | Node::List(_) => Range::ANY,
        };
        done.insert(id, result);
        stack.pop();
    }
    done.get(&root).copied().unwrap_or(Range::ANY)
}

/// The conditions of all `if`s in an expression, each once, in the order they are met.
pub fn conditions<L: Leaf>(
    arena: &Arena<L>,
    root: ExprId,
    known: &impl Knowledge<L>,
) -> Vec<ExprId> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        match arena.node(id) {
            Node::If(condition, a, b) => {
                if !found.contains(&condition) {
                    found.push(condition);
                }
                stack.extend([a, b]);
            }
            Node::Leaf(leaf) => stack.extend(known.definition(leaf)),
            _ => arena.operands(id, &mut stack),
        }
    }
    found
}

fn unary(op: UnaryOp, a: Range) -> Range {
    match op {
        UnaryOp::Minus => Range::new(-a.high, -a.low).but_zero(a.nonzero),
        UnaryOp::Plus => a,
        UnaryOp::Not => Range::ANY,
    }
}

/// `x*x`, `x/x`, ...: both operands are the same.
fn square(op: BinaryOp, a: Range) -> Range {
    match op {
        BinaryOp::Sub => Range::point(0.0),
        BinaryOp::Div if a.nonzero => Range::point(1.0),
        BinaryOp::Mul => {
            let all = binary(op, a, a);
            Range::new(all.low.max(0.0), all.high).but_zero(a.nonzero)
        }
        _ => binary(op, a, a),
    }
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Range {
    match op {
        BinaryOp::Add => {
            let sum = match (a.value(), b.value()) {
                // A sum that is zero except for rounding errors.
                (Some(x), Some(y)) if (x + y).abs() <= ROUNDING * x.abs().max(y.abs()) => {
                    return Range::point(0.0);
                }
                _ => Range::new(a.low + b.low, a.high + b.high),
            };
            // No term is negative, and one of them is positive.
            let positive = a.low >= 0.0 && b.low >= 0.0 && (a.nonzero || b.nonzero);
            let negative = a.high <= 0.0 && b.high <= 0.0 && (a.nonzero || b.nonzero);
            sum.but_zero(positive || negative)
        }
        BinaryOp::Sub => binary(BinaryOp::Add, a, unary(UnaryOp::Minus, b)),
        BinaryOp::Mul => {
            let products = [
                times(a.low, b.low),
                times(a.low, b.high),
                times(a.high, b.low),
                times(a.high, b.high),
            ];
            let low = products.iter().copied().fold(f64::INFINITY, f64::min);
            let high = products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            Range::new(low, high).but_zero(a.nonzero && b.nonzero)
        }
        BinaryOp::Div => {
            let inverse = match b.value() {
                Some(value) if value != 0.0 => Range::point(1.0 / value),
                _ if b.low > 0.0 || b.high < 0.0 => Range::new(1.0 / b.high, 1.0 / b.low),
                _ if b.nonzero && b.low >= 0.0 => Range::new(1.0 / b.high, f64::INFINITY),
                _ => Range::ANY,
            };
            match (a.value(), b.value()) {
                (Some(x), Some(y)) if y != 0.0 => Range::point(x / y),
                // A quotient is zero only if its numerator is.
                _ => binary(BinaryOp::Mul, a, inverse).but_zero(a.nonzero),
            }
        }
        BinaryOp::Pow => power(a, b),
        _ => Range::ANY,
    }
}

/// Zero times infinity is zero here, because infinity is only the open end of a range.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn power(a: Range, b: Range) -> Range {
    if let (Some(x), Some(y)) = (a.value(), b.value()) {
        return Range::point(x.powf(y));
    }
    let Some(n) = b.value() else {
        // A positive number to any power is positive.
        return match a.low > 0.0 {
            true => Range::new(0.0, f64::INFINITY).but_zero(true),
            false => Range::ANY,
        };
    };
    if a.low >= 0.0 {
        let (low, high) = match n >= 0.0 {
            true => (a.low.powf(n), a.high.powf(n)),
            false => (a.high.powf(n), a.low.powf(n)),
        };
        return Range::new(low, high).but_zero(a.nonzero);
    }
    match n % 2.0 == 0.0 {
        true => Range::new(0.0, f64::INFINITY).but_zero(a.nonzero),
        false => Range::ANY.but_zero(a.nonzero && n % 1.0 == 0.0),
    }
}

fn table<L: Leaf>(arena: &Arena<L>, args: &[ExprId], of: &impl Fn(&ExprId) -> Range) -> Range {
    let numbers = |at: usize| -> Option<Vec<f64>> {
        match arena.node(*args.get(at)?) {
            Node::List(list) => arena.args(list).iter().map(|id| of(id).value()).collect(),
            _ => None,
        }
    };
    let (Some(xs), Some(ys)) = (numbers(1), numbers(2)) else {
        return Range::ANY;
    };
    match args.first().and_then(|id| of(id).value()) {
        Some(x) => Range::point(interpolate(x, &xs, &ys)),
        // Interpolated values lie between the given ones.
        None => Range::new(
            ys.iter().copied().fold(f64::INFINITY, f64::min),
            ys.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ),
    }
}

fn call(function: Function, args: &[Range]) -> Range {
    let values: Option<Vec<Value>> = (args.iter())
        .map(|arg| arg.value().map(Value::Real))
        .collect();
    if let Some(Value::Real(value)) = values.and_then(|values| apply_call(function, &values)) {
        return Range::point(value);
    }
    let Some(&a) = args.first() else {
        return Range::ANY;
    };
    match function {
        Function::Sin | Function::Cos | Function::Tanh => Range::new(-1.0, 1.0),
        Function::Exp => Range::new(a.low.exp(), a.high.exp()).but_zero(true),
        Function::Cosh => Range::new(1.0, f64::INFINITY),
        Function::Atan | Function::Asin => Range::new(-1.6, 1.6).but_zero(a.nonzero),
        Function::Acos => Range::new(0.0, std::f64::consts::PI),
        Function::Sqrt => Range::new(a.low.max(0.0).sqrt(), f64::INFINITY).but_zero(a.nonzero),
        Function::Abs => {
            let low = if a.low > 0.0 {
                a.low
            } else {
                (-a.high).max(0.0)
            };
            Range::new(low, a.low.abs().max(a.high.abs())).but_zero(a.nonzero)
        }
        Function::Sign => Range::new(-1.0, 1.0).but_zero(a.nonzero),
        Function::Min | Function::Max => {
            let pick = |x: f64, y: f64| {
                if function == Function::Min {
                    x.min(y)
                } else {
                    x.max(y)
                }
            };
            let both = |x: Range, y: Range| {
                Range::new(pick(x.low, y.low), pick(x.high, y.high))
                    .but_zero(x.nonzero && y.nonzero)
            };
            args.iter().copied().reduce(both).unwrap_or(Range::ANY)
        }
        _ => Range::ANY,
    }
}
