//! Slopes of resistors: the increase of effort per unit of flow, at the start values.
//!
//! Before: a bond graph. After: an [`Operating`] point with the start values of the variables
//! (inputs at their defaults, else zero; everything zero if the model cannot be evaluated), and the
//! slope de/df of a port at this point, with power counted into the port. The slope is the
//! derivative of the law in a form in which it is a formula, whichever form is listed; for the
//! conductance form the reciprocal is taken.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bond::BondGraph;
use crate::bond::graph::{Element, Form, Quantity};
use crate::bond::net::Gives;
use crate::evaluate::walk::{Errors, Known, Rounded, Walk};
use crate::evaluate::{Point, evaluate_start, leaves};
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, Leaf, Type};
use crate::passes::blocks::solve;

/// The start values of a model.
#[derive(Debug)]
pub struct Operating {
    /// `None` if the model cannot be evaluated.
    point: Option<Point>,
}

impl Operating {
    pub fn new(model: &BondGraph) -> Operating {
        let evaluated = || {
            let (flat, sorted) = model.sorted.as_ref()?;
            // No request: the pipeline is a room that uses this one, and what it has sorted is at hand.
            let solved = solve(flat.clone(), sorted, &mut Vec::new).ok()?;
            let mut point = Point::new(&solved);
            evaluate_start(&solved, &mut point).ok()?;
            Some(point)
        };
        Operating { point: evaluated() }
    }

    fn value_of(&self, flat: &Flat, leaf: Leaf) -> Value {
        let point = self.point.as_ref().and_then(|point| point.get(leaf));
        let given = || flat.value(leaf.variable()).map(|given| given.value);
        point
            .or_else(given)
            .unwrap_or(match flat.variable(leaf.variable()).ty {
                Type::Real => Value::Real(0.0),
                Type::Boolean => Value::Bool(false),
            })
    }

    /// Returns the value of an expression at this point.
    pub fn number(&self, flat: &Flat, id: ExprId) -> Option<f64> {
        self.with(flat, id, &FxHashMap::default())
    }

    /// Returns the value of an expression if some leaves have other values.
    fn with(&self, flat: &Flat, id: ExprId, other: &FxHashMap<Leaf, f64>) -> Option<f64> {
        let leaf = |leaf: Leaf| {
            let other = other.get(&leaf).map(|&value| Value::Real(value));
            Some(Rounded::exact(
                other.unwrap_or_else(|| self.value_of(flat, leaf)),
            ))
        };
        let known = Known {
            time: self.point.as_ref().map_or(0.0, |point| point.time),
            leaf: &leaf,
        };
        let found = Walk::default().value(&flat.exprs, id, &known, Errors::Ignore);
        let value = found.ok()?.value.real();
        value.filter(|value| value.is_finite())
    }

    /// Returns the slope at the port of a one-port element; `None` if no form of its law is a
    /// formula, or if the slope is not positive.
    pub fn slope(&self, flat: &mut Flat, element: &Element, sign: f64) -> Option<f64> {
        let ([quantities], [_]) = (&element.quantities[..], &element.ports[..]) else {
            return None;
        };
        element.forms.iter().find_map(|form| {
            let [effort, flow] = quantities;
            let slope = match form.gives[..] {
                [Gives::Effort] => self.rate(flat, form, flow, effort)?,
                [Gives::Flow] => 1.0 / self.rate(flat, form, effort, flow)?,
                _ => return None,
            };
            Some(sign * slope).filter(|slope| slope.is_finite() && *slope > 0.0)
        })
    }

    /// Returns the derivative of the output of a form with respect to its input, forward through
    /// its formulas.
    fn rate(
        &self,
        flat: &mut Flat,
        form: &Form,
        takes: &Quantity,
        gives: &Quantity,
    ) -> Option<f64> {
        let taken = takes.0.as_deref()?;
        let &(negative, first) = taken.first()?;
        let mut values: FxHashMap<Leaf, f64> = FxHashMap::default();
        let mut rates: FxHashMap<Leaf, f64> = FxHashMap::default();
        rates.insert(Leaf::Var(first), if negative { -1.0 } else { 1.0 });
        for &(_, id) in taken {
            values.insert(Leaf::Var(id), self.value_of(flat, Leaf::Var(id)).real()?);
        }
        // An input that has a variable of its own is not computed from potentials again.
        let mut left: Vec<(Leaf, ExprId)> = Vec::new();
        for one in &form.assignments {
            if !values.contains_key(&one.target) {
                left.push((one.target, one.value?));
            }
        }
        while !left.is_empty() {
            glance();
            let targets: FxHashSet<Leaf> = left.iter().map(|&(target, _)| target).collect();
            let (ready, later): (Vec<_>, Vec<_>) = left.into_iter().partition(|&(_, value)| {
                let needs = leaves(&flat.exprs, value);
                !needs.iter().any(|leaf| targets.contains(leaf))
            });
            if ready.is_empty() {
                return None;
            }
            for (target, value) in ready {
                let mut rate = 0.0;
                for leaf in leaves(&flat.exprs, value) {
                    let Some(&of_leaf) = rates.get(&leaf) else {
                        continue;
                    };
                    if let Some(partial) = flat.exprs.partial(value, leaf) {
                        rate += of_leaf * self.with(flat, partial, &values)?;
                    }
                }
                values.insert(target, self.with(flat, value, &values)?);
                rates.insert(target, rate);
            }
            left = later;
        }
        let of = |&(negative, id): &(bool, _)| {
            let rate = rates.get(&Leaf::Var(id)).copied().unwrap_or(0.0);
            if negative { -rate } else { rate }
        };
        Some(gives.0.as_deref()?.iter().map(of).sum())
    }
}
