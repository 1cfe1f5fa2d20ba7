//! Units of a flat model: what they are, whether they agree, and what is converted.
//!
//! Before: a flat model as written, with values whose unit is a [`crate::flat::Literal`]. After: every variable whose unit
//! is declared or follows has it in `Flat::units`; values with units are numbers in the scale of what they are given to; at
//! connections, and where a submodel is given a value, other scales are converted; mistakes are told. Equations stay as
//! they are written.
//!
//! A unit is a point in the space of the powers of the base units, with a factor, so inference is linear. Units spread
//! from declarations through the pairs of expressions that have to agree ([`form`]), each pair giving the last unit that is
//! open in it, first come first served ([`spread`]): so chains are short, and each pair is looked at as often as it has
//! open units. What is left are numbers. A written number wishes to be plain; it is granted where nothing speaks against
//! it (docs/decisions/0080).

mod convert;
mod form;
mod message;
mod number;
mod offsets;
mod report;
mod spread;
mod strange;

use rustc_hash::FxHashMap;

use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::base::unit::Measure;
use crate::expr::Node;
use crate::flat::{Flat, Leaf, Literal, VarId};

pub use convert::{scaled, to_variable, unit_of};

/// Finds the units, converts, and reports.
pub fn settle(flat: &mut Flat, sources: &Sources, diagnostics: &mut Diagnostics) {
    let declared = strange::declared(flat, diagnostics);
    if flat.literals.is_empty() && declared.iter().all(Option::is_none) {
        return;
    }
    let literals: Vec<Literal> = std::mem::take(&mut flat.literals);
    // What is given is compared with the variable itself, which may not occur anywhere else.
    let given = flat.values.iter().chain(&flat.starts);
    let formulas = given.filter(|given| {
        !matches!(
            flat.exprs.node(given.expression),
            Node::Number(_) | Node::Bool(_)
        )
    });
    let variables: Vec<VarId> = formulas.map(|given| given.variable).collect();
    for variable in variables {
        flat.exprs.leaf(Leaf::Var(variable));
    }
    let mut spread = spread::Spread::new(flat, &declared, &literals);
    spread.all();
    report::report(&mut spread, sources, diagnostics);
    let found = spread.found();
    convert::convert(flat, found, &literals, diagnostics);
}

/// Texts of units that are computed, each found once.
#[derive(Debug, Default)]
struct Texts {
    list: Vec<(String, Measure)>,
    known: FxHashMap<[i64; 9], u32>,
    named: FxHashMap<String, u32>,
}

impl Texts {
    /// The number of a unit with this text.
    fn of_text(&mut self, text: &str, measure: Measure) -> u32 {
        if let Some(&known) = self.named.get(text) {
            return known;
        }
        let at = self.list.len() as u32;
        self.list.push((text.to_string(), measure));
        self.named.insert(text.to_string(), at);
        at
    }

    /// The number of a unit that was computed.
    fn of(&mut self, measure: &Measure) -> u32 {
        let mut key = [0; 9];
        for (part, power) in key.iter_mut().zip(measure.dimension.0) {
            *part = (power.value() * 5040.0) as i64;
        }
        // Two factors that differ by rounding may get two numbers with the same text.
        key[7] = measure.factor.to_bits() as i64;
        key[8] = measure.offset.to_bits() as i64;
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let text = crate::base::unit::text(measure);
        let at = self.of_text(&text, *measure);
        self.known.insert(key, at);
        at
    }
}
