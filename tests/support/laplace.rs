//! Linear models with constant coefficients, solved exactly: their flat equations as `A(s) X(s) = F(s)`, transformed back by
//! Talbot's contour (Abate and Valko 2004, fixed Talbot). Whatever the index is, nothing is differentiated or chosen: what
//! jumps and what follows from what is in the transform. States begin from their values before the start.
//!
//! The number of states is the degree of `det A(s)`, computed modulo a prime.

use std::collections::BTreeMap;

use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp};
use bgm::flat::{Flat, Kind, Leaf, VarId};
use nalgebra::{Complex, DMatrix, DVector};

use super::oracle::holds_at_all_times;
use super::random::Random;

/// Numbers that coefficients are computed in.
pub trait Number: Copy + PartialEq {
    fn of(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn minus(self) -> Self;
}

impl Number for f64 {
    fn of(value: f64) -> f64 {
        value
    }
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn times(self, other: f64) -> f64 {
        self * other
    }
    fn over(self, other: f64) -> f64 {
        self / other
    }
    fn minus(self) -> f64 {
        -self
    }
}

/// Whole numbers modulo a prime; decimal fractions are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residue(u64);

const PRIME: u64 = 18_446_744_073_709_551_557;

impl Residue {
    fn power(self, exponent: u64) -> Residue {
        let (mut value, mut base, mut left) = (Residue(1), self, exponent);
        while left > 0 {
            if left & 1 == 1 {
                value = value.times(base);
            }
            base = base.times(base);
            left >>= 1;
        }
        value
    }
}

impl Number for Residue {
    fn of(value: f64) -> Residue {
        let text = format!("{:e}", value.abs());
        let (digits, exponent) = text.split_once('e').expect("it has an exponent");
        let mut exponent: i32 = exponent.parse().expect("it is a number");
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        exponent -= part.len() as i32;
        let digits: u64 = format!("{whole}{part}").parse().expect("it is a number");
        let ten = Residue(10).power(u64::from(exponent.unsigned_abs()));
        let size = match exponent < 0 {
            true => Residue(digits).over(ten),
            false => Residue(digits).times(ten),
        };
        if value < 0.0 { size.minus() } else { size }
    }
    fn plus(self, other: Residue) -> Residue {
        Residue(((u128::from(self.0) + u128::from(other.0)) % u128::from(PRIME)) as u64)
    }
    fn times(self, other: Residue) -> Residue {
        Residue((u128::from(self.0) * u128::from(other.0) % u128::from(PRIME)) as u64)
    }
    fn over(self, other: Residue) -> Residue {
        self.times(other.power(PRIME - 2))
    }
    fn minus(self) -> Residue {
        Residue((PRIME - self.0) % PRIME)
    }
}

/// The value of an expression; what is computed from `Time` is nothing here.
fn evaluate<N: Number>(flat: &Flat, id: ExprId, value: &dyn Fn(Leaf) -> N) -> N {
    let of = |id: ExprId| evaluate(flat, id, value);
    match flat.exprs.node(id) {
        Node::Number(value) => N::of(value.0),
        Node::Leaf(leaf) => match flat.variable(leaf.variable()).kind {
            Kind::Parameter | Kind::Constant => {
                let given = flat.value(leaf.variable()).expect("it has a value");
                let mut made = false;
                (flat.exprs).leaves(given.expression, |_| made = true);
                match made {
                    true => of(given.expression),
                    false => N::of(given.value.real().expect("it is a number")),
                }
            }
            _ => value(leaf),
        },
        Node::Unary(UnaryOp::Minus, a) => of(a).minus(),
        Node::Unary(UnaryOp::Plus, a) => of(a),
        Node::Binary(BinaryOp::Add, a, b) => of(a).plus(of(b)),
        Node::Binary(BinaryOp::Sub, a, b) => of(a).plus(of(b).minus()),
        Node::Binary(BinaryOp::Mul, a, b) => of(a).times(of(b)),
        Node::Binary(BinaryOp::Div, a, b) => of(a).over(of(b)),
        other => {
            let mut known = true;
            flat.exprs.leaves(id, |leaf| {
                known &= !flat.variable(leaf.variable()).kind.is_unknown();
            });
            assert!(known, "not part of a linear model: {other:?}");
            N::of(0.0)
        }
    }
}

/// A piece of a source: from a time on it is added.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub from: f64,
    pub wave: Wave,
}

#[derive(Clone, Copy, Debug)]
pub enum Wave {
    Step(f64),
    Ramp(f64),
    /// Amplitude and angular frequency, from an angle of zero.
    Sine(f64, f64),
}

impl Wave {
    /// Of what comes after it has been there for some time.
    fn transform(self, s: Complex<f64>, since: f64) -> Complex<f64> {
        match self {
            Wave::Step(height) => Complex::from(height) / s,
            Wave::Ramp(slope) => Complex::from(slope) / (s * s) + Complex::from(slope * since) / s,
            Wave::Sine(amplitude, w) => {
                let (sin, cos) = (w * since).sin_cos();
                (s * sin + w * cos) * amplitude / (s * s + w * w)
            }
        }
    }
}

