//! Fields as data. The schema, with its version, is in docs/json.md.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::field_laws::sequence;
use super::fields::{port, reason, var};
use super::r_field_notes::{IN_SEVERAL_LOOPS, NOT_IN_LOOP, NOT_SORTED, submodel};
use super::storage_fields::{gains, path, refusal};
use crate::bond::fields::matrices::Matrices;
use crate::bond::fields::place::Place;
use crate::bond::fields::resistive::{Obstacle, RField};
use crate::bond::fields::transfer::TransferError;
use crate::bond::fields::{Entry, Fields};
use crate::bond::graph::NodeId;
use crate::bond::net::Gives;
use crate::bond::view::View;
use crate::expr::ExprId;

#[derive(Serialize)]
struct FieldsJson {
    version: u32,
    model: String,
    vectors: VectorsJson,
    r_fields: Vec<RFieldJson>,
    complexes: Vec<Vec<u32>>,
    storage_fields: Vec<StorageFieldJson>,
    dependent_ports: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrices: Option<MatricesJson>,
}

#[derive(Serialize)]
struct MatricesJson {
    /// The rows and columns: element, group, input and output of each port.
    ports: Vec<PortJson>,
    entries: Vec<EntryJson>,
    skew_symmetric: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct PortJson {
    element: String,
    group: char,
    takes: String,
    gives: String,
}

#[derive(Serialize)]
struct EntryJson {
    matrix: String,
    row: usize,
    column: usize,
    value: String,
}

#[derive(Serialize)]
#[allow(non_snake_case)]
struct VectorsJson {
    Z: Vec<String>,
    dX: Vec<String>,
    Zd: Vec<String>,
    Di: Vec<String>,
    Do: Vec<String>,
    Di_implicit: Vec<String>,
    Do_implicit: Vec<String>,
    U: Vec<String>,
    V: Vec<String>,
}

#[derive(Serialize)]
#[allow(non_snake_case)]
struct RFieldJson {
    bonds: Vec<u32>,
    resistors: Vec<String>,
    NB: usize,
    N0: usize,
    N1: usize,
    B0: usize,
    B1: usize,
    transformers: usize,
    gyrators: usize,
    E: Option<i64>,
    F: Option<i64>,
    r: Vec<String>,
    g: Vec<String>,
    iteration: Vec<String>,
    sequence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    sorted: SortedJson,
    slopes: BTreeMap<String, f64>,
    inner_gain: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inner_gain_between: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<BetterJson>,
}

/// The place of a field in the sorted equations.
#[derive(Default, Serialize)]
struct SortedJson {
    r#loop: Option<usize>,
    equations: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loops: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signals: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// A better choice of forms.
#[derive(Serialize)]
struct BetterJson {
    resistance: Vec<String>,
    conductance: Vec<String>,
    inner_gain: Option<f64>,
}

#[derive(Serialize)]
struct StorageFieldJson {
    dependent: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort_gain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow_gain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    equivalent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<MatrixJson>,
}

#[derive(Serialize)]
struct MatrixJson {
    storages: Vec<String>,
    gains: Vec<String>,
    entries: Vec<Vec<String>>,
}

pub fn write(found: &Fields, out: &mut dyn Write) -> io::Result<()> {
    let name = |id: NodeId| found.view.graph.node(id).name.clone();
    let named = |id: NodeId| found.named.graph.node(id).name.clone();
    let takes = |entries: &[Entry]| -> Vec<String> {
        entries
            .iter()
            .map(|entry| var(found, entry.takes))
            .collect()
    };
    let gives = |entries: &[Entry]| -> Vec<String> {
        entries
            .iter()
            .map(|entry| var(found, entry.gives))
            .collect()
    };
    let vectors = &found.vectors;
    let document = FieldsJson {
        version: 1,
        model: found.flat.model().to_string(),
        vectors: VectorsJson {
            Z: gives(&vectors.storages),
            dX: takes(&vectors.storages),
            Zd: takes(&vectors.dependent),
            Di: takes(&vectors.explicit),
            Do: gives(&vectors.explicit),
            Di_implicit: takes(&vectors.implicit),
            Do_implicit: gives(&vectors.implicit),
            U: gives(&vectors.sources),
            V: takes(&vectors.sources),
        },
        r_fields: (found.r_fields.iter())
            .map(|field| {
                let numbers = field.numbers;
                let apart = numbers.gyrators == 0;
                let steps = field.sequence.as_ref().ok();
                let choice = field.choice.as_ref();
                let largest = choice.and_then(|choice| choice.largest);
                RFieldJson {
                    bonds: field.bonds.iter().map(|&id| View::number(id)).collect(),
                    resistors: field.resistors.iter().map(|&id| name(id)).collect(),
                    NB: numbers.bonds,
                    N0: numbers.zeros,
                    N1: numbers.ones,
                    B0: numbers.at_zeros,
                    B1: numbers.at_ones,
                    transformers: numbers.transformers,
                    gyrators: numbers.gyrators,
                    E: apart.then(|| numbers.e()),
                    F: apart.then(|| numbers.f()),
                    r: field.r.iter().map(|one| port(found, one)).collect(),
                    g: field.g.iter().map(|one| port(found, one)).collect(),
                    iteration: field.iteration.iter().map(|&one| var(found, one)).collect(),
                    sequence: steps.map_or(Vec::new(), |steps| sequence(found, steps)),
                    reason: (field.sequence.as_ref().err()).map(|why| reason(found, why)),
                    sorted: sorted(found, field),
                    slopes: choice.map_or(BTreeMap::new(), |choice| {
                        let slopes = choice.slopes.iter();
                        slopes
                            .map(|(one, slope)| (port(found, one), *slope))
                            .collect()
                    }),
                    inner_gain: largest.map(|gain| gain.value),
                    inner_gain_between: (largest.iter())
                        .flat_map(|gain| [port(found, &gain.r), port(found, &gain.g)])
                        .collect(),
                    better: choice
                        .and_then(|choice| choice.better.as_ref())
                        .map(|better| {
                            let of = |wanted: Gives| -> Vec<String> {
                                (better.changes.iter())
                                    .filter(|(_, gives)| *gives == wanted)
                                    .map(|(one, _)| port(found, one))
                                    .collect()
                            };
                            BetterJson {
                                resistance: of(Gives::Effort),
                                conductance: of(Gives::Flow),
                                inner_gain: better.largest.map(|gain| gain.value),
                            }
                        }),
                }
            })
            .collect(),
        complexes: (found.complexes.iter())
            .map(|field| field.bonds.iter().map(|&id| View::number(id)).collect())
            .collect(),
        storage_fields: (found.storage_fields.iter())
            .map(|field| {
                let gains = gains(found, field);
                let equivalent = field.outcome.as_ref().ok();
                StorageFieldJson {
                    dependent: named(field.dependent),
                    path: path(found, field),
                    into: equivalent.map(|one| named(one.into)),
                    effort_gain: gains.as_ref().map(|(effort, _)| effort.clone()),
                    flow_gain: gains.map(|(_, flow)| flow),
                    equivalent: equivalent.map(|one| found.flat.expression(one.value)),
                    reason: (field.outcome.as_ref().err()).map(|&why| refusal(found, why)),
                    matrix: field.matrix.as_ref().map(|matrix| {
                        let texts = |list: &[ExprId]| -> Vec<String> {
                            list.iter().map(|&id| found.flat.expression(id)).collect()
                        };
                        MatrixJson {
                            storages: matrix.storages.iter().map(|&id| named(id)).collect(),
                            gains: texts(&matrix.gains),
                            entries: matrix.entries.iter().map(|row| texts(row)).collect(),
                        }
                    }),
                }
            })
            .collect(),
        dependent_ports: found.dependent,
        matrices: found.matrices.as_ref().map(|all| matrices(found, all)),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn sorted(found: &Fields, field: &RField) -> SortedJson {
    match &field.place {
        Place::Loop {
            number,
            equations,
            also,
            signals,
            ..
        } => SortedJson {
            signals: signals.iter().map(|&id| found.flat.name(id)).collect(),
            r#loop: Some(*number),
            equations: Some(*equations),
            also: also.iter().map(|&id| submodel(found, id)).collect(),
            ..SortedJson::default()
        },
        Place::Several { numbers, .. } => SortedJson {
            loops: numbers.clone(),
            reason: Some(IN_SEVERAL_LOOPS),
            ..SortedJson::default()
        },
        Place::Apart => SortedJson {
            reason: Some(NOT_IN_LOOP),
            ..SortedJson::default()
        },
        Place::Unsorted => SortedJson {
            reason: Some(NOT_SORTED),
            ..SortedJson::default()
        },
    }
}

fn matrices(found: &Fields, all: &Result<Matrices, TransferError>) -> MatricesJson {
    let all = match all {
        Ok(all) => all,
        Err(trouble) => {
            return MatricesJson {
                ports: Vec::new(),
                entries: Vec::new(),
                skew_symmetric: None,
                reason: Some(reason(found, &Obstacle::Transfer(*trouble))),
            };
        }
    };
    let place = |at: usize| {
        let group = all.ports[at].0;
        let first = all.ports.iter().position(|(other, _)| *other == group);
        at - first.unwrap_or(0) + 1
    };
    MatricesJson {
        ports: (all.ports.iter())
            .map(|(group, entry)| PortJson {
                element: found.view.graph.node(entry.node).name.clone(),
                group: group.letter(),
                takes: var(found, entry.takes),
                gives: var(found, entry.gives),
            })
            .collect(),
        entries: (all.entries.iter())
            .map(|(&value, (row, column))| EntryJson {
                matrix: format!(
                    "S{}{}",
                    all.ports[row].0.letter(),
                    all.ports[column].0.letter()
                ),
                row: place(row),
                column: place(column),
                value: found.flat.expression(value),
            })
            .collect(),
        skew_symmetric: Some(all.skew),
        reason: None,
    }
}
