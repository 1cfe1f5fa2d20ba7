//! What is asked of models with ideal switches: one set of formulas for all modes where that is possible, else a
//! request to the pipeline for each mode.

use super::lower::{Aliases, Goal, Lowered, Reduced, Request, Starts, lower, lower_on, reduce};
use super::modes::{Modes, Table, in_one_mode};
use super::refused::Refused;
use super::watch::{Unwatched, Watch};
use crate::base::diagnostics::Diagnostics;
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::positions::{Positions, switches, uniform};

/// A solved model. One that no single set of formulas serves in all modes comes with its [`Modes`]: what is solved
/// then holds where no divisor vanishes.
#[derive(Debug)]
pub struct Solution {
    pub solved: Solved,
    pub positions: Option<Box<Modes>>,
}

/// What can be said of a model by formulas.
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

/// What `bgm solve` lists.
#[derive(Debug)]
pub enum Listed {
    One(Box<Solved>),
    Paper(Box<Solved>, Box<Table>),
    ByPosition(Box<Solved>, Box<Table>),
}

/// Reduces the index of a model as it was written; `None` after an error.
pub fn reduced(flat: Flat, said: &mut Diagnostics) -> Option<Flat> {
    match reduce(flat, &mut Unwatched) {
        Ok(Reduced { flat, notes, .. }) => {
            notes.tell(&flat, said);
            Some(flat)
        }
        Err(refused) => {
            refused.tell(said);
            None
        }
    }
}

/// Sorts the equations of a flat model, with aliases eliminated if asked for; `None` after an error. Switches that change the
/// index are in the form in which they are solved.
pub fn sorted(flat: Flat, aliases: Aliases, said: &mut Diagnostics) -> Option<(Flat, Sorted)> {
    let done = sorted_somewhere(flat, aliases, &mut Unwatched, said);
    done.map(|(flat, sorted, _)| (flat, sorted))
}

/// The same with the modes of switches, where no single order serves all of them: [`Positions::shown`] is the one that it
/// is of.
pub fn sorted_somewhere(
    flat: Flat,
    aliases: Aliases,
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Option<(Flat, Sorted, Option<Box<Positions>>)> {
    let request = Request::new(Goal::Sorted, aliases);
    let mut of_all = |result| {
        let (flat, sorted) = told(result, said)?.into_sorted()?;
        Some((flat, sorted, None))
    };
    if switches(&flat).is_empty() {
        return of_all(lower(flat, request, watch));
    }
    let reduced = reduce(flat.clone(), watch);
    let solves = (reduced.as_ref()).is_ok_and(|known| is_uniform(known.clone(), &flat, watch));
    let as_one = reduced.and_then(|reduced| lower_on(reduced, &flat, request, watch));
    if solves {
        return of_all(as_one);
    }
    let mut modes = Modes::new(&flat, aliases)?;
    if let Some(form) = modes.paper_form(watch)
        && let Ok(reduced) = reduce(form.clone(), watch)
        && is_uniform(reduced.clone(), &form, watch)
    {
        return of_all(lower_on(reduced, &form, request, watch));
    }
    // In all modes at once if that can be, else in the first that is possible.
    let found = match as_one {
        Ok(lowered) => lowered.into_sorted(),
        Err(refused) => {
            let mut keys = modes.candidates();
            let found = keys.find_map(|key| Some((modes.sorted_in(&key, watch)?, key)));
            match found {
                None => {
                    refused.tell(said);
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
                let (solved, key) = modes.first_solved(watch)?;
                let solved = solved.clone();
                modes.positions.shown = Some(key);
                Some(Solution {
                    solved,
                    positions: Some(Box::new(modes)),
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

/// Solves: in the form of the 1995 paper where a switch changes the index by its own position alone.
pub fn presented(
    flat: Flat,
    aliases: Aliases,
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Option<Presented> {
    let Solution { solved, positions } = solved_with(flat, aliases, watch, said)?;
    let Some(mut modes) = positions else {
        return Some(Presented::One(Box::new(solved)));
    };
    if let Some(form) = modes.paper_form(watch)
        && let Ok(lowered) = lower(form.clone(), Request::new(Goal::Solved, aliases), watch)
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
    watch: &mut dyn Watch,
    said: &mut Diagnostics,
) -> Option<Listed> {
    Some(match presented(flat, aliases, watch, said)? {
        Presented::One(solved) => Listed::One(solved),
        Presented::Paper(paper) => {
            let table = paper.modes.table(false, watch);
            Listed::Paper(Box::new(paper.solved), Box::new(table))
        }
        Presented::ByPosition(modes, solved) => {
            Listed::ByPosition(solved, Box::new(modes.table(true, watch)))
        }
    })
}

/// Whether one set of formulas serves all modes of a model.
fn is_uniform(reduced: Reduced, written: &Flat, watch: &mut dyn Watch) -> bool {
    let request = Request::new(Goal::Solved, Aliases::Eliminate);
    let lowered = lower_on(reduced, written, request, watch);
    let solved = lowered.ok().and_then(Lowered::into_solved);
    solved.is_some_and(|solved| uniform(&solved))
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
    match presented(form.flat.clone(), aliases, &mut Unwatched, &mut unsaid) {
        None | Some(Presented::One(_)) => {}
        Some(Presented::Paper(paper)) => {
            form.flat = paper.form;
            form.said = Some("in the form of the 1995 paper".to_string());
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
        said: Some(format!("of the mode {}", names[at])),
    })
}

/// What is wrong with a mode, as it was written.
pub fn why_not(positions: &Positions, key: &[bool], watch: &mut dyn Watch) -> Diagnostics {
    let (flat, _) = positions.written_in(key);
    let request = Request {
        starts: Starts::Left,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let mut said = Diagnostics::default();
    if let Err(refused) = lower(flat, request, watch) {
        refused.tell(&mut said);
    }
    said
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
