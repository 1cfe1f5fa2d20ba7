//! Causality as text: bonds with their strokes, elements with what they compute, and a verdict.

use std::fmt::Write;

use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::words::count;
use crate::bond::BondGraph;
use crate::bond::causality::{ElementCausality, Verdict};
use crate::bond::graph::{Assignment, Element, ElementKind, Graph, NodeId, NodeKind, Quantity};
use crate::bond::net::Gives;
use crate::bond::order::natural;
use crate::bond::view::View;
use crate::expr::Node;
use crate::flat::{Flat, Leaf, Printer};

/// The text that replaces the listing if no cuts exchange power.
pub fn without_ports(flat: &Flat) -> String {
    format!(
        "{}: no power ports, and so no bond graph: no cuts meet that have an effort and a flow (a position and a force make no power, a velocity and a force do)\n",
        flat.model()
    )
}

/// The error for a drawing of such a model.
pub fn nothing_to_draw(flat: &Flat) -> Diagnostic {
    let name = flat.model();
    Diagnostic::new(
        Code::NoPowerPorts,
        format!("`{name}` has no power ports, and so no bond graph to draw"),
    )
    .at(
        flat.instances[0].span,
        "no cut in it has both an across and a through variable that meet others",
    )
    .hint("write what exchanges power as submodels with cuts: `cut A(e/f)`")
}

/// Lists the bonds of a view and the elements of a model.
pub fn causality(model: &BondGraph, view: &View) -> String {
    let mut out = String::new();
    heading(model, view, &mut out);
    verdict(model, view, &mut out);
    bonds(model, view, &mut out);
    for section in SECTIONS {
        elements(model, section, &mut out);
    }
    out
}

fn heading(model: &BondGraph, view: &View, out: &mut String) {
    let graph = &view.graph;
    let kinds = |wanted: fn(&NodeKind) -> bool| {
        (graph.nodes.iter())
            .filter(|node| wanted(&node.kind))
            .count()
    };
    let elements = kinds(|what| matches!(what, NodeKind::Element(_)));
    let junctions = kinds(|what| matches!(what, NodeKind::Junction(_)));
    let boxes = kinds(|what| matches!(what, NodeKind::Box(_)));
    let _ = write!(
        out,
        "{}: {}, {}, {}",
        model.flat.model(),
        count(graph.bonds.len(), "bond"),
        count(junctions, "junction"),
        count(elements, "element")
    );
    if boxes > 0 {
        let _ = write!(out, ", {}", count(boxes, "closed submodel"));
    }
    out.push_str("\n\n");
}

/// Writes the verdict, with the order, the dependent storages, and the loops on which it is based.
fn verdict(model: &BondGraph, view: &View, out: &mut String) {
    let causality = &model.causality;
    let graph = &model.graph;
    for verdict in causality.verdict() {
        match verdict {
            Verdict::Causal => {
                let _ = writeln!(
                    out,
                    "causal: every bond has one possible stroke; order {}",
                    causality.order
                );
            }
            Verdict::NonCausal => out.push_str(&non_causal(model)),
            Verdict::Degenerate => {
                let (least, most) = (causality.least_order, causality.order);
                let order = match least == most {
                    true => format!("order {most}"),
                    false => format!("order {least} to {most}, as the switches stand"),
                };
                let of = count(causality.storages, "storage");
                let which = derivative(model);
                let _ = writeln!(out, "degenerate: {order}, of {of}; {which}");
            }
            Verdict::Loops => {
                let text = match causality.least_order == causality.storages {
                    true => format!("; order {}", causality.order),
                    false => String::new(),
                };
                let _ = writeln!(
                    out,
                    "loops: {} left with a choice{text}",
                    count(causality.loops.len(), "algebraic loop")
                );
            }
        }
    }
    if causality.impossible > 0 {
        let _ = writeln!(
            out,
            "switches: {} of {} contradict the sources (`bgm solve --modes` tells which)",
            causality.impossible,
            count(causality.tried, "position")
        );
    }
    let mut of_loops: Vec<Vec<String>> = vec![Vec::new(); causality.loops.len()];
    for id in view.graph.bond_ids() {
        if let Some(number) = view.causality(causality, id).in_loop {
            of_loops[number as usize].push(View::number(id).to_string());
        }
    }
    for (at, one) in causality.loops.iter().enumerate() {
        let names: Vec<&str> = (one.elements.iter())
            .map(|&id| graph.node(id).name.as_str())
            .collect();
        let numbers = &of_loops[at];
        let what = match one.has_resistor {
            true => "",
            false => ", a part of the junction structure without a resistor",
        };
        let _ = writeln!(
            out,
            "  loop {}: {}; bonds {}{what}",
            at + 1,
            if names.is_empty() {
                "no elements".to_string()
            } else {
                names.join(", ")
            },
            if numbers.is_empty() {
                "not shown".to_string()
            } else {
                numbers.join(", ")
            }
        );
    }
}

