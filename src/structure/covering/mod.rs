//! Matchings in general graphs in which some vertices have to be covered, kept while the graph is narrowed.
//!
//! A vertex *must* be covered or may stay exposed. Once every vertex that must is covered, it stays so: whatever is
//! asked for after that either is done and the matching changed along alternating paths, or is refused and nothing is
//! changed. Edges are known by number, so that parallel ones are told apart; no edge joins a vertex to itself.
//!
//! A set of vertices that can be covered can still be covered when a path is flipped to cover one more (the matching
//! matroid of Edmonds and Fulkerson 1965), so each question is one search, or two where an edge has two ends. Searches
//! are in `search.rs`. Narrowing takes edges out of the lists for good: searches do not meet them again, and what
//! follows because a vertex has one edge left ([`Covering::settle`]) costs no search at all.

mod search;
mod twofold;

use super::NONE;
use crate::base::cancel::glance;
use search::Search;

#[derive(Clone, Debug)]
pub struct Covering {
    /// The two vertices of each edge.
    edges: Vec<[u32; 2]>,
    must: Vec<bool>,
    /// The edges at a vertex: `degree` of them from `start` on; behind those the ones taken out.
    list: Vec<u32>,
    start: Vec<u32>,
    degree: Vec<u32>,
    /// Where an edge stands in the lists of its two vertices.
    place: Vec<[u32; 2]>,
    /// The edge that covers a vertex, or `NONE`.
    mate: Vec<u32>,
    /// Each vertex changed since the present question was asked, and what covered it when it was.
    changes: Vec<(u32, u32)>,
    /// The question in which a vertex was last changed.
    changed_in: Vec<u32>,
    question: u32,
    /// Vertices that lost edges since the last `settle`.
    narrowed: Vec<u32>,
    search: Search,
}

