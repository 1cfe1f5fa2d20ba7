//! Whether the equations can determine the unknowns, whatever the index: as many as there are, and none that cancel.
//!
//! Before: a flat model as it was written. After: the same, in which parts without ground have a reference, with what its
//! signs say, and whether states depend on each other.

use super::order::{Dependence, Unbalanced, balanced, dependence, report_unbalanced};
use super::signs::reference::{Findings, Reference, reference, report_cancelling};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;

/// A model that was looked at.
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
    /// Too many or too few.
    Unbalanced,
    /// Some cancel, as the findings say.
    Cancels,
}

pub fn determined(written: Flat) -> Determined {
    let (flat, references, mut findings) = reference(written);
    let dependence = dependence(&flat);
    if findings.has_moving_rates() && (!findings.constraints.is_empty() || dependence.states) {
        // The rate of a state is not free where a constraint holds the state: to be seen after reduction.
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

/// As it is, or as it was written: what is not balanced may lack a ground only.
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
            written.equations[reference.equation.index()] = reference.gone;
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
