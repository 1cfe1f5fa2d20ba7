//! `bgm golden`: compares listings of models with the golden files beside them.

pub mod listings;

use super::io::list;
use super::writing::kinds::Kind;
use super::{Cli, Console, FAILED, Fault, reading, writing};
use crate::base::diagnostics::visible::visible;
use crate::base::words::count;
use crate::export::Target;
use crate::syntax::load::bounds::{Bounds, told};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};
use listings::{Listing, difference, is_golden_file, listings};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct Arguments {
    /// Models whose first comment names the listings to keep, as in `{ golden: equations, sort }`
    #[arg(value_name = "MODEL.bgm", required = true)]
    files: Vec<PathBuf>,
    /// Keep the listings as they are now
    #[arg(long)]
    bless: bool,
}

/// Counts over all models.
#[derive(Debug, Default)]
struct Totals {
    models: usize,
    listings: usize,
    differ: usize,
    missing: usize,
    stale: usize,
    written: usize,
    removed: usize,
    /// Models and listings that could not be compared.
    faults: usize,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let mut totals = Totals::default();
    let commands = listing_commands();
    for file in &arguments.files {
        let model = Model {
            file,
            commands: &commands,
            bless: arguments.bless,
            console,
        };
        totals.models += 1;
        if let Err(fault) = model.compare(&mut totals) {
            model.fault(&fault, &mut totals);
        }
    }
    print(console, &format!("{}\n", totals.summary(arguments.bless)))?;
    Ok(match totals {
        Totals { faults: 1.., .. } => ExitCode::from(2),
        _ if totals.wrong() > 0 => ExitCode::from(FAILED),
        _ => ExitCode::SUCCESS,
    })
}

impl Totals {
    fn wrong(&self) -> usize {
        self.differ + self.missing + self.stale
    }

    /// `2 models, 5 listings: 1 differs`
    fn summary(&self, bless: bool) -> String {
        let mut parts = Vec::new();
        let mut add = |number: usize, one: &str, many: &str| match number {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            _ => parts.push(format!("{number} {many}")),
        };
        add(self.differ, "differs", "differ");
        add(
            self.missing,
            "has no golden file",
            "have no golden file yet",
        );
        let file = "golden file is no longer named";
        add(self.stale, file, "golden files are no longer named");
        let file = "golden file written";
        add(self.written, file, "golden files written");
        add(self.removed, "removed", "removed");
        add(
            self.faults,
            "could not be compared",
            "could not be compared",
        );
        let mut text = format!(
            "{}, {}: ",
            count(self.models, "model"),
            count(self.listings, "listing")
        );
        text.push_str(&match parts.is_empty() {
            true => "all as in the golden files".to_string(),
            false => parts.join(", "),
        });
        if self.wrong() > 0 && !bless {
            text.push_str("\nif this is how it should be, keep it with `bgm golden --bless`");
        }
        text
    }
}

fn print(console: &Console, text: &str) -> Result<(), String> {
    // The text contains words of the comment and of listings, which come from files.
    console
        .result_as_is(&visible(text))
        .map_err(Fault::into_message)
}

/// Returns the names of all commands that compile a file. They are recognized by their argument, so a new command
/// needs no change here.
fn listing_commands() -> Vec<String> {
    Cli::command()
        .get_subcommands()
        .filter(|command| {
            command
                .get_positionals()
                .any(|argument| argument.get_id() == "file")
        })
        .map(|command| command.get_name().to_string())
        .collect()
}

struct Model<'a> {
    file: &'a Path,
    commands: &'a [String],
    bless: bool,
    console: &'a Console,
}

