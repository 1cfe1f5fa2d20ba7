//! Reduces storage fields in the text of a model.
//!
//! Before: a text whose model has dependent storages. After: the text without them, as far as the methods of McCalla
//! 1991 (chapter 3) go: the storage at the other end of the causal path has the equivalent parameter, an expression
//! of the old ones, and parts without a purpose are removed. This is repeated, because a reduction can reveal further
//! fields. Trajectories do not change: start values are transferred to the remaining storages, and uses of removed
//! storages become variables of the model.

use rustc_hash::{FxHashMap, FxHashSet};

use super::excerpt::excerpt;
use super::expand::expand;
use super::form::Form;
use super::matrix::combine;
use super::merge::{groups, merge};
use super::rewrite::{Rewritten, rewrite};
use super::script::fresh;
use super::{Failure, Obstacle, RevisionContext};
use crate::base::diagnostics::Diagnostics;
use crate::bond::BondGraph;
use crate::bond::fields::storage::StorageField;
use crate::bond::fields::{Fields, fields};
use crate::bond::graph::ElementKind;
use crate::compile::bond_graph;
use crate::flat::Flat;
use crate::listing::storage_fields;

/// Options of a reduction.
#[derive(Clone, Debug, Default)]
pub struct ReduceOptions {
    /// Storages to remove instead of the dependent ones that they are tied to.
    pub remove: Vec<String>,
    /// True: remove only these.
    pub only: bool,
    /// True: replace storages whose path splits by a storage with several ports.
    pub matrix: bool,
    /// True: merge independent storages of one kind that share their rate.
    pub merge: bool,
    /// The form of equivalents; `None`: the form that the type uses.
    pub form: Option<Form>,
}

/// A storage that was removed.
#[derive(Clone, Debug)]
pub struct Step {
    pub removed: String,
    pub into: String,
    /// `I2 1B TF 1A I1`
    pub path: String,
    /// `I1.I = m1 + (b/a)**2*m2`
    pub value: String,
    /// Other parts that were removed.
    pub dropped: Vec<String>,
}

/// A dependent storage that was not removed.
#[derive(Clone, Debug)]
pub struct NotReduced {
    pub name: String,
    pub path: String,
    pub why: String,
}

#[derive(Clone, Debug, Default)]
pub struct Revised {
    pub text: String,
    /// True if the model was expanded to reach a submodel inside another one.
    pub expanded: bool,
    pub steps: Vec<Step>,
    pub left: Vec<NotReduced>,
}

/// A model with its fields. Expressions of the graph and of the fields belong to the flat model inside `fields`.
#[derive(Debug)]
pub struct TracedModel {
    /// The flat model as written. It has the same instances and variables, but fewer equations and expressions.
    pub written: Flat,
    pub model: BondGraph,
    pub fields: Fields,
}

/// Compiles a text and finds its storage fields. Storages named in `remove` are made the dependent ones.
pub fn trace(
    context: &RevisionContext<'_>,
    text: &str,
    remove: &[String],
) -> Result<TracedModel, Failure> {
    let mut compiled = context.compile(text);
    let Some(flat) = compiled.flat.take() else {
        return Err(Failure::Model(compiled.sources, compiled.diagnostics));
    };
    let name = flat.model().to_string();
    let preferences: Vec<String> = (remove.iter())
        .map(|name| format!("{name}=derivative"))
        .collect();
    let mut diagnostics = Diagnostics::default();
    let model =
        bond_graph(flat.clone(), &preferences, &mut diagnostics).map_err(Failure::Refused)?;
    let Some(model) = model else {
        return Err(Failure::NoGraph(name));
    };
    if model.sorted.is_none() {
        compiled.diagnostics.extend(diagnostics.iter().cloned());
        return Err(Failure::Model(compiled.sources, compiled.diagnostics));
    }
    let fields = fields(&model, false);
    Ok(TracedModel {
        written: flat,
        model,
        fields,
    })
}

