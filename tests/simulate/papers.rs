//! Models of the papers do what the papers say of them when they are run.

use std::path::Path;
use std::process::Command;

/// The rows of a run, by name.
struct Run {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Run {
    fn new(words: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .args(["simulate", "-o", "-"])
            .args(words)
            .output()
            .expect("bgm can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let text = String::from_utf8(output.stdout).expect("rows are text");
        let mut lines = text.lines();
        let names = lines.next().expect("there is a first line").split(',');
        let number = |cell: &str| cell.parse().expect("a cell is a number");
        Run {
            names: names.map(str::to_string).collect(),
            rows: lines
                .map(|line| line.split(',').map(number).collect())
                .collect(),
        }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|one| one == name);
        let at = at.unwrap_or_else(|| panic!("{name} was recorded"));
        self.rows.iter().map(|row| row[at]).collect()
    }

    /// All values while the time is within bounds.
    fn between(&self, name: &str, from: f64, to: f64) -> Vec<f64> {
        let values = self.column(name).into_iter().zip(self.column("Time"));
        values
            .filter(|&(_, time)| time >= from && time <= to)
            .map(|(value, _)| value)
            .collect()
    }

    /// The work of an effort and a flow.
    fn work(&self, effort: &str, flow: &str) -> f64 {
        let time = self.column("Time");
        let power: Vec<f64> = (self.column(effort).iter().zip(self.column(flow)))
            .map(|(e, f)| e * f)
            .collect();
        (1..time.len())
            .map(|at| 0.5 * (power[at] + power[at - 1]) * (time[at] - time[at - 1]))
            .sum()
    }
}

fn within(values: &[f64], low: f64, high: f64) -> bool {
    assert!(!values.is_empty());
    values.iter().all(|&value| low <= value && value <= high)
}

/// Hood, Rosenberg, Withers and Zhou 1987, Figures 1 and 2: "The magnetized coil attracts the pivot arm, pulling it down toward the
/// coil. The spring is the return spring that holds the pivot arm open when the coil is not energized." On at 5 ms, off at 40 ms.
#[test]
fn the_relay_pulls_in_and_releases() {
    let run = Run::new(&[
        "tests/papers/hood-1987.bgm",
        "--model",
        "Relay",
        "--tolerance",
        "1e-7",
        "--step",
        "1e-6",
        "--vars",
        "i,y,E.e,Gap.*,Coil.*,Stop.*,Spring.e,Winding.e",
    ]);
    let (y, contact, force) = ("y", "Stop.Cc.q", "Stop.Cc.e");
    let micrometre = 1e-6;
    // At rest before: the preload of the spring holds the arm at its stop, and no current flows.
    assert!(within(
        &run.between(y, 0.0, 0.005),
        1e-3 - micrometre,
        1e-3 + micrometre
    ));
    assert!(within(&run.between("i", 0.0, 0.005), 0.0, 0.0));
    // Pulled in within 10 ms: the gap is what is left over the coil, the contact touches and is pressed.
    assert!(within(&run.between(y, 0.015, 0.04), 0.05e-3, 0.1e-3));
    assert!(within(&run.between(contact, 0.015, 0.04), 1.5e-3, 1.6e-3));
    assert!(within(&run.between(force, 0.015, 0.04), 0.3, 1.0));
    // The current grows towards that of the winding alone, and has a dip while the arm moves.
    let current = run.between("i", 0.005, 0.04);
    let last = current[current.len() - 1];
    assert!((0.235..0.24).contains(&last), "{last}");
    let dips = current.windows(2).any(|pair| pair[1] < pair[0]);
    assert!(dips, "the moving arm induces a voltage against the current");
    // The flux holds it for a while after switching off; then the spring opens it, and it stays open.
    assert!(within(&run.between(contact, 0.0401, 0.045), 1.5e-3, 1.6e-3));
    assert!(within(
        &run.between(y, 0.07, 0.1),
        1e-3 - micrometre,
        1e-3 + micrometre
    ));
    assert!(within(
        &run.between(contact, 0.07, 0.1),
        -micrometre,
        micrometre
    ));
    assert!(within(&run.between("i", 0.09, 0.1), -1e-6, 1e-6));
    // What the magnet does to the arm is lost in the impacts, once all is at rest again; what the source gives is
    // that and the heat of the winding.
    let done = run.work("Gap.e2", "Gap.f2");
    let lost = run.work("Coil.Rc.e", "Coil.Rc.f") + run.work("Stop.Rc.e", "Stop.Rc.f");
    assert!(
        done > 0.0 && (done - lost).abs() < 0.03 * done,
        "{done} J, {lost} J lost"
    );
    let (given, heat) = (run.work("E.e", "i"), run.work("Winding.e", "i"));
    assert!(
        (given - heat - done).abs() < 0.01 * given,
        "{given} J, {heat} J, {done} J"
    );
}
