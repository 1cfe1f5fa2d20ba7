//! Assigns nodes to columns (layers).
//!
//! Before: a sketch. After: for each connected part a [`LayeredGraph`]: cells in layers from left
//! to right, with links only between neighbouring layers. Longer bonds pass through cells of their
//! own. One-ports are not cells but are placed above or below their host, except at the ends of the
//! backbone.
//!
//! The backbone (all nodes that are not one-ports) begins at one of its ends, if possible one with
//! a source. The column of a node is the length of the longest path to it. So a chain is a line,
//! whatever the directions of its bonds are.

use crate::bond::sketch::{Bond, Shape, Sketch};

/// The number of sources that are tried as the beginning of a part.
const TRIED: usize = 16;

/// A one-port: its node and its bond.
pub type Port = (usize, usize);

#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// `None` for a cell that a bond passes.
    pub node: Option<usize>,
    pub layer: usize,
    /// The one-ports above and below.
    pub up: Vec<Port>,
    pub down: Vec<Port>,
    /// The links to the left and to the right, from top to bottom once cells are in order.
    pub lefts: Vec<usize>,
    pub rights: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub left: usize,
    pub right: usize,
    pub bond: usize,
}

/// A bond as a sequence of links, each with whether it is followed to the right.
#[derive(Clone, Debug)]
pub struct Route {
    pub bond: usize,
    pub links: Vec<(usize, bool)>,
}

#[derive(Clone, Debug, Default)]
pub struct LayeredGraph {
    pub cells: Vec<Cell>,
    pub links: Vec<Link>,
    /// The cells of each layer from top to bottom.
    pub layers: Vec<Vec<usize>>,
    pub routes: Vec<Route>,
}

/// The sketch as a graph: the bonds of each node, and the hosts of one-ports.
struct Graph<'a> {
    sketch: &'a Sketch,
    bonds: Vec<Vec<usize>>,
    leaves: Vec<Vec<Port>>,
    leaf: Vec<bool>,
}

pub fn layered_graphs(sketch: &Sketch) -> Vec<LayeredGraph> {
    let graph = graph(sketch);
    let mut seen = vec![false; sketch.nodes.len()];
    let mut out = Vec::new();
    for start in 0..sketch.nodes.len() {
        if seen[start] || graph.leaf[start] {
            continue;
        }
        let (order, _) = graph.breadth(start);
        for node in &order {
            seen[*node] = true;
        }
        out.push(layered_graph(&graph, order));
    }
    out
}

fn other(bond: &Bond, node: usize) -> usize {
    if bond.from == node {
        bond.to
    } else {
        bond.from
    }
}

fn graph(sketch: &Sketch) -> Graph<'_> {
    let count = sketch.nodes.len();
    let mut bonds = vec![Vec::new(); count];
    for (at, bond) in sketch.bonds.iter().enumerate() {
        if bond.from < count && bond.to < count {
            bonds[bond.from].push(at);
            bonds[bond.to].push(at);
        }
    }
    let single = |node: usize| sketch.nodes[node].shape == Shape::Element && bonds[node].len() == 1;
    let mut leaf = vec![false; count];
    let mut leaves = vec![Vec::new(); count];
    for node in (0..count).filter(|node| single(*node)) {
        let bond = bonds[node][0];
        let host = other(&sketch.bonds[bond], node);
        // If two one-ports are connected to each other, the first one is the host.
        if !single(host) || host < node {
            leaf[node] = true;
            leaves[host].push((node, bond));
        }
    }
    for list in &mut leaves {
        list.sort_by_key(|(node, _)| (manner(&sketch.nodes[*node].kind).0, *node));
    }
    Graph {
        sketch,
        bonds,
        leaves,
        leaf,
    }
}

/// Returns the rank of a kind among the one-ports of a node, and whether it is preferably above.
fn manner(kind: &str) -> (u8, bool) {
    let bare = kind.trim_start_matches(['m', 'M']);
    match bare {
        _ if source(kind) => (0, true),
        "I" | "L" => (1, true),
        "C" => (2, false),
        "Sw" | "D" => (3, true),
        "R" => (5, false),
        _ => (4, true),
    }
}

fn source(kind: &str) -> bool {
    let bare = kind.trim_start_matches(['m', 'M']);
    ["Se", "Sf", "SE", "SF"].contains(&bare)
}

