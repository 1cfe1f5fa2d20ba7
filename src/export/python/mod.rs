//! The target `python`: one module that needs only `math`.
//!
//! Before: a [`Model`], and the flat model as it was written. After: names and values of all variables; `rhs`,
//! `outputs`, `full`, `residuals` and `events`, which have no memory and can be given to an integrator; and `simulate`,
//! a run with events as in `bgm simulate`.

mod blocks;
mod dialect;
mod positions;

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::Request;
use super::model::{Model, head};
use super::places::Place;
use super::statements::{Statements, blocks as shared, events};
use super::write::Writer;
use crate::base::words::literal;
use crate::expr::{ExprId, Value};
use crate::flat::Leaf;
use crate::passes::relations::WatchKind;
use dialect::{Python, Scope, constant};

/// The largest linear loop. They are solved as full matrices, and lists of Python are slow.
pub const LARGEST: usize = 300;

const RUNTIME: &str = include_str!("runtime.py");
const RUN: &str = include_str!("run.py");
const POSITIONS: &str = include_str!("positions.py");
const MAIN: &str = include_str!("main.py");

/// The module.
pub fn program(request: &Request<'_>) -> String {
    let model = request.model;
    let python = Python::new(model);
    let modes = model.switched.iter().flat_map(|switched| &switched.modes);
    let dialects: Vec<Python<'_>> = modes.map(|mode| python.in_position(&mode.model)).collect();
    let mut module = Module::new(model, &python);
    module.names(request);
    module.parameters();
    module.inputs();
    module.initial();
    match &model.switched {
        Some(switched) => module.modes(switched, &dialects),
        None => module.evaluate(),
    }
    module.readers();
    module.whens();
    let mut file = module.file;
    residuals(request, &mut file);
    // The class of runs uses the names, so it comes last.
    file.push_str(RUNTIME);
    file.push_str(RUN);
    if model.switched.is_some() {
        file.push_str(POSITIONS);
    }
    file.push_str(MAIN);
    file
}

pub(super) struct Module<'p> {
    model: &'p Model<'p>,
    python: &'p Python<'p>,
    writer: Writer<'p, Python<'p>>,
    file: String,
    /// All states that a run integrates; a mode may have fewer.
    states: &'p [Leaf],
    /// The first number of a loop, so that modes keep their solutions apart.
    number: usize,
    /// How messages about failures name the time.
    time: &'static str,
}

/// `("a", "b",)`
fn tuple(names: impl IntoIterator<Item = String>) -> String {
    tuple_of(names.into_iter().map(|name| literal(&name)))
}

/// `(a, b,)`
fn tuple_of(values: impl IntoIterator<Item = String>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value + ",").collect();
    format!("({})", values.join(" "))
}

impl<'p> Module<'p> {
    fn new(model: &'p Model<'p>, python: &'p Python<'p>) -> Self {
        Module {
            model,
            writer: Writer::new(model.flat, &model.replacements, python),
            python,
            file: String::new(),
            states: &model.states,
            number: 0,
            time: "t",
        }
    }

    fn shown(&self, leaf: Leaf) -> String {
        self.model.flat.leaf_name(leaf)
    }

    /// Writes the head of a function, the lines that the writer has collected, and the last line.
    fn function(&mut self, head: &str, tail: &str) {
        let body = self.writer.take();
        let _ = write!(self.file, "\n\ndef {head}:\n{body}    {tail}\n");
    }

