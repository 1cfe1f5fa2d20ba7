//! Models with ideal switches: one set of formulas for all modes if that is possible, otherwise a request to the pipeline for
//! each mode.

use super::lower::{Aliases, Goal, Lowered, Reduced, Request, Starts, lower, lower_on, reduce};
use super::modes::{Modes, Table, in_one_mode};
use super::refused::Refused;
use super::stages::{NoObserver, StageObserver};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::positions::{Discontinuous, Positions, can_be_any, switches, uniform};

/// A solved model. One that no single set of formulas serves in all modes comes with its [`Modes`]: what is solved
/// then holds where no divisor vanishes.
#[derive(Debug)]
pub struct Solution {
    pub solved: Solved,
    pub positions: Option<Box<Modes>>,
}

/// What can be diagnostics of a model by formulas.
#[derive(Debug)]
pub enum Presented {
    /// One set of formulas.
    One(Box<Solved>),
    /// One set of formulas in the form of the 1995 paper, but for what jumps.
    Paper(Box<Paper>),
    /// In each mode another one; and one that holds where no divisor vanishes.
    ByPosition(Box<Modes>, Box<Solved>),
}

/// A model that has the form of the 1995 paper.
#[derive(Debug)]
pub struct Paper {
    pub modes: Modes,
    /// The model in that form.
    pub form: Flat,
    pub solved: Solved,
    /// As it was written: it holds where no divisor vanishes.
    pub as_written: Solved,
}

/// The solved model in the form that `bgm solve` lists.
#[derive(Debug)]
pub enum Listed {
    One(Box<Solved>),
    Paper(Box<Solved>, Box<Table>),
    ByPosition(Box<Solved>, Box<Table>),
}

/// Reduces the index of a model as it was written; `None` after an error.
pub fn reduced(flat: Flat, diagnostics: &mut Diagnostics) -> Option<Flat> {
    match reduce(flat, &mut NoObserver) {
        Ok(Reduced { flat, notes, .. }) => {
            notes.report(&flat, diagnostics);
            Some(flat)
        }
        Err(refused) => {
            refused.report(diagnostics);
            None
        }
    }
}

/// Sorts the equations of a flat model; `None` after an error. Switches that change the index are in the form in which they
/// are solved.
pub fn sorted(
    flat: Flat,
    aliases: Aliases,
    diagnostics: &mut Diagnostics,
) -> Option<(Flat, Sorted)> {
    let done = sorted_in_some_mode(flat, aliases, &mut NoObserver, diagnostics);
    done.map(|(flat, sorted, _)| (flat, sorted))
}

