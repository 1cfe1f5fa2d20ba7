//! From expressions to code.
//!
//! Every node gets a register of its own, so that shared expressions are computed once. An instruction
//! goes where its operands are: what depends on parameters runs once, what depends on Time runs when Time
//! changes, and so on.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Instruction, Op, Register};
use super::watches::{Sampler, Watch};
use super::{Level, Loop, Part, Program, Step, TableSource};
use crate::base::cancel::glance;
use crate::expr::{BinaryOp, ExprId, Function, Node, Real, UnaryOp};
use crate::flat::{Flat, Leaf};
use crate::numeric::Coloring;
use crate::passes::relations::{Inputs, Moving};

pub(super) const NONE: Register = Register::MAX;

/// A part that is being written.
#[derive(Debug)]
pub struct Scope {
    pub part: Part,
    /// The code from here on belongs to no step yet.
    open: usize,
    /// Registers by node, those that run once apart; [`NONE`] before it has one.
    nodes: Vec<Register>,
    /// Variables that blocks of this part assign.
    pub leaves: FxHashMap<Leaf, Register>,
    /// What depends on Time alone is computed with all else.
    whole: bool,
    /// The loop that is being written, and its registers.
    body: Vec<Instruction>,
    looped: Vec<Register>,
}

impl Scope {
    pub fn new(flat: &Flat) -> Self {
        Scope {
            part: Part::default(),
            open: 0,
            nodes: vec![NONE; flat.exprs.len()],
            leaves: FxHashMap::default(),
            whole: false,
            body: Vec::new(),
            looped: Vec::new(),
        }
    }

    /// A part in which everything is computed that does not run once.
    pub fn whole(flat: &Flat) -> Self {
        Scope {
            whole: true,
            ..Scope::new(flat)
        }
    }

    pub fn close(&mut self) {
        if self.part.code.len() > self.open {
            self.part
                .steps
                .push(Step::Code(self.open..self.part.code.len()));
            self.open = self.part.code.len();
        }
    }
}

/// Registers and what is common to all parts.
#[derive(Debug)]
pub struct Registers<'s> {
    pub flat: &'s Flat,
    pub(super) replacements: &'s FxHashMap<Leaf, ExprId>,
    pub values: Vec<f64>,
    levels: Vec<Level>,
    pub(super) literals: FxHashMap<Real, Register>,
    /// Variables with a register of their own: what is given, kept, or iterated on.
    pub fixed: FxHashMap<Leaf, Register>,
    pub given: Vec<(Leaf, Register)>,
    nodes: Vec<Register>,
    pub once: Vec<Instruction>,
    pub held: Vec<Instruction>,
    pub watches: Vec<Watch>,
    pub(super) watch_of: FxHashMap<ExprId, usize>,
    pub samplers: Vec<Sampler>,
    pub tables: Vec<TableSource>,
    pub(super) table_of: FxHashMap<TableSource, usize>,
    pub(super) moving: Moving<'s>,
}

impl<'s> Registers<'s> {
    pub fn new(flat: &'s Flat, replacements: &'s FxHashMap<Leaf, ExprId>) -> Self {
        let mut registers = Registers {
            flat,
            replacements,
            values: Vec::new(),
            levels: Vec::new(),
            literals: FxHashMap::default(),
            fixed: FxHashMap::default(),
            given: Vec::new(),
            nodes: vec![NONE; flat.exprs.len()],
            once: Vec::new(),
            held: Vec::new(),
            watches: Vec::new(),
            watch_of: FxHashMap::default(),
            samplers: Vec::new(),
            tables: Vec::new(),
            table_of: FxHashMap::default(),
            moving: Moving::new(flat, replacements, Inputs::Stay),
        };
        let time = registers.register(Level::Held);
        debug_assert_eq!(time, Program::TIME);
        registers
    }

    pub fn register(&mut self, level: Level) -> Register {
        self.values.push(0.0);
        self.levels.push(level);
        (self.values.len() - 1) as Register
    }

    fn literal(&mut self, value: f64) -> Register {
        if let Some(&register) = self.literals.get(&Real(value)) {
            return register;
        }
        let register = self.register(Level::Once);
        self.values[register as usize] = value;
        self.literals.insert(Real(value), register);
        register
    }

    pub fn zero(&mut self) -> Register {
        self.literal(0.0)
    }

    /// The register that a variable always has.
    pub fn fix(&mut self, leaf: Leaf, level: Level) -> Register {
        if let Some(&register) = self.fixed.get(&leaf) {
            return register;
        }
        let register = self.register(level);
        self.fixed.insert(leaf, register);
        register
    }

    pub fn level(&self, register: Register) -> Level {
        self.levels[register as usize]
    }

