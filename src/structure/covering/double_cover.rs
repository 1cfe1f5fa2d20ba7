//! Finds edges that no alternating path can bring into the matching, for all edges at once.
//!
//! The double cover is a bipartite graph. It has each vertex twice, as a row and as a column, and
//! each edge twice, from either row to the other's column. A vertex that may stay exposed has an
//! edge to itself, which is in the matching while the vertex is exposed. So a matching of the graph
//! becomes a perfect matching of the double cover, and each change of the matching becomes a cycle.
//! An edge that lies in no block (strongly connected component) of the double cover (Dulmage and
//! Mendelsohn 1963) can never enter the matching. The converse holds only for bipartite graphs: in
//! other graphs a cycle of the double cover may use the same edge in both directions.

use super::super::{Incidence, Matching, NONE, blocks};
use super::Covering;

impl Covering {
    /// Deletes the edges that are not in the matching and cannot enter it. All required vertices
    /// must be covered.
    pub fn prune(&mut self) {
        let vertices = self.required.len();
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
            let itself = (!self.is_required(vertex)).then_some((vertex, 0));
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
            if !self.contains(edge) && block_of[a] != block_of[partner[b] as usize] {
                self.delete(edge);
            }
        }
    }
}
