//! Signals for sources and switches, and models that are nothing but equations.

use super::model::Model;
use crate::support::random::Random;

/// An expression that is known at a point: an input, a number, something of time or of a state.
pub fn real(model: &mut Model, random: &mut Random) -> String {
    let states = states(model);
    match random.below(8) {
        0..3 => {
            let name = model.fresh("u");
            model.statement(format!("input {name}"), String::new());
            name
        }
        3 => format!("({})", random.number(-3.0, 3.0)),
        4 => format!("2*sin({}*Time)", random.number(1.0, 5.0)),
        5 => {
            let limit = random.number(0.1, 0.9);
            format!("(if Time < {limit} then 1.5 else -0.5)")
        }
        6 if !states.is_empty() => format!("(1 + 0.5*{})", random.pick(&states)),
        _ => {
            let (p, x) = (model.fresh("k"), model.fresh("s"));
            let value = random.number(0.5, 2.0);
            model.statement(format!("parameter {p} = {value}"), String::new());
            model.statement(format!("local {x}"), format!("{x}/{p} = cos(Time)"));
            x
        }
    }
}

/// The same for booleans.
pub fn boolean(model: &mut Model, random: &mut Random) -> String {
    let states = states(model);
    match random.below(6) {
        0 | 1 => {
            let name = model.fresh("b");
            model.statement(format!("input {name}"), String::new());
            name
        }
        2 => format!("Time > {}", random.number(0.2, 0.8)),
        3 if !states.is_empty() => {
            let limit = random.number(-0.5, 0.5);
            format!("{} > {limit} or Time < 0.2", random.pick(&states))
        }
        4 => {
            let name = model.fresh("d");
            model.statement(format!("local {name}"), format!("new({name}) = Time > 0.5"));
            format!("not {name}")
        }
        _ => {
            let (name, input) = (model.fresh("c"), model.fresh("b"));
            model.statement(format!("input {input}"), String::new());
            model.statement(
                format!("local {name}"),
                format!("not {name} = {input} and Time < 0.7"),
            );
            name
        }
    }
}

fn states(model: &Model) -> Vec<String> {
    (model.parts.iter())
        .filter_map(|part| match part.class {
            "C" | "Cvar" => Some(format!("{}.e", part.name)),
            "I" => Some(format!("{}.f", part.name)),
            "Capacitor" | "Varactor" => Some(format!("{}.u", part.name)),
            "Inductor" => Some(format!("{}.i", part.name)),
            _ => None,
        })
        .collect()
}

/// Equations one after the other, each with a new unknown somewhere inside, and loops of a few.
/// Every one of them has a solution.
pub fn generate(random: &mut Random) -> Model {
    let mut model = Model::default();
    let mut known: Vec<String> = Vec::new();
    for _ in 0..random.within(1, 3) {
        known.push(real(&mut model, random));
    }
    for _ in 0..random.within(1, 2) {
        let name = model.fresh("x");
        let from = term(&known, random);
        model.statement(format!("local {name}"), format!("der({name}) = {from}"));
        known.push(name);
    }
    for _ in 0..random.within(2, 10) {
        let first = known.len();
        match random.below(5) {
            0 => linear_loop(&mut model, &mut known, random),
            1 => bent_loop(&mut model, &mut known, random),
            _ => single(&mut model, &mut known, random),
        }
        // Booleans and choices in between.
        if random.chance(20) {
            let (truth, name) = (model.fresh("b"), model.fresh("x"));
            let (a, b) = (random.pick(&known).clone(), random.pick(&known).clone());
            model.statement(
                format!("local {truth}"),
                format!("{truth} = {a} > {} or {} < {b}", first, known.len()),
            );
            model.statement(
                format!("local {name}"),
                format!("{b} - {name} = if {truth} then {a} else 2*{b} - 1"),
            );
            known.push(name);
        }
    }
    let last = known[known.len() - 1].clone();
    model.statement("output y".into(), format!("-y = {last}"));
    model
}

