//! Domains of physics: what effort, flow, momentum and displacement are called in each (Table 1 of the 1990 paper).

use super::measure::{Measure, read};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    pub name: &'static str,
    pub effort: &'static str,
    pub flow: &'static str,
    /// The integral of the effort; empty where it has no name.
    pub momentum: &'static str,
    /// The integral of the flow.
    pub displacement: &'static str,
    units: (&'static str, &'static str),
}

macro_rules! domains {
    ($($name:literal $e:literal $f:literal: $effort:literal $flow:literal $momentum:literal $displacement:literal;)*) => {
        const DOMAINS: &[Domain] = &[$(Domain {
            name: $name,
            effort: $effort,
            flow: $flow,
            momentum: $momentum,
            displacement: $displacement,
            units: ($e, $f),
        }),*];
    };
}

domains! {
    "electrical" "V" "A": "voltage" "current" "flux linkage" "charge";
    "translational" "N" "m/s": "force" "velocity" "momentum" "displacement";
    "rotational" "N.m" "rad/s": "torque" "angular velocity" "angular momentum" "angle";
    "hydraulic" "Pa" "m3/s": "pressure" "volume flow" "pressure momentum" "volume";
    "chemical" "J/mol" "mol/s": "chemical potential" "molar flow" "" "number of moles";
    "thermal" "K" "W/K": "temperature" "entropy flow" "" "entropy";
    "thermal, as heat" "K" "W": "temperature" "heat flow" "" "heat";
    "magnetic" "A" "V": "magnetomotive force" "flux rate" "" "magnetic flux";
}

/// The domain of a bond, by the dimensions of its effort and its flow; in whatever scale, and also if the flow is written as
/// the across variable.
pub fn domain(effort: &Measure, flow: &Measure) -> Option<&'static Domain> {
    let fits = |unit: &str, measure: &Measure| {
        read(unit).is_ok_and(|known| known.dimension == measure.dimension)
    };
    DOMAINS.iter().find(|domain| {
        let (e, f) = domain.units;
        fits(e, effort) && fits(f, flow)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_by_dimension() {
        let all = [
            ("mV", "kA", Some("electrical")),
            ("kN", "mm/s", Some("translational")),
            ("Nm", "rpm", Some("rotational")),
            ("bar", "l/min", Some("hydraulic")),
            ("degC", "kW", Some("thermal, as heat")),
            ("A", "Wb/s", Some("magnetic")),
            ("V", "m/s", None),
        ];
        for (effort, flow, wanted) in all {
            let measure = |unit: &str| read(unit).expect(unit);
            let found = domain(&measure(effort), &measure(flow));
            assert_eq!(found.map(|domain| domain.name), wanted, "{effort} {flow}");
        }
    }
}
