//! Uses of removed or changed variables: in equations, experiments, settings and start values.
//!
//! Before: storages to remove and the storages that replace them. After: edits of the text, so that each statement
//! about the old model holds for the new one: a parameter has its new name, a variable becomes a new local variable
//! with an equation, a start value becomes that of the remaining storage.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Obstacle;
use super::edit::Edits;
use super::parameters::Parameters;
use super::script::{Declared, Script, fresh};
use super::variable_map::{MergedStorage, VariableMap};
use crate::base::source::Span;
use crate::bond::fields::storage::ratio;
use crate::bond::graph::NodeId;
use crate::expr::{ExprId, Node};
use crate::flat::{Flat, InstanceId, Kind, Leaf, VarId};
use crate::syntax::ast::*;

/// Gives the variables of the old model in terms of the new one.
pub trait OldVariables {
    fn flat(&mut self) -> &mut Flat;
    /// Returns an expression equal to an old variable; `None` if there is none.
    fn of(&mut self, id: VarId) -> Option<ExprId>;
}

impl OldVariables for VariableMap<'_, '_> {
    fn flat(&mut self) -> &mut Flat {
        self.transfer.flat
    }

    fn of(&mut self, id: VarId) -> Option<ExprId> {
        self.was(id)
    }
}

/// Old variables with expressions that were computed before.
#[derive(Debug)]
pub struct KnownVariables<'f> {
    pub flat: &'f mut Flat,
    pub was: FxHashMap<VarId, ExprId>,
}

impl OldVariables for KnownVariables<'_> {
    fn flat(&mut self) -> &mut Flat {
        self.flat
    }

    fn of(&mut self, id: VarId) -> Option<ExprId> {
        self.was.get(&id).copied()
    }
}

#[derive(Debug)]
pub struct NameUses<'s> {
    script: &'s Script,
    gone: FxHashSet<InstanceId>,
    /// Submodels that remain, but change.
    changed: FxHashSet<InstanceId>,
    stored: Vec<MergedStorage>,
    /// The names of all removed and changed submodels.
    owners: FxHashSet<String>,
    /// Declarations and equations of new variables.
    pub lines: Vec<String>,
    /// New names of old variables.
    pub renamed: Vec<(String, String)>,
    locals: FxHashMap<VarId, String>,
}

/// A remaining storage, its parameter, the new value of this, and the factor by which it grows.
type Growth = (NodeId, VarId, ExprId, ExprId);

impl<'s> NameUses<'s> {
    pub fn new(
        script: &'s Script,
        flat: &Flat,
        gone: &FxHashSet<InstanceId>,
        changed: FxHashSet<InstanceId>,
        stored: &[MergedStorage],
    ) -> Self {
        NameUses {
            script,
            owners: gone
                .iter()
                .chain(&changed)
                .map(|&id| flat.path(id))
                .collect(),
            gone: gone.clone(),
            changed,
            stored: stored.to_vec(),
            lines: Vec::new(),
            renamed: Vec::new(),
            locals: FxHashMap::default(),
        }
    }

    /// Returns variables of removed or changed submodels, by name.
    fn variables(&self, flat: &Flat) -> FxHashMap<String, VarId> {
        (flat.variable_ids())
            .filter(|&id| {
                let instance = flat.variable(id).instance;
                self.gone.contains(&instance) || self.changed.contains(&instance)
            })
            .map(|id| (flat.name(id), id))
            .collect()
    }

    /// Renames parameters that experiments set.
    pub fn rename_settings(
        &mut self,
        known: &mut dyn OldVariables,
        parameters: &mut Parameters<'_>,
        edits: &mut Edits,
    ) -> Result<(), Obstacle> {
        let variables = self.variables(known.flat());
        for statement in self.script.experiments().flat_map(|one| &one.body) {
            let ExperimentKind::Parameters(list) = &statement.kind else {
                continue;
            };
            for &(target, _) in list {
                if let Some(id) = self.find(&variables, target)
                    && parameters.moves(known.flat(), id)
                {
                    let name = parameters.name(known.flat(), id)?;
                    edits.replace(target.span.range(), name);
                }
            }
        }
        Ok(())
    }

