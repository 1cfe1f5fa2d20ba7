//! Fields as text: key vectors, implicit R-fields, storage fields.

use std::fmt::Write;

use super::causality::table;
use super::field_laws::sequence;
use super::r_field_notes::notes;
use super::storage_fields::storage_field;
use crate::base::words::{count, sign};
use crate::bond::fields::matrices::Matrices;
use crate::bond::fields::resistive::{Obstacle, Port, RField};
use crate::bond::fields::transfer::{Sum, TransferError, Var};
use crate::bond::fields::{Entry, Fields};
use crate::bond::graph::{ElementKind, NodeId};
use crate::bond::net::Gives;
use crate::bond::view::View;
use crate::expr::ExprId;

pub fn fields(found: &Fields) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}: {}, {}",
        found.flat.model(),
        match found.r_fields.len() {
            0 => "no implicit R-field".to_string(),
            some => count(some, "implicit R-field"),
        },
        ports(found)
    );
    vectors(found, &mut out);
    for (at, field) in found.r_fields.iter().enumerate() {
        let _ = write!(out, "\nR-FIELD {}\n\n", at + 1);
        r_field(found, field, &mut out);
    }
    for field in &found.complexes {
        let _ = write!(
            out,
            "\nACAUSAL WITHOUT A RESISTOR\n\nbonds {}: a part of the junction structure that leaves a choice\n",
            numbers(field)
        );
    }
    if let Some(matrices) = &found.matrices {
        out.push_str("\nMATRICES OF THE JUNCTION STRUCTURE\n\n");
        match matrices {
            Ok(matrices) => list_matrices(found, matrices, &mut out),
            Err(trouble) => {
                let why = reason(found, &Obstacle::Transfer(*trouble));
                let _ = writeln!(out, "none: {why}");
            }
        }
    }
    for field in &found.storage_fields {
        let _ = write!(
            out,
            "\nSTORAGE FIELD OF {}\n\n",
            named(found, field.dependent)
        );
        storage_field(found, field, &mut out);
    }
    out
}

/// Returns the summary of ENPORT: `the number of dependent C and I ports is 1`.
pub fn ports(found: &Fields) -> String {
    match found.dependent {
        0 => "no derivative causality found".to_string(),
        some => format!("the number of dependent C and I ports is {some}"),
    }
}

fn name(found: &Fields, node: NodeId) -> &str {
    &found.view.graph.node(node).name
}

/// Returns the name of a node of a storage field.
pub(super) fn named(found: &Fields, node: NodeId) -> &str {
    &found.named.graph.node(node).name
}

/// Returns the name of the effort or flow of a bond.
pub fn var(found: &Fields, var: Var) -> String {
    let bond = found.view.graph.bond(var.bond);
    match var.is {
        Gives::Effort => bond.effort.text(&found.flat),
        Gives::Flow => bond.flow.text(&found.flat),
    }
}