/// The same. If no order of the equations serves all modes, the model is sorted in one mode, [`Positions::shown`].
pub fn sorted_in_some_mode(
    flat: Flat,
    aliases: Aliases,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<(Flat, Sorted, Option<Box<Positions>>)> {
    let request = Request::new(Goal::Sorted, aliases);
    let mut of_all = |result| {
        let (flat, sorted) = reported(result, diagnostics)?.into_sorted()?;
        Some((flat, sorted, None))
    };
    if switches(&flat).is_empty() {
        return of_all(lower(flat, request, observer));
    }
    let reduced = reduce(flat.clone(), observer);
    let solves = (reduced.as_ref()).is_ok_and(|known| is_uniform(known.clone(), &flat, observer));
    let as_one = reduced.and_then(|reduced| lower_on(reduced, &flat, request, observer));
    if solves {
        return of_all(as_one);
    }
    let mut modes = Modes::new(&flat, aliases)?;
    if let Some(form) = modes.paper_form(observer)
        && let Ok(reduced) = reduce(form.clone(), observer)
        && is_uniform(reduced.clone(), &form, observer)
    {
        return of_all(lower_on(reduced, &form, request, observer));
    }
    // In all modes at once if that can be, else in the first that is possible.
    let found = match as_one {
        Ok(lowered) => lowered.into_sorted(),
        Err(refused) => {
            let mut keys = modes.candidates();
            let found = keys.find_map(|key| Some((modes.sorted_in(&key, observer)?, key)));
            match found {
                None => {
                    refused.report(diagnostics);
                    None
                }
                Some((sorted, key)) => {
                    modes.positions.shown = Some(key);
                    Some(sorted)
                }
            }
        }
    };
    found.map(|(flat, sorted)| (flat, sorted, Some(Box::new(modes.into_positions()))))
}

/// Sorts and solves a flat model; `None` after an error.
pub fn solved(flat: Flat, aliases: Aliases, diagnostics: &mut Diagnostics) -> Option<Solution> {
    solved_with(flat, aliases, &mut NoObserver, diagnostics)
}

/// The same; `observer` is told of the stages.
pub fn solved_with(
    flat: Flat,
    aliases: Aliases,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Solution> {
    let request = Request::new(Goal::Solved, aliases);
    solved_as(flat, request, observer, diagnostics)
}

/// What a run needs of a model.
#[derive(Debug)]
pub struct Runnable {
    pub solution: Solution,
    /// Of a model that one set of formulas serves: its only position, where something in it can jump.
    pub alone: Option<Box<Positions>>,
}

/// Solves a model for a run. Start values that contradict each other are values before a jump if `start_jump` says so; in a model
/// with positions they always are.
pub fn solved_for_run(
    flat: Flat,
    start_jump: bool,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Runnable> {
    let mut request = Request::new(Goal::Solved, Aliases::Eliminate);
    if start_jump {
        request.starts = Starts::Before;
    }
    let written = (start_jump || can_be_any(&flat)).then(|| flat.clone());
    let mut solution = solved_as(flat, request, observer, diagnostics)?;
    let mut alone = None;
    if let Some(written) = written {
        let discontinuous = Discontinuous::of(&solution.solved.flat);
        let reduced = solution.solved.flat.reduction.is_some();
        let opened = || Positions::with_corners(&written, &discontinuous.corners);
        match &mut solution.positions {
            Some(modes) if !discontinuous.corners.is_empty() => {
                let shown = modes.positions.shown.take();
                modes.positions = Positions { shown, ..opened() };
            }
            Some(_) => {}
            None if discontinuous.is_any() || start_jump && reduced => {
                alone = Some(Box::new(opened()));
            }
            None => {}
        }
    }
    Some(Runnable { solution, alone })
}

fn solved_as(
    flat: Flat,
    request: Request,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Solution> {
    let aliases = request.aliases;
    if switches(&flat).is_empty() {
        let solved = reported(lower(flat, request, observer), diagnostics)?.into_solved()?;
        return Some(Solution {
            solved,
            positions: None,
        });
    }
    match lower(flat.clone(), request, observer) {
        Ok(lowered) => {
            lowered.report(diagnostics);
            let solved = lowered.into_solved()?;
            let positions = match uniform(&solved) {
                true => None,
                false => Modes::new(&flat, aliases).map(Box::new),
            };
            Some(Solution { solved, positions })
        }
        Err(refused) => {
            let mut by_mode = || {
                if refused.holds_in_all_modes() {
                    return None;
                }
                let mut modes = Modes::new(&flat, aliases)?;
                let (solved, key) = modes.first_solved(observer)?;
                let solved = solved.clone();
                modes.positions.shown = Some(key);
                Some(Solution {
                    solved,
                    positions: Some(Box::new(modes)),
                })
            };
            let found = by_mode();
            if found.is_none() {
                refused.report(diagnostics);
            }
            found
        }
    }
}

/// Whether a run solves the model anew in each mode of its switches.
pub fn uses_modes(flat: &Flat) -> bool {
    let mut ignored = Diagnostics::default();
    let solution = solved(flat.clone(), Aliases::Eliminate, &mut ignored);
    solution.is_some_and(|solution| solution.positions.is_some())
}

/// Solves a model for what shows it. If its switches change the index, the form of the 1995 paper is tried: it serves all
/// modes where each switch changes the index by its own position alone.
pub fn presented(
    flat: Flat,
    aliases: Aliases,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Presented> {
    let Solution { solved, positions } = solved_with(flat, aliases, observer, diagnostics)?;
    let Some(mut modes) = positions else {
        return Some(Presented::One(Box::new(solved)));
    };
    if let Some(form) = modes.paper_form(observer)
        && let Ok(lowered) = lower(form.clone(), Request::new(Goal::Solved, aliases), observer)
        && let Some(in_form) = lowered.into_solved()
        && uniform(&in_form)
    {
        return Some(Presented::Paper(Box::new(Paper {
            modes: *modes,
            form,
            solved: in_form,
            as_written: solved,
        })));
    }
    Some(Presented::ByPosition(modes, Box::new(solved)))
}

/// Solves for a listing: with all that it shows of the modes of switches.
pub fn listed(
    flat: Flat,
    aliases: Aliases,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Listed> {
    Some(match presented(flat, aliases, observer, diagnostics)? {
        Presented::One(solved) => Listed::One(solved),
        Presented::Paper(paper) => {
            let table = paper.modes.table(false, observer);
            Listed::Paper(Box::new(paper.solved), Box::new(table))
        }
        Presented::ByPosition(modes, solved) => {
            Listed::ByPosition(solved, Box::new(modes.table(true, observer)))
        }
    })
}

/// Whether one set of formulas serves all modes of a model.
fn is_uniform(reduced: Reduced, written: &Flat, observer: &mut dyn StageObserver) -> bool {
    let request = Request::new(Goal::Solved, Aliases::Eliminate);
    let lowered = lower_on(reduced, written, request, observer);
    let solved = lowered.ok().and_then(Lowered::into_solved);
    solved.is_some_and(|solved| uniform(&solved))
}

/// The flat model that `bgm solve` lists, and the request to the pipeline for it.
#[derive(Debug)]
pub struct Form {
    pub flat: Flat,
    pub request: Request,
    /// How the form differs from the model as it was written, if it does.
    pub remark: Option<String>,
}

/// The form in which the model is shown. If switches change the index, that is the form of the 1995 paper, or one mode if the
/// model has no such form. A model that cannot be solved is shown as it was written.
pub fn shown(flat: Flat, aliases: Aliases) -> Form {
    let mut form = Form {
        request: Request::new(Goal::Solved, aliases),
        remark: None,
        flat,
    };
    let mut unsaid = Diagnostics::default();
    match presented(form.flat.clone(), aliases, &mut NoObserver, &mut unsaid) {
        None | Some(Presented::One(_)) => {}
        Some(Presented::Paper(paper)) => {
            form.flat = paper.form;
            form.remark = Some("in the form of the 1995 paper".to_string());
        }
        Some(Presented::ByPosition(positions, _)) => match &positions.shown {
            None => form.remark = Some("of all modes, where no divisor vanishes".to_string()),
            Some(key) => {
                form.flat = positions.written_in(key).0;
                form.request = in_one_mode(aliases);
                form.remark = Some(format!("of the mode {}", positions.position_name(key)));
            }
        },
    }
    form
}

/// The model in one mode as it was written, by the name that `bgm solve --modes` gives to the mode.
pub fn in_mode(flat: &Flat, aliases: Aliases, name: &str) -> Result<Form, String> {
    let positions = Positions::new(flat).ok_or("the model has no switches, and so no modes")?;
    let (keys, _) = positions.keys();
    let names: Vec<String> = (keys.iter())
        .map(|key| positions.position_name(key))
        .collect();
    let Some(at) = names.iter().position(|known| known == name.trim()) else {
        let list = names.join("\n  ");
        return Err(format!("there is no mode `{name}`; there are\n  {list}"));
    };
    Ok(Form {
        flat: positions.written_in(&keys[at]).0,
        request: in_one_mode(aliases),
        remark: Some(format!("of the mode {}", names[at])),
    })
}

/// What is wrong with a mode, as it was written.
pub fn why_impossible(
    positions: &Positions,
    key: &[bool],
    observer: &mut dyn StageObserver,
) -> Diagnostics {
    let (flat, _) = match key.is_empty() {
        // The only mode: as it was written it has been solved.
        true => positions.in_mode(key),
        false => positions.written_in(key),
    };
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let mut diagnostics = Diagnostics::default();
    if let Err(refused) = lower(flat, request, observer) {
        refused.report(&mut diagnostics);
    }
    diagnostics
}

/// What came of a request, with all that is to be diagnostics.
fn reported(result: Result<Lowered, Refused>, diagnostics: &mut Diagnostics) -> Option<Lowered> {
    match result {
        Ok(lowered) => {
            lowered.report(diagnostics);
            Some(lowered)
        }
        Err(refused) => {
            refused.report(diagnostics);
            None
        }
    }
}
