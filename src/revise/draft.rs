//! The last steps of a change: parts are removed, new lines are inserted, and the result is compiled and compared.
//!
//! Before: edits of a text, the parts to remove, and lines to add. After: the new text, or the reason why it is
//! refused.

use rustc_hash::FxHashSet;

use super::connections::Reconnection;
use super::edit::Edits;
use super::name_uses::NameUses;
use super::parameters::Parameters;
use super::removed::{RemovedParts, remove_declarations};
use super::script::Script;
use super::verify::{Change, StateSum, check_equal, check_equal_starts, potentials};
use super::{Obstacle, RevisionContext};
use crate::bond::BondGraph;
use crate::bond::order::natural;
use crate::flat::Flat;
use crate::syntax::ast::StatementKind;

#[derive(Debug)]
pub struct Draft<'a> {
    pub script: &'a Script,
    pub model: &'a BondGraph,
    pub flat: &'a Flat,
    pub removed: &'a RemovedParts,
    pub parameters: &'a Parameters<'a>,
    pub name_uses: &'a NameUses<'a>,
    /// Submodels whose variables may differ, besides links and bonds.
    pub touched: FxHashSet<String>,
    /// States of the new model that are sums of old ones.
    pub sums: Vec<StateSum>,
    /// A declaration that comes before those of the new variables.
    pub line: Option<String>,
    /// Items of a new `connect`.
    pub connections: Vec<String>,
}

impl Draft<'_> {
    /// Returns the new text. `before` is the old model with the states of the new one.
    pub fn finish(
        mut self,
        context: &RevisionContext<'_>,
        mut edits: Edits,
        before: &Flat,
    ) -> Result<String, Obstacle> {
        let RemovedParts {
            submodels, nodes, ..
        } = self.removed;
        let mut reconnection =
            Reconnection::new(self.script, self.flat, submodels.clone(), nodes.clone());
        let mut connections = reconnection.edit(&mut edits)?;
        for &(a, b) in &self.removed.joined {
            if let (Some(a), Some(b)) = (reconnection.hub(a), reconnection.hub(b)) {
                connections.push(format!("{a} at {b}"));
            }
        }
        connections.append(&mut self.connections);
        remove_declarations(self.script, self.removed, &mut edits);
        self.insert(&connections, &mut edits);
        let new = edits.apply(&self.script.text);
        let compiled = context.compile(&new);
        let Some(after) = compiled.flat else {
            let first = compiled.diagnostics.iter().next();
            let message = first.map(|one| one.message.clone()).unwrap_or_default();
            return Err(Obstacle::Broken(message));
        };
        let wires = self.removed.wires.iter().map(|&id| self.flat.path(id));
        self.touched.extend(wires);
        let change = Change {
            touched: &self.touched,
            apart: &potentials(self.model),
            renamed: &self.name_uses.renamed,
            sums: &self.sums,
        };
        check_equal(before, &after, &change)?;
        for name in self.script.experiment_names() {
            let old = context.compile_with(&self.script.text, &name).flat;
            let Some(mut old) = old else {
                continue;
            };
            old.wishes.clone_from(&before.wishes);
            let compiled = context.compile_with(&new, &name);
            match compiled.flat {
                Some(after) => check_equal_starts(&old, &after, &change)?,
                None => {
                    let first = compiled.diagnostics.iter().next();
                    let message = first.map(|one| one.message.clone()).unwrap_or_default();
                    return Err(Obstacle::Broken(message));
                }
            }
        }
        Ok(new)
    }

    /// Inserts new lines: parameters before the submodels; variables, equations and connections at the end.
    fn insert(&self, connections: &[String], edits: &mut Edits) {
        let script = self.script;
        let is_submodel = |kind: &StatementKind| matches!(kind, StatementKind::Submodels { .. });
        let body = script.body();
        if let Some(first) = body.iter().find(|one| is_submodel(&one.kind))
            && !self.parameters.new.is_empty()
        {
            let blanks = script.indentation(first.span);
            let mut new = self.parameters.new.clone();
            new.sort_by(|a, b| natural(a, b));
            let line = format!("{blanks}parameter {}\n", new.join(", "));
            edits.insert(script.line_before(first), line);
        }
        let Some(last) = body.last() else {
            return;
        };
        let blanks = script.indentation(last.span);
        let mut lines = String::new();
        if !connections.is_empty() {
            lines.push_str(&format!("\n{blanks}connect {}", connections.join(", ")));
        }
        for line in self.line.iter().chain(&self.name_uses.lines) {
            lines.push_str(&format!("\n{blanks}{line}"));
        }
        if !lines.is_empty() {
            let end = last.span.range().end;
            let line_end = script.text[end..]
                .find('\n')
                .map_or(script.text.len(), |at| end + at);
            edits.insert(line_end, lines);
        }
    }
}
