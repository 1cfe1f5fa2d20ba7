//! Units of products: `V` times `A` is `W`, `m/s` times a second is `m`.
//!
//! A unit is a product of names with whole powers, as in the language: `J/(kg.K)`, `m2`. A unit in another form has no
//! product.

/// Names with their powers, in the order of their first occurrence; no power is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit(Vec<(String, i32)>);

/// Powers of kg, m, s, A, K, mol.
type Dimension = [i32; 6];

const WATT: Dimension = [1, 2, -3, 0, 0, 0];
const JOULE: Dimension = [1, 2, -2, 0, 0, 0];

/// Names whose product may be recognised as a power, or as an angle without dimension.
const KNOWN: &[(&str, Dimension)] = &[
    ("kg", [1, 0, 0, 0, 0, 0]),
    ("m", [0, 1, 0, 0, 0, 0]),
    ("s", [0, 0, 1, 0, 0, 0]),
    ("A", [0, 0, 0, 1, 0, 0]),
    ("K", [0, 0, 0, 0, 1, 0]),
    ("mol", [0, 0, 0, 0, 0, 1]),
    ("rad", [0, 0, 0, 0, 0, 0]),
    ("Hz", [0, 0, -1, 0, 0, 0]),
    ("N", [1, 1, -2, 0, 0, 0]),
    ("Pa", [1, -1, -2, 0, 0, 0]),
    ("J", [1, 2, -2, 0, 0, 0]),
    ("W", WATT),
    ("C", [0, 0, 1, 1, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0]),
    ("Wb", [1, 2, -2, -1, 0, 0]),
    ("F", [-1, -2, 4, 2, 0, 0]),
    ("H", [1, 2, -2, -2, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0]),
    ("S", [-1, -2, 3, 2, 0, 0]),
];

impl Unit {
    /// `None` if it is not a product of names.
    pub fn read(text: &str) -> Option<Unit> {
        let mut unit = Unit::default();
        // The sign of the powers for each open bracket, and that of the next factor.
        let mut signs = vec![1];
        let mut sign = 1;
        let mut rest = text.trim();
        let mut wants_factor = true;
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            match first {
                '(' if wants_factor => {
                    signs.push(sign);
                    sign = *signs.last()?;
                }
                ')' if !wants_factor && signs.len() > 1 => {
                    signs.pop();
                    sign = *signs.last()?;
                }
                '.' | '/' if !wants_factor => {
                    sign = signs.last()? * if first == '/' { -1 } else { 1 };
                    wants_factor = true;
                }
                '1' if wants_factor => wants_factor = false,
                _ if wants_factor && first.is_alphabetic() => {
                    let name = rest.find(|c: char| !c.is_alphabetic());
                    let (name, after) = rest.split_at(name.unwrap_or(rest.len()));
                    let digits = after.find(|c: char| !c.is_ascii_digit());
                    let digits = &after[..digits.unwrap_or(after.len())];
                    let power: i32 = match digits {
                        "" => 1,
                        digits => digits.parse().ok()?,
                    };
                    unit.multiply(name, sign * power);
                    length = name.len() + digits.len();
                    wants_factor = false;
                }
                _ => return None,
            }
            rest = &rest[length..];
        }
        (!wants_factor && signs.len() == 1).then_some(unit)
    }

    /// The names in the product.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn multiply(&mut self, name: &str, power: i32) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, total)) => *total += power,
            None => self.0.push((name.to_string(), power)),
        }
        self.0.retain(|&(_, power)| power != 0);
    }

    fn times(mut self, other: &Unit) -> Unit {
        for (name, power) in &other.0 {
            self.multiply(name, *power);
        }
        self
    }

    /// `None` if a name is not known.
    fn dimension(&self) -> Option<Dimension> {
        let mut total = [0; 6];
        for (name, power) in &self.0 {
            let (_, known) = KNOWN.iter().find(|(known, _)| known == name)?;
            for (total, part) in total.iter_mut().zip(known) {
                *total += part * power;
            }
        }
        Some(total)
    }

    /// Powers of the base units and of the radian, by name; `None` if a name is not known.
    pub fn powers(&self) -> Option<[(&'static str, i32); 7]> {
        let [kg, m, s, a, k, mol] = self.dimension()?;
        let rad = (self.0.iter().find(|(name, _)| name == "rad")).map_or(0, |&(_, power)| power);
        Some([
            ("kg", kg),
            ("m", m),
            ("s", s),
            ("A", a),
            ("K", k),
            ("mol", mol),
            ("rad", rad),
        ])
    }

    /// `J/(kg.K)`
    pub fn text(&self) -> String {
        let side = |sign: i32| -> Vec<String> {
            (self.0.iter().filter(|(_, power)| power * sign > 0))
                .map(|(name, power)| match power.abs() {
                    1 => name.clone(),
                    power => format!("{name}{power}"),
                })
                .collect()
        };
        let (above, below) = (side(1), side(-1));
        let above = match above.is_empty() {
            true => "1".to_string(),
            false => above.join("."),
        };
        match below.as_slice() {
            [] => above,
            [one] => format!("{above}/{one}"),
            more => format!("{above}/({})", more.join(".")),
        }
    }
}

