//! What states jump to when a position begins, and the impulses that make them.
//!
//! Before: the equations of a position, each followed by its derivatives, as index reduction leaves them. After: the
//! system of the jump. An equation that is differentiated c times holds, with its derivatives up to the order c - 1, just after the
//! event: of the highest of these the values after the jump are the unknowns. Any other equation is integrated over the
//! instant: der(x) becomes the difference of x after and before, an algebraic variable its impulse, and what is finite
//! drops out. So charge, flux and momentum are conserved. The unknowns are those of the position itself, one order
//! lower, and the matrix is the same: a position that can be solved has one jump.
//!
//! A coefficient that depends on what jumps is integrated along with it where it depends on nothing else that jumps
//! (a capacity gamma/e); otherwise the jump is refused by name.

use rustc_hash::FxHashMap;
use sprs::CsMat;

use crate::evaluate::{Numbers, leaves};
use crate::expr::{ExprId, Node};
use crate::flat::{Equation, EquationKind, Flat, Kind, Leaf, Type};
use crate::numeric::lu::Lu;
use crate::numeric::numbered;
use crate::numeric::zero::{self, all_met, all_nearly_met, is_met, product, resolution, rounding};
use crate::passes::index::coefficients;
use crate::passes::vanishing::constant;

/// A coefficient: a number as given, with the expression of parameters that it is, or an expression of what moves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coefficient {
    Number(f64, ExprId),
    Expression(ExprId),
}

impl Coefficient {
    pub(crate) fn expression(self) -> ExprId {
        match self {
            Coefficient::Number(_, id) | Coefficient::Expression(id) => id,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// As it is shown.
    pub(crate) equation: Equation,
    /// Holds after the jump: left - right; `None` where it is integrated over the instant.
    pub(crate) holds: Option<(ExprId, ExprId)>,
    /// Of lower orders: these have to hold already.
    pub(crate) lower: Vec<(ExprId, ExprId)>,
    /// By column.
    pub(crate) entries: Vec<(u32, Coefficient)>,
}

/// The system of a position.
#[derive(Clone, Debug)]
pub struct Jump {
    /// What jumps: a variable, or a derivative of lower order; or what has an impulse.
    pub(crate) columns: Vec<Leaf>,
    pub(crate) impulsive: Vec<bool>,
    pub(crate) rows: Vec<Row>,
    /// By columns, which of the entries of the rows, one row after the other: it is the same in every jump.
    places: CsMat<usize>,
}

/// Values just after the jump.
#[derive(Clone, Debug, Default)]
pub struct Jumped {
    /// Of everything that may jump.
    pub after: FxHashMap<Leaf, f64>,
    /// Impulses other than zero.
    pub impulses: FxHashMap<Leaf, f64>,
}

/// Why there is no jump.
#[derive(Clone, Debug)]
pub enum Refused {
    /// A constraint on positions does not hold: no impulse can move them.
    Apart(Box<Equation>, f64),
    /// The coefficient of a leaf depends on something else that jumps.
    Coefficient(Box<Equation>, Leaf),
    /// No values satisfy the constraints.
    NoSolution,
}

/// Values that the equations are evaluated at.
pub type Values = FxHashMap<Leaf, f64>;

const MOST_STEPS: usize = 50;
/// What constraints on positions may be off beside their terms: the steps of the integration satisfy them less accurately.
const APART: f64 = 1e-6;

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
        (rows.len() == columns.len()).then(|| Jump {
            places: places(columns.len(), &rows),
            columns,
            impulsive,
            rows,
        })
    }

    /// Whether the values satisfy what the position asks of them; then nothing jumps.
    pub fn holds(&self, flat: &Flat, time: f64, before: &Values) -> bool {
        let mut numbers = Numbers::new(flat, time);
        let all = self.rows.iter().flat_map(|row| {
            let highest = row.holds.iter().copied();
            highest.chain(row.lower.iter().copied())
        });
        // An event was located in time only to the last digits: what moves has moved by then.
        let error = |leaf: Leaf, value: f64| {
            let faster = (leaf.order()).map(|order| Leaf::at_order(leaf.variable(), order + 1));
            let rate = faster.and_then(|leaf| before.get(&leaf));
            rounding(value) + product(resolution(time), rate.map_or(0.0, |rate| rate.abs()))
        };
        for sides in all {
            match difference(&mut numbers, sides, before, &error) {
                Some((off, error)) if is_met(off, error) => {}
                _ => return false,
            }
        }
        true
    }

