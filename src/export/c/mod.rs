//! The target `c`: one self-contained file in C99 that needs only libm.
//!
//! Before: a [`Model`]. After: types for states, inputs, parameters, discrete variables and computed variables;
//! functions for start values, derivatives, outputs, event indicators and events; an integrator; and a `main` behind a
//! macro. The whole memory of a run is one structure, so there can be several runs, and a copy of the structure is a
//! copy of the run. Between events relations keep their truth (`held`), as in `bgm simulate`.

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
use super::pattern::dependence;
use super::places::Place;
use super::statements::{Statements, blocks as shared, events};
use super::write::Writer;
use crate::base::words::literal;
use crate::expr::print::Text;
use crate::flat::{Flat, Leaf};
use crate::numeric::Coloring;
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
/// Newton's method for each `KIND` of matrix.
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

/// The sources without the integrator, with `MODEL` as the name of the model. `sparse` says whether the program solves
/// sparse systems.
fn sources(request: &Request<'_>, sparse: bool) -> String {
    let model = request.model;
    let c = C::new(model);
    // Each mode has a dialect of its own, because it has its own auxiliaries.
    let mut auxiliaries = Vec::new();
    let modes = model.switched.iter().flat_map(|switched| &switched.modes);
    let dialects: Vec<C<'_>> = modes
        .map(|mode| c.in_position(&mode.model, &mut auxiliaries))
        .collect();
    let mut program = Program::new(model, &c);
    program.file = types::types(request, &c, &auxiliaries);
    program.file.push_str(RUNTIME);
    program.file.push_str(&NEWTON.replace("KIND", "full"));
    let solvers = program.file.len();
    program.parameters();
    match &model.switched {
        Some(switched) => program.modes(switched, &dialects),
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
    // These functions stand before those that call them, and only if there is a call.
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

/// The prefix of all names of the file.
fn prefix(flat: &Flat) -> String {
    prefix::prefix(&mut super::names::Names::new(dialect::RESERVED), flat)
}

/// A number in C, with brackets if it is negative.
pub fn number(value: f64) -> String {
    dialect::number(value).at_least(9)
}

/// A text in quotes. Trigraphs are avoided, and so is the word that stands for the prefix.
pub fn text(content: &str) -> String {
    (literal(content).replace("??", "?\\?")).replace("MODEL", "MO\" \"DEL")
}

/// A text that neither ends a comment nor begins one.
fn comment(content: &str) -> String {
    content.replace("*/", "* /").replace("/*", "/ *")
}

pub(super) struct Program<'p> {
    model: &'p Model<'p>,
    c: &'p C<'p>,
    writer: Writer<'p, C<'p>>,
    file: String,
    /// The end of the names of functions that each mode has.
    suffix: String,
    /// The finished parts of the function that is being written, if it is long.
    parts: Vec<String>,
    /// The lines that begin each part.
    prologue: &'static str,
    /// The patterns of large nonlinear loops, found at the first use, by the first iteration variable of each loop.
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
            writer: Writer::new(model.flat, &model.replacements, c),
            c,
            file: String::new(),
            suffix: String::new(),
            parts: Vec::new(),
            prologue: "",
            loops: FxHashMap::default(),
        }
    }

    fn parameters(&mut self) {
        let model = self.model;
        shared::given(self, &model.parameters);
        self.function(
            "Parameters as the model gives them.",
            "void MODEL_defaults(MODEL *m)",
            "",
        );
        shared::given(self, &model.derived);
        for (value, about) in model.zeros(self.c, 9) {
            let what = "the model was made for a parameter that is zero, and this is not";
            self.fail_if(&format!("{value} != 0.0"), what, &about);
            self.cut();
        }
        let comment =
            "What follows from parameters; to be called when one was changed. 0 if all is well.";
        self.function(comment, "int MODEL_derive(MODEL *m)", "    return 0;\n");
    }

    fn start(&mut self, request: &Request<'_>) {
        let model = self.model;
        let leaves = [Place::States, Place::Discretes].map(|place| model.kept_in(place));
        for leaf in leaves.concat() {
            let value = shared::start(self, leaf);
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

    /// The rates of all states of the model. In a mode in which a state is not a state, its rate is that of the
    /// expression that it equals there; without such an expression it is zero.
    fn rates(&mut self, states: &[Leaf], has: impl Fn(Leaf) -> bool) {
        for (at, rate) in states.iter().map(|state| state.rate()).enumerate() {
            let value = match has(rate) {
                true => self.writer.leaf(rate),
                false => Text::atom("0.0"),
            };
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
        let values: Vec<_> = model.columns.iter().map(|column| column.value).collect();
        self.list("column", &values);
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

    /// Functions that read computed values.
    fn readers(&mut self) {
        let model = self.model;
        if model.switched.is_none() {
            self.rates(&model.states, |_| true);
        }
        self.file.push_str(DERIVATIVES);
        for (at, watch) in model.watches.iter().enumerate() {
            let (left, right) = events::sides(self, watch);
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
        self.list("argument", &model.sines);
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
        shared::eliminated(self, |leaf| !matches!(leaf, Leaf::New(_)));
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
        events::whens(self);
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
