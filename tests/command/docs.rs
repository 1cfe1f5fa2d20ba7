//! What the pages of documentation name exists: files, folders, modules, links, test programs.
//!
//! A file that is renamed or moved leaves its old name in the pages unless something looks for it. This does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::tidy::{files, read};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut all = files("docs", "md");
    for page in ["CONTRIBUTING.md", "README.md", "tests/README.md"] {
        all.push(root().join(page));
    }
    all.into_iter()
        .map(|path| {
            let text = read(&path);
            (path, text)
        })
        .collect()
}

/// Pages that speak of the code: only these name modules, and files relative to `src/` or `tests/`.
fn is_for_developers(page: &Path) -> bool {
    page.parent()
        .is_some_and(|folder| folder.ends_with("decisions"))
        || ["architecture.md", "stages.md", "CONTRIBUTING.md"]
            .iter()
            .any(|name| page.ends_with(name))
        || page.ends_with("tests/README.md")
}

/// The texts between single backticks in a line.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The words of a text that can be paths or names: letters, digits and `_ . / : * -`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "_./:*-".contains(c)))
        .map(|word| word.trim_end_matches(['.', ':', '/', '-']))
        .filter(|word| !word.is_empty())
}

/// Whether a path exists below a folder, where `*` stands for any part of a name.
fn exists(folder: &Path, path: &str) -> bool {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let Some((before, after)) = first.split_once('*') else {
        let inside = folder.join(first);
        return match rest {
            "" => inside.exists() || folder.join(format!("{first}.rs")).exists(),
            _ => exists(&inside, rest),
        };
    };
    (folder.read_dir().into_iter().flatten().flatten()).any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(before)
            && name.ends_with(after)
            && (rest.is_empty() || exists(&entry.path(), rest))
    })
}

/// Names in capitals stand for any name: `src/cli/COMMAND.rs`.
fn is_placeholder(path: &str) -> bool {
    path.split(['/', '.', '-'])
        .any(|part| part.len() > 2 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        || path.contains("..")
        || path.contains("E0xxx")
}

#[test]
fn paths_that_the_pages_name_exist() {
    const TOP: [&str; 8] = [
        "src", "tests", "docs", "examples", "stdlib", "grammar", "benches", ".ci",
    ];
    let names: BTreeSet<String> = (["src", "tests"].iter())
        .flat_map(|top| files(top, "rs"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_string()))
        .collect();
    let mut lacking = Vec::new();
    for (page, text) in pages() {
        for (number, line) in text.lines().enumerate() {
            let anywhere = words(line).filter(|word| {
                let first = word.split_once('/').map(|(first, _)| first);
                first.is_some_and(|first| TOP.contains(&first))
            });
            // Relative to a folder of the code.
            let relative = (spans(line).flat_map(words))
                .filter(|_| is_for_developers(&page))
                .filter(|word| {
                    let first = word.split('/').next().unwrap_or_default();
                    word.contains('/')
                        && ["src", "tests"]
                            .iter()
                            .any(|top| root().join(top).join(first).is_dir())
                        || word.ends_with(".rs")
                });
            for path in anywhere
                .chain(relative)
                .filter(|path| !is_placeholder(path))
            {
                let found = match path.contains('/') {
                    true => {
                        (["", "src", "tests"].iter()).any(|top| exists(&root().join(top), path))
                    }
                    false => names.contains(path),
                };
                if !found {
                    lacking.push(format!("{}:{}: {path}", page.display(), number + 1));
                }
            }
        }
    }
    assert!(lacking.is_empty(), "no such file:\n{}", lacking.join("\n"));
}

/// The names of the code in a file or in all files of a folder.
fn names_below(module: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut work = vec![module.to_path_buf()];
    while let Some(path) = work.pop() {
        if path.is_dir() {
            let entries = path.read_dir().expect("a folder can be listed");
            work.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path);
            let names = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            found.extend(names.map(str::to_string));
        }
    }
    found
}

/// What a path of modules, such as `compile::stages::done`, names and the code does not have.
fn unknown_in_code(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    if matches!(parts.first(), Some(&("bgm" | "crate"))) {
        parts.remove(0);
    }
    let mut module = root().join("src");
    let mut taken = 0;
    for part in &parts {
        let folder = module.join(part);
        let file = module.join(format!("{part}.rs"));
        module = match (folder.is_dir(), file.is_file()) {
            (true, _) => folder,
            (false, true) => file,
            (false, false) => break,
        };
        taken += 1;
        if module.is_file() {
            break;
        }
    }
    let names = names_below(&module);
    (parts[taken..].iter())
        .find(|part| !part.is_empty() && !names.contains(**part))
        .map(ToString::to_string)
}

