//! Channels between columns: where bonds run vertically, and so how far apart the columns are.
//!
//! Before: lanes and heights. After: the abscissa of each layer's axis, and of the vertical part of
//! each link that has one. Strokes, half arrows and numbers lie outside the channels of vertical
//! parts.

use super::block::{Block, Lanes};
use super::layers::LayeredGraph;
use super::layout::{ColourRole, Point};
use super::measure::{self, STUB};
use crate::base::cancel::glance;
use crate::bond::sketch::Sketch;
use std::collections::BTreeSet;

/// The distance between vertical parts, and from these to their surroundings.
const TRACK: f64 = 10.0;
const SIDE: f64 = 6.0;
/// The distance between blocks of neighbouring columns.
const GAP: f64 = 22.0;
/// Lines nearer to each other than this look like one.
const NEAR: f64 = 5.0;

#[derive(Clone, Debug)]
pub struct Columns {
    /// The abscissa of the axis of each layer.
    pub x: Vec<f64>,
    /// For each link where it runs vertically.
    pub upright: Vec<Option<f64>>,
    /// For each link where it runs vertically a second time, and the height between the two.
    pub again: Vec<Option<Point>>,
    /// For each layer the channel to its right, which numbers must avoid; `None` if nothing runs
    /// there.
    pub channel: Vec<Option<(f64, f64)>>,
    /// For each link whether its number is at its left end.
    pub at_left: Vec<bool>,
}

pub fn columns(
    sketch: &Sketch,
    layered: &LayeredGraph,
    lanes: &Lanes,
    blocks: &[Block],
    y: &[f64],
) -> Columns {
    let mut out = Columns {
        x: vec![0.0; layered.layers.len()],
        upright: vec![None; layered.links.len()],
        again: vec![None; layered.links.len()],
        channel: vec![None; layered.layers.len()],
        at_left: vec![false; layered.links.len()],
    };
    // A number is at the end at which its bond has fewer neighbours.
    let mut named: Vec<Option<bool>> = vec![None; layered.links.len()];
    for route in &layered.routes {
        let (first, last) = (route.links[0].0, route.links[route.links.len() - 1].0);
        let left = layered.cells[layered.links[first].left].rights.len();
        let right = layered.cells[layered.links[last].right].lefts.len();
        let turning = route.links.iter().any(|(_, ahead)| !ahead);
        let at_left = left <= right || turning;
        out.at_left[first] = at_left;
        named[if at_left { first } else { last }] = Some(at_left);
    }
    let wide = |side: fn(&Block) -> f64, layer: usize| {
        let cells = layered.layers[layer].iter();
        cells.map(|c| side(&blocks[*c])).fold(0.0, f64::max)
    };
    for layer in 0..layered.layers.len() {
        if layer + 1 == layered.layers.len() {
            break;
        }
        let links: Vec<usize> = layered.layers[layer]
            .iter()
            .flat_map(|cell| layered.cells[*cell].rights.iter().copied())
            .collect();
        let (right, left) = (wide(|b| b.right, layer), wide(|b| b.left, layer + 1));
        let (mut before, mut after, mut whole) = (0.0_f64, 0.0_f64, 0.0_f64);
        for at in &links {
            let link = layered.links[*at];
            let label =
                measure::number(&sketch.bonds[link.bond].label, ColourRole::Ink).width + 8.0;
            let need = |cell: usize, is: bool| match layered.cells[cell].node {
                Some(_) if is => STUB + label,
                Some(_) => STUB,
                None => 0.0,
            };
            let one = need(link.left, named[*at] == Some(true)) - right + blocks[link.left].half;
            let two = need(link.right, named[*at] == Some(false)) - left + blocks[link.right].half;
            before = before.max(one);
            after = after.max(two);
            let ends = blocks[link.left].half + blocks[link.right].half;
            whole = whole.max(label + 2.0 * STUB + ends - left - right);
        }
        let ends: Vec<(f64, f64)> = links
            .iter()
            .map(|at| {
                let link = layered.links[*at];
                (
                    y[link.left] + lanes.left[*at],
                    y[link.right] + lanes.right[*at],
                )
            })
            .collect();
        let Tracks {
            track,
            again,
            count,
        } = tracks(&ends);
        let start = out.x[layer] + right;
        let mut gap = GAP.max(whole);
        if count > 0 {
            let inner = (count - 1) as f64 * TRACK;
            let least = before + after + inner + 2.0 * SIDE;
            let spare = (GAP - least).max(0.0) / 2.0;
            let from = start + before + spare + SIDE;
            for (at, link) in links.iter().enumerate() {
                out.upright[*link] = track[at].map(|t| from + t as f64 * TRACK);
                out.again[*link] = again[at].map(|(t, y)| Point::new(from + t as f64 * TRACK, y));
            }
            out.channel[layer] = Some((from - SIDE, from + inner + SIDE));
            gap = gap.max(least);
        }
        out.x[layer + 1] = start + gap + left;
    }
    out
}

