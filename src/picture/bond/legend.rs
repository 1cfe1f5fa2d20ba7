//! Adds the title, and a legend of the colours.
//!
//! Before: a picture without title and legend. After: the title is above it, a line for each mark
//! that occurs is below it, and the size is set.

use super::layout::{ColourRole, Layout, Owner, Point, Sample};
use super::measure::{Line, SMALL};
use crate::bond::sketch::{Mark, Sketch};

const TITLE: f64 = 14.0;
const SAMPLE: f64 = 22.0;
const GAP: f64 = 18.0;
/// Up to this number of loops are listed one by one.
const LOOPS: usize = 12;

pub fn frame(sketch: &Sketch, out: &mut Layout) {
    let extent = out.extent();
    if !sketch.title.is_empty() {
        let line = Line::whole(&sketch.title, TITLE);
        let start = Point::new(extent.left, extent.top - GAP - line.height());
        out.labels.push(line.from(start, Owner::Picture));
    }
    let entries = entries(sketch);
    let most = (extent.right - extent.left).max(420.0);
    let (mut x, mut y) = (0.0, extent.bottom + 1.5 * GAP);
    for (mark, text) in entries {
        let line = Line::new("", &text, SMALL, ColourRole::Faint);
        let sample = if mark.is_some() { SAMPLE + 6.0 } else { 0.0 };
        let wide = sample + line.width;
        if x > 0.0 && x + wide > most {
            (x, y) = (0.0, y + 1.6 * line.height());
        }
        let left = extent.left + x;
        if let Some(mark) = mark {
            let middle = y + line.height() / 2.0;
            out.samples.push(Sample {
                mark,
                ends: [Point::new(left, middle), Point::new(left + SAMPLE, middle)],
            });
        }
        let start = Point::new(left + sample, y);
        out.labels.push(line.from(start, Owner::Picture));
        x += wide + GAP;
    }
    out.close();
}

/// Returns the marks that occur, and their explanations.
fn entries(sketch: &Sketch) -> Vec<(Option<Mark>, String)> {
    let nodes = sketch.nodes.iter().map(|node| node.mark);
    let bonds = sketch.bonds.iter().map(|bond| bond.mark);
    let marks: Vec<Mark> = nodes.chain(bonds).collect();
    let mut out = Vec::new();
    if marks.contains(&Mark::Derivative) {
        out.push((Some(Mark::Derivative), "derivative causality".to_string()));
    }
    let loops = marks.iter().filter_map(|mark| match mark {
        Mark::Loop(at) => Some(*at),
        _ => None,
    });
    let loops: std::collections::BTreeSet<u32> = loops.collect();
    for at in loops.iter().take(LOOPS) {
        let text = format!("algebraic loop {}", u64::from(*at) + 1);
        out.push((Some(Mark::Loop(*at)), text));
    }
    if loops.len() > LOOPS {
        out.push((None, format!("and {} more loops", loops.len() - LOOPS)));
    }
    if marks.contains(&Mark::Switched) {
        out.push((Some(Mark::Switched), "depends on a switch".to_string()));
    }
    out
}
