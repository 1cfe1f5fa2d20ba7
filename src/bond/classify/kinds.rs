//! From what an element can give to its kind.
//!
//! Before: for each choice of what is given at the ports, whether the equations can be solved.
//! After: kind and pattern. A choice is a bit mask over the ports: a bit is set if the across
//! variable is given. Choices are converted to efforts and flows at the end.

use super::gives_of;
use super::system::{CausalForm, Port, System};
use crate::bond::graph::{Allowed, ElementKind, Pattern};
use crate::bond::net::Gives;
use crate::flat::VarId;

#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: ElementKind,
    pub pattern: Pattern,
    /// The combinations that can be solved, if not all of them can; otherwise empty.
    pub together: Vec<Vec<Gives>>,
    /// The choices whose equations are listed.
    pub forms: Vec<(Vec<bool>, CausalForm)>,
}

/// The choices that can be solved, as bit masks.
#[derive(Clone, Debug)]
pub struct SolvableChoices {
    ports: usize,
    /// The choices that can be solved if the states are known.
    integral: Vec<u32>,
    /// The choices that can be solved if a state and its derivatives are one unknown.
    derivative: Vec<u32>,
    /// The choices that can be solved in all positions of the element's `if`s.
    always: Option<Vec<u32>>,
    /// Whether no choice can be solved in all positions: the element is a switch.
    switches: bool,
}

fn bits(ports: usize, choice: u32) -> Vec<bool> {
    (0..ports).map(|at| choice >> at & 1 == 1).collect()
}

impl SolvableChoices {
    /// Tries all choices of what is given at the ports.
    pub fn of(system: &System, ports: &[Port]) -> Self {
        let all = 0..1u32 << ports.len();
        let solvable = |causal_form: CausalForm| -> Vec<u32> {
            (all.clone())
                .filter(|&choice| {
                    let gives = bits(ports.len(), choice);
                    system.solve(ports, &gives, causal_form).is_some()
                })
                .collect()
        };
        let derivative = solvable(CausalForm::Derivative);
        let integral = match system.states(ports).is_empty() {
            true => derivative.clone(),
            false => solvable(CausalForm::Integral),
        };
        SolvableChoices {
            ports: ports.len(),
            integral,
            derivative,
            always: None,
            switches: false,
        }
    }

    /// Restricts the choices to those that can be solved in all positions. If there is none, the
    /// element is a switch.
    pub fn intersect_modes(&mut self, in_modes: &[SolvableChoices]) {
        let everywhere = |choice: &u32| {
            (in_modes.iter())
                .all(|one| one.integral.contains(choice) || one.derivative.contains(choice))
        };
        let all = self.all();
        let always: Vec<u32> = all.iter().copied().filter(everywhere).collect();
        let somewhere = in_modes.iter().any(|one| !one.all().is_empty());
        self.switches |= always.is_empty() && somewhere;
        self.always = Some(always).filter(|always| !always.is_empty());
    }

