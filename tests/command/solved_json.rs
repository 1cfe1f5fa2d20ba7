//! The solved model as json: another program can evaluate a model from it alone. The evaluator here
//! knows the text of expressions and docs/json.md, nothing of the compiler's own data.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use super::json::documented;
use crate::support::text::{all_diagnostics, compile_text};
use bgm::base::diagnostics::Diagnostics;
use bgm::base::intern::Interner;
use bgm::base::source::{Origin, Sources};
use bgm::compile::{Aliases, Listed, NoObserver, listed};
use bgm::expr::print::Style;
use bgm::expr::{ExprId, Function, Node, Value, apply_binary, apply_call, apply_unary};
use bgm::flat::{EqId, Flat, Kind, Leaf, VarId, WhenId};
use bgm::listing::positions_json::ByPosition;
use bgm::passes::blocks::{
    Assignment, Block, Entry, Linear, Method, Nonlinear, Residual, Solved, WhenBlock,
};
use nalgebra::{DMatrix, DVector};
use serde_json::Value as Json;

/// One block of each kind; the equations by number are 0 to 9.
const MODEL: &str = "
model Kinds
  input u
  parameter a = 2
  local x, y, p, q, z, w, s, n, Q101
  output o
  x + y = u
  x - a*y = 3
  p + q = x
  p - a*q = y
  z**3 + w = u
  w = z
  der2(s) = z/x
  o = s
  init(s) = a + 1
  when z > 1 then
    init(s) = 0
  elsewhen z > 0 then
    new(n) = pre(n) + 1
  endwhen
end
";

/// The same, typeset.
const LATEX: &str = r"\ruled{linear system of 2 equations for $x$, $y$}
\row{}{$\displaystyle \mathit{Q101} = \frac{1}{-a - 1}$\quad where $-a - 1 \ne 0$}
\row{Kinds}{$\displaystyle x = (-a\,u - 3)\,\mathit{Q101}$}
\row{}{$\displaystyle y = (3 - u)\,\mathit{Q101}$}
\unruled
\ruled{linear system of 2 equations for $p$, $q$}
\row{}{$\displaystyle p + q = x$}
\row{}{$\displaystyle p - a\,q = y$}
\unruled
\ruled{nonlinear system of 2 equations, iterated for $z$, in the order of an R-field}
\row{}{$\displaystyle w = z$}
\row{}{$\displaystyle 0 = z^{3} + w - u$}
\unruled
\row{}{$\displaystyle \ddot{s} = \frac{z}{x}$\quad where $x \ne 0$}
\row{}{$\displaystyle o = s$}
\row{}{\textbf{when} $z > 1$ \textbf{then}}
\row{}{\quad $\displaystyle \operatorname{init}(s) = 0$}
\row{}{\textbf{endwhen}}
\row{}{\textbf{when} $z > 1$ \textbf{then}}
\row{}{\textbf{elsewhen} $z > 0$ \textbf{then}}
\row{}{\quad $\displaystyle \operatorname{new}(n) = \operatorname{pre}(n) + 1$}
\row{}{\textbf{endwhen}}

\subsection*{States}
$s$, $\dot{s}$

\end{document}
";

fn variable(flat: &Flat, name: &str) -> VarId {
    let found = flat.variable_ids().find(|&id| flat.name(id) == name);
    found.expect("a variable of the model")
}

/// The expressions of `right = 0` for each text, in the arena of the model.
struct Hand<'f> {
    flat: &'f mut Flat,
}

impl Hand<'_> {
    fn leaf(&self, name: &str) -> Leaf {
        Leaf::Var(variable(self.flat, name))
    }

    /// Reads back an expression of numbers, variables and operators.
    fn expression(&mut self, text: &str) -> ExprId {
        let program = Program::new(text);
        let mut ids: Vec<ExprId> = Vec::new();
        for (node, name) in &program.nodes {
            let id = match *node {
                Node::Number(value) => self.flat.exprs.number(value.0),
                Node::Leaf(()) => {
                    let leaf = self.leaf(name);
                    self.flat.exprs.leaf(leaf)
                }
                Node::Unary(op, a) => self.flat.exprs.unary(op, ids[a.index()]),
                Node::Binary(op, a, b) => {
                    self.flat.exprs.binary(op, ids[a.index()], ids[b.index()])
                }
                _ => panic!("not in an expression made by hand: {text}"),
            };
            ids.push(id);
        }
        *ids.last().expect("an expression")
    }

    fn assign(&mut self, target: Leaf, text: &str, equation: Option<u32>) -> Assignment {
        Assignment {
            target,
            value: self.expression(text),
            equation: equation.map(EqId),
            guard: None,
        }
    }
}

