//! Whether the form of the 1995 paper says all that happens when a switch opens or closes.
//!
//! In that form `when OpenSwitch then init(f) = 0` sets the one flow that the switch interrupts. The balance of impulses may move
//! other states as well (two inertias that a clutch joins share their momentum), and the form does not say so. Here
//! both are computed, from states without meaning: where they differ the model has no such form.

use super::Refusal;
use crate::evaluate::{Point, evaluate};
use crate::expr::{Node, Value};
use crate::flat::{Flat, Leaf, Type};
use crate::positions::{Positions, Values};
use crate::solve::Solved;

/// A refusal that names what jumps; what cannot be compared is refused as well.
pub fn jumps(positions: &Positions, solved: &Solved) -> Result<(), Refusal> {
    let before = values(solved).ok_or_else(|| {
        Refusal("its switches change the order, and what jumps with them cannot be computed".into())
    })?;
    let restarted = restarted(&solved.flat);
    let (modes, _) = positions.modes();
    for mode in modes {
        let Ok(position) = positions.compile(&mode.key, false) else {
            continue;
        };
        let Some(jump) = &position.jump else {
            continue;
        };
        let name = positions.position_name(&mode.key);
        let flat = &position.solved.flat;
        let Ok(jumped) = jump.solve(flat, 0.0, &before, |_| 1.0) else {
            return Err(Refusal(format!(
                "what jumps in the position {name} of its switches cannot be computed"
            )));
        };
        for state in solved.flat.states() {
            let (Some(&was), Some(&is)) = (before.get(&state), jumped.after.get(&state)) else {
                continue;
            };
            let stays = (is - was).abs() <= 1e-9 * was.abs();
            let stops = restarted.contains(&state) && is.abs() <= 1e-9 * was.abs();
            if !stays && !stops {
                return Err(Refusal(format!(
                    "`{}` jumps when its switches come to the position {name}; only `bgm simulate` solves each position by itself",
                    solved.flat.leaf_name(state)
                )));
            }
        }
    }
    Ok(())
}

/// States that a `when` sets.
fn restarted(flat: &Flat) -> Vec<Leaf> {
    let all = flat
        .equations
        .iter()
        .filter_map(|equation| match flat.exprs.node(equation.left) {
            Node::Leaf(Leaf::Init(id)) if !equation.kind.is_continuous() => Some(Leaf::Var(id)),
            _ => None,
        });
    all.collect()
}

/// All values at states that are like no others.
fn values(solved: &Solved) -> Option<Values> {
    let flat = &solved.flat;
    for truth in [false, true] {
        let mut point = Point::new(solved);
        for (at, state) in flat.states().enumerate() {
            point.set(state, Value::Real(1.0 + 0.37 * (at as f64 + 1.0).sqrt()));
        }
        for id in flat.variable_ids() {
            if flat.variable(id).ty == Type::Boolean
                && flat.variable(id).kind == crate::flat::Kind::Discrete
            {
                point.set(Leaf::Var(id), Value::Bool(truth));
            }
        }
        if evaluate(solved, &mut point).is_err() {
            continue;
        }
        let mut values = Values::default();
        for id in flat.variable_ids() {
            for order in 0..=flat.variable(id).order {
                let leaf = Leaf::at_order(id, order);
                match point.get(leaf) {
                    Some(Value::Real(value)) => values.insert(leaf, value),
                    Some(Value::Bool(value)) => values.insert(leaf, f64::from(u8::from(value))),
                    None => None,
                };
            }
        }
        return Some(values);
    }
    None
}