    /// Returns all choices that can be solved.
    fn all(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.derivative.clone();
        all.extend(&self.integral);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns what a one-port without states has to give, if its `if`s leave only one choice
    /// although some branch allows either.
    pub fn single_common_choice(&self, ports: &[Port]) -> Option<Vec<bool>> {
        match (self.always.as_deref(), self.all().len()) {
            (Some([choice]), 2) if ports.len() == 1 && self.integral == self.derivative => {
                Some(bits(1, *choice))
            }
            _ => None,
        }
    }

    pub fn mark_as_switch(&mut self) {
        self.switches = true;
    }

    /// The kind of the element, and what it can give at its ports.
    pub fn finding(
        &self,
        system: &System,
        ports: &[Port],
        keeps_power: &mut dyn FnMut(&[bool], CausalForm) -> Option<bool>,
    ) -> Finding {
        let count = self.ports;
        if self.switches {
            return Finding {
                kind: ElementKind::Sw,
                pattern: Pattern::Each(vec![Allowed::EITHER; count]),
                together: Vec::new(),
                forms: Vec::new(),
            };
        }
        let all = self.all();
        if all.is_empty() {
            return Finding {
                kind: ElementKind::Other,
                pattern: Pattern::Each(
                    ports
                        .iter()
                        .map(|port| by_equations(system, port))
                        .collect(),
                ),
                together: Vec::new(),
                forms: Vec::new(),
            };
        }
        let stores = !system.states(ports).is_empty();
        let allowed: Vec<Allowed> = (0..count)
            .map(|at| self.allowed(&all, at, ports[at].swapped, stores))
            .collect();
        let fixed = allowed.iter().filter(|one| one.only().is_some()).count();
        // Converts choices to masks of the ports that give an effort.
        let swapped = (ports.iter().enumerate())
            .fold(0, |mask, (at, port)| mask | u32::from(port.swapped) << at);
        let efforts = |choices: &[u32]| -> Vec<u32> {
            choices.iter().map(|&choice| choice ^ swapped).collect()
        };
        // A crank stores its angle but is nevertheless a transformer: its states do not determine
        // what it gives.
        let (choices, causal_form) = match stores && self.integral.len() > 1 {
            true => (&self.integral, CausalForm::Integral),
            false => (&all, CausalForm::Derivative),
        };
        let marks = exactly_one(&efforts(choices), count).filter(|_| fixed == 0);
        let passes = causal_form == CausalForm::Integral && marks.is_some();
        let stores = stores && !passes;
        let pattern = match marks {
            Some(marks) if !stores => Pattern::One(marks),
            _ => Pattern::Each(allowed.clone()),
        };
        let is_product = all.len() == 1 << (count - fixed);
        // For some forms no point may be found. At least one form must conserve power, and no form
        // may lose any.
        let conserves = !stores && count > 1 && {
            let found: Vec<Option<bool>> = (choices.iter())
                .map(|&choice| keeps_power(&bits(count, choice), causal_form))
                .collect();
            found.contains(&Some(true)) && !found.contains(&Some(false))
        };
        let integral = |gives: Gives| allowed.iter().all(|one| one.integral == Some(gives));
        let kind = match (stores, count) {
            (_, 1) if fixed == 1 => match allowed[0].only() {
                // The states of a source do not influence its ports.
                Some(Gives::Effort) if !stores || all.len() == 1 => ElementKind::Se,
                Some(Gives::Flow) if !stores || all.len() == 1 => ElementKind::Sf,
                _ => ElementKind::Other,
            },
            (true, _) if fixed == 0 && integral(Gives::Effort) => ElementKind::C,
            (true, _) if fixed == 0 && integral(Gives::Flow) => ElementKind::I,
            (true, _) => ElementKind::Other,
            (false, 1) => ElementKind::R,
            (false, 2) if conserves && is_gyrator(&pattern) => ElementKind::GY,
            (false, _) if conserves && matches!(pattern, Pattern::One(_)) => ElementKind::TF,
            (false, 2) if conserves && is_product => ElementKind::RS,
            (false, _) if !conserves && fixed == 0 && is_product => ElementKind::R,
            _ => ElementKind::Other,
        };
        let forms = match stores {
            true => Vec::new(),
            false => (choices.iter())
                .map(|&choice| (bits(count, choice), causal_form))
                .collect(),
        };
        // What one branch of an `if` forbids is forbidden. This does not change the kind.
        let pattern = match (pattern, &self.always) {
            (Pattern::Each(allowed), Some(always)) => {
                let narrowed = (allowed.into_iter().enumerate()).map(|(at, allowed)| {
                    let now = self.allowed(always, at, ports[at].swapped, stores);
                    Allowed {
                        integral: allowed.integral,
                        ..now
                    }
                });
                Pattern::Each(narrowed.collect())
            }
            (pattern, _) => pattern,
        };
        let together = match (&pattern, is_product || stores) {
            (Pattern::Each(_), false) => (all.iter())
                .map(|&choice| {
                    (bits(count, choice).into_iter().zip(ports))
                        .map(|(across, port)| gives_of(across, port.swapped))
                        .collect()
                })
                .collect(),
            _ => Vec::new(),
        };
        Finding {
            kind,
            pattern,
            together,
            forms,
        }
    }

    /// What one port can give, in any choice that can be solved.
    fn allowed(&self, all: &[u32], at: usize, swapped: bool, stores: bool) -> Allowed {
        let across = all.iter().any(|&choice| choice >> at & 1 == 1);
        let through = all.iter().any(|&choice| choice >> at & 1 == 0);
        let (effort, flow) = match swapped {
            false => (across, through),
            true => (through, across),
        };
        let mut integral = None;
        if stores {
            let bits: Vec<bool> = (self.integral.iter())
                .map(|&choice| choice >> at & 1 == 1)
                .collect();
            if let Some(&first) = bits.first()
                && bits.iter().all(|&bit| bit == first)
            {
                integral = Some(gives_of(first, swapped));
            }
        }
        Allowed {
            effort,
            flow,
            integral,
        }
    }
}

/// Returns the mark of each port, if exactly one port gives its mark in each choice.
fn exactly_one(efforts: &[u32], count: usize) -> Option<Vec<Gives>> {
    if count < 2 || efforts.len() != count {
        return None;
    }
    let mut sorted = efforts.to_vec();
    sorted.sort_unstable();
    let single: Vec<u32> = (0..count).map(|at| 1 << at).collect();
    if sorted == single {
        return Some(vec![Gives::Effort; count]);
    }
    let full = (1u32 << count) - 1;
    let mut all_but_one: Vec<u32> = single.iter().map(|bit| full ^ bit).collect();
    all_but_one.sort_unstable();
    if sorted == all_but_one {
        return Some(vec![Gives::Flow; count]);
    }
    (count == 2 && sorted == [0, 3]).then(|| vec![Gives::Effort, Gives::Flow])
}

fn is_gyrator(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::One(marks) if marks[0] != marks[1])
}

