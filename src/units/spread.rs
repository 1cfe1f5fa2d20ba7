//! How units spread from declarations to what has none.
//!
//! Before: declared units. After: units of all variables that follow from them, each with the pair that it follows from,
//! and the pairs that cannot hold.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::Texts;
use super::form::{Known, Pair, Walker};
use crate::base::cancel::glance;
use crate::base::source::Span;
use crate::base::unit::{Measure, Power};
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{Equation, EquationKind, Flat, Leaf, Literal, VarId};

/// Where a pair comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By its place in the flat model.
    Equation(u32),
    /// A value of a parameter, or a start value, by its place in the list.
    Value(u32),
    Start(u32),
    Condition,
}

/// Why a variable has its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Open,
    Declared,
    /// A pair, by its place in the list.
    Pair(u32),
    /// A value with a unit that nothing else determines.
    Itself,
}

/// What is wrong with a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// The quotient of the two units.
    Dimension(Measure),
    /// The same dimension and another factor, or another zero.
    Factor(Measure),
    /// The unit that a number would have.
    Number(Measure),
}

#[derive(Clone, Debug)]
pub struct Found {
    pub pair: Pair,
    pub origin: Origin,
    pub wrong: Wrong,
}

/// A pair with open units.
#[derive(Clone, Debug)]
pub struct Kept {
    pub pair: Pair,
    pub origin: Origin,
    left: u32,
}

/// What is declared.
struct Declared<'f> {
    flat: &'f Flat,
    declared: &'f [Option<Measure>],
    first_literal: usize,
}

impl Known for Declared<'_> {
    fn measure(&self, id: VarId) -> Option<Measure> {
        self.declared[self.flat.variable(id).declaration.index()]
    }

    fn is_literal(&self, id: VarId) -> bool {
        id.index() >= self.first_literal
    }

    fn is_vague(&self, _: VarId) -> bool {
        false
    }
}

pub struct Spread<'f> {
    pub flat: &'f Flat,
    pub declared: &'f [Option<Measure>],
    pub literals: &'f [Literal],
    pub measures: Vec<Option<Measure>>,
    pub causes: Vec<Cause>,
    /// Found in a sum, where a temperature and a difference look alike.
    pub vague: Vec<bool>,
    /// Found by granting a number its wish.
    pub granted: Vec<bool>,
    pub kept: Vec<Kept>,
    pub found: Vec<Found>,
    unit_of: Vec<u32>,
    texts: Texts,
    granting: bool,
    /// Equations `init(x) = v`, whose start values are not rescaled.
    written: FxHashSet<Span>,
}

const NONE: u32 = u32::MAX;

impl Known for Spread<'_> {
    fn measure(&self, id: VarId) -> Option<Measure> {
        self.measures[id.index()]
    }

    fn is_literal(&self, id: VarId) -> bool {
        id.index() >= self.measures.len() - self.literals.len()
    }

    fn is_vague(&self, id: VarId) -> bool {
        self.vague[id.index()]
    }
}

impl<'f> Spread<'f> {
    pub fn new(flat: &'f Flat, declared: &'f [Option<Measure>], literals: &'f [Literal]) -> Self {
        let count = flat.variables.len();
        let mut texts = Texts::default();
        let named: Vec<u32> = (flat.declarations.iter().zip(declared))
            .map(
                |(declaration, measure)| match (&declaration.remarks.unit, measure) {
                    (Some(text), Some(measure)) => texts.of_text(text, *measure),
                    _ => NONE,
                },
            )
            .collect();
        let of = |id: VarId| flat.variable(id).declaration.index();
        let measures: Vec<_> = flat.variable_ids().map(|id| declared[of(id)]).collect();
        Spread {
            flat,
            declared,
            literals,
            causes: (measures.iter())
                .map(|known| known.map_or(Cause::Open, |_| Cause::Declared))
                .collect(),
            measures,
            vague: vec![false; count],
            granted: vec![false; count],
            kept: Vec::new(),
            found: Vec::new(),
            unit_of: flat.variable_ids().map(|id| named[of(id)]).collect(),
            texts,
            granting: false,
            written: (flat.equations.iter())
                .filter(|equation| equation.kind == EquationKind::Init)
                .map(|equation| equation.span)
                .collect(),
        }
    }

