//! The commands of a session.
//!
//! Before: the text that was typed after the prompt `>`. After: a [`Command`], or an error message. The command words
//! are those of the 1990 paper; capitals are accepted.

use crate::base::diagnostics::nearest;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Nothing,
    /// The name of the model if the text has several.
    EnterModel(Option<String>),
    EnterExperiment(Option<String>),
    /// An experiment that begins without `enter experiment`; this line is its first line.
    Classic,
    /// A model or a type that begins without `enter model`; the string is its name.
    Model(String),
    /// `None`: results are printed on the terminal again.
    OutFile(Option<String>),
    Output(Output),
    /// True: aliases are eliminated.
    Partition(bool),
    Differentiate,
    /// State preferences; true for `state`, false for `nostate`.
    Variable(bool, Vec<String>),
    List,
    /// True: start values that contradict each other jump.
    Simulate(bool),
    Plot(Vec<String>),
    Alleviate,
    Help(Option<String>),
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    Equations,
    Sorted,
    Solved,
    Causality,
    Fields,
    /// The rows of the last run.
    Results,
    /// The source text of the loaded model.
    Model,
    /// A program in this language.
    Program(String),
}

/// The syntax of each command and its description.
pub const HELP: &[(&str, &str)] = &[
    (
        "enter model [NAME]",
        "read a model: its text, or `@FILE`, at the prompt `-`; NAME if the text has several models",
    ),
    (
        "enter experiment [NAME]",
        "read an experiment in the same way; or take NAME, which the model's file holds",
    ),
    (
        "outfile [FILE]",
        "what is output goes to FILE; without a name it is shown again",
    ),
    ("output equations", "the equations, as flattened"),
    (
        "output sorted equations",
        "in the order of evaluation, each with its unknown in brackets; `partition` comes first",
    ),
    (
        "output solved equations",
        "solved for their unknowns; `partition` comes first",
    ),
    ("output causality", "the causality of the bond graph"),
    ("output fields", "fields of resistors and storages"),
    (
        "output LANGUAGE program",
        "a program of the experiment in another language",
    ),
    ("output model", "the text of the model, as it is loaded"),
    ("output results", "the rows of the last run, as CSV"),
    ("partition", "sort the equations"),
    (
        "partition eliminate",
        "the same without variables that equal another one, or a constant",
    ),
    (
        "differentiate",
        "reduce the index: differentiate the constraints between states",
    ),
    ("variable state NAMES", "these are to be states"),
    ("variable nostate NAMES", "these are not to be states"),
    (
        "alleviate",
        "reduce storages that depend on others, one by one",
    ),
    ("list", "what is loaded, and what was asked for"),
    ("simulate", "run the experiment"),
    (
        "simulate start jump",
        "the same; start values that contradict each other jump to values that do not",
    ),
    (
        "plot [NAMES]",
        "draw the last run; into the outfile if its name ends with .svg",
    ),
    ("help [COMMAND]", "this list"),
    ("stop", "the end"),
];

/// The first word of each command.
pub const WORDS: &[&str] = &[
    "enter",
    "outfile",
    "output",
    "partition",
    "differentiate",
    "variable",
    "alleviate",
    "list",
    "simulate",
    "plot",
    "help",
    "stop",
];

/// What can follow `output`, except programs.
pub const OUTPUTS: &[&str] = &[
    "equations",
    "sorted equations",
    "solved equations",
    "causality",
    "fields",
    "model",
    "results",
];

