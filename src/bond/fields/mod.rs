//! Fields: what resistors and storages do together.
//!
//! Before: a model seen as a bond graph, with its causality. After: [`Fields`]: the key vectors of the field structure
//! (Hood, Rosenberg, Withers and Zhou 1987, Figure 5), the implicit R-fields with their iteration variables and their order of
//! evaluation ([`resistive`], the same paper), and the storage fields with their causal paths and equivalent
//! parameters ([`storage`], McCalla 1991). In storage fields the junctions that the user named stay in the graph, even if power
//! only passes through them: paths are told by them.

pub mod matrices;
pub mod resistive;
pub mod storage;
pub mod superfluous;
pub mod transfer;
mod vectors;

pub use vectors::{Entry, Vectors};

use super::causality::ElementCausality;
use super::graph::BondId;
use super::view::{Choice, View, view};
use crate::compile::BondGraph;
use crate::flat::Flat;
use matrices::{Matrices, matrices};
use resistive::{Obstacle, RField, r_fields};
use storage::{StorageField, storage_fields};
use transfer::{Transfer, Trouble};

#[derive(Debug)]
pub struct Fields {
    /// The graph of R-fields, vectors and matrices, numbered as `bgm causality` does.
    pub view: View,
    /// The graph of storage fields, with all junctions that have a name.
    pub named: View,
    /// The model, with the expressions of gains and sums.
    pub flat: Flat,
    pub vectors: Vectors,
    pub r_fields: Vec<RField>,
    /// Free parts without a resistor.
    pub complexes: Vec<RField>,
    pub storage_fields: Vec<StorageField>,
    /// Ports of storages that depend on others.
    pub dependent: usize,
    /// Only if they were asked for.
    pub matrices: Option<Result<Matrices, Trouble>>,
}

/// What resistors and storages do together; the matrices if they are wanted.
pub fn fields(model: &BondGraph, with_matrices: bool) -> Fields {
    let mut flat = model.flat.clone();
    let causality = &model.causality;
    let shown = view(&flat, &model.graph, Choice::default());
    let loops: Vec<Vec<BondId>> = (0..causality.loops.len())
        .map(|number| {
            (shown.graph.bond_ids())
                .filter(|&id| shown.causality(causality, id).in_loop == Some(number as u32))
                .collect()
        })
        .collect();
    let mut followed = transfer(model, &mut flat, &shown);
    let all = r_fields(&mut followed, &loops);
    let (r_fields, complexes) = (all.into_iter())
        .partition(|field| field.sequence.as_ref().err() != Some(&Obstacle::NoResistor));
    let vectors = Vectors::new(&followed, &loops);
    let matrices = with_matrices.then(|| matrices(&mut followed, &vectors));
    let named = view(
        &flat,
        &model.graph,
        Choice {
            keep_named: true,
            ..Choice::default()
        },
    );
    let elements = elements(model, &named);
    let mut followed = transfer(model, &mut flat, &named);
    let storage_fields = storage_fields(&mut followed, &elements);
    Fields {
        view: shown,
        named,
        vectors,
        r_fields,
        complexes,
        storage_fields,
        dependent: causality.storages - causality.order,
        matrices,
        flat,
    }
}

/// The way of efforts and flows through a view.
pub fn transfer<'g>(model: &BondGraph, flat: &'g mut Flat, view: &'g View) -> Transfer<'g> {
    let gives = (view.graph.bond_ids())
        .map(|id| view.causality(&model.causality, id).gives)
        .collect();
    Transfer::new(flat, &view.graph, gives)
}

/// The causality of the elements of a view, by node.
fn elements(model: &BondGraph, view: &View) -> Vec<ElementCausality> {
    (view.graph.node_ids())
        .map(|id| view.element(&model.causality, id))
        .collect()
}
