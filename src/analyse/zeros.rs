//! Zeros and gain of the transfer function from one input to one output.
//!
//! H(s) = k (s - z1)(s - z2).../det(s - A). The output is held at zero: while the input does not act on it at once, the output
//! is a constraint of the states; it is solved for one of them, and its derivative is the next output. When the input acts at
//! once it follows from the constraint, and what is left of A has the zeros as eigenvalues (Silverman 1969; the staircase of
//! Emami-Naeini and Van Dooren 1982 with eliminations in place of rotations: what has no entry keeps none). Whether the input
//! acts is decided by bounds on rounding errors, not by a size.
//!
//! Derivatives of the input are states of a chain of integrators: H(s)/s^k has the same zeros and gain.

use faer::c64;

use super::matrices::Matrices;
use crate::numeric::eigen::{Square, balance, eigenvalues};
use crate::numeric::zero::UNIT;

#[derive(Clone, Debug, PartialEq)]
pub struct Zeros {
    /// The factor k; 0 if the input does not act on the output.
    pub gain: f64,
    pub zeros: Vec<c64>,
}

/// A number with a bound on its error.
#[derive(Clone, Copy, Debug, Default)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    fn exact(value: f64) -> Bounded {
        Bounded { value, error: 0.0 }
    }

    fn is_zero(self) -> bool {
        /// Bounds are of first order.
        const MULTIPLE: f64 = 16.0;
        self.value.abs() <= MULTIPLE * self.error
    }

    fn product(self, other: Bounded) -> Bounded {
        let value = self.value * other.value;
        Bounded {
            value,
            error: self.value.abs() * other.error
                + other.value.abs() * self.error
                + UNIT * value.abs(),
        }
    }

    fn quotient(self, other: Bounded) -> Bounded {
        let value = self.value / other.value;
        Bounded {
            value,
            error: (self.error + value.abs() * other.error) / other.value.abs()
                + UNIT * value.abs(),
        }
    }

    fn less(self, other: Bounded) -> Bounded {
        let value = self.value - other.value;
        Bounded {
            value,
            error: self.error + other.error + UNIT * value.abs(),
        }
    }

    fn plus(self, other: Bounded) -> Bounded {
        let value = self.value + other.value;
        Bounded {
            value,
            error: self.error + other.error + UNIT * value.abs(),
        }
    }
}

/// `None` where the eigenvalues cannot be computed.
pub fn zeros(matrices: &Matrices, input: usize, output: usize) -> Option<Zeros> {
    let n = matrices.a.rows.len();
    let orders = matrices.orders();
    let size = n + orders;
    // In balanced coordinates pivots are chosen as units do not matter.
    let mut whole = Square::zeros(n);
    matrices
        .a
        .entries()
        .for_each(|(row, column, value)| whole.set(row, column, value));
    let scales = balance(&mut whole);
    let mut a = vec![Bounded::default(); size * size];
    for row in 0..n {
        for column in 0..n {
            a[row * size + column] = Bounded::exact(whole.get(row, column));
        }
        for order in 0..orders {
            let value = matrices.b[order].get(row, input) / scales[row];
            a[row * size + n + order] = Bounded::exact(value);
        }
    }
    for order in 1..orders {
        a[(n + order - 1) * size + n + order] = Bounded::exact(1.0);
    }
    let mut b: Vec<Bounded> = (0..n)
        .map(|row| Bounded::exact(matrices.b[orders].get(row, input) / scales[row]))
        .collect();
    b.extend((0..orders).map(|at| Bounded::exact(f64::from(u8::from(at + 1 == orders)))));
    let mut c: Vec<Bounded> = (0..n)
        .map(|column| Bounded::exact(matrices.c.get(output, column) * scales[column]))
        .collect();
    c.extend((0..orders).map(|order| Bounded::exact(matrices.d[order].get(output, input))));
    let mut d = Bounded::exact(matrices.d[orders].get(output, input));
    let mut rest: Vec<usize> = (0..size).collect();
    loop {
        if !d.is_zero() {
            break;
        }
        // The largest beside what it is multiplied with: nothing else is known of the scale of a state.
        let pivot = (0..rest.len())
            .filter(|&at| !c[rest[at]].is_zero())
            .max_by(|&x, &y| {
                (c[rest[x]].value.abs())
                    .total_cmp(&c[rest[y]].value.abs())
                    .then(y.cmp(&x))
            });
        let Some(pivot) = pivot else {
            return Some(Zeros {
                gain: 0.0,
                zeros: Vec::new(),
            });
        };
        let gone = rest.remove(pivot);
        let factors: Vec<(usize, Bounded)> = (rest.iter())
            .filter(|&&at| !c[at].is_zero())
            .map(|&at| (at, c[at].quotient(c[gone])))
            .collect();
        // The derivative of the output, before a state is put in its place.
        let mut next = vec![Bounded::default(); size];
        d = Bounded::default();
        let used = factors.iter().map(|&(at, _)| at).chain([gone]);
        for at in used {
            for &column in rest.iter().chain([&gone]) {
                let entry = a[at * size + column];
                if entry.value != 0.0 {
                    next[column] = next[column].plus(c[at].product(entry));
                }
            }
            if b[at].value != 0.0 {
                d = d.plus(c[at].product(b[at]));
            }
        }
        for &(column, factor) in &factors {
            for &row in &rest {
                let entry = a[row * size + gone];
                if entry.value != 0.0 {
                    let of = &mut a[row * size + column];
                    *of = of.less(entry.product(factor));
                }
            }
            if next[gone].value != 0.0 {
                next[column] = next[column].less(next[gone].product(factor));
            }
        }
        c = next;
    }
    let mut left = Square::zeros(rest.len());
    for (row, &from) in rest.iter().enumerate() {
        for (column, &at) in rest.iter().enumerate() {
            let mut entry = a[from * size + at];
            if b[from].value != 0.0 && c[at].value != 0.0 {
                entry = entry.less(b[from].product(c[at]).quotient(d));
            }
            let value = if entry.is_zero() { 0.0 } else { entry.value };
            left.set(row, column, value);
        }
    }
    Some(Zeros {
        gain: d.value,
        zeros: eigenvalues(&left)?,
    })
}

/// Which zeros are poles as well: these do not show in the transfer function.
pub fn cancelled(zeros: &[c64], poles: &[c64]) -> Vec<bool> {
    /// Relative to the pole; double ones are known to half of the digits.
    const SAME: f64 = 1e-7;
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let mut free: Vec<c64> = poles.to_vec();
    (zeros.iter())
        .map(|zero| {
            let distance = |pole: &c64| (pole - zero).norm();
            let nearest =
                (0..free.len()).min_by(|&a, &b| distance(&free[a]).total_cmp(&distance(&free[b])));
            let Some(at) = nearest else { return false };
            let same = distance(&free[at]) <= SAME * free[at].norm() + 1e-13 * largest;
            if same {
                free.swap_remove(at);
            }
            same
        })
        .collect()
}
