//! The flat model: variables and equations without hierarchy.
//!
//! Flat arenas with typed ids that print as in dumps: variables `v0, v1, ...`, equations `q0, q1, ...`, instances `i0,
//! i1, ...` (`i0` is the compiled model itself). A variable's name is the path of its instance, its declaration and an
//! index; no text is stored for it. Equal expressions are shared.
//!
//! Holds after [`crate::model`]: every leaf refers to a variable of the model; parameters and constants have values;
//! kinds and types are final; nothing depends on hash order.

pub mod dump;
mod leaf_values;
mod names;
mod ports;
mod printer;
mod reduction;
pub mod slots;
mod variables;
pub mod verify;

pub use leaf_values::LeafValues;
pub use names::write_path;
pub use ports::{Junction, JunctionId, Law, Pair, Port, PortId, Ports, Signed};
pub use printer::{Names, Printer};
pub use reduction::{Derived, Dropped, Merit, Reduction, Selection};
pub use variables::{Declaration, Kind, Role, Type, Variable};

use std::sync::Arc;

use crate::base::ids::ids;
use crate::base::intern::{Interner, Symbol};
use crate::base::source::Span;
use rustc_hash::FxHashMap;

use crate::expr::{Arena, BinaryOp, ExprId, Function, Node, UnaryOp, Value};
use crate::syntax::ast::Remarks;

ids! {
    /// A flat variable.
    VarId "v";
    /// A flat equation.
    EqId "q";
    /// A submodel, or the compiled model itself (`i0`).
    InstanceId "i";
    /// A declaration in the source, shared by the variables it makes.
    DeclId "d";
    /// A `when` with its branches.
    WhenId "w";
}

impl InstanceId {
    pub const TOP: InstanceId = InstanceId(0);
}

/// A leaf of a flat expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaf {
    Var(VarId),
    /// The derivative of this order, from 1 on.
    Der(VarId, u8),
    /// The value after an event.
    New(VarId),
    /// The value at the start, or after a restart.
    Init(VarId),
    /// The value before an event.
    Pre(VarId),
}

impl Leaf {
    pub fn variable(self) -> VarId {
        match self {
            Leaf::Var(v) | Leaf::Der(v, _) | Leaf::New(v) | Leaf::Init(v) | Leaf::Pre(v) => v,
        }
    }

    /// The variable itself is of order 0.
    pub fn at_order(variable: VarId, order: u8) -> Leaf {
        match order {
            0 => Leaf::Var(variable),
            _ => Leaf::Der(variable, order),
        }
    }

    /// The derivative of a state.
    pub fn rate(self) -> Leaf {
        Leaf::at_order(self.variable(), self.order().unwrap_or(0) + 1)
    }

