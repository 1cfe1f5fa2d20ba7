//! Values at a point of a model with positions, and the position that they are in.
//!
//! Before: a solved model with its [`Positions`], and what is given. After: all values there, from formulas that hold in the
//! position that these values ask for: the conditions of the switches, computed from the values, are the truths that were put in. One set
//! of formulas for all positions is used where no divisor vanishes; else positions are solved by themselves, first those that the
//! values of others ask for.

use rustc_hash::FxHashSet;

use super::watch::Watch;
use super::{Modes, Solution};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::at::{Mistake, Setting};
use crate::evaluate::{Failure, Point, at, evaluate, truth};
use crate::passes::blocks::Solved;
use crate::positions::{Key, Positions};

/// Values, with the model that they were computed by if it is not the one that was given.
#[derive(Debug)]
pub struct Placed {
    pub point: Point,
    pub settings: Vec<Setting>,
    pub position: Option<(Key, Option<Box<Solved>>)>,
}

/// Why there are none.
#[derive(Debug)]
pub enum Misplaced {
    /// What is given cannot be read, or does not agree: what is asked for is wrong, not the model.
    Request(String),
    Told(Box<Diagnostic>),
}

/// The same before it is worded.
enum Cause {
    /// What is given cannot be read, perhaps in this position.
    Mistakes(Vec<Mistake>, Option<Key>),
    Failure(Box<Failure>),
    /// The values ask for positions that have no solution.
    Nowhere(Box<Diagnostic>),
}

/// Of so many switches all positions are tried.
const FEW: usize = 6;

/// The values at a point that a text describes.
pub fn place(
    solution: &mut Solution,
    text: &str,
    watch: &mut dyn Watch,
) -> Result<Placed, Misplaced> {
    let placed = find(solution, text, watch).map_err(|cause| worded(solution, cause))?;
    let other = placed.position.as_ref().and_then(|(_, by)| by.as_deref());
    let by = other.unwrap_or(&solution.solved);
    match at::disagreeing(by, &placed.settings, &placed.point).first() {
        None => Ok(placed),
        Some(&(leaf, found)) => {
            let name = by.flat.leaf_name(leaf);
            Err(Misplaced::Request(format!(
                "the values given do not agree: with the others, `{name}` is {found}\n  leave it out, or give one that agrees"
            )))
        }
    }
}

fn worded(solution: &Solution, cause: Cause) -> Misplaced {
    let (mistakes, key) = match cause {
        Cause::Failure(failure) => return Misplaced::Told(Box::new(failure.diagnostic())),
        Cause::Nowhere(diagnostic) => return Misplaced::Told(diagnostic),
        Cause::Mistakes(mistakes, key) => (mistakes, key),
    };
    let mut texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    if let (Some(key), Some(positions), Some(last)) = (key, &solution.positions, texts.last_mut()) {
        let name = positions.position_name(&key);
        last.push_str(&format!(
            "\n  so it is in the position of the switches that the others ask for: {name}"
        ));
    }
    Misplaced::Request(texts.join("\nerror: "))
}

fn find(solution: &mut Solution, text: &str, watch: &mut dyn Watch) -> Result<Placed, Cause> {
    let model = &solution.solved;
    let Some(positions) = &mut solution.positions else {
        let settings = at::read(model, text).map_err(|all| Cause::Mistakes(all, None))?;
        let mut point = at::point(model, &settings);
        evaluate(model, &mut point).map_err(|failure| Cause::Failure(Box::new(failure)))?;
        return Ok(Placed {
            point,
            settings,
            position: None,
        });
    };
    // For all positions at once: in which the values are shows afterwards.
    let mut mistakes = None;
    if positions.shown.is_none() {
        match at::read(model, text) {
            Err(found) => mistakes = Some(found),
            Ok(settings) => {
                let mut point = at::point(model, &settings);
                if evaluate(model, &mut point).is_ok()
                    && let Some(key) = asked_for(positions, &point)
                {
                    return Ok(Placed {
                        point,
                        settings,
                        position: Some((key, None)),
                    });
                }
            }
        }
    }
    let mut search = Search {
        positions,
        text,
        impossible: FxHashSet::default(),
        watch,
    };
    search.run(mistakes)
}

