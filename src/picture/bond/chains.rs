//! Chooses straight chains, and the heights of all cells.
//!
//! Before: an ordered layered graph. After [`choose`]: straight links, at most one at each side of
//! a cell, which do not cross each other. The cells that they connect are a chain and have the same
//! height. After [`heights`]: the height of each cell's axis; the blocks of a layer are one below
//! another.
//!
//! Brandes and Koepf ("Fast and simple horizontal coordinate assignment", 2002) call chains blocks.
//! Here there is one alignment instead of four, because an average must not bend a chain.

use super::block::{Block, Lanes};
use super::layers::LayeredGraph;
use std::collections::BTreeMap;

const ROUNDS: usize = 24;
const SETTLING: usize = 12;
/// The largest number of chains that are moved with others, for each chain.
const MAX_MOVES: usize = 300;
/// The distances between blocks, and between bonds that pass a layer.
const GAP: f64 = 22.0;
const PASSING: f64 = 0.0;

#[derive(Clone, Debug)]
pub struct Chains {
    /// For each link whether it is straight.
    pub straight: Vec<bool>,
    /// For each cell its chain.
    pub chain: Vec<usize>,
    pub count: usize,
}

/// Returns how far from the middle of a list something is, in halves.
fn off(list: &[usize], link: usize) -> usize {
    let at = list.iter().position(|l| *l == link).unwrap_or(0);
    (2 * at).abs_diff(list.len() - 1)
}

pub fn choose(layered: &LayeredGraph) -> Chains {
    let mut place = vec![0; layered.cells.len()];
    for layer in &layered.layers {
        for (at, cell) in layer.iter().enumerate() {
            place[*cell] = at;
        }
    }
    // The length of the longest path from each cell to the right: the link to the cell with the
    // longest path is the main one.
    let mut ahead = vec![0_usize; layered.cells.len()];
    for cell in layered.layers.iter().rev().flatten() {
        let next = layered.cells[*cell].rights.iter();
        let next = next.map(|link| ahead[layered.links[*link].right] + 1);
        ahead[*cell] = next.max().unwrap_or(0);
    }
    let mut straight = vec![false; layered.links.len()];
    for layer in &layered.layers {
        let mut links: Vec<usize> = layer
            .iter()
            .flat_map(|cell| layered.cells[*cell].rights.iter().copied())
            .collect();
        links.sort_by_cached_key(|at| {
            let link = layered.links[*at];
            let (left, right) = (&layered.cells[link.left], &layered.cells[link.right]);
            let rank = match (left.node.is_some(), right.node.is_some()) {
                (false, false) => 0,
                (true, true) => 1,
                _ => 2,
            };
            let aside = off(&left.rights, *at) + off(&right.lefts, *at);
            (rank, usize::MAX - ahead[link.right], aside, *at)
        });
        // Straight links: the place of the left cell, with the place of the right one.
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for at in links {
            let link = layered.links[at];
            let (left, right) = (place[link.left], place[link.right]);
            let above = taken.range(..=left).next_back();
            let below = taken.range(left..).next();
            if above.is_none_or(|(l, r)| *l < left && *r < right)
                && below.is_none_or(|(l, r)| *l > left && *r > right)
            {
                taken.insert(left, right);
                straight[at] = true;
            }
        }
    }
    let mut chain = vec![usize::MAX; layered.cells.len()];
    let mut count = 0;
    for cell in layered.layers.iter().flatten() {
        let before = layered.cells[*cell]
            .lefts
            .iter()
            .find(|link| straight[**link]);
        chain[*cell] = match before {
            Some(link) => chain[layered.links[*link].left],
            None => {
                count += 1;
                count - 1
            }
        };
    }
    Chains {
        straight,
        chain,
        count,
    }
}

/// The least distances of chains that are one above another.
struct Order {
    above: Vec<Vec<(usize, f64)>>,
    below: Vec<Vec<(usize, f64)>>,
    /// The chains from top to bottom.
    sorted: Vec<usize>,
}

fn separate(layered: &LayeredGraph, chains: &Chains, blocks: &[Block]) -> Order {
    let mut above = vec![Vec::new(); chains.count];
    let mut below = vec![Vec::new(); chains.count];
    for layer in &layered.layers {
        for pair in layer.windows(2) {
            let (one, two) = (pair[0], pair[1]);
            let through = layered.cells[one].node.is_none() && layered.cells[two].node.is_none();
            let gap = if through { PASSING } else { GAP };
            let least = blocks[one].bottom + blocks[two].top + gap;
            below[chains.chain[one]].push((chains.chain[two], least));
            above[chains.chain[two]].push((chains.chain[one], least));
        }
    }
    // Chains do not cross, so this order has no cycles.
    let mut waiting: Vec<usize> = above.iter().map(Vec::len).collect();
    let mut sorted: Vec<usize> = (0..chains.count).filter(|r| waiting[*r] == 0).collect();
    let mut at = 0;
    while at < sorted.len() {
        for (next, _) in &below[sorted[at]] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                sorted.push(*next);
            }
        }
        at += 1;
    }
    Order {
        above,
        below,
        sorted,
    }
}

