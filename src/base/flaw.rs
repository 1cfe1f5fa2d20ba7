//! Flaws: what a verifier finds wrong with a representation.
//!
//! A verifier stands beside its representation, and checks what has to hold after each stage. A flaw is a defect of
//! bgm, never of a model: debug builds and tests stop there ([`hold`]), release builds do not verify.

use std::fmt::{self, Debug, Display, Write};

/// Further flaws are only counted, because one wrong table causes thousands.
const SHOWN: usize = 10;
/// Lines of the dump that a panic shows.
const EXCERPT: usize = 20;

/// A flaw, with the id that the dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub place: String,
    pub what: String,
}

impl Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// All that a verifier has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    pub list: Vec<Flaw>,
    /// The number of flaws that are not listed.
    pub more: usize,
}

impl Flaws {
    /// `place` is an id: it prints as the dump shows it.
    pub fn add(&mut self, place: impl Debug, what: impl Into<String>) {
        match self.list.len() {
            ..SHOWN => self.list.push(Flaw {
                place: format!("{place:?}"),
                what: what.into(),
            }),
            _ => self.more += 1,
        }
    }

    /// The text is made only if the condition fails.
    pub fn unless(&mut self, holds: bool, place: impl Debug, what: impl FnOnce() -> String) {
        if !holds {
            self.add(place, what());
        }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn into_result(self) -> Result<(), Flaws> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(self),
        }
    }
}

impl Display for Flaws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for flaw in &self.list {
            writeln!(f, "  {flaw}")?;
        }
        match self.more {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

/// Stops a debug build if a stage has made a wrong result. Release builds do not check.
///
/// # Panics
///
/// With the name of the stage, the flaws, and the lines of the dump that they name.
pub fn hold(
    stage: &str,
    verify: impl FnOnce() -> Result<(), Flaws>,
    dump: impl FnOnce() -> String,
) {
    if !cfg!(debug_assertions) {
        return;
    }
    if let Err(flaws) = verify() {
        // The dump of a wrong representation may panic itself. The flaws are shown in any case.
        let dumped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(dump));
        let shown = dumped.map_or_else(|_| String::new(), |dump| excerpt(&flaws, &dump));
        panic!("bgm is at fault: `{stage}` is not sound\n{flaws}{shown}");
    }
}

/// The lines of the dump that contain the ids of the flaws.
fn excerpt(flaws: &Flaws, dump: &str) -> String {
    let words = |text: &str| -> Vec<String> {
        (text.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| is_id(word))
            .map(str::to_string)
            .collect()
    };
    let told: Vec<String> = (flaws.list.iter())
        .flat_map(|flaw| words(&format!("{} {}", flaw.place, flaw.what)))
        .collect();
    let lines = (dump.lines()).filter(|line| words(line).iter().any(|word| told.contains(word)));
    let mut text = String::new();
    for line in lines.take(EXCERPT) {
        let _ = writeln!(text, "  | {line}");
    }
    text
}

/// A letter and a number: `q12`.
fn is_id(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_lowercase())
        && !letters.as_str().is_empty()
        && letters.all(|c| c.is_ascii_digit())
}

/// An id that is a word and not a number. It prints without quotes.
#[derive(Clone, Copy)]
pub struct Place<'a>(pub &'a str);

impl Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_flaws_are_counted() {
        let mut flaws = Flaws::default();
        assert_eq!(flaws.clone().into_result(), Ok(()));
        for at in 0..12 {
            flaws.add(Place("model"), format!("wrong {at}"));
        }
        let text = flaws.to_string();
        assert!(text.starts_with("  model: wrong 0\n"), "{text}");
        assert!(text.ends_with("  and 2 more\n"), "{text}");
    }

    #[test]
    fn the_excerpt_shows_what_the_flaws_name() {
        let mut flaws = Flaws::default();
        flaws.add(Place("q3"), "reads v17, which nothing gives");
        let dump = "v1 a\nv17 b\nq3 b = a\nq31 x\nmodel v\n";
        assert_eq!(excerpt(&flaws, dump), "  | v17 b\n  | q3 b = a\n");
    }

    #[test]
    #[should_panic(expected = "`order` is not sound")]
    fn a_debug_build_stops() {
        let mut flaws = Flaws::default();
        flaws.add(Place("q3"), "is used twice");
        hold("order", || flaws.into_result(), || "q3 a = b".to_string());
    }
}
