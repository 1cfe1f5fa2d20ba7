//! Poles, and the states that take part in them.
//!
//! Before: linearised equations and their matrices. After: eigenvalues of A with their right and left vectors. Up to
//! [`MOST`] states all of them, by dense algorithms; of larger models those that are wanted, by Krylov spaces of the sparse
//! equations.

use faer::{Mat, c64};

use super::linearised::Linearised;
use super::matrices::Matrices;
use crate::base::cancel::check;
use crate::numeric::arnoldi::largest;
use crate::numeric::eigen::{Square, balance, eigen};
use crate::numeric::pencil::{Entry, Pencil};

/// From so many states on only the poles that are wanted are computed.
pub const MOST: usize = 500;

#[derive(Clone, Debug)]
pub struct Pole {
    pub value: c64,
    /// A v = l v, w A = l w. Empty where they are not known.
    pub right: Vec<c64>,
    pub left: Vec<c64>,
    /// There are others at the same place, or nearly so: it has no vectors and no sensitivities of its own.
    pub multiple: bool,
}

/// How many states are told of a pole in which all take part a little.
const FEW: usize = 4;

/// Which poles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    All,
    /// So many next to a point.
    Near(c64, usize),
    /// So many with the largest real parts.
    Rightmost(usize),
}

impl Pole {
    /// In Hz: |l|/(2 pi).
    pub fn frequency(&self) -> f64 {
        self.value.norm() / (2.0 * std::f64::consts::PI)
    }

    pub fn damping(&self) -> f64 {
        -self.value.re / self.value.norm()
    }

    /// Of the envelope; negative where it grows.
    pub fn time_constant(&self) -> f64 {
        -1.0 / self.value.re
    }

    /// Participation factors |w_k v_k| (Pérez-Arriaga, Verghese and Schweppe 1982), which sum to 1: the largest first, those
    /// below a part of 1 left out, unless there are few.
    pub fn participations(&self, least: f64) -> Vec<(usize, f64)> {
        let products: Vec<f64> = (self.right.iter().zip(&self.left))
            .map(|(v, w)| (v * w).norm())
            .collect();
        let sum: f64 = products.iter().sum();
        let mut found: Vec<(usize, f64)> = (products.iter().enumerate())
            .map(|(at, product)| (at, product / sum))
            .filter(|&(_, part)| part > 0.0)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let told = found.iter().take_while(|(_, part)| *part >= least).count();
        // Where many states take part alike, some of them are better than none.
        found.truncate(if told == 0 { FEW } else { told });
        found
    }
}

/// The matrix A in full.
pub fn full(matrices: &Matrices) -> Square {
    let mut square = Square::zeros(matrices.a.rows.len());
    matrices
        .a
        .entries()
        .for_each(|(row, column, value)| square.set(row, column, value));
    square
}

/// The poles, the slowest first; `None` where the iteration does not converge.
pub fn poles(linear: &Linearised, matrices: &Matrices, wanted: Wanted) -> Option<Vec<Pole>> {
    let size = matrices.a.rows.len();
    let mut found = match (size < MOST, wanted) {
        (true, _) | (_, Wanted::All) => dense(matrices)?,
        (_, Wanted::Near(point, count)) => near(linear, matrices, point, count)?,
        (_, Wanted::Rightmost(count)) => rightmost(linear, matrices, count)?,
    };
    match wanted {
        Wanted::All => {}
        Wanted::Near(point, count) => {
            let distance = |pole: &Pole| (pole.value - point).norm();
            found.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            whole_pairs(&mut found, count);
        }
        Wanted::Rightmost(count) => {
            found.sort_by(|a, b| b.value.re.total_cmp(&a.value.re));
            whole_pairs(&mut found, count);
        }
    }
    found.sort_by(|a, b| {
        let key = |pole: &Pole| (pole.value.norm(), pole.value.re, -pole.value.im);
        let (a, b) = (key(a), key(b));
        // Both of a pair have the same absolute value but for rounding.
        let same = (a.0 - b.0).abs() <= 1e-12 * a.0.max(b.0);
        let first = if same {
            std::cmp::Ordering::Equal
        } else {
            a.0.total_cmp(&b.0)
        };
        first.then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
    });
    Some(found)
}

/// So many poles, and one more where that is the other of a pair.
fn whole_pairs(found: &mut Vec<Pole>, count: usize) {
    let is_pair = |a: c64, b: c64| a.im != 0.0 && (a - b.conj()).norm() <= 1e-9 * a.norm();
    let mut keep = count.min(found.len());
    if let (Some(last), Some(next)) = (
        keep.checked_sub(1).map(|at| found[at].value),
        found.get(keep),
    ) && is_pair(last, next.value)
        && !found[..keep - 1]
            .iter()
            .any(|pole| is_pair(pole.value, last))
    {
        keep += 1;
    }
    found.truncate(keep);
}

