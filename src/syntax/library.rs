//! The standard library, embedded in the program.

/// Name and text of each file.
pub const FILES: &[(&str, &str)] = &[
    ("bondgraph.bgm", include_str!("../../stdlib/bondgraph.bgm")),
    (
        "electrical.bgm",
        include_str!("../../stdlib/electrical.bgm"),
    ),
];

/// What an include names in the library: a whole file, or one type of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub file: &'static str,
    pub text: &'static str,
    /// The papers keep each type in a file of its own, `@se.bnd`.
    pub only: Option<&'static str>,
}

/// Finds `bondgraph`, `bondgraph.bgm` or `se.bnd`.
pub fn find(name: &str) -> Option<Entry> {
    if let Some(wanted) = name.strip_suffix(".bnd") {
        return types().find_map(|(file, text, found)| {
            found.eq_ignore_ascii_case(wanted).then_some(Entry {
                file,
                text,
                only: Some(found),
            })
        });
    }
    FILES.iter().find_map(|&(file, text)| {
        (file == name || file.strip_suffix(".bgm") == Some(name)).then_some(Entry {
            file,
            text,
            only: None,
        })
    })
}

/// File, text of the file and name of every type, in the order of the files.
pub fn types() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    FILES.iter().flat_map(|&(file, text)| {
        text.lines()
            .filter_map(|line| type_name(line.trim()))
            .map(move |name| (file, text, name))
    })
}

/// The name in `model type NAME` or `model class (BASE) NAME`. The library writes each header on a
/// line of its own.
fn type_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("model ")?.trim_start();
    let rest = rest
        .strip_prefix("type ")
        .or_else(|| rest.strip_prefix("class "))?
        .trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(bases) => bases.split_once(')')?.1.trim_start(),
        None => rest,
    };
    rest.split([' ', '\t', '{', '#', ';'])
        .next()
        .filter(|name| !name.is_empty())
}

/// A type of the library with its documentation and its own text.
#[derive(Clone, Debug)]
pub struct TypeEntry {
    pub file: &'static str,
    pub name: &'static str,
    pub doc: Vec<String>,
    /// From its first `##` line to its `end`.
    pub source: String,
}

/// Every type of the library. The files follow a fixed form: `##` lines, the header, the body, and
/// `end` on a line of its own.
pub fn entries() -> impl Iterator<Item = TypeEntry> {
    FILES.iter().flat_map(|&(file, text)| {
        let lines: Vec<&'static str> = text.lines().collect();
        let mut found = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = type_name(line.trim()) else {
                continue;
            };
            let above = lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.trim_start().starts_with("##"))
                .count();
            let length = lines[at..]
                .iter()
                .position(|line| line.trim() == "end" || line.trim() == format!("end {name}"))
                .unwrap_or(0);
            found.push(TypeEntry {
                file,
                name,
                doc: lines[at - above..at]
                    .iter()
                    .map(|line| line.trim().trim_start_matches('#').trim().to_string())
                    .collect(),
                source: lines[at - above..=at + length].join("\n"),
            });
        }
        found
    })
}
