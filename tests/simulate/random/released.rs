//! Mechanisms whose rods let go, against accelerations from the equations of motion with multipliers (Lagrange), step by step.

use nalgebra::{DMatrix, DVector};

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::generate::released::{GRAVITY, Mechanism, Release, UNTIL};
use crate::support::hybrid::{Event, Hybrid};
use crate::support::random::Random;
use crate::support::trial::Trial;

const POINTS: usize = 13;

/// Accelerations, and the force in each rod for each unit of its length. `x` has places, then speeds.
fn motion(mechanism: &Mechanism, x: &[f64], gone: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = mechanism.masses.len();
    let rods: Vec<usize> = (0..mechanism.rods.len())
        .filter(|&rod| gone[rod] == 0.0)
        .collect();
    let size = 2 * n + rods.len();
    let (mut a, mut b) = (DMatrix::zeros(size, size), DVector::zeros(size));
    for (at, &m) in mechanism.masses.iter().enumerate() {
        (a[(2 * at, 2 * at)], a[(2 * at + 1, 2 * at + 1)]) = (m, m);
        b[2 * at + 1] = -m * GRAVITY;
    }
    for &(at, k, [ax, ay]) in &mechanism.springs {
        b[2 * at] -= k * (x[2 * at] - ax);
        b[2 * at + 1] -= k * (x[2 * at + 1] - ay);
    }
    for (row, &rod) in rods.iter().enumerate() {
        let rod = &mechanism.rods[rod];
        let row = 2 * n + row;
        let end = mechanism.end(rod, &|mass| [x[2 * mass], x[2 * mass + 1]]);
        let speed = |mass: usize| [x[2 * n + 2 * mass], x[2 * n + 2 * mass + 1]];
        let other = rod.to.map_or([0.0, 0.0], speed);
        for axis in 0..2 {
            let d = x[2 * rod.from + axis] - end[axis];
            let v = speed(rod.from)[axis] - other[axis];
            b[row] -= v * v;
            let place = 2 * rod.from + axis;
            (a[(place, row)], a[(row, place)]) = (d, d);
            if let Some(to) = rod.to {
                let place = 2 * to + axis;
                (a[(place, row)], a[(row, place)]) = (-d, -d);
            }
        }
    }
    let solution = a.lu().solve(&b)?;
    let mut forces = vec![0.0; mechanism.rods.len()];
    for (row, &rod) in rods.iter().enumerate() {
        forces[rod] = solution[2 * n + row];
    }
    Some((solution.iter().take(2 * n).copied().collect(), forces))
}

fn judged(mechanism: &Mechanism) -> Verdict {
    let n = mechanism.masses.len();
    let mut instants: Vec<(f64, usize)> = Vec::new();
    for (at, rod) in mechanism.rods.iter().enumerate() {
        if let Release::At(time) = rod.release {
            instants.push((time, at));
        }
    }
    instants.sort_by(|a, b| a.0.total_cmp(&b.0));
    let breaks: Vec<(usize, f64)> = (mechanism.rods.iter().enumerate())
        .filter_map(|(at, rod)| match rod.release {
            Release::Above(most) => Some((at, most)),
            _ => None,
        })
        .collect();
    let times: Vec<f64> = (0..POINTS)
        .map(|at| UNTIL * at as f64 / (POINTS - 1) as f64)
        .collect();
    let hybrid = Hybrid {
        rates: &|_, x, gone| {
            let accelerations = motion(mechanism, x, gone).map(|(a, _)| a);
            let accelerations = accelerations.unwrap_or_else(|| vec![f64::NAN; 2 * n]);
            x[2 * n..].iter().copied().chain(accelerations).collect()
        },
        guards: &|_, x, gone| {
            let forces = motion(mechanism, x, gone).map(|(_, forces)| forces);
            let force = |rod: usize| forces.as_ref().map_or(0.0, |forces| forces[rod]);
            breaks
                .iter()
                .map(|&(rod, most)| most - force(rod))
                .collect()
        },
        act: &|event, _, x, gone| {
            match event {
                Event::Guard(at) => gone[breaks[at].0] = 1.0,
                Event::Instant(at) => gone[instants[at].1] = 1.0,
            }
            // What another rod takes over may be too much for it.
            for _ in 0..breaks.len() {
                let forces = motion(mechanism, x, gone).map(|(_, forces)| forces);
                for &(rod, most) in &breaks {
                    let over = forces.as_ref().is_some_and(|forces| forces[rod] > most);
                    if over {
                        gone[rod] = 1.0;
                    }
                }
            }
        },
        instants: instants.iter().map(|one| one.0).collect(),
        step: 2e-4,
    };
    let start: Vec<f64> = (mechanism.places.iter().flatten().copied())
        .chain(std::iter::repeat_n(0.0, 2 * n))
        .collect();
    let mut gone = vec![0.0; mechanism.rods.len()];
    // Some break at once.
    for _ in 0..breaks.len() {
        let Some((_, forces)) = motion(mechanism, &start, &gone) else {
            return Verdict::Open("singular");
        };
        for &(rod, most) in &breaks {
            if forces[rod] > most {
                gone[rod] = 1.0;
            }
        }
    }
    let rows = match hybrid.run(start, gone, &times[1..]) {
        Ok(rows) => rows,
        Err(why) => return Verdict::Open(why),
    };
    let names: Vec<String> = (0..n)
        .flat_map(|at| [format!("x{at}"), format!("y{at}")])
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let trial = Trial::of(&mechanism.text(), UNTIL).points(POINTS);
    let result = trial.tolerance(1e-9, 1e-11).run(&names);
    if let Some(message) = result.failure {
        return Verdict::Refused(result.code.unwrap_or("none").into(), message);
    }
    for ((&time, row), (expected, _)) in times[1..].iter().zip(&result.rows[1..]).zip(&rows) {
        for ((name, found), expected) in names.iter().zip(row).zip(expected) {
            if !((found - expected).abs() <= 1e-4 * (1.0 + expected.abs())) {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    Verdict::Agrees
}

#[test]
fn rods_that_let_go() {
    let family = Family {
        name: "mechanisms whose rods let go",
        cases: 20,
        refused: 0.0,
        open: &[],
    };
    let mechanism = |seed| Mechanism::generate(&mut Random::new(seed));
    campaign(
        family,
        |seed| judged(&mechanism(seed)),
        |seed, _| mechanism(seed).text(),
    );
}
