//! Cuts and paths of a class, and which of them are the main ones.

use super::class::*;
use super::declare::{Declarer, Place};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::syntax::ast;

impl<'l> Declarer<'l, '_> {
    pub(super) fn cut(&mut self, cut: &'l ast::Cut, main: bool, doc: &Option<String>) {
        let slot = self.class().cuts.len() as u32;
        if !self.add_point(cut.name, PointName::Cut(slot)) {
            return;
        }
        if main {
            self.main(cut.name.span, true);
            self.class().main_cut = Some(slot);
        }
        let body = match &cut.body {
            // Members are filled in when all cuts are known.
            ast::CutBody::Bundle(_) => CutBody::Bundle(Vec::new()),
            ast::CutBody::Simple { across, through } => CutBody::Simple {
                across: self.side(cut, across, doc),
                through: self.side(cut, through, doc),
            },
        };
        self.class().cuts.push(CutDecl {
            name: cut.name.symbol,
            span: cut.name.span,
            array: cut.size.is_some(),
            size: None,
            body,
        });
        self.declared.cuts.push((self.file, cut));
        self.pend(Place::CutSize(slot), cut.size);
    }

    pub(super) fn side(
        &mut self,
        cut: &'l ast::Cut,
        side: &[ast::CutVariable],
        doc: &Option<String>,
    ) -> Side {
        if let [only] = side
            && only.name.is_none()
        {
            return Side::Any;
        }
        let places = side
            .iter()
            .map(|variable| {
                let name = variable.name?;
                let slot = self.cut_variable(cut, name, &variable.remarks, doc)?;
                Some(CutPlace {
                    slot,
                    negative: variable.negative,
                })
            })
            .collect();
        Side::Places(places)
    }

    /// A variable named in several cuts of a model is one variable.
    pub(super) fn cut_variable(
        &mut self,
        cut: &ast::Cut,
        name: ast::Name,
        remarks: &ast::Remarks,
        doc: &Option<String>,
    ) -> Option<u32> {
        if let Some(&earlier) = self.declared.class.values.get(&name.symbol) {
            if let ValueName::Variable(slot) = earlier {
                let part = self.part;
                let text = self.name(name.symbol);
                let variable = &mut self.declared.class.variables[slot as usize];
                if variable.kind == VariableKind::Cut && variable.declared_in == part {
                    if variable.array != cut.size.is_some() {
                        let earlier = variable.span;
                        self.diagnostics.push(
                            Diagnostic::new(
                                Code::DuplicateName,
                                format!("`{text}` is an array in one cut and single in another"),
                            )
                            .at(name.span, "here")
                            .at(earlier, "and here"),
                        );
                        return None;
                    }
                    if variable.remarks.unit.is_none() {
                        variable.remarks.unit.clone_from(&remarks.unit);
                    }
                    if variable.remarks.description.is_none() {
                        variable
                            .remarks
                            .description
                            .clone_from(&remarks.description);
                    }
                    return Some(slot);
                }
            }
            let span = self.value_span(earlier);
            self.duplicate(name, span);
            return None;
        }
        let slot = self.add_variable(name, VariableKind::Cut, cut.size.is_some(), remarks, doc);
        self.pend(Place::VariableSize(slot), cut.size);
        Some(slot)
    }

    pub(super) fn path(&mut self, path: &'l ast::Path, main: bool) {
        let slot = self.class().paths.len() as u32;
        if !self.add_point(path.name, PointName::Path(slot)) {
            return;
        }
        if main {
            self.main(path.name.span, false);
            self.class().main_path = Some(slot);
        }
        self.class().paths.push(PathDecl {
            name: path.name.symbol,
            span: path.name.span,
            from: None,
            to: None,
        });
        self.declared.paths.push((self.file, path));
    }

    pub(super) fn main(&mut self, span: Span, cut: bool) {
        let (earlier, what) = match cut {
            true => (&mut self.main_cut, "cut"),
            false => (&mut self.main_path, "path"),
        };
        if let Some(first) = earlier.replace(span) {
            self.diagnostics.push(
                Diagnostic::new(Code::TwoMains, format!("a model has only one main {what}"))
                    .at(span, format!("a second `main {what}`"))
                    .at(first, "the first one"),
            );
        }
    }

    /// An only cut is the main one, and an only path.
    pub(super) fn choose_mains(&mut self) {
        let class = self.class();
        if class.main_cut.is_none() && class.cuts.len() == 1 {
            class.main_cut = Some(0);
        }
        if class.main_path.is_none() && class.paths.len() == 1 {
            class.main_path = Some(0);
        }
        class.has_arrays |= class.cuts.iter().any(|cut| cut.array);
        class.has_arrays |= class.nodes.iter().any(|node| node.array);
    }
}
