//! Replaces equations by constraints that are hidden in them.
//!
//! Before: sums of equations, independent of each other, that contain only states (the loop of three capacitors away
//! from ground) or unknowns that other equations determine ([`crate::passes::signs::hidden`]). After: for each sum one
//! of its equations is replaced by what the sum leaves, so that the structure of the model shows the constraint. The
//! model is equivalent. Which equation is replaced does not depend on the order of declarations, unless there are very
//! many sums.

use crate::base::cancel::glance;
use std::cmp::Reverse;

use super::derive::rate;
use crate::expr::isolate::open_sum;
use crate::expr::{ExprId, Node, Term};
use crate::flat::{EqId, Equation, EquationKind, Flat, InstanceId};
use crate::passes::signs::reference::{Combination, next_term};
use crate::structure::difference;

/// Up to this number of sums the choice does not depend on the order of declarations. With more of them, the sums are
/// kept short.
const MANY: usize = 100;

/// Equations, each with a whole factor.
pub type Sum = Vec<(EqId, i64)>;

/// `times` is how often each equation will be differentiated. A sum stands for the sum of these derivatives, and is
/// inserted with as few differentiations as possible. Returns the equations that were replaced, each with its
/// combination.
pub fn put_in(
    flat: &mut Flat,
    sums: impl IntoIterator<Item = Sum>,
    times: impl Fn(EqId) -> u32,
) -> Vec<(EqId, Combination)> {
    let mut left: Vec<Sum> = sums.into_iter().collect();
    let mut users = Users::new(flat.equations.len(), &left);
    let mut found: Vec<(EqId, Combination)> = Vec::new();
    for at in (0..left.len()).rev() {
        let sum = std::mem::take(&mut left[at]);
        let least = sum.iter().map(|&(id, _)| times(id)).min().unwrap_or(0);
        // An equation that shows the constraint by itself is not replaced.
        let replaced = match sum.len() > 1 {
            true => gives_way(flat, &users, &sum, |id| times(id) == least),
            false => None,
        };
        users.remove(&sum);
        let Some((replaced, factor)) = replaced else {
            continue;
        };
        // The other sums must not need the equation that is replaced.
        for user in users.take(replaced) {
            let other = &mut left[user as usize];
            let Ok(place) = other.binary_search_by_key(&replaced, |&(id, _)| id) else {
                continue;
            };
            let by = other[place].1;
            users.remove(other);
            *other = difference(other, factor, &sum, by).unwrap_or_default();
            users.add(user, other);
        }
        if let Some(rest) = rest(flat, &sum, |id| times(id) - least) {
            let equations = sum;
            found.push((replaced, Combination { equations, rest }));
        }
    }
    // The remainders are those of the equations as they were before.
    for (replaced, combination) in &found {
        replace(flat, *replaced, combination);
    }
    found
}

/// Puts what is left of a sum in place of one of its equations.
pub fn replace(flat: &mut Flat, replaced: EqId, combination: &Combination) {
    let sides = sides(flat, combination);
    let origin = origin(flat, combination);
    let equation = &mut flat.equations[replaced.index()];
    *equation = Equation {
        left: sides.0,
        right: sides.1,
        origin,
        // In place of a coupling among couplings it is one itself.
        kind: match equation.kind {
            EquationKind::Coupling => EquationKind::Coupling,
            _ => EquationKind::Constraint,
        },
        ..*equation
    };
}

/// The terms that a sum leaves. Each equation is differentiated as often as `times` says.
fn rest(flat: &mut Flat, sum: &Sum, times: impl Fn(EqId) -> u32) -> Option<Vec<(ExprId, i64)>> {
    let mut terms: Vec<(ExprId, i64)> = Vec::new();
    let mut work = Vec::new();
    for &(id, factor) in sum {
        let Equation {
            mut left,
            mut right,
            ..
        } = flat.equations[id.index()];
        for _ in 0..times(id) {
            (left, right) = (rate(flat, left), rate(flat, right));
        }
        work.extend([(right, factor.checked_neg()?), (left, factor)]);
        while let Some(term) = next_term(flat, &mut work) {
            glance();
            terms.push(term);
        }
    }
    difference(&terms, 1, &[], 0)
}

/// The sums that each equation takes part in.
struct Users {
    /// By equation: its sums. Sums in which it was replaced may remain in the list.
    lists: Vec<Vec<u32>>,
    /// By equation: the number of its sums.
    counts: Vec<u32>,
    many: bool,
}

impl Users {
    fn new(equations: usize, sums: &[Sum]) -> Self {
        let mut users = Users {
            lists: vec![Vec::new(); equations],
            counts: vec![0; equations],
            many: sums.len() > MANY,
        };
        for (at, sum) in (0..).zip(sums) {
            users.add(at, sum);
        }
        users
    }

