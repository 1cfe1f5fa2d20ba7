//! Lists storage fields as text: causal paths, gains, equivalent parameters, or the reason why there is none.

use std::fmt::Write;

use super::fields::named;
use crate::bond::fields::Fields;
use crate::bond::fields::storage::{Refusal, StorageField};
use crate::bond::graph::{ElementKind, JunctionKind, NodeId};

/// Returns a causal path in the notation of the thesis, in which the kind of a junction stands before its name: `I2
/// 1B TF 1A I1`.
pub fn path(found: &Fields, field: &StorageField) -> String {
    let graph = &found.named.graph;
    let texts: Vec<String> = (field.path.iter())
        .map(|&id| {
            let node = graph.node(id);
            match node.junction() {
                Some(kind) => format!("{}{}", kind.digit(), node.name),
                None => node.name.clone(),
            }
        })
        .collect();
    texts.join(" ")
}

/// Returns the effort gain and the flow gain of a complete path.
pub fn gains(found: &Fields, field: &StorageField) -> Option<(String, String)> {
    let equivalent = field.outcome.as_ref().ok()?;
    let primary = found.flat.expression(equivalent.primary);
    let secondary = found.flat.expression(equivalent.secondary);
    Some(match equivalent.flow_first {
        true => (secondary, primary),
        false => (primary, secondary),
    })
}

/// Returns the reason why a path cannot be reduced, in the words of the thesis where it has some.
pub fn refusal(found: &Fields, refusal: Refusal) -> String {
    let name = |node: NodeId| named(found, node);
    let what = |node: NodeId| {
        let element = found.named.graph.node(node).element();
        element.map_or("an element", |element| match element.kind {
            ElementKind::C => "C element",
            ElementKind::I => "I element",
            ElementKind::TF => "transformer",
            ElementKind::GY => "gyrator",
            _ => "element",
        })
    };
    match refusal {
        Refusal::Split(node, JunctionKind::Zero) => {
            format!(
                "the path splits at the 0-junction {}: the flow there is the sum of several",
                name(node)
            )
        }
        Refusal::Split(node, JunctionKind::One) => {
            format!(
                "the path splits at the 1-junction {}: the effort there is the sum of several",
                name(node)
            )
        }
        Refusal::Source(node) => format!("the path leads to the source {}", name(node)),
        Refusal::Resistor(node) => format!("the path leads to the resistor {}", name(node)),
        Refusal::Switch(node) => format!("the path leads to the switch {}", name(node)),
        Refusal::Multiport(node) => format!("a multiport {} was found: {}", what(node), name(node)),
        Refusal::Nonlinear(node) => format!("a nonlinear {} was found: {}", what(node), name(node)),
        Refusal::Modulated(node) => format!("a modulated {} was found: {}", what(node), name(node)),
        Refusal::Other(node) => format!("the path leads to {}, which is no storage", name(node)),
        Refusal::Dependent(node) => {
            format!(
                "the path leads to {}, which is dependent itself",
                name(node)
            )
        }
        Refusal::Lost => {
            "the path cannot be followed: it comes back on itself, or depends on a switch".into()
        }
    }
}

pub(super) fn storage_field(found: &Fields, field: &StorageField, out: &mut String) {
    let _ = writeln!(out, "path         {}", path(found, field));
    match &field.outcome {
        Ok(equivalent) => {
            if let Some((effort, flow)) = gains(found, field) {
                let _ = writeln!(out, "effort gain  {effort}");
                let _ = writeln!(out, "flow gain    {flow}");
            }
            let into = named(found, equivalent.into);
            let dependent = named(found, field.dependent);
            let value = found.flat.expression(equivalent.value);
            let other = found.flat.expression(equivalent.other_value);
            let _ = writeln!(
                out,
                "trace is complete: without {dependent}, {into} is {value}"
            );
            let _ = writeln!(
                out,
                "                   without {into}, {dependent} is {other}"
            );
        }
        Err(why) => {
            let _ = writeln!(out, "not reducible: {}", refusal(found, *why));
        }
    }
    if let Some(matrix) = &field.matrix {
        let names: Vec<&str> = matrix.storages.iter().map(|&id| named(found, id)).collect();
        let _ = writeln!(
            out,
            "as a matrix:   without {}, {} are one storage with {} ports",
            named(found, field.dependent),
            names.join(", "),
            names.len()
        );
        for (row, entries) in matrix.entries.iter().enumerate() {
            let texts: Vec<String> = (entries.iter())
                .map(|&entry| found.flat.expression(entry))
                .collect();
            let _ = writeln!(out, "  {}  [{}]", names[row], texts.join(", "));
        }
    }
}
