//! Inputs and outputs of a linear analysis.
//!
//! Before: a flat model, and what was asked for: declared inputs and outputs, or names. After: the same model in which each
//! input is free. An input that an equation or an experiment gives a value is cut from it: its equation gives the value of a new
//! variable instead, so that no equation goes away and none gets another number.

use rustc_hash::{FxHashMap, FxHashSet};

use super::job::Refusal;
use crate::base::diagnostics::{Code, Diagnostic, nearest};
use crate::compile::{Aliases, Goal, Request, StageObserver, Starts, lower};
use crate::expr::{BinaryOp, Value};
use crate::flat::{EqId, Equation, EquationKind, Flat, Given, Kind, Leaf, Role, Type, VarId};

/// The inputs and outputs of the model as it declares them.
pub fn declared_inputs(flat: &Flat) -> Vec<VarId> {
    (flat.variable_ids())
        .filter(|&id| {
            let variable = flat.variable(id);
            let own = variable.instance == crate::flat::InstanceId::TOP;
            variable.kind == Kind::Input || own && flat.declaration(id).role == Role::Input
        })
        .collect()
}

pub fn declared_outputs(flat: &Flat) -> Vec<Leaf> {
    (flat.variable_ids())
        .filter(|&id| flat.variable(id).output && flat.variable(id).ty == Type::Real)
        .map(Leaf::Var)
        .collect()
}

/// The variable or derivative that a name means.
pub fn named(flat: &Flat, name: &str) -> Result<Leaf, Refusal> {
    let name = name.trim();
    let inner = (name.strip_prefix("der(")).and_then(|rest| rest.strip_suffix(')'));
    let wanted = inner.map_or(name, str::trim);
    let found = flat.variable_ids().find(|&id| flat.name(id) == wanted);
    let Some(id) = found else {
        let names: Vec<String> = flat.variable_ids().map(|id| flat.name(id)).collect();
        let message = format!("`{}` has no variable `{wanted}`", flat.model());
        let mut diagnostic = Diagnostic::new(Code::UnknownVariable, message)
            .at(flat.instances[0].class_span, "in this model");
        diagnostic = match nearest(wanted, names.iter().map(String::as_str)) {
            Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
            None => diagnostic.hint("`bgm equations` lists the variables"),
        };
        return Err(diagnostic.into());
    };
    let order = u8::from(inner.is_some());
    let variable = flat.variable(id);
    if variable.ty == Type::Boolean || order > variable.order {
        let why = match variable.ty {
            Type::Boolean => "is true or false",
            Type::Real => "does not occur in the model",
        };
        let diagnostic = Diagnostic::new(Code::NotASignal, format!("`{name}` {why}"))
            .at(flat.declaration(id).span, "declared here")
            .hint("a linear analysis needs variables with numbers as values");
        return Err(diagnostic.into());
    }
    Ok(Leaf::at_order(id, order))
}

/// Gives inputs without a value the value 0; returns their names.
pub fn with_values(flat: &mut Flat) -> Vec<String> {
    let open: Vec<VarId> = (flat.variable_ids())
        .filter(|&id| flat.variable(id).kind == Kind::Input && flat.value(id).is_none())
        .collect();
    for &id in &open {
        give(flat, id);
    }
    open.into_iter().map(|id| flat.name(id)).collect()
}

fn give(flat: &mut Flat, id: VarId) {
    let value = match flat.variable(id).ty {
        Type::Real => Value::Real(0.0),
        Type::Boolean => Value::Bool(false),
    };
    let expression = match value {
        Value::Real(value) => flat.exprs.number(value),
        Value::Bool(value) => flat.exprs.bool(value),
    };
    let at = flat.values.partition_point(|given| given.variable < id);
    let given = Given {
        variable: id,
        value,
        expression,
        span: flat.declaration(id).span,
        depth: Given::IN_MODEL,
    };
    flat.values.insert(at, given);
}

/// Makes a variable an input: what gave it a value gives it to a variable of its own.
pub fn free(flat: &mut Flat, id: VarId, observer: &mut dyn StageObserver) -> Result<(), Refusal> {
    let variable = *flat.variable(id);
    match variable.kind {
        Kind::Input => return Ok(()),
        Kind::Parameter | Kind::Constant => {
            if flat.shaping.contains(&id) {
                let why = "the size of the model depends on it";
                return Err(not_an_input(flat, id, why, "choose another input"));
            }
            flat.variables[id.index()].kind = Kind::Input;
            return free_followers(flat, id);
        }
        Kind::Discrete => {
            let why = "it changes at events only";
            return Err(not_an_input(
                flat,
                id,
                why,
                "choose a variable that it acts on",
            ));
        }
        Kind::State | Kind::Algebraic | Kind::Output | Kind::Auxiliary => {}
    }
    let equation = match given_by_experiment(flat, id) {
        Some(equation) => equation,
        None => determining(flat, id, observer)?,
    };
    let kind = &mut flat.variables[id.index()];
    (kind.kind, kind.states) = (Kind::Input, 0);
    flat.starts.retain(|given| given.variable != id);
    flat.wishes.retain(|&(wish, _)| wish != id);
    let declaration = flat.declaration(id).name;
    let span = flat.declaration(id).span;
    let rest = flat.add_variable(declaration, span, Kind::Algebraic, Type::Real);
    let left = flat.exprs.leaf(Leaf::Var(rest));
    let of = flat.equations[equation.index()];
    let right = flat.exprs.binary(BinaryOp::Sub, of.left, of.right);
    let changed = &mut flat.equations[equation.index()];
    (changed.left, changed.right, changed.kind) = (left, right, EquationKind::Equation);
    give(flat, id);
    Ok(())
}