/// A bounded expression of what is known.
fn term(known: &[String], random: &mut Random) -> String {
    let a = random.pick(known);
    let b = random.pick(known);
    match random.below(8) {
        0 => format!("sin({a})"),
        1 => format!("tanh({a}) - {}", random.number(0.1, 2.0)),
        2 => format!("max(-2, min({a}, {b}, 2))"),
        3 => format!("atan2({a}, 1 + abs({b}))"),
        4 => format!("(if {a} < {b} then cos({a}) else 1 + cos({b}))"),
        5 => format!("mod({a}, 2) - floor(tanh({b}))"),
        6 => format!("-(atan({a}) - tanh({b}))/{}", random.number(0.5, 3.0)),
        _ => format!("table({a}, [-1, 0, 2], [-1, 0.5, 1])"),
    }
}

/// An unknown inside what can be undone.
fn single(model: &mut Model, known: &mut Vec<String>, random: &mut Random) {
    let x = model.fresh("x");
    let right = term(known, random);
    let c = random.number(0.5, 3.0);
    let d = term(known, random);
    let equation = match random.below(14) {
        0 => format!("{c}*{x} = {right}"),
        1 => format!("{d} - ({x} - 2)/{c} = {right}"),
        2 => format!("{c} + ({d})**2 = 1/exp({x})"),
        3 => format!("ln({x}) = {right}"),
        4 => format!("({x} + {d})**3 = {right}"),
        5 => format!("2**({x} - {c}) = 1 + abs({right})"),
        6 => format!("{c}/({x} - {d}) = 1 + exp({right})"),
        7 => format!("log10({c}*{x}) - {d} = {right}"),
        8 => format!("-(-{x} + {d})*(2 + ({right})) + {c}*{x} = -3 - {d}"),
        9 => format!("{x}*(1 + ({d})**2) = {right} - {x}"),
        // These have to be iterated.
        10 => format!("{x} + {c}*{x}**3 = {right}"),
        11 => format!("{c}*{x} + exp({x}) = {d}"),
        12 => format!("{x} + 0.5*sin({x}) = {right}"),
        _ => format!("0 = (if {d} > 0 then {x} else 2*{x}) - ({right})"),
    };
    model.statement(format!("local {x}"), equation);
    known.push(x);
}

/// Diagonally dominant, so that it is regular.
fn linear_loop(model: &mut Model, known: &mut Vec<String>, random: &mut Random) {
    let size = random.within(2, 9);
    let names: Vec<String> = (0..size).map(|_| model.fresh("x")).collect();
    let switch = random.chance(50).then(|| boolean(model, random));
    for (at, name) in names.iter().enumerate() {
        let mut left = format!("{size}*{name}");
        for (other, unknown) in names.iter().enumerate() {
            if other == at || !(other == (at + 1) % size || random.chance(30)) {
                continue;
            }
            let part = random.number(0.2, 0.9);
            left += &match (random.below(4), &switch) {
                (0, Some(switch)) => {
                    format!(" + (if {switch} then {part}*{unknown} else -{unknown}/2)")
                }
                (1, _) => format!(" + {unknown}*({})/4", term(known, random)),
                (2, _) => format!(" - {part}*{unknown}"),
                _ => format!(" + {unknown}/{}", 1.0 + part),
            };
        }
        model.statement(
            format!("local {name}"),
            format!("{left} = {}", term(known, random)),
        );
    }
    known.extend(names);
}

/// Each depends weakly on the next.
fn bent_loop(model: &mut Model, known: &mut Vec<String>, random: &mut Random) {
    let size = random.within(2, 6);
    let names: Vec<String> = (0..size).map(|_| model.fresh("x")).collect();
    for (at, name) in names.iter().enumerate() {
        let next = &names[(at + 1) % size];
        let other = random.pick(&names).clone();
        let right = term(known, random);
        let equation = match random.below(4) {
            0 => format!("{name} = {right} + 0.3*sin({next} - {other}*0.5)"),
            1 => format!("2*{name} - tanh({next}) = {right}"),
            2 => format!("{name} + 0.4*{name}**3 - 0.2*{next} = {right}"),
            _ => format!("{name}*exp(0.2*tanh({next})) = {right}"),
        };
        model.statement(format!("local {name}"), equation);
    }
    known.extend(names);
}
