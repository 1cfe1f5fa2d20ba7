//! Sensitivities of poles to parameters, exact.
//!
//! With z the right vector of a pole l, extended by the unknowns, and y the left one, extended by multipliers of the equations:
//!
//! ```text
//! dl/dp = - y' (dF_z/dp) z / (w' v)
//! ```
//!
//! where dF_z/dp is total: the unknowns at the point follow p, and at a steady state the states do so, too. All of that is
//! adjoint: for one pole two or three solves with the transposed equations, whatever the number of parameters.

use faer::c64;
use rustc_hash::FxHashMap;
use sprs::CsMat;

use super::linearised::Linearised;
use super::matrices::Matrices;
use super::poles::Pole;
use crate::base::cancel::glance;
use crate::evaluate::{Walk, leaves};
use crate::flat::{Kind, Leaf, VarId};
use crate::numeric::lu::Lu;
use crate::numeric::numbered;

/// Second derivatives of the equations at a point, and what else does not depend on the pole.
#[derive(Debug)]
pub struct Sensitivities {
    /// Of equation i by column j and by a leaf: column or parameter.
    second: Vec<(u32, u32, By, f64)>,
    /// Of equation i by a parameter.
    first: Vec<(u32, u32, f64)>,
    parameters: Vec<VarId>,
    /// The derivative of a parameter's value by another parameter, users first.
    chain: Vec<(u32, u32, f64)>,
    /// Parameters whose values nothing else gives.
    own: Vec<bool>,
    lu: Lu,
    count: usize,
    /// The size of A in balanced coordinates: poles are known to a part of it.
    scale: f64,
    /// At a steady state: the rates of states have a regular matrix of derivatives.
    steady: Option<Lu>,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Column(u32),
    Parameter(u32),
}

impl Sensitivities {
    /// `steady`: the states at the point are those at which nothing moves. `None` if the equations are singular.
    pub fn new(
        linear: &mut Linearised,
        matrices: &Matrices,
        steady: bool,
    ) -> Option<Sensitivities> {
        let count = linear.unknowns.len();
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for (row, of) in linear.rows.iter().enumerate() {
            for &(column, value) in of.iter().filter(|&&(column, _)| (column as usize) < count) {
                places.push((row as u32, column));
                values.push(value);
            }
        }
        let lu = factored(count, places, &values)?;
        let steady = match steady {
            false => None,
            true => {
                let entries: Vec<(usize, usize, f64)> = matrices.a.entries().collect();
                let places = entries
                    .iter()
                    .map(|&(row, column, _)| (row as u32, column as u32));
                let values: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
                factored(matrices.a.rows.len(), places.collect(), &values)
            }
        };
        let mut found = Sensitivities {
            second: Vec::new(),
            first: Vec::new(),
            parameters: Vec::new(),
            chain: Vec::new(),
            own: Vec::new(),
            lu,
            count,
            scale: scale(matrices),
            steady,
        };
        found.differentiate(linear);
        found.follow(linear);
        Some(found)
    }

    fn differentiate(&mut self, linear: &mut Linearised) {
        let mut places: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut walk = Walk::default();
        let states = linear.first_input() as u32;
        for row in 0..linear.residuals.len() {
            glance();
            let root = linear.residuals[row];
            for leaf in leaves(&linear.flat().exprs, root) {
                let column = linear.columns.get(&leaf).copied();
                let parameter = self.parameter(linear, leaf, &mut places);
                let Some(slope) = linear.solved.flat.exprs.partial(root, leaf) else {
                    continue;
                };
                if let Some(parameter) = parameter
                    && let Some(value) = linear.number(slope, &mut walk)
                {
                    self.first.push((row as u32, parameter, value));
                }
                let Some(column) = column.filter(|&column| column < states) else {
                    continue;
                };
                for other in leaves(&linear.flat().exprs, slope) {
                    let by = match linear.columns.get(&other) {
                        Some(&column) if column < states => By::Column(column),
                        Some(_) => continue,
                        None => match self.parameter(linear, other, &mut places) {
                            Some(parameter) => By::Parameter(parameter),
                            None => continue,
                        },
                    };
                    let second = linear.solved.flat.exprs.partial(slope, other);
                    let value = second.and_then(|second| linear.number(second, &mut walk));
                    if let Some(value) = value.filter(|&value| value != 0.0) {
                        self.second.push((row as u32, column, by, value));
                    }
                }
            }
        }
    }

