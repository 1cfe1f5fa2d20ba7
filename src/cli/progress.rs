//! A progress bar for long runs, on a terminal.
//!
//! The simulator stores the time that it has reached in an atomic variable, which costs almost nothing. A thread
//! draws the bar from it, after the first half second and ten times a second. If standard error is not a terminal,
//! there is no thread and nothing is drawn.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Runs shorter than this show no bar.
const DELAY: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(100);
/// The bar counts in thousandths.
const WHOLE: u64 = 1000;

/// The work that the bar shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// One run between two times.
    Run { start: f64, end: f64 },
    /// A sweep of this many runs.
    Sweep { runs: u64 },
}

/// The progress of a run or sweep. Several threads may report to it. Dropping it clears the bar.
#[derive(Debug)]
pub struct Progress {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    task: Task,
    /// The bits of the time that is reached.
    time: AtomicU64,
    events: AtomicU64,
    runs: AtomicU64,
    done: Mutex<bool>,
    wake: Condvar,
}

impl Progress {
    /// Makes a bar that is drawn if standard error is a terminal and the work takes longer than half a second.
    pub fn new(task: Task) -> Progress {
        Progress::shown(task, std::io::stderr().is_terminal())
    }

    /// Makes a bar; if `shown` is false, it is never drawn.
    pub fn shown(task: Task, shown: bool) -> Progress {
        let start = match task {
            Task::Run { start, .. } => start,
            Task::Sweep { .. } => 0.0,
        };
        let state = Arc::new(State {
            task,
            time: AtomicU64::new(start.to_bits()),
            events: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            done: Mutex::new(false),
            wake: Condvar::new(),
        });
        let drawn = Arc::clone(&state);
        // If no thread can be started, the run continues without a bar.
        let thread = shown
            .then(|| std::thread::Builder::new().spawn(move || drawn.draw()).ok())
            .flatten();
        Progress { state, thread }
    }

    /// Reports the time that the run has reached.
    #[inline]
    pub fn tick(&self, time: f64) {
        self.state.time.store(time.to_bits(), Ordering::Relaxed);
    }

    /// Reports an event.
    #[inline]
    pub fn event(&self) {
        self.state.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports that a run of a sweep is complete.
    pub fn run_done(&self) {
        self.state.runs.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the completed part from 0 to 1, and the text beside the bar.
    pub fn report(&self) -> (f64, String) {
        self.state.report()
    }

    /// Clears the bar, so that later output to the terminal stands alone.
    pub fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            *self.state.lock() = true;
            self.state.wake.notify_all();
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, bool> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits; returns true if the run ended within the pause.
    fn ended_within(&self, pause: Duration) -> bool {
        let waited = self
            .wake
            .wait_timeout_while(self.lock(), pause, |done| !*done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn draw(&self) {
        if self.ended_within(DELAY) {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(WHOLE), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {msg}")
            .map(|style| style.progress_chars("█▉▊▋▌▍▎▏ "));
        if let Ok(style) = style {
            bar.set_style(style);
        }
        loop {
            let (part, words) = self.report();
            // `set_message` draws the bar; a position that comes first saves a second drawing.
            bar.set_position((part * WHOLE as f64) as u64);
            bar.set_message(words);
            if self.ended_within(PAUSE) {
                break;
            }
        }
        bar.finish_and_clear();
    }

    fn report(&self) -> (f64, String) {
        let events = match self.events.load(Ordering::Relaxed) {
            0 => String::new(),
            1 => ", 1 event".to_string(),
            count => format!(", {count} events"),
        };
        match self.task {
            Task::Run { start, end } => {
                let time = f64::from_bits(self.time.load(Ordering::Relaxed));
                // Halves are used because the difference of two large numbers of opposite sign can overflow.
                let part = (time / 2.0 - start / 2.0) / (end / 2.0 - start / 2.0);
                // `clamp` does not change NaN: a run of length zero is complete.
                let part = if part.is_nan() {
                    1.0
                } else {
                    part.clamp(0.0, 1.0)
                };
                let percent = (part * 100.0).floor();
                let (time, end) = (four_digits(time), four_digits(end));
                (part, format!("{percent:3} %  Time {time} of {end}{events}"))
            }
            Task::Sweep { runs } => {
                let done = self.runs.load(Ordering::Relaxed).min(runs);
                let part = if runs == 0 {
                    1.0
                } else {
                    done as f64 / runs as f64
                };
                (part, format!("{done} of {runs} runs{events}"))
            }
        }
    }
}

/// Four digits; more digits would flicker.
fn four_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let mut text = Vec::new();
    crate::base::words::number(rounded, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
