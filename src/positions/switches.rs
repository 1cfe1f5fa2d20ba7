//! Switches: conditions that decide which variables an equation speaks of.
//!
//! Before: a flat model. After: its switches, in the order of the model. `0 = if OpenSwitch then f else e` is one, whatever
//! its type is called; so is a contact or a rope. An `if` with the same variables in both branches (a saturation, a
//! piecewise characteristic) is none, and neither is one whose condition never changes.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf, Type};
use crate::passes::vanishing::constant;

/// A condition, with all `if`s that it decides.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Never a negation: `if not c then a else b` is read as `if c then b else a`.
    pub condition: ExprId,
    /// Equations with an `if` that it decides.
    pub equations: Vec<EqId>,
    /// Where the first of them was written.
    pub origin: InstanceId,
}

/// The truth of the conditions of all switches.
pub type Key = Box<[bool]>;

/// A condition without `not`, and whether it was negated.
pub fn plain(flat: &Flat, mut condition: ExprId) -> (ExprId, bool) {
    let mut negated = false;
    while let Node::Unary(UnaryOp::Not, inner) = flat.exprs.node(condition) {
        condition = inner;
        negated = !negated;
    }
    (condition, negated)
}

pub fn switches(flat: &Flat) -> Vec<Switch> {
    let mut found: Vec<Switch> = Vec::new();
    let mut place: FxHashMap<ExprId, usize> = FxHashMap::default();
    let mut look = Look::new(flat);
    for id in flat.equation_ids() {
        let equation = &flat.equations[id.index()];
        if !equation.kind.is_continuous() {
            continue;
        }
        let mut conditions = Vec::new();
        look.all_below(&[equation.left, equation.right]);
        let mut work = vec![equation.right, equation.left];
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Node::If(condition, ..) = flat.exprs.node(node)
                && look.is_switch(node)
            {
                conditions.push(plain(flat, condition).0);
            }
            flat.exprs.operands(node, &mut work);
        }
        if conditions.is_empty() || flat.is_boolean(equation.left) {
            continue;
        }
        for condition in conditions {
            let at = *place.entry(condition).or_insert_with(|| {
                found.push(Switch {
                    condition,
                    equations: Vec::new(),
                    origin: equation.origin,
                });
                found.len() - 1
            });
            if found[at].equations.last() != Some(&id) {
                found[at].equations.push(id);
            }
        }
    }
    found
}

/// Whether an expression contains an `if` of a switch.
pub fn has_switch(flat: &Flat, root: ExprId) -> bool {
    let mut look = Look::new(flat);
    look.all_below(&[root]).iter().any(|&id| look.is_switch(id))
}

/// The unknown numbers in an expression, sorted.
type Leaves = Rc<[(u32, u8)]>;

/// What is known of an `if`.
#[derive(Clone, Debug)]
struct Branches {
    /// Some part of it can become another one.
    changes: bool,
    is_switch: bool,
    /// In either branch.
    leaves: Leaves,
}

/// Examines `if`s, inner ones before outer ones, so that a long chain of them is visited once.
struct Look<'f> {
    flat: &'f Flat,
    known: FxHashMap<ExprId, Branches>,
}

impl<'f> Look<'f> {
    fn new(flat: &'f Flat) -> Self {
        Look {
            flat,
            known: FxHashMap::default(),
        }
    }

    fn is_switch(&self, id: ExprId) -> bool {
        self.known.get(&id).is_some_and(|known| known.is_switch)
    }

