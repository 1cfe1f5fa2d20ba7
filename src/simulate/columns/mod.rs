//! Columns: the recorded quantities, by name.
//!
//! Before: a solved model. After: columns, each with a name and an expression of the flat model. An expression may contain
//! eliminated variables; [`crate::flat::Flat::eliminated`] has the expressions that replace them. Time is no column: results
//! always begin with it.
//!
//! Beside variables there are quantities of ports and storages: the power that goes into a submodel (`C1.A.power` at one
//! port, `C1.power` at all of them), and the generalized momentum and displacement of storages (`L1.momentum`,
//! `C1.displacement`). If a submodel has several of them, the name of the port, or of its across variable, stands between.

pub mod pattern;
mod port_quantities;

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::diagnostics::nearest;
use crate::expr::{ExprId, Node, UnaryOp};
use crate::flat::{Flat, InstanceId, Kind, Leaf, Role, Type, VarId};
use crate::passes::blocks::Solved;
use crate::positions::Positions;
use pattern::{derivative, is_glob, matches, split};
use port_quantities::{PortQuantities, quantity_of};

/// The kind of quantity in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A state, or a candidate where the run chooses the states.
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
    pub kind: ColumnKind,
}

/// Why a pattern matches nothing in the model.
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

/// The columns if the user asks for none, each once: the outputs, then the states (all candidates where the run chooses),
/// then the inputs (given by an experiment or not), then discrete variables; each kind in the order of the model, the
/// variables of a model before those of its submodels.
pub fn default(solved: &mut Solved, positions: Option<&Positions>) -> Vec<Column> {
    // Each mode has its own states: all variables that the source differentiates are recorded.
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

/// The columns that match patterns, in the order of the patterns, those of one pattern in the order of the model, each once.
/// A pattern is a name, or contains `*` and `?`; commas separate patterns.
///
/// - `*` and `?` match variables; parameters and constants are found by their full names only.
/// - `der(C1.e)` and `der(*)` match derivatives that the model has.
/// - `C1.A.power`, `*.power`, `L?.momentum`, `*.displacement`: the last word must be written out.
pub fn matching(solved: &mut Solved, patterns: &[String]) -> Result<Vec<Column>, NoColumn> {
    let flat = &mut solved.flat;
    let asked: Vec<&str> = split(patterns).filter(|&name| name != "Time").collect();
    let found = variables(flat, &asked);
    let candidates = candidates(flat);
    let mut quantities: Option<PortQuantities> = None;
    let mut columns: Vec<Column> = Vec::new();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (&pattern, variables) in asked.iter().zip(found) {
        let mut found_columns: Vec<Column> = Vec::new();
        let (inner, order) = derivative(pattern);
        for &id in &variables {
            match order {
                0 => found_columns.push(column(flat, &candidates, Leaf::Var(id))),
                _ => found_columns.extend(derivative_of(flat, &candidates, id, order)),
            }
        }
        if order > 0 && found_columns.is_empty() && !variables.is_empty() {
            return Err(NoColumn {
                message: format!("the model has no `{pattern}`"),
                hint: Some(format!("`{inner}` is not differentiated so often in it")),
            });
        }
        if let Some((rest, quantity)) = quantity_of(pattern) {
            let quantities = quantities.get_or_insert_with(|| PortQuantities::new(flat));
            let more = quantities.matching(flat, rest, quantity);
            if let (true, [], Some(reason)) = (
                found_columns.is_empty(),
                more.columns.as_slice(),
                more.reason,
            ) {
                return Err(reason);
            }
            // A variable of the model hides a quantity of the same name.
            let own: FxHashSet<String> = found_columns
                .iter()
                .map(|column| column.name.clone())
                .collect();
            found_columns
                .extend((more.columns.into_iter()).filter(|column| !own.contains(&column.name)));
        }
        if found_columns.is_empty() {
            return Err(no_match(flat, pattern, quantities.as_ref()));
        }
        columns
            .extend((found_columns.into_iter()).filter(|column| seen.insert(column.name.clone())));
    }
    Ok(columns)
}

/// For each pattern the variables that it matches; of a derivative, the variables differentiated. Each name is written once.
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
            let found_columns = globs.iter().filter(|(_, glob)| matches(glob, &name));
            found_columns.for_each(|&(at, _)| found[at].push(id));
        }
    }
    found
}

/// The candidates of all selections: which of them are states changes during a run.
fn candidates(flat: &Flat) -> FxHashSet<Leaf> {
    let all = flat.selections().iter();
    all.flat_map(|selection| selection.candidates.iter().copied())
        .collect()
}

/// True as well for an input that an experiment has replaced by an equation.
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
    let kind = match variable.kind {
        _ if flat.is_state(leaf) || candidates.contains(&leaf) => ColumnKind::State,
        _ if order > 0 => ColumnKind::Derivative,
        Kind::Parameter | Kind::Constant => ColumnKind::Parameter,
        Kind::Discrete => ColumnKind::Discrete,
        _ if is_input(flat, id) => ColumnKind::Input,
        _ if variable.output => ColumnKind::Output,
        _ => ColumnKind::Algebraic,
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
        kind,
    }
}

/// A derivative that the model has. For an eliminated variable, the derivative of the expression that replaces it.
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
    let eliminated =
        (flat.eliminated.iter()).find(|eliminated| eliminated.leaf == Leaf::Var(id))?;
    let (negative, inner) = match flat.exprs.node(eliminated.expression) {
        Node::Unary(UnaryOp::Minus, inner) => (true, inner),
        _ => (false, eliminated.expression),
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

/// Why a pattern matches nothing, with a suggestion.
fn no_match(flat: &Flat, pattern: &str, quantities: Option<&PortQuantities>) -> NoColumn {
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
    match quantities {
        Some(quantities) => known.extend(quantities.names(flat)),
        None => known.extend(PortQuantities::new(flat).names(flat)),
    }
    NoColumn {
        message: format!("there is no `{inner}` in `{model}`"),
        hint: suggest(nearest(inner, known.iter().map(String::as_str))),
    }
}
