//! What all modes of a model have in common: relations, samplers, all variables by their names.

use rustc_hash::FxHashMap;

use super::Level;
use super::blocks::Builder;
use super::code::Register;
use super::expressions::Scope;
use super::watches::Sampler;
use crate::expr::ExprId;
use crate::flat::{Kind, Leaf, VarId};
use crate::passes::blocks::Block;
use crate::passes::relations::Relation;
use crate::positions::{Opened, Side, Switch};

/// What all modes of a model have in common.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    pub opened: &'a Opened,
    pub switches: &'a [Switch],
}

impl Shared<'_> {
    /// Expressions that are computed besides the blocks.
    pub(super) fn expressions(&self) -> impl Iterator<Item = ExprId> + '_ {
        let expression = |side: Side| match side {
            Side::Given(id) | Side::Variable(_, id) => id,
        };
        let watches = self.opened.watches.iter();
        let sides = watches.flat_map(|watch| [Some(watch.left), watch.right]);
        let samplers = self.opened.samplers.iter();
        (sides.flatten().map(expression))
            .chain(samplers.flat_map(|sampler| [sampler.start, sampler.period]))
            .chain(self.switches.iter().map(|switch| switch.condition))
    }
}

impl Builder<'_> {
    /// Adds the watches and samplers that all modes have, in their order.
    pub(super) fn shared(&mut self, shared: Shared<'_>) {
        let solved = self.solved;
        let mut defined: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for block in &solved.blocks {
            if let Block::Assignment(assignment) = block
                && let Leaf::Var(id) = assignment.target
            {
                defined.insert(id, assignment.value);
            }
        }
        // The side is taken as an expression, which shows whether it depends only on Time.
        let expression = |side: Side, replacements: &FxHashMap<Leaf, ExprId>| match side {
            Side::Given(value) => value,
            Side::Variable(id, own) => {
                let replacement = replacements.get(&Leaf::Var(id)).copied();
                replacement
                    .or_else(|| defined.get(&id).copied())
                    .unwrap_or(own)
            }
        };
        for watch in &shared.opened.watches {
            let held = self.registers.fix(Leaf::Var(watch.held), Level::Held);
            let left = expression(watch.left, self.registers.replacements);
            let right = (watch.right).map(|side| expression(side, self.registers.replacements));
            let relation = Relation {
                kind: watch.kind,
                node: watch.node,
                left,
                right,
                timed: self.registers.moving.are_timed(left, right),
            };
            self.registers.watch(relation, held);
        }
        let mut once = Scope::new(&solved.flat);
        for sampler in &shared.opened.samplers {
            let held = self.registers.fix(Leaf::Var(sampler.held), Level::Held);
            let start = self.registers.expression(&mut once, sampler.start);
            let period = self.registers.expression(&mut once, sampler.period);
            self.registers.samplers.push(Sampler {
                node: sampler.node,
                held,
                start,
                period,
            });
        }
    }

    /// All variables and the conditions of switches, in the part for events.
    pub(super) fn frame(
        &mut self,
        event: &mut Scope,
        shared: Shared<'_>,
    ) -> (Vec<(Leaf, Register)>, Vec<Register>) {
        let solved = self.solved;
        let flat = &solved.flat;
        let mut frame = Vec::new();
        for id in flat.variable_ids() {
            let variable = flat.variable(id);
            if matches!(
                variable.kind,
                Kind::Parameter | Kind::Constant | Kind::Auxiliary
            ) {
                continue;
            }
            for order in 0..=variable.order {
                let leaf = Leaf::at_order(id, order);
                frame.push((leaf, self.registers.leaf(event, leaf)));
            }
        }
        let conditions = (shared.switches.iter())
            .map(|switch| self.registers.expression(event, switch.condition))
            .collect();
        event.close();
        (frame, conditions)
    }
}
