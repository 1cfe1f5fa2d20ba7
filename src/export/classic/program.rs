//! From a flat model with its experiment to a program in one of the classic languages.

use rustc_hash::FxHashSet;

use super::super::{Exported, Refusal, Target, acsl, desire, paper, simnon};
use super::Task;
use super::elimination::write_out;
use crate::base::diagnostics::Diagnostics;
use crate::compile::{Aliases, NoObserver, Presented, presented};
use crate::evaluate::{Walk, value_of};
use crate::experiment::Experiment;
use crate::expr::{ExprId, Function, Node};
use crate::flat::{Equation, EquationKind, Flat, Given, Kind, Leaf};
use crate::positions::Discontinuous;

/// Makes inputs that the experiment holds constant into inputs again: programs begin with `u =
/// 10.0`.
pub fn keep_inputs(flat: &mut Flat, experiment: &Experiment) {
    for &(id, span) in &experiment.inputs {
        let is_its = |equation: &Equation| {
            equation.kind == EquationKind::Equation
                && equation.span == span
                && flat.exprs.node(equation.left) == Node::Leaf(Leaf::Var(id))
        };
        let Some(at) = flat.equations.iter().rposition(is_its) else {
            continue;
        };
        let expression = flat.equations[at].right;
        let mut moves = false;
        let mut work = vec![expression];
        while let Some(one) = work.pop() {
            let node = flat.exprs.node(one);
            moves |= matches!(node, Node::Time | Node::Call(Function::Sample, _));
            flat.exprs.operands(one, &mut work);
        }
        let value = value_of(flat, expression, &mut Walk::default());
        let Some(value) = value.filter(|_| !moves) else {
            continue;
        };
        flat.equations.remove(at);
        flat.variables[id.index()].kind = Kind::Input;
        flat.values.push(Given {
            variable: id,
            value,
            expression,
            span,
            depth: 0,
        });
    }
    flat.values.sort_by_key(|given| given.variable);
}

/// Whether something is sampled.
fn samples(flat: &Flat) -> bool {
    let sides = (flat.equations.iter()).flat_map(|one| [one.left, one.right]);
    let conditions = flat.whens.iter().flat_map(|when| &when.conditions);
    let mut work: Vec<ExprId> = sides
        .chain(conditions.map(|&(condition, _)| condition))
        .collect();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    while let Some(id) = work.pop() {
        if matches!(flat.exprs.node(id), Node::Call(Function::Sample, _)) {
            return true;
        }
        if seen.insert(id) {
            flat.exprs.operands(id, &mut work);
        }
    }
    false
}

/// Writes a program in one of these languages; `None` after an error that was reported.
pub fn export(
    mut flat: Flat,
    experiment: &Experiment,
    target: Target,
    stem: &str,
    said: &mut Diagnostics,
) -> Result<Option<Exported>, Refusal> {
    keep_inputs(&mut flat, experiment);
    // A sample at the start acts before the program begins.
    let whole = samples(&flat).then(|| flat.clone());
    let done = presented(flat, Aliases::Eliminate, &mut NoObserver, said);
    let Some(presented) = done else {
        return Ok(None);
    };
    let (mut solved, raised) = match presented {
        Presented::One(solved) if Discontinuous::of(&solved.flat).moves_states() => {
            return Err(Refusal(
                "something in it steps that constraints between states contain, so that states jump by the balance of impulses, and a program of this kind solves no equations for that".into(),
            ));
        }
        Presented::One(solved) => (solved, false),
        Presented::Paper(mut paper) => {
            paper::jumps(&mut paper.modes, &paper.solved)?;
            (Box::new(paper.solved), true)
        }
        Presented::ByPosition(..) => {
            return Err(Refusal(
                "it has other equations in each position of its switches, and a program one set of them".into(),
            ));
        }
    };
    let language = match target {
        Target::Simnon => simnon::LANGUAGE,
        Target::Acsl => acsl::LANGUAGE,
        _ => desire::LANGUAGE,
    };
    write_out(&mut solved, language)?;
    let starts = match whole {
        Some(whole) => Some(paper::start(whole, experiment, &solved)?),
        None => None,
    };
    let task = Task {
        solved: &solved,
        experiment,
        raised,
        starts,
    };
    let text = match target {
        Target::Simnon => simnon::program(&task),
        Target::Acsl => acsl::program(&task),
        _ => desire::program(&task, stem),
    };
    let text = text.map_err(Refusal)?;
    let notes = experiment.method.iter().map(|(method, _)| {
        format!(
            "the method `{method}` is not taken over: the system that runs the program has its own"
        )
    });
    Ok(Some(Exported {
        text,
        notes: notes.collect(),
    }))
}
