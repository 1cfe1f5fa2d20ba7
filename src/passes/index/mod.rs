//! Index reduction: handles constraints between states.
//!
//! Before: a flat model that is balanced and in which nothing cancels, and the constraints between states that its
//! signs hide ([`crate::passes::signs::reference`]). After: an equivalent model of index 1 or 0. It also contains
//! derivatives of some equations, and variables that the source differentiates may be unknowns:
//! [`crate::flat::Variable::states`] says which states are left, and [`Reduction`] what was done and why.
//!
//! Pantelides 1988 finds how often each equation has to be differentiated; states are selected by the dummy derivatives
//! of Mattsson and Söderlind 1993, block by block. Where no choice of states is proved to stay regular (a pendulum in
//! Cartesian coordinates), the run chooses: a [`crate::flat::Selection`].

mod constraints;
mod couplings;
mod derive;
mod elimination;
mod matrix;
mod multiples;
mod orders;
mod preference;
mod report;
mod select;
mod wide;

pub use matrix::coefficients;
pub use report::report;

use crate::flat::{Dropped, EqId, Flat, Kind, Leaf, Merit, Reduction, VarId};
use crate::passes::order::Dependence;
use crate::passes::signs::hidden::{Hidden, System, hidden};
use crate::passes::signs::reference::{Combination, Findings, findings};
use crate::passes::zeros::drop_in;
use crate::structure::{Offsets, disputed_rows, maximum_matching, pantelides};
use orders::Orders;

/// The most differentiations of an equation. Models of physics need few; a prescribed motion needs three.
const MOST: u32 = 20;

/// The most rounds. Each round differentiates more equations or finds that the model is singular.
const MOST_ROUNDS: usize = 20;

/// Why the index could not be reduced. The equations are those of the model before the reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// These equations would have to be differentiated more than [`MOST`] times.
    TooMany(Vec<EqId>),
    /// An equation between booleans, or one without a derivative, would have to be differentiated.
    NoDerivative(EqId),
    /// Equations cancel, and what they leave is determined by others.
    Cancelled(Vec<Combination>),
    /// With the given values, these constraints depend on each other.
    Dependent(Vec<EqId>),
}

/// Inserts constraints that signs hide, so that the structure shows them. Nothing is differentiated.
pub fn show_constraints(flat: &mut Flat, constraints: &[Combination]) {
    let sums = constraints.iter().map(|found| found.equations.clone());
    constraints::put_in(flat, sums, |_| 0);
}

/// Why a model cannot be brought to index 1.
#[derive(Clone, Debug)]
pub enum Irreducible {
    Stuck(Stuck),
    /// Index reduction changed the unknowns, and now equations cancel.
    Cancels(Findings),
}

/// Reduces the index where states depend on each other.
pub fn lower_index(
    flat: &mut Flat,
    constraints: &[Combination],
    dependence: &Dependence,
) -> Result<(), Irreducible> {
    let needed = !constraints.is_empty() || dependence.states;
    if !needed && dependence.vanished.is_empty() {
        return Ok(());
    }
    if let Err(stuck) = reduce(flat, constraints, &dependence.vanished) {
        return match needed {
            true => Err(Irreducible::Stuck(stuck)),
            false => Ok(()),
        };
    }
    let found = findings(flat);
    match found.cancel() {
        true => Err(Irreducible::Cancels(found)),
        false => Ok(()),
    }
}

/// Reduces the index if necessary. If that fails, the model is unchanged. `vanished` are equations with coefficients
/// that are zero with the given parameters.
fn reduce(flat: &mut Flat, constraints: &[Combination], vanished: &[EqId]) -> Result<(), Stuck> {
    let given = (flat.equations.clone(), flat.variables.clone());
    let zeros = drop_in(flat, vanished);
    let sums = || constraints.iter().map(|found| found.equations.clone());
    constraints::put_in(flat, sums(), |_| 0);
    let mut done = reduced(flat);
    if done.is_err() && !zeros.is_empty() {
        // Without these products the model is another one. The pass that solves finds the zero, and names it.
        (flat.equations, flat.variables) = given.clone();
        constraints::put_in(flat, sums(), |_| 0);
        done = reduced(flat);
    } else if let Some(reduction) = &mut flat.reduction {
        reduction.zeros = zeros;
    }
    // Products that were left out, and constraints that were inserted, belong only to a reduced model.
    if flat.reduction.is_none() {
        (flat.equations, flat.variables) = given;
    }
    done
}