pub fn heights(
    layered: &LayeredGraph,
    chains: &Chains,
    lanes: &Lanes,
    blocks: &[Block],
) -> Vec<f64> {
    let order = separate(layered, chains, blocks);
    // What would make other links straight: the other chain, and by how much this one would have to
    // be lower.
    let mut pulls: Vec<Vec<(usize, f64)>> = vec![Vec::new(); chains.count];
    for (at, link) in layered.links.iter().enumerate() {
        let (left, right) = (chains.chain[link.left], chains.chain[link.right]);
        if left != right {
            let lower = lanes.left[at] - lanes.right[at];
            pulls[right].push((left, lower));
            pulls[left].push((right, -lower));
        }
    }
    let mut y = order.packed(&vec![0.0; chains.count]);
    for _ in 0..ROUNDS {
        let wished: Vec<f64> = (0..chains.count)
            .map(|chain| {
                let pulls = &pulls[chain];
                let sum: f64 = pulls.iter().map(|(other, by)| y[*other] + by).sum();
                if pulls.is_empty() {
                    y[chain]
                } else {
                    sum / pulls.len() as f64
                }
            })
            .collect();
        y = order.packed(&wished);
    }
    let branches = Branches::new(layered, chains);
    for round in 0..SETTLING {
        order.settle(&mut y, &pulls, round % 2 == 0);
        if round % 2 == 1 {
            branches.gather(&order, &mut y, &pulls);
        }
    }
    // Heights are rounded to whole numbers, so that equal heights are exactly equal and each bend
    // is large enough to be seen.
    let chain = chains.chain.iter();
    chain.map(|chain| y[*chain].round()).collect()
}

/// Chains as a forest: the parent of a chain is the chain to which its first cell is linked.
struct Branches {
    below: Vec<Vec<usize>>,
}

impl Branches {
    fn new(layered: &LayeredGraph, chains: &Chains) -> Branches {
        let mut below = vec![Vec::new(); chains.count];
        let mut seen = vec![false; chains.count];
        for cell in layered.layers.iter().flatten() {
            let chain = chains.chain[*cell];
            if seen[chain] {
                continue;
            }
            seen[chain] = true;
            let lefts = &layered.cells[*cell].lefts;
            if let Some(link) = lefts.get(lefts.len() / 2) {
                below[chains.chain[layered.links[*link].left]].push(chain);
            }
        }
        Branches { below }
    }

    /// Moves each branch as a whole as near to its parent as possible. A single chain of it would
    /// be held back by the others.
    fn gather(&self, order: &Order, y: &mut [f64], pulls: &[Vec<(usize, f64)>]) {
        let mut of = vec![usize::MAX; y.len()];
        let mut work = MAX_MOVES * y.len();
        // Chains are numbered from left to right, so children come after their parents.
        for chain in (0..y.len()).rev() {
            let mut members = vec![chain];
            let mut at = 0;
            while at < members.len() {
                of[members[at]] = chain;
                members.extend(&self.below[members[at]]);
                at += 1;
            }
            if work < members.len() {
                return;
            }
            work -= members.len();
            let mut wishes = Vec::new();
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
            for member in &members {
                let outside = |other: &usize| of[*other] != chain;
                let here = y[*member];
                let pulls = pulls[*member].iter().filter(|(o, _)| outside(o));
                wishes.extend(pulls.map(|(o, by)| y[*o] + by - here));
                for (o, d) in order.above[*member].iter().filter(|(o, _)| outside(o)) {
                    least = least.max(y[*o] + d - here);
                }
                for (o, d) in order.below[*member].iter().filter(|(o, _)| outside(o)) {
                    most = most.min(y[*o] - d - here);
                }
            }
            if wishes.is_empty() || least > most {
                continue;
            }
            wishes.sort_by(f64::total_cmp);
            let (low, high) = (wishes[(wishes.len() - 1) / 2], wishes[wishes.len() / 2]);
            let by = 0.0_f64.clamp(low, high).clamp(least, most);
            for member in members {
                y[member] += by;
            }
        }
    }
}

impl Order {
    /// Returns heights near the desired ones: the mean of pushing everything down and of pushing
    /// everything up. Both keep the distances, and so does their mean. Chains that want the same
    /// place are centred there.
    fn packed(&self, wished: &[f64]) -> Vec<f64> {
        let (mut down, mut up) = (wished.to_vec(), wished.to_vec());
        for chain in &self.sorted {
            for (other, least) in &self.above[*chain] {
                down[*chain] = down[*chain].max(down[*other] + least);
            }
        }
        for chain in self.sorted.iter().rev() {
            for (other, least) in &self.below[*chain] {
                up[*chain] = up[*chain].min(up[*other] - least);
            }
        }
        down.iter().zip(&up).map(|(a, b)| (a + b) / 2.0).collect()
    }

    /// Moves each chain to the median of the heights that it should have, as far as its neighbours
    /// allow: exactly there a link is straight.
    fn settle(&self, y: &mut [f64], pulls: &[Vec<(usize, f64)>], downwards: bool) {
        let all = self.sorted.len();
        for step in 0..all {
            let chain = self.sorted[if downwards { step } else { all - 1 - step }];
            let mut wishes: Vec<f64> = pulls[chain].iter().map(|(o, by)| y[*o] + by).collect();
            if wishes.is_empty() {
                continue;
            }
            wishes.sort_by(f64::total_cmp);
            let (low, high) = (wishes[(wishes.len() - 1) / 2], wishes[wishes.len() / 2]);
            let wish = y[chain].clamp(low, high);
            let least = self.above[chain].iter().map(|(o, d)| y[*o] + d);
            let most = self.below[chain].iter().map(|(o, d)| y[*o] - d);
            let least = least.fold(f64::NEG_INFINITY, f64::max);
            let most = most.fold(f64::INFINITY, f64::min);
            if least <= most {
                y[chain] = wish.clamp(least, most);
            }
        }
    }
}
