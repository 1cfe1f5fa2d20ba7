//! The same network in base units and in random scales: each part has scales of its own (mV, rpm, bar, l/min, degC, degF, ...),
//! values are given in others, and every value agrees after conversion.
//!
//! `BGM_CASES=500 cargo test --release --test simulate random::units` tries 500 pairs.

use bgm::base::unit::{Measure, read};

use crate::support::campaign::{Family, Verdict, campaign};
use crate::support::random::Random;
use crate::support::trial::Trial;

struct Domain {
    across: &'static [&'static str],
    through: &'static [&'static str],
    /// The size of the across variable, and where it begins.
    size: f64,
    zero: f64,
    resistance: f64,
}

/// The first units are those of the SI.
const DOMAINS: [Domain; 4] = [
    Domain {
        across: &["V", "mV", "kV", "V"],
        through: &["A", "mA", "uA"],
        size: 10.0,
        zero: 0.0,
        resistance: 1e3,
    },
    Domain {
        across: &["rad/s", "rpm", "deg/s", "1/min"],
        through: &["N.m", "kN.m", "mN.m"],
        size: 100.0,
        zero: 0.0,
        resistance: 2.0,
    },
    Domain {
        across: &["Pa", "bar", "kPa", "mbar", "psi"],
        through: &["m3/s", "l/min", "m3/h", "cm3/s"],
        size: 1e5,
        zero: 1e5,
        resistance: 1e8,
    },
    Domain {
        across: &["K", "degC", "degF"],
        through: &["W", "kW", "mW"],
        size: 20.0,
        zero: 290.0,
        resistance: 0.5,
    },
];

fn measure(unit: &str) -> Measure {
    read(unit).unwrap_or_else(|why| panic!("{unit}: {why:?}"))
}

fn difference(unit: &str) -> Measure {
    measure(unit).of_differences()
}

/// A value of the SI, written in a unit.
fn written(value: f64, unit: &str, is_difference: bool) -> String {
    let unit_of = |unit: &str| match is_difference {
        true => difference(unit),
        false => measure(unit),
    };
    let base = Measure {
        factor: 1.0,
        offset: 0.0,
        ..measure(unit)
    };
    format!("{:e} '{unit}'", base.convert(value, &unit_of(unit)))
}

/// The text of a network, the variables to compare with their units, and the settings of the command line.
struct Network {
    text: String,
    values: Vec<(String, String)>,
    set: Vec<String>,
}

