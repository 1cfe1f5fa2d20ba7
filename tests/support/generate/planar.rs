//! Random point masses in a plane on rods: pendulums, chains of them, coupled by springs and dampers,
//! hung up on pins that stand still or are moved. Which coordinates are states cannot be said once and
//! for all: either may stop moving with the other.
//!
//! Rods are longer than two coordinates can be apart at a random point, and of nearly the same length, so
//! that there is a solution whichever coordinates are given.

use super::model::Model;
use super::signals;
use crate::support::random::Random;

/// How the names of positions and velocities end.
pub const FIRST_AXIS: [char; 2] = ['x', 'u'];
pub const SECOND_AXIS: [char; 2] = ['y', 'v'];

pub fn generate(random: &mut Random, _: bool) -> Model {
    let mut model = Model::default();
    let mut masses = Vec::new();
    for _ in 0..random.within(1, 2) {
        let mut last = pin(&mut model, random);
        for _ in 0..random.within(1, 2) {
            let point = model.point(false);
            let length = random.number(5.0, 5.25);
            let class = *random.pick(&["Rod", "Rod", "RootRod"]);
            model.add(class, vec![format!("L = {length}")], &[last, point]);
            mass(&mut model, random, point);
            masses.push(point);
            last = point;
        }
    }
    if random.chance(20) {
        masses.extend(slider_crank(&mut model, random));
    }
    for _ in 0..random.below(3) {
        let (a, b) = (*random.pick(&masses), *random.pick(&masses));
        if a != b {
            let value = random.number(0.4, 2.5);
            let class = *random.pick(&["PlaneSpring", "PlaneDamper"]);
            model.add(class, vec![format!("c = {value}")], &[a, b]);
        }
    }
    model
}

/// The rod is a little longer than the crank: then every position of the crank is possible, and every
/// position of the slider that is not too near the pin.
fn slider_crank(model: &mut Model, random: &mut Random) -> [usize; 2] {
    let (pin, crank, slider) = (model.point(false), model.point(false), model.point(false));
    let length = random.number(5.0, 5.25);
    model.add("Pin", Vec::new(), &[pin]);
    model.add("Rod", vec![format!("L = {length}")], &[pin, crank]);
    mass(model, random, crank);
    let length = format!("L = {length} + 0.2");
    model.add("Rod", vec![length], &[crank, slider]);
    mass(model, random, slider);
    model.add("Slider", Vec::new(), &[slider]);
    [crank, slider]
}

fn pin(model: &mut Model, random: &mut Random) -> usize {
    let point = model.point(false);
    match random.chance(70) {
        true => {
            model.add("Pin", Vec::new(), &[point]);
        }
        false => {
            let part = model.add("MovedPin", Vec::new(), &[point]);
            let signal = signals::real(model, random);
            let name = model.parts[part].name.clone();
            let equation = format!("{name}.X0 = {signal}");
            model.parts[part].equations.push(equation);
        }
    }
    point
}

fn mass(model: &mut Model, random: &mut Random, point: usize) {
    let class = *random.pick(&["Mass", "SecondMass"]);
    let value = random.number(0.5, 2.0);
    model.add(class, vec![format!("m = {value}")], &[point]);
    // Air, or wind.
    if random.chance(30) {
        let part = model.add("Force", Vec::new(), &[point]);
        let signal = signals::real(model, random);
        let name = model.parts[part].name.clone();
        let equation = format!("{name}.F0 = {signal}");
        model.parts[part].equations.push(equation);
    }
}
