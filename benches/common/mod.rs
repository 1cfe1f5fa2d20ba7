//! What the benchmarks share: models of any size, and a process of its own for each measurement, so
//! that its peak memory can be read from the system (Linux; elsewhere it is not known).

use std::process::Command;

/// What stands in each stage of a ladder between its node and ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shunt {
    Capacitor,
    /// No states: the whole ladder is one loop.
    #[allow(dead_code)]
    Resistor,
}

/// A ladder fed by a sine voltage, each stage on its own lines of source.
pub fn written_out(stages: usize, shunt: Shunt) -> String {
    let mut text = String::from("@electrical\n\nmodel Ladder\n");
    text.push_str("  submodel (SineVoltage) U0\n  submodel (Ground) G\n");
    for k in 1..=stages {
        text.push_str(&format!("  submodel (Resistor) R{k}(R = 10)\n"));
        text.push_str(&match shunt {
            Shunt::Capacitor => format!("  submodel (Capacitor) C{k}(C = 1E-6)\n"),
            Shunt::Resistor => format!("  submodel (Resistor) C{k}(R = 20)\n"),
        });
        text.push_str(&format!("  node n{k}\n"));
    }
    text.push_str("  node n0\n  connect G - U0 - n0\n");
    for k in 1..=stages {
        text.push_str(&format!("  connect R{k} from n{} to n{k}\n", k - 1));
        text.push_str(&format!("  connect C{k} from n{k} to G\n"));
    }
    text.push_str("end\n");
    text
}

pub fn peak_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// What this process was asked to measure: `--one KIND SIZE`.
pub fn asked() -> Option<(String, usize)> {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[..] {
        [_, flag, kind, size] if flag == "--one" => {
            Some((kind.clone(), size.parse().expect("a size is a number")))
        }
        _ => None,
    }
}

/// `cargo test` builds and runs benchmarks too; then one small size will do.
pub fn quick() -> bool {
    !std::env::args().any(|argument| argument == "--bench")
}

/// Measures one size in a process of its own and returns what it printed.
pub fn measure_apart(kind: &str, size: usize) -> String {
    let program = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(&program)
        .args(["--one", kind, &size.to_string()])
        .output()
        .expect("a benchmark can start itself");
    assert!(output.status.success(), "{kind} {size} failed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
