//! Writes the order of evaluation of an R-field as equations.
//!
//! Before: steps, sums and laws of ports. After: one equation in each line. The law of a port is the assignment of
//! the quantity that the port determines, after the assignments of those variables of its resistor that it reads.
//! Laws that read each other are marked.

use super::causality::{only_names, sum_of};
use super::fields::{sum_text, var};
use crate::bond::fields::Fields;
use crate::bond::fields::resistive::Step;
use crate::bond::graph::{Element, Form, NodeId};
use crate::bond::net::Gives;
use crate::flat::VarId;

pub fn sequence(found: &Fields, steps: &[Step]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Sum { var: target, sum } => {
                let target = var(found, *target);
                lines.push(format!("{target} = {}", sum_text(found, sum)));
            }
            Step::Law { node, port } => {
                for line in law(found, *node, *port, &steps[at..]) {
                    // A variable that two ports read is computed once.
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
            }
        }
    }
    lines
}

/// Returns the form of the equations of an element.
fn form<'f>(found: &Fields, element: &'f Element) -> Option<&'f Form> {
    let all = || (found.vectors.implicit.iter()).chain(&found.vectors.explicit);
    let gives: Option<Vec<Gives>> = (element.ports.iter())
        .map(|&bond| {
            let entry = all().find(|entry| entry.gives.bond == bond);
            entry.map(|entry| entry.gives.is)
        })
        .collect();
    (element.forms.iter()).find(|form| Some(&form.gives) == gives.as_ref())
}

/// Returns the equations for the quantity that a port determines and for the variables of its element that it reads.
/// `later` are the steps from this one on.
fn law(found: &Fields, node: NodeId, port: usize, later: &[Step]) -> Vec<String> {
    let graph = &found.view.graph;
    let Some(element) = graph.node(node).element() else {
        return Vec::new();
    };
    let given = |port: usize| {
        let bond = element.ports[port];
        let all = || (found.vectors.implicit.iter()).chain(&found.vectors.explicit);
        let entry = all().find(|entry| entry.gives.bond == bond);
        entry.map_or_else(
            || graph.bond(bond).effort.text(&found.flat),
            |entry| var(found, entry.gives),
        )
    };
    let form = form(found, element);
    let law = form.and_then(|form| form.laws.get(port));
    let (Some(form), Some(law)) = (form, law.filter(|law| !law.assignments.is_empty())) else {
        return vec![format!(
            "{} from the law of {}",
            given(port),
            graph.node(node).name
        )];
    };
    let all = || law.assignments.iter().map(|&at| &form.assignments[at]);
    let is_law = |one: &_| !only_names(&found.flat, element, one);
    let any = all().any(is_law);
    // Quantities that this or later laws determine: if an equation reads them, it is solved together with these laws.
    let later: Vec<(VarId, usize)> = (later.iter())
        .filter_map(|step| match step {
            Step::Law { node: of, port } if *of == node => {
                let last = form.laws.get(*port)?.assignments.last()?;
                Some((form.assignments[*last].target.variable(), *port))
            }
            _ => None,
        })
        .collect();
    (all().filter(|one| !any || is_law(one)))
        .map(|one| {
            let target = match element.summed.contains(&one.target.variable()) {
                true => sum_of(&found.flat, graph, element, one.target),
                false => found.flat.leaf_name(one.target),
            };
            let Some(value) = one.value else {
                return format!("{target} by iteration");
            };
            let mut read = Vec::new();
            (found.flat.exprs).leaves(value, |leaf| read.push(leaf.variable()));
            let together: Vec<String> = (later.iter())
                .filter(|(id, _)| read.contains(id))
                .map(|&(_, port)| given(port))
                .collect();
            let text = format!("{target} = {}", found.flat.expression(value));
            match together.is_empty() {
                true => text,
                false => format!("{text}  {{ together with {} }}", together.join(", ")),
            }
        })
        .collect()
}
