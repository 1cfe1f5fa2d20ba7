//! Experiments and runs in a session.

use std::path::Path;

use super::entry::SessionFiles;
use super::{Experiment, FileKind, Reply, Session};
use crate::api::series;
use crate::base::cancel;
use crate::base::diagnostics::{Diagnostics, nearest};
use crate::base::source::Sources;
use crate::base::words;
use crate::base::words::count;
use crate::compile::{Options, Prepared, prepare};
use crate::experiment::{self, Request};
use crate::expr::show_briefly;
use crate::flat::Flat;
use crate::picture::{Trajectories, svg, terminal};
use crate::simulate::columns::Column;
use crate::simulate::job::{Job, RunOptions, job};
use crate::simulate::run::{End, Observer, Outcome, RowKind, run};
use crate::syntax::load::Files;

/// The results of the last run.
#[derive(Debug)]
pub(super) struct Results {
    title: String,
    data: Trajectories,
    /// For each row: true if it was recorded at an event. Such rows are plotted but not written to files.
    events: Vec<bool>,
    panels: Option<Vec<Vec<usize>>>,
}

/// Records all rows of a run. Unlike `api::run` it records which rows belong to events.
struct RowRecorder {
    data: Trajectories,
    events: Vec<bool>,
}

impl RowRecorder {
    fn new(columns: &[Column]) -> RowRecorder {
        RowRecorder {
            data: Trajectories::of(columns.iter().map(series)),
            events: Vec::new(),
        }
    }
}

impl Observer for RowRecorder {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        self.data.push(time, values);
        self.events.push(kind == RowKind::Event);
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        !cancel::is_asked()
    }
}

/// A flat model that its experiment was applied to.
pub(super) struct PreparedModel {
    pub sources: Sources,
    pub diagnostics: Diagnostics,
    pub model: Option<(Flat, experiment::Experiment)>,
}

impl Session {
    /// Chooses an experiment if it can be applied to the model.
    pub(super) fn choose_experiment(
        &mut self,
        experiment: Experiment,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let done = self.apply_experiment(&experiment, files)?;
        let reply = self.report(&done.sources, &done.diagnostics);
        if done.model.is_some() {
            self.experiment = experiment;
            self.results = None;
        }
        Ok(reply)
    }

    /// Applies an experiment to the model.
    fn apply_experiment(
        &self,
        experiment: &Experiment,
        files: &dyn Files,
    ) -> Result<PreparedModel, String> {
        let model = self.model()?;
        let mut entries = vec![&model.entry];
        let name = match experiment {
            Experiment::Own => None,
            Experiment::Named(name) => Some(name.clone()),
            Experiment::Entered(entry) => {
                entries.push(entry);
                Some(named_as_file(&entry.path))
            }
        };
        let options = Options {
            model: model.entry.name.clone(),
            request: Request {
                experiment: name,
                ..Request::default()
            },
            ..Options::default()
        };
        let with = SessionFiles { entries, files };
        let Prepared {
            sources,
            mut model,
            diagnostics,
        } = prepare(&self.model()?.entry.input(), &options, &with);
        if let Some((flat, _)) = &mut model {
            self.apply_preferences(flat);
        }
        Ok(PreparedModel {
            sources,
            diagnostics,
            model,
        })
    }

    /// Applies the experiment of the session to the model.
    pub(super) fn prepared_model(&self, files: &dyn Files) -> Result<PreparedModel, String> {
        self.apply_experiment(&self.experiment, files)
    }

    pub(super) fn simulate(
        &mut self,
        start_jump: bool,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let PreparedModel {
            sources,
            mut diagnostics,
            model,
        } = self.prepared_model(files)?;
        let Some((flat, experiment)) = model else {
            return Ok(self.report(&sources, &diagnostics));
        };
        let wishes = RunOptions {
            start_jump,
            ..RunOptions::default()
        };
        let made = job(flat, &experiment, &wishes, &mut diagnostics)?;
        let mut reply = self.report(&sources, &diagnostics);
        let Some(job) = made else {
            return Ok(reply);
        };
        if !job.chosen.is_empty() {
            reply
                .messages
                .push_str(&format!("note: chosen: {}\n", job.chosen.join(", ")));
        }
        let mut rows = RowRecorder::new(&job.columns);
        let outcome = run(&job, &mut rows);
        let title = experiment.title(job.solved.flat.model());
        match &outcome.end {
            End::Done => {}
            End::Stopped => reply
                .messages
                .push_str("interrupted; what was computed is kept\n"),
            End::Failed(halt) => {
                let mut diagnostics = Diagnostics::default();
                diagnostics.push(halt.diagnostic()?);
                reply
                    .messages
                    .push_str(&self.report(&sources, &diagnostics).messages);
                reply.failed = true;
            }
        }
        reply.text = summary(&job, &outcome);
        self.results = Some(Results {
            title,
            data: rows.data,
            events: rows.events,
            panels: job.panels,
        });
        Ok(reply)
    }

