//! How Python writes expressions.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::words::literal;
use crate::export::model::Model;
use crate::export::names::Names;
use crate::export::write::{Dialect, Kept, Text};
use crate::expr::op::precedence;
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

fn infix(op: &str, binds: u8, a: &Text, b: &Text) -> Text {
    Text::new(
        format!("{} {op} {}", a.at_least(binds), b.at_least(binds + 1)),
        binds,
    )
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

    fn truth(&self, value: bool) -> Text {
        Text::atom(truth(value))
    }

    fn time(&self) -> Text {
        Text::atom("t")
    }

    fn unary(&self, op: UnaryOp, a: &Text) -> Text {
        match op {
            UnaryOp::Minus => Text::new(
                format!("-{}", a.at_least(precedence::POWER)),
                precedence::SIGN,
            ),
            UnaryOp::Plus => a.clone(),
            UnaryOp::Not => Text::new(
                format!("not {}", a.at_least(precedence::NOT)),
                precedence::NOT,
            ),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Text, b: &Text) -> Text {
        use precedence::{AND, OR, PRODUCT, RELATION, SUM};
        let op = match op {
            BinaryOp::Add => return infix("+", SUM, a, b),
            BinaryOp::Sub => return infix("-", SUM, a, b),
            BinaryOp::Mul => return infix("*", PRODUCT, a, b),
            BinaryOp::Div => return infix("/", PRODUCT, a, b),
            BinaryOp::And => return infix("and", AND, a, b),
            BinaryOp::Or => return infix("or", OR, a, b),
            BinaryOp::Pow => return Text::atom(format!("_pow({}, {})", a.text, b.text)),
            BinaryOp::NotEqual => "!=",
            other => other.text(),
        };
        // Relations chain in Python, so their operands get brackets.
        Text::new(
            format!("{} {op} {}", a.at_least(SUM), b.at_least(SUM)),
            RELATION,
        )
    }

    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let above = precedence::IF + 1;
        let text = format!(
            "{} if {} else {}",
            a.at_least(above),
            condition.at_least(above),
            b.text
        );
        Text::new(text, precedence::IF)
    }

    fn call(&self, function: Function, args: &[Text]) -> Text {
        use Function::*;
        let name = match function {
            Abs | Min | Max => function.text().to_string(),
            Ln => "math.log".to_string(),
            Exp | Sinh | Cosh | Sign | Mod => format!("_{}", function.text()),
            other => format!("math.{}", other.text()),
        };
        let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Text::atom(format!("{name}({})", args.join(", ")))
    }

    fn table(&self, x: &Text, xs: &[Text], ys: &[Text]) -> Text {
        let list = |points: &[Text]| {
            let points: Vec<String> = points
                .iter()
                .map(|point| format!("{},", point.text))
                .collect();
            format!("({})", points.join(" "))
        };
        Text::atom(format!("_table({}, {}, {})", x.text, list(xs), list(ys)))
    }

    fn kept(&self, id: ExprId) -> Option<Kept> {
        if matches!(self.flat.exprs.node(id), Node::Call(Function::Sample, _)) {
            return Some(Kept::Alone);
        }
        let held = self.watches.contains_key(&id) && !matches!(self.scope.get(), Scope::Plain(_));
        held.then_some(Kept::WithOperands)
    }

    fn kept_text(&self, id: ExprId, operands: &[Text]) -> Text {
        let Some(&at) = self.watches.get(&id) else {
            return Text::atom(match (self.scope.get(), self.samplers.get(&id)) {
                // A sample never acts at a single point.
                (Scope::Plain(_), _) | (_, None) => "False".to_string(),
                (_, Some(at)) => format!("s.sampled[{at}]"),
            });
        };
        let held = Text::atom(format!("h[{at}]"));
        let written = match (self.flat.exprs.node(id), operands) {
            (Node::Binary(op, ..), [a, b]) => self.binary(op, a, b),
            (Node::Call(function, _), args) => self.call(function, args),
            _ => held.clone(),
        };
        let kept = match (self.flat.exprs.node(id), operands) {
            (Node::Call(Function::Mod, _), [a, b]) => {
                let part = infix("*", precedence::PRODUCT, &held, b);
                infix("-", precedence::SUM, a, &part)
            }
            _ => held,
        };
        Text::atom(format!("({} if h else {})", kept.text, written.text))
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
