//! Eigenvalues of dense real matrices.
//!
//! The strongly connected parts of the matrix are taken one by one, so that what does not act on each other is not mixed by
//! rounding: a chain of integrators has exact zeros. Each part is balanced (Parlett and Reinsch 1969), so that units do not
//! decide on accuracy; the rest is faer's.

use faer::{Mat, c64};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

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
    /// Empty where the right vectors do not span the space: some eigenvalue has too few of them.
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
                found.extend(dense(&part).eigenvalues().ok()?);
            }
        }
    }
    Some(found)
}

/// Of two rows, without cancellation.
fn of_two(part: &Square) -> [c64; 2] {
    let [a, b, c, d] = [part.values[0], part.values[1], part.values[2], part.values[3]];
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
    let far = if middle < 0.0 { middle - root } else { middle + root };
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
        for at in 0..size {
            let others = || (0..size).filter(move |&other| other != at);
            let mut column: f64 = others().map(|row| matrix.get(row, at).abs()).sum();
            let row: f64 = others().map(|column| matrix.get(at, column).abs()).sum();
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
                scales[at] *= factor;
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
        .map(|&of| (0..size).map(|row| vectors[(row, of)] * scales[row]).collect())
        .collect();
    let whole: Mat<c64> = Mat::from_fn(size, size, |row, column| vectors[(row, order[column])]);
    let inverse = {
        use faer::linalg::solvers::DenseSolveCore;
        whole.partial_piv_lu().inverse()
    };
    let mut left: Vec<Vec<c64>> = (0..size)
        .map(|of| (0..size).map(|column| inverse[(of, column)] / scales[column]).collect())
        .collect();
    let finite = |value: &c64| value.re.is_finite() && value.im.is_finite();
    if !left.iter().flatten().all(finite) {
        left.clear();
    }
    Some(Eigen {
        values,
        right,
        left,
    })
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
        assert!(values.iter().all(|value| value.re == 0.0 && value.im == 0.0));
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
