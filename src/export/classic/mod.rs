//! What the classic simulation languages DESIRE, SIMNON and ACSL need of a solved model.
//!
//! Before: a solved model and its experiment. After: [`Classic`]: states with their start values, parameters, inputs;
//! statements in the order of evaluation, each an assignment or the rate of a state; updates at events; variables to be
//! shown. None of these languages iterates: linear loops are written as assignments ([`elimination`]), and a model with
//! a nonlinear loop is refused by name. Where the run would choose states, all candidates are states. The equations are
//! then those of the reduced index, and the constraints hold only as well as the integration is accurate; a note says
//! so.

mod elimination;
mod events;
mod formulas;
mod language;
mod mention;
pub mod names;
mod print;
mod program;
mod text;

pub use events::{Change, Happening};
pub use formulas::{Formulas, Symbol};
pub use language::{Language, Truths, caret, whole_part};
pub use program::{export, keep_inputs};
pub use text::{comment, real};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::evaluate::{Point, evaluate_start};
use crate::experiment::Experiment;
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, InstanceId, Kind, Leaf, Type, VarId};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Solved};
use crate::positions::Values;

/// One line of a program.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    pub target: Target,
    pub value: Right,
    pub origin: InstanceId,
}

/// The right side of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Formula(ExprId),
    Same(Leaf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Value(Leaf),
    /// The rate of this state.
    Rate(Leaf),
}

#[derive(Clone, Copy, Debug)]
pub struct Started {
    pub leaf: Leaf,
    pub value: Value,
    /// The user gave it.
    pub given: bool,
}

/// An update of a variable at events.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// A discrete variable, or a state that is restarted.
    pub target: Leaf,
    pub value: ExprId,
    /// The condition that has to become true; `None` if the update happens at every event.
    pub when: Option<usize>,
}

/// A condition of a `when`.
#[derive(Clone, Debug)]
pub struct Condition {
    pub expression: ExprId,
    /// It is true at the start.
    pub holds: bool,
    /// The conditions of earlier branches, which take precedence.
    pub earlier: Vec<usize>,
    /// It contains a `sample`, which is true only for a moment,
    pub sampled: bool,
    /// and without the sample it is false.
    pub momentary: bool,
}

/// `sample(start, period)`
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    pub node: ExprId,
    pub period: ExprId,
    /// The period, as a number.
    pub seconds: f64,
    /// The first time of a sample after the start.
    pub next: f64,
}

/// What a program is made from.
#[derive(Debug)]
pub struct Task<'t> {
    pub solved: &'t Solved,
    pub experiment: &'t Experiment,
    /// A switch changes the index.
    pub raised: bool,
    /// Values after the event at the start, if there is one.
    pub starts: Option<Values>,
}

#[derive(Debug)]
pub struct Classic<'s> {
    pub flat: &'s Flat,
    pub states: Vec<Started>,
    pub discretes: Vec<Started>,
    /// Parameters and constants in the statements.
    pub parameters: Vec<VarId>,
    /// Inputs, and derivatives of inputs from index reduction, with constant values.
    pub inputs: Vec<(Leaf, f64)>,
    pub statements: Vec<Statement>,
    pub updates: Vec<Update>,
    pub conditions: Vec<Condition>,
    pub samplers: Vec<Sampler>,
    /// Lists of variables to be shown.
    pub shown: Vec<Vec<Leaf>>,
    /// Remarks for the reader of the program.
    pub notes: Vec<String>,
    pub start: f64,
    pub until: f64,
    pub step: f64,
    pub points: usize,
    /// The numbers of the experiment.
    pub experiment: &'s Experiment,
    /// The expressions that replace eliminated variables.
    pub replacements: FxHashMap<Leaf, ExprId>,
    /// The leaves in the formulas.
    used: FxHashSet<Leaf>,
}

