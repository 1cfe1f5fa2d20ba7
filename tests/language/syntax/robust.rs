//! Whatever stands in a file: no panic, no endless work, no deep recursion.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use bgm::base::diagnostics::Code;

use super::read;

/// Reads and prints any text. What is printed has no mistakes, and is printed the same again.
fn survives(text: &str) -> Result<(), TestCaseError> {
    let parsed = read(text);
    let printed = parsed.print();
    let again = read(&printed);
    // The names after `end` are kept as they are.
    let faultless = again.diagnostics.iter().all(|d| d.code == Code::EndName);
    prop_assert!(faultless, "{text:?}\n{printed}\n{}", again.messages());
    prop_assert_eq!(again.print(), printed);
    let dump = parsed.dump();
    let known: Vec<&str> = dump
        .lines()
        .filter(|line| line.trim() != "(error)")
        .collect();
    let back = again.dump();
    prop_assert_eq!(back.lines().collect::<Vec<_>>(), known);
    Ok(())
}

#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "model", "type", "class", "cut", "main", "path", "terminal", "local", "parameter", "constant",
    "input", "output", "node", "junction1", "submodel", "connect", "at", "from", "to", "par",
    "loop", "reversed", "end", "if", "then", "elseif", "else", "when", "elsewhen", "endwhen", "for",
    "in", "do", "endfor", "and", "or", "not", "true", "false", "experiment", "der", "new", "init",
    "pre", "Time", "(", ")", "[", "]", ",", ":", ".", "=", "+", "-", "*", "/", "//", "**", "^", "<",
    "<=", ">", ">=", "==", "<>", "->", "ic", "state", "nostate", "cmodel", "simutime", "start",
    "commupoints", "step", "plot", "method", "tolerance", "absolute", "outblock", "dispt", "outend",
    "ctblock x ctend", "x", "y", "R1", "sin", "foo", "1", "2.5", "1e999", "'V'", "\"text\"", "@lib",
    "## doc\n", "# note\n", "{ note }", ";", "\n", "\n", "\n", "\n", "'", "\"", "{", "}", "$", "ctblock",
];

/// Pieces of text that go together, so that soups get past their first tokens.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "\nmodel M", "\nmodel type (A, B) C", "\nend", "\nend M\n", "\nx = y", "\nfor i in 1 to 3 do",
    "\nendfor", "\nwhen a > b then", "\nelsewhen c then", "\nendwhen", "\ncut A(v/i)", "B[A]",
    "\nmain cut", "p[n](a, b / .)", "\npath P <A - B>", "\nparameter R = 1 'Ohm' \"text\"",
    "\nsubmodel (R) R1(R = 1)", "(ic e = 5)", "\nconnect a at b", "- (c // d)", ", x:A from n to m",
    "\nstate x", "\nlocal a, b[3]", "\n## doc\n", "\nexperiment M", "\nexperiment f for M",
    "\ncmodel", "\nsimutime 1", "\ninput u = sin(Time)", "\nplot a, b", "\nabsolute x 1",
    "\noutblock O dispt x outend", "if a then b else c", "x[1].y", "+", "(", ")", "[", "]", "=",
];

proptest! {
    #![proptest_config(super::cases(1000))]

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn random_characters(text in "\\PC{0,100}") {
        survives(&text)?;
    }

    #[test]
    fn random_tokens(tokens in vec(select(TOKENS), 0..60)) {
        survives(&tokens.join(" "))?;
        survives(&format!("model M\n{}\nend", tokens.join(" ")))?;
        survives(&format!("experiment M\n{}\nend", tokens.join("\n")))?;
    }

    #[test]
    fn random_phrases(phrases in vec(select(PHRASES), 0..40)) {
        survives(&phrases.join(" "))?;
    }

    #[test]
    fn random_damage(at in any::<prop::sample::Index>(), token in select(TOKENS), cut in 0usize..20) {
        let text = include_str!("../../../stdlib/bondgraph.bgm");
        let line = at.index(text.lines().count());
        let chunk: Vec<&str> = text.lines().skip(line).take(40).collect();
        let mut chunk = chunk.join("\n");
        let place = (0..=at.index(chunk.len() + 1)).rev().find(|&at| chunk.is_char_boundary(at)).unwrap_or(0);
        let end = (place + cut).min(chunk.len());
        let end = (place..=end).rev().find(|&at| chunk.is_char_boundary(at)).unwrap_or(place);
        chunk.replace_range(place..end, token);
        survives(&chunk)?;
    }
}

const DEEP: usize = 100_000;