fn dense(matrices: &Matrices) -> Option<Vec<Pole>> {
    /// Worse vectors belong to a multiple pole, where another pole is so near.
    const WORST: f64 = 1e7;
    const NEAR: f64 = 1e-3;
    let square = full(matrices);
    let mut balanced = square.clone();
    let scales = balance(&mut balanced);
    let of = eigen(&square)?;
    let mut found: Vec<Pole> = Vec::with_capacity(of.values.len());
    for (at, &value) in of.values.iter().enumerate() {
        let (right, left) = (
            of.right[at].clone(),
            of.left.get(at).cloned().unwrap_or_default(),
        );
        let length = |vector: &[c64], power: i32| {
            let parts = vector.iter().zip(&scales);
            parts
                .map(|(v, scale)| (*v * scale.powi(power)).norm_sqr())
                .sum::<f64>()
                .sqrt()
        };
        // Of the balanced matrix; the product of a left and a right vector is 1.
        let condition = length(&right, -1) * length(&left, 1);
        let mut others = of.values.iter().enumerate();
        let is_near = others.any(|(other, &near)| {
            other != at && (near - value).norm() <= NEAR * near.norm().max(value.norm())
        });
        found.push(Pole {
            value,
            multiple: left.is_empty() || is_near && !(condition <= WORST),
            right,
            left,
        });
    }
    mark_multiple(&mut found);
    Some(found)
}

/// How much each state is in the space that belongs to a value that occurs `count` times: the null space of
/// (A - l)^count, in balanced coordinates.
pub fn space(matrices: &Matrices, value: c64, count: usize) -> Vec<f64> {
    let size = matrices.a.rows.len();
    if size >= MOST {
        return vec![1.0; size];
    }
    let mut balanced = full(matrices);
    balance(&mut balanced);
    let largest = balanced
        .values
        .iter()
        .fold(value.norm(), |most, of| most.max(of.abs()));
    let of: Mat<c64> = Mat::from_fn(size, size, |row, column| {
        let entry = c64::new(balanced.get(row, column), 0.0);
        (if row == column { entry - value } else { entry }) / largest
    });
    let mut power = of.clone();
    for _ in 1..count.min(4) {
        power = &power * &of;
    }
    let Ok(svd) = power.svd() else {
        return vec![1.0; size];
    };
    let vectors = svd.V();
    (0..size)
        .map(|row| {
            (size - count.min(size)..size)
                .map(|at| vectors[(row, at)].norm_sqr())
                .sum()
        })
        .collect()
}

/// Poles that are equal but for rounding: a double pole is known to half of the digits only.
fn mark_multiple(found: &mut [Pole]) {
    const SAME: f64 = 1e-7;
    let largest = found
        .iter()
        .map(|pole| pole.value.norm())
        .fold(0.0, f64::max);
    for at in 0..found.len() {
        for other in 0..at {
            let (a, b) = (found[at].value, found[other].value);
            if (a - b).norm() <= SAME * a.norm().max(b.norm()) + 1e-15 * largest {
                found[at].multiple = true;
                found[other].multiple = true;
            }
        }
    }
}

/// s x - A x, by the equations or by the matrix, whichever is smaller. The states are the last rows and columns.
fn pencil(linear: &Linearised, matrices: &Matrices) -> Pencil {
    let entries: usize = linear.rows.iter().chain(&linear.rates).map(Vec::len).sum();
    let mut list = Vec::new();
    let by_matrix = matrices.a.count() <= entries;
    let (size, first) = match by_matrix {
        true => (linear.states.len(), 0),
        false => (linear.first_input(), linear.first_state()),
    };
    let mut add = |row: usize, column: u32, value: f64| {
        list.push(Entry {
            row: row as u32,
            column,
            constant: value,
            slope: 0.0,
        });
    };
    if by_matrix {
        (matrices.a.entries()).for_each(|(row, column, value)| add(row, column as u32, -value));
    } else {
        let rates = linear.rates.iter().map(|row| (row, -1.0));
        let all = linear.rows.iter().map(|row| (row, 1.0)).chain(rates);
        for (at, (row, sign)) in all.enumerate() {
            for &(column, value) in row.iter().filter(|&&(column, _)| (column as usize) < size) {
                add(at, column, sign * value);
            }
        }
    }
    list.extend((first..size).map(|at| Entry {
        row: at as u32,
        column: at as u32,
        constant: 0.0,
        slope: 1.0,
    }));
    Pencil::new(size, &list)
}

const TOLERANCE: f64 = 1e-12;
const ROUNDS: usize = 300;

/// Shift and invert. Fewer than wanted if the iteration does not converge.
fn near(linear: &Linearised, matrices: &Matrices, point: c64, count: usize) -> Option<Vec<Pole>> {
    let mut pencil = pencil(linear, matrices);
    let shift = shifted(&mut pencil, point, matrices)?;
    let mut found = around(&pencil, matrices.a.rows.len(), shift, (count, ROUNDS));
    for pole in &mut found {
        pole.left = left(&mut pencil, pole, matrices.a.rows.len());
    }
    mark_multiple(&mut found);
    Some(found)
}

