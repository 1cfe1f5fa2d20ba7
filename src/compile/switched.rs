//! Models with ideal switches: one set of formulas for all modes if that is possible, otherwise a request to the pipeline for
//! each mode.

use super::lower::{Aliases, Goal, Lowered, Request, Starts, lower};
use super::refused::Refused;
use super::stages::{NoObserver, StageObserver};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::positions::{Jump, Key, Loose, Mode, Positions, form, switches, uniform};

/// A solved model. If one set of formulas does not serve all modes, it comes with [`Positions`]; the formulas then hold only
/// where no divisor vanishes.
#[derive(Debug)]
pub struct Solution {
    pub solved: Solved,
    pub positions: Option<Box<Positions>>,
}

/// The model in one mode.
#[derive(Debug)]
pub struct CompiledMode {
    pub key: Key,
    pub solved: Solved,
    /// The jump of states with which the mode begins, if states may jump.
    pub jump: Option<Jump>,
    /// Values that the mode does not determine: the solution of least norm was taken.
    pub loose: Vec<Loose>,
    /// Start values contradict each other in this mode.
    pub contradicts: bool,
}

/// The solved model in the form that `bgm solve` lists.
#[derive(Debug)]
pub enum Presented {
    /// One set of formulas.
    One(Box<Solved>),
    /// One set of formulas in the form of the 1995 paper. It does not cover jumps of states.
    Paper(Box<Positions>, Box<Solved>),
    /// One set of formulas for each mode, and one that holds where no divisor vanishes.
    ByPosition(Box<Positions>, Box<Solved>),
}

/// Reduces the index of a model as it was written; `None` after an error.
pub fn reduced(flat: Flat, diagnostics: &mut Diagnostics) -> Option<Flat> {
    let request = Request::new(Goal::Reduced, Aliases::Keep);
    reported(lower(flat, request, &mut NoObserver), diagnostics).map(Lowered::into_flat)
}

/// Sorts the equations of a flat model; `None` after an error. Switches that change the index are in the form in which they
/// are solved.
pub fn sorted(
    flat: Flat,
    aliases: Aliases,
    diagnostics: &mut Diagnostics,
) -> Option<(Flat, Sorted)> {
    let done = sorted_in_some_mode(flat, aliases, diagnostics);
    done.map(|(flat, sorted, _)| (flat, sorted))
}

