//! Finds the discrete variables that equations have to read with their value before the event.
//!
//! `new(x)` is computed from the present x, and rounds follow until both are equal. Modelica computes everything at
//! once: there `x` is the next value and `pre(x)` the present one, and an event is repeated until both are equal. So in
//! formulas for next values every x becomes `pre(x)`. In other equations both have the same value when the event is
//! over. But if such an equation helps to decide x, it has to read `pre(x)`; else x and its own condition would be a
//! loop (an ideal diode). Which equations help to decide x is found from the unknowns that occur together, whatever
//! they are solved for.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::ExprId;
use crate::flat::{Flat, Kind, Leaf, VarId};

/// Discrete variables that depend on themselves through equations.
pub fn looped(flat: &Flat) -> FxHashSet<VarId> {
    let mut groups = Groups::default();
    for equation in &flat.equations {
        if equation.kind.is_continuous() {
            let mut first = None;
            for leaf in unknowns(flat, &[equation.left, equation.right], true) {
                let at = groups.place(leaf);
                match first {
                    None => first = Some(at),
                    Some(first) => groups.join(first, at),
                }
            }
        }
    }
    let mut deciding: Vec<ExprId> = (flat.equations.iter())
        .filter(|equation| !equation.kind.is_continuous())
        .map(|equation| equation.right)
        .collect();
    let conditions = flat.whens.iter().flat_map(|when| &when.conditions);
    deciding.extend(conditions.map(|&(condition, _)| condition));
    let mut decide: FxHashSet<usize> = FxHashSet::default();
    for leaf in unknowns(flat, &deciding, false) {
        let at = groups.place(leaf);
        decide.insert(groups.root(at));
    }
    let discrete = |id: &VarId| flat.variable(*id).kind == Kind::Discrete;
    (flat.variable_ids().filter(discrete))
        .filter(|&id| {
            let at = groups.place(Leaf::New(id));
            decide.contains(&groups.root(at))
        })
        .collect()
}

/// The unknowns of equations: variables and highest derivatives; `New(x)` stands for a discrete variable.
fn unknowns(flat: &Flat, roots: &[ExprId], discretes: bool) -> Vec<Leaf> {
    let mut found = Vec::new();
    for &root in roots {
        flat.exprs.leaves(root, |leaf| {
            let variable = flat.variable(leaf.variable());
            match leaf {
                Leaf::Var(id) if variable.kind == Kind::Discrete => {
                    found.extend(discretes.then_some(Leaf::New(id)));
                }
                Leaf::Var(_) | Leaf::Der(..)
                    if variable.kind.is_unknown() && leaf.order() == Some(variable.order) =>
                {
                    found.push(leaf);
                }
                _ => {}
            }
        });
    }
    found
}

/// A union-find.
#[derive(Default)]
struct Groups {
    places: FxHashMap<Leaf, usize>,
    parents: Vec<usize>,
}

impl Groups {
    fn place(&mut self, leaf: Leaf) -> usize {
        *self.places.entry(leaf).or_insert_with(|| {
            self.parents.push(self.parents.len());
            self.parents.len() - 1
        })
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[b] = a;
    }
}
