//! The solved model as data. The schema, with its version, is in docs/json.md.
//!
//! Before: [`Solved`]. After: json from which another program can evaluate the model: the variables that are known at
//! the start, and blocks in order, all expressions in .bgm syntax with full names. Entries are made one at a time,
//! also those of a large matrix.

use super::json::{Equations, LazyList, write_eliminated, write_map};
use super::positions_json::ByPosition;
use crate::base::source::Sources;
use crate::expr::ExprId;
use crate::flat::{EqId, EquationKind, Flat, Kind, Leaf, VarId};
use crate::passes::blocks::{
    Assignment, Block, Linear, Method, Nonlinear, Selected, Solved, WhenBlock,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};

/// Writes the solved model; with `positions`, also the solutions of the other modes.
pub fn write(
    solved: &Solved,
    sources: &Sources,
    positions: Option<&ByPosition<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let flat = &solved.flat;
    write_map(flat, sources, out, |map| {
        if let Some(positions) = positions {
            map.serialize_entry("positions", positions)?;
        }
        write_solution(solved, sources, map)
    })
}

/// Writes the known variables, the blocks in order, and the eliminated variables.
pub(super) fn write_solution<M: SerializeMap>(
    solved: &Solved,
    sources: &Sources,
    map: &mut M,
) -> Result<(), M::Error> {
    let flat = &solved.flat;
    let equations = Equations { flat, sources };
    let states: Vec<Leaf> = flat.states().collect();
    let names = LazyList(|| states.iter().map(|&leaf| flat.leaf_name(leaf)));
    map.serialize_entry("states", &names)?;
    write_names("discrete", flat, Kind::Discrete, map)?;
    // Derivatives of inputs must be given as well.
    let inputs = LazyList(|| {
        (flat.variable_ids())
            .filter(|&id| flat.variable(id).kind == Kind::Input)
            .flat_map(|id| {
                (0..=flat.variable(id).order).map(move |order| Leaf::at_order(id, order))
            })
            .map(|leaf| flat.leaf_name(leaf))
    });
    map.serialize_entry("inputs", &inputs)?;
    write_names("parameters", flat, Kind::Parameter, map)?;
    let initial = LazyList(|| {
        (flat.equations.iter())
            .filter(|equation| equation.kind == EquationKind::Init)
            .map(|equation| equations.entry(equation))
    });
    map.serialize_entry("initial", &initial)?;
    let zeros = LazyList(|| solved.zeros.iter().map(|&zero| flat.expression(zero)));
    map.serialize_entry("zeros", &zeros)?;
    let blocks = LazyList(|| {
        (solved.blocks.iter()).map(|block| BlockEntry {
            of: &equations,
            block,
        })
    });
    map.serialize_entry("blocks", &blocks)?;
    write_eliminated(flat, map)
}

fn write_names<M: SerializeMap>(
    field: &'static str,
    flat: &Flat,
    kind: Kind,
    map: &mut M,
) -> Result<(), M::Error> {
    let of_kind = |&id: &VarId| flat.variable(id).kind == kind;
    let names = LazyList(|| (flat.variable_ids().filter(of_kind)).map(|id| flat.name(id)));
    map.serialize_entry(field, &names)
}

struct BlockEntry<'f> {
    of: &'f Equations<'f>,
    block: &'f Block,
}

impl Serialize for BlockEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let kind = match self.block {
            Block::Assignment(_) => "assignment",
            Block::Linear(_) => "linear",
            Block::Nonlinear(_) => "nonlinear",
            Block::Selected(_) => "selection",
            Block::When(_) => "when",
        };
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("unknowns", &self.leaves(self.block.unknowns()))?;
        match self.block {
            Block::Assignment(it) => {
                let one = std::slice::from_ref(it);
                map.serialize_entry("assignments", &self.assignments(one))?;
            }
            Block::Linear(it) => self.linear(it, &mut map)?,
            Block::Nonlinear(it) => self.nonlinear(it, &mut map)?,
            Block::Selected(it) => self.selected(it, &mut map)?,
            Block::When(it) => self.when(it, &mut map)?,
        }
        map.serialize_entry("equations", &self.equations(self.block.equations()))?;
        map.end()
    }
}

