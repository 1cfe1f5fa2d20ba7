//! Implicit R-fields: resistors that determine each other.
//!
//! Before: a graph with its causality, and its algebraic loops. After: for each loop the numbers of Hood, Rosenberg, Withers and
//! Zhou 1987: bonds NB, junctions N0 and N1, their bonds B0 and B1, and from these E and F, equations (8) and (9), the
//! numbers of effort and flow inputs that the junction structure needs; transformers inside count one off both. Resistors in
//! resistance form (r) and in conductance form (g); the iteration vector, the flows into r or the efforts into g, whichever
//! are fewer; and the order of evaluation, (10) (15) (11) (14) or (11) (14) (10) (15).
//!
//! Gyrators inside exchange effort and flow: the efforts and flows of the junction structure are no longer apart, and the
//! order of evaluation is found from what depends on what, as for any loop.

use rustc_hash::{FxHashMap, FxHashSet};

use super::place::Place;
use super::robust::Choice;
use super::transfer::{Sum, Transfer, Trouble, Var};
use crate::bond::graph::{BondId, ElementKind, JunctionKind, NodeId, Pattern, What};
use crate::bond::net::Gives;
use crate::bond::order::natural;

/// The numbers of a junction structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub bonds: usize,
    pub zeros: usize,
    pub ones: usize,
    pub at_zeros: usize,
    pub at_ones: usize,
    pub transformers: usize,
    pub gyrators: usize,
}

impl Numbers {
    /// Equation (8).
    pub fn e(&self) -> i64 {
        let count = |number: usize| number as i64;
        count(self.bonds) + count(self.zeros)
            - count(self.ones)
            - count(self.at_zeros)
            - count(self.transformers)
    }

    /// Equation (9).
    pub fn f(&self) -> i64 {
        let count = |number: usize| number as i64;
        count(self.bonds) + count(self.ones)
            - count(self.zeros)
            - count(self.at_ones)
            - count(self.transformers)
    }
}

/// A line of the order of evaluation.
#[derive(Clone, Debug)]
pub enum Step {
    /// A resistor computes what it gives from what it takes.
    Law { node: NodeId, port: usize },
    /// The junction structure: a variable as a sum of others.
    Sum { var: Var, sum: Sum },
}

/// Why a field has no order of evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// E or F is less than one: no guarantee that the inputs determine the outputs.
    Numbers,
    /// A part of the junction structure, without a resistor.
    NoResistor,
    /// A switch stands in it: it has other equations in each position.
    Switch(NodeId),
    /// What the junctions pass on cannot be followed.
    Trouble(Trouble),
}

#[derive(Clone, Debug)]
pub struct RField {
    pub bonds: Vec<BondId>,
    /// By name; in each the ports that are in the field.
    pub resistors: Vec<NodeId>,
    pub numbers: Numbers,
    /// Ports in resistance and in conductance form.
    pub r: Vec<Port>,
    pub g: Vec<Port>,
    /// What is iterated on.
    pub iteration: Vec<Var>,
    pub sequence: Result<Vec<Step>, Obstacle>,
    /// Where its resistors are in the sorted equations.
    pub place: Place,
    /// What numbers say of the choice of r and g, if they say anything.
    pub choice: Option<Choice>,
}

/// A port of a resistor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    pub node: NodeId,
    pub port: usize,
    pub bond: BondId,
}

/// The fields of a graph, one for each set of free bonds.
pub fn r_fields(transfer: &mut Transfer<'_>, loops: &[Vec<BondId>]) -> Vec<RField> {
    let mut found = shapes(transfer, loops);
    for field in &mut found {
        if field.sequence.as_ref().err() == Some(&Obstacle::Numbers) {
            order(transfer, field);
        }
    }
    found
}

/// The same without their order of evaluation: [`Obstacle::Numbers`] stands for what is not known yet.
pub fn shapes(transfer: &Transfer<'_>, loops: &[Vec<BondId>]) -> Vec<RField> {
    (loops.iter())
        .filter(|bonds| !bonds.is_empty())
        .map(|bonds| shape(transfer, bonds))
        .collect()
}

