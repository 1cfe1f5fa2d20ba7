//! The command line as a source text.
//!
//! Before: a [`Request`]. After: a source file named "command line" that contains the options, one in each line, and for each
//! option a tree as of a statement in an experiment: `--set R1.R=5` becomes `parameter R1.R=5`. The spans of the trees refer to
//! that file, so that messages show the option and mark the mistake.

use super::collect::Target;
use super::{Request, sweep};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::Interner;
use crate::base::source::{FileId, Origin, Sources, Span};
use crate::expr::{Node, show_number};
use crate::syntax::ast::{Ast, ExperimentKind, ExperimentStatement, Item, Reference};
use crate::syntax::parse;

/// The text before a statement while it is parsed.
const HEAD: &str = "experiment commandline\n";

#[derive(Debug, Default)]
pub struct CommandLine {
    pub(super) trees: Vec<Ast>,
    pub(super) sweeps: Vec<SweepOption>,
}

/// A sweep that was read. Its tree is a `plot` statement whose only name is that of the parameter.
#[derive(Debug)]
pub(super) struct SweepOption {
    pub(super) tree: Ast,
    pub(super) values: Vec<f64>,
    pub(super) span: Span,
}

impl SweepOption {
    /// The name of the parameter.
    pub(super) fn target(&self) -> Option<Target<'_>> {
        match body(&self.tree)? {
            [only] => match &only.kind {
                ExperimentKind::Plot(list) if list.len() == 1 => {
                    Some(Target::new(&self.tree.exprs, list[0]))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// An option with the keyword of an experiment that has the same meaning.
struct OptionLine {
    option: &'static str,
    word: &'static str,
    text: String,
}

impl CommandLine {
    /// Reads the options. Mistakes are reported, and options that could not be read are left out.
    pub fn read(
        request: &Request,
        sources: &mut Sources,
        interner: &mut Interner,
        diagnostics: &mut Diagnostics,
    ) -> CommandLine {
        let lines = lines(request);
        let mut command = CommandLine::default();
        if lines.is_empty() {
            return command;
        }
        let mut shown = String::new();
        let mut starts = Vec::new();
        for line in &lines {
            shown.push_str(line.option);
            shown.push(' ');
            starts.push(shown.len());
            shown.push_str(&line.text);
            shown.push('\n');
        }
        let file = sources.add("command line".to_string(), shown, Origin::User);
        for (line, &start) in lines.iter().zip(&starts) {
            let mut reader = OptionReader {
                file,
                start,
                line,
                interner,
                diagnostics,
            };
            match line.option {
                "--sweep" => command.sweeps.extend(reader.sweep()),
                _ => command.trees.extend(reader.statement(&line.text)),
            }
        }
        command
    }

    pub(super) fn bodies(&self) -> impl Iterator<Item = (&Ast, &[ExperimentStatement])> {
        self.trees
            .iter()
            .filter_map(|tree| Some((tree, body(tree)?)))
    }
}

fn lines(request: &Request) -> Vec<OptionLine> {
    let mut lines = Vec::new();
    let mut add = |option, word, texts: &[String]| {
        for text in texts {
            // Line breaks become blanks, so that each option has one line and every byte keeps its place.
            let text = text.replace(['\n', '\r'], " ");
            lines.push(OptionLine { option, word, text });
        }
    };
    let number = |value: Option<f64>| Vec::from_iter(value.map(show_number));
    let count = |value: Option<usize>| Vec::from_iter(value.map(|value| value.to_string()));
    let name = |value: &Option<String>| Vec::from_iter(value.clone());
    add("--start", "start", &number(request.start));
    add("--until", "simutime", &number(request.until));
    add("--points", "commupoints", &count(request.points));
    add("--step", "step", &number(request.step));
    add("--set", "parameter", &request.set);
    add("--init", "init", &request.init);
    add("--input", "input", &request.input);
    add("--method", "method", &name(&request.method));
    add("--tolerance", "tolerance", &number(request.tolerance));
    add("--absolute", "absolute", &request.absolute);
    add("--sweep", "plot", &request.sweep);
    lines
}

fn body(tree: &Ast) -> Option<&[ExperimentStatement]> {
    match &tree.items[..] {
        [Item::Experiment(experiment)] => Some(&experiment.body),
        _ => None,
    }
}

struct OptionReader<'a> {
    file: FileId,
    /// The start of the text of the option in the file.
    start: usize,
    line: &'a OptionLine,
    interner: &'a mut Interner,
    diagnostics: &'a mut Diagnostics,
}

impl OptionReader<'_> {
    /// The text as a statement of an experiment.
    fn statement(&mut self, text: &str) -> Option<Ast> {
        let line = self.line;
        let text = match line.word {
            "absolute" => text.replacen('=', " ", 1),
            _ => text.to_string(),
        };
        if text.trim().is_empty() {
            self.fault("the value is missing".to_string());
            return None;
        }
        let parsed = format!("{HEAD}{} {text}\nend\n", line.word);
        let (mut tree, found) = parse(self.file, &parsed, self.interner);
        let shift = Shift {
            file: self.file,
            from: HEAD.len() + line.word.len() + 1,
            to: self.start,
            len: line.text.len(),
        };
        shift.tree(&mut tree);
        let fine = found.is_empty();
        for mut diagnostic in found {
            for label in &mut diagnostic.labels {
                shift.span(&mut label.span);
            }
            self.diagnostics.push(diagnostic);
        }
        if !fine {
            return None;
        }
        let kind = body(&tree).and_then(|body| match body {
            [only] => Some(&only.kind),
            _ => None,
        });
        let fits = kind.is_some_and(|kind| {
            !matches!(
                kind,
                ExperimentKind::Error | ExperimentKind::ClassicInputs(..)
            )
        });
        if !fits {
            self.fault("more than one thing is given".to_string());
            return None;
        }
        Some(tree)
    }

    fn sweep(&mut self) -> Option<SweepOption> {
        match sweep::read(&self.line.text) {
            Ok((name, values)) => {
                let span = Span::new(self.file, self.start, self.start + self.line.text.len());
                let tree = self.statement(name)?;
                let swept = SweepOption { tree, values, span };
                if swept.target().is_none() {
                    self.fault("exactly one parameter is needed".to_string());
                    return None;
                }
                Some(swept)
            }
            Err(message) => {
                self.fault(message);
                None
            }
        }
    }

    fn fault(&mut self, message: String) {
        let OptionLine { option, text, .. } = self.line;
        let example = match *option {
            "--sweep" => sweep::SYNTAX_HINT,
            "--init" => "write `--init C1.e=2`",
            "--input" => "write `--input \"u=sin(Time)\"`",
            "--absolute" => "write `--absolute 1e-10` or `--absolute x=1e-10`",
            "--method" => "write `--method bdf`",
            _ => "write `--set R1.R=5`",
        };
        let code = match *option {
            "--sweep" => Code::WrongSetting,
            _ => Code::Syntax,
        };
        let span = Span::new(self.file, self.start, self.start + text.len());
        let diagnostic = Diagnostic::new(code, format!("`{option}`: {message}"));
        self.diagnostics
            .push(diagnostic.at(span, "here").hint(example));
    }
}

/// Moves spans from the text that was parsed to the text that is shown.
struct Shift {
    file: FileId,
    from: usize,
    to: usize,
    len: usize,
}

impl Shift {
    fn span(&self, span: &mut Span) {
        let place = |at: u32| self.to + (at as usize).saturating_sub(self.from).min(self.len);
        *span = Span::new(self.file, place(span.start), place(span.end));
    }

    fn reference(&self, reference: &mut Reference) {
        self.span(&mut reference.span);
    }

    fn tree(&self, tree: &mut Ast) {
        for span in &mut tree.exprs.spans {
            self.span(span);
        }
        for part in &mut tree.exprs.parts {
            self.span(&mut part.name.span);
        }
        for node in &mut tree.exprs.nodes {
            if let Node::Leaf(reference) = node {
                self.reference(reference);
            }
        }
        for item in &mut tree.items {
            let Item::Experiment(experiment) = item else {
                continue;
            };
            for statement in &mut experiment.body {
                self.span(&mut statement.span);
                match &mut statement.kind {
                    ExperimentKind::Inputs(list)
                    | ExperimentKind::Parameters(list)
                    | ExperimentKind::Initial(list) => {
                        for (reference, _) in list {
                            self.reference(reference);
                        }
                    }
                    ExperimentKind::Plot(list) => {
                        for reference in list {
                            self.reference(reference);
                        }
                    }
                    ExperimentKind::Method(name) => self.span(&mut name.span),
                    ExperimentKind::Absolute(Some(reference), _) => self.reference(reference),
                    _ => {}
                }
            }
        }
    }
}
