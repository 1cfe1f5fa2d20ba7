//! The blocks of a solved model as C.

use super::dialect::number;
use super::{Program, text};
use crate::flat::{EqId, Flat, Leaf};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Nonlinear, Selected};

/// Larger loops have sparse matrices.
pub const FULL: usize = 50;

/// The equations of a block in one line, the first ones of many.
pub fn about(flat: &Flat, equations: &[EqId]) -> String {
    const SHOWN: usize = 3;
    const LONGEST: usize = 400;
    let mut shown: Vec<String> = (equations.iter().take(SHOWN))
        .map(|&id| flat.equation_text(id))
        .collect();
    if equations.len() > SHOWN {
        shown.push("...".to_string());
    }
    let joined = shown.join("; ");
    match joined.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &joined[..at]),
        None => joined,
    }
}

impl Program<'_> {
    /// The function that computes everything, and those of its loops before it.
    pub fn evaluate(&mut self) {
        self.loops();
        self.own_inputs();
        self.blocks();
        let comment = "Computes everything from m->time, m->x, m->u, m->p, m->d and what is held. 0 if that went well.";
        self.function(comment, "int MODEL_evaluate(MODEL *m)", "    return 0;\n");
    }

    /// Functions of the loops.
    pub fn loops(&mut self) {
        let model = self.model;
        for (at, block) in model.solved.blocks.iter().enumerate() {
            match block {
                Block::Nonlinear(nonlinear) => self.residuals(at, nonlinear),
                Block::Linear(linear) => self.system(at, linear),
                Block::Selected(selected) => self.constraint(at, selected),
                _ => {}
            }
        }
    }

    /// What the experiment says of inputs.
    pub fn own_inputs(&mut self) {
        let model = self.model;
        if model.inputs.iter().any(|(_, given)| given.is_some()) {
            self.line("if (m->own_inputs) {");
            self.writer.indented(1);
            for &(id, given) in &model.inputs {
                if let Some(given) = given {
                    let value = self.value(given);
                    self.set(Leaf::Var(id), &value);
                }
            }
            self.writer.forget();
            self.writer.indented(-1);
            self.line("}");
            self.cut();
        }
    }

    /// All blocks, one after the other.
    pub fn blocks(&mut self) {
        for (at, block) in self.model.solved.blocks.iter().enumerate() {
            match block {
                // The truth of a relation is decided at events.
                Block::Assignment(assignment) if !self.c.has(assignment.target) => {}
                Block::Assignment(assignment) => self.assign(assignment),
                Block::Linear(linear) => self.linear(at, linear),
                Block::Nonlinear(nonlinear) => self.iterate(at, nonlinear),
                Block::Selected(selected) => self.project(at, selected),
                // Restarts are in the functions for events.
                Block::When(when) if matches!(when.target, Leaf::New(_)) => {
                    let now = self.writer.leaf(Leaf::Var(when.target.variable()));
                    self.set(when.target, &now);
                }
                Block::When(_) => {}
            }
            self.cut();
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
            self.line(&format!("if ({} == 0.0)", guard.at_least(5)));
            self.line(&format!(
                "    return MODEL_fail(m, \"a divisor is zero\", {});",
                text(&about)
            ));
        }
        let value = self.value(assignment.value);
        match assignment.target {
            // Between events the next value is the value.
            Leaf::New(id) => {
                let now = self.c.place(Leaf::Var(id));
                let place = self.c.place(assignment.target);
                self.line(&format!(
                    "{place} = m->event ? {} : {now};",
                    value.at_least(1)
                ));
            }
            target => self.set(target, &value),
        }
    }

    fn linear(&mut self, at: usize, linear: &Linear) {
        let size = linear.unknowns.len();
        let (matrix, right) = match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assign(assignment);
                    self.cut();
                }
                return;
            }
            Method::System { .. } if size > FULL => {
                let name = self.system_name(at);
                self.line(&format!("if (MODEL_large(m, &{name}))"));
                self.line("    return 1;");
                return;
            }
            Method::System { matrix, right } => (matrix, right),
        };
        self.line("{");
        self.writer.indented(1);
        self.line(&format!("double a[{}] = {{0}}, b[{size}];", size * size));
        for entry in matrix {
            let value = self.value(entry.value);
            let at = entry.row as usize * size + entry.column as usize;
            self.line(&format!("a[{at}] = {};", value.text));
        }
        for (at, &value) in right.iter().enumerate() {
            let value = self.value(value);
            self.line(&format!("b[{at}] = {};", value.text));
        }
        let about = text(&about(self.model.flat, &linear.equations));
        self.line(&format!("if (MODEL_linear(m, {size}, a, b, {about}))"));
        self.line("    return 1;");
        for (at, &leaf) in linear.unknowns.iter().enumerate() {
            let line = format!("{} = b[{at}];", self.c.place(leaf));
            self.line(&line);
        }
        self.writer.forget();
        self.writer.indented(-1);
        self.line("}");
    }

    /// A function of the iteration variables.
    fn residuals(&mut self, at: usize, nonlinear: &Nonlinear) {
        for (at, &leaf) in nonlinear.iteration.iter().enumerate() {
            let line = format!("{} = z[{at}];", self.c.place(leaf));
            self.line(&line);
            self.cut();
        }
        for assignment in &nonlinear.inner {
            self.assign(assignment);
            self.cut();
        }
        for (at, residual) in nonlinear.residuals.iter().enumerate() {
            let value = self.value(residual.value);
            self.line(&format!("r[{at}] = {};", value.text));
            self.cut();
        }
        let head = format!(
            "static int MODEL_loop{}_{at}(MODEL *m, const double *z, double *r)",
            self.suffix
        );
        self.function(
            "A loop: what is left of its equations.",
            &head,
            "    return 0;\n",
        );
        if nonlinear.iteration.len() > FULL {
            self.pattern(at, nonlinear);
        }
    }

    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear) {
        let size = nonlinear.iteration.len();
        let places: Vec<String> = nonlinear
            .iteration
            .iter()
            .map(|&leaf| self.c.place(leaf))
            .collect();
        let first: Vec<String> = (nonlinear.iteration.iter())
            .map(|&leaf| number(self.model.start(leaf).value).text)
            .collect();
        self.line("{");
        self.line(&format!(
            "    static const double first[] = {{{}}};",
            first.join(", ")
        ));
        self.line(&format!("    double z[] = {{{}}};", places.join(", ")));
        let about = text(&about(self.model.flat, &nonlinear.equations));
        let solver = match size > FULL {
            true => format!("newton_sparse(m, &{}, first, z", self.pattern_name(at)),
            false => format!("newton(m, {size}, z, first"),
        };
        self.line(&format!(
            "    if (MODEL_{solver}, MODEL_loop{}_{at}, {about}))",
            self.suffix
        ));
        self.line("        return 1;");
        self.line("}");
    }

    /// A function of the candidates.
    fn constraint(&mut self, at: usize, selected: &Selected) {
        for (at, &leaf) in selected.unknowns.iter().enumerate() {
            let line = format!("{} = z[{at}];", self.c.place(leaf));
            self.line(&line);
            self.cut();
        }
        for (at, residual) in selected.residuals.iter().enumerate() {
            let value = self.value(residual.value);
            self.line(&format!("r[{at}] = {};", value.text));
            self.cut();
        }
        let head = format!(
            "static int MODEL_constraint{}_{at}(MODEL *m, const double *z, double *r)",
            self.suffix
        );
        self.function(
            "A constraint between states: what is left of it.",
            &head,
            "    return 0;\n",
        );
    }

    /// The candidates are states: they are moved back onto their constraint where that is asked for.
    fn project(&mut self, at: usize, selected: &Selected) {
        let (size, rows) = (selected.unknowns.len(), selected.residuals.len());
        if rows == 0 {
            return;
        }
        let places: Vec<String> = selected
            .unknowns
            .iter()
            .map(|&leaf| self.c.place(leaf))
            .collect();
        let fixed: Vec<String> = (selected.unknowns.iter())
            .filter_map(|leaf| self.c.states.get(leaf))
            .map(|at| format!("m->fixed[{at}]"))
            .collect();
        let about = text(&about(self.model.flat, &selected.equations));
        self.line("if (m->projects) {");
        self.line(&format!("    double z[] = {{{}}};", places.join(", ")));
        self.line(&format!(
            "    const int fixed[] = {{{}}};",
            fixed.join(", ")
        ));
        self.line(&format!(
            "    if (MODEL_nearest(m, {size}, {rows}, z, fixed, MODEL_constraint{}_{at}, {about}))",
            self.suffix
        ));
        self.line("        return 1;");
        for (at, place) in places.iter().enumerate() {
            self.line(&format!("    {place} = z[{at}];"));
        }
        self.line("}");
    }
}
