//! The equations of a solved model, linearised at a point.
//!
//! Before: a solved model in which the inputs are free, and the values of all variables at a point. After: for each equation
//! a row of derivatives, exact: by the unknowns (first), by the states, by the inputs and by their derivatives:
//!
//! ```text
//! F_w dw + F_x dx + F_u du + F_u' du' + ... = 0
//! ```
//!
//! and rows for the rates of the states and for the outputs, in the same columns. F_w is regular: by blocks, as the model is
//! sorted. Relations keep their truth, and discrete variables their value.

use rustc_hash::FxHashMap;

use super::job::Refusal;
use crate::base::cancel::glance;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::{Point, Walk, leaves};
use crate::expr::{BinaryOp, ExprId, Value};
use crate::flat::{EqId, Flat, Kind, Leaf, Type, VarId};
use crate::passes::blocks::{Block, Solved};

/// Derivatives of one expression: columns, ascending, with their values.
pub type Row = Vec<(u32, f64)>;

#[derive(Debug)]
pub struct Linearised {
    pub solved: Solved,
    pub point: Point,
    /// What each equation is solved for, block by block.
    pub unknowns: Vec<Leaf>,
    pub states: Vec<Leaf>,
    pub inputs: Vec<Leaf>,
    pub outputs: Vec<Leaf>,
    /// The highest derivative of an input that occurs.
    pub orders: u8,
    /// The sizes of the blocks.
    pub blocks: Vec<usize>,
    pub equations: Vec<EqId>,
    /// The difference of the sides of each equation.
    pub residuals: Vec<ExprId>,
    pub rows: Vec<Row>,
    pub rates: Vec<Row>,
    pub results: Vec<Row>,
    /// Whether the slopes depend on the point.
    pub nonlinear: bool,
    pub(super) columns: FxHashMap<Leaf, u32>,
}

/// Why equations cannot be linearised at a point.
#[derive(Debug)]
pub struct Stuck(Box<Diagnostic>);

impl Stuck {
    pub fn refusal(self) -> Refusal {
        Refusal::Diagnostic(self.0)
    }
}

