//! The order of evaluation of an R-field, and its iteration variables.
//!
//! Before: the ports of a field and their forms. After: the steps from guessed inputs of some ports
//! to new values for them: sums of the junction structure, and laws of resistors. A law comes after
//! all that it reads: the input of its own port, the inputs of other ports of the same resistor,
//! and the outputs of these if the equations are solved that way. Laws that read each other are
//! neighbours.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::resistive::{Obstacle, Port, RField, Step};
use super::transfer::{Sum, Transfer, TransferError, Var};
use crate::bond::graph::{BondId, Form};
use crate::bond::net::Gives;

/// Finds the iteration vector and the order of evaluation of a field.
pub fn order(transfer: &mut Transfer<'_>, field: &mut RField) {
    if field.numbers.gyrators == 0 && (field.numbers.e() < 1 || field.numbers.f() < 1) {
        return;
    }
    let inside: &FxHashSet<BondId> = &field.bonds.iter().copied().collect();
    // The inputs of resistors as sums of the outputs of resistors and of what comes from outside.
    let gives: FxHashMap<BondId, Gives> = (field.r.iter().map(|port| (port.bond, Gives::Effort)))
        .chain(field.g.iter().map(|port| (port.bond, Gives::Flow)))
        .collect();
    let stop = |var: Var| {
        !inside.contains(&var.bond) || gives.get(&var.bond).is_some_and(|&is| is == var.is)
    };
    let taken = |port: &Port| Var {
        bond: port.bond,
        is: gives[&port.bond].other(),
    };
    let mut known = FxHashMap::default();
    let mut inputs: FxHashMap<Port, Sum> = FxHashMap::default();
    for port in field.r.iter().chain(&field.g) {
        let followed = (transfer.follow(taken(port), &stop, &mut known))
            .and_then(|sum| from_outside(transfer, inside, sum));
        match followed {
            Ok(sum) => {
                inputs.insert(*port, sum);
            }
            Err(error) => {
                field.sequence = Err(Obstacle::Transfer(error));
                return;
            }
        }
    }
    let needs: FxHashMap<Port, LawInputs> = (field.r.iter().chain(&field.g))
        .map(|port| (*port, LawInputs::new(transfer, &gives, *port)))
        .collect();
    // E <= F: guess the flows of r, (10) (15) (11) (14); else the efforts of g, (11) (14) (10) (15).
    let (guessed, others) = match field.r.len() <= field.g.len() {
        true => (&field.r, &field.g),
        false => (&field.g, &field.r),
    };
    let sum = |port: &Port| Step::Sum {
        var: taken(port),
        sum: inputs[port].clone(),
    };
    let mut evaluation = Evaluation::new(&needs);
    let iteration: Vec<Port>;
    if field.numbers.gyrators == 0 && is_pure(transfer, field) {
        iteration = guessed.clone();
        evaluation.take(&iteration);
        evaluation.laws(&iteration);
        evaluation.steps.extend(others.iter().map(sum));
        evaluation.take(others);
        evaluation.laws(others);
    } else {
        iteration = tear(&inputs, &needs, field);
        let all: Vec<Port> = (iteration.iter().copied())
            .chain(field.r.iter().chain(&field.g).copied())
            .collect();
        evaluation.take(&iteration);
        evaluation.laws(&all);
        loop {
            glance();
            let now: Vec<Port> = (field.r.iter().chain(&field.g).copied())
                .filter(|port| {
                    !evaluation.takes(port) && evaluation.is_ready(&inputs[port], &gives)
                })
                .collect();
            if now.is_empty() {
                break;
            }
            for port in &now {
                evaluation.steps.push(sum(port));
                evaluation.take(&[*port]);
                evaluation.laws(&all);
            }
        }
    }
    evaluation.steps.extend(iteration.iter().map(sum));
    let steps = evaluation.steps;
    field.iteration = iteration.iter().map(taken).collect();
    field.sequence = Ok(steps);
}

/// What the law of a port reads within the field.
#[derive(Debug, Default)]
struct LawInputs {
    /// Ports whose inputs the law reads, including its own port.
    takes: Vec<Port>,
    /// Ports whose outputs the law reads.
    gives: Vec<Port>,
    /// Ports outside the field whose laws depend on it and come first.
    outside: Vec<Port>,
}

impl LawInputs {
    fn new(transfer: &Transfer<'_>, inside: &FxHashMap<BondId, Gives>, port: Port) -> LawInputs {
        let mut needs = LawInputs::default();
        let Some(element) = transfer.graph.node(port.node).element() else {
            return needs;
        };
        let at = |number: usize| Port {
            port: number,
            bond: element.ports[number],
            ..port
        };
        let ports = || (0..element.ports.len()).map(at);
        let is_inside = |port: &Port| inside.contains_key(&port.bond);
        let given: Option<Vec<Gives>> = (element.ports.iter())
            .map(|&bond| transfer.given_by(port.node, bond))
            .collect();
        let form: Option<&Form> =
            (element.forms.iter()).find(|form| Some(&form.gives) == given.as_ref());
        let Some(form) = form else {
            needs.takes = ports().filter(is_inside).collect();
            return needs;
        };
        let (mut seen, mut work) = (1u32 << port.port, vec![port]);
        while let Some(one) = work.pop() {
            glance();
            let law = &form.laws[one.port];
            let read = |ports: u32| (0..element.ports.len()).filter(move |at| ports >> at & 1 == 1);
            needs
                .takes
                .extend(read(law.takes).map(at).filter(is_inside));
            for other in read(law.gives).map(at) {
                let reaches =
                    |port: &Port| is_inside(port) && form.reach(other.port) >> port.port & 1 == 1;
                if is_inside(&other) {
                    needs.gives.push(other);
                } else if seen >> other.port & 1 == 0 && ports().any(|port| reaches(&port)) {
                    seen |= 1 << other.port;
                    needs.outside.insert(0, other);
                    work.push(other);
                }
            }
        }
        needs
    }
}

