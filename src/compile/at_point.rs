//! Values of a model at a point, and the mode of its switches there.
//!
//! Before: a solved model, perhaps with its [`Positions`], and the values given. After: all values, from formulas of a mode
//! that is consistent with them: the conditions of the switches, computed from the values, are the truths of the mode. One set
//! of formulas for all modes is used if no divisor vanishes at the point. Otherwise modes are solved one by one; if the
//! values of one mode give another mode, that mode is tried next.

use rustc_hash::FxHashSet;

use super::stages::StageObserver;
use super::{Modes, Solution};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::evaluate::settings::{Mistake, Setting};
use crate::evaluate::{Failure, Point, evaluate, evaluate_settled, settings, truth};
use crate::expr::{Node, Value};
use crate::flat::{Kind, Leaf};
use crate::passes::blocks::Solved;
use crate::positions::{Key, Positions, differentiated};

/// Values at a point, the mode, and the solved model of the mode if it was solved for this.
#[derive(Debug)]
pub struct PointValues {
    pub point: Point,
    pub settings: Vec<Setting>,
    pub mode: Option<(Key, Option<Box<Solved>>)>,
}

/// Why there are no values.
#[derive(Debug)]
pub enum PointError {
    /// The values given cannot be read, or contradict each other: the request is wrong, not the model.
    Request(String),
    Diagnostic(Box<Diagnostic>),
}

/// The same, before it is put into words.
enum Cause {
    /// The values given cannot be read, in this mode if there is one.
    Mistakes(Vec<Mistake>, Option<Key>),
    Failure(Box<Failure>),
    /// No mode is consistent with the values.
    Nowhere(Box<Diagnostic>),
}

/// Up to so many switches, all modes are tried.
const FEW: usize = 6;

/// The values at a point that a text describes.
pub fn evaluate_at(
    solution: &mut Solution,
    text: &str,
    observer: &mut dyn StageObserver,
) -> Result<PointValues, PointError> {
    let placed = find(solution, text, observer).map_err(|cause| worded(solution, cause))?;
    let other = placed.mode.as_ref().and_then(|(_, by)| by.as_deref());
    let by = other.unwrap_or(&solution.solved);
    match settings::disagreeing(by, &placed.settings, &placed.point).first() {
        None => Ok(placed),
        Some(&(leaf, found)) => {
            let name = by.flat.leaf_name(leaf);
            Err(PointError::Request(format!(
                "the values given do not agree: with the others, `{name}` is {found}\n  leave it out, or give one that agrees"
            )))
        }
    }
}

fn worded(solution: &Solution, cause: Cause) -> PointError {
    let (mistakes, key) = match cause {
        Cause::Failure(failure) => return PointError::Diagnostic(Box::new(failure.diagnostic())),
        Cause::Nowhere(diagnostic) => return PointError::Diagnostic(diagnostic),
        Cause::Mistakes(mistakes, key) => (mistakes, key),
    };
    let mut texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    if let (Some(key), Some(positions), Some(last)) = (key, &solution.positions, texts.last_mut()) {
        let name = positions.position_name(&key);
        last.push_str(&format!(
            "\n  so it is in the mode of the switches that the other values give: {name}"
        ));
    }
    PointError::Request(texts.join("\nerror: "))
}

fn find(
    solution: &mut Solution,
    text: &str,
    observer: &mut dyn StageObserver,
) -> Result<PointValues, Cause> {
    let model = &solution.solved;
    let Some(positions) = &mut solution.positions else {
        let settings = settings::read(model, text).map_err(|all| Cause::Mistakes(all, None))?;
        let mut point = settings::point(model, &settings);
        let failed = |failure| Cause::Failure(Box::new(failure));
        if !evaluate_settled(model, &mut point).map_err(failed)? {
            // Nothing settles them: they have the values of their start, and their next ones are shown.
            point = settings::point(model, &settings);
            evaluate(model, &mut point).map_err(failed)?;
        }
        return Ok(PointValues {
            point,
            settings,
            mode: None,
        });
    };
    // For all positions at once: in which the values are shows afterwards.
    let mut mistakes = None;
    if positions.shown.is_none() {
        match settings::read(model, text) {
            Err(found) => mistakes = Some(found),
            Ok(settings) => {
                let mut point = settings::point(model, &settings);
                if evaluate_settled(model, &mut point).is_ok_and(|settled| settled)
                    && let Some(key) = mode_at(positions, &point)
                {
                    return Ok(PointValues {
                        point,
                        settings,
                        mode: Some((key, None)),
                    });
                }
            }
        }
    }
    let mut search = Search {
        positions,
        text,
        impossible: FxHashSet::default(),
        observer,
    };
    search.run(mistakes)
}

/// The mode that the values of a point give.
pub fn mode_at(positions: &Positions, point: &Point) -> Option<Key> {
    (positions.written_switches.iter())
        .map(|switch| truth(&positions.written, point, switch.condition))
        .collect()
}

