//! Clutches, impacts, `when` and `sample` logic, against a plain simulator with small steps.

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::generate::logic::{Case, UNTIL};
use crate::support::hybrid::{Event, Hybrid, State};
use crate::support::random::Random;
use crate::support::trial::Trial;

const POINTS: usize = 21;
/// A row this near to an event may be on either side of it.
const STEP: f64 = 2e-4;

type Rows = Result<Vec<Vec<f64>>, &'static str>;

/// What is compared, at some times.
fn expected(case: &Case, times: &[f64]) -> Rows {
    let both = |rows: Vec<(State, State)>| {
        (rows.into_iter())
            .map(|(x, kept)| x.into_iter().chain(kept).collect())
            .collect()
    };
    match case {
        &Case::Ball { h, v, e, a, w } => {
            let hybrid = Hybrid {
                rates: &|_, x, _| vec![x[1], -9.81],
                guards: &|t, x, _| vec![x[0] - a * (w * t).sin()],
                act: &|_, t, x, kept| {
                    let r = a * w * (w * t).cos();
                    x[1] = r - e * (x[1] - r);
                    kept[0] += 1.0;
                },
                instants: Vec::new(),
                step: STEP,
            };
            hybrid.run(vec![h, v], vec![0.0], times).map(both)
        }
        Case::Line { x, v, m, e } => {
            let n = x.len();
            let hybrid = Hybrid {
                rates: &|_, x, _| {
                    let speeds = x[n..].iter().copied();
                    speeds.chain(x[n..].iter().map(|v| -0.3 * v)).collect()
                },
                guards: &|_, x, _| {
                    let gaps = (1..n).map(|at| x[at] - x[at - 1]);
                    [x[0], n as f64 - x[n - 1]]
                        .into_iter()
                        .chain(gaps)
                        .collect()
                },
                act: &|event, _, x, _| match event {
                    Event::Guard(0) => x[n] *= -e,
                    Event::Guard(1) => x[2 * n - 1] *= -e,
                    Event::Guard(at) => {
                        let (one, two) = (n + at - 2, n + at - 1);
                        let (a, b) = (m[at - 2], m[at - 1]);
                        let (v1, v2) = (x[one], x[two]);
                        x[one] = (a * v1 + b * v2 - e * b * (v1 - v2)) / (a + b);
                        x[two] = (a * v1 + b * v2 + e * a * (v1 - v2)) / (a + b);
                    }
                    Event::Instant(_) => {}
                },
                instants: Vec::new(),
                step: STEP,
            };
            let start = x.iter().chain(v).copied().collect();
            hybrid.run(start, Vec::new(), times).map(both)
        }
        &Case::Clutch {
            j,
            w,
            most,
            drive,
            load,
            f,
            at,
        } => {
            let torques = move |t: f64, kept: &[f64]| (drive * (f * t).sin(), kept[2] * load);
            let held = move |t: f64, kept: &[f64]| {
                let (one, two) = torques(t, kept);
                one - j[0] * (one - two) / (j[0] + j[1])
            };
            let release = move |t: f64, kept: &mut State| {
                let torque = held(t, kept);
                kept[1] = if torque > 0.0 { 1.0 } else { -1.0 };
                if torque.abs() >= most {
                    kept[0] = 0.0;
                }
            };
            let hybrid = Hybrid {
                rates: &move |t, _, kept| {
                    let (one, two) = torques(t, kept);
                    let torque = match kept[0] {
                        0.0 => kept[1] * most,
                        _ => held(t, kept),
                    };
                    vec![(one - torque) / j[0], (torque - two) / j[1]]
                },
                guards: &move |t, x, kept| match kept[0] {
                    0.0 => vec![kept[1] * (x[0] - x[1])],
                    _ => vec![most - held(t, kept).abs()],
                },
                act: &move |event, t, x, kept| match (event, kept[0]) {
                    (Event::Guard(_), 0.0) => {
                        let common = (j[0] * x[0] + j[1] * x[1]) / (j[0] + j[1]);
                        (x[0], x[1], kept[0]) = (common, common, 1.0);
                        release(t, kept);
                    }
                    (Event::Instant(_), locked) => {
                        kept[2] = 1.0;
                        if locked != 0.0 {
                            release(t, kept);
                        }
                    }
                    _ => release(t, kept),
                },
                instants: vec![at],
                step: STEP,
            };
            let s = if w[0] > w[1] { 1.0 } else { -1.0 };
            let rows = hybrid.run(w.to_vec(), vec![0.0, s, 0.0], times)?;
            Ok((rows.into_iter())
                .map(|(x, kept)| vec![x[0], x[1], kept[0]])
                .collect())
        }
        &Case::Sampled {
            k,
            i,
            period,
            first,
            limit,
            d,
        } => {
            let count = ((UNTIL - first) / period) as usize + 1;
            let hybrid = Hybrid {
                rates: &|_, x, kept| vec![x[1], kept[1] - d * x[1] - x[0]],
                guards: &|_, _, _| Vec::new(),
                act: &|_, _, x, kept| {
                    kept[0] += period * (1.0 - x[0]);
                    kept[1] = (k * (1.0 - x[0]) + i * kept[0]).clamp(-limit, limit);
                },
                instants: (0..count).map(|at| first + at as f64 * period).collect(),
                step: 1e-3,
            };
            let rows = hybrid.run(vec![0.0, 0.0], vec![0.0, 0.0], times)?;
            Ok((rows.into_iter())
                .map(|(x, kept)| vec![x[0], x[1], kept[0] + kept[1]])
                .collect())
        }
        &Case::Thermostat {
            low,
            high,
            power,
            loss,
            w,
        } => {
            let hybrid = Hybrid {
                rates: &|t, x, kept| vec![kept[0] * power - loss * (x[0] - 5.0 * (w * t).sin())],
                guards: &|_, x, kept| match kept[0] {
                    0.0 => vec![x[0] - low],
                    _ => vec![high - x[0]],
                },
                act: &|_, t, _, kept| {
                    kept[0] = 1.0 - kept[0];
                    kept[1] += kept[0];
                    if kept[0] == 1.0 && kept[1] == 3.0 {
                        kept[2] = 3.0 + t;
                    }
                },
                instants: Vec::new(),
                step: STEP,
            };
            let rows = hybrid.run(vec![low - 3.0], vec![1.0, 1.0, 0.0], times)?;
            Ok((rows.into_iter())
                .map(|(x, kept)| vec![x[0], kept[1], kept[2]])
                .collect())
        }
        &Case::Levels {
            fill,
            drain,
            marks: [a, b, c],
            w,
        } => {
            let hybrid = Hybrid {
                rates: &|t, x, kept| {
                    vec![kept[0] * fill - drain * (1.0 + 0.5 * (w * t).sin()) * x[0]]
                },
                guards: &|_, x, _| vec![x[0] - a, c - x[0], b - x[0]],
                act: &|event, _, _, kept| match event {
                    Event::Guard(0) => (kept[0], kept[1]) = (2.0, kept[1] + 1.0),
                    Event::Guard(1) => (kept[0], kept[1]) = (0.0, kept[1] + 10.0),
                    _ => (kept[0], kept[1]) = (1.0, kept[1] + 100.0),
                },
                instants: Vec::new(),
                step: STEP,
            };
            hybrid.run(vec![a + 0.05], vec![2.0, 0.0], times).map(both)
        }
    }
}

