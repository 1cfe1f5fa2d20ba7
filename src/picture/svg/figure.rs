//! The content of a picture: panels with their curves, axes, labels and legends.
//!
//! Before: runs, and panels as lists of indices of series. After: everything that does not depend
//! on coordinates. A panel of booleans has a lane for each, as in a logic analyser. A boolean in a
//! panel of numbers is a step between 0 and 1.

use super::legend::{Entry, Legend};
use super::{colour, draw, text};
use crate::picture::panels::Choice;
use crate::picture::scale::{Scale, Wish};
use crate::picture::{Series, Trajectories, extent};

/// One run of a picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) label: &'a str,
    pub(crate) parameters: &'a [(String, f64)],
    pub(crate) data: &'a Trajectories,
}

#[derive(Debug)]
pub(crate) struct Figure<'a> {
    pub(crate) panels: Vec<Panel<'a>>,
    pub(crate) note: Option<&'a str>,
    pub(crate) time_label: Option<&'static str>,
    times: (f64, f64),
}

#[derive(Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) scale: Scale,
    /// The names of lanes, from the top; empty in a panel of numbers.
    pub(crate) lanes: Vec<&'a str>,
    pub(crate) label: Option<String>,
    pub(crate) curves: Vec<Curve<'a>>,
    pub(crate) legend: Legend,
    pub(crate) height: f64,
}

#[derive(Debug)]
pub(crate) struct Curve<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) values: &'a [f64],
    pub(crate) step: bool,
    pub(crate) lane: Option<usize>,
    pub(crate) colour: String,
    pub(crate) dash: Option<&'static str>,
}

const LANE: f64 = 30.0;
/// The names of lanes are in the margin, and may be this wide at most.
pub(crate) const LANE_NAME: f64 = 150.0;

impl<'a> Figure<'a> {
    pub(crate) fn new(sources: &[Source<'a>], choice: &'a Choice) -> Result<Figure<'a>, String> {
        let count = sources.first().map_or(0, |s| s.data.series.len());
        if let Some(at) = choice.panels.iter().flatten().find(|&&at| at >= count) {
            return Err(format!("there is no variable {} of {count}", at + 1));
        }
        let groups: Vec<&[usize]> = choice
            .panels
            .iter()
            .map(Vec::as_slice)
            .filter(|group| !group.is_empty())
            .collect();
        let height = match groups.len() {
            0 | 1 => 380.0,
            2 => 230.0,
            3 => 180.0,
            _ => 150.0,
        };
        let mut panels: Vec<Panel<'a>> = Vec::new();
        for group in groups {
            let first = panels.is_empty();
            panels.push(Panel::new(sources, group, height, first));
        }
        if panels.is_empty() {
            panels.push(Panel::new(sources, &[], height, true));
        }
        let times = sources.iter().flat_map(|s| s.data.times.iter().copied());
        let mut series = sources.iter().flat_map(|s| &s.data.series);
        Ok(Figure {
            panels,
            note: choice.note.as_deref(),
            // Units are SI units, so if the variables have units, the time is in seconds.
            time_label: series.any(|s| s.shown_unit().is_some()).then_some("s"),
            times: extent(times).unwrap_or((0.0, 1.0)),
        })
    }

    /// Returns the time axis with as many ticks as there is room for labels.
    pub(crate) fn time_scale(&self, width: f64) -> Scale {
        let (low, high) = self.times;
        let mut ticks = 10;
        loop {
            let scale = Scale::new(
                low,
                high,
                Wish {
                    padding: 0.0,
                    ticks,
                    least: 1e-12,
                },
            );
            let labels = scale.labels.iter();
            let needed: f64 = labels.map(|l| text::width(l, draw::TICK) + 14.0).sum();
            if needed <= width || ticks <= 2 {
                return scale;
            }
            ticks -= 1;
        }
    }
}

