//! Which blocks have to be evaluated for what.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Part;
use super::code::Register;
use crate::expr::ExprId;
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::{Block, Linear, Method, Solved};

/// Leaves of expressions, eliminated ones replaced by what stands for them.
#[derive(Debug)]
pub struct Leaves<'s> {
    flat: &'s Flat,
    pub gone: FxHashMap<Leaf, ExprId>,
}

impl<'s> Leaves<'s> {
    pub fn new(flat: &'s Flat) -> Self {
        let gone = flat.replacements();
        Leaves { flat, gone }
    }

    /// Adds the leaves of an expression that are not there yet.
    pub fn of(&self, root: ExprId, seen: &mut FxHashSet<ExprId>, found: &mut FxHashSet<Leaf>) {
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            glance();
            if !seen.insert(id) {
                continue;
            }
            if let crate::expr::Node::Leaf(leaf) = self.flat.exprs.node(id) {
                self.add(leaf, &mut stack, found);
            }
            self.flat.exprs.operands(id, &mut stack);
        }
    }

    fn add(&self, leaf: Leaf, stack: &mut Vec<ExprId>, found: &mut FxHashSet<Leaf>) {
        match self.gone.get(&leaf) {
            Some(&expression) => stack.push(expression),
            None => {
                found.insert(leaf);
            }
        }
    }

    /// The same for a leaf that may be eliminated itself.
    pub fn of_leaf(&self, leaf: Leaf, seen: &mut FxHashSet<ExprId>, found: &mut FxHashSet<Leaf>) {
        match self.gone.get(&leaf) {
            Some(&expression) => self.of(expression, seen, found),
            None => {
                found.insert(leaf);
            }
        }
    }
}

/// What a block computes, auxiliaries too.
fn targets(block: &Block) -> Vec<Leaf> {
    let mut all: Vec<Leaf> = block.unknowns().to_vec();
    match block {
        Block::Linear(Linear {
            method: Method::Formulas(assignments),
            ..
        }) => all.extend(assignments.iter().map(|assignment| assignment.target)),
        Block::Nonlinear(nonlinear) => {
            all.extend(nonlinear.inner.iter().map(|inner| inner.target));
        }
        _ => {}
    }
    all
}

/// The expressions of a block, in no order.
pub fn expressions(block: &Block) -> Vec<ExprId> {
    let mut all = Vec::new();
    match block {
        Block::Assignment(assignment) => {
            all.push(assignment.value);
            all.extend(assignment.guard);
        }
        Block::Linear(linear) => match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    all.push(assignment.value);
                    all.extend(assignment.guard);
                }
            }
            Method::System { matrix, right } => {
                all.extend(matrix.iter().map(|entry| entry.value));
                all.extend(right);
            }
        },
        Block::Nonlinear(nonlinear) => {
            for inner in &nonlinear.inner {
                all.push(inner.value);
                all.extend(inner.guard);
            }
            all.extend(nonlinear.residuals.iter().map(|residual| residual.value));
        }
        Block::Selected(selected) => {
            all.extend(selected.residuals.iter().map(|residual| residual.value));
        }
        Block::When(_) => {}
    }
    all
}

/// Marks the blocks that are needed for some leaves, themselves and those before them.
pub fn needed(solved: &Solved, leaves: &Leaves<'_>, mut wanted: FxHashSet<Leaf>) -> Vec<bool> {
    let mut seen = FxHashSet::default();
    let mut marks = vec![false; solved.blocks.len()];
    for (at, block) in solved.blocks.iter().enumerate().rev() {
        marks[at] = targets(block).iter().any(|target| wanted.contains(target));
        if marks[at] {
            for expression in expressions(block) {
                leaves.of(expression, &mut seen, &mut wanted);
            }
        }
    }
    marks
}

/// Whether a part has to run for the values of some registers.
pub fn computes(part: &Part, registers: &[Register]) -> bool {
    let wanted: FxHashSet<Register> = registers.iter().copied().collect();
    let code = part.code.iter().map(|instruction| instruction.to);
    let loops = part.loops.iter().flat_map(|of| {
        let inner = of.code.iter().map(|instruction| instruction.to);
        inner.chain(of.unknowns.iter().copied())
    });
    let systems = part
        .systems
        .iter()
        .flat_map(|system| system.unknowns.iter().copied());
    (code.chain(loops).chain(systems)).any(|register| wanted.contains(&register))
}
