//! Expressions as Modelica writes them.
//!
//! Before: an expression of the flat model. After: text that means the same (Modelica 3.6, chapter 3). A sign stands only where a
//! sum begins, powers do not chain, an `if` is bracketed where it is an operand. Real numbers are not compared by `==` outside
//! functions, so their distance is. Whole numbers stay whole where they cannot meet another: two of them would be computed as
//! integers, which overflow.

use rustc_hash::FxHashSet;

use super::names::{TABLE, identifier, quoted};
use super::written_out::{pairs, sign};
use crate::expr::op::precedence as level;
use crate::expr::print::{self, Dialect, Form, Here, Place, Style};
use crate::expr::{Args, BinaryOp, ExprId, Function, Node, UnaryOp};
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

impl Place for Want {
    fn least(strength: u8) -> Want {
        Want::least(strength, false)
    }

    fn strength(self) -> u8 {
        self.least
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
        let viewed = Viewed {
            printer: self,
            view,
        };
        print::print(&viewed, id, Want::least(least, false), &mut out);
        out
    }

    /// Whether the operands of a node have to be real. Lone numbers decide it by their place.
    fn is_real(&self, here: Here<Want>) -> bool {
        here.place.real || self.integers[here.id.index()]
    }

    /// The binding strength of a node's text, and whether it begins with a sign.
    fn strength(&self, id: ExprId, node: &Node<Leaf>) -> (u8, bool) {
        match *node {
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
}

/// The dialect, for one moment.
struct Viewed<'v> {
    printer: &'v Printer<'v>,
    view: View<'v>,
}

impl Dialect for Viewed<'_> {
    type Leaf = Leaf;
    type Place = Want;

    fn node(&self, id: ExprId) -> Node<Leaf> {
        self.printer.flat.exprs.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.printer.flat.exprs.args(args)
    }

    fn follow(&self, mut id: ExprId) -> ExprId {
        while let Node::Unary(UnaryOp::Plus, a) = self.node(id) {
            id = a;
        }
        id
    }

    fn brackets(
        &self,
        here: Here<Want>,
        node: &Node<Leaf>,
    ) -> Option<(&'static str, &'static str)> {
        let (binds, signed) = self.printer.strength(here.id, node);
        let needed = binds < here.place.least || signed && here.place.unsigned;
        needed.then_some(("(", ")"))
    }

    fn number(&self, value: f64, here: Here<Want>, form: &mut Form<'_, Want>) {
        form.text(&number(value, here.place.real));
    }

    fn truth(&self, value: bool) -> &'static str {
        if value { "true" } else { "false" }
    }

    fn time(&self) -> &'static str {
        "time"
    }

    fn leaf(&self, leaf: Leaf, form: &mut Form<'_, Want>) {
        form.text(&self.printer.leaf(leaf, self.view));
    }

    fn unary(&self, here: Here<Want>, op: UnaryOp, a: ExprId, form: &mut Form<'_, Want>) {
        let real = here.place.real;
        match op {
            UnaryOp::Not => {
                form.word("not ");
                form.expr(a, Want::least(level::ATOM, real));
            }
            _ => {
                form.word("-");
                form.expr(a, Want::unsigned(level::PRODUCT, real));
            }
        }
    }

    fn binary(
        &self,
        here: Here<Want>,
        op: BinaryOp,
        [a, b]: [ExprId; 2],
        form: &mut Form<'_, Want>,
    ) {
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && !self.printer.flat.is_boolean(a) {
            form.word("abs(");
            form.expr(a, Want::least(level::SUM, false));
            form.word(" - ");
            form.expr(b, Want::unsigned(level::PRODUCT, false));
            form.word(match op {
                BinaryOp::Equal => ") <= 0",
                _ => ") > 0",
            });
            return;
        }
        let infix = print::infix(op, Style::Plain);
        let real = self.printer.is_real(here);
        // Whether a sign is allowed before it: in brackets it always is.
        let begins = !here.place.unsigned || infix.binds < here.place.least;
        let (left, word, right) = match op {
            BinaryOp::Add | BinaryOp::Sub => (
                Want::least(infix.left, real),
                infix.word,
                Want::unsigned(infix.right, real),
            ),
            BinaryOp::Mul | BinaryOp::Div => (
                Want {
                    least: infix.left,
                    unsigned: !begins,
                    real,
                },
                infix.word,
                Want::unsigned(infix.right, real),
            ),
            BinaryOp::Pow => {
                let operand = Want::unsigned(level::ATOM, false);
                (operand, "^", operand)
            }
            // The operands of relations can be truths.
            _ => (
                Want::least(infix.left, real),
                infix.word,
                Want::least(infix.right, real),
            ),
        };
        form.expr(a, left);
        form.word(word);
        form.expr(b, right);
    }

    /// An `if` as the last operand is an `elseif`; elsewhere it gets brackets.
    fn choice(&self, here: Here<Want>, parts: [ExprId; 3], form: &mut Form<'_, Want>) {
        let real = self.printer.is_real(here);
        let places = [
            Want::least(level::OR, false),
            Want::least(level::OR, real),
            Want::least(level::IF, real),
        ];
        let elseif = matches!(self.node(parts[2]), Node::If(..));
        print::choice(parts, places, elseif, form);
    }

    fn call(
        &self,
        here: Here<Want>,
        function: Function,
        args: &[ExprId],
        form: &mut Form<'_, Want>,
    ) {
        use Function::*;
        let whole = self.printer.is_written_out(here.id, args);
        let real = self.printer.is_real(here);
        let name = match function {
            Sign if whole => return sign(args[0], form),
            Table if whole => return self.printer.table(args, form),
            Table => TABLE,
            Ln => "log",
            Min | Max => return pairs(function, args, real, form),
            Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Exp | Log10
            | Sqrt | Abs | Sign | Floor | Ceil | Mod => function.text(),
            // `sample` is written the same way; the others are no values.
            Sample | Der | Der2 | New | Init | Pre => function.text(),
        };
        form.called(name, args, Want::least(level::IF, real));
    }

    fn list(&self, here: Here<Want>, of: &[ExprId], form: &mut Form<'_, Want>) {
        form.word("{");
        form.series(of, Want::least(level::IF, self.printer.is_real(here)), ", ");
        form.word("}");
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
