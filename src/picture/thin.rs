//! Reduces the points of a curve without changing its picture.
//!
//! Before: a curve of any length. After: indices of about `most` of its points at most. The time
//! axis is divided into columns. Each column keeps its first, least, greatest and last value, so
//! that no peak is lost, and one value that is not finite, so that a gap remains.

/// The largest number of points that a column keeps.
const KEPT: usize = 5;

/// Returns the indices of the points to draw, in order.
pub fn thinned(times: &[f64], values: &[f64], most: usize) -> Vec<usize> {
    let count = times.len().min(values.len());
    if count <= most {
        return (0..count).collect();
    }
    let columns = (most / KEPT).max(1);
    let (first, last) = (times[0], times[count - 1]);
    // Halves are subtracted, because the difference of two large numbers of opposite sign may be
    // infinite.
    let span = last / 2.0 - first / 2.0;
    let column = |at: usize| {
        let part = (times[at] / 2.0 - first / 2.0) / span;
        // For NaN the conversion gives 0.
        ((part * columns as f64) as usize).min(columns - 1)
    };
    let mut kept = Vec::with_capacity(most);
    let mut start = 0;
    while start < count {
        let here = column(start);
        let mut end = start + 1;
        while end < count && column(end) == here {
            end += 1;
        }
        keep(values, start, end, &mut kept);
        start = end;
    }
    kept
}

/// Appends the points of one column, from `start` to before `end`.
fn keep(values: &[f64], start: usize, end: usize, kept: &mut Vec<usize>) {
    let mut gap = None;
    let mut ends: Option<[usize; 4]> = None;
    for at in start..end {
        let value = values[at];
        if !value.is_finite() {
            gap = gap.or(Some(at));
            continue;
        }
        let [_, least, greatest, last] = ends.get_or_insert([at; 4]);
        if value < values[*least] {
            *least = at;
        }
        if value > values[*greatest] {
            *greatest = at;
        }
        *last = at;
    }
    let from = kept.len();
    kept.extend(ends.into_iter().flatten().chain(gap));
    kept[from..].sort_unstable();
    let mut unique = from;
    for at in from..kept.len() {
        if at == from || kept[at] != kept[unique - 1] {
            kept[unique] = kept[at];
            unique += 1;
        }
    }
    kept.truncate(unique);
}
