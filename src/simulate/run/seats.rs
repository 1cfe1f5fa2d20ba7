//! The positions of a model that have occurred, each with its program, machine and integrator.

use rustc_hash::FxHashMap;

use super::{Plan, Summary};
use crate::compile::{CompiledMode, Watch, mode_with, program};
use crate::expr::ExprId;
use crate::positions::{Key, Positions, differentiated};
use crate::program::{Program, Shared};
use crate::simulate::columns;
use crate::simulate::integrate::{Integrator, Place, Settings, Trouble, integrator};
use crate::simulate::seat::{Seat, Shelf, tracked};

/// A position and its program.
#[derive(Debug)]
pub(super) struct Made {
    position: CompiledMode,
    program: Program,
}

pub(super) struct Seats<'w, 'm, 's, 'p> {
    pub(super) positions: Option<&'m Positions>,
    made: &'m Shelf<Made>,
    seats: &'s Shelf<Seat<'m>>,
    places: &'p Shelf<Place<'s>>,
    list: Vec<&'s Seat<'m>>,
    integrators: Vec<Option<Box<dyn Integrator + 'p>>>,
    /// `None` for a position that is impossible.
    by_key: FxHashMap<Key, Option<usize>>,
    /// Who looks on while modes are compiled.
    pub(super) watch: &'w mut dyn Watch,
}

impl<'w, 'm, 's, 'p> Seats<'w, 'm, 's, 'p> {
    pub(super) fn new(
        positions: Option<&'m Positions>,
        made: &'m Shelf<Made>,
        seats: &'s Shelf<Seat<'m>>,
        places: &'p Shelf<Place<'s>>,
        watch: &'w mut dyn Watch,
    ) -> Self {
        Seats {
            positions,
            made,
            seats,
            places,
            list: Vec::new(),
            integrators: Vec::new(),
            by_key: FxHashMap::default(),
            watch,
        }
    }

    pub(super) fn has_positions(&self) -> bool {
        self.positions.is_some()
    }

    /// `None` if there is no room for more.
    pub(super) fn add(&mut self, seat: Seat<'m>) -> Option<&'s Seat<'m>> {
        let seat = self.seats.put(seat)?;
        self.list.push(seat);
        self.integrators.push(None);
        Some(seat)
    }

    pub(super) fn get(&self, at: usize) -> &'s Seat<'m> {
        self.list[at]
    }

    /// The seat of a position, made if it is not there yet; `None` if the position is impossible.
    pub(super) fn find(&mut self, key: &[bool], starting: bool, plan: &Plan) -> Option<usize> {
        if let Some(&known) = self.by_key.get(key) {
            return known;
        }
        let found = self.make(key, starting, plan);
        self.by_key.insert(key.into(), found);
        found
    }

    fn make(&mut self, key: &[bool], starting: bool, plan: &Plan) -> Option<usize> {
        let positions = self.positions?;
        let mut position = mode_with(positions, key, starting, self.watch).ok()?;
        let values = recorded(&mut position, plan);
        let shared = Shared {
            opened: &positions.opened,
            switches: &positions.switches,
        };
        let program = program(&position.solved, &values, Some(shared), self.watch);
        let made = self.made.put(Made { position, program })?;
        let (position, program) = (&made.position, &made.program);
        let mut seat = Seat::new(&position.solved, program, Some(position));
        let wanted = differentiated(&positions.written);
        seat.tracked = tracked(&position.solved, program, wanted);
        self.add(seat)?;
        Some(self.list.len() - 1)
    }

    /// An integrator of a seat, which goes on from here.
    pub(super) fn integrator(
        &mut self,
        at: usize,
        settings: &Settings,
        (time, states): (f64, &[f64]),
    ) -> Result<Box<dyn Integrator + 'p>, Trouble> {
        if let Some(mut known) = self.integrators[at].take() {
            known.restart(time, states, false)?;
            return Ok(known);
        }
        let full = || Trouble::Other("there are too many positions".to_string());
        let place = self.places.put(Place::default()).ok_or_else(full)?;
        integrator(place, &self.list[at].rates, settings, time, states)
    }

    pub(super) fn keep(&mut self, at: usize, integrator: Box<dyn Integrator + 'p>) {
        self.integrators[at] = Some(integrator);
    }

    /// What all of them have done.
    pub(super) fn count(&self, summary: &mut Summary) {
        for (seat, integrator) in self.list.iter().zip(&self.integrators) {
            // A position of order 0 has nothing to integrate, only relations to look at.
            let still = self.has_positions() && seat.program.state_count() == 0;
            let Some(integrator) = integrator.as_ref().filter(|_| !still) else {
                continue;
            };
            let more = integrator.counts();
            let counts = &mut summary.counts;
            counts.steps += more.steps;
            counts.rejected += more.rejected;
            counts.failed += more.failed;
            counts.newton += more.newton;
            counts.rates += more.rates;
            counts.jacobians += more.jacobians;
            counts.factorizations += more.factorizations;
        }
        for seat in &self.list {
            let more = seat.rates.machine.borrow().work;
            summary.work.evaluations += more.evaluations;
            summary.work.jacobians += more.jacobians;
            summary.work.iterations += more.iterations;
        }
        if self.has_positions() {
            summary.positions = self.list.len() as u64;
        }
    }
}

/// The values that are recorded, by their names.
fn recorded(position: &mut CompiledMode, plan: &Plan) -> Vec<ExprId> {
    let solved = &mut position.solved;
    if let Ok(found) = columns::matching(solved, &plan.columns)
        && found.len() == plan.columns.len()
    {
        return found.iter().map(|column| column.value).collect();
    }
    let mut values = Vec::with_capacity(plan.columns.len());
    for name in &plan.columns {
        let found = columns::matching(solved, std::slice::from_ref(name));
        let value = found.ok().and_then(|found| Some(found.first()?.value));
        // A derivative that this position does not have.
        values.push(value.unwrap_or_else(|| solved.flat.exprs.number(f64::NAN)));
    }
    values
}
