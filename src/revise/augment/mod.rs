//! Dynamic augmentation: adds storages to the text of a model.
//!
//! Before: a text whose model has dependent storages or implicit R-fields. After: the text with one storage more.
//! Between a junction on the causal path of a dependent inertance and its neighbour a stiff compliance is inserted, a
//! 0-junction with a C (McCalla 1991, section 2.2, Figures 3 and 4); on the path of a dependent capacitance a small
//! inertance, a 1-junction with an I. At a junction of an implicit R-field a parasitic storage is added that
//! determines the common variable of its bonds (Hood, Rosenberg, Withers and Zhou 1987): a C at a 0-junction, an I at
//! a 1-junction. The new storage, and the storage that becomes independent, start with the values that the old model
//! has at its start.

mod place;
mod site;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::connections::Reconnection;
use super::edit::Edits;
use super::excerpt::excerpt;
use super::expand::expand;
use super::matrix::include_library;
use super::reduce::{TracedModel, trace};
use super::script::{Script, fresh};
use super::{Failure, Obstacle, RevisionContext};
use crate::bond::fields::Fields;
use crate::bond::graph::NodeId;
use crate::bond::order::natural;
use crate::bond::recover::junctions_by_name;
use crate::expr::show_number;
use place::{across_is_flow, check_owner, inner, is_wire_end, port_of, unnamed};
pub use site::{Purpose, Site, sites};
use values::{at_start, keep_starts, keep_starts_of_experiments, started, suggested};

/// A storage that was added.
#[derive(Clone, Debug)]
pub struct Added {
    pub name: String,
    /// `C` or `I`
    pub kind: &'static str,
    pub value: String,
    pub junction: String,
    /// The other end of the bond, if the storage was inserted into a bond.
    pub other: Option<String>,
    /// Dependent ports before and after.
    pub dependent: (usize, usize),
    /// Resistors in implicit R-fields before and after.
    pub resistors: (usize, usize),
}

#[derive(Clone, Debug)]
pub struct Augmented {
    pub text: String,
    /// True if the model was expanded to reach a submodel inside another one.
    pub expanded: bool,
    pub added: Vec<Added>,
}

/// A place where a storage would help.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The storage or R-field that the new storage would help.
    pub purpose: String,
    pub junction: String,
    pub outcome: Result<Added, Obstacle>,
}

/// Adds storages at junctions, one after the other.
pub fn augment(
    context: &RevisionContext<'_>,
    text: &str,
    at: &[String],
    value: Option<f64>,
) -> Result<Augmented, Failure> {
    let traced = trace(context, text, &[])?;
    let mut done = Augmented {
        text: excerpt(text, &traced.written),
        expanded: false,
        added: Vec::new(),
    };
    for junction in at {
        let mut name = junction.clone();
        let mut made = augment_once(context, &done.text, &name, value)?;
        if let Err(Obstacle::Elsewhere(_)) = made
            && !done.expanded
        {
            // Submodels inside others can be reached when the model is expanded.
            let flat = trace(context, &done.text, &[])?.written;
            if let Ok(text) = expand(context, &done.text, &flat) {
                done.text = excerpt(&text, &flat);
                done.expanded = true;
                name = fresh(&mut FxHashSet::default(), junction);
                made = augment_once(context, &done.text, &name, value)?;
            }
        }
        let (text, added) = made.map_err(|why| {
            Failure::Refused(format!("no storage can be put in at `{name}`: {why}"))
        })?;
        done.text = text;
        done.added.push(added);
    }
    Ok(done)
}

type InsertResult = Result<(String, Added), Obstacle>;