/// What solving this model can come to, made by hand.
fn by_hand() -> (Solved, Sources) {
    let compiled = compile_text(MODEL);
    let said = all_diagnostics(&compiled);
    let mut flat = compiled.flat.unwrap_or_else(|| panic!("{said}"));
    let auxiliary = variable(&flat, "Q101");
    flat.variables[auxiliary.index()].kind = Kind::Auxiliary;
    let mut hand = Hand { flat: &mut flat };
    let leaf = |hand: &Hand<'_>, name: &str| hand.leaf(name);
    let (x, y, p, q) = (
        leaf(&hand, "x"),
        leaf(&hand, "y"),
        leaf(&hand, "p"),
        leaf(&hand, "q"),
    );
    let (z, w, s, n) = (
        leaf(&hand, "z"),
        leaf(&hand, "w"),
        variable(hand.flat, "s"),
        variable(hand.flat, "n"),
    );
    let mut formulas = vec![
        hand.assign(Leaf::Var(auxiliary), "1/(-a - 1)", None),
        hand.assign(x, "(-a*u - 3)*Q101", Some(0)),
        hand.assign(y, "(3 - u)*Q101", Some(1)),
    ];
    formulas[0].guard = Some(hand.expression("-a - 1"));
    let linear = Linear {
        unknowns: vec![x, y],
        equations: vec![EqId(0), EqId(1)],
        method: Method::Formulas(formulas),
    };
    let mut entry = |row, column, text| Entry {
        row,
        column,
        value: hand.expression(text),
    };
    let matrix = vec![
        entry(0, 0, "1"),
        entry(0, 1, "1"),
        entry(1, 0, "1"),
        entry(1, 1, "-a"),
    ];
    let system = Linear {
        unknowns: vec![p, q],
        equations: vec![EqId(2), EqId(3)],
        method: Method::System {
            matrix,
            right: vec![hand.expression("x"), hand.expression("y")],
        },
    };
    let nonlinear = Nonlinear {
        unknowns: vec![z, w],
        equations: vec![EqId(4), EqId(5)],
        iteration: vec![z],
        inner: vec![hand.assign(w, "z", Some(5))],
        residuals: vec![Residual {
            equation: EqId(4),
            value: hand.expression("z**3 + w - u"),
        }],
        by_field: true,
    };
    let mut second = hand.assign(Leaf::Der(s, 2), "z/x", Some(6));
    second.guard = Some(hand.expression("x"));
    let output = leaf(&hand, "o");
    let output = hand.assign(output, "s", Some(7));
    let when = |target, equation| {
        Block::When(WhenBlock {
            target,
            when: WhenId(0),
            equations: vec![EqId(equation)],
        })
    };
    let blocks = vec![
        Block::Linear(linear),
        Block::Linear(system),
        Block::Nonlinear(nonlinear),
        Block::Assignment(second),
        Block::Assignment(output),
        when(Leaf::Init(s), 9),
        when(Leaf::New(n), 10),
    ];
    let zeros = Vec::new();
    (
        Solved {
            flat,
            blocks,
            zeros,
            divisors: Vec::new(),
            start: None,
        },
        compiled.sources,
    )
}

fn json(solved: &Solved, sources: &Sources) -> Json {
    let mut out = Vec::new();
    bgm::listing::solved_json::write(solved, sources, None, &mut out)
        .expect("memory can be written");
    serde_json::from_slice(&out).expect("the output is json")
}

/// An expression as its text is read, operands first; leaves by name, `der(x)` among them.
struct Program {
    nodes: Vec<(Node<()>, String)>,
    args: Vec<ExprId>,
}

