//! A sketch as DOT text, for layout by Graphviz.
//!
//! Before: a sketch. After: a digraph from left to right; half arrows are `lvee`, strokes `tee`, a
//! hierarchical cut is two lines, a signal is thin and dashed.

use super::svg::{colour, dash};
use crate::base::words::literal;
use crate::bond::sketch::{Mark, Shape, Sketch, Stroke};
use std::fmt::Write;

/// Quotes a text. Graphviz interprets backslashes and quotes; control characters are left out.
fn quoted(text: &str) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    literal(&line.replace(char::is_control, ""))
}

/// Quotes several lines as one text.
fn lines(texts: &[String]) -> String {
    let inner: Vec<String> = texts
        .iter()
        .map(|text| quoted(text))
        .map(|text| text[1..text.len() - 1].to_string())
        .collect();
    format!("\"{}\"", inner.join("\\n"))
}

pub fn dot(sketch: &Sketch) -> String {
    let mut out = String::from("digraph bond_graph {\n");
    out.push_str("  rankdir=LR; fontname=\"Helvetica\";\n");
    if !sketch.title.is_empty() {
        let _ = writeln!(
            out,
            "  label={}; labelloc=t; labeljust=l;",
            quoted(&sketch.title)
        );
    }
    out.push_str("  node [shape=plaintext, fontname=\"Helvetica\", fontsize=12, ");
    out.push_str("width=0, height=0, margin=\"0.06,0.03\"];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10, dir=both];\n");
    for (at, node) in sketch.nodes.iter().enumerate() {
        let mut texts = Vec::new();
        match node.shape {
            Shape::Junction => texts.push(node.kind.clone()),
            Shape::Element if node.name.is_empty() => texts.push(node.kind.clone()),
            Shape::Element => texts.push(format!("{} : {}", node.kind, node.name)),
            Shape::Box => texts.extend([node.name.clone(), node.kind.clone()]),
        }
        texts.extend(node.values.iter().cloned());
        let _ = write!(out, "  n{at} [label={}", lines(&texts));
        if node.shape == Shape::Box {
            out.push_str(", shape=box, style=rounded, margin=\"0.15,0.08\"");
        }
        if node.shape == Shape::Junction {
            out.push_str(", fontsize=18");
            if !node.name.is_empty() {
                let _ = write!(out, ", xlabel={}", quoted(&node.name));
            }
        }
        if node.mark != Mark::Plain {
            let _ = write!(out, ", fontcolor=\"{}\"", colour(node.mark));
        }
        out.push_str("];\n");
    }
    let count = sketch.nodes.len();
    for bond in &sketch.bonds {
        if bond.from >= count || bond.to >= count {
            continue;
        }
        // The arrow shape nearest to the node comes first.
        let (tail, head) = match bond.stroke {
            None => ("none", "lvee"),
            Some(Stroke::From) => ("tee", "lvee"),
            Some(Stroke::To) => ("none", "teelvee"),
        };
        let _ = write!(
            out,
            "  n{} -> n{} [label={}, arrowtail={tail}, arrowhead={head}",
            bond.from,
            bond.to,
            quoted(&bond.label)
        );
        let colour = colour(bond.mark);
        if bond.double {
            let _ = write!(out, ", color=\"{colour}:{colour}\"");
        } else if bond.mark != Mark::Plain {
            let _ = write!(out, ", color=\"{colour}\"");
        }
        if dash(bond.mark).is_some() {
            out.push_str(", style=dashed");
        }
        out.push_str("];\n");
    }
    signals(&mut out, sketch);
    out.push_str("}\n");
    out
}

fn signals(out: &mut String, sketch: &Sketch) {
    let style = "style=dashed, penwidth=0.6, dir=forward, arrowsize=0.6, constraint=false";
    let count = sketch.nodes.len();
    for (at, signal) in sketch.signals.iter().enumerate() {
        let label = quoted(&signal.label);
        if signal.to >= count {
            continue;
        }
        match signal.from.filter(|from| *from < count) {
            Some(from) => {
                let _ = writeln!(out, "  n{from} -> n{} [label={label}, {style}];", signal.to);
            }
            None => {
                let _ = writeln!(out, "  s{at} [label={label}, fontsize=10];");
                let _ = writeln!(out, "  s{at} -> n{} [{style}];", signal.to);
            }
        }
    }
}