impl<'a> Panel<'a> {
    /// `first`: only the topmost panel has a legend of the runs.
    fn new(sources: &[Source<'a>], group: &[usize], height: f64, first: bool) -> Panel<'a> {
        let family = sources.len() > 1;
        let shown: Vec<&Series> = match sources.first() {
            Some(source) => group.iter().map(|&at| &source.data.series[at]).collect(),
            None => Vec::new(),
        };
        let in_lanes = !shown.is_empty() && shown.iter().all(|series| series.boolean);
        let tints = family && shown.len() > 1 && !in_lanes;
        let mut curves = Vec::new();
        for (variable, &at) in group.iter().enumerate() {
            for (run, source) in sources.iter().enumerate() {
                let series = &source.data.series[at];
                let colour = match (family, tints) {
                    (false, _) => colour::curve(variable),
                    (true, false) => colour::ramp(run, sources.len()),
                    (true, true) => colour::tint(variable, run, sources.len()),
                };
                curves.push(Curve {
                    times: &source.data.times,
                    values: &series.values,
                    step: series.boolean,
                    lane: in_lanes.then_some(variable),
                    colour,
                    dash: if in_lanes {
                        None
                    } else {
                        colour::dash(variable)
                    },
                });
            }
        }
        let mut panel = Panel {
            scale: value_scale(&curves, height),
            lanes: Vec::new(),
            label: None,
            curves,
            legend: Legend::default(),
            height,
        };
        if in_lanes {
            let names = group
                .iter()
                .filter_map(|&at| sources.first().map(|s| (s, at)));
            panel.lanes = names
                .map(|(source, at)| source.data.series[at].name.as_str())
                .collect();
            panel.height = LANE * panel.lanes.len() as f64 + 8.0;
        } else {
            panel.name(&shown);
        }
        if family && first {
            panel.legend.add_runs(sources, tints);
        }
        panel.height = panel.height.max(panel.legend.height());
        panel
    }

    /// Sets the label of the axis, and names in the legend if the label cannot contain them.
    fn name(&mut self, shown: &[&Series]) {
        let bracketed = |unit: Option<String>| unit.map(|unit| format!("[{unit}]"));
        let [first, more @ ..] = shown else {
            return;
        };
        let same = more.iter().all(|s| s.shown_unit() == first.shown_unit());
        let unit = if same { first.shown_unit() } else { None };
        self.label = bracketed(self.scale.unit(unit));
        if more.is_empty() {
            let whole = match &self.label {
                Some(unit) => format!("{} {unit}", first.name),
                None => first.name.clone(),
            };
            if text::width(&whole, draw::LABEL) <= self.height {
                self.label = Some(whole);
                return;
            }
        }
        for (at, series) in shown.iter().enumerate() {
            let unit = if same { None } else { series.shown_unit() };
            self.legend.lines.push(Entry {
                text: match unit {
                    Some(unit) => format!("{} [{unit}]", series.name),
                    None => series.name.clone(),
                },
                colour: colour::curve(at),
                dash: colour::dash(at),
            });
        }
    }

    /// Returns the width of the labels of ticks.
    pub(crate) fn tick_width(&self) -> f64 {
        if !self.lanes.is_empty() {
            return 0.0;
        }
        let ticks = self.scale.labels.iter();
        let ticks = ticks.map(|label| text::width(label, draw::TICK));
        ticks.fold(0.0, f64::max)
    }

    /// Returns the width of the names of lanes.
    pub(crate) fn lane_width(&self) -> f64 {
        let lanes = self.lanes.iter();
        let lanes = lanes.map(|name| text::width(name, draw::TICK).min(LANE_NAME));
        lanes.fold(0.0, f64::max)
    }
}

fn value_scale(curves: &[Curve<'_>], height: f64) -> Scale {
    let values = curves.iter().flat_map(|curve| curve.values.iter().copied());
    let (low, high) = extent(values).unwrap_or((0.0, 1.0));
    let wish = Wish {
        padding: 0.06,
        ticks: ((height / 36.0) as usize).clamp(4, 8),
        least: 1e-6,
    };
    Scale::new(low, high, wish)
}
