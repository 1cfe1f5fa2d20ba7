//! Expressions as Modelica writes them.
//!
//! Before: an expression of the flat model. After: text that means the same (Modelica 3.6, chapter 3). A sign stands only where a
//! sum begins, powers do not chain, an `if` is bracketed where it is an operand. Real numbers are not compared by `==` outside
//! functions, so their distance is. Whole numbers stay whole where they cannot meet another: two of them would be computed as
//! integers, which overflow. The walk keeps its own stack.

use rustc_hash::FxHashSet;

use super::names::{TABLE, identifier, quoted};
use super::written_out::{pairs, sign};
use crate::expr::op::precedence as level;
use crate::expr::print;
use crate::expr::{Arena, BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Flat, Kind, Leaf, VarId};

/// Which discrete variables are written with `pre`.
#[derive(Clone, Copy, Debug)]
pub enum View<'v> {
    /// Between events: variables that depend on themselves through equations.
    Between(&'v FxHashSet<VarId>),
    /// At an event: all, because the event follows from the values before it.
    Event,
    /// These only.
    Only(&'v [VarId]),
}

/// Larger whole numbers do not fit the integers of every tool.
const LARGEST_INTEGER: f64 = 2_147_483_648.0;

pub struct Printer<'p> {
    pub flat: &'p Flat,
    names: Vec<String>,
    /// By expression: whether Modelica would compute it as an integer.
    integers: Vec<bool>,
}

impl std::fmt::Debug for Printer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}

pub(super) enum Task {
    Node(ExprId, Want),
    Text(&'static str),
    Owned(String),
}

/// What is required at a place in the text.
#[derive(Clone, Copy)]
pub(super) struct Want {
    least: u8,
    /// No sign at the beginning.
    unsigned: bool,
    /// Whole numbers are written as reals.
    real: bool,
}

impl Want {
    pub(super) fn least(least: u8, real: bool) -> Want {
        let unsigned = false;
        Want {
            least,
            unsigned,
            real,
        }
    }

    pub(super) fn unsigned(least: u8, real: bool) -> Want {
        let unsigned = true;
        Want {
            least,
            unsigned,
            real,
        }
    }
}

impl<'p> Printer<'p> {
    pub fn new(flat: &'p Flat) -> Self {
        let class = identifier(flat.model());
        let name = |id: VarId| {
            let name = flat.name(id);
            let made = identifier(&name);
            // A component with the same name as its class is quoted.
            if made == class { quoted(&name) } else { made }
        };
        let mut printer = Printer {
            flat,
            names: flat.variable_ids().map(name).collect(),
            integers: Vec::new(),
        };
        for at in 0..flat.exprs.len() {
            printer.classify(ExprId(at as u32));
        }
        printer
    }

    /// Operands come first, so they are known.
    fn classify(&mut self, id: ExprId) {
        let i = &self.integers;
        let exprs = &self.flat.exprs;
        let integer = match exprs.node(id) {
            Node::Number(value) => value.0.fract() == 0.0 && value.0.abs() < LARGEST_INTEGER,
            Node::Unary(UnaryOp::Minus | UnaryOp::Plus, a) => i[a.index()],
            Node::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, x, y)
            | Node::If(_, x, y) => i[x.index()] && i[y.index()],
            Node::Call(Function::Min | Function::Max | Function::Mod | Function::Abs, args) => {
                exprs.args(args).iter().all(|arg| i[arg.index()])
            }
            _ => false,
        };
        self.integers.push(integer);
    }

    pub fn name(&self, id: VarId) -> &str {
        &self.names[id.index()]
    }

    /// A variable for a derivative below the highest order, because Modelica tools differentiate once.
    pub fn derivative(&self, id: VarId, order: u8) -> String {
        let mut name = self.flat.name(id);
        for _ in 0..order {
            name = format!("der({name})");
        }
        quoted(&name)
    }

