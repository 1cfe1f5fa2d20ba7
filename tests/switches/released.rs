//! Point masses on rods in the plane, some of which are let go at given times: what is left of the constraints by
//! rounding is no jump, and no rod continues as its mirror image. Judged by Runge and Kutta's method with the forces of
//! the rods as multipliers.
//!
//! `BGM_CASES=1000` makes so many, `BGM_FIRST` is the first one.

use nalgebra::{DMatrix, DVector};

use crate::support::random::Random;
use crate::support::trial::Trial;
use crate::trains::seeds;

const UNTIL: f64 = 2.0;
const G: f64 = 9.81;

#[derive(Debug)]
struct Rod {
    /// `None` is the pivot at the origin.
    from: Option<usize>,
    to: usize,
    let_go: Option<f64>,
}

#[derive(Debug)]
struct Mechanism {
    masses: Vec<f64>,
    places: Vec<[f64; 2]>,
    speeds: Vec<[f64; 2]>,
    rods: Vec<Rod>,
}

impl Mechanism {
    fn random(random: &mut Random) -> Mechanism {
        use std::f64::consts::{FRAC_PI_2, PI};
        let count = random.within(1, 4);
        let mut made = Mechanism {
            masses: (0..count).map(|_| random.number(0.2, 3.0)).collect(),
            places: Vec::new(),
            speeds: Vec::new(),
            rods: Vec::new(),
        };
        for to in 0..count {
            let from = match to {
                0 => None,
                _ if random.chance(70) => Some(to - 1),
                _ => Some(random.below(to)),
            };
            let base = from.map_or([0.0, 0.0], |from| made.places[from]);
            let angle = match random.below(4) {
                0 => 0.0,
                1 => -FRAC_PI_2,
                2 => random.real(-PI, PI),
                _ => random.real(-PI, 0.0),
            };
            let length = random.number(0.3, 2.0);
            let place = [
                base[0] + length * angle.cos(),
                base[1] + length * angle.sin(),
            ];
            made.places.push(place);
            let let_go = random.chance(65).then(|| random.number(0.2, 1.8));
            made.rods.push(Rod { from, to, let_go });
        }
        // Turning as a whole, the masses keep their distances.
        let speed = if random.chance(60) {
            0.0
        } else {
            random.number(-3.0, 3.0)
        };
        made.speeds = (made.places.iter())
            .map(|[x, y]| [-speed * y, speed * x])
            .collect();
        made
    }

    fn text(&self) -> String {
        let mut text = String::from("model M\n");
        let place = |of: Option<usize>, axis: &str| match of {
            Some(at) => format!("{axis}{at}"),
            None => "0".to_string(),
        };
        for (at, rod) in self.rods.iter().enumerate() {
            let base = rod.from.map_or([0.0, 0.0], |from| self.places[from]);
            let [dx, dy] = [0, 1].map(|axis| self.places[rod.to][axis] - base[axis]);
            let held = format!(
                "(x{to} - {x})**2 + (y{to} - {y})**2 - {square:?}",
                to = rod.to,
                x = place(rod.from, "x"),
                y = place(rod.from, "y"),
                square = dx * dx + dy * dy
            );
            text.push_str(&match rod.let_go {
                Some(time) => format!("  0 = if Time < {time:?} then {held} else F{at}\n"),
                None => format!("  0 = {held}\n"),
            });
        }
        for (at, mass) in self.masses.iter().enumerate() {
            text.push_str(&format!("  local x{at}, y{at}, vx{at}, vy{at}, F{at}\n"));
            for (axis, number) in [("x", 0), ("y", 1)] {
                let mut force = if number == 1 {
                    format!("-{mass:?}*{G}")
                } else {
                    "0".into()
                };
                for (number, rod) in self.rods.iter().enumerate() {
                    let along = format!("F{number}*({axis}{} - {})", rod.to, place(rod.from, axis));
                    if rod.to == at {
                        force.push_str(&format!(" - {along}"));
                    }
                    if rod.from == Some(at) {
                        force.push_str(&format!(" + {along}"));
                    }
                }
                text.push_str(&format!("  der({axis}{at}) = v{axis}{at}\n"));
                text.push_str(&format!("  {mass:?}*der(v{axis}{at}) = {force}\n"));
                text.push_str(&format!(
                    "  init({axis}{at}) = {:?}\n",
                    self.places[at][number]
                ));
                text.push_str(&format!(
                    "  init(v{axis}{at}) = {:?}\n",
                    self.speeds[at][number]
                ));
            }
        }
        text.push_str("end\n");
        text
    }

