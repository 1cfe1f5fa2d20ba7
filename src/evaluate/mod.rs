//! The plain evaluator of solved models: slow and simple, for tests, starts and single points.
//!
//! Before: a solved model and a [`Point`] with the known values: states, inputs, parameters, discrete variables, Time. After
//! [`evaluate`]: every variable of the model has a value, or a [`Failure`] tells which variable has none and why. There are no
//! events at a single point: no `when` acts, and discrete variables keep their values.

mod begin;
mod choose;
mod expanded;
mod failure;
mod failure_words;
mod homotopy;
mod linear;
mod newton;
mod newton_matrix;
mod numbers;
mod point;
pub mod settings;
pub mod show;
mod torn_loop;
mod truths;
pub(crate) mod walk;

pub use choose::{Chosen, Quotas};
pub use failure::{Failure, Reason};
pub use numbers::{Memory, Numbers};
pub use point::Point;
pub(crate) use point::leaves;

use crate::base::cancel::glance;
use sprs::TriMat;

use crate::expr::{ExprId, Value};
use crate::flat::{EqId, Flat, Kind, Leaf, VarId};
use crate::passes::blocks::{
    Assignment, Block, Entry, Linear, Method, Nonlinear, Selected, Solved,
};
use choose::{choose, follows};
use failure::Subject;
use linear::Factored;
pub(crate) use walk::Walk;
use walk::{Errors, EvalError, Known, Rounded};

/// The value of an expression of parameters and constants; `None` if it has none.
pub(crate) fn value_of(flat: &Flat, expression: ExprId, walk: &mut Walk) -> Option<Value> {
    let leaf = |leaf: Leaf| match leaf {
        Leaf::Var(id) => flat.value(id).map(|given| Rounded::exact(given.value)),
        _ => None,
    };
    let known = Known {
        time: 0.0,
        leaf: &leaf,
    };
    let value = walk.value(&flat.exprs, expression, &known, Errors::Ignore);
    value.ok().map(|rounded| rounded.value)
}

/// The real value of an expression of parameters and constants; `None` if it is not finite.
pub fn constant(flat: &Flat, expression: ExprId) -> Option<f64> {
    let value = value_of(flat, expression, &mut Walk::default())?;
    value.real().filter(|number| number.is_finite())
}

/// The truth of a condition where all variables have values; `None` if it has none.
pub fn truth(flat: &Flat, point: &Point, condition: ExprId) -> Option<bool> {
    let leaf = |leaf: Leaf| point.get(leaf).map(Rounded::exact);
    let known = Known {
        time: point.time,
        leaf: &leaf,
    };
    let value = Walk::default().value(&flat.exprs, condition, &known, Errors::Ignore);
    match value.ok()?.value {
        Value::Bool(truth) => Some(truth),
        Value::Real(_) => None,
    }
}

/// Computes all values from the known ones, block by block. The values of iteration variables in the point are the first
/// guesses: evaluating again at a nearby point finds the nearby solution.
pub fn evaluate(solved: &Solved, point: &mut Point) -> Result<(), Failure> {
    run(solved, point, &mut |evaluator, selected| {
        let states = evaluator.point.chosen(&solved.flat, selected);
        evaluator.selected(selected, &states)
    })
}

/// The same at a point that somebody describes: start equations and next values give what was not given. False if discrete
/// variables are not settled: with some values each asks for another one.
pub fn evaluate_settled(solved: &Solved, point: &mut Point) -> Result<bool, Failure> {
    /// Passes in which all variables change at once; in as many after them the first one does.
    const AT_ONCE: usize = 32;
    begin::fill(solved, point)?;
    for pass in 0..2 * AT_ONCE {
        evaluate(solved, point)?;
        let mut due = unsettled(&solved.flat, point);
        if due.is_empty() {
            return Ok(true);
        }
        if pass >= AT_ONCE {
            due.truncate(1);
        }
        for (leaf, next) in due {
            point.put(leaf, next);
        }
    }
    Ok(false)
}

