//! A flat model through the stages, in order, as far as a [`Request`] asks.
//!
//! ```text
//! written --determined--> referenced --index--> of index 1 --jump--> --aliases--> smaller
//!         --order--> blocks in order --blocks--> formulas --start--> start values examined
//! ```
//!
//! Each stage is a pass that knows nothing of the others. What it finds to be said is kept as data: words are
//! made when somebody asks ([`Lowered::tell`], [`Refused::tell`]), so that a mode which is only tried costs none.

use super::refused::{Cause, Refused};
use crate::base::cancel::check;
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

/// What becomes of variables that equal another one, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliases {
    Eliminate,
    Keep,
}

/// How far a model is to be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// Its index reduced.
    Reduced,
    Sorted,
    Solved,
}

/// What is done about start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// Nothing: they are for another mode.
    Left,
    /// They are examined; those that contradict each other are no error.
    Examined,
    /// Those that contradict each other are an error.
    Required,
}

#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub goal: Goal,
    pub aliases: Aliases,
    pub starts: Starts,
    /// Of a mode: what may jump when it begins.
    pub jump: bool,
    /// R-fields may suggest what a nonlinear loop is iterated on.
    pub suggestions: bool,
}

impl Request {
    /// Of a model as a whole.
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

/// A model that came as far as was asked.
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

/// What was found on the way and is no error.
#[derive(Debug, Default)]
pub struct Notes {
    pub references: Vec<Reference>,
    pub starts: Vec<Remark>,
}

impl Notes {
    pub fn tell(&self, flat: &Flat, said: &mut Diagnostics) {
        floating(flat, &self.references, said);
        start::report(flat, &self.starts, said);
    }
}

/// The stages, by the names that dumps and timings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Flat,
    Determined,
    Index,
    Aliases,
    Order,
    Blocks,
    Start,
}

/// What a stage has made.
#[derive(Clone, Copy, Debug)]
pub enum Product<'a> {
    Flat(&'a Flat),
    Sorted(&'a Flat, &'a Sorted),
    Solved(&'a Solved),
}

/// Somebody who looks on: dumps, timings.
pub trait Watch {
    fn after(&mut self, stage: Stage, product: Product<'_>);
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn after(&mut self, _: Stage, _: Product<'_>) {}
}

/// The pipeline.
pub fn lower(written: Flat, request: Request, watch: &mut dyn Watch) -> Result<Lowered, Refused> {
    let wants_guesses = request.goal == Goal::Solved && request.suggestions;
    let mut as_written = (wants_guesses && is_worth_it(&written)).then(|| written.clone());
    let mut guesses = || as_written.take().map_or_else(Vec::new, suggestions);
    let mut notes = Notes::default();
    check();
    watch.after(Stage::Flat, Product::Flat(&written));

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
    check();
    watch.after(Stage::Determined, Product::Flat(&flat));

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
    check();
    watch.after(Stage::Index, Product::Flat(&flat));
    if request.goal == Goal::Reduced {
        return Ok(Lowered {
            model: Model::Reduced(flat),
            jump,
            notes,
        });
    }

    if request.aliases == Aliases::Eliminate {
        flat = eliminate(flat);
        let wrong = WrongRestarts::find(&flat);
        if !wrong.is_empty() {
            return Err(Refused::new(flat, notes, Cause::Restarts(wrong)));
        }
        check();
        watch.after(Stage::Aliases, Product::Flat(&flat));
    }

    let Ok(sorted) = sort(&flat) else {
        return Err(Refused::new(flat, notes, Cause::Unsorted));
    };
    check();
    watch.after(Stage::Order, Product::Sorted(&flat, &sorted));
    if request.goal == Goal::Sorted {
        return Ok(Lowered {
            model: Model::Sorted(flat, sorted),
            jump,
            notes,
        });
    }

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
    check();
    watch.after(Stage::Blocks, Product::Solved(&solved));

    if request.starts != Starts::Left {
        notes.starts = start(&mut solved);
        let contradict = notes.starts.iter().any(Remark::is_error);
        if contradict && request.starts == Starts::Required {
            return Err(Refused::new(solved.flat, notes, Cause::Starts));
        }
        check();
        watch.after(Stage::Start, Product::Solved(&solved));
    }
    Ok(Lowered {
        model: Model::Solved(Box::new(solved)),
        jump,
        notes,
    })
}

impl Lowered {
    /// What was found on the way, in words.
    pub fn tell(&self, said: &mut Diagnostics) {
        self.notes.tell(self.flat(), said);
    }

    pub fn flat(&self) -> &Flat {
        match &self.model {
            Model::Reduced(flat) | Model::Sorted(flat, _) => flat,
            Model::Solved(solved) => &solved.flat,
        }
    }

    /// Start values contradict each other.
    pub fn contradicts(&self) -> bool {
        self.notes.starts.iter().any(Remark::is_error)
    }

    pub fn into_flat(self) -> Flat {
        match self.model {
            Model::Reduced(flat) | Model::Sorted(flat, _) => flat,
            Model::Solved(solved) => solved.flat,
        }
    }

    /// If it was lowered to be sorted.
    pub fn into_sorted(self) -> Option<(Flat, Sorted)> {
        match self.model {
            Model::Sorted(flat, sorted) => Some((flat, sorted)),
            _ => None,
        }
    }

    /// If it was lowered to be solved.
    pub fn into_solved(self) -> Option<Solved> {
        match self.model {
            Model::Solved(solved) => Some(*solved),
            _ => None,
        }
    }
}
