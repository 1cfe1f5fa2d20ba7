//! Verifier of bond graphs. Every bond has two ends; at an element it has one port; every bond of
//! an element leads to a junction. With a causality: exactly one bond determines the effort (or the
//! flow) of each junction, and each element can compute what its strokes say.

use super::causality::{Causality, Verdict};
use super::dump::At;
use super::graph::{BondId, Element, Graph, NodeId, NodeKind, Pattern, SignalSource};
use super::net::Gives;
use crate::base::flaw::{Flaws, Place};
use crate::flat::{Flat, VarId};

/// Verifies a graph. `flat` is the model from which it was recovered; the causality is optional.
pub fn verify(flat: &Flat, graph: &Graph, causality: Option<&Causality>) -> Result<(), Flaws> {
    let mut verifier = Verifier {
        flat,
        graph,
        flaws: Flaws::default(),
    };
    verifier.bonds();
    // The next checks use these ids as indices.
    if verifier.flaws.is_empty() {
        let bonds = graph.bonds_of();
        for id in graph.node_ids() {
            verifier.node(id, &bonds[id.index()]);
        }
        verifier.signals();
        if let Some(causality) = causality
            && verifier.flaws.is_empty()
        {
            verifier.strokes(causality, &bonds);
        }
    }
    verifier.flaws.into_result()
}

struct Verifier<'g> {
    flat: &'g Flat,
    graph: &'g Graph,
    flaws: Flaws,
}

