//! Verifier of trees: operands come before the nodes that use them, ids and ranges are valid, names exist, and every
//! place lies in the tree's file on boundaries of characters.

use super::ast::*;
use crate::base::flaw::{Flaws, Place};
use crate::base::intern::Interner;
use crate::base::source::{Sources, Span};
use crate::expr::{ExprId, Node};

pub fn verify(ast: &Ast, names: &Interner, sources: &Sources) -> Result<(), Flaws> {
    let mut verifier = Verifier {
        ast,
        names,
        sources,
        flaws: Flaws::default(),
    };
    verifier.exprs();
    verifier.chains();
    for item in &ast.items {
        verifier.item(item);
    }
    verifier.flaws.into_result()
}

struct Verifier<'a> {
    ast: &'a Ast,
    names: &'a Interner,
    sources: &'a Sources,
    flaws: Flaws,
}

impl Verifier<'_> {
    fn span(&mut self, what: &'static str, span: Span) {
        let holds = span.file == self.ast.file && self.sources.holds(span);
        (self.flaws).unless(holds, Place(what), || {
            format!("its place {span:?} is not in the file, or cuts a character in two")
        });
    }

    fn exprs(&mut self) {
        let exprs = &self.ast.exprs;
        let count = exprs.nodes.len();
        let same = exprs.spans.len() == count && exprs.firsts.len() == count;
        (self.flaws).unless(same, Place("expressions"), || {
            format!("{count} of them, {} places", exprs.spans.len())
        });
        for at in 0..count as u32 {
            let id = ExprId(at);
            let (args, reference) = match exprs.node(id) {
                Node::Call(_, args) | Node::List(args) => (args.range(), 0..0),
                Node::Leaf(reference) => (0..0, reference.range()),
                _ => (0..0, 0..0),
            };
            let inside = args.end <= exprs.args.len() && reference.end <= exprs.parts.len();
            (self.flaws).unless(inside, id, || {
                "its operands are not in the pool".to_string()
            });
            if !inside {
                continue;
            }
            let few = match exprs.node(id) {
                Node::Unary(_, a) => [Some(a), None, None],
                Node::Binary(_, a, b) => [Some(a), Some(b), None],
                Node::If(a, b, c) => [Some(a), Some(b), Some(c)],
                _ => [None; 3],
            };
            let indices = exprs.parts[reference].iter().filter_map(|part| part.index);
            let pooled = exprs.args[args].iter().copied();
            for operand in few.into_iter().flatten().chain(pooled).chain(indices) {
                (self.flaws).unless(operand < id, id, || {
                    format!("its operand {operand:?} does not come before it")
                });
            }
            let first = exprs
                .firsts
                .get(id.index())
                .is_some_and(|&first| first <= at);
            (self.flaws).unless(first, id, || "it begins after itself".to_string());
        }
        for &span in &exprs.spans {
            self.span("expression", span);
        }
        for part in &exprs.parts {
            self.name(&part.name);
        }
    }

    fn chains(&mut self) {
        let chains = &self.ast.chains;
        for (at, &chain) in chains.nodes.iter().enumerate() {
            let parts = match chain {
                Chain::Point(point) => {
                    self.reference(&point);
                    [None, None]
                }
                Chain::Series(a, b) | Chain::Parallel(a, b) => [Some(a), Some(b)],
                Chain::Reversed(a) => [Some(a), None],
            };
            for part in parts.into_iter().flatten() {
                (self.flaws).unless((part.0 as usize) < at, ChainId(at as u32), || {
                    format!("its part {part:?} does not come before it")
                });
            }
        }
        for &span in &chains.spans {
            self.span("chain", span);
        }
    }

    fn expr(&mut self, id: ExprId) {
        let holds = id.index() < self.ast.exprs.nodes.len();
        (self.flaws).unless(holds, id, || "there is no such expression".to_string());
    }

    fn chain(&mut self, id: ChainId) {
        let holds = (id.0 as usize) < self.ast.chains.nodes.len();
        (self.flaws).unless(holds, id, || "there is no such chain".to_string());
    }

    fn name(&mut self, name: &Name) {
        let holds = self.names.holds(name.symbol);
        (self.flaws).unless(holds, name.symbol, || "there is no such name".to_string());
        self.span("name", name.span);
    }

    fn reference(&mut self, reference: &Reference) {
        let holds = reference.range().end <= self.ast.exprs.parts.len() && reference.len > 0;
        (self.flaws).unless(holds, Place("reference"), || "it has no parts".to_string());
        self.span("reference", reference.span);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Include(include) => self.span("include", include.span),
            Item::Model(model) => {
                self.span("model", model.span);
                self.name(&model.name);
                for name in model.bases.iter().chain(&model.end_name) {
                    self.name(name);
                }
                self.statements(&model.body);
            }
            Item::Experiment(experiment) => {
                self.span("experiment", experiment.span);
                let names = [&experiment.name, &experiment.model, &experiment.end_name];
                for name in names.into_iter().flatten() {
                    self.name(name);
                }
                for statement in &experiment.body {
                    self.span("statement", statement.span);
                    self.experiment(&statement.kind);
                }
            }
            Item::Error => {}
        }
    }

    /// Blocks nest at most 100 levels deep; the layout pass ensures that.
    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            self.span("statement", statement.span);
            self.statement(&statement.kind);
        }
    }

    fn statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Cuts { cuts, .. } => cuts.iter().for_each(|cut| self.cut(cut)),
            StatementKind::Paths { paths, .. } => {
                for path in paths {
                    self.name(&path.name);
                    self.span("path", path.span);
                    self.cut_ref(&path.from);
                    self.cut_ref(&path.to);
                }
            }
            StatementKind::Variables { variables, .. } => {
                for variable in variables {
                    self.name(&variable.name);
                    self.span("variable", variable.span);
                    let parts = [variable.size, variable.value];
                    parts.into_iter().flatten().for_each(|id| self.expr(id));
                }
            }
            StatementKind::Wishes { variables, .. } => {
                variables
                    .iter()
                    .for_each(|variable| self.reference(variable));
            }
            StatementKind::Nodes { nodes, .. } => {
                for node in nodes {
                    self.name(&node.name);
                    node.size.into_iter().for_each(|id| self.expr(id));
                }
            }
            StatementKind::Submodels { class, submodels } => {
                class.iter().for_each(|class| self.name(class));
                submodels
                    .iter()
                    .for_each(|submodel| self.submodel(submodel));
            }
            StatementKind::Connect(connections) => {
                for connection in connections {
                    self.span("connection", connection.span);
                    let (chain, ends) = match connection.kind {
                        ConnectionKind::Chain(chain) | ConnectionKind::Loop(chain) => {
                            (chain, [None, None])
                        }
                        ConnectionKind::At(chain, at) => (chain, [Some(at), None]),
                        ConnectionKind::FromTo(chain, from, to) => (chain, [Some(from), Some(to)]),
                    };
                    self.chain(chain);
                    ends.iter().flatten().for_each(|end| self.reference(end));
                }
            }
            StatementKind::Equation { left, right } => {
                self.expr(*left);
                self.expr(*right);
            }
            StatementKind::When(branches) => {
                for branch in branches {
                    self.expr(branch.condition);
                    self.statements(&branch.body);
                }
            }
            StatementKind::For {
                variable,
                from,
                to,
                body,
            } => {
                self.name(variable);
                self.expr(*from);
                self.expr(*to);
                self.statements(body);
            }
            StatementKind::Error => {}
        }
    }

    fn cut(&mut self, cut: &Cut) {
        self.name(&cut.name);
        self.span("cut", cut.span);
        cut.size.into_iter().for_each(|id| self.expr(id));
        match &cut.body {
            CutBody::Simple { across, through } => {
                for variable in across.iter().chain(through) {
                    self.span("cut variable", variable.span);
                    variable.name.iter().for_each(|name| self.name(name));
                }
            }
            CutBody::Bundle(parts) => parts.iter().for_each(|part| self.cut_ref(part)),
        }
    }

    fn cut_ref(&mut self, part: &CutRef) {
        self.name(&part.name);
        part.index.into_iter().for_each(|id| self.expr(id));
    }

    fn submodel(&mut self, submodel: &Submodel) {
        self.name(&submodel.name);
        self.span("submodel", submodel.span);
        submodel.size.into_iter().for_each(|id| self.expr(id));
        for setting in submodel.settings.iter().flatten() {
            self.span("setting", setting.span);
            self.reference(&setting.target);
            self.expr(setting.value);
        }
    }

    fn experiment(&mut self, kind: &ExperimentKind) {
        match kind {
            ExperimentKind::Simutime(id)
            | ExperimentKind::Start(id)
            | ExperimentKind::Commupoints(id)
            | ExperimentKind::Step(id)
            | ExperimentKind::Tolerance(id) => self.expr(*id),
            ExperimentKind::Inputs(list)
            | ExperimentKind::Parameters(list)
            | ExperimentKind::Initial(list) => {
                for (target, value) in list {
                    self.reference(target);
                    self.expr(*value);
                }
            }
            ExperimentKind::Plot(list) => list.iter().for_each(|one| self.reference(one)),
            ExperimentKind::Method(name) => self.name(name),
            ExperimentKind::Absolute(target, value) => {
                target.iter().for_each(|target| self.reference(target));
                self.expr(*value);
            }
            ExperimentKind::ClassicInputs(count, list) => {
                self.expr(*count);
                for (input, what, value) in list {
                    self.name(input);
                    self.name(what);
                    self.expr(*value);
                }
            }
            ExperimentKind::OutBlock(name, list) => {
                self.name(name);
                list.iter().for_each(|one| self.reference(one));
            }
            ExperimentKind::ControlBlock(_) | ExperimentKind::Error => {}
        }
    }
}
