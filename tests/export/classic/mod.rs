//! Programs for DESIRE, SIMNON and ACSL, read back by a small interpreter of their own: at points of all kinds their rates and
//! their new discrete values are those of the model.

mod interpreter;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, NoObserver, Options, Presented, prepare, presented};
use bgm::evaluate::{Point, evaluate};
use bgm::export::classic::keep_inputs;
use bgm::expr::Value;
use bgm::flat::{Kind, Leaf};
use bgm::passes::blocks::Solved;
use bgm::session::{Environment, Session, reduce_storage};
use bgm::syntax::load::Input;
use interpreter::{Language, Program};

use crate::support::files::Disk;
use crate::support::kept;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn session() -> Session {
    Session::new(Environment {
        colour: false,
        size: (80, 24),
        reduce: reduce_storage,
    })
}

/// The text of a program; what went wrong, if something did.
fn program(file: &str, language: &str) -> Result<String, String> {
    let mut session = session();
    let said: String = ["enter model", &format!("@{file}")]
        .iter()
        .map(|line| session.line(line, &Disk::default()).messages)
        .collect();
    assert_eq!(said, "", "{file}");
    let reply = session.line(&format!("output {language} program"), &Disk::default());
    match reply.failed {
        true => Err(reply.messages),
        false => Ok(reply.text),
    }
}

/// The same model, as the programs see it.
fn model(file: &str) -> Solved {
    let input = Input::File(PathBuf::from(file));
    let prepared = prepare(&input, &Options::default(), &Disk::default());
    let (mut flat, experiment) = prepared.model.expect("the model compiles");
    keep_inputs(&mut flat, &experiment);
    let mut said = Diagnostics::default();
    match presented(flat, Aliases::Eliminate, &mut NoObserver, &mut said).expect("it can be solved")
    {
        Presented::One(solved) => *solved,
        Presented::Paper(paper) => paper.solved,
        Presented::ByPosition(..) => panic!("{file} has several sets of equations"),
    }
}

/// Numbers between -4 and 4, always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 8.0 - 4.0
    }
}

