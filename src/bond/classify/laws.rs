//! Finds from what each port of an element computes its output, in one of the element's forms.
//!
//! Before: a form, in which each equation is solved for one variable. After: for each port a
//! [`Law`]: the assignments that compute what it gives, operands first, and the ports whose inputs
//! or outputs these read. So the laws of different ports are kept apart, it is known which ports do
//! not influence each other, and equations that depend on each other are not taken for formulas.

use super::system::{Port, RowAssignments, System};
use crate::base::cancel::glance;
use crate::bond::graph::{Assignment, Law};
use crate::flat::VarId;

/// Returns the law of each port of a form, and whether all assignments can be computed one after
/// the other.
pub fn laws(
    system: &System,
    ports: &[Port],
    gives: &[bool],
    assigned: &RowAssignments,
    assignments: &[Assignment],
) -> (Vec<Law>, bool) {
    let computed =
        |id: VarId| (assignments.iter()).position(|assignment| assignment.target.variable() == id);
    let given = |port: &Port, across: bool| if across { port.across } else { port.through };
    let own: Vec<Option<usize>> = (ports.iter().zip(gives))
        .map(|(port, &across)| given(port, across).and_then(computed))
        .collect();
    // For each assignment: the other assignments that it reads, and the ports whose input it reads.
    let reads: Vec<(Vec<usize>, u32)> = (assigned.iter())
        .map(|&(row, target)| {
            let (mut inner, mut takes) = (Vec::new(), 0);
            for leaf in system.leaves(row) {
                let id = leaf.variable();
                if id == target.variable() {
                    continue;
                }
                if let Some(at) = computed(id) {
                    inner.push(at);
                    continue;
                }
                for (at, (port, &across)) in ports.iter().zip(gives).enumerate() {
                    let summed_across = port.summed.is_some() && port.summed == port.across;
                    let other = port.others.contains(&id);
                    // If a sum is given, its other terms belong to what is given.
                    if other && across == summed_across {
                        inner.extend(own[at].filter(|&own| assigned[own].1 != target));
                    } else if other || given(port, !across) == Some(id) {
                        takes |= 1 << at;
                    }
                }
            }
            (inner, takes)
        })
        .collect();
    let laws = (own.iter())
        .map(|&own_at| match own_at {
            Some(at) => law(at, &own, &reads),
            // No assignment of the form computes it, so it may depend on everything.
            None => Law {
                assignments: Vec::new(),
                takes: (1 << ports.len()) - 1,
                gives: 0,
            },
        })
        .collect();
    (laws, is_order(&reads))
}

/// Returns the law that ends with an assignment, traced back to the ports.
fn law(last: usize, own: &[Option<usize>], reads: &[(Vec<usize>, u32)]) -> Law {
    let mut law = Law::default();
    // For each assignment that was visited, whether all that it reads has been visited.
    let mut seen: Vec<Option<bool>> = vec![None; reads.len()];
    let mut work = vec![(last, false)];
    while let Some((at, done)) = work.pop() {
        glance();
        if done {
            seen[at] = Some(true);
            law.assignments.push(at);
            continue;
        }
        if seen[at].is_some() {
            continue;
        }
        seen[at] = Some(false);
        work.push((at, true));
        let (inner, takes) = &reads[at];
        law.takes |= takes;
        for &inner in inner {
            match own.iter().position(|&own| own == Some(inner)) {
                Some(port) => law.gives |= 1 << port,
                None => work.push((inner, false)),
            }
        }
    }
    law
}

/// Whether there is an order in which each assignment reads earlier ones only.
fn is_order(reads: &[(Vec<usize>, u32)]) -> bool {
    let mut done = vec![false; reads.len()];
    loop {
        glance();
        let mut more = false;
        for (at, (inner, _)) in reads.iter().enumerate() {
            if !done[at] && inner.iter().all(|&inner| done[inner]) {
                done[at] = true;
                more = true;
            }
        }
        if !more {
            return done.into_iter().all(|done| done);
        }
    }
}
