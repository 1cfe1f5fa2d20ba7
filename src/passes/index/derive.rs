//! Differentiates equations as often as Pantelides' algorithm asks for.
//!
//! Before: the equations as written. After: each is followed by its derivatives. States, unknowns
//! and inputs have derivatives; the derivative of an input is another input. Parameters are
//! constant, and discrete variables are constant between events.

use super::Stuck;
use super::orders::Orders;
use crate::expr::ExprId;
use crate::flat::{Derived, Equation, EquationKind, Flat, Kind, Leaf, Type};
use crate::structure::Offsets;

pub fn derive(flat: &mut Flat, orders: &Orders, offsets: &Offsets) -> Result<Vec<Derived>, Stuck> {
    let mut times = vec![0u32; flat.equations.len()];
    for (id, &by) in orders.equations.iter().zip(&offsets.rows) {
        times[id.index()] = by;
        let equation = &flat.equations[id.index()];
        // The truth of an equation between booleans has no derivative.
        if by > 0 && flat.is_boolean(equation.left) {
            return Err(Stuck::NoDerivative(*id));
        }
    }
    let mut derived = Vec::new();
    let mut equations = Vec::with_capacity(flat.equations.len());
    for (equation, by) in std::mem::take(&mut flat.equations).into_iter().zip(times) {
        equations.push(equation);
        let mut last = equation;
        for time in 1..=by {
            last = Equation {
                left: rate(flat, last.left),
                right: rate(flat, last.right),
                kind: EquationKind::Derivative(derived.len() as u32),
                ..equation
            };
            equations.push(last);
            derived.push(Derived {
                of: equation,
                times: time as u8,
            });
        }
    }
    flat.equations = equations;
    Ok(derived)
}

/// The derivative of one side with respect to time.
pub fn rate(flat: &mut Flat, side: ExprId) -> ExprId {
    let Flat {
        exprs, variables, ..
    } = flat;
    let one = exprs.number(1.0);
    let found = exprs.differentiate(side, Some(one), |exprs, leaf| {
        let order = leaf.order()?;
        let id = leaf.variable();
        let variable = &mut variables[id.index()];
        match variable.kind {
            _ if variable.ty == Type::Boolean => return None,
            Kind::State | Kind::Algebraic | Kind::Output => {}
            Kind::Input => variable.order = variable.order.max(order + 1),
            _ => return None,
        }
        Some(exprs.leaf(Leaf::at_order(id, order + 1)))
    });
    found.unwrap_or_else(|| exprs.number(0.0))
}
