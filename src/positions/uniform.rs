//! Whether one set of formulas serves all positions.
//!
//! Before: a model with switches, solved as one. After: yes, where no divisor, determinant or loop is singular in any
//! combination of conditions: the free causality of the 1995 paper, as in its rectifier. A loop with too many of them to
//! try is not said to be: then positions are looked at as they occur.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::switches::has_switch;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Flat, Kind, Leaf};
use crate::numeric::lu::Lu;
use crate::numeric::numbered;
use crate::passes::blocks::{Assignment, Block, Entry, Linear, Method, Solved};
use crate::passes::vanishing::{combinations, conditions_in, value_when};
use crate::structure::{Incidence, maximum_matching};

/// The most entries of matrices that are examined, all combinations together.
const EFFORT: usize = 4_000_000;

pub fn uniform(solved: &Solved) -> bool {
    let flat = &solved.flat;
    let derived = flat
        .reduction
        .iter()
        .flat_map(|reduction| &reduction.derived);
    let mut differentiated = derived.flat_map(|derived| [derived.of.left, derived.of.right]);
    if differentiated.any(|side| has_switch(flat, side)) {
        return false;
    }
    let mut definitions: FxHashMap<Leaf, ExprId> = FxHashMap::default();
    for assignment in solved.assignments() {
        glance();
        if flat.variable(assignment.target.variable()).kind == Kind::Auxiliary {
            definitions.insert(assignment.target, assignment.value);
        }
    }
    let definition = |leaf: Leaf| definitions.get(&leaf).copied();
    solved.blocks.iter().all(|block| match block {
        Block::Assignment(assignment) => divides(flat, assignment, &definition),
        Block::Linear(linear) => match &linear.method {
            Method::Formulas(list) => list.iter().all(|one| divides(flat, one, &definition)),
            Method::System { matrix, .. } => regular(flat, linear, matrix),
        },
        Block::Nonlinear(loop_) => {
            (loop_.inner.iter()).all(|inner| divides(flat, inner, &definition))
                && matched(flat, &loop_.equations, &loop_.unknowns)
        }
        Block::Selected(selected) => {
            let mut residuals = selected.residuals.iter();
            residuals.all(|residual| !has_switch(flat, residual.value))
        }
        Block::When(_) => true,
    })
}

/// Whether a divisor is zero in no combination of conditions.
fn divides(
    flat: &Flat,
    assignment: &Assignment,
    definition: &dyn Fn(Leaf) -> Option<ExprId>,
) -> bool {
    let Some(guard) = assignment.guard else {
        return true;
    };
    let conditions = conditions_in(flat, &[guard], definition);
    let Some(count) = combinations(&conditions) else {
        return false;
    };
    (0..count).all(|truth| value_when(flat, guard, definition, (&conditions, truth)) != Some(0.0))
}

/// Whether A of a linear loop is regular in all combinations of conditions. An entry that is not a number can have any
/// value.
fn regular(flat: &Flat, linear: &Linear, matrix: &[Entry]) -> bool {
    let nothing = |_: Leaf| None;
    let entries: Vec<ExprId> = matrix.iter().map(|entry| entry.value).collect();
    let conditions = conditions_in(flat, &entries, &nothing);
    if conditions.is_empty() {
        return true;
    }
    let count = match combinations(&conditions) {
        Some(count) if count as usize * matrix.len() <= EFFORT => count,
        _ => return false,
    };
    let size = linear.unknowns.len();
    let places = matrix.iter().map(|entry| (entry.row, entry.column));
    let matrix = numbered(size, places).map(|&at| matrix[at].value);
    let place: Vec<u32> = (0..size as u32).collect();
    let mut lu = Lu::new(matrix.structure_view());
    (0..count).all(|truth| {
        let mut others = 0;
        let numbers = matrix.map(|&entry| {
            let any = 1.0 + (f64::from(others) * 0.618_033_988_749_895).fract();
            others += 1;
            value_when(flat, entry, &nothing, (&conditions, truth)).unwrap_or(any)
        });
        lu.factor(numbers.view(), &place)
    })
}

/// Whether each equation of a nonlinear loop has an unknown of its own in all combinations of conditions.
fn matched(flat: &Flat, equations: &[EqId], unknowns: &[Leaf]) -> bool {
    let sides: Vec<ExprId> = (equations.iter())
        .flat_map(|id| {
            [
                flat.equations[id.index()].left,
                flat.equations[id.index()].right,
            ]
        })
        .filter(|&side| has_switch(flat, side))
        .collect();
    if sides.is_empty() {
        return true;
    }
    let conditions = conditions_in(flat, &sides, &|_| None);
    let Some(count) = combinations(&conditions) else {
        return false;
    };
    let columns: FxHashMap<Leaf, u32> = unknowns.iter().copied().zip(0..).collect();
    (0..count).all(|truth| {
        let holds = |condition: ExprId| {
            let at = conditions.iter().position(|&known| known == condition)?;
            Some(truth >> at & 1 == 1)
        };
        let mut incidence = Incidence::new(unknowns.len());
        for id in equations {
            let equation = &flat.equations[id.index()];
            let mut entries: Vec<(u32, u8)> = Vec::new();
            let mut work = vec![equation.left, equation.right];
            let mut seen: FxHashSet<ExprId> = FxHashSet::default();
            while let Some(id) = work.pop() {
                if !seen.insert(id) {
                    continue;
                }
                match flat.exprs.node(id) {
                    Node::Leaf(leaf) => entries.extend(columns.get(&leaf).map(|&at| (at, 0))),
                    Node::If(condition, a, b) => match holds(condition) {
                        Some(true) => work.push(a),
                        Some(false) => work.push(b),
                        None => work.extend([condition, a, b]),
                    },
                    _ => flat.exprs.operands(id, &mut work),
                }
            }
            entries.sort_unstable();
            entries.dedup();
            incidence.push_row(entries);
        }
        maximum_matching(&incidence).is_perfect()
    })
}
