//! Dynamic augmentation: storages put into the text of a model.
//!
//! Before: a text whose model has dependent storages or implicit R-fields. After: the text with one storage more. Between a junction on
//! the causal path of a dependent inertance and its neighbour goes a stiff compliance, a 0-junction with a C (McCalla 1991,
//! section 2.2, Figures 3 and 4); on the path of a dependent capacitance a small inertance, a 1-junction with an I. At a junction of
//! an implicit R-field goes a parasitic storage that determines what its bonds have in common (Hood, Rosenberg, Withers and
//! Zhou 1987): a C at a 0-junction, an I at a 1-junction. The new storage starts with what the old model has there, and so does
//! the storage that it makes independent.

mod place;
mod site;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::connections::Leaving;
use super::edit::Edits;
use super::excerpt::excerpt;
use super::expand::expand;
use super::matrix::include_library;
use super::reduce::{Traced, trace};
use super::script::{Script, fresh};
use super::{Desk, Failure, Obstacle};
use crate::bond::fields::Fields;
use crate::bond::graph::NodeId;
use crate::bond::order::natural;
use crate::bond::recover::junctions_by_name;
use crate::expr::show_number;
use place::{across_is_flow, check_owner, inner, is_wire_end, port_of, unnamed};
pub use site::{Purpose, Site, sites};
use values::{at_start, keep_starts, keep_starts_of_experiments, started, suggested};

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
    /// The model was written out to reach what lies deeper.
    pub expanded: bool,
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
        text: excerpt(text, &traced.written),
        expanded: false,
        added: Vec::new(),
    };
    for junction in at {
        let mut name = junction.clone();
        let mut made = one(desk, &done.text, &name, value)?;
        if let Err(Obstacle::Elsewhere(_)) = made
            && !done.expanded
        {
            // What lies deeper can be reached when the model is written out.
            let flat = trace(desk, &done.text, &[])?.written;
            if let Ok(text) = expand(desk, &done.text, &flat) {
                done.text = excerpt(&text, &flat);
                done.expanded = true;
                name = fresh(&mut FxHashSet::default(), junction);
                made = one(desk, &done.text, &name, value)?;
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

type Made = Result<(String, Added), Obstacle>;

fn one(desk: &Desk<'_>, text: &str, at: &str, value: Option<f64>) -> Result<Made, Failure> {
    let traced = trace(desk, text, &[])?;
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
    Ok(insert(desk, &traced, text, *site, value))
}

/// Where a storage would help: each place tried.
pub fn propose(desk: &Desk<'_>, text: &str) -> Result<Vec<Proposal>, Failure> {
    let traced = trace(desk, text, &[])?;
    let graph = &traced.fields.named.graph;
    let mut written_out: Option<Option<String>> = None;
    let mut tried = |site: Site| {
        let made = insert(desk, &traced, text, site, None);
        if let Err(Obstacle::Elsewhere(_)) = made {
            let text = written_out.get_or_insert_with(|| expand(desk, text, &traced.written).ok());
            let name = fresh(&mut FxHashSet::default(), &graph.node(site.junction).name);
            if let Some(text) = text
                && let Ok(again) = one(desk, text, &name, None)
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

/// The text with a storage at this place.
pub fn insert(
    desk: &Desk<'_>,
    traced: &Traced,
    text: &str,
    site: Site,
    value: Option<f64>,
) -> Made {
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
            let inward =
                expanded.node(carried.to).owner == owner || is_wire_end(flat, port, &carried.flow);
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
    keep_starts_of_experiments(desk, traced, &script, (&new, begins), &mut edits);
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
    fields
        .r_fields
        .iter()
        .map(|field| field.resistors.len())
        .sum()
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