/// Reads, prints, dumps and drops on a small stack.
#[track_caller]
fn on_a_small_stack(text: String, mistakes: &'static [Code]) {
    std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(move || {
            let parsed = read(&text);
            let codes: Vec<Code> = parsed.diagnostics.iter().map(|d| d.code).collect();
            assert_eq!(codes, mistakes);
            let (printed, dump) = (parsed.print(), parsed.dump());
            drop(parsed);
            if mistakes.is_empty() {
                assert!(read(&printed).dump() == dump);
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

fn nested(before: &str, open: &str, inner: &str, close: &str) -> String {
    let (open, close) = (open.repeat(DEEP), close.repeat(DEEP));
    format!("model M\n{before}{open}{inner}{close}\nend\n")
}

#[test]
fn deep_brackets() {
    on_a_small_stack(nested("x = ", "(", "y", ")"), &[]);
    on_a_small_stack(nested("x = ", "[", "y", "]"), &[]);
    on_a_small_stack(nested("x = ", "sin(", "y", ")"), &[]);
    on_a_small_stack(nested("x = ", "x[", "y", "]"), &[]);
    on_a_small_stack(nested("x = ", "x[1].y[", "y", "].z"), &[]);
}

#[test]
fn deep_operators() {
    on_a_small_stack(nested("x = ", "not ", "y", ""), &[]);
    on_a_small_stack(nested("x = ", "- ", "y", ""), &[]);
    on_a_small_stack(nested("x = ", "+", "y", ""), &[]);
    on_a_small_stack(nested("x = ", "2**", "y", ""), &[]);
    on_a_small_stack(nested("x = ", "y + ", "y", ""), &[]);
    on_a_small_stack(nested("x = ", "(1 + ", "y", ")"), &[]);
    on_a_small_stack(nested("x = ", "1 - (", "y", ")"), &[]);
    on_a_small_stack(nested("x = ", "y and\n", "y", ""), &[]);
}

#[test]
fn deep_ifs() {
    on_a_small_stack(nested("x = ", "if a then b else ", "y", ""), &[]);
    on_a_small_stack(
        nested("x = if a then b ", "elseif a then b ", "else c", ""),
        &[],
    );
    on_a_small_stack(nested("x = ", "if a then ", "b", " else c"), &[]);
    on_a_small_stack(nested("x = ", "if ", "a", " then b else c"), &[]);
}

#[test]
fn deep_chains() {
    on_a_small_stack(nested("connect ", "(", "a", ")"), &[]);
    on_a_small_stack(nested("connect ", "(a - ", "a", ")"), &[]);
    on_a_small_stack(nested("connect ", "(a // ", "a", ")"), &[]);
    on_a_small_stack(nested("connect ", "reversed ", "a", ""), &[]);
    on_a_small_stack(nested("connect ", "a - ", "a", ""), &[]);
    on_a_small_stack(nested("connect a at ", "x[", "a", "]"), &[]);
}

#[test]
fn deep_and_wrong() {
    let (bracket, syntax) = (&[Code::UnclosedBracket], &[Code::Syntax]);
    on_a_small_stack(nested("x = ", "(", "", ""), bracket);
    on_a_small_stack(nested("x = ", "[(", "y", ""), bracket);
    on_a_small_stack(nested("", "(", "", ""), bracket);
    on_a_small_stack(nested("x = ", "(", "y z", ")"), syntax);
    on_a_small_stack(nested("x = ", "(", "*", "("), bracket);
    on_a_small_stack(nested("x = ", "(", "y", "]"), syntax);
    on_a_small_stack(nested("x = ", ")", "", ""), syntax);
    on_a_small_stack(nested("x = ", "not ", "*", " not"), syntax);
    on_a_small_stack(nested("x = ", "if a then ", "b", ""), syntax);
    on_a_small_stack(nested("connect ", "(a - ", "*", ")"), syntax);
    on_a_small_stack(nested("cut a", "[)", "", ""), syntax);
    on_a_small_stack(nested("x = ", "[)(]", "", ""), syntax);
    on_a_small_stack(nested("x = (", "for (", "", ""), bracket);
    on_a_small_stack("(".repeat(DEEP), bracket);
}

#[test]
fn deep_blocks() {
    on_a_small_stack(
        nested("", "for i in 1 to 2 do\n", "x = 1\n", "endfor\n"),
        &[Code::TooDeep],
    );
    on_a_small_stack(nested("", "when a then ", "", "endwhen "), &[Code::TooDeep]);
    let (open, close) = ("for i in 1 to 2 do ".repeat(99), "endfor ".repeat(99));
    on_a_small_stack(format!("model M\n{open}x = 1 {close}end"), &[]);
    on_a_small_stack("{".repeat(DEEP), &[Code::UnclosedComment]);
    on_a_small_stack("{".repeat(DEEP) + &"}".repeat(DEEP), &[]);
}

#[test]
fn many_mistakes() {
    let many = |text: &str| text.repeat(20_000);
    on_a_small_stack(many("x = )\n"), &[Code::Syntax]);
    on_a_small_stack(
        format!("model M\n{}end", many("x = )\n")),
        &[Code::Syntax; 100],
    );
    on_a_small_stack(many("$ "), &[Code::UnknownCharacter; 100]);
    on_a_small_stack(many("'\n"), &[Code::UnclosedText; 100]);
    on_a_small_stack(many("cut a[b "), &[Code::UnclosedBracket; 100]);
    on_a_small_stack(many("model M\n"), &[Code::MissingEnd; 100]);
}

#[test]
fn a_name_of_a_megabyte() {
    let name = "x".repeat(1 << 20);
    let parsed = read(&format!("model M\n  {name} = {name}\nend\n"));
    assert_eq!(parsed.mistakes()[0], (Code::NameTooLong, 2));
    assert!(parsed.messages().len() < 1000);
    let parsed = read(&format!("model M\n  {name} y\nend\n"));
    assert!(parsed.messages().len() < 1000, "messages stay short");
}

#[test]
fn numbers_out_of_range() {
    let mistakes = |number: &str| read(&format!("model M\n x = {number}\nend")).mistakes();
    assert_eq!(mistakes("1e999"), [(Code::NumberRange, 2)]);
    assert_eq!(mistakes("1e-999"), [(Code::NumberRange, 2)]);
    assert_eq!(mistakes(&"9".repeat(400)), [(Code::NumberRange, 2)]);
    assert_eq!(mistakes("0e999"), []);
    assert_eq!(mistakes("5e-324 + 1.7976931348623157e308"), []);
    assert_eq!(mistakes(&"0.".repeat(2)), [(Code::Syntax, 2)]);
}
