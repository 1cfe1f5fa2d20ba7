//! Functions as code.

use super::code::{Instruction, Op, Register};
use super::expressions::{NONE, Registers, Scope};
use super::watches::Sampler;
use super::{Level, TableSource};
use crate::expr::{ExprId, Function};

impl Registers<'_> {
    pub(super) fn call(
        &mut self,
        scope: &mut Scope,
        id: ExprId,
        function: Function,
        args: &[ExprId],
    ) -> Register {
        use Function::*;
        if matches!(function, Sign | Floor | Ceil)
            && let Some(held) = self.watched(id)
        {
            return held;
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
            // These are leaves in the flat model.
            Der | Der2 | New | Init | Pre => return NONE,
        };
        let a = of(self, scope, 0);
        self.emit(scope, op, a, a, a)
    }

    /// x - floor(x/y)*y, where the whole number is kept between events.
    fn modulo(&mut self, scope: &mut Scope, id: ExprId, x: Register, y: Register) -> Register {
        let whole = match self.watched(id) {
            Some(held) => held,
            None => {
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
            timed: self.moving.is_timed(args[0]).then_some(args[0]),
            argument: NONE,
        };
        let tables = &mut self.tables;
        let at = *(self.table_of.entry(source)).or_insert_with_key(|source| {
            tables.push(source.clone());
            tables.len() - 1
        });
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
        // The points of a table are read after the code that runs once, so a table cannot be part of that code.
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
}
