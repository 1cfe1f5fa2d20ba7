//! A class: a type with everything that it inherits, its names resolved to slots.
//!
//! A class is made once and instantiated any number of times. Its expressions are [`Template`]s in
//! the class's own [`Code`]. Names in them are slots, so an equation is instantiated by one loop
//! over its nodes, without any search for names.

use rustc_hash::FxHashMap;

use crate::base::intern::Symbol;
use crate::base::source::Span;
use crate::expr::{Args, ExprId, Node};
use crate::flat::Role;
use crate::syntax::ast::Remarks;

/// A type, and the class made from it. Prints as `t7`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

impl std::fmt::Debug for ClassId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// The nodes `first..=root` of the class's code, operands before users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    pub first: u32,
    pub root: ExprId,
}

/// A leaf of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A variable of the class itself.
    Own { slot: u32, index: Option<ExprId> },
    /// A variable of a submodel, at any depth: an entry of [`Code::deep`].
    Deep(u32),
    /// The variable of a `for`, counted from the outermost.
    Loop(u32),
    /// A name that could not be resolved; it was reported.
    Unknown,
}

/// `x[3].y.z[1]`
#[derive(Clone, Debug)]
pub struct DeepRef {
    /// The submodel slots on the path; each belongs to the class that the path has reached.
    pub steps: Vec<(u32, Option<ExprId>)>,
    pub slot: u32,
    pub index: Option<ExprId>,
}

#[derive(Clone, Debug, Default)]
pub struct Code {
    pub nodes: Vec<Node<Slot>>,
    pub spans: Vec<Span>,
    /// Marks the nodes of indices: they are evaluated to numbers at instantiation, and never kept
    /// as expressions.
    pub numeric: Vec<bool>,
    /// The first node of the subtree of each node; the subtree ends with the node itself.
    pub firsts: Vec<u32>,
    pub args: Vec<ExprId>,
    pub deep: Vec<DeepRef>,
}

impl Code {
    pub fn node(&self, id: ExprId) -> Node<Slot> {
        self.nodes[id.index()]
    }

    pub fn args(&self, args: Args) -> &[ExprId] {
        &self.args[args.range()]
    }

    pub fn span(&self, template: Template) -> Span {
        self.spans[template.root.index()]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Declared by a cut.
    Cut,
    Terminal,
    Local,
    Parameter,
    Constant,
    Input,
    Output,
}

impl VariableKind {
    /// Known before the simulation starts.
    pub fn is_fixed(self) -> bool {
        matches!(self, VariableKind::Parameter | VariableKind::Constant)
    }

    /// Visible from outside; it can be connected like `cut T(T/.)`.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            VariableKind::Terminal | VariableKind::Input | VariableKind::Output
        )
    }

    pub fn words(self) -> &'static str {
        match self {
            VariableKind::Cut => "a variable of a cut",
            VariableKind::Terminal => "a terminal",
            VariableKind::Local => "a local variable",
            VariableKind::Parameter => "a parameter",
            VariableKind::Constant => "a constant",
            VariableKind::Input => "an input",
            VariableKind::Output => "an output",
        }
    }
}

#[derive(Clone, Debug)]
pub struct VariableDecl {
    pub name: Symbol,
    pub span: Span,
    pub kind: VariableKind,
    /// Not declared; it counts as a local variable.
    pub implicit: bool,
    pub array: bool,
    pub size: Option<Template>,
    /// The value of a parameter or constant, or the default of a terminal.
    pub value: Option<Template>,
    pub remarks: Remarks,
    pub doc: Option<String>,
    /// The type that declared it.
    pub declared_in: ClassId,
}

#[derive(Clone, Debug)]
pub struct SubmodelDecl {
    pub name: Symbol,
    pub span: Span,
    /// `None` if the type is unknown; that was reported.
    pub class: Option<ClassId>,
    pub array: bool,
    pub size: Option<Template>,
    /// Parameter slots of the submodel's class with their values in this class.
    pub settings: Vec<(u32, Template)>,
    pub initial: Vec<InitialSetting>,
}

/// `ic x.y = v`
#[derive(Clone, Debug)]
pub struct InitialSetting {
    /// An entry of [`Code::deep`]; its steps begin inside the submodel.
    pub target: u32,
    pub value: Template,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct CutPlace {
    pub slot: u32,
    pub negative: bool,
}

/// One side of a cut.
#[derive(Clone, Debug)]
pub enum Side {
    /// A lone `.`: no variables, for any number of components.
    Any,
    Places(Vec<Option<CutPlace>>),
}

impl Side {
    pub fn place(&self, position: usize) -> Option<CutPlace> {
        match self {
            Side::Any => None,
            Side::Places(places) => places.get(position).copied().flatten(),
        }
    }