    fn results(&self) -> Result<&Results, String> {
        (self.results.as_ref()).ok_or_else(|| "nothing was run yet: `simulate`".to_string())
    }

    /// Draws the last run: the named variables, else the panels of the experiment.
    pub(super) fn plot(&mut self, names: &[String], files: &dyn Files) -> Result<Reply, String> {
        let results = self.results()?;
        let data = &results.data;
        let groups = match names {
            [] => results.panels.clone(),
            names => {
                let indices = names.iter().map(|name| series_index(data, name));
                Some(vec![indices.collect::<Result<Vec<usize>, String>>()?])
            }
        };
        let is_picture = |path: &Path| {
            let end = path.extension().map(|end| end.to_ascii_lowercase());
            end.is_some_and(|end| end == "svg" || end == "png")
        };
        if self.outfile.as_deref().is_some_and(is_picture) {
            let text = svg::plot(&results.title, data, groups.as_deref())?;
            return self.add_output(text, FileKind::Picture, Reply::default(), files);
        }
        let which = match groups.and_then(|groups| groups.into_iter().next()) {
            Some(first) => first,
            None => terminal::chosen(data),
        };
        let (width, height) = self.environment.size;
        let size = (width, height.saturating_sub(4).min(24));
        let text = terminal::plot(&results.title, data, &which, size, self.environment.colour);
        Ok(Reply::shows(text))
    }

    /// Returns the names of the recorded variables.
    pub(super) fn recorded(&self) -> Vec<String> {
        let series = self.results.iter().flat_map(|results| &results.data.series);
        series.map(|one| one.name.clone()).collect()
    }

    /// Returns the rows of the last run as CSV.
    pub(super) fn rows(&self) -> Result<String, String> {
        let results = self.results()?;
        let data = &results.data;
        let names: Vec<&str> = data.series.iter().map(|one| one.name.as_str()).collect();
        let mut out = Vec::new();
        words::header(&names, &mut out);
        for (at, &time) in data.times.iter().enumerate() {
            if results.events[at] {
                continue;
            }
            words::number(time, &mut out);
            for series in &data.series {
                out.push(b',');
                words::number(series.values[at], &mut out);
            }
            out.push(b'\n');
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

/// Returns a path in a form that is not mistaken for the name of an experiment.
fn named_as_file(path: &Path) -> String {
    let text = path.display().to_string();
    match text.chars().all(|c| c.is_alphanumeric() || c == '_') {
        true => format!("./{text}"),
        false => text,
    }
}

fn series_index(data: &Trajectories, name: &str) -> Result<usize, String> {
    let found = data.series.iter().position(|series| series.name == name);
    let known = || data.series.iter().map(|series| series.name.as_str());
    found.ok_or_else(|| match nearest(name, known()) {
        Some(near) => format!("`{name}` was not recorded; did you mean `{near}`?"),
        None => {
            let known: Vec<&str> = known().collect();
            format!(
                "`{name}` was not recorded; there are {}",
                super::command::list(&known)
            )
        }
    })
}

/// `RLC: Time 0 to 2e-5, 225 steps, 0 events`
fn summary(job: &Job, outcome: &Outcome) -> String {
    let summary = &outcome.summary;
    let steps = usize::try_from(summary.counts.steps).unwrap_or(usize::MAX);
    let events = usize::try_from(summary.events).unwrap_or(usize::MAX);
    format!(
        "{}: Time {} to {}, {}, {}\n",
        job.solved.flat.model(),
        show_briefly(job.plan.start()),
        show_briefly(summary.time),
        count(steps, "step"),
        count(events, "event"),
    )
}
