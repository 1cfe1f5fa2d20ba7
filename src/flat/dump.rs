//! The flat model as lines, one for each thing that has an id: to compare stages, and to find what a verifier names.
//!
//! ```text
//! v3 C1.e state real order 1 states 1 start 0
//! e7 Mul e2 e5
//! q4 C1 equation [e7 = e9] C1.C*der(C1.e) = C1.f
//! ```
//!
//! Expressions that nothing refers to any more are left out; ids are those of the arena.

use std::fmt::{self, Debug, Display, Write};

use super::{EqId, Flat, InstanceId, Leaf, VarId};
use crate::expr::{ExprId, Node, Value, show_number};

/// A leaf by its ids: `v3`, `der(v3)`, `der2(v3)`, `new(v3)`.
#[derive(Clone, Copy)]
pub struct Shown(pub Leaf);

impl Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Leaf::Var(v) => write!(f, "{v:?}"),
            Leaf::Der(v, 1) => write!(f, "der({v:?})"),
            Leaf::Der(v, order) => write!(f, "der{order}({v:?})"),
            Leaf::New(v) => write!(f, "new({v:?})"),
            Leaf::Init(v) => write!(f, "init({v:?})"),
            Leaf::Pre(v) => write!(f, "pre({v:?})"),
        }
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self, f)
    }
}

/// Several of them: `v1 der(v3)`.
pub fn shown(leaves: &[Leaf]) -> String {
    let all: Vec<String> = leaves.iter().map(|&leaf| Shown(leaf).to_string()).collect();
    all.join(" ")
}

/// The whole model.
pub fn dump(flat: &Flat) -> String {
    let mut out = format!("model {}\n", flat.model());
    instances(flat, &mut out);
    for id in flat.variable_ids() {
        variable(flat, id, &mut out);
    }
    let roots = flat.roots();
    expressions(flat, roots.into_iter().map(|(_, id)| id), &mut out);
    for id in flat.equation_ids() {
        equation(flat, id, &mut out);
    }
    for (at, when) in flat.whens.iter().enumerate() {
        let _ = write!(out, "w{at} {:?} when", when.origin);
        for (condition, _) in &when.conditions {
            let _ = write!(out, " {condition:?}");
        }
        out.push('\n');
    }
    for alias in &flat.eliminated {
        let (leaf, id) = (Shown(alias.leaf), alias.expression);
        let (name, text) = (flat.leaf_name(alias.leaf), flat.expression(id));
        let _ = writeln!(out, "eliminated {leaf} = {id:?} {name} = {text}");
    }
    for (id, wish) in &flat.wishes {
        let word = if *wish { "state" } else { "nostate" };
        let _ = writeln!(out, "wish {id:?} {word}");
    }
    if !flat.shaping.is_empty() {
        let _ = writeln!(out, "shaping {:?}", flat.shaping);
    }
    reduction(flat, &mut out);
    out
}

fn instances(flat: &Flat, out: &mut String) {
    for (at, instance) in flat.instances.iter().enumerate() {
        let id = InstanceId(at as u32);
        let class = flat.names.name(instance.class);
        let _ = match id {
            InstanceId::TOP => writeln!(out, "{id:?} {class}"),
            _ => writeln!(
                out,
                "{id:?} {} {class} in {:?}",
                flat.path(id),
                instance.parent
            ),
        };
    }
}

pub fn variable(flat: &Flat, id: VarId, out: &mut String) {
    let known = flat.variable(id);
    let (kind, ty) = (known.kind.text(), known.ty.text());
    let _ = write!(out, "{id:?} {} {kind} {ty}", flat.name(id));
    if known.output {
        out.push_str(" output");
    }
    if known.order > 0 || known.states > 0 {
        let _ = write!(out, " order {} states {}", known.order, known.states);
    }
    for (word, given) in [("=", flat.value(id)), ("start", flat.start(id))] {
        if let Some(given) = given {
            let _ = write!(out, " {word} {} {:?}", value(given.value), given.expression);
        }
    }
    out.push('\n');
}

fn value(value: Value) -> String {
    match value {
        Value::Real(number) => show_number(number),
        Value::Bool(truth) => truth.to_string(),
    }
}

/// The expressions that these are made of, in the order of the arena.
pub fn expressions(flat: &Flat, roots: impl IntoIterator<Item = ExprId>, out: &mut String) {
    let exprs = &flat.exprs;
    let reached = exprs.reached(roots);
    for at in (0..exprs.len()).filter(|&at| reached[at]) {
        let id = ExprId(at as u32);
        let _ = write!(out, "{id:?}");
        let _ = match exprs.node(id) {
            Node::Number(number) => write!(out, " {}", show_number(number.0)),
            Node::Bool(truth) => write!(out, " {truth}"),
            Node::Time => write!(out, " Time"),
            Node::Leaf(leaf) => write!(out, " {}", Shown(leaf)),
            Node::Unary(op, _) => write!(out, " {op:?}"),
            Node::Binary(op, ..) => write!(out, " {op:?}"),
            Node::If(..) => write!(out, " If"),
            Node::Call(function, _) => write!(out, " {function:?}"),
            Node::List(_) => write!(out, " List"),
        };
        exprs.each_operand(id, |operand| {
            let _ = write!(out, " {operand:?}");
        });
        out.push('\n');
    }
}

fn equation(flat: &Flat, id: EqId, out: &mut String) {
    let equation = flat.equations[id.index()];
    let (left, right) = (equation.left, equation.right);
    let (origin, kind) = (equation.origin, equation.kind);
    let text = flat.equation_text(id);
    let _ = writeln!(
        out,
        "{id:?} {origin:?} {kind:?} [{left:?} = {right:?}] {text}"
    );
}

fn reduction(flat: &Flat, out: &mut String) {
    let Some(reduction) = &flat.reduction else {
        return;
    };
    let _ = writeln!(out, "index {}", reduction.index);
    for (at, derived) in reduction.derived.iter().enumerate() {
        let (left, right) = (derived.of.left, derived.of.right);
        let times = derived.times;
        let _ = writeln!(out, "derived {at} [{left:?} = {right:?}] times {times}");
    }
    for dropped in &reduction.dropped {
        let (state, others) = (Shown(dropped.state), shown(&dropped.others));
        let merit = dropped.merit;
        let _ = writeln!(out, "dropped {state} for [{others}] {merit:?}");
    }
    for (at, selection) in reduction.selections.iter().enumerate() {
        let (states, times) = (selection.states, selection.times);
        let candidates = shown(&selection.candidates);
        let choice = shown(&selection.choice);
        let _ = writeln!(
            out,
            "selection {at}: {states} of [{candidates}] times {times} now [{choice}]"
        );
    }
    if !reduction.inputs.is_empty() {
        let _ = writeln!(out, "inputs [{}]", shown(&reduction.inputs));
    }
    for (leaf, start) in &reduction.starts {
        let _ = writeln!(out, "start {} = {}", Shown(*leaf), show_number(*start));
    }
    if !reduction.zeros.is_empty() {
        let _ = writeln!(out, "zeros {:?}", reduction.zeros);
    }
}
