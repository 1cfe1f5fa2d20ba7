//! Whether the form of the 1995 paper describes everything that happens when a switch opens or closes.
//!
//! In that form `when OpenSwitch then init(f) = 0` sets the one flow that the switch interrupts. The balance of
//! impulses may change other states as well (two inertias that a clutch joins share their momentum), and the form does
//! not contain that. Here both are computed from arbitrary states. If they differ, the model has no such form.

use rustc_hash::FxHashSet;

use super::Refusal;
use crate::base::diagnostics::Diagnostics;
use crate::compile::{CompiledMode, Modes, NoObserver};
use crate::evaluate::{Point, evaluate};
use crate::experiment::Experiment;
use crate::expr::{Node, Value};
use crate::flat::{EquationKind, Flat, Given, Kind, Leaf, Type};
use crate::passes::blocks::Solved;
use crate::positions::{Before, JumpFactors, Positions, Values, plain};
use crate::simulate::job::{RunOptions, job};
use crate::simulate::run::{End, Observer, RowKind, run};

/// A refusal names the variable that jumps. What cannot be compared is refused as well.
pub fn jumps(modes: &mut Modes, solved: &Solved) -> Result<(), Refusal> {
    for key in modes.keys().0 {
        let Some(position) = modes.take_compiled(&key, &mut NoObserver) else {
            continue;
        };
        let agrees = agrees(modes, solved, &position);
        modes.put_back(position);
        agrees?;
    }
    Ok(())
}

/// Whether the form and the balance of impulses give the same jump into a mode.
fn agrees(positions: &Positions, solved: &Solved, position: &CompiledMode) -> Result<(), Refusal> {
    let Some(jump) = &position.jump else {
        return Ok(());
    };
    let name = positions.position_name(&position.key);
    let unknown = || {
        Refusal(format!(
            "what jumps in the position {name} of its switches cannot be computed"
        ))
    };
    let restarted = restarted(positions, solved, &position.key).ok_or_else(unknown)?;
    let before = values(solved, &[]).ok_or_else(unknown)?;
    let after = values(solved, &restarted).ok_or_else(unknown)?;
    let free = FxHashSet::default();
    let from = Before {
        values: &before,
        free: &free,
        restarts: &[],
    };
    let jumped = jump.solve(
        &position.solved.flat,
        0.0,
        from,
        |_| 1.0,
        &mut JumpFactors::default(),
    );
    let jumped = jumped.map_err(|_| unknown())?;
    let mut leaves: Vec<Leaf> = jumped.after.keys().copied().collect();
    leaves.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
    for leaf in leaves {
        let (Some(&form), Some(&truth)) = (after.get(&leaf), jumped.after.get(&leaf)) else {
            continue;
        };
        let size = before.get(&leaf).map_or(1.0, |value| value.abs().max(1.0));
        if (form - truth).abs() > 1e-9 * size {
            return Err(Refusal(format!(
                "`{}` jumps when its switches come to the position {name}; only `bgm simulate` solves each position by itself",
                solved.flat.leaf_name(leaf)
            )));
        }
    }
    Ok(())
}

/// The values of states and discrete variables at the start. Start values of differentiated variables need not be those
/// of the states in this form.
pub fn start(flat: Flat, experiment: &Experiment, solved: &Solved) -> Result<Values, Refusal> {
    let discrete = (solved.flat.variable_ids())
        .filter(|&id| solved.flat.variable(id).kind == Kind::Discrete)
        .map(Leaf::Var);
    let leaves: Vec<Leaf> = solved.flat.states().chain(discrete).collect();
    at_start(flat, experiment, &solved.flat, &leaves)
}

