//! Draws a connected part of the picture as boxes, texts, lines, strokes and half arrows.
//!
//! Before: a layered graph. After: a [`Drawing`] with coordinates of its own; [`Drawing::put`]
//! moves it into the picture.

use super::block::{self, Block, OnePort};
use super::channel::{self, Columns};
use super::layers::{LayeredGraph, Route};
use super::layout::{Bar, BondLine, ColourRole, HalfArrow, Label, Layout, Owner, Point, Rect};
use super::measure::{BARB, BARB_OUT, BESIDE, Body, Line, STROKE, STROKE_AT, STUB, TIP_AT, number};
use super::{chains, order};
use crate::bond::sketch::{Shape, Sketch, Stroke};
use crate::picture::svg::text::Anchor;

#[derive(Debug)]
pub struct Drawing {
    /// The node of each box.
    nodes: Vec<usize>,
    drawn: Layout,
    extent: Rect,
}

impl Drawing {
    pub fn width(&self) -> f64 {
        self.extent.right - self.extent.left
    }

    pub fn height(&self) -> f64 {
        self.extent.bottom - self.extent.top
    }

    pub fn area(&self) -> f64 {
        self.width() * self.height()
    }

    /// Moves the part into the picture, with its upper left corner here.
    pub fn put(mut self, out: &mut Layout, x: f64, y: f64) {
        self.drawn.shift(x - self.extent.left, y - self.extent.top);
        for (node, rect) in self.nodes.iter().zip(&self.drawn.boxes) {
            out.boxes[*node] = *rect;
        }
        out.labels.append(&mut self.drawn.labels);
        out.wires.append(&mut self.drawn.wires);
        out.harpoons.append(&mut self.drawn.harpoons);
        out.bars.append(&mut self.drawn.bars);
    }
}

pub fn draw_part(sketch: &Sketch, bodies: &[Body], mut layered: LayeredGraph) -> Drawing {
    order::order(&mut layered);
    let chains = chains::choose(&layered);
    let lanes = block::lanes(&layered, &chains);
    let blocks = block::blocks(sketch, bodies, &layered, &lanes);
    let y = chains::heights(&layered, &chains, &lanes, &blocks);
    let columns = channel::columns(sketch, &layered, &lanes, &blocks, &y);
    let mut emitter = Emitter {
        sketch,
        bodies,
        nodes: Vec::new(),
        drawn: Layout::default(),
    };
    for (at, cell) in layered.cells.iter().enumerate() {
        if let Some(node) = cell.node {
            let axis = Point::new(columns.x[cell.layer], y[at]);
            emitter.block(node, &blocks[at], axis);
        }
    }
    let ends: Vec<(f64, f64)> = layered
        .links
        .iter()
        .enumerate()
        .map(|(at, link)| {
            (
                y[link.left] + lanes.left[at],
                y[link.right] + lanes.right[at],
            )
        })
        .collect();
    for route in &layered.routes {
        emitter.route(&layered, &blocks, &columns, &ends, route);
    }
    let extent = emitter.drawn.extent();
    Drawing {
        nodes: emitter.nodes,
        drawn: emitter.drawn,
        extent,
    }
}

struct Emitter<'a> {
    sketch: &'a Sketch,
    bodies: &'a [Body],
    nodes: Vec<usize>,
    drawn: Layout,
}

