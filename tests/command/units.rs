//! Units on the command line: values with units, what is shown, what is denied; and no message about units for the models of the
//! project.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RC: &str = "@electrical
model RC
  submodel (ConstantVoltage) U0(E = 10)
  submodel (Resistor) R1(R = 1 'kOhm')
  submodel (Capacitor) C1(C = 1 'uF') (ic u = 500 'mV')
  submodel Ground
  output y
  connect Ground - U0 - R1 - C1 - Ground
  y = C1.u
end
";

fn bgm(arguments: &[&str], text: &str) -> Output {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("bgm starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    child.wait_with_output().expect("it ends")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The last row of a run.
fn last(arguments: &[&str], text: &str) -> Vec<f64> {
    let mut all = vec!["simulate", "-"];
    all.extend(arguments);
    let output = bgm(&all, text);
    assert!(output.status.success(), "{}", said(&output));
    let rows = out(&output);
    let row = rows.lines().last().expect("a row");
    row.split(',')
        .map(|value| value.parse().expect(row))
        .collect()
}

#[test]
fn values_on_the_command_line_are_converted() {
    let all = [
        (["--set", "R1.R=4.7kOhm", "--until", "5ms"], 4700.0),
        (["--set", "R1.R=4700", "--until", "0.005"], 4700.0),
        (["--set", "R1.R = 0.0047 MOhm", "--until", "5 ms"], 4700.0),
        (["--set", "R1.R=4.7 'V/mA'", "--until", "5e3us"], 4700.0),
    ];
    for (arguments, resistance) in all {
        let row = last(&arguments, RC);
        let wanted = 10.0 - 9.5 * f64::exp(-0.005 / (resistance * 1e-6));
        assert_eq!(row[0], 0.005, "{arguments:?}");
        assert!((row[1] - wanted).abs() < 1e-4, "{arguments:?}: {row:?}");
    }
    let row = last(&["--init", "C1.u=2500mV", "--until", "0"], RC);
    assert_eq!(row[1], 2.5);
}

#[test]
fn wrong_units_on_the_command_line_are_told() {
    for (arguments, code) in [
        (["simulate", "-", "--set", "R1.R=4.7uF"], "E0514"),
        (["simulate", "-", "--init", "C1.u=4.7A"], "E0514"),
        (["simulate", "-", "--set", "R1.R=4.7kohms"], "E0516"),
    ] {
        let output = bgm(&arguments, RC);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = said(&output);
        assert!(
            said.contains(code) && said.contains("command line:2"),
            "{said}"
        );
    }
    let output = bgm(&["simulate", "-", "--until", "5m"], RC);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("no unit of time"),
        "{}",
        said(&output)
    );
}

#[test]
fn units_are_shown_on_request() {
    let listed = out(&bgm(&["equations", "-", "--units"], RC));
    assert!(listed.contains("y         V  { inferred }"), "{listed}");
    assert!(listed.contains("R1.R      Ohm\n"), "{listed}");
    assert!(!out(&bgm(&["equations", "-"], RC)).contains("UNITS"));
    let values = out(&bgm(&["solve", "-", "--at", "Time=0", "--units"], RC));
    assert!(values.contains("C1.u = 0.5 V\n"), "{values}");
    assert!(values.contains(" V/s\n"), "{values}");
    let rows = out(&bgm(&["simulate", "-", "--until", "1ms", "--units"], RC));
    assert!(rows.starts_with("Time,y [V],C1.u [V]\n"), "{rows}");
    let json = out(&bgm(&["equations", "-", "--units", "--format", "json"], RC));
    let shown: serde_json::Value = serde_json::from_str(&json).expect("json");
    assert_eq!(shown["variables"][0]["unit"], "V");
    let bonds = out(&bgm(&["causality", "-", "--units"], RC));
    assert!(bonds.contains("electrical"), "{bonds}");
    assert!(bonds.contains("flux linkage"), "{bonds}");
}

#[test]
fn warnings_can_be_denied_everywhere() {
    let text = "model Wrong
  parameter A = 0.01 'm2'
  local x 'N', p 'Pa'
  der(x) = (1 'N/s')
  p = x
end
experiment Wrong
  simutime 1
end
";
    let to = std::env::temp_dir().join(format!("bgm-units-{}.c", std::process::id()));
    let to = to.to_string_lossy().into_owned();
    let all: [&[&str]; 5] = [
        &["check", "-"],
        &["equations", "-"],
        &["solve", "-"],
        &["simulate", "-"],
        &["export", "-", "--to", "c", "-o", &to],
    ];
    for arguments in all {
        let plain = bgm(arguments, text);
        assert_eq!(
            plain.status.code(),
            Some(0),
            "{arguments:?} {}",
            said(&plain)
        );
        assert!(said(&plain).contains("W0514"), "{}", said(&plain));
        let mut denied = arguments.to_vec();
        denied.push("--deny-warnings");
        assert_eq!(bgm(&denied, text).status.code(), Some(1), "{arguments:?}");
    }
    let _ = std::fs::remove_file(to);
    // A hint is no warning, and told by `check` only.
    let hint = "model M
  parameter m = 2 'kg'
  output F 'N'
  F = 9.81*m
end
";
    let checked = bgm(&["check", "-", "--deny-warnings"], hint);
    assert_eq!(checked.status.code(), Some(0));
    assert!(said(&checked).contains("H0514"));
    assert_eq!(said(&bgm(&["equations", "-"], hint)), "");
}

/// Temperatures in degC and K, flows in W and kW: each connection and each setting converts.
#[test]
fn connections_convert() {
    let text = "model type Room
  cut A(T 'degC' / Q 'W')
  parameter C = 1000 'J/K'
  C*der(T) = Q
end
model type Wall
  cut A(T1 'K' / Q 'kW') B(T2 'K' / -Q)
  parameter G = 0.01 'kW/K'
  Q = G*(T1 - T2)
end
model type Ambient
  cut A(T 'degF' / .)
  parameter T0 = 32 'degF'
  T = T0
end
model House
  parameter cold = 283.15 'K'
  submodel (Room) R(ic T = 293.15 'K')
  submodel (Wall) W
  submodel (Ambient) A(T0 = cold)
  connect R at W.A, W.B at A
end
";
    let equations = out(&bgm(&["equations", "-"], text));
    assert!(equations.contains("R.T = W.T1 - 273.15"), "{equations}");
    assert!(equations.contains("0.001*R.Q"), "{equations}");
    let row = last(&["--until", "100"], text);
    let wanted = 10.0 + 10.0 * f64::exp(-1.0);
    assert!((row[1] - wanted).abs() < 1e-3, "{row:?}");
}

fn models(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "bgm"))
        .collect();
    paths.sort();
    paths
}

