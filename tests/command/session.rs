//! Sessions: the 1990 paper's own transcript, commands and mistakes, ENPORT's dialogue.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use bgm::revise::form::Form;
use bgm::session::{Environment, ReducedModel, ReductionRequest, Reply, Session, reduce_storage};
use bgm::syntax::load::Files;

use crate::support::kept;

/// Files in memory, and what was written.
#[derive(Default)]
struct Memory {
    files: BTreeMap<PathBuf, String>,
}

impl Files for Memory {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let found = self.files.get(path).map(|text| text.clone().into_bytes());
        found.ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        let names = self.files.keys();
        names.map(|path| path.display().to_string()).collect()
    }
}

impl Memory {
    fn with(files: &[(&str, &str)]) -> Memory {
        let files = files.iter();
        Memory {
            files: files
                .map(|(name, text)| (PathBuf::from(name), text.to_string()))
                .collect(),
        }
    }

    /// Runs lines; files are written here, texts and messages come back.
    fn run(&mut self, session: &mut Session, lines: &str) -> (String, String) {
        let (mut text, mut messages) = (String::new(), String::new());
        for line in lines.lines() {
            let Reply {
                text: shown,
                messages: said,
                files,
                ..
            } = session.line(line, self);
            text.push_str(&shown);
            messages.push_str(&said);
            for file in files {
                let there = self.files.entry(file.path).or_default();
                if !file.append {
                    there.clear();
                }
                there.push_str(&file.text);
            }
        }
        (text, messages)
    }

    fn file(&self, name: &str) -> &str {
        self.files.get(Path::new(name)).map_or("", String::as_str)
    }
}

fn session() -> Session {
    with_reduce(reduce_storage)
}

