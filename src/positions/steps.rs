//! What is differentiated and can be discontinuous.
//!
//! Before: a flat model whose index was reduced. After: whether something in its differentiated equations can jump at an event. Such a
//! model needs the system of the jump ([`super::jump`]) even where it has one position only: a step of voltage on capacitors that share it
//! moves charge in no time. Pryce's c tells how often an equation is differentiated: with c = 1 steps count (a truth, a discrete variable,
//! `floor`, a restart); with c >= 2 corners as well (`abs`, `min`, `max`, a corner of a table), as the first derivative
//! has to hold, too.
//!
//! A corner is no relation. Where it counts [`spelled_out`] writes it with one, so that it is an event.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{EquationKind, Flat, Kind, Leaf, Type};
use crate::passes::relations::{Inputs, Moving, WatchKind};

/// What can be discontinuous in the differentiated equations of a model.
#[derive(Clone, Debug, Default)]
pub struct Discontinuous {
    /// `abs`, `min`, `max` and tables in equations that are differentiated twice or more.
    pub corners: FxHashSet<ExprId>,
    steps: bool,
    /// A `when` restarts a variable that a constraint ties to others.
    pub restarts: Option<Leaf>,
    /// States depend on each other, so that what steps may move them.
    tied: bool,
}

impl Discontinuous {
    /// Ids of expressions stay what they are in the model as it was written: passes only add to its arena.
    pub fn of(flat: &Flat) -> Discontinuous {
        let mut found = Discontinuous::default();
        let Some(reduction) = &flat.reduction else {
            return found;
        };
        let sides = |least: u8| {
            (reduction.derived.iter())
                .filter(move |derived| derived.times >= least)
                .flat_map(|derived| [derived.of.left, derived.of.right])
        };
        let gone = FxHashMap::default();
        let mut moving = Moving::new(flat, &gone, Inputs::Move);
        let used = flat.exprs.reached(sides(1));
        let all = used.iter().enumerate().filter(|(_, used)| **used);
        found.steps = all
            .map(|(at, _)| ExprId(at as u32))
            .any(|id| steps(flat, id, &mut moving));
        let twice = flat.exprs.reached(sides(2));
        for (at, _) in twice.iter().enumerate().filter(|(_, used)| **used) {
            let id = ExprId(at as u32);
            if has_corners(flat, id) && moving.moves(id) {
                found.corners.insert(id);
            }
        }
        found.restarts = restarted(flat, &used);
        found.tied = !reduction.selections.is_empty()
            || (reduction.dropped.iter()).any(|dropped| !dropped.others.is_empty());
        found
    }

    pub fn is_any(&self) -> bool {
        self.steps || !self.corners.is_empty() || self.restarts.is_some()
    }

    /// Whether states can jump. Where none can, formulas give all that does: a step of voltage on a single capacitor.
    pub fn moves_states(&self) -> bool {
        self.is_any() && self.tied
    }
}

/// Whether the value of a node can jump although what it is made of does not.
fn steps(flat: &Flat, id: ExprId, moving: &mut Moving<'_>) -> bool {
    match flat.exprs.node(id) {
        Node::Leaf(Leaf::New(_) | Leaf::Pre(_)) | Node::Call(Function::Sample, _) => true,
        Node::Leaf(leaf) => {
            let variable = flat.variable(leaf.variable());
            match variable.kind {
                Kind::Discrete => true,
                Kind::Parameter | Kind::Constant => false,
                // A truth between events is an unknown of its own.
                _ => variable.ty == Type::Boolean,
            }
        }
        _ => WatchKind::of(flat, id).is_some() && moving.moves(id),
    }
}

fn has_corners(flat: &Flat, id: ExprId) -> bool {
    use Function::{Abs, Max, Min, Table};
    matches!(flat.exprs.node(id), Node::Call(Abs | Min | Max | Table, _))
}

/// What a `when` restarts although a constraint ties it to other variables.
fn restarted(flat: &Flat, used: &[bool]) -> Option<Leaf> {
    let mut tied: FxHashSet<Leaf> = FxHashSet::default();
    for (at, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        if let Node::Leaf(leaf) = flat.exprs.node(ExprId(at as u32)) {
            tied.insert(Leaf::Var(leaf.variable()));
        }
    }
    (flat.equations.iter()).find_map(|equation| match flat.exprs.node(equation.left) {
        Node::Leaf(Leaf::Init(of)) if matches!(equation.kind, EquationKind::When(..)) => {
            Some(Leaf::Var(of)).filter(|leaf| tied.contains(leaf))
        }
        _ => None,
    })
}

/// Whether anything in a model can be discontinuous: without it no jump system is needed, whatever the index.
pub fn can_be_any(flat: &Flat) -> bool {
    use Function::{Abs, Max, Min, Sample, Table};
    !flat.whens.is_empty()
        || (0..flat.exprs.len()).any(|at| {
            glance();
            let id = ExprId(at as u32);
            match flat.exprs.node(id) {
                Node::Call(Sample | Table | Abs | Min | Max, _) => true,
                Node::Leaf(leaf) => flat.variable(leaf.variable()).kind == Kind::Discrete,
                _ => WatchKind::of(flat, id).is_some(),
            }
        })
}

