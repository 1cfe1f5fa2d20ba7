//! Expressions as LaTeX, for math mode; amsmath is all it needs.
//!
//! Before: an arena, and [`Sizes`] of its expressions. After: text that TeX can break into lines at
//! operators. What TeX cannot break (fractions, cases, roots, brackets that grow) is used only where
//! it is narrow, so that no line is wider than a page; else the expression is written in one line,
//! as in .bgm. The walk keeps its own stack, so depth does not matter.

mod size;

pub use size::{Names, Sizes};

use super::op::precedence as level;
use super::{Arena, BinaryOp, ExprId, Function, Leaf, Node, UnaryOp, show_number};
use size::NARROW;

/// Stronger than any operand except the base of a power has to be.
const BASE: u8 = level::ATOM + 1;

enum Task {
    /// The expression, and the least strength that needs no brackets.
    Node(ExprId, u8),
    Text(&'static str),
}

/// Writes expressions of one arena.
#[derive(Debug)]
pub struct Writer<'a, L, N> {
    pub arena: &'a Arena<L>,
    pub sizes: &'a Sizes,
    pub names: N,
}

impl<L: Leaf, N: Names<L>> Writer<'_, L, N> {
    /// Writes a side of an equation; relations and logical operators get brackets.
    pub fn side(&self, root: ExprId, out: &mut String) {
        match self.arena.node(root) {
            Node::If(..) => self.write(root, level::IF, out),
            _ => self.write(root, level::SUM, out),
        }
    }

    /// Writes an expression by itself.
    pub fn whole(&self, root: ExprId, out: &mut String) {
        self.write(root, level::IF, out);
    }

    /// A term of a sum: the coefficient, then what `last` writes. The first term has no plus.
    pub fn term(
        &self,
        coefficient: ExprId,
        first: bool,
        out: &mut String,
        last: impl Fn(&mut String),
    ) {
        let (minus, rest) = match self.arena.node(coefficient) {
            Node::Unary(UnaryOp::Minus, a) => (true, a),
            Node::Number(value) => (value.0 < 0.0, coefficient),
            _ => (false, coefficient),
        };
        out.push_str(match (minus, first) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        });
        match self.arena.node(rest) {
            Node::Number(value) if value.0.abs() == 1.0 => {}
            Node::Number(value) => {
                number(value.0.abs(), out);
                out.push_str("\\,");
            }
            _ => {
                let least = match self.has_sign(rest) {
                    true => level::ATOM,
                    false => level::PRODUCT,
                };
                self.write(rest, least, out);
                out.push_str("\\,");
            }
        }
        last(out);
    }

    fn write(&self, root: ExprId, least: u8, out: &mut String) {
        let mut work = vec![Task::Node(root, least)];
        while let Some(item) = work.pop() {
            let (id, least) = match item {
                Task::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Task::Node(id, least) => (id, least),
            };
            if self.strength(id) < least {
                let (open, close) = self.brackets(id);
                out.push_str(open);
                work.push(Task::Text(close));
            }
            self.node(id, &mut work, out);
        }
    }

    fn node(&self, id: ExprId, work: &mut Vec<Task>, out: &mut String) {
        match self.arena.node(id) {
            Node::Number(value) => number(value.0, out),
            Node::Bool(true) => out.push_str("\\mathrm{true}"),
            Node::Bool(false) => out.push_str("\\mathrm{false}"),
            Node::Time => out.push_str("\\mathrm{Time}"),
            Node::Leaf(leaf) => self.names.write(leaf, out),
            Node::Unary(op, a) => {
                let (text, least) = match op {
                    UnaryOp::Minus => ("-", level::PRODUCT),
                    UnaryOp::Plus => ("+", level::PRODUCT),
                    UnaryOp::Not => ("\\lnot ", level::ATOM),
                };
                out.push_str(text);
                let least = if self.has_sign(a) { level::ATOM } else { least };
                work.push(Task::Node(a, least));
            }
            Node::Binary(op, a, b) => self.binary(id, op, a, b, work, out),
            Node::If(condition, then, otherwise) => {
                self.choice(id, [condition, then, otherwise], work, out);
            }
            Node::Call(function, args) => {
                self.call(id, function, self.arena.args(args), work, out);
            }
            Node::List(args) => {
                out.push('[');
                work.push(Task::Text("]"));
                self.push_args(id, self.arena.args(args), work);
            }
        }
    }

    fn binary(
        &self,
        id: ExprId,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        work: &mut Vec<Task>,
        out: &mut String,
    ) {
        let stacked = self.sizes.of(id).stacked;
        let (left, text, mut right) = match op {
            BinaryOp::Or => (level::OR, " \\lor ", level::AND),
            BinaryOp::And => (level::AND, " \\land ", level::NOT),
            BinaryOp::Less => (level::SUM, " < ", level::SUM),
            BinaryOp::LessEqual => (level::SUM, " \\le ", level::SUM),
            BinaryOp::Greater => (level::SUM, " > ", level::SUM),
            BinaryOp::GreaterEqual => (level::SUM, " \\ge ", level::SUM),
            BinaryOp::Equal => (level::SUM, " = ", level::SUM),
            BinaryOp::NotEqual => (level::SUM, " \\ne ", level::SUM),
            BinaryOp::Add => (level::SUM, " + ", level::PRODUCT),
            BinaryOp::Sub => (level::SUM, " - ", level::PRODUCT),
            BinaryOp::Mul if self.begins_with_digit(b) => (level::PRODUCT, " \\cdot ", level::SUM),
            BinaryOp::Mul if self.ends_with_digit(a) && self.is_fraction(b) => {
                (level::PRODUCT, " \\cdot ", level::POWER)
            }
            // A thin space, if the line need not be broken here.
            BinaryOp::Mul if self.sizes.of(id).width <= NARROW => {
                (level::PRODUCT, "\\,", level::POWER)
            }
            BinaryOp::Mul => (level::PRODUCT, " \\cdot ", level::POWER),
            BinaryOp::Div if stacked => {
                out.push_str("\\frac{");
                (level::OR, "}{", level::OR)
            }
            BinaryOp::Div => (level::PRODUCT, " \\mathbin{/} ", level::ATOM),
            BinaryOp::Pow if stacked => (BASE, "^{", level::OR),
            BinaryOp::Pow => {
                out.push_str("\\operatorname{pow}(");
                (level::OR, ", ", level::OR)
            }
        };
        match (op, stacked) {
            (BinaryOp::Div | BinaryOp::Pow, true) => work.push(Task::Text("}")),
            (BinaryOp::Pow, false) => work.push(Task::Text(")")),
            _ if op.precedence() > level::RELATION && self.has_sign(b) => right = level::ATOM,
            _ => {}
        }
        work.push(Task::Node(b, right));
        work.push(Task::Text(text));
        work.push(Task::Node(a, left));
    }

    fn choice(&self, id: ExprId, parts: [ExprId; 3], work: &mut Vec<Task>, out: &mut String) {
        let [condition, then, otherwise] = parts;
        if !self.sizes.of(id).stacked {
            out.push_str("\\mathbf{if}\\ ");
            work.push(Task::Node(otherwise, level::IF));
            work.push(Task::Text("\\ \\allowbreak\\mathbf{else}\\ "));
            work.push(Task::Node(then, level::OR));
            work.push(Task::Text("\\ \\allowbreak\\mathbf{then}\\ "));
            work.push(Task::Node(condition, level::OR));
            return;
        }
        out.push_str("\\begin{cases} ");
        let mut items = vec![
            Task::Node(then, level::OR),
            Task::Text(" & \\text{if } "),
            Task::Node(condition, level::OR),
        ];
        let mut last = otherwise;
        while let (Node::If(condition, then, otherwise), true) =
            (self.arena.node(last), self.sizes.of(last).stacked)
        {
            items.push(Task::Text(" \\\\ "));
            items.push(Task::Node(then, level::OR));
            items.push(Task::Text(" & \\text{else if } "));
            items.push(Task::Node(condition, level::OR));
            last = otherwise;
        }
        items.push(Task::Text(" \\\\ "));
        items.push(Task::Node(last, level::OR));
        items.push(Task::Text(" & \\text{else} \\end{cases}"));
        work.extend(items.into_iter().rev());
    }

    fn call(
        &self,
        id: ExprId,
        function: Function,
        args: &[ExprId],
        work: &mut Vec<Task>,
        out: &mut String,
    ) {
        let tall = self.is_tall(id);
        let (open, close) = match function {
            Function::Sqrt if self.sizes.of(id).stacked => ("\\sqrt{", "}"),
            Function::Abs if tall => ("\\left\\lvert ", "\\right\\rvert "),
            Function::Abs => ("\\lvert ", "\\rvert "),
            Function::Floor if tall => ("\\left\\lfloor ", "\\right\\rfloor "),
            Function::Floor => ("\\lfloor ", "\\rfloor "),
            Function::Ceil if tall => ("\\left\\lceil ", "\\right\\rceil "),
            Function::Ceil => ("\\lceil ", "\\rceil "),
            _ => {
                out.push_str(spelling(function));
                if tall {
                    ("\\left(", "\\right)")
                } else {
                    ("(", ")")
                }
            }
        };
        out.push_str(open);
        work.push(Task::Text(close));
        self.push_args(id, args, work);
    }

    fn push_args(&self, id: ExprId, args: &[ExprId], work: &mut Vec<Task>) {
        let comma = match self.sizes.of(id).width <= NARROW {
            true => ", ",
            false => ",\\allowbreak\\ ",
        };
        for (at, &arg) in args.iter().enumerate().rev() {
            work.push(Task::Node(arg, level::OR));
            if at > 0 {
                work.push(Task::Text(comma));
            }
        }
    }

    /// Whether brackets around it have to grow, and may: brackets that grow prevent line breaks.
    fn is_tall(&self, id: ExprId) -> bool {
        let size = self.sizes.of(id);
        size.depth > 0 && size.width <= NARROW
    }

    fn brackets(&self, id: ExprId) -> (&'static str, &'static str) {
        match self.is_tall(id) {
            true => ("\\left(", "\\right)"),
            false => ("(", ")"),
        }
    }

    fn strength(&self, id: ExprId) -> u8 {
        match self.arena.node(id) {
            Node::Unary(op, _) => op.precedence(),
            Node::Binary(BinaryOp::Div, ..) if self.sizes.of(id).stacked => level::ATOM,
            Node::Binary(BinaryOp::Pow, ..) if !self.sizes.of(id).stacked => level::ATOM,
            Node::Binary(op, ..) => op.precedence(),
            Node::If(..) => level::IF,
            Node::Number(value) if value.0.is_sign_negative() => level::SIGN,
            Node::Number(value) if show_number(value.0).contains('e') => level::PRODUCT,
            Node::Call(..) => level::ATOM,
            _ => BASE,
        }
    }

    /// Whether it begins with a sign, so that it needs brackets after an operator.
    fn has_sign(&self, id: ExprId) -> bool {
        let mut first = id;
        loop {
            match self.arena.node(first) {
                Node::Unary(op, _) => return op != UnaryOp::Not,
                Node::Number(value) => return value.0.is_sign_negative(),
                // A product begins with its first factor, a fraction with its bar.
                Node::Binary(BinaryOp::Mul, a, _) => first = a,
                Node::Binary(BinaryOp::Div, a, _) if !self.sizes.of(first).stacked => first = a,
                _ => return false,
            }
        }
    }

    fn begins_with_digit(&self, id: ExprId) -> bool {
        match self.arena.node(id) {
            Node::Number(_) => true,
            Node::Binary(BinaryOp::Pow, base, _) => {
                matches!(self.arena.node(base), Node::Number(_))
            }
            _ => false,
        }
    }

    fn ends_with_digit(&self, id: ExprId) -> bool {
        match self.arena.node(id) {
            Node::Number(_) => true,
            Node::Binary(BinaryOp::Mul, _, last) => {
                matches!(self.arena.node(last), Node::Number(_))
            }
            _ => false,
        }
    }

    fn is_fraction(&self, id: ExprId) -> bool {
        matches!(self.arena.node(id), Node::Binary(BinaryOp::Div, ..)) && self.sizes.of(id).stacked
    }
}

