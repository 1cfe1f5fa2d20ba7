//! Loops with relations: several may have to change together. What a run finds is judged by all combinations of truths, each of
//! which makes a linear system.

use crate::support::random::Random;
use crate::support::trial::{Trial, within};

/// A Schmitt trigger: at the fold the one consistent answer is on the other side.
#[test]
fn schmitt_trigger() {
    let text = "model M
 local z, y, q
 z = 0.5*y + sin(Time)
 y = if 10*z > 1 then 1 elseif 10*z < -1 then -1 else 10*z
 der(q) = y
end";
    let result = Trial::of(text, 9.0).points(901).run(&["y", "z"]);
    assert_eq!(result.failure, None);
    // From the start in the middle until sin(Time) = 0.4; then from one side to the other where sin(Time) = -+0.4.
    let first = f64::asin(0.4);
    let pi = std::f64::consts::PI;
    for (&time, row) in result.times.iter().zip(&result.rows) {
        let expected = match time {
            t if t < first => -2.5 * t.sin(),
            t if t < pi + first => 1.0,
            t if t < 2.0 * pi + first => -1.0,
            _ => 1.0,
        };
        let near = [first, pi + first, 2.0 * pi + first];
        if near.iter().any(|fold| (time - fold).abs() < 1e-6) {
            continue;
        }
        within((row[0] - expected).abs(), 1e-9);
        within((row[1] - 0.5 * row[0] - time.sin()).abs(), 1e-9);
    }
    let told = &result.summary.notes;
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("`10*z > 1` became true"), "{told:?}");
}

/// The guess is a solution, and taken; without it another one is found.
#[test]
fn guess_that_solves() {
    let text = "model M
 local u, i, q
 i = if u > 0.5 then 4*(u - 0.5) else if u > -3 then 0 else u + 3
 i*(u - 2.5) + 0*Time = 0
 der(q) = i
 init(u) = GUESS
end";
    let first = |guess: &str| {
        Trial::of(&text.replace("GUESS", guess), 0.1)
            .run(&["u"])
            .rows[0][0]
    };
    within((first("0") - 0.0).abs(), 0.0);
    within((first("-1.5") + 1.5).abs(), 0.0);
    within((first("2.4") - 2.5).abs(), 1e-9);
}

/// y = p where z > c, else q + r*z; z = sum of a*y, and b.
struct Relays {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    c: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    r: Vec<f64>,
}

impl Relays {
    fn new(random: &mut Random) -> Relays {
        let count = random.within(1, 4);
        let mut list = |low: f64, high: f64| -> Vec<f64> {
            (0..count).map(|_| random.number(low, high)).collect()
        };
        let (b, c, p, q) = (
            list(-2.0, 2.0),
            list(-1.0, 1.0),
            list(-2.0, 2.0),
            list(-2.0, 2.0),
        );
        let r = list(-1.0, 1.0);
        let a = (0..count).map(|_| list(-1.5, 1.5)).collect();
        Relays { a, b, c, p, q, r }
    }

    fn text(&self) -> String {
        let count = self.b.len();
        let mut text = String::from("model M\n  local x\n  der(x) = 1\n");
        for k in 0..count {
            let sum: Vec<String> = (0..count)
                .map(|j| format!("({})*y{j}", self.a[k][j]))
                .collect();
            text += &format!(
                "  local y{k}, z{k}\n  z{k} = {} + ({})\n",
                sum.join(" + "),
                self.b[k]
            );
            text += &format!(
                "  y{k} = if z{k} > {} then {} else {} + ({})*z{k}\n",
                self.c[k], self.p[k], self.q[k], self.r[k]
            );
        }
        text + "end"
    }

    /// z for each combination of truths that is consistent.
    fn solutions(&self) -> Vec<Vec<f64>> {
        let count = self.b.len();
        (0..1u32 << count)
            .filter_map(|truths| {
                let holds = |k: usize| truths >> k & 1 == 1;
                // z - sum a*(constant + slope*z) = b
                let mut matrix = vec![vec![0.0; count + 1]; count];
                for k in 0..count {
                    matrix[k][k] += 1.0;
                    matrix[k][count] += self.b[k];
                    for j in 0..count {
                        let (constant, slope) = match holds(j) {
                            true => (self.p[j], 0.0),
                            false => (self.q[j], self.r[j]),
                        };
                        matrix[k][count] += self.a[k][j] * constant;
                        matrix[k][j] -= self.a[k][j] * slope;
                    }
                }
                let z = solved(matrix)?;
                let consistent = (0..count).all(|k| (z[k] > self.c[k]) == holds(k));
                consistent.then_some(z)
            })
            .collect()
    }

