//! Alias elimination: `a = b`, `a = -b`, `a + b = 0`, `a = constant`.
//!
//! Before: a flat model that can be sorted. After: the same model without these equations, every
//! variable of an alias set replaced by the one that survives; what was eliminated stays listed
//! with its value. Sets are kept by a union-find with signs.
//!
//! The survivor of a set is a rule, so that shuffling a model changes nothing: what is known
//! (parameter, input, state), then outputs, then what was a state before index reduction, then
//! names with fewer parts, then the alphabet; derivatives last, those of states first. Two known things are never put into one set: that equation stays.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::isolate::open_sum;
use crate::expr::{Arena, BinaryOp, ExprId, Node, Term, UnaryOp, Value};
use crate::flat::{Eliminated, EquationKind, Flat, Given, Kind, Leaf, VarId};

/// A member of a set: a variable or one of its derivatives, numbered.
type Member = u32;

struct Members {
    leaves: Vec<Leaf>,
    /// The member that each variable itself is; its derivatives follow.
    of: Vec<Member>,
    /// Variables that are states during a part of a run only: candidates of a selection.
    candidates: FxHashSet<Leaf>,
    /// Variables that were states before index reduction.
    dropped: FxHashSet<VarId>,
}

impl Members {
    fn new(flat: &Flat) -> Self {
        let mut members = Members {
            leaves: Vec::with_capacity(flat.variables.len()),
            of: Vec::with_capacity(flat.variables.len()),
            candidates: (flat.selections().iter())
                .flat_map(|selection| selection.candidates.iter().copied())
                .collect(),
            dropped: (flat.reduction.iter())
                .flat_map(|reduction| reduction.dropped.iter())
                .map(|dropped| dropped.state.variable())
                .collect(),
        };
        for id in flat.variable_ids() {
            members.of.push(members.leaves.len() as u32);
            let orders = 0..flat.variable(id).order + 1;
            (members.leaves).extend(orders.map(|order| Leaf::at_order(id, order)));
        }
        members.of.push(members.leaves.len() as u32);
        members
    }

    fn find(&self, leaf: Leaf) -> Option<Member> {
        let order = leaf.order()?;
        let variable = leaf.variable().index();
        let member = self.of[variable] + u32::from(order);
        // The arena may hold derivatives that no equation contains any more.
        (member < self.of[variable + 1]).then_some(member)
    }
}

/// Whether a leaf is known before any block is computed: a state, an input, a parameter, or a variable that changes at
/// events only. The derivative of an input is known as the input is.
fn is_known(flat: &Flat, leaf: Leaf) -> bool {
    match flat.variable(leaf.variable()).kind {
        Kind::State | Kind::Algebraic | Kind::Output => flat.is_state(leaf),
        _ => true,
    }
}

struct Sets {
    parents: Vec<Member>,
    /// Whether the member is the negative of its parent.
    negative: Vec<bool>,
    /// By root: whether the set contains a leaf that is known.
    anchored: Vec<bool>,
    /// By root: the constant that the members of the set equal.
    constants: Vec<Option<f64>>,
}

impl Sets {
    /// The root, and whether the member is its negative.
    fn find(&mut self, start: Member) -> (Member, bool) {
        let (mut root, mut sign) = (start, false);
        while self.parents[root as usize] != root {
            sign ^= self.negative[root as usize];
            root = self.parents[root as usize];
        }
        // Path compression: every member on the way gets the root as its parent.
        let (mut at, mut left) = (start, sign);
        while at != root {
            let next = self.parents[at as usize];
            let step = self.negative[at as usize];
            self.parents[at as usize] = root;
            self.negative[at as usize] = left;
            left ^= step;
            at = next;
        }
        (root, sign)
    }

    /// Makes a = b, or a = -b. False if that cannot be done.
    fn join(&mut self, a: Member, b: Member, negative: bool) -> bool {
        let (x, s) = self.find(a);
        let (y, t) = self.find(b);
        let known = |sets: &Sets, root: Member| {
            sets.anchored[root as usize] || sets.constants[root as usize].is_some()
        };
        if x == y || (known(self, x) && known(self, y)) {
            return false;
        }
        let (root, below) = if known(self, y) { (y, x) } else { (x, y) };
        self.parents[below as usize] = root;
        self.negative[below as usize] = s ^ t ^ negative;
        true
    }

    fn fix(&mut self, a: Member, value: f64) -> bool {
        let (root, negative) = self.find(a);
        if self.anchored[root as usize] || self.constants[root as usize].is_some() {
            return false;
        }
        let value = if negative { -value } else { value };
        // Minus zero would print as `-0`.
        self.constants[root as usize] = Some(if value == 0.0 { 0.0 } else { value });
        true
    }
}

