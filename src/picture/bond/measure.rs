//! The sizes of texts, nodes, strokes, arrows and lanes.
//!
//! Before: a node. After: its lines of text and the size of its box, around its axis. The axis, at
//! which its bonds end, is the middle of its first line.

use super::layout::{ColourRole, Label, Owner, Point, Rect};
use crate::bond::sketch::{Node, Shape};
use crate::picture::svg::text::{self, Anchor};

pub const MARGIN: f64 = 16.0;

/// Font sizes: of a junction, of a kind, of a name on a line of its own, of all other texts.
pub const GLYPH: f64 = 18.0;
pub const KIND: f64 = 14.0;
pub const NAME: f64 = 11.0;
pub const SMALL: f64 = 10.0;

/// Longer texts are shortened.
const LONGEST: f64 = 220.0;
/// A kind and a name that are together longer than this are on two lines.
const BROAD: f64 = 100.0;

/// A stroke: half its length, and its distance from the node, where the bond ends too.
pub const STROKE: f64 = 6.0;
pub const STROKE_AT: f64 = 2.5;
/// A half arrow: the distance of its tip if there is a stroke before it, and its barb along and
/// across the bond.
pub const TIP_AT: f64 = 4.5;
pub const BARB: f64 = 9.0;
pub const BARB_OUT: f64 = 4.5;
/// The length of the straight end of a bond, which has room for stroke and half arrow.
pub const STUB: f64 = 16.0;
/// The distance between lanes of neighbouring bonds: with numbers above them, and without.
pub const LANE: f64 = 22.0;
pub const NARROW: f64 = 16.0;
/// The distance of a number from its bond.
pub const BESIDE: f64 = 2.0;

/// Returns the height of a line of text.
pub fn height(size: f64) -> f64 {
    (size * 1.2).ceil()
}

/// A line of text of a node.
#[derive(Clone, Debug)]
pub struct Line {
    pub bold: String,
    pub plain: String,
    pub whole: Option<String>,
    pub size: f64,
    pub role: ColourRole,
    pub width: f64,
}

impl Line {
    pub fn new(bold: &str, plain: &str, size: f64, role: ColourRole) -> Line {
        let short = text::shortened(bold, size * text::BOLD, LONGEST);
        let left = LONGEST - text::width(&short, size * text::BOLD);
        let rest = text::shortened(plain, size, left.max(LONGEST / 2.0));
        let whole = (short != bold || rest != plain).then(|| format!("{bold}{plain}"));
        let width = text::width(&short, size * text::BOLD) + text::width(&rest, size);
        Line {
            bold: short,
            plain: rest,
            whole,
            size,
            role,
            width,
        }
    }

    pub fn height(&self) -> f64 {
        height(self.size)
    }

    /// Returns the line as a label, whose top middle is here.
    pub fn under(&self, top: Point, owner: Owner) -> Label {
        let half = self.width / 2.0;
        self.label(
            Rect::new(top.x - half, top.y, top.x + half, top.y + self.height()),
            Anchor::Middle,
            owner,
        )
    }

    /// Returns the line as a label that begins here, at its top.
    pub fn from(&self, start: Point, owner: Owner) -> Label {
        let area = Rect::new(
            start.x,
            start.y,
            start.x + self.width,
            start.y + self.height(),
        );
        self.label(area, Anchor::Start, owner)
    }

    /// Makes a line that is not shortened.
    pub fn whole(bold: &str, size: f64) -> Line {
        let mut line = Line::new(bold, "", size, ColourRole::Ink);
        line.bold = bold.to_string();
        line.width = text::width(bold, size * text::BOLD);
        line.whole = None;
        line
    }

    fn label(&self, area: Rect, anchor: Anchor, owner: Owner) -> Label {
        // Capital letters are 0.72 high, so they are in the middle of the line.
        let y = area.centre().y + 0.36 * self.size;
        Label {
            area,
            at: Point::new(area.left, y),
            anchor: Anchor::Start,
            bold: self.bold.clone(),
            plain: self.plain.clone(),
            whole: self.whole.clone(),
            size: self.size,
            role: self.role,
            owner,
        }
        .anchored(anchor)
    }
}

