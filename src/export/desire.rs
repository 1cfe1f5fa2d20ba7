//! A program for DESIRE (Korn 1989), as the 1990 paper prints it.
//!
//! Before: a solved model and its experiment. After: the text of the program: comments that name system, states and
//! derivatives; parameters, start values, inputs, the control block, the equations in order with their submodels, and
//! the variables to be shown. DESIRE knows only numbers: a truth is 0 or 1, `swtch(x)` is 1 if x > 0, and both branches
//! of an `if` are computed. Discrete variables change after `step`, once in each step of the integration.

use super::classic::names::{Names, Rules};
use super::classic::{
    Classic, Formulas, Language, Started, Symbol, Target, Task, caret, comment, real,
};
use crate::expr::print::Infix;
use crate::expr::{BinaryOp, ExprId, Function};
use crate::flat::{InstanceId, Leaf};
use crate::listing::outputs_for_states;

const RULES: Rules = Rules {
    between: Some('$'),
    folds_case: false,
    longest: 40,
    reserved: "
        t t0 T0 TMAX DT DTMAX DTMIN NN TNEXT XCCC scale drun drunr reset label if then else proceed go to for while next repeat
        until end step OUT SAMPLE DYNAMIC STATE ARRAY dispt dispxy type run new load irule sin cos tan asin acos atan atan2 sinh
        cosh tanh exp ln log sqrt abs sgn swtch lim sat deadz ran gauss int rem PI PIC rule and or not
    ",
};

struct Desire;

impl Language for Desire {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn time(&self) -> &'static str {
        "t"
    }

    fn infix(&self, op: BinaryOp) -> Infix {
        caret(op)
    }

    fn spelling(&self, function: Function) -> Option<String> {
        let name = match function {
            Function::Log10 => "log",
            Function::Sign => "sgn",
            Function::Sin
            | Function::Cos
            | Function::Tan
            | Function::Asin
            | Function::Acos
            | Function::Atan
            | Function::Atan2
            | Function::Sinh
            | Function::Cosh
            | Function::Tanh
            | Function::Exp
            | Function::Ln
            | Function::Sqrt
            | Function::Abs => function.text(),
            _ => return None,
        };
        Some(name.to_string())
    }

    fn truth(&self, to: &mut Formulas<'_>, value: bool) -> ExprId {
        to.arena.number(f64::from(u8::from(value)))
    }

    fn not(&self, to: &mut Formulas<'_>, a: ExprId) -> ExprId {
        let one = to.arena.number(1.0);
        to.arena.binary(BinaryOp::Sub, one, a)
    }

    fn logic(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        if op == BinaryOp::And {
            return to.arena.binary(BinaryOp::Mul, a, b);
        }
        let (a, b) = (to.repeated(a), to.repeated(b));
        let both = to.arena.binary(BinaryOp::Mul, a, b);
        let sum = to.arena.binary(BinaryOp::Add, a, b);
        to.arena.binary(BinaryOp::Sub, sum, both)
    }

    fn relation(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        match op {
            BinaryOp::Greater => above(to, a, b),
            BinaryOp::Less => above(to, b, a),
            BinaryOp::GreaterEqual => {
                let less = above(to, b, a);
                self.not(to, less)
            }
            BinaryOp::LessEqual => {
                let greater = above(to, a, b);
                self.not(to, greater)
            }
            _ => {
                let difference = to.arena.binary(BinaryOp::Sub, a, b);
                let distance = to.arena.call(Function::Abs, &[difference]);
                let differ = to.arena.leaf(Symbol::Call("swtch", distance));
                match op {
                    BinaryOp::NotEqual => differ,
                    _ => self.not(to, differ),
                }
            }
        }
    }

    fn same_truth(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.relation(to, op, a, b)
    }

    /// `a*c + b*(1 - c)`: exact where c is 0 or 1.
    fn choice(&self, to: &mut Formulas<'_>, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let zero = |to: &Formulas<'_>, value: ExprId| to.arena.is_zero(value);
        let condition = match zero(to, a) || zero(to, b) {
            true => condition,
            false => to.repeated(condition),
        };
        let product =
            |to: &mut Formulas<'_>, value: ExprId, truth: ExprId| match to.arena.as_number(value) {
                Some(1.0) => truth,
                _ => to.arena.binary(BinaryOp::Mul, value, truth),
            };
        let otherwise = self.not(to, condition);
        match (zero(to, a), zero(to, b)) {
            (true, true) => to.arena.number(0.0),
            (true, false) => product(to, b, otherwise),
            (false, true) => product(to, a, condition),
            (false, false) => {
                let (a, b) = (product(to, a, condition), product(to, b, otherwise));
                to.arena.binary(BinaryOp::Add, a, b)
            }
        }
    }

    fn becomes(&self, to: &mut Formulas<'_>, now: Symbol, before: Symbol) -> ExprId {
        let (now, before) = (to.arena.leaf(now), to.arena.leaf(before));
        above(to, now, before)
    }

    /// `lim(x)` is x if x > 0, else 0.
    fn call(&self, to: &mut Formulas<'_>, function: Function, args: &[ExprId]) -> Option<ExprId> {
        let (&first, others) = args.split_first()?;
        let fold = |to: &mut Formulas<'_>, larger: bool| {
            others.iter().fold(first, |made, &next| {
                let made = to.repeated(made);
                let (op, a, b) = match larger {
                    true => (BinaryOp::Add, next, made),
                    false => (BinaryOp::Sub, made, next),
                };
                let over = to.arena.binary(BinaryOp::Sub, a, b);
                let over = to.arena.leaf(Symbol::Call("lim", over));
                to.arena.binary(op, made, over)
            })
        };
        match function {
            Function::Min => Some(fold(to, false)),
            Function::Max => Some(fold(to, true)),
            _ => {
                self.spelling(function)?;
                Some(to.arena.call(function, args))
            }
        }
    }
}

