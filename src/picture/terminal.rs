//! Plots in a terminal.
//!
//! Before: any trajectories and the size of the terminal. After: lines of text that fit. Curves are
//! drawn in braille characters (2 by 4 dots each) between axes with ticks, with a legend below.
//! Curves are distinguished by colours, or by dashes if there are no colours. The crate textplots
//! is not used: its numbers have single precision, and it has neither ticks nor a legend.

use super::scale::{Scale, Wish};
use super::thin::thinned;
use super::{Series, Trajectories, extent, panels};
use crate::base::diagnostics::visible::picture;

/// More curves are hard to distinguish.
pub const CURVES: usize = 4;
/// The smallest size of a plot, in columns and lines.
const LEAST: (usize, usize) = (28, 8);

/// Terminal codes (of 256 colours) that are similar to the colours of the SVG.
const COLOURS: [&str; CURVES] = ["38;5;32", "38;5;166", "38;5;36", "38;5;175"];
/// The dash pattern of each curve: which dots are set.
const DASHES: [&[bool]; CURVES] = [
    &[true],
    &[true, false, false],
    &[true, true, true, true, true, false, false, false],
    &[
        true, true, true, true, false, false, false, true, false, false, false,
    ],
];

/// Chooses the variables of a plot if the user chose none: the first that fit together.
pub fn chosen(data: &Trajectories) -> Vec<usize> {
    let panels = panels::automatic(data).panels;
    let mut first = panels.into_iter().next().unwrap_or_default();
    first.truncate(CURVES);
    first
}

/// Plots the series with the indices `which`, at most 4 of them, in a terminal of `size` columns
/// and lines.
pub fn plot(
    title: &str,
    data: &Trajectories,
    which: &[usize],
    size: (usize, usize),
    colour: bool,
) -> String {
    plot_over(None, title, data, which, size, colour)
}

/// The same over another axis than Time, by its name.
pub fn plot_over(
    axis: Option<&str>,
    title: &str,
    data: &Trajectories,
    which: &[usize],
    size: (usize, usize),
    colour: bool,
) -> String {
    let shown: Vec<&Series> = which
        .iter()
        .filter_map(|&at| data.series.get(at))
        .take(CURVES)
        .collect();
    let (width, height) = (size.0.max(LEAST.0), size.1.max(LEAST.1));
    // If there are only booleans, each has a lane, one above the other.
    let lanes = !shown.is_empty() && shown.iter().all(|series| series.boolean);
    let values = shown
        .iter()
        .flat_map(|series| series.values.iter().copied());
    let (low, high) = match lanes {
        true => (0.0, shown.len() as f64),
        false => extent(values).unwrap_or((0.0, 1.0)),
    };
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(cut(title, width));
    }
    let rows = height.saturating_sub(lines.len() + 2);
    let scale = Scale::new(low, high, wish((rows / 3).clamp(2, 8), 1e-6));
    let (start, end) = extent(data.times.iter().copied()).unwrap_or((0.0, 1.0));
    let time = Scale::new(start, end, wish((width / 14).clamp(2, 8), 1e-12));
    let name = axis.map_or_else(|| time_name(data, &time), str::to_string);
    let legend = legend(&shown, &scale, &name, width, colour);
    let rows = rows.saturating_sub(legend.len()).max(3);
    let ticks = match lanes {
        true => lane_names(&shown, rows),
        false => tick_rows(&scale, rows),
    };
    let labels = ticks.iter().flatten().map(|label| label.chars().count());
    let margin = labels.max().unwrap_or(0).min(width / 3);
    let columns = width - margin - 2;
    let mut canvas = Canvas::new(columns, rows);
    for (at, series) in shown.iter().enumerate() {
        let dash = if colour || lanes {
            DASHES[0]
        } else {
            DASHES[at]
        };
        let lane = lanes.then_some((at, shown.len()));
        canvas.curve(at, &data.times, series, (&time, &scale, lane), dash);
    }
    for (row, tick) in ticks.iter().enumerate() {
        let line = match tick {
            Some(label) => format!("{:>margin$} ┤", cut(label, margin)),
            None => format!("{:>margin$} │", ""),
        };
        let line = format!("{line}{}", canvas.row(row, colour));
        lines.push(line.trim_end().to_string());
    }
    lines.extend(time_axis(&time, columns, margin));
    lines.extend(legend);
    lines.join("\n") + "\n"
}

