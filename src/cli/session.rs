//! `bgm session`: the interactive program of the 1990 paper, at a terminal or from a script.
//!
//! At a terminal lines are edited, with history and completion; elsewhere they are read as they come, without prompts.

use super::io::Disk;
use super::reading::Fence;
use super::signals::{self, go_on, waiting};
use super::writing::kinds::Kind;
use super::writing::{self, Unwritable};
use super::{Console, FAILED, Fault};
use crate::base::cancel::{self, Cancelled};
use crate::base::diagnostics::visible::visible;
use crate::picture::png::png;
use crate::session::{Made, Reply, Session, Surroundings, Written, revise};
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
    if console.is_kept() {
        return Err("a session has no place here".into());
    }
    let session = Session::new(Surroundings {
        colour: console.has_colour(),
        size: console.size(),
        reduce: revise,
    });
    let here = Path::new("");
    let folder = match &arguments.script {
        Some(path) => path.parent().unwrap_or(here),
        None => here,
    };
    let files = Seen::new(console, folder);
    match &arguments.script {
        Some(path) => {
            let bytes = files.read(path).map_err(|error| {
                format!(
                    "cannot read the script `{}`: {}",
                    path.display(),
                    told(&error)
                )
            })?;
            let text = String::from_utf8(bytes)
                .map_err(|_| format!("the script `{}` is not UTF-8 text", path.display()))?;
            let name = path.display().to_string();
            // Editors may begin a file with a mark of its encoding.
            let text = text.trim_start_matches('\u{feff}');
            let lines = text.lines().map(|line| Ok(line.to_string()));
            plain(session, lines, Some(&name), &files, console)
        }
        None if std::io::stdin().is_terminal() => edited(session, &files, console),
        None => {
            console.reads_standard_input();
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
    /// Where a script of a stranger may write.
    fence: Option<Fence>,
}

impl Seen {
    fn new(console: &Console, folder: &Path) -> Seen {
        let fence = || Fence::around([folder]);
        Seen {
            disk: console.files([folder], None),
            fence: console.is_untrusted().then(fence),
        }
    }

    /// Why a file may not be written, in words: those that were read are not written over.
    fn may_write(&self, path: &Path, console: &Console) -> Result<(), Unwritable> {
        let refused = |why: &str| {
            let path = path.display();
            Err(Unwritable::new(format!("cannot write `{path}`: {why}")))
        };
        if let Some(fence) = &self.fence
            && let Err(error) = fence.real(path)
            && refusal(&error).is_some()
        {
            return refused("with `--untrusted` a session writes in its own folder only");
        }
        match console.inputs().hold(path) {
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

/// Lines of at most so many bytes.
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

/// Lines as they come. Where they come from a file, what is said names the line.
fn plain(
    mut session: Session,
    lines: impl Iterator<Item = std::io::Result<String>>,
    name: Option<&str>,
    files: &Seen,
    console: &Console,
) -> Result<ExitCode, Fault> {
    let mut failed = false;
    for (at, line) in lines.enumerate() {
        let line = line.map_err(|error| format!("cannot read the commands: {}", told(&error)))?;
        let reply = session.line(&line, files);
        let ended = reply.ended;
        let place = name.map(|name| format!("{name}:{}: ", at + 1));
        failed |= !shown(&mut session, reply, place.as_deref(), files, console)?;
        // A run ends by itself, and what it has is kept: nobody waits for what follows.
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

/// Shows a reply and writes its files; false if something was wrong.
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
    console.picture(&reply.text)?;
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

fn write(file: &Written, files: &Seen, console: &Console) -> Result<(), Unwritable> {
    let path = &file.path;
    files.may_write(path, console)?;
    let inputs = console.inputs();
    let kind = match file.kind {
        Made::Text => Kind::Text,
        Made::Rows => Kind::Rows,
        Made::Model => Kind::Model,
        Made::Program(target) => Kind::Program(target),
        Made::Picture => Kind::of_picture(Some(path)),
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

/// The session, as far as the line editor has to know it.
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

/// Lines edited at a terminal.
fn edited(session: Session, files: &Seen, console: &Console) -> Result<ExitCode, Fault> {
    signals::remember_terminal();
    let trouble = |error: ReadlineError| format!("cannot read the terminal: {error}");
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Completing<'_>, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(trouble)?;
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
            // Ends what is being entered, else the session.
            Err(ReadlineError::Eof) => cancel::caught(|| Reply {
                ended: session.prompt() == "> ",
                ..session.end(files)
            }),
            Err(error) => return Err(trouble(error).into()),
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
        // Ctrl-C ends what a line has begun, other signals end the session.
        if !go_on() {
            cancel::check();
        }
    }
}
