//! Infers which variables are real and which boolean, and checks what can be checked only on the
//! flat model.
//!
//! Before: a flat model in which all variables count as real. After: every variable has its type,
//! and no expression mixes the two; discrete variables are set in one place; tables ascend.
//!
//! Both sides of `=` and `==`, the branches of `if`, and coupled variables have the same type.
//! Expressions of the same type are joined into one set (union-find over expressions), and a set
//! remembers where its type came from.

use crate::base::cancel::glance;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Span;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{EquationKind, Flat, Kind, Leaf, Type, VarId};

/// The type of a set, and the place that determines it.
type Known = Option<(Type, Span)>;

struct Inference<'f> {
    flat: &'f Flat,
    /// Sets of expressions. The leaves of one variable share its set, whose number follows those of
    /// the expressions.
    parents: Vec<u32>,
    known: Vec<Known>,
    visited: Vec<bool>,
    diagnostics: &'f mut Diagnostics,
}

/// Gives every variable its type; reports clashes.
pub fn infer(flat: &mut Flat, diagnostics: &mut Diagnostics) {
    let count = flat.exprs.len() + flat.variables.len();
    let mut inference = Inference {
        flat,
        parents: (0..count as u32).collect(),
        known: vec![None; count],
        visited: vec![false; flat.exprs.len()],
        diagnostics,
    };
    inference.run();
    let types: Vec<Type> = flat
        .variable_ids()
        .map(|id| inference.type_of(id))
        .collect();
    check_starts(flat, &types, diagnostics);
    for (variable, ty) in flat.variables.iter_mut().zip(types) {
        variable.ty = ty;
    }
    check_discrete(flat, diagnostics);
    check_fixed(flat, diagnostics);
    check_tables(flat, diagnostics);
}

