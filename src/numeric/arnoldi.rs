//! A few eigenvalues of a large matrix: those of an operator that are largest, by the Krylov-Schur method (Stewart 2001).
//!
//! The operator is given as a function; shift-and-invert, (A - s)^-1, makes the eigenvalues near s the largest. The basis grows
//! to a number of vectors, its Schur form is put in order, the wanted part is kept and grows again, until the residuals of all
//! wanted values are small.

use faer::c64;
use nalgebra::{Complex, DMatrix, Schur};

use crate::base::cancel::check;

/// An eigenvalue of the operator and its vector.
#[derive(Clone, Debug)]
pub struct Found {
    pub value: c64,
    pub vector: Vec<c64>,
}

/// The largest eigenvalues of an operator of a size, `count` of them, to a relative residual; fewer where the iteration does not
/// converge in so many rounds. `apply` replaces a vector by its image, and says whether that could be done.
pub fn largest(
    size: usize,
    count: usize,
    (tolerance, rounds): (f64, usize),
    apply: &mut dyn FnMut(&mut [c64]) -> bool,
) -> Vec<Found> {
    let count = count.min(size);
    let most = (2 * count + 12).min(size);
    // Kept beyond those that are wanted: neighbours that converge slowly hold others up less.
    let mut basis: Vec<Vec<c64>> = vec![first(size)];
    let mut matrix: DMatrix<Complex<f64>> = DMatrix::zeros(most + 1, most);
    let mut kept = 0;
    let mut best = Vec::new();
    for _ in 0..rounds {
        check();
        let mut width = most;
        for at in kept..most {
            let mut next = basis[at].clone();
            if !apply(&mut next) {
                return Vec::new();
            }
            let before = norm(&next);
            for _ in 0..2 {
                for (row, vector) in basis.iter().enumerate() {
                    let along = product(vector, &next);
                    matrix[(row, at)] += Complex::new(along.re, along.im);
                    for (to, from) in next.iter_mut().zip(vector) {
                        *to -= along * from;
                    }
                }
            }
            let length = norm(&next);
            if length <= 1e-14 * before || basis.len() == size {
                // The space is invariant: its values are exact.
                width = at + 1;
                break;
            }
            matrix[(at + 1, at)] += Complex::new(length, 0.0);
            next.iter_mut().for_each(|value| *value /= length);
            basis.push(next);
        }
        let invariant = basis.len() <= width;
        let square = matrix.view((0, 0), (width, width)).into_owned();
        let Some(schur) = Schur::try_new(square, 1e-15, 10_000) else {
            return best;
        };
        let (mut q, mut t) = schur.unpack();
        order(&mut q, &mut t);
        // With vectors kept, the last row of the matrix is full.
        let last: Vec<Complex<f64>> = match invariant {
            true => vec![Complex::new(0.0, 0.0); width],
            false => (0..width)
                .map(|at| (0..width).map(|k| matrix[(width, k)] * q[(k, at)]).sum())
                .collect(),
        };
        let good = (0..count.min(width))
            .take_while(|&at| last[at].norm() <= tolerance * t[(at, at)].norm())
            .count();
        let wanted = count.min(width);
        if good >= wanted || invariant {
            best = vectors(&basis, &q, &t, wanted);
            return best;
        }
        if good > best.len() {
            best = vectors(&basis, &q, &t, good);
        }
        // What is kept: the wanted values and some more.
        let keep = (wanted + (most - wanted) / 2).min(width - 1);
        let mut rotated: Vec<Vec<c64>> = Vec::with_capacity(most + 1);
        for at in 0..keep {
            rotated.push(combined(&basis[..width], |row| q[(row, at)]));
        }
        rotated.push(basis.pop().unwrap_or_default());
        basis = rotated;
        matrix.fill(Complex::new(0.0, 0.0));
        for column in 0..keep {
            for row in 0..=column {
                matrix[(row, column)] = t[(row, column)];
            }
            matrix[(keep, column)] = last[column];
        }
        kept = keep;
    }
    best
}

