//! Dynamic augmentation: storages put into the text of a model.
//!
//! Before: a text whose model has dependent storages or implicit R-fields. After: the text with one storage more. Between a junction on
//! the causal path of a dependent inertance and its neighbour goes a stiff compliance, a 0-junction with a C (McCalla 1991,
//! section 2.2, Figures 3 and 4); on the path of a dependent capacitance a small inertance, a 1-junction with an I. At a junction of
//! an implicit R-field goes a parasitic storage that determines what its bonds have in common (Hood, Rosenberg, Withers and
//! Zhou 1987): a C at a 0-junction, an I at a 1-junction. The new storage starts with what the old model has there, and so does
//! the storage that it makes independent.

use std::collections::{BTreeMap, BTreeSet};

use super::connections::Leaving;
use super::edit::Edits;
use super::excerpt::excerpt;
use super::matrix::include_library;
use super::observed::set;
use super::reduce::{Traced, trace};
use super::script::{Script, fresh};
use super::{Desk, Failure, Obstacle};
use crate::bond::fields::Fields;
use crate::bond::fields::storage::parameter;
use crate::bond::graph::{
    BondId, ElementKind, Graph, JunctionKind, Node, NodeId, Quantity, What,
};
use crate::bond::net::Gives;
use crate::bond::order::natural;
use crate::bond::recover::places;
use crate::compile::{Aliases, solved};
use crate::diagnostics::Diagnostics;
use crate::evaluate::{Point, constant, evaluate_start};
use crate::expr::linear::form as form_of;
use crate::expr::show_number;
use crate::flat::{Flat, InstanceId, JunctionId, Leaf, PortId, VarId};
use crate::solve::Solved;
use crate::syntax::ast::ExperimentKind;

/// How fast the new storage is where no experiment tells what is fast.
const RATE: f64 = 1e3;

/// Where a storage can be put in, and what it is to do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Into this bond, to make this storage independent.
    Free { bond: BondId, storage: NodeId },
    /// To break the R-field of this number.
    Break(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// In the graph of named junctions.
    pub junction: NodeId,
    pub purpose: Purpose,
    /// A compliance; else an inertance.
    pub is_c: bool,
}

/// A storage that was put in.
#[derive(Clone, Debug)]
pub struct Added {
    pub name: String,
    /// `C` or `I`
    pub kind: &'static str,
    pub value: String,
    pub junction: String,
    /// What is on the other side of it, if it was put into a bond.
    pub other: Option<String>,
    /// Dependent ports before and after.
    pub dependent: (usize, usize),
    /// Resistors in implicit R-fields before and after.
    pub resistors: (usize, usize),
}

#[derive(Clone, Debug)]
pub struct Augmented {
    pub text: String,
    pub added: Vec<Added>,
}

/// A place where a storage would help.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What it would be good for.
    pub purpose: String,
    pub junction: String,
    pub outcome: Result<Added, Obstacle>,
}

/// Puts storages in at junctions, one after the other.
pub fn augment(
    desk: &Desk<'_>,
    text: &str,
    at: &[String],
    value: Option<f64>,
) -> Result<Augmented, Failure> {
    let traced = trace(desk, text, &[])?;
    let mut done = Augmented {
        text: excerpt(text, &traced.flat),
        added: Vec::new(),
    };
    for junction in at {
        let (text, added) = one(desk, &done.text, junction, value)?;
        done.text = text;
        done.added.push(added);
    }
    Ok(done)
}

fn one(
    desk: &Desk<'_>,
    text: &str,
    at: &str,
    value: Option<f64>,
) -> Result<(String, Added), Failure> {
    let traced = trace(desk, text, &[])?;
    let graph = &traced.fields.named.graph;
    let all = sites(&traced);
    let name = |site: &Site| graph.node(site.junction).name.as_str();
    let Some(site) = all.iter().find(|site| name(site) == at) else {
        let mut known: Vec<&str> = all.iter().map(name).collect();
        known.dedup();
        let exists = (graph.nodes.iter()).any(|node| node.junction().is_some() && node.name == at);
        let what = match exists {
            true => format!("nothing depends on the junction `{at}`"),
            false => format!("there is no junction `{at}`"),
        };
        return Err(Failure::Refused(match known.is_empty() {
            true => format!("{what}; no storage is dependent, and there is no implicit R-field"),
            false => format!("{what}; a storage would help at {}", known.join(", ")),
        }));
    };
    insert(desk, &traced, text, *site, value)
        .map_err(|why| Failure::Refused(format!("no storage can be put in at `{at}`: {why}")))
}

