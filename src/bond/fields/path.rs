//! Causal paths: follows the effort or flow that a dependent storage takes back to its origin.
//!
//! Before: a dependent storage. After: the nodes on its path, and the equivalent parameter of the
//! independent storage at its end, or the reason why there is none ([`super::storage`]).

use super::storage::{Equivalent, Refusal, equivalent, is_constant, parameter};
use super::transfer::{Transfer, TransferError, Var};
use crate::base::cancel::glance;
use crate::bond::causality::ElementCausality;
use crate::bond::graph::{Element, ElementKind, JunctionKind, NodeId, NodeKind, Pattern};
use crate::bond::net::Gives;
use crate::expr::ExprId;

/// Follows the causal path from a dependent storage, and appends its nodes to `path`.
pub(super) fn follow_path(
    transfer: &mut Transfer<'_>,
    found: &[ElementCausality],
    start: NodeId,
    path: &mut Vec<NodeId>,
) -> Result<Equivalent, Refusal> {
    let graph = transfer.graph;
    let Some(element) = graph.node(start).element() else {
        return Err(Refusal::Lost);
    };
    if element.ports.len() != 1 {
        return Err(Refusal::Multiport(start));
    }
    parameter(transfer.flat, graph.node(start).owner, element).ok_or(Refusal::Nonlinear(start))?;
    let flow_first = element.kind == ElementKind::I;
    let mut bond = element.ports[0];
    let mut is = if flow_first {
        Gives::Flow
    } else {
        Gives::Effort
    };
    let mut primary = transfer.flat.exprs.number(1.0);
    let mut secondary = primary;
    loop {
        glance();
        let var = Var { bond, is };
        let node = transfer.giver(var).ok_or(Refusal::Lost)?;
        if path.contains(&node) {
            return Err(Refusal::Lost);
        }
        path.push(node);
        let next = match &graph.node(node).kind {
            NodeKind::Junction(kind) => across_junction(transfer, node, *kind, var)?,
            NodeKind::Element(element) if matches!(element.pattern, Pattern::One(_)) => {
                across_two_port(transfer, node, element, var)?
            }
            NodeKind::Element(element) => {
                is_end(transfer, found, node, element, is)?;
                return equivalent(transfer, (start, node), flow_first, (primary, secondary));
            }
            NodeKind::Box(_) => return Err(Refusal::Other(node)),
        };
        primary = transfer.flat.exprs.tidy_mul(primary, next.primary);
        secondary = transfer.flat.exprs.tidy_mul(next.secondary, secondary);
        (bond, is) = (next.var.bond, next.var.is);
    }
}

struct PathStep {
    var: Var,
    primary: ExprId,
    secondary: ExprId,
}

fn across_junction(
    transfer: &mut Transfer<'_>,
    node: NodeId,
    kind: JunctionKind,
    var: Var,
) -> Result<PathStep, Refusal> {
    let common = match kind {
        JunctionKind::Zero => Gives::Effort,
        JunctionKind::One => Gives::Flow,
    };
    let by = match common == var.is {
        true => transfer.determining(node, kind).ok_or(Refusal::Lost)?,
        // A variable that is summed at this junction comes from all other bonds.
        false => {
            let others: Vec<_> = (transfer.bonds_at(node).iter().copied())
                .filter(|&bond| bond != var.bond)
                .collect();
            match others[..] {
                [only] => only,
                _ => return Err(Refusal::Split(node, kind)),
            }
        }
    };
    let turned = -transfer.sign(node, var.bond) * transfer.sign(node, by);
    let exprs = &mut transfer.flat.exprs;
    let (one, sign) = (exprs.number(1.0), exprs.constant(turned));
    // The common variable passes unchanged. Its partner changes its sign according to the
    // directions of the bonds.
    let (primary, secondary) = if common == var.is {
        (one, sign)
    } else {
        (sign, one)
    };
    Ok(PathStep {
        var: Var {
            bond: by,
            is: var.is,
        },
        primary,
        secondary,
    })
}

fn across_two_port(
    transfer: &mut Transfer<'_>,
    node: NodeId,
    element: &Element,
    var: Var,
) -> Result<PathStep, Refusal> {
    if element.is_modulated() {
        return Err(Refusal::Modulated(node));
    }
    if element.ports.len() != 2 {
        return Err(Refusal::Multiport(node));
    }
    let lost = |error: TransferError| match error {
        TransferError::Unreadable(node) => Refusal::Nonlinear(node),
        _ => Refusal::Lost,
    };
    let step = transfer.step(var).map_err(lost)?.unwrap_or_default();
    let [(next, primary)] = step[..] else {
        return Err(Refusal::Nonlinear(node));
    };
    let back = Var {
        bond: next.bond,
        is: next.is.other(),
    };
    let step = transfer.step(back).map_err(lost)?.unwrap_or_default();
    let [(_, secondary)] = step[..] else {
        return Err(Refusal::Nonlinear(node));
    };
    if ![primary, secondary]
        .iter()
        .all(|&gain| is_constant(transfer.flat, gain))
    {
        return Err(Refusal::Modulated(node));
    }
    Ok(PathStep {
        var: next,
        primary,
        secondary,
    })
}

/// Checks that the element at the end of a path is an independent linear storage of the right kind.
pub(super) fn is_end(
    transfer: &mut Transfer<'_>,
    found: &[ElementCausality],
    node: NodeId,
    element: &Element,
    is: Gives,
) -> Result<(), Refusal> {
    let fits = match element.kind {
        ElementKind::C => is == Gives::Effort,
        ElementKind::I => is == Gives::Flow,
        ElementKind::Se | ElementKind::Sf => return Err(Refusal::Source(node)),
        ElementKind::R | ElementKind::RS => return Err(Refusal::Resistor(node)),
        ElementKind::Sw => return Err(Refusal::Switch(node)),
        _ => return Err(Refusal::Other(node)),
    };
    if element.ports.len() != 1 {
        return Err(Refusal::Multiport(node));
    }
    if !fits || found[node.index()] != ElementCausality::Integral {
        return Err(Refusal::Dependent(node));
    }
    let instance = transfer.graph.node(node).owner;
    match parameter(transfer.flat, instance, element) {
        Some(_) => Ok(()),
        None => Err(Refusal::Nonlinear(node)),
    }
}