/// What each source is, by the name of the variable that is its value.
pub type Sources = BTreeMap<String, Vec<Piece>>;

/// The equations of a linear model.
#[derive(Debug)]
pub struct Linear<N> {
    pub unknowns: Vec<VarId>,
    /// By equation: columns, orders and coefficients.
    rows: Vec<Vec<(usize, u8, N)>>,
}

impl<N: Number> Linear<N> {
    pub fn new(flat: &Flat) -> Self {
        let unknowns: Vec<VarId> = (flat.variable_ids())
            .filter(|&id| flat.variable(id).kind.is_unknown())
            .collect();
        let mut rows = Vec::new();
        for equation in flat.equations.iter().filter(|one| holds_at_all_times(one)) {
            let mut leaves: Vec<Leaf> = Vec::new();
            for side in [equation.left, equation.right] {
                flat.exprs.leaves(side, |leaf| {
                    let unknown = flat.variable(leaf.variable()).kind.is_unknown();
                    if unknown && !leaves.contains(&leaf) {
                        leaves.push(leaf);
                    }
                });
            }
            let residual = |unit: Option<Leaf>| {
                let value = |leaf| N::of(if Some(leaf) == unit { 1.0 } else { 0.0 });
                let left = evaluate(flat, equation.left, &value);
                left.plus(evaluate(flat, equation.right, &value).minus())
            };
            let rest = residual(None);
            let mut row = Vec::new();
            for leaf in leaves {
                let coefficient = residual(Some(leaf)).plus(rest.minus());
                let at = unknowns.iter().position(|&id| id == leaf.variable());
                let (at, order) = (at.expect("it is unknown"), leaf.order().expect("real"));
                row.push((at, order, coefficient));
            }
            rows.push(row);
        }
        Linear { unknowns, rows }
    }
}

impl Linear<Residue> {
    /// How many finite eigenvalues there are; `None` if the equations determine nothing.
    pub fn degree(&self, seed: u64) -> Option<usize> {
        let n = self.unknowns.len();
        if self.rows.len() != n {
            return None;
        }
        let mut orders = vec![0; n];
        for &(at, order, _) in self.rows.iter().flatten() {
            orders[at] = order.max(orders[at]);
        }
        let most: usize = orders.iter().map(|&order| usize::from(order)).sum();
        let mut random = Random::new(seed);
        let mut points = Vec::new();
        let mut differences = Vec::new();
        for _ in 0..most + 2 {
            let s = Residue(random.next() >> 1);
            let mut value = self.determinant(s);
            // Newton's divided differences: the last that is not zero is the leading one.
            for (&point, &before) in points.iter().zip(&differences) {
                value = Number::over(
                    value.plus(Number::minus(before)),
                    s.plus(Number::minus(point)),
                );
            }
            points.push(s);
            differences.push(value);
        }
        differences.iter().rposition(|&value| value != Residue(0))
    }

    fn determinant(&self, s: Residue) -> Residue {
        let n = self.unknowns.len();
        let mut matrix = vec![vec![Residue(0); n]; n];
        for (row, entries) in matrix.iter_mut().zip(&self.rows) {
            for &(at, order, value) in entries {
                row[at] = row[at].plus(value.times(s.power(u64::from(order))));
            }
        }
        let mut product = Residue(1);
        for column in 0..n {
            // The row with fewest entries: most have two or three.
            let filled = |row: &Vec<Residue>| row.iter().filter(|&&x| x != Residue(0)).count();
            let found = (column..n)
                .filter(|&row| matrix[row][column] != Residue(0))
                .min_by_key(|&row| filled(&matrix[row]));
            let Some(found) = found else {
                return Residue(0);
            };
            if found != column {
                matrix.swap(found, column);
                product = product.minus();
            }
            let pivot = std::mem::take(&mut matrix[column]);
            product = product.times(pivot[column]);
            let entries: Vec<usize> = (column..n).filter(|&at| pivot[at] != Residue(0)).collect();
            for row in &mut matrix[column + 1..] {
                if row[column] == Residue(0) {
                    continue;
                }
                let by = row[column].over(pivot[column]).minus();
                for &at in &entries {
                    row[at] = row[at].plus(by.times(pivot[at]));
                }
            }
        }
        product
    }
}

/// The contour has so many points; a second one tells how far it can be trusted.
const POINTS: [usize; 2] = [20, 26];
/// No span is longer: what is fast lies outside the contour.
const SPAN: f64 = 0.12;

impl Linear<f64> {
    /// det A(s).
    pub fn determinant_at(&self, s: Complex<f64>) -> Complex<f64> {
        self.matrix(s).determinant()
    }

