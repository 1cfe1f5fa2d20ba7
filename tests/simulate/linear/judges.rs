//! Other programs as judges: python-control and Octave's control package, and differences of the exported program. Where one is
//! missing, its test says that it is skipped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::programs::{folder, has};

const DRIVE: &str = "model Drive
  parameter R = 0.5, L = 2E-3, k = 0.05
  parameter J1 = 2E-4, J2 = 5E-4, c = 20, d = 1E-3, b = 1E-4
  input u
  output w
  local i, w1, w2, twist, torque
  L*der(i) = u - R*i - k*w1
  J1*der(w1) = k*i - b*w1 - torque
  torque = c*twist + d*(w1 - w2)
  der(twist) = w1 - w2
  J2*der(w2) = torque
  w = w2
end
";

const LOOP: &str = "model Loop
  parameter K = 40, T1 = 0.1, T2 = 0.02, T3 = 0.5
  input u
  output y
  local a, b
  T1*der(a) = K*u - a
  T2*der(b) = a - b
  T3*der(y) = b - y
end
";

/// An integrator, a zero, and a right side that the loop itself gives.
const SERVO: &str = "model Servo
  parameter K = 30, T1 = 0.05, T2 = 0.3
  input u
  output y
  local a, b
  der(y) = a
  T1*der(a) = K*(b + 0.1*der(b)) - a
  T2*der(b) = u - b
end
";

const CART: &str = "model Cart
  parameter M = 0.5, m = 0.2, l = 0.3, g = 9.81
  input force = 0.4
  output position
  local x, v, phi, w
  init(phi) = 0.5
  init(w) = 0.7
  der(x) = v
  der(phi) = w
  (M + m)*der(v) + m*l*cos(phi)*der(w) - m*l*sin(phi)*w**2 = force
  l*der(w) + cos(phi)*der(v) = g*sin(phi)
  position = x + l*sin(phi)
end
";

/// A loop that is iterated.
const TANKS: &str = "model Tanks
  parameter a = 0.3
  input u = 0.6
  output q
  local x, y, p
  init(x) = 1.2
  init(y) = 0.4
  der(x) = u - q
  der(y) = q - 0.2*y
  p + exp(0.3*p) = x - a*y
  q = 0.5*p + 0.1*p**3
end
";

fn files(name: &str, models: &[(&str, &str)]) -> Vec<PathBuf> {
    let folder = folder(name);
    let write = |&(name, text): &(&str, &str)| {
        let path = folder.join(format!("{name}.bgm"));
        std::fs::write(&path, text).expect("a model can be written");
        path
    };
    models.iter().map(write).collect()
}

fn judged(script: &str, files: &[PathBuf]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/simulate/linear")
        .join(script);
    let output = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_bgm"))
        .args(files)
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "agrees\n", "{failed}");
}

fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "note: skipped, there is no {what}");
}

#[test]
fn differences_of_the_exported_program() {
    if has("python3") {
        let models = [
            ("drive", DRIVE),
            ("cart", CART),
            ("tanks", TANKS),
            ("servo", SERVO),
        ];
        judged("differences.py", &files("linear-differences", &models));
    }
}

#[test]
fn python_control() {
    let import = Command::new("python3")
        .args(["-c", "import control"])
        .output();
    if !import.is_ok_and(|output| output.status.success()) {
        return skipped("python-control");
    }
    let models = [("drive", DRIVE), ("loop", LOOP), ("servo", SERVO)];
    judged("judges.py", &files("linear-control", &models));
}

/// The script of `--format m` makes a system whose poles and margins are those of `bgm poles` and `bgm bode`.
#[test]
fn octave_control() {
    let octave = |code: &str| Command::new("octave-cli").args(["--eval", code]).output();
    if !octave("pkg load control").is_ok_and(|output| output.status.success()) {
        return skipped("Octave with its control package");
    }
    for file in files(
        "linear-octave",
        &[("drive", DRIVE), ("loop", LOOP), ("servo", SERVO)],
    ) {
        let script = file.with_extension("m");
        let bgm = |words: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
                .args(words)
                .output()
                .expect("bgm runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let (model, path) = (file.to_string_lossy(), script.to_string_lossy());
        bgm(&["linearize", &model, "--format", "m", "-o", &path]);
        let code = format!(
            "pkg load control; source('{path}'); printf('%.15g %.15g\\n', [real(pole(sys)), imag(pole(sys))]'); \
             [g, p, a, b] = margin(sys); printf('%.15g ', g, p, a, b);"
        );
        let output = octave(&code).expect("octave runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        let (margins, poles) = lines.split_last().expect("margins");
        let numbers = |line: &str| -> Vec<f64> {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect()
        };
        let json = |words: &[&str]| -> serde_json::Value {
            serde_json::from_str(&bgm(words)).expect("json")
        };
        let found = json(&["poles", &model, "--format", "json"]);
        let found: Vec<(f64, f64)> = (found["poles"].as_array().expect("poles").iter())
            .map(|pole| {
                (
                    pole["re"].as_f64().expect("re"),
                    pole["im"].as_f64().expect("im"),
                )
            })
            .collect();
        assert_eq!(found.len(), poles.len(), "{said}");
        for line in poles {
            let wanted = numbers(line);
            let near = |&(re, im): &(f64, f64)| {
                (re - wanted[0]).hypot(im - wanted[1]) <= 1e-6 * (1.0 + wanted[0].hypot(wanted[1]))
            };
            assert!(found.iter().any(near), "{line} is none of {found:?}");
        }
        let bode = json(&["bode", &model, "--format", "json"]);
        let wanted = numbers(margins);
        let gain = bode["margins"]["gain_db"].as_f64();
        if let (Some(gain), Some(&of)) = (gain, wanted.first()) {
            assert!(
                (gain - 20.0 * of.log10()).abs() < 1e-4,
                "{gain}, not {margins}"
            );
        }
    }
}