    pub fn leaf(&self, leaf: Leaf, view: View<'_>) -> String {
        let id = leaf.variable();
        let name = self.name(id);
        match leaf {
            Leaf::Var(_) if self.is_before(id, view) => format!("pre({name})"),
            Leaf::Var(_) | Leaf::New(_) | Leaf::Init(_) => name.to_string(),
            Leaf::Pre(_) => format!("pre({name})"),
            Leaf::Der(_, order) if order < self.flat.variable(id).order => {
                self.derivative(id, order)
            }
            Leaf::Der(_, 1) => format!("der({name})"),
            Leaf::Der(_, order) => format!("der({})", self.derivative(id, order - 1)),
        }
    }

    fn is_before(&self, id: VarId, view: View<'_>) -> bool {
        match view {
            View::Between(some) => some.contains(&id),
            View::Event => self.flat.variable(id).kind == Kind::Discrete,
            View::Only(some) => some.contains(&id),
        }
    }

    /// An expression where any may stand.
    pub fn text(&self, id: ExprId, view: View<'_>) -> String {
        self.at_least(id, level::IF, view)
    }

    /// The left side of an equation, or an operand.
    pub fn at_least(&self, id: ExprId, least: u8, view: View<'_>) -> String {
        let mut out = String::new();
        let mut work = vec![Task::Node(id, Want::least(least, false))];
        while let Some(item) = work.pop() {
            match item {
                Task::Text(text) => out.push_str(text),
                Task::Owned(text) => out.push_str(&text),
                Task::Node(id, want) => self.node(id, want, view, &mut out, &mut work),
            }
        }
        out
    }

    fn node(
        &self,
        mut id: ExprId,
        want: Want,
        view: View<'_>,
        out: &mut String,
        work: &mut Vec<Task>,
    ) {
        let exprs = &self.flat.exprs;
        while let Node::Unary(UnaryOp::Plus, a) = exprs.node(id) {
            id = a;
        }
        let node = exprs.node(id);
        let (binds, signed) = self.strength(id);
        if binds < want.least || signed && want.unsigned {
            out.push('(');
            work.push(Task::Text(")"));
        }
        let lone = matches!(node, Node::Number(_) | Node::Unary(..));
        let real = want.real || !lone && self.integers[id.index()];
        // The stack is in reverse order.
        match node {
            Node::Number(value) => out.push_str(&number(value.0, want.real)),
            Node::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Node::Time => out.push_str("time"),
            Node::Leaf(leaf) => out.push_str(&self.leaf(leaf, view)),
            Node::Unary(UnaryOp::Not, a) => {
                out.push_str("not ");
                work.push(Task::Node(a, Want::least(level::ATOM, real)));
            }
            Node::Unary(_, a) => {
                out.push('-');
                work.push(Task::Node(a, Want::unsigned(level::PRODUCT, real)));
            }
            Node::Binary(op, a, b) => {
                let begins = !want.unsigned || binds < want.least;
                self.binary((op, a, b), begins, real, work);
            }
            Node::If(..) => choice(exprs, id, real, work),
            Node::Call(function, args) => {
                self.call(id, function, exprs.args(args), real, out, work);
            }
            Node::List(args) => {
                out.push('{');
                work.push(Task::Text("}"));
                arguments(exprs.args(args), real, work);
            }
        }
    }

    /// The binding strength of a node's text, and whether it begins with a sign.
    fn strength(&self, id: ExprId) -> (u8, bool) {
        match self.flat.exprs.node(id) {
            Node::Number(value) if value.0 < 0.0 => (level::SIGN, true),
            Node::Unary(UnaryOp::Not, _) => (level::NOT, false),
            // `-a*b` is -(a*b): so it binds like a product.
            Node::Unary(..) => (level::PRODUCT, true),
            Node::Binary(op, ..) => (op.precedence(), false),
            Node::If(..) => (level::IF, false),
            Node::Call(Function::Sign, args) | Node::Call(Function::Table, args)
                if self.is_written_out(id, self.flat.exprs.args(args)) =>
            {
                (level::IF, false)
            }
            _ => (level::ATOM, false),
        }
    }

