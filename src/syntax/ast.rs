//! The syntax tree of one file.
//!
//! Expressions and connection chains live in arenas, operands before the nodes that use them, so
//! that neither walking nor dropping a tree recurses. Blocks (`for`, `when`) nest by ownership;
//! the layout pass limits their depth. Every node has a span.

use crate::base::intern::Symbol;
use crate::base::source::{FileId, Span};
use crate::expr::{Args, ExprId, Node};

#[derive(Clone, Debug)]
pub struct Ast {
    pub file: FileId,
    pub items: Vec<Item>,
    pub exprs: Exprs,
    pub chains: Chains,
}

#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub symbol: Symbol,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Item {
    Include(Include),
    Model(Model),
    Experiment(Experiment),
    /// A part of the text that could not be read, which was reported.
    Error,
}

#[derive(Clone, Debug)]
pub struct Include {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    Type,
    Class,
    Model,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub doc: Option<String>,
    pub kind: ModelKind,
    pub bases: Vec<Name>,
    pub name: Name,
    pub body: Vec<Statement>,
    pub end_name: Option<Name>,
    /// From `model` to `end`.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Statement {
    pub doc: Option<String>,
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    Cuts {
        main: bool,
        cuts: Vec<Cut>,
    },
    Paths {
        main: bool,
        paths: Vec<Path>,
    },
    Variables {
        class: VariableClass,
        variables: Vec<Variable>,
    },
    /// `state x`, `nostate x`
    Wishes {
        keep: bool,
        variables: Vec<Reference>,
    },
    Nodes {
        junction1: bool,
        nodes: Vec<NodeDecl>,
    },
    Submodels {
        class: Option<Name>,
        submodels: Vec<Submodel>,
    },
    Connect(Vec<Connection>),
    Equation {
        left: ExprId,
        right: ExprId,
    },
    When(Vec<WhenBranch>),
    For {
        variable: Name,
        from: ExprId,
        to: ExprId,
        body: Vec<Statement>,
    },
    Error,
}

#[derive(Clone, Debug)]
pub struct WhenBranch {
    pub condition: ExprId,
    pub body: Vec<Statement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableClass {
    Terminal,
    Local,
    Parameter,
    Constant,
    Input,
    Output,
}

impl VariableClass {
    pub fn text(self) -> &'static str {
        match self {
            VariableClass::Terminal => "terminal",
            VariableClass::Local => "local",
            VariableClass::Parameter => "parameter",
            VariableClass::Constant => "constant",
            VariableClass::Input => "input",
            VariableClass::Output => "output",
        }
    }
}

/// `'V' "voltage"`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    pub unit: Option<String>,
    pub description: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Name,
    pub size: Option<ExprId>,
    pub value: Option<ExprId>,
    pub remarks: Remarks,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct NodeDecl {
    pub name: Name,
    pub size: Option<ExprId>,
}

#[derive(Clone, Debug)]
pub struct Cut {
    pub name: Name,
    pub size: Option<ExprId>,
    pub body: CutBody,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum CutBody {
    Simple {
        across: Vec<CutVariable>,
        through: Vec<CutVariable>,
    },
    Bundle(Vec<CutRef>),
}

#[derive(Clone, Debug)]
pub struct CutVariable {
    pub negative: bool,
    /// `None` for `.`
    pub name: Option<Name>,
    pub remarks: Remarks,
    pub span: Span,
}

/// A cut inside a bundle or a path: `A`, `p[2]`.
#[derive(Clone, Copy, Debug)]
pub struct CutRef {
    pub name: Name,
    pub index: Option<ExprId>,
}

#[derive(Clone, Debug)]
pub struct Path {
    pub name: Name,
    pub from: CutRef,
    pub to: CutRef,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Submodel {
    pub name: Name,
    pub size: Option<ExprId>,
    /// One list for each pair of brackets.
    pub settings: Vec<Vec<Setting>>,
    pub span: Span,
}

/// `R = 100` or `ic e = 5`
#[derive(Clone, Debug)]
pub struct Setting {
    pub initial: bool,
    pub target: Reference,
    pub value: ExprId,
    pub span: Span,
}

/// A name with dots and indices, in the pool of [`Exprs`].
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub first: u32,
    pub len: u32,
    pub span: Span,
}

impl Reference {
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// One part of a reference, with the separator before it.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub name: Name,
    pub index: Option<ExprId>,
    /// `x:A` rather than `x.A`
    pub colon: bool,
}

/// The expressions of a file.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    pub nodes: Vec<Node<Reference>>,
    pub spans: Vec<Span>,
    /// The first node of the subtree of each node; the subtree ends with the node itself.
    pub firsts: Vec<u32>,
    pub args: Vec<ExprId>,
    pub parts: Vec<Part>,
}

