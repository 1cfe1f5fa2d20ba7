//! Models changed a little: whatever is asked of them there is an answer or a diagnostic, never a panic.
//!
//! Subjects are all models of the examples and tests that compile by themselves and are not large. A case changes one of them
//! once or twice ([`changes`]) and runs one analysis ([`analyses`]); what matters is that it comes back. `BGM_CASES=100000`
//! tries so many, `BGM_FIRST=5000` begins there, `BGM_SEED=17` tries only this one and shows its text.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod analyses;
mod changes;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use analyses::ANALYSES;
use bgm::compile::{Options, load_flat};
use bgm::flat::Flat;
use bgm::syntax::load::{Input, NoFiles};
use changes::{Random, changed, model_names};

/// A text, and the model of it that is asked for.
#[derive(Clone, Debug)]
pub struct Subject {
    pub file: String,
    pub text: String,
    pub model: String,
}

/// Larger ones show nothing more, and take long.
const LONGEST: usize = 30_000;
const MOST_EQUATIONS: usize = 150;
/// Changes of one model, until one can be flattened.
const ATTEMPTS: usize = 4;

fn subjects() -> Vec<Subject> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders = vec![root.join("examples"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "bgm") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut subjects = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        if text.len() > LONGEST {
            continue;
        }
        for model in model_names(&text) {
            if flat(&text, &model).is_some_and(|flat| flat.equations.len() <= MOST_EQUATIONS) {
                subjects.push(Subject {
                    file: file
                        .strip_prefix(root)
                        .unwrap_or(&file)
                        .display()
                        .to_string(),
                    text: text.clone(),
                    model,
                });
            }
        }
    }
    subjects
}

fn flat(text: &str, model: &str) -> Option<Flat> {
    let options = Options {
        model: Some(model.to_string()),
        ..Options::default()
    };
    let input = Input::Standard(text.as_bytes().to_vec());
    load_flat(&input, &options, &NoFiles).flat
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// Where the last panic was, and what it said.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

fn text_of(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or_default().to_string()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn changed_models_are_answered() {
    let subjects = subjects();
    assert!(subjects.len() > 200, "{} models", subjects.len());
    let first = number("BGM_FIRST").unwrap_or(0);
    let seeds = match number("BGM_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("BGM_CASES").unwrap_or(1_000),
    };
    let shows = number("BGM_SEED").is_some();
    // Tests beside this one run in other threads of the same program: what they say is theirs.
    let hook: Arc<Hook> = Arc::from(std::panic::take_hook());
    let (own, others) = (thread::current().id(), Arc::clone(&hook));
    std::panic::set_hook(Box::new(move |info| {
        if shows || thread::current().id() != own {
            return others(info);
        }
        let place = info.location().map_or(String::new(), ToString::to_string);
        let message = text_of(info.payload());
        if let Ok(mut last) = PANIC.lock() {
            *last = Some((place, message));
        }
    }));
    // By place: the first case, and how many there were.
    let mut found: BTreeMap<String, (u64, String, usize)> = BTreeMap::new();
    let (mut all, mut sound) = (0, 0);
    for seed in seeds {
        let mut random = Random::new(seed);
        let subject = &subjects[random.below(subjects.len())];
        let (name, analysis) = ANALYSES[random.below(ANALYSES.len())];
        let mut case = subject.clone();
        let mut tried = || {
            // Mostly something that comes further than the flat model.
            for _ in 0..ATTEMPTS {
                case.text = changed(subject, &mut random);
                if shows {
                    println!("{name}, {} of {}:\n{}", case.model, case.file, case.text);
                }
                if flat(&case.text, &case.model).is_some() {
                    sound += 1;
                    break;
                }
            }
            analysis(&case);
        };
        all += 1;
        if number("BGM_TRACE").is_some() {
            eprintln!("{seed}: {name}, {} of {}", subject.model, subject.file);
        }
        if catch_unwind(AssertUnwindSafe(&mut tried)).is_err() {
            let last = PANIC.lock().ok().and_then(|mut last| last.take());
            let (place, message) = last.unwrap_or_default();
            let what = format!("{name}, {} of {}: {message}", subject.model, subject.file);
            if !found.contains_key(&place) {
                // A long run may be ended before it can list them.
                eprintln!("{place}, BGM_SEED={seed}: {what}");
            }
            found.entry(place).or_insert((seed, what, 0)).2 += 1;
        }
    }
    std::panic::set_hook(Box::new(move |info| hook(info)));
    let list: Vec<String> = (found.iter())
        .map(|(place, (seed, what, count))| {
            format!("{place} ({count} times), BGM_SEED={seed}: {what}")
        })
        .collect();
    assert!(list.is_empty(), "panics:\n{}", list.join("\n"));
    println!("{sound} of {all} changed models are flattened");
    // What does not come that far tests the first stages only.
    assert!(
        all < 1_000 || 2 * sound > all,
        "{sound} of {all} changed models are flattened"
    );
}
