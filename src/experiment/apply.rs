//! An experiment put into the flat model.
//!
//! Before: the flat model as it was written. After: parameters have their values of the experiment and all
//! that is computed from them follows; start values of the experiment are stronger than all others; an input that is
//! given is a variable with an equation of its own, `u = 10*sin(Time)`, which index reduction can differentiate.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collect::{Assignment, Settings, Target, twice};
use super::convert::{Converter, Role};
use super::names::Names;
use super::{Changed, CommandLine, Experiment, numbers, values};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Span;
use crate::evaluate::{Walk, leaves};
use crate::expr::{ExprId, Node};
use crate::flat::{Equation, EquationKind, Flat, Given, InstanceId, Kind, Leaf, VarId};
use crate::model::check_tables;
use crate::syntax::ast::{ExperimentStatement, Exprs};

/// The statements that count: those of the experiment, and the command line.
pub(super) struct Bodies<'t> {
    pub file: Option<(&'t Exprs, &'t [ExperimentStatement])>,
    pub command: &'t CommandLine,
}

/// `None` after an error.
pub(super) fn apply(
    flat: &mut Flat,
    bodies: &Bodies<'_>,
    said: &mut Diagnostics,
) -> Option<Experiment> {
    let before = said.errors();
    let names = std::sync::Arc::clone(&flat.names);
    let (mut file, mut command) = (Settings::default(), Settings::default());
    if let Some((exprs, body)) = bodies.file {
        file.add(exprs, body, &names, said);
    }
    for (tree, body) in bodies.command.bodies() {
        command.add(&tree.exprs, body, &names, said);
    }
    let mut work = Work {
        converter: Converter {
            flat,
            names: Names::default(),
            said,
            walk: Walk::default(),
            tables: false,
        },
        experiment: Experiment::default(),
    };
    work.parameters(&file, &command);
    work.starts(&file, &command);
    work.inputs(&file, &command);
    numbers::numbers(&mut work.converter, &file, &command, &mut work.experiment);
    work.absolutes(&file, &command);
    work.plots(&file);
    work.sweeps(bodies.command);
    if work.converter.tables || !work.experiment.set.is_empty() {
        check_tables(work.converter.flat, work.converter.said);
    }
    let method = command.method.or(file.method);
    work.experiment.method = method.map(|name| (names.name(name.symbol).to_string(), name.span));
    work.experiment.control = file.control.map(str::to_string);
    work.experiment.block = file.block.map(|name| names.name(name.symbol).to_string());
    let experiment = work.experiment;
    (said.errors() == before).then_some(experiment)
}

/// A value that counts, with its place.
#[derive(Clone, Copy)]
struct Wanted {
    variable: VarId,
    expression: ExprId,
    span: Span,
    /// By the command line.
    command: bool,
}

pub(super) struct Work<'a> {
    pub converter: Converter<'a>,
    pub experiment: Experiment,
}

