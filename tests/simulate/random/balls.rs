//! Equal balls in a row that hit each other elastically, some of which touch from the start, against a closed form: they exchange
//! their speeds, so the balls in order are where balls that pass through each other would be, in order.

use std::fmt::Write;

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::random::Random;
use crate::support::trial::Trial;

const UNTIL: f64 = 4.0;
const POINTS: usize = 17;

struct Row {
    places: Vec<f64>,
    speeds: Vec<f64>,
}

impl Row {
    /// Balls in order; those that touch have one speed.
    fn generate(random: &mut Random) -> Row {
        let mut row = Row {
            places: Vec::new(),
            speeds: Vec::new(),
        };
        let far = if random.chance(30) { 100.0 } else { 0.0 };
        let mut place = far + random.number(-2.0, 2.0);
        for _ in 0..random.within(2, 4) {
            let speed = match random.chance(40) {
                true => 0.0,
                false => random.number(-2.0, 2.0),
            };
            for _ in 0..random.within(1, 3) {
                row.places.push(place);
                row.speeds.push(speed);
            }
            place += random.number(0.2, 2.0);
        }
        row
    }

    fn text(&self) -> String {
        let mut text = String::from("model M\n");
        for (at, (x, v)) in self.places.iter().zip(&self.speeds).enumerate() {
            let _ = writeln!(
                text,
                "  local x{at}, v{at}\n  der(x{at}) = v{at}\n  der(v{at}) = 0\n  init(x{at}) = {x}\n  init(v{at}) = {v}"
            );
        }
        for b in 1..self.places.len() {
            let a = b - 1;
            let _ = writeln!(
                text,
                "  when x{a} > x{b} and v{a} > v{b} then\n    init(v{a}) = v{b}\n    init(v{b}) = v{a}\n  endwhen"
            );
        }
        text + "end\n"
    }

    fn at(&self, time: f64) -> Vec<f64> {
        let mut all: Vec<f64> = (self.places.iter().zip(&self.speeds))
            .map(|(x, v)| x + v * time)
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

fn judged(row: &Row) -> Verdict {
    let names: Vec<String> = (0..row.places.len()).map(|at| format!("x{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let result = Trial::of(&row.text(), UNTIL).points(POINTS).run(&names);
    if let Some(message) = result.failure {
        return Verdict::Refused(result.code.unwrap_or("none").into(), message);
    }
    for (&time, found) in result.times.iter().zip(&result.rows) {
        for ((name, found), expected) in names.iter().zip(found).zip(row.at(time)) {
            if !((found - expected).abs() <= 1e-6 * (1.0 + expected.abs())) {
                return Verdict::Wrong(format!(
                    "`{name}` is {found} at Time = {time}, not {expected}"
                ));
            }
        }
    }
    Verdict::Agrees
}

#[test]
fn balls_that_touch() {
    let family = Family {
        name: "balls that touch",
        cases: 40,
        refused: 0.0,
        open: &[],
    };
    let row = |seed| Row::generate(&mut Random::new(seed));
    campaign(
        family,
        |seed| judged(&row(seed)),
        |seed, _| row(seed).text(),
    );
}