impl Inference<'_> {
    fn run(&mut self) {
        let flat = self.flat;
        for given in &flat.values {
            self.visit(given.expression, given.span);
            self.fix_variable(given.variable, value_type(given.value), given.span);
        }
        for equation in &flat.equations {
            self.visit(equation.left, equation.span);
            self.visit(equation.right, equation.span);
            self.same(equation.left.0, equation.right.0, equation.span);
        }
        for when in &flat.whens {
            for &(condition, span) in &when.conditions {
                self.visit(condition, span);
                self.fix(condition.0, Type::Boolean, span);
            }
        }
    }

    fn type_of(&mut self, id: VarId) -> Type {
        let set = self.find(self.variable_set(id));
        self.known[set as usize].map_or(Type::Real, |(ty, _)| ty)
    }

    fn variable_set(&self, id: VarId) -> u32 {
        self.flat.exprs.len() as u32 + id.0
    }

    fn find(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    fn same(&mut self, a: u32, b: u32, span: Span) {
        // Equal literals are one expression, but the expressions that they are compared with need
        // not have the same type.
        match (self.literal(a), self.literal(b)) {
            (_, Some(ty)) => return self.fix(a, ty, span),
            (Some(ty), None) => return self.fix(b, ty, span),
            (None, None) => {}
        }
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let (root, other) = (a.min(b), a.max(b));
        let known = match (self.known[root as usize], self.known[other as usize]) {
            (Some((x, first)), Some((y, second))) if x != y => {
                let of_root = self.name_in(root).map(|name| (name, x, y));
                let named = of_root.or_else(|| Some((self.name_in(other)?, y, x)));
                let message = match named {
                    Some((name, own, met)) => {
                        format!("`{name}` is {} and meets {}", own.text(), with_article(met))
                    }
                    None => "a real and a boolean meet".to_string(),
                };
                self.clash(message, span, [(x, first), (y, second)]);
                Some((x, first))
            }
            (x, y) => x.or(y),
        };
        self.parents[other as usize] = root;
        self.known[root as usize] = known;
    }

    fn node(&self, at: u32) -> Option<Node<Leaf>> {
        ((at as usize) < self.flat.exprs.len()).then(|| self.flat.exprs.node(ExprId(at)))
    }

    fn literal(&self, at: u32) -> Option<Type> {
        match self.node(at)? {
            Node::Number(_) | Node::Time => Some(Type::Real),
            Node::Bool(_) => Some(Type::Boolean),
            _ => None,
        }
    }

    fn fix(&mut self, at: u32, ty: Type, span: Span) {
        if let Some(own) = self.literal(at) {
            if own != ty {
                let (own_text, text) = (with_article(own), with_article(ty));
                let message = format!("{own_text} where {text} is wanted");
                self.clash(message, span, [(own, span), (ty, span)]);
            }
            return;
        }
        let set = self.find(at);
        match self.known[set as usize] {
            None => self.known[set as usize] = Some((ty, span)),
            Some((known, first)) if known != ty => {
                let name = match self.node(at) {
                    Some(Node::Leaf(leaf)) => Some(self.flat.name(leaf.variable())),
                    _ => self.name_in(set),
                };
                let message = match name {
                    Some(name) => {
                        format!("`{name}` is used as {} and as {}", ty.text(), known.text())
                    }
                    None => {
                        let (known, ty) = (with_article(known), with_article(ty));
                        format!("{known} where {ty} is wanted")
                    }
                };
                self.clash(message, span, [(known, first), (ty, span)]);
            }
            Some(_) => {}
        }
    }

    fn fix_variable(&mut self, id: VarId, ty: Type, span: Span) {
        self.fix(self.variable_set(id), ty, span);
    }

    /// The name of a variable of this set. It is searched for only while there are few errors.
    fn name_in(&mut self, set: u32) -> Option<String> {
        const MOST: usize = 20;
        if self.diagnostics.errors() > MOST {
            return None;
        }
        let ids = self.flat.variable_ids();
        let found = { ids }.find(|&id| self.find(self.variable_set(id)) == set)?;
        Some(self.flat.name(found))
    }

    fn clash(&mut self, message: String, span: Span, uses: [(Type, Span); 2]) {
        let mut diagnostic = Diagnostic::new(Code::TypeClash, message);
        // The equation at hand first, then the use it contradicts.
        let here: Vec<_> = uses.iter().filter(|(_, place)| *place == span).collect();
        let text = match here[..] {
            [(ty, _)] => format!("used as {} here", ty.text()),
            _ => "both meet here".to_string(),
        };
        diagnostic = diagnostic.at(span, text);
        for (ty, place) in uses {
            if place != span {
                diagnostic = diagnostic.at(place, format!("used as {} here", ty.text()));
            }
        }
        self.diagnostics.push(diagnostic.hint(
            "`if c then 1 else 0` makes a real of a boolean, a relation like `x > 0` the reverse",
        ));
    }

    /// Adds what an expression determines about its parts. Shared parts are visited once.
    fn visit(&mut self, root: ExprId, span: Span) {
        let flat = self.flat;
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            glance();
            if std::mem::replace(&mut self.visited[id.index()], true) {
                continue;
            }
            let at = id.0;
            match flat.exprs.node(id) {
                Node::Number(_) | Node::Time | Node::Bool(_) => {}
                Node::Leaf(leaf) => {
                    self.same(at, self.variable_set(leaf.variable()), span);
                    if let Leaf::Der(..) = leaf {
                        self.fix(at, Type::Real, span);
                    }
                }
                Node::Unary(op, a) => {
                    let ty = match op {
                        UnaryOp::Not => Type::Boolean,
                        UnaryOp::Minus | UnaryOp::Plus => Type::Real,
                    };
                    self.fix(at, ty, span);
                    self.fix(a.0, ty, span);
                    work.push(a);
                }
                Node::Binary(op, a, b) => {
                    match op {
                        BinaryOp::Or | BinaryOp::And => {
                            for part in [at, a.0, b.0] {
                                self.fix(part, Type::Boolean, span);
                            }
                        }
                        BinaryOp::Equal | BinaryOp::NotEqual => {
                            self.fix(at, Type::Boolean, span);
                            self.same(a.0, b.0, span);
                        }
                        BinaryOp::Less
                        | BinaryOp::LessEqual
                        | BinaryOp::Greater
                        | BinaryOp::GreaterEqual => {
                            self.fix(at, Type::Boolean, span);
                            self.fix(a.0, Type::Real, span);
                            self.fix(b.0, Type::Real, span);
                        }
                        BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::Mul
                        | BinaryOp::Div
                        | BinaryOp::Pow => {
                            for part in [at, a.0, b.0] {
                                self.fix(part, Type::Real, span);
                            }
                        }
                    }
                    work.extend([b, a]);
                }
                Node::If(c, a, b) => {
                    self.fix(c.0, Type::Boolean, span);
                    self.same(at, a.0, span);
                    self.same(at, b.0, span);
                    work.extend([b, a, c]);
                }
                Node::Call(function, args) => {
                    let ty = match function {
                        Function::Sample => Type::Boolean,
                        _ => Type::Real,
                    };
                    self.fix(at, ty, span);
                    for &arg in flat.exprs.args(args) {
                        self.fix(arg.0, Type::Real, span);
                        work.push(arg);
                    }
                }
                Node::List(args) => {
                    self.fix(at, Type::Real, span);
                    for &arg in flat.exprs.args(args) {
                        self.fix(arg.0, Type::Real, span);
                        work.push(arg);
                    }
                }
            }
        }
    }
}

