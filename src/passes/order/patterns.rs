//! Faults with a known pattern: a circuit without a ground, an equation without an unknown.

use super::case::{Case, listed};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::expr::Node;
use crate::flat::{EquationKind, InstanceId, Kind, Leaf, Role};
use crate::structure::Part;

pub fn has(case: &Case<'_>, part: &Part, role: Role) -> bool {
    (part.columns.iter()).any(|&column| case.role(column) == role)
}

/// The word for it in the domain, which is known by the unit.
pub fn word(
    case: &Case<'_>,
    part: &Part,
    electrical: &'static str,
    general: &'static str,
) -> &'static str {
    let is_electrical = part.columns.iter().any(|&column| {
        let unit = &case.flat.declaration(case.variable(column)).remarks.unit;
        unit.as_deref()
            .is_some_and(|unit| unit == "V" || unit == "A")
    });
    if is_electrical { electrical } else { general }
}

/// Whether the circuit floats: flows have one balance too many, and nothing determines the efforts.
pub fn floats(case: &Case<'_>, over: &Part, under: &Part) -> bool {
    let flows = has(case, over, Role::Through) && !has(case, over, Role::Across);
    let efforts = has(case, under, Role::Across) && !has(case, under, Role::Through);
    // Flows that are only equal to each other (at a 1-junction) are not balanced.
    let balance = |&row: &u32| {
        let kind = case.equation(row).kind;
        matches!(kind, EquationKind::Sum | EquationKind::ZeroFlow)
    };
    // Every part that is reached floats as a whole.
    flows
        && efforts
        && over.rows.iter().any(balance)
        && floating(case, under).into_iter().all(|at| {
            (case.own_columns(at))
                .filter(|&column| case.role(column) == Role::Across)
                .all(|column| under.columns.binary_search(&column).is_ok())
        })
}

/// The submodels whose efforts are not determined.
fn floating(case: &Case<'_>, under: &Part) -> Vec<InstanceId> {
    let mut found: Vec<InstanceId> = (under.columns.iter())
        .filter(|&&column| case.role(column) == Role::Across)
        .map(|&column| case.instance(column))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

pub fn report_floating(case: &Case<'_>, under: &Part) -> Diagnostic {
    let parts = floating(case, under);
    let names = listed(&parts, |at| case.path(at));
    let what = word(case, under, "potentials", "efforts");
    let mut diagnostic = Diagnostic::new(
        Code::TooFewEquations,
        format!("the circuit of {names} has no ground: nothing holds its {what}"),
    );
    for &at in parts.iter().take(3) {
        diagnostic = diagnostic.at(case.submodel_span(at), "floats");
    }
    diagnostic.hint(match what {
        "potentials" => "connect a `Ground` to one of its nodes",
        _ => "connect a part that holds an effort, such as an `SE`, to one of its nodes",
    })
}

/// Reports an equation without an unknown.
pub fn report_known(case: &Case<'_>, row: u32) -> Diagnostic {
    let flat = case.flat;
    let equation = case.equation(row);
    let message = format!("`{}` contains no unknown", case.text(row));
    let mut diagnostic = Diagnostic::new(Code::TooManyEquations, message);
    diagnostic = case.with_equations(&[row], diagnostic);
    let mut work = vec![equation.right, equation.left];
    let mut said: Vec<Leaf> = Vec::new();
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Leaf(leaf) if !said.contains(&leaf) && said.len() < 4 => said.push(leaf),
            Node::Unary(_, a) => work.push(a),
            Node::Binary(_, a, b) => work.extend([b, a]),
            Node::If(a, b, c) => work.extend([c, b, a]),
            Node::Call(_, args) | Node::List(args) => work.extend(flat.exprs.args(args)),
            _ => {}
        }
        if work.len() > 1000 {
            break;
        }
    }
    for leaf in said {
        let name = flat.leaf_name(leaf);
        let variable = leaf.variable();
        let own = flat.name(variable);
        let known = match (leaf, flat.variable(variable).kind) {
            (Leaf::Pre(_), _) => "is a value of the past".to_string(),
            (_, Kind::Parameter) => "is a parameter: its value is given where it is declared, \
                 where its submodel is, or in an experiment"
                .to_string(),
            (_, Kind::Constant) => "is a constant".to_string(),
            (_, Kind::Input) => "is an input: its value comes from outside".to_string(),
            (Leaf::Var(_), Kind::Discrete) => {
                format!("is discrete: it is set by an equation for `new({own})`")
            }
            _ => "is known".to_string(),
        };
        diagnostic = diagnostic.note(format!("`{name}` {known}"));
    }
    diagnostic.hint("remove it, or bring in what it is to determine")
}
