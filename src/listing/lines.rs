//! The lines of a listing: the submodel in the first column, then the equation.

use super::reduction::{index, remark};
use crate::base::words::count;
use crate::expr::Node;
use crate::expr::print::{Source, Style};
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Kind, Leaf, Printer, VarId, WhenId};

/// The first column is as wide as the longest name in it, within reason.
const WIDEST: usize = 32;

/// Default: full names everywhere. `Style::Classic`: the two columns of the 1990 paper, with names
/// as the submodel itself knows them.
#[derive(Debug)]
pub struct Lines<'f> {
    pub(super) flat: &'f Flat,
    pub(super) style: Style,
    width: usize,
    last: Option<InstanceId>,
    renamed: Vec<(VarId, VarId)>,
    /// Stands before each equation: marks loops.
    pub mark: &'static str,
    pub out: String,
}

impl<'f> Lines<'f> {
    /// Begins with a line that says model, equations, unknowns, and what else is to be said.
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

    /// The first column, blank when it is the same as above.
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

    /// A first column that says nothing.
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

    /// A run of equations, `when`s around those that stand in one; the unknown in brackets.
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

    /// What an equation comes from that the source does not have, behind it.
    pub(super) fn remark(&self, kind: EquationKind, text: &mut String) {
        if let Some(remark) = remark(self.flat, kind) {
            text.push_str(&format!("  {{ {remark} }}"));
        }
    }

    /// A line between blank ones, after which the first column is written anew.
    pub(super) fn heading(&mut self, text: &str) {
        self.blank_line();
        self.out.push_str(text);
        self.out.push_str("\n\n");
        self.forget_submodel();
    }

    /// The next line names its submodel, whatever stands above it.
    pub fn forget_submodel(&mut self) {
        self.last = None;
    }

    /// One blank line, however much stands there already.
    pub(super) fn blank_line(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// What was eliminated, and what stands for it, under a heading.
    pub fn eliminated(&mut self, heading: &str, wanted: impl Fn(Leaf) -> bool) {
        let printer = Printer {
            style: self.style,
            ..Printer::new(self.flat)
        };
        let mut some = false;
        for gone in self.flat.eliminated.iter().filter(|gone| wanted(gone.leaf)) {
            if !some {
                self.blank_line();
                self.out.push_str(&format!("{heading}\n\n"));
                some = true;
            }
            printer.leaf(gone.leaf, &mut self.out);
            self.out.push_str(" = ");
            printer.write(gone.expression, &mut self.out);
            self.out.push('\n');
        }
    }

    /// Closes the `when` that ends here and opens the one that begins.
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
        // Branches without equations are passed over, but their conditions count.
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

/// States that an output stands for, as in the 1990 paper (y1 for C1.e).
pub fn outputs_for_states(flat: &Flat) -> Vec<(VarId, VarId)> {
    (flat.eliminated.iter())
        .filter(|gone| flat.variable(gone.leaf.variable()).output)
        .filter_map(|gone| match (gone.leaf, flat.exprs.node(gone.expression)) {
            (Leaf::Var(output), Node::Leaf(Leaf::Var(state))) => Some((state, output)),
            _ => None,
        })
        .filter(|&(state, _)| flat.variable(state).kind == Kind::State)
        .collect()
}

/// Letters of the first column.
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
