//! Finds what a program has to watch: relations that can change between events, samples, sines of Time.
//!
//! Before: a [`Model`] with everything that it evaluates. After: its relations are listed, each after those inside it,
//! and keep their truths between events. An input may change at any time.

use super::Refusal;
use super::model::Model;
use crate::expr::{ExprId, Node};
use crate::flat::{Kind, Leaf};
use crate::passes::relations::{Found, Inputs, Moving, Relation, find};

impl Model<'_> {
    /// Finds relations and samples in everything that a program evaluates.
    pub(super) fn watch(&mut self) -> Result<(), Refusal> {
        let mut roots: Vec<ExprId> = self.replacements.values().copied().collect();
        for block in &self.solved.blocks {
            roots.extend(block.expressions());
        }
        roots.extend(self.inputs.iter().filter_map(|&(_, given)| given));
        roots.extend(self.columns.iter().map(|column| column.value));
        for (condition, actions) in self.whens.iter().flatten() {
            roots.push(*condition);
            roots.extend(actions.iter().map(|action| action.value));
        }
        let mut moving = Moving::new(self.flat, &self.replacements, Inputs::Move);
        let found = find(self.flat, &mut moving, roots);
        self.can_be_computed(&found)?;
        for relation in found.relations() {
            if relation.kind.is_momentary() {
                // The value of an input is known immediately.
                if self.inputs_alone(relation.node) {
                    continue;
                }
                return Err(self.refuse_momentary(relation));
            }
            self.watch_of.insert(relation.node, self.watches.len());
            self.watches.push(relation);
        }
        self.samplers.extend(found.samples());
        self.sines = found.sines;
        Ok(())
    }

    /// Restarts, and derivatives of inputs that are not inputs themselves, have no value in a program.
    fn can_be_computed(&self, found: &Found) -> Result<(), Refusal> {
        let flat = self.flat;
        let used = found.used.iter().enumerate().filter(|(_, used)| **used);
        for (at, _) in used {
            let Node::Leaf(leaf) = flat.exprs.node(ExprId(at as u32)) else {
                continue;
            };
            let missing = match leaf {
                Leaf::Init(_) => true,
                Leaf::Der(id, _) => flat.variable(id).kind == Kind::Input,
                _ => false,
            };
            if missing && !self.slopes.iter().any(|&(slope, _)| slope == leaf) {
                return Err(self.refuse(leaf, "no program here can compute it"));
            }
        }
        Ok(())
    }

    pub(super) fn refuse_momentary(&self, relation: Relation) -> Refusal {
        let text = self.flat.expression(relation.node);
        Refusal(format!(
            "`{text}`: numbers that move are equal for a moment only, and no program here looks for it"
        ))
    }

    /// Whether only inputs make an expression change.
    fn inputs_alone(&self, root: ExprId) -> bool {
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match self.flat.exprs.node(id) {
                Node::Time => return false,
                Node::Leaf(leaf) => match self.replacements.get(&leaf) {
                    Some(&expression) => work.push(expression),
                    None => {
                        let variable = self.flat.variable(leaf.variable());
                        if matches!(variable.kind, Kind::State | Kind::Algebraic | Kind::Output) {
                            return false;
                        }
                    }
                },
                _ => self.flat.exprs.operands(id, &mut work),
            }
        }
        true
    }
}
