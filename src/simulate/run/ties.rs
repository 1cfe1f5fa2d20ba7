//! Relations whose sides are equal: which hold after an event, and which count as equal at one.

use super::Run;

impl<'s> Run<'_, '_, 's, '_> {
    /// After an event: relations whose sides are equal hold until the states are right enough to tell otherwise.
    pub(super) fn hold_ties(&mut self) {
        (self.events).keep_ties(&self.mode.rates.machine.borrow());
        if self.modes.has_switches() && !self.mode.program.watches.is_empty() {
            let absolute = (self.plan.absolute).of(&self.mode.solved.flat, self.mode.program);
            let held = self.held_at_zero();
            let mut machine = self.mode.rates.machine.borrow_mut();
            let tolerances = (self.plan.relative, &absolute[..]);
            (self.events).hold_ties(&mut machine, tolerances, held);
        }
    }

    /// At an event: sides that differ by less than the tolerances make of them count as equal.
    pub(super) fn widen_ties(&mut self) {
        let absolute = (self.plan.absolute).of(&self.mode.solved.flat, self.mode.program);
        let mut machine = self.mode.rates.machine.borrow_mut();
        (self.events).widen(&mut machine, (self.plan.relative, &absolute));
    }

    /// For each relation, whether its left side is a variable that a switch holds at zero in this mode. Such a tie has the
    /// truth for zero.
    pub(super) fn held_at_zero(&self) -> &'s [bool] {
        let mode = self.mode;
        mode.held_at_zero.get_or_init(|| {
            let mut held = vec![false; mode.program.watches.len()];
            if let (Some(positions), Some(compiled)) = (self.modes.positions, mode.compiled) {
                let zero = positions.held_at_zero(&compiled.key);
                for (held, watch) in held.iter_mut().zip(&positions.opened.watches) {
                    let left = positions.left_leaf(watch);
                    *held = left.is_some_and(|leaf| zero.contains(&leaf));
                }
            }
            held
        })
    }
}
