//! Start equations: `init(x) = v` outside a `when`, where v uses variables.
//!
//! Before: a solved model. After: its [`Start`], in which these equations stand beside those of the model and x is an unknown.
//! It is sorted and solved as any model is, so values may depend on each other in any order and in loops. What stands where:
//!
//! - a state or a discrete variable becomes an unknown, for which a variable of its own stands;
//! - a candidate of a selection is an unknown already: its equation takes the place of one that the run would choose;
//! - a former state is an unknown, too: a state on which it depends, and which nobody has given, becomes one;
//! - where nothing is left to be determined, both sides have to agree;
//! - any other variable gets a first guess.
//!
//! Of several that say where one variable starts, the outermost counts, as for start values.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tied_to;
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Equation, EquationKind, Flat, Given, Kind, Leaf, Type, VarId};
use crate::passes::blocks::{Solved, Start, StartEquation, StartRefused, StartSystem, solve};
use crate::passes::order::sort;

/// `None` if there are no start equations.
pub fn find(solved: &mut Solved) -> Option<Start> {
    let mut plan = Plan::default();
    let equations = outermost(&mut solved.flat, &mut plan.agreeing);
    if equations.is_empty() && plan.agreeing.is_empty() {
        return None;
    }
    let flat = &solved.flat;
    for (equation, depth) in equations {
        plan.place(flat, equation, depth);
    }
    let whole = plan.system(solved, &|_| false);
    let next = next_values(flat);
    let keeps = |leaf: Leaf| is_discrete(flat, leaf) && next.contains(&leaf.variable());
    let later = (plan.unknowns.iter().any(|&(leaf, _)| keeps(leaf)))
        .then(|| plan.system(solved, &keeps).ok())
        .flatten();
    Some(Start {
        system: whole,
        later,
        agreeing: plan.agreeing,
        guesses: plan.guesses,
    })
}

fn is_discrete(flat: &Flat, leaf: Leaf) -> bool {
    flat.variable(leaf.variable()).kind == Kind::Discrete
}

/// Discrete variables with an equation `new(x) = v` outside `when`s.
fn next_values(flat: &Flat) -> FxHashSet<VarId> {
    (flat.equations.iter())
        .filter(|equation| equation.kind == EquationKind::New)
        .filter_map(|equation| match flat.exprs.node(equation.left) {
            Node::Leaf(Leaf::New(id)) => Some(id),
            _ => None,
        })
        .collect()
}

/// The equation that counts for each variable, with its depth. Others from the same depth have to agree.
fn outermost(flat: &mut Flat, agreeing: &mut Vec<StartEquation>) -> Vec<(StartEquation, u32)> {
    let replaced: FxHashMap<VarId, ExprId> = (flat.eliminated.iter())
        .filter_map(|alias| match alias.leaf {
            Leaf::Var(id) => Some((id, alias.expression)),
            _ => None,
        })
        .collect();
    // An eliminated variable that equals the derivative of another one: its start value is that of the derivative.
    let mut given: FxHashMap<Leaf, u32> = FxHashMap::default();
    for start in &flat.starts {
        let target = match replaced.get(&start.variable) {
            None => Some(Leaf::Var(start.variable)),
            Some(&by) => match flat.exprs.signed_leaf(by) {
                Some((leaf @ Leaf::Der(..), _)) => Some(leaf),
                _ => None,
            },
        };
        if let Some(target) = target {
            let least = given.entry(target).or_insert(start.depth);
            *least = start.depth.min(*least);
        }
    }
    let mut found: Vec<(StartEquation, u32)> = Vec::new();
    let all: Vec<(EqId, VarId)> = flat.start_equations().collect();
    for (id, variable) in all {
        let equation = flat.equations[id.index()];
        let (target, negative) = match replaced.get(&variable) {
            None => (Leaf::Var(variable), false),
            Some(&by) => match flat.exprs.signed_leaf(by) {
                Some(leaf) => leaf,
                None => continue,
            },
        };
        let depth = flat.depth_of(equation.origin);
        if given.get(&target).is_some_and(|&outer| outer < depth) {
            continue;
        }
        let start = StartEquation {
            target,
            value: match negative {
                true => flat.exprs.tidy_minus(equation.right),
                false => equation.right,
            },
            equation: id,
        };
        found.push((start, depth));
    }
    found.sort_by_key(|&(start, depth)| (start.target, depth, start.equation));
    let mut kept: Vec<(StartEquation, u32)> = Vec::new();
    for (start, depth) in found {
        let known = kept.last().filter(|(last, _)| last.target == start.target);
        match known {
            Some(&(_, outer)) if outer < depth => {}
            Some(_) => agreeing.push(start),
            None if given.get(&start.target) == Some(&depth) => agreeing.push(start),
            None => kept.push((start, depth)),
        }
    }
    kept
}

