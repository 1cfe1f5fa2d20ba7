//! Random syntax trees, built as the parser builds them.
//!
//! A tree is a function of a list of numbers, drawn one by one wherever there is a choice; 0 is the
//! simplest choice, and an exhausted list goes on with zeros. So proptest, which shortens the list
//! and makes its numbers smaller, shrinks trees too.

use bgm::base::intern::Interner;
use bgm::base::source::{FileId, Span};
use bgm::expr::{BinaryOp, ExprId, Function, Node, Real, UnaryOp};
use bgm::syntax::ast::*;

const SPAN: Span = Span {
    file: FileId(0),
    start: 0,
    end: 0,
};

/// Names, some of which are words in other places.
const NAMES: &[&str] = &[
    "x", "R1", "y", "e", "E5", "a_b", "größe", "Φ2", "sin", "min", "ic", "state", "nostate",
    "cmodel", "endif", "start", "step", "plot", "method", "dispt", "outend", "simutime",
];
/// Behind `cmodel`, where a name is optional, the words of an experiment are no names.
const CMODEL_NAMES: usize = 15;

const NUMBERS: &[f64] = &[
    0.0,
    1.0,
    2.5,
    0.1,
    1e-6,
    1.5e3,
    1e16,
    1e22,
    123_456_789.125,
    5e-324,
    f64::MAX,
    std::f64::consts::PI,
];
const DOCS: &[&str] = &["what", "", "two\nlines", "a\n\n{ \" ; # '\n", "model x"];
const UNITS: &[&str] = &["V", "J/(kg.K)", "", "{", "# \""];
const DESCRIPTIONS: &[&str] = &["voltage", "", "it's # { ; end", "}"];
const INCLUDES: &[&str] = &["bond.bnd", "a/b'c\"(", "größe", ""];
const CONTROLS: &[&str] = &[
    " ",
    "\n  drunr | if x < 0 then\n  ",
    " ctending } ' \" # end\n",
];

const BINARY: &[BinaryOp] = &[
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Pow,
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
];
const CLASSES: &[VariableClass] = &[
    VariableClass::Terminal,
    VariableClass::Local,
    VariableClass::Parameter,
    VariableClass::Constant,
    VariableClass::Input,
    VariableClass::Output,
];

pub fn ast(choices: &[u16]) -> (Ast, Interner) {
    let mut generator = Generator {
        choices: choices.iter(),
        interner: Interner::default(),
        exprs: Exprs::default(),
        chains: Chains::default(),
    };
    let items = generator.some(0, 4, Generator::item);
    let ast = Ast {
        file: FileId(0),
        items,
        exprs: generator.exprs,
        chains: generator.chains,
    };
    (ast, generator.interner)
}

struct Generator<'c> {
    choices: std::slice::Iter<'c, u16>,
    interner: Interner,
    exprs: Exprs,
    chains: Chains,
}

