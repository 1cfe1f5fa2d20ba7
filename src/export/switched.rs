//! Models with different equations in each mode of their switches.
//!
//! Before: the [`Positions`] of a model, and each possible mode, compiled. After: a [`Model`] of what all modes share,
//! which contains a model of each mode. A variable has the same place in all modes, so a mode can begin from the values
//! that another one computed. The states are those of all modes together, so their number does not change. In a mode in
//! which such a variable is not a state, it is computed. Relations are decided in the same way in all modes; their
//! truths are variables ([`crate::positions`]).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Refusal;
use super::model::{Model, Start, Told, derivatives_of_inputs, follows_parameters};
use super::write::{Dialect, Writer};
use crate::compile::{CompiledMode, Modes, NoObserver};
use crate::evaluate::Walk;
use crate::expr::{ExprId, Node};
use crate::flat::{EquationKind, Flat, Kind, Leaf, VarId};
use crate::passes::blocks::{Block, Solved};
use crate::passes::relations::{Inputs, Moving, Relation, Sample, WatchKind, find};
use crate::positions::{Jump, Key, Positions, Side, Values, differentiated};
use crate::simulate::columns::{self, Column};

/// With more switches there are too many modes for one program.
const MOST_SWITCHES: usize = 8;
/// The largest system for a jump; these are solved with full matrices.
const LARGEST: usize = 300;

/// All modes of a model.
#[derive(Debug)]
pub struct Switched<'s> {
    pub positions: &'s Positions,
    pub modes: Vec<Mode<'s>>,
    /// By the bits of the key, the first switch lowest; -1 for an impossible mode.
    pub by_key: Vec<i32>,
    /// Truths of relations and of samples, in the order of the watches and samplers.
    pub held: Vec<VarId>,
    pub sampled: Vec<VarId>,
    /// For each switch whose condition is a discrete variable with a next value: its index among those of the model.
    pub own: Vec<Option<usize>>,
}

/// One mode.
#[derive(Debug)]
pub struct Mode<'s> {
    pub key: Key,
    pub model: Model<'s>,
    pub jump: Option<&'s Jump>,
    /// By relation: whether a switch holds its side at zero.
    pub at_zero: Vec<bool>,
    /// Leaves that have a value.
    known: FxHashSet<Leaf>,
}

impl Mode<'_> {
    /// Whether a variable or derivative has a value here.
    pub fn has(&self, leaf: Leaf) -> bool {
        self.known.contains(&leaf)
    }

    /// The column of a side of a relation in the system for the jump, if it can have an impulse.
    pub fn side(&self, side: Option<Side>) -> Option<usize> {
        let (jump, Side::Variable(id, _)) = (self.jump?, side?) else {
            return None;
        };
        let at = (jump.columns.iter()).position(|&leaf| leaf == Leaf::Var(id))?;
        jump.impulsive[at].then_some(at)
    }
}

/// All possible modes, compiled.
pub fn compile(positions: &mut Modes) -> Result<Vec<CompiledMode>, Refusal> {
    let count = positions.switches.len();
    if count > MOST_SWITCHES {
        return Err(Refusal(format!(
            "it has {count} switches and other equations in each position of them; a program holds the positions of {MOST_SWITCHES} switches at most"
        )));
    }
    let mut found = Vec::new();
    for number in 0..1usize << count {
        let key: Key = (0..count).map(|at| number >> at & 1 == 1).collect();
        // A run never enters an impossible mode.
        found.extend(positions.take_compiled(&key, &mut NoObserver));
    }
    if found.is_empty() {
        return Err(Refusal("no position of its switches is possible".into()));
    }
    for position in &found {
        let Some(jump) = &position.jump else { continue };
        let name = || positions.position_name(&position.key);
        if jump.columns.len() > LARGEST {
            return Err(Refusal(format!(
                "what jumps in the position {} of its switches is a system of {}, and no program here solves one of more than {LARGEST}",
                name(),
                jump.columns.len()
            )));
        }
        if let Some(leaf) = bent(&position.solved.flat, jump) {
            return Err(Refusal(format!(
                "`{}` jumps in the position {} of its switches with a coefficient that depends on itself; only `bgm simulate` integrates that",
                position.solved.flat.leaf_name(leaf),
                name()
            )));
        }
    }
    Ok(found)
}

/// A leaf that jumps with a coefficient that depends on the leaf itself.
fn bent(flat: &Flat, jump: &Jump) -> Option<Leaf> {
    for row in jump.rows.iter().filter(|row| row.holds.is_none()) {
        for &(column, coefficient) in &row.entries {
            let leaf = jump.columns[column as usize];
            let mut own = false;
            (flat.exprs).leaves(coefficient.expression(), |other| own |= other == leaf);
            if own {
                return Some(leaf);
            }
        }
    }
    None
}

