//! FMUs: what they say of themselves, what they do in the hands of others, and requests that cannot be met.

mod archive;
mod judge;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::support::kept;
use crate::support::programs::{
    Rows, agree, bgm, exported, folder, has, run, simulated, stderr, strict_compiler,
};
use archive::{part, unpacked, without_binary};

const AWKWARD: &str = "tests/fmu/awkward.bgm";

/// Exports with a C compiler of choice; what was said.
fn with_compiler(model: &str, file: &Path, compiler: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CC", compiler)
        .args(["export", model, "--to", "fmu", "-o"])
        .arg(file)
        .output()
        .expect("bgm runs");
    assert!(output.status.success(), "{model}: {}", stderr(&output));
    stderr(&output)
}

#[test]
fn descriptions_are_kept() {
    let folder = folder("fmu-descriptions");
    for (name, model) in [("rlc", "examples/rlc.bgm"), ("awkward", AWKWARD)] {
        let file = folder.join(format!("{name}.fmu"));
        with_compiler(model, &file, "no-such-compiler");
        let text = part(&file, ".xml");
        // The guid is made of the sources, too.
        let (before, rest) = text.split_once("guid=\"").expect("a guid");
        let (guid, after) = rest.split_once('"').expect("its end");
        assert!(part(&file, ".c").contains(&format!("\"{guid}\"")), "{guid}");
        let file = format!("{}/tests/fmu/{name}.xml", env!("CARGO_MANIFEST_DIR"));
        kept(Path::new(&file), &format!("{before}guid=\"...\"{after}"));
    }
}

#[test]
fn nothing_depends_on_when_it_was_made() {
    let folder = folder("fmu-twice");
    let (one, two) = (folder.join("one.fmu"), folder.join("two.fmu"));
    exported("examples/rectifier.bgm", "fmu", &one, &[]);
    exported("examples/rectifier.bgm", "fmu", &two, &[]);
    let read = |file: &Path| std::fs::read(file).expect("a file can be read");
    assert!(read(&one) == read(&two), "two files differ");
    // Another parameter is another unit.
    exported("examples/rectifier.bgm", "fmu", &two, &["--until", "0.05"]);
    assert_ne!(part(&one, ".xml"), part(&two, ".xml"));
}

#[test]
fn without_a_compiler_there_are_sources_and_a_note() {
    let folder = folder("fmu-bare");
    let file = folder.join("rlc.fmu");
    let said = with_compiler("examples/rlc.bgm", &file, "no-such-compiler");
    assert!(
        said.contains("sources only") && said.contains("`no-such-compiler` not found"),
        "{said}"
    );
    let names: Vec<String> = unpacked(&file).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["modelDescription.xml", "sources/RLC.c"]);
    // One that fails is quoted.
    if has("false") {
        let said = with_compiler("examples/rlc.bgm", &file, "false");
        assert!(
            said.contains("sources only") && said.contains("`false` fails"),
            "{said}"
        );
    }
}

