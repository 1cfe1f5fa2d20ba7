//! What the signs say of a model: which equations depend on each other, and which unknowns can be
//! moved together without any equation noticing. Data only; what becomes of it is said elsewhere.

use rustc_hash::FxHashSet;

use super::linear::Linear;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, Leaf, VarId};
use crate::structure::IntegerRows;
use crate::structure::signs::{Elimination, Terms, eliminate};
use crate::structure::sum;

/// Rows that are visited to find out of which equations what is at fault was made: so many, and so many more
/// for each entry.
const EFFORT: usize = 5_000_000;
const EFFORT_BY_ENTRY: usize = 10;

struct Effort {
    left: usize,
    incomplete: bool,
}

/// Equations added up with whole factors, so that all unknowns cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    pub equations: Vec<(EqId, i64)>,
    /// What is left: known terms whose sum is zero. Empty where the equations say the same twice.
    pub rest: Vec<(ExprId, i64)>,
}

/// Unknowns that can be moved together, each so far: the model does not determine where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    pub unknowns: Vec<(Leaf, i64)>,
    /// Potentials of a part without ground: connections make them equal, and they are not summed.
    pub floating: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Equations that say the same twice.
    pub redundant: Vec<Combination>,
    /// Equations that leave, or have cancelled, numbers, parameters, inputs and the like: no state.
    pub given: Vec<Combination>,
    /// Equations that leave states, and maybe others that are known. Independent of each other.
    pub constraints: Vec<Combination>,
    pub movements: Vec<Movement>,
    /// The effort ran out, or numbers grew: there may be more. What is listed holds.
    pub incomplete: bool,
}

impl Findings {
    /// Whether equations contradict each other or say the same twice, or unknowns move freely.
    pub fn cancel(&self) -> bool {
        !(self.given.is_empty() && self.redundant.is_empty() && self.movements.is_empty())
    }

    /// Whether derivatives of states seem to move freely.
    pub fn has_moving_rates(&self) -> bool {
        self.movements.iter().any(Movement::has_rates)
    }

    pub fn forget_moving_rates(&mut self) {
        self.movements.retain(|movement| !movement.has_rates());
    }
}

/// Finds what there is to find in sums and differences.
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
    // Of these, those that are left without states, and of those the ones with nothing left.
    let (states, without) = split(linear, unknowns_gone, &linear.state, &mut effort);
    let given: Vec<bool> = (linear.unknown.iter().zip(&linear.state))
        .map(|(&unknown, &state)| !(unknown || state))
        .collect();
    let (mut sources, without) = split(linear, without, &given, &mut effort);
    // Equal sources cancel; they are sources all the same.
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

/// What the rows without unknowns have become of.
fn combinations(elimination: &Elimination, effort: &mut Effort) -> Vec<Terms> {
    let found: Vec<Terms> = (elimination.empty.iter())
        .map_while(|&row| elimination.combination(row, &mut effort.left))
        .collect();
    effort.incomplete |= !elimination.complete || found.len() < elimination.empty.len();
    found
}

/// Combinations in which the columns do not cancel, independent of each other; and those, put
/// together of the ones given, in which they do.
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

/// In terms of the model. Rows that define a column are no equations of it.
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
    // Of the candidates of a selection some are states: they hold what moves with them. Three masses on
    // rods are free to go anywhere, and yet where they are is known.
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

/// Columns that connections make equal, and columns that they sum up or set to zero.
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
