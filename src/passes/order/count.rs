//! Finds the submodels that have too few or too many equations, independently of their
//! surroundings.
//!
//! A submodel has to contain one equation for each of its unknowns, except those that come from
//! outside: one equation for each pair of variables in its cuts, and the equations for its
//! terminals. A submodel counts with all that it contains. Only the innermost wrong submodels are
//! named.

use super::case::Case;
use crate::flat::{EquationKind, InstanceId, Kind, Leaf, Role, VarId};
use crate::structure::NONE;

/// A submodel with a wrong number of equations.
#[derive(Clone, Copy, Debug)]
pub struct WrongCount {
    pub instance: InstanceId,
    /// The difference from the right number.
    pub difference: u32,
    pub unknowns: u32,
    pub equations: u32,
    /// The number of equations that come from outside, for cuts and for terminals.
    pub pairs: u32,
    pub signals: u32,
}

#[derive(Debug, Default)]
pub struct Counts {
    pub too_few: Vec<WrongCount>,
    pub too_many: Vec<WrongCount>,
    /// For each variable, the outermost instance other than its own that has an equation with this
    /// terminal.
    pub reach: Vec<u32>,
    /// Terminals whose default is used.
    pub has_default: Vec<bool>,
}

impl Counts {
    /// Whether it is a signal that has to be set from outside, and is not.
    pub fn is_unset(&self, case: &Case<'_>, variable: VarId) -> bool {
        is_signal(case, variable)
            && self.reach[variable.index()] == NONE
            && !self.has_default[variable.index()]
            && case.flat.variable(variable).kind != Kind::Discrete
    }
}

fn is_signal(case: &Case<'_>, variable: VarId) -> bool {
    let role = case.flat.declaration(variable).role;
    matches!(role, Role::Terminal | Role::Input)
}

pub fn count(case: &Case<'_>) -> Counts {
    let flat = case.flat;
    let size = flat.instances.len();
    let mut counts = Counts {
        reach: vec![NONE; flat.variables.len()],
        has_default: vec![false; flat.variables.len()],
        ..Counts::default()
    };
    let (mut unknowns, mut equations) = (vec![0i64; size], vec![0i64; size]);
    // The most equations that may come from outside in addition to those of cuts.
    let mut allowed = vec![0i64; size];
    // The outermost instance that has an equation that can set the variable, and does not only read
    // it.
    let mut setter = vec![NONE; flat.variables.len()];
    for row in 0..case.rows.len() as u32 {
        let equation = case.equation(row);
        equations[equation.origin.index()] += 1;
        let target = case.target(row).filter(|_| !case.is_from_connection(row));
        let reads = target.is_some_and(|target| case.columns.of_variable(target).is_some());
        for &(column, _) in case.pattern.row(row) {
            let variable = case.variable(column);
            let alone = target == Some(variable);
            if case.instance(column) != equation.origin {
                if alone || is_signal(case, variable) {
                    let reach = &mut counts.reach[variable.index()];
                    *reach = (*reach).min(equation.origin.0);
                    if alone || !reads {
                        let setter = &mut setter[variable.index()];
                        *setter = (*setter).min(equation.origin.0);
                    }
                }
            } else if alone
                && equation.kind == EquationKind::Equation
                && equation.span == flat.declaration(variable).span
            {
                counts.has_default[variable.index()] = true;
            }
        }
    }
    for column in 0..case.columns.len() as u32 {
        let instance = case.instance(column).index();
        unknowns[instance] += 1;
        if let Leaf::Init(_) = case.columns.leaf(column) {
            continue;
        }
        let variable = case.variable(column);
        match setter[variable.index()] {
            NONE if counts.is_unset(case, variable) => allowed[instance] += 1,
            NONE => {}
            setter => {
                allowed[instance] += 1;
                allowed[setter as usize] -= 1;
            }
        }
    }
    // A submodel has a larger number than the model that contains it.
    let mut fault_inside = vec![false; size];
    for at in (1..size).rev() {
        let instance = &flat.instances[at];
        let parent = instance.parent.index();
        unknowns[parent] += unknowns[at];
        equations[parent] += equations[at];
        allowed[parent] += allowed[at];
        let open = unknowns[at] - equations[at] - i64::from(instance.pairs);
        let wrong = |by: i64| WrongCount {
            instance: InstanceId(at as u32),
            difference: by as u32,
            unknowns: unknowns[at] as u32,
            equations: equations[at] as u32,
            pairs: instance.pairs,
            signals: allowed[at] as u32,
        };
        let is_off = open > allowed[at] || open < 0;
        if is_off && !fault_inside[at] {
            match open < 0 {
                true => counts.too_many.push(wrong(-open)),
                false => counts.too_few.push(wrong(open - allowed[at])),
            }
        }
        fault_inside[parent] |= fault_inside[at] || is_off;
    }
    counts.too_few.reverse();
    counts.too_many.reverse();
    counts
}