/// The same. If no order of the equations serves all modes, the model is sorted in one mode, [`Positions::shown`].
pub fn sorted_in_some_mode(
    flat: Flat,
    aliases: Aliases,
    diagnostics: &mut Diagnostics,
) -> Option<(Flat, Sorted, Option<Box<Positions>>)> {
    let request = Request::new(Goal::Sorted, aliases);
    let as_one = |flat: Flat| lower(flat, request, &mut NoObserver);
    let mut in_all_modes = |flat: Flat| {
        let (flat, sorted) = reported(as_one(flat), diagnostics)?.into_sorted()?;
        Some((flat, sorted, None))
    };
    if switches(&flat).is_empty()
        || is_uniform(flat.clone(), Aliases::Eliminate, &mut NoObserver).is_some()
    {
        return in_all_modes(flat);
    }
    let mut positions = Positions::new(&flat)?;
    if let Some(flat) = paper_form(&positions)
        && is_uniform(flat.clone(), Aliases::Eliminate, &mut NoObserver).is_some()
    {
        return in_all_modes(flat);
    }
    // Sorted for all modes at once if that is possible, otherwise in the first possible mode.
    let found = match as_one(flat) {
        Ok(lowered) => lowered.into_sorted(),
        Err(refused) => {
            let mut keys = positions.candidates();
            let found = keys.find_map(|key| {
                let flat = positions.written_in(&key).0;
                Some((as_one(flat).ok()?.into_sorted()?, key))
            });
            match found {
                None => {
                    refused.report(diagnostics);
                    None
                }
                Some((sorted, key)) => {
                    positions.shown = Some(key);
                    Some(sorted)
                }
            }
        }
    };
    found.map(|(flat, sorted)| (flat, sorted, Some(Box::new(positions))))
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
                false => Positions::new(&flat).map(Box::new),
            };
            Some(Solution { solved, positions })
        }
        Err(refused) => {
            let by_mode = || {
                if refused.holds_in_all_modes() {
                    return None;
                }
                let mut positions = Positions::new(&flat)?;
                let mut keys = positions.candidates();
                let (solved, key) =
                    keys.find_map(|key| Some((solved_in(&positions, &key, aliases)?, key)))?;
                positions.shown = Some(key);
                Some(Solution {
                    solved,
                    positions: Some(Box::new(positions)),
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

/// Solves for a listing: in the form of the 1995 paper if each switch that changes the index does so independently of the
/// other switches.
pub fn presented(flat: Flat, aliases: Aliases, diagnostics: &mut Diagnostics) -> Option<Presented> {
    presented_with(flat, aliases, &mut NoObserver, diagnostics)
}

/// The same; `observer` is told of the stages.
pub fn presented_with(
    flat: Flat,
    aliases: Aliases,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Option<Presented> {
    let Solution { solved, positions } = solved_with(flat, aliases, observer, diagnostics)?;
    let Some(positions) = positions else {
        return Some(Presented::One(Box::new(solved)));
    };
    let in_form = paper_form(&positions).and_then(|flat| is_uniform(flat, aliases, observer));
    Some(match in_form {
        Some(solved) => Presented::Paper(positions, Box::new(solved)),
        None => Presented::ByPosition(positions, Box::new(solved)),
    })
}

/// The form of the 1995 paper, where a model has one.
pub fn paper_form(positions: &Positions) -> Option<Flat> {
    let (modes, all) = shapes(positions);
    all.then(|| form(positions, &modes)).flatten()
}

/// Solves the model if one set of formulas serves all modes.
fn is_uniform(flat: Flat, aliases: Aliases, observer: &mut dyn StageObserver) -> Option<Solved> {
    let request = Request::new(Goal::Solved, aliases);
    let solved = lower(flat, request, observer).ok()?.into_solved()?;
    uniform(&solved).then_some(solved)
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
    let mut ignored = Diagnostics::default();
    match presented(form.flat.clone(), aliases, &mut ignored) {
        None | Some(Presented::One(_)) => {}
        Some(Presented::Paper(positions, _)) => {
            if let Some(flat) = paper_form(&positions) {
                form.flat = flat;
                form.remark = Some("in the form of the 1995 paper".to_string());
            }
        }
        Some(Presented::ByPosition(positions, _)) => match &positions.shown {
            None => form.remark = Some("of all modes, where no divisor vanishes".to_string()),
            Some(key) => {
                form.flat = positions.written_in(key).0;
                form.request = request_for_mode(aliases);
                form.remark = Some(format!("of the mode {}", positions.position_name(key)));
            }
        },
    }
    form
}

/// The request for one mode as it was written.
fn request_for_mode(aliases: Aliases) -> Request {
    Request {
        // Start values need not agree in every mode.
        starts: Starts::Examined,
        suggestions: false,
        ..Request::new(Goal::Solved, aliases)
    }
}

/// Solves one mode as it was written, for listings and values at a point.
pub fn solved_in(positions: &Positions, key: &[bool], aliases: Aliases) -> Option<Solved> {
    let (flat, _) = positions.written_in(key);
    let lowered = lower(flat, request_for_mode(aliases), &mut NoObserver);
    lowered.ok()?.into_solved()
}

/// Compiles one mode for a run, with its relations taken out of the equations; the reason if the mode is impossible. With
/// `starts` the start values are examined too.
pub fn mode(positions: &Positions, key: &[bool], starts: bool) -> Result<CompiledMode, Refused> {
    mode_with(positions, key, starts, &mut NoObserver)
}

/// The same; `observer` is told of the stages.
pub fn mode_with(
    positions: &Positions,
    key: &[bool],
    starts: bool,
    observer: &mut dyn StageObserver,
) -> Result<CompiledMode, Refused> {
    let (flat, loose) = positions.in_mode(key);
    let request = Request {
        starts: match starts {
            true => Starts::Examined,
            false => Starts::Left,
        },
        jump: true,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let lowered = lower(flat, request, observer)?;
    let contradicts = lowered.contradicts();
    let Lowered { model, jump, .. } = lowered;
    let super::lower::Model::Solved(solved) = model else {
        unreachable!("it was lowered to be solved")
    };
    Ok(CompiledMode {
        key: key.into(),
        solved: *solved,
        jump,
        loose,
        contradicts,
    })
}

/// The diagnostics of an impossible mode, in terms of the equations as they were written.
pub fn why_impossible(positions: &Positions, key: &[bool]) -> Diagnostics {
    let (flat, _) = positions.written_in(key);
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let mut diagnostics = Diagnostics::default();
    if let Err(refused) = lower(flat, request, &mut NoObserver) {
        refused.report(&mut diagnostics);
    }
    diagnostics
}

/// The modes of a model with their shapes; true if these are all modes.
pub fn shapes(positions: &Positions) -> (Vec<Mode>, bool) {
    positions.modes(|flat| {
        let request = Request::new(Goal::Reduced, Aliases::Keep);
        lower(flat, request, &mut NoObserver)
            .ok()
            .map(Lowered::into_flat)
    })
}

/// The model if there is one, with all diagnostics reported.
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
