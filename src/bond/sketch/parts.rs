//! What a picture of a bond graph shows, as text, without places.

/// A node of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub shape: Shape,
    /// `0`, `1`, `Se`, `R`, `mTF`, ...; the type's name in a box.
    pub kind: String,
    /// Its name in the model: `R1`, `c[2].C`; may be empty for a junction without a name of its own.
    pub name: String,
    /// What it is worth, shortly: `R = 100 Ohm`; none, one or two lines.
    pub values: Vec<String>,
    pub mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A 0- or 1-junction.
    Junction,
    /// An element, with any number of bonds; most have one.
    Element,
    /// A submodel that is not opened.
    Box,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Plain,
    /// A storage with derivative causality, and its bond.
    Derivative,
    /// In the algebraic loop of this number, from 0 on: each has a colour of its own.
    Loop(u32),
    /// Depends on the position of a switch.
    Switched,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    From,
    To,
}

/// Power goes from `from` to `to` where it is positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bond {
    pub from: usize,
    pub to: usize,
    /// The number of the bond; of several (a hierarchical cut, drawn double) all of them: `3`, `3, 4`, `3..7`.
    pub label: String,
    /// Drawn double: a hierarchical cut.
    pub double: bool,
    pub stroke: Option<Stroke>,
    pub mark: Mark,
}

/// A signal: a thin line with a full arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The node that it comes from; without one it comes from outside (an input), and its label stands at its beginning.
    pub from: Option<usize>,
    pub to: usize,
    pub label: String,
}

/// What is to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    pub title: String,
    pub nodes: Vec<Node>,
    pub bonds: Vec<Bond>,
    pub signals: Vec<Signal>,
}
