//! Propagation of changed parameters.
//!
//! Before: a flat model in which some parameters have another expression. After: the values of all parameters, constants,
//! defaults of inputs and start values that depend on them are computed anew; all other values are untouched.

use rustc_hash::FxHashSet;

use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::{Walk, leaves, value_of};
use crate::expr::{ExprId, Node, Value, show_number};
use crate::flat::{Flat, Given, Leaf, VarId};

/// Gives a parameter another value, for one run of a sweep on a copy of the flat model.
pub fn with_parameter(flat: &mut Flat, parameter: VarId, value: f64) -> Result<(), Diagnostic> {
    let expression = flat.exprs.number(value);
    let Some(given) = given(&mut flat.values, parameter) else {
        return Ok(());
    };
    given.expression = expression;
    given.value = Value::Real(value);
    follow(flat, &[parameter]).map(|_| ())
}

pub(super) fn given(list: &mut [Given], id: VarId) -> Option<&mut Given> {
    let at = list
        .binary_search_by_key(&id, |given| given.variable)
        .ok()?;
    list.get_mut(at)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    New,
    /// On the stack: if it is met again, the definitions are circular.
    Open,
    Unchanged,
    Changed,
}

/// Computes the values anew that depend on parameters whose expressions have changed, including these. Returns the variables
/// whose values differ now, sorted.
pub(super) fn follow(flat: &mut Flat, changed: &[VarId]) -> Result<Vec<VarId>, Diagnostic> {
    let changed: FxHashSet<VarId> = changed.iter().copied().collect();
    let mut visits = vec![Visit::New; flat.variables.len()];
    let mut moved = Vec::new();
    let mut walk = Walk::default();
    for at in 0..flat.values.len() {
        let mut stack = vec![at];
        while let Some(&top) = stack.last() {
            let Given {
                variable,
                expression,
                ..
            } = flat.values[top];
            let place = variable.index();
            if matches!(visits[place], Visit::Changed | Visit::Unchanged) {
                stack.pop();
                continue;
            }
            let needs = needs(flat, expression);
            if visits[place] == Visit::New {
                visits[place] = Visit::Open;
                if let Some(&circle) = needs.iter().find(|id| visits[id.index()] == Visit::Open) {
                    return Err(circular(flat, &stack, circle, &visits));
                }
                let before = stack.len();
                let open = needs.iter().filter(|id| visits[id.index()] == Visit::New);
                stack.extend(open.filter_map(|id| index_of(&flat.values, *id)));
                if stack.len() > before {
                    continue;
                }
            }
            stack.pop();
            let follows = needs.iter().any(|id| visits[id.index()] == Visit::Changed);
            if !follows && !changed.contains(&variable) {
                visits[place] = Visit::Unchanged;
                continue;
            }
            let value = value(flat, &flat.values[top], &mut walk)?;
            visits[place] = match value == flat.values[top].value {
                true if !changed.contains(&variable) => Visit::Unchanged,
                _ => Visit::Changed,
            };
            if value != flat.values[top].value {
                moved.push(variable);
            }
            flat.values[top].value = value;
        }
    }
    for at in 0..flat.starts.len() {
        let start = flat.starts[at];
        let needs = needs(flat, start.expression);
        if needs.iter().any(|id| visits[id.index()] == Visit::Changed) {
            flat.starts[at].value = value(flat, &start, &mut walk)?;
        }
    }
    moved.sort_unstable();
    Ok(moved)
}

fn index_of(list: &[Given], id: VarId) -> Option<usize> {
    list.binary_search_by_key(&id, |given| given.variable).ok()
}

fn needs(flat: &Flat, expression: ExprId) -> Vec<VarId> {
    match flat.exprs.node(expression) {
        // Most values are numbers.
        Node::Number(_) | Node::Bool(_) => Vec::new(),
        _ => (leaves(&flat.exprs, expression).into_iter())
            .map(Leaf::variable)
            .collect(),
    }
}

fn value(flat: &Flat, given: &Given, walk: &mut Walk) -> Result<Value, Diagnostic> {
    let found = value_of(flat, given.expression, walk);
    let problem = match found {
        Some(Value::Real(number)) if !number.is_finite() => show_number(number),
        Some(value) => return Ok(value),
        None => "no number".to_string(),
    };
    let name = flat.name(given.variable);
    let text = flat.expression(given.expression);
    let message = format!("the value of `{name}` is not a number");
    Err(Diagnostic::new(Code::BadValue, message)
        .at(given.span, format!("`{text}` gives {problem}")))
}

fn circular(flat: &Flat, stack: &[usize], circle: VarId, visits: &[Visit]) -> Diagnostic {
    let name = flat.name(circle);
    let message = format!("the parameter `{name}` depends on itself");
    let mut diagnostic = Diagnostic::new(Code::DependsOnItself, message);
    let open = (stack.iter().map(|&at| &flat.values[at]))
        .filter(|given| visits[given.variable.index()] == Visit::Open);
    let from = open.skip_while(|given| given.variable != circle);
    const MOST: usize = 5;
    for given in from.take(MOST) {
        let text = format!(
            "`{}` is `{}`",
            flat.name(given.variable),
            flat.expression(given.expression)
        );
        diagnostic = diagnostic.at(given.span, text);
    }
    diagnostic
}
