//! `bgm augment`: adds stiff or parasitic storages to a model.

use std::process::ExitCode;

use clap::Args;

use super::reduce::{EXPANDED_NOTE, RevisionArguments};
use super::writing::kinds::Kind;
use super::{Console, Fault};
use crate::revise::augment::{Added, Proposal, augment, propose};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    revision: RevisionArguments,
    /// The junction: on the causal path of a dependent storage, or in an implicit R-field
    #[arg(
        long,
        value_name = "JUNCTION",
        value_delimiter = ',',
        required_unless_present = "propose"
    )]
    at: Vec<String>,
    /// The capacitance or inertance of the new storage: the smaller, the stiffer
    #[arg(long, value_name = "NUMBER", requires = "at")]
    value: Option<f64>,
    /// Say where a storage would help, instead of revision a model
    #[arg(long, conflicts_with = "at")]
    propose: bool,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    if arguments.propose {
        return arguments
            .revision
            .write(console, Kind::Text, propose, |proposals| {
                (list(proposals), String::new())
            });
    }
    if let Some(value) = arguments.value
        && !(value > 0.0 && value.is_finite())
    {
        let message = format!("the value of a storage is a positive number, not {value}");
        return Err(message.into());
    }
    arguments.revision.write(
        console,
        Kind::Model,
        |context, text| augment(context, text, &arguments.at, arguments.value),
        |done| {
            let expanded = if done.expanded { EXPANDED_NOTE } else { "" };
            let notes = done
                .added
                .iter()
                .map(|one| format!("note: {}\n", describe(one)));
            (
                done.text.clone(),
                expanded.to_string() + &notes.collect::<String>(),
            )
        },
    )
}

/// Describes a storage that was added, and its effect on causality.
fn describe(added: &Added) -> String {
    let Added {
        name,
        kind,
        value,
        junction,
        other,
        ..
    } = added;
    let place = match other {
        Some(other) => format!("between {junction} and {other}"),
        None => format!("at {junction}"),
    };
    format!("{name}, {kind} = {value}, {place}: {}", effect(added))
}

fn effect(added: &Added) -> String {
    let count = |(before, after): (usize, usize), one: &str, many: &str| {
        (before != after).then(|| {
            let word = if after == 1 { one } else { many };
            format!("{before} -> {after} {word}")
        })
    };
    let found: Vec<String> = [
        count(added.dependent, "dependent port", "dependent ports"),
        count(
            added.resistors,
            "resistor in R-fields",
            "resistors in R-fields",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    match found.is_empty() {
        true => "no help".to_string(),
        false => found.join(", "),
    }
}

fn list(proposals: &[Proposal]) -> String {
    if proposals.is_empty() {
        return "no storage is dependent, and there is no implicit R-field\n".to_string();
    }
    let mut out = String::new();
    let mut last = "";
    for proposal in proposals {
        if proposal.purpose != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}for {}\n", proposal.purpose));
            last = &proposal.purpose;
        }
        let what = match &proposal.outcome {
            Ok(added) => {
                let place = match &added.other {
                    Some(other) => format!("between {} and {other}", added.junction),
                    None => format!("at {}", added.junction),
                };
                format!("{} {place}: {}", added.kind, effect(added))
            }
            Err(why) => why.to_string(),
        };
        out.push_str(&format!("  --at {}  {what}\n", proposal.junction));
    }
    out
}
