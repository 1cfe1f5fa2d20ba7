//! Causality by covering, against trying out all causalities of small nets; and large nets.

mod nets;

use crate::support::random::Random;
use bgm::bond::net::{Causal, Conflict, Gives, Net, Rule};
use bgm::structure::Covering;
use nets::{Builder, Kind};

/// What the ends of a bond give, if bit `bond` of a causality says that its first end gives the effort.
fn of_bit(causality: u32, bond: usize) -> [Gives; 2] {
    if causality >> bond & 1 == 1 {
        [Gives::Effort, Gives::Flow]
    } else {
        [Gives::Flow, Gives::Effort]
    }
}

/// Whether a causality obeys all rules.
fn holds(net: &Net, gives: impl Fn(usize) -> [Gives; 2]) -> bool {
    let mut count = vec![0; net.nodes.len()];
    for (bond, ends) in net.bonds.iter().enumerate() {
        for (end, gives) in ends.iter().zip(gives(bond)) {
            match net.nodes[end.node as usize] {
                Rule::One => count[end.node as usize] += u32::from(end.marked == Some(gives)),
                Rule::Each if end.marked.is_some_and(|marked| marked != gives) => return false,
                Rule::Each => {}
            }
        }
    }
    (net.nodes.iter().zip(&count)).all(|(&rule, &count)| rule == Rule::Each || count == 1)
}

fn all(net: &Net) -> Vec<u32> {
    (0..1 << net.bonds.len())
        .filter(|&causality| holds(net, |bond| of_bit(causality, bond)))
        .collect()
}

fn bits(causal: &Causal, net: &Net) -> u32 {
    (0..net.bonds.len())
        .filter(|&bond| causal.gives(bond as u32)[0] == Gives::Effort)
        .fold(0, |bits, bond| bits | 1 << bond)
}

fn check_free(causal: &Causal, net: &Net, possible: &[u32], seed: u64) {
    let now = bits(causal, net);
    assert!(possible.contains(&now), "net {seed}: {net:?}");
    let either = possible.iter().fold(0, |bits, &other| bits | (other ^ now));
    for (bond, free) in causal.free().into_iter().enumerate() {
        assert_eq!(free, either >> bond & 1 == 1, "net {seed}, bond {bond}");
        assert!(!(free && causal.is_decided(bond as u32)), "net {seed}");
    }
}

/// The ends named contradict each other, and would not if any of them were left out.
fn check_conflict(conflict: &Conflict, net: &Net, seed: u64) {
    let only = |kept: &dyn Fn((u32, usize)) -> bool| {
        let mut net = net.clone();
        for (bond, ends) in net.bonds.iter_mut().enumerate() {
            for (at, end) in ends.iter_mut().enumerate() {
                if net.nodes[end.node as usize] == Rule::Each && !kept((bond as u32, at)) {
                    end.marked = None;
                }
            }
        }
        all(&net)
    };
    let named = |end| conflict.ends.contains(&end);
    assert!(only(&named).is_empty(), "net {seed}: {conflict:?} {net:?}");
    for &left_out in &conflict.ends {
        let rest = only(&|end| end != left_out && named(end));
        assert!(!rest.is_empty(), "net {seed}: {conflict:?} {net:?}");
    }
    // The other nodes have nothing to do with it.
    let mut few = net.clone();
    for (node, rule) in few.nodes.iter_mut().enumerate() {
        if !conflict.nodes.contains(&(node as u32)) {
            *rule = Rule::Each;
        }
    }
    for (bond, ends) in few.bonds.iter_mut().enumerate() {
        for (at, end) in ends.iter_mut().enumerate() {
            if few.nodes[end.node as usize] == Rule::Each && !named((bond as u32, at)) {
                end.marked = None;
            }
        }
    }
    assert!(all(&few).is_empty(), "net {seed}: {conflict:?} {net:?}");
}

#[test]
fn small_nets_agree_with_all_their_causalities() {
    let (mut causal, mut not, mut several) = (0, 0, 0);
    for seed in 0..20_000 {
        let net = nets::small(seed);
        let mut possible = all(&net);
        match Causal::new(&net) {
            Err(conflict) => {
                assert!(possible.is_empty(), "net {seed}: {conflict:?} {net:?}");
                assert_eq!(Causal::new(&net).err().as_ref(), Some(&conflict));
                check_conflict(&conflict, &net, seed);
                not += 1;
            }
            Ok(mut found) => {
                causal += 1;
                several += u32::from(possible.len() > 2);
                check_free(&found, &net, &possible, seed);
                let mut random = Random::new(seed);
                for _ in 0..random.below(12) {
                    let (bond, end) = (random.below(net.bonds.len()), random.below(2));
                    let gives = *random.pick(&[Gives::Effort, Gives::Flow]);
                    let kept = |&causality: &u32| of_bit(causality, bond)[end] == gives;
                    let before = bits(&found, &net);
                    let can = possible.iter().any(kept);
                    assert_eq!(can, found.try_fix(bond as u32, end, gives), "net {seed}");
                    if can {
                        possible.retain(kept);
                    } else {
                        assert_eq!(before, bits(&found, &net), "net {seed}");
                    }
                    check_free(&found, &net, &possible, seed);
                }
            }
        }
    }
    // The nets are worth trying.
    assert!(
        causal > 2000 && not > 2000 && several > 1000,
        "{causal} {not} {several}"
    );
}

