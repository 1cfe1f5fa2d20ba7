//! Sweeps: a parameter and its values, one run for each value.
//!
//! `R1.R=10,20,50` lists the values; `R1.R=1..100/12` means 12 values from 1 to 100 at equal distances, `R1.R=1..100/12log`
//! at equal ratios.

use crate::base::source::Span;
use crate::flat::VarId;

/// A parameter of the model with its values, in the order given.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    pub variable: VarId,
    pub name: String,
    pub values: Vec<f64>,
    pub span: Span,
}

pub(super) const SYNTAX_HINT: &str =
    "write `R1.R=10,20,50`, or `R1.R=1..100/12` for 12 values, or `R1.R=1..100/12log`";

/// More values than this are taken for a mistake.
const MOST: usize = 1_000_000;

/// Reads the name and the values of `R1.R=1..100/12log`.
pub fn read(text: &str) -> Result<(&str, Vec<f64>), String> {
    let (name, values) = (text.split_once('='))
        .ok_or_else(|| "a sweep needs a parameter and its values".to_string())?;
    let (name, values) = (name.trim_end(), values.trim());
    if name.trim().is_empty() {
        return Err("the sweep names no parameter".to_string());
    }
    if values.is_empty() {
        return Err(format!("the sweep of `{}` has no values", name.trim()));
    }
    let values = match values.split_once("..") {
        None => list(values)?,
        Some((from, rest)) => range(from, rest)?,
    };
    Ok((name, values))
}

fn list(text: &str) -> Result<Vec<f64>, String> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 1 && parts.last() == Some(&"") {
        parts.pop();
    }
    parts.into_iter().map(number).collect()
}

fn range(from: &str, rest: &str) -> Result<Vec<f64>, String> {
    let (to, how) = (rest.split_once('/'))
        .ok_or_else(|| "how many values? Their number follows a slash".to_string())?;
    let (from, to) = (number(from)?, number(to)?);
    let (count, logarithmic) = match how.trim().strip_suffix("log") {
        Some(count) => (count.trim(), true),
        None => (how.trim(), false),
    };
    let count: usize = count
        .parse()
        .map_err(|_| format!("`{count}` is not a number of values"))?;
    if count == 0 {
        return Err("the sweep has no values".to_string());
    }
    if count > MOST {
        return Err(format!("{count} values are too many: at most {MOST}"));
    }
    if logarithmic && (from <= 0.0 || to <= 0.0) {
        return Err("both ends of a logarithmic sweep have to be larger than zero".to_string());
    }
    if count == 1 && from != to {
        return Err("a single value cannot reach from one end to the other".to_string());
    }
    let at = |step: usize| {
        let part = step as f64 / (count.max(2) - 1) as f64;
        match step {
            // The ends are not computed, so that they are exact.
            0 => from,
            _ if step + 1 == count => to,
            _ if logarithmic && (to / from).is_normal() => from * (to / from).powf(part),
            // The ratio or the difference of the ends overflows.
            _ if logarithmic => (from.ln() * (1.0 - part) + to.ln() * part).exp(),
            _ if (to - from).is_finite() => from + (to - from) * part,
            _ => from * (1.0 - part) + to * part,
        }
    };
    Ok((0..count).map(at).collect())
}

fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let value: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
    match text {
        "" => Err("a value is missing".to_string()),
        _ => value.ok_or_else(|| format!("`{text}` is not a number")),
    }
}
