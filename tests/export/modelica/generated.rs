//! Expressions that are made at random: rumoca computes from the class what the simulator computes from the model. Variables have names that are
//! words of Modelica, numbers are very small, very large, whole and negative, texts have quotes and comment signs.

use std::fmt::Write;

use super::judge::{agree, exported, folder, judge, rows, simulated, text};

/// Words of Modelica that are none of bgm, and names that are nearly such.
const NAMES: &[&str] = &[
    "time",
    "Real",
    "equation",
    "annotation",
    "algorithm",
    "protected",
    "discrete",
    "flow",
    "each",
    "type1",
    "x",
    "Wild1",
    "size",
    "pre1",
    "initial",
    "noEvent",
    "within",
    "Integer",
    "smooth",
    "replaceable",
    "final",
    "partial",
    "interpolate",
    "log",
    "delay",
    "import",
    "function",
    "stream",
    "Größe",
    "φ",
    "Ωmega",
    "semiLinear",
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
            "100000",
            "4000000000",
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
        match self.roll(14) {
            0 => format!("({} + {})", small(self), small(self)),
            1 => format!("{} - {}", small(self), small(self)),
            2 => format!("({} - ({} - {}))", small(self), small(self), small(self)),
            3 => format!("({})*({})", small(self), small(self)),
            4 => format!("({})/(1 + ({})**2)", small(self), small(self)),
            5 => format!("-(-({}))", small(self)),
            6 => format!("-(({})**2)", small(self)),
            7 => format!("2 - -({})*(-{})", small(self), small(self)),
            8 => format!("(1.5 + tanh({}))**-(tanh({}))", small(self), small(self)),
            9 => {
                let function = ["sin", "tanh", "atan", "abs", "cos", "sinh", "sign"][self.roll(7)];
                format!("{function}(5*tanh({}))", small(self))
            }
            10 => format!(
                "max({}, min({}, {}), 3, 4)",
                small(self),
                small(self),
                small(self)
            ),
            11 => format!(
                "table(tanh({}), [-1, 0, 0.25, 2], [3, -1, 4, 1e-3])",
                small(self)
            ),
            12 => format!("({}*{}*{})", self.whole(), self.whole(), self.whole()),
            _ => {
                let condition = self.truth(names, depth - 1);
                let (a, b) = (small(self), small(self));
                match self.roll(2) {
                    0 => format!("(if {condition} then {a} else {b})"),
                    _ => {
                        let other = self.truth(names, depth - 1);
                        let c = small(self);
                        format!("(if {condition} then {a} elseif {other} then {b} else {c})")
                    }
                }
            }
        }
    }

    /// Products of these are no integers of 32 bits.
    fn whole(&mut self) -> &'static str {
        [
            "100000",
            "(if Time > 0.5 then 70000 else 3)",
            "min(99999, 2000000000)",
            "-60000",
        ][self.roll(4)]
    }

    fn truth(&mut self, names: &[&str], depth: usize) -> String {
        match (depth, self.roll(5)) {
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
            (1.., 2) => format!(
                "({} <> {})",
                self.truth(names, depth - 1),
                self.truth(names, depth - 1)
            ),
            _ => {
                let relation = ["<", "<=", ">", ">="][self.roll(4)];
                let (a, b) = (self.real(names, depth.min(1)), self.real(names, 0));
                format!("(tanh({a}) {relation} tanh({b}))")
            }
        }
    }
}

/// Parameters, and outputs of which each may use those before it.
fn model(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = format!("model Wild{seed}\n");
    for (at, name) in NAMES.iter().take(8).enumerate() {
        let value = dice.number();
        let _ = writeln!(
            text,
            "  parameter {name} = {value} \"a \\ /* {at} */ // # 'text' \\n\""
        );
    }
    for name in &NAMES[8..] {
        let _ = writeln!(text, "  output {name}");
    }
    for at in 8..NAMES.len() {
        let value = dice.real(&NAMES[..at], 4);
        let _ = writeln!(text, "  {} = max(-1e9, min(1e9, {value}))", NAMES[at]);
    }
    text.push_str("  local inner 'm/s'\n  der(inner) = -inner\n  init(inner) = 1.5\n");
    text.push_str(
        "  output huge, tiny\n  huge = Time*1.7e300 - 1e292\n  tiny = -5e-324 + 0*inner\n",
    );
    let _ = writeln!(
        text,
        "end\n\nexperiment Wild{seed}\n  start 0.7\n  simutime 0.8\n  commupoints 3\nend"
    );
    text
}

#[test]
fn generated_expressions_have_the_same_values() {
    let folder = folder("generated");
    for seed in 1..=6 {
        let [source, class, csv] =
            ["bgm", "mo", "csv"].map(|end| folder.join(format!("wild{seed}.{end}")));
        std::fs::write(&source, model(seed)).expect("a file");
        exported(text(&source), &class, &[]);
        simulated(text(&source), &csv, &["--vars", "*"]);
        let Some(found) = judge(&["run", text(&class), text(&csv)]) else {
            return;
        };
        let wanted = rows(&std::fs::read_to_string(&csv).expect("a file"));
        let compared = agree(&format!("seed {seed}"), &wanted, &rows(&found), 1e-9);
        assert_eq!(compared + 1, wanted.0.len(), "seed {seed}: columns");
        assert!(compared > 20);
    }
}

/// Nothing recurses as deep as an expression, and nothing grows without bounds.
#[test]
fn deep_expressions_are_written() {
    let folder = folder("deep");
    let mut deep = String::from("x");
    for at in 0..3000 {
        deep = match at % 4 {
            0 => format!("({deep} - (-0.5))"),
            1 => format!("(if {deep} > {at} then {at} else sin({at}*Time))"),
            2 => format!("sign({deep})"),
            _ => format!("table({deep}, [0, 1], [2, 3])"),
        };
    }
    let source = folder.join("deep.bgm");
    let model = format!("model Deep\n  local x, y\n  der(x) = -x\n  y = {deep}\nend\n");
    std::fs::write(&source, model).expect("a file");
    let class = folder.join("deep.mo");
    exported(text(&source), &class, &["--until", "1"]);
    let size = std::fs::metadata(&class).expect("a file").len();
    assert!(size < 1_000_000, "{size} bytes");
}