/// What becomes of the equations.
#[derive(Debug, Default)]
struct Plan {
    /// What becomes an unknown, with the equation that asked for it.
    unknowns: Vec<(Leaf, EqId)>,
    /// Equations of the system: one for each unknown.
    equations: Vec<StartEquation>,
    /// Selections, one for each candidate that a start equation determines.
    chosen: Vec<usize>,
    /// Candidates that start equations determine.
    candidates: Vec<Leaf>,
    agreeing: Vec<StartEquation>,
    guesses: Vec<StartEquation>,
    /// Equations that say nothing: `init(x) = x`.
    idle: Vec<StartEquation>,
}

impl Plan {
    fn place(&mut self, flat: &Flat, equation: StartEquation, depth: u32) {
        let target = equation.target;
        if flat.exprs.node(equation.value) == Node::Leaf(target) {
            self.idle.push(equation);
            return;
        }
        if is_discrete(flat, target) || flat.is_state(target) {
            self.unknowns.push((target, equation.equation));
            self.equations.push(equation);
            return;
        }
        if let Some(at) = selection_of(flat, target) {
            match self.has_room(flat, at) {
                true => {
                    self.chosen.push(at);
                    self.candidates.push(target);
                    self.equations.push(equation);
                }
                false => self.agreeing.push(equation),
            }
            return;
        }
        let reduction = flat.reduction.iter();
        let is_former = (reduction.flat_map(|reduction| &reduction.dropped))
            .any(|dropped| dropped.state == target);
        if !is_former {
            self.guesses.push(equation);
            return;
        }
        let tied = tied_to(flat, target.variable());
        let outer = |leaf: &Leaf| match leaf {
            Leaf::Var(id) => flat.start(*id).is_some_and(|given| given.depth < depth),
            _ => false,
        };
        if tied.iter().any(outer) {
            return;
        }
        let mut free: Vec<Leaf> = (tied.iter().copied())
            .filter(|&leaf| flat.is_state(leaf) && flat.start_of(leaf).is_none())
            .filter(|&leaf| self.unknowns.iter().all(|&(known, _)| known != leaf))
            .filter(|&leaf| !has_equation(flat, leaf))
            .collect();
        free.sort_by_cached_key(|&leaf| flat.leaf_name(leaf));
        if let Some(&leaf) = free.first() {
            self.unknowns.push((leaf, equation.equation));
            self.equations.push(equation);
            return;
        }
        let with_room = (tied.iter())
            .filter_map(|&leaf| selection_of(flat, leaf))
            .find(|&at| self.has_room(flat, at));
        match with_room {
            Some(at) => {
                self.chosen.push(at);
                self.equations.push(equation);
            }
            None => self.agreeing.push(equation),
        }
    }

    /// Whether a selection has a state that nobody has given.
    fn has_room(&self, flat: &Flat, at: usize) -> bool {
        let selection = &flat.selections()[at];
        let given = (selection.candidates.iter())
            .filter(|&&leaf| flat.start_of(leaf).is_some())
            .count();
        let taken = self.chosen.iter().filter(|&&other| other == at).count();
        given + taken < selection.states as usize
    }

    /// The system, in which what `keeps` says stays known.
    fn system(
        &self,
        solved: &Solved,
        keeps: &dyn Fn(Leaf) -> bool,
    ) -> Result<StartSystem, StartRefused> {
        if !self.idle.is_empty() {
            return Err(StartRefused {
                unknowns: self.idle.iter().map(|start| start.target).collect(),
                equations: self.idle.iter().map(|start| start.equation).collect(),
                why: vec!["it holds whatever the start is".into()],
            });
        }
        let mut flat = solved.flat.clone();
        let mut stands: FxHashMap<Leaf, ExprId> = FxHashMap::default();
        let mut determines: Vec<(Leaf, Leaf)> = Vec::new();
        for &(leaf, _) in self.unknowns.iter().filter(|(leaf, _)| !keeps(*leaf)) {
            let own = Leaf::Var(variable_for(&mut flat, leaf));
            let node = flat.exprs.leaf(own);
            stands.insert(leaf, node);
            determines.push((leaf, own));
        }
        determines.extend(self.candidates.iter().map(|&leaf| (leaf, leaf)));
        self.write(&mut flat, &stands, keeps);
        if let Some(reduction) = &mut flat.reduction {
            for &at in &self.chosen {
                reduction.selections[at].states -= 1;
            }
        }
        let refused = |why: Vec<String>| StartRefused {
            unknowns: determines.iter().map(|&(leaf, _)| leaf).collect(),
            equations: self.equations.iter().map(|start| start.equation).collect(),
            why,
        };
        let Ok(sorted) = sort(&flat) else {
            return Err(refused(vec![
                "with them, other equations are left without an unknown".into(),
            ]));
        };
        match solve(flat, &sorted, &mut Vec::new) {
            Ok(solved) => Ok(StartSystem { solved, determines }),
            Err(unsolved) => {
                let why = unsolved.messages();
                // Only those that the fault speaks of, where it speaks of any.
                let spans: FxHashSet<_> = (unsolved.equations().iter())
                    .map(|id| unsolved.flat.equations[id.index()].span)
                    .collect();
                let concerned = |start: &&StartEquation| {
                    spans.contains(&solved.flat.equations[start.equation.index()].span)
                };
                let some: Vec<&StartEquation> = self.equations.iter().filter(concerned).collect();
                let mut refused = refused(why);
                if !some.is_empty() {
                    refused.unknowns = some.iter().map(|start| start.target).collect();
                    refused.equations = some.iter().map(|start| start.equation).collect();
                }
                Err(refused)
            }
        }
    }

