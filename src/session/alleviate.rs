//! ENPORT's dialogue that alleviates derivative causality (McCalla 1991, chapter 4 and appendix C).
//!
//! Before: a model with storages that depend on others. For each of them the causal path is shown, and asked which
//! element is to be reduced (the dependent one, if nothing is answered) and in which form the equivalent is written. After:
//! the reduced model is the one that is loaded, or it is said why the trace failed. The model's text is rewritten by a
//! [`Reduce`], which the dialogue is given.

use std::path::Path;

use super::entry::Entry;
use super::{Reply, Session};
use crate::base::diagnostics::Diagnostics;
use crate::bond::fields::storage::Equivalent;
use crate::bond::fields::{Fields, fields};
use crate::bond::graph::ElementKind;
use crate::compile::{Options, bond_graph};
use crate::listing::storage_fields::{path, refusal};
use crate::revise::form::Form;
use crate::revise::reduce::{Wishes, reduce};
use crate::revise::{Desk, Failure};
use crate::syntax::load::Files;

/// The word of the dialogue.
fn word(form: Form) -> &'static str {
    match form {
        Form::Gain => "GAIN",
        Form::Attenuation => "ATT",
    }
}

/// What was typed, in a transcript behind a prompt: `Enter selection (I2): I1`, `> I1`.
fn answered(line: &str) -> &str {
    let typed = line.trim();
    let typed = typed.strip_prefix('>').unwrap_or(typed);
    typed
        .rsplit("):")
        .next()
        .unwrap_or(typed)
        .trim_start_matches(':')
        .trim()
}

/// A storage that is to go.
#[derive(Clone, Copy, Debug)]
pub struct Reduction<'a> {
    /// The file of the model, or what stands for it; and its text.
    pub path: &'a Path,
    pub text: &'a str,
    /// The model of the text, where it is not the last one.
    pub model: Option<&'a str>,
    /// The storage that goes, and the one that takes its part.
    pub removed: &'a str,
    pub kept: &'a str,
    pub form: Form,
}

/// A model without a storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    pub text: String,
    /// What else was done.
    pub notes: Vec<String>,
}

