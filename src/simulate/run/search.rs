//! The search for a consistent mode, where the event iteration comes back to a snapshot that it had before.
//!
//! A mode is consistent if no discrete variable has a next value other than its value. A relation whose sides are equal and
//! do not move is a tie: both truths are possible, and the search chooses the one that leaves fewer contradictions.

use crate::base::cancel::glance;
use rustc_hash::FxHashSet;

use super::iterate::{MOST_PASSES, Snapshot, apply};
use super::{Run, RunError};
use crate::expr::Node;
use crate::simulate::events::{Change, LastChange, Verdict, next_values, no_convergence};

impl Run<'_, '_, '_, '_> {
    /// Goes through modes until one is consistent. In each, the first switch whose next position contradicts its position
    /// changes (Murty's least-index rule); if the mode that it leads to is impossible, another switch changes with it. No
    /// mode is tried twice.
    pub(super) fn search_mode(&mut self, time: f64, momentary: &[usize]) -> Result<(), RunError> {
        let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut refused: Option<RunError> = None;
        let bits = |values: &Snapshot| values.iter().map(|value| value.to_bits()).collect();
        for _ in 0..MOST_PASSES {
            glance();
            if let Err(why) = self.evaluate_in_mode(time)? {
                return Err(refused.unwrap_or(why));
            }
            if self.decide_certain(momentary) {
                if !seen.insert(bits(&self.snapshot())) {
                    break;
                }
                continue;
            }
            let contradictions = self.contradictions(time, momentary)?;
            if contradictions.is_empty() {
                return Ok(());
            }
            seen.insert(bits(&self.snapshot()));
            let here = self.snapshot();
            let mut moved = false;
            for &change in &contradictions {
                self.restore(&here);
                apply(&mut self.mode.rates.machine.borrow_mut(), &[change]);
                let there = self.snapshot();
                if seen.contains(&bits(&there)) {
                    continue;
                }
                match self.evaluate_in_mode(time)? {
                    Ok(()) => moved = true,
                    Err(why) => {
                        refused = Some(why);
                        moved = self.enter_with_companion(time, change, &seen)?;
                    }
                }
                if moved {
                    break;
                }
            }
            if !moved {
                self.restore(&here);
                break;
            }
        }
        if let Some(why) = refused {
            return Err(why);
        }
        let machine = self.mode.rates.machine.borrow();
        let shown = next_values(&machine).last().map(LastChange::Change);
        Err(no_convergence(self.mode.solved, machine.program, shown, time, false).into())
    }

    /// Sets the truths of all relations that are no ties; true if one has changed.
    fn decide_certain(&mut self, momentary: &[usize]) -> bool {
        let is_held = self.held_at_zero();
        let mut machine = self.mode.rates.machine.borrow_mut();
        let all = (self.events).judge(&mut machine, momentary, &self.iteration.impulses);
        let mut changed = false;
        for judgement in all {
            let watch = &machine.program.watches[judgement.at];
            let decided = match judgement.verdict {
                Verdict::Certain(decided) | Verdict::Moving(decided) => decided,
                Verdict::Tie if is_held[judgement.at] => judgement.as_written(watch),
                Verdict::Tie => continue,
            };
            let held = watch.held;
            if machine.get(held) != decided {
                machine.set(held, decided);
                changed = true;
            }
        }
        changed
    }

    /// Discrete variables whose next value is not their value. Each tie is given the truth that leaves fewer of them.
    fn contradictions(&mut self, time: f64, momentary: &[usize]) -> Result<Vec<Change>, RunError> {
        let is_held = self.held_at_zero();
        let ties: Vec<u32> = {
            let mut machine = self.mode.rates.machine.borrow_mut();
            let all = (self.events).judge(&mut machine, momentary, &self.iteration.impulses);
            (all.iter())
                .filter(|judgement| judgement.verdict == Verdict::Tie && !is_held[judgement.at])
                .map(|judgement| machine.program.watches[judgement.at].held)
                .collect()
        };
        let mut contradictions = self.next_values();
        for register in ties {
            if contradictions.is_empty() {
                break;
            }
            let held = self.mode.rates.machine.borrow().get(register);
            // What is held for `floor` or `sign` has more than two values and is left alone.
            if held != 0.0 && held != 1.0 {
                continue;
            }
            let key = self.key();
            (self.mode.rates.machine.borrow_mut()).set(register, 1.0 - held);
            self.evaluate_event(time)?;
            let fewer = self.next_values();
            if fewer.len() < contradictions.len() && self.key() == key {
                contradictions = fewer;
                continue;
            }
            self.mode.rates.machine.borrow_mut().set(register, held);
            self.evaluate_event(time)?;
        }
        self.iteration.at_entry = Some(self.snapshot());
        Ok(contradictions)
    }