    /// Writes the equations of the start into a copy of the model.
    fn write(
        &self,
        flat: &mut Flat,
        stands: &FxHashMap<Leaf, ExprId>,
        keeps: &dyn Fn(Leaf) -> bool,
    ) {
        let by_when: Vec<VarId> = set_by_whens(flat);
        let by = |leaf: Leaf| match leaf {
            Leaf::Pre(id) => stands.get(&Leaf::Var(id)).copied(),
            _ => stands.get(&leaf).copied(),
        };
        let mut equations = std::mem::take(&mut flat.equations);
        let mut more = Vec::new();
        for start in &self.equations {
            if keeps(start.target) {
                continue;
            }
            let equation = equations[start.equation.index()];
            more.push(Equation {
                left: flat.exprs.leaf(start.target),
                right: start.value,
                kind: EquationKind::Equation,
                ..equation
            });
        }
        equations.retain(|equation| {
            !matches!(equation.kind, EquationKind::Init | EquationKind::When(..))
        });
        // No `when` acts at the start: what it sets keeps its value.
        for id in by_when {
            let (left, right) = (
                flat.exprs.leaf(Leaf::New(id)),
                flat.exprs.leaf(Leaf::Var(id)),
            );
            more.push(Equation {
                left,
                right,
                origin: flat.variable(id).instance,
                span: flat.declaration(id).span,
                kind: EquationKind::New,
            });
        }
        equations.extend(more);
        for equation in &mut equations {
            equation.left = flat.exprs.replace_leaves(equation.left, by);
            equation.right = flat.exprs.replace_leaves(equation.right, by);
        }
        flat.equations = equations;
        for at in 0..flat.eliminated.len() {
            let expression = flat.eliminated[at].expression;
            flat.eliminated[at].expression = flat.exprs.replace_leaves(expression, by);
        }
    }
}

/// Whether a start equation speaks of this variable itself.
fn has_equation(flat: &Flat, leaf: Leaf) -> bool {
    flat.start_equations()
        .any(|(_, variable)| Leaf::Var(variable) == leaf)
}

fn selection_of(flat: &Flat, leaf: Leaf) -> Option<usize> {
    (flat.selections().iter()).position(|selection| selection.candidates.contains(&leaf))
}

fn set_by_whens(flat: &Flat) -> Vec<VarId> {
    let mut all: Vec<VarId> = (flat.equations.iter())
        .filter(|equation| matches!(equation.kind, EquationKind::When(..)))
        .filter_map(|equation| match flat.exprs.node(equation.left) {
            Node::Leaf(Leaf::New(id)) => Some(id),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// An unknown with the name of a state or a discrete variable; a start value that does not count is its first guess.
fn variable_for(flat: &mut Flat, leaf: Leaf) -> VarId {
    let id = VarId(flat.variables.len() as u32);
    let own = match leaf {
        Leaf::Var(of) => {
            let variable = *flat.variable(of);
            flat.variables.push(crate::flat::Variable {
                kind: Kind::Algebraic,
                order: 0,
                states: 0,
                ..variable
            });
            id
        }
        _ => {
            let text = flat.leaf_name(leaf);
            let name = Arc::make_mut(&mut flat.names).intern(&text);
            let span = flat.declaration(leaf.variable()).span;
            flat.add_variable(name, span, Kind::Algebraic, Type::Real)
        }
    };
    if let Leaf::Var(of) = leaf
        && let Some(&given) = flat.start(of)
    {
        // Those of variables at the end stay at the end.
        flat.starts.push(Given {
            variable: own,
            ..given
        });
    }
    own
}