    /// The order of a variable or derivative; `None` for leaves that belong to an event.
    pub fn order(self) -> Option<u8> {
        match self {
            Leaf::Var(_) => Some(0),
            Leaf::Der(_, order) => Some(order),
            Leaf::New(_) | Leaf::Init(_) | Leaf::Pre(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// The top is its own parent.
    pub parent: InstanceId,
    pub name: Symbol,
    /// From 1 on in an array; 0 for a single submodel.
    pub index: u32,
    /// The name of its type, and where that is defined.
    pub class: Symbol,
    pub class_span: Span,
    /// Where it is declared as a submodel; of the top, where its model is.
    pub span: Span,
    /// How many equations its cuts get from outside: one for each pair of variables, across and through.
    pub pairs: u32,
}

/// A value with the expression it came from.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub variable: VarId,
    pub value: Value,
    pub expression: ExprId,
    /// Where the value is given.
    pub span: Span,
    /// How deep that lies: the command line, an experiment, the model, its submodels. The outermost counts most.
    pub depth: u32,
}

impl Given {
    /// Depths of start values.
    pub const ON_COMMAND_LINE: u32 = 0;
    pub const IN_EXPERIMENT: u32 = 1;
    /// In the model itself; one more in each submodel.
    pub const IN_MODEL: u32 = 2;
}

/// An eliminated variable or derivative, and the expression that replaces it.
#[derive(Clone, Copy, Debug)]
pub struct Eliminated {
    pub leaf: Leaf,
    pub expression: ExprId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationKind {
    Equation,
    /// Made by a connection: variables are equal, across variables at a node.
    Coupling,
    /// Made by a connection: variables sum to zero, through variables at a node.
    Sum,
    /// Made for a cut that is not connected.
    ZeroFlow,
    /// Replaces a redundant sum: a potential of a part without ground is zero.
    Reference,
    /// Replaces an equation that is part of a sum of equations by what this sum leaves, a constraint between states.
    Constraint,
    /// An equation of the model, differentiated; by its place in [`Reduction::derived`].
    Derivative(u32),
    /// `new(x) = ...` outside a `when`
    New,
    /// `init(x) = ...` outside a `when`
    Init,
    /// Inside a `when`, in its branch of this number (from 0 on).
    When(WhenId, u16),
}

impl EquationKind {
    pub fn text(self) -> &'static str {
        match self {
            EquationKind::Equation => "equation",
            EquationKind::Coupling | EquationKind::Sum => "coupling",
            EquationKind::ZeroFlow => "zero flow",
            EquationKind::Reference => "reference",
            EquationKind::Constraint => "constraint",
            EquationKind::Derivative(_) => "derivative",
            EquationKind::New => "new",
            EquationKind::Init => "init",
            EquationKind::When(..) => "when",
        }
    }

    /// Whether it holds at all times and determines real or boolean unknowns together with other equations.
    pub fn is_continuous(self) -> bool {
        !matches!(self, Self::New | Self::Init | Self::When(..))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Equation {
    pub left: ExprId,
    pub right: ExprId,
    /// The submodel where it was written, or that made the connection.
    pub origin: InstanceId,
    pub span: Span,
    pub kind: EquationKind,
}

#[derive(Clone, Debug)]
pub struct When {
    /// One for each branch, with its place: `when`, `elsewhen`, ...
    pub conditions: Vec<(ExprId, Span)>,
    pub origin: InstanceId,
}

#[derive(Clone, Debug)]
pub struct Flat {
    pub names: Arc<Interner>,
    pub instances: Vec<Instance>,
    pub declarations: Vec<Declaration>,
    pub variables: Vec<Variable>,
    pub exprs: Arena<Leaf>,
    pub equations: Vec<Equation>,
    pub whens: Vec<When>,
    /// Values of parameters and constants, and defaults of inputs, by variable.
    pub values: Vec<Given>,
    /// Start values, by variable.
    pub starts: Vec<Given>,
    /// Variables and derivatives that alias elimination replaced.
    pub eliminated: Vec<Eliminated>,
    /// Declarations `state` (true) and `nostate` (false), by variable.
    pub wishes: Vec<(VarId, bool)>,
    /// The results of index reduction, if it was necessary.
    pub reduction: Option<Reduction>,
    /// Parameters that sizes, bounds of `for` and indices depend on directly, in order. With other values the model has
    /// another structure.
    pub shaping: Vec<VarId>,
    /// The cuts of all instances, and where they are connected.
    pub ports: Ports,
}

impl Flat {
    pub fn model(&self) -> &str {
        self.names.name(self.instances[0].name)
    }

    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    pub fn variable_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len() as u32).map(VarId)
    }

    pub fn equation_ids(&self) -> impl Iterator<Item = EqId> + use<> {
        (0..self.equations.len() as u32).map(EqId)
    }

    pub fn declaration(&self, id: VarId) -> &Declaration {
        &self.declarations[self.variable(id).declaration.index()]
    }

    pub fn value(&self, id: VarId) -> Option<&Given> {
        find(&self.values, id)
    }

    pub fn start(&self, id: VarId) -> Option<&Given> {
        find(&self.starts, id)
    }

    /// The start value of a state. For a derivative it is the one given for a variable that equals it.
    pub fn start_of(&self, state: Leaf) -> Option<Value> {
        if let Leaf::Var(id) = state {
            return self.start(id).map(|given| given.value);
        }
        let found = (self
            .reduction
            .iter()
            .flat_map(|reduction| &reduction.starts))
        .find(|(leaf, _)| *leaf == state);
        if let Some(&(_, value)) = found {
            return Some(Value::Real(value));
        }
        self.eliminated.iter().find_map(|alias| {
            let Leaf::Var(id) = alias.leaf else {
                return None;
            };
            match self.exprs.signed_leaf(alias.expression) {
                Some((leaf, false)) if leaf == state => self.start(id).map(|given| given.value),
                Some((leaf, true)) if leaf == state => {
                    let value = self.start(id)?.value.real()?;
                    Some(Value::Real(-value))
                }
                _ => None,
            }
        })
    }

    /// The depth of start values that a submodel gives ([`Given::depth`]).
    pub fn depth_of(&self, mut instance: InstanceId) -> u32 {
        let mut depth = Given::IN_MODEL;
        while instance != InstanceId::TOP {
            instance = self.instances[instance.index()].parent;
            depth += 1;
        }
        depth
    }

    /// Equations `init(x) = v` outside a `when` whose v is not known before the start: equations of the start. Each comes
    /// with x.
    pub fn start_equations(&self) -> impl Iterator<Item = (EqId, VarId)> + '_ {
        let known: rustc_hash::FxHashSet<Span> =
            self.starts.iter().map(|given| given.span).collect();
        (self.equation_ids()).filter_map(move |id| {
            let equation = &self.equations[id.index()];
            let Node::Leaf(Leaf::Init(variable)) = self.exprs.node(equation.left) else {
                return None;
            };
            let open = equation.kind == EquationKind::Init && !known.contains(&equation.span);
            open.then_some((id, variable))
        })
    }

    /// Adds a variable that the source does not contain. Its name must be in the table of names.
    pub fn add_variable(&mut self, name: Symbol, span: Span, kind: Kind, ty: Type) -> VarId {
        let declaration = DeclId(self.declarations.len() as u32);
        self.declarations.push(Declaration {
            name,
            span,
            role: Role::Local,
            remarks: Remarks::default(),
            doc: None,
        });
        let id = VarId(self.variables.len() as u32);
        self.variables.push(Variable {
            instance: InstanceId::TOP,
            declaration,
            index: 0,
            kind,
            ty,
            output: false,
            order: 0,
            states: 0,
        });
        id
    }

    pub fn wish(&self, id: VarId) -> Option<bool> {
        (self
            .wishes
            .binary_search_by_key(&id, |&(variable, _)| variable)
            .ok())
        .map(|at| self.wishes[at].1)
    }

    /// What the equations have to determine of a variable: its derivatives from the first that is not a state up to the
    /// highest, or its next value if it is discrete.
    pub fn unknowns_of(&self, id: VarId) -> impl Iterator<Item = Leaf> + use<> {
        let variable = self.variable(id);
        let (discrete, orders) = match variable.kind {
            Kind::State | Kind::Algebraic | Kind::Output => {
                (None, variable.states..variable.order + 1)
            }
            Kind::Discrete => (Some(Leaf::New(id)), 0..0),
            Kind::Input | Kind::Parameter | Kind::Constant | Kind::Auxiliary => (None, 0..0),
        };
        (orders.map(move |order| Leaf::at_order(id, order))).chain(discrete)
    }

    /// Whether a variable or derivative is a state.
    pub fn is_state(&self, leaf: Leaf) -> bool {
        let states = self.variable(leaf.variable()).states;
        leaf.order().is_some_and(|order| order < states)
    }

    /// All states, by variable and order.
    pub fn states(&self) -> impl Iterator<Item = Leaf> + '_ {
        self.variable_ids().flat_map(|id| {
            (0..self.variable(id).states).map(move |order| Leaf::at_order(id, order))
        })
    }