impl Graph<'_> {
    /// Returns the neighbours in the backbone, with the bond. A node is not its own neighbour.
    fn next(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.bonds[node]
            .iter()
            .map(move |bond| (other(&self.sketch.bonds[*bond], node), *bond))
            .filter(move |(to, _)| !self.leaf[*to] && *to != node)
    }

    /// Returns the nodes of the backbone in breadth-first order, and their distances.
    fn breadth(&self, start: usize) -> (Vec<usize>, Vec<usize>) {
        let mut far = vec![usize::MAX; self.sketch.nodes.len()];
        let mut order = vec![start];
        far[start] = 0;
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            at += 1;
            for (to, _) in self.next(node) {
                if far[to] == usize::MAX {
                    far[to] = far[node] + 1;
                    order.push(to);
                }
            }
        }
        (order, far)
    }

    fn fed(&self, node: usize) -> bool {
        let is = |node: usize| source(&self.sketch.nodes[node].kind);
        is(node) || self.leaves[node].iter().any(|(leaf, _)| is(*leaf))
    }

    /// Returns the node at which the backbone begins: at an end with a source if possible, so that
    /// power flows to the right.
    fn root(&self, part: &[usize]) -> usize {
        let farthest = |start: usize| {
            let (order, _) = self.breadth(start);
            order.last().copied().unwrap_or(start)
        };
        let one = farthest(part[0]);
        let two = farthest(one);
        let long = self.breadth(one).1[two].max(1) as f64;
        let mut tried = vec![one, two];
        tried.extend(part.iter().filter(|n| self.fed(**n)).take(TRIED));
        let mut best = (f64::NEG_INFINITY, part[0]);
        for node in tried {
            let (order, far) = self.breadth(node);
            let reach = order.last().map_or(0, |last| far[*last]) as f64 / long;
            let (mut along, mut all) = (0.0, 0.0);
            for from in part {
                for (to, bond) in self.next(*from) {
                    if self.sketch.bonds[bond].from == *from {
                        all += 1.0;
                        along += f64::from(far[to] > far[*from]);
                    }
                }
            }
            let fed = if self.fed(node) { 0.5 } else { 0.0 };
            // A node within a chain is not a good beginning: both halves of the chain would go to
            // the right, one below the other.
            let mut beside = self.next(node).map(|(to, _)| to);
            let first = beside.next();
            let inner = if beside.any(|to| Some(to) != first) {
                1.0
            } else {
                0.0
            };
            let score = reach + fed - inner + 0.5 * along / f64::max(all, 1.0);
            if score > best.0 + 1e-9 || (score > best.0 - 1e-9 && node < best.1) {
                best = (score, node);
            }
        }
        best.1
    }
}

/// Assigns columns by the longest paths from the root. Then nodes with more neighbours to their
/// right move there.
fn columns(graph: &Graph<'_>, order: &[usize], far: &[usize]) -> Vec<usize> {
    let mut place = vec![usize::MAX; far.len()];
    for (at, node) in order.iter().enumerate() {
        place[*node] = at;
    }
    let mut column = vec![0; far.len()];
    for node in order {
        let before = graph
            .next(*node)
            .filter(|(to, _)| place[*to] < place[*node]);
        column[*node] = before.map(|(to, _)| column[to] + 1).max().unwrap_or(0);
    }
    for node in order.iter().rev() {
        let later: Vec<usize> = graph
            .next(*node)
            .filter(|(to, _)| place[*to] > place[*node])
            .map(|(to, _)| column[to])
            .collect();
        if let Some(nearest) = later.iter().min()
            && 2 * later.len() > graph.next(*node).count()
        {
            column[*node] = nearest - 1;
        }
    }
    column
}