impl Program {
    fn new(text: &str) -> Self {
        let wrapped = format!("model W\n0 = {text}\nend\n");
        let mut sources = Sources::default();
        let file = sources.add("expression".into(), wrapped.clone(), Origin::User);
        let mut interner = Interner::default();
        let (tree, said) = bgm::syntax::parse(file, &wrapped, &mut interner);
        assert!(said.is_empty(), "{text} cannot be read");
        let mut nodes: Vec<(Node<()>, String)> = Vec::new();
        for &node in &tree.exprs.nodes[1..] {
            let mut name = String::new();
            let back = |id: ExprId| ExprId(id.0 - 1);
            let node = match node {
                Node::Leaf(reference) => {
                    let parts: Vec<String> = (tree.exprs.parts(reference).iter())
                        .map(|part| {
                            let text = interner.name(part.name.symbol);
                            match part.index.map(|index| tree.exprs.node(index)) {
                                Some(Node::Number(at)) => format!("{text}[{}]", at.0),
                                _ => text.to_string(),
                            }
                        })
                        .collect();
                    name = parts.join(".");
                    Node::Leaf(())
                }
                Node::Call(Function::Der2, args) => {
                    let inner = &nodes[back(tree.exprs.args[args.range()][0]).index()].1;
                    name = format!("der(der({inner}))");
                    Node::Leaf(())
                }
                Node::Call(function, args) if function.takes_variable() => {
                    let inner = &nodes[back(tree.exprs.args[args.range()][0]).index()].1;
                    name = format!("{}({inner})", function.text());
                    Node::Leaf(())
                }
                Node::Number(value) => Node::Number(value),
                Node::Bool(value) => Node::Bool(value),
                Node::Time => Node::Time,
                Node::Unary(op, a) => Node::Unary(op, back(a)),
                Node::Binary(op, a, b) => Node::Binary(op, back(a), back(b)),
                Node::If(a, b, c) => Node::If(back(a), back(b), back(c)),
                Node::Call(function, args) => Node::Call(function, args),
                Node::List(args) => Node::List(args),
            };
            nodes.push((node, name));
        }
        let args = tree.exprs.args.iter();
        Program {
            nodes,
            args: args.map(|id| ExprId(id.0.saturating_sub(1))).collect(),
        }
    }
}

/// Values of names, and expressions that have been read.
#[derive(Default)]
struct Machine {
    values: HashMap<String, Value>,
    programs: HashMap<String, Program>,
    /// Of the reduction.
    selections: Vec<Json>,
    /// The largest number met on the way: what cancels leaves its rounding errors.
    largest: f64,
}

impl Machine {
    fn set(&mut self, name: &str, value: f64) {
        self.values.insert(name.to_string(), Value::Real(value));
    }

    fn number(&mut self, text: &str) -> f64 {
        let value = self.evaluate(text).real();
        value.unwrap_or_else(|| panic!("{text} is no number"))
    }

    fn evaluate(&mut self, text: &str) -> Value {
        if !self.programs.contains_key(text) {
            self.programs.insert(text.to_string(), Program::new(text));
        }
        let program = &self.programs[text];
        let mut values: Vec<Value> = Vec::new();
        let nothing = Value::Real(f64::NAN);
        for (at, (node, name)) in program.nodes.iter().enumerate() {
            // What `der(x)` holds is no value of its own.
            let inside = |user: &(Node<()>, String)| user.1.contains(&format!("({name})"));
            let value = match *node {
                Node::Number(value) => Some(Value::Real(value.0)),
                Node::Bool(value) => Some(Value::Bool(value)),
                Node::Time => Some(self.values["Time"]),
                Node::Leaf(()) => match self.values.get(name) {
                    Some(&value) => Some(value),
                    None if program.nodes[at + 1..].iter().any(inside) => Some(nothing),
                    None => panic!("{text}: {name} has no value yet"),
                },
                Node::Unary(op, a) => apply_unary(op, values[a.index()]),
                Node::Binary(op, a, b) => apply_binary(op, values[a.index()], values[b.index()]),
                Node::If(c, a, b) => match values[c.index()] {
                    Value::Bool(true) => Some(values[a.index()]),
                    _ => Some(values[b.index()]),
                },
                Node::Call(Function::Table, args) => {
                    let args = &program.args[args.range()];
                    let list = |at: usize| -> Vec<f64> {
                        let Node::List(args) = program.nodes[args[at].index()].0 else {
                            panic!("{text}: a table of something else")
                        };
                        (program.args[args.range()].iter())
                            .filter_map(|id| values[id.index()].real())
                            .collect()
                    };
                    let x = values[args[0].index()].real().expect("a number");
                    let y = bgm::expr::interpolate(x, &list(1), &list(2));
                    Some(Value::Real(y))
                }
                Node::Call(function, args) => {
                    let args = program.args[args.range()].iter();
                    let args: Vec<Value> = args.map(|id| values[id.index()]).collect();
                    apply_call(function, &args)
                }
                Node::List(_) => Some(nothing),
            };
            let value = value.unwrap_or_else(|| panic!("{text} has a wrong type"));
            self.largest = self.largest.max(value.real().map_or(0.0, f64::abs));
            values.push(value);
        }
        *values.last().expect("an expression")
    }

