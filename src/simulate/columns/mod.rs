//! What is recorded: columns by name.
//!
//! Before: a solved model. After: columns, each a name and an expression of the flat model. Leaves may be
//! eliminated variables: these keep their own names here, and [`crate::flat::Flat::eliminated`] says
//! what stands for them. Time is no column: results always begin with it.
//!
//! Beside variables there are quantities that follow from the ports: the power that goes into a
//! submodel (`C1.A.power` at one port, `C1.power` at all of them), and the generalized momentum
//! and displacement of storages (`L1.momentum`, `C1.displacement`; with the name of the port, or of its
//! across variable, between where a submodel has several).

mod derived;
pub mod pattern;

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::diagnostics::nearest;
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{Flat, InstanceId, Kind, Leaf, Role, Type, VarId};
use crate::passes::blocks::Solved;
use crate::positions::Positions;
use derived::{Derived, word_of};
use pattern::{derivative, is_glob, matches, split};

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A state, or what is one at times.
    State,
    Input,
    Output,
    Algebraic,
    Discrete,
    /// A parameter or constant.
    Parameter,
    /// The derivative of a variable.
    Derivative,
    Power,
    Momentum,
    Displacement,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub unit: Option<String>,
    pub boolean: bool,
    /// In the arena of the flat model.
    pub value: ExprId,
    pub what: What,
}

/// A pattern that means nothing in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoColumn {
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for NoColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for NoColumn {}

/// What is recorded when nothing is asked for, each once: the outputs, then the states (all candidates
/// where the run chooses), then the inputs (given by an experiment or not), then discrete variables;
/// each kind in the order of the model, the variables of a model before those of its submodels.
pub fn default(solved: &mut Solved, positions: Option<&Positions>) -> Vec<Column> {
    // In other positions others are states.
    let written: Vec<Leaf> = match positions {
        Some(positions) => positions.written.states().collect(),
        None => Vec::new(),
    };
    let flat = &mut solved.flat;
    let mut leaves: Vec<Leaf> = Vec::new();
    let variables = |flat: &Flat, wanted: &dyn Fn(VarId) -> bool| -> Vec<Leaf> {
        (flat.variable_ids().filter(|&id| wanted(id)))
            .map(Leaf::Var)
            .collect()
    };
    leaves.extend(variables(flat, &|id| flat.variable(id).output));
    let mut states: Vec<Leaf> = flat.states().collect();
    states.extend((flat.selections().iter()).flat_map(|selection| selection.candidates.iter()));
    states.extend(written);
    states.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
    leaves.extend(states);
    leaves.extend(variables(flat, &|id| is_input(flat, id)));
    leaves.extend(variables(flat, &|id| {
        flat.variable(id).kind == Kind::Discrete
    }));
    let mut seen: FxHashSet<Leaf> = FxHashSet::default();
    leaves.retain(|&leaf| seen.insert(leaf));
    let candidates = candidates(flat);
    (leaves.into_iter())
        .map(|leaf| column(flat, &candidates, leaf))
        .collect()
}

/// The columns that patterns mean, in the order of the patterns, those of one pattern in the order of the
/// model, each once. A pattern is a name, or has `*` and `?` in it; several are separated by commas.
///
/// - `*` and `?` mean variables, not parameters and constants: these are found by their names alone.
/// - `der(C1.e)` and `der(*)` mean derivatives that the model has.
/// - `C1.A.power`, `*.power`, `L?.momentum`, `*.displacement`: by the last word, which has no `*` in it.
pub fn matching(solved: &mut Solved, patterns: &[String]) -> Result<Vec<Column>, NoColumn> {
    let flat = &mut solved.flat;
    let asked: Vec<&str> = split(patterns).filter(|&name| name != "Time").collect();
    let found = variables(flat, &asked);
    let candidates = candidates(flat);
    let mut derived: Option<Derived> = None;
    let mut columns: Vec<Column> = Vec::new();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (&pattern, variables) in asked.iter().zip(found) {
        let mut met: Vec<Column> = Vec::new();
        let (inner, order) = derivative(pattern);
        for &id in &variables {
            match order {
                0 => met.push(column(flat, &candidates, Leaf::Var(id))),
                _ => met.extend(derivative_of(flat, &candidates, id, order)),
            }
        }
        if order > 0 && met.is_empty() && !variables.is_empty() {
            return Err(NoColumn {
                message: format!("the model has no `{pattern}`"),
                hint: Some(format!("`{inner}` is not differentiated so often in it")),
            });
        }
        if let Some((rest, word)) = word_of(pattern) {
            let derived = derived.get_or_insert_with(|| Derived::new(flat));
            let more = derived.matching(flat, rest, word);
            if let (true, [], Some(why)) = (met.is_empty(), more.columns.as_slice(), more.why) {
                return Err(why);
            }
            // A variable of that name goes before.
            let own: FxHashSet<String> = met.iter().map(|column| column.name.clone()).collect();
            met.extend((more.columns.into_iter()).filter(|column| !own.contains(&column.name)));
        }
        if met.is_empty() {
            return Err(nothing(flat, pattern, derived.as_ref()));
        }
        columns.extend((met.into_iter()).filter(|column| seen.insert(column.name.clone())));
    }
    Ok(columns)
}

