//! What is drawn together.
//!
//! Panels are lists of positions in the series. [`automatic`] makes them: variables of one unit whose
//! sizes differ by less than a thousand share a panel, booleans have one of their own, below the
//! others. A panel has at most 8 curves, more go to the next one; a picture has at most 5 panels,
//! what is beyond is left out and said. What the user grouped stays as grouped.

use super::{Trajectories, extent};

/// A panel with more curves than colours is hard to read.
pub const CURVES: usize = 8;
/// A picture with more panels does not fit a page.
pub const PANELS: usize = 5;
/// Curves whose sizes differ more do not share a panel: the smaller would look like zero.
const SPREAD: f64 = 1e3;

/// Panels as they were chosen, and what was left out, in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    pub panels: Vec<Vec<usize>>,
    pub note: Option<String>,
}

/// Panels for variables that nobody grouped.
pub fn automatic(data: &Trajectories) -> Choice {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut booleans = Vec::new();
    for (at, series) in data.series.iter().enumerate() {
        if series.boolean {
            booleans.push(at);
            continue;
        }
        let size = extent(series.values.iter().copied())
            .map_or(0.0, |(low, high)| low.abs().max(high.abs()));
        let unit = series.shown_unit();
        match groups.iter_mut().find(|group| group.admits(unit, size)) {
            Some(group) => group.add(at, size),
            None => groups.push(Group {
                unit,
                sizes: (size > 0.0).then_some((size, size)),
                members: vec![at],
            }),
        }
    }
    let mut panels = Vec::new();
    for members in groups.into_iter().map(|group| group.members) {
        // Nine are five and four, not eight and one.
        let parts = members.len().div_ceil(CURVES);
        let each = members.len().div_ceil(parts.max(1));
        panels.extend(members.chunks(each).map(<[usize]>::to_vec));
    }
    panels.extend(booleans.chunks(CURVES).map(<[usize]>::to_vec));
    limit(panels, data.series.len())
}

/// Panels for a family of curves: one variable each, as every run has its colour.
pub fn single(data: &Trajectories) -> Choice {
    let (booleans, reals): (Vec<usize>, Vec<usize>) =
        (0..data.series.len()).partition(|&at| data.series[at].boolean);
    let mut panels: Vec<Vec<usize>> = reals.into_iter().map(|at| vec![at]).collect();
    panels.extend(booleans.chunks(CURVES).map(<[usize]>::to_vec));
    limit(panels, data.series.len())
}

/// Panels as the user named them.
pub fn by_names(data: &Trajectories, names: &[Vec<String>]) -> Result<Vec<Vec<usize>>, String> {
    names
        .iter()
        .map(|panel| panel.iter().map(|name| find(data, name)).collect())
        .collect()
}

fn find(data: &Trajectories, name: &str) -> Result<usize, String> {
    let found = data.series.iter().position(|series| series.name == name);
    found.ok_or_else(|| {
        // The first of the nearest: the order is that of the columns.
        let near = data
            .series
            .iter()
            .map(|series| (strsim::damerau_levenshtein(&series.name, name), series))
            .filter(|(distance, _)| *distance <= name.chars().count().div_ceil(3))
            .min_by_key(|(distance, _)| *distance);
        match near {
            Some((_, series)) => {
                format!(
                    "`{name}` is not in the results; did you mean `{}`?",
                    series.name
                )
            }
            None => format!("`{name}` is not in the results"),
        }
    })
}

fn limit(mut panels: Vec<Vec<usize>>, total: usize) -> Choice {
    panels.truncate(PANELS);
    let shown: usize = panels.iter().map(Vec::len).sum();
    let note = (shown < total)
        .then(|| format!("{shown} of {total} variables are drawn; choose others by name"));
    Choice { panels, note }
}

struct Group<'a> {
    unit: Option<&'a str>,
    /// The smallest and the largest size; None while all are zero.
    sizes: Option<(f64, f64)>,
    members: Vec<usize>,
}

impl Group<'_> {
    fn admits(&self, unit: Option<&str>, size: f64) -> bool {
        let near = match self.sizes {
            Some((low, high)) if size > 0.0 => size / SPREAD <= low && high / SPREAD <= size,
            _ => true,
        };
        self.unit == unit && near
    }

    fn add(&mut self, at: usize, size: f64) {
        self.members.push(at);
        if size > 0.0 {
            let (low, high) = self.sizes.unwrap_or((size, size));
            self.sizes = Some((low.min(size), high.max(size)));
        }
    }
}
