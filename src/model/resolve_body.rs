//! Declarations and equations of a class, resolved.

use super::class::*;
use super::declare::Place;
use super::resolve::{Mode, Resolver};
use super::types::{containment_circle, contains_itself};
use crate::base::diagnostics::{Code as DiagnosticCode, Diagnostic};
use crate::base::source::{FileId, Span};
use crate::expr::{ExprId, Function, Node};
use crate::syntax::ast::{self, StatementKind};

impl Resolver<'_, '_> {
    /// Sizes, values, members and settings of the declarations.
    pub fn declarations(&mut self, class: &mut Class) {
        let declared = &self.classes[self.id.0 as usize];
        for pending in &declared.pending {
            self.file = pending.file;
            let size = Mode::Fixed("a size");
            match pending.place {
                Place::VariableSize(slot) => {
                    let template = self.template(pending.expr, size);
                    class.variables[slot as usize].size = Some(template);
                }
                Place::VariableValue(slot) => {
                    let variable = &class.variables[slot as usize];
                    let mode = Mode::Fixed(match variable.kind {
                        VariableKind::Parameter => "a parameter",
                        VariableKind::Constant => "a constant",
                        _ => "a default",
                    });
                    let template = match variable.array {
                        true => self.array_template(pending.expr, mode),
                        false => self.template(pending.expr, mode),
                    };
                    class.variables[slot as usize].value = Some(template);
                }
                Place::SubmodelSize(slot) => {
                    let template = self.template(pending.expr, size);
                    class.submodels[slot as usize].size = Some(template);
                }
                Place::CutSize(slot) => {
                    let template = self.template(pending.expr, size);
                    class.cuts[slot as usize].size = Some(template);
                }
                Place::NodeSize(slot) => {
                    let template = self.template(pending.expr, size);
                    class.nodes[slot as usize].size = Some(template);
                }
            }
        }
        for (slot, &(file, cut)) in declared.cuts.iter().enumerate() {
            if let ast::CutBody::Bundle(members) = &cut.body {
                let members = members
                    .iter()
                    .filter_map(|member| self.cut_member(file, member))
                    .collect();
                class.cuts[slot].body = CutBody::Bundle(members);
            }
        }
        for (slot, &(file, path)) in declared.paths.iter().enumerate() {
            class.paths[slot].from = self.cut_member(file, &path.from);
            class.paths[slot].to = self.cut_member(file, &path.to);
        }
        for (slot, &(file, submodel)) in declared.submodels.iter().enumerate() {
            self.file = file;
            self.settings(&mut class.submodels[slot], submodel);
        }
        self.bundle_circle(class);
    }

    fn cut_member(&mut self, file: FileId, member: &ast::CutRef) -> Option<CutMember> {
        self.file = file;
        let name = member.name;
        let class = self.class();
        let Some(&PointName::Cut(cut)) = class.points.get(&name.symbol) else {
            let cuts: Vec<_> = class.cuts.iter().map(|cut| cut.name).collect();
            let known = self.known(cuts.iter());
            let wrong = self.loaded.interner.name(name.symbol);
            let diagnostic = Diagnostic::new(
                DiagnosticCode::UnknownCut,
                format!("unknown cut `{}`", self.text(name.symbol)),
            )
            .at(name.span, "no cut of this name")
            .suggest(wrong, known);
            self.diagnostics.push(diagnostic);
            return None;
        };
        if member.index.is_some() && !class.cuts[cut as usize].array {
            self.index_use(name, false);
            return None;
        }
        let index = member
            .index
            .map(|index| self.template(index, Mode::Fixed("an index")));
        Some(CutMember {
            cut,
            index,
            span: name.span,
        })
    }

    fn bundle_circle(&mut self, class: &Class) {
        let edges = class.cuts.iter().enumerate().flat_map(|(outer, cut)| {
            let members = match &cut.body {
                CutBody::Bundle(members) => members.as_slice(),
                CutBody::Simple { .. } => &[],
            };
            members
                .iter()
                .map(move |member| (ClassId(outer as u32), ClassId(member.cut), member.span))
        });
        let Some(circle) = containment_circle(class.cuts.len(), edges) else {
            return;
        };
        let name = |id: ClassId| self.text(class.cuts[id.0 as usize].name);
        let told = contains_itself(DiagnosticCode::BundleCircle, "cut", &circle, name);
        self.diagnostics.extend(told);
    }

