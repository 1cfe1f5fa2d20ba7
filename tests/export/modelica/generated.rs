//! Expressions that are made at random: rumoca computes from the class what the simulator computes from the model. Variables have names that are
//! words of Modelica, numbers are very small, very large, whole and negative, texts have quotes and comment signs.

use std::fmt::Write;

use super::judge::{agree, exported, folder, judge, rows, simulated, text};
use crate::support::generate::wild::{Dice, Form, outputs};

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

/// Products of these are no integers of 32 bits.
const WHOLE: &[&str] = &[
    "100000",
    "(if Time > 0.5 then 70000 else 3)",
    "min(99999, 2000000000)",
    "-60000",
];

const FORMS: &[Form] = &[
    Form::Sum,
    Form::Difference,
    Form::Nested,
    Form::Product,
    Form::Quotient,
    Form::Text("-(-({}))"),
    Form::Text("-(({})**2)"),
    Form::Text("2 - -({})*(-{})"),
    Form::Text("(1.5 + tanh({}))**-(tanh({}))"),
    Form::Of(&["sin", "tanh", "atan", "abs", "cos", "sinh", "sign"]),
    Form::Text("max({}, min({}, {}), 3, 4)"),
    Form::Text("table(tanh({}), [-1, 0, 0.25, 2], [3, -1, 4, 1e-3])"),
    Form::Wholes(WHOLE),
    Form::If,
];

fn dice(seed: u64) -> Dice {
    Dice {
        seed,
        numbers: NUMBERS,
        forms: FORMS,
        conditions: &["({} and {})", "({} or not {})", "({} <> {})"],
    }
}

/// Parameters, and outputs of which each may use those before it.
fn model(seed: u64) -> String {
    let mut dice = dice(seed);
    let mut text = format!("model Wild{seed}\n");
    for (at, name) in NAMES.iter().take(8).enumerate() {
        let value = dice.number();
        let _ = writeln!(
            text,
            "  parameter {name} = {value} \"a \\ /* {at} */ // # 'text' \\n\""
        );
    }
    text.push_str(&outputs(&mut dice, NAMES, 8));
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
