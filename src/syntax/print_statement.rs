//! Statements of models and experiments as text: the larger part of [`super::print`].

use super::ast::*;
use super::print::Printer;
use crate::expr::ExprId;

impl Printer<'_> {
    pub(super) fn block(&mut self, body: &[Statement]) {
        self.depth += 1;
        for statement in body {
            self.statement(statement);
        }
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Error = statement.kind {
            return;
        }
        self.doc(statement.doc.as_deref());
        self.begin();
        match &statement.kind {
            StatementKind::Cuts { main, cuts } => {
                self.text(if *main { "main cut " } else { "cut " });
                self.list(cuts, Self::cut);
            }
            StatementKind::Paths { main, paths } => {
                self.text(if *main { "main path " } else { "path " });
                self.list(paths, Self::path);
            }
            StatementKind::Variables { class, variables } => {
                self.text(class.text());
                self.text(" ");
                self.list(variables, Self::variable);
            }
            StatementKind::Wishes { keep, variables } => {
                self.text(if *keep { "state " } else { "nostate " });
                self.list(variables, |printer, &variable| printer.reference(variable));
            }
            StatementKind::Nodes { junction1, nodes } => {
                self.text(if *junction1 { "junction1 " } else { "node " });
                self.list(nodes, |printer, node| {
                    printer.name(node.name);
                    printer.index(node.size);
                });
            }
            StatementKind::Submodels { class, submodels } => {
                self.text("submodel ");
                if let Some(class) = *class {
                    self.text("(");
                    self.name(class);
                    self.text(") ");
                }
                self.list(submodels, Self::submodel);
            }
            StatementKind::Connect(connections) => {
                self.text("connect ");
                self.list(connections, Self::connection);
            }
            StatementKind::Equation { left, right } => {
                self.expr(*left);
                self.text(" = ");
                self.expr(*right);
            }
            StatementKind::When(branches) => {
                for (at, branch) in branches.iter().enumerate() {
                    if at > 0 {
                        self.begin();
                    }
                    self.text(if at > 0 { "elsewhen " } else { "when " });
                    self.expr(branch.condition);
                    self.text(" then\n");
                    self.block(&branch.body);
                }
                self.begin();
                self.text("endwhen");
            }
            StatementKind::For {
                variable,
                from,
                to,
                body,
            } => {
                self.text("for ");
                self.name(*variable);
                self.text(" in ");
                self.expr(*from);
                self.text(" to ");
                self.expr(*to);
                self.text(" do\n");
                self.block(body);
                self.begin();
                self.text("endfor");
            }
            StatementKind::Error => {}
        }
        self.text("\n");
    }

    fn cut(&mut self, cut: &Cut) {
        self.name(cut.name);
        match &cut.body {
            CutBody::Simple { across, through } => {
                self.index(cut.size);
                let plain = |side: &[CutVariable]| {
                    side.len() == 1 && side.iter().all(|v| v.remarks == Remarks::default())
                };
                let tight = plain(across) && plain(through);
                self.text("(");
                self.list(across, Self::cut_variable);
                self.text(if tight { "/" } else { " / " });
                self.list(through, Self::cut_variable);
                self.text(")");
            }
            CutBody::Bundle(members) => {
                self.text("[");
                self.list(members, Self::cut_ref);
                self.text("]");
            }
        }
    }

    fn cut_variable(&mut self, variable: &CutVariable) {
        match variable.name {
            None => self.text("."),
            Some(name) => {
                self.text(if variable.negative { "-" } else { "" });
                self.name(name);
                self.remarks(&variable.remarks);
            }
        }
    }

    fn cut_ref(&mut self, cut: &CutRef) {
        self.name(cut.name);
        self.index(cut.index);
    }

    fn path(&mut self, path: &Path) {
        self.name(path.name);
        self.text(" <");
        self.cut_ref(&path.from);
        self.text(" - ");
        self.cut_ref(&path.to);
        self.text(">");
    }

    fn variable(&mut self, variable: &Variable) {
        self.name(variable.name);
        self.index(variable.size);
        if let Some(value) = variable.value {
            self.text(" = ");
            self.expr(value);
        }
        self.remarks(&variable.remarks);
    }

    fn remarks(&mut self, remarks: &Remarks) {
        let quoted = [(&remarks.unit, "'"), (&remarks.description, "\"")];
        for (text, quote) in quoted {
            if let Some(text) = text {
                self.text(" ");
                self.text(quote);
                self.text(text);
                self.text(quote);
            }
        }
    }

    fn submodel(&mut self, submodel: &Submodel) {
        self.name(submodel.name);
        self.index(submodel.size);
        for (at, settings) in submodel.settings.iter().enumerate() {
            self.text(if at > 0 { " (" } else { "(" });
            self.list(settings, |printer, setting| {
                printer.text(if setting.initial { "ic " } else { "" });
                printer.assignment(&(setting.target, setting.value));
            });
            self.text(")");
        }
    }

    fn assignment(&mut self, &(target, value): &(Reference, ExprId)) {
        self.reference(target);
        self.text(" = ");
        self.expr(value);
    }

    fn connection(&mut self, connection: &Connection) {
        match connection.kind {
            ConnectionKind::Chain(chain) => self.chain(chain),
            ConnectionKind::Loop(chain) => {
                self.text("loop ");
                self.chain(chain);
            }
            ConnectionKind::At(chain, point) => {
                self.chain(chain);
                self.text(" at ");
                self.reference(point);
            }
            ConnectionKind::FromTo(chain, from, to) => {
                self.chain(chain);
                self.text(" from ");
                self.reference(from);
                self.text(" to ");
                self.reference(to);
            }
        }
    }

    pub(super) fn experiment(&mut self, experiment: &Experiment) {
        self.text(match experiment.classic {
            true => "cmodel",
            false => "experiment",
        });
        if let Some(name) = experiment.name {
            self.text(" ");
            self.name(name);
        }
        if let Some(model) = experiment.model {
            self.text(match experiment.name {
                Some(_) => " for ",
                None => " ",
            });
            self.name(model);
        }
        self.text("\n");
        self.depth += 1;
        for statement in &experiment.body {
            self.experiment_statement(&statement.kind);
        }
        self.depth -= 1;
        self.end(experiment.end_name);
    }

    fn experiment_statement(&mut self, kind: &ExperimentKind) {
        if let ExperimentKind::Error = kind {
            return;
        }
        self.begin();
        match kind {
            ExperimentKind::Simutime(value) => self.setting("simutime ", *value),
            ExperimentKind::Start(value) => self.setting("start ", *value),
            ExperimentKind::Commupoints(value) => self.setting("commupoints ", *value),
            ExperimentKind::Step(value) => self.setting("step ", *value),
            ExperimentKind::Tolerance(value) => self.setting("tolerance ", *value),
            ExperimentKind::Inputs(list) => self.assignments("input ", list),
            ExperimentKind::Parameters(list) => self.assignments("parameter ", list),
            ExperimentKind::Initial(list) => self.assignments("init ", list),
            ExperimentKind::Plot(variables) => {
                self.text("plot ");
                self.list(variables, |printer, &variable| printer.reference(variable));
            }
            ExperimentKind::Method(name) => {
                self.text("method ");
                self.name(*name);
            }
            ExperimentKind::Absolute(variable, value) => {
                self.text("absolute ");
                if let Some(variable) = *variable {
                    self.reference(variable);
                    self.text(" ");
                }
                self.expr(*value);
            }
            ExperimentKind::ClassicInputs(count, inputs) => {
                self.setting("input ", *count);
                self.text(", ");
                self.list(inputs, |printer, &(input, kind, value)| {
                    printer.name(input);
                    printer.text("(");
                    printer.name(kind);
                    printer.setting(", ", value);
                    printer.text(")");
                });
            }
            ExperimentKind::ControlBlock(text) => {
                self.text("ctblock");
                self.text(text);
                self.text("ctend");
            }
            ExperimentKind::OutBlock(name, variables) => {
                self.text("outblock ");
                self.name(*name);
                self.text("\n");
                self.depth += 1;
                self.begin();
                self.text("dispt ");
                self.list(variables, |printer, &variable| printer.reference(variable));
                self.text("\n");
                self.depth -= 1;
                self.begin();
                self.text("outend");
            }
            ExperimentKind::Error => {}
        }
        self.text("\n");
    }

    fn setting(&mut self, word: &str, value: ExprId) {
        self.text(word);
        self.expr(value);
    }

    fn assignments(&mut self, word: &str, list: &[(Reference, ExprId)]) {
        self.text(word);
        self.list(list, Self::assignment);
    }
}