/// The values of some leaves at the start, computed by the simulator. `named` finds the leaves by their names.
pub fn at_start(
    mut flat: Flat,
    experiment: &Experiment,
    named: &Flat,
    leaves: &[Leaf],
) -> Result<Values, Refusal> {
    without_values_zero(&mut flat);
    let names: Vec<String> = leaves.iter().map(|&leaf| named.leaf_name(leaf)).collect();
    let wishes = RunOptions {
        vars: names.clone(),
        ..RunOptions::default()
    };
    let experiment = Experiment {
        until: Some(experiment.start),
        step: None,
        plots: Vec::new(),
        ..experiment.clone()
    };
    let unknown = || {
        Refusal(
            "its start cannot be computed; if inputs have no value, give them: `--input`".into(),
        )
    };
    let job = job(flat, &experiment, &wishes, &mut Diagnostics::default());
    let job = job.ok().flatten().ok_or_else(unknown)?;
    let mut row = Row(Vec::new());
    if !matches!(run(&job, &mut row).end, End::Done) {
        return Err(unknown());
    }
    let value = |name: &String| {
        let at = job.plan.columns.iter().position(|column| column == name)?;
        row.0.get(at).copied()
    };
    let found = leaves
        .iter()
        .zip(&names)
        .map(|(&leaf, name)| Some((leaf, value(name)?)));
    found.collect::<Option<Values>>().ok_or_else(unknown)
}

/// Inputs without a value are zero or false, as programs take them.
fn without_values_zero(flat: &mut Flat) {
    for id in flat.variable_ids() {
        let variable = *flat.variable(id);
        if variable.kind != Kind::Input || flat.value(id).is_some() {
            continue;
        }
        let (value, expression) = match variable.ty {
            Type::Real => (Value::Real(0.0), flat.exprs.number(0.0)),
            Type::Boolean => (Value::Bool(false), flat.exprs.bool(false)),
        };
        flat.values.push(Given {
            variable: id,
            value,
            expression,
            span: flat.instances[0].span,
            depth: 0,
        });
    }
    flat.values.sort_by_key(|given| given.variable);
}

/// The last row.
struct Row(Vec<f64>);

impl Observer for Row {
    fn row(&mut self, _: f64, values: &[f64], _: RowKind) -> Result<(), String> {
        self.0 = values.to_vec();
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

/// States that `when`s set to zero when the switches reach a mode; `None` if a `when` does something else.
fn restarted(positions: &Positions, solved: &Solved, key: &[bool]) -> Option<Vec<Leaf>> {
    let flat = &solved.flat;
    let mut found = Vec::new();
    for equation in &flat.equations {
        let (Node::Leaf(Leaf::Init(id)), EquationKind::When(when, branch)) =
            (flat.exprs.node(equation.left), equation.kind)
        else {
            continue;
        };
        let (condition, _) = *flat.whens[when.index()].conditions.get(branch as usize)?;
        let (condition, negated) = plain(flat, condition);
        let mut switches = positions.written_switches.iter().zip(key);
        // Other `when`s do not depend on switches.
        let Some((_, &truth)) = switches.find(|(switch, _)| switch.condition == condition) else {
            continue;
        };
        if truth != negated {
            found.push(Leaf::Var(id));
        }
    }
    Some(found)
}

/// All values for states that are zero, or different arbitrary numbers.
fn values(solved: &Solved, zero: &[Leaf]) -> Option<Values> {
    let flat = &solved.flat;
    for truth in [false, true] {
        let mut point = Point::new(solved);
        for (at, state) in flat.states().enumerate() {
            let value = 1.0 + 0.37 * (at as f64 + 1.0).sqrt();
            let value = if zero.contains(&state) { 0.0 } else { value };
            point.set(state, Value::Real(value));
        }
        for id in flat.variable_ids() {
            let variable = flat.variable(id);
            if variable.ty == Type::Boolean && variable.kind == Kind::Discrete {
                point.set(Leaf::Var(id), Value::Bool(truth));
            }
        }
        if evaluate(solved, &mut point).is_err() {
            continue;
        }
        let mut values = Values::default();
        for id in flat.variable_ids() {
            for order in 0..=flat.variable(id).order {
                let leaf = Leaf::at_order(id, order);
                if let Some(value) = point.get(leaf) {
                    values.insert(leaf, value.number());
                }
            }
        }
        return Some(values);
    }
    None
}
