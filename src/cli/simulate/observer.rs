//! Writes, stores and reports the rows of a run.

use crate::api::series;
use crate::base::cancel;
use crate::cli::csv::Csv;
use crate::cli::progress::Progress;
use crate::picture::Trajectories;
use crate::simulate::columns::Column;
use crate::simulate::run::{Observer, RowKind};

pub struct RowObserver<'p> {
    csv: Option<Csv>,
    digits: Option<u8>,
    progress: Option<&'p Progress>,
    storage: RowStorage,
    data: Trajectories,
    line: Vec<f64>,
    events: u64,
}

/// Which rows are stored in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStorage {
    Nothing,
    /// The rows that are written to files.
    Points,
    /// Also the rows before and after each event.
    All,
}

/// The result after the run.
pub struct RecordedRows {
    pub written: Result<(), String>,
    pub data: Trajectories,
}

impl<'p> RowObserver<'p> {
    pub fn new(
        columns: &[Column],
        csv: Option<Csv>,
        digits: Option<u8>,
        progress: Option<&'p Progress>,
        storage: RowStorage,
    ) -> Self {
        RowObserver {
            csv,
            digits,
            progress,
            storage,
            data: Trajectories::of(columns.iter().map(series)),
            line: Vec::new(),
            events: 0,
        }
    }

    pub fn finish(self) -> RecordedRows {
        let closed = self.csv.as_ref().is_some_and(Csv::closed);
        let written = match self.csv {
            Some(csv) if !closed => csv.finish(),
            _ => Ok(()),
        };
        RecordedRows {
            written,
            data: self.data,
        }
    }
}

impl Observer for RowObserver<'_> {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        let stored = match self.storage {
            RowStorage::Nothing => false,
            RowStorage::Points => kind != RowKind::Event,
            RowStorage::All => true,
        };
        if stored {
            self.data.push(time, values);
        }
        if let Some(csv) = &mut self.csv
            && kind != RowKind::Event
        {
            self.line.clear();
            self.line.push(rounded(time, self.digits));
            let digits = self.digits;
            self.line
                .extend(values.iter().map(|&value| rounded(value, digits)));
            if let Err(message) = csv.row(&self.line) {
                // The reader has closed the pipe. The run ends, but this is no error, so the message is empty.
                return Err(if csv.closed() { String::new() } else { message });
            }
        }
        Ok(())
    }

    fn goes_on(&mut self, time: f64, events: u64) -> bool {
        if let Some(progress) = self.progress {
            progress.tick(time);
            while self.events < events {
                progress.event();
                self.events += 1;
            }
        }
        !cancel::is_asked()
    }
}

pub fn rounded(value: f64, digits: Option<u8>) -> f64 {
    match digits {
        None => value,
        Some(digits) => {
            let text = format!("{value:.*e}", usize::from(digits) - 1);
            text.parse().unwrap_or(value)
        }
    }
}
