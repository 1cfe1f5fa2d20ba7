//! `bgm session`: the interactive program of the 1990 paper, at a terminal or from a script.
//!
//! At a terminal lines are edited, with history and completion; elsewhere they are read as they come, without prompts.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

use super::io::Disk;
use super::simulate::{go_on, listen, stopped};
use super::{Console, FAILED};
use crate::session::{Reply, Session, Surroundings, revise};
use crate::syntax::load::Files;

#[derive(Debug, Args)]
pub struct Arguments {
    /// A script of commands, one on each line; without it they are typed
    #[arg(value_name = "FILE")]
    script: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, String> {
    if console.is_kept() {
        return Err("a session has no place here".into());
    }
    listen();
    let session = Session::new(Surroundings {
        colour: console.has_colour(),
        size: console.size(),
        stopped,
        reduce: revise,
    });
    match &arguments.script {
        Some(path) => {
            let bytes = console
                .files()
                .read(path)
                .map_err(|error| format!("cannot read the script `{}`: {error}", path.display()))?;
            let text = String::from_utf8(bytes)
                .map_err(|_| format!("the script `{}` is not UTF-8 text", path.display()))?;
            let name = path.display().to_string();
            // Editors may begin a file with a mark of its encoding.
            let text = text.trim_start_matches('\u{feff}');
            let lines = text.lines().map(|line| Ok(line.to_string()));
            plain(session, lines, Some(&name), console)
        }
        None if std::io::stdin().is_terminal() => edited(session, console),
        None => plain(session, std::io::stdin().lock().lines(), None, console),
    }
}

/// Lines as they come. Where they come from a file, what is said names the line.
fn plain(
    mut session: Session,
    lines: impl Iterator<Item = std::io::Result<String>>,
    name: Option<&str>,
    console: &Console,
) -> Result<ExitCode, String> {
    let files = console.files();
    let mut failed = false;
    for (at, line) in lines.enumerate() {
        let line = line.map_err(|error| format!("cannot read the commands: {error}"))?;
        let reply = session.line(&line, &files);
        let ended = reply.ended;
        let place = name.map(|name| format!("{name}:{}: ", at + 1));
        failed |= !shown(&mut session, reply, place.as_deref(), console)?;
        if ended {
            return Ok(code(failed));
        }
    }
    let reply = session.end(&files);
    failed |= !shown(&mut session, reply, None, console)?;
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
    console: &Console,
) -> Result<bool, String> {
    let mut fine = !reply.failed;
    if !reply.messages.is_empty() {
        let place = place.unwrap_or("");
        console.message(&format!("{place}{}", reply.messages));
    }
    console.result(None, |out| out.write_all(reply.text.as_bytes()))?;
    for file in &reply.files {
        if let Err(error) = write(&file.path, &file.text, file.append) {
            let place = place.unwrap_or("");
            let path = file.path.display();
            console.message(&format!("{place}error: cannot write `{path}`: {error}\n"));
            session.not_written(&file.path);
            fine = false;
        }
    }
    Ok(fine)
}

fn write(path: &Path, text: &str, append: bool) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    match append {
        true => options.append(true).create(true),
        false => options.write(true).create(true).truncate(true),
    };
    options.open(path)?.write_all(text.as_bytes())
}

/// The session, as far as the line editor has to know it.
struct Completing<'d> {
    session: Session,
    files: &'d Disk,
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
fn edited(session: Session, console: &Console) -> Result<ExitCode, String> {
    let files = console.files();
    let trouble = |error: ReadlineError| format!("cannot read the terminal: {error}");
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Completing<'_>, MemHistory> =
        Editor::with_history(config, MemHistory::new()).map_err(trouble)?;
    editor.set_helper(Some(Completing {
        session,
        files: &files,
    }));
    console.message("bgm: `help` lists the commands, `stop` ends the session\n");
    loop {
        let Some(helper) = editor.helper() else {
            return Ok(ExitCode::SUCCESS);
        };
        let prompt = helper.session.prompt().to_string();
        let line = editor.readline(&prompt);
        let Some(helper) = editor.helper_mut() else {
            return Ok(ExitCode::SUCCESS);
        };
        let session = &mut helper.session;
        go_on();
        let reply = match line {
            Ok(line) => session.line(&line, &files),
            Err(ReadlineError::Interrupted) => {
                session.interrupt();
                continue;
            }
            // Ends what is being entered, else the session.
            Err(ReadlineError::Eof) => Reply {
                ended: session.prompt() == "> ",
                ..session.end(&files)
            },
            Err(error) => return Err(trouble(error)),
        };
        let ended = reply.ended;
        shown(session, reply, None, console)?;
        if ended {
            return Ok(ExitCode::SUCCESS);
        }
    }
}
