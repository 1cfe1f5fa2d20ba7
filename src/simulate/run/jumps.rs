//! Jumps of states where a position begins: when they happen, what they cost.
//!
//! What the source differentiates is conserved as charge, flux or momentum ([`crate::positions::Jump`]). A difference
//! within the tolerances of the run is none: the state is put where the position wants it, and nothing is said.
//! The energy lost at a port is the impulse of one of its variables times the mean of the other before and after.

use std::fmt;

use super::Run;
use crate::expr::show_briefly;
use crate::flat::{Flat, InstanceId, Kind, Leaf, Type};
use crate::passes::power::{Power, Powers, Terms};
use crate::positions::{Jump, Jumped, Positions, Refused, Values, differentiated};
use crate::simulate::seat::Seat;

/// States that jumped.
#[derive(Clone, Debug, PartialEq)]
pub struct Leap {
    pub time: f64,
    /// Variable, before, after.
    pub changes: Vec<(String, f64, f64)>,
    /// What the switches have taken, where they have ports.
    pub lost: Option<f64>,
    /// Impulses on switches.
    pub impulses: Vec<(String, f64)>,
}

/// `at Time = 1, C1.u jumps from 1 to 0.5, C2.u from 0 to 0.5; energy lost 0.25`
impl fmt::Display for Leap {
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

/// More than this many are counted, and not kept.
const KEPT: usize = 1_000;

/// A jump that may yet be given up for another position.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// What coefficients were evaluated at.
    values: Values,
    jumped: Jumped,
    linear: bool,
}

