//! Random circuits: trees, ladders and meshes.
//!
//! A tame circuit has a normal tree by construction: every branch of a spanning tree can have its
//! voltage given, every other branch its current, whatever the position of its switches. It is then
//! regular and of index 1. Wild circuits are anything.

use super::model::Model;
use super::signals;
use crate::support::random::Random;

pub fn generate(random: &mut Random, wild: bool) -> Model {
    let mut model = Model::of("electrical");
    let bent = random.chance(40);
    let ground = model.point(false);
    model.add("Ground", Vec::new(), &[ground]);
    let mut nodes = vec![ground];
    let mut chords = Vec::new();
    let size = random.within(1, 6);
    match random.below(4) {
        // A tree, with a few branches more.
        0 => {
            for _ in 0..size {
                let from = *random.pick(&nodes);
                let to = model.point(false);
                tree(&mut model, random, from, to, bent, wild);
                nodes.push(to);
            }
            for _ in 0..random.below(3) {
                chords.push((*random.pick(&nodes), *random.pick(&nodes)));
            }
        }
        // A ladder.
        1 => {
            for _ in 0..size {
                let from = nodes[nodes.len() - 1];
                let to = model.point(false);
                tree(&mut model, random, from, to, bent, wild);
                nodes.push(to);
                chords.push((to, ground));
            }
        }
        // A grid.
        2 => {
            let width = random.within(2, 3);
            for at in 1..width * random.within(2, 3) {
                let to = model.point(false);
                let (left, up) = (at % width > 0, at >= width);
                let from = nodes[if left { at - 1 } else { at - width }];
                tree(&mut model, random, from, to, bent, wild);
                nodes.push(to);
                if left && up {
                    chords.push((nodes[at - width], to));
                }
            }
        }
        // A mesh.
        _ => {
            for _ in 0..size {
                let from = *random.pick(&nodes);
                let to = model.point(false);
                tree(&mut model, random, from, to, bent, wild);
                nodes.push(to);
            }
            for _ in 0..size + random.below(4) {
                chords.push((*random.pick(&nodes), *random.pick(&nodes)));
            }
        }
    }
    for (a, b) in chords {
        if a != b {
            chord(&mut model, random, a, b, bent, wild);
        }
    }
    two_ports(&mut model, random, &nodes, bent);
    let one = random.below(model.parts.len());
    let name = &model.parts[one].name;
    if model.parts[one].path && model.parts[one].class != "Cell" {
        let equation = format!("y = {name}.u");
        model.statement("output y".into(), equation);
    }
    model
}

pub fn resistor(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool) {
    let value = random.number(0.3, 4.0);
    let class = match random.below(if bent { 9 } else { 4 }) {
        0 | 1 => "Resistor",
        2 => {
            model.add("Conductor", vec![format!("G = {value}")], &[a, b]);
            return;
        }
        3 => {
            let settings = vec!["GOpen = 0.1".into(), "RClosed = 0.2".into()];
            let part = model.add("Switch", settings, &[a, b]);
            open_or_closed(model, random, part);
            return;
        }
        4 => "Quadratic",
        5 => "Cubic",
        6 => "Exponential",
        7 => "Table",
        _ => "TwoSlopes",
    };
    // Sometimes by way of a parameter of the model.
    let setting = match random.chance(20) {
        true => {
            let name = model.fresh("r");
            model.statement(format!("parameter {name} = {value}"), String::new());
            format!("R = 2*{name}")
        }
        false => format!("R = {value}"),
    };
    model.add(class, vec![setting], &[a, b]);
}

fn open_or_closed(model: &mut Model, random: &mut Random, part: usize) {
    let signal = signals::boolean(model, random);
    let name = model.parts[part].name.clone();
    model.parts[part]
        .equations
        .push(format!("{name}.OpenSwitch = {signal}"));
}

fn switch(model: &mut Model, random: &mut Random, a: usize, b: usize) {
    if random.chance(40) {
        model.add("IdealDiode", Vec::new(), &[a, b]);
    } else {
        let part = model.add("IdealSwitch", Vec::new(), &[a, b]);
        open_or_closed(model, random, part);
    }
}

pub fn source(model: &mut Model, random: &mut Random, class: &'static str, a: usize, b: usize) {
    let part = model.add(class, Vec::new(), &[a, b]);
    let signal = signals::real(model, random);
    let name = model.parts[part].name.clone();
    let terminal = match class {
        "VoltageSource" => "E0",
        _ => "I0",
    };
    model.parts[part]
        .equations
        .push(format!("{name}.{terminal} = {signal}"));
}

