//! What a classic language has, and how the rest is written by means of it.

use super::formulas::{Formulas, Symbol};
use crate::expr::op::precedence as level;
use crate::expr::print::{Infix, Style, infix};
use crate::expr::{BinaryOp, ExprId, Function, UnaryOp};

/// How a language writes truths, and what depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Truths {
    /// Falsity and truth.
    pub words: [&'static str; 2],
    pub binds: u8,
    pub not: &'static str,
    /// The operators that say whether two truths are equal, or different.
    pub same: [&'static str; 2],
    /// What stands before, between and after the three parts of an `if`, and what their places require.
    pub choice: [&'static str; 4],
    pub places: [u8; 3],
    pub choice_binds: u8,
}

impl Truths {
    const NONE: Truths = Truths {
        words: [""; 2],
        binds: level::ATOM,
        not: "",
        same: [""; 2],
        choice: [""; 4],
        places: [level::ATOM; 3],
        choice_binds: level::ATOM,
    };
}

/// What a language has, and how the rest is written by means of it. The methods that are given here are right for a
/// language with truths that can be assigned.
pub trait Language {
    /// As messages call it.
    fn name(&self) -> &'static str;
    fn time(&self) -> &'static str;

    /// How truths are written; a language without them writes numbers instead.
    fn truths(&self) -> &'static Truths {
        &Truths::NONE
    }

    fn infix(&self, op: BinaryOp) -> Infix {
        infix(op, Style::Plain)
    }

    /// The name of a function; `None` if the language lacks it.
    fn spelling(&self, function: Function) -> Option<String>;

    /// A truth as a constant.
    fn truth(&self, to: &mut Formulas<'_>, value: bool) -> ExprId {
        to.arena.bool(value)
    }

    /// The truth that a boolean variable has.
    fn truth_of(&self, to: &mut Formulas<'_>, variable: Symbol) -> ExprId {
        to.arena.leaf(variable)
    }

    /// What is assigned to a boolean variable.
    fn assigned(&self, _: &mut Formulas<'_>, truth: ExprId) -> ExprId {
        truth
    }

    fn not(&self, to: &mut Formulas<'_>, a: ExprId) -> ExprId {
        to.arena.unary(UnaryOp::Not, a)
    }

    /// `and`, `or`
    fn logic(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        to.arena.binary(op, a, b)
    }

    /// A relation between numbers.
    fn relation(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        to.arena.binary(op, a, b)
    }

    /// Whether two truths are equal, or different.
    fn same_truth(&self, to: &mut Formulas<'_>, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        to.arena.binary(op, a, b)
    }

    fn power(&self, to: &mut Formulas<'_>, a: ExprId, b: ExprId) -> ExprId {
        to.arena.binary(BinaryOp::Pow, a, b)
    }

    /// A choice between numbers.
    fn choice(&self, to: &mut Formulas<'_>, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        to.arena.if_else(condition, a, b)
    }

    /// A choice between truths: `(c and a) or (not c and b)`
    fn choice_of_truth(
        &self,
        to: &mut Formulas<'_>,
        condition: ExprId,
        a: ExprId,
        b: ExprId,
    ) -> ExprId {
        let condition = to.repeated(condition);
        let yes = self.logic(to, BinaryOp::And, condition, a);
        let otherwise = self.not(to, condition);
        let no = self.logic(to, BinaryOp::And, otherwise, b);
        self.logic(to, BinaryOp::Or, yes, no)
    }

    /// A truth that holds now and did not hold before.
    fn becomes(&self, to: &mut Formulas<'_>, now: Symbol, before: Symbol) -> ExprId {
        let (now, before) = (self.truth_of(to, now), self.truth_of(to, before));
        let not = self.not(to, before);
        self.logic(to, BinaryOp::And, now, not)
    }

    /// `None` if the language cannot express the function.
    fn call(&self, to: &mut Formulas<'_>, function: Function, args: &[ExprId]) -> Option<ExprId> {
        self.spelling(function)?;
        Some(to.arena.call(function, args))
    }
}

/// `floor`, `ceil` and `mod` by a function that cuts off the digits after the point. The numbers are 0 and 1.
pub fn whole_part(
    to: &mut Formulas<'_>,
    cut: &'static str,
    numbers: [ExprId; 2],
    function: Function,
    args: &[ExprId],
) -> Option<ExprId> {
    let whole = |to: &mut Formulas<'_>, a: ExprId, up: bool| {
        let a = to.repeated(a);
        let cut = to.arena.leaf(Symbol::Call(cut, a));
        let (relation, op) = match up {
            true => (BinaryOp::Greater, BinaryOp::Add),
            false => (BinaryOp::Less, BinaryOp::Sub),
        };
        let off = to.arena.binary(relation, a, cut);
        let off = to.arena.if_else(off, numbers[1], numbers[0]);
        to.arena.binary(op, cut, off)
    };
    match (function, args) {
        (Function::Floor, &[a]) => Some(whole(to, a, false)),
        (Function::Ceil, &[a]) => Some(whole(to, a, true)),
        (Function::Mod, &[a, b]) => {
            let (a, b) = (to.repeated(a), to.repeated(b));
            let quotient = to.arena.binary(BinaryOp::Div, a, b);
            let times = whole(to, quotient, false);
            let times = to.arena.binary(BinaryOp::Mul, b, times);
            Some(to.arena.binary(BinaryOp::Sub, a, times))
        }
        _ => None,
    }
}

/// The usual operators, and a power with `^`.
pub fn caret(op: BinaryOp) -> Infix {
    let usual = infix(op, Style::Plain);
    match op {
        BinaryOp::Pow => Infix {
            word: "^",
            right: level::ATOM,
            ..usual
        },
        _ => usual,
    }
}
