//! The solved equations as text, under the headings of the 1990 and 1995 papers.

use super::lines::{Lines, count};
use crate::expr::op::precedence;
use crate::expr::print::{Source, Style, precedence_of};
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf, Printer};
use crate::solve::{Assignment, Block, Linear, Method, Nonlinear, Solved};

pub fn solved(model: &Solved, style: Style) -> String {
    let flat = &model.flat;
    let mut listing = Listing {
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
    listing.counts();
    listing.lines.out
}

/// Loops are blocks of several equations.
pub(super) fn loop_sizes(model: &Solved) -> impl Iterator<Item = usize> {
    (model.blocks.iter())
        .map(|block| block.unknowns().len())
        .filter(|&size| size > 1)
}

struct Listing<'f> {
    lines: Lines<'f>,
    model: &'f Solved,
}

impl<'f> Listing<'f> {
    fn flat(&self) -> &'f Flat {
        &self.model.flat
    }

    fn text(&mut self, text: &str) {
        self.lines.out.push_str(text);
    }

    /// A line between blank ones, after which the first column is written anew.
    fn heading(&mut self, text: &str) {
        self.lines.blank_line();
        self.lines.out.push_str(text);
        self.lines.out.push_str("\n\n");
        self.lines.forget_submodel();
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assignment(assignment) => self.assignment(assignment),
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

    fn assignment(&mut self, assignment: &Assignment) {
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
                    self.assignment(assignment);
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

    /// `R1.R*[R1.i] - [R1.u] = 0`
    fn row(&mut self, id: EqId, terms: &[(ExprId, Leaf)], right: ExprId) {
        let origin = self.origin(Some(id));
        self.lines.begin(origin);
        let exprs = &self.flat().exprs;
        let mut text = String::new();
        // What is added before what is subtracted.
        let subtracted = |&(coefficient, _): &(ExprId, Leaf)| exprs.negated(coefficient).is_some();
        let (minus, plus): (Vec<_>, Vec<_>) = terms.iter().copied().partition(subtracted);
        for (at, (coefficient, unknown)) in plus.into_iter().chain(minus).enumerate() {
            let marked = [unknown];
            let printer = self.lines.printer(origin, &marked);
            let (negative, size) = match exprs.node(coefficient) {
                Node::Unary(UnaryOp::Minus, a) => (true, a),
                _ => (false, coefficient),
            };
            text.push_str(match (at, negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            });
            if exprs.as_number(size) != Some(1.0) {
                let weak = precedence_of(&exprs.node(size)) < precedence::PRODUCT;
                text.push_str(if weak { "(" } else { "" });
                printer.write(size, &mut text);
                text.push_str(if weak { ")" } else { "" });
                text.push_str(match self.lines.style {
                    Style::Plain => "*",
                    Style::Classic => " * ",
                });
            }
            printer.leaf(unknown, &mut text);
        }
        text.push_str(" = ");
        self.lines.printer(origin, &[]).write(right, &mut text);
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
        self.heading(&format!("iterated on {}", names.join(", ")));
        for assignment in &nonlinear.inner {
            self.assignment(assignment);
        }
        for residual in &nonlinear.residuals {
            let origin = self.origin(Some(residual.equation));
            self.lines.begin(origin);
            let mut text = String::from("0 = ");
            (self.lines.printer(origin, &[])).write(residual.value, &mut text);
            text.push('\n');
            self.text(&text);
        }
        self.end_system();
    }

    /// Divisors that can vanish, with what is divided by them.
    fn guards(&mut self) {
        let printer = Printer {
            style: self.lines.style,
            ..Printer::new(self.flat())
        };
        let mut out = String::new();
        for assignment in self.model.assignments() {
            if let Some(guard) = assignment.guard {
                printer.leaf(assignment.target, &mut out);
                let weak = precedence_of(&self.flat().exprs.node(guard)) < precedence::SUM;
                out.push_str(if weak { ": (" } else { ": " });
                printer.write(guard, &mut out);
                out.push_str(if weak { ") <> 0\n" } else { " <> 0\n" });
            }
        }
        if !out.is_empty() {
            self.heading("DIVISORS CHECKED AT RUN TIME");
            self.text(&out);
        }
    }

    /// Coefficients that are zero as given: what they stand before is not there.
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
        if states.is_empty() {
            return;
        }
        self.heading("STATES");
        let printer = Printer {
            style: self.lines.style,
            ..Printer::new(flat)
        };
        let mut out = String::new();
        for state in states {
            printer.leaf(state, &mut out);
            if let Leaf::Var(variable) = state
                && let Some(start) = flat.start(variable)
            {
                out.push_str(&format!(", starts at {}", start.value));
            }
            out.push('\n');
        }
        self.text(&out);
    }

    /// How many of what there are.
    fn counts(&mut self) {
        let flat = self.flat();
        let kinds = |kind: Kind| (flat.variables.iter()).filter(|v| v.kind == kind).count();
        let (mut assignments, mut formulas, mut systems) = (0, 0, 0);
        let (mut nonlinear, mut iterated) = (0, 0);
        for block in &self.model.blocks {
            match block {
                Block::Assignment(_) | Block::When(_) => assignments += 1,
                // One equation alone is no loop.
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
            things(flat.states().count(), "state"),
            things(kinds(Kind::Discrete), "discrete variable"),
            things(kinds(Kind::Input), "input"),
            things(kinds(Kind::Parameter), "parameter"),
            things(assignments, "assignment"),
            things(iterated, "equation").map(|text| text + " solved by iteration"),
            loops(formulas, "linear", " solved by formulas"),
            loops(systems, "linear", " solved at run time"),
            loops(nonlinear, "nonlinear", ""),
            things(flat.eliminated.len(), "eliminated variable"),
        ]
        .into_iter()
        .flatten()
        .collect();
        self.lines.blank_line();
        self.text(&format!("{}\n", words.join(", ")));
    }
}