fn with_article(ty: Type) -> &'static str {
    match ty {
        Type::Real => "a real",
        Type::Boolean => "a boolean",
    }
}

fn value_type(value: Value) -> Type {
    match value {
        Value::Real(_) => Type::Real,
        Value::Bool(_) => Type::Boolean,
    }
}

fn check_starts(flat: &Flat, types: &[Type], diagnostics: &mut Diagnostics) {
    for given in &flat.starts {
        let ty = types[given.variable.index()];
        if value_type(given.value) != ty {
            diagnostics.push(
                Diagnostic::new(
                    Code::TypeClash,
                    format!(
                        "`{}` is {}, and its start value {} is not",
                        flat.name(given.variable),
                        ty.text(),
                        given.value
                    ),
                )
                .at(given.span, "given here"),
            );
        }
    }
}

/// A variable has its `new` outside a `when`, or in one `when`, once in each branch.
fn check_discrete(flat: &Flat, diagnostics: &mut Diagnostics) {
    let mut seen: rustc_hash::FxHashMap<VarId, Vec<(EquationKind, Span)>> = Default::default();
    for equation in &flat.equations {
        glance();
        let Node::Leaf(Leaf::New(variable)) = flat.exprs.node(equation.left) else {
            continue;
        };
        if flat.variable(variable).kind == Kind::State {
            diagnostics.push(
                Diagnostic::new(
                    Code::Misplaced,
                    format!(
                        "`{}` is differentiated and cannot be set by `new`",
                        flat.name(variable)
                    ),
                )
                .at(equation.span, "set here")
                .hint("`init(x) = v` in a `when` restarts a state; `new` is for what keeps its value between events"),
            );
        }
        let earlier = seen.entry(variable).or_default();
        let clash = earlier
            .iter()
            .find(|(kind, _)| match (*kind, equation.kind) {
                (EquationKind::When(a, x), EquationKind::When(b, y)) => a != b || x == y,
                _ => true,
            });
        if let Some(&(_, span)) = clash {
            diagnostics.push(
                Diagnostic::new(
                    Code::DefinedTwice,
                    format!("`new({})` is given twice", flat.name(variable)),
                )
                .at(equation.span, "given again here")
                .at(span, "first here")
                .hint("a discrete variable is set outside a `when`, or in the branches of one"),
            );
        }
        if flat.variable(variable).kind == Kind::Input {
            diagnostics.push(
                Diagnostic::new(
                    Code::Misplaced,
                    format!("`{}` is an input and cannot be set", flat.name(variable)),
                )
                .at(equation.span, "set here"),
            );
        }
        earlier.push((equation.kind, equation.span));
    }
}

