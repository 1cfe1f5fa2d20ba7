//! Reduces a file to one model with its types and experiments, without the other models.

use rustc_hash::FxHashSet;

use super::edit::{Edits, whole_lines};
use super::script::Script;
use crate::base::intern::Symbol;
use crate::flat::Flat;
use crate::syntax::ast::*;

/// Returns the text without models that the compiled one does not use, and without their experiments.
pub fn excerpt(text: &str, flat: &Flat) -> String {
    let Ok(script) = Script::new(text, flat) else {
        return text.to_string();
    };
    let items = &script.ast.items;
    let own = script.model().map(|model| model.name.symbol);
    // The model, all types, and the models that these use.
    let mut kept: Vec<bool> = (items.iter())
        .map(|item| match item {
            Item::Model(model) => model.kind != ModelKind::Model || Some(model.name.symbol) == own,
            _ => false,
        })
        .collect();
    loop {
        let used: FxHashSet<Symbol> = (items.iter().zip(&kept))
            .filter(|(_, kept)| **kept)
            .flat_map(|(item, _)| uses(item))
            .collect();
        let more: Vec<usize> = (items.iter().enumerate())
            .filter(|&(at, item)| match item {
                Item::Model(model) => !kept[at] && used.contains(&model.name.symbol),
                _ => false,
            })
            .map(|(at, _)| at)
            .collect();
        if more.is_empty() {
            break;
        }
        more.iter().for_each(|&at| kept[at] = true);
    }
    let gone_models: FxHashSet<Symbol> = (items.iter().zip(&kept))
        .filter_map(|(item, kept)| match item {
            Item::Model(model) if !kept => Some(model.name.symbol),
            _ => None,
        })
        .collect();
    let mut edits = Edits::default();
    // The golden comment belongs to the old text.
    if text.starts_with("{ golden:")
        && let Some(end) = text.find('}')
    {
        edits.delete(whole_lines(text, 0..end + 1));
    }
    let mut before = None;
    for item in items {
        let (span, goes) = match item {
            Item::Include(include) => (include.span, false),
            Item::Model(model) => (model.span, gone_models.contains(&model.name.symbol)),
            Item::Experiment(one) => {
                let of = one.model.map(|model| model.symbol);
                (one.span, of.is_some_and(|of| gone_models.contains(&of)))
            }
            Item::Error => continue,
        };
        let range = span.range();
        if goes {
            // The comments before the item are deleted with it.
            edits.delete(before.unwrap_or(range.start)..range.end);
        }
        before = Some(range.end);
    }
    edits.apply(text)
}

/// Returns the types that a model names.
fn uses(item: &Item) -> Vec<Symbol> {
    let Item::Model(model) = item else {
        return Vec::new();
    };
    let mut found: Vec<Symbol> = model.bases.iter().map(|base| base.symbol).collect();
    for statement in &model.body {
        if let StatementKind::Submodels { class, submodels } = &statement.kind {
            match class {
                Some(class) => found.push(class.symbol),
                None => found.extend(submodels.iter().map(|one| one.name.symbol)),
            }
        }
    }
    found
}
