//! Jumps of states where a mode begins: which variables jump, and how much energy is lost.
//!
//! Charges, fluxes and momenta are conserved in a jump ([`crate::positions::Jump`]). A difference within the tolerances of the
//! run is not reported as a jump: the state is set to the value that the constraints of the mode require.
//! The energy lost at a port is the impulse of one of its variables times the mean of the other one before and after.

use std::fmt;

use super::Run;
use crate::expr::show_briefly;
use crate::flat::{Flat, InstanceId, Kind, Leaf, Type};
use crate::passes::power::{Power, Powers, Terms};
use crate::positions::{Jump, Jumped, Positions, Refused, Values, differentiated};
use crate::simulate::mode_instance::ModeInstance;

/// A jump of states, as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct JumpRecord {
    pub time: f64,
    /// Variable, value before, value after.
    pub changes: Vec<(String, f64, f64)>,
    /// The energy that the switches have taken; `None` if they have no ports.
    pub lost: Option<f64>,
    /// Impulses on switches.
    pub impulses: Vec<(String, f64)>,
}

/// `at Time = 1, C1.u jumps from 1 to 0.5, C2.u from 0 to 0.5; energy lost 0.25`
impl fmt::Display for JumpRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at Time = {}, ", show_briefly(self.time))?;
        for (at, (name, from, to)) in self.changes.iter().enumerate() {
            let (comma, jumps) = if at == 0 { ("", " jumps") } else { (", ", "") };
            let (from, to) = (show_briefly(*from), show_briefly(*to));
            write!(f, "{comma}{name}{jumps} from {from} to {to}")?;
        }
        for (at, (name, impulse)) in self.impulses.iter().enumerate() {
            let separator = if at == 0 { "; " } else { ", " };
            let impulse = show_briefly(*impulse);
            write!(f, "{separator}{name} has an impulse of {impulse}")?;
        }
        match self.lost {
            Some(lost) => write!(f, "; energy lost {}", show_briefly(lost)),
            None => Ok(()),
        }
    }
}

/// Further jumps are counted, but not stored.
const MOST_RECORDS: usize = 1_000;

/// A jump into a mode that the event iteration may still leave.
#[derive(Clone, Debug)]
pub(super) struct PendingJump {
    /// The values at which the coefficients were evaluated.
    values: Values,
    jumped: Jumped,
    linear: bool,
}

impl PendingJump {
    /// An error if the coefficients differ after the jump.
    pub(super) fn check_coefficients(
        &self,
        flat: &Flat,
        jump: &Jump,
        time: f64,
        after: &Values,
    ) -> Result<(), Refused> {
        jump.one_way(flat, time, (&self.values, after), &self.jumped)
    }
}

