//! The language itself, with no more brackets than are needed to read an expression back.
//!
//! The text parses to the same tree (a property test checks this).

use super::{Dialect, Form, Here, Infix, Place, level, print, print_leaf};
use crate::expr::{Args, BinaryOp, ExprId, Function, Node, UnaryOp, write_number};

/// The two styles of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// `R*f = e`
    #[default]
    Plain,
    /// `R * f = e`, as the 1990 paper prints.
    Classic,
}

/// An arena that can be printed.
pub trait Source {
    type Leaf: Copy;
    fn node(&self, id: ExprId) -> Node<Self::Leaf>;
    fn args(&self, args: Args) -> &[ExprId];
    /// Writes a leaf. Index expressions inside it are operands.
    fn leaf(&self, leaf: Self::Leaf, form: &mut Form<'_, u8>);
}

/// Appends the expression to `out`.
pub fn write<S: Source>(source: &S, root: ExprId, style: Style, out: &mut String) {
    write_at(source, root, level::IF, style, out);
}

/// Appends the expression to `out`, with brackets unless it binds at least as strongly as `least`.
pub fn write_at<S: Source>(source: &S, root: ExprId, least: u8, style: Style, out: &mut String) {
    print(&Listing { source, style }, root, least, out);
}

/// Appends a leaf to `out`.
pub fn write_leaf<S: Source>(source: &S, leaf: S::Leaf, style: Style, out: &mut String) {
    print_leaf(&Listing { source, style }, leaf, out);
}

struct Listing<'s, S> {
    source: &'s S,
    style: Style,
}

impl<S: Source> Dialect for Listing<'_, S> {
    type Leaf = S::Leaf;
    type Place = u8;

    fn node(&self, id: ExprId) -> Node<S::Leaf> {
        self.source.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.source.args(args)
    }

    fn number(&self, value: f64, _: Here<u8>, form: &mut Form<'_, u8>) {
        form.write(|out| write_number(value, out));
    }

    fn truth(&self, value: bool) -> &'static str {
        if value { "true" } else { "false" }
    }

    fn time(&self) -> &'static str {
        "Time"
    }

    fn leaf(&self, leaf: S::Leaf, form: &mut Form<'_, u8>) {
        self.source.leaf(leaf, form);
    }

    fn unary(&self, _: Here<u8>, op: UnaryOp, a: ExprId, form: &mut Form<'_, u8>) {
        form.word(op.text());
        form.at(
            a,
            match (op, self.node(a)) {
                // `not (e > 0)` needs no brackets, but reads better with them.
                (UnaryOp::Not, Node::Unary(UnaryOp::Not, _)) => level::NOT,
                (UnaryOp::Not, _) => level::ATOM,
                _ => level::POWER,
            },
        );
    }

    fn binary(&self, _: Here<u8>, op: BinaryOp, [a, b]: [ExprId; 2], form: &mut Form<'_, u8>) {
        let mut infix = infix(op, self.style);
        let signed = matches!(self.node(b), Node::Unary(UnaryOp::Minus | UnaryOp::Plus, _));
        // `a < -b` is readable, `a + -b` is not.
        if signed && op.precedence() != level::RELATION {
            infix.right = level::ATOM;
        }
        form.infix(infix, [a, b]);
    }

    fn choice(&self, _: Here<u8>, parts: [ExprId; 3], form: &mut Form<'_, u8>) {
        let elseif = matches!(self.node(parts[2]), Node::If(..));
        choice(parts, [level::OR, level::OR, level::IF], elseif, form);
    }

    fn call(&self, _: Here<u8>, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        form.called(function.text(), args, level::IF);
    }

    fn list(&self, _: Here<u8>, of: &[ExprId], form: &mut Form<'_, u8>) {
        form.word("[");
        form.series(of, level::IF, ", ");
        form.word("]");
    }
}

/// `if c then a else b`; an `if` as the last operand is written as `elseif`, which is parsed to the same tree.
pub fn choice<P: Place>(
    [condition, then, otherwise]: [ExprId; 3],
    places: [P; 3],
    elseif: bool,
    form: &mut Form<'_, P>,
) {
    form.word("if ");
    form.expr(condition, places[0]);
    form.word(" then ");
    form.expr(then, places[1]);
    form.word(if elseif { " else" } else { " else " });
    form.expr(otherwise, places[2]);
}

/// The binding strength of the outermost operator.
pub fn precedence_of<L>(node: &Node<L>) -> u8 {
    match node {
        Node::Unary(op, _) => op.precedence(),
        Node::Binary(op, ..) => op.precedence(),
        Node::If(..) => level::IF,
        Node::Number(value) if value.0.is_sign_negative() => level::SIGN,
        _ => level::ATOM,
    }
}

/// The operator with the blanks around it, and what it requires of its operands.
pub fn infix(op: BinaryOp, style: Style) -> Infix {
    let word = match op {
        BinaryOp::Or => " or ",
        BinaryOp::And => " and ",
        BinaryOp::Less => " < ",
        BinaryOp::LessEqual => " <= ",
        BinaryOp::Greater => " > ",
        BinaryOp::GreaterEqual => " >= ",
        BinaryOp::Equal => " == ",
        BinaryOp::NotEqual => " <> ",
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul if style == Style::Classic => " * ",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow => "**",
    };
    // Relations cannot be chained.
    let (left, right) = match op {
        BinaryOp::Or => (level::OR, level::AND),
        BinaryOp::And => (level::AND, level::NOT),
        BinaryOp::Add | BinaryOp::Sub => (level::SUM, level::PRODUCT),
        BinaryOp::Mul | BinaryOp::Div => (level::PRODUCT, level::POWER),
        BinaryOp::Pow => (level::ATOM, level::POWER),
        _ => (level::SUM, level::SUM),
    };
    let binds = op.precedence();
    Infix {
        word,
        left,
        right,
        binds,
    }
}
