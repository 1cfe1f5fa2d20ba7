//! Trajectories as an SVG picture for a report.
//!
//! Before: any trajectories, also empty ones and ones with values that are not finite. After: SVG
//! text, the same for the same data, in which everything lies inside the view box. [`figure`]
//! decides what is shown, this file decides the coordinates, [`draw`] and [`legend`] write the
//! text.
//!
//! The crate plotters is not used: its backends have whole pixels as coordinates, which makes
//! curves jagged, and without font files it cannot lay out a legend.

pub(super) mod colour;
mod curve;
mod draw;
mod figure;
mod legend;

pub mod text;

use super::{Run, Trajectories, panels, scale};
use figure::{Figure, Source};

/// The width of the picture, unless its texts need more.
const WIDTH: f64 = 800.0;
/// The least width of the plot itself.
const LEAST_PLOT: f64 = 460.0;
const GAP: f64 = 16.0;

/// Plots one run. Without `groups` (lists of indices of series) panels are chosen by
/// [`panels::automatic`].
pub fn plot(
    title: &str,
    data: &Trajectories,
    groups: Option<&[Vec<usize>]>,
) -> Result<String, String> {
    let choice = match groups {
        Some(groups) => given(groups),
        None => panels::automatic(data),
    };
    let source = Source {
        label: "",
        parameters: &[],
        data,
    };
    picture(title, &[source], &choice)
}

/// Plots a sweep: the curves of all runs, with a colour for each run. Runs have the same series.
/// Without `groups` every variable has its own panel.
pub fn plot_runs(
    title: &str,
    runs: &[Run],
    groups: Option<&[Vec<usize>]>,
) -> Result<String, String> {
    let nothing = Trajectories::default();
    let first = runs.first().map_or(&nothing, |run| &run.result);
    let choice = match groups {
        Some(groups) => given(groups),
        None => panels::single(first),
    };
    let names = |data: &Trajectories| -> Vec<String> {
        data.series.iter().map(|s| s.name.clone()).collect()
    };
    if runs.iter().any(|run| names(&run.result) != names(first)) {
        return Err("the runs of the sweep have different variables".to_string());
    }
    let sources: Vec<Source<'_>> = runs
        .iter()
        .map(|run| Source {
            label: &run.label,
            parameters: &run.parameters,
            data: &run.result,
        })
        .collect();
    picture(title, &sources, &choice)
}

fn given(groups: &[Vec<usize>]) -> panels::Choice {
    panels::Choice {
        panels: groups.to_vec(),
        note: None,
    }
}

fn picture(title: &str, sources: &[Source<'_>], choice: &panels::Choice) -> Result<String, String> {
    let figure = Figure::new(sources, choice)?;
    let layout = Layout::new(title, &figure);
    Ok(draw::write(title, &figure, &layout))
}

/// The coordinates of the parts of a picture, in pixels.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The left and right sides of all panels.
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// Where the labels of the value axes are.
    pub(crate) label: f64,
    /// Top and bottom of each panel.
    pub(crate) panels: Vec<(f64, f64)>,
    pub(crate) time: scale::Scale,
}

impl Layout {
    fn new(title: &str, figure: &Figure<'_>) -> Layout {
        let widest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
        let ticks = widest(&mut figure.panels.iter().map(|panel| panel.tick_width()));
        let lanes = widest(&mut figure.panels.iter().map(|panel| panel.lane_width()));
        let labelled = figure.panels.iter().any(|panel| panel.label.is_some());
        let label = if labelled { draw::LABEL + 10.0 } else { 0.0 };
        let left = (21.0 + (label + ticks).max(lanes)).max(40.0);
        let legend = widest(&mut figure.panels.iter().map(|panel| panel.legend.width()));
        // Half of the last label of the time axis may reach over the end.
        let after = if legend > 0.0 { legend + GAP } else { 28.0 };
        let right = (WIDTH - after).max(left + LEAST_PLOT);
        let mut top = if title.is_empty() { 16.0 } else { 44.0 };
        let mut places = Vec::new();
        for panel in &figure.panels {
            places.push((top, top + panel.height));
            top += panel.height + GAP;
        }
        let bottom = top - GAP + 20.0 + draw::LABEL + 12.0;
        let note = if figure.note.is_some() { 22.0 } else { 0.0 };
        Layout {
            width: right + after,
            height: (bottom + note + 6.0).ceil(),
            left,
            right,
            label: left - 9.0 - ticks - 11.0,
            panels: places,
            time: figure.time_scale(right - left),
        }
    }
}
