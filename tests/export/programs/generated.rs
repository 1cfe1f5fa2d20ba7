//! Expressions that are made at random: C and Python give what the simulator gives. Variables have names that
//! are words of these languages, numbers are very small, very large and negative, texts have quotes and comment signs. What
//! is compared or rounded is of ordinary size: beside 1E30 the simulator takes 1 for nothing.

use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

use crate::support::programs::{compiled, exported, folder, has, run, simulated};

/// Words of C and Python that are none of bgm.
const NAMES: &[&str] = &[
    "int", "double", "lambda", "def", "struct", "elif", "return", "None", "EOF", "NULL", "x", "t",
    "u", "p", "h", "s", "v", "m", "time", "math", "yield", "static", "void", "del", "linux",
    "entry", "full", "rhs", "printf", "import", "t1", "next",
];

/// A small generator of numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn number(&mut self) -> &'static str {
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
        NUMBERS[self.roll(NUMBERS.len())]
    }

    fn real(&mut self, names: &[&str], depth: usize) -> String {
        let small = |dice: &mut Dice| dice.real(names, depth - 1);
        if depth == 0 {
            return match self.roll(3) {
                0 => format!("({})", self.number()),
                1 => "Time".into(),
                _ => names[self.roll(names.len())].into(),
            };
        }
        match self.roll(12) {
            0 => format!("({} + {})", small(self), small(self)),
            1 => format!("{} - {}", small(self), small(self)),
            2 => format!("({} - ({} - {}))", small(self), small(self), small(self)),
            3 => format!("({})*({})", small(self), small(self)),
            4 => format!("({})/(1 + ({})**2)", small(self), small(self)),
            5 => format!("-(-({}))", small(self)),
            6 => format!("-(({})**2)", small(self)),
            7 => {
                let function =
                    ["sin", "tanh", "atan", "abs", "floor", "ceil", "sign"][self.roll(7)];
                format!("{function}(5*tanh({}))", small(self))
            }
            8 => format!(
                "max({}, min({}, {}))",
                small(self),
                small(self),
                small(self)
            ),
            9 => format!(
                "table(tanh({}), [-1, 0, 0.25, 2], [3, -1, 4, 1e-3])",
                small(self)
            ),
            10 => format!("mod(9*tanh({}), 0.7)", small(self)),
            _ => {
                let condition = self.truth(names, depth - 1);
                let (a, b) = (small(self), small(self));
                match self.roll(2) {
                    0 => format!("(if {condition} then {a} else {b})"),
                    _ => {
                        let other = self.truth(names, depth - 1);
                        format!(
                            "(if {condition} then {a} elseif {other} then {b} else {})",
                            small(self)
                        )
                    }
                }
            }
        }
    }

    fn truth(&mut self, names: &[&str], depth: usize) -> String {
        match (depth, self.roll(4)) {
            (1.., 0) => format!(
                "({} and {})",
                self.truth(names, depth - 1),
                self.truth(names, depth - 1)
            ),
            (1.., 1) => format!(
                "({} or not {})",
                self.truth(names, depth - 1),
                self.truth(names, depth - 1)
            ),
            _ => {
                let relation = ["<", "<=", ">", ">="][self.roll(4)];
                format!(
                    "(tanh({}) {relation} tanh({}))",
                    self.real(names, depth.min(1)),
                    self.real(names, 0)
                )
            }
        }
    }
}

/// Parameters, and outputs of which each may use those before it.
fn model(seed: u64) -> String {
    let mut dice = Dice(seed);
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
    for name in &NAMES[8..] {
        let _ = writeln!(text, "  output {name}");
    }
    for at in 8..NAMES.len() {
        let value = dice.real(&NAMES[..at], 4);
        let _ = writeln!(text, "  {} = max(-1e9, min(1e9, {value}))", NAMES[at]);
    }
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
