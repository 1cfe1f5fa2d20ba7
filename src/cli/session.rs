//! `bgm session`: the interactive program of the 1990 paper, at a terminal or from a script.
//!
//! At a terminal, lines are edited with history and completion. Otherwise they are read without prompts.

use super::io::Disk;
use super::reading::Sandbox;
use super::signals::{self, continues_after_interrupt, waiting};
use super::writing::kinds::Kind;
use super::writing::{self, Unwritable};
use super::{Console, FAILED, Fault};
use crate::base::cancel::{self, Cancelled};
use crate::base::diagnostics::visible::visible;
use crate::picture::png::png;
use crate::session::{Environment, FileKind, FileOutput, Reply, Session, reduce_storage};
use crate::syntax::load::Files;
use crate::syntax::load::bounds::{Bounds, Refusal, refusal, told};
use clap::Args;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    /// A script of commands, one on each line; without it they are typed
    #[arg(value_name = "FILE")]
    script: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    if console.is_captured() {
        return Err("a session has no place here".into());
    }
    let session = Session::new(Environment {
        colour: console.has_colour(),
        size: console.size(),
        reduce: reduce_storage,
    });
    let here = Path::new("");
    let folder = match &arguments.script {
        Some(path) => path.parent().unwrap_or(here),
        None => here,
    };
    let files = Seen::new(console, folder);
    match &arguments.script {
        Some(path) => {
            let name = path.display().to_string();
            let bytes = files.read(path).map_err(|error| {
                let why = told(&error);
                Fault::Input(format!("cannot read the script `{name}`: {why}"))
            })?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Fault::Input(format!("the script `{name}` is not UTF-8 text")))?;
            // Editors may begin a file with a byte order mark.
            let text = text.trim_start_matches('\u{feff}');
            let lines = text.lines().map(|line| Ok(line.to_string()));
            plain(session, lines, Some(&name), &files, console)
        }
        None if std::io::stdin().is_terminal() => edited(session, &files, console),
        None => {
            console.add_standard_input();
            let lines = Lines {
                from: std::io::stdin().lock(),
                limit: console.bounds().file,
            };
            plain(session, lines, None, &files, console)
        }
    }
}

/// The files of a session.
#[derive(Debug)]
struct Seen {
    disk: Disk,
    /// The folders that an untrusted script may write to.
    sandbox: Option<Sandbox>,
}

impl Seen {
    fn new(console: &Console, folder: &Path) -> Seen {
        let sandbox = || Sandbox::of_folders([folder]);
        Seen {
            disk: console.files([folder], None),
            sandbox: console.is_untrusted().then(sandbox),
        }
    }

    /// Refuses files that the session has read, and with `--untrusted` files in other folders.
    fn may_write(&self, path: &Path, console: &Console) -> Result<(), Unwritable> {
        let refused = |why: &str| {
            let path = path.display();
            Err(Unwritable::new(format!("cannot write `{path}`: {why}")))
        };
        if let Some(sandbox) = &self.sandbox
            && let Err(error) = sandbox.resolve(path)
            && refusal(&error).is_some()
        {
            return refused("with `--untrusted` a session writes in its own folder only");
        }
        match console.inputs().contains(path) {
            true => refused("this session has read it; name another outfile"),
            false => Ok(()),
        }
    }
}

impl Files for Seen {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.disk.read(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        self.disk.identity(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        self.disk.list(folder)
    }

    fn bounds(&self) -> Bounds {
        self.disk.bounds()
    }
}

/// Reads lines of at most `limit` bytes.
struct Lines<R> {
    from: R,
    limit: u64,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = std::io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        let mut from = self.from.by_ref().take(self.limit + 1);
        let read = waiting(|| from.read_until(b'\n', &mut line));
        Some(match read {
            Err(error) => Err(error),
            Ok(0) => return None,
            Ok(_) if line.len() as u64 > self.limit => Err(Refusal::TooLarge(self.limit).into()),
            Ok(_) => {
                let end = line.strip_suffix(b"\n").unwrap_or(&line);
                let end = end.strip_suffix(b"\r").unwrap_or(end);
                let text = std::str::from_utf8(end).map(str::to_string);
                text.map_err(|_| std::io::Error::other("the input is not UTF-8 text"))
            }
        })
    }
}