/// The most edges no two of which meet, and whether some such set covers all that must be covered.
fn matchings(edges: &[[u32; 2]], must: u32) -> (u32, bool) {
    let (mut most, mut covers) = (0, false);
    for set in 0u32..1 << edges.len() {
        let mut met = 0u32;
        let apart = (0..edges.len())
            .filter(|&edge| set >> edge & 1 == 1)
            .all(|edge| {
                let ends = edges[edge].iter().fold(0, |ends, &v| ends | 1 << v);
                let fresh = met & ends == 0;
                met |= ends;
                fresh
            });
        if apart {
            most = most.max(set.count_ones());
            covers |= met & must == must;
        }
    }
    (most, covers)
}

#[test]
fn general_graphs_are_matched_and_covered() {
    for seed in 0..5000 {
        let mut random = Random::new(seed);
        let vertices = random.within(2, 9);
        let mut edges = Vec::new();
        for _ in 0..random.within(0, 12) {
            let (a, b) = (random.below(vertices), random.below(vertices));
            if a != b {
                edges.push([a as u32, b as u32]);
            }
        }
        let must: Vec<bool> = (0..vertices).map(|_| random.chance(60)).collect();
        let wanted = (0..vertices)
            .filter(|&v| must[v])
            .fold(0, |m, v| m | 1 << v);
        let (most, covers) = matchings(&edges, wanted);

        let mut covering = Covering::new(must, edges.clone());
        assert_eq!(covering.cover_all().is_ok(), covers, "graph {seed}");

        // One vertex after the other, each if it can be: a largest matching.
        let mut covering = Covering::new(vec![false; vertices], edges.clone());
        let covered = (0..vertices as u32)
            .filter(|&v| covering.require(v))
            .count();
        let chosen = (0..edges.len() as u32).filter(|&edge| covering.contains(edge));
        assert_eq!(chosen.count(), most as usize, "graph {seed}");
        assert_eq!(covered, 2 * most as usize, "graph {seed}");
    }
}

/// Two large circles of odd length, and a long way between: blossoms as large as the graph.
#[test]
fn long_odd_circles_are_matched() {
    let length = 20_001;
    let mut edges = Vec::new();
    for circle in 0..2 {
        let first = circle * length;
        edges.extend((0..length).map(|k| [first + k, first + (k + 1) % length]));
    }
    let way: Vec<u32> = (2 * length..3 * length - 1).collect();
    edges.extend(way.windows(2).map(|pair| [pair[0], pair[1]]));
    edges.push([length / 3, way[0]]);
    edges.push([way[way.len() - 1], length + length / 2]);
    Random::new(1).shuffle(&mut edges);
    let mut covering = Covering::new(vec![true; 3 * length as usize - 1], edges);
    assert_eq!(covering.cover_all(), Ok(()));
}

#[test]
fn two_sources_of_one_effort_are_named() {
    let mut builder = Builder::default();
    let zero = builder.node(Kind::Zero);
    builder.element(zero, None);
    let first = builder.element(zero, Some(Gives::Effort));
    builder.element(zero, Some(Gives::Flow));
    let second = builder.element(zero, Some(Gives::Effort));
    let conflict = Conflict {
        ends: vec![(first, 1), (second, 1)],
        nodes: vec![zero],
    };
    assert_eq!(Causal::new(&builder.net).err(), Some(conflict));
}

#[test]
fn flow_sources_through_a_transformer_are_named() {
    let mut builder = Builder::default();
    let [left, right] = [builder.node(Kind::One), builder.node(Kind::One)];
    let transformer = builder.node(Kind::Transformer);
    let far = builder.node(Kind::One);
    builder.element(far, Some(Gives::Effort));
    builder.element(far, Some(Gives::Flow));
    builder.element(left, None);
    let first = builder.element(left, Some(Gives::Flow));
    builder.bond([left, transformer], None);
    builder.bond([transformer, right], None);
    let second = builder.element(right, Some(Gives::Flow));
    let conflict = Conflict {
        ends: vec![(first, 1), (second, 1)],
        nodes: vec![left, right, transformer],
    };
    assert_eq!(Causal::new(&builder.net).err(), Some(conflict));
}

#[test]
fn a_junction_without_anything_to_decide_it_is_named() {
    let mut builder = Builder::default();
    let zero = builder.node(Kind::Zero);
    builder.node(Kind::Element);
    let alone = Conflict {
        ends: Vec::new(),
        nodes: vec![zero],
    };
    assert_eq!(Causal::new(&builder.net).err(), Some(alone));
    let source = builder.element(zero, Some(Gives::Flow));
    let with_source = Conflict {
        ends: vec![(source, 1)],
        nodes: vec![zero],
    };
    assert_eq!(Causal::new(&builder.net).err(), Some(with_source));
}

