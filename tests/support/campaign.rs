//! A family of random models, each tried and judged by something that shares no code with bgm.
//!
//! `BGM_CASES=1000` tries so many (from `BGM_FIRST` on), `BGM_SEED=17` only this one and shows its text; `BGM_FOUND=FILE` appends
//! what is wrong or refused to a file. The counts are printed: `--nocapture` shows them. docs/robustness.md keeps them.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs, and the judge agrees.
    Agrees,
    /// Refused, before the run or in it: the code, and the whole message.
    Refused(String, String),
    /// It has no solution, and is refused: as it should be.
    Singular(String),
    /// The judge has nothing to say of it.
    Open(&'static str),
    Wrong(String),
}

impl Verdict {
    /// Whether two verdicts are about the same thing, for making a model smaller.
    pub fn is_like(&self, other: &Verdict) -> bool {
        match (self, other) {
            (Verdict::Refused(code, _), Verdict::Refused(same, _)) => code == same,
            (Verdict::Wrong(_), Verdict::Wrong(_)) => true,
            _ => false,
        }
    }
}

/// A family: its name, how many seeds it has by default, how many of these may be refused; and seeds that are known to come
/// out wrong: passed over where the default ones are tried, and to be taken out of the list as they are mended.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub name: &'static str,
    pub cases: u64,
    /// In percent of what is tried.
    pub refused: f64,
    pub open: &'static [u64],
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries the models of a family. `judged` gets a seed; `text` is the model of a seed, made smaller while the verdict stays the same.
#[track_caller]
#[allow(clippy::print_stdout)]
pub fn campaign(
    family: Family,
    judged: impl Fn(u64) -> Verdict,
    text: impl Fn(u64, &Verdict) -> String,
) {
    let only = number("BGM_SEED");
    let first = number("BGM_FIRST").unwrap_or(0);
    let seeds = match only {
        Some(seed) => seed..seed + 1,
        None => first..first + number("BGM_CASES").unwrap_or(family.cases),
    };
    let count = seeds.end - seeds.start;
    let usual = only.is_none() && number("BGM_CASES").is_none();
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut refused = Vec::new();
    for seed in seeds {
        if usual && family.open.contains(&seed) {
            *tally.entry("known to be wrong".into()).or_default() += 1;
            continue;
        }
        let tried = catch_unwind(AssertUnwindSafe(|| judged(seed)));
        let verdict = tried.unwrap_or_else(|cause| {
            let said = (cause.downcast_ref::<String>().cloned())
                .or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_string()));
            Verdict::Wrong(format!("panics: {}", said.unwrap_or_default()))
        });
        let key = match &verdict {
            Verdict::Agrees => "agrees".to_string(),
            Verdict::Refused(code, _) => format!("refused {code}"),
            Verdict::Singular(code) => format!("singular, told {code}"),
            Verdict::Open(why) => format!("not judged: {why}"),
            Verdict::Wrong(_) => "wrong".to_string(),
        };
        *tally.entry(key).or_default() += 1;
        let shown = || {
            format!(
                "{} seed {seed}: {verdict:?}\n{}",
                family.name,
                text(seed, &verdict)
            )
        };
        if only.is_some() {
            println!("{}", shown());
        }
        match &verdict {
            Verdict::Wrong(_) => wrong.push(noted(shown())),
            Verdict::Refused(..) => refused.push(noted(shown())),
            _ => {}
        }
    }
    println!("{}: {count} seeds {tally:?}", family.name);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let part = 100.0 * refused.len() as f64 / count as f64;
    let many = only.is_none() && part > family.refused;
    assert!(!many, "{part} % are refused\n{}", refused.join("\n"));
}

/// Appends to the file of findings, if one is asked for.
fn noted(text: String) -> String {
    if let Ok(path) = std::env::var("BGM_FOUND") {
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        let _ = file.and_then(|mut file| writeln!(file, "{text}\n"));
    }
    text
}
