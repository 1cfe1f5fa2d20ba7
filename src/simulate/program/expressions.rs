//! From expressions to code.
//!
//! Every node gets a register of its own, so that shared expressions are computed once. An instruction
//! goes where its operands are: what depends on parameters runs once, what depends on Time runs when Time
//! changes, and so on.

use rustc_hash::FxHashMap;

use super::code::{Instruction, Op, Register};
use super::watches::{Sampler, Watch, WatchKind};
use super::{Level, Loop, Part, Program, Step, TableSource};
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{Flat, Kind, Leaf, Type};

const NONE: Register = Register::MAX;

/// A part that is being written.
#[derive(Debug, Default)]
pub struct Scope {
    pub part: Part,
    /// Where code that no step has yet begins.
    open: usize,
    /// Registers of nodes; those that run once are kept apart.
    nodes: FxHashMap<ExprId, Register>,
    /// Variables that blocks of this part assign.
    pub leaves: FxHashMap<Leaf, Register>,
    /// What depends on Time alone is computed with all else.
    whole: bool,
    /// The loop that is being written, and its registers.
    body: Vec<Instruction>,
    looped: Vec<Register>,
}

impl Scope {
    /// A part in which everything is computed that does not run once.
    pub fn whole() -> Self {
        Scope {
            whole: true,
            ..Scope::default()
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
    gone: FxHashMap<Leaf, ExprId>,
    pub values: Vec<f64>,
    levels: Vec<Level>,
    literals: FxHashMap<u64, Register>,
    /// Variables with a register of their own: what is given, kept, or iterated on.
    pub fixed: FxHashMap<Leaf, Register>,
    pub given: Vec<(Leaf, Register)>,
    nodes: FxHashMap<ExprId, Register>,
    pub once: Vec<Instruction>,
    pub held: Vec<Instruction>,
    pub watches: Vec<Watch>,
    watch_of: FxHashMap<ExprId, usize>,
    pub samplers: Vec<Sampler>,
    pub tables: Vec<TableSource>,
    /// Whether an expression changes between events.
    moving: FxHashMap<ExprId, bool>,
}

impl<'s> Registers<'s> {
    pub fn new(flat: &'s Flat, gone: FxHashMap<Leaf, ExprId>) -> Self {
        let mut registers = Registers {
            flat,
            gone,
            values: Vec::new(),
            levels: Vec::new(),
            literals: FxHashMap::default(),
            fixed: FxHashMap::default(),
            given: Vec::new(),
            nodes: FxHashMap::default(),
            once: Vec::new(),
            held: Vec::new(),
            watches: Vec::new(),
            watch_of: FxHashMap::default(),
            samplers: Vec::new(),
            tables: Vec::new(),
            moving: FxHashMap::default(),
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
        if let Some(&register) = self.literals.get(&value.to_bits()) {
            return register;
        }
        let register = self.register(Level::Once);
        self.values[register as usize] = value;
        self.literals.insert(value.to_bits(), register);
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
        if let Some(&expression) = self.gone.get(&leaf) {
            return self.expression(scope, expression);
        }
        // Parameters, constants, inputs that nothing computes, and what has no equation at all.
        let register = self.fix(leaf, Level::Once);
        if let Leaf::Var(id) = leaf
            && let Some(given) = self.flat.value(id)
        {
            self.values[register as usize] = number(given.value);
        }
        self.given.push((leaf, register));
        register
    }

    fn known(&self, scope: &Scope, id: ExprId) -> Option<Register> {
        (scope.nodes.get(&id))
            .or_else(|| self.nodes.get(&id))
            .copied()
    }

    /// The register of an expression's value; instructions are added for what is not there yet.
    pub fn expression(&mut self, scope: &mut Scope, root: ExprId) -> Register {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
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
                Level::Once => self.nodes.insert(id, register),
                _ => scope.nodes.insert(id, register),
            };
        }
        self.known(scope, root).unwrap_or(NONE)
    }

    /// What has to be there before a node: the sides of a relation that is watched are computed elsewhere.
    fn operands(&mut self, scope: &Scope, id: ExprId, operands: &mut Vec<ExprId>) {
        match self.flat.exprs.node(id) {
            Node::Leaf(leaf) => {
                let known = scope.leaves.contains_key(&leaf) || self.fixed.contains_key(&leaf);
                if !known && let Some(&expression) = self.gone.get(&leaf) {
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
            _ if self.watch_kind(id).is_some() => {}
            _ => self.flat.exprs.operands(id, operands),
        }
    }

    fn node(&mut self, scope: &mut Scope, id: ExprId) -> Register {
        let flat = self.flat;
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
                if self.watch_kind(id).is_some() {
                    return self.watch(id);
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

    fn call(
        &mut self,
        scope: &mut Scope,
        id: ExprId,
        function: Function,
        args: &[ExprId],
    ) -> Register {
        use Function::*;
        if matches!(function, Sign | Floor | Ceil) && self.watch_kind(id).is_some() {
            return self.watch(id);
        }
        let of = |registers: &Self, scope: &Scope, at: usize| {
            registers.known(scope, args[at]).unwrap_or(NONE)
        };
        let op = match function {
            Sin => Op::Sin,
            Cos => Op::Cos,
            Tan => Op::Tan,
            Asin => Op::Asin,
            Acos => Op::Acos,
            Atan => Op::Atan,
            Sinh => Op::Sinh,
            Cosh => Op::Cosh,
            Tanh => Op::Tanh,
            Exp => Op::Exp,
            Ln => Op::Ln,
            Log10 => Op::Log10,
            Sqrt => Op::Sqrt,
            Abs => Op::Abs,
            Sign => Op::Sign,
            Floor => Op::Floor,
            Ceil => Op::Ceil,
            Atan2 => {
                let (a, b) = (of(self, scope, 0), of(self, scope, 1));
                return self.emit(scope, Op::Atan2, a, b, a);
            }
            Min | Max => {
                let op = if function == Min { Op::Min } else { Op::Max };
                let mut best = of(self, scope, 0);
                for at in 1..args.len() {
                    let next = of(self, scope, at);
                    best = self.emit(scope, op, best, next, best);
                }
                return best;
            }
            Mod => return self.modulo(scope, id, of(self, scope, 0), of(self, scope, 1)),
            Table => return self.table(scope, args),
            Sample => return self.sample(scope, id, of(self, scope, 0), of(self, scope, 1)),
            // Leaves of their own in the flat model.
            Der | Der2 | New | Init | Pre => return NONE,
        };
        let a = of(self, scope, 0);
        self.emit(scope, op, a, a, a)
    }

    /// x - floor(x/y)*y, with the whole number kept between events.
    fn modulo(&mut self, scope: &mut Scope, id: ExprId, x: Register, y: Register) -> Register {
        let whole = match self.watch_kind(id).is_some() {
            true => self.watch(id),
            false => {
                let quotient = self.emit(scope, Op::Div, x, y, x);
                self.emit(scope, Op::Floor, quotient, quotient, quotient)
            }
        };
        let part = self.emit(scope, Op::Mul, whole, y, whole);
        self.emit(scope, Op::Sub, x, part, x)
    }

    fn table(&mut self, scope: &mut Scope, args: &[ExprId]) -> Register {
        let list = |registers: &Self, id: ExprId| -> Vec<Register> {
            let mut points = Vec::new();
            registers.flat.exprs.operands(id, &mut points);
            (points.iter())
                .map(|&point| registers.known(scope, point).unwrap_or(NONE))
                .collect()
        };
        let source = TableSource {
            xs: list(self, args[1]),
            ys: list(self, args[2]),
            timed: self.is_timed(args[0]).then_some(args[0]),
            argument: NONE,
        };
        let known = self.tables.iter().position(|table| *table == source);
        let at = known.unwrap_or(self.tables.len());
        if known.is_none() {
            self.tables.push(source);
        }
        let a = self.known(scope, args[0]).unwrap_or(NONE);
        let level = self.level(a);
        let to = self.register(level);
        let instruction = Instruction {
            op: Op::Table,
            to,
            a,
            b: at as u32,
            c: a,
        };
        // Points are read when what runs once has run: a table that parameters look into cannot be among it.
        let level = level.max(Level::Held);
        self.set_level(to, level);
        self.place(scope, level, instruction);
        to
    }

    fn sample(
        &mut self,
        _: &mut Scope,
        node: ExprId,
        start: Register,
        period: Register,
    ) -> Register {
        let known = self.samplers.iter().find(|sampler| sampler.node == node);
        if let Some(sampler) = known {
            return sampler.held;
        }
        let held = self.register(Level::Held);
        self.samplers.push(Sampler {
            node,
            held,
            start,
            period,
        });
        held
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

    fn place(&mut self, scope: &mut Scope, level: Level, instruction: Instruction) {
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
        });
    }

    /// The kind of watch a node needs, if it needs one.
    pub fn watch_kind(&mut self, id: ExprId) -> Option<WatchKind> {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let kind = match self.flat.exprs.node(id) {
            Node::Binary(op @ (Less | LessEqual | Greater | GreaterEqual), ..) => {
                WatchKind::Relation(op)
            }
            Node::Binary(op @ (Equal | NotEqual), a, _) if !self.is_boolean(a) => {
                WatchKind::Relation(op)
            }
            Node::Call(Function::Sign, _) => WatchKind::Sign,
            Node::Call(Function::Floor | Function::Mod, _) => WatchKind::Floor,
            Node::Call(Function::Ceil, _) => WatchKind::Ceil,
            _ => return None,
        };
        self.is_moving(id).then_some(kind)
    }

    /// The register where the truth of a relation is kept.
    pub fn watch(&mut self, id: ExprId) -> Register {
        if let Some(&at) = self.watch_of.get(&id) {
            return self.watches[at].held;
        }
        let Some(kind) = self.watch_kind(id) else {
            return NONE;
        };
        let held = self.register(Level::Held);
        let (left, right) = match self.flat.exprs.node(id) {
            Node::Binary(_, a, b) => (a, Some(b)),
            Node::Call(function, args) => {
                let args = self.flat.exprs.args(args);
                (args[0], (function == Function::Mod).then(|| args[1]))
            }
            _ => return NONE,
        };
        let timed = self.is_timed(left) && right.is_none_or(|right| self.is_timed(right));
        self.watch_of.insert(id, self.watches.len());
        self.watches.push(Watch {
            kind,
            node: id,
            left,
            right,
            held,
            sides: (NONE, NONE),
            event_sides: (NONE, NONE),
            timed,
        });
        held
    }

    pub fn is_boolean(&self, mut id: ExprId) -> bool {
        loop {
            return match self.flat.exprs.node(id) {
                Node::Bool(_) | Node::Unary(UnaryOp::Not, _) => true,
                Node::Binary(op, ..) => !matches!(
                    op,
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow
                ),
                Node::Call(Function::Sample, _) => true,
                Node::Leaf(leaf) => self.flat.variable(leaf.variable()).ty == Type::Boolean,
                Node::If(_, a, _) => {
                    id = a;
                    continue;
                }
                _ => false,
            };
        }
    }

    /// Whether an expression changes between events.
    fn is_moving(&mut self, root: ExprId) -> bool {
        let mut stack = vec![root];
        let mut operands = Vec::new();
        while let Some(&id) = stack.last() {
            if self.moving.contains_key(&id) {
                stack.pop();
                continue;
            }
            operands.clear();
            let own = match self.flat.exprs.node(id) {
                Node::Time => true,
                Node::Leaf(leaf) => match self.gone.get(&leaf) {
                    Some(&expression) => {
                        operands.push(expression);
                        false
                    }
                    None => match leaf {
                        Leaf::New(_) | Leaf::Pre(_) | Leaf::Init(_) => false,
                        Leaf::Var(id) | Leaf::Der(id, _) => {
                            let variable = self.flat.variable(id);
                            variable.ty == Type::Real
                                && !matches!(
                                    variable.kind,
                                    Kind::Parameter | Kind::Constant | Kind::Discrete | Kind::Input
                                )
                        }
                    },
                },
                _ => {
                    self.flat.exprs.operands(id, &mut operands);
                    false
                }
            };
            let before = stack.len();
            stack.extend((operands.iter().copied()).filter(|id| !self.moving.contains_key(id)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let moving = own || operands.iter().any(|id| self.moving[id]);
            self.moving.insert(id, moving);
        }
        self.moving[&root]
    }

    /// Linear in Time with coefficients that do not change between events; so it is known when it
    /// reaches a value.
    fn is_timed(&mut self, mut id: ExprId) -> bool {
        loop {
            if !self.is_moving(id) {
                return true;
            }
            let next = match self.flat.exprs.node(id) {
                Node::Time => return true,
                Node::Leaf(leaf) => self.gone.get(&leaf).copied(),
                Node::Unary(UnaryOp::Plus | UnaryOp::Minus, a) => Some(a),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                    match (self.is_moving(a), self.is_moving(b)) {
                        (true, false) => Some(a),
                        (false, true) => Some(b),
                        _ => None,
                    }
                }
                Node::Binary(BinaryOp::Mul, a, b) => match (self.is_moving(a), self.is_moving(b)) {
                    (true, false) => Some(a),
                    (false, true) => Some(b),
                    _ => None,
                },
                Node::Binary(BinaryOp::Div, a, b) if !self.is_moving(b) => Some(a),
                _ => None,
            };
            match next {
                Some(next) => id = next,
                None => return false,
            }
        }
    }
}

/// false and true are 0 and 1.
pub fn number(value: Value) -> f64 {
    match value {
        Value::Real(value) => value,
        Value::Bool(value) => f64::from(u8::from(value)),
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
