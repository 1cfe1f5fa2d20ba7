//! The flat model as data. The schema, with its version, is in docs/json.md.

use super::positions_json::Shown;
use super::reduction::original;
use super::reduction_json::write_reduction;
use crate::base::diagnostics::json::{Place, place};
use crate::base::source::Sources;
use crate::expr::{ExprId, Value};
use crate::flat::{Equation, EquationKind, Flat, VarId};
use crate::passes::order::{Row, Sorted};
use crate::positions::Positions;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use std::io::{self, Write};

/// Writes the model. Entries are made one at a time, so that large models need no second copy in memory.
pub fn write(flat: &Flat, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    write_map(flat, sources, out, |map| {
        map.serialize_entry("equations", &Equations { flat, sources })
    })
}

/// Writes the sorted model: blocks in the order of evaluation, and eliminated variables.
pub fn write_sorted(
    flat: &Flat,
    sorted: &Sorted,
    sources: &Sources,
    positions: Option<&Positions>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_map(flat, sources, out, |map| {
        if let Some(positions) = positions {
            map.serialize_entry("positions", &Shown { positions })?;
        }
        let entry = Blocks {
            of: Equations { flat, sources },
            sorted,
        };
        map.serialize_entry("blocks", &entry)?;
        write_eliminated(flat, map)
    })
}

pub(super) fn write_eliminated<M: SerializeMap>(flat: &Flat, map: &mut M) -> Result<(), M::Error> {
    let eliminated = LazyList(|| {
        (flat.eliminated.iter()).map(|alias| EliminatedEntry {
            name: flat.leaf_name(alias.leaf),
            expression: flat.expression(alias.expression),
        })
    });
    map.serialize_entry("eliminated", &eliminated)
}

/// A list whose entries are made one at a time while they are written.
pub(super) struct LazyList<F>(pub F);

impl<F, I> Serialize for LazyList<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

pub(super) type JsonMap<'a, 'o> =
    serde_json::ser::Compound<'a, &'o mut dyn Write, serde_json::ser::PrettyFormatter<'static>>;

/// Writes the fields of every document, then the fields that `more` adds.
pub(super) fn write_map(
    flat: &Flat,
    sources: &Sources,
    out: &mut dyn Write,
    more: impl FnOnce(&mut JsonMap<'_, '_>) -> Result<(), serde_json::Error>,
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::pretty(out);
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("version", &1)?;
    map.serialize_entry("model", flat.model())?;
    map.serialize_entry("variables", &Variables { flat, sources })?;
    more(&mut map)?;
    write_reduction(flat, sources, &mut map)?;
    SerializeMap::end(map)?;
    serializer.into_inner().write_all(b"\n")
}

struct Blocks<'f> {
    of: Equations<'f>,
    sorted: &'f Sorted,
}

#[derive(Serialize)]
struct BlockEntry<'f> {
    unknowns: Vec<String>,
    equations: Vec<EquationEntry<'f>>,
    /// Indices of selections of the reduction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    selections: Vec<u32>,
}

#[derive(Serialize)]
struct EliminatedEntry {
    name: String,
    expression: String,
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flat = self.of.flat;
        let mut list = serializer.serialize_seq(Some(self.sorted.blocks.len()))?;
        for block in &self.sorted.blocks {
            let mut entry = BlockEntry {
                unknowns: Vec::new(),
                equations: Vec::new(),
                selections: Vec::new(),
            };
            for &row in block {
                let unknown = self.sorted.unknowns[row as usize];
                entry.unknowns.push(flat.leaf_name(unknown));
                let ids = match &self.sorted.rows[row as usize] {
                    Row::Equation(id) => std::slice::from_ref(id),
                    Row::When(_, ids) => ids,
                    Row::Selection(at) => {
                        entry.selections.push(*at);
                        continue;
                    }
                };
                let equations = ids.iter().map(|id| &flat.equations[id.index()]);
                entry
                    .equations
                    .extend(equations.map(|equation| self.of.entry(equation)));
            }
            entry.selections.dedup();
            list.serialize_element(&entry)?;
        }
        list.end()
    }
}

struct Variables<'f> {
    flat: &'f Flat,
    sources: &'f Sources,
}

impl Serialize for Variables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.flat.variables.len()))?;
        for id in self.flat.variable_ids() {
            list.serialize_element(&self.entry(id))?;
        }
        list.end()
    }
}

#[derive(Serialize)]
struct VariableEntry<'f> {
    name: String,
    kind: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefer: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'f str>,
    origin: String,
    source: Place<'f>,
}

impl Variables<'_> {
    fn entry(&self, id: VarId) -> VariableEntry<'_> {
        let flat = self.flat;
        let variable = flat.variable(id);
        let declaration = flat.declaration(id);
        let value = flat.value(id);
        VariableEntry {
            name: flat.name(id),
            kind: variable.kind.text(),
            ty: variable.ty.text(),
            output: variable.output.then_some(true),
            value: value.map(|given| given.value),
            expression: value
                .filter(|given| !is_literal(flat, given.expression))
                .map(|given| flat.expression(given.expression)),
            start: flat.start(id).map(|given| given.value),
            prefer: (flat.wish(id)).map(|keep| if keep { "state" } else { "nostate" }),
            unit: declaration.remarks.unit.as_deref(),
            description: (declaration.remarks.description.as_deref())
                .or(declaration.doc.as_deref()),
            origin: flat.path(variable.instance),
            source: place(self.sources, declaration.span),
        }
    }
}

fn is_literal(flat: &Flat, id: ExprId) -> bool {
    use crate::expr::Node;
    matches!(flat.exprs.node(id), Node::Number(_) | Node::Bool(_))
}

pub(super) struct Equations<'f> {
    pub flat: &'f Flat,
    pub sources: &'f Sources,
}

impl Serialize for Equations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.flat.equations.len()))?;
        for equation in &self.flat.equations {
            list.serialize_element(&self.entry(equation))?;
        }
        list.end()
    }
}

#[derive(Serialize)]
pub(super) struct EquationEntry<'f> {
    left: String,
    right: String,
    origin: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unless: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    derivative_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u8>,
    source: Place<'f>,
}

impl<'f> Equations<'f> {
    pub fn entry(&self, equation: &Equation) -> EquationEntry<'f> {
        let text = |id: ExprId| self.flat.expression(id);
        let (mut condition, mut unless, mut when) = (None, Vec::new(), None);
        if let EquationKind::When(id, branch) = equation.kind {
            let conditions = &self.flat.whens[id.index()].conditions;
            condition = Some(text(conditions[branch as usize].0));
            unless = (conditions[..branch as usize].iter())
                .map(|&(earlier, _)| text(earlier))
                .collect();
            when = Some(id.0);
        }
        let derived = match equation.kind {
            EquationKind::Derivative(at) => (self.flat.reduction.as_ref())
                .and_then(|reduction| reduction.derived.get(at as usize)),
            _ => None,
        };
        EquationEntry {
            derivative_of: derived.map(|derived| original(self.flat, derived)),
            times: derived.map(|derived| derived.times),
            left: text(equation.left),
            right: text(equation.right),
            origin: self.flat.path(equation.origin),
            kind: equation.kind.text(),
            condition,
            unless,
            when,
            source: place(self.sources, equation.span),
        }
    }
}
