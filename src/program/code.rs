//! Instructions: one operation each, from registers to a register.
//!
//! Values are numbers; false and true are 0 and 1. Both branches of an `if` are computed and one is
//! taken: nothing jumps, so that the same code gives values and, read a second time, derivatives. Along
//! with its value a register has [`LANES`] derivatives, each in a direction of its own.

/// So many directions at a time.
pub const LANES: usize = 8;
pub type Lanes = [f64; LANES];
pub type Register = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Copy,
    Negate,
    Not,
    Add,
    Sub,
    Mul,
    Div,
    /// `-(a*b)`
    NegMul,
    /// `-(a/b)`
    NegDiv,
    Power,
    /// The exponent is the whole number `b`, as it is (not a register).
    Whole,
    Square,
    And,
    Or,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    /// `if c then a else b`
    Select,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Min,
    Max,
    Floor,
    Ceil,
    /// Of the table of number `b` (not a register).
    Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub op: Op,
    pub to: Register,
    pub a: Register,
    pub b: Register,
    pub c: Register,
}

impl Instruction {
    /// Whether `b` is a register, and read.
    pub fn reads_b(&self) -> bool {
        match self.op {
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::NegMul
            | Op::NegDiv
            | Op::Power
            | Op::And
            | Op::Or
            | Op::Less
            | Op::LessEqual
            | Op::Greater
            | Op::GreaterEqual
            | Op::Equal
            | Op::NotEqual
            | Op::Select
            | Op::Atan2
            | Op::Min
            | Op::Max => true,
            Op::Copy
            | Op::Negate
            | Op::Not
            | Op::Whole
            | Op::Square
            | Op::Sin
            | Op::Cos
            | Op::Tan
            | Op::Asin
            | Op::Acos
            | Op::Atan
            | Op::Sinh
            | Op::Cosh
            | Op::Tanh
            | Op::Exp
            | Op::Ln
            | Op::Log10
            | Op::Sqrt
            | Op::Abs
            | Op::Sign
            | Op::Floor
            | Op::Ceil
            | Op::Table => false,
        }
    }
}

/// Linear interpolation with the values that its registers have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
}