fn augment_once(
    context: &RevisionContext<'_>,
    text: &str,
    at: &str,
    value: Option<f64>,
) -> Result<InsertResult, Failure> {
    let traced = trace(context, text, &[])?;
    let graph = &traced.fields.named.graph;
    let all = sites(&traced);
    let name = |site: &Site| graph.node(site.junction).name.as_str();
    let Some(site) = all.iter().find(|site| name(site) == at) else {
        let mut known: Vec<&str> = all.iter().map(name).collect();
        known.sort_by(|a, b| natural(a, b));
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
    Ok(insert(context, &traced, text, *site, value))
}

/// Lists the places where a storage would help. Each place is tried.
pub fn propose(context: &RevisionContext<'_>, text: &str) -> Result<Vec<Proposal>, Failure> {
    let traced = trace(context, text, &[])?;
    let graph = &traced.fields.named.graph;
    let mut written_out: Option<Option<String>> = None;
    let mut tried = |site: Site| {
        let made = insert(context, &traced, text, site, None);
        if let Err(Obstacle::Elsewhere(_)) = made {
            let text =
                written_out.get_or_insert_with(|| expand(context, text, &traced.written).ok());
            let name = fresh(&mut FxHashSet::default(), &graph.node(site.junction).name);
            if let Some(text) = text
                && let Ok(again) = augment_once(context, text, &name, None)
            {
                return again;
            }
        }
        made
    };
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
            outcome: tried(site).map(|(_, added)| added),
        })
        .collect())
}

/// Returns the text with a storage at this site.
pub fn insert(
    context: &RevisionContext<'_>,
    traced: &TracedModel,
    text: &str,
    site: Site,
    value: Option<f64>,
) -> InsertResult {
    let (flat, fields) = (&traced.written, &traced.fields);
    let graph = &fields.named.graph;
    let junction = graph.node(site.junction);
    let script = Script::new(text, flat)?;
    let known = junctions_by_name(flat);
    let mut taken = script.taken();
    let mut edits = Edits::default();
    let letter = if site.is_c { "C" } else { "I" };
    let name = fresh(&mut taken, &format!("{letter}_{}", junction.name));
    let start = started(flat);
    let place = |id: NodeId| known.get(&graph.node(id).name).copied();
    let mut connections = Vec::new();
    let mut other = None;
    // The classes are written with across and through variables, which are effort and flow, or flow and effort.
    let (class, stored) = match site.purpose {
        Purpose::Break(_) if place(site.junction).is_some() => {
            let at = place(site.junction).ok_or_else(|| unnamed(&junction.name))?;
            check_owner(flat, at, &junction.name)?;
            let reconnection = Reconnection::new(&script, flat, BTreeMap::new(), BTreeSet::new());
            let hub = reconnection
                .hub(at)
                .ok_or_else(|| unnamed(&junction.name))?;
            connections.push(format!("{name} at {hub}"));
            let of_node = !flat.ports.junctions[at.index()].junction1;
            let bond = (traced.model.graph.bonds.iter()).find(|bond| {
                bond.ends()
                    .iter()
                    .any(|&id| traced.model.graph.node(id).name == junction.name)
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
                // The junction is inside a part with two pins: the storage is inserted at one of them.
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
            // The power of the new part flows from A to B.
            let inward =
                expanded.node(carried.to).owner == owner || is_wire_end(flat, port, &carried.flow);
            let (near, far) = match inward {
                true => ("B", "A"),
                false => ("A", "B"),
            };
            let mut reconnection =
                Reconnection::new(&script, flat, BTreeMap::new(), BTreeSet::new());
            reconnection.moved = Some((port, format!("{name}:{near}")));
            let hub = reconnection
                .hub(at)
                .ok_or_else(|| unnamed(&junction.name))?;
            connections = reconnection.edit(&mut edits)?;
            connections.push(format!("{name}:{far} at {hub}"));
            let swapped = across_is_flow(flat, expanded, port, bond);
            let stored = if site.is_c {
                &carried.effort
            } else {
                &carried.flow
            };
            (
                if site.is_c != swapped {
                    "Cbond"
                } else {
                    "Ibond"
                },
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
    let begins = stored.as_ref();
    if let Some(value) = begins.and_then(|stored| at_start(start.as_ref(), stored))
        && value != 0.0
    {
        settings.push_str(&format!(", ic {variable} = {}", show_number(value)));
    }
    keep_starts(traced, &script, start.as_ref(), &mut edits);
    let new = format!("{name}.{variable}");
    keep_starts_of_experiments(context, traced, &script, (&new, begins), &mut edits);
    write(&script, (class, &name, &settings), &connections, &mut edits);
    let new = edits.apply(text);
    let after = trace(context, &new, &[]).map_err(|failure| match failure {
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
    fields
        .r_fields
        .iter()
        .map(|field| field.resistors.len())
        .sum()
}

/// Declares the new storage and connects it.
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
