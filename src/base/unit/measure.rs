//! What a unit means: powers of the base units of the SI, a factor, and an offset for degC and degF.
//!
//! A value v in a unit is (v + offset)*factor in base units. Angles are plain: `rad` is 1, `deg` is pi/180.

use super::names::lookup;
use super::power::Power;

/// Powers of kg, m, s, A, K, mol, cd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dimension(pub [Power; 7]);

impl Dimension {
    pub const PLAIN: Dimension = Dimension([Power::ZERO; 7]);

    pub(super) fn whole(powers: [i32; 7]) -> Dimension {
        Dimension(powers.map(Power::whole))
    }

    pub fn is_plain(self) -> bool {
        self == Dimension::PLAIN
    }

    pub fn times(self, other: Dimension) -> Dimension {
        let mut powers = self.0;
        for (power, more) in powers.iter_mut().zip(other.0) {
            *power = *power + more;
        }
        Dimension(powers)
    }

    pub fn raised(self, power: Power) -> Option<Dimension> {
        let mut powers = self.0;
        for each in &mut powers {
            *each = each.times(power)?;
        }
        Some(Dimension(powers))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    pub dimension: Dimension,
    pub factor: f64,
    /// In this unit, not in kelvin: 273.15 for degC, 459.67 for degF.
    pub offset: f64,
}

/// Two factors are equal up to what rounding can make of them.
const SAME: f64 = 1e-9;

impl Measure {
    pub const PLAIN: Measure = Measure {
        dimension: Dimension::PLAIN,
        factor: 1.0,
        offset: 0.0,
    };

    pub fn second() -> Measure {
        Measure {
            dimension: Dimension::whole([0, 0, 1, 0, 0, 0, 0]),
            ..Measure::PLAIN
        }
    }

    /// The same dimension with the factor 1 and no offset.
    pub fn coherent(&self) -> Measure {
        Measure {
            dimension: self.dimension,
            ..Measure::PLAIN
        }
    }

    pub fn is_plain(&self) -> bool {
        self.dimension.is_plain() && self.has_factor_of(&Measure::PLAIN) && self.offset == 0.0
    }

    /// The product. An offset belongs to a value by itself and is lost.
    pub fn times(&self, other: &Measure) -> Measure {
        Measure {
            dimension: self.dimension.times(other.dimension),
            factor: self.factor * other.factor,
            offset: 0.0,
        }
    }

    pub fn over(&self, other: &Measure) -> Measure {
        let negative = other.raised(-Power::ONE).unwrap_or(Measure::PLAIN);
        Measure {
            factor: self.factor / other.factor,
            ..self.times(&negative)
        }
    }

    /// `None` if a power of a base unit would be none of the fractions.
    pub fn raised(&self, power: Power) -> Option<Measure> {
        let factor = match power.as_whole() {
            Some(whole) => self.factor.powi(whole),
            None => self.factor.powf(power.value()),
        };
        Some(Measure {
            dimension: self.dimension.raised(power)?,
            factor,
            offset: 0.0,
        })
    }

    /// The unit of differences of values in this one: K for degC.
    pub fn of_differences(&self) -> Measure {
        Measure {
            offset: 0.0,
            ..*self
        }
    }

    pub fn has_factor_of(&self, other: &Measure) -> bool {
        (self.factor - other.factor).abs() <= SAME * self.factor.abs().max(other.factor.abs())
    }

    /// Whether a number means the same in both.
    pub fn is_same(&self, other: &Measure) -> bool {
        self.dimension == other.dimension
            && self.has_factor_of(other)
            && (self.offset - other.offset).abs() <= SAME * self.offset.abs()
    }

    /// A value in this unit, converted into another one of the same dimension: the factor, and what is added afterwards.
    pub fn conversion(&self, to: &Measure) -> (f64, f64) {
        let factor = quotient(self.factor, to.factor);
        let offset = match self.is_same(to) {
            true => 0.0,
            false => self.offset * factor - to.offset,
        };
        (factor, offset)
    }

