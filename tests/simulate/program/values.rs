//! Values: every column, what rates alone need, and the part for events.

use bgm::flat::{Kind, Leaf};
use bgm::program::machine::{Extent, Machine};

use super::subject::{Setting, Tally, number};

/// Loops begin so far from their solutions.
const OFF: f64 = 1e-4;

pub fn compare(setting: &Setting<'_>, tally: &mut Tally) -> Result<(), String> {
    let (time, states) = (setting.point.time, &setting.states);
    let mut machine = setting.machine(OFF);
    if machine.evaluate(time, states, Extent::All).is_err() {
        tally.stuck += 1;
        return stuck(setting, &machine);
    }
    columns(setting, &machine, tally)?;
    let mut all = vec![0.0; states.len()];
    machine.rates(&mut all);
    let mut fewer = setting.machine(OFF);
    let _ = fewer.evaluate(time, states, Extent::Rates);
    let mut rates = vec![0.0; states.len()];
    fewer.rates(&mut rates);
    if !same_bits(&all, &rates) {
        return Err(format!("rates {rates:?}, with all else {all:?}"));
    }
    let mut fewer = setting.machine(OFF);
    let _ = fewer.evaluate(time, states, Extent::Watches);
    for watch in &setting.program.watches {
        let of = |machine: &Machine<'_>| [watch.sides.0, watch.sides.1].map(|at| machine.get(at));
        if !same_bits(&of(&fewer), &of(&machine)) {
            return Err("the sides of a relation differ".into());
        }
    }
    event(setting, &all, tally)
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    (a.iter().zip(b)).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

/// A loop of which the machine does not find the solution from near by.
fn stuck(setting: &Setting<'_>, _: &Machine<'_>) -> Result<(), String> {
    match std::env::var("BGM_STUCK") {
        Ok(_) => Err(format!("stuck at {:?}", setting.states)),
        Err(_) => Ok(()),
    }
}

pub fn near(a: f64, b: f64, largest: f64) -> bool {
    (a - b).abs() <= 1e-9 * (a.abs().max(b.abs()) + 1e-3 * largest)
}

/// The largest value around: differences of such are rounded like them.
pub fn largest(setting: &Setting<'_>) -> f64 {
    let reals = setting
        .leaves
        .iter()
        .filter_map(|&leaf| setting.point.real(leaf));
    reals.fold(1.0, |most: f64, value| most.max(value.abs()))
}

pub fn columns(
    setting: &Setting<'_>,
    machine: &Machine<'_>,
    tally: &mut Tally,
) -> Result<(), String> {
    let largest = largest(setting);
    for (&leaf, &register) in setting.leaves.iter().zip(&setting.program.columns) {
        let Some(wanted) = setting.point.get(leaf) else {
            continue;
        };
        tally.values += 1;
        let (wanted, found) = (number(wanted), machine.get(register));
        if !near(wanted, found, largest) {
            let name = setting.solved.flat.leaf_name(leaf);
            return Err(format!("{name} is {found}, and should be {wanted}"));
        }
    }
    Ok(())
}

/// The part for events has the same values.
fn event(setting: &Setting<'_>, rates: &[f64], tally: &mut Tally) -> Result<(), String> {
    let flat = &setting.solved.flat;
    let mut machine = setting.machine(OFF);
    if machine
        .evaluate_event(setting.point.time, &setting.states)
        .is_err()
    {
        return Err("stuck at an event".into());
    }
    let largest = largest(setting);
    let same =
        |what: &dyn Fn() -> String, found: f64, wanted: f64| match near(found, wanted, largest) {
            true => Ok(()),
            false => Err(format!(
                "{} is {found} at an event, and should be {wanted}",
                what()
            )),
        };
    let mut event_rates = vec![0.0; rates.len()];
    machine.event_rates(&mut event_rates);
    for (at, (&found, &wanted)) in event_rates.iter().zip(rates).enumerate() {
        same(&|| format!("rate {at}"), found, wanted)?;
    }
    for &(leaf, register) in &setting.program.fixed {
        let kind = flat.variable(leaf.variable()).kind;
        let computed = matches!(leaf, Leaf::Var(_) | Leaf::Der(..)) && kind != Kind::Discrete;
        if let Some(wanted) = setting.point.get(leaf).filter(|_| computed) {
            same(
                &|| flat.leaf_name(leaf),
                machine.get(register),
                number(wanted),
            )?;
        }
    }
    for discrete in &setting.program.discretes {
        let leaf = Leaf::New(discrete.leaf.variable());
        if let (Some(next), Some(wanted)) = (discrete.next, setting.point.get(leaf)) {
            same(&|| flat.leaf_name(leaf), machine.get(next), number(wanted))?;
        }
    }
    for watch in &setting.program.watches {
        let (left, right) = watch.event_sides;
        let of = |id| setting.point.number(&flat.exprs, id);
        let (wanted, found) = match (of(watch.left), watch.right.map(of)) {
            (Some(left_side), None) => (left_side, machine.get(left)),
            (Some(x), Some(Some(y))) => match flat.exprs.node(watch.node) {
                bgm::expr::Node::Binary(..) => (x - y, machine.get(left) - machine.get(right)),
                _ => (x / y, machine.get(left)),
            },
            _ => continue,
        };
        tally.values += 1;
        same(&|| flat.expression(watch.node), found, wanted)?;
    }
    for &(kept, of) in &setting.program.pres {
        same(&|| "pre".into(), machine.get(of), machine.get(kept))?;
    }
    Ok(())
}
