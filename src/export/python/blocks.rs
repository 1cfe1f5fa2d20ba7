//! The blocks of a solved model as Python: how each statement is written.

use super::dialect::{self, Python};
use super::{Module, tuple_of};
use crate::base::words::literal;
use crate::export::model::{Action, Model};
use crate::export::places::Place;
use crate::export::statements::Statements;
use crate::export::statements::blocks::{about, blocks, eliminated, residuals};
use crate::export::write::Writer;
use crate::expr::ExprId;
use crate::expr::print::Text;
use crate::flat::Leaf;
use crate::passes::blocks::{Entry, Linear, Nonlinear, Selected};

impl<'p> Statements<'p> for Module<'p> {
    type Dialect = Python<'p>;
    const END: &'static str = "";

    fn model(&self) -> &'p Model<'p> {
        self.model
    }

    fn writer(&mut self) -> &mut Writer<'p, Python<'p>> {
        &mut self.writer
    }

    fn has(&self, leaf: Leaf) -> bool {
        self.python.has(leaf)
    }

    fn place(&self, leaf: Leaf) -> String {
        self.python.names.get(leaf).to_string()
    }

    fn state(&self, leaf: Leaf) -> Option<usize> {
        self.states.iter().position(|&state| state == leaf)
    }

    fn list(&mut self, _: &str, values: &[ExprId]) -> String {
        let values: Vec<String> = values.iter().map(|&id| self.value(id).text).collect();
        format!("[{}]", values.join(", "))
    }

    fn unpack(&mut self, leaves: &[Leaf], list: &str) {
        if !leaves.is_empty() {
            let places = self.places(leaves);
            self.line(&format!("({places},) = {list}"));
        }
    }

    fn fail_if(&mut self, condition: &str, what: &str, about: &str) {
        let (what, about, time) = (literal(what), literal(about), self.time);
        self.line(&format!("if {condition}:"));
        self.line(&format!("    raise ModelError({what}, {about}, {time})"));
    }

    fn set_next(&mut self, next: Leaf, value: &Text) {
        let now = self.place(Leaf::Var(next.variable()));
        let value = format!("{} if s.event else {now}", value.at_least(1));
        self.set(next, &Text::atom(value));
    }

    /// It was given as such.
    fn keep_next(&mut self, _: Leaf) {}

    fn solve(&mut self, _: usize, linear: &Linear, matrix: &[Entry], right: &[ExprId]) {
        let size = linear.unknowns.len();
        self.line(&format!("_a = [[0.0] * {size} for _ in range({size})]"));
        for entry in matrix {
            let value = self.value(entry.value);
            self.line(&format!(
                "_a[{}][{}] = {}",
                entry.row, entry.column, value.text
            ));
        }
        let known = self.list("_b", right);
        self.line(&format!("_b = {known}"));
        let about = literal(&about(self.model.flat, &linear.equations));
        self.unpack(&linear.unknowns, &format!("_linear(_a, _b, {about}, t)"));
    }

    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear) {
        self.line(&format!("def _loop_{at}(z):"));
        self.writer.forget();
        self.writer.indented(1);
        let inner: Vec<Leaf> = nonlinear.inner.iter().map(|one| one.target).collect();
        let left = residuals(
            self,
            &nonlinear.iteration,
            &nonlinear.inner,
            &nonlinear.residuals,
        );
        let names = tuple_of(inner.iter().map(|&leaf| self.place(leaf)));
        self.line(&format!("return {left}, {names}"));
        self.writer.forget();
        self.writer.indented(-1);
        let first = tuple_of(
            (nonlinear.iteration.iter())
                .map(|&leaf| dialect::number(self.model.start(leaf).value).text),
        );
        let about = literal(&about(self.model.flat, &nonlinear.equations));
        self.line(&format!(
            "_z, _inner = _newton(_loop_{at}, s, {}, {first}, {about}, t)",
            self.number + at,
        ));
        self.unpack(&nonlinear.iteration, "_z");
        self.unpack(&inner, "_inner");
    }

    fn project(&mut self, _: usize, selected: &Selected) {
        self.line("if s.projects:");
        self.writer.forget();
        self.writer.indented(1);
        self.line("def _constraint(z):");
        self.writer.indented(1);
        let left = residuals(self, &selected.unknowns, &[], &selected.residuals);
        self.line(&format!("return {left}"));
        self.writer.forget();
        self.writer.indented(-1);
        let names = self.places(&selected.unknowns);
        let fixed: Vec<String> = (selected.unknowns.iter())
            .filter_map(|&leaf| self.state(leaf))
            .map(|at| format!("s.fixed[{at}]"))
            .collect();
        let about = literal(&about(self.model.flat, &selected.equations));
        let fixed = fixed.join(", ");
        self.unpack(
            &selected.unknowns,
            &format!("_nearest(_constraint, [{names}], [{fixed}], {about}, t)"),
        );
        self.writer.indented(-1);
    }

    fn begin_when(&mut self) {
        self.line("earlier = False");
    }

    fn begin_branch(&mut self, number: usize, condition: &Text) {
        self.line(&format!("now = bool({})", condition.text));
        self.line(&format!(
            "act = now and not conditions[{number}] and not earlier"
        ));
        self.line(&format!("conditions[{number}] = now"));
        self.line("earlier = earlier or now");
        self.line("if act:");
        self.line("    pass");
    }

    fn act(&mut self, action: &Action, value: &Text, about: &str) {
        let about = literal(about);
        self.line(&format!("value = _finite({}, {about}, t)", value.text));
        if let Some(at) = self.state(action.target) {
            self.line(&format!("x[{at}], fixed[{at}], acts = value, True, True"));
            return;
        }
        let id = action.target.variable();
        let at = self.model.discretes.iter().position(|&other| other == id);
        let (at, now) = (at.unwrap_or(0), literal(&self.model.flat.name(id)));
        self.line(&format!("acts, d[{at}] = acts or value != v[{now}], value"));
    }

    fn begin_row(&mut self, row: usize, sides: Option<(Text, Text)>) {
        if let Some((left, right)) = sides {
            self.line(&format!("left, right = {}, {}", left.text, right.text));
            self.line(&format!(
                "rest[{row}], terms[{row}] = left - right, abs(left) + abs(right)"
            ));
        }
    }

    fn entry(&self, _: usize, row: usize, column: usize) -> String {
        format!("a[{row}][{column}]")
    }

    fn differ(&mut self, left: &Text, right: &Text, states: &[usize]) -> String {
        self.line(&format!("left, right = {}, {}", left.text, right.text));
        let mut size = "abs(left) + abs(right)".to_string();
        if !states.is_empty() {
            let states: String = states.iter().map(|at| format!(", sizes[{at}]")).collect();
            size = format!("max({size}{states})");
        }
        format!("abs(left - right) > 1e-6 * ({size})")
    }
}

