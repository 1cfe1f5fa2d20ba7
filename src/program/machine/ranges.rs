//! How far the rates can move while the sines of Time run through their values.
//!
//! Before: a machine whose relations were evaluated. After: for each rate a bound of what sines of Time add to its range over
//! a stretch of time, with all states as they are, and whether they can change a relation. Interval arithmetic over the code; where nothing is known the bound is
//! infinite.

use super::Machine;
use crate::program::code::{Instruction, Op, Register};
use crate::program::{Program, Step};

type Interval = (f64, f64);

const ANY: Interval = (f64::NEG_INFINITY, f64::INFINITY);

/// What a sine is taken as whose argument moves by more than half a period.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sines {
    /// Its value now.
    Stand,
    /// All values.
    Swing,
}

impl Machine<'_> {
    /// By rate, the most that sines of Time change it between now and `ahead`. `None` if they may change a relation.
    pub fn swing(&self, ahead: f64) -> Option<Vec<f64>> {
        let still = self.ranges(ahead, Sines::Stand);
        let swung = self.ranges(ahead, Sines::Swing);
        let more = |register: Register| {
            let (still, swung) = (still[register as usize], swung[register as usize]);
            let more = (swung.1 - still.1).max(still.0 - swung.0);
            match more.is_nan() {
                true => f64::INFINITY,
                false => more.max(0.0),
            }
        };
        for watch in self.program.watches.iter().filter(|watch| !watch.timed) {
            let (left, right) = watch.sides;
            let apart = swung[left as usize].0 > swung[right as usize].1
                || swung[left as usize].1 < swung[right as usize].0;
            if !apart && (more(left) > 0.0 || more(right) > 0.0) {
                return None;
            }
        }
        let rates = self.program.rates.iter().copied();
        let rates = rates.chain(self.slot_rates().map(|(_, rate)| rate));
        Some(rates.map(more).collect())
    }

    /// The ranges of all registers that rates and relations need.
    fn ranges(&self, ahead: f64, sines: Sines) -> Vec<Interval> {
        let program = self.program;
        let mut ranges: Vec<Interval> =
            self.registers.iter().map(|&value| (value, value)).collect();
        let time = Program::TIME as usize;
        ranges[time].1 = ahead.max(ranges[time].0);
        let part = &program.continuous;
        self.run_ranges(&program.held, &mut ranges, sines);
        for step in &part.steps[..program.watch_steps] {
            match step {
                Step::Code(range) => {
                    self.run_ranges(&part.code[range.clone()], &mut ranges, sines);
                }
                Step::System(at) => {
                    let system = &part.systems[*at];
                    let inputs = system.matrix.data().iter().chain(&system.right);
                    if moves(&ranges, inputs) {
                        spread(&mut ranges, &system.unknowns);
                    }
                }
                Step::Loop(at) => {
                    let of = &part.loops[*at];
                    if moves(&ranges, &of.externals) {
                        spread(&mut ranges, &of.unknowns);
                        self.run_ranges(&of.code, &mut ranges, sines);
                    }
                }
            }
        }
        ranges
    }

    fn run_ranges(&self, code: &[Instruction], ranges: &mut [Interval], sines: Sines) {
        for instruction in code {
            let &Instruction { op, to, a, b, c } = instruction;
            let at = |register: Register| ranges[register as usize];
            let is_still = |register: Register| at(register).0 == at(register).1;
            let reads_b = !matches!(op, Op::Whole | Op::Table);
            let reads_c = op == Op::Select;
            let still = is_still(a) && (!reads_b || is_still(b)) && (!reads_c || is_still(c));
            let now = self.registers[to as usize];
            let range = match still {
                true => (now, now),
                false => {
                    let second = if reads_b { at(b) } else { (0.0, 0.0) };
                    match op {
                        Op::Sin | Op::Cos => sine(op, at(a), now, sines),
                        Op::Select if is_still(c) => match at(c).0 != 0.0 {
                            true => at(a),
                            false => at(b),
                        },
                        Op::Select => (at(a).0.min(at(b).0), at(a).1.max(at(b).1)),
                        Op::Table => self.tables[b as usize]
                            .ys
                            .iter()
                            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| {
                                (low.min(y), high.max(y))
                            }),
                        Op::Whole => whole(at(a), b as i32),
                        _ => combined(op, at(a), second),
                    }
                }
            };
            ranges[to as usize] = match range.0 <= range.1 {
                true => range,
                false => ANY,
            };
        }
    }
}

