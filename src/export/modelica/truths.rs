//! Chooses the variable that each equation between truths determines.
//!
//! Modelica does not solve equations for a truth: one side has to be the variable (3.6, section 8.4 and appendix B). In
//! bgm equations have any form, such as `not r = b`. Before: the flat model. After: for each equation between truths
//! the variable that it is written for, each variable once, if there is one that is alone on a side except for `not`.

use rustc_hash::FxHashMap;

use super::text::Printer;
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{Kind, Leaf, Type, VarId};
use crate::structure::{Incidence, NONE, maximum_matching};

/// How an equation is written.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub variable: VarId,
    pub value: ExprId,
    /// The equation gives the opposite of the variable.
    pub negated: bool,
}

/// By index of the equation. `known` variables are determined elsewhere.
pub fn told(printer: &Printer<'_>, known: impl Fn(VarId) -> bool) -> FxHashMap<usize, Told> {
    let flat = printer.flat;
    let mut columns: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut variables: Vec<VarId> = Vec::new();
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let unknown = variable.kind.is_unknown() && variable.kind != Kind::Discrete;
        if variable.ty == Type::Boolean && unknown && !known(id) {
            columns.insert(id, variables.len() as u32);
            variables.push(id);
        }
    }
    let mut rows: Vec<(usize, Vec<Told>)> = Vec::new();
    for (at, equation) in flat.equations.iter().enumerate() {
        if !equation.kind.is_continuous() || !flat.is_boolean(equation.left) {
            continue;
        }
        let sides = [
            (equation.left, equation.right),
            (equation.right, equation.left),
        ];
        let possible = sides.iter().filter_map(|&(side, value)| {
            let (variable, negated) = alone(printer, side)?;
            columns.contains_key(&variable).then_some(Told {
                variable,
                value,
                negated,
            })
        });
        rows.push((at, possible.collect()));
    }
    let mut incidence = Incidence::new(variables.len());
    for (_, possible) in &rows {
        let entry = |told: &Told| (columns[&told.variable], u8::from(told.negated));
        incidence.push_row(possible.iter().map(entry));
    }
    let matching = maximum_matching(&incidence);
    let mut found = FxHashMap::default();
    for ((at, possible), &column) in rows.iter().zip(&matching.column_of) {
        if column != NONE {
            let mut all = possible.iter();
            let own = all.find(|told| columns[&told.variable] == column);
            found.extend(own.map(|&told| (*at, told)));
        }
    }
    found
}

/// A variable with any number of `not` before it.
fn alone(printer: &Printer<'_>, mut id: ExprId) -> Option<(VarId, bool)> {
    let mut negated = false;
    loop {
        match printer.flat.exprs.node(id) {
            Node::Leaf(Leaf::Var(variable)) => return Some((variable, negated)),
            Node::Unary(UnaryOp::Not, a) => {
                id = a;
                negated = !negated;
            }
            _ => return None,
        }
    }
}