impl Module<'_> {
    /// The function that computes everything.
    pub fn evaluate(&mut self) {
        let model = self.model;
        self.arguments(model);
        blocks(self);
        eliminated(self, |_| true);
        let mut all: Vec<Leaf> = model.leaves();
        for place in [
            Place::Parameters,
            Place::Before,
            Place::Nexts,
            Place::Computed,
        ] {
            all.extend(model.kept_in(place));
        }
        let mut seen: rustc_hash::FxHashSet<Leaf> = rustc_hash::FxHashSet::default();
        all.retain(|&leaf| seen.insert(leaf));
        self.line("return {");
        for leaf in all {
            self.shown_as(leaf, &self.place(leaf));
        }
        self.function("_evaluate(t, x, u, p, d, h, s)", "}");
    }

    /// Assigns names to the arguments of a function.
    pub fn arguments(&mut self, model: &Model<'_>) {
        for (place, list) in [
            (Place::States, "x"),
            (Place::Inputs, "u"),
            (Place::Parameters, "p"),
            (Place::Discretes, "d"),
            (Place::Before, "s.pre"),
            (Place::Nexts, "d"),
        ] {
            self.unpack(&model.kept_in(place), list);
        }
    }

    /// An entry of the dictionary that is returned.
    pub fn shown_as(&mut self, leaf: Leaf, value: &str) {
        let name = literal(&self.shown(leaf));
        self.line(&format!("    {name}: {value},"));
    }

    /// `a, b`
    fn places(&self, leaves: &[Leaf]) -> String {
        let places: Vec<String> = leaves.iter().map(|&leaf| self.place(leaf)).collect();
        places.join(", ")
    }
}
