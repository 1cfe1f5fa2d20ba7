//! The coordinates of a picture.
//!
//! Before: a sketch. After: a [`Layout`] with y downwards, all of it between 0 and the size. Bonds
//! and signals that refer to nodes that do not exist are left out.

use super::measure::{self, MARGIN};
use super::{emit, layers, legend, signals};
use crate::bond::sketch::{Mark, Sketch};
use crate::picture::svg::text::Anchor;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// Returns the point at a distance in a direction.
    pub fn plus(self, direction: Point, length: f64) -> Point {
        Point::new(self.x + direction.x * length, self.y + direction.y * length)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Rect {
        Rect {
            left,
            top,
            right,
            bottom,
        }
    }

    /// Returns the smallest rectangle that contains both points.
    pub fn around(a: Point, b: Point) -> Rect {
        Rect::new(a.x.min(b.x), a.y.min(b.y), a.x.max(b.x), a.y.max(b.y))
    }

    pub fn grown(self, by: f64) -> Rect {
        Rect::new(
            self.left - by,
            self.top - by,
            self.right + by,
            self.bottom + by,
        )
    }

    pub fn with(self, other: Rect) -> Rect {
        Rect::new(
            self.left.min(other.left),
            self.top.min(other.top),
            self.right.max(other.right),
            self.bottom.max(other.bottom),
        )
    }

    pub fn overlaps(self, other: Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub fn centre(self) -> Point {
        Point::new(
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }
}

/// What a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Picture,
    Node(usize),
    Bond(usize),
    Signal(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourRole {
    Ink,
    Faint,
    /// The bold part has the colour of the mark.
    Marked(Mark),
}

/// A text: a bold part and a plain one, on one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    pub area: Rect,
    /// The anchor, on the baseline.
    pub at: Point,
    pub anchor: Anchor,
    pub bold: String,
    pub plain: String,
    /// The whole text, for a tooltip, if the text is shortened.
    pub whole: Option<String>,
    pub size: f64,
    pub role: ColourRole,
    pub owner: Owner,
}

/// The line of a bond, from its beginning to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct BondLine {
    pub bond: usize,
    pub points: Vec<Point>,
}

/// The half arrow of a bond: a barb on the left of its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfArrow {
    pub bond: usize,
    pub tip: Point,
    pub barb: Point,
}

/// A causal stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub bond: usize,
    pub ends: [Point; 2],
}

/// A signal, and its head.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    pub signal: usize,
    pub points: Vec<Point>,
    pub head: [Point; 3],
}

/// The piece of line that stands for a mark in the legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub mark: Mark,
    pub ends: [Point; 2],
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    /// One for each node of the sketch.
    pub boxes: Vec<Rect>,
    pub labels: Vec<Label>,
    pub wires: Vec<BondLine>,
    pub harpoons: Vec<HalfArrow>,
    pub bars: Vec<Bar>,
    pub arrows: Vec<Arrow>,
    pub samples: Vec<Sample>,
}

/// The distance between parts that no bond connects.
const APART: f64 = 36.0;

pub fn layout(sketch: &Sketch) -> Layout {
    let nothing = Rect::new(0.0, 0.0, 0.0, 0.0);
    let mut out = Layout {
        boxes: vec![nothing; sketch.nodes.len()],
        ..Layout::default()
    };
    let bodies: Vec<measure::Body> = sketch.nodes.iter().map(measure::body).collect();
    let mut parts: Vec<emit::Drawing> = layers::layered_graphs(sketch)
        .into_iter()
        .map(|layered| emit::draw_part(sketch, &bodies, layered))
        .collect();
    // Large parts come first; equal ones keep their order.
    parts.sort_by(|a, b| b.area().total_cmp(&a.area()));
    let widest = parts.iter().map(emit::Drawing::width).fold(0.0, f64::max);
    let area: f64 = parts.iter().map(emit::Drawing::area).sum();
    let shelf = widest.max((area * 1.8).sqrt());
    let (mut x, mut y, mut height) = (0.0, 0.0, 0.0_f64);
    for part in parts {
        if x > 0.0 && x + part.width() > shelf {
            (x, y, height) = (0.0, y + height + APART, 0.0);
        }
        height = height.max(part.height());
        let width = part.width();
        part.put(&mut out, x, y);
        x += width + APART;
    }
    signals::route(sketch, &mut out);
    legend::frame(sketch, &mut out);
    out
}

impl Layout {
    /// Returns the rectangle around everything; it is empty for an empty picture.
    pub fn extent(&self) -> Rect {
        let points = self
            .wires
            .iter()
            .flat_map(|w| &w.points)
            .chain(self.arrows.iter().flat_map(|a| &a.points))
            .chain(self.bars.iter().flat_map(|b| &b.ends))
            .chain(self.arrows.iter().flat_map(|a| &a.head))
            .chain(self.samples.iter().flat_map(|s| &s.ends))
            .map(|p| Rect::around(*p, *p));
        self.boxes
            .iter()
            .copied()
            .chain(self.labels.iter().map(|l| l.area))
            .chain(self.harpoons.iter().map(|h| Rect::around(h.tip, h.barb)))
            .chain(points)
            .reduce(Rect::with)
            .unwrap_or(Rect::new(0.0, 0.0, 0.0, 0.0))
    }

    /// Moves everything.
    pub(super) fn shift(&mut self, x: f64, y: f64) {
        let by = |p: &mut Point| *p = Point::new(p.x + x, p.y + y);
        let all = |r: &mut Rect| {
            *r = Rect::new(r.left + x, r.top + y, r.right + x, r.bottom + y);
        };
        self.boxes.iter_mut().for_each(all);
        for label in &mut self.labels {
            all(&mut label.area);
            by(&mut label.at);
        }
        self.wires
            .iter_mut()
            .flat_map(|w| &mut w.points)
            .for_each(by);
        for harpoon in &mut self.harpoons {
            by(&mut harpoon.tip);
            by(&mut harpoon.barb);
        }
        self.bars.iter_mut().flat_map(|b| &mut b.ends).for_each(by);
        for arrow in &mut self.arrows {
            arrow.points.iter_mut().for_each(by);
            arrow.head.iter_mut().for_each(by);
        }
        self.samples
            .iter_mut()
            .flat_map(|s| &mut s.ends)
            .for_each(by);
    }

    /// Moves the picture to its margins and sets its size.
    pub(super) fn close(&mut self) {
        let extent = self.extent();
        self.shift(MARGIN - extent.left, MARGIN - extent.top);
        self.width = extent.right - extent.left + 2.0 * MARGIN;
        self.height = extent.bottom - extent.top + 2.0 * MARGIN;
    }
}