fn non_causal(model: &BondGraph) -> String {
    let (graph, causality) = (&model.graph, &model.causality);
    let names = |ids: &[NodeId]| -> Vec<String> {
        let mut names: Vec<String> = (ids.iter())
            .map(|&id| format!("`{}`", graph.node(id).name))
            .collect();
        names.sort_by(|a, b| natural(a, b));
        names
    };
    let Some(stuck) = &causality.contradiction else {
        return String::new();
    };
    let sources = names(&stuck.elements);
    let junctions = names(&stuck.junctions);
    let at = match junctions.len() {
        0 => String::new(),
        1..=4 => format!(" at {}", junctions.join(", ")),
        _ => format!(
            " at {} and {} more",
            junctions[..3].join(", "),
            junctions.len() - 3
        ),
    };
    match sources.as_slice() {
        [] if junctions.is_empty() => {
            "non-causal: the equations contradict each other, as the error says\n".to_string()
        }
        [] => format!("non-causal: nothing determines what is common{at}\n"),
        [one] => format!("non-causal: {one} contradicts what is around it{at}\n"),
        [first @ .., last] => format!(
            "non-causal: {} and {last} contradict each other{at}\n",
            first.join(", ")
        ),
    }
}

fn derivative(model: &BondGraph) -> String {
    let graph = &model.graph;
    let with = |wanted: ElementCausality| -> Vec<&str> {
        let mut names: Vec<&str> = (graph.elements())
            .filter(|(_, element)| matches!(element.kind, ElementKind::C | ElementKind::I))
            .filter(|(id, _)| model.causality.elements[id.index()] == wanted)
            .map(|(id, _)| graph.node(id).name.as_str())
            .collect();
        names.sort_by(|a, b| natural(a, b));
        names
    };
    let always = with(ElementCausality::Derivative);
    let sometimes = with(ElementCausality::Free);
    let mut texts = Vec::new();
    if !always.is_empty() {
        texts.push(format!("derivative causality: {}", always.join(", ")));
    }
    if !sometimes.is_empty() {
        texts.push(format!(
            "in some positions derivative: {}",
            sometimes.join(", ")
        ));
    }
    texts.join("; ")
}

fn bonds(model: &BondGraph, view: &View, out: &mut String) {
    let graph = &view.graph;
    if graph.bonds.is_empty() {
        return;
    }
    let mut rows: Vec<Vec<String>> = vec![
        ["", "from", "", "to", "effort", "by", "flow", "by", ""]
            .map(str::to_string)
            .to_vec(),
    ];
    for id in graph.bond_ids() {
        let bond = graph.bond(id);
        let found = view.causality(&model.causality, id);
        let name = |node: NodeId| graph.node(node).name.clone();
        let (from, to) = (name(bond.from), name(bond.to));
        let (arrow, effort_by, flow_by) = match found.gives {
            Some(Gives::Effort) => ("--->|", from.clone(), to.clone()),
            Some(Gives::Flow) => ("|--->", to.clone(), from.clone()),
            None => ("---->", "-".to_string(), "-".to_string()),
        };
        let remark = match (found.gives, found.in_loop) {
            (None, Some(number)) if model.causality.depends_on_switches => {
                format!("loop {}, depends on a switch", number + 1)
            }
            (None, _) if model.causality.depends_on_switches => "depends on a switch".to_string(),
            (_, Some(number)) => format!("loop {}", number + 1),
            _ => String::new(),
        };
        rows.push(vec![
            View::number(id).to_string(),
            from,
            arrow.to_string(),
            to,
            bond.effort.text(&model.flat),
            effort_by,
            bond.flow.text(&model.flat),
            flow_by,
            remark,
        ]);
    }
    out.push_str("\nBONDS\n\n");
    table(&rows, 1, out);
}

