//! Expressions that are made at random: C and Python give what the simulator gives. Variables have names that
//! are words of these languages, numbers are very small, very large and negative, texts have quotes and comment signs. What
//! is compared or rounded is of ordinary size: beside 1E30 the simulator takes 1 for nothing.

use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

use crate::support::generate::wild::{Dice, Form, outputs};
use crate::support::programs::{compiled, exported, folder, has, run, simulated};

/// Words of C and Python that are none of bgm.
const NAMES: &[&str] = &[
    "int", "double", "lambda", "def", "struct", "elif", "return", "None", "EOF", "NULL", "x", "t",
    "u", "p", "h", "s", "v", "m", "time", "math", "yield", "static", "void", "del", "linux",
    "entry", "full", "rhs", "printf", "import", "t1", "next",
];

const NUMBERS: &[&str] = &[
    "0.5",
    "3",
    "1e-300",
    "2.5e30",
    "-7",
    "-1e-12",
    "1.0000000000000002",
    "6.02214076e23",
    "0.1",
    "-0.3",
    "1e15",
];

const FORMS: &[Form] = &[
    Form::Sum,
    Form::Difference,
    Form::Nested,
    Form::Product,
    Form::Quotient,
    Form::Text("-(-({}))"),
    Form::Text("-(({})**2)"),
    Form::Of(&["sin", "tanh", "atan", "abs", "floor", "ceil", "sign"]),
    Form::Text("max({}, min({}, {}))"),
    Form::Text("table(tanh({}), [-1, 0, 0.25, 2], [3, -1, 4, 1e-3])"),
    Form::Text("mod(9*tanh({}), 0.7)"),
    Form::If,
];

fn dice(seed: u64) -> Dice {
    Dice {
        seed,
        numbers: NUMBERS,
        forms: FORMS,
        conditions: &["({} and {})", "({} or not {})"],
    }
}

/// Parameters, and outputs of which each may use those before it.
fn model(seed: u64) -> String {
    let mut dice = dice(seed);
    let mut text = String::from("model Wild\n");
    for (at, name) in NAMES.iter().take(8).enumerate() {
        let value = dice.number();
        let _ = writeln!(
            text,
            "  parameter {name} = {value} \"a \\ /* {at} */ // # 'text'\""
        );
    }
    let _ = writeln!(
        text,
        "  local inner 'm/s'\n  der(inner) = -inner\n  init(inner) = 1.5"
    );
    text.push_str(&outputs(&mut dice, NAMES, 8));
    // The ends of what numbers can be; and what is nested deeper than any program likes it.
    text.push_str("  output huge, tiny, deep, long\n  huge = Time*1.7e308 - 1e292\n  tiny = -5e-324 + 0*inner\n");
    let mut deep = String::from("inner");
    for at in 0..150 {
        deep = match at % 3 {
            0 => format!("({deep} - (-0.5))"),
            1 => format!("(if {deep} > {at} then {at} else sin({at}*Time))"),
            _ => format!("(1/({deep} + 10))"),
        };
    }
    let long: Vec<String> = (1..2000).map(|at| format!("sin({at}*Time)")).collect();
    let _ = writeln!(text, "  deep = {deep}\n  long = {}", long.join(" - "));
    text.push_str("end\n");
    text
}

#[test]
fn generated_expressions_have_the_same_values_everywhere() {
    let folder = folder("generated");
    let (cc, python) = (has("cc"), has("python3"));
    let mut compared = 0;
    for seed in 1..=4 {
        let file = folder.join(format!("wild{seed}.bgm"));
        std::fs::write(&file, model(seed)).expect("a file");
        let source = file.to_str().expect("text");
        // One instant.
        let options = ["--start", "0.7", "--until", "0.7"];
        let (wanted, one) = simulated(source, &options);
        let wanted: HashMap<String, f64> = wanted.into_iter().zip(one[0].iter().copied()).collect();
        let mut results = Vec::new();
        if cc {
            let place = folder.join(format!("wild{seed}.c"));
            exported(source, "c", &place, &options);
            results.push(run(&mut Command::new(compiled(&place, "Wild"))));
        }
        if python {
            let place = folder.join(format!("wild{seed}.py"));
            exported(source, "python", &place, &options);
            results.push(run(Command::new("python3").arg(&place)));
        }
        for (names, rows) in results {
            assert_eq!(rows.len(), 1);
            for (name, &value) in names.iter().zip(&rows[0]) {
                let Some(&wanted) = wanted.get(name) else {
                    continue;
                };
                let off = (value - wanted).abs();
                assert!(
                    off <= 1e-12 * wanted.abs() || value == wanted,
                    "seed {seed}: `{name}` is {wanted}, and {value} in the program"
                );
                compared += 1;
            }
        }
    }
    assert!(
        compared > 100 || !cc || !python,
        "only {compared} values were compared"
    );
}