/// A model's text without a storage, its part taken by another one; or why that cannot be done.
pub type Reduce = fn(&Reduction<'_>, &dyn Files) -> Result<Reduced, String>;

/// By [`crate::revise`], as `bgm reduce --remove` does.
pub fn revise(wanted: &Reduction<'_>, files: &dyn Files) -> Result<Reduced, String> {
    let path = wanted.path.to_path_buf();
    let options = Options {
        model: wanted.model.map(str::to_string),
        ..Options::default()
    };
    let desk = Desk::new(&path, &options, files);
    let wishes = Wishes {
        remove: vec![wanted.removed.to_string()],
        only: true,
        form: Some(wanted.form),
        ..Wishes::default()
    };
    let revised = reduce(&desk, wanted.text, &wishes).map_err(|failure| match failure {
        Failure::Refused(why) => why,
        Failure::NoGraph(name) => format!("`{name}` has no power ports"),
        Failure::Model(..) => "the model has errors".to_string(),
    })?;
    if revised.steps.is_empty() {
        let mut left = revised.left.into_iter();
        let why = left.find(|left| left.name == wanted.removed);
        return Err(why.map_or_else(
            || format!("{} cannot be taken out", wanted.removed),
            |left| left.why,
        ));
    }
    let mut notes = Vec::new();
    if revised.expanded {
        notes.push("the model is written out, without hierarchy, to reach what lies deeper".into());
    }
    for step in &revised.steps {
        notes.push(step.value.clone());
        if !step.dropped.is_empty() {
            notes.push(format!(
                "no purpose is left for {}",
                step.dropped.join(", ")
            ));
        }
    }
    Ok(Reduced {
        text: revised.text,
        notes,
    })
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(super) struct Dialogue {
    /// Dependent storages that were dealt with.
    done: Vec<String>,
    dependent: String,
    independent: String,
    /// By storage that is left: its equivalent as a divisor, and its usual form.
    of_dependent: (String, Form),
    of_independent: (String, Form),
    question: Question,
    prompt: String,
}

#[derive(Debug)]
enum Question {
    Element,
    /// The storage that goes is the dependent one.
    Form(bool),
}

impl Dialogue {
    pub(super) fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The storage that goes and the one that is left.
    fn storages(&self, dependent_goes: bool) -> (&str, &str) {
        match dependent_goes {
            true => (&self.dependent, &self.independent),
            false => (&self.independent, &self.dependent),
        }
    }

    fn left(&self, dependent_goes: bool) -> &(String, Form) {
        match dependent_goes {
            true => &self.of_independent,
            false => &self.of_dependent,
        }
    }
}

impl Session {
    pub(super) fn alleviate(&mut self) -> Result<Reply, String> {
        let found = self.storage_fields()?;
        let mut text = format!(
            "*** The number of dependent C and I ports is: {}.\n",
            found.dependent
        );
        if found.storage_fields.is_empty() {
            text.push_str("No derivative causality was found\n");
            return Ok(Reply::shows(text));
        }
        self.next_field(&found, Vec::new(), &mut text);
        Ok(Reply::shows(text))
    }

    fn storage_fields(&self) -> Result<Fields, String> {
        let flat = self.flat()?;
        let name = flat.model().to_string();
        let model = bond_graph(flat, &[], &mut Diagnostics::default())?;
        let model =
            model.ok_or_else(|| format!("`{name}` has no power ports, and so no bond graph"))?;
        Ok(fields(&model, false))
    }

    /// Shows the next path that was not dealt with, and asks; those that cannot be reduced are told of.
    fn next_field(&mut self, found: &Fields, mut done: Vec<String>, text: &mut String) {
        let name = |id| found.named.graph.node(id).name.clone();
        for field in &found.storage_fields {
            let dependent = name(field.dependent);
            if done.contains(&dependent) {
                continue;
            }
            text.push_str("\nThe path contains the following elements:\n");
            text.push_str(&path(found, field));
            text.push('\n');
            let equivalent = match &field.outcome {
                Ok(equivalent) => equivalent,
                Err(why) => {
                    text.push_str(&format!("{}\nTrace failed...\n", refusal(found, *why)));
                    done.push(dependent);
                    continue;
                }
            };
            let independent = name(equivalent.into);
            text.push_str("\nWhich element would you like to reduce?\n");
            text.push_str(&format!("{dependent} or {independent}\n"));
            let [of_dependent, of_independent] = equivalents(found, field.dependent, equivalent);
            self.dialogue = Some(Dialogue {
                done,
                prompt: format!("Enter selection ({dependent}): "),
                dependent,
                independent,
                of_dependent,
                of_independent,
                question: Question::Element,
            });
            return;
        }
    }

    pub(super) fn answer(
        &mut self,
        mut dialogue: Dialogue,
        line: &str,
        files: &dyn Files,
    ) -> Reply {
        let answer = answered(line);
        if matches!(answer, "." | "stop") {
            // The dialogue is left; the model stays as it is by now.
            return Reply::default();
        }
        match dialogue.question {
            Question::Element => {
                let dependent_goes = answer.is_empty() || answer == dialogue.dependent;
                if !dependent_goes && answer != dialogue.independent {
                    self.dialogue = Some(dialogue);
                    return Reply::fails("Bad entry... Please try again");
                }
                let (_, kept) = dialogue.storages(dependent_goes);
                let form = dialogue.left(dependent_goes).1;
                dialogue.prompt = format!("Select equation type for {kept} ({}): ", word(form));
                dialogue.question = Question::Form(dependent_goes);
                self.dialogue = Some(dialogue);
                Reply::default()
            }
            Question::Form(dependent_goes) => {
                let (_, usual) = dialogue.left(dependent_goes);
                let form = match answer.to_uppercase().as_str() {
                    "" => *usual,
                    "GAIN" => Form::Gain,
                    "ATT" => Form::Attenuation,
                    _ => {
                        self.dialogue = Some(dialogue);
                        return Reply::fails("Bad entry, please try again: GAIN or ATT");
                    }
                };
                self.carry_out(dialogue, dependent_goes, form, files)
            }
        }
    }

    /// Reduces the model, and goes on with the next storage.
    fn carry_out(
        &mut self,
        dialogue: Dialogue,
        dependent_goes: bool,
        form: Form,
        files: &dyn Files,
    ) -> Reply {
        let (removed, kept) = dialogue.storages(dependent_goes);
        let (divisor, _) = dialogue.left(dependent_goes);
        let mut text = match form {
            Form::Gain => format!("{kept}: GAIN 1/({divisor})\n"),
            Form::Attenuation => format!("{kept}: ATT {divisor}\n"),
        };
        let mut reply = Reply::default();
        match self.reduced(removed, kept, form, files) {
            Ok(loaded) if loaded.failed => {
                text.push_str("Trace failed...\n");
                reply = loaded;
            }
            Ok(loaded) => {
                text.push_str("Trace is complete\n");
                reply = loaded;
            }
            Err(why) => {
                text.push_str(&format!("{why}\nTrace failed...\n"));
                reply.failed = true;
            }
        }
        let mut done = dialogue.done;
        done.push(dialogue.dependent);
        match self.storage_fields() {
            Ok(found) => self.next_field(&found, done, &mut text),
            Err(message) => text.push_str(&format!("{message}\n")),
        }
        reply.text = text + &reply.text;
        reply
    }

    /// Loads the model without a storage.
    fn reduced(
        &mut self,
        removed: &str,
        kept: &str,
        form: Form,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let entry = &self.model()?.entry;
        let wanted = Reduction {
            path: &entry.path,
            text: &entry.text,
            model: entry.name.as_deref(),
            removed,
            kept,
            form,
        };
        let Reduced { text, notes } = (self.around.reduce)(&wanted, files)?;
        let entry = Entry {
            text,
            typed: true,
            ..entry.clone()
        };
        let experiment = self.experiment.clone();
        let mut reply = self.load(entry, files);
        self.experiment = experiment;
        for note in notes {
            reply.messages.push_str(&format!("note: {note}\n"));
        }
        Ok(reply)
    }
}

/// The equivalents of the dependent and of the independent storage, if the other one goes: as divisors, with their usual form.
fn equivalents(
    found: &Fields,
    dependent: crate::bond::graph::NodeId,
    equivalent: &Equivalent,
) -> [(String, Form); 2] {
    let form = |id| match found.named.graph.node(id).element().map(|one| one.kind) {
        Some(ElementKind::C) => Form::Attenuation,
        _ => Form::Gain,
    };
    [
        (
            found.flat.expression(equivalent.other_value),
            form(dependent),
        ),
        (
            found.flat.expression(equivalent.value),
            form(equivalent.into),
        ),
    ]
}