/// The state of an evaluation: what is known so far.
#[derive(Debug)]
struct Evaluation<'n> {
    needs: &'n FxHashMap<Port, LawInputs>,
    taken: FxHashSet<BondId>,
    given: FxHashSet<BondId>,
    steps: Vec<Step>,
}

impl<'n> Evaluation<'n> {
    fn new(needs: &'n FxHashMap<Port, LawInputs>) -> Self {
        Evaluation {
            needs,
            taken: FxHashSet::default(),
            given: FxHashSet::default(),
            steps: Vec::new(),
        }
    }

    fn take(&mut self, ports: &[Port]) {
        self.taken.extend(ports.iter().map(|port| port.bond));
    }

    fn takes(&self, port: &Port) -> bool {
        self.taken.contains(&port.bond)
    }

    /// Whether all terms of a sum that come from the field are known.
    fn is_ready(&self, sum: &Sum, gives: &FxHashMap<BondId, Gives>) -> bool {
        (sum.iter())
            .all(|(var, _)| !gives.contains_key(&var.bond) || self.given.contains(&var.bond))
    }

    /// Adds the laws of ports if all that they read is known.
    fn laws(&mut self, ports: &[Port]) {
        loop {
            glance();
            let before = self.given.len();
            for port in ports {
                let needs = &self.needs[port];
                if !self.given.contains(&port.bond)
                    && needs.takes.iter().all(|port| self.takes(port))
                    && (needs.gives.iter()).all(|port| self.given.contains(&port.bond))
                {
                    self.law(*port);
                }
            }
            if self.given.len() > before {
                continue;
            }
            let cycles = ports.iter().filter_map(|&port| self.mutual_ports(port));
            let Some(cycle) = cycles.min_by_key(Vec::len) else {
                return;
            };
            for port in cycle {
                self.law(port);
            }
        }
    }

    fn law(&mut self, port: Port) {
        self.given.insert(port.bond);
        for port in self.needs[&port].outside.iter().chain([&port]) {
            let (node, port) = (port.node, port.port);
            let known = |step: &Step| matches!(step, Step::Law { node: n, port: p } if (*n, *p) == (node, port));
            if !self.steps.iter().any(known) {
                self.steps.push(Step::Law { node, port });
            }
        }
    }

    /// Returns the ports whose laws depend on each other with that of a port, if nothing else is
    /// missing.
    fn mutual_ports(&self, start: Port) -> Option<Vec<Port>> {
        if self.given.contains(&start.bond) {
            return None;
        }
        let mut found = vec![start];
        let mut at = 0;
        while let Some(port) = found.get(at).copied() {
            at += 1;
            let needs = &self.needs[&port];
            if !needs.takes.iter().all(|port| self.takes(port)) {
                return None;
            }
            for other in &needs.gives {
                if !self.given.contains(&other.bond) && !found.contains(other) {
                    found.push(*other);
                }
            }
        }
        Some(found)
    }
}

/// Chooses ports whose inputs are guessed, so that all others follow: greedily those on which most
/// others depend.
fn tear(
    inputs: &FxHashMap<Port, Sum>,
    needs: &FxHashMap<Port, LawInputs>,
    field: &RField,
) -> Vec<Port> {
    let all: Vec<Port> = field.r.iter().chain(&field.g).copied().collect();
    let gives: FxHashMap<BondId, Gives> = (field.r.iter().map(|port| (port.bond, Gives::Effort)))
        .chain(field.g.iter().map(|port| (port.bond, Gives::Flow)))
        .collect();
    let mut guessed: Vec<Port> = Vec::new();
    let mut evaluation = Evaluation::new(needs);
    loop {
        glance();
        let left: Vec<Port> = (all.iter().copied())
            .filter(|port| !evaluation.takes(port))
            .collect();
        if left.is_empty() {
            return guessed;
        }
        let ready: Vec<Port> = (left.iter().copied())
            .filter(|port| evaluation.is_ready(&inputs[port], &gives))
            .collect();
        let now = match ready.is_empty() {
            false => ready,
            true => {
                let users = |one: &Port| {
                    let uses =
                        |port: &&Port| inputs[*port].iter().any(|(var, _)| var.bond == one.bond);
                    left.iter().filter(uses).count()
                };
                let best = (left.iter().enumerate())
                    .max_by_key(|(at, port)| (users(port), std::cmp::Reverse(*at)))
                    .map(|(_, port)| *port);
                guessed.extend(best);
                best.into_iter().collect()
            }
        };
        evaluation.take(&now);
        evaluation.laws(&all);
    }
}

/// Replaces a variable that comes from outside by its origin, if it only passes junctions on its
/// way.
fn from_outside(
    transfer: &mut Transfer<'_>,
    inside: &FxHashSet<BondId>,
    sum: Sum,
) -> Result<Sum, TransferError> {
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

/// Whether each resistor with several ports has all of them in one form.
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