impl Covering {
    /// No vertex is covered yet.
    pub fn new(must: Vec<bool>, edges: Vec<[u32; 2]>) -> Self {
        let mut degree = vec![0; must.len()];
        for &vertex in edges.iter().flatten() {
            degree[vertex as usize] += 1;
        }
        let mut start = Vec::with_capacity(must.len());
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
            mate: vec![NONE; must.len()],
            narrowed: (0..must.len() as u32).rev().collect(),
            search: Search::new(must.len()),
            changes: Vec::new(),
            changed_in: vec![0; must.len()],
            question: 0,
            edges,
            must,
            list,
            start,
            degree,
            place,
        }
    }

    pub fn must(&self, vertex: u32) -> bool {
        self.must[vertex as usize]
    }

    pub fn ends(&self, edge: u32) -> [u32; 2] {
        self.edges[edge as usize]
    }

    pub fn is_covered(&self, vertex: u32) -> bool {
        self.mate[vertex as usize] != NONE
    }

    /// Whether an edge is in the matching.
    pub fn has(&self, edge: u32) -> bool {
        self.mate[self.edges[edge as usize][0] as usize] == edge
    }

    /// Whether an edge has been taken out.
    pub fn is_out(&self, edge: u32) -> bool {
        let vertex = self.edges[edge as usize][0] as usize;
        self.place[edge as usize][0] >= self.start[vertex] + self.degree[vertex]
    }

    /// Whether narrowing has decided about an edge: it is out, or all that a vertex has left.
    pub fn is_settled(&self, edge: u32) -> bool {
        let last = |v: u32| self.must[v as usize] && self.degree[v as usize] == 1;
        self.is_out(edge) || self.edges[edge as usize].into_iter().any(last)
    }

    /// Covers every vertex that must be, or says which cannot.
    pub fn cover_all(&mut self) -> Result<(), u32> {
        self.ask();
        let failed = (0..self.must.len() as u32).find(|&vertex| !self.cover(vertex));
        failed.map_or(Ok(()), Err)
    }

    /// Covers a vertex if it must be, and leaves covered all others that must be. If it cannot be done nothing is
    /// changed, and [`Covering::is_reached`] and [`Covering::is_outer`] tell where the search came.
    fn cover(&mut self, vertex: u32) -> bool {
        !self.must(vertex) || self.is_covered(vertex) || self.search_from(vertex)
    }

    /// From now on the vertex must be covered.
    pub fn require(&mut self, vertex: u32) -> bool {
        self.ask();
        let before = std::mem::replace(&mut self.must[vertex as usize], true);
        let done = self.cover(vertex);
        self.must[vertex as usize] = before || done;
        done
    }

    /// From now on the edge is not in the matching: it is taken out.
    pub fn bar(&mut self, edge: u32) -> bool {
        if !self.leave_out(edge) {
            return false;
        }
        self.take_out(edge);
        true
    }

    /// Brings the edge into the matching if it is not in it, or out of it if it is; nothing is narrowed.
    pub fn flip(&mut self, edge: u32) -> bool {
        if self.has(edge) {
            self.leave_out(edge)
        } else {
            !self.is_out(edge) && self.bring_in(edge)
        }
    }

    /// The edges whose place in the matching the last question changed, some of them twice.
    pub fn changed(&self) -> impl Iterator<Item = u32> + '_ {
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

    fn bring_in(&mut self, edge: u32) -> bool {
        self.ask();
        if self.has(edge) {
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
        // Two parallel edges: what the ends have left is each other.
        let done = (left.into_iter()).all(|vertex| vertex == NONE || self.cover(vertex));
        self.search.avoided = [NONE; 2];
        self.keep_changes_if(done)
    }

    fn leave_out(&mut self, edge: u32) -> bool {
        self.ask();
        if !self.has(edge) {
            return true;
        }
        let ends = self.ends(edge);
        for vertex in ends {
            self.set_mate(vertex, NONE);
        }
        self.search.without = edge;
        let done = ends.into_iter().all(|vertex| self.cover(vertex));
        self.search.without = NONE;
        self.keep_changes_if(done)
    }

    /// Takes out all that an edge excludes. The matching is taken to agree, or not to be there yet.
    pub fn keep(&mut self, edge: u32) {
        for vertex in self.ends(edge) {
            self.must[vertex as usize] = true;
            self.keep_only(vertex, edge);
            self.narrowed.push(vertex);
        }
    }

    fn keep_only(&mut self, vertex: u32, edge: u32) {
        let start = self.start[vertex as usize];
        for at in (start..start + self.degree[vertex as usize]).rev() {
            let other = self.list[at as usize];
            if other != edge {
                self.take_out(other);
            }
        }
    }

    /// Takes out an edge. The matching is taken not to hold it.
    pub fn take_out(&mut self, edge: u32) {
        if self.is_out(edge) {
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
            self.narrowed.push(vertex as u32);
        }
    }

    /// Takes out what cannot be in any matching because a vertex that must be covered has only one edge left. False
    /// if one has none left, which does not happen once all are covered.
    pub fn settle(&mut self) -> bool {
        while let Some(vertex) = self.narrowed.pop() {
            glance();
            if !self.must(vertex) {
                continue;
            }
            match self.degree[vertex as usize] {
                0 => return false,
                1 => {
                    let edge = self.list[self.start[vertex as usize] as usize];
                    let other = self.across(edge, vertex);
                    self.must[other as usize] = true;
                    self.keep_only(other, edge);
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

    fn ask(&mut self) {
        self.changes.clear();
        self.question += 1;
    }

    fn set_mate(&mut self, vertex: u32, edge: u32) {
        let at = vertex as usize;
        let before = std::mem::replace(&mut self.mate[at], edge);
        if std::mem::replace(&mut self.changed_in[at], self.question) != self.question {
            self.changes.push((vertex, before));
        }
    }

    fn keep_changes_if(&mut self, done: bool) -> bool {
        if !done {
            while let Some((vertex, before)) = self.changes.pop() {
                self.mate[vertex as usize] = before;
            }
        }
        done
    }
}
