//! From the blocks of a solved model to parts of the program.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Op, Register};
use super::expressions::{Registers, Scope};
use super::order::by_depth;
use super::pattern::of_rates;
use super::shared::Shared;
use super::watches::{Watch, When, WhenAction};
use super::{Candidate, Discrete, Level, Program, Slots, Step, System};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, Kind, Leaf, WhenId};
use crate::numeric::{Coloring, numbered};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Solved};
use crate::passes::depends::{Depends, Graph, Needed};
use crate::passes::relations::WatchKind;

/// The program of a model; the values of `columns` are recorded.
pub fn build(solved: &Solved, columns: &[ExprId]) -> Program {
    build_in(solved, columns, None)
}

/// The same of one position of a model, whose relations were taken out of it.
pub fn build_in(solved: &Solved, columns: &[ExprId], shared: Option<Shared<'_>>) -> Program {
    let flat = &solved.flat;
    let replacements = flat.replacements();
    let graph = Graph::new(flat, &solved.blocks, &replacements);
    let states: Vec<Leaf> = flat.states().collect();
    let mut builder = Builder {
        solved,
        registers: Registers::new(flat, &replacements),
        graph: &graph,
        loops: None,
        patterns: FxHashMap::default(),
    };
    for &state in &states {
        builder.registers.fix(state, Level::Always);
    }
    let discretes = builder.discretes(&replacements);
    let whens = actions(flat);
    if let Some(shared) = shared {
        builder.shared(shared);
    }
    // What the rates need comes first.
    let mut wanted = Needed::new(&graph);
    for leaf in states.iter().copied().chain(candidates(flat)) {
        wanted.leaf(leaf.rate());
    }
    // The choice of states is watched by the values of the candidates, also where no rate depends on them.
    for candidate in candidates(flat) {
        wanted.leaf(candidate);
    }
    let for_rates = wanted.blocks();
    let coloring = of_rates(flat, &graph, &for_rates);
    let mut wanted = Needed::new(&graph);
    builder.watch_all(columns, &whens, shared);
    for watch in &builder.registers.watches {
        for side in [Some(watch.left), watch.right].into_iter().flatten() {
            wanted.expression(side);
        }
    }
    let for_watches = wanted.blocks();

    let mut scope = Scope::new(flat);
    builder.next_as_now(&mut scope);
    builder.blocks(&mut scope, |at| for_rates[at]);
    let rates: Vec<Register> = (states.iter())
        .map(|&state| builder.registers.leaf(&mut scope, state.rate()))
        .collect();
    let mut slots = builder.slots(&mut scope, states.len());
    scope.close();
    let rate_steps = scope.part.steps.len();
    builder.blocks(&mut scope, |at| for_watches[at] && !for_rates[at]);
    builder.sides(&mut scope, |watch| &mut watch.sides);
    let watch_steps = scope.part.steps.len();
    let mut wanted = Needed::new(&graph);
    for &column in columns {
        wanted.expression(column);
    }
    let for_columns = wanted.blocks();
    builder.blocks(&mut scope, |at| {
        for_columns[at] && !for_watches[at] && !for_rates[at] && !is_discrete(&solved.blocks[at])
    });
    let columns: Vec<Register> = (columns.iter())
        .map(|&column| builder.registers.expression(&mut scope, column))
        .collect();
    scope.close();

    let mut event = Scope::whole(flat);
    builder.blocks(&mut event, |_| true);
    let event_rates: Vec<Register> = (states.iter())
        .map(|&state| builder.registers.leaf(&mut event, state.rate()))
        .collect();
    builder.event_slots(&mut event, &mut slots);
    let whens = builder.whens(&mut event, &whens);
    let discretes: Vec<Discrete> = (discretes.into_iter())
        .map(|(leaf, value)| Discrete {
            leaf,
            value,
            next: event.leaves.get(&Leaf::New(leaf.variable())).copied(),
        })
        .collect();
    let pres = builder.pres(&mut event);
    let (frame, conditions) = match shared {
        Some(shared) => builder.frame(&mut event, shared),
        None => Default::default(),
    };
    builder.sides(&mut event, |watch| &mut watch.event_sides);
    builder.timed_tables(&mut event);

    let Registers {
        values,
        once,
        held,
        watches,
        samplers,
        tables,
        given,
        fixed,
        literals,
        ..
    } = builder.registers;
    by_depth(&mut scope.part, values.len());
    by_depth(&mut event.part, values.len());
    let mut fixed: Vec<(Leaf, Register)> = fixed.into_iter().collect();
    fixed.sort_unstable_by_key(|&(_, register)| register);
    let mut literals: Vec<Register> = literals.into_values().collect();
    literals.sort_unstable();
    Program {
        registers: values,
        once,
        held,
        rate_steps,
        watch_steps,
        event: event.part,
        states,
        rates,
        event_rates,
        coloring,
        slots,
        discretes,
        pres,
        watches,
        samplers,
        tables,
        whens,
        rows_compute: scope.part.computes(&columns),
        continuous: scope.part,
        columns,
        literals,
        given,
        fixed,
        frame,
        conditions,
    }
}