/// a > b
fn above(to: &mut Formulas<'_>, a: ExprId, b: ExprId) -> ExprId {
    let difference = match to.arena.is_zero(b) {
        true => a,
        false => to.arena.binary(BinaryOp::Sub, a, b),
    };
    to.arena.leaf(Symbol::Call("swtch", difference))
}

pub(super) const LANGUAGE: &str = "DESIRE";
const RULE: &str = "------------------------------------------------------------";

/// The program; `stem` is the name of its file without the ending.
pub fn program(task: &Task<'_>, stem: &str) -> Result<String, String> {
    let experiment = task.experiment;
    let model = Classic::new(task, LANGUAGE)?;
    let flat = model.flat;
    let mut names = Names::new(RULES);
    // As in the paper, a state is written with the name of an output that equals it.
    let renamed = outputs_for_states(flat);
    for state in &model.states {
        match renamed.iter().find(|(id, _)| Leaf::Var(*id) == state.leaf) {
            Some(&(_, output)) => names.add_as(state.leaf, &flat.name(output)),
            None => names.add(flat, state.leaf),
        }
    }
    for (at, &(state, output)) in renamed.iter().enumerate() {
        if renamed[..at].iter().all(|&(other, _)| other != state) {
            names.share(Leaf::Var(output), Leaf::Var(state));
        }
    }
    for leaf in model.leaves() {
        names.add(flat, leaf);
    }
    let mut formulas = Formulas::new(&model, &Desire, names);
    formulas.name_events();
    let names = formulas.names.clone();
    let name = |leaf: Leaf| names.get(leaf).to_string();
    let mut out = format!("-- CONTINUOUS SYSTEM {}\n{RULE}\n", comment(flat.model()));
    let rates = model
        .states
        .iter()
        .map(|one| format!("d{}", plain_name(&model, one)));
    let states = model.states.iter().map(|one| name(one.leaf));
    line(&mut out, "-- STATE", states);
    line(&mut out, "-- DER", rates);
    for note in &model.notes {
        out.push_str(&format!("-- NOTE: {}\n", comment(note)));
    }
    out.push_str("-- PARAMETERS and CONSTANTS:\n");
    for &id in &model.parameters {
        out.push_str(&format!(
            "{} = {}\n",
            name(Leaf::Var(id)),
            real(model.value(id))
        ));
    }
    out.push_str("-- INITIAL VALUES OF STATES:\n");
    let begin = |one: &Started| match (one.given, one.value.number()) {
        (false, 0.0) => "0".to_string(),
        (_, value) => real(value),
    };
    for one in &model.states {
        out.push_str(&format!("{} = {}\n", name(one.leaf), begin(one)));
    }
    if !model.discretes.is_empty() {
        out.push_str("-- INITIAL VALUES OF DISCRETE VARIABLES:\n");
        for one in &model.discretes {
            out.push_str(&format!("{} = {}\n", name(one.leaf), begin(one)));
        }
    }
    for (condition, (_, was)) in formulas.kept() {
        out.push_str(&format!("{was} = {}\n", u8::from(condition.holds)));
    }
    for (sampler, (_, next)) in formulas.ticks() {
        out.push_str(&format!("{next} = {}\n", real(sampler.next)));
    }
    for &(leaf, value) in &model.inputs {
        out.push_str(&format!("{} = {}\n", name(leaf), real(value)));
    }
    if model.start != 0.0 {
        out.push_str(&format!("t0 = {}\n", real(model.start)));
    }
    out.push_str(&format!(
        "TMAX = {} | DT = {} | NN = {}\n",
        real(model.until - model.start),
        real(model.step),
        model.points
    ));
    out.push_str(&control(experiment.control.as_deref()));
    out.push_str("DYNAMIC\n");
    let mut last = None;
    for statement in &model.statements {
        if last.replace(statement.origin) != Some(statement.origin) {
            let path = match statement.origin {
                InstanceId::TOP => flat.model().to_string(),
                other => flat.path(other),
            };
            out.push_str(&format!("-- Submodel: {}\n", comment(&path)));
        }
        let left = match statement.target {
            Target::Value(leaf) => name(leaf),
            Target::Rate(leaf) => format!("d/dt {}", name(leaf)),
        };
        let right = formulas.right(statement.value)?;
        put(&mut out, formulas.assignment(&left, right));
    }
    for (leaf, expression) in model.shown_and_eliminated() {
        if !model.states.iter().any(|one| name(one.leaf) == name(leaf)) {
            let value = formulas.value(expression)?;
            put(&mut out, formulas.assignment(&name(leaf), value));
        }
    }
    if !model.updates.is_empty() {
        out.push_str("step\n");
        put(&mut out, formulas.event_lines()?);
    }
    out.push_str(&format!(
        "{RULE}\n{}\n",
        experiment.block.as_deref().unwrap_or("OUT")
    ));
    for list in &model.shown {
        let names: Vec<String> = list.iter().map(|&leaf| name(leaf)).collect();
        out.push_str(&format!("dispt {}\n", names.join(", ")));
    }
    out.push_str(&format!("{RULE}\n/--\n/PIC '{}.PRC'\n/--\n", quoted(stem)));
    Ok(out)
}

