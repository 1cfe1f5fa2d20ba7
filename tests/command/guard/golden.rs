//! A golden comment asks for listings only.

use std::process::Command;

use super::folder::{Folder, PART, including};

fn model(comment: &str) -> String {
    format!("{{ golden: {comment} }}\n{}", including("part"))
}

#[test]
fn what_writes_or_starts_programs_is_refused_by_name() {
    let folder = Folder::new("refused");
    for (comment, name) in [
        ("equations -o there", "`-o`"),
        ("equations -othere", "`-o`"),
        ("equations --output=there", "`-o`"),
        ("simulate --until 1 -o there", "`-o`"),
        ("simulate --until 1 --plot there", "`--plot`"),
        ("simulate --until 1 --sweep a.x=1 -o there", "`-o`"),
        ("draw -o there", "`-o`"),
        ("reduce -o there", "`-o`"),
        ("export --to c -o there", "`-o`"),
        ("export --to fmu -o there", "`-o`"),
        ("export --to fmu", "`export --to fmu`"),
        ("export --to=fmu", "`export --to fmu`"),
        ("session", "`session` lists nothing"),
        ("golden", "`golden` lists nothing"),
    ] {
        folder.write("in/model.bgm", model(comment));
        for bless in [None, Some("--bless")] {
            let words = ["golden", "model.bgm"].into_iter().chain(bless);
            let said = folder.run(&words.collect::<Vec<_>>());
            said.fails(2, name);
        }
        assert!(!folder.has("in/there"), "{comment}");
        let golden = std::fs::read_dir(folder.path("in")).expect("it is there");
        let mut names = golden.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        assert!(!names.any(|name| name.ends_with(".golden")), "{comment}");
    }
    folder.write("in/model.bgm", model("equations, export --to c, check"));
    let said = folder.run(&["golden", "--bless", "model.bgm"]);
    said.succeeds();
    assert!(folder.has("in/model.export-to-c.golden"));
}

/// An option that is added later and takes a file is one of those that are refused.
#[test]
fn every_option_that_names_a_file_to_write_is_refused() {
    let folder = Folder::new("options");
    let help = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm")).args(words).output();
        String::from_utf8_lossy(&output.expect("bgm runs").stdout).into_owned()
    };
    let commands = help(&["--help"]);
    let commands = commands
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1);
    let mut tried = 0;
    for command in commands.take_while(|line| !line.is_empty()) {
        let Some(command) = command.split_whitespace().next().filter(|c| *c != "help") else {
            continue;
        };
        let text = help(&[command, "--help"]);
        let options = text
            .lines()
            .filter(|line| line.trim_start().starts_with('-'));
        for option in options.filter(|line| line.contains("<FILE>")) {
            let name = option
                .split_whitespace()
                .find(|word| word.starts_with("--"));
            let name = name.unwrap_or("--").trim_end_matches(',');
            folder.write("in/model.bgm", model(&format!("{command} {name} there")));
            let said = folder.run(&["golden", "--bless", "model.bgm"]);
            assert_eq!(said.code, Some(2), "{command} {name}: {}", said.out);
            assert!(!folder.has("in/there"), "{command} {name}");
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried} options");
}

#[test]
fn golden_files_are_no_links() {
    let folder = Folder::new("golden_link");
    folder.write("in/model.bgm", model("equations"));
    folder.link("../out/victim", "in/model.equations.golden");
    folder
        .run(&["golden", "--bless", "model.bgm"])
        .fails(2, "is a link");
    assert!(!folder.has("out/victim"));
    folder.write("out/victim", "as it was\n");
    folder
        .run(&["golden", "--bless", "model.bgm"])
        .fails(2, "is a link");
    assert_eq!(folder.read("out/victim"), "as it was\n");
    std::fs::remove_file(folder.path("in/model.equations.golden")).expect("it is there");
    folder.pipe("in/model.equations.golden");
    folder
        .run(&["golden", "model.bgm"])
        .fails(2, "it is a pipe");
}

#[test]
fn an_untrusted_comment_opens_no_folder() {
    let folder = Folder::new("golden_inside");
    folder.write(
        "in/sub/model.bgm",
        model("check -I .., check --experiment ../../out/part.bgm"),
    );
    folder.write("out/part.bgm", format!("# secret\n{PART}"));
    folder.write("in/sub/part.bgm", "@../part\n");
    let said = folder.run(&["golden", "--untrusted", "--bless", "sub/model.bgm"]);
    said.succeeds();
    for file in ["check-I", "check-experiment-out-part-bgm"] {
        let kept = folder.read(&format!("in/sub/model.{file}.golden"));
        assert!(kept.contains("error[E0212]"), "{kept}");
    }
}