/// Where a storage would help: each place tried.
pub fn propose(desk: &Desk<'_>, text: &str) -> Result<Vec<Proposal>, Failure> {
    let traced = trace(desk, text, &[])?;
    let graph = &traced.fields.named.graph;
    Ok((sites(&traced).into_iter())
        .map(|site| Proposal {
            purpose: match site.purpose {
                Purpose::Free { storage, .. } => {
                    format!("the dependent storage {}", graph.node(storage).name)
                }
                Purpose::Break(number) => {
                    let field = &traced.fields.r_fields[number];
                    let names = field.resistors.iter();
                    let of = &traced.fields.view.graph;
                    let names: Vec<&str> = names.map(|&id| of.node(id).name.as_str()).collect();
                    format!("the R-field of {}", names.join(", "))
                }
            },
            junction: graph.node(site.junction).name.clone(),
            outcome: insert(desk, &traced, text, site, None).map(|(_, added)| added),
        })
        .collect())
}

/// All places: along the paths of dependent storages, then in R-fields.
pub fn sites(traced: &Traced) -> Vec<Site> {
    let fields = &traced.fields;
    let graph = &fields.named.graph;
    let mut found = Vec::new();
    for field in &fields.storage_fields {
        let Some(element) = graph.node(field.dependent).element() else {
            continue;
        };
        let mut flow = element.kind == ElementKind::I;
        for (at, &id) in field.path.iter().enumerate() {
            match &graph.node(id).what {
                What::Element(element) if element.kind == ElementKind::GY => flow = !flow,
                What::Junction(_) => {
                    if let Some(bond) = way(graph, &field.path, at) {
                        found.push(Site {
                            junction: id,
                            purpose: Purpose::Free {
                                bond,
                                storage: field.dependent,
                            },
                            is_c: flow,
                        });
                    }
                }
                _ => {}
            }
        }
    }
    let shown = &fields.view.graph;
    for (number, field) in fields.r_fields.iter().enumerate() {
        let mut junctions: Vec<&str> = (field.bonds.iter())
            .flat_map(|&bond| shown.bond(bond).ends())
            .filter(|&id| shown.node(id).junction().is_some())
            .map(|id| shown.node(id).name.as_str())
            .collect();
        junctions.sort_by(|a, b| natural(a, b));
        junctions.dedup();
        for name in junctions {
            let node = (graph.node_ids()).find(|&id| graph.node(id).name == name);
            let Some((junction, kind)) =
                node.and_then(|id| Some((id, graph.node(id).junction()?)))
            else {
                continue;
            };
            found.push(Site {
                junction,
                purpose: Purpose::Break(number),
                is_c: kind == JunctionKind::Zero,
            });
        }
    }
    found
}

/// The bond of a junction on a path to put a storage into: one that leads on rather than one to an element at its end.
fn way(graph: &Graph, path: &[NodeId], at: usize) -> Option<BondId> {
    let bond = |other: NodeId| {
        (graph.bond_ids()).find(|&bond| {
            let ends = graph.bond(bond).ends();
            ends.contains(&path[at]) && ends.contains(&other)
        })
    };
    let leads_on = |node: NodeId| match &graph.node(node).what {
        What::Element(element) => element.ports.len() > 1,
        _ => true,
    };
    let next = path.get(at + 1).copied();
    let last = path[at.checked_sub(1)?];
    match next.filter(|&next| leads_on(next)) {
        Some(next) => bond(next),
        None => bond(last),
    }
}

