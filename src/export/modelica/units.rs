//! Units in Modelica (Modelica 3.6, chapter 19).
//!
//! Before: a unit of the source, which can be any text. After: a unit such as `N.m/s2` or `W/(m2.K)`, if each of its
//! names is a unit of the SI, with or without prefix, or one of the usual others; otherwise none (`Euro`, `As`).

use crate::base::unit::Unit;

/// Symbols that can have a prefix.
const SYMBOLS: &[&str] = &[
    "m", "g", "s", "A", "K", "mol", "cd", "rad", "sr", "Hz", "N", "Pa", "J", "W", "C", "V", "F",
    "Ohm", "S", "Wb", "T", "H", "lm", "lx", "Bq", "Gy", "Sv", "kat", "l", "L", "t", "eV", "bar",
    "VA", "var",
];

/// Symbols that cannot.
const ALONE: &[&str] = &[
    "min", "h", "d", "deg", "degC", "degF", "degRk", "rev", "dB", "Np",
];

const PREFIXES: &[&str] = &[
    "da", "Y", "Z", "E", "P", "T", "G", "M", "k", "h", "d", "c", "m", "u", "n", "p", "f", "a", "z",
    "y",
];

/// `None` if a Modelica tool could not read it.
pub fn unit(text: &str) -> Option<String> {
    let unit = Unit::read(text)?;
    unit.names().all(is_symbol).then(|| unit.text())
}

fn is_symbol(name: &str) -> bool {
    let mut parts = PREFIXES
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix));
    ALONE.contains(&name) || SYMBOLS.contains(&name) || parts.any(|rest| SYMBOLS.contains(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_modelica() {
        let all = [
            ("V", Some("V")),
            ("m/s/s", Some("m/s2")),
            ("N.m", Some("N.m")),
            ("J/(kg.K)", Some("J/(kg.K)")),
            ("1/s", Some("1/s")),
            ("mm2", Some("mm2")),
            ("kOhm", Some("kOhm")),
            ("uF", Some("uF")),
            ("degC", Some("degC")),
            ("As", None),
            ("Euro", None),
            ("%", None),
            ("", None),
        ];
        for (written, wanted) in all {
            assert_eq!(unit(written).as_deref(), wanted, "{written}");
        }
    }
}