fn reduced(flat: &mut Flat) -> Result<(), Stuck> {
    let written: Vec<u8> = flat.variables.iter().map(|known| known.order).collect();
    let (orders, offsets) = offsets(flat)?;
    // Products with a coefficient that is zero with the given parameters are left out, and with them their derivatives.
    let is_lower = |(column, variable): (usize, &VarId)| {
        offsets.columns[column] < u32::from(written[variable.index()])
    };
    let some_lower = orders.variables.iter().enumerate().any(is_lower);
    if offsets.rows.iter().all(|&times| times == 0) && !some_lower {
        return Ok(());
    }
    let mut statuses = select::select(flat, &orders, &offsets)?;
    for (column, &id) in orders.variables.iter().enumerate() {
        for order in offsets.columns[column] as u8..written[id.index()] {
            statuses.dropped.push(Dropped {
                state: Leaf::at_order(id, order),
                others: Vec::new(),
                merit: Merit::Zero,
            });
        }
    }
    let derived = derive::derive(flat, &orders, &offsets)?;
    for (column, &variable) in orders.variables.iter().enumerate() {
        let known = &mut flat.variables[variable.index()];
        known.order = offsets.columns[column] as u8;
        known.states = statuses.states[column];
        known.kind = match known.kind {
            _ if known.states > 0 => Kind::State,
            Kind::State if known.output => Kind::Output,
            Kind::State => Kind::Algebraic,
            kind => kind,
        };
    }
    let mut inputs = Vec::new();
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        if variable.kind == Kind::Input {
            let orders = written[id.index()] + 1..variable.order + 1;
            inputs.extend(orders.map(|order| Leaf::at_order(id, order)));
        }
    }
    // A constraint that acts as an algebraic equation counts as index 1.
    let most = offsets.rows.iter().copied().max().unwrap_or(0);
    let algebraic = offsets.columns.contains(&0);
    flat.reduction = Some(Reduction {
        index: most as u8 + u8::from(algebraic),
        derived,
        dropped: statuses.dropped,
        selections: statuses.selections,
        inputs,
        starts: Vec::new(),
        zeros: Vec::new(),
    });
    Ok(())
}

/// Finds how often each equation is differentiated. Constraints that are hidden in the loops of the highest derivatives
/// are inserted until no loop is singular (the linear combinations of Tan, Nedialkov and Pryce 2017).
fn offsets(flat: &mut Flat) -> Result<(Orders, Offsets), Stuck> {
    for round in 0.. {
        let (orders, offsets) = bounded(flat)?;
        let found = hidden(&System {
            flat,
            pattern: &offsets.tight(&orders.incidence),
            matching: &offsets.matching,
            equation: &|row| Some((orders.equations[row as usize], offsets.rows[row as usize])),
            column: &|row, leaf| orders.tight_column(&offsets, row, leaf),
        });
        let put_in = match round < MOST_ROUNDS {
            true => shown(flat, &orders, &offsets, found),
            false => Vec::new(),
        };
        if put_in.is_empty() {
            if !couplings::straighten(flat, &orders, &offsets) {
                return Ok((orders, offsets));
            }
            return bounded(flat);
        }
        still_balanced(flat, put_in)?;
    }
    Err(Stuck::TooMany(Vec::new()))
}

/// Inserts the constraints that loops hide: sums of equations, and where there are none, sums with coefficients as factors.
fn shown(
    flat: &mut Flat,
    orders: &Orders,
    offsets: &Offsets,
    found: Hidden,
) -> Vec<(EqId, Combination)> {
    if !found.sums.is_empty() {
        let mut times = vec![0; flat.equations.len()];
        for (id, &by) in orders.equations.iter().zip(&offsets.rows) {
            times[id.index()] = by;
        }
        return constraints::put_in(flat, found.sums, |id| times[id.index()]);
    }
    (found.dependent.iter())
        .flat_map(|rows| multiples::put_in(flat, orders, offsets, rows))
        .collect()
}

/// How often each equation is differentiated, unless that is too often.
fn bounded(flat: &Flat) -> Result<(Orders, Offsets), Stuck> {
    let orders = Orders::new(flat);
    match pantelides(&orders.incidence, MOST) {
        Ok(offsets) => Ok((orders, offsets)),
        Err(rows) => {
            let equations = rows.iter().map(|&row| orders.equations[row as usize]);
            Err(Stuck::TooMany(equations.collect()))
        }
    }
}

/// Whether there are as many unknowns as equations everywhere after this, if a variable and its derivatives count as
/// one unknown.
fn still_balanced(flat: &Flat, put_in: Vec<(EqId, Combination)>) -> Result<(), Stuck> {
    let orders = Orders::new(flat);
    let matching = maximum_matching(&orders.incidence);
    if matching.is_perfect() {
        return Ok(());
    }
    let disputed = disputed_rows(&orders.incidence, &matching);
    let at_fault = (put_in.into_iter())
        .filter(|(replaced, _)| {
            let row = orders.equations.binary_search(replaced);
            row.is_ok_and(|row| disputed[row])
        })
        .map(|(_, combination)| combination);
    Err(Stuck::Cancelled(at_fault.collect()))
}
