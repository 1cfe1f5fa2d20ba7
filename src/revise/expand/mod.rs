//! Expands a model to one level of single submodels: without types that contain submodels, arrays of submodels, `for`
//! or inheritance.
//!
//! Before: a text and its flat model. After: the text with the same model as a list of its elements, so that each of
//! them can be removed or reconnected. Submodels, nodes and variables inside others are named by their paths,
//! `Drive.J1` as `Drive_J1`; a cut of an expanded submodel becomes a part of its own, like a `link`. Comments inside
//! the model are lost.

mod parts;
mod statements;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::edit::Edits;
use super::names::text;
use super::script::{Script, fresh};
use super::verify::{Change, StateSum, check_equal};
use super::{Obstacle, RevisionContext};
use crate::flat::{Flat, InstanceId, Kind, Names, PortId, Role, VarId};
use crate::syntax::ast::Remarks;

struct Writer<'f> {
    flat: &'f Flat,
    taken: FxHashSet<String>,
    /// For each instance: true if it contains others or is the model itself, so that its content is written.
    opened: Vec<bool>,
    /// The new names of elements.
    submodels: BTreeMap<InstanceId, String>,
    names: Names,
    /// New types for cuts that became parts: their names by their bodies.
    types: BTreeMap<String, String>,
    lines: Vec<String>,
}

/// Returns the text with its model expanded.
pub fn expand(
    context: &RevisionContext<'_>,
    source: &str,
    flat: &Flat,
) -> Result<String, Obstacle> {
    let script = Script::new(source, flat)?;
    let mut opened = vec![false; flat.instances.len()];
    opened[0] = true;
    for instance in flat.instances.iter().skip(1) {
        opened[instance.parent.index()] = true;
    }
    let mut writer = Writer {
        flat,
        taken: script.taken(),
        opened,
        submodels: BTreeMap::new(),
        names: Names::default(),
        types: BTreeMap::new(),
        lines: Vec::new(),
    };
    let cuts = writer.name();
    writer.variables();
    writer.elements();
    writer.cuts(&cuts);
    writer.junctions()?;
    writer.equations();
    writer.wishes(&script);
    let Some(model) = script.model() else {
        return Err(Obstacle::Unwritable(flat.model().to_string()));
    };
    let mut new = String::new();
    for (body, name) in &writer.types {
        new.push_str(&format!(
            "## A cut of a submodel that was written out.\nmodel type {name}\n{body}end\n\n"
        ));
    }
    new.push_str(&format!("model {}\n", flat.model()));
    for line in &writer.lines {
        new.push_str(&format!("  {line}\n"));
    }
    new.push_str("end");
    let mut edits = Edits::default();
    edits.replace(model.span.range(), new);
    writer.experiments(&script, &mut edits);
    let new = edits.apply(source);
    writer.verify(context, &new)?;
    Ok(new)
}

fn remarks(remarks: &Remarks) -> String {
    let mut out = String::new();
    if let Some(unit) = &remarks.unit {
        out.push_str(&format!(" '{unit}'"));
    }
    if let Some(description) = &remarks.description {
        out.push_str(&format!(" \"{description}\""));
    }
    out
}

