//! Programs of random models do what the simulator does, at events too: clutches, impacts, `when` and `sample` logic, exponential
//! diodes, linear networks whose sources step. Where a program cannot do it, it says so by name.

use crate::support::campaign::{Family, campaign};
use crate::support::generate::diodes::Circuit;
use crate::support::generate::linear::{Kinds, Network};
use crate::support::generate::logic::Case;
use crate::support::programs::{Tried, compared, has};
use crate::support::random::Random;

fn tried(family: Family, run: &[&str], text: impl Fn(u64) -> String) {
    if !has("cc") {
        return;
    }
    let python = has("python3");
    let judged = |seed: u64| {
        compared(Tried {
            name: &format!("{}-{seed}", family.name.replace([' ', ','], "-")),
            text: &text(seed),
            run,
            python: python && seed.is_multiple_of(4),
            part: 1e-5,
        })
    };
    campaign(family, judged, |seed, _| text(seed));
}

#[test]
fn logic() {
    let family = Family {
        name: "programs of clutches, impacts, when and sample",
        cases: 3,
        refused: 5.0,
        open: &[],
    };
    let text = |seed| Case::generate(&mut Random::new(seed)).text().0;
    tried(family, &["--until", "2.0071", "--points", "21"], text);
}

#[test]
fn diodes() {
    let family = Family {
        name: "programs of exponential diodes",
        cases: 3,
        refused: 5.0,
        open: &[1],
    };
    let text = |seed| Circuit::generate(&mut Random::new(seed), seed % 2 == 0).text();
    tried(family, &["--until", "0.02", "--points", "21"], text);
}

#[test]
fn networks() {
    let family = Family {
        name: "programs of R, L, C with steps and pulses",
        cases: 3,
        refused: 50.0,
        open: &[],
    };
    let kinds = Kinds {
        two_ports: false,
        bonds: false,
        steps: 100,
    };
    let text = |seed| Network::generate(&mut Random::new(seed), kinds).text();
    tried(family, &["--until", "1.9137", "--points", "21"], text);
}