/// The points of a table.
struct Points {
    x: ExprId,
    xs: Vec<ExprId>,
    ys: Vec<ExprId>,
}

impl Points {
    fn of(flat: &Flat, id: ExprId) -> Option<Points> {
        let Node::Call(Function::Table, args) = flat.exprs.node(id) else {
            return None;
        };
        let &[x, xs, ys] = flat.exprs.args(args) else {
            return None;
        };
        let (Node::List(xs), Node::List(ys)) = (flat.exprs.node(xs), flat.exprs.node(ys)) else {
            return None;
        };
        let (xs, ys) = (flat.exprs.args(xs).to_vec(), flat.exprs.args(ys).to_vec());
        (!xs.is_empty() && xs.len() == ys.len()).then_some(Points { x, xs, ys })
    }
}

/// The same equations, in which the given corners are written with relations.
pub fn spelled_out(flat: &mut Flat, corners: &FxHashSet<ExprId>) {
    let mut by: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut nodes: Vec<ExprId> = corners.iter().copied().collect();
    nodes.sort_unstable();
    for id in nodes {
        let written = with_relations(flat, id);
        by.extend(written.map(|written| (id, written)));
    }
    if by.is_empty() {
        return;
    }
    for at in 0..flat.equations.len() {
        let equation = flat.equations[at];
        if equation.kind.is_continuous() {
            let mut with = |side| (flat.exprs).rewrite(side, &mut |_, id| by.get(&id).copied());
            let (left, right) = (with(equation.left), with(equation.right));
            (flat.equations[at].left, flat.equations[at].right) = (left, right);
        }
    }
}

fn with_relations(flat: &mut Flat, id: ExprId) -> Option<ExprId> {
    let Node::Call(function, args) = flat.exprs.node(id) else {
        return None;
    };
    let args = flat.exprs.args(args).to_vec();
    Some(match function {
        Function::Abs => {
            let zero = flat.exprs.number(0.0);
            let minus = flat.exprs.unary(UnaryOp::Minus, args[0]);
            let above = flat.exprs.binary(BinaryOp::GreaterEqual, args[0], zero);
            flat.exprs.if_else(above, args[0], minus)
        }
        Function::Min | Function::Max => {
            let op = match function {
                Function::Min => BinaryOp::LessEqual,
                _ => BinaryOp::GreaterEqual,
            };
            let (&first, others) = args.split_first()?;
            let mut best = first;
            for &other in others {
                let stays = flat.exprs.binary(op, best, other);
                best = flat.exprs.if_else(stays, best, other);
            }
            best
        }
        Function::Table => {
            let points = Points::of(flat, id)?;
            let pieces = pieces(flat, &points);
            chosen(flat, points.x, pieces)
        }
        _ => return None,
    })
}

/// Parts of a table, each with where it begins: from point to point, and beyond the ends the end values.
fn pieces(flat: &mut Flat, points: &Points) -> Vec<(ExprId, ExprId)> {
    let count = points.xs.len();
    let mut pieces = vec![(points.x, points.ys[0])];
    for at in 1..count {
        let ends = [at - 1, at].map(|at| (points.xs[at], points.ys[at]));
        pieces.push((ends[0].0, line(flat, points.x, ends)));
    }
    pieces.push((points.xs[count - 1], points.ys[count - 1]));
    pieces
}

/// y0 + (x - x0)*(y1 - y0)/(x1 - x0)
fn line(flat: &mut Flat, x: ExprId, [(x0, y0), (x1, y1)]: [(ExprId, ExprId); 2]) -> ExprId {
    let exprs = &mut flat.exprs;
    let along = exprs.tidy_binary(BinaryOp::Sub, x, x0);
    let height = exprs.tidy_binary(BinaryOp::Sub, y1, y0);
    let width = exprs.tidy_binary(BinaryOp::Sub, x1, x0);
    let slope = exprs.tidy_binary(BinaryOp::Div, height, width);
    let rise = exprs.tidy_binary(BinaryOp::Mul, along, slope);
    exprs.tidy_binary(BinaryOp::Add, y0, rise)
}

/// A balanced tree of `if`s over the parts.
fn chosen(flat: &mut Flat, x: ExprId, mut pieces: Vec<(ExprId, ExprId)>) -> ExprId {
    while pieces.len() > 1 {
        pieces = (pieces.chunks(2))
            .map(|pair| match *pair {
                [(begin, before), (bound, after)] => {
                    let is_before = flat.exprs.binary(BinaryOp::Less, x, bound);
                    (begin, flat.exprs.if_else(is_before, before, after))
                }
                _ => pair[0],
            })
            .collect();
    }
    pieces[0].1
}
