//! The statements of an experiment, grouped by kind.
//!
//! Before: the trees. After: [`Settings`], in which each number and the method occur at most once. Names are not looked up yet.

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::{Interner, Symbol};
use crate::base::source::Span;
use crate::expr::{ExprId, Node};
use crate::syntax::ast::{ExperimentKind, ExperimentStatement, Exprs, Name, Reference};

/// A name as written, `c[2].R1`.
#[derive(Clone, Debug)]
pub(super) struct Target<'t> {
    pub exprs: &'t Exprs,
    pub parts: Vec<(Symbol, Option<ExprId>)>,
    pub span: Span,
}

impl<'t> Target<'t> {
    pub fn new(exprs: &'t Exprs, reference: Reference) -> Self {
        let parts = exprs.parts(reference).iter();
        Target {
            exprs,
            parts: parts.map(|part| (part.name.symbol, part.index)).collect(),
            span: reference.span,
        }
    }

    fn of_name(exprs: &'t Exprs, name: Name) -> Self {
        Target {
            exprs,
            parts: vec![(name.symbol, None)],
            span: name.span,
        }
    }

    /// The name as it was written, without blanks.
    pub fn text(&self, names: &Interner) -> String {
        let mut text = String::new();
        for (at, &(name, index)) in self.parts.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "." });
            text.push_str(names.name(name));
            if let Some(index) = index {
                match self.exprs.node(index) {
                    Node::Number(value) => text.push_str(&format!("[{}]", value.0)),
                    _ => text.push_str("[...]"),
                }
            }
        }
        text
    }
}

/// `R1.R = 200`
#[derive(Clone, Debug)]
pub(super) struct Assignment<'t> {
    pub target: Target<'t>,
    pub value: ExprId,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'t> {
    pub exprs: &'t Exprs,
    pub value: ExprId,
}

impl Number<'_> {
    pub fn span(&self) -> Span {
        self.exprs.span(self.value)
    }
}

#[derive(Debug, Default)]
pub(super) struct Settings<'t> {
    pub start: Option<Number<'t>>,
    pub until: Option<Number<'t>>,
    pub points: Option<Number<'t>>,
    pub step: Option<Number<'t>>,
    pub tolerance: Option<Number<'t>>,
    pub absolute: Option<Number<'t>>,
    pub method: Option<Name>,
    pub inputs: Vec<Assignment<'t>>,
    pub parameters: Vec<Assignment<'t>>,
    pub initial: Vec<Assignment<'t>>,
    pub absolutes: Vec<Assignment<'t>>,
    pub plots: Vec<Vec<Target<'t>>>,
    /// The text of a `ctblock`.
    pub control: Option<&'t str>,
    /// The name of the first `outblock`.
    pub block: Option<Name>,
}

impl<'t> Settings<'t> {
    /// Adds the statements of a body.
    pub fn add(
        &mut self,
        exprs: &'t Exprs,
        body: &'t [ExperimentStatement],
        names: &Interner,
        diagnostics: &mut Diagnostics,
    ) {
        let assignments = |list: &[(Reference, ExprId)]| -> Vec<Assignment<'t>> {
            let assignment = |&(reference, value): &(Reference, ExprId)| Assignment {
                target: Target::new(exprs, reference),
                value,
            };
            list.iter().map(assignment).collect()
        };
        let targets = |list: &[Reference]| -> Vec<Target<'t>> {
            let target = |&reference: &Reference| Target::new(exprs, reference);
            list.iter().map(target).collect()
        };
        for statement in body {
            let (slot, value, what) = match &statement.kind {
                &ExperimentKind::Simutime(value) => (&mut self.until, value, "end time"),
                &ExperimentKind::Start(value) => (&mut self.start, value, "start time"),
                &ExperimentKind::Commupoints(value) => {
                    (&mut self.points, value, "number of points")
                }
                &ExperimentKind::Step(value) => (&mut self.step, value, "step"),
                &ExperimentKind::Tolerance(value) => (&mut self.tolerance, value, "tolerance"),
                &ExperimentKind::Absolute(None, value) => {
                    (&mut self.absolute, value, "absolute tolerance")
                }
                &ExperimentKind::Absolute(Some(reference), value) => {
                    self.absolutes.extend(assignments(&[(reference, value)]));
                    continue;
                }
                &ExperimentKind::Method(name) => {
                    if let Some(earlier) = self.method.replace(name) {
                        diagnostics.push(twice("the method", name.span, earlier.span));
                    }
                    continue;
                }
                ExperimentKind::Inputs(list) => {
                    self.inputs.extend(assignments(list));
                    continue;
                }
                ExperimentKind::Parameters(list) => {
                    self.parameters.extend(assignments(list));
                    continue;
                }
                ExperimentKind::Initial(list) => {
                    self.initial.extend(assignments(list));
                    continue;
                }
                ExperimentKind::ClassicInputs(count, list) => {
                    self.classic_inputs(exprs, *count, list, names, diagnostics);
                    continue;
                }
                ExperimentKind::Plot(list) => {
                    self.plots.push(targets(list));
                    continue;
                }
                ExperimentKind::OutBlock(name, list) => {
                    self.plots.push(targets(list));
                    self.block.get_or_insert(*name);
                    continue;
                }
                ExperimentKind::ControlBlock(text) => {
                    self.control.get_or_insert(text);
                    continue;
                }
                ExperimentKind::Error => continue,
            };
            let number = Number { exprs, value };
            if let Some(earlier) = slot.replace(number) {
                let what = format!("the {what}");
                diagnostics.push(twice(&what, number.span(), earlier.span()));
            }
        }
    }

    /// `input 2, u(independ, 10.0), v(independ, 1.0)`: the number of inputs, and a constant for each.
    fn classic_inputs(
        &mut self,
        exprs: &'t Exprs,
        count: ExprId,
        list: &[(Name, Name, ExprId)],
        names: &Interner,
        diagnostics: &mut Diagnostics,
    ) {
        let wrong = match exprs.node(count) {
            Node::Number(count) => count.0 != list.len() as f64,
            _ => true,
        };
        if wrong {
            let message = format!("the number of inputs is wrong: {} follow", list.len());
            let diagnostic = Diagnostic::new(Code::WrongSetting, message);
            diagnostics.push(diagnostic.at(exprs.span(count), "the number given here"));
        }
        for &(name, kind, value) in list {
            let word = names.name(kind.symbol);
            if word != "independ" {
                let message = format!("an input of the unknown kind `{word}`");
                let diagnostic = Diagnostic::new(Code::Syntax, message).at(kind.span, "unknown");
                diagnostics.push(diagnostic.hint("write `u(independ, 10.0)`"));
            }
            let target = Target::of_name(exprs, name);
            self.inputs.push(Assignment { target, value });
        }
    }
}

pub(super) fn twice(what: &str, span: Span, earlier: Span) -> Diagnostic {
    Diagnostic::new(Code::DefinedTwice, format!("{what} is given twice"))
        .at(span, "given again here")
        .at(earlier, "first here")
}
