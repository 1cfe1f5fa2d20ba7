//! What the signs of a model show: which equations depend on each other, and which unknowns can change together so that
//! all equations still hold. The findings are data; other modules use and report them.

use rustc_hash::FxHashSet;

use super::linear::Linear;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, Leaf, VarId};
use crate::structure::IntegerRows;
use crate::structure::signs::{Elimination, Terms, eliminate};
use crate::structure::sum;

/// The search for the equations that a row was made of visits at most this many rows, and as many more for each entry.
const EFFORT: usize = 5_000_000;
const EFFORT_BY_ENTRY: usize = 10;

struct Effort {
    left: usize,
    incomplete: bool,
}

/// A sum of equations with whole factors in which all unknowns cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    pub equations: Vec<(EqId, i64)>,
    /// The terms that are left: their sum is zero. It is empty if the equations are redundant.
    pub rest: Vec<(ExprId, i64)>,
}

/// Unknowns that can change together, each by its factor: the model does not determine them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    pub unknowns: Vec<(Leaf, i64)>,
    /// The unknowns are potentials of a part without ground: connections make them equal, and no equation sums them.
    pub floating: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Redundant equations.
    pub redundant: Vec<Combination>,
    /// Equations that leave numbers, parameters or inputs, or cancel them, but no state.
    pub given: Vec<Combination>,
    /// Equations that leave states, and possibly other known terms. They are independent of each other.
    pub constraints: Vec<Combination>,
    pub movements: Vec<Movement>,
    /// The search ended early, because of its length or because of large numbers. The findings are correct, but there
    /// may be more.
    pub incomplete: bool,
}

impl Findings {
    /// Whether equations contradict each other or are redundant, or unknowns are free.
    pub fn cancel(&self) -> bool {
        !(self.given.is_empty() && self.redundant.is_empty() && self.movements.is_empty())
    }

    /// Whether derivatives of states seem to be free.
    pub fn has_moving_rates(&self) -> bool {
        self.movements.iter().any(Movement::has_rates)
    }

    pub fn forget_moving_rates(&mut self) {
        self.movements.retain(|movement| !movement.has_rates());
    }
}

/// Examines the sums and differences of the model.
pub fn findings(flat: &Flat) -> Findings {
    let linear = Linear::new(flat);
    let mut found = dependent(&linear);
    found.movements = movements(flat, &linear);
    found
}

fn dependent(linear: &Linear) -> Findings {
    let mut effort = Effort {
        left: EFFORT + EFFORT_BY_ENTRY * linear.rows.len(),
        incomplete: false,
    };
    let whole = eliminate(&linear.rows, &linear.unknown);
    let unknowns_gone = combinations(&whole, &mut effort);
    // Combinations without unknowns are split into those without states, and these into those without any term.
    let (states, without) = split(linear, unknowns_gone, &linear.state, &mut effort);
    let given: Vec<bool> = (linear.unknown.iter().zip(&linear.state))
        .map(|(&unknown, &state)| !(unknown || state))
        .collect();
    let (mut sources, without) = split(linear, without, &given, &mut effort);
    // Equal sources cancel, but they are sources all the same.
    let (redundant, equal): (Vec<Terms>, Vec<Terms>) =
        without.into_iter().partition(|combination| {
            let mut entries = (combination.iter()).flat_map(|&(row, _)| linear.rows.row(row));
            entries.all(|&(column, _)| !given[column as usize])
        });
    sources.extend(equal);
    let named = |list: Vec<Terms>| -> Vec<Combination> {
        let mut list: Vec<Combination> = (list.iter())
            .filter_map(|combination| name(linear, combination))
            .collect();
        list.sort_by(|a, b| {
            (a.equations.len(), &a.equations).cmp(&(b.equations.len(), &b.equations))
        });
        list
    };
    Findings {
        redundant: named(redundant),
        given: named(sources),
        constraints: named(states),
        movements: Vec::new(),
        incomplete: effort.incomplete,
    }
}

/// The combinations of equations that make up the rows without unknowns.
fn combinations(elimination: &Elimination, effort: &mut Effort) -> Vec<Terms> {
    let found: Vec<Terms> = (elimination.empty.iter())
        .map_while(|&row| elimination.combination(row, &mut effort.left))
        .collect();
    effort.incomplete |= !elimination.complete || found.len() < elimination.empty.len();
    found
}

