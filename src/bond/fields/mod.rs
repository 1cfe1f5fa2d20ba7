//! Fields: what resistors and storages do together.
//!
//! Before: a model seen as a bond graph, with its causality. After: [`Fields`]: the key vectors of the field structure
//! (Hood, Rosenberg, Withers and Zhou 1987, Figure 5), the implicit R-fields with their iteration variables and their order of
//! evaluation ([`resistive`], the same paper), and the storage fields with their causal paths and equivalent
//! parameters ([`storage`], McCalla 1991). The junctions that the user named stay in the graph, even if power only
//! passes through them: paths are told by them.

pub mod resistive;
pub mod storage;
pub mod transfer;
mod vectors;

pub use vectors::{Entry, Vectors};

use super::causality::ElementCausality;
use super::graph::{BondId, NodeId};
use super::view::{Choice, View, view};
use crate::compile::BondGraph;
use crate::flat::Flat;
use resistive::{RField, r_fields};
use rustc_hash::FxHashMap;
use storage::{StorageField, storage_fields};
use transfer::Transfer;

#[derive(Debug)]
pub struct Fields {
    /// The graph in which nodes and bonds are named.
    pub view: View,
    /// The model, with the expressions of gains and sums.
    pub flat: Flat,
    /// By node of the view.
    pub elements: Vec<ElementCausality>,
    pub vectors: Vectors,
    pub r_fields: Vec<RField>,
    /// Free parts without a resistor.
    pub complexes: Vec<RField>,
    pub storage_fields: Vec<StorageField>,
    /// Ports of storages that depend on others.
    pub dependent: usize,
}

pub fn fields(model: &BondGraph) -> Fields {
    let mut flat = model.flat.clone();
    let choice = Choice {
        keep_named: true,
        ..Choice::default()
    };
    let view = view(&flat, &model.graph, choice);
    let causality = &model.causality;
    let by_name: FxHashMap<&str, NodeId> = (model.graph.elements())
        .map(|(id, _)| (model.graph.node(id).name.as_str(), id))
        .collect();
    let elements: Vec<ElementCausality> = (view.graph.nodes.iter())
        .map(|node| match by_name.get(node.name.as_str()) {
            Some(own) if node.element().is_some() => causality.elements[own.index()],
            _ => ElementCausality::Plain,
        })
        .collect();
    let gives = (view.graph.bond_ids())
        .map(|id| view.causality(causality, id).gives)
        .collect();
    let loops: Vec<Vec<BondId>> = (0..causality.loops.len())
        .map(|number| {
            (view.graph.bond_ids())
                .filter(|&id| view.causality(causality, id).in_loop == Some(number as u32))
                .collect()
        })
        .collect();
    let graph = view.graph.clone();
    let mut transfer = Transfer::new(&mut flat, &graph, gives);
    let all = r_fields(&mut transfer, &loops);
    let (r_fields, complexes) = (all.into_iter())
        .partition(|field| field.sequence.as_ref().err() != Some(&resistive::Obstacle::NoResistor));
    let storage_fields = storage_fields(&mut transfer, &elements);
    let vectors = Vectors::new(&transfer, &loops);
    Fields {
        view,
        elements,
        vectors,
        r_fields,
        complexes,
        storage_fields,
        dependent: causality.storages - causality.order,
        flat,
    }
}
