//! What is done with the rows of a run: written, kept, reported.

use crate::api::series;
use crate::cli::csv::Csv;
use crate::cli::progress::Progress;
use crate::picture::Trajectories;
use crate::simulate::columns::Column;
use crate::simulate::run::{Observer, RowKind};

pub struct Rows<'p> {
    csv: Option<Csv>,
    digits: Option<u8>,
    progress: Option<&'p Progress>,
    keeps: Keeps,
    data: Trajectories,
    line: Vec<f64>,
    events: u64,
}

/// Which rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    Nothing,
    /// Those that are written to files.
    Points,
    /// Also both sides of events.
    All,
}

/// What is left of it.
pub struct Kept {
    pub written: Result<(), String>,
    pub data: Trajectories,
}

impl<'p> Rows<'p> {
    pub fn new(
        columns: &[Column],
        csv: Option<Csv>,
        digits: Option<u8>,
        progress: Option<&'p Progress>,
        keeps: Keeps,
    ) -> Self {
        Rows {
            csv,
            digits,
            progress,
            keeps,
            data: Trajectories::of(columns.iter().map(series)),
            line: Vec::new(),
            events: 0,
        }
    }

    pub fn finish(self) -> Kept {
        let closed = self.csv.as_ref().is_some_and(Csv::closed);
        let written = match self.csv {
            Some(csv) if !closed => csv.finish(),
            _ => Ok(()),
        };
        Kept {
            written,
            data: self.data,
        }
    }
}

impl Observer for Rows<'_> {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        let kept = match self.keeps {
            Keeps::Nothing => false,
            Keeps::Points => kind != RowKind::Event,
            Keeps::All => true,
        };
        if kept {
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
                // Nobody reads any more: no error, but the end.
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
        !super::stopped()
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
