//! The models of the examples, the papers and the manual, as written and in another order.

use std::path::{Path, PathBuf};

use bgm::base::intern::Interner;
use bgm::base::source::FileId;
use bgm::compile::{Options, check};
use bgm::flat::Flat;
use bgm::syntax::ast::{Item, Statement, StatementKind, VariableClass};
use bgm::syntax::load::{Files, Input};
use bgm::syntax::{parse, print::print};

use super::random::Random;

/// The disk, with another text in the place of one file.
#[derive(Default)]
pub struct Disk<'t> {
    instead: Option<(&'t Path, &'t str)>,
}

impl Files for Disk<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        match self.instead {
            Some((other, text)) if other == path => Ok(text.as_bytes().to_vec()),
            _ => std::fs::read(path),
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }

    fn list(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

pub fn all() -> Vec<PathBuf> {
    inside(&["examples", "tests/papers", "tests/language"])
}

/// The models of some folders of the repository, in order.
pub fn inside(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in folders {
        let files = std::fs::read_dir(root.join(folder)).expect("the folder is there");
        found.extend(
            files
                .map(|entry| entry.expect("an entry can be read").path())
                .filter(|path| path.extension().is_some_and(|e| e == "bgm")),
        );
    }
    found.sort();
    found
}

fn compiled(file: &Path, instead: Option<&str>, options: &Options) -> Vec<Flat> {
    let disk = Disk {
        instead: instead.map(|text| (file, text)),
    };
    let mut found = Vec::new();
    check(&Input::File(file.to_path_buf()), options, &disk, |flat| {
        found.push(flat);
    });
    found
}

pub fn models(file: &Path) -> Vec<Flat> {
    compiled(file, None, &Options::default())
}

/// One model of a file, or of the text in its place.
pub fn model(file: &Path, instead: Option<&str>, name: &str) -> Flat {
    let options = Options {
        model: Some(name.to_string()),
        ..Options::default()
    };
    let mut found = compiled(file, instead, &options);
    match found.pop() {
        Some(flat) => flat,
        None => panic!("{}: no model {name} in {instead:?}", file.display()),
    }
}

/// The text of a file, its statements in another order.
pub fn shuffled(file: &Path, random: &mut Random) -> String {
    let text = std::fs::read_to_string(file).expect("a model can be read");
    let mut interner = Interner::default();
    let (mut ast, said) = parse(FileId(0), &text, &mut interner);
    assert!(said.is_empty(), "{}: {said:?}", file.display());
    random.shuffle(&mut ast.items);
    for item in &mut ast.items {
        if let Item::Model(model) = item {
            shuffle(&mut model.body, random);
        }
    }
    print(&ast, &interner)
}

fn shuffle(body: &mut [Statement], random: &mut Random) {
    random.shuffle(body);
    // The size of an array may depend on the arrays of parameters before it.
    body.sort_by_key(|statement| !gives_sizes(statement));
    for statement in body {
        match &mut statement.kind {
            StatementKind::Cuts { cuts, .. } => random.shuffle(cuts),
            StatementKind::Paths { paths, .. } => random.shuffle(paths),
            StatementKind::Variables { variables, .. } => random.shuffle(variables),
            StatementKind::Wishes { variables, .. } => random.shuffle(variables),
            StatementKind::Nodes { nodes, .. } => random.shuffle(nodes),
            StatementKind::Submodels { submodels, .. } => random.shuffle(submodels),
            StatementKind::Connect(connections) => random.shuffle(connections),
            StatementKind::For { body, .. } => shuffle(body, random),
            StatementKind::When(branches) => {
                for branch in branches {
                    shuffle(&mut branch.body, random);
                }
            }
            StatementKind::Equation { .. } | StatementKind::Error => {}
        }
    }
}

fn gives_sizes(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Variables { class, variables } => {
            matches!(class, VariableClass::Parameter | VariableClass::Constant)
                && variables.iter().any(|variable| variable.size.is_some())
        }
        _ => false,
    }
}