/// The text with a storage at this place.
pub fn insert(
    desk: &Desk<'_>,
    traced: &Traced,
    text: &str,
    site: Site,
    value: Option<f64>,
) -> Result<(String, Added), Obstacle> {
    let (flat, fields) = (&traced.flat, &traced.fields);
    let graph = &fields.named.graph;
    let junction = graph.node(site.junction);
    let script = Script::new(text, flat).ok_or_else(|| {
        Obstacle::Unwritable(format!("{}, which stands in another file,", flat.model()))
    })?;
    let known = places(flat);
    let mut taken = script.taken();
    let mut edits = Edits::default();
    let letter = if site.is_c { "C" } else { "I" };
    let name = fresh(&mut taken, &format!("{letter}_{}", junction.name));
    let start = started(flat);
    let place = |id: NodeId| known.get(&graph.node(id).name).copied();
    let mut connections = Vec::new();
    let mut other = None;
    // Written with across and through, which are effort and flow or flow and effort.
    let (class, stored) = match site.purpose {
        Purpose::Break(_) if place(site.junction).is_some() => {
            let at = place(site.junction).ok_or_else(|| unnamed(&junction.name))?;
            check_owner(flat, at, &junction.name)?;
            let leaving = Leaving::new(&script, flat, BTreeMap::new(), BTreeSet::new());
            let hub = leaving.hub(at).ok_or_else(|| unnamed(&junction.name))?;
            connections.push(format!("{name} at {hub}"));
            let of_node = !flat.ports.junctions[at.index()].junction1;
            let bond = (traced.model.graph.bonds.iter()).find(|bond| {
                bond.ends().iter().any(|&id| traced.model.graph.node(id).name == junction.name)
            });
            let stored = bond.map(|bond| if site.is_c { &bond.effort } else { &bond.flow });
            (if of_node { "C" } else { "I" }, stored.cloned())
        }
        purpose => {
            let (bond, towards) = match purpose {
                Purpose::Free { bond, .. } => {
                    let far = graph.bond(bond).other(site.junction);
                    (fields.named.of[bond.index()], Some(far))
                }
                // Inside a part with two pins: at one of them.
                Purpose::Break(_) => (inner(traced, &junction.name)?, None),
            };
            let expanded = &traced.model.graph;
            let (port, at) = port_of(traced, &known, bond, &junction.name)?;
            let owner = flat.ports.get(port).instance;
            other = Some(match towards {
                Some(far) => graph.node(far).name.clone(),
                None => flat.path(owner),
            });
            script.declared(flat, owner)?;
            let carried = expanded.bond(bond);
            // Power goes from A to B.
            let inward = expanded.node(carried.to).owner == owner
                || is_wire_end(flat, port, &carried.flow);
            let (near, far) = match inward {
                true => ("B", "A"),
                false => ("A", "B"),
            };
            let mut leaving = Leaving::new(&script, flat, BTreeMap::new(), BTreeSet::new());
            leaving.moved = Some((port, format!("{name}:{near}")));
            let hub = leaving.hub(at).ok_or_else(|| unnamed(&junction.name))?;
            connections = leaving.edit(&mut edits)?;
            connections.push(format!("{name}:{far} at {hub}"));
            let swapped = across_is_flow(flat, expanded, port, bond);
            let stored = if site.is_c { &carried.effort } else { &carried.flow };
            (
                if site.is_c != swapped { "Cbond" } else { "Ibond" },
                Some(stored.clone()),
            )
        }
    };
    let letter_of_class = if class.starts_with('C') { "C" } else { "I" };
    let size = value.unwrap_or_else(|| suggested(traced, &script, site));
    let value = show_number(size);
    let variable = match class {
        "C" | "Cbond" => "e",
        _ => "f",
    };
    let mut settings = format!("{letter_of_class} = {value}");
    if let Some(value) = stored.and_then(|stored| at_start(start.as_ref(), &stored))
        && value != 0.0
    {
        settings.push_str(&format!(", ic {variable} = {}", show_number(value)));
    }
    if let Purpose::Free { storage, .. } = site.purpose {
        freed_start(traced, &script, start.as_ref(), storage, &mut edits);
    }
    write(&script, (class, &name, &settings), &connections, &mut edits);
    let new = edits.apply(text);
    let after = trace(desk, &new, &[]).map_err(|failure| match failure {
        Failure::Model(_, said) => {
            let first = said.iter().next().map(|one| one.message.clone());
            Obstacle::Broken(first.unwrap_or_default())
        }
        Failure::NoGraph(name) | Failure::Refused(name) => Obstacle::Broken(name),
    })?;
    let added = Added {
        name,
        kind: letter,
        value,
        junction: junction.name.clone(),
        other,
        dependent: (fields.dependent, after.fields.dependent),
        resistors: (in_fields(fields), in_fields(&after.fields)),
    };
    Ok((new, added))
}

fn in_fields(fields: &Fields) -> usize {
    fields.r_fields.iter().map(|field| field.resistors.len()).sum()
}

