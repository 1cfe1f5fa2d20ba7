//! The types of all files, and how they inherit.
//!
//! Before: the trees. After: every type has a [`ClassId`]; lookups follow the rule that a file's
//! own type hides one of the library; inheritance is free of circles and unknown bases, and each
//! type has the list of types it is made of, bases first, each once.

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::class::ClassId;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::Symbol;
use crate::base::source::{FileId, Origin, Span};
use crate::syntax::ast::{self, Item, ModelKind};
use crate::syntax::load::Loaded;
use crate::syntax::shorten;

/// The most types that one type may be made of, itself included.
const MOST_PARTS: usize = 1000;

#[derive(Debug)]
pub struct TypeDef {
    pub name: ast::Name,
    pub file: FileId,
    /// Place among the items of the file.
    pub item: usize,
    pub kind: ModelKind,
    /// Itself last, bases before, each once.
    pub parts: Vec<ClassId>,
}

#[derive(Debug)]
pub struct Types {
    pub defs: Vec<TypeDef>,
    user: FxHashMap<Symbol, ClassId>,
    library: FxHashMap<Symbol, ClassId>,
    /// Types of the library that user files may name.
    visible: FxHashSet<ClassId>,
}

impl Types {
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.defs.len() as u32).map(ClassId)
    }

    pub fn def(&self, id: ClassId) -> &TypeDef {
        &self.defs[id.0 as usize]
    }

    pub fn model<'l>(&self, loaded: &'l Loaded, id: ClassId) -> &'l ast::Model {
        let def = self.def(id);
        match &loaded.tree(def.file).items[def.item] {
            Item::Model(model) => model,
            _ => unreachable!("type definitions are models"),
        }
    }

    /// The type that a name means in a file.
    pub fn lookup(&self, loaded: &Loaded, from: FileId, name: Symbol) -> Option<ClassId> {
        match loaded.sources.file(from).origin {
            Origin::Library => self.library.get(&name).copied(),
            Origin::User => self.user.get(&name).copied().or_else(|| {
                let found = self.library.get(&name).copied()?;
                self.visible.contains(&found).then_some(found)
            }),
        }
    }

    /// Reports an unknown type, with the nearest one that can be named, or the include that has it.
    pub fn unknown(&self, loaded: &Loaded, name: ast::Name) -> Diagnostic {
        let wrong = loaded.interner.name(name.symbol);
        let diagnostic = Diagnostic::new(
            Code::UnknownType,
            format!("unknown type `{}`", shorten(wrong)),
        )
        .at(name.span, "no type of this name");
        if let Some((file, ..)) =
            crate::syntax::library::types().find(|&(_, _, found)| found == wrong)
        {
            let stem = file.strip_suffix(".bgm").unwrap_or(file);
            return diagnostic.hint(format!(
                "the standard library has it: write `@{stem}` at the top of the file"
            ));
        }
        let mut known: Vec<&str> = self
            .user
            .values()
            .chain(&self.visible)
            .map(|&id| loaded.interner.name(self.def(id).name.symbol))
            .collect();
        known.sort_unstable();
        diagnostic.suggest(wrong, known)
    }
}

/// Collects the types; reports those defined twice, unknown bases and circles.
pub fn collect(loaded: &Loaded, diagnostics: &mut Diagnostics) -> Types {
    let mut types = Types {
        defs: Vec::new(),
        user: FxHashMap::default(),
        library: FxHashMap::default(),
        visible: FxHashSet::default(),
    };
    for tree in &loaded.trees {
        let origin = loaded.sources.file(tree.file).origin;
        for (item, model) in tree.items.iter().enumerate() {
            let Item::Model(model) = model else { continue };
            let id = ClassId(types.defs.len() as u32);
            let names = match origin {
                Origin::User => &mut types.user,
                Origin::Library => &mut types.library,
            };
            if let Some(&earlier) = names.get(&model.name.symbol) {
                let name = loaded.interner.name(model.name.symbol);
                diagnostics.push(
                    Diagnostic::new(
                        Code::DuplicateType,
                        format!("the type `{}` is defined twice", shorten(name)),
                    )
                    .at(model.name.span, "defined again here")
                    .at(types.defs[earlier.0 as usize].name.span, "first here"),
                );
            } else {
                names.insert(model.name.symbol, id);
            }
            types.defs.push(TypeDef {
                name: model.name,
                file: tree.file,
                item,
                kind: model.kind,
                parts: vec![id],
            });
        }
    }
    for &(file, only) in &loaded.library {
        for id in types.ids() {
            let def = types.def(id);
            if def.file == file && only.is_none_or(|name| name == def.name.symbol) {
                types.visible.insert(id);
            }
        }
    }
    linearize(loaded, &mut types, diagnostics);
    types
}

