//! The order of evaluation of an R-field, as numbers: its sums and laws taken from the field, and evaluated by a walk that shares
//! no code with the compiler.

use bgm::bond::fields::Fields;
use bgm::bond::fields::resistive::{Port, RField, Step};
use bgm::bond::fields::transfer::Var;
use bgm::bond::graph::Quantity;
use bgm::bond::net::Gives;
use bgm::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use bgm::flat::{Leaf, VarId};
use nalgebra::{DMatrix, DVector};

/// A value and how fast it changes.
#[derive(Clone, Copy, Debug)]
struct Dual(f64, f64);

/// A law, read from the arena once.
#[derive(Clone, Debug)]
enum Tree {
    Number(f64),
    /// What a port takes, with its sign.
    Takes(usize, f64),
    Unary(Function, Box<Tree>),
    Binary(BinaryOp, Box<Tree>, Box<Tree>),
    If(Box<Tree>, Box<Tree>, Box<Tree>),
}

/// A port of a resistor: what it gives from what ports take, and what it takes from what ports give.
#[derive(Debug)]
pub struct Line {
    pub port: Port,
    law: Option<Tree>,
    /// Ports whose input the law reads.
    reads: Vec<usize>,
    pub sum: Vec<(usize, f64)>,
    pub constant: f64,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Law(usize),
    Sum(usize),
}

/// The ports of a field, and the order in which its sequence visits them.
#[derive(Debug)]
pub struct Sequence {
    pub lines: Vec<Line>,
    order: Vec<Op>,
    pub guessed: Vec<usize>,
}

/// What is known of a model: the values of its variables, and of what comes from outside the field.
pub struct Known<'k> {
    pub fields: &'k Fields,
    pub variable: &'k dyn Fn(VarId) -> f64,
    pub time: f64,
}

