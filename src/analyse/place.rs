//! The point about which a model is linearised: at values that are given, or where a run stands.
//!
//! Before: a flat model whose inputs have values. After: the values of all variables there, the mode of the switches, and which
//! candidates of selections are states. A run goes to the start, to a time, or to the steady state, exactly as `bgm simulate`
//! does.

use rustc_hash::{FxHashMap, FxHashSet};

use super::job::{Place, Refusal};
use crate::base::clock::Clock;
use crate::base::diagnostics::Diagnostics;
use crate::compile::at_point::{PointError, evaluate_at};
use crate::compile::{Aliases, StageObserver, solved_with};
use crate::evaluate::{Point, evaluate};
use crate::experiment::Experiment;
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, Leaf};
use crate::passes::blocks::{Block, Solved};
use crate::positions::Key;
use crate::simulate::job::{RunOptions, job_with};
use crate::simulate::mode_instance::ModeInstance;
use crate::simulate::point::point as point_of_machine;
use crate::simulate::run::{End, Observer, RowKind, run_with};

/// All values at a point.
#[derive(Clone, Debug)]
pub struct Values {
    pub time: f64,
    pub known: FxHashMap<Leaf, Value>,
    /// Candidates of selections that are states there.
    pub chosen: FxHashSet<Leaf>,
    /// The mode, where the model has one set of equations for each.
    pub key: Option<Key>,
}

impl Values {
    fn new(solved: &Solved, point: &Point, key: Option<Key>) -> Values {
        let flat = &solved.flat;
        let replaced: FxHashMap<Leaf, ExprId> = flat.replacements();
        let mut known = FxHashMap::default();
        for id in flat.variable_ids() {
            for order in 0..=point.order(id) {
                let leaf = Leaf::at_order(id, order);
                let value = match replaced.get(&leaf) {
                    Some(&by) => {
                        (point.number(&flat.exprs, by).map(Value::Real)).or_else(|| point.get(leaf))
                    }
                    None => point.get(leaf),
                };
                known.extend(value.map(|value| (leaf, value)));
            }
        }
        let mut chosen = FxHashSet::default();
        for block in &solved.blocks {
            if let Block::Selected(selected) = block {
                chosen.extend(point.chosen(flat, selected));
            }
        }
        Values {
            time: point.time,
            known,
            chosen,
            key,
        }
    }
}

/// The points that are asked for: one, or with `modes` one for each mode that the run visited, the last there.
pub fn places(
    flat: Flat,
    experiment: &Experiment,
    (place, modes, clock): (&Place, bool, Clock),
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Values>, Refusal> {
    if let Place::At(text) = place {
        return at_values(flat, text, observer, diagnostics).map(|values| vec![values]);
    }
    let mut experiment = experiment.clone();
    let until = match place {
        Place::Time(time) => Some(*time),
        _ if modes => experiment.until,
        _ => Some(experiment.start),
    };
    if let Some(until) = until {
        if until < experiment.start {
            let start = experiment.start;
            return Err(Refusal::Request(format!(
                "`--at-time {until}` is before the start of the run, Time = {start}"
            )));
        }
        experiment.until = Some(until);
        experiment.step = None;
        experiment.points = Some(2);
    }
    experiment.plots.clear();
    let options = RunOptions {
        steady: matches!(place, Place::Steady),
        clock,
        ..RunOptions::default()
    };
    let mut found = Diagnostics::default();
    let made = job_with(flat, &experiment, &options, observer, &mut found);
    for diagnostic in found.iter() {
        // A run has nothing to do without states; an analysis tells that in its own way.
        if diagnostic.code != crate::base::diagnostics::Code::NoDynamics {
            diagnostics.push(diagnostic.clone());
        }
    }
    let Some(job) = made.map_err(Refusal::Request)? else {
        return Err(Refusal::Reported);
    };
    let mut stand = Stand {
        all: modes,
        found: Vec::new(),
        failed: None,
    };
    let outcome = run_with(&job, &mut stand, observer);
    if let Some(failed) = stand.failed {
        return Err(failed);
    }
    match outcome.end {
        End::Done => Ok(stand.found),
        End::Stopped => Err(Refusal::Stopped),
        End::Failed(error) => Err(match error.diagnostic() {
            Ok(diagnostic) => Refusal::Diagnostic(Box::new(diagnostic)),
            Err(message) => Refusal::Request(message),
        }),
    }
}

fn at_values(
    flat: Flat,
    text: &str,
    observer: &mut dyn StageObserver,
    diagnostics: &mut Diagnostics,
) -> Result<Values, Refusal> {
    let solution = solved_with(flat, Aliases::Eliminate, observer, diagnostics);
    let Some(mut solution) = solution else {
        return Err(Refusal::Reported);
    };
    let found = evaluate_at(&mut solution, text, observer).map_err(|error| match error {
        PointError::Request(message) => Refusal::Request(message),
        PointError::Diagnostic(diagnostic) => Refusal::Diagnostic(diagnostic),
    })?;
    let (key, other) = found.mode.unzip();
    let other = other.flatten();
    let by = other.as_deref().unwrap_or(&solution.solved);
    Ok(Values::new(by, &found.point, key))
}

/// Keeps the values at the end of a run, or those at the end of the last stay in each mode.
struct Stand {
    all: bool,
    found: Vec<Values>,
    failed: Option<Refusal>,
}

impl Observer for Stand {
    fn row(&mut self, _: f64, _: &[f64], _: RowKind) -> Result<(), String> {
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        self.failed.is_none()
    }

    fn stands(&mut self, mode: &ModeInstance<'_>, time: f64) {
        let key = mode.compiled.map(|compiled| compiled.key.clone());
        let machine = mode.rates.machine.borrow();
        let mut point = point_of_machine(mode.solved, &machine, time);
        drop(machine);
        if let Err(failure) = evaluate(mode.solved, &mut point) {
            self.failed = Some(Refusal::Diagnostic(Box::new(failure.diagnostic())));
            return;
        }
        let values = Values::new(mode.solved, &point, key);
        match self.found.iter_mut().find(|known| known.key == values.key) {
            Some(known) if self.all => *known = values,
            _ if self.all => self.found.push(values),
            _ => self.found = vec![values],
        }
    }
}
