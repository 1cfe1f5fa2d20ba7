//! Decides numerically which resistors of a field should be in resistance form.
//!
//! Before: an R-field with its sequence, and the slopes of its resistors. After: a [`FormChoice`]:
//! how much errors of the guessed values grow in the sequence, and another choice of r and g in
//! which they grow less. This answers the second question that Hood, Rosenberg, Withers and Zhou
//! 1987 leave open.
//!
//! The junction structure gives f_i = sum of s_ij*f_j, with i in r and j in g, and e_j with the
//! same coefficients. Let R be the slope of each resistor. If flows are measured in units of
//! 1/sqrt(R) and efforts in units of sqrt(R), all have the unit of the square root of a power, and
//! the gain between i and j is h_ij = s_ij*sqrt(R_i/R_j). The moduli of transformers are contained
//! in s_ij, so the physical domain of a resistor does not matter. The matrix of Newton's method is
//! then I + H*H' (or I + H'*H). Its determinant is the sum of the squares of all subdeterminants of
//! the junction structure, divided by the square of that of the chosen one. Exchanging i and j
//! multiplies the latter by |h_ij|. So while a gain is above one, the exchange makes the
//! determinant of Newton's matrix smaller. This ends, and then no gain is above one. Without
//! transformers this is the exchange of a spanning tree, and the result is the best of all choices.

use nalgebra::DMatrix;
use rustc_hash::{FxHashMap, FxHashSet};

use super::resistive::{Port, RField, Step};
use super::slopes::Operating;
use super::transfer::Transfer;
use crate::bond::graph::{BondId, NodeId};
use crate::bond::net::Gives;

/// The largest gain between a port in r and one in g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    pub value: f64,
    pub r: Port,
    pub g: Port,
}

/// The numerical assessment of the choice of r and g.
#[derive(Clone, Debug, Default)]
pub struct FormChoice {
    /// The slopes that are known, with their ports.
    pub slopes: Vec<(Port, f64)>,
    /// Ports with unknown slope: their gains are unknown, and they keep their form.
    pub unknown: Vec<Port>,
    pub largest: Option<Gain>,
    pub better: Option<Better>,
}

/// Another choice of r and g with smaller gains.
#[derive(Clone, Debug)]
pub struct Better {
    /// Ports that have another form in it, with what they then give.
    pub changes: Vec<(Port, Gives)>,
    pub r: Vec<Port>,
    pub g: Vec<Port>,
    pub largest: Option<Gain>,
}

/// Gains up to this count as one, because of rounding.
const ABOVE_ONE: f64 = 1.0 + 1e-9;
/// The largest number of gains, which are a dense matrix. Larger fields are skipped.
const MAX_GAINS: usize = 250_000;

/// Returns `None` if there is no assessment: gyrators inside, an element with several ports in
/// mixed form, no sequence.
pub fn choice(
    transfer: &mut Transfer<'_>,
    field: &RField,
    at: &Operating,
    locked: &dyn Fn(NodeId) -> bool,
) -> Option<FormChoice> {
    let mut gains = Gains::new(transfer, field, at, locked)?;
    let mut choice = FormChoice {
        slopes: (gains.known.iter())
            .map(|&(port, slope, _)| (port, slope))
            .collect(),
        unknown: (field.r.iter().chain(&field.g).copied())
            .filter(|port| !gains.knows(port))
            .collect(),
        largest: gains.largest(),
        better: None,
    };
    // Each exchange reduces a positive number by a factor, so this ends. The limit protects against
    // effects of rounding.
    let most = 10 * (field.r.len() + field.g.len());
    let exchanged = (0..most).take_while(|_| gains.exchange()).count();
    if exchanged > 0 {
        let before: FxHashSet<Port> = field.r.iter().copied().collect();
        let mut changes: Vec<(Port, Gives)> = Vec::new();
        for &port in &gains.r {
            if !before.contains(&port) {
                changes.push((port, Gives::Effort));
            }
        }
        for &port in &gains.g {
            if before.contains(&port) {
                changes.push((port, Gives::Flow));
            }
        }
        choice.better = Some(Better {
            changes,
            largest: gains.largest(),
            r: gains.r,
            g: gains.g,
        });
    }
    Some(choice)
}

#[derive(Debug)]
struct Gains {
    r: Vec<Port>,
    g: Vec<Port>,
    /// Rows are ports in r, columns are ports in g.
    matrix: DMatrix<f64>,
    /// The slope of each port, and whether its form may be changed: its law can be written in both
    /// forms and the user has no preference.
    known: Vec<(Port, f64, bool)>,
    by_bond: FxHashMap<BondId, (f64, bool)>,
}

