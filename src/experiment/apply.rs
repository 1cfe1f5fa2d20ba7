//! Application of an experiment to the flat model.
//!
//! Before: the flat model as it was written. After: parameters have the values of the experiment, and values that depend on
//! them are computed anew; start values of the experiment override all others; an input that is given is a variable with an
//! equation of its own, `u = 10*sin(Time)`, which index reduction can differentiate.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collect::{Assignment, Settings, Target, twice};
use super::convert::{Converter, Role};
use super::names::Names;
use super::{ChangedValue, CommandLine, Experiment, numbers, values};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Span;
use crate::evaluate::{Walk, leaves};
use crate::expr::{ExprId, Node};
use crate::flat::{Equation, EquationKind, Flat, Given, InstanceId, Kind, Leaf, VarId};
use crate::model::check_tables;
use crate::syntax::ast::{ExperimentStatement, Exprs};

/// The statements of the experiment, and the command line.
pub(super) struct ExperimentBodies<'t> {
    pub file: Option<(&'t Exprs, &'t [ExperimentStatement])>,
    pub command: &'t CommandLine,
}

/// Applies the statements; `None` after an error.
pub(super) fn apply(
    flat: &mut Flat,
    bodies: &ExperimentBodies<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Experiment> {
    let before = diagnostics.errors();
    let names = std::sync::Arc::clone(&flat.names);
    let (mut file, mut command) = (Settings::default(), Settings::default());
    if let Some((exprs, body)) = bodies.file {
        file.add(exprs, body, &names, diagnostics);
    }
    for (tree, body) in bodies.command.bodies() {
        command.add(&tree.exprs, body, &names, diagnostics);
    }
    let mut builder = ExperimentBuilder {
        converter: Converter {
            flat,
            names: Names::default(),
            diagnostics,
            walk: Walk::default(),
            tables: false,
        },
        experiment: Experiment::default(),
    };
    builder.parameters(&file, &command);
    builder.starts(&file, &command);
    builder.inputs(&file, &command);
    numbers::numbers(
        &mut builder.converter,
        &file,
        &command,
        &mut builder.experiment,
    );
    builder.absolutes(&file, &command);
    builder.plots(&file);
    builder.sweeps(bodies.command);
    if builder.converter.tables || !builder.experiment.set.is_empty() {
        check_tables(builder.converter.flat, builder.converter.diagnostics);
    }
    let method = command.method.or(file.method);
    builder.experiment.method = method.map(|name| (names.name(name.symbol).to_string(), name.span));
    builder.experiment.control = file.control.map(str::to_string);
    builder.experiment.block = file.block.map(|name| names.name(name.symbol).to_string());
    let experiment = builder.experiment;
    (diagnostics.errors() == before).then_some(experiment)
}

/// A value given to a variable, with its span.
#[derive(Clone, Copy)]
struct GivenValue {
    variable: VarId,
    expression: ExprId,
    span: Span,
    /// It is given on the command line.
    command: bool,
}

/// An experiment while its statements are applied.
pub(super) struct ExperimentBuilder<'a> {
    pub converter: Converter<'a>,
    pub experiment: Experiment,
}