/// The columns in another form of the model, by their names; NaN if that form has no such derivative.
pub fn recorded(solved: &mut Solved, columns: &[Column]) -> Vec<Column> {
    let mut all = Vec::new();
    for column in columns {
        let found = columns::matching(solved, std::slice::from_ref(&column.name));
        let found = found.ok().and_then(|found| found.into_iter().next());
        all.push(found.unwrap_or_else(|| Column {
            value: solved.flat.exprs.number(f64::NAN),
            ..column.clone()
        }));
    }
    all
}

/// The equations before any mode is put in, with nothing solved.
pub fn shared(positions: &Positions) -> Solved {
    Solved {
        flat: positions.flat.clone(),
        blocks: Vec::new(),
        zeros: Vec::new(),
        divisors: Vec::new(),
        start: None,
    }
}

/// Variables that the source differentiates, and states of any mode, in the order of the model.
pub fn states(positions: &Positions, compiled: &[CompiledMode]) -> Vec<Leaf> {
    let mut all: FxHashSet<Leaf> = differentiated(&positions.written).collect();
    for position in compiled {
        let flat = &position.solved.flat;
        all.extend(flat.states());
        for selection in flat.selections() {
            all.extend(&selection.candidates);
        }
    }
    let mut all: Vec<Leaf> = all.into_iter().collect();
    all.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
    all
}

impl<'s> Model<'s> {
    /// The model of all modes. `shared` has the equations of [`shared`], `columns` are those of each mode.
    pub fn of_positions(
        shared: &'s Solved,
        positions: &'s Positions,
        compiled: &'s [CompiledMode],
        columns: &[Vec<Column>],
        told: &Told,
    ) -> Result<Self, Refusal> {
        let first = columns.first().cloned().unwrap_or_default();
        let mut model = Model::bare(shared, first, &told.inputs);
        let forms: Vec<&Flat> = (compiled.iter())
            .map(|position| &position.solved.flat)
            .collect();
        model.slopes = told.slopes(&forms);
        if let (None, Some(&slope)) = (&told.slopes, derivatives_of_inputs(&forms).first()) {
            return Err(model.refuse(slope, "no program here can compute it"));
        }
        let opened = &positions.opened;
        let held: Vec<VarId> = opened.watches.iter().map(|watch| watch.held).collect();
        let sampled: Vec<VarId> = opened.samplers.iter().map(|one| one.held).collect();
        let apart: FxHashSet<VarId> = held.iter().chain(&sampled).copied().collect();
        model.discretes.retain(|id| !apart.contains(id));
        model.states = states(positions, compiled);
        model.whens = model.whens()?;
        model.open_watches(positions)?;
        model.find_sines();
        let mut switched = Switched {
            positions,
            modes: Vec::new(),
            by_key: vec![-1; 1 << positions.switches.len()],
            own: (positions.switches.iter())
                .map(|switch| own(positions, &model, switch.condition))
                .collect(),
            held,
            sampled,
        };
        for (position, columns) in compiled.iter().zip(columns) {
            let number = (position.key.iter().enumerate())
                .fold(0, |number, (at, &truth)| number | usize::from(truth) << at);
            switched.by_key[number] = switched.modes.len() as i32;
            let mode = model.mode(positions, position, columns.clone(), &apart)?;
            switched.modes.push(mode);
        }
        model.computed = model.places(&switched);
        model.switched = Some(switched);
        Ok(model)
    }

