//! What is said when the index cannot be reduced.

use super::Stuck;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::flat::Flat;
use crate::reference::cancelling;
use crate::sort::with_equations;

pub fn report(flat: &Flat, stuck: &Stuck, diagnostics: &mut Diagnostics) {
    let diagnostic = match stuck {
        Stuck::TooMany => Diagnostic::new(
            Code::HigherIndex,
            "states depend on each other, and differentiating the equations does not come to an end",
        )
        .hint("look for a part of the model that is determined twice, and another that is not determined at all"),
        Stuck::Cancelled(list) => return cancelling(flat, list, diagnostics),
        Stuck::NoDerivative(id) => {
            let diagnostic = Diagnostic::new(
                Code::HigherIndex,
                "an equation between booleans would have to be differentiated",
            );
            with_equations(flat, vec![*id], diagnostic)
                .hint("let the boolean be decided at events: `new(b) = ...`")
        }
        Stuck::Dependent(ids) => {
            let diagnostic = Diagnostic::new(
                Code::HigherIndex,
                "constraints between states depend on each other: the same is said twice, or they contradict",
            );
            with_equations(flat, ids.clone(), diagnostic)
                .note("with the values given, the derivatives of these equations follow from those of others")
                .hint("take one of the constraints away, or let something give way (a spring, a resistance)")
        }
    };
    diagnostics.push(diagnostic);
}
