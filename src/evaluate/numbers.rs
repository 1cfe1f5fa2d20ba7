//! Evaluation of expressions with values that are given leaf by leaf as numbers: false and true are 0 and 1.

use rustc_hash::FxHashMap;

use super::walk::{Errors, Known, Rounded, Walk};
use crate::expr::{Arena, ExprId, Value};
use crate::flat::{Flat, Leaf, Type};

/// An evaluator for one time, which reuses its memory from one expression to the next.
#[derive(Debug)]
pub struct Numbers<'f> {
    flat: &'f Flat,
    time: f64,
    walk: Walk,
}

impl<'f> Numbers<'f> {
    pub fn new(flat: &'f Flat, time: f64) -> Self {
        Numbers {
            flat,
            time,
            walk: Walk::default(),
        }
    }

    pub fn exprs(&self) -> &'f Arena<Leaf> {
        &self.flat.exprs
    }

    /// The value of an expression; parameters have their values. `None` if it is not finite.
    pub fn value(&mut self, id: ExprId, values: &FxHashMap<Leaf, f64>) -> Option<f64> {
        let flat = self.flat;
        let leaf = |leaf: Leaf| {
            if let Some(&number) = values.get(&leaf) {
                let value = match flat.variable(leaf.variable()).ty {
                    Type::Real => Value::Real(number),
                    Type::Boolean => Value::Bool(number != 0.0),
                };
                return Some(Rounded::exact(value));
            }
            match leaf {
                Leaf::Var(id) => flat.value(id).map(|given| Rounded::exact(given.value)),
                _ => None,
            }
        };
        let known = Known {
            time: self.time,
            leaf: &leaf,
        };
        let value = (self.walk).value(&flat.exprs, id, &known, Errors::Ignore);
        match value.ok()?.value {
            Value::Real(number) => number.is_finite().then_some(number),
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
        }
    }
}
