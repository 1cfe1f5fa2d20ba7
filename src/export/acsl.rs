//! A program for ACSL (Mitchell and Gauthier 1986), the interface that the 1990 paper announces.
//!
//! Before: a solved model and its experiment. After: the text of the program in INITIAL, DYNAMIC, DERIVATIVE and
//! TERMINAL. States are INTEGs and truths are LOGICAL. `if` becomes RSW, which computes both branches. Updates at
//! events are in a DISCRETE section, which SCHEDULE starts when a relation changes or a sample is due. Lines are
//! continued with `...`.

use rustc_hash::FxHashSet;

use super::classic::names::{Names, Rules};
use super::classic::{
    Classic, Formulas, Language, Symbol, Target, Task, Truths, comment, real, whole_part,
};
use crate::expr::op::precedence as level;
use crate::expr::print::{Infix, Style, infix};
use crate::expr::{BinaryOp, ExprId, Function, Node, Value};
use crate::flat::{Leaf, VarId};

const RULES: Rules = Rules {
    between: Some('_'),
    folds_case: true,
    longest: 31,
    reserved: "
        t tstp cint program initial dynamic derivative discrete terminal end constant cinterval variable algorithm ialg
        maxterval maxt minterval mint nsteps nstp schedule events procedural termt integ logical integer real rsw if then else
        endif do goto call sin cos tan asin acos atan atan2 sinh cosh tanh exp alog alog10 log sqrt abs sign amin1 amax1 aint
        amod mod min max lsw bound dead delay step pulse ramp prepare output start plot set stop sort table macro array
        parameter interval impl
    ",
};

pub(super) const LANGUAGE: &str = "ACSL";
/// Longer lines are continued.
const WIDEST: usize = 72;

struct Acsl;

const TRUTHS: Truths = Truths {
    words: [".FALSE.", ".TRUE."],
    binds: level::ATOM,
    not: ".NOT. ",
    same: [" .EQV. ", " .NEQV. "],
    choice: ["RSW(", ", ", ", ", ")"],
    places: [level::IF; 3],
    choice_binds: level::ATOM,
};

impl Language for Acsl {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn time(&self) -> &'static str {
        "T"
    }

    fn truths(&self) -> &'static Truths {
        &TRUTHS
    }

    fn infix(&self, op: BinaryOp) -> Infix {
        let mut infix = infix(op, Style::Plain);
        infix.word = match op {
            BinaryOp::Or => " .OR. ",
            BinaryOp::And => " .AND. ",
            BinaryOp::Less => " .LT. ",
            BinaryOp::LessEqual => " .LE. ",
            BinaryOp::Greater => " .GT. ",
            BinaryOp::GreaterEqual => " .GE. ",
            BinaryOp::Equal => " .EQ. ",
            BinaryOp::NotEqual => " .NE. ",
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => infix.word,
            BinaryOp::Pow => {
                infix.right = level::ATOM;
                "**"
            }
        };
        infix
    }

    fn spelling(&self, function: Function) -> Option<String> {
        let name = match function {
            Function::Min => "AMIN1",
            Function::Max => "AMAX1",
            Function::Ln => "ALOG",
            Function::Log10 => "ALOG10",
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
            | Function::Sqrt
            | Function::Abs => return Some(function.text().to_uppercase()),
            _ => return None,
        };
        Some(name.to_string())
    }

    /// A whole exponent is written without a point, because a negative number can be raised to it.
    fn power(&self, to: &mut Formulas<'_>, a: ExprId, b: ExprId) -> ExprId {
        let whole = to
            .arena
            .as_number(b)
            .filter(|value| value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX));
        let b = match whole {
            Some(value) => to.arena.leaf(Symbol::Whole(value as i32)),
            None => b,
        };
        to.arena.binary(BinaryOp::Pow, a, b)
    }

    fn call(&self, to: &mut Formulas<'_>, function: Function, args: &[ExprId]) -> Option<ExprId> {
        match (function, args) {
            (Function::Sign, &[a]) => {
                let a = to.repeated(a);
                let numbers = [-1.0, 0.0, 1.0].map(|value| to.arena.number(value));
                let [below, zero, above] = numbers;
                let less = to.arena.binary(BinaryOp::Less, a, zero);
                let less = to.arena.if_else(less, below, zero);
                let greater = to.arena.binary(BinaryOp::Greater, a, zero);
                Some(to.arena.if_else(greater, above, less))
            }
            (Function::Floor | Function::Ceil | Function::Mod, _) => {
                let numbers = [0.0, 1.0].map(|value| to.arena.number(value));
                whole_part(to, "AINT", numbers, function, args)
            }
            _ => {
                self.spelling(function)?;
                Some(to.arena.call(function, args))
            }
        }
    }
}

