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
use crate::base::diagnostics::Diagnostics;
use crate::bond::fields::suggest::{is_worth_it, suggestions};
use crate::flat::Flat;
use crate::passes::aliases::eliminate;
use crate::passes::blocks::{Solved, solve};
use crate::passes::determined::{Undetermined, determined};
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

/// How far a model is to be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The index is reduced.
    Reduced,
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
    Reduced(Flat),
    Sorted(Flat, Sorted),
    Solved(Box<Solved>),
}

/// Findings of the stages that are no errors.
#[derive(Debug, Default)]
pub struct Notes {
    pub references: Vec<Reference>,
    pub starts: Vec<Remark>,
}

impl Notes {
    pub fn report(&self, flat: &Flat, diagnostics: &mut Diagnostics) {
        floating(flat, &self.references, diagnostics);
        start::report(flat, &self.starts, diagnostics);
    }
}

/// Takes a flat model through the stages, as far as the request asks.
pub fn lower(
    written: Flat,
    request: Request,
    observer: &mut dyn StageObserver,
) -> Result<Lowered, Refused> {
    let mut steps = StageTracker {
        observer,
        stage: Stage::Flat,
    };
    let result = stages(written, request, &mut steps);
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

fn stages(
    written: Flat,
    request: Request,
    steps: &mut StageTracker<'_>,
) -> Result<Lowered, Refused> {
    let wants_guesses = request.goal == Goal::Solved && request.suggestions;
    let mut as_written = (wants_guesses && is_worth_it(&written)).then(|| written.clone());
    let mut guesses = || as_written.take().map_or_else(Vec::new, suggestions);
    let mut notes = Notes::default();
    steps.end(Product::Flat(&written));

    steps.begin(Stage::Determined);
    let mut looked_at = determined(written);
    notes.references = std::mem::take(&mut looked_at.references);
    let mut flat = looked_at.flat;
    if let Some(fault) = looked_at.fault {
        return Err(Refused::new(
            flat,
            notes,
            match fault {
                Undetermined::Unbalanced => Cause::Unbalanced,
                Undetermined::Cancels => Cause::Cancels(looked_at.findings),
            },
        ));
    }
    steps.end(Product::Flat(&flat));

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
    let differentiated = request.jump && flat.reduction.is_some();
    let jump = differentiated.then(|| Jump::new(&mut flat)).flatten();
    steps.end(Product::Flat(&flat));
    if request.goal == Goal::Reduced {
        return Ok(Lowered {
            model: Model::Reduced(flat),
            jump,
            notes,
        });
    }

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
            model: Model::Sorted(flat, sorted),
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
            Model::Reduced(flat) | Model::Sorted(flat, _) => flat,
            Model::Solved(solved) => &solved.flat,
        }
    }

    /// Whether start values contradict each other.
    pub fn contradicts(&self) -> bool {
        self.notes.starts.iter().any(Remark::is_error)
    }

    pub fn into_flat(self) -> Flat {
        match self.model {
            Model::Reduced(flat) | Model::Sorted(flat, _) => flat,
            Model::Solved(solved) => solved.flat,
        }
    }

    /// The sorted model, if it was lowered to [`Goal::Sorted`].
    pub fn into_sorted(self) -> Option<(Flat, Sorted)> {
        match self.model {
            Model::Sorted(flat, sorted) => Some((flat, sorted)),
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
