//! Causality as data. The schema, with its version, is in docs/json.md.

use std::io::{self, Write};

use serde::Serialize;

use super::causality::{form, gives_text, in_order};
use crate::bond::BondGraph;
use crate::bond::graph::{BondId, Graph, NodeId, NodeKind, SignalSource};
use crate::bond::net::Gives;
use crate::bond::order::natural;
use crate::bond::view::View;
use crate::flat::Flat;

#[derive(Serialize)]
struct CausalityJson {
    version: u32,
    model: String,
    bonds: Vec<BondJson>,
    junctions: Vec<JunctionJson>,
    elements: Vec<ElementJson>,
    boxes: Vec<BoxJson>,
    signals: Vec<SignalJson>,
    order: usize,
    /// The order in the modes that have the fewest states.
    least_order: usize,
    storages: usize,
    verdict: Vec<&'static str>,
    loops: Vec<LoopJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contradiction: Option<ContradictionJson>,
    unmet: Vec<String>,
}

#[derive(Serialize)]
struct BondJson {
    number: u32,
    from: String,
    to: String,
    effort: Option<String>,
    flow: Option<String>,
    /// The end at which the flow is computed.
    stroke: Option<&'static str>,
    free: bool,
    #[serde(rename = "loop")]
    in_loop: Option<u32>,
}

#[derive(Serialize)]
struct JunctionJson {
    name: String,
    #[serde(rename = "type")]
    kind: u8,
}

#[derive(Serialize)]
struct ElementJson {
    name: String,
    kind: &'static str,
    #[serde(rename = "type")]
    class: String,
    modulated: bool,
    signals: Vec<String>,
    causality: Option<&'static str>,
    /// The bond at each port; `gives` has the quantity that is determined there.
    bonds: Vec<u32>,
    gives: Vec<Option<&'static str>>,
    form: Vec<String>,
    states: Vec<String>,
}

#[derive(Serialize)]
struct BoxJson {
    name: String,
    #[serde(rename = "type")]
    class: String,
}

#[derive(Serialize)]
struct SignalJson {
    from: String,
    to: String,
    variable: String,
}

#[derive(Serialize)]
struct LoopJson {
    number: u32,
    bonds: Vec<u32>,
    elements: Vec<String>,
    has_resistor: bool,
}

#[derive(Serialize)]
struct ContradictionJson {
    elements: Vec<String>,
    junctions: Vec<String>,
}

pub fn write(model: &BondGraph, view: &View, out: &mut dyn Write) -> io::Result<()> {
    let document = document(model, view);
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Writes the document of a model without power ports.
pub fn write_empty(flat: &Flat, out: &mut dyn Write) -> io::Result<()> {
    let document = CausalityJson {
        version: 1,
        model: flat.model().to_string(),
        bonds: Vec::new(),
        junctions: Vec::new(),
        elements: Vec::new(),
        boxes: Vec::new(),
        signals: Vec::new(),
        order: 0,
        least_order: 0,
        storages: 0,
        verdict: Vec::new(),
        loops: Vec::new(),
        contradiction: None,
        unmet: Vec::new(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn signals(flat: &Flat, graph: &Graph) -> Vec<SignalJson> {
    let mut found: Vec<SignalJson> = (graph.signals.iter())
        .map(|signal| SignalJson {
            from: match signal.from {
                SignalSource::Node(id) => graph.node(id).name.clone(),
                SignalSource::Input(id) => flat.name(id),
            },
            to: graph.node(signal.to).name.clone(),
            variable: flat.name(signal.variable),
        })
        .collect();
    found.sort_by(|a, b| {
        (natural(&a.to, &b.to))
            .then_with(|| natural(&a.variable, &b.variable))
            .then_with(|| natural(&a.from, &b.from))
    });
    found
}

fn document(model: &BondGraph, view: &View) -> CausalityJson {
    let (flat, whole, causality) = (&model.flat, &model.graph, &model.causality);
    let graph = &view.graph;
    let name = |id: NodeId| graph.node(id).name.clone();
    let whole_name = |id: NodeId| whole.node(id).name.clone();
    let mut elements = Vec::new();
    let mut junctions = Vec::new();
    let mut boxes = Vec::new();
    for id in in_order(graph) {
        match &graph.node(id).kind {
            NodeKind::Junction(kind) => junctions.push(JunctionJson {
                name: name(id),
                kind: kind.digit(),
            }),
            NodeKind::Box(class) => boxes.push(BoxJson {
                name: name(id),
                class: class.clone(),
            }),
            NodeKind::Element(element) => {
                let own = view.nodes_of[id.index()];
                let gives = |&bond: &BondId| {
                    let found = view.causality(causality, bond).gives?;
                    let own = match graph.bond(bond).from == id {
                        true => found,
                        false => found.other(),
                    };
                    Some(gives_text(Some(own)))
                };
                let class = flat.instances[graph.node(id).owner.index()].class;
                elements.push(ElementJson {
                    name: name(id),
                    kind: element.kind.text(),
                    class: flat.names.name(class).to_string(),
                    modulated: element.is_modulated(),
                    signals: element.signals.iter().map(|&id| flat.name(id)).collect(),
                    causality: view.element(causality, id).text(),
                    bonds: element
                        .ports
                        .iter()
                        .map(|&bond| View::number(bond))
                        .collect(),
                    gives: element.ports.iter().map(gives).collect(),
                    form: (whole.node(own).element())
                        .map_or_else(Vec::new, |element| form(model, own, element)),
                    states: element.states.iter().map(|&id| flat.name(id)).collect(),
                });
            }
        }
    }
    let mut of_loops: Vec<Vec<u32>> = vec![Vec::new(); causality.loops.len()];
    for id in graph.bond_ids() {
        if let Some(number) = view.causality(causality, id).in_loop {
            of_loops[number as usize].push(View::number(id));
        }
    }
    CausalityJson {
        version: 1,
        model: flat.model().to_string(),
        bonds: (graph.bond_ids())
            .map(|id| {
                let bond = graph.bond(id);
                let found = view.causality(causality, id);
                BondJson {
                    number: View::number(id),
                    from: name(bond.from),
                    to: name(bond.to),
                    effort: bond.effort.0.is_some().then(|| bond.effort.text(flat)),
                    flow: bond.flow.0.is_some().then(|| bond.flow.text(flat)),
                    stroke: found.gives.map(|gives| match gives {
                        Gives::Effort => "to",
                        Gives::Flow => "from",
                    }),
                    free: found.free,
                    in_loop: found.in_loop.map(|number| number + 1),
                }
            })
            .collect(),
        junctions,
        elements,
        boxes,
        signals: signals(flat, graph),
        order: causality.order,
        least_order: causality.least_order,
        storages: causality.storages,
        verdict: causality
            .verdict()
            .into_iter()
            .map(|one| one.text())
            .collect(),
        loops: (causality.loops.iter().enumerate())
            .map(|(at, one)| LoopJson {
                number: at as u32 + 1,
                bonds: of_loops[at].clone(),
                elements: one.elements.iter().map(|&id| whole_name(id)).collect(),
                has_resistor: one.has_resistor,
            })
            .collect(),
        contradiction: causality
            .contradiction
            .as_ref()
            .map(|stuck| ContradictionJson {
                elements: stuck.elements.iter().map(|&id| whole_name(id)).collect(),
                junctions: stuck.junctions.iter().map(|&id| whole_name(id)).collect(),
            }),
        unmet: (causality.unmet.iter())
            .map(|&at| {
                let one = model.preferences.list[at];
                format!("{}={}", whole_name(one.node), one.wanted.text())
            })
            .collect(),
    }
}
