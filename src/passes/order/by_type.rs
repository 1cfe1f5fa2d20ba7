//! Groups submodels with a wrong number of equations by their types, so that each type is reported
//! once.

use rustc_hash::FxHashMap;

use super::case::{Case, listed};
use super::count::WrongCount;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::base::words::count as counted;
use crate::flat::InstanceId;

/// For each type the first submodel, what is named, and all instances.
#[derive(Default)]
pub struct Groups {
    pub list: Vec<(WrongCount, Vec<u32>, Vec<InstanceId>)>,
    known: FxHashMap<(Span, u32), usize>,
}

impl Groups {
    pub fn add(&mut self, case: &Case<'_>, item: u32, wrong: WrongCount) {
        let class = case.flat.instances[wrong.instance.index()].class_span;
        let list = &mut self.list;
        let at = *self
            .known
            .entry((class, wrong.difference))
            .or_insert_with(|| {
                list.push((wrong, Vec::new(), Vec::new()));
                list.len() - 1
            });
        let (_, items, instances) = &mut self.list[at];
        items.push(item);
        if instances.last() != Some(&wrong.instance) {
            instances.push(wrong.instance);
        }
    }
}

/// Texts such as "`R1` has too few equations: ..." and "one equation".
pub fn of_type(
    case: &Case<'_>,
    code: Code,
    word: &str,
    wrong: &WrongCount,
    instances: &[InstanceId],
) -> (String, Diagnostic) {
    let class = case.type_name(wrong.instance);
    let what = match wrong.difference {
        1 => "one equation".to_string(),
        by => format!("{by} equations"),
    };
    let message = format!(
        "the type {class} has {what} too {word}, in {}",
        listed(instances, |at| case.path(at))
    );
    let there = [
        (wrong.equations, ""),
        (wrong.pairs, " from its cuts"),
        (wrong.signals, " for its terminals"),
    ];
    let there: Vec<(u32, &str)> = (there.into_iter())
        .filter(|&(number, whence)| number > 0 || whence.is_empty())
        .collect();
    let there = listed(&there, |(number, whence)| match whence {
        "" => counted(number as usize, "equation"),
        whence => format!("{number}{whence}"),
    });
    let unknowns = counted(wrong.unknowns as usize, "unknown");
    let sum = format!("{unknowns}, but {there}");
    let record = &case.flat.instances[wrong.instance.index()];
    let diagnostic = Diagnostic::new(code, message)
        .at(record.class_span, sum)
        .at(record.span, "used here");
    (what, diagnostic)
}