    /// All `if`s in expressions, operands first.
    fn all_below(&mut self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut work = roots.to_vec();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if seen.insert(id) {
                if let Node::If(..) = self.flat.exprs.node(id) {
                    found.push(id);
                }
                self.flat.exprs.operands(id, &mut work);
            }
        }
        // Operands come before their users in the arena.
        found.sort_unstable();
        for &id in &found {
            if !self.known.contains_key(&id)
                && let Node::If(condition, a, b) = self.flat.exprs.node(id)
            {
                let decides = self.changes(condition);
                let (a_leaves, b_leaves) = (self.leaves(a), self.leaves(b));
                let branches = Branches {
                    is_switch: decides && a_leaves != b_leaves,
                    changes: decides || self.changes(a) || self.changes(b),
                    leaves: union(&a_leaves, &b_leaves),
                };
                self.known.insert(id, branches);
            }
        }
        found
    }

    /// Whether a condition can become another one.
    fn changes(&self, condition: ExprId) -> bool {
        let flat = self.flat;
        let mut work = vec![condition];
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(known) = self.known.get(&id) {
                if known.changes {
                    return true;
                }
                continue;
            }
            match flat.exprs.node(id) {
                Node::Time | Node::Call(crate::expr::Function::Sample, _) => return true,
                Node::Leaf(leaf) => {
                    let kind = flat.variable(leaf.variable()).kind;
                    if !matches!(kind, Kind::Parameter | Kind::Constant) {
                        return true;
                    }
                }
                _ => flat.exprs.operands(id, &mut work),
            }
        }
        false
    }

    /// The unknown numbers in a branch; not those whose coefficient is zero as given.
    fn leaves(&self, root: ExprId) -> Leaves {
        if let Some(known) = self.known.get(&root) {
            return known.leaves.clone();
        }
        let flat = self.flat;
        let mut found = Vec::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match flat.exprs.node(id) {
                Node::Leaf(leaf @ (Leaf::Var(_) | Leaf::Der(..))) => {
                    let variable = flat.variable(leaf.variable());
                    if variable.ty == Type::Real && variable.kind.is_unknown() {
                        found.push((leaf.variable().0, leaf.order().unwrap_or(0)));
                    }
                }
                Node::Binary(BinaryOp::Mul, a, b)
                    if [a, b].iter().any(|&x| constant(flat, x) == Some(0.0)) => {}
                // What decides is no matter of the branches.
                Node::If(_, a, b) => match self.known.get(&id) {
                    Some(known) => found.extend_from_slice(&known.leaves),
                    None => work.extend([a, b]),
                },
                _ => flat.exprs.operands(id, &mut work),
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into()
    }
}

/// What is in one or the other; the same list where that is one of the two.
fn union(a: &Leaves, b: &Leaves) -> Leaves {
    let mut all: Vec<(u32, u8)> = a.iter().chain(b.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    match all.len() {
        some if some == a.len() => a.clone(),
        some if some == b.len() => b.clone(),
        _ => all.into(),
    }
}

/// Puts in the branches that hold in a position.
pub fn put_in(flat: &mut Flat, switches: &[Switch], key: &[bool]) {
    let truth: FxHashMap<ExprId, bool> = (switches.iter().zip(key))
        .map(|(switch, &truth)| (switch.condition, truth))
        .collect();
    let mut equations: Vec<EqId> = (switches.iter())
        .flat_map(|switch| switch.equations.iter().copied())
        .collect();
    equations.sort_unstable();
    equations.dedup();
    for id in equations {
        let equation = flat.equations[id.index()];
        let left = branch(flat, equation.left, &truth);
        let right = branch(flat, equation.right, &truth);
        let equation = &mut flat.equations[id.index()];
        (equation.left, equation.right) = (left, right);
    }
}

/// An expression with the branches that hold.
pub fn branch(flat: &mut Flat, root: ExprId, truth: &FxHashMap<ExprId, bool>) -> ExprId {
    let mut chosen: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut work = vec![root];
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        flat.exprs.operands(id, &mut work);
        if let Node::If(condition, a, b) = flat.exprs.node(id)
            && let (condition, negated) = plain(flat, condition)
            && let Some(&truth) = truth.get(&condition)
        {
            chosen.insert(id, if truth ^ negated { a } else { b });
        }
    }
    (flat.exprs).rewrite(root, &mut |_, id| chosen.get(&id).copied())
}