/// Executes lines without editing. If they come from a file, messages show file and line.
fn plain(
    mut session: Session,
    lines: impl Iterator<Item = std::io::Result<String>>,
    name: Option<&str>,
    files: &Seen,
    console: &Console,
) -> Result<ExitCode, Fault> {
    let mut failed = false;
    for (at, line) in lines.enumerate() {
        let line = line
            .map_err(|error| Fault::Input(format!("cannot read the commands: {}", told(&error))))?;
        let reply = session.line(&line, files);
        let ended = reply.ended;
        let place = name.map(|name| format!("{name}:{}: ", at + 1));
        failed |= !shown(&mut session, reply, place.as_deref(), files, console)?;
        // An interrupted run ends and keeps its rows; the rest of the script is not executed.
        cancel::check();
        if ended {
            return Ok(code(failed));
        }
    }
    let reply = session.end(files);
    failed |= !shown(&mut session, reply, None, files, console)?;
    Ok(code(failed))
}

fn code(failed: bool) -> ExitCode {
    match failed {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    }
}

/// Shows a reply and writes its files; returns false after an error.
fn shown(
    session: &mut Session,
    reply: Reply,
    place: Option<&str>,
    files: &Seen,
    console: &Console,
) -> Result<bool, Fault> {
    let mut fine = !reply.failed;
    if !reply.messages.is_empty() {
        let place = place.unwrap_or("");
        console.message_as_is(&format!("{}{}", visible(place), reply.messages));
    }
    console.result_as_is(&reply.text)?;
    for file in &reply.files {
        if let Err(unwritable) = write(file, files, console) {
            let place = place.unwrap_or("");
            console.message(&format!("{place}error: {}\n", unwritable.message));
            if let Some(hint) = unwritable.hint {
                console.message(&format!("  {hint}\n"));
            }
            session.not_written(&file.path);
            fine = false;
        }
    }
    Ok(fine)
}

fn write(file: &FileOutput, files: &Seen, console: &Console) -> Result<(), Unwritable> {
    let path = &file.path;
    files.may_write(path, console)?;
    let inputs = console.inputs();
    let kind = match file.kind {
        FileKind::Text => Kind::Text,
        FileKind::Rows => Kind::Rows,
        FileKind::Model => Kind::Model,
        FileKind::Program(target) => Kind::Program(target),
        FileKind::Picture => Kind::of_picture(Some(path)),
    };
    let drawn;
    let bytes = match kind {
        Kind::Png => {
            drawn = waiting(|| png(&file.text)).map_err(Unwritable::new)?;
            drawn.as_slice()
        }
        _ => file.text.as_bytes(),
    };
    match file.append {
        true => writing::append(path, kind, &inputs, bytes),
        false => writing::write(path, kind, &inputs, bytes),
    }
}

/// The session as the line editor uses it, for completion.
struct Completing<'d> {
    session: Session,
    files: &'d Seen,
}

impl Completer for Completing<'_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.session.completions(&line[..at], self.files))
    }
}

impl Hinter for Completing<'_> {
    type Hint = String;
}

impl Highlighter for Completing<'_> {}
impl Validator for Completing<'_> {}
impl Helper for Completing<'_> {}

/// Executes lines that are edited at a terminal.
fn edited(session: Session, files: &Seen, console: &Console) -> Result<ExitCode, Fault> {
    signals::remember_terminal();
    let read_error = |error: ReadlineError| format!("cannot read the terminal: {error}");
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Completing<'_>, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(read_error)?;
    editor.set_helper(Some(Completing { session, files }));
    console.message("bgm: `help` lists the commands, `stop` ends the session\n");
    loop {
        let Some(helper) = editor.helper() else {
            return Ok(ExitCode::SUCCESS);
        };
        let prompt = helper.session.prompt().to_string();
        let line = waiting(|| editor.readline(&prompt));
        let Some(helper) = editor.helper_mut() else {
            return Ok(ExitCode::SUCCESS);
        };
        let session = &mut helper.session;
        let reply = match line {
            Ok(line) => cancel::caught(|| session.line(&line, files)),
            Err(ReadlineError::Interrupted) => {
                session.interrupt();
                continue;
            }
            // End of input ends the text that is being entered, else the session.
            Err(ReadlineError::Eof) => cancel::caught(|| Reply {
                ended: session.prompt() == "> ",
                ..session.end(files)
            }),
            Err(error) => return Err(read_error(error).into()),
        };
        let reply = reply.unwrap_or_else(|Cancelled| {
            session.interrupt();
            console.message("interrupted\n");
            Reply::default()
        });
        let ended = reply.ended;
        shown(session, reply, None, files, console)?;
        if ended {
            return Ok(ExitCode::SUCCESS);
        }
        // Ctrl-C ends the work of a line, other signals end the session.
        if !continues_after_interrupt() {
            cancel::check();
        }
    }
}
