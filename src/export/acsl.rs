//! A program for ACSL (Mitchell and Gauthier 1986), the interface that the 1990 paper announces.
//!
//! Before: a solved model and its experiment. After: the text of the program in INITIAL, DYNAMIC, DERIVATIVE and
//! TERMINAL. States are INTEGs and truths are LOGICAL. `if` becomes RSW, which computes both branches. Updates at
//! events are in a DISCRETE section, which SCHEDULE starts when a relation changes or a sample is due. Lines are
//! continued with `...`.

use super::classic::names::{Names, Rules};
use super::classic::text::{Dialect, arithmetic, comment, number as number_text, real, text};
use super::classic::{Classic, Happening, Right, Target, Task};
use super::desire::call;
use crate::expr::op::precedence as level;
use crate::expr::print::Text;
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

struct Acsl {
    names: Names,
    named: Happening,
}

impl Dialect for Acsl {
    fn leaf(&self, leaf: Leaf) -> Text {
        Text::atom(self.names.get(leaf))
    }

    fn truth_of(&self, leaf: Leaf) -> Text {
        self.leaf(leaf)
    }

    fn truth(&self, value: bool) -> Text {
        Text::atom(if value { ".TRUE." } else { ".FALSE." })
    }

    fn time(&self) -> Text {
        Text::atom("T")
    }

    fn not(&self, a: &Text) -> Text {
        Text::new(format!(".NOT. {}", a.at_least(level::ATOM)), level::NOT)
    }

    fn logic(&self, and: bool, a: &Text, b: &Text) -> Text {
        let (word, binds) = if and {
            (".AND.", level::AND)
        } else {
            (".OR.", level::OR)
        };
        Text::new(
            format!("{} {word} {}", a.at_least(binds), b.at_least(binds + 1)),
            binds,
        )
    }

    fn relation(&self, op: BinaryOp, a: &Text, b: &Text) -> Text {
        let word = match op {
            BinaryOp::Less => ".LT.",
            BinaryOp::LessEqual => ".LE.",
            BinaryOp::Greater => ".GT.",
            BinaryOp::GreaterEqual => ".GE.",
            BinaryOp::NotEqual => ".NE.",
            _ => ".EQ.",
        };
        let (a, b) = (a.at_least(level::SUM), b.at_least(level::SUM));
        Text::new(format!("{a} {word} {b}"), level::RELATION)
    }

    fn due(&self, at: usize) -> Text {
        Text::atom(&self.named.ticks[at].0)
    }

    fn same_truth(&self, equal: bool, a: &Text, b: &Text) -> Text {
        let word = if equal { ".EQV." } else { ".NEQV." };
        Text::new(
            format!(
                "{} {word} {}",
                a.at_least(level::ATOM),
                b.at_least(level::ATOM)
            ),
            level::IF,
        )
    }