/// Splits combinations into those in which these columns do not cancel, independent of each other, and those in which
/// they do.
fn split(
    linear: &Linear,
    list: Vec<Terms>,
    columns: &[bool],
    effort: &mut Effort,
) -> (Vec<Terms>, Vec<Terms>) {
    if list.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut rests = IntegerRows::new(linear.rows.columns());
    let mut list = list;
    list.retain(|combination| match sum(&linear.rows, combination) {
        Some(rest) => {
            rests.push_row(rest);
            true
        }
        None => false,
    });
    let elimination = eliminate(&rests, columns);
    let mut by_row = IntegerRows::new(linear.rows.rows());
    for combination in &list {
        by_row.push_row(combination.iter().copied());
    }
    let without = combinations(&elimination, effort)
        .iter()
        .filter_map(|combination| sum(&by_row, combination))
        .collect();
    let kept = (list.into_iter().enumerate())
        .filter(|(at, _)| elimination.empty.binary_search(&(*at as u32)).is_err())
        .map(|(_, combination)| combination)
        .collect();
    (kept, without)
}

/// Names the equations and terms of a combination. A row that defines a column is no equation of the model.
fn name(linear: &Linear, combination: &Terms) -> Option<Combination> {
    let rest = sum(&linear.rows, combination)?;
    let equations: Vec<(EqId, i64)> = (combination.iter())
        .filter_map(|&(row, times)| Some((linear.equations[row as usize]?, times)))
        .collect();
    let rest = rest
        .iter()
        .map(|&(column, times)| (linear.terms[column as usize], times));
    (!equations.is_empty()).then_some(Combination {
        equations,
        rest: rest.collect(),
    })
}

fn movements(flat: &Flat, linear: &Linear) -> Vec<Movement> {
    let elimination = eliminate(&linear.rows, &linear.only_in_sums);
    if elimination.free.is_empty() {
        return Vec::new();
    }
    let (equal, summed) = connected(flat, linear);
    let list = elimination.movements().unwrap_or_default();
    // Some of the candidates of a selection are states, and they determine what moves with them. Three masses on rods
    // can be anywhere, and yet their positions are known.
    let candidates: FxHashSet<Leaf> = (flat.selections().iter())
        .flat_map(|selection| selection.candidates.iter().copied())
        .collect();
    let mut found: Vec<Movement> = (list.iter())
        .map(|terms| {
            let any = |what: &[bool]| terms.iter().any(|&(column, _)| what[column as usize]);
            Movement {
                floating: any(&equal) && !any(&summed),
                unknowns: (terms.iter())
                    .filter_map(|&(column, times)| {
                        match flat.exprs.node(linear.terms[column as usize]) {
                            Node::Leaf(leaf) => Some((leaf, times)),
                            _ => None,
                        }
                    })
                    .collect(),
            }
        })
        .collect();
    found.retain(|movement| {
        let mut moved = movement.unknowns.iter().map(|(leaf, _)| leaf);
        !moved.any(|leaf| candidates.contains(leaf))
    });
    found.sort_by_key(|movement| movement.unknowns.first().map(|(leaf, _)| leaf.variable()));
    found
}

/// Marks the columns that connections make equal, and those that they sum or set to zero.
fn connected(flat: &Flat, linear: &Linear) -> (Vec<bool>, Vec<bool>) {
    let mut equal = vec![false; linear.terms.len()];
    let mut summed = vec![false; linear.terms.len()];
    for (row, equation) in linear.equations.iter().enumerate() {
        let Some(equation) = equation else { continue };
        let columns = linear
            .rows
            .row(row as u32)
            .iter()
            .map(|&(column, _)| column);
        match flat.equations[equation.index()].kind {
            EquationKind::Coupling => columns.for_each(|column| equal[column as usize] = true),
            EquationKind::Sum | EquationKind::ZeroFlow => {
                columns.for_each(|column| summed[column as usize] = true);
            }
            _ => {}
        }
    }
    (equal, summed)
}

impl Movement {
    fn has_rates(&self) -> bool {
        (self.unknowns.iter()).any(|(leaf, _)| matches!(leaf, Leaf::Der(..)))
    }

    pub fn variables(&self) -> impl Iterator<Item = VarId> + '_ {
        self.unknowns.iter().map(|(leaf, _)| leaf.variable())
    }
}
