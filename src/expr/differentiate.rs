//! Exact derivatives of expressions.
//!
//! Before: an expression, and what the derivative of each leaf is. After: its derivative in the same
//! arena, or `None` where that is zero everywhere: constants cost nothing, and no rule about zero is
//! relied on. Each node of the expression is visited once, so the cost is that of the shared
//! expression and not of its tree.
//!
//! Conditions are kept: the derivative of an `if` is that of the branch that holds. What jumps
//! (`sign`, `floor`, `ceil`, the steps of `mod`) has the derivative that it has beside the jump. At a
//! kink the derivative is one-sided (`min`, `max`, `table`) or the mean (`abs`).

use rustc_hash::FxHashMap;

use super::{Arena, Args, BinaryOp, ExprId, Function, Leaf, Node, UnaryOp};

/// A derivative; `None` stands for zero.
type Rate = Option<ExprId>;

impl<L: Leaf> Arena<L> {
    /// The partial derivative with respect to a leaf.
    pub fn partial(&mut self, root: ExprId, by: L) -> Rate {
        let one = self.number(1.0);
        self.differentiate(root, None, |_, leaf| (leaf == by).then_some(one))
    }

    /// The derivative with respect to time, from those of Time and of the leaves; `None` stands for zero.
    pub fn differentiate(
        &mut self,
        root: ExprId,
        time: Rate,
        mut leaf: impl FnMut(&mut Self, L) -> Rate,
    ) -> Rate {
        let known = FxHashMap::default();
        let mut rules = Rules { arena: self, known };
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if rules.known.contains_key(&id) {
                work.pop();
                continue;
            }
            let before = work.len();
            rules.push_operands(id, &mut work);
            if work.len() > before {
                continue;
            }
            work.pop();
            let rate = match rules.arena.node(id) {
                Node::Time => time,
                Node::Leaf(which) => leaf(rules.arena, which),
                _ => rules.rate(id),
            };
            let rate = rate.filter(|&rate| !rules.is_zero(rate));
            rules.known.insert(id, rate);
        }
        rules.of(root)
    }
}

struct Rules<'a, L> {
    arena: &'a mut Arena<L>,
    /// The nodes whose derivatives are known.
    known: FxHashMap<ExprId, Rate>,
}

