//! Instances to equations.
//!
//! Before: the instance tree with all parameters evaluated. After: the flat model, its equations in
//! the order of the 1990 paper: those of the submodels first, then the model's own, then the
//! couplings that its connections make. Kinds are final, types are not yet inferred.

use crate::base::cancel::glance;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::class::{self, Class, ClassId, Statement, Template, VariableKind};
use super::couplings::Couplings;
use super::instance::Tree;
use super::parameters::Memo;
use super::starts::Start;
use crate::expr::{Arena, ExprId, Node, Value};
use crate::flat::{
    DeclId, Declaration, Equation, EquationKind, Given, InstanceId, Kind, Leaf, Ports, Type, VarId,
    Variable, When, WhenId,
};

/// The flat model while it is made; see [`crate::flat::Flat`].
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
    pub ports: Ports,
}

pub(super) struct Flattener<'t, 'c> {
    pub(super) tree: &'t mut Tree<'c>,
    pub(super) parts: Parts,
    /// Couplings of classes without arrays are the same for every instance.
    pub(super) cache: FxHashMap<ClassId, Rc<Couplings>>,
    /// Terminals with a default that something outside sets or connects.
    pub(super) set: FxHashSet<VarId>,
    /// Default equations, to be dropped again for terminals in `set`.
    pub(super) defaults: Vec<(usize, VarId)>,
    /// Start values with the depth of the instance that gives them; the outermost counts.
    pub(super) starts: FxHashMap<VarId, Start>,
    /// `init` equations that a start value from further outside overrules.
    pub(super) overruled: Vec<usize>,
    /// The first port of each instance.
    pub(super) port_firsts: Vec<u32>,
    pub(super) loops: Vec<f64>,
    pub(super) exprs: Vec<ExprId>,
    /// Indices of the name being instantiated, with their values.
    pub(super) values: Vec<(ExprId, Value)>,
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
            ports: Ports::default(),
        },
        tree,
        cache: FxHashMap::default(),
        set: FxHashSet::default(),
        defaults: Vec::new(),
        starts: FxHashMap::default(),
        overruled: Vec::new(),
        port_firsts: Vec::new(),
        loops: Vec::new(),
        exprs: Vec::new(),
        values: Vec::new(),
    };
    flattener.variables();
    flattener.bindings()?;
    flattener.ports();
    for instance in post_order(flattener.tree) {
        glance();
        flattener.instance(instance);
        if flattener.tree.exhausted {
            return None;
        }
    }
    if flattener.tree.diagnostics.has_errors() {
        return None;
    }
    flattener.drop_equations();
    flattener.finish_starts();
    flattener.finish_wishes();
    flattener.kinds();
    flattener.laws();
    (!flattener.tree.diagnostics.has_errors()).then_some(flattener.parts)
}

/// Submodels before the models that contain them, in the order of declaration.
fn post_order(tree: &Tree<'_>) -> Vec<u32> {
    // Children have larger indices than their parent, so the reversed preorder with the last child
    // first is the order wanted.
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
                    role: class.role(record.slot),
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
                order: 0,
                states: 0,
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
                    depth: 0,
                });
            } else if let (Kind::Input, Some(default)) =
                (self.parts.variables[variable as usize].kind, decl.value)
            {
                if !self.tree.right_length(variable) {
                    return None;
                }
                let given = self.given(variable, record.instance, default, record.element)?;
                self.parts.values.push(given);
            }
        }
        Some(())
    }

    /// Continues after an error, so that one run reports all of them.
    fn instance(&mut self, instance: u32) {
        let class = self.tree.class(instance);
        self.statements(instance, class, &class.equations);
        self.terminal_defaults(instance, class);
        self.initial_settings(instance, class);
        self.couple(instance);
    }

    /// Continues after an error, so that one run reports all of them.
    fn statements(
        &mut self,
        instance: u32,
        class: &'c Class,
        statements: &'c [Statement],
    ) -> Option<()> {
        let depth = self.loops.len();
        let mut complete = Some(());
        for statement in statements {
            glance();
            if self.statement(instance, class, statement).is_none() {
                complete = None;
                self.loops.truncate(depth);
            }
            if self.tree.exhausted {
                return None;
            }
        }
        complete
    }

    fn statement(
        &mut self,
        instance: u32,
        class: &'c Class,
        statement: &'c Statement,
    ) -> Option<()> {
        match statement {
            Statement::Equation(equation) => {
                let kind = match equation.kind {
                    class::EquationKind::Plain => EquationKind::Equation,
                    class::EquationKind::New => EquationKind::New,
                    class::EquationKind::Init => EquationKind::Init,
                };
                self.equation(instance, equation, kind)
            }
            Statement::When(branches) => self.when(instance, class, branches),
            &Statement::Wish(wish, keep) => {
                self.expand(instance, wish.first, wish.root)?;
                let leaf = self.parts.exprs.node(self.expr(wish.first, wish.root));
                if let Node::Leaf(leaf) = leaf {
                    self.parts.wishes.push((leaf.variable(), keep));
                }
                Some(())
            }
            Statement::For(block) => {
                let (from, to) = (self.tree).bounds(instance, block.from, block.to, &self.loops)?;
                let mut complete = Some(());
                for turn in from..=to {
                    glance();
                    self.loops.push(turn as f64);
                    let turned = self.statements(instance, class, &block.body);
                    self.loops.pop();
                    complete = complete.and(turned);
                    if self.tree.exhausted {
                        return None;
                    }
                }
                complete
            }
        }
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

    /// If several models declare `state` or `nostate` for a variable, the outermost holds: it comes
    /// last.
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
            if run.size > 0 && !self.tree.right_length(run.first) {
                return None;
            }
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

    /// Removes defaults that are not used, and start values that are overruled.
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

    /// Sets the kinds: a variable that is differentiated is a state, one that `new` sets is
    /// discrete.
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
            let discrete = variable.kind == Kind::Discrete;
            if let Leaf::Der(_, order) = leaf {
                variable.order = variable.order.max(order);
            }
            match leaf {
                // Both is an error, reported later.
                Leaf::Der(..) if open || discrete => variable.kind = Kind::State,
                Leaf::New(_) if open => variable.kind = Kind::Discrete,
                _ => {}
            }
        }
        for variable in variables {
            if variable.kind == Kind::State {
                variable.states = variable.order;
            }
        }
    }
}
