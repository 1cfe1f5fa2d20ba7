//! Makes the content of a picture: names, values, strokes and colours, as text.

mod parts;

pub use parts::{Bond, Mark, Node, Shape, Signal, Sketch, Stroke};

use std::collections::BTreeMap;

use super::causality::ElementCausality;
use super::graph::{BondId, NodeId, NodeKind, SignalSource};
use super::net::Gives;
use super::view::View;
use crate::bond::BondGraph;
use crate::expr::{Value, show_briefly};
use crate::flat::{Flat, InstanceId, Kind};

/// Up to this number of values are shown as a label.
const MOST_VALUES: usize = 2;

pub fn sketch(model: &BondGraph, view: &View) -> Sketch {
    let graph = &view.graph;
    let parameters = Parameters::new(&model.flat);
    let mark_of = |id: NodeId| match view.element(&model.causality, id) {
        ElementCausality::Derivative => Mark::Derivative,
        _ => Mark::Plain,
    };
    let nodes = (graph.node_ids())
        .map(|id| {
            let node = graph.node(id);
            match &node.kind {
                NodeKind::Junction(kind) => Node {
                    shape: Shape::Junction,
                    kind: kind.digit().to_string(),
                    name: if node.named {
                        node.name.clone()
                    } else {
                        String::new()
                    },
                    values: Vec::new(),
                    mark: Mark::Plain,
                },
                NodeKind::Box(class) => Node {
                    shape: Shape::Box,
                    kind: class.clone(),
                    name: node.name.clone(),
                    values: Vec::new(),
                    mark: Mark::Plain,
                },
                NodeKind::Element(element) => Node {
                    shape: Shape::Element,
                    kind: match element.label().as_str() {
                        "other" => class_name(&model.flat, node.owner),
                        label => label.to_string(),
                    },
                    name: node.name.clone(),
                    values: match element.open || element.reference {
                        true => vec!["0".to_string()],
                        false => parameters.of(&model.flat, node.owner),
                    },
                    mark: mark_of(id),
                },
            }
        })
        .collect();
    Sketch {
        title: model.flat.model().to_string(),
        nodes,
        bonds: bonds(model, view, &mark_of),
        signals: signals(model, view),
    }
}

fn class_name(flat: &Flat, instance: InstanceId) -> String {
    flat.names
        .name(flat.instances[instance.index()].class)
        .to_string()
}

fn bonds(model: &BondGraph, view: &View, mark_of: &dyn Fn(NodeId) -> Mark) -> Vec<Bond> {
    let graph = &view.graph;
    let is_box = |id: NodeId| matches!(graph.node(id).kind, NodeKind::Box(_));
    let mut found: Vec<Bond> = Vec::new();
    // The bonds of one hierarchical cut between the same two ends are drawn as one line.
    let mut bundles: BTreeMap<(NodeId, NodeId), Vec<BondId>> = BTreeMap::new();
    for id in graph.bond_ids() {
        let bond = graph.bond(id);
        if bond.in_bundle && (is_box(bond.from) || is_box(bond.to)) {
            let pair = (bond.from.min(bond.to), bond.from.max(bond.to));
            bundles.entry(pair).or_default().push(id);
        }
    }
    bundles.retain(|_, members| members.len() > 1);
    for id in graph.bond_ids() {
        let bond = graph.bond(id);
        let pair = (bond.from.min(bond.to), bond.from.max(bond.to));
        let members = bundles.get(&pair).filter(|members| members.contains(&id));
        let (from, to) = (bond.from.0 as usize, bond.to.0 as usize);
        match members {
            Some(members) if members[0] != id => {}
            Some(members) => found.push(Bond {
                from,
                to,
                label: numbers(members),
                double: true,
                stroke: None,
                mark: Mark::Plain,
            }),
            None => {
                let known = view.causality(&model.causality, id);
                let at_ends = [mark_of(bond.from), mark_of(bond.to)];
                found.push(Bond {
                    from,
                    to,
                    label: View::number(id).to_string(),
                    double: false,
                    stroke: known.gives.map(|gives| match gives {
                        Gives::Effort => Stroke::To,
                        Gives::Flow => Stroke::From,
                    }),
                    mark: match (known.gives, known.in_loop) {
                        (None, _) if model.causality.depends_on_switches => Mark::Switched,
                        (_, Some(number)) => Mark::Loop(number),
                        _ if at_ends.contains(&Mark::Derivative) => Mark::Derivative,
                        _ => Mark::Plain,
                    },
                });
            }
        }
    }
    found
}

/// The label of several bonds: `3, 4`, `3..7`.
fn numbers(bonds: &[BondId]) -> String {
    let all: Vec<u32> = bonds.iter().map(|&id| View::number(id)).collect();
    let in_line = all.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match all.as_slice() {
        [first, .., last] if in_line && all.len() > 2 => format!("{first}..{last}"),
        _ => {
            let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
            texts.join(", ")
        }
    }
}

/// Up to this number of signals of an element are drawn. The JSON listing has all of them.
const MOST_SIGNALS: usize = 8;

fn signals(model: &BondGraph, view: &View) -> Vec<Signal> {
    let mut found: Vec<Signal> = Vec::new();
    for signal in &view.graph.signals {
        // Signals of one element follow each other.
        let to = signal.to.0 as usize;
        let into = found.iter().rev().take_while(|one| one.to == to).count();
        if into >= MOST_SIGNALS {
            continue;
        }
        let (from, label) = match signal.from {
            SignalSource::Node(id) => (Some(id.0 as usize), String::new()),
            SignalSource::Input(id) => (None, model.flat.name(id)),
        };
        let signal = Signal {
            from,
            to: signal.to.0 as usize,
            label,
        };
        let again = (found.iter().rev())
            .take_while(|one| one.to == to)
            .any(|one| *one == signal);
        if !again {
            found.push(signal);
        }
    }
    found
}

/// Formats a number in few characters: `2e8` rather than `200000000`.
fn short(value: f64) -> String {
    let plain = show_briefly(value);
    let power = format!("{value:e}");
    match power.len() < plain.len() && plain.len() > 5 {
        true => power,
        false => plain,
    }
}

/// The parameters of each submodel.
struct Parameters {
    list: Vec<(InstanceId, crate::flat::VarId)>,
}

impl Parameters {
    fn new(flat: &Flat) -> Self {
        let all = flat.variable_ids().filter(|&id| {
            let variable = flat.variable(id);
            variable.kind == Kind::Parameter && variable.index == 0
        });
        let mut list: Vec<_> = all.map(|id| (flat.variable(id).instance, id)).collect();
        list.sort_unstable();
        Parameters { list }
    }

    /// Returns the parameters as text, such as `R = 100 Ohm`, if there are few.
    fn of(&self, flat: &Flat, instance: InstanceId) -> Vec<String> {
        if instance == InstanceId::TOP {
            return Vec::new();
        }
        let first = self.list.partition_point(|&(owner, _)| owner < instance);
        let end = self.list.partition_point(|&(owner, _)| owner <= instance);
        let own = &self.list[first..end];
        if own.len() > MOST_VALUES {
            return Vec::new();
        }
        (own.iter())
            .filter_map(|&(_, id)| {
                let declaration = flat.declaration(id);
                let name = flat.names.name(declaration.name);
                let value = match flat.value(id)?.value {
                    Value::Real(value) => short(value),
                    Value::Bool(value) => value.to_string(),
                };
                let unit = (declaration.remarks.unit.as_deref()).unwrap_or("");
                Some(format!("{name} = {value} {unit}").trim_end().to_string())
            })
            .collect()
    }
}