fn vectors(found: &Fields, out: &mut String) {
    let vectors = &found.vectors;
    let energy = |entry: &Entry| {
        let letter = match entry.takes.is {
            Gives::Effort => 'p',
            Gives::Flow => 'q',
        };
        format!("{letter}({})", name(found, entry.node))
    };
    // The energy variable of a dependent storage depends only on its kind.
    let dependent = |entry: &Entry| {
        let letter = match found
            .view
            .graph
            .node(entry.node)
            .element()
            .map(|one| one.kind)
        {
            Some(ElementKind::C) => 'q',
            _ => 'p',
        };
        format!("{letter}({})", name(found, entry.node))
    };
    let takes = |entry: &Entry| var(found, entry.takes);
    let gives = |entry: &Entry| var(found, entry.gives);
    type Text<'t> = &'t dyn Fn(&Entry) -> String;
    let rows: [(&str, &[Entry], Text<'_>, &str); 10] = [
        (
            "X",
            &vectors.storages,
            &energy,
            "energy variables of the storages",
        ),
        ("Z", &vectors.storages, &gives, "what they give"),
        (
            "Xd",
            &vectors.dependent,
            &dependent,
            "energy variables of dependent storages",
        ),
        ("Zd", &vectors.dependent, &takes, "what determines them"),
        ("Di", &vectors.explicit, &takes, "what resistors take"),
        ("Do", &vectors.explicit, &gives, "what they give"),
        (
            "Di",
            &vectors.implicit,
            &takes,
            "the same in implicit R-fields",
        ),
        ("Do", &vectors.implicit, &gives, "what they give"),
        ("U", &vectors.sources, &gives, "what sources give"),
        ("V", &vectors.sources, &takes, "what they take"),
    ];
    let mut lines: Vec<[String; 3]> = Vec::new();
    for (letter, entries, text, meaning) in rows {
        if !entries.is_empty() {
            let list: Vec<String> = entries.iter().map(text).collect();
            lines.push([letter.to_string(), list.join(", "), meaning.to_string()]);
        }
    }
    if lines.is_empty() {
        return;
    }
    out.push_str("\nKEY VECTORS\n\n");
    let widest = lines.iter().map(|line| line[1].chars().count()).max();
    let width = widest.unwrap_or(0).min(60);
    for [letter, list, meaning] in lines {
        let _ = writeln!(out, "{letter:<3} {list:<width$}  {meaning}");
    }
}

/// Lists the entries of the matrices by groups, and whether they are skew-symmetric.
fn list_matrices(found: &Fields, matrices: &Matrices, out: &mut String) {
    let place = |at: usize| {
        let group = matrices.ports[at].0;
        let first = matrices.ports.iter().position(|(other, _)| *other == group);
        at - first.unwrap_or(0) + 1
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (&value, (row, column)) in &matrices.entries {
        let (group, entry) = &matrices.ports[row];
        let (other, from) = &matrices.ports[column];
        let (letters, at) = (
            (group.letter(), other.letter()),
            (place(row), place(column)),
        );
        lines.push(vec![
            format!("S{}{}[{},{}]", letters.0, letters.1, at.0, at.1),
            found.flat.expression(value),
            format!(
                "{} from {}",
                var(found, entry.takes),
                var(found, from.gives)
            ),
        ]);
    }
    lines.sort_by(|a, b| a[0][..3].cmp(&b[0][..3]));
    table(&lines, 0, out);
    out.push_str(match matrices.skew {
        true => "\nall other entries are zero; skew-symmetric, with all powers counted out\n",
        false => "\nall other entries are zero; not skew-symmetric: power is lost or made in it\n",
    });
}

fn numbers(field: &RField) -> String {
    let texts: Vec<String> = (field.bonds.iter())
        .map(|&bond| View::number(bond).to_string())
        .collect();
    texts.join(", ")
}

pub fn port(found: &Fields, port: &Port) -> String {
    let element = found.view.graph.node(port.node).element();
    match element.map_or(1, |one| one.ports.len()) {
        1 => name(found, port.node).to_string(),
        _ => format!("{} (port {})", name(found, port.node), port.port + 1),
    }
}

fn r_field(found: &Fields, field: &RField, out: &mut String) {
    let numbers_of = &field.numbers;
    let names: Vec<&str> = field.resistors.iter().map(|&id| name(found, id)).collect();
    let _ = writeln!(out, "resistors  {}", names.join(", "));
    let _ = writeln!(out, "bonds      {}", numbers(field));
    let less = match numbers_of.transformers {
        0 => String::new(),
        some => format!(" - {some}"),
    };
    if numbers_of.gyrators == 0 {
        let _ = writeln!(
            out,
            "E          NB + N0 - N1 - B0 = {} + {} - {} - {}{less} = {}",
            numbers_of.bonds,
            numbers_of.zeros,
            numbers_of.ones,
            numbers_of.at_zeros,
            numbers_of.e()
        );
        let _ = writeln!(
            out,
            "F          NB + N1 - N0 - B1 = {} + {} - {} - {}{less} = {}",
            numbers_of.bonds,
            numbers_of.ones,
            numbers_of.zeros,
            numbers_of.at_ones,
            numbers_of.f()
        );
        if numbers_of.transformers > 0 {
            let _ = writeln!(
                out,
                "           {} in the field: as many off both",
                count(numbers_of.transformers, "transformer")
            );
        }
    } else {
        let _ = writeln!(
            out,
            "           {} in the field: efforts and flows are not apart, and there is no E and F",
            count(numbers_of.gyrators, "gyrator")
        );
    }
    let list = |ports: &[Port]| match ports.is_empty() {
        true => "none".to_string(),
        false => {
            let texts: Vec<String> = ports.iter().map(|one| port(found, one)).collect();
            texts.join(", ")
        }
    };
    let _ = writeln!(out, "r          {}", list(&field.r));
    let _ = writeln!(out, "g          {}", list(&field.g));
    match &field.sequence {
        Err(obstacle) => {
            notes(found, field, out);
            let _ = writeln!(out, "\n{}", reason(found, obstacle));
        }
        Ok(steps) => {
            let texts: Vec<String> = field.iteration.iter().map(|&one| var(found, one)).collect();
            let _ = writeln!(out, "iterate    {}", texts.join(", "));
            notes(found, field, out);
            out.push('\n');
            for text in sequence(found, steps) {
                let _ = writeln!(out, "  {text}");
            }
        }
    }
}

/// Returns the reason why there is no order of evaluation.
pub fn reason(found: &Fields, obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Numbers => {
            "E or F is less than one: nothing guarantees that the inputs determine the outputs"
                .into()
        }
        Obstacle::NoResistor => "there is no resistor in it".into(),
        Obstacle::Switch(node) => format!(
            "the switch {} stands in it: each of its positions has an order of its own",
            name(found, *node)
        ),
        Obstacle::Transfer(TransferError::Cycle(bond)) => format!(
            "the junctions themselves form a circle at bond {}",
            View::number(*bond)
        ),
        Obstacle::Transfer(TransferError::NoCausality(bond)) => {
            format!("bond {} has no stroke", View::number(*bond))
        }
        Obstacle::Transfer(TransferError::Unreadable(node)) => format!(
            "the equations of {} are not those of a transformer or gyrator with one modulus",
            name(found, *node)
        ),
    }
}

/// Returns a sum as text: `-R1.e - R3.e + Ea.e`.
pub(super) fn sum_text(found: &Fields, sum: &Sum) -> String {
    let own: Vec<Var> = (found.vectors.implicit.iter())
        .map(|entry| entry.gives)
        .collect();
    let (inner, outer): (Vec<_>, Vec<_>) = sum.iter().partition(|(var, _)| own.contains(var));
    let mut text = String::new();
    for &&(one, coefficient) in inner.iter().chain(&outer) {
        let (negative, factor) = factor(found, coefficient);
        let mut term = var(found, one);
        let several = term.contains(" + ") || term.contains(" - ");
        if several && (negative || factor.is_some() || !text.is_empty()) {
            term = format!("({term})");
        }
        if let Some(factor) = factor {
            term = format!("{factor}*{term}");
        }
        text.push_str(sign(text.is_empty(), negative));
        text.push_str(&term);
    }
    match text.is_empty() {
        true => "0".to_string(),
        false => text,
    }
}

/// Returns the sign of a coefficient, and its absolute value unless this is 1.
fn factor(found: &Fields, coefficient: ExprId) -> (bool, Option<String>) {
    let exprs = &found.flat.exprs;
    if let Some(number) = exprs.as_number(coefficient) {
        let bare = number.abs();
        return (
            number < 0.0,
            (bare != 1.0).then(|| crate::expr::show_number(bare)),
        );
    }
    let (negative, bare) = match exprs.negated(coefficient) {
        Some(bare) => (true, bare),
        None => (false, coefficient),
    };
    let text = found.flat.expression(bare);
    let sum = text.contains(" + ") || text.contains(" - ");
    (negative, Some(if sum { format!("({text})") } else { text }))
}
