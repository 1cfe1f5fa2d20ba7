//! Finds the kind of an element from its equations, not from its name.
//!
//! Before: a submodel with its power ports. After: its kind, what it can give at its ports, and its
//! equations in each form. The kind follows from what the equations can compute: an element that
//! always gives the effort is a source of effort, one whose effort follows from its states stores
//! displacement, one that can give either is a resistor. An element with two ports is a transformer
//! if its effort passes from one port to the other, a gyrator if it comes out as a flow, provided
//! that no power is lost (Cellier 1990; Hood, Rosenberg, Withers and Zhou 1987, Table 1 and Figure
//! 4).
//!
//! A switch is an element that can give only the effort in one position and only the flow in
//! another (Cellier, Otter and Elmqvist 1995).

mod kinds;
mod laws;
mod ports;
mod probe;
mod system;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Assignment, ElementKind, Form, Pattern};
use super::net::Gives;
use super::recover::power_ports::{OwnEquations, PowerPort};
use crate::evaluate::walk::Walk;
use crate::expr::isolate::isolate;
use crate::expr::linear::difference;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Kind, Leaf, Role, VarId};
use crate::passes::order::determined_by;
use crate::positions::{branch, switches};
use kinds::{Finding, SolvableChoices};
use laws::laws;
use ports::{name_of, port, power};
use probe::{Powers, keeps_power};
use system::{CausalForm, Port, System};

/// Up to this number of ports all forms of an element are tried.
const MOST_PORTS: usize = 6;
/// Up to this number of conditions of an element are tried in all combinations.
const MOST_CONDITIONS: usize = 4;

/// The result for one element.
#[derive(Clone, Debug)]
pub struct Classified {
    pub kind: ElementKind,
    pub signals: Vec<VarId>,
    pub pattern: Pattern,
    /// The combinations that can be solved, if the ports are not independent. Otherwise empty.
    pub together: Vec<Vec<Gives>>,
    pub states: Vec<VarId>,
    pub forms: Vec<Form>,
    pub reference: bool,
    /// Whether all that it gives is zero.
    pub idle: bool,
    /// For each port: a variable that equals the difference of the across variables (or the sum of
    /// the through variables), and one that equals its negative.
    pub names: Vec<[Option<VarId>; 2]>,
}

/// Classifies elements one after the other.
#[derive(Debug)]
pub struct Classifier<'f> {
    pub flat: &'f mut Flat,
    own: &'f OwnEquations,
    /// For each variable the equation that computes it.
    pub determined: Vec<Option<EqId>>,
    conditions: FxHashMap<EqId, Vec<ExprId>>,
    /// Variables that an event of their own submodel sets.
    set_by_itself: FxHashSet<VarId>,
    walk: Walk,
}

impl<'f> Classifier<'f> {
    pub fn new(flat: &'f mut Flat, own: &'f OwnEquations) -> Self {
        let mut conditions: FxHashMap<EqId, Vec<ExprId>> = FxHashMap::default();
        for switch in switches(flat) {
            for id in switch.equations {
                conditions.entry(id).or_default().push(switch.condition);
            }
        }
        let mut set_by_itself = FxHashSet::default();
        for equation in &flat.equations {
            if matches!(equation.kind, EquationKind::New | EquationKind::When(..))
                && let Node::Leaf(Leaf::New(id)) = flat.exprs.node(equation.left)
                && flat.variable(id).instance == equation.origin
            {
                set_by_itself.insert(id);
            }
        }
        Classifier {
            determined: determined(flat),
            own,
            conditions,
            set_by_itself,
            flat,
            walk: Walk::default(),
        }
    }

    /// Finds the kind of a submodel. `swapped` marks ports whose across variable is the flow.
    pub fn classify(
        &mut self,
        instance: InstanceId,
        power_ports: &[PowerPort],
        swapped: &[bool],
    ) -> Classified {
        let ports: Vec<Port> = (power_ports.iter().zip(swapped))
            .map(|(power_port, &swapped)| port(power_port, swapped))
            .collect();
        let equations: Vec<EqId> = self.own.of(instance).collect();
        let rows: Vec<(ExprId, ExprId)> = (equations.iter())
            .map(|id| {
                let equation = &self.flat.equations[id.index()];
                (equation.left, equation.right)
            })
            .collect();
        let names = (power_ports.iter())
            .map(|power_port| name_of(self.flat, &rows, power_port))
            .collect();
        let system = self.system(instance, rows.clone(), &ports);
        let finding = self.finding(instance, &equations, &rows, &system, &ports, power_ports);
        let forms = self.forms(&system, &ports, &finding);
        let mut signals = system.signals.clone();
        signals.extend(self.switch_signals(instance, &equations));
        signals.sort_unstable();
        signals.dedup();
        let idle = finding.kind.is_source() && self.gives_zero(&forms, &ports);
        let lacks = |power_port: &PowerPort| match power_port {
            PowerPort::Single(component) => {
                component.through.is_none() || component.across.is_none()
            }
            _ => false,
        };
        let reference = idle && power_ports.iter().all(lacks);
        Classified {
            kind: finding.kind,
            signals,
            pattern: finding.pattern,
            together: finding.together,
            states: system.states(&ports),
            forms,
            reference,
            idle,
            names,
        }
    }

