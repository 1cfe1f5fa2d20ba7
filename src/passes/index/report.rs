//! Diagnostics about an index that cannot be reduced.

use super::{MOST, Stuck};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics, NON_CAUSAL};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, InstanceId, Kind, Role};
use crate::passes::showing::with_equations;
use crate::passes::signs::reference::{cancelling, listed};

pub fn report(flat: &Flat, stuck: &Stuck, diagnostics: &mut Diagnostics) {
    let diagnostic = match stuck {
        Stuck::TooMany(ids) => {
            let diagnostic = Diagnostic::new(
                Code::HigherIndex,
                format!("equations would have to be differentiated more than {MOST} times"),
            );
            with_equations(flat, ids.clone(), diagnostic).hint(
                "give the highest derivative in place of the variable, and let the others follow as its integrals",
            )
        }
        Stuck::Cancelled(list) => return cancelling(flat, list, diagnostics),
        Stuck::NoDerivative(id) => {
            let diagnostic = Diagnostic::new(
                Code::HigherIndex,
                "an equation between booleans would have to be differentiated",
            );
            with_equations(flat, vec![*id], diagnostic)
                .hint("let the boolean be decided at events: `new(b) = ...`")
        }
        Stuck::Dependent(ids) => {
            let depend = "constraints between states depend on each other";
            let (sources, others) = sources(flat, ids);
            let message = match (&sources[..], &others[..]) {
                ([], _) | ([_], []) => {
                    format!("{depend}: the same is said twice, or they contradict")
                }
                _ => {
                    let names: Vec<String> = (sources.iter().chain(&others))
                        .map(|&at| flat.path(at))
                        .collect();
                    format!(
                        "{NON_CAUSAL}{} contradict each other; {depend}",
                        listed(&names)
                    )
                }
            };
            let diagnostic = Diagnostic::new(Code::HigherIndex, message);
            with_equations(flat, ids.clone(), diagnostic)
                .note("with the values given, the derivatives of these equations follow from those of others")
                .hint("take one of the constraints away, or let something give way (a spring, a resistance)")
        }
    };
    diagnostics.push(diagnostic);
}

/// Returns the submodels that prescribe a value independently of the states, and the others that
/// take part.
fn sources(flat: &Flat, ids: &[EqId]) -> (Vec<InstanceId>, Vec<InstanceId>) {
    let written = (ids.iter().map(|id| &flat.equations[id.index()]))
        .filter(|equation| equation.kind == EquationKind::Equation);
    let (mut sources, mut others) = (Vec::new(), Vec::new());
    for equation in written.filter(|equation| equation.origin != InstanceId::TOP) {
        match is_given(flat, equation.left) || is_given(flat, equation.right) {
            true => sources.push(equation.origin),
            false => others.push(equation.origin),
        }
    }
    sources.sort_unstable();
    sources.dedup();
    others.sort_unstable();
    others.dedup();
    others.retain(|at| !sources.contains(at));
    (sources, others)
}

/// Whether a side contains a number, a parameter, an input, `Time` or a terminal: then no state
/// determines it.
fn is_given(flat: &Flat, side: ExprId) -> bool {
    match flat.exprs.node(side) {
        Node::Number(value) => value.0 != 0.0,
        Node::Time => true,
        Node::Leaf(leaf) => {
            let id = leaf.variable();
            let kind = flat.variable(id).kind;
            matches!(kind, Kind::Parameter | Kind::Constant | Kind::Input)
                || flat.declaration(id).role == Role::Terminal
        }
        _ => false,
    }
}
