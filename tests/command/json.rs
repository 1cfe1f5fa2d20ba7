//! The rules of docs/json.md, on every model of the project that compiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use bgm::base::intern::Interner;
use bgm::base::source::{Origin, Sources};
use bgm::expr::{ExprId, Node};
use bgm::syntax::ast::{Ast, Reference};
use serde_json::{Map, Value};

type Object = Map<String, Value>;

const FOLDERS: &[&str] = &["examples", "tests/papers", "tests/language"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(words: &[&str]) -> (Option<i32>, Vec<u8>) {
    let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
        .current_dir(root())
        .args(words)
        .output()
        .expect("bgm runs");
    (output.status.code(), output.stdout)
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder of models") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "bgm") {
                let path = path.strip_prefix(root()).expect("a path below the root");
                files.push(path.to_path_buf());
            }
        }
    }
    files.sort();
    files
}

/// The models that a file's first comment names in golden commands, and its last one.
fn models(file: &Path) -> BTreeSet<Option<String>> {
    let text = std::fs::read_to_string(root().join(file)).expect("a model is text");
    let comment = text.split('}').next().unwrap_or("");
    let named = comment.split("--model").skip(1).filter_map(|rest| {
        let name = rest.split([' ', ',', '\n']).find(|word| !word.is_empty())?;
        Some(Some(name.to_string()))
    });
    named.chain([None]).collect()
}

/// Name and flat model of all that compiles.
fn flat_models() -> Vec<(String, Object)> {
    let mut found = Vec::new();
    for file in files() {
        let shown = file.display().to_string();
        for model in models(&file) {
            let mut words = vec!["equations", &shown, "--format", "json"];
            if let Some(model) = &model {
                words.extend(["--model", model]);
            }
            let (code, text) = run(&words);
            if code != Some(0) {
                continue;
            }
            let title = format!("{shown} {}", model.unwrap_or_default());
            let flat: Value = serde_json::from_slice(&text).expect("bgm writes json");
            found.push((title, object(&flat).clone()));
        }
    }
    assert!(found.len() > 40, "only {} models compile", found.len());
    found
}

fn object(value: &Value) -> &Object {
    value.as_object().expect("an object")
}

fn list<'v>(object: &'v Object, field: &str) -> impl Iterator<Item = &'v Object> {
    let list = object[field].as_array().expect("a list");
    list.iter()
        .map(|entry| entry.as_object().expect("an object"))
}

fn text<'v>(object: &'v Object, field: &str) -> &'v str {
    object[field].as_str().expect("a text")
}

#[test]
fn the_rules_hold() {
    for (title, flat) in flat_models() {
        assert_eq!(flat["version"], 1, "{title}");
        let mut names = BTreeSet::new();
        for variable in list(&flat, "variables") {
            let name = text(variable, "name");
            assert!(names.insert(name), "{title}: {name} is listed twice");
            check_variable(&format!("{title}: {name}"), variable);
        }
        for equation in list(&flat, "equations") {
            let (left, right) = (text(equation, "left"), text(equation, "right"));
            let shown = format!("{title}: {left} = {right}");
            check_equation(&shown, equation);
            // The top is "", any other origin a submodel, which has variables in it.
            let origin = text(equation, "origin");
            let known = origin.is_empty()
                || names
                    .iter()
                    .any(|name| name.starts_with(&format!("{origin}.")));
            assert!(known, "{shown}: there is no submodel `{origin}`");
        }
    }
}

fn check_variable(title: &str, variable: &Object) {
    let kind = text(variable, "kind");
    let kinds = [
        "state",
        "algebraic",
        "discrete",
        "input",
        "output",
        "parameter",
        "constant",
    ];
    assert!(kinds.contains(&kind), "{title} has the kind {kind}");
    let ty = text(variable, "type");
    assert!(
        ["real", "boolean"].contains(&ty),
        "{title} has the type {ty}"
    );
    for field in ["value", "start"] {
        match variable.get(field) {
            Some(Value::Number(_)) => assert_eq!(ty, "real", "{title}"),
            Some(Value::Bool(_)) => assert_eq!(ty, "boolean", "{title}"),
            Some(other) => panic!("{title} has the {field} {other}"),
            None => {}
        }
    }
    match kind {
        "parameter" | "constant" => assert!(variable.contains_key("value"), "{title} has no value"),
        "input" => {}
        _ => assert!(!variable.contains_key("value"), "{title} has a value"),
    }
    if kind == "output" {
        assert_eq!(variable["output"], true, "{title}");
    }
    if variable.get("output").is_some() {
        assert_eq!(variable["output"], true, "{title}");
        assert_eq!(variable["origin"], "", "{title}: only the top has outputs");
        assert!(["output", "state", "discrete"].contains(&kind), "{title}");
    }
    let (name, origin) = (text(variable, "name"), text(variable, "origin"));
    let inside = match origin {
        "" => !name.contains('.'),
        _ => (name.strip_prefix(origin)).is_some_and(|rest| rest.starts_with('.')),
    };
    assert!(inside, "{title} does not lie in `{origin}`");
}

