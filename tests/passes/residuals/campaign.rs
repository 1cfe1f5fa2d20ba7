//! Models tried by the thousand: solved with and without elimination, counted, evaluated at random points.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bgm::base::diagnostics::Code;
use bgm::compile::Aliases;
use bgm::flat::Flat;
use bgm::passes::blocks::Solved;

use super::derivatives::{Counts, counts};
use super::pencil::finite_eigenvalues;
use super::point::{Outcome, Solution, same_values, solve, try_point};
use super::rank;
use super::{Generator, flat};
use crate::support::generate::model::Model;
use crate::support::random::Random;
use crate::support::text::compile_text;

/// One model in this many is anything, whether it has a solution or not.
const WILD: u64 = 40;
/// Points tried on each model.
const POINTS: u64 = 2;

pub fn generated(generate: Generator, seed: u64) -> Model {
    generate(&mut Random::new(seed), seed % WILD == WILD - 1)
}

/// How many came out how.
#[derive(Debug, Default)]
pub struct Tally {
    pub models: usize,
    /// Not solvable, by code.
    pub refused: BTreeMap<&'static str, usize>,
    /// Models whose index was reduced.
    pub reduced: usize,
    /// Models whose states were counted in another way.
    pub counted: usize,
    pub points: usize,
    /// Derivatives of equations that vanish.
    pub derivatives: usize,
    /// No solution was found, and there is none.
    pub singular: usize,
    /// No solution was found.
    pub unexplained: Vec<String>,
    /// Constraints that were not found.
    pub hidden: usize,
    pub wrong: Vec<Wrong>,
}

/// What is wrong, and what kind of failure that is.
#[derive(Debug)]
pub struct Wrong {
    pub kind: Kind,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Solved in one way and not in the other.
    Refused,
    /// A constraint between states was not found: the model is refused, or has a state too many.
    Hidden,
    Counts,
    Values,
    Elimination,
}

impl Tally {
    fn is_wrong(&mut self, kind: Kind, why: String) {
        self.wrong.push(Wrong { kind, why });
    }

    /// Solves a model in both ways and evaluates it at some points.
    pub fn try_model(&mut self, make: &dyn Fn() -> Flat, seed: u64) {
        self.models += 1;
        let original = make();
        let eliminated = solve(make(), Aliases::Eliminate);
        let kept = solve(make(), Aliases::Keep);
        let (eliminated, kept) = match (eliminated, kept) {
            (Ok(eliminated), Ok(kept)) => (eliminated, kept),
            (Err(code), Err(other)) if code == other => {
                *self.refused.entry(code.text()).or_default() += 1;
                if code != Code::BooleanLoop && rank::is_regular(&original, seed) {
                    let why = format!("{} of a model that has a solution", code.text());
                    self.is_wrong(Kind::Hidden, why);
                }
                return;
            }
            // Found out by one and not by the other: right either way.
            (Err(code), Ok(solved)) | (Ok(solved), Err(code))
                if rank::is_singular(&original, &solved.flat, seed) =>
            {
                *self.refused.entry(code.text()).or_default() += 1;
                return;
            }
            (one, other) => {
                let code = |result: Result<Solved, Code>| result.err();
                let (one, other) = (code(one), code(other));
                let why = format!("with elimination {one:?}, without {other:?}");
                let kind = match (one, other) {
                    (Some(_), Some(_)) => Kind::Hidden,
                    _ => Kind::Refused,
                };
                return self.is_wrong(kind, why);
            }
        };
        match counts(&kept) {
            Ok(found) => {
                if let Err(wrong) = self.compare(&original, &found) {
                    return self.wrong.push(wrong);
                }
            }
            Err(why) => return self.is_wrong(Kind::Counts, why),
        }
        for seed in (0..POINTS).map(|point| POINTS * seed + point) {
            let one = self.try_point(&original, &eliminated, seed);
            // The long form at every other point: it costs most of the time.
            if seed % 2 == 1 {
                continue;
            }
            let other = self.try_point(&original, &kept, seed);
            if let (Some(one), Some(other)) = (one, other)
                // A rod may go up or down: both are right.
                && !one.selected
                && let Err(why) = same_values((&original, &one), (&original, &other))
                && !rank::is_singular(&original, &kept.flat, seed)
            {
                self.is_wrong(
                    Kind::Elimination,
                    format!("elimination changes values: {why}"),
                );
            }
        }
    }

