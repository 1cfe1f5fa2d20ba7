//! The search over the truths of relations at an event, where several have to change together.
//!
//! Before: the event iteration comes back to what it had before, or a loop has no solution with the present truths. (At the
//! fold of a Schmitt trigger each relation that changes alone takes the loop back over it.) After: truths with which the loop
//! has a solution that agrees with them, or nothing has changed. Tried are those that differ from the truths before the event
//! in one relation, in two, and so on, the first relation first: as few change as can. The run tells what has changed.

use std::collections::BTreeSet;

use super::{Run, RunError};
use crate::base::cancel::glance;
use crate::expr::{ExprId, show_briefly};
use crate::passes::relations::WatchKind;
use crate::program::machine::Machine;
use crate::program::{Part, Step};
use crate::simulate::events::Verdict;
use crate::structure::subsets::Subsets;

/// The most combinations that are tried at one event.
const MOST: usize = 4096;
/// The most relations that take part.
const MOST_RELATIONS: usize = 64;

/// What was kept of each relation before the event.
pub(super) struct TruthsBefore(Vec<f64>);

impl TruthsBefore {
    pub(super) fn new(machine: &Machine<'_>) -> Self {
        let watches = machine.program.watches.iter();
        TruthsBefore(watches.map(|watch| machine.get(watch.held)).collect())
    }
}

impl Run<'_, '_, '_, '_> {
    /// True if truths were found; `moved` are the relations that the event iteration has changed in vain.
    pub(super) fn search_truths(
        &mut self,
        (time, momentary): (f64, &[usize]),
        before: &TruthsBefore,
        moved: &BTreeSet<usize>,
    ) -> Result<bool, RunError> {
        let mode = self.mode;
        if before.0.len() != mode.program.watches.len() {
            return Ok(false);
        }
        let before = &before.0;
        let relations = self.in_one_loop(moved);
        if relations.is_empty() {
            return Ok(false);
        }
        let here = TruthsBefore::new(&mode.rates.machine.borrow()).0;
        let mut tried = 0;
        for changed in Subsets::new(relations.len()).take(MOST) {
            glance();
            let changed: Vec<usize> = changed.into_iter().map(|at| relations[at]).collect();
            for held in combinations(
                mode.program.watches.iter().map(|w| w.kind),
                before,
                &changed,
            ) {
                tried += 1;
                self.hold(&held);
                if self.agrees(time, momentary, &relations) {
                    self.tell_truths(time, before, &held, tried);
                    return Ok(true);
                }
            }
            if tried >= MOST {
                break;
            }
        }
        self.iteration.combinations = tried;
        self.hold(&here);
        // The values that belong to these truths; a failure is the caller's.
        let _ = self.evaluate_event(time);
        Ok(false)
    }

    fn hold(&self, held: &[f64]) {
        let mut machine = self.mode.rates.machine.borrow_mut();
        for (watch, &held) in self.mode.program.watches.iter().zip(held) {
            machine.set(watch.held, held);
        }
    }

    /// Whether the loops have a solution with the present truths, and it agrees with them.
    fn agrees(&mut self, time: f64, momentary: &[usize], relations: &[usize]) -> bool {
        {
            // By the machine alone: the plain evaluator decides relations by itself.
            let mut machine = self.mode.rates.machine.borrow_mut();
            if machine.evaluate_event(time, &self.states).is_err() {
                return false;
            }
        }
        let mut machine = self.mode.rates.machine.borrow_mut();
        let judged = (self.events).judge(&mut machine, momentary, &[]);
        let agrees = judged
            .iter()
            .filter(|judgement| relations.contains(&judgement.at))
            .all(|judgement| {
                let held = machine.get(machine.program.watches[judgement.at].held);
                match judgement.verdict {
                    Verdict::Certain(decided) | Verdict::Moving(decided) => decided == held,
                    Verdict::Tie => true,
                }
            });
        if agrees {
            machine.keep();
        }
        agrees
    }

    /// The relations of the loops in which those stand that have changed; of all loops if none has.
    fn in_one_loop(&self, moved: &BTreeSet<usize>) -> Vec<usize> {
        let program = self.mode.program;
        let loops = loops(&program.event);
        let held = |at: usize| program.watches[at].held;
        let concerned = |reads: &&Vec<u32>| {
            let mut moved = moved.iter().filter(|&&at| at < program.watches.len());
            moved.clone().next().is_none() || moved.any(|&at| reads.contains(&held(at)))
        };
        let loops: Vec<&Vec<u32>> = loops.iter().filter(concerned).collect();
        let all = (0..program.watches.len())
            .filter(|&at| loops.iter().any(|reads| reads.contains(&held(at))));
        let momentary = |&at: &usize| !program.watches[at].kind.is_momentary();
        all.filter(momentary).take(MOST_RELATIONS).collect()
    }

    /// Tells which relations have changed together.
    fn tell_truths(&mut self, time: f64, before: &[f64], held: &[f64], tried: usize) {
        let watches = &self.mode.program.watches;
        let flat = &self.mode.solved.flat;
        let changed: Vec<String> = (0..held.len())
            .filter(|&at| held[at] != before[at])
            .map(|at| {
                let text = |node: ExprId| format!("`{}`", flat.expression(node));
                let watch = &watches[at];
                match watch.kind {
                    WatchKind::Relation(_) => {
                        let truth = held[at] != 0.0;
                        format!("{} became {truth}", text(watch.node))
                    }
                    _ => format!("{} became {}", text(watch.node), show_briefly(held[at])),
                }
            })
            .collect();
        let what = match changed.is_empty() {
            true => "the relations before it were kept".to_string(),
            false => changed.join(" and "),
        };
        let combinations = match tried {
            1 => "1 combination".to_string(),
            _ => format!("{tried} combinations"),
        };
        self.note(format!(
            "at Time = {}, no relation could change by itself: {what} ({combinations} tried)",
            show_briefly(time)
        ));
    }

    /// Adds a note to the summary; many are not kept.
    fn note(&mut self, note: String) {
        const MOST_NOTES: usize = 20;
        if self.summary.notes.len() < MOST_NOTES {
            self.summary.notes.push(note);
        }
    }
}

/// For each loop and each linear system, the registers that it reads.
fn loops(part: &Part) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for step in &part.steps {
        match *step {
            Step::Loop(at) => all.push(part.loops[at].externals.clone()),
            Step::System(at) => {
                let system = &part.systems[at];
                let matrix = system.matrix.data().iter();
                all.push(matrix.chain(&system.right).copied().collect());
            }
            Step::Code(_) => {}
        }
    }
    all
}

/// All values of the relations where those in `changed` have others than before.
fn combinations(
    kinds: impl Iterator<Item = WatchKind>,
    before: &[f64],
    changed: &[usize],
) -> Vec<Vec<f64>> {
    let kinds: Vec<WatchKind> = kinds.collect();
    let mut all = vec![before.to_vec()];
    for &at in changed {
        let held = before[at];
        let others: Vec<f64> = match kinds[at] {
            WatchKind::Relation(_) => vec![1.0 - held],
            WatchKind::Sign => {
                let signs = [-1.0, 0.0, 1.0].into_iter();
                signs.filter(|&sign| sign != held).collect()
            }
            WatchKind::Floor | WatchKind::Ceil => vec![held - 1.0, held + 1.0],
        };
        all = (all.iter())
            .flat_map(|known| {
                others.iter().map(move |&other| {
                    let mut next = known.clone();
                    next[at] = other;
                    next
                })
            })
            .collect();
        // Signs of many numbers: the first ones are tried.
        all.truncate(64);
    }
    all
}