/// The name `C1$e`, also if the program uses another name for the state.
fn plain_name(model: &Classic<'_>, one: &Started) -> String {
    let mut names = Names::new(Rules {
        reserved: "",
        ..RULES
    });
    let rate = one.leaf.rate();
    let order = usize::from(rate.order().unwrap_or(1));
    names.fresh(&format!(
        "{}{}",
        "d".repeat(order - 1),
        model.flat.name(rate.variable())
    ))
}

fn put(out: &mut String, lines: Vec<String>) {
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
}

fn line(out: &mut String, head: &str, words: impl Iterator<Item = String>) {
    out.push_str(head);
    for word in words {
        out.push(' ');
        out.push_str(&word);
    }
    out.push('\n');
}

/// The control block word for word, without the indentation that all lines share. Without a block it is one run.
fn control(text: Option<&str>) -> String {
    let Some(text) = text else {
        return "drun\n".to_string();
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let blanks = |line: &&str| line.len() - line.trim_start().len();
    let shared = lines.iter().map(blanks).min().unwrap_or(0);
    lines
        .iter()
        .map(|line| format!("{}\n", line[shared..].trim_end()))
        .collect()
}

/// A name between single quotes.
fn quoted(text: &str) -> String {
    comment(text).replace('\'', "?")
}
