//! Temperatures that are counted from another zero: where they may not stand.
//!
//! Before: the units of all variables. After: each use of a temperature in degC or degF that has no meaning. Differences of
//! two are fine, also sums with one number; products, powers and functions are not, nor is a mixture with kelvin.

use super::form::{Misused, Walker};
use super::spread::{Origin, Spread};
use crate::base::cancel::glance;
use crate::flat::VarId;

/// The mistakes, and values in kelvin that are temperatures in a sum, with their offsets.
///
/// Walks over the model a second time, if it has such temperatures.
pub fn misused(spread: &Spread<'_>) -> (Vec<Misused>, Vec<(VarId, f64)>) {
    let flat = spread.flat;
    let shifted = |measure: &Option<crate::base::unit::Measure>| {
        measure.is_some_and(|measure| measure.offset != 0.0)
    };
    if !spread.measures.iter().any(shifted) {
        return (Vec::new(), Vec::new());
    }
    let mut walker = Walker::new(flat, spread);
    walker.offsets = true;
    let mut found = Vec::new();
    for (at, equation) in flat.equations.iter().enumerate() {
        glance();
        let origin = Origin::Equation(at as u32);
        // Values that are handed on are converted.
        let sum = equation.kind == crate::flat::EquationKind::Sum;
        if spread.is_handed(origin) && !sum {
            continue;
        }
        walker.equation(equation.left, equation.right, equation.span);
        walker.pairs.clear();
        found.append(&mut walker.misused);
    }
    for (at, given) in flat.values.iter().enumerate() {
        let origin = Origin::Value(at as u32);
        if spread.literal(given.variable).is_some() {
            continue;
        }
        match spread.is_handed(origin) {
            // The value as a whole is converted, what is inside is an expression like any other.
            true => drop(walker.form(given.expression, given.span)),
            false => walker.given(given.variable, given.expression, false, given.span),
        }
        walker.pairs.clear();
        found.append(&mut walker.misused);
    }
    (found, walker.absolute)
}
