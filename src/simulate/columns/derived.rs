//! Quantities of ports and storages by name: power, momentum, displacement.

use super::pattern::{is_glob, matches};
use super::{Column, NoColumn, What};
use crate::base::unit::product;
use crate::flat::{Flat, InstanceId, PortId, VarId};
use crate::passes::power::{self, Power, Powers, Terms};
use crate::passes::storages::{Closed, Integral, Store, stores};

/// The last part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Power,
    Stored(Integral),
}

/// `C1.A` and power of `C1.A.power`.
pub fn word_of(pattern: &str) -> Option<(&str, Word)> {
    let (rest, word) = pattern.rsplit_once('.')?;
    let word = match word {
        "power" => Word::Power,
        "momentum" => Word::Stored(Integral::Momentum),
        "displacement" => Word::Stored(Integral::Displacement),
        _ => return None,
    };
    Some((rest, word))
}

impl Integral {
    pub fn text(self) -> &'static str {
        match self {
            Integral::Momentum => "momentum",
            Integral::Displacement => "displacement",
        }
    }
}

/// What a pattern has found; if that is nothing, perhaps why.
#[derive(Debug, Default)]
pub struct Found {
    pub columns: Vec<Column>,
    pub why: Option<NoColumn>,
}

#[derive(Debug)]
pub struct Derived {
    powers: Powers,
}

impl Derived {
    pub fn new(flat: &Flat) -> Self {
        Derived {
            powers: Powers::new(flat),
        }
    }

    pub fn matching(&self, flat: &mut Flat, pattern: &str, word: Word) -> Found {
        match word {
            Word::Power => self.powers(flat, pattern),
            Word::Stored(integral) => stored(flat, pattern, integral),
        }
    }

    /// Of each submodel all its power, then that of its ports.
    fn powers(&self, flat: &mut Flat, pattern: &str) -> Found {
        let mut found = Found::default();
        let mut last = InstanceId::TOP;
        for port in flat.ports.ids() {
            let instance = flat.ports.get(port).instance;
            if instance != last {
                last = instance;
                let path = flat.path(instance);
                if matches(pattern, &path) {
                    let ports: Vec<PortId> = flat.ports.of(instance).collect();
                    let power = self.powers.of_instance(flat, instance);
                    found.add_power(flat, path, power, &ports);
                }
            }
            let name = port_name(flat, port);
            if matches(pattern, &name) {
                let power = self.powers.of_port(flat, port);
                found.add_power(flat, name, power, &[port]);
            }
        }
        found.forget_why(pattern);
        found
    }

    /// For suggestions.
    pub fn names(&self, flat: &Flat) -> Vec<String> {
        let mut names: Vec<String> = (flat.ports.ids())
            .map(|port| format!("{}.power", port_name(flat, port)))
            .collect();
        let mut storages: Vec<InstanceId> = flat.ports.laws.iter().map(|law| law.origin).collect();
        storages.dedup();
        for instance in storages {
            let path = flat.path(instance);
            let words = ["power", "momentum", "displacement"];
            names.extend(words.map(|word| format!("{path}.{word}")));
        }
        names
    }
}

impl Found {
    fn add_power(&mut self, flat: &mut Flat, name: String, power: Power, ports: &[PortId]) {
        match power {
            Power::Is(pairs) => {
                let unit = power_unit(flat, &pairs);
                let value = power::expression(flat, &pairs);
                self.columns.push(Column {
                    name: format!("{name}.power"),
                    unit,
                    boolean: false,
                    value,
                    what: What::Power,
                });
            }
            Power::Nothing => self.why_not(
                format!("`{name}` has no power"),
                "no power goes through a cut with across or through variables alone".to_string(),
            ),
            Power::Shared => {
                let whose: Vec<String> = ports.iter().map(|&port| port_name(flat, port)).collect();
                self.why_not(
                    format!("the power of `{name}` is not determined"),
                    format!(
                        "where `{}` is connected, several parts supply whatever is asked for",
                        whose.join("`, `")
                    ),
                );
            }
        }
    }

