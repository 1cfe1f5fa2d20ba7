//! The stages by name, what each has made, and somebody who looks on: dumps, timings.
//!
//! After every stage of a debug build or a test the verifiers look at what it has made ([`done`]), whoever else looks on.

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

    /// The name that dumps and timings have.
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

/// What a stage has made.
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

/// Somebody who looks on.
pub trait Watch {
    /// A stage begins.
    fn before(&mut self, _: Stage) {}

    /// It has come to its end.
    fn after(&mut self, stage: Stage, product: Product<'_>);

    /// It has refused the model.
    fn refused(&mut self, _: Stage) {}
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn after(&mut self, _: Stage, _: Product<'_>) {}
}

/// Ends a stage: what it has made is sound, and is shown to who looks on.
pub fn done(watch: &mut dyn Watch, stage: Stage, product: Product<'_>) {
    cancel::check();
    watch.after(stage, product);
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
    /// A stage that had nothing to do has made what it was given, which is known to be sound.
    fn is_untouched(&self, stage: Stage) -> bool {
        match *self {
            Product::Flat(flat) => stage == Stage::Index && flat.reduction.is_none(),
            Product::Solved(solved) => stage == Stage::Start && solved.flat.reduction.is_none(),
            _ => false,
        }
    }

    /// Where the texts are at hand, places are looked at as well.
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
            // The flat model is as it was before the stage.
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

    /// What the stage has made, as lines.
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
    /// With the flat model that it speaks of.
    pub fn whole(&self, stage: Stage) -> String {
        let dump = self.dump(stage);
        match *self {
            Product::Sorted(flat, _) => flat::dump::dump(flat) + &dump,
            Product::Solved(solved) => flat::dump::dump(&solved.flat) + &dump,
            _ => dump,
        }
    }
}

/// The trees of the user's files; of others only the names.
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
