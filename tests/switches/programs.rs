//! Programs of random circuits with switches do what the simulator does, in C and in Python: or they are refused.

use crate::circuit::Circuit;
use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::programs::{self, Tried, has};
use crate::support::random::Random;

/// Nothing happens here.
const RUN: [&str; 4] = ["--until", "3.0137", "--points", "31"];

/// What the model `M` in a text comes to in programs, and why; its files have a folder of their own.
pub fn compared(text: &str, name: &str, python: bool) -> (&'static str, Option<String>) {
    match judged(text, name, python) {
        Verdict::Agrees => ("agrees", None),
        Verdict::Open(why) => (why, None),
        Verdict::Refused(..) | Verdict::Singular(_) => ("refused", None),
        Verdict::Wrong(why) => ("differs", Some(why)),
    }
}

fn judged(text: &str, name: &str, python: bool) -> Verdict {
    programs::compared(Tried {
        name,
        text,
        run: &RUN,
        python,
        part: 1e-6,
    })
}

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
        let name = format!("circuit-{edges}-{seed}");
        judged(&circuit.text(false), &name, python && seed % 4 == 0)
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
        4,
        true,
    );
}
