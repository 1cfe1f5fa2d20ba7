//! What is known when: the step of an evaluation that gives each unknown, and from which step on an expression has a value.
//!
//! Verifiers ask. A step is a number from 1 on; what is known before anything is computed (states, inputs, parameters, discrete
//! values) has step 0.

use crate::expr::{ExprId, Node};
use crate::flat::dump::Shown;
use crate::flat::slots::Slots;
use crate::flat::{Flat, Kind, Leaf};

pub type Step = u32;

/// An unknown that nothing has given.
pub const NEVER: Step = Step::MAX;
/// Eliminated: it has no value of its own.
const GONE: Step = Step::MAX - 1;

#[derive(Debug)]
pub struct Known<'f> {
    flat: &'f Flat,
    slots: Slots<'f>,
    steps: Vec<Step>,
}

impl<'f> Known<'f> {
    /// Nothing is computed yet.
    pub fn new(flat: &'f Flat) -> Self {
        let slots = Slots::new(flat);
        let mut steps = vec![0; slots.count()];
        for id in flat.variable_ids() {
            let auxiliary = flat.variable(id).kind == Kind::Auxiliary;
            let named = auxiliary.then_some(Leaf::Var(id));
            for leaf in flat.unknowns_of(id).chain(named) {
                if let Some(slot) = slots.of(leaf) {
                    steps[slot] = NEVER;
                }
            }
        }
        for gone in &flat.eliminated {
            if let Some(slot) = slots.of(gone.leaf) {
                steps[slot] = GONE;
            }
        }
        Known { flat, slots, steps }
    }

    /// What is wrong with giving this now; restarts are nobody else's.
    pub fn give(&mut self, leaf: Leaf, step: Step) -> Result<(), String> {
        if let Leaf::Init(_) = leaf {
            return Ok(());
        }
        let Some(slot) = self.slots.of(leaf) else {
            return Err(format!("there is no {}", Shown(leaf)));
        };
        match self.steps[slot] {
            NEVER => {
                self.steps[slot] = step;
                Ok(())
            }
            GONE => Err(format!("{} was eliminated", Shown(leaf))),
            0 => Err(format!("{} is known and no unknown", Shown(leaf))),
            _ => Err(format!("{} is given twice", Shown(leaf))),
        }
    }

    /// Unknowns that nothing has given.
    pub fn open(&self) -> impl Iterator<Item = Leaf> + '_ {
        (self.flat.variable_ids())
            .flat_map(|id| self.flat.unknowns_of(id))
            .filter(|&leaf| self.step(leaf) == NEVER)
    }

    fn step(&self, leaf: Leaf) -> Step {
        match (leaf, self.slots.of(leaf)) {
            (_, Some(slot)) => self.steps[slot],
            // Only events have them.
            (Leaf::Init(_) | Leaf::Pre(_), None) => 0,
            (_, None) => NEVER,
        }
    }

    /// By expression, the step after which it has a value; one loop over the arena.
    pub fn ready(&self) -> Vec<Step> {
        let exprs = &self.flat.exprs;
        let mut ready: Vec<Step> = Vec::with_capacity(exprs.len());
        for at in 0..exprs.len() as u32 {
            let id = ExprId(at);
            let step = match exprs.node(id) {
                Node::Leaf(leaf) => self.step(leaf),
                _ => {
                    let mut latest = 0;
                    exprs.each_operand(id, |operand| latest = latest.max(ready[operand.index()]));
                    latest
                }
            };
            ready.push(step);
        }
        ready
    }

    /// The leaf of an expression that is not known before the step: who is to blame.
    pub fn late(&self, root: ExprId, ready: &[Step], before: Step) -> Option<Leaf> {
        let mut work = root;
        loop {
            if let Node::Leaf(leaf) = self.flat.exprs.node(work) {
                return Some(leaf);
            }
            let mut next = None;
            (self.flat.exprs).each_operand(work, |operand| {
                if ready[operand.index()] >= before {
                    next = Some(operand);
                }
            });
            work = next?;
        }
    }
}
