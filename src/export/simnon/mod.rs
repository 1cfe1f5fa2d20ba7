//! A program for SIMNON (Elmqvist 1975), the other language that the 1990 paper names.
//!
//! Before: a solved model and its experiment. After: the text of a continuous system: STATE, DER, TIME, the equations,
//! start values and parameters as `name: value`. Events are in a discrete system that runs in each step of output, and
//! a connecting system joins the two. A truth that is kept is a number, 0 or 1. SIMNON cannot restart a state, so a
//! model with restarts is refused, unless a switch only holds a state at the zero that it has already.

mod events;

use super::classic::names::{Names, Rules};
use super::classic::text::{Dialect, arithmetic, comment, real, text};
use super::classic::{Change, Classic, Happening, Right, Target, Task, Update};
use super::desire::call;
use crate::expr::op::precedence as level;
use crate::expr::print::Text;
use crate::expr::{BinaryOp, ExprId, Function};
use crate::flat::{Kind, Leaf};

const RULES: Rules = Rules {
    between: None,
    folds_case: true,
    longest: 8,
    reserved: "
        t ts h continuo discrete connecti system state der new input output time tsamp initial sort end if then else and or not
        sin cos tan asin acos arcsin arccos arctan atan atan2 sinh cosh tanh exp ln log sqrt abs sign min max mod int events
        connect macro syst store simu ashow show par init plot axes
    ",
};

pub(super) const LANGUAGE: &str = "SIMNON";

struct Simnon {
    names: Names,
    named: Happening,
}

impl Dialect for Simnon {
    fn leaf(&self, leaf: Leaf) -> Text {
        Text::atom(self.names.get(leaf))
    }

    fn truth_of(&self, leaf: Leaf) -> Text {
        Text::new(format!("{} > 0.5", self.names.get(leaf)), level::RELATION)
    }

    fn truth(&self, value: bool) -> Text {
        Text::new(if value { "1 > 0" } else { "0 > 1" }, level::RELATION)
    }

    fn time(&self) -> Text {
        Text::atom("t")
    }

    fn not(&self, a: &Text) -> Text {
        Text::new(format!("not {}", a.at_least(level::ATOM)), level::NOT)
    }

    fn logic(&self, and: bool, a: &Text, b: &Text) -> Text {
        let (word, binds) = if and {
            ("and", level::AND)
        } else {
            ("or", level::OR)
        };
        Text::new(
            format!("{} {word} {}", a.at_least(binds), b.at_least(binds + 1)),
            binds,
        )
    }

    fn relation(&self, op: BinaryOp, a: &Text, b: &Text) -> Text {
        let plain = |sign: &str| {
            let (a, b) = (a.at_least(level::SUM), b.at_least(level::SUM));
            Text::new(format!("{a} {sign} {b}"), level::RELATION)
        };
        match op {
            BinaryOp::Less => plain("<"),
            BinaryOp::Greater => plain(">"),
            BinaryOp::GreaterEqual => self.not(&plain("<")),
            BinaryOp::LessEqual => self.not(&plain(">")),
            BinaryOp::NotEqual => self.logic(false, &plain("<"), &plain(">")),
            _ => self.not(&self.logic(false, &plain("<"), &plain(">"))),
        }
    }

    fn due(&self, at: usize) -> Text {
        let due = &self.named.ticks[at].0;
        Text::new(format!("{due} > 0.5"), level::RELATION)
    }

    fn same_truth(&self, equal: bool, a: &Text, b: &Text) -> Text {
        let (both, neither) = (
            self.logic(true, a, b),
            self.logic(true, &self.not(a), &self.not(b)),
        );
        let same = self.logic(false, &both, &neither);
        if equal { same } else { self.not(&same) }
    }