    /// What is left when the model is not needed any more.
    pub fn found(self) -> super::convert::Inferred {
        super::convert::Inferred {
            conversions: (self.found.iter())
                .filter(|found| found.wrong_factor() && found.pair.handed)
                .map(|found| found.origin)
                .collect(),
            measures: self.measures,
            units: self
                .unit_of
                .into_iter()
                .map(|unit| (unit != NONE).then_some(unit))
                .collect(),
            list: self.texts.list,
        }
    }

    pub fn all(&mut self) {
        self.collect();
        let watchers = Watchers::new(&self.kept, self.measures.len());
        let mut queue = Queue::default();
        self.push_ready(&mut queue);
        self.run(&mut queue, &watchers);
        for literal in self.literals {
            if self.measures[literal.variable.index()].is_none() {
                self.causes[literal.variable.index()] = Cause::Itself;
                let measure = literal.measure.coherent();
                self.give(literal.variable, measure, NONE, &mut queue, &watchers);
                self.run(&mut queue, &watchers);
            }
        }
        self.granting = true;
        self.push_ready(&mut queue);
        self.run(&mut queue, &watchers);
    }

    fn push_ready(&self, queue: &mut Queue) {
        for (at, kept) in self.kept.iter().enumerate() {
            if self.is_ready(at as u32) {
                queue.push(at as u32, kept);
            }
        }
    }

    fn is_ready(&self, at: u32) -> bool {
        let kept = &self.kept[at as usize];
        kept.left == 1 && (self.granting || !kept.pair.number)
    }

    /// Walks over the model. Pairs whose units are all declared are judged at once.
    fn collect(&mut self) {
        let flat = self.flat;
        let declared = Declared {
            flat,
            declared: self.declared,
            first_literal: flat.variables.len() - self.literals.len(),
        };
        let mut walker = Walker::new(flat, &declared);
        // An equation of a type is the same in all its instances: if all its units are declared and agree, once is enough.
        let mut settled: FxHashSet<(Span, Span)> = FxHashSet::default();
        for (at, equation) in flat.equations.iter().enumerate() {
            glance();
            let origin = Origin::Equation(at as u32);
            let handed = self.is_handed(origin);
            let key = (
                equation.span,
                flat.instances[equation.origin.index()].class_span,
            );
            let seen = if handed {
                self.is_one_unit(equation)
            } else {
                settled.contains(&key)
            };
            if seen {
                continue;
            }
            walker.handing = handed;
            walker.powers = false;
            walker.equation(equation.left, equation.right, equation.span);
            let before = (self.kept.len(), self.found.len());
            self.take(&mut walker.pairs, origin);
            if !handed && !walker.powers && before == (self.kept.len(), self.found.len()) {
                settled.insert(key);
            }
        }
        walker.handing = false;
        for when in &flat.whens {
            for &(condition, span) in &when.conditions {
                walker.form(condition, span);
                self.take(&mut walker.pairs, Origin::Condition);
            }
        }
        let mut exprs = Vec::new();
        for (at, given) in flat.values.iter().enumerate() {
            exprs.push((given, Origin::Value(at as u32)));
        }
        for (at, given) in flat.starts.iter().enumerate() {
            exprs.push((given, Origin::Start(at as u32)));
        }
        for (given, origin) in exprs {
            glance();
            if matches!(
                flat.exprs.node(given.expression),
                Node::Number(_) | Node::Bool(_)
            ) {
                continue;
            }
            let handed = self.is_handed(origin);
            walker.given(given.variable, given.expression, handed, given.span);
            self.take(&mut walker.pairs, origin);
        }
    }

