//! Alternating paths in general graphs: blossoms (Edmonds 1965), bases by union-find (Gabow 1976).
//!
//! The search grows a tree of alternating paths, breadth first, from an exposed vertex that is
//! required to be covered. *Outer* vertices are reached by paths of even length, the others are
//! *inner*. Where an edge joins two outer vertices it closes a cycle of odd length, a blossom,
//! whose inner vertices become outer as well. The search succeeds in an exposed vertex, or in an
//! outer vertex that is not required. Otherwise each inner vertex has its mate in the tree and one
//! outer vertex or blossom is left over: then the vertices reached prove that the root cannot be
//! covered.
//!
//! The record of a vertex is valid only if the present search wrote it. So nothing is reset between
//! searches, and each search costs only what it visits.

use super::super::NONE;
use super::Covering;
use crate::base::cancel::glance;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Outer,
    Inner,
    /// First inner, then outer because it became part of a blossom.
    Shrunk,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The search that wrote this record.
    search: u32,
    /// The last walk to the root that passed this vertex.
    walk: u32,
    label: Label,
    /// For an inner or shrunk vertex: the tree edge that leads to it.
    via: u32,
    /// For a shrunk vertex: the edge that closed the blossom, and the end of this edge on the same
    /// side of the blossom.
    bridge: u32,
    near: u32,
    /// A vertex nearer to the base of the blossom that contains this vertex; the vertex itself if
    /// it is a base (union-find).
    base: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Search {
    visits: Vec<Visit>,
    number: u32,
    walks: u32,
    /// Outer vertices in the order in which they were found.
    queue: Vec<u32>,
    /// Vertices that this search must not touch, and an edge that it must not use.
    pub(super) avoided: [u32; 2],
    pub(super) without: u32,
}

impl Search {
    pub(super) fn new(vertices: usize) -> Self {
        let never = Visit {
            search: 0,
            walk: 0,
            label: Label::Outer,
            via: NONE,
            bridge: NONE,
            near: NONE,
            base: NONE,
        };
        Search {
            visits: vec![never; vertices],
            number: 0,
            walks: 0,
            queue: Vec::new(),
            avoided: [NONE; 2],
            without: NONE,
        }
    }

    fn begin(&mut self, root: u32) {
        self.number += 1;
        self.queue.clear();
        self.visit(root, Label::Outer, NONE);
        self.queue.push(root);
    }

    fn visit(&mut self, vertex: u32, label: Label, via: u32) {
        self.visits[vertex as usize] = Visit {
            search: self.number,
            walk: 0,
            label,
            via,
            bridge: NONE,
            near: NONE,
            base: vertex,
        };
    }

    fn is_visited(&self, vertex: u32) -> bool {
        self.number > 0 && self.visits[vertex as usize].search == self.number
    }

    fn is_outer(&self, vertex: u32) -> bool {
        self.is_visited(vertex) && self.visits[vertex as usize].label != Label::Inner
    }

    /// Finds the base of the blossom that contains a vertex, and halves the path to it.
    fn base(&mut self, mut vertex: u32) -> u32 {
        loop {
            glance();
            let next = self.visits[vertex as usize].base;
            if next == vertex {
                return vertex;
            }
            let after = self.visits[next as usize].base;
            self.visits[vertex as usize].base = after;
            vertex = after;
        }
    }
}

/// Where an augmenting path from the root ends.
#[derive(Clone, Copy)]
enum PathEnd {
    /// In an exposed vertex, reached from an outer vertex by this edge.
    Exposed { outer: u32, edge: u32 },
    /// In an outer vertex that is not required; it becomes exposed.
    Spare(u32),
}

impl Covering {
    /// Whether the last search reached a vertex.
    pub fn is_reached(&self, vertex: u32) -> bool {
        self.search.is_visited(vertex)
    }

    /// Whether the last search reached a vertex by a path of even length. If the search failed,
    /// each outer vertex could be exposed in place of the root. So it would suffice to leave one of
    /// them exposed, or to give one of them a further edge.
    pub fn is_outer(&self, vertex: u32) -> bool {
        self.search.is_outer(vertex)
    }

