//! `bgm simulate` as a program: what it prints and writes, what it says, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// y = u*(1 - exp(-Time/tau)), u = 1 unless something else is said.
const LAG: &str = "\
model Lag
  parameter tau = 2
  input u
  output y
  local error
  tau*der(y) = u - y
  error = u - y
end

experiment Lag
  simutime 4
  commupoints 5
  input u = 1
end

experiment long for Lag
  simutime 40
  step 10
  parameter tau = 4
  input u = 2
  init y = 1
end
";

/// Swings for as long as anybody waits.
const SWING: &str = "\
model Swing
  local x, v
  der(x) = v
  der(v) = -x
  init(x) = 1
end

experiment Swing
  simutime 1E7
  step 1
end
";

/// What a run said and how it ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("simulate_command")
            .join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        let folder = Folder(path);
        folder.write("lag.bgm", LAG);
        folder.write("swing.bgm", SWING);
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("a file can be written");
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).expect("a file can be read")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bgm"));
        command
            .current_dir(&self.0)
            .args(["simulate", "--color", "never"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        let output = self.command(words).output().expect("bgm runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// The rows of a run that goes well, after a look at what it says.
    fn rows(&self, words: &[&str]) -> Rows {
        let ended = self.run(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.err);
        for line in ended.err.lines() {
            let fine = line.starts_with("note: ") || is_summary(line);
            assert!(fine, "{words:?} says: {line}");
        }
        Rows::read(&ended.out)
    }

    /// A run that fails with this code, and says all of this.
    fn fails(&self, words: &[&str], code: i32, said: &[&str]) -> Ended {
        let ended = self.run(words);
        assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.err);
        for part in said {
            assert!(ended.err.contains(part), "{words:?}: {}", ended.err);
        }
        ended
    }
}

fn is_summary(line: &str) -> bool {
    line.contains(" steps, ") || line.contains(" step, ")
}

/// A CSV file: every row has as many numbers as there are names.
#[derive(Debug)]
struct Rows {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Rows {
    fn read(text: &str) -> Rows {
        assert!(text.ends_with('\n'), "the last line is whole: {text:?}");
        let mut lines = text.lines();
        let names: Vec<String> = (lines.next().unwrap_or("").split(','))
            .map(|name| name.trim_matches('"').to_string())
            .collect();
        let values: Vec<Vec<f64>> = lines
            .map(|line| {
                let row = line
                    .split(',')
                    .map(|value| value.parse().expect("a number"));
                row.collect()
            })
            .collect();
        for row in &values {
            assert_eq!(row.len(), names.len(), "{row:?}");
        }
        Rows { names, values }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|other| other == name);
        let at = at.unwrap_or_else(|| panic!("no `{name}` in {:?}", self.names));
        self.values.iter().map(|row| row[at]).collect()
    }
}

#[track_caller]
fn near(values: &[f64], wanted: &[f64]) {
    let off = values.iter().zip(wanted).map(|(a, b)| (a - b).abs());
    let worst = off.fold(0.0, f64::max);
    assert!(
        values.len() == wanted.len() && worst < 2e-5,
        "{values:?} instead of {wanted:?}"
    );
}

/// u*(1 - exp(-t/tau)) + y0*exp(-t/tau)
fn lag(times: &[f64], u: f64, tau: f64, y0: f64) -> Vec<f64> {
    let at = |t: &f64| u + (y0 - u) * (-t / tau).exp();
    times.iter().map(at).collect()
}

#[test]
fn rows_go_to_a_pipe_and_words_to_standard_error() {
    let folder = Folder::new("pipe");
    let ended = folder.run(&["lag.bgm"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let rows = Rows::read(&ended.out);
    assert_eq!(rows.names, ["Time", "y", "u"]);
    near(&rows.column("Time"), &[0.0, 1.0, 2.0, 3.0, 4.0]);
    near(&rows.column("y"), &lag(&rows.column("Time"), 1.0, 2.0, 0.0));
    let said: Vec<&str> = ended.err.lines().collect();
    assert_eq!(said.len(), 1, "a summary and nothing else: {said:?}");
    assert!(said[0].starts_with("Lag: Time 0 to 4, "), "{said:?}");
    assert!(
        is_summary(said[0]) && said[0].contains("Newton"),
        "{said:?}"
    );
}

#[test]
fn rows_go_to_a_file() {
    let folder = Folder::new("file");
    let piped = folder.run(&["lag.bgm"]);
    let ended = folder.run(&["lag.bgm", "-o", "lag.csv"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""));
    assert_eq!(folder.read("lag.csv"), piped.out);
    // `-` is standard output, also with a plot.
    let ended = folder.run(&["lag.bgm", "-o", "-", "--plot", "lag.svg"]);
    assert_eq!(ended.out, piped.out);
}

#[test]
fn settings_of_the_command_line() {
    let folder = Folder::new("settings");
    let words = ["lag.bgm", "--set", "tau=1", "--init", "y=3"];
    let rows = folder.rows(&words);
    near(&rows.column("y"), &lag(&rows.column("Time"), 1.0, 1.0, 3.0));
    let words = [
        "lag.bgm", "--input", "u=2*Time", "--until", "2", "--step", "0.5",
    ];
    let rows = folder.rows(&words);
    let times = [0.0, 0.5, 1.0, 1.5, 2.0];
    near(&rows.column("Time"), &times);
    near(&rows.column("u"), &times.map(|t| 2.0 * t));
    near(
        &rows.column("y"),
        &times.map(|t: f64| 2.0 * t - 4.0 + 4.0 * (-t / 2.0).exp()),
    );
    let rows = folder.rows(&["lag.bgm", "--start", "-1", "--until", "1", "--points", "3"]);
    near(&rows.column("Time"), &[-1.0, 0.0, 1.0]);
    let rows = folder.rows(&["lag.bgm", "--digits", "3"]);
    assert_eq!(rows.column("y"), [0.0, 0.393, 0.632, 0.777, 0.865]);
    for method in ["bdf", "esdirk34", "trbdf2", "tsit45"] {
        let rows = folder.rows(&["lag.bgm", "--method", method]);
        near(&rows.column("y"), &lag(&rows.column("Time"), 1.0, 2.0, 0.0));
    }
}

#[test]
fn experiments_by_name_and_by_file() {
    let folder = Folder::new("experiments");
    let rows = folder.rows(&["lag.bgm", "--experiment", "long"]);
    near(&rows.column("Time"), &[0.0, 10.0, 20.0, 30.0, 40.0]);
    near(&rows.column("y"), &lag(&rows.column("Time"), 2.0, 4.0, 1.0));
    folder.write(
        "own.bgm",
        "experiment Lag\n  simutime 1\n  commupoints 2\n  input u = 5\nend\n",
    );
    let rows = folder.rows(&["lag.bgm", "--experiment", "own.bgm"]);
    near(&rows.column("y"), &lag(&[0.0, 1.0], 5.0, 2.0, 0.0));
    // The form of the 1990 paper.
    let model = LAG.split("experiment").next().unwrap_or("");
    folder.write(
        "classic.bgm",
        &format!(
            "{model}cmodel\n  simutime 2\n  step 1\n  commupoints 3\n  input 1, u(independ, 10.0)\n  \
             ctblock\n    scale = 1\n    drunr\n  ctend\n  outblock OUT\n    dispt y\n  outend\nend\n"
        ),
    );
    let rows = folder.rows(&["classic.bgm"]);
    near(&rows.column("y"), &lag(&[0.0, 1.0, 2.0], 10.0, 2.0, 0.0));
    // Standard input has no file, and needs none.
    folder.write("none.bgm", model);
    let mut command = folder.command(&["-", "--input", "u=1", "--until", "1", "--points", "2"]);
    let file = std::fs::File::open(folder.path("none.bgm")).expect("it was written");
    let output = command.stdin(file).output().expect("bgm runs");
    let rows = Rows::read(&String::from_utf8_lossy(&output.stdout));
    near(&rows.column("y"), &lag(&[0.0, 1.0], 1.0, 2.0, 0.0));
}

/// A source that jumps at a time: an event, however it is written.
#[test]
fn a_step_at_a_time() {
    let folder = Folder::new("step");
    for source in [
        "if Time > 1 then 1 else 0",
        "if Time < 1 then 0 else 1",
        "if 2*Time - 1 >= 1 then 1 else 0",
        "if 1 < Time then 1 else 0",
        "if clock > 1 then 1 else 0",
    ] {
        let model = format!(
            "model M\n  local x, clock\n  der(clock) = 1\n  der(x) = ({source}) - x\nend\n"
        );
        folder.write("m.bgm", &model);
        let words = ["m.bgm", "--until", "3", "--points", "4", "--vars", "x"];
        let rows = folder.rows(&words);
        let wanted = [0.0, 0.0, 1.0, 2.0].map(|t: f64| 1.0 - (-t).exp());
        near(&rows.column("x"), &wanted);
    }
}

#[test]
fn what_is_not_said_is_chosen_and_told() {
    let folder = Folder::new("chosen");
    let model = LAG.split("experiment").next().unwrap_or("");
    folder.write("bare.bgm", model);
    let ended = folder.run(&["bare.bgm", "--input", "u=1"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let first = ended.err.lines().next().unwrap_or("");
    // tau = 2: settled after 7 of it, rounded up.
    let wanted = "note: no experiment; chosen: Time from 0 to 20 (from the slowest motion at the start), 501 points, ";
    assert!(first.starts_with(wanted), "{first}");
    assert!(first.ends_with("tolerance 1e-6"), "{first}");
    let rows = Rows::read(&ended.out);
    assert_eq!(rows.values.len(), 501);
    assert_eq!(rows.column("Time").last(), Some(&20.0));
}

const NETWORK: &str = "\
@bondgraph
model Network
  submodel (SE) U0
  submodel (R) R1(R = 2)
  submodel (C) C1(C = 0.5)
  submodel (bond) B1, B2, B3
  node n0, n1, nr, nc
  output y
  connect U0 at n0, B1 from n0 to n1, B2 from n1 to nr, R1 at nr, B3 from n1 to nc, C1 at nc
  U0.E0 = 3
  y = C1.e
end
";

#[test]
fn columns_by_pattern() {
    let folder = Folder::new("columns");
    folder.write("net.bgm", NETWORK);
    let given = ["net.bgm", "--until", "2", "--points", "5"];
    let run = |vars: &str| folder.rows(&[&given[..], &["--vars", vars]].concat());
    let rows = run("C1.*");
    assert_eq!(rows.names, ["Time", "C1.e", "C1.f"]);
    // Eliminated ones, what a storage holds, and power: that of a capacitor is e*f.
    let rows = run("C1.e,C1.f,C1.A.power,*.displacement,R1.power,y,U0.E0,C1.C,der(C1.e)");
    let (e, f) = (rows.column("C1.e"), rows.column("C1.f"));
    let product: Vec<f64> = e.iter().zip(&f).map(|(e, f)| e * f).collect();
    near(&rows.column("C1.A.power"), &product);
    near(&rows.column("y"), &e);
    near(&rows.column("C1.displacement"), &scaled(&e, 0.5));
    near(&rows.column("der(C1.e)"), &scaled(&f, 2.0));
    assert_eq!(rows.column("U0.E0"), [3.0; 5]);
    assert_eq!(rows.column("C1.C"), [0.5; 5]);
    let squares: Vec<f64> = f.iter().map(|f| 2.0 * f * f).collect();
    near(&rows.column("R1.power"), &squares);
    // Several times, in the order asked for, each once.
    let words = [&given[..], &["--vars", "C1.f", "--vars", "y, C1.f"]].concat();
    assert_eq!(folder.rows(&words).names, ["Time", "C1.f", "y"]);
    let wrong = |vars: &str, said: &[&str]| {
        let words = [&given[..], &["--vars", vars]].concat();
        folder.fails(&words, 2, said);
    };
    wrong("C1.g", &["`--vars`", "`C1.g`", "did you mean"]);
    wrong("CC1.*", &["`CC1.*`", "did you mean `C1`?"]);
    wrong("zz*", &["`zz*`"]);
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| factor * value).collect()
}

#[test]
fn a_picture() {
    let folder = Folder::new("picture");
    let ended = folder.run(&["lag.bgm", "--plot", "lag.svg"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), ""),
        "{}",
        ended.err
    );
    let svg = folder.read("lag.svg");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    for part in [">y<", ">u<", "polyline"] {
        assert!(svg.contains(part), "no {part}");
    }
    let words = [
        "lag.bgm",
        "--sweep",
        "tau=1,2,4",
        "--plot",
        "family.svg",
        "--vars",
        "y",
    ];
    let ended = folder.run(&words);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), ""),
        "{}",
        ended.err
    );
    let svg = folder.read("family.svg");
    assert_eq!(
        svg.matches("<polyline").count(),
        3,
        "a curve for each run:\n{svg}"
    );
    assert!(svg.contains("tau"));
}