    /// Solves for the values after the jump. `scale` says how large a leaf was so far: rounding of that size is no
    /// displacement.
    pub fn solve(
        &self,
        flat: &Flat,
        time: f64,
        before: &Values,
        scale: impl Fn(Leaf) -> f64,
    ) -> Result<Jumped, Refused> {
        let mut numbers = Numbers::new(flat, time);
        self.apart(flat, &mut numbers, before, &scale)?;
        let size = self.columns.len();
        let value = |leaf: &Leaf| before.get(leaf).copied().unwrap_or(0.0);
        let start: Vec<f64> = (self.columns.iter().zip(&self.impulsive))
            .map(|(leaf, &impulsive)| if impulsive { 0.0 } else { value(leaf) })
            .collect();
        let place: Vec<u32> = (0..size as u32).collect();
        let mut matrix = self.places.map(|_| 0.0);
        let mut lu = Lu::new(matrix.structure_view());
        let mut entries = Vec::with_capacity(matrix.nnz());
        let mut now = start.clone();
        let mut values = before.clone();
        let mut right = vec![0.0; size];
        // Bounds on the errors of the residuals, and on those of the unknowns that follow from them.
        let mut errors = vec![0.0; size];
        let mut doubts = vec![0.0; size];
        let mut last = f64::INFINITY;
        let rounded = |_: Leaf, value: f64| rounding(value);
        for step in 0..=MOST_STEPS {
            entries.clear();
            for (at, row) in self.rows.iter().enumerate() {
                let (mut off, mut error) = (0.0, 0.0);
                if let Some(sides) = row.holds {
                    (off, error) = difference(&mut numbers, sides, &values, &rounded)
                        .ok_or(Refused::NoSolution)?;
                }
                for &(column, coefficient) in &row.entries {
                    let (here, doubt) = match coefficient {
                        Coefficient::Number(number, _) => (number, rounding(number)),
                        Coefficient::Expression(id) => {
                            (numbers.bounded(id, &values, &rounded)).ok_or(Refused::NoSolution)?
                        }
                    };
                    entries.push(here);
                    if row.holds.is_none() {
                        let j = column as usize;
                        let term = self.integral(
                            &mut numbers,
                            (j, coefficient),
                            (start[j], now[j]),
                            &values,
                        )?;
                        off += term;
                        let both = rounding(start[j]) + rounding(now[j]);
                        // The coefficient is rounded, the term, and the sum.
                        error += product(here, both) + product(doubt, now[j] - start[j]);
                        error += rounding(term) + rounding(off);
                    }
                }
                (right[at], errors[at]) = (-off, error);
            }
            if step > 0 {
                doubts = lu.bounds(&errors);
            }
            let excess = zero::excess(&right, &errors);
            let linear = step > 0 && self.is_linear();
            if linear || all_met(&right, &errors) {
                break;
            }
            // No step makes them smaller.
            let stays = excess >= last;
            if stays && all_nearly_met(&right, &errors) {
                break;
            }
            if step == MOST_STEPS {
                return Err(Refused::NoSolution);
            }
            last = excess;
            for (value, &at) in matrix.data_mut().iter_mut().zip(self.places.data()) {
                *value = entries[at];
            }
            if !lu.factor(matrix.view(), &place) {
                return Err(Refused::NoSolution);
            }
            lu.solve(&mut right);
            if right.iter().any(|value| !value.is_finite()) {
                return Err(Refused::NoSolution);
            }
            for (j, delta) in right.iter().enumerate() {
                now[j] += delta;
                if !self.impulsive[j] {
                    values.insert(self.columns[j], now[j]);
                }
            }
        }
        Ok(self.jumped(&now, &doubts))
    }

    fn jumped(&self, now: &[f64], doubts: &[f64]) -> Jumped {
        let mut jumped = Jumped::default();
        for (j, &leaf) in self.columns.iter().enumerate() {
            if !self.impulsive[j] {
                jumped.after.insert(leaf, now[j]);
            } else if !is_met(now[j], doubts[j]) {
                jumped.impulses.insert(leaf, now[j]);
            }
        }
        jumped
    }

