//! Which rooms a source file of `src/` mentions, in whatever form: for the test of the layers in `tidy`.

use std::path::Path;

/// The module that a file of `src/` is.
pub fn module_of(inside: &Path) -> Vec<String> {
    let parts = inside.with_extension("");
    let mut parts: Vec<String> = (parts.iter())
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The code without comments, strings and characters.
fn code_of(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = skipped(rest);
        match length {
            0 => {
                // A name is taken whole: its end begins no string.
                let name = rest
                    .chars()
                    .take_while(|&c| is_of_name(c))
                    .map(char::len_utf8);
                let length = name.sum::<usize>().max(c.len_utf8());
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            _ => {
                out.push(' ');
                rest = &rest[length..];
            }
        }
    }
    out
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How long the comment, string or character is that a text begins with; 0 if there is none.
fn skipped(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment(text);
    }
    let prefix = ["br", "cr", "b", "c", "r", ""];
    for prefix in prefix {
        let Some(rest) = text.strip_prefix(prefix) else {
            continue;
        };
        if prefix.ends_with('r') {
            let marks = rest.len() - rest.trim_start_matches('#').len();
            if rest[marks..].starts_with('"') {
                let end = format!("\"{}", "#".repeat(marks));
                let inner = &rest[marks + 1..];
                let length = inner.find(&end).map_or(inner.len(), |at| at + end.len());
                return prefix.len() + marks + 1 + length;
            }
        } else if rest.starts_with('"') {
            return prefix.len() + quoted(rest, '"');
        } else if rest.starts_with('\'') && matches!(prefix, "b" | "") {
            // Else it is a lifetime.
            let mut chars = rest.chars().skip(1);
            let (first, second) = (chars.next(), chars.next());
            if first == Some('\\') || second == Some('\'') {
                return prefix.len() + quoted(rest, '\'');
            }
        }
    }
    0
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of what stands in quotes, these included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Names, `::`, and single signs.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(c) = rest.chars().next() {
        let raw = rest
            .strip_prefix("r#")
            .filter(|rest| rest.starts_with(is_of_name));
        let text = raw.unwrap_or(rest);
        let name: usize = (text.chars().take_while(|&c| is_of_name(c)))
            .map(char::len_utf8)
            .sum();
        let length = match name {
            0 if rest.starts_with("::") => 2,
            0 => c.len_utf8(),
            some => some,
        };
        found.push(&text[..length]);
        rest = text[length..].trim_start();
    }
    found
}

/// Every room that the text of a module mentions, in `use` and in paths: what stands at the root of the crate. What gives the root
/// another name is mentioned as a room that there is not.
pub fn mentioned(text: &str, module: &[String]) -> Vec<String> {
    let code = code_of(text);
    let mut reader = Reader {
        tokens: tokens(&code),
        found: Vec::new(),
    };
    let mut module: Vec<String> = module.to_vec();
    // Of modules inside the file where their braces are.
    let mut inside: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < reader.tokens.len() {
        let begins = at == 0 || reader.tokens[at - 1] != "::" || reader.is_absolute(at - 1);
        let next = reader.token(at + 1);
        match reader.tokens[at] {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inside.last() == Some(&depth) {
                    inside.pop();
                    module.pop();
                }
            }
            "mod" if reader.token(at + 2) == "{" => {
                inside.push(depth);
                module.push(next.to_string());
            }
            "extern" if next == "crate" => reader.found.push("extern crate".to_string()),
            "bgm" if begins && (next == "::" || reader.is_used(at)) => {
                reader.found.push("bgm::".to_string());
            }
            "crate" if begins && matches!(next, "::" | "as") => {
                reader.path(at + 1, Vec::new());
            }
            "super" | "self" if begins => {
                reader.path(at, module.clone());
            }
            _ => {}
        }
        at += 1;
    }
    reader.found
}

struct Reader<'t> {
    tokens: Vec<&'t str>,
    found: Vec<String>,
}

