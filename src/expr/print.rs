//! Expressions as text, with no more brackets than are needed to read them back.
//!
//! Before: any arena. After: text that parses to the same tree (a property test checks this). The
//! walk keeps its own stack, so the depth of an expression does not matter.

use super::op::precedence as level;
use super::{Args, BinaryOp, ExprId, Node, UnaryOp, show_number};
use crate::base::cancel::glance;

/// The two styles of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// `R*f = e`
    #[default]
    Plain,
    /// `R * f = e`, as the 1990 paper prints.
    Classic,
}

/// A part of a leaf: text, or an index expression inside it.
#[derive(Debug)]
pub enum Piece {
    Text(String),
    Expr(ExprId),
}

/// An arena that can be printed.
pub trait Source {
    type Leaf: Copy;
    fn node(&self, id: ExprId) -> Node<Self::Leaf>;
    fn args(&self, args: Args) -> &[ExprId];
    /// Writes a leaf, or returns the pieces it is made of.
    fn leaf(&self, leaf: Self::Leaf, out: &mut String) -> Option<Vec<Piece>>;
}

enum Task {
    Node(ExprId, u8),
    Text(&'static str),
    Owned(String),
}

/// Appends the expression to `out`.
pub fn write<S: Source>(source: &S, root: ExprId, style: Style, out: &mut String) {
    glance();
    let mut work = vec![Task::Node(root, level::IF)];
    while let Some(item) = work.pop() {
        let (id, least) = match item {
            Task::Text(text) => {
                out.push_str(text);
                continue;
            }
            Task::Owned(text) => {
                out.push_str(&text);
                continue;
            }
            Task::Node(id, least) => (id, least),
        };
        let node = source.node(id);
        if precedence_of(&node) < least {
            out.push('(');
            work.push(Task::Text(")"));
        }
        match node {
            Node::Number(value) => out.push_str(&show_number(value.0)),
            Node::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Node::Time => out.push_str("Time"),
            Node::Leaf(leaf) => {
                for piece in source.leaf(leaf, out).into_iter().flatten().rev() {
                    work.push(match piece {
                        Piece::Text(text) => Task::Owned(text),
                        Piece::Expr(id) => Task::Node(id, level::IF),
                    });
                }
            }
            Node::Unary(op, a) => {
                out.push_str(op.text());
                work.push(Task::Node(a, operand_of_unary(op, &source.node(a))));
            }
            Node::Binary(op, a, b) => {
                let (left, mut right) = operands_of_binary(op);
                let signed = matches!(
                    source.node(b),
                    Node::Unary(UnaryOp::Minus | UnaryOp::Plus, _)
                );
                // `a < -b` is readable, `a + -b` is not.
                if signed && op.precedence() != level::RELATION {
                    right = level::ATOM;
                }
                work.push(Task::Node(b, right));
                work.push(Task::Text(spelling(op, style)));
                work.push(Task::Node(a, left));
            }
            Node::If(condition, then, otherwise) => {
                out.push_str("if ");
                // An `if` as the last operand is written as `elseif`. It is parsed to the same
                // tree.
                match source.node(otherwise) {
                    Node::If(..) => {
                        work.push(Task::Node(otherwise, level::IF));
                        work.push(Task::Text(" else"));
                    }
                    _ => {
                        work.push(Task::Node(otherwise, level::IF));
                        work.push(Task::Text(" else "));
                    }
                }
                work.push(Task::Node(then, level::OR));
                work.push(Task::Text(" then "));
                work.push(Task::Node(condition, level::OR));
            }
            Node::Call(function, args) => {
                out.push_str(function.text());
                out.push('(');
                work.push(Task::Text(")"));
                push_args(source.args(args), &mut work);
            }
            Node::List(args) => {
                out.push('[');
                work.push(Task::Text("]"));
                push_args(source.args(args), &mut work);
            }
        }
    }
}

fn push_args(args: &[ExprId], work: &mut Vec<Task>) {
    for (at, &arg) in args.iter().enumerate().rev() {
        work.push(Task::Node(arg, level::IF));
        if at > 0 {
            work.push(Task::Text(", "));
        }
    }
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

fn operand_of_unary<L>(op: UnaryOp, operand: &Node<L>) -> u8 {
    match (op, operand) {
        // `not (e > 0)` needs no brackets, but reads better with them.
        (UnaryOp::Not, Node::Unary(UnaryOp::Not, _)) => level::NOT,
        (UnaryOp::Not, _) => level::ATOM,
        _ => level::POWER,
    }
}

/// The least binding strength of the left and of the right operand.
fn operands_of_binary(op: BinaryOp) -> (u8, u8) {
    match op {
        BinaryOp::Or => (level::OR, level::AND),
        BinaryOp::And => (level::AND, level::NOT),
        BinaryOp::Add | BinaryOp::Sub => (level::SUM, level::PRODUCT),
        BinaryOp::Mul | BinaryOp::Div => (level::PRODUCT, level::POWER),
        BinaryOp::Pow => (level::ATOM, level::POWER),
        // Relations cannot be chained.
        _ => (level::SUM, level::SUM),
    }
}

/// The operator with the blanks around it.
pub fn spelling(op: BinaryOp, style: Style) -> &'static str {
    match op {
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
    }
}
