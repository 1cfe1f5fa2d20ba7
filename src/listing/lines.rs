//! The lines of a text listing: the submodel in the first column, then the equation.

use super::reduction::{index, remark};
use crate::base::words::count;
use crate::expr::Node;
use crate::expr::print::Style;
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Kind, Leaf, Printer, VarId, WhenId};

/// The largest width of the first column.
const WIDEST: usize = 32;

/// The text of a listing. `Style::Plain`: full names everywhere. `Style::Classic`: the two columns of the 1990 paper,
/// with names relative to the submodel.
#[derive(Debug)]
pub struct Lines<'f> {
    pub(super) flat: &'f Flat,
    pub(super) style: Style,
    width: usize,
    last: Option<InstanceId>,
    renamed: Vec<(VarId, VarId)>,
    /// The mark before each equation that shows loops.
    pub mark: &'static str,
    pub out: String,
}

impl<'f> Lines<'f> {
    /// Begins with a line that shows model, equations, unknowns, and `more`.
    pub fn new(flat: &'f Flat, style: Style, more: &str) -> Self {
        let out = format!(
            "{}: {}, {}{}{more}\n\n",
            flat.model(),
            count(flat.equation_count(), "equation"),
            count(flat.unknown_count(), "unknown"),
            index(flat),
        );
        Lines {
            flat,
            style,
            width: width(flat),
            last: None,
            renamed: match style {
                Style::Plain => Vec::new(),
                Style::Classic => outputs_for_states(flat),
            },
            mark: "",
            out,
        }
    }

    /// Writes the first column; it is blank if the submodel is the same as above.
    pub(super) fn begin(&mut self, origin: InstanceId) {
        let start = self.out.len();
        if self.last.replace(origin) != Some(origin) {
            match origin {
                InstanceId::TOP => self.out.push_str(self.flat.model()),
                _ => self.flat.write_path(origin, InstanceId::TOP, &mut self.out),
            }
        }
        self.pad(start);
    }

    /// Writes a blank first column.
    pub(super) fn begin_blank(&mut self) {
        self.pad(self.out.len());
    }

    fn pad(&mut self, start: usize) {
        let written = self.out[start..].chars().count();
        let blanks = (self.width + 2).saturating_sub(written).max(2);
        self.out.extend(std::iter::repeat_n(' ', blanks));
        self.out.push_str(self.mark);
    }

    pub(super) fn printer<'a>(&'a self, origin: InstanceId, marked: &'a [Leaf]) -> Printer<'a> {
        Printer {
            from: match self.style {
                Style::Plain => InstanceId::TOP,
                Style::Classic => origin,
            },
            names: None,
            style: self.style,
            marked,
            renamed: &self.renamed,
            ..Printer::new(self.flat)
        }
    }

    /// Writes consecutive equations, with the `when` blocks around them and the unknown in brackets.
    pub fn equations(&mut self, ids: impl IntoIterator<Item = EqId>, marked: &[Leaf]) {
        let mut open: Option<(WhenId, u16)> = None;
        for id in ids {
            let equation = &self.flat.equations[id.index()];
            let next = match equation.kind {
                EquationKind::When(id, branch) => Some((id, branch)),
                _ => None,
            };
            self.when_lines(open, next, equation.origin);
            self.begin(equation.origin);
            if next.is_some() {
                self.out.push_str("  ");
            }
            let mut text = String::new();
            let printer = self.printer(equation.origin, marked);
            printer.write(equation.left, &mut text);
            text.push_str(" = ");
            printer.write(equation.right, &mut text);
            self.remark(equation.kind, &mut text);
            text.push('\n');
            self.out.push_str(&text);
            open = next;
        }
        self.when_lines(open, None, InstanceId::TOP);
    }

    /// Appends the origin of an equation that is not in the source.
    pub(super) fn remark(&self, kind: EquationKind, text: &mut String) {
        if let Some(remark) = remark(self.flat, kind) {
            text.push_str(&format!("  {{ {remark} }}"));
        }
    }

    /// Writes a heading between blank lines. The next line shows its submodel again.
    pub(super) fn heading(&mut self, text: &str) {
        self.blank_line();
        self.out.push_str(text);
        self.out.push_str("\n\n");
        self.forget_submodel();
    }

    /// Makes the next line show its submodel even if it is the same as above.
    pub fn forget_submodel(&mut self) {
        self.last = None;
    }

    /// Ends with exactly one blank line.
    pub(super) fn blank_line(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Writes the eliminated variables with their expressions, under a heading.
    pub fn eliminated(&mut self, heading: &str, wanted: impl Fn(Leaf) -> bool) {
        let printer = Printer {
            style: self.style,
            ..Printer::new(self.flat)
        };
        let mut some = false;
        for alias in self
            .flat
            .eliminated
            .iter()
            .filter(|alias| wanted(alias.leaf))
        {
            if !some {
                self.blank_line();
                self.out.push_str(&format!("{heading}\n\n"));
                some = true;
            }
            printer.leaf(alias.leaf, &mut self.out);
            self.out.push_str(" = ");
            printer.write(alias.expression, &mut self.out);
            self.out.push('\n');
        }
    }

    /// Ends the current `when` block and begins the next one, if they differ.
    fn when_lines(
        &mut self,
        open: Option<(WhenId, u16)>,
        next: Option<(WhenId, u16)>,
        origin: InstanceId,
    ) {
        if open == next {
            return;
        }
        let same = open.map(|(id, _)| id) == next.map(|(id, _)| id);
        if let (Some((id, _)), false) = (open, same) {
            self.begin(self.flat.whens[id.index()].origin);
            self.out.push_str("endwhen\n");
        }
        let Some((id, branch)) = next else { return };
        // Branches without equations in between are listed too, because their conditions count.
        let first = match open {
            Some((_, last)) if same => last + 1,
            _ => 0,
        };
        for at in first..=branch {
            self.begin(origin);
            let (condition, _) = self.flat.whens[id.index()].conditions[at as usize];
            let word = if at == 0 { "when " } else { "elsewhen " };
            self.out.push_str(word);
            let mut text = String::new();
            self.printer(origin, &[]).write(condition, &mut text);
            self.out.push_str(&text);
            self.out.push_str(" then\n");
        }
    }
}

/// Returns states that the 1990 paper shows under the name of an output (y1 for C1.e).
pub fn outputs_for_states(flat: &Flat) -> Vec<(VarId, VarId)> {
    (flat.eliminated.iter())
        .filter(|alias| flat.variable(alias.leaf.variable()).output)
        .filter_map(
            |alias| match (alias.leaf, flat.exprs.node(alias.expression)) {
                (Leaf::Var(output), Node::Leaf(Leaf::Var(state))) => Some((state, output)),
                _ => None,
            },
        )
        .filter(|&(state, _)| flat.variable(state).kind == Kind::State)
        .collect()
}

/// Returns the width of the first column in letters.
pub(super) fn width(flat: &Flat) -> usize {
    let mut widest = flat.model().chars().count();
    let mut last = None;
    let mut path = String::new();
    for equation in &flat.equations {
        if last.replace(equation.origin) != Some(equation.origin) {
            path.clear();
            flat.write_path(equation.origin, InstanceId::TOP, &mut path);
            widest = widest.max(path.chars().count());
        }
    }
    widest.min(WIDEST)
}