impl Known<'_> {
    pub fn quantity(&self, quantity: &Quantity) -> Option<f64> {
        let terms = quantity.0.as_ref()?;
        let value = |&(negative, id): &(bool, VarId)| match negative {
            true => -(self.variable)(id),
            false => (self.variable)(id),
        };
        Some(terms.iter().map(value).sum())
    }

    pub fn var(&self, var: Var) -> Option<f64> {
        let bond = self.fields.view.graph.bond(var.bond);
        self.quantity(match var.is {
            Gives::Effort => &bond.effort,
            Gives::Flow => &bond.flow,
        })
    }

    fn tree(&self, id: ExprId, leaf: &dyn Fn(Leaf) -> Option<Tree>) -> Option<Tree> {
        let of = |id| self.tree(id, leaf).map(Box::new);
        let exprs = &self.fields.flat.exprs;
        Some(match exprs.node(id) {
            Node::Number(value) => Tree::Number(value.0),
            Node::Time => Tree::Number(self.time),
            Node::Leaf(which) => leaf(which)?,
            Node::Unary(UnaryOp::Minus, a) => {
                Tree::Binary(BinaryOp::Sub, Box::new(Tree::Number(0.0)), of(a)?)
            }
            Node::Binary(op, a, b) => Tree::Binary(op, of(a)?, of(b)?),
            Node::If(c, a, b) => Tree::If(of(c)?, of(a)?, of(b)?),
            Node::Call(function, args) => match exprs.args(args) {
                [one] => Tree::Unary(function, of(*one)?),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// A coefficient of a sum.
    pub fn coefficient(&self, id: ExprId) -> f64 {
        let leaf = |leaf: Leaf| Some(Tree::Number((self.variable)(leaf.variable())));
        let tree = self.tree(id, &leaf).expect("a coefficient is a formula");
        tree.value(&[], None).0
    }
}

impl Tree {
    /// The value, and the rate with what one port takes.
    fn value(&self, takes: &[f64], by: Option<usize>) -> Dual {
        let of = |tree: &Tree| tree.value(takes, by);
        match self {
            Tree::Number(value) => Dual(*value, 0.0),
            Tree::Takes(port, sign) => {
                let rate = if by == Some(*port) { *sign } else { 0.0 };
                Dual(sign * takes[*port], rate)
            }
            Tree::Unary(function, a) => {
                let Dual(a, rate) = of(a);
                let (value, slope) = match function {
                    Function::Exp => (a.exp(), a.exp()),
                    Function::Sinh => (a.sinh(), a.cosh()),
                    Function::Sign => (a.signum(), 0.0),
                    Function::Ln => (a.ln(), 1.0 / a),
                    Function::Atan => (a.atan(), 1.0 / (1.0 + a * a)),
                    Function::Tanh => (a.tanh(), 1.0 - a.tanh() * a.tanh()),
                    Function::Abs => (a.abs(), a.signum()),
                    Function::Sqrt => (a.sqrt(), 0.5 / a.sqrt()),
                    Function::Sin => (a.sin(), a.cos()),
                    Function::Cos => (a.cos(), -a.sin()),
                    other => panic!("{other:?} is in no law of a test"),
                };
                Dual(value, slope * rate)
            }
            Tree::Binary(op, a, b) => {
                let (Dual(a, da), Dual(b, db)) = (of(a), of(b));
                let truth = |holds: bool| Dual(f64::from(u8::from(holds)), 0.0);
                match op {
                    BinaryOp::Add => Dual(a + b, da + db),
                    BinaryOp::Sub => Dual(a - b, da - db),
                    BinaryOp::Mul => Dual(a * b, a * db + da * b),
                    BinaryOp::Div => Dual(a / b, (da - a / b * db) / b),
                    BinaryOp::Pow => Dual(a.powf(b), b * a.powf(b - 1.0) * da),
                    BinaryOp::Less => truth(a < b),
                    BinaryOp::LessEqual => truth(a <= b),
                    BinaryOp::Greater => truth(a > b),
                    BinaryOp::GreaterEqual => truth(a >= b),
                    other => panic!("{other:?} is in no law of a test"),
                }
            }
            Tree::If(condition, a, b) => match of(condition).0 != 0.0 {
                true => of(a),
                false => of(b),
            },
        }
    }
}

impl Sequence {
    /// `None` where a field has no sequence.
    pub fn new(known: &Known<'_>, field: &RField) -> Option<Sequence> {
        let steps = field.sequence.as_ref().ok()?;
        let graph = &known.fields.view.graph;
        let ports: Vec<(Port, Gives)> = (field.r.iter().map(|&port| (port, Gives::Effort)))
            .chain(field.g.iter().map(|&port| (port, Gives::Flow)))
            .collect();
        let at_bond = |bond| ports.iter().position(|(port, _)| port.bond == bond);
        let mut lines: Vec<Line> = (ports.iter())
            .map(|&(port, gives)| {
                let law = law(known, &ports, port, gives);
                let reads = (0..ports.len()).filter(|&at| ports[at].0.node == port.node);
                Line {
                    reads: reads.collect(),
                    port,
                    law,
                    sum: Vec::new(),
                    constant: 0.0,
                }
            })
            .collect();
        let mut order = Vec::new();
        for step in steps {
            match step {
                Step::Law { node, port } => {
                    let bond = graph.node(*node).element()?.ports[*port];
                    order.push(Op::Law(at_bond(bond)?));
                }
                Step::Sum { var, sum } => {
                    let at = at_bond(var.bond)?;
                    order.push(Op::Sum(at));
                    for &(part, coefficient) in sum {
                        let factor = known.coefficient(coefficient);
                        match at_bond(part.bond) {
                            Some(from) => lines[at].sum.push((from, factor)),
                            None => lines[at].constant += factor * known.var(part)?,
                        }
                    }
                }
            }
        }
        let guessed: Option<Vec<usize>> = (field.iteration.iter())
            .map(|var| at_bond(var.bond))
            .collect();
        Some(Sequence {
            lines,
            order,
            guessed: guessed?,
        })
    }

    /// All laws are formulas.
    pub fn is_explicit(&self) -> bool {
        self.lines.iter().all(|line| line.law.is_some())
    }

    /// What a port gives; `rate` is told how that changes with what the ports of its element take.
    fn law(&self, at: usize, takes: &[f64], mut rate: impl FnMut(usize, f64)) -> f64 {
        let line = &self.lines[at];
        let law = line.law.as_ref().expect("the laws are formulas");
        let mut value = 0.0;
        for &by in &line.reads {
            let found = law.value(takes, Some(by));
            value = found.0;
            rate(by, found.1);
        }
        value
    }

    /// From a guess to the new values of what was guessed, with their derivatives by the guess; all inputs are left in `takes`.
    pub fn pass(&self, guess: &[f64], takes: &mut [f64]) -> (DVector<f64>, DMatrix<f64>) {
        let (count, width) = (self.lines.len(), guess.len());
        let mut gives = vec![0.0; count];
        // By port: the derivatives of what it takes and gives.
        let mut of_takes = vec![0.0; count * width];
        let mut of_gives = vec![0.0; count * width];
        let of = |at: usize| at * width..(at + 1) * width;
        for (column, (&at, &value)) in self.guessed.iter().zip(guess).enumerate() {
            takes[at] = value;
            of_takes[of(at)][column] = 1.0;
        }
        let mut new = DVector::zeros(width);
        let mut matrix = DMatrix::zeros(width, width);
        let mut row = vec![0.0; width];
        for &op in &self.order {
            match op {
                Op::Law(at) => {
                    let to = &mut of_gives[of(at)];
                    gives[at] = self.law(at, takes, |by, rate| {
                        for (to, from) in to.iter_mut().zip(&of_takes[of(by)]) {
                            *to += rate * from;
                        }
                    });
                }
                Op::Sum(at) => {
                    let line = &self.lines[at];
                    let mut value = line.constant;
                    row.fill(0.0);
                    for &(from, factor) in &line.sum {
                        value += factor * gives[from];
                        for (to, from) in row.iter_mut().zip(&of_gives[of(from)]) {
                            *to += factor * from;
                        }
                    }
                    match self.guessed.iter().position(|&one| one == at) {
                        Some(column) => {
                            new[column] = value;
                            for (at, rate) in row.iter().enumerate() {
                                matrix[(column, at)] = *rate;
                            }
                        }
                        None => {
                            takes[at] = value;
                            of_takes[of(at)].copy_from_slice(&row);
                        }
                    }
                }
            }
        }
        (new, matrix)
    }

    /// Newton's method on the last equations of the sequence: the inputs of all ports, and how many steps it took.
    pub fn newton(&self, start: f64, tolerance: f64, most: usize) -> Option<(Vec<f64>, usize)> {
        let mut guess = vec![start; self.guessed.len()];
        let mut takes = vec![start; self.lines.len()];
        for steps in 0..=most {
            let (new, rates) = self.pass(&guess, &mut takes);
            let residual = DVector::from_fn(guess.len(), |at, _| guess[at] - new[at]);
            if !residual.iter().all(|one| one.is_finite()) {
                return None;
            }
            if within(&residual, &guess, tolerance) {
                return Some((takes, steps));
            }
            let matrix = DMatrix::identity(guess.len(), guess.len()) - rates;
            let change = matrix.lu().solve(&residual)?;
            for (value, change) in guess.iter_mut().zip(change.iter()) {
                *value -= change;
            }
        }
        None
    }

    /// The same on all inputs together, for the ports of several fields at once.
    pub fn newton_on_all(
        fields: &[Sequence],
        start: f64,
        tolerance: f64,
        most: usize,
    ) -> Option<(Vec<f64>, usize)> {
        let count: usize = fields.iter().map(|one| one.lines.len()).sum();
        let mut takes = vec![start; count];
        for steps in 0..=most {
            let mut residual = DVector::zeros(count);
            let mut matrix = DMatrix::identity(count, count);
            let mut first = 0;
            for field in fields {
                let own = &takes[first..first + field.lines.len()];
                let mut rates: Vec<(usize, f64)> = Vec::with_capacity(own.len());
                let mut laws: Vec<(f64, usize, usize)> = Vec::with_capacity(own.len());
                for at in 0..own.len() {
                    let before = rates.len();
                    let value = field.law(at, own, |by, rate| rates.push((by, rate)));
                    laws.push((value, before, rates.len()));
                }
                for (at, line) in field.lines.iter().enumerate() {
                    let mut value = line.constant;
                    for &(from, factor) in &line.sum {
                        let (gives, first_rate, last_rate) = laws[from];
                        value += factor * gives;
                        for &(by, rate) in &rates[first_rate..last_rate] {
                            matrix[(first + at, first + by)] -= factor * rate;
                        }
                    }
                    residual[first + at] = own[at] - value;
                }
                first += own.len();
            }
            if !residual.iter().all(|one| one.is_finite()) {
                return None;
            }
            if within(&residual, &takes, tolerance) {
                return Some((takes, steps));
            }
            let change = matrix.lu().solve(&residual)?;
            for (value, change) in takes.iter_mut().zip(change.iter()) {
                *value -= change;
            }
        }
        None
    }
}

/// A residual is small beside what it is a residual of.
fn within(residual: &DVector<f64>, values: &[f64], tolerance: f64) -> bool {
    let size = values
        .iter()
        .fold(1.0, |most: f64, one| most.max(one.abs()));
    residual.iter().all(|one| one.abs() <= tolerance * size)
}

/// What a port gives, by the equations of its element in the form that the field has it in.
fn law(known: &Known<'_>, ports: &[(Port, Gives)], port: Port, gives: Gives) -> Option<Tree> {
    let element = known.fields.view.graph.node(port.node).element()?;
    // Ports outside the field have known inputs; their forms are those that the vectors tell.
    let all = &known.fields.vectors;
    let given: Option<Vec<Gives>> = (element.ports.iter())
        .map(|&bond| {
            let mut entries = all.implicit.iter().chain(&all.explicit);
            let entry = entries.find(|entry| entry.gives.bond == bond)?;
            Some(entry.gives.is)
        })
        .collect();
    let given = given?;
    let form = element.forms.iter().find(|form| form.gives == given)?;
    // What each port takes, by its variables.
    let mut inputs: Vec<(VarId, Tree)> = Vec::new();
    for (at, &(other, is)) in ports.iter().enumerate() {
        if other.node != port.node {
            continue;
        }
        let quantity = &element.quantities[other.port][usize::from(is == Gives::Effort)];
        let terms = quantity.0.as_deref()?;
        for (place, &(negative, id)) in terms.iter().enumerate() {
            // A sum is given by its first term, the others are zero: only the sum matters.
            let sign = if negative { -1.0 } else { 1.0 };
            let tree = match place {
                0 => Tree::Takes(at, sign),
                _ => Tree::Number(0.0),
            };
            inputs.push((id, tree));
        }
    }
    let quantity = &element.quantities[port.port][usize::from(gives == Gives::Flow)];
    let mut total: Option<Tree> = None;
    for &(negative, id) in quantity.0.as_deref()? {
        let term = variable(known, form, &inputs, id, 0)?;
        let op = if negative {
            BinaryOp::Sub
        } else {
            BinaryOp::Add
        };
        total = Some(match total {
            None if !negative => term,
            before => {
                let before = before.unwrap_or(Tree::Number(0.0));
                Tree::Binary(op, Box::new(before), Box::new(term))
            }
        });
    }
    total
}

fn variable(
    known: &Known<'_>,
    form: &bgm::bond::graph::Form,
    inputs: &[(VarId, Tree)],
    id: VarId,
    depth: usize,
) -> Option<Tree> {
    if let Some((_, tree)) = inputs.iter().find(|(input, _)| *input == id) {
        return Some(tree.clone());
    }
    let assigned = (form.assignments.iter()).find(|one| one.target == Leaf::Var(id));
    let Some(assigned) = assigned else {
        return Some(Tree::Number((known.variable)(id)));
    };
    if depth > 20 {
        return None;
    }
    let leaf = |leaf: Leaf| variable(known, form, inputs, leaf.variable(), depth + 1);
    known.tree(assigned.value?, &leaf)
}
