//! Writes rows to a CSV file that is valid at any moment.
//!
//! Only whole lines reach the file. They are collected and written when 64 KiB are full or half a second has passed.
//! A separate thread does this, so that rows also reach the file while the simulator computes a long step, and `row`
//! need not read the clock. If the disk is full, the file is truncated after its last whole line.
//!
//! Numbers have the shortest form that is read back as the same double. `nan`, `inf` and `-inf` are written as such
//! (numpy and pandas read them) and stored in [`Csv::not_finite`], so that a warning can be printed. Booleans are 0
//! and 1. Names are quoted as RFC 4180 requires; lines end with `\n`.

use super::writing::Waiting;
use super::writing::error_text::message;
use crate::base::words::{number, quoted};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A buffer of this size is written at once.
const BUFFER_SIZE: usize = 1 << 16;
/// Shorter than the half second that the documentation promises.
const PAUSE: Duration = Duration::from_millis(400);

/// The destination of the lines.
pub trait Target: Write + Send {
    /// Truncates the destination to `length` bytes, if possible.
    fn cut(&mut self, length: u64);
}

impl Target for File {
    fn cut(&mut self, length: u64) {
        // A device or a pipe cannot be truncated; this is no error.
        let _ = self.set_len(length);
    }
}

impl<T: Target> Target for Waiting<T> {
    fn cut(&mut self, length: u64) {
        self.0.cut(length);
    }
}

impl Target for io::Stdout {
    fn cut(&mut self, _: u64) {}
}

/// The first value that was not finite, and the number of such values.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    pub column: String,
    pub time: f64,
    pub count: usize,
}

/// A CSV file that is being written.
pub struct Csv {
    shared: Arc<Shared>,
    line: Vec<u8>,
    names: Vec<String>,
    /// Index of the column of Time. Parameters of a sweep stand before it.
    time: usize,
    not_finite: Option<NotFinite>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    sink: Mutex<Sink>,
    wake: Condvar,
}

struct Sink {
    target: Box<dyn Target>,
    path: String,
    /// Whole lines that are not written yet.
    pending: Vec<u8>,
    /// Bytes of whole lines in the file.
    written: u64,
    failed: Option<String>,
    /// True if writing failed because the reader of the pipe has closed it.
    closed: bool,
    done: bool,
}

impl Csv {
    /// Writes to any target; `path` is its name in messages.
    pub fn over(
        target: Box<dyn Target>,
        path: &str,
        parameters: &[&str],
        columns: &[&str],
    ) -> Result<Csv, String> {
        let sink = Sink {
            target,
            path: path.to_string(),
            pending: Vec::new(),
            written: 0,
            failed: None,
            closed: false,
            done: false,
        };
        let shared = Arc::new(Shared {
            sink: Mutex::new(sink),
            wake: Condvar::new(),
        });
        let names = parameters
            .iter()
            .chain(["Time"].iter())
            .chain(columns)
            .map(|name| name.to_string())
            .collect();
        let mut csv = Csv {
            shared: Arc::clone(&shared),
            line: Vec::new(),
            names,
            time: parameters.len(),
            not_finite: None,
            thread: None,
        };
        for (at, name) in csv.names.iter().enumerate() {
            if at > 0 {
                csv.line.push(b',');
            }
            quoted(name, &mut csv.line);
        }
        // The header is written at once, so that an error of the file is known before the run.
        csv.append()?;
        csv.shared.lock().flush()?;
        // If no thread can be started, rows are written later, when the buffer is full.
        csv.thread = std::thread::Builder::new()
            .name("csv".to_string())
            .spawn(move || shared.write_periodically())
            .ok();
        Ok(csv)
    }

    /// Adds a row: Time and the values, in the order of the header.
    pub fn row(&mut self, values: &[f64]) -> Result<(), String> {
        if values.len() != self.names.len() {
            return Err(format!(
                "a row of {} values for {} columns",
                values.len(),
                self.names.len()
            ));
        }
        for (at, &value) in values.iter().enumerate() {
            if at > 0 {
                self.line.push(b',');
            }
            number(value, &mut self.line);
            if !value.is_finite() {
                self.note(at, values[self.time]);
            }
        }
        self.append()
    }

    fn note(&mut self, column: usize, time: f64) {
        let names = &self.names;
        let found = self.not_finite.get_or_insert_with(|| NotFinite {
            column: names[column].clone(),
            time,
            count: 0,
        });
        found.count += 1;
    }

    /// Ends the line and appends it to the buffer.
    fn append(&mut self) -> Result<(), String> {
        self.line.push(b'\n');
        let mut sink = self.shared.lock();
        let result = match &sink.failed {
            Some(message) => Err(message.clone()),
            None => {
                sink.pending.extend_from_slice(&self.line);
                if sink.pending.len() >= BUFFER_SIZE {
                    sink.flush()
                } else {
                    Ok(())
                }
            }
        };
        drop(sink);
        self.line.clear();
        result
    }

    /// Writes the buffer now.
    pub fn flush(&mut self) -> Result<(), String> {
        self.shared.lock().flush()
    }

    /// Returns true if writing failed because the reader of a pipe closed it, which is no error (`| head`).
    pub fn closed(&self) -> bool {
        self.shared.lock().closed
    }

    /// The first value so far that was not finite.
    pub fn not_finite(&self) -> Option<&NotFinite> {
        self.not_finite.as_ref()
    }

    /// Writes the rest. Dropping does the same, but cannot report an error.
    pub fn finish(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        let result = {
            let mut sink = self.shared.lock();
            sink.done = true;
            sink.flush()
        };
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.closed() { Ok(()) } else { result }
    }
}

impl Drop for Csv {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl std::fmt::Debug for Csv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csv").field("names", &self.names).finish()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_periodically(&self) {
        let mut sink = self.lock();
        while !sink.done {
            let waited = self.wake.wait_timeout(sink, PAUSE);
            sink = waited.unwrap_or_else(PoisonError::into_inner).0;
            // The next call of `row` reports the error.
            let _ = sink.flush();
        }
    }
}

impl Sink {
    fn flush(&mut self) -> Result<(), String> {
        if let Some(message) = &self.failed {
            return Err(message.clone());
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        let error = loop {
            if done == self.pending.len() {
                match self.target.flush() {
                    Ok(()) => break None,
                    Err(error) => break Some(error),
                }
            }
            match self.target.write(&self.pending[done..]) {
                Ok(0) => break Some(io::Error::from(ErrorKind::WriteZero)),
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        let whole = self.pending[..done].iter().rposition(|&b| b == b'\n');
        self.written += whole.map_or(0, |at| at as u64 + 1);
        self.pending.clear();
        match error {
            None => Ok(()),
            Some(error) => {
                self.target.cut(self.written);
                self.closed = error.kind() == ErrorKind::BrokenPipe;
                let message = message(&self.path, &error);
                self.failed = Some(message.clone());
                Err(message)
            }
        }
    }
}
