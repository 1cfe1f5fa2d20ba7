//! Expressions as LaTeX, for math mode; amsmath is all it needs.
//!
//! Before: an arena, and [`Sizes`] of its expressions. After: text that TeX can break into lines at
//! operators. What TeX cannot break (fractions, cases, roots, brackets that grow) is used only where
//! it is narrow, so that no line is wider than a page; else the expression is written in one line,
//! as in .bgm.

mod size;

pub use size::{Names, Sizes};

use super::op::precedence as level;
use super::print::{self, Dialect, Form, Here, infix};
use super::{Arena, Args, BinaryOp, ExprId, Function, Leaf, Node, UnaryOp, show_number};
use size::NARROW;

/// Stronger than any operand except the base of a power has to be.
const BASE: u8 = level::ATOM + 1;

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
                let least = match self.begins_with_sign(rest) {
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
        print::print(self, root, least, out);
    }

    fn series(&self, id: ExprId, args: &[ExprId], form: &mut Form<'_, u8>) {
        let comma = match self.sizes.of(id).width <= NARROW {
            true => ", ",
            false => ",\\allowbreak\\ ",
        };
        form.series(args, level::OR, comma);
    }

    /// How a product is written: with a thin space, if the line need not be broken here and no digits meet.
    fn product(&self, id: ExprId, a: ExprId, b: ExprId) -> (&'static str, u8) {
        let digits = self.ends_with_digit(a) && self.is_fraction(b);
        match (self.begins_with_digit(b), digits) {
            (true, _) => (" \\cdot ", level::SUM),
            _ if !digits && self.sizes.of(id).width <= NARROW => ("\\,", level::POWER),
            _ => (" \\cdot ", level::POWER),
        }
    }

    /// Whether brackets around it have to grow, and may: brackets that grow prevent line breaks.
    fn is_tall(&self, id: ExprId) -> bool {
        let size = self.sizes.of(id);
        size.depth > 0 && size.width <= NARROW
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

impl<L: Leaf, N: Names<L>> Dialect for Writer<'_, L, N> {
    type Leaf = L;
    type Place = u8;

    fn node(&self, id: ExprId) -> Node<L> {
        self.arena.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.arena.args(args)
    }

    fn strength(&self, id: ExprId, node: &Node<L>) -> u8 {
        match *node {
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

    fn brackets(&self, here: Here<u8>, node: &Node<L>) -> Option<(&'static str, &'static str)> {
        let weak = self.strength(here.id, node) < here.place;
        weak.then(|| match self.is_tall(here.id) {
            true => ("\\left(", "\\right)"),
            false => ("(", ")"),
        })
    }

    fn first_operand(&self, id: ExprId, op: BinaryOp, a: ExprId) -> Option<(ExprId, u8)> {
        let stacked = self.sizes.of(id).stacked;
        match (op, stacked) {
            (BinaryOp::Pow, true) => Some((a, BASE)),
            // These begin with a bar and with a name.
            (BinaryOp::Div, true) | (BinaryOp::Pow, false) => None,
            _ => Some((a, infix(op, print::Style::Plain).left)),
        }
    }

    fn number(&self, value: f64, _: Here<u8>, form: &mut Form<'_, u8>) {
        form.write(|out| number(value, out));
    }

    fn truth(&self, value: bool) -> &'static str {
        match value {
            true => "\\mathrm{true}",
            false => "\\mathrm{false}",
        }
    }

    fn time(&self) -> &'static str {
        "\\mathrm{Time}"
    }

    fn leaf(&self, leaf: L, form: &mut Form<'_, u8>) {
        form.write(|out| self.names.write(leaf, out));
    }

    fn unary(&self, _: Here<u8>, op: UnaryOp, a: ExprId, form: &mut Form<'_, u8>) {
        let (word, least) = match op {
            UnaryOp::Minus => ("-", level::PRODUCT),
            UnaryOp::Plus => ("+", level::PRODUCT),
            UnaryOp::Not => ("\\lnot ", level::ATOM),
        };
        form.word(word);
        form.at(
            a,
            if self.begins_with_sign(a) {
                level::ATOM
            } else {
                least
            },
        );
    }

    fn binary(&self, here: Here<u8>, op: BinaryOp, [a, b]: [ExprId; 2], form: &mut Form<'_, u8>) {
        let stacked = self.sizes.of(here.id).stacked;
        let (begin, left, between, right, end) = match (op, stacked) {
            (BinaryOp::Div, true) => ("\\frac{", level::OR, "}{", level::OR, "}"),
            (BinaryOp::Pow, true) => ("", BASE, "^{", level::OR, "}"),
            (BinaryOp::Pow, false) => ("\\operatorname{pow}(", level::OR, ", ", level::OR, ")"),
            _ => {
                let mut infix = infix(op, print::Style::Plain);
                match op {
                    BinaryOp::Or => infix.word = " \\lor ",
                    BinaryOp::And => infix.word = " \\land ",
                    BinaryOp::LessEqual => infix.word = " \\le ",
                    BinaryOp::GreaterEqual => infix.word = " \\ge ",
                    BinaryOp::Equal => infix.word = " = ",
                    BinaryOp::NotEqual => infix.word = " \\ne ",
                    BinaryOp::Div => (infix.word, infix.right) = (" \\mathbin{/} ", level::ATOM),
                    BinaryOp::Mul => (infix.word, infix.right) = self.product(here.id, a, b),
                    _ => {}
                }
                if op.precedence() > level::RELATION && self.begins_with_sign(b) {
                    infix.right = level::ATOM;
                }
                return form.infix(infix, [a, b]);
            }
        };
        form.word(begin);
        form.at(a, left);
        form.word(between);
        form.at(b, right);
        form.word(end);
    }

    fn choice(&self, here: Here<u8>, parts: [ExprId; 3], form: &mut Form<'_, u8>) {
        let [condition, then, mut last] = parts;
        if !self.sizes.of(here.id).stacked {
            form.word("\\mathbf{if}\\ ");
            form.at(condition, level::OR);
            form.word("\\ \\allowbreak\\mathbf{then}\\ ");
            form.at(then, level::OR);
            form.word("\\ \\allowbreak\\mathbf{else}\\ ");
            form.at(last, level::IF);
            return;
        }
        form.word("\\begin{cases} ");
        form.at(then, level::OR);
        form.word(" & \\text{if } ");
        form.at(condition, level::OR);
        while let (Node::If(condition, then, otherwise), true) =
            (self.arena.node(last), self.sizes.of(last).stacked)
        {
            form.word(" \\\\ ");
            form.at(then, level::OR);
            form.word(" & \\text{else if } ");
            form.at(condition, level::OR);
            last = otherwise;
        }
        form.word(" \\\\ ");
        form.at(last, level::OR);
        form.word(" & \\text{else} \\end{cases}");
    }

    fn call(&self, here: Here<u8>, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        let tall = self.is_tall(here.id);
        let (open, close) = match function {
            Function::Sqrt if self.sizes.of(here.id).stacked => ("\\sqrt{", "}"),
            Function::Abs if tall => ("\\left\\lvert ", "\\right\\rvert "),
            Function::Abs => ("\\lvert ", "\\rvert "),
            Function::Floor if tall => ("\\left\\lfloor ", "\\right\\rfloor "),
            Function::Floor => ("\\lfloor ", "\\rfloor "),
            Function::Ceil if tall => ("\\left\\lceil ", "\\right\\rceil "),
            Function::Ceil => ("\\lceil ", "\\rceil "),
            _ => {
                form.word(spelling(function));
                match tall {
                    true => ("\\left(", "\\right)"),
                    false => ("(", ")"),
                }
            }
        };
        form.word(open);
        self.series(here.id, args, form);
        form.word(close);
    }

    fn list(&self, here: Here<u8>, of: &[ExprId], form: &mut Form<'_, u8>) {
        form.word("[");
        self.series(here.id, of, form);
        form.word("]");
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
