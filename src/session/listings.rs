//! Listings of a session: equations, sorted and solved; causality and fields; the state of the session.

use super::command::Output;
use super::words::in_session;
use super::{Experiment, Reply, Session};
use crate::base::diagnostics::{Diagnostics, nearest};
use crate::base::words::count;
use crate::bond::fields::fields;
use crate::bond::view::{Choice, view};
use crate::compile::reduced;
use crate::compile::{Aliases, NoObserver, bond_graph, listed, sorted, sorted_in_some_mode};
use crate::expr::print::Style;
use crate::flat::{Flat, Kind, VarId};
use crate::listing;
use crate::listing::modes::mode_note;

impl Session {
    /// Returns the text of a listing, and a reply with the messages. `Reply::failed` is set if there was an error.
    pub(super) fn listing(&self, what: &Output) -> Result<(String, Reply), String> {
        let flat = self.flat()?;
        let mut diagnostics = Diagnostics::default();
        let text = match what {
            Output::Equations => {
                let flat = match self.differentiated {
                    true => reduced(flat, &mut diagnostics),
                    false => Some(flat),
                };
                flat.map(|flat| listing::equations::equations(&flat, Style::Classic))
            }
            Output::Sorted => {
                let aliases = self.partition.ok_or(UNSORTED)?;
                let done = sorted_in_some_mode(flat, aliases, &mut NoObserver, &mut diagnostics);
                done.map(|(flat, sorted, positions)| {
                    let position = positions.map(|positions| mode_note(&positions, "sorted"));
                    let list = listing::sorted::sorted_in_some_mode;
                    list(&flat, &sorted, position.as_deref(), Style::Classic)
                })
            }
            Output::Solved => {
                let aliases = self.partition.ok_or(UNSORTED)?;
                let done = listed(flat, aliases, &mut NoObserver, &mut diagnostics);
                done.map(|listed| listing::solved::listed(&listed, Style::Classic))
            }
            Output::Causality | Output::Fields => {
                let name = flat.model().to_string();
                let found = bond_graph(flat, &[], &mut diagnostics)?;
                let Some(model) = found else {
                    return Err(format!("`{name}` has no power ports, and so no bond graph"));
                };
                Some(match what {
                    Output::Causality => {
                        let view = view(&model.flat, &model.graph, Choice::default());
                        listing::causality::causality(&model, &view)
                    }
                    _ => listing::fields::fields(&fields(&model, false)),
                })
            }
            Output::Results | Output::Model | Output::Program(_) => None,
        };
        let mut reply = self.report(&self.model()?.sources, &diagnostics);
        // A bond graph is listed even if the equations cannot be sorted, so errors alone do not mean failure.
        reply.failed = text.is_none();
        Ok((in_session(&text.unwrap_or_default()), reply))
    }

    /// Sorts the equations, or reports why this is impossible.
    pub(super) fn sort(&mut self, aliases: Aliases) -> Result<Reply, String> {
        let mut diagnostics = Diagnostics::default();
        let done = sorted(self.flat()?, aliases, &mut diagnostics);
        let mut reply = self.report(&self.model()?.sources, &diagnostics);
        if let Some((flat, _)) = done {
            self.partition = Some(aliases);
            if let Some(reduction) = flat.reduction.filter(|_| !self.differentiated) {
                reply.messages.push_str(&format!(
                    "note: the index is {}: equations were differentiated; `differentiate` tells which\n",
                    reduction.index
                ));
            }
        }
        Ok(reply)
    }

    /// Reduces the index and lists the differentiated equations and the states.
    pub(super) fn differentiate(&mut self) -> Result<Reply, String> {
        let mut diagnostics = Diagnostics::default();
        let flat = self.flat()?;
        let name = flat.model().to_string();
        let Some(flat) = reduced(flat, &mut diagnostics) else {
            return Ok(self.report(&self.model()?.sources, &diagnostics));
        };
        let mut reply = self.report(&self.model()?.sources, &diagnostics);
        let Some(reduction) = &flat.reduction else {
            reply.messages.push_str(&format!(
                "note: nothing to differentiate: the index of `{name}` is at most 1\n"
            ));
            return Ok(reply);
        };
        self.differentiated = true;
        let mut text = format!("{name}: index {}\n\nDIFFERENTIATED\n\n", reduction.index);
        for derived in listing::reduction::differentiated(reduction) {
            let times = listing::reduction::times(derived.times);
            let original = listing::reduction::original(&flat, derived);
            text.push_str(&format!("{original}, {times}\n"));
        }
        if !reduction.dropped.is_empty() {
            text.push_str("\nNO LONGER STATES\n\n");
            for dropped in &reduction.dropped {
                let why = listing::reduction::why(&flat, dropped);
                text.push_str(&format!("{}: {why}\n", flat.leaf_name(dropped.state)));
            }
        }
        if !reduction.selections.is_empty() {
            text.push_str("\nCHOSEN BY THE RUN\n\n");
            for selection in &reduction.selections {
                let choice = listing::reduction::choice(&flat, selection);
                text.push_str(&format!("{choice}\n"));
            }
        }
        reply.text = text;
        Ok(reply)
    }