/// Draws are the same for both texts; scales are used only where `scaled`.
fn network(seed: u64, scaled: bool) -> Network {
    let mut random = Random::new(seed);
    let domain = &DOMAINS[random.below(DOMAINS.len())];
    let mut types = String::new();
    let mut parts = String::new();
    let mut connections = String::new();
    let mut parameters = String::new();
    let mut set = Vec::new();
    let mut values = Vec::new();
    let count = random.within(1, 5);
    let pick = |random: &mut Random, units: &[&'static str]| {
        let at = random.below(units.len());
        units[if scaled { at } else { 0 }]
    };
    let real = |random: &mut Random| 0.5 + 1.5 * (random.below(1000) as f64 / 1000.0);

    let (a, b, c) = (
        pick(&mut random, domain.across),
        pick(&mut random, domain.across),
        pick(&mut random, domain.across),
    );
    types +=
        &format!("model type Source\n  cut A(e '{a}' / .)\n  terminal E '{a}'\n  e = E\nend\n");
    let (mean, swing) = (
        domain.zero + domain.size * real(&mut random),
        domain.size * 0.3 * real(&mut random),
    );
    let difference_unit = match c {
        "degC" => "K",
        other => other,
    };
    let source = format!(
        "  S.E = ({}) + ({})*sin(({} '1/min')*Time)\n",
        written(mean, b, false),
        match difference_unit {
            "degF" => written(swing, "K", true),
            unit => written(swing, unit, true),
        },
        60.0 * real(&mut random),
    );
    for k in 1..=count {
        let (a, t) = (
            pick(&mut random, domain.across),
            pick(&mut random, domain.through),
        );
        types += &format!(
            "model type R{k}\n  cut A(ea '{a}' / f '{t}') B(eb '{a}' / -f)\n  main path P <A - B>\n  parameter R '{a}/({t})'\n  R*f = ea - eb\nend\n"
        );
        let given = format!(
            "{}/({})",
            pick(&mut random, domain.across),
            pick(&mut random, domain.through)
        );
        let value = domain.resistance * real(&mut random);
        let text = written(value, &given, true);
        let setting = match random.below(3) {
            0 => text,
            1 => {
                let (number, unit) = text.split_once(' ').expect("a value and a unit");
                parameters += &format!("  parameter p{k} = {number} {unit}\n");
                format!("p{k}")
            }
            _ => {
                set.push(format!("R{k}.R = {text}"));
                // The value of the model is another one.
                format!("1 '{given}'")
            }
        };
        parts += &format!("  submodel (R{k}) R{k}(R = {setting})\n");
        values.push((format!("R{k}.f"), t.to_string()));

        let (a, t) = (
            pick(&mut random, domain.across),
            pick(&mut random, domain.through),
        );
        types += &format!(
            "model type C{k}\n  cut A(e '{a}' / f '{t}')\n  parameter C '({t}).s/({a})'\n  C*der(e) = f\nend\n"
        );
        let given = format!(
            "({}).min/({})",
            pick(&mut random, domain.through),
            pick(&mut random, domain.across)
        );
        let value = real(&mut random) / domain.resistance;
        let start = domain.zero + domain.size * (real(&mut random) - 1.0);
        let start_unit = pick(&mut random, domain.across);
        parts += &format!(
            "  submodel (C{k}) C{k}(C = {}) (ic e = {})\n",
            written(value, &given, true),
            written(start, start_unit, false)
        );
        values.push((format!("C{k}.e"), a.to_string()));
        connections += &format!("  connect R{k} from n{} to n{k}, C{k} at n{k}\n", k - 1);
        if random.chance(30) && k > 1 {
            let (a, t) = (
                pick(&mut random, domain.across),
                pick(&mut random, domain.through),
            );
            let other = random.below(k - 1);
            types += &format!(
                "model type G{k}\n  cut A(ea '{a}' / f '{t}') B(eb '{a}' / -f)\n  main path P <A - B>\n  parameter G = 1 '{t}/({a})'\n  f = G*(ea - eb)\nend\n"
            );
            let value = real(&mut random) / domain.resistance;
            let given = format!(
                "{}/({})",
                pick(&mut random, domain.through),
                pick(&mut random, domain.across)
            );
            parts += &format!(
                "  submodel (G{k}) G{k}(G = {})\n",
                written(value, &given, true)
            );
            connections += &format!("  connect G{k} from n{other} to n{k}\n");
            values.push((format!("G{k}.f"), t.to_string()));
        }
    }
    // The unit of y follows.
    let (last, unit) = (
        format!("C{count}.e"),
        values
            .iter()
            .rev()
            .find(|(name, _)| *name == format!("C{count}.e")),
    );
    let unit = unit
        .map(|(_, unit)| unit.clone())
        .expect("the last one is there");
    values.push(("y".into(), unit));
    let nodes: Vec<String> = (0..=count).map(|k| format!("n{k}")).collect();
    let text = format!(
        "{types}model Net\n{parameters}  submodel (Source) S\n{parts}  node {}\n  output y\n  connect S at n0\n{connections}{source}  y = {last}\nend\n",
        nodes.join(", ")
    );
    Network { text, values, set }
}

fn run(network: &Network) -> crate::support::trial::Result {
    let mut trial = Trial::of(&network.text, 3.0)
        .points(16)
        .tolerance(1e-9, 1e-12);
    for set in &network.set {
        trial = trial.set(set);
    }
    let names: Vec<&str> = network
        .values
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    trial.run(&names)
}

fn judged(seed: u64) -> Verdict {
    let (base, other) = (network(seed, false), network(seed, true));
    let (wanted, found) = (run(&base), run(&other));
    for result in [&wanted, &found] {
        if let Some(failure) = &result.failure {
            return Verdict::Wrong(failure.clone());
        }
        if !result.said.is_empty() {
            return Verdict::Wrong(format!("said {:?}", result.said));
        }
    }
    for (at, ((name, _), (_, unit))) in base.values.iter().zip(&other.values).enumerate() {
        let (truth, values) = (wanted.column(at), found.column(at));
        let measure = measure(unit);
        let largest = truth
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        for (truth, value) in truth.iter().zip(&values) {
            let value = (value + measure.offset) * measure.factor;
            if (value - truth).abs() > 1e-6 * largest {
                return Verdict::Wrong(format!("{name} is {value}, {truth} in base units"));
            }
        }
    }
    Verdict::Agrees
}

#[test]
fn scales_change_nothing() {
    let family = Family {
        name: "scales",
        cases: 40,
        refused: 0.0,
        open: &[],
    };
    campaign(family, judged, |seed, _| network(seed, true).text);
}