/// Discrete variables that nobody gave, and whose next value is another one.
fn unsettled(flat: &Flat, point: &Point) -> Vec<(Leaf, Value)> {
    let free =
        |&id: &VarId| flat.variable(id).kind == Kind::Discrete && !point.is_given(Leaf::Var(id));
    (flat.variable_ids().filter(free))
        .filter_map(|id| {
            let next = point.get(Leaf::New(id))?;
            (point.get(Leaf::Var(id)) != Some(next)).then_some((Leaf::Var(id), next))
        })
        .collect()
}

/// Computes the values at the start, and chooses the states of each selection there.
pub fn evaluate_start(solved: &Solved, point: &mut Point) -> Result<Vec<Chosen>, Failure> {
    begin::start(solved, point, begin::Discrete::Begins)
}

/// The same after discrete variables have changed at the start: those with a next value keep what they have.
pub fn evaluate_start_again(solved: &Solved, point: &mut Point) -> Result<Vec<Chosen>, Failure> {
    begin::start(solved, point, begin::Discrete::Known)
}

/// The values at the start where those of states and discrete variables are known.
fn evaluate_from_known(solved: &Solved, point: &mut Point) -> Result<Vec<Chosen>, Failure> {
    let mut chosen = Vec::new();
    let is_given = |leaf: Leaf| {
        let given = matches!(leaf, Leaf::Var(id) if solved.flat.start(id).is_some());
        given || (solved.start.as_ref()).is_some_and(|start| start.determines(leaf))
    };
    run(solved, point, &mut |evaluator, selected| match choose(
        &solved.flat,
        selected,
        evaluator.point,
        &is_given,
    ) {
        Some(found) => {
            for &(leaf, value) in &found.values {
                evaluator.point.put(leaf, Value::Real(value));
            }
            let states = found.states.clone();
            chosen.push(found);
            evaluator.selected(selected, &states)
        }
        None => {
            let states = evaluator.point.chosen(&solved.flat, selected);
            evaluator.selected(selected, &states)
        }
    })?;
    Ok(chosen)
}

/// Solves a block of which some unknowns are states.
type Select<'a> = &'a mut dyn FnMut(&mut Evaluator<'_>, &Selected) -> Result<(), Failure>;

fn run(solved: &Solved, point: &mut Point, select: Select<'_>) -> Result<(), Failure> {
    let mut evaluator = Evaluator {
        solved,
        flat: &solved.flat,
        point,
        walk: Walk::default(),
    };
    evaluator
        .point
        .update_dependents(&solved.flat, &mut evaluator.walk)?;
    for &zero in &solved.zeros {
        // A parameter has another value than when the model was solved.
        if evaluator.try_value(zero) != Ok(Value::Real(0.0)) {
            return Err(Failure::of_zero(&solved.flat, evaluator.point, zero));
        }
    }
    evaluator.divisors(solved)?;
    for block in &solved.blocks {
        glance();
        match block {
            Block::Assignment(assignment) => evaluator.assign(assignment)?,
            Block::Linear(linear) => evaluator.linear(linear)?,
            Block::Nonlinear(nonlinear) => evaluator.nonlinear(nonlinear)?,
            Block::Selected(selected) => select(&mut evaluator, selected)?,
            // No `when` acts: a discrete variable keeps its value.
            Block::When(when) => {
                if let Some(value) = evaluator.point.get(Leaf::Var(when.target.variable())) {
                    evaluator.point.put(when.target, value);
                }
            }
        }
    }
    evaluator.divisors(solved)?;
    for eliminated in &solved.flat.eliminated {
        let value = evaluator.value(Subject::Value(eliminated.leaf), eliminated.expression)?;
        evaluator.point.put(eliminated.leaf, value);
    }
    Ok(())
}

struct Evaluator<'s> {
    solved: &'s Solved,
    flat: &'s Flat,
    point: &'s mut Point,
    walk: Walk,
}

