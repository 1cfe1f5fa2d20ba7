//! Golden files: the listings that a golden comment names, their file names, and differences.
//!
//! Before: the text of a model, and texts of listings. After: the listings that its first comment names, `{ golden:
//! equations, sort --eliminate }`, each with the name of its file; a unified diff. This module does no input or
//! output: `cli::golden` does it, and `tests/golden.rs` for the models of this repository.

use std::borrow::Cow;
use std::time::Duration;

use similar::TextDiff;

/// How names of golden files end.
const ENDING: &str = ".golden";

/// After this time the diff is still correct, but may not be the shortest one.
const LONGEST_SEARCH: Duration = Duration::from_secs(2);

/// An example of a golden comment, for messages.
const HOW: &str = "`{ golden: equations, sort --eliminate }`";

/// A command that lists a model, with its options: `sort --eliminate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub words: Vec<String>,
}

impl Listing {
    fn new(text: &str) -> Self {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        if let Some(first) = words.first_mut() {
            match first.as_str() {
                "sorted" => *first = "sort".to_string(),
                "solved" => *first = "solve".to_string(),
                _ => {}
            }
        }
        Listing { words }
    }

    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Returns the name of the golden file beside the model `file`, such as `rlc.sort-eliminate.golden`.
    pub fn file_name(&self, file: &str) -> String {
        let mut name = format!("{}.", stem(file));
        for letter in self.text().chars() {
            match letter.is_alphanumeric() || letter == '_' {
                true => name.push(letter),
                false if name.ends_with(['-', '.']) => {}
                false => name.push('-'),
            }
        }
        name.truncate(name.trim_end_matches('-').len());
        name + ENDING
    }
}

/// Removes `.bgm` from a name. Other endings stay, so that no two models share golden files.
fn stem(file: &str) -> &str {
    file.strip_suffix(".bgm").unwrap_or(file)
}

/// Returns the listings that the comment at the top of the text names; none for `{ golden: none }`. The error message
/// shows how to write such a comment.
pub fn listings(text: &str) -> Result<Vec<Listing>, String> {
    let Some(comment) = comment(text) else {
        return Err(match misplaced(text) {
            Some(line) => format!(
                "the golden comment in line {line} has to be at the top of the file, before \
                 anything else"
            ),
            None => format!(
                "no golden comment: name the listings to keep in one at the top of the file, as in \
                 {HOW}, or write `{{ golden: none }}`"
            ),
        });
    };
    let mut found: Vec<Listing> = Vec::new();
    for listing in split(comment).iter().map(|text| Listing::new(text)) {
        if listing.words.is_empty() {
            continue;
        }
        // Some file systems do not distinguish small and capital letters.
        let name = |listing: &Listing| listing.file_name("").to_lowercase();
        match found.iter().find(|known| name(known) == name(&listing)) {
            None => found.push(listing),
            Some(known) if *known == listing => {}
            Some(known) => {
                return Err(format!(
                    "`{}` and `{}` would be kept in one golden file",
                    known.text(),
                    listing.text()
                ));
            }
        }
    }
    match found.iter().any(|listing| listing.words == ["none"]) {
        true if found.len() == 1 => Ok(Vec::new()),
        true => Err("its golden comment names `none` and a listing".to_string()),
        false if found.is_empty() => Err(format!(
            "its golden comment names no listing; write for instance {HOW}"
        )),
        false => Ok(found),
    }
}

/// Splits at commas, except those in a list of settings: `solve --at u=3,v=2, check` are two listings.
fn split(comment: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for text in comment.split(',').map(str::trim) {
        let is_setting = (text.split_whitespace().next()).is_some_and(|word| word.contains('='));
        match parts.last_mut() {
            Some(before) if is_setting => {
                before.push(',');
                before.push_str(text);
            }
            _ => parts.push(text.to_string()),
        }
    }
    parts
}

/// Returns the text after `golden:` in the first comment; lines with `#` may come before it.
fn comment(text: &str) -> Option<&str> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let mut rest = text.trim_start_matches(blank);
    while rest.starts_with('#') {
        rest = rest.split_once('\n')?.1.trim_start_matches(blank);
    }
    let (comment, _) = rest.strip_prefix('{')?.split_once('}')?;
    comment.trim_start().strip_prefix("golden:")
}

/// Returns the line number of a golden comment that is not at the top.
fn misplaced(text: &str) -> Option<usize> {
    text.lines()
        .position(|line| {
            (line.trim_start().strip_prefix('{'))
                .is_some_and(|rest| rest.trim_start().starts_with("golden:"))
        })
        .map(|at| at + 1)
}

