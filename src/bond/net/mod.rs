//! Causality as a covering problem, in integers: bonds, the nodes at their ends, and what each node allows.
//!
//! At either end of a bond one of effort and flow is computed: one end *gives* the effort, the other the flow. (The
//! stroke is drawn at the end that gives the flow.) A node either has a rule for all its ends together (exactly one of
//! them gives what is written for it), or says for each end by itself what it gives, or leaves it open.
//!
//! ```text
//! 0-junction     exactly one end gives the flow: that bond brings in the effort
//! 1-junction     exactly one end gives the effort
//! TF             exactly one of its two ends gives the effort
//! GY             exactly one of: the first end gives the effort, the second end gives the flow
//! source, C, I   each end by itself
//! ```
//!
//! Hood, Rosenberg, Withers and Zhou 1987, Figure 4, has these rules as pictures.

mod causal;
mod conflict;

pub use causal::Causal;
pub use conflict::Conflict;

/// What is computed at an end of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gives {
    Effort,
    Flow,
}

impl Gives {
    /// What the other end of the bond gives.
    pub fn other(self) -> Gives {
        match self {
            Gives::Effort => Gives::Flow,
            Gives::Flow => Gives::Effort,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Exactly one of the ends at this node gives what is marked at it ([`End::marked`]).
    One,
    /// Each end by itself: what is marked, or either if nothing is.
    Each,
}

/// The end of a bond at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub node: u32,
    /// At a node with [`Rule::One`] always there. At one with [`Rule::Each`] what has to be given, if anything has.
    pub marked: Option<Gives>,
}

/// Nodes by their rules, and bonds by their two ends. A bond may join any two nodes, also two of one kind, and two nodes may
/// be joined by several bonds; no bond joins a node to itself.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub nodes: Vec<Rule>,
    pub bonds: Vec<[End; 2]>,
}

impl Net {
    /// What the node at an end allows.
    pub fn rule(&self, end: &End) -> Rule {
        self.nodes[end.node as usize]
    }

    /// The ends that have to give what is marked, each by itself: bond, end, and what it gives.
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