impl Generator<'_> {
    /// One of `0..count`.
    fn draw(&mut self, count: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % count
    }

    fn yes(&mut self) -> bool {
        self.draw(2) == 1
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.draw(list.len())]
    }

    fn some<T>(&mut self, least: usize, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let count = least + self.draw(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }

    fn maybe<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Option<T> {
        self.yes().then(|| make(self))
    }

    fn name(&mut self) -> Name {
        let text = self.pick(NAMES);
        self.name_of(text)
    }

    fn name_of(&mut self, text: &str) -> Name {
        Name {
            symbol: self.interner.intern(text),
            span: SPAN,
        }
    }

    fn item(&mut self) -> Item {
        match self.draw(4) {
            0 | 1 => Item::Model(self.model()),
            2 => Item::Experiment(self.experiment()),
            _ => Item::Include(Include {
                name: self.pick(INCLUDES).into(),
                span: SPAN,
            }),
        }
    }

    fn doc(&mut self) -> Option<String> {
        self.maybe(|g| g.pick(DOCS).into())
    }

    fn model(&mut self) -> Model {
        let name = self.name();
        Model {
            doc: self.doc(),
            kind: self.pick(&[ModelKind::Model, ModelKind::Type, ModelKind::Class]),
            bases: self.some(0, 2, Self::name),
            name,
            body: self.some(0, 6, |g| g.statement(3)),
            end_name: self.maybe(|_| name),
            span: SPAN,
        }
    }

    /// A statement with up to `depth` blocks inside one another.
    fn statement(&mut self, depth: usize) -> Statement {
        let kind = match self.draw(if depth > 0 { 13 } else { 10 }) {
            0 | 1 => StatementKind::Equation {
                left: self.expr(),
                right: self.expr(),
            },
            2 => StatementKind::Cuts {
                main: self.yes(),
                cuts: self.some(1, 3, Self::cut),
            },
            3 => StatementKind::Paths {
                main: self.yes(),
                paths: self.some(1, 3, |g| Path {
                    name: g.name(),
                    from: g.cut_ref(),
                    to: g.cut_ref(),
                    span: SPAN,
                }),
            },
            4 | 5 => StatementKind::Variables {
                class: self.pick(CLASSES),
                variables: self.some(1, 3, |g| Variable {
                    name: g.name(),
                    size: g.maybe(Self::expr),
                    value: g.maybe(Self::expr),
                    remarks: g.remarks(),
                    span: SPAN,
                }),
            },
            6 => StatementKind::Wishes {
                keep: self.yes(),
                variables: self.some(1, 3, Self::reference),
            },
            7 => StatementKind::Nodes {
                junction1: self.yes(),
                nodes: self.some(1, 3, |g| NodeDecl {
                    name: g.name(),
                    size: g.maybe(Self::expr),
                }),
            },
            8 => StatementKind::Submodels {
                class: self.maybe(Self::name),
                submodels: self.some(1, 3, |g| Submodel {
                    name: g.name(),
                    size: g.maybe(Self::expr),
                    settings: g.some(0, 2, |g| g.some(0, 3, Self::setting)),
                    span: SPAN,
                }),
            },
            9 => StatementKind::Connect(self.some(1, 3, Self::connection)),
            10 | 11 => StatementKind::For {
                variable: self.name(),
                from: self.expr(),
                to: self.expr(),
                body: self.some(0, 3, |g| g.statement(depth - 1)),
            },
            _ => StatementKind::When(self.some(1, 3, |g| WhenBranch {
                condition: g.expr(),
                body: g.some(0, 3, |g| g.statement(depth - 1)),
            })),
        };
        let declares = matches!(
            kind,
            StatementKind::Cuts { .. }
                | StatementKind::Paths { .. }
                | StatementKind::Variables { .. }
                | StatementKind::Nodes { .. }
                | StatementKind::Submodels { .. }
        );
        Statement {
            doc: if declares { self.doc() } else { None },
            kind,
            span: SPAN,
        }
    }

    fn remarks(&mut self) -> Remarks {
        Remarks {
            unit: self.maybe(|g| g.pick(UNITS).into()),
            description: self.maybe(|g| g.pick(DESCRIPTIONS).into()),
        }
    }

    fn cut(&mut self) -> Cut {
        let (size, body) = match self.yes() {
            false => (
                self.maybe(Self::expr),
                CutBody::Simple {
                    across: self.some(1, 3, Self::cut_variable),
                    through: self.some(1, 3, Self::cut_variable),
                },
            ),
            true => (None, CutBody::Bundle(self.some(1, 3, Self::cut_ref))),
        };
        Cut {
            name: self.name(),
            size,
            body,
            span: SPAN,
        }
    }

    fn cut_variable(&mut self) -> CutVariable {
        let name = match self.draw(4) {
            3 => None,
            _ => Some(self.name()),
        };
        CutVariable {
            negative: name.is_some() && self.yes(),
            remarks: name.map(|_| self.remarks()).unwrap_or_default(),
            name,
            span: SPAN,
        }
    }

    fn cut_ref(&mut self) -> CutRef {
        CutRef {
            name: self.name(),
            index: self.maybe(Self::expr),
        }
    }

    fn setting(&mut self) -> Setting {
        Setting {
            initial: self.yes(),
            target: self.reference(),
            value: self.expr(),
            span: SPAN,
        }
    }

    fn connection(&mut self) -> Connection {
        let chain = self.chain(4);
        let kind = match self.draw(4) {
            0 => ConnectionKind::Chain(chain),
            1 => ConnectionKind::Loop(chain),
            2 => ConnectionKind::At(chain, self.point()),
            _ => ConnectionKind::FromTo(chain, self.point(), self.point()),
        };
        Connection { kind, span: SPAN }
    }

    fn chain(&mut self, depth: usize) -> ChainId {
        let chain = match self.draw(if depth > 0 { 6 } else { 1 }) {
            0 => Chain::Point(self.point()),
            1 | 2 => Chain::Series(self.chain(depth - 1), self.chain(depth - 1)),
            3 | 4 => Chain::Parallel(self.chain(depth - 1), self.chain(depth - 1)),
            _ => Chain::Reversed(self.chain(depth - 1)),
        };
        self.chains.push(chain, SPAN)
    }

    fn point(&mut self) -> Reference {
        self.parts(true)
    }

    fn reference(&mut self) -> Reference {
        self.parts(false)
    }

    fn parts(&mut self, point: bool) -> Reference {
        let count = 1 + self.draw(3);
        let parts: Vec<Part> = (0..count)
            .map(|at| Part {
                name: self.name(),
                index: (self.draw(4) == 3).then(|| self.expr()),
                colon: point && at > 0 && self.yes(),
            })
            .collect();
        self.exprs.reference(&parts, SPAN)
    }

    fn number(&mut self) -> ExprId {
        let value = match self.yes() {
            false => self.pick(NUMBERS),
            true => self.draw(usize::from(u16::MAX)) as f64 / 1024.0,
        };
        self.exprs.push(Node::Number(Real(value)), SPAN)
    }

    fn expr(&mut self) -> ExprId {
        // Fewer than one operand on average, or the first expression would use up all choices.
        let node = match self.draw(16) {
            0..=3 => return self.number(),
            4..=8 => Node::Leaf(self.reference()),
            9 => self.pick(&[Node::Time, Node::Bool(true), Node::Bool(false)]),
            10 => {
                let op = self.pick(&[UnaryOp::Minus, UnaryOp::Not, UnaryOp::Plus]);
                Node::Unary(op, self.expr())
            }
            11 | 12 => {
                let op = self.pick(BINARY);
                Node::Binary(op, self.expr(), self.expr())
            }
            13 => Node::If(self.expr(), self.expr(), self.expr()),
            14 => {
                let function = self.pick(Function::ALL);
                let arity = function.arity();
                let most = arity.most.min(arity.least + 2);
                let args = self.some(arity.least, most, Self::expr);
                Node::Call(function, self.exprs.pool(&args))
            }
            _ => {
                let items = self.some(1, 3, Self::expr);
                Node::List(self.exprs.pool(&items))
            }
        };
        self.exprs.push(node, SPAN)
    }

    fn experiment(&mut self) -> Experiment {
        let classic = self.yes();
        let names = if classic {
            &NAMES[..CMODEL_NAMES]
        } else {
            NAMES
        };
        let name = self.maybe(|g| {
            let text = g.pick(names);
            g.name_of(text)
        });
        let model = self.name();
        let body = self.some(0, 5, |g| ExperimentStatement {
            kind: g.experiment_kind(),
            span: SPAN,
        });
        Experiment {
            classic,
            name,
            model: (!classic).then_some(model),
            body,
            end_name: self.maybe(Self::name),
            span: SPAN,
        }
    }

    fn experiment_kind(&mut self) -> ExperimentKind {
        let assignment = |g: &mut Self| (g.reference(), g.expr());
        match self.draw(14) {
            0 => ExperimentKind::Simutime(self.expr()),
            1 => ExperimentKind::Start(self.expr()),
            2 => ExperimentKind::Commupoints(self.expr()),
            3 => ExperimentKind::Step(self.expr()),
            4 => ExperimentKind::Inputs(self.some(1, 3, assignment)),
            5 => ExperimentKind::Parameters(self.some(1, 3, assignment)),
            6 => ExperimentKind::Initial(self.some(1, 3, assignment)),
            7 => ExperimentKind::Plot(self.some(1, 3, Self::reference)),
            8 => ExperimentKind::Method(self.name()),
            9 => ExperimentKind::Tolerance(self.expr()),
            10 => ExperimentKind::Absolute(self.maybe(Self::reference), self.number()),
            11 => ExperimentKind::ClassicInputs(
                self.number(),
                self.some(1, 3, |g| (g.name(), g.name(), g.expr())),
            ),
            12 => ExperimentKind::ControlBlock(self.pick(CONTROLS).into()),
            _ => ExperimentKind::OutBlock(self.name(), self.some(1, 3, Self::reference)),
        }
    }
}