#[test]
fn where_the_time_went() {
    let folder = Folder::new("stats");
    let ended = folder.run(&["lag.bgm", "--stats"]);
    for part in [
        "TIME",
        "integration",
        "COUNTS",
        "states                           1",
    ] {
        assert!(ended.err.contains(part), "{}", ended.err);
    }
    Rows::read(&ended.out);
}

#[test]
fn sweeps_are_one_file_in_order() {
    let folder = Folder::new("sweeps");
    let given = ["lag.bgm", "--points", "3", "--vars", "y"];
    let sweep = |list: &[&str]| {
        let options = list.iter().flat_map(|sweep| ["--sweep", sweep]);
        let words: Vec<&str> = given.into_iter().chain(options).collect();
        folder.rows(&words)
    };
    let times = [0.0, 2.0, 4.0];
    let rows = sweep(&["tau=4,1,2"]);
    assert_eq!(rows.names, ["tau", "Time", "y"]);
    assert_eq!(
        rows.column("tau"),
        [4.0, 4.0, 4.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    );
    let wanted = [4.0, 1.0, 2.0].map(|tau| lag(&times, 1.0, tau, 0.0));
    near(&rows.column("y"), &wanted.concat());
    let rows = sweep(&["tau=1..3/5"]);
    let taus: Vec<f64> = rows.column("tau").into_iter().step_by(3).collect();
    assert_eq!(taus, [1.0, 1.5, 2.0, 2.5, 3.0]);
    let rows = sweep(&["tau=1..100/3log"]);
    let taus: Vec<f64> = rows.column("tau").into_iter().step_by(3).collect();
    near(&taus, &[1.0, 10.0, 100.0]);
    folder.write(
        "two.bgm",
        &LAG.replace("tau = 2", "tau = 2, k = 1")
            .replace("u - y\n  error", "k*u - y\n  error"),
    );
    let words = [
        "two.bgm", "--points", "2", "--vars", "y", "--sweep", "tau=1,2", "--sweep", "k=3,4,5",
    ];
    let rows = folder.rows(&words);
    assert_eq!(rows.names, ["tau", "k", "Time", "y"]);
    let pairs: Vec<(f64, f64)> = (rows.values.iter().step_by(2))
        .map(|row| (row[0], row[1]))
        .collect();
    let wanted = [
        (1.0, 3.0),
        (1.0, 4.0),
        (1.0, 5.0),
        (2.0, 3.0),
        (2.0, 4.0),
        (2.0, 5.0),
    ];
    assert_eq!(pairs, wanted);
    for row in rows.values.iter().filter(|row| row[2] > 0.0) {
        near(&row[3..], &lag(&[4.0], row[1], row[0], 0.0));
    }
    // Many, in a file, rounded.
    let words = [
        "lag.bgm",
        "--points",
        "2",
        "--sweep",
        "tau=1..50/50",
        "-o",
        "s.csv",
        "--digits",
        "3",
    ];
    let ended = folder.run(&words);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), ""),
        "{}",
        ended.err
    );
    assert!(ended.err.starts_with("Lag: 50 runs, "), "{}", ended.err);
    let rows = Rows::read(&folder.read("s.csv"));
    assert_eq!(rows.values.len(), 100);
    assert!(rows.column("tau").is_sorted());
    assert_eq!(rows.column("y")[1], 0.982);
}

