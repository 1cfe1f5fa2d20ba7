//! What counts as a jump in a run: differences within its tolerances are none.

use super::Run;
use crate::flat::Leaf;
use crate::positions::{Judge, Values};

/// Smaller differences are no jumps: they come from errors of the steps or of the location of the event.
pub(super) struct RunJudge<'r> {
    before: &'r Values,
    /// The largest values so far.
    scales: &'r Values,
    /// What the source differentiates.
    differentiated: &'r [Leaf],
    absolute: f64,
    relative: f64,
    located: f64,
}

impl Run<'_, '_, '_, '_> {
    pub(super) fn jump_judge(&self) -> RunJudge<'_> {
        /// Relative to the largest side of any relation: events are located to a few times 1e-13 of that.
        const LOCATED: f64 = 2e-12;
        RunJudge {
            before: &self.iteration.before,
            scales: &self.iteration.scales,
            differentiated: &self.modes.differentiated,
            absolute: self.plan.absolute.all,
            relative: self.plan.relative,
            located: LOCATED * self.events.largest(),
        }
    }
}

impl RunJudge<'_> {
    /// Whether a variable jumps to its value among these.
    pub(super) fn leaf_jumps(&self, leaf: Leaf, after: &Values) -> bool {
        let (from, to) = (self.before.get(&leaf), after.get(&leaf));
        matches!((from, to), (Some(from), Some(to)) if (to - from).abs() > self.tolerance(leaf))
    }

    fn tolerance(&self, leaf: Leaf) -> f64 {
        let own = self.absolute + self.relative * self.scale(leaf);
        own.max(self.located)
    }
}

impl Judge for RunJudge<'_> {
    fn scale(&self, leaf: Leaf) -> f64 {
        self.scales.get(&leaf).copied().unwrap_or(0.0)
    }

    fn jumps(&self, after: &Values) -> bool {
        let mut leaves = self.differentiated.iter();
        leaves.any(|&leaf| self.leaf_jumps(leaf, after))
    }
}

/// What a restart sets is told in any case.
pub(super) struct Restarting<'r>(pub(super) RunJudge<'r>);

impl Judge for Restarting<'_> {
    fn scale(&self, leaf: Leaf) -> f64 {
        self.0.scale(leaf)
    }

    fn jumps(&self, _: &Values) -> bool {
        true
    }
}
