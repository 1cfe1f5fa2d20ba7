//! Algebraic loops: free bonds that determine each other.
//!
//! Before: which bonds are free. After: the loop of each of them. Free bonds that meet at a
//! junction, a transformer or a gyrator are in one loop. Ports of a resistor with several ports are
//! in one loop only if its equations couple them: what one port gives must depend on what the other
//! takes, and vice versa, possibly through other loops. Two resistors in one submodel are two
//! loops. So are two resistors of which only one acts on the other; they are solved one after the
//! other.

use super::{BondCausality, Loop};
use crate::base::cancel::glance;
use crate::bond::graph::{BondId, Element, ElementKind, Graph, NodeId};
use crate::bond::net::Gives;
use crate::structure::{Incidence, Matching, blocks};

/// Finds the loops, in the order of the names of their elements, and sets `in_loop` of the bonds.
pub fn loops(graph: &Graph, bonds: &mut [BondCausality]) -> Vec<Loop> {
    let (parts, of_bond) = parts(graph, bonds);
    let mut acts = Incidence::new(parts.len());
    let needs = needs(graph, bonds, &of_bond, parts.len());
    for (part, mut needs) in needs.into_iter().enumerate() {
        needs.push(part as u32);
        needs.sort_unstable();
        needs.dedup();
        acts.push_row(needs.into_iter().map(|part| (part, 0)));
    }
    let itself: Vec<u32> = (0..parts.len() as u32).collect();
    let matching = Matching {
        column_of: itself.clone(),
        row_of: itself,
    };
    let mut found: Vec<Loop> = (blocks(&acts, &matching).into_iter())
        .map(|block| {
            let inside = block.iter().flat_map(|&part| &parts[part as usize]);
            one_loop(graph, inside.copied().collect())
        })
        .collect();
    // Nodes are in the order of names.
    found.sort_by(|a, b| (&a.elements, &a.bonds).cmp(&(&b.elements, &b.bonds)));
    for (number, one) in found.iter().enumerate() {
        for id in &one.bonds {
            bonds[id.index()].in_loop = Some(number as u32);
        }
    }
    found
}

/// Whether the laws of an element say completely how its ports act on each other.
fn has_laws(element: &Element) -> bool {
    matches!(element.kind, ElementKind::R | ElementKind::RS)
        && element.ports.len() > 1
        && !element.forms.is_empty()
}

/// Returns the sets of free bonds that are connected without regard to resistors with several
/// ports, and the set of each bond.
fn parts(graph: &Graph, bonds: &[BondCausality]) -> (Vec<Vec<BondId>>, Vec<Option<u32>>) {
    let bonds_of = graph.bonds_of();
    let mut parts: Vec<Vec<BondId>> = Vec::new();
    let mut of_bond: Vec<Option<u32>> = vec![None; bonds.len()];
    let mut work = Vec::new();
    for start in graph.bond_ids() {
        if !bonds[start.index()].free || of_bond[start.index()].is_some() {
            continue;
        }
        let number = parts.len() as u32;
        let mut inside = Vec::new();
        of_bond[start.index()] = Some(number);
        work.push(start);
        while let Some(id) = work.pop() {
            glance();
            inside.push(id);
            for node in graph.bond(id).ends() {
                // The ports of a storage do not couple its bonds either.
                let apart = (graph.node(node).element()).is_some_and(|element| {
                    has_laws(element) || matches!(element.kind, ElementKind::C | ElementKind::I)
                });
                if apart {
                    continue;
                }
                for &next in &bonds_of[node.index()] {
                    if bonds[next.index()].free && of_bond[next.index()].is_none() {
                        of_bond[next.index()] = Some(number);
                        work.push(next);
                    }
                }
            }
        }
        parts.push(inside);
    }
    (parts, of_bond)
}

/// For each set, the sets on which it depends through resistors with several ports.
fn needs(
    graph: &Graph,
    bonds: &[BondCausality],
    of_bond: &[Option<u32>],
    count: usize,
) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); count];
    for (id, element) in graph.elements().filter(|(_, element)| has_laws(element)) {
        let given: Vec<Option<Gives>> = (element.ports.iter())
            .map(|&bond| {
                let from = bonds[bond.index()].gives?;
                Some(match graph.bond(bond).from == id {
                    true => from,
                    false => from.other(),
                })
            })
            .collect();
        // If a stroke depends on a switch, a coupling in any form counts.
        let fits = |gives: &[Gives]| {
            (given.iter().zip(gives))
                .all(|(given, gives)| given.is_none_or(|given| given == *gives))
        };
        for form in element.forms.iter().filter(|form| fits(&form.gives)) {
            for (port, bond) in element.ports.iter().enumerate() {
                let Some(part) = of_bond[bond.index()] else {
                    continue;
                };
                let reach = form.reach(port);
                let others = (element.ports.iter().enumerate())
                    .filter(|(other, _)| reach >> other & 1 == 1)
                    .filter_map(|(_, other)| of_bond[other.index()]);
                found[part as usize].extend(others);
            }
        }
    }
    found
}

/// The loop of these bonds, with the elements at their ends.
fn one_loop(graph: &Graph, mut bonds: Vec<BondId>) -> Loop {
    bonds.sort_unstable();
    let mut elements: Vec<NodeId> = (bonds.iter())
        .flat_map(|&id| graph.bond(id).ends())
        .filter(|&node| graph.node(node).element().is_some())
        .collect();
    elements.sort_unstable();
    elements.dedup();
    let resists = |id: &NodeId| {
        (graph.node(*id).element()).is_some_and(|element| {
            matches!(
                element.kind,
                ElementKind::R | ElementKind::RS | ElementKind::Sw
            )
        })
    };
    Loop {
        has_resistor: elements.iter().any(resists),
        bonds,
        elements,
    }
}