    /// Whether all variables of a sum are declared with the same text.
    fn is_one_unit(&self, equation: &Equation) -> bool {
        let mut stack = vec![equation.left, equation.right];
        let mut unit = NONE;
        while let Some(id) = stack.pop() {
            match self.flat.exprs.node(id) {
                Node::Leaf(leaf) => {
                    let found = self.unit_of[leaf.variable().index()];
                    if found == NONE || (unit != NONE && unit != found) {
                        return false;
                    }
                    unit = found;
                }
                Node::Number(_) => {}
                Node::Unary(_, a) => stack.push(a),
                Node::Binary(_, a, b) => stack.extend([a, b]),
                _ => return false,
            }
        }
        true
    }

    fn take(&mut self, pairs: &mut Vec<Pair>, origin: Origin) {
        for pair in pairs.drain(..) {
            let mut ids: Vec<VarId> = pair.open.iter().map(|&(id, _)| id).collect();
            ids.dedup();
            match ids.len() {
                0 => self.judge(&pair, origin),
                left => self.kept.push(Kept {
                    pair,
                    origin,
                    left: left as u32,
                }),
            }
        }
    }

    fn run(&mut self, queue: &mut Queue, watchers: &Watchers) {
        while let Some(at) = queue.pop() {
            glance();
            match self.kept[at as usize].left {
                0 if !self.granting => {
                    let kept = &self.kept[at as usize];
                    let (pair, origin) = (kept.pair.clone(), kept.origin);
                    self.judge(&pair, origin);
                }
                1 if self.is_ready(at) => self.solve(at, queue, watchers),
                _ => {}
            }
        }
    }

    /// The product of what is known, and the variable that is not.
    fn known_part(&self, pair: &Pair) -> Option<(Measure, Option<(VarId, Power)>)> {
        let mut known = pair.ratio;
        let mut open = None;
        for &(id, power) in &pair.open {
            match self.measures[id.index()] {
                Some(measure) => known = known.times(&measure.raised(power)?),
                None => open = Some((id, power)),
            }
        }
        Some((known, open))
    }

    fn solve(&mut self, at: u32, queue: &mut Queue, watchers: &Watchers) {
        let pair = &self.kept[at as usize].pair;
        let Some((known, Some((id, power)))) = self.known_part(pair) else {
            return;
        };
        let inverse = Power::ONE.over(-power);
        let Some(mut measure) = inverse.and_then(|inverse| known.raised(inverse)) else {
            return;
        };
        let other = [Some(pair.a), pair.b]
            .into_iter()
            .flatten()
            .map(|expr| self.leaf(expr));
        let other = other.flatten().find(|&other| other != id);
        let mut unit = NONE;
        if pair.single {
            let offset = match other.and_then(|other| self.measures[other.index()]) {
                Some(other) => other.offset,
                None => pair.offset,
            };
            let literal = self.literal(id);
            let zero = literal.is_some_and(|literal| literal.measure.offset != 0.0);
            if (!pair.added || zero) && !offset.is_nan() {
                measure.offset = offset;
            } else if offset != 0.0 && literal.is_none() {
                self.vague[id.index()] = true;
            }
            if let Some(other) = other.filter(|_| measure.offset == offset) {
                unit = self.unit_of[other.index()];
            }
        }
        self.causes[id.index()] = Cause::Pair(at);
        self.granted[id.index()] = self.granting;
        self.give(id, measure, unit, queue, watchers);
    }

