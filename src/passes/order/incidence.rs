//! Which unknowns a row contains, and how well it could be solved for each of them.

use crate::base::cancel::{check, glance};
use rustc_hash::FxHashSet;

use super::Row;
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp};
use crate::flat::{Flat, Kind, Leaf, VarId};
use crate::passes::vanishing::{Vanishing, vanishing};
use crate::structure::{Incidence, NONE};

/// How well an equation can be solved for an unknown in it.
pub mod grade {
    /// The coefficient is a number other than zero.
    pub const PLAIN: u8 = 0;
    /// The coefficient is made of parameters.
    pub const PARAMETER: u8 = 1;
    /// The coefficient can vanish, or the unknown occurs more than once.
    pub const DOUBTFUL: u8 = 2;
    /// The equation is not linear in the unknown.
    pub const NONLINEAR: u8 = 3;
    /// The coefficient is zero with the given parameters.
    pub const VANISHED: u8 = 4;
}

/// How differentiated variables are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// The variables are known; their highest derivatives are unknowns.
    Known,
    /// A variable and its derivatives are one unknown.
    WithDerivatives,
}

/// The unknowns, numbered.
#[derive(Debug)]
pub struct Columns {
    states: States,
    leaves: Vec<Leaf>,
    /// By variable: the index in `slots` of its first column; the columns are ordered by order of
    /// derivative.
    of: Vec<u32>,
    /// The column of each unknown derivative, or `NONE`.
    slots: Vec<u32>,
    /// Restarts by row. Only the `when` itself contains such a column.
    restarts: Vec<(u32, u32)>,
    /// Expressions that are known before the start of a run.
    fixed: Vec<bool>,
    /// Rows of [`Columns::incidence`] without an entry for some unknown, because its coefficient is
    /// zero with the given parameters.
    pub vanished: Vec<u32>,
    keep: bool,
}

impl Columns {
    pub fn new(flat: &Flat, rows: &[Row], states: States) -> Self {
        let mut fixed = Vec::with_capacity(flat.exprs.len());
        for at in 0..flat.exprs.len() as u32 {
            fixed.push(is_fixed(flat, ExprId(at), &fixed));
        }
        let mut columns = Columns {
            states,
            leaves: Vec::new(),
            of: Vec::with_capacity(flat.variables.len()),
            slots: Vec::with_capacity(flat.variables.len()),
            restarts: Vec::new(),
            fixed,
            vanished: Vec::new(),
            // A parameter may get another value, and the model has to be square with any value.
            keep: states == States::WithDerivatives,
        };
        let eliminated: FxHashSet<Leaf> = flat.eliminated.iter().map(|alias| alias.leaf).collect();
        for id in flat.variable_ids() {
            columns.of.push(columns.slots.len() as u32);
            for leaf in flat.unknowns_of(id) {
                columns.slots.push(match eliminated.contains(&leaf) {
                    true => NONE,
                    false => {
                        columns.leaves.push(leaf);
                        columns.leaves.len() as u32 - 1
                    }
                });
            }
        }
        columns.of.push(columns.slots.len() as u32);
        for (at, row) in rows.iter().enumerate() {
            // A restart is an unknown of its own: no other row determines or reads it.
            if let Row::When(_, equations) = row
                && let Some(first) = equations.first()
                && let Node::Leaf(leaf @ Leaf::Init(_)) =
                    flat.exprs.node(flat.equations[first.index()].left)
            {
                columns
                    .restarts
                    .push((at as u32, columns.leaves.len() as u32));
                columns.leaves.push(leaf);
            }
        }
        columns
    }

    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    pub fn of_variable(&self, variable: VarId) -> Option<u32> {
        let slots = self.of[variable.index()] as usize..self.of[variable.index() + 1] as usize;
        let column = *self.slots[slots].last()?;
        (column != NONE).then_some(column)
    }

    pub fn leaf(&self, column: u32) -> Leaf {
        self.leaves[column as usize]
    }

    pub fn column(&self, flat: &Flat, leaf: Leaf) -> u32 {
        let at = leaf.variable().index();
        let slots = &self.slots[self.of[at] as usize..self.of[at + 1] as usize];
        let variable = flat.variable(leaf.variable());
        let found = match (leaf, self.states) {
            (Leaf::New(_), _) if variable.kind == Kind::Discrete => slots.first(),
            _ if variable.kind == Kind::Discrete => None,
            (Leaf::Var(_) | Leaf::Der(..), States::WithDerivatives) => slots.last(),
            (Leaf::Var(_) | Leaf::Der(..), States::Known) => leaf
                .order()
                .and_then(|order| order.checked_sub(variable.states))
                .and_then(|above| slots.get(above as usize)),
            _ => None,
        };
        found.copied().unwrap_or(NONE)
    }

    /// Keeps entries whose coefficient is zero with the given parameters.
    pub fn keep_vanished(&mut self) {
        self.keep = true;
        self.vanished.clear();
    }

