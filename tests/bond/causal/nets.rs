//! Nets to assign causality to: random small ones, and large regular ones.

use bgm::bond::net::{End, Gives, Net, Rule};

use crate::support::random::Random;

/// What a node is; it says what is marked at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Zero,
    One,
    Transformer,
    /// The first end marked is its first.
    Gyrator,
    Element,
}

#[derive(Debug, Default)]
pub struct Builder {
    pub net: Net,
    kinds: Vec<Kind>,
    ends: Vec<usize>,
}

impl Builder {
    pub fn node(&mut self, kind: Kind) -> u32 {
        self.kinds.push(kind);
        self.ends.push(0);
        self.net.nodes.push(if kind == Kind::Element {
            Rule::Each
        } else {
            Rule::One
        });
        self.kinds.len() as u32 - 1
    }

    /// Elements give what is said for their ends.
    pub fn bond(&mut self, nodes: [u32; 2], element: Option<Gives>) -> u32 {
        let ends = nodes.map(|node| {
            let at = node as usize;
            self.ends[at] += 1;
            let marked = match self.kinds[at] {
                Kind::Zero => Some(Gives::Flow),
                Kind::One | Kind::Transformer => Some(Gives::Effort),
                Kind::Gyrator if self.ends[at] == 1 => Some(Gives::Effort),
                Kind::Gyrator => Some(Gives::Flow),
                Kind::Element => element,
            };
            End { node, marked }
        });
        self.net.bonds.push(ends);
        self.net.bonds.len() as u32 - 1
    }

    /// A node of its own, at another.
    pub fn element(&mut self, at: u32, gives: Option<Gives>) -> u32 {
        let element = self.node(Kind::Element);
        self.bond([at, element], gives)
    }
}

fn marked(random: &mut Random, percent: usize) -> Option<Gives> {
    random.chance(percent).then(|| {
        if random.chance(50) {
            Gives::Effort
        } else {
            Gives::Flow
        }
    })
}

/// Up to ten bonds between any nodes, several between the same two as well.
pub fn small(seed: u64) -> Net {
    let mut random = Random::new(seed);
    let mut builder = Builder::default();
    let junctions = random.within(1, 6);
    for _ in 0..junctions {
        let kinds = [Kind::Zero, Kind::One, Kind::Transformer, Kind::Gyrator];
        builder.node(*random.pick(&kinds));
    }
    let elements = random.within(0, 4);
    for _ in 0..elements {
        builder.node(Kind::Element);
    }
    let nodes = junctions + elements;
    let (most, percent) = (random.within(1, 10), random.within(0, 60));
    while nodes > 1 && builder.net.bonds.len() < most {
        let (a, b) = (random.below(nodes), random.below(nodes));
        if a != b {
            builder.bond([a as u32, b as u32], marked(&mut random, percent));
        }
    }
    // A joint of more than two bonds has no name, but a rule like the others: any marks at all.
    if random.chance(30) {
        for end in builder.net.bonds.iter_mut().flatten() {
            if builder.net.nodes[end.node as usize] == Rule::One && random.chance(40) {
                end.marked = end.marked.map(Gives::other);
            }
        }
    }
    builder.net
}

/// An effort source, then stages of a resistor in series and a capacitor across; also which bonds the capacitors have.
pub fn ladder(stages: usize) -> (Net, Vec<u32>) {
    let mut builder = Builder::default();
    let mut before = builder.node(Kind::Zero);
    builder.element(before, Some(Gives::Effort));
    let mut capacitors = Vec::new();
    for _ in 0..stages {
        let series = builder.node(Kind::One);
        let across = builder.node(Kind::Zero);
        builder.bond([before, series], None);
        builder.element(series, None);
        builder.bond([series, across], None);
        capacitors.push(builder.element(across, None));
        before = across;
    }
    (builder.net, capacitors)
}

/// A 0-junction at each crossing, with an element, and a 1-junction with an element between neighbours; also the bonds of
/// the elements at the crossings.
pub fn grid(side: usize) -> (Net, Vec<u32>) {
    let mut builder = Builder::default();
    let mut elements = Vec::new();
    let crossings: Vec<u32> = (0..side * side)
        .map(|_| {
            let crossing = builder.node(Kind::Zero);
            elements.push(builder.element(crossing, None));
            crossing
        })
        .collect();
    for (at, &crossing) in crossings.iter().enumerate() {
        let right = ((at + 1) % side != 0).then_some(at + 1);
        let neighbours = [right, Some(at + side)];
        for other in neighbours.into_iter().flatten() {
            let Some(&other) = crossings.get(other) else {
                continue;
            };
            let branch = builder.node(Kind::One);
            builder.bond([crossing, branch], None);
            builder.element(branch, None);
            builder.bond([branch, other], None);
        }
    }
    (builder.net, elements)
}

/// Gyrators in a circle, with a 1-junction between each two; elements at the first few junctions, their bonds last.
pub fn circle(gyrators: usize, elements: usize) -> Net {
    let mut builder = Builder::default();
    let junctions: Vec<u32> = (0..gyrators).map(|_| builder.node(Kind::One)).collect();
    for (k, &junction) in junctions.iter().enumerate() {
        let gyrator = builder.node(Kind::Gyrator);
        builder.bond([junction, gyrator], None);
        builder.bond([gyrator, junctions[(k + 1) % gyrators]], None);
    }
    for &junction in &junctions[..elements] {
        builder.element(junction, None);
    }
    builder.net
}

/// Transformers in a chain, each between 1-junctions with an inertia; also the bonds of the inertias.
pub fn gears(stages: usize) -> (Net, Vec<u32>) {
    let mut builder = Builder::default();
    let mut before = builder.node(Kind::One);
    builder.element(before, Some(Gives::Effort));
    let mut inertias = vec![builder.element(before, None)];
    for _ in 0..stages {
        let gear = builder.node(Kind::Transformer);
        let shaft = builder.node(Kind::One);
        builder.bond([before, gear], None);
        builder.bond([gear, shaft], None);
        inertias.push(builder.element(shaft, None));
        before = shaft;
    }
    (builder.net, inertias)
}

/// Rings of six junctions without elements, each joined to the next by two bonds, from its 0-junctions to the 1-junctions of
/// the next. The bonds of a ring stand before those that lead away from it, six and two.
pub fn rings(count: usize) -> Net {
    let mut builder = Builder::default();
    let rings: Vec<[u32; 6]> = (0..count)
        .map(|_| [0, 1, 2, 3, 4, 5].map(|k| builder.node([Kind::Zero, Kind::One][k % 2])))
        .collect();
    for (at, ring) in rings.iter().enumerate().rev() {
        for k in 0..6 {
            builder.bond([ring[k], ring[(k + 1) % 6]], None);
        }
        let next = rings[(at + 1).min(count - 1)];
        builder.bond([ring[0], next[1]], None);
        builder.bond([ring[2], next[3]], None);
    }
    builder.net
}
