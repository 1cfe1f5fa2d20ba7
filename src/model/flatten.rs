//! Instances to equations.
//!
//! Before: the instance tree with all parameters evaluated. After: the flat model, its equations in
//! the order of the 1990 paper: those of the submodels first, then the model's own, then the
//! couplings that its connections make. Kinds are final, types are not yet inferred.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{self, Class, ClassId, Slot, Statement, Template, VariableKind};
use super::couplings::{Coupling, Couplings, couplings};
use super::instance::Tree;
use super::parameters::Memo;
use super::structure::Place;
use crate::diagnostics::{Code, Diagnostic};
use crate::expr::{Arena, BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{
    DeclId, Declaration, Equation, EquationKind, Given, InstanceId, Kind, Leaf, Type, VarId,
    Variable, When, WhenId,
};
use crate::source::Span;

/// The flat model in the making; see [`crate::flat::Flat`].
#[derive(Debug)]
pub struct Parts {
    pub variables: Vec<Variable>,
    pub declarations: Vec<Declaration>,
    pub exprs: Arena<Leaf>,
    pub equations: Vec<Equation>,
    pub whens: Vec<When>,
    pub values: Vec<Given>,
    pub starts: Vec<Given>,
    pub wishes: Vec<(VarId, bool)>,
}

struct Flattener<'t, 'c> {
    tree: &'t mut Tree<'c>,
    parts: Parts,
    /// Couplings of classes without arrays are the same for every instance.
    cache: FxHashMap<ClassId, Rc<Couplings>>,
    /// Terminals with a default that something outside sets or connects.
    set: FxHashSet<VarId>,
    /// Default equations, to be dropped again for terminals in `set`.
    defaults: Vec<(usize, VarId)>,
    /// Start values with the depth of the instance that gives them; the outermost counts.
    starts: FxHashMap<VarId, Start>,
    /// `init` equations that a start value from further outside overrules.
    overruled: Vec<usize>,
    loops: Vec<f64>,
    exprs: Vec<ExprId>,
    /// Indices of the name being instantiated, with their values.
    values: Vec<(ExprId, Value)>,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    depth: u32,
    span: Span,
    /// The `init` equation that gives it; `ic` makes none.
    equation: Option<usize>,
    /// The value, where it is known before the start.
    given: Option<Given>,
}

/// Flattens the tree; `None` after an error.
pub fn flatten(tree: &mut Tree<'_>) -> Option<Parts> {
    tree.evaluate_all();
    if tree.diagnostics.has_errors() {
        return None;
    }
    let mut flattener = Flattener {
        parts: Parts {
            variables: Vec::with_capacity(tree.variables.len()),
            declarations: Vec::new(),
            exprs: Arena::default(),
            equations: Vec::new(),
            whens: Vec::new(),
            values: Vec::new(),
            starts: Vec::new(),
            wishes: Vec::new(),
        },
        tree,
        cache: FxHashMap::default(),
        set: FxHashSet::default(),
        defaults: Vec::new(),
        starts: FxHashMap::default(),
        overruled: Vec::new(),
        loops: Vec::new(),
        exprs: Vec::new(),
        values: Vec::new(),
    };
    flattener.variables();
    flattener.bindings()?;
    for instance in post_order(flattener.tree) {
        flattener.instance(instance)?;
    }
    flattener.drop_equations();
    flattener.finish_starts();
    flattener.finish_wishes();
    flattener.kinds();
    (!flattener.tree.diagnostics.has_errors()).then_some(flattener.parts)
}

/// Submodels before the models that contain them, in the order of declaration.
fn post_order(tree: &Tree<'_>) -> Vec<u32> {
    // Children lie behind their parent, so a reversed walk "parent, last child first" will do.
    let mut order = Vec::with_capacity(tree.instances.len());
    let mut stack = vec![0u32];
    while let Some(at) = stack.pop() {
        order.push(at);
        let record = tree.instances[at as usize];
        let runs = &tree.shape(at).submodels;
        let count = runs.last().map_or(0, |run| run.first + run.size);
        stack.extend(record.children..record.children + count);
    }
    order.reverse();
    order
}

impl<'c> Flattener<'_, 'c> {
    fn variables(&mut self) {
        let mut known: FxHashMap<(ClassId, u32), DeclId> = FxHashMap::default();
        for record in &self.tree.variables {
            let class_id = self.tree.instances[record.instance as usize].class;
            let class = self.tree.classes.get(class_id);
            let decl = &class.variables[record.slot as usize];
            let declarations = &mut self.parts.declarations;
            let declaration = *known.entry((class_id, record.slot)).or_insert_with(|| {
                declarations.push(Declaration {
                    name: decl.name,
                    span: decl.span,
                    remarks: decl.remarks.clone(),
                    doc: decl.doc.clone(),
                });
                DeclId(declarations.len() as u32 - 1)
            });
            let top = record.instance == 0;
            self.parts.variables.push(Variable {
                instance: InstanceId(record.instance),
                declaration,
                index: if decl.array { record.element + 1 } else { 0 },
                kind: match decl.kind {
                    VariableKind::Parameter => Kind::Parameter,
                    VariableKind::Constant => Kind::Constant,
                    VariableKind::Input if top => Kind::Input,
                    VariableKind::Output if top => Kind::Output,
                    _ => Kind::Algebraic,
                },
                ty: Type::Real,
                output: top && decl.kind == VariableKind::Output,
            });
        }
    }

    /// Values of parameters with their expressions, and defaults of inputs.
    fn bindings(&mut self) -> Option<()> {
        for variable in 0..self.tree.variables.len() as u32 {
            let record = self.tree.variables[variable as usize];
            let decl = &self.tree.class(record.instance).variables[record.slot as usize];
            if decl.kind.is_fixed() {
                let binding = self.tree.binding(variable)?;
                let Memo::Known(value) = self.tree.memo[variable as usize] else {
                    return None;
                };
                let code = &self.tree.class(binding.instance).code;
                let first = code.firsts[binding.root.index()];
                let span = code.spans[binding.root.index()];
                self.expand(binding.instance, first, binding.root)?;
                let expression = self.expr(first, binding.root);
                self.parts.values.push(Given {
                    variable: VarId(variable),
                    value,
                    expression,
                    span,
                });
            } else if let (Kind::Input, Some(default)) =
                (self.parts.variables[variable as usize].kind, decl.value)
            {
                let given = self.given(variable, record.instance, default, record.element)?;
                self.parts.values.push(given);
            }
        }
        Some(())
    }

    /// A fixed expression as a value.
    fn given(
        &mut self,
        variable: u32,
        instance: u32,
        template: Template,
        element: u32,
    ) -> Option<Given> {
        let code = &self.tree.class(instance).code;
        let root = match code.node(template.root) {
            Node::List(args) => *code.args(args).get(element as usize)?,
            _ => template.root,
        };
        let first = code.firsts[root.index()];
        let value = self.tree.value(instance, root, &self.loops)?;
        self.expand(instance, first, root)?;
        Some(Given {
            variable: VarId(variable),
            value,
            expression: self.expr(first, root),
            span: code.spans[root.index()],
        })
    }

    fn instance(&mut self, instance: u32) -> Option<()> {
        let class = self.tree.class(instance);
        self.statements(instance, class, &class.equations)?;
        self.terminal_defaults(instance, class)?;
        self.initial_settings(instance, class)?;
        self.couple(instance)
    }

    fn statements(
        &mut self,
        instance: u32,
        class: &'c Class,
        statements: &'c [Statement],
    ) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Equation(equation) => {
                    let kind = match equation.kind {
                        class::EquationKind::Plain => EquationKind::Equation,
                        class::EquationKind::New => EquationKind::New,
                        class::EquationKind::Init => EquationKind::Init,
                    };
                    self.equation(instance, equation, kind)?;
                }
                Statement::When(branches) => self.when(instance, class, branches)?,
                &Statement::Wish(wish, keep) => {
                    self.expand(instance, wish.first, wish.root)?;
                    let leaf = self.parts.exprs.node(self.expr(wish.first, wish.root));
                    if let Node::Leaf(leaf) = leaf {
                        self.parts.wishes.push((leaf.variable(), keep));
                    }
                }
                Statement::For(block) => {
                    let (from, to) =
                        (self.tree).bounds(instance, block.from, block.to, &self.loops)?;
                    for turn in from..=to {
                        self.loops.push(turn as f64);
                        self.statements(instance, class, &block.body)?;
                        self.loops.pop();
                    }
                }
            }
        }
        Some(())
    }

    fn when(
        &mut self,
        instance: u32,
        class: &'c Class,
        branches: &'c [(Template, Vec<Statement>)],
    ) -> Option<()> {
        let id = WhenId(self.parts.whens.len() as u32);
        let mut conditions = Vec::with_capacity(branches.len());
        for &(condition, _) in branches {
            self.expand(instance, condition.first, condition.root)?;
            let expr = self.expr(condition.first, condition.root);
            conditions.push((expr, class.code.span(condition)));
        }
        self.parts.whens.push(When {
            conditions,
            origin: InstanceId(instance),
        });
        for (at, (_, body)) in branches.iter().enumerate() {
            let kind = EquationKind::When(id, at as u16);
            self.when_body(instance, body, kind)?;
        }
        Some(())
    }

    fn when_body(
        &mut self,
        instance: u32,
        body: &'c [Statement],
        kind: EquationKind,
    ) -> Option<()> {
        for statement in body {
            match statement {
                Statement::Equation(equation) => {
                    self.equation(instance, equation, kind)?;
                }
                Statement::For(block) => {
                    let (from, to) =
                        (self.tree).bounds(instance, block.from, block.to, &self.loops)?;
                    for turn in from..=to {
                        self.loops.push(turn as f64);
                        self.when_body(instance, &block.body, kind)?;
                        self.loops.pop();
                    }
                }
                Statement::When(_) | Statement::Wish(..) => {}
            }
        }
        Some(())
    }

    fn equation(
        &mut self,
        instance: u32,
        equation: &class::Equation,
        kind: EquationKind,
    ) -> Option<()> {
        self.expand(instance, equation.first, equation.right)?;
        let left = self.expr(equation.first, equation.left);
        let right = self.expr(equation.first, equation.right);
        let origin = InstanceId(instance);
        if let Node::Leaf(leaf) = self.parts.exprs.node(left) {
            let variable = leaf.variable();
            let outside = self.parts.variables[variable.index()].instance != origin;
            match leaf {
                Leaf::New(_) => {
                    self.set.insert(variable);
                }
                Leaf::Var(_) | Leaf::Der(..) if outside => {
                    self.set.insert(variable);
                }
                _ => {}
            }
            if kind == EquationKind::Init {
                let given = self.init_value(instance, variable, equation, right);
                let at = self.parts.equations.len();
                self.start(instance, variable, given, Some(at), equation.span);
            }
        }
        self.parts.equations.push(Equation {
            left,
            right,
            origin,
            span: equation.span,
            kind,
        });
        Some(())
    }

    /// The value in `init(x) = v` outside a `when`, where v is known before the start.
    fn init_value(
        &mut self,
        instance: u32,
        variable: VarId,
        equation: &class::Equation,
        expression: ExprId,
    ) -> Option<Given> {
        let code = &self.tree.class(instance).code;
        let first = code.firsts[equation.right.index()];
        let known = (first..=equation.right.0).all(|at| match code.nodes[at as usize] {
            Node::Time => false,
            Node::Call(function, _) => !function.takes_variable() && function != Function::Sample,
            _ => true,
        });
        let fixed = (first..=equation.right.0).all(|at| {
            let id = self.exprs[(at - equation.first) as usize];
            match (code.numeric[at as usize], code.nodes[at as usize]) {
                (false, Node::Leaf(Slot::Own { .. } | Slot::Deep(_))) => {
                    matches!(self.parts.exprs.node(id), Node::Leaf(leaf)
                        if matches!(self.parts.variables[leaf.variable().index()].kind,
                            Kind::Parameter | Kind::Constant))
                }
                _ => true,
            }
        });
        if !(known && fixed) {
            return None;
        }
        let value = self.tree.value(instance, equation.right, &self.loops)?;
        Some(Given {
            variable,
            value,
            expression,
            span: equation.span,
        })
    }

    fn initial_settings(&mut self, instance: u32, class: &'c Class) -> Option<()> {
        for (slot, submodel) in class.submodels.iter().enumerate() {
            let run = self.tree.child(instance, slot as u32)?;
            for inner in run.first..run.first + run.size {
                for setting in &submodel.initial {
                    let variable = self.inner_variable(instance, inner, setting)?;
                    let given = self.given(variable, instance, setting.value, 0)?;
                    let span = setting.span;
                    let given = Given { span, ..given };
                    self.start(instance, given.variable, Some(given), None, span);
                }
            }
        }
        Some(())
    }

    fn inner_variable(
        &mut self,
        outer: u32,
        inner: u32,
        setting: &'c class::InitialSetting,
    ) -> Option<u32> {
        // Indices are expressions of the outer model, the way leads through the inner one.
        let class = self.tree.class(outer);
        let deep = &class.code.deep[setting.target as usize];
        let mut at = inner;
        for &(step, index) in &deep.steps {
            let run = self.tree.child(at, step)?;
            at = run.first + self.index(outer, index, run.size, setting.span)?;
        }
        let run = self.tree.slot(at, deep.slot)?;
        Some(run.first + self.index(outer, deep.index, run.size, setting.span)?)
    }

    fn index(
        &mut self,
        instance: u32,
        index: Option<ExprId>,
        size: u32,
        span: Span,
    ) -> Option<u32> {
        let Some(index) = index else { return Some(0) };
        let value = self.tree.value(instance, index, &[])?;
        self.tree.element(value, size, span)
    }

    /// Keeps a start value, the outermost one; twice from the same model is an error.
    fn start(
        &mut self,
        instance: u32,
        variable: VarId,
        given: Option<Given>,
        equation: Option<usize>,
        span: Span,
    ) {
        let mut depth = 0;
        let mut at = instance;
        while at != 0 {
            at = self.tree.instances[at as usize].parent;
            depth += 1;
        }
        let new = Start {
            depth,
            span,
            equation,
            given,
        };
        match self.starts.get(&variable) {
            Some(known) if known.depth == depth => {
                let earlier = known.span;
                let name = self.tree.variable_name(variable.0);
                self.tree.diagnostics.push(
                    Diagnostic::new(
                        Code::DefinedTwice,
                        format!("`{name}` is given two start values"),
                    )
                    .at(span, "given again here")
                    .at(earlier, "first here"),
                );
            }
            Some(known) if known.depth < depth => self.overruled.extend(equation),
            _ => {
                let inner = self.starts.insert(variable, new);
                self.overruled
                    .extend(inner.and_then(|start| start.equation));
            }
        }
    }

    fn finish_starts(&mut self) {
        let mut starts: Vec<Given> = self
            .starts
            .values()
            .filter_map(|start| start.given)
            .collect();
        starts.sort_by_key(|given| given.variable);
        self.parts.starts = starts;
    }

    /// Of several wishes for a variable the one of the outermost model counts: it comes last.
    fn finish_wishes(&mut self) {
        let wishes = &mut self.parts.wishes;
        wishes.reverse();
        wishes.sort_by_key(|&(variable, _)| variable);
        wishes.dedup_by_key(|&mut (variable, _)| variable);
    }

    fn terminal_defaults(&mut self, instance: u32, class: &'c Class) -> Option<()> {
        for (slot, decl) in class.variables.iter().enumerate() {
            let (true, Some(default)) = (decl.kind.is_terminal(), decl.value) else {
                continue;
            };
            let run = self.tree.slot(instance, slot as u32)?;
            for element in 0..run.size {
                let variable = VarId(run.first + element);
                if self.parts.variables[variable.index()].kind == Kind::Input {
                    continue;
                }
                let given = self.given(variable.0, instance, default, element)?;
                let left = self.parts.exprs.leaf(Leaf::Var(variable));
                self.defaults.push((self.parts.equations.len(), variable));
                self.parts.equations.push(Equation {
                    left,
                    right: given.expression,
                    origin: InstanceId(instance),
                    span: decl.span,
                    kind: EquationKind::Equation,
                });
            }
        }
        Some(())
    }

    /// Defaults that do not hold, and start values that are overruled.
    fn drop_equations(&mut self) {
        let dropped: FxHashSet<usize> = (self.defaults.iter())
            .filter(|(_, variable)| self.set.contains(variable))
            .map(|&(at, _)| at)
            .chain(self.overruled.iter().copied())
            .collect();
        if dropped.is_empty() {
            return;
        }
        let mut at = 0;
        self.parts.equations.retain(|_| {
            at += 1;
            !dropped.contains(&(at - 1))
        });
    }

    fn couple(&mut self, instance: u32) -> Option<()> {
        let class_id = self.tree.instances[instance as usize].class;
        let class = self.tree.classes.get(class_id);
        if class.submodels.is_empty() && class.connections.is_empty() && instance != 0 {
            return Some(());
        }
        let inner_arrays = class.submodels.iter().any(|submodel| {
            (submodel.class).is_some_and(|inner| self.tree.classes.get(inner).has_arrays)
        });
        let same_everywhere =
            !(class.has_arrays || class.indexed_connections || inner_arrays || instance == 0);
        let found = match self.cache.get(&class_id) {
            Some(found) if same_everywhere => Rc::clone(found),
            _ => {
                // Errors are all reported before giving up.
                let Some(found) = couplings(self.tree, instance) else {
                    return Some(());
                };
                let found = Rc::new(found);
                if same_everywhere {
                    self.cache.insert(class_id, Rc::clone(&found));
                }
                found
            }
        };
        for &(owner, offset) in &found.terminals {
            if owner != super::connect::SELF {
                let variable = self.place(instance, owner, offset);
                self.set.insert(variable);
            }
        }
        for (coupling, span) in &found.list {
            self.coupling(instance, coupling, *span);
        }
        Some(())
    }

    fn place(&self, instance: u32, owner: u32, offset: u32) -> VarId {
        let inner = self.tree.owner_instance(instance, owner);
        VarId(self.tree.instances[inner as usize].variables + offset)
    }

    fn leaf(&mut self, instance: u32, place: Place) -> ExprId {
        let variable = self.place(instance, place.owner, place.offset);
        self.parts.exprs.leaf(Leaf::Var(variable))
    }

    fn coupling(&mut self, instance: u32, coupling: &Coupling, span: Span) {
        let (left, right, kind) = match coupling {
            Coupling::Equal(a, b) => {
                let left = self.leaf(instance, *a);
                let mut right = self.leaf(instance, *b);
                if a.negative != b.negative {
                    right = self.parts.exprs.unary(UnaryOp::Minus, right);
                }
                (left, right, EquationKind::Coupling)
            }
            Coupling::Sum(terms) => {
                let left = self.sum(instance, terms, false);
                let right = self.sum(instance, terms, true);
                let zero = self.parts.exprs.number(0.0);
                match (left, right) {
                    (Some(left), right) => (left, right.unwrap_or(zero), EquationKind::Coupling),
                    (None, right) => (right.unwrap_or(zero), zero, EquationKind::Coupling),
                }
            }
            Coupling::Zero(place) => {
                let left = self.leaf(instance, *place);
                (left, self.parts.exprs.number(0.0), EquationKind::ZeroFlow)
            }
        };
        self.parts.equations.push(Equation {
            left,
            right,
            origin: InstanceId(instance),
            span,
            kind,
        });
    }

    /// The terms of one sign: those counted in on the left, those counted out on the right.
    fn sum(&mut self, instance: u32, terms: &[Place], negative: bool) -> Option<ExprId> {
        let mut total = None;
        for &term in terms.iter().filter(|term| term.negative == negative) {
            let leaf = self.leaf(instance, term);
            total = Some(match total {
                None => leaf,
                Some(total) => self.parts.exprs.binary(BinaryOp::Add, total, leaf),
            });
        }
        total
    }

    fn expr(&self, first: u32, id: ExprId) -> ExprId {
        self.exprs[(id.0 - first) as usize]
    }

    /// Instantiates the nodes `first..=last` of the class's code: one loop, operands first.
    fn expand(&mut self, instance: u32, first: u32, last: ExprId) -> Option<()> {
        let class = self.tree.class(instance);
        let code = &class.code;
        let nothing = ExprId(u32::MAX);
        self.exprs.clear();
        for at in first..=last.0 {
            if code.numeric[at as usize] {
                // Part of an index: evaluated with the name it belongs to, never an expression.
                self.exprs.push(nothing);
                continue;
            }
            if let Node::Leaf(slot @ (Slot::Own { .. } | Slot::Deep(_))) = code.nodes[at as usize] {
                self.evaluate_indices(instance, class, slot)?;
            }
            let exprs = &self.exprs;
            let operand = |id: ExprId| exprs[(id.0 - first) as usize];
            let arena = &mut self.parts.exprs;
            let expr = match code.nodes[at as usize] {
                Node::Number(value) => arena.number(value.0),
                Node::Bool(value) => arena.bool(value),
                Node::Time => arena.time(),
                Node::Leaf(Slot::Loop(level)) => arena.number(self.loops[level as usize]),
                Node::Leaf(slot) => {
                    let values = &self.values;
                    let index = |wanted: ExprId| {
                        (values.iter().find(|&&(id, _)| id == wanted))
                            .map_or(Value::Real(0.0), |&(_, value)| value)
                    };
                    let span = code.spans[at as usize];
                    let variable = self.tree.variable(class, instance, slot, span, &index)?;
                    arena.leaf(Leaf::Var(VarId(variable)))
                }
                Node::Unary(UnaryOp::Plus, a) => operand(a),
                Node::Unary(op, a) => arena.unary(op, operand(a)),
                Node::Binary(op, a, b) => arena.binary(op, operand(a), operand(b)),
                Node::If(a, b, c) => arena.if_else(operand(a), operand(b), operand(c)),
                Node::Call(function, args) if function.takes_variable() => {
                    let Node::Leaf(leaf) = arena.node(operand(code.args(args)[0])) else {
                        return None;
                    };
                    arena.leaf(special(function, leaf))
                }
                Node::Call(function, args) => {
                    let args: Vec<ExprId> = code.args(args).iter().map(|&a| operand(a)).collect();
                    arena.call(function, &args)
                }
                Node::List(args) => {
                    let args: Vec<ExprId> = code.args(args).iter().map(|&a| operand(a)).collect();
                    arena.list(&args)
                }
            };
            self.exprs.push(expr);
        }
        Some(())
    }

    fn evaluate_indices(&mut self, instance: u32, class: &'c Class, slot: Slot) -> Option<()> {
        self.values.clear();
        let (steps, last): (&[_], _) = match slot {
            Slot::Own { index, .. } => (&[], index),
            Slot::Deep(deep) => {
                let deep = &class.code.deep[deep as usize];
                (&deep.steps, deep.index)
            }
            Slot::Loop(_) | Slot::Unknown => return Some(()),
        };
        for id in (steps.iter().filter_map(|&(_, index)| index)).chain(last) {
            let value = self.tree.value(instance, id, &self.loops)?;
            self.values.push((id, value));
        }
        Some(())
    }

    /// States are what is differentiated, discrete what `new` sets.
    fn kinds(&mut self) {
        let Parts {
            exprs, variables, ..
        } = &mut self.parts;
        for at in 0..exprs.len() as u32 {
            let Node::Leaf(leaf) = exprs.node(ExprId(at)) else {
                continue;
            };
            let variable = &mut variables[leaf.variable().index()];
            let open = matches!(variable.kind, Kind::Algebraic | Kind::Output);
            match leaf {
                Leaf::Der(..) if open => variable.kind = Kind::State,
                Leaf::New(_) if open => variable.kind = Kind::Discrete,
                _ => {}
            }
        }
    }
}

fn special(function: Function, leaf: Leaf) -> Leaf {
    let variable = leaf.variable();
    let order = match leaf {
        Leaf::Der(_, order) => order,
        _ => 0,
    };
    match function {
        Function::Der => Leaf::Der(variable, order.saturating_add(1)),
        Function::Der2 => Leaf::Der(variable, order.saturating_add(2)),
        Function::New => Leaf::New(variable),
        Function::Init => Leaf::Init(variable),
        _ => Leaf::Pre(variable),
    }
}
