//! The parameter of a new storage, and its start value.

use super::site::{Purpose, Site};
use crate::base::diagnostics::Diagnostics;
use crate::bond::fields::storage::parameter;
use crate::bond::graph::{Node, NodeId, Quantity};
use crate::bond::net::Gives;
use crate::compile::{Aliases, solved};
use crate::evaluate::{Point, constant, evaluate_start};
use crate::expr::linear::form as form_of;
use crate::expr::show_number;
use crate::flat::{Flat, Leaf, VarId};
use crate::passes::blocks::Solved;
use crate::revise::RevisionContext;
use crate::revise::edit::Edits;
use crate::revise::name_uses::set;
use crate::revise::reduce::TracedModel;
use crate::revise::script::Script;
use crate::syntax::ast::ExperimentKind;

/// The rate of the new storage, per unit of time, if no experiment gives a duration.
const RATE: f64 = 1e3;

/// Evaluates a model at its start.
pub fn started(flat: &Flat) -> Option<(Solved, Point)> {
    let solved = solved(flat.clone(), Aliases::Keep, &mut Diagnostics::default())?.solved;
    let mut point = Point::new(&solved);
    evaluate_start(&solved, &mut point).ok()?;
    Some((solved, point))
}

pub fn at_start(start: Option<&(Solved, Point)>, quantity: &Quantity) -> Option<f64> {
    let (_, point) = start?;
    let terms = quantity.0.as_ref()?;
    let mut sum = 0.0;
    for &(negative, id) in terms {
        let value = point.real(Leaf::Var(id))?;
        sum += if negative { -value } else { value };
    }
    Some(sum)
}

/// Returns the storages whose start values follow from others, with their states and start values.
fn followers(
    traced: &TracedModel,
    flat: &Flat,
    start: Option<&(Solved, Point)>,
) -> Vec<(NodeId, VarId, f64)> {
    let graph = &traced.fields.named.graph;
    let Some((_, point)) = start else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (id, element) in graph.elements() {
        for &state in &element.states {
            let value = point.real(Leaf::Var(state)).filter(|value| *value != 0.0);
            let own = flat.variable(state).instance == graph.node(id).owner;
            if let (true, None, Some(value)) = (own, flat.start(state), value) {
                found.push((id, state, value));
            }
        }
    }
    found
}

/// Gives explicit start values to storages that become independent.
pub fn keep_starts(
    traced: &TracedModel,
    script: &Script,
    start: Option<&(Solved, Point)>,
    edits: &mut Edits,
) {
    let (flat, graph) = (&traced.written, &traced.fields.named.graph);
    for (node, state, value) in followers(traced, flat, start) {
        if let Ok(declared) = script.declared(flat, graph.node(node).owner) {
            let name = flat.names.name(flat.declaration(state).name);
            set(script, declared, name, true, &show_number(value), edits);
        }
    }
}

/// Does the same in experiments, which may have other start values, parameters and inputs: lines are added that give
/// start values to the new storage and to the storages that become independent.
pub fn keep_starts_of_experiments(
    context: &RevisionContext<'_>,
    traced: &TracedModel,
    script: &Script,
    (new, stored): (&str, Option<&Quantity>),
    edits: &mut Edits,
) {
    for (experiment, name) in script
        .experiments()
        .filter(|one| !one.classic)
        .zip(script.experiment_names())
    {
        let Some(flat) = context.compile_with(&script.text, &name).flat else {
            continue;
        };
        let start = started(&flat);
        let own = stored.and_then(|stored| at_start(start.as_ref(), stored));
        let mut items: Vec<String> = (own.into_iter())
            .map(|value| format!("{new} = {}", show_number(value)))
            .collect();
        items.extend(
            (followers(traced, &flat, start.as_ref()).into_iter())
                .map(|(_, state, value)| format!("{} = {}", flat.name(state), show_number(value))),
        );
        let Some(last) = experiment.body.last().filter(|_| !items.is_empty()) else {
            continue;
        };
        let end = last.span.range().end;
        let line_end = (script.text[end..].find('\n')).map_or(script.text.len(), |at| end + at);
        let blanks = script.indentation(last.span);
        edits.insert(line_end, format!("\n{blanks}init {}", items.join(", ")));
    }
}

/// Returns a parameter that makes the new storage fast compared with the storage that it makes independent, or the
/// resistors around it, and with the experiment.
pub fn suggested(traced: &TracedModel, script: &Script, site: Site) -> f64 {
    let whole = (script.experiments().flat_map(|one| &one.body)).find_map(|statement| {
        let ExperimentKind::Simutime(value) = statement.kind else {
            return None;
        };
        script
            .source(script.ast.exprs.span(value))
            .trim()
            .parse::<f64>()
            .ok()
    });
    let rate = whole
        .filter(|time| *time > 0.0)
        .map_or(RATE, |time| 10.0 * RATE / time);
    let mut flat = traced.fields.flat.clone();
    let exact = match site.purpose {
        Purpose::Free { storage, .. } => {
            let node = traced.fields.named.graph.node(storage);
            let own = (node.element())
                .and_then(|element| parameter(&mut flat, node.owner, element))
                .and_then(|own| constant(&flat, own));
            1.0 / (rate * rate * own.map_or(1.0, f64::abs))
        }
        Purpose::Break(number) => {
            let field = &traced.fields.r_fields[number];
            let values: Vec<f64> = (field.resistors.iter())
                .filter_map(|&id| resistance(&mut flat, traced.fields.view.graph.node(id)))
                .filter(|value| *value > 0.0)
                .collect();
            match site.is_c {
                true => 1.0 / (rate * values.iter().copied().reduce(f64::max).unwrap_or(1.0)),
                false => values.iter().copied().reduce(f64::min).unwrap_or(1.0) / rate,
            }
        }
    };
    // The value is rounded to one digit.
    let rounded = format!("{exact:.0e}").parse().ok();
    rounded
        .filter(|value: &f64| *value > 0.0 && value.is_finite())
        .unwrap_or(1.0 / RATE)
}

/// Returns the resistance of a linear resistor.
fn resistance(flat: &mut Flat, node: &Node) -> Option<f64> {
    let element = node.element()?;
    let [[effort, flow]] = &element.quantities[..] else {
        return None;
    };
    let (effort, flow) = (effort.single()?, flow.single()?);
    let form = element
        .forms
        .iter()
        .find(|form| form.gives == [Gives::Effort])?;
    let assigned = form
        .assignments
        .iter()
        .find(|one| one.target == Leaf::Var(effort))?;
    let number = |leaf: Leaf| (leaf == Leaf::Var(flow)).then_some(0);
    let linear = form_of(&mut flat.exprs, assigned.value?, &number)?;
    constant(flat, linear.coefficient(0)?)
}
