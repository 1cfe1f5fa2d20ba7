//! The interactive program of the 1990 paper.
//!
//! Before: one line at a time, as typed after the prompt `>` or `-`, or as a transcript prints it, with the prompt.
//! After each line: a [`Reply`] with the text to show, the messages and the files to write. Nothing here reads a
//! terminal or writes anything; files are read through [`Files`]. A line that fails leaves the session unchanged.

mod alleviate;
mod command;
mod complete;
mod entry;
mod listings;
mod program;
mod runs;
mod words;
mod workspace;

pub use alleviate::{ReducedModel, Reducer, ReductionRequest, reduce_storage};
pub use command::HELP;

use crate::base::diagnostics::Diagnostics;
use crate::base::diagnostics::render::render_all;
use crate::base::diagnostics::visible::visible;
use crate::base::source::Sources;
use crate::compile::Aliases;
use crate::export::Target;
use crate::flat::{Flat, VarId};
use crate::syntax::load::Files;
use alleviate::Dialogue;
use command::{Command, Output};
use entry::{EnteredText, EntryKind};
use runs::Results;
use std::path::{Component, Path, PathBuf};
use words::in_session;
use workspace::Workspace;

/// The terminal and the services that the caller provides.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    pub colour: bool,
    /// Columns and lines of the terminal.
    pub size: (usize, usize),
    /// Removes a storage from the text of a model: [`reduce_storage`].
    pub reduce: Reducer,
}

/// The result of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The result, for standard output.
    pub text: String,
    /// Diagnostics and notes.
    pub messages: String,
    pub files: Vec<FileOutput>,
    /// True after an error.
    pub failed: bool,
    pub ended: bool,
}

/// A file that the caller has to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutput {
    pub path: PathBuf,
    pub text: String,
    pub kind: FileKind,
    /// True: append the text to what this session has written to the file before.
    pub append: bool,
}

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A listing.
    Text,
    Rows,
    Model,
    Program(Target),
    /// A plot as SVG. It always fills the whole file.
    Picture,
}

impl Reply {
    fn fails(message: impl AsRef<str>) -> Reply {
        Reply {
            messages: format!("error: {}\n", visible(&in_session(message.as_ref()))),
            failed: true,
            ..Reply::default()
        }
    }

    fn shows(text: String) -> Reply {
        Reply {
            text,
            ..Reply::default()
        }
    }
}

/// A model that was entered and has no errors.
#[derive(Debug)]
struct Model {
    entry: EnteredText,
    /// The entry without the types of earlier entries that it uses.
    own: EnteredText,
    sources: Sources,
    flat: Flat,
}

#[derive(Clone, Debug, Default)]
enum Experiment {
    /// The model's own, if its file has one.
    #[default]
    Own,
    Named(String),
    Entered(EnteredText),
}

/// Text that is being entered.
#[derive(Debug)]
struct PendingText {
    what: EntryKind,
    text: String,
    /// The name of the requested model.
    name: Option<String>,
    /// True if `enter` was written with its prompt, as in a transcript.
    transcript: bool,
}

#[derive(Debug)]
pub struct Session {
    environment: Environment,
    workspace: Workspace,
    model: Option<Model>,
    /// The files that the model was read from. The session does not overwrite them.
    read: Vec<PathBuf>,
    experiment: Experiment,
    entering: Option<PendingText>,
    dialogue: Option<Dialogue>,
    outfile: Option<PathBuf>,
    /// Files that this session has written to; later output is appended.
    written: Vec<PathBuf>,
    partition: Option<Aliases>,
    differentiated: bool,
    preferences: Vec<(VarId, bool)>,
    results: Option<Results>,
}

impl Session {
    pub fn new(environment: Environment) -> Session {
        Session {
            environment,
            workspace: Workspace::default(),
            model: None,
            read: Vec::new(),
            experiment: Experiment::Own,
            entering: None,
            dialogue: None,
            outfile: None,
            written: Vec::new(),
            partition: None,
            differentiated: false,
            preferences: Vec::new(),
            results: None,
        }
    }

    /// Returns the prompt for the next line.
    pub fn prompt(&self) -> &str {
        match (&self.dialogue, &self.entering) {
            (Some(dialogue), _) => dialogue.prompt(),
            (None, Some(_)) => "- ",
            (None, None) => "> ",
        }
    }