    fn find(&self, variables: &FxHashMap<String, VarId>, reference: Reference) -> Option<VarId> {
        variables.get(&self.script.reference(reference)?).copied()
    }

    /// Rewrites uses in expressions and plots.
    pub fn rewrite_uses(
        &mut self,
        known: &mut dyn OldVariables,
        parameters: &mut Parameters<'_>,
        edits: &mut Edits,
    ) -> Result<(), Obstacle> {
        let variables = self.variables(known.flat());
        let mut places: Vec<(Reference, Span)> = self.script.references();
        for statement in self.script.experiments().flat_map(|one| &one.body) {
            match &statement.kind {
                ExperimentKind::Plot(list) | ExperimentKind::OutBlock(_, list) => {
                    places.extend(list.iter().map(|one| (*one, one.span)));
                }
                ExperimentKind::Absolute(Some(variable), _) => {
                    places.push((*variable, variable.span));
                }
                _ => {}
            }
        }
        let all: FxHashMap<String, VarId> = {
            let flat = known.flat();
            flat.variable_ids().map(|id| (flat.name(id), id)).collect()
        };
        for (reference, span) in places {
            let Some(id) = self.find(&variables, reference) else {
                self.record_unchanged(&all, reference)?;
                continue;
            };
            if parameters.moves(known.flat(), id) {
                let name = parameters.name(known.flat(), id)?;
                edits.replace(span.range(), name);
            } else if let Some(name) = self.new_name(known, parameters, id, span)? {
                self.renamed.push((name.clone(), known.flat().name(id)));
                edits.replace(span.range(), name);
            } else {
                self.record_unchanged(&all, reference)?;
            }
        }
        Ok(())
    }

    /// Records a use that stays as written, so that its value is compared. Derived quantities of ports (such as
    /// powers) are not variables; those of removed or changed submodels are refused.
    fn record_unchanged(
        &mut self,
        all: &FxHashMap<String, VarId>,
        reference: Reference,
    ) -> Result<(), Obstacle> {
        let Some(name) = self.script.reference(reference) else {
            return Ok(());
        };
        if all.contains_key(&name) {
            if name.contains('.') {
                self.renamed.push((name.clone(), name));
            }
            return Ok(());
        }
        let owner = name.split(['.', '[']).next().unwrap_or("");
        let derived = name.contains('.') && self.owners.contains(owner);
        match derived {
            true => Err(Obstacle::Used(name)),
            false => Ok(()),
        }
    }

    /// Returns the new name of a variable; `None` if the name does not change.
    fn new_name(
        &mut self,
        known: &mut dyn OldVariables,
        parameters: &mut Parameters<'_>,
        id: VarId,
        span: Span,
    ) -> Result<Option<String>, Obstacle> {
        if let Some(name) = self.locals.get(&id).or_else(|| parameters.names.get(&id)) {
            return Ok(Some(name.clone()));
        }
        let variable = *known.flat().variable(id);
        let gone = self.gone.contains(&variable.instance);
        if matches!(variable.kind, Kind::Parameter | Kind::Constant) && !gone {
            return Ok(None);
        }
        let used = || Obstacle::Used(self.script.source(span).to_string());
        let Some(was) = known.of(id) else {
            // The value of a remaining variable is checked when both models are compared.
            return if gone { Err(used()) } else { Ok(None) };
        };
        let flat = known.flat();
        match flat.exprs.node(was) {
            Node::Leaf(Leaf::Var(same)) if same == id => return Ok(None),
            // Only states can be restarted, and the new local variable is none.
            _ if self.is_restarted(span) => return Err(used()),
            Node::Leaf(Leaf::Var(same)) => return Ok(Some(flat.name(same))),
            _ => {}
        }
        let text = parameters.text(flat, was)?;
        let name = fresh(&mut parameters.taken, &flat.name(id));
        let mut line = format!("local {name}");
        if let Some(unit) = &flat.declaration(id).remarks.unit {
            line.push_str(&format!(" '{unit}'"));
        }
        self.lines.push(line);
        self.lines.push(format!("{name} = {text}"));
        self.locals.insert(id, name.clone());
        Ok(Some(name))
    }