impl Writer<'_> {
    fn text(&self, id: crate::expr::ExprId) -> String {
        text(self.flat, &self.names, id)
    }

    /// Chooses names for elements, cuts and variables; returns the names of the cuts of expanded submodels.
    fn name(&mut self) -> BTreeMap<PortId, String> {
        let flat = self.flat;
        for at in 1..flat.instances.len() {
            let id = InstanceId(at as u32);
            if self.opened[at] {
                continue;
            }
            let path = flat.path(id);
            let plain = path.chars().all(|c| c.is_alphanumeric() || c == '_');
            let name = if plain {
                path
            } else {
                fresh(&mut self.taken, &path)
            };
            self.submodels.insert(id, name);
        }
        let mut cuts = BTreeMap::new();
        for port in flat.ports.ids() {
            let instance = flat.ports.get(port).instance;
            if self.opened[instance.index()] && instance != InstanceId::TOP {
                cuts.insert(port, fresh(&mut self.taken, &flat.port_name(port, '_')));
            }
        }
        // A variable of several cuts is named after the first one.
        let mut in_cut: BTreeMap<VarId, String> = BTreeMap::new();
        for (port, name) in &cuts {
            for (at, pair) in flat.ports.pairs(*port).iter().enumerate() {
                for (letter, side) in [("x", pair.across), ("y", pair.through)] {
                    if let Some(side) = side {
                        let text = format!("{name}.{letter}{}", at + 1);
                        in_cut.entry(side.variable()).or_insert(text);
                    }
                }
            }
        }
        for id in flat.variable_ids() {
            let variable = flat.variable(id);
            let name = if let Some(text) = in_cut.get(&id) {
                text.clone()
            } else if let Some(owner) = self.submodels.get(&variable.instance) {
                let own = flat.name(id);
                let last = own.rsplit('.').next().unwrap_or(&own);
                format!("{owner}.{last}")
            } else if variable.instance == InstanceId::TOP {
                continue;
            } else {
                fresh(&mut self.taken, &flat.name(id))
            };
            self.names.insert(id, name);
        }
        cuts
    }

    /// Writes the variables of the model and of expanded submodels.
    fn variables(&mut self) {
        let flat = self.flat;
        let mut done: FxHashSet<(u32, InstanceId)> = FxHashSet::default();
        for id in flat.variable_ids() {
            let variable = *flat.variable(id);
            let declaration = flat.declaration(id);
            if !self.opened[variable.instance.index()] {
                continue;
            }
            let top = variable.instance == InstanceId::TOP;
            let in_cut = matches!(declaration.role, Role::Across | Role::Through | Role::Both);
            if in_cut && (top || self.names.get(&id).is_some_and(|name| name.contains('.'))) {
                continue;
            }
            let array = top && variable.index > 0;
            let key = (variable.declaration.0, variable.instance);
            if array && !done.insert(key) {
                continue;
            }
            let word = match (variable.kind, declaration.role) {
                (Kind::Parameter, _) => "parameter",
                (Kind::Constant, _) => "constant",
                (_, Role::Input) if top => "input",
                (_, Role::Output) if top => "output",
                (_, Role::Terminal) if top => "terminal",
                _ => "local",
            };
            let elements: Vec<VarId> = match array {
                true => (flat.variable_ids())
                    .filter(|&other| {
                        let other = flat.variable(other);
                        (other.declaration.0, other.instance) == key
                    })
                    .collect(),
                false => vec![id],
            };
            let values: Vec<String> = (elements.iter())
                .filter_map(|&id| Some(self.text(flat.value(id)?.expression)))
                .collect();
            let mut line = format!("{word} ");
            match array {
                true => line.push_str(&format!(
                    "{}[{}]",
                    flat.names.name(declaration.name),
                    elements.len()
                )),
                false => line.push_str(&self.variable(id)),
            }
            match &values[..] {
                [] => {}
                [value] if !array => line.push_str(&format!(" = {value}")),
                _ => line.push_str(&format!(" = [{}]", values.join(", "))),
            }
            line.push_str(&remarks(&declaration.remarks));
            self.lines.push(line);
        }
    }

    fn variable(&self, id: VarId) -> String {
        (self.names.get(&id).cloned()).unwrap_or_else(|| self.flat.name(id))
    }

    /// Refuses terminals at nodes, because they have no cut that could be written.
    fn junctions(&self) -> Result<(), Obstacle> {
        match self
            .flat
            .ports
            .junctions
            .iter()
            .find(|one| one.has_terminal)
        {
            Some(one) => {
                let path = self.flat.path(one.origin);
                Err(Obstacle::Unwritable(format!("a terminal in `{path}`")))
            }
            None => Ok(()),
        }
    }

    fn known(&self) -> BTreeMap<String, VarId> {
        (self.flat.variable_ids())
            .map(|id| (self.flat.name(id), id))
            .collect()
    }

    /// Checks that the new model equals the old one.
    fn verify(&self, context: &RevisionContext<'_>, new: &str) -> Result<(), Obstacle> {
        let compiled = context.compile(new);
        let Some(after) = compiled.flat else {
            let first = compiled.diagnostics.iter().next();
            let message = first.map(|one| one.message.clone()).unwrap_or_default();
            return Err(Obstacle::Broken(message));
        };
        let renamed: Vec<(String, String)> = (self.flat.variable_ids())
            .map(|id| (self.variable(id), self.flat.name(id)))
            .filter(|(new, old)| new != old)
            .collect();
        let is_state = |name: &str| {
            after
                .variable_ids()
                .any(|id| after.variable(id).states > 0 && after.name(id) == name)
        };
        let sums: Vec<StateSum> = (renamed.iter())
            .filter(|(new, _)| is_state(new))
            .map(|(new, old)| StateSum::multiple(new.clone(), old.clone(), 1.0))
            .collect();
        let touched = FxHashSet::default();
        let change = Change {
            touched: &touched,
            apart: &touched,
            renamed: &renamed,
            sums: &sums,
        };
        check_equal(self.flat, &after, &change)
    }
}
