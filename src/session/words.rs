//! Messages in the words of a session.
//!
//! Before: messages that the whole program shares. Their hints name options of the command line, which a session does
//! not have. After: the same messages with commands of the session; hints without an equivalent are removed.

use crate::base::diagnostics::{Diagnostic, Diagnostics};

/// Texts, and their replacements in a session. `*` stands for any name.
const REPLACEMENTS: &[(&str, &str)] = &[
    (
        "on the command line: `--input \"*=1\"`, any expression of Time; in an experiment: `input ",
        "in an experiment, which `enter experiment` reads, any expression of Time: `input ",
    ),
    ("`--experiment *`", "`enter experiment *`"),
    ("`--model *`", "`enter model *`"),
    (
        "`--input *=...` gives another",
        "an experiment with `input * = ...` gives another",
    ),
    (
        "give them: `--input`",
        "give them in an experiment: `input u = 1`",
    ),
    (
        "`--until` or an experiment says otherwise",
        "an experiment says otherwise: `enter experiment`",
    ),
    (
        "an experiment with `simutime`",
        "an experiment with `simutime`, which `enter experiment` reads",
    ),
    ("only `bgm simulate` solves", "only `simulate` solves"),
    ("`bgm simulate --start-jump`", "`simulate start jump`"),
    ("`bgm solve` lists", "`output solved equations` lists"),
    ("; `bgm check --format json` tells all", ""),
    (
        "`--modes` lists them",
        "outside of a session `bgm solve --modes` lists them",
    ),
    (
        "(`bgm solve --modes` tells which)",
        "(outside of a session `bgm solve --modes` tells which)",
    ),
];

/// Options that have no equivalent in a session. Hints that contain them are removed.
const REMOVED_HINTS: &[&str] = &["`--max-instances", "`--steady`"];

/// Replaces command line options in a text by commands of a session.
pub(super) fn in_session(text: &str) -> String {
    let mut text = text.to_string();
    for (pattern, by) in REPLACEMENTS {
        text = replaced(&text, pattern, by);
    }
    text
}

/// Replaces each occurrence of a pattern. The text that `*` matches is inserted at the `*` of the replacement.
fn replaced(text: &str, pattern: &str, by: &str) -> String {
    let (head, tail) = pattern.split_once('*').unwrap_or((pattern, ""));
    let named = pattern.contains('*');
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(head) {
        let behind = &rest[at + head.len()..];
        let name = match named {
            true => behind
                .find(tail)
                .filter(|&end| !behind[..end].contains('`')),
            false => Some(0),
        };
        out.push_str(&rest[..at]);
        match name {
            Some(end) => {
                out.push_str(&by.replace('*', &behind[..end]));
                rest = &behind[end + tail.len()..];
            }
            None => {
                out.push_str(head);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Replaces command line options in diagnostics by commands of a session.
pub(super) fn diagnostics_in_session(found: &Diagnostics) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    diagnostics.extend(found.iter().map(|one| {
        let useful = |hint: &&String| !REMOVED_HINTS.iter().any(|option| hint.contains(option));
        let hints = one.hints.iter().filter(useful);
        Diagnostic {
            message: in_session(&one.message),
            notes: one.notes.iter().map(|note| in_session(note)).collect(),
            hints: hints.map(|hint| in_session(hint)).collect(),
            ..one.clone()
        }
    }));
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::{diagnostics_in_session, in_session};
    use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};

    #[test]
    fn hints_without_use_are_left_out() {
        let mut found = Diagnostics::default();
        let diagnostic = Diagnostic::new(Code::NoModel, "there is no model");
        let diagnostic = diagnostic.hint("`--max-instances N` sets another limit");
        found.push(diagnostic.hint("`--model M` is one"));
        let shown = diagnostics_in_session(&found);
        let hints: Vec<&String> = shown.iter().flat_map(|one| &one.hints).collect();
        assert_eq!(hints, ["`enter model M` is one"]);
    }

    #[test]
    fn names_are_kept() {
        assert_eq!(
            in_session("choose with `--experiment a` or `--experiment b`"),
            "choose with `enter experiment a` or `enter experiment b`"
        );
        assert_eq!(
            in_session(
                "on the command line: `--input \"u=1\"`, any expression of Time; in an experiment: `input u = 1`"
            ),
            "in an experiment, which `enter experiment` reads, any expression of Time: `input u = 1`"
        );
        assert_eq!(in_session("`x` and `--vars`"), "`x` and `--vars`");
    }
}
