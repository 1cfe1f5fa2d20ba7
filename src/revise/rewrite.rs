//! One round of a reduction: removes some dependent storages from a text.
//!
//! Before: a text with its traced fields, and fields that can be reduced. After: the text in which each remaining
//! storage has its equivalent parameter, without the dependent storages and the parts that served only them;
//! verified. If any step is impossible, nothing is changed.

use rustc_hash::FxHashSet;

use super::draft::Draft;
use super::edit::Edits;
use super::form::{Equivalent, Form};
use super::name_uses::{NameUses, set};
use super::parameters::Parameters;
use super::reduce::{Step, TracedModel};
use super::removed::removed_parts;
use super::script::Script;
use super::variable_map::{MergedStorage, VariableMap};
use super::verify::StateSum;
use super::{Obstacle, RevisionContext};
use crate::bond::fields::storage::{StorageField, by_square};
use crate::bond::fields::superfluous::without;
use crate::bond::fields::transfer;
use crate::bond::graph::{ElementKind, NodeId};
use crate::bond::net::Gives;
use crate::evaluate::{constant, leaves};
use crate::expr::ExprId;
use crate::expr::isolate::isolate;
use crate::flat::{Flat, InstanceId, Kind, Leaf, VarId};
use crate::listing::storage_fields::path;

#[derive(Debug)]
pub struct Rewritten {
    pub text: String,
    pub steps: Vec<Step>,
}