fn unnamed(name: &str) -> Obstacle {
    Obstacle::Unwritable(name.to_string())
}

/// Only places of the model itself can be written at.
fn check_owner(flat: &Flat, place: JunctionId, name: &str) -> Result<(), Obstacle> {
    match flat.ports.junctions[place.index()].origin == InstanceId::TOP {
        true => Ok(()),
        false => Err(Obstacle::Elsewhere(name.to_string())),
    }
}

/// A bond of the junction inside of a part.
fn inner(traced: &Traced, name: &str) -> Result<BondId, Obstacle> {
    let graph = &traced.model.graph;
    (graph.bond_ids())
        .find(|&bond| {
            let ends = graph.bond(bond).ends();
            let junctions = ends.iter().all(|&id| graph.node(id).junction().is_some());
            junctions && ends.iter().any(|&id| graph.node(id).name == name)
        })
        .ok_or_else(|| unnamed(name))
}

/// The cut at one end of a bond of the expanded graph, and the place that it is connected at: at the junction of this name if it can be.
fn port_of(
    traced: &Traced,
    known: &rustc_hash::FxHashMap<String, JunctionId>,
    bond: BondId,
    junction: &str,
) -> Result<(PortId, JunctionId), Obstacle> {
    let (flat, graph) = (&traced.flat, &traced.model.graph);
    let carried = graph.bond(bond);
    let mut ends = carried.ends();
    ends.sort_by_key(|&id| graph.node(id).name != junction);
    let variables: Vec<_> = [&carried.effort, &carried.flow]
        .into_iter()
        .filter_map(|quantity| quantity.0.as_ref())
        .flatten()
        .map(|&(_, id)| id)
        .collect();
    for end in ends {
        let Some(&place) = known.get(&graph.node(end).name) else {
            continue;
        };
        check_owner(flat, place, junction)?;
        let far = graph.node(carried.other(end)).owner;
        let mut found: Vec<(usize, PortId)> = (flat.ports.ids())
            .filter(|&id| flat.ports.get(id).outside == Some(place))
            .map(|id| {
                let pairs = flat.ports.pairs(id).iter();
                let of = pairs.flat_map(|pair| [pair.across, pair.through]).flatten();
                let shared = of.filter(|one| variables.contains(&one.variable())).count();
                (shared + usize::from(flat.ports.get(id).instance == far), id)
            })
            .collect();
        found.sort_by_key(|&(score, id)| (std::cmp::Reverse(score), id));
        if let Some(&(score, port)) = found.first()
            && score > 0
        {
            return Ok((port, place));
        }
    }
    // Both ends lie inside of parts with two pins: a pin of the element, at the junction if it has one there.
    let owners = ends.map(|id| graph.node(id).owner);
    let wanted = known.get(junction);
    let mut pins: Vec<(bool, PortId, JunctionId)> = (owners.iter())
        .filter(|&&owner| owner != InstanceId::TOP)
        .flat_map(|&owner| flat.ports.of(owner))
        .filter_map(|port| {
            let place = flat.ports.get(port).outside?;
            Some((wanted != Some(&place), port, place))
        })
        .collect();
    pins.sort_unstable();
    let &(_, port, place) = pins.first().ok_or_else(|| unnamed(junction))?;
    check_owner(flat, place, junction)?;
    Ok((port, place))
}

/// Of a link the cut that power goes into.
fn is_wire_end(flat: &Flat, port: PortId, flow: &Quantity) -> bool {
    let pairs = flat.ports.pairs(port).iter();
    let mut through = pairs.filter_map(|pair| pair.through);
    through.any(|one| {
        let carries = flow.0.as_ref().is_some_and(|terms| {
            terms.iter().any(|&(_, variable)| variable == one.variable())
        });
        carries && !one.negative()
    })
}

