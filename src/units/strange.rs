//! Declared units.
//!
//! Before: texts. After: what they mean; a text that means nothing is told once, and its variables count as undeclared.

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::unit::{Measure, NotAUnit, nearest, read};
use crate::flat::Flat;
use crate::syntax::units::unknown_unit;

/// The unit of each declaration.
pub fn declared(flat: &Flat, diagnostics: &mut Diagnostics) -> Vec<Option<Measure>> {
    let mut found = Vec::with_capacity(flat.declarations.len());
    for declaration in &flat.declarations {
        let text = declaration.remarks.unit.as_deref();
        let text = text.filter(|text| !text.trim().is_empty());
        found.push(text.and_then(|text| match read(text) {
            Ok(measure) => Some(measure),
            Err(why) => {
                let near = match &why {
                    NotAUnit::Name(name) => nearest(name).is_some(),
                    NotAUnit::Form => true,
                };
                let code = if near {
                    Code::StrangeUnit
                } else {
                    Code::OwnUnit
                };
                let told = unknown_unit(code, text, declaration.span, &why);
                diagnostics.push(told.note("it is shown, and not checked"));
                None
            }
        }));
    }
    found
}
