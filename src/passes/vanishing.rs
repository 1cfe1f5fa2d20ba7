//! Whether a divisor can be zero. Parameters have the values that were given.

use crate::expr::ExprId;
use crate::expr::range::{Knowledge, Range, conditions, range};
use crate::flat::{Flat, Kind, Leaf, VarId};

/// If there are more conditions, not every combination is examined, and the run has to check.
const MOST_CONDITIONS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vanishing {
    /// Proved, with the given values.
    Never,
    /// Not proved: the run has to check.
    Perhaps,
    /// It is zero in all cases.
    Always,
}

struct Facts<'f> {
    flat: &'f Flat,
    definition: &'f dyn Fn(Leaf) -> Option<ExprId>,
    conditions: &'f [ExprId],
    truth: u32,
}

impl Knowledge<Leaf> for Facts<'_> {
    fn leaf(&self, leaf: Leaf) -> Range {
        match leaf {
            Leaf::Var(variable) => known(self.flat, variable),
            _ => Range::ANY,
        }
    }

    fn definition(&self, leaf: Leaf) -> Option<ExprId> {
        (self.definition)(leaf)
    }

    fn condition(&self, condition: ExprId) -> Option<bool> {
        let at = (self.conditions.iter()).position(|&known| known == condition)?;
        Some(self.truth >> at & 1 == 1)
    }
}

fn known(flat: &Flat, variable: VarId) -> Range {
    match flat.variable(variable).kind {
        Kind::Parameter | Kind::Constant => (flat.value(variable))
            .and_then(|given| given.value.real())
            .map_or(Range::ANY, Range::point),
        _ => Range::ANY,
    }
}

/// The value of an expression of numbers and parameters; `None` if it depends on anything else.
pub fn constant(flat: &Flat, id: ExprId) -> Option<f64> {
    let facts = Facts {
        flat,
        definition: &|_| None,
        conditions: &[],
        truth: 0,
    };
    range(&flat.exprs, id, &facts)
        .value()
        .filter(|value| value.is_finite())
}

/// Whether an expression can be zero.
pub fn vanishing(flat: &Flat, divisor: ExprId) -> Vanishing {
    vanishing_with(flat, divisor, &|_| None)
}

/// The same where some leaves stand for other expressions.
pub fn vanishing_with(
    flat: &Flat,
    divisor: ExprId,
    definition: &dyn Fn(Leaf) -> Option<ExprId>,
) -> Vanishing {
    // The usual cases need no search.
    match flat.exprs.node(divisor) {
        crate::expr::Node::Number(value) => return of(Range::point(value.0)),
        crate::expr::Node::Leaf(Leaf::Var(variable))
            if flat.variable(variable).kind != Kind::Auxiliary =>
        {
            return of(known(flat, variable));
        }
        _ => {}
    }
    let mut facts = Facts {
        flat,
        definition,
        conditions: &[],
        truth: 0,
    };
    let found = conditions(&flat.exprs, divisor, &facts);
    if found.len() > MOST_CONDITIONS {
        return of(range(&flat.exprs, divisor, &facts));
    }
    facts.conditions = &found;
    let mut all: Option<Vanishing> = None;
    for truth in 0..1 << found.len() {
        facts.truth = truth;
        let here = of(range(&flat.exprs, divisor, &facts));
        all = Some(match all {
            Some(other) if other != here => Vanishing::Perhaps,
            _ => here,
        });
        if all == Some(Vanishing::Perhaps) {
            break;
        }
    }
    all.unwrap_or(Vanishing::Perhaps)
}

/// The conditions in some expressions, each once.
pub fn conditions_in(
    flat: &Flat,
    roots: &[ExprId],
    definition: &dyn Fn(Leaf) -> Option<ExprId>,
) -> Vec<ExprId> {
    let facts = Facts {
        flat,
        definition,
        conditions: &[],
        truth: 0,
    };
    let mut found: Vec<ExprId> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for &root in roots {
        let more = conditions(&flat.exprs, root, &facts);
        found.extend(more.into_iter().filter(|&condition| seen.insert(condition)));
    }
    found
}

/// The number of combinations; `None` if there are too many.
pub fn combinations(conditions: &[ExprId]) -> Option<u32> {
    (conditions.len() <= MOST_CONDITIONS).then(|| 1 << conditions.len())
}

/// The value of an expression in one combination of conditions, if it does not depend on anything else.
pub fn value_when(
    flat: &Flat,
    id: ExprId,
    definition: &dyn Fn(Leaf) -> Option<ExprId>,
    (conditions, truth): (&[ExprId], u32),
) -> Option<f64> {
    let facts = Facts {
        flat,
        definition,
        conditions,
        truth,
    };
    range(&flat.exprs, id, &facts).value()
}

fn of(range: Range) -> Vanishing {
    match range.value() {
        _ if range.nonzero => Vanishing::Never,
        Some(0.0) => Vanishing::Always,
        _ => Vanishing::Perhaps,
    }
}
