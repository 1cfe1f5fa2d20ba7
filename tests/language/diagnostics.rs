//! The manual of the diagnostics is true, every code has a fixture, and hard input is answered
//! with a short message in a short time.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::text::{all_diagnostics, check_text};
use bgm::base::diagnostics::{Code, Severity};

const MANUAL: &str = include_str!("../../docs/diagnostics.md");

/// A fenced block of the manual, with the code whose section it stands in.
struct Block {
    code: Code,
    right: bool,
    text: String,
}

fn headings() -> Vec<&'static str> {
    let headings = MANUAL.lines().filter_map(|line| line.strip_prefix("## "));
    headings.collect()
}

fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut code = None;
    let mut open = false;
    for line in MANUAL.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            code = heading.split(' ').next().and_then(Code::from_text);
        } else if line == "```" {
            open = false;
        } else if open && let Some(block) = blocks.last_mut() {
            block.text.push_str(&format!("{line}\n"));
        } else if let Some(mark) = line.strip_prefix("```bgm ") {
            open = true;
            blocks.push(Block {
                code: code.expect("a block stands in the section of a code"),
                right: mark == "right",
                text: String::new(),
            });
        }
    }
    blocks
}

#[test]
fn the_manual_has_every_code_in_order() {
    let wanted = Code::ALL
        .iter()
        .map(|code| format!("{} {}", code.text(), code.title()));
    assert_eq!(headings(), wanted.collect::<Vec<_>>());
}

#[test]
fn the_mistakes_of_the_manual_give_their_codes() {
    for block in blocks().iter().filter(|block| !block.right) {
        let compiled = check_text(&block.text);
        let found = compiled.diagnostics.iter().any(|d| d.code == block.code);
        let code = block.code.text();
        assert!(
            found,
            "{code}:\n{}{}",
            block.text,
            all_diagnostics(&compiled)
        );
    }
}

#[test]
fn the_cures_of_the_manual_cure() {
    for block in blocks().iter().filter(|block| block.right) {
        let compiled = check_text(&block.text);
        let ill = (compiled.diagnostics.iter())
            .any(|d| d.code == block.code || d.severity() == Severity::Error);
        let code = block.code.text();
        assert!(
            !ill,
            "{code}:\n{}{}",
            block.text,
            all_diagnostics(&compiled)
        );
    }
}

