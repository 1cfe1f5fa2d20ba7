//! Names of units: those of the SI with its prefixes, and the usual others.

use super::measure::{Dimension, Measure};
use crate::base::diagnostics;
use std::f64::consts::PI;

/// kg, m, s, A, K, mol, cd, as whole powers.
type Powers = [i32; 7];

const PLAIN: Powers = [0, 0, 0, 0, 0, 0, 0];
const WATT: Powers = [1, 2, -3, 0, 0, 0, 0];
const JOULE: Powers = [1, 2, -2, 0, 0, 0, 0];
const NEWTON: Powers = [1, 1, -2, 0, 0, 0, 0];
const PASCAL: Powers = [1, -1, -2, 0, 0, 0, 0];
const OHM: Powers = [1, 2, -3, -2, 0, 0, 0];
const COULOMB: Powers = [0, 0, 1, 1, 0, 0, 0];
const SECOND: Powers = [0, 0, 1, 0, 0, 0, 0];
const METRE: Powers = [0, 1, 0, 0, 0, 0, 0];
const KILOGRAM: Powers = [1, 0, 0, 0, 0, 0, 0];
const KELVIN: Powers = [0, 0, 0, 0, 1, 0, 0];
const HERTZ: Powers = [0, 0, -1, 0, 0, 0, 0];
const VOLUME: Powers = [0, 3, 0, 0, 0, 0, 0];
const SPEED: Powers = [0, 1, -1, 0, 0, 0, 0];

/// Names that can have a prefix.
const PREFIXED: &[(&str, f64, Powers)] = &[
    ("g", 1e-3, KILOGRAM),
    ("m", 1.0, METRE),
    ("s", 1.0, SECOND),
    ("A", 1.0, [0, 0, 0, 1, 0, 0, 0]),
    ("K", 1.0, KELVIN),
    ("mol", 1.0, [0, 0, 0, 0, 0, 1, 0]),
    ("cd", 1.0, [0, 0, 0, 0, 0, 0, 1]),
    ("rad", 1.0, PLAIN),
    ("sr", 1.0, PLAIN),
    ("Hz", 1.0, HERTZ),
    ("N", 1.0, NEWTON),
    ("Pa", 1.0, PASCAL),
    ("J", 1.0, JOULE),
    ("W", 1.0, WATT),
    ("C", 1.0, COULOMB),
    ("V", 1.0, [1, 2, -3, -1, 0, 0, 0]),
    ("F", 1.0, [-1, -2, 4, 2, 0, 0, 0]),
    ("Ohm", 1.0, OHM),
    ("ohm", 1.0, OHM),
    ("Ω", 1.0, OHM),
    ("S", 1.0, [-1, -2, 3, 2, 0, 0, 0]),
    ("Wb", 1.0, [1, 2, -2, -1, 0, 0, 0]),
    ("T", 1.0, [1, 0, -2, -1, 0, 0, 0]),
    ("H", 1.0, [1, 2, -2, -2, 0, 0, 0]),
    ("lm", 1.0, [0, 0, 0, 0, 0, 0, 1]),
    ("lx", 1.0, [0, -2, 0, 0, 0, 0, 1]),
    ("Bq", 1.0, HERTZ),
    ("Gy", 1.0, [0, 2, -2, 0, 0, 0, 0]),
    ("Sv", 1.0, [0, 2, -2, 0, 0, 0, 0]),
    ("kat", 1.0, [0, 0, -1, 0, 0, 1, 0]),
    ("l", 1e-3, VOLUME),
    ("L", 1e-3, VOLUME),
    ("t", 1e3, KILOGRAM),
    ("eV", 1.602_176_634e-19, JOULE),
    ("cal", 4.184, JOULE),
    ("bar", 1e5, PASCAL),
    ("VA", 1.0, WATT),
    ("VAr", 1.0, WATT),
    ("var", 1.0, WATT),
    // Products that engineers write without a dot.
    ("Nm", 1.0, JOULE),
    ("As", 1.0, COULOMB),
    ("Ah", 3600.0, COULOMB),
    ("Vs", 1.0, [1, 2, -2, -1, 0, 0, 0]),
    ("Ws", 1.0, JOULE),
    ("Wh", 3600.0, JOULE),
];