impl ExperimentBuilder<'_> {
    pub(super) fn flat(&mut self) -> &mut Flat {
        self.converter.flat
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.converter.diagnostics.push(diagnostic);
    }

    /// The values given to variables: each variable once. A value of the command line overrides that of the file; two values
    /// in one of them are an error.
    fn given_values(
        &mut self,
        file: &[Assignment<'_>],
        command: &[Assignment<'_>],
        role: Role,
        mut target: impl FnMut(&mut Self, &Target<'_>) -> Option<VarId>,
    ) -> Vec<GivenValue> {
        let mut found: Vec<GivenValue> = Vec::new();
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
                    self.report(twice(&format!("`{name}`"), span, earlier));
                    continue;
                }
                seen.insert(variable, span);
                let value = self.converter.value_for(variable, assignment, role);
                let Some(expression) = value else { continue };
                let assigned = GivenValue {
                    variable,
                    expression,
                    span: match role {
                        Role::Input => span,
                        _ => assignment.target.exprs.span(assignment.value),
                    },
                    command: of_command,
                };
                match places.get(&variable) {
                    Some(&at) => found[at] = assigned,
                    None => {
                        places.insert(variable, found.len());
                        found.push(assigned);
                    }
                }
            }
        }
        found
    }

    fn parameters(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let assigned = self.given_values(
            &file.parameters,
            &command.parameters,
            Role::Parameter,
            Self::parameter,
        );
        if assigned.is_empty() {
            return;
        }
        let mut changed = Vec::new();
        for entry in &assigned {
            if let Some(given) = values::given(&mut self.flat().values, entry.variable) {
                given.expression = entry.expression;
                given.span = entry.span;
                changed.push(entry.variable);
            }
        }
        match values::follow(self.flat(), &changed) {
            Ok(moved) => self.keep_shape(&assigned, &moved),
            Err(diagnostic) => self.report(diagnostic),
        }
        let flat = &*self.converter.flat;
        let mut set: Vec<ChangedValue> = (assigned.iter())
            .filter_map(|entry| Some(changed_to(entry, flat.value(entry.variable)?)))
            .collect();
        set.sort_by_key(|entry| entry.variable);
        self.experiment.set = set;
    }

    /// The parameter that a name means; a variable of another kind is reported.
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
        self.report(diagnostic);
        None
    }

    /// Reports given values that would change a size, a bound or an index: the model was flattened with these.
    fn keep_shape(&mut self, assigned: &[GivenValue], moved: &[VarId]) {
        let flat = &*self.converter.flat;
        let shaping: Vec<VarId> = (moved.iter().copied())
            .filter(|id| flat.shaping.binary_search(id).is_ok())
            .collect();
        for entry in assigned {
            self.shapes(entry.variable, &shaping, entry.span);
        }
    }

    /// Reports a parameter if it is in `shaping`, or if a parameter in `shaping` depends on it.
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
        self.report(diagnostic.hint("change its value in the model"));
    }

    fn starts(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let assigned =
            self.given_values(&file.initial, &command.initial, Role::Start, Self::started);
        if assigned.is_empty() {
            return;
        }
        let mut new: Vec<Given> = Vec::new();
        for entry in &assigned {
            let Some(value) = self.converter.finite(entry.expression, entry.span) else {
                continue;
            };
            let given = Given {
                variable: entry.variable,
                value,
                expression: entry.expression,
                span: entry.span,
                depth: match entry.command {
                    true => Given::ON_COMMAND_LINE,
                    false => Given::IN_EXPERIMENT,
                },
            };
            self.experiment.starts.push(changed_to(entry, &given));
            new.push(given);
        }
        self.experiment.starts.sort_by_key(|entry| entry.variable);
        // Start values and `init(x) = v` of the model are overridden.
        let given: FxHashSet<VarId> = assigned.iter().map(|entry| entry.variable).collect();
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

    /// The variable that a name means, if it can have a start value; other kinds are reported.
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
        self.report(match kind {
            Kind::Input => diagnostic.hint(format!("an input is given: `input {name} = ...`")),
            _ => diagnostic.hint(format!("a parameter is changed: `parameter {name} = ...`")),
        });
        None
    }

    fn inputs(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let assigned = self.given_values(&file.inputs, &command.inputs, Role::Input, Self::input);
        if assigned.is_empty() {
            return;
        }
        let given: FxHashSet<VarId> = assigned.iter().map(|entry| entry.variable).collect();
        let flat = self.flat();
        flat.values.retain(|value| !given.contains(&value.variable));
        for entry in &assigned {
            // What the model differentiates is a state as flattened: index reduction finds that its equation leaves no choice.
            let variable = &mut flat.variables[entry.variable.index()];
            variable.states = variable.order;
            variable.kind = match variable.order {
                0 => Kind::Algebraic,
                _ => Kind::State,
            };
            let left = flat.exprs.leaf(Leaf::Var(entry.variable));
            flat.equations.push(Equation {
                left,
                right: entry.expression,
                origin: InstanceId::TOP,
                span: entry.span,
                kind: EquationKind::Equation,
            });
        }
        let mut inputs: Vec<(VarId, Span)> = assigned
            .iter()
            .map(|entry| (entry.variable, entry.span))
            .collect();
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
        self.report(diagnostic.hint("declare it in the model: `input u`"));
        None
    }
}

fn changed_to(entry: &GivenValue, given: &Given) -> ChangedValue {
    ChangedValue {
        variable: entry.variable,
        value: given.value,
        span: entry.span,
    }
}

/// Whether the value of a parameter depends on another one, directly or indirectly.
fn depends(flat: &Flat, parameter: VarId, on: VarId) -> bool {
    let mut stack = vec![parameter];
    let mut seen = FxHashSet::default();
    while let Some(id) = stack.pop() {
        if id == on {
            return true;
        }
        if seen.insert(id)
            && let Some(given) = flat.value(id)
        {
            let needs = leaves(&flat.exprs, given.expression);
            stack.extend(needs.into_iter().map(Leaf::variable));
        }
    }
    false
}