#[test]
fn a_sweep_with_a_run_that_fails_keeps_the_others() {
    let folder = Folder::new("sweep_failure");
    folder.write(
        "grow.bgm",
        "model Grow\n  parameter k = 1\n  local x\n  der(x) = k*x*x\n  init(x) = 1\nend\n",
    );
    let words = [
        "grow.bgm",
        "--until",
        "2",
        "--points",
        "3",
        "--sweep",
        "k=0.1,1,0.2",
    ];
    let ended = folder.fails(&words, 1, &["with k = 1:", "[E0901]"]);
    let rows = Rows::read(&ended.out);
    let (ks, times) = (rows.column("k"), rows.column("Time"));
    let whole = |k: f64| (ks.iter().zip(&times)).any(|(&one, &t)| one == k && t == 2.0);
    assert!(whole(0.1) && whole(0.2) && !whole(1.0), "{rows:?}");
}

#[test]
fn a_failure_keeps_the_last_good_state() {
    let folder = Folder::new("failure");
    let model = "model Grow\n  local x\n  der(x) = x*x\n  init(x) = 1\nend\n";
    folder.write("grow.bgm", model);
    let words = [
        "grow.bgm", "--until", "2.2", "--points", "5", "-o", "grow.csv",
    ];
    folder.fails(
        &words,
        1,
        &[
            "error[E0901]",
            "grow.bgm:3:3",
            "der(x) = x*x",
            "Time = 1.000000",
        ],
    );
    // The rows are there, under a name that says that they are not all, and nothing has the name of the whole.
    assert!(!folder.path("grow.csv").exists());
    let rows = Rows::read(&folder.read("grow.csv.part"));
    let (times, x) = (rows.column("Time"), rows.column("x"));
    assert_eq!(times[..2], [0.0, 0.55]);
    assert!((x[1] - 1.0 / 0.45).abs() < 1e-4);
    assert_eq!(times.len(), 3, "the last one is where it failed");
    assert!((times[2] - 1.0).abs() < 1e-5 && x[2] > 1000.0, "{rows:?}");
    // A row that cannot be computed: the last good state is one of the model, with its own time.
    let model =
        "model Shown\n  local x\n  output y\n  der(x) = -1\n  init(x) = 1\n  y = ln(x)\nend\n";
    folder.write("shown.bgm", model);
    let words = ["shown.bgm", "--until", "4", "--points", "3"];
    let ended = folder.fails(&words, 1, &["error[E0802]", "ln(x)", "at Time = 2"]);
    let rows = Rows::read(&ended.out);
    for row in &rows.values {
        let (time, y, x) = (row[0], row[1], row[2]);
        assert!(
            (x - (1.0 - time)).abs() < 1e-6 && (y - x.ln()).abs() < 1e-9,
            "{row:?}"
        );
    }
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new("places");
    std::fs::create_dir(folder.path("taken")).expect("a folder can be made");
    let cannot = |words: &[&str], said: &str| {
        let words = [&["lag.bgm"], words].concat();
        let ended = folder.fails(&words, 1, &["error[E0209]", said]);
        assert_eq!(ended.out, "");
        assert!(
            !ended.err.contains("Lag: Time"),
            "known before the run: {}",
            ended.err
        );
        assert_eq!(folder.read("lag.bgm"), LAG);
    };
    cannot(&["-o", "taken"], "it is a folder");
    cannot(&["--plot", "taken"], "it is a folder");
    cannot(
        &["-o", "missing/lag.csv"],
        "the folder `missing` does not exist",
    );
    cannot(
        &["--plot", "missing/lag.svg"],
        "the folder `missing` does not exist",
    );
    cannot(&["-o", "lag.bgm/lag.csv"], "`lag.bgm` is not a folder");
    cannot(&["-o", "lag.bgm"], "the model was read from it");
    cannot(&["-o", "taken/../lag.bgm"], "the model was read from it");
    cannot(&["--plot", "lag.bgm"], "the model was read from it");
    cannot(
        &["-o", "both", "--plot", "both"],
        "both the rows and the picture",
    );
    cannot(
        &["--sweep", "tau=1,2", "-o", "lag.bgm"],
        "the model was read from it",
    );
    cannot(&["--sweep", "tau=1,2", "-o", "taken"], "it is a folder");
    // A file that the model includes is as dear.
    folder.write(
        "main.bgm",
        "@lag.bgm\nmodel Main\n  submodel Lag\n  Lag.u = 1\nend\n",
    );
    let words = ["main.bgm", "--until", "1", "-o", "lag.bgm"];
    folder.fails(&words, 1, &["error[E0209]", "the model was read from it"]);
    assert_eq!(folder.read("lag.bgm"), LAG);
    #[cfg(target_os = "linux")]
    for words in [
        &["lag.bgm", "-o", "/dev/full"][..],
        &["lag.bgm", "--plot", "/dev/full"],
        &["lag.bgm", "--sweep", "tau=1,2", "-o", "/dev/full"],
    ] {
        folder.fails(
            words,
            1,
            &["error[E0209]: cannot write `/dev/full`: No space left"],
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        folder.write("locked.csv", "mine\n");
        let locked = folder.path("locked.csv");
        let mode = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(&locked, mode).expect("permissions can be set");
        // Nothing is locked to the superuser.
        if std::fs::OpenOptions::new()
            .append(true)
            .open(&locked)
            .is_err()
        {
            cannot(&["-o", "locked.csv"], "no permission");
            cannot(&["--plot", "locked.csv"], "no permission");
            assert_eq!(folder.read("locked.csv"), "mine\n");
        }
    }
}

#[test]
fn a_wrong_run_leaves_the_old_results_alone() {
    let folder = Folder::new("old");
    folder.write("old.csv", "mine\n");
    for words in [
        &["--set", "tua=1"][..],
        &["--method", "rk4"],
        &["--vars", "zz"],
        &["--until", "-1"],
    ] {
        let words = [&["lag.bgm", "-o", "old.csv"], words].concat();
        assert_ne!(folder.run(&words).code, Some(0));
        assert_eq!(folder.read("old.csv"), "mine\n", "{words:?}");
    }
}

#[test]
fn wrong_usage() {
    let folder = Folder::new("usage");
    let usage = |words: &[&str], said: &str| {
        let ended = folder.fails(&[&["lag.bgm"], words].concat(), 2, &[said]);
        assert_eq!(ended.out, "");
    };
    usage(&["--points", "-3"], "a whole number from 1 on");
    usage(&["--points", "many"], "a whole number from 1 on");
    usage(&["--until", "soon"], "not a number");
    usage(&["--digits", "0"], "1..=17");
    usage(&["--nonsense"], "--nonsense");
    let model = |words: &[&str], said: &[&str]| {
        folder.fails(&[&["lag.bgm"], words].concat(), 1, said);
    };
    model(&["--set", "tua=1"], &["[E0303]", "did you mean `tau`?"]);
    model(&["--init", "yy=1"], &["[E0302]", "did you mean `y`?"]);
    model(&["--input", "uu=1"], &["[E0302]", "did you mean `u`?"]);
    model(
        &["--experiment", "lomg"],
        &["[E0208]", "did you mean `long`?"],
    );
    model(
        &["--experiment", "nowhere.bgm"],
        &["[E0201]", "nowhere.bgm"],
    );
    model(&["--model", "Leg"], &["[E0206]", "did you mean `Lag`?"]);
    model(&["--method", "bfd"], &["[E0513]", "did you mean `bdf`?"]);
    model(&["--sweep", "tau="], &["[E0512]", "has no values"]);
    model(&["--points", "0"], &["[E0512]", "--points 0"]);
}

#[test]
fn a_single_point_is_printed_with_units() {
    let folder = Folder::new("point");
    let model = LAG.replace("output y", "output y 'V'");
    folder.write("lag.bgm", &model);
    let ended = folder.run(&["lag.bgm", "--until", "0"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), "y = 0 V\nu = 1\n")
    );
    let ended = folder.run(&["lag.bgm", "--until", "0", "--steady", "--input", "u=7"]);
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (Some(0), "y = 7 V\nu = 7\n")
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new("head");
    for words in [
        &["swing.bgm"][..],
        &["swing.bgm", "--until", "1000", "--sweep", "k=1..9/9"],
    ] {
        folder.write(
            "swing.bgm",
            &SWING
                .replace("local", "parameter k = 1\n  local")
                .replace("-x", "-k*x"),
        );
        let mut child = folder.command(words).spawn().expect("bgm starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        assert!(first.contains("Time,x,v"), "{first}");
        assert!(lines.next().is_some());
        drop(lines);
        let ended = ended(child);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(!ended.err.contains("error"), "{}", ended.err);
    }
}

fn ended(mut child: Child) -> Ended {
    let mut err = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_string(&mut err).expect("it is text");
    }
    let status = child.wait().expect("bgm ends");
    Ended {
        code: status.code(),
        out: String::new(),
        err,
    }
}