impl Emitter<'_> {
    /// Draws a node and its one-ports.
    fn block(&mut self, node: usize, block: &Block, axis: Point) {
        let rect = Rect::new(
            axis.x - block.half,
            axis.y - block.up,
            axis.x + block.half,
            axis.y + block.down,
        );
        self.nodes.push(node);
        self.drawn.boxes.push(rect);
        let body = &self.bodies[node];
        let all: f64 = body.lines.iter().map(Line::height).sum();
        let first = body.lines.first().map_or(0.0, Line::height);
        let top = match self.sketch.nodes[node].shape {
            Shape::Box => rect.centre().y - all / 2.0,
            _ => axis.y - first / 2.0,
        };
        self.lines(node, Point::new(axis.x, top), false);
        if let Some(caption) = &body.caption {
            let (at_left, down) = block.caption;
            let x = if at_left {
                rect.left - 3.0 - caption.width
            } else {
                rect.right + 3.0
            };
            let start = Point::new(x, axis.y + down);
            let label = caption.from(start, Owner::Node(node));
            let anchor = if at_left { Anchor::End } else { Anchor::Start };
            self.drawn.labels.push(label.anchored(anchor));
        }
        for one_port in &block.above {
            self.one_port(one_port, Point::new(axis.x, rect.top), -1.0, node);
        }
        for one_port in &block.below {
            self.one_port(one_port, Point::new(axis.x, rect.bottom), 1.0, node);
        }
    }

    /// Draws the texts of a node from here downwards. A one-port above its host has its kind at the
    /// bottom, where its bond ends, and its name and values above.
    fn lines(&mut self, node: usize, mut top: Point, above: bool) {
        let lines = &self.bodies[node].lines;
        let values = self.sketch.nodes[node].values.len().min(lines.len());
        let (heads, values) = lines.split_at(lines.len() - values);
        let order: Vec<&Line> = if above {
            values.iter().chain(heads.iter().rev()).collect()
        } else {
            lines.iter().collect()
        };
        for line in order {
            let label = line.under(top, Owner::Node(node));
            self.drawn.labels.push(label);
            top.y += line.height();
        }
    }

    /// Draws a one-port. `edge` is the middle of the host's edge, `out` is the direction.
    fn one_port(&mut self, one_port: &OnePort, edge: Point, out: f64, host: usize) {
        let body = &self.bodies[one_port.node];
        let (near, x) = (edge.y + out * one_port.base, edge.x + one_port.x);
        let far = near + out * one_port.height;
        let rect = Rect::new(x - body.half, near.min(far), x + body.half, near.max(far));
        self.nodes.push(one_port.node);
        self.drawn.boxes.push(rect);
        let inner = match self.sketch.nodes[one_port.node].shape {
            Shape::Box => body.padding,
            _ => 0.0,
        };
        self.lines(one_port.node, Point::new(x, rect.top + inner), out < 0.0);
        let lane = edge.x + one_port.lane;
        let mut points = vec![Point::new(lane, edge.y)];
        if (lane - x).abs() > 0.01 {
            let turn = edge.y + out * one_port.turn;
            points.extend([Point::new(lane, turn), Point::new(x, turn)]);
        }
        points.push(Point::new(x, near));
        if self.sketch.bonds[one_port.bond].from != host {
            points.reverse();
        }
        let line = self.number(one_port.bond);
        if line.width > 0.0 {
            let middle = near - out * (STUB + 0.5 + line.height() / 2.0);
            let start = Point::new(x + 2.0 * BESIDE, middle - line.height() / 2.0);
            let label = line.from(start, Owner::Bond(one_port.bond));
            self.drawn.labels.push(label);
        }
        self.wire(one_port.bond, points);
    }

    fn number(&self, bond: usize) -> Line {
        let bond = &self.sketch.bonds[bond];
        number(&bond.label, ColourRole::Faint)
    }

    /// Draws a bond between cells.
    fn route(
        &mut self,
        layered: &LayeredGraph,
        blocks: &[Block],
        columns: &Columns,
        ends: &[(f64, f64)],
        route: &Route,
    ) {
        let mut points = Vec::new();
        for (at, ahead) in &route.links {
            let link = layered.links[*at];
            let (left, right) = (&layered.cells[link.left], &layered.cells[link.right]);
            let (a, b) = ends[*at];
            let mut piece = vec![Point::new(
                columns.x[left.layer] + blocks[link.left].half,
                a,
            )];
            if let Some(x) = columns.upright[*at] {
                piece.push(Point::new(x, a));
                if let Some(again) = columns.again[*at] {
                    piece.extend([Point::new(x, again.y), again]);
                }
                let last = columns.again[*at].map_or(x, |again| again.x);
                piece.push(Point::new(last, b));
            }
            piece.push(Point::new(
                columns.x[right.layer] - blocks[link.right].half,
                b,
            ));
            if !ahead {
                piece.reverse();
            }
            points.extend(piece);
        }
        let label = self.place_number(layered, columns, route, &points);
        self.drawn.labels.extend(label);
        let first = layered.links[route.links[0].0].left;
        let begins = layered.cells[first].node == Some(self.sketch.bonds[route.bond].from);
        if !begins {
            points.reverse();
        }
        self.wire(route.bond, points);
    }

    /// Places the number of a bond above its line, outside the channels.
    fn place_number(
        &self,
        layered: &LayeredGraph,
        columns: &Columns,
        route: &Route,
        points: &[Point],
    ) -> Option<Label> {
        let line = self.number(route.bond);
        let (first, last) = (points.first()?, points.last()?);
        if line.width == 0.0 {
            return None;
        }
        let (first_link, last_link) = (route.links[0].0, route.links[route.links.len() - 1].0);
        let at_left = columns.at_left[first_link];
        let need = line.width + 8.0;
        let single = route.links.len() == 1;
        let (from, to, y) = if at_left {
            let channel = columns.channel[layered.cells[layered.links[first_link].left].layer];
            let from = first.x + STUB;
            let to = match channel {
                Some((start, _)) => start,
                None if single => last.x - STUB,
                None => from + need,
            };
            (from, to, first.y)
        } else {
            let channel = columns.channel[layered.cells[layered.links[last_link].left].layer];
            let to = last.x - STUB;
            let from = match channel {
                Some((_, end)) => end,
                None if single => first.x + STUB,
                None => to - need,
            };
            (from, to, last.y)
        };
        let top = Point::new((from + to) / 2.0, y - BESIDE - line.height());
        Some(line.under(top, Owner::Bond(route.bond)))
    }

    /// Draws the line of a bond with its stroke and its half arrow. The line ends a little before
    /// the boxes.
    fn wire(&mut self, bond: usize, mut points: Vec<Point>) {
        straighten(&mut points);
        let count = points.len();
        if count < 2 {
            return;
        }
        let stroke = self.sketch.bonds[bond].stroke;
        let start = direction(points[0], points[1]);
        let end = direction(points[count - 2], points[count - 1]);
        points[0] = points[0].plus(start, STROKE_AT);
        points[count - 1] = points[count - 1].plus(end, -STROKE_AT);
        let mut bar = |at: Point, along: Point| {
            let across = Point::new(along.y, -along.x);
            self.drawn.bars.push(Bar {
                bond,
                ends: [at.plus(across, -STROKE), at.plus(across, STROKE)],
            });
        };
        let mut tip = points[count - 1];
        match stroke {
            Some(Stroke::From) => bar(points[0], start),
            Some(Stroke::To) => {
                bar(tip, end);
                tip = tip.plus(end, STROKE_AT - TIP_AT);
            }
            None => {}
        }
        // y points downwards, so the left of a direction (x, y) is (y, -x).
        let left = Point::new(end.y, -end.x);
        let barb = tip.plus(end, -BARB).plus(left, BARB_OUT);
        self.drawn.harpoons.push(HalfArrow { bond, tip, barb });
        self.drawn.wires.push(BondLine { bond, points });
    }
}

fn direction(from: Point, to: Point) -> Point {
    let (x, y) = (to.x - from.x, to.y - from.y);
    let length = x.hypot(y).max(1e-9);
    Point::new(x / length, y / length)
}

/// Removes points that are not corners.
fn straighten(points: &mut Vec<Point>) {
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for point in points.iter() {
        if let Some(last) = kept.last()
            && (last.x - point.x).abs() < 0.01
            && (last.y - point.y).abs() < 0.01
        {
            continue;
        }
        if let [.., before, last] = kept[..] {
            let across =
                (last.x - before.x) * (point.y - last.y) - (last.y - before.y) * (point.x - last.x);
            if across.abs() < 0.01 {
                kept.pop();
            }
        }
        kept.push(*point);
    }
    *points = kept;
}
