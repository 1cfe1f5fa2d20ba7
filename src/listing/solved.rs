//! The solved equations as text, under the headings of the 1990 and 1995 papers.

use super::lines::Lines;
use super::modes::{by_position, table_of_positions};
use super::reduction;
use crate::base::words::{count, sign};
use crate::compile::Listed;
use crate::expr::op::precedence;
use crate::expr::print::{Style, infix};
use crate::expr::{BinaryOp, ExprId};
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf, Printer};
use crate::passes::blocks::{
    Assignment, Block, Linear, Method, Nonlinear, Residual, Selected, Solved,
};

pub fn solved(model: &Solved, style: Style) -> String {
    let flat = &model.flat;
    let mut listing = SolvedListing {
        lines: Lines::new(flat, style, &super::loops_in_words(loop_sizes(model))),
        model,
    };
    listing.heading("SORTED AND SOLVED EQUATIONS");
    for block in &model.blocks {
        listing.block(block);
    }
    listing.heading("END OF SORTED AND SOLVED EQUATIONS");
    listing.guards();
    listing.zeros();
    let outside =
        |leaf: Leaf| matches!(leaf, Leaf::Der(..)) || flat.variable(leaf.variable()).output;
    (listing.lines).eliminated("ELIMINATED STATE DERIVATIVES AND OUTPUTS", outside);
    listing
        .lines
        .eliminated("ELIMINATED VARIABLES", |leaf| !outside(leaf));
    listing.states();
    listing.lines.reduction();
    listing.counts();
    listing.lines.out
}

/// The same of a model that may be solved anew in each mode of its switches.
pub fn listed(model: &Listed, style: Style) -> String {
    match model {
        Listed::One(model) => solved(model, style),
        Listed::Paper(model, table) => solved(model, style) + &table_of_positions(table),
        Listed::ByPosition(_, table) => by_position(table, style),
    }
}

/// Returns the sizes of loops, which are blocks with several unknowns.
pub(super) fn loop_sizes(model: &Solved) -> impl Iterator<Item = usize> {
    (model.blocks.iter())
        .map(|block| block.unknowns().len())
        .filter(|&size| size > 1)
}

struct SolvedListing<'f> {
    lines: Lines<'f>,
    model: &'f Solved,
}

