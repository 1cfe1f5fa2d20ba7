//! A report of a model as a LaTeX document: variables; flat, sorted and solved equations; picture of the bond graph.
//!
//! Before: the model at each stage. After: a document that needs amsmath and TikZ and compiles with pdflatex.

use super::latex::{PREAMBLE, equations_as, sorted_as};
use super::latex_letters::letter;
use super::latex_names::LatexNames;
use super::latex_solved::solved_as;
use crate::bond::sketch::Sketch;
use crate::expr::Value;
use crate::expr::latex::Names;
use crate::expr::print::Style;
use crate::expr::show_number;
use crate::flat::{Flat, Kind, Leaf, VarId};
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::picture::bond::tikz;

/// The space for the picture: the width of the text and most of its height, in points.
const PICTURE_SIZE: (f64, f64) = (455.0, 600.0);

/// A model at each stage. `picture` is `None` without power ports.
#[derive(Clone, Copy, Debug)]
pub struct Stages<'s> {
    pub flat: &'s Flat,
    pub sorted: (&'s Flat, &'s Sorted),
    /// Remarks on modes, if one order or one set of formulas is not valid for all modes.
    pub sorted_where: Option<&'s str>,
    pub solved_where: Option<&'s str>,
    pub solved: &'s Solved,
    pub picture: Option<&'s Sketch>,
}

pub fn report(stages: &Stages<'_>) -> String {
    let flat = stages.flat;
    let mut out = PREAMBLE.to_string();
    out.push_str("\\usepackage[T1]{fontenc}\n\\usepackage{textcomp}\n\\usepackage{longtable}\n\\usepackage{tikz}\n");
    out.push_str("\n\\begin{document}\n\\raggedright\n");
    out.push_str(&format!("\\section*{{{}}}\n", prose(flat.model())));
    if let Some(sketch) = stages.picture {
        out.push_str("\\subsection*{Bond graph}\n");
        out.push_str(&tikz(sketch, PICTURE_SIZE, &prose));
    }
    out.push_str("\\section*{Variables}\n");
    variables(flat, &mut out);
    out.push_str(&equations_as(flat, Style::Plain, Some("Equations")));
    let (sorted_flat, sorted) = stages.sorted;
    out.push_str(&sorted_as(
        sorted_flat,
        sorted,
        stages.sorted_where,
        Style::Plain,
        Some("Sorted equations"),
    ));
    out.push_str(&solved_as(
        stages.solved,
        stages.solved_where,
        Style::Plain,
        Some("Solved equations"),
    ));
    out.push_str("\n\\end{document}\n");
    out
}

/// Writes a table for each kind of variable: name, value or start value, unit, description.
fn variables(flat: &Flat, out: &mut String) {
    let of = |kinds: &[Kind]| -> Vec<VarId> {
        let all = flat.variable_ids();
        all.filter(|&id| kinds.contains(&flat.variable(id).kind))
            .collect()
    };
    let groups = [
        (
            "Parameters and constants",
            of(&[Kind::Parameter, Kind::Constant]),
        ),
        ("Inputs", of(&[Kind::Input])),
        ("States", of(&[Kind::State])),
        ("Discrete variables", of(&[Kind::Discrete])),
        ("Outputs", of(&[Kind::Output])),
        ("Other variables", of(&[Kind::Algebraic])),
    ];
    for (heading, ids) in groups {
        if ids.is_empty() {
            continue;
        }
        out.push_str(&format!("\\subsection*{{{heading}}}\n"));
        out.push_str("\\begin{longtable}[l]{@{}llll@{}}\n");
        for id in ids {
            let mut name = String::new();
            Names::write(&LatexNames::new(flat), Leaf::Var(id), &mut name);
            let value = (flat.value(id).or_else(|| flat.start(id))).map(|given| given.value);
            let value = value.map_or(String::new(), number);
            let remarks = &flat.declaration(id).remarks;
            let unit = remarks.unit.as_deref().map_or(String::new(), prose);
            let words = remarks.description.as_deref().map_or(String::new(), prose);
            out.push_str(&format!(
                "${name}$ & {value} & {unit} & \\parbox[t]{{7cm}}{{\\raggedright {words}}} \\\\\n"
            ));
        }
        out.push_str("\\end{longtable}\n");
    }
}

/// Returns a number in LaTeX: `$1.5 \cdot 10^{-3}$`.
fn number(value: Value) -> String {
    let value = match value {
        Value::Bool(value) => return value.to_string(),
        Value::Real(value) => value,
    };
    let text = show_number(value);
    match text.split_once('e') {
        Some((digits, power)) => format!("${digits} \\cdot 10^{{{power}}}$"),
        None => format!("${text}$"),
    }
}

/// Escapes any text for text mode, including special characters of TeX.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '\'' => out.push_str("\\textquotesingle{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            // TeX would set two hyphens as one dash.
            '-' => out.push_str("-{}"),
            c if c.is_ascii_graphic() || c == ' ' => out.push(c),
            // A tab or a line end.
            c if c.is_ascii() => out.push(' '),
            c => out.push_str(&letter(c)),
        }
    }
    out
}
