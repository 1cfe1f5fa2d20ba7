//! From text to the solved listing of models whose index is reduced: many storages, one state.
//!
//! `cargo bench --bench reduce` prints the table that docs/performance.md keeps. The ladder of
//! resistors and capacitors, in which every storage is a state, is measured beside them.

mod common;
#[path = "common/solving.rs"]
mod solving;

use std::collections::HashMap;

use common::{Shunt, asked, quick, written_out};

/// Types of a drive: what turns has a speed w and a torque t.
const DRIVE: &str = "model type Inertia
  cut A(w/t)
  parameter J = 1
  J*der(w) = t
end

model type Gear
  cut A(w1/t1) B(w2/-t2)
  main path P <A - B>
  parameter n = 1
  w1 = n*w2
  t2 = n*t1
end

model type Motor
  cut A(w/-t)
  terminal u
  t = u
end

model Drive
  input u
  submodel (Motor) M
  node n0
  M.u = u
  connect M at n0
";

/// A motor, and inertias behind it, each geared to the one before.
fn gears(size: usize) -> String {
    let mut text = format!("{DRIVE}  submodel (Inertia) J0\n  connect J0 at n0\n");
    for k in 1..=size {
        text.push_str(&format!(
            "  submodel (Gear) G{k}(n = 1.1)\n  submodel (Inertia) J{k}(J = 2)\n  node n{k}\n"
        ));
    }
    for k in 1..=size {
        text.push_str(&format!(
            "  connect G{k} from n{} to n{k}\n  connect J{k} at n{k}\n",
            k - 1
        ));
    }
    text + "end\n"
}

/// A motor, and inertias on its shaft.
fn shaft(size: usize) -> String {
    let mut text = DRIVE.to_string();
    for k in 1..=size {
        text.push_str(&format!(
            "  submodel (Inertia) J{k}(J = 2)\n  connect J{k} at n0\n"
        ));
    }
    text + "end\n"
}

const CIRCUIT: &str = "@electrical

model Circuit
  submodel (SineVoltage) U0
  submodel (Resistor) R0(R = 10)
  submodel (Ground) G
  node n0
  connect G - U0 - R0 - n0
";

/// Capacitors side by side, fed through a resistor.
fn parallel(size: usize) -> String {
    let mut text = CIRCUIT.to_string();
    for k in 1..=size {
        text.push_str(&format!(
            "  submodel (Capacitor) C{k}(C = 1E-6)\n  connect C{k} from n0 to G\n"
        ));
    }
    text + "end\n"
}

/// Coils one behind the other, fed through a resistor.
fn series(size: usize) -> String {
    let mut text = CIRCUIT.to_string();
    for k in 1..=size {
        text.push_str(&format!(
            "  submodel (Inductor) L{k}(L = 1E-3)\n  node n{k}\n  connect L{k} from n{} to n{k}\n",
            k - 1
        ));
    }
    text + &format!("  connect G at n{size}\nend\n")
}

const KINDS: [&str; 5] = ["ladder", "gears", "shaft", "capacitors", "coils"];

fn main() {
    if let Some((kind, size)) = asked() {
        return solving::measure(match &kind[..] {
            "ladder" => written_out(size, Shunt::Capacitor),
            "gears" => gears(size),
            "shaft" => shaft(size),
            "capacitors" => parallel(size),
            _ => series(size),
        });
    }
    let sizes: &[usize] = match quick() {
        true => &[20],
        false => &[1_000, 10_000, 100_000],
    };
    let runs: Vec<(&str, usize)> = (KINDS.iter())
        .flat_map(|&kind| sizes.iter().map(move |&size| (kind, size)))
        .collect();
    let heading =
        "storages in     number      time per storage     memory    listing   exponent   of ladder";
    let mut ladders: HashMap<usize, f64> = HashMap::new();
    solving::table(heading, &runs, |kind, size, measured| {
        if kind == "ladder" {
            ladders.insert(size, measured.seconds);
            assert_eq!(measured.states, size, "all are states");
            return String::new();
        }
        assert_eq!(measured.states, 1, "{kind} {size}: one state is left");
        format!("{:>12.2}", measured.seconds / ladders[&size])
    });
}
