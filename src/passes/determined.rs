//! Whether the equations can determine the unknowns, whatever the index is.
//!
//! Before: a flat model as it was written. After: there are as many equations as unknowns, and none cancel; parts
//! without ground have a reference. The findings about signs, and whether states depend on each other, go with it.

use super::order::{Dependence, Unbalanced, balanced, dependence, report_unbalanced};
use super::signs::reference::{Findings, Reference, reference, report_cancelling};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;

/// The model with the findings.
#[derive(Debug)]
pub struct Determined {
    pub flat: Flat,
    pub references: Vec<Reference>,
    pub findings: Findings,
    pub dependence: Dependence,
    pub fault: Option<Undetermined>,
}

/// Why the equations cannot determine the unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undetermined {
    /// There are too many or too few equations.
    Unbalanced,
    /// Equations cancel; the findings name them.
    Cancels,
}

pub fn determined(written: Flat) -> Determined {
    let (flat, references, mut findings) = reference(written);
    let dependence = dependence(&flat);
    if findings.has_moving_rates() && (!findings.constraints.is_empty() || dependence.states) {
        // A constraint may hold a state whose rate seems to be free. That is known only after index reduction.
        findings.forget_moving_rates();
    }
    let fault = match is_balanced(&flat, &dependence, &references).is_ok() {
        false => Some(Undetermined::Unbalanced),
        true => findings.cancel().then_some(Undetermined::Cancels),
    };
    Determined {
        flat,
        references,
        findings,
        dependence,
        fault,
    }
}

/// Whether the model is balanced now, or was before references were put in: a model that is not balanced may lack only
/// a ground.
fn is_balanced(
    flat: &Flat,
    dependence: &Dependence,
    references: &[Reference],
) -> Result<(), Unbalanced> {
    dependence.balanced(flat).or_else(|unbalanced| {
        if references.is_empty() {
            return Err(unbalanced);
        }
        let mut written = flat.clone();
        for reference in references {
            written.equations[reference.equation.index()] = reference.replaced;
        }
        balanced(&written)
    })
}

impl Determined {
    pub fn report_fault(&self, said: &mut Diagnostics) {
        match self.fault {
            Some(Undetermined::Unbalanced) => report_unbalanced(&self.flat, said),
            Some(Undetermined::Cancels) => report_cancelling(&self.flat, &self.findings, said),
            None => {}
        }
    }
}