/// Waits until something holds, for a minute at most.
fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("there is `kill`").success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_computed() {
    let folder = Folder::new("interrupt");
    let mut command = folder.command(&["swing.bgm", "-o", "swing.csv", "--plot", "swing.svg"]);
    let child = command.spawn().expect("bgm starts");
    folder.write("swing.csv", "old\n");
    let path = folder.path("swing.csv.part");
    let text = || std::fs::read_to_string(&path).unwrap_or_default();
    wait("no rows while it runs", || text().lines().count() > 100);
    // Half way: whole rows only.
    let half = Rows::read(&text());
    assert!(half.values.len() >= 99);
    interrupt(&child);
    let ended = ended(child);
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(
        ended.err.contains("interrupted at Time = "),
        "{}",
        ended.err
    );
    assert_eq!(folder.read("swing.csv"), "old\n");
    let told = "`swing.csv.part`; `swing.csv` is as it was";
    assert!(ended.err.contains(told), "{}", ended.err);
    let rows = Rows::read(&text());
    assert!(rows.values.len() >= half.values.len());
    let (times, x) = (rows.column("Time"), rows.column("x"));
    assert!(times.is_sorted(), "in order");
    assert!((x[1] - 1f64.cos()).abs() < 1e-3);
    let last = times[times.len() - 1];
    let told = ended
        .err
        .split("Time = ")
        .nth(1)
        .and_then(|rest| rest.split(';').next());
    // Messages are rounded.
    let told: Option<f64> = told.and_then(|time| time.parse().ok());
    let agrees = told.is_some_and(|told| (told - last).abs() <= 1e-8 * last);
    assert!(agrees, "{last}: {}", ended.err);
    assert!(
        folder.read("swing.svg").starts_with("<svg "),
        "and it is drawn"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_keeps_what_was_computed() {
    let folder = Folder::new("interrupt_sweep");
    let model = SWING
        .replace("local", "parameter k = 1\n  local")
        .replace("-x", "-k*x");
    folder.write("swing.bgm", &model);
    let words = [
        "swing.bgm",
        "--until",
        "1000",
        "--sweep",
        "k=1..2/100000",
        "-o",
        "s.csv",
    ];
    let child = folder.command(&words).spawn().expect("bgm starts");
    let path = folder.path("s.csv.part");
    let text = || std::fs::read_to_string(&path).unwrap_or_default();
    wait("no rows while it runs", || text().lines().count() > 100);
    interrupt(&child);
    let ended = ended(child);
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("interrupted"), "{}", ended.err);
    let rows = Rows::read(&text());
    assert_eq!(rows.names, ["k", "Time", "x", "v"]);
    assert!(rows.column("k").is_sorted() && rows.values.len() > 1000);
}

/// Kept beside the model as listings are: rows and messages, without seconds.
#[test]
fn golden_files_of_runs() {
    let folder = Folder::new("golden");
    let listings = "simulate --digits 3, simulate --digits 3 --sweep tau=1..2/2 --vars y";
    folder.write("kept.bgm", &format!("{{ golden: {listings} }}\n{LAG}"));
    let golden = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bgm"));
        let output = command.current_dir(&folder.0).arg("golden").args(words);
        let output = output.output().expect("bgm runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), out, err)
    };
    let (code, _, err) = golden(&["--bless", "kept.bgm"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let piped = folder.run(&["kept.bgm", "--digits", "3"]);
    assert_eq!(folder.read("kept.simulate-digits-3.golden"), piped.out);
    let swept = folder.read("kept.simulate-digits-3-sweep-tau-1-2-2-vars-y.golden");
    assert!(swept.starts_with("tau,Time,y\n1,0,0\n"), "{swept}");
    let (code, out, _) = golden(&["kept.bgm"]);
    assert_eq!(code, Some(0), "{out}");
    for wrong in ["simulate -o x.csv", "simulate --plot x.svg"] {
        folder.write("kept.bgm", &format!("{{ golden: {wrong} }}\n{LAG}"));
        golden(&["--bless", "kept.bgm"]);
        assert!(!folder.path("x.csv").exists() && !folder.path("x.svg").exists());
    }
}
