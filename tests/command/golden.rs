//! `bgm golden`, in folders of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

const MODEL: &str = "{ golden: equations, sorted --eliminate }\n@part\n\nmodel M\n  \
                     submodel (Part) a\n  output y\n  y = a.x\nend\n";
const PART: &str = "model type Part\n  local x\n  parameter k = 2\n  der(x) = -k*x\nend\n";

struct Folder(PathBuf);

impl Folder {
    /// A new folder with a model and the type that it uses.
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("golden_command")
            .join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("models")).expect("a folder can be made");
        let folder = Folder(path);
        folder.write("m.bgm", MODEL);
        folder.write("part.bgm", PART);
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join("models").join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("a file can be written");
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).expect("a file can be read")
    }

    /// Exit code, standard output, standard error of a run in `below`.
    fn run_in(&self, below: &str, words: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .current_dir(self.0.join(below))
            .arg("golden")
            .args(words)
            .output()
            .expect("bgm runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        self.run_in("models", words)
    }

    /// A run that says nothing on standard error.
    fn says(&self, words: &[&str], code: i32, expected: &str) {
        let (got, out, err) = self.run(words);
        assert_eq!((err.as_str(), out.as_str()), ("", expected));
        assert_eq!(got, Some(code));
    }
}

#[test]
fn missing_then_blessed_then_kept() {
    let folder = Folder::new("missing");
    folder.says(
        &["m.bgm"],
        1,
        "m.bgm: `equations` has no golden file m.equations.golden (`--bless` writes it)\n\
         m.bgm: `sort --eliminate` has no golden file m.sort-eliminate.golden (`--bless` writes it)\n\
         1 model, 2 listings: 2 have no golden file yet\n\
         if this is how it should be, keep it with `bgm golden --bless`\n",
    );
    folder.says(
        &["--bless", "m.bgm"],
        0,
        "m.bgm: wrote m.equations.golden\n\
         m.bgm: wrote m.sort-eliminate.golden\n\
         1 model, 2 listings: 2 golden files written\n",
    );
    assert_eq!(
        folder.read("m.equations.golden"),
        "M: 2 equations, 2 unknowns\n\na  der(a.x) = -a.k*a.x\nM  y = a.x\n"
    );
    let kept = "1 model, 2 listings: all as in the golden files\n";
    folder.says(&["m.bgm"], 0, kept);
    // Blessing again touches nothing.
    let written = |folder: &Folder| {
        let data = std::fs::metadata(folder.path("m.equations.golden"));
        data.and_then(|data| data.modified()).expect("a time")
    };
    let before = written(&folder);
    folder.says(&["--bless", "m.bgm"], 0, kept);
    assert_eq!(written(&folder), before);
}

#[test]
fn a_change_in_a_type_is_shown_in_every_model() {
    let folder = Folder::new("difference");
    folder.write(
        "n.bgm",
        &MODEL.replace("M\n", "N\n").replace(", sorted", ", sort"),
    );
    folder.write(
        "o.bgm",
        "{ golden: equations }\nmodel O\n  output y = 1\nend\n",
    );
    assert_eq!(
        folder.run(&["--bless", "m.bgm", "n.bgm", "o.bgm"]).0,
        Some(0)
    );
    folder.write("part.bgm", &PART.replace("-k*x", "1 - k*x"));
    let diff = |model: &str, lines: &str, file: &str| {
        format!("--- {model}.{file}.golden (kept)\n+++ {model}.{file}.golden (now)\n{lines}\n")
    };
    let mut expected = String::new();
    for (file, model) in [("m", "M"), ("n", "N")] {
        let lines = format!(
            "@@ -1,4 +1,4 @@\n {model}: 2 equations, 2 unknowns\n \n\
             -a  der(a.x) = -a.k*a.x\n+a  der(a.x) = 1 - a.k*a.x\n {model}  y = a.x\n"
        );
        expected.push_str(&format!("{file}.bgm: `equations` differs\n"));
        expected.push_str(&diff(file, &lines, "equations"));
        let lines = format!(
            "@@ -1,6 +1,6 @@\n {model}: 1 equation, 1 unknown, no loops\n \n\
             -a  [der(a.x)] = -a.k*a.x\n+a  [der(a.x)] = 1 - a.k*a.x\n \n \
             ELIMINATED VARIABLES\n \n"
        );
        expected.push_str(&format!("{file}.bgm: `sort --eliminate` differs\n"));
        expected.push_str(&diff(file, &lines, "sort-eliminate"));
    }
    expected.push_str(
        "3 models, 5 listings: 4 differ\n\
         if this is how it should be, keep it with `bgm golden --bless`\n",
    );
    folder.says(&["m.bgm", "n.bgm", "o.bgm"], 1, &expected);
    assert_eq!(folder.run(&["--bless", "m.bgm", "n.bgm"]).0, Some(0));
    folder.says(
        &["m.bgm", "n.bgm", "o.bgm"],
        0,
        "3 models, 5 listings: all as in the golden files\n",
    );
}

