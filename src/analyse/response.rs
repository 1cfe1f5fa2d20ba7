//! The frequency response from an input to an output.
//!
//! Before: linearised equations. After: H(s) at any s, by one sparse complex solve. The equations are solved as they are,
//! `s x` in place of the rates and `s u` in place of derivatives of inputs, unless A has fewer entries than they have.

use faer::c64;

use super::linearised::{Linearised, Row};
use super::matrices::Matrices;
use crate::numeric::pencil::{Entry, Pencil};

/// H(s) of one input and one output.
#[derive(Debug)]
pub struct Response {
    pencil: Pencil,
    /// The columns of the input and its derivatives: by order, rows with their entries.
    right: Vec<Row>,
    /// The output: by unknowns of the pencil.
    output: Row,
    /// And by the input and its derivatives.
    direct: Vec<f64>,
    work: Vec<c64>,
}

impl Response {
    pub fn new(linear: &Linearised, matrices: &Matrices, input: usize, output: usize) -> Response {
        let entries: usize = linear.rows.iter().chain(&linear.rates).map(Vec::len).sum();
        match matrices.a.count() <= entries {
            true => Response::of_matrices(matrices, input, output),
            false => Response::of_equations(linear, input, output),
        }
    }

    /// (s - A) x = B u + s B1 u + ...
    pub fn of_matrices(matrices: &Matrices, input: usize, output: usize) -> Response {
        let size = matrices.a.rows.len();
        let mut entries: Vec<Entry> = (matrices.a.entries())
            .map(|(row, column, value)| entry((row as u32, column as u32), -value, 0.0))
            .collect();
        entries.extend((0..size as u32).map(|at| entry((at, at), 0.0, 1.0)));
        let right = (matrices.b.iter())
            .map(|b| {
                let rows = 0..size;
                rows.map(|row| (row as u32, b.get(row, input)))
                    .filter(|&(_, value)| value != 0.0)
                    .collect()
            })
            .collect();
        Response {
            pencil: Pencil::new(size, &entries),
            right,
            output: matrices.c.rows[output].clone(),
            direct: matrices.d.iter().map(|d| d.get(output, input)).collect(),
            work: vec![c64::new(0.0, 0.0); size],
        }
    }

    /// The equations, and s x - x' = 0 for each state.
    pub fn of_equations(linear: &Linearised, input: usize, output: usize) -> Response {
        let (count, size) = (linear.first_state(), linear.first_input());
        let inputs = linear.inputs.len();
        let orders = usize::from(linear.orders) + 1;
        let mut entries = Vec::new();
        let mut right = vec![Row::new(); orders];
        let mut place = |row: usize, of: &Row, sign: f64, right: &mut Vec<Row>| {
            for &(column, value) in of {
                match (column as usize).checked_sub(size) {
                    None => entries.push(entry((row as u32, column), sign * value, 0.0)),
                    Some(at) if at % inputs == input => {
                        right[at / inputs].push((row as u32, -sign * value));
                    }
                    Some(_) => {}
                }
            }
        };
        for (row, of) in linear.rows.iter().enumerate() {
            place(row, of, 1.0, &mut right);
        }
        for (at, of) in linear.rates.iter().enumerate() {
            place(count + at, of, -1.0, &mut right);
        }
        for at in count as u32..size as u32 {
            entries.push(entry((at, at), 0.0, 1.0));
        }
        let mut direct = vec![0.0; orders];
        let mut by = Row::new();
        for &(column, value) in &linear.results[output] {
            match (column as usize).checked_sub(size) {
                None => by.push((column, value)),
                Some(at) if at % inputs == input => direct[at / inputs] += value,
                Some(_) => {}
            }
        }
        Response {
            pencil: Pencil::new(size, &entries),
            right,
            output: by,
            direct,
            work: vec![c64::new(0.0, 0.0); size],
        }
    }

    /// `None` at a pole.
    pub fn at(&mut self, s: c64) -> Option<c64> {
        if !self.pencil.factor(s) {
            return None;
        }
        self.work.fill(c64::new(0.0, 0.0));
        let mut power = c64::new(1.0, 0.0);
        let mut value = c64::new(0.0, 0.0);
        for (right, &direct) in self.right.iter().zip(&self.direct) {
            for &(row, entry) in right {
                self.work[row as usize] += power * entry;
            }
            value += power * direct;
            power *= s;
        }
        if !self.pencil.solve(&mut self.work) {
            return None;
        }
        for &(column, factor) in &self.output {
            value += self.work[column as usize] * factor;
        }
        (value.re.is_finite() && value.im.is_finite()).then_some(value)
    }

    /// At a frequency in Hz.
    pub fn at_frequency(&mut self, frequency: f64) -> Option<c64> {
        self.at(c64::new(0.0, 2.0 * std::f64::consts::PI * frequency))
    }
}

fn entry((row, column): (u32, u32), constant: f64, slope: f64) -> Entry {
    Entry {
        row,
        column,
        constant,
        slope,
    }
}