    /// The command `variable state NAMES`, or `nostate`.
    pub(super) fn prefer(&mut self, state: bool, names: &[String]) -> Result<Reply, String> {
        let flat = &self.model()?.flat;
        let mut found: Vec<VarId> = Vec::new();
        for name in names {
            let id = variable(flat, name)?;
            let kind = flat.variable(id).kind;
            if !matches!(kind, Kind::State | Kind::Algebraic | Kind::Output) {
                return Err(format!(
                    "`{name}` cannot be a state: its kind is {}",
                    kind.text()
                ));
            }
            found.push(id);
        }
        for id in found {
            self.preferences.retain(|&(known, _)| known != id);
            self.preferences.push((id, state));
        }
        Ok(Reply::default())
    }

    /// Describes what is loaded and which choices were made.
    pub(super) fn list(&self) -> String {
        let mut text = String::new();
        match &self.model {
            None => text.push_str("model       none\n"),
            Some(model) => {
                let flat = &model.flat;
                text.push_str(&format!(
                    "model       {}, {}, {} ({})\n",
                    flat.model(),
                    count(flat.equation_count(), "equation"),
                    count(flat.unknown_count(), "unknown"),
                    model.entry.path.display()
                ));
            }
        }
        let names = self.workspace.names();
        if names.len() > 1 {
            text.push_str(&format!("entered     {}\n", names.join(", ")));
        }
        let experiment = match &self.experiment {
            Experiment::Own => "the model's own, if there is one".to_string(),
            Experiment::Named(name) => name.clone(),
            Experiment::Entered(entry) => entry.path.display().to_string(),
        };
        text.push_str(&format!("experiment  {experiment}\n"));
        let outfile = self.outfile.as_ref().map(|path| path.display().to_string());
        text.push_str(&format!(
            "outfile     {}\n",
            outfile.unwrap_or_else(|| "none".into())
        ));
        text.push_str(match self.partition {
            None => "partition   not yet\n",
            Some(Aliases::Keep) => "partition   done\n",
            Some(Aliases::Eliminate) => "partition   done, aliases eliminated\n",
        });
        if let Some(model) = &self.model {
            for (wish, word) in [(true, "state"), (false, "nostate")] {
                let names: Vec<String> = (self.preferences.iter())
                    .filter(|&&(_, state)| state == wish)
                    .map(|&(id, _)| model.flat.name(id))
                    .collect();
                if !names.is_empty() {
                    text.push_str(&format!("{word:10}  {}\n", names.join(", ")));
                }
            }
            let classes = submodels(&model.flat);
            if !classes.is_empty() {
                text.push_str(&format!("submodels   {classes}\n"));
            }
        }
        text
    }
}

/// Returns the direct submodels of the model, such as `U0 (SE), R1 (R)`; at most twelve.
fn submodels(flat: &Flat) -> String {
    const SHOWN: usize = 12;
    let own = |at: &usize| *at > 0 && flat.instances[*at].parent.index() == 0;
    let all: Vec<usize> = (0..flat.instances.len()).filter(own).collect();
    let mut words: Vec<String> = (all.iter().take(SHOWN))
        .map(|&at| {
            let class = flat.names.name(flat.instances[at].class);
            let id = crate::flat::InstanceId(at as u32);
            format!("{} ({class})", flat.path(id))
        })
        .collect();
    if all.len() > SHOWN {
        words.push(format!("and {} more", all.len() - SHOWN));
    }
    words.join(", ")
}

/// Finds a variable by its name. The error message suggests a similar name.
pub(super) fn variable(flat: &Flat, name: &str) -> Result<VarId, String> {
    let mut names = Vec::with_capacity(flat.variables.len());
    for id in flat.variable_ids() {
        let known = flat.name(id);
        if known == name {
            return Ok(id);
        }
        names.push(known);
    }
    let message = format!("`{}` has no variable `{name}`", flat.model());
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    })
}

const UNSORTED: &str = "the equations are not sorted yet: `partition` or `partition eliminate`";