fn about_units(said: &str) -> bool {
    [
        "E0514", "E0515", "E0516", "W0514", "W0515", "W0516", "H0514", "H0516",
    ]
    .iter()
    .any(|code| said.contains(code))
}

#[test]
fn examples_and_papers_have_consistent_units() {
    for path in models("examples").into_iter().chain(models("tests/papers")) {
        let path = path.to_string_lossy().into_owned();
        let said = said(&bgm(&["check", &path], ""));
        assert!(!about_units(&said), "{path}\n{said}");
    }
}

#[test]
fn the_library_has_consistent_units() {
    for file in ["electrical", "bondgraph"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("stdlib/{file}.bgm"));
        let text = std::fs::read_to_string(path).expect("the library");
        let heads = text.lines().filter(|line| line.starts_with("model "));
        let names: Vec<&str> = heads
            .filter_map(|line| line.split_whitespace().last())
            .collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            let include = format!("@{file}\n");
            let said = said(&bgm(&["check", "-", "--model", name], &include));
            assert!(!about_units(&said), "{name}\n{said}");
        }
    }
}

/// Parts without units between two that have some: the units of both sides agree.
#[test]
fn bond_graphs_take_units_from_their_surroundings() {
    let text = "@bondgraph
model Motor
  submodel (SE) U
  submodel (R) Ra(R = 2 'Ohm')
  submodel (GY) G(r = 0.1 'V.s')
  submodel (I) J(I = 0.01 'kg.m2')
  junction1 a, b
  output u 'V', i 'A', w 'rad/s', tau
  connect U at a, Ra at a, G from a to b, J at b
  U.E0 = (24 'V')
  u = U.e
  i = Ra.f
  w = J.f
  tau = J.e
end
";
    let output = bgm(&["equations", "-", "--units"], text);
    assert_eq!(said(&output), "");
    let listed = out(&output);
    for line in ["tau   N.m", "G.e1  V", "G.f2  rad/s", "G.e2  N.m"] {
        let found = listed
            .lines()
            .any(|found| found.split_whitespace().take(2).eq(line.split_whitespace()));
        assert!(found, "{line}\n{listed}");
    }
}
