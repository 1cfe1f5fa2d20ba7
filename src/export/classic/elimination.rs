//! Writes linear loops as assignments, for languages that cannot solve A x = b.
//!
//! Before: a solved model with loops that are solved at run time. After: the same loops as formulas, by Gaussian
//! elimination in a fixed order. A pivot must certainly not vanish: it depends only on parameters, and is not small in
//! any combination of its conditions. When no such pivot is left, a small remainder is solved by Cramer's rule; its
//! determinant is that of the loop, except for factors that are not zero. A larger remainder is refused.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::Refusal;
use crate::evaluate::constant;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{EqId, Flat, Kind, Leaf};
use crate::passes::blocks::{Assignment, Auxiliaries, Block, Linear, Method, Solved};

/// The most conditions of which all combinations are examined.
const CONDITIONS: usize = 6;
/// A pivot is at least this part of the largest known entry of its column,
const STABLE: f64 = 0.01;
/// and at least this part of the terms that it was computed from.
const LOST: f64 = 1e-9;
/// The largest remainder that Cramer's rule solves.
const SMALL: usize = 3;

/// Writes all loops as assignments. A refusal names one that cannot be written so.
pub fn write_out(solved: &mut Solved, language: &str) -> Result<(), Refusal> {
    let is_system = |block: &Block| match block {
        Block::Linear(linear) => matches!(linear.method, Method::System { .. }),
        _ => false,
    };
    if !solved.blocks.iter().any(is_system) {
        return Ok(());
    }
    let definitions = definitions(solved);
    let mut auxiliaries = Auxiliaries::after(&solved.flat);
    let flat = &mut solved.flat;
    for block in &mut solved.blocks {
        let Block::Linear(linear) = block else {
            continue;
        };
        let Method::System { matrix, right } = &linear.method else {
            continue;
        };
        let rows = known(flat, &definitions, linear.unknowns.len(), matrix);
        let mut work = Eliminator {
            flat,
            auxiliaries: &mut auxiliaries,
            linear,
            rows,
            right: right.clone(),
            made: Vec::new(),
        };
        if !work.eliminate() {
            let name = flat.leaf_name(linear.unknowns[0]);
            let count = linear.unknowns.len();
            return Err(Refusal(format!(
                "{language} programs cannot solve the linear loop of {count} unknowns with `{name}`: written out it would divide by what may become zero"
            )));
        }
        linear.method = Method::Formulas(work.made);
    }
    Ok(())
}

/// The expressions that replace eliminated variables and auxiliaries.
fn definitions(solved: &Solved) -> FxHashMap<Leaf, ExprId> {
    let flat = &solved.flat;
    let mut all = flat.replacements();
    let auxiliaries = (solved.assignments())
        .filter(|one| flat.variable(one.target.variable()).kind == Kind::Auxiliary)
        .map(|one| (one.target, one.value));
    all.extend(auxiliaries);
    all
}

/// An entry of the matrix. If it depends only on parameters, its value in each combination of conditions, and the size
/// of the terms that it was computed from.
#[derive(Clone, Debug)]
struct Cell {
    value: ExprId,
    known: Option<Vec<(f64, f64)>>,
}

type Rows = Vec<BTreeMap<usize, Cell>>;

/// The matrix by rows; entries that depend only on parameters get their values.
fn known(
    flat: &mut Flat,
    definitions: &FxHashMap<Leaf, ExprId>,
    size: usize,
    matrix: &[crate::passes::blocks::Entry],
) -> Rows {
    let mut conditions: Vec<ExprId> = Vec::new();
    let mut opened: Vec<Option<ExprId>> = Vec::new();
    for entry in matrix {
        let whole = flat.exprs.rewrite(entry.value, &mut |exprs, id| {
            let Node::Leaf(leaf) = exprs.node(id) else {
                return None;
            };
            definitions.get(&leaf).copied()
        });
        let before = conditions.len();
        let fixed = fixed(flat, whole, &mut conditions);
        if !fixed || conditions.len() > CONDITIONS {
            conditions.truncate(before);
        }
        opened.push((fixed && conditions.len() <= CONDITIONS).then_some(whole));
    }
    let mut rows: Rows = vec![BTreeMap::new(); size];
    for (entry, whole) in matrix.iter().zip(opened) {
        if flat.exprs.is_zero(entry.value) {
            continue;
        }
        let values = whole.and_then(|whole| {
            (0..1_usize << conditions.len())
                .map(|truths| {
                    let truth = |id: ExprId| conditions.iter().position(|&one| one == id);
                    let numbers = flat.exprs.rewrite(whole, &mut |exprs, id| {
                        truth(id).map(|at| exprs.bool(truths >> at & 1 == 1))
                    });
                    let value = constant(flat, numbers)?;
                    Some((value, value.abs()))
                })
                .collect()
        });
        let cell = Cell {
            value: entry.value,
            known: values,
        };
        rows[entry.row as usize].insert(entry.column as usize, cell);
    }
    rows
}

