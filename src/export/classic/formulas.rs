//! Formulas of a program in a classic language.
//!
//! Before: expressions of the flat model. After: expressions in an arena of their own, in terms of what the [`Language`]
//! has. Their leaves are a [`Symbol`]; `print.rs` writes them.
//!
//! What a language lacks is written by means of what it has, and that may need an operand more than once: the larger of
//! a and b is `a + lim(b - a)` in DESIRE. The arena shares the operand, the text repeats it. So that a text grows in
//! proportion to the expression, a wide operand gets a name first, with a line of its own before the formula.

use rustc_hash::FxHashMap;

use super::language::Language;
use super::names::Names;
use super::print::written;
use super::{Classic, Happening, Right, real};
use crate::expr::op::precedence as level;
use crate::expr::{Arena, BinaryOp, ExprId, Function, Node, UnaryOp, fold};
use crate::flat::Leaf;

/// A leaf of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of the model.
    Variable(Leaf),
    /// A variable that only the program has.
    Own(OwnId),
    /// A whole number, written without a point.
    Whole(i32),
    /// A function that .bgm does not have, such as `swtch`, and its argument.
    Call(&'static str, ExprId),
}

/// A variable that only the program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnId(u32);

#[derive(Clone, Debug)]
struct OwnVariable {
    name: String,
    is_truth: bool,
}

/// A wider base is not repeated to write a square.
const WIDEST_FACTOR: u32 = 24;

/// A wider operand is not repeated; it gets a name.
const WIDEST_REPEATED: u32 = 200;

/// The formulas of one program.
pub struct Formulas<'m> {
    pub model: &'m Classic<'m>,
    pub language: &'static dyn Language,
    pub arena: Arena<Symbol>,
    pub names: Names,
    /// What the program remembers between events.
    pub named: Happening,
    own: Vec<OwnVariable>,
    /// By expression: the letters of its text, without brackets.
    widths: Vec<u32>,
    /// Names of repeated operands that have no line yet, with their values.
    auxiliaries: Vec<(Symbol, ExprId)>,
    /// What stands for a repeated operand in the formula that is not yet written.
    auxiliary_of: FxHashMap<ExprId, ExprId>,
}

impl std::fmt::Debug for Formulas<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Formulas").finish_non_exhaustive()
    }
}

impl<'m> Formulas<'m> {
    pub fn new(model: &'m Classic<'m>, language: &'static dyn Language, names: Names) -> Self {
        Formulas {
            model,
            language,
            arena: Arena::default(),
            names,
            named: Happening::default(),
            own: Vec::new(),
            widths: Vec::new(),
            auxiliaries: Vec::new(),
            auxiliary_of: FxHashMap::default(),
        }
    }

    /// A formula in terms of the language; an error names what it lacks.
    pub fn formula(&mut self, root: ExprId) -> Result<ExprId, String> {
        self.rewrite(root, true)
    }

    /// A formula between samples: no `sample` is due.
    pub fn formula_unsampled(&mut self, root: ExprId) -> Result<ExprId, String> {
        self.rewrite(root, false)
    }

    /// A formula whose value can be assigned.
    pub fn value(&mut self, root: ExprId) -> Result<ExprId, String> {
        let made = self.formula(root)?;
        Ok(match self.model.flat.is_boolean(root) {
            true => self.language.assigned(self, made),
            false => made,
        })
    }

    /// The right side of a statement.
    pub fn right(&mut self, right: Right) -> Result<ExprId, String> {
        match right {
            Right::Formula(id) => self.value(id),
            Right::Same(leaf) => Ok(self.arena.leaf(Symbol::Variable(leaf))),
        }
    }

    fn rewrite(&mut self, root: ExprId, samples: bool) -> Result<ExprId, String> {
        let model = self.model;
        let exprs = &model.flat.exprs;
        let operands = |id: ExprId, operands: &mut Vec<ExprId>| match exprs.node(id) {
            Node::Leaf(leaf) => operands.extend(model.replacement(leaf)),
            _ => exprs.operands(id, operands),
        };
        let mut known: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        fold(root, &mut known, operands, |id, _, known| {
            self.node(id, samples, known)
        })?;
        Ok(known[&root])
    }

