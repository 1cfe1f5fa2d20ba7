//! Trains of inertias with friction clutches that lock one after the other, and masses on rods that are released: what is
//! left of a constraint by rounding is no jump, and the powers that are multiplied with it have no impulse. Judged by
//! the exact motion between events, and by Runge and Kutta's method with multipliers.
//!
//! `BGM_CASES=1000` makes so many, `BGM_FIRST` is the first one.

use nalgebra::{DMatrix, DVector};

use crate::support::random::Random;
use crate::support::trial::Trial;

/// The seeds to be tried.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = read("BGM_FIRST").unwrap_or(0);
    first..first + read("BGM_CASES").unwrap_or(usual)
}

#[derive(Debug)]
struct Clutch {
    shafts: (usize, usize),
    torque: f64,
    ratio: f64,
    /// Of the slip at the start.
    sign: f64,
}

#[derive(Debug)]
struct Train {
    inertias: Vec<f64>,
    speeds: Vec<f64>,
    loads: Vec<f64>,
    clutches: Vec<Clutch>,
    style: usize,
    tolerance: f64,
}

impl Train {
    fn random(random: &mut Random) -> Train {
        let count = random.within(3, 6);
        let digits = |random: &mut Random, value: f64| match random.chance(60) {
            true => (value * 100.0).round() / 100.0,
            false => value,
        };
        let mut train = Train {
            inertias: Vec::new(),
            speeds: Vec::new(),
            loads: Vec::new(),
            clutches: Vec::new(),
            style: random.below(3),
            tolerance: *random.pick(&[1e-4, 1e-6, 1e-8, 1e-11]),
        };
        for at in 0..count {
            let inertia = 10f64.powf(random.real(-1.0, 1.0));
            let speed = random.real(-10.0, 30.0);
            train.inertias.push(digits(random, inertia));
            train.speeds.push(digits(random, speed));
            train.loads.push(match random.chance(25) {
                true => random.number(-0.2, 0.2),
                false => 0.0,
            });
            if at == 0 {
                continue;
            }
            let other = if random.chance(70) {
                at - 1
            } else {
                random.below(at)
            };
            let torque = 10f64.powf(random.real(-0.5, 1.2));
            let ratio = *random.pick(&[1.0, 1.0, 1.0, 2.0, 0.5, 3.0]);
            let slip = train.speeds[other] - ratio * train.speeds[at];
            if slip != 0.0 {
                train.clutches.push(Clutch {
                    shafts: (other, at),
                    torque: digits(random, torque),
                    ratio,
                    sign: slip.signum(),
                });
            }
        }
        train
    }

    /// With the heat of each clutch and the power behind it: what is multiplied with a slip of zero.
    fn text(&self) -> String {
        let mut text = String::from("model M\n");
        for at in 0..self.inertias.len() {
            text.push_str(&format!("  local w{at}\n"));
        }
        for at in 0..self.clutches.len() {
            text.push_str(&format!("  local T{at}, s{at}, P{at}, Q{at}\n"));
        }
        for (at, inertia) in self.inertias.iter().enumerate() {
            let mut sum = format!("{:?}", self.loads[at]);
            for (number, clutch) in self.clutches.iter().enumerate() {
                if clutch.shafts.0 == at {
                    sum.push_str(&format!(" - T{number}"));
                }
                if clutch.shafts.1 == at {
                    sum.push_str(&format!(" + {:?}*T{number}", clutch.ratio));
                }
            }
            text.push_str(&format!("  {inertia:?}*der(w{at}) = {sum}\n"));
            text.push_str(&format!("  init(w{at}) = {:?}\n", self.speeds[at]));
        }
        for (at, clutch) in self.clutches.iter().enumerate() {
            let (a, b) = clutch.shafts;
            let slip = format!("w{a} - {:?}*w{b}", clutch.ratio);
            let (torque, sign) = (clutch.torque, clutch.sign);
            let over = if sign > 0.0 { "<" } else { ">" };
            text.push_str(&match self.style {
                0 => format!(
                    "  0 = if s{at} then {slip} else T{at} - {:?}\n  new(s{at}) = s{at} or {slip} {over} 0\n",
                    sign * torque
                ),
                1 => format!(
                    "  0 = if s{at} then {slip} else T{at} - {torque:?}*{sign}\n  new(s{at}) = s{at} or ({slip})*{sign} <= 0\n"
                ),
                _ => format!(
                    "  0 = if s{at} then {slip} else {:?}*T{at} - {sign}\n  when {slip} {over} 0 then\n    new(s{at}) = true\n  endwhen\n",
                    1.0 / torque
                ),
            });
            text.push_str(&format!("  P{at} = T{at}*({slip})\n  Q{at} = T{at}*w{b}\n"));
        }
        text.push_str("end\n");
        text
    }