    fn settings(&mut self, decl: &mut SubmodelDecl, submodel: &ast::Submodel) {
        let Some(class_id) = decl.class else { return };
        let inner = self.class_of(class_id);
        for setting in submodel.settings.iter().flatten() {
            let value = setting.value;
            if setting.initial {
                let Some(target) = self.inner_target(class_id, setting.target) else {
                    continue;
                };
                let value = self.template(value, Mode::Fixed("a start value"));
                decl.initial.push(InitialSetting {
                    target,
                    value,
                    span: setting.span,
                });
                continue;
            }
            let Some(slot) = self.parameter_slot(inner, setting) else {
                continue;
            };
            if let Some(&(_, first)) = decl.settings.iter().find(|&&(other, _)| other == slot) {
                let span = setting.target.span;
                let name = self.text(inner.variables[slot as usize].name);
                self.diagnostics.push(
                    Diagnostic::new(
                        DiagnosticCode::DuplicateName,
                        format!("`{name}` is given two values"),
                    )
                    .at(span, "given again here")
                    .at(self.code.span(first), "first here"),
                );
                continue;
            }
            let mode = Mode::Fixed("the value of a parameter");
            let template = match inner.variables[slot as usize].array {
                true => self.array_template(value, mode),
                false => self.template(value, mode),
            };
            decl.settings.push((slot, template));
        }
    }