/// Factors at a point, or beside it where a pole lies on it.
fn shifted(pencil: &mut Pencil, point: c64, matrices: &Matrices) -> Option<c64> {
    let scale = (matrices.a.entries())
        .map(|(_, _, value)| value.abs())
        .fold(0.0, f64::max);
    let scale = point.norm().max(1e-6 * scale);
    for step in [0.0, 1e-7, 1e-5, 1e-3] {
        let shift = point + c64::new(step * scale, 0.0);
        let mut probe = vec![c64::new(1.0, 0.0); pencil.size()];
        if pencil.factor(shift) && pencil.solve(&mut probe) {
            let most = probe.iter().map(|value| value.norm()).fold(0.0, f64::max);
            if most * scale < 1e14 {
                return Some(shift);
            }
        }
    }
    None
}

fn around(
    pencil: &Pencil,
    states: usize,
    shift: c64,
    (count, rounds): (usize, usize),
) -> Vec<Pole> {
    let first = pencil.size() - states;
    let mut work = vec![c64::new(0.0, 0.0); pencil.size()];
    let mut apply = |vector: &mut [c64]| {
        work.fill(c64::new(0.0, 0.0));
        work[first..].copy_from_slice(vector);
        let solved = pencil.solve(&mut work);
        vector.copy_from_slice(&work[first..]);
        solved
    };
    (largest(states, count, (TOLERANCE, rounds), &mut apply).into_iter())
        .map(|found| {
            let mut value = shift - 1.0 / found.value;
            if shift.im == 0.0 && value.im.abs() <= 1e-12 * value.norm() {
                value.im = 0.0;
            }
            Pole {
                value,
                right: found.vector,
                left: Vec::new(),
                multiple: false,
            }
        })
        .collect()
}

/// The left vector, by inverse iteration with the transposed equations, so that its product with the right one is 1.
fn left(pencil: &mut Pencil, pole: &Pole, states: usize) -> Vec<c64> {
    let first = pencil.size() - states;
    let beside = pole.value * c64::new(1.0 + 1e-10, 1e-10);
    let beside = if beside.norm() == 0.0 {
        c64::new(1e-10, 0.0)
    } else {
        beside
    };
    if !pencil.factor(beside) {
        return Vec::new();
    }
    let mut work = vec![c64::new(0.0, 0.0); pencil.size()];
    for (to, from) in work[first..].iter_mut().zip(&pole.right) {
        *to = from.conj();
    }
    for _ in 0..3 {
        work[..first].fill(c64::new(0.0, 0.0));
        if !pencil.solve_transposed(&mut work) {
            return Vec::new();
        }
        let most = work[first..]
            .iter()
            .map(|value| value.norm())
            .fold(0.0, f64::max);
        work.iter_mut().for_each(|value| *value /= most);
    }
    let product: c64 = work[first..]
        .iter()
        .zip(&pole.right)
        .map(|(w, v)| w * v)
        .sum();
    work[first..].iter().map(|value| value / product).collect()
}

/// Poles near points along the imaginary axis, from zero to the largest that A can have; of these the rightmost. What is far
/// from all of these points and to the right is missed.
fn rightmost(linear: &Linearised, matrices: &Matrices, count: usize) -> Option<Vec<Pole>> {
    const SHIFTS: usize = 12;
    const BLUR: f64 = 1e-9;
    const FEW_ROUNDS: usize = 6;
    let rows = matrices.a.rows.iter();
    let most = rows
        .map(|row| row.iter().map(|(_, value)| value.abs()).sum::<f64>())
        .fold(0.0, f64::max);
    let mut pencil = pencil(linear, matrices);
    let mut found: Vec<Pole> = Vec::new();
    for step in 0..=SHIFTS {
        check();
        let height = match step {
            0 => 0.0,
            _ => most * 10_f64.powf(-0.5 * (step - 1) as f64),
        };
        let Some(shift) = shifted(&mut pencil, c64::new(0.0, height), matrices) else {
            continue;
        };
        // Far from all poles they look alike: what does not show soon is found from nearer by.
        let rounds = if step == 0 { ROUNDS } else { FEW_ROUNDS };
        for pole in around(&pencil, matrices.a.rows.len(), shift, (count + 2, rounds)) {
            // Each pole has its conjugate.
            // A pole is known to a part of its distance from the point.
            let blur = BLUR * (pole.value - shift).norm();
            let mut own = pole.value;
            if own.im.abs() <= blur {
                own.im = 0.0;
            }
            for value in [own, own.conj()] {
                let known =
                    |known: &Pole| (known.value - value).norm() <= 1e-8 * value.norm() + blur;
                if found.iter().any(known) {
                    continue;
                }
                let conjugated = value != own;
                let right = pole
                    .right
                    .iter()
                    .map(|v| if conjugated { v.conj() } else { *v });
                found.push(Pole {
                    value,
                    right: right.collect(),
                    ..pole.clone()
                });
            }
        }
    }
    found.sort_by(|a, b| {
        b.value
            .re
            .total_cmp(&a.value.re)
            .then(b.value.im.total_cmp(&a.value.im))
    });
    whole_pairs(&mut found, count);
    for pole in &mut found {
        pole.left = left(&mut pencil, pole, matrices.a.rows.len());
    }
    mark_multiple(&mut found);
    Some(found)
}