/// `100`, `1.5 \cdot 10^{-7}`
fn number(value: f64, out: &mut String) {
    let text = show_number(value);
    match text.split_once('e') {
        None if value.is_finite() => out.push_str(&text),
        None => out.push_str(&format!("\\mathrm{{{text}}}")),
        Some(("1", exponent)) => out.push_str(&format!("10^{{{exponent}}}")),
        Some(("-1", exponent)) => out.push_str(&format!("-10^{{{exponent}}}")),
        Some((digits, exponent)) => out.push_str(&format!("{digits} \\cdot 10^{{{exponent}}}")),
    }
}

fn spelling(function: Function) -> &'static str {
    match function {
        Function::Sin => "\\sin",
        Function::Cos => "\\cos",
        Function::Tan => "\\tan",
        Function::Asin => "\\arcsin",
        Function::Acos => "\\arccos",
        Function::Atan => "\\arctan",
        Function::Atan2 => "\\operatorname{atan2}",
        Function::Sinh => "\\sinh",
        Function::Cosh => "\\cosh",
        Function::Tanh => "\\tanh",
        Function::Exp => "\\exp",
        Function::Ln => "\\ln",
        Function::Log10 => "\\log_{10}",
        Function::Sqrt => "\\operatorname{sqrt}",
        Function::Abs => "\\operatorname{abs}",
        Function::Sign => "\\operatorname{sgn}",
        Function::Min => "\\min",
        Function::Max => "\\max",
        Function::Floor => "\\operatorname{floor}",
        Function::Ceil => "\\operatorname{ceil}",
        Function::Mod => "\\operatorname{mod}",
        Function::Table => "\\operatorname{table}",
        Function::Sample => "\\operatorname{sample}",
        Function::Der | Function::Der2 => "\\operatorname{der}",
        Function::New => "\\operatorname{new}",
        Function::Init => "\\operatorname{init}",
        Function::Pre => "\\operatorname{pre}",
    }
}
