//! Positions in which switches say something twice that signs alone do not show: two stuck brakes on one shaft, each with an
//! angle of its own or behind a gear of its own.
//!
//! Before: the equations of a position that [`super::least_norm`] leaves with more equations than unknowns in some part. After:
//! of each set of equations that say the same twice, a switch's has given way to the condition for the solution of least norm.
//!
//! The linear equations with constant coefficients are rows of the matrix A + s*E, where s stands for d/dt. Rows that say the
//! same twice are a vector y with y*(A + s*E) = 0 for all s, and then there is a vector z with (A + s*E)*z = 0: what no
//! equation determines. The solution in which the squares of what the switches hold back are least is orthogonal to z. Both are
//! found at two values of s and have to agree; a vector that changes with s is left alone. Equations that are not linear
//! neither say anything twice, nor may what they contain move.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::least_norm::Loose;
use super::switches::{Switch, branch};
use crate::base::cancel::glance;
use crate::evaluate::constant;
use crate::expr::linear::difference;
use crate::expr::{ExprId, Function, Node, Term};
use crate::flat::{EqId, Flat, Leaf, Type};
use crate::passes::order::balanced;

/// Values of s: any two do.
const AT: [f64; 2] = [0.739_085, 1.324_718];
/// Rounding, relative to the largest number of a row.
const ZERO: f64 = 1e-9;
/// Larger models, and eliminations that fill up, are left alone.
const MOST_EQUATIONS: usize = 5_000;
const MOST_ENTRIES: usize = 2_000_000;

type Row = BTreeMap<usize, f64>;

/// An equation of a single switch, and what it is where the switch is in the other position.
struct Held {
    switch: usize,
    equation: EqId,
    other: ExprId,
}

pub fn settle(flat: &mut Flat, written: &Flat, switches: &[Switch], key: &[bool]) -> Vec<Loose> {
    if switches.len() < 2 || flat.equations.len() > MOST_EQUATIONS || balanced(flat).is_ok() {
        return Vec::new();
    }
    let held = held(flat, written, switches, key);
    let system = System::new(flat);
    found(flat, &system, &held).unwrap_or_default()
}

fn found(flat: &mut Flat, system: &System, held: &[Held]) -> Option<Vec<Loose>> {
    let row_of = |equation: EqId| system.equations.iter().position(|&known| known == equation);
    // Only rows of the system can say anything twice.
    let of_switch: Vec<(usize, &Held)> = (held.iter())
        .filter_map(|held| Some((row_of(held.equation)?, held)))
        .collect();
    let [first, second] = AT.map(|s| system.eliminated(s));
    let (first, second) = (first?, second?);
    let rows: Vec<usize> = of_switch.iter().map(|&(row, _)| row).collect();
    let twice = same_at_both(
        restricted(&first.twice, &rows, system),
        restricted(&second.twice, &rows, system),
    );
    if twice.is_empty() {
        return None;
    }
    // What the switches hold back, and how it moves with what is free.
    let taking: Vec<usize> = (0..rows.len())
        .filter(|&at| twice.iter().any(|one| one.contains_key(&at)))
        .collect();
    let mut slopes: Vec<[Row; 2]> = Vec::new();
    for &at in &taking {
        let zero = flat.exprs.number(0.0);
        let (terms, _) = system.terms(flat, of_switch[at].1.other, zero)?;
        slopes.push(AT.map(|s| system.row(&terms, s)));
    }
    let moved = |free: &[Row], which: usize| -> Vec<Row> {
        let along = |z: &Row, row: &Row| -> f64 {
            let terms = row
                .iter()
                .filter_map(|(column, by)| Some(by * z.get(column)?));
            terms.sum()
        };
        (free.iter())
            .map(|z| {
                let all = slopes.iter().enumerate();
                let all = all.map(|(at, rows)| (at, along(z, &rows[which])));
                all.filter(|(_, by)| *by != 0.0).collect()
            })
            .collect()
    };
    let free = same_at_both(
        echelon(moved(&first.free, 0)),
        echelon(moved(&second.free, 1)),
    );
    if free.len() != twice.len() {
        return None;
    }
    let mut loose = Vec::new();
    for (one, z) in twice.iter().zip(&free) {
        let (&gone, _) = one.iter().next_back()?;
        let mut terms: Vec<Term> = Vec::new();
        for (&at, &by) in z {
            let many = flat.exprs.number(tidy(by.abs()));
            let other = of_switch[taking[at]].1.other;
            terms.push((by < 0.0, flat.exprs.tidy_mul(many, other)));
        }
        let (left, right) = (flat.exprs.sum(&terms), flat.exprs.number(0.0));
        let equation = &mut flat.equations[of_switch[gone].1.equation.index()];
        (equation.left, equation.right) = (left, right);
        let mut names: Vec<usize> = one.keys().map(|&at| of_switch[at].1.switch).collect();
        names.sort_unstable();
        names.dedup();
        loose.push(Loose { switches: names });
    }
    Some(loose)
}

/// A factor that is a whole number but for rounding.
fn tidy(by: f64) -> f64 {
    match (by - by.round()).abs() <= ZERO * by && by.round() != 0.0 {
        true => by.round(),
        false => by,
    }
}

