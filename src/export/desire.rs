//! A program for DESIRE (Korn 1989), as the 1990 paper prints it.
//!
//! Before: a solved model and its experiment. After: the text of the program: comments that name system, states and
//! derivatives; parameters, start values, inputs, the control block, the equations in order with their submodels, and
//! the variables to be shown. DESIRE knows only numbers: a truth is 0 or 1, `swtch(x)` is 1 if x > 0, and both branches
//! of an `if` are computed. Discrete variables change after `step`, once in each step of the integration.

use super::classic::names::{Names, Rules};
use super::classic::text::{Dialect, arithmetic, comment, real, text};
use super::classic::{Classic, Happening, Right, Started, Target, Task};
use crate::expr::op::precedence as level;
use crate::expr::print::Text;
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

struct Desire {
    names: Names,
    named: Happening,
}

impl Dialect for Desire {
    fn leaf(&self, leaf: Leaf) -> Text {
        Text::atom(self.names.get(leaf))
    }

    fn truth_of(&self, leaf: Leaf) -> Text {
        self.leaf(leaf)
    }

    fn truth(&self, value: bool) -> Text {
        Text::atom(if value { "1.0" } else { "0.0" })
    }

    fn time(&self) -> Text {
        Text::atom("t")
    }

    fn not(&self, a: &Text) -> Text {
        arithmetic(BinaryOp::Sub, &Text::atom("1.0"), a)
    }

    fn logic(&self, and: bool, a: &Text, b: &Text) -> Text {
        let both = arithmetic(BinaryOp::Mul, a, b);
        match and {
            true => both,
            false => arithmetic(BinaryOp::Sub, &arithmetic(BinaryOp::Add, a, b), &both),
        }
    }

    fn relation(&self, op: BinaryOp, a: &Text, b: &Text) -> Text {
        let above = |a: &Text, b: &Text| {
            let difference = match b.text.as_str() {
                "0.0" => a.clone(),
                _ => arithmetic(BinaryOp::Sub, a, b),
            };
            call("swtch", &[difference])
        };
        let distance = || call("abs", &[arithmetic(BinaryOp::Sub, a, b)]);
        match op {
            BinaryOp::Greater => above(a, b),
            BinaryOp::Less => above(b, a),
            BinaryOp::GreaterEqual => self.not(&above(b, a)),
            BinaryOp::LessEqual => self.not(&above(a, b)),
            BinaryOp::NotEqual => call("swtch", &[distance()]),
            _ => self.not(&call("swtch", &[distance()])),
        }
    }

    fn due(&self, at: usize) -> Text {
        Text::atom(&self.named.ticks[at].0)
    }

    fn same_truth(&self, equal: bool, a: &Text, b: &Text) -> Text {
        let op = if equal {
            BinaryOp::Equal
        } else {
            BinaryOp::NotEqual
        };
        self.relation(op, a, b)
    }

    fn power(&self, a: &Text, b: &Text) -> Text {
        Text::new(
            format!("{}^{}", a.at_least(level::ATOM), b.at_least(level::ATOM)),
            level::POWER,
        )
    }

    /// `a*c + b*(1 - c)`: exact where c is 0 or 1.
    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let product = |value: &Text, truth: &Text| match value.text.as_str() {
            "0.0" => None,
            "1.0" => Some(truth.clone()),
            _ => Some(arithmetic(BinaryOp::Mul, value, truth)),
        };
        match (product(a, condition), product(b, &self.not(condition))) {
            (Some(a), Some(b)) => arithmetic(BinaryOp::Add, &a, &b),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Text::atom("0.0"),
        }
    }

    fn call(&self, function: Function, args: &[Text]) -> Option<Text> {
        let fold = |name: &dyn Fn(&Text, &Text) -> Text| {
            let (first, others) = args.split_first()?;
            Some(
                others
                    .iter()
                    .fold(first.clone(), |made, next| name(&made, next)),
            )
        };
        let over = |a: &Text, b: &Text| call("lim", &[arithmetic(BinaryOp::Sub, a, b)]);
        Some(match function {
            Function::Min => fold(&|a, b| arithmetic(BinaryOp::Sub, a, &over(a, b)))?,
            Function::Max => fold(&|a, b| arithmetic(BinaryOp::Add, a, &over(b, a)))?,
            Function::Log10 => call("log", args),
            Function::Sign => call("sgn", args),
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
            | Function::Abs => call(function.text(), args),
            _ => return None,
        })
    }
}

/// `name(a, b)`
pub(super) fn call(name: &str, args: &[Text]) -> Text {
    let texts: Vec<&str> = args.iter().map(|text| text.text.as_str()).collect();
    Text::atom(format!("{name}({})", texts.join(", ")))
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
    let named = model.name_events(&mut names);
    let desire = Desire { names, named };
    let value = |id: ExprId| text(&model, &desire, LANGUAGE, id).map(|text| text.text);
    let name = |leaf: Leaf| desire.names.get(leaf).to_string();
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
    for (condition, (_, was)) in model.kept(&desire.named) {
        out.push_str(&format!("{was} = {}\n", u8::from(condition.holds)));
    }
    for (sampler, (_, next)) in model.samplers.iter().zip(&desire.named.ticks) {
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
        let right = match statement.value {
            Right::Formula(id) => value(id)?,
            Right::Same(leaf) => name(leaf),
        };
        out.push_str(&match statement.target {
            Target::Value(leaf) => format!("{} = {right}\n", name(leaf)),
            Target::Rate(leaf) => format!("d/dt {} = {right}\n", name(leaf)),
        });
    }
    for (leaf, expression) in model.shown_and_gone() {
        if !model.states.iter().any(|one| name(one.leaf) == name(leaf)) {
            out.push_str(&format!("{} = {}\n", name(leaf), value(expression)?));
        }
    }
    if !model.updates.is_empty() {
        out.push_str("step\n");
        let becomes = |edge: &str, was: &str| Text::atom(format!("swtch({edge} - {was})"));
        for line in model.event_lines(&desire, LANGUAGE, &desire.named, &becomes)? {
            out.push_str(&format!("{line}\n"));
        }
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
