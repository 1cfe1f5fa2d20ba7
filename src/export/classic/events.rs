//! Updates at events as statements one after the other.
//!
//! Before: the updates of the model, which are simultaneous. After: samples that are due, then two stages. In the
//! first, discrete variables take their next values. In the second, conditions that have become true act, the first
//! branch of a `when` before the others. If a stage changes several variables, all new values are computed before any
//! variable changes.

use rustc_hash::FxHashSet;

use super::{Classic, Condition, Formulas, Sampler, Started, Symbol, Update};
use crate::evaluate::{Point, Walk};
use crate::expr::{BinaryOp, ExprId, Function, Node, Value};
use crate::flat::{EquationKind, Leaf, WhenId};

/// All updates of one variable in a stage, as indices into [`Classic::updates`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub target: Leaf,
    pub updates: Vec<usize>,
}

/// What a program remembers between events.
#[derive(Clone, Debug, Default)]
pub struct Happening {
    /// By condition: its truth now and before.
    pub edges: Vec<(Symbol, Symbol)>,
    /// By sampler: whether it is due, and its next time.
    pub ticks: Vec<(Symbol, Symbol)>,
}

/// A sample counts as due if it is early by at most this part of the period.
const SOON: f64 = 1e-6;

impl Classic<'_> {
    /// Collects the updates of `when`s.
    pub(super) fn events(&mut self, point: &Point, language: &str) -> Result<(), String> {
        let flat = self.flat;
        let mut known: Vec<(WhenId, u16)> = Vec::new();
        for equation in &flat.equations {
            let EquationKind::When(when, branch) = equation.kind else {
                continue;
            };
            let target = match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::New(id) | Leaf::Init(id)) => Leaf::Var(id),
                _ => continue,
            };
            let is_in = |list: &[Started]| list.iter().any(|one| one.leaf == target);
            if !is_in(&self.states) && !is_in(&self.discretes) {
                return Err(format!(
                    "{language} programs cannot set `{}` at events: it is no state",
                    flat.leaf_name(target)
                ));
            }
            let mut earlier = Vec::new();
            for branch in 0..=branch {
                let at = match known.iter().position(|&one| one == (when, branch)) {
                    Some(at) => at,
                    None => {
                        let conditions = &flat.whens[when.index()].conditions;
                        let Some(&(expression, _)) = conditions.get(usize::from(branch)) else {
                            continue;
                        };
                        known.push((when, branch));
                        let truth = point.value(&flat.exprs, expression, &mut Walk::default());
                        self.conditions.push(Condition {
                            expression,
                            holds: truth == Ok(Value::Bool(true)),
                            earlier: earlier.clone(),
                            sampled: self.is_sampled(expression),
                            momentary: self.is_momentary(expression),
                        });
                        self.conditions.len() - 1
                    }
                };
                earlier.push(at);
            }
            self.updates.push(Update {
                target,
                value: equation.right,
                when: earlier.last().copied(),
            });
        }
        Ok(())
    }

    fn is_sampled(&self, root: ExprId) -> bool {
        self.has_sample(root, |_| true)
    }

    /// Whether it is a sample, or a sample and another condition.
    fn is_momentary(&self, root: ExprId) -> bool {
        self.has_sample(root, |node| matches!(node, Node::Binary(BinaryOp::And, ..)))
    }

    /// Whether there is a sample among the operands of nodes that are to be opened.
    fn has_sample(&self, root: ExprId, opens: impl Fn(Node<Leaf>) -> bool) -> bool {
        let exprs = &self.flat.exprs;
        let mut work = vec![root];
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::Call(Function::Sample, _) => return true,
                Node::Leaf(leaf) => work.extend(self.replacements.get(&leaf)),
                node if opens(node) => exprs.operands(id, &mut work),
                _ => {}
            }
        }
        false
    }

    /// Removes conditions and samplers that no update uses.
    pub fn forget_unused(&mut self) {
        let mut used = vec![false; self.conditions.len()];
        for when in self.updates.iter().filter_map(|update| update.when) {
            used[when] = true;
            for &earlier in &self.conditions[when].earlier {
                used[earlier] = true;
            }
        }
        let new: Vec<usize> = (0..used.len())
            .map(|at| used[..at].iter().filter(|used| **used).count())
            .collect();
        let all = std::mem::take(&mut self.conditions);
        let kept = all.into_iter().zip(&used).filter(|(_, used)| **used);
        self.conditions = kept.map(|(condition, _)| condition).collect();
        for earlier in self.conditions.iter_mut().flat_map(|one| &mut one.earlier) {
            *earlier = new[*earlier];
        }
        for when in self.updates.iter_mut().filter_map(|one| one.when.as_mut()) {
            *when = new[*when];
        }
        if self.updates.is_empty() {
            self.samplers.clear();
        }
    }

    /// How often the statements have to run at one event until every condition has been evaluated with the new values
    /// of others. If they depend on each other in a cycle, once more.
    pub fn rounds(&self) -> usize {
        const MOST: usize = 4;
        let unconditional = self.updates.iter().filter(|update| update.when.is_none());
        let readers: Vec<FxHashSet<Leaf>> = (self.conditions.iter())
            .map(|one| self.reads(one.expression))
            .chain(unconditional.map(|update| self.reads(update.value)))
            .collect();
        // Which changes reach which condition, directly or through others.
        let mut seen = vec![vec![false; readers.len()]; self.conditions.len()];
        for update in &self.updates {
            for (at, reads) in readers.iter().enumerate() {
                if let Some(when) = update.when {
                    seen[when][at] |= reads.contains(&update.target);
                }
            }
        }
        for by in 0..seen.len() {
            let further = seen[by].clone();
            for sees in seen.iter_mut().filter(|sees| sees[by]) {
                for (sees, further) in sees.iter_mut().zip(&further) {
                    *sees |= further;
                }
            }
        }
        let mut rounds = vec![1; readers.len()];
        for _ in 0..MOST {
            for (from, sees) in seen.iter().enumerate() {
                for at in 0..readers.len() {
                    // Conditions in a cycle depend on each other, so each has to run before the other.
                    let back = seen.get(at).is_some_and(|sees| sees[from]);
                    if sees[at] && !back {
                        rounds[at] = (rounds[from] + 1).max(rounds[at]);
                    }
                }
            }
        }
        let circle = |at: usize| seen.get(at).is_some_and(|sees| sees[at]);
        let all = rounds.iter().enumerate();
        let most = all
            .map(|(at, &rounds)| rounds + usize::from(circle(at)))
            .max();
        most.unwrap_or(1).min(MOST)
    }

    /// The variables in an expression that events change, also through assignments.
    fn reads(&self, root: ExprId) -> FxHashSet<Leaf> {
        let exprs = &self.flat.exprs;
        let mut found = FxHashSet::default();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            let Node::Leaf(leaf) = exprs.node(id) else {
                exprs.operands(id, &mut work);
                continue;
            };
            let of = Leaf::Var(leaf.variable());
            work.extend(self.replacements.get(&leaf));
            if !matches!(leaf, Leaf::Der(..)) && found.insert(of) {
                let always = self.updates.iter().filter(|one| one.when.is_none());
                work.extend(always.filter(|one| one.target == of).map(|one| one.value));
            }
        }
        found
    }

    /// The two stages, each by variable.
    pub fn stages(&self) -> [Vec<Change>; 2] {
        let mut stages = [Vec::new(), Vec::new()];
        for (at, update) in self.updates.iter().enumerate() {
            let stage: &mut Vec<Change> = &mut stages[usize::from(update.when.is_some())];
            match stage
                .iter_mut()
                .find(|change| change.target == update.target)
            {
                Some(change) => change.updates.push(at),
                None => stage.push(Change {
                    target: update.target,
                    updates: vec![at],
                }),
            }
        }
        stages
    }
}

