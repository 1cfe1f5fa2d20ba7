//! Storage fields reduced in the text of a model.
//!
//! Before: a text whose model has storages that depend on others. After: the text without them, as far as McCalla 1991 (chapter 3) goes: the
//! storage at the end of the causal path has the equivalent parameter, an expression of the old ones, and what serves no purpose any more
//! is gone. All fields that can be reduced are, and again those that come to light, until none is left. Trajectories stay the
//! same: start values move with the storages, and what is observed of a storage that is gone becomes a variable of the model.

use rustc_hash::{FxHashMap, FxHashSet};

use super::excerpt::excerpt;
use super::expand::expand;
use super::form::Form;
use super::matrix::combine;
use super::merge::{groups, merge};
use super::rewrite::{Taken, rewrite};
use super::script::fresh;
use super::{Desk, Failure, Obstacle};
use crate::base::diagnostics::Diagnostics;
use crate::bond::BondGraph;
use crate::bond::fields::storage::StorageField;
use crate::bond::fields::{Fields, fields};
use crate::bond::graph::ElementKind;
use crate::compile::bond_graph;
use crate::flat::Flat;
use crate::listing::storage_fields;

/// What is to go.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Storages to be removed rather than those that they are tied to.
    pub remove: Vec<String>,
    /// Only these, nothing else.
    pub only: bool,
    /// Paths that split, too: as storages with several ports.
    pub matrix: bool,
    /// Independent storages of one kind that share their rate, too.
    pub merge: bool,
    /// How equivalents are written; else as the types have their parameters.
    pub form: Option<Form>,
}

/// A storage that is gone.
#[derive(Clone, Debug)]
pub struct Step {
    pub removed: String,
    pub into: String,
    /// `I2 1B TF 1A I1`
    pub path: String,
    /// `I1.I = m1 + (b/a)**2*m2`
    pub value: String,
    /// What else is gone.
    pub dropped: Vec<String>,
}

/// A dependent storage that stays.
#[derive(Clone, Debug)]
pub struct Left {
    pub name: String,
    pub path: String,
    pub why: String,
}

#[derive(Clone, Debug, Default)]
pub struct Revised {
    pub text: String,
    /// The model was written out to reach what lies deeper.
    pub expanded: bool,
    pub steps: Vec<Step>,
    pub left: Vec<Left>,
}

/// A model with its fields. Expressions of the graph and of the fields are in the model that the fields hold.
#[derive(Debug)]
pub struct Traced {
    /// As it was written: it has the same instances and variables, but fewer equations and expressions.
    pub written: Flat,
    pub model: BondGraph,
    pub fields: Fields,
}

/// Compiles a text and traces its storage fields; storages named in `remove` are made the dependent ones.
pub fn trace(desk: &Desk<'_>, text: &str, remove: &[String]) -> Result<Traced, Failure> {
    let mut compiled = desk.compile(text);
    let Some(flat) = compiled.flat.take() else {
        return Err(Failure::Model(compiled.sources, compiled.diagnostics));
    };
    let name = flat.model().to_string();
    let wishes: Vec<String> = (remove.iter())
        .map(|name| format!("{name}=derivative"))
        .collect();
    let mut said = Diagnostics::default();
    let model = bond_graph(flat.clone(), &wishes, &mut said).map_err(Failure::Refused)?;
    let Some(model) = model else {
        return Err(Failure::NoGraph(name));
    };
    if model.sorted.is_none() {
        compiled.diagnostics.extend(said.iter().cloned());
        return Err(Failure::Model(compiled.sources, compiled.diagnostics));
    }
    let fields = fields(&model, false);
    Ok(Traced {
        written: flat,
        model,
        fields,
    })
}

