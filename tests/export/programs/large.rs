//! Programs of large models: they compile, in functions of bounded length, and do what the simulator does.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::programs::{
    agree, bgm, compiled, exported, folder, has, run, simulated, stderr,
};

/// A ladder fed by a sine, with `shunt` from each node to ground, and what stands at its end.
fn ladder(stages: usize, shunt: &str, end: &str) -> String {
    let mut text = String::from("@electrical\nmodel Ladder\n");
    text += "  submodel (SineVoltage) U0(amplitude = 5, frequency = 50)\n  submodel (Ground) G\n  node n0\n";
    text += "  connect G - U0 - n0\n";
    for k in 1..=stages {
        let ohm = 10 + k % 7;
        let before = k - 1;
        let _ = write!(
            text,
            "  submodel (Resistor) R{k}(R = {ohm})\n  submodel {shunt}\n  node n{k}\n  \
             connect R{k} from n{before} to n{k}\n  connect S{k} from n{k} to G\n",
            shunt = shunt.replace('#', &k.to_string()),
        );
    }
    text + &end.replace('#', &stages.to_string()) + "end\n"
}

const CAPACITOR: &str = "(Capacitor) S#(C = 1E-7)";
const RESISTOR: &str = "(Resistor) S#(R = 1000)";

/// A load behind a diode.
const RECTIFIER: &str = "  submodel (IdealDiode) D
  submodel (Resistor) Ri(R = 100), RL(R = 10000)
  submodel (Capacitor) CL(C = 1E-6)
  node e
  connect n# - D - Ri - e
  connect CL from e to G
  connect RL from e to G
";

/// A capacitor at the end of resistors: one state, and a loop.
const LAST: &str = "  submodel (Capacitor) CL(C = 1E-5)
  output first, middle, last
  connect CL from n# to G
  first = R1.i; middle = S75.u; last = S#.i
";

fn written(folder: &Path, text: &str) -> String {
    let file = folder.join("ladder.bgm");
    std::fs::write(&file, text).expect("a file");
    file.to_str().expect("text").to_string()
}

/// Exports, compiles and compares.
fn compared(name: &str, text: &str, options: &[&str], vars: &str, part: f64) -> PathBuf {
    let folder = folder(name);
    let source = written(&folder, text);
    let file = folder.join("ladder.c");
    let all = [options, &["--tolerance", "1e-9"]].concat();
    exported(&source, "c", &file, &all);
    let found = run(&mut Command::new(compiled(&file, "Ladder")));
    let vars = [options, &["--vars", vars]].concat();
    agree(name, &simulated(&source, &vars), &found, part);
    file
}

/// Lines of the longest function of a program.
fn longest(program: &str) -> usize {
    let (mut longest, mut begun) = (0, 0);
    for (at, line) in program.lines().enumerate() {
        match line {
            "{" => begun = at,
            "}" => longest = longest.max(at - begun),
            _ => {}
        }
    }
    longest
}

#[test]
fn a_ladder_of_capacitors() {
    if !has("cc") {
        return;
    }
    let text = ladder(400, CAPACITOR, "");
    let options = ["--until", "0.02", "--points", "41"];
    let file = compared("capacitors", &text, &options, "S*.u", 1e-7);
    let program = std::fs::read_to_string(file).expect("a program");
    // Neighbours move apart: one in three at a time, and nothing is filled.
    for wanted in [
        "Ladder_ENTRIES = 1198,",
        "Ladder_COLORS = 3,",
        "Ladder_FILLED = 1198 ",
    ] {
        assert!(program.contains(wanted), "{wanted}");
    }
    assert!(longest(&program) < 400, "{} lines", longest(&program));
}

/// Events are located with steps of the same matrix.
#[test]
fn a_ladder_with_a_diode_at_its_end() {
    if !has("cc") {
        return;
    }
    let text = ladder(120, CAPACITOR, RECTIFIER);
    let options = ["--until", "0.06", "--points", "61"];
    compared("diode", &text, &options, "S1.u,S60.u,S120.u,CL.u", 1e-7);
}