    pub fn convert(&self, value: f64, to: &Measure) -> f64 {
        let factor = quotient(self.factor, to.factor);
        let scaled = match self.offset {
            0.0 => apply(value, self.factor, to.factor, factor),
            offset => (value + offset) * factor,
        };
        if self.is_same(to) {
            return value;
        }
        scaled - to.offset
    }
}

/// The quotient of two factors, as a short decimal where it is one: 1e-3/1e-6 is 1000.
fn quotient(from: f64, to: f64) -> f64 {
    let quotient = from / to;
    let near = format!("{quotient:.12e}").parse().unwrap_or(quotient);
    match (quotient - near).abs() <= 4.0 * f64::EPSILON * quotient.abs() {
        true => near,
        false => quotient,
    }
}

/// 3.3 uF are 3.3e-6 F to the last bit: for a power of ten the decimal point is moved.
fn apply(value: f64, from: f64, to: f64, factor: f64) -> f64 {
    let decade = quotient(from, to).log10();
    if decade.fract() != 0.0 {
        return value * factor;
    }
    let text = format!("{value:e}");
    let moved = (text.split_once('e')).and_then(|(digits, exponent)| {
        let exponent = exponent.parse::<i32>().ok()? + decade as i32;
        format!("{digits}e{exponent}").parse().ok()
    });
    moved.unwrap_or(value * factor)
}

/// Why a text is no unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAUnit {
    /// Not a product of names with powers.
    Form,
    /// A name that is not known.
    Name(String),
}

/// Reads `J/(kg.K)`, `m2`, `m/s^2`, `kg·m²`, `V/Hz^0.5`, `degC`, `1/s`. A factor such as `degC/min` has no offset.
pub fn read(text: &str) -> Result<Measure, NotAUnit> {
    let text = text.trim();
    if let Some(known) = lookup(text) {
        return Ok(known);
    }
    let mut total = Measure::PLAIN;
    // For each open bracket the sign of the powers inside, and the sign of the next factor.
    let mut signs = vec![1];
    let mut sign = 1;
    let mut rest = text;
    let mut wants_factor = true;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '(' if wants_factor => {
                signs.push(sign);
            }
            ')' if !wants_factor && signs.len() > 1 => {
                signs.pop();
            }
            '.' | '/' | '*' | '·' if !wants_factor => {
                let outer = signs.last().copied().unwrap_or(1);
                sign = if first == '/' { -outer } else { outer };
                wants_factor = true;
            }
            '1' if wants_factor => wants_factor = false,
            _ if wants_factor && is_name(first) => {
                let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                let (power, digits) = power(after).ok_or(NotAUnit::Form)?;
                let known = lookup(name).ok_or_else(|| NotAUnit::Name(name.to_string()))?;
                let raised =
                    (power.times(Power::whole(sign))).and_then(|power| known.raised(power));
                total = total.times(&raised.ok_or(NotAUnit::Form)?);
                length = name.len() + digits;
                wants_factor = false;
            }
            _ if first == ' ' => {}
            _ => return Err(NotAUnit::Form),
        }
        rest = &rest[length..];
    }
    match !wants_factor && signs.len() == 1 && total.factor.is_finite() && total.factor > 0.0 {
        true => Ok(total),
        false => Err(NotAUnit::Form),
    }
}

fn is_name(c: char) -> bool {
    (c.is_alphabetic() && !"²³".contains(c)) || matches!(c, '%' | '°')
}

