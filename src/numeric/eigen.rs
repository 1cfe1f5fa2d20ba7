//! Eigenvalues of dense real matrices.
//!
//! The strongly connected parts of the matrix are taken one by one, so that what does not act on each other is not mixed by
//! rounding: a chain of integrators has exact zeros. Each part is balanced (Parlett and Reinsch 1969), so that units do not
//! decide on accuracy; the rest is faer's.

use faer::{Mat, c64};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::zero::UNIT;

/// A square matrix by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    pub size: usize,
    pub values: Vec<f64>,
}

impl Square {
    pub fn zeros(size: usize) -> Square {
        Square {
            size,
            values: vec![0.0; size * size],
        }
    }

    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] = value;
    }

    /// Rows and columns of a part.
    fn part(&self, of: &[usize]) -> Square {
        let mut part = Square::zeros(of.len());
        for (row, &from) in of.iter().enumerate() {
            for (column, &at) in of.iter().enumerate() {
                part.set(row, column, self.get(from, at));
            }
        }
        part
    }
}

/// Eigenvalues with their right and left eigenvectors: A v = l v, w A = l w (w is not conjugated).
#[derive(Debug)]
pub struct Eigen {
    pub values: Vec<c64>,
    /// Vector by vector.
    pub right: Vec<Vec<c64>>,
    /// The same; each empty where its value is multiple and has too few right vectors.
    pub left: Vec<Vec<c64>>,
}

/// The strongly connected parts, each ascending.
pub fn parts(matrix: &Square) -> Vec<Vec<usize>> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<_> = (0..matrix.size).map(|_| graph.add_node(())).collect();
    for row in 0..matrix.size {
        for column in 0..matrix.size {
            if row != column && matrix.get(row, column) != 0.0 {
                graph.add_edge(nodes[column], nodes[row], ());
            }
        }
    }
    let mut found: Vec<Vec<usize>> = (kosaraju_scc(&graph).into_iter())
        .map(|part| part.into_iter().map(|node| node.index()).collect())
        .collect();
    found.iter_mut().for_each(|part| part.sort_unstable());
    found.sort_unstable();
    found
}

/// All eigenvalues; `None` where an entry is not finite or the iteration does not converge.
pub fn eigenvalues(matrix: &Square) -> Option<Vec<c64>> {
    if matrix.values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut found = Vec::with_capacity(matrix.size);
    for part in parts(matrix) {
        let mut part = matrix.part(&part);
        match part.size {
            1 => found.push(c64::new(part.values[0], 0.0)),
            2 => found.extend(of_two(&part)),
            _ => {
                balance(&mut part);
                let before = part.size;
                let rest = without_zeros(part);
                found.extend(std::iter::repeat_n(c64::new(0.0, 0.0), before - rest.size));
                if rest.size > 0 {
                    found.extend(dense(&rest).eigenvalues().ok()?);
                }
            }
        }
    }
    Some(found)
}

/// Takes eigenvalues that are zero but for rounding out of a matrix: bodies that move freely have two of them, which the
/// iteration would find at the root of the rounding error.
fn without_zeros(mut matrix: Square) -> Square {
    while let Some(vector) = null_vector(&matrix) {
        let size = matrix.size;
        let largest = (0..size).max_by(|&a, &b| vector[a].abs().total_cmp(&vector[b].abs()));
        let Some(gone) = largest.filter(|&at| vector[at] != 0.0) else {
            return matrix;
        };
        // With the vector in place of one coordinate, the first column is zero; what is left is the rest.
        let kept: Vec<usize> = (0..size).filter(|&at| at != gone).collect();
        let mut rest = Square::zeros(size - 1);
        for (row, &from) in kept.iter().enumerate() {
            let factor = vector[from] / vector[gone];
            for (column, &at) in kept.iter().enumerate() {
                let (value, less) = (matrix.get(from, at), matrix.get(gone, at) * factor);
                let difference = value - less;
                let zero = difference.abs() <= BLUR * UNIT * (value.abs() + less.abs());
                rest.set(row, column, if zero { 0.0 } else { difference });
            }
        }
        matrix = rest;
    }
    matrix
}

/// Entries come from a few sums and products: so many units each may be wrong.
const BLUR: f64 = 16.0;