    /// What has an impulse where anything jumps.
    pub fn algebraic(&self) -> impl Iterator<Item = Leaf> + '_ {
        let all = self.columns.iter().zip(&self.impulsive);
        all.filter(|(_, impulsive)| **impulsive)
            .map(|(leaf, _)| *leaf)
    }

    /// Whether one step is enough: all coefficients are numbers.
    pub fn is_linear(&self) -> bool {
        let mut all = self.rows.iter().flat_map(|row| &row.entries);
        all.all(|(_, coefficient)| matches!(coefficient, Coefficient::Number(..)))
    }

    fn coefficient(
        &self,
        numbers: &mut Numbers<'_>,
        coefficient: Coefficient,
        values: &Values,
    ) -> Result<f64, Refused> {
        match coefficient {
            Coefficient::Number(number, _) => Ok(number),
            Coefficient::Expression(id) => numbers.value(id, values).ok_or(Refused::NoSolution),
        }
    }

    /// What a term adds over the instant: its coefficient integrated over what its leaf passes through.
    fn integral(
        &self,
        numbers: &mut Numbers<'_>,
        (j, coefficient): (usize, Coefficient),
        (from, to): (f64, f64),
        values: &Values,
    ) -> Result<f64, Refused> {
        let leaf = self.columns[j];
        let id = match coefficient {
            Coefficient::Expression(id) if !self.impulsive[j] && from != to => id,
            _ => {
                let value = self.coefficient(numbers, coefficient, values)?;
                return Ok(value * (to - from));
            }
        };
        if !leaves(numbers.exprs(), id).contains(&leaf) {
            let value = numbers.value(id, values).ok_or(Refused::NoSolution)?;
            return Ok(value * (to - from));
        }
        // Gauss and Legendre, on parts in which the value at most doubles.
        let ratio = (to / from).abs();
        let parts = match ratio.is_finite() && ratio > 0.0 && from.signum() == to.signum() {
            true => (ratio.log2().abs().ceil() as usize).clamp(1, 64),
            false => 8,
        };
        let mut moved = values.clone();
        let mut sum = 0.0;
        for part in 0..parts {
            let (a, b) = match parts == 8 && from.signum() != to.signum() {
                true => {
                    let width = (to - from) / parts as f64;
                    (from + part as f64 * width, from + (part + 1) as f64 * width)
                }
                false => {
                    let root = (to / from).powf(1.0 / parts as f64);
                    (
                        from * root.powi(part as i32),
                        from * root.powi(part as i32 + 1),
                    )
                }
            };
            for (node, weight) in GAUSS {
                for sign in [-1.0, 1.0] {
                    moved.insert(leaf, 0.5 * (a + b) + 0.5 * sign * node * (b - a));
                    let value = numbers.value(id, &moved).ok_or(Refused::NoSolution)?;
                    sum += 0.5 * weight * (b - a) * value;
                }
            }
        }
        Ok(sum)
    }

    /// Refuses what would need to know how several things jump together: a coefficient that is another one after the
    /// jump, and not because of its own variable alone.
    pub fn one_way(
        &self,
        flat: &Flat,
        time: f64,
        (before, after): (&Values, &Values),
        jumped: &Jumped,
    ) -> Result<(), Refused> {
        if self.is_linear() {
            return Ok(());
        }
        let mut numbers = Numbers::new(flat, time);
        for row in self.rows.iter().filter(|row| row.holds.is_none()) {
            for &(column, coefficient) in &row.entries {
                let (j, Coefficient::Expression(id)) = (column as usize, coefficient) else {
                    continue;
                };
                let leaf = self.columns[j];
                let acts = match self.impulsive[j] {
                    true => jumped.impulses.contains_key(&leaf),
                    false => before.get(&leaf) != jumped.after.get(&leaf),
                };
                if !acts {
                    continue;
                }
                // With its own variable it was integrated.
                let mut there = after.clone();
                if let (false, Some(&own)) = (self.impulsive[j], before.get(&leaf)) {
                    there.insert(leaf, own);
                }
                let values = [before, &there].map(|values| numbers.value(id, values));
                if let [Some(a), Some(b)] = values
                    && (a - b).abs() > 1e-7 * (a.abs() + b.abs())
                {
                    return Err(Refused::Coefficient(Box::new(row.equation), leaf));
                }
            }
        }
        Ok(())
    }

    /// Constraints of lower order hold already.
    fn apart(
        &self,
        flat: &Flat,
        numbers: &mut Numbers<'_>,
        before: &Values,
        scale: &impl Fn(Leaf) -> f64,
    ) -> Result<(), Refused> {
        for row in &self.rows {
            for &(left, right) in &row.lower {
                let values = [left, right].map(|side| numbers.value(side, before));
                let [Some(a), Some(b)] = values else {
                    return Err(Refused::NoSolution);
                };
                let mut size = a.abs() + b.abs();
                for side in [left, right] {
                    flat.exprs.leaves(side, |leaf| size = size.max(scale(leaf)));
                }
                if (a - b).abs() > APART * size {
                    return Err(Refused::Apart(Box::new(row.equation), a - b));
                }
            }
        }
        Ok(())
    }
}

/// The difference of two sides, with a bound on its error.
fn difference(
    numbers: &mut Numbers<'_>,
    (left, right): (ExprId, ExprId),
    values: &Values,
    error: &dyn Fn(Leaf, f64) -> f64,
) -> Option<(f64, f64)> {
    let (a, of_a) = numbers.bounded(left, values, error)?;
    let (b, of_b) = numbers.bounded(right, values, error)?;
    Some((a - b, of_a + of_b + rounding(a - b)))
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

/// Nodes and weights of Gauss and Legendre with 10 points, of the upper half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_4),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// The entries of the rows, by columns.
fn places(size: usize, rows: &[Row]) -> CsMat<usize> {
    let entries = (rows.iter().zip(0..))
        .flat_map(|(row, at)| row.entries.iter().map(move |&(column, _)| (at, column)));
    numbered(size, entries)
}
