//! Simplifies a graph by the rules of Cellier 1990: leaves out what carries no information.
//!
//! - Neighbouring junctions of one kind become one, and the bond between them is left out.
//! - A reference holds its junction at zero. No power goes through its bonds to junctions of the
//!   other kind, so they are left out. The reference is left out too, if nothing else is left
//!   there.
//! - An open end passes nothing. It is left out if this does not change the balance of the other
//!   bonds at its junction.
//! - A junction with two bonds, one in and one out, is replaced by one bond.
//!
//! Nodes are joined by union-find. The shorter list of bonds is appended to the longer one, so the
//! cost is almost linear.

use crate::base::cancel::glance;
use std::collections::VecDeque;

use crate::bond::graph::{
    Bond, BondId, ElementKind, Graph, JunctionKind, Node, NodeId, NodeKind, Signal,
};
use crate::bond::order::natural;

/// A graph while it is simplified. Ids stay those of the graph from which it was made.
#[derive(Clone, Debug)]
pub struct SimplifiedGraph {
    pub nodes: Vec<Node>,
    /// `None` for a bond that was left out.
    pub bonds: Vec<Option<Bond>>,
    pub signals: Vec<Signal>,
    pub removed: Vec<bool>,
    /// For each bond whether it has the opposite direction in the original graph.
    pub reversed: Vec<bool>,
    /// The node with which each node was joined; itself if it was not joined (union-find).
    parent: Vec<NodeId>,
    of: Vec<Vec<BondId>>,
}

impl SimplifiedGraph {
    pub fn new(graph: &Graph) -> Self {
        SimplifiedGraph {
            nodes: graph.nodes.clone(),
            bonds: graph.bonds.iter().cloned().map(Some).collect(),
            signals: graph.signals.clone(),
            removed: vec![false; graph.nodes.len()],
            reversed: vec![false; graph.bonds.len()],
            parent: graph.node_ids().collect(),
            of: graph.bonds_of(),
        }
    }

    /// Returns the representative of a node.
    pub fn find(&mut self, mut at: NodeId) -> NodeId {
        while self.parent[at.index()] != at {
            let above = self.parent[self.parent[at.index()].index()];
            self.parent[at.index()] = above;
            at = above;
        }
        at
    }

    /// Replaces nodes by one box, which gets their bonds. Bonds among them are left out.
    pub fn join_as(&mut self, members: &[NodeId], node: Node) {
        let Some((&first, rest)) = members.split_first() else {
            return;
        };
        for &other in rest {
            self.parent[other.index()] = first;
            let bonds = std::mem::take(&mut self.of[other.index()]);
            self.of[first.index()].extend(bonds);
        }
        self.nodes[first.index()] = node;
        self.clean(first);
    }

    fn junction(&self, at: NodeId) -> Option<JunctionKind> {
        self.nodes[at.index()].junction()
    }

    fn ends(&mut self, id: BondId) -> Option<(NodeId, NodeId)> {
        let (from, to) = {
            let bond = self.bonds[id.index()].as_ref()?;
            (bond.from, bond.to)
        };
        Some((self.find(from), self.find(to)))
    }

    /// Removes from the list of a node the bonds that were left out or lead back to the node.
    fn clean(&mut self, at: NodeId) {
        let list = std::mem::take(&mut self.of[at.index()]);
        let mut remaining = Vec::with_capacity(list.len());
        for id in list {
            match self.ends(id) {
                Some((from, to)) if from == to => self.bonds[id.index()] = None,
                Some(_) => remaining.push(id),
                None => {}
            }
        }
        remaining.sort_unstable();
        remaining.dedup();
        self.of[at.index()] = remaining;
    }