fn capacitor(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool) {
    let class = match bent && random.chance(30) {
        true => "Varactor",
        false => "Capacitor",
    };
    let settings = vec![format!("C = {}", random.number(0.5, 2.0))];
    model.add(class, settings, &[a, b]);
}

pub fn inductor(model: &mut Model, random: &mut Random, a: usize, b: usize) {
    let settings = vec![format!("L = {}", random.number(0.5, 2.0))];
    model.add("Inductor", settings, &[a, b]);
}

/// A branch whose voltage can be given.
fn tree(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool, wild: bool) {
    let (a, b) = if random.chance(50) { (a, b) } else { (b, a) };
    if wild && random.chance(30) {
        return anything(model, random, a, b);
    }
    match random.below(12) {
        0 | 1 => source(model, random, "VoltageSource", a, b),
        2 | 3 => capacitor(model, random, a, b, bent),
        4 => {
            resistor(model, random, a, b, bent);
            inductor(model, random, a, b);
        }
        5 => {
            resistor(model, random, a, b, bent);
            switch(model, random, a, b);
        }
        6 => {
            resistor(model, random, a, b, bent);
            source(model, random, "CurrentSource", b, a);
        }
        7 => {
            let middle = model.point(false);
            source(model, random, "VoltageSource", a, middle);
            resistor(model, random, middle, b, bent);
        }
        8 => {
            model.add("CurrentSensor", Vec::new(), &[a, b]);
        }
        9 => {
            model.add("Cell", Vec::new(), &[a, b]);
        }
        _ => resistor(model, random, a, b, bent),
    }
}

/// A branch whose current can be given.
fn chord(model: &mut Model, random: &mut Random, a: usize, b: usize, bent: bool, wild: bool) {
    if wild && random.chance(30) {
        return anything(model, random, a, b);
    }
    let middle = model.point(false);
    match random.below(12) {
        0 => source(model, random, "CurrentSource", a, b),
        1 | 2 => inductor(model, random, a, b),
        3 => {
            resistor(model, random, a, middle, bent);
            capacitor(model, random, middle, b, bent);
        }
        4 => {
            resistor(model, random, a, middle, bent);
            source(model, random, "VoltageSource", middle, b);
        }
        5 | 6 => {
            switch(model, random, a, middle);
            resistor(model, random, middle, b, bent);
        }
        7 => {
            model.add("VoltageSensor", Vec::new(), &[a, b]);
        }
        _ => resistor(model, random, a, b, bent),
    }
}

fn anything(model: &mut Model, random: &mut Random, a: usize, b: usize) {
    match random.below(6) {
        0 => source(model, random, "VoltageSource", a, b),
        1 => source(model, random, "CurrentSource", a, b),
        2 => capacitor(model, random, a, b, false),
        3 => inductor(model, random, a, b),
        4 => switch(model, random, a, b),
        _ => resistor(model, random, a, b, true),
    }
}

/// Parts with two ports, each of which takes the place of branches of the right kind.
fn two_ports(model: &mut Model, random: &mut Random, nodes: &[usize], bent: bool) {
    if nodes.len() < 3 || random.chance(60) {
        return;
    }
    let (a, b) = (*random.pick(nodes), *random.pick(nodes));
    let (c, d) = (*random.pick(nodes), *random.pick(nodes));
    if a == b || c == d {
        return;
    }
    // The end of a new branch of the tree.
    let end = model.point(false);
    let value = random.number(1.3, 3.0);
    let (class, setting, second) = match random.below(6) {
        0 => ("Gyrator", format!("r = {value}"), (c, d)),
        1 => (
            "CoupledCoils",
            format!("L1 = {value}, L2 = 1, M = 0.5"),
            (c, d),
        ),
        2 => ("Transformer", format!("n = {value}"), (end, d)),
        3 => ("VCVS", "k = 0.3".into(), (end, d)),
        4 => ("VCCS", "g = 0.2".into(), (end, d)),
        _ => {
            let part = model.add("Potentiometer", vec![format!("R = {value}")], &[]);
            model.parts[part].cuts = vec![("A", a), ("B", b), ("W", c)];
            let name = model.parts[part].name.clone();
            model.parts[part]
                .equations
                .push(format!("{name}.x = 0.5 + 0.2*sin(Time)"));
            return;
        }
    };
    let part = model.add(class, vec![setting], &[]);
    model.parts[part].cuts = vec![("A1", a), ("B1", b), ("A2", second.0), ("B2", second.1)];
    if second.0 == end {
        let back = *random.pick(nodes);
        resistor(model, random, end, back, bent);
    }
}
