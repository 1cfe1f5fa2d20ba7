//! Parameters of removed submodels, or parameters whose values change, written with names that the model still has.
//!
//! Before: flat expressions that contain such parameters. After: the same expressions as text of the model's body. If
//! the value is a parameter of the model, that parameter is used; an expression of such parameters is substituted; a
//! number becomes a new parameter of the model, named after the old one: `I2.I` becomes `I2_I`. So the equivalent
//! remains an expression of the old parameters, which can still be changed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Obstacle;
use super::names::text;
use super::script::{Script, fresh};
use crate::evaluate::leaves;
use crate::expr::{ExprId, Node, show_number};
use crate::flat::{Flat, InstanceId, Kind, Leaf, Names, VarId};
use crate::syntax::ast::ExperimentKind;

#[derive(Debug)]
pub struct Parameters<'s> {
    script: &'s Script,
    /// The removed submodels.
    gone: FxHashSet<InstanceId>,
    /// Parameters whose values change.
    changed: FxHashSet<VarId>,
    /// Names of parameters that experiments set.
    set: FxHashSet<String>,
    pub taken: FxHashSet<String>,
    pub names: Names,
    inline: FxHashMap<VarId, ExprId>,
    /// Declarations of new parameters: name, value, unit and description.
    pub new: Vec<String>,
}

impl<'s> Parameters<'s> {
    pub fn new(script: &'s Script, gone: FxHashSet<InstanceId>, changed: FxHashSet<VarId>) -> Self {
        let set = (script.experiments().flat_map(|one| &one.body))
            .filter_map(|statement| match &statement.kind {
                ExperimentKind::Parameters(list) => Some(list),
                _ => None,
            })
            .flatten()
            .filter_map(|&(target, _)| script.reference(target))
            .collect();
        Parameters {
            script,
            gone,
            changed,
            set,
            taken: script.taken(),
            names: Names::default(),
            inline: FxHashMap::default(),
            new: Vec::new(),
        }
    }

    /// Returns true if a parameter cannot keep its name.
    pub fn moves(&self, flat: &Flat, id: VarId) -> bool {
        let variable = flat.variable(id);
        matches!(variable.kind, Kind::Parameter | Kind::Constant)
            && (self.gone.contains(&variable.instance) || self.changed.contains(&id))
    }

    /// Returns an expression as text.
    pub fn text(&mut self, flat: &mut Flat, id: ExprId) -> Result<String, Obstacle> {
        let mut work: Vec<VarId> = leaves(&flat.exprs, id)
            .iter()
            .map(|l| l.variable())
            .collect();
        while let Some(id) = work.pop() {
            if self.moves(flat, id)
                && !self.names.contains_key(&id)
                && !self.inline.contains_key(&id)
            {
                self.resolve(flat, id)?;
                if let Some(&by) = self.inline.get(&id) {
                    work.extend(leaves(&flat.exprs, by).iter().map(|l| l.variable()));
                }
            }
        }
        let inline = &self.inline;
        let opened = flat
            .exprs
            .rewrite(id, &mut |exprs, id| match exprs.node(id) {
                Node::Leaf(Leaf::Var(id)) => inline.get(&id).copied(),
                _ => None,
            });
        Ok(text(flat, &self.names, opened))
    }

    /// Returns the new name of a parameter for text that must name it, such as an experiment that sets it; if it has
    /// none, a new parameter of the model is declared. Call this before expressions are written.
    pub fn name(&mut self, flat: &mut Flat, id: VarId) -> Result<String, Obstacle> {
        if !self.names.contains_key(&id) {
            match self.inline.remove(&id) {
                Some(by) => {
                    let value = self.text(flat, by)?;
                    self.declare(flat, id, value);
                }
                None => {
                    self.resolve(flat, id)?;
                    if self.inline.contains_key(&id) {
                        return self.name(flat, id);
                    }
                }
            }
        }
        (self.names.get(&id).cloned()).ok_or_else(|| Obstacle::Used(flat.name(id)))
    }

    fn resolve(&mut self, flat: &Flat, id: VarId) -> Result<(), Obstacle> {
        let variable = flat.variable(id);
        let unnamed = || Obstacle::Used(flat.name(id));
        let given = *flat.value(id).ok_or_else(unnamed)?;
        let declared = self.script.declared(flat, variable.instance)?;
        let own = flat.names.name(flat.declaration(id).name);
        let setting = self.script.setting(declared.submodel, own, false);
        let is_array = variable.index > 0;
        let set = self.set.contains(&flat.name(id));
        if let Some(setting) = setting.filter(|_| !is_array) {
            let source = self
                .script
                .source(self.script.ast.exprs.span(setting.value));
            // The value is a parameter of the model itself.
            if let Node::Leaf(Leaf::Var(by)) = flat.exprs.node(given.expression)
                && flat.variable(by).instance == InstanceId::TOP
                && !set
            {
                self.names.insert(id, flat.name(by));
                return Ok(());
            }
            if leaves(&flat.exprs, given.expression).is_empty() {
                self.declare(flat, id, source.to_string());
                return Ok(());
            }
        } else if let (Some(number), true) = (
            flat.exprs.as_number(given.expression),
            leaves(&flat.exprs, given.expression).is_empty(),
        ) {
            self.declare(flat, id, show_number(number));
            return Ok(());
        }
        self.inline.insert(id, given.expression);
        Ok(())
    }

    fn declare(&mut self, flat: &Flat, id: VarId, value: String) {
        let name = fresh(&mut self.taken, &flat.name(id));
        let remarks = &flat.declaration(id).remarks;
        let mut line = format!("{name} = {value}");
        if let Some(unit) = &remarks.unit {
            line.push_str(&format!(" '{unit}'"));
        }
        if let Some(description) = &remarks.description {
            line.push_str(&format!(" \"{description}\""));
        }
        self.new.push(line);
        self.names.insert(id, name);
    }
}