impl<'m> Run<'_, 'm, '_, '_> {
    /// The values of all variables when the event was last evaluated.
    pub(super) fn current_values(&self) -> Values {
        let machine = self.mode.rates.machine.borrow();
        (self.mode.program.frame.iter())
            .map(|&(leaf, register)| (leaf, machine.get(register)))
            .collect()
    }

    /// The same, but with the start values that the user gave.
    pub(super) fn given_start_values(&self) -> Values {
        let mut values = self.current_values();
        if let Some(positions) = self.modes.positions {
            for leaf in differentiated(&positions.written) {
                if let Leaf::Var(id) = leaf
                    && let Some(given) = positions.written.start(id)
                    && let Some(value) = given.value.real()
                {
                    values.insert(leaf, value);
                }
            }
        }
        values
    }

    /// The values with which a mode begins; `None` if the values before the event satisfy its constraints.
    pub(super) fn find_jump(
        &mut self,
        mode: &ModeInstance<'m>,
        jump: &Jump,
        time: f64,
    ) -> Result<Option<Values>, Refused> {
        let Some(positions) = self.modes.positions else {
            return Ok(None);
        };
        let flat = &mode.solved.flat;
        self.update_scales(positions);
        let before = &self.iteration.before;
        let mut values = before.clone();
        self.complete_values(mode, jump, time, &mut values);
        if jump.holds(flat, time, &values) {
            return Ok(None);
        }
        let scales = &self.iteration.scales;
        let scale = |leaf: Leaf| scales.get(&leaf).copied().unwrap_or(0.0);
        let jumped = jump.solve(flat, time, &values, scale)?;
        let tolerance = |leaf: Leaf| self.tolerance(leaf);
        let jumps = differentiated(&positions.written).any(|leaf| {
            let (from, to) = (before.get(&leaf), jumped.after.get(&leaf));
            matches!((from, to), (Some(from), Some(to)) if (to - from).abs() > tolerance(leaf))
        });
        let after = jumped.after.clone();
        if jumps {
            self.iteration.impulses = self.impulses_of_sides(&jumped.impulses);
            self.iteration.jump = Some(PendingJump {
                values,
                jumped,
                linear: jump.is_linear(),
            });
        }
        Ok(Some(after))
    }

    /// Smaller differences are no jumps: they come from errors of the steps or of the location of the event.
    fn tolerance(&self, leaf: Leaf) -> f64 {
        /// Relative to the largest side of any relation: events are located to a few times 1e-13 of that.
        const LOCATED: f64 = 2e-12;
        let scale = self.iteration.scales.get(&leaf).copied().unwrap_or(0.0);
        let own = self.plan.absolute.all + self.plan.relative * scale;
        own.max(LOCATED * self.events.largest())
    }

    /// Adds values of variables that have none from the mode before, and the present truths: coefficients may depend on them.
    fn complete_values(
        &self,
        mode: &ModeInstance<'m>,
        jump: &Jump,
        time: f64,
        values: &mut Values,
    ) {
        let mut states = vec![0.0; mode.program.state_count()];
        let mut machine = mode.rates.machine.borrow_mut();
        for &(leaf, register) in &mode.program.fixed {
            if let (Leaf::Var(_) | Leaf::Der(..), Some(&value)) = (leaf, values.get(&leaf))
                && mode.solved.flat.variable(leaf.variable()).kind != Kind::Discrete
            {
                machine.set(register, value);
            }
        }
        machine.states(&mut states);
        if machine.evaluate_event(time, &states).is_err() {
            return;
        }
        let algebraic: rustc_hash::FxHashSet<Leaf> = jump.algebraic().collect();
        for &(leaf, register) in &mode.program.frame {
            let value = machine.get(register);
            let variable = mode.solved.flat.variable(leaf.variable());
            let now = variable.ty == Type::Boolean || variable.kind == Kind::Discrete;
            if (now || algebraic.contains(&leaf)) && value.is_finite() {
                values.insert(leaf, value);
            }
        }
    }

    /// Updates the scales of tracked variables after a step.
    pub(super) fn update_state_scales(&mut self) {
        for &(leaf, at) in &self.mode.tracked {
            let known = self.iteration.scales.entry(leaf).or_insert(0.0);
            *known = known.max(self.states[at].abs());
            self.events.note_size(self.states[at].abs());
        }
    }

    /// Updates the scales of all variables that the source differentiates from the values before the event.
    fn update_scales(&mut self, positions: &Positions) {
        for leaf in differentiated(&positions.written) {
            if let Some(value) = self.iteration.before.get(&leaf) {
                let known = self.iteration.scales.entry(leaf).or_insert(0.0);
                *known = known.max(value.abs());
            }
        }
    }

    /// Records the jump by which the present mode was entered, once the event iteration stays in this mode.
    pub(super) fn record_jump(&mut self, time: f64) {
        let Some(positions) = self.modes.positions else {
            return;
        };
        self.note_least_norm(positions, time);
        let Some(pending) = self.iteration.jump.take() else {
            return;
        };
        let after = self.current_values();
        let before = &self.iteration.before;
        let flat = &positions.written;
        let mut changes = Vec::new();
        for leaf in differentiated(flat) {
            if let (Some(&from), Some(&to)) = (before.get(&leaf), after.get(&leaf))
                && (to - from).abs() > self.tolerance(leaf)
            {
                changes.push((flat.leaf_name(leaf), from, to));
            }
        }
        self.summary.jump_count += 1;
        if self.summary.jumps.len() < MOST_RECORDS {
            let record = JumpRecord {
                time,
                changes,
                // At the start there is no mode before. The mean gives the energy for linear storages only.
                lost: match self.iteration.starting || !pending.linear {
                    true => None,
                    false => lost_energy(positions, &pending.jumped.impulses, before, &after),
                },
                impulses: impulses_on_switches(positions, &pending.jumped.impulses),
            };
            self.summary.jumps.push(record);
        }
    }

    /// Writes a note if the present mode does not determine all values, once for each set of switches.
    fn note_least_norm(&mut self, positions: &Positions, time: f64) {
        let Some(compiled) = self.mode.compiled else {
            return;
        };
        for loose in &compiled.loose {
            if !self.iteration.reported.insert(loose.switches.clone()) {
                continue;
            }
            let names = (loose.switches.iter()).map(|&at| {
                let word = positions.word(at, compiled.key[at]);
                format!("`{}` {word}", positions.switch_name(at))
            });
            let names: Vec<String> = names.collect();
            self.summary.notes.push(format!(
                "with {}, not everything is determined: the solution of least norm is taken, first at Time = {}",
                names.join(", "),
                show_briefly(time)
            ));
        }
    }
}

