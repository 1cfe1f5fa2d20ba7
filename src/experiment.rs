//! Experiments: what is known of inputs from outside.
//!
//! Before: a flat model, and the files with their experiments. After: an input that the chosen experiment gives is a
//! variable with an equation of its own, `u = 10*sin(Time)`. So where its derivative is needed, index reduction
//! differentiates the expression. All else in an experiment is for simulation.

use rustc_hash::FxHashMap;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Equation, EquationKind, Flat, InstanceId, Kind, Leaf, Type, VarId};
use crate::intern::Interner;
use crate::source::Span;
use crate::syntax::ast::{Ast, Experiment, ExperimentKind, Exprs, Item, Reference};

/// Gives inputs the expressions of an experiment; `None` after an error.
pub fn give_inputs(
    flat: &mut Flat,
    trees: &[Ast],
    wanted: &str,
    said: &mut Diagnostics,
) -> Option<()> {
    let names = std::sync::Arc::clone(&flat.names);
    let (tree, experiment) = find(flat, &names, trees, wanted, said)?;
    let before = said.errors();
    let mut inputs: Vec<(String, Span, ExprId)> = Vec::new();
    for statement in &experiment.body {
        match &statement.kind {
            ExperimentKind::Inputs(list) => {
                for &(reference, value) in list {
                    inputs.push((path(&tree.exprs, &names, reference), reference.span, value));
                }
            }
            ExperimentKind::ClassicInputs(_, list) => {
                for (name, _, value) in list {
                    inputs.push((names.name(name.symbol).to_string(), name.span, *value));
                }
            }
            _ => {}
        }
    }
    let mut giver = Giver {
        ids: flat.variable_ids().map(|id| (flat.name(id), id)).collect(),
        flat,
        names: &names,
        exprs: &tree.exprs,
        given: FxHashMap::default(),
        said,
    };
    for (name, span, value) in inputs {
        giver.give(&name, span, value);
    }
    (said.errors() == before).then_some(())
}

/// The experiment of that name, for this model. One without a name has that of its model.
fn find<'t>(
    flat: &Flat,
    names: &Interner,
    trees: &'t [Ast],
    wanted: &str,
    said: &mut Diagnostics,
) -> Option<(&'t Ast, &'t Experiment)> {
    let mut known: Vec<&str> = Vec::new();
    for tree in trees {
        for item in &tree.items {
            let Item::Experiment(experiment) = item else {
                continue;
            };
            let model = experiment.model.map(|model| names.name(model.symbol));
            if model.is_some_and(|model| model != flat.model()) {
                continue;
            }
            let name = match experiment.name {
                Some(name) => names.name(name.symbol),
                None => flat.model(),
            };
            if name == wanted {
                return Some((tree, experiment));
            }
            known.push(name);
        }
    }
    let model = flat.model();
    let message = format!("there is no experiment `{wanted}` for `{model}`");
    let diagnostic = Diagnostic::new(Code::UnknownExperiment, message);
    said.push(match known.is_empty() {
        true => diagnostic.hint(format!("write `experiment {model} ... end` into the file")),
        false => diagnostic.suggest_or_list(wanted, "experiments", &known),
    });
    None
}

/// `c[2].R1`
fn path(exprs: &Exprs, names: &Interner, reference: Reference) -> String {
    let mut text = String::new();
    for (at, part) in exprs.parts[reference.range()].iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "." });
        text.push_str(names.name(part.name.symbol));
        if let Some(index) = part.index {
            match exprs.node(index) {
                Node::Number(value) => text.push_str(&format!("[{}]", value.0)),
                _ => text.push_str("[?]"),
            }
        }
    }
    text
}

struct Giver<'a> {
    flat: &'a mut Flat,
    names: &'a Interner,
    exprs: &'a Exprs,
    ids: FxHashMap<String, VarId>,
    given: FxHashMap<VarId, Span>,
    said: &'a mut Diagnostics,
}

