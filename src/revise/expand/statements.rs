//! Writes the statements of an expanded model: equations, `when` blocks, start values, state preferences, and its
//! experiments.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Writer;
use crate::evaluate::leaves;
use crate::flat::{EquationKind, Leaf, Role, VarId, WhenId};
use crate::revise::edit::Edits;
use crate::revise::script::Script;
use crate::syntax::ast::{ExperimentKind, StatementKind};

impl Writer<'_> {
    /// Writes equations of expanded submodels, and couplings of variables that belong to no cut.
    pub(super) fn equations(&mut self) {
        let flat = self.flat;
        let mut whens: BTreeMap<WhenId, Vec<(u16, String)>> = BTreeMap::new();
        for equation in &flat.equations {
            let sides = format!(
                "{} = {}",
                self.text(equation.left),
                self.text(equation.right)
            );
            let opened = self.opened[equation.origin.index()];
            let of_cuts = || {
                let all = [equation.left, equation.right]
                    .map(|id| leaves(&flat.exprs, id))
                    .concat();
                all.iter().all(|leaf| {
                    let role = flat.declaration(leaf.variable()).role;
                    matches!(role, Role::Across | Role::Through | Role::Both)
                })
            };
            match equation.kind {
                EquationKind::Equation | EquationKind::New | EquationKind::Init if opened => {
                    self.lines.push(sides);
                }
                EquationKind::Coupling | EquationKind::Sum if !of_cuts() => self.lines.push(sides),
                EquationKind::When(id, branch) if opened => {
                    whens.entry(id).or_default().push((branch, sides));
                }
                _ => {}
            }
        }
        for (id, equations) in whens {
            let when = &flat.whens[id.index()];
            for (branch, &(condition, _)) in when.conditions.iter().enumerate() {
                let word = if branch == 0 { "when" } else { "elsewhen" };
                self.lines
                    .push(format!("{word} {} then", self.text(condition)));
                let own = equations
                    .iter()
                    .filter(|(of, _)| usize::from(*of) == branch);
                let own: Vec<String> = own.map(|(_, line)| format!("  {line}")).collect();
                self.lines.extend(own);
            }
            self.lines.push("endwhen".to_string());
        }
        // Start values of variables that now belong to no element.
        let written: FxHashSet<VarId> = (flat.equations.iter())
            .filter(|equation| equation.kind == EquationKind::Init)
            .flat_map(|equation| leaves(&flat.exprs, equation.left))
            .map(Leaf::variable)
            .collect();
        for given in &flat.starts {
            let instance = flat.variable(given.variable).instance;
            if self.opened[instance.index()] && !written.contains(&given.variable) {
                let line = format!(
                    "init({}) = {}",
                    self.variable(given.variable),
                    self.text(given.expression)
                );
                self.lines.push(line);
            }
        }
    }

    /// Writes the state preferences of the model itself.
    pub(super) fn wishes(&mut self, script: &Script) {
        let known = self.known();
        for statement in script.body() {
            if let StatementKind::Wishes { keep, variables } = &statement.kind {
                let word = if *keep { "state" } else { "nostate" };
                for &reference in variables {
                    if let Some(&id) = script
                        .reference(reference)
                        .and_then(|name| known.get(&name))
                    {
                        self.lines.push(format!("{word} {}", self.variable(id)));
                    }
                }
            }
        }
    }

    /// Renames variables in experiments.
    pub(super) fn experiments(&self, script: &Script, edits: &mut Edits) {
        let known = self.known();
        let Some(model) = script.model().map(|model| model.span.range()) else {
            return;
        };
        let mut places: Vec<_> = (script.references().into_iter())
            .filter(|(_, span)| {
                !(model.start <= span.range().start && span.range().end <= model.end)
            })
            .collect();
        for statement in script.experiments().flat_map(|one| &one.body) {
            match &statement.kind {
                ExperimentKind::Plot(list) | ExperimentKind::OutBlock(_, list) => {
                    places.extend(list.iter().map(|one| (*one, one.span)));
                }
                ExperimentKind::Parameters(list) | ExperimentKind::Initial(list) => {
                    places.extend(list.iter().map(|(one, _)| (*one, one.span)));
                }
                ExperimentKind::Absolute(Some(one), _) => places.push((*one, one.span)),
                _ => {}
            }
        }
        for (reference, span) in places {
            if let Some(&id) = script
                .reference(reference)
                .and_then(|name| known.get(&name))
            {
                edits.replace(span.range(), self.variable(id));
            }
        }
    }
}