fn check_large(net: &Net, causal: &Causal) {
    assert!(holds(net, |bond| causal.gives(bond as u32)));
}

#[test]
fn a_long_ladder_is_causal() {
    let (net, capacitors) = nets::ladder(12_500);
    let mut causal = Causal::new(&net).expect("a ladder is causal");
    check_large(&net, &causal);
    assert!(causal.free().into_iter().filter(|&free| free).count() > 0);
    for &bond in &capacitors {
        assert!(causal.try_fix(bond, 1, Gives::Effort));
    }
    check_large(&net, &causal);
    assert!(causal.free().into_iter().all(|free| !free));
}

#[test]
fn a_large_grid_is_causal() {
    let (net, elements) = nets::grid(100);
    let mut causal = Causal::new(&net).expect("a grid is causal");
    check_large(&net, &causal);
    let fixed: Vec<u32> = elements.into_iter().step_by(2).collect();
    for &bond in &fixed {
        assert!(causal.try_fix(bond, 1, Gives::Effort));
    }
    check_large(&net, &causal);
    // Every other column is fixed, each of its branches is between two given efforts, and from each of its crossings an
    // effort goes to the left and to the right. All the rest is free.
    let columns = 100 / 2;
    let settled = columns * 100 + columns * 99 * 3 + 99 * 100;
    let free = causal.free().into_iter().filter(|&free| free).count();
    assert_eq!(free, net.bonds.len() - settled);
}

#[test]
fn gears_leave_one_inertia_independent() {
    let (net, inertias) = nets::gears(20_000);
    let mut causal = Causal::new(&net).expect("a chain of gears is causal");
    let fixed = inertias
        .iter()
        .filter(|&&bond| causal.try_fix(bond, 1, Gives::Flow));
    assert_eq!(fixed.count(), 1);
    check_large(&net, &causal);
}

/// Round a circle of gyrators each junction is decided by the one before, either way round; if their number is odd that does
/// not come out even, and one junction has to be decided from outside.
#[test]
fn circles_of_gyrators_are_causal_by_parity() {
    for gyrators in [2, 4, 20_000] {
        let net = nets::circle(gyrators, 0);
        let mut causal = Causal::new(&net).expect("an even circle is causal");
        check_large(&net, &causal);
        assert!(causal.free().into_iter().all(|free| free));
        assert!(causal.try_fix(0, 0, Gives::Effort));
        assert!(causal.free().into_iter().all(|free| !free));
        check_large(&net, &causal);
    }
    for gyrators in [3, 5, 20_001] {
        let conflict = Causal::new(&nets::circle(gyrators, 0)).expect_err("it is odd");
        assert_eq!(conflict.ends, []);
        assert_eq!(conflict.nodes.len(), 2 * gyrators);

        let one = nets::circle(gyrators, 1);
        let causal = Causal::new(&one).expect("one junction is decided from outside");
        check_large(&one, &causal);
        assert!(causal.free().into_iter().all(|free| !free));

        let two = nets::circle(gyrators, 2);
        let mut causal = Causal::new(&two).expect("one of two junctions is");
        let elements = [2, 1].map(|k| two.bonds.len() as u32 - k);
        for bond in elements {
            assert!(causal.free()[bond as usize]);
        }
        for bond in elements {
            // Neither both nor none.
            let gives = if bond == elements[0] {
                Gives::Flow
            } else {
                Gives::Effort
            };
            assert!(causal.try_fix(bond, 1, gives));
            check_large(&two, &causal);
        }
        assert!(causal.free().into_iter().all(|free| !free));
    }
}

/// Each ring has as many 0-junctions as 1-junctions, so none can be decided by another.
#[test]
fn bonds_between_rings_are_not_free() {
    let net = nets::rings(2_000);
    let causal = Causal::new(&net).expect("each ring is causal by itself");
    check_large(&net, &causal);
    for (bond, free) in causal.free().into_iter().enumerate() {
        // The bonds of the last ring to the next lead back to itself.
        assert_eq!(free, bond < 8 || bond % 8 < 6, "bond {bond}");
    }
}

/// Two sources at the ends of a long chain of gears contradict each other, and nothing else does.
#[test]
fn a_conflict_over_a_long_way_is_named() {
    let (mut net, inertias) = nets::gears(20_000);
    let (first, last) = (inertias[0], inertias[20_000]);
    for bond in [first, last] {
        net.bonds[bond as usize][1].marked = Some(Gives::Flow);
    }
    let conflict = Causal::new(&net).expect_err("two speeds are given");
    assert_eq!(conflict.ends, [(first, 1), (last, 1)]);
    assert_eq!(conflict.nodes.len(), 40_001);
}
