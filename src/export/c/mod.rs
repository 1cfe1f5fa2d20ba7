//! The target `c`: one self-contained file, C99, nothing but libm.
//!
//! Before: a [`Model`]. After: types for states, inputs, parameters, discrete variables and what is computed; functions for
//! start values, derivatives, outputs, event indicators and events; an integrator; and a `main` behind a macro. All
//! that a run remembers is in one structure, so that there can be several, and a copy of the structure is a copy of the
//! run. Between events relations keep their truth (`held`), as in `bgm simulate`.

mod blocks;
mod dialect;
mod fill;
mod loops;
mod parts;
mod positions;
mod prefix;
mod sparse;
mod systems;
mod types;

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Request;
use super::model::Model;
use super::names::quoted;
use super::pattern::dependence;
use super::write::{Dialect, Text, Writer};
use crate::expr::ExprId;
use crate::flat::{Flat, Leaf};
use crate::numeric::Coloring;
use crate::passes::relations::WatchKind;
pub use blocks::about;
pub use dialect::C;
use sparse::Sparse;

const RUNTIME: &str = include_str!("runtime.c");
const DERIVATIVES: &str = include_str!("derivatives.c");
const EVENTS: &str = include_str!("events.c");
const ROUNDS: &str = include_str!("rounds.c");
const POSITIONS: &str = include_str!("positions.c");
const HAPPENS: &str = include_str!("happens.c");
const LU: &str = include_str!("lu.c");
const SYSTEMS: &str = include_str!("systems.c");
/// For each `KIND` of matrix.
const NEWTON: &str = include_str!("newton.c");
const LOOPS: &str = include_str!("loops.c");
const FULL: &str = include_str!("full.c");
const SPARSE: &str = include_str!("sparse.c");
const INTEGRATE: &str = include_str!("integrate.c");

/// The file.
pub fn program(request: &Request<'_>) -> String {
    let sparse = Sparse::new(&dependence(request.model));
    let mut file = sources(request, sparse.is_some());
    file.push_str(AT);
    match &sparse {
        Some(sparse) => {
            file.push_str(&sparse.tables());
            file.push_str(SPARSE);
        }
        None => file.push_str(FULL),
    }
    file.push_str(INTEGRATE);
    file.replace("MODEL", &prefix(request.model.flat))
}

/// The same without the integrator, and with `MODEL` where the name of the model belongs. `sparse`: it solves sparse systems.
fn sources(request: &Request<'_>, sparse: bool) -> String {
    let model = request.model;
    let c = C::new(model);
    // Each position has a dialect of its own, as its auxiliaries are its own.
    let mut auxiliaries = Vec::new();
    let seats = model.switched.iter().flat_map(|switched| &switched.seats);
    let dialects: Vec<C<'_>> = seats
        .map(|seat| c.in_position(&seat.model, &mut auxiliaries))
        .collect();
    let mut program = Program::new(model, &c);
    program.file = types::types(request, &c, &auxiliaries);
    program.file.push_str(RUNTIME);
    program.file.push_str(&NEWTON.replace("KIND", "full"));
    let solvers = program.file.len();
    program.parameters();
    match &model.switched {
        Some(switched) => program.seats(switched, &dialects),
        None => program.evaluate(),
    }
    program.readers();
    program.events();
    program.start(request);
    program.file.push_str(EVENTS);
    program.file.push_str(match &model.switched {
        Some(_) => POSITIONS,
        None => ROUNDS,
    });
    program.file.push_str(HAPPENS);
    // Before the functions that call them, and only where some do.
    let used = |call: &str, text: &'static str| match program.file.contains(call) {
        true => text,
        false => "",
    };
    let systems = used("MODEL_large(m, ", SYSTEMS);
    let loops = used("MODEL_newton_sparse(m, ", LOOPS);
    let lu = match sparse || !systems.is_empty() || !loops.is_empty() {
        true => LU,
        false => "",
    };
    let newton = match loops.is_empty() {
        true => String::new(),
        false => NEWTON.replace("KIND", "sparse"),
    };
    let all = [lu, systems, loops, &newton].concat();
    program.file.insert_str(solvers, &all);
    program.file
}

/// What all names of the file begin with.
fn prefix(flat: &Flat) -> String {
    prefix::prefix(&mut super::names::Names::new(dialect::RESERVED), flat)
}