/// The mode that the values of a point ask for.
pub fn asked_for(positions: &Positions, point: &Point) -> Option<Key> {
    (positions.written_switches.iter())
        .map(|switch| truth(&positions.written, point, switch.condition))
        .collect()
}

struct Search<'p> {
    positions: &'p mut Modes,
    text: &'p str,
    /// Of the positions that were tried.
    impossible: FxHashSet<Key>,
    watch: &'p mut dyn Watch,
}

/// What came of one position.
enum Tried {
    Right(Box<Placed>),
    /// The values ask for another one.
    Other(Key),
    Mistakes(Vec<Mistake>),
    Nothing,
}

impl Search<'_> {
    /// `mistakes` are those of the text for all positions at once.
    fn run(&mut self, mistakes: Option<Vec<Mistake>>) -> Result<Placed, Cause> {
        let mut first = mistakes;
        let mut of_asked: Option<(Vec<Mistake>, Key)> = None;
        let mut asked: Option<Key> = None;
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        for start in self.keys() {
            let mut next = Some((start, false));
            while let Some((key, is_asked)) =
                next.take().filter(|(key, _)| seen.insert(key.clone()))
            {
                match self.try_one(&key) {
                    Tried::Right(placed) => return Ok(*placed),
                    Tried::Other(other) => {
                        asked.get_or_insert_with(|| other.clone());
                        next = Some((other, true));
                    }
                    Tried::Mistakes(all) if is_asked => {
                        of_asked.get_or_insert((all, key));
                    }
                    Tried::Mistakes(all) => {
                        first.get_or_insert(all);
                    }
                    Tried::Nothing => {}
                }
            }
        }
        Err(match (of_asked, asked, first) {
            (Some((all, key)), ..) => Cause::Mistakes(all, Some(key)),
            (_, None, Some(all)) => Cause::Mistakes(all, None),
            (_, asked, _) => Cause::Nowhere(Box::new(self.nowhere(asked))),
        })
    }

    /// Positions to begin with: all of them if they are few.
    fn keys(&self) -> Vec<Key> {
        let count = self.positions.switches.len();
        let mut keys: Vec<Key> = self.positions.candidates().collect();
        if count <= FEW {
            let all = 0..1u32 << count;
            keys.extend(all.map(|number| (0..count).map(|at| number >> at & 1 == 1).collect()));
        }
        keys
    }

    fn try_one(&mut self, key: &Key) -> Tried {
        let Some(solved) = self.positions.take_solved(key, self.watch) else {
            self.impossible.insert(key.clone());
            return Tried::Nothing;
        };
        let settings = match at::read(&solved, self.text) {
            Ok(settings) => settings,
            Err(mistakes) => return Tried::Mistakes(mistakes),
        };
        let mut point = at::point(&solved, &settings);
        if evaluate(&solved, &mut point).is_err() {
            return Tried::Nothing;
        }
        match asked_for(self.positions, &point) {
            None => Tried::Nothing,
            Some(found) if found == *key => Tried::Right(Box::new(Placed {
                point,
                settings,
                position: Some((found, Some(solved))),
            })),
            Some(other) => Tried::Other(other),
        }
    }

    fn nowhere(&self, wanted: Option<Key>) -> Diagnostic {
        let positions = &*self.positions;
        let mut diagnostic = Diagnostic::new(
            Code::ImpossiblePosition,
            "these values are in no position of the switches",
        )
        .at(positions.written.instances[0].span, "in this model");
        if let Some(key) = wanted {
            let name = positions.position_name(&key);
            let why = match self.impossible.contains(&key) {
                true => "which is impossible",
                false => "where they have no solution or ask for another one",
            };
            diagnostic = diagnostic.note(format!("they ask for {name}, {why}"));
        }
        diagnostic.hint("give other values of what decides: Time, discrete variables, states; `bgm solve --modes` lists the positions")
    }
}