/// For each pattern the variables that it means, or is the derivative of. Names are made once.
fn variables(flat: &Flat, asked: &[&str]) -> Vec<Vec<VarId>> {
    let mut found = vec![Vec::new(); asked.len()];
    let mut plain: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut globs: Vec<(usize, &str)> = Vec::new();
    for (at, &pattern) in asked.iter().enumerate() {
        let (inner, _) = derivative(pattern);
        match is_glob(inner) {
            true => globs.push((at, inner)),
            false => plain.entry(inner).or_default().push(at),
        }
    }
    let mut name = String::new();
    for id in flat.variable_ids() {
        name.clear();
        flat.write_name(id, InstanceId::TOP, &mut name);
        for &at in plain.get(name.as_str()).into_iter().flatten() {
            found[at].push(id);
        }
        let kind = flat.variable(id).kind;
        if !matches!(kind, Kind::Parameter | Kind::Constant | Kind::Auxiliary) {
            let met = globs.iter().filter(|(_, glob)| matches(glob, &name));
            met.for_each(|&(at, _)| found[at].push(id));
        }
    }
    found
}

/// The leaves of which some are states, now these, now those.
fn candidates(flat: &Flat) -> FxHashSet<Leaf> {
    let all = flat.selections().iter();
    all.flat_map(|selection| selection.candidates.iter().copied())
        .collect()
}

/// Also of an input that an experiment has turned into an equation.
fn is_input(flat: &Flat, id: VarId) -> bool {
    let top = flat.variable(id).instance == InstanceId::TOP;
    top && flat.declaration(id).role == Role::Input
}

fn column(flat: &mut Flat, candidates: &FxHashSet<Leaf>, leaf: Leaf) -> Column {
    let value = flat.exprs.leaf(leaf);
    of_leaf(flat, candidates, leaf, value)
}

fn of_leaf(flat: &Flat, candidates: &FxHashSet<Leaf>, leaf: Leaf, value: ExprId) -> Column {
    let id = leaf.variable();
    let variable = flat.variable(id);
    let order = leaf.order().unwrap_or(0);
    let what = match variable.kind {
        _ if flat.is_state(leaf) || candidates.contains(&leaf) => What::State,
        _ if order > 0 => What::Derivative,
        Kind::Parameter | Kind::Constant => What::Parameter,
        Kind::Discrete => What::Discrete,
        _ if is_input(flat, id) => What::Input,
        _ if variable.output => What::Output,
        _ => What::Algebraic,
    };
    let unit = flat.declaration(id).remarks.unit.clone();
    Column {
        name: flat.leaf_name(leaf),
        unit: match order {
            0 => unit,
            _ => unit.and_then(|unit| crate::base::unit::times_seconds(&unit, -i32::from(order))),
        },
        boolean: variable.ty == Type::Boolean,
        value,
        what,
    }
}

/// A derivative that the model has, or that of what an eliminated variable equals.
fn derivative_of(
    flat: &mut Flat,
    candidates: &FxHashSet<Leaf>,
    id: VarId,
    order: u8,
) -> Option<Column> {
    let variable = flat.variable(id);
    if matches!(variable.kind, Kind::Parameter | Kind::Constant) || variable.ty == Type::Boolean {
        return None;
    }
    if order <= variable.order {
        return Some(column(flat, candidates, Leaf::Der(id, order)));
    }
    let gone = (flat.eliminated.iter()).find(|gone| gone.leaf == Leaf::Var(id))?;
    let (negative, inner) = match flat.exprs.node(gone.expression) {
        Node::Unary(UnaryOp::Minus, inner) => (true, inner),
        _ => (false, gone.expression),
    };
    let value = match flat.exprs.node(inner) {
        Node::Number(_) => flat.exprs.number(0.0),
        Node::Leaf(leaf) => {
            let total = leaf.order()?.checked_add(order)?;
            if total > flat.variable(leaf.variable()).order {
                return None;
            }
            let rate = flat.exprs.leaf(Leaf::Der(leaf.variable(), total));
            match negative {
                true => flat.exprs.tidy_minus(rate),
                false => rate,
            }
        }
        _ => return None,
    };
    Some(of_leaf(flat, candidates, Leaf::Der(id, order), value))
}

/// What is said of a pattern that means nothing.
fn nothing(flat: &Flat, pattern: &str, derived: Option<&Derived>) -> NoColumn {
    let model = flat.model();
    let (inner, _) = derivative(pattern);
    let suggest = |name: Option<&str>| name.map(|name| format!("did you mean `{name}`?"));
    let mut known: Vec<String>;
    if is_glob(inner) {
        // The submodel before the first star may be misspelt.
        let before = &inner[..inner.find(['*', '?']).unwrap_or(0)];
        let path = before.rfind('.').map_or("", |dot| &before[..dot]);
        known = (1..flat.instances.len() as u32)
            .map(|at| flat.path(InstanceId(at)))
            .collect();
        let exists = path.is_empty() || known.iter().any(|name| name == path);
        return NoColumn {
            message: match exists {
                true => format!("nothing in `{model}` is called `{pattern}`"),
                false => format!("there is no `{path}` in `{model}`: `{pattern}` means nothing"),
            },
            hint: match exists {
                true => Some("parameters and constants are found by their names alone".to_string()),
                false => suggest(nearest(path, known.iter().map(String::as_str))),
            },
        };
    }
    known = flat.variable_ids().map(|id| flat.name(id)).collect();
    match derived {
        Some(derived) => known.extend(derived.names(flat)),
        None => known.extend(Derived::new(flat).names(flat)),
    }
    NoColumn {
        message: format!("there is no `{inner}` in `{model}`"),
        hint: suggest(nearest(inner, known.iter().map(String::as_str))),
    }
}
