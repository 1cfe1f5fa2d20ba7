//! Expressions as text of a classic language.
//!
//! Before: an expression of the flat model. After: its text in a [`Dialect`], with no more brackets than needed.
//!
//! These languages lack truths, or `if`, or functions, so a node is put together from the texts of its operands, which
//! can occur in it more than once: DESIRE writes `x < y` as arithmetic. That is not printing, where each operand has one
//! place, so the walk of `expr::print` is not used: the texts are made from the leaves up, each once.

use rustc_hash::FxHashMap;

use super::Classic;
use crate::expr::op::precedence as level;
use crate::expr::print::{Infix, Style, Text, infix};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, fold};
use crate::flat::Leaf;

/// How a language writes expressions. A language may distinguish truths and numbers.
pub trait Dialect {
    fn leaf(&self, leaf: Leaf) -> Text;
    /// A boolean variable as a condition.
    fn truth_of(&self, leaf: Leaf) -> Text;
    fn truth(&self, value: bool) -> Text;
    fn time(&self) -> Text;
    fn not(&self, a: &Text) -> Text;
    /// `and`, `or`
    fn logic(&self, and: bool, a: &Text, b: &Text) -> Text;
    fn relation(&self, op: BinaryOp, a: &Text, b: &Text) -> Text;
    fn power(&self, a: &Text, b: &Text) -> Text;
    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text;
    /// `None` if the language has no such function.
    fn call(&self, function: Function, args: &[Text]) -> Option<Text>;
    /// The condition that a sampler is due.
    fn due(&self, at: usize) -> Text;
    /// Whether two conditions are equal, or different.
    fn same_truth(&self, equal: bool, a: &Text, b: &Text) -> Text;
    /// A choice between booleans.
    fn choice_of_truth(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        // (c and a) or (not c and b)
        let yes = self.logic(true, condition, a);
        let no = self.logic(true, &self.not(condition), b);
        self.logic(false, &yes, &no)
    }
}

/// A number that reads as a real in all these languages: `100.0`, `1.5E-3`.
pub fn real(value: f64) -> String {
    let text = format!("{value:?}").to_uppercase();
    match text.contains(['.', 'E']) {
        true => match text.split_once('E') {
            Some((digits, power)) if !digits.contains('.') => format!("{digits}.0E{power}"),
            _ => text,
        },
        false => format!("{text}.0"),
    }
}

/// A longer operand is not repeated to write a power.
const LONGEST_FACTOR: usize = 24;

/// The text of an expression; an error names what the language lacks.
pub fn text<D: Dialect>(
    model: &Classic<'_>,
    dialect: &D,
    language: &str,
    root: ExprId,
) -> Result<Text, String> {
    written(model, dialect, language, root, true)
}

/// The text of an expression between samples.
pub fn text_unsampled<D: Dialect>(
    model: &Classic<'_>,
    dialect: &D,
    language: &str,
    root: ExprId,
) -> Result<Text, String> {
    written(model, dialect, language, root, false)
}