/// Writes rows as a table; the first `right` columns are aligned to the right.
pub(super) fn table(rows: &[Vec<String>], right: usize, out: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let space = widths[at] - cell.chars().count();
            let (before, after) = if at < right { (space, 0) } else { (0, space) };
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', after + 2));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

struct Section {
    title: &'static str,
    holds: fn(&Element) -> bool,
}

const SECTIONS: &[Section] = &[
    Section {
        title: "STORAGES",
        holds: |element| matches!(element.kind, ElementKind::C | ElementKind::I),
    },
    Section {
        title: "RESISTORS",
        holds: |element| matches!(element.kind, ElementKind::R | ElementKind::RS),
    },
    Section {
        title: "TRANSFORMERS AND GYRATORS",
        holds: |element| matches!(element.kind, ElementKind::TF | ElementKind::GY),
    },
    Section {
        title: "SOURCES",
        holds: |element| element.kind.is_source() && !element.open && !element.reference,
    },
    Section {
        title: "SWITCHES",
        holds: |element| element.kind == ElementKind::Sw,
    },
    Section {
        title: "OTHER ELEMENTS",
        holds: |element| element.kind == ElementKind::Other,
    },
];

fn elements(model: &BondGraph, section: &Section, out: &mut String) {
    let graph = &model.graph;
    let mut found: Vec<(NodeId, &Element)> = (graph.elements())
        .filter(|(_, element)| (section.holds)(element))
        .collect();
    if found.is_empty() {
        return;
    }
    found.sort_by(|a, b| natural(&graph.node(a.0).name, &graph.node(b.0).name));
    let rows: Vec<Vec<String>> = (found.into_iter())
        .map(|(id, element)| {
            vec![
                graph.node(id).name.clone(),
                element.label(),
                in_words(model, id, element),
                details(model, id, element).join(", "),
            ]
        })
        .collect();
    let _ = write!(out, "\n{}\n\n", section.title);
    table(&rows, 0, out);
}

/// Describes the causality of an element in terms of its kind.
fn in_words(model: &BondGraph, id: NodeId, element: &Element) -> String {
    let found = model.causality.elements[id.index()];
    match found {
        ElementCausality::Source => match element.kind {
            ElementKind::Se => "effort",
            _ => "flow",
        }
        .to_string(),
        ElementCausality::Free => match element.kind {
            ElementKind::C | ElementKind::I => "integral or derivative",
            ElementKind::R | ElementKind::RS => "resistance or conductance",
            _ => "effort or flow",
        }
        .to_string(),
        ElementCausality::None => "-".to_string(),
        ElementCausality::Plain => given(model, id, element),
        _ => {
            let parts =
                element.ports.len() > 1 && matches!(element.kind, ElementKind::C | ElementKind::I);
            match found.text() {
                Some(text) if parts && found == ElementCausality::Derivative => {
                    format!("{text} ({})", given(model, id, element))
                }
                Some(text) if found != ElementCausality::Mixed => text.to_string(),
                _ => given(model, id, element),
            }
        }
    }
}

/// Returns the quantity that each port determines: `gives effort, flow`.
fn given(model: &BondGraph, id: NodeId, element: &Element) -> String {
    let texts: Vec<&str> = (element.ports.iter())
        .map(|&bond| gives_text(model.causality.gives(&model.graph, id, bond)))
        .collect();
    format!("gives {}", texts.join(", "))
}

pub(super) fn gives_text(gives: Option<Gives>) -> &'static str {
    match gives {
        Some(Gives::Effort) => "effort",
        Some(Gives::Flow) => "flow",
        None => "either",
    }
}