fn moves<'r>(ranges: &[Interval], registers: impl IntoIterator<Item = &'r Register>) -> bool {
    (registers.into_iter()).any(|&register| {
        let (low, high) = ranges[register as usize];
        low != high
    })
}

fn spread(ranges: &mut [Interval], registers: &[Register]) {
    for &register in registers {
        ranges[register as usize] = ANY;
    }
}

fn sine(op: Op, (low, high): Interval, now: f64, sines: Sines) -> Interval {
    use std::f64::consts::{FRAC_PI_2, PI, TAU};
    // Also where a bound is no number.
    let narrow = high - low < PI;
    if !narrow {
        return match sines {
            Sines::Stand => (now, now),
            Sines::Swing => (-1.0, 1.0),
        };
    }
    let shift = if op == Op::Cos { FRAC_PI_2 } else { 0.0 };
    let (low, high) = (low + shift, high + shift);
    // Whether an argument with this remainder lies between.
    let passes = |top: f64| ((high - top) / TAU).floor() >= ((low - top) / TAU).ceil();
    let (from, to) = (low.sin(), high.sin());
    let least = if passes(-FRAC_PI_2) {
        -1.0
    } else {
        from.min(to)
    };
    let most = if passes(FRAC_PI_2) { 1.0 } else { from.max(to) };
    (least, most)
}

/// Zero times infinity is zero: the infinite end is never reached.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

fn product(a: Interval, b: Interval) -> Interval {
    let ends = [
        times(a.0, b.0),
        times(a.0, b.1),
        times(a.1, b.0),
        times(a.1, b.1),
    ];
    let low = ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
    match ends.iter().any(|end| end.is_nan()) {
        true => ANY,
        false => (low, high),
    }
}

fn quotient(a: Interval, b: Interval) -> Interval {
    match b.0 > 0.0 || b.1 < 0.0 {
        true => product(a, (1.0 / b.1, 1.0 / b.0)),
        false => ANY,
    }
}

fn whole(a: Interval, exponent: i32) -> Interval {
    let (low, high) = (a.0.powi(exponent), a.1.powi(exponent));
    match exponent {
        ..=0 if a.0 <= 0.0 && a.1 >= 0.0 => ANY,
        exponent if exponent % 2 != 0 => (low.min(high), low.max(high)),
        _ if a.0 <= 0.0 && a.1 >= 0.0 => (0.0, low.max(high)),
        _ => (low.min(high), low.max(high)),
    }
}

fn combined(op: Op, a: Interval, b: Interval) -> Interval {
    let rising = |f: fn(f64) -> f64| (f(a.0), f(a.1));
    let minus = |(low, high): Interval| (-high, -low);
    match op {
        Op::Copy => a,
        Op::Negate => minus(a),
        Op::Add => (a.0 + b.0, a.1 + b.1),
        Op::Sub => (a.0 - b.1, a.1 - b.0),
        Op::Mul => product(a, b),
        Op::NegMul => minus(product(a, b)),
        Op::Div => quotient(a, b),
        Op::NegDiv => minus(quotient(a, b)),
        Op::Square => whole(a, 2),
        Op::Power if b.0 == b.1 && a.0 > 0.0 => {
            let (low, high) = (a.0.powf(b.0), a.1.powf(b.0));
            (low.min(high), low.max(high))
        }
        Op::Exp => rising(f64::exp),
        Op::Tanh => rising(f64::tanh),
        Op::Sinh => rising(f64::sinh),
        Op::Atan => rising(f64::atan),
        Op::Floor => rising(f64::floor),
        Op::Ceil => rising(f64::ceil),
        Op::Ln if a.0 > 0.0 => rising(f64::ln),
        Op::Log10 if a.0 > 0.0 => rising(f64::log10),
        Op::Sqrt if a.0 >= 0.0 => rising(f64::sqrt),
        Op::Abs if a.0 >= 0.0 => a,
        Op::Abs if a.1 <= 0.0 => minus(a),
        Op::Abs => (0.0, a.1.max(-a.0)),
        Op::Min => (a.0.min(b.0), a.1.min(b.1)),
        Op::Max => (a.0.max(b.0), a.1.max(b.1)),
        Op::Sign => (-1.0, 1.0),
        Op::Not
        | Op::And
        | Op::Or
        | Op::Less
        | Op::LessEqual
        | Op::Greater
        | Op::GreaterEqual
        | Op::Equal
        | Op::NotEqual => (0.0, 1.0),
        _ => ANY,
    }
}
