//! `bgm reduce`: removes dependent storages from a model.

use super::writing::kinds::Kind;
use super::{Console, FAILED, Fault, Output, folders};
use crate::base::diagnostics::Diagnostics;
use crate::base::source::Sources;
use crate::compile::Options;
use crate::model::Limits;
use crate::revise::form::Form;
use crate::revise::reduce::{NotReduced, ReduceOptions, Revised, reduce};
use crate::revise::{Failure, RevisionContext};
use crate::syntax::load::Files;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub const EXPANDED_NOTE: &str =
    "note: the model is written out, without hierarchy, to reach what lies deeper\n";

/// Arguments of the commands that write models.
#[derive(Debug, Args)]
pub struct RevisionArguments {
    /// The file of the model; `-` reads standard input
    #[arg(value_name = "MODEL.bgm")]
    file: PathBuf,
    /// The model to change; default: the last `model` of the file
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A folder where includes are looked for
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// The most instances of submodels
    #[arg(long, value_name = "N", default_value_t = Limits::default().instances)]
    max_instances: usize,
    #[command(flatten)]
    output: Output,
}

impl RevisionArguments {
    fn options(&self) -> Options {
        Options {
            model: self.model.clone(),
            folders: self.include.clone(),
            limits: Limits {
                instances: self.max_instances,
                ..Limits::default()
            },
            ..Options::default()
        }
    }

    /// Returns true if the text includes files that lie beside it.
    fn includes_files(&self, files: &dyn Files, text: &str) -> bool {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let names = (text.lines()).filter_map(|line| line.trim_start().strip_prefix('@'));
        let mut names = names.filter_map(|rest| rest.split([' ', ';', '{', '#', '@']).next());
        names.any(|name| {
            let with_end = format!("{name}.bgm");
            [name, &with_end]
                .iter()
                .any(|name| files.read(&folder.join(name)).is_ok())
        })
    }

    /// Changes the text of the file and writes the result.
    pub fn write<T>(
        &self,
        console: &Console,
        kind: Kind,
        change: impl FnOnce(&RevisionContext<'_>, &str) -> Result<T, Failure>,
        tell: impl FnOnce(&T) -> (String, String),
    ) -> Result<ExitCode, Fault> {
        console.check_folders(&self.include);
        let files = console.files(folders(&self.file, &self.include), None);
        let text = match console.text(&self.file, &files)? {
            Ok(text) => text,
            Err(diagnostic) => {
                let mut diagnostics = Diagnostics::default();
                diagnostics.push(diagnostic);
                console.diagnostics(&Sources::default(), &diagnostics);
                return Ok(ExitCode::from(FAILED));
            }
        };
        let has_crlf = text.contains("\r\n");
        let text = text.replace("\r\n", "\n");
        let options = self.options();
        let context = RevisionContext::new(&self.file, &options, &files);
        match change(&context, &text) {
            Ok(done) => {
                let (mut text, notes) = tell(&done);
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                if has_crlf {
                    text = text.replace('\n', "\r\n");
                }
                console.message(&notes);
                let output = self.output.output.as_deref();
                if let Some(output) = output
                    && output.parent() != self.file.parent()
                    && self.includes_files(&files, &text)
                {
                    console.message("note: files that it includes are looked up beside the new one, or along -I\n");
                }
                (console.place(output, kind)?).write(|out| out.write_all(text.as_bytes()))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(Failure::Model(sources, diagnostics)) => {
                console.diagnostics(&sources, &diagnostics);
                Ok(ExitCode::from(FAILED))
            }
            Err(Failure::NoGraph(name)) => Err(Fault::Input(format!(
                "`{name}` has no power ports, and so no bond graph to change"
            ))),
            Err(Failure::Refused(why)) => Err(why.into()),
        }
    }
}

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    revision: RevisionArguments,
    /// A storage to be removed rather than the one it is tied to
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    remove: Vec<String>,
    /// Where the path of a dependent storage splits, write one storage with several ports
    #[arg(long)]
    matrix: bool,
    /// Merge independent storages of one kind that share their rate, too: C on a 1-junction, I on a 0-junction
    #[arg(long)]
    merge: bool,
    /// Write equivalents as what is stored is multiplied by (gain) or divided by (attenuation), rather than as the types have them
    #[arg(long, value_name = "FORM", value_parser = form)]
    form: Option<Form>,
}

fn form(text: &str) -> Result<Form, String> {
    let found = Form::ALL.into_iter().find(|form| form.name() == text);
    found.ok_or_else(|| "there are gain and attenuation".to_string())
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let options = ReduceOptions {
        remove: arguments.remove.clone(),
        only: false,
        matrix: arguments.matrix,
        merge: arguments.merge,
        form: arguments.form,
    };
    arguments.revision.write(
        console,
        Kind::Model,
        |context, text| reduce(context, text, &options),
        |revised| (revised.text.clone(), notes(revised)),
    )
}

/// Returns notes on what was done and what was impossible.
fn notes(revised: &Revised) -> String {
    let mut out = String::new();
    if revised.expanded {
        out.push_str(EXPANDED_NOTE);
    }
    for (at, step) in revised.steps.iter().enumerate() {
        // A storage that replaces several others is reported once, with the last of them.
        let next = revised.steps.get(at + 1);
        let value = match next.is_some_and(|next| next.value == step.value) {
            true => format!("into {}", step.into),
            false => step.value.clone(),
        };
        out.push_str(&format!(
            "note: {} is reduced, by the path {}: {value}\n",
            step.removed, step.path
        ));
        if !step.dropped.is_empty() {
            let dropped = step.dropped.join(", ");
            out.push_str(&format!("note: no purpose is left for {dropped}\n"));
        }
    }
    for left in &revised.left {
        let NotReduced { name, path, why } = left;
        out.push_str(&match name.contains(',') {
            true => format!("note: {name} stay apart at {path}: {why}\n"),
            false => format!("note: {name} stays dependent, path {path}: {why}\n"),
        });
    }
    if revised.steps.is_empty() && revised.left.is_empty() {
        out.push_str("note: no storage depends on another one; the model is as it was\n");
    }
    out
}
