//! Root loci: how poles move with a parameter.
//!
//! Before: poles for each value of the parameter. After: branches; a pole goes on to the nearest one at the next value, the
//! nearest pairs first. Where their number changes (another mode, a parameter that becomes zero), all branches begin anew.

use faer::c64;

/// One pole over the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Branch {
    /// The place of its first value.
    pub first: usize,
    pub poles: Vec<c64>,
}

/// `poles[k]` are those of the k-th value.
pub fn branches(poles: &[Vec<c64>]) -> Vec<Branch> {
    let mut found: Vec<Branch> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, now) in poles.iter().enumerate() {
        if now.len() != open.len() {
            open = (0..now.len()).map(|k| found.len() + k).collect();
            found.extend(now.iter().map(|&pole| Branch {
                first: at,
                poles: vec![pole],
            }));
            continue;
        }
        let last: Vec<c64> = open
            .iter()
            .filter_map(|&branch| found[branch].poles.last().copied())
            .collect();
        for (branch, pole) in open.iter().zip(nearest(&last, now)) {
            found[*branch].poles.push(pole);
        }
    }
    found
}

/// The next poles, in the order of those before.
fn nearest(before: &[c64], next: &[c64]) -> Vec<c64> {
    let mut pairs: Vec<(f64, usize, usize)> = (0..before.len())
        .flat_map(|a| (0..next.len()).map(move |b| (a, b)))
        .map(|(a, b)| ((before[a] - next[b]).norm(), a, b))
        .collect();
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let (mut to, mut taken) = (vec![None; before.len()], vec![false; next.len()]);
    for (_, a, b) in pairs {
        if to[a].is_none() && !taken[b] {
            (to[a], taken[b]) = (Some(next[b]), true);
        }
    }
    to.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::branches;
    use faer::c64;

    #[test]
    fn branches_follow_their_poles() {
        let of = |a: f64, b: f64| vec![c64::new(a, 0.0), c64::new(b, 0.0)];
        // The order in which poles come does not matter.
        let found = branches(&[of(-1.0, -5.0), of(-4.5, -1.2), of(-1.4, -4.0)]);
        let first: Vec<f64> = found[0].poles.iter().map(|pole| pole.re).collect();
        assert_eq!(first, [-1.0, -1.2, -1.4]);
        assert_eq!(found.len(), 2);
    }
}