fn shape(transfer: &Transfer<'_>, bonds: &[BondId]) -> RField {
    let graph = transfer.graph;
    let inside: FxHashSet<BondId> = bonds.iter().copied().collect();
    let mut nodes: Vec<NodeId> = (bonds.iter())
        .flat_map(|&id| graph.bond(id).ends())
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut numbers = Numbers {
        bonds: bonds.len(),
        ..Numbers::default()
    };
    let mut ports: Vec<Port> = Vec::new();
    let mut switch = None;
    for &id in &nodes {
        let of = (transfer.bonds_at(id).iter()).filter(|bond| inside.contains(bond));
        let count = of.count();
        match &graph.node(id).what {
            What::Junction(JunctionKind::Zero) => {
                numbers.zeros += 1;
                numbers.at_zeros += count;
            }
            What::Junction(JunctionKind::One) => {
                numbers.ones += 1;
                numbers.at_ones += count;
            }
            What::Element(element) => match (&element.pattern, element.kind) {
                (Pattern::One(_), ElementKind::GY) => numbers.gyrators += 1,
                (Pattern::One(_), _) => numbers.transformers += 1,
                (_, ElementKind::Sw) => switch = Some(id),
                _ => ports.extend(
                    (element.ports.iter().enumerate())
                        .filter(|(_, bond)| inside.contains(bond))
                        .map(|(port, &bond)| Port {
                            node: id,
                            port,
                            bond,
                        }),
                ),
            },
            What::Box(_) => {}
        }
    }
    let name = |port: &Port| &graph.node(port.node).name;
    ports.sort_by(|a, b| natural(name(a), name(b)).then(a.cmp(b)));
    let mut resistors: Vec<NodeId> = ports.iter().map(|port| port.node).collect();
    resistors.dedup();
    let gives = |port: &Port| transfer.given_by(port.node, port.bond);
    let (r, g): (Vec<Port>, Vec<Port>) =
        (ports.iter().copied()).partition(|port| gives(port) == Some(Gives::Effort));
    let mut found = RField {
        bonds: bonds.to_vec(),
        resistors,
        numbers,
        iteration: Vec::new(),
        sequence: Err(Obstacle::NoResistor),
        place: Place::Unsorted,
        choice: None,
        r,
        g,
    };
    if let Some(node) = switch {
        found.sequence = Err(Obstacle::Switch(node));
    } else if !found.r.is_empty() || !found.g.is_empty() {
        found.sequence = Err(Obstacle::Numbers);
    }
    found
}

/// The iteration vector and the order of evaluation.
fn order(transfer: &mut Transfer<'_>, field: &mut RField) {
    if field.numbers.gyrators == 0 && (field.numbers.e() < 1 || field.numbers.f() < 1) {
        return;
    }
    let inside: &FxHashSet<BondId> = &field.bonds.iter().copied().collect();
    // What resistors take, from what resistors give and what comes from outside.
    let gives: FxHashMap<BondId, Gives> = (field.r.iter().map(|port| (port.bond, Gives::Effort)))
        .chain(field.g.iter().map(|port| (port.bond, Gives::Flow)))
        .collect();
    let stop = |var: Var| {
        !inside.contains(&var.bond) || gives.get(&var.bond).is_some_and(|&is| is == var.is)
    };
    let mut known = FxHashMap::default();
    let mut inputs: FxHashMap<Port, Sum> = FxHashMap::default();
    for port in field.r.iter().chain(&field.g) {
        let var = Var {
            bond: port.bond,
            is: gives[&port.bond].other(),
        };
        let followed = (transfer.follow(var, &stop, &mut known))
            .and_then(|sum| from_outside(transfer, inside, sum));
        match followed {
            Ok(sum) => {
                inputs.insert(*port, sum);
            }
            Err(trouble) => {
                field.sequence = Err(Obstacle::Trouble(trouble));
                return;
            }
        }
    }
    let taken = |port: &Port| Var {
        bond: port.bond,
        is: gives[&port.bond].other(),
    };
    // E <= F: guess the flows of r, (10) (15) (11) (14); else the efforts of g, (11) (14) (10) (15).
    let (guessed, others) = match field.r.len() <= field.g.len() {
        true => (&field.r, &field.g),
        false => (&field.g, &field.r),
    };
    let law = |port: &Port| Step::Law {
        node: port.node,
        port: port.port,
    };
    let sum = |port: &Port| Step::Sum {
        var: taken(port),
        sum: inputs[port].clone(),
    };
    let mut steps = Vec::new();
    let mut iteration: Vec<Port> = guessed.clone();
    let plain = field.numbers.gyrators == 0 && is_pure(transfer, field);
    if plain {
        steps.extend(iteration.iter().map(law));
        steps.extend(others.iter().map(sum));
        steps.extend(others.iter().map(law));
        steps.extend(iteration.iter().map(sum));
    } else {
        iteration = tear(&inputs, field, &gives);
        let guessed: FxHashSet<Port> = iteration.iter().copied().collect();
        // What can be computed from what is guessed, in turn.
        let mut done: FxHashSet<BondId> = iteration.iter().map(|port| port.bond).collect();
        let mut left: Vec<Port> = (field.r.iter().chain(&field.g).copied())
            .filter(|port| !guessed.contains(port))
            .collect();
        steps.extend(iteration.iter().map(law));
        while !left.is_empty() {
            let ready = |port: &Port| {
                (inputs[port].iter())
                    .all(|(var, _)| !gives.contains_key(&var.bond) || done.contains(&var.bond))
            };
            let (now, later): (Vec<Port>, Vec<Port>) = left.iter().partition(|port| ready(port));
            if now.is_empty() {
                break;
            }
            for port in &now {
                steps.push(sum(port));
                steps.push(law(port));
                done.insert(port.bond);
            }
            left = later;
        }
        steps.extend(iteration.iter().map(sum));
    }
    field.iteration = iteration.iter().map(taken).collect();
    field.sequence = Ok(steps);
}

