//! Causality as a covering problem: bonds, the nodes at their ends, and the rule of each node, all
//! as integers.
//!
//! At each end of a bond either the effort or the flow is computed: one end *gives* the effort, the
//! other the flow. (The stroke is drawn at the end that gives the flow.) A node either has one rule
//! for all its ends together, namely that exactly one of them gives what is marked at it, or it
//! fixes or leaves open each end by itself.
//!
//! ```text
//! 0-junction     exactly one end gives the flow: that bond brings in the effort
//! 1-junction     exactly one end gives the effort
//! TF             exactly one of its two ends gives the effort
//! GY             exactly one of: the first end gives the effort, the second end gives the flow
//! source, C, I   each end by itself
//! ```
//!
//! Figure 4 of Hood, Rosenberg, Withers and Zhou 1987 shows these rules as pictures.

mod causal;
mod conflict;

pub use causal::Causal;
pub use conflict::Conflict;

/// The variable that is computed at an end of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gives {
    Effort,
    Flow,
}

impl Gives {
    /// The variable that the other end of the bond gives.
    pub fn other(self) -> Gives {
        match self {
            Gives::Effort => Gives::Flow,
            Gives::Flow => Gives::Effort,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Exactly one of the ends at this node gives the variable that is marked at it
    /// ([`End::marked`]).
    One,
    /// Each end gives by itself what is marked, or either variable if nothing is marked.
    Each,
}

/// The end of a bond at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub node: u32,
    /// Always set at a node with [`Rule::One`]. At a node with [`Rule::Each`]: the variable that
    /// the end has to give, if it is fixed.
    pub marked: Option<Gives>,
}

/// Nodes with their rules, and bonds with their two ends. A bond may join any two nodes, also two
/// of one kind, and several bonds may join the same two nodes. No bond joins a node to itself.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub nodes: Vec<Rule>,
    pub bonds: Vec<[End; 2]>,
}

impl Net {
    /// Returns the rule of the node at an end.
    pub fn rule(&self, end: &End) -> Rule {
        self.nodes[end.node as usize]
    }

    /// The ends that are fixed one by one: the bond, the end, and what it gives.
    pub fn fixed(&self) -> impl Iterator<Item = (u32, usize, Gives)> + '_ {
        self.bonds.iter().enumerate().flat_map(move |(bond, ends)| {
            [0, 1].into_iter().filter_map(move |end| {
                let by_itself = self.rule(&ends[end]) == Rule::Each;
                let gives = ends[end].marked.filter(|_| by_itself)?;
                Some((bond as u32, end, gives))
            })
        })
    }
}
