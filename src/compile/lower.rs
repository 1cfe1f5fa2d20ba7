//! The stages from the flat model on, in order, as far as a [`Request`] asks.
//!
//! ```text
//! written --determined--> referenced --index--> of index 1 --jump--> --aliases--> smaller
//!         --order--> blocks in order --blocks--> formulas --start--> start values examined
//! ```
//!
//! Each stage is a pass that is independent of the others. Its findings are kept as data; diagnostics are made on request
//! ([`Lowered::report`], [`Refused::report`]), so that no texts are made for a mode that is only tried. In debug builds a
//! verifier checks the product of each stage ([`super::stages`]).

use super::refused::{Cause, Refused};
use super::stages::{Product, Stage, StageObserver, done};
use crate::base::diagnostics::{Diagnostic, Diagnostics};
use crate::bond::fields::suggest::{is_worth_it, suggestions};
use crate::flat::Flat;
use crate::passes::aliases::eliminate;
use crate::passes::blocks::{Solved, solve};
use crate::passes::determined::{Determined, Undetermined, determined};
use crate::passes::index::{Irreducible, lower_index};
use crate::passes::order::{Sorted, sort};
use crate::passes::signs::reference::{Reference, floating};
use crate::positions::Jump;
use crate::start::{self, Remark, WrongRestarts, start};

/// How variables are treated that equal another variable, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Eliminate,
    Keep,
}

/// How far a model is to be lowered; [`reduce`] stops before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    Sorted,
    Solved,
}

/// How start values are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// They are ignored: they belong to another mode.
    Left,
    /// They are examined; a contradiction is reported, but is no error.
    Examined,
    /// The same; where they contradict each other they are values before a jump, so nothing is reported.
    Before,
    /// A contradiction is an error.
    Required,
}

#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub goal: Goal,
    pub aliases: Aliases,
    pub starts: Starts,
    /// For a mode: compute which states jump when it begins.
    pub jump: bool,
    /// Let R-fields suggest the iteration variables of nonlinear loops.
    pub suggestions: bool,
}

impl Request {
    /// The request for a model as a whole.
    pub fn new(goal: Goal, aliases: Aliases) -> Request {
        Request {
            goal,
            aliases,
            starts: Starts::Required,
            jump: false,
            suggestions: true,
        }
    }
}

/// A model that was lowered as far as requested.
#[derive(Debug)]
pub struct Lowered {
    pub model: Model,
    pub jump: Option<Jump>,
    pub notes: Notes,
}

#[derive(Debug)]
pub enum Model {
    Sorted(Box<(Flat, Sorted)>),
    Solved(Box<Solved>),
}

/// What was found on the way and is no error.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    pub references: Vec<Reference>,
    pub starts: Vec<Remark>,
}

impl Notes {
    fn of(references: Vec<Reference>) -> Notes {
        Notes {
            references,
            starts: Vec::new(),
        }
    }

    pub fn report(&self, flat: &Flat, diagnostics: &mut Diagnostics) {
        floating(flat, &self.references, diagnostics);
        start::report(flat, &self.starts, diagnostics);
    }
}

/// A model whose index is reduced. From here it goes on to be sorted and solved, more than once where both with and without
/// aliases are wanted.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub flat: Flat,
    pub jump: Option<Jump>,
    pub notes: Notes,
}

/// The pipeline.
pub fn lower(
    written: Flat,
    request: Request,
    observer: &mut dyn StageObserver,
) -> Result<Lowered, Refused> {
    let as_written = wants_guesses(&written, request).then(|| written.clone());
    watched(observer, |steps| {
        let referenced = look(written, steps)?;
        let reduced = reduced(referenced, request.jump, steps)?;
        finish(reduced, as_written, request, steps)
    })
}

/// Its first stage by itself: the equations determine the unknowns.
pub fn determine(written: Flat, observer: &mut dyn StageObserver) -> Result<Determined, Refused> {
    watched(observer, |steps| look(written, steps))
}

/// Its first stages, until the index is reduced.
pub fn reduce(written: Flat, observer: &mut dyn StageObserver) -> Result<Reduced, Refused> {
    watched(observer, |steps| {
        reduced(look(written, steps)?, false, steps)
    })
}

/// The other stages of what [`reduce`] has made of `written`.
pub fn lower_on(
    reduced: Reduced,
    written: &Flat,
    request: Request,
    observer: &mut dyn StageObserver,
) -> Result<Lowered, Refused> {
    let as_written = wants_guesses(written, request).then(|| written.clone());
    watched(observer, |steps| {
        finish(reduced, as_written, request, steps)
    })
}

fn wants_guesses(written: &Flat, request: Request) -> bool {
    request.goal == Goal::Solved && request.suggestions && is_worth_it(written)
}

/// Tells who looks on where a model was refused.
fn watched<T>(
    observer: &mut dyn StageObserver,
    stages: impl FnOnce(&mut StageTracker<'_>) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let mut steps = StageTracker {
        observer,
        stage: Stage::Flat,
    };
    let result = stages(&mut steps);
    if result.is_err() {
        steps.observer.refused(steps.stage);
    }
    result
}