impl Giver<'_> {
    /// `None` after an error.
    fn give(&mut self, name: &str, span: Span, value: ExprId) -> Option<()> {
        let id = self.lookup(name, span)?;
        if let Some(&earlier) = self.given.get(&id) {
            let message = format!("the input `{name}` is given twice");
            let diagnostic = Diagnostic::new(Code::DefinedTwice, message);
            (self.said).push(
                diagnostic
                    .at(span, "given again here")
                    .at(earlier, "first here"),
            );
            return None;
        }
        if self.flat.variable(id).kind != Kind::Input {
            let message = format!("`{name}` is no input of `{}`", self.flat.model());
            let diagnostic = Diagnostic::new(Code::NotAVariable, message).at(span, "not an input");
            (self.said).push(diagnostic.hint("declare it in the model: `input u`"));
            return None;
        }
        let expression = self.expression(value)?;
        let ty = self.ty(expression);
        if ty != self.flat.variable(id).ty {
            let wanted = self.flat.variable(id).ty.text();
            let message = format!(
                "the input `{name}` is {wanted}, its expression {}",
                ty.text()
            );
            let place = self.exprs.spans[value.index()];
            (self.said).push(Diagnostic::new(Code::TypeClash, message).at(place, ty.text()));
            return None;
        }
        self.given.insert(id, span);
        self.flat.variables[id.index()].kind = Kind::Algebraic;
        self.flat.values.retain(|given| given.variable != id);
        let left = self.flat.exprs.leaf(Leaf::Var(id));
        self.flat.equations.push(Equation {
            left,
            right: expression,
            origin: InstanceId::TOP,
            span,
            kind: EquationKind::Equation,
        });
        Some(())
    }

    fn lookup(&mut self, name: &str, span: Span) -> Option<VarId> {
        let found = self.ids.get(name).copied();
        if found.is_none() {
            let message = format!("there is no `{name}` in `{}`", self.flat.model());
            let diagnostic = Diagnostic::new(Code::UnknownVariable, message).at(span, "unknown");
            let mut known: Vec<&str> = self.ids.keys().map(String::as_str).collect();
            known.sort_unstable();
            self.said.push(diagnostic.suggest(name, known));
        }
        found
    }

    /// The expression in the flat model: of Time, parameters and constants.
    fn expression(&mut self, root: ExprId) -> Option<ExprId> {
        let first = self.exprs.firsts[root.index()];
        let mut new: Vec<ExprId> = Vec::new();
        for at in first..=root.0 {
            let of = |id: ExprId| new[(id.0 - first) as usize];
            let exprs = self.exprs;
            let args = |args: crate::expr::Args| -> Vec<ExprId> {
                exprs.args[args.range()].iter().map(|&id| of(id)).collect()
            };
            let span = exprs.spans[at as usize];
            let arena = &mut self.flat.exprs;
            let id = match exprs.nodes[at as usize] {
                Node::Number(value) => arena.number(value.0),
                Node::Bool(value) => arena.bool(value),
                Node::Time => arena.time(),
                Node::Unary(op, a) => arena.unary(op, of(a)),
                Node::Binary(op, a, b) => arena.binary(op, of(a), of(b)),
                Node::If(a, b, c) => arena.if_else(of(a), of(b), of(c)),
                Node::List(list) => {
                    let list = args(list);
                    arena.list(&list)
                }
                Node::Call(function, _) if function.takes_variable() => {
                    let message =
                        "an input is given by an expression of Time, parameters and constants";
                    let diagnostic = Diagnostic::new(Code::Misplaced, message);
                    self.said.push(diagnostic.at(span, "speaks of a variable"));
                    return None;
                }
                Node::Call(function, list) => {
                    let list = args(list);
                    arena.call(function, &list)
                }
                Node::Leaf(reference) => {
                    let name = path(exprs, self.names, reference);
                    let id = self.lookup(&name, span)?;
                    let kind = self.flat.variable(id).kind;
                    if !matches!(kind, Kind::Parameter | Kind::Constant) {
                        let message = format!("an input cannot depend on `{name}`");
                        let diagnostic = Diagnostic::new(Code::DependsOnVariable, message);
                        (self.said).push(
                            diagnostic
                                .at(span, "not a parameter or constant")
                                .hint("inputs are given by Time, parameters and constants"),
                        );
                        return None;
                    }
                    self.flat.exprs.leaf(Leaf::Var(id))
                }
            };
            new.push(id);
        }
        new.last().copied()
    }

    fn ty(&self, mut id: ExprId) -> Type {
        loop {
            return match self.flat.exprs.node(id) {
                Node::Bool(_) | Node::Unary(UnaryOp::Not, _) => Type::Boolean,
                Node::Binary(
                    BinaryOp::Or
                    | BinaryOp::And
                    | BinaryOp::Less
                    | BinaryOp::LessEqual
                    | BinaryOp::Greater
                    | BinaryOp::GreaterEqual
                    | BinaryOp::Equal
                    | BinaryOp::NotEqual,
                    ..,
                ) => Type::Boolean,
                Node::Call(crate::expr::Function::Sample, _) => Type::Boolean,
                Node::Leaf(leaf) => self.flat.variable(leaf.variable()).ty,
                Node::If(_, a, _) => {
                    id = a;
                    continue;
                }
                _ => Type::Real,
            };
        }
    }
}