#[test]
fn a_linear_loop_of_many_equations() {
    let text = ladder(150, RESISTOR, LAST);
    if has("cc") {
        let options = ["--until", "0.02", "--points", "41"];
        let file = compared("loop", &text, &options, "first,middle,last,CL.u", 1e-9);
        let program = std::fs::read_to_string(file).expect("a program");
        assert!(program.contains("if (Ladder_large(m, &Ladder_system_"));
        assert!(longest(&program) < 400, "{} lines", longest(&program));
    }
    // Python has full matrices.
    let source = written(&folder("loop-python"), &text);
    let output = bgm(&["export", &source, "--to", "python"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("is in a linear loop of ") && said.contains("none of more than 300"),
        "{said}"
    );
}

/// Resistors with a cubic law: one nonlinear loop, in which a few unknowns are moved at a time.
#[test]
fn a_nonlinear_loop_of_many_equations() {
    if !has("cc") {
        return;
    }
    let cubic = "model class (TwoTerminal) Cubic\n  parameter G\n  i = G*u + 1E-4*u**3\nend\n";
    let text = ladder(120, "(Cubic) S#(G = 1E-3)", LAST);
    let text = text.replacen("model Ladder", &format!("{cubic}\nmodel Ladder"), 1);
    let options = ["--until", "0.02", "--points", "41"];
    let file = compared("cubic", &text, &options, "first,middle,last,CL.u", 1e-7);
    let program = std::fs::read_to_string(file).expect("a program");
    assert!(program.contains("if (Ladder_newton_sparse(m, &Ladder_pattern_"));
}

/// What is singular is told by name, also where the matrix is sparse.
#[test]
fn a_large_loop_that_becomes_singular_is_told() {
    if !has("cc") {
        return;
    }
    // x[k] + g*x[k + 1] = 1 round the circle: singular where g is -1.
    let text = "model Circle\n  local x[100], g, z\n  der(z) = 0\n  g = if Time > 0.5 then -1 else 0.5 + 0*z\n  \
                for k in 1 to 99 do\n    x[k] + g*x[k + 1] = 1\n  endfor\n  x[100] + g*x[1] = 1\nend\n";
    let folder = folder("circle");
    let file = folder.join("circle.bgm");
    std::fs::write(&file, text).expect("a file");
    let place = folder.join("circle.c");
    let source = file.to_str().expect("text");
    exported(source, "c", &place, &["--until", "1", "--points", "5"]);
    let output = Command::new(compiled(&place, "Circle"))
        .output()
        .expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("a linear loop is singular at Time = 0.5") && said.contains("x[1]"),
        "{said}"
    );
}

/// The factors of an exported program with other numbers: with the static order, and where the diagonal will not do.
const FACTORS: &str = r#"
#include "ladder.c"
static double roll(void)
{
    static unsigned long long seed = 1;
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 33) / 2147483648.0 - 0.5;
}
int main(void)
{
    enum { N = Ladder_STATES };
    static double b[N], x[N], rest[N];
    printf("turn,pivots,rest\n");
    for (int turn = 0; turn < 20; turn++) {
        Ladder_matrix a;
        double worst = 0.0;
        if (!Ladder_open_matrix(&a))
            return 1;
        for (int p = 0; p < Ladder_ENTRIES; p++)
            a.rates[p] = roll();
        /* In odd turns the diagonal is zero here and there, or nearly. */
        for (int i = 0; i < N; i++)
            a.rates[Ladder_entry_diagonal[i]] = turn % 2 == 0 ? -roll() : i % 3 == 0 ? 3.0 : i % 7 == 0 ? 3.0 - 1e-14 : roll();
        if (Ladder_factor_matrix(&a, 3.0))
            return 1;
        for (int i = 0; i < N; i++)
            rest[i] = b[i] = x[i] = roll();
        Ladder_solve_matrix(&a, x);
        for (int j = 0; j < N; j++)
            for (int p = Ladder_entry_start[j]; p < Ladder_entry_start[j + 1]; p++)
                rest[Ladder_entry_row[p]] -= ((Ladder_entry_row[p] == j) * 3.0 - a.rates[p]) * x[j];
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(rest[i]));
        printf("%d,%d,%.17g\n", turn, a.pivots, worst);
        Ladder_close_matrix(&a);
    }
    return 0;
}
"#;

#[test]
fn factors_solve_what_they_were_made_of() {
    if !has("cc") {
        return;
    }
    let folder = folder("factors");
    let source = written(&folder, &ladder(200, CAPACITOR, RECTIFIER));
    exported(&source, "c", &folder.join("ladder.c"), &["--until", "1"]);
    let file = folder.join("factors.c");
    std::fs::write(&file, FACTORS).expect("a file");
    let (_, rows) = run(&mut Command::new(compiled(&file, "NONE")));
    assert_eq!(rows.len(), 20);
    for row in rows {
        assert_eq!(row[1] != 0.0, row[0] as usize % 2 == 1, "{row:?}");
        assert!(row[2] < 1e-9, "{row:?}");
    }
}
