//! Quantities of ports and storages, by name: power, momentum, displacement.

use super::pattern::{is_glob, matches};
use super::{Column, ColumnKind, NoColumn};
use crate::base::unit::product;
use crate::flat::{Flat, InstanceId, PortId, VarId};
use crate::passes::power::{self, Power, Powers, Terms};
use crate::passes::storages::{Closed, Integral, Store, stores};

/// The quantity that the last part of a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Power,
    Stored(Integral),
}

/// Splits `C1.A.power` into `C1.A` and the quantity.
pub fn quantity_of(pattern: &str) -> Option<(&str, Quantity)> {
    let (rest, quantity) = pattern.rsplit_once('.')?;
    let quantity = match quantity {
        "power" => Quantity::Power,
        "momentum" => Quantity::Stored(Integral::Momentum),
        "displacement" => Quantity::Stored(Integral::Displacement),
        _ => return None,
    };
    Some((rest, quantity))
}

impl Integral {
    pub fn text(self) -> &'static str {
        match self {
            Integral::Momentum => "momentum",
            Integral::Displacement => "displacement",
        }
    }
}

/// The columns that match a pattern; if there are none, the reason if it is known.
#[derive(Debug, Default)]
pub struct Matches {
    pub columns: Vec<Column>,
    pub reason: Option<NoColumn>,
}

#[derive(Debug)]
pub struct PortQuantities {
    powers: Powers,
}

impl PortQuantities {
    pub fn new(flat: &Flat) -> Self {
        PortQuantities {
            powers: Powers::new(flat),
        }
    }

    pub fn matching(&self, flat: &mut Flat, pattern: &str, quantity: Quantity) -> Matches {
        match quantity {
            Quantity::Power => self.powers(flat, pattern),
            Quantity::Stored(integral) => stored(flat, pattern, integral),
        }
    }

    /// For each submodel its whole power, then the power of each port.
    fn powers(&self, flat: &mut Flat, pattern: &str) -> Matches {
        let mut found = Matches::default();
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
        found.clear_reason_for_globs(pattern);
        found
    }

    /// All names, for suggestions.
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

impl Matches {
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
                    kind: ColumnKind::Power,
                });
            }
            Power::Nothing => self.set_reason(
                format!("`{name}` has no power"),
                "no power goes through a cut with across or through variables alone".to_string(),
            ),
            Power::Shared => {
                let whose: Vec<String> = ports.iter().map(|&port| port_name(flat, port)).collect();
                self.set_reason(
                    format!("the power of `{name}` is not determined"),
                    format!(
                        "where `{}` is connected, several parts supply whatever is asked for",
                        whose.join("`, `")
                    ),
                );
            }
        }
    }

    fn set_reason(&mut self, message: String, hint: String) {
        self.reason.get_or_insert(NoColumn {
            message,
            hint: Some(hint),
        });
    }

    /// The reason concerns one submodel. It does not explain why a pattern with `*` matches nothing.
    fn clear_reason_for_globs(&mut self, pattern: &str) {
        if is_glob(pattern) {
            self.reason = None;
        }
    }
}

/// `C1.A`, `c[2].p[3]`, or `A` for a cut of the compiled model.
pub fn port_name(flat: &Flat, port: PortId) -> String {
    flat.port_name(port, '.')
}

/// The unit of the power, if all products have the same unit.
fn power_unit(flat: &Flat, pairs: &[(Terms, Terms)]) -> Option<String> {
    let mut common: Option<String> = None;
    for (across, through) in pairs {
        // Variables that are connected have the same unit, but not each declaration gives it.
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

/// The momenta or displacements of storages, by submodel.
fn stored(flat: &mut Flat, pattern: &str, wanted: Integral) -> Matches {
    let mut found = Matches::default();
    let mut storages: Vec<InstanceId> = flat.ports.laws.iter().map(|law| law.origin).collect();
    storages.dedup();
    let glob = is_glob(pattern);
    for instance in storages {
        let path = flat.path(instance);
        // The name of a storage begins with the path of its submodel.
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
            found.set_reason(
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
                    kind: match wanted {
                        Integral::Momentum => ColumnKind::Momentum,
                        Integral::Displacement => ColumnKind::Displacement,
                    },
                }),
                Closed::Not(law) => {
                    let (left, right) = (flat.expression(law.left), flat.expression(law.right));
                    found.set_reason(
                        format!("the {} of `{name}` has no closed form", wanted.text()),
                        format!("`{left} = {right}` is not a sum of constants times derivatives"),
                    );
                }
            }
        }
    }
    if !glob && found.columns.is_empty() && found.reason.is_none() {
        let exists =
            (1..flat.instances.len() as u32).any(|at| flat.path(InstanceId(at)) == pattern);
        if exists {
            found.set_reason(
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
    found.clear_reason_for_globs(pattern);
    found
}

/// The names of storages: `C1` for a submodel with one storage; otherwise the name of the port, or of the across variable if
/// a port has several.
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
