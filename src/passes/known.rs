//! The step of the evaluation in which each unknown gets its value, and after which each expression has one.
//!
//! Verifiers use it. Steps are counted from 1; step 0 stands for what is known before the evaluation (states, inputs,
//! parameters, discrete variables).

use crate::expr::{ExprId, Node};
use crate::flat::dump::Shown;
use crate::flat::slots::Slots;
use crate::flat::{Flat, Kind, Leaf};

pub type Step = u32;

/// An unknown that nothing has given.
pub const NEVER: Step = Step::MAX;
/// An eliminated variable, which has no value of its own.
const GONE: Step = Step::MAX - 1;

#[derive(Debug)]
pub struct Known<'f> {
    flat: &'f Flat,
    slots: Slots<'f>,
    steps: Vec<Step>,
}

impl<'f> Known<'f> {
    /// At first, no unknown has a value.
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
        for alias in &flat.eliminated {
            if let Some(slot) = slots.of(alias.leaf) {
                steps[slot] = GONE;
            }
        }
        Known { flat, slots, steps }
    }

    /// Gives a leaf its value in a step. An error says why it cannot get one. A restart is set by one `when` only.
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

    /// Unknowns that no step has given a value.
    pub fn open(&self) -> impl Iterator<Item = Leaf> + '_ {
        (self.flat.variable_ids())
            .flat_map(|id| self.flat.unknowns_of(id))
            .filter(|&leaf| self.step(leaf) == NEVER)
    }

    fn step(&self, leaf: Leaf) -> Step {
        match (leaf, self.slots.of(leaf)) {
            (_, Some(slot)) => self.steps[slot],
            // Only events compute these leaves.
            (Leaf::Init(_) | Leaf::Pre(_), None) => 0,
            (_, None) => NEVER,
        }
    }

    /// By expression: the step after which it has a value. One loop over the arena finds all of them.
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

    /// A leaf of the expression that has no value before the step.
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
