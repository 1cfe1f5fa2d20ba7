//! Evaluation of expressions with values that are given leaf by leaf as numbers: false and true are 0 and 1.

use super::walk::{Errors, Known, Rounded, Walk};
use crate::expr::{Arena, ExprId, Value};
use crate::flat::{Flat, Leaf, LeafValues, Type};
use crate::numeric::zero::rounding;

/// An evaluator for one time, which reuses its memory from one expression to the next.
#[derive(Debug)]
pub struct Numbers<'f> {
    flat: &'f Flat,
    time: f64,
    walk: Walk,
}

/// What an evaluator leaves to the next one of the same model.
#[derive(Debug, Default)]
pub struct Memory(Walk);

impl<'f> Numbers<'f> {
    pub fn new(flat: &'f Flat, time: f64) -> Self {
        Numbers {
            flat,
            time,
            walk: Walk::default(),
        }
    }

    /// The same with memory of an evaluator before it: [`Numbers::into_memory`].
    pub fn with_memory(flat: &'f Flat, time: f64, memory: Memory) -> Self {
        let walk = memory.0;
        Numbers { flat, time, walk }
    }

    pub fn into_memory(self) -> Memory {
        Memory(self.walk)
    }

    pub fn exprs(&self) -> &'f Arena<Leaf> {
        &self.flat.exprs
    }

    /// The value of an expression; parameters have their values. `None` if it is not finite.
    pub fn value(&mut self, id: ExprId, values: &LeafValues) -> Option<f64> {
        self.walked(id, values, &|_, _| 0.0, Errors::Ignore)
            .map(|found| found.0)
    }

    /// The value with a bound on its error, where leaves with these values have these errors.
    pub fn bounded(
        &mut self,
        id: ExprId,
        values: &LeafValues,
        error: &dyn Fn(Leaf, f64) -> f64,
    ) -> Option<(f64, f64)> {
        self.walked(id, values, error, Errors::Bound)
    }

    fn walked(
        &mut self,
        id: ExprId,
        values: &LeafValues,
        error: &dyn Fn(Leaf, f64) -> f64,
        errors: Errors,
    ) -> Option<(f64, f64)> {
        let flat = self.flat;
        let leaf = |leaf: Leaf| {
            if let Some(&number) = values.get(&leaf) {
                return Some(match flat.variable(leaf.variable()).ty {
                    Type::Real => Rounded {
                        value: Value::Real(number),
                        error: error(leaf, number),
                    },
                    Type::Boolean => Rounded::exact(Value::Bool(number != 0.0)),
                });
            }
            match leaf {
                Leaf::Var(id) => flat.value(id).map(|given| match given.value {
                    Value::Real(number) => Rounded {
                        value: given.value,
                        error: rounding(number),
                    },
                    Value::Bool(_) => Rounded::exact(given.value),
                }),
                _ => None,
            }
        };
        let known = Known {
            time: self.time,
            leaf: &leaf,
        };
        let found = (self.walk).value(&flat.exprs, id, &known, errors).ok()?;
        match found.value {
            Value::Real(number) => number.is_finite().then_some((number, found.error)),
            Value::Bool(truth) => Some((f64::from(u8::from(truth)), 0.0)),
        }
    }
}
