//! Pictures of bond graphs: from what is to be seen to coordinates, and from these to SVG and TikZ; and DOT.
//!
//! A [`Sketch`](crate::bond::sketch::Sketch) says what is to be seen and nothing of where. It knows nothing of models: names and values come as text.
//!
//! ```text
//! Sketch --web--> columns of cells --order--> few crossings --rails--> straight chains, heights
//!        --block--> a node and its one-ports --channel--> abscissae --emit--> Layout
//!        --signals--> arrows around what stands there --legend--> Layout --svg--> text
//! ```
//!
//! That nothing overlaps is not checked but built in: every node with its one-ports is a block, blocks
//! of a column lie in bands of their own, and a bond runs in a lane of its own within the band of its
//! node, in a band of its own through foreign columns, and upright only between columns.

mod block;
mod channel;
mod dot;
mod emit;
mod layout;
mod legend;
mod maze;
mod measure;
mod order;
mod rails;
mod signals;
mod svg;
mod tikz;
mod web;

pub use dot::dot;
pub use layout::{
    Arrow, Bar, Harpoon, Label, Layout, Owner, Point, Rect, Sample, Tone, Wire, layout,
};
pub use svg::svg;
pub use tikz::tikz;
