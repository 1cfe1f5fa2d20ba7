//! From syntax trees to the flat model.
//!
//! ```text
//! trees --types--> types, bases in order --declare--> names of each class
//!       --resolve--> classes with templates --instantiate--> instance tree
//!       --connect, flatten--> Flat
//! ```
//!
//! Everything up to the classes is done once for each type; instantiating is a loop over them that
//! looks no name up.

mod class;
mod connect;
mod couplings;
mod declare;
mod declare_cuts;
mod emit_couplings;
mod expand;
mod flatten;
mod infer;
mod instance;
mod parameters;
mod ports;
mod resolve;
mod resolve_body;
mod resolve_check;
mod resolve_connect;
mod resolve_point;
mod sets;
mod sizes;
mod starts;
mod structure;
mod types;

use std::sync::Arc;

use rustc_hash::FxHashSet;

pub use class::{Class, ClassId};
pub use instance::Limits;
pub use types::Types;

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::Interner;
use crate::base::source::Origin;
use crate::flat::{Flat, VarId};
use crate::syntax::ast::ModelKind;
use crate::syntax::load::Loaded;
use crate::syntax::shorten;
use declare::{Declared, declare};
pub(crate) use infer::check_tables;
use infer::infer;
use resolve::Resolver;

/// All types of the user's files, and those of the library that they reach, as classes.
#[derive(Debug)]
pub struct Classes {
    pub types: Types,
    pub list: Vec<Class>,
}

impl Classes {
    pub fn get(&self, id: ClassId) -> &Class {
        &self.list[id.0 as usize]
    }
}

/// Makes the classes; `wanted` may be a type of the library. If errors are reported, the result
/// must not be instantiated.
pub fn elaborate(loaded: &Loaded, wanted: Option<&str>, diagnostics: &mut Diagnostics) -> Classes {
    let types = types::collect(loaded, diagnostics);
    let declared: Vec<Declared<'_>> = types
        .ids()
        .map(|id| declare(loaded, &types, id, diagnostics))
        .collect();
    report_containment(loaded, &types, &declared, diagnostics);
    let wanted = wanted.and_then(|wanted| named(loaded, &types, wanted));
    let used = reachable(loaded, &types, &declared, wanted);
    let mut list = Vec::new();
    for id in types.ids() {
        list.push(match used.contains(&id) {
            true => resolve_class(loaded, &types, &declared, id, diagnostics),
            false => Class::new(types.def(id).name.symbol, types.def(id).name.span),
        });
    }
    Classes { types, list }
}

