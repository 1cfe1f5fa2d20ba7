//! One round of a reduction: the text without some dependent storages.
//!
//! Before: a text with its fields traced, and fields that can be reduced. After: the text in which each storage that takes others
//! over has its equivalent parameter, and these and what served them only are gone; verified. Nothing is written if anything
//! stands against it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::connections::{Leaves, Leaving};
use super::edit::Edits;
use super::meaning::{Meaning, Stored};
use super::observed::{Observed, set};
use super::parameters::Parameters;
use super::reduce::{Step, Traced};
use super::script::Script;
use super::verify::{Change, same};
use super::{Desk, Obstacle};
use crate::bond::fields::storage::{StorageField, square};
use crate::bond::fields::superfluous::{Removal, without};
use crate::bond::fields::transfer;
use crate::bond::graph::{ElementKind, NodeId};
use crate::bond::order::natural;
use crate::bond::recover::places;
use crate::compile::BondGraph;
use crate::evaluate::leaves;
use crate::expr::ExprId;
use crate::expr::isolate::isolate;
use crate::flat::{Flat, InstanceId, JunctionId, Kind, Leaf, VarId};
use crate::listing::storage_fields::path;
use crate::syntax::ast::StatementKind;

#[derive(Debug)]
pub struct Taken {
    pub text: String,
    pub steps: Vec<Step>,
}

/// What goes, in terms of the model.
struct Going {
    instances: FxHashSet<InstanceId>,
    submodels: BTreeMap<String, Leaves>,
    nodes: BTreeSet<String>,
    /// Places that become one.
    joined: Vec<(JunctionId, JunctionId)>,
    /// Parts that only hand on: links and bonds.
    wires: Vec<InstanceId>,
}

/// The text without the dependent storages of these fields.
pub fn rewrite(
    desk: &Desk<'_>,
    traced: &mut Traced,
    text: &str,
    taken: &[StorageField],
) -> Result<Taken, Obstacle> {
    let Traced {
        flat,
        model,
        fields,
    } = traced;
    let script = Script::new(text, flat).ok_or_else(|| {
        Obstacle::Unwritable(format!("{}, which stands in another file,", flat.model()))
    })?;
    let paths: Vec<String> = taken.iter().map(|field| path(fields, field)).collect();
    let named = &fields.named;
    let owner = |node: NodeId| named.graph.node(node).owner;
    let name = |node: NodeId| named.graph.node(node).name.clone();
    for field in taken {
        script.declared(flat, owner(field.dependent))?;
    }
    let storages: Vec<NodeId> = (taken.iter())
        .map(|field| named.nodes_of[field.dependent.index()])
        .collect();
    let removal = without(&model.graph, &storages)
        .map_err(|needed| Obstacle::Needed(model.graph.node(needed.0).name.clone()))?;
    let going = going(flat, &script, model, &removal)?;

    // Who takes over what.
    let mut kept: Vec<NodeId> = (taken.iter())
        .filter_map(|field| Some(field.outcome.as_ref().ok()?.into))
        .collect();
    kept.sort_unstable();
    kept.dedup();
    let mut touched: FxHashSet<InstanceId> = going.instances.clone();
    touched.extend(going.wires.iter().copied());
    touched.extend(taken.iter().flat_map(|field| &field.path).map(|&node| owner(node)));
    touched.remove(&InstanceId::TOP);
    let mut flow = transfer(model, &mut fields.flat, named);
    let mut meaning = Meaning::new(&mut flow, &[], touched.clone());
    let one = meaning.transfer.flat.exprs.number(1.0);
    let mut stored: Vec<Stored> = Vec::new();
    let mut totals: Vec<(NodeId, VarId, ExprId, ExprId)> = Vec::new();
    for &into in &kept {
        let missing = || Obstacle::NoParameter(name(into));
        let own = meaning.parameter(into).ok_or_else(missing)?;
        let mut total = own;
        for field in taken {
            let Ok(equivalent) = &field.outcome else {
                continue;
            };
            if equivalent.into != into {
                continue;
            }
            let part = (meaning.parameter(field.dependent)).ok_or_else(missing)?;
            stored.push(Stored {
                node: field.dependent,
                into,
                gain: equivalent.primary,
                own: part,
                is_flow: equivalent.flow_first,
            });
            let exprs = &mut meaning.transfer.flat.exprs;
            let gain = square(exprs, equivalent.primary);
            let more = exprs.tidy_mul(gain, part);
            total = exprs.tidy_add(total, more);
        }
        let element = named.graph.node(into).element();
        stored.push(Stored {
            node: into,
            into,
            gain: one,
            own,
            is_flow: element.is_some_and(|element| element.kind == ElementKind::I),
        });
        let (parameter, value) =
            solved_for(meaning.transfer.flat, owner(into), own, total).ok_or_else(missing)?;
        let exprs = &mut meaning.transfer.flat.exprs;
        let growth = exprs.tidy_div(total, own);
        totals.push((into, parameter, value, growth));
    }
    let changed: FxHashSet<VarId> = totals.iter().map(|&(_, id, ..)| id).collect();
    let mut meaning = Meaning::new(&mut flow, &stored, touched.clone());
    let mut parameters = Parameters::new(&script, going.instances.clone(), changed);

    let mut edits = Edits::default();
    let mut observed = Observed::new(&script, &going.instances, &stored);
    observed.settings(&mut meaning, &mut parameters, &mut edits)?;
    observed.uses(&mut meaning, &mut parameters, &mut edits)?;
    observed.starts(&mut meaning, &mut parameters, &totals, &mut edits)?;
    let mut values: Vec<(NodeId, String)> = Vec::new();
    for &(into, parameter, value, _) in &totals {
        let flat = &mut *meaning.transfer.flat;
        let text = parameters.text(flat, value)?;
        let declared = script.declared(flat, owner(into))?;
        let own = flat.names.name(flat.declaration(parameter).name).to_string();
        set(&script, declared, &own, false, &text, &mut edits);
        values.push((into, format!("{}.{own} = {text}", name(into))));
    }
    let mut leaving = Leaving::new(&script, flat, going.submodels.clone(), going.nodes.clone());
    let mut connections = leaving.edit(&mut edits)?;
    for &(a, b) in &going.joined {
        if let (Some(a), Some(b)) = (leaving.hub(a), leaving.hub(b)) {
            connections.push(format!("{a} at {b}"));
        }
    }
    declarations(&script, &going, &mut edits);
    insertions(&script, &parameters, &observed, &connections, &mut edits);
    let new = edits.apply(text);

    let compiled = desk.compile(&new);
    let Some(after) = compiled.flat else {
        let first = compiled.diagnostics.iter().next();
        let message = first.map(|one| one.message.clone()).unwrap_or_default();
        return Err(Obstacle::Broken(message));
    };
    let names: FxHashSet<String> = touched.iter().map(|&id| flat.path(id)).collect();
    let change = Change {
        touched: &names,
        renamed: &observed.renamed,
    };
    same(&wished(flat, &stored, named), &after, &change)?;

    let dropped: Vec<String> = (going.submodels.keys().chain(&going.nodes))
        .filter(|one| !taken.iter().any(|field| name(field.dependent) == **one))
        .cloned()
        .collect();
    let steps = (taken.iter().zip(paths).enumerate())
        .filter_map(|(at, (field, path))| {
            let into = field.outcome.as_ref().ok()?.into;
            let value = values.iter().find(|(node, _)| *node == into);
            Some(Step {
                removed: name(field.dependent),
                into: name(into),
                path,
                value: value.map(|(_, text)| text.clone()).unwrap_or_default(),
                dropped: if at == 0 { dropped.clone() } else { Vec::new() },
            })
        })
        .collect();
    Ok(Taken { text: new, steps })
}

