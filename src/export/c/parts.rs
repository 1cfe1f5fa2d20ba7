//! Splits long functions into parts of bounded length.
//!
//! Before: the lines of a function, with `cut` between its statements. After: the function; if it is long, static
//! functions that it calls in order. The time that compilers need grows faster than the length of a function, and some
//! compilers give up. With parts it grows linearly.

use std::fmt::Write;

use super::{HEAD, Program};

/// The longest function without parts, in bytes.
const LONGEST: usize = 8_000;
/// The longest part: some dozens of statements. With parts of some hundreds, gcc -O2 takes three times as long for a
/// ladder of 1,000 stages.
const PART: usize = 2_500;

/// The head of a function, split into its components.
struct Head<'h> {
    /// It returns 0 if it succeeds; a function that cannot fail returns nothing.
    fails: bool,
    name: &'h str,
    /// The parameters as they are declared, and their names.
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
    /// Called between two statements. The lines so far can become a part if no block is open.
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

    /// Writes the parts, and returns the lines that call them.
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