    fn why_not(&mut self, message: String, hint: String) {
        self.why.get_or_insert(NoColumn {
            message,
            hint: Some(hint),
        });
    }

    /// What is said of one of many that a pattern means helps nobody.
    fn forget_why(&mut self, pattern: &str) {
        if is_glob(pattern) {
            self.why = None;
        }
    }
}

/// `C1.A`, `c[2].p[3]`, or `A` for a cut of the compiled model.
pub fn port_name(flat: &Flat, port: PortId) -> String {
    flat.port_name(port, '.')
}

/// The unit, if all products have the same one.
fn power_unit(flat: &Flat, pairs: &[(Terms, Terms)]) -> Option<String> {
    let mut common: Option<String> = None;
    for (across, through) in pairs {
        // Variables that meet have one unit, though not each may tell it.
        let unit = |side: &[(bool, VarId)]| {
            (side.iter()).find_map(|&(_, id)| flat.declaration(id).remarks.unit.as_deref())
        };
        let unit = product(unit(across)?, unit(through)?)?;
        match &common {
            Some(other) if *other != unit => return None,
            _ => common = Some(unit),
        }
    }
    common
}

/// Momenta or displacements, by submodel.
fn stored(flat: &mut Flat, pattern: &str, wanted: Integral) -> Found {
    let mut found = Found::default();
    let mut storages: Vec<InstanceId> = flat.ports.laws.iter().map(|law| law.origin).collect();
    storages.dedup();
    let glob = is_glob(pattern);
    for instance in storages {
        let path = flat.path(instance);
        // What is not part of this submodel need not be looked at closely.
        if !glob && instance != InstanceId::TOP && !pattern.starts_with(&path) {
            continue;
        }
        let mut all = stores(flat, instance);
        all.retain(|store| store.integral == wanted);
        let names = store_names(flat, instance, &all);
        if pattern == path && all.len() > 1 {
            let each = names
                .iter()
                .map(|name| format!("`{name}.{}`", wanted.text()));
            found.why_not(
                format!("`{path}` has several of these"),
                format!("ask for {}", each.collect::<Vec<_>>().join(", ")),
            );
        }
        for (store, name) in all.into_iter().zip(names) {
            if !matches(pattern, &name) {
                continue;
            }
            match store.value {
                Closed::Is(value) => found.columns.push(Column {
                    name: format!("{name}.{}", wanted.text()),
                    unit: store.unit,
                    boolean: false,
                    value,
                    what: match wanted {
                        Integral::Momentum => What::Momentum,
                        Integral::Displacement => What::Displacement,
                    },
                }),
                Closed::Not(law) => {
                    let (left, right) = (flat.expression(law.left), flat.expression(law.right));
                    found.why_not(
                        format!("the {} of `{name}` has no closed form", wanted.text()),
                        format!("`{left} = {right}` is not a sum of constants times derivatives"),
                    );
                }
            }
        }
    }
    if !glob && found.columns.is_empty() && found.why.is_none() {
        let exists =
            (1..flat.instances.len() as u32).any(|at| flat.path(InstanceId(at)) == pattern);
        if exists {
            found.why_not(
                format!("`{pattern}` has no {}", wanted.text()),
                match wanted {
                    Integral::Momentum => {
                        "its equations do not make an effort at its ports a derivative"
                    }
                    Integral::Displacement => {
                        "its equations do not make a flow at its ports a derivative"
                    }
                }
                .to_string(),
            );
        }
    }
    found.forget_why(pattern);
    found
}

/// `C1` for a submodel with one of them; else with the port, or the across variable where a port has
/// several.
fn store_names(flat: &Flat, instance: InstanceId, all: &[Store]) -> Vec<String> {
    let mut ports: Vec<PortId> = all.iter().map(|store| store.port).collect();
    ports.dedup();
    (all.iter())
        .map(|store| match instance {
            InstanceId::TOP if all.len() == 1 => port_name(flat, store.port),
            _ if all.len() == 1 => flat.path(instance),
            _ if ports.len() == all.len() => port_name(flat, store.port),
            _ => flat.name(store.across),
        })
        .collect()
}