    /// Rates of places and speeds.
    fn rates(&self, state: &DVector<f64>, time: f64) -> DVector<f64> {
        let count = 2 * self.masses.len();
        let rods: Vec<&Rod> = (self.rods.iter())
            .filter(|rod| rod.let_go.is_none_or(|let_go| time < let_go))
            .collect();
        let size = count + rods.len();
        let mut matrix = DMatrix::zeros(size, size);
        let mut right = DVector::zeros(size);
        for (at, &mass) in self.masses.iter().enumerate() {
            matrix[(2 * at, 2 * at)] = mass;
            matrix[(2 * at + 1, 2 * at + 1)] = mass;
            right[2 * at + 1] = -mass * G;
        }
        for (row, rod) in rods.iter().enumerate() {
            for axis in 0..2 {
                let of = |first: usize| {
                    let base = rod.from.map_or(0.0, |from| state[first + 2 * from + axis]);
                    state[first + 2 * rod.to + axis] - base
                };
                let (apart, speed) = (of(0), of(count));
                let ends = [(Some(rod.to), apart), (rod.from, -apart)];
                for (mass, by) in ends {
                    let Some(mass) = mass else { continue };
                    matrix[(2 * mass + axis, count + row)] = by;
                    matrix[(count + row, 2 * mass + axis)] = by;
                }
                right[count + row] -= speed * speed;
            }
        }
        let found = matrix.lu().solve(&right).expect("rods have forces");
        let mut rates = DVector::zeros(2 * count);
        rates
            .rows_mut(0, count)
            .copy_from(&state.rows(count, count));
        rates
            .rows_mut(count, count)
            .copy_from(&found.rows(0, count));
        rates
    }

    fn step(&self, state: &mut DVector<f64>, (from, to): (f64, f64)) {
        // Rods are let go between steps: the middle tells which are held.
        let (h, middle) = (to - from, 0.5 * (from + to));
        let k1 = self.rates(state, middle);
        let k2 = self.rates(&(&*state + 0.5 * h * &k1), middle);
        let k3 = self.rates(&(&*state + 0.5 * h * &k2), middle);
        let k4 = self.rates(&(&*state + h * &k3), middle);
        *state += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
}

#[test]
fn rods_that_are_let_go() {
    /// Later, chains swing so wildly that tolerances tell.
    const CALM: f64 = 1.2;
    let mut wrong = Vec::new();
    for seed in seeds(30) {
        let made = Mechanism::random(&mut Random::new(seed));
        let count = made.masses.len();
        let names: Vec<String> = (["x", "y"].iter())
            .flat_map(|axis| (0..count).map(move |at| format!("{axis}{at}")))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let result = Trial::of(&made.text(), UNTIL).points(21).run(&names);
        if let Some(failure) = result.failure {
            wrong.push(format!("{seed}: {failure}"));
            continue;
        }
        let all = made.places.iter().chain(&made.speeds).flatten().copied();
        let mut state = DVector::from_iterator(4 * count, all);
        let mut time = 0.0;
        for (&row, values) in result.times.iter().zip(&result.rows) {
            let mut stops: Vec<f64> = made.rods.iter().filter_map(|rod| rod.let_go).collect();
            stops.retain(|&stop| stop > time && stop < row);
            stops.push(row);
            stops.sort_by(f64::total_cmp);
            for stop in stops {
                let steps = ((stop - time) / 5e-4).ceil() as usize;
                let begun = time;
                for at in 0..steps {
                    let to = begun + (stop - begun) * (at + 1) as f64 / steps as f64;
                    made.step(&mut state, (time, to));
                    time = to;
                }
            }
            if count > 2 && row > CALM {
                break;
            }
            let off = (0..count).fold(0.0, |most: f64, at| {
                let off =
                    (values[at] - state[2 * at]).hypot(values[count + at] - state[2 * at + 1]);
                most.max(off)
            });
            if off > 1e-3 {
                wrong.push(format!("{seed}: off by {off:e} at {row}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Four masses in a chain of Cartesian links, the first and the last of which are upright and level.
#[test]
fn four_cartesian_links() {
    let made = Mechanism {
        masses: vec![1.0, 2.0, 2.0, 1.0],
        places: vec![
            [-0.404, -0.294],
            [-0.404, -1.294],
            [-0.872, -1.119],
            [-0.502, -1.119],
        ],
        speeds: vec![[0.0, 0.0]; 4],
        rods: (0..4)
            .map(|to: usize| Rod {
                from: to.checked_sub(1),
                to,
                let_go: None,
            })
            .collect(),
    };
    let result = Trial::of(&made.text(), 1.0).points(11).run(&["x3", "y3"]);
    let all = made.places.iter().chain(&made.speeds).flatten().copied();
    let mut state = DVector::from_iterator(16, all);
    for at in 0..2_000 {
        made.step(&mut state, (f64::from(at) * 5e-4, f64::from(at + 1) * 5e-4));
    }
    let last = result.last();
    assert!(
        (last[0] - state[6]).abs() < 1e-5,
        "{} {}",
        last[0],
        state[6]
    );
    assert!(
        (last[1] - state[7]).abs() < 1e-5,
        "{} {}",
        last[1],
        state[7]
    );
}