#[test]
fn stale_files_of_ours_go_and_others_stay() {
    let folder = Folder::new("stale");
    assert_eq!(folder.run(&["--bless", "m.bgm"]).0, Some(0));
    let others = [
        "m.sort.txt",
        "m.mine.golden",
        "mm.sort.golden",
        "m.sort.x.golden",
    ];
    for other in others {
        folder.write(other, "mine\n");
    }
    folder.write("m.bgm", &MODEL.replace(", sorted --eliminate", ""));
    folder.says(
        &["m.bgm"],
        1,
        "m.bgm: m.sort-eliminate.golden is not named by the golden comment (`--bless` removes it)\n\
         1 model, 1 listing: 1 golden file is no longer named\n\
         if this is how it should be, keep it with `bgm golden --bless`\n",
    );
    folder.says(
        &["--bless", "m.bgm"],
        0,
        "m.bgm: removed m.sort-eliminate.golden\n1 model, 1 listing: 1 removed\n",
    );
    assert!(!folder.path("m.sort-eliminate.golden").exists());
    assert!(folder.path("m.equations.golden").exists());
    for other in others {
        assert_eq!(folder.read(other), "mine\n");
    }
}

#[test]
fn golden_comments_that_do_not_do() {
    let folder = Folder::new("comments");
    let (code, out, err) = folder.run(&["part.bgm", "nothing.bgm"]);
    assert_eq!(code, Some(2));
    assert_eq!(
        err,
        "error: part.bgm: no golden comment: name the listings to keep in one at the top of the \
         file, as in `{ golden: equations, sort --eliminate }`, or write `{ golden: none }`\n\
         error: nothing.bgm: there is no such file\n"
    );
    assert_eq!(out, "2 models, 0 listings: 2 could not be compared\n");
    for (comment, said) in [
        (
            "explain",
            "`explain` lists nothing; there are `equations`, `sort`,",
        ),
        ("golden", "`golden` lists nothing"),
        ("sort --eliminat", "unexpected argument '--eliminat' found"),
        ("equations -o x.txt", "`-o` has no place here"),
        ("solve --timings", "`--timings` has no place here"),
        ("simulate --stats", "`--stats` has no place here"),
        (
            "equations other.bgm",
            "unexpected argument 'other.bgm' found",
        ),
    ] {
        folder.write("c.bgm", &MODEL.replace("sorted --eliminate", comment));
        let (code, out, err) = folder.run(&["c.bgm", "--bless"]);
        assert_eq!(code, Some(2), "{comment}");
        let start = format!("error: c.bgm: its golden comment says `{comment}`: {said}");
        assert!(err.starts_with(&start), "{comment}: {err}");
        assert!(out.ends_with("1 could not be compared\n"), "{out}");
        assert!(!folder.path("x.txt").exists());
        // The listing beside it is kept all the same.
        assert!(folder.path("c.equations.golden").exists());
    }
    folder.write("part.bgm", &format!("{{ golden: none }}\n{PART}"));
    folder.says(
        &["part.bgm"],
        0,
        "1 model, 0 listings: all as in the golden files\n",
    );
}

#[test]
fn line_ends_do_not_matter() {
    let folder = Folder::new("crlf");
    folder.write("bad.bgm", "{ golden: check }\nmodel B\n  x = 1\nend\n");
    assert_eq!(folder.run(&["--bless", "m.bgm", "bad.bgm"]).0, Some(0));
    for file in [
        "m.bgm",
        "part.bgm",
        "bad.bgm",
        "m.equations.golden",
        "m.sort-eliminate.golden",
        "bad.check.golden",
    ] {
        let text = folder.read(file);
        assert!(!text.contains('\r'), "{file}");
        folder.write(file, &text.replace('\n', "\r\n"));
    }
    let kept = "2 models, 3 listings: all as in the golden files\n";
    folder.says(&["m.bgm", "bad.bgm"], 0, kept);
}

/// Errors are kept as they are said, by file names that do not depend on the current folder, and
/// without colors.
#[test]
fn listings_do_not_depend_on_the_folder_nor_on_colors() {
    let folder = Folder::new("folders");
    let model = MODEL
        .replace("a.x\n", "a.z\n")
        .replace("sorted", "check --format json, sort");
    folder.write("m.bgm", &model);
    let colored = folder.run(&["--bless", "--color", "always", "m.bgm"]);
    assert_eq!(colored.0, Some(0));
    let text = folder.read("m.equations.golden");
    assert!(text.starts_with("error[E0302]"), "{text}");
    assert!(text.contains("┌─ m.bgm:7:"), "{text}");
    assert!(text.ends_with("exit code 1\n"), "{text}");
    let data = folder.read("m.check-format-json.golden");
    assert!(data.contains("\"file\": \"m.bgm\""), "{data}");
    let kept = "1 model, 3 listings: all as in the golden files\n";
    for (below, file) in [
        ("", "models/m.bgm"),
        ("models", "m.bgm"),
        ("models", "../models/m.bgm"),
        ("models", "./m.bgm"),
    ] {
        let (code, out, err) = folder.run_in(below, &[file]);
        assert_eq!((err.as_str(), out.as_str()), ("", kept), "{file}");
        assert_eq!(code, Some(0));
    }
}
