//! Lookup of names of an experiment in the flat model.

use rustc_hash::FxHashMap;

use super::collect::Target;
use crate::base::diagnostics::{Code, Diagnostic, nearest};
use crate::base::intern::Symbol;
use crate::flat::{Flat, InstanceId, Kind, VarId};

/// A name in an instance, with its index: 0 if it is no array.
type Place = (InstanceId, Symbol, u32);

/// Tables of submodels and variables by name, made at the first lookup.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: Option<(FxHashMap<Place, InstanceId>, FxHashMap<Place, VarId>)>,
}

impl Names {
    /// The variable that a name means; `indices` are the values of its indices in order. If there is none, the error suggests
    /// variables of the kinds in `wanted`.
    pub fn lookup(
        &mut self,
        flat: &Flat,
        target: &Target<'_>,
        indices: &[u32],
        code: Code,
        wanted: &[Kind],
    ) -> Result<VarId, Diagnostic> {
        let (instances, variables) = self.known.get_or_insert_with(|| tables(flat));
        let mut indices = indices.iter();
        let mut at = InstanceId::TOP;
        let last = target.parts.len() - 1;
        for (step, &(symbol, index)) in target.parts.iter().enumerate() {
            let index = index.and_then(|_| indices.next().copied()).unwrap_or(0);
            let place = (at, symbol, index);
            let found = match step == last {
                true => variables.get(&place).map(|&id| id.0),
                false => instances.get(&place).map(|&id| id.0),
            };
            let Some(found) = found else {
                let has = |index: u32| match step == last {
                    true => variables.contains_key(&(at, symbol, index)),
                    false => instances.contains_key(&(at, symbol, index)),
                };
                return Err(match (index, has(0), has(1)) {
                    (1.., true, _) => misused(flat, target, symbol, "is no array and has no index"),
                    (0, _, true) => {
                        misused(flat, target, symbol, "is an array: an index is missing")
                    }
                    (_, _, true) => {
                        let size = (1..).take_while(|&index| has(index)).count();
                        outside(flat, target, size)
                    }
                    _ => unknown(flat, target, code, wanted),
                });
            };
            match step == last {
                true => return Ok(VarId(found)),
                false => at = InstanceId(found),
            }
        }
        Err(unknown(flat, target, code, wanted))
    }
}

fn tables(flat: &Flat) -> (FxHashMap<Place, InstanceId>, FxHashMap<Place, VarId>) {
    let instances = (flat.instances.iter().enumerate().skip(1))
        .map(|(at, instance)| {
            let place = (instance.parent, instance.name, instance.index);
            (place, InstanceId(at as u32))
        })
        .collect();
    let variables = (flat.variable_ids())
        .map(|id| {
            let variable = flat.variable(id);
            let name = flat.declaration(id).name;
            ((variable.instance, name, variable.index), id)
        })
        .collect();
    (instances, variables)
}

fn misused(flat: &Flat, target: &Target<'_>, part: Symbol, problem: &str) -> Diagnostic {
    let message = format!("`{}` {problem}", flat.names.name(part));
    let text = target.text(&flat.names);
    Diagnostic::new(Code::IndexUse, message).at(target.span, format!("in `{text}`"))
}

fn outside(flat: &Flat, target: &Target<'_>, size: usize) -> Diagnostic {
    let text = target.text(&flat.names);
    Diagnostic::new(
        Code::IndexBounds,
        format!("an index of `{text}` lies outside its bounds"),
    )
    .at(target.span, format!("from 1 to {size}"))
}

fn unknown(flat: &Flat, target: &Target<'_>, code: Code, wanted: &[Kind]) -> Diagnostic {
    let text = target.text(&flat.names);
    let what = match code {
        Code::UnknownParameter => "parameter ",
        _ if wanted == [Kind::Input] => "input ",
        _ => "",
    };
    let message = format!("there is no {what}`{text}` in `{}`", flat.model());
    let diagnostic = Diagnostic::new(code, message).at(target.span, "unknown");
    let fits = |id: &VarId| wanted.is_empty() || wanted.contains(&flat.variable(*id).kind);
    let mut known: Vec<String> = (flat.variable_ids().filter(fits))
        .map(|id| flat.name(id))
        .collect();
    known.sort_unstable();
    let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
    if nearest(&text, known.iter().copied()).is_none() && known.len() > 10 {
        known.clear();
    }
    let several = match wanted {
        [Kind::Parameter] => "parameters:",
        [Kind::Input] => "inputs:",
        _ => "there are",
    };
    diagnostic.suggest_or_list(&text, several, &known)
}
