//! Diagnostics: a code, a message, places in the source, hints.
//!
//! Passes make [`Diagnostic`]s; only the edge turns them into text ([`render`], [`json`]).

mod codes;
pub mod explain;
pub mod json;
pub mod render;
pub mod visible;

pub use codes::{Code, Severity};

use rustc_hash::FxHashSet;

use crate::base::source::Span;

/// The beginning of messages about sources for which no causality exists.
pub const NON_CAUSAL: &str = "non-causal system: ";

/// A place in the source with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub message: String,
    /// The first is where the mistake is; the others help to understand it.
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    pub hints: Vec<String>,
}

impl Diagnostic {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            hints: Vec::new(),
        }
    }

    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    /// Adds "did you mean `x`?" if a known name is near.
    #[must_use]
    pub fn suggest<'a>(self, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wrong, known) {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds the nearest name, or else some of the known ones.
    #[must_use]
    pub fn suggest_or_list(self, wrong: &str, what: &str, known: &[&str]) -> Self {
        const MOST: usize = 10;
        if known.is_empty() || nearest(wrong, known.iter().copied()).is_some() {
            return self.suggest(wrong, known.iter().copied());
        }
        let some = known[..known.len().min(MOST)].join(", ");
        let more = if known.len() > MOST { ", ..." } else { "" };
        self.hint(format!("{what} {some}{more}"))
    }

    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The known name that is nearest to a wrong one, if it is near enough to be the intended one.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 100;
    if wrong.len() > LONGEST {
        return None;
    }
    let lower = wrong.to_lowercase();
    let most = (wrong.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|name| name.len() <= LONGEST && *name != wrong)
        .filter_map(|name| {
            // Wrong capitals are the most common mistake, so a name that differs only in these is
            // the nearest.
            let distance = match name.to_lowercase() == lower {
                true => 0,
                false => strsim::osa_distance(wrong, name),
            };
            // A name of one letter is near to every other one.
            let near = distance == 0 || (distance <= most && distance < wrong.chars().count());
            near.then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// A list of diagnostics. A mistake occurs once, however many instances repeat it. Unknown names
/// are left out if a part of the text could not be read.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: FxHashSet<(Code, Option<Span>)>,
    errors: usize,
    text_is_missing: bool,
}

impl Diagnostics {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.labels.first().map(|label| label.span);
        if self.text_is_missing && diagnostic.code.is_about_missing() {
            return;
        }
        if place.is_some() && !self.seen.insert((diagnostic.code, place)) {
            return;
        }
        self.text_is_missing |= diagnostic.code.hides_text();
        if diagnostic.severity() == Severity::Error {
            self.errors += 1;
        }
        self.list.push(diagnostic);
    }

    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in diagnostics {
            self.push(diagnostic);
        }
    }

    /// Sorts them by their places in the source.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| {
            let place = diagnostic.labels.first().map(|label| label.span);
            place.map(|span| (span.file, span.start))
        });
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub fn errors(&self) -> usize {
        self.errors
    }

    pub fn warnings(&self) -> usize {
        self.list.len() - self.errors
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}
