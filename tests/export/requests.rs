//! Requests that cannot be met, and programs that fail: each says why.

use std::process::Command;

use crate::bench::{bgm, compiled, exported, folder, has, stderr};

/// The exit code and what was said.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = bgm(arguments);
    assert!(
        output.stdout.is_empty(),
        "something was written all the same"
    );
    (output.status.code(), stderr(&output))
}

#[test]
fn wrong_requests_get_plain_messages() {
    let rlc = "examples/rlc.bgm";
    let (code, said) = refused(&["export", rlc, "--to", "pyton"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("there is no target `pyton`; did you mean `python`?"),
        "{said}"
    );
    let (code, said) = refused(&["export", rlc, "--to", "c", "-o", "no/such/folder/rlc.c"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("cannot write `no/such/folder/rlc.c`"),
        "{said}"
    );
    let (code, said) = refused(&["export", rlc, "--to", "c", "-o", rlc]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the model was read from it"), "{said}");
    let (code, said) = refused(&["export", rlc, "--to", "c", "--sweep", "R1.R=1,2"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("leave out `--sweep`"), "{said}");
    let (code, said) = refused(&[
        "export",
        "tests/diagnostics/E0202-unknown-include.bgm",
        "--to",
        "c",
    ]);
    assert_eq!(code, Some(1));
    assert!(said.contains("error[E"), "{said}");
}

/// What no single program can do is not done by half.
#[test]
fn models_without_a_program_are_refused_by_name() {
    for target in ["c", "python"] {
        let (code, said) = refused(&["export", "examples/buck.bgm", "--to", target]);
        assert_eq!(code, Some(1));
        assert!(
            said.contains("in each position of its switches (`S`, `D1`)"),
            "{said}"
        );
        // The clutch joins two inertias: both jump, and the paper's form says nothing of it.
        let (code, said) = refused(&["export", "examples/clutch.bgm", "--to", target]);
        assert_eq!(code, Some(1));
        assert!(
            said.contains("`J1.f` jumps") || said.contains("`J2.f` jumps"),
            "{said}"
        );
    }
}

#[test]
fn what_nobody_said_is_told() {
    let folder = folder("notes");
    let file = folder.join("lag.bgm");
    std::fs::write(
        &file,
        "model Lag\n input u\n output y\n der(y) = u - y\nend\n",
    )
    .expect("a file");
    let model = file.to_str().expect("text");
    let output = bgm(&["export", model, "--to", "c"]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("the input `u` has no value"), "{said}");
    assert!(said.contains("no end of Time is given"), "{said}");
}

/// A divisor that becomes zero: equation and Time.
#[test]
fn programs_that_fail_say_where() {
    let folder = folder("failing");
    let file = folder.join("pole.bgm");
    let text = "model Pole\n output y\n local x, z\n der(z) = -z\n x = 1 - Time\n x*y = 1\nend\n";
    std::fs::write(&file, text).expect("a file");
    let model = file.to_str().expect("text");
    let options = ["--until", "2", "--points", "5"];
    let mut commands = Vec::new();
    if has("cc") {
        let place = folder.join("pole.c");
        exported(model, "c", &place, &options);
        commands.push(Command::new(compiled(&place, "Pole")));
    }
    if has("python3") {
        let place = folder.join("pole.py");
        exported(model, "python", &place, &options);
        let mut command = Command::new("python3");
        command.arg(place);
        commands.push(command);
    }
    for mut command in commands {
        let output = command.output().expect("it runs");
        let (text, said) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr(&output),
        );
        assert_eq!(output.status.code(), Some(1), "{text}{said}");
        assert!(
            said.contains("a divisor is zero at Time = 1: x*y = 1"),
            "{said}"
        );
        // What was computed is there.
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}
