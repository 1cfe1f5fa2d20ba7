//! Replaces a dependent storage whose path splits, and the storages that determine it, by one storage with several
//! ports.
//!
//! Before: a text with a storage field in matrix form, `M + G'*m*G`. After: the text with `Cn` or `In` of the library
//! in place of all these storages, with a port at the place of each independent one. McCalla 1991 (sections 3.3 and
//! 5.2) leaves this case open; it is done only on request.

use rustc_hash::{FxHashMap, FxHashSet};

use super::connections::{Reconnection, Residue};
use super::draft::Draft;
use super::edit::Edits;
use super::name_uses::{KnownVariables, NameUses};
use super::parameters::Parameters;
use super::reduce::{Step, TracedModel};
use super::removed::removed_parts;
use super::rewrite::Rewritten;
use super::script::{Script, fresh};
use super::verify::StateSum;
use super::{Obstacle, RevisionContext};
use crate::bond::fields::storage::{MatrixForm, StorageField, parameter};
use crate::bond::fields::superfluous::without;
use crate::bond::graph::{ElementKind, NodeId};
use crate::bond::net::Gives;
use crate::expr::ExprId;
use crate::flat::{Flat, Leaf, VarId};
use crate::listing::storage_fields::path;
use crate::syntax::ast::{ExperimentKind, Item};

/// Returns the stored variable and its partner, if the storage has one port, which power flows into.
fn plain(traced: &TracedModel, node: NodeId, is_flow: bool) -> Result<(VarId, VarId), Obstacle> {
    let graph = &traced.fields.named.graph;
    let of = graph.node(node);
    let ports = traced.written.ports.of(of.owner).count();
    let found = of.element().and_then(|element| {
        let [[effort, flow]] = &element.quantities[..] else {
            return None;
        };
        let inward = graph.bond(element.ports[0]).to == node;
        let (effort, flow) = (effort.single()?, flow.single()?);
        (inward && ports == 1).then_some(if is_flow {
            (flow, effort)
        } else {
            (effort, flow)
        })
    });
    found.ok_or_else(|| Obstacle::Unwritable(of.name.clone()))
}