    /// In order; a guard must not vanish.
    fn assignments(&mut self, list: &Json) {
        for assignment in array(list) {
            if let Some(guard) = assignment.get("guard") {
                assert_ne!(self.number(string(guard)), 0.0, "{assignment}");
            }
            let value = self.evaluate(string(&assignment["expression"]));
            let variable = string(&assignment["variable"]);
            self.values.insert(variable.to_string(), value);
        }
    }

    fn block(&mut self, block: &Json) {
        match string(&block["kind"]) {
            "assignment" => self.assignments(&block["assignments"]),
            "linear" if block.get("assignments").is_some() => {
                self.assignments(&block["assignments"]);
            }
            "linear" => {
                let size = array(&block["rhs"]).len();
                let mut matrix = DMatrix::zeros(size, size);
                for entry in array(&block["matrix"]) {
                    let place = (index(&entry["row"]), index(&entry["column"]));
                    matrix[place] = self.number(string(&entry["expression"]));
                }
                let rhs = array(&block["rhs"]);
                let rhs = rhs.iter().map(|text| self.number(string(text)));
                let rhs = DVector::from_iterator(size, rhs);
                let solution = matrix.lu().solve(&rhs).expect("a regular matrix");
                for (name, &value) in array(&block["unknowns"]).iter().zip(&solution) {
                    self.set(string(name), value);
                }
            }
            "nonlinear" => self.iterate(block),
            "selection" => {
                let given: Vec<&Json> = (array(&block["selections"]).iter())
                    .flat_map(|at| array(&self.selections[index(at)]["choice"]))
                    .collect();
                let mut torn = block.clone();
                let unknowns = array(&block["unknowns"]).iter();
                torn["iteration"] = unknowns
                    .filter(|name| !given.contains(name))
                    .cloned()
                    .collect();
                torn["inner"] = Json::Array(Vec::new());
                self.iterate(&torn);
            }
            "when" => {}
            other => panic!("a block of the kind {other}"),
        }
    }

    /// Newton's method, derivatives by differences.
    fn iterate(&mut self, block: &Json) {
        let names = array(&block["iteration"]);
        let size = names.len();
        let residuals = |machine: &mut Machine, at: &DVector<f64>| {
            for (name, &value) in names.iter().zip(at) {
                machine.set(string(name), value);
            }
            machine.assignments(&block["inner"]);
            let texts = array(&block["residuals"]).iter();
            DVector::from_iterator(size, texts.map(|text| machine.number(string(text))))
        };
        // Steps are halved while they lead away; what fails from one start is tried from another.
        for start in [0.7, 0.01, 20.0, -1.0] {
            let mut at = DVector::from_element(size, start);
            let mut here = residuals(self, &at);
            let first = here.norm();
            for _ in 0..200 {
                if here.norm() < 1e-13 * (1.0 + first) {
                    residuals(self, &at);
                    return;
                }
                let mut jacobian = DMatrix::zeros(size, size);
                for column in 0..size {
                    let step = 1e-7 * (1.0 + at[column].abs());
                    let mut near = at.clone();
                    near[column] += step;
                    let change = (residuals(self, &near) - &here) / step;
                    jacobian.set_column(column, &change);
                }
                let Some(mut step) = jacobian.lu().solve(&here) else {
                    break;
                };
                let mut there = residuals(self, &(&at - &step));
                for _ in 0..40 {
                    if there.norm() < here.norm() {
                        break;
                    }
                    step /= 2.0;
                    there = residuals(self, &(&at - &step));
                }
                at -= step;
                here = there;
            }
        }
        panic!("no solution of {block}");
    }

