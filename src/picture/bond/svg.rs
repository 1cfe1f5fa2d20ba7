//! A layout as SVG text.
//!
//! Before: a sketch. After: one `svg` element with a view box and a white background, the same text
//! for the same sketch. Names are escaped; the file loads and runs nothing.

use super::layout::{BondLine, ColourRole, Label, Layout, Point, layout};
use super::measure;
use crate::bond::sketch::{Mark, Shape, Sketch};
use crate::picture::svg::text::{Anchor, FONT, coordinate, escaped};
use std::fmt::Write;

pub const INK: &str = "#222222";
pub const FAINT: &str = "#666666";
pub const SIGNAL: &str = "#555555";
pub const GROUND: &str = "#f3f3f1";
pub const FRAME: &str = "#8a8a86";
const DERIVATIVE: &str = "#cc2f2f";
const SWITCHED: &str = "#7b4fb0";
/// Okabe and Ito's colours without their red, which marks derivative causality here.
const LOOPS: [&str; 5] = ["#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9"];
/// From the sixth loop on, colours repeat with another dash pattern.
const DASHES: [Option<&str>; 3] = [None, Some("7 2.5"), Some("2 2")];
const ROUND: f64 = 5.0;

/// Returns the colour of a mark.
pub fn colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain => INK,
        Mark::Derivative => DERIVATIVE,
        Mark::Loop(at) => LOOPS[at as usize % LOOPS.len()],
        Mark::Switched => SWITCHED,
    }
}

/// Returns the dash pattern of a mark.
pub fn dash(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Plain | Mark::Derivative => None,
        Mark::Loop(at) => DASHES[at as usize / LOOPS.len() % DASHES.len()],
        Mark::Switched => Some("5 2.5"),
    }
}

pub fn svg(sketch: &Sketch) -> String {
    render(sketch, &layout(sketch))
}

fn render(sketch: &Sketch, layout: &Layout) -> String {
    let (width, height) = (coordinate(layout.width), coordinate(layout.height));
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\">"
    );
    if !sketch.title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escaped(&sketch.title));
    }
    let _ = writeln!(
        out,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    boxes(&mut out, sketch, layout);
    let _ = writeln!(
        out,
        "<g fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\" stroke-linejoin=\"round\">"
    );
    for wire in &layout.wires {
        bond(&mut out, sketch, wire);
    }
    for harpoon in &layout.harpoons {
        let mark = sketch.bonds[harpoon.bond].mark;
        let path = corners(&[harpoon.barb, harpoon.tip], 0.0);
        line(&mut out, &path, mark, " stroke-linecap=\"round\"", false);
    }
    for bar in &layout.bars {
        let mark = sketch.bonds[bar.bond].mark;
        let path = corners(&bar.ends, 0.0);
        line(&mut out, &path, mark, " stroke-width=\"2\"", false);
    }
    for sample in &layout.samples {
        let path = corners(&sample.ends, 0.0);
        line(&mut out, &path, sample.mark, " stroke-width=\"2\"", true);
    }
    out.push_str("</g>\n");
    signals(&mut out, layout);
    for label in &layout.labels {
        words(&mut out, label);
    }
    out.push_str("</svg>\n");
    out
}

/// Draws frames of submodels, and backgrounds of other nodes that are wider than their letters. The
/// background shows that all bonds end at one node.
fn boxes(out: &mut String, sketch: &Sketch, layout: &Layout) {
    for (node, rect) in sketch.nodes.iter().zip(&layout.boxes) {
        let (width, height) = (rect.right - rect.left, rect.bottom - rect.top);
        let wide = measure::body(node).is_wide(rect);
        let style = match node.shape {
            Shape::Box => format!("fill=\"#ffffff\" stroke=\"{FRAME}\" stroke-width=\"1.2\""),
            _ if wide => format!("fill=\"{GROUND}\""),
            _ => continue,
        };
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" {style}/>",
            coordinate(rect.left),
            coordinate(rect.top),
            coordinate(width),
            coordinate(height)
        );
    }
}

fn line(out: &mut String, path: &str, mark: Mark, more: &str, dashed: bool) {
    let _ = write!(out, "<path d=\"{path}\"{more}");
    if mark != Mark::Plain {
        let _ = write!(out, " stroke=\"{}\"", colour(mark));
    }
    if let Some(dash) = dash(mark).filter(|_| dashed) {
        let _ = write!(out, " stroke-dasharray=\"{dash}\"");
    }
    out.push_str("/>\n");
}

fn bond(out: &mut String, sketch: &Sketch, wire: &BondLine) {
    let bond = &sketch.bonds[wire.bond];
    let path = corners(&wire.points, ROUND);
    if bond.double {
        // A broad line with a white one inside looks like two lines, also around corners.
        line(out, &path, bond.mark, " stroke-width=\"5\"", true);
        let _ = writeln!(
            out,
            "<path d=\"{path}\" stroke=\"#ffffff\" stroke-width=\"2.4\"/>"
        );
    } else {
        line(out, &path, bond.mark, "", true);
    }
}

/// Returns a path through these points with rounded corners.
fn corners(points: &[Point], round: f64) -> String {
    let mut out = String::new();
    let put = |out: &mut String, to: &str, p: Point| {
        let _ = write!(out, "{to}{} {}", coordinate(p.x), coordinate(p.y));
    };
    for (at, point) in points.iter().enumerate() {
        if at == 0 {
            put(&mut out, "M", *point);
            continue;
        }
        let Some(next) = points.get(at + 1).filter(|_| round > 0.0) else {
            put(&mut out, "L", *point);
            continue;
        };
        let toward = |other: &Point| {
            let (x, y) = (other.x - point.x, other.y - point.y);
            let length = x.hypot(y).max(1e-9);
            let part = round.min(length / 2.0) / length;
            Point::new(point.x + x * part, point.y + y * part)
        };
        put(&mut out, "L", toward(&points[at - 1]));
        put(&mut out, "Q", *point);
        put(&mut out, " ", toward(next));
    }
    out
}

fn signals(out: &mut String, layout: &Layout) {
    if layout.arrows.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<g fill=\"none\" stroke=\"{SIGNAL}\" stroke-width=\"0.9\">"
    );
    for arrow in &layout.arrows {
        let _ = writeln!(out, "<path d=\"{}\"/>", corners(&arrow.points, ROUND));
        let _ = writeln!(
            out,
            "<path d=\"{}Z\" fill=\"{SIGNAL}\" stroke=\"none\"/>",
            corners(&arrow.head, 0.0)
        );
    }
    out.push_str("</g>\n");
}

fn words(out: &mut String, label: &Label) {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (fill, strong) = match label.role {
        ColourRole::Ink => (INK, INK),
        ColourRole::Faint => (FAINT, FAINT),
        ColourRole::Marked(mark) => (INK, colour(mark)),
    };
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{fill}\">",
        coordinate(label.at.x),
        coordinate(label.at.y),
        coordinate(label.size)
    );
    if let Some(whole) = &label.whole {
        let _ = write!(out, "<title>{}</title>", escaped(whole));
    }
    if !label.bold.is_empty() {
        let _ = write!(out, "<tspan font-weight=\"bold\"");
        if strong != fill {
            let _ = write!(out, " fill=\"{strong}\"");
        }
        let _ = write!(out, ">{}</tspan>", escaped(&label.bold));
    }
    let _ = writeln!(out, "{}</text>", escaped(&label.plain));
}
