//! The search for a position that nothing is against, where the rounds of an event go round in a circle.

use crate::base::cancel::glance;
use rustc_hash::FxHashSet;

use super::settle::{Kept, MOST_ROUNDS, apply};
use super::{Halt, Run};
use crate::expr::Node;
use crate::simulate::events::{Change, Last, Verdict, next_values, restless};

impl Run<'_, '_, '_, '_> {
    /// Goes through positions until there is one that nothing is against: a relation whose sides are equal and do not move may be
    /// either. The first switch that is against its position goes into the other one (Murty's least-index rule);
    /// where that position is impossible, another one goes with it. No position is tried twice.
    pub(super) fn search(&mut self, time: f64, moments: &[usize]) -> Result<(), Halt> {
        let mut seen: FxHashSet<Vec<u64>> = FxHashSet::default();
        let mut refused: Option<Halt> = None;
        let bits = |values: &Kept| values.iter().map(|value| value.to_bits()).collect();
        for _ in 0..MOST_ROUNDS {
            glance();
            if let Err(why) = self.stand(time)? {
                return Err(refused.unwrap_or(why));
            }
            if self.decide_sure(moments) {
                if !seen.insert(bits(&self.kept())) {
                    break;
                }
                continue;
            }
            let against = self.against(time, moments)?;
            if against.is_empty() {
                return Ok(());
            }
            seen.insert(bits(&self.kept()));
            let here = self.kept();
            let mut moved = false;
            for &change in &against {
                self.put_back(&here);
                apply(&mut self.seat.rates.machine.borrow_mut(), &[change]);
                let there = self.kept();
                if seen.contains(&bits(&there)) {
                    continue;
                }
                match self.stand(time)? {
                    Ok(()) => moved = true,
                    Err(why) => {
                        refused = Some(why);
                        moved = self.companion(time, change, &seen)?;
                    }
                }
                if moved {
                    break;
                }
            }
            if !moved {
                self.put_back(&here);
                break;
            }
        }
        if let Some(why) = refused {
            return Err(why);
        }
        let machine = self.seat.rates.machine.borrow();
        let shown = next_values(&machine).last().map(Last::Change);
        Err(restless(self.seat.solved, machine.program, shown, time, false).into())
    }

    /// Relations of what a switch itself holds at zero: that is zero, and no more than that.
    fn held_by_switches(&self) -> Vec<bool> {
        let mut held = vec![false; self.seat.program.watches.len()];
        if let (Some(positions), Some(position)) = (self.seats.positions, self.seat.position) {
            let zero = positions.held_at_zero(&position.key);
            for (held, watch) in held.iter_mut().zip(&positions.opened.watches) {
                *held = (positions.left_leaf(watch)).is_some_and(|leaf| zero.contains(&leaf));
            }
        }
        held
    }

