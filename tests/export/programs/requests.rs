//! Requests that cannot be met, and programs that fail: each says why.

use std::process::Command;

use crate::support::programs::{
    agree, bgm, compiled, exported, folder, has, run, simulated, stderr,
};

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
    assert_eq!(code, Some(1));
    assert!(
        said.contains("cannot write `no/such/folder/rlc.c`"),
        "{said}"
    );
    let (code, said) = refused(&["export", rlc, "--to", "c", "-o", rlc]);
    assert_eq!(code, Some(1));
    assert!(said.contains("the model was read from it"), "{said}");
    let (code, said) = refused(&["export", rlc, "--to", "c", "--sweep", "R1.R=1,2"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("leave out `--sweep`"), "{said}");
    let (code, said) = refused(&["export", rlc, "--to", "c", "--method", "foo"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("there is no method `foo`"), "{said}");
    let (code, said) = refused(&[
        "export",
        "tests/diagnostics/E0202-unknown-include.bgm",
        "--to",
        "c",
    ]);
    assert_eq!(code, Some(1));
    assert!(said.contains("error[E"), "{said}");
}

/// Nine switches that cut a coil off, each with a diode of its own beside it.
fn many_switches() -> String {
    let mut text = String::from("@electrical\nmodel Many\n submodel Ground\n");
    for i in 1..=9 {
        text += &format!(
            " submodel (ConstantVoltage) U{i}(E = 1)\n submodel (IdealSwitch) S{i}\n submodel (Inductor) L{i}(L = 1)\n connect Ground - U{i} - S{i} - L{i} - Ground\n S{i}.OpenSwitch = Time > {i}\n"
        );
    }
    text + "end\n"
}

/// What no program can do is not done by half.
#[test]
fn models_without_a_program_are_refused_by_name() {
    let folder = folder("refused");
    let file = folder.join("m.bgm");
    let model = file.to_str().expect("text");
    // A capacity that depends on its own voltage, joined with another.
    let bent = "@electrical
model class (TwoTerminal) Bent
 local C
 C*der(u) = i
 C = 1 + u**2
end
model Shared
 submodel (Bent) B(ic u = 3)
 submodel (Capacitor) C1(C = 1)
 submodel (IdealSwitch) S
 submodel Ground
 connect Ground - reversed B - S - C1 - Ground
 S.OpenSwitch = Time < 1
end
";
    let equal = "model Moment\n output x\n parameter n = 2\n der(x) = 1\n when x == n then init(x) = 0\n endwhen\nend\n";
    for (text, why) in [
        (many_switches().as_str(), "it has 9 switches"),
        (bent, "with a coefficient that depends on itself"),
        (equal, "`x == n`"),
    ] {
        std::fs::write(&file, text).expect("a file");
        for target in ["c", "python"] {
            let (code, said) = refused(&["export", model, "--to", target]);
            assert_eq!(code, Some(1), "{said}");
            assert!(said.contains(why), "{said}");
        }
    }
}

/// Switches that an input steers from outside.
#[test]
fn inputs_may_steer_switches() {
    let folder = folder("steered");
    let file = folder.join("m.bgm");
    let text = "@electrical
model Steered
 input u
 output i
 submodel (ConstantVoltage) U0(E = 2)
 submodel (IdealSwitch) S
 submodel (IdealDiode) D
 submodel (Inductor) L1(L = 1)
 submodel (Resistor) R1(R = 1)
 submodel Ground
 node x
 connect Ground - U0 - S - x - L1 - R1 - Ground, Ground - D - x
 S.OpenSwitch = u < 0.25
 i = L1.i
end
experiment Steered
 simutime 6
 commupoints 61
 input u = sin(2*Time)
end
";
    std::fs::write(&file, text).expect("a file");
    let model = file.to_str().expect("text");
    // Nobody has to say what the input is: then it is 0, and the switch open.
    let (alone, _) = text.split_once("experiment").expect("one of each");
    let bare = folder.join("bare.bgm");
    std::fs::write(&bare, alone).expect("a file");
    let output = bgm(&["export", bare.to_str().expect("text"), "--to", "c"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("the input `u` has no value"));
    let wanted = simulated(model, &[]);
    let tolerance = ["--tolerance", "1e-9"];
    if has("cc") {
        let c = folder.join("m.c");
        exported(model, "c", &c, &tolerance);
        let written = std::fs::read_to_string(&c).expect("a file");
        assert!(written.contains("Steered_INPUTS = 1"), "u is an input");
        agree(
            "c",
            &wanted,
            &run(&mut Command::new(compiled(&c, "Steered"))),
            1e-7,
        );
    }
    if has("python3") {
        let python = folder.join("m.py");
        exported(model, "python", &python, &tolerance);
        agree(
            "python",
            &wanted,
            &run(Command::new("python3").arg(&python)),
            1e-7,
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

/// The programs have an integrator of their own: a method that was asked for is not passed over in silence.
#[test]
fn a_method_that_is_not_taken_over_is_told() {
    for (target, wanted) in [
        ("c", "the program integrates with Rodas4"),
        ("python", "the program integrates with Rodas4"),
        ("acsl", "the system that runs the program has its own"),
    ] {
        let words = ["export", "examples/rlc.bgm", "--to", target];
        assert!(!stderr(&bgm(&words)).contains("method"), "{target}");
        let output = bgm(&[&words[..], &["--method", "bdf"]].concat());
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        assert!(
            said.contains("the method `bdf` is not taken over"),
            "{said}"
        );
        assert!(said.contains(wanted), "{said}");
    }
}

/// `[until [points [tolerance]]]`: both programs take and refuse the same, with the same words.
#[test]
fn arguments_are_checked_alike() {
    let folder = folder("arguments");
    let file = folder.join("lag.bgm");
    let text = "model Lag\n output y\n der(y) = 1 - y\nend\nexperiment Lag\n simutime 4\n commupoints 5\nend\n";
    std::fs::write(&file, text).expect("a file");
    let model = file.to_str().expect("text");
    let mut programs: Vec<Vec<String>> = Vec::new();
    if has("cc") {
        let place = folder.join("lag.c");
        exported(model, "c", &place, &[]);
        let program = compiled(&place, "Lag");
        programs.push(vec![program.display().to_string()]);
    }
    if has("python3") {
        let place = folder.join("lag.py");
        exported(model, "python", &place, &[]);
        programs.push(vec!["python3".into(), place.display().to_string()]);
    }
    let run = |program: &[String], words: &[&str]| {
        let output = Command::new(&program[0])
            .args(&program[1..])
            .args(words)
            .output()
            .expect("it runs");
        let said = stderr(&output).replace(&program[program.len() - 1], "lag");
        (output, said)
    };
    for program in &programs {
        for (words, wanted) in [
            (&["abc"][..], "`abc` is no number"),
            (&[""], "`` is no number"),
            (&["1e"], "`1e` is no number"),
            (&["nan"], "`nan` is no number"),
            (&["0x10"], "`0x10` is no number"),
            (&["1e999"], "`1e999` is no number"),
            (&[" 1"], "` 1` is no number"),
            (&["-1"], "`-1` is before the start of the run"),
            (&["1", "0"], "`0` is no number of points"),
            (&["1", "2.5"], "`2.5` is no number of points"),
            (&["1", "2", "0"], "`0` is no tolerance"),
            (&["1", "2", "1e-6", "x"], "`x` is too much"),
        ] {
            let (output, said) = run(program, words);
            let usage = "usage: lag [until [points [tolerance]]]\n";
            assert_eq!(said, format!("error: {wanted}\n{usage}"), "{words:?}");
            assert_eq!(output.status.code(), Some(2), "{words:?}");
            assert!(output.stdout.is_empty(), "{words:?}");
        }
        for (words, rows, last) in [
            (&[][..], 5, 4.0),
            (&["2"], 5, 2.0),
            (&["1.5E0", "3."], 3, 1.5),
            (&[".5", "4", "1e-9"], 4, 0.5),
            (&["0"], 1, 0.0),
            (&["+3", "1"], 1, 3.0),
        ] {
            let (output, said) = run(program, words);
            assert_eq!((said.as_str(), output.status.code()), ("", Some(0)));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let times: Vec<f64> = (text.lines().skip(1))
                .filter_map(|line| line.split(',').next()?.parse().ok())
                .collect();
            assert_eq!((times.len(), times.last()), (rows, Some(&last)), "{text}");
        }
    }
}

/// What the programs of a model write and say that fails.
fn failing(name: &str, text: &str, options: &[&str]) -> Vec<(String, String)> {
    let folder = folder(name);
    let file = folder.join("model.bgm");
    std::fs::write(&file, text).expect("a file");
    let model = file.to_str().expect("text");
    let mut commands = Vec::new();
    if has("cc") {
        let place = folder.join("model.c");
        exported(model, "c", &place, options);
        commands.push(Command::new(compiled(&place, name)));
    }
    if has("python3") {
        let place = folder.join("model.py");
        exported(model, "python", &place, options);
        let mut command = Command::new("python3");
        command.arg(place);
        commands.push(command);
    }
    let run = |mut command: Command| {
        let output = command.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{text}{said}");
        (text, said)
    };
    commands.into_iter().map(run).collect()
}

/// A divisor that becomes zero: equation and Time.
#[test]
fn programs_that_fail_say_where() {
    let pole = "model Pole\n output y\n local x, z\n der(z) = -z\n x = 1 - Time\n x*y = 1\nend\n";
    for (text, said) in failing("Pole", pole, &["--until", "2", "--points", "5"]) {
        assert!(
            said.contains("a divisor is zero at Time = 1: x*y = 1"),
            "{said}"
        );
        // What was computed is there.
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

/// A ball that bounces ever sooner stays above the floor, bounces as often as it should, and the run ends where it comes to rest.
#[test]
fn a_ball_that_comes_to_rest_does_not_fall_through_the_floor() {
    let ball = "model Ball\n output h, n\n local v\n der(h) = v; der(v) = -9.81; init(h) = 1\n \
                when h < 0 then\n init(v) = -0.5*pre(v); new(n) = n + 1\n endwhen\nend\n";
    // Down once, then up and down with half the speed of before.
    let down = (2.0_f64 / 9.81).sqrt();
    for (text, said) in failing("Ball", ball, &["--until", "3", "--points", "301"]) {
        assert!(
            said.contains("events follow each other without end at Time = 1.3545")
                && said.trim_end().ends_with(": h < 0"),
            "{said}"
        );
        assert_eq!(text.lines().count(), 1 + 136, "{text}");
        for line in text.lines().skip(1) {
            let row: Vec<f64> = line
                .split(',')
                .map(|cell| cell.parse().expect("a number"))
                .collect();
            let (mut next, mut bounces, mut flight) = (down, 0.0, down);
            while row[0] > next {
                next += flight;
                flight *= 0.5;
                bounces += 1.0;
            }
            assert!(row[1] > -1e-9 && row[2] == bounces, "{line}: {bounces}");
        }
    }
}

/// What pushes back from both sides: the relation is named.
#[test]
fn events_without_end_are_told() {
    let chatter =
        "model Chatter\n output x\n der(x) = if x > 0 then -1 else 1\n init(x) = 1\nend\n";
    for (_, said) in failing("Chatter", chatter, &["--until", "3", "--points", "4"]) {
        let wanted = "events follow each other without end at Time = 1: x > 0";
        assert!(said.contains(wanted), "{said}");
    }
}

/// Behind y = 0.5 there is nothing: steps become shorter, but not for ever.
#[test]
fn rates_that_are_no_numbers_end_a_run() {
    let root = "model Root\n output y\n der(y) = -sqrt(y - 0.5) - 0.1\n init(y) = 1\nend\n";
    for (_, said) in failing("Root", root, &["--until", "3", "--points", "4"]) {
        assert!(said.contains("not a number at Time = 0.9965"), "{said}");
    }
}