    /// The parameter that a setting means.
    fn parameter_slot(&mut self, inner: &Class, setting: &ast::Setting) -> Option<u32> {
        let parts = self.tree().exprs.parts(setting.target);
        let type_name = self.text(inner.name);
        let span = setting.target.span;
        let &[part] = parts else {
            let text = self.loaded.sources.text(span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::UnknownParameter,
                    format!("`{text}` is not a parameter of `{type_name}` itself"),
                )
                .at(span, "only the submodel's own parameters can be set here")
                .hint("pass the value on through a parameter of the type in between"),
            );
            return None;
        };
        let name = part.name;
        let text = self.text(name.symbol);
        let diagnostic = match inner.values.get(&name.symbol) {
            Some(&ValueName::Variable(slot)) => {
                let kind = inner.variables[slot as usize].kind;
                if kind == VariableKind::Parameter {
                    if part.index.is_some() {
                        self.diagnostics.push(
                            Diagnostic::new(
                                DiagnosticCode::IndexUse,
                                "an array parameter is given as a whole",
                            )
                            .at(span, "no index may stand here")
                            .hint(format!("write `{text} = [first, second, ...]`")),
                        );
                        return None;
                    }
                    return Some(slot);
                }
                let instance = match kind {
                    VariableKind::Constant => "a constant is fixed by its type".to_string(),
                    _ => format!(
                        "write an equation for it outside: `NAME.{text} = ...`; \
                         a start value is `ic {text} = ...`"
                    ),
                };
                Diagnostic::new(
                    DiagnosticCode::UnknownParameter,
                    format!(
                        "`{text}` is {}, not a parameter of `{type_name}`",
                        kind.words()
                    ),
                )
                .at(span, "cannot be set here")
                .hint(instance)
            }
            _ => {
                let names: Vec<_> = inner
                    .variables
                    .iter()
                    .filter(|variable| variable.kind == VariableKind::Parameter)
                    .map(|variable| variable.name)
                    .collect();
                let known = self.known(names.iter());
                let wrong = self.loaded.interner.name(name.symbol);
                let diagnostic = Diagnostic::new(
                    DiagnosticCode::UnknownParameter,
                    format!("`{type_name}` has no parameter `{text}`"),
                )
                .at(span, "unknown parameter");
                match known.is_empty() {
                    true => diagnostic.hint(format!("`{type_name}` has no parameters")),
                    false => diagnostic.suggest_or_list(wrong, "it has", &known),
                }
            }
        };
        self.diagnostics.push(diagnostic);
        None
    }

    /// The variable inside a submodel that gets a start value.
    fn inner_target(&mut self, class: ClassId, target: ast::Reference) -> Option<u32> {
        let parts = self.tree().exprs.parts(target);
        let (steps, slot, index) = self.walk(class, parts)?;
        let owner = steps.last().map_or(class, |&(_, class, _)| class);
        let kind = self.class_of(owner).variables[slot as usize].kind;
        if kind.is_fixed() {
            let text = self.loaded.sources.text(target.span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::NotAVariable,
                    format!("`{text}` is {} and has no start value", kind.words()),
                )
                .at(target.span, "`ic` takes a variable")
                .hint(format!("set it without `ic`: `{text} = ...`")),
            );
            return None;
        }
        let mode = Mode::Fixed("an index");
        let mut fixed = |index: Option<ExprId>| {
            index.map(|index| {
                let template = self.template(index, mode);
                self.code.numeric[template.first as usize..=template.root.index()].fill(true);
                template.root
            })
        };
        let deep = DeepRef {
            steps: steps
                .iter()
                .map(|&(slot, _, index)| (slot, fixed(index)))
                .collect(),
            slot,
            index: fixed(index),
        };
        self.code.deep.push(deep);
        Some(self.code.deep.len() as u32 - 1)
    }

    /// Equations, `when`, `for` and wishes of one part of the class.
    pub fn equations(&mut self, body: &[ast::Statement]) -> Vec<Statement> {
        let mut statements = Vec::new();
        for statement in body {
            match &statement.kind {
                StatementKind::Equation { left, right } => {
                    let equation = self.one_equation(*left, *right, statement.span, false);
                    statements.extend(equation.map(Statement::Equation));
                }
                StatementKind::When(branches) => {
                    let mut resolved = Vec::new();
                    for branch in branches {
                        let condition = self.template(branch.condition, Mode::Equation);
                        let body = self.when_body(&branch.body);
                        resolved.push((condition, body));
                    }
                    statements.push(Statement::When(resolved));
                }
                StatementKind::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    let bounds = (*from, *to);
                    let repeated = self.repeated(variable, bounds, |here| here.equations(body));
                    if !repeated.body.is_empty() {
                        statements.push(Statement::For(Box::new(repeated)));
                    }
                }
                StatementKind::Wishes { keep, variables } => {
                    for &variable in variables {
                        statements.push(self.wish(variable, *keep));
                    }
                }
                StatementKind::Connect(_) | StatementKind::Error => {}
                _ if !self.loops.is_empty() => self.misplaced(
                    statement.span,
                    "a declaration may not stand in a `for`",
                    "declare an array outside and use its elements here",
                ),
                _ => {}
            }
        }
        statements
    }

    pub fn bounds(&mut self, from: ExprId, to: ExprId) -> (Template, Template) {
        let mode = Mode::Fixed("a bound of a `for`");
        (self.template(from, mode), self.template(to, mode))
    }

    /// A `for`: its variable is known in its body.
    fn repeated(
        &mut self,
        variable: &ast::Name,
        (from, to): (ExprId, ExprId),
        body: impl FnOnce(&mut Self) -> Vec<Statement>,
    ) -> For<Statement> {
        let (from, to) = self.bounds(from, to);
        self.loops.push(variable.symbol);
        let body = body(self);
        self.loops.pop();
        For { from, to, body }
    }

    fn wish(&mut self, variable: ast::Reference, keep: bool) -> Statement {
        // A wish is a leaf of its own, made from the reference as an expression would be.
        let root = self.leaf(variable);
        if let Node::Leaf(slot) = self.code.node(root.root)
            && self.kind_of(slot).is_some_and(VariableKind::is_fixed)
        {
            let text = self.loaded.sources.text(variable.span);
            self.diagnostics.push(
                Diagnostic::new(
                    DiagnosticCode::NotAVariable,
                    format!("`{text}` cannot be a state"),
                )
                .at(variable.span, "not a variable"),
            );
        }
        Statement::Wish(root, keep)
    }

    fn misplaced(&mut self, span: Span, message: &str, hint: &str) {
        self.diagnostics.push(
            Diagnostic::new(DiagnosticCode::Misplaced, message)
                .at(span, "may not stand here")
                .hint(hint),
        );
    }

    fn when_body(&mut self, body: &[ast::Statement]) -> Vec<Statement> {
        let mut statements = Vec::new();
        for statement in body {
            match &statement.kind {
                StatementKind::Equation { left, right } => {
                    let equation = self.one_equation(*left, *right, statement.span, true);
                    statements.extend(equation.map(Statement::Equation));
                }
                StatementKind::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    let bounds = (*from, *to);
                    let repeated = self.repeated(variable, bounds, |here| here.when_body(body));
                    statements.push(Statement::For(Box::new(repeated)));
                }
                StatementKind::Error => {}
                _ => self.misplaced(
                    statement.span,
                    "only `new(x) = ...` and `init(x) = ...` may stand in a `when`",
                    "move this out of the `when`",
                ),
            }
        }
        statements
    }

    fn one_equation(
        &mut self,
        left: ExprId,
        right: ExprId,
        span: Span,
        in_when: bool,
    ) -> Option<Equation> {
        let (first, left, right) = self.equation(left, right);
        let kind = match self.code.node(left) {
            Node::Call(Function::New, _) => EquationKind::New,
            Node::Call(Function::Init, _) => EquationKind::Init,
            _ => EquationKind::Plain,
        };
        if in_when && kind == EquationKind::Plain {
            self.misplaced(
                span,
                "only `new(x) = ...` and `init(x) = ...` may stand in a `when`",
                "an equation that holds at all times stands outside; \
                 choose between two with `if`",
            );
            return None;
        }
        for at in first..=right.0 {
            let id = ExprId(at);
            if let Node::Call(function @ (Function::New | Function::Init), _) = self.code.node(id)
                && id != left
            {
                let name = function.text();
                self.diagnostics.push(
                    Diagnostic::new(
                        DiagnosticCode::Misplaced,
                        format!("`{name}` stands only alone on the left of an equation"),
                    )
                    .at(self.code.spans[id.index()], "may not stand here")
                    .hint(match function {
                        Function::New => {
                            "write `new(x) = ...`; the value before an event is `pre(x)`"
                        }
                        _ => "write `init(x) = ...`",
                    }),
                );
            }
        }
        Some(Equation {
            first,
            left,
            right,
            kind,
            span,
        })
    }
}