impl<'s> Classic<'s> {
    /// `language` is named in a refusal.
    pub fn new(task: &Task<'s>, language: &str) -> Result<Classic<'s>, String> {
        let (solved, experiment) = (task.solved, task.experiment);
        let flat = &solved.flat;
        let Some(until) = experiment.until else {
            return Err(format!(
                "{language} programs need the end of the run: an experiment with `simutime`"
            ));
        };
        let points = experiment.count(until, 101);
        let step = experiment.step.unwrap_or_else(|| {
            let intervals = points.max(2) - 1;
            (until - experiment.start) / intervals as f64
        });
        let mut made = Classic {
            flat,
            states: Vec::new(),
            discretes: Vec::new(),
            parameters: Vec::new(),
            inputs: Vec::new(),
            statements: Vec::new(),
            updates: Vec::new(),
            conditions: Vec::new(),
            samplers: Vec::new(),
            shown: Vec::new(),
            notes: Vec::new(),
            start: experiment.start,
            until,
            step,
            points,
            experiment,
            replacements: flat.replacements(),
            used: FxHashSet::default(),
        };
        if task.raised {
            made.notes.push(
                "a switch changes the index: these are the equations of the higher one, in which states are held by their rates alone, and drift".into(),
            );
        }
        let point = made.start(task)?;
        made.show();
        made.events(&point, language)?;
        made.mention(solved, language)?;
        made.compute(solved, language)?;
        made.known(language)?;
        Ok(made)
    }

    /// Values at the start, of states and discrete variables.
    fn start(&mut self, task: &Task<'_>) -> Result<Point, String> {
        let (flat, solved) = (self.flat, task.solved);
        let mut point = Point::new(solved);
        point.time = self.start;
        evaluate_start(solved, &mut point)
            .map_err(|failure| format!("the start cannot be computed: {}", failure.message))?;
        let mut states: Vec<Leaf> = flat.states().collect();
        for selection in flat.selections() {
            states.extend(&selection.candidates);
        }
        if !flat.selections().is_empty() {
            self.notes.push(
                "the index was reduced: constraints between states hold by integration alone, and drift".into(),
            );
        }
        for (&leaf, &value) in task.starts.iter().flatten() {
            point.set(
                leaf,
                match self.is_boolean(leaf) {
                    true => Value::Bool(value != 0.0),
                    false => Value::Real(value),
                },
            );
        }
        let started = |leaf: Leaf| Started {
            leaf,
            value: point.get(leaf).unwrap_or(Value::Real(0.0)),
            given: flat.start(leaf.variable()).is_some(),
        };
        self.states = states.into_iter().map(started).collect();
        self.discretes = (flat.variable_ids())
            .filter(|&id| flat.variable(id).kind == Kind::Discrete)
            .map(|id| started(Leaf::Var(id)))
            .filter(|one| !self.replacements.contains_key(&one.leaf))
            .collect();
        Ok(point)
    }

    /// Statements for all blocks, and a rate for each state.
    fn compute(&mut self, solved: &Solved, language: &str) -> Result<(), String> {
        let flat = self.flat;
        let name = |leaf: Leaf| flat.leaf_name(leaf);
        for block in &solved.blocks {
            match block {
                Block::Assignment(one) => self.assign(one),
                Block::Linear(Linear {
                    method: Method::Formulas(all),
                    ..
                }) => all.iter().for_each(|one| self.assign(one)),
                Block::Linear(linear) => {
                    return Err(format!(
                        "{language} programs cannot solve the linear loop of {} unknowns with `{}`",
                        linear.unknowns.len(),
                        name(linear.unknowns[0])
                    ));
                }
                Block::Nonlinear(nonlinear) => {
                    return Err(format!(
                        "{language} programs cannot iterate on `{}`: its loop is not linear, and Newton steps of a fixed number need not converge",
                        name(nonlinear.iteration[0])
                    ));
                }
                Block::Selected(selected) => {
                    let is_state = |leaf: &&Leaf| !self.states.iter().any(|one| one.leaf == **leaf);
                    if let Some(&other) = selected.unknowns.iter().find(is_state) {
                        return Err(format!(
                            "{language} programs cannot compute `{}`: it is found together with states that the run chooses",
                            name(other)
                        ));
                    }
                }
                Block::When(_) => {}
            }
        }
        // Rates that no block computes, because they equal something else.
        for at in 0..self.states.len() {
            let state = self.states[at].leaf;
            let done = |one: &Statement| one.target == Target::Rate(state);
            if self.statements.iter().any(done) {
                continue;
            }
            let rate = state.rate();
            let value = match self.replacements.get(&rate) {
                Some(&value) => Right::Formula(value),
                None if self.states.iter().any(|one| one.leaf == rate) => Right::Same(rate),
                None => {
                    return Err(format!(
                        "{language} programs cannot compute `{}`",
                        name(rate)
                    ));
                }
            };
            self.statements.push(Statement {
                target: Target::Rate(state),
                value,
                origin: InstanceId::TOP,
            });
        }
        Ok(())
    }

    /// The statement of one assignment: a value, a rate, or an update at events.
    fn assign(&mut self, assignment: &Assignment) {
        let origin = assignment
            .equation
            .map_or(InstanceId::TOP, |id| self.flat.equations[id.index()].origin);
        let target = assignment.target;
        if let Leaf::New(id) = target {
            self.updates.push(Update {
                target: Leaf::Var(id),
                value: assignment.value,
                when: None,
            });
            return;
        }
        let state = match target {
            Leaf::Der(id, order) => Some(Leaf::at_order(id, order - 1)),
            _ => None,
        };
        let state = state.filter(|leaf| self.states.iter().any(|one| one.leaf == *leaf));
        let mut add = |target: Target, value: Right| {
            self.statements.push(Statement {
                target,
                value,
                origin,
            });
        };
        let formula = Right::Formula(assignment.value);
        match state {
            None => add(Target::Value(target), formula),
            // A rate that other formulas need gets a name of its own.
            Some(state) if self.used.contains(&target) => {
                add(Target::Value(target), formula);
                add(Target::Rate(state), Right::Same(target));
            }
            Some(state) => add(Target::Rate(state), formula),
        }
    }

    /// What is shown: as the experiment says, else the outputs, else the states.
    fn show(&mut self) {
        let flat = self.flat;
        let plots = self.experiment.plots.iter();
        self.shown = plots
            .map(|list| {
                let leaves = list.iter().filter_map(|one| one.variable.map(Leaf::Var));
                leaves.collect::<Vec<_>>()
            })
            .filter(|list| !list.is_empty())
            .collect();
        if self.shown.is_empty() {
            let outputs: Vec<Leaf> = (flat.variable_ids())
                .filter(|&id| flat.variable(id).output)
                .map(Leaf::Var)
                .collect();
            let states = || self.states.iter().map(|one| one.leaf).collect();
            let list: Vec<Leaf> = if outputs.is_empty() {
                states()
            } else {
                outputs
            };
            self.shown.extend((!list.is_empty()).then_some(list));
        }
    }

    /// All variables with a name in the program, states first, in its order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut all: Vec<Leaf> = self.states.iter().map(|one| one.leaf).collect();
        all.extend(self.discretes.iter().map(|one| one.leaf));
        all.extend(self.parameters.iter().map(|&id| Leaf::Var(id)));
        all.extend(self.inputs.iter().map(|&(leaf, _)| leaf));
        all.extend(self.statements.iter().filter_map(|one| match one.target {
            Target::Value(leaf) => Some(leaf),
            Target::Rate(_) => None,
        }));
        all.extend(self.shown.iter().flatten());
        all
    }

    /// Eliminated variables that are shown, with their replacements.
    pub fn shown_and_eliminated(&self) -> Vec<(Leaf, ExprId)> {
        let mut found: Vec<(Leaf, ExprId)> = Vec::new();
        for &leaf in self.shown.iter().flatten() {
            if let Some(&expression) = self.replacements.get(&leaf)
                && !found.iter().any(|&(known, _)| known == leaf)
            {
                found.push((leaf, expression));
            }
        }
        found
    }

    /// The expression that replaces an eliminated variable, or its value before the event.
    pub fn replacement(&self, leaf: Leaf) -> Option<ExprId> {
        let replaced = match leaf {
            Leaf::Pre(id) => Leaf::Var(id),
            other => other,
        };
        self.replacements.get(&replaced).copied()
    }

    /// Whether something is a boolean.
    pub fn is_boolean(&self, leaf: Leaf) -> bool {
        self.flat.variable(leaf.variable()).ty == Type::Boolean
    }

    /// The value as a number; booleans are 0 and 1.
    pub fn value(&self, id: VarId) -> f64 {
        self.flat
            .value(id)
            .map_or(0.0, |given| given.value.number())
    }
}