/// Returns the form of the equations that is used, the states and the signals.
fn details(model: &BondGraph, id: NodeId, element: &Element) -> Vec<String> {
    let mut found = form(model, id, element);
    if matches!(element.kind, ElementKind::C | ElementKind::I) {
        let names: Vec<String> = element
            .states
            .iter()
            .map(|&id| model.flat.name(id))
            .collect();
        let what = match model.causality.elements[id.index()] {
            ElementCausality::Integral => "state",
            _ => "differentiates",
        };
        found.push(format!("{what} {}", names.join(", ")));
    }
    if !element.signals.is_empty() {
        let names: Vec<String> = element
            .signals
            .iter()
            .map(|&id| model.flat.name(id))
            .collect();
        found.push(match element.kind.is_source() {
            true => names.join(", "),
            false => format!("signal {}", names.join(", ")),
        });
    }
    found
}

/// Returns the equations of an element in the form that its causality requires.
pub(super) fn form(model: &BondGraph, id: NodeId, element: &Element) -> Vec<String> {
    let wanted = matches!(
        element.kind,
        ElementKind::R | ElementKind::RS | ElementKind::TF | ElementKind::GY
    );
    let given: Option<Vec<Gives>> = (element.ports.iter())
        .map(|&bond| model.causality.gives(&model.graph, id, bond))
        .collect();
    let form = (element.forms.iter()).find(|form| Some(&form.gives) == given.as_ref());
    let Some(form) = form.filter(|_| wanted) else {
        return Vec::new();
    };
    let flat = &model.flat;
    let printer = Printer::new(flat);
    let only_names = |one: &&Assignment| only_names(flat, element, one);
    let (names, inner): (Vec<&Assignment>, Vec<&Assignment>) =
        form.assignments.iter().partition(only_names);
    let list = if inner.is_empty() { names } else { inner };
    (list.into_iter())
        .map(|one| {
            let mut text = match element.summed.contains(&one.target.variable()) {
                true => sum_of(flat, &model.graph, element, one.target),
                false => flat.leaf_name(one.target),
            };
            match one.value {
                Some(value) => {
                    text.push_str(" = ");
                    printer.write(value, &mut text);
                }
                None => text.push_str(" by iteration"),
            }
            text
        })
        .collect()
}

/// Returns true if the assignment only names a sum (`u = Va - Vb`) and so describes no law of the element.
pub(super) fn only_names(flat: &Flat, element: &Element, one: &Assignment) -> bool {
    let is_sum = |leaf: Leaf| element.summed.contains(&leaf.variable());
    let Some(value) = one.value else {
        return false;
    };
    match is_sum(one.target) {
        true => matches!(flat.exprs.node(value), Node::Leaf(_)),
        false => {
            let (mut any, mut all) = (false, true);
            flat.exprs.leaves(value, |leaf| {
                any = true;
                all &= is_sum(leaf);
            });
            any && all
        }
    }
}

/// Returns the sum that a variable is equal to: `Va - Vb`.
pub(super) fn sum_of(flat: &Flat, graph: &Graph, element: &Element, target: Leaf) -> String {
    let terms_with = |quantity: &Quantity| {
        let terms = quantity.0.as_ref()?;
        let found = terms.iter().find(|&&(_, id)| Leaf::Var(id) == target)?;
        Some(if found.0 {
            quantity.negated()
        } else {
            quantity.clone()
        })
    };
    let bonds = element.ports.iter().map(|&id| graph.bond(id));
    let found = bonds
        .flat_map(|bond| [&bond.effort, &bond.flow])
        .find_map(terms_with);
    found.map_or_else(|| flat.leaf_name(target), |sum| sum.text(flat))
}

/// Returns the nodes of a view, sorted by name.
pub(super) fn in_order(graph: &Graph) -> Vec<NodeId> {
    let mut ids: Vec<NodeId> = graph.node_ids().collect();
    ids.sort_by(|&a, &b| natural(&graph.node(a).name, &graph.node(b).name).then(a.cmp(&b)));
    ids
}
