//! `--timings`: a table of the cost of each stage, on standard error.
//!
//! The time of a stage excludes the stages inside it. Work between the stages (choosing modes, rendering diagnostics)
//! is `other`. A stage that ran several times, as for the modes of switches, has the sum of its times and the counts
//! of its last run.

use super::Console;
use super::simulate::duration;
use crate::compile::{NoObserver, Product, Stage, StageObserver};
use crate::flat::Flat;
use crate::passes::order::Sorted;
use std::time::{Duration, Instant};

/// A stage that is running.
#[derive(Debug)]
struct RunningStage {
    stage: Stage,
    since: Instant,
    /// The time of the stages inside it.
    inside: Duration,
}

/// The cost of a stage.
#[derive(Clone, Debug, Default)]
struct StageCost {
    runs: usize,
    refused: usize,
    time: Duration,
    /// The peak memory of the process so far, in bytes.
    peak: Option<u64>,
    counts: String,
}

/// Does some work; where that was asked for, tells what its stages have cost.
pub fn told<T>(
    asked: bool,
    console: &Console,
    work: impl FnOnce(&mut dyn StageObserver) -> T,
) -> T {
    if !asked {
        return work(&mut NoObserver);
    }
    let mut timings = Timings::new();
    let done = work(&mut timings);
    console.message(&timings.text());
    done
}

#[derive(Debug)]
struct Timings {
    started: Instant,
    open: Vec<RunningStage>,
    rows: Vec<StageCost>,
}

impl Timings {
    fn new() -> Self {
        Timings {
            started: Instant::now(),
            open: Vec::new(),
            rows: vec![StageCost::default(); Stage::ALL.len()],
        }
    }

    /// Ends the innermost stage if it is this one; a stage without a `before` is not timed.
    fn end(&mut self, stage: Stage) -> Option<&mut StageCost> {
        let now = Instant::now();
        let open = self.open.pop_if(|open| open.stage == stage)?;
        let whole = now - open.since;
        if let Some(outer) = self.open.last_mut() {
            outer.inside += whole;
        }
        let at = Stage::ALL.iter().position(|&known| known == stage)?;
        let row = &mut self.rows[at];
        row.runs += 1;
        row.time += whole.saturating_sub(open.inside);
        row.peak = peak();
        Some(row)
    }

    /// Returns the table.
    fn text(&self) -> String {
        let all = self.started.elapsed();
        let mut text = String::from("\nstage          time   runs       peak  counts\n");
        let mut known = Duration::ZERO;
        for (stage, row) in Stage::ALL.iter().zip(&self.rows) {
            if row.runs == 0 {
                continue;
            }
            known += row.time;
            let mut counts = row.counts.clone();
            if row.refused > 0 {
                let joint = if counts.is_empty() { "" } else { ", " };
                counts.push_str(&format!("{joint}refused {}", row.refused));
            }
            text.push_str(&line(
                stage.name(),
                row.time,
                &row.runs.to_string(),
                row.peak,
                &counts,
            ));
        }
        text.push_str(&line("other", all.saturating_sub(known), "", None, ""));
        text.push_str(&line("all", all, "", peak(), ""));
        text
    }
}

fn line(name: &str, time: Duration, runs: &str, peak: Option<u64>, counts: &str) -> String {
    let time = duration(time.as_secs_f64());
    let peak = match (peak, name) {
        (_, "other") => String::new(),
        (None, _) => "-".to_string(),
        (Some(bytes), _) => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    let line = format!("{name:<10}{time:>9}{runs:>7}{peak:>11}  {counts}");
    format!("{}\n", line.trim_end())
}

impl StageObserver for Timings {
    fn before(&mut self, stage: Stage) {
        self.open.push(RunningStage {
            stage,
            since: Instant::now(),
            inside: Duration::ZERO,
        });
    }

    fn after(&mut self, stage: Stage, product: Product<'_>) {
        if let Some(row) = self.end(stage) {
            row.counts = counts(product);
        }
    }

    fn refused(&mut self, stage: Stage) {
        if let Some(row) = self.end(stage) {
            row.refused += 1;
        }
    }
}

fn counts(product: Product<'_>) -> String {
    let list: Vec<(&str, usize)> = match product {
        Product::Tree(loaded) => vec![
            ("files", loaded.trees.len()),
            (
                "items",
                loaded.trees.iter().map(|tree| tree.items.len()).sum(),
            ),
            (
                "nodes",
                loaded.trees.iter().map(|tree| tree.exprs.nodes.len()).sum(),
            ),
        ],
        Product::Classes(classes) => vec![("types", classes.list.len())],
        Product::Flat(flat) => {
            let mut list = vec![("instances", flat.instances.len())];
            list.extend(of_flat(flat));
            list.extend([
                ("states", flat.state_count()),
                ("eliminated", flat.eliminated.len()),
            ]);
            list
        }
        Product::Sorted(flat, sorted) => {
            let mut list = of_flat(flat).to_vec();
            list.extend(of_blocks(sorted));
            list
        }
        Product::Solved(solved) => {
            let loops = solved
                .blocks
                .iter()
                .filter(|block| block.unknowns().len() > 1);
            let mut list = of_flat(&solved.flat).to_vec();
            list.extend([("blocks", solved.blocks.len()), ("loops", loops.count())]);
            list
        }
        Product::Graph(found) => vec![
            ("nodes", found.graph.nodes.len()),
            ("bonds", found.graph.bonds.len()),
        ],
        Product::Program(program, _) => program.counts().to_vec(),
        Product::Counts(list) => list.to_vec(),
    };
    let texts = list.iter().map(|(what, count)| format!("{what} {count}"));
    texts.collect::<Vec<String>>().join(", ")
}

fn of_flat(flat: &Flat) -> [(&'static str, usize); 3] {
    [
        ("equations", flat.equation_count()),
        ("unknowns", flat.unknown_count()),
        ("nodes", flat.exprs.len()),
    ]
}

fn of_blocks(sorted: &Sorted) -> [(&'static str, usize); 2] {
    [
        ("blocks", sorted.blocks.len()),
        ("loops", sorted.loops().count()),
    ]
}

/// Returns the peak memory of the process so far, if the system provides it.
fn peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1024)
}
