//! Jumps of states where a mode begins: which variables jump, and how much energy is lost.
//!
//! Charges, fluxes and momenta are conserved in a jump ([`crate::positions::Jump`]). A difference within the tolerances of the
//! run is not reported as a jump: the state is set to the value that the constraints of the mode require.
//! The energy lost at a port is the impulse of one of its variables times the mean of the other one before and after: switches take
//! it; a source that steps gives it.

use std::fmt;

use rustc_hash::FxHashSet;

use super::{Run, RunError};
use crate::expr::show_briefly;
use crate::flat::{EqId, Equation, Flat, InstanceId, Kind, Leaf, Type, VarId};
use crate::passes::power::{Power, Powers, Terms};
use crate::positions::{Before, Jump, Jumped, Positions, Refused, Switch, Values, differentiated};
use crate::simulate::events::restart;
use crate::simulate::mode_instance::ModeInstance;

/// A jump of states, as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct JumpRecord {
    pub time: f64,
    /// Variable, value before, value after.
    pub changes: Vec<(String, f64, f64)>,
    /// The energy that the switches have taken; `None` if they have no ports.
    pub lost: Option<f64>,
    /// Impulses on switches, and on what steps.
    pub impulses: Vec<(String, f64)>,
    /// The energy that each submodel that steps, and is no switch, has given.
    pub given: Vec<(String, f64)>,
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
        if let Some(lost) = self.lost {
            write!(f, "; energy lost {}", show_briefly(lost))?;
        }
        for (name, given) in &self.given {
            let does = if *given < 0.0 { "takes" } else { "gives" };
            write!(
                f,
                "; {name} {does} the energy {}",
                show_briefly(given.abs())
            )?;
        }
        Ok(())
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
        let starting = self.iteration.starting;
        let free = match starting {
            true => follow_at_start(flat),
            false => FxHashSet::default(),
        };
        let from = Before {
            values: &values,
            free: &free,
            restarts: &[],
        };
        let jumped = jump.solve(flat, time, from, scale, &mut mode.factors.borrow_mut())?;
        let leaf_jumps = |leaf: Leaf| {
            let (from, to) = (before.get(&leaf), jumped.after.get(&leaf));
            matches!((from, to), (Some(from), Some(to)) if (to - from).abs() > self.tolerance(leaf))
        };
        let jumps = differentiated(&positions.written).any(leaf_jumps);
        if jumps && !starting {
            jump.keeps_coefficients(flat, time, (before, &values), leaf_jumps)?;
        }
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

    /// Goes on from the values that `when`s give to states. A state that a constraint ties to others jumps together with them.
    pub(super) fn restart(&mut self, time: f64, restarts: &[(Leaf, f64)]) -> Result<(), RunError> {
        let mode = self.mode;
        let flat = &mode.solved.flat;
        let jump = mode.compiled.and_then(|compiled| compiled.jump.as_ref());
        let tied = jump.filter(|jump| restarts.iter().any(|&(leaf, _)| jump.ties(flat, leaf)));
        let Some(jump) = tied else {
            let mut machine = mode.rates.machine.borrow_mut();
            for &(state, value) in restarts {
                let states = &mut self.states;
                restart(
                    mode.solved,
                    &mut machine,
                    &mode.selections,
                    states,
                    state,
                    value,
                );
            }
            return Ok(());
        };
        // What has jumped in the same event did so before.
        self.record_jump(time);
        self.iteration.before = self.current_values();
        let key = mode.compiled.map_or(&[][..], |compiled| &compiled.key);
        let free = FxHashSet::default();
        let from = Before {
            values: &self.iteration.before,
            free: &free,
            restarts,
        };
        let scales = &self.iteration.scales;
        let scale = |leaf: Leaf| scales.get(&leaf).copied().unwrap_or(0.0);
        let factors = &mut mode.factors.borrow_mut();
        let jumped = (jump.solve(flat, time, from, scale, factors))
            .map_err(|why| self.no_jump(mode, key, time, &why))?;
        self.states = self.states_after(mode, Some(&jumped.after));
        self.last_good.clone_from(&self.states);
        self.iteration.jump = Some(PendingJump {
            values: self.iteration.before.clone(),
            jumped,
            linear: jump.is_linear(),
        });
        self.evaluate_event(time)?;
        self.record_jump(time);
        Ok(())
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
            // At the start there is no mode before. The mean gives the energy for linear storages only.
            let known = !self.iteration.starting && pending.linear;
            let told = Told::new(positions, &pending.jumped.impulses, before, &after);
            let record = JumpRecord {
                time,
                changes,
                lost: known.then(|| told.lost()).flatten(),
                given: if known { told.given() } else { Vec::new() },
                impulses: told.impulses(),
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

/// What is told of a jump.
struct Told<'t> {
    flat: &'t Flat,
    positions: &'t Positions,
    powers: Powers,
    impulses: &'t Values,
    before: &'t Values,
    after: &'t Values,
    /// Equations in which a truth or a discrete variable has changed; those of switches are none of them.
    stepped: Vec<&'t Equation>,
}

impl<'t> Told<'t> {
    fn new(
        positions: &'t Positions,
        impulses: &'t Values,
        before: &'t Values,
        after: &'t Values,
    ) -> Told<'t> {
        let (flat, opened) = (&positions.written, &positions.flat);
        let changed = |leaf: Leaf| {
            let variable = opened.variable(leaf.variable());
            let keeps = variable.kind == Kind::Discrete || variable.ty == Type::Boolean;
            keeps && before.get(&leaf) != after.get(&leaf)
        };
        // The equations that were written come first, in the same order.
        let stepped = (flat.equations.iter().zip(&opened.equations).enumerate())
            .filter(|(at, (equation, opened_equation))| {
                let mut steps = false;
                for side in [opened_equation.left, opened_equation.right] {
                    opened.exprs.leaves(side, |leaf| steps |= changed(leaf));
                }
                let mut switches = positions.written_switches.iter();
                let of_switch = |switch: &Switch| switch.equations.contains(&EqId(*at as u32));
                steps && equation.kind.is_continuous() && !switches.any(of_switch)
            })
            .map(|(_, (equation, _))| equation)
            .collect();
        Told {
            flat,
            positions,
            powers: Powers::new(flat),
            impulses,
            before,
            after,
            stepped,
        }
    }

    /// The energy that a submodel takes at its ports; `None` if it has none.
    fn taken_by(&self, submodel: InstanceId) -> Option<f64> {
        let Power::Is(pairs) = self.powers.of_instance(self.flat, submodel) else {
            return None;
        };
        let sum = |terms: &Terms, value: &dyn Fn(Leaf) -> f64| -> f64 {
            let signed = terms.iter().map(|&(negative, id)| {
                let value = value(Leaf::Var(id));
                if negative { -value } else { value }
            });
            signed.sum()
        };
        let impulse = |leaf: Leaf| self.impulses.get(&leaf).copied().unwrap_or(0.0);
        let mean = |leaf: Leaf| {
            let of = |values: &Values| values.get(&leaf).copied().unwrap_or(0.0);
            0.5 * (of(self.before) + of(self.after))
        };
        let of_port = |(across, through): &(Terms, Terms)| {
            sum(across, &impulse) * sum(through, &mean)
                + sum(across, &mean) * sum(through, &impulse)
        };
        Some(pairs.iter().map(of_port).sum())
    }

    /// The energy that the switches take; `None` if there are none, or one has no ports, or shares a submodel with another one.
    fn lost(&self) -> Option<f64> {
        let submodels = switch_submodels(self.positions);
        if submodels.is_empty() || submodels.len() < self.positions.written_switches.len() {
            return None;
        }
        (submodels.into_iter())
            .map(|submodel| self.taken_by(submodel))
            .sum()
    }

    /// Submodels that step, each once: those of the equations, and those that the equations of a model steer. Storages and switches
    /// are none: what goes into them is known.
    fn stepping(&self) -> Vec<InstanceId> {
        let mut found: Vec<InstanceId> = Vec::new();
        for equation in &self.stepped {
            found.push(equation.origin);
            for side in [equation.left, equation.right] {
                self.flat.exprs.leaves(side, |leaf| {
                    found.push(self.flat.variable(leaf.variable()).instance);
                });
            }
        }
        found.sort_unstable();
        found.dedup();
        let switches = switch_submodels(self.positions);
        let stores = |submodel: InstanceId| {
            let mut all = self.flat.variables.iter();
            all.any(|variable| variable.instance == submodel && variable.order > 0)
        };
        found.retain(|&submodel| {
            submodel != InstanceId::TOP && !switches.contains(&submodel) && !stores(submodel)
        });
        found
    }

    fn given(&self) -> Vec<(String, f64)> {
        let known = (self.stepping().into_iter())
            .filter_map(|submodel| Some((self.flat.path(submodel), -self.taken_by(submodel)?)));
        known.filter(|&(_, given)| given != 0.0).collect()
    }

    /// Impulses of the variables that occur in the equations of switches and in equations that step, and of submodels that step.
    fn impulses(&self) -> Vec<(String, f64)> {
        let flat = self.flat;
        let mut leaves: Vec<Leaf> = Vec::new();
        let of_switches = (self.positions.written_switches.iter())
            .flat_map(|switch| &switch.equations)
            .map(|id| &flat.equations[id.index()]);
        for equation in of_switches.chain(self.stepped.iter().copied()) {
            for side in [equation.left, equation.right] {
                flat.exprs.leaves(side, |leaf| leaves.push(leaf));
            }
        }
        for submodel in self.stepping() {
            let Power::Is(pairs) = self.powers.of_instance(flat, submodel) else {
                continue;
            };
            let through = pairs.iter().flat_map(|(_, through)| through);
            leaves.extend(through.map(|&(_, id)| Leaf::Var(id)));
            let at_ports: FxHashSet<VarId> = (pairs.iter())
                .flat_map(|(across, through)| across.iter().chain(through))
                .map(|&(_, id)| id)
                .collect();
            // The voltage of a part tells more than the potentials of its pins.
            let own = flat
                .variable_ids()
                .filter(|id| flat.variable(*id).instance == submodel && !at_ports.contains(id));
            leaves.extend(own.map(Leaf::Var));
        }
        let mut seen: FxHashSet<Leaf> = FxHashSet::default();
        (leaves.into_iter())
            .filter(|&leaf| seen.insert(leaf))
            .filter_map(|leaf| Some((flat.leaf_name(leaf), *self.impulses.get(&leaf)?)))
            .collect()
    }
}

/// Former states for which nobody gave a start value: at the start they follow from others.
fn follow_at_start(flat: &Flat) -> FxHashSet<Leaf> {
    let given = |leaf: Leaf| matches!(leaf, Leaf::Var(id) if flat.start(id).is_some());
    let dropped = (flat.reduction.iter()).flat_map(|reduction| &reduction.dropped);
    (dropped.map(|dropped| dropped.state))
        .filter(|&leaf| !given(leaf))
        .collect()
}