impl<'f> BlockEntry<'f> {
    fn text(&self, id: ExprId) -> String {
        self.of.flat.expression(id)
    }

    fn leaves(&self, leaves: &[Leaf]) -> impl Serialize {
        LazyList(|| leaves.iter().map(|&leaf| self.of.flat.leaf_name(leaf)))
    }

    fn assignments(&self, assignments: &[Assignment]) -> impl Serialize {
        LazyList(|| {
            (assignments.iter()).map(|assignment| AssignmentEntry {
                variable: self.of.flat.leaf_name(assignment.target),
                expression: self.text(assignment.value),
                guard: assignment.guard.map(|divisor| self.text(divisor)),
            })
        })
    }

    fn equations(&self, ids: &[EqId]) -> impl Serialize {
        let of = self.of;
        LazyList(move || (ids.iter()).map(move |id| of.entry(&of.flat.equations[id.index()])))
    }

    fn linear<M: SerializeMap>(&self, linear: &Linear, map: &mut M) -> Result<(), M::Error> {
        match &linear.method {
            Method::Formulas(assignments) => {
                map.serialize_entry("assignments", &self.assignments(assignments))
            }
            Method::System { matrix, right } => {
                let entries = LazyList(|| {
                    matrix.iter().map(|entry| MatrixEntry {
                        row: entry.row,
                        column: entry.column,
                        expression: self.text(entry.value),
                    })
                });
                map.serialize_entry("matrix", &entries)?;
                let rhs = LazyList(|| right.iter().map(|&id| self.text(id)));
                map.serialize_entry("rhs", &rhs)
            }
        }
    }

    fn nonlinear<M: SerializeMap>(&self, it: &Nonlinear, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("iteration", &self.leaves(&it.iteration))?;
        if it.by_field {
            map.serialize_entry("r_field", &true)?;
        }
        map.serialize_entry("inner", &self.assignments(&it.inner))?;
        let residuals =
            LazyList(|| (it.residuals.iter()).map(|residual| self.text(residual.value)));
        map.serialize_entry("residuals", &residuals)
    }

    fn selected<M: SerializeMap>(&self, it: &Selected, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("selections", &it.selections)?;
        let residuals =
            LazyList(|| (it.residuals.iter()).map(|residual| self.text(residual.value)));
        map.serialize_entry("residuals", &residuals)
    }

    /// Writes all branches up to the last one that sets the variable. Branches before it that do not set the variable
    /// are written too, because their conditions prevent later branches.
    fn when<M: SerializeMap>(&self, it: &WhenBlock, map: &mut M) -> Result<(), M::Error> {
        let flat = self.of.flat;
        let mut values: Vec<Option<ExprId>> = Vec::new();
        for id in &it.equations {
            let equation = &flat.equations[id.index()];
            if let EquationKind::When(_, branch) = equation.kind {
                let branch = usize::from(branch);
                values.resize(values.len().max(branch + 1), None);
                values[branch] = Some(equation.right);
            }
        }
        let conditions = &flat.whens[it.when.index()].conditions;
        let branches = LazyList(|| {
            (conditions.iter().zip(&values)).map(|(&(condition, _), value)| BranchEntry {
                condition: self.text(condition),
                expression: value.map(|value| self.text(value)),
            })
        });
        map.serialize_entry("branches", &branches)
    }
}

#[derive(serde::Serialize)]
struct AssignmentEntry {
    variable: String,
    expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<String>,
}

#[derive(serde::Serialize)]
struct MatrixEntry {
    row: u32,
    column: u32,
    expression: String,
}

#[derive(serde::Serialize)]
struct BranchEntry {
    condition: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
}