impl Table {
    /// Value and slope. At a corner the slope is that of the right side.
    fn at(&self, x: f64) -> (f64, f64) {
        let value = crate::expr::interpolate(x, &self.xs, &self.ys);
        let at = self.xs.partition_point(|&known| known <= x);
        let slope = match at > 0 && at < self.xs.len() {
            true => (self.ys[at] - self.ys[at - 1]) / (self.xs[at] - self.xs[at - 1]),
            false => 0.0,
        };
        (value, slope)
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Runs code: values. The operation is looked at once for all that follow with the same.
pub fn run(code: &[Instruction], registers: &mut [f64], tables: &[Table]) {
    let mut rest = code;
    while let Some(first) = rest.first() {
        let op = first.op;
        let alike = rest.iter().position(|instruction| instruction.op != op);
        let (row, others) = rest.split_at(alike.unwrap_or(rest.len()));
        rest = others;
        match op {
            Op::Add => each(row, registers, |x, y| x + y),
            Op::Sub => each(row, registers, |x, y| x - y),
            Op::Mul => each(row, registers, |x, y| x * y),
            Op::Div => each(row, registers, |x, y| x / y),
            Op::NegMul => each(row, registers, |x, y| -(x * y)),
            Op::NegDiv => each(row, registers, |x, y| -(x / y)),
            Op::Negate => each(row, registers, |x, _| -x),
            _ => others_of(row, registers, tables),
        }
    }
}

#[inline]
fn each(row: &[Instruction], registers: &mut [f64], value: impl Fn(f64, f64) -> f64) {
    for instruction in row {
        let x = registers[instruction.a as usize];
        let y = registers[instruction.b as usize];
        registers[instruction.to as usize] = value(x, y);
    }
}

/// Operations that are rare, or take long by themselves.
fn others_of(row: &[Instruction], registers: &mut [f64], tables: &[Table]) {
    for instruction in row {
        let x = registers[instruction.a as usize];
        let y = match instruction.reads_b() {
            true => registers[instruction.b as usize],
            false => 0.0,
        };
        let truth = instruction.op == Op::Select && registers[instruction.c as usize] != 0.0;
        registers[instruction.to as usize] = value(instruction, (x, y, truth), tables);
    }
}

/// The result of an instruction, from its operands and its condition.
pub(super) fn value(
    instruction: &Instruction,
    (x, y, condition): (f64, f64, bool),
    tables: &[Table],
) -> f64 {
    match instruction.op {
        Op::Copy => x,
        Op::Negate => -x,
        Op::Not => 1.0 - x,
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::NegMul => -(x * y),
        Op::NegDiv => -(x / y),
        Op::Power => x.powf(y),
        Op::Whole => x.powi(instruction.b as i32),
        Op::Square => x * x,
        Op::And => x * y,
        Op::Or => x.max(y),
        Op::Less => truth(x < y),
        Op::LessEqual => truth(x <= y),
        Op::Greater => truth(x > y),
        Op::GreaterEqual => truth(x >= y),
        Op::Equal => truth(x == y),
        Op::NotEqual => truth(x != y),
        Op::Select => match condition {
            true => x,
            false => y,
        },
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tan => x.tan(),
        Op::Asin => x.asin(),
        Op::Acos => x.acos(),
        Op::Atan => x.atan(),
        Op::Atan2 => x.atan2(y),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Exp => x.exp(),
        Op::Ln => x.ln(),
        Op::Log10 => x.log10(),
        Op::Sqrt => x.sqrt(),
        Op::Abs => x.abs(),
        Op::Sign if x == 0.0 => 0.0,
        Op::Sign => x.signum(),
        // NaN must not get lost.
        Op::Min => match x <= y || x.is_nan() {
            true => x,
            false => y,
        },
        Op::Max => match x >= y || x.is_nan() {
            true => x,
            false => y,
        },
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Table => tables[instruction.b as usize].at(x).0,
    }
}

/// p*u + q*v
fn combined(p: f64, u: Lanes, q: f64, v: Lanes) -> Lanes {
    std::array::from_fn(|lane| p * u[lane] + q * v[lane])
}

/// Runs code again: derivatives, where the values are there already. A factor of zero counts for
/// nothing even where the other is infinite: `sqrt(x)` at 0 where x does not move.
pub fn run_lanes(code: &[Instruction], registers: &[f64], lanes: &mut [Lanes], tables: &[Table]) {
    for instruction in code {
        let &Instruction { op, to, a, b, .. } = instruction;
        let (x, u) = (registers[a as usize], lanes[a as usize]);
        let value = registers[to as usize];
        let y = || registers[b as usize];
        let v = |lanes: &[Lanes]| lanes[b as usize];
        lanes[to as usize] = match op {
            Op::Copy => u,
            Op::Negate => u.map(|lane| -lane),
            Op::Add => {
                let v = v(lanes);
                std::array::from_fn(|lane| u[lane] + v[lane])
            }
            Op::Sub => {
                let v = v(lanes);
                std::array::from_fn(|lane| u[lane] - v[lane])
            }
            // What is not taken counts for nothing, even where it has no value.
            Op::Select => match slopes(instruction, registers, tables) {
                (1.0, _) => u,
                _ => v(lanes),
            },
            Op::Mul => combined(y(), u, x, v(lanes)),
            Op::NegMul => combined(-y(), u, -x, v(lanes)),
            Op::NegDiv => {
                let (y, v) = (y(), v(lanes));
                std::array::from_fn(|lane| (-u[lane] - value * v[lane]) / y)
            }
            Op::Div => {
                let (y, v) = (y(), v(lanes));
                std::array::from_fn(|lane| (u[lane] - value * v[lane]) / y)
            }
            _ => {
                let (p, q) = slopes(instruction, registers, tables);
                let left = chain(p, u);
                match instruction.reads_b() {
                    true => {
                        let right = chain(q, v(lanes));
                        std::array::from_fn(|lane| left[lane] + right[lane])
                    }
                    false => left,
                }
            }
        };
    }
}

fn chain(slope: f64, lanes: Lanes) -> Lanes {
    lanes.map(|lane| if lane == 0.0 { 0.0 } else { slope * lane })
}

/// The derivatives of the result of an instruction by its two operands, where the values are there already.
pub(super) fn slopes(instruction: &Instruction, registers: &[f64], tables: &[Table]) -> (f64, f64) {
    let &Instruction { op, to, a, b, c } = instruction;
    let x = registers[a as usize];
    let value = registers[to as usize];
    let y = match instruction.reads_b() {
        true => registers[b as usize],
        false => 0.0,
    };
    let alone = |slope: f64| (slope, 0.0);
    match op {
        Op::Copy => alone(1.0),
        Op::Negate => alone(-1.0),
        Op::Add => (1.0, 1.0),
        Op::Sub => (1.0, -1.0),
        Op::Mul => (y, x),
        Op::NegMul => (-y, -x),
        Op::Div => (1.0 / y, -value / y),
        Op::NegDiv => (-1.0 / y, -value / y),
        Op::Power => power(x, y, value),
        Op::Whole if b == 0 => alone(0.0),
        Op::Whole => alone(f64::from(b as i32) * x.powi(b as i32 - 1)),
        Op::Square => alone(2.0 * x),
        Op::Select => match registers[c as usize] != 0.0 {
            true => (1.0, 0.0),
            false => (0.0, 1.0),
        },
        Op::Sin => alone(x.cos()),
        Op::Cos => alone(-x.sin()),
        Op::Tan => alone(1.0 + value * value),
        Op::Asin => alone(1.0 / (1.0 - x * x).sqrt()),
        Op::Acos => alone(-1.0 / (1.0 - x * x).sqrt()),
        Op::Atan => alone(1.0 / (1.0 + x * x)),
        Op::Atan2 => {
            // Not x*x + y*y, which may be too large or too small for a number.
            let size = x.hypot(y);
            (y / size / size, -x / size / size)
        }
        Op::Sinh => alone(x.cosh()),
        Op::Cosh => alone(x.sinh()),
        // 1 - value*value has no digits left where the curve is nearly flat.
        Op::Tanh => {
            let cosh = x.cosh();
            alone(1.0 / cosh / cosh)
        }
        Op::Exp => alone(value),
        Op::Ln => alone(1.0 / x),
        Op::Log10 => alone(1.0 / (x * std::f64::consts::LN_10)),
        Op::Sqrt => alone(0.5 / value),
        Op::Abs => alone(if x >= 0.0 { 1.0 } else { -1.0 }),
        Op::Min | Op::Max => match value == x {
            true => (1.0, 0.0),
            false => (0.0, 1.0),
        },
        Op::Table => alone(tables[b as usize].at(x).1),
        Op::Not
        | Op::And
        | Op::Or
        | Op::Less
        | Op::LessEqual
        | Op::Greater
        | Op::GreaterEqual
        | Op::Equal
        | Op::NotEqual
        | Op::Sign
        | Op::Floor
        | Op::Ceil => (0.0, 0.0),
    }
}

/// Of x**y: y*x**(y-1) and x**y*ln(x). A factor of zero makes one zero: 0**y does not depend on a
/// positive y, and x**0 not on x, though the other factors are infinite at x = 0.
fn power(x: f64, y: f64, value: f64) -> (f64, f64) {
    let base = if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) };
    let exponent = if value == 0.0 { 0.0 } else { value * x.ln() };
    (base, exponent)
}
