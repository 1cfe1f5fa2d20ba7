//! What a terminal would obey is shown instead.

use std::io::Write;
use std::process::Command;

use bgm::base::diagnostics::visible::{Shown, escaped, visible, visible_name};

use super::folder::{Folder, PART, including};

const ESC: &str = "\u{1b}[31m";

/// No character that a terminal obeys but line ends and, where they are wanted, colours of bgm.
#[track_caller]
fn is_plain(text: &str) {
    let obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(obeyed), "{text:?}");
}

#[test]
fn each_character_has_one_of_the_same_width() {
    assert_eq!(visible("a\u{1b}[0m\u{7}\r\n\tb\r"), "a␛[0m␇\r\n\tb␍");
    assert_eq!(visible("\u{202e}x\u{2066}\u{9b}\u{7f}\0"), "�x��␡␀");
    assert_eq!(visible("plain, ä, 数, ☐"), "plain, ä, 数, ☐");
    assert_eq!(visible_name("a\nb\tc"), "a␊b␉c");
    let json = escaped("\"\u{202e}\u{7f}\u{e0041}\"\n").into_owned();
    assert_eq!(json, "\"\\u202e\\u007f\\udb40\\udc41\"\n");
    let back: String = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(back, "\u{202e}\u{7f}\u{e0041}");
}

#[test]
fn places_move_with_what_is_shown() {
    let source = "\u{feff}a\u{1b}b\r\n\u{202e}c\rd\n";
    let shown = Shown::new(source);
    assert_eq!(shown.text, "\u{feff}a␛b\r\n�c␍d\n");
    for letter in ["a", "b", "c", "d"] {
        let (from, to) = (source.find(letter), shown.text.find(letter));
        assert_eq!(from.map(|at| shown.place(at)), to, "{letter}");
    }
    assert_eq!(shown.place(source.len()), shown.text.len());
    let line = shown.line_range(1).map(|range| &shown.text[range]);
    assert_eq!(line, Some("�c␍d\n"));
    assert_eq!(
        shown.line_index(shown.place(source.find('c').unwrap_or(0))),
        1
    );
}

/// Marks stand below what they mean: each character takes one column.
#[test]
fn lines_of_a_model_are_shown() {
    let folder = Folder::new("lines");
    let model = "# red: \u{1b}[31m bell: \u{7} turned: \u{202e}abc\u{202c}\n\
                 model M # \u{1b}]0;title\u{7}\u{9b}2J\r\n  { \u{1b}[2J\u{feff} } x = 3\u{7f} + nope\n  \
                 local x \r 'm\u{202e}' \"d\u{1b}[1m\"\nend\n";
    folder.write("in/model.bgm", model);
    let said = folder.run(&["check", "model.bgm"]);
    let expected = "\
error[E0101]: the character `\\u{7f}` has no meaning here
  ┌─ model.bgm:3:18
  │
3 │   { ␛[2J� } x = 3␡ + nope
  │                  ^ found here

error[E0101]: the character `\\u{202e}` has no place in a unit or a description
  ┌─ model.bgm:4:15
  │
4 │   local x ␍ 'm�' \"d␛[1m\"
  │               ^ found here
  │
  = hint: it cannot be seen, and a terminal would obey it: take it out

error[E0101]: the character `\\u{1b}` has no place in a unit or a description
  ┌─ model.bgm:4:20
  │
4 │   local x ␍ 'm�' \"d␛[1m\"
  │                    ^ found here
  │
  = hint: it cannot be seen, and a terminal would obey it: take it out

";
    assert_eq!(said.err, expected);
    // The colours are those of bgm alone: without them nothing is left that a terminal obeys.
    let said = folder.run(&["check", "--color", "always", "model.bgm"]);
    let mut parts = said.err.split("\u{1b}[");
    let mut rest = parts.next().unwrap_or("").to_string();
    for part in parts {
        let (colour, behind) = part.split_once('m').expect("a colour ends");
        assert!(
            colour.chars().all(|c| c.is_ascii_digit() || c == ';'),
            "{part:?}"
        );
        rest.push_str(behind);
    }
    assert_eq!(rest, expected);
}

#[test]
fn names_on_the_command_line_are_shown() {
    let folder = Folder::new("names");
    let name = format!("a{ESC}b\u{202e}\n.bgm");
    folder.write(&format!("in/{name}"), including("part"));
    for words in [
        vec!["check", &name],
        vec!["check", "--model", &name, &name],
        vec!["check", ESC],
        vec!["check", "--format", ESC, "part.bgm"],
        vec!["equations", "--set", &format!("{ESC}=1"), &name],
        vec!["simulate", "--vars", ESC, "--until", "1", &name],
        vec!["solve", "--explain", ESC, &name],
        vec!["explain", ESC],
        vec!["library", ESC],
        vec!["golden", &name],
        vec!["session", ESC],
        vec!["export", "--to", ESC, &name],
        vec!["reduce", ESC],
        vec!["check", "--format", "json", &name],
    ] {
        let said = folder.run(&words);
        is_plain(&said.err);
        is_plain(&said.out);
    }
}

#[test]
fn a_session_shows_what_it_reads() {
    let folder = Folder::new("shown");
    let model = format!("{PART}model M # {ESC}\n  submodel (Part) a\n  output y\n  y = a.x\nend\n");
    folder.write("in/model.bgm", &model);
    let lines = format!("enter model\n@model\noutput model\nlist\n{ESC}\nplot {ESC}\nhelp {ESC}\n");
    let said = folder.run_on(&["session"], &lines);
    assert!(said.out.contains("␛[31m"), "{}", said.out);
    is_plain(&said.out);
    is_plain(&said.err);
    // A file gets the text as it is.
    let said = folder.run_on(
        &["session"],
        "enter model\n@model\noutfile copy\noutput model\n",
    );
    said.succeeds();
    assert_eq!(folder.read("in/copy"), model);
}

/// A terminal is shown what a pipe gets as it is.
#[test]
fn a_terminal_is_not_sent_what_a_comment_holds() {
    if Command::new("script").arg("--version").output().is_err() {
        let _ = writeln!(
            std::io::stderr(),
            "note: skipped, there is no `script`, which makes a terminal"
        );
        return;
    }
    let folder = Folder::new("pty");
    let model = format!(
        "@bondgraph\nmodel M # {ESC}\n  submodel (SE) S(E0 = 1)\n  submodel (C) C1\n  submodel (R) R1\n  \
         submodel (bond) B1, B2, B3\n  node n\n  connect S - B1 at n\n  connect n - B2 - C1\nend\n"
    );
    folder.write("in/model.bgm", &model);
    let bgm = env!("CARGO_BIN_EXE_bgm");
    let pty = |words: &str| {
        let output = Command::new("script")
            .current_dir(folder.path("in"))
            .args(["-qc", &format!("{bgm} --color never {words}"), "/dev/null"])
            .output()
            .expect("script runs");
        String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
    };
    for words in ["check model.bgm", "reduce model.bgm", "equations model.bgm"] {
        is_plain(&pty(words));
    }
}