    fn parameter(
        &mut self,
        linear: &Linearised,
        leaf: Leaf,
        places: &mut FxHashMap<VarId, u32>,
    ) -> Option<u32> {
        let Leaf::Var(id) = leaf else { return None };
        if linear.flat().variable(id).kind != Kind::Parameter {
            return None;
        }
        Some(*places.entry(id).or_insert_with(|| {
            self.parameters.push(id);
            self.parameters.len() as u32 - 1
        }))
    }

    /// Which parameters the values of parameters depend on.
    fn follow(&mut self, linear: &mut Linearised) {
        let mut walk = Walk::default();
        let mut places: FxHashMap<VarId, u32> = self.parameters.iter().copied().zip(0..).collect();
        let mut at = 0;
        let mut uses: Vec<Vec<(u32, f64)>> = Vec::new();
        while at < self.parameters.len() {
            let id = self.parameters[at];
            let mut of = Vec::new();
            if let Some(given) = linear.flat().value(id).copied() {
                for leaf in leaves(&linear.flat().exprs, given.expression) {
                    let Some(other) = self.parameter(linear, leaf, &mut places) else {
                        continue;
                    };
                    let slope = linear.solved.flat.exprs.partial(given.expression, leaf);
                    let value = slope.and_then(|slope| linear.number(slope, &mut walk));
                    of.push((other, value.unwrap_or(0.0)));
                }
            }
            uses.push(of);
            at += 1;
        }
        self.own = uses.iter().map(Vec::is_empty).collect();
        // Users first: a parameter comes when all that use it have come.
        let mut users = vec![0_u32; uses.len()];
        uses.iter()
            .flatten()
            .for_each(|&(of, _)| users[of as usize] += 1);
        let mut ready: Vec<usize> = (0..uses.len()).filter(|&at| users[at] == 0).collect();
        while let Some(at) = ready.pop() {
            for &(of, slope) in &uses[at] {
                self.chain.push((at as u32, of, slope));
                users[of as usize] -= 1;
                if users[of as usize] == 0 {
                    ready.push(of as usize);
                }
            }
        }
    }