/// A vector that the matrix makes zero but for rounding, by elimination with bounds on errors; `None` if it is regular.
fn null_vector(matrix: &Square) -> Option<Vec<f64>> {
    let size = matrix.size;
    let mut a = matrix.clone();
    let mut errors = matrix.clone();
    errors
        .values
        .iter_mut()
        .for_each(|value| *value = BLUR * UNIT * value.abs());
    let mut rows: Vec<usize> = (0..size).collect();
    let mut columns: Vec<usize> = (0..size).collect();
    for step in 0..size {
        let mut best = (0.0, step, step);
        for (row, of_row) in rows.iter().enumerate().skip(step) {
            for (column, of_column) in columns.iter().enumerate().skip(step) {
                let at = of_row * size + of_column;
                if a.values[at].abs() > errors.values[at] && a.values[at].abs() > best.0 {
                    best = (a.values[at].abs(), row, column);
                }
            }
        }
        if best.0 == 0.0 {
            // The first column that is left has no pivot: it is a sum of those before.
            let mut vector = vec![0.0; size];
            vector[columns[step]] = 1.0;
            for row in (0..step).rev() {
                let known: f64 = (row + 1..=step)
                    .map(|at| a.get(rows[row], columns[at]) * vector[columns[at]])
                    .sum();
                vector[columns[row]] = -known / a.get(rows[row], columns[row]);
            }
            return Some(vector);
        }
        rows.swap(step, best.1);
        columns.swap(step, best.2);
        let pivot = a.get(rows[step], columns[step]);
        for row in step + 1..size {
            let below = a.get(rows[row], columns[step]);
            if below == 0.0 {
                continue;
            }
            let factor = below / pivot;
            let blurred = errors.get(rows[row], columns[step]) / pivot.abs()
                + factor.abs() * errors.get(rows[step], columns[step]) / pivot.abs();
            for &column in &columns[step + 1..] {
                let above = a.get(rows[step], column);
                let at = rows[row] * size + column;
                let less = factor * above;
                a.values[at] -= less;
                errors.values[at] += blurred * above.abs()
                    + factor.abs() * errors.get(rows[step], column)
                    + UNIT * (less.abs() + a.values[at].abs());
            }
            a.set(rows[row], columns[step], 0.0);
        }
    }
    None
}

/// Of two rows, without cancellation.
fn of_two(part: &Square) -> [c64; 2] {
    let [a, b, c, d] = [
        part.values[0],
        part.values[1],
        part.values[2],
        part.values[3],
    ];
    let (middle, half) = (0.5 * (a + d), 0.5 * (a - d));
    // The product could overflow or vanish where its root does not.
    let product = b.abs().sqrt() * c.abs().sqrt();
    let square = half * half + b * c;
    if square < 0.0 {
        let root = match half == 0.0 {
            true => product,
            false => (-square).sqrt(),
        };
        return [c64::new(middle, root), c64::new(middle, -root)];
    }
    let root = match half == 0.0 {
        true => product,
        false => square.sqrt(),
    };
    let far = if middle < 0.0 {
        middle - root
    } else {
        middle + root
    };
    let near = match far == 0.0 {
        true => 0.0,
        false => (a * d - b * c) / far,
    };
    [c64::new(far, 0.0), c64::new(near, 0.0)]
}

fn dense(matrix: &Square) -> Mat<f64> {
    Mat::from_fn(matrix.size, matrix.size, |row, column| {
        matrix.get(row, column)
    })
}

/// Scales rows and columns by powers of two, the same for both; returns the scales: the eigenvectors of the matrix are those of
/// the balanced one times the scales.
pub fn balance(matrix: &mut Square) -> Vec<f64> {
    /// A row and a column are scaled if that makes their sum smaller by this.
    const GAIN: f64 = 0.95;
    const ROUNDS: usize = 100;
    let size = matrix.size;
    let mut scales = vec![1.0; size];
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (at, scale) in scales.iter_mut().enumerate() {
            let others = || (0..size).filter(move |&other| other != at);
            let mut column: f64 = others().map(|row| matrix.get(row, at).abs()).sum();
            let mut row: f64 = others().map(|column| matrix.get(at, column).abs()).sum();
            // What acts one way only is scaled to the size of the entry on the diagonal: else the unit of a state would decide
            // whether vectors are nearly parallel.
            let own = matrix.get(at, at).abs();
            match (column == 0.0, row == 0.0) {
                (true, true) => continue,
                (true, false) => column = own,
                (false, true) => row = own,
                (false, false) => {}
            }
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let (mut factor, sum) = (1.0, column + row);
            while column < row / 2.0 {
                factor *= 2.0;
                column *= 4.0;
            }
            while column >= row * 2.0 {
                factor /= 2.0;
                column /= 4.0;
            }
            if (column + row) / factor < GAIN * sum {
                changed = true;
                *scale *= factor;
                for other in 0..size {
                    matrix.values[at * size + other] /= factor;
                    matrix.values[other * size + at] *= factor;
                }
            }
        }
        if !changed {
            break;
        }
    }
    scales
}

