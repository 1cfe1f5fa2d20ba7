//! Formulas of a classic language as text: the dialect of the walk in `expr::print`.
//!
//! Before: a formula in terms of the language. After: its text, with no more brackets than needed.

use super::formulas::{Formulas, Symbol};
use super::language::Truths;
use super::real;
use crate::expr::op::precedence as level;
use crate::expr::print::{Dialect, Form, Here, Infix, precedence_of, print};
use crate::expr::{Args, BinaryOp, ExprId, Function, Node, UnaryOp};

/// The text of a formula.
pub(super) fn written(formulas: &Formulas<'_>, root: ExprId) -> String {
    let mut out = String::new();
    print(&Written(formulas), root, level::IF, &mut out);
    out
}

struct Written<'f, 'm>(&'f Formulas<'m>);

impl Written<'_, '_> {
    /// Whether a relation compares truths.
    fn compares_truths(&self, op: BinaryOp, a: ExprId) -> bool {
        matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) && self.0.is_truth(a)
    }
}

impl Dialect for Written<'_, '_> {
    type Leaf = Symbol;
    type Place = u8;

    fn node(&self, id: ExprId) -> Node<Symbol> {
        self.0.arena.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.0.arena.args(args)
    }

    fn strength(&self, _: ExprId, node: &Node<Symbol>) -> u8 {
        match *node {
            Node::Bool(_) => self.0.language.truths().binds,
            Node::If(..) => self.0.language.truths().choice_binds,
            Node::Binary(op, a, _) if self.compares_truths(op, a) => level::IF,
            Node::Leaf(Symbol::Whole(value)) if value < 0 => level::SIGN,
            ref other => precedence_of(other),
        }
    }

    fn number(&self, value: f64, _: Here<u8>, form: &mut Form<'_, u8>) {
        form.text(&real(value));
    }

    fn truth(&self, value: bool) -> &'static str {
        self.0.language.truths().words[usize::from(value)]
    }

    fn time(&self) -> &'static str {
        self.0.language.time()
    }

    fn leaf(&self, symbol: Symbol, form: &mut Form<'_, u8>) {
        match symbol {
            Symbol::Variable(_) | Symbol::Own(_) => form.text(self.0.name_of(symbol)),
            Symbol::Whole(value) => form.text(&value.to_string()),
            Symbol::Call(name, a) => form.called(name, &[a], level::IF),
        }
    }

    fn unary(&self, _: Here<u8>, op: UnaryOp, a: ExprId, form: &mut Form<'_, u8>) {
        match op {
            UnaryOp::Not => {
                form.word(self.0.language.truths().not);
                form.at(a, level::ATOM);
            }
            UnaryOp::Minus | UnaryOp::Plus => {
                form.word(op.text());
                form.at(a, level::POWER);
            }
        }
    }

    fn binary(&self, _: Here<u8>, op: BinaryOp, [a, b]: [ExprId; 2], form: &mut Form<'_, u8>) {
        let usual = self.0.language.infix(op);
        let infix = match op {
            // A sign never follows an operator.
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div
                if self.begins_with_sign(b) =>
            {
                let right = level::ATOM;
                Infix { right, ..usual }
            }
            _ if self.compares_truths(op, a) => {
                let word = self.0.language.truths().same[usize::from(op == BinaryOp::NotEqual)];
                let (left, right) = (level::ATOM, level::ATOM);
                Infix {
                    word,
                    left,
                    right,
                    ..usual
                }
            }
            _ => usual,
        };
        form.infix(infix, [a, b]);
    }

    fn choice(&self, _: Here<u8>, parts: [ExprId; 3], form: &mut Form<'_, u8>) {
        let Truths { choice, places, .. } = *self.0.language.truths();
        let [begin, then, otherwise, end] = choice;
        let words = [begin, then, otherwise];
        for ((word, part), place) in words.into_iter().zip(parts).zip(places) {
            form.word(word);
            form.at(part, place);
        }
        form.word(end);
    }

    fn call(&self, _: Here<u8>, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        let name = self.0.language.spelling(function).unwrap_or_default();
        form.called(&name, args, level::IF);
    }

    fn list(&self, _: Here<u8>, of: &[ExprId], form: &mut Form<'_, u8>) {
        form.series(of, level::IF, ", ");
    }
}