    /// The derivative of a pole by each parameter, those that matter most first: by what a relative change of the parameter
    /// does; a parameter that is zero counts as 1. Nothing for a multiple pole.
    pub fn of(&mut self, linear: &Linearised, pole: &Pole) -> Vec<(VarId, c64)> {
        if pole.multiple || pole.left.is_empty() {
            return Vec::new();
        }
        let zero = c64::new(0.0, 0.0);
        let count = self.count;
        let product: c64 = pole.left.iter().zip(&pole.right).map(|(w, v)| w * v).sum();
        // z: the unknowns follow the states.
        let mut right = vec![zero; count];
        for (row, of) in linear.rows.iter().enumerate() {
            for &(column, value) in of {
                if let Some(state) = (column as usize).checked_sub(count)
                    && state < pole.right.len()
                {
                    right[row] -= pole.right[state] * value;
                }
            }
        }
        solve(&mut self.lu, &mut right, false);
        let z = |column: u32| match (column as usize).checked_sub(count) {
            None => right[column as usize],
            Some(state) => pole.right[state],
        };
        let y = self.multipliers(linear, &pole.left);
        let mut by_parameter = vec![zero; self.parameters.len()];
        let mut by_unknown = vec![zero; count];
        let mut by_state = vec![zero; pole.right.len()];
        for &(row, column, by, value) in &self.second {
            let part = -y[row as usize] * z(column) * value;
            match by {
                By::Parameter(at) => by_parameter[at as usize] += part,
                By::Column(at) => match (at as usize).checked_sub(count) {
                    None => by_unknown[at as usize] += part,
                    Some(state) => by_state[state] += part,
                },
            }
        }
        // What the pole feels of the unknowns goes through the equations to parameters and states.
        solve(&mut self.lu, &mut by_unknown, true);
        let mut through = by_unknown;
        for (row, of) in linear.rows.iter().enumerate() {
            for &(column, value) in of {
                if let Some(state) = (column as usize).checked_sub(count)
                    && state < by_state.len()
                {
                    by_state[state] -= through[row] * value;
                }
            }
        }
        if let Some(steady) = &mut self.steady {
            // A dx + (dx'/dp) dp = 0.
            solve(steady, &mut by_state, true);
            let moved = by_state.iter().map(|value| -*value).collect::<Vec<_>>();
            for (to, from) in through.iter_mut().zip(self.multipliers(linear, &moved)) {
                *to += from;
            }
        }
        for &(row, parameter, value) in &self.first {
            by_parameter[parameter as usize] -= through[row as usize] * value;
        }
        for &(user, of, slope) in &self.chain {
            let part = by_parameter[user as usize] * slope;
            by_parameter[of as usize] += part;
        }
        // What is smaller moves the pole by less than it is rounded.
        let scale = pole.value.norm().max(self.scale);
        let mut found: Vec<(VarId, c64, f64)> = (self.parameters.iter().enumerate())
            .filter(|&(at, _)| self.own[at])
            .map(|(at, &id)| {
                let value = linear.point.real(Leaf::Var(id)).unwrap_or(0.0);
                let mut slope = by_parameter[at] / product;
                let size = if value == 0.0 { 1.0 } else { value.abs() };
                let norm = slope.norm();
                if pole.value.im == 0.0 {
                    slope.im = 0.0;
                }
                for part in [&mut slope.re, &mut slope.im] {
                    if part.abs() <= ROUNDING * norm {
                        *part = 0.0;
                    }
                }
                if slope.norm() * size <= ROUNDING * scale {
                    slope = zero;
                }
                (id, slope, slope.norm() * size)
            })
            .collect();
        found.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        found
            .into_iter()
            .map(|(id, slope, _)| (id, slope))
            .collect()
    }

    /// What rates, weighed, feel of a residual: F_w' y = R_w' w.
    fn multipliers(&mut self, linear: &Linearised, weights: &[c64]) -> Vec<c64> {
        let count = self.count;
        let mut y = vec![c64::new(0.0, 0.0); count];
        for (row, &weight) in linear.rates.iter().zip(weights) {
            for &(column, value) in row.iter().filter(|&&(column, _)| (column as usize) < count) {
                y[column as usize] += weight * value;
            }
        }
        solve(&mut self.lu, &mut y, true);
        y
    }
}

/// Slopes below this, relative, are rounding.
const ROUNDING: f64 = 1e-14;

/// The largest product of two entries across the diagonal is what poles are made of, in any units.
fn scale(matrices: &Matrices) -> f64 {
    let mut most: f64 = 0.0;
    for (row, column, value) in matrices.a.entries() {
        let other = matrices.a.get(column, row);
        most = most.max((value * other).abs().sqrt());
    }
    most
}

fn factored(size: usize, places: Vec<(u32, u32)>, values: &[f64]) -> Option<Lu> {
    let matrix: CsMat<f64> = numbered(size, places).map(|&at| values[at]);
    let mut lu = Lu::new(matrix.structure_view());
    let place: Vec<u32> = (0..size as u32).collect();
    lu.factor(matrix.view(), &place).then_some(lu)
}

/// With real factors, both parts by themselves.
fn solve(lu: &mut Lu, right: &mut [c64], transposed: bool) {
    if right.is_empty() {
        return;
    }
    let mut parts: [Vec<f64>; 2] = [
        right.iter().map(|value| value.re).collect(),
        right.iter().map(|value| value.im).collect(),
    ];
    for part in &mut parts {
        match transposed {
            true => lu.solve_transposed(part),
            false => lu.solve(part),
        }
    }
    for (at, to) in right.iter_mut().enumerate() {
        *to = c64::new(parts[0][at], parts[1][at]);
    }
}