/// What comes from outside by the name of where it comes from, if it only passes junctions on its way.
fn from_outside(
    transfer: &mut Transfer<'_>,
    inside: &FxHashSet<BondId>,
    sum: Sum,
) -> Result<Sum, Trouble> {
    let mut found = Vec::with_capacity(sum.len());
    for (mut var, coefficient) in sum {
        while !inside.contains(&var.bond)
            && let Some(step) = transfer.step(var)?
            && let [(next, factor)] = step[..]
            && transfer.flat.exprs.as_number(factor) == Some(1.0)
            && !inside.contains(&next.bond)
        {
            var = next;
        }
        found.push((var, coefficient));
    }
    Ok(transfer.collected(found))
}

/// Each resistor with several ports has them all in one form.
fn is_pure(transfer: &Transfer<'_>, field: &RField) -> bool {
    field.resistors.iter().all(|&node| {
        let of = |list: &[Port]| list.iter().any(|port| port.node == node);
        let ports = transfer
            .graph
            .node(node)
            .element()
            .map_or(0, |one| one.ports.len());
        ports == 1 || !(of(&field.r) && of(&field.g))
    })
}

/// Ports whose inputs are guessed, so that all others follow: greedily those that most others wait for.
fn tear(
    inputs: &FxHashMap<Port, Sum>,
    field: &RField,
    gives: &FxHashMap<BondId, Gives>,
) -> Vec<Port> {
    let all: Vec<Port> = field.r.iter().chain(&field.g).copied().collect();
    let mut guessed: Vec<Port> = Vec::new();
    let mut done: FxHashSet<BondId> = FxHashSet::default();
    let mut left = all;
    while !left.is_empty() {
        let waits = |port: &Port| {
            (inputs[port].iter())
                .filter(|(var, _)| gives.contains_key(&var.bond) && !done.contains(&var.bond))
                .count()
        };
        let ready: Vec<Port> = left
            .iter()
            .copied()
            .filter(|port| waits(port) == 0)
            .collect();
        if ready.is_empty() {
            let users = |one: &Port| {
                let uses = |port: &&Port| inputs[*port].iter().any(|(var, _)| var.bond == one.bond);
                left.iter().filter(uses).count()
            };
            let best = (left.iter().enumerate())
                .max_by_key(|(at, port)| (users(port), std::cmp::Reverse(*at)))
                .map(|(_, port)| *port);
            let Some(best) = best else {
                break;
            };
            guessed.push(best);
            done.insert(best.bond);
            left.retain(|port| *port != best);
        } else {
            done.extend(ready.iter().map(|port| port.bond));
            left.retain(|port| !ready.contains(port));
        }
    }
    guessed
}