fn states(solved: &Solved) -> Vec<Leaf> {
    let mut states: Vec<Leaf> = solved.flat.states().collect();
    for selection in solved.flat.selections() {
        states.extend(&selection.candidates);
    }
    states
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// Compares at random points; states that the run chooses from lie on their constraints.
fn agrees(file: &str, language: Language) {
    let solved = model(file);
    let flat = &solved.flat;
    let text = program(file, language.name()).expect("there is a program");
    let read = Program::read(&text, language);
    let states = states(&solved);
    assert_eq!(read.states.len(), states.len(), "{text}");
    let mut numbers = Numbers(1);
    for round in 0..40 {
        let mut point = Point::new(&solved);
        point.time = 0.01 * f64::from(round);
        for leaf in flat.states() {
            point.set(leaf, Value::Real(numbers.next()));
        }
        let discretes: Vec<_> = (flat.variable_ids())
            .filter(|&id| flat.variable(id).kind == Kind::Discrete)
            .collect();
        for &id in &discretes {
            let value = match point.get(Leaf::Var(id)) {
                Some(Value::Bool(_)) => Value::Bool(numbers.next() > 0.0),
                _ => Value::Real(numbers.next()),
            };
            point.set(Leaf::Var(id), value);
        }
        evaluate(&solved, &mut point).expect("it can be computed");
        let mut run = read.begin(point.time);
        for (at, &leaf) in states.iter().enumerate() {
            run.set(
                &read.states[at],
                point.real(leaf).expect("a state has a value"),
            );
        }
        assert_eq!(read.discretes.len(), discretes.len(), "{text}");
        let number = |value: Option<Value>| match value {
            Some(Value::Real(value)) => value,
            Some(Value::Bool(value)) => f64::from(u8::from(value)),
            None => panic!("no value"),
        };
        for (&id, name) in discretes.iter().zip(&read.discretes) {
            run.set(name, number(point.get(Leaf::Var(id))));
        }
        run.derive();
        for (at, &leaf) in states.iter().enumerate() {
            let order = leaf.order().expect("a state") + 1;
            let wanted = point.real(Leaf::at_order(leaf.variable(), order));
            let wanted = wanted.expect("a rate has a value");
            let found = run.rate(&read.states[at]);
            let name = flat.leaf_name(leaf);
            assert!(
                close(wanted, found),
                "{file} {name}: {wanted} is {found}\n{text}"
            );
        }
        run.happen();
        for (&id, name) in discretes.iter().zip(&read.discretes) {
            let wanted = number(point.get(Leaf::New(id)));
            let (found, name_of) = (run.get(name), flat.name(id));
            assert!(
                close(wanted, found),
                "{file} {name_of}: {wanted} is {found}\n{text}"
            );
        }
    }
    // Start values.
    let run = read.begin(0.0);
    let mut point = Point::new(&solved);
    evaluate(&solved, &mut point).expect("it can be computed");
    for (at, &leaf) in states.iter().enumerate() {
        let (wanted, found) = (point.real(leaf), run.start(&read.states[at]));
        assert!(close(wanted.expect("a value"), found), "{file}\n{text}");
    }
}

const ALL: [Language; 3] = [Language::Desire, Language::Simnon, Language::Acsl];

#[test]
fn rlc_dc_motor_and_pendulum() {
    for language in ALL {
        for file in [
            "examples/rlc.bgm",
            "examples/dc_motor.bgm",
            "examples/pendulum.bgm",
        ] {
            agrees(file, language);
        }
    }
}

/// The texts themselves, and a report.
#[test]
fn programs_are_kept() {
    let folder = root().join("tests/export");
    for model in ["rlc", "rectifier", "inductive_load", "pendulum", "dc_motor"] {
        for language in ALL {
            let file = format!("examples/{model}.bgm");
            let text = program(&file, language.name()).expect("there is a program");
            kept(&folder.join(format!("{model}.{}", language.name())), &text);
        }
    }
    for language in ALL {
        let text = program("tests/export/awkward.bgm", language.name());
        let text = text.expect("there is a program");
        kept(&folder.join(format!("awkward.{}", language.name())), &text);
    }
    for (model, languages) in [
        ("sampled", &[Language::Desire, Language::Acsl][..]),
        ("chain", &[Language::Acsl]),
        ("ticks", &ALL),
        ("ladder", &ALL),
    ] {
        for language in languages {
            let file = format!("tests/export/{model}.bgm");
            let text = program(&file, language.name()).expect("there is a program");
            kept(&folder.join(format!("{model}.{}", language.name())), &text);
        }
    }
    let report = program("examples/rlc.bgm", "latex").expect("there is a report");
    kept(&folder.join("rlc.tex"), &report);
}

#[test]
fn rectifier_and_inductive_load() {
    for language in ALL {
        agrees("examples/rectifier.bgm", language);
        agrees("examples/thermostat.bgm", language);
    }
    for language in ALL {
        let text = program("examples/inductive_load.bgm", language.name());
        let text = text.expect("there is a program");
        assert!(text.contains("drift"), "{text}");
        agrees("examples/inductive_load.bgm", language);
    }
}

/// The columns of a run of the simulator, by name.
fn simulated(file: &str) -> BTreeMap<String, Vec<f64>> {
    let mut session = session();
    let lines = ["enter model", &format!("@{file}"), "simulate"];
    for line in lines {
        let reply = session.line(line, &Disk::default());
        assert!(!reply.failed, "{}", reply.messages);
    }
    let text = session.line("output results", &Disk::default()).text;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| {
            let cells = line.split(',');
            cells.map(|cell| cell.parse().expect("a number")).collect()
        })
        .collect();
    let column = |at: usize| rows.iter().map(|row| row[at]).collect();
    (names.iter().enumerate())
        .map(|(at, name)| (name.to_string(), column(at)))
        .collect()
}

/// A run of a program gives the rows of the simulator. At the time of an event either of its sides counts.
fn runs_alike(file: &str, language: Language, names: &[&str], parts: usize, accuracy: f64) {
    let wanted = simulated(file);
    let text = program(file, language.name()).expect("there is a program");
    let read = Program::read(&text, language);
    let times = &wanted["Time"];
    let every = times[1] - times[0];
    let mut seen: Vec<Vec<Vec<f64>>> = vec![Vec::new(); times.len()];
    read.begin(0.0)
        .simulate(every, times.len(), parts, &mut |run, row| {
            seen[row].push(names.iter().map(|name| run.get(name)).collect());
        });
    for (row, seen) in seen.iter().enumerate() {
        for (at, name) in names.iter().enumerate() {
            let value = wanted[*name][row];
            let size = wanted[*name].iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            assert!(
                seen.iter()
                    .any(|values| (values[at] - value).abs() <= accuracy * size),
                "{file} {} {name} at {}: {value} is {seen:?}\n{text}",
                language.name(),
                times[row]
            );
        }
    }
}

#[test]
fn samples_and_branches() {
    for language in ALL {
        runs_alike(
            "examples/sampled_control.bgm",
            language,
            &["x", "u"],
            4,
            1e-4,
        );
    }
    // Events of relations are seen at the end of a step, in SIMNON of a step of output.
    for language in [Language::Desire, Language::Acsl] {
        let names = ["x", "n", "k", "j", "z"];
        runs_alike("tests/export/sampled.bgm", language, &names, 50, 0.01);
    }
    let names = ["x", "n", "m", "k", "b"];
    runs_alike("tests/export/chain.bgm", Language::Acsl, &names, 50, 1e-6);
    let refused = program("tests/export/sampled.bgm", "simnon").expect_err("it is refused");
    assert!(
        refused.contains("cannot restart the state `z`"),
        "{refused}"
    );
    for language in ALL {
        runs_alike(
            "tests/export/ticks.bgm",
            language,
            &["x", "n", "k", "j"],
            50,
            0.01,
        );
    }
}

