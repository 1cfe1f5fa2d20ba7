//! ENPORT's dialogue that alleviates derivative causality (McCalla 1991, chapter 4 and appendix C).
//!
//! Before: a model with storages that depend on others. For each of them the dialogue shows the causal path and asks
//! which storage is to be removed (an empty answer: the dependent one) and in which form the equivalent is written.
//! After: the reduced model is loaded, or the reply contains the reason why the trace failed. A [`Reducer`] rewrites
//! the text of the model; the caller supplies it.

use std::path::Path;

use super::entry::EnteredText;
use super::{Reply, Session};
use crate::base::diagnostics::Diagnostics;
use crate::bond::fields::storage::Equivalent;
use crate::bond::fields::{Fields, fields as find_fields};
use crate::bond::graph::ElementKind;
use crate::compile::{Options, bond_graph};
use crate::listing::storage_fields::{path, refusal};
use crate::revise::form::Form;
use crate::revise::reduce::{ReduceOptions, reduce};
use crate::revise::{Failure, RevisionContext};
use crate::syntax::load::Files;

/// The keyword that ENPORT prints for a form.
fn word(form: Form) -> &'static str {
    match form {
        Form::Gain => "GAIN",
        Form::Attenuation => "ATT",
    }
}

/// Returns the answer without the prompt. A transcript repeats the prompt: `Enter selection (I2): I1`, `> I1`.
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

/// A request to remove one storage from the text of a model.
#[derive(Clone, Copy, Debug)]
pub struct ReductionRequest<'a> {
    /// The file of the model (for typed text a placeholder name), and the text.
    pub path: &'a Path,
    pub text: &'a str,
    /// Which model of the text; `None`: the last one.
    pub model: Option<&'a str>,
    /// The storage to remove, and the storage whose parameter becomes the equivalent.
    pub removed: &'a str,
    pub kept: &'a str,
    pub form: Form,
}

/// The text of the reduced model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReducedModel {
    pub text: String,
    /// Descriptions of other changes, such as parts that were removed with the storage.
    pub notes: Vec<String>,
}

/// Removes a storage from the text of a model, or returns the reason why this is impossible.
pub type Reducer = fn(&ReductionRequest<'_>, &dyn Files) -> Result<ReducedModel, String>;

/// Removes the storage with [`crate::revise`], as `bgm reduce --remove` does.
pub fn reduce_storage(
    wanted: &ReductionRequest<'_>,
    files: &dyn Files,
) -> Result<ReducedModel, String> {
    let path = wanted.path.to_path_buf();
    let options = Options {
        model: wanted.model.map(str::to_string),
        ..Options::default()
    };
    let context = RevisionContext::new(&path, &options, files);
    let options_of_reduction = ReduceOptions {
        remove: vec![wanted.removed.to_string()],
        only: true,
        form: Some(wanted.form),
        ..ReduceOptions::default()
    };
    let revised =
        reduce(&context, wanted.text, &options_of_reduction).map_err(|failure| match failure {
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
    Ok(ReducedModel {
        text: revised.text,
        notes,
    })
}

/// The state of the dialogue while a question waits for its answer.
#[derive(Debug)]
pub(super) struct Dialogue {
    /// Names of the dependent storages that the dialogue has already treated.
    done: Vec<String>,
    dependent: String,
    independent: String,
    /// The equivalent (as a divisor) and its usual form, for each of the two storages if it is the remaining one.
    of_dependent: (String, Form),
    of_independent: (String, Form),
    question: Question,
    prompt: String,
}

#[derive(Debug)]
enum Question {
    Element,
    /// True: the dependent storage will be removed.
    Form(bool),
}

impl Dialogue {
    pub(super) fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns the storage to remove and the remaining storage.
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
        let fields = self.storage_fields()?;
        let mut text = format!(
            "*** The number of dependent C and I ports is: {}.\n",
            fields.dependent
        );
        if fields.storage_fields.is_empty() {
            text.push_str("No derivative causality was found\n");
            return Ok(Reply::shows(text));
        }
        self.next_field(&fields, Vec::new(), &mut text);
        Ok(Reply::shows(text))
    }

    fn storage_fields(&self) -> Result<Fields, String> {
        let flat = self.flat()?;
        let name = flat.model().to_string();
        let model = bond_graph(flat, &[], &mut Diagnostics::default())?;
        let model =
            model.ok_or_else(|| format!("`{name}` has no power ports, and so no bond graph"))?;
        Ok(find_fields(&model, false))
    }

    /// Shows the next causal path that is not treated yet and asks the first question. Paths that cannot be reduced
    /// are reported and skipped.
    fn next_field(&mut self, fields: &Fields, mut done: Vec<String>, text: &mut String) {
        let name = |id| fields.named.graph.node(id).name.clone();
        for field in &fields.storage_fields {
            let dependent = name(field.dependent);
            if done.contains(&dependent) {
                continue;
            }
            text.push_str("\nThe path contains the following elements:\n");
            text.push_str(&path(fields, field));
            text.push('\n');
            let equivalent = match &field.outcome {
                Ok(equivalent) => equivalent,
                Err(why) => {
                    text.push_str(&format!("{}\nTrace failed...\n", refusal(fields, *why)));
                    done.push(dependent);
                    continue;
                }
            };
            let independent = name(equivalent.into);
            text.push_str("\nWhich element would you like to reduce?\n");
            text.push_str(&format!("{dependent} or {independent}\n"));
            let [of_dependent, of_independent] = equivalents(fields, field.dependent, equivalent);
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
            // The user leaves the dialogue; reductions that were made so far stay.
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
                self.reduce_and_continue(dialogue, dependent_goes, form, files)
            }
        }
    }

    /// Reduces the model and continues with the next storage.
    fn reduce_and_continue(
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
            Ok(fields) => self.next_field(&fields, done, &mut text),
            Err(message) => text.push_str(&format!("{message}\n")),
        }
        reply.text = text + &reply.text;
        reply
    }

    /// Reduces the model and loads the result.
    fn reduced(
        &mut self,
        removed: &str,
        kept: &str,
        form: Form,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let entry = &self.model()?.entry;
        let wanted = ReductionRequest {
            path: &entry.path,
            text: &entry.text,
            model: entry.name.as_deref(),
            removed,
            kept,
            form,
        };
        let ReducedModel { text, notes } = (self.environment.reduce)(&wanted, files)?;
        let entry = EnteredText {
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

/// Returns the equivalents of the dependent and of the independent storage, each for the case that the other one is
/// removed: as divisors, with their usual form.
fn equivalents(
    fields: &Fields,
    dependent: crate::bond::graph::NodeId,
    equivalent: &Equivalent,
) -> [(String, Form); 2] {
    let form = |id| match fields.named.graph.node(id).element().map(|one| one.kind) {
        Some(ElementKind::C) => Form::Attenuation,
        _ => Form::Gain,
    };
    [
        (
            fields.flat.expression(equivalent.other_value),
            form(dependent),
        ),
        (
            fields.flat.expression(equivalent.value),
            form(equivalent.into),
        ),
    ]
}
