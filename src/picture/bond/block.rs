//! Blocks: a node together with its one-ports.
//!
//! Before: the cells are in order, and it is known which links are straight. After: for every cell
//! its lanes, how far its box and its whole block reach from its axis, and the places of its
//! one-ports. The lane of a straight link is the axis itself; other lanes lie above and below it.

use super::chains::Chains;
use super::layers::{Cell, LayeredGraph, Port};
use super::layout::ColourRole;
use super::measure::{self, BESIDE, Body, LANE, NARROW, STROKE, STUB};
use crate::bond::sketch::{Shape, Sketch};

/// The distance between the vertical parts of bonds that fan out.
const TRACK: f64 = 9.0;
/// The length of the end of a bond at a one-port: stroke and half arrow, then the number beside it.
const NUMBERED: f64 = 28.0;
/// The distances between neighbouring one-ports, and between their rows.
const GAP: f64 = 16.0;
const ROWS: f64 = 12.0;
/// If one side has more one-ports, they are placed in two rows, like bricks.
const ROW: usize = 5;
/// How far a number reaches above its bond.
const NUMBER: f64 = 15.0;
/// How far a bond that passes through a layer reaches from its axis.
const PASSING: f64 = 9.0;

/// The place of a one-port, measured from the edge of its host's box outwards.
#[derive(Clone, Copy, Debug)]
pub struct OnePort {
    pub node: usize,
    pub bond: usize,
    /// The abscissa at which its bond leaves the host.
    pub lane: f64,
    /// The abscissa of its own axis.
    pub x: f64,
    /// The distance at which the bond turns, if it does, and at which the box begins.
    pub turn: f64,
    pub base: f64,
    pub height: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The box: half its width, and its extent above and below the axis.
    pub half: f64,
    pub up: f64,
    pub down: f64,
    /// The extent of the whole block.
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Where the name of a junction is: whether at the left side, and how far below the axis.
    pub caption: (bool, f64),
    pub above: Vec<OnePort>,
    pub below: Vec<OnePort>,
}

/// For each link, the lanes of its left end and of its right end, relative to the axis of the cell.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    pub left: Vec<f64>,
    pub right: Vec<f64>,
}

pub fn lanes(layered: &LayeredGraph, chains: &Chains) -> Lanes {
    let mut out = Lanes {
        left: vec![0.0; layered.links.len()],
        right: vec![0.0; layered.links.len()],
    };
    for cell in &layered.cells {
        // The left end of a link is at the right side of its cell.
        for (list, ends) in [(&cell.rights, &mut out.left), (&cell.lefts, &mut out.right)] {
            let straight = list.iter().position(|link| chains.straight[*link]);
            let middle = straight.map_or((list.len() as f64 - 1.0) / 2.0, |at| at as f64);
            for (at, link) in list.iter().enumerate() {
                ends[*link] = (at as f64 - middle) * LANE;
            }
        }
    }
    out
}

pub fn blocks(
    sketch: &Sketch,
    bodies: &[Body],
    layered: &LayeredGraph,
    lanes: &Lanes,
) -> Vec<Block> {
    let mut signalling = vec![false; bodies.len()];
    for signal in &sketch.signals {
        for node in signal.from.iter().chain([&signal.to]) {
            if let Some(is) = signalling.get_mut(*node) {
                *is = true;
            }
        }
    }
    let mut out = Vec::with_capacity(layered.cells.len());
    for cell in &layered.cells {
        out.push(match cell.node {
            Some(node) => block(sketch, bodies, cell, node, lanes, signalling[node]),
            None => passing(cell, lanes),
        });
    }
    out
}

/// Returns the room that lanes need above and below the axis: for strokes, and for numbers above
/// them.
fn reach(cell: &Cell, lanes: &Lanes, above: f64) -> (f64, f64) {
    let offsets = cell.lefts.iter().map(|link| lanes.right[*link]);
    let offsets = offsets.chain(cell.rights.iter().map(|link| lanes.left[*link]));
    let below = STROKE + 3.0;
    offsets.fold((0.0, 0.0), |(up, down), y| {
        (up.max(above - y), f64::max(down, y + below))
    })
}

/// Returns where the name of a junction is: below the lanes of the side that has fewer of them
/// there, close to the axis. The result is whether that is the left side, and how far below the
/// axis.
fn caption_place(cell: &Cell, lanes: &Lanes) -> (bool, f64) {
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
    // If bonds leave above and below, signals need room beside them.
    let beside = match above.one_ports.len().min(below.one_ports.len()) {
        least if least > 0 && signals => least + 2,
        _ => 0,
    };
    let most = above.one_ports.len().max(below.one_ports.len()).max(beside);
    let half = body.half.max(most as f64 * NARROW / 2.0);
    let (numbers, _) = reach(cell, lanes, NUMBER);
    let (up, down) = reach(cell, lanes, STROKE + 3.0);
    // If no bond ends at the lower lines of an element, these lines are not in its box, so that
    // bonds come close to a short kind above a long name. For signals a large box is better.
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
    let (at_left, caption) = caption_place(cell, lanes);
    let name = body.caption.as_ref();
    let aside = name.map_or(0.0, |line| half + 3.0 + line.width);
    let under = name.map_or(0.0, |line| caption + line.height());
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
        caption: (at_left, caption),
        above: above.one_ports,
        below: below.one_ports,
    }
}

/// The one-ports of one side.
#[derive(Default)]
struct PortFan {
    one_ports: Vec<OnePort>,
    left: f64,
    right: f64,
    height: f64,
}

fn fan(sketch: &Sketch, bodies: &[Body], list: &[Port]) -> PortFan {
    let count = list.len();
    if count == 0 {
        return PortFan::default();
    }
    let rows = if count > ROW { 2 } else { 1 };
    // How far each one-port reaches to the left and to the right of its axis, including its number.
    let reach = |at: usize| {
        let (node, bond) = list[at];
        let half = bodies[node].half;
        let number = measure::number(&sketch.bonds[bond].label, ColourRole::Ink).width;
        (half, half.max(2.0 * BESIDE + number))
    };
    let mut x: Vec<f64> = vec![0.0; count];
    for at in 1..count {
        // In two rows, the bond of a one-port of the outer row passes between two of the inner row.
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
    let mut out = PortFan::default();
    // Outer bonds turn first, so that they do not cross the inner ones.
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
        let one_port = OnePort {
            node: *node,
            bond: *bond,
            lane: (at as f64 - (count as f64 - 1.0) / 2.0) * NARROW,
            x: x[at] - middle,
            turn: STUB + inner as f64 * TRACK,
            base,
            height: bodies[*node].height(),
        };
        out.left = out.left.max(left - one_port.x);
        out.right = out.right.max(right + one_port.x);
        out.height = out.height.max(base + one_port.height);
        out.one_ports.push(one_port);
    }
    out
}
