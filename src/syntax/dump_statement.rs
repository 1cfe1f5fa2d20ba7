//! Statements of models and experiments as nested lists: the larger part of [`super::dump`].

use std::fmt::Write;

use super::ast::*;
use super::dump::Dumper;
use crate::expr::ExprId;

impl Dumper<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::When(branches) => {
                self.begin("(when");
                self.block(branches, |dumper, branch| {
                    dumper.begin("(branch");
                    dumper.expr(branch.condition);
                    dumper.block(&branch.body, Self::statement);
                });
                return;
            }
            StatementKind::For {
                variable,
                from,
                to,
                body,
            } => {
                self.begin("(for");
                self.name(*variable);
                self.expr(*from);
                self.expr(*to);
                self.block(body, Self::statement);
                return;
            }
            _ => self.begin("("),
        }
        self.declaration(&statement.kind);
        self.quoted("doc", statement.doc.as_deref());
        self.text(")\n");
    }

    fn declaration(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Cuts { main, cuts } => {
                self.text(if *main { "main cuts" } else { "cuts" });
                cuts.iter().for_each(|cut| self.cut(cut));
            }
            StatementKind::Paths { main, paths } => {
                self.text(if *main { "main paths" } else { "paths" });
                for path in paths {
                    self.text(" (path");
                    self.name(path.name);
                    self.cut_ref(&path.from);
                    self.cut_ref(&path.to);
                    self.text(")");
                }
            }
            StatementKind::Variables { class, variables } => {
                let _ = write!(self.out, "{class:?}");
                self.variables(variables);
            }
            StatementKind::Wishes { keep, variables } => {
                self.text(if *keep { "state" } else { "nostate" });
                variables.iter().for_each(|&v| self.reference(v));
            }
            StatementKind::Nodes { junction1, nodes } => {
                self.text(if *junction1 { "junction1" } else { "nodes" });
                for node in nodes {
                    self.text(" (node");
                    self.name(node.name);
                    self.size(node.size);
                    self.text(")");
                }
            }
            StatementKind::Submodels { class, submodels } => {
                self.text("submodels");
                self.names("class", *class);
                submodels
                    .iter()
                    .for_each(|submodel| self.submodel(submodel));
            }
            StatementKind::Connect(connections) => {
                self.text("connect");
                connections.iter().for_each(|c| self.connection(c));
            }
            StatementKind::Equation { left, right } => {
                self.text("equation");
                self.expr(*left);
                self.expr(*right);
            }
            StatementKind::Error => self.text("error"),
            // Blocks, written before.
            StatementKind::When(_) | StatementKind::For { .. } => {}
        }
    }

    fn variables(&mut self, variables: &[Variable]) {
        for variable in variables {
            self.text(" (variable");
            self.name(variable.name);
            self.size(variable.size);
            if let Some(value) = variable.value {
                self.text(" =");
                self.expr(value);
            }
            self.remarks(&variable.remarks);
            self.text(")");
        }
    }

    fn cut(&mut self, cut: &Cut) {
        self.text(" (cut");
        self.name(cut.name);
        self.size(cut.size);
        match &cut.body {
            CutBody::Simple { across, through } => {
                self.list("across", across, Self::cut_variable);
                self.list("through", through, Self::cut_variable);
            }
            CutBody::Bundle(members) => self.list("bundle", members, Self::cut_ref),
        }
        self.text(")");
    }

    fn cut_variable(&mut self, variable: &CutVariable) {
        self.text(if variable.negative {
            " (minus"
        } else {
            " (plus"
        });
        match variable.name {
            Some(name) => self.name(name),
            None => self.text(" none"),
        }
        self.remarks(&variable.remarks);
        self.text(")");
    }

    fn cut_ref(&mut self, cut: &CutRef) {
        self.text(" (ref");
        self.name(cut.name);
        self.size(cut.index);
        self.text(")");
    }

    fn submodel(&mut self, submodel: &Submodel) {
        self.text(" (submodel");
        self.name(submodel.name);
        self.size(submodel.size);
        for settings in &submodel.settings {
            self.list("settings", settings, |dumper, setting| {
                dumper.text(if setting.initial { " (ic" } else { " (set" });
                dumper.reference(setting.target);
                dumper.expr(setting.value);
                dumper.text(")");
            });
        }
        self.text(")");
    }

    fn connection(&mut self, connection: &Connection) {
        let (head, chain, points) = match connection.kind {
            ConnectionKind::Chain(chain) => (" (chain", chain, [None, None]),
            ConnectionKind::Loop(chain) => (" (loop", chain, [None, None]),
            ConnectionKind::At(chain, point) => (" (at", chain, [Some(point), None]),
            ConnectionKind::FromTo(chain, from, to) => (" (from", chain, [Some(from), Some(to)]),
        };
        self.text(head);
        self.chain(chain);
        points
            .into_iter()
            .flatten()
            .for_each(|point| self.reference(point));
        self.text(")");
    }

    pub(super) fn experiment_statement(&mut self, statement: &ExperimentStatement) {
        use ExperimentKind::*;
        self.begin("(");
        match &statement.kind {
            Simutime(value) => self.value("simutime", *value),
            Start(value) => self.value("start", *value),
            Commupoints(value) => self.value("commupoints", *value),
            Step(value) => self.value("step", *value),
            Tolerance(value) => self.value("tolerance", *value),
            Inputs(list) => self.assignments("inputs", list),
            Parameters(list) => self.assignments("parameters", list),
            Initial(list) => self.assignments("initial", list),
            Plot(variables) => {
                self.text("plot");
                variables.iter().for_each(|&v| self.reference(v));
            }
            Method(name) => {
                self.text("method");
                self.name(*name);
            }
            Absolute(variable, value) => {
                self.text("absolute");
                variable.iter().for_each(|&v| self.reference(v));
                self.expr(*value);
            }
            ClassicInputs(count, inputs) => {
                self.value("classic inputs", *count);
                for &(input, kind, value) in inputs {
                    self.text(" (input");
                    self.name(input);
                    self.name(kind);
                    self.expr(value);
                    self.text(")");
                }
            }
            ControlBlock(text) => {
                self.text("ctblock");
                self.quoted("text", Some(text));
            }
            OutBlock(name, variables) => {
                self.text("outblock");
                self.name(*name);
                variables.iter().for_each(|&v| self.reference(v));
            }
            Error => self.text("error"),
        }
        self.text(")\n");
    }

    fn value(&mut self, head: &str, value: ExprId) {
        self.text(head);
        self.expr(value);
    }

    fn assignments(&mut self, head: &str, list: &[(Reference, ExprId)]) {
        self.text(head);
        for &(target, value) in list {
            self.text(" (set");
            self.reference(target);
            self.expr(value);
            self.text(")");
        }
    }
}