impl Pending {
    /// Whether the coefficients are the same after the jump; refused otherwise.
    pub(super) fn is_sure(
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
    /// All values at the event as it was evaluated last.
    pub(super) fn frame(&self) -> Values {
        let machine = self.seat.rates.machine.borrow();
        (self.seat.program.frame.iter())
            .map(|&(leaf, register)| (leaf, machine.get(register)))
            .collect()
    }

    /// The same, but start values that were given as they were given.
    pub(super) fn given(&self) -> Values {
        let mut values = self.frame();
        if let Some(positions) = self.seats.positions {
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

    /// What jumps when a position begins; `None` if nothing does.
    pub(super) fn leap(
        &mut self,
        seat: &Seat<'m>,
        jump: &Jump,
        time: f64,
    ) -> Result<Option<Values>, Refused> {
        let Some(positions) = self.seats.positions else {
            return Ok(None);
        };
        let flat = &seat.solved.flat;
        self.measure(positions);
        let before = &self.standing.before;
        let mut values = before.clone();
        self.finite_here(seat, jump, time, &mut values);
        if jump.holds(flat, time, &values) {
            return Ok(None);
        }
        let scales = &self.standing.scales;
        let scale = |leaf: Leaf| scales.get(&leaf).copied().unwrap_or(0.0);
        let jumped = jump.solve(flat, time, &values, scale)?;
        let tolerance = |leaf: Leaf| self.tolerance(leaf);
        let jumps = differentiated(&positions.written).any(|leaf| {
            let (from, to) = (before.get(&leaf), jumped.after.get(&leaf));
            matches!((from, to), (Some(from), Some(to)) if (to - from).abs() > tolerance(leaf))
        });
        let after = jumped.after.clone();
        if jumps {
            self.standing.impulses = self.impulses_of_sides(&jumped.impulses);
            self.standing.leap = Some(Pending {
                values,
                jumped,
                linear: jump.is_linear(),
            });
        }
        Ok(Some(after))
    }

    /// A smaller difference is none: it comes from the steps, or from locating the event.
    fn tolerance(&self, leaf: Leaf) -> f64 {
        /// Beside the largest side of a relation: events are located to a few times 1e-13 of that.
        const LOCATED: f64 = 2e-12;
        let scale = self.standing.scales.get(&leaf).copied().unwrap_or(0.0);
        let own = self.plan.absolute.all + self.plan.relative * scale;
        own.max(LOCATED * self.events.largest())
    }

    /// Values of what has none of the old position, and truths as they are now: coefficients may depend on them.
    fn finite_here(&self, seat: &Seat<'m>, jump: &Jump, time: f64, values: &mut Values) {
        let mut states = vec![0.0; seat.program.state_count()];
        let mut machine = seat.rates.machine.borrow_mut();
        for &(leaf, register) in &seat.program.fixed {
            if let (Leaf::Var(_) | Leaf::Der(..), Some(&value)) = (leaf, values.get(&leaf))
                && seat.solved.flat.variable(leaf.variable()).kind != Kind::Discrete
            {
                machine.set(register, value);
            }
        }
        machine.states(&mut states);
        if machine.evaluate_event(time, &states).is_err() {
            return;
        }
        let algebraic: rustc_hash::FxHashSet<Leaf> = jump.algebraic().collect();
        for &(leaf, register) in &seat.program.frame {
            let value = machine.get(register);
            let variable = seat.solved.flat.variable(leaf.variable());
            let now = variable.ty == Type::Boolean || variable.kind == Kind::Discrete;
            if (now || algebraic.contains(&leaf)) && value.is_finite() {
                values.insert(leaf, value);
            }
        }
    }

    /// Remembers how large the states are, step by step.
    pub(super) fn measure_states(&mut self) {
        for &(leaf, at) in &self.seat.tracked {
            let known = self.standing.scales.entry(leaf).or_insert(0.0);
            *known = known.max(self.states[at].abs());
            self.events.note(self.states[at].abs());
        }
    }

    /// Remembers how large what is differentiated has been.
    fn measure(&mut self, positions: &Positions) {
        for leaf in differentiated(&positions.written) {
            if let Some(value) = self.standing.before.get(&leaf) {
                let known = self.standing.scales.entry(leaf).or_insert(0.0);
                *known = known.max(value.abs());
            }
        }
    }

    /// The position is settled: what has jumped is told.
    pub(super) fn landed(&mut self, time: f64) {
        let Some(positions) = self.seats.positions else {
            return;
        };
        if let Some(position) = self.seat.position {
            for loose in &position.loose {
                if self.standing.told.insert(loose.switches.clone()) {
                    let names = (loose.switches.iter()).map(|&at| {
                        let word = positions.word(at, position.key[at]);
                        format!("`{}` {word}", positions.switch_name(at))
                    });
                    let names: Vec<String> = names.collect();
                    self.summary.notes.push(format!(
                        "with {}, not everything is determined: the solution of least norm is taken, first at Time = {}",
                        names.join(", "),
                        crate::expr::show_briefly(time)
                    ));
                }
            }
        }
        let Some(pending) = self.standing.leap.take() else {
            return;
        };
        let after = self.frame();
        let before = &self.standing.before;
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
        if self.summary.jumps.len() < KEPT {
            let leap = Leap {
                time,
                changes,
                // At the start there is no position that was before; and the mean is the work of linear storages only.
                lost: match self.standing.starting || !pending.linear {
                    true => None,
                    false => lost(positions, &pending.jumped.impulses, before, &after),
                },
                impulses: on_switches(positions, &pending.jumped.impulses),
            };
            self.summary.jumps.push(leap);
        }
    }
}

/// Submodels with a switch, each once.
fn owners(positions: &Positions) -> Vec<InstanceId> {
    let mut owners: Vec<InstanceId> = (positions.written_switches.iter())
        .map(|switch| switch.origin)
        .filter(|&origin| origin != InstanceId::TOP)
        .collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// `None` where a switch has no ports, or shares them.
fn lost(positions: &Positions, impulses: &Values, before: &Values, after: &Values) -> Option<f64> {
    let flat = &positions.written;
    let powers = Powers::new(flat);
    let owners = owners(positions);
    if owners.is_empty() || owners.len() < positions.written_switches.len() {
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
    for owner in owners {
        let Power::Is(pairs) = powers.of_instance(flat, owner) else {
            return None;
        };
        for (across, through) in &pairs {
            total += sum(across, &impulse) * sum(through, &mean);
            total += sum(across, &mean) * sum(through, &impulse);
        }
    }
    Some(total)
}

/// Impulses of the variables that stand in the equations of switches.
fn on_switches(positions: &Positions, impulses: &Values) -> Vec<(String, f64)> {
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