fn judged(case: &Case) -> Verdict {
    let (text, names) = case.text();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let times: Vec<f64> = (0..POINTS)
        .map(|at| UNTIL * at as f64 / (POINTS - 1) as f64)
        .collect();
    let rows = match expected(case, &times[1..]) {
        Ok(rows) => rows,
        Err(why) => return Verdict::Open(why),
    };
    let result = Trial::of(&text, UNTIL)
        .points(POINTS)
        .tolerance(1e-9, 1e-11)
        .run(&names);
    if let Some(message) = result.failure {
        return Verdict::Refused(result.code.unwrap_or("none").into(), message);
    }
    let events = result.event_times();
    for ((&time, row), expected) in times[1..].iter().zip(&result.rows[1..]).zip(&rows) {
        if events.iter().any(|at| (at - time).abs() < 1e-5) {
            continue;
        }
        for ((name, found), expected) in names.iter().zip(row).zip(expected) {
            if !((found - expected).abs() <= 2e-5 * (1.0 + expected.abs())) {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    Verdict::Agrees
}

#[test]
fn clutches_impacts_and_samples() {
    let family = Family {
        name: "clutches, impacts, when and sample",
        cases: 60,
        refused: 5.0,
        open: &[],
    };
    let case = |seed| Case::generate(&mut Random::new(seed));
    campaign(
        family,
        |seed| judged(&case(seed)),
        |seed, _| case(seed).text().0,
    );
}