    /// One node, when its operands are known.
    fn node(
        &mut self,
        id: ExprId,
        samples: bool,
        known: &FxHashMap<ExprId, ExprId>,
    ) -> Result<ExprId, String> {
        let (model, language) = (self.model, self.language);
        let exprs = &model.flat.exprs;
        let is_truth = |id: ExprId| model.flat.is_boolean(id);
        Ok(match exprs.node(id) {
            Node::Number(value) => self.arena.number(value.0),
            Node::Bool(value) => language.truth(self, value),
            Node::Time => self.arena.time(),
            Node::Leaf(leaf) => match model.replacement(leaf) {
                Some(expression) => known[&expression],
                None => self.variable(leaf),
            },
            Node::Unary(UnaryOp::Plus, a) => known[&a],
            Node::Unary(UnaryOp::Minus, a) => self.arena.unary(UnaryOp::Minus, known[&a]),
            Node::Unary(UnaryOp::Not, a) => language.not(self, known[&a]),
            Node::Binary(op, x, y) => {
                let (a, b) = (known[&x], known[&y]);
                match op {
                    BinaryOp::And | BinaryOp::Or => language.logic(self, op, a, b),
                    BinaryOp::Equal | BinaryOp::NotEqual if is_truth(x) => {
                        language.same_truth(self, op, a, b)
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                        self.arena.binary(op, a, b)
                    }
                    BinaryOp::Pow if exprs.as_number(y) == Some(2.0) && self.is_factor(a) => {
                        self.arena.binary(BinaryOp::Mul, a, a)
                    }
                    BinaryOp::Pow => language.power(self, a, b),
                    _ => language.relation(self, op, a, b),
                }
            }
            Node::If(c, a, b) if is_truth(a) => {
                language.choice_of_truth(self, known[&c], known[&a], known[&b])
            }
            Node::If(c, a, b) => language.choice(self, known[&c], known[&a], known[&b]),
            Node::Call(Function::Table, args) => {
                let list = exprs.args(args);
                let mut points = [Vec::new(), Vec::new()];
                for (of, numbers) in points.iter_mut().zip(&list[1..]) {
                    exprs.each_operand(*numbers, |number| of.push(known[&number]));
                }
                let [xs, ys] = points;
                self.table(known[&list[0]], &xs, &ys)
            }
            Node::Call(Function::Sample, _) => {
                match model.samplers.iter().position(|one| one.node == id) {
                    Some(at) if samples => language.truth_of(self, self.named.ticks[at].0),
                    _ => language.truth(self, false),
                }
            }
            Node::Call(function, args) => {
                let args: Vec<ExprId> = exprs.args(args).iter().map(|id| known[id]).collect();
                language.call(self, function, &args).ok_or_else(|| {
                    let (language, function) = (language.name(), function.text());
                    format!("{language} programs have no function `{function}`")
                })?
            }
            // A list is no value; the table that it belongs to reads its elements.
            Node::List(_) => self.arena.list(&[]),
        })
    }

    /// Whether a square can be written as a product.
    fn is_factor(&mut self, a: ExprId) -> bool {
        self.width(a) <= WIDEST_FACTOR
    }

    /// A variable that nothing replaces.
    pub fn variable(&mut self, leaf: Leaf) -> ExprId {
        // New values are computed before any is assigned, so the variable still has its value before the event.
        let leaf = match leaf {
            Leaf::Pre(id) => Leaf::Var(id),
            other => other,
        };
        let symbol = Symbol::Variable(leaf);
        match self.model.is_boolean(leaf) {
            true => self.language.truth_of(self, symbol),
            false => self.arena.leaf(symbol),
        }
    }

    /// Linear interpolation as a chain of choices; beyond its ends the value is constant.
    fn table(&mut self, x: ExprId, xs: &[ExprId], ys: &[ExprId]) -> ExprId {
        use BinaryOp::{Add, Div, Less, Mul, Sub};
        let language = self.language;
        let (Some(&first), Some(&lowest), Some(&last)) = (xs.first(), ys.first(), ys.last()) else {
            return self.arena.number(0.0);
        };
        let x = self.repeated(x);
        let mut made = last;
        for at in (1..xs.len().min(ys.len())).rev() {
            let ([x0, x1], [y0, y1]) = ([xs[at - 1], xs[at]], [ys[at - 1], ys[at]]);
            let rise = self.arena.binary(Sub, y1, y0);
            let run = self.arena.binary(Sub, x1, x0);
            let along = self.arena.binary(Sub, x, x0);
            let part = self.arena.binary(Mul, rise, along);
            let part = self.arena.binary(Div, part, run);
            let line = self.arena.binary(Add, y0, part);
            let below = language.relation(self, Less, x, x1);
            made = language.choice(self, below, line, made);
        }
        let below = language.relation(self, Less, x, first);
        language.choice(self, below, lowest, made)
    }

