//! Completion in a session: commands, variables, files.

use std::path::Path;

use super::command::{OUTPUTS, WORDS};
use super::{Session, program};
use crate::syntax::load::Files;

/// At most this many candidates are returned.
const MAX_CANDIDATES: usize = 100;

impl Session {
    /// Returns the candidates for the last word of a line and the position where this word begins.
    pub fn completions(&self, line: &str, files: &dyn Files) -> (usize, Vec<String>) {
        let start = line.rfind([' ', ',', '@', '>']).map_or(0, |at| at + 1);
        let word = &line[start..];
        let before: Vec<&str> = line[..start].split_whitespace().collect();
        let before = match before[..] {
            [">", ref rest @ ..] => rest,
            ref all => all,
        };
        let all: Vec<String> = if line[..start].ends_with('@') {
            list_files(files, word)
        } else if self.entering.is_some() || self.dialogue.is_some() {
            Vec::new()
        } else {
            match before {
                [] => texts(WORDS),
                ["enter"] => texts(&["model", "experiment"]),
                ["outfile"] => list_files(files, word),
                ["output"] => texts(OUTPUTS)
                    .into_iter()
                    .chain(
                        program::languages()
                            .iter()
                            .map(|name| format!("{name} program")),
                    )
                    .collect(),
                ["output", "sorted" | "solved"] => texts(&["equations"]),
                ["output", _] => texts(&["program"]),
                ["partition"] => texts(&["eliminate"]),
                ["variable"] => texts(&["state", "nostate"]),
                ["variable", ..] => self.variables(word),
                ["plot", ..] => self.recorded(),
                ["help"] => texts(WORDS),
                _ => Vec::new(),
            }
        };
        let fits = |name: &String| name.starts_with(word);
        (
            start,
            all.into_iter().filter(fits).take(MAX_CANDIDATES).collect(),
        )
    }

    fn variables(&self, word: &str) -> Vec<String> {
        let Some(model) = &self.model else {
            return Vec::new();
        };
        (model.flat.variable_ids())
            .map(|id| model.flat.name(id))
            .filter(|name| name.starts_with(word))
            .take(MAX_CANDIDATES)
            .collect()
    }
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// Lists the files of the folder that the beginning of a path names.
fn list_files(files: &dyn Files, word: &str) -> Vec<String> {
    let folder = match word.rfind('/') {
        Some(at) => &word[..=at],
        None => "",
    };
    (files.list(Path::new(folder)).into_iter())
        .map(|name| format!("{folder}{name}"))
        .collect()
}
