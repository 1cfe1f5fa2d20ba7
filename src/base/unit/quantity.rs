//! Values with units as they are written on the command line: `4.7kOhm`, `20 degC`, `5 'ms'`.

/// The number and the unit; `None` if the text is something else, also if it is a number without a unit.
pub fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let (number, unit) = text.split_at(number_end(text)?);
    let unit = unit.trim();
    let unit = (unit
        .strip_prefix('\'')
        .and_then(|unit| unit.strip_suffix('\'')))
    .unwrap_or(unit);
    let value: f64 = number.parse().ok()?;
    let first = unit.chars().next()?;
    let is_unit = first.is_alphabetic() || matches!(first, '%' | '°' | '1');
    (is_unit && value.is_finite()).then_some((value, unit))
}

/// The end of the number at the beginning of a text, with its sign.
pub fn number_end(text: &str) -> Option<usize> {
    let ends = (text.char_indices().map(|(at, c)| at + c.len_utf8())).take(40);
    ends.filter(|&end| {
        let number = &text[..end];
        number.ends_with(|c: char| c.is_ascii_digit() || c == '.') && number.parse::<f64>().is_ok()
    })
    .last()
}

#[cfg(test)]
mod tests {
    use super::quantity;

    #[test]
    fn numbers_and_units() {
        let all = [
            ("4.7kOhm", Some((4.7, "kOhm"))),
            ("-5 mV", Some((-5.0, "mV"))),
            ("1e-3'V'", Some((1e-3, "V"))),
            ("5", None),
            ("1e5", None),
            ("V", None),
            ("2*x", None),
            ("inf", None),
        ];
        for (text, wanted) in all {
            assert_eq!(quantity(text), wanted, "{text}");
        }
    }
}
