//! A, B, C and D as a script for Octave and Matlab, and as LaTeX.

use super::matrices::shown;
use crate::analyse::Analysed;
use crate::analyse::matrices::{Matrices, Sparse};
use crate::expr::print::Style;
use crate::expr::show_number;
use crate::listing::latex::Page;
use crate::listing::latex_names::escape;

/// A script that defines the matrices, the names, and a system `sys` if the control package is there.
pub fn script(analysed: &Analysed, matrices: &Matrices, sparse: bool) -> String {
    let linear = &analysed.linear;
    let mut out = format!(
        "% {} linearised at Time = {}, by bgm\n",
        linear.flat().model(),
        show_number(linear.point.time)
    );
    if let Some(mode) = &analysed.mode {
        out.push_str(&format!("% mode: {}\n", mode.name));
    }
    for (what, leaves) in [
        ("states", &linear.states),
        ("inputs", &linear.inputs),
        ("outputs", &linear.outputs),
    ] {
        let names: Vec<String> = (linear.names(leaves).iter())
            .map(|name| format!("'{}'", name.replace('\'', "''")))
            .collect();
        out.push_str(&format!("{what} = {{{}}};\n", names.join(", ")));
    }
    for shown in shown(analysed, matrices, true) {
        out.push_str(&format!("{} = {};\n", shown.name, matrix(shown.of, sparse)));
    }
    out.push_str(&system(matrices));
    out
}

fn matrix(of: &Sparse, sparse: bool) -> String {
    let (rows, columns) = (of.rows.len(), of.columns);
    if sparse || rows * columns == 0 {
        let list = |of: Vec<String>| of.join(", ");
        let entries: Vec<_> = of.entries().collect();
        if entries.is_empty() {
            return match sparse {
                true => format!("sparse({rows}, {columns})"),
                false => format!("zeros({rows}, {columns})"),
            };
        }
        return format!(
            "sparse([{}], [{}], [{}], {rows}, {columns})",
            list(entries.iter().map(|of| (of.0 + 1).to_string()).collect()),
            list(entries.iter().map(|of| (of.1 + 1).to_string()).collect()),
            list(entries.iter().map(|of| format!("{:?}", of.2)).collect()),
        );
    }
    let rows: Vec<String> = (0..rows)
        .map(|row| {
            let numbers = (0..columns).map(|column| format!("{:?}", of.get(row, column)));
            numbers.collect::<Vec<_>>().join(", ")
        })
        .collect();
    format!("[{}]", rows.join("; "))
}

/// With z = x - B_der u the derivatives of u leave the states; what they give to y directly needs a descriptor system.
fn system(matrices: &Matrices) -> String {
    let orders = matrices.orders();
    let condition = "if exist('ss', 'file') && ~isempty(B) && ~isempty(C)\n";
    match orders {
        0 => format!("{condition}  sys = ss(full(A), full(B), full(C), full(D));\nend\n"),
        _ => {
            // States x, u, u', ..., u^(k): E z' = F z + G u with 0 = u - (its copy), and each copy the derivative of the one before.
            let name = |letter: &str, order: usize| match order {
                0 => letter.to_string(),
                1 => format!("{letter}_der"),
                _ => format!("{letter}_der{order}"),
            };
            let (mut b, mut d) = (Vec::new(), Vec::new());
            for order in 0..=orders {
                b.push(name("B", order));
                d.push(name("D", order));
            }
            format!(
                "% derivatives of the inputs occur: a descriptor system, whose last states are the inputs and their derivatives\n\
                 n = size(A, 1); m = size(B, 2); k = {orders};\n\
                 sysE = blkdiag(eye(n), [kron(eye(k), eye(m)), zeros(k*m, m); zeros(m, (k + 1)*m)]);\n\
                 sysA = [A, {}; zeros(k*m, n + m), eye(k*m); zeros(m, n), eye(m), zeros(m, k*m)];\n\
                 sysB = [zeros(n + k*m, m); -eye(m)];\n\
                 sysC = [C, {}];\n\
                 {condition}  sys = dss(full(sysA), full(sysB), full(sysC), zeros(size(D)), full(sysE));\nend\n",
                b.join(", "),
                d.join(", ")
            )
        }
    }
}

/// A document.
pub fn latex(analysed: &Analysed, matrices: &Matrices) -> String {
    let linear = &analysed.linear;
    let time = show_number(linear.point.time);
    let mut more = format!(", linearised at $t = {time}$");
    if let Some(mode) = &analysed.mode {
        more.push_str(&format!(" in the mode {}", escape(&mode.name)));
    }
    let mut page = Page::new(linear.flat(), Style::Plain, &more, None);
    for shown in shown(analysed, matrices, false) {
        if shown.rows.is_empty() || shown.columns.is_empty() {
            continue;
        }
        let name = match shown.name.split_once('_') {
            Some((letter, _)) if letter == "B" || letter == "D" => {
                format!("{letter}_{{\\mathrm{{{}}}}}", &shown.name[2..])
            }
            _ => shown.name.clone(),
        };
        page.heading(&format!("${name}$"));
        page.push(&format!(
            "\\par rows: {}\\par columns: {}\n",
            page.names(&shown.leaves.0),
            page.names(&shown.leaves.1)
        ));
        let cells: Vec<String> = (0..shown.rows.len())
            .map(|row| {
                let cells =
                    (0..shown.columns.len()).map(|column| number(shown.of.get(row, column)));
                cells.collect::<Vec<_>>().join(" & ")
            })
            .collect();
        page.push(&bracketed(&name, &cells, shown.columns.len()));
    }
    page.finish()
}

/// A matrix between brackets, as a displayed formula.
pub fn bracketed(name: &str, rows: &[String], columns: usize) -> String {
    format!(
        "\\[ {name} = \\left[\\begin{{array}}{{{}}} {} \\end{{array}}\\right] \\]\n",
        "r".repeat(columns),
        rows.join(" \\\\ ")
    )
}

/// `1.5 \cdot 10^{-6}`
pub fn number(value: f64) -> String {
    let text = super::short(value);
    match text.split_once('e') {
        Some((digits, power)) => {
            format!("{digits} \\cdot 10^{{{}}}", power.trim_start_matches('+'))
        }
        None => text,
    }
}