    fn add(&mut self, at: u32, sum: &Sum) {
        for &(id, _) in sum {
            self.lists[id.index()].push(at);
            self.counts[id.index()] += 1;
        }
    }

    fn remove(&mut self, sum: &Sum) {
        for &(id, _) in sum {
            self.counts[id.index()] -= 1;
        }
    }

    /// Takes the list of an equation. The equation is not asked for again.
    fn take(&mut self, id: EqId) -> Vec<u32> {
        let mut list = std::mem::take(&mut self.lists[id.index()]);
        list.sort_unstable();
        list.dedup();
        list
    }
}

/// Which equation of a sum is replaced: a sum of flows rather than an equality of two variables, so that variables that
/// are equal stay equal by one equation; among sums, a connection rather than an equation of the source; among many,
/// the one that fewest other sums need, so that parallel storages keep short constraints; then the last by its text. If
/// there are only equalities, any of them can be replaced: all their variables equal the states.
fn gives_way(
    flat: &Flat,
    users: &Users,
    sum: &Sum,
    may: impl Fn(EqId) -> bool,
) -> Option<(EqId, i64)> {
    let rank = |id: EqId| {
        let needed = match users.many {
            true => users.counts[id.index()],
            false => 0,
        };
        (preferred(flat, id), Reverse(needed))
    };
    let candidates = || sum.iter().filter(|&&(id, _)| may(id));
    let best = candidates().map(|&(id, _)| rank(id)).max()?;
    candidates()
        .filter(|&&(id, _)| rank(id) == best)
        .map(|&(id, factor)| (flat.equation_text(id), id, factor))
        .max()
        .map(|(_, id, factor)| (id, factor))
}

/// A sum rather than an equality; of sums a connection, of equalities what was written.
pub fn preferred(flat: &Flat, id: EqId) -> (bool, bool) {
    let kind = flat.equations[id.index()].kind;
    let sum = length(flat, id) > 2;
    let rather = match sum {
        true => kind != EquationKind::Equation,
        // Couplings of a node stand in an order that should not matter.
        false => kind != EquationKind::Coupling,
    };
    (sum, rather)
}

/// The innermost submodel that contains the origins of all equations.
fn origin(flat: &Flat, combination: &Combination) -> InstanceId {
    let way = |mut at: InstanceId| {
        let mut way = vec![at];
        while at != InstanceId::TOP {
            at = flat.instances[at.index()].parent;
            way.push(at);
        }
        way.reverse();
        way
    };
    let mut common: Option<Vec<InstanceId>> = None;
    for (id, _) in &combination.equations {
        let here = way(flat.equations[id.index()].origin);
        common = Some(match common {
            None => here,
            Some(known) => {
                let same = known.iter().zip(&here).take_while(|(a, b)| a == b);
                same.map(|(a, _)| *a).collect()
            }
        });
    }
    common
        .and_then(|way| way.last().copied())
        .unwrap_or(InstanceId::TOP)
}

/// How many terms an equation is a sum of.
fn length(flat: &Flat, id: EqId) -> usize {
    let equation = &flat.equations[id.index()];
    let mut terms = Vec::new();
    open_sum(&flat.exprs, equation.left, &mut terms);
    open_sum(&flat.exprs, equation.right, &mut terms);
    terms.len()
}

/// Makes two sides: terms with a plus sign on one, terms with a minus sign on the other. The side with more variables
/// is the left one.
fn sides(flat: &mut Flat, combination: &Combination) -> (ExprId, ExprId) {
    let mut side = |sign: i64| {
        let mut terms: Vec<(bool, String, Term)> = Vec::new();
        let rest = combination.rest.iter();
        for &(id, times) in rest.filter(|(_, times)| times.signum() == sign) {
            let factor = flat.exprs.number(times.unsigned_abs() as f64);
            let term = flat.exprs.tidy_mul(factor, id);
            let leaf = matches!(flat.exprs.node(id), Node::Leaf(_));
            terms.push((!leaf, flat.expression(id), (false, term)));
        }
        terms.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let leaves = terms.iter().filter(|(other, ..)| !other).count();
        let first = terms.first().map(|(_, text, _)| Reverse(text.clone()));
        let terms: Vec<Term> = terms.into_iter().map(|(.., term)| term).collect();
        ((leaves, first), flat.exprs.sum(&terms))
    };
    let (plus, minus) = (side(1), side(-1));
    match plus.0 >= minus.0 {
        true => (plus.1, minus.1),
        false => (minus.1, plus.1),
    }
}
