//! Chooses which variables are drawn together in a panel.
//!
//! Panels are lists of indices of series. [`automatic`] makes them: variables of one unit whose
//! sizes differ by less than a factor of a thousand share a panel. Booleans have a panel of their
//! own, below the others. A panel has at most 8 curves; further curves get another panel. A picture
//! has at most 5 panels; a message reports what is left out. Panels that the user chose are not
//! changed.

use super::{Trajectories, extent};

/// A panel with more curves than colours is hard to read.
pub const CURVES: usize = 8;
/// A picture with more panels does not fit a page.
pub const PANELS: usize = 5;
/// Curves whose sizes differ more do not share a panel: the smaller would look like zero.
const SPREAD: f64 = 1e3;

/// The panels, and a message about what was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    pub panels: Vec<Vec<usize>>,
    pub note: Option<String>,
}

/// Chooses panels for variables that the user did not group.
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
        // Curves are distributed evenly: nine are five and four, not eight and one.
        let parts = members.len().div_ceil(CURVES);
        let each = members.len().div_ceil(parts.max(1));
        panels.extend(members.chunks(each).map(<[usize]>::to_vec));
    }
    panels.extend(booleans.chunks(CURVES).map(<[usize]>::to_vec));
    limit(panels, data.series.len())
}

/// Chooses panels for several runs: one variable each, because each run has its colour.
pub fn single(data: &Trajectories) -> Choice {
    let (booleans, reals): (Vec<usize>, Vec<usize>) =
        (0..data.series.len()).partition(|&at| data.series[at].boolean);
    let mut panels: Vec<Vec<usize>> = reals.into_iter().map(|at| vec![at]).collect();
    panels.extend(booleans.chunks(CURVES).map(<[usize]>::to_vec));
    limit(panels, data.series.len())
}

/// Returns panels of the variables that the user named.
pub fn by_names(data: &Trajectories, names: &[Vec<String>]) -> Result<Vec<Vec<usize>>, String> {
    names
        .iter()
        .map(|panel| panel.iter().map(|name| find(data, name)).collect())
        .collect()
}

fn find(data: &Trajectories, name: &str) -> Result<usize, String> {
    let found = data.series.iter().position(|series| series.name == name);
    found.ok_or_else(|| {
        // Of several nearest names this takes the first, in the order of the columns.
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
    /// The smallest and the largest size; `None` while all values are zero.
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
