//! A node and its one-ports: one block.
//!
//! Before: the cells are in order, and which links are straight is known. After: for every cell where
//! its lanes are, how far its box and its whole block reach from its axis, and where its one-ports
//! stand. A straight link has the axis itself as its lane, others lie above and below it.

use super::layout::Tone;
use super::measure::{self, BESIDE, Body, LANE, NARROW, STROKE, STUB};
use super::rails::Rails;
use super::web::{Cell, Port, Web};
use crate::bond::sketch::{Shape, Sketch};

/// Between the upright parts of bonds that fan out.
const TRACK: f64 = 9.0;
/// The end of a bond at a one-port: stroke and half arrow, then the number beside it.
const NUMBERED: f64 = 28.0;
/// Between one-ports side by side; between rows of them.
const GAP: f64 = 16.0;
const ROWS: f64 = 12.0;
/// More one-ports on one side stand in two rows, like bricks.
const ROW: usize = 5;
/// A number above its bond reaches so far.
const NUMBER: f64 = 15.0;
/// A bond that passes through a layer.
const PASSING: f64 = 9.0;

/// A one-port, seen from the edge of its host's box outwards.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub node: usize,
    pub bond: usize,
    /// Where its bond leaves the host, and where its own axis is.
    pub lane: f64,
    pub x: f64,
    /// How far out the bond turns, if it does; how far out the box begins.
    pub turn: f64,
    pub base: f64,
    pub height: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The box: half its width, and above and below the axis.
    pub half: f64,
    pub up: f64,
    pub down: f64,
    /// All of the block.
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Where the name of a junction is: at its left side, so far below the axis.
    pub foot: (bool, f64),
    pub above: Vec<Spot>,
    pub below: Vec<Spot>,
}

/// Where the lanes are, by link: at its left end and at its right end, from the axis of the cell.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub left: Vec<f64>,
    pub right: Vec<f64>,
}

pub fn lanes(web: &Web, rails: &Rails) -> Lanes {
    let mut out = Lanes {
        left: vec![0.0; web.links.len()],
        right: vec![0.0; web.links.len()],
    };
    for cell in &web.cells {
        // The left end of a link is at the right side of its cell.
        for (list, ends) in [(&cell.rights, &mut out.left), (&cell.lefts, &mut out.right)] {
            let straight = list.iter().position(|link| rails.straight[*link]);
            let middle = straight.map_or((list.len() as f64 - 1.0) / 2.0, |at| at as f64);
            for (at, link) in list.iter().enumerate() {
                ends[*link] = (at as f64 - middle) * LANE;
            }
        }
    }
    out
}

pub fn blocks(sketch: &Sketch, bodies: &[Body], web: &Web, lanes: &Lanes) -> Vec<Block> {
    let mut signalling = vec![false; bodies.len()];
    for signal in &sketch.signals {
        for node in signal.from.iter().chain([&signal.to]) {
            if let Some(is) = signalling.get_mut(*node) {
                *is = true;
            }
        }
    }
    let mut out = Vec::with_capacity(web.cells.len());
    for cell in &web.cells {
        out.push(match cell.node {
            Some(node) => block(sketch, bodies, cell, node, lanes, signalling[node]),
            None => passing(cell, lanes),
        });
    }
    out
}

/// The room that lanes need above and below the axis: for their strokes, and numbers above.
fn reach(cell: &Cell, lanes: &Lanes, above: f64) -> (f64, f64) {
    let offsets = cell.lefts.iter().map(|link| lanes.right[*link]);
    let offsets = offsets.chain(cell.rights.iter().map(|link| lanes.left[*link]));
    let below = STROKE + 3.0;
    offsets.fold((0.0, 0.0), |(up, down), y| {
        (up.max(above - y), f64::max(down, y + below))
    })
}

/// Where the name of a junction stands: below the lanes of the side that has fewer of them there,
/// close to the axis; whether that is the left side, and how far below the axis.
fn foot(cell: &Cell, lanes: &Lanes) -> (bool, f64) {
    let lowest =
        |links: &[usize], at: &[f64]| links.iter().map(|link| at[*link]).fold(0.0, f64::max);
    let left = lowest(&cell.lefts, &lanes.right);
    let right = lowest(&cell.rights, &lanes.left);
    (left < right, left.min(right) + STROKE + 2.0)
}

fn passing(cell: &Cell, lanes: &Lanes) -> Block {
    let turning = cell.lefts.len() > 1;
    let (up, down) = reach(cell, lanes, NUMBER);
    Block {
        top: if turning { up } else { PASSING },
        bottom: if turning { down } else { PASSING },
        ..Block::default()
    }
}

