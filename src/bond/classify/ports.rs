//! Power ports of an element in terms of its equations: their variables, their power, and names of
//! their sums.

use super::probe::Powers;
use super::system::Port;
use crate::bond::recover::power_ports::PowerPort;
use crate::expr::ExprId;
use crate::expr::linear::difference;
use crate::flat::{Flat, Kind, Leaf, Signed, VarId};

/// Returns a power port as the equations of its element see it.
pub(super) fn port(power_port: &PowerPort, swapped: bool) -> Port {
    let components = power_port.components();
    let variable = |one: Option<Signed>| one.map(Signed::variable);
    let others = match power_port {
        PowerPort::Single(_) => Vec::new(),
        PowerPort::Series(components) => (components[1..].iter())
            .filter_map(|component| variable(component.across))
            .collect(),
        PowerPort::Parallel(components) => (components[1..].iter())
            .filter_map(|component| variable(component.through))
            .collect(),
    };
    Port {
        across: variable(components[0].across),
        through: variable(components[0].through),
        others,
        summed: match power_port {
            PowerPort::Single(_) => None,
            PowerPort::Series(_) => variable(components[0].across),
            PowerPort::Parallel(_) => variable(components[0].through),
        },
        swapped,
    }
}

/// Returns the power that goes in at a port.
pub(super) fn power(power_port: &PowerPort) -> Powers {
    (power_port.components().iter())
        .filter_map(|component| {
            let (across, through) = (component.across?, component.through?);
            let sign = match across.negative() != through.negative() {
                true => -1.0,
                false => 1.0,
            };
            Some((across.variable(), through.variable(), sign))
        })
        .collect()
}

/// Returns a variable that an equation sets equal to the sum of a port: `u = Va - Vb`.
pub(super) fn name_of(
    flat: &mut Flat,
    rows: &[(ExprId, ExprId)],
    power_port: &PowerPort,
) -> [Option<VarId>; 2] {
    let (components, across) = match power_port {
        PowerPort::Single(_) => return [None; 2],
        PowerPort::Series(components) => (components, true),
        PowerPort::Parallel(components) => (components, false),
    };
    let shared = if across {
        components[0].through
    } else {
        components[0].across
    };
    let Some(shared) = shared else {
        return [None; 2];
    };
    // The terms of the sum, with the signs that they have in the power into the element.
    let terms: Vec<(VarId, f64)> = (components.iter())
        .filter_map(|component| {
            let (own, other) = match across {
                true => (component.across?, component.through?),
                false => (component.through?, component.across?),
            };
            let turned = own.negative() ^ other.negative() ^ shared.negative();
            Some((own.variable(), if turned { -1.0 } else { 1.0 }))
        })
        .collect();
    let mut found: [Option<VarId>; 2] = [None; 2];
    for &(left, right) in rows {
        let number = |leaf: Leaf| match leaf {
            Leaf::Var(id) => Some(id.0),
            _ => None,
        };
        let Some(form) = difference(&mut flat.exprs, left, right, &number) else {
            continue;
        };
        let rest = flat.exprs.sum(&form.rest);
        if form.terms.len() != terms.len() + 1 || !flat.exprs.is_zero(rest) {
            continue;
        }
        let value = |id: VarId| {
            let coefficient = form.coefficient(id.0)?;
            flat.exprs.as_number(coefficient)
        };
        let ratios: Option<Vec<f64>> = (terms.iter())
            .map(|&(id, sign)| value(id).map(|value| value * sign))
            .collect();
        let Some(ratios) = ratios else {
            continue;
        };
        let other = (form.terms.iter().map(|&(id, _)| VarId(id)))
            .find(|id| terms.iter().all(|(term, _)| term != id));
        let (Some(&first), Some(other)) = (ratios.first(), other) else {
            continue;
        };
        let Some(own) = value(other) else {
            continue;
        };
        let alike = ratios.iter().all(|&ratio| ratio == first) && first.abs() == own.abs();
        let kind = flat.variable(other).kind;
        if alike && !matches!(kind, Kind::Parameter | Kind::Constant) {
            let place = &mut found[usize::from(first * own > 0.0)];
            *place = place.or(Some(other));
        }
    }
    found
}