impl Model<'_> {
    fn fault(&self, fault: &str, totals: &mut Totals) {
        totals.faults += 1;
        self.console
            .message(&format!("error: {}: {fault}\n", self.file.display()));
    }

    fn print(&self, text: &str) -> Result<(), String> {
        print(self.console, &format!("{}: {text}\n", self.file.display()))
    }

    /// Compares all listings of the model with their golden files, or writes these.
    fn compare(&self, totals: &mut Totals) -> Result<(), String> {
        let limit = self.console.bounds().file;
        self.console.add_input(self.file);
        let bytes = reading::read(self.file, limit, None).map_err(|error| match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_string(),
            _ => format!("cannot be read: {}", told(&error)),
        })?;
        let name = (self.file.file_name())
            .and_then(|name| name.to_str())
            .ok_or("the name of the file is not UTF-8")?;
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let wanted = listings(&String::from_utf8_lossy(&bytes))?;
        for listing in &wanted {
            totals.listings += 1;
            if let Err(fault) = self.listing(listing, folder, name, totals) {
                self.fault(&fault, totals);
            }
        }
        let named: Vec<String> = wanted.iter().map(|l| l.file_name(name)).collect();
        for stale in list(folder) {
            if named.contains(&stale) || !is_golden_file(&stale, name, self.commands) {
                continue;
            }
            if self.bless {
                std::fs::remove_file(folder.join(&stale))
                    .map_err(|error| format!("cannot remove `{stale}`: {error}"))?;
                totals.removed += 1;
                self.print(&format!("removed {stale}"))?;
            } else {
                totals.stale += 1;
                self.print(&format!(
                    "{stale} is not named by the golden comment (`--bless` removes it)"
                ))?;
            }
        }
        Ok(())
    }

    /// Compares one listing with its golden file, or writes this.
    fn listing(
        &self,
        listing: &Listing,
        folder: &Path,
        name: &str,
        totals: &mut Totals,
    ) -> Result<(), String> {
        let text = listing.text();
        let now = self
            .run_listing(listing, folder, name)
            .map_err(|fault| format!("its golden comment says `{text}`: {fault}"))?;
        let golden = listing.file_name(name);
        let path = folder.join(&golden);
        // Through a link, another file would be read, and written with `--bless`.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(format!(
                "`{golden}` is a link; a golden file is a file of its own"
            ));
        }
        let kept = match reading::read(&path, Bounds::default().file, None) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(format!("cannot read `{golden}`: {}", told(&error))),
        };
        let different = (kept.as_ref()).map(|kept| {
            // Paths are shown with slashes, as in git.
            let shown = path.display().to_string().replace('\\', "/");
            difference(kept, &now, &shown)
        });
        match different {
            Some(None) => {}
            _ if self.bless => {
                let inputs = self.console.inputs();
                writing::write(&path, Kind::Golden, &inputs, now.as_bytes())
                    .map_err(|unwritable| unwritable.message)?;
                totals.written += 1;
                self.print(&format!("wrote {golden}"))?;
            }
            Some(Some(difference)) => {
                totals.differ += 1;
                self.print(&format!("`{text}` differs\n{difference}"))?;
            }
            None => {
                totals.missing += 1;
                self.print(&format!(
                    "`{text}` has no golden file {golden} (`--bless` writes it)"
                ))?;
            }
        }
        Ok(())
    }

    /// Runs the command in the folder of the model and returns its messages, its listing, and the exit code if it is
    /// not 0.
    fn run_listing(&self, listing: &Listing, folder: &Path, name: &str) -> Result<String, String> {
        let Some((command, options)) = listing.words.split_first() else {
            return Err("names no command".to_string());
        };
        if !self.commands.contains(command) {
            let known: Vec<String> = self.commands.iter().map(|c| format!("`{c}`")).collect();
            return Err(format!(
                "`{command}` lists nothing; there are {}",
                known.join(", ")
            ));
        }
        let words = ["bgm", command, name].into_iter();
        let wrong = |error: clap::Error| clap_message(&error.render().to_string());
        let words = words.chain(options.iter().map(String::as_str));
        let matches = Cli::command().try_get_matches_from(words).map_err(wrong)?;
        if let Some(refused) = refusal(&matches) {
            return Err(refused);
        }
        let cli = Cli::from_arg_matches(&matches).map_err(wrong)?;
        let untrusted = self.console.is_untrusted() || cli.untrusted;
        let mut console = self.console.capturing(folder, untrusted);
        let code = (cli.command.run(&mut console)).map_err(Fault::into_message)?;
        let mut text = console.into_text();
        if code != ExitCode::SUCCESS {
            text.push_str(&format!("exit code {FAILED}\n"));
        }
        Ok(text)
    }
}

/// Options that print measured times, by id and as written.
const MEASURE: &[(&str, &str)] = &[("timings", "--timings"), ("stats", "--stats")];

/// Options that write files, by id and as written.
const WRITE: &[(&str, &str)] = &[("output", "-o"), ("plot", "--plot")];

/// Returns the reason why a listing is refused: it would do more than print, or its output differs in every run. The
/// words come from a model, perhaps from a stranger, so they must not write files or start programs.
fn refusal(matches: &ArgMatches) -> Option<String> {
    let (name, given) = matches.subcommand()?;
    for (id, option) in WRITE {
        let source = given
            .try_contains_id(id)
            .ok()
            .and_then(|_| given.value_source(id));
        if source == Some(ValueSource::CommandLine) {
            return Some(format!(
                "`{option}` has no place here: a golden comment writes no files, the listing is kept in the golden file"
            ));
        }
    }
    for (id, option) in MEASURE {
        if given.try_get_one::<bool>(id).ok().flatten() == Some(&true) {
            return Some(format!(
                "`{option}` has no place here: it prints measured times, which differ in every run"
            ));
        }
    }
    let target = given.try_get_one::<String>("to").ok().flatten();
    if target.is_some_and(|target| Target::from_name(target) == Some(Target::Fmu)) {
        return Some(format!(
            "`{name} --to fmu` writes a file and starts a compiler; a golden comment names listings"
        ));
    }
    None
}

/// Returns the message of clap without its advice on usage.
fn clap_message(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let end = message.find("\n\nUsage:").or(message.find("\n\nFor more"));
    message[..end.unwrap_or(message.len())].trim().to_string()
}