/// A number as C writes it, in brackets where it has a sign.
pub fn number(value: f64) -> String {
    dialect::number(value).at_least(9)
}

/// A text in quotes; what C reads as another character in old files is kept from it, and so is what stands for the prefix.
pub fn text(content: &str) -> String {
    (quoted(content).replace("??", "?\\?")).replace("MODEL", "MO\" \"DEL")
}

/// A text that does not end a comment, nor begin one.
fn comment(content: &str) -> String {
    content.replace("*/", "* /").replace("/*", "/ *")
}

pub(super) struct Program<'p> {
    model: &'p Model<'p>,
    c: &'p C<'p>,
    writer: Writer<'p, C<'p>>,
    file: String,
    /// Behind the names of functions that each position has.
    suffix: String,
    /// Of the function that is being written, what is longer than compilers like.
    parts: Vec<String>,
    /// What stands before the lines of each part.
    prologue: &'static str,
    /// Patterns of large nonlinear loops, once one is asked for, by the first variable that each iterates on.
    loops: FxHashMap<Leaf, Coloring>,
}

/// Short names for what a function reads and sets.
const HEAD: &str = "    MODEL_states *x = &m->x;
    MODEL_inputs *u = &m->u;
    MODEL_parameters *p = &m->p;
    MODEL_discretes *d = &m->d, *next = &m->next;
    MODEL_before *pre = &m->pre;
    MODEL_variables *v = &m->v;
    const double time = m->time;
    (void)x, (void)u, (void)p, (void)d, (void)next, (void)pre, (void)v, (void)time;
";

impl<'p> Program<'p> {
    fn new(model: &'p Model<'p>, c: &'p C<'p>) -> Self {
        Program {
            model,
            writer: Writer::new(model.flat, &model.gone, c),
            c,
            file: String::new(),
            suffix: String::new(),
            parts: Vec::new(),
            prologue: "",
            loops: FxHashMap::default(),
        }
    }

    fn line(&mut self, text: &str) {
        self.writer.line(text);
    }

    fn value(&mut self, id: ExprId) -> Text {
        self.writer.value(id)
    }

    /// `place = value;`
    fn set(&mut self, leaf: Leaf, value: &Text) {
        let line = format!("{} = {};", self.c.place(leaf), value.text);
        self.line(&line);
    }

    fn parameters(&mut self) {
        let model = self.model;
        for &id in &model.parameters {
            if let Some(given) = model.flat.value(id) {
                let value = self.value(given.expression);
                self.set(Leaf::Var(id), &value);
            }
            self.cut();
        }
        self.function(
            "Parameters as the model gives them.",
            "void MODEL_defaults(MODEL *m)",
            "",
        );
        for &id in &model.derived {
            if let Some(given) = model.flat.value(id) {
                let value = self.value(given.expression);
                self.set(Leaf::Var(id), &value);
            }
            self.cut();
        }
        for (value, about) in model.zeros(self.c, 9) {
            let about = text(&about);
            self.line(&format!("if ({value} != 0.0)"));
            let what = "\"the model was made for a parameter that is zero, and this is not\"";
            self.line(&format!("    return MODEL_fail(m, {what}, {about});"));
            self.cut();
        }
        let comment =
            "What follows from parameters; to be called when one was changed. 0 if all is well.";
        self.function(comment, "int MODEL_derive(MODEL *m)", "    return 0;\n");
    }

