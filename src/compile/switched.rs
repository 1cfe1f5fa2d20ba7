//! What is asked of models with ideal switches: one set of formulas for all modes where that is possible, else a
//! request to the pipeline for each mode.

use super::lower::{Aliases, Goal, Lowered, Request, Starts, lower};
use super::refused::Refused;
use super::watch::{Unwatched, Watch};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::positions::{Jump, Key, Loose, Mode, Positions, form, switches, uniform};

/// A solved model. One that no single set of formulas serves in all modes comes with its [`Positions`]: what is solved
/// then holds where no divisor vanishes.
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
    /// What may jump when it begins.
    pub jump: Option<Jump>,
    /// What was open and has the least norm.
    pub loose: Vec<Loose>,
    /// Start values contradict each other in it.
    pub contradicts: bool,
}

/// What `bgm solve` lists.
#[derive(Debug)]
pub enum Presented {
    /// One set of formulas.
    One(Box<Solved>),
    /// One set of formulas in the form of the 1995 paper, but for what jumps.
    Paper(Box<Positions>, Box<Solved>),
    /// In each mode another one; and one that holds where no divisor vanishes.
    ByPosition(Box<Positions>, Box<Solved>),
}

/// Reduces the index of a model as it was written; `None` after an error.
pub fn reduced(flat: Flat, said: &mut Diagnostics) -> Option<Flat> {
    let request = Request::new(Goal::Reduced, Aliases::Keep);
    told(lower(flat, request, &mut Unwatched), said).map(Lowered::into_flat)
}

