//! Which edges no change of the matching can bring in, for all edges at once.
//!
//! Take each vertex twice, as a row and as a column, and each edge twice, from either row to the other's column; a
//! vertex that may stay exposed has an edge to itself, chosen while it is. A matching of the graph is then a perfect
//! matching of a bipartite graph, and what changes it is a circle there. An edge that lies in no block of that graph
//! (Dulmage and Mendelsohn 1963) can never come in. The converse holds only if the graph was bipartite from the start:
//! otherwise a circle of the twofold graph may use an edge in one direction and then in the other.

use super::super::{Incidence, Matching, NONE, blocks};
use super::Covering;

impl Covering {
    /// Takes out edges that are not in the matching and cannot come in. All vertices that must be are covered.
    pub fn thin_out(&mut self) {
        let vertices = self.must.len();
        let partner: Vec<u32> = (0..vertices as u32)
            .map(|vertex| match self.mate[vertex as usize] {
                NONE => vertex,
                _ => self.partner(vertex),
            })
            .collect();
        let mut incidence = Incidence::new(vertices);
        for vertex in 0..vertices as u32 {
            let start = self.start[vertex as usize] as usize;
            let edges = &self.list[start..start + self.degree[vertex as usize] as usize];
            let others = edges.iter().map(|&edge| (self.across(edge, vertex), 0));
            let itself = (!self.must(vertex)).then_some((vertex, 0));
            incidence.push_row(others.chain(itself));
        }
        let matching = Matching {
            column_of: partner.clone(),
            row_of: partner.clone(),
        };
        let mut block_of = vec![NONE; vertices];
        for (block, rows) in blocks(&incidence, &matching).into_iter().enumerate() {
            for row in rows {
                block_of[row as usize] = block as u32;
            }
        }
        for edge in 0..self.edges.len() as u32 {
            let [a, b] = self.ends(edge).map(|vertex| vertex as usize);
            if !self.has(edge) && block_of[a] != block_of[partner[b] as usize] {
                self.take_out(edge);
            }
        }
    }
}
