//! The blocks of a solved model as C: how each statement is written.

use super::dialect::{C, number};
use super::{Program, text};
use crate::export::model::{Action, Model};
use crate::export::statements::Statements;
use crate::export::statements::blocks::{about, blocks, residuals};
use crate::export::write::Writer;
use crate::expr::ExprId;
use crate::expr::print::Text;
use crate::flat::{EqId, Leaf};
use crate::passes::blocks::{Block, Entry, Linear, Nonlinear, Selected};

/// Larger loops get sparse matrices.
pub const FULL: usize = 50;

impl<'p> Statements<'p> for Program<'p> {
    type Dialect = C<'p>;
    const END: &'static str = ";";

    fn model(&self) -> &'p Model<'p> {
        self.model
    }

    fn writer(&mut self) -> &mut Writer<'p, C<'p>> {
        &mut self.writer
    }

    fn has(&self, leaf: Leaf) -> bool {
        self.c.has(leaf)
    }

    fn place(&self, leaf: Leaf) -> String {
        self.c.place(leaf)
    }

    fn state(&self, leaf: Leaf) -> Option<usize> {
        self.c.states.get(&leaf).copied()
    }

    fn cut(&mut self) {
        self.divide_here();
    }

    fn list(&mut self, name: &str, values: &[ExprId]) -> String {
        for (at, &value) in values.iter().enumerate() {
            let value = self.value(value);
            self.line(&format!("{name}[{at}] = {};", value.text));
            self.cut();
        }
        name.to_string()
    }

    fn unpack(&mut self, leaves: &[Leaf], list: &str) {
        for (at, &leaf) in leaves.iter().enumerate() {
            self.set(leaf, &Text::atom(format!("{list}[{at}]")));
            self.cut();
        }
    }

    fn fail_if(&mut self, condition: &str, what: &str, about: &str) {
        let (what, about) = (text(what), text(about));
        self.line(&format!("if ({condition})"));
        self.line(&format!("    return MODEL_fail(m, {what}, {about});"));
    }

    fn set_next(&mut self, next: Leaf, value: &Text) {
        let now = self.c.place(Leaf::Var(next.variable()));
        let value = format!("m->event ? {} : {now}", value.at_least(1));
        self.set(next, &Text::atom(value));
    }

    fn keep_next(&mut self, next: Leaf) {
        let now = self.writer.leaf(Leaf::Var(next.variable()));
        self.set(next, &now);
    }

    fn solve(&mut self, at: usize, linear: &Linear, matrix: &[Entry], right: &[ExprId]) {
        let size = linear.unknowns.len();
        if size > FULL {
            let name = self.system_name(at);
            self.line(&format!("if (MODEL_large(m, &{name}))"));
            self.line("    return 1;");
            return;
        }
        self.line("{");
        self.writer.indented(1);
        self.line(&format!("double a[{}] = {{0}}, b[{size}];", size * size));
        for entry in matrix {
            let value = self.value(entry.value);
            let place = self.entry(size, entry.row as usize, entry.column as usize);
            self.line(&format!("{place} = {};", value.text));
        }
        self.list("b", right);
        let about = self.about(&linear.equations);
        self.line(&format!("if (MODEL_linear(m, {size}, a, b, {about}))"));
        self.line("    return 1;");
        self.unpack(&linear.unknowns, "b");
        self.writer.forget();
        self.writer.indented(-1);
        self.line("}");
    }

    fn iterate(&mut self, at: usize, nonlinear: &Nonlinear) {
        let size = nonlinear.iteration.len();
        let first: Vec<String> = (nonlinear.iteration.iter())
            .map(|&leaf| number(self.model.start(leaf).value).text)
            .collect();
        self.line("{");
        self.line(&format!(
            "    static const double first[] = {{{}}};",
            first.join(", ")
        ));
        self.initial_z(&nonlinear.iteration);
        let about = self.about(&nonlinear.equations);
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

    fn project(&mut self, at: usize, selected: &Selected) {
        let (size, rows) = (selected.unknowns.len(), selected.residuals.len());
        let fixed: Vec<String> = (selected.unknowns.iter())
            .filter_map(|&leaf| self.state(leaf))
            .map(|at| format!("m->fixed[{at}]"))
            .collect();
        let about = self.about(&selected.equations);
        self.line("if (m->projects) {");
        self.initial_z(&selected.unknowns);
        self.writer.indented(1);
        self.line(&format!("const int fixed[] = {{{}}};", fixed.join(", ")));
        self.line(&format!(
            "if (MODEL_nearest(m, {size}, {rows}, z, fixed, MODEL_constraint{}_{at}, {about}))",
            self.suffix
        ));
        self.line("    return 1;");
        self.unpack(&selected.unknowns, "z");
        self.writer.indented(-1);
        self.line("}");
    }

    fn begin_when(&mut self) {
        self.line("earlier = 0;");
    }

    fn begin_branch(&mut self, number: usize, condition: &Text) {
        self.line(&format!("now = {} != 0.0;", condition.at_least(9)));
        self.line(&format!(
            "act = now && !m->condition[{number}] && !earlier;"
        ));
        self.line(&format!("m->condition[{number}] = now;"));
        self.line("earlier |= now;");
        self.line("if (act) {");
    }

    fn act(&mut self, action: &Action, value: &Text, about: &str) {
        let member = self.c.member(action.target).to_string();
        self.line(&format!("value = {};", value.text));
        let what = "a `when` sets something to what is not a number";
        self.fail_if("!isfinite(value)", what, about);
        match self.state(action.target) {
            Some(at) => {
                self.line(&format!("to_x->{member} = value;"));
                self.line(&format!("fixed[{at}] = *acts = 1;"));
            }
            None => {
                self.line(&format!("*acts |= value != d->{member};"));
                self.line(&format!("to_d->{member} = value;"));
            }
        }
    }

    fn begin_row(&mut self, row: usize, sides: Option<(Text, Text)>) {
        let (terms, rest) = match sides {
            Some((left, right)) => {
                self.line(&format!("left = {}, right = {};", left.text, right.text));
                ("fabs(left) + fabs(right)", "left - right")
            }
            None => ("-1.0", "0.0"),
        };
        self.line(&format!("terms[{row}] = {terms};"));
        self.line(&format!("rest[{row}] = {rest};"));
    }

    fn entry(&self, size: usize, row: usize, column: usize) -> String {
        format!("a[{}]", row * size + column)
    }

    fn differ(&mut self, left: &Text, right: &Text, states: &[usize]) -> String {
        self.line(&format!("left = {}, right = {};", left.text, right.text));
        self.line("size = fabs(left) + fabs(right);");
        for at in states {
            self.line(&format!("size = fmax(size, m->sizes[{at}]);"));
        }
        "fabs(left - right) > 1e-6 * size".to_string()
    }
}

