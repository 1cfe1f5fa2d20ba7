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
    for &Instruction { op, to, a, b, c } in row {
        let x = registers[a as usize];
        let y = |registers: &[f64]| registers[b as usize];
        let value = match op {
            Op::Copy => x,
            Op::Negate => -x,
            Op::Not => 1.0 - x,
            Op::Add => x + y(registers),
            Op::Sub => x - y(registers),
            Op::Mul => x * y(registers),
            Op::Div => x / y(registers),
            Op::NegMul => -(x * y(registers)),
            Op::NegDiv => -(x / y(registers)),
            Op::Power => x.powf(y(registers)),
            Op::Whole => x.powi(b as i32),
            Op::Square => x * x,
            Op::And => x * y(registers),
            Op::Or => x.max(y(registers)),
            Op::Less => truth(x < y(registers)),
            Op::LessEqual => truth(x <= y(registers)),
            Op::Greater => truth(x > y(registers)),
            Op::GreaterEqual => truth(x >= y(registers)),
            Op::Equal => truth(x == y(registers)),
            Op::NotEqual => truth(x != y(registers)),
            Op::Select => match registers[c as usize] != 0.0 {
                true => x,
                false => y(registers),
            },
            Op::Sin => x.sin(),
            Op::Cos => x.cos(),
            Op::Tan => x.tan(),
            Op::Asin => x.asin(),
            Op::Acos => x.acos(),
            Op::Atan => x.atan(),
            Op::Atan2 => x.atan2(y(registers)),
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
            Op::Min => match x <= y(registers) || x.is_nan() {
                true => x,
                false => y(registers),
            },
            Op::Max => match x >= y(registers) || x.is_nan() {
                true => x,
                false => y(registers),
            },
            Op::Floor => x.floor(),
            Op::Ceil => x.ceil(),
            Op::Table => tables[b as usize].at(x).0,
        };
        registers[to as usize] = value;
    }
}

fn scaled(by: f64, lanes: Lanes) -> Lanes {
    lanes.map(|lane| by * lane)
}

/// p*u + q*v
fn combined(p: f64, u: Lanes, q: f64, v: Lanes) -> Lanes {
    std::array::from_fn(|lane| p * u[lane] + q * v[lane])
}

/// Runs code again: derivatives, where the values are there already. A factor of zero counts for
/// nothing even where the other is infinite: `sqrt(x)` at 0 where x does not move.
pub fn run_lanes(code: &[Instruction], registers: &[f64], lanes: &mut [Lanes], tables: &[Table]) {
    for &Instruction { op, to, a, b, c } in code {
        let (x, u) = (registers[a as usize], lanes[a as usize]);
        let value = registers[to as usize];
        let y = || registers[b as usize];
        let v = |lanes: &[Lanes]| lanes[b as usize];
        lanes[to as usize] = match op {
            Op::Copy => u,
            Op::Negate => scaled(-1.0, u),
            Op::Add => {
                let v = v(lanes);
                std::array::from_fn(|lane| u[lane] + v[lane])
            }
            Op::Sub => {
                let v = v(lanes);
                std::array::from_fn(|lane| u[lane] - v[lane])
            }
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
            Op::Power => power(x, y(), value, u, v(lanes)),
            Op::Whole => match b {
                0 => [0.0; LANES],
                _ => chain(f64::from(b as i32) * x.powi(b as i32 - 1), u),
            },
            Op::Square => scaled(2.0 * x, u),
            Op::Select => match registers[c as usize] != 0.0 {
                true => u,
                false => v(lanes),
            },
            Op::Sin => scaled(x.cos(), u),
            Op::Cos => scaled(-x.sin(), u),
            Op::Tan => chain(1.0 + value * value, u),
            Op::Asin => chain(1.0 / (1.0 - x * x).sqrt(), u),
            Op::Acos => chain(-1.0 / (1.0 - x * x).sqrt(), u),
            Op::Atan => scaled(1.0 / (1.0 + x * x), u),
            Op::Atan2 => {
                let (y, v) = (y(), v(lanes));
                // Not x*x + y*y, which may be too large or too small for a number.
                let size = x.hypot(y);
                let (p, q) = (chain(y / size / size, u), chain(-x / size / size, v));
                std::array::from_fn(|lane| p[lane] + q[lane])
            }
            Op::Sinh => chain(x.cosh(), u),
            Op::Cosh => chain(x.sinh(), u),
            // 1 - value*value has no digits left where the curve is nearly flat.
            Op::Tanh => {
                let cosh = x.cosh();
                scaled(1.0 / cosh / cosh, u)
            }
            Op::Exp => chain(value, u),
            Op::Ln => chain(1.0 / x, u),
            Op::Log10 => chain(1.0 / (x * std::f64::consts::LN_10), u),
            Op::Sqrt => chain(0.5 / value, u),
            Op::Abs => match x >= 0.0 {
                true => u,
                false => scaled(-1.0, u),
            },
            Op::Min | Op::Max => match value == x {
                true => u,
                false => v(lanes),
            },
            Op::Table => scaled(tables[b as usize].at(x).1, u),
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
            | Op::Ceil => [0.0; LANES],
        };
    }
}

fn chain(slope: f64, lanes: Lanes) -> Lanes {
    lanes.map(|lane| if lane == 0.0 { 0.0 } else { slope * lane })
}

/// Of x**y: y*x**(y-1)*x' + x**y*ln(x)*y'. A factor of zero makes a term zero: 0**y does not depend on a
/// positive y, and x**0 not on x, though the other factors are infinite at x = 0.
fn power(x: f64, y: f64, value: f64, u: Lanes, v: Lanes) -> Lanes {
    let base = match y == 0.0 {
        true => [0.0; LANES],
        false => chain(y * x.powf(y - 1.0), u),
    };
    if v == [0.0; LANES] || value == 0.0 {
        return base;
    }
    let exponent = chain(value * x.ln(), v);
    std::array::from_fn(|lane| base[lane] + exponent[lane])
}