/// The present stage, with the observer.
struct StageTracker<'w> {
    observer: &'w mut dyn StageObserver,
    stage: Stage,
}

impl StageTracker<'_> {
    fn begin(&mut self, stage: Stage) {
        self.stage = stage;
        self.observer.before(stage);
    }

    fn end(&mut self, product: Product<'_>) {
        done(self.observer, self.stage, product);
    }
}

fn look(written: Flat, steps: &mut StageTracker<'_>) -> Result<Determined, Refused> {
    steps.end(Product::Flat(&written));

    steps.begin(Stage::Determined);
    let looked_at = determined(written);
    if let Some(fault) = looked_at.fault {
        return Err(Refused::new(
            looked_at.flat,
            Notes::of(looked_at.references),
            match fault {
                Undetermined::Unbalanced => Cause::Unbalanced,
                Undetermined::Cancels => Cause::Cancels(looked_at.findings),
            },
        ));
    }
    steps.end(Product::Flat(&looked_at.flat));
    Ok(looked_at)
}

fn reduced(
    looked_at: Determined,
    jump: bool,
    steps: &mut StageTracker<'_>,
) -> Result<Reduced, Refused> {
    let notes = Notes::of(looked_at.references);
    let mut flat = looked_at.flat;
    steps.begin(Stage::Index);
    let constraints = &looked_at.findings.constraints;
    if let Err(why) = lower_index(&mut flat, constraints, &looked_at.dependence) {
        return Err(Refused::new(
            flat,
            notes,
            match why {
                Irreducible::Stuck(stuck) => Cause::Stuck(stuck),
                Irreducible::Cancels(findings) => Cause::Cancels(findings),
            },
        ));
    }
    let differentiated = jump && flat.reduction.is_some();
    let jump = differentiated.then(|| Jump::new(&mut flat)).flatten();
    steps.end(Product::Flat(&flat));
    Ok(Reduced { flat, jump, notes })
}

fn finish(
    reduced: Reduced,
    mut as_written: Option<Flat>,
    request: Request,
    steps: &mut StageTracker<'_>,
) -> Result<Lowered, Refused> {
    let mut guesses = || as_written.take().map_or_else(Vec::new, suggestions);
    let Reduced {
        mut flat,
        jump,
        mut notes,
    } = reduced;
    if request.aliases == Aliases::Eliminate {
        steps.begin(Stage::Aliases);
        flat = eliminate(flat);
        let wrong = WrongRestarts::find(&flat);
        if !wrong.is_empty() {
            return Err(Refused::new(flat, notes, Cause::Restarts(wrong)));
        }
        steps.end(Product::Flat(&flat));
    }

    steps.begin(Stage::Sorted);
    let Ok(sorted) = sort(&flat) else {
        return Err(Refused::new(flat, notes, Cause::Unsorted));
    };
    steps.end(Product::Sorted(&flat, &sorted));
    if request.goal == Goal::Sorted {
        return Ok(Lowered {
            model: Model::Sorted(Box::new((flat, sorted))),
            jump,
            notes,
        });
    }

    steps.begin(Stage::Solved);
    let mut solved = match solve(flat, &sorted, &mut guesses) {
        Ok(solved) => solved,
        Err(unsolved) => {
            let unsolved = *unsolved;
            return Err(Refused::new(
                unsolved.flat,
                notes,
                Cause::Unsolved(unsolved.faults),
            ));
        }
    };
    steps.end(Product::Solved(&solved));

    if request.starts != Starts::Left {
        steps.begin(Stage::Start);
        notes.starts = start(&mut solved);
        let contradict = notes.starts.iter().any(Remark::is_error);
        if contradict && request.starts == Starts::Required {
            return Err(Refused::new(solved.flat, notes, Cause::Starts));
        }
        if request.starts == Starts::Before {
            notes.starts.retain(|remark| !remark.is_error());
        }
        steps.end(Product::Solved(&solved));
    }
    Ok(Lowered {
        model: Model::Solved(Box::new(solved)),
        jump,
        notes,
    })
}

impl Lowered {
    /// Reports the findings of the stages.
    pub fn report(&self, diagnostics: &mut Diagnostics) {
        self.notes.report(self.flat(), diagnostics);
    }

    pub fn flat(&self) -> &Flat {
        match &self.model {
            Model::Sorted(sorted) => &sorted.0,
            Model::Solved(solved) => &solved.flat,
        }
    }

    /// Why start values contradict each other, if they do.
    pub fn contradiction(&self) -> Option<Diagnostic> {
        let first = self.notes.starts.iter().find(|remark| remark.is_error())?;
        let mut diagnostics = Diagnostics::default();
        start::report(self.flat(), std::slice::from_ref(first), &mut diagnostics);
        diagnostics.iter().next().cloned()
    }

    /// If it was lowered to be sorted.
    pub fn into_sorted(self) -> Option<(Flat, Sorted)> {
        match self.model {
            Model::Sorted(sorted) => Some(*sorted),
            _ => None,
        }
    }

    /// The solved model, if it was lowered to [`Goal::Solved`].
    pub fn into_solved(self) -> Option<Solved> {
        match self.model {
            Model::Solved(solved) => Some(*solved),
            _ => None,
        }
    }
}
