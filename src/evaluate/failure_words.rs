//! What a failure says of an equation: the part it comes from, its two sides, what it depends on, values.

use rustc_hash::FxHashSet;

use super::Point;
use super::failure::SHOWN;
use super::point::leaves;
use crate::expr::{BinaryOp, ExprId, Node, Value, show_briefly, show_number};
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf};

/// The submodel of an equation, in words; nothing for the model itself.
pub(super) fn part(flat: &Flat, id: EqId) -> String {
    let origin = flat.equations[id.index()].origin;
    match origin == InstanceId::TOP {
        true => String::new(),
        false => {
            let class = flat.names.name(flat.instances[origin.index()].class);
            format!(" of `{}` ({class})", flat.path(origin))
        }
    }
}

/// The values of both sides of an equation, if they have any.
pub(super) fn sides(flat: &Flat, near: &Point, id: EqId) -> String {
    let equation = &flat.equations[id.index()];
    let value = |side: ExprId| near.number(&flat.exprs, side);
    match (value(equation.left), value(equation.right)) {
        (Some(left), Some(right)) => {
            format!(": its sides are {} and {}", amount(left), amount(right))
        }
        _ => String::new(),
    }
}

/// The sum of the sizes of all terms on both sides.
pub(super) fn size_of_terms(flat: &Flat, near: &Point, id: EqId) -> f64 {
    let equation = &flat.equations[id.index()];
    let mut work = vec![equation.left, equation.right];
    let mut size = 0.0;
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => work.extend([a, b]),
            Node::Unary(_, a) => work.push(a),
            _ => size += near.number(&flat.exprs, id).map_or(0.0, f64::abs),
        }
    }
    size.max(f64::MIN_POSITIVE)
}

/// The parameters, states and other known values in an equation: what an engineer can change.
pub(super) fn depends_on(flat: &Flat, near: &Point, id: EqId, unknowns: &[Leaf]) -> Option<String> {
    let equation = &flat.equations[id.index()];
    let mut known: Vec<Leaf> = leaves(&flat.exprs, equation.left);
    known.extend(leaves(&flat.exprs, equation.right));
    known.retain(|leaf| !unknowns.contains(leaf));
    let mut seen = FxHashSet::default();
    known.retain(|&leaf| seen.insert(leaf));
    let mut list: Vec<(u8, String)> = (known.into_iter())
        .filter_map(|leaf| {
            let value = match near.get(leaf)? {
                Value::Real(value) => show_briefly(value),
                value => value.to_string(),
            };
            let kind = flat.variable(leaf.variable()).kind;
            let (rank, what) = match kind {
                Kind::Parameter | Kind::Constant => (0, "the parameter "),
                Kind::State if flat.is_state(leaf) => (1, "the state "),
                Kind::Input => (1, "the input "),
                _ => (2, ""),
            };
            Some((rank, format!("{what}{} = {value}", flat.leaf_name(leaf))))
        })
        .collect();
    list.sort_by_key(|&(rank, _)| rank);
    let texts: Vec<String> = (list.into_iter().take(SHOWN))
        .map(|(_, text)| text)
        .collect();
    (!texts.is_empty()).then(|| format!("it depends on {}", texts.join(", ")))
}

/// A number of which only the magnitude matters.
pub(super) fn amount(value: f64) -> String {
    match value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        true => format!("{value:.1e}"),
        false => show_number((value * 1e4).round() / 1e4),
    }
}

pub(super) fn names(flat: &Flat, unknowns: &[Leaf]) -> String {
    let mut list: Vec<String> = (unknowns.iter().take(SHOWN))
        .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
        .collect();
    if unknowns.len() > SHOWN {
        list.push(format!("and {} more", unknowns.len() - SHOWN));
    }
    list.join(", ")
}

/// The text "where a = 1, b = 2" for the variables of an expression.
pub(super) fn values_in(flat: &Flat, point: &Point, expression: ExprId) -> Option<String> {
    values_of(flat, point, leaves(&flat.exprs, expression))
}

pub(super) fn values_of(flat: &Flat, point: &Point, leaves: Vec<Leaf>) -> Option<String> {
    let mut list: Vec<(Leaf, Value)> = (leaves.into_iter())
        .filter_map(|leaf| Some((leaf, point.get(leaf)?)))
        .collect();
    // Truths come first: they decide which branch of an `if` failed.
    list.sort_by_key(|(_, value)| !matches!(value, Value::Bool(_)));
    let mut texts: Vec<String> = (list.iter().take(SHOWN))
        .map(|&(leaf, value)| {
            let value = match value {
                Value::Real(value) => show_briefly(value),
                Value::Bool(_) => value.to_string(),
            };
            format!("{} = {value}", flat.leaf_name(leaf))
        })
        .collect();
    if list.len() > SHOWN {
        texts.push("...".into());
    }
    (!texts.is_empty()).then(|| format!("where {}", texts.join(", ")))
}
