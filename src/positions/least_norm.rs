//! Positions in which switches leave something open, or say it twice.
//!
//! Before: the equations of a position. All four diodes of a bridge are open: their currents are zero, one of them follows
//! from the others, and the potential of the source is anywhere. Two switches side by side are closed: how the
//! current divides is not said. After: of each such set of equations one has given way, so that the rest has one
//! solution: the one with the least squares of the voltages of open switches, and of the currents of closed ones.
//!
//! If k*f sums to zero over the switches that cut the part off, then so does k*e in that solution: it is what
//! equal small leakages come to, or equal small resistances. So it is found from the signs alone.

use rustc_hash::FxHashMap;

use super::switches::{Switch, branch};
use crate::expr::{ExprId, Node, Term};
use crate::flat::{EqId, Flat};
use crate::passes::signs::reference::findings;
use crate::structure::difference;

/// An equation that is replaced in a set of equations.
#[derive(Clone, Debug)]
pub struct Loose {
    /// Switches (by number) that leave it open or say it twice.
    pub switches: Vec<usize>,
}

/// `0 = a` of a switch, with what stands in its other branch.
struct Row {
    switch: usize,
    other: ExprId,
}

/// For equations of a single switch, `other` is what the equation says in the other position. It is called before the
/// branches are put in.
fn rows(
    flat: &mut Flat,
    written: &Flat,
    switches: &[Switch],
    key: &[bool],
) -> FxHashMap<EqId, Row> {
    let mut rows = FxHashMap::default();
    for (at, switch) in switches.iter().enumerate() {
        for &id in &switch.equations {
            let equation = &written.equations[id.index()];
            let side = match (
                flat.exprs.is_zero(equation.left),
                flat.exprs.is_zero(equation.right),
            ) {
                (true, _) => equation.right,
                (_, true) => equation.left,
                _ => continue,
            };
            if !matches!(flat.exprs.node(side), Node::If(..)) {
                continue;
            }
            let truth = FxHashMap::from_iter([(switch.condition, !key[at])]);
            let other = branch(flat, side, &truth);
            rows.insert(id, Row { switch: at, other });
        }
    }
    rows
}

/// Replaces the equations, and returns which.
pub fn settle(flat: &mut Flat, written: &Flat, switches: &[Switch], key: &[bool]) -> Vec<Loose> {
    let found = findings(flat);
    if found.redundant.is_empty() {
        return Vec::new();
    }
    let rows = rows(flat, written, switches, key);
    let mut sums: Vec<Vec<(EqId, i64)>> = (found.redundant.into_iter())
        .map(|combination| combination.equations)
        .collect();
    let mut loose = Vec::new();
    let mut replaced: Vec<(EqId, ExprId)> = Vec::new();
    while let Some(sum) = sums.pop() {
        let taking = |&&(id, _): &&(EqId, i64)| rows.contains_key(&id);
        let pivot = (sum.iter().filter(taking)).rfind(|(_, factor)| factor.abs() == 1);
        let Some(&(gone, factor)) = pivot else {
            continue;
        };
        let mut terms: Vec<Term> = Vec::new();
        let mut names = Vec::new();
        for &(id, times) in &sum {
            let Some(row) = rows.get(&id) else { continue };
            let many = flat.exprs.number(times.unsigned_abs() as f64);
            terms.push((times < 0, flat.exprs.tidy_mul(many, row.other)));
            names.push(row.switch);
        }
        replaced.push((gone, flat.exprs.sum(&terms)));
        names.sort_unstable();
        names.dedup();
        loose.push(Loose { switches: names });
        // No other sum may need the replaced equation.
        for other in &mut sums {
            if let Some(&(_, by)) = other.iter().find(|(id, _)| *id == gone) {
                *other = difference(other, 1, &sum, by * factor).unwrap_or_default();
            }
        }
    }
    for (id, left) in replaced {
        let right = flat.exprs.number(0.0);
        let equation = &mut flat.equations[id.index()];
        (equation.left, equation.right) = (left, right);
    }
    loose.reverse();
    loose
}
