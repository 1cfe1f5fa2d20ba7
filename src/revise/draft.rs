//! The last steps of a change: what goes is taken out, new lines are put in, and the outcome is compiled and compared.
//!
//! Before: edits of a text, what goes of its model, and lines to be added. After: the new text, or what stands against it.

use rustc_hash::FxHashSet;

use super::connections::Leaving;
use super::edit::Edits;
use super::going::{Going, declarations};
use super::observed::Observed;
use super::parameters::Parameters;
use super::script::Script;
use super::verify::{Change, Summed, potentials, same, same_start};
use super::{Desk, Obstacle};
use crate::bond::BondGraph;
use crate::bond::order::natural;
use crate::flat::Flat;
use crate::syntax::ast::StatementKind;

#[derive(Debug)]
pub struct Draft<'a> {
    pub script: &'a Script,
    pub model: &'a BondGraph,
    pub flat: &'a Flat,
    pub going: &'a Going,
    pub parameters: &'a Parameters<'a>,
    pub observed: &'a Observed<'a>,
    /// Submodels whose variables may differ, beside links and bonds.
    pub touched: FxHashSet<String>,
    /// States that are not what they were.
    pub sums: Vec<Summed>,
    /// A declaration, before those of what is observed.
    pub line: Option<String>,
    /// Items of a new `connect`.
    pub connections: Vec<String>,
}

impl Draft<'_> {
    /// The new text; `before` is the old model with the states of the new one.
    pub fn finish(
        mut self,
        desk: &Desk<'_>,
        mut edits: Edits,
        before: &Flat,
    ) -> Result<String, Obstacle> {
        let Going {
            submodels, nodes, ..
        } = self.going;
        let mut leaving = Leaving::new(self.script, self.flat, submodels.clone(), nodes.clone());
        let mut connections = leaving.edit(&mut edits)?;
        for &(a, b) in &self.going.joined {
            if let (Some(a), Some(b)) = (leaving.hub(a), leaving.hub(b)) {
                connections.push(format!("{a} at {b}"));
            }
        }
        connections.append(&mut self.connections);
        declarations(self.script, self.going, &mut edits);
        self.insert(&connections, &mut edits);
        let new = edits.apply(&self.script.text);
        let compiled = desk.compile(&new);
        let Some(after) = compiled.flat else {
            let first = compiled.diagnostics.iter().next();
            let message = first.map(|one| one.message.clone()).unwrap_or_default();
            return Err(Obstacle::Broken(message));
        };
        let wires = self.going.wires.iter().map(|&id| self.flat.path(id));
        self.touched.extend(wires);
        let change = Change {
            touched: &self.touched,
            apart: &potentials(self.model),
            renamed: &self.observed.renamed,
            sums: &self.sums,
        };
        same(before, &after, &change)?;
        for name in self.script.experiment_names() {
            let old = desk.compile_with(&self.script.text, &name).flat;
            let Some(mut old) = old else {
                continue;
            };
            old.wishes.clone_from(&before.wishes);
            let compiled = desk.compile_with(&new, &name);
            match compiled.flat {
                Some(after) => same_start(&old, &after, &change)?,
                None => {
                    let first = compiled.diagnostics.iter().next();
                    let message = first.map(|one| one.message.clone()).unwrap_or_default();
                    return Err(Obstacle::Broken(message));
                }
            }
        }
        Ok(new)
    }

    /// New lines: parameters before the submodels, variables, equations and connections at the end.
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
        for line in self.line.iter().chain(&self.observed.lines) {
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
