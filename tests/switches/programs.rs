//! Programs of random circuits with switches do what the simulator does, in C and in Python: or they are refused.

use crate::circuit::Circuit;
use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::programs::{Tried, compared, has};
use crate::support::random::Random;

/// Nothing happens here.
const RUN: [&str; 4] = ["--until", "3.0137", "--points", "31"];

fn tried(name: &'static str, cases: u64, edges: bool) {
    if !has("cc") {
        return;
    }
    let python = has("python3");
    let family = Family {
        name,
        cases,
        refused: 10.0,
        open: &[],
    };
    let circuit = |seed| Circuit::with_edges(&mut Random::new(seed), edges);
    let judged = |circuit: &Circuit, seed: u64| {
        compared(Tried {
            name: &format!("circuit-{edges}-{seed}"),
            text: &circuit.text(false),
            run: &RUN,
            python: python && seed % 4 == 0,
            part: 1e-6,
        })
    };
    campaign(
        family,
        |seed| judged(&circuit(seed), seed),
        |seed, verdict| match verdict {
            Verdict::Wrong(_) => {
                let same = |other: &Circuit| judged(other, seed).is_like(verdict);
                circuit(seed).shrunk(&same).text(false)
            }
            _ => circuit(seed).text(false),
        },
    );
}

#[test]
fn programs_of_circuits_agree_with_the_simulator() {
    tried("programs of circuits with switches", 24, false);
}

#[test]
fn programs_of_circuits_with_steps_and_pulses_agree() {
    tried(
        "programs of circuits with switches, steps and pulses",
        12,
        true,
    );
}
