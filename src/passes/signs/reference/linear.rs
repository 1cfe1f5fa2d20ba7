//! The flat model as rows of signs.
//!
//! Before: a flat model. After: a row for each real equation that holds at all times. The equation is a sum of terms,
//! each with the sign +1 or -1. A term is a column: a variable, a derivative, or any other expression taken as a whole
//! (`R*i`, `sin(Time)`); equal expressions are one column. A term is known if no equation determines anything in it;
//! states are known.
//!
//! A sum inside another expression (`d*(va - vb)`) becomes a column with a row that defines it: perhaps the model
//! contains only differences of potentials.

use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{EqId, Flat, Kind, Leaf};
use crate::structure::{IntegerRows, NONE};

/// Bits for what an expression depends on.
mod on {
    pub const UNKNOWNS: u8 = 1;
    pub const STATES: u8 = 2;
}

#[derive(Debug)]
pub struct Linear {
    pub rows: IntegerRows,
    /// The equation of each row; `None` for a row that defines a column.
    pub equations: Vec<Option<EqId>>,
    /// The expression of each column.
    pub terms: Vec<ExprId>,
    pub unknown: Vec<bool>,
    /// Unknowns that occur only as terms of sums.
    pub only_in_sums: Vec<bool>,
    /// Known terms that contain a state.
    pub state: Vec<bool>,
}

struct Builder<'f> {
    flat: &'f Flat,
    depends: Vec<u8>,
    /// By expression: its column, or `NONE`.
    columns: Vec<u32>,
    terms: Vec<ExprId>,
    fixed: Vec<bool>,
    /// Expressions whose operands have been, or will be, visited.
    opened: Vec<bool>,
    to_open: Vec<ExprId>,
    rows: Vec<(Option<EqId>, u32)>,
    entries: Vec<(u32, i64)>,
    work: Vec<(ExprId, i64)>,
}

impl Linear {
    pub fn new(flat: &Flat) -> Self {
        let mut builder = Builder {
            flat,
            depends: dependencies(flat),
            columns: vec![NONE; flat.exprs.len()],
            terms: Vec::new(),
            fixed: Vec::new(),
            opened: vec![false; flat.exprs.len()],
            to_open: Vec::new(),
            rows: Vec::with_capacity(flat.equations.len()),
            entries: Vec::new(),
            work: Vec::new(),
        };
        for id in flat.equation_ids() {
            let equation = &flat.equations[id.index()];
            if equation.kind.is_continuous() && !flat.is_boolean(equation.left) {
                builder.row(Some(id), equation.left, equation.right);
            } else {
                builder.fix(equation.left);
                builder.fix(equation.right);
            }
            builder.open();
        }
        for when in &flat.whens {
            for &(condition, _) in &when.conditions {
                builder.fix(condition);
            }
        }
        builder.open();
        builder.finish()
    }
}

