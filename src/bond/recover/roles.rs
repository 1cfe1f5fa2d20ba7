//! Decides for each point which of across and through is the effort and which the flow.
//!
//! Before: points and parts. After: for each point whether its across variable is the flow. Across
//! is the effort, unless it is a velocity (Table 1 of Cellier 1990: mechanical parts are also
//! written v/F). A `bond` exchanges the roles, everything else keeps them. The roles spread over
//! the wires, breadth first: from points whose units decide, then from those with an element, then
//! from the first that is left. If both ends of a `bond` have been decided so that it exchanges
//! nothing, it is a gyrator with r = 1 (Cellier 1990, "symplectic gyrator").

use crate::base::cancel::glance;
use std::collections::VecDeque;

use super::names;
use super::points::Points;
use super::power_ports::GraphPart;
use crate::base::unit::is_velocity;
use crate::bond::order::natural;
use crate::flat::{Flat, Signed};

#[derive(Debug)]
pub struct Roles {
    /// For each point whether the across variable is the flow.
    pub swapped: Vec<bool>,
    /// For each part whether it is a `bond` that exchanges nothing, a gyrator.
    pub gyrates: Vec<bool>,
}

pub fn roles(flat: &Flat, points: &Points, parts: &[GraphPart]) -> Roles {
    let mut next: Vec<Vec<(usize, bool)>> = vec![Vec::new(); points.list.len()];
    let mut strong: Vec<usize> = Vec::new();
    let mut weak: Vec<usize> = Vec::new();
    let is_flow = |across: Option<Signed>| {
        let declaration = across.map(|across| flat.declaration(across.variable()));
        let unit = declaration.and_then(|declaration| declaration.remarks.unit.as_deref());
        unit.is_some_and(is_velocity)
    };
    let mut join = |a: Option<usize>, b: Option<usize>, exchanges: bool| {
        if let (Some(a), Some(b)) = (a, b) {
            next[a].push((b, exchanges));
            next[b].push((a, exchanges));
        }
    };
    for part in parts {
        match part {
            GraphPart::Wire {
                exchanges, ends, ..
            } => join(ends[0].point, ends[1].point, *exchanges),
            GraphPart::Element { power_ports, .. } => {
                for power_port in power_ports {
                    for component in power_port.components() {
                        let of_unit = is_flow(component.across);
                        let list = if of_unit { &mut strong } else { &mut weak };
                        list.extend(component.point);
                    }
                    for pair in power_port.components().windows(2) {
                        join(pair[0].point, pair[1].point, false);
                    }
                }
            }
        }
    }
    // Choices are made by name, so that the order of declarations does not matter.
    let rank = ranks(flat, points);
    for list in &mut next {
        list.sort_by_key(|&(other, exchanges)| (rank[other], exchanges));
    }
    for list in [&mut strong, &mut weak] {
        list.sort_by_key(|&at| rank[at]);
    }
    let mut found: Vec<Option<bool>> = vec![None; points.list.len()];
    let mut queue = VecDeque::new();
    let mut power: Vec<usize> = (0..points.list.len())
        .filter(|&at| points.list[at].power)
        .collect();
    power.sort_by_key(|&at| rank[at]);
    let stages: [(Vec<usize>, bool); 2] = [(strong, true), (weak, false)];
    for (anchors, swapped) in stages {
        // All start points of a stage are decided before any of them spreads.
        for at in anchors {
            if found[at].is_none() {
                found[at] = Some(swapped);
                queue.push_back(at);
            }
        }
        spread(&next, &mut found, &mut queue);
    }
    for at in power {
        if found[at].is_none() {
            found[at] = Some(false);
            queue.push_back(at);
            spread(&next, &mut found, &mut queue);
        }
    }
    let swapped: Vec<bool> = found.into_iter().map(|role| role == Some(true)).collect();
    let gyrates = (parts.iter())
        .map(|part| match part {
            GraphPart::Wire {
                exchanges: true,
                ends: [a, b],
                ..
            } => match (a.point, b.point) {
                (Some(a), Some(b)) => swapped[a] == swapped[b],
                _ => false,
            },
            _ => false,
        })
        .collect();
    Roles { swapped, gyrates }
}

/// Returns the rank of the name of each point.
fn ranks(flat: &Flat, points: &Points) -> Vec<usize> {
    let named: Vec<String> = (0..points.list.len())
        .map(|at| names::point(flat, points, at).0)
        .collect();
    let mut order: Vec<usize> = (0..named.len()).collect();
    order.sort_by(|&a, &b| natural(&named[a], &named[b]).then(a.cmp(&b)));
    let mut rank = vec![0; named.len()];
    for (place, at) in order.into_iter().enumerate() {
        rank[at] = place;
    }
    rank
}

fn spread(next: &[Vec<(usize, bool)>], found: &mut [Option<bool>], queue: &mut VecDeque<usize>) {
    while let Some(at) = queue.pop_front() {
        glance();
        let Some(role) = found[at] else {
            continue;
        };
        for &(other, exchanges) in &next[at] {
            if found[other].is_none() {
                found[other] = Some(role != exchanges);
                queue.push_back(other);
            }
        }
    }
}
