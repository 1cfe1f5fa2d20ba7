//! Gives couplings that are differentiated a form that does not depend on the order of connections.
//!
//! Before: the variables that one model makes equal at a node are in a chain of equations, in the order in which they
//! were connected; it is known which of these equations will be differentiated. After: in a chain with such an
//! equation, every variable equals the same first one, so that the chain has become a star. The first one is the
//! variable that the source differentiates most often, then the one whose name has fewest parts, then the first of the
//! alphabet. A variable in the middle of the chain then need not be differentiated only because its neighbours are.

use crate::base::cancel::glance;
use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::orders::Orders;
use crate::expr::Node;
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Leaf, VarId};
use crate::structure::Offsets;

/// A variable as the connections of one model see it.
type Point = (InstanceId, VarId);

/// Returns whether anything was changed.
pub fn straighten(flat: &mut Flat, orders: &Orders, offsets: &Offsets) -> bool {
    let mut edges: Vec<(Point, Point, EqId)> = Vec::new();
    let mut beside: FxHashMap<Point, Vec<usize>> = FxHashMap::default();
    for id in flat.equation_ids() {
        let equation = &flat.equations[id.index()];
        let sides = (
            flat.exprs.node(equation.left),
            flat.exprs.node(equation.right),
        );
        if let (EquationKind::Coupling, (Node::Leaf(Leaf::Var(a)), Node::Leaf(Leaf::Var(b)))) =
            (equation.kind, sides)
        {
            let (a, b) = ((equation.origin, a), (equation.origin, b));
            beside.entry(a).or_default().push(edges.len());
            beside.entry(b).or_default().push(edges.len());
            edges.push((a, b, id));
        }
    }
    let mut seen: FxHashSet<Point> = FxHashSet::default();
    let mut changed = false;
    for (&id, &times) in orders.equations.iter().zip(&offsets.rows) {
        if times == 0 || flat.equations[id.index()].kind != EquationKind::Coupling {
            continue;
        }
        let Ok(at) = edges.binary_search_by_key(&id, |&(.., id)| id) else {
            continue;
        };
        if !seen.contains(&edges[at].0) {
            changed |= star(flat, &edges, &beside, edges[at].0, &mut seen);
        }
    }
    changed
}

/// Changes the chain that contains a variable into a star.
fn star(
    flat: &mut Flat,
    edges: &[(Point, Point, EqId)],
    beside: &FxHashMap<Point, Vec<usize>>,
    start: Point,
    seen: &mut FxHashSet<Point>,
) -> bool {
    let of = |point: Point| beside.get(&point).into_iter().flatten().copied();
    let mut members = vec![start];
    seen.insert(start);
    let mut at = 0;
    while let Some(&point) = members.get(at) {
        at += 1;
        for edge in of(point) {
            for next in [edges[edge].0, edges[edge].1] {
                if seen.insert(next) {
                    members.push(next);
                }
            }
        }
    }
    let rank = |&(_, id): &Point| {
        let name = flat.name(id);
        let order = flat.variable(id).order;
        (Reverse(order), name.matches('.').count(), name)
    };
    let Some(first) = members.iter().copied().min_by_key(rank) else {
        return false;
    };
    // Breadth-first search from the first variable. The equation by which a variable is reached becomes its own.
    let mut reached: FxHashMap<Point, EqId> = FxHashMap::default();
    let mut order = vec![first];
    let mut at = 0;
    while let Some(&point) = order.get(at) {
        glance();
        at += 1;
        for edge in of(point) {
            let (a, b, id) = edges[edge];
            let next = if a == point { b } else { a };
            if next != first && !reached.contains_key(&next) {
                reached.insert(next, id);
                order.push(next);
            }
        }
    }
    let left = flat.exprs.leaf(Leaf::Var(first.1));
    let mut changed = false;
    for point in &order[1..] {
        let Some(id) = reached.get(point) else {
            continue;
        };
        let right = flat.exprs.leaf(Leaf::Var(point.1));
        let equation = &mut flat.equations[id.index()];
        let sides = [equation.left, equation.right];
        if !(sides.contains(&left) && sides.contains(&right)) {
            (equation.left, equation.right) = (left, right);
            changed = true;
        }
    }
    changed
}