/// Equations that one switch alone decides, each with the difference of its sides in the other position.
fn held(flat: &mut Flat, written: &Flat, switches: &[Switch], key: &[bool]) -> Vec<Held> {
    let mut of: FxHashMap<EqId, Vec<usize>> = FxHashMap::default();
    for (at, switch) in switches.iter().enumerate() {
        for &id in &switch.equations {
            of.entry(id).or_default().push(at);
        }
    }
    let mut all: Vec<(EqId, usize)> = (of.into_iter())
        .filter_map(|(id, by)| match by[..] {
            [switch] => Some((id, switch)),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    (all.into_iter())
        .map(|(equation, switch)| {
            let truth = FxHashMap::from_iter([(switches[switch].condition, !key[switch])]);
            let sides = &written.equations[equation.index()];
            let left = branch(flat, sides.left, &truth);
            let right = branch(flat, sides.right, &truth);
            Held {
                switch,
                equation,
                other: flat.exprs.sum(&[(false, left), (true, right)]),
            }
        })
        .collect()
}

/// A coefficient of a variable's derivative of some order.
type Entry = (usize, u8, f64);

struct System {
    equations: Vec<EqId>,
    rows: Vec<Vec<Entry>>,
    /// Whether a row has a term that is known and not zero: a source says more than nothing.
    known: Vec<bool>,
    /// Variables of equations that are not linear.
    kept: Vec<usize>,
}

/// What elimination leaves.
struct Eliminated {
    /// Combinations of rows that cancel.
    twice: Vec<Row>,
    /// Combinations of columns that cancel.
    free: Vec<Row>,
}

impl System {
    fn new(flat: &mut Flat) -> Self {
        let mut system = System {
            equations: Vec::new(),
            rows: Vec::new(),
            known: Vec::new(),
            kept: Vec::new(),
        };
        for id in flat.equation_ids() {
            glance();
            let equation = flat.equations[id.index()];
            if !equation.kind.is_continuous() || flat.is_boolean(equation.left) {
                continue;
            }
            match system.terms(flat, equation.left, equation.right) {
                Some((terms, known)) => {
                    system.equations.push(id);
                    system.rows.push(terms);
                    system.known.push(known);
                }
                None => {
                    for side in [equation.left, equation.right] {
                        let kept = &mut system.kept;
                        flat.exprs
                            .leaves(side, |leaf| kept.extend(place(flat, leaf).map(|at| at.0)));
                    }
                }
            }
        }
        system.kept.sort_unstable();
        system.kept.dedup();
        system
    }

    /// The coefficients of a difference, and whether it has a term without unknowns; `None` if it is not linear, or if a
    /// coefficient is not constant.
    fn terms(&self, flat: &mut Flat, left: ExprId, right: ExprId) -> Option<(Vec<Entry>, bool)> {
        let mut places: Vec<(usize, u8)> = Vec::new();
        for side in [left, right] {
            flat.exprs
                .leaves(side, |leaf| places.extend(place(flat, leaf)));
        }
        places.sort_unstable();
        places.dedup();
        let mut exprs = std::mem::take(&mut flat.exprs);
        let form = difference(&mut exprs, left, right, &|leaf: Leaf| {
            let at = place(flat, leaf)?;
            places.binary_search(&at).ok().map(|at| at as u32)
        });
        flat.exprs = exprs;
        let form = form?;
        let mut terms = Vec::with_capacity(form.terms.len());
        for (at, coefficient) in form.terms {
            let (variable, order) = places[at as usize];
            let by = fixed(flat, coefficient)?;
            if by != 0.0 {
                terms.push((variable, order, by));
            }
        }
        let rest: Option<f64> = (form.rest.iter())
            .map(|&(negative, term)| fixed(flat, term).map(|by| if negative { -by } else { by }))
            .sum();
        Some((terms, rest != Some(0.0)))
    }

    /// A row where s has a value, its largest number being 1.
    fn row(&self, terms: &[Entry], s: f64) -> Row {
        let mut row = Row::new();
        for &(variable, order, by) in terms {
            *row.entry(variable).or_default() += by * s.powi(i32::from(order));
        }
        row.retain(|_, by| *by != 0.0);
        row
    }

    fn eliminated(&self, s: f64) -> Option<Eliminated> {
        let mut pivots: Vec<(usize, Row)> = Vec::new();
        let mut pivot_of: FxHashMap<usize, usize> = FxHashMap::default();
        let mut made: Vec<Row> = Vec::new();
        let mut twice = Vec::new();
        let mut entries = 0;
        // Short rows first: they fill up least.
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&at| (self.rows[at].len(), at));
        for at in order {
            glance();
            let mut row = self.row(&self.rows[at], s);
            let mut of = Row::from([(at, 1.0)]);
            while let Some((&column, &by, pivot)) = row
                .iter()
                .find_map(|(column, by)| Some((column, by, *pivot_of.get(column)?)))
            {
                let (_, with) = &pivots[pivot];
                let factor = by / with[&column];
                subtract(&mut row, with, factor);
                row.remove(&column);
                subtract(&mut of, &made[pivot], factor);
                entries += with.len() + made[pivot].len();
                if entries > MOST_ENTRIES {
                    return None;
                }
            }
            let largest = row.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            match largest.map(|(&column, _)| column) {
                None => twice.push(of),
                Some(column) => {
                    pivot_of.insert(column, pivots.len());
                    pivots.push((column, row));
                    made.push(of);
                }
            }
        }
        Some(Eliminated {
            twice,
            free: self.free(&pivots, &pivot_of),
        })
    }

    /// Values of the columns for which all rows vanish; columns of other equations stay.
    fn free(&self, pivots: &[(usize, Row)], pivot_of: &FxHashMap<usize, usize>) -> Vec<Row> {
        let mut columns: Vec<usize> = (self.rows.iter().flatten())
            .map(|&(column, ..)| column)
            .filter(|column| !pivot_of.contains_key(column))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let mut all: Vec<Row> = Vec::new();
        for column in columns {
            let mut z = Row::from([(column, 1.0)]);
            // A row has columns of later pivots only.
            for (pivot, row) in pivots.iter().rev() {
                let terms = row.iter().filter(|(column, _)| *column != pivot);
                let sum: f64 = terms.filter_map(|(at, by)| Some(by * z.get(at)?)).sum();
                if sum != 0.0 {
                    z.insert(*pivot, -sum / row[pivot]);
                }
            }
            all.push(z);
        }
        // Those combinations in which what has to stay does.
        for &kept in &self.kept {
            let Some(at) = all.iter().position(|z| is_in(z, kept)) else {
                continue;
            };
            let with = all.swap_remove(at);
            for z in &mut all {
                if let Some(&by) = z.get(&kept) {
                    subtract(z, &with, by / with[&kept]);
                    z.remove(&kept);
                }
            }
        }
        all
    }
}

fn is_in(row: &Row, column: usize) -> bool {
    let largest = row.values().fold(0.0, |most: f64, by| most.max(by.abs()));
    (row.get(&column)).is_some_and(|by| by.abs() > ZERO * largest)
}

/// Takes a multiple of a row away; what is left of numbers that cancel is zero.
fn subtract(row: &mut Row, other: &Row, factor: f64) {
    for (&column, by) in other {
        let now = row.entry(column).or_default();
        let (before, taken) = (*now, factor * by);
        *now -= taken;
        if now.abs() <= ZERO * before.abs().max(taken.abs()) {
            row.remove(&column);
        }
    }
}

/// Of combinations that cancel those without sources, by the rows of switches, in echelon form.
fn restricted(twice: &[Row], rows: &[usize], system: &System) -> Vec<Row> {
    let honest = |one: &&Row| one.keys().all(|&row| !system.known[row]);
    let list: Vec<Row> = (twice.iter().filter(honest))
        .map(|one| {
            let of_switch = rows.iter().enumerate();
            let entries = of_switch.filter_map(|(at, row)| Some((at, *one.get(row)?)));
            entries.collect()
        })
        .collect();
    echelon(list)
}

/// The same combinations such that each has a last entry, 1, that no other one has.
fn echelon(mut list: Vec<Row>) -> Vec<Row> {
    let mut done: Vec<Row> = Vec::new();
    while let Some(mut one) = list.pop() {
        let largest = one.values().fold(0.0, |most: f64, by| most.max(by.abs()));
        one.retain(|_, by| by.abs() > ZERO * largest);
        let Some((&last, &by)) = one.iter().next_back() else {
            continue;
        };
        for value in one.values_mut() {
            *value /= by;
        }
        for other in list.iter_mut().chain(&mut done) {
            if let Some(&by) = other.get(&last) {
                subtract(other, &one, by);
                other.remove(&last);
            }
        }
        done.push(one);
    }
    done.sort_by_key(|one| one.keys().next_back().copied());
    done
}

/// Those that are the same at both values of s; none if any is not.
fn same_at_both(first: Vec<Row>, second: Vec<Row>) -> Vec<Row> {
    let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    let alike = |a: &Row, b: &Row| {
        a.len() == b.len()
            && (a.iter().zip(b)).all(|((at, a), (other, b))| at == other && near(a, b))
    };
    let same = first.len() == second.len() && first.iter().zip(&second).all(|(a, b)| alike(a, b));
    match same {
        true => first,
        false => Vec::new(),
    }
}

/// The value of an expression that does not move.
fn fixed(flat: &Flat, root: ExprId) -> Option<f64> {
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Time | Node::Call(Function::Sample, _) => return None,
            _ => flat.exprs.operands(id, &mut work),
        }
    }
    constant(flat, root)
}

/// The column of an unknown number, and the order of the derivative.
fn place(flat: &Flat, leaf: Leaf) -> Option<(usize, u8)> {
    let variable = flat.variable(leaf.variable());
    let unknown = variable.ty == Type::Real
        && variable.kind.is_unknown()
        && variable.kind != crate::flat::Kind::Discrete;
    match unknown {
        true => Some((leaf.variable().index(), leaf.order()?)),
        false => None,
    }
}
