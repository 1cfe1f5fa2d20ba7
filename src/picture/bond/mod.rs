//! Pictures of bond graphs: from the content to coordinates, and from these to SVG and TikZ; also
//! DOT.
//!
//! A [`Sketch`](crate::bond::sketch::Sketch) holds the content of a picture without coordinates.
//! This room knows nothing of models: names and values are texts.
//!
//! ```text
//! Sketch --layers--> columns of cells --order--> few crossings --chains--> straight chains, heights
//!        --block--> a node and its one-ports --channel--> abscissae --emit--> Layout
//!        --signals--> arrows around what stands there --legend--> Layout --svg--> text
//! ```
//!
//! That nothing overlaps follows from the construction and needs no check. Every node with its
//! one-ports is a block. The blocks of a column lie in separate bands. A bond runs in its own lane
//! within the band of its node, in its own band through other columns, and vertically only between
//! columns.

mod block;
mod chains;
mod channel;
mod dot;
mod emit;
mod grid;
mod layers;
mod layout;
mod legend;
mod measure;
mod order;
mod signals;
mod svg;
mod tikz;

pub use dot::dot;
pub use layout::{
    Arrow, Bar, BondLine, ColourRole, HalfArrow, Label, Layout, Owner, Point, Rect, Sample, layout,
};
pub use svg::svg;
pub use tikz::tikz;
