//! The result of index reduction as data. The schema is in docs/json.md.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::json::LazyList;
use super::reduction::{differentiated, original, why};
use crate::base::diagnostics::json::{Place, place};
use crate::base::source::Sources;
use crate::flat::{Flat, Leaf, Reduction};

#[derive(Serialize)]
struct DifferentiatedEntry<'f> {
    equation: String,
    times: u8,
    origin: String,
    source: Place<'f>,
}

#[derive(Serialize)]
struct DroppedEntry {
    state: String,
    depends_on: Vec<String>,
    why: String,
}

#[derive(Serialize)]
struct SelectionEntry {
    candidates: Vec<String>,
    states: u32,
    choice: Vec<String>,
    times: u8,
}

struct ReductionEntry<'f> {
    flat: &'f Flat,
    sources: &'f Sources,
    reduction: &'f Reduction,
}

pub(super) fn write_reduction<M: SerializeMap>(
    flat: &Flat,
    sources: &Sources,
    map: &mut M,
) -> Result<(), M::Error> {
    match &flat.reduction {
        None => Ok(()),
        Some(reduction) => map.serialize_entry(
            "reduction",
            &ReductionEntry {
                flat,
                sources,
                reduction,
            },
        ),
    }
}

impl Serialize for ReductionEntry<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ReductionEntry {
            flat,
            sources,
            reduction,
        } = *self;
        let names = |leaves: &[Leaf]| -> Vec<String> {
            leaves.iter().map(|&leaf| flat.leaf_name(leaf)).collect()
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &reduction.index)?;
        let list = LazyList(|| {
            differentiated(reduction).map(|derived| DifferentiatedEntry {
                equation: original(flat, derived),
                times: derived.times,
                origin: flat.path(derived.of.origin),
                source: place(sources, derived.of.span),
            })
        });
        map.serialize_entry("differentiated", &list)?;
        let list = LazyList(|| {
            (reduction.dropped.iter()).map(|dropped| DroppedEntry {
                state: flat.leaf_name(dropped.state),
                depends_on: names(&dropped.others),
                why: why(flat, dropped),
            })
        });
        map.serialize_entry("dropped", &list)?;
        let list = LazyList(|| {
            (reduction.selections.iter()).map(|selection| SelectionEntry {
                candidates: names(&selection.candidates),
                states: selection.states,
                choice: names(&selection.choice),
                times: selection.times,
            })
        });
        map.serialize_entry("selections", &list)?;
        map.serialize_entry("inputs", &names(&reduction.inputs))?;
        map.end()
    }
}