/// Sorts the equations of a flat model, with aliases eliminated if asked for; `None` after an error. Switches that change the
/// index are in the form in which they are solved.
pub fn sorted(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<(Flat, Sorted)> {
    let done = sorted_somewhere(flat, aliases, said);
    done.map(|(flat, sorted, _)| (flat, sorted))
}

/// The same with the modes of switches, where no single order serves all of them: [`Positions::shown`] is the one that it
/// is of.
pub fn sorted_somewhere(
    flat: Flat,
    aliases: Aliases,
    said: &mut Diagnostics,
) -> Option<(Flat, Sorted, Option<Box<Positions>>)> {
    let request = Request::new(Goal::Sorted, aliases);
    let as_one = |flat: Flat| lower(flat, request, &mut Unwatched);
    let mut of_all = |flat: Flat| {
        let (flat, sorted) = told(as_one(flat), said)?.into_sorted()?;
        Some((flat, sorted, None))
    };
    if switches(&flat).is_empty()
        || is_uniform(flat.clone(), Aliases::Eliminate, &mut Unwatched).is_some()
    {
        return of_all(flat);
    }
    let mut positions = Positions::new(&flat)?;
    if let Some(flat) = paper_form(&positions)
        && is_uniform(flat.clone(), Aliases::Eliminate, &mut Unwatched).is_some()
    {
        return of_all(flat);
    }
    // In all modes at once if that can be, else in the first that is possible.
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
                    refused.tell(said);
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

/// Sorts and solves; `None` after an error.
pub fn solved(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Solution> {
    solved_with(flat, aliases, &mut Unwatched, said)
}

/// The same with somebody who looks on.
pub fn solved_with(
    flat: Flat,
    aliases: Aliases,
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Option<Solution> {
    let request = Request::new(Goal::Solved, aliases);
    if switches(&flat).is_empty() {
        let solved = told(lower(flat, request, watch), said)?.into_solved()?;
        return Some(Solution {
            solved,
            positions: None,
        });
    }
    match lower(flat.clone(), request, watch) {
        Ok(lowered) => {
            lowered.tell(said);
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
                refused.tell(said);
            }
            found
        }
    }
}

/// Whether a run solves the model anew in each mode of its switches.
pub fn uses_modes(flat: &Flat) -> bool {
    let mut unsaid = Diagnostics::default();
    let solution = solved(flat.clone(), Aliases::Eliminate, &mut unsaid);
    solution.is_some_and(|solution| solution.positions.is_some())
}

/// Solves for a listing: in the form of the 1995 paper where a switch changes the index by its own position alone.
pub fn presented(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<Presented> {
    presented_with(flat, aliases, &mut Unwatched, said)
}

/// The same with somebody who looks on.
pub fn presented_with(
    flat: Flat,
    aliases: Aliases,
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Option<Presented> {
    let Solution { solved, positions } = solved_with(flat, aliases, watch, said)?;
    let Some(positions) = positions else {
        return Some(Presented::One(Box::new(solved)));
    };
    let in_form = paper_form(&positions).and_then(|flat| is_uniform(flat, aliases, watch));
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

/// The model solved, if one set of formulas serves all modes.
fn is_uniform(flat: Flat, aliases: Aliases, watch: &mut dyn Watch) -> Option<Solved> {
    let request = Request::new(Goal::Solved, aliases);
    let solved = lower(flat, request, watch).ok()?.into_solved()?;
    uniform(&solved).then_some(solved)
}

/// What `bgm solve` lists the formulas of, and what is asked of the pipeline for them.
#[derive(Debug)]
pub struct Form {
    pub flat: Flat,
    pub request: Request,
    /// Where it is not the model as it was written.
    pub said: Option<String>,
}

/// The model in the form in which it is shown: where switches change the index in that of the 1995 paper, or in one mode if
/// it has none for all of them. One that cannot be solved is as it was written.
pub fn shown(flat: Flat, aliases: Aliases) -> Form {
    let mut form = Form {
        request: Request::new(Goal::Solved, aliases),
        said: None,
        flat,
    };
    let mut unsaid = Diagnostics::default();
    match presented(form.flat.clone(), aliases, &mut unsaid) {
        None | Some(Presented::One(_)) => {}
        Some(Presented::Paper(positions, _)) => {
            if let Some(flat) = paper_form(&positions) {
                form.flat = flat;
                form.said = Some("in the form of the 1995 paper".to_string());
            }
        }
        Some(Presented::ByPosition(positions, _)) => match &positions.shown {
            None => form.said = Some("of all modes, where no divisor vanishes".to_string()),
            Some(key) => {
                form.flat = positions.written_in(key).0;
                form.request = in_one_mode(aliases);
                form.said = Some(format!("of the mode {}", positions.position_name(key)));
            }
        },
    }
    form
}

/// What is asked for one mode as it was written.
fn in_one_mode(aliases: Aliases) -> Request {
    Request {
        // Start values need not suit all modes.
        starts: Starts::Examined,
        suggestions: false,
        ..Request::new(Goal::Solved, aliases)
    }
}

/// One mode of a model, as it was written.
pub fn solved_in(positions: &Positions, key: &[bool], aliases: Aliases) -> Option<Solved> {
    let (flat, _) = positions.written_in(key);
    let lowered = lower(flat, in_one_mode(aliases), &mut Unwatched);
    lowered.ok()?.into_solved()
}

/// One mode for runs, with its relations taken out; why not if it is impossible. `starts` looks at start values, too.
pub fn mode(positions: &Positions, key: &[bool], starts: bool) -> Result<CompiledMode, Refused> {
    mode_with(positions, key, starts, &mut Unwatched)
}

/// The same with somebody who looks on.
pub fn mode_with(
    positions: &Positions,
    key: &[bool],
    starts: bool,
    watch: &mut dyn Watch,
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
    let lowered = lower(flat, request, watch)?;
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

/// What is wrong with a mode, as it was written.
pub fn why_not(positions: &Positions, key: &[bool]) -> Diagnostics {
    let (flat, _) = positions.written_in(key);
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let mut said = Diagnostics::default();
    if let Err(refused) = lower(flat, request, &mut Unwatched) {
        refused.tell(&mut said);
    }
    said
}

/// The modes of a model with their shapes, and whether these are all.
pub fn shapes(positions: &Positions) -> (Vec<Mode>, bool) {
    positions.modes(|flat| {
        let request = Request::new(Goal::Reduced, Aliases::Keep);
        lower(flat, request, &mut Unwatched)
            .ok()
            .map(Lowered::into_flat)
    })
}

/// What came of a request, with all that is to be said.
fn told(result: Result<Lowered, Refused>, said: &mut Diagnostics) -> Option<Lowered> {
    match result {
        Ok(lowered) => {
            lowered.tell(said);
            Some(lowered)
        }
        Err(refused) => {
            refused.tell(said);
            None
        }
    }
}
