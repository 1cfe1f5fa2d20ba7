//! How Python writes expressions.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::words::literal;
use crate::export::model::Model;
use crate::export::names::Names;
use crate::export::write::{Dialect, Kept, write_rest};
use crate::expr::op::precedence;
use crate::expr::print::{Form, Infix, Prefix, Style, Text, infix};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{Flat, Leaf, Type};

/// Words of Python, and names in the functions of the module.
const RESERVED: &str = "
    False None True and as assert async await break case class continue def del elif else except finally for from global if
    import in is lambda match nonlocal not or pass raise return try type while with yield abs float len list max min range math
    sum t x u p d h s v z values ModelError print exec
";

/// Where an expression finds the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They are local names of the function.
    Locals,
    /// They are in a dictionary.
    Values(&'static str),
    /// They are in a dictionary, and relations are decided as they are written.
    Plain(&'static str),
}

#[derive(Debug)]
pub struct Python<'m> {
    pub flat: &'m Flat,
    pub names: Names,
    pub scope: Cell<Scope>,
    watches: FxHashMap<ExprId, usize>,
    samplers: FxHashMap<ExprId, usize>,
    known: FxHashSet<Leaf>,
    /// In a model with modes: the truths of relations, which are variables there.
    truths: FxHashMap<Leaf, String>,
}

impl<'m> Python<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        let flat = model.flat;
        let mut names = Names::new(RESERVED);
        names.add_all(model);
        Python {
            samplers: (model.samplers.iter().zip(0..))
                .map(|(one, at)| (one.node, at))
                .collect(),
            watches: model.watch_of.clone(),
            scope: Cell::new(Scope::Locals),
            flat,
            names,
            known: model.kept().map(|(leaf, _)| leaf).collect(),
            truths: model.truths("s.h", "s.sampled"),
        }
    }

    /// The dialect of one mode, with its auxiliaries.
    pub fn in_position(&self, of: &'m Model<'m>) -> Python<'m> {
        let mut names = self.names.clone();
        let mut known = self.known.clone();
        for id in of.flat.variable_ids().skip(self.flat.variables.len()) {
            names.add(of.flat, Leaf::Var(id));
            known.insert(Leaf::Var(id));
        }
        Python {
            flat: of.flat,
            names,
            scope: Cell::new(Scope::Locals),
            watches: FxHashMap::default(),
            samplers: FxHashMap::default(),
            known,
            truths: self.truths.clone(),
        }
    }

    /// Whether it has a name.
    pub fn has(&self, leaf: Leaf) -> bool {
        self.known.contains(&leaf)
    }
}

impl<'m> Python<'m> {
    /// For equations as they were written: every variable is in a dictionary.
    pub fn plain(flat: &'m Flat) -> Self {
        Python {
            samplers: FxHashMap::default(),
            watches: FxHashMap::default(),
            scope: Cell::new(Scope::Plain("values")),
            flat,
            names: Names::new(RESERVED),
            known: FxHashSet::default(),
            truths: FxHashMap::default(),
        }
    }
}

pub fn number(value: f64) -> Text {
    if value.is_nan() {
        return Text::atom("math.nan");
    }
    if value.is_infinite() {
        return match value > 0.0 {
            true => Text::atom("math.inf"),
            false => Text::new("-math.inf", precedence::SIGN),
        };
    }
    let text = format!("{value:?}");
    match text.starts_with('-') {
        true => Text::new(text, precedence::SIGN),
        false => Text::atom(text),
    }
}