/// What the port can give according to its variables alone: only a variable that it has.
fn by_variables(port: &Port) -> Allowed {
    let (across, through) = (port.across.is_some(), port.through.is_some());
    let (effort, flow) = match port.swapped {
        false => (across, through),
        true => (through, across),
    };
    Allowed {
        effort,
        flow,
        integral: None,
    }
}

/// The same, considering also equations that set one variable alone: the input of an amplifier
/// draws no current.
fn by_equations(system: &System, port: &Port) -> Allowed {
    let is_set = |id: Option<VarId>| id.is_some_and(|id| system.sets(id));
    let across = is_set(port.across);
    if across == is_set(port.through) {
        return by_variables(port);
    }
    let effort = gives_of(across, port.swapped) == Gives::Effort;
    Allowed {
        effort,
        flow: !effort,
        integral: None,
    }
}

/// For elements with too many ports to try all choices: the ports are taken as independent.
pub fn many_ports(system: &System, ports: &[Port]) -> Finding {
    let stores = !system.states(ports).is_empty();
    let causal_form = |stores: bool| match stores {
        true => CausalForm::Integral,
        false => CausalForm::Derivative,
    };
    let solvable = |across: bool| {
        let gives = vec![across; ports.len()];
        system.solve(ports, &gives, causal_form(stores)).is_some()
    };
    let (across, through) = (solvable(true), solvable(false));
    let allowed: Vec<Allowed> = (ports.iter())
        .map(|port| {
            let integral = match (stores, across, through) {
                (true, true, false) => Some(gives_of(true, port.swapped)),
                (true, false, true) => Some(gives_of(false, port.swapped)),
                _ => None,
            };
            Allowed {
                integral,
                ..by_variables(port)
            }
        })
        .collect();
    let all = |gives: Gives| allowed.iter().all(|one| one.integral == Some(gives));
    let kind = match (stores, across && through) {
        (true, _) if all(Gives::Effort) => ElementKind::C,
        (true, _) if all(Gives::Flow) => ElementKind::I,
        (false, true) => ElementKind::R,
        _ => ElementKind::Other,
    };
    Finding {
        kind,
        pattern: Pattern::Each(allowed),
        together: Vec::new(),
        forms: Vec::new(),
    }
}
