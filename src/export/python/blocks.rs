//! The blocks of a solved model as Python.

use super::{Module, dialect};
use crate::export::c::about;
use crate::export::model::Model;
use crate::export::names::quoted;
use crate::flat::{Leaf, VarId};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Nonlinear, Selected};

impl Module<'_> {
    /// The function that computes everything.
    pub fn evaluate(&mut self) {
        let model = self.model;
        self.arguments(model);
        self.blocks();
        for gone in &model.flat.eliminated {
            let value = self.value(gone.expression);
            let name = self.name(gone.leaf);
            self.line(&format!("{name} = {}", value.text));
        }
        let mut all: Vec<Leaf> = model.leaves();
        all.extend(self.fixed());
        all.extend(model.before.iter().map(|&id| Leaf::Pre(id)));
        all.extend(model.discretes.iter().map(|&id| Leaf::New(id)));
        all.extend(model.computed.iter().copied());
        let mut seen: rustc_hash::FxHashSet<Leaf> = rustc_hash::FxHashSet::default();
        all.retain(|&leaf| seen.insert(leaf));
        self.line("return {");
        for leaf in all {
            let line = format!("    {}: {},", quoted(&self.shown(leaf)), self.name(leaf));
            self.line(&line);
        }
        self.function("_evaluate(t, x, u, p, d, h, s)", "}");
    }

    /// Names for what a function that computes is given.
    pub fn arguments(&mut self, model: &Model<'_>) {
        let of = |ids: &[VarId]| -> Vec<Leaf> { ids.iter().map(|&id| Leaf::Var(id)).collect() };
        self.unpack(&model.states, "x");
        let inputs: Vec<Leaf> = model.inputs.iter().map(|&(id, _)| Leaf::Var(id)).collect();
        self.unpack(&inputs, "u");
        self.unpack(
            &of(&[&model.parameters[..], &model.derived[..]].concat()),
            "p",
        );
        self.unpack(&of(&model.discretes), "d");
        let before: Vec<Leaf> = model.before.iter().map(|&id| Leaf::Pre(id)).collect();
        self.unpack(&before, "s.pre");
        let nexts: Vec<Leaf> = model.discretes.iter().map(|&id| Leaf::New(id)).collect();
        self.unpack(&nexts, "d");
    }

    /// All blocks, one after the other.
    pub fn blocks(&mut self) {
        for (at, block) in self.model.solved.blocks.iter().enumerate() {
            match block {
                // The truth of a relation is decided at events.
                Block::Assignment(assignment) if !self.python.has(assignment.target) => {}
                Block::Assignment(assignment) => self.assign(assignment),
                Block::Linear(linear) => self.linear(linear),
                Block::Nonlinear(nonlinear) => self.iterate(at, nonlinear),
                Block::Selected(selected) => self.project(selected),
                // Done when the conditions are known.
                Block::When(_) => {}
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let flat = self.model.flat;
        if let Some(guard) = assignment.guard {
            let guard = self.value(guard);
            let about = match assignment.equation {
                Some(equation) => flat.equation_text(equation),
                None => format!(
                    "{} = {}",
                    flat.leaf_name(assignment.target),
                    flat.expression(assignment.value)
                ),
            };
            self.line(&format!("if {} == 0.0:", guard.at_least(5)));
            self.line(&format!(
                "    raise ModelError(\"a divisor is zero\", {}, t)",
                quoted(&about)
            ));
        }
        let value = self.value(assignment.value);
        let name = self.name(assignment.target);
        match assignment.target {
            // Between events the next value is the value.
            Leaf::New(id) => {
                let now = self.name(Leaf::Var(id));
                self.line(&format!(
                    "{name} = {} if s.event else {now}",
                    value.at_least(1)
                ));
            }
            _ => self.line(&format!("{name} = {}", value.text)),
        }
    }

    fn linear(&mut self, linear: &Linear) {
        let (matrix, right) = match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assign(assignment);
                }
                return;
            }
            Method::System { matrix, right } => (matrix, right),
        };
        let size = linear.unknowns.len();
        self.line(&format!("_a = [[0.0] * {size} for _ in range({size})]"));
        for entry in matrix {
            let value = self.value(entry.value);
            self.line(&format!(
                "_a[{}][{}] = {}",
                entry.row, entry.column, value.text
            ));
        }
        let mut known = Vec::new();
        for &value in right {
            known.push(self.value(value).text);
        }
        self.line(&format!("_b = [{}]", known.join(", ")));
        let about = quoted(&about(self.model.flat, &linear.equations));
        self.unpack(&linear.unknowns, &format!("_linear(_a, _b, {about}, t)"));
    }

    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear) {
        self.line(&format!("def _loop_{at}(z):"));
        self.writer.forget();
        self.writer.indented(1);
        self.unpack(&nonlinear.iteration, "z");
        for assignment in &nonlinear.inner {
            self.assign(assignment);
        }
        let mut left = Vec::new();
        for residual in &nonlinear.residuals {
            left.push(self.value(residual.value).text);
        }
        let inner: Vec<Leaf> = nonlinear.inner.iter().map(|one| one.target).collect();
        let names: Vec<String> = inner
            .iter()
            .map(|&leaf| format!("{},", self.name(leaf)))
            .collect();
        self.line(&format!(
            "return [{}], ({})",
            left.join(", "),
            names.join(" ")
        ));
        self.writer.forget();
        self.writer.indented(-1);
        let first: Vec<String> = (nonlinear.iteration.iter())
            .map(|&leaf| format!("{},", dialect::number(self.model.start(leaf).value).text))
            .collect();
        let about = quoted(&about(self.model.flat, &nonlinear.equations));
        self.line(&format!(
            "_z, _inner = _newton(_loop_{at}, s, {}, ({}), {about}, t)",
            self.number + at,
            first.join(" ")
        ));
        self.unpack(&nonlinear.iteration, "_z");
        self.unpack(&inner, "_inner");
    }

    /// The candidates are states: they are moved back onto their constraint where that is asked for.
    fn project(&mut self, selected: &Selected) {
        if selected.residuals.is_empty() {
            return;
        }
        self.line("if s.projects:");
        self.writer.forget();
        self.writer.indented(1);
        self.line("def _constraint(z):");
        self.writer.indented(1);
        self.unpack(&selected.unknowns, "z");
        let mut left = Vec::new();
        for residual in &selected.residuals {
            left.push(self.value(residual.value).text);
        }
        self.line(&format!("return [{}]", left.join(", ")));
        self.writer.forget();
        self.writer.indented(-1);
        let names: Vec<String> = selected
            .unknowns
            .iter()
            .map(|&leaf| self.name(leaf))
            .collect();
        let states = &self.states;
        let fixed: Vec<String> = (selected.unknowns.iter())
            .filter_map(|leaf| states.iter().position(|state| state == leaf))
            .map(|at| format!("s.fixed[{at}]"))
            .collect();
        let about = quoted(&about(self.model.flat, &selected.equations));
        let (names, fixed) = (names.join(", "), fixed.join(", "));
        self.unpack(
            &selected.unknowns,
            &format!("_nearest(_constraint, [{names}], [{fixed}], {about}, t)"),
        );
        self.writer.indented(-1);
    }
}
