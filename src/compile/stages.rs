//! The stages by name, their products, and the observer that sees them (dumps, timings).
//!
//! In debug builds and tests a verifier checks the product of each stage ([`done`]), with any observer.

use std::fmt::Write;

use crate::base::cancel;
use crate::base::flaw::{Flaws, hold};
use crate::base::source::Sources;
use crate::bond::BondGraph;
use crate::flat::Flat;
use crate::model::Classes;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::program::Program;
use crate::syntax::load::Loaded;
use crate::{bond, flat, passes, program, start, syntax};

/// The stages, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Tree,
    Classes,
    Flat,
    Determined,
    Index,
    Aliases,
    Sorted,
    Solved,
    Start,
    Program,
    Graph,
    Run,
    Writing,
}

impl Stage {
    pub const ALL: [Stage; 13] = [
        Stage::Tree,
        Stage::Classes,
        Stage::Flat,
        Stage::Determined,
        Stage::Index,
        Stage::Aliases,
        Stage::Sorted,
        Stage::Solved,
        Stage::Start,
        Stage::Program,
        Stage::Graph,
        Stage::Run,
        Stage::Writing,
    ];

    /// Whether it makes a representation that can be shown.
    pub fn has_dump(self) -> bool {
        !matches!(self, Stage::Classes | Stage::Run | Stage::Writing)
    }

    /// The name of the stage in dumps and timings.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Tree => "tree",
            Stage::Classes => "classes",
            Stage::Flat => "flat",
            Stage::Determined => "determined",
            Stage::Index => "index",
            Stage::Aliases => "aliases",
            Stage::Sorted => "sorted",
            Stage::Solved => "solved",
            Stage::Start => "start",
            Stage::Program => "program",
            Stage::Graph => "graph",
            Stage::Run => "run",
            Stage::Writing => "writing",
        }
    }
}

/// The product of a stage.
#[derive(Clone, Copy, Debug)]
pub enum Product<'a> {
    Tree(&'a Loaded),
    Classes(&'a Classes),
    Flat(&'a Flat),
    Sorted(&'a Flat, &'a Sorted),
    Solved(&'a Solved),
    Graph(&'a BondGraph),
    Program(&'a Program, &'a Flat),
    /// Of a stage that is none of the compiler's: what it counts.
    Counts(&'a [(&'static str, usize)]),
}

/// Sees stages begin and end.
pub trait StageObserver {
    /// A stage begins.
    fn before(&mut self, _: Stage) {}

    /// A stage has ended.
    fn after(&mut self, stage: Stage, product: Product<'_>);

    /// A stage has refused the model.
    fn refused(&mut self, _: Stage) {}
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl StageObserver for NoObserver {
    fn after(&mut self, _: Stage, _: Product<'_>) {}
}

/// Ends a stage: shows the product to the observer and verifies it.
pub fn done(observer: &mut dyn StageObserver, stage: Stage, product: Product<'_>) {
    cancel::check();
    observer.after(stage, product);
    if product.is_untouched(stage) {
        return;
    }
    hold(
        stage.name(),
        || product.verify(None),
        || product.whole(stage),
    );
}

impl Product<'_> {
    /// A stage that had nothing to do returns what it was given, which was verified before.
    fn is_untouched(&self, stage: Stage) -> bool {
        match *self {
            Product::Flat(flat) => stage == Stage::Index && flat.reduction.is_none(),
            Product::Solved(solved) => stage == Stage::Start && solved.flat.reduction.is_none(),
            _ => false,
        }
    }

    /// Verifies the product; with `sources` its spans too.
    pub fn verify(&self, sources: Option<&Sources>) -> Result<(), Flaws> {
        match *self {
            Product::Tree(loaded) => {
                let Loaded {
                    trees,
                    interner,
                    sources,
                    ..
                } = loaded;
                (trees.iter()).try_for_each(|tree| syntax::verify::verify(tree, interner, sources))
            }
            Product::Classes(_) | Product::Counts(_) => Ok(()),
            Product::Flat(flat) => flat::verify::verify(flat, sources),
            // The stage has not changed the flat model.
            Product::Sorted(flat, sorted) => passes::order::verify::verify(flat, sorted),
            Product::Solved(solved) => {
                flat::verify::verify(&solved.flat, sources)?;
                passes::blocks::verify::verify(solved)
            }
            Product::Graph(found) => {
                bond::verify::verify(&found.flat, &found.graph, Some(&found.causality))
            }
            Product::Program(program, _) => program::verify::verify(program),
        }
    }

    /// The product as lines.
    pub fn dump(&self, stage: Stage) -> String {
        match *self {
            Product::Solved(solved) if stage == Stage::Start => start::dump::dump(solved),
            Product::Tree(loaded) => trees(loaded),
            Product::Classes(_) | Product::Counts(_) => String::new(),
            Product::Flat(flat) => flat::dump::dump(flat),
            Product::Sorted(flat, sorted) => passes::order::dump::dump(flat, sorted),
            Product::Solved(solved) => passes::blocks::dump::dump(solved),
            Product::Graph(found) => {
                bond::dump::dump(&found.flat, &found.graph, Some(&found.causality))
            }
            Product::Program(program, flat) => program::dump::dump(program, Some(flat)),
        }
    }
}

impl Product<'_> {
    /// The product as lines, with the flat model whose ids it uses.
    pub fn whole(&self, stage: Stage) -> String {
        let dump = self.dump(stage);
        match *self {
            Product::Sorted(flat, _) => flat::dump::dump(flat) + &dump,
            Product::Solved(solved) => flat::dump::dump(&solved.flat) + &dump,
            _ => dump,
        }
    }
}

/// The trees of the user's files, and the names of all other files.
fn trees(loaded: &Loaded) -> String {
    let mut out = String::new();
    for tree in &loaded.trees {
        let file = loaded.sources.file(tree.file);
        let _ = writeln!(out, "{:?} {}", tree.file, file.name);
        if file.origin == crate::base::source::Origin::User {
            out.push_str(&syntax::dump::dump(tree, &loaded.interner));
        }
    }
    out
}
