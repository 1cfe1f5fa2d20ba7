//! The code blocks of the manual and of the README.
//!
//!     ```bgm                     a complete file that compiles without errors
//!     ```bgm error E0301         a complete file that gives this error
//!     ```bgm fragment            statements of a model, or models and experiments; only read
//!     ```text                    `$ bgm equations`, and its output on the block before; the name of
//!                                the file may follow; a last line `...` leaves out the rest; a block
//!                                that begins otherwise is not tested; of `simulate` what is printed, and if it
//!                                fails also what is said, without the summary
//!     ```json bgm ... FILE.bgm   the output of the command on the block before
//!
//! The picture of the README is compared with what bgm prints as well.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Arguments, Failed, Trial};

use bgm::base::intern::Interner;
use bgm::base::source::{Origin, Sources};

const PAGES: &[&str] = &[
    "docs/tour.md",
    "docs/language.md",
    "docs/solving.md",
    "docs/simulation.md",
    "docs/linear.md",
    "docs/linear.md",
    "docs/export.md",
    "docs/interoperability.md",
    "docs/bondgraph.md",
    "docs/session.md",
    "docs/json.md",
    "README.md",
];

struct Block {
    page: &'static str,
    /// Of the opening fence, from 1 on.
    line: usize,
    info: String,
    text: String,
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for page in PAGES {
        let path = root.join(page);
        if !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a page can be read");
        let mut model: Option<String> = None;
        for block in blocks(page, &text) {
            let title = format!("{}:{}: {}", block.page, block.line, block.info);
            if block.info.starts_with("bgm") {
                model = Some(block.text.clone());
            }
            let model = model.clone();
            trials.push(Trial::test(title, move || check(&block, model.as_deref())));
        }
    }
    trials.push(Trial::test(
        "docs/overview.svg: the picture of the README",
        picture,
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The picture shows the text of an example, its solved equations and its bond graph as bgm gives them.
fn picture() -> Result<(), Failed> {
    const MODEL: &str = "examples/rlc_circuit.bgm";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name));
    let (svg, model) = (read("docs/overview.svg")?, read(MODEL)?);
    let printed = |command: &str| -> Result<String, Failed> {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .current_dir(root)
            .args([command, MODEL])
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let between = |text: &str, first: &str, last: &str| -> Option<Vec<String>> {
        let from = text.find(first)?;
        let to = from + text[from..].find(last)?;
        let lines = text[from..to].lines().filter(|line| !line.is_empty());
        Some(lines.map(|line| format!(">{line}</text>")).collect())
    };
    let (solved, drawn) = (printed("solve")?, printed("draw")?);
    let mut wanted = between(&model, "@electrical", "end\n").ok_or("the model has no text")?;
    let formulas = between(&solved, "SORTED", "END OF").ok_or("there are no formulas")?;
    wanted.extend(formulas.into_iter().skip(1));
    wanted.extend(
        drawn
            .lines()
            .filter(|line| line.starts_with("<path"))
            .map(str::to_string),
    );
    match wanted.iter().find(|line| !svg.contains(*line)) {
        None => Ok(()),
        Some(line) => Err(format!("the picture does not show\n{line}").into()),
    }
}

fn blocks(page: &'static str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block {
                    page,
                    line: at + 1,
                    info: info.trim().to_string(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.extend(open);
    blocks
}

fn check(block: &Block, model: Option<&str>) -> Result<(), Failed> {
    let place = format!("{}:{}", block.page, block.line);
    let words: Vec<&str> = block.info.split_whitespace().collect();
    let outcome = match words[..] {
        ["bgm"] => compiles(block),
        ["bgm", "error", code] => fails(block, code),
        ["bgm", "fragment"] => reads(block),
        ["json", "bgm", ref command @ ..] => prints(block, command, model, &block.text),
        ["text"] => match block.text.split_once('\n') {
            Some((first, rest)) if first.starts_with("$ bgm ") => {
                let command: Vec<&str> = first.split_whitespace().skip(2).collect();
                prints(block, &command, model, rest)
            }
            _ => Ok(()),
        },
        // Commands and the like.
        ["sh" | "console" | "toml" | "rust"] | [] => Ok(()),
        _ => Err(format!("a block of an unknown kind, `{}`", block.info)),
    };
    outcome.map_err(|problem| Failed::from(format!("{place}: {problem}")))
}

fn compiles(block: &Block) -> Result<(), String> {
    let output = run(block, &["check", "block.bgm"], &block.text)?;
    match output.status.code() {
        Some(0) => Ok(()),
        _ => Err(format!("does not compile:\n{}", both(&output))),
    }
}

fn fails(block: &Block, code: &str) -> Result<(), String> {
    let output = run(block, &["check", "block.bgm"], &block.text)?;
    let said = both(&output);
    match output.status.code() {
        Some(1) if said.contains(&format!("[{code}]")) => Ok(()),
        _ => Err(format!("does not give {code}:\n{said}")),
    }
}

/// Statements are read inside a model, models and experiments as they are.
fn reads(block: &Block) -> Result<(), String> {
    let first = (block.text.lines())
        .find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .unwrap_or("");
    let begins = |word: &str| first.trim_start().starts_with(word);
    let text = match ["model", "experiment", "cmodel", "@"]
        .into_iter()
        .any(begins)
    {
        true => block.text.clone(),
        false => format!("model Fragment\n{}end\n", block.text),
    };
    let mut sources = Sources::default();
    let file = sources.add("fragment".to_string(), text.clone(), Origin::User);
    let (_, diagnostics) = bgm::syntax::parse(file, &text, &mut Interner::default());
    match diagnostics.first() {
        None => Ok(()),
        Some(first) => Err(format!("cannot be read: {}", first.message)),
    }
}

/// Compares what the command prints about the model before with what the page shows.
fn prints(block: &Block, command: &[&str], model: Option<&str>, shown: &str) -> Result<(), String> {
    let model = model.ok_or("there is no model before it")?;
    let output = run(block, command, model)?;
    let real = match command.first() {
        // What was done to a model is told beside it.
        Some(&"check" | &"reduce" | &"augment") => both(&output),
        // A run that fails tells why; its summary has seconds in it.
        Some(&"simulate") if !output.status.success() => without_summary(&both(&output)),
        _ => String::from_utf8_lossy(&output.stdout).into_owned(),
    };
    // A last line `...` leaves out the rest.
    let same = match shown.strip_suffix("...\n") {
        Some(beginning) => real.starts_with(beginning),
        None => real == shown,
    };
    match same {
        true => Ok(()),
        false => Err(format!(
            "`bgm {}` does not print this. It prints:\n{real}{}",
            command.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn without_summary(said: &str) -> String {
    let is_summary = |line: &&str| line.contains(" steps, ") || line.contains(" step, ");
    let kept = said.lines().filter(|line| !is_summary(line));
    kept.map(|line| format!("{line}\n")).collect()
}

fn both(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stderr) + &text(&output.stdout)
}

/// Runs a command in a folder of its own that holds the model under the name the command uses.
fn run(block: &Block, command: &[&str], model: &str) -> Result<Output, String> {
    let page = block.page.replace(['/', '.'], "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("manual")
        .join(format!("{page}-{}", block.line));
    let named = command.iter().find(|word| word.ends_with(".bgm"));
    let path = folder.join(named.unwrap_or(&"block.bgm"));
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&path, model))
        .map_err(|error| error.to_string())?;
    Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(&folder)
        .args(command)
        .args(named.is_none().then_some("block.bgm"))
        .args(["--color", "never"])
        .output()
        .map_err(|error| error.to_string())
}
