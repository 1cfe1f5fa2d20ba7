//! Writes elements, cuts and connections of an expanded model.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Writer;
use crate::evaluate::leaves;
use crate::flat::{EquationKind, InstanceId, Kind, Leaf, PortId, Signed, VarId};
use crate::revise::script::fresh;

impl Writer<'_> {
    /// Writes the elements, with all parameters and start values that are set on them.
    pub(super) fn elements(&mut self) {
        let flat = self.flat;
        let mut settings: BTreeMap<InstanceId, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for given in &flat.values {
            let variable = flat.variable(given.variable);
            let own = |leaf: &Leaf| flat.variable(leaf.variable()).instance == variable.instance;
            let is_default = leaves(&flat.exprs, given.expression).iter().any(own);
            if variable.kind == Kind::Parameter
                && self.submodels.contains_key(&variable.instance)
                && !is_default
            {
                let name = flat
                    .names
                    .name(flat.declaration(given.variable).name)
                    .to_string();
                let array = if variable.index > 0 { "[]" } else { "" };
                let of = settings.entry(variable.instance).or_default();
                let value = self.text(given.expression);
                of.entry(format!("{name}{array}")).or_default().push(value);
            }
        }
        let mut starts: BTreeMap<InstanceId, Vec<String>> = BTreeMap::new();
        // An equation `init(x) = v` of the model is written as an equation.
        let written: FxHashSet<VarId> = (flat.equations.iter())
            .filter(|one| one.kind == EquationKind::Init && self.opened[one.origin.index()])
            .flat_map(|equation| leaves(&flat.exprs, equation.left))
            .map(Leaf::variable)
            .collect();
        for given in &flat.starts {
            let instance = flat.variable(given.variable).instance;
            if self.submodels.contains_key(&instance)
                && given.depth < flat.depth_of(instance)
                && !written.contains(&given.variable)
            {
                let name = flat.name(given.variable);
                let last = name.rsplit('.').next().unwrap_or(&name);
                let value = self.text(given.expression);
                starts
                    .entry(instance)
                    .or_default()
                    .push(format!("ic {last} = {value}"));
            }
        }
        for (&id, name) in &self.submodels {
            let class = flat.names.name(flat.instances[id.index()].class);
            let own = settings
                .get(&id)
                .into_iter()
                .flatten()
                .map(|(name, values)| match name.strip_suffix("[]") {
                    Some(name) => format!("{name} = [{}]", values.join(", ")),
                    None => format!("{name} = {}", values.join(", ")),
                });
            let all: Vec<String> = own
                .chain(starts.get(&id).into_iter().flatten().cloned())
                .collect();
            let brackets = if all.is_empty() {
                String::new()
            } else {
                format!("({})", all.join(", "))
            };
            self.lines
                .push(format!("submodel ({class}) {name}{brackets}"));
        }
    }

    /// Writes the cuts of the model, and the cuts of expanded submodels as parts.
    pub(super) fn cuts(&mut self, cuts: &BTreeMap<PortId, String>) {
        let flat = self.flat;
        let unit = |side: Option<Signed>| {
            side.and_then(|one| flat.declaration(one.variable()).remarks.unit.clone())
                .map_or(String::new(), |unit| format!(" '{unit}'"))
        };
        let mut known: FxHashSet<String> = FxHashSet::default();
        for port in flat.ports.of(InstanceId::TOP) {
            let record = flat.ports.get(port);
            let name = flat.names.name(record.name).to_string();
            if !known.insert(name.clone()) {
                continue;
            }
            let size = (flat.ports.of(InstanceId::TOP))
                .filter(|&other| flat.ports.get(other).name == record.name)
                .count();
            let size = if record.index > 0 {
                format!("[{size}]")
            } else {
                String::new()
            };
            let side = |side: Option<Signed>| match side {
                None => ".".to_string(),
                Some(one) => {
                    let sign = if one.negative() { "-" } else { "" };
                    let name = flat.names.name(flat.declaration(one.variable()).name);
                    format!("{sign}{name}{}", unit(Some(one)))
                }
            };
            let pairs = flat.ports.pairs(port);
            let across: Vec<String> = pairs.iter().map(|pair| side(pair.across)).collect();
            let through: Vec<String> = pairs.iter().map(|pair| side(pair.through)).collect();
            let line = format!(
                "cut {name}{size}({} / {})",
                across.join(", "),
                through.join(", ")
            );
            self.lines.push(line);
        }
        for (&port, name) in cuts {
            let record = flat.ports.get(port);
            let both = |turned: bool| {
                let side = |letter: &str, turned: bool| {
                    let list: Vec<String> = (flat.ports.pairs(port).iter().enumerate())
                        .map(|(at, pair)| {
                            let side = if letter == "x" {
                                pair.across
                            } else {
                                pair.through
                            };
                            match side {
                                None => ".".to_string(),
                                Some(one) => {
                                    let sign = if one.negative() != turned { "-" } else { "" };
                                    format!("{sign}{letter}{}{}", at + 1, unit(side))
                                }
                            }
                        })
                        .collect();
                    list.join(", ")
                };
                format!("{} / {}", side("x", false), side("y", turned))
            };
            let mut body = format!("  cut A({})\n", both(false));
            if record.inside.is_some() {
                body.push_str(&format!("  cut B({})\n", both(true)));
            }
            let count = self.types.len() + 1;
            let taken = &mut self.taken;
            let class =
                (self.types.entry(body)).or_insert_with(|| fresh(taken, &format!("Cut_{count}")));
            self.lines.push(format!("submodel ({class}) {name}"));
            // The variable belongs to an earlier cut, so an equation connects both names.
            for (at, pair) in flat.ports.pairs(port).iter().enumerate() {
                for (letter, side) in [("x", pair.across), ("y", pair.through)] {
                    let own = format!("{name}.{letter}{}", at + 1);
                    if let Some(first) = side.and_then(|one| self.names.get(&one.variable()))
                        && *first != own
                    {
                        self.lines.push(format!("{own} = {first}"));
                    }
                }
            }
        }
        let outside = |port: PortId| format!("{}:A", cuts[&port]);
        self.connections(cuts, outside);
    }

    /// Writes the connections: every cut at its node.
    pub(super) fn connections(
        &mut self,
        cuts: &BTreeMap<PortId, String>,
        outside: impl Fn(PortId) -> String,
    ) {
        let flat = self.flat;
        let mut at: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for port in flat.ports.ids() {
            let record = flat.ports.get(port);
            let index = if record.index > 0 {
                format!("[{}]", record.index)
            } else {
                String::new()
            };
            let own = format!("{}{index}", flat.names.name(record.name));
            if record.instance == InstanceId::TOP {
                if let Some(inside) = record.inside {
                    at.entry(inside.index()).or_default().push(own);
                }
                continue;
            }
            let element = self.submodels.get(&record.instance);
            if let Some(place) = record.outside {
                let name = match element {
                    Some(element) => format!("{element}:{own}"),
                    None => outside(port),
                };
                at.entry(place.index()).or_default().push(name);
            }
            if let (Some(place), Some(name)) = (record.inside, cuts.get(&port)) {
                at.entry(place.index())
                    .or_default()
                    .push(format!("{name}:B"));
            }
        }
        let mut lines = Vec::new();
        for (place, cuts) in at {
            let record = flat.ports.junctions[place];
            let wanted = match flat.node_name(&record) {
                Some(mut name) => {
                    if let Some(part) = record.part {
                        name.push_str(&format!("_{part}"));
                    }
                    name
                }
                None => format!("n_{}", cuts[0]),
            };
            let plain = wanted.chars().all(|c| c.is_alphanumeric() || c == '_');
            let own = record.node.is_some() && record.origin == InstanceId::TOP && plain;
            let name = if own {
                wanted
            } else {
                fresh(&mut self.taken, &wanted)
            };
            let word = if record.junction1 {
                "junction1"
            } else {
                "node"
            };
            lines.push(format!("{word} {name}"));
            let items: Vec<String> = cuts.iter().map(|cut| format!("{cut} at {name}")).collect();
            lines.push(format!("connect {}", items.join(", ")));
        }
        self.lines.append(&mut lines);
    }
}