    pub fn literal(&self, id: VarId) -> Option<&'f Literal> {
        let first = self.measures.len() - self.literals.len();
        (id.index().checked_sub(first)).and_then(|at| self.literals.get(at))
    }

    fn give(
        &mut self,
        id: VarId,
        measure: Measure,
        unit: u32,
        queue: &mut Queue,
        watchers: &Watchers,
    ) {
        self.measures[id.index()] = Some(measure);
        self.unit_of[id.index()] = match unit {
            NONE if measure.is_plain() => NONE,
            NONE => self.texts.of(&measure),
            unit => unit,
        };
        for &at in watchers.of(id) {
            let kept = &mut self.kept[at as usize];
            kept.left -= 1;
            queue.push(at, kept);
        }
    }

    /// The variable that an expression is, with or without a sign.
    pub fn leaf(&self, mut expr: ExprId) -> Option<VarId> {
        loop {
            match self.flat.exprs.node(expr) {
                Node::Unary(UnaryOp::Minus | UnaryOp::Plus, a) => expr = a,
                Node::Leaf(Leaf::Der(..)) => return None,
                Node::Leaf(leaf) => return Some(leaf.variable()),
                Node::Binary(_, _, b) => {
                    let Node::Leaf(Leaf::Var(id)) = self.flat.exprs.node(b) else {
                        return None;
                    };
                    return self.literal(id).map(|literal| literal.variable);
                }
                _ => return None,
            }
        }
    }

    fn judge(&mut self, pair: &Pair, origin: Origin) {
        // The cause of a unit agrees with it.
        let Some((ratio, None)) = self.known_part(pair) else {
            return;
        };
        let wrong = if pair.number {
            (!ratio.is_plain()).then_some(Wrong::Number(ratio))
        } else if !ratio.dimension.is_plain() {
            Some(Wrong::Dimension(ratio))
        } else if !ratio.is_plain() || self.other_zero(pair) {
            Some(Wrong::Factor(ratio))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            let pair = pair.clone();
            self.found.push(Found {
                pair,
                origin,
                wrong,
            });
        }
    }

    /// Whether two values that are handed on are counted from different zeros.
    fn other_zero(&self, pair: &Pair) -> bool {
        let offset = |expr: ExprId| match self.leaf(expr) {
            Some(id) => self.measures[id.index()].map(|measure| measure.offset),
            None => Some(0.0),
        };
        let Some(b) = pair.b.filter(|_| pair.single && !pair.added) else {
            return false;
        };
        match (offset(pair.a), offset(b)) {
            (Some(a), Some(b)) => (a - b).abs() > 1e-6,
            _ => false,
        }
    }

    /// Whether values are handed on: at a connection, or to a submodel.
    pub fn is_handed(&self, origin: Origin) -> bool {
        match origin {
            Origin::Equation(at) => matches!(
                self.flat.equations[at as usize].kind,
                EquationKind::Coupling | EquationKind::Sum
            ),
            Origin::Value(at) => self.flat.values[at as usize].depth > 0,
            Origin::Start(at) => !self.written.contains(&self.flat.starts[at as usize].span),
            Origin::Condition => false,
        }
    }
}

/// Pairs that may give a unit. Connections come first: what is connected is one quantity, and a contradiction belongs to the
/// equation that says something else.
#[derive(Debug, Default)]
struct Queue {
    connections: VecDeque<u32>,
    others: VecDeque<u32>,
}

impl Queue {
    fn push(&mut self, at: u32, kept: &Kept) {
        match kept.pair.handed && matches!(kept.origin, Origin::Equation(_)) {
            true => self.connections.push_back(at),
            false => self.others.push_back(at),
        }
    }

    fn pop(&mut self) -> Option<u32> {
        (self.connections.pop_front()).or_else(|| self.others.pop_front())
    }
}

impl Found {
    pub fn wrong_factor(&self) -> bool {
        matches!(self.wrong, Wrong::Factor(_))
    }
}

/// The pairs in which each variable is open.
struct Watchers {
    firsts: Vec<u32>,
    pairs: Vec<u32>,
}

impl Watchers {
    fn new(kept: &[Kept], variables: usize) -> Watchers {
        let mut firsts = vec![0_u32; variables + 1];
        let open = || {
            (kept.iter().enumerate())
                .flat_map(|(at, kept)| kept.pair.open.iter().map(move |&(id, _)| (at as u32, id)))
        };
        for (_, id) in open() {
            firsts[id.index() + 1] += 1;
        }
        for at in 0..variables {
            firsts[at + 1] += firsts[at];
        }
        let mut next = firsts.clone();
        let mut pairs = vec![0; firsts[variables] as usize];
        for (at, id) in open() {
            pairs[next[id.index()] as usize] = at;
            next[id.index()] += 1;
        }
        Watchers { firsts, pairs }
    }

    fn of(&self, id: VarId) -> &[u32] {
        &self.pairs[self.firsts[id.index()] as usize..self.firsts[id.index() + 1] as usize]
    }
}
