//! The runs of a sweep into one CSV, in long form: parameters, Time, values.
//!
//! Runs finish in any order and stand in the file in the order of the sweep: a run that is early
//! waits for those before it.

use super::csv::{Csv, NotFinite};
use crate::picture::Run;
use std::collections::BTreeMap;

/// A CSV of several runs that is being written.
#[derive(Debug)]
pub struct SweepCsv {
    csv: Csv,
    parameters: Vec<String>,
    columns: Vec<String>,
    next: usize,
    /// Runs that are early; None is a run that gave nothing.
    waiting: BTreeMap<usize, Option<Run>>,
}

impl SweepCsv {
    /// Writes through a CSV that was made with the same parameters and columns.
    pub fn over(csv: Csv, parameters: &[&str], columns: &[&str]) -> SweepCsv {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        SweepCsv {
            csv,
            parameters: owned(parameters),
            columns: owned(columns),
            next: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes run number `at` of the sweep, counted from 0; a run that failed brings what it has.
    pub fn add(&mut self, at: usize, run: Run) -> Result<(), String> {
        self.check(at, &run)?;
        self.waiting.insert(at, Some(run));
        self.advance()
    }

    /// Run number `at` gives nothing: the others do not wait for it.
    pub fn skip(&mut self, at: usize) -> Result<(), String> {
        self.waiting.insert(at, None);
        self.advance()
    }

    fn advance(&mut self) -> Result<(), String> {
        while let Some(run) = self.waiting.remove(&self.next) {
            self.next += 1;
            if let Some(run) = run {
                self.write(&run)?;
            }
        }
        Ok(())
    }

    /// A run whose columns are not those of the header would be wrong without a sign of it.
    fn check(&self, at: usize, run: &Run) -> Result<(), String> {
        let parameters = run.parameters.iter().map(|(name, _)| name);
        let series = run.result.series.iter().map(|series| &series.name);
        let rows = run.result.times.len();
        let full = run.result.series.iter().all(|s| s.values.len() == rows);
        if at < self.next || self.waiting.contains_key(&at) {
            return Err(format!("run {} of the sweep came twice", at + 1));
        }
        if !parameters.eq(&self.parameters) || !series.eq(&self.columns) || !full {
            return Err(format!(
                "run {} of the sweep has other columns than the file",
                at + 1
            ));
        }
        Ok(())
    }

    fn write(&mut self, run: &Run) -> Result<(), String> {
        let mut row: Vec<f64> = run.parameters.iter().map(|(_, value)| *value).collect();
        let fixed = row.len();
        for (at, &time) in run.result.times.iter().enumerate() {
            row.truncate(fixed);
            row.push(time);
            row.extend(run.result.series.iter().map(|series| series.values[at]));
            self.csv.row(&row)?;
        }
        Ok(())
    }

    /// Whether writing failed because the reader of a pipe went away.
    pub fn closed(&self) -> bool {
        self.csv.closed()
    }

    /// The first value so far that was not finite.
    pub fn not_finite(&self) -> Option<&NotFinite> {
        self.csv.not_finite()
    }

    /// Writes the rest. Runs that still wait for one that never came are written too, in order.
    pub fn finish(mut self) -> Result<(), String> {
        for run in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.write(&run)?;
        }
        self.csv.finish()
    }
}