fn check_equation(title: &str, equation: &Object) {
    let kind = text(equation, "kind");
    let kinds = ["equation", "coupling", "zero flow", "when", "new", "init"];
    assert!(kinds.contains(&kind), "{title} has the kind {kind}");
    let is_when = kind == "when";
    assert_eq!(equation.contains_key("condition"), is_when, "{title}");
    assert_eq!(equation.contains_key("when"), is_when, "{title}");
    assert!(is_when || !equation.contains_key("unless"), "{title}");
    let left = text(equation, "left");
    match kind {
        "new" => assert!(left.starts_with("new("), "{title}"),
        "init" => assert!(left.starts_with("init("), "{title}"),
        "when" => assert!(
            left.starts_with("new(") || left.starts_with("init("),
            "{title}"
        ),
        "zero flow" => assert_eq!(equation["right"], "0", "{title}"),
        _ => assert!(
            !left.starts_with("new(") && !left.starts_with("init("),
            "{title}"
        ),
    }
}

#[test]
fn outputs_that_are_states_say_so() {
    let (code, text) = run(&[
        "equations",
        "tests/language/directed.bgm",
        "--format",
        "json",
    ]);
    assert_eq!(code, Some(0));
    let flat: Value = serde_json::from_slice(&text).expect("bgm writes json");
    let kinds: BTreeMap<&str, (&str, Option<&Value>)> = list(object(&flat), "variables")
        .map(|v| {
            (
                self::text(v, "name"),
                (self::text(v, "kind"), v.get("output")),
            )
        })
        .collect();
    assert_eq!(kinds["v"], ("state", Some(&Value::Bool(true))));
    assert_eq!(kinds["z"], ("output", Some(&Value::Bool(true))));
    assert_eq!(kinds["a.y"], ("state", None));
}

/// Every expression can be read, and names only variables of the model.
#[test]
fn expressions_read_back() {
    for (title, flat) in flat_models() {
        let names: BTreeSet<&str> = list(&flat, "variables").map(|v| text(v, "name")).collect();
        let mut expressions: Vec<&str> = Vec::new();
        for equation in list(&flat, "equations") {
            expressions.extend([text(equation, "left"), text(equation, "right")]);
            expressions.extend(equation.get("condition").and_then(Value::as_str));
            let unless = equation.get("unless").and_then(Value::as_array);
            expressions.extend(unless.into_iter().flatten().filter_map(Value::as_str));
        }
        for variable in list(&flat, "variables") {
            expressions.extend(variable.get("expression").and_then(Value::as_str));
        }
        // One line each: an expression that ends too early would be an error.
        let lines: Vec<String> = expressions.iter().map(|e| format!("0 = {e}\n")).collect();
        let wrapped = format!("model Wrapped\n{}end\n", lines.concat());
        let mut sources = Sources::default();
        let file = sources.add(title.clone(), wrapped.clone(), Origin::User);
        let mut interner = Interner::default();
        let (tree, diagnostics) = bgm::syntax::parse(file, &wrapped, &mut interner);
        let first = diagnostics.first().map(|d| &d.message);
        assert_eq!(first, None, "{title} cannot be read back");
        for at in 0..tree.exprs.firsts.len() as u32 {
            if let Node::Leaf(reference) = tree.exprs.node(ExprId(at)) {
                let name = full_name(&tree, reference, &interner);
                assert!(
                    names.contains(name.as_str()),
                    "{title}: {name} is not listed"
                );
            }
        }
    }
}

