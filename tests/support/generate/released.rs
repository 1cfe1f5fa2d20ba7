//! Random plane mechanisms in Cartesian coordinates: masses on rods, some of which let go at an instant or when they are pulled too hard.

use std::fmt::Write;

use crate::support::random::Random;

/// A rod from a mass to another one, or to a fixed point.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    pub from: usize,
    pub to: Option<usize>,
    pub fixed: [f64; 2],
    pub release: Release,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Release {
    Never,
    At(f64),
    /// Above this force for each unit of length.
    Above(f64),
}

#[derive(Clone, Debug)]
pub struct Mechanism {
    pub masses: Vec<f64>,
    pub places: Vec<[f64; 2]>,
    pub rods: Vec<Rod>,
    /// Springs to fixed points: mass, stiffness, place.
    pub springs: Vec<(usize, f64, [f64; 2])>,
}

pub const UNTIL: f64 = 1.2;
pub const GRAVITY: f64 = 9.81;

impl Mechanism {
    pub fn generate(random: &mut Random) -> Mechanism {
        let mut r = |low: f64, high: f64| (random.real(low, high) * 1e4).round() / 1e4;
        let n = 1 + r(0.0, 3.9) as usize;
        let mut mechanism = Mechanism {
            masses: (0..n).map(|_| r(0.3, 2.0)).collect(),
            places: Vec::new(),
            rods: Vec::new(),
            springs: Vec::new(),
        };
        for at in 0..n {
            let above = at.checked_sub(1).filter(|_| r(0.0, 1.0) < 0.8);
            let origin = match above {
                Some(other) => mechanism.places[other],
                None => [r(-1.0, 1.0), r(-0.5, 0.5)],
            };
            let (length, angle) = (r(0.3, 1.0), r(-1.6, 1.6));
            let place = [
                origin[0] + length * angle.sin(),
                origin[1] - length * angle.cos(),
            ];
            mechanism
                .places
                .push(place.map(|x| (x * 1e6).round() / 1e6));
            let release = match r(0.0, 1.0) {
                x if x < 0.55 => Release::At(r(0.1, 0.9)),
                x if x < 0.75 => Release::Above(r(5.0, 60.0)),
                _ => Release::Never,
            };
            mechanism.rods.push(Rod {
                from: at,
                to: above,
                fixed: origin,
                release,
            });
            if r(0.0, 1.0) < 0.25 {
                let spring = (at, r(2.0, 20.0), [r(-1.0, 1.0), r(-1.0, 1.0)]);
                mechanism.springs.push(spring);
            }
        }
        mechanism
    }

    pub fn end(&self, rod: &Rod, x: &dyn Fn(usize) -> [f64; 2]) -> [f64; 2] {
        rod.to.map_or(rod.fixed, x)
    }

    pub fn text(&self) -> String {
        let mut text = String::from("model M\n");
        for at in 0..self.masses.len() {
            let _ = writeln!(text, "  local x{at}, y{at}, vx{at}, vy{at}");
        }
        for (at, rod) in self.rods.iter().enumerate() {
            let _ = writeln!(text, "  local F{at}, dx{at}, dy{at}");
            let [ax, ay] = rod.fixed;
            let from = rod.from;
            let _ = match rod.to {
                Some(to) => writeln!(
                    text,
                    "  dx{at} = x{from} - x{to}\n  dy{at} = y{from} - y{to}"
                ),
                None => writeln!(
                    text,
                    "  dx{at} = x{from} - ({ax})\n  dy{at} = y{from} - ({ay})"
                ),
            };
            let x = |mass: usize| self.places[mass];
            let [bx, by] = self.end(rod, &x);
            let [px, py] = self.places[from];
            let square = (px - bx).powi(2) + (py - by).powi(2);
            let constraint = format!("dx{at}**2 + dy{at}**2 - {square}");
            let _ = match rod.release {
                Release::Never => writeln!(text, "  {constraint} = 0"),
                Release::At(time) => {
                    writeln!(text, "  0 = if Time < {time} then {constraint} else F{at}")
                }
                Release::Above(most) => writeln!(
                    text,
                    "  local gone{at}\n  0 = if gone{at} then F{at} else {constraint}\n  new(gone{at}) = gone{at} or F{at} > {most}"
                ),
            };
        }
        for (at, m) in self.masses.iter().enumerate() {
            let (mut fx, mut fy) = (String::new(), format!(" - {}", m * GRAVITY));
            for (rod, link) in self.rods.iter().enumerate() {
                let sign = match () {
                    () if link.from == at => "-",
                    () if link.to == Some(at) => "+",
                    () => continue,
                };
                let _ = write!(fx, " {sign} F{rod}*dx{rod}");
                let _ = write!(fy, " {sign} F{rod}*dy{rod}");
            }
            for (_, k, [ax, ay]) in self.springs.iter().filter(|spring| spring.0 == at) {
                let _ = write!(fx, " - {k}*(x{at} - ({ax}))");
                let _ = write!(fy, " - {k}*(y{at} - ({ay}))");
            }
            let [x, y] = self.places[at];
            let _ = writeln!(
                text,
                "  der(x{at}) = vx{at}\n  der(y{at}) = vy{at}\n  {m}*der(vx{at}) = 0{fx}\n  {m}*der(vy{at}) = 0{fy}\n  init(x{at}) = {x}\n  init(y{at}) = {y}\n  init(vx{at}) = 0\n  init(vy{at}) = 0"
            );
        }
        text + "end\n"
    }
}
