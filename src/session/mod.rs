//! The interactive program of the 1990 paper: what is typed, and what comes of it.
//!
//! Before: one line at a time, as typed behind `>` or `-`, or as a transcript prints it, prompt and all. After each: a
//! [`Reply`], what is to be shown, said and written to files. Nothing here reads a terminal or writes anything; files are read
//! through [`Files`]. A line that goes wrong leaves the session as it was.

mod alleviate;
mod command;
mod complete;
mod entry;
mod listings;
mod program;
mod runs;
mod words;
mod workspace;

pub use alleviate::{Reduce, Reduced, Reduction, revise};
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
use entry::{Entry, What};
use runs::Results;
use std::path::{Component, Path, PathBuf};
use words::in_session;
use workspace::Workspace;

/// What a session is told of where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    pub colour: bool,
    /// Columns and lines of the terminal.
    pub size: (usize, usize),
    /// How the text of a model is reduced by a storage: [`revise`].
    pub reduce: Reduce,
}

/// What comes of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The result.
    pub text: String,
    /// What is said beside it.
    pub messages: String,
    pub files: Vec<Written>,
    /// Something was wrong.
    pub failed: bool,
    pub ended: bool,
}

/// What is to be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub path: PathBuf,
    pub text: String,
    pub kind: Made,
    /// Behind what the session has written there before.
    pub append: bool,
}

/// What a session makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A listing.
    Text,
    Rows,
    Model,
    Program(Target),
    /// A picture by itself, as SVG.
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
    entry: Entry,
    /// The entry without what it uses of earlier ones.
    own: Entry,
    sources: Sources,
    flat: Flat,
}

#[derive(Clone, Debug, Default)]
enum Experiment {
    /// The model's own, if its file has one.
    #[default]
    Own,
    Named(String),
    Entered(Entry),
}

/// Text that is being entered.
#[derive(Debug)]
struct Entering {
    what: What,
    text: String,
    /// The model that was asked for.
    name: Option<String>,
    /// `enter` was written with its prompt.
    transcript: bool,
}

#[derive(Debug)]
pub struct Session {
    around: Surroundings,
    workspace: Workspace,
    model: Option<Model>,
    /// The files that the model was read from.
    read: Vec<PathBuf>,
    experiment: Experiment,
    entering: Option<Entering>,
    dialogue: Option<Dialogue>,
    outfile: Option<PathBuf>,
    /// Files that this session has written to.
    begun: Vec<PathBuf>,
    partition: Option<Aliases>,
    differentiated: bool,
    wishes: Vec<(VarId, bool)>,
    results: Option<Results>,
}

impl Session {
    pub fn new(around: Surroundings) -> Session {
        Session {
            around,
            workspace: Workspace::default(),
            model: None,
            read: Vec::new(),
            experiment: Experiment::Own,
            entering: None,
            dialogue: None,
            outfile: None,
            begun: Vec::new(),
            partition: None,
            differentiated: false,
            wishes: Vec::new(),
            results: None,
        }
    }

    /// What the next line is typed behind.
    pub fn prompt(&self) -> &str {
        match (&self.dialogue, &self.entering) {
            (Some(dialogue), _) => dialogue.prompt(),
            (None, Some(_)) => "- ",
            (None, None) => "> ",
        }
    }