/// One side of an alias equation.
enum Side {
    Member(Member, bool),
    Constant(f64),
}

/// Eliminates aliases. A constant may make another equation an alias (`u = Va - Vb` with `Vb = 0`), so elimination is
/// repeated while it finds more, a limited number of times.
pub fn eliminate(mut flat: Flat) -> Flat {
    const MOST: usize = 10;
    for _ in 0..MOST {
        let before = flat.eliminated.len();
        flat = pass(flat);
        if flat.eliminated.len() == before {
            break;
        }
    }
    move_starts(&mut flat);
    drop_candidates(&mut flat);
    flat.eliminated.sort_by_key(|alias| {
        let derivative = matches!(alias.leaf, Leaf::Der(..));
        (derivative, alias.leaf.variable())
    });
    flat
}

/// An eliminated variable passes its start value to the survivor. If both have one, that of the model farther outside
/// holds; an experiment is outside of all models. Restarts and start equations of the eliminated variable become those
/// of the survivor.
fn move_starts(flat: &mut Flat) {
    let mut stands_for: FxHashMap<VarId, (VarId, bool)> = FxHashMap::default();
    for alias in &flat.eliminated {
        let other = flat.exprs.signed_leaf(alias.expression);
        if let (Leaf::Var(from), Some((Leaf::Var(to), negative))) = (alias.leaf, other) {
            stands_for.insert(from, (to, negative));
        }
    }
    let mut moved: Vec<Given> = Vec::new();
    for start in &flat.starts {
        let Some(&(to, negative)) = stands_for.get(&start.variable) else {
            continue;
        };
        let as_far_out = |given: &Given| given.depth <= start.depth;
        let own = flat.start(to).is_some_and(as_far_out);
        let taken = (moved.iter()).any(|given| given.variable == to && as_far_out(given));
        let unknown = flat.variable(to).kind.is_unknown();
        if own || taken || !unknown {
            continue;
        }
        moved.retain(|given| given.variable != to);
        let (mut value, mut expression) = (start.value, start.expression);
        if let (true, Value::Real(number)) = (negative, value) {
            value = Value::Real(-number);
            expression = flat.exprs.tidy_minus(expression);
        }
        moved.push(Given {
            variable: to,
            value,
            expression,
            span: start.span,
            depth: start.depth,
        });
    }
    // A start value from farther outside replaces the survivor's own, and the equation that gave it.
    let overruled: FxHashSet<VarId> = (moved.iter())
        .map(|given| given.variable)
        .filter(|&id| flat.start(id).is_some())
        .collect();
    flat.starts
        .retain(|given| !overruled.contains(&given.variable));
    let exprs = &flat.exprs;
    (flat.equations).retain(|equation| match exprs.node(equation.left) {
        Node::Leaf(Leaf::Init(id)) if equation.kind == EquationKind::Init => {
            !overruled.contains(&id)
        }
        _ => true,
    });
    flat.starts.extend(moved);
    flat.starts.sort_by_key(|given| given.variable);
    for equation in &mut flat.equations {
        let Node::Leaf(Leaf::Init(from)) = flat.exprs.node(equation.left) else {
            continue;
        };
        if let Some(&(to, negative)) = stands_for.get(&from) {
            equation.left = flat.exprs.leaf(Leaf::Init(to));
            if negative {
                equation.right = flat.exprs.tidy_minus(equation.right);
            }
        }
    }
}

/// An eliminated variable cannot be chosen as a state any more. Where it was the choice, what stands for it is.
fn drop_candidates(flat: &mut Flat) {
    let replacements = flat.replacements();
    let Some(reduction) = &mut flat.reduction else {
        return;
    };
    for selection in &mut reduction.selections {
        (selection.candidates).retain(|candidate| !replacements.contains_key(candidate));
        let choice = std::mem::take(&mut selection.choice);
        for chosen in choice {
            let stays = match replacements.get(&chosen) {
                None => Some(chosen),
                Some(&by) => flat.exprs.signed_leaf(by).map(|(leaf, _)| leaf),
            };
            let stays = stays.filter(|leaf| selection.candidates.contains(leaf));
            if let Some(leaf) = stays.filter(|leaf| !selection.choice.contains(leaf)) {
                selection.choice.push(leaf);
            }
        }
    }
}