impl Gains {
    fn new(
        transfer: &mut Transfer<'_>,
        field: &RField,
        at: &Operating,
        locked: &dyn Fn(NodeId) -> bool,
    ) -> Option<Gains> {
        let steps = field.sequence.as_ref().ok()?;
        let (rows, columns) = (field.r.len(), field.g.len());
        if field.numbers.gyrators > 0 || rows * columns == 0 || rows * columns > MAX_GAINS {
            return None;
        }
        let mut known = Vec::new();
        for &port in field.r.iter().chain(&field.g) {
            let sign = transfer.sign(port.node, port.bond);
            let Some(element) = transfer.graph.node(port.node).element() else {
                continue;
            };
            if let Some(slope) = at.slope(transfer.flat, element, sign) {
                let both = element.forms.iter().filter(|form| form.explicit).count() > 1;
                known.push((port, slope, both && !locked(port.node)));
            }
        }
        let by_bond: FxHashMap<BondId, (f64, bool)> = (known.iter())
            .map(|&(port, slope, free)| (port.bond, (slope, free)))
            .collect();
        let place = |list: &[Port]| -> FxHashMap<BondId, usize> {
            list.iter()
                .zip(0..)
                .map(|(port, at)| (port.bond, at))
                .collect()
        };
        let (row, column) = (place(&field.r), place(&field.g));
        let scale = |bond: BondId| by_bond.get(&bond).map_or(1.0, |&(slope, _)| slope.sqrt());
        let mut matrix = DMatrix::zeros(rows, columns);
        for step in steps {
            let Step::Sum { var, sum } = step else {
                continue;
            };
            let Some(&i) = row.get(&var.bond).filter(|_| var.is == Gives::Flow) else {
                continue;
            };
            for &(part, coefficient) in sum {
                match column.get(&part.bond) {
                    Some(&j) if part.is == Gives::Flow => {
                        let value = at.number(transfer.flat, coefficient)?;
                        matrix[(i, j)] = value * scale(var.bond) / scale(part.bond);
                    }
                    // An element with several ports in mixed form: efforts and flows are not
                    // separate.
                    _ if row.contains_key(&part.bond) => return None,
                    _ => {}
                }
            }
        }
        Some(Gains {
            r: field.r.clone(),
            g: field.g.clone(),
            matrix,
            known,
            by_bond,
        })
    }

    fn knows(&self, port: &Port) -> bool {
        self.by_bond.contains_key(&port.bond)
    }

    fn largest(&self) -> Option<Gain> {
        self.greatest(&|port| self.knows(port))
    }

    /// Returns the largest gain between ports that `of` selects, the first of several.
    fn greatest(&self, of: &dyn Fn(&Port) -> bool) -> Option<Gain> {
        let mut best: Option<Gain> = None;
        for (i, r) in self.r.iter().enumerate().filter(|(_, port)| of(port)) {
            for (j, g) in self.g.iter().enumerate().filter(|(_, port)| of(port)) {
                let value = self.matrix[(i, j)].abs();
                if best.is_none_or(|best| value > best.value * ABOVE_ONE) {
                    best = Some(Gain {
                        value,
                        r: *r,
                        g: *g,
                    });
                }
            }
        }
        best
    }

    /// Exchanges the forms of the two ports with the largest gain above one. Returns false if there
    /// is none.
    fn exchange(&mut self) -> bool {
        let free = |port: &Port| (self.by_bond.get(&port.bond)).is_some_and(|&(_, free)| free);
        let Some(gain) = self.greatest(&free).filter(|gain| gain.value > ABOVE_ONE) else {
            return false;
        };
        let place = |list: &[Port], port: Port| list.iter().position(|&one| one == port);
        let (Some(i), Some(j)) = (place(&self.r, gain.r), place(&self.g, gain.g)) else {
            return false;
        };
        let matrix = &mut self.matrix;
        let pivot = matrix[(i, j)];
        let row: Vec<f64> = matrix.row(i).iter().copied().collect();
        let column: Vec<f64> = matrix.column(j).iter().copied().collect();
        for (l, &across) in row.iter().enumerate() {
            for (k, &down) in column.iter().enumerate() {
                let value = &mut matrix[(k, l)];
                *value = match (k == i, l == j) {
                    (true, true) => 1.0 / pivot,
                    (true, false) => -across / pivot,
                    (false, true) => down / pivot,
                    (false, false) => *value - down * across / pivot,
                };
            }
        }
        (self.r[i], self.g[j]) = (gain.g, gain.r);
        true
    }
}