#[test]
fn modules_that_the_pages_name_exist() {
    let mut lacking = Vec::new();
    for (page, text) in pages().iter().filter(|(page, _)| is_for_developers(page)) {
        for (number, line) in text.lines().enumerate() {
            for path in spans(line).flat_map(words).filter(|word| {
                let room = word.split_once("::").map(|(room, _)| room);
                room.is_some_and(|room| room == "bgm" || root().join("src").join(room).is_dir())
            }) {
                if let Some(name) = unknown_in_code(path) {
                    let number = number + 1;
                    lacking.push(format!(
                        "{}:{number}: `{path}`: there is no {name}",
                        page.display()
                    ));
                }
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

/// A function and its file: `lower` (`compile/lower.rs`), or `cli/solve.rs: run`.
#[test]
fn names_stand_in_the_files_that_the_pages_name() {
    let mut lacking = Vec::new();
    for (page, text) in pages().iter().filter(|(page, _)| is_for_developers(page)) {
        let parts: Vec<&str> = text.split('`').collect();
        let mut pairs = Vec::new();
        for at in (1..parts.len()).step_by(2) {
            if let Some((file, name)) = parts[at].split_once(".rs: ") {
                pairs.push((format!("{file}.rs"), name));
            }
            let joined = parts.get(at + 1).is_some_and(|text| text.trim() == "(");
            if let Some(file) = parts.get(at + 2).filter(|_| joined)
                && file.ends_with(".rs")
            {
                pairs.push(((*file).to_string(), parts[at]));
            }
        }
        for (file, name) in pairs {
            let place = ["", "src", "tests"].map(|top| root().join(top).join(&file));
            let Some(place) = place.iter().find(|place| place.is_file()) else {
                continue;
            };
            let last = name.rsplit("::").next().unwrap_or(name);
            if !names_below(place).contains(last) {
                lacking.push(format!("{}: no {name} in {file}", page.display()));
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

/// The anchor that a heading gets: letters in lower case, blanks as `-`, no other signs.
fn anchor(heading: &str) -> String {
    (heading.trim().to_lowercase().chars())
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// A page without blocks and spans of code, in which brackets are no links.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        !is_code && !fence && !line.starts_with("    ")
    });
    let prose: Vec<&str> = prose.collect();
    prose.join("\n").split('`').step_by(2).collect()
}

#[test]
fn links_lead_to_a_page_and_a_heading() {
    let mut lacking = Vec::new();
    for (page, text) in pages() {
        let text = without_code(&text);
        let links = text.split("](").skip(1).filter_map(|rest| {
            let (target, _) = rest.split_once(')')?;
            let is_file = !target.contains("://") && !target.contains(char::is_whitespace);
            is_file.then_some(target)
        });
        for target in links {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = page.parent().expect("a page lies in a folder");
            let to = match file {
                "" => page.clone(),
                _ => folder.join(file),
            };
            let found = match heading {
                "" => to.exists(),
                _ => {
                    to.is_file() && {
                        let text = read(&to);
                        let mut headings = text.lines().filter(|line| line.starts_with('#'));
                        headings.any(|line| anchor(line.trim_start_matches('#')) == heading)
                    }
                }
            };
            if !found {
                lacking.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(
        lacking.is_empty(),
        "links to nothing:\n{}",
        lacking.join("\n")
    );
}

/// `cargo test --test PROGRAM MODULE`: such a command of a page runs some test.
#[test]
fn commands_of_the_pages_run_tests_that_exist() {
    let mut lacking = Vec::new();
    for (page, text) in pages() {
        for line in text.lines() {
            let Some((_, rest)) = line.split_once("cargo test --test ") else {
                continue;
            };
            let mut words = rest.split(|c: char| c.is_whitespace() || c == '`');
            let program = words.next().unwrap_or_default();
            let module = words.next().unwrap_or_default();
            let folder = root().join("tests").join(program);
            let found = match folder.is_dir() {
                // Golden and manual make their tests from files.
                false => folder.with_extension("rs").is_file(),
                true => {
                    module.is_empty()
                        || !module.starts_with(|c: char| c.is_ascii_lowercase())
                        || exists(&folder, module)
                        || names_below(&folder).contains(module)
                }
            };
            if !found && !is_placeholder(program) {
                lacking.push(format!("{}: {}", page.display(), line.trim()));
            }
        }
    }
    assert!(lacking.is_empty(), "no such tests:\n{}", lacking.join("\n"));
}
