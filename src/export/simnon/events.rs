//! Events in SIMNON: a discrete system that reads the continuous one, and a system that connects the two.
//!
//! The discrete system runs in each step of output, and when a sample is due. Its states are the discrete variables,
//! the truths of conditions at its last run, and the times of the next samples.

use rustc_hash::FxHashSet;

use super::super::classic::{Change, Language, Symbol, Update, real};
use super::{Simnon, Writer, became, line, zero_and_one};
use crate::expr::{BinaryOp, ExprId, Function, Node};
use crate::flat::{Kind, Leaf};

impl Writer<'_> {
    /// The variables that the discrete system needs of the continuous one.
    pub(super) fn outside(&self) -> Vec<Leaf> {
        let flat = self.model.flat;
        let mut found = Vec::new();
        for leaf in self.mentioned() {
            let kind = flat.variable(leaf.variable()).kind;
            if !matches!(kind, Kind::Parameter | Kind::Constant | Kind::Discrete) {
                found.push(leaf);
            }
        }
        found
    }

    /// The variables in updates, each once.
    fn mentioned(&self) -> Vec<Leaf> {
        let exprs = &self.model.flat.exprs;
        let mut found: Vec<Leaf> = Vec::new();
        let mut work: Vec<ExprId> = Vec::new();
        work.extend(self.model.updates.iter().map(|update| update.value));
        work.extend(self.model.conditions.iter().map(|one| one.expression));
        work.extend(self.model.samplers.iter().map(|one| one.period));
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Leaf(leaf) => match self.model.replacements.get(&leaf) {
                    Some(&expression) => work.push(expression),
                    None => found.push(leaf),
                },
                // The samplers know the times of samples.
                Node::Call(Function::Sample, _) => {}
                _ => exprs.operands(id, &mut work),
            }
        }
        found.sort_by_key(|leaf| leaf.variable());
        found
    }

    /// Which samples are due, and their next times.
    fn samples(&mut self, out: &mut String) -> Result<(), String> {
        let model = self.model;
        let ticks = self.formulas.named.ticks.clone();
        let all = model.samplers.iter().zip(&ticks);
        for ((sampler, &(due, next)), &later) in all.zip(self.later) {
            let (time, soon) = (
                self.formulas.arena.time(),
                self.formulas.soon(sampler, next),
            );
            let [zero, one] = zero_and_one(&mut self.formulas);
            let arena = &mut self.formulas.arena;
            let not_yet = arena.binary(BinaryOp::Less, time, soon);
            let is_due = arena.if_else(not_yet, zero, one);
            self.assign(due, is_due, out);
            let value = self.formulas.later(sampler, due, next)?;
            self.assign(later, value, out);
        }
        Ok(())
    }

    /// When the system runs next: in each step of output and when a sample is due; if everything waits for samples,
    /// only then.
    fn next_look(&mut self, out: &mut String) {
        let model = self.model;
        let waits = |update: &Update| update.when.is_some_and(|at| model.conditions[at].sampled);
        let watches = !model.updates.iter().all(waits);
        let mut looks: Vec<ExprId> = Vec::new();
        let arena = &mut self.formulas.arena;
        if watches {
            let (time, step) = (arena.time(), arena.leaf(self.step));
            looks.push(arena.binary(BinaryOp::Add, time, step));
        }
        looks.extend(self.later.iter().map(|&later| arena.leaf(later)));
        let first = looks.into_iter();
        let first = first.reduce(|one, other| arena.call(Function::Min, &[one, other]));
        if let Some(first) = first {
            self.put("ts", first, out);
        }
        if watches {
            out.push_str(&format!("h: {}\n", real(model.step)));
        }
    }

    pub(super) fn events(
        &mut self,
        changes: &[Change],
        system: &str,
        outside: &[Leaf],
        out: &mut String,
    ) -> Result<(), String> {
        let model = self.model;
        let new = |change: &Change| self.name(Leaf::New(change.target.variable()));
        out.push_str("\nDISCRETE SYSTEM Events\n");
        line(out, "INPUT", outside.iter().map(|&leaf| self.name(leaf)));
        let outputs = model.discretes.iter().map(|one| self.name(one.leaf));
        line(out, "OUTPUT", outputs);
        let states = (changes.iter().map(|change| self.name(change.target)))
            .chain((self.formulas.kept()).map(|(_, (_, was))| was.to_string()))
            .chain((self.formulas.ticks()).map(|(_, (_, next))| next.to_string()));
        line(out, "STATE", states);
        let names = (changes.iter().map(new))
            .chain((self.formulas.kept()).map(|(_, (now, _))| now.to_string()))
            .chain((self.later.iter()).map(|&later| self.formulas.name_of(later).to_string()));
        line(out, "NEW", names);
        out.push_str("TIME t\nTSAMP ts\n");
        self.samples(out)?;
        let edges = self.formulas.named.edges.clone();
        for (condition, &(now, _)) in model.conditions.iter().zip(&edges) {
            if condition.momentary {
                continue;
            }
            let kept = self.formulas.formula_unsampled(condition.expression)?;
            let kept = Simnon.assigned(&mut self.formulas, kept);
            self.assign(now, kept, out);
        }
        for change in changes {
            let mut made = self.formulas.arena.leaf(Symbol::Variable(change.target));
            for &at in &change.updates {
                let update = &model.updates[at];
                let value = self.formulas.value(update.value)?;
                made = match update.when {
                    None => value,
                    Some(when) => {
                        let acts = self.acts(when, &edges)?;
                        Simnon.choice(&mut self.formulas, acts, value, made)
                    }
                };
            }
            self.put(&self.name(Leaf::New(change.target.variable())), made, out);
        }
        self.next_look(out);
        for one in &model.discretes {
            out.push_str(&format!(
                "{}: {}\n",
                self.name(one.leaf),
                real(one.value.number())
            ));
        }
        for (condition, (_, was)) in self.formulas.kept() {
            out.push_str(&format!("{was}: {}\n", u8::from(condition.holds)));
        }
        for (sampler, (_, next)) in self.formulas.ticks() {
            out.push_str(&format!("{next}: {}\n", real(sampler.next)));
        }
        let flat = model.flat;
        for leaf in self.mentioned() {
            if matches!(
                flat.variable(leaf.variable()).kind,
                Kind::Parameter | Kind::Constant
            ) {
                out.push_str(&self.parameter(leaf.variable()));
            }
        }
        out.push_str("END\n\nCONNECTING SYSTEM Connect\n");
        for &leaf in outside {
            let name = self.name(leaf);
            out.push_str(&format!("{name}[Events] = {name}[{system}]\n"));
        }
        for one in &model.discretes {
            let name = self.name(one.leaf);
            out.push_str(&format!("{name}[{system}] = {name}[Events]\n"));
        }
        out.push_str("END\n");
        Ok(())
    }

    /// Whether a condition has become true, and no earlier one holds.
    fn acts(&mut self, when: usize, edges: &[(Symbol, Symbol)]) -> Result<ExprId, String> {
        let model = self.model;
        let formulas = &mut self.formulas;
        let condition = &model.conditions[when];
        let mut acts = formulas.formula(condition.expression)?;
        if !condition.momentary {
            acts = became(formulas, acts, edges[when].1);
        }
        for &earlier in &condition.earlier {
            let holds = formulas.formula(model.conditions[earlier].expression)?;
            let not = Simnon.not(formulas, holds);
            acts = Simnon.logic(formulas, BinaryOp::And, acts, not);
        }
        Ok(acts)
    }
}