    fn next_values(&self) -> Vec<Change> {
        next_values(&self.mode.rates.machine.borrow()).collect()
    }

    /// After a change that leads into an impossible mode: changes one more internally controlled switch, the one that
    /// leaves the fewest contradictions. True if there is such a switch; the run is in the mode found then.
    fn enter_with_companion(
        &mut self,
        time: f64,
        change: Change,
        seen: &FxHashSet<Vec<u64>>,
    ) -> Result<bool, RunError> {
        let tried = self.snapshot();
        let mut best: Option<(usize, Snapshot)> = None;
        for register in self.internal_switches(&[change]) {
            self.restore(&tried);
            {
                let mut machine = self.mode.rates.machine.borrow_mut();
                let value = 1.0 - machine.get(register);
                machine.set(register, value);
            }
            let there = self.snapshot();
            let bits: Vec<u64> = there.iter().map(|value| value.to_bits()).collect();
            if seen.contains(&bits) || self.evaluate_in_mode(time)?.is_err() {
                continue;
            }
            for _ in 0..10 {
                glance();
                if !self.decide_certain(&[]) {
                    break;
                }
                self.evaluate_event(time)?;
            }
            let count = self.contradictions(time, &[])?.len();
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                best = Some((count, there));
            }
        }
        let Some((_, there)) = best else {
            return Ok(false);
        };
        self.restore(&there);
        Ok(self.evaluate_in_mode(time)?.is_ok())
    }

    /// The registers of internally controlled switches: those, such as diodes, whose condition is a discrete variable with a
    /// next value. Those that `changes` contains are left out.
    fn internal_switches(&self, changes: &[Change]) -> Vec<u32> {
        let Some(positions) = self.modes.positions else {
            return Vec::new();
        };
        let discretes = &self.mode.program.discretes;
        (positions.switches.iter())
            .filter_map(|switch| {
                let Node::Leaf(leaf) = positions.flat.exprs.node(switch.condition) else {
                    return None;
                };
                let at = discretes
                    .iter()
                    .position(|discrete| discrete.leaf == leaf)?;
                let changed = (changes.iter())
                    .any(|change| matches!(change, Change::Discrete(other, _) if *other == at));
                let free = discretes[at].next.is_some() && !changed;
                free.then_some(discretes[at].value)
            })
            .collect()
    }

    /// Changes one or two more of the internally controlled switches until the mode is possible, but none that `changes`
    /// contains. True if there is such a mode; the run is in it then.
    pub(super) fn enter_with_switches(
        &mut self,
        time: f64,
        changes: &[Change],
    ) -> Result<bool, RunError> {
        let internal = self.internal_switches(changes);
        let singles = (0..internal.len()).map(|a| vec![a]);
        let pairs = (0..internal.len().min(16))
            .flat_map(|a| (a + 1..internal.len().min(16)).map(move |b| vec![a, b]));
        let snapshot = self.snapshot();
        for more in singles.chain(pairs) {
            glance();
            {
                let mut machine = self.mode.rates.machine.borrow_mut();
                for &at in &more {
                    let value = 1.0 - machine.get(internal[at]);
                    machine.set(internal[at], value);
                }
            }
            if self.evaluate_in_mode(time)?.is_ok() {
                return Ok(true);
            }
            self.restore(&snapshot);
        }
        Ok(false)
    }
}
