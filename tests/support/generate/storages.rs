//! Random circuits whose storages depend on each other: loops of capacitors, also on sources, and
//! cutsets of inductors, also with current sources.
//!
//! A spanning tree has no current source and the branches outside it no voltage source: with
//! resistances, capacitances and inductances that are positive this is enough for one solution.

use super::circuits::{inductor, resistor, source};
use super::model::Model;
use crate::support::random::Random;

pub fn generate(random: &mut Random, _: bool) -> Model {
    let mut model = Model::of("electrical");
    let bent = random.chance(40);
    let ground = model.point(false);
    model.add("Ground", Vec::new(), &[ground]);
    let mut nodes = vec![ground];
    for _ in 0..random.within(2, 6) {
        let from = *random.pick(&nodes);
        let to = model.point(false);
        let (a, b) = if random.chance(50) {
            (from, to)
        } else {
            (to, from)
        };
        match random.below(10) {
            0 | 1 => source(&mut model, random, "VoltageSource", a, b),
            2..5 => capacitor(&mut model, random, a, b, bent),
            5..8 => coil(&mut model, random, a, b, bent),
            _ => resistor(&mut model, random, a, b, bent),
        }
        nodes.push(to);
    }
    for _ in 0..random.within(1, nodes.len() + 1) {
        let (a, b) = (*random.pick(&nodes), *random.pick(&nodes));
        if a == b {
            continue;
        }
        match random.below(10) {
            0 | 1 => source(&mut model, random, "CurrentSource", a, b),
            2..5 => capacitor(&mut model, random, a, b, bent),
            5..8 => coil(&mut model, random, a, b, bent),
            _ => resistor(&mut model, random, a, b, bent),
        }
    }
    if random.chance(30) {
        two_port(&mut model, random, &nodes);
    }
    model
}

fn capacitor(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool) {
    let class = match bent && random.chance(60) {
        true => *random.pick(&["Varactor", "ChargeCapacitor", "TableCapacitor"]),
        false => "Capacitor",
    };
    let settings = vec![format!("C = {}", random.number(0.5, 2.0))];
    model.add(class, settings, &[a, b]);
}

fn coil(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool) {
    if bent && random.chance(50) {
        let settings = vec![format!("L = {}", random.number(0.5, 2.0))];
        model.add("FluxInductor", settings, &[a, b]);
    } else {
        inductor(model, random, a, b);
    }
}

/// Between two pairs of nodes: a gyrator, coupled coils, or a transformer with a load of its own.
fn two_port(model: &mut Model, random: &mut Random, nodes: &[usize]) {
    let mut pick = || *random.pick(nodes);
    let (a, b, c, d) = (pick(), pick(), pick(), pick());
    if a == b || c == d {
        return;
    }
    let value = random.number(1.3, 3.0);
    let end = model.point(false);
    let (class, setting, first) = match random.below(3) {
        0 => ("Gyrator", format!("r = {value}"), c),
        1 => ("CoupledCoils", format!("L1 = {value}, L2 = 1, M = 0.5"), c),
        _ => ("Transformer", format!("n = {value}"), end),
    };
    let part = model.add(class, vec![setting], &[]);
    model.parts[part].cuts = vec![("A1", a), ("B1", b), ("A2", first), ("B2", d)];
    if first == end {
        match random.chance(50) {
            true => capacitor(model, random, end, d, false),
            false => inductor(model, random, end, d),
        }
    }
}