    /// Takes a line.
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
                    let mut reply = self.entered(entering, files);
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
                // No statement begins so: it is the prompt.
                text = &typed[typed.len() - rest.len() - 1..];
            }
            if ends {
                return self.entered(entering, files);
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
                return self.entered(entering, files);
            }
            self.entering = Some(entering);
            return Reply::default();
        }
        // The prompt of the system that started the program.
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
                self.enter(What::Experiment, text, None, transcript)
            }
            Ok(Command::Model(name)) => {
                let text = format!("{}\n", text.trim());
                self.enter(What::Model, text, Some(name), transcript)
            }
            Ok(Command::EnterModel(name)) => {
                self.enter(What::Model, String::new(), name, transcript)
            }
            Ok(Command::EnterExperiment(None)) => {
                self.enter(What::Experiment, String::new(), None, transcript)
            }
            Ok(command) => {
                let reply = self.perform(command, files);
                reply.unwrap_or_else(Reply::fails)
            }
            Err(message) => Reply::fails(message),
        }
    }

    /// The input is over: what is being entered is taken as it is.
    pub fn end(&mut self, files: &dyn Files) -> Reply {
        if self.dialogue.take().is_some() {
            return Reply::fails("the input ends in a dialogue: the model is as it was");
        }
        match self.entering.take() {
            Some(entering) => self.entered(entering, files),
            None => Reply::default(),
        }
    }

    /// What is being entered is forgotten.
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
            Command::Variable(state, names) => self.wish(state, &names)?,
            Command::List => Reply::shows(visible(&self.list()).into_owned()),
            Command::Simulate => self.simulate(files)?,
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

    fn enter(&mut self, what: What, text: String, name: Option<String>, transcript: bool) -> Reply {
        if what == What::Experiment && self.model.is_none() {
            return Reply::fails(NO_MODEL);
        }
        self.entering = Some(Entering {
            what,
            text,
            name,
            transcript,
        });
        Reply::default()
    }

    /// Takes what was entered, if it has no errors.
    fn entered(&mut self, entering: Entering, files: &dyn Files) -> Reply {
        let Entering {
            what, text, name, ..
        } = entering;
        if text.trim().is_empty() {
            return Reply::fails(format!("no {} was entered", what.text()));
        }
        let entry = Entry::new(what, text, name, files);
        match what {
            What::Model => self.load(entry, files),
            What::Experiment => (self.choose_experiment(Experiment::Entered(entry), files))
                .unwrap_or_else(Reply::fails),
        }
    }

    /// What diagnostics say.
    fn told(&self, sources: &Sources, found: &Diagnostics) -> Reply {
        Reply {
            messages: in_session(&render_all(
                sources,
                &words::said(found),
                self.around.colour,
            )),
            failed: found.has_errors(),
            ..Reply::default()
        }
    }

    fn model(&self) -> Result<&Model, String> {
        self.model.as_ref().ok_or_else(|| NO_MODEL.to_string())
    }

    /// The model as it was flattened, with the wishes for states.
    fn flat(&self) -> Result<Flat, String> {
        let mut flat = self.model()?.flat.clone();
        self.put_wishes(&mut flat);
        Ok(flat)
    }

    fn put_wishes(&self, flat: &mut Flat) {
        for &(id, wish) in &self.wishes {
            flat.wishes.retain(|&(known, _)| known != id);
            flat.wishes.push((id, wish));
        }
        flat.wishes.sort_unstable_by_key(|&(id, _)| id);
    }

    /// Puts a result where it is wanted: shown, or in the outfile. The first that a session writes there takes the place of what
    /// was there, what follows stands behind it; a picture is a file by itself.
    fn put(
        &mut self,
        text: String,
        kind: Made,
        mut reply: Reply,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let Some(path) = &self.outfile else {
            // A model may hold more than text.
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
        let known = plain(path);
        let begun = self.begun.contains(&known);
        if !begun {
            self.begun.push(known);
        }
        reply.files.push(Written {
            path: path.clone(),
            text,
            kind,
            append: begun && kind != Made::Picture,
        });
        Ok(reply)
    }

    /// A file could not be written: what is written there next is the first.
    pub fn not_written(&mut self, path: &Path) {
        let path = plain(path);
        self.begun.retain(|known| *known != path);
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
                    Output::Results => Made::Rows,
                    Output::Model => Made::Model,
                    Output::Program(language) => {
                        Target::from_name(language).map_or(Made::Text, Made::Program)
                    }
                    _ => Made::Text,
                };
                self.put(text, kind, reply, files)
            }
        }
    }
}

/// `./rlc.eq` is `rlc.eq`.
fn plain(path: &Path) -> PathBuf {
    let parts = path.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

const NO_MODEL: &str = "there is no model; `enter model` reads one";
