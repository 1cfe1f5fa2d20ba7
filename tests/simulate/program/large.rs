//! Large loops, and loops that begin far from their solutions: what is found satisfies the equations.

use bgm::evaluate::Point;
use bgm::expr::Value;
use bgm::passes::blocks::{Block, Method};
use bgm::program::machine::{Extent, Machine};

use super::slopes;
use super::subject::{Subject, Tally};
use crate::support::random::Random;

fn subject(text: &str) -> Subject {
    Subject::of(super::flat(text)).expect(text)
}

/// By how much the worst of the equations does not hold, beside its terms.
fn residual(subject: &Subject, machine: &Machine<'_>, time: f64) -> f64 {
    let flat = &subject.solved.flat;
    let mut point = Point::new(&subject.solved);
    point.time = time;
    for (&leaf, &register) in subject.leaves.iter().zip(&subject.program.columns) {
        point.guess(leaf, Value::Real(machine.get(register)));
    }
    let mut worst = 0.0f64;
    for equation in &flat.equations {
        let sides = [equation.left, equation.right];
        let [left, right] = sides.map(|side| point.number(&flat.exprs, side));
        let (left, right) = (left.expect("a number"), right.expect("a number"));
        worst = worst.max((left - right).abs() / (left.abs() + right.abs() + 1.0));
    }
    worst
}

/// A ladder of resistors with a capacitor at its end.
fn ladder(stages: usize) -> String {
    let mut text = String::from("@electrical\nmodel M\n  submodel (VoltageSource) U\n");
    text += "  submodel (Ground) G\n  submodel (Capacitor) C(C = 1)\n  node n0\n";
    text += "  U.E0 = sin(Time) + 2\n  connect G - U - n0\n";
    for k in 1..=stages {
        text += &format!("  submodel (Resistor) R{k}(R = {})\n", 1 + k % 3);
        text += &format!("  submodel (Resistor) S{k}(R = 2)\n  node n{k}\n");
        text += &format!("  connect R{k} from n{} to n{k}\n", k - 1);
        text += &format!("  connect S{k} from n{k} to G\n");
    }
    text + &format!("  connect C from n{stages} to G\nend\n")
}

fn has_system(subject: &Subject, least: usize) -> bool {
    subject.solved.blocks.iter().any(|block| match block {
        Block::Linear(linear) => {
            matches!(linear.method, Method::System { .. }) && linear.unknowns.len() >= least
        }
        _ => false,
    })
}

#[test]
fn ladders_of_resistors() {
    for stages in [12, 60, 70, 2000] {
        let mut subject = subject(&ladder(stages));
        assert!(has_system(&subject, stages), "{stages}");
        let states = [0.7];
        let mut machine = Machine::new(&subject.program);
        for time in [0.3, 0.8] {
            machine
                .evaluate(time, &states, Extent::All)
                .expect("regular");
            let worst = residual(&subject, &machine, time);
            assert!(worst < 1e-12, "{stages}: {worst}");
        }
        if stages < 100 {
            let mut tally = Tally::default();
            let setting = subject.setting(1, &mut tally).expect("regular");
            slopes::jacobian(&setting, &mut tally).expect("right slopes");
            slopes::along_time(&setting, &mut tally).expect("right slopes");
            assert!(tally.bent == 0 && tally.along > stages);
        }
    }
}

/// A net of squares, each side a resistor of another law, a capacitor at some nodes.
fn grid(width: usize, law: &str, load: &str) -> String {
    let mut text = format!(
        "@electrical\nmodel class (TwoTerminal) Bent\n  parameter R = 1\n  {law}\nend\nmodel M\n"
    );
    text += "  submodel (VoltageSource) U\n  submodel (Ground) G\n  U.E0 = 3*cos(Time)\n";
    let mut number = 0;
    let mut side = |text: &mut String, from: usize, to: usize| {
        number += 1;
        let value = 1.0 + f64::from(number * 7 % 5);
        *text += &format!("  submodel (Bent) B{number}(R = {value})\n");
        *text += &format!("  connect B{number} from n{from} to n{to}\n");
    };
    for at in 0..width * width {
        text += &format!("  node n{at}\n");
        if at % width > 0 {
            side(&mut text, at - 1, at);
        }
        if at >= width {
            side(&mut text, at - width, at);
        }
        text += &format!("  submodel (Resistor) L{at}(R = 5)\n  connect L{at} from n{at} to G\n");
    }
    text += load;
    text + "  connect G - U - n0\nend\n"
}

const CAPACITOR: &str = "  submodel (Capacitor) C(C = 1)\n  connect C from n1 to G\n";