/// Returns the text without the dependent storages of these fields, with the equivalents in the requested form.
pub fn rewrite(
    context: &RevisionContext<'_>,
    traced: &mut TracedModel,
    text: &str,
    dependents: &[StorageField],
    form: Option<Form>,
) -> Result<Rewritten, Obstacle> {
    let TracedModel {
        written: flat,
        model,
        fields,
    } = traced;
    let script = Script::new(text, flat)?;
    let paths: Vec<String> = dependents.iter().map(|field| path(fields, field)).collect();
    let named = &fields.named;
    let owner = |node: NodeId| named.graph.node(node).owner;
    let name = |node: NodeId| named.graph.node(node).name.clone();
    for field in dependents {
        script.declared(flat, owner(field.dependent))?;
    }
    let storages: Vec<(NodeId, Gives)> = (dependents.iter())
        .map(|field| {
            let is_flow = field.outcome.as_ref().is_ok_and(|one| one.flow_first);
            let zero = if is_flow { Gives::Effort } else { Gives::Flow };
            (named.nodes_of[field.dependent.index()], zero)
        })
        .collect();
    let removal = without(&model.graph, &storages)
        .map_err(|needed| Obstacle::Needed(model.graph.node(needed.0).name.clone()))?;
    let removed = removed_parts(flat, &script, model, &removal)?;

    // The remaining storages, and the storages that each replaces.
    let mut kept: Vec<NodeId> = (dependents.iter())
        .filter_map(|field| Some(field.outcome.as_ref().ok()?.into))
        .collect();
    kept.sort_unstable();
    kept.dedup();
    let mut touched: FxHashSet<InstanceId> = removed.instances.clone();
    touched.extend(removed.wires.iter().copied());
    touched.extend(
        dependents
            .iter()
            .flat_map(|field| &field.path)
            .map(|&node| owner(node)),
    );
    touched.remove(&InstanceId::TOP);
    let mut flow = transfer(model, &mut fields.flat, named);
    let mut map = VariableMap::new(&mut flow, &[], touched.clone());
    let one = map.transfer.flat.exprs.number(1.0);
    let mut stored: Vec<MergedStorage> = Vec::new();
    let mut totals: Vec<(NodeId, VarId, ExprId, ExprId)> = Vec::new();
    let mut sums_of: Vec<(ExprId, ExprId)> = Vec::new();
    for &into in &kept {
        let missing = || Obstacle::NoParameter(name(into));
        let own = map.parameter(into).ok_or_else(missing)?;
        let mut total = own;
        for field in dependents {
            let Ok(equivalent) = &field.outcome else {
                continue;
            };
            if equivalent.into != into {
                continue;
            }
            let part = (map.parameter(field.dependent)).ok_or_else(missing)?;
            stored.push(MergedStorage {
                node: field.dependent,
                into,
                gain: equivalent.primary,
                own: part,
                is_flow: equivalent.flow_first,
            });
            let exprs = &mut map.transfer.flat.exprs;
            let more = by_square(exprs, equivalent.primary, part);
            total = exprs.tidy_add(total, more);
        }
        let element = named.graph.node(into).element();
        stored.push(MergedStorage {
            node: into,
            into,
            gain: one,
            own,
            is_flow: element.is_some_and(|element| element.kind == ElementKind::I),
        });
        let (parameter, value) =
            solved_for(map.transfer.flat, owner(into), own, total).ok_or_else(missing)?;
        let exprs = &mut map.transfer.flat.exprs;
        let growth = exprs.tidy_div(total, own);
        totals.push((into, parameter, value, growth));
        sums_of.push((own, total));
    }
    let changed: FxHashSet<VarId> = totals.iter().map(|&(_, id, ..)| id).collect();
    let mut map = VariableMap::new(&mut flow, &stored, touched.clone());
    let mut parameters = Parameters::new(&script, removed.instances.clone(), changed);

    let mut edits = Edits::default();
    let owners = touched.iter().copied().collect();
    let mut name_uses = NameUses::new(&script, flat, &removed.instances, owners, &stored);
    name_uses.rename_settings(&mut map, &mut parameters, &mut edits)?;
    name_uses.rewrite_uses(&mut map, &mut parameters, &mut edits)?;
    name_uses.rewrite_starts(&mut map, &mut parameters, &totals, &mut edits)?;
    let mut values: Vec<(NodeId, String)> = Vec::new();
    for (&(into, parameter, value, _), &(own, total)) in totals.iter().zip(&sums_of) {
        let flat = &mut *map.transfer.flat;
        let element = named.graph.node(into).element();
        let equivalent = Equivalent {
            name: &name(into),
            owner: owner(into),
            is_flow: element.is_some_and(|element| element.kind == ElementKind::I),
            own,
            total,
            parameter,
            value,
        };
        let (text, told) = equivalent.text(flat, &mut parameters, form)?;
        let declared = script.declared(flat, owner(into))?;
        let own = flat.names.name(flat.declaration(parameter).name);
        set(&script, declared, own, false, &text, &mut edits);
        values.push((into, told));
    }
    // The state of a storage with a displacement grows with its parameter.
    let mut sums = Vec::new();
    for &(into, _, _, growth) in &totals {
        let (element, growth) = (
            named.graph.node(into).element(),
            constant(map.transfer.flat, growth),
        );
        let is_flow = element.is_some_and(|element| element.kind == ElementKind::I);
        let primary = map.primary(into, is_flow).map(|(id, _)| id);
        let states = element.into_iter().flat_map(|element| &element.states);
        for &state in states.filter(|&&state| Some(state) != primary) {
            if map.factor(state).is_none() {
                continue;
            }
            let name = flat.name(state);
            sums.extend(growth.map(|growth| StateSum::multiple(name.clone(), name, growth)));
        }
    }
    let draft = Draft {
        script: &script,
        model,
        flat,
        removed: &removed,
        parameters: &parameters,
        name_uses: &name_uses,
        touched: touched.iter().map(|&id| flat.path(id)).collect(),
        sums,
        line: None,
        connections: Vec::new(),
    };
    let before = wished(flat, &stored, named);
    let new = draft.finish(context, edits, &before)?;

    let dropped: Vec<String> = (removed.submodels.keys().chain(&removed.nodes))
        .filter(|one| {
            !dependents
                .iter()
                .any(|field| name(field.dependent) == **one)
        })
        .cloned()
        .collect();
    let steps = (dependents.iter().zip(paths).enumerate())
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
    Ok(Rewritten { text: new, steps })
}

/// Returns the old model with the states of the new one.
fn wished(flat: &Flat, stored: &[MergedStorage], view: &crate::bond::view::View) -> Flat {
    let mut wished = flat.clone();
    for one in stored {
        let states = view
            .graph
            .node(one.node)
            .element()
            .map(|element| &element.states);
        for &state in states.into_iter().flatten() {
            wished.wishes.retain(|&(variable, _)| variable != state);
            wished.wishes.push((state, one.node == one.into));
        }
    }
    (wished.wishes).sort_unstable_by_key(|&(variable, _)| variable);
    wished
}

/// Returns a parameter of a storage and the value for which `own` equals `total`.
pub fn solved_for(
    flat: &mut Flat,
    instance: InstanceId,
    own: ExprId,
    total: ExprId,
) -> Option<(VarId, ExprId)> {
    for leaf in leaves(&flat.exprs, own) {
        let id = leaf.variable();
        // `init` of the parameter stands for the new value while the total contains the old one; parameters have no
        // start value.
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
