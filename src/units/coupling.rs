//! Equations of connections, which are many and simple: sums of variables.
//!
//! Before: such an equation. After: its pairs, as the general walk makes them.

use super::form::Pair;
use super::spread::{Origin, Spread};
use crate::base::unit::{Measure, Power};
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Equation, Leaf, VarId};

impl Spread<'_> {
    /// Whether the equation was one of variables only; `terms` is memory.
    pub(super) fn couple(
        &mut self,
        equation: &Equation,
        origin: Origin,
        terms: &mut Vec<(ExprId, VarId)>,
    ) -> bool {
        terms.clear();
        let mut many = false;
        for side in [equation.left, equation.right] {
            let before = terms.len();
            if !self.terms(side, terms) {
                return false;
            }
            many |= terms.len() > before + 1;
        }
        let known = |id: VarId| self.measures[id.index()];
        let Some(best) = terms.iter().position(|&(_, id)| known(id).is_some()) else {
            for at in 1..terms.len() {
                self.keep_pair(terms[0], terms[at], many, equation, origin);
            }
            return true;
        };
        for (at, &term) in terms.iter().enumerate() {
            // The order of the two sides is that of the text.
            match at.cmp(&best) {
                std::cmp::Ordering::Less => {
                    self.keep_pair(term, terms[best], many, equation, origin);
                }
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => {
                    self.keep_pair(terms[best], term, many, equation, origin);
                }
            }
        }
        true
    }

    fn terms(&self, root: ExprId, terms: &mut Vec<(ExprId, VarId)>) -> bool {
        let first = terms.len();
        let mut id = root;
        // Sums lean to the left: the last term is on top.
        loop {
            let (rest, last) = match self.flat.exprs.node(id) {
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => (Some(a), b),
                _ => (None, id),
            };
            let inner = match self.flat.exprs.node(last) {
                Node::Unary(UnaryOp::Minus, a) => a,
                _ => last,
            };
            match self.flat.exprs.node(inner) {
                Node::Leaf(Leaf::Var(variable)) => terms.push((inner, variable)),
                Node::Number(value) if value.0 == 0.0 => {}
                _ => return false,
            }
            match rest {
                Some(rest) => id = rest,
                None => break,
            }
        }
        terms[first..].reverse();
        true
    }

    fn keep_pair(
        &mut self,
        (a, first): (ExprId, VarId),
        (b, second): (ExprId, VarId),
        added: bool,
        equation: &Equation,
        origin: Origin,
    ) {
        if first == second {
            return;
        }
        let of = |id: VarId| self.measures[id.index()];
        let (one, other) = (of(first), of(second));
        if let (Some(one), Some(other)) = (one, other)
            && one.is_same(&other)
        {
            return;
        }
        let mut open = Vec::new();
        let mut ratio = Measure::PLAIN;
        match one {
            Some(measure) => ratio = measure.of_differences(),
            None => open.push((first, Power::ONE)),
        }
        match other {
            Some(measure) => ratio = ratio.over(&measure.of_differences()),
            None => open.push((second, -Power::ONE)),
        }
        let known = one.or(other);
        let pair = Pair {
            a,
            b: Some(b),
            ratio,
            open,
            number: false,
            single: true,
            added,
            handed: true,
            offset: known.map_or(f64::NAN, |known| known.offset),
            span: equation.span,
        };
        self.take_one(pair, origin);
    }
}