/// The user's own types and the one that is wanted, and what they contain.
fn reachable(
    loaded: &Loaded,
    types: &Types,
    declared: &[Declared<'_>],
    wanted: Option<ClassId>,
) -> FxHashSet<ClassId> {
    let mut work: Vec<ClassId> = types
        .ids()
        .filter(|&id| loaded.sources.file(types.def(id).file).origin == Origin::User)
        .chain(wanted)
        .collect();
    let mut seen: FxHashSet<ClassId> = work.iter().copied().collect();
    while let Some(id) = work.pop() {
        for submodel in &declared[id.0 as usize].class.submodels {
            if let Some(class) = submodel.class
                && seen.insert(class)
            {
                work.push(class);
            }
        }
    }
    seen
}

fn report_containment(
    loaded: &Loaded,
    types: &Types,
    declared: &[Declared<'_>],
    diagnostics: &mut Diagnostics,
) {
    let edges = types.ids().flat_map(|id| {
        declared[id.0 as usize]
            .class
            .submodels
            .iter()
            .filter_map(move |submodel| Some((id, submodel.class?, submodel.span)))
    });
    let Some(circle) = types::containment_circle(declared.len(), edges) else {
        return;
    };
    let name = |id: ClassId| shorten(loaded.interner.name(types.def(id).name.symbol));
    let told = types::contains_itself(Code::ContainsItself, "model", &circle, name);
    let hint = "a model of this kind would never end; break the circle";
    diagnostics.extend(told.map(|diagnostic| diagnostic.hint(hint)));
}

fn resolve_class(
    loaded: &Loaded,
    types: &Types,
    declared: &[Declared<'_>],
    id: ClassId,
    diagnostics: &mut Diagnostics,
) -> Class {
    let mut resolver = Resolver {
        loaded,
        classes: declared,
        diagnostics,
        id,
        code: class::Code::default(),
        file: types.def(id).file,
        loops: Vec::new(),
    };
    let mut class = declared[id.0 as usize].class.clone();
    resolver.declarations(&mut class);
    for &part in &types.def(id).parts {
        resolver.file = types.def(part).file;
        let body = &types.model(loaded, part).body;
        let equations = resolver.equations(body);
        class.equations.extend(equations);
        let connections = resolver.connections(body, &mut class);
        class.connections.extend(connections);
    }
    class.code = resolver.code;
    class
}

/// Instantiates a class and flattens it; `None` after an error.
pub fn flatten(
    names: &Arc<Interner>,
    classes: &Classes,
    model: ClassId,
    limits: Limits,
    diagnostics: &mut Diagnostics,
) -> Option<Flat> {
    let mut tree = instance::instantiate(classes, names, model, limits, diagnostics)?;
    let parts = flatten::flatten(&mut tree)?;
    let instances = tree.flat_instances();
    let mut shaping: Vec<VarId> = tree.shaping.iter().copied().map(VarId).collect();
    shaping.sort_unstable();
    shaping.dedup();
    let mut flat = Flat {
        names: Arc::clone(names),
        instances,
        declarations: parts.declarations,
        variables: parts.variables,
        exprs: parts.exprs,
        equations: parts.equations,
        whens: parts.whens,
        values: parts.values,
        starts: parts.starts,
        eliminated: Vec::new(),
        wishes: parts.wishes,
        reduction: None,
        shaping,
        ports: parts.ports,
    };
    infer(&mut flat, diagnostics);
    Some(flat)
}

/// The `model`s of the main file, in order.
pub fn models<'t>(loaded: &Loaded, types: &'t Types) -> impl Iterator<Item = ClassId> + use<'t> {
    let main = loaded.main;
    types
        .ids()
        .filter(move |&id| types.def(id).file == main && types.def(id).kind == ModelKind::Model)
}

/// The models that another model of the list contains or inherits, at any depth.
pub fn parts_of_others(classes: &Classes, models: &[ClassId]) -> FxHashSet<ClassId> {
    let mut inner: FxHashSet<ClassId> = FxHashSet::default();
    let mut work: Vec<ClassId> = models.to_vec();
    while let Some(id) = work.pop() {
        let submodels = classes.get(id).submodels.iter();
        let bases = classes.types.def(id).parts.iter().copied();
        let parts = submodels.filter_map(|submodel| submodel.class).chain(bases);
        work.extend(parts.filter(|&part| part != id && inner.insert(part)));
    }
    inner
}

/// The type that a name on the command line means.
fn named(loaded: &Loaded, types: &Types, name: &str) -> Option<ClassId> {
    let name = loaded.interner.get(name)?;
    types.lookup(loaded, loaded.main, name)
}

/// The model that is to be compiled: the one asked for, else the last `model` of the main file.
pub fn choose(
    loaded: &Loaded,
    types: &Types,
    wanted: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<ClassId> {
    let main = loaded.main;
    let Some(wanted) = wanted else {
        let last = models(loaded, types).last();
        if last.is_none() && !diagnostics.has_errors() {
            let file = loaded.sources.file(main);
            diagnostics.push(
                Diagnostic::new(Code::NoModel, format!("`{}` has no `model`", file.name)).hint(
                    "a file that is to be compiled needs a `model NAME ... end`; \
                     `--model NAME` compiles a type by itself",
                ),
            );
        }
        return last;
    };
    let found = named(loaded, types, wanted);
    if found.is_none() {
        let mut known: Vec<&str> = types
            .ids()
            .filter(|&id| loaded.sources.file(types.def(id).file).origin == Origin::User)
            .map(|id| loaded.interner.name(types.def(id).name.symbol))
            .collect();
        known.sort_unstable();
        diagnostics.push(
            Diagnostic::new(
                Code::UnknownModel,
                format!("there is no model `{}`", shorten(wanted)),
            )
            .suggest_or_list(wanted, "the file has", &known),
        );
    }
    found
}