/// Returns the text in which the storages are replaced by one storage with several ports.
pub fn combine(
    context: &RevisionContext<'_>,
    traced: &TracedModel,
    text: &str,
    field: &StorageField,
    matrix: &MatrixForm,
) -> Result<Rewritten, Obstacle> {
    let (flat, named) = (&traced.written, &traced.fields.named);
    let graph = &named.graph;
    let script = Script::new(text, flat)?;
    let owner = |node: NodeId| graph.node(node).owner;
    let name_of = |node: NodeId| graph.node(node).name.clone();
    let is_flow = (graph.node(field.dependent).element())
        .is_some_and(|element| element.kind == ElementKind::I);
    let zero = if is_flow { Gives::Effort } else { Gives::Flow };
    script.declared(flat, owner(field.dependent))?;
    let storages = [(named.nodes_of[field.dependent.index()], zero)];
    let removal = without(&traced.model.graph, &storages)
        .map_err(|needed| Obstacle::Needed(traced.model.graph.node(needed.0).name.clone()))?;
    let mut removed = removed_parts(flat, &script, &traced.model, &removal)?;
    for &node in &matrix.storages {
        script.declared(flat, owner(node))?;
        removed.instances.insert(owner(node));
        removed
            .submodels
            .insert(flat.path(owner(node)), Residue::Gap);
    }
    let mut work = traced.fields.flat.clone();
    let mut parameters = Parameters::new(&script, removed.instances.clone(), FxHashSet::default());
    let names: Vec<String> = matrix.storages.iter().map(|&node| name_of(node)).collect();
    let new = fresh(&mut parameters.taken, &names.join("_"));
    let (class, letter, variable) = match is_flow {
        true => ("In", "I", "f"),
        false => ("Cn", "C", "e"),
    };

    // Each old variable in terms of the ports of the new storage.
    let mut was: FxHashMap<VarId, ExprId> = FxHashMap::default();
    let mut sums = Vec::new();
    let mut starts = Vec::new();
    let mut states = Vec::new();
    for (at, &node) in matrix.storages.iter().enumerate() {
        let (stored, partner) = plain(traced, node, is_flow)?;
        let named_now = format!("{new}.{variable}[{}]", at + 1);
        let own = (graph.node(node).element())
            .and_then(|element| parameter(&mut work, owner(node), element))
            .ok_or_else(|| Obstacle::NoParameter(name_of(node)))?;
        let leaf = work.exprs.leaf(Leaf::Var(stored));
        let rate = work.exprs.leaf(Leaf::Der(stored, 1));
        was.insert(stored, leaf);
        was.insert(partner, work.exprs.tidy_mul(own, rate));
        sums.push(StateSum::multiple(
            named_now.clone(),
            flat.name(stored),
            1.0,
        ));
        parameters.names.insert(stored, named_now);
        states.push((stored, leaf, rate));
        for given in &flat.starts {
            if flat.variable(given.variable).instance != owner(node) {
                continue;
            }
            if given.variable != stored {
                return Err(Obstacle::Used(flat.name(given.variable)));
            }
            starts.push((at, given.expression));
        }
    }
    let (stored, partner) = plain(traced, field.dependent, is_flow)?;
    let own = (graph.node(field.dependent).element())
        .and_then(|element| parameter(&mut work, owner(field.dependent), element))
        .ok_or_else(|| Obstacle::NoParameter(name_of(field.dependent)))?;
    let sum = |work: &mut Flat, rates: bool| {
        let mut total = work.exprs.number(0.0);
        for (&(_, leaf, rate), &gain) in states.iter().zip(&matrix.gains) {
            let term = work.exprs.tidy_mul(gain, if rates { rate } else { leaf });
            total = work.exprs.tidy_add(total, term);
        }
        total
    };
    let taken = sum(&mut work, false);
    was.insert(stored, taken);
    let rates = sum(&mut work, true);
    was.insert(partner, work.exprs.tidy_mul(own, rates));

    let mut edits = Edits::default();
    let mut name_uses = NameUses::new(&script, flat, &removed.instances, FxHashSet::default(), &[]);
    let mut known = KnownVariables {
        flat: &mut work,
        was,
    };
    name_uses.rename_settings(&mut known, &mut parameters, &mut edits)?;
    name_uses.rewrite_uses(&mut known, &mut parameters, &mut edits)?;
    for statement in script.experiments().flat_map(|one| &one.body) {
        if let ExperimentKind::Initial(list) = &statement.kind {
            for &(target, _) in list {
                let text = script.reference(target).unwrap_or_default();
                match sums.iter().find(|sum| sum.old[0].name == text) {
                    Some(sum) => edits.replace(target.span.range(), sum.new.clone()),
                    None if script
                        .head(target)
                        .is_some_and(|(head, _)| removed.submodels.contains_key(head)) =>
                    {
                        return Err(Obstacle::Used(text));
                    }
                    None => {}
                }
            }
        }
    }
    let mut entries = Vec::new();
    for &entry in matrix.entries.iter().flatten() {
        entries.push(parameters.text(known.flat, entry)?);
    }
    let mut settings = format!("n = {}, {letter} = [{}]", names.len(), entries.join(", "));
    for (at, start) in starts {
        let text = parameters.text(known.flat, start)?;
        settings.push_str(&format!(", ic {variable}[{}] = {text}", at + 1));
    }
    let reconnection = Reconnection::new(
        &script,
        flat,
        removed.submodels.clone(),
        removed.nodes.clone(),
    );
    let mut connections = Vec::new();
    for (at, &node) in matrix.storages.iter().enumerate() {
        let port = flat.ports.of(owner(node)).next();
        let place = port.and_then(|port| flat.ports.get(port).outside);
        let hub = place.and_then(|place| reconnection.hub(place));
        let hub = hub.ok_or_else(|| Obstacle::Unwritable(name_of(node)))?;
        connections.push(format!("{new}:p[{}] at {hub}", at + 1));
    }
    include_library(&script, &mut edits);
    let mut touched: FxHashSet<String> = removed.submodels.keys().cloned().collect();
    touched.insert(new.clone());
    let draft = Draft {
        script: &script,
        model: &traced.model,
        flat,
        removed: &removed,
        parameters: &parameters,
        name_uses: &name_uses,
        touched,
        sums,
        line: Some(format!("submodel ({class}) {new}({settings})")),
        connections,
    };
    let text = draft.finish(context, edits, flat)?;
    let step = Step {
        removed: name_of(field.dependent),
        into: new.clone(),
        path: path(&traced.fields, field),
        value: format!("{new}.{letter} = [{}]", entries.join(", ")),
        dropped: names,
    };
    Ok(Rewritten {
        text,
        steps: vec![step],
    })
}

/// Includes the library if the file does not include it yet.
pub fn include_library(script: &Script, edits: &mut Edits) {
    let includes = |item: &Item| match item {
        Item::Include(include) => include.name.trim_end_matches(".bgm").ends_with("bondgraph"),
        _ => false,
    };
    if script.ast.items.iter().any(includes) {
        return;
    }
    let at = script.ast.items.first().map(|first| match first {
        Item::Include(include) => include.span.range().start,
        Item::Model(model) => model.span.range().start,
        Item::Experiment(one) => one.span.range().start,
        Item::Error => 0,
    });
    edits.insert(at.unwrap_or(0), "@bondgraph\n");
}
