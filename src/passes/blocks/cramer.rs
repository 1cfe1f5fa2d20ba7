//! Small linear loops by Cramer's rule, in the style of Cellier, Otter and Elmqvist 1995.
//!
//! Before: the rows of A x = b. After: assignments. Coefficients that are more than a name or a
//! number are auxiliaries, then come the numerator of the first unknown, the determinant, the first
//! unknown, and numerator and value of each other one. Each unknown has its own numerator: where a
//! switch makes it zero, it is zero exactly, which the relations of a diode rely on.

use rustc_hash::FxHashMap;

use super::auxiliary::Auxiliaries;
use super::linear::LinearRow;
use super::{Assignment, Method};
use crate::expr::{ExprId, Node, Term};
use crate::flat::{EqId, Flat, Kind, Leaf};
use crate::passes::vanishing::{Vanishing, vanishing};

/// Larger loops are not tried.
const MOST_UNKNOWNS: usize = 6;
/// Longest formulas, as the number of nodes of all expressions together.
const MOST_NODES: usize = 160;

/// The result of applying Cramer's rule.
pub enum Outcome {
    Solved {
        method: Method,
        determinant: ExprId,
    },
    /// The formulas would be too long.
    Large,
    /// The determinant is zero for all values.
    Singular,
}

pub fn formulas(
    flat: &mut Flat,
    auxiliaries: &mut Auxiliaries,
    equations: &[EqId],
    unknowns: &[Leaf],
    rows: &[LinearRow],
) -> Outcome {
    let size = unknowns.len();
    if size > MOST_UNKNOWNS {
        return Outcome::Large;
    }
    // The first pass uses the coefficients as they are. It shows whether the formulas are short
    // enough, and makes no auxiliaries.
    let mut minors = Minors::new(flat, rows);
    let determinant = minors.determinant();
    let determinant = minors.flat.exprs.sum(&determinant);
    let numerators: Vec<Vec<Term>> = (0..size).map(|column| minors.numerator(column)).collect();
    let mut nodes = flat.exprs.size(determinant, MOST_NODES);
    for numerator in &numerators {
        for &(_, term) in numerator {
            nodes += flat.exprs.size(term, MOST_NODES);
        }
    }
    let vanishes = vanishing(flat, determinant);
    if vanishes == Vanishing::Always {
        return Outcome::Singular;
    }
    if nodes > MOST_NODES {
        return Outcome::Large;
    }
    let writer = Writer {
        flat,
        auxiliaries,
        span: equations[0],
        assignments: Vec::new(),
    };
    Outcome::Solved {
        method: writer.write(equations, unknowns, rows, vanishes),
        determinant,
    }
}

struct Writer<'f> {
    flat: &'f mut Flat,
    auxiliaries: &'f mut Auxiliaries,
    /// Auxiliaries refer to this equation as their place in the source.
    span: EqId,
    assignments: Vec<Assignment>,
}

impl Writer<'_> {
    fn write(
        mut self,
        equations: &[EqId],
        unknowns: &[Leaf],
        rows: &[LinearRow],
        vanishes: Vanishing,
    ) -> Method {
        let rows: Vec<LinearRow> = (rows.iter())
            .map(|row| LinearRow {
                coefficients: (row.coefficients.iter())
                    .map(|&(column, value)| (column, self.shortened(value)))
                    .collect(),
                right: row.right.map(|right| match self.flat.exprs.size(right, 5) {
                    ..5 => right,
                    _ => self.named(right),
                }),
            })
            .collect();
        let mut minors = Minors::new(self.flat, &rows);
        let mut terms = minors.determinant();
        let mut numerators: Vec<Vec<Term>> =
            (0..unknowns.len()).map(|at| minors.numerator(at)).collect();
        // If all terms of the determinant are subtracted, it and the numerators change their signs.
        if terms.iter().all(|&(negative, _)| negative) {
            let all = numerators.iter_mut().chain([&mut terms]).flatten();
            all.for_each(|(negative, _)| *negative = !*negative);
        }
        let mut determinant: Option<ExprId> = None;
        for (at, numerator) in numerators.into_iter().enumerate() {
            let (negative, mut value) = self.signed(&numerator);
            let top = self.flat.exprs.sum(&terms);
            let unit = self
                .flat
                .exprs
                .as_number(top)
                .is_some_and(|d| d.abs() == 1.0);
            if !unit {
                value = self.shortened(value);
            }
            let divisor = *determinant.get_or_insert_with(|| self.shortened(top));
            if !self.flat.exprs.is_zero(value) {
                value = self.flat.exprs.tidy_div(value, divisor);
            }
            if negative {
                value = self.flat.exprs.tidy_minus(value);
                value = self.flat.exprs.with_sign_inside(value);
            }
            self.assignments.push(Assignment {
                target: unknowns[at],
                value,
                equation: Some(equations[at]),
                // All unknowns have the same divisor, so only the first one checks it.
                guard: (at == 0 && vanishes != Vanishing::Never).then_some(divisor),
            });
        }
        Method::Formulas(self.assignments)
    }

    /// Returns the value of a sum, with a common sign taken out.
    fn signed(&mut self, terms: &[Term]) -> (bool, ExprId) {
        let negative = !terms.is_empty() && terms.iter().all(|&(negative, _)| negative);
        let terms: Vec<Term> = (terms.iter())
            .map(|&(minus, term)| (minus ^ negative, term))
            .collect();
        (negative, self.flat.exprs.sum(&terms))
    }

    /// Returns a name or a number (also with a sign) unchanged, and an auxiliary for anything else.
    fn shortened(&mut self, value: ExprId) -> ExprId {
        let inner = self.flat.exprs.negated(value);
        match self.flat.exprs.node(inner.unwrap_or(value)) {
            Node::Number(_) | Node::Leaf(_) => value,
            _ => match inner {
                None => self.named(value),
                Some(inner) => {
                    let name = self.named(inner);
                    self.flat.exprs.tidy_minus(name)
                }
            },
        }
    }

    fn named(&mut self, value: ExprId) -> ExprId {
        let before = (self.assignments.iter()).find(|known| known.value == value);
        if let Some(known) = before {
            return self.flat.exprs.leaf(known.target);
        }
        let span = self.flat.equations[self.span.index()].span;
        let target = self.auxiliaries.name(self.flat, value, span);
        self.assignments.push(Assignment {
            target,
            value,
            equation: None,
            guard: None,
        });
        self.flat.exprs.leaf(target)
    }
}

