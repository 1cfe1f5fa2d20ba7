//! `bgm library`: lists the types of the standard library, or shows one.

use std::process::ExitCode;

use clap::Args;

use super::{Console, Fault};
use crate::base::diagnostics::nearest;
use crate::syntax::library::{FILES, entries};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The type to show
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let text = match &arguments.name {
        None => overview(),
        Some(name) => show(name)?,
    };
    console.result(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn overview() -> String {
    let mut text = String::new();
    for &(file, _) in FILES {
        let stem = file.strip_suffix(".bgm").unwrap_or(file);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("@{stem}\n"));
        for entry in entries().filter(|entry| entry.file == file) {
            let doc = entry.doc.join(" ");
            // The first sentence. The dots of `p[1] .. p[n]` do not end it.
            let end = (doc.match_indices(". ").map(|(at, _)| at))
                .find(|&at| !doc[..at].ends_with(['.', ' ']))
                .unwrap_or(doc.len());
            let sentence = doc[..end].trim_end_matches('.');
            text.push_str(&format!("  {:<18} {sentence}\n", entry.name));
        }
    }
    text
}

fn show(name: &str) -> Result<String, String> {
    let found: Vec<_> = entries().filter(|entry| entry.name == name).collect();
    if found.is_empty() {
        let names: Vec<String> = entries().map(|entry| entry.name.to_string()).collect();
        let hint = nearest(name, names.iter().map(String::as_str))
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        return Err(format!(
            "the standard library has no type `{name}`{hint} (`bgm library` lists all)"
        ));
    }
    let texts = found.iter().map(|entry| {
        let stem = entry.file.strip_suffix(".bgm").unwrap_or(entry.file);
        format!("# in @{stem}\n{}\n", entry.source)
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
}
