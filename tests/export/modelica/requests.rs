//! What Modelica cannot say is refused by name; what is chosen is told.

use super::judge::{exported, folder, text};
use crate::support::programs::{bgm, stderr as said};

/// What is said of a model that is refused.
fn refused(name: &str, body: &str) -> String {
    let folder = folder(name);
    let source = folder.join("m.bgm");
    std::fs::write(&source, format!("model M\n{body}\nend\n")).expect("a file");
    let output = bgm(&["export", text(&source), "--to", "modelica", "--until", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(output.stdout.is_empty(), "something was written");
    said(&output)
}

#[test]
fn what_modelica_cannot_say_is_refused_by_name() {
    let equal = refused(
        "equal",
        "  local x, y\n  der(x) = 1\n  y = if x == 0.5 then 1 else 2",
    );
    assert!(
        equal.contains("`x == 0.5`: numbers that move are equal for a moment only"),
        "{equal}"
    );
    let before = refused(
        "before",
        "  local x, b\n  der(x) = 1\n  new(b) = x > 0.5 and not pre(b)",
    );
    assert!(
        before.contains("`pre(b)` stands outside a `when`"),
        "{before}"
    );
    let moving = refused(
        "moving",
        "  local x, n\n  der(x) = 1\n  new(n) = if x > 0.5 then x else n",
    );
    assert!(
        moving.contains("`new(n)` outside a `when` reads `x`, which moves"),
        "{moving}"
    );
    let own = refused(
        "own",
        "  local x, n\n  der(x) = 1\n  new(n) = if x > 0.5 and n < 3 then n + 1 else n",
    );
    assert!(own.contains("computes with it"), "{own}");
}

#[test]
fn what_is_wrong_with_a_model_is_said() {
    let many = refused("many", "  local x\n  der(x) = 1\n  x = 2\n  x = 3");
    assert!(many.contains("error[E"), "{many}");
}

#[test]
fn inputs_are_told() {
    let folder = folder("inputs");
    let source = folder.join("m.bgm");
    std::fs::write(
        &source,
        "model M\n  input u 'V', w = 3\n  local x\n  der(x) = u + w - x\nend\n",
    )
    .expect("a file");
    let class = folder.join("m.mo");
    let note = exported(text(&source), &class, &["--until", "1"]);
    assert!(note.contains("the input `u` has no value"), "{note}");
    assert!(!note.contains("`w`"), "{note}");
    let written = std::fs::read_to_string(&class).expect("a file");
    assert!(
        written.contains("  input Real u(unit = \"V\");\n"),
        "{written}"
    );
    assert!(
        written.contains("  input Real w(start = 3);\n"),
        "{written}"
    );
    exported(
        text(&source),
        &class,
        &["--until", "1", "--input", "u=sin(Time)"],
    );
    let written = std::fs::read_to_string(&class).expect("a file");
    assert!(
        written.contains("  Real u(unit = \"V\") = sin(time); //"),
        "{written}"
    );
    assert!(
        written.contains("  input Real w(start = 3);\n"),
        "{written}"
    );
}

/// What the experiment says is in the class.
#[test]
fn experiments_are_written() {
    let folder = folder("experiment");
    let class = folder.join("buck.mo");
    exported(
        "examples/buck.bgm",
        &class,
        &[
            "--experiment",
            "discontinuous",
            "--start",
            "0.5",
            "--tolerance",
            "1e-5",
        ],
    );
    let written = std::fs::read_to_string(&class).expect("a file");
    for wanted in [
        "parameter Real R(unit = \"Ohm\") = 50;",
        "Real 'C1.u'(unit = \"V\", start = 7, fixed = true)",
        "experiment(StartTime = 0.5, StopTime = 5, Tolerance = 1e-5, Interval = 0.0045)",
    ] {
        assert!(written.contains(wanted), "no `{wanted}` in\n{written}");
    }
}
