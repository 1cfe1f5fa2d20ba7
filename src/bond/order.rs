//! Natural order of names: `R2` before `R10`.

use crate::base::cancel::glance;
use std::cmp::Ordering;

/// Compares texts, with digits in them compared as numbers. Returns `Equal` only for equal texts.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    loop {
        glance();
        let (Some(c), Some(d)) = (x.chars().next(), y.chars().next()) else {
            return (x.len().cmp(&y.len())).then_with(|| a.cmp(b));
        };
        if c.is_ascii_digit() && d.is_ascii_digit() {
            let digits = |text: &str| {
                text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
            };
            let (m, rest_x) = x.split_at(digits(x));
            let (n, rest_y) = y.split_at(digits(y));
            let (m, n) = (m.trim_start_matches('0'), n.trim_start_matches('0'));
            // Of two numbers without leading zeros the longer one is larger.
            let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
            if order != Ordering::Equal {
                return order;
            }
            (x, y) = (rest_x, rest_y);
        } else if c == d {
            (x, y) = (&x[c.len_utf8()..], &y[d.len_utf8()..]);
        } else {
            return c.cmp(&d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["R10", "R2", "c[12].R", "c[9].R", "C", "R02", "R"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["C", "R", "R02", "R2", "R10", "c[9].R", "c[12].R"]);
    }
}