impl Label {
    /// Anchors the label at one of its sides, without moving it. If letters are narrower than
    /// estimated, they stay at this side.
    pub fn anchored(mut self, anchor: Anchor) -> Label {
        self.anchor = anchor;
        self.at.x = match anchor {
            Anchor::Start => self.area.left,
            Anchor::Middle => self.area.centre().x,
            Anchor::End => self.area.right,
        };
        self
    }
}

/// The texts and the size of a node, measured outwards from its axis.
#[derive(Clone, Debug)]
pub struct Body {
    pub lines: Vec<Line>,
    /// A text outside the node, below one side: the name of a junction.
    pub caption: Option<Line>,
    /// Half the width of the box, and its extent above and below the axis.
    pub half: f64,
    /// Half the width of the first line.
    pub head: f64,
    pub up: f64,
    pub down: f64,
    /// The distance between the box and its lines.
    pub padding: f64,
}

impl Body {
    pub fn height(&self) -> f64 {
        self.up + self.down
    }

    /// Whether what is drawn of a node is wider than its letters.
    pub fn is_wide(&self, drawn: &Rect) -> bool {
        drawn.right - drawn.left > 2.0 * self.half + 14.0
            || drawn.bottom - drawn.top > self.height() + 6.0
    }
}

/// Returns the number of a bond as a text. It is shorter than other texts, because it lies between
/// nodes.
pub fn number(label: &str, role: ColourRole) -> Line {
    let mut line = Line::new("", label, SMALL, role);
    let short = text::shortened(label, SMALL, 90.0);
    if short != label {
        line.width = text::width(&short, SMALL);
        line.plain = short;
        line.whole = Some(label.to_string());
    }
    line
}

pub fn body(node: &Node) -> Body {
    let role = ColourRole::Marked(node.mark);
    let small = |text: &str| Line::new("", text, SMALL, ColourRole::Faint);
    let mut lines = Vec::new();
    let mut caption = None;
    let mut padding = 3.0;
    match node.shape {
        Shape::Junction => {
            lines.push(Line::new(&node.kind, "", GLYPH, role));
            caption = (!node.name.is_empty()).then(|| small(&node.name));
        }
        Shape::Element => {
            let one = Line::new(&node.kind, &format!(" : {}", node.name), KIND, role);
            if node.name.is_empty() {
                lines.push(Line::new(&node.kind, "", KIND, role));
            } else if one.width <= BROAD {
                lines.push(one);
            } else {
                lines.push(Line::new(&node.kind, "", KIND, role));
                lines.push(Line::new("", &node.name, NAME, ColourRole::Ink));
            }
        }
        Shape::Box => {
            padding = 9.0;
            if !node.name.is_empty() {
                lines.push(Line::new(&node.name, "", 12.0, role));
            }
            if !node.kind.is_empty() || lines.is_empty() {
                lines.push(small(&node.kind));
            }
        }
    }
    lines.extend(node.values.iter().map(|value| small(value)));
    let widest = lines.iter().map(|line| line.width).fold(14.0, f64::max);
    let all: f64 = lines.iter().map(Line::height).sum();
    let first = lines.first().map_or(0.0, Line::height);
    let head = lines.first().map_or(0.0, |line| line.width);
    // Bonds end at the middle of a closed submodel's box; at other nodes they end at the letters of
    // the first line.
    let (up, down) = if node.shape == Shape::Box {
        ((all / 2.0) + padding, all / 2.0 + padding)
    } else {
        (first / 2.0, all - first / 2.0)
    };
    Body {
        lines,
        caption,
        half: widest / 2.0 + padding,
        // The head is wide enough for an arrow from above.
        head: head.max(14.0) / 2.0 + padding,
        up,
        down,
        padding,
    }
}
