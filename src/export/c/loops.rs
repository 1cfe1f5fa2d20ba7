//! Large nonlinear loops as C: which residuals depend on which iteration variables, and which of these can be varied
//! together.

use std::fmt::Write;

use super::Program;
use super::blocks::FULL;
use super::fill::column_order;
use super::sparse::{groups, starts, table};
use crate::export::pattern::loop_colorings;
use crate::passes::blocks::Nonlinear;

impl Program<'_> {
    pub(super) fn pattern_name(&self, at: usize) -> String {
        format!("MODEL_pattern{}_{at}", self.suffix)
    }

    /// The tables of a loop.
    pub(super) fn pattern(&mut self, at: usize, nonlinear: &Nonlinear) {
        if self.loops.is_empty() {
            self.loops = loop_colorings(self.model, FULL);
        }
        let name = self.pattern_name(at);
        let Some(coloring) = self.loops.get(&nonlinear.iteration[0]) else {
            return;
        };
        let out = &mut self.file;
        out.push('\n');
        table(out, &format!("{name}_start"), starts(&coloring.pattern));
        table(out, &format!("{name}_row"), coloring.pattern.indices());
        let order = column_order(&coloring.pattern);
        table(out, &format!("{name}_order"), &order);
        groups(out, &format!("{name}_color"), "column", coloring);
        let _ = writeln!(
            out,
            "static const MODEL_pattern {name} = {{{}, {}, {name}_start, {name}_row, {name}_order, {name}_color_start, {name}_color_column}};",
            coloring.pattern.cols(),
            coloring.count,
        );
    }
}
