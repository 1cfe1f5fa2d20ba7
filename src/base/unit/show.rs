//! The text of a unit that was computed: the shortest product of usual names.

use super::measure::{Dimension, Measure, read};
use super::names::PREFIXES;
use super::power::Power;

/// Names in products, the more usual ones first.
const NAMES: &[&str] = &[
    "V", "A", "Ohm", "N", "m", "s", "Pa", "K", "W", "J", "kg", "mol", "C", "F", "H", "S", "Wb",
    "T", "cd",
];

/// Products that are shown before others are looked for.
const PRODUCTS: &[&str] = &[
    "m/s",
    "m/s2",
    "m2",
    "m3",
    "m3/s",
    "N/m",
    "N.s/m",
    "N.s",
    "W/K",
    "K/W",
    "J/K",
    "kg.m2",
    "kg/s",
    "kg/m3",
    "J/kg",
    "J/(kg.K)",
    "J/mol",
    "mol/s",
    "J/(mol.K)",
    "W/m2",
    "W/(m.K)",
    "W/(m2.K)",
    "V/m",
    "V/s",
    "A/s",
    "Pa/s",
    "Pa.s",
    "1/s",
    "1/m",
    "1/m2",
    "1/m3",
    "s2",
    "1/K",
    "W/K2",
    "J/K2",
    "K/s",
    "V/K",
    "V/A2",
    "1/A",
    "1/V",
    "1/s2",
    "Pa.s/m3",
    "m3/(Pa.s)",
    "W/(m2.K4)",
];

const BASES: [&str; 7] = ["kg", "m", "s", "A", "K", "mol", "cd"];

/// A unit for people to read, and for [`read`]: `V`, `kOhm`, `J/(kg.K)`.
pub fn text(measure: &Measure) -> String {
    if measure.offset != 0.0 {
        let known = ["degC", "degF"].into_iter().find(|name| is(measure, name));
        return known.unwrap_or("K").to_string();
    }
    let coherent = Measure {
        factor: 1.0,
        ..*measure
    };
    let plain = coherent_text(&coherent);
    if measure.has_factor_of(&coherent) {
        return plain;
    }
    const USUAL: &[&str] = &[
        "deg", "rpm", "%", "min", "h", "bar", "km/h", "l/min", "l", "rev", "deg/s", "kWh", "g",
        "g/s", "m3/h", "mm2", "cm2", "mm3", "cm3", "kg/h", "1/min", "deg/s2", "1/h", "mm/s", "atm",
        "psi", "d", "kcal", "eV", "Ah",
    ];
    if let Some(known) = USUAL.iter().find(|name| is(measure, name)) {
        return (*known).to_string();
    }
    let prefixed = PREFIXES
        .iter()
        .map(|(prefix, _)| match plain.strip_prefix("kg") {
            Some(rest) => format!("{prefix}g{rest}"),
            None => format!("{prefix}{plain}"),
        });
    let beneath = PREFIXES.iter().filter_map(|(prefix, _)| {
        let (above, below) = plain.split_once('/')?;
        (!below.starts_with('(')).then(|| format!("{above}/{prefix}{below}"))
    });
    let prefixed: Vec<String> = prefixed.chain(beneath).collect();
    (prefixed.into_iter().find(|text| is(measure, text)))
        .unwrap_or_else(|| with_factor(measure.factor, &plain))
}

/// A text with a factor in front, which only people read.
fn with_factor(factor: f64, plain: &str) -> String {
    let short = format!("{factor:.4e}");
    let short: f64 = short.parse().unwrap_or(factor);
    match plain {
        "1" => format!("{short}"),
        _ => format!("{short} {plain}"),
    }
}

fn is(measure: &Measure, text: &str) -> bool {
    read(text).is_ok_and(|known| known.is_same(measure))
}

fn coherent_text(measure: &Measure) -> String {
    let one = |name: &str| is(measure, name).then(|| name.to_string());
    if measure.is_plain() {
        return "1".to_string();
    }
    if let Some(found) = NAMES.iter().chain(PRODUCTS).find_map(|name| one(name)) {
        return found;
    }
    // Two names first, then three, each with a small power.
    let mut best: Option<(usize, String)> = None;
    let mut offer = |parts: &[(&str, i32)]| {
        let text = written(parts);
        let cost: usize = (parts.iter())
            .map(|&(name, power)| {
                let rank = NAMES.iter().position(|known| *known == name).unwrap_or(0);
                2 * power.unsigned_abs() as usize
                    + usize::from(rank > 9)
                    + usize::from(name.len() > 2)
            })
            .sum();
        let all_below = parts.iter().all(|&(_, power)| power < 0);
        let cost = 2 * cost + usize::from(all_below);
        if (best.as_ref()).is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, text));
        }
    };
    let known: Vec<(&str, Dimension)> = (NAMES.iter())
        .filter_map(|name| Some((*name, read(name).ok()?.dimension)))
        .collect();
    let raised = |dimension: Dimension, power: i32| dimension.raised(Power::whole(power));
    const POWERS: [i32; 8] = [1, -1, 2, -2, 3, -3, 4, -4];
    for (at, &(first, a)) in known.iter().enumerate() {
        for power in POWERS {
            let Some(a) = raised(a, power) else { continue };
            if a == measure.dimension {
                offer(&[(first, power)]);
            }
            for &(second, b) in &known[at + 1..] {
                for other in POWERS {
                    let Some(b) = raised(b, other) else { continue };
                    if a.times(b) == measure.dimension {
                        offer(&[(first, power), (second, other)]);
                    }
                }
            }
        }
    }
    best.map_or_else(|| of_bases(measure.dimension), |(_, text)| text)
}