/// The program.
pub fn program(task: &Task<'_>) -> Result<String, String> {
    let model = Classic::new(task, LANGUAGE)?;
    let flat = model.flat;
    let mut names = Names::new(RULES);
    for leaf in model.leaves() {
        names.add(flat, leaf);
    }
    let title = names.fresh(flat.model());
    let mut formulas = Formulas::new(&model, &Acsl, names);
    formulas.name_events();
    let mut derivative = String::new();
    let mut discrete = String::new();
    let mut writer = Writer {
        model: &model,
        formulas,
    };
    writer.statements(&mut derivative)?;
    writer.crossings(&mut derivative)?;
    if !model.updates.is_empty() {
        writer.events(&mut discrete)?;
    }
    let mut out = format!("PROGRAM {title}\n");
    let states: Vec<&str> = model
        .states
        .iter()
        .map(|one| writer.name(one.leaf))
        .collect();
    if !states.is_empty() {
        out.push_str(&format!("! STATE {}\n", states.join(" ")));
    }
    for note in &model.notes {
        out.push_str(&format!("! NOTE: {}\n", comment(note)));
    }
    writer.initial(&mut out);
    out.push_str("DYNAMIC\n  DERIVATIVE\n");
    out.push_str(&derivative);
    out.push_str("  END ! OF DERIVATIVE\n");
    out.push_str(&discrete);
    out.push_str("  TERMT(T .GE. TSTP, 'end of the run')\nEND ! OF DYNAMIC\n");
    out.push_str("TERMINAL\nEND ! OF TERMINAL\nEND ! OF PROGRAM\n");
    let shown: Vec<&str> = (model.shown.iter().flatten())
        .map(|&leaf| writer.name(leaf))
        .collect();
    out.push_str(&format!(
        "! commands for a run:\n! PREPARE T, {}\n! START\n! PLOT {}\n",
        shown.join(", "),
        shown.join(", ")
    ));
    Ok(out)
}

struct Writer<'w> {
    model: &'w Classic<'w>,
    formulas: Formulas<'w>,
}