/// Parameters whose values follow from this one become variables that equations determine: `submodel (Source) U0(E = E)`.
fn free_followers(flat: &mut Flat, id: VarId) -> Result<(), Refusal> {
    let mut followers: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for given in &flat.values {
        let variable = flat.variable(given.variable);
        if variable.kind == Kind::Parameter && variable.ty == Type::Real {
            flat.exprs.leaves(given.expression, |leaf| {
                let all = followers.entry(leaf.variable()).or_default();
                all.push(given.variable);
            });
        }
    }
    let mut found: FxHashSet<VarId> = FxHashSet::default();
    let mut rest = vec![id];
    while let Some(next) = rest.pop() {
        for &follower in followers.get(&next).into_iter().flatten() {
            if follower != id && found.insert(follower) {
                rest.push(follower);
            }
        }
    }
    if let Some(&shapes) = flat.shaping.iter().find(|of| found.contains(of)) {
        let why = format!(
            "the size of the model depends on `{}`, which follows from it",
            flat.name(shapes)
        );
        return Err(not_an_input(flat, id, &why, "choose another input"));
    }
    let given: Vec<Given> = (flat.values.iter())
        .filter(|given| found.contains(&given.variable))
        .copied()
        .collect();
    flat.values.retain(|given| !found.contains(&given.variable));
    for given in given {
        let left = flat.exprs.leaf(Leaf::Var(given.variable));
        flat.variables[given.variable.index()].kind = Kind::Algebraic;
        flat.equations.push(Equation {
            left,
            right: given.expression,
            origin: flat.variable(given.variable).instance,
            span: given.span,
            kind: EquationKind::Equation,
        });
    }
    Ok(())
}

/// The equation `u = ...` by which an experiment gives an input.
fn given_by_experiment(flat: &Flat, id: VarId) -> Option<EqId> {
    if flat.declaration(id).role != Role::Input {
        return None;
    }
    (flat.equation_ids().filter(|of| {
        let equation = &flat.equations[of.index()];
        equation.kind == EquationKind::Equation
            && flat.exprs.signed_leaf(equation.left) == Some((Leaf::Var(id), false))
    }))
    .last()
}

/// The equation that determines a variable by itself, as the model is solved.
fn determining(flat: &Flat, id: VarId, observer: &mut dyn StageObserver) -> Result<EqId, Refusal> {
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Keep)
    };
    let solved = match lower(flat.clone(), request, observer) {
        Ok(lowered) => lowered.into_solved(),
        Err(refused) => return Err(Refusal::Refused(Box::new(refused))),
    };
    let cure = "choose a variable that one equation gives, such as that of a source";
    let Some(solved) = solved else {
        return Err(not_an_input(flat, id, "nothing determines it", cure));
    };
    // After index reduction its derivatives may be unknowns as well, which derivatives of equations determine.
    let mut why = "nothing determines it";
    for unknown in solved.flat.unknowns_of(id) {
        let block = (solved.blocks.iter()).find(|block| block.unknowns().contains(&unknown));
        let Some(block) = block else {
            continue;
        };
        let &[equation] = block.equations() else {
            why = "it is determined in a loop, together with others";
            continue;
        };
        let of = &solved.flat.equations[equation.index()];
        let same = |known: &EqId| {
            let known = &flat.equations[known.index()];
            (known.left, known.right, known.span, known.origin)
                == (of.left, of.right, of.span, of.origin)
        };
        match flat.equation_ids().find(same) {
            Some(found) => return Ok(found),
            None => why = "it follows from the derivative of an equation",
        }
    }
    Err(not_an_input(flat, id, why, cure))
}

fn not_an_input(flat: &Flat, id: VarId, why: &str, cure: &str) -> Refusal {
    let message = format!("`{}` cannot be an input: {why}", flat.name(id));
    (Diagnostic::new(Code::NotASignal, message))
        .at(flat.declaration(id).span, "declared here")
        .hint(cure.to_string())
        .into()
}