    /// Executes one line.
    pub fn line(&mut self, line: &str, files: &dyn Files) -> Reply {
        if let Some(dialogue) = self.dialogue.take() {
            return self.answer(dialogue, line, files);
        }
        let typed = line.trim_start();
        if let Some(mut entering) = self.entering.take() {
            let nothing = entering.text.trim().is_empty() && line.trim().is_empty();
            let (mut text, mut ends) = (line, nothing || line.trim() == ".");
            if entering.transcript {
                if typed.starts_with('>') {
                    let mut reply = self.accept_text(entering, files);
                    let next = self.line(line, files);
                    reply.text.push_str(&next.text);
                    reply.messages.push_str(&next.messages);
                    reply.files.extend(next.files);
                    reply.failed |= next.failed;
                    reply.ended |= next.ended;
                    return reply;
                }
                text = typed.strip_prefix('-').unwrap_or(line);
                ends |= text.trim() == ".";
            } else if let Some(rest) = typed.strip_prefix("- @") {
                // No statement begins with `- @`, so `-` is the prompt.
                text = &typed[typed.len() - rest.len() - 1..];
            }
            if ends {
                return self.accept_text(entering, files);
            }
            if (entering.text.len() + text.len()) as u64 > files.bounds().file {
                return Reply::fails("what is being entered is too long: it is forgotten");
            }
            entering.text.push_str(text);
            entering.text.push('\n');
            let name = entering.name.as_deref();
            let complete = entry::can_end(text)
                && entry::is_complete(entering.what, name, &entering.text, files);
            if complete {
                return self.accept_text(entering, files);
            }
            self.entering = Some(entering);
            return Reply::default();
        }
        // A transcript may contain the line of the shell that started the program.
        if typed.starts_with('$') || typed.starts_with('#') {
            return Reply::default();
        }
        let (text, transcript) = match typed.strip_prefix('>') {
            Some(text) => (text, true),
            None => (typed, false),
        };
        match command::read(text, &program::languages()) {
            Ok(Command::Classic) => {
                let text = format!("{}\n", text.trim());
                self.enter(EntryKind::Experiment, text, None, transcript)
            }
            Ok(Command::Model(name)) => {
                let text = format!("{}\n", text.trim());
                self.enter(EntryKind::Model, text, Some(name), transcript)
            }
            Ok(Command::EnterModel(name)) => {
                self.enter(EntryKind::Model, String::new(), name, transcript)
            }
            Ok(Command::EnterExperiment(None)) => {
                self.enter(EntryKind::Experiment, String::new(), None, transcript)
            }
            Ok(command) => {
                let reply = self.perform(command, files);
                reply.unwrap_or_else(Reply::fails)
            }
            Err(message) => Reply::fails(message),
        }
    }

    /// Ends the input: text that is being entered is accepted as it is.
    pub fn end(&mut self, files: &dyn Files) -> Reply {
        if self.dialogue.take().is_some() {
            return Reply::fails("the input ends in a dialogue: the model is as it was");
        }
        match self.entering.take() {
            Some(entering) => self.accept_text(entering, files),
            None => Reply::default(),
        }
    }

    /// Discards the text that is being entered and the question that waits.
    pub fn interrupt(&mut self) {
        self.entering = None;
        self.dialogue = None;
    }

    fn perform(&mut self, command: Command, files: &dyn Files) -> Result<Reply, String> {
        Ok(match command {
            Command::Nothing
            | Command::Classic
            | Command::Model(_)
            | Command::EnterModel(_)
            | Command::EnterExperiment(None) => Reply::default(),
            Command::EnterExperiment(Some(name)) => {
                self.choose_experiment(Experiment::Named(name), files)?
            }
            Command::OutFile(Some(path)) if path.ends_with(std::path::is_separator) => {
                return Err(format!(
                    "`{path}` is the name of a folder; give the name of a file"
                ));
            }
            Command::OutFile(path) => {
                self.outfile = path.map(PathBuf::from);
                Reply::default()
            }
            Command::Output(what) => self.output(&what, files)?,
            Command::Partition(eliminate) => self.sort(match eliminate {
                true => Aliases::Eliminate,
                false => Aliases::Keep,
            })?,
            Command::Differentiate => self.differentiate()?,
            Command::Variable(state, names) => self.prefer(state, &names)?,
            Command::List => Reply::shows(visible(&self.list()).into_owned()),
            Command::Simulate(start_jump) => self.simulate(start_jump, files)?,
            Command::Plot(names) => self.plot(&names, files)?,
            Command::Alleviate => self.alleviate()?,
            Command::Help(word) => {
                Reply::shows(command::help(word.as_deref(), &program::languages())?)
            }
            Command::Stop => Reply {
                ended: true,
                ..Reply::default()
            },
        })
    }