/// Overlapping lines count as this many crossings.
const ON: usize = 10;

/// Returns the cost if the first of two links runs vertically to the left of the second: crossings,
/// and much more if lines overlap.
fn cost(one: (f64, f64), two: (f64, f64)) -> usize {
    let inside =
        |y: f64, link: (f64, f64)| y > link.0.min(link.1) - 0.01 && y < link.0.max(link.1) + 0.01;
    let mut cost = usize::from(inside(two.0, one)) + usize::from(inside(one.1, two));
    if (two.0 - one.1).abs() < NEAR {
        cost += ON;
    }
    cost
}

/// The track of each link that is not straight. A link that exchanges places with another gets a
/// second track, and a height between the two. Also the number of tracks.
struct Tracks {
    track: Vec<Option<usize>>,
    again: Vec<Option<(usize, f64)>>,
    count: usize,
}

/// Returns a height within a link at which no other link begins or ends.
fn between(ends: &[(f64, f64)], link: (f64, f64)) -> Option<f64> {
    let free = |y: f64| {
        ends.iter()
            .all(|(a, b)| (a - y).abs() > NEAR && (b - y).abs() > NEAR)
    };
    let parts = [0.5, 0.4, 0.6, 0.3, 0.7, 0.45, 0.55, 0.35, 0.65, 0.2, 0.8];
    let heights = parts.map(|part| (link.0 + (link.1 - link.0) * part).round());
    heights.into_iter().find(|y| free(*y))
}

fn tracks(ends: &[(f64, f64)]) -> Tracks {
    let bent: Vec<usize> = (0..ends.len())
        .filter(|at| (ends[*at].0 - ends[*at].1).abs() > 0.01)
        .collect();
    let count = bent.len();
    // The links that come after each link, and whether they would otherwise overlap it.
    let mut after: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    let mut heavy = vec![0_usize; count];
    // Links that would overlap others on every track.
    let mut twice = BTreeSet::new();
    for two in 0..count {
        for one in 0..two {
            let (a, b) = (ends[bent[one]], ends[bent[two]]);
            let apart = a.0.max(a.1) + NEAR < b.0.min(b.1) || b.0.max(b.1) + NEAR < a.0.min(a.1);
            if apart {
                continue;
            }
            let (ahead, behind) = (cost(a, b), cost(b, a));
            let (first, second) = if ahead < behind {
                (one, two)
            } else {
                (two, one)
            };
            if ahead.min(behind) >= ON {
                twice.insert(bent[first]);
            }
            let hard = ahead.abs_diff(behind) >= ON / 2;
            after[first].push((second, hard));
            waiting[second] += 1;
            heavy[second] += usize::from(hard);
        }
    }
    let mut track: Vec<Option<usize>> = vec![None; ends.len()];
    let mut least = vec![0_usize; count];
    let mut done = vec![false; count];
    let mut ready: BTreeSet<usize> = (0..count).filter(|at| waiting[*at] == 0).collect();
    let mut most = 0;
    loop {
        glance();
        let at = match ready.pop_first() {
            Some(at) => at,
            None => {
                // All links that are left wait for each other. One is placed that only causes
                // crossings.
                let left = || (0..count).filter(|o| !done[*o]);
                let light = left().find(|o| heavy[*o] == 0);
                let Some(at) = light.or_else(|| left().next()) else {
                    break;
                };
                for other in left().filter(|o| *o != at) {
                    if after[other].iter().any(|(next, _)| *next == at) {
                        least[other] = least[other].max(least[at] + 1);
                    }
                }
                if heavy[at] > 0 {
                    twice.insert(bent[at]);
                }
                at
            }
        };
        done[at] = true;
        track[bent[at]] = Some(least[at]);
        most = most.max(least[at] + 1);
        for (next, hard) in &after[at] {
            if done[*next] {
                continue;
            }
            heavy[*next] -= usize::from(*hard);
            least[*next] = least[*next].max(least[at] + 1);
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.insert(*next);
            }
        }
    }
    let mut again = vec![None; ends.len()];
    for link in twice {
        if let Some(y) = between(ends, ends[link]) {
            again[link] = Some((most, y));
            most += 1;
        }
    }
    Tracks {
        track,
        again,
        count: most,
    }
}