fn written<D: Dialect>(
    model: &Classic<'_>,
    dialect: &D,
    language: &str,
    root: ExprId,
    samples: bool,
) -> Result<Text, String> {
    let exprs = &model.flat.exprs;
    let operands = |id: ExprId, operands: &mut Vec<ExprId>| match exprs.node(id) {
        Node::Leaf(Leaf::Pre(id)) => operands.extend(model.gone.get(&Leaf::Var(id))),
        Node::Leaf(leaf) => operands.extend(model.gone.get(&leaf)),
        _ => exprs.operands(id, operands),
    };
    let mut known: FxHashMap<ExprId, Text> = FxHashMap::default();
    fold(root, &mut known, operands, |id, _, known| {
        let node = exprs.node(id);
        let of = |id: ExprId| &known[&id];
        let is_truth = |id: ExprId| model.flat.is_boolean(id);
        Ok::<Text, String>(match node {
            Node::Number(value) => number(value.0),
            Node::Bool(value) => dialect.truth(value),
            Node::Time => dialect.time(),
            // New values are computed before any is assigned, so the variable still has its value before the event.
            Node::Leaf(Leaf::Pre(id)) if model.is_boolean(Leaf::Var(id)) => {
                dialect.truth_of(Leaf::Var(id))
            }
            Node::Leaf(Leaf::Pre(id)) => match model.gone.get(&Leaf::Var(id)) {
                Some(&expression) => of(expression).clone(),
                None => dialect.leaf(Leaf::Var(id)),
            },
            Node::Leaf(leaf) => match model.gone.get(&leaf) {
                Some(&expression) => of(expression).clone(),
                None if model.is_boolean(leaf) => dialect.truth_of(leaf),
                None => dialect.leaf(leaf),
            },
            Node::Unary(UnaryOp::Plus, a) => of(a).clone(),
            Node::Unary(UnaryOp::Minus, a) => {
                Text::new(format!("-{}", of(a).at_least(level::POWER)), level::SIGN)
            }
            Node::Unary(UnaryOp::Not, a) => dialect.not(of(a)),
            Node::Binary(op, a, b) => {
                let (x, y) = (of(a), of(b));
                match op {
                    BinaryOp::And | BinaryOp::Or => dialect.logic(op == BinaryOp::And, x, y),
                    BinaryOp::Equal | BinaryOp::NotEqual if is_truth(a) => {
                        dialect.same_truth(op == BinaryOp::Equal, x, y)
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                        arithmetic(op, x, y)
                    }
                    BinaryOp::Pow => match exprs.as_number(b) {
                        Some(2.0) if x.text.len() <= LONGEST_FACTOR => {
                            arithmetic(BinaryOp::Mul, x, x)
                        }
                        _ => dialect.power(x, y),
                    },
                    _ => dialect.relation(op, x, y),
                }
            }
            Node::If(c, a, b) if is_truth(a) => dialect.choice_of_truth(of(c), of(a), of(b)),
            Node::If(c, a, b) => dialect.choice(of(c), of(a), of(b)),
            Node::Call(Function::Table, args) => {
                let list = exprs.args(args);
                let (mut xs, mut ys) = (Vec::new(), Vec::new());
                exprs.operands(list[1], &mut xs);
                exprs.operands(list[2], &mut ys);
                let points: Vec<(&Text, &Text)> =
                    xs.iter().zip(&ys).map(|(&x, &y)| (of(x), of(y))).collect();
                table(dialect, of(list[0]), &points)
            }
            Node::Call(Function::Sample, _) => {
                match model.samplers.iter().position(|one| one.node == id) {
                    Some(at) if samples => dialect.due(at),
                    _ => dialect.truth(false),
                }
            }
            Node::Call(function, args) => {
                let args: Vec<Text> = exprs.args(args).iter().map(|&id| of(id).clone()).collect();
                let made = dialect.call(function, &args);
                made.ok_or_else(|| {
                    format!("{language} programs have no function `{}`", function.text())
                })?
            }
            // A list has no text of its own; its elements have.
            Node::List(_) => Text::atom(""),
        })
    })?;
    Ok(known.remove(&root).unwrap_or_else(|| Text::atom("")))
}

pub fn number(value: f64) -> Text {
    match value.is_sign_negative() {
        true => Text::new(format!("-{}", real(-value)), level::SIGN),
        false => Text::atom(real(value)),
    }
}

/// `a*b` and its like, with brackets where they are needed; a sign never follows an operator.
pub fn arithmetic(op: BinaryOp, a: &Text, b: &Text) -> Text {
    let usual = infix(op, Style::Plain);
    let right = match b.text.starts_with('-') {
        true => level::ATOM,
        false => usual.right,
    };
    Infix { right, ..usual }.of(a, b)
}

/// Linear interpolation as a chain of choices; beyond its ends the value is constant.
fn table<D: Dialect>(dialect: &D, x: &Text, points: &[(&Text, &Text)]) -> Text {
    let Some((&(_, last), others)) = points.split_last() else {
        return Text::atom("0.0");
    };
    let mut made = last.clone();
    for (at, &(x0, y0)) in others.iter().enumerate().rev() {
        let (x1, y1) = points[at + 1];
        let rise = arithmetic(BinaryOp::Sub, y1, y0);
        let run = arithmetic(BinaryOp::Sub, x1, x0);
        let along = arithmetic(BinaryOp::Sub, x, x0);
        let part = arithmetic(BinaryOp::Mul, &rise, &along);
        let part = arithmetic(BinaryOp::Div, &part, &run);
        let line = arithmetic(BinaryOp::Add, y0, &part);
        let below = dialect.relation(BinaryOp::Less, x, x1);
        made = dialect.choice(&below, &line, &made);
    }
    if let Some(&(x0, y0)) = points.first() {
        let below = dialect.relation(BinaryOp::Less, x, x0);
        made = dialect.choice(&below, y0, &made);
    }
    made
}

/// A comment: one line of ASCII characters.
pub fn comment(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_ascii_graphic() || c == ' ' => c,
            _ => '?',
        })
        .collect()
}