    /// The pattern of all rows.
    pub fn incidence(&mut self, flat: &Flat, rows: &[Row]) -> Incidence {
        let mut incidence = Incidence::new(self.leaves.len());
        let mut entries: Vec<(u32, u8)> = Vec::new();
        let mut work: Vec<(ExprId, u8)> = Vec::new();
        let mut restarts = self.restarts.iter().peekable();
        for (at, row) in rows.iter().enumerate() {
            entries.clear();
            match row {
                Row::Equation(id) => {
                    let equation = &flat.equations[id.index()];
                    work.extend([
                        (equation.left, grade::PLAIN),
                        (equation.right, grade::PLAIN),
                    ]);
                    if self.collect(flat, &mut work, &mut entries) {
                        self.vanished.push(at as u32);
                    }
                }
                Row::Selection(at) => {
                    // Such a row is as long as the model.
                    check();
                    let candidates = &flat.selections()[*at as usize].candidates;
                    let of = candidates.iter().map(|&leaf| self.column(flat, leaf));
                    entries.extend(
                        of.filter(|&column| column != NONE)
                            .map(|column| (column, grade::PLAIN)),
                    );
                }
                Row::When(when, equations) => {
                    for id in equations {
                        let equation = &flat.equations[id.index()];
                        work.extend([
                            (equation.left, grade::PLAIN),
                            (equation.right, grade::NONLINEAR),
                        ]);
                    }
                    let conditions = &flat.whens[when.index()].conditions;
                    work.extend(conditions.iter().map(|&(id, _)| (id, grade::NONLINEAR)));
                    self.collect(flat, &mut work, &mut entries);
                    if let Some(&(_, column)) = restarts.next_if(|(row, _)| *row == at as u32) {
                        entries.push((column, grade::PLAIN));
                    }
                }
            }
            entries.sort_unstable();
            for at in 1..entries.len() {
                if entries[at].0 == entries[at - 1].0 {
                    entries[at].1 = entries[at].1.max(grade::DOUBTFUL);
                }
            }
            incidence.push_row(entries.iter().copied());
        }
        incidence
    }

    /// Returns whether an unknown was left out.
    fn collect(&self, flat: &Flat, work: &mut Vec<(ExprId, u8)>, out: &mut Vec<(u32, u8)>) -> bool {
        let mut vanished = false;
        while let Some((id, known)) = work.pop() {
            glance();
            match flat.exprs.node(id) {
                Node::Number(_) | Node::Bool(_) | Node::Time => {}
                Node::Leaf(leaf) => {
                    let column = self.column(flat, leaf);
                    if column != NONE {
                        out.push((column, known));
                    }
                }
                _ if self.fixed[id.index()] => {}
                Node::Unary(UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Not, a) => {
                    work.push((a, known));
                }
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                    work.extend([(a, known), (b, known)]);
                }
                Node::Binary(BinaryOp::Mul, a, b) => {
                    for (x, factor) in [(a, b), (b, a)] {
                        match self.factor(flat, factor) {
                            // Nothing inside a divisor or a function is left out.
                            grade::VANISHED if !self.keep && known < grade::NONLINEAR => {
                                let unknown = |leaf| self.column(flat, leaf) != NONE;
                                (flat.exprs).leaves(x, |leaf| vanished |= unknown(leaf));
                            }
                            grade => work.push((x, known.max(grade))),
                        }
                    }
                }
                Node::Binary(BinaryOp::Div, a, b) => {
                    work.push((a, known.max(self.factor(flat, b))));
                    work.push((b, grade::NONLINEAR));
                }
                Node::Binary(_, a, b) => {
                    work.extend([(a, grade::NONLINEAR), (b, grade::NONLINEAR)]);
                }
                Node::If(condition, a, b) => {
                    work.push((condition, grade::NONLINEAR));
                    let branch = known.max(grade::DOUBTFUL);
                    work.extend([(a, branch), (b, branch)]);
                }
                Node::Call(_, args) | Node::List(args) => {
                    let args = flat.exprs.args(args).iter();
                    work.extend(args.map(|&arg| (arg, grade::NONLINEAR)));
                }
            }
        }
        vanished
    }

    /// Grades an expression as a coefficient.
    fn factor(&self, flat: &Flat, id: ExprId) -> u8 {
        match flat.exprs.node(id) {
            Node::Number(value) if value.0 != 0.0 => grade::PLAIN,
            _ if self.fixed[id.index()] => match vanishing(flat, id) {
                Vanishing::Always => grade::VANISHED,
                Vanishing::Never => grade::PARAMETER,
                Vanishing::Perhaps => grade::DOUBTFUL,
            },
            _ => grade::DOUBTFUL,
        }
    }
}

fn is_fixed(flat: &Flat, id: ExprId, fixed: &[bool]) -> bool {
    let of = |id: ExprId| fixed[id.index()];
    match flat.exprs.node(id) {
        Node::Number(_) | Node::Bool(_) => true,
        Node::Time => false,
        Node::Leaf(Leaf::Var(variable)) => matches!(
            flat.variable(variable).kind,
            Kind::Parameter | Kind::Constant
        ),
        Node::Leaf(_) => false,
        Node::Unary(_, a) => of(a),
        Node::Binary(_, a, b) => of(a) && of(b),
        Node::If(a, b, c) => of(a) && of(b) && of(c),
        Node::Call(function, args) => {
            function != crate::expr::Function::Sample
                && flat.exprs.args(args).iter().all(|&arg| of(arg))
        }
        Node::List(args) => flat.exprs.args(args).iter().all(|&arg| of(arg)),
    }
}
