//! Sweeps, plots, and absolute tolerances of single variables.

use rustc_hash::FxHashMap;

use super::apply::ExperimentBuilder;
use super::collect::{Assignment, Number, Settings, Target, twice};
use super::convert::Converter;
use super::{CommandLine, DERIVED, Plotted, Sweep, numbers};
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::source::Span;
use crate::evaluate::Walk;
use crate::flat::{Kind, Type, VarId};

impl ExperimentBuilder<'_> {
    pub(super) fn absolutes(&mut self, file: &Settings<'_>, command: &Settings<'_>) {
        let mut found: Vec<(VarId, f64)> = Vec::new();
        for list in [&file.absolutes, &command.absolutes] {
            let mut seen: FxHashMap<VarId, Span> = FxHashMap::default();
            for Assignment { target, value } in list {
                let value = Number {
                    exprs: target.exprs,
                    value: *value,
                };
                let number = numbers::tolerance(&mut self.converter, value);
                let kinds = [Kind::State, Kind::Algebraic, Kind::Output];
                let code = Code::UnknownVariable;
                let id = self.converter.variable(target, code, &kinds);
                let (Some(number), Some(id)) = (number, id) else {
                    continue;
                };
                let flat = &*self.converter.flat;
                if !kinds.contains(&flat.variable(id).kind) {
                    let kind = flat.variable(id).kind.text();
                    let message = format!("`{}` has no tolerance", flat.name(id));
                    let diagnostic = Diagnostic::new(Code::NotAVariable, message);
                    self.report(diagnostic.at(target.span, format!("its kind: {kind}")));
                    continue;
                }
                if let Some(&earlier) = seen.get(&id) {
                    let what = format!("the absolute tolerance of `{}`", flat.name(id));
                    self.report(twice(&what, target.span, earlier));
                    continue;
                }
                seen.insert(id, target.span);
                match found.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, known)) => *known = number,
                    None => found.push((id, number)),
                }
            }
        }
        found.sort_unstable_by_key(|&(id, _)| id);
        self.experiment.absolutes = found;
    }

    pub(super) fn plots(&mut self, file: &Settings<'_>) {
        for list in &file.plots {
            let mut panel = Vec::new();
            for target in list {
                let name = target.text(&self.converter.flat.names);
                let last = name.rsplit('.').next().unwrap_or("");
                let derived = target.parts.len() > 1 && DERIVED.contains(&last);
                let span = target.span;
                let variable = match derived && !self.is_variable(target) {
                    true => None,
                    false => {
                        let code = Code::UnknownVariable;
                        let found = self.converter.variable(target, code, &[]);
                        let Some(id) = found else { continue };
                        Some(id)
                    }
                };
                panel.push(Plotted {
                    name,
                    span,
                    variable,
                });
            }
            self.experiment.plots.push(panel);
        }
    }

    /// Whether a name is that of a variable; nothing is reported.
    fn is_variable(&mut self, target: &Target<'_>) -> bool {
        let mut ignored = Diagnostics::default();
        let mut quiet = Converter {
            flat: self.converter.flat,
            names: std::mem::take(&mut self.converter.names),
            diagnostics: &mut ignored,
            walk: Walk::default(),
            tables: false,
        };
        let found = quiet.variable(target, Code::UnknownVariable, &[]).is_some();
        self.converter.names = quiet.names;
        found
    }

    /// Checks the sweeps: each parameter must be real, may be swept only once, and must not determine the size of the model.
    pub(super) fn sweeps(&mut self, command: &CommandLine) {
        for swept in &command.sweeps {
            let Some(target) = swept.target() else {
                continue;
            };
            let Some(variable) = self.parameter(&target) else {
                continue;
            };
            let flat = &*self.converter.flat;
            let name = flat.name(variable);
            if flat.variable(variable).ty != Type::Real {
                let message = format!("`{name}` is boolean: it cannot be swept");
                self.report(Diagnostic::new(Code::TypeClash, message).at(target.span, "boolean"));
                continue;
            }
            let swept_before = (self.experiment.sweeps.iter())
                .find(|sweep| sweep.variable == variable)
                .map(|sweep| sweep.span);
            // A sweep overrides a value of the file, but not one of the command line.
            let set_too = (self.experiment.set.iter())
                .find(|set| set.variable == variable && set.span.file == swept.span.file)
                .map(|set| set.span);
            if let Some(earlier) = swept_before.or(set_too) {
                self.report(twice(&format!("`{name}`"), swept.span, earlier));
                continue;
            }
            let shaping = self.flat().shaping.clone();
            self.shapes(variable, &shaping, swept.span);
            self.experiment.sweeps.push(Sweep {
                variable,
                name,
                values: swept.values.clone(),
                span: swept.span,
            });
        }
    }
}