impl<'m> Formulas<'m> {
    /// The conditions whose truth is kept, each with the names of its truth now and before.
    pub fn kept(&self) -> impl Iterator<Item = (&'m Condition, (&str, &str))> {
        let pairs = self.model.conditions.iter().zip(&self.named.edges);
        pairs
            .filter(|(condition, _)| !condition.momentary)
            .map(|(condition, &(now, was))| (condition, (self.name_of(now), self.name_of(was))))
    }

    /// The samplers, each with the names of its truth and its next time.
    pub fn ticks(&self) -> impl Iterator<Item = (&'m Sampler, (&str, &str))> {
        (self.model.samplers.iter())
            .zip(&self.named.ticks)
            .map(|(sampler, &(due, next))| (sampler, (self.name_of(due), self.name_of(next))))
    }

    /// Names everything that is remembered.
    pub fn name_memory(&mut self, now: &str, before: &str) {
        let model = self.model;
        for condition in &model.conditions {
            // A momentary condition is never kept, so nothing declares its truth before.
            let edge = (self.own(now, true), self.own(before, !condition.momentary));
            self.named.edges.push(edge);
        }
        for _ in &model.samplers {
            let tick = (self.own("due", true), self.own("tnext", false));
            self.named.ticks.push(tick);
        }
    }