/// Linear loops are written out: with constant pivots, and by Cramer's rule where a matrix moves.
#[test]
fn linear_loops() {
    for language in ALL {
        agrees("examples/differential.bgm", language);
        agrees("examples/slider_crank.bgm", language);
        agrees("tests/export/ladder.bgm", language);
        let y = program("examples/wheatstone.bgm", language.name()).expect("there is a program");
        let read = Program::read(&y, language);
        let mut run = read.begin(0.0);
        run.derive();
        let wanted = simulated("examples/wheatstone.bgm")["y"][0];
        assert!(close(run.get("y"), wanted), "{} is {wanted}", run.get("y"));
    }
    // No pivot is known to stay away from zero.
    let said = program("tests/export/turning.bgm", "acsl").expect_err("it is refused");
    assert!(
        said.contains("linear loop of 5 unknowns with") && said.contains("may become zero"),
        "{said}"
    );
}

/// A loop of equations with a large entry in each row and column, at random places; others are constant, move with a
/// state, or depend on a condition.
fn random_loop(numbers: &mut Numbers) -> String {
    let mut pick = |most: usize| ((numbers.next() + 4.0) / 8.0 * most as f64) as usize;
    let size = 4 + pick(6);
    let mut places: Vec<usize> = (0..size).collect();
    for at in (1..size).rev() {
        places.swap(at, pick(at + 1));
    }
    let mut text = String::from("model Loop\n  parameter p = 0.5, q = -0.25\n  local s, ");
    let names: Vec<String> = (0..size).map(|at| format!("x{at}")).collect();
    text.push_str(&format!("{}\n  der(s) = x0 - x1 - s\n", names.join(", ")));
    for (row, &large) in places.iter().enumerate() {
        let mut terms = Vec::new();
        for (column, name) in names.iter().enumerate() {
            if column == large {
                terms.push(format!("{}*{name}", 3 + pick(3)));
                continue;
            }
            terms.extend(match pick(9) {
                0 => Some(format!("p*{name}")),
                1 => Some(format!("q*{name}")),
                2 => Some(format!("0.1*sin(s)*{name}")),
                3 => Some(format!("(if s > 0 then p else q)*{name}")),
                4 => Some(format!("(if s > 0 and s < 2 then 0 else 0.3)*{name}")),
                _ => None,
            });
        }
        text.push_str(&format!("  {} = {row} + s\n", terms.join(" + ")));
    }
    text.push_str("end\nexperiment Loop\n  simutime 1\n  plot s\nend\n");
    text
}

#[test]
fn random_linear_loops() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loops");
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let file = place.join("loop.bgm");
    let file = file.to_str().expect("a name");
    let mut numbers = Numbers(7);
    let (mut compared, mut refused) = (0, 0);
    for round in 0..60 {
        std::fs::write(file, random_loop(&mut numbers)).expect("a file can be written");
        let language = ALL[round % 3];
        match program(file, language.name()) {
            Ok(_) => {
                agrees(file, language);
                compared += 1;
            }
            Err(said) => {
                assert!(said.contains("may become zero"), "{said}");
                refused += 1;
            }
        }
    }
    assert!(compared > 40, "{compared} compared, {refused} refused");
}

/// What a language lacks is written by means of what it has, which repeats operands. Nested deeply, the text still grows
/// in proportion to the model.
#[test]
fn repeated_operands_are_named() {
    const DEPTH: usize = 40;
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("repeated");
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let file = place.join("repeated.bgm");
    let file = file.to_str().expect("a name");
    let numbers: &[&str] = &[
        "min(E, y + N, x)",
        "max(E, y - N)",
        "table(E, [-1, 0, N], [N, -2, 1])",
        "(if E > N or x > y then E else x)",
        "(if E > 0.1*N then y else E) + 0.1*x",
    ];
    let rounded: &[&str] = &[
        "(floor(E) + x)",
        "mod(E, N + x**2)",
        "(ceil(E) - y)",
        "(E + y)**2/(N + E**2)",
    ];
    let truths: &[&str] = &[
        "(T or x > N)",
        "(T == (y > N))",
        "(T <> (x > y))",
        "(if T then x > -N else y < N)",
    ];
    let mut longest = 0;
    for language in ALL {
        let mut kinds = numbers.to_vec();
        match language {
            Language::Desire => kinds.push("(E + y)**2/(N + E**2)"),
            _ => kinds.extend(rounded),
        }
        for kind in &kinds {
            // What contains its operand twice makes the model itself grow.
            let depth = if kind.matches('E').count() > 1 {
                6
            } else {
                DEPTH
            };
            let mut value = String::from("sin(3*x)");
            for number in 1..=depth {
                let number = format!("{}.5", number % 7 + 1);
                value = kind.replace('E', &value).replace('N', &number);
            }
            longest = longest.max(written_alike(file, language, &value));
        }
        for kind in truths {
            let mut truth = String::from("(x > 0)");
            for number in 1..=DEPTH {
                let number = format!("{}.5", number % 3);
                truth = kind.replace('T', &truth).replace('N', &number);
            }
            let value = format!("if {truth} then 1 else x");
            longest = longest.max(written_alike(file, language, &value));
        }
    }
    assert!(longest > 1000, "{longest}");
}

