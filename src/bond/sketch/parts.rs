//! The content of a picture of a bond graph, as text and without coordinates.

/// A node of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub shape: Shape,
    /// `0`, `1`, `Se`, `R`, `mTF`, ...; for a box the name of its type.
    pub kind: String,
    /// Its name in the model: `R1`, `c[2].C`. It may be empty for a junction without a name of its
    /// own.
    pub name: String,
    /// Its values in short form: `R = 100 Ohm`; none, one or two lines.
    pub values: Vec<String>,
    pub mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A 0- or 1-junction.
    Junction,
    /// An element, with any number of bonds; most have one.
    Element,
    /// A closed submodel.
    Box,
}

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Plain,
    /// A storage with derivative causality, and its bond.
    Derivative,
    /// In the algebraic loop with this number, from 0 on. Each loop has a colour of its own.
    Loop(u32),
    /// The stroke depends on the position of a switch.
    Switched,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    From,
    To,
}

/// A bond. Positive power flows from `from` to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bond {
    pub from: usize,
    pub to: usize,
    /// The number of the bond; for several bonds (a hierarchical cut, drawn double) all of them:
    /// `3`, `3, 4`, `3..7`.
    pub label: String,
    /// Whether it is drawn double, because it is a hierarchical cut.
    pub double: bool,
    pub stroke: Option<Stroke>,
    pub mark: Mark,
}

/// A signal, drawn as a thin line with a full arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The node at which it begins. `None` for an input, whose label is drawn at its beginning.
    pub from: Option<usize>,
    pub to: usize,
    pub label: String,
}

/// The content of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    pub title: String,
    pub nodes: Vec<Node>,
    pub bonds: Vec<Bond>,
    pub signals: Vec<Signal>,
}