fn wish(ticks: usize, least: f64) -> Wish {
    Wish {
        padding: 0.0,
        ticks,
        least,
    }
}

fn time_name(data: &Trajectories, time: &Scale) -> String {
    let unit = data.series.iter().any(|s| s.shown_unit().is_some());
    let unit = time.unit(unit.then_some("s"));
    unit.map_or("Time".to_string(), |unit| format!("Time [{unit}]"))
}

fn cut(text: &str, width: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| match picture(c) {
            Some(shown) => shown,
            None if c.is_control() => ' ',
            None => c,
        })
        .collect();
    if text.chars().count() <= width {
        return text;
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns the label of each row, from the top.
fn tick_rows(scale: &Scale, rows: usize) -> Vec<Option<&str>> {
    let mut found = vec![None; rows];
    for (&tick, label) in scale.ticks.iter().zip(&scale.labels) {
        let dot = place(scale.part_of_scaled(tick), rows * 4);
        found[rows - 1 - dot / 4] = Some(label.as_str());
    }
    found
}

/// Returns the labels for lanes: a name at the middle of each lane.
fn lane_names<'a>(shown: &[&'a Series], rows: usize) -> Vec<Option<&'a str>> {
    let mut found = vec![None; rows];
    for (at, series) in shown.iter().enumerate() {
        found[(2 * at + 1) * rows / (2 * shown.len())] = Some(series.name.as_str());
    }
    found
}

/// Returns the dot for a relative position on an axis that has `count` dots.
fn place(part: f64, count: usize) -> usize {
    (part * (count - 1) as f64).round() as usize
}

/// Returns the line under the plot, and the labels under it as far as they fit.
fn time_axis(time: &Scale, columns: usize, margin: usize) -> [String; 2] {
    let mut axis: Vec<char> = vec!['─'; columns];
    let mut labels: Vec<char> = Vec::new();
    let before = margin + 2;
    for (&tick, label) in time.ticks.iter().zip(&time.labels) {
        let column = place(time.part_of_scaled(tick), columns * 2) / 2;
        axis[column] = '┬';
        let length = label.chars().count();
        let from = (before + column).saturating_sub(length / 2);
        let from = from.min((before + columns).saturating_sub(length));
        if labels.is_empty() || labels.len() < from {
            labels.resize(from, ' ');
            labels.extend(label.chars());
        }
    }
    let axis: String = axis.into_iter().collect();
    [
        format!("{:>margin$} └{axis}", ""),
        labels.into_iter().collect(),
    ]
}

