//! A layout as a picture in a LaTeX document, by TikZ.
//!
//! Before: a sketch. After: a `tikzpicture` that is no larger than requested, the same as the SVG
//! except for the font. The caller gives a function that escapes texts for LaTeX.

use std::fmt::Write;

use super::layout::{ColourRole, Label, Layout, Point, layout};
use super::measure;
use super::svg::{FAINT, FRAME, GROUND, INK, SIGNAL, colour, dash};
use crate::bond::sketch::{Mark, Shape, Sketch};
use crate::picture::svg::text::{Anchor, coordinate};

/// Returns the picture; `most` is its greatest width and height in points.
pub fn tikz(sketch: &Sketch, most: (f64, f64), escape: &dyn Fn(&str) -> String) -> String {
    let layout = layout(sketch);
    let fits = (most.0 / layout.width.max(1.0)).min(most.1 / layout.height.max(1.0));
    let scale = fits.min(1.0);
    let mut body = String::new();
    boxes(&mut body, sketch, &layout);
    for wire in &layout.wires {
        let bond = &sketch.bonds[wire.bond];
        let path = path(&wire.points);
        if bond.double {
            let style = style(bond.mark, 5.0, true);
            let _ = writeln!(body, "\\draw[{style},rounded corners=5pt] {path};");
            let _ = writeln!(
                body,
                "\\draw[white,line width=2.4pt,rounded corners=5pt] {path};"
            );
        } else {
            let style = style(bond.mark, 1.2, true);
            let _ = writeln!(body, "\\draw[{style},rounded corners=5pt] {path};");
        }
    }
    for harpoon in &layout.harpoons {
        let style = style(sketch.bonds[harpoon.bond].mark, 1.2, false);
        let path = path(&[harpoon.barb, harpoon.tip]);
        let _ = writeln!(body, "\\draw[{style},line cap=round] {path};");
    }
    for bar in &layout.bars {
        let style = style(sketch.bonds[bar.bond].mark, 1.8, false);
        let _ = writeln!(body, "\\draw[{style}] {};", path(&bar.ends));
    }
    for sample in &layout.samples {
        let style = style(sample.mark, 1.8, true);
        let _ = writeln!(body, "\\draw[{style}] {};", path(&sample.ends));
    }
    for arrow in &layout.arrows {
        let signal = name(SIGNAL);
        let way = path(&arrow.points);
        let _ = writeln!(
            body,
            "\\draw[{signal},line width=0.8pt,rounded corners=5pt] {way};"
        );
        let _ = writeln!(body, "\\fill[{signal}] {} -- cycle;", path(&arrow.head));
    }
    for label in &layout.labels {
        words(&mut body, label, escape);
    }
    let mut out = String::new();
    let mut known: Vec<&str> = vec![INK, FAINT, SIGNAL, GROUND, FRAME];
    for bond in &sketch.bonds {
        known.push(colour(bond.mark));
    }
    known.extend(layout.samples.iter().map(|sample| colour(sample.mark)));
    for node in &sketch.nodes {
        known.push(colour(node.mark));
    }
    known.sort_unstable();
    known.dedup();
    for colour in known {
        let code = colour.trim_start_matches('#').to_uppercase();
        let _ = writeln!(out, "\\definecolor{{{}}}{{HTML}}{{{code}}}", name(colour));
    }
    let _ = writeln!(
        out,
        "\\begin{{tikzpicture}}[x=1pt,y=-1pt,scale={scale:.4},every node/.style={{transform shape,inner sep=0pt}}]"
    );
    out.push_str(&body);
    out.push_str("\\end{tikzpicture}\n");
    out
}

/// Returns the name of a colour: `c222222`.
fn name(colour: &str) -> String {
    format!("c{}", colour.trim_start_matches('#'))
}

fn place(point: Point) -> String {
    format!("({},{})", coordinate(point.x), coordinate(point.y))
}

fn path(points: &[Point]) -> String {
    let places: Vec<String> = points.iter().map(|&point| place(point)).collect();
    places.join(" -- ")
}

fn style(mark: Mark, width: f64, dashed: bool) -> String {
    let mut text = format!("{},line width={width}pt", name(colour(mark)));
    if let Some((on, off)) = dash(mark)
        .filter(|_| dashed)
        .and_then(|text| text.split_once(' '))
    {
        text.push_str(&format!(",dash pattern=on {on}pt off {off}pt"));
    }
    text
}

/// Draws frames of submodels, and backgrounds of nodes that are wider than their letters, as in the
/// SVG.
fn boxes(out: &mut String, sketch: &Sketch, layout: &Layout) {
    for (node, rect) in sketch.nodes.iter().zip(&layout.boxes) {
        let wide = measure::body(node).is_wide(rect);
        let style = match node.shape {
            Shape::Box => format!("\\draw[{},fill=white,line width=1pt", name(FRAME)),
            _ if wide => format!("\\fill[{}", name(GROUND)),
            _ => continue,
        };
        let corners = [
            Point::new(rect.left, rect.top),
            Point::new(rect.right, rect.bottom),
        ];
        let [from, to] = corners.map(place);
        let _ = writeln!(out, "{style},rounded corners=6pt] {from} rectangle {to};");
    }
}

fn words(out: &mut String, label: &Label, escape: &dyn Fn(&str) -> String) {
    let anchor = match label.anchor {
        Anchor::Start => "base west",
        Anchor::Middle => "base",
        Anchor::End => "base east",
    };
    // These font sizes exist in every installation. The letters are narrower than those that were
    // measured.
    let size = match label.size {
        size if size >= 15.0 => "large",
        size if size >= 13.0 => "normalsize",
        size if size >= 11.0 => "small",
        _ => "footnotesize",
    };
    let (fill, strong) = match label.role {
        ColourRole::Ink => (INK, INK),
        ColourRole::Faint => (FAINT, FAINT),
        ColourRole::Marked(mark) => (INK, colour(mark)),
    };
    let mut text = String::new();
    if !label.bold.is_empty() {
        let bold = escape(&label.bold);
        let _ = write!(
            text,
            "\\textcolor{{{}}}{{\\textbf{{{bold}}}}}",
            name(strong)
        );
    }
    text.push_str(&escape(&label.plain));
    let _ = writeln!(
        out,
        "\\node[{},anchor={anchor},font=\\sffamily\\{size}] at {} {{{text}}};",
        name(fill),
        place(label.at)
    );
}