/// Whether an expression depends only on parameters and on conditions, which are collected.
fn fixed(flat: &Flat, root: ExprId, conditions: &mut Vec<ExprId>) -> bool {
    let still = |leaf: Leaf| {
        let kind = flat.variable(leaf.variable()).kind;
        matches!(kind, Kind::Parameter | Kind::Constant)
    };
    let mut work = vec![(root, false)];
    while let Some((id, is_condition)) = work.pop() {
        match flat.exprs.node(id) {
            Node::Leaf(leaf) if still(leaf) => {}
            Node::Binary(BinaryOp::And | BinaryOp::Or, a, b) if is_condition => {
                work.extend([(a, true), (b, true)]);
            }
            Node::Unary(UnaryOp::Not, a) if is_condition => work.push((a, true)),
            Node::Bool(_) => {}
            _ if is_condition => {
                if !conditions.contains(&id) {
                    conditions.push(id);
                }
            }
            Node::Leaf(_) | Node::Time | Node::Call(Function::Sample, _) => return false,
            Node::If(condition, a, b) => {
                work.extend([(condition, true), (a, false), (b, false)]);
            }
            _ => {
                let mut operands = Vec::new();
                flat.exprs.operands(id, &mut operands);
                work.extend(operands.into_iter().map(|id| (id, false)));
            }
        }
    }
    true
}

struct Eliminator<'w> {
    flat: &'w mut Flat,
    auxiliaries: &'w mut Auxiliaries,
    linear: &'w Linear,
    rows: Rows,
    right: Vec<ExprId>,
    made: Vec<Assignment>,
}

