//! Relations that change exactly at the point: there is one linear model on each side of them.

use rustc_hash::FxHashSet;

use super::linearised::Linearised;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::leaves;
use crate::expr::{Arena, ExprId, Function, Node};
use crate::flat::{Kind, Leaf};
use crate::numeric::zero::{UNIT, resolution};
use crate::passes::relations::WatchKind;

/// Values that were integrated are known to about this part of their sides.
const KNOWN: f64 = 1e-9;

impl Linearised {
    /// One diagnostic for each relation, `abs`, `min` or `max` whose sides are equal at the point, as far as can be known.
    pub fn ties(&self) -> Vec<Diagnostic> {
        const MOST: usize = 5;
        let flat = self.flat();
        let exprs = &flat.exprs;
        let mut found = Vec::new();
        let mut said = Vec::new();
        for (at, &root) in self.residuals.iter().enumerate() {
            let nodes = parts(exprs, root);
            for node in nodes {
                let Some(gap) = self.gap(node).filter(|_| !said.contains(&node)) else {
                    continue;
                };
                if !gap {
                    continue;
                }
                said.push(node);
                let id = self.equations[at];
                let text = flat.expression(node);
                let message = format!(
                    "`{text}` changes exactly at this point: the model has other slopes on its other side"
                );
                found.push(
                    Diagnostic::new(Code::TieAtPoint, message)
                        .at(flat.equations[id.index()].span, "in this equation")
                        .note("the matrices are those of the side that holds at the point")
                        .hint("linearise beside it, by `--at` or `--at-time`"),
                );
                if found.len() == MOST {
                    return found;
                }
            }
        }
        found
    }

    /// Whether the two sides of a node that has two are equal at the point; `None` if it has none, or does not depend on
    /// anything that moves.
    fn gap(&self, node: ExprId) -> Option<bool> {
        let flat = self.flat();
        let exprs = &flat.exprs;
        let sides = match exprs.node(node) {
            Node::Call(Function::Abs | Function::Sign, args) => vec![exprs.args(args)[0]],
            Node::Call(Function::Min | Function::Max, args) => exprs.args(args).to_vec(),
            Node::Binary(_, a, b) => {
                WatchKind::of(flat, node)?;
                vec![a, b]
            }
            _ => return None,
        };
        let moves = leaves(exprs, node).into_iter().any(|leaf| {
            let kind = flat.variable(leaf.variable()).kind;
            !matches!(kind, Kind::Parameter | Kind::Constant)
        });
        let is_time = |&id: &ExprId| exprs.node(id) == Node::Time;
        let timed = parts(exprs, node).iter().any(is_time);
        if !moves && !timed {
            return None;
        }
        let values: Option<Vec<f64>> = (sides.iter())
            .map(|&side| self.point.number(exprs, side))
            .collect();
        let values = values?;
        let mut error = 0.0;
        for leaf in leaves(exprs, node) {
            let value = self.value(leaf).unwrap_or(0.0);
            let rate = match leaf {
                Leaf::Var(_) | Leaf::Der(..) => self.value(leaf.rate()).unwrap_or(0.0),
                _ => 0.0,
            };
            error += 4.0 * UNIT * value.abs() + (rate * resolution(self.point.time)).abs();
        }
        let of_one = values.len() == 1;
        Some(
            (1..values.len()).any(|at| {
                (0..at).any(|other| {
                    let (a, b) = (values[at], values[other]);
                    (a - b).abs() <= error + KNOWN * a.abs().max(b.abs())
                })
            }) || of_one && values[0].abs() <= error,
        )
    }
}

/// All parts of an expression, in the order of the arena.
fn parts(exprs: &Arena<Leaf>, root: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut work = vec![root];
    let mut seen = FxHashSet::default();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        found.push(id);
        match exprs.node(id) {
            Node::Call(_, args) | Node::List(args) => work.extend(exprs.args(args)),
            Node::Unary(_, a) => work.push(a),
            Node::Binary(_, a, b) => work.extend([a, b]),
            Node::If(a, b, c) => work.extend([a, b, c]),
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
        }
    }
    found.sort_unstable();
    found
}
