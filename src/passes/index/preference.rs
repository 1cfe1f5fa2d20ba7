//! Which variables are preferred as states.
//!
//! The order does not depend on the order of declarations: first variables that a `when` restarts; then those declared
//! `state`, last those declared `nostate`; then those with a start value, the outermost value first; then those that
//! the source differentiates (they belong to a storage); then by fewer parts of the name; then through variables before
//! across variables (of an inertance and a capacitance that a gyrator ties together, the flow: McCalla 1991, Figure
//! 13); then the alphabet.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::{ExprId, Node};
use crate::flat::{EquationKind, Flat, Leaf, Merit, Role, VarId};

/// The smaller the preference, the rather the variable is a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preference {
    not_restarted: bool,
    /// 0 for `state`, 1 for neither, 2 for `nostate`.
    wish: u8,
    no_start: bool,
    /// How deep the model lies that gives the start value.
    start_depth: u32,
    not_written: bool,
    parts: usize,
    not_through: bool,
    name: String,
    order: u8,
}

impl Preference {
    /// Why this variable is preferred to the other.
    pub fn merit_over(&self, other: &Preference) -> Merit {
        match self {
            _ if self.not_restarted != other.not_restarted => Merit::Restarted,
            _ if self.wish != other.wish => Merit::Wish,
            _ if self.no_start != other.no_start => Merit::Start,
            _ if self.start_depth != other.start_depth => Merit::StartDepth,
            _ if self.not_written != other.not_written => Merit::Written,
            _ if self.parts != other.parts => Merit::Nearer,
            _ if self.not_through != other.not_through => Merit::Through,
            _ => Merit::Name,
        }
    }

    /// Whether the variable is declared `state`.
    pub fn is_declared(&self) -> bool {
        self.wish == 0
    }

    pub fn is_wished(&self) -> bool {
        self.wish == 0 || !self.not_restarted
    }
}

/// The preferences of a model as it was written.
pub struct Preferences<'f> {
    flat: &'f Flat,
    restarted: FxHashSet<VarId>,
    /// Declarations and start values by the root of a set of equal (or opposite) variables: one of them holds for all
    /// of the set.
    wishes: FxHashMap<VarId, bool>,
    starts: FxHashMap<VarId, u32>,
}

impl<'f> Preferences<'f> {
    pub fn new(flat: &'f Flat) -> Self {
        let restarts = (flat.equations.iter())
            .filter(|equation| matches!(equation.kind, EquationKind::When(..)))
            .filter_map(|equation| match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::Init(variable)) => Some(variable),
                _ => None,
            });
        let (mut wishes, mut starts) = (FxHashMap::default(), FxHashMap::default());
        let given = (flat.starts.iter()).map(|given| (given.variable, given.depth));
        let given: Vec<(VarId, u32)> = (given)
            .chain((flat.start_equations()).map(|(id, variable)| {
                let origin = flat.equations[id.index()].origin;
                (variable, flat.depth_of(origin))
            }))
            .collect();
        if !flat.wishes.is_empty() || !given.is_empty() {
            let mut sets = Equal::new(flat);
            for &(id, wish) in &flat.wishes {
                wishes.entry(sets.find(id)).or_insert(wish);
            }
            for &(variable, depth) in &given {
                let outermost = starts.entry(sets.find(variable)).or_insert(depth);
                *outermost = depth.min(*outermost);
            }
            let all: Vec<(VarId, VarId)> = (flat.variable_ids())
                .map(|id| (id, sets.find(id)))
                .collect();
            wishes = (all.iter())
                .filter_map(|(id, root)| Some((*id, *wishes.get(root)?)))
                .collect();
            starts = (all.iter())
                .filter_map(|(id, root)| Some((*id, *starts.get(root)?)))
                .collect();
        }
        Preferences {
            flat,
            restarted: restarts.collect(),
            wishes,
            starts,
        }
    }

    /// The preference of a variable, or of a derivative, as a state.
    pub fn of(&self, state: Leaf) -> Preference {
        let flat = self.flat;
        let id = state.variable();
        let order = state.order().unwrap_or(0);
        let name = flat.name(id);
        let start = (self.starts.get(&id)).filter(|_| order == 0);
        let wish = match flat.wish(id) {
            None => self.wishes.get(&id).copied(),
            wish => wish,
        };
        Preference {
            not_restarted: !(order == 0 && self.restarted.contains(&id)),
            // `state` of x says nothing about der(x), unless the source contains a derivative of it.
            wish: match wish.filter(|_| order == 0 || order < flat.variable(id).order) {
                Some(true) => 0,
                None => 1,
                Some(false) => 2,
            },
            no_start: start.is_none(),
            start_depth: start.copied().unwrap_or(0),
            not_written: order >= flat.variable(id).order,
            parts: name.matches('.').count(),
            not_through: flat.declaration(id).role != Role::Through,
            name: natural(&name),
            order,
        }
    }
}

/// The name in natural order: J[2] comes before J[10].
fn natural(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut digits = String::new();
    for letter in name.chars() {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        if !digits.is_empty() {
            out.push_str(&format!("{:0>10}", std::mem::take(&mut digits)));
        }
        out.push(letter);
    }
    if !digits.is_empty() {
        out.push_str(&format!("{digits:0>10}"));
    }
    out
}

/// Variables that equations make equal, up to a sign: a union-find.
struct Equal {
    parents: Vec<u32>,
}

impl Equal {
    fn new(flat: &Flat) -> Self {
        let mut sets = Equal {
            parents: (0..flat.variables.len() as u32).collect(),
        };
        let variable = |id: ExprId| match flat.exprs.signed_leaf(id) {
            Some((Leaf::Var(id), _)) => Some(id),
            _ => None,
        };
        for equation in flat
            .equations
            .iter()
            .filter(|equation| equation.kind.is_continuous())
        {
            if let (Some(a), Some(b)) = (variable(equation.left), variable(equation.right)) {
                let (a, b) = (sets.find(a), sets.find(b));
                sets.parents[a.index()] = b.0;
            }
        }
        sets
    }

    fn find(&mut self, id: VarId) -> VarId {
        let mut at = id.0;
        while self.parents[at as usize] != at {
            // Path halving.
            self.parents[at as usize] = self.parents[self.parents[at as usize] as usize];
            at = self.parents[at as usize];
        }
        VarId(at)
    }
}
