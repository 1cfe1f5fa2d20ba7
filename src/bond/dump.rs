//! Dump of a bond graph as lines: nodes, bonds with their strokes, signals.
//!
//! ```text
//! n3 R1 element R [b2] in i1 allows effort or flow
//! b2 n0 --->| n3 effort R1.e flow R1.f
//! ```

use std::fmt::{self, Debug, Write};

use super::causality::Causality;
use super::graph::{Allowed, Element, Graph, NodeId, NodeKind, Pattern, SignalSource};
use super::net::Gives;
use crate::flat::Flat;

/// A node printed with its name, by which a reader finds it in a picture.
pub struct At<'g>(pub NodeId, pub &'g Graph);

impl Debug for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.0, self.1.node(self.0).name)
    }
}

pub fn dump(flat: &Flat, graph: &Graph, causality: Option<&Causality>) -> String {
    let (nodes, bonds) = (graph.nodes.len(), graph.bonds.len());
    let mut out = format!("graph {}: {nodes} nodes, {bonds} bonds", flat.model());
    if let Some(causality) = causality {
        let verdict: Vec<&str> = causality.verdict().iter().map(|one| one.text()).collect();
        let _ = write!(out, ", {}, order {}", verdict.join(" "), causality.order);
    }
    out.push('\n');
    for id in graph.node_ids() {
        let node = graph.node(id);
        let _ = write!(out, "{id:?} {}", node.name);
        let _ = match &node.kind {
            NodeKind::Junction(kind) => write!(out, " {}-junction", kind.digit()),
            NodeKind::Element(element) => {
                element_line(flat, element, &mut out);
                Ok(())
            }
            NodeKind::Box(name) => write!(out, " box {name}"),
        };
        let _ = write!(out, " in {:?}", node.owner);
        let text = causality.and_then(|causality| causality.elements.get(id.index())?.text());
        if let Some(text) = text {
            let _ = write!(out, " {text}");
        }
        out.push('\n');
    }
    for id in graph.bond_ids() {
        let bond = graph.bond(id);
        let known = causality.and_then(|causality| causality.bonds.get(id.index()));
        // The stroke is drawn at the end where the flow is computed.
        let arrow = match known.and_then(|known| known.gives) {
            Some(Gives::Flow) => "|--->",
            Some(Gives::Effort) => "--->|",
            None => "--->",
        };
        let (effort, flow) = (bond.effort.text(flat), bond.flow.text(flat));
        let (from, to) = (bond.from, bond.to);
        let _ = write!(
            out,
            "{id:?} {from:?} {arrow} {to:?} effort {effort} flow {flow}"
        );
        if known.is_some_and(|known| known.free) {
            out.push_str(" free");
        }
        if let Some(at) = known.and_then(|known| known.in_loop) {
            let _ = write!(out, " loop {at}");
        }
        out.push_str(if bond.in_bundle { " bundle\n" } else { "\n" });
    }
    for signal in &graph.signals {
        let name = flat.name(signal.variable);
        let (to, variable) = (signal.to, signal.variable);
        let _ = match signal.from {
            SignalSource::Node(from) => {
                writeln!(out, "signal {from:?} to {to:?} {variable:?} {name}")
            }
            SignalSource::Input(from) => {
                writeln!(out, "signal {from:?} to {to:?} {variable:?} {name}")
            }
        };
    }
    out
}

fn element_line(flat: &Flat, element: &Element, out: &mut String) {
    let _ = write!(
        out,
        " element {} {:?} allows ",
        element.label(),
        element.ports
    );
    let allowed = |one: &Allowed| match (one.effort, one.flow) {
        (true, true) => "either",
        (true, false) => "effort",
        (false, true) => "flow",
        (false, false) => "nothing",
    };
    match &element.pattern {
        Pattern::Each(all) => {
            let all: Vec<&str> = all.iter().map(allowed).collect();
            out.push_str(&all.join(", "));
        }
        Pattern::One(gives) => {
            let _ = write!(out, "one of {gives:?}");
        }
    }
    if !element.states.is_empty() {
        let names: Vec<String> = element.states.iter().map(|&id| flat.name(id)).collect();
        let _ = write!(out, " states {}", names.join(" "));
    }
}
