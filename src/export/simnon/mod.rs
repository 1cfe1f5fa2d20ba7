//! A program for SIMNON (Elmqvist 1975), the other language that the 1990 paper names.
//!
//! Before: a solved model and its experiment. After: the text of a continuous system: STATE, DER, TIME, the equations,
//! start values and parameters as `name: value`. Events are in a discrete system that runs in each step of output, and
//! a connecting system joins the two. A truth that is kept is a number, 0 or 1. SIMNON cannot restart a state, so a
//! model with restarts is refused, unless a switch only holds a state at the zero that it has already.

mod events;

use super::classic::names::{Names, Rules};
use super::classic::{
    Change, Classic, Formulas, Language, Right, Symbol, Target, Task, Truths, Update, caret,
    comment, real, whole_part,
};
use crate::expr::op::precedence as level;
use crate::expr::print::Infix;
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

struct Simnon;

const TRUTHS: Truths = Truths {
    words: ["0 > 1", "1 > 0"],
    binds: level::RELATION,
    not: "not ",
    same: [""; 2],
    choice: ["if ", " then ", " else ", ""],
    places: [level::IF, level::SUM, level::IF],
    choice_binds: level::IF,
};

impl Language for Simnon {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn time(&self) -> &'static str {
        "t"
    }

    fn truths(&self) -> &'static Truths {
        &TRUTHS
    }

    fn infix(&self, op: BinaryOp) -> Infix {
        caret(op)
    }

    fn spelling(&self, function: Function) -> Option<String> {
        let name = match function {
            Function::Asin => "arcsin",
            Function::Acos => "arccos",
            Function::Log10 => "log",
            Function::Min
            | Function::Max
            | Function::Sin
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
            | Function::Sign => function.text(),
            _ => return None,
        };
        Some(name.to_string())
    }

    /// Its variables are numbers.
    fn truth_of(&self, to: &mut Formulas<'_>, variable: Symbol) -> ExprId {
        let (variable, half) = (to.arena.leaf(variable), to.arena.number(0.5));
        to.arena.binary(BinaryOp::Greater, variable, half)
    }

    fn assigned(&self, to: &mut Formulas<'_>, truth: ExprId) -> ExprId {
        let [zero, one] = zero_and_one(to);
        to.arena.if_else(truth, one, zero)
    }

    fn relation(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let differ = |to: &mut Formulas<'_>| {
            let (a, b) = (to.repeated(a), to.repeated(b));
            let less = to.arena.binary(BinaryOp::Less, a, b);
            let greater = to.arena.binary(BinaryOp::Greater, a, b);
            to.arena.binary(BinaryOp::Or, less, greater)
        };
        let opposite = match op {
            BinaryOp::Less | BinaryOp::Greater => return to.arena.binary(op, a, b),
            BinaryOp::NotEqual => return differ(to),
            BinaryOp::GreaterEqual => to.arena.binary(BinaryOp::Less, a, b),
            BinaryOp::LessEqual => to.arena.binary(BinaryOp::Greater, a, b),
            _ => differ(to),
        };
        self.not(to, opposite)
    }

    fn same_truth(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (a, b) = (to.repeated(a), to.repeated(b));
        let both = self.logic(to, BinaryOp::And, a, b);
        let (not_a, not_b) = (self.not(to, a), self.not(to, b));
        let neither = self.logic(to, BinaryOp::And, not_a, not_b);
        let same = self.logic(to, BinaryOp::Or, both, neither);
        match op {
            BinaryOp::Equal => same,
            _ => self.not(to, same),
        }
    }

    fn becomes(&self, to: &mut Formulas<'_>, now: Symbol, before: Symbol) -> ExprId {
        let now = self.truth_of(to, now);
        became(to, now, before)
    }

    fn call(&self, to: &mut Formulas<'_>, function: Function, args: &[ExprId]) -> Option<ExprId> {
        match function {
            // They have two arguments.
            Function::Min | Function::Max => {
                let (&first, others) = args.split_first()?;
                let pair = |made, &next| to.arena.call(function, &[made, next]);
                Some(others.iter().fold(first, pair))
            }
            Function::Floor | Function::Ceil | Function::Mod => {
                let numbers = zero_and_one(to);
                whole_part(to, "int", numbers, function, args)
            }
            _ => {
                self.spelling(function)?;
                Some(to.arena.call(function, args))
            }
        }
    }
}

fn zero_and_one(to: &mut Formulas<'_>) -> [ExprId; 2] {
    [0, 1].map(|value| to.arena.leaf(Symbol::Whole(value)))
}

/// A truth that holds now and was not kept before.
fn became(to: &mut Formulas<'_>, now: ExprId, before: Symbol) -> ExprId {
    let (before, half) = (to.arena.leaf(before), to.arena.number(0.5));
    let not = to.arena.binary(BinaryOp::Less, before, half);
    to.arena.binary(BinaryOp::And, now, not)
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
    let mut formulas = Formulas::new(&model, &Simnon, names);
    formulas.name_memory("nwas", "was");
    let later: Vec<Symbol> = (model.samplers.iter())
        .map(|_| formulas.own("ntnext", false))
        .collect();
    let step = formulas.predefined("h");
    let mut out = format!("CONTINUOUS SYSTEM {system}\n");
    let mut writer = Writer {
        model: &model,
        formulas,
        rates: &rates,
        later: &later,
        step,
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
    formulas: Formulas<'w>,
    /// By state, the name of its derivative.
    rates: &'w [String],
    /// Names for the next times of samplers after a sample.
    later: &'w [Symbol],
    /// The step of output.
    step: Symbol,
}

impl Writer<'_> {
    fn name(&self, leaf: Leaf) -> String {
        self.formulas.names.get(leaf).to_string()
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

    /// The equations of the continuous system.
    fn statements(&mut self, out: &mut String) -> Result<(), String> {
        let model = self.model;
        for statement in &model.statements {
            let left = match statement.target {
                Target::Value(leaf) => self.name(leaf),
                Target::Rate(leaf) => self.rate(leaf),
            };
            // A rate with a name of its own is that name.
            if matches!(statement.value, Right::Same(leaf) if self.name(leaf) == left) {
                continue;
            }
            let right = self.formulas.right(statement.value)?;
            self.put(&left, right, out);
        }
        for (leaf, expression) in model.shown_and_eliminated() {
            let value = self.formulas.value(expression)?;
            let name = self.name(leaf);
            self.put(&name, value, out);
        }
        Ok(())
    }

    /// The line that assigns to a variable of the program.
    fn assign(&mut self, target: Symbol, formula: ExprId, out: &mut String) {
        let name = self.formulas.name_of(target).to_string();
        self.put(&name, formula, out);
    }

    fn put(&mut self, name: &str, formula: ExprId, out: &mut String) {
        for line in self.formulas.assignment(name, formula) {
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// `STATE a b`, unless there is none.
fn line(out: &mut String, head: &str, words: impl Iterator<Item = String>) {
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        out.push_str(&format!("{head} {}\n", words.join(" ")));
    }
}
