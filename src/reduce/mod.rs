//! Index reduction: constraints between states, handled.
//!
//! Before: a flat model that is balanced and in which nothing cancels, and the constraints between
//! states that its signs hide ([`crate::reference`]). After: an equivalent model of index 1 or 0.
//! Some equations stand there differentiated as well, and variables that the source differentiates
//! may be unknowns now: [`crate::flat::Variable::states`] says what is left of them as states, and
//! [`Reduction`] what was done and why.
//!
//! Pantelides 1988 finds how often each equation has to be differentiated; states are selected by
//! the dummy derivatives of Mattsson and Söderlind 1993, block by block. Where no choice of states
//! is proved to stay regular (a pendulum in Cartesian coordinates), the choice is left to the run:
//! a [`crate::flat::Selection`].

mod constraints;
mod couplings;
mod derive;
mod elimination;
mod orders;
mod preference;
mod report;
mod select;
mod wide;

pub use report::report;

use crate::flat::{EqId, Flat, Kind, Leaf, Reduction};
use crate::reference::Combination;
use crate::solve::zeros::drop_in;
use crate::sort::vanished;
use crate::structure::pantelides;
use orders::Orders;

/// No model of physics needs more differentiations; a prescribed motion needs three.
const MOST: u32 = 20;

/// Why the index could not be reduced. Equations are those of the model as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// More differentiations than [`MOST`] would be needed.
    TooMany,
    /// An equation between booleans, or one without a derivative, would have to be differentiated.
    NoDerivative(EqId),
    /// With the values given, these constraints depend on each other.
    Dependent(Vec<EqId>),
}

/// Reduces the index, if there is anything to reduce. Where it cannot be done, the model stays as it was.
pub fn reduce(flat: &mut Flat, constraints: &[Combination]) -> Result<(), Stuck> {
    let given = flat.equations.clone();
    let zeros = drop_in(flat, &vanished(flat));
    constraints::put_in(flat, constraints);
    let mut done = reduced(flat);
    if done.is_err() && !zeros.is_empty() {
        // It is no model without them: solving will come upon the zero, and name it.
        flat.equations = given.clone();
        constraints::put_in(flat, constraints);
        done = reduced(flat);
    } else if let Some(reduction) = &mut flat.reduction {
        reduction.zeros = zeros;
    }
    if done.is_err() {
        flat.equations = given;
    }
    done
}

fn reduced(flat: &mut Flat) -> Result<(), Stuck> {
    let mut orders = Orders::new(flat);
    let mut offsets = pantelides(&orders.incidence, MOST).ok_or(Stuck::TooMany)?;
    if couplings::straighten(flat, &orders, &offsets) {
        orders = Orders::new(flat);
        offsets = pantelides(&orders.incidence, MOST).ok_or(Stuck::TooMany)?;
    }
    if offsets.rows.iter().all(|&times| times == 0) {
        return Ok(());
    }
    let statuses = select::select(flat, &orders, &offsets)?;
    let written: Vec<u8> = flat.variables.iter().map(|known| known.order).collect();
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
    // Constraints that are as good as algebraic equations count for index 1.
    let most = offsets.rows.iter().copied().max().unwrap_or(0);
    let algebraic = offsets.columns.contains(&0);
    flat.reduction = Some(Reduction {
        index: most as u8 + u8::from(algebraic),
        derived,
        dropped: statuses.dropped,
        selections: statuses.selections,
        inputs,
        zeros: Vec::new(),
    });
    Ok(())
}