impl Work<'_> {
    pub(super) fn flat(&mut self) -> &mut Flat {
        self.converter.flat
    }

    pub(super) fn say(&mut self, diagnostic: Diagnostic) {
        self.converter.said.push(diagnostic);
    }

    /// What is given to variables, by variable: each once in the file, and once on the command line, which counts.
    fn wanted(
        &mut self,
        file: &[Assignment<'_>],
        command: &[Assignment<'_>],
        role: Role,
        mut target: impl FnMut(&mut Self, &Target<'_>) -> Option<VarId>,
    ) -> Vec<Wanted> {
        let mut found: Vec<Wanted> = Vec::new();
        let mut places: FxHashMap<VarId, usize> = FxHashMap::default();
        for (list, of_command) in [(file, false), (command, true)] {
            let mut seen: FxHashMap<VarId, Span> = FxHashMap::default();
            for assignment in list {
                let span = assignment.target.span;
                let Some(variable) = target(self, &assignment.target) else {
                    continue;
                };
                if let Some(&earlier) = seen.get(&variable) {
                    let name = self.flat().name(variable);
                    self.say(twice(&format!("`{name}`"), span, earlier));
                    continue;
                }
                seen.insert(variable, span);
                let value = self.converter.value_for(variable, assignment, role);
                let Some(expression) = value else { continue };
                let wanted = Wanted {
                    variable,
                    expression,
                    span: match role {
                        Role::Input => span,
                        _ => assignment.target.exprs.span(assignment.value),
                    },
                    command: of_command,
                };
                match places.get(&variable) {
                    Some(&at) => found[at] = wanted,
                    None => {
                        places.insert(variable, found.len());
                        found.push(wanted);
                    }
                }
            }
        }
        found
    }

    fn parameters(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let wanted = self.wanted(
            &file.parameters,
            &command.parameters,
            Role::Parameter,
            Self::parameter,
        );
        if wanted.is_empty() {
            return;
        }
        let mut changed = Vec::new();
        for one in &wanted {
            if let Some(given) = values::given(&mut self.flat().values, one.variable) {
                given.expression = one.expression;
                given.span = one.span;
                changed.push(one.variable);
            }
        }
        match values::follow(self.flat(), &changed) {
            Ok(moved) => self.keep_shape(&wanted, &moved),
            Err(diagnostic) => self.say(diagnostic),
        }
        let flat = &*self.converter.flat;
        let mut set: Vec<Changed> = (wanted.iter())
            .filter_map(|one| Some(changed_to(one, flat.value(one.variable)?)))
            .collect();
        set.sort_by_key(|one| one.variable);
        self.experiment.set = set;
    }

    /// A parameter that can be changed; what else it is, is told.
    pub(super) fn parameter(&mut self, target: &Target<'_>) -> Option<VarId> {
        let code = Code::UnknownParameter;
        let id = (self.converter).variable(target, code, &[Kind::Parameter])?;
        let flat = &*self.converter.flat;
        let (name, kind) = (flat.name(id), flat.variable(id).kind);
        let diagnostic = match kind {
            Kind::Parameter => return Some(id),
            Kind::Constant => {
                let message = format!("`{name}` is a constant: its value cannot be changed");
                Diagnostic::new(Code::FixedParameter, message)
                    .at(target.span, "a constant")
                    .at(flat.declaration(id).span, "declared here")
                    .hint("declare it as a `parameter`")
            }
            kind => {
                let message = format!("`{name}` is no parameter of `{}`", flat.model());
                let diagnostic = Diagnostic::new(code, message)
                    .at(target.span, format!("its kind: {}", kind.text()));
                match kind {
                    Kind::Input => {
                        diagnostic.hint(format!("an input is given: `input {name} = ...`"))
                    }
                    _ => diagnostic.hint(format!("a start value is given: `init {name} = ...`")),
                }
            }
        };
        self.say(diagnostic);
        None
    }

    /// Another size, bound or index would be another model.
    fn keep_shape(&mut self, wanted: &[Wanted], moved: &[VarId]) {
        let flat = &*self.converter.flat;
        let shaping: Vec<VarId> = (moved.iter().copied())
            .filter(|id| flat.shaping.binary_search(id).is_ok())
            .collect();
        for one in wanted {
            self.shapes(one.variable, &shaping, one.span);
        }
    }

    /// Reports a parameter if it is one of those that shape the model, or if one of them follows it.
    pub(super) fn shapes(&mut self, parameter: VarId, shaping: &[VarId], span: Span) {
        let flat = &*self.converter.flat;
        let own = shaping.iter().find(|&&id| id == parameter);
        let shape = own.or_else(|| shaping.iter().find(|&&id| depends(flat, id, parameter)));
        let Some(&shape) = shape else {
            return;
        };
        let name = flat.name(parameter);
        let message = format!("`{name}` shapes the model: an experiment cannot change it");
        let mut diagnostic = Diagnostic::new(Code::FixedParameter, message)
            .at(span, "another value here")
            .at(flat.declaration(parameter).span, "declared here")
            .note("a size, the bound of a `for` or an index depends on it");
        if shape != parameter {
            diagnostic = diagnostic.note(format!("through `{}`", flat.name(shape)));
        }
        self.say(diagnostic.hint("change its value in the model"));
    }

    fn starts(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let wanted = self.wanted(&file.initial, &command.initial, Role::Start, Self::started);
        if wanted.is_empty() {
            return;
        }
        // Nothing is further out than an experiment but the command line.
        for given in &mut self.flat().starts {
            given.depth += 2;
        }
        let mut new: Vec<Given> = Vec::new();
        for one in &wanted {
            let Some(value) = self.converter.finite(one.expression, one.span) else {
                continue;
            };
            let given = Given {
                variable: one.variable,
                value,
                expression: one.expression,
                span: one.span,
                depth: if one.command { 0 } else { 1 },
            };
            self.experiment.starts.push(changed_to(one, &given));
            new.push(given);
        }
        self.experiment.starts.sort_by_key(|one| one.variable);
        // Start values and `init(x) = v` of the model are overruled.
        let given: FxHashSet<VarId> = wanted.iter().map(|one| one.variable).collect();
        let Flat {
            equations,
            exprs,
            starts,
            ..
        } = self.flat();
        starts.retain(|start| !given.contains(&start.variable));
        starts.extend(new);
        starts.sort_by_key(|start| start.variable);
        equations.retain(|equation| match exprs.node(equation.left) {
            Node::Leaf(Leaf::Init(id)) if equation.kind == EquationKind::Init => {
                !given.contains(&id)
            }
            _ => true,
        });
    }

    /// A variable that can be started.
    fn started(&mut self, target: &Target<'_>) -> Option<VarId> {
        let kinds = [Kind::State, Kind::Discrete, Kind::Algebraic, Kind::Output];
        let id = (self.converter).variable(target, Code::UnknownVariable, &kinds)?;
        let flat = &*self.converter.flat;
        let kind = flat.variable(id).kind;
        if kind.is_unknown() {
            return Some(id);
        }
        let name = flat.name(id);
        let message = format!("`{name}` has no start value");
        let diagnostic = Diagnostic::new(Code::NotAVariable, message)
            .at(target.span, format!("its kind: {}", kind.text()));
        self.say(match kind {
            Kind::Input => diagnostic.hint(format!("an input is given: `input {name} = ...`")),
            _ => diagnostic.hint(format!("a parameter is changed: `parameter {name} = ...`")),
        });
        None
    }

    fn inputs(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let wanted = self.wanted(&file.inputs, &command.inputs, Role::Input, Self::input);
        if wanted.is_empty() {
            return;
        }
        let given: FxHashSet<VarId> = wanted.iter().map(|one| one.variable).collect();
        let flat = self.flat();
        flat.values.retain(|value| !given.contains(&value.variable));
        for one in &wanted {
            flat.variables[one.variable.index()].kind = Kind::Algebraic;
            let left = flat.exprs.leaf(Leaf::Var(one.variable));
            flat.equations.push(Equation {
                left,
                right: one.expression,
                origin: InstanceId::TOP,
                span: one.span,
                kind: EquationKind::Equation,
            });
        }
        let mut inputs: Vec<(VarId, Span)> =
            wanted.iter().map(|one| (one.variable, one.span)).collect();
        inputs.sort_unstable_by_key(|&(id, _)| id);
        self.experiment.inputs = inputs;
    }

    fn input(&mut self, target: &Target<'_>) -> Option<VarId> {
        let code = Code::UnknownVariable;
        let id = (self.converter).variable(target, code, &[Kind::Input])?;
        let flat = &*self.converter.flat;
        if flat.variable(id).kind == Kind::Input {
            return Some(id);
        }
        let message = format!("`{}` is no input of `{}`", flat.name(id), flat.model());
        let diagnostic =
            Diagnostic::new(Code::NotAVariable, message).at(target.span, "not an input");
        self.say(diagnostic.hint("declare it in the model: `input u`"));
        None
    }
}

fn changed_to(one: &Wanted, given: &Given) -> Changed {
    Changed {
        variable: one.variable,
        value: given.value,
        span: one.span,
    }
}

/// Whether the value of a parameter is computed from another one, at any depth.
fn depends(flat: &Flat, parameter: VarId, on: VarId) -> bool {
    let mut work = vec![parameter];
    let mut seen = FxHashSet::default();
    while let Some(id) = work.pop() {
        if id == on {
            return true;
        }
        if seen.insert(id)
            && let Some(given) = flat.value(id)
        {
            let needs = leaves(&flat.exprs, given.expression);
            work.extend(needs.into_iter().map(Leaf::variable));
        }
    }
    false
}