    fn enter(
        &mut self,
        what: EntryKind,
        text: String,
        name: Option<String>,
        transcript: bool,
    ) -> Reply {
        if what == EntryKind::Experiment && self.model.is_none() {
            return Reply::fails(NO_MODEL);
        }
        self.entering = Some(PendingText {
            what,
            text,
            name,
            transcript,
        });
        Reply::default()
    }

    /// Loads the text that was entered, if it has no errors.
    fn accept_text(&mut self, entering: PendingText, files: &dyn Files) -> Reply {
        let PendingText {
            what, text, name, ..
        } = entering;
        if text.trim().is_empty() {
            return Reply::fails(format!("no {} was entered", what.text()));
        }
        let entry = EnteredText::new(what, text, name, files);
        match what {
            EntryKind::Model => self.load(entry, files),
            EntryKind::Experiment => (self.choose_experiment(Experiment::Entered(entry), files))
                .unwrap_or_else(Reply::fails),
        }
    }

    /// Renders diagnostics into a reply.
    fn report(&self, sources: &Sources, found: &Diagnostics) -> Reply {
        Reply {
            messages: in_session(&render_all(
                sources,
                &words::diagnostics_in_session(found),
                self.environment.colour,
            )),
            failed: found.has_errors(),
            ..Reply::default()
        }
    }

    fn model(&self) -> Result<&Model, String> {
        self.model.as_ref().ok_or_else(|| NO_MODEL.to_string())
    }

    /// Returns the flat model with the state preferences of the session.
    fn flat(&self) -> Result<Flat, String> {
        let mut flat = self.model()?.flat.clone();
        self.apply_preferences(&mut flat);
        Ok(flat)
    }

    fn apply_preferences(&self, flat: &mut Flat) {
        for &(id, wish) in &self.preferences {
            flat.wishes.retain(|&(known, _)| known != id);
            flat.wishes.push((id, wish));
        }
        flat.wishes.sort_unstable_by_key(|&(id, _)| id);
    }

    /// Adds a result to the reply: as text, or as a file if there is an outfile. The first output of a session
    /// replaces the old content of the file, later output is appended. A picture always replaces the file.
    fn add_output(
        &mut self,
        text: String,
        kind: FileKind,
        mut reply: Reply,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let Some(path) = &self.outfile else {
            // The text of a model can contain control characters.
            reply.text.push_str(&visible(&text));
            return Ok(reply);
        };
        if self.read.contains(&files.identity(path)) {
            return Err(format!(
                "cannot write `{}`: the model was read from it; name another outfile",
                path.display()
            ));
        }
        if let Experiment::Entered(entry) = &self.experiment
            && !entry.typed
            && files.identity(&entry.path) == files.identity(path)
        {
            return Err(format!(
                "cannot write `{}`: the experiment was read from it; name another outfile",
                path.display()
            ));
        }
        let known = without_dot(path);
        let written = self.written.contains(&known);
        if !written {
            self.written.push(known);
        }
        reply.files.push(FileOutput {
            path: path.clone(),
            text,
            kind,
            append: written && kind != FileKind::Picture,
        });
        Ok(reply)
    }

    /// Reports that a file could not be written. The next output to it replaces the content again.
    pub fn not_written(&mut self, path: &Path) {
        let path = without_dot(path);
        self.written.retain(|known| *known != path);
    }

    fn output(&mut self, what: &Output, files: &dyn Files) -> Result<Reply, String> {
        let (text, reply) = match what {
            Output::Results => (self.rows()?, Reply::default()),
            Output::Model => (self.model()?.entry.text.clone(), Reply::default()),
            Output::Program(language) => self.program(language, files)?,
            listing => self.listing(listing)?,
        };
        match reply.failed {
            true => Ok(reply),
            false => {
                let kind = match what {
                    Output::Results => FileKind::Rows,
                    Output::Model => FileKind::Model,
                    Output::Program(language) => {
                        Target::from_name(language).map_or(FileKind::Text, FileKind::Program)
                    }
                    _ => FileKind::Text,
                };
                self.add_output(text, kind, reply, files)
            }
        }
    }
}

/// Removes `.` components: `./rlc.eq` becomes `rlc.eq`.
fn without_dot(path: &Path) -> PathBuf {
    let parts = path.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

const NO_MODEL: &str = "there is no model; `enter model` reads one";