/// Returns true if `name` can be the result of [`Listing::file_name`] for a listing of the model `file` by one of the
/// commands. Only such files are compared or removed.
pub fn is_golden_file(name: &str, file: &str, commands: &[String]) -> bool {
    let slug = (name.strip_prefix(stem(file)))
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_suffix(ENDING));
    slug.is_some_and(|slug| {
        let fits = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let command = slug.split('-').next().unwrap_or("");
        slug.chars().all(fits)
            && !slug.contains("--")
            && !slug.ends_with('-')
            && commands.iter().any(|known| known == command)
    })
}

/// Returns a unified diff from the golden file to the listing; `None` if they are equal apart from line ends.
pub fn difference(kept: &str, now: &str, file: &str) -> Option<String> {
    let (kept, now) = (plain(kept), plain(now));
    if kept == now {
        return None;
    }
    let diff = (TextDiff::configure().timeout(LONGEST_SEARCH)).diff_lines(&*kept, &*now);
    let mut shown = diff.unified_diff();
    let header = (format!("{file} (kept)"), format!("{file} (now)"));
    Some(shown.header(&header.0, &header.1).to_string())
}

/// Normalizes line ends, which an editor or git may have changed.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => text.replace("\r\n", "\n").into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, String> {
        let found = listings(text)?;
        Ok(found.iter().map(|l| l.file_name("m.bgm")).collect())
    }

    #[test]
    fn listings_have_their_files() {
        assert_eq!(
            names("{ golden: equations, sorted --eliminate\r\n --style 1990, solved } model M"),
            Ok(vec![
                "m.equations.golden".to_string(),
                "m.sort-eliminate-style-1990.golden".to_string(),
                "m.solve.golden".to_string(),
            ])
        );
        let include = names("\u{feff}# mine\n{golden: check -I ../lib}");
        assert_eq!(include, Ok(vec!["m.check-I-lib.golden".to_string()]));
        assert_eq!(names("{ golden: solve, solved }").map(|n| n.len()), Ok(1));
        assert_eq!(names("{ golden: none }"), Ok(vec![]));
        assert_eq!(
            names("{ golden: solve --at u=3,v=2, Time=1 --format json, solve --at u=4, check, }"),
            Ok(vec![
                "m.solve-at-u-3-v-2-Time-1-format-json.golden".to_string(),
                "m.solve-at-u-4.golden".to_string(),
                "m.check.golden".to_string(),
            ])
        );
        let words = listings("{ golden: solve --at u=3, v=2 }").map(|l| l[0].words.clone());
        let expected = ["solve", "--at", "u=3,v=2"].map(str::to_string);
        assert_eq!(words, Ok(expected.to_vec()));
        let other = Listing::new("check").file_name("m.dym");
        assert_eq!(other, "m.dym.check.golden");
    }

    #[test]
    fn comments_that_do_not_do() {
        let said = |text| names(text).expect_err("no listings");
        assert!(said("model M\nend\n").contains("{ golden: equations"));
        assert!(said("@x\n\n{ golden: check }\n").contains("line 3"));
        assert!(said("{ golden: }").contains("names no listing"));
        assert!(said("{ golden: none, check }").contains("`none` and"));
        let both = said("{ golden: check --model a, check --model A }");
        assert!(both.contains("in one golden file"), "{both}");
    }

    #[test]
    fn only_files_of_ours_are_ours() {
        let commands = ["sort".to_string(), "equations".to_string()];
        let ours = |name| is_golden_file(name, "m.bgm", &commands);
        assert!(ours("m.sort.golden"));
        assert!(ours("m.sort-eliminate-style-1990.golden"));
        for name in [
            "m.golden",
            "m..golden",
            "m.sort.txt",
            "m.sorted.golden",
            "m.sort.old.golden",
            "m.sort-.golden",
            "m.sort--eliminate.golden",
            "m.notes.golden",
            "m2.sort.golden",
            "m.bgm",
            "m.sort copy.golden",
        ] {
            assert!(!ours(name), "{name}");
        }
    }

    #[test]
    fn differences_are_shown_whatever_the_line_ends() {
        assert_eq!(difference("a\r\nb\r\n", "a\nb\n", "f"), None);
        let shown = difference("a\r\nb\r\n", "a\nc\n", "f").expect("a difference");
        assert_eq!(
            shown,
            "--- f (kept)\n+++ f (now)\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
        );
    }

    #[test]
    fn long_texts_without_a_line_in_common() {
        let kept: String = (0..200_000).map(|n| format!("a{n}\n")).collect();
        let now: String = (0..200_000).map(|n| format!("b{n}\n")).collect();
        let shown = difference(&kept, &now, "f").expect("a difference");
        assert_eq!(shown.lines().count(), 400_003);
    }
}