    /// Relations that are sure get their truth; true if one has changed.
    fn decide_sure(&mut self, moments: &[usize]) -> bool {
        let is_held = self.held_by_switches();
        let mut machine = self.seat.rates.machine.borrow_mut();
        let all = (self.events).judge(&mut machine, moments, &self.standing.impulses);
        let mut changed = false;
        for judged in all {
            let watch = &machine.program.watches[judged.at];
            let decided = match judged.verdict {
                Verdict::Sure(decided) | Verdict::Moves(decided) => decided,
                Verdict::Tie if is_held[judged.at] => judged.at_rest(watch),
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

    /// Discrete variables whose next value is another one, whatever the relations are that may be either.
    fn against(&mut self, time: f64, moments: &[usize]) -> Result<Vec<Change>, Halt> {
        let is_held = self.held_by_switches();
        let ties: Vec<u32> = {
            let mut machine = self.seat.rates.machine.borrow_mut();
            let all = (self.events).judge(&mut machine, moments, &self.standing.impulses);
            (all.iter())
                .filter(|judged| judged.verdict == Verdict::Tie && !is_held[judged.at])
                .map(|judged| machine.program.watches[judged.at].held)
                .collect()
        };
        let mut against = self.next_values();
        for register in ties {
            if against.is_empty() {
                break;
            }
            let held = self.seat.rates.machine.borrow().get(register);
            // Only truths can be either.
            if held != 0.0 && held != 1.0 {
                continue;
            }
            let key = self.key();
            (self.seat.rates.machine.borrow_mut()).set(register, 1.0 - held);
            self.evaluate_event(time)?;
            let better = self.next_values();
            if better.len() < against.len() && self.key() == key {
                against = better;
                continue;
            }
            self.seat.rates.machine.borrow_mut().set(register, held);
            self.evaluate_event(time)?;
        }
        self.standing.kept = Some(self.kept());
        Ok(against)
    }

    fn next_values(&self) -> Vec<Change> {
        next_values(&self.seat.rates.machine.borrow()).collect()
    }

    /// After a change that leads nowhere by itself: the switch that has to change with it, so that least is against the
    /// position. True if there is one.
    fn companion(
        &mut self,
        time: f64,
        change: Change,
        seen: &FxHashSet<Vec<u64>>,
    ) -> Result<bool, Halt> {
        let tried = self.kept();
        let mut best: Option<(usize, Kept)> = None;
        for register in self.own_switches(&[change]) {
            self.put_back(&tried);
            {
                let mut machine = self.seat.rates.machine.borrow_mut();
                let value = 1.0 - machine.get(register);
                machine.set(register, value);
            }
            let there = self.kept();
            let bits: Vec<u64> = there.iter().map(|value| value.to_bits()).collect();
            if seen.contains(&bits) || self.stand(time)?.is_err() {
                continue;
            }
            for _ in 0..10 {
                glance();
                if !self.decide_sure(&[]) {
                    break;
                }
                self.evaluate_event(time)?;
            }
            let count = self.against(time, &[])?.len();
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                best = Some((count, there));
            }
        }
        let Some((_, there)) = best else {
            return Ok(false);
        };
        self.put_back(&there);
        Ok(self.stand(time)?.is_ok())
    }

    /// The registers of switches that decide for themselves, but for those that just changed.
    fn own_switches(&self, changes: &[Change]) -> Vec<u32> {
        let Some(positions) = self.seats.positions else {
            return Vec::new();
        };
        let discretes = &self.seat.program.discretes;
        (positions.switches.iter())
            .filter_map(|switch| {
                let Node::Leaf(leaf) = positions.flat.exprs.node(switch.condition) else {
                    return None;
                };
                let at = discretes
                    .iter()
                    .position(|discrete| discrete.leaf == leaf)?;
                let moved = (changes.iter())
                    .any(|change| matches!(change, Change::Discrete(other, _) if *other == at));
                let free = discretes[at].next.is_some() && !moved;
                free.then_some(discretes[at].value)
            })
            .collect()
    }

    /// Looks for a position in which one or two more of the switches that decide for themselves have changed, but not those
    /// that just did; true if there is one: the run stands there then.
    pub(super) fn accompanied(&mut self, time: f64, moved: &[Change]) -> Result<bool, Halt> {
        let own = self.own_switches(moved);
        let singles = (0..own.len()).map(|a| vec![a]);
        let pairs = (0..own.len().min(16))
            .flat_map(|a| (a + 1..own.len().min(16)).map(move |b| vec![a, b]));
        let kept = self.kept();
        for more in singles.chain(pairs) {
            glance();
            {
                let mut machine = self.seat.rates.machine.borrow_mut();
                for &at in &more {
                    let value = 1.0 - machine.get(own[at]);
                    machine.set(own[at], value);
                }
            }
            if self.stand(time)?.is_ok() {
                return Ok(true);
            }
            self.put_back(&kept);
        }
        Ok(false)
    }
}
