//! The cache of modes: each mode that has occurred, with its program, its machine and its integrator.

use rustc_hash::FxHashMap;

use super::{Plan, Summary};
use crate::compile::{CompiledMode, StageObserver, mode_with, program};
use crate::expr::ExprId;
use crate::positions::{Key, Positions, differentiated};
use crate::program::{Program, Shared};
use crate::simulate::columns;
use crate::simulate::integrate::{
    Integrator, IntegratorError, IntegratorStorage, Settings, integrator,
};
use crate::simulate::mode_instance::{ModeInstance, tracked_states};
use crate::simulate::stable_arena::StableArena;

/// A mode and its program.
#[derive(Debug)]
pub(super) struct ModeProgram {
    compiled: CompiledMode,
    program: Program,
}

pub(super) struct ModeCache<'w, 'm, 's, 'p> {
    pub(super) positions: Option<&'m Positions>,
    programs: &'m StableArena<ModeProgram>,
    instances: &'s StableArena<ModeInstance<'m>>,
    storages: &'p StableArena<IntegratorStorage<'s>>,
    list: Vec<&'s ModeInstance<'m>>,
    /// By index in `list`; `None` for a mode without an integrator, and for the one whose integrator is in use.
    integrators: Vec<Option<Box<dyn Integrator + 'p>>>,
    /// `None` for a mode that is impossible.
    by_key: FxHashMap<Key, Option<usize>>,
    /// Who looks on while modes are compiled.
    pub(super) stages: &'w mut dyn StageObserver,
}

impl<'w, 'm, 's, 'p> ModeCache<'w, 'm, 's, 'p> {
    pub(super) fn new(
        positions: Option<&'m Positions>,
        programs: &'m StableArena<ModeProgram>,
        instances: &'s StableArena<ModeInstance<'m>>,
        storages: &'p StableArena<IntegratorStorage<'s>>,
        stages: &'w mut dyn StageObserver,
    ) -> Self {
        ModeCache {
            positions,
            programs,
            instances,
            storages,
            list: Vec::new(),
            integrators: Vec::new(),
            by_key: FxHashMap::default(),
            stages,
        }
    }

    pub(super) fn has_modes(&self) -> bool {
        self.positions.is_some()
    }

    /// Whether there are switches, and so more than one mode.
    pub(super) fn has_switches(&self) -> bool {
        self.positions
            .is_some_and(|positions| !positions.switches.is_empty())
    }

    /// `None` if the cache is full.
    pub(super) fn add(&mut self, instance: ModeInstance<'m>) -> Option<&'s ModeInstance<'m>> {
        let instance = self.instances.push(instance)?;
        self.list.push(instance);
        self.integrators.push(None);
        Some(instance)
    }

    pub(super) fn get(&self, index: usize) -> &'s ModeInstance<'m> {
        self.list[index]
    }

    /// The index of a mode, which is compiled when it occurs for the first time; `None` if the mode is impossible.
    pub(super) fn find_or_compile(
        &mut self,
        key: &[bool],
        starting: bool,
        plan: &Plan,
    ) -> Option<usize> {
        if let Some(&known) = self.by_key.get(key) {
            return known;
        }
        let found = self.compile(key, starting, plan);
        self.by_key.insert(key.into(), found);
        found
    }

    fn compile(&mut self, key: &[bool], starting: bool, plan: &Plan) -> Option<usize> {
        let positions = self.positions?;
        let mut compiled = mode_with(positions, key, starting, self.stages).ok()?;
        let values = column_values(&mut compiled, plan);
        let shared = Shared {
            opened: &positions.opened,
            switches: &positions.switches,
        };
        let program = program(&compiled.solved, &values, Some(shared), self.stages);
        let stored = self.programs.push(ModeProgram { compiled, program })?;
        let (compiled, program) = (&stored.compiled, &stored.program);
        let mut instance = ModeInstance::new(&compiled.solved, program, Some(compiled));
        let variables = differentiated(&positions.written);
        instance.rates.machine.borrow_mut().absolute = plan.absolute.all;
        instance.tracked = tracked_states(&compiled.solved, program, variables);
        self.add(instance)?;
        Some(self.list.len() - 1)
    }

    /// The integrator of a mode, restarted at a time and states.
    pub(super) fn take_integrator(
        &mut self,
        index: usize,
        settings: &Settings,
        (time, states): (f64, &[f64]),
    ) -> Result<Box<dyn Integrator + 'p>, IntegratorError> {
        let mode = self.list[index];
        let values = mode.with_unknowns(states);
        if let Some(mut known) = self.integrators[index].take() {
            known.restart(time, &values, false)?;
            return Ok(known);
        }
        let full = || IntegratorError::Other("there are too many modes".to_string());
        let storage = (self.storages.push(IntegratorStorage::default())).ok_or_else(full)?;
        let rates = mode.joined.get().unwrap_or(&mode.rates);
        integrator(storage, rates, settings, time, &values)
    }

    pub(super) fn put_integrator(&mut self, index: usize, integrator: Box<dyn Integrator + 'p>) {
        self.integrators[index] = Some(integrator);
    }

    /// Adds the counts of all machines and integrators to the summary.
    pub(super) fn add_counts(&self, summary: &mut Summary) {
        for (mode, integrator) in self.list.iter().zip(&self.integrators) {
            // In a mode of order 0 steps only evaluate relations: nothing is integrated.
            let without_states = self.has_modes() && mode.program.state_count() == 0;
            let Some(integrator) = integrator.as_ref().filter(|_| !without_states) else {
                continue;
            };
            summary.counts.add(&integrator.counts());
        }
        for mode in &self.list {
            let more = mode.rates.machine.borrow().counts;
            summary.evaluation_counts.evaluations += more.evaluations;
            summary.evaluation_counts.jacobians += more.jacobians;
            summary.evaluation_counts.iterations += more.iterations;
        }
        if self.has_switches() {
            summary.modes = self.list.len() as u64;
        }
    }
}

/// The expressions of the columns in a mode, found by the names of the columns.
fn column_values(compiled: &mut CompiledMode, plan: &Plan) -> Vec<ExprId> {
    let solved = &mut compiled.solved;
    if let Ok(found) = columns::matching(solved, &plan.columns)
        && found.len() == plan.columns.len()
    {
        return found.iter().map(|column| column.value).collect();
    }
    let mut values = Vec::with_capacity(plan.columns.len());
    for name in &plan.columns {
        let found = columns::matching(solved, std::slice::from_ref(name));
        let value = found.ok().and_then(|found| Some(found.first()?.value));
        // A mode may lack a derivative that another mode has.
        values.push(value.unwrap_or_else(|| solved.flat.exprs.number(f64::NAN)));
    }
    values
}