fn pass(mut flat: Flat) -> Flat {
    let members = Members::new(&flat);
    let count = members.leaves.len();
    let mut sets = Sets {
        parents: (0..count as u32).collect(),
        negative: vec![false; count],
        anchored: (members.leaves.iter())
            .map(|&leaf| is_known(&flat, leaf))
            .collect(),
        constants: vec![None; count],
    };
    let mut kept = Vec::with_capacity(flat.equations.len());
    for equation in &flat.equations {
        let can_go = equation.kind.is_continuous();
        if !(can_go && take(&flat, &members, &mut sets, equation.left, equation.right)) {
            kept.push(*equation);
        }
    }
    let replaced = replacements(&mut flat, &members, &mut sets);
    let rewritten = rewrite(&mut flat, &members, &replaced);
    let new = |id: ExprId| rewritten[id.index()];
    for equation in &mut kept {
        let before = (equation.left, equation.right);
        let after = (new(equation.left), new(equation.right));
        (equation.left, equation.right) = match before == after {
            true => before,
            false => cancelled(&mut flat.exprs, after),
        };
    }
    for when in &mut flat.whens {
        for (condition, _) in &mut when.conditions {
            *condition = new(*condition);
        }
    }
    flat.equations = kept;
    for alias in &mut flat.eliminated {
        alias.expression = new(alias.expression);
    }
    let more = (replaced.iter().enumerate()).filter_map(|(member, replacement)| {
        Some(Eliminated {
            leaf: members.leaves[member],
            expression: (*replacement)?,
        })
    });
    flat.eliminated.extend(more);
    flat
}

/// Joins two members if the equation says that they are equal or opposite.
fn take(flat: &Flat, members: &Members, sets: &mut Sets, left: ExprId, right: ExprId) -> bool {
    let number = |id: ExprId| match flat.exprs.node(id) {
        Node::Number(value) => Some(value.0),
        _ => None,
    };
    // a + b = 0 and a - b = 0, from either side.
    for (sum, zero) in [(left, right), (right, left)] {
        if number(zero) == Some(0.0)
            && let Node::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = flat.exprs.node(sum)
            && let (Some(Side::Member(a, s)), Some(Side::Member(b, t))) =
                (side(flat, members, a), side(flat, members, b))
        {
            return sets.join(a, b, s ^ t ^ (op == BinaryOp::Add));
        }
    }
    match (side(flat, members, left), side(flat, members, right)) {
        (Some(Side::Member(a, s)), Some(Side::Member(b, t))) => sets.join(a, b, s ^ t),
        (Some(Side::Member(a, s)), Some(Side::Constant(value)))
        | (Some(Side::Constant(value)), Some(Side::Member(a, s))) => {
            sets.fix(a, if s { -value } else { value })
        }
        _ => false,
    }
}

/// Reads a side that is a member or a constant, with any number of signs before it.
fn side(flat: &Flat, members: &Members, mut id: ExprId) -> Option<Side> {
    let mut negative = false;
    while let Node::Unary(UnaryOp::Minus, inner) = flat.exprs.node(id) {
        negative = !negative;
        id = inner;
    }
    match flat.exprs.node(id) {
        Node::Number(value) if negative => Some(Side::Constant(-value.0)),
        Node::Number(value) => Some(Side::Constant(value.0)),
        Node::Leaf(leaf) => Some(Side::Member(members.find(leaf)?, negative)),
        _ => None,
    }
}

/// What replaces each member; `None` for the survivors.
fn replacements(flat: &mut Flat, members: &Members, sets: &mut Sets) -> Vec<Option<ExprId>> {
    let count = members.leaves.len();
    let mut found: Vec<(Member, Member, bool)> = Vec::new();
    for member in 0..count as u32 {
        let (root, negative) = sets.find(member);
        if root != member {
            found.push((root, member, negative));
        }
    }
    let mut roots: Vec<Member> = found.iter().map(|&(root, ..)| root).collect();
    roots.extend((0..count as u32).filter(|&root| sets.constants[root as usize].is_some()));
    roots.sort_unstable();
    roots.dedup();
    found.extend(roots.into_iter().map(|root| (root, root, false)));
    found.sort_unstable();
    let mut replaced = vec![None; count];
    for group in found.chunk_by(|a, b| a.0 == b.0) {
        if let Some(value) = sets.constants[group[0].0 as usize] {
            for &(_, member, negative) in group {
                let value = if negative { -value } else { value };
                replaced[member as usize] = Some(flat.exprs.constant(value));
            }
            continue;
        }
        let survivor = (group.iter().copied())
            .map(|found| (rank(flat, members, members.leaves[found.1 as usize]), found))
            .min()
            .map_or(group[0], |(_, found)| found);
        let leaf = members.leaves[survivor.1 as usize];
        for &(_, member, negative) in group {
            if member != survivor.1 {
                let mut expression = flat.exprs.leaf(leaf);
                if negative != survivor.2 {
                    expression = flat.exprs.tidy_minus(expression);
                }
                replaced[member as usize] = Some(expression);
            }
        }
    }
    replaced
}