fn full_name(tree: &Ast, reference: Reference, interner: &Interner) -> String {
    let parts: Vec<String> = (tree.exprs.parts(reference).iter())
        .map(|part| {
            let name = interner.name(part.name.symbol);
            match part.index.map(|index| tree.exprs.node(index)) {
                None => name.to_string(),
                Some(Node::Number(number)) => format!("{name}[{}]", number.0),
                Some(other) => panic!("{name} has the index {other:?}"),
            }
        })
        .collect();
    parts.join(".")
}

/// The tables of docs/json.md list the fields that there are, no more and no fewer.
#[test]
fn the_tables_are_complete() {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut note = |section: &'static str, entry: &Object| {
        let fields = seen.entry(section).or_default();
        fields.extend(entry.keys().cloned());
    };
    for (_, flat) in flat_models() {
        note("Model", &flat);
        for variable in list(&flat, "variables") {
            note("Variables", variable);
            note("Places", object(&variable["source"]));
        }
        for equation in list(&flat, "equations") {
            note("Equations", equation);
        }
    }
    for model in [
        "examples/rlc.bgm",
        "examples/rectifier.bgm",
        "examples/pendulum.bgm",
        "examples/freewheel.bgm",
    ] {
        let (code, text) = run(&["sort", model, "--eliminate", "--format", "json"]);
        assert_eq!(code, Some(0));
        let sorted: Value = serde_json::from_slice(&text).expect("bgm writes json");
        note("Sorted model", object(&sorted));
        for block in list(object(&sorted), "blocks") {
            note("Blocks", block);
            for equation in list(block, "equations") {
                note("Equations", equation);
            }
        }
        for gone in list(object(&sorted), "eliminated") {
            note("Eliminated", gone);
        }
    }
    let (code, text) = run(&[
        "check",
        "tests/language/parameter_circle.bgm",
        "--format",
        "json",
    ]);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_slice(&text).expect("bgm writes json");
    note("Report", object(&report));
    for diagnostic in list(object(&report), "diagnostics") {
        note("Diagnostic", diagnostic);
        for place in list(diagnostic, "places") {
            note("Places", place);
        }
    }
    let graphs = graphs();
    for (_, graph) in &graphs {
        note("Graph", graph);
        for (section, field) in PARTS_OF_GRAPHS {
            for entry in list(graph, field) {
                note(section, entry);
            }
        }
        if let Some(contradiction) = graph.get("contradiction") {
            note("Contradiction", object(contradiction));
        }
    }
    for fields in all_fields() {
        note("Fields of a model", &fields);
        for entry in list(&fields, "r_fields") {
            note("R-fields", entry);
        }
        for entry in list(&fields, "storage_fields") {
            note("Storage fields", entry);
        }
        if let Some(matrices) = fields.get("matrices") {
            note("Matrices", object(matrices));
        }
    }
    let page = std::fs::read_to_string(root().join("docs/json.md")).expect("the page is there");
    for (section, fields) in seen {
        assert_eq!(
            documented(&page, section),
            fields,
            "in the table `{section}`"
        );
    }
}

/// What `bgm fields` says of all models of some files, with the matrices.
fn all_fields() -> Vec<Object> {
    let files = [
        "tests/bond/fields.bgm",
        "tests/papers/hood-1987.bgm",
        "tests/papers/mccalla-1991.bgm",
    ];
    let mut found = Vec::new();
    for file in files {
        for model in models(&PathBuf::from(file)) {
            let mut words = vec!["fields", file, "--format", "json", "--matrices"];
            words.extend(model.iter().flat_map(|model| ["--model", model]));
            let (_, text) = run(&words);
            if !text.is_empty() {
                let fields: Value = serde_json::from_slice(&text).expect("bgm writes json");
                found.push(object(&fields).clone());
            }
        }
    }
    assert!(found.len() > 20);
    found
}

/// Tables of docs/json.md, and the lists in a bond graph that they are about.
const PARTS_OF_GRAPHS: [(&str, &str); 6] = [
    ("Bonds", "bonds"),
    ("Junctions", "junctions"),
    ("Elements", "elements"),
    ("Boxes", "boxes"),
    ("Signals", "signals"),
    ("Loops", "loops"),
];