    fn mode(
        &self,
        positions: &Positions,
        position: &'s CompiledMode,
        columns: Vec<Column>,
        apart: &FxHashSet<VarId>,
    ) -> Result<Mode<'s>, Refusal> {
        let mut model = Model::bare(&position.solved, columns, &FxHashMap::default());
        model.discretes.clone_from(&self.discretes);
        model.before.clone_from(&self.before);
        model
            .replacements
            .retain(|leaf, _| !apart.contains(&leaf.variable()));
        model.compute()?;
        // Guesses for nonlinear loops.
        for block in &position.solved.blocks {
            let Block::Nonlinear(nonlinear) = block else {
                continue;
            };
            for &leaf in &nonlinear.iteration {
                let given = match leaf {
                    Leaf::Var(id) => model.flat.start(id),
                    _ => None,
                };
                if let Some(value) = given.and_then(|given| given.value.real()) {
                    let expression = None;
                    model.starts.insert(leaf, Start { value, expression });
                }
            }
        }
        let zero = positions.held_at_zero(&position.key);
        let at_zero = (positions.opened.watches.iter())
            .map(|watch| {
                positions
                    .left_leaf(watch)
                    .is_some_and(|leaf| zero.contains(&leaf))
            })
            .collect();
        let mut known: FxHashSet<Leaf> = model.replacements.keys().copied().collect();
        known.extend(model.states.iter().chain(&model.computed));
        Ok(Mode {
            known,
            key: position.key.clone(),
            model,
            jump: position.jump.as_ref(),
            at_zero,
        })
    }

    /// All variables with a place among the computed ones: neither states nor variables that keep their values.
    fn places(&self, switched: &Switched<'_>) -> Vec<Leaf> {
        let count = self.flat.variables.len();
        let elsewhere: FxHashSet<Leaf> = (self.states.iter().copied())
            .chain(self.discretes.iter().map(|&id| Leaf::Var(id)))
            .chain(switched.held.iter().map(|&id| Leaf::Var(id)))
            .chain(switched.sampled.iter().map(|&id| Leaf::Var(id)))
            .chain(self.inputs.iter().map(|&(id, _)| Leaf::Var(id)))
            .chain(self.slopes.iter().map(|&(leaf, _)| leaf))
            .collect();
        let mut all: FxHashSet<Leaf> = FxHashSet::default();
        for mode in &switched.modes {
            let flat = mode.model.flat;
            for id in (0..count as u32).map(VarId) {
                let variable = flat.variable(id);
                if !matches!(variable.kind, Kind::Parameter | Kind::Constant) {
                    all.extend((0..=variable.order).map(|order| Leaf::at_order(id, order)));
                }
            }
        }
        let mut all: Vec<Leaf> = all.into_iter().collect();
        all.retain(|leaf| !elsewhere.contains(leaf));
        all.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
        all
    }

    fn open_watches(&mut self, positions: &Positions) -> Result<(), Refusal> {
        let expression = |side: Side| match side {
            Side::Given(id) | Side::Variable(_, id) => id,
        };
        let mut moving = Moving::new(self.flat, &self.replacements, Inputs::Move);
        for watch in &positions.opened.watches {
            let (left, right) = (expression(watch.left), watch.right.map(expression));
            let relation = Relation {
                kind: watch.kind,
                node: watch.node,
                left,
                right,
                timed: moving.are_timed(left, right),
            };
            if relation.kind.is_momentary() {
                return Err(self.refuse_momentary(relation));
            }
            self.watches.push(relation);
        }
        for sampler in &positions.opened.samplers {
            self.samplers.push(Sample {
                node: sampler.node,
                start: sampler.start,
                period: sampler.period,
            });
        }
        // The formula of an experiment for an input is not an equation, and its relations were not taken out.
        let mut work: Vec<ExprId> = (self.inputs.iter())
            .filter_map(|&(_, given)| given)
            .collect();
        while let Some(id) = work.pop() {
            if WatchKind::of(self.flat, id).is_some() {
                return Err(Refusal(format!(
                    "`{}`: an input jumps, and its switches change the equations",
                    self.flat.expression(id)
                )));
            }
            self.flat.exprs.operands(id, &mut work);
        }
        Ok(())
    }

    /// Finds sines of Time in the equations of all modes.
    fn find_sines(&mut self) {
        let flat = self.flat;
        let roots = (flat.equations.iter())
            .filter(|equation| equation.kind != EquationKind::Init)
            .flat_map(|equation| [equation.left, equation.right]);
        let mut moving = Moving::new(flat, &self.replacements, Inputs::Move);
        let mut sines = find(flat, &mut moving, roots).sines;
        sines.sort_unstable();
        sines.dedup();
        self.sines = sines;
    }

    /// Sets the start values that were found; those that are expressions of parameters stay so.
    pub fn start_with(&mut self, values: &Values) {
        let flat = self.flat;
        let mut walk = Walk::default();
        for (&leaf, &value) in values {
            let given = match leaf {
                Leaf::Var(id) => flat.start(id),
                _ => None,
            };
            let follows = given.filter(|given| follows_parameters(flat, given, value, &mut walk));
            let expression = follows.map(|given| given.expression);
            self.starts.insert(leaf, Start { value, expression });
        }
    }

    /// The model and the models of its modes.
    pub fn all(&self) -> impl Iterator<Item = &Model<'s>> {
        let modes = self.switched.iter().flat_map(|switched| &switched.modes);
        std::iter::once(self).chain(modes.map(|mode| &mode.model))
    }

    /// Factors that have to stay zero, as text with the given binding strength, and as they are shown to the user.
    pub fn zeros(&self, dialect: &impl Dialect, binds: u8) -> BTreeMap<String, String> {
        let mut zeros = BTreeMap::new();
        for model in self.all() {
            let mut writer = Writer::new(model.flat, &model.replacements, dialect);
            for &zero in &model.solved.zeros {
                let text = writer.value(zero).at_least(binds);
                zeros.insert(text, model.flat.expression(zero));
            }
        }
        zeros
    }

    /// Whether the source contains a variable. In a model with modes, relations and their sides are variables too.
    pub fn is_written(&self, id: VarId) -> bool {
        let written = (self.switched.as_ref()).map_or(usize::MAX, |switched| {
            switched.positions.written.variables.len()
        });
        id.index() < written
    }
}

/// The discrete variable with a next value that is the condition of a switch.
fn own(positions: &Positions, model: &Model<'_>, condition: ExprId) -> Option<usize> {
    let flat = &positions.flat;
    let Node::Leaf(Leaf::Var(id)) = flat.exprs.node(condition) else {
        return None;
    };
    let next = |equation: &&crate::flat::Equation| {
        equation.kind == EquationKind::New
            && matches!(flat.exprs.node(equation.left), Node::Leaf(Leaf::New(of)) if of == id)
    };
    flat.equations.iter().find(next)?;
    model.discretes.iter().position(|&other| other == id)
}