/// Returns the names of the curves; the name of the time axis is at the right.
fn legend(shown: &[&Series], scale: &Scale, time: &str, width: usize, colour: bool) -> Vec<String> {
    let lanes = shown.iter().all(|series| series.boolean);
    let samples = ["⠒⠒⠒", "⠂⠐ ", "⠒⠂⠒", "⠒ ⠂"];
    let mut lines: Vec<(String, usize)> = Vec::new();
    // Names of lanes are at the left of the plot.
    for (at, series) in shown.iter().enumerate().filter(|_| !lanes) {
        let unit = scale.unit(series.shown_unit());
        let name = match unit {
            Some(unit) => format!("{} [{unit}]", series.name),
            None => series.name.clone(),
        };
        let name = cut(&name, width - 8);
        let length = 4 + name.chars().count();
        let sample = match colour {
            true => painted(at, samples[0]),
            false => samples[at].to_string(),
        };
        let entry = format!("{sample} {name}");
        match lines.last_mut() {
            Some((line, used)) if *used + 3 + length <= width => {
                line.push_str("   ");
                line.push_str(&entry);
                *used += 3 + length;
            }
            _ => lines.push((format!("  {entry}"), 2 + length)),
        }
    }
    if shown.is_empty() {
        lines.push(("  nothing to draw".to_string(), 17));
    }
    let length = time.chars().count();
    match lines.first_mut() {
        Some((line, used)) if *used + 3 + length <= width => {
            line.push_str(&" ".repeat(width - *used - length));
            line.push_str(time);
        }
        _ => lines.insert(0, (format!("{time:>width$}"), width)),
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

fn painted(curve: usize, text: &str) -> String {
    format!("\u{1b}[{}m{text}\u{1b}[0m", COLOURS[curve])
}

/// Characters of 2 by 4 dots, each with the last curve that was drawn in it.
struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<(u8, usize)>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Canvas {
        Canvas {
            columns,
            rows,
            cells: vec![(0, 0); columns * rows],
        }
    }

    fn curve(
        &mut self,
        curve: usize,
        times: &[f64],
        series: &Series,
        (time, scale, lane): (&Scale, &Scale, Option<(usize, usize)>),
        dash: &[bool],
    ) {
        let (wide, high) = (self.columns * 2, self.rows * 4);
        let mut drawn = 0;
        let mut before: Option<(usize, usize)> = None;
        for at in thinned(times, &series.values, wide * 5) {
            if !times[at].is_finite() {
                before = None;
                continue;
            }
            let x = place(time.part(times[at]), wide);
            // A boolean has kept its value until this time.
            if let (true, Some((from, level))) = (series.boolean, before) {
                self.line(curve, (from, level), (x, level), dash, &mut drawn);
                before = Some((x, level));
            }
            if !series.values[at].is_finite() {
                before = None;
                continue;
            }
            let part = match lane {
                None => scale.part(series.values[at]),
                Some((lane, count)) => {
                    let level = 0.2 + 0.6 * series.values[at].clamp(0.0, 1.0);
                    ((count - 1 - lane) as f64 + level) / count as f64
                }
            };
            let y = high - 1 - place(part, high);
            self.line(curve, before.unwrap_or((x, y)), (x, y), dash, &mut drawn);
            before = Some((x, y));
        }
    }

    /// Sets all dots between two points except the first, which the previous line has set.
    fn line(
        &mut self,
        curve: usize,
        from: (usize, usize),
        to: (usize, usize),
        dash: &[bool],
        drawn: &mut usize,
    ) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
        let between = |from: usize, to: usize, part: f64| {
            (from as f64 + (to as f64 - from as f64) * part).round() as usize
        };
        let first = if *drawn == 0 || steps == 0 { 0 } else { 1 };
        for step in first..=steps {
            let part = step as f64 / steps.max(1) as f64;
            if dash[*drawn % dash.len()] {
                self.dot(
                    curve,
                    between(from.0, to.0, part),
                    between(from.1, to.1, part),
                );
            }
            // Points on the same dot do not advance the dash pattern.
            if steps > 0 {
                *drawn += 1;
            }
        }
    }

    fn dot(&mut self, curve: usize, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let cell = &mut self.cells[y / 4 * self.columns + x / 2];
        cell.0 |= BITS[y % 4][x % 2];
        cell.1 = curve;
    }

    fn row(&self, row: usize, colour: bool) -> String {
        let mut out = String::new();
        for &(bits, curve) in &self.cells[row * self.columns..(row + 1) * self.columns] {
            let dots = char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' ');
            match (bits, colour) {
                (0, _) => out.push(' '),
                (_, true) => out.push_str(&painted(curve, &dots.to_string())),
                (_, false) => out.push(dots),
            }
        }
        out.trim_end().to_string()
    }
}
