//! Random circuits with switches and diodes under sines, steps and pulses, against a solver of their complementarity problems.
//!
//! The judge steps in time by Euler's implicit method, and in each step looks for the diodes that conduct: no current is negative, and no
//! voltage across a diode that blocks is positive. Charges and fluxes that jump do so by themselves in such a step (Moreau 1988). What is open
//! leaks a little, what is closed resists a little. Two step sizes tell how far it can be trusted.

use nalgebra::{DMatrix, DVector};

use crate::circuit::{Circuit, Seen};
use crate::residuals::{At, Record, record};
use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::random::Random;
use crate::support::trial::Trial;

const UNTIL: f64 = 3.013_7;
const POINTS: usize = 31;
/// Conductance of what is open, resistance of what is closed.
const LEAK: f64 = 1e-9;
/// Larger values of storages come of what contradicts itself,
const LARGEST: f64 = 1e4;
/// and of anything else, in which what jumps at a point may be seen.
const LARGEST_OF_ALL: f64 = 1e6;
const STEPS: u64 = 20_000;

struct Judge<'c> {
    parts: Vec<Seen<'c>>,
    nodes: usize,
    /// The unknown that is the current of a part, where it has one.
    current: Vec<Option<usize>>,
    unknowns: usize,
}

impl<'c> Judge<'c> {
    fn new(circuit: &'c Circuit) -> Judge<'c> {
        let parts: Vec<Seen<'_>> = circuit.seen().collect();
        let mut unknowns = circuit.nodes() - 1;
        let current = (parts.iter())
            .map(|part| match part.class {
                "Resistor" | "Capacitor" | "ConstantCurrent" => None,
                _ => {
                    unknowns += 1;
                    Some(unknowns - 1)
                }
            })
            .collect();
        Judge {
            parts,
            nodes: circuit.nodes(),
            current,
            unknowns,
        }
    }

    /// The values of all unknowns after a step, with the diodes of these bits conducting. `stored` are the values of storages.
    fn after(&self, stored: &[f64], time: f64, h: f64, closed: u32) -> Option<DVector<f64>> {
        let (mut a, mut b) = (
            DMatrix::zeros(self.unknowns, self.unknowns),
            DVector::zeros(self.unknowns),
        );
        let row = |node: usize| node.checked_sub(1);
        // Nodes that hang on nothing.
        for node in 0..self.nodes - 1 {
            a[(node, node)] = 1e-12;
        }
        let (mut diode, mut storage) = (0, 0);
        for (part, &current) in self.parts.iter().zip(&self.current) {
            let [from, to] = part.ends.map(row);
            let mut conductor = |g: f64, i: f64| {
                for (one, sign) in [(from, 1.0), (to, -1.0)] {
                    let Some(one) = one else { continue };
                    b[one] -= sign * i;
                    for (other, same) in [(from, 1.0), (to, -1.0)] {
                        if let Some(other) = other {
                            a[(one, other)] += sign * same * g;
                        }
                    }
                }
            };
            match part.class {
                "Resistor" => conductor(1.0 / part.value, 0.0),
                "Capacitor" => {
                    conductor(part.value / h, -part.value / h * stored[storage]);
                    storage += 1;
                }
                "ConstantCurrent" => conductor(0.0, part.value),
                _ => {}
            }
            let Some(current) = current else { continue };
            for (node, sign) in [(from, 1.0), (to, -1.0)] {
                if let Some(node) = node {
                    a[(node, current)] += sign;
                    a[(current, node)] += sign;
                }
            }
            // So far this says that the voltage is zero.
            let drive = part.drive.map_or(0.0, |drive| drive.value(time));
            let mut branch = |open: bool| match open {
                true => {
                    for node in [from, to].into_iter().flatten() {
                        a[(current, node)] *= LEAK;
                    }
                    a[(current, current)] = -1.0;
                }
                false => a[(current, current)] = -LEAK,
            };
            match part.class {
                "ConstantVoltage" => b[current] = -part.value,
                "VoltageSource" => b[current] = -drive,
                "IdealSwitch" => branch(drive != 0.0),
                "IdealDiode" => {
                    branch(closed >> diode & 1 == 0);
                    diode += 1;
                }
                "Inductor" => {
                    a[(current, current)] = -part.value / h;
                    b[current] = -part.value / h * stored[storage];
                    storage += 1;
                }
                other => panic!("`{other}` is not known"),
            }
        }
        let solution = a.lu().solve(&b)?;
        solution
            .iter()
            .all(|value| value.is_finite())
            .then_some(solution)
    }

    fn voltage(&self, part: &Seen<'_>, values: &DVector<f64>) -> f64 {
        let of = |node: usize| node.checked_sub(1).map_or(0.0, |at| values[at]);
        of(part.ends[0]) - of(part.ends[1])
    }

    /// By how much a diode does what it must not.
    fn off(&self, values: &DVector<f64>, closed: u32) -> f64 {
        let mut worst = 0.0_f64;
        let mut diode = 0;
        for (part, current) in self.parts.iter().zip(&self.current) {
            if part.class != "IdealDiode" {
                continue;
            }
            let current = values[current.expect("a diode has a current")];
            worst = worst.max(match closed >> diode & 1 {
                1 => -current,
                _ => self.voltage(part, values),
            });
            diode += 1;
        }
        worst
    }

    /// The values of storages at the points, and how large anything was, as a part of what contradicts itself.
    fn run(&self, steps: usize) -> Option<(Vec<Vec<f64>>, f64)> {
        let storages: Vec<usize> = (0..self.parts.len())
            .filter(|&at| matches!(self.parts[at].class, "Capacitor" | "Inductor"))
            .collect();
        let diodes = self
            .parts
            .iter()
            .filter(|part| part.class == "IdealDiode")
            .count();
        if diodes > 8 {
            return None;
        }
        let mut stored: Vec<f64> = storages.iter().map(|&at| self.parts[at].start).collect();
        let mut rows = vec![stored.clone()];
        let (mut closed, mut largest) = (0u32, 0.0_f64);
        let h = UNTIL / ((POINTS - 1) * steps) as f64;
        for step in 0..(POINTS - 1) * steps {
            let time = (step + 1) as f64 * h;
            let mut best: Option<(f64, u32, DVector<f64>)> = None;
            let mut order: Vec<u32> = (0..1 << diodes).collect();
            order.sort_by_key(|other| (other ^ closed).count_ones());
            for other in order {
                let Some(values) = self.after(&stored, time, h, other) else {
                    continue;
                };
                let off = self.off(&values, other) / (1.0 + values.amax());
                if best.as_ref().is_none_or(|best| off < best.0) {
                    best = Some((off, other, values));
                }
                if off < 1e-9 {
                    break;
                }
            }
            let (off, chosen, values) = best?;
            if off > 1e-6 {
                return None;
            }
            closed = chosen;
            for (value, &at) in stored.iter_mut().zip(&storages) {
                *value = match self.current[at] {
                    Some(current) => values[current],
                    None => self.voltage(&self.parts[at], &values),
                };
            }
            let most = stored
                .iter()
                .fold(0.0_f64, |most, value| most.max(value.abs()));
            largest = largest.max(most / LARGEST);
            if (step + 1) % steps == 0 {
                rows.push(stored.clone());
                largest = largest.max(values.amax() / LARGEST_OF_ALL);
            }
        }
        Some((rows, largest))
    }
}

fn judged(circuit: &Circuit) -> Verdict {
    let storages: Vec<String> = circuit.storages().map(|(_, name)| name).collect();
    if storages.is_empty() {
        return Verdict::Open("there is no storage");
    }
    let judge = Judge::new(circuit);
    let ran = record(
        &Trial::of(&circuit.text(false), UNTIL).points(POINTS),
        STEPS,
    );
    let refused = match &ran {
        Err(said) => {
            let error = said.iter().find(|one| one.code.text().starts_with('E'));
            Some(error.map_or(("none", String::new()), |one| {
                (one.code.text(), one.message.clone())
            }))
        }
        Ok(record) => record.failure.clone(),
    };
    let Some((rough, _)) = judge.run(250) else {
        return Verdict::Open("the judge finds no solution");
    };
    let Some((fine, largest)) = judge.run(500) else {
        return Verdict::Open("the judge finds no solution");
    };
    if let Some((code, message)) = refused {
        return match largest > 1.0 {
            true => Verdict::Singular(code.into()),
            false => Verdict::Refused(code.into(), message),
        };
    }
    let Ok(ran) = ran else {
        return Verdict::Wrong("nothing is said".into());
    };
    if ran.stopped {
        return Verdict::Wrong(format!("too many steps, at Time = {}", ran.summary.time));
    }
    if largest > 1.0 {
        return Verdict::Open("it contradicts itself");
    }
    compared(&ran, &storages, &rough, &fine)
}

fn compared(ran: &Record, storages: &[String], rough: &[Vec<f64>], fine: &[Vec<f64>]) -> Verdict {
    let columns: Vec<usize> = (storages.iter())
        .map(|name| ran.column(name).expect("it is in the equations"))
        .collect();
    let size = fine
        .iter()
        .flatten()
        .fold(1.0_f64, |most, value| most.max(value.abs()));
    let apart = (rough.iter().flatten().zip(fine.iter().flatten()))
        .fold(0.0_f64, |most, (one, other)| most.max((one - other).abs()));
    if apart > 0.05 * size {
        return Verdict::Open("the judge is not sure");
    }
    let mut points = 0;
    let mut last = None;
    for (at, time, row) in &ran.rows {
        let point = (time / UNTIL * (POINTS - 1) as f64).round();
        let there = (point * UNTIL / (POINTS - 1) as f64 - time).abs() < 1e-9;
        if !there || *at == At::Before && point < (POINTS - 1) as f64 || last == Some(point) {
            continue;
        }
        last = Some(point);
        points += 1;
        // The judge takes its first step over what jumps at the start.
        if point == 0.0 {
            continue;
        }
        for ((name, &column), place) in storages.iter().zip(&columns).zip(0..) {
            let (found, expected) = (row[column], fine[point as usize][place]);
            let off = (found - expected).abs();
            if off.is_nan() || off > 5e-3 * size + 2.0 * apart {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    match points >= POINTS - 1 {
        true => Verdict::Agrees,
        false => Verdict::Wrong(format!("{points} rows")),
    }
}

#[test]
fn networks_under_sines_steps_and_pulses() {
    let family = Family {
        name: "switches and ideal diodes",
        cases: 25,
        refused: 20.0,
        open: &[],
    };
    let circuit = |seed| Circuit::with_edges(&mut Random::new(seed), true);
    campaign(
        family,
        |seed| judged(&circuit(seed)),
        |seed, verdict| {
            let same = |other: &Circuit| judged(other).is_like(verdict);
            match verdict {
                Verdict::Wrong(_) | Verdict::Refused(..) => circuit(seed).shrunk(&same).text(false),
                _ => circuit(seed).text(false),
            }
        },
    );
}

/// Many diodes change at once: at each peak of the source all capacitors stop to be charged.
#[test]
fn voltage_multipliers() {
    let family = Family {
        name: "voltage multipliers",
        cases: 8,
        refused: 0.0,
        open: &[],
    };
    let circuit = |seed| Circuit::multiplier(&mut Random::new(seed));
    campaign(
        family,
        |seed| judged(&circuit(seed)),
        |seed, _| circuit(seed).text(false),
    );
}
