//! A session writes over nothing that it reads, and with `--untrusted` nothing outside its folder.

use super::folder::{Folder, PART, including};

/// Tries to write a listing into each file; all refuse.
fn refuses(folder: &Folder, before: &str, files: &[&str], flags: &[&str], why: &str) {
    for file in files {
        let script = format!("{before}outfile {file}\noutput equations\n");
        folder.write("in/script", &script);
        let there = std::fs::read(folder.path("in").join(file)).ok();
        let mut words = vec!["session"];
        words.extend(flags);
        words.push("script");
        folder.run(&words).fails(1, why);
        let now = std::fs::read(folder.path("in").join(file)).ok();
        assert_eq!(now, there, "{file}");
    }
}

#[test]
fn nothing_that_was_read_is_written_over() {
    let folder = Folder::new("over");
    folder.write("in/first.bgm", including("part"));
    let second = "model Other\n  local z\n  der(z) = 1\nend\nexperiment Other\n  simutime 1\nend\n";
    folder.write("in/second.bgm", second);
    folder.write("in/e.bgm", "experiment Other\n  simutime 2\nend\n");
    folder.link("first.bgm", "in/soft");
    std::fs::hard_link(folder.path("in/part.bgm"), folder.path("in/hard")).expect("a link");
    let before = "enter model\n@first\nenter model\n@second\nenter experiment\n@e\n";
    // The script, models of before and now, an include, an experiment, and links to them.
    let files = [
        "script",
        "./script",
        "sub/../script",
        "first.bgm",
        "second.bgm",
        "part.bgm",
        "e.bgm",
        "soft",
        "hard",
    ];
    refuses(&folder, before, &files, &[], "error: cannot write");
    // Other files are written as before, also over what was there.
    folder.write("in/list", "old\n");
    folder.write(
        "in/script",
        format!("{before}outfile list\noutput equations\n"),
    );
    folder.run(&["session", "script"]).succeeds();
    assert!(folder.read("in/list").starts_with("Other: "));
    assert_eq!(folder.read("in/part.bgm"), PART);
}

#[test]
fn a_script_from_standard_input_is_not_written_over() {
    let folder = Folder::new("over_standard_input");
    folder.write("in/first.bgm", including("part"));
    let script = "enter model\n@first\noutfile script\noutput equations\n";
    folder.write("in/script", script);
    let from = std::fs::File::open(folder.path("in/script")).expect("the script");
    let said = folder.run_with(&["session"], from.into());
    said.fails(1, "error: cannot write");
    assert_eq!(folder.read("in/script"), script);
}

#[test]
fn untrusted_sessions_stay_in_their_folder() {
    let folder = Folder::new("session_inside");
    folder.write("in/first.bgm", including("part"));
    folder.link("../out", "in/away");
    folder.link("../out/new", "in/lost");
    let new = folder.path("out/new").display().to_string();
    let before = "enter model\n@first\n";
    let files = [
        "../out/new",
        "away/new",
        "lost",
        &new,
        "sub/../../out/new",
        "/dev/null",
    ];
    let why = "in its own folder only";
    refuses(&folder, before, &files, &["--untrusted"], why);
    folder.write(
        "in/script",
        format!("{before}outfile sub/new\noutput equations\n"),
    );
    folder.run(&["session", "--untrusted", "script"]).succeeds();
    assert!(folder.read("in/sub/new").starts_with("M: "));
    // It reads there only, too.
    let said = folder.run_on(&["session", "--untrusted"], "enter model\n@../out/part\n");
    said.fails(1, "error[E0212]");
    let said = folder.run_on(&["session", "--untrusted"], "enter model\n@/etc/passwd\n");
    said.fails(1, "error[E0212]");
}
