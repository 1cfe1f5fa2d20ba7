//! What happens at events, as statements one after the other.
//!
//! Before: updates as the model has them, all at once. After: two stages. In the first discrete variables take their next
//! values, in the second what waits for a condition to become true happens. Where a stage changes several variables, all new
//! values are computed before any is taken.

use super::names::Names;
use super::text::{Dialect, Text, is_truth, text};
use super::{Classic, Started, Update};
use crate::evaluate::{Point, Walk};
use crate::expr::{Node, Value};
use crate::flat::{EquationKind, Leaf};

/// All that happens to one variable in a stage: places in [`Classic::updates`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub target: Leaf,
    pub updates: Vec<usize>,
}

/// Names for the truth of conditions, now and before, by update.
pub type Edges = Vec<(String, String)>;

impl Classic<'_> {
    /// What `when`s do.
    pub(super) fn events(&mut self, point: &Point, language: &str) -> Result<(), String> {
        let flat = self.flat;
        let mut walk = Walk::default();
        for equation in &flat.equations {
            let EquationKind::When(when, branch) = equation.kind else {
                continue;
            };
            let target = match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::New(id) | Leaf::Init(id)) => Leaf::Var(id),
                _ => continue,
            };
            let known = |list: &[Started]| list.iter().any(|one| one.leaf == target);
            if !known(&self.states) && !known(&self.discretes) {
                return Err(format!(
                    "{language} programs cannot set `{}` at events: it is no state",
                    flat.leaf_name(target)
                ));
            }
            let conditions = &flat.whens[when.index()].conditions;
            if branch > 0 {
                return Err(format!(
                    "{language} programs have no `elsewhen`, which sets `{}`",
                    flat.leaf_name(target)
                ));
            }
            let when = conditions.first().map(|&(condition, _)| condition);
            let truth = when.and_then(|when| point.value(&flat.exprs, when, &mut walk).ok());
            self.updates.push(Update {
                target,
                value: equation.right,
                when,
                holds: truth == Some(Value::Bool(true)),
            });
        }
        Ok(())
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

    /// Names new values, where they need a name of their own, and the truths of conditions.
    pub fn name_events(&self, names: &mut Names) -> Edges {
        for stage in self.stages() {
            for change in &stage {
                let id = change.target.variable();
                match &stage[..] {
                    [only] if only.updates.len() == 1 => names.share(Leaf::New(id), change.target),
                    _ => names.add_as(Leaf::New(id), &format!("n{}", self.flat.name(id))),
                }
            }
        }
        (self.updates.iter())
            .map(|_| (names.fresh("edge"), names.fresh("was")))
            .collect()
    }

    /// Updates that wait for a condition, with the names of its truth.
    pub fn conditional<'c>(
        &'c self,
        edges: &'c Edges,
    ) -> impl Iterator<Item = (&'c Update, &'c (String, String))> {
        let pairs = self.updates.iter().zip(edges);
        pairs.filter(|(update, _)| update.when.is_some())
    }

    /// The statements, without anything around them. `becomes` says that a truth holds now and did not before.
    pub fn event_lines<D: Dialect>(
        &self,
        dialect: &D,
        language: &str,
        edges: &Edges,
        becomes: &dyn Fn(&str, &str) -> Text,
    ) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for stage in self.stages() {
            for change in &stage {
                let target = dialect.leaf(change.target).text;
                let new = dialect.leaf(Leaf::New(change.target.variable())).text;
                let mut old = Text::atom(&target);
                for &at in &change.updates {
                    let update = &self.updates[at];
                    let value = text(self, dialect, language, update.value)?;
                    let Some(when) = update.when else {
                        lines.push(format!("{new} = {}", value.text));
                        continue;
                    };
                    let (edge, was) = &edges[at];
                    let condition = text(self, dialect, language, when)?;
                    lines.push(format!("{edge} = {}", condition.text));
                    let edge_now = becomes(edge, was);
                    let value = match is_truth(self, update.value) {
                        true => dialect.choice_of_truth(&edge_now, &value, &old),
                        false => dialect.choice(&edge_now, &value, &old),
                    };
                    lines.push(format!("{new} = {}", value.text));
                    lines.push(format!("{was} = {edge}"));
                    old = Text::atom(&new);
                }
            }
            for change in &stage {
                let target = dialect.leaf(change.target).text;
                let new = dialect.leaf(Leaf::New(change.target.variable())).text;
                if new != target {
                    lines.push(format!("{target} = {new}"));
                }
            }
        }
        Ok(lines)
    }
}