impl Builder<'_> {
    fn row(&mut self, equation: Option<EqId>, left: ExprId, right: ExprId) {
        self.work.extend([(right, -1), (left, 1)]);
        self.terms_of_sum();
        self.rows.push((equation, self.entries.len() as u32));
    }

    /// Adds the terms of the sums in `work` to the row at hand.
    fn terms_of_sum(&mut self) {
        while let Some((id, sign)) = next_term(self.flat, &mut self.work) {
            glance();
            let column = self.column(id);
            self.entries.push((column, sign));
            if !matches!(self.flat.exprs.node(id), Node::Leaf(_)) && self.has_unknowns(id) {
                self.fixed[column as usize] = true;
                self.to_open.push(id);
            }
        }
    }

    fn column(&mut self, id: ExprId) -> u32 {
        if self.columns[id.index()] == NONE {
            self.columns[id.index()] = self.terms.len() as u32;
            self.terms.push(id);
            self.fixed.push(false);
        }
        self.columns[id.index()]
    }

    fn has_unknowns(&self, id: ExprId) -> bool {
        self.depends[id.index()] & on::UNKNOWNS != 0
    }

    /// Visits expressions that are not sums: unknowns in them occur elsewhere than in sums.
    fn open(&mut self) {
        while let Some(id) = self.to_open.pop() {
            glance();
            if std::mem::replace(&mut self.opened[id.index()], true) {
                continue;
            }
            let flat = self.flat;
            match flat.exprs.node(id) {
                Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
                Node::Unary(_, a) => self.fix(a),
                Node::Binary(_, a, b) => [a, b].into_iter().for_each(|part| self.fix(part)),
                Node::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.fix(part)),
                Node::Call(_, args) | Node::List(args) => {
                    (flat.exprs.args(args).iter()).for_each(|&part| self.fix(part));
                }
            }
        }
    }

    /// Marks an expression whose value is used as a whole.
    fn fix(&mut self, id: ExprId) {
        if !self.has_unknowns(id) {
            return;
        }
        match self.flat.exprs.node(id) {
            Node::Leaf(_) => {
                let column = self.column(id);
                self.fixed[column as usize] = true;
            }
            Node::Unary(UnaryOp::Minus | UnaryOp::Plus, _)
            | Node::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                if std::mem::replace(&mut self.opened[id.index()], true) {
                    return;
                }
                let column = self.column(id);
                self.fixed[column as usize] = true;
                self.entries.push((column, -1));
                self.work.push((id, 1));
                self.terms_of_sum();
                self.rows.push((None, self.entries.len() as u32));
            }
            _ => self.to_open.push(id),
        }
    }

    fn finish(self) -> Linear {
        let mut rows = IntegerRows::new(self.terms.len());
        let mut start = 0;
        for &(_, end) in &self.rows {
            rows.push_row(self.entries[start..end as usize].iter().copied());
            start = end as usize;
        }
        let depends = |what: u8| {
            let depends = &self.depends;
            (self.terms.iter()).map(move |id| depends[id.index()] & what != 0)
        };
        Linear {
            rows,
            equations: self.rows.iter().map(|&(equation, _)| equation).collect(),
            unknown: depends(on::UNKNOWNS).collect(),
            only_in_sums: depends(on::UNKNOWNS)
                .zip(&self.fixed)
                .map(|(unknown, &fixed)| unknown && !fixed)
                .collect(),
            state: depends(on::UNKNOWNS)
                .zip(depends(on::STATES))
                .map(|(unknown, state)| state && !unknown)
                .collect(),
            terms: self.terms,
        }
    }
}

/// Takes the next term and its sign out of the sums in `work`. Zeros are left out.
#[inline]
pub fn next_term(flat: &Flat, work: &mut Vec<(ExprId, i64)>) -> Option<(ExprId, i64)> {
    while let Some((id, sign)) = work.pop() {
        glance();
        match flat.exprs.node(id) {
            Node::Number(value) if value.0 == 0.0 => {}
            Node::Unary(UnaryOp::Minus, a) => work.push((a, -sign)),
            Node::Unary(UnaryOp::Plus, a) => work.push((a, sign)),
            Node::Binary(BinaryOp::Add, a, b) => work.extend([(b, sign), (a, sign)]),
            Node::Binary(BinaryOp::Sub, a, b) => work.extend([(b, -sign), (a, sign)]),
            _ => return Some((id, sign)),
        }
    }
    None
}

/// What each expression depends on. Operands come before their users, so one loop suffices.
fn dependencies(flat: &Flat) -> Vec<u8> {
    let mut found: Vec<u8> = Vec::with_capacity(flat.exprs.len());
    for at in 0..flat.exprs.len() as u32 {
        let of = |id: ExprId| found[id.index()];
        let depends = match flat.exprs.node(ExprId(at)) {
            Node::Number(_) | Node::Bool(_) | Node::Time => 0,
            Node::Leaf(leaf) => of_leaf(flat, leaf),
            Node::Unary(_, a) => of(a),
            Node::Binary(_, a, b) => of(a) | of(b),
            Node::If(a, b, c) => of(a) | of(b) | of(c),
            Node::Call(_, args) | Node::List(args) => {
                let args = flat.exprs.args(args).iter();
                args.fold(0, |sum, &arg| sum | of(arg))
            }
        };
        found.push(depends);
    }
    found
}

/// Unknowns are the same as in sorting: highest derivatives, algebraic variables, next values.
fn of_leaf(flat: &Flat, leaf: Leaf) -> u8 {
    match (leaf, flat.variable(leaf.variable()).kind) {
        (Leaf::Var(_) | Leaf::Der(..), Kind::State | Kind::Algebraic | Kind::Output) => {
            match flat.is_state(leaf) {
                true => on::STATES,
                false => on::UNKNOWNS,
            }
        }
        (Leaf::New(_), Kind::Discrete) => on::UNKNOWNS,
        _ => 0,
    }
}