    /// A whole exponent is written without a point, because a negative number can be raised to it.
    fn power(&self, a: &Text, b: &Text) -> Text {
        let power = match b.text.strip_suffix(".0") {
            Some(whole) => Text::new(whole, b.binds).at_least(level::ATOM),
            None => b.at_least(level::ATOM),
        };
        Text::new(
            format!("{}**{power}", a.at_least(level::ATOM)),
            level::POWER,
        )
    }

    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        call("RSW", &[condition.clone(), a.clone(), b.clone()])
    }

    fn call(&self, function: Function, args: &[Text]) -> Option<Text> {
        let (zero, one) = (Text::atom("0.0"), Text::atom("1.0"));
        let whole = |a: &Text, up: bool| {
            let cut = call("AINT", std::slice::from_ref(a));
            let op = if up {
                BinaryOp::Greater
            } else {
                BinaryOp::Less
            };
            let off = self.choice(&self.relation(op, a, &cut), &one, &zero);
            let op = if up { BinaryOp::Add } else { BinaryOp::Sub };
            arithmetic(op, &cut, &off)
        };
        Some(match function {
            Function::Min => call("AMIN1", args),
            Function::Max => call("AMAX1", args),
            Function::Ln => call("ALOG", args),
            Function::Log10 => call("ALOG10", args),
            Function::Sign => {
                let a = args.first()?;
                let below = self.relation(BinaryOp::Less, a, &zero);
                let below = self.choice(&below, &number_text(-1.0), &zero);
                self.choice(&self.relation(BinaryOp::Greater, a, &zero), &one, &below)
            }
            Function::Floor => whole(args.first()?, false),
            Function::Ceil => whole(args.first()?, true),
            Function::Mod => {
                let (a, b) = (args.first()?, args.get(1)?);
                let times = whole(&arithmetic(BinaryOp::Div, a, b), false);
                arithmetic(BinaryOp::Sub, a, &arithmetic(BinaryOp::Mul, b, &times))
            }
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
            | Function::Abs => call(&function.text().to_uppercase(), args),
            _ => return None,
        })
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
    let named = model.name_events(&mut names);
    let acsl = Acsl { names, named };
    let writer = Writer {
        model: &model,
        acsl: &acsl,
    };
    let mut out = format!("PROGRAM {title}\n");
    let states = model.states.iter().map(|one| acsl.names.get(one.leaf));
    let states: Vec<&str> = states.collect();
    if !states.is_empty() {
        out.push_str(&format!("! STATE {}\n", states.join(" ")));
    }
    for note in &model.notes {
        out.push_str(&format!("! NOTE: {}\n", comment(note)));
    }
    writer.initial(&mut out);
    out.push_str("DYNAMIC\n  DERIVATIVE\n");
    writer.statements(&mut out)?;
    for crossing in writer.crossings()? {
        put(&mut out, 4, &format!("SCHEDULE EVENTS .XZ. {crossing}"));
    }
    for (_, next) in &acsl.named.ticks {
        put(&mut out, 4, &format!("SCHEDULE EVENTS .XP. T - {next}"));
    }
    out.push_str("  END ! OF DERIVATIVE\n");
    if !model.updates.is_empty() {
        writer.events(&mut out)?;
    }
    out.push_str("  TERMT(T .GE. TSTP, 'end of the run')\nEND ! OF DYNAMIC\n");
    out.push_str("TERMINAL\nEND ! OF TERMINAL\nEND ! OF PROGRAM\n");
    let shown: Vec<&str> = (model.shown.iter().flatten())
        .map(|&leaf| acsl.names.get(leaf))
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
    acsl: &'w Acsl,
}