/// Fills `parts`, following the bases in an order where each comes before what inherits it.
fn linearize(loaded: &Loaded, types: &mut Types, diagnostics: &mut Diagnostics) {
    let mut graph: DiGraph<(), Span> = DiGraph::new();
    for _ in &types.defs {
        graph.add_node(());
    }
    for id in types.ids() {
        let file = types.def(id).file;
        for base in &types.model(loaded, id).bases {
            match types.lookup(loaded, file, base.symbol) {
                Some(found) => {
                    graph.add_edge(NodeIndex::new(found.0 as usize), node(id), base.span);
                }
                None => diagnostics.push(types.unknown(loaded, *base)),
            }
        }
    }
    // A cycle is reported and opened at one of its edges, until none is left.
    let order = loop {
        match toposort(&graph, None) {
            Ok(order) => break order,
            Err(cycle) => {
                let circle = circle_through(&graph, cycle.node_id());
                report_circle(loaded, types, &graph, &circle, diagnostics);
                match circle.first() {
                    Some(&edge) => graph.remove_edge(edge),
                    None => break Vec::new(),
                };
            }
        }
    };
    for at in order {
        let id = ClassId(at.index() as u32);
        let file = types.def(id).file;
        let mut parts: Vec<ClassId> = Vec::new();
        let mut have: FxHashSet<ClassId> = FxHashSet::default();
        for base in &types.model(loaded, id).bases {
            let Some(base) = types.lookup(loaded, file, base.symbol) else {
                continue;
            };
            if graph.find_edge(node(base), at).is_none() {
                continue;
            }
            for &part in &types.def(base).parts {
                if have.insert(part) {
                    parts.push(part);
                }
            }
        }
        parts.push(id);
        if parts.len() > MOST_PARTS {
            parts = vec![id];
            let name = types.def(id).name;
            let text = shorten(loaded.interner.name(name.symbol));
            diagnostics.push(
                Diagnostic::new(
                    Code::TooDeep,
                    format!("the type `{text}` inherits too many others"),
                )
                .at(name.span, format!("more than {MOST_PARTS} types")),
            );
        }
        types.defs[at.index()].parts = parts;
    }
}

fn node(id: ClassId) -> NodeIndex {
    NodeIndex::new(id.0 as usize)
}

/// The edges of a cycle through a node, found by walking until a node repeats.
fn circle_through<N>(
    graph: &DiGraph<N, Span>,
    start: NodeIndex,
) -> Vec<petgraph::graph::EdgeIndex> {
    use petgraph::visit::EdgeRef;
    use std::collections::hash_map::Entry;
    // Breadth first from `start` back to `start`.
    let mut came_by = FxHashMap::default();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for edge in graph.edges(at) {
            if edge.target() == start {
                let mut circle = vec![edge.id()];
                let mut back = at;
                while back != start {
                    let &(edge, before) = &came_by[&back];
                    circle.push(edge);
                    back = before;
                }
                circle.reverse();
                return circle;
            }
            if let Entry::Vacant(entry) = came_by.entry(edge.target()) {
                entry.insert((edge.id(), at));
                queue.push_back(edge.target());
            }
        }
    }
    Vec::new()
}

fn report_circle(
    loaded: &Loaded,
    types: &Types,
    graph: &DiGraph<(), Span>,
    circle: &[petgraph::graph::EdgeIndex],
    diagnostics: &mut Diagnostics,
) {
    let name = |at: NodeIndex| shorten(loaded.interner.name(types.defs[at.index()].name.symbol));
    let mut diagnostic: Option<Diagnostic> = None;
    // An edge leads from a base to the type that inherits it.
    for &edge in circle.iter().rev() {
        let Some((base, heir)) = graph.edge_endpoints(edge) else {
            continue;
        };
        let text = format!("`{}` inherits `{}`", name(heir), name(base));
        let known = diagnostic.unwrap_or_else(|| {
            Diagnostic::new(
                Code::InheritanceCircle,
                format!("the type `{}` inherits itself", name(heir)),
            )
        });
        diagnostic = Some(known.at(graph[edge], text));
    }
    diagnostics.extend(diagnostic);
}

/// Reports that `what` of a name contains itself.
pub fn contains_itself(
    code: Code,
    what: &str,
    circle: &[(ClassId, Span)],
    name: impl Fn(ClassId) -> String,
) -> Option<Diagnostic> {
    let &(first, _) = circle.first()?;
    let message = format!("the {what} `{}` contains itself", name(first));
    let mut diagnostic = Diagnostic::new(code, message);
    for (at, &(outer, span)) in circle.iter().enumerate() {
        let inner = circle[(at + 1) % circle.len()].0;
        let text = format!("`{}` contains `{}`", name(outer), name(inner));
        diagnostic = diagnostic.at(span, text);
    }
    Some(diagnostic)
}

/// A circle among submodels, as the classes on it with the place where each names the next.
pub fn containment_circle(
    count: usize,
    edges: impl IntoIterator<Item = (ClassId, ClassId, Span)>,
) -> Option<Vec<(ClassId, Span)>> {
    let mut graph: DiGraph<(), Span> = DiGraph::new();
    for _ in 0..count {
        graph.add_node(());
    }
    for (outer, inner, span) in edges {
        graph.add_edge(node(outer), node(inner), span);
    }
    let cycle = toposort(&graph, None).err()?;
    let circle = circle_through(&graph, cycle.node_id());
    let steps = circle
        .iter()
        .filter_map(|&edge| {
            let (outer, _) = graph.edge_endpoints(edge)?;
            Some((ClassId(outer.index() as u32), graph[edge]))
        })
        .collect();
    Some(steps)
}