    /// Too near to a tie or a singular matrix to be judged.
    fn is_clear(&self) -> bool {
        let solutions = self.solutions();
        (solutions.iter()).all(|z| z.iter().zip(&self.c).all(|(z, c)| (z - c).abs() > 1e-6))
    }
}

/// Gaussian elimination; `None` if it is nearly singular.
fn solved(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let count = matrix.len();
    for at in 0..count {
        let pivot =
            (at..count).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))?;
        matrix.swap(at, pivot);
        if matrix[at][at].abs() < 1e-9 {
            return None;
        }
        for below in 0..count {
            if below != at {
                let factor = matrix[below][at] / matrix[at][at];
                for column in at..=count {
                    let above = matrix[at][column];
                    matrix[below][column] -= factor * above;
                }
            }
        }
    }
    Some(
        (0..count)
            .map(|at| matrix[at][count] / matrix[at][at])
            .collect(),
    )
}

/// A run starts wherever there is a solution, and with one of them; where there is none it says so.
#[test]
fn random_relays() {
    let cases = std::env::var("BGM_CASES").map_or(40, |cases| cases.parse().expect("a number"));
    let mut none = 0;
    for seed in 0..cases {
        let relays = Relays::new(&mut Random::new(seed));
        if !relays.is_clear() {
            continue;
        }
        let solutions = relays.solutions();
        let names: Vec<String> = (0..relays.b.len()).map(|k| format!("z{k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = relays.text();
        let result = Trial::of(&text, 0.1).run(&names);
        if solutions.is_empty() {
            none += 1;
            let code = result.code.unwrap_or("none");
            assert!(
                ["E0804", "E0902", "E0803"].contains(&code),
                "seed {seed}: {code}\n{text}"
            );
            continue;
        }
        assert_eq!(result.failure, None, "seed {seed}: {solutions:?}\n{text}");
        let near = |z: &Vec<f64>| {
            z.iter()
                .zip(&result.rows[0])
                .all(|(a, b)| (a - b).abs() < 1e-7)
        };
        assert!(
            solutions.iter().any(near),
            "seed {seed}: {:?} {solutions:?}\n{text}",
            result.rows[0]
        );
    }
    assert!(none > 0, "some have no solution");
}

/// Saturations in loops with sines: there is always a solution, and a run never ends before its time.
#[test]
fn random_folds() {
    let cases = std::env::var("BGM_CASES").map_or(30, |cases| cases.parse().expect("a number"));
    let mut told = 0;
    for seed in 0..cases {
        let mut random = Random::new(seed + 1_000);
        let count = random.within(1, 3);
        let mut text = String::from("model M\n  local x\n  der(x) = 1\n");
        let mut rows: Vec<(Vec<f64>, f64, f64, f64, f64)> = Vec::new();
        for k in 0..count {
            let a: Vec<f64> = (0..count)
                .map(|j| match j == k {
                    true => random.number(0.1, 1.2),
                    false => random.number(-0.6, 0.6),
                })
                .collect();
            let (amplitude, speed, phase) = (
                random.number(0.5, 3.0),
                random.number(0.5, 2.0),
                random.number(0.0, 3.0),
            );
            let gain = random.number(0.5, 10.0);
            let sum: Vec<String> = a
                .iter()
                .enumerate()
                .map(|(j, a)| format!("({a})*y{j}"))
                .collect();
            text += &format!(
                "  local y{k}, z{k}\n  z{k} = {} + {amplitude}*sin({speed}*Time + {phase})\n  y{k} = if {gain}*z{k} > 1 then 1 elseif {gain}*z{k} < -1 then -1 else {gain}*z{k}\n",
                sum.join(" + ")
            );
            rows.push((a, amplitude, speed, phase, gain));
        }
        text += "end";
        let names: Vec<String> = (0..count)
            .flat_map(|k| [format!("y{k}"), format!("z{k}")])
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let result = Trial::of(&text, 6.0).points(61).run(&names);
        assert_eq!(result.failure, None, "seed {seed}\n{text}");
        told += result.summary.notes.len();
        for (time, row) in result.times.iter().zip(&result.rows) {
            for (k, (a, amplitude, speed, phase, gain)) in rows.iter().enumerate() {
                let (y, z) = (row[2 * k], row[2 * k + 1]);
                let sum: f64 = (0..count).map(|j| a[j] * row[2 * j]).sum();
                let off = (z - sum - amplitude * (speed * time + phase).sin()).abs();
                assert!(off < 1e-7, "seed {seed} at {time}: {off}\n{text}");
                let off = (y - (gain * z).clamp(-1.0, 1.0)).abs();
                assert!(off < 1e-6, "seed {seed} at {time}: y{k} {y} z {z}\n{text}");
            }
        }
    }
    assert!(told > 0, "some folds are searched");
}