impl Program<'_> {
    /// The function that computes everything, and those of its loops before it.
    pub fn evaluate(&mut self) {
        self.loops();
        self.own_inputs();
        blocks(self);
        let comment = "Computes everything from m->time, m->x, m->u, m->p, m->d and what is held. 0 if that went well.";
        self.function(comment, "int MODEL_evaluate(MODEL *m)", "    return 0;\n");
    }

    /// Functions of the loops.
    pub fn loops(&mut self) {
        let model = self.model;
        for (at, block) in model.solved.blocks.iter().enumerate() {
            match block {
                Block::Nonlinear(nonlinear) => {
                    residuals(
                        self,
                        &nonlinear.iteration,
                        &nonlinear.inner,
                        &nonlinear.residuals,
                    );
                    self.residuals("loop", at, "A loop: what is left of its equations.");
                    if nonlinear.iteration.len() > FULL {
                        self.pattern(at, nonlinear);
                    }
                }
                Block::Linear(linear) => self.system(at, linear),
                Block::Selected(selected) => {
                    residuals(self, &selected.unknowns, &[], &selected.residuals);
                    let comment = "A constraint between states: what is left of it.";
                    self.residuals("constraint", at, comment);
                }
                _ => {}
            }
        }
    }

    fn residuals(&mut self, name: &str, at: usize, comment: &str) {
        let head = format!(
            "static int MODEL_{name}{}_{at}(MODEL *m, const double *z, double *r)",
            self.suffix
        );
        self.function(comment, &head, "    return 0;\n");
    }

    /// The formulas that the experiment gives for inputs.
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

    /// The values from which the iteration of a loop begins.
    fn initial_z(&mut self, unknowns: &[Leaf]) {
        let places: Vec<String> = unknowns.iter().map(|&leaf| self.c.place(leaf)).collect();
        self.line(&format!("    double z[] = {{{}}};", places.join(", ")));
    }

    pub(super) fn about(&self, equations: &[EqId]) -> String {
        text(&about(self.model.flat, equations))
    }
}