    /// `begins` says whether a sign is allowed before it.
    fn binary(
        &self,
        (op, a, b): (BinaryOp, ExprId, ExprId),
        begins: bool,
        real: bool,
        work: &mut Vec<Task>,
    ) {
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && !self.flat.is_boolean(a) {
            work.push(Task::Text(match op {
                BinaryOp::Equal => ") <= 0",
                _ => ") > 0",
            }));
            work.push(Task::Node(b, Want::unsigned(level::PRODUCT, false)));
            work.push(Task::Text(" - "));
            work.push(Task::Node(a, Want::least(level::SUM, false)));
            work.push(Task::Text("abs("));
            return;
        }
        let (left, right) = match op {
            BinaryOp::Or => (Want::least(level::OR, real), Want::least(level::AND, real)),
            BinaryOp::And => (Want::least(level::AND, real), Want::least(level::NOT, real)),
            BinaryOp::Add | BinaryOp::Sub => (
                Want::least(level::SUM, real),
                Want::unsigned(level::PRODUCT, real),
            ),
            BinaryOp::Mul | BinaryOp::Div => (
                Want {
                    least: level::PRODUCT,
                    unsigned: !begins,
                    real,
                },
                Want::unsigned(level::POWER, real),
            ),
            BinaryOp::Pow => (
                Want::unsigned(level::ATOM, false),
                Want::unsigned(level::ATOM, false),
            ),
            // Relations cannot be chained. Their operands can be truths.
            _ => (Want::least(level::SUM, real), Want::least(level::SUM, real)),
        };
        work.push(Task::Node(b, right));
        work.push(Task::Text(spelling(op)));
        work.push(Task::Node(a, left));
    }

    fn call(
        &self,
        id: ExprId,
        function: Function,
        args: &[ExprId],
        real: bool,
        out: &mut String,
        work: &mut Vec<Task>,
    ) {
        let whole = self.is_written_out(id, args);
        let name = match function {
            Function::Sign if whole => return sign(args[0], work),
            Function::Table if whole => return self.table(args, work),
            Function::Table => TABLE,
            Function::Ln => "log",
            Function::Min | Function::Max => return pairs(function, args, real, work),
            _ => function.text(),
        };
        out.push_str(name);
        out.push('(');
        work.push(Task::Text(")"));
        arguments(args, real, work);
    }
}

/// The shortest text that reads back as the same number; a whole one as an integer unless it is to be real.
pub fn number(value: f64, real: bool) -> String {
    let whole = value.fract() == 0.0 && value.abs() < LARGEST_INTEGER;
    match whole && !real {
        true => format!("{value:.0}"),
        false => format!("{value:?}"),
    }
}

fn spelling(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Pow => "^",
        other => print::spelling(other, print::Style::Plain),
    }
}

fn arguments(args: &[ExprId], real: bool, work: &mut Vec<Task>) {
    for (at, &arg) in args.iter().enumerate().rev() {
        work.push(Task::Node(arg, Want::least(level::IF, real)));
        if at > 0 {
            work.push(Task::Text(", "));
        }
    }
}

/// An `if` as the last operand is an `elseif`; elsewhere it gets brackets.
fn choice(exprs: &Arena<Leaf>, id: ExprId, real: bool, work: &mut Vec<Task>) {
    let Node::If(condition, then, otherwise) = exprs.node(id) else {
        return;
    };
    work.push(Task::Node(otherwise, Want::least(level::IF, real)));
    work.push(Task::Text(match exprs.node(otherwise) {
        Node::If(..) => " else",
        _ => " else ",
    }));
    work.push(Task::Node(then, Want::least(level::OR, real)));
    work.push(Task::Text(" then "));
    work.push(Task::Node(condition, Want::least(level::OR, false)));
    work.push(Task::Text("if "));
}
