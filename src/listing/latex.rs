//! Listings as LaTeX documents: the submodel in the first column, then the equation.
//!
//! Before: a flat model, sorted or not. After: a document that needs only amsmath. Equations are set as text, so that
//! TeX breaks long ones at their operators; each is plain LaTeX between dollar signs that can be copied.

use super::latex_names::{LatexNames, escape};
use super::lines::{outputs_for_states, width};
use super::loops_in_words;
use super::reduction::{choice_words, differentiated, index, remark, times, why};
use crate::base::words::count;
use crate::expr::ExprId;
use crate::expr::latex::{Names, Sizes, Writer};
use crate::expr::print::Style;
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Leaf, Selection, VarId, WhenId};
use crate::passes::order::{Row, Sorted};

/// Longer names of submodels are set in a separate line.
const WIDEST: usize = 16;

/// The preamble. `\row` sets a submodel and an equation; `\ruled` and `\unruled` enclose a group.
pub(super) const PREAMBLE: &str = r"\documentclass[a4paper]{article}
\usepackage{amsmath}
\setlength{\oddsidemargin}{0pt}
\setlength{\textwidth}{16cm}
\setlength{\topmargin}{-1cm}
\setlength{\textheight}{24cm}
\setlength{\parindent}{0pt}
\setlength{\parskip}{3pt}
\setlength{\lineskip}{3pt}
\setlength{\lineskiplimit}{2pt}
\relpenalty=600
\binoppenalty=300
\newlength{\column}
\newcommand{\row}[2]{\par\hangindent=\column\makebox[\column][l]{\texttt{#1}}#2\par}
\newcommand{\ruled}[1]{\par\medskip\textit{#1}\enspace\hrulefill\par\nopagebreak}
\newcommand{\unruled}{\par\nopagebreak\hrulefill\par\medskip}
";

/// Returns a document with the flat equations.
pub fn equations(flat: &Flat, style: Style) -> String {
    equations_as(flat, style, None)
}

/// Like the function above; with `section`, it returns a section of a document.
pub(super) fn equations_as(flat: &Flat, style: Style, section: Option<&str>) -> String {
    let mut page = Page::new(flat, style, "", section);
    page.equations(flat.equation_ids(), None);
    page.finish()
}

/// Returns a document with the sorted equations: each with its unknown in brackets, loops between rules.
pub fn sorted(flat: &Flat, sorted: &Sorted, position: Option<&str>, style: Style) -> String {
    sorted_as(flat, sorted, position, style, None)
}

/// Like the function above; with `section`, it returns a section of a document.
pub(super) fn sorted_as(
    flat: &Flat,
    sorted: &Sorted,
    position: Option<&str>,
    style: Style,
    section: Option<&str>,
) -> String {
    let more = loops_in_words(sorted.loops().map(Vec::len)) + &paragraph(position);
    let mut page = Page::new(flat, style, &more, section);
    for block in &sorted.blocks {
        let is_loop = block.len() > 1;
        if is_loop {
            page.begin_group(&format!("loop of {}", count(block.len(), "equation")));
        }
        for &row in block {
            let unknown = Some(sorted.unknowns[row as usize]);
            match &sorted.rows[row as usize] {
                Row::Equation(id) => page.equations([*id], unknown),
                Row::When(_, ids) => page.equations(ids.iter().copied(), unknown),
                Row::Selection(at) => page.selection(*at),
            }
        }
        if is_loop {
            page.end_group();
        }
    }
    page.reduction();
    page.eliminated();
    page.finish()
}

/// Returns the remark on modes as a paragraph.
pub(super) fn paragraph(position: Option<&str>) -> String {
    position.map_or_else(String::new, |text| format!("\\par\n{}", escape(text)))
}

/// A document that is being written.
pub(super) struct Page<'f> {
    flat: &'f Flat,
    style: Style,
    sizes: Sizes,
    renamed: Vec<(VarId, VarId)>,
    /// The width of the first column in letters.
    column: usize,
    last: Option<InstanceId>,
    /// True for a complete document, false for a section.
    whole: bool,
    out: String,
}

impl<'f> Page<'f> {
    /// Begins with a line that shows model, equations, unknowns, and `more`. `section` is the heading if this is a
    /// section of a document.
    pub fn new(flat: &'f Flat, style: Style, more: &str, section: Option<&str>) -> Self {
        let renamed = match style {
            Style::Plain => Vec::new(),
            Style::Classic => outputs_for_states(flat),
        };
        let sizes = Sizes::new(&flat.exprs, &LatexNames::new(flat));
        let mut page = Page {
            flat,
            style,
            sizes,
            renamed,
            column: width(flat).min(WIDEST),
            last: None,
            whole: section.is_none(),
            out: match section {
                None => PREAMBLE.to_string(),
                Some(_) => String::new(),
            },
        };
        // A typewriter letter is slightly wider than half its height.
        let tenths = (page.column * 525).div_ceil(100) + 15;
        page.push(&format!(
            "\\setlength{{\\column}}{{{}.{}em}}\n",
            tenths / 10,
            tenths % 10
        ));
        if page.whole {
            page.push("\n\\begin{document}\n\\raggedright\n");
        }
        let (model, equations, unknowns) = (
            section.map_or_else(|| escape(flat.model()), str::to_string),
            count(flat.equation_count(), "equation"),
            count(flat.unknown_count(), "unknown"),
        );
        page.push(&format!(
            "\\section*{{{model}}}\n{equations}, {unknowns}{}{more}\\par\\medskip\n\n",
            index(flat)
        ));
        page
    }

    pub fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub fn finish(mut self) -> String {
        if self.whole {
            self.push("\n\\end{document}\n");
        }
        self.out
    }

    /// Begins a group: a rule with a title.
    pub fn begin_group(&mut self, words: &str) {
        self.push(&format!("\\ruled{{{words}}}\n"));
    }

    pub fn end_group(&mut self) {
        self.push("\\unruled\n");
    }

    pub fn heading(&mut self, words: &str) {
        self.push(&format!("\n\\subsection*{{{words}}}\n"));
        self.last = None;
    }

    pub fn writer(
        &self,
        origin: InstanceId,
        marked: Option<Leaf>,
    ) -> Writer<'_, Leaf, LatexNames<'_>> {
        Writer {
            arena: &self.flat.exprs,
            sizes: &self.sizes,
            names: LatexNames {
                from: match self.style {
                    Style::Plain => InstanceId::TOP,
                    Style::Classic => origin,
                },
                marked,
                renamed: &self.renamed,
                ..LatexNames::new(self.flat)
            },
        }
    }

    /// Writes one line. The submodel is omitted if it is the same as above.
    pub fn row(&mut self, origin: InstanceId, content: &str) {
        let mut name = String::new();
        if self.last.replace(origin) != Some(origin) {
            match origin {
                InstanceId::TOP => name.push_str(self.flat.model()),
                _ => self.flat.write_path(origin, InstanceId::TOP, &mut name),
            }
        }
        if name.chars().count() > self.column {
            // A long name is set in a separate line, which may break after a dot.
            let name = escape(&name).replace('.', ".\\allowbreak{}");
            self.push(&format!("\\par\\texttt{{{name}}}\\nopagebreak\n"));
            self.push(&format!("\\row{{}}{{{content}}}\n"));
        } else {
            let name = escape(&name);
            self.push(&format!("\\row{{{name}}}{{{content}}}\n"));
        }
    }

    /// A line that belongs to no submodel.
    pub fn bare_row(&mut self, content: &str) {
        self.push(&format!("\\row{{}}{{{content}}}\n"));
    }

    /// Writes consecutive equations, with the `when` blocks around them and the unknown in brackets.
    pub fn equations(&mut self, ids: impl IntoIterator<Item = EqId>, marked: Option<Leaf>) {
        let flat = self.flat;
        let mut open: Option<(WhenId, u16)> = None;
        for id in ids {
            let equation = &flat.equations[id.index()];
            let next = match equation.kind {
                EquationKind::When(id, branch) => Some((id, branch)),
                _ => None,
            };
            self.when_rows(open, next);
            let mut text = match next {
                Some(_) => "\\quad $\\displaystyle ".to_string(),
                None => "$\\displaystyle ".to_string(),
            };
            let writer = self.writer(equation.origin, marked);
            writer.side(equation.left, &mut text);
            text.push_str(" = ");
            writer.side(equation.right, &mut text);
            text.push('$');
            self.remark(equation.kind, &mut text);
            self.row(equation.origin, &text);
            open = next;
        }
        self.when_rows(open, None);
    }

    /// Writes one row of a selection.
    fn selection(&mut self, at: u32) {
        let selection = &self.flat.selections()[at as usize];
        let text = self.choice(selection);
        self.bare_row(&text);
    }

    /// Returns the description of a selection: `1 state of $x$, $y$`.
    pub fn choice(&self, selection: &Selection) -> String {
        choice_words(selection, &self.names(&selection.candidates))
    }

    /// Appends the origin of an equation that is not in the source.
    pub fn remark(&self, kind: EquationKind, text: &mut String) {
        if let Some(remark) = remark(self.flat, kind) {
            text.push_str(&format!("\\quad\\textit{{{}}}", escape(&remark)));
        }
    }

    /// Writes the differentiated equations, the states that were dropped, and the derivatives of inputs.
    pub fn reduction(&mut self) {
        let flat = self.flat;
        let Some(reduction) = &flat.reduction else {
            return;
        };
        if !reduction.derived.is_empty() {
            self.heading("Differentiated equations");
        }
        for derived in differentiated(reduction) {
            let mut text = "$\\displaystyle ".to_string();
            let writer = self.writer(derived.of.origin, None);
            writer.side(derived.of.left, &mut text);
            text.push_str(" = ");
            writer.side(derived.of.right, &mut text);
            text.push_str(&format!("$, {}", times(derived.times)));
            self.row(derived.of.origin, &text);
        }
        if !reduction.dropped.is_empty() {
            self.heading("No longer states: start values follow");
        }
        for dropped in &reduction.dropped {
            let name = self.names(&[dropped.state]);
            let why = escape(&why(flat, dropped));
            self.push(&format!("\\par {name}: {why}\n"));
        }
        if !reduction.inputs.is_empty() {
            self.heading("Derivatives of inputs: inputs of their own");
            let names = self.names(&reduction.inputs);
            self.push(&format!("{names}\n"));
        }
    }

    /// Returns a list of names: `$x$, $y$`.
    pub fn names(&self, leaves: &[Leaf]) -> String {
        let mut text = String::new();
        for (at, &leaf) in leaves.iter().enumerate() {
            text.push_str(if at == 0 { "$" } else { ", $" });
            Names::write(&self.writer(InstanceId::TOP, None).names, leaf, &mut text);
            text.push('$');
        }
        text
    }

    /// Ends the current `when` block and begins the next one, if they differ.
    fn when_rows(&mut self, open: Option<(WhenId, u16)>, next: Option<(WhenId, u16)>) {
        let flat = self.flat;
        let same = open.map(|(id, _)| id) == next.map(|(id, _)| id);
        if let (Some((id, _)), false) = (open, same) {
            self.row(flat.whens[id.index()].origin, "\\textbf{endwhen}");
        }
        let Some((id, branch)) = next.filter(|_| open != next) else {
            return;
        };
        // Branches without equations in between are listed too, because their conditions count.
        let first = match open {
            Some((_, last)) if same => last + 1,
            _ => 0,
        };
        let when = &flat.whens[id.index()];
        for at in first..=branch {
            let word = if at == 0 { "when" } else { "elsewhen" };
            let condition = self.math(when.conditions[usize::from(at)].0, when.origin);
            let text = format!("\\textbf{{{word}}} {condition} \\textbf{{then}}");
            self.row(when.origin, &text);
        }
    }

    /// Returns an expression between dollar signs.
    pub fn math(&self, id: ExprId, origin: InstanceId) -> String {
        let mut text = "$".to_string();
        self.writer(origin, None).whole(id, &mut text);
        text.push('$');
        text
    }

    /// Writes the eliminated variables with their expressions.
    pub fn eliminated(&mut self) {
        let flat = self.flat;
        if flat.eliminated.is_empty() {
            return;
        }
        self.heading("Eliminated variables");
        for alias in &flat.eliminated {
            let mut text = "\\par $\\displaystyle ".to_string();
            let names = LatexNames::new(flat);
            crate::expr::latex::Names::write(&names, alias.leaf, &mut text);
            text.push_str(" = ");
            let writer = Writer {
                arena: &flat.exprs,
                sizes: &self.sizes,
                names,
            };
            writer.side(alias.expression, &mut text);
            text.push_str("$\n");
            self.push(&text);
        }
    }
}