/// Parameters get their values where they are declared or instantiated, not by equations.
fn check_fixed(flat: &Flat, diagnostics: &mut Diagnostics) {
    let fixed = |side: ExprId| match flat.exprs.node(side) {
        Node::Leaf(Leaf::Var(id))
            if matches!(flat.variable(id).kind, Kind::Parameter | Kind::Constant) =>
        {
            Some(id)
        }
        _ => None,
    };
    for equation in &flat.equations {
        let other_is_known = matches!(
            flat.exprs.node(equation.right),
            Node::Number(_) | Node::Bool(_)
        ) || fixed(equation.right).is_some();
        if equation.kind != EquationKind::Equation || !other_is_known {
            continue;
        }
        if let Some(variable) = fixed(equation.left) {
            let name = flat.name(variable);
            diagnostics.push(
                Diagnostic::new(
                    Code::Misplaced,
                    format!("`{name}` has its value already; an equation cannot set it"),
                )
                .at(equation.span, "nothing is unknown here")
                .hint("give the value with the instance, `submodel (R) R1(R = 100)`, or make it a `terminal`"),
            );
        }
    }
}

/// The first list of a table ascends, at the values that its parameters have.
pub(crate) fn check_tables(flat: &Flat, diagnostics: &mut Diagnostics) {
    for at in 0..flat.exprs.len() as u32 {
        let table = ExprId(at);
        let Node::Call(Function::Table, args) = flat.exprs.node(table) else {
            continue;
        };
        let Node::List(points) = flat.exprs.node(flat.exprs.args(args)[1]) else {
            continue;
        };
        if ascends(flat, flat.exprs.args(points)) {
            continue;
        }
        let mut diagnostic = Diagnostic::new(
            Code::BadTable,
            "the first list of a `table` does not ascend",
        )
        .hint("each point must be larger than the one before");
        let user = (flat.equations.iter()).find(|equation| {
            contains(flat, equation.left, table) || contains(flat, equation.right, table)
        });
        if let Some(equation) = user {
            diagnostic = diagnostic.at(equation.span, "in this equation");
        }
        diagnostics.push(diagnostic);
    }
}

fn contains(flat: &Flat, root: ExprId, wanted: ExprId) -> bool {
    let mut work = vec![root];
    let mut seen: rustc_hash::FxHashSet<ExprId> = Default::default();
    while let Some(id) = work.pop() {
        // Operands have smaller numbers than what they are part of.
        if id == wanted {
            return true;
        }
        if id < wanted || !seen.insert(id) {
            continue;
        }
        match flat.exprs.node(id) {
            Node::Unary(_, a) => work.push(a),
            Node::Binary(_, a, b) => work.extend([a, b]),
            Node::If(a, b, c) => work.extend([a, b, c]),
            Node::Call(_, args) | Node::List(args) => {
                work.extend_from_slice(flat.exprs.args(args));
            }
            Node::Number(_) | Node::Bool(_) | Node::Time | Node::Leaf(_) => {}
        }
    }
    false
}

/// Points that are neither numbers nor parameters are not checked.
fn ascends(flat: &Flat, points: &[ExprId]) -> bool {
    let values: Vec<f64> = points
        .iter()
        .filter_map(|&point| match flat.exprs.node(point) {
            Node::Number(value) => Some(value.0),
            Node::Unary(UnaryOp::Minus, a) => match flat.exprs.node(a) {
                Node::Number(value) => Some(-value.0),
                _ => None,
            },
            Node::Leaf(leaf) => flat.value(leaf.variable())?.value.real(),
            _ => None,
        })
        .collect();
    values.windows(2).all(|pair| pair[0] < pair[1])
}
