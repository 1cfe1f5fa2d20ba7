//! A, B, C and D: x' = A x + B u + B1 u' + ..., y = C x + D u + D1 u' + ...
//!
//! Before: linearised equations in the order of their blocks. After: the matrices, by rows. Block by block the unknowns become
//! rows in the states and inputs: one equation is divided by its own coefficient; a loop is factored once and solved for each
//! state and input that it depends on. What does not depend on a state has no entry, so large models stay sparse.

use super::linearised::{Linearised, Row};
use crate::base::cancel::glance;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::numeric::lu::Lu;
use crate::numeric::numbered;

/// By rows; columns ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sparse {
    pub columns: usize,
    pub rows: Vec<Row>,
}

impl Sparse {
    fn new(rows: usize, columns: usize) -> Sparse {
        Sparse {
            columns,
            rows: vec![Row::new(); rows],
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(row, of)| of.iter().map(move |&(at, value)| (row, at as usize, value)))
    }

    pub fn get(&self, row: usize, column: usize) -> f64 {
        let of = &self.rows[row];
        let found = of.binary_search_by_key(&(column as u32), |&(at, _)| at);
        found.map_or(0.0, |at| of[at].1)
    }

    pub fn is_zero(&self) -> bool {
        self.rows.iter().all(Row::is_empty)
    }

    pub fn count(&self) -> usize {
        self.rows.iter().map(Row::len).sum()
    }
}

/// The matrices at a point. `b[k]` and `d[k]` belong to the k-th derivative of the inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    pub a: Sparse,
    pub b: Vec<Sparse>,
    pub c: Sparse,
    pub d: Vec<Sparse>,
}

impl Matrices {
    /// The highest derivative of an input that acts on a state or an output.
    pub fn orders(&self) -> usize {
        let acts = |order: &usize| !self.b[*order].is_zero() || !self.d[*order].is_zero();
        (0..self.b.len()).rev().find(acts).unwrap_or(0)
    }
}

/// A sum of rows, in one place for each column.
struct Sum {
    values: Vec<f64>,
    used: Vec<bool>,
    columns: Vec<u32>,
}

impl Sum {
    fn new(columns: usize) -> Sum {
        Sum {
            values: vec![0.0; columns],
            used: vec![false; columns],
            columns: Vec::new(),
        }
    }

    fn add(&mut self, column: u32, value: f64) {
        let at = column as usize;
        if !self.used[at] {
            self.used[at] = true;
            self.columns.push(column);
        }
        self.values[at] += value;
    }

    /// Takes the sum, multiplied by a factor.
    fn take(&mut self, factor: f64) -> Row {
        self.columns.sort_unstable();
        let mut row = Row::with_capacity(self.columns.len());
        for column in self.columns.drain(..) {
            let at = column as usize;
            let value = factor * self.values[at];
            (self.values[at], self.used[at]) = (0.0, false);
            if value != 0.0 {
                row.push((column, value));
            }
        }
        row
    }
}

/// Computes them; an error where the equations do not determine their unknowns at the point.
pub fn matrices(linear: &Linearised) -> Result<Matrices, Box<Diagnostic>> {
    let solution = unknowns(linear)?;
    let (nx, nu, ny) = (
        linear.states.len(),
        linear.inputs.len(),
        linear.outputs.len(),
    );
    let orders = usize::from(linear.orders) + 1;
    let mut sum = Sum::new(nx + orders * nu);
    let mut found = Matrices {
        a: Sparse::new(nx, nx),
        b: vec![Sparse::new(nx, nu); orders],
        c: Sparse::new(ny, nx),
        d: vec![Sparse::new(ny, nu); orders],
    };
    let first = linear.first_state() as u32;
    let all = (linear.rates.iter().map(|row| (row, true)))
        .chain(linear.results.iter().map(|row| (row, false)));
    for (at, (row, is_rate)) in all.enumerate() {
        glance();
        for &(column, factor) in row {
            match solution.get(column as usize) {
                Some(of) => of
                    .iter()
                    .for_each(|&(to, value)| sum.add(to, factor * value)),
                None => sum.add(column - first, factor),
            }
        }
        let at = if is_rate { at } else { at - nx };
        let (by_states, by_inputs) = match is_rate {
            true => (&mut found.a, &mut found.b),
            false => (&mut found.c, &mut found.d),
        };
        for (column, value) in sum.take(1.0) {
            match (column as usize).checked_sub(nx) {
                None => by_states.rows[at].push((column, value)),
                Some(input) => by_inputs[input / nu].rows[at].push(((input % nu) as u32, value)),
            }
        }
    }
    Ok(found)
}