/// The unit of the product of an across and a through variable, such as a power.
pub fn product(a: &str, b: &str) -> Option<String> {
    let product = Unit::read(a)?.times(&Unit::read(b)?);
    Some(match product.dimension() {
        Some(WATT) => "W".to_string(),
        _ => product.text(),
    })
}

/// The unit times a power of a second; the power is negative for derivatives.
pub fn times_seconds(unit: &str, often: i32) -> Option<String> {
    let mut unit = Unit::read(unit)?;
    unit.multiply("s", often);
    let text = unit.text();
    Some(match text.as_str() {
        "A.s" => "C".to_string(),
        _ => text,
    })
}

/// Whether an across and a through variable make an energy: a position and a force.
pub fn is_energy(across: &str, through: &str) -> bool {
    let dimension = |text: &str| Unit::read(text).and_then(|unit| unit.dimension());
    let (Some(a), Some(b)) = (dimension(across), dimension(through)) else {
        return false;
    };
    let mut product = a;
    for (total, part) in product.iter_mut().zip(b) {
        *total += part;
    }
    product == JOULE
}

/// The across variable of a mechanical part that is written v/F is a flow, not an effort.
pub fn is_velocity(unit: &str) -> bool {
    let dimension = Unit::read(unit).and_then(|unit| unit.dimension());
    matches!(
        dimension,
        Some([0, 1, -1, 0, 0, 0]) | Some([0, 0, -1, 0, 0, 0])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products() {
        let all = [
            ("V", "A", "W"),
            ("m/s", "N", "W"),
            ("rad/s", "N.m", "W"),
            ("Pa", "m3/s", "W"),
            ("K", "W/K", "W"),
            ("J/mol", "mol/s", "W"),
            ("m", "N", "m.N"),
            ("K", "W", "K.W"),
            ("Euro", "piece/(day.shop)", "Euro.piece/(day.shop)"),
        ];
        for (a, b, wanted) in all {
            assert_eq!(product(a, b).as_deref(), Some(wanted), "{a} times {b}");
        }
        for wrong in ["", "m/", "(m", "m)", "m//s", "5 m", ".m"] {
            assert_eq!(product(wrong, "s"), None, "{wrong}");
        }
    }

    #[test]
    fn seconds() {
        let all = [
            ("A", 1, "C"),
            ("V", 1, "V.s"),
            ("m/s", 1, "m"),
            ("W/K", 1, "W.s/K"),
            ("V", -1, "V/s"),
            ("m/s", -1, "m/s2"),
            ("rad/s", 1, "rad"),
            ("J/(kg.s2)", 1, "J/(kg.s)"),
            ("1/s", 1, "1"),
        ];
        for (unit, often, wanted) in all {
            let found = times_seconds(unit, often);
            assert_eq!(found.as_deref(), Some(wanted), "{unit} {often}");
        }
    }

    #[test]
    fn energies() {
        assert!(is_energy("m", "N") && is_energy("rad", "N.m"));
        assert!(!is_energy("m/s", "N") && !is_energy("V", "A") && !is_energy("K", "W"));
    }

    #[test]
    fn velocities() {
        assert!(is_velocity("m/s") && is_velocity("rad/s") && is_velocity("1/s"));
        assert!(!is_velocity("V") && !is_velocity("m") && !is_velocity("mol/s"));
    }
}