fn written(parts: &[(&str, i32)]) -> String {
    let side = |sign: i32| -> Vec<String> {
        (parts.iter().filter(|(_, power)| power * sign > 0))
            .map(|&(name, power)| match power.abs() {
                1 => name.to_string(),
                power => format!("{name}{power}"),
            })
            .collect()
    };
    join(&side(1), &side(-1))
}

fn join(above: &[String], below: &[String]) -> String {
    let above = match above {
        [] => "1".to_string(),
        above => above.join("."),
    };
    match below {
        [] => above,
        [one] => format!("{above}/{one}"),
        more => format!("{above}/({})", more.join(".")),
    }
}

fn of_bases(dimension: Dimension) -> String {
    let side = |positive: bool| -> Vec<String> {
        (BASES.iter().zip(dimension.0))
            .filter(|(_, power)| (*power > Power::ZERO) == positive && !power.is_zero())
            .map(|(name, power)| match power.fraction() {
                (1 | -1, 1) => (*name).to_string(),
                (whole, 1) => format!("{name}{}", whole.abs()),
                (above, below) => format!("{name}^({}/{below})", above.abs()),
            })
            .collect()
    };
    join(&side(true), &side(false))
}

/// The unit with another factor of ten in front of it, if its text can have a prefix: `mV` and 3 give `V`.
pub fn prefixed(unit: &str, exponent: i32) -> Option<String> {
    let measure = read(unit).ok().filter(|measure| measure.offset == 0.0)?;
    let wanted = Measure {
        factor: super::names::scaled(measure.factor, exponent),
        ..measure
    };
    let stem = PREFIXES
        .iter()
        .filter_map(|(prefix, _)| unit.strip_prefix(prefix));
    let stems: Vec<&str> = std::iter::once(unit).chain(stem).collect();
    let prefixes: Vec<&str> = std::iter::once("")
        .chain(PREFIXES.iter().map(|&(prefix, _)| prefix))
        .collect();
    (stems.iter())
        .flat_map(|stem| prefixes.iter().map(move |prefix| format!("{prefix}{stem}")))
        .find(|text| is(&wanted, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_units_keep_their_names() {
        let all = [
            "V", "A", "Ohm", "S", "F", "H", "N", "m", "s", "kg", "K", "mol", "Pa", "J", "W", "C",
            "Wb", "m/s", "m/s2", "N/m", "N.s/m", "W/K", "J/K", "kOhm", "mV", "uF", "degC", "rpm",
            "deg", "bar", "V/s", "A/s", "1/s", "m2", "m3", "m3/s", "J/mol", "mol/s", "kg.m2",
            "K/W", "ms", "mm", "km/h", "l/min", "1/m", "Pa/s", "J/kg", "W/m2", "V/m", "mA", "MOhm",
            "kW", "1/K", "1", "%",
        ];
        for unit in all {
            let shown = text(&read(unit).expect(unit));
            assert_eq!(shown, unit);
        }
    }

    /// What is shown is read as the same unit, for random products of names with random prefixes.
    #[test]
    fn what_is_shown_is_read_again() {
        let mut seed = 7_u64;
        let mut next = |most: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for _ in 0..300 {
            let mut parts: Vec<(&str, i32)> = Vec::new();
            for _ in 0..1 + next(3) {
                let name = NAMES[next(NAMES.len() as u64) as usize];
                if !parts.iter().any(|&(known, _)| known == name) {
                    parts.push((name, [1, 2, -1, -2][next(4) as usize]));
                }
            }
            let written = written(&parts);
            let measure = read(&written).expect(&written);
            let shown = text(&measure);
            let again =
                read(&shown).unwrap_or_else(|why| panic!("{written} shown as {shown}: {why:?}"));
            assert!(again.is_same(&measure), "{written} shown as {shown}");
        }
        let root = read("kg^(1/2).m^(3/2)").expect("roots");
        assert!(read(&text(&root)).is_ok_and(|again| again.is_same(&root)));
    }

    #[test]
    fn prefixes_of_units() {
        let all = [
            ("V", -3, Some("mV")),
            ("mV", 3, Some("V")),
            ("kOhm", 3, Some("MOhm")),
            ("kg", -3, Some("g")),
            ("Pa", 3, Some("kPa")),
            ("m/s", -3, Some("mm/s")),
            ("degC", -3, None),
        ];
        for (unit, exponent, wanted) in all {
            assert_eq!(
                prefixed(unit, exponent).as_deref(),
                wanted,
                "{unit} {exponent}"
            );
        }
    }
}