    /// Whether the equations of a form can be written as formulas.
    fn is_explicit(&mut self, system: &System, ports: &[Port], gives: &[bool]) -> bool {
        let assigned = system.solve(ports, gives, CausalForm::Derivative);
        assigned.is_some_and(|assigned| {
            assigned.into_iter().all(|(row, target)| {
                let (left, right) = system.rows[row];
                isolate(&mut self.flat.exprs, left, right, target).is_some()
            })
        })
    }

    /// Whether all that a source gives is zero.
    fn gives_zero(&self, forms: &[Form], ports: &[Port]) -> bool {
        let is_port = |one: &Assignment| {
            let mut at_ports = ports.iter().flat_map(|port| [port.across, port.through]);
            at_ports.any(|id| id == Some(one.target.variable()))
        };
        let zero = |one: &Assignment| one.value.is_some_and(|id| self.flat.exprs.is_zero(id));
        forms.iter().any(|form| {
            let mut given = (form.assignments.iter())
                .filter(|one| is_port(one))
                .peekable();
            given.peek().is_some() && given.all(zero)
        })
    }

    fn system(&self, instance: InstanceId, rows: Vec<(ExprId, ExprId)>, ports: &[Port]) -> System {
        let computed = |id: VarId| {
            let by = self.determined[id.index()];
            by.is_some_and(|by| self.flat.equations[by.index()].origin == instance)
        };
        System::new(self.flat, instance, rows, ports, &computed)
    }

    /// The kind and the pattern, tested for all combinations of the conditions in the equations.
    fn finding(
        &mut self,
        instance: InstanceId,
        equations: &[EqId],
        rows: &[(ExprId, ExprId)],
        system: &System,
        ports: &[Port],
        power_ports: &[PowerPort],
    ) -> Finding {
        if ports.len() > MOST_PORTS {
            return kinds::many_ports(system, ports);
        }
        let mut choices = SolvableChoices::of(system, ports);
        let mut conditions: Vec<ExprId> = (equations.iter())
            .filter_map(|id| self.conditions.get(id))
            .flatten()
            .copied()
            .collect();
        conditions.sort_unstable();
        conditions.dedup();
        conditions.truncate(MOST_CONDITIONS);
        if !conditions.is_empty() {
            let systems: Vec<System> = (0..1u32 << conditions.len())
                .map(|key| {
                    let truth: FxHashMap<ExprId, bool> = (conditions.iter().enumerate())
                        .map(|(at, &condition)| (condition, key >> at & 1 == 1))
                        .collect();
                    let rows = (rows.iter())
                        .map(|&(left, right)| {
                            let left = branch(self.flat, left, &truth);
                            (left, branch(self.flat, right, &truth))
                        })
                        .collect();
                    self.system(instance, rows, ports)
                })
                .collect();
            let in_modes: Vec<SolvableChoices> = (systems.iter())
                .map(|system| SolvableChoices::of(system, ports))
                .collect();
            choices.intersect_modes(&in_modes);
            // A block that sticks or slides gives the flow in one position and the effort in the
            // other. The choice that both positions allow by structure may be no formula in one of
            // them.
            if let Some(gives) = choices.single_common_choice(ports)
                && !systems
                    .iter()
                    .all(|system| self.is_explicit(system, ports, &gives))
            {
                choices.mark_as_switch();
            }
        }
        if ports.len() == 1 && self.has_two_signal_coefficients(rows, ports) {
            choices.mark_as_switch();
        }
        let powers: Vec<Powers> = power_ports.iter().map(power).collect();
        let (flat, walk) = (&*self.flat, &mut self.walk);
        let mut keeps = |gives: &[bool], causal_form: CausalForm| {
            keeps_power(flat, system, ports, &powers, gives, causal_form, walk)
        };
        choices.finding(system, ports, &mut keeps)
    }