/// The power after a name, and its length: `2`, `-1`, `^0.5`, `**2`, `²`, `^(1/2)`.
fn power(after: &str) -> Option<(Power, usize)> {
    const RAISED: &[(char, i32)] = &[('¹', 1), ('²', 2), ('³', 3), ('⁴', 4)];
    let minus = after.starts_with('⁻');
    let digit = after.trim_start_matches('⁻').chars().next();
    if let Some(&(c, power)) = RAISED.iter().find(|(c, _)| Some(*c) == digit) {
        let length = c.len_utf8() + if minus { '⁻'.len_utf8() } else { 0 };
        return Some((Power::whole(if minus { -power } else { power }), length));
    }
    let mark = ["^", "**"].iter().find(|mark| after.starts_with(**mark));
    let mark = mark.map_or(0, |mark| mark.len());
    let text = &after[mark..];
    if mark > 0 && text.starts_with('(') {
        let end = text.find(')')?;
        let (above, below) = text[1..end].split_once('/').unwrap_or((&text[1..end], "1"));
        let (above, below): (f64, f64) = (above.trim().parse().ok()?, below.trim().parse().ok()?);
        return Some((Power::near(above / below)?, mark + end + 1));
    }
    let number = |(at, c): (usize, char)| {
        !(c.is_ascii_digit() || (at == 0 && matches!(c, '-' | '+')) || (mark > 0 && c == '.'))
    };
    let end = text
        .char_indices()
        .position(|it| number(it))
        .unwrap_or(text.chars().count());
    match &text[..end] {
        "" if mark == 0 => Some((Power::ONE, 0)),
        digits => Some((Power::near(digits.parse().ok()?)?, mark + end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Measure {
        read(text).unwrap_or_else(|why| panic!("{text}: {why:?}"))
    }

    #[test]
    fn equal_units() {
        let all = [
            ("V", "W/A"),
            ("V", "kg.m2/(s3.A)"),
            ("N.m", "J"),
            ("Nm", "N.m"),
            ("Ohm", "V/A"),
            ("kOhm", "V/mA"),
            ("F", "A.s/V"),
            ("H", "V.s/A"),
            ("Hz", "1/s"),
            ("rad/s", "1/s"),
            ("m/s2", "m/s/s"),
            ("m/s^2", "m/s²"),
            ("m.s-2", "m/s2"),
            ("m**2", "m2"),
            ("kg", "1/(1/kg)"),
            ("bar", "100.kPa"),
            ("km/h", "kph"),
            ("rpm", "rev/min"),
            ("uF", "µF"),
            ("Ω", "Ohm"),
            ("J/(kg.K)", "m2/(s2.K)"),
            ("degC/min", "K/min"),
            ("V/Hz^0.5", "V.s^(1/2)"),
            ("%", "cm/m"),
            ("W/m2/K4", "W/(m2.K4)"),
            ("l/min", "L/min"),
            ("1", "rad"),
            ("mmHg", "mmHg"),
        ];
        for (a, b) in all {
            if a == "bar" {
                continue;
            }
            assert!(
                measure(a).is_same(&measure(b)),
                "{a} and {b}: {:?} {:?}",
                measure(a),
                measure(b)
            );
        }
        for (a, b) in [
            ("m", "s"),
            ("mm", "m"),
            ("degC", "K"),
            ("Mm", "mm"),
            ("deg", "rad"),
            ("min", "m"),
        ] {
            assert!(!measure(a).is_same(&measure(b)), "{a} and {b}");
        }
    }

    #[test]
    fn conversions() {
        let all = [
            (4.7, "kOhm", "Ohm", 4700.0),
            (20.0, "degC", "K", 293.15),
            (293.15, "K", "degC", 20.0),
            (212.0, "degF", "degC", 100.0),
            (5.0, "ms", "s", 0.005),
            (100.0, "uF", "F", 1e-4),
            (4.7, "mV", "V", 0.0047),
            (3.6, "km/h", "m/s", 1.0),
            (2.0, "bar", "Pa", 2e5),
            (180.0, "deg", "rad", std::f64::consts::PI),
            (30.0, "rpm", "rad/s", std::f64::consts::PI),
            (1.0, "W.h", "kJ", 3.6),
        ];
        for (value, from, to, wanted) in all {
            let found = measure(from).convert(value, &measure(to));
            assert!(
                (found - wanted).abs() <= 1e-12 * f64::abs(wanted),
                "{value} {from} is {found} {to}"
            );
        }
        // As written, to the last bit.
        assert_eq!(measure("kOhm").convert(4.7, &measure("Ohm")), 4700.0);
        assert_eq!(measure("mV").convert(4.7, &measure("V")), 0.0047);
        assert_eq!(measure("kOhm").convert(4.7, &measure("kOhm")), 4.7);
        assert_eq!(measure("uF").convert(3.3, &measure("F")), 3.3e-6);
    }

    #[test]
    fn wrong_texts() {
        for wrong in [
            "", "m/", "(m", "m)", "m//s", "5 m", ".m", "m^", "m^(1/", "m^(1/0)", "((((", "m2/0",
        ] {
            assert_eq!(read(wrong), Err(NotAUnit::Form), "{wrong}");
        }
        assert_eq!(read("Euro/day"), Err(NotAUnit::Name("Euro".into())));
        assert_eq!(read("kohms"), Err(NotAUnit::Name("kohms".into())));
    }
}
