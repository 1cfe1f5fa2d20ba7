//! What events are about: relations that are watched, times that are known, `when`s.

use super::Level;
use super::blocks::Builder;
use super::code::Register;
use super::expressions::{NONE, Registers};
use super::shared::Shared;
use crate::expr::ExprId;
use crate::flat::{EqId, Leaf, WhenId};
use crate::passes::blocks::Block;
use crate::passes::relations::{Relation, WatchKind, find};

/// Something that keeps its value between events: a relation, or a function that jumps.
#[derive(Clone, Debug)]
pub struct Watch {
    pub kind: WatchKind,
    /// As it is written.
    pub node: ExprId,
    pub left: ExprId,
    /// Missing for functions of one argument.
    pub right: Option<ExprId>,
    /// Where its truth (or value) is kept.
    pub held: Register,
    /// The two sides, in the steps for relations and in those for events.
    pub sides: (Register, Register),
    pub event_sides: (Register, Register),
    /// Both sides are linear in Time, with coefficients that change only at events.
    pub timed: bool,
    /// All modes of the model have it: the expressions are those of the model before any mode is put in.
    pub shared: bool,
}

/// `sample(start, period)`
#[derive(Clone, Debug)]
pub struct Sampler {
    pub node: ExprId,
    pub held: Register,
    pub start: Register,
    pub period: Register,
}

#[derive(Clone, Copy, Debug)]
pub enum WhenAction {
    /// A discrete variable's next value.
    New {
        variable: Leaf,
        to: Register,
        value: Register,
        equation: EqId,
    },
    /// A state goes on from here.
    Restart {
        state: Leaf,
        value: Register,
        equation: EqId,
    },
}

/// A `when` with its branches: condition, what is done.
#[derive(Clone, Debug)]
pub struct When {
    pub id: WhenId,
    pub branches: Vec<(Register, Vec<WhenAction>)>,
}

impl Registers<'_> {
    /// The register where the truth of a relation is kept, if it is watched.
    pub(super) fn watched(&self, id: ExprId) -> Option<Register> {
        WatchKind::of(self.flat, id)?;
        let at = *self.watch_of.get(&id)?;
        Some(self.watches[at].held)
    }

    /// Keeps a relation in a register.
    pub(super) fn watch(&mut self, relation: Relation, held: Register) {
        let Relation {
            kind,
            node,
            left,
            right,
            timed,
        } = relation;
        self.watches.push(Watch {
            kind,
            node,
            left,
            right,
            held,
            sides: (NONE, NONE),
            event_sides: (NONE, NONE),
            timed,
            shared: false,
        });
    }
}

impl Builder<'_> {
    /// Watches all relations in what the program computes.
    pub(super) fn watch_all(
        &mut self,
        columns: &[ExprId],
        whens: &[(WhenId, u16, EqId)],
        shared: Option<Shared<'_>>,
    ) {
        let solved = self.solved;
        let flat = &solved.flat;
        let mut roots: Vec<ExprId> = solved.blocks.iter().flat_map(Block::expressions).collect();
        roots.extend(columns);
        roots.extend(flat.eliminated.iter().map(|alias| alias.expression));
        for when in &flat.whens {
            roots.extend(when.conditions.iter().map(|(condition, _)| *condition));
        }
        let rights = whens
            .iter()
            .map(|&(_, _, id)| flat.equations[id.index()].right);
        roots.extend(rights);
        if let Some(shared) = shared {
            roots.extend(shared.expressions());
        }
        let registers = &mut self.registers;
        for relation in find(flat, &mut registers.moving, roots).relations() {
            let held = registers.register(Level::Held);
            (registers.watch_of).insert(relation.node, registers.watches.len());
            registers.watch(relation, held);
        }
    }
}