fn candidates(flat: &Flat) -> impl Iterator<Item = Leaf> + '_ {
    let all = flat.selections().iter();
    all.flat_map(|selection| selection.candidates.iter().copied())
}

fn is_discrete(block: &Block) -> bool {
    (block.unknowns().iter()).any(|leaf| matches!(leaf, Leaf::New(_)))
}

/// Equations by `when` and branch.
fn actions(flat: &Flat) -> Vec<(WhenId, u16, EqId)> {
    let mut all: Vec<(WhenId, u16, EqId)> = (flat.equation_ids())
        .filter_map(|id| match flat.equations[id.index()].kind {
            EquationKind::When(when, branch) => Some((when, branch, id)),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all
}

pub(super) struct Builder<'s> {
    pub(super) solved: &'s Solved,
    pub(super) registers: Registers<'s>,
    pub(super) graph: &'s Graph<'s>,
    /// Patterns of loops by their blocks, and what finds them once there is a loop.
    pub(super) loops: Option<Depends<'s>>,
    pub(super) patterns: FxHashMap<usize, Arc<Coloring>>,
}

impl Builder<'_> {
    fn flat(&self) -> &Flat {
        &self.solved.flat
    }

    /// Discrete variables that were not eliminated keep their values.
    fn discretes(&mut self, replacements: &FxHashMap<Leaf, ExprId>) -> Vec<(Leaf, Register)> {
        let solved = self.solved;
        let mut found = Vec::new();
        for id in solved.flat.variable_ids() {
            if solved.flat.variable(id).kind != Kind::Discrete {
                continue;
            }
            let leaf = Leaf::Var(id);
            if !replacements.contains_key(&leaf) {
                let register = self.registers.fix(leaf, Level::Held);
                if let Some(given) = solved.flat.start(id) {
                    self.registers.values[register as usize] = given.value.number();
                }
                found.push((leaf, register));
            }
        }
        // What is before an event is kept.
        for id in solved.flat.variable_ids() {
            let leaf = Leaf::Pre(id);
            if self.mentions(leaf) {
                self.registers.fix(leaf, Level::Held);
            }
        }
        found
    }

    fn mentions(&self, leaf: Leaf) -> bool {
        self.flat().exprs.has_leaf(leaf)
    }

    /// Between events the next value is the value.
    fn next_as_now(&mut self, scope: &mut Scope) {
        let flat = &self.solved.flat;
        for id in flat.variable_ids() {
            if flat.variable(id).kind == Kind::Discrete {
                let now = self.registers.leaf(scope, Leaf::Var(id));
                scope.leaves.insert(Leaf::New(id), now);
            }
        }
    }

    fn pres(&mut self, event: &mut Scope) -> Vec<(Register, Register)> {
        let flat = &self.solved.flat;
        let mut pairs = Vec::new();
        for id in flat.variable_ids() {
            if let Some(&kept) = self.registers.fixed.get(&Leaf::Pre(id)) {
                pairs.push((kept, self.registers.leaf(event, Leaf::Var(id))));
            }
        }
        pairs
    }

    /// Compiles the chosen blocks, in order.
    fn blocks(&mut self, scope: &mut Scope, chosen: impl Fn(usize) -> bool) {
        let solved = self.solved;
        for (at, block) in solved.blocks.iter().enumerate() {
            if chosen(at) {
                self.block(scope, at, block);
            }
        }
        scope.close();
    }

    fn block(&mut self, scope: &mut Scope, at: usize, block: &Block) {
        match block {
            Block::Assignment(assignment) => self.assign(scope, assignment),
            Block::Linear(linear) => match &linear.method {
                Method::Formulas(assignments) => {
                    for assignment in assignments {
                        self.assign(scope, assignment);
                    }
                }
                Method::System { .. } => self.system(scope, at, linear),
            },
            Block::Nonlinear(nonlinear) => {
                let unknowns = self.iterated(&nonlinear.iteration);
                for inner in &nonlinear.inner {
                    self.assign(scope, inner);
                }
                let residuals: Vec<Register> = (nonlinear.residuals.iter())
                    .map(|residual| self.registers.expression(scope, residual.value))
                    .collect();
                let coloring = self.pattern(
                    at,
                    &nonlinear.iteration,
                    &nonlinear.inner,
                    &nonlinear.residuals,
                );
                let none = Vec::new();
                (self.registers).end_loop(scope, at, unknowns, residuals, none, coloring);
            }
            Block::Selected(selected) => {
                let unknowns = self.iterated(&selected.unknowns);
                let residuals: Vec<Register> = (selected.residuals.iter())
                    .map(|residual| self.registers.expression(scope, residual.value))
                    .collect();
                let selections = selected.selections.iter().map(|&at| at as usize).collect();
                let coloring = self.pattern(at, &selected.unknowns, &[], &selected.residuals);
                (self.registers).end_loop(scope, at, unknowns, residuals, selections, coloring);
            }
            // Decided when the conditions are known: until then the value stays.
            Block::When(when) => {
                let variable = when.target.variable();
                let now = self.registers.leaf(scope, Leaf::Var(variable));
                scope.leaves.insert(Leaf::New(variable), now);
            }
        }
    }

    fn iterated(&mut self, unknowns: &[Leaf]) -> Vec<Register> {
        (unknowns.iter())
            .map(|&leaf| {
                let register = self.registers.fix(leaf, Level::Loop);
                self.registers.set_level(register, Level::Loop);
                register
            })
            .collect()
    }

    fn assign(&mut self, scope: &mut Scope, assignment: &Assignment) {
        let value = self.registers.expression(scope, assignment.value);
        if let Some(guard) = assignment.guard {
            let guard = self.registers.expression(scope, guard);
            scope.part.guards.push(guard);
        }
        scope.leaves.insert(assignment.target, value);
    }

    fn system(&mut self, scope: &mut Scope, block: usize, linear: &Linear) {
        let Method::System { matrix, right } = &linear.method else {
            return;
        };
        let entries: Vec<Register> = (matrix.iter())
            .map(|entry| self.registers.expression(scope, entry.value))
            .collect();
        let places = matrix.iter().map(|entry| (entry.row, entry.column));
        let matrix = numbered(linear.unknowns.len(), places).map(|&at| entries[at]);
        let right: Vec<Register> = (right.iter())
            .map(|&value| self.registers.expression(scope, value))
            .collect();
        let unknowns: Vec<Register> = (linear.unknowns.iter())
            .map(|&leaf| self.registers.fix(leaf, Level::Always))
            .collect();
        scope.close();
        scope
            .part
            .steps
            .push(Step::System(scope.part.systems.len()));
        scope.part.systems.push(System {
            block,
            unknowns,
            matrix,
            right,
        });
    }

    fn slots(&mut self, scope: &mut Scope, first: usize) -> Vec<Slots> {
        let solved = self.solved;
        let mut first = first;
        let mut all = Vec::new();
        for selection in solved.flat.selections() {
            let candidates = (selection.candidates.iter())
                .map(|&leaf| {
                    let rate = self.registers.leaf(scope, leaf.rate());
                    Candidate {
                        leaf,
                        value: self.registers.fix(leaf, Level::Always),
                        rate,
                        event_rate: rate,
                    }
                })
                .collect();
            let count = selection.states as usize;
            all.push(Slots {
                first,
                count,
                candidates,
            });
            first += count;
        }
        all
    }

    fn event_slots(&mut self, scope: &mut Scope, slots: &mut [Slots]) {
        for slots in slots {
            for candidate in &mut slots.candidates {
                candidate.event_rate = self.registers.leaf(scope, candidate.leaf.rate());
            }
        }
    }

    fn whens(&mut self, scope: &mut Scope, actions: &[(WhenId, u16, EqId)]) -> Vec<When> {
        let solved = self.solved;
        let flat = &solved.flat;
        let mut all = Vec::new();
        for (at, when) in flat.whens.iter().enumerate() {
            let id = WhenId(at as u32);
            let mut branches = Vec::new();
            for (branch, &(condition, _)) in when.conditions.iter().enumerate() {
                let condition = self.registers.expression(scope, condition);
                let first = actions.partition_point(|&(w, b, _)| (w, b) < (id, branch as u16));
                let mut done = Vec::new();
                for &(w, b, equation) in &actions[first..] {
                    if (w, b) != (id, branch as u16) {
                        break;
                    }
                    done.extend(self.action(scope, equation));
                }
                branches.push((condition, done));
            }
            all.push(When { id, branches });
        }
        all
    }

    fn action(&mut self, scope: &mut Scope, id: EqId) -> Option<WhenAction> {
        let equation = self.flat().equations[id.index()];
        let value = self.registers.expression(scope, equation.right);
        match self.flat().exprs.node(equation.left) {
            Node::Leaf(Leaf::New(variable)) => {
                let variable = Leaf::Var(variable);
                let to = self.registers.leaf(scope, variable);
                Some(WhenAction::New {
                    variable,
                    to,
                    value,
                    equation: id,
                })
            }
            Node::Leaf(Leaf::Init(variable)) => Some(WhenAction::Restart {
                state: Leaf::Var(variable),
                value,
                equation: id,
            }),
            _ => None,
        }
    }

    /// The two sides of all relations.
    fn sides(
        &mut self,
        scope: &mut Scope,
        place: impl Fn(&mut Watch) -> &mut (Register, Register),
    ) {
        for at in 0..self.registers.watches.len() {
            let watch = self.registers.watches[at].clone();
            let sides = self.both(scope, &watch);
            *place(&mut self.registers.watches[at]) = sides;
        }
        scope.close();
    }

    /// Where the arguments of tables are that move with Time alone.
    fn timed_tables(&mut self, scope: &mut Scope) {
        for at in 0..self.registers.tables.len() {
            if let Some(argument) = self.registers.tables[at].timed {
                let register = self.registers.expression(scope, argument);
                self.registers.tables[at].argument = register;
            }
        }
        scope.close();
    }

    fn both(&mut self, scope: &mut Scope, watch: &Watch) -> (Register, Register) {
        let left = self.registers.expression(scope, watch.left);
        let is_mod = watch.kind == WatchKind::Floor && watch.right.is_some();
        match watch.right {
            Some(right) if is_mod => {
                let right = self.registers.expression(scope, right);
                let quotient = self.registers.emit(scope, Op::Div, left, right, left);
                (quotient, self.registers.zero())
            }
            Some(right) => (left, self.registers.expression(scope, right)),
            None => (left, self.registers.zero()),
        }
    }
}
