//! Chooses the equation that each reference replaces.
//!
//! Before: redundant equations, and unknowns that are free. After: for each part without ground the potential that is
//! set to zero, and the sum of flows that it replaces. Any sum of a redundant combination can be replaced, and any
//! potential of the part can be zero. The sum at the node of the potential is taken, and the potential is chosen by
//! names, so that the order of declarations does not matter.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::findings::{Combination, Findings, Movement};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, Equation, EquationKind, Flat, InstanceId, Leaf, VarId};
use crate::structure::difference;

#[derive(Clone, Debug)]
pub struct Reference {
    pub potential: VarId,
    /// The place of the equation that `potential = 0` replaces.
    pub equation: EqId,
    /// The replaced equation.
    pub replaced: Equation,
    /// The outermost submodels of the part, by name.
    pub parts: Vec<InstanceId>,
}

pub fn put_in(flat: &mut Flat, references: &[Reference]) {
    let zero = flat.exprs.number(0.0);
    for reference in references {
        let left = flat.exprs.leaf(Leaf::Var(reference.potential));
        let equation = &mut flat.equations[reference.equation.index()];
        *equation = Equation {
            left,
            right: zero,
            kind: EquationKind::Reference,
            ..*equation
        };
    }
}

/// Removes from the findings everything that a reference cures. The remaining findings do not need the replaced
/// equations.
pub fn references(flat: &Flat, found: &mut Findings) -> Vec<Reference> {
    let mut references = Vec::new();
    let mut sums = Sums::new(flat, std::mem::take(&mut found.redundant));
    let nodes = Nodes::new(flat, &found.movements);
    let shared = shared(&found.movements);
    let mut open: Vec<Movement> = Vec::new();
    let mut floating: Vec<(Name, VarId, Movement)> = Vec::new();
    for movement in std::mem::take(&mut found.movements) {
        let coupled = || (movement.variables()).filter(|variable| nodes.of.contains_key(variable));
        let least = coupled().map(|variable| depth(flat, variable)).min();
        let first = coupled()
            .filter(|&variable| Some(depth(flat, variable)) == least)
            .map(|variable| (name(flat, variable), variable))
            .min();
        let alone = movement.variables().all(|v| !shared.contains(&v));
        match first {
            Some((name, potential)) if movement.floating && alone => {
                floating.push((name, potential, movement));
            }
            _ => open.push(movement),
        }
    }
    floating.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, potential, movement) in floating {
        let node = nodes.at(flat, potential);
        let owners: Vec<InstanceId> = owners(flat, movement.variables());
        let own = [flat.variable(potential).instance];
        let equation = (sums.best(&own, &node)).or_else(|| sums.best(&owners, &node));
        let taken = equation.and_then(|id| Some((id, sums.take(id)?)));
        let Some((equation, (sign, follows))) = taken else {
            open.push(movement);
            continue;
        };
        for other in found.given.iter_mut().chain(&mut found.constraints) {
            let times = sign * factor(&other.equations, equation);
            if times != 0 {
                other.equations =
                    difference(&other.equations, 1, &follows, times).unwrap_or_default();
            }
        }
        references.push(Reference {
            potential,
            equation,
            replaced: flat.equations[equation.index()],
            parts: outermost(flat, owners),
        });
    }
    found.redundant = sums.left();
    found.movements = open;
    references
}

/// The order of names: fewest parts first, then the alphabet.
type Name = (usize, String);

fn name(flat: &Flat, variable: VarId) -> Name {
    (depth(flat, variable), flat.name(variable))
}

/// How many submodels deep a variable lies.
fn depth(flat: &Flat, variable: VarId) -> usize {
    let mut at = flat.variable(variable).instance;
    let mut depth = 0;
    while at != InstanceId::TOP {
        at = flat.instances[at.index()].parent;
        depth += 1;
    }
    depth
}

/// Variables that occur in several movements, so that these cannot be separated.
fn shared(movements: &[Movement]) -> FxHashSet<VarId> {
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    (movements.iter())
        .flat_map(Movement::variables)
        .filter(|&variable| !seen.insert(variable))
        .collect()
}