    /// Returns true in `init(x)` and `new(x)`.
    fn is_restarted(&self, span: Span) -> bool {
        let before = self.script.text[..span.range().start].trim_end();
        let before = before.strip_suffix('(').map_or("", str::trim_end);
        before.ends_with("init") || before.ends_with("new")
    }

    /// Rewrites start values in the model and its experiments.
    pub fn rewrite_starts(
        &mut self,
        map: &mut VariableMap<'_, '_>,
        parameters: &mut Parameters<'_>,
        totals: &[Growth],
        edits: &mut Edits,
    ) -> Result<(), Obstacle> {
        for &(into, _, _, growth) in totals {
            self.rewrite_start(map, parameters, into, growth, edits)?;
        }
        let variables = self.variables(map.transfer.flat);
        for statement in self.script.experiments().flat_map(|one| &one.body) {
            let ExperimentKind::Initial(list) = &statement.kind else {
                continue;
            };
            for &(target, value) in list {
                let Some(id) = self.find(&variables, target) else {
                    continue;
                };
                let source = self.script.source(self.script.ast.exprs.span(value));
                let range = self.script.ast.exprs.span(value).range();
                let instance = map.transfer.flat.variable(id).instance;
                let kept = (totals.iter())
                    .find(|total| map.transfer.graph.node(total.0).owner == instance);
                if self.gone.contains(&instance) {
                    let growth = (self.stored.iter())
                        .find(|one| map.transfer.graph.node(one.node).owner == instance)
                        .and_then(|one| totals.iter().find(|total| total.0 == one.into))
                        .map(|total| total.3);
                    let growth = growth.ok_or_else(|| Obstacle::Used(source.to_string()))?;
                    let (into, by) = self.moved_start(map, id, growth)?;
                    let by = parameters.text(map.transfer.flat, by)?;
                    let name = map.transfer.flat.name(into);
                    let whole = target.span.range().start..range.end;
                    edits.replace(whole, format!("{name} = {}", product_text(source, &by)));
                } else if let Some(&(node, _, _, growth)) = kept
                    && self.grows(map, node, id)
                {
                    let growth = parameters.text(map.transfer.flat, growth)?;
                    edits.replace(range, format!("({source})*({growth})"));
                }
            }
        }
        Ok(())
    }

    /// Returns true if a variable of a storage grows when the storage replaces others: its displacement does, its
    /// effort does not.
    fn grows(&self, map: &mut VariableMap<'_, '_>, node: NodeId, id: VarId) -> bool {
        let is_flow = (self.stored.iter()).any(|one| one.node == node && one.is_flow);
        let primary = map.primary(node, is_flow).map(|(id, _)| id);
        primary != Some(id) && map.factor(id).is_some()
    }

    /// Refuses start values that experiments give to removed or changed variables.
    pub fn refuse_starts(&self, flat: &Flat) -> Result<(), Obstacle> {
        let variables = self.variables(flat);
        let starts = (self.script.experiments().flat_map(|one| &one.body)).filter_map(|one| {
            match &one.kind {
                ExperimentKind::Initial(list) => Some(list),
                _ => None,
            }
        });
        for &(target, _) in starts.flatten() {
            if self.find(&variables, target).is_some() {
                return Err(Obstacle::Used(self.script.source(target.span).to_string()));
            }
        }
        Ok(())
    }