/// A number, or a truth if the variable is boolean.
pub fn constant(ty: Type, value: f64) -> String {
    match ty {
        Type::Real => number(value).text,
        Type::Boolean => truth(value != 0.0).to_string(),
    }
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

impl Dialect for Python<'_> {
    fn leaf(&self, leaf: Leaf) -> Text {
        if let Some(truth) = self.truths.get(&leaf) {
            return Text::atom(truth.as_str());
        }
        if let (Scope::Plain(values), _) | (Scope::Values(values), true) =
            (self.scope.get(), self.known.contains(&leaf))
        {
            return Text::atom(format!("{values}[{}]", literal(&self.flat.leaf_name(leaf))));
        }
        if self.known.contains(&leaf) {
            return Text::atom(self.names.get(leaf));
        }
        // A variable that no block computes has a given value, or none.
        let given = match leaf {
            Leaf::Var(id) => self.flat.value(id).map(|given| given.value),
            _ => None,
        };
        match given {
            Some(Value::Bool(value)) => Text::atom(truth(value)),
            Some(Value::Real(value)) => number(value),
            None => number(0.0),
        }
    }

    fn number(&self, value: f64) -> Text {
        number(value)
    }

    fn truth(&self, value: bool) -> &'static str {
        truth(value)
    }

    fn time(&self) -> &'static str {
        "t"
    }

    fn prefix(&self, op: UnaryOp) -> Prefix {
        let (word, operand, binds) = match op {
            UnaryOp::Minus => ("-", precedence::POWER, precedence::SIGN),
            UnaryOp::Plus => ("+", precedence::POWER, precedence::SIGN),
            UnaryOp::Not => ("not ", precedence::NOT, precedence::NOT),
        };
        Prefix {
            word,
            operand,
            binds,
        }
    }

    /// Relations chain in Python, so their operands get brackets.
    fn infix(&self, op: BinaryOp) -> Infix {
        let usual = infix(op, Style::Classic);
        match op {
            BinaryOp::Mul => Infix::left_to_right(" * ", precedence::PRODUCT),
            BinaryOp::Div => Infix::left_to_right(" / ", precedence::PRODUCT),
            BinaryOp::NotEqual => Infix {
                word: " != ",
                ..usual
            },
            _ => usual,
        }
    }

    fn power(&self, operands: [ExprId; 2], _: bool, form: &mut Form<'_, u8>) {
        form.called("_pow", &operands, precedence::IF);
    }

    fn choice(&self, [condition, then, otherwise]: [ExprId; 3], form: &mut Form<'_, u8>) {
        let above = precedence::IF + 1;
        form.at(then, above);
        form.word(" if ");
        form.at(condition, above);
        form.word(" else ");
        form.at(otherwise, precedence::IF);
    }

    fn call(&self, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        use Function::*;
        let name = match function {
            Abs | Min | Max => function.text(),
            Ln => "math.log",
            Exp | Sinh | Cosh | Sign | Mod => &format!("_{}", function.text()),
            Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Tanh | Log10 | Sqrt | Floor | Ceil => {
                &format!("math.{}", function.text())
            }
            // Written otherwise, or no values.
            Table | Sample | Der | Der2 | New | Init | Pre => function.text(),
        };
        form.called(name, args, precedence::IF);
    }

    fn table(&self, x: ExprId, xs: &[ExprId], ys: &[ExprId], form: &mut Form<'_, u8>) {
        form.word("_table(");
        form.at(x, precedence::IF);
        for points in [xs, ys] {
            form.word(", (");
            form.series(points, precedence::IF, ", ");
            // A tuple of one element ends in a comma.
            form.word(if points.is_empty() { ")" } else { ",)" });
        }
        form.word(")");
    }

    fn kept(&self, id: ExprId) -> Option<Kept> {
        if matches!(self.flat.exprs.node(id), Node::Call(Function::Sample, _)) {
            return Some(Kept::Alone);
        }
        let held = self.watches.contains_key(&id) && !matches!(self.scope.get(), Scope::Plain(_));
        held.then_some(Kept::WithOperands(precedence::ATOM))
    }

    fn write_kept(&self, id: ExprId, form: &mut Form<'_, u8>) {
        let Some(&at) = self.watches.get(&id) else {
            return match (self.scope.get(), self.samplers.get(&id)) {
                // A sample never acts at a single point.
                (Scope::Plain(_), _) | (_, None) => form.word("False"),
                (_, Some(at)) => form.text(&format!("s.sampled[{at}]")),
            };
        };
        let held = format!("h[{at}]");
        let exprs = &self.flat.exprs;
        let node = exprs.node(id);
        form.word("(");
        match node {
            Node::Call(Function::Mod, args) => {
                let args = exprs.args(args);
                write_rest([args[0], args[1]], &held, form);
            }
            _ => form.text(&held),
        }
        form.word(" if h else ");
        match node {
            Node::Binary(op, a, b) => form.infix(self.infix(op), [a, b]),
            Node::Call(function, args) => self.call(function, exprs.args(args), form),
            _ => form.text(&held),
        }
        form.word(")");
    }

    fn temporary(&self, count: usize) -> String {
        format!("_t{count}")
    }

    fn define(&self, temporary: &str, value: &Text) -> String {
        format!("{temporary} = {}", value.text)
    }

    fn set(&self, temporary: &str, value: &Text) -> String {
        self.define(temporary, value)
    }

    fn declare(&self, _: &str) -> Option<String> {
        None
    }

    fn begin_if(&self, condition: &Text) -> String {
        format!("if {}:", condition.text)
    }

    fn begin_unless(&self, condition: &Text) -> String {
        format!("if not {}:", condition.at_least(precedence::NOT))
    }

    fn begin_else(&self) -> String {
        "else:".to_string()
    }

    fn end(&self) -> Option<String> {
        None
    }
}