    /// All unknowns for a source that is 1 at a complex frequency, the others zero.
    pub fn response(
        &self,
        flat: &Flat,
        source: &str,
        s: Complex<f64>,
    ) -> Option<Vec<Complex<f64>>> {
        let at = self
            .unknowns
            .iter()
            .position(|&id| flat.name(id) == source)?;
        let alone = |row: &&Vec<(usize, u8, f64)>| row.len() == 1 && row[0].0 == at;
        let row = self.rows.iter().position(|row| alone(&row))?;
        let mut right = DVector::zeros(self.rows.len());
        right[row] = Complex::from(self.rows[row][0].2);
        let solution = self.matrix(s).lu().solve(&right)?;
        Some(solution.iter().copied().collect())
    }

    fn matrix(&self, s: Complex<f64>) -> DMatrix<Complex<f64>> {
        let n = self.unknowns.len();
        let mut matrix = DMatrix::zeros(n, n);
        for (row, entries) in self.rows.iter().enumerate() {
            for &(at, order, value) in entries {
                matrix[(row, at)] += s.powi(i32::from(order)) * value;
            }
        }
        matrix
    }

    /// The values of all unknowns at some times, ascending, given those before the start and the sources; `None` where the contour does
    /// not enclose what it has to. Goes from one time to the next, by the values of what is differentiated there.
    pub fn run(
        &self,
        flat: &Flat,
        times: &[f64],
        before: &[f64],
        sources: &Sources,
    ) -> Option<Vec<Vec<f64>>> {
        let source_rows = self.source_rows(flat, sources);
        let pieces = sources.values().flatten();
        let mut stops: Vec<f64> = pieces
            .map(|piece| piece.from)
            .chain(times.iter().copied())
            .collect();
        let last = times.iter().fold(0.0_f64, |last, &time| last.max(time));
        stops.extend(
            (1..)
                .map(|n| f64::from(n) * SPAN)
                .take_while(|&time| time < last),
        );
        stops.retain(|&time| time > 0.0 && time <= last);
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        let (mut now, mut values) = (0.0, before.to_vec());
        let mut found = vec![Vec::new(); times.len()];
        for stop in stops {
            let right = |s: Complex<f64>| {
                let mut right = DVector::zeros(self.rows.len());
                for &(row, at, pieces) in &source_rows {
                    let (_, _, factor) = self.rows[row][at];
                    let here = pieces.iter().filter(|piece| piece.from <= now);
                    let all = here.map(|piece| piece.wave.transform(s, now - piece.from));
                    right[row] += all.sum::<Complex<f64>>() * factor;
                }
                for (row, entries) in self.rows.iter().enumerate() {
                    for &(at, order, value) in entries {
                        assert!(order <= 1, "values of derivatives are not known");
                        if order == 1 {
                            right[row] += Complex::from(value * values[at]);
                        }
                    }
                }
                right
            };
            let rough = self.back(stop - now, POINTS[0], &right)?;
            let fine = self.back(stop - now, POINTS[1], &right)?;
            let size = fine
                .iter()
                .fold(1.0_f64, |most, value| most.max(value.abs()));
            let mut both = fine.iter().zip(&rough);
            if both.any(|(value, other)| !((value - other).abs() <= 1e-7 * size)) {
                return None;
            }
            (now, values) = (stop, fine);
            for (place, _) in times.iter().enumerate().filter(|(_, time)| **time == stop) {
                found[place].clone_from(&values);
            }
        }
        Some(found)
    }

    /// Where the value of each source stands alone: its row, and its place there.
    fn source_rows<'s>(
        &self,
        flat: &Flat,
        sources: &'s Sources,
    ) -> Vec<(usize, usize, &'s [Piece])> {
        let mut found = Vec::new();
        for (name, pieces) in sources {
            let row = self
                .rows
                .iter()
                .position(|row| row.len() == 1 && flat.name(self.unknowns[row[0].0]) == *name);
            found.push((row.expect("a source has an equation"), 0, pieces.as_slice()));
        }
        found
    }

    /// Talbot's sum for one time.
    fn back(
        &self,
        time: f64,
        points: usize,
        right: &dyn Fn(Complex<f64>) -> DVector<Complex<f64>>,
    ) -> Option<Vec<f64>> {
        let m = points as f64;
        let mut total = vec![0.0; self.unknowns.len()];
        for k in 0..points {
            let angle = k as f64 * std::f64::consts::PI / m;
            let (delta, weight) = match k {
                0 => {
                    let delta = Complex::from(0.4 * m);
                    (delta, delta.exp() * 0.5)
                }
                _ => {
                    let cot = angle.cos() / angle.sin();
                    let delta = Complex::new(cot, 1.0) * (0.4 * m * angle);
                    let slope = Complex::new(1.0, angle * (1.0 + cot * cot) - cot);
                    (delta, slope * delta.exp())
                }
            };
            let s = delta / time;
            let solution = self.matrix(s).lu().solve(&right(s))?;
            for (sum, value) in total.iter_mut().zip(solution.iter()) {
                *sum += (weight * value).re * 0.4 / time;
            }
        }
        Some(total)
    }
}