fn block(
    sketch: &Sketch,
    bodies: &[Body],
    cell: &Cell,
    node: usize,
    lanes: &Lanes,
    signals: bool,
) -> Block {
    let body = &bodies[node];
    let above = fan(sketch, bodies, &cell.up);
    let below = fan(sketch, bodies, &cell.down);
    // Where bonds leave above and below, signals need room beside them.
    let beside = match above.spots.len().min(below.spots.len()) {
        least if least > 0 && signals => least + 2,
        _ => 0,
    };
    let most = above.spots.len().max(below.spots.len()).max(beside);
    let half = body.half.max(most as f64 * NARROW / 2.0);
    let (numbers, _) = reach(cell, lanes, NUMBER);
    let (up, down) = reach(cell, lanes, STROKE + 3.0);
    // If no bond ends at the lower lines of an element they are not in its box: bonds come close
    // to a short kind above a long name. Signals rather have a large box to aim at.
    let slim = !signals
        && sketch.nodes[node].shape == Shape::Element
        && cell.lefts.len().max(cell.rights.len()) <= 1
        && cell.down.is_empty();
    let half = if slim {
        body.head.max(most as f64 * NARROW / 2.0)
    } else {
        half
    };
    let (up, down) = if slim {
        (body.up, body.up)
    } else {
        (body.up.max(up), body.down.max(down))
    };
    let (at_left, foot) = foot(cell, lanes);
    let name = body.foot.as_ref();
    let aside = name.map_or(0.0, |line| half + 3.0 + line.width);
    let under = name.map_or(0.0, |line| foot + line.height());
    let (left, right) = if at_left { (aside, 0.0) } else { (0.0, aside) };
    Block {
        half,
        up,
        down,
        left: body
            .half
            .max(half)
            .max(above.left)
            .max(below.left)
            .max(left),
        right: body
            .half
            .max(half)
            .max(above.right)
            .max(below.right)
            .max(right),
        top: (up + above.height).max(numbers),
        bottom: (down + below.height).max(under).max(body.down),
        foot: (at_left, foot),
        above: above.spots,
        below: below.spots,
    }
}

/// The one-ports of one side.
#[derive(Default)]
struct Fan {
    spots: Vec<Spot>,
    left: f64,
    right: f64,
    height: f64,
}

fn fan(sketch: &Sketch, bodies: &[Body], list: &[Port]) -> Fan {
    let count = list.len();
    if count == 0 {
        return Fan::default();
    }
    let rows = if count > ROW { 2 } else { 1 };
    // How far each reaches to the left and to the right of its axis, its number with it.
    let reach = |at: usize| {
        let (node, bond) = list[at];
        let half = bodies[node].half;
        let number = measure::number(&sketch.bonds[bond].label, Tone::Ink).width;
        (half, half.max(2.0 * BESIDE + number))
    };
    let mut x: Vec<f64> = vec![0.0; count];
    for at in 1..count {
        // In two rows the bond of the one that stands farther passes between two nearer ones.
        let step = if rows == 1 {
            reach(at - 1).1 + reach(at).0 + GAP
        } else {
            let (near, side) = if at % 2 == 1 {
                (at - 1, reach(at - 1).1)
            } else {
                (at, reach(at).0)
            };
            side.max(reach(near).0) + GAP / 2.0 + 2.0
        };
        x[at] = x[at - 1] + step;
        if rows == 2 && at >= 2 {
            x[at] = x[at].max(x[at - 2] + reach(at - 2).1 + reach(at).0 + GAP);
        }
    }
    let middle = (x[(count - 1) / 2] + x[count / 2]) / 2.0;
    let mut out = Fan::default();
    // Outer ones turn first, so that they do not cross the inner ones.
    let tracks = count / 2;
    let nearest = STUB + tracks as f64 * TRACK + NUMBERED - if tracks > 0 { 6.0 } else { 0.0 };
    let near = (0..count).filter(|at| rows == 1 || at % 2 == 0);
    let near = near
        .map(|at| bodies[list[at].0].height())
        .fold(0.0, f64::max);
    for (at, (node, bond)) in list.iter().enumerate() {
        let far = rows == 2 && at % 2 == 1;
        let (left, right) = reach(at);
        let inner = at.min(count - 1 - at);
        let base = nearest + if far { near + ROWS + NUMBERED } else { 0.0 };
        let spot = Spot {
            node: *node,
            bond: *bond,
            lane: (at as f64 - (count as f64 - 1.0) / 2.0) * NARROW,
            x: x[at] - middle,
            turn: STUB + inner as f64 * TRACK,
            base,
            height: bodies[*node].height(),
        };
        out.left = out.left.max(left - spot.x);
        out.right = out.right.max(right + spot.x);
        out.height = out.height.max(base + spot.height);
        out.spots.push(spot);
    }
    out
}
