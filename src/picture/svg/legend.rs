//! Legends: to the right of a panel, where they hide no curve.
//!
//! Names of variables come first. If there are several runs, they follow: all of them up to 8,
//! otherwise a bar of all colours with the first, the middle and the last value.

use super::figure::Source;
use super::text::{self, Anchor, Words, coordinate};
use super::{colour, draw};
use std::fmt::Write;

const MOST_RUNS: usize = 8;
const LINE: f64 = 20.0;
const SAMPLE: f64 = 24.0;
const BAR: f64 = 120.0;
const BAR_WIDTH: f64 = 14.0;
/// Longer names are shortened; a tooltip shows the whole name.
const WIDEST: f64 = 230.0;

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) colour: String,
    pub(crate) dash: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(crate) struct Legend {
    pub(crate) lines: Vec<Entry>,
    runs: Option<Runs>,
}

#[derive(Debug)]
struct Runs {
    header: String,
    /// The colours of all runs.
    colours: Vec<String>,
    /// A label for each run, or for the first, the middle and the last.
    labels: Vec<String>,
}

impl Legend {
    pub(crate) fn add_runs(&mut self, sources: &[Source<'_>], tints: bool) {
        let count = sources.len();
        let colours = (0..count).map(|run| match tints {
            true => colour::grey(run, count),
            false => colour::ramp(run, count),
        });
        let (header, mut labels) = named(sources);
        if count > MOST_RUNS {
            labels = [0, (count - 1) / 2, count - 1]
                .map(|at| labels[at].clone())
                .to_vec();
        }
        self.runs = Some(Runs {
            header,
            colours: colours.collect(),
            labels,
        });
    }

    pub(crate) fn width(&self) -> f64 {
        let lines = self.lines.iter().map(|entry| entry.text.as_str());
        let runs = self.runs.iter().flat_map(|runs| &runs.labels);
        let texts = lines.chain(runs.map(String::as_str));
        let texts = texts.map(|text| SAMPLE + 8.0 + text::width(text, draw::TICK).min(WIDEST));
        let headers = self.runs.iter();
        let headers = headers.map(|runs| text::width(&runs.header, draw::TICK).min(WIDEST));
        let widest = texts.chain(headers).fold(0.0, f64::max);
        if widest > 0.0 { widest + 14.0 } else { 0.0 }
    }

    pub(crate) fn height(&self) -> f64 {
        let lines = LINE * self.lines.len() as f64;
        let runs = self.runs.as_ref().map_or(0.0, |runs| {
            let gap = if self.lines.is_empty() { 0.0 } else { 8.0 };
            let inner = match runs.is_bar() {
                true => BAR + 16.0,
                false => LINE * runs.labels.len() as f64,
            };
            gap + LINE + inner
        });
        lines + runs
    }

    pub(crate) fn write(&self, left: f64, top: f64, out: &mut String) {
        let mut y = top + LINE / 2.0;
        for entry in &self.lines {
            sample(left, y, &entry.colour, entry.dash, out);
            words(left + SAMPLE + 8.0, y, &entry.text, out);
            y += LINE;
        }
        let Some(runs) = &self.runs else {
            return;
        };
        if !self.lines.is_empty() {
            y += 8.0;
        }
        words(left, y, &runs.header, out);
        y += LINE;
        if runs.is_bar() {
            runs.write_bar(left, y - 4.0, out);
            return;
        }
        for (label, colour) in runs.labels.iter().zip(&runs.colours) {
            sample(left, y, colour, None, out);
            words(left + SAMPLE + 8.0, y, label, out);
            y += LINE;
        }
    }
}

impl Runs {
    fn is_bar(&self) -> bool {
        self.colours.len() > MOST_RUNS
    }

    /// Writes the bar. The first run is at the top, as in a legend of lines.
    fn write_bar(&self, left: f64, top: f64, out: &mut String) {
        // More stripes than this cannot be distinguished.
        let stripes = self.colours.len().min(60);
        for stripe in 0..stripes {
            let run = stripe * (self.colours.len() - 1) / (stripes - 1);
            let from = top + BAR * stripe as f64 / stripes as f64;
            let to = top + BAR * (stripe + 1) as f64 / stripes as f64;
            // The stripes overlap a little, because seams between them would be visible.
            let overlap = if stripe + 1 < stripes { 0.6 } else { 0.0 };
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{BAR_WIDTH}\" height=\"{}\" fill=\"{}\"/>",
                coordinate(left),
                coordinate(from),
                coordinate(to - from + overlap),
                self.colours[run]
            );
        }
        let half = BAR / stripes as f64 / 2.0;
        let middle = (self.colours.len() - 1) / 2;
        let part = middle as f64 / (self.colours.len() - 1) as f64;
        for (label, part) in self.labels.iter().zip([0.0, part, 1.0]) {
            let y = top + half + (BAR - 2.0 * half) * part;
            let (x, line) = (left + BAR_WIDTH, coordinate(y));
            let _ = writeln!(
                out,
                "<line x1=\"{}\" y1=\"{line}\" x2=\"{}\" y2=\"{line}\" stroke=\"{}\"/>",
                coordinate(x),
                coordinate(x + 5.0),
                colour::FRAME
            );
            words(x + 10.0, y, label, out);
        }
    }
}

fn sample(x: f64, y: f64, colour: &str, dash: Option<&str>, out: &mut String) {
    let dash = dash.map_or(String::new(), |dash| {
        format!(" stroke-dasharray=\"{dash}\"")
    });
    let y = coordinate(y);
    let _ = writeln!(
        out,
        "<line x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"2.2\"{dash}/>",
        coordinate(x),
        coordinate(x + SAMPLE),
    );
}

fn words(x: f64, y: f64, whole: &str, out: &mut String) {
    let short = text::shortened(whole, draw::TICK, WIDEST);
    let mut words = Words::at(x, y + draw::TICK * 0.35, draw::TICK, Anchor::Start, &short);
    words.whole = whole;
    words.write(out);
}

/// Returns the parameter in which the runs differ, and a label for each run.
fn named(sources: &[Source<'_>]) -> (String, Vec<String>) {
    let one = |source: &Source<'_>| match source.parameters {
        [(name, value)] => Some((name.clone(), *value)),
        _ => None,
    };
    let single: Option<Vec<(String, f64)>> = sources.iter().map(one).collect();
    if let Some(single) = single
        && let Some((name, _)) = single.first()
        && single.iter().all(|(other, _)| other == name)
    {
        let values: Vec<f64> = single.iter().map(|(_, value)| *value).collect();
        return (name.clone(), distinct(&values));
    }
    let label = |(at, source): (usize, &Source<'_>)| match source.label {
        "" => format!("run {}", at + 1),
        label => label.to_string(),
    };
    let labels = sources.iter().enumerate().map(label).collect();
    ("Runs".to_string(), labels)
}

/// Formats values with three digits, or as many as are needed to distinguish neighbours.
fn distinct(values: &[f64]) -> Vec<String> {
    let mut labels = Vec::new();
    for digits in 2..17 {
        labels = values.iter().map(|value| short(*value, digits)).collect();
        let mut pairs = labels.windows(2).zip(values.windows(2));
        if pairs.all(|(text, value)| text[0] != text[1] || value[0] == value[1]) {
            break;
        }
    }
    labels
}

fn short(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.digits$e}").parse().unwrap_or(value);
    let mut text = Vec::new();
    crate::base::words::number(rounded, &mut text);
    String::from_utf8_lossy(&text).replacen('-', "\u{2212}", 1)
}
