//! A, B, C, D and transfer functions as formulas: text, LaTeX and json.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::formats::bracketed;
use super::json::{Document, Fields};
use super::title;
use crate::analyse::Analysed;
use crate::analyse::symbolic::polynomial::Polynomial;
use crate::analyse::symbolic::rational::Rational;
use crate::analyse::symbolic::transfer::Transfer;
use crate::analyse::symbolic::{Formulas, Grid};
use crate::expr::Node;
use crate::expr::print::Style;
use crate::flat::{InstanceId, Leaf};
use crate::listing::latex::Page;
use crate::listing::latex_names::escape;

/// Formulas, and transfer functions if there are any that can be read.
#[derive(Debug)]
pub struct Shown<'a> {
    pub analysed: &'a Analysed,
    pub formulas: &'a Formulas,
    pub transfers: Option<&'a [Transfer]>,
}

/// How products, powers and quotients are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Text,
    Latex,
}

struct Writer<'a> {
    /// The names of symbols, the last of which is s.
    names: Vec<String>,
    spelling: Spelling,
    shown: &'a Shown<'a>,
}

impl Writer<'_> {
    fn polynomial(&self, of: &Polynomial) -> String {
        let mut out = String::new();
        for (coefficient, powers) in of.terms().rev() {
            let sign = match (out.is_empty(), coefficient < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            out.push_str(sign);
            let mut factors = Vec::new();
            if coefficient.unsigned_abs() != 1 || powers.is_empty() {
                factors.push(coefficient.unsigned_abs().to_string());
            }
            for &(symbol, power) in powers {
                let name = &self.names[symbol as usize];
                factors.push(match (power, self.spelling) {
                    (1, _) => name.clone(),
                    (_, Spelling::Text) => format!("{name}**{power}"),
                    (_, Spelling::Latex) => format!("{{{name}}}^{{{power}}}"),
                });
            }
            out.push_str(&factors.join(match self.spelling {
                Spelling::Text => "*",
                Spelling::Latex => "\\,",
            }));
        }
        if out.is_empty() { "0".to_string() } else { out }
    }

    fn rational(&self, of: &Rational) -> String {
        if of.bottom.is_one() {
            return self.polynomial(&of.top);
        }
        let (mut top, bottom) = (of.top.clone(), &of.bottom);
        let negative = top.is_negative();
        if negative {
            top = top.negated();
        }
        let sign = if negative { "-" } else { "" };
        let (above, below) = (self.polynomial(&top), self.polynomial(bottom));
        match self.spelling {
            Spelling::Latex => format!("{sign}\\frac{{{above}}}{{{below}}}"),
            Spelling::Text => {
                let above = if top.len() > 1 {
                    format!("({above})")
                } else {
                    above
                };
                let alone = bottom.len() == 1
                    && bottom.terms().all(|(number, powers)| {
                        powers.len() + usize::from(number.unsigned_abs() != 1) <= 1
                    });
                let below = if alone { below } else { format!("({below})") };
                format!("{sign}{above}/{below}")
            }
        }
    }

    /// By falling powers of s, each coefficient between brackets if it is a sum.
    fn in_s(&self, powers: &[Polynomial]) -> String {
        let mut out = String::new();
        for (power, coefficient) in powers.iter().enumerate().rev() {
            if coefficient.is_zero() {
                continue;
            }
            let negative = coefficient.is_negative();
            let size = if negative {
                coefficient.negated()
            } else {
                coefficient.clone()
            };
            out.push_str(match (out.is_empty(), negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            let mut text = self.polynomial(&size);
            if size.len() > 1 && (power > 0 || negative) {
                text = format!("({text})");
            }
            let times = if self.spelling == Spelling::Text {
                "*"
            } else {
                "\\,"
            };
            out.push_str(&match (power, size.is_one(), self.spelling) {
                (0, ..) => text,
                (1, true, _) => "s".to_string(),
                (1, false, _) => format!("{text}{times}s"),
                (_, true, Spelling::Text) => format!("s**{power}"),
                (_, false, Spelling::Text) => format!("{text}*s**{power}"),
                (_, true, Spelling::Latex) => format!("s^{{{power}}}"),
                (_, false, Spelling::Latex) => format!("{text}\\,s^{{{power}}}"),
            });
        }
        if out.is_empty() { "0".to_string() } else { out }
    }

    /// `A`, `B`, `B_der` ... with their formulas, and rows and columns.
    fn grids(&self) -> Vec<(String, &Grid, Vec<Leaf>, Vec<Leaf>)> {
        let formulas = self.shown.formulas;
        let linear = &self.shown.analysed.linear;
        let rates: Vec<Leaf> = linear.states.iter().map(|state| state.rate()).collect();
        let inputs = |order: usize| -> Vec<Leaf> {
            let inputs = linear.inputs.iter();
            inputs
                .map(|leaf| Leaf::at_order(leaf.variable(), order as u8))
                .collect()
        };
        let states = linear.states.clone();
        let mut found = vec![("A".to_string(), &formulas.a, rates.clone(), states.clone())];
        let end = |order: usize| match order {
            0 => String::new(),
            1 => "_der".to_string(),
            _ => format!("_der{order}"),
        };
        let is_zero = |grid: &Grid| grid.iter().flatten().all(Rational::is_zero);
        found.push(("B".to_string(), &formulas.b[0], rates.clone(), inputs(0)));
        found.push(("C".to_string(), &formulas.c, linear.outputs.clone(), states));
        found.push((
            "D".to_string(),
            &formulas.d[0],
            linear.outputs.clone(),
            inputs(0),
        ));
        for order in 1..formulas.b.len() {
            for (letter, grid, rows) in [
                ("B", &formulas.b[order], &rates),
                ("D", &formulas.d[order], &linear.outputs),
            ] {
                if !is_zero(grid) {
                    found.push((
                        format!("{letter}{}", end(order)),
                        grid,
                        rows.clone(),
                        inputs(order),
                    ));
                }
            }
        }
        found
    }
}

impl Shown<'_> {
    fn writer(&self, spelling: Spelling) -> Writer<'_> {
        let flat = self.analysed.linear.flat();
        let page = (spelling == Spelling::Latex).then(|| Page::new(flat, Style::Plain, "", None));
        let atoms = self.formulas.atoms.list.iter();
        let mut names: Vec<String> = atoms
            .map(|atom| match &page {
                Some(page) => {
                    let text = page.math(atom.of, InstanceId::TOP);
                    let text = text.trim_matches('$').to_string();
                    match flat.exprs.node(atom.of) {
                        Node::Leaf(_) | Node::Number(_) | Node::Time => text,
                        _ => format!("\\left({text}\\right)"),
                    }
                }
                None => {
                    let text = flat.expression(atom.of);
                    match flat.exprs.node(atom.of) {
                        Node::Binary(..) | Node::If(..) | Node::Unary(..) => format!("({text})"),
                        _ => text,
                    }
                }
            })
            .collect();
        names.push("s".to_string());
        Writer {
            names,
            spelling,
            shown: self,
        }
    }

    pub fn text(&self) -> String {
        let linear = &self.analysed.linear;
        let writer = self.writer(Spelling::Text);
        let mut out = title("FORMULAS OF THE LINEARISATION", self.analysed);
        for (name, grid, rows, columns) in writer.grids() {
            if rows.is_empty() || columns.is_empty() {
                continue;
            }
            out.push_str(&format!("\n{name} ({} x {})\n", rows.len(), columns.len()));
            let mut lines = Vec::new();
            for (row, &leaf) in grid.iter().zip(&rows) {
                for (entry, &column) in row.iter().zip(&columns) {
                    if !entry.is_zero() {
                        lines.push(format!(
                            "    {} by {}: {}\n",
                            linear.name(leaf),
                            linear.name(column),
                            writer.rational(entry)
                        ));
                    }
                }
            }
            match lines.is_empty() {
                true => out.push_str("    all zero\n"),
                false => out.push_str(&lines.concat()),
            }
        }
        match self.transfers {
            None => out.push_str("\nTransfer functions are written for up to 4 states, while their formulas are short.\n"),
            Some(transfers) => {
                for of in transfers {
                    let (from, to) = self.ends(of);
                    let (top, bottom) = (writer.in_s(&of.top), writer.in_s(&of.bottom));
                    out.push_str(&format!("\nFROM {from} TO {to}\n    ({top})\n    /({bottom})\n"));
                }
            }
        }
        out
    }

    fn ends(&self, of: &Transfer) -> (String, String) {
        let linear = &self.analysed.linear;
        (
            linear.name(linear.inputs[of.input]),
            linear.name(linear.outputs[of.output]),
        )
    }

    pub fn latex(&self) -> String {
        let linear = &self.analysed.linear;
        let writer = self.writer(Spelling::Latex);
        let mut more = ", linearised".to_string();
        if let Some(mode) = &self.analysed.mode {
            more.push_str(&format!(" in the mode {}", escape(&mode.name)));
        }
        let mut page = Page::new(linear.flat(), Style::Plain, &more, None);
        for (name, grid, rows, columns) in writer.grids() {
            if rows.is_empty() || columns.is_empty() {
                continue;
            }
            let name = match name.split_once('_') {
                Some((letter, end)) => format!("{letter}_{{\\mathrm{{{end}}}}}"),
                None => name,
            };
            page.heading(&format!("${name}$"));
            let (of_rows, of_columns) = (page.names(&rows), page.names(&columns));
            page.push(&format!(
                "\\par rows: {of_rows}\\par columns: {of_columns}\n"
            ));
            let cells: Vec<String> = (grid.iter())
                .map(|row| {
                    let cells: Vec<String> =
                        row.iter().map(|entry| writer.rational(entry)).collect();
                    cells.join(" & ")
                })
                .collect();
            page.push(&bracketed(&name, &cells, columns.len()));
        }
        for of in self.transfers.into_iter().flatten() {
            let (input, output) = (linear.inputs[of.input], linear.outputs[of.output]);
            page.heading("Transfer function");
            let (from, to) = (page.names(&[input]), page.names(&[output]));
            let (top, bottom) = (writer.in_s(&of.top), writer.in_s(&of.bottom));
            page.push(&format!(
                "\\par from {from} to {to}\n\\[ \\frac{{{top}}}{{{bottom}}} \\]\n"
            ));
        }
        page.finish()
    }

    pub fn document(&self) -> Document<'_, Body<'_>> {
        Document {
            analysed: self.analysed,
            body: Body(self),
        }
    }
}