/// The old model with the states that the new one has.
fn wished(flat: &Flat, stored: &[Stored], view: &crate::bond::view::View) -> Flat {
    let mut wished = flat.clone();
    for one in stored {
        let states = view.graph.node(one.node).element().map(|element| &element.states);
        for &state in states.into_iter().flatten() {
            wished.wishes.retain(|&(variable, _)| variable != state);
            wished.wishes.push((state, one.node == one.into));
        }
    }
    (wished.wishes).sort_unstable_by_key(|&(variable, _)| variable);
    wished
}

/// A parameter of a storage that can be given another value, so that `own` comes to `total`; and that value.
fn solved_for(
    flat: &mut Flat,
    instance: InstanceId,
    own: ExprId,
    total: ExprId,
) -> Option<(VarId, ExprId)> {
    for leaf in leaves(&flat.exprs, own) {
        let id = leaf.variable();
        // Stands for the new value while the old one is still in the total: no parameter has a start.
        let new = Leaf::Init(id);
        let variable = flat.variable(id);
        let usable = variable.instance == instance
            && variable.kind == Kind::Parameter
            && variable.index == 0
            && !flat.shaping.contains(&id);
        if !usable {
            continue;
        }
        let unknown = flat.exprs.leaf(new);
        let left = (flat.exprs).replace_leaves(own, |one| (one == leaf).then_some(unknown));
        if let Some(found) = isolate(&mut flat.exprs, left, total, new) {
            return Some((id, found.value));
        }
    }
    None
}

