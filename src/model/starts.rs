//! Start values: `ic` of submodels and `init` outside `when`.
//!
//! The value of the outermost model holds; two values from the same model are an error.

use super::class::{self, Class, Slot};
use super::flatten::Flattener;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::{ExprId, Function, Node};
use crate::flat::{Given, Kind, VarId};

#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) depth: u32,
    pub(super) span: Span,
    /// The `init` equation that gives it; `ic` makes none.
    pub(super) equation: Option<usize>,
    /// The value, where it is known before the start.
    pub(super) given: Option<Given>,
}

impl<'c> Flattener<'_, 'c> {
    /// The value in `init(x) = v` outside a `when`, where v is known before the start.
    pub(super) fn init_value(
        &mut self,
        instance: u32,
        variable: VarId,
        equation: &class::Equation,
        expression: ExprId,
    ) -> Option<Given> {
        let code = &self.tree.class(instance).code;
        let first = code.firsts[equation.right.index()];
        let known = (first..=equation.right.0).all(|at| match code.nodes[at as usize] {
            Node::Time => false,
            Node::Call(function, _) => !function.takes_variable() && function != Function::Sample,
            _ => true,
        });
        let fixed = (first..=equation.right.0).all(|at| {
            let id = self.exprs[(at - equation.first) as usize];
            match (code.numeric[at as usize], code.nodes[at as usize]) {
                (false, Node::Leaf(Slot::Own { .. } | Slot::Deep(_))) => {
                    matches!(self.parts.exprs.node(id), Node::Leaf(leaf)
                        if matches!(self.parts.variables[leaf.variable().index()].kind,
                            Kind::Parameter | Kind::Constant))
                }
                _ => true,
            }
        });
        if !(known && fixed) {
            return None;
        }
        let value = self.tree.value(instance, equation.right, &self.loops)?;
        Some(Given {
            variable,
            value,
            expression,
            span: equation.span,
            depth: 0,
        })
    }

    pub(super) fn initial_settings(&mut self, instance: u32, class: &'c Class) -> Option<()> {
        for (slot, submodel) in class.submodels.iter().enumerate() {
            let run = self.tree.child(instance, slot as u32)?;
            for inner in run.first..run.first + run.size {
                for setting in &submodel.initial {
                    let variable = self.inner_variable(instance, inner, setting)?;
                    let given = self.given(variable, instance, setting.value, 0)?;
                    let span = setting.span;
                    let given = Given { span, ..given };
                    self.start(instance, given.variable, Some(given), None, span);
                }
            }
        }
        Some(())
    }

    pub(super) fn inner_variable(
        &mut self,
        outer: u32,
        inner: u32,
        setting: &'c class::InitialSetting,
    ) -> Option<u32> {
        // Indices are expressions of the outer model; the path leads through the inner one.
        let class = self.tree.class(outer);
        let deep = &class.code.deep[setting.target as usize];
        let mut at = inner;
        for &(step, index) in &deep.steps {
            let run = self.tree.child(at, step)?;
            at = run.first + self.index(outer, index, run.size, setting.span)?;
        }
        let run = self.tree.slot(at, deep.slot)?;
        Some(run.first + self.index(outer, deep.index, run.size, setting.span)?)
    }

    pub(super) fn index(
        &mut self,
        instance: u32,
        index: Option<ExprId>,
        size: u32,
        span: Span,
    ) -> Option<u32> {
        let Some(index) = index else { return Some(0) };
        let value = self.tree.shaping_value(instance, index, &[])?;
        self.tree.element(value, size, span)
    }

    /// Keeps the start value of the outermost model; two values from the same model are an error.
    pub(super) fn start(
        &mut self,
        instance: u32,
        variable: VarId,
        given: Option<Given>,
        equation: Option<usize>,
        span: Span,
    ) {
        let mut depth = Given::IN_MODEL;
        let mut at = instance;
        while at != 0 {
            at = self.tree.instances[at as usize].parent;
            depth += 1;
        }
        let new = Start {
            depth,
            span,
            equation,
            given: given.map(|given| Given { depth, ..given }),
        };
        match self.starts.get(&variable) {
            Some(known) if known.depth == depth => {
                let earlier = known.span;
                let name = self.tree.variable_name(variable.0);
                self.tree.diagnostics.push(
                    Diagnostic::new(
                        Code::DefinedTwice,
                        format!("`{name}` is given two start values"),
                    )
                    .at(span, "given again here")
                    .at(earlier, "first here"),
                );
            }
            Some(known) if known.depth < depth => self.overruled.extend(equation),
            _ => {
                let inner = self.starts.insert(variable, new);
                self.overruled
                    .extend(inner.and_then(|start| start.equation));
            }
        }
    }

    pub(super) fn finish_starts(&mut self) {
        let mut starts: Vec<Given> = self
            .starts
            .values()
            .filter_map(|start| start.given)
            .collect();
        starts.sort_by_key(|given| given.variable);
        self.parts.starts = starts;
    }
}