/// Eigenvalues, and vectors that belong to them. The values are those of [`eigenvalues`].
pub fn eigen(matrix: &Square) -> Option<Eigen> {
    let size = matrix.size;
    let values = eigenvalues(matrix)?;
    let mut balanced = matrix.clone();
    let scales = balance(&mut balanced);
    if size == 0 {
        return Some(Eigen {
            values,
            right: Vec::new(),
            left: Vec::new(),
        });
    }
    let of = dense(&balanced).eigen().ok()?;
    let (vectors, known) = (of.U(), of.S().column_vector());
    // The values of parts are more exact; each takes the vector of the nearest.
    let mut free: Vec<usize> = (0..size).collect();
    let mut order = vec![0; size];
    for (to, value) in values.iter().enumerate() {
        let distance = |at: usize| (known[at] - *value).norm();
        let best = (0..free.len()).min_by(|&a, &b| distance(free[a]).total_cmp(&distance(free[b])));
        order[to] = free.swap_remove(best?);
    }
    let right: Vec<Vec<c64>> = (order.iter())
        .map(|&of| {
            (0..size)
                .map(|row| vectors[(row, of)] * scales[row])
                .collect()
        })
        .collect();
    let whole: Mat<c64> = Mat::from_fn(size, size, |row, column| vectors[(row, order[column])]);
    let inverse = {
        use faer::linalg::solvers::DenseSolveCore;
        whole.partial_piv_lu().inverse()
    };
    let mut left: Vec<Vec<c64>> = (0..size)
        .map(|of| {
            (0..size)
                .map(|column| inverse[(of, column)] / scales[column])
                .collect()
        })
        .collect();
    let finite = |value: &c64| value.re.is_finite() && value.im.is_finite();
    if !left.iter().flatten().all(finite) {
        left = left_of_simple(&balanced, &scales, (&values, &right))?;
    }
    Some(Eigen {
        values,
        right,
        left,
    })
}

/// Left vectors where a multiple value has too few right ones: those of the transposed matrix. Empty where the product of left and
/// right vector is zero, that is, for the multiple value itself.
fn left_of_simple(
    balanced: &Square,
    scales: &[f64],
    (values, right): (&[c64], &[Vec<c64>]),
) -> Option<Vec<Vec<c64>>> {
    /// Less than this, beside both vectors, is zero.
    const ZERO: f64 = 1e-7;
    let size = balanced.size;
    let mut transposed = Square::zeros(size);
    for row in 0..size {
        for column in 0..size {
            transposed.set(column, row, balanced.get(row, column));
        }
    }
    let of = dense(&transposed).eigen().ok()?;
    let (vectors, known) = (of.U(), of.S().column_vector());
    let left = values.iter().zip(right).map(|(value, right)| {
        let distance = |&at: &usize| (known[at] - *value).norm();
        let nearest = (0..size).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let vector: Vec<c64> = (0..size)
            .map(|row| vectors[(row, nearest)] / scales[row])
            .collect();
        let product: c64 = vector.iter().zip(right).map(|(w, v)| w * v).sum();
        let size: f64 = vector.iter().zip(right).map(|(w, v)| (w * v).norm()).sum();
        let is_simple = product.norm() > ZERO * size;
        is_simple.then(|| vector.iter().map(|w| w / product).collect())
    });
    Some(left.map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests {
    use super::{Square, eigen, eigenvalues};

    fn square(size: usize, values: &[f64]) -> Square {
        Square {
            size,
            values: values.to_vec(),
        }
    }

    #[test]
    fn chain_of_integrators_has_exact_zeros() {
        let mut chain = Square::zeros(6);
        for at in 0..5 {
            chain.set(at, at + 1, 1.0 + at as f64);
        }
        let values = eigenvalues(&chain).expect("it converges");
        assert!(
            values
                .iter()
                .all(|value| value.re == 0.0 && value.im == 0.0)
        );
    }

    /// Two bodies and a spring between them move freely.
    #[test]
    fn free_bodies_have_exact_zeros() {
        let (k, d) = (3.7, 0.3);
        let (m, n) = (1.3, 0.7);
        let rows = [
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [-k / m, k / m, -d / m, d / m],
            [k / n, -k / n, d / n, -d / n],
        ];
        let values = eigenvalues(&square(4, rows.as_flattened())).expect("it converges");
        let zeros = values.iter().filter(|value| value.norm() == 0.0);
        assert_eq!(zeros.count(), 2, "{values:?}");
    }

    #[test]
    fn units_do_not_decide() {
        // x'' = -1e6 x - 10 x', with x in micrometres.
        let values = eigenvalues(&square(2, &[0.0, 1e6, -1.0, -10.0])).expect("it converges");
        let exact = (1e6_f64 - 25.0).sqrt();
        assert!((values[0].im - exact).abs() < 1e-10 * exact);
        assert_eq!(values[0].re, -5.0);
    }

    #[test]
    fn vectors_belong_to_values() {
        let matrix = square(3, &[-1.0, 2.0, 0.0, -3.0, -1.5, 1e3, 0.1e-3, 0.2, -4.0]);
        let found = eigen(&matrix).expect("it converges");
        for (at, value) in found.values.iter().enumerate() {
            for row in 0..3 {
                let product: faer::c64 = (0..3)
                    .map(|column| found.right[at][column] * matrix.get(row, column))
                    .sum();
                let size = found.right[at].iter().map(|v| v.norm()).fold(0.0, f64::max);
                assert!((product - found.right[at][row] * *value).norm() < 1e-9 * size * 1e3);
                let product: faer::c64 = (0..3)
                    .map(|from| found.left[at][from] * matrix.get(from, row))
                    .sum();
                let size = found.left[at].iter().map(|v| v.norm()).fold(0.0, f64::max);
                assert!((product - found.left[at][row] * *value).norm() < 1e-9 * size * 1e3);
            }
        }
    }
}