struct Search<'p> {
    positions: &'p mut Modes,
    text: &'p str,
    /// Of the positions that were tried.
    impossible: FxHashSet<Key>,
    observer: &'p mut dyn StageObserver,
}

/// The result of one mode.
enum ModeResult {
    Right(Box<PointValues>),
    /// The values give another mode.
    Other(Key),
    Mistakes(Vec<Mistake>),
    Nothing,
}

impl Search<'_> {
    /// `mistakes` are those of the text for all positions at once.
    fn run(&mut self, mistakes: Option<Vec<Mistake>>) -> Result<PointValues, Cause> {
        let mut first = mistakes;
        let mut of_modes: Vec<(Key, Vec<Mistake>)> = Vec::new();
        let mut asked: Option<Key> = None;
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        for start in self.keys() {
            let mut next = Some(start);
            while let Some(key) = next.take().filter(|key| seen.insert(key.clone())) {
                match self.try_one(&key) {
                    ModeResult::Right(placed) => return Ok(*placed),
                    ModeResult::Other(other) => {
                        asked.get_or_insert_with(|| other.clone());
                        next = Some(other);
                    }
                    ModeResult::Mistakes(all) => {
                        first.get_or_insert_with(|| all.clone());
                        of_modes.push((key, all));
                    }
                    ModeResult::Nothing => {}
                }
            }
        }
        let of_asked = of_modes
            .into_iter()
            .find(|(key, _)| Some(key) == asked.as_ref());
        Err(match (of_asked, asked, first) {
            (Some((key, all)), ..) => Cause::Mistakes(all, Some(key)),
            (_, None, Some(all)) => Cause::Mistakes(all, None),
            (_, asked, _) => Cause::Nowhere(Box::new(self.nowhere(asked))),
        })
    }

    /// The modes to begin with: all of them if they are few.
    fn keys(&self) -> Vec<Key> {
        let count = self.positions.switches.len();
        let mut keys: Vec<Key> = self.positions.candidates().collect();
        if count <= FEW {
            let all = 0..1u32 << count;
            keys.extend(all.map(|number| (0..count).map(|at| number >> at & 1 == 1).collect()));
        }
        keys
    }

    fn try_one(&mut self, key: &Key) -> ModeResult {
        let Some(solved) = self.positions.take_solved(key, self.observer) else {
            self.impossible.insert(key.clone());
            return ModeResult::Nothing;
        };
        let (settings, mistakes) = match settings::read(&solved, self.text) {
            Ok(settings) => (settings, None),
            Err(mistakes) => {
                let states = differentiated(&self.positions.written).collect();
                match settings::read_in_mode(&solved, self.text, states) {
                    Ok(settings) => (settings, Some(mistakes)),
                    Err(_) => return ModeResult::Mistakes(mistakes),
                }
            }
        };
        let mut point = settings::point(&solved, &settings);
        self.stand_for(key, &mut point);
        match evaluate_settled(&solved, &mut point) {
            Ok(true) => {}
            _ => return ModeResult::Nothing,
        }
        if let Some(mistakes) = mistakes
            && !settings::agree(&settings, &point)
        {
            return ModeResult::Mistakes(mistakes);
        }
        match mode_at(self.positions, &point) {
            None => ModeResult::Nothing,
            Some(found) if found == *key => ModeResult::Right(Box::new(PointValues {
                point,
                settings,
                mode: Some((found, Some(solved))),
            })),
            Some(other) => ModeResult::Other(other),
        }
    }

    /// Conditions that are discrete variables, as those of diodes, have the truths of a mode, unless they are given. Whether
    /// they keep them shows when they are settled.
    fn stand_for(&self, key: &Key, point: &mut Point) {
        let positions = &*self.positions;
        for (switch, &truth) in positions.written_switches.iter().zip(key) {
            if let Node::Leaf(leaf @ Leaf::Var(id)) = positions.written.exprs.node(switch.condition)
                && positions.written.variable(id).kind == Kind::Discrete
                && !point.is_given(leaf)
            {
                point.guess(leaf, Value::Bool(truth));
            }
        }
    }

    fn nowhere(&self, wanted: Option<Key>) -> Diagnostic {
        let positions = &*self.positions;
        let mut diagnostic = Diagnostic::new(
            Code::ImpossiblePosition,
            "these values fit no mode of the switches",
        )
        .at(positions.written.instances[0].span, "in this model");
        if let Some(key) = wanted {
            let name = positions.position_name(&key);
            let why = match self.impossible.contains(&key) {
                true => "which is impossible",
                false => "where they have no solution or ask for another one",
            };
            diagnostic = diagnostic.note(format!("they give the mode {name}, {why}"));
        }
        diagnostic.hint("give other values of the quantities that decide it: Time, discrete variables, states; `bgm solve --modes` lists the modes")
    }
}