    /// Leaves out what carries no information. With `keep_named`, junctions with a name stay.
    pub fn simplify(&mut self, keep_named: bool) {
        for at in 0..self.bonds.len() {
            self.merge(BondId(at as u32));
        }
        let all: Vec<NodeId> = (0..self.nodes.len() as u32).map(NodeId).collect();
        for &at in &all {
            if self.find(at) == at && self.junction(at).is_some() {
                self.clean(at);
            }
        }
        for &at in &all {
            if self.find(at) == at && !self.removed[at.index()] {
                self.drop_reference(at);
                self.drop_open(at);
            }
        }
        // Sources are turned in a second round, where nothing else helps, so that the order of
        // nodes does not matter.
        for turns in [false, true] {
            let mut queue: VecDeque<NodeId> = all.iter().copied().collect();
            while let Some(at) = queue.pop_front() {
                glance();
                if self.find(at) == at
                    && !self.removed[at.index()]
                    && !(keep_named && self.nodes[at.index()].named)
                    && let Some(touched) = self.amalgamate(at, turns)
                {
                    queue.extend(touched);
                }
            }
        }
    }

    /// Joins the ends of a bond if they are junctions of one kind.
    fn merge(&mut self, id: BondId) -> Option<NodeId> {
        let (from, to) = self.ends(id)?;
        let kind = self.junction(from)?;
        if from != to && self.junction(to) != Some(kind) {
            return None;
        }
        self.bonds[id.index()] = None;
        if from == to {
            return Some(from);
        }
        let longer = self.of[from.index()].len() >= self.of[to.index()].len();
        let (root, below) = if longer { (from, to) } else { (to, from) };
        self.parent[below.index()] = root;
        let bonds = std::mem::take(&mut self.of[below.index()]);
        self.of[root.index()].extend(bonds);
        if is_better_name(&self.nodes[below.index()], &self.nodes[root.index()]) {
            let Node {
                name, named, owner, ..
            } = self.nodes[below.index()].clone();
            let node = &mut self.nodes[root.index()];
            (node.name, node.named, node.owner) = (name, named, owner);
        }
        Some(root)
    }

    fn remaining_bonds(&mut self, at: NodeId) -> Vec<BondId> {
        self.clean(at);
        self.of[at.index()].clone()
    }

    /// Returns the node at the other end of a bond.
    fn far(&mut self, at: NodeId, id: BondId) -> Option<NodeId> {
        let (from, to) = self.ends(id)?;
        Some(if from == at { to } else { from })
    }

    /// If a reference lies at this junction, it carries nothing: bonds to junctions of the other kind are removed, and all
    /// references but one; if nothing else is left, the junction as well.
    fn drop_reference(&mut self, at: NodeId) {
        let Some(kind) = self.junction(at) else {
            return;
        };
        let bonds = self.remaining_bonds(at);
        let mut references = Vec::new();
        let mut others = Vec::new();
        for &id in &bonds {
            let Some(far) = self.far(at, id) else {
                continue;
            };
            match &self.nodes[far.index()].kind {
                NodeKind::Element(element) if element.reference => references.push((id, far)),
                _ => others.push((id, far)),
            }
        }
        if references.is_empty() {
            return;
        }
        let mut left = 0;
        for (id, far) in others {
            match self.junction(far) {
                Some(other) if other != kind => self.bonds[id.index()] = None,
                _ => left += 1,
            }
        }
        // One of several references is enough.
        let keep = usize::from(left > 0);
        for (id, far) in references.into_iter().skip(keep) {
            self.bonds[id.index()] = None;
            self.removed[far.index()] = true;
        }
        self.removed[at.index()] = left == 0;
        self.clean(at);
    }

    fn drop_open(&mut self, at: NodeId) {
        let Some(kind) = self.junction(at) else {
            return;
        };
        for id in self.remaining_bonds(at) {
            let Some(far) = self.far(at, id) else {
                continue;
            };
            let NodeKind::Element(element) = &self.nodes[far.index()].kind else {
                continue;
            };
            let gives_flow = element.kind == ElementKind::Sf;
            let has_no_effect = gives_flow == (kind == JunctionKind::Zero);
            if element.open && has_no_effect && self.of[at.index()].len() > 2 {
                self.bonds[id.index()] = None;
                self.removed[far.index()] = true;
            }
        }
        self.clean(at);
    }

