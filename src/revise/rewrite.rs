//! One round of a reduction: the text without some dependent storages.
//!
//! Before: a text with its fields traced, and fields that can be reduced. After: the text in which each storage that takes others
//! over has its equivalent parameter, and these and what served them only are gone; verified. Nothing is written if anything
//! stands against it.

use rustc_hash::FxHashSet;

use super::draft::Draft;
use super::edit::Edits;
use super::form::{Equivalent, Form};
use super::going::going;
use super::meaning::{Meaning, Stored};
use super::observed::{Observed, set};
use super::parameters::Parameters;
use super::reduce::{Step, Traced};
use super::script::Script;
use super::verify::Summed;
use super::{Desk, Obstacle};
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
pub struct Taken {
    pub text: String,
    pub steps: Vec<Step>,
}

/// The text without the dependent storages of these fields; the equivalents in a form, else as the types have them.
pub fn rewrite(
    desk: &Desk<'_>,
    traced: &mut Traced,
    text: &str,
    taken: &[StorageField],
    form: Option<Form>,
) -> Result<Taken, Obstacle> {
    let Traced {
        written: flat,
        model,
        fields,
    } = traced;
    let script = Script::new(text, flat)?;
    let paths: Vec<String> = taken.iter().map(|field| path(fields, field)).collect();
    let named = &fields.named;
    let owner = |node: NodeId| named.graph.node(node).owner;
    let name = |node: NodeId| named.graph.node(node).name.clone();
    for field in taken {
        script.declared(flat, owner(field.dependent))?;
    }
    let storages: Vec<(NodeId, Gives)> = (taken.iter())
        .map(|field| {
            let is_flow = field.outcome.as_ref().is_ok_and(|one| one.flow_first);
            let zero = if is_flow { Gives::Effort } else { Gives::Flow };
            (named.nodes_of[field.dependent.index()], zero)
        })
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
    touched.extend(
        taken
            .iter()
            .flat_map(|field| &field.path)
            .map(|&node| owner(node)),
    );
    touched.remove(&InstanceId::TOP);
    let mut flow = transfer(model, &mut fields.flat, named);
    let mut meaning = Meaning::new(&mut flow, &[], touched.clone());
    let one = meaning.transfer.flat.exprs.number(1.0);
    let mut stored: Vec<Stored> = Vec::new();
    let mut totals: Vec<(NodeId, VarId, ExprId, ExprId)> = Vec::new();
    let mut sums_of: Vec<(ExprId, ExprId)> = Vec::new();
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
            let more = by_square(exprs, equivalent.primary, part);
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
        sums_of.push((own, total));
    }
    let changed: FxHashSet<VarId> = totals.iter().map(|&(_, id, ..)| id).collect();
    let mut meaning = Meaning::new(&mut flow, &stored, touched.clone());
    let mut parameters = Parameters::new(&script, going.instances.clone(), changed);

    let mut edits = Edits::default();
    let owners = touched.iter().copied().collect();
    let mut observed = Observed::new(&script, flat, &going.instances, owners, &stored);
    observed.settings(&mut meaning, &mut parameters, &mut edits)?;
    observed.uses(&mut meaning, &mut parameters, &mut edits)?;
    observed.starts(&mut meaning, &mut parameters, &totals, &mut edits)?;
    let mut values: Vec<(NodeId, String)> = Vec::new();
    for (&(into, parameter, value, _), &(own, total)) in totals.iter().zip(&sums_of) {
        let flat = &mut *meaning.transfer.flat;
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
    // A storage by its displacement: that grows with it.
    let mut sums = Vec::new();
    for &(into, _, _, growth) in &totals {
        let (element, growth) = (
            named.graph.node(into).element(),
            constant(meaning.transfer.flat, growth),
        );
        let is_flow = element.is_some_and(|element| element.kind == ElementKind::I);
        let primary = meaning.primary(into, is_flow).map(|(id, _)| id);
        let states = element.into_iter().flat_map(|element| &element.states);
        for &state in states.filter(|&&state| Some(state) != primary) {
            if meaning.factor(state).is_none() {
                continue;
            }
            let name = flat.name(state);
            sums.extend(growth.map(|growth| Summed::multiple(name.clone(), name, growth)));
        }
    }
    let draft = Draft {
        script: &script,
        model,
        flat,
        going: &going,
        parameters: &parameters,
        observed: &observed,
        touched: touched.iter().map(|&id| flat.path(id)).collect(),
        sums,
        line: None,
        connections: Vec::new(),
    };
    let before = wished(flat, &stored, named);
    let new = draft.finish(desk, edits, &before)?;

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

/// A parameter of a storage that can be given another value, so that `own` comes to `total`; and that value.
pub fn solved_for(
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