    fn start(&mut self, request: &Request<'_>) {
        let model = self.model;
        let leaves: Vec<Leaf> = (model.states.iter().copied())
            .chain(model.discretes.iter().map(|&id| Leaf::Var(id)))
            .collect();
        for leaf in leaves {
            let start = model.start(leaf);
            let value = match start.expression {
                Some(expression) => self.value(expression),
                None => dialect::number(start.value),
            };
            self.set(leaf, &value);
            self.cut();
        }
        let computed: FxHashSet<Leaf> = model.computed.iter().copied().collect();
        let mut guesses: Vec<Leaf> = model.starts.keys().copied().collect();
        guesses.retain(|leaf| computed.contains(leaf));
        guesses.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
        for leaf in guesses {
            self.set(leaf, &dialect::number(model.start(leaf).value));
            self.cut();
        }
        for &(id, given) in &model.inputs {
            if let (None, Some(given)) = (given, model.flat.value(id)) {
                let value = self.value(given.expression);
                self.set(Leaf::Var(id), &value);
            }
        }
        let comment = "Start values; those that follow parameters do so.";
        self.function(comment, "void MODEL_initial(MODEL *m)", "");
        let run = request.run;
        let number = |value: f64| dialect::number(value).text;
        let _ = write!(
            self.file,
            "
/* Makes a run ready: parameters and start values of the model. What is to be other is changed after this; then comes MODEL_begin. */
void MODEL_start(MODEL *m, double time)
{{
    memset(m, 0, sizeof *m);
    m->time = time;
    m->own_inputs = 1;
    m->relative = {};
    m->absolute = {};
    m->span = {};
    m->longest = m->span / (MODEL_STATES > 0 ? 20.0 : 2000.0);
    m->shared = {};
    MODEL_defaults(m);
    MODEL_derive(m);
    MODEL_initial(m);
}}
",
            number(run.relative),
            number(run.absolute),
            number(run.until - run.from),
            if crate::positions::switches(model.flat).is_empty() { "0.0" } else { "0.05" },
        );
    }

    /// Of all states of the model; in a position those that have none stay as they are.
    fn rates(&mut self, states: &[Leaf]) {
        for (at, &state) in states.iter().enumerate() {
            let value = self.writer.leaf(Model::rate(state));
            self.line(&format!("rate[{at}] = {};", value.text));
            self.cut();
        }
        let head = format!(
            "static void MODEL_rates{}(MODEL *m, double *rate)",
            self.suffix
        );
        self.function("", &head, "    (void)rate;\n");
    }

    fn columns(&mut self) {
        let model = self.model;
        for (at, column) in model.columns.iter().enumerate() {
            let value = self.value(column.value);
            self.line(&format!("column[{at}] = {};", value.text));
            self.cut();
        }
        let outside = if self.suffix.is_empty() {
            ""
        } else {
            "static "
        };
        let head = format!(
            "{outside}int MODEL_columns{}(MODEL *m, double *column)",
            self.suffix
        );
        self.function(
            "What a run shows.",
            &head,
            "    (void)column;\n    return m->failed;\n",
        );
    }

    /// Functions that read what was computed.
    fn readers(&mut self) {
        let model = self.model;
        if model.switched.is_none() {
            self.rates(&model.states);
        }
        self.file.push_str(DERIVATIVES);
        for (at, watch) in model.watches.iter().enumerate() {
            let left = self.value(watch.left);
            let (left, right) = match (watch.right, watch.kind) {
                (Some(right), WatchKind::Floor) => {
                    let right = self.value(right);
                    (
                        self.c.binary(crate::expr::BinaryOp::Div, &left, &right),
                        Text::atom("0.0"),
                    )
                }
                (Some(right), _) => (left, self.value(right)),
                (None, _) => (left, Text::atom("0.0")),
            };
            self.line(&format!("side[{}] = {};", 2 * at, left.text));
            self.line(&format!("side[{}] = {};", 2 * at + 1, right.text));
            self.cut();
        }
        let comment = "The two sides of each relation.";
        self.function(
            comment,
            "static void MODEL_sides(MODEL *m, double *side)",
            "    (void)side;\n",
        );
        self.file.push_str(INDICATORS);
        for (at, sampler) in model.samplers.iter().enumerate() {
            let (start, period) = (self.value(sampler.start), self.value(sampler.period));
            self.line(&format!("start[{at}] = {};", start.text));
            self.line(&format!("period[{at}] = {};", period.text));
            self.cut();
        }
        let head = "static void MODEL_samples(MODEL *m, double *start, double *period)";
        self.function("", head, "    (void)start, (void)period;\n");
        for (at, &argument) in model.sines.iter().enumerate() {
            let value = self.value(argument);
            self.line(&format!("argument[{at}] = {};", value.text));
            self.cut();
        }
        let comment = "Arguments of sines that move with Time alone.";
        let head = "static void MODEL_sine_arguments(MODEL *m, double *argument)";
        self.function(comment, head, "    (void)argument;\n");
        if model.switched.is_none() {
            self.columns();
        }
        for id in types::outputs(model.flat) {
            let value = self.writer.leaf(Leaf::Var(id));
            let name = self.c.names.get(Leaf::Var(id)).to_string();
            self.line(&format!("y->{name} = {};", value.text));
            self.cut();
        }
        let head = "void MODEL_read_outputs(MODEL *m, MODEL_outputs *y)";
        self.function(
            "Outputs, after the derivatives were computed.",
            head,
            "    (void)y;\n",
        );
        self.eliminated();
        let comment =
            "Variables that equal others or constants, after the derivatives were computed.";
        self.function(comment, "void MODEL_complete(MODEL *m)", "");
        for &id in &model.before {
            let value = self.writer.leaf(Leaf::Var(id));
            self.set(Leaf::Pre(id), &value);
            self.cut();
        }
        self.function(
            "What was before an event.",
            "static void MODEL_keep(MODEL *m)",
            "",
        );
    }

