//! The system of a jump from the equations of a position.

use rustc_hash::FxHashMap;
use sprs::CsMat;

use super::coefficients::stays;
use super::{Coefficient, Jump, Row};
use crate::expr::{ExprId, Node};
use crate::flat::{EquationKind, Flat, Kind, Leaf, Type};
use crate::numeric::numbered;
use crate::passes::index::coefficients;
use crate::passes::vanishing::constant;

impl Jump {
    /// `None` where nothing is differentiated: then nothing can jump.
    pub fn new(flat: &mut Flat) -> Option<Jump> {
        flat.reduction.as_ref()?;
        let mut columns = Vec::new();
        let mut impulsive = Vec::new();
        let mut of: FxHashMap<u32, u32> = FxHashMap::default();
        for id in flat.variable_ids() {
            let variable = flat.variable(id);
            let unknown = matches!(variable.kind, Kind::State | Kind::Algebraic | Kind::Output);
            if !unknown || variable.ty != Type::Real {
                continue;
            }
            of.insert(id.0, columns.len() as u32);
            columns.push(Leaf::at_order(id, variable.order.saturating_sub(1)));
            impulsive.push(variable.order == 0);
        }
        let definitions = definitions(flat);
        let mut rows = Vec::new();
        let mut at = 0;
        while at < flat.equations.len() {
            let equation = flat.equations[at];
            let first = at;
            at += 1;
            if !equation.kind.is_continuous() || flat.is_boolean(equation.left) {
                continue;
            }
            while (flat.equations.get(at))
                .is_some_and(|next| matches!(next.kind, EquationKind::Derivative(_)))
            {
                at += 1;
            }
            let times = at - first - 1;
            // Of a differentiated equation the highest that holds at once, else itself.
            let highest = flat.equations[first + times.saturating_sub(1)];
            let below = u8::from(times > 0);
            let mut tight: FxHashMap<Leaf, u32> = FxHashMap::default();
            for side in [highest.left, highest.right] {
                flat.exprs.leaves(side, |leaf| {
                    let Some(order) = leaf.order() else { return };
                    let Some(&column) = of.get(&leaf.variable().0) else {
                        return;
                    };
                    if order + below == flat.variable(leaf.variable()).order {
                        tight.insert(leaf, column);
                    }
                });
            }
            let entries = coefficients(flat, (highest.left, highest.right), &tight);
            let entries = (entries.into_iter())
                .map(|(column, value)| {
                    let coefficient = match constant(flat, value) {
                        Some(number) => Coefficient::Number(number, value),
                        None => Coefficient::Expression(opened(flat, value, &definitions)),
                    };
                    (column, coefficient)
                })
                .collect();
            let sides = |at: usize| (flat.equations[at].left, flat.equations[at].right);
            rows.push(Row {
                equation,
                holds: (times > 0).then_some((highest.left, highest.right)),
                lower: (first..first + times.saturating_sub(1))
                    .map(sides)
                    .collect(),
                entries,
            });
        }
        // Every real unknown has a real equation.
        let linear = (rows.iter().flat_map(|row| &row.entries))
            .all(|&(_, coefficient)| stays(flat, coefficient));
        (rows.len() == columns.len()).then(|| Jump {
            places: places(columns.len(), &rows),
            linear,
            columns,
            impulsive,
            rows,
        })
    }
}

/// Variables that are given by a formula, `C = gamma/e`: a coefficient that is one depends on what stands in it.
fn definitions(flat: &Flat) -> FxHashMap<Leaf, ExprId> {
    let mut found = FxHashMap::default();
    for equation in
        (flat.equations.iter()).filter(|equation| equation.kind == EquationKind::Equation)
    {
        if let Node::Leaf(leaf @ Leaf::Var(id)) = flat.exprs.node(equation.left)
            && flat.variable(id).order == 0
            && flat.variable(id).kind.is_unknown()
        {
            found.entry(leaf).or_insert(equation.right);
        }
    }
    found
}

/// An expression in which variables stand for their formulas, a few levels deep.
fn opened(flat: &mut Flat, mut id: ExprId, definitions: &FxHashMap<Leaf, ExprId>) -> ExprId {
    const MOST_LEVELS: usize = 4;
    const MOST_NODES: usize = 200;
    for _ in 0..MOST_LEVELS {
        let next = flat
            .exprs
            .replace_leaves(id, |leaf| definitions.get(&leaf).copied());
        if next == id || flat.exprs.size(next, MOST_NODES) >= MOST_NODES {
            break;
        }
        id = next;
    }
    id
}

/// The entries of the rows, by columns.
fn places(size: usize, rows: &[Row]) -> CsMat<usize> {
    let entries = (rows.iter().zip(0..))
        .flat_map(|(row, at)| row.entries.iter().map(move |&(column, _)| (at, column)));
    numbered(size, entries)
}