/// The submodels that the variables belong to, in the order of the model.
fn owners(flat: &Flat, variables: impl Iterator<Item = VarId>) -> Vec<InstanceId> {
    let mut found: Vec<InstanceId> = variables.map(|id| flat.variable(id).instance).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The submodels that are not inside another one of the list, by name. The model itself does not count.
fn outermost(flat: &Flat, owners: Vec<InstanceId>) -> Vec<InstanceId> {
    let all: FxHashSet<InstanceId> = owners.iter().copied().collect();
    let mut found: Vec<(String, InstanceId)> = Vec::new();
    for owner in owners {
        let mut above = flat.instances[owner.index()].parent;
        while above != InstanceId::TOP && !all.contains(&above) {
            above = flat.instances[above.index()].parent;
        }
        if owner != InstanceId::TOP && above == InstanceId::TOP {
            found.push((flat.path(owner), owner));
        }
    }
    found.sort();
    found.into_iter().map(|(_, owner)| owner).collect()
}

/// Variables of potentials, and the connections that make them equal.
struct Nodes {
    of: FxHashMap<VarId, Vec<EqId>>,
}

impl Nodes {
    fn new(flat: &Flat, movements: &[Movement]) -> Self {
        let wanted: FxHashSet<VarId> = (movements.iter()).flat_map(Movement::variables).collect();
        let mut of: FxHashMap<VarId, Vec<EqId>> = FxHashMap::default();
        for id in flat.equation_ids() {
            if flat.equations[id.index()].kind == EquationKind::Coupling {
                for variable in variables(flat, id).filter(|variable| wanted.contains(variable)) {
                    of.entry(variable).or_default().push(id);
                }
            }
        }
        Nodes { of }
    }

    /// The owners of the variables that one model connects with this one.
    fn at(&self, flat: &Flat, start: VarId) -> Vec<InstanceId> {
        let outside = flat.instances[flat.variable(start).instance.index()].parent;
        let couplings = |variable: VarId| self.of.get(&variable).into_iter().flatten().copied();
        let origin = |id: EqId| flat.equations[id.index()].origin;
        let from = match couplings(start).any(|id| origin(id) == outside) {
            true => Some(outside),
            false => couplings(start).map(origin).next(),
        };
        let mut seen: FxHashSet<VarId> = FxHashSet::from_iter([start]);
        let mut work = vec![start];
        let mut members = vec![start];
        while let Some(variable) = work.pop() {
            glance();
            for id in couplings(variable).filter(|&id| Some(origin(id)) == from) {
                for other in variables(flat, id) {
                    if seen.insert(other) {
                        work.push(other);
                        members.push(other);
                    }
                }
            }
        }
        owners(flat, members.into_iter())
    }
}

/// The unknowns in a sum of leaves.
fn variables(flat: &Flat, id: EqId) -> impl Iterator<Item = VarId> {
    let equation = &flat.equations[id.index()];
    let mut work: Vec<ExprId> = vec![equation.right, equation.left];
    std::iter::from_fn(move || {
        while let Some(id) = work.pop() {
            match flat.exprs.node(id) {
                Node::Leaf(leaf) => return Some(leaf.variable()),
                Node::Unary(_, a) => work.push(a),
                Node::Binary(_, a, b) => work.extend([b, a]),
                _ => {}
            }
        }
        None
    })
}

/// Redundant combinations, and the sums of flows in them.
struct Sums<'f> {
    flat: &'f Flat,
    list: Vec<Option<Combination>>,
    /// The combinations in which an equation may occur.
    places: FxHashMap<EqId, Vec<usize>>,
    by_owner: FxHashMap<InstanceId, Vec<EqId>>,
}

impl<'f> Sums<'f> {
    fn new(flat: &'f Flat, redundant: Vec<Combination>) -> Self {
        let mut sums = Sums {
            flat,
            list: Vec::with_capacity(redundant.len()),
            places: FxHashMap::default(),
            by_owner: FxHashMap::default(),
        };
        for (at, combination) in redundant.into_iter().enumerate() {
            for &(id, _) in &combination.equations {
                sums.places.entry(id).or_default().push(at);
                if flat.equations[id.index()].kind == EquationKind::Sum {
                    for owner in owners(flat, variables(flat, id)) {
                        sums.by_owner.entry(owner).or_default().push(id);
                    }
                }
            }
            sums.list.push(Some(combination));
        }
        sums
    }

    fn factor(&self, at: usize, id: EqId) -> i64 {
        (self.list[at].as_ref()).map_or(0, |combination| factor(&combination.equations, id))
    }

    fn place(&self, id: EqId) -> Option<usize> {
        let mut places = self.places.get(&id)?.iter().copied();
        places.find(|&at| self.factor(at, id).abs() == 1)
    }

    /// The sum that contains some of `parts`, and whose parts agree best with those of the node.
    fn best(&self, parts: &[InstanceId], node: &[InstanceId]) -> Option<EqId> {
        let mut candidates: Vec<EqId> = (parts.iter())
            .filter_map(|part| self.by_owner.get(part))
            .flatten()
            .copied()
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|&id| self.place(id).is_some());
        let scored: Vec<(usize, EqId)> = (candidates.into_iter())
            .map(|id| {
                let touched = owners(self.flat, variables(self.flat, id));
                let common = (touched.iter())
                    .filter(|owner| node.binary_search(owner).is_ok())
                    .count();
                (touched.len() + node.len() - 2 * common, id)
            })
            .collect();
        let best = scored.iter().map(|&(score, _)| score).min()?;
        (scored.into_iter())
            .filter(|&(score, _)| score == best)
            .map(|(_, id)| {
                let mut names: Vec<Name> = variables(self.flat, id)
                    .map(|variable| name(self.flat, variable))
                    .collect();
                names.sort();
                (names, id)
            })
            .min()
            .map(|(_, id)| id)
    }

    /// Takes an equation, with one combination that contains it; no other combination contains it afterwards. Returns
    /// its factor (1 or -1) and the combination.
    fn take(&mut self, id: EqId) -> Option<(i64, Vec<(EqId, i64)>)> {
        let at = self.place(id)?;
        let sign = self.factor(at, id);
        let used = self.list[at].take()?.equations;
        let places = self.places.get(&id).cloned().unwrap_or_default();
        for other in places {
            let times = self.factor(other, id) * sign;
            let Some(combination) = self.list[other].as_mut().filter(|_| times != 0) else {
                continue;
            };
            combination.equations =
                difference(&combination.equations, 1, &used, times).unwrap_or_default();
            for &(id, _) in &combination.equations {
                let places = self.places.entry(id).or_default();
                if !places.contains(&other) {
                    places.push(other);
                }
            }
        }
        Some((sign, used))
    }

    fn left(self) -> Vec<Combination> {
        self.list.into_iter().flatten().collect()
    }
}

fn factor(equations: &[(EqId, i64)], id: EqId) -> i64 {
    (equations.binary_search_by_key(&id, |&(id, _)| id)).map_or(0, |place| equations[place].1)
}