    fn names(&mut self, request: &Request<'_>) {
        let model = self.model;
        let flat = model.flat;
        let all = |leaves: &[Leaf]| tuple(leaves.iter().map(|&leaf| flat.leaf_name(leaf)));
        let outputs: Vec<Leaf> = (flat.variable_ids())
            .filter(|&id| flat.variable(id).output)
            .map(Leaf::Var)
            .collect();
        let rates: Vec<Leaf> = model.states.iter().map(|state| state.rate()).collect();
        let title = literal(flat.model());
        let file = &mut self.file;
        let _ = write!(
            file,
            "# A module made by bgm: rhs, outputs, full and residuals for other programs, simulate for a run by itself.

import math

MODEL = {title}
STATES = {}
# What rhs gives: the derivatives of the states.
RATES = {}
INPUTS = {}
OUTPUTS = {}
# Parameters that may have other values.
PARAMETERS = {{
",
            all(&model.states),
            all(&rates),
            all(&model.kept_in(Place::Inputs)),
            all(&outputs),
        );
        let number = |value: Value| match value {
            Value::Real(value) => dialect::number(value).text,
            Value::Bool(value) => constant(crate::flat::Type::Boolean, f64::from(u8::from(value))),
        };
        for &id in &model.parameters {
            if let Some(given) = flat.value(id) {
                let _ = writeln!(
                    file,
                    "    {}: {},",
                    literal(&flat.name(id)),
                    number(given.value)
                );
            }
        }
        file.push_str("}\n# Start values of the states.\nINITIAL = [");
        let starts: Vec<String> = (model.states.iter())
            .map(|&state| dialect::number(model.start(state).value).text)
            .collect();
        let _ = writeln!(
            file,
            "{}]\n# Discrete variables, and what they are at the start.\nDISCRETES = {{",
            starts.join(", ")
        );
        for &id in &model.discretes {
            let value = constant(flat.variable(id).ty, model.start(Leaf::Var(id)).value);
            let _ = writeln!(file, "    {}: {value},", literal(&flat.name(id)));
        }
        file.push_str(
            "}\n# Relations that keep their truth between events: kind, text.\nRELATIONS = (\n",
        );
        for watch in &model.watches {
            let kind = match watch.kind {
                WatchKind::Relation(op) => op.text(),
                WatchKind::Sign => "sign",
                WatchKind::Floor => "floor",
                WatchKind::Ceil => "ceil",
            };
            let _ = writeln!(
                file,
                "    (\"{kind}\", {}),",
                literal(&flat.expression(watch.node))
            );
        }
        let at_start: String = (model.watches.iter().enumerate())
            .map(|(at, watch)| match (watch.kind, model.truth_at_start(at)) {
                (WatchKind::Relation(_), truth) if truth != 0.0 => "True, ".to_string(),
                (WatchKind::Relation(_), _) => "False, ".to_string(),
                (_, kept) => format!("{kept:?}, "),
            })
            .collect();
        let _ = writeln!(
            file,
            ")\n# What they are at the start, with the values given.\n_TRUTHS_AT_START = ({at_start}"
        );
        let truths = |all: &mut dyn Iterator<Item = bool>| -> String {
            all.map(|one| if one { "True, " } else { "False, " })
                .collect()
        };
        let pre: Vec<String> = (model.before.iter())
            .map(|&id| constant(flat.variable(id).ty, 0.0))
            .map(|value| format!("{value}, "))
            .collect();
        let switched = !crate::positions::switches(flat).is_empty();
        let run = request.run;
        let text = |value: f64| dialect::number(value).text;
        let _ = write!(
            file,
            ")
COLUMNS = {}
_HEAD = {}
FROM, UNTIL, POINTS, STEP = {}, {}, {}, {}
TOLERANCE, ABSOLUTE = {}, {}
_TIMED = ({})
_PRE = ({})
_SAMPLERS = ({})
_CONDITIONS = {}
_PROJECTS = {}
_SHARED = {}
",
            tuple(model.columns.iter().map(|column| column.name.clone())),
            literal(&head(&model.columns)),
            text(run.from),
            text(run.until),
            run.points,
            run.step.map_or("None".to_string(), text),
            text(run.relative),
            text(run.absolute),
            truths(&mut model.watches.iter().map(|watch| watch.timed)),
            pre.concat(),
            truths(&mut model.samplers.iter().map(|_| true)),
            model.whens.iter().map(Vec::len).sum::<usize>(),
            if model.all().any(|model| model.selected().next().is_some()) {
                "True"
            } else {
                "False"
            },
            if switched { "0.05" } else { "0.0" },
        );
    }

    fn parameters(&mut self) {
        let model = self.model;
        for &id in &model.parameters {
            let (name, shown) = (self.place(Leaf::Var(id)), literal(&model.flat.name(id)));
            self.line(&format!("{name} = p.get({shown}, PARAMETERS[{shown}])"));
        }
        shared::given(self, &model.derived);
        self.time = "0.0";
        for (value, about) in model.zeros(self.python, 5) {
            let what = "the model was made for a parameter that is zero, and this is not";
            self.fail_if(&format!("{value} != 0.0"), what, &about);
        }
        self.time = "t";
        let fixed = model.kept_in(Place::Parameters).into_iter();
        let names = tuple_of(fixed.map(|leaf| self.place(leaf)));
        self.line("for name in p:");
        self.line("    if name not in PARAMETERS:");
        self.line("        raise ModelError(\"no parameter of the model\", name, 0.0)");
        self.function("_parameters(p)", &format!("return {names}"));
    }

    /// Writes the function of the program that gives the values of inputs.
    fn inputs(&mut self) {
        let model = self.model;
        self.unpack(&model.kept_in(Place::Parameters), "p");
        let mut names = Vec::new();
        for &(id, given) in &model.inputs {
            let value = match (given, model.flat.value(id)) {
                (Some(given), _) => self.value(given).text,
                (None, Some(given)) => self.value(given.expression).text,
                (None, None) => "0.0".to_string(),
            };
            let name = self.place(Leaf::Var(id));
            self.line(&format!("{name} = {value}"));
            names.push(name);
        }
        self.function(
            "_inputs(t, p, h, s)",
            &format!("return [{}]", names.join(", ")),
        );
    }

    fn initial(&mut self) {
        let model = self.model;
        self.unpack(&model.kept_in(Place::Parameters), "p");
        let mut values = Vec::new();
        for &state in &model.states {
            values.push(shared::start(self, state).text);
        }
        self.function("_initial(p)", &format!("return [{}]", values.join(", ")));
    }

    /// Functions that read computed values by name.
    fn readers(&mut self) {
        let model = self.model;
        self.python.scope.set(Scope::Values("v"));
        let mut pairs = Vec::new();
        for watch in &model.watches {
            let (left, right) = events::sides(self, watch);
            pairs.push(format!("({}, {})", left.text, right.text));
        }
        self.function("_sides(t, v, h, s)", &format!("return {}", tuple_of(pairs)));
        let mut pairs = Vec::new();
        for sampler in &model.samplers {
            let (start, period) = (self.value(sampler.start), self.value(sampler.period));
            pairs.push(format!("({}, {})", start.text, period.text));
        }
        let pairs = tuple_of(pairs);
        self.function("_samples(t, v, h, s)", &format!("return {pairs}"));
        let mut sines = Vec::new();
        for &argument in &model.sines {
            sines.push(self.value(argument).text);
        }
        self.function("_sines(t, v, h, s)", &format!("return {}", tuple_of(sines)));
        if model.switched.is_none() {
            self.columns("_columns(t, v, h, s)");
        }
        let before: Vec<String> = (model.before.iter())
            .map(|&id| format!("v[{}]", literal(&model.flat.name(id))))
            .collect();
        self.function("_keep(v)", &format!("return [{}]", before.join(", ")));
    }

    fn columns(&mut self, head: &str) {
        let values: Vec<ExprId> = (self.model.columns.iter())
            .map(|column| column.value)
            .collect();
        let list = self.list("", &values);
        self.function(head, &format!("return {list}"));
    }

    fn whens(&mut self) {
        self.line("acts = False");
        events::whens(self);
        self.function("_whens(t, v, h, s, conditions, d, x, fixed)", "return acts");
    }
}

/// The flattened equations as they were written.
fn residuals(request: &Request<'_>, file: &mut String) {
    let written = request.written;
    let none: FxHashMap<Leaf, ExprId> = FxHashMap::default();
    let python = Python::plain(written);
    let mut writer = Writer::new(written, &none, &python);
    let mut texts = Vec::new();
    for id in written.equation_ids() {
        let equation = written.equations[id.index()];
        if !equation.kind.is_continuous() {
            continue;
        }
        let (left, right) = (writer.value(equation.left), writer.value(equation.right));
        writer.line(&format!("r.append(({}) - ({}))", left.text, right.text));
        texts.push(written.equation_text(id));
    }
    let _ = write!(
        file,
        "\n\n# The flattened equations as they were written.\nEQUATIONS = {}\n\n\ndef residuals(t, values):\n    \"\"\"Left minus right side of each of EQUATIONS, for the values that full gives.\"\"\"\n    r = []\n{}    return r\n",
        tuple(texts),
        writer.take()
    );
}