    /// Turns a source that can only take power, such as the effort against which a pipe delivers,
    /// so that power into it is positive. The direction does not matter to sources without a
    /// variable for what they deliver.
    fn turn_source(&mut self, at: NodeId, a: BondId, b: BondId) -> Option<()> {
        if self.ends(a)?.1 != at || self.ends(b)?.1 != at {
            return None;
        }
        let id = [a, b].into_iter().find(|&id| {
            let Some(bond) = &self.bonds[id.index()] else {
                return false;
            };
            let from = &self.nodes[bond.from.index()];
            let delivered = match from.element().map(|element| element.kind) {
                Some(ElementKind::Se) => &bond.flow,
                Some(ElementKind::Sf) => &bond.effort,
                _ => return false,
            };
            matches!(delivered.0.as_deref(), Some([(true, _)]))
        })?;
        let is_se = |node: &Node| {
            node.element()
                .is_some_and(|one| one.kind == ElementKind::Se)
        };
        let bond = self.bonds[id.index()].as_mut()?;
        match is_se(&self.nodes[bond.from.index()]) {
            true => bond.flow = bond.flow.negated(),
            false => bond.effort = bond.effort.negated(),
        }
        std::mem::swap(&mut bond.from, &mut bond.to);
        self.reversed[id.index()] ^= true;
        Some(())
    }

    /// Replaces two bonds by one if power only passes a junction. Returns the nodes that have to be
    /// examined again.
    fn amalgamate(&mut self, at: NodeId, turns: bool) -> Option<Vec<NodeId>> {
        self.junction(at)?;
        let bonds = self.remaining_bonds(at);
        if bonds.is_empty() {
            self.removed[at.index()] = true;
            return None;
        }
        let [a, b] = bonds[..] else {
            return None;
        };
        if turns {
            self.turn_source(at, a, b);
        }
        let (from_a, to_a) = self.ends(a)?;
        let (into, out_of) = if to_a == at { (a, b) } else { (b, a) };
        let (source, through) = self.ends(into)?;
        let (again, target) = self.ends(out_of)?;
        if through != at || again != at || source == target || from_a == to_a {
            return None;
        }
        // The variables of an element are preferred as effort and flow.
        let is_element = |node: NodeId| self.nodes[node.index()].element().is_some();
        let keep = match (is_element(source), is_element(target)) {
            (true, false) => into,
            (_, true) => out_of,
            _ => into.min(out_of),
        };
        let dropped = if keep == into { out_of } else { into };
        let in_bundle = [into, out_of].iter().any(|id| {
            let bond = self.bonds[id.index()].as_ref();
            bond.is_some_and(|bond| bond.in_bundle)
        });
        let bond = self.bonds[keep.index()].as_mut()?;
        (bond.from, bond.to, bond.in_bundle) = (source, target, in_bundle);
        self.bonds[dropped.index()] = None;
        self.removed[at.index()] = true;
        self.of[at.index()].clear();
        // Only bonds are marked as removed here. The lists are cleaned when they are read, because
        // a node may have thousands of bonds.
        for far in [source, target] {
            self.of[far.index()].push(keep);
        }
        // The order of an element's ports has to stay.
        for far in [source, target] {
            if let NodeKind::Element(element) = &mut self.nodes[far.index()].kind {
                for port in &mut element.ports {
                    if *port == dropped {
                        *port = keep;
                    }
                }
            }
        }
        match self.merge(keep) {
            Some(root) => {
                self.clean(root);
                Some(vec![root])
            }
            None => Some(Vec::new()),
        }
    }
}

/// Whether a name is better: given by the user, nearer to the top, earlier in the alphabet.
fn is_better_name(a: &Node, b: &Node) -> bool {
    let depth = |node: &Node| node.name.matches('.').count();
    (b.named.cmp(&a.named))
        .then_with(|| depth(a).cmp(&depth(b)))
        .then_with(|| natural(&a.name, &b.name))
        .is_lt()
}
