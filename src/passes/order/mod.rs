//! Decides which equation is solved for which unknown, and in which order.
//!
//! Before: the flat model, of index 1 or 0 ([`crate::passes::index`]). After: [`Sorted`], blocks of equations in an
//! order in which they can be evaluated, each equation with its unknown; a block of several equations is an algebraic
//! loop. States and inputs count as known; the unknowns are highest derivatives, algebraic variables and the next
//! values of discrete ones. A model that is not balanced is reported instead.
//!
//! Matching and Tarjan's algorithm as in Cellier 1990 ("partition") and Elmqvist 1978.

mod balance;
mod by_type;
mod case;
mod count;
pub mod dump;
mod few;
mod incidence;
mod many;
mod patterns;
mod sources;
mod suspects;
pub mod verify;

use crate::base::diagnostics::Diagnostics;
use crate::flat::{EqId, EquationKind, Flat, Leaf, WhenId};
use crate::passes::signs::hidden::{System, hidden};
use crate::structure::{Matching, NONE, blocks, grow, maximum_matching};
use incidence::{Columns, States};

/// A row of the incidence, which is matched with one unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    Equation(EqId),
    /// The equations of a `when` for one variable, in its branches.
    When(WhenId, Vec<EqId>),
    /// Not an equation: one of the candidates of a selection (by its number) is a state.
    Selection(u32),
}

#[derive(Clone, Debug)]
pub struct Sorted {
    pub rows: Vec<Row>,
    /// The unknown that each row is solved for.
    pub unknowns: Vec<Leaf>,
    /// Rows in the order of evaluation. A block of several rows is a loop.
    pub blocks: Vec<Vec<u32>>,
    /// Rows that do not count some unknown, because its coefficient is a parameter that is zero.
    pub vanished: Vec<u32>,
}

impl Sorted {
    pub fn loops(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.blocks.iter().filter(|block| block.len() > 1)
    }
}

/// A model with too many or too few equations, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unbalanced;

/// Checks that there are as many equations as unknowns everywhere. A state and its derivatives are one unknown, so a
/// model that fails this check cannot be cured by differentiation.
pub fn balanced(flat: &Flat) -> Result<(), Unbalanced> {
    let rows = rows(flat);
    let mut together = Columns::new(flat, &rows, States::WithDerivatives);
    let matching = maximum_matching(&together.incidence(flat, &rows));
    match matching.is_perfect() {
        true => Ok(()),
        false => Err(Unbalanced),
    }
}

impl Dependence {
    /// The same check as [`balanced`], continued from a matching in which states are known.
    pub fn balanced(&self, flat: &Flat) -> Result<(), Unbalanced> {
        if self.matching.is_perfect() {
            return Ok(());
        }
        let rows = rows(flat);
        let pattern = Columns::new(flat, &rows, States::WithDerivatives).incidence(flat, &rows);
        let mut matching = self.matching.clone();
        // With states and derivatives as one unknown, a row contains at least the same unknowns as before. So the
        // matching stays valid.
        debug_assert!((0..).zip(&matching.column_of).all(|(row, &column)| {
            column == NONE || pattern.row(row).iter().any(|&(known, _)| known == column)
        }));
        grow(&pattern, &mut matching);
        match matching.is_perfect() {
            true => Ok(()),
            false => Err(Unbalanced),
        }
    }
}

/// Reports what is wrong with a model that is not balanced; for a balanced model it reports nothing.
pub fn report_unbalanced(flat: &Flat, diagnostics: &mut Diagnostics) {
    let rows = rows(flat);
    let mut together = Columns::new(flat, &rows, States::WithDerivatives);
    let pattern = together.incidence(flat, &rows);
    let matching = maximum_matching(&pattern);
    if !matching.is_perfect() {
        balance::report(flat, &rows, &together, &pattern, &matching, diagnostics);
    }
}

/// The equation that determines each variable, as far as a matching finds one, also in a model that is not balanced. A
/// state and its derivatives are one unknown.
pub fn determined_by(flat: &Flat) -> Vec<Option<EqId>> {
    let rows = rows(flat);
    let mut columns = Columns::new(flat, &rows, States::WithDerivatives);
    let matching = maximum_matching(&columns.incidence(flat, &rows));
    let of_row = |row: u32| match rows.get(row as usize)? {
        Row::Equation(id) => Some(*id),
        Row::When(_, equations) => equations.first().copied(),
        Row::Selection(_) => None,
    };
    (flat.variable_ids())
        .map(|id| {
            let column = columns.of_variable(id)?;
            of_row(matching.row_of[column as usize])
        })
        .collect()
}