/// The unknowns as rows in states (first), inputs and their derivatives.
fn unknowns(linear: &Linearised) -> Result<Vec<Row>, Box<Diagnostic>> {
    let count = linear.unknowns.len();
    let width = linear.states.len() + (usize::from(linear.orders) + 1) * linear.inputs.len();
    let mut solution: Vec<Row> = Vec::with_capacity(count);
    let mut sum = Sum::new(width);
    let mut begin = 0;
    for &size in &linear.blocks {
        glance();
        let own = begin..begin + size;
        let known = |row: &Row, solution: &[Row], sum: &mut Sum| {
            for &(column, factor) in row {
                let at = column as usize;
                if at < begin {
                    for &(to, value) in &solution[at] {
                        sum.add(to, factor * value);
                    }
                } else if at >= count {
                    sum.add(column - count as u32, factor);
                }
            }
        };
        if size == 1 {
            let row = &linear.rows[begin];
            let of = row.iter().find(|&&(column, _)| column as usize == begin);
            let Some(&(_, divisor)) = of else {
                return Err(singular(linear, begin));
            };
            known(row, &solution, &mut sum);
            solution.push(sum.take(-1.0 / divisor));
        } else {
            let right: Vec<Row> = (own.clone())
                .map(|at| {
                    known(&linear.rows[at], &solution, &mut sum);
                    sum.take(-1.0)
                })
                .collect();
            let of = solved_loop(linear, own.clone(), &right);
            solution.extend(of.ok_or_else(|| singular(linear, begin))?);
        }
        begin += size;
    }
    Ok(solution)
}

/// The unknowns of a loop; `None` if its matrix is singular.
fn solved_loop(
    linear: &Linearised,
    own: std::ops::Range<usize>,
    right: &[Row],
) -> Option<Vec<Row>> {
    let size = own.len();
    let mut places = Vec::new();
    let mut values = Vec::new();
    for at in own.clone() {
        for &(column, value) in &linear.rows[at] {
            if own.contains(&(column as usize)) {
                places.push(((at - own.start) as u32, column - own.start as u32));
                values.push(value);
            }
        }
    }
    let matrix = numbered(size, places).map(|&at| values[at]);
    let mut lu = Lu::new(matrix.structure_view());
    let place: Vec<u32> = (0..size as u32).collect();
    if !lu.factor(matrix.view(), &place) {
        return None;
    }
    let mut columns: Vec<(u32, usize, f64)> = (right.iter().enumerate())
        .flat_map(|(row, of)| of.iter().map(move |&(column, value)| (column, row, value)))
        .collect();
    columns.sort_unstable_by_key(|&(column, row, _)| (column, row));
    let mut solution = vec![Row::new(); size];
    let mut by = vec![0.0; size];
    for of in columns.chunk_by(|a, b| a.0 == b.0) {
        glance();
        by.fill(0.0);
        for &(_, row, value) in of {
            by[row] = value;
        }
        lu.solve(&mut by);
        for (row, &value) in by.iter().enumerate() {
            if !value.is_finite() {
                return None;
            }
            if value != 0.0 {
                solution[row].push((of[0].0, value));
            }
        }
    }
    Some(solution)
}

fn singular(linear: &Linearised, at: usize) -> Box<Diagnostic> {
    let flat = linear.flat();
    let name = linear.name(linear.unknowns[at]);
    let id = linear.equations[at];
    let message =
        format!("at this point the equations do not determine `{name}`: a coefficient is zero");
    let text = flat.equation_text(id);
    Box::new(
        Diagnostic::new(Code::NoSlope, message)
            .at(flat.equations[id.index()].span, "here")
            .note(format!("in `{text}`"))
            .hint("linearise at another point: give other values by `--at`, or `--at-time`"),
    )
}
