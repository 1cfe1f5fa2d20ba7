//! Fields: sets of resistors or of storages that determine each other.
//!
//! Before: a bond graph with its causality. After: [`Fields`]: the key vectors of the field
//! structure (Hood, Rosenberg, Withers and Zhou 1987, Figure 5); the implicit R-fields with their
//! iteration variables and their order of evaluation ([`resistive`], the same paper), with their
//! place in the sorted equations ([`place`]) and the numerically best choice of forms ([`robust`]);
//! and the storage fields with their causal paths and equivalent parameters ([`storage`], McCalla
//! 1991). For storage fields, junctions that the user named stay in the graph even if power only
//! passes through them, because paths are described by them.

pub mod matrices;
mod path;
pub mod place;
pub mod resistive;
pub mod robust;
mod sequence;
pub mod slopes;
pub mod storage;
pub mod suggest;
pub mod superfluous;
pub mod transfer;
mod vectors;

pub use vectors::{Entry, Vectors};

use super::causality::{Causality, ElementCausality, Preference, Wanted};
use super::graph::{BondId, NodeId};
use super::net::Gives;
use super::view::{Choice, View, view};
use crate::bond::BondGraph;
use crate::flat::Flat;
use matrices::{Matrices, matrices};
use place::Loops;
use resistive::{Obstacle, RField, r_fields};
use slopes::Operating;
use storage::{StorageField, storage_fields};
use transfer::{Transfer, TransferError};

#[derive(Debug)]
pub struct Fields {
    /// The view for R-fields, vectors and matrices, numbered as in `bgm causality`.
    pub view: View,
    /// The view for storage fields, with all junctions that have a name.
    pub named: View,
    /// The model, to which the expressions of gains and sums were added.
    pub flat: Flat,
    pub vectors: Vectors,
    pub r_fields: Vec<RField>,
    /// Algebraic loops without a resistor.
    pub complexes: Vec<RField>,
    pub storage_fields: Vec<StorageField>,
    /// The number of ports of storages that depend on others.
    pub dependent: usize,
    /// The matrices, if they were requested.
    pub matrices: Option<Result<Matrices, TransferError>>,
}

/// Finds the fields of a bond graph; also the matrices of the junction structure if
/// `with_matrices`.
pub fn fields(model: &BondGraph, with_matrices: bool) -> Fields {
    let mut flat = model.flat.clone();
    let causality = &model.causality;
    let shown = view(&flat, &model.graph, Choice::default());
    let loops = loops(causality, &shown);
    let mut followed = transfer(model, &mut flat, &shown);
    let all = r_fields(&mut followed, &loops);
    let (mut r_fields, complexes): (Vec<RField>, _) = (all.into_iter())
        .partition(|field| field.sequence.as_ref().err() != Some(&Obstacle::NoResistor));
    if !r_fields.is_empty() {
        let (loops, at) = (Loops::new(model), Operating::new(model));
        let locked = |id: NodeId| {
            let written = shown.nodes_of[id.index()];
            model.preferences.of(written).is_some()
        };
        for field in &mut r_fields {
            field.place = loops.place(&shown.graph, field);
            field.choice = robust::choice(&mut followed, field, &at, &locked);
        }
    }
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

/// Returns a tracer of efforts and flows through a view.
pub fn transfer<'g>(model: &BondGraph, flat: &'g mut Flat, view: &'g View) -> Transfer<'g> {
    Transfer::new(flat, &view.graph, gives(&model.causality, view))
}

/// Returns the same model with the resistors of its fields in the numerically best forms.
/// Preferences of the user stay.
pub fn robust(mut model: BondGraph) -> BondGraph {
    let found = fields(&model, false);
    let mut wishes: Vec<Preference> = Vec::new();
    for field in &found.r_fields {
        let better = field.choice.as_ref().and_then(|one| one.better.as_ref());
        let Some(better) = better else {
            continue;
        };
        let forms = (better.r.iter().map(|port| (port, Wanted::Resistance)))
            .chain(better.g.iter().map(|port| (port, Wanted::Conductance)));
        for (port, wanted) in forms {
            let node = found.view.nodes_of[port.node.index()];
            let several =
                (wishes.iter().any(|one| one.node == node)) || model.preferences.of(node).is_some();
            if !several {
                wishes.push(Preference { node, wanted });
            }
        }
    }
    model.prefer(wishes);
    model
}

/// Returns the bonds of each algebraic loop.
fn loops(causality: &Causality, view: &View) -> Vec<Vec<BondId>> {
    let mut found = vec![Vec::new(); causality.loops.len()];
    for id in view.graph.bond_ids() {
        if let Some(number) = view.causality(causality, id).in_loop {
            found[number as usize].push(id);
        }
    }
    found
}

/// Returns what the `from` end of each bond of a view gives.
fn gives(causality: &Causality, view: &View) -> Vec<Option<Gives>> {
    (view.graph.bond_ids())
        .map(|id| view.causality(causality, id).gives)
        .collect()
}

/// Returns the causality of each node of a view.
fn elements(model: &BondGraph, view: &View) -> Vec<ElementCausality> {
    (view.graph.node_ids())
        .map(|id| view.element(&model.causality, id))
        .collect()
}