#[test]
fn wrong_requests_get_plain_messages() {
    let said = |arguments: &[&str]| {
        let output = bgm(arguments);
        (output.status.code(), stderr(&output))
    };
    let (code, text) = said(&["export", "examples/rlc.bgm", "--to", "fmu"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("say which with `-o RLC.fmu`"), "{text}");
    let place = "no/such/folder/rlc.fmu";
    let (code, text) = said(&["export", "examples/rlc.bgm", "--to", "fmu", "-o", place]);
    assert_eq!(code, Some(1));
    assert!(text.contains(&format!("cannot write `{place}`")), "{text}");
}

/// Compiles the source of an FMU without a warning.
fn compiles(file: &Path, options: &[&str], to: &Path) {
    let source = to.with_extension("c");
    std::fs::write(&source, part(file, ".c")).expect("a file can be written");
    let output = strict_compiler()
        .arg("-fPIC")
        .args(options)
        .arg("-o")
        .args([to, &source])
        .output()
        .expect("cc runs");
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn sources_compile_without_warnings_whatever_names_models_have() {
    if !has("cc") {
        return;
    }
    let folder = folder("fmu-names");
    for model in ["examples/pendulum.bgm", "examples/buck.bgm", AWKWARD] {
        let file = folder.join("model.fmu");
        with_compiler(model, &file, "no-such-compiler");
        compiles(&file, &["-c"], &folder.join("model.o"));
    }
    // Words and functions of C, words of the program itself.
    for name in [
        "double", "sin", "fmi2Real", "MODEL", "m", "LESS", "index", "state",
    ] {
        let text = format!(
            "model {name}\n output y\n local {name}_states, MODEL_x\n der(y) = -y\n init(y) = 1\n \
             {name}_states = y > 0.5\n MODEL_x = if {name}_states then 1 else 2\nend\n"
        );
        let (model, file) = (folder.join("name.bgm"), folder.join("name.fmu"));
        std::fs::write(&model, text).expect("a file can be written");
        with_compiler(model.to_str().expect("text"), &file, "no-such-compiler");
        compiles(&file, &["-c"], &folder.join("name.o"));
    }
}

/// Two units in one program: their functions have prefixes.
const TWO: &str = "
#include <stdio.h>
#include <stdlib.h>
typedef struct { void *logger, *allocate, *release, *finished, *environment; } callbacks;
void *RLC_fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void *DCMotor_fmi2Instantiate(const char *, int, const char *, const char *, const callbacks *, int, int);
void RLC_fmi2FreeInstance(void *);
void DCMotor_fmi2FreeInstance(void *);
int main(int count, char **guids)
{
    callbacks none = {0};
    if (count < 3)
        return 3;
    void *one = RLC_fmi2Instantiate(\"one\", 1, guids[1], \"\", &none, 0, 0);
    void *two = DCMotor_fmi2Instantiate(\"two\", 0, guids[2], \"\", &none, 0, 0);
    void *wrong = RLC_fmi2Instantiate(\"wrong\", 0, guids[2], \"\", &none, 0, 0);
    RLC_fmi2FreeInstance(one);
    DCMotor_fmi2FreeInstance(two);
    return !one || !two || wrong;
}
";

#[test]
fn sources_of_several_units_can_be_linked_together() {
    if !has("cc") {
        return;
    }
    let folder = folder("fmu-linked");
    let mut guids = Vec::new();
    for (name, prefix) in [("rlc", "RLC_"), ("dc_motor", "DCMotor_")] {
        let file = folder.join(format!("{name}.fmu"));
        with_compiler(&format!("examples/{name}.bgm"), &file, "no-such-compiler");
        let prefix = format!("-DFMI2_FUNCTION_PREFIX={prefix}");
        compiles(&file, &["-c", &prefix], &folder.join(format!("{name}.o")));
        let text = part(&file, ".xml");
        let guid = text
            .split("guid=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        guids.push(guid.expect("a guid").to_string());
    }
    std::fs::write(folder.join("two.c"), TWO).expect("a file can be written");
    let output = Command::new("cc")
        .current_dir(&folder)
        .args(["two.c", "rlc.o", "dc_motor.o", "-o", "two", "-lm"])
        .output()
        .expect("cc runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let output = Command::new(folder.join("two")).args(guids).output();
    assert_eq!(output.expect("it runs").status.code(), Some(0));
}

/// File, and how far runs with fmpy may be off: with the integrator of the unit, and with CVode.
const MODELS: &[(&str, f64, f64)] = &[
    ("rlc", 1e-7, 1e-6),
    ("dc_motor", 1e-7, 1e-5),
    ("hires", 1e-7, 1e-5),
    ("differential", 1e-7, 1e-5),
    // Events: relations, samples, `when`s, switches that change the order.
    ("rectifier", 1e-7, 1e-5),
    ("bouncing_ball", 1e-7, 1e-5),
    ("sampled_control", 1e-7, 1e-5),
    ("thermostat", 1e-7, 1e-5),
    ("inductive_load", 1e-7, 1e-5),
    // States that the run chooses: they are moved back onto their constraints.
    ("pendulum", 1e-6, 1e-5),
    // Other equations in each position of switches, and states that jump.
    ("buck", 1e-6, 1e-5),
    ("clutch", 1e-7, 1e-5),
];

/// Resistors and capacitors, many of them.
fn ladder(stages: usize) -> String {
    let mut text = String::from(
        "@electrical\nmodel Ladder\n  submodel (SineVoltage) U0(amplitude = 5, frequency = 50)\n  \
         submodel (Ground) G\n  node n0\n  output first, last\n  connect G - U0 - n0\n",
    );
    for k in 1..=stages {
        let (ohm, before) = (10 + k % 7, k - 1);
        let _ = write!(
            text,
            "  submodel (Resistor) R{k}(R = {ohm})\n  submodel (Capacitor) S{k}(C = 1E-7)\n  node n{k}\n  \
             connect R{k} from n{before} to n{k}\n  connect S{k} from n{k} to G\n"
        );
    }
    let _ = write!(
        text,
        "  first = S1.u; last = S{stages}.u\nend\nexperiment Ladder\n  simutime 0.02\n  commupoints 21\nend\n"
    );
    text
}

/// The rows of the simulator as a file, and back.
fn keep_rows(file: &Path, rows: &Rows) {
    let mut text = rows.0.join(",") + "\n";
    for row in &rows.1 {
        let row: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
        text += &(row.join(",") + "\n");
    }
    std::fs::write(file, text).expect("a file can be written");
}

/// Valid, and the same rows as the simulator, in both ways, with the binary that was shipped and with one that fmpy compiled.
#[test]
fn fmpy_runs_units_as_the_simulator_does() {
    let Some(programs) = judge::judge().filter(|_| has("cc")) else {
        return;
    };
    let folder = folder("fmu-judged");
    let place = folder.to_str().expect("text");
    let mut wanted = Vec::new();
    let big = folder.join("ladder.bgm");
    std::fs::write(&big, ladder(1000)).expect("a file can be written");
    let examples = (MODELS.iter())
        .map(|&(name, own, other)| (name, format!("examples/{name}.bgm"), own, other));
    let ladder = (
        "ladder",
        big.to_str().expect("text").to_string(),
        1e-7,
        1e-5,
    );
    for (name, model, own, other) in examples.chain([ladder]) {
        let rows = simulated(&model, &[]);
        keep_rows(&folder.join(format!("{name}.csv")), &rows);
        exported(&model, "fmu", &folder.join(format!("{name}.fmu")), &[]);
        wanted.push((name.to_string(), rows, own, other));
    }
    // Without a binary, which fmpy makes.
    for name in ["rlc", "rectifier", "pendulum"] {
        let again = format!("{name}_compiled");
        let file = folder.join(format!("{again}.fmu"));
        without_binary(&folder.join(format!("{name}.fmu")), &file);
        let output = judge::run(programs, "fmpy", &["compile", file.to_str().expect("text")]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let same = wanted.iter().find(|(other, ..)| other == name);
        let (_, rows, own, other) = same.expect("it is there").clone();
        keep_rows(&folder.join(format!("{again}.csv")), &rows);
        wanted.push((again, rows, own, other));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fmu/check.py");
    let mut arguments = vec![script, place];
    arguments.extend(wanted.iter().map(|(name, ..)| name.as_str()));
    let output = judge::run(programs, "python", &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    for (name, rows, own, other) in &wanted {
        for (kind, part) in [("CoSimulation", own), ("ModelExchange", other)] {
            let file = folder.join(format!("{name}.{kind}.csv"));
            let found = run(Command::new("cat").arg(file));
            agree(&format!("{name}, {kind}"), rows, &found, *part);
        }
    }
}

/// Inputs, states kept and put back, parameters, failures: tests/fmu/life.py.
#[test]
fn instances_live_as_the_standard_says() {
    let Some(programs) = judge::judge().filter(|_| has("cc")) else {
        return;
    };
    let folder = folder("fmu-life");
    let pole = "model Pole\n parameter a = 1\n output y\n local x, z\n der(z) = -z\n x = a - Time\n x*y = 1\nend\n";
    let chatter =
        "model Chatter\n output x\n der(x) = if x > 0 then -1 else 1\n init(x) = 1\nend\n";
    let own = |name: &str, text: &str| {
        let file = folder.join(format!("{name}.bgm"));
        std::fs::write(&file, text).expect("a file can be written");
        file.to_str().expect("text").to_string()
    };
    let models = [
        ("bouncing_ball", "examples/bouncing_ball.bgm".to_string()),
        ("awkward", AWKWARD.to_string()),
        ("pole", own("pole", pole)),
        ("chatter", own("chatter", chatter)),
    ];
    for (name, model) in &models {
        exported(model, "fmu", &folder.join(format!("{name}.fmu")), &[]);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fmu/life.py");
    let place = folder.to_str().expect("text");
    let output = judge::run(programs, "python", &[script, place]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("all is well"));
}
