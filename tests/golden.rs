//! Golden files. A model in `tests/` or `examples/` names in its first comment the commands whose
//! output is kept beside it: `{ golden: equations, equations --style 1990 }`. Adding a file adds
//! its tests. A file that is only included by others says `{ golden: none }`. The comment is read by `bgm golden` itself. What
//! differs is what is kept: here commands run in the folder of the project, may be refused, may be those that write files, and
//! runs are rounded. Models in `tests/diagnostics` have their source in the snapshot, next to what is said about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use bgm::cli::golden::listings::listings;
use libtest_mimic::{Arguments, Failed, Trial};

const FOLDERS: &[&str] = &["examples", "tests"];
const ACCEPT: &str = "read the difference above; if it is right, accept it with\n    \
                      INSTA_UPDATE=always cargo test --test golden";

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut models = Vec::new();
    let mut snapshots = BTreeSet::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut models, &mut snapshots);
    }
    models.sort();
    let mut trials = Vec::new();
    for model in models {
        let name = model.strip_prefix(root).unwrap_or(&model).to_path_buf();
        let commands = golden_commands(&model).unwrap_or_else(|fault| {
            let title = name.display().to_string();
            trials.push(Trial::test(title, || Err(fault.into())));
            Vec::new()
        });
        for command in commands {
            let file = snapshot_file(&model, &command);
            snapshots.remove(&file);
            let title = format!("{}: {command}", name.display());
            let name = name.clone();
            trials.push(Trial::test(title, move || check(&name, &command)));
        }
    }
    trials.push(Trial::test(
        "every snapshot has its command",
        move || match snapshots.first() {
            None => Ok(()),
            Some(file) => Err(format!("{} belongs to no command", file.display()).into()),
        },
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

fn collect(folder: &Path, models: &mut Vec<PathBuf>, snapshots: &mut BTreeSet<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("the folders of models are there");
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        match path.extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => collect(&path, models, snapshots),
            Some("bgm") => models.push(path),
            Some("snap") => {
                snapshots.insert(path);
            }
            _ => {}
        }
    }
}

/// The commands that the first comment of the file names, as `bgm golden` reads it.
fn golden_commands(model: &Path) -> Result<Vec<String>, String> {
    let bytes = std::fs::read(model).expect("a model can be read");
    let wanted = listings(&String::from_utf8_lossy(&bytes))?;
    Ok(wanted.iter().map(|listing| listing.text()).collect())
}

fn snapshot_name(model: &Path, command: &str) -> String {
    let stem = model
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or("model");
    format!(
        "{stem}.{}",
        command
            .replace(" -", "-")
            .replace("--", "-")
            .replace([' ', '/', ','], "-")
    )
}

fn snapshot_file(model: &Path, command: &str) -> PathBuf {
    model.with_file_name(format!("{}.snap", snapshot_name(model, command)))
}

fn check(model: &Path, command: &str) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shown = model.display().to_string().replace('\\', "/");
    let mut words = command.split(' ');
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(root)
        .arg(words.next().unwrap_or_default())
        .arg(&shown)
        .args(words)
        .args(["--color", "never"])
        .output()
        .map_err(|error| error.to_string())?;
    let mut content = String::new();
    if model.starts_with("tests/diagnostics") {
        let source = std::fs::read(root.join(model)).unwrap_or_default();
        let source = String::from_utf8_lossy(&source);
        content.push_str(&numbered(&source));
        content.push_str("----------------------------------------\n");
    }
    let (said, printed) = (
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout),
    );
    match command.starts_with("simulate") {
        true => content.push_str(&steady(&said, &printed)),
        false => content.push_str(&format!("{said}{printed}")),
    }
    match output.status.code() {
        Some(0) => {}
        Some(101) | None => return Err(format!("bgm panicked:\n{content}").into()),
        Some(code) => content.push_str(&format!("exit code {code}\n")),
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root.join(model).parent().unwrap_or(root));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(format!("bgm {command} {shown}"));
    let name = snapshot_name(model, command);
    let same = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        settings.bind(|| insta::assert_snapshot!(name, content));
    }));
    same.map_err(|_| Failed::from(ACCEPT))
}

/// What a run says, without what differs from machine to machine: the summary with its seconds, and digits
/// beyond the fourth.
fn steady(said: &str, printed: &str) -> String {
    let is_summary = |line: &&str| line.contains(" steps, ") || line.contains(" step, ");
    let kept = said.lines().filter(|line| !is_summary(line));
    let mut text = String::new();
    for line in kept.chain(printed.lines()) {
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            text.push_str(&rest[..start]);
            rest = &rest[start..];
            let more = |c: char| !(c.is_ascii_digit() || c == '.');
            let (number, after) = rest.split_at(rest.find(more).unwrap_or(rest.len()));
            let digits = number.chars().filter(char::is_ascii_digit).count();
            match number.parse::<f64>() {
                Ok(value) if digits > 6 && number.contains('.') => {
                    text.push_str(&format!("{:?}", (value * 1e4).round() / 1e4));
                }
                _ => text.push_str(number),
            }
            rest = after;
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

fn numbered(source: &str) -> String {
    source
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{:>3} | {line}\n", at + 1))
        .collect()
}