    /// The number of states is that of the finite eigenvalues.
    fn compare(&mut self, original: &Flat, found: &Counts) -> Result<(), Wrong> {
        self.reduced += usize::from(found.added > 0);
        let Some(wanted) = finite_eigenvalues(original) else {
            return Ok(());
        };
        self.counted += 1;
        let states = found.states;
        let kind = match states.cmp(&wanted) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => Kind::Counts,
            Ordering::Greater => Kind::Hidden,
        };
        let why = format!("{states} states, and {wanted} finite eigenvalues");
        Err(Wrong { kind, why })
    }

    fn try_point(&mut self, original: &Flat, solved: &Solved, seed: u64) -> Option<Solution> {
        self.points += 1;
        match try_point(original, solved, seed) {
            Outcome::Holds(solution) => {
                self.derivatives += solution.derivatives;
                return Some(*solution);
            }
            Outcome::Skipped(why) => {
                let none = rank::is_singular(original, &solved.flat, seed)
                    || rank::has_no_solution(original, &solved.flat, seed);
                match none {
                    true => self.singular += 1,
                    false => self.unexplained.push(why),
                }
            }
            Outcome::Wrong(why) => self.is_wrong(Kind::Values, why),
        }
        None
    }
}

/// Generates, solves, evaluates; a failure is shown as small as it can be made.
/// Of a thousand models so many as `hidden` may have a constraint that is not found.
pub fn campaign(name: &str, generate: Generator, count: u64, hidden: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..count {
        let model = generated(generate, seed);
        let text = model.text();
        tally.try_model(&|| flat(&text), seed);
        if let [only] = &tally.wrong[..]
            && only.kind == Kind::Hidden
            && tally.hidden < (count * hidden).div_ceil(1000) as usize
        {
            tally.hidden += 1;
            tally.wrong.clear();
        }
        if let [first, ..] = &tally.wrong[..] {
            let small = model.shrunk(|model| fails(model, seed, first.kind));
            let (why, small) = (&first.why, small.text());
            panic!("{name} {seed}: {why}\n{text}\nmade smaller:\n{small}");
        }
    }
    let refused: usize = tally.refused.values().sum();
    let skipped = tally.singular + tally.unexplained.len();
    println!(
        "{name}: {} models, {refused} refused {:?}, {} hidden, {} reduced, {} counted; {} points, \
         {skipped} skipped ({} of them singular), {} derivatives",
        tally.models,
        tally.refused,
        tally.hidden,
        tally.reduced,
        tally.counted,
        tally.points,
        tally.singular,
        tally.derivatives
    );
    assert!(refused * 10 < tally.models * 3, "{name}: refused {refused}");
    let why = &tally.unexplained;
    assert!(
        skipped * 100 < tally.points,
        "{name}: skipped {skipped} {why:?}"
    );
    tally
}

/// The same kind of failure, and not of a model that has no solution.
fn fails(model: &Model, seed: u64, kind: Kind) -> bool {
    let text = model.text();
    if compile_text(&text).flat.is_none() {
        return false;
    }
    let mut tally = Tally::default();
    tally.try_model(&|| flat(&text), seed);
    let has_some = match kind {
        Kind::Refused | Kind::Hidden | Kind::Counts => rank::is_regular(&flat(&text), seed),
        Kind::Values | Kind::Elimination => !has_none(&|| flat(&text), POINTS * seed),
    };
    has_some && tally.wrong.iter().any(|other| other.kind == kind)
}

/// Whether a model has no unique solution at a point, as far as it can be solved.
pub fn has_none(make: &dyn Fn() -> Flat, seed: u64) -> bool {
    match solve(make(), Aliases::Keep) {
        Ok(solved) => rank::is_singular(&make(), &solved.flat, seed),
        Err(_) => !rank::is_regular(&make(), seed),
    }
}
