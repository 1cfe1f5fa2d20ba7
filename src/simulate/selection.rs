//! The choice of states during a run (dynamic state selection).
//!
//! After each step the smallest pivot of the chosen set is compared with the smallest pivot of the best set; when it falls
//! below a third of that, the best set is chosen (as in Mattsson, Olsson and Elmqvist 2000). The number of states never
//! changes.

use nalgebra::DMatrix;

use crate::evaluate::Quotas;
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::{Block, Selected, Solved};
use crate::program::machine::Machine;

/// A chosen set stays as long as its smallest pivot, relative to that of the best set, is larger than this. Errors of states
/// are magnified by the inverse of this ratio in the variables computed from them: with 0.1 a pendulum that swings half a
/// circle loses five times the energy, and needs as many steps and changes of the choice.
const KEEP_RATIO: f64 = 0.3;

/// The blocks with candidates, each with the index of its loop in the program.
#[derive(Debug)]
pub struct Selections<'s> {
    blocks: Vec<(usize, &'s Selected, Quotas)>,
}

impl<'s> Selections<'s> {
    pub fn new(solved: &'s Solved, machine: &Machine<'_>) -> Self {
        let loops = machine.program.continuous.loops.iter().enumerate();
        let blocks = loops.filter_map(|(at, of)| match &solved.blocks[of.block] {
            Block::Selected(selected) => Some((at, selected, Quotas::new(&solved.flat, selected))),
            _ => None,
        });
        Selections {
            blocks: blocks.collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Chooses other states where the pivots of the present choice are too small; true if a choice has changed. The registers
    /// must hold the values of the point.
    pub fn improve(&self, flat: &Flat, machine: &mut Machine<'_>) -> bool {
        let mut changed = false;
        for (at, selected, quotas) in &self.blocks {
            let now = chosen(machine, selected);
            let Some(states) = better(machine, *at, selected, quotas, &now) else {
                continue;
            };
            changed |= choose(flat, machine, selected, &states, &now);
        }
        changed
    }

    /// Makes a candidate a state, because a `when` restarts it; true if that is possible.
    pub fn make_state(&self, flat: &Flat, machine: &mut Machine<'_>, wanted: Leaf) -> bool {
        for (at, selected, quotas) in &self.blocks {
            if !selected.unknowns.contains(&wanted) {
                continue;
            }
            let now = chosen(machine, selected);
            let matrix = matrix(machine, *at);
            let only: Vec<bool> = (selected.unknowns.iter())
                .map(|leaf| *leaf == wanted)
                .collect();
            let Some(picked) = quotas.pick(&matrix, &only) else {
                return false;
            };
            let states: Vec<Leaf> = (picked.states.iter())
                .map(|&at| selected.unknowns[at])
                .collect();
            if !states.contains(&wanted) {
                return false;
            }
            choose(flat, machine, selected, &states, &now);
            return true;
        }
        false
    }
}

fn matrix(machine: &mut Machine<'_>, at: usize) -> DMatrix<f64> {
    let (entries, rows, columns) = machine.selection_matrix(at);
    DMatrix::from_row_slice(rows, columns, &entries)
}

/// The present states of a block.
fn chosen(machine: &Machine<'_>, selected: &Selected) -> Vec<Leaf> {
    let slots = &machine.program.slots;
    (selected.selections.iter())
        .flat_map(|&at| {
            let candidates = &slots[at as usize].candidates;
            let choice = machine.choice(at as usize).iter();
            choice.map(|&candidate| candidates[candidate].leaf)
        })
        .collect()
}

/// A better choice of states, if the present one is not good enough.
fn better(
    machine: &mut Machine<'_>,
    at: usize,
    selected: &Selected,
    quotas: &Quotas,
    now: &[Leaf],
) -> Option<Vec<Leaf>> {
    let matrix = matrix(machine, at);
    if matrix.iter().any(|slope| !slope.is_finite()) {
        return None;
    }
    let none = vec![false; selected.unknowns.len()];
    let best = quotas.pick(&matrix, &none)?;
    let preferred: Vec<bool> = (selected.unknowns.iter())
        .map(|leaf| now.contains(leaf))
        .collect();
    let present = quotas.pick(&matrix, &preferred).filter(|picked| {
        let mut states = picked.states.iter();
        states.all(|&at| preferred[at])
    });
    match present {
        Some(present) if present.smallest >= KEEP_RATIO * best.smallest => None,
        _ => Some(
            (best.states.iter())
                .map(|&at| selected.unknowns[at])
                .collect(),
        ),
    }
}

/// Applies a choice. Candidates that stay states keep their index in the vector of states.
fn choose(
    flat: &Flat,
    machine: &mut Machine<'_>,
    selected: &Selected,
    states: &[Leaf],
    now: &[Leaf],
) -> bool {
    let mut changed = false;
    for &at in &selected.selections {
        let candidates = &flat.selections()[at as usize].candidates;
        let place = |leaf: &Leaf| candidates.iter().position(|other| other == leaf);
        let mut new: Vec<usize> = machine.choice(at as usize).to_vec();
        let mut coming: Vec<usize> = (states.iter())
            .filter(|leaf| !now.contains(leaf))
            .filter_map(place)
            .collect();
        coming.reverse();
        for slot in &mut new {
            if !states.contains(&candidates[*slot])
                && let Some(next) = coming.pop()
            {
                *slot = next;
                changed = true;
            }
        }
        machine.choose(at as usize, &new);
    }
    changed
}