    fn power(&self, a: &Text, b: &Text) -> Text {
        Text::new(
            format!("{}^{}", a.at_least(level::ATOM), b.at_least(level::ATOM)),
            level::POWER,
        )
    }

    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let (a, b) = (a.at_least(level::SUM), b.at_least(level::IF));
        Text::new(
            format!("if {} then {a} else {b}", condition.text),
            level::IF,
        )
    }

    fn call(&self, function: Function, args: &[Text]) -> Option<Text> {
        let fold = |name: &str| {
            let (first, others) = args.split_first()?;
            let pair = |made: Text, next: &Text| call(name, &[made, next.clone()]);
            Some(others.iter().fold(first.clone(), pair))
        };
        // INT cuts off the digits after the point.
        let whole = |a: &Text, up: bool| {
            let cut = call("int", std::slice::from_ref(a));
            let op = if up {
                BinaryOp::Greater
            } else {
                BinaryOp::Less
            };
            let off = self.relation(op, a, &cut);
            let one = self.choice(&off, &Text::atom("1"), &Text::atom("0"));
            let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
            arithmetic(op, &cut, &one)
        };
        Some(match function {
            Function::Min => fold("min")?,
            Function::Max => fold("max")?,
            Function::Floor => whole(args.first()?, false),
            Function::Ceil => whole(args.first()?, true),
            Function::Mod => {
                let (a, b) = (args.first()?, args.get(1)?);
                let times = whole(&arithmetic(BinaryOp::Div, a, b), false);
                arithmetic(BinaryOp::Sub, a, &arithmetic(BinaryOp::Mul, b, &times))
            }
            Function::Asin => call("arcsin", args),
            Function::Acos => call("arccos", args),
            Function::Log10 => call("log", args),
            Function::Sin
            | Function::Cos
            | Function::Tan
            | Function::Atan
            | Function::Atan2
            | Function::Sinh
            | Function::Cosh
            | Function::Tanh
            | Function::Exp
            | Function::Ln
            | Function::Sqrt
            | Function::Abs
            | Function::Sign => call(function.text(), args),
            _ => return None,
        })
    }
}

/// The program.
pub fn program(task: &Task<'_>) -> Result<String, String> {
    let mut model = Classic::new(task, LANGUAGE)?;
    restarts(&mut model, task.raised)?;
    let model = model;
    let flat = model.flat;
    let mut names = Names::new(RULES);
    for leaf in model.leaves() {
        names.add(flat, leaf);
    }
    // A derivative has a name of its own, even if it is a state.
    let rates: Vec<String> = (model.states.iter())
        .map(|one| {
            let rate = one.leaf.rate();
            if model.states.iter().any(|other| other.leaf == rate) {
                return names.fresh(&format!("d{}", flat.name(rate.variable())));
            }
            names.add(flat, rate);
            names.get(rate).to_string()
        })
        .collect();
    let system = names.fresh(flat.model());
    let [always, sometimes] = model.stages();
    let changes: Vec<Change> = always.into_iter().chain(sometimes).collect();
    for (at, change) in changes.iter().enumerate() {
        let id = change.target.variable();
        if changes[..at]
            .iter()
            .any(|other| other.target == change.target)
        {
            let name = flat.name(id);
            return Err(format!(
                "{LANGUAGE} programs cannot set `{name}` in two ways"
            ));
        }
        names.add_as(Leaf::New(id), &format!("n{}", flat.name(id)));
    }
    let named = Happening {
        edges: (model.conditions.iter())
            .map(|_| (names.fresh("nwas"), names.fresh("was")))
            .collect(),
        ticks: (model.samplers.iter())
            .map(|_| (names.fresh("due"), names.fresh("tnext")))
            .collect(),
    };
    let later: Vec<String> = (model.samplers.iter())
        .map(|_| names.fresh("ntnext"))
        .collect();
    let simnon = Simnon { names, named };
    let mut out = format!("CONTINUOUS SYSTEM {system}\n");
    let writer = Writer {
        model: &model,
        simnon: &simnon,
        rates: &rates,
        later: &later,
    };
    for note in &model.notes {
        out.push_str(&format!("\" NOTE: {}\n", comment(note)));
    }
    writer.translations(&mut out);
    let outside = writer.outside();
    let discretes = model.discretes.iter().map(|one| writer.name(one.leaf));
    line(&mut out, "INPUT", discretes);
    line(
        &mut out,
        "OUTPUT",
        outside.iter().map(|&leaf| writer.name(leaf)),
    );
    line(
        &mut out,
        "STATE",
        model.states.iter().map(|one| writer.name(one.leaf)),
    );
    let rates = model.states.iter().map(|one| writer.rate(one.leaf));
    line(&mut out, "DER", rates);
    out.push_str("TIME t\n");
    writer.statements(&mut out)?;
    out.push_str("\" start values\n");
    for one in &model.states {
        out.push_str(&format!(
            "{}: {}\n",
            writer.name(one.leaf),
            real(one.value.number())
        ));
    }
    out.push_str("\" parameters\n");
    for &id in &model.parameters {
        out.push_str(&writer.parameter(id));
    }
    for &(leaf, value) in &model.inputs {
        out.push_str(&format!("{}: {}\n", writer.name(leaf), real(value)));
    }
    out.push_str("END\n");
    if !changes.is_empty() {
        writer.events(&changes, &system, &outside, &mut out)?;
    }
    let shown: Vec<String> = model
        .shown
        .iter()
        .flatten()
        .map(|&leaf| writer.name(leaf))
        .collect();
    let systems = match changes.is_empty() {
        true => system.clone(),
        false => format!("{system} Events Connect"),
    };
    out.push_str(&format!(
        "\" commands for a run:\n\" SYST {systems}\n\" STORE {}\n\" SIMU {} {} {}\n\" ASHOW {}\n",
        shown.join(" "),
        real(model.start),
        real(model.until),
        real(model.step),
        shown.join(" ")
    ));
    Ok(out)
}