/// Minors: the determinants of parts of the matrix. Each is computed once.
struct Minors<'f> {
    flat: &'f mut Flat,
    rows: &'f [LinearRow],
    /// The key holds the rows and the columns of a minor, as bits.
    known: FxHashMap<(u16, u16), Vec<Term>>,
}

impl<'f> Minors<'f> {
    fn new(flat: &'f mut Flat, rows: &'f [LinearRow]) -> Self {
        Minors {
            flat,
            rows,
            known: FxHashMap::default(),
        }
    }

    fn all(&self) -> u16 {
        (1 << self.rows.len()) - 1
    }

    fn determinant(&mut self) -> Vec<Term> {
        self.minor(self.all(), self.all())
    }

    /// The determinant with a column replaced by the right side, expanded along it.
    fn numerator(&mut self, column: usize) -> Vec<Term> {
        let mut terms = Vec::new();
        for (row, of) in self.rows.iter().enumerate() {
            let Some(right) = of.right else { continue };
            let minor = self.minor(self.all() & !(1 << row), self.all() & !(1 << column));
            self.add_product((row + column) % 2 == 1, &minor, right, &mut terms);
        }
        terms
    }

    /// Expands along the column with the fewest entries. The recursion is as deep as the loop is
    /// large, which is a few levels.
    fn minor(&mut self, rows: u16, columns: u16) -> Vec<Term> {
        if rows == 0 {
            return vec![(false, self.flat.exprs.number(1.0))];
        }
        if let Some(known) = self.known.get(&(rows, columns)) {
            return known.clone();
        }
        let column = bits(columns)
            .min_by_key(|&column| {
                bits(rows)
                    .filter(|&row| self.entry(row, column).is_some())
                    .count()
            })
            .unwrap_or(0);
        let mut terms = Vec::new();
        for (at, row) in bits(rows).enumerate() {
            let Some(entry) = self.entry(row, column) else {
                continue;
            };
            let minor = self.minor(rows & !(1 << row), columns & !(1 << column));
            let before = bits(columns).take_while(|&c| c != column).count();
            self.add_product((at + before) % 2 == 1, &minor, entry, &mut terms);
        }
        self.known.insert((rows, columns), terms.clone());
        terms
    }

    fn entry(&self, row: u32, column: u32) -> Option<ExprId> {
        let of = &self.rows[row as usize].coefficients;
        let at = of.binary_search_by_key(&column, |&(c, _)| c).ok()?;
        Some(of[at].1)
    }

    /// Adds (or subtracts) a minor times a factor to the terms of a sum.
    fn add_product(&mut self, minus: bool, minor: &[Term], factor: ExprId, out: &mut Vec<Term>) {
        if minor.is_empty() {
            return;
        }
        let flat = &mut *self.flat;
        let exprs = &mut flat.exprs;
        let one = exprs.as_number(factor).filter(|f| f.abs() == 1.0);
        if let Some(one) = one {
            let minus = minus ^ (one < 0.0);
            out.extend(
                minor
                    .iter()
                    .map(|&(negative, term)| (negative ^ minus, term)),
            );
            return;
        }
        let all = minor.iter().all(|&(negative, _)| negative);
        let turned: Vec<Term> = (minor.iter())
            .map(|&(negative, term)| (negative ^ all, term))
            .collect();
        let sum = exprs.sum(&turned);
        // Auxiliaries first, as the paper writes: Q102*Ri.R.
        let mut product = match is_auxiliary(flat, factor) && !is_auxiliary(flat, sum) {
            true => flat.exprs.product(factor, sum),
            false => flat.exprs.product(sum, factor),
        };
        let exprs = &self.flat.exprs;
        let mut negative = minus ^ all;
        if let Some(inner) = exprs.negated(product) {
            (product, negative) = (inner, !negative);
        }
        if !exprs.is_zero(product) {
            out.push((negative, product));
        }
    }
}

fn bits(mask: u16) -> impl Iterator<Item = u32> {
    (0..16).filter(move |&bit| mask >> bit & 1 == 1)
}

fn is_auxiliary(flat: &Flat, id: ExprId) -> bool {
    match flat.exprs.node(id) {
        Node::Leaf(Leaf::Var(variable)) => flat.variable(variable).kind == Kind::Auxiliary,
        _ => false,
    }
}