/// The member with the smallest rank survives.
fn rank(flat: &Flat, members: &Members, leaf: Leaf) -> (u8, usize, String) {
    let variable = leaf.variable();
    let at_times = |leaf: Leaf| flat.is_state(leaf) || members.candidates.contains(&leaf);
    let class = match (flat.variable(variable).kind, leaf) {
        _ if is_known(flat, leaf) || members.candidates.contains(&leaf) => 0,
        (_, Leaf::Der(_, order)) if at_times(Leaf::at_order(variable, order - 1)) => 4,
        (_, Leaf::Der(..)) if members.dropped.contains(&variable) => 5,
        (_, Leaf::Der(..)) => 6,
        (Kind::Output, _) => 1,
        _ if members.dropped.contains(&variable) => 2,
        _ => 3,
    };
    let name = flat.name(variable);
    (class, name.matches('.').count(), name)
}

/// Replaces the leaves of all expressions. Operands come before their users, so one loop suffices.
fn rewrite(flat: &mut Flat, members: &Members, replaced: &[Option<ExprId>]) -> Vec<ExprId> {
    let size = flat.exprs.len();
    let mut new: Vec<ExprId> = Vec::with_capacity(size);
    for at in 0..size as u32 {
        let id = ExprId(at);
        let of = |id: ExprId| new[id.index()];
        let same = |ids: &[ExprId]| ids.iter().all(|&id| of(id) == id);
        let exprs = &mut flat.exprs;
        let result = match exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time => id,
            Node::Leaf(Leaf::Pre(variable)) => {
                match replaced[members.of[variable.index()] as usize] {
                    None => id,
                    Some(other) => before(exprs, other),
                }
            }
            Node::Leaf(leaf) => (members.find(leaf))
                .and_then(|member| replaced[member as usize])
                .unwrap_or(id),
            Node::Unary(_, a) if same(&[a]) => id,
            Node::Unary(op, a) => exprs.tidy_unary(op, of(a)),
            Node::Binary(_, a, b) if same(&[a, b]) => id,
            Node::Binary(op, a, b) => exprs.tidy_binary(op, of(a), of(b)),
            Node::If(a, b, c) if same(&[a, b, c]) => id,
            Node::If(a, b, c) => exprs.tidy_if(of(a), of(b), of(c)),
            Node::Call(function, args) => {
                let args: Vec<ExprId> = exprs.args(args).to_vec();
                match same(&args) {
                    true => id,
                    false => {
                        let args: Vec<ExprId> = args.into_iter().map(of).collect();
                        exprs.call(function, &args)
                    }
                }
            }
            Node::List(args) => {
                let args: Vec<ExprId> = exprs.args(args).to_vec();
                match same(&args) {
                    true => id,
                    false => {
                        let args: Vec<ExprId> = args.into_iter().map(of).collect();
                        exprs.list(&args)
                    }
                }
            }
        };
        new.push(result);
    }
    new
}

/// Cancels terms: `x + a - a = 0` becomes `x = 0`, in whichever order the terms stand. An equation without such terms
/// is returned unchanged.
fn cancelled(exprs: &mut Arena<Leaf>, (left, right): (ExprId, ExprId)) -> (ExprId, ExprId) {
    let mut terms: Vec<Term> = Vec::new();
    open_sum(exprs, left, &mut terms);
    let on_left = terms.len();
    open_sum(exprs, right, &mut terms);
    // Terms that have not been cancelled, with their signs on the left side.
    let mut alone: FxHashMap<ExprId, Vec<(usize, bool)>> = FxHashMap::default();
    let mut cancelled = vec![false; terms.len()];
    for (at, &(minus, id)) in terms.iter().enumerate() {
        if !matches!(exprs.node(id), Node::Leaf(_) | Node::Number(_)) {
            continue;
        }
        let minus = minus ^ (at >= on_left);
        let others = alone.entry(id).or_default();
        match others.last() {
            Some(&(other, sign)) if sign != minus => {
                (cancelled[at], cancelled[other]) = (true, true);
                others.pop();
            }
            _ => others.push((at, minus)),
        }
    }
    if !cancelled.contains(&true) {
        return (left, right);
    }
    let mut side = |range: std::ops::Range<usize>| {
        let stay: Vec<Term> = range
            .filter(|&at| !cancelled[at])
            .map(|at| terms[at])
            .collect();
        exprs.sum(&stay)
    };
    (side(0..on_left), side(on_left..cancelled.len()))
}

/// The value that the replacement of a variable had before the event.
fn before(exprs: &mut Arena<Leaf>, replacement: ExprId) -> ExprId {
    match exprs.node(replacement) {
        Node::Leaf(leaf) => exprs.leaf(Leaf::Pre(leaf.variable())),
        Node::Unary(UnaryOp::Minus, a) => {
            let inner = before(exprs, a);
            exprs.tidy_minus(inner)
        }
        _ => replacement,
    }
}