fn with_reduce(reduce: bgm::session::Reducer) -> Session {
    Session::new(Environment {
        colour: false,
        size: (80, 24),
        reduce,
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("a file can be read")
}

/// The files of the paper, written by the program as the paper's session has it.
#[test]
fn the_transcript_of_the_paper_writes_its_files() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).expect("a folder can be made");
    for name in ["rlc.dym", "rlc.ctl", "rlc.session"] {
        std::fs::copy(folder().join(name), place.join(name)).expect("a file can be copied");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .args(["session", "rlc.session"])
        .current_dir(&place)
        .output()
        .expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(output.status.code(), Some(0));
    let written = |name: &str| std::fs::read_to_string(place.join(name)).expect("it was written");
    for name in ["rlc.eq", "rlc.sor", "rlc.sr2", "rlc.sov", "rlc.des"] {
        kept(&folder().join(name), &written(name));
    }
    // What the paper prints, but for the order, and for B1.y, which the paper calls B3.x.
    let solved = written("rlc.sov");
    for equation in [
        "R2   y2 = y1/R",
        "B3.y = u - y1",
        "R1   B1.y = B3.y/R",
        "C1.f = B1.y - y2",
        "C1   dere = f/C",
        "L1   derf = u/I",
    ] {
        assert!(solved.contains(equation), "{equation}\n{solved}");
    }
    let program = written("rlc.des");
    for line in [
        "u = 10.0",
        "TMAX = 2.0E-5 | DT = 2.0E-7 | NN = 101",
        "-- Submodel: R2\ny2 = y1/R2$R",
        "d/dt y1 = C1$f/C1$C",
        "d/dt L1$f = u/L1$I",
        "OUT\ndispt y1, y2",
        "/PIC 'rlc.PRC'",
    ] {
        assert!(program.contains(line), "{line}\n{program}");
    }
}

/// Without its prompts the transcript is a script that does the same.
#[test]
fn prompts_may_be_left_out() {
    let given = [("rlc.dym", read("rlc.dym")), ("rlc.ctl", read("rlc.ctl"))];
    let given: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let (mut with, mut without) = (Memory::with(&given), Memory::with(&given));
    let transcript = read("rlc.session");
    let (until_stop, _) = transcript
        .split_once("$ desire")
        .expect("the end of the session");
    let bare: String = (until_stop.lines().skip(1))
        .map(|line| format!("{}\n", line[1..].trim()))
        .collect();
    with.run(&mut session(), until_stop);
    without.run(&mut session(), &bare);
    assert!(!with.file("rlc.des").is_empty());
    assert_eq!(with.files, without.files);
}

const TYPED: &str = "\
enter model
@bondgraph

model Lag
  parameter tau = 2

  input u
  output y
  tau*der(y) = u - y
end
";

/// A model typed line by line, with blank lines and an include that holds no model; then an experiment in the form of the paper.
#[test]
fn models_and_experiments_can_be_typed() {
    let mut files = Memory::default();
    let mut session = session();
    let (text, said) = files.run(&mut session, TYPED);
    assert_eq!((text.as_str(), said.as_str()), ("", ""));
    assert_eq!(session.prompt(), "> ");
    let experiment = "cmodel\nsimutime 4\ncommupoints 5\ninput 1, u(independ, 1.0)\n";
    files.run(&mut session, experiment);
    assert_eq!(session.prompt(), "- ");
    let (_, said) = files.run(&mut session, "end\n");
    assert_eq!(said, "");
    let (text, said) = files.run(
        &mut session,
        "simulate\noutfile lag.csv\noutput results\noutfile\n",
    );
    assert_eq!(said, "");
    assert!(text.starts_with("Lag: Time 0 to 4"), "{text}");
    let rows: Vec<Vec<f64>> = (files.file("lag.csv").lines().skip(1))
        .map(|line| {
            line.split(',')
                .map(|cell| cell.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), 5);
    // Columns: Time, y, u or u, y.
    let names: Vec<&str> = files
        .file("lag.csv")
        .lines()
        .next()
        .unwrap_or("")
        .split(',')
        .collect();
    let y = names
        .iter()
        .position(|name| *name == "y")
        .expect("y is recorded");
    for row in rows {
        let wanted = 1.0 - (-row[0] / 2.0_f64).exp();
        assert!((row[y] - wanted).abs() < 1e-5, "{row:?}");
    }
    let (text, said) = files.run(&mut session, "plot y\n");
    assert!(text.contains('┤') && said.is_empty(), "{text}{said}");
    files.run(&mut session, "outfile lag.svg\nplot y\n");
    assert!(files.file("lag.svg").starts_with("<svg"));
}

#[test]
fn mistakes_leave_the_session_alive() {
    let broken = "model M\n  local x\n  x = = 1\nend\n";
    let mut files = Memory::with(&[("rlc.dym", &read("rlc.dym")), ("broken.bgm", broken)]);
    let mut session = session();
    let cases = [
        (
            "output equations",
            "there is no model; `enter model` reads one",
        ),
        ("enter experiment", "there is no model"),
        ("outputs", "did you mean `output`?"),
        (
            "frobnicate",
            "there is no command `frobnicate`; there are `enter`, `outfile`",
        ),
        (
            "enter model\n@rlc.dim",
            "the include `rlc.dim` is not found",
        ),
        ("enter model\n@broken.bgm", "error["),
        ("enter model\n\n", "no model was entered"),
        ("enter model\n@bondgraph\n.", "`<model>` has no `model`"),
        ("simulate", "there is no model"),
    ];
    for (line, wanted) in cases {
        let (text, said) = files.run(&mut session, line);
        assert_eq!(text, "", "{line}");
        assert!(said.contains(wanted), "{line}: {said}");
        assert_eq!(session.prompt(), "> ", "{line}");
    }
    let (_, said) = files.run(&mut session, "enter model\n@rlc.dym\n");
    assert_eq!(said, "");
    let cases = [
        ("output sorted equations", "not sorted yet"),
        ("output", "output what? There are `equations`"),
        (
            "output fortran program",
            "there are no programs in `fortran`; there are",
        ),
        ("output fmu program", "an FMU is not text"),
        ("outfile m.bgm/", "`m.bgm/` is the name of a folder"),
        ("output desire program", "need the end of the run"),
        ("partition fully", "`partition eliminate`"),
        ("variable state R1.R", "its kind is parameter"),
        ("variable state C1.x", "no variable `C1.x`"),
        ("plot", "nothing was run yet"),
        ("list all", "`list` stands alone"),
        (
            "enter experiment nothing",
            "there is no experiment `nothing`",
        ),
        (
            "outfile rlc.dym\noutput equations\noutfile",
            "the model was read from it",
        ),
        ("help me", "there is no command `me`"),
    ];
    for (line, wanted) in cases {
        let (_, said) = files.run(&mut session, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    // A model with errors does not take the place of the one that is loaded.
    files.run(&mut session, "enter model\n@broken.bgm\n");
    let (text, _) = files.run(&mut session, "output equations\n");
    assert!(text.starts_with("RLC: 18 equations"), "{text}");
    let (text, _) = files.run(&mut session, "help\nlist\n");
    assert!(text.contains("partition eliminate") && text.contains("RLC, 18 equations"));
}

/// What a script says names the line, and its exit code tells that something was wrong.
#[test]
fn scripts_tell_where() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session_mistakes");
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let script = "enter model\nmodel M\nlocal x\nx = 1\nend\nfoo\noutfile no/such/place.eq\noutput equations\noutfile\noutput equations\n";
    std::fs::write(place.join("a.session"), script).expect("a file can be written");
    let run = |name: &str| {
        Command::new(env!("CARGO_BIN_EXE_bgm"))
            .args(["session", name])
            .current_dir(&place)
            .output()
            .expect("the program runs")
    };
    let output = run("a.session");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("a.session:6: error: there is no command `foo`"),
        "{said}"
    );
    assert!(
        said.contains("a.session:8: error: cannot write `no/such/place.eq`"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("M: 1 equation"));
    assert_eq!(output.status.code(), Some(1));
    let output = run("missing.session");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read the script"));
}

#[test]
fn reduction_of_the_index_and_wishes_for_states() {
    let text = "\
enter model
model Two
  local x, y, F
  der(x) = F
  2*der(y) = 1 - F
  x = 3*y
end
variable state y
differentiate
output equations
partition eliminate
output solved equations
";
    let (text, said) = Memory::default().run(&mut session(), text);
    assert_eq!(said, "");
    assert!(
        text.contains("Two: index 2\n\nDIFFERENTIATED\n\nx = 3*y, once"),
        "{text}"
    );
    assert!(text.contains("x: depends on y"), "{text}");
    assert!(text.contains("{ derivative of x = 3*y }"), "{text}");
    let (text, _) = Memory::default().run(
        &mut session(),
        "enter model\nmodel M\nlocal x\nder(x) = -x\nend\nvariable nostate x\nlist\n",
    );
    assert!(text.contains("nostate     x"), "{text}");
}

#[test]
fn commands_variables_and_files_are_completed() {
    let mut files = Memory::with(&[("rlc.dym", &read("rlc.dym"))]);
    let mut session = session();
    let complete = |session: &Session, line: &str| session.completions(line, &files).1;
    assert_eq!(complete(&session, "part"), ["partition"]);
    assert_eq!(
        complete(&session, "output so"),
        ["sorted equations", "solved equations"]
    );
    assert_eq!(complete(&session, "output des"), ["desire program"]);
    files.run(&mut session, "enter model\n");
    let (at, found) = session.completions("@rl", &files);
    assert_eq!((at, found), (1, vec!["rlc.dym".to_string()]));
    files.run(&mut session, "@rlc.dym\n");
    let (at, found) = session.completions("variable state C1.", &files);
    assert_eq!(
        (at, found),
        (15, vec!["C1.e".into(), "C1.f".into(), "C1.C".into()])
    );
}

/// Stands for what rewrites a model: the text has a mark for the storage that goes.
fn rewrite(wanted: &ReductionRequest<'_>, _: &dyn Files) -> Result<ReducedModel, String> {
    assert_eq!((wanted.kept, wanted.form), ("I1", Form::Gain));
    let gone = format!("{{{}}}", wanted.removed);
    let lines = wanted.text.lines().filter(|line| !line.contains(&gone));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    match text.len() < wanted.text.len() {
        true => Ok(ReducedModel {
            text,
            notes: Vec::new(),
        }),
        false => Err(format!("nothing of {} was found", wanted.removed)),
    }
}

const MASSES: &str = "\
@bondgraph
model Masses
  submodel (SE) F
  submodel (I) I1(I = 2)
  submodel (I) I2(I = 3)  {I2}
  submodel (I) I3(I = 5)  {I3}
  junction1 v
  connect F at v
  connect I1 at v
  connect I2 at v  {I2}
  connect I3 at v  {I3}
  F.E0 = 1
end
";

#[test]
fn the_dialogue_of_the_thesis() {
    let mut files = Memory::with(&[("masses.bgm", MASSES)]);
    let mut session = with_reduce(rewrite);
    let (_, said) = files.run(&mut session, "enter model\n@masses.bgm\n");
    assert_eq!(said, "");
    let (text, _) = files.run(&mut session, "alleviate\n");
    assert!(
        text.starts_with("*** The number of dependent C and I ports is: 2.\n"),
        "{text}"
    );
    assert!(
        text.contains("The path contains the following elements:\nI2 1v I1\n"),
        "{text}"
    );
    assert!(
        text.ends_with("Which element would you like to reduce?\nI2 or I1\n"),
        "{text}"
    );
    assert_eq!(session.prompt(), "Enter selection (I2): ");
    let (_, said) = files.run(&mut session, "I7\n");
    assert!(said.contains("Bad entry"), "{said}");
    // The dependent one goes if nothing is said.
    session.line("", &files);
    assert_eq!(session.prompt(), "Select equation type for I1 (GAIN): ");
    let (_, said) = files.run(&mut session, "LOSS\n");
    assert!(said.contains("Bad entry"), "{said}");
    let reply = session.line("", &files);
    assert!(
        reply
            .text
            .starts_with("I1: GAIN 1/(I1.I + I2.I)\nTrace is complete\n"),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("I3 1v I1"), "{}", reply.text);
    let (text, said) = files.run(&mut session, "I3\ngain\nalleviate\noutput model\n");
    assert_eq!(said, "");
    assert!(
        text.contains("ports is: 0.\nNo derivative causality was found\n"),
        "{text}"
    );
    assert!(!text.contains("{I2}") && !text.contains("{I3}") && text.contains("I1(I = 2)"));
    assert_eq!(session.prompt(), "> ");
}

/// Where a path splits, the thesis gives up, and so does the dialogue, which says why.
#[test]
fn traces_that_fail_are_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/papers/mccalla-1991.bgm"));
    let mut files = Memory::with(&[("m.bgm", &text.expect("a file can be read"))]);
    let mut session = with_reduce(|_, _| Err("it stands in a library type".into()));
    let (text, said) = files.run(&mut session, "enter model Figure8\n@m.bgm\nalleviate\n");
    assert_eq!(said, "");
    assert!(text.contains("the path splits at the 1-junction"), "{text}");
    assert!(text.ends_with("Trace failed...\n"), "{text}");
    let (text, _) = files.run(
        &mut session,
        "enter model LeverArm\n@m.bgm\nalleviate\n\n\nlist\n",
    );
    assert!(
        text.contains("it stands in a library type\nTrace failed...\n"),
        "{text}"
    );
    assert!(text.contains("model       LeverArm"), "{text}");
}

/// The lever arm of the thesis, as printed: I2 goes, I1 takes m1 + (b/a)**2*m2, and the reduced model is the one that is loaded.
#[test]
fn the_lever_arm_of_the_thesis() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/papers/mccalla-1991.bgm"));
    let mut files = Memory::with(&[("m.bgm", &text.expect("a file can be read"))]);
    let mut session = session();
    let (before, _) = files.run(
        &mut session,
        "enter model LeverArm\n@m.bgm\npartition eliminate\noutput solved equations\n",
    );
    assert!(before.contains("NO LONGER STATES"), "{before}");
    let (text, _) = files.run(&mut session, "alleviate\n\n\n");
    assert!(text.contains("I2 1vB Bar 1vA I1"), "{text}");
    assert!(text.ends_with("Trace is complete\n"), "{text}");
    let (text, said) = files.run(
        &mut session,
        "alleviate\noutput model\npartition eliminate\noutput solved equations\n",
    );
    assert_eq!(said, "");
    assert!(text.contains("ports is: 0."), "{text}");
    assert!(!text.contains("NO LONGER STATES"), "{text}");
    assert!(text.contains("1 state,"), "{text}");
}

/// Answers behind the questions of a transcript, a dot that leaves the dialogue, an input that ends in it.
#[test]
fn dialogues_in_transcripts() {
    let scripts = [
        (
            "> alleviate\nEnter selection (I2): I1\nSelect equation type for I2 (GAIN):\n> list\n",
            false,
            true,
        ),
        ("> alleviate\n> I2\n\n> list\n", false, true),
        ("> alleviate\n.\n> list\n", false, false),
        ("> alleviate\n", true, false),
    ];
    for (script, fails, complete) in scripts {
        let lever = std::fs::read_to_string("examples/lever_arm.bgm").expect("it is there");
        let mut files = Memory::with(&[("lever.bgm", &lever)]);
        let mut session = session();
        let lines = format!("> enter model\n- @lever.bgm\n{script}");
        let (text, said) = files.run(&mut session, &lines);
        assert!(!said.contains("error"), "{script}{said}");
        assert_eq!(
            text.contains("Trace is complete"),
            complete,
            "{script}{text}"
        );
        assert_eq!(session.end(&files).failed, fails, "{script}");
    }
}

/// The form that was asked for is the form in which the reduced model has its equivalent; its value is the same.
#[test]
fn the_form_of_the_equivalent() {
    let lever = std::fs::read_to_string("examples/lever_arm.bgm").expect("it is there");
    let reduced = |answers: &str| {
        let mut files = Memory::with(&[("lever.bgm", &lever)]);
        let mut session = session();
        let lines = format!("enter model\n@lever.bgm\nalleviate\n{answers}");
        let (text, said) = files.run(&mut session, &lines);
        assert!(text.contains("Trace is complete"), "{text}{said}");
        let (text, _) = files.run(&mut session, "output model\n");
        let run = "simulate\noutfile r.csv\noutput results\n";
        let (_, said) = files.run(&mut session, run);
        assert_eq!(said, "");
        (text, files.file("r.csv").to_string())
    };
    // The usual form of an inertance, as ENPORT has it: f = p*GAIN.
    let (usual, rows) = reduced("\n\n");
    assert!(
        usual.contains("parameter I1_gain = 1/(m1 + (b/a)**2*m2)"),
        "{usual}"
    );
    assert!(usual.contains("I1(I = 1/I1_gain)"), "{usual}");
    assert_eq!(reduced("I2\ngain\n"), (usual, rows.clone()));
    let (text, others) = reduced("I2\nATT\n");
    assert!(text.contains("I1(I = m1 + (b/a)**2*m2)"), "{text}");
    assert!(!text.contains("gain"), "{text}");
    // 1/(1/x) is x but for rounding.
    let numbers = |rows: &str| -> Vec<f64> {
        let cells = rows.lines().skip(1).flat_map(|line| line.split(','));
        cells.map(|cell| cell.parse().expect("a number")).collect()
    };
    let (one, other) = (numbers(&rows), numbers(&others));
    assert_eq!(one.len(), other.len());
    assert!((one.iter().zip(&other)).all(|(a, b)| (a - b).abs() <= 1e-6 * (1.0 + a.abs())));
    // Force 9 on a mass of 9.
    assert!(one.iter().any(|value| (value - 0.5).abs() < 1e-5));
}

/// Types first, then the model that uses them, each with its own `enter model` or with none; entered again they are replaced.
#[test]
fn models_are_entered_one_after_the_other() {
    const LAG: &str = "model type Lag\n  input u\n  output y\n  der(y) = u - y\nend\n";
    const TWO: &str = "model Two\n  submodel (Lag) a, b\n  input u\n  output y\n  a.u = u\n  b.u = a.y\n  y = b.y\nend\n";
    for entering in [
        format!("enter model Lag\n{LAG}enter model Two\n{TWO}"),
        format!("enter model\n{LAG}.\nenter model\n{TWO}"),
        format!("{LAG}{TWO}"),
        format!("enter model Two\n{LAG}{TWO}"),
        format!(
            "> {}> {}",
            LAG.replace('\n', "\n- "),
            TWO.replace('\n', "\n- ")
        ),
    ] {
        let entering = entering
            .replace("- > ", "> ")
            .trim_end_matches("- ")
            .to_string();
        let mut files = Memory::default();
        let mut session = session();
        let (_, said) = files.run(&mut session, &entering);
        assert!(!said.contains("error"), "{entering}{said}");
        assert_eq!(session.prompt(), "> ", "{entering}");
        let (text, said) = files.run(&mut session, "output equations\nlist\n");
        assert!(
            text.starts_with("Two: 5 equations"),
            "{entering}{text}{said}"
        );
        assert!(text.contains("entered     Lag, Two"), "{text}");
        // A type that is entered again changes the model that uses it.
        let again = LAG.replace("u - y", "3*(u - y)");
        let (_, said) = files.run(&mut session, &format!("enter model Lag\n{again}"));
        assert!(said.contains("`Two` is read again, with `Lag`"), "{said}");
        let (text, _) = files.run(&mut session, "output equations\n");
        assert!(text.contains("dery = 3 * (u - y)"), "{text}");
        // One that the model cannot use leaves it as it was.
        let wrong = LAG.replace("input u", "input v");
        let (_, said) = files.run(&mut session, &format!("enter model Lag\n{wrong}"));
        assert!(said.contains("`Two` stays as it was"), "{said}");
        let (text, _) = files.run(&mut session, "output equations\n");
        assert!(text.contains("dery = 3 * (u - y)"), "{text}");
        // And a model that uses the model.
        files.run(&mut session, &format!("enter model Lag\n{LAG}"));
        let (_, said) = files.run(
            &mut session,
            "enter model\nmodel Four\n  submodel (Two) t\n  input u\n  t.u = u\nend\n",
        );
        assert_eq!(said, "");
        let (text, _) = files.run(&mut session, "output equations\noutput model\n");
        assert!(text.contains("t.b   dery = u - y"), "{text}");
    }
}

/// A model of a file with types that were typed, a typed model with types of a file, and what has no such model.
#[test]
fn files_and_typed_models_go_together() {
    let uses = "model Uses\n  submodel (Lag) a\n  a.u = 1\nend\n";
    let lag = "model type Lag\n  input u\n  output y\n  der(y) = u - y\nend\n";
    let mut files = Memory::with(&[("uses.bgm", uses), ("lag.bgm", &format!("{lag}{uses}"))]);
    let mut one = session();
    let (_, said) = files.run(&mut one, "enter model\n@uses.bgm\n");
    assert!(said.contains("error["), "{said}");
    let (_, said) = files.run(&mut one, &format!("{lag}enter model\n@uses.bgm\n"));
    assert!(!said.contains("error"), "{said}");
    let (text, _) = files.run(&mut one, "output equations\n");
    assert!(text.starts_with("Uses: 2 equations"), "{text}");
    let mut other = session();
    let mine = "model Mine\n  submodel (Lag) b\n  b.u = 2\nend\n";
    let (_, said) = files.run(&mut other, &format!("enter model\n@lag.bgm\n{mine}"));
    assert_eq!(said, "");
    let (text, _) = files.run(&mut other, "output equations\n");
    assert!(text.starts_with("Mine: 2 equations"), "{text}");
    // What is near may have been entered before.
    let wrong = mine.replace("Lag", "Lga");
    let (_, said) = files.run(&mut other, &wrong);
    assert!(said.contains("did you mean `Lag`?"), "{said}");
    let (_, said) = files.run(&mut other, &format!("enter model Nobody\n{lag}.\n"));
    assert!(said.contains("there is no model `Nobody`"), "{said}");
    let (_, said) = files.run(&mut other, "enter model Nobody\n@lag.bgm\n");
    assert!(said.contains("there is no model `Nobody`"), "{said}");
}

/// Naming an outfile again goes on behind what the session has written there; a picture is a file by itself.
#[test]
fn an_outfile_that_is_named_again_goes_on() {
    let mut files = Memory::with(&[("m.eq", "old\n")]);
    let mut session = session();
    let model = "enter model\nmodel M\n  local x\n  der(x) = -x\nend\n";
    files.run(&mut session, model);
    files.run(
        &mut session,
        "out file m.eq\noutput equations\noutfile other.eq\noutput equations\noutfile ./m.eq\npartition\noutput sorted equations\n",
    );
    let text = files.file("m.eq").to_string() + files.file("./m.eq");
    assert!(!text.contains("old"), "{text}");
    assert_eq!(text.matches("M: 1 equation").count(), 2, "{text}");
    assert!(text.contains("[derx] = -x"), "{text}");
    files.run(
        &mut session,
        "cmodel\nsimutime 1\nend\nsimulate\noutfile x.svg\nplot x\nplot x\noutfile x.svg\nplot x\n",
    );
    assert_eq!(files.file("x.svg").matches("<svg").count(), 1);
    files
        .files
        .insert("x.ctl".into(), "cmodel\nsimutime 2\nend\n".into());
    let (_, said) = files.run(
        &mut session,
        "enter experiment\n@x.ctl\noutfile x.ctl\noutput equations\n",
    );
    assert!(said.contains("the experiment was read from it"), "{said}");
}

/// What is said in a session speaks of its commands, not of options of the command line.
#[test]
fn hints_speak_of_the_session() {
    let two = "model M\n  input u\n  output y\n  der(y) = u - y\nend\nexperiment one for M\n  simutime 1\n  input u = 1\nend\nexperiment two for M\n  simutime 2\n  input u = 1\nend\n";
    let other = "model A\n  local x\n  der(x) = 1\nend\nmodel B\n  local y\n  der(y) = 1\nend\nexperiment A\n  simutime 1\nend\n";
    let bare = "model M\n  input u\n  output y\n  der(y) = u - y\nend\n";
    let mut files = Memory::with(&[("two.bgm", two), ("other.bgm", other), ("bare.bgm", bare)]);
    for (lines, wanted) in [
        (
            "enter model\n@two.bgm\nsimulate",
            "choose with `enter experiment one` or `enter experiment two`",
        ),
        (
            "enter model\n@other.bgm\nenter experiment A",
            "`enter model A`",
        ),
        (
            "enter model\n@bare.bgm\nsimulate",
            "in an experiment, which `enter experiment` reads",
        ),
        (
            "enter model\n@bare.bgm\noutput c program",
            "an experiment with `input u = ...` gives another",
        ),
        (
            "enter model\n@bare.bgm\noutput c program",
            "an experiment says otherwise: `enter experiment`",
        ),
        (
            "enter model\n@bare.bgm\noutput desire program",
            "which `enter experiment` reads",
        ),
        ("enter model\n@bondgraph\n.", "`enter model NAME`"),
    ] {
        let (_, said) = files.run(&mut session(), lines);
        assert!(said.contains(wanted), "{lines}: {said}");
        assert!(!said.contains("`--"), "{lines}: {said}");
    }
}
