//! Orders the cells within layers so that few links cross.
//!
//! Before: a layered graph in any order. After: its layers, and the links at each cell, are in
//! order from top to bottom. The method is means of the neighbours (Sugiyama, Tagawa and Toda,
//! 1981) in a bounded number of sweeps, then swaps of neighbouring cells while they help. The best
//! order found is kept.

use super::layers::LayeredGraph;

const SWEEPS: usize = 16;
const PASSES: usize = 6;

pub fn order(layered: &mut LayeredGraph) {
    let mut place = places(layered);
    let mut best = (crossings(layered, &place), layered.layers.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let count = layered.layers.len();
        for step in 1..count {
            let layer = if sweep % 2 == 0 {
                step
            } else {
                count - 1 - step
            };
            means(layered, &mut place, layer, sweep % 2 == 0);
        }
        swaps(layered, &mut place);
        let now = crossings(layered, &place);
        if now < best.0 {
            best = (now, layered.layers.clone());
        }
    }
    layered.layers = best.1;
    let place = places(layered);
    ports(layered, &place);
}

fn places(layered: &LayeredGraph) -> Vec<usize> {
    let mut place = vec![0; layered.cells.len()];
    for layer in &layered.layers {
        for (at, cell) in layer.iter().enumerate() {
            place[*cell] = at;
        }
    }
    place
}

/// Returns the places of the neighbours of a cell on one side.
fn beside(layered: &LayeredGraph, place: &[usize], cell: usize, left: bool) -> Vec<usize> {
    let cell = &layered.cells[cell];
    let mut out: Vec<usize> = if left {
        cell.lefts
            .iter()
            .map(|l| place[layered.links[*l].left])
            .collect()
    } else {
        cell.rights
            .iter()
            .map(|l| place[layered.links[*l].right])
            .collect()
    };
    out.sort_unstable();
    out
}

fn means(layered: &mut LayeredGraph, place: &mut [usize], layer: usize, left: bool) {
    let mut keyed: Vec<(f64, usize)> = Vec::with_capacity(layered.layers[layer].len());
    // A cell without neighbours stays after the one before it.
    let mut last = -1.0;
    for cell in &layered.layers[layer] {
        let at = beside(layered, place, *cell, left);
        if !at.is_empty() {
            last = at.iter().sum::<usize>() as f64 / at.len() as f64;
        }
        keyed.push((last, *cell));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    layered.layers[layer] = keyed.into_iter().map(|(_, cell)| cell).collect();
    for (at, cell) in layered.layers[layer].iter().enumerate() {
        place[*cell] = at;
    }
}

/// Returns the number of crossings of the links of two cells, the first above the second.
fn pair(above: &[usize], below: &[usize]) -> usize {
    let mut count = 0;
    let mut at = 0;
    for place in above {
        while at < below.len() && below[at] < *place {
            at += 1;
        }
        count += at;
    }
    count
}

fn swaps(layered: &mut LayeredGraph, place: &mut [usize]) {
    for _ in 0..PASSES {
        let mut better = false;
        for layer in 0..layered.layers.len() {
            for at in 1..layered.layers[layer].len() {
                let (one, two) = (layered.layers[layer][at - 1], layered.layers[layer][at]);
                let (mut now, mut then) = (0, 0);
                for left in [true, false] {
                    let a = beside(layered, place, one, left);
                    let b = beside(layered, place, two, left);
                    now += pair(&a, &b);
                    then += pair(&b, &a);
                }
                if then < now {
                    better = true;
                    layered.layers[layer].swap(at - 1, at);
                    place[one] = at;
                    place[two] = at - 1;
                }
            }
        }
        if !better {
            break;
        }
    }
}

/// Returns the number of all crossings. It counts inversions in a tree of sums (Fenwick).
fn crossings(layered: &LayeredGraph, place: &[usize]) -> usize {
    let mut all = 0;
    for layer in &layered.layers {
        let ends: Vec<usize> = layer
            .iter()
            .flat_map(|cell| beside(layered, place, *cell, false))
            .collect();
        let size = ends.iter().max().map_or(0, |most| most + 1);
        let mut sums = vec![0; size + 1];
        for (seen, end) in ends.iter().enumerate() {
            let mut at = end + 1;
            let mut upto = 0;
            while at > 0 {
                upto += sums[at];
                at &= at - 1;
            }
            all += seen - upto;
            let mut at = end + 1;
            while at <= size {
                sums[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
    }
    all
}

fn ports(layered: &mut LayeredGraph, place: &[usize]) {
    let links = &layered.links;
    for cell in &mut layered.cells {
        cell.lefts
            .sort_by_key(|l| (place[links[*l].left], links[*l].bond, *l));
        cell.rights
            .sort_by_key(|l| (place[links[*l].right], links[*l].bond, *l));
    }
}
