//! Expressions as text: one walk for all languages.
//!
//! Before: an arena, an expression in it, and a [`Dialect`]. After: its text, with brackets where the dialect needs
//! them. The walk keeps its own stack, so the depth of an expression does not matter, and it writes from left to right,
//! so no part of the text is copied.
//!
//! A dialect says how each kind of node is written, as a [`Form`]: words, and operands with what their places require.

mod listing;
mod text;

pub use listing::{Source, Style, choice, infix, precedence_of, write, write_at, write_leaf};
pub use text::{Infix, Prefix, Text};

use super::op::precedence as level;
use super::{Args, BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::base::cancel::glance;

/// What a place in the text requires of the expression there.
pub trait Place: Copy {
    /// Nothing but a binding strength.
    fn least(strength: u8) -> Self;
    fn strength(self) -> u8;
}

impl Place for u8 {
    fn least(strength: u8) -> u8 {
        strength
    }

    fn strength(self) -> u8 {
        self
    }
}

/// An expression and its place.
#[derive(Clone, Copy, Debug)]
pub struct Here<P> {
    pub id: ExprId,
    pub place: P,
}

/// How a language writes expressions.
pub trait Dialect {
    type Leaf: Copy;
    type Place: Place;

    fn node(&self, id: ExprId) -> Node<Self::Leaf>;
    fn args(&self, args: Args) -> &[ExprId];

    /// The expression that is written instead of this one.
    fn follow(&self, id: ExprId) -> ExprId {
        id
    }

    /// The binding strength of its text.
    fn strength(&self, _: ExprId, node: &Node<Self::Leaf>) -> u8 {
        precedence_of(node)
    }

    /// The brackets that it needs at its place.
    #[inline]
    fn brackets(
        &self,
        here: Here<Self::Place>,
        node: &Node<Self::Leaf>,
    ) -> Option<(&'static str, &'static str)> {
        let least = here.place.strength();
        (least > level::IF && self.strength(here.id, node) < least).then_some(("(", ")"))
    }

    /// The operand that the text of a binary operator begins with, and what its place requires; `None` if the text begins
    /// with something else.
    fn first_operand(&self, _: ExprId, op: BinaryOp, a: ExprId) -> Option<(ExprId, Self::Place)> {
        Some((a, Self::Place::least(infix(op, Style::Plain).left)))
    }

    /// Whether its text begins with a sign, so that it needs brackets after an operator.
    fn begins_with_sign(&self, id: ExprId) -> bool {
        let mut id = self.follow(id);
        loop {
            let (op, a) = match self.node(id) {
                Node::Unary(op, _) => return op != UnaryOp::Not,
                Node::Number(value) => return value.0.is_sign_negative(),
                Node::Binary(op, a, _) => (op, a),
                _ => return false,
            };
            let Some((first, place)) = self.first_operand(id, op, a) else {
                return false;
            };
            id = self.follow(first);
            if self.brackets(Here { id, place }, &self.node(id)).is_some() {
                return false;
            }
        }
    }

    /// Writes an expression that is not written as its node says, such as a value with a name of its own.
    fn special(&self, _: ExprId, _: &mut Form<'_, Self::Place>) -> bool {
        false
    }

    fn number(&self, value: f64, here: Here<Self::Place>, form: &mut Form<'_, Self::Place>);
    fn truth(&self, value: bool) -> &'static str;
    fn time(&self) -> &'static str;
    fn leaf(&self, leaf: Self::Leaf, form: &mut Form<'_, Self::Place>);
    fn unary(
        &self,
        here: Here<Self::Place>,
        op: UnaryOp,
        a: ExprId,
        form: &mut Form<'_, Self::Place>,
    );
    fn binary(
        &self,
        here: Here<Self::Place>,
        op: BinaryOp,
        operands: [ExprId; 2],
        form: &mut Form<'_, Self::Place>,
    );
    /// The parts are the condition, the value if it is true, and the value if it is false.
    fn choice(&self, here: Here<Self::Place>, parts: [ExprId; 3], form: &mut Form<'_, Self::Place>);
    fn call(
        &self,
        here: Here<Self::Place>,
        function: Function,
        args: &[ExprId],
        form: &mut Form<'_, Self::Place>,
    );
    fn list(&self, here: Here<Self::Place>, of: &[ExprId], form: &mut Form<'_, Self::Place>);
}

enum Part<P> {
    Word(&'static str),
    Text(String),
    Expr(ExprId, P),
}

/// The text of one node, from left to right.
pub struct Form<'w, P> {
    out: &'w mut String,
    /// What has to wait for an operand that is not yet written.
    parts: &'w mut Vec<Part<P>>,
    begin: usize,
}

impl<P> std::fmt::Debug for Form<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Form").finish_non_exhaustive()
    }
}

impl<P: Place> Form<'_, P> {
    #[inline]
    pub fn word(&mut self, word: &'static str) {
        match self.parts.len() == self.begin {
            true => self.out.push_str(word),
            false => self.parts.push(Part::Word(word)),
        }
    }

    pub fn text(&mut self, text: &str) {
        self.write(|out| out.push_str(text));
    }

    /// Text that a function appends.
    #[inline]
    pub fn write(&mut self, append: impl FnOnce(&mut String)) {
        if self.parts.len() == self.begin {
            return append(self.out);
        }
        let mut text = String::new();
        append(&mut text);
        self.parts.push(Part::Text(text));
    }

    #[inline]
    pub fn expr(&mut self, id: ExprId, place: P) {
        self.parts.push(Part::Expr(id, place));
    }

    /// An operand that has to bind at least so strongly.
    #[inline]
    pub fn at(&mut self, id: ExprId, strength: u8) {
        self.expr(id, P::least(strength));
    }

    /// `a, b, c`
    pub fn series(&mut self, ids: &[ExprId], place: P, comma: &'static str) {
        for (at, &id) in ids.iter().enumerate() {
            if at > 0 {
                self.word(comma);
            }
            self.expr(id, place);
        }
    }

    /// `name(a, b, c)`
    pub fn called(&mut self, name: &str, args: &[ExprId], place: P) {
        self.text(name);
        self.word("(");
        self.series(args, place, ", ");
        self.word(")");
    }

    #[inline]
    pub fn infix(&mut self, infix: Infix, [a, b]: [ExprId; 2]) {
        self.at(a, infix.left);
        self.word(infix.word);
        self.at(b, infix.right);
    }
}

/// Appends the text of an expression to `out`.
pub fn print<D: Dialect>(dialect: &D, root: ExprId, place: D::Place, out: &mut String) {
    run(dialect, vec![Part::Expr(root, place)], out);
}

/// Appends the text of a leaf to `out`.
pub fn print_leaf<D: Dialect>(dialect: &D, leaf: D::Leaf, out: &mut String) {
    let mut work = Vec::new();
    formed(&mut work, out, |form| dialect.leaf(leaf, form));
    run(dialect, work, out);
}

fn run<D: Dialect>(dialect: &D, mut work: Vec<Part<D::Place>>, out: &mut String) {
    glance();
    while let Some(part) = work.pop() {
        match part {
            Part::Word(word) => out.push_str(word),
            Part::Text(text) => out.push_str(&text),
            Part::Expr(id, place) => {
                let id = dialect.follow(id);
                let here = Here { id, place };
                let node = dialect.node(id);
                if let Some((open, close)) = dialect.brackets(here, &node) {
                    out.push_str(open);
                    work.push(Part::Word(close));
                }
                formed(&mut work, out, |form| write_node(dialect, here, node, form));
            }
        }
    }
}

/// Writes the beginning of a form, and leaves the rest on the stack.
fn formed<P>(work: &mut Vec<Part<P>>, out: &mut String, write: impl FnOnce(&mut Form<'_, P>)) {
    let begin = work.len();
    write(&mut Form {
        out,
        parts: work,
        begin,
    });
    // What comes first is taken from the stack first.
    work[begin..].reverse();
}

fn write_node<D: Dialect>(
    dialect: &D,
    here: Here<D::Place>,
    node: Node<D::Leaf>,
    form: &mut Form<'_, D::Place>,
) {
    if dialect.special(here.id, form) {
        return;
    }
    match node {
        Node::Number(value) => dialect.number(value.0, here, form),
        Node::Bool(value) => form.word(dialect.truth(value)),
        Node::Time => form.word(dialect.time()),
        Node::Leaf(leaf) => dialect.leaf(leaf, form),
        Node::Unary(op, a) => dialect.unary(here, op, a, form),
        Node::Binary(op, a, b) => dialect.binary(here, op, [a, b], form),
        Node::If(c, a, b) => dialect.choice(here, [c, a, b], form),
        Node::Call(function, args) => dialect.call(here, function, dialect.args(args), form),
        Node::List(args) => dialect.list(here, dialect.args(args), form),
    }
}