/// Whether states depend on each other.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// No matching leaves the states known, or the matching that does contains a singular loop.
    pub states: bool,
    /// Equations with unknowns that are no states. If all of them are matched, the model is balanced, too.
    matching: Matching,
    /// Equations with a coefficient that is zero with the given parameters, if this makes states depend on each other:
    /// a resistance of zero between a source and a capacitor.
    pub vanished: Vec<EqId>,
}

pub fn dependence(flat: &Flat) -> Dependence {
    let rows = rows(flat);
    let equation = |row: u32| match rows[row as usize] {
        Row::Equation(id) => Some(id),
        _ => None,
    };
    let mut columns = Columns::new(flat, &rows, States::Known);
    let mut pattern = columns.incidence(flat, &rows);
    let mut matching = maximum_matching(&pattern);
    let mut vanished = Vec::new();
    if !columns.vanished.is_empty() {
        if !matching.is_perfect() {
            vanished.extend(columns.vanished.iter().filter_map(|&row| equation(row)));
        }
        columns.keep_vanished();
        pattern = columns.incidence(flat, &rows);
        grow(&pattern, &mut matching);
    }
    let is_singular = || {
        let system = System {
            flat,
            pattern: &pattern,
            matching: &matching,
            equation: &|row| Some((equation(row)?, 0)),
            column: &|_, leaf| columns.column(flat, leaf),
        };
        !hidden(&system).is_empty()
    };
    Dependence {
        states: !matching.is_perfect() || is_singular(),
        matching,
        vanished,
    }
}

/// A model whose equations cannot be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsorted;

/// Reports why a model cannot be sorted.
pub fn report_unsorted(flat: &Flat, diagnostics: &mut Diagnostics) {
    // A model that is not balanced is reported as such.
    let before = diagnostics.errors();
    report_unbalanced(flat, diagnostics);
    if diagnostics.errors() == before {
        let rows = rows(flat);
        let mut columns = Columns::new(flat, &rows, States::Known);
        columns.keep_vanished();
        let pattern = columns.incidence(flat, &rows);
        balance::report_index(flat, &rows, &columns, &pattern, diagnostics);
    }
}

/// Sorts the equations into blocks.
pub fn sort(flat: &Flat) -> Result<Sorted, Unsorted> {
    let rows = rows(flat);
    let mut columns = Columns::new(flat, &rows, States::Known);
    let mut pattern = columns.incidence(flat, &rows);
    let mut matching = maximum_matching(&pattern);
    if !matching.is_perfect() && !columns.vanished.is_empty() {
        // The zero coefficient is the reason. The pass that solves finds it, and names it.
        columns.keep_vanished();
        pattern = columns.incidence(flat, &rows);
        grow(&pattern, &mut matching);
    }
    if !matching.is_perfect() {
        return Err(Unsorted);
    }
    let unknowns = matching
        .column_of
        .iter()
        .map(|&at| columns.leaf(at))
        .collect();
    Ok(Sorted {
        blocks: blocks(&pattern, &matching),
        rows,
        unknowns,
        vanished: columns.vanished,
    })
}

/// Makes one row for each equation that holds at all times, and one for each variable that a `when` sets. Start values
/// have no rows.
fn rows(flat: &Flat) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::with_capacity(flat.equations.len());
    let mut last: Option<(WhenId, Vec<(crate::expr::ExprId, usize)>)> = None;
    for id in flat.equation_ids() {
        let equation = &flat.equations[id.index()];
        match equation.kind {
            EquationKind::Init => {}
            EquationKind::When(when, _) => {
                // The equations of a `when` follow each other.
                let targets = match &mut last {
                    Some((known, targets)) if *known == when => targets,
                    _ => &mut last.insert((when, Vec::new())).1,
                };
                match targets.iter().find(|(target, _)| *target == equation.left) {
                    Some(&(_, row)) => {
                        if let Row::When(_, equations) = &mut rows[row] {
                            equations.push(id);
                        }
                    }
                    None => {
                        targets.push((equation.left, rows.len()));
                        rows.push(Row::When(when, vec![id]));
                    }
                }
            }
            _ => rows.push(Row::Equation(id)),
        }
    }
    for (at, selection) in flat.selections().iter().enumerate() {
        rows.extend((0..selection.states).map(|_| Row::Selection(at as u32)));
    }
    rows
}