/// Name and bond graph of every model, as it is shown and with submodels closed.
fn graphs() -> Vec<(String, Object)> {
    let mut found = Vec::new();
    let files = files()
        .into_iter()
        .chain([PathBuf::from("tests/bond/parts.bgm")]);
    for file in files {
        let shown = file.display().to_string();
        for model in models(&file) {
            for more in [&[][..], &["--depth", "1"]] {
                let mut words = vec!["causality", &shown, "--format", "json"];
                words.extend(model.iter().flat_map(|model| ["--model", model]));
                words.extend(more);
                // Models that are not balanced have a graph and errors; others have no flat model.
                let (_, text) = run(&words);
                if text.is_empty() {
                    continue;
                }
                let title = format!("{shown} {} {more:?}", model.clone().unwrap_or_default());
                let graph: Value = serde_json::from_slice(&text).expect("bgm writes json");
                found.push((title, object(&graph).clone()));
            }
        }
    }
    let powers = |graph: &Object| !graph["bonds"].as_array().expect("a list").is_empty();
    let count = found.iter().filter(|(_, graph)| powers(graph)).count();
    assert!(count > 60, "only {count} bond graphs");
    found
}

fn texts<'v>(object: &'v Object, field: &str) -> Vec<&'v str> {
    let list = object[field].as_array().expect("a list");
    list.iter()
        .map(|one| one.as_str().expect("a text"))
        .collect()
}

/// The rules of docs/json.md for bond graphs.
#[test]
fn graphs_are_as_described() {
    for (title, graph) in graphs() {
        assert_eq!(graph["version"], 1, "{title}");
        let mut names = BTreeSet::new();
        for field in ["junctions", "elements", "boxes"] {
            names.extend(list(&graph, field).map(|node| text(node, "name")));
        }
        let verdict = texts(&graph, "verdict");
        let is = |word: &str| verdict.contains(&word);
        let bonds: Vec<&Object> = list(&graph, "bonds").collect();
        assert_eq!(verdict.is_empty(), names.is_empty(), "{title}");
        assert!(
            verdict.len() < 2 || verdict == ["degenerate", "loops"],
            "{title}"
        );
        assert_eq!(
            graph.contains_key("contradiction"),
            is("non-causal"),
            "{title}"
        );
        assert_eq!(list(&graph, "loops").count() > 0, is("loops"), "{title}");
        for (at, bond) in bonds.iter().enumerate() {
            assert_eq!(bond["number"], at + 1, "{title}");
            for end in ["from", "to"] {
                let name = text(bond, end);
                assert!(names.contains(name), "{title}: there is no `{name}`");
            }
            match &bond["stroke"] {
                Value::Null => {}
                stroke => assert!(*stroke == "from" || *stroke == "to", "{title}: {stroke}"),
            }
            assert_eq!(bond["free"] == true, !bond["loop"].is_null(), "{title}");
        }
        for element in list(&graph, "elements") {
            check_element(&title, element, &bonds);
        }
    }
}

fn check_element(title: &str, element: &Object, bonds: &[&Object]) {
    let name = text(element, "name");
    let title = format!("{title}: {name}");
    let numbers = element["bonds"].as_array().expect("a list");
    let given = element["gives"].as_array().expect("a list");
    assert_eq!(numbers.len(), given.len(), "{title}");
    for (number, gives) in numbers.iter().zip(given) {
        let at = number.as_u64().expect("a number") as usize;
        let bond = bonds[at - 1];
        // The stroke is at the end that gives the flow.
        let end = ["from", "to"].into_iter().find(|end| bond[*end] == name);
        let end = end.unwrap_or_else(|| panic!("{title}: bond {at} ends elsewhere"));
        let wanted = match bond["stroke"].as_str() {
            None => Value::Null,
            Some(stroke) if stroke == end => "flow".into(),
            Some(_) => "effort".into(),
        };
        assert_eq!(*gives, wanted, "{title}");
    }
    let causality = element["causality"].as_str();
    let known: &[Option<&str>] = match text(element, "kind") {
        "Se" | "Sf" => &[Some("source")],
        "C" | "I" => &[Some("integral"), Some("derivative"), Some("free"), None],
        "R" | "RS" => &[
            Some("resistance"),
            Some("conductance"),
            Some("mixed"),
            Some("free"),
            None,
        ],
        "TF" | "GY" | "Sw" | "other" => &[Some("free"), None],
        kind => panic!("{title} has the kind {kind}"),
    };
    assert!(known.contains(&causality), "{title}: {causality:?}");
}

/// The names in the first column of the table under a heading.
pub fn documented(page: &str, section: &str) -> BTreeSet<String> {
    let heading = format!("### {section}");
    page.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split(" |").next())
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.trim_matches('`').to_string())
        .collect()
}