    /// Names new values if they need a name, and everything that is remembered.
    pub fn name_events(&mut self) {
        let model = self.model;
        // Conditions that read new values are evaluated when these are known and not yet assigned.
        let late = (model.conditions.iter()).any(|one| one.sampled && !one.momentary);
        for stage in model.stages() {
            for change in &stage {
                let id = change.target.variable();
                match &stage[..] {
                    [only] if only.updates.len() == 1 && !late => {
                        self.names.share(Leaf::New(id), change.target);
                    }
                    _ => {
                        let wanted = format!("n{}", model.flat.name(id));
                        self.names.add_as(Leaf::New(id), &wanted);
                    }
                }
            }
        }
        self.name_memory("edge", "was");
    }

    /// The first moment at which a sample counts as due.
    pub fn soon(&mut self, sampler: &Sampler, next: Symbol) -> ExprId {
        let (next, early) = (self.arena.leaf(next), SOON * sampler.seconds);
        let early = self.arena.number(early);
        self.arena.binary(BinaryOp::Sub, next, early)
    }

    /// The time of the sample after this one, if it is due.
    pub fn later(
        &mut self,
        sampler: &Sampler,
        due: Symbol,
        next: Symbol,
    ) -> Result<ExprId, String> {
        let period = self.formula(sampler.period)?;
        let next = self.arena.leaf(next);
        let later = self.arena.binary(BinaryOp::Add, next, period);
        let due = self.language.truth_of(self, due);
        Ok(self.language.choice(self, due, later, next))
    }

    /// The statements of all updates.
    pub fn event_lines(&mut self) -> Result<Vec<String>, String> {
        let (model, language) = (self.model, self.language);
        let Happening { edges, ticks } = self.named.clone();
        let mut lines = Vec::new();
        for (sampler, &(due, next)) in model.samplers.iter().zip(&ticks) {
            let (time, soon) = (self.arena.time(), self.soon(sampler, next));
            let reached = language.relation(self, BinaryOp::GreaterEqual, time, soon);
            self.assign(due, reached, &mut lines);
            let later = self.later(sampler, due, next)?;
            self.assign(next, later, &mut lines);
        }
        let [always, sometimes] = model.stages();
        for change in &always {
            let new = Symbol::Variable(Leaf::New(change.target.variable()));
            for &at in &change.updates {
                let value = self.formula(model.updates[at].value)?;
                self.assign(new, value, &mut lines);
            }
        }
        self.assign_new(&always, &mut lines);
        for (condition, &(now, _)) in model.conditions.iter().zip(&edges) {
            let truth = self.formula(condition.expression)?;
            self.assign(now, truth, &mut lines);
        }
        for change in &sometimes {
            let new = Symbol::Variable(Leaf::New(change.target.variable()));
            let mut old = self.variable(change.target);
            for &at in &change.updates {
                let update = &model.updates[at];
                let Some(when) = update.when else {
                    continue;
                };
                let value = self.formula(update.value)?;
                let acts = self.acts(when);
                let value = match model.flat.is_boolean(update.value) {
                    true => language.choice_of_truth(self, acts, value, old),
                    false => language.choice(self, acts, value, old),
                };
                self.assign(new, value, &mut lines);
                old = self.arena.leaf(new);
            }
        }
        for (condition, &(now, was)) in model.conditions.iter().zip(&edges) {
            if condition.momentary {
                continue;
            }
            let kept = match condition.sampled {
                true => self.formula_unsampled(condition.expression)?,
                false => self.arena.leaf(now),
            };
            self.assign(was, kept, &mut lines);
        }
        self.assign_new(&sometimes, &mut lines);
        Ok(lines)
    }

    /// Whether a condition has become true, and no earlier one holds.
    fn acts(&mut self, when: usize) -> ExprId {
        let (model, language) = (self.model, self.language);
        let condition = &model.conditions[when];
        let (now, was) = self.named.edges[when];
        let mut acts = match condition.momentary {
            true => language.truth_of(self, now),
            false => language.becomes(self, now, was),
        };
        for &earlier in &condition.earlier {
            let holds = language.truth_of(self, self.named.edges[earlier].0);
            let not = language.not(self, holds);
            acts = language.logic(self, BinaryOp::And, acts, not);
        }
        acts
    }

    fn assign(&mut self, target: Symbol, value: ExprId, lines: &mut Vec<String>) {
        let name = self.name_of(target).to_string();
        lines.extend(self.assignment(&name, value));
    }

    /// Assigns the new values.
    fn assign_new(&self, stage: &[Change], lines: &mut Vec<String>) {
        for change in stage {
            let target = self.names.get(change.target);
            let new = self.names.get(Leaf::New(change.target.variable()));
            if new != target {
                lines.push(format!("{target} = {new}"));
            }
        }
    }
}
