//! A source text with the model that is to be changed.
//!
//! Before: the text of a file, and the flat model that was compiled from it. After: a [`Script`]: the tree of the
//! text, and the places where the model declares and connects its submodels. Only statements in the body of the model
//! can be changed; inherited statements, those in a `for`, and elements of arrays are shared with other parts.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::Obstacle;
use crate::base::intern::Interner;
use crate::base::source::{FileId, Span};
use crate::flat::{Flat, InstanceId};
use crate::syntax::ast::*;
use crate::syntax::parse;

#[derive(Debug)]
pub struct Script {
    pub text: String,
    pub ast: Ast,
    pub interner: Interner,
    /// Index of the model among the items.
    item: usize,
}

/// A submodel in the body of the model.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'s> {
    pub submodel: &'s Submodel,
}

impl Script {
    /// Parses the text; refused if the model is in another file.
    pub fn new(text: &str, flat: &Flat) -> Result<Script, Obstacle> {
        let elsewhere = || Obstacle::OtherFile(flat.model().to_string());
        if flat.instances[0].class_span.file != FileId(0) {
            return Err(elsewhere());
        }
        let mut interner = Interner::default();
        let (ast, _) = parse(FileId(0), text, &mut interner);
        let item = (ast.items.iter()).position(|item| match item {
            Item::Model(model) => interner.name(model.name.symbol) == flat.model(),
            _ => false,
        });
        let item = item.ok_or_else(elsewhere)?;
        Ok(Script {
            text: text.to_string(),
            ast,
            interner,
            item,
        })
    }

    pub fn model(&self) -> Option<&Model> {
        match &self.ast.items[self.item] {
            Item::Model(model) => Some(model),
            _ => None,
        }
    }

    pub fn body(&self) -> &[Statement] {
        self.model().map_or(&[], |model| &model.body)
    }

    pub fn name(&self, name: Name) -> &str {
        self.interner.name(name.symbol)
    }

    pub fn source(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns a reference without blanks, such as `I2.f` or `c[2].p`; `None` if an index is not a number.
    pub fn reference(&self, reference: Reference) -> Option<String> {
        let mut text = String::new();
        for part in self.ast.exprs.parts(reference) {
            if !text.is_empty() {
                text.push(if part.colon { ':' } else { '.' });
            }
            text.push_str(self.name(part.name));
            if let Some(index) = part.index {
                let number = self.source(self.ast.exprs.span(index)).trim();
                number.parse::<u32>().ok()?;
                text.push_str(&format!("[{number}]"));
            }
        }
        Some(text)
    }

    /// Returns the first name of a reference, and whether an index follows it.
    pub fn head(&self, reference: Reference) -> Option<(&str, bool)> {
        let first = self.ast.exprs.parts(reference).first()?;
        Some((self.name(first.name), first.index.is_some()))
    }

    /// Returns all submodels that the body declares.
    pub fn submodels(&self) -> impl Iterator<Item = Declared<'_>> {
        self.body().iter().flat_map(|statement| {
            let list = match &statement.kind {
                StatementKind::Submodels { submodels, .. } => &submodels[..],
                _ => &[],
            };
            list.iter().map(|submodel| Declared { submodel })
        })
    }

    /// Finds a submodel by its name, if it is declared as a single one.
    pub fn submodel(&self, name: &str) -> Option<Declared<'_>> {
        (self.submodels())
            .find(|one| self.name(one.submodel.name) == name && one.submodel.size.is_none())
    }

    /// Returns the submodel of an instance, if it can be changed in this text.
    pub fn declared(&self, flat: &Flat, id: InstanceId) -> Result<Declared<'_>, Obstacle> {
        let instance = &flat.instances[id.index()];
        let name = flat.names.name(instance.name);
        let direct = instance.parent == InstanceId::TOP && id != InstanceId::TOP;
        (direct && instance.index == 0)
            .then(|| self.submodel(name))
            .flatten()
            .ok_or_else(|| Obstacle::Elsewhere(flat.path(id)))
    }

    /// Returns the setting of a parameter or, with `initial`, of a start value of a submodel.
    pub fn setting<'s>(
        &self,
        submodel: &'s Submodel,
        name: &str,
        initial: bool,
    ) -> Option<&'s Setting> {
        (submodel.settings.iter().flatten()).find(|setting| {
            setting.initial == initial && self.reference(setting.target).as_deref() == Some(name)
        })
    }

    /// Returns the experiments for the model, including those that name no model.
    pub fn experiments(&self) -> impl Iterator<Item = &Experiment> {
        let name = self.model().map(|model| model.name.symbol);
        self.ast.items.iter().filter_map(move |item| match item {
            Item::Experiment(one) if one.model.is_none_or(|of| Some(of.symbol) == name) => {
                Some(one)
            }
            _ => None,
        })
    }

    /// Returns the names by which experiments for the model are selected.
    pub fn experiment_names(&self) -> Vec<String> {
        let model = self.model().map(|model| model.name);
        (self.experiments())
            .filter(|one| !one.classic)
            .filter_map(|one| Some(self.name(one.name.or(one.model).or(model)?).to_string()))
            .collect()
    }

    /// Returns references in expressions of the model and of its experiments, with their places.
    pub fn references(&self) -> Vec<(Reference, Span)> {
        let inside: Vec<Range<usize>> = (self.model().map(|model| model.span.range()).into_iter())
            .chain(self.experiments().map(|one| one.span.range()))
            .collect();
        let exprs = &self.ast.exprs;
        (exprs.nodes.iter().zip(&exprs.spans))
            .filter_map(|(node, &span)| match node {
                crate::expr::Node::Leaf(reference) => Some((*reference, span)),
                _ => None,
            })
            .filter(|(_, span)| {
                let range = span.range();
                (inside.iter()).any(|whole| whole.start <= range.start && range.end <= whole.end)
            })
            .collect()
    }

    /// Returns all words of the file, which a new variable or submodel must not have as its name.
    pub fn taken(&self) -> FxHashSet<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        (self.text.split(|c: char| !is_word(c)))
            .filter(|word| !word.is_empty())
            .map(str::to_string)
            .collect()
    }

    /// Returns the blanks before a statement.
    pub fn indentation(&self, span: Span) -> &str {
        let start = span.range().start;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.text[line..start];
        match before.trim().is_empty() {
            true => before,
            false => "  ",
        }
    }

    /// Returns the place where a line can be inserted before a statement: the beginning of its line, unless something
    /// else stands there.
    pub fn line_before(&self, statement: &Statement) -> usize {
        let start = statement.span.range().start;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        match self.text[line..start].trim().is_empty() {
            true => line,
            false => start,
        }
    }
}

/// Returns an unused name, such as `I2_f` or `I2_f_2`.
pub fn fresh(taken: &mut FxHashSet<String>, wanted: &str) -> String {
    let clean: String = (wanted.chars())
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let clean = clean.replace("__", "_");
    let clean = clean.trim_end_matches('_').to_string();
    let mut name = clean.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{clean}_{number}");
        number += 1;
    }
    name
}