impl<'f> SolvedListing<'f> {
    fn flat(&self) -> &'f Flat {
        &self.model.flat
    }

    fn text(&mut self, text: &str) {
        self.lines.out.push_str(text);
    }

    /// Writes a heading between blank lines. The next line shows its submodel again.
    fn heading(&mut self, text: &str) {
        self.lines.heading(text);
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assignment(assignment) => self.assignment(assignment, true),
            Block::Selected(selected) => self.selected(selected),
            Block::When(when) => self.lines.equations(when.equations.iter().copied(), &[]),
            Block::Linear(linear) => self.linear(linear),
            Block::Nonlinear(nonlinear) => self.nonlinear(nonlinear),
        }
    }

    fn origin(&self, equation: Option<EqId>) -> InstanceId {
        equation.map_or(InstanceId::TOP, |id| {
            self.flat().equations[id.index()].origin
        })
    }

    /// Writes an assignment. A formula of a loop comes from several equations, so it has no remark on its origin.
    fn assignment(&mut self, assignment: &Assignment, remarked: bool) {
        let origin = self.origin(assignment.equation);
        match assignment.equation {
            Some(_) => self.lines.begin(origin),
            // An auxiliary belongs to no submodel.
            None => self.lines.begin_blank(),
        }
        let mut text = String::new();
        let printer = self.lines.printer(origin, &[]);
        printer.leaf(assignment.target, &mut text);
        text.push_str(" = ");
        printer.write(assignment.value, &mut text);
        if let Some(id) = assignment.equation.filter(|_| remarked) {
            let kind = self.flat().equations[id.index()].kind;
            self.lines.remark(kind, &mut text);
        }
        text.push('\n');
        self.text(&text);
    }

    fn begin_system(&mut self, size: usize) {
        let equations = if size == 1 { "EQUATION" } else { "EQUATIONS" };
        self.heading(&format!("SYSTEM OF {size} SIMULTANEOUS {equations}"));
    }

    fn end_system(&mut self) {
        self.heading("END OF SYSTEM OF SIMULTANEOUS EQUATIONS");
    }

    fn linear(&mut self, linear: &Linear) {
        self.begin_system(linear.unknowns.len());
        match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assignment(assignment, false);
                }
            }
            Method::System { matrix, right } => {
                self.heading("A*x = b, solved at run time; x in brackets");
                let mut entries = matrix.iter().peekable();
                for (row, (&id, &right)) in linear.equations.iter().zip(right).enumerate() {
                    let mut terms = Vec::new();
                    while let Some(entry) = entries.next_if(|entry| entry.row as usize == row) {
                        terms.push((entry.value, linear.unknowns[entry.column as usize]));
                    }
                    self.row(id, &terms, right);
                }
            }
        }
        self.end_system();
    }

    /// Writes a row of a linear system: `R1.R*[R1.i] - [R1.u] = 0`.
    fn row(&mut self, id: EqId, terms: &[(ExprId, Leaf)], right: ExprId) {
        let origin = self.origin(Some(id));
        self.lines.begin(origin);
        let exprs = &self.flat().exprs;
        let mut text = String::new();
        // Added terms come before subtracted ones.
        let subtracted = |&(coefficient, _): &(ExprId, Leaf)| exprs.negated(coefficient).is_some();
        let (minus, plus): (Vec<_>, Vec<_>) = terms.iter().copied().partition(subtracted);
        for (at, (coefficient, unknown)) in plus.into_iter().chain(minus).enumerate() {
            let marked = [unknown];
            let printer = self.lines.printer(origin, &marked);
            let negated = exprs.negated(coefficient);
            let size = negated.unwrap_or(coefficient);
            text.push_str(sign(at == 0, negated.is_some()));
            if exprs.as_number(size) != Some(1.0) {
                let times = infix(BinaryOp::Mul, self.lines.style);
                printer.write_at(size, times.left, &mut text);
                text.push_str(times.word);
            }
            printer.leaf(unknown, &mut text);
        }
        text.push_str(" = ");
        self.lines.printer(origin, &[]).write(right, &mut text);
        let kind = self.flat().equations[id.index()].kind;
        self.lines.remark(kind, &mut text);
        text.push('\n');
        self.text(&text);
    }

    fn nonlinear(&mut self, nonlinear: &Nonlinear) {
        self.begin_system(nonlinear.unknowns.len());
        let names: Vec<String> = (nonlinear.iteration.iter())
            .map(|&leaf| {
                let mut name = String::new();
                (self.lines.printer(InstanceId::TOP, &[])).leaf(leaf, &mut name);
                name
            })
            .collect();
        let field = match nonlinear.by_field {
            true => ", in the order of an R-field",
            false => "",
        };
        self.heading(&format!("iterated on {}{field}", names.join(", ")));
        for assignment in &nonlinear.inner {
            self.assignment(assignment, true);
        }
        self.residuals(&nonlinear.residuals);
        self.end_system();
    }

    fn residuals(&mut self, residuals: &[Residual]) {
        for residual in residuals {
            let origin = self.origin(Some(residual.equation));
            self.lines.begin(origin);
            let mut text = String::from("0 = ");
            (self.lines.printer(origin, &[])).write(residual.value, &mut text);
            let kind = self.flat().equations[residual.equation.index()].kind;
            self.lines.remark(kind, &mut text);
            text.push('\n');
            self.text(&text);
        }
    }

    /// Writes the residuals of a selection. The run decides which variables they are solved for.
    fn selected(&mut self, selected: &Selected) {
        let flat = self.flat();
        let mut words = Vec::new();
        for &at in &selected.selections {
            let selection = &flat.selections()[at as usize];
            let level = reduction::level(flat, selection)
                .map(|level| format!(" OF {}", level.to_uppercase()));
            let choice = reduction::choice(flat, selection);
            words.push(format!("SELECTION{}: {choice}", level.unwrap_or_default()));
        }
        self.heading(&words.join("; "));
        self.residuals(&selected.residuals);
        self.heading("END OF SELECTION");
    }

    /// Lists divisors that can vanish, with the variables whose formulas contain them.
    fn guards(&mut self) {
        let printer = Printer {
            style: self.lines.style,
            ..Printer::new(self.flat())
        };
        let mut out = String::new();
        for assignment in self.model.assignments() {
            if let Some(guard) = assignment.guard {
                printer.leaf(assignment.target, &mut out);
                out.push_str(": ");
                printer.write_at(guard, precedence::SUM, &mut out);
                out.push_str(" <> 0\n");
            }
        }
        if !out.is_empty() {
            self.heading("DIVISORS CHECKED AT RUN TIME");
            self.text(&out);
        }
    }

    /// Lists coefficients that are zero for the given parameters; their terms were removed.
    fn zeros(&mut self) {
        if self.model.zeros.is_empty() {
            return;
        }
        self.heading("TAKEN AS ZERO");
        for &zero in &self.model.zeros {
            let text = self.flat().expression(zero);
            self.text(&format!("{text} = 0\n"));
        }
    }

    fn states(&mut self) {
        let flat = self.flat();
        let states: Vec<Leaf> = flat.states().collect();
        if states.is_empty() && flat.selections().is_empty() {
            return;
        }
        self.heading(match flat.reduction {
            Some(_) => "STATES: START VALUES CAN BE GIVEN",
            None => "STATES",
        });
        let printer = Printer {
            style: self.lines.style,
            ..Printer::new(flat)
        };
        let mut out = String::new();
        for state in states {
            printer.leaf(state, &mut out);
            if let Some(start) = flat.start_of(state) {
                out.push_str(&format!(", starts at {start}"));
            }
            out.push('\n');
        }
        for selection in flat.selections() {
            let choice = reduction::choice(flat, selection);
            let start = reduction::choice_at_start(flat, selection);
            let level = match reduction::level(flat, selection) {
                Some(level) => format!(" ({level})"),
                None => String::new(),
            };
            out.push_str(&format!("{choice}{level}, at the start {start}\n"));
        }
        self.text(&out);
    }

    /// Writes the counts of states, parameters, loops and others.
    fn counts(&mut self) {
        let flat = self.flat();
        let kinds = |kind: Kind| (flat.variables.iter()).filter(|v| v.kind == kind).count();
        let (mut assignments, mut formulas, mut systems) = (0, 0, 0);
        let (mut nonlinear, mut iterated, mut selected) = (0, 0, 0);
        for block in &self.model.blocks {
            match block {
                Block::Assignment(_) | Block::When(_) => assignments += 1,
                Block::Selected(_) => selected += 1,
                // A single nonlinear equation is no loop.
                Block::Nonlinear(one) if one.unknowns.len() == 1 => iterated += 1,
                Block::Nonlinear(_) => nonlinear += 1,
                Block::Linear(linear) => match linear.method {
                    Method::Formulas(_) => formulas += 1,
                    Method::System { .. } => systems += 1,
                },
            }
        }
        let loops = |number: usize, kind: &str, how: &str| match number {
            0 => None,
            _ => Some(format!("{}{how}", count(number, &format!("{kind} loop")))),
        };
        let things = |number: usize, what: &str| (number > 0).then(|| count(number, what));
        let words: Vec<String> = [
            things(flat.state_count(), "state"),
            things(kinds(Kind::Discrete), "discrete variable"),
            things(kinds(Kind::Input), "input"),
            things(kinds(Kind::Parameter), "parameter"),
            things(assignments, "assignment"),
            things(iterated, "equation").map(|text| text + " solved by iteration"),
            loops(formulas, "linear", " solved by formulas"),
            loops(systems, "linear", " solved at run time"),
            loops(nonlinear, "nonlinear", ""),
            things(selected, "selection"),
            things(flat.eliminated.len(), "eliminated variable"),
        ]
        .into_iter()
        .flatten()
        .collect();
        self.lines.blank_line();
        self.text(&format!("{}\n", words.join(", ")));
    }
}
