//! A hint for switches with small leakages that could be ideal.
//!
//! A switch with a small resistance and a small conductance (GSw of the 1995 paper) makes a model stiff where the ideal
//! switch would change its index: in series with an inductance, in parallel with a capacitance. The stiffness is an artefact
//! of the leakages, and an ideal switch avoids it.

use std::collections::BTreeSet;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::compile::uses_modes;
use crate::expr::{BinaryOp, ExprId, Node, Value, show_number};
use crate::flat::{Flat, InstanceId, Kind, Leaf, VarId};
use crate::positions::switches;

/// Larger values are no leakages: the element is a resistor that is switched.
const SMALL: f64 = 1e-2;

/// Reports switches with leakages that could be ideal.
pub fn hint(flat: &Flat, diagnostics: &mut Diagnostics) {
    let mut found: Vec<(InstanceId, BTreeSet<VarId>)> = Vec::new();
    for equation in (flat.equations.iter()).filter(|equation| equation.kind.is_continuous()) {
        for side in [equation.left, equation.right] {
            if let Node::If(_, a, b) = flat.exprs.node(side) {
                let leaks: BTreeSet<VarId> =
                    [a, b].iter().flat_map(|&id| leaks(flat, id)).collect();
                if !leaks.is_empty() && equation.origin != InstanceId::TOP {
                    found.push((equation.origin, leaks));
                }
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let mut ideal = flat.clone();
    let known = switches(flat).len();
    for given in &mut ideal.values {
        if found
            .iter()
            .any(|(_, leaks)| leaks.contains(&given.variable))
        {
            given.value = Value::Real(0.0);
        }
    }
    let new = switches(&ideal);
    if new.len() == known || !uses_modes(&ideal) {
        return;
    }
    found.retain(|(origin, _)| new.iter().any(|switch| switch.origin == *origin));
    let Some((first, leaks)) = found.first() else {
        return;
    };
    let names: Vec<String> = (found.iter())
        .map(|(origin, _)| format!("`{}`", flat.path(*origin)))
        .collect();
    let values: Vec<String> = (leaks.iter())
        .filter_map(|&id| {
            let value = flat.value(id)?.value.real()?;
            Some(format!("{} = {}", flat.name(id), show_number(value)))
        })
        .collect();
    let message = match names.len() {
        1 => format!("{} makes the model stiff: {}", names[0], values.join(", ")),
        _ => format!(
            "{} make the model stiff: {}, ...",
            names.join(", "),
            values.join(", ")
        ),
    };
    diagnostics.push(
        Diagnostic::new(Code::ArtificialStiffness, message)
            .at(flat.instances[first.index()].span, "declared here")
            .note("the storages beside it get time constants that are the switch's own")
            .hint("the ideal Sw would do here (`IdealSwitch` in @electrical): it opens and closes without them"),
    );
}

/// Small parameters that are coefficients of a variable in a branch: `f - GOpen*e`.
fn leaks(flat: &Flat, root: ExprId) -> Vec<VarId> {
    let mut found = Vec::new();
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        let Node::Binary(op, a, b) = flat.exprs.node(id) else {
            continue;
        };
        match op {
            BinaryOp::Add | BinaryOp::Sub => work.extend([a, b]),
            BinaryOp::Mul => {
                for (factor, other) in [(a, b), (b, a)] {
                    let (Node::Leaf(Leaf::Var(factor)), Node::Leaf(_)) =
                        (flat.exprs.node(factor), flat.exprs.node(other))
                    else {
                        continue;
                    };
                    let value = flat.value(factor).and_then(|given| given.value.real());
                    let small = value.is_some_and(|value| value != 0.0 && value.abs() <= SMALL);
                    if small && flat.variable(factor).kind == Kind::Parameter {
                        found.push(factor);
                    }
                }
            }
            _ => {}
        }
    }
    found
}
