//! What outputs and derivatives depend on: states, inputs and Time, through the solved blocks.
//!
//! Before: a [`Model`]. After: for each unknown that is asked for the known variables that it needs, in order; `None` where finding
//! them would take too long or switches change the equations, which the standard reads as "all of them". Relations count with their sides, as at events they move.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::export::model::Model;
use crate::expr::{ExprId, Function, Node};
use crate::flat::{Leaf, VarId};
use crate::passes::blocks::{Assignment, Block, Linear, Method};
use crate::program::expressions;

/// How many expressions are looked at, for all unknowns together.
const MOST: usize = 20_000_000;

#[derive(Debug)]
pub struct Dependencies<'d> {
    model: &'d Model<'d>,
    /// What a leaf is computed from: the number of a set of expressions.
    of: FxHashMap<Leaf, usize>,
    sets: Vec<Vec<ExprId>>,
    known: FxHashSet<Leaf>,
    /// The search that an expression or a set was last seen in.
    seen: Vec<u32>,
    seen_sets: Vec<u32>,
    search: u32,
    left: usize,
}

/// What an unknown needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub time: bool,
    pub leaves: Vec<Leaf>,
}

impl<'d> Dependencies<'d> {
    pub fn new(model: &'d Model<'d>) -> Self {
        let mut known: FxHashSet<Leaf> = model.states.iter().copied().collect();
        known.extend(model.inputs.iter().map(|&(id, _)| Leaf::Var(id)));
        known.extend(model.slopes.iter().map(|&(leaf, _)| leaf));
        let mut all = Dependencies {
            of: FxHashMap::default(),
            sets: Vec::new(),
            known,
            seen: vec![0; model.flat.exprs.len()],
            seen_sets: Vec::new(),
            search: 0,
            left: MOST,
            model,
        };
        for block in &model.solved.blocks {
            match block {
                Block::Assignment(assignment) => all.assignment(assignment),
                Block::Linear(Linear {
                    method: Method::Formulas(assignments),
                    ..
                }) => {
                    for assignment in assignments {
                        all.assignment(assignment);
                    }
                }
                _ => {
                    let mut computed = block.unknowns().to_vec();
                    if let Block::Nonlinear(nonlinear) = block {
                        computed.extend(nonlinear.inner.iter().map(|one| one.target));
                    }
                    all.set(&computed, expressions(block));
                }
            }
        }
        for gone in &model.flat.eliminated {
            all.set(&[gone.leaf], vec![gone.expression]);
        }
        all.discretes();
        all.seen_sets = vec![0; all.sets.len()];
        all
    }

    /// What changes at events depends on what its next value is made of, and on the conditions of `when`s that set it.
    fn discretes(&mut self) {
        let model = self.model;
        let mut sets: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
        for when in &model.whens {
            let mut conditions = Vec::new();
            for (condition, actions) in when {
                conditions.push(*condition);
                for action in actions {
                    let set = sets.entry(action.target.variable()).or_default();
                    set.push(action.value);
                    set.extend(&conditions);
                }
            }
        }
        for &id in &model.discretes {
            let mut set = sets.remove(&id).unwrap_or_default();
            if let Some(&next) = self.of.get(&Leaf::New(id)) {
                set.extend(&self.sets[next]);
            }
            self.set(&[Leaf::Var(id)], set);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.set(&[assignment.target], vec![assignment.value]);
    }

    fn set(&mut self, leaves: &[Leaf], expressions: Vec<ExprId>) {
        for &leaf in leaves {
            self.of.insert(leaf, self.sets.len());
        }
        self.sets.push(expressions);
    }

    pub fn needs(&mut self, unknown: Leaf) -> Option<Needs> {
        // In other positions of switches it is another matter.
        if self.model.switched.is_some() {
            return None;
        }
        let exprs = &self.model.flat.exprs;
        self.search += 1;
        let mut needs = Needs::default();
        let mut work: Vec<ExprId> = Vec::new();
        let mut leaves = vec![unknown];
        loop {
            if let Some(leaf) = leaves.pop() {
                if self.known.contains(&leaf) {
                    needs.leaves.push(leaf);
                } else if let Some(&set) = self.of.get(&leaf)
                    && self.seen_sets[set] != self.search
                {
                    self.seen_sets[set] = self.search;
                    work.extend(&self.sets[set]);
                }
                continue;
            }
            let Some(id) = work.pop() else { break };
            let seen = &mut self.seen[id.index()];
            if *seen == self.search {
                continue;
            }
            *seen = self.search;
            self.left = self.left.checked_sub(1)?;
            match exprs.node(id) {
                Node::Time => needs.time = true,
                Node::Leaf(leaf) => leaves.push(leaf),
                Node::Call(Function::Sample, args) => {
                    needs.time = true;
                    work.extend(exprs.args(args));
                }
                _ => exprs.operands(id, &mut work),
            }
        }
        needs
            .leaves
            .sort_by_key(|leaf| (leaf.variable(), leaf.order()));
        needs.leaves.dedup();
        Some(needs)
    }
}