/// Takes out what can be.
pub fn reduce(desk: &Desk<'_>, text: &str, wishes: &Wishes) -> Result<Revised, Failure> {
    let whole = trace(desk, text, &[])?;
    let mut revised = Revised {
        text: excerpt(text, &whole.written),
        ..Revised::default()
    };
    let mut wanted: Vec<String> = wishes.remove.clone();
    for name in &wanted {
        let graph = &whole.model.graph;
        let stores = |kind: ElementKind| matches!(kind, ElementKind::C | ElementKind::I);
        let storages: Vec<&str> = (graph.elements())
            .filter(|(_, element)| stores(element.kind))
            .map(|(id, _)| graph.node(id).name.as_str())
            .collect();
        if !storages.contains(&name.as_str()) {
            let list = &storages[..storages.len().min(8)];
            return Err(Failure::Refused(match list.is_empty() {
                true => format!("there is no storage `{name}`, nor any other"),
                false => format!(
                    "there is no storage `{name}`; there are {}",
                    list.join(", ")
                ),
            }));
        }
    }
    let mut refused: FxHashMap<String, Obstacle> = FxHashMap::default();
    loop {
        let mut traced = trace(desk, &revised.text, &wanted)?;
        let candidates: Vec<StorageField> = (traced.fields.storage_fields.iter())
            .filter(|field| field.outcome.is_ok())
            .filter(|field| {
                let name = name(&traced, field);
                !refused.contains_key(&name) && (!wishes.only || wanted.contains(&name))
            })
            .cloned()
            .collect();
        if candidates.is_empty() {
            match beyond(desk, &traced, &revised.text, wishes, &mut refused) {
                Some(Taken { text, steps }) => {
                    revised.text = text;
                    revised.steps.extend(steps);
                    continue;
                }
                None => {
                    // What lies deeper can be reached when the model is written out.
                    let deeper = |why: &Obstacle| matches!(why, Obstacle::Elsewhere(_));
                    if !revised.expanded
                        && refused.values().any(deeper)
                        && let Ok(text) = expand(desk, &revised.text, &traced.written)
                    {
                        // What was inherited or contained is not any more.
                        let text = excerpt(&text, &traced.written);
                        refused.retain(|_, why| !deeper(why));
                        wanted = renamed(&wanted);
                        revised.text = text;
                        revised.expanded = true;
                        continue;
                    }
                    check_wishes(&traced, &wanted, &refused)?;
                    revised.left = left(&traced, &refused);
                    return Ok(revised);
                }
            }
        }
        let done =
            rewrite(desk, &mut traced, &revised.text, &candidates, wishes.form).or_else(|why| {
                // One after the other, to find out which it is.
                let mut why = why;
                for field in &candidates {
                    match rewrite(
                        desk,
                        &mut traced,
                        &revised.text,
                        std::slice::from_ref(field),
                        wishes.form,
                    ) {
                        Ok(done) => return Ok(done),
                        Err(obstacle) => {
                            refused.insert(name(&traced, field), obstacle.clone());
                            why = obstacle;
                        }
                    }
                }
                Err(why)
            });
        if let Ok(Taken { text, steps }) = done {
            let gone: FxHashSet<&str> = steps.iter().map(|step| step.removed.as_str()).collect();
            wanted.retain(|name| !gone.contains(name.as_str()));
            revised.text = text;
            revised.steps.extend(steps);
        }
    }
}

/// Names of submodels as they are when the model is written out.
fn renamed(names: &[String]) -> Vec<String> {
    let clean = |name: &String| fresh(&mut FxHashSet::default(), name);
    names.iter().map(clean).collect()
}

/// What goes beyond the thesis, if it is asked for: one change at a time.
fn beyond(
    desk: &Desk<'_>,
    traced: &Traced,
    text: &str,
    wishes: &Wishes,
    refused: &mut FxHashMap<String, Obstacle>,
) -> Option<Taken> {
    let split = (traced.fields.storage_fields.iter()).filter(|_| wishes.matrix);
    for field in split {
        let name = name(traced, field);
        if let Some(matrix) = &field.matrix
            && !refused.contains_key(&name)
        {
            match combine(desk, traced, text, field, matrix) {
                Ok(done) => return Some(done),
                Err(why) => {
                    refused.insert(name, why);
                }
            }
        }
    }
    let alike = if wishes.merge {
        groups(traced)
    } else {
        Vec::new()
    };
    for group in alike {
        let name = group.name(traced);
        if refused.contains_key(&name) {
            continue;
        }
        match merge(desk, traced, text, &group, wishes.form) {
            Ok(done) => return Some(done),
            Err(why) => refused.insert(name, why),
        };
    }
    None
}

fn name(traced: &Traced, field: &StorageField) -> String {
    let graph = &traced.fields.named.graph;
    graph.node(field.dependent).name.clone()
}

/// What was asked for by name and cannot be had is an error.
fn check_wishes(
    traced: &Traced,
    wanted: &[String],
    refused: &FxHashMap<String, Obstacle>,
) -> Result<(), Failure> {
    for wish in wanted {
        let fields = &traced.fields.storage_fields;
        let cannot = |why: String| Failure::Refused(format!("`{wish}` cannot be removed: {why}"));
        let Some(field) = fields.iter().find(|field| name(traced, field) == *wish) else {
            let why = "it does not depend on another storage, and none depends on it in its stead";
            return Err(cannot(why.to_string()));
        };
        if let Err(why) = field.outcome {
            return Err(cannot(storage_fields::refusal(&traced.fields, why)));
        }
        if let Some(why) = refused.get(wish) {
            return Err(cannot(why.to_string()));
        }
    }
    Ok(())
}

/// The dependent storages that stay, and why.
fn left(traced: &Traced, refused: &FxHashMap<String, Obstacle>) -> Vec<Left> {
    let found = &traced.fields;
    (found.storage_fields.iter())
        .map(|field| {
            let name = name(traced, field);
            let why = match (refused.get(&name), field.outcome) {
                (Some(obstacle), _) => obstacle.to_string(),
                (None, Err(why)) => storage_fields::refusal(found, why),
                (None, Ok(_)) => "it was not asked for".to_string(),
            };
            Left {
                path: storage_fields::path(found, field),
                name,
                why,
            }
        })
        .chain(groups_left(traced, refused))
        .collect()
}

/// Storages that were to be merged and stay.
fn groups_left(traced: &Traced, refused: &FxHashMap<String, Obstacle>) -> Vec<Left> {
    (groups(traced).iter())
        .filter_map(|group| {
            let name = group.name(traced);
            let why = refused.get(&name)?.to_string();
            let junction = traced.fields.named.graph.node(group.junction);
            Some(Left {
                path: junction.name.clone(),
                name,
                why,
            })
        })
        .collect()
}