    /// An operand that occurs in the text more than once: a wide one gets a name.
    pub fn repeated(&mut self, id: ExprId) -> ExprId {
        if self.width(id) <= WIDEST_REPEATED {
            return id;
        }
        if let Some(&stands) = self.auxiliary_of.get(&id) {
            return stands;
        }
        let language = self.language;
        let is_truth = self.is_truth(id);
        let name = self.own("aux", is_truth);
        let (value, stands) = match is_truth {
            true => (language.assigned(self, id), language.truth_of(self, name)),
            false => (id, self.arena.leaf(name)),
        };
        self.auxiliaries.push((name, value));
        self.auxiliary_of.insert(id, stands);
        stands
    }

    /// The lines of a formula: first those of its repeated operands, then the one that is made of its text.
    pub fn lines(&mut self, formula: ExprId, line: impl FnOnce(&str) -> String) -> Vec<String> {
        self.auxiliary_of.clear();
        let auxiliaries = std::mem::take(&mut self.auxiliaries).into_iter();
        let before = auxiliaries
            .map(|(name, value)| format!("{} = {}", self.name_of(name), written(self, value)));
        let mut lines: Vec<String> = before.collect();
        lines.push(line(&written(self, formula)));
        lines
    }

    /// `name = formula`, with the lines before it.
    pub fn assignment(&mut self, name: &str, formula: ExprId) -> Vec<String> {
        self.lines(formula, |text| format!("{name} = {text}"))
    }

    /// A variable that only the program has.
    pub fn own(&mut self, wanted: &str, is_truth: bool) -> Symbol {
        let name = self.names.fresh(wanted);
        self.push_own(name, is_truth)
    }

    /// A number that the language itself names.
    pub fn predefined(&mut self, name: &str) -> Symbol {
        self.push_own(name.to_string(), false)
    }

    fn push_own(&mut self, name: String, is_truth: bool) -> Symbol {
        self.own.push(OwnVariable { name, is_truth });
        Symbol::Own(OwnId(self.own.len() as u32 - 1))
    }

    /// The name of a variable; empty for other symbols.
    pub fn name_of(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Variable(leaf) => self.names.get(leaf),
            Symbol::Own(OwnId(at)) => &self.own[at as usize].name,
            Symbol::Whole(_) | Symbol::Call(..) => "",
        }
    }

    /// The names of all truths that only the program has.
    pub fn own_truths(&self) -> impl Iterator<Item = &str> {
        let truths = self.own.iter().filter(|one| one.is_truth);
        truths.map(|one| one.name.as_str())
    }

    /// Whether it is a truth of a language that has truths.
    pub fn is_truth(&self, id: ExprId) -> bool {
        match self.arena.node(id) {
            Node::Bool(_) | Node::Unary(UnaryOp::Not, _) => true,
            Node::Binary(op, ..) => op.precedence() <= level::RELATION,
            Node::Leaf(Symbol::Variable(leaf)) => self.model.is_boolean(leaf),
            Node::Leaf(Symbol::Own(OwnId(at))) => self.own[at as usize].is_truth,
            _ => false,
        }
    }

    /// Operands come first, so their widths are known.
    fn width(&mut self, id: ExprId) -> u32 {
        for at in self.widths.len()..=id.index() {
            let id = ExprId(at as u32);
            let own = match self.arena.node(id) {
                Node::Number(value) => real(value.0).len() as u32,
                Node::Bool(value) => self.language.truths().words[usize::from(value)].len() as u32,
                Node::Time => self.language.time().len() as u32,
                Node::Leaf(Symbol::Whole(value)) => value.to_string().len() as u32,
                Node::Leaf(Symbol::Call(name, a)) => {
                    self.widths[a.index()].saturating_add(name.len() as u32 + 2)
                }
                Node::Leaf(symbol) => self.name_of(symbol).len() as u32,
                Node::Unary(UnaryOp::Not, _) => self.language.truths().not.len() as u32,
                Node::Unary(..) => 1,
                Node::Binary(op, ..) => self.language.infix(op).word.len() as u32,
                Node::If(..) => 12,
                Node::Call(..) | Node::List(_) => 8,
            };
            let mut width = own;
            self.arena.each_operand(id, |operand| {
                width = width.saturating_add(self.widths[operand.index()]);
            });
            self.widths.push(width);
        }
        self.widths[id.index()]
    }
}