impl Eliminator<'_> {
    /// Returns false if there is no safe order.
    fn eliminate(&mut self) -> bool {
        let size = self.rows.len();
        let mut left_rows: Vec<usize> = (0..size).collect();
        let mut left_columns: Vec<usize> = (0..size).collect();
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        while !left_rows.is_empty() {
            let Some((row, column)) = self.pivot(&left_rows) else {
                break;
            };
            left_rows.retain(|&other| other != row);
            left_columns.retain(|&other| other != column);
            self.without(row, column, &left_rows);
            pivots.push((row, column));
        }
        if left_rows.len() > SMALL {
            return false;
        }
        self.cramer(&left_rows, &left_columns);
        for (row, column) in pivots.into_iter().rev() {
            let cells = std::mem::take(&mut self.rows[row]);
            let mut sum = self.right[row];
            for (&other, cell) in cells.iter().filter(|&(&other, _)| other != column) {
                let unknown = self.flat.exprs.leaf(self.linear.unknowns[other]);
                let product = self.flat.exprs.tidy_mul(cell.value, unknown);
                sum = self.flat.exprs.tidy_sub(sum, product);
            }
            let value = self.flat.exprs.tidy_div(sum, cells[&column].value);
            self.solved(row, column, value);
        }
        true
    }

    fn solved(&mut self, row: usize, column: usize, value: ExprId) {
        self.made.push(Assignment {
            target: self.linear.unknowns[column],
            value,
            equation: Some(self.linear.equations[row]),
            guard: None,
        });
    }

    /// The safe entry that causes the least fill-in.
    fn pivot(&self, left: &[usize]) -> Option<(usize, usize)> {
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        let mut largest: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
        for &row in left {
            for (&column, cell) in &self.rows[row] {
                *counts.entry(column).or_default() += 1;
                let Some(known) = &cell.known else {
                    continue;
                };
                let most = largest
                    .entry(column)
                    .or_insert_with(|| vec![0.0; known.len()]);
                for (most, (value, _)) in most.iter_mut().zip(known) {
                    *most = most.max(value.abs());
                }
            }
        }
        let mut best: Option<(usize, usize, usize)> = None;
        for &row in left {
            for (&column, cell) in &self.rows[row] {
                let Some(known) = &cell.known else {
                    continue;
                };
                let mut all = known.iter().zip(&largest[&column]);
                let safe = all.all(|(&(value, size), most)| {
                    value.abs() > LOST * size && value.abs() >= STABLE * most
                });
                let cost = (self.rows[row].len() - 1) * (counts[&column] - 1);
                if safe && best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, row, column));
                }
            }
        }
        best.map(|(_, row, column)| (row, column))
    }

    /// Eliminates an unknown from the remaining rows.
    fn without(&mut self, row: usize, column: usize, left: &[usize]) {
        let used = left
            .iter()
            .any(|&other| self.rows[other].contains_key(&column));
        if !used {
            return;
        }
        let equation = self.linear.equations[row];
        self.right[row] = self.named(self.right[row], equation);
        let mut cells = std::mem::take(&mut self.rows[row]);
        for cell in cells.values_mut() {
            cell.value = self.named(cell.value, equation);
        }
        let pivot = cells[&column].clone();
        for &other in left {
            let Some(cell) = self.rows[other].remove(&column) else {
                continue;
            };
            let equation = self.linear.equations[other];
            let factor = self.flat.exprs.tidy_div(cell.value, pivot.value);
            let factor = self.named(factor, equation);
            let factors = both(&cell, &pivot, |(a, size), (b, _)| (a / b, size / b.abs()));
            for (&at, by) in cells.iter().filter(|&(&at, _)| at != column) {
                let product = self.flat.exprs.tidy_mul(factor, by.value);
                let known = match (&factors, &by.known) {
                    (Some(factors), Some(by)) => Some(
                        (factors.iter().zip(by))
                            .map(|((a, m), (b, n))| (-a * b, m * n))
                            .collect(),
                    ),
                    _ => None,
                };
                let new = match self.rows[other].get(&at) {
                    None => Cell {
                        value: self.flat.exprs.tidy_minus(product),
                        known,
                    },
                    Some(old) => {
                        let less = Cell {
                            value: product,
                            known,
                        };
                        Cell {
                            value: self.flat.exprs.tidy_sub(old.value, product),
                            known: both(old, &less, |(a, m), (b, n)| (a + b, m + n)),
                        }
                    }
                };
                if self.flat.exprs.is_zero(new.value) {
                    self.rows[other].remove(&at);
                    continue;
                }
                let value = self.named(new.value, equation);
                self.rows[other].insert(at, Cell { value, ..new });
            }
            let product = self.flat.exprs.tidy_mul(factor, self.right[row]);
            let new = self.flat.exprs.tidy_sub(self.right[other], product);
            self.right[other] = self.named(new, equation);
        }
        self.rows[row] = cells;
    }

    /// A number, a variable, or an auxiliary that stands for the expression.
    fn named(&mut self, value: ExprId, equation: EqId) -> ExprId {
        let bare = self.flat.exprs.negated(value).unwrap_or(value);
        if matches!(self.flat.exprs.node(bare), Node::Number(_) | Node::Leaf(_)) {
            return value;
        }
        let span = self.flat.equations[equation.index()].span;
        let target = self.auxiliaries.name(self.flat, value, span);
        self.made.push(Assignment {
            target,
            value,
            equation: None,
            guard: None,
        });
        self.flat.exprs.leaf(target)
    }

    /// Solves what elimination has left, by Cramer's rule.
    fn cramer(&mut self, rows: &[usize], columns: &[usize]) {
        let Some(&first) = rows.first() else {
            return;
        };
        let equation = self.linear.equations[first];
        let below = self.determinant(rows, columns, None);
        let below = self.named(below, equation);
        for (&row, &column) in rows.iter().zip(columns) {
            let above = self.determinant(rows, columns, Some(column));
            let value = self.flat.exprs.tidy_div(above, below);
            self.solved(row, column, value);
        }
    }

    /// The determinant of at most three rows. `by` is the column that the right sides replace.
    fn determinant(&mut self, rows: &[usize], columns: &[usize], by: Option<usize>) -> ExprId {
        let Some((&row, others)) = rows.split_first() else {
            return self.flat.exprs.number(1.0);
        };
        let mut sum = self.flat.exprs.number(0.0);
        for (at, &column) in columns.iter().enumerate() {
            let cell = match by == Some(column) {
                true => Some(self.right[row]),
                false => self.rows[row].get(&column).map(|cell| cell.value),
            };
            let Some(cell) = cell else {
                continue;
            };
            let rest: Vec<usize> = columns.iter().copied().filter(|&c| c != column).collect();
            let minor = self.determinant(others, &rest, by);
            let product = self.flat.exprs.tidy_mul(cell, minor);
            sum = match at % 2 {
                0 => self.flat.exprs.tidy_add(sum, product),
                _ => self.flat.exprs.tidy_sub(sum, product),
            };
        }
        sum
    }
}

/// Combines two values if both are known.
fn both(
    a: &Cell,
    b: &Cell,
    f: impl Fn((f64, f64), (f64, f64)) -> (f64, f64),
) -> Option<Vec<(f64, f64)>> {
    let (a, b) = (a.known.as_ref()?, b.known.as_ref()?);
    Some(a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect())
}
