//! Derivatives against differences of fourth order.

use bgm::program::machine::{Extent, Machine};

use super::subject::{Setting, Tally};

/// Differences are taken over a step and over half of it; where they disagree there is a kink between.
const STEP: f64 = 2e-3;
const UNLIKE: f64 = 1e-5;
const NEAR: f64 = 1e-6;

/// (8 (f1 - f-1) - (f2 - f-2)) / 12 h
fn difference(f: &dyn Fn(f64) -> Option<Vec<f64>>, step: f64) -> Option<Vec<f64>> {
    let (a, b) = (f(step)?, f(-step)?);
    let (c, d) = (f(2.0 * step)?, f(-2.0 * step)?);
    let of = |at: usize| (8.0 * (a[at] - b[at]) - (c[at] - d[at])) / (12.0 * step);
    Some((0..a.len()).map(of).collect())
}

/// Compares slopes with differences of the values, over shorter steps where these do not agree among
/// themselves.
fn compare(
    slopes: &[f64],
    f: &dyn Fn(f64) -> Option<Vec<f64>>,
    step: f64,
    name: &dyn Fn(usize) -> String,
    bent: &mut usize,
) -> Result<(), String> {
    let values = f(0.0).ok_or("no values")?;
    let mut open: Vec<usize> = (0..slopes.len()).collect();
    for step in [step, step / 16.0, step / 256.0] {
        if open.is_empty() {
            break;
        }
        let (Some(wide), Some(narrow)) = (difference(f, step), difference(f, step / 2.0)) else {
            continue;
        };
        let mut unclear = Vec::new();
        for at in open {
            let slope = slopes[at];
            // What rounding makes of it.
            let noise = 1e-13 * (values[at].abs() + 1.0) / step + NEAR * slope.abs() + 1e-9;
            let unlike = (wide[at] - narrow[at]).abs();
            if unlike.is_nan() || unlike > UNLIKE * (slope.abs() + 1.0) {
                unclear.push(at);
            } else if slope.is_nan() || (slope - narrow[at]).abs() > noise + 4.0 * unlike {
                return Err(format!(
                    "{} is {slope}, and by differences {} or {}",
                    name(at),
                    narrow[at],
                    wide[at]
                ));
            }
        }
        open = unclear;
    }
    *bent += open.len();
    Ok(())
}

pub fn jacobian(setting: &Setting<'_>, tally: &mut Tally) -> Result<(), String> {
    let size = setting.states.len();
    if size == 0 {
        return Ok(());
    }
    let (time, states) = (setting.point.time, setting.states.clone());
    let mut machine = setting.machine(0.0);
    if machine.evaluate(time, &states, Extent::Rates).is_err() {
        return Ok(());
    }
    // A pattern that misses nothing: entries of full columns.
    let pattern = machine.pattern().clone();
    let mut entries = vec![f64::NAN; pattern.rows.len()];
    machine.jacobian(&mut entries).map_err(|_| "no Jacobian")?;
    let mut again = vec![f64::NAN; pattern.rows.len()];
    let _ = machine.evaluate(time, &states, Extent::All);
    machine.jacobian(&mut again).map_err(|_| "no Jacobian")?;
    if !(entries.iter().zip(&again)).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs())) {
        return Err("the second Jacobian is another".into());
    }
    for column in 0..size {
        let mut slopes = vec![0.0; size];
        let mut inside = vec![false; size];
        for at in pattern.starts[column]..pattern.starts[column + 1] {
            slopes[pattern.rows[at]] = entries[at];
            inside[pattern.rows[at]] = true;
        }
        let rates = |off: f64| {
            let mut moved = states.clone();
            moved[column] += off;
            let mut machine = setting.machine(0.0);
            machine.evaluate(time, &moved, Extent::Rates).ok()?;
            let mut rates = vec![0.0; size];
            machine.rates(&mut rates);
            Some(rates)
        };
        tally.entries += size;
        tally.nonzero += slopes.iter().filter(|slope| **slope != 0.0).count();
        let step = STEP * states[column].abs().max(0.1);
        let name = |row: usize| {
            let inside = if inside[row] {
                ""
            } else {
                " (outside the pattern)"
            };
            format!("the derivative of rate {row} by state {column}{inside}")
        };
        compare(&slopes, &rates, step, &name, &mut tally.bent)?;
        if let (Some(here), Some(there)) = (rates(0.0), rates(step)) {
            for row in (0..size).filter(|&row| !inside[row]) {
                if here[row].to_bits() != there[row].to_bits() && !here[row].is_nan() {
                    return Err(format!("{} is not zero", name(row)));
                }
            }
        }
    }
    Ok(())
}

/// Registers of the part for events, along the line that the solution touches here.
pub fn along_time(setting: &Setting<'_>, tally: &mut Tally) -> Result<(), String> {
    let (time, states) = (setting.point.time, &setting.states);
    let program = setting.program;
    let mut machine = setting.machine(0.0);
    if machine.evaluate_event(time, states).is_err() {
        return Ok(());
    }
    let mut rates = vec![0.0; states.len()];
    machine.event_rates(&mut rates);
    machine
        .along_time(&rates)
        .map_err(|_| "no way along time")?;
    let mut wanted: Vec<u32> = program.event_rates.clone();
    for slots in &program.slots {
        wanted.extend(
            slots
                .candidates
                .iter()
                .map(|candidate| candidate.event_rate),
        );
        wanted.extend(slots.candidates.iter().map(|candidate| candidate.value));
    }
    for watch in &program.watches {
        wanted.extend([watch.event_sides.0, watch.event_sides.1]);
    }
    wanted.extend(program.fixed.iter().map(|&(_, register)| register));
    let kept: Vec<u32> = program.watches.iter().map(|watch| watch.held).collect();
    wanted.retain(|register| !kept.contains(register));
    let slopes: Vec<f64> = wanted.iter().map(|&at| machine.slope(at)).collect();
    let values =
        |machine: &Machine<'_>| -> Vec<f64> { wanted.iter().map(|&at| machine.get(at)).collect() };
    let moved = |off: f64| {
        let line: Vec<f64> = (states.iter().zip(&rates))
            .map(|(state, rate)| state + off * rate)
            .collect();
        let mut machine = setting.machine(0.0);
        machine.evaluate_event(time + off, &line).ok()?;
        Some(values(&machine))
    };
    let fastest = rates
        .iter()
        .fold(1.0, |most: f64, rate| most.max(rate.abs()));
    tally.along += slopes.len();
    let name = |at: usize| {
        let fixed = program.fixed.iter().find(|fixed| fixed.1 == wanted[at]);
        let name = fixed.map(|&(leaf, _)| setting.solved.flat.leaf_name(leaf));
        let register = wanted[at];
        format!(
            "the slope of {} (register {register})",
            name.unwrap_or_default()
        )
    };
    compare(&slopes, &moved, STEP / fastest, &name, &mut tally.bent)
}