impl Writer<'_> {
    fn name(&self, leaf: Leaf) -> &str {
        self.acsl.names.get(leaf)
    }

    fn text(&self, id: ExprId) -> Result<Text, String> {
        text(self.model, self.acsl, LANGUAGE, id)
    }

    /// A boolean parameter is a LOGICAL, too.
    fn constant(&self, id: VarId) -> String {
        match self.model.flat.value(id).map(|given| given.value) {
            Some(Value::Bool(value)) => self.acsl.truth(value).text,
            Some(Value::Real(value)) => real(value),
            None => real(0.0),
        }
    }

    fn initial(&self, out: &mut String) {
        let model = self.model;
        let flat = model.flat;
        out.push_str("INITIAL\n");
        let mut truths: Vec<String> = (model.leaves().into_iter())
            .filter(|&leaf| model.is_boolean(leaf))
            .map(|leaf| self.name(leaf).to_string())
            .collect();
        let Happening { edges, ticks } = &self.acsl.named;
        truths.extend(edges.iter().map(|(edge, _)| edge.clone()));
        truths.extend((model.kept(&self.acsl.named)).map(|(_, (_, was))| was.clone()));
        truths.extend(ticks.iter().map(|(due, _)| due.clone()));
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
            let value = match one.value {
                Value::Bool(value) => self.acsl.truth(value).text,
                Value::Real(value) => real(value),
            };
            put(out, 2, &format!("{} = {value}", self.name(one.leaf)));
        }
        for (condition, (_, was)) in model.kept(&self.acsl.named) {
            let truth = self.acsl.truth(condition.holds).text;
            put(out, 2, &format!("{was} = {truth}"));
        }
        for (sampler, (_, next)) in model.samplers.iter().zip(ticks) {
            put(out, 2, &format!("{next} = {}", real(sampler.next)));
        }
        out.push_str("END ! OF INITIAL\n");
    }

    fn statements(&self, out: &mut String) -> Result<(), String> {
        let model = self.model;
        for statement in &model.statements {
            let right = match statement.value {
                Right::Formula(id) => self.text(id)?.text,
                Right::Same(leaf) => self.name(leaf).to_string(),
            };
            let line = match statement.target {
                Target::Value(leaf) => format!("{} = {right}", self.name(leaf)),
                Target::Rate(leaf) => {
                    let start = model.states.iter().find(|one| one.leaf == leaf);
                    let start = start.map_or(0.0, |one| one.value.number());
                    format!("{} = INTEG({right}, {})", self.name(leaf), real(start))
                }
            };
            put(out, 4, &line);
        }
        for (leaf, expression) in model.shown_and_gone() {
            put(
                out,
                4,
                &format!("{} = {}", self.name(leaf), self.text(expression)?.text),
            );
        }
        Ok(())
    }

    /// The differences of the sides of the relations that updates read, each once.
    fn crossings(&self) -> Result<Vec<String>, String> {
        let exprs = &self.model.flat.exprs;
        let mut work: Vec<ExprId> = Vec::new();
        work.extend(self.model.conditions.iter().rev().map(|one| one.expression));
        work.extend(self.model.updates.iter().rev().map(|update| update.value));
        let mut found: Vec<String> = Vec::new();
        while let Some(id) = work.pop() {
            match exprs.node(id) {
                Node::Leaf(leaf) => work.extend(self.model.gone.get(&leaf)),
                Node::Binary(
                    BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual,
                    a,
                    b,
                ) => {
                    let (a, b) = (self.text(a)?, self.text(b)?);
                    let crossing = match b.text.as_str() {
                        "0.0" => a.text,
                        _ => arithmetic(BinaryOp::Sub, &a, &b).text,
                    };
                    if !found.contains(&crossing) {
                        found.push(crossing);
                    }
                }
                Node::Call(Function::Sample, _) => {}
                _ => exprs.operands(id, &mut work),
            }
        }
        Ok(found)
    }

    fn events(&self, out: &mut String) -> Result<(), String> {
        let acsl = self.acsl;
        out.push_str("  DISCRETE EVENTS\n    PROCEDURAL\n");
        let becomes = |edge: &str, was: &str| {
            acsl.logic(true, &Text::atom(edge), &acsl.not(&Text::atom(was)))
        };
        let lines = (self.model).event_lines(acsl, LANGUAGE, &acsl.named, &becomes)?;
        // What the section sets itself does not start it again.
        for _ in 0..self.model.rounds() {
            for line in &lines {
                put(out, 6, line);
            }
        }
        out.push_str("    END ! OF PROCEDURAL\n  END ! OF DISCRETE\n");
        Ok(())
    }
}

/// Writes a line. If it is too long, it is continued after a blank, a comma or an operator.
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
        let fits = &rest[..room.min(rest.len())];
        let at = match fits.rfind([' ', ',']) {
            Some(at) if at > 0 => at + 1,
            _ => match fits.rfind(['*', '/']) {
                // Not between the two stars of a power, nor at the beginning.
                Some(at)
                    if at > 1 && !fits[..at].ends_with('*') && !rest[at + 1..].starts_with('*') =>
                {
                    at + 1
                }
                _ => fits.len(),
            },
        };
        out.push_str(rest[..at].trim_end());
        out.push_str(" ...\n");
        rest = rest[at..].trim_start();
        first = false;
    }
}