impl<L: Leaf> Rules<'_, L> {
    fn of(&self, id: ExprId) -> Rate {
        self.known.get(&id).copied().flatten()
    }

    /// Pushes the operands whose derivatives are needed and not known yet. Conditions need none.
    fn push_operands(&self, id: ExprId, work: &mut Vec<ExprId>) {
        let wanted = |id: &ExprId| !self.known.contains_key(id);
        match self.arena.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
            Node::Unary(_, a) => work.extend(Some(a).filter(wanted)),
            Node::Binary(_, a, b) | Node::If(_, a, b) => {
                work.extend([a, b].into_iter().filter(wanted));
            }
            Node::Call(_, args) | Node::List(args) => {
                work.extend(self.arena.args(args).iter().copied().filter(wanted));
            }
        }
    }

    fn is_zero(&self, id: ExprId) -> bool {
        matches!(self.arena.node(id), Node::Number(value) if value.0 == 0.0)
    }

    /// The derivative of a node whose operands have known derivatives.
    fn rate(&mut self, id: ExprId) -> Rate {
        match self.arena.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) | Node::List(_) => None,
            Node::Unary(UnaryOp::Minus, a) => self.of(a).map(|da| self.arena.tidy_minus(da)),
            Node::Unary(UnaryOp::Plus, a) => self.of(a),
            Node::Unary(UnaryOp::Not, _) => None,
            Node::Binary(op, a, b) => self.rate_of_binary(id, op, (a, self.of(a)), (b, self.of(b))),
            Node::If(condition, a, b) => self.either(condition, self.of(a), self.of(b)),
            Node::Call(function, args) => self.rate_of_call(id, function, args),
        }
    }

    fn rate_of_binary(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        (a, da): (ExprId, Rate),
        (b, db): (ExprId, Rate),
    ) -> Rate {
        match op {
            BinaryOp::Add => self.plus(da, db),
            BinaryOp::Sub => self.less(da, db),
            BinaryOp::Mul => {
                let first = self.times(b, da);
                let second = self.times(a, db);
                self.plus(first, second)
            }
            // (a' - (a/b)*b')/b, where the quotient a/b exists already.
            BinaryOp::Div => {
                let second = self.times(id, db);
                self.less(da, second)
                    .map(|rate| self.arena.tidy_binary(BinaryOp::Div, rate, b))
            }
            BinaryOp::Pow => {
                let first = da.and_then(|da| self.rate_of_base(a, b, da));
                let second = db.and_then(|db| self.rate_of_exponent(id, a, db));
                self.plus(first, second)
            }
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => None,
        }
    }

    /// b*a**(b - 1)*a'
    fn rate_of_base(&mut self, a: ExprId, b: ExprId, da: ExprId) -> Rate {
        let power = match self.literal(b) {
            Some(0.0) => return None,
            Some(1.0) => return Some(da),
            Some(2.0) => a,
            Some(value) => {
                let less = self.signed(value - 1.0);
                self.arena.binary(BinaryOp::Pow, a, less)
            }
            None => {
                let one = self.arena.number(1.0);
                let less = self.arena.tidy_binary(BinaryOp::Sub, b, one);
                self.arena.binary(BinaryOp::Pow, a, less)
            }
        };
        let slope = self.arena.tidy_binary(BinaryOp::Mul, b, power);
        self.times(slope, Some(da))
    }

    /// a**b*ln(a)*b'. It tends to 0 with a, where ln(a) has no value.
    fn rate_of_exponent(&mut self, id: ExprId, a: ExprId, db: ExprId) -> Rate {
        let logarithm = self.arena.call(Function::Ln, &[a]);
        let mut slope = self.arena.tidy_binary(BinaryOp::Mul, id, logarithm);
        if self.literal(a).is_none_or(|value| value == 0.0) {
            let zero = self.arena.number(0.0);
            let vanishes = self.arena.binary(BinaryOp::Equal, a, zero);
            slope = self.arena.if_else(vanishes, zero, slope);
        }
        self.times(slope, Some(db))
    }

    fn rate_of_call(&mut self, id: ExprId, function: Function, args: Args) -> Rate {
        use Function::*;
        let args: Vec<ExprId> = self.arena.args(args).to_vec();
        let a = *args.first()?;
        match function {
            Sign | Floor | Ceil | Sample | Der | Der2 | New | Init | Pre => return None,
            Min | Max => return self.rate_of_extreme(function, &args),
            Table => return self.rate_of_table(&args),
            _ => {}
        }
        if let Some(&b) = args.get(1) {
            let (da, db) = (self.of(a), self.of(b));
            return match function {
                // (b*a' - a*b')/(a**2 + b**2)
                Atan2 => {
                    let (first, second) = (self.times(b, da), self.times(a, db));
                    let rate = self.less(first, second)?;
                    let (a, b) = (self.squared(a), self.squared(b));
                    let sum = self.arena.binary(BinaryOp::Add, a, b);
                    Some(self.arena.tidy_binary(BinaryOp::Div, rate, sum))
                }
                // a - floor(a/b)*b
                Mod => {
                    let quotient = self.arena.tidy_binary(BinaryOp::Div, a, b);
                    let turns = self.arena.call(Floor, &[quotient]);
                    let second = self.times(turns, db);
                    self.less(da, second)
                }
                _ => None,
            };
        }
        let da = self.of(a)?;
        self.rate_of_function(id, function, a, da)
    }

    /// Functions of one argument; `id` is the value of the function itself.
    fn rate_of_function(&mut self, id: ExprId, function: Function, a: ExprId, da: ExprId) -> Rate {
        use Function::*;
        let divided =
            |rules: &mut Self, by: ExprId| Some(rules.arena.tidy_binary(BinaryOp::Div, da, by));
        let one = self.arena.number(1.0);
        match function {
            Sin => {
                let slope = self.arena.call(Cos, &[a]);
                self.times(slope, Some(da))
            }
            Cos => {
                let slope = self.arena.call(Sin, &[a]);
                let slope = self.arena.tidy_minus(slope);
                self.times(slope, Some(da))
            }
            Tan => {
                let square = self.squared(id);
                let slope = self.arena.binary(BinaryOp::Add, one, square);
                self.times(slope, Some(da))
            }
            Asin | Acos => {
                let square = self.squared(a);
                let inside = self.arena.binary(BinaryOp::Sub, one, square);
                let root = self.arena.call(Sqrt, &[inside]);
                let rate = self.arena.tidy_binary(BinaryOp::Div, da, root);
                Some(match function {
                    Asin => rate,
                    _ => self.arena.tidy_minus(rate),
                })
            }
            Atan => {
                let square = self.squared(a);
                let below = self.arena.binary(BinaryOp::Add, one, square);
                divided(self, below)
            }
            Sinh => {
                let slope = self.arena.call(Cosh, &[a]);
                self.times(slope, Some(da))
            }
            Cosh => {
                let slope = self.arena.call(Sinh, &[a]);
                self.times(slope, Some(da))
            }
            Tanh => {
                let square = self.squared(id);
                let slope = self.arena.binary(BinaryOp::Sub, one, square);
                self.times(slope, Some(da))
            }
            Exp => self.times(id, Some(da)),
            Ln => divided(self, a),
            Log10 => {
                let ten = self.arena.number(10.0);
                let logarithm = self.arena.call(Ln, &[ten]);
                let below = self.arena.tidy_binary(BinaryOp::Mul, a, logarithm);
                divided(self, below)
            }
            Sqrt => {
                let two = self.arena.number(2.0);
                let below = self.arena.tidy_binary(BinaryOp::Mul, two, id);
                divided(self, below)
            }
            Abs => {
                let slope = self.arena.call(Sign, &[a]);
                self.times(slope, Some(da))
            }
            _ => None,
        }
    }

    /// min(a, b) has the derivative of a if a <= b, else that of b. More arguments are taken one after the other.
    fn rate_of_extreme(&mut self, function: Function, args: &[ExprId]) -> Rate {
        let (&first, others) = args.split_first()?;
        let op = match function {
            Function::Min => BinaryOp::LessEqual,
            _ => BinaryOp::GreaterEqual,
        };
        let (mut best, mut rate) = (first, self.of(first));
        for &other in others {
            let stays = self.arena.binary(op, best, other);
            rate = self.either(stays, rate, self.of(other));
            best = self.arena.call(function, &[best, other]);
        }
        rate
    }

    /// A balanced tree of `if`s over the intervals of the table; within each interval the slope is constant.
    fn rate_of_table(&mut self, args: &[ExprId]) -> Rate {
        let &[x, xs, ys] = args else {
            return None;
        };
        let (Node::List(xs), Node::List(ys)) = (self.arena.node(xs), self.arena.node(ys)) else {
            return None;
        };
        let (xs, ys) = (self.arena.args(xs).to_vec(), self.arena.args(ys).to_vec());
        let (&first, &last) = (ys.first()?, ys.last()?);
        // Each interval with its lower end. Beyond the ends of the table the value is constant.
        let mut parts = vec![(x, self.of(first))];
        for at in 1..xs.len().min(ys.len()) {
            let ends = [(xs[at - 1], ys[at - 1]), (xs[at], ys[at])];
            parts.push((xs[at - 1], self.rate_of_interval(x, ends)));
        }
        parts.push((*xs.last()?, self.of(last)));
        while parts.len() > 1 {
            parts = (parts.chunks(2))
                .map(|pair| match *pair {
                    [(begin, before), (bound, after)] => {
                        let is_before = self.arena.binary(BinaryOp::Less, x, bound);
                        (begin, self.either(is_before, before, after))
                    }
                    _ => pair[0],
                })
                .collect();
        }
        parts[0].1
    }

    /// With t = (x - x0)/(x1 - x0) and the slope s = (y1 - y0)/(x1 - x0):
    /// s*(x' - x0'*(1 - t) - x1'*t) + y0'*(1 - t) + y1'*t. Points are constant as a rule: s*x'.
    fn rate_of_interval(&mut self, x: ExprId, [(x0, y0), (x1, y1)]: [(ExprId, ExprId); 2]) -> Rate {
        let numbers = [x0, y0, x1, y1].map(|id| self.literal(id));
        let width = self.arena.tidy_binary(BinaryOp::Sub, x1, x0);
        let slope = match numbers {
            // The table jumps here, and no x lies inside the interval.
            [Some(x0), _, Some(x1), _] if x0 == x1 => return None,
            [Some(x0), Some(y0), Some(x1), Some(y1)] => self.signed((y1 - y0) / (x1 - x0)),
            _ => {
                let rise = self.arena.tidy_binary(BinaryOp::Sub, y1, y0);
                self.arena.tidy_binary(BinaryOp::Div, rise, width)
            }
        };
        let moving = [x0, x1, y0, y1].iter().any(|&id| self.of(id).is_some());
        let (mut along, mut raised) = (self.of(x), None);
        if moving {
            let one = self.arena.number(1.0);
            let from = self.arena.tidy_binary(BinaryOp::Sub, x, x0);
            let done = self.arena.tidy_binary(BinaryOp::Div, from, width);
            let left = self.arena.tidy_binary(BinaryOp::Sub, one, done);
            let mut between = |low: ExprId, high: ExprId| {
                let (low, high) = (self.of(low), self.of(high));
                let (low, high) = (self.times(left, low), self.times(done, high));
                self.plus(low, high)
            };
            let moved = between(x0, x1);
            raised = between(y0, y1);
            along = self.less(along, moved);
        }
        let along = along.filter(|_| !self.is_zero(slope));
        let along = self.times(slope, along);
        self.plus(along, raised)
    }

    fn plus(&mut self, a: Rate, b: Rate) -> Rate {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.arena.tidy_binary(BinaryOp::Add, a, b)),
            _ => a.or(b),
        }
    }

    fn less(&mut self, a: Rate, b: Rate) -> Rate {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.arena.tidy_binary(BinaryOp::Sub, a, b)),
            (None, Some(b)) => Some(self.arena.tidy_minus(b)),
            _ => a,
        }
    }

    fn times(&mut self, factor: ExprId, rate: Rate) -> Rate {
        rate.map(|rate| self.arena.product(factor, rate))
    }

    fn either(&mut self, condition: ExprId, a: Rate, b: Rate) -> Rate {
        if a == b {
            return a;
        }
        let zero = self.arena.number(0.0);
        Some(
            self.arena
                .if_else(condition, a.unwrap_or(zero), b.unwrap_or(zero)),
        )
    }

    fn squared(&mut self, a: ExprId) -> ExprId {
        let two = self.arena.number(2.0);
        self.arena.binary(BinaryOp::Pow, a, two)
    }

    /// A number, or a number with a sign.
    fn literal(&self, id: ExprId) -> Option<f64> {
        match self.arena.node(id) {
            Node::Number(value) => Some(value.0),
            Node::Unary(UnaryOp::Minus, a) => match self.arena.node(a) {
                Node::Number(value) => Some(-value.0),
                _ => None,
            },
            _ => None,
        }
    }

    /// A number whose sign is a negation, as in the source.
    fn signed(&mut self, value: f64) -> ExprId {
        let number = self.arena.number(value.abs());
        match value < 0.0 {
            true => self.arena.tidy_minus(number),
            false => number,
        }
    }
}