/// Names that cannot.
const ALONE: &[(&str, f64, Powers)] = &[
    ("%", 1e-2, PLAIN),
    ("ppm", 1e-6, PLAIN),
    ("deg", PI / 180.0, PLAIN),
    ("°", PI / 180.0, PLAIN),
    ("rev", 2.0 * PI, PLAIN),
    ("rpm", PI / 30.0, HERTZ),
    ("min", 60.0, SECOND),
    ("h", 3600.0, SECOND),
    ("d", 86400.0, SECOND),
    ("day", 86400.0, SECOND),
    ("yr", 365.25 * 86400.0, SECOND),
    ("kph", 1.0 / 3.6, SPEED),
    ("mph", 0.447_04, SPEED),
    ("knot", 1852.0 / 3600.0, SPEED),
    ("atm", 101_325.0, PASCAL),
    ("mmHg", 133.322_387_415, PASCAL),
    ("psi", 6_894.757_293_168_361, PASCAL),
    ("in", 0.0254, METRE),
    ("ft", 0.3048, METRE),
    ("mi", 1609.344, METRE),
    ("nmi", 1852.0, METRE),
    ("lb", 0.453_592_37, KILOGRAM),
    ("lbf", 4.448_221_615_260_5, NEWTON),
    ("kgf", 9.806_65, NEWTON),
    ("hp", 745.699_871_582_270_2, WATT),
    ("PS", 735.498_75, WATT),
    ("degRk", 5.0 / 9.0, KELVIN),
];

/// Scales of temperature whose zero is not absolute zero: what to add to a value before it is scaled.
const OFFSET: &[(&str, f64, f64)] = &[
    ("degC", 1.0, 273.15),
    ("°C", 1.0, 273.15),
    ("degF", 5.0 / 9.0, 459.67),
    ("°F", 5.0 / 9.0, 459.67),
];

/// The longer ones first.
pub(super) const PREFIXES: &[(&str, i32)] = &[
    ("da", 1),
    ("Q", 30),
    ("R", 27),
    ("Y", 24),
    ("Z", 21),
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("h", 2),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("u", -6),
    ("µ", -6),
    ("μ", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
    ("a", -18),
    ("z", -21),
    ("y", -24),
];

/// What a name stands for. A name that is in the tables is no prefix with a name: `min` is a minute, `cd` a candela.
pub(super) fn lookup(name: &str) -> Option<Measure> {
    if let Some(&(_, factor, offset)) = OFFSET.iter().find(|(known, ..)| *known == name) {
        return Some(Measure {
            dimension: Dimension::whole(KELVIN),
            factor,
            offset,
        });
    }
    let found = |list: &[(&str, f64, Powers)], name: &str| {
        let &(_, factor, powers) = list.iter().find(|(known, ..)| *known == name)?;
        Some(Measure {
            dimension: Dimension::whole(powers),
            factor,
            offset: 0.0,
        })
    };
    if let Some(known) = found(ALONE, name).or_else(|| found(PREFIXED, name)) {
        return Some(known);
    }
    PREFIXES.iter().find_map(|&(prefix, power)| {
        let mut known = found(PREFIXED, name.strip_prefix(prefix)?)?;
        known.factor = scaled(known.factor, power);
        Some(known)
    })
}

/// The factor times a power of ten. The product of decimals is rounded to the nearest decimal, so that kg is exactly 1.
pub(super) fn scaled(factor: f64, power: i32) -> f64 {
    match factor.log10() {
        decade if (decade - decade.round()).abs() < 1e-12 => ten(decade.round() as i32 + power),
        _ if power < 0 => factor / ten(-power),
        _ => factor * ten(power),
    }
}

/// A power of ten, as a literal would be read.
fn ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// Words that people write for units.
const WORDS: &[(&str, &str)] = &[
    ("volt", "V"),
    ("amp", "A"),
    ("ampere", "A"),
    ("ohm", "Ohm"),
    ("kohm", "kOhm"),
    ("sec", "s"),
    ("second", "s"),
    ("minute", "min"),
    ("hour", "h"),
    ("celsiu", "degC"),
    ("kelvin", "K"),
    ("newton", "N"),
    ("pascal", "Pa"),
    ("watt", "W"),
    ("joule", "J"),
    ("farad", "F"),
    ("henry", "H"),
    ("hertz", "Hz"),
    ("metre", "m"),
    ("meter", "m"),
    ("gram", "g"),
    ("kilogram", "kg"),
    ("degree", "deg"),
    ("radian", "rad"),
    ("litre", "l"),
    ("liter", "l"),
    ("kmh", "km/h"),
];

/// The known unit that is nearest to a wrong name.
pub fn nearest(wrong: &str) -> Option<&'static str> {
    let word = wrong.to_lowercase();
    let word = word.trim_end_matches('s');
    if let Some(&(_, unit)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Some(unit);
    }
    let names = (ALONE.iter().chain(PREFIXED)).map(|&(name, ..)| name);
    let common = [
        "kg", "kOhm", "MOhm", "mV", "mA", "uF", "mH", "ms", "mm", "km", "kW", "kV", "kN", "kPa",
    ];
    let all = names
        .chain(OFFSET.iter().map(|&(name, ..)| name))
        .chain(common);
    diagnostics::nearest(wrong, all)
}