impl Writer<'_> {
    fn name(&self, leaf: Leaf) -> &str {
        self.formulas.names.get(leaf)
    }

    /// A boolean parameter is a LOGICAL, too.
    fn constant(&self, id: VarId) -> String {
        match self.model.flat.value(id).map(|given| given.value) {
            Some(value) => literal(value),
            None => real(0.0),
        }
    }

    /// The section INITIAL: declarations, parameters, and start values of all but states.
    fn initial(&self, out: &mut String) {
        let model = self.model;
        let flat = model.flat;
        out.push_str("INITIAL\n");
        let mut truths: Vec<String> = (model.leaves().into_iter())
            .filter(|&leaf| model.is_boolean(leaf))
            .map(|leaf| self.name(leaf).to_string())
            .collect();
        truths.extend(self.formulas.own_truths().map(str::to_string));
        let new = model
            .stages()
            .into_iter()
            .flatten()
            .map(|change| change.target);
        let new = new.filter(|&leaf| model.is_boolean(leaf));
        truths.extend(new.map(|leaf| self.name(Leaf::New(leaf.variable())).to_string()));
        truths.sort_unstable();
        truths.dedup();
        if !truths.is_empty() {
            put(out, 2, &format!("LOGICAL {}", truths.join(", ")));
        }
        for &id in &model.parameters {
            let declaration = flat.declaration(id);
            let mut words = Vec::new();
            words.extend(declaration.remarks.unit.clone());
            words.extend(declaration.remarks.description.clone());
            if !words.is_empty() {
                out.push_str(&format!("  ! {}\n", comment(&words.join(", "))));
            }
            put(
                out,
                2,
                &format!(
                    "CONSTANT {} = {}",
                    self.name(Leaf::Var(id)),
                    self.constant(id)
                ),
            );
        }
        for &(leaf, value) in &model.inputs {
            put(
                out,
                2,
                &format!("CONSTANT {} = {}", self.name(leaf), real(value)),
            );
        }
        put(out, 2, &format!("VARIABLE T = {}", real(model.start)));
        put(out, 2, &format!("CONSTANT TSTP = {}", real(model.until)));
        put(out, 2, &format!("CINTERVAL CINT = {}", real(model.step)));
        for one in &model.discretes {
            let value = literal(one.value);
            put(out, 2, &format!("{} = {value}", self.name(one.leaf)));
        }
        for (condition, (_, was)) in self.formulas.kept() {
            let truth = literal(Value::Bool(condition.holds));
            put(out, 2, &format!("{was} = {truth}"));
        }
        for (sampler, (_, next)) in self.formulas.ticks() {
            put(out, 2, &format!("{next} = {}", real(sampler.next)));
        }
        out.push_str("END ! OF INITIAL\n");
    }

    /// The statements of the section DERIVATIVE.
    fn statements(&mut self, out: &mut String) -> Result<(), String> {
        let model = self.model;
        for statement in &model.statements {
            let right = self.formulas.right(statement.value)?;
            let (Target::Value(leaf) | Target::Rate(leaf)) = statement.target;
            let name = self.name(leaf).to_string();
            let lines = match statement.target {
                Target::Value(_) => self.formulas.assignment(&name, right),
                Target::Rate(_) => {
                    let start = model.states.iter().find(|one| one.leaf == leaf);
                    let start = real(start.map_or(0.0, |one| one.value.number()));
                    self.formulas
                        .lines(right, |text| format!("{name} = INTEG({text}, {start})"))
                }
            };
            put_all(out, 4, &lines);
        }
        for (leaf, expression) in model.shown_and_eliminated() {
            let name = self.name(leaf).to_string();
            let value = self.formulas.value(expression)?;
            put_all(out, 4, &self.formulas.assignment(&name, value));
        }
        Ok(())
    }

    /// Schedules events: where the sides of a relation that updates read cross, each pair once, and when a sample is due.
    fn crossings(&mut self, out: &mut String) -> Result<(), String> {
        let model = self.model;
        let exprs = &model.flat.exprs;
        let mut work: Vec<ExprId> = Vec::new();
        work.extend(model.conditions.iter().rev().map(|one| one.expression));
        work.extend(model.updates.iter().rev().map(|update| update.value));
        let mut found: FxHashSet<ExprId> = FxHashSet::default();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Leaf(leaf) => work.extend(model.replacements.get(&leaf)),
                Node::Binary(
                    BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual,
                    a,
                    b,
                ) => {
                    let formulas = &mut self.formulas;
                    let (a, b) = (formulas.formula(a)?, formulas.formula(b)?);
                    let crossing = match formulas.arena.is_zero(b) {
                        true => a,
                        false => formulas.arena.binary(BinaryOp::Sub, a, b),
                    };
                    if found.insert(crossing) {
                        let schedule = |text: &str| format!("SCHEDULE EVENTS .XZ. {text}");
                        put_all(out, 4, &formulas.lines(crossing, schedule));
                    }
                }
                Node::Call(Function::Sample, _) => {}
                _ => exprs.operands(id, &mut work),
            }
        }
        for (_, (_, next)) in self.formulas.ticks() {
            put(out, 4, &format!("SCHEDULE EVENTS .XP. T - {next}"));
        }
        Ok(())
    }

    fn events(&mut self, out: &mut String) -> Result<(), String> {
        out.push_str("  DISCRETE EVENTS\n    PROCEDURAL\n");
        let lines = self.formulas.event_lines()?;
        // What the section sets itself does not start it again.
        for _ in 0..self.model.rounds() {
            put_all(out, 6, &lines);
        }
        out.push_str("    END ! OF PROCEDURAL\n  END ! OF DISCRETE\n");
        Ok(())
    }
}

fn literal(value: Value) -> String {
    match value {
        Value::Bool(value) => TRUTHS.words[usize::from(value)].to_string(),
        Value::Real(value) => real(value),
    }
}

fn put_all(out: &mut String, indent: usize, lines: &[String]) {
    for line in lines {
        put(out, indent, line);
    }
}

/// Writes a line. If it is too long, it is continued after a blank, a comma, an operator or a bracket.
fn put(out: &mut String, indent: usize, line: &str) {
    let mut rest = line;
    let mut first = true;
    loop {
        let blanks = if first { indent } else { indent + 4 };
        let room = WIDEST - blanks;
        out.push_str(&" ".repeat(blanks));
        if rest.len() <= room {
            out.push_str(rest);
            out.push('\n');
            return;
        }
        let fits = &rest[..room];
        // Not between the two stars of a power, nor at the beginning.
        let is_between = |at: usize| fits[..at].ends_with('*') || rest[at + 1..].starts_with('*');
        let at = (fits.rfind([' ', ',']).filter(|&at| at > 0))
            .or_else(|| (fits.rfind(['*', '/'])).filter(|&at| at > 1 && !is_between(at)))
            .or_else(|| fits.rfind('('))
            .map_or(fits.len(), |at| at + 1);
        out.push_str(rest[..at].trim_end());
        out.push_str(" ...\n");
        rest = rest[at..].trim_start();
        first = false;
    }
}