/// Submodels with a switch, each once.
fn switch_submodels(positions: &Positions) -> Vec<InstanceId> {
    let mut submodels: Vec<InstanceId> = (positions.written_switches.iter())
        .map(|switch| switch.origin)
        .filter(|&origin| origin != InstanceId::TOP)
        .collect();
    submodels.sort_unstable();
    submodels.dedup();
    submodels
}

/// The energy that the switches take; `None` if a switch has no ports, or shares a submodel with another switch.
fn lost_energy(
    positions: &Positions,
    impulses: &Values,
    before: &Values,
    after: &Values,
) -> Option<f64> {
    let flat = &positions.written;
    let powers = Powers::new(flat);
    let submodels = switch_submodels(positions);
    if submodels.is_empty() || submodels.len() < positions.written_switches.len() {
        return None;
    }
    let sum = |terms: &Terms, value: &dyn Fn(Leaf) -> f64| -> f64 {
        let signed = terms.iter().map(|&(negative, id)| {
            let value = value(Leaf::Var(id));
            if negative { -value } else { value }
        });
        signed.sum()
    };
    let impulse = |leaf: Leaf| impulses.get(&leaf).copied().unwrap_or(0.0);
    let mean = |leaf: Leaf| {
        let of = |values: &Values| values.get(&leaf).copied().unwrap_or(0.0);
        0.5 * (of(before) + of(after))
    };
    let mut total = 0.0;
    for submodel in submodels {
        let Power::Is(pairs) = powers.of_instance(flat, submodel) else {
            return None;
        };
        for (across, through) in &pairs {
            total += sum(across, &impulse) * sum(through, &mean);
            total += sum(across, &mean) * sum(through, &impulse);
        }
    }
    Some(total)
}

/// Impulses of the variables that occur in the equations of switches.
fn impulses_on_switches(positions: &Positions, impulses: &Values) -> Vec<(String, f64)> {
    let flat = &positions.written;
    let mut leaves: Vec<Leaf> = Vec::new();
    for switch in &positions.written_switches {
        for id in &switch.equations {
            let equation = &flat.equations[id.index()];
            for side in [equation.left, equation.right] {
                flat.exprs.leaves(side, |leaf| {
                    if !leaves.contains(&leaf) {
                        leaves.push(leaf);
                    }
                });
            }
        }
    }
    (leaves.into_iter())
        .filter_map(|leaf| Some((flat.leaf_name(leaf), *impulses.get(&leaf)?)))
        .collect()
}