/// Submodels and nodes for what goes of a graph.
fn going(
    flat: &Flat,
    script: &Script,
    model: &BondGraph,
    removal: &Removal,
) -> Result<Going, Obstacle> {
    let graph = &model.graph;
    let mut going = Going {
        instances: FxHashSet::default(),
        submodels: BTreeMap::new(),
        nodes: BTreeSet::new(),
        joined: Vec::new(),
        wires: Vec::new(),
    };
    let mut elements: FxHashSet<InstanceId> = FxHashSet::default();
    for (id, _) in graph.elements() {
        let owner = graph.node(id).owner;
        elements.insert(owner);
        if removal.gone[id.index()] {
            script.declared(flat, owner)?;
            going.instances.insert(owner);
            going.submodels.insert(flat.path(owner), Leaves::Gap);
        }
    }
    let known = places(flat);
    let mut gone_places: BTreeSet<JunctionId> = BTreeSet::new();
    for id in graph.node_ids() {
        let node = graph.node(id);
        if node.junction().is_none() {
            continue;
        }
        let place = known.get(&node.name).copied();
        if removal.gone[id.index()] {
            gone_places.extend(place);
        } else if going.instances.contains(&node.owner) {
            // The junction inside of a part that goes stays: its ends are one.
            let ends: Vec<JunctionId> = (graph.bond_ids())
                .filter(|&bond| !removal.cut[bond.index()])
                .filter(|&bond| graph.bond(bond).ends().contains(&id))
                .filter_map(|bond| known.get(&graph.node(graph.bond(bond).other(id)).name).copied())
                .collect();
            match ends[..] {
                [_, _] if flat.ports.of(node.owner).count() == 2 => {
                    going.submodels.insert(flat.path(node.owner), Leaves::Wire);
                }
                [a, b] => going.joined.push((a, b)),
                _ => {}
            }
        }
    }
    let parents: FxHashSet<InstanceId> = (flat.instances.iter().skip(1))
        .map(|instance| instance.parent)
        .collect();
    for (at, instance) in flat.instances.iter().enumerate().skip(1) {
        let id = InstanceId(at as u32);
        if instance.parent != InstanceId::TOP || elements.contains(&id) {
            continue;
        }
        let at_gone = (flat.ports.of(id)).any(|port| {
            (flat.ports.get(port).outside).is_some_and(|place| gone_places.contains(&place))
        });
        if parents.contains(&id) {
            if at_gone {
                return Err(Obstacle::Elsewhere(flat.path(id)));
            }
            continue;
        }
        going.wires.push(id);
        if at_gone {
            script.declared(flat, id)?;
            going.instances.insert(id);
            going.submodels.insert(flat.path(id), Leaves::Gap);
        }
    }
    for statement in script.body() {
        if let StatementKind::Nodes { nodes, .. } = &statement.kind {
            for node in nodes.iter().filter(|node| node.size.is_none()) {
                let name = script.name(node.name);
                if known.get(name).is_some_and(|place| gone_places.contains(place)) {
                    going.nodes.insert(name.to_string());
                }
            }
        }
    }
    Ok(going)
}

/// Takes what goes out of the declarations.
fn declarations(script: &Script, going: &Going, edits: &mut Edits) {
    for statement in script.body() {
        let whole = statement.span.range();
        match &statement.kind {
            StatementKind::Submodels { submodels, .. } => {
                let spans: Vec<_> = submodels.iter().map(|one| one.span.range()).collect();
                let gone = |at: usize| {
                    let name = script.name(submodels[at].name);
                    submodels[at].size.is_none() && going.submodels.contains_key(name)
                };
                edits.drop_items(&script.text, whole, &spans, gone);
            }
            StatementKind::Nodes { nodes, .. } => {
                let spans: Vec<_> = nodes.iter().map(|one| one.name.span.range()).collect();
                let gone = |at: usize| {
                    nodes[at].size.is_none() && going.nodes.contains(script.name(nodes[at].name))
                };
                if (0..nodes.len()).any(gone) {
                    edits.drop_items(&script.text, whole, &spans, gone);
                }
            }
            StatementKind::Wishes { variables, .. } => {
                let spans: Vec<_> = variables.iter().map(|one| one.span.range()).collect();
                let gone = |at: usize| {
                    let head = script.head(variables[at]);
                    head.is_some_and(|(name, _)| going.submodels.contains_key(name))
                };
                if (0..variables.len()).any(gone) {
                    edits.drop_items(&script.text, whole, &spans, gone);
                }
            }
            _ => {}
        }
    }
}

/// New lines: parameters before the submodels, variables, equations and connections at the end.
fn insertions(
    script: &Script,
    parameters: &Parameters<'_>,
    observed: &Observed<'_>,
    connections: &[String],
    edits: &mut Edits,
) {
    let is_submodel = |kind: &StatementKind| matches!(kind, StatementKind::Submodels { .. });
    let body = script.body();
    if let Some(first) = body.iter().find(|one| is_submodel(&one.kind))
        && !parameters.new.is_empty()
    {
        let blanks = script.indentation(first.span);
        let mut new = parameters.new.clone();
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
    for line in &observed.lines {
        lines.push_str(&format!("\n{blanks}{line}"));
    }
    if !lines.is_empty() {
        let end = last.span.range().end;
        let line_end = script.text[end..].find('\n').map_or(script.text.len(), |at| end + at);
        edits.insert(line_end, lines);
    }
}