    /// What equals others or constants.
    fn eliminated(&mut self) {
        for gone in &self.model.flat.eliminated {
            if self.c.names.get(gone.leaf).is_empty() || matches!(gone.leaf, Leaf::New(_)) {
                continue;
            }
            let value = self.value(gone.expression);
            self.set(gone.leaf, &value);
            self.cut();
        }
    }

    fn events(&mut self) {
        let model = self.model;
        for (at, (condition, _)) in model.whens.iter().flatten().enumerate() {
            let value = self.value(*condition);
            self.line(&format!(
                "m->condition[{at}] = {} != 0.0;",
                value.at_least(9)
            ));
            self.cut();
        }
        let comment = "Conditions of `when`s as they are now: they have not just become true.";
        self.function(comment, "static void MODEL_conditions(MODEL *m)", "");
        let states: FxHashMap<Leaf, usize> = (model.states.iter().zip(0..))
            .map(|(&state, at)| (state, at))
            .collect();
        let mut count = 0;
        for when in &model.whens {
            self.line("earlier = 0;");
            for (condition, actions) in when {
                let value = self.value(*condition);
                self.line(&format!("now = {} != 0.0;", value.at_least(9)));
                self.line(&format!("act = now && !m->condition[{count}] && !earlier;"));
                self.line(&format!("m->condition[{count}] = now;"));
                self.line("earlier |= now;");
                self.line("if (act) {");
                self.writer.forget();
                self.writer.indented(1);
                for action in actions {
                    let value = self.value(action.value);
                    let about = text(&model.flat.equation_text(action.equation));
                    let member = self.c.member(action.target).to_string();
                    self.line(&format!("value = {};", value.text));
                    self.line("if (!isfinite(value))");
                    let what = "\"a `when` sets something to what is not a number\"";
                    self.line(&format!("    return MODEL_fail(m, {what}, {about});"));
                    match states.get(&action.target) {
                        Some(at) => {
                            self.line(&format!("to_x->{member} = value;"));
                            self.line(&format!("fixed[{at}] = *acts = 1;"));
                        }
                        None => {
                            self.line(&format!("*acts |= value != d->{member};"));
                            self.line(&format!("to_d->{member} = value;"));
                        }
                    }
                }
                self.writer.forget();
                self.writer.indented(-1);
                self.line("}");
                count += 1;
            }
            self.cut();
        }
        let comment = "What `when`s have to do whose conditions have just become true.";
        self.prologue = WHENS;
        let head = "static int MODEL_whens(MODEL *m, MODEL_discretes *to_d, MODEL_states *to_x, int *fixed, int *acts)";
        self.function(comment, head, "    return 0;\n");
    }
}

const WHENS: &str = "    int earlier = 0, now = 0, act = 0;
    double value = 0.0;
    (void)earlier, (void)now, (void)act, (void)value;
    (void)to_d, (void)to_x, (void)fixed, (void)acts;
";

const AT: &str = "
/* Derivatives of all states at a time; nothing else is changed but what is computed. */
static int MODEL_at(MODEL *m, double time, const double *x, double *rate)
{
    m->time = time;
    memcpy(&m->x, x, sizeof(double) * MODEL_STATES);
    return MODEL_derivatives(m, rate);
}
";

const INDICATORS: &str = "
/* Something may happen where one of these passes through zero. */
void MODEL_indicators(MODEL *m, double *indicator)
{
    double side[2 * MODEL_WATCHES + 2];
    MODEL_sides(m, side);
    for (int i = 0; i < MODEL_WATCHES; i++)
        indicator[i] = side[2 * i] - side[2 * i + 1];
}
";