    pub fn len(&self) -> Option<usize> {
        match self {
            Side::Any => None,
            Side::Places(places) => Some(places.len()),
        }
    }
}

#[derive(Clone, Debug)]
pub enum CutBody {
    Simple { across: Side, through: Side },
    Bundle(Vec<CutMember>),
}

#[derive(Clone, Copy, Debug)]
pub struct CutMember {
    pub cut: u32,
    pub index: Option<Template>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct CutDecl {
    pub name: Symbol,
    pub span: Span,
    pub array: bool,
    pub size: Option<Template>,
    pub body: CutBody,
}

#[derive(Clone, Debug)]
pub struct PathDecl {
    pub name: Symbol,
    pub span: Span,
    pub from: Option<CutMember>,
    pub to: Option<CutMember>,
}

#[derive(Clone, Debug)]
pub struct NodeDecl {
    pub name: Symbol,
    pub span: Span,
    pub array: bool,
    pub size: Option<Template>,
    pub junction1: bool,
}

/// What a name in an expression can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueName {
    Variable(u32),
    Submodel(u32),
}

/// What a name in a connection can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointName {
    Cut(u32),
    Path(u32),
    Node(u32),
    Submodel(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationKind {
    Plain,
    /// `new(x) = ...` outside a `when`
    New,
    /// `init(x) = ...` outside a `when`
    Init,
}

/// An equation; both sides lie in the nodes `first..=right`.
#[derive(Clone, Copy, Debug)]
pub struct Equation {
    pub first: u32,
    pub left: ExprId,
    pub right: ExprId,
    pub kind: EquationKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Equation(Equation),
    When(Vec<(Template, Vec<Statement>)>),
    For(Box<For<Statement>>),
    /// `state x` (true) and `nostate x`
    Wish(Template, bool),
}

#[derive(Clone, Debug)]
pub struct For<T> {
    pub from: Template,
    pub to: Template,
    pub body: Vec<T>,
}

/// A point named in a connection.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub kind: PointKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum PointKind {
    Node(u32, Option<Template>),
    Cut(Owner, u32, Option<Template>),
    Terminal(Owner, u32, Option<Template>),
    /// A path: the first and last cut of it.
    Path(Owner, u32),
}

/// Whose cut it is.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// The enclosing model's own.
    Own,
    Submodel(u32, Option<Template>),
}

/// A chain, in the order of evaluation: operands before users.
#[derive(Clone, Copy, Debug)]
pub enum Chain {
    Point(Point),
    Series(u32, u32),
    Parallel(u32, u32),
    Reversed(u32),
}

#[derive(Clone, Debug)]
pub enum Connection {
    Chain {
        chain: Vec<Chain>,
        closed: bool,
        span: Span,
    },
    At {
        what: Point,
        point: Point,
        span: Span,
    },
    FromTo {
        chain: Vec<Chain>,
        from: Point,
        to: Point,
        span: Span,
    },
    For(Box<For<Connection>>),
}

#[derive(Clone, Debug)]
pub struct Class {
    pub name: Symbol,
    pub span: Span,
    pub variables: Vec<VariableDecl>,
    pub submodels: Vec<SubmodelDecl>,
    pub cuts: Vec<CutDecl>,
    pub paths: Vec<PathDecl>,
    pub nodes: Vec<NodeDecl>,
    pub values: FxHashMap<Symbol, ValueName>,
    pub points: FxHashMap<Symbol, PointName>,
    pub main_cut: Option<u32>,
    pub main_path: Option<u32>,
    pub equations: Vec<Statement>,
    pub connections: Vec<Connection>,
    pub code: Code,
    /// Whether it has arrays of cuts, nodes, submodels or variables: then positions depend on the
    /// instance.
    pub has_arrays: bool,
    /// `for` or indices among the connections.
    pub indexed_connections: bool,
}

impl CutBody {
    /// Components with a variable on either side: each gets one equation from outside.
    pub fn pairs(&self) -> usize {
        match self {
            CutBody::Simple { across, through } => (0..across.len().unwrap_or(0))
                .filter(|&at| across.place(at).is_some() && through.place(at).is_some())
                .count(),
            CutBody::Bundle(_) => 0,
        }
    }
}

impl Class {
    /// How a variable was declared.
    pub fn role(&self, slot: u32) -> Role {
        let variable = &self.variables[slot as usize];
        let holds = |side: &Side| match side {
            Side::Any => false,
            Side::Places(places) => places.iter().flatten().any(|place| place.slot == slot),
        };
        match variable.kind {
            VariableKind::Cut => {
                let (mut is_across, mut is_through) = (false, false);
                for cut in &self.cuts {
                    if let CutBody::Simple { across, through } = &cut.body {
                        is_across |= holds(across);
                        is_through |= holds(through);
                    }
                }
                match (is_across, is_through) {
                    (true, true) => Role::Both,
                    (false, true) => Role::Through,
                    _ => Role::Across,
                }
            }
            VariableKind::Terminal => Role::Terminal,
            VariableKind::Input => Role::Input,
            VariableKind::Output => Role::Output,
            VariableKind::Local if variable.implicit => Role::Implicit,
            VariableKind::Local => Role::Local,
            VariableKind::Parameter | VariableKind::Constant => Role::Fixed,
        }
    }

    pub fn new(name: Symbol, span: Span) -> Self {
        Class {
            name,
            span,
            variables: Vec::new(),
            submodels: Vec::new(),
            cuts: Vec::new(),
            paths: Vec::new(),
            nodes: Vec::new(),
            values: FxHashMap::default(),
            points: FxHashMap::default(),
            main_cut: None,
            main_path: None,
            equations: Vec::new(),
            connections: Vec::new(),
            code: Code::default(),
            has_arrays: false,
            indexed_connections: false,
        }
    }
}
