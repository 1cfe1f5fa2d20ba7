//! The solved model as a LaTeX document: assignments in the order of evaluation, loops between rules.
//!
//! Before: [`Solved`]. After: a document as in [`super::latex`]. A linear loop that is solved at run time is shown by
//! its rows; a nonlinear loop by its iteration variables, its inner assignments and its residuals.

use super::latex::{Page, paragraph};
use super::loops_in_words;
use super::solved::loop_sizes;
use crate::base::words::count;
use crate::expr::ExprId;
use crate::expr::latex::Names;
use crate::expr::print::Style;
use crate::flat::{EqId, InstanceId, Leaf};
use crate::passes::blocks::{
    Assignment, Block, Entry, Linear, Method, Nonlinear, Residual, Selected, Solved,
};

/// The title of a loop shows at most this many unknowns.
const MOST_NAMED: usize = 12;

/// Returns a document with the solved equations.
pub fn solved(solved: &Solved, position: Option<&str>, style: Style) -> String {
    solved_as(solved, position, style, None)
}

/// Like the function above; with `section`, it returns a section of a document.
pub(super) fn solved_as(
    solved: &Solved,
    position: Option<&str>,
    style: Style,
    section: Option<&str>,
) -> String {
    let flat = &solved.flat;
    let more = loops_in_words(loop_sizes(solved)) + &paragraph(position);
    let mut listing = LatexListing {
        solved,
        page: Page::new(flat, style, &more, section),
    };
    for block in &solved.blocks {
        match block {
            Block::Assignment(it) => listing.assignment(it),
            Block::Linear(it) => listing.linear(it),
            Block::Nonlinear(it) => listing.nonlinear(it),
            Block::Selected(it) => listing.selected(it),
            Block::When(it) => listing.page.equations(it.equations.iter().copied(), None),
        }
    }
    if !solved.zeros.is_empty() {
        listing.page.heading("Taken as zero");
    }
    for &zero in &solved.zeros {
        let zero = listing.page.math(zero, InstanceId::TOP);
        listing.page.push(&format!("\\par {zero}\n"));
    }
    listing.page.eliminated();
    let states: Vec<Leaf> = flat.states().collect();
    if !states.is_empty() || !flat.selections().is_empty() {
        listing.page.heading(match flat.reduction {
            Some(_) => "States: start values can be given",
            None => "States",
        });
        let names = listing.page.names(&states);
        listing.page.push(&format!("{names}\n"));
    }
    for selection in flat.selections() {
        let words = listing.page.choice(selection);
        let start = listing.page.names(&selection.choice);
        (listing.page).push(&format!("\\par {words}, at the start {start}\n"));
    }
    listing.page.reduction();
    listing.page.finish()
}

struct LatexListing<'f> {
    solved: &'f Solved,
    page: Page<'f>,
}

impl LatexListing<'_> {
    fn origin(&self, equation: EqId) -> InstanceId {
        self.solved.flat.equations[equation.index()].origin
    }

    /// Returns the first names of a list.
    fn few(&self, leaves: &[Leaf]) -> String {
        let shown = &leaves[..leaves.len().min(MOST_NAMED)];
        let more = if shown.len() < leaves.len() {
            ", \\dots"
        } else {
            ""
        };
        self.page.names(shown) + more
    }

    /// Writes `x = value`, and the divisor that must not be zero.
    fn assignment(&mut self, it: &Assignment) {
        let origin = it.equation.map_or(InstanceId::TOP, |id| self.origin(id));
        let mut text = "$\\displaystyle ".to_string();
        let writer = self.page.writer(origin, None);
        writer.names.write(it.target, &mut text);
        text.push_str(" = ");
        writer.side(it.value, &mut text);
        text.push('$');
        if let Some(divisor) = it.guard {
            text.push_str("\\quad where $");
            writer.side(divisor, &mut text);
            text.push_str(" \\ne 0$");
        }
        match it.equation {
            Some(_) => self.page.row(origin, &text),
            // An auxiliary belongs to no submodel.
            None => self.page.bare_row(&text),
        }
    }

    fn linear(&mut self, it: &Linear) {
        let size = count(it.equations.len(), "equation");
        self.page.begin_group(&format!(
            "linear system of {size} for {}",
            self.few(&it.unknowns)
        ));
        match &it.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assignment(assignment);
                }
            }
            Method::System { matrix, right } => {
                let mut rest = &matrix[..];
                for (row, (&equation, &right)) in it.equations.iter().zip(right).enumerate() {
                    let end = rest.partition_point(|entry| entry.row as usize <= row);
                    let (entries, more) = rest.split_at(end);
                    rest = more;
                    self.matrix_row(entries, &it.unknowns, right, equation);
                }
            }
        }
        self.page.end_group();
    }

    /// Writes a row of a linear system: `a x + b y = c`.
    fn matrix_row(&mut self, entries: &[Entry], unknowns: &[Leaf], right: ExprId, equation: EqId) {
        let origin = self.origin(equation);
        let mut text = "$\\displaystyle ".to_string();
        let writer = self.page.writer(origin, None);
        for (at, entry) in entries.iter().enumerate() {
            let unknown = unknowns[entry.column as usize];
            writer.term(entry.value, at == 0, &mut text, |out| {
                writer.names.write(unknown, out);
            });
        }
        if entries.is_empty() {
            text.push('0');
        }
        text.push_str(" = ");
        writer.side(right, &mut text);
        text.push('$');
        self.page.row(origin, &text);
    }

    fn nonlinear(&mut self, it: &Nonlinear) {
        let what = match it.equations.len() {
            1 => "nonlinear equation".to_string(),
            many => format!("nonlinear system of {many} equations"),
        };
        let iterated = self.few(&it.iteration);
        let field = match it.by_field {
            true => ", in the order of an R-field",
            false => "",
        };
        self.page
            .begin_group(&format!("{what}, iterated for {iterated}{field}"));
        for assignment in &it.inner {
            self.assignment(assignment);
        }
        self.residuals(&it.residuals);
        self.page.end_group();
    }

    fn residuals(&mut self, residuals: &[Residual]) {
        for residual in residuals {
            let origin = self.origin(residual.equation);
            let mut text = "$\\displaystyle 0 = ".to_string();
            self.page
                .writer(origin, None)
                .side(residual.value, &mut text);
            text.push('$');
            let kind = self.solved.flat.equations[residual.equation.index()].kind;
            self.page.remark(kind, &mut text);
            self.page.row(origin, &text);
        }
    }

    /// Writes the residuals of a selection. The run decides which variables they are solved for.
    fn selected(&mut self, it: &Selected) {
        let words: Vec<String> = (it.selections.iter())
            .map(|&at| {
                self.page
                    .choice(&self.solved.flat.selections()[at as usize])
            })
            .collect();
        self.page
            .begin_group(&format!("selection of {}", words.join("; ")));
        self.residuals(&it.residuals);
        self.page.end_group();
    }
}
