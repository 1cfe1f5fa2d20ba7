//! Matchings in general graphs in which some vertices have to be covered. The matching is kept up
//! to date while edges are forced or deleted.
//!
//! A vertex is *required* to be covered, or it may stay exposed. Once every required vertex is
//! covered, this stays so: each further request either changes the matching along alternating
//! paths, or is refused and changes nothing. Edges are identified by numbers, so parallel edges are
//! distinct. No edge joins a vertex to itself.
//!
//! A set of covered vertices stays covered when an alternating path is flipped to cover one more
//! (the matching matroid of Edmonds and Fulkerson 1965). So each request takes one search, or two
//! if both ends of an edge lose their partner. Searches are in `search.rs`. Deleted edges leave the
//! lists for good, so later searches do not meet them. What follows because a vertex has only one
//! edge left ([`Covering::propagate`]) needs no search.

mod double_cover;
mod search;

use super::NONE;
use crate::base::cancel::glance;
use search::Search;

#[derive(Clone, Debug)]
pub struct Covering {
    /// The two vertices of each edge.
    edges: Vec<[u32; 2]>,
    required: Vec<bool>,
    /// The edges of a vertex: `degree` of them from `start` on; after these, its deleted edges.
    list: Vec<u32>,
    start: Vec<u32>,
    degree: Vec<u32>,
    /// The index of each edge in the lists of its two vertices.
    place: Vec<[u32; 2]>,
    /// The edge that covers a vertex, or `NONE`.
    mate: Vec<u32>,
    /// Each vertex whose mate changed since the present request began, with its former mate.
    changes: Vec<(u32, u32)>,
    /// The request in which the mate of each vertex last changed.
    changed_in: Vec<u32>,
    request: u32,
    /// Vertices that lost edges since the last `propagate`.
    shortened: Vec<u32>,
    search: Search,
}

impl Covering {
    /// Makes a graph with an empty matching. `required` says which vertices have to be covered.
    pub fn new(required: Vec<bool>, edges: Vec<[u32; 2]>) -> Self {
        let mut degree = vec![0; required.len()];
        for &vertex in edges.iter().flatten() {
            degree[vertex as usize] += 1;
        }
        let mut start = Vec::with_capacity(required.len());
        let mut total = 0;
        for &d in &degree {
            start.push(total);
            total += d;
        }
        let mut next = start.clone();
        let mut list = vec![NONE; total as usize];
        let mut place = Vec::with_capacity(edges.len());
        for (edge, ends) in edges.iter().enumerate() {
            place.push(ends.map(|vertex| {
                let at = next[vertex as usize];
                next[vertex as usize] += 1;
                list[at as usize] = edge as u32;
                at
            }));
        }
        Covering {
            mate: vec![NONE; required.len()],
            shortened: (0..required.len() as u32).rev().collect(),
            search: Search::new(required.len()),
            changes: Vec::new(),
            changed_in: vec![0; required.len()],
            request: 0,
            edges,
            required,
            list,
            start,
            degree,
            place,
        }
    }

    pub fn is_required(&self, vertex: u32) -> bool {
        self.required[vertex as usize]
    }

    pub fn ends(&self, edge: u32) -> [u32; 2] {
        self.edges[edge as usize]
    }

    pub fn is_covered(&self, vertex: u32) -> bool {
        self.mate[vertex as usize] != NONE
    }

    /// Whether an edge is in the matching.
    pub fn contains(&self, edge: u32) -> bool {
        self.mate[self.edges[edge as usize][0] as usize] == edge
    }

    /// Whether an edge has been deleted.
    pub fn is_deleted(&self, edge: u32) -> bool {
        let vertex = self.edges[edge as usize][0] as usize;
        self.place[edge as usize][0] >= self.start[vertex] + self.degree[vertex]
    }

    /// Whether it is decided if the edge is in the matching: it is deleted, or it is the only edge
    /// of a required vertex.
    pub fn is_decided(&self, edge: u32) -> bool {
        let last = |v: u32| self.required[v as usize] && self.degree[v as usize] == 1;
        self.is_deleted(edge) || self.edges[edge as usize].into_iter().any(last)
    }

    /// Covers every required vertex, or returns one that cannot be covered.
    pub fn cover_all(&mut self) -> Result<(), u32> {
        self.begin_request();
        let failed = (0..self.required.len() as u32).find(|&vertex| !self.cover(vertex));
        failed.map_or(Ok(()), Err)
    }

    /// Covers a vertex if it is required, and keeps all other required vertices covered. If this is
    /// impossible nothing changes, and [`Covering::is_reached`] and [`Covering::is_outer`] tell
    /// which vertices the search reached.
    fn cover(&mut self, vertex: u32) -> bool {
        !self.is_required(vertex) || self.is_covered(vertex) || self.search_from(vertex)
    }

    /// Makes a vertex required from now on. Returns false and changes nothing if it cannot be
    /// covered.
    pub fn require(&mut self, vertex: u32) -> bool {
        self.begin_request();
        let before = std::mem::replace(&mut self.required[vertex as usize], true);
        let done = self.cover(vertex);
        self.required[vertex as usize] = before || done;
        done
    }

