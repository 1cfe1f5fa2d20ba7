//! Updates at events as statements one after the other.
//!
//! Before: the updates of the model, which are simultaneous. After: samples that are due, then two stages. In the
//! first, discrete variables take their next values. In the second, conditions that have become true act, the first
//! branch of a `when` before the others. If a stage changes several variables, all new values are computed before any
//! variable changes.

use rustc_hash::FxHashSet;

use super::names::Names;
use super::text::{Dialect, arithmetic, number, text, text_unsampled};
use super::{Classic, Condition, Started, Update};
use crate::evaluate::{Point, Walk};
use crate::expr::print::Text;
use crate::expr::{BinaryOp, ExprId, Function, Node, Value};
use crate::flat::{EquationKind, Leaf, WhenId};

/// All updates of one variable in a stage, as indices into [`Classic::updates`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub target: Leaf,
    pub updates: Vec<usize>,
}

/// Names for what a program remembers between events.
#[derive(Clone, Debug, Default)]
pub struct Happening {
    /// By condition: its truth now and before.
    pub edges: Vec<(String, String)>,
    /// By sampler: whether it is due, and its next time.
    pub ticks: Vec<(String, String)>,
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
        let exprs = &self.flat.exprs;
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match exprs.node(id) {
                Node::Call(Function::Sample, _) => return true,
                Node::Leaf(leaf) => work.extend(self.gone.get(&leaf)),
                _ => exprs.operands(id, &mut work),
            }
        }
        false
    }

    /// Whether it is a sample, or a sample and another condition.
    fn is_momentary(&self, root: ExprId) -> bool {
        let exprs = &self.flat.exprs;
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match exprs.node(id) {
                Node::Call(Function::Sample, _) => return true,
                Node::Leaf(leaf) => work.extend(self.gone.get(&leaf)),
                Node::Binary(BinaryOp::And, a, b) => work.extend([a, b]),
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
            work.extend(self.gone.get(&leaf));
            if !matches!(leaf, Leaf::Der(..)) && found.insert(of) {
                let always = self.updates.iter().filter(|one| one.when.is_none());
                work.extend(always.filter(|one| one.target == of).map(|one| one.value));
            }
        }
        found
    }

    /// The conditions whose truth is kept, each with its name.
    pub fn kept<'c>(
        &'c self,
        named: &'c Happening,
    ) -> impl Iterator<Item = (&'c Condition, &'c (String, String))> {
        let pairs = self.conditions.iter().zip(&named.edges);
        pairs.filter(|(condition, _)| !condition.momentary)
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

    /// Names new values if they need a name, and everything that is remembered.
    pub fn name_events(&self, names: &mut Names) -> Happening {
        // Conditions that read new values are evaluated when these are known and not yet assigned.
        let late = self
            .conditions
            .iter()
            .any(|one| one.sampled && !one.momentary);
        for stage in self.stages() {
            for change in &stage {
                let id = change.target.variable();
                match &stage[..] {
                    [only] if only.updates.len() == 1 && !late => {
                        names.share(Leaf::New(id), change.target);
                    }
                    _ => names.add_as(Leaf::New(id), &format!("n{}", self.flat.name(id))),
                }
            }
        }
        Happening {
            edges: (self.conditions.iter())
                .map(|_| (names.fresh("edge"), names.fresh("was")))
                .collect(),
            ticks: (self.samplers.iter())
                .map(|_| (names.fresh("due"), names.fresh("tnext")))
                .collect(),
        }
    }

    /// The statements alone. `becomes` writes that a truth holds now and did not hold before.
    pub fn event_lines<D: Dialect>(
        &self,
        dialect: &D,
        language: &str,
        named: &Happening,
        becomes: &dyn Fn(&str, &str) -> Text,
    ) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for (sampler, (due, next)) in self.samplers.iter().zip(&named.ticks) {
            let next = Text::atom(next);
            let period = text(self, dialect, language, sampler.period)?;
            let soon = arithmetic(BinaryOp::Sub, &next, &number(SOON * sampler.seconds));
            let reached = dialect.relation(BinaryOp::GreaterEqual, &dialect.time(), &soon);
            lines.push(format!("{due} = {}", reached.text));
            let later = arithmetic(BinaryOp::Add, &next, &period);
            let later = dialect.choice(&Text::atom(due), &later, &next);
            lines.push(format!("{} = {}", next.text, later.text));
        }
        let [always, sometimes] = self.stages();
        for change in &always {
            let new = dialect.leaf(Leaf::New(change.target.variable())).text;
            for &at in &change.updates {
                let value = text(self, dialect, language, self.updates[at].value)?;
                lines.push(format!("{new} = {}", value.text));
            }
        }
        take(dialect, &always, &mut lines);
        for (condition, (edge, _)) in self.conditions.iter().zip(&named.edges) {
            let now = text(self, dialect, language, condition.expression)?;
            lines.push(format!("{edge} = {}", now.text));
        }
        for change in &sometimes {
            let target = dialect.leaf(change.target).text;
            let new = dialect.leaf(Leaf::New(change.target.variable())).text;
            let mut old = Text::atom(&target);
            for &at in &change.updates {
                let update = &self.updates[at];
                let Some(when) = update.when else {
                    continue;
                };
                let value = text(self, dialect, language, update.value)?;
                let (edge, was) = &named.edges[when];
                let mut acts = match self.conditions[when].momentary {
                    true => Text::atom(edge),
                    false => becomes(edge, was),
                };
                for &earlier in &self.conditions[when].earlier {
                    let not = dialect.not(&Text::atom(&named.edges[earlier].0));
                    acts = dialect.logic(true, &acts, &not);
                }
                let value = match self.flat.is_boolean(update.value) {
                    true => dialect.choice_of_truth(&acts, &value, &old),
                    false => dialect.choice(&acts, &value, &old),
                };
                lines.push(format!("{new} = {}", value.text));
                old = Text::atom(&new);
            }
        }
        for (condition, (edge, was)) in self.kept(named) {
            let kept = match condition.sampled {
                true => text_unsampled(self, dialect, language, condition.expression)?.text,
                false => edge.clone(),
            };
            lines.push(format!("{was} = {kept}"));
        }
        take(dialect, &sometimes, &mut lines);
        Ok(lines)
    }
}

/// Assigns the new values.
fn take<D: Dialect>(dialect: &D, stage: &[Change], lines: &mut Vec<String>) {
    for change in stage {
        let target = dialect.leaf(change.target).text;
        let new = dialect.leaf(Leaf::New(change.target.variable())).text;
        if new != target {
            lines.push(format!("{target} = {new}"));
        }
    }
}
