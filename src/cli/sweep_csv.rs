//! Writes the runs of a sweep to one CSV file in long form: parameters, Time, values.
//!
//! Runs end in any order but stand in the file in the order of the sweep. A run that ends early waits in memory until
//! all runs before it are written.

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
    /// Runs that wait for earlier ones; `None` is a run without rows.
    waiting: BTreeMap<usize, Option<Run>>,
}

impl SweepCsv {
    /// Writes to a CSV that was opened with the same parameters and columns.
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

    /// Adds run number `at` of the sweep, counted from 0; a run that failed adds the rows that it has.
    pub fn add(&mut self, at: usize, run: Run) -> Result<(), String> {
        self.check(at, &run)?;
        self.waiting.insert(at, Some(run));
        self.advance()
    }

    /// Reports that run number `at` has no rows, so that later runs do not wait for it.
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

    /// Checks that the columns of the run are those of the header, because wrong columns would not be noticed in the
    /// file.
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

    /// Returns true if writing failed because the reader of a pipe closed it.
    pub fn closed(&self) -> bool {
        self.csv.closed()
    }

    /// The first value so far that was not finite.
    pub fn not_finite(&self) -> Option<&NotFinite> {
        self.csv.not_finite()
    }

    /// Writes the rest, including runs that wait for a run that never ended, in order.
    pub fn finish(mut self) -> Result<(), String> {
        for run in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.write(&run)?;
        }
        self.csv.finish()
    }
}