    /// Deletes an edge, after it has left the matching. Returns false and changes nothing if the
    /// edge cannot leave the matching.
    pub fn forbid(&mut self, edge: u32) -> bool {
        if !self.exclude(edge) {
            return false;
        }
        self.delete(edge);
        true
    }

    /// Moves the edge into the matching, or out of it if it is in it. No edge is deleted. Returns
    /// false and changes nothing if this is impossible.
    pub fn toggle(&mut self, edge: u32) -> bool {
        if self.contains(edge) {
            self.exclude(edge)
        } else {
            !self.is_deleted(edge) && self.include(edge)
        }
    }

    /// The edges that entered or left the matching in the last request, some of them twice.
    pub fn changed_edges(&self) -> impl Iterator<Item = u32> + '_ {
        let both = |&(vertex, before): &(u32, u32)| {
            let now = self.mate[vertex as usize];
            let edges = if now == before {
                [NONE; 2]
            } else {
                [now, before]
            };
            edges.into_iter().filter(|&edge| edge != NONE)
        };
        self.changes.iter().flat_map(both)
    }

    fn include(&mut self, edge: u32) -> bool {
        self.begin_request();
        if self.contains(edge) {
            return true;
        }
        let ends = self.ends(edge);
        let left = ends.map(|vertex| match self.mate[vertex as usize] {
            NONE => NONE,
            mate => self.across(mate, vertex),
        });
        for vertex in left {
            if vertex != NONE {
                self.set_mate(vertex, NONE);
            }
        }
        for vertex in ends {
            self.set_mate(vertex, edge);
        }
        self.search.avoided = ends;
        // With two parallel edges, the two vertices that lost their mate are each other's partner.
        let done = (left.into_iter()).all(|vertex| vertex == NONE || self.cover(vertex));
        self.search.avoided = [NONE; 2];
        self.commit_if(done)
    }

    fn exclude(&mut self, edge: u32) -> bool {
        self.begin_request();
        if !self.contains(edge) {
            return true;
        }
        let ends = self.ends(edge);
        for vertex in ends {
            self.set_mate(vertex, NONE);
        }
        self.search.without = edge;
        let done = ends.into_iter().all(|vertex| self.cover(vertex));
        self.search.without = NONE;
        self.commit_if(done)
    }

    /// Deletes all other edges at the two ends of an edge. The matching must contain the edge, or
    /// still be empty.
    pub fn force(&mut self, edge: u32) {
        for vertex in self.ends(edge) {
            self.required[vertex as usize] = true;
            self.delete_all_but(vertex, edge);
            self.shortened.push(vertex);
        }
    }

    fn delete_all_but(&mut self, vertex: u32, edge: u32) {
        let start = self.start[vertex as usize];
        for at in (start..start + self.degree[vertex as usize]).rev() {
            let other = self.list[at as usize];
            if other != edge {
                self.delete(other);
            }
        }
    }

    /// Deletes an edge, which must not be in the matching.
    pub fn delete(&mut self, edge: u32) {
        if self.is_deleted(edge) {
            return;
        }
        for side in 0..2 {
            let vertex = self.edges[edge as usize][side] as usize;
            self.degree[vertex] -= 1;
            let (at, last) = (
                self.place[edge as usize][side],
                self.start[vertex] + self.degree[vertex],
            );
            let moved = self.list[last as usize];
            self.list.swap(at as usize, last as usize);
            let its = usize::from(self.edges[moved as usize][0] as usize != vertex);
            self.place[moved as usize][its] = at;
            self.place[edge as usize][side] = last;
            self.shortened.push(vertex as u32);
        }
    }

    /// Deletes the edges that cannot be in any matching because a required vertex has only one edge
    /// left. Returns false if a required vertex has no edge left, which does not happen once all
    /// are covered.
    pub fn propagate(&mut self) -> bool {
        while let Some(vertex) = self.shortened.pop() {
            glance();
            if !self.is_required(vertex) {
                continue;
            }
            match self.degree[vertex as usize] {
                0 => return false,
                1 => {
                    let edge = self.list[self.start[vertex as usize] as usize];
                    let other = self.across(edge, vertex);
                    self.required[other as usize] = true;
                    self.delete_all_but(other, edge);
                }
                _ => {}
            }
        }
        true
    }

    fn across(&self, edge: u32, vertex: u32) -> u32 {
        let [a, b] = self.edges[edge as usize];
        if a == vertex { b } else { a }
    }

    fn partner(&self, vertex: u32) -> u32 {
        self.across(self.mate[vertex as usize], vertex)
    }

    fn begin_request(&mut self) {
        self.changes.clear();
        self.request += 1;
    }

    fn set_mate(&mut self, vertex: u32, edge: u32) {
        let at = vertex as usize;
        let before = std::mem::replace(&mut self.mate[at], edge);
        if std::mem::replace(&mut self.changed_in[at], self.request) != self.request {
            self.changes.push((vertex, before));
        }
    }

    fn commit_if(&mut self, done: bool) -> bool {
        if !done {
            while let Some((vertex, before)) = self.changes.pop() {
                self.mate[vertex as usize] = before;
            }
        }
        done
    }
}
