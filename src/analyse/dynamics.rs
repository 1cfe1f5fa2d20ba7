//! Everything that `bgm poles` tells of one linear model.

use faer::c64;

use super::linearised::Linearised;
use super::matrices::Matrices;
use super::poles::{MOST, Pole, Wanted, poles, space};
use super::reach::{Unreached, unreached};
use super::sensitivities::Sensitivities;
use super::zeros::{Zeros, cancelled, zeros};
use crate::base::cancel::check;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::flat::VarId;

/// What is listed of a pole's states and parameters: smaller parts are left out.
const LEAST_PART: f64 = 0.01;

#[derive(Debug)]
pub struct Dynamics {
    pub poles: Vec<Described>,
    /// By input and output; empty for a large model.
    pub transfers: Vec<Transfer>,
    pub unreached: Unreached,
    /// Not all poles were computed.
    pub some: bool,
}

#[derive(Debug)]
pub struct Described {
    pub pole: Pole,
    /// States by their places, with their parts.
    pub states: Vec<(usize, f64)>,
    /// Those that matter most first.
    pub sensitivities: Vec<(VarId, c64)>,
}

#[derive(Debug)]
pub struct Transfer {
    pub input: usize,
    pub output: usize,
    pub of: Zeros,
    pub cancelled: Vec<bool>,
}

/// Computes it. `steady`: the point is one at which nothing moves, and follows the parameters.
pub fn dynamics(
    linear: &mut Linearised,
    matrices: &Matrices,
    wanted: Wanted,
    steady: bool,
) -> Result<Dynamics, Box<Diagnostic>> {
    checked(linear, wanted)?;
    let size = linear.states.len();
    let Some(found) = poles(linear, matrices, wanted) else {
        let flat = linear.flat();
        let message = format!(
            "the poles of `{}` cannot be computed at this point",
            flat.model()
        );
        let diagnostic = Diagnostic::new(Code::NoSlope, message);
        let diagnostic = diagnostic.at(flat.instances[0].class_span, "in this model");
        return Err(Box::new(
            diagnostic.hint("linearise at another point, by `--at` or `--at-time`"),
        ));
    };
    let mut sensitivities = Sensitivities::new(linear, matrices, steady);
    let described = (found.iter())
        .map(|pole| {
            check();
            let slopes = sensitivities.as_mut().map(|of| of.of(linear, pole));
            Described {
                states: match pole.multiple || pole.left.is_empty() {
                    // Each vector of a multiple pole is as good as another; right vectors alone show where it is.
                    true => together(matrices, &found, pole),
                    false => pole.participations(LEAST_PART),
                },
                sensitivities: slopes.unwrap_or_default(),
                pole: pole.clone(),
            }
        })
        .collect();
    let mut transfers = Vec::new();
    if size < MOST {
        let all = match wanted {
            Wanted::All => found.clone(),
            _ => poles(linear, matrices, Wanted::All).unwrap_or_default(),
        };
        let values: Vec<c64> = all.iter().map(|pole| pole.value).collect();
        for input in 0..linear.inputs.len() {
            for output in 0..linear.outputs.len() {
                check();
                if let Some(of) = zeros(matrices, input, output) {
                    transfers.push(Transfer {
                        input,
                        output,
                        cancelled: cancelled(&of.zeros, &values),
                        of,
                    });
                }
            }
        }
        let unreached = unreached(matrices, &all);
        return Ok(Dynamics {
            some: found.len() < size,
            poles: described,
            transfers,
            unreached,
        });
    }
    Ok(Dynamics {
        some: true,
        poles: described,
        transfers,
        unreached: unreached(matrices, &found),
    })
}

/// Refuses what has no poles, and all poles of a large model.
pub fn checked(linear: &Linearised, wanted: Wanted) -> Result<(), Box<Diagnostic>> {
    let flat = linear.flat();
    let (model, size) = (flat.model(), linear.states.len());
    let (code, message, cure) = if size == 0 {
        let message = format!("`{model}` has no states, and so no poles");
        let cure = "nothing is differentiated: `bgm linearize` tells D, `bgm solve --at` values";
        (Code::NoStates, message, cure)
    } else if size >= MOST && wanted == Wanted::All {
        let message = format!(
            "`{model}` has {size} states: from {MOST} on only the poles that are wanted are computed"
        );
        let cure = "`--near 0` computes those next to 0, `--rightmost 6` the six that decay last";
        (Code::ManyStates, message, cure)
    } else {
        return Ok(());
    };
    let diagnostic =
        Diagnostic::new(code, message).at(flat.instances[0].class_span, "in this model");
    Err(Box::new(diagnostic.hint(cure)))
}

/// Of a multiple pole: the states in the space that belongs to all of its parts, by their parts in a projector on it.
fn together(matrices: &Matrices, all: &[Pole], pole: &Pole) -> Vec<(usize, f64)> {
    let near = |other: &&Pole| (other.value - pole.value).norm() <= 1e-6 * pole.value.norm();
    let weights = space(matrices, pole.value, all.iter().filter(near).count().max(1));
    let sum: f64 = weights.iter().sum();
    let mut found: Vec<(usize, f64)> = (weights.iter().enumerate())
        .map(|(at, weight)| (at, weight / sum))
        .filter(|&(_, part)| part >= LEAST_PART)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

impl Dynamics {
    /// Warns of multiple poles.
    pub fn multiples(&self, linear: &Linearised) -> Option<Diagnostic> {
        let multiple: Vec<&Described> = self.poles.iter().filter(|of| of.pole.multiple).collect();
        let first = multiple.first()?;
        let flat = linear.flat();
        let show = crate::expr::show_briefly;
        let value = first.pole.value;
        let place = match value.im == 0.0 {
            true => show(value.re),
            false => format!("{} + {}i", show(value.re), show(value.im.abs())),
        };
        let mut states: Vec<usize> = (multiple.iter())
            .flat_map(|of| of.states.iter().map(|&(at, _)| at))
            .collect();
        states.sort_unstable();
        states.dedup();
        let names: Vec<String> = (states.iter().take(6))
            .map(|&at| format!("`{}`", linear.name(linear.states[at])))
            .collect();
        let message = format!("a multiple pole near {place}: it has no sensitivities");
        Some(
            Diagnostic::new(Code::MultiplePole, message)
                .at(flat.instances[0].class_span, "in this model")
                .note(format!("states in it: {}", names.join(", ")))
                .hint("a slightly different parameter parts them: `--set NAME=VALUE`"),
        )
    }
}
