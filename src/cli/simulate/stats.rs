//! The cost of a run: a summary line, and a table for `--stats`.

use crate::expr::show_briefly;
use crate::simulate::job::Job;
use crate::simulate::run::Outcome;

/// `RLC: Time 0 to 2e-5, 225 steps, 0 events, 239 Newton iterations, 1.2 ms`
pub fn summary(name: &str, job: &Job, outcome: &Outcome) -> String {
    let summary = &outcome.summary;
    let newton = summary.counts.newton + summary.evaluation_counts.iterations;
    let start = show_briefly(job.plan.start());
    let time = show_briefly(summary.time);
    let mut parts = vec![
        format!("Time {start} to {time}"),
        count(summary.counts.steps, "step"),
        count(summary.events, "event"),
        count(newton, "Newton iteration"),
    ];
    if summary.modes > 0 {
        parts.push(count(summary.modes, "position"));
    }
    if summary.jump_count > 0 {
        parts.push(count(summary.jump_count, "jump"));
    }
    if summary.choices > 0 {
        parts.push(count(summary.choices, "change") + " of states");
    }
    let seconds = &summary.seconds;
    parts.push(duration(
        seconds.start + seconds.steps + seconds.events + seconds.rows,
    ));
    format!("{name}: {}\n", parts.join(", "))
}

pub fn count(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// The counts of a run for the table of `--timings`.
pub fn counts(outcome: &Outcome) -> [(&'static str, usize); 5] {
    let summary = &outcome.summary;
    let of = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    [
        ("steps", of(summary.counts.steps)),
        ("events", of(summary.events)),
        ("evaluations", of(summary.evaluation_counts.evaluations)),
        ("Jacobians", of(summary.evaluation_counts.jacobians)),
        (
            "iterations",
            of(summary.counts.newton + summary.evaluation_counts.iterations),
        ),
    ]
}

/// The data of the `--stats` table.
pub struct Stats<'a> {
    pub compiling: f64,
    pub job: &'a Job,
    pub outcome: &'a Outcome,
}

impl Stats<'_> {
    pub fn text(&self) -> String {
        let (summary, job) = (&self.outcome.summary, self.job);
        let seconds = &summary.seconds;
        let times = [
            ("reading and flattening", self.compiling),
            ("sorting and solving", job.seconds.0),
            ("making the program", job.seconds.1),
            ("initial values", seconds.start),
            ("integration", seconds.steps),
            ("events and relations", seconds.events),
            ("rows", seconds.rows),
        ];
        let all: f64 = times.iter().map(|(_, seconds)| seconds).sum();
        let mut text = String::from("\nTIME\n\n");
        for (name, seconds) in times {
            let part = 100.0 * seconds / all.max(f64::MIN_POSITIVE);
            text.push_str(&format!(
                "{name:<24}{:>10}{part:>6.0} %\n",
                duration(seconds)
            ));
        }
        let program = &job.program;
        let parts = [&program.continuous];
        let instructions: usize = parts.iter().map(|part| part.code.len()).sum();
        let counts = [
            ("states", program.state_count() as u64),
            ("instructions", (instructions + program.held.len()) as u64),
            ("linear systems", program.continuous.systems.len() as u64),
            ("nonlinear loops", program.continuous.loops.len() as u64),
            ("relations watched", program.watches.len() as u64),
            ("steps", summary.counts.steps),
            ("rejected steps", summary.counts.rejected),
            ("failed Newton iterations", summary.counts.failed),
            ("Newton iterations", summary.counts.newton),
            ("iterations in loops", summary.evaluation_counts.iterations),
            ("evaluations", summary.evaluation_counts.evaluations),
            ("Jacobians", summary.evaluation_counts.jacobians),
            ("factorizations", summary.counts.factorizations),
            ("events", summary.events),
            ("changes of states", summary.choices),
            ("positions of switches", summary.modes),
            ("jumps of states", summary.jump_count),
        ];
        text.push_str("\nCOUNTS\n\n");
        for (name, number) in counts {
            text.push_str(&format!("{name:<24}{number:>10}\n"));
        }
        text
    }
}