impl Evaluator<'_> {
    /// Checks the divisors if a parameter has another value: a divisor may vanish that does not with the values of the model.
    fn divisors(&mut self, solved: &Solved) -> Result<(), Failure> {
        if !self.point.has_other_parameters(&solved.flat) {
            return Ok(());
        }
        for &(leaf, divisor) in &solved.divisors {
            if self.try_value(divisor) == Ok(Value::Real(0.0)) {
                return Err(Failure::of_divisor(solved, self.point, leaf, divisor));
            }
        }
        Ok(())
    }

    fn try_value(&mut self, root: ExprId) -> Result<Value, EvalError> {
        self.point.value(&self.flat.exprs, root, &mut self.walk)
    }

    /// The value of an expression; an error if it is not finite.
    fn value(&mut self, subject: Subject, root: ExprId) -> Result<Value, Failure> {
        let value = self.try_value(root);
        let value = value
            .map_err(|error| Failure::of_error(self.flat, self.point, subject, root, error))?;
        Failure::check_finite(self.flat, self.point, subject, root, value)?;
        Ok(value)
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<(), Failure> {
        let Assignment {
            target,
            value,
            equation,
            guard,
        } = *assignment;
        let flat = self.flat;
        if let Some(guard) = guard {
            // If the divisor itself has no value, the evaluation of the assignment reports that.
            if self.try_value(guard) == Ok(Value::Real(0.0)) {
                let failure = Failure::of_divisor(self.solved, self.point, target, guard);
                return Err(failure.with_equation(flat, equation));
            }
        }
        let value = (self.value(Subject::Value(target), value))
            .map_err(|failure| failure.with_equation(flat, equation))?;
        self.point.put(target, value);
        Ok(())
    }

    fn nonlinear(&mut self, nonlinear: &Nonlinear) -> Result<(), Failure> {
        for (leaf, value) in newton::solve(self.flat, nonlinear, self.point)? {
            self.point.put(leaf, Value::Real(value));
        }
        Ok(())
    }

    /// Solves a block for the unknowns that are no states, by iteration: linear equations take one step.
    fn selected(&mut self, selected: &Selected, states: &[Leaf]) -> Result<(), Failure> {
        for &state in states {
            if self.point.real(state).is_none() {
                self.point.put(state, Value::Real(0.0));
            }
        }
        let others: Vec<Leaf> = (selected.unknowns.iter().copied())
            .filter(|leaf| !states.contains(leaf))
            .collect();
        self.nonlinear(&selected.iterated_on(others.clone()))?;
        match follows(self.flat, selected, states, self.point) {
            true => Ok(()),
            false => Err(Failure::of_choice(
                self.flat,
                self.point,
                states,
                (&others, &selected.equations),
            )),
        }
    }

    fn linear(&mut self, linear: &Linear) -> Result<(), Failure> {
        match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assign(assignment)?;
                }
            }
            Method::System { matrix, right } => self.system(linear, matrix, right)?,
        }
        Ok(())
    }

    fn system(
        &mut self,
        linear: &Linear,
        matrix: &[Entry],
        right: &[ExprId],
    ) -> Result<(), Failure> {
        let size = linear.unknowns.len();
        let mut numbers = TriMat::with_capacity((size, size), matrix.len());
        for &Entry { row, column, value } in matrix {
            let subject = Subject::Coefficient(linear.unknowns[column as usize]);
            let value = self.number(subject, value, linear.equations[row as usize])?;
            numbers.add_triplet(row as usize, column as usize, value);
        }
        let mut known = Vec::with_capacity(right.len());
        for (row, &value) in right.iter().enumerate() {
            let subject = Subject::Known(linear.unknowns[row]);
            known.push(self.number(subject, value, linear.equations[row])?);
        }
        let of = (linear.unknowns.as_slice(), linear.equations.as_slice());
        let singular = |singular| Failure::of_singular(self.flat, self.point, of, singular);
        let solution = Factored::new(numbers.to_csr())
            .map_err(singular)?
            .solve(&known);
        if let Some(at) = solution.iter().position(|value| !value.is_finite()) {
            return Err(singular(linear::Singular {
                row: None,
                column: Some(at as u32),
                pivot: 0.0,
            }));
        }
        for (&leaf, value) in linear.unknowns.iter().zip(solution) {
            self.point.put(leaf, Value::Real(value));
        }
        Ok(())
    }

    /// A coefficient or a right side of a linear system.
    fn number(&mut self, subject: Subject, root: ExprId, row: EqId) -> Result<f64, Failure> {
        let flat = self.flat;
        let wrong = EvalError::WrongType(root);
        (self.value(subject, root))
            .and_then(|value| {
                (value.real())
                    .ok_or_else(|| Failure::of_error(flat, self.point, subject, root, wrong))
            })
            .map_err(|failure| failure.with_equation(flat, Some(row)))
    }
}
