//! The matrices of the junction structure: the inputs of storages, resistors and sources as sums of
//! their outputs.
//!
//! Before: a graph with its causality. After: the symbolic matrices S11 .. S33 of Hood, Rosenberg,
//! Withers and Zhou 1987, equations (3d) to (3f), with a fourth group for storages with derivative
//! causality. Junctions, transformers and gyrators conserve power. So the whole matrix is
//! skew-symmetric if all powers are counted out of the junction structure; this is tested with
//! arbitrary numbers for parameters and signals.

use rustc_hash::FxHashMap;
use sprs::CsMat;

use super::transfer::{Transfer, TransferError, Var};
use super::vectors::{Entry, Vectors};
use crate::evaluate::walk::{Errors, Known, Rounded, Walk};
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, Leaf, Type};
use crate::numeric::numbered;

/// A group of ports: rows or columns of one matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Storages,
    Resistors,
    Sources,
    Dependent,
}

impl Group {
    pub const ALL: [Group; 4] = [
        Group::Storages,
        Group::Resistors,
        Group::Sources,
        Group::Dependent,
    ];

    /// The index of the group in the names of the matrices.
    pub fn letter(self) -> char {
        match self {
            Group::Storages => '1',
            Group::Resistors => '2',
            Group::Sources => '3',
            Group::Dependent => 'd',
        }
    }
}

#[derive(Clone, Debug)]
pub struct Matrices {
    /// The ports with their groups, in the order of rows and columns.
    pub ports: Vec<(Group, Entry)>,
    /// The entries that are not zero, by rows.
    pub entries: CsMat<ExprId>,
    pub skew: bool,
}

pub fn matrices(transfer: &mut Transfer<'_>, vectors: &Vectors) -> Result<Matrices, TransferError> {
    let of = |group: Group| -> Vec<Entry> {
        match group {
            Group::Storages => vectors.storages.clone(),
            Group::Resistors => [vectors.explicit.clone(), vectors.implicit.clone()].concat(),
            Group::Sources => vectors.sources.clone(),
            Group::Dependent => vectors.dependent.clone(),
        }
    };
    let ports: Vec<(Group, Entry)> = (Group::ALL.into_iter())
        .flat_map(|group| of(group).into_iter().map(move |entry| (group, entry)))
        .collect();
    let column: FxHashMap<Var, u32> = (0..)
        .zip(&ports)
        .map(|(at, (_, entry))| (entry.gives, at))
        .collect();
    let mut walk = Walk::default();
    let mut known = FxHashMap::default();
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for (number, (_, entry)) in (0..).zip(&ports) {
        let sum = transfer.follow(entry.takes, &|_| false, &mut known)?;
        let mut row = Vec::new();
        for (var, coefficient) in sum {
            match column.get(&var) {
                Some(&at) => row.push((at, coefficient)),
                // References and open ends give zero. Any other element is not part of the field
                // structure.
                None => {
                    let giver = transfer
                        .giver(var)
                        .ok_or(TransferError::NoCausality(var.bond))?;
                    let element = transfer.graph.node(giver).element();
                    if !element.is_some_and(|one| one.reference || one.open) {
                        return Err(TransferError::Unreadable(giver));
                    }
                }
            }
        }
        // What cancels for any values is zero, though no rule of simplification sees it.
        let mut vanishes = |id: ExprId| {
            [1, 2].iter().all(|&seed| {
                let found = arbitrary(transfer.flat, id, seed, &mut walk);
                found.is_some_and(|value| value.abs() < 1e-10)
            })
        };
        row.retain(|&(_, coefficient)| !vanishes(coefficient));
        for (at, coefficient) in row {
            places.push((at, number));
            values.push(coefficient);
        }
    }
    // By columns of what is transposed, which are our rows.
    let entries = numbered(ports.len(), places).transpose_into();
    let entries = entries.map(|&at| values[at]);
    let skew = is_skew(transfer, &ports, &entries);
    Ok(Matrices {
        ports,
        entries,
        skew,
    })
}

/// Whether `s[i]*S[i][j] = -s[j]*S[j][i]`, with s the direction of each port.
fn is_skew(transfer: &Transfer<'_>, ports: &[(Group, Entry)], entries: &CsMat<ExprId>) -> bool {
    let mut walk = Walk::default();
    let mut numbers = entries.map(|_| 0.0);
    for ((number, &id), row) in (numbers.data_mut().iter_mut())
        .zip(entries.data())
        .zip(entries.indptr().iter_outer_nnz_inds())
    {
        let Some(value) = arbitrary(transfer.flat, id, 3, &mut walk) else {
            return false;
        };
        let (_, entry) = &ports[row];
        *number = transfer.sign(entry.node, entry.takes.bond) * value;
    }
    let mut all = numbers.iter();
    all.all(|(&value, (row, column))| {
        let other = numbers.get(column, row).copied().unwrap_or(0.0);
        (value + other).abs() <= 1e-9 * value.abs().max(other.abs())
    })
}

/// Returns the value of a coefficient if all its leaves have arbitrary values.
fn arbitrary(flat: &Flat, id: ExprId, seed: u32, walk: &mut Walk) -> Option<f64> {
    let leaf = |leaf: Leaf| {
        let id = leaf.variable();
        let mixed = id.0.wrapping_mul(2_654_435_761).wrapping_add(seed * 40_503);
        Some(Rounded::exact(match flat.variable(id).ty {
            Type::Boolean => Value::Bool(mixed & 1 == 1),
            Type::Real => Value::Real(0.5 + f64::from(mixed % 1009) / 512.0),
        }))
    };
    let known = Known {
        time: 0.7,
        leaf: &leaf,
    };
    let found = walk.value(&flat.exprs, id, &known, Errors::Ignore).ok()?;
    found.value.real().filter(|value| value.is_finite())
}