    /// Sets of variables of which the run chooses the states.
    pub fn selections(&self) -> &[Selection] {
        (self.reduction.as_ref()).map_or(&[], |reduction| &reduction.selections)
    }

    /// The number of states, including those that the run chooses.
    pub fn state_count(&self) -> usize {
        let chosen = (self.selections().iter()).map(|selection| selection.states as usize);
        self.states().count() + chosen.sum::<usize>()
    }

    /// The number of equations that determine unknowns: a discrete variable counts as one, however many `when`s set it;
    /// restarts and start values do not count.
    pub fn equation_count(&self) -> usize {
        let continuous = (self.equations.iter()).filter(|equation| equation.kind.is_continuous());
        let discrete = (self.variables.iter()).filter(|known| known.kind == Kind::Discrete);
        continuous.count() + discrete.count()
    }

    /// Whether the value of an expression is true or false, and not a number. Both sides of an equation are alike in this.
    pub fn is_boolean(&self, mut id: ExprId) -> bool {
        loop {
            return match self.exprs.node(id) {
                Node::Bool(_) | Node::Unary(UnaryOp::Not, _) | Node::Call(Function::Sample, _) => {
                    true
                }
                Node::Binary(op, ..) => !op.is_arithmetic(),
                Node::Leaf(leaf) => self.variable(leaf.variable()).ty == Type::Boolean,
                Node::If(_, a, _) => {
                    id = a;
                    continue;
                }
                _ => false,
            };
        }
    }

    /// Whether an equation is only a sum of variables with signs, as connections and junctions make them.
    pub fn is_sum(&self, id: EqId) -> bool {
        let equation = &self.equations[id.index()];
        let mut work = vec![equation.left, equation.right];
        while let Some(id) = work.pop() {
            match self.exprs.node(id) {
                Node::Leaf(_) => {}
                Node::Number(value) if value.0 == 0.0 => {}
                Node::Unary(UnaryOp::Minus, a) => work.push(a),
                Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => work.extend([a, b]),
                _ => return false,
            }
        }
        true
    }

    /// What stands for each eliminated variable or derivative.
    pub fn replacements(&self) -> FxHashMap<Leaf, ExprId> {
        (self.eliminated.iter())
            .map(|alias| (alias.leaf, alias.expression))
            .collect()
    }

    pub fn unknown_count(&self) -> usize {
        let all: usize = (self.variable_ids())
            .map(|id| self.unknowns_of(id).count())
            .sum();
        // Of the candidates of a selection, this many are states at any time.
        let chosen: usize = (self.selections().iter())
            .map(|selection| selection.states as usize)
            .sum();
        all - self.eliminated.len() - chosen
    }
}

fn find(list: &[Given], id: VarId) -> Option<&Given> {
    list.binary_search_by_key(&id, |given| given.variable)
        .ok()
        .map(|at| &list[at])
}
