//! Suggests iteration variables to the solver, from R-fields.
//!
//! Before: a flat model as it was written. After: for each implicit R-field without gyrators a
//! [`Guess`]: the inputs of its resistors in resistance form, or of those in conductance form,
//! whichever are fewer, and the form in which each law is used (Hood, Rosenberg, Withers and Zhou
//! 1987). A guess is only a suggestion: dependent states or signals may make a loop larger than its
//! field, and a law may not be a formula in the form suggested. The solver tries it.

use super::resistive::{Obstacle, Port, shapes};
use super::transfer::{Transfer, Var};
use super::{gives, loops};
use crate::bond::causality::{Preferences, causality};
use crate::bond::graph::Graph;
use crate::bond::net::Gives;
use crate::bond::recover::recover;
use crate::bond::view::{Choice, view};
use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::Guess;
use crate::passes::signs::reference::reference;

/// Models with more equations are not copied for this.
const MOST_EQUATIONS: usize = 50_000;

/// Whether a model could have a nonlinear loop of resistors: some unknowns are multiplied with each
/// other, or are arguments of a function.
pub fn is_worth_it(flat: &Flat) -> bool {
    flat.equations.len() <= MOST_EQUATIONS && bends(flat)
}

/// Whether some expression is not linear in the unknowns. Only nonlinear loops need iteration variables.
fn bends(flat: &Flat) -> bool {
    let exprs = &flat.exprs;
    // For each expression whether it contains an unknown. Operands come before their users.
    let mut moves = vec![false; exprs.len()];
    for id in (0..exprs.len() as u32).map(ExprId) {
        let of = |id: ExprId| moves[id.index()];
        let (moving, bent) = match exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time => (false, false),
            Node::Leaf(leaf) => (flat.variable(leaf.variable()).kind.is_unknown(), false),
            Node::Unary(_, a) => (of(a), false),
            Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => (of(a) || of(b), false),
            Node::Binary(BinaryOp::Mul, a, b) => (of(a) || of(b), of(a) && of(b)),
            Node::Binary(BinaryOp::Div, a, b) => (of(a) || of(b), of(b)),
            Node::Binary(_, a, b) => (of(a) || of(b), of(a) || of(b)),
            Node::If(a, b, c) => (of(a) || of(b) || of(c), of(a)),
            Node::Call(_, args) | Node::List(args) => {
                let moving = exprs.args(args).iter().any(|&id| of(id));
                (moving, moving)
            }
        };
        if bent {
            return true;
        }
        moves[id.index()] = moving;
    }
    false
}

/// For each implicit R-field: the unknowns at its smaller side, on which Newton's method iterates best.
pub fn suggestions(written: Flat) -> Vec<Guess> {
    let (mut flat, ..) = reference(written);
    let Some(graph) = recover(&mut flat) else {
        return Vec::new();
    };
    let causality = causality(&graph, &Preferences::default(), &|_| true, 0);
    let shown = view(&flat, &graph, Choice::default());
    let loops = loops(&causality, &shown);
    let transfer = Transfer::new(&mut flat, &shown.graph, gives(&causality, &shown));
    let mut found = Vec::new();
    for field in shapes(&transfer, &loops) {
        let (r, g) = (&field.r, &field.g);
        let switched = matches!(field.sequence, Err(Obstacle::Switch(_)));
        if switched || field.numbers.gyrators > 0 || r.is_empty() || g.is_empty() {
            continue;
        }
        let taken = |port: &Port, is: Gives| {
            let bond = port.bond;
            (port.node, leaf(&shown.graph, Var { bond, is }))
        };
        let flows: Vec<_> = r.iter().map(|port| taken(port, Gives::Flow)).collect();
        let efforts: Vec<_> = g.iter().map(|port| taken(port, Gives::Effort)).collect();
        let fewer = if flows.len() <= efforts.len() {
            &flows
        } else {
            &efforts
        };
        let iteration: Option<Vec<Leaf>> = fewer.iter().map(|&(_, leaf)| leaf).collect();
        let Some(iteration) = iteration else {
            continue;
        };
        found.push(Guess {
            iteration,
            inputs: (flows.iter().chain(&efforts))
                .filter_map(|&(node, leaf)| Some((shown.graph.node(node).owner, leaf?)))
                .collect(),
        });
    }
    found
}

/// Returns the variable of an effort or flow, if it is a single one.
fn leaf(graph: &Graph, var: Var) -> Option<Leaf> {
    let bond = graph.bond(var.bond);
    let quantity = match var.is {
        Gives::Effort => &bond.effort,
        Gives::Flow => &bond.flow,
    };
    match quantity.0.as_deref() {
        Some([(_, id)]) => Some(Leaf::Var(*id)),
        _ => None,
    }
}