    pub fn set_level(&mut self, register: Register, level: Level) {
        self.levels[register as usize] = level;
    }

    /// The register of a variable.
    pub fn leaf(&mut self, scope: &mut Scope, leaf: Leaf) -> Register {
        let known = scope.leaves.get(&leaf).or_else(|| self.fixed.get(&leaf));
        if let Some(&register) = known {
            return register;
        }
        if let Some(&expression) = self.replacements.get(&leaf) {
            return self.expression(scope, expression);
        }
        // Parameters, constants, inputs that nothing computes, and what has no equation at all.
        let register = self.fix(leaf, Level::Once);
        if let Leaf::Var(id) = leaf
            && let Some(given) = self.flat.value(id)
        {
            self.values[register as usize] = given.value.number();
        }
        self.given.push((leaf, register));
        register
    }

    pub(super) fn known(&self, scope: &Scope, id: ExprId) -> Option<Register> {
        let at = id.index();
        [scope.nodes[at], self.nodes[at]]
            .into_iter()
            .find(|&register| register != NONE)
    }

    /// The register of an expression's value; instructions are added for what is not there yet.
    pub fn expression(&mut self, scope: &mut Scope, root: ExprId) -> Register {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            glance();
            if self.known(scope, id).is_some() {
                stack.pop();
                continue;
            }
            operands.clear();
            self.operands(scope, id, &mut operands);
            let before = stack.len();
            stack.extend((operands.iter().copied()).filter(|&id| self.known(scope, id).is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let register = self.node(scope, id);
            match self.level(register) {
                Level::Once => self.nodes[id.index()] = register,
                _ => scope.nodes[id.index()] = register,
            }
        }
        self.known(scope, root).unwrap_or(NONE)
    }

    /// What has to be there before a node: the sides of a relation that is watched are computed elsewhere.
    fn operands(&mut self, scope: &Scope, id: ExprId, operands: &mut Vec<ExprId>) {
        if let Some((_, a, b)) = self.negated(scope, id) {
            operands.extend([a, b]);
            return;
        }
        match self.flat.exprs.node(id) {
            Node::Leaf(leaf) => {
                let known = scope.leaves.contains_key(&leaf) || self.fixed.contains_key(&leaf);
                if !known && let Some(&expression) = self.replacements.get(&leaf) {
                    operands.push(expression);
                }
            }
            Node::Call(Function::Table, args) => {
                let list = self.flat.exprs.args(args);
                operands.push(list[0]);
                self.flat.exprs.operands(list[1], operands);
                self.flat.exprs.operands(list[2], operands);
            }
            Node::Call(Function::Mod, _) => self.flat.exprs.operands(id, operands),
            _ if self.watched(id).is_some() => {}
            _ => self.flat.exprs.operands(id, operands),
        }
    }

    /// A product, quotient or difference with a minus before it, as one operation; where it is there without
    /// the minus, that is used.
    fn negated(&self, scope: &Scope, id: ExprId) -> Option<(Op, ExprId, ExprId)> {
        let exprs = &self.flat.exprs;
        let new = |id: ExprId| self.known(scope, id).is_none();
        match exprs.node(id) {
            Node::Unary(UnaryOp::Minus, inner) if new(inner) => match exprs.node(inner) {
                Node::Binary(BinaryOp::Mul, a, b) => Some((Op::NegMul, a, b)),
                Node::Binary(BinaryOp::Div, a, b) => Some((Op::NegDiv, a, b)),
                Node::Binary(BinaryOp::Sub, a, b) => Some((Op::Sub, b, a)),
                _ => None,
            },
            Node::Binary(op @ (BinaryOp::Mul | BinaryOp::Div), left, b) if new(left) => {
                let Node::Unary(UnaryOp::Minus, a) = exprs.node(left) else {
                    return None;
                };
                let fused = if op == BinaryOp::Mul {
                    Op::NegMul
                } else {
                    Op::NegDiv
                };
                Some((fused, a, b))
            }
            _ => None,
        }
    }

    fn node(&mut self, scope: &mut Scope, id: ExprId) -> Register {
        let flat = self.flat;
        if let Some((op, a, b)) = self.negated(scope, id) {
            let a = self.known(scope, a).unwrap_or(NONE);
            let b = self.known(scope, b).unwrap_or(NONE);
            return self.emit(scope, op, a, b, a);
        }
        let of = |registers: &Self, id: ExprId| registers.known(scope, id).unwrap_or(NONE);
        match flat.exprs.node(id) {
            Node::Number(value) => self.literal(value.0),
            Node::Bool(value) => self.literal(f64::from(u8::from(value))),
            Node::Time => Program::TIME,
            Node::Leaf(leaf) => self.leaf(scope, leaf),
            Node::Unary(op, a) => {
                let a = of(self, a);
                match op {
                    UnaryOp::Plus => a,
                    UnaryOp::Minus => self.emit(scope, Op::Negate, a, a, a),
                    UnaryOp::Not => self.emit(scope, Op::Not, a, a, a),
                }
            }
            Node::Binary(op, a, b) => {
                if let Some(held) = self.watched(id) {
                    return held;
                }
                let (ra, rb) = (of(self, a), of(self, b));
                if op == BinaryOp::Pow {
                    return self.power(scope, b, ra, rb);
                }
                self.emit(scope, binary(op), ra, rb, ra)
            }
            Node::If(c, a, b) => {
                let (c, a, b) = (of(self, c), of(self, a), of(self, b));
                self.emit(scope, Op::Select, a, b, c)
            }
            Node::Call(function, args) => {
                let args = flat.exprs.args(args);
                self.call(scope, id, function, args)
            }
            // The elements of a list stand for themselves.
            Node::List(_) => NONE,
        }
    }

    fn power(&mut self, scope: &mut Scope, exponent: ExprId, a: Register, b: Register) -> Register {
        /// Beyond, a general power is as good.
        const LARGEST: f64 = 64.0;
        let exponent = match self.flat.exprs.node(exponent) {
            Node::Number(value) => Some(value.0),
            Node::Unary(UnaryOp::Minus, a) => match self.flat.exprs.node(a) {
                Node::Number(value) => Some(-value.0),
                _ => None,
            },
            _ => None,
        };
        match exponent {
            Some(2.0) => self.emit(scope, Op::Square, a, a, a),
            Some(0.5) => self.emit(scope, Op::Sqrt, a, a, a),
            Some(n) if n.fract() == 0.0 && n.abs() <= LARGEST => {
                let level = self.level(a);
                let to = self.register(level);
                let instruction = Instruction {
                    op: Op::Whole,
                    to,
                    a,
                    b: (n as i32) as u32,
                    c: a,
                };
                self.place(scope, level, instruction);
                to
            }
            _ => self.emit(scope, Op::Power, a, b, a),
        }
    }

    pub fn emit(
        &mut self,
        scope: &mut Scope,
        op: Op,
        a: Register,
        b: Register,
        c: Register,
    ) -> Register {
        let level = self.level(a).max(self.level(b)).max(self.level(c));
        let to = self.register(level);
        self.place(scope, level, Instruction { op, to, a, b, c });
        to
    }

    pub(super) fn place(&mut self, scope: &mut Scope, level: Level, instruction: Instruction) {
        match level {
            Level::Once => self.once.push(instruction),
            Level::Held if !scope.whole => self.held.push(instruction),
            Level::Held | Level::Always => scope.part.code.push(instruction),
            Level::Loop => {
                scope.looped.push(instruction.to);
                scope.body.push(instruction);
            }
        }
    }

    /// Ends a loop: what was written since its unknowns got [`Level::Loop`].
    pub fn end_loop(
        &mut self,
        scope: &mut Scope,
        block: usize,
        unknowns: Vec<Register>,
        residuals: Vec<Register>,
        selections: Vec<usize>,
        coloring: Arc<Coloring>,
    ) {
        for register in scope.looped.drain(..).chain(unknowns.iter().copied()) {
            self.levels[register as usize] = Level::Always;
        }
        let code = std::mem::take(&mut scope.body);
        let mut own: rustc_hash::FxHashSet<Register> = unknowns.iter().copied().collect();
        own.extend(code.iter().map(|instruction| instruction.to));
        let mut externals: Vec<Register> = Vec::new();
        for instruction in &code {
            let reads_b = !matches!(instruction.op, Op::Whole | Op::Table);
            let b = if reads_b {
                instruction.b
            } else {
                instruction.a
            };
            externals.extend([instruction.a, b, instruction.c]);
        }
        externals.extend(&residuals);
        externals.retain(|register| !own.contains(register));
        externals.sort_unstable();
        externals.dedup();
        scope.close();
        scope.part.steps.push(Step::Loop(scope.part.loops.len()));
        scope.part.loops.push(Loop {
            block,
            code,
            unknowns,
            residuals,
            externals,
            selections,
            coloring,
        });
    }
}

fn binary(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Or => Op::Or,
        BinaryOp::And => Op::And,
        BinaryOp::Less => Op::Less,
        BinaryOp::LessEqual => Op::LessEqual,
        BinaryOp::Greater => Op::Greater,
        BinaryOp::GreaterEqual => Op::GreaterEqual,
        BinaryOp::Equal => Op::Equal,
        BinaryOp::NotEqual => Op::NotEqual,
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div => Op::Div,
        BinaryOp::Pow => Op::Power,
    }
}
