//! The front end: text to tree, tree to text, mistakes, and whatever else a file may hold.

#![allow(clippy::unwrap_used)]

mod generate;
mod layout;
mod mistakes;
mod robust;
mod round_trip;

use proptest::prelude::ProptestConfig;

use bgm::base::diagnostics::{Code, Diagnostic};
use bgm::base::intern::Interner;
use bgm::base::source::{Origin, Sources};
use bgm::syntax::{ast::Ast, dump::dump, parse, print::print};

/// A text with what was made of it.
struct Parsed {
    text: String,
    ast: Ast,
    interner: Interner,
    diagnostics: Vec<Diagnostic>,
}

fn read(text: &str) -> Parsed {
    let mut sources = Sources::default();
    let file = sources.add("test.bgm".into(), text.into(), Origin::User);
    let mut interner = Interner::default();
    let (ast, diagnostics) = parse(file, text, &mut interner);
    Parsed {
        text: text.into(),
        ast,
        interner,
        diagnostics,
    }
}

impl Parsed {
    fn dump(&self) -> String {
        dump(&self.ast, &self.interner)
    }

    fn print(&self) -> String {
        print(&self.ast, &self.interner)
    }

    /// Codes, each with the line of its first label.
    fn mistakes(&self) -> Vec<(Code, usize)> {
        let line = |byte: usize| self.text[..byte].matches('\n').count() + 1;
        self.diagnostics
            .iter()
            .map(|d| (d.code, line(d.labels[0].span.start as usize)))
            .collect()
    }

    /// What is said about the mistakes, without the places.
    fn messages(&self) -> String {
        let mut out = String::new();
        for diagnostic in &self.diagnostics {
            out += &format!("{}: {}", diagnostic.code.text(), diagnostic.message);
            for label in &diagnostic.labels {
                out += &format!(" | {}", label.text);
            }
            for hint in &diagnostic.hints {
                out += &format!(" | hint: {hint}");
            }
            out += "\n";
        }
        out
    }
}

/// How often a property is tried; PROPTEST_CASES says otherwise.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

/// The dump of a text that has no mistakes.
#[track_caller]
fn tree(text: &str) -> String {
    let parsed = read(text);
    assert!(
        parsed.diagnostics.is_empty(),
        "{text}\n{}",
        parsed.messages()
    );
    parsed.dump()
}

/// The dump of the statements of a model.
#[track_caller]
fn statements(body: &str) -> String {
    tree(&format!("model M\n{body}\nend\n"))
}
