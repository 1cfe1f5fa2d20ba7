//! Finds the parameters, inputs and samples that a program needs.
//!
//! Before: states, updates and conditions. After: the parameters, constants and inputs that they contain, and their
//! samplers. A `sample` is true for a moment, so it is allowed only in conditions and next values.

use rustc_hash::FxHashSet;

use super::{Classic, Sampler};
use crate::evaluate::constant;
use crate::expr::{ExprId, Function, Node};
use crate::flat::{Kind, Leaf};
use crate::passes::blocks::{Assignment, Solved};

impl Classic<'_> {
    /// Finds everything that formulas contain.
    pub(super) fn mention(&mut self, solved: &Solved, language: &str) -> Result<(), String> {
        let is_new = |one: &&Assignment| matches!(one.target, Leaf::New(_));
        let (new, other): (Vec<&Assignment>, Vec<&Assignment>) =
            solved.assignments().partition(is_new);
        let mut work: Vec<ExprId> = other.iter().map(|one| one.value).collect();
        let shown = self.shown.iter().flatten().copied();
        let rates = self.states.iter().map(|one| one.leaf.rate());
        work.extend(
            shown
                .chain(rates)
                .filter_map(|leaf| self.replacements.get(&leaf)),
        );
        self.collect(work, false, language)?;
        let mut work: Vec<ExprId> = new.iter().map(|one| one.value).collect();
        work.extend(self.updates.iter().map(|update| update.value));
        work.extend(self.conditions.iter().map(|one| one.expression));
        self.collect(work, true, language)?;
        self.samplers.sort_unstable_by_key(|one| one.node);
        Ok(())
    }

    /// Visits expressions; `sample` is allowed in some of them only.
    fn collect(
        &mut self,
        mut work: Vec<ExprId>,
        samples: bool,
        language: &str,
    ) -> Result<(), String> {
        let flat = self.flat;
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match flat.exprs.node(id) {
                Node::Leaf(leaf @ Leaf::Init(_)) => {
                    let name = flat.leaf_name(leaf);
                    return Err(format!("{language} programs have no `{name}`"));
                }
                Node::Leaf(leaf) => {
                    self.used.insert(leaf);
                    work.extend(self.replacements.get(&leaf));
                }
                Node::Call(Function::Sample, _) if !samples => {
                    return Err(format!(
                        "{language} programs have `sample` at events only: it is true for a moment"
                    ));
                }
                Node::Call(Function::Sample, args) => {
                    let (first, period) = (flat.exprs.args(args)[0], flat.exprs.args(args)[1]);
                    let sampler = self.sampler(id, first, period).ok_or_else(|| {
                        let text = flat.expression(id);
                        format!("{language} programs need fixed times for `{text}`, and a period above zero")
                    })?;
                    self.samplers.push(sampler);
                    work.push(period);
                }
                _ => flat.exprs.operands(id, &mut work),
            }
        }
        Ok(())
    }

    /// A sample at the start has acted already, so the next time comes after the start.
    fn sampler(&self, node: ExprId, first: ExprId, period: ExprId) -> Option<Sampler> {
        let seconds = constant(self.flat, period).filter(|&seconds| seconds > 0.0)?;
        let first = constant(self.flat, first)?;
        let passed = ((self.start - first) / seconds + 1e-9).floor() + 1.0;
        Some(Sampler {
            node,
            period,
            seconds,
            next: first + passed.max(0.0) * seconds,
        })
    }

    /// Parameters, constants and inputs.
    pub(super) fn known(&mut self, language: &str) -> Result<(), String> {
        let flat = self.flat;
        let found = std::mem::take(&mut self.used);
        for id in flat.variable_ids() {
            match flat.variable(id).kind {
                Kind::Parameter | Kind::Constant if found.contains(&Leaf::Var(id)) => {
                    self.parameters.push(id);
                }
                Kind::Input => {
                    let Some(value) = flat.value(id) else {
                        return Err(format!(
                            "{language} programs need the input `{}`: an experiment with `input {} = ...`",
                            flat.name(id),
                            flat.name(id)
                        ));
                    };
                    let number = value.value.number();
                    self.inputs.push((Leaf::Var(id), number));
                    let rates =
                        (1..=flat.variable(id).order).map(|order| Leaf::at_order(id, order));
                    let needed = rates.filter(|leaf| found.contains(leaf));
                    self.inputs.extend(needed.map(|leaf| (leaf, 0.0)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