impl Exprs {
    pub fn push(&mut self, node: Node<Reference>, span: Span) -> ExprId {
        let id = ExprId(self.nodes.len() as u32);
        let first = |operand: ExprId| self.firsts[operand.index()];
        let begin = match node {
            Node::Number(_) | Node::Bool(_) | Node::Time => id.0,
            Node::Unary(_, a) | Node::Binary(_, a, _) | Node::If(a, ..) => first(a),
            Node::Call(_, args) | Node::List(args) => {
                self.args[args.range()].first().map_or(id.0, |&a| first(a))
            }
            Node::Leaf(reference) => self.parts[reference.range()]
                .iter()
                .find_map(|part| part.index)
                .map_or(id.0, first),
        };
        self.nodes.push(node);
        self.spans.push(span);
        self.firsts.push(begin);
        id
    }

    pub fn node(&self, id: ExprId) -> Node<Reference> {
        self.nodes[id.index()]
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }

    pub fn args(&self, args: Args) -> &[ExprId] {
        &self.args[args.range()]
    }

    pub fn parts(&self, reference: Reference) -> &[Part] {
        &self.parts[reference.range()]
    }

    pub fn pool(&mut self, args: &[ExprId]) -> Args {
        let first = self.args.len() as u32;
        self.args.extend_from_slice(args);
        Args {
            first,
            len: args.len() as u32,
        }
    }

    pub fn reference(&mut self, parts: &[Part], span: Span) -> Reference {
        let first = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        Reference {
            first,
            len: parts.len() as u32,
            span,
        }
    }
}

/// A chain in its arena. Prints as `c3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainId(pub u32);

#[derive(Clone, Copy, Debug)]
pub enum Chain {
    Point(Reference),
    Series(ChainId, ChainId),
    Parallel(ChainId, ChainId),
    Reversed(ChainId),
}

#[derive(Clone, Debug, Default)]
pub struct Chains {
    pub nodes: Vec<Chain>,
    pub spans: Vec<Span>,
    pub firsts: Vec<u32>,
}

impl Chains {
    pub fn push(&mut self, chain: Chain, span: Span) -> ChainId {
        let id = self.nodes.len() as u32;
        self.nodes.push(chain);
        self.spans.push(span);
        self.firsts.push(match chain {
            Chain::Point(_) => id,
            Chain::Series(a, _) | Chain::Parallel(a, _) | Chain::Reversed(a) => {
                self.firsts[a.0 as usize]
            }
        });
        ChainId(id)
    }

    pub fn node(&self, id: ChainId) -> Chain {
        self.nodes[id.0 as usize]
    }
}

/// One item of a `connect`.
#[derive(Clone, Debug)]
pub struct Connection {
    pub kind: ConnectionKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ConnectionKind {
    Chain(ChainId),
    Loop(ChainId),
    At(ChainId, Reference),
    FromTo(ChainId, Reference, Reference),
}

#[derive(Clone, Debug)]
pub struct Experiment {
    /// The 1990 paper's `cmodel` rather than `experiment`.
    pub classic: bool,
    pub name: Option<Name>,
    /// The model it is for; `cmodel` names none.
    pub model: Option<Name>,
    pub body: Vec<ExperimentStatement>,
    pub end_name: Option<Name>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ExperimentStatement {
    pub kind: ExperimentKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExperimentKind {
    Simutime(ExprId),
    Start(ExprId),
    Commupoints(ExprId),
    Step(ExprId),
    Inputs(Vec<(Reference, ExprId)>),
    Parameters(Vec<(Reference, ExprId)>),
    Initial(Vec<(Reference, ExprId)>),
    Plot(Vec<Reference>),
    Method(Name),
    Tolerance(ExprId),
    Absolute(Option<Reference>, ExprId),
    /// `input 1, u(independ, 10.0)`
    ClassicInputs(ExprId, Vec<(Name, Name, ExprId)>),
    /// `ctblock ... ctend`, word for word
    ControlBlock(String),
    /// `outblock OUT`, what is displayed, `outend`
    OutBlock(Name, Vec<Reference>),
    Error,
}