/// Removes all dependent storages that can be removed.
pub fn reduce(
    context: &RevisionContext<'_>,
    text: &str,
    options: &ReduceOptions,
) -> Result<Revised, Failure> {
    let whole = trace(context, text, &[])?;
    let mut revised = Revised {
        text: excerpt(text, &whole.written),
        ..Revised::default()
    };
    let mut wanted: Vec<String> = options.remove.clone();
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
        let mut traced = trace(context, &revised.text, &wanted)?;
        let candidates: Vec<StorageField> = (traced.fields.storage_fields.iter())
            .filter(|field| field.outcome.is_ok())
            .filter(|field| {
                let name = name(&traced, field);
                !refused.contains_key(&name) && (!options.only || wanted.contains(&name))
            })
            .cloned()
            .collect();
        if candidates.is_empty() {
            match beyond(context, &traced, &revised.text, options, &mut refused) {
                Some(Rewritten { text, steps }) => {
                    revised.text = text;
                    revised.steps.extend(steps);
                    continue;
                }
                None => {
                    // Submodels inside others can be reached when the model is expanded.
                    let deeper = |why: &Obstacle| matches!(why, Obstacle::Elsewhere(_));
                    if !revised.expanded
                        && refused.values().any(deeper)
                        && let Ok(text) = expand(context, &revised.text, &traced.written)
                    {
                        // After the expansion, inherited types and types of submodels may be unused.
                        let text = excerpt(&text, &traced.written);
                        refused.retain(|_, why| !deeper(why));
                        wanted = renamed(&wanted);
                        revised.text = text;
                        revised.expanded = true;
                        continue;
                    }
                    check_requested(&traced, &wanted, &refused)?;
                    revised.left = left(&traced, &refused);
                    return Ok(revised);
                }
            }
        }
        let done = rewrite(
            context,
            &mut traced,
            &revised.text,
            &candidates,
            options.form,
        )
        .or_else(|why| {
            // The fields are tried one by one to find which of them is impossible.
            let mut why = why;
            for field in &candidates {
                match rewrite(
                    context,
                    &mut traced,
                    &revised.text,
                    std::slice::from_ref(field),
                    options.form,
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
        if let Ok(Rewritten { text, steps }) = done {
            let gone: FxHashSet<&str> = steps.iter().map(|step| step.removed.as_str()).collect();
            wanted.retain(|name| !gone.contains(name.as_str()));
            revised.text = text;
            revised.steps.extend(steps);
        }
    }
}

/// Returns the names that submodels have after the expansion.
fn renamed(names: &[String]) -> Vec<String> {
    let clean = |name: &String| fresh(&mut FxHashSet::default(), name);
    names.iter().map(clean).collect()
}

/// Makes one change that goes beyond the thesis, if requested.
fn beyond(
    context: &RevisionContext<'_>,
    traced: &TracedModel,
    text: &str,
    options: &ReduceOptions,
    refused: &mut FxHashMap<String, Obstacle>,
) -> Option<Rewritten> {
    let split = (traced.fields.storage_fields.iter()).filter(|_| options.matrix);
    for field in split {
        let name = name(traced, field);
        if let Some(matrix) = &field.matrix
            && !refused.contains_key(&name)
        {
            match combine(context, traced, text, field, matrix) {
                Ok(done) => return Some(done),
                Err(why) => {
                    refused.insert(name, why);
                }
            }
        }
    }
    let mergeable = if options.merge {
        groups(traced)
    } else {
        Vec::new()
    };
    for group in mergeable {
        let name = group.name(traced);
        if refused.contains_key(&name) {
            continue;
        }
        match merge(context, traced, text, &group, options.form) {
            Ok(done) => return Some(done),
            Err(why) => refused.insert(name, why),
        };
    }
    None
}

fn name(traced: &TracedModel, field: &StorageField) -> String {
    let graph = &traced.fields.named.graph;
    graph.node(field.dependent).name.clone()
}

/// Returns an error if a storage that was named cannot be removed.
fn check_requested(
    traced: &TracedModel,
    wanted: &[String],
    refused: &FxHashMap<String, Obstacle>,
) -> Result<(), Failure> {
    for requested in wanted {
        let fields = &traced.fields.storage_fields;
        let cannot =
            |why: String| Failure::Refused(format!("`{requested}` cannot be removed: {why}"));
        let Some(field) = fields
            .iter()
            .find(|field| name(traced, field) == *requested)
        else {
            let why = "it does not depend on another storage, and none depends on it in its stead";
            return Err(cannot(why.to_string()));
        };
        if let Err(why) = field.outcome {
            return Err(cannot(storage_fields::refusal(&traced.fields, why)));
        }
        if let Some(why) = refused.get(requested) {
            return Err(cannot(why.to_string()));
        }
    }
    Ok(())
}

/// Lists the dependent storages that remain, with reasons.
fn left(traced: &TracedModel, refused: &FxHashMap<String, Obstacle>) -> Vec<NotReduced> {
    let found = &traced.fields;
    (found.storage_fields.iter())
        .map(|field| {
            let name = name(traced, field);
            let why = match (refused.get(&name), field.outcome) {
                (Some(obstacle), _) => obstacle.to_string(),
                (None, Err(why)) => storage_fields::refusal(found, why),
                (None, Ok(_)) => "it was not asked for".to_string(),
            };
            NotReduced {
                path: storage_fields::path(found, field),
                name,
                why,
            }
        })
        .chain(groups_left(traced, refused))
        .collect()
}

/// Lists the storages that were to be merged but could not be.
fn groups_left(traced: &TracedModel, refused: &FxHashMap<String, Obstacle>) -> Vec<NotReduced> {
    (groups(traced).iter())
        .filter_map(|group| {
            let name = group.name(traced);
            let why = refused.get(&name)?.to_string();
            let junction = traced.fields.named.graph.node(group.junction);
            Some(NotReduced {
                path: junction.name.clone(),
                name,
                why,
            })
        })
        .collect()
}