fn layered_graph(graph: &Graph<'_>, part: Vec<usize>) -> LayeredGraph {
    let root = graph.root(&part);
    let (order, far) = graph.breadth(root);
    let column = columns(graph, &order, &far);
    let nodes = &graph.sketch.nodes;
    let is_source = |leaf: &Port| source(&nodes[leaf.0].kind);

    let mut layered = LayeredGraph::default();
    let mut cell_of = vec![usize::MAX; nodes.len()];
    let mut hosts = graph.leaves.clone();
    // One-ports of the first node are drawn above and below it in pairs. One of them becomes a cell of its own at the left
    // end: a source, or one without a partner. At the right ends it is the same.
    let first = hosts[root].iter().position(is_source);
    let alone = order.len() == 1;
    let odd = hosts[root].len() % 2 == 1 && !alone;
    let pair = hosts[root].len() == 2 && alone;
    let first = first
        .or((odd || pair).then_some(0))
        .map(|at| hosts[root].remove(at));
    let shift = usize::from(first.is_some());
    let mut ends = Vec::new();
    for node in &order {
        let layer = column[*node] + shift;
        let last = graph.next(*node).all(|(to, _)| column[to] < column[*node]);
        let list = &mut hosts[*node];
        let fed = list.iter().position(is_source).filter(|_| last);
        let odd = (last && list.len() % 2 == 1).then(|| list.len() - 1);
        if let Some(at) = fed.or(odd) {
            ends.push((list.remove(at), *node, layer + 1));
        }
        cell_of[*node] = layered.cell(Some(*node), layer);
        let (up, down) = halves(graph, list);
        layered.cells[cell_of[*node]].up = up;
        layered.cells[cell_of[*node]].down = down;
    }
    if let Some((leaf, bond)) = first {
        cell_of[leaf] = layered.cell(Some(leaf), 0);
        layered.join(bond, cell_of[leaf], cell_of[root]);
    }
    for ((leaf, bond), host, layer) in ends {
        cell_of[leaf] = layered.cell(Some(leaf), layer);
        layered.join(bond, cell_of[host], cell_of[leaf]);
    }
    for node in &order {
        for bond in &graph.bonds[*node] {
            let Bond { from, to, .. } = graph.sketch.bonds[*bond];
            if from == to {
                // The bond goes out, around a cell of its own, and back. It is listed twice at its
                // node.
                if layered.routes.iter().all(|route| route.bond != *bond) {
                    layered.turn(*bond, cell_of[from]);
                }
            } else if from == *node && !graph.leaf[from] && !graph.leaf[to] {
                layered.join(*bond, cell_of[from], cell_of[to]);
            }
        }
    }
    layered
}

/// Distributes one-ports above and below: according to their preference, but almost evenly.
fn halves(graph: &Graph<'_>, list: &[Port]) -> (Vec<Port>, Vec<Port>) {
    let likes = |leaf: &&Port| manner(&graph.sketch.nodes[leaf.0].kind).1;
    let above = list.iter().filter(likes).count();
    let above = above.clamp(list.len() / 2, list.len().div_ceil(2));
    let mut sorted = list.to_vec();
    sorted.sort_by_key(|leaf| !likes(&leaf));
    let down = sorted.split_off(above);
    (sorted, down)
}

impl LayeredGraph {
    fn cell(&mut self, node: Option<usize>, layer: usize) -> usize {
        while self.layers.len() <= layer {
            self.layers.push(Vec::new());
        }
        let at = self.cells.len();
        self.layers[layer].push(at);
        self.cells.push(Cell {
            node,
            layer,
            ..Cell::default()
        });
        at
    }

    fn link(&mut self, left: usize, right: usize, bond: usize) -> usize {
        let at = self.links.len();
        self.links.push(Link { left, right, bond });
        self.cells[left].rights.push(at);
        self.cells[right].lefts.push(at);
        at
    }

    /// Adds links from one cell to a cell in another layer.
    fn join(&mut self, bond: usize, one: usize, two: usize) {
        let ahead = self.cells[one].layer < self.cells[two].layer;
        let (left, right) = if ahead { (one, two) } else { (two, one) };
        let mut links = Vec::new();
        let mut at = left;
        for layer in self.cells[left].layer + 1..self.cells[right].layer {
            let between = self.cell(None, layer);
            links.push((self.link(at, between, bond), true));
            at = between;
        }
        links.push((self.link(at, right, bond), true));
        self.routes.push(Route { bond, links });
    }

    fn turn(&mut self, bond: usize, cell: usize) {
        let around = self.cell(None, self.cells[cell].layer + 1);
        let out = self.link(cell, around, bond);
        let back = self.link(cell, around, bond);
        let links = vec![(out, true), (back, false)];
        self.routes.push(Route { bond, links });
    }
}