/// A program for `der(x) = VALUE` computes the same, and is at most 60 times as long as the value. Returns its length.
fn written_alike(file: &str, language: Language, value: &str) -> usize {
    let text = format!(
        "model Repeated\n  local x, y\n  der(x) = {value}\n  der(y) = -x\nend\nexperiment Repeated\n  simutime 1\nend\n"
    );
    std::fs::write(file, text).expect("a file can be written");
    agrees(file, language);
    let length = program(file, language.name())
        .expect("there is a program")
        .len();
    assert!(
        length < 2000 + 60 * value.len(),
        "{} letters of {value} are {length}",
        value.len()
    );
    length
}

#[test]
fn awkward_names_and_numbers() {
    for language in ALL {
        agrees("tests/export/awkward.bgm", language);
    }
}

#[test]
fn what_cannot_be_written_is_refused_by_name() {
    let said = |file: &str, language: &str| program(file, language).expect_err("it is refused");
    for language in ALL {
        let name = language.name();
        let said = said("examples/diode.bgm", name);
        assert!(said.contains("cannot iterate on `D1.Va`: its loop is not linear"));
    }
    assert!(said("examples/bouncing_ball.bgm", "simnon").contains("cannot restart the state"));
    assert!(program("examples/bouncing_ball.bgm", "desire").is_ok());
}

/// ACSL reads no line beyond column 72, and no name of the others is longer than the language allows.
#[test]
fn lines_and_names_fit() {
    for file in ["examples/dc_motor.bgm", "tests/export/awkward.bgm"] {
        let text = program(file, "acsl").expect("there is a program");
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with('!'))
        {
            assert!(line.len() <= 76, "{line}");
        }
        let text = program(file, "simnon").expect("there is a program");
        let read = Program::read(&text, Language::Simnon);
        for name in read.names() {
            assert!(
                name.len() <= 8 && name.chars().all(|c| c.is_ascii_alphanumeric()),
                "{name}"
            );
        }
    }
}

/// Bad requests get plain messages, and write nothing.
#[test]
fn bad_requests() {
    use std::process::Command;
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("classic");
    std::fs::create_dir_all(&place).expect("a folder can be made");
    let model = |name: &str, text: &str| {
        std::fs::write(place.join(name), text).expect("a file can be written");
    };
    model("bare.bgm", "model Bare\n  local x\n  der(x) = -x\nend\n");
    model(
        "open.bgm",
        "model Open\n  input u\n  local x\n  der(x) = u\nend\nexperiment Open\n  simutime 1\nend\n",
    );
    model(
        "wrong.bgm",
        "model Wrong\n  local x\n  der(x) = y\n  x = 1\n  x = 2\nend\n",
    );
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .arg("export")
            .args(words)
            .current_dir(&place)
            .output()
            .expect("bgm runs");
        assert!(output.stdout.is_empty(), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    for (words, code, wanted) in [
        (
            &["bare.bgm", "--to", "desire"][..],
            1,
            "DESIRE programs need the end of the run: an experiment with `simutime`",
        ),
        (
            &["open.bgm", "--to", "acsl"],
            1,
            "ACSL programs need the input `u`",
        ),
        (
            &["bare.bgm", "--to", "desyre"],
            2,
            "there is no target `desyre`; did you mean `desire`?",
        ),
        (
            &[
                "bare.bgm",
                "--to",
                "simnon",
                "--until",
                "1",
                "-o",
                "no/such/place",
            ],
            1,
            "cannot write `no/such/place`",
        ),
        (&["wrong.bgm", "--to", "latex"], 1, "error["),
        (
            &["bare.bgm", "--to", "latex", "-o", "bare.bgm"],
            1,
            "the model was read from it",
        ),
    ] {
        let (found, said) = run(words);
        assert!(said.contains(wanted), "{words:?}: {said}");
        assert_eq!(found, Some(code), "{words:?}: {said}");
    }
}
