//! Experiments and runs in a session.

use std::path::Path;

use super::entry::With;
use super::{Experiment, Made, Reply, Session};
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

/// What a run has left.
#[derive(Debug)]
pub(super) struct Results {
    title: String,
    data: Trajectories,
    /// Rows that stand for events, and are in no file.
    events: Vec<bool>,
    panels: Option<Vec<Vec<usize>>>,
}

/// Keeps all rows.
struct Rows {
    data: Trajectories,
    events: Vec<bool>,
}

impl Rows {
    fn new(columns: &[Column]) -> Rows {
        Rows {
            data: Trajectories::of(columns.iter().map(series)),
            events: Vec::new(),
        }
    }
}

impl Observer for Rows {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        self.data.push(time, values);
        self.events.push(kind == RowKind::Event);
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        !cancel::is_asked()
    }
}

/// A model with its experiment in it.
pub(super) struct Performed {
    pub sources: Sources,
    pub diagnostics: Diagnostics,
    pub model: Option<(Flat, experiment::Experiment)>,
}

impl Session {
    /// Takes an experiment, if it fits the model.
    pub(super) fn choose_experiment(
        &mut self,
        experiment: Experiment,
        files: &dyn Files,
    ) -> Result<Reply, String> {
        let done = self.performed(&experiment, files)?;
        let reply = self.told(&done.sources, &done.diagnostics);
        if done.model.is_some() {
            self.experiment = experiment;
            self.results = None;
        }
        Ok(reply)
    }

    /// The model with an experiment in it.
    fn performed(&self, experiment: &Experiment, files: &dyn Files) -> Result<Performed, String> {
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
        let with = With { entries, files };
        let Prepared {
            sources,
            mut model,
            diagnostics,
        } = prepare(&self.model()?.entry.input(), &options, &with);
        if let Some((flat, _)) = &mut model {
            self.put_wishes(flat);
        }
        Ok(Performed {
            sources,
            diagnostics,
            model,
        })
    }

    /// The model with the experiment of the session in it.
    pub(super) fn experimented(&self, files: &dyn Files) -> Result<Performed, String> {
        self.performed(&self.experiment, files)
    }

    pub(super) fn simulate(&mut self, files: &dyn Files) -> Result<Reply, String> {
        let Performed {
            sources,
            mut diagnostics,
            model,
        } = self.experimented(files)?;
        let Some((flat, experiment)) = model else {
            return Ok(self.told(&sources, &diagnostics));
        };
        let made = job(flat, &experiment, &RunOptions::default(), &mut diagnostics)?;
        let mut reply = self.told(&sources, &diagnostics);
        let Some(job) = made else {
            return Ok(reply);
        };
        if !job.chosen.is_empty() {
            reply
                .messages
                .push_str(&format!("note: chosen: {}\n", job.chosen.join(", ")));
        }
        let mut rows = Rows::new(&job.columns);
        let outcome = run(&job, &mut rows);
        let title = experiment.title(job.solved.flat.model());
        match &outcome.end {
            End::Done => {}
            End::Stopped => reply
                .messages
                .push_str("interrupted; what was computed is kept\n"),
            End::Failed(halt) => {
                let mut said = Diagnostics::default();
                said.push(halt.diagnostic()?);
                reply
                    .messages
                    .push_str(&self.told(&sources, &said).messages);
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

    /// Draws the last run: what was named, else what the experiment says.
    pub(super) fn plot(&mut self, names: &[String], files: &dyn Files) -> Result<Reply, String> {
        let results = self.results()?;
        let data = &results.data;
        let groups = match names {
            [] => results.panels.clone(),
            names => {
                let places = names.iter().map(|name| place(data, name));
                Some(vec![places.collect::<Result<Vec<usize>, String>>()?])
            }
        };
        let is_picture = |path: &Path| {
            let end = path.extension().map(|end| end.to_ascii_lowercase());
            end.is_some_and(|end| end == "svg" || end == "png")
        };
        if self.outfile.as_deref().is_some_and(is_picture) {
            let text = svg::plot(&results.title, data, groups.as_deref())?;
            return self.put(text, Made::Picture, Reply::default(), files);
        }
        let which = match groups.and_then(|groups| groups.into_iter().next()) {
            Some(first) => first,
            None => terminal::chosen(data),
        };
        let (width, height) = self.around.size;
        let size = (width, height.saturating_sub(4).min(24));
        let text = terminal::plot(&results.title, data, &which, size, self.around.colour);
        Ok(Reply::shows(text))
    }

    /// The names of what was recorded.
    pub(super) fn recorded(&self) -> Vec<String> {
        let series = self.results.iter().flat_map(|results| &results.data.series);
        series.map(|one| one.name.clone()).collect()
    }

    /// The rows of the last run.
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

/// A path that is not taken for the name of an experiment.
fn named_as_file(path: &Path) -> String {
    let text = path.display().to_string();
    match text.chars().all(|c| c.is_alphanumeric() || c == '_') {
        true => format!("./{text}"),
        false => text,
    }
}

fn place(data: &Trajectories, name: &str) -> Result<usize, String> {
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
