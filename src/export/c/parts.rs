//! Functions of any length, written as parts of bounded length.
//!
//! Before: lines of a function, with `cut` between its statements. After: the function; if it is long, static
//! functions before it that it calls in order. Compilers take more than twice as long for twice as many statements, and some
//! give up: so a model of any size is a file that compiles in a time that grows with its length.

use std::fmt::Write;

use super::{HEAD, Program};

/// Bytes of a function that has no parts,
const LONGEST: usize = 8_000;
/// and of a part: some dozens of statements. A ladder of 1,000 stages compiles three times as fast (gcc -O2) as with parts of
/// some hundreds.
const PART: usize = 2_500;

/// What a function begins with, taken apart.
struct Head<'h> {
    /// It returns 0 if all is well; else it returns nothing.
    fails: bool,
    name: &'h str,
    /// As they are declared, and their names.
    declared: &'h str,
    arguments: Vec<&'h str>,
}

impl<'h> Head<'h> {
    /// `static int MODEL_loop_1(MODEL *m, const double *z, double *r)`
    fn of(head: &'h str) -> Self {
        let (before, declared) = head.split_once('(').unwrap_or((head, ""));
        let declared = declared.strip_suffix(')').unwrap_or(declared);
        let word = |text: &'h str| text.rsplit([' ', '*']).next().unwrap_or(text);
        Head {
            fails: before.split(' ').any(|word| word == "int"),
            name: word(before),
            declared,
            arguments: declared.split(',').map(word).collect(),
        }
    }
}

impl Program<'_> {
    /// Between two statements: what was written may be a part of its own where nothing is open.
    pub(super) fn divide_here(&mut self) {
        if self.writer.lines.len() > PART && !self.writer.is_open() {
            let part = self.writer.take();
            self.parts.push(part);
        }
    }

    /// A function whose lines were written.
    pub(super) fn function(&mut self, comment: &str, head: &str, tail: &str) {
        let mut parts = std::mem::take(&mut self.parts);
        let prologue = std::mem::take(&mut self.prologue);
        parts.push(self.writer.take());
        let length: usize = parts.iter().map(String::len).sum();
        let body = match length > LONGEST {
            true => self.divide(&parts, head, prologue),
            false => parts.concat(),
        };
        let file = &mut self.file;
        file.push('\n');
        if !comment.is_empty() {
            let _ = writeln!(file, "/* {comment} */");
        }
        let _ = writeln!(file, "{head}\n{{\n{HEAD}{prologue}{body}{tail}}}");
    }

    /// Writes the parts; what comes back calls them.
    fn divide(&mut self, parts: &[String], head: &str, prologue: &str) -> String {
        let head = Head::of(head);
        let unused: Vec<String> = (head.arguments.iter())
            .map(|argument| format!("(void){argument}"))
            .collect();
        let unused = unused.join(", ");
        let kind = if head.fails { "int" } else { "void" };
        let mut calls = String::new();
        let parts = parts.iter().filter(|part| !part.is_empty());
        for (part, at) in parts.zip(1..) {
            let call = format!("{}_part_{at}({})", head.name, head.arguments.join(", "));
            let _ = match head.fails {
                true => writeln!(calls, "    if ({call})\n        return 1;"),
                false => writeln!(calls, "    {call};"),
            };
            let ends = if head.fails { "    return 0;\n" } else { "" };
            let _ = writeln!(
                self.file,
                "\nMODEL_PART {kind} {}_part_{at}({})\n{{\n{HEAD}    {unused};\n{prologue}{part}{ends}}}",
                head.name, head.declared,
            );
        }
        calls
    }
}