#[test]
fn grids_of_bent_resistors() {
    let laws = [
        "u = R*i*abs(i) + 0.5*i",
        "i = exp(u) - 1",
        "u = R*i + 0.3*i**3",
    ];
    for (law, width) in laws.into_iter().zip([12, 9, 12]) {
        let mut subject = subject(&grid(width, law, CAPACITOR));
        let largest = subject.program.continuous.loops.iter();
        let largest = largest.map(|of| of.unknowns.len()).max();
        assert!(largest > Some(10), "{law}: {largest:?}");
        let mut tally = Tally::default();
        let setting = subject.setting(1, &mut tally).expect(law);
        let states = setting.states.clone();
        let mut machine = setting.machine(1e-2);
        let time = setting.point.time;
        machine.evaluate(time, &states, Extent::All).expect(law);
        slopes::jacobian(&setting, &mut tally).expect(law);
        assert_eq!(tally.bent, 0, "{law}");
        // From one solution to the next.
        for turn in 0..20 {
            let time = time + 0.05 * f64::from(turn);
            machine.evaluate(time, &states, Extent::All).expect(law);
        }
        let time = time + 0.95;
        let values: Vec<f64> = machine.registers.clone();
        drop(machine);
        let mut machine = Machine::new(&subject.program);
        machine.registers = values;
        let worst = residual(&subject, &machine, time);
        assert!(worst < 1e-11, "{law}: {worst}");
    }
}

/// From anywhere: found, or refused.
#[test]
fn what_is_found_from_afar_is_a_solution() {
    let models = [
        "x + exp(x) = 3*s",
        "max(1e12*(x - 1000), x - 1000) + 1 = s - s",
        "max(1e9*(x - 1), 1e-9*(x - 1)) + s = 1",
        "x**3 - x = s/10",
        "ln(x) + x = s",
        "atan(x) = tanh(s)",
        "sqrt(x) + x/10 = abs(s) + 1",
        "x*abs(x) + 1e-6*x = s",
        "x + 1e3*tanh(1e6*(x - 2)) = s",
        "x*exp(40*x) = s + 3",
    ];
    let (mut found, mut refused) = (0, 0);
    for equation in models {
        let text = format!("model M\n  local s, x\n  der(s) = x\n  {equation}\nend\n");
        let subject = subject(&text);
        let Some(of) = subject.program.continuous.loops.first() else {
            continue;
        };
        let mut random = Random::new(3);
        for _ in 0..300 {
            let mut machine = Machine::new(&subject.program);
            let size = 10f64.powf(random.real(-6.0, 6.0));
            for &unknown in &of.unknowns {
                machine.set(unknown, random.real(-size, size));
            }
            let state = random.real(-2.0, 2.0);
            match machine.evaluate(0.0, &[state], Extent::All) {
                Ok(()) => {
                    found += 1;
                    let worst = residual(&subject, &machine, 0.0);
                    let x = machine.get(of.unknowns[0]);
                    assert!(worst < 1e-7, "{equation}: {worst} at s = {state}, x = {x}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!("from afar: {found} found, {refused} refused");
    assert!(found > refused);
}

/// A ring of equations in units of every magnitude: a column of tiny coefficients is no column of zeros.
/// Without its differences it is singular, which is said. The factor is 1, which only a run can see: `s/s` would be cancelled.
#[test]
fn units_play_no_part_in_linear_loops() {
    for size in [10, 100] {
        for part in ["0.3", "-1"] {
            let mut text = String::from("model M\n  local s\n  der(s) = x1\n");
            let unit = |k: usize| 10f64.powi(-9 * (k % 3) as i32);
            for k in 1..=size {
                let next = k % size + 1;
                let (own, other) = (unit(k), unit(next));
                text += &format!(
                    "  local x{k}\n  (abs(s)/s)*{own:e}*x{k} + {part}*{other:e}*x{next} = s\n"
                );
            }
            let subject = subject(&(text + "end\n"));
            assert!(has_system(&subject, size));
            let mut machine = Machine::new(&subject.program);
            let done = machine.evaluate(0.0, &[0.7], Extent::All);
            match part {
                "-1" => assert!(done.is_err(), "{size}"),
                _ => {
                    done.expect("regular");
                    let worst = residual(&subject, &machine, 0.0);
                    assert!(worst < 1e-13, "{size}: {worst}");
                }
            }
        }
    }
}

/// A bridge in balance: the bent resistor across has no current, between potentials that are not zero.
/// Nothing but rounding tells how small is small.
#[test]
fn a_bridge_in_balance() {
    let text = "@electrical
model class (TwoTerminal) Bent
  u = 2*i*abs(i) + 0.5*i
end
model M
  submodel (VoltageSource) U
  submodel (Ground) G
  submodel (Resistor) R1(R = 3), R2(R = 0.7), R3(R = 3), R4(R = 0.7)
  submodel (Bent) B
  node n, p, q
  U.E0 = 230*cos(Time) + s
  local s
  der(s) = B.i
  connect G - U - n
  connect R1 from n to p
  connect R2 from p to G
  connect R3 from n to q
  connect R4 from q to G
  connect B from p to q
end
";
    let subject = subject(text);
    assert!(!subject.program.continuous.loops.is_empty());
    for turn in 0..200 {
        let mut machine = Machine::new(&subject.program);
        let time = 0.03 * f64::from(turn);
        for &unknown in &subject.program.continuous.loops[0].unknowns {
            machine.set(unknown, 1e-3 * f64::from(turn % 7));
        }
        machine.evaluate(time, &[0.3], Extent::All).expect("found");
        let worst = residual(&subject, &machine, time);
        assert!(worst < 1e-13, "{time}: {worst}");
    }
}