    /// Speeds at a time: rates are constant between locks.
    fn speeds_at(&self, until: f64) -> (Vec<f64>, Vec<f64>) {
        let count = self.inertias.len();
        let mut locked = vec![false; self.clutches.len()];
        let (mut time, mut w) = (0.0, DVector::from_column_slice(&self.speeds));
        let mut locks = Vec::new();
        loop {
            let rates = self.rates(&locked);
            let slip = |of: &DVector<f64>, clutch: &Clutch| {
                of[clutch.shafts.0] - clutch.ratio * of[clutch.shafts.1]
            };
            let rates = rates.rows(0, count).into_owned();
            let mut next = (until, None);
            for (at, clutch) in self
                .clutches
                .iter()
                .enumerate()
                .filter(|(at, _)| !locked[*at])
            {
                let (now, rate) = (slip(&w, clutch), slip(&rates, clutch));
                if now * rate < 0.0 && time - now / rate < next.0 {
                    next = (time - now / rate, Some(at));
                }
            }
            w += rates * (next.0 - time);
            time = next.0;
            match next.1 {
                Some(at) => {
                    locked[at] = true;
                    locks.push(time);
                }
                None => return (w.iter().copied().collect(), locks),
            }
        }
    }

    fn rates(&self, locked: &[bool]) -> DVector<f64> {
        let count = self.inertias.len();
        let tied: Vec<usize> = (0..locked.len()).filter(|&at| locked[at]).collect();
        let mut matrix = DMatrix::zeros(count + tied.len(), count + tied.len());
        let mut right = DVector::zeros(count + tied.len());
        for at in 0..count {
            matrix[(at, at)] = self.inertias[at];
            right[at] = self.loads[at];
        }
        for (at, clutch) in self
            .clutches
            .iter()
            .enumerate()
            .filter(|(at, _)| !locked[*at])
        {
            let _ = at;
            right[clutch.shafts.0] -= clutch.sign * clutch.torque;
            right[clutch.shafts.1] += clutch.sign * clutch.torque * clutch.ratio;
        }
        for (row, &at) in tied.iter().enumerate() {
            let clutch = &self.clutches[at];
            for (shaft, by) in [(clutch.shafts.0, 1.0), (clutch.shafts.1, -clutch.ratio)] {
                matrix[(shaft, count + row)] = by;
                matrix[(count + row, shaft)] = by;
            }
        }
        matrix.lu().solve(&right).expect("a train has rates")
    }
}

#[test]
fn clutches_that_lock_one_after_the_other() {
    const UNTIL: f64 = 20.0;
    let mut wrong = Vec::new();
    for seed in seeds(40) {
        let train = Train::random(&mut Random::new(seed));
        let names: Vec<String> = (0..train.inertias.len())
            .map(|at| format!("w{at}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let trial = Trial::of(&train.text(), UNTIL).points(41);
        let result = trial
            .tolerance(train.tolerance, train.tolerance / 100.0)
            .run(&names);
        if let Some(failure) = result.failure {
            wrong.push(format!("{seed}: {failure}"));
            continue;
        }
        for (&time, row) in result.times.iter().zip(&result.rows) {
            let (speeds, locks) = train.speeds_at(time);
            if locks.iter().any(|lock| (lock - time).abs() < 1e-6) {
                continue;
            }
            let off =
                (speeds.iter().zip(row)).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
            if off > 30.0 * (10.0 * train.tolerance).max(1e-7) {
                wrong.push(format!("{seed}: {row:?} is not {speeds:?} at {time}"));
                break;
            }
        }
        if !result.summary.jumps.is_empty() {
            wrong.push(format!("{seed}: {:?}", result.summary.jumps));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two clutches that lock one after the other, with the heat in each, at all tolerances.
#[test]
fn two_clutches_at_all_tolerances() {
    let text = "model M
  local w1, w2, w3, T1, T2, s1, s2, P1, P2
  1*der(w1) = -T1
  2*der(w2) = T1 - T2
  3*der(w3) = T2
  0 = if s1 then w1 - w2 else T1 - 2
  0 = if s2 then w2 - w3 else T2 - 1
  new(s1) = s1 or w1 < w2
  new(s2) = s2 or w2 < w3
  P1 = T1*(w1 - w2)
  P2 = T2*(w2 - w3)
  init(w1) = 10
  init(w2) = 1
end";
    for exponent in 4..=11 {
        let tolerance = 10f64.powi(-exponent);
        let trial = Trial::of(text, 20.0).tolerance(tolerance, tolerance);
        let result = trial.run(&["w1", "w2", "w3"]);
        assert_eq!(result.failure, None, "{tolerance:e}");
        // (10 + 2)/6 in the end.
        for speed in result.last() {
            assert!(
                (speed - 2.0).abs() < 20.0 * tolerance,
                "{speed} at {tolerance:e}"
            );
        }
    }
}