/// Whether the across variable of a cut is the flow of its bond.
fn across_is_flow(flat: &Flat, graph: &Graph, port: PortId, bond: BondId) -> bool {
    let carried = graph.bond(bond);
    let (mut across, mut through) = (Vec::new(), Vec::new());
    for pair in flat.ports.pairs(port) {
        across.extend(pair.across.map(|one| one.variable()));
        through.extend(pair.through.map(|one| one.variable()));
    }
    let has = |quantity: &Quantity, of: &[VarId]| {
        let mut terms = quantity.0.iter().flatten();
        terms.any(|(_, variable)| of.contains(variable))
    };
    if has(&carried.effort, &across) || has(&carried.flow, &through) {
        return false;
    }
    if has(&carried.flow, &across) || has(&carried.effort, &through) {
        return true;
    }
    // Where neither is the cut's own variable, the kinds of written junctions tell.
    let place = flat.ports.get(port).outside;
    let written = place.is_some_and(|at| flat.ports.junctions[at.index()].junction1);
    let kind = (carried.ends().iter()).find_map(|&id| graph.node(id).junction());
    kind.is_some_and(|kind| (kind == JunctionKind::One) != written)
}

/// The values of a model at its start.
fn started(flat: &Flat) -> Option<(Solved, Point)> {
    let solved = solved(flat.clone(), Aliases::Keep, &mut Diagnostics::default())?;
    let mut point = Point::new(&solved);
    evaluate_start(&solved, &mut point).ok()?;
    Some((solved, point))
}

fn at_start(start: Option<&(Solved, Point)>, quantity: &Quantity) -> Option<f64> {
    let (_, point) = start?;
    let terms = quantity.0.as_ref()?;
    let mut sum = 0.0;
    for &(negative, id) in terms {
        let value = point.real(Leaf::Var(id))?;
        sum += if negative { -value } else { value };
    }
    Some(sum)
}

/// The storage that becomes independent starts where it was.
fn freed_start(
    traced: &Traced,
    script: &Script,
    start: Option<&(Solved, Point)>,
    storage: NodeId,
    edits: &mut Edits,
) {
    let (flat, graph) = (&traced.flat, &traced.fields.named.graph);
    let node = graph.node(storage);
    let (Some(element), Some((_, point))) = (node.element(), start) else {
        return;
    };
    for &state in &element.states {
        let own = flat.variable(state).instance == node.owner;
        let Some(value) = point.real(Leaf::Var(state)).filter(|value| *value != 0.0) else {
            continue;
        };
        if let (true, None, Ok(declared)) =
            (own, flat.start(state), script.declared(flat, node.owner))
        {
            let name = flat.names.name(flat.declaration(state).name);
            set(script, declared, name, true, &show_number(value), edits);
        }
    }
}

/// Stiff enough: fast beside the storage that it frees, or the resistors around it, and beside the experiment.
fn suggested(traced: &Traced, script: &Script, site: Site) -> f64 {
    let whole = (script.experiments().flat_map(|one| &one.body)).find_map(|statement| {
        let ExperimentKind::Simutime(value) = statement.kind else {
            return None;
        };
        script.source(script.ast.exprs.span(value)).trim().parse::<f64>().ok()
    });
    let rate = whole.filter(|time| *time > 0.0).map_or(RATE, |time| 10.0 * RATE / time);
    let mut flat = traced.flat.clone();
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
    // One digit is enough.
    let rounded = format!("{exact:.0e}").parse().ok();
    rounded.filter(|value: &f64| *value > 0.0 && value.is_finite()).unwrap_or(1.0 / RATE)
}

/// The resistance of a linear resistor.
fn resistance(flat: &mut Flat, node: &Node) -> Option<f64> {
    let element = node.element()?;
    let [[effort, flow]] = &element.quantities[..] else {
        return None;
    };
    let (effort, flow) = (effort.single()?, flow.single()?);
    let form = element.forms.iter().find(|form| form.gives == [Gives::Effort])?;
    let assigned = form.assignments.iter().find(|one| one.target == Leaf::Var(effort))?;
    let number = |leaf: Leaf| (leaf == Leaf::Var(flow)).then_some(0);
    let linear = form_of(&mut flat.exprs, assigned.value?, &number)?;
    constant(flat, linear.coefficient(0)?)
}

/// Declares and connects.
fn write(
    script: &Script,
    (class, name, settings): (&str, &str, &str),
    connections: &[String],
    edits: &mut Edits,
) {
    include_library(script, edits);
    if let Some(last) = script.body().last() {
        let blanks = script.indentation(last.span);
        let mut lines = format!("\n{blanks}submodel ({class}) {name}({settings})");
        lines.push_str(&format!("\n{blanks}connect {}", connections.join(", ")));
        let end = last.span.range().end;
        let line_end = (script.text[end..].find('\n')).map_or(script.text.len(), |at| end + at);
        edits.insert(line_end, lines);
    }
}