/// The json of `bgm linearize --symbolic`.
#[derive(Debug)]
pub struct Body<'a>(&'a Shown<'a>);

#[derive(Serialize)]
struct TransferJson {
    input: String,
    output: String,
    numerator: Vec<String>,
    denominator: Vec<String>,
}

impl Fields for Body<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let writer = self.0.writer(Spelling::Text);
        let linear = &self.0.analysed.linear;
        map.serialize_entry("states", &linear.names(&linear.states))?;
        map.serialize_entry("inputs", &linear.names(&linear.inputs))?;
        map.serialize_entry("outputs", &linear.names(&linear.outputs))?;
        for (name, grid, ..) in writer.grids() {
            let texts: Vec<Vec<String>> = (grid.iter())
                .map(|row| row.iter().map(|entry| writer.rational(entry)).collect())
                .collect();
            map.serialize_entry(&name, &texts)?;
        }
        let texts = |of: &[Polynomial]| -> Vec<String> {
            of.iter().map(|of| writer.polynomial(of)).collect()
        };
        let transfers = self.0.transfers.map(|transfers| -> Vec<TransferJson> {
            (transfers.iter())
                .map(|of| {
                    let (input, output) = self.0.ends(of);
                    TransferJson {
                        input,
                        output,
                        numerator: texts(&of.top),
                        denominator: texts(&of.bottom),
                    }
                })
                .collect()
        });
        map.serialize_entry("transfer_functions", &transfers)
    }
}