impl Linearised {
    pub fn new(
        mut solved: Solved,
        point: Point,
        (inputs, outputs): (&[VarId], &[Leaf]),
    ) -> Result<Linearised, Stuck> {
        let flat = &solved.flat;
        let mut chosen: Vec<Leaf> = Vec::new();
        for block in &solved.blocks {
            if let Block::Selected(selected) = block {
                chosen.extend(point.chosen(flat, selected));
            }
        }
        let (mut unknowns, mut equations, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for block in &solved.blocks {
            let before = unknowns.len();
            if matches!(block, Block::When(_)) {
                continue;
            }
            let is_real = |leaf: &Leaf| {
                leaf.order().is_some() && flat.variable(leaf.variable()).ty == Type::Real
            };
            unknowns.extend(
                (block.unknowns().iter().copied())
                    .filter(|leaf| is_real(leaf) && !chosen.contains(leaf)),
            );
            let real = |id: &EqId| !flat.is_boolean(flat.equations[id.index()].left);
            match unknowns.len() - before {
                0 => {}
                size => {
                    equations.extend(block.equations().iter().copied().filter(real));
                    blocks.push(size);
                }
            }
        }
        let states: Vec<Leaf> = flat.states().chain(chosen).collect();
        let inputs: Vec<Leaf> = inputs.iter().map(|&id| Leaf::Var(id)).collect();
        let orders = (inputs.iter()).map(|leaf| flat.variable(leaf.variable()).order);
        let orders = orders.max().unwrap_or(0);
        let mut columns = FxHashMap::default();
        for (at, &leaf) in unknowns.iter().chain(&states).enumerate() {
            columns.insert(leaf, at as u32);
        }
        let first = (unknowns.len() + states.len()) as u32;
        for (at, leaf) in inputs.iter().enumerate() {
            for order in 0..=flat.variable(leaf.variable()).order {
                let column = first + u32::from(order) * inputs.len() as u32 + at as u32;
                columns.insert(Leaf::at_order(leaf.variable(), order), column);
            }
        }
        let residuals: Vec<ExprId> = (equations.iter())
            .map(|id: &EqId| {
                let equation = solved.flat.equations[id.index()];
                let exprs = &mut solved.flat.exprs;
                exprs.binary(BinaryOp::Sub, equation.left, equation.right)
            })
            .collect();
        let mut linear = Linearised {
            unknowns,
            states,
            inputs,
            outputs: outputs.to_vec(),
            orders,
            blocks,
            equations,
            residuals,
            rows: Vec::new(),
            rates: Vec::new(),
            results: Vec::new(),
            nonlinear: false,
            columns,
            solved,
            point,
        };
        linear.fill()?;
        Ok(linear)
    }

    fn fill(&mut self) -> Result<(), Stuck> {
        let mut walk = Walk::default();
        for at in 0..self.residuals.len() {
            glance();
            let row = self.row(self.residuals[at], &mut walk);
            let row = row.map_err(|of| self.no_slope(of, Some(self.equations[at])))?;
            self.rows.push(row);
        }
        let replaced = self.solved.flat.replacements();
        for at in 0..self.states.len() {
            let row = self.row_of(self.states[at].rate(), &replaced, &mut walk)?;
            self.rates.push(row);
        }
        for at in 0..self.outputs.len() {
            let row = self.row_of(self.outputs[at], &replaced, &mut walk)?;
            self.results.push(row);
        }
        Ok(())
    }

    fn row_of(
        &mut self,
        leaf: Leaf,
        replaced: &FxHashMap<Leaf, ExprId>,
        walk: &mut Walk,
    ) -> Result<Row, Stuck> {
        if let Some(&column) = self.columns.get(&leaf) {
            return Ok(vec![(column, 1.0)]);
        }
        match replaced.get(&leaf) {
            Some(&by) => (self.row(by, walk)).map_err(|of| self.no_slope(of, None)),
            // A parameter, a discrete variable.
            None => Ok(Vec::new()),
        }
    }

    /// The derivatives of an expression; the leaf by which it has none is the error.
    pub(super) fn row(&mut self, root: ExprId, walk: &mut Walk) -> Result<Row, Leaf> {
        let mut row = Row::new();
        for leaf in leaves(&self.solved.flat.exprs, root) {
            let Some(&column) = self.columns.get(&leaf) else {
                continue;
            };
            let Some(slope) = self.solved.flat.exprs.partial(root, leaf) else {
                continue;
            };
            if !self.nonlinear {
                let of = leaves(&self.solved.flat.exprs, slope);
                self.nonlinear = of.iter().any(|leaf| self.columns.contains_key(leaf));
            }
            let value = self.number(slope, walk).ok_or(leaf)?;
            if value != 0.0 {
                row.push((column, value));
            }
        }
        row.sort_unstable_by_key(|&(column, _)| column);
        Ok(row)
    }

    /// The value of an expression at the point, if it is finite.
    pub(super) fn number(&self, of: ExprId, walk: &mut Walk) -> Option<f64> {
        let value = self.point.value(&self.solved.flat.exprs, of, walk).ok()?;
        let Value::Real(value) = value else {
            return None;
        };
        value.is_finite().then_some(value)
    }

    fn no_slope(&self, leaf: Leaf, equation: Option<EqId>) -> Stuck {
        let flat = &self.solved.flat;
        let name = flat.leaf_name(leaf);
        let message = format!("the equations have no finite derivative by `{name}` at this point");
        let mut diagnostic = Diagnostic::new(Code::NoSlope, message);
        if let Some(id) = equation {
            let text = flat.equation_text(id);
            diagnostic = (diagnostic.at(flat.equations[id.index()].span, "here"))
                .note(format!("in `{text}`"));
        }
        Stuck(Box::new(diagnostic.hint(format!(
            "linearise at another point: give `{name}` another value by `--at`, or `--at-time`"
        ))))
    }

    /// Where the columns of states begin.
    pub fn first_state(&self) -> usize {
        self.unknowns.len()
    }

    /// Where the columns of inputs begin; those of their derivatives follow, order by order.
    pub fn first_input(&self) -> usize {
        self.unknowns.len() + self.states.len()
    }

    pub fn flat(&self) -> &Flat {
        &self.solved.flat
    }

    pub fn name(&self, leaf: Leaf) -> String {
        self.flat().leaf_name(leaf)
    }

    pub fn names(&self, of: &[Leaf]) -> Vec<String> {
        of.iter().map(|&leaf| self.name(leaf)).collect()
    }

    /// The value of a variable at the point.
    pub fn value(&self, leaf: Leaf) -> Option<f64> {
        let flat = self.flat();
        let replaced = (flat.eliminated.iter()).find(|gone| gone.leaf == leaf);
        match replaced {
            Some(gone) => self.point.number(&flat.exprs, gone.expression),
            None => self.point.real(leaf),
        }
    }

    /// States, inputs, outputs and discrete variables with their values, each once.
    pub fn shown_point(&self) -> Vec<(String, f64)> {
        let flat = self.flat();
        let discrete = (flat.variable_ids())
            .filter(|&id| {
                let variable = flat.variable(id);
                variable.kind == Kind::Discrete && variable.ty == Type::Real
            })
            .map(Leaf::Var);
        let mut shown: Vec<Leaf> = Vec::new();
        let all = (self.states.iter())
            .chain(&self.inputs)
            .chain(&self.outputs);
        for leaf in all.copied().chain(discrete) {
            shown.push(leaf);
        }
        let mut seen = rustc_hash::FxHashSet::default();
        shown.retain(|leaf| seen.insert(*leaf));
        let replaced = flat.replacements();
        (shown.into_iter())
            .filter_map(|leaf| {
                let value = match replaced.get(&leaf) {
                    Some(&by) => self.point.number(&flat.exprs, by),
                    None => self.point.real(leaf),
                };
                Some((flat.leaf_name(leaf), value?))
            })
            .collect()
    }
}