    /// Evaluates a model whose states, discrete variables and inputs have values by their order,
    /// and says how far its equations are from holding.
    fn model(&mut self, model: &Json) -> Vec<(String, f64)> {
        self.set("Time", 0.25);
        for variable in array(&model["variables"]) {
            let value = match variable.get("value") {
                Some(Json::Bool(value)) => Value::Bool(*value),
                Some(number) => Value::Real(number.as_f64().expect("a number")),
                None => continue,
            };
            self.values.insert(string(&variable["name"]).into(), value);
        }
        let types: HashMap<&str, &str> = (array(&model["variables"]).iter())
            .map(|variable| (string(&variable["name"]), string(&variable["type"])))
            .collect();
        // States that the run chooses: where the model starts, else moving slowly.
        if let Some(reduction) = model.get("reduction") {
            self.selections = array(&reduction["selections"]).clone();
            for name in self
                .selections
                .clone()
                .iter()
                .flat_map(|one| array(&one["choice"]))
            {
                let variables = array(&model["variables"]).iter();
                let start = (variables.filter(|variable| variable["name"] == *name))
                    .find_map(|variable| variable.get("start")?.as_f64());
                self.set(string(name), start.unwrap_or(0.1));
            }
        }
        let mut next = 0.9;
        for list in ["states", "inputs", "discrete"] {
            for name in array(&model[list]) {
                let name = string(name);
                let value = match types.get(name) {
                    Some(&"boolean") => Value::Bool(true),
                    _ => Value::Real(next),
                };
                next += 0.125;
                self.values.insert(name.to_string(), value);
                self.values.insert(format!("pre({name})"), value);
            }
        }
        let mut far = Vec::new();
        for block in array(&model["blocks"]) {
            self.block(block);
            for equation in array(&block["equations"]) {
                if string(&equation["kind"]) == "when" {
                    continue;
                }
                let (left, right) = (string(&equation["left"]), string(&equation["right"]));
                self.largest = 0.0;
                let distance = match (self.evaluate(left), self.evaluate(right)) {
                    (Value::Real(left), Value::Real(right)) => {
                        (left - right).abs() / (1.0 + self.largest)
                    }
                    (left, right) => f64::from(left != right),
                };
                far.push((format!("{left} = {right}"), distance));
            }
        }
        far
    }
}

fn array(value: &Json) -> &Vec<Json> {
    value.as_array().expect("a list")
}

fn string(value: &Json) -> &str {
    value.as_str().expect("a text")
}

fn index(value: &Json) -> usize {
    value.as_u64().expect("a whole number") as usize
}

#[test]
fn every_kind_of_block_can_be_evaluated() {
    let (solved, sources) = by_hand();
    let model = json(&solved, &sources);
    let mut machine = Machine::default();
    let far = machine.model(&model);
    assert_eq!(far.len(), 8);
    for (equation, distance) in far {
        assert!(distance < 1e-9, "{equation} is off by {distance}");
    }
    let names = |field: &str| -> Vec<&str> { array(&model[field]).iter().map(string).collect() };
    assert_eq!(names("states"), ["s", "der(s)"]);
    assert_eq!(names("inputs"), ["u"]);
    assert_eq!(names("parameters"), ["a"]);
    assert_eq!(names("discrete"), ["n"]);
    let kinds: Vec<&str> = (array(&model["blocks"]).iter())
        .map(|block| string(&block["kind"]))
        .collect();
    assert_eq!(
        kinds,
        [
            "linear",
            "linear",
            "nonlinear",
            "assignment",
            "assignment",
            "when",
            "when"
        ]
    );
}

/// Models whose loops have no solution at all: they show how to write, not what to compute. And models that a run solves
/// anew in each position of their switches: as one they are singular in the first.
const NOT_TO_BE_EVALUATED: &[&str] = &[
    "layout.bgm",
    "bridge.bgm",
    "buck.bgm",
    "freewheel.bgm",
    "thyristor_bridge.bgm",
];

/// Every model of the project that can be solved: its equations hold for what the json gives.
#[test]
fn the_models_of_the_project_can_be_evaluated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut models = 0;
    for folder in ["examples", "tests/papers", "tests/language"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of models");
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let is_model = path.extension().is_some_and(|extension| extension == "bgm");
            if !is_model || NOT_TO_BE_EVALUATED.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            for option in ["--eliminate", "--no-eliminate"] {
                let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
                    .arg("solve")
                    .arg(&path)
                    .args(["--format", "json"])
                    .args((option != "--eliminate").then_some(option))
                    .output()
                    .expect("bgm runs");
                if output.status.code() != Some(0) {
                    continue;
                }
                let model: Json = serde_json::from_slice(&output.stdout).expect("json");
                let title = format!("{} {option}", path.display());
                for (equation, distance) in Machine::default().model(&model) {
                    assert!(distance < 1e-6, "{title}: {equation} is off by {distance}");
                }
                models += 1;
            }
        }
    }
    assert!(models > 60, "only {models} models can be solved");
}

