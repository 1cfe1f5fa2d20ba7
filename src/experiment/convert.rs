//! Conversion of expressions of an experiment into the flat model. They are real or boolean, and contain parameters, constants
//! and, for inputs, Time.

use super::collect::{Assignment, Number, Target};
use super::names::Names;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Span;
use crate::evaluate::{Walk, value_of};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{Flat, Kind, Leaf, Type, VarId};
use crate::syntax::ast::Exprs;

/// The use of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Start,
    Input,
    Number,
    Index,
}

impl Role {
    fn text(self) -> &'static str {
        match self {
            Role::Parameter => "a parameter",
            Role::Start => "a start value",
            Role::Input => "an input",
            Role::Number => "a number of an experiment",
            Role::Index => "an index",
        }
    }

    fn may_use(self) -> &'static str {
        match self {
            Role::Input => "inputs are given by Time, parameters and constants",
            _ => "it is given by parameters and constants",
        }
    }
}

/// Looks names up and converts expressions; errors are reported.
pub(super) struct Converter<'a> {
    pub flat: &'a mut Flat,
    pub names: Names,
    pub diagnostics: &'a mut Diagnostics,
    pub walk: Walk,
    /// A `table` was converted.
    pub tables: bool,
}

impl Converter<'_> {
    /// The variable that a name means; `None` after an error.
    pub fn variable(&mut self, target: &Target<'_>, code: Code, wanted: &[Kind]) -> Option<VarId> {
        let mut indices = Vec::new();
        for index in target.parts.iter().filter_map(|&(_, index)| index) {
            let (expression, _) = self.expression(target.exprs, index, Role::Index)?;
            indices.push(self.index(expression, target.exprs.span(index))?);
        }
        let found = (self.names).lookup(self.flat, target, &indices, code, wanted);
        found
            .map_err(|diagnostic| self.diagnostics.push(diagnostic))
            .ok()
    }

    fn index(&mut self, expression: ExprId, span: Span) -> Option<u32> {
        let value = value_of(self.flat, expression, &mut self.walk).and_then(Value::real);
        let whole = value.filter(|value| value.fract() == 0.0 && (1.0..4e9).contains(value));
        if whole.is_none() {
            let message = "an index is a whole number from 1 on";
            let diagnostic = Diagnostic::new(Code::IndexBounds, message);
            self.diagnostics.push(diagnostic.at(span, "is none"));
        }
        whole.map(|value| value as u32)
    }

    /// The value of a real expression of parameters and constants; `None` after an error.
    pub fn number(&mut self, number: Number<'_>) -> Option<f64> {
        let (expression, ty) = self.expression(number.exprs, number.value, Role::Number)?;
        if ty != Type::Real {
            self.clash(Type::Real, ty, number.span());
            return None;
        }
        self.finite(expression, number.span()).and_then(Value::real)
    }

    /// The finite value of an expression of parameters and constants; `None` after an error.
    pub fn finite(&mut self, expression: ExprId, span: Span) -> Option<Value> {
        let value = value_of(self.flat, expression, &mut self.walk);
        let fine = match value {
            Some(Value::Real(value)) => value.is_finite(),
            Some(Value::Bool(_)) => true,
            None => false,
        };
        if !fine {
            let message = "this is not a number";
            let diagnostic = Diagnostic::new(Code::BadValue, message);
            self.diagnostics
                .push(diagnostic.at(span, "infinite or not a number"));
        }
        value.filter(|_| fine)
    }

    /// The expression given to a variable, whose type it must have.
    pub fn value_for(
        &mut self,
        id: VarId,
        assignment: &Assignment<'_>,
        role: Role,
    ) -> Option<ExprId> {
        let exprs = assignment.target.exprs;
        let (expression, ty) = self.expression(exprs, assignment.value, role)?;
        let wanted = self.flat.variable(id).ty;
        if ty != wanted {
            let name = self.flat.name(id);
            let message = format!(
                "`{name}` is {}, the value given is {}",
                wanted.text(),
                ty.text()
            );
            let place = exprs.span(assignment.value);
            (self.diagnostics).push(Diagnostic::new(Code::TypeClash, message).at(place, ty.text()));
            return None;
        }
        Some(expression)
    }

    fn clash(&mut self, wanted: Type, found: Type, span: Span) {
        let message = format!("{} where {} is wanted", found.text(), wanted.text());
        (self.diagnostics).push(Diagnostic::new(Code::TypeClash, message).at(span, found.text()));
    }

    /// The expression in the flat model, with its type. Operands precede their users in the arena, so this is a loop.
    pub fn expression(
        &mut self,
        exprs: &Exprs,
        root: ExprId,
        role: Role,
    ) -> Option<(ExprId, Type)> {
        let first = exprs.firsts[root.index()];
        let mut new: Vec<(ExprId, Type)> = Vec::new();
        // The first list that no table has taken as an argument yet.
        let mut open: Option<Span> = None;
        let mut lists = 0;
        for at in first..=root.0 {
            let of = |id: ExprId| new[(id.0 - first) as usize];
            let node = exprs.nodes[at as usize];
            let span = exprs.spans[at as usize];
            let operands: Vec<ExprId> = match node {
                Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => Vec::new(),
                Node::Unary(_, a) => vec![a],
                Node::Binary(_, a, b) => vec![a, b],
                Node::If(a, b, c) => vec![a, b, c],
                Node::Call(_, args) | Node::List(args) => exprs.args(args).to_vec(),
            };
            let ids: Vec<ExprId> = operands.iter().map(|&id| of(id).0).collect();
            let types: Vec<Type> = operands.iter().map(|&id| of(id).1).collect();
            // The first operand with a wrong type, and the type that it should have.
            let mut wrong: Option<(usize, Type)> = None;
            let mut want = |at: usize, ty: Type| {
                if types[at] != ty && wrong.is_none() {
                    wrong = Some((at, ty));
                }
            };
            let result = match node {
                Node::Number(value) => (self.flat.exprs.number(value.0), Type::Real),
                Node::Bool(value) => (self.flat.exprs.bool(value), Type::Boolean),
                Node::Call(Function::Sample, _) | Node::Time if role != Role::Input => {
                    self.depends_on("Time", span, role);
                    return None;
                }
                Node::Time => (self.flat.exprs.time(), Type::Real),
                Node::Leaf(reference) => {
                    let target = Target::new(exprs, reference);
                    let mut indices = Vec::new();
                    for index in target.parts.iter().filter_map(|&(_, index)| index) {
                        indices.push(self.index(of(index).0, exprs.span(index))?);
                    }
                    let wanted = [Kind::Parameter, Kind::Constant];
                    let code = Code::UnknownVariable;
                    let found = (self.names).lookup(self.flat, &target, &indices, code, &wanted);
                    let id = found
                        .map_err(|diagnostic| self.diagnostics.push(diagnostic))
                        .ok()?;
                    let variable = self.flat.variable(id);
                    if !wanted.contains(&variable.kind) {
                        self.depends_on(&self.flat.name(id), span, role);
                        return None;
                    }
                    let ty = variable.ty;
                    (self.flat.exprs.leaf(Leaf::Var(id)), ty)
                }
                Node::Unary(op, _) => {
                    let ty = match op {
                        UnaryOp::Not => Type::Boolean,
                        UnaryOp::Minus | UnaryOp::Plus => Type::Real,
                    };
                    want(0, ty);
                    (self.flat.exprs.unary(op, ids[0]), ty)
                }
                Node::Binary(op, ..) => {
                    let (operand, ty) = match op {
                        BinaryOp::Or | BinaryOp::And => (Type::Boolean, Type::Boolean),
                        BinaryOp::Equal | BinaryOp::NotEqual => (types[0], Type::Boolean),
                        BinaryOp::Less
                        | BinaryOp::LessEqual
                        | BinaryOp::Greater
                        | BinaryOp::GreaterEqual => (Type::Real, Type::Boolean),
                        _ => (Type::Real, Type::Real),
                    };
                    want(0, operand);
                    want(1, operand);
                    (self.flat.exprs.binary(op, ids[0], ids[1]), ty)
                }
                Node::If(..) => {
                    want(0, Type::Boolean);
                    want(2, types[1]);
                    (self.flat.exprs.if_else(ids[0], ids[1], ids[2]), types[1])
                }
                Node::List(_) => {
                    (0..ids.len()).for_each(|at| want(at, Type::Real));
                    lists += 1;
                    open = open.or(Some(span));
                    (self.flat.exprs.list(&ids), Type::Real)
                }
                Node::Call(function, _) if function.takes_variable() => {
                    self.depends_on("a variable", span, role);
                    return None;
                }
                Node::Call(function, _) => {
                    (0..ids.len()).for_each(|at| want(at, Type::Real));
                    if function == Function::Table {
                        if !self.fits_table(exprs, &operands) {
                            return None;
                        }
                        lists -= 2;
                    }
                    let ty = match function {
                        Function::Sample => Type::Boolean,
                        _ => Type::Real,
                    };
                    (self.flat.exprs.call(function, &ids), ty)
                }
            };
            if let Some((at, ty)) = wrong {
                self.clash(ty, types[at], exprs.span(operands[at]));
                return None;
            }
            new.push(result);
        }
        if let (1.., Some(span)) = (lists, open) {
            let diagnostic = Diagnostic::new(Code::IndexUse, "a list may not stand here");
            (self.diagnostics).push(diagnostic.at(span, "a single value is wanted"));
            return None;
        }
        new.last().copied()
    }

    /// Whether a `table` has two lists of equal length after the argument.
    fn fits_table(&mut self, exprs: &Exprs, operands: &[ExprId]) -> bool {
        self.tables = true;
        let length = |at: usize| match operands.get(at).map(|&id| exprs.node(id)) {
            Some(Node::List(items)) => Some(items.len),
            _ => None,
        };
        let fits = length(1).is_some() && length(1) == length(2);
        if let (false, Some(&first)) = (fits, operands.get(1)) {
            let message = "`table` takes a value and two lists of equal length";
            let diagnostic = Diagnostic::new(Code::BadTable, message);
            self.diagnostics
                .push(diagnostic.at(exprs.span(first), "in this table"));
        }
        fits
    }

    fn depends_on(&mut self, what: &str, span: Span, role: Role) {
        let what = match what {
            "Time" | "a variable" => what.to_string(),
            name => format!("`{name}`"),
        };
        let message = format!("{} cannot depend on {what}", role.text());
        let diagnostic = Diagnostic::new(Code::DependsOnVariable, message);
        (self.diagnostics).push(
            diagnostic
                .at(span, "not a parameter or constant")
                .hint(role.may_use()),
        );
    }
}