#[test]
fn each_mistake_has_its_cure() {
    let count = |code: Code, right: bool| {
        let blocks = blocks();
        let found = blocks.iter().filter(|b| b.code == code && b.right == right);
        found.count()
    };
    for &code in Code::ALL {
        let section = bgm::base::diagnostics::explain::section(code).unwrap_or("");
        assert_eq!(count(code, true), count(code, false), "{}", code.text());
        let shown = count(code, true) > 0 || section.contains("```text");
        assert!(shown, "{} has no example", code.text());
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

#[test]
fn every_code_has_a_fixture() {
    let names: Vec<String> = std::fs::read_dir(fixtures())
        .expect("the fixtures are there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    for &code in Code::ALL {
        // No file can show that a file is missing, and one that is too large has no place here: see `tests/command/guard`.
        if matches!(code, Code::UnreadableFile | Code::TooMuchText) {
            continue;
        }
        let own = names.iter().filter(|name| {
            name.starts_with(&format!("{}-", code.text())) && name.ends_with(".snap")
        });
        let shown = own.into_iter().any(|name| {
            let snapshot = std::fs::read_to_string(fixtures().join(name)).unwrap_or_default();
            snapshot.contains(&format!("[{}]", code.text()))
        });
        assert!(shown, "{} has no fixture with a snapshot", code.text());
    }
}

struct Answer {
    code: Option<i32>,
    errors: String,
}

/// Runs `bgm check` with the text as standard input.
fn check(arguments: &[&str], text: &[u8]) -> Answer {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(fixtures())
        .args(["check", "--color", "never"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bgm can be started");
    let mut input = child.stdin.take().expect("standard input is a pipe");
    let text = text.to_vec();
    // A program that does not read its input closes the pipe; that is its right.
    let writer = std::thread::spawn(move || drop(input.write_all(&text)));
    let output = child.wait_with_output().expect("bgm ends");
    writer.join().expect("the text was written");
    Answer {
        code: output.status.code(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Models below a folder, by path.
fn models_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            models_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "bgm") {
            found.push(path);
        }
    }
}

/// The codes that a command tells of the model of a file; nothing where that is no matter of the model.
fn codes_of(command: &str, file: &Path) -> Option<BTreeSet<String>> {
    let text = std::fs::read_to_string(file).ok()?;
    // The chosen model alone: of others `solve` says nothing.
    let last = (text.lines())
        .filter_map(|line| line.strip_prefix("model "))
        .filter_map(|rest| rest.split_whitespace().next())
        .rfind(|name| !matches!(*name, "type" | "class"))?;
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .args([command, "--color", "never", "--model", last])
        .arg(file)
        .output()
        .expect("bgm can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    let codes = errors.lines().filter_map(|line| {
        let rest = (line.strip_prefix("error[")).or_else(|| line.strip_prefix("warning["))?;
        Some(rest.split(']').next()?.to_string())
    });
    Some(codes.collect())
}

/// What is wrong with a model that is solved is told by `check`, too; of experiments `check` tells more.
#[test]
fn check_finds_what_solve_finds() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [
        "tests/diagnostics",
        "tests/solving",
        "tests/reduction",
        "tests/language",
        "examples",
    ] {
        models_below(&root.join(folder), &mut files);
    }
    let (mut looked, mut ill) = (0, 0);
    for file in &files {
        let (Some(check), Some(solve)) = (codes_of("check", file), codes_of("solve", file)) else {
            continue;
        };
        looked += 1;
        ill += usize::from(!solve.is_empty());
        // Texts and experiments that `solve` does not look at are no matter of the model itself.
        let of_model = |codes: &BTreeSet<String>| -> BTreeSet<String> {
            let ours = |code: &&String| ["E06", "E07", "E08", "W06"].contains(&&code[..3]);
            codes.iter().filter(ours).cloned().collect()
        };
        let same = check.is_superset(&solve) && of_model(&check) == of_model(&solve);
        assert!(same, "{}: check {check:?}, solve {solve:?}", file.display());
    }
    assert!(looked > 200 && ill > 100, "{looked} {ill}");
}

/// A hard text is answered with one of the codes (none: it is legal), shortly and soon.
fn hard(what: &str, text: &str, wanted: Option<&str>) {
    let start = Instant::now();
    let answer = check(&["-"], text.as_bytes());
    let took = start.elapsed();
    let shown: String = answer.errors.chars().take(1000).collect();
    match wanted {
        None => assert_eq!(answer.code, Some(0), "{what}: {shown}"),
        Some(code) => {
            assert_eq!(answer.code, Some(1), "{what}: {shown}");
            let code = format!("[{code}]");
            assert!(answer.errors.contains(&code), "{what}: no {code}: {shown}");
        }
    }
    assert!(answer.errors.len() < 10_000, "{what}: {shown}");
    assert!(took < Duration::from_secs(60), "{what}: {took:?}");
}

/// A model with one equation for x.
fn model(statement: &str) -> String {
    format!("model M\n  local x, y\n  y = 1\n  {statement}\nend\n")
}

const DEEP: usize = 100_000;

#[test]
fn an_empty_file() {
    for text in ["", "\n", "  \n\n", "\u{feff}", "# nothing\n"] {
        hard(&format!("{text:?}"), text, Some("E0204"));
    }
}

#[test]
fn a_file_that_is_not_there() {
    let answer = check(&["E0301-unknown-tpye.bgm"], b"");
    assert_eq!(answer.code, Some(1));
    insta::assert_snapshot!(answer.errors, @r"
    error[E0201]: cannot read `E0301-unknown-tpye.bgm`: No such file or directory
     = hint: did you mean `E0301-unknown-type.bgm`?
    ");
    let answer = check(&["include"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(answer.errors.contains("[E0201]"), "{}", answer.errors);
}

#[test]
fn bytes_that_are_no_text() {
    let answer = check(&["-"], b"model M\n  local x\n  x = \xff\xfe\x00\nend\n");
    assert_eq!(answer.code, Some(1));
    insta::assert_snapshot!(answer.errors, @r"
    error[E0203]: `<stdin>` is not UTF-8 text
     = the byte 0xff at <stdin>:3:7 cannot be read
     = hint: save the file with the encoding UTF-8
    ");
    let noise: Vec<u8> = (0..1_000_000u64)
        .map(|at| (at % 65_521 * at % 251) as u8)
        .collect();
    assert_eq!(check(&["-"], &noise).code, Some(1));
}

#[test]
fn deep_brackets() {
    let nested = |open: &str, inner: &str, close: &str| {
        let (open, close) = (open.repeat(DEEP), close.repeat(DEEP));
        model(&format!("x = {open}{inner}{close}"))
    };
    hard("brackets", &nested("(", "1", ")"), None);
    hard("signs in brackets", &nested("-(", "1", ")"), None);
    hard("never closed", &nested("(", "1", ""), Some("E0104"));
    hard("never opened", &nested("", "1", ")"), Some("E0106"));
    hard("lists", &nested("[", "1", "]"), Some("E0508"));
    hard("indices", &nested("x[", "1", "]"), Some("E0508"));
    hard(
        "indices never closed",
        &nested("x[", "1", ""),
        Some("E0104"),
    );
    hard("an error inside", &nested("(", "1 +", ")"), Some("E0106"));
    hard("crossed", &nested("([", "1", "])"), Some("E0508"));
    let (open, close) = ("(".repeat(DEEP), ")".repeat(DEEP));
    let chain = format!("node n, m\n  connect {open}n - m{close}");
    hard("a chain", &model(&format!("x = 1\n  {chain}")), None);
}

#[test]
fn deep_expressions() {
    let nested = |open: &str, inner: &str| model(&format!("x = {}{inner}", open.repeat(DEEP)));
    hard("ifs", &nested("if y > 0 then 1 else ", "2"), None);
    hard(
        "ifs with an error",
        &nested("if y > 0 then 1 else ", "2 = 3"),
        Some("E0106"),
    );
    hard(
        "ifs that end too early",
        &nested("if y > 0 then 1 else ", ""),
        Some("E0106"),
    );
    hard("not", &nested("not ", "y > 0"), None);
    hard("minus", &nested("- ", "1"), None);
    hard("powers", &nested("1**", "1"), None);
    hard("a sum", &nested("y + ", "1"), None);
    hard(
        "a sum with an error",
        &nested("y + ", "unknown"),
        Some("E0302"),
    );
    hard("dots", &nested("a.", "a"), Some("E0302"));
    let conditions = format!(
        "x = {}true{}",
        "if ".repeat(DEEP),
        " then true else false".repeat(DEEP)
    );
    hard("conditions", &model(&conditions), None);
}

#[test]
fn deep_blocks() {
    let blocks = format!(
        "{}x = 1\n{}",
        "for i in 1 to 1 do\n".repeat(DEEP),
        "endfor\n".repeat(DEEP)
    );
    hard("for", &model(&blocks), Some("E0109"));
    hard(
        "when",
        &model(&"when y > 0 then\n".repeat(DEEP)),
        Some("E0109"),
    );
    hard(
        "comments",
        &model(&format!("x = 1 {}{}", "{".repeat(DEEP), "}".repeat(DEEP))),
        None,
    );
    hard(
        "comments never closed",
        &model(&"{".repeat(DEEP)),
        Some("E0102"),
    );
    hard(
        "models never closed",
        &"model M\n".repeat(DEEP),
        Some("E0105"),
    );
    hard("ends", &"end\n".repeat(DEEP), Some("E0106"));
}

#[test]
fn deep_models() {
    const TYPES: usize = 5_000;
    let chain = |first: &str, next: &dyn Fn(usize) -> String| {
        let types: String = (1..=TYPES).map(next).collect();
        format!("{first}{types}model M\n  submodel (T{TYPES}) t\nend\n")
    };
    let first = "model type T0\n  terminal x\n  x = 1\nend\n";
    let inside = |n: usize| format!("model type T{n}\n  submodel (T{}) t\nend\n", n - 1);
    hard("inside each other", &chain(first, &inside), None);
    let heir = |n: usize| format!("model class (T{}) T{n}\nend\n", n - 1);
    hard("bases", &chain(first, &heir), Some("E0109"));
    let last = format!("model type T0\n  submodel (T{TYPES}) t\nend\n");
    hard("in a circle", &chain(&last, &inside), Some("E0306"));
    let last = format!("model class (T{TYPES}) T0\nend\n");
    hard("bases in a circle", &chain(&last, &heir), Some("E0307"));
    let doubled = |n: usize| format!("model type T{n}\n  submodel (T{}) s, t\nend\n", n - 1);
    hard("doubled", &chain(first, &doubled), Some("E0507"));
    let parameters: String = (0..DEEP)
        .map(|n| format!("  parameter p{n} = p{}\n", (n + 1) % DEEP))
        .collect();
    hard(
        "parameters",
        &format!("model M\n{parameters}end\n"),
        Some("E0502"),
    );
    let bundles: String = (1..TYPES)
        .map(|n| format!("  cut C{n}[C{}]\n", n - 1))
        .collect();
    let bundles = format!("model type T\n  cut C0(v/i)\n{bundles}  v = i\nend\n");
    let connected = format!(
        "model M\n  submodel (T) a, b\n  connect a:C{0} at b:C{0}\nend\n",
        TYPES - 1
    );
    hard("bundles", &format!("{bundles}{connected}"), None);
}

#[test]
fn long_words() {
    let long = "a".repeat(1_000_000);
    hard("a name", &model(&format!("{long} = 1")), Some("E0108"));
    hard(
        "a name that is used",
        &model(&format!("x = {long}")),
        Some("E0108"),
    );
    hard(
        "a model",
        &format!("model {long}\nend {long}b\n"),
        Some("E0108"),
    );
    hard(
        "a type",
        &model(&format!("submodel ({long}) t")),
        Some("E0108"),
    );
    hard(
        "an include",
        &format!("@{long}\n{}", model("x = 1")),
        Some("E0108"),
    );
    hard(
        "a unit",
        &model(&format!("x = 1\n  parameter p = 1 '{long}'")),
        None,
    );
    hard(
        "a unit never closed",
        &model(&format!("parameter p = 1 '{long}")),
        Some("E0103"),
    );
    hard(
        "a number",
        &model(&format!("x = {}", "1".repeat(1_000_000))),
        Some("E0107"),
    );
    hard(
        "a long fraction",
        &model(&format!("x = 1.{}", "1".repeat(1_000_000))),
        None,
    );
    hard(
        "a long line",
        &model(&format!("x = {}unknown", "1 + ".repeat(250_000))),
        Some("E0302"),
    );
}

#[test]
fn extreme_numbers() {
    hard("1e999", &model("x = 1e999"), Some("E0107"));
    hard("-1e999", &model("x = -1e999"), Some("E0107"));
    hard("1e-999", &model("x = 1e-999"), Some("E0107"));
    hard("1e308", &model("x = 1.7e308 + 4e-324"), None);
    hard(
        "an exponent",
        &model(&format!("x = 1e{}", "9".repeat(DEEP))),
        Some("E0107"),
    );
    hard("a size", &model("local z[1e308]"), Some("E0507"));
    hard(
        "a size that is no number",
        &model("local z[0/0]"),
        Some("E0506"),
    );
    hard("a negative zero", &model("x = 1\n  local z[-0]"), None);
    hard(
        "a bound",
        &model("for i in 1 to 1e300 do\n x = i\n endfor"),
        Some("E0506"),
    );
    hard(
        "an index",
        &model("local z[3]\n  x = z[1e300]"),
        Some("E0505"),
    );
}

#[test]
fn many_mistakes() {
    let many = |line: &str| model(&line.repeat(DEEP));
    hard("characters", &many("$ x\n"), Some("E0101"));
    hard("statements", &many("x = = 3\n"), Some("E0106"));
    hard("brackets", &many("x = (1\n"), Some("E0104"));
    hard("names", &many("x = unknown\n"), Some("E0302"));
    hard("declarations", &many("local x\n"), Some("E0304"));
    hard("connections", &many("connect a at b\n"), Some("E0401"));
}