/// Refuses restarts of states, unless a switch only holds a state at the value that it has.
fn restarts(model: &mut Classic<'_>, held: bool) -> Result<(), String> {
    let flat = model.flat;
    let is_discrete =
        |update: &Update| flat.variable(update.target.variable()).kind == Kind::Discrete;
    let (kept, lost): (Vec<Update>, Vec<Update>) =
        model.updates.iter().partition(|update| is_discrete(update));
    model.updates = kept;
    model.forget_unused();
    for update in lost {
        let name = flat.leaf_name(update.target);
        if !held {
            return Err(format!(
                "{LANGUAGE} programs cannot restart the state `{name}`"
            ));
        }
        model.notes.push(format!(
            "{name} is not set to {} when its switch opens: it keeps the value that it has then",
            flat.expression(update.value)
        ));
    }
    Ok(())
}

struct Writer<'w> {
    model: &'w Classic<'w>,
    simnon: &'w Simnon,
    /// By state, the name of its derivative.
    rates: &'w [String],
    /// Names for the next times of samplers after a sample.
    later: &'w [String],
}

impl Writer<'_> {
    fn name(&self, leaf: Leaf) -> String {
        self.simnon.names.get(leaf).to_string()
    }

    fn rate(&self, state: Leaf) -> String {
        let at = (self.model.states.iter()).position(|one| one.leaf == state);
        at.map_or_else(String::new, |at| self.rates[at].clone())
    }

    fn parameter(&self, id: crate::flat::VarId) -> String {
        let declaration = self.model.flat.declaration(id);
        let mut words = Vec::new();
        words.extend(declaration.remarks.unit.clone());
        words.extend(declaration.remarks.description.clone());
        let remark = match words.is_empty() {
            true => String::new(),
            false => format!("  \" {}", comment(&words.join(", "))),
        };
        format!(
            "{}: {}{remark}\n",
            self.name(Leaf::Var(id)),
            real(self.model.value(id))
        )
    }

    /// A list of the names that do not resemble the original names.
    fn translations(&self, out: &mut String) {
        let flat = self.model.flat;
        let mut seen = Vec::new();
        for leaf in self.model.leaves() {
            let (short, long) = (self.name(leaf), flat.leaf_name(leaf));
            if short != long && !seen.contains(&leaf) {
                out.push_str(&format!("\" {short} is {}\n", comment(&long)));
                seen.push(leaf);
            }
        }
    }

    /// A formula in which a truth is a number.
    fn value(&self, id: ExprId) -> Result<String, String> {
        let made = text(self.model, self.simnon, LANGUAGE, id)?;
        Ok(match self.model.flat.is_boolean(id) {
            true => format!("if {} then 1 else 0", made.text),
            false => made.text,
        })
    }

    fn condition(&self, id: ExprId) -> Result<Text, String> {
        text(self.model, self.simnon, LANGUAGE, id)
    }

    fn statements(&self, out: &mut String) -> Result<(), String> {
        for statement in &self.model.statements {
            let right = match statement.value {
                Right::Formula(id) => self.value(id)?,
                Right::Same(leaf) => self.name(leaf),
            };
            let left = match statement.target {
                Target::Value(leaf) => self.name(leaf),
                Target::Rate(leaf) => self.rate(leaf),
            };
            // A rate with a name of its own is that name.
            if left != right {
                out.push_str(&format!("{left} = {right}\n"));
            }
        }
        for (leaf, expression) in self.model.shown_and_gone() {
            out.push_str(&format!(
                "{} = {}\n",
                self.name(leaf),
                self.value(expression)?
            ));
        }
        Ok(())
    }
}

/// `STATE a b`, unless there is none.
fn line(out: &mut String, head: &str, words: impl Iterator<Item = String>) {
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        out.push_str(&format!("{head} {}\n", words.join(" ")));
    }
}