    /// Returns the state of the remaining storage that gets the start value of another variable, and the factor for
    /// it. If the state is a displacement, the factor includes the growth of the storage.
    fn moved_start(
        &self,
        map: &mut VariableMap<'_, '_>,
        id: VarId,
        growth: ExprId,
    ) -> Result<(VarId, ExprId), Obstacle> {
        let used = Obstacle::Used(map.transfer.flat.name(id));
        let instance = map.transfer.flat.variable(id).instance;
        let stored =
            (self.stored.iter()).find(|one| map.transfer.graph.node(one.node).owner == instance);
        let into = stored.and_then(|one| self.stored.iter().find(|kept| kept.node == one.into));
        let (Some(kept), Some(factor)) = (into.copied(), map.factor(id)) else {
            return Err(used);
        };
        let Some((primary, _)) = map.primary(kept.node, kept.is_flow) else {
            return Err(used);
        };
        let graph = map.transfer.graph;
        let states = graph
            .node(kept.node)
            .element()
            .map(|element| &element.states[..]);
        let flat = &mut *map.transfer.flat;
        let one = flat.exprs.number(1.0);
        let by = flat.exprs.tidy_div(one, factor);
        let states = states.unwrap_or_default();
        if states.contains(&primary) {
            return Ok((primary, by));
        }
        let owner = graph.node(kept.node).owner;
        for &state in states {
            if let Some(ratio) = ratio(flat, owner, state, primary) {
                let scale = flat.exprs.tidy_mul(ratio, growth);
                return Ok((state, flat.exprs.tidy_mul(scale, by)));
            }
        }
        Err(used)
    }

    /// Rewrites the start value of a storage that replaces others.
    fn rewrite_start(
        &mut self,
        map: &mut VariableMap<'_, '_>,
        parameters: &mut Parameters<'_>,
        into: NodeId,
        growth: ExprId,
        edits: &mut Edits,
    ) -> Result<(), Obstacle> {
        let of = |flat: &Flat, instance: InstanceId| {
            let starts = flat.starts.iter().copied();
            let own =
                starts.filter(move |given| flat.variable(given.variable).instance == instance);
            own.collect::<Vec<_>>()
        };
        let owner = map.transfer.graph.node(into).owner;
        let given = of(map.transfer.flat, owner);
        for start in &given {
            if self.grows(map, into, start.variable) {
                let flat = &mut *map.transfer.flat;
                let value = flat.exprs.tidy_mul(start.expression, growth);
                let text = parameters.text(flat, value)?;
                let name = flat
                    .names
                    .name(flat.declaration(start.variable).name)
                    .to_string();
                let declared = self.script.declared(flat, owner)?;
                set(self.script, declared, &name, true, &text, edits);
            }
        }
        if !given.is_empty() {
            return Ok(());
        }
        let others: Vec<NodeId> = (self.stored.iter())
            .filter(|one| one.into == into && one.node != into)
            .map(|one| one.node)
            .collect();
        for node in others {
            let instance = map.transfer.graph.node(node).owner;
            let Some(start) = of(map.transfer.flat, instance).first().copied() else {
                continue;
            };
            let Ok((state, by)) = self.moved_start(map, start.variable, growth) else {
                continue;
            };
            let flat = &mut *map.transfer.flat;
            let value = flat.exprs.tidy_mul(start.expression, by);
            let text = parameters.text(flat, value)?;
            let name = flat.names.name(flat.declaration(state).name).to_string();
            let declared = self.script.declared(flat, owner)?;
            set(self.script, declared, &name, true, &text, edits);
            return Ok(());
        }
        Ok(())
    }
}

/// Sets a parameter or a start value of a submodel in the text.
pub fn set(
    script: &Script,
    declared: Declared<'_>,
    name: &str,
    initial: bool,
    value: &str,
    edits: &mut Edits,
) {
    let submodel = declared.submodel;
    let word = if initial { "ic " } else { "" };
    if let Some(setting) = script.setting(submodel, name, initial) {
        let span = script.ast.exprs.span(setting.value);
        edits.replace(span.range(), value);
    } else if let Some(first) = submodel.settings.iter().flatten().next() {
        edits.insert(
            first.span.range().start,
            format!("{word}{name} = {value}, "),
        );
    } else {
        let end = submodel.name.span.range().end;
        edits.insert(end, format!("({word}{name} = {value})"));
    }
}

/// Returns the text of the product of two expressions given as text.
fn product_text(value: &str, by: &str) -> String {
    let bracketed = |text: &str| {
        let plain = text
            .chars()
            .all(|c| c.is_alphanumeric() || "._".contains(c));
        if plain {
            text.to_string()
        } else {
            format!("({text})")
        }
    };
    match by {
        "1" => value.to_string(),
        _ => format!("{}*{}", bracketed(value), bracketed(by)),
    }
}