    /// Covers an exposed vertex. If this is impossible, returns false and changes nothing.
    pub(super) fn search_from(&mut self, root: u32) -> bool {
        let Some(last) = self.find_path(root) else {
            return false;
        };
        let mut path = Vec::new();
        let outer = match last {
            PathEnd::Exposed { outer, edge } => {
                path.push(edge);
                outer
            }
            PathEnd::Spare(vertex) => vertex,
        };
        self.trace(outer, root, &mut path);
        for edge in path {
            for vertex in self.ends(edge) {
                self.set_mate(vertex, edge);
            }
        }
        if let PathEnd::Spare(vertex) = last {
            self.set_mate(vertex, NONE);
        }
        true
    }

    fn find_path(&mut self, root: u32) -> Option<PathEnd> {
        self.search.begin(root);
        let mut head = 0;
        while let Some(&outer) = self.search.queue.get(head) {
            glance();
            head += 1;
            let start = self.start[outer as usize];
            for at in start..start + self.degree[outer as usize] {
                let edge = self.list[at as usize];
                let vertex = self.across(edge, outer);
                if edge == self.search.without || self.search.avoided.contains(&vertex) {
                    continue;
                }
                if self.search.is_outer(vertex) {
                    if let Some(spare) = self.shrink_blossom(edge) {
                        return Some(PathEnd::Spare(spare));
                    }
                } else if !self.search.is_visited(vertex) {
                    if !self.is_covered(vertex) {
                        return Some(PathEnd::Exposed { outer, edge });
                    }
                    let next = self.partner(vertex);
                    self.search.visit(vertex, Label::Inner, edge);
                    self.search.visit(next, Label::Outer, NONE);
                    if !self.is_required(next) {
                        return Some(PathEnd::Spare(next));
                    }
                    self.search.queue.push(next);
                }
            }
        }
        None
    }

    /// Shrinks the blossom that an edge between two outer vertices closes. Returns a vertex of it
    /// that has become outer and is not required, if there is one.
    fn shrink_blossom(&mut self, bridge: u32) -> Option<u32> {
        let ends = self.ends(bridge);
        let bases = ends.map(|vertex| self.search.base(vertex));
        if bases[0] == bases[1] {
            return None;
        }
        let top = self.common_base(bases);
        for (near, mut base) in ends.into_iter().zip(bases) {
            while base != top {
                let inner = self.partner(base);
                let visits = &mut self.search.visits;
                visits[base as usize].base = top;
                let shrunk = &mut visits[inner as usize];
                shrunk.base = top;
                shrunk.label = Label::Shrunk;
                shrunk.bridge = bridge;
                shrunk.near = near;
                let via = shrunk.via;
                if !self.is_required(inner) {
                    return Some(inner);
                }
                self.search.queue.push(inner);
                base = self.search.base(self.across(via, inner));
            }
        }
        None
    }

    /// Finds the first common base on the paths of two bases to the root. The two paths are walked
    /// in alternation, so the cost is proportional to the blossom and not to the distance to the
    /// root.
    fn common_base(&mut self, mut bases: [u32; 2]) -> u32 {
        self.search.walks += 1;
        let walk = self.search.walks;
        let mut turn = 0;
        loop {
            let base = bases[turn];
            if base != NONE {
                let before = std::mem::replace(&mut self.search.visits[base as usize].walk, walk);
                if before == walk {
                    return base;
                }
                bases[turn] = if self.is_covered(base) {
                    let inner = self.partner(base);
                    let via = self.search.visits[inner as usize].via;
                    self.search.base(self.across(via, inner))
                } else {
                    NONE
                };
            }
            turn = 1 - turn;
        }
    }

    /// Appends, in any order, the edges that have to enter the matching on the even path from an
    /// outer vertex to the root. From a shrunk vertex the path goes the other way round its
    /// blossom: down to the bridge, and up on the other side.
    fn trace(&self, outer: u32, root: u32, path: &mut Vec<u32>) {
        let mut parts = vec![(outer, root)];
        while let Some((mut at, end)) = parts.pop() {
            while at != end {
                let visit = &self.search.visits[at as usize];
                if visit.label == Label::Shrunk {
                    parts.push((visit.near, self.partner(at)));
                    path.push(visit.bridge);
                    at = self.across(visit.bridge, visit.near);
                } else {
                    let inner = self.partner(at);
                    let via = self.search.visits[inner as usize].via;
                    path.push(via);
                    at = self.across(via, inner);
                }
            }
        }
    }
}