#[test]
fn guards_branches_and_start_values() {
    let (solved, sources) = by_hand();
    let model = json(&solved, &sources);
    let blocks = array(&model["blocks"]);
    let first = &blocks[0]["assignments"][0];
    assert_eq!(first["variable"], "Q101");
    assert_eq!(first["expression"], "1/(-a - 1)");
    assert_eq!(first["guard"], "-a - 1");
    assert!(blocks[0]["assignments"][1].get("guard").is_none());
    assert_eq!(blocks[3]["unknowns"][0], "der(der(s))");
    let branches = |text: &str| -> Json { serde_json::from_str(text).expect("json") };
    assert_eq!(
        blocks[5]["branches"],
        branches(r#"[{"condition": "z > 1", "expression": "0"}]"#)
    );
    // The first branch does not set n, but keeps the second from acting.
    assert_eq!(
        blocks[6]["branches"],
        branches(r#"[{"condition": "z > 1"}, {"condition": "z > 0", "expression": "pre(n) + 1"}]"#)
    );
    assert_eq!(model["initial"][0]["left"], "init(s)");
    assert_eq!(model["initial"][0]["right"], "a + 1");
    assert_eq!(array(&model["initial"]).len(), 1);
}

/// A document that TeX can typeset; tests/export/latex.rs has the rules.
#[test]
fn the_same_as_latex() {
    let (solved, _) = by_hand();
    let text = bgm::listing::latex_solved::solved(&solved, None, Style::Plain);
    let (_, body) = text.split_once("\\medskip\n\n").expect("a body");
    assert_eq!(body, LATEX);
}

/// The tables of docs/json.md list the fields that there are, no more and no fewer.
#[test]
fn the_tables_are_complete() {
    let (solved, sources) = by_hand();
    let model = json(&solved, &sources);
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut note = |section: &'static str, entry: &Json| {
        let fields = entry.as_object().expect("an object").keys();
        (seen.entry(section).or_default()).extend(fields.cloned());
    };
    note("Solved model", &model);
    for block in array(&model["blocks"]) {
        note("Solved blocks", block);
        for (field, section) in [
            ("assignments", "Assignments"),
            ("inner", "Assignments"),
            ("matrix", "Matrix"),
            ("branches", "Branches"),
        ] {
            for entry in block.get(field).into_iter().flat_map(array) {
                note(section, entry);
            }
        }
    }
    let pendulum = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/pendulum.solve-format-json.snap"
    );
    let text = std::fs::read_to_string(pendulum).expect("the listing is there");
    let (_, text) = text.split_at(text.find("\n{").expect("a listing"));
    let mut read = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    let pendulum = read.next().expect("a model").expect("json");
    note("Solved model", &pendulum);
    note("Reduction", &pendulum["reduction"]);
    for block in array(&pendulum["blocks"]) {
        note("Solved blocks", block);
    }
    let freewheel = by_position();
    note("Solved model", &freewheel);
    note("Solutions by position", &freewheel["positions"]);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert_eq!(seen.len(), 7);
    for (section, fields) in seen {
        assert_eq!(
            documented(&page, section),
            fields,
            "in the table `{section}`"
        );
    }
}

/// A model that is solved by position.
fn by_position() -> Json {
    let text = include_str!("../../examples/freewheel.bgm");
    let compiled = compile_text(text);
    let mut said = Diagnostics::default();
    let flat = compiled.flat.expect("it is sound");
    let done = listed(flat, Aliases::Eliminate, &mut NoObserver, &mut said);
    let Some(Listed::ByPosition(solved, table)) = done else {
        panic!("it is solved by position");
    };
    let more = ByPosition {
        table: &table,
        sources: &compiled.sources,
    };
    let mut out = Vec::new();
    bgm::listing::solved_json::write(&solved, &compiled.sources, Some(&more), &mut out)
        .expect("memory can be written");
    serde_json::from_slice(&out).expect("it is json")
}