/// Irregular numbers, so that no eigenvector is orthogonal to them.
fn first(size: usize) -> Vec<c64> {
    let mut state = 1_u64;
    let mut next = || {
        state = (state.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut vector: Vec<c64> = (0..size).map(|_| c64::new(next(), 0.0)).collect();
    let length = norm(&vector);
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

fn norm(vector: &[c64]) -> f64 {
    (vector.iter().map(|value| value.norm_sqr()).sum::<f64>()).sqrt()
}

/// With the first conjugated.
fn product(a: &[c64], b: &[c64]) -> c64 {
    a.iter().zip(b).map(|(a, b)| a.conj() * b).sum()
}

fn combined(basis: &[Vec<c64>], factor: impl Fn(usize) -> Complex<f64>) -> Vec<c64> {
    let mut sum = vec![c64::new(0.0, 0.0); basis.first().map_or(0, Vec::len)];
    for (row, vector) in basis.iter().enumerate() {
        let by = factor(row);
        let by = c64::new(by.re, by.im);
        for (to, from) in sum.iter_mut().zip(vector) {
            *to += by * from;
        }
    }
    sum
}

/// Eigenvectors of the first values of the triangle, in the space of the basis.
fn vectors(
    basis: &[Vec<c64>],
    q: &DMatrix<Complex<f64>>,
    t: &DMatrix<Complex<f64>>,
    count: usize,
) -> Vec<Found> {
    let width = t.ncols();
    (0..count)
        .map(|at| {
            let value = t[(at, at)];
            let mut of = vec![Complex::new(0.0, 0.0); width];
            of[at] = Complex::new(1.0, 0.0);
            for row in (0..at).rev() {
                let sum: Complex<f64> = (row + 1..=at).map(|k| t[(row, k)] * of[k]).sum();
                let mut below = value - t[(row, row)];
                if below.norm() < 1e-14 * value.norm() {
                    below = Complex::new(1e-14 * value.norm(), 0.0);
                }
                of[row] = sum / below;
            }
            let whole: Vec<Complex<f64>> = (0..width)
                .map(|row| (0..=at).map(|k| q[(row, k)] * of[k]).sum())
                .collect();
            Found {
                value: c64::new(value.re, value.im),
                vector: combined(&basis[..width], |row| whole[row]),
            }
        })
        .collect()
}

/// Puts the values of a triangle in the order of their size, the largest first, by exchanging neighbours.
fn order(q: &mut DMatrix<Complex<f64>>, t: &mut DMatrix<Complex<f64>>) {
    let size = t.ncols();
    for to in 0..size {
        let largest = (to..size).max_by(|&a, &b| {
            (t[(a, a)].norm())
                .total_cmp(&t[(b, b)].norm())
                .then(b.cmp(&a))
        });
        for at in (to..largest.unwrap_or(to)).rev() {
            exchange(q, t, at);
        }
    }
}

/// Exchanges two neighbours on the diagonal by a rotation (Golub and Van Loan, 7.6.2).
fn exchange(q: &mut DMatrix<Complex<f64>>, t: &mut DMatrix<Complex<f64>>, at: usize) {
    let (a, b) = (t[(at, at)], t[(at + 1, at + 1)]);
    let (x, y) = (t[(at, at + 1)], b - a);
    let length = x.norm().hypot(y.norm());
    if length == 0.0 {
        return;
    }
    let (c, s) = (x / length, y / length);
    // The first column of the rotation is the eigenvector of the second value.
    for row in 0..t.nrows().min(at + 2) {
        let (u, v) = (t[(row, at)], t[(row, at + 1)]);
        t[(row, at)] = u * c + v * s;
        t[(row, at + 1)] = v * c.conj() - u * s.conj();
    }
    for column in at..t.ncols() {
        let (u, v) = (t[(at, column)], t[(at + 1, column)]);
        t[(at, column)] = u * c.conj() + v * s.conj();
        t[(at + 1, column)] = v * c - u * s;
    }
    t[(at + 1, at)] = Complex::new(0.0, 0.0);
    t[(at, at)] = b;
    t[(at + 1, at + 1)] = a;
    for row in 0..q.nrows() {
        let (u, v) = (q[(row, at)], q[(row, at + 1)]);
        q[(row, at)] = u * c + v * s;
        q[(row, at + 1)] = v * c.conj() - u * s.conj();
    }
}

#[cfg(test)]
mod tests {
    use super::largest;
    use faer::c64;

    /// The inverse of a tridiagonal matrix with -2 on its diagonal and 1 beside it, whose eigenvalues are known.
    #[test]
    fn poles_of_a_chain_near_zero() {
        let size = 400;
        let mut apply = |vector: &mut [c64]| {
            let (mut upper, mut right) = (vec![0.0; size], vector.to_vec());
            let mut below = -2.0;
            upper[0] = 1.0 / below;
            right[0] /= below;
            for at in 1..size {
                below = -2.0 - upper[at - 1];
                upper[at] = 1.0 / below;
                let before = right[at - 1];
                right[at] = (right[at] - before) / below;
            }
            for at in (0..size - 1).rev() {
                let after = right[at + 1];
                right[at] -= after * upper[at];
            }
            vector.copy_from_slice(&right);
            true
        };
        let found = largest(size, 6, (1e-12, 100), &mut apply);
        assert_eq!(found.len(), 6);
        for (k, found) in found.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (2 * (size + 1)) as f64;
            let exact = -4.0 * angle.sin() * angle.sin();
            let value = 1.0 / found.value;
            assert!(
                (value.re - exact).abs() < 1e-9 * exact.abs(),
                "{value} {exact}"
            );
        }
    }
}