/// Parses a command. `languages` are the names of the export targets.
pub fn read(line: &str, languages: &[&str]) -> Result<Command, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((&first, rest)) = words.split_first() else {
        return Ok(Command::Nothing);
    };
    let lower: Vec<String> = rest.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let alone = |command: Command| match rest {
        [] => Ok(command),
        [more, ..] => Err(format!("`{first}` stands alone: `{more}` is too much")),
    };
    let name = |words: &[&str]| words.first().map(|word| word.to_string());
    let path = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
    match first.to_lowercase().as_str() {
        "enter" => match lower[..] {
            ["model"] | ["model", _] => Ok(Command::EnterModel(name(&rest[1..]))),
            ["experiment"] | ["experiment", _] => Ok(Command::EnterExperiment(name(&rest[1..]))),
            _ => Err("enter what? There are `enter model` and `enter experiment`".into()),
        },
        "cmodel" => Ok(Command::Classic),
        "model" if first == "model" => {
            let named = match (lower.first(), rest) {
                (Some(&"type"), [_, name, ..]) | (_, [name, ..]) => *name,
                _ => return Err("a model has a name: `model NAME`".into()),
            };
            let end = |c: char| !(c.is_alphanumeric() || c == '_');
            let name = named.split(end).next().unwrap_or(named);
            Ok(Command::Model(name.to_string()))
        }
        "outfile" => Ok(Command::OutFile(path(line.trim()[first.len()..].trim()))),
        // The paper also writes `out file`.
        "out" if lower.first() == Some(&"file") => {
            let behind = line.trim()[first.len()..].trim();
            Ok(Command::OutFile(path(behind[rest[0].len()..].trim())))
        }
        "output" => output(&lower, languages).map(Command::Output),
        "partition" => match lower[..] {
            [] => Ok(Command::Partition(false)),
            ["eliminate"] => Ok(Command::Partition(true)),
            _ => Err("there are `partition` and `partition eliminate`".into()),
        },
        "differentiate" => alone(Command::Differentiate),
        "variable" => match lower.split_first() {
            Some((&("state" | "nostate"), [_, ..])) => {
                let names = names(&rest[1..].join(" "));
                Ok(Command::Variable(lower[0] == "state", names))
            }
            _ => Err("there are `variable state NAMES` and `variable nostate NAMES`".into()),
        },
        "list" => alone(Command::List),
        "simulate" => match lower[..] {
            [] => Ok(Command::Simulate(false)),
            ["start", "jump"] => Ok(Command::Simulate(true)),
            _ => Err("there are `simulate` and `simulate start jump`".into()),
        },
        "plot" => Ok(Command::Plot(names(&rest.join(" ")))),
        "alleviate" => alone(Command::Alleviate),
        "help" | "?" => Ok(Command::Help(lower.first().map(|word| word.to_string()))),
        "stop" | "quit" | "exit" => alone(Command::Stop),
        other => {
            let hint = match nearest(other, WORDS.iter().copied()) {
                Some(word) => format!("did you mean `{word}`? "),
                None => String::new(),
            };
            Err(format!(
                "there is no command `{first}`; {hint}there are {}",
                list(WORDS)
            ))
        }
    }
}

fn output(words: &[&str], languages: &[&str]) -> Result<Output, String> {
    Ok(match *words {
        ["equations"] => Output::Equations,
        ["sorted", "equations"] => Output::Sorted,
        ["solved", "equations"] => Output::Solved,
        ["causality"] => Output::Causality,
        ["fields"] => Output::Fields,
        ["results"] => Output::Results,
        ["model"] => Output::Model,
        [language, "program"] if languages.contains(&language) => {
            Output::Program(language.to_string())
        }
        ["fmu", "program"] => {
            return Err(
                "an FMU is not text: outside of a session `bgm export --to fmu -o NAME.fmu` writes it"
                    .into(),
            );
        }
        [language, "program"] => {
            let hint = match nearest(language, languages.iter().copied()) {
                Some(word) => format!("did you mean `{word}`? "),
                None => String::new(),
            };
            return Err(format!(
                "there are no programs in `{language}`; {hint}there are {}",
                list(languages)
            ));
        }
        _ => {
            return Err(format!(
                "output what? There are {}, and `LANGUAGE program` with {}",
                list(OUTPUTS),
                list(languages)
            ));
        }
    })
}

/// Splits names that are separated by commas or blanks.
fn names(text: &str) -> Vec<String> {
    text.split([',', ' '])
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect()
}

/// Returns a list such as `a`, `b` and `c`, each word in backquotes.
pub fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns the list of all commands, or of those whose first word is `word`.
pub fn help(word: Option<&str>, languages: &[&str]) -> Result<String, String> {
    let wanted = |form: &str| word.is_none_or(|word| form.split(' ').next() == Some(word));
    let rows: Vec<_> = HELP.iter().filter(|(form, _)| wanted(form)).collect();
    if rows.is_empty() {
        return Err(format!(
            "there is no command `{}`; there are {}",
            word.unwrap_or(""),
            list(WORDS)
        ));
    }
    let width = rows.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (form, what) in rows {
        text.push_str(&format!("{form:width$}  {what}\n"));
    }
    if word.is_none_or(|word| word == "output") {
        text.push_str(&format!("\nLANGUAGE is one of {}.\n", list(languages)));
    }
    Ok(text)
}