    /// Finds an equation such as `0 = s*f + (1 - s)*e`: for whichever variable it is solved, the
    /// signal can make the coefficient zero.
    fn has_two_signal_coefficients(&mut self, rows: &[(ExprId, ExprId)], ports: &[Port]) -> bool {
        let (Some(across), Some(through)) = (ports[0].across, ports[0].through) else {
            return false;
        };
        let number = |leaf: Leaf| match leaf {
            Leaf::Var(id) if id == across => Some(0),
            Leaf::Var(id) if id == through => Some(1),
            _ => None,
        };
        rows.iter().any(|&(left, right)| {
            let Some(form) = difference(&mut self.flat.exprs, left, right, &number) else {
                return false;
            };
            [0, 1].iter().all(|&at| {
                let varies = |id| {
                    let mut varies = false;
                    self.flat.exprs.leaves(id, |leaf| {
                        let variable = self.flat.variable(leaf.variable());
                        varies |= variable.kind == Kind::Discrete;
                    });
                    varies
                };
                form.coefficient(at).is_some_and(varies)
            })
        })
    }

    /// Returns the signals from outside that decide the position of a switch.
    fn switch_signals(&self, instance: InstanceId, equations: &[EqId]) -> Vec<VarId> {
        let mut found = Vec::new();
        for id in equations {
            let equation = &self.flat.equations[id.index()];
            for side in [equation.left, equation.right] {
                self.flat.exprs.leaves(side, |leaf| {
                    let id = leaf.variable();
                    let variable = self.flat.variable(id);
                    let discrete = variable.kind == Kind::Discrete;
                    if discrete
                        && variable.instance == instance
                        && !self.set_by_itself.contains(&id)
                    {
                        found.push(id);
                    }
                });
            }
        }
        found
    }

    /// Returns the equations in each form, for elements with few ports.
    fn forms(&mut self, system: &System, ports: &[Port], finding: &Finding) -> Vec<Form> {
        let mut forms = Vec::new();
        // Only the sum matters. If the other variables are set to zero, the one that is left equals
        // the sum.
        let others: Vec<VarId> = (ports.iter())
            .flat_map(|port| port.others.iter().copied())
            .collect();
        let zero = self.flat.exprs.number(0.0);
        let is_other = |leaf: Leaf| match leaf {
            Leaf::Var(id) if others.contains(&id) => Some(zero),
            _ => None,
        };
        let rows: Vec<(ExprId, ExprId)> = (system.rows.iter())
            .map(|&(left, right)| {
                if others.is_empty() {
                    return (left, right);
                }
                let left = self.flat.exprs.replace_leaves(left, is_other);
                (left, self.flat.exprs.replace_leaves(right, is_other))
            })
            .collect();
        for (gives, causal_form) in &finding.forms {
            let Some(assigned) = system.solve(ports, gives, *causal_form) else {
                continue;
            };
            let assignments: Vec<Assignment> = (assigned.iter())
                .map(|&(row, target)| {
                    // The sum gets an assignment of its own, but is written out within other
                    // formulas.
                    let is_sum = (ports.iter()).any(|port| port.summed == Some(target.variable()));
                    let (left, right) = if is_sum { rows[row] } else { system.rows[row] };
                    let isolated = isolate(&mut self.flat.exprs, left, right, target);
                    Assignment {
                        target,
                        value: isolated.map(|isolated| isolated.value),
                    }
                })
                .collect();
            let (laws, in_order) = laws(system, ports, gives, &assigned, &assignments);
            forms.push(Form {
                gives: (gives.iter().zip(ports))
                    .map(|(&across, port)| gives_of(across, port.swapped))
                    .collect(),
                explicit: in_order && assignments.iter().all(|one| one.value.is_some()),
                assignments,
                laws,
            });
        }
        forms
    }
}

/// Returns the equation that computes each variable. A signal of a submodel that another model sets
/// by an equation (`U0.E0 = 2*x`) is computed there, even if another matching exists.
fn determined(flat: &Flat) -> Vec<Option<EqId>> {
    let mut found = determined_by(flat);
    for id in flat.equation_ids() {
        let equation = &flat.equations[id.index()];
        if equation.kind != EquationKind::Equation {
            continue;
        }
        let leaf = |side: ExprId| match flat.exprs.node(side) {
            Node::Leaf(Leaf::Var(id)) => Some(id),
            _ => None,
        };
        for (side, other) in [
            (equation.left, equation.right),
            (equation.right, equation.left),
        ] {
            let Some(variable) = leaf(side) else {
                continue;
            };
            let role = flat.declaration(variable).role;
            let is_signal = matches!(role, Role::Terminal | Role::Input);
            // If two submodels are set equal, either of them could be the one that computes the
            // variable.
            let own = |id: VarId| flat.variable(id).instance == equation.origin;
            let one_way = leaf(other).is_none_or(own);
            if is_signal && !own(variable) && one_way {
                found[variable.index()] = Some(id);
            }
        }
    }
    found
}

/// Returns the variable that is given if the across (or the through) variable is.
fn gives_of(across: bool, swapped: bool) -> Gives {
    match across != swapped {
        true => Gives::Effort,
        false => Gives::Flow,
    }
}