impl<'t> Reader<'t> {
    fn token(&self, at: usize) -> &'t str {
        self.tokens.get(at).copied().unwrap_or("")
    }

    /// `::` with nothing before it that it could go on from.
    fn is_absolute(&self, at: usize) -> bool {
        at == 0
            || !self
                .token(at - 1)
                .starts_with(|c| is_of_name(c) || c == '>')
            || matches!(self.token(at - 1), "use" | "in")
    }

    /// A crate in a `use` by itself: `use bgm;`, `use {bgm as b}`.
    fn is_used(&self, at: usize) -> bool {
        let mut before = self.tokens[..at].iter().rev();
        let opens = before.find(|token| !matches!(**token, "{" | "," | "::"));
        opens == Some(&"use")
    }

    /// What a path names that goes on from a module, where that is the root; gives where it ends.
    fn path(&mut self, mut at: usize, mut module: Vec<String>) -> usize {
        loop {
            match self.token(at) {
                "::" => {}
                "super" => drop(module.pop()),
                "self" if !module.is_empty() => {}
                "{" => return self.group(at + 1, &module),
                // The root under another name.
                "as" if module.is_empty() => {
                    self.found.push("crate as".to_string());
                    return at;
                }
                name if module.is_empty() && (name == "*" || name.starts_with(is_of_name)) => {
                    self.found.push(name.to_string());
                    return at + 1;
                }
                _ => return at,
            }
            at += 1;
        }
    }

    /// All that stands in braces.
    fn group(&mut self, mut at: usize, module: &[String]) -> usize {
        while !matches!(self.token(at), "}" | "") {
            at = self.path(at, module.to_vec());
            // The rest of this one.
            let mut depth = 0;
            loop {
                match self.token(at) {
                    "" => return at,
                    "}" if depth == 0 => break,
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    "," if depth == 0 => {
                        at += 1;
                        break;
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        at + 1
    }
}

#[cfg(test)]
mod tests {
    use super::{code_of, mentioned};

    fn rooms(text: &str) -> Vec<String> {
        let module = ["room", "part"].map(str::to_string);
        mentioned(text, &module)
    }

    #[test]
    fn rooms_are_found_in_all_kinds_of_paths() {
        for (text, wanted) in [
            ("use crate::{a, b::{c, d}, e};", &["a", "b", "e"][..]),
            (
                "use crate::f::g; // crate::h\nlet x = crate::i::j();",
                &["f", "i"],
            ),
            ("use crate::{{cli}, a};", &["cli", "a"]),
            ("use crate::{{cli::{x}, b}, {{c}}};", &["cli", "b", "c"]),
            ("use crate :: cli;", &["cli"]),
            ("use crate\n    ::\n    cli::x;", &["cli"]),
            ("use crate::r#cli;", &["cli"]),
            ("fn f(x: &crate::a::X) -> Vec<crate::b::Y> {}", &["a", "b"]),
            ("let x = <crate::a::X as crate::b::Y>::new();", &["a", "b"]),
            ("macro_rules! m { () => { $crate::a::b() } }", &["a"]),
            ("use crate::*;", &["*"]),
            ("pub(in crate::a) struct S;", &["a"]),
            ("pub(crate) struct S;", &[]),
        ] {
            assert_eq!(rooms(text), wanted, "{text}");
        }
    }

    #[test]
    fn super_is_what_it_means() {
        for (text, wanted) in [
            ("use super::x;", &[][..]),
            ("use super::super::cli::x;", &["cli"]),
            ("use super::super::{a::b, c};", &["a", "c"]),
            ("use super :: super :: cli;", &["cli"]),
            ("mod tests { use super::super::x; }", &[]),
            ("mod tests { use super::super::super::cli; }", &["cli"]),
            ("mod tests { fn f() {} }\nuse super::super::cli;", &["cli"]),
            ("use self::super::super::cli;", &["cli"]),
            ("use super::{super::cli::x, y};", &["cli"]),
            ("use super::{self, {super::{cli}}};", &["cli"]),
            ("pub(super) fn f(self: &super::X) { self.x }", &[]),
            ("use super::super as root;", &["crate as"]),
        ] {
            assert_eq!(rooms(text), wanted, "{text}");
        }
        // The root of a room is one level below that of the crate.
        assert_eq!(mentioned("use super::cli;", &["room".to_string()]), ["cli"]);
    }

    #[test]
    fn the_crate_has_one_name() {
        for text in [
            "use crate as c;",
            "use crate::{self as c};",
            "extern crate self as c;",
        ] {
            assert!(!rooms(text).is_empty(), "{text}");
        }
        for text in [
            "use bgm::cli;",
            "use ::bgm::cli;",
            "bgm::cli::main();",
            "use bgm as b;",
            "use {bgm};",
        ] {
            assert_eq!(rooms(text), ["bgm::"], "{text}");
        }
        assert_eq!(rooms("let bgm = 1; f(bgm);"), [""; 0]);
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        for text in [
            "let x = \"crate::a\";",
            "let x = r#\"a \" crate::a\"#;",
            "let x = b\"crate::a\"; // crate::b",
            "/* crate::a /* crate::b */ crate::c */",
            "//! crate::a\n/// crate::b\n",
        ] {
            assert_eq!(rooms(text), [""; 0], "{text}");
        }
        for text in [
            "let x = \"http://a\"; use crate::a;",
            "let x = \"\\\"//\"; use crate::a;",
            "let x = '\"'; use crate::a; let y = '\"';",
            "let x = '\\''; use crate::a;",
            "fn f<'a>(x: &'a str) { crate::a::g(x, '/') }",
            "let x = r\"\\\"; use crate::a;",
        ] {
            assert_eq!(rooms(text), ["a"], "{text}");
        }
        assert_eq!(code_of("number\"//\"x"), "number x");
    }
}