impl Verifier<'_> {
    fn is_node(&self, id: NodeId) -> bool {
        id.index() < self.graph.nodes.len()
    }

    fn known(&mut self, place: impl std::fmt::Debug, id: VarId) {
        let holds = id.index() < self.flat.variables.len();
        (self.flaws).unless(holds, place, || format!("there is no variable {id:?}"));
    }

    fn bonds(&mut self) {
        for id in self.graph.bond_ids() {
            let bond = self.graph.bond(id);
            for end in bond.ends() {
                let holds = self.is_node(end);
                (self.flaws).unless(holds, id, || format!("there is no node {end:?}"));
            }
            let apart = bond.from != bond.to;
            (self.flaws).unless(apart, id, || {
                format!("both of its ends are {:?}", bond.from)
            });
            for quantity in [&bond.effort, &bond.flow] {
                for &(_, variable) in quantity.0.iter().flatten() {
                    self.known(id, variable);
                }
            }
        }
    }

    fn node(&mut self, id: NodeId, bonds: &[BondId]) {
        let node = self.graph.node(id);
        let owner = node.owner;
        let holds = owner.index() < self.flat.instances.len();
        (self.flaws).unless(holds, id, || format!("there is no instance {owner:?}"));
        match &node.kind {
            NodeKind::Junction(_) => {}
            NodeKind::Element(element) => self.element(id, element, bonds),
            NodeKind::Box(_) => {
                (self.flaws).add(id, "it is a closed submodel, which views have only");
            }
        }
    }

    fn element(&mut self, id: NodeId, element: &Element, bonds: &[BondId]) {
        let mut ports = element.ports.clone();
        ports.sort_unstable();
        (self.flaws).unless(ports == bonds, id, || {
            format!("its ports have the bonds {ports:?}, and {bonds:?} end at it")
        });
        for &bond in bonds {
            let other = self.graph.bond(bond).other(id);
            let junction = self.graph.node(other).junction().is_some();
            (self.flaws).unless(junction, bond, || {
                format!("it leads from an element to {other:?}, no junction")
            });
        }
        let count = element.ports.len();
        let lengths = [
            ("quantities", element.quantities.len()),
            (
                "pattern",
                match &element.pattern {
                    Pattern::Each(allowed) => allowed.len(),
                    Pattern::One(gives) => gives.len(),
                },
            ),
        ];
        let together = element.together.iter().map(|one| ("together", one.len()));
        let forms = element
            .forms
            .iter()
            .flat_map(|form| [("form", form.gives.len()), ("laws", form.laws.len())]);
        for (what, length) in lengths.into_iter().chain(together).chain(forms) {
            (self.flaws).unless(length == count, id, || {
                format!("{what} for {length} ports, but it has {count}")
            });
        }
        for form in &element.forms {
            for law in &form.laws {
                let most = form.assignments.len();
                let holds = law.assignments.iter().all(|&at| at < most);
                (self.flaws).unless(holds, id, || "a law names no assignment".to_string());
            }
            for value in form.assignments.iter().filter_map(|one| one.value) {
                let holds = self.flat.exprs.holds(value);
                (self.flaws).unless(holds, id, || format!("there is no expression {value:?}"));
            }
        }
        let listed = [&element.signals, &element.states, &element.summed];
        for &variable in listed.into_iter().flatten() {
            self.known(id, variable);
        }
    }

    fn signals(&mut self) {
        for signal in &self.graph.signals {
            self.known(Place("signal"), signal.variable);
            let from = match signal.from {
                SignalSource::Node(node) => Some(node),
                SignalSource::Input(variable) => {
                    self.known(Place("signal"), variable);
                    None
                }
            };
            for node in from.into_iter().chain([signal.to]) {
                let holds = self.is_node(node);
                (self.flaws).unless(holds, Place("signal"), || format!("there is no {node:?}"));
            }
        }
    }

    fn strokes(&mut self, causality: &Causality, bonds: &[Vec<BondId>]) {
        let graph = self.graph;
        let (bond_count, node_count) = (causality.bonds.len(), causality.elements.len());
        let fits = bond_count == graph.bonds.len() && node_count == graph.nodes.len();
        (self.flaws).unless(fits, Place("causality"), || {
            format!("it has {bond_count} bonds and {node_count} nodes")
        });
        for of in &causality.loops {
            let nodes = of.elements.iter().all(|&id| self.is_node(id));
            let ids = of.bonds.iter().all(|id| id.index() < graph.bonds.len());
            (self.flaws).unless(nodes && ids, Place("loop"), || {
                "it names no bond".to_string()
            });
        }
        let verdict = causality.verdict();
        if !fits || verdict.contains(&Verdict::NonCausal) {
            return;
        }
        for id in graph.node_ids() {
            // A bond whose stroke depends on a switch has no stroke to verify.
            let given: Option<Vec<Gives>> = (bonds[id.index()].iter())
                .map(|&bond| self.given(causality, bond, id))
                .collect();
            let Some(given) = given else {
                continue;
            };
            match &graph.node(id).kind {
                NodeKind::Junction(kind) => {
                    let once = kind.gives_once();
                    let count = given.iter().filter(|&&gives| gives == once).count();
                    (self.flaws).unless(count == 1, At(id, graph), || {
                        let digit = kind.digit();
                        format!(
                            "a {digit}-junction gives its {once:?} at {count} bonds, not at one"
                        )
                    });
                }
                NodeKind::Element(element) => {
                    let fits = self.fits(element, causality);
                    (self.flaws).unless(fits, At(id, graph), || {
                        "its strokes are not what its equations allow".to_string()
                    });
                }
                NodeKind::Box(_) => {}
            }
        }
    }

    /// Returns what a node gives at a bond.
    fn given(&self, causality: &Causality, bond: BondId, node: NodeId) -> Option<Gives> {
        let from = causality.bonds[bond.index()].gives?;
        match self.graph.bond(bond).from == node {
            true => Some(from),
            false => Some(from.other()),
        }
    }

    fn fits(&self, element: &Element, causality: &Causality) -> bool {
        let Some(id) = element.ports.first() else {
            return true;
        };
        // No bond joins two elements, so one end identifies the element.
        let own = |end: NodeId| {
            (self.graph.node(end).element()).is_some_and(|e| std::ptr::eq(e, element))
        };
        let ends = self.graph.bond(*id).ends();
        let Some(node) = ends.into_iter().find(|&end| own(end)) else {
            return false;
        };
        let given: Option<Vec<Gives>> = (element.ports.iter())
            .map(|&bond| self.given(causality, bond, node))
            .collect();
        let Some(given) = given else { return true };
        match &element.pattern {
            Pattern::Each(allowed) => {
                allowed
                    .iter()
                    .zip(&given)
                    .all(|(allowed, gives)| match gives {
                        Gives::Effort => allowed.effort,
                        Gives::Flow => allowed.flow,
                    })
            }
            Pattern::One(marked) => {
                let hits = marked.iter().zip(&given).filter(|(a, b)| a == b);
                hits.count() == 1
            }
        }
    }
}
