//! The method that suits the model: explicit while it is not stiff, implicit while it is.
//!
//! The explicit method sees that stability limits its steps ([`super::explicit`]). The implicit one looks at its Jacobian now and
//! then: where its steps are so short that the explicit method would be stable too, that one goes on. Each mode of a model has an
//! integrator of its own, so what was found is remembered by mode.

use super::explicit::Explicit;
use super::{
    Counts, Integrator, IntegratorError, IntegratorStorage, Method, Settings, System, driver,
};

pub(super) struct Auto<'p, 's> {
    storage: &'p IntegratorStorage<'s>,
    system: &'s dyn System,
    settings: Settings,
    explicit: Explicit<'s>,
    /// Made when it is first needed.
    implicit: Option<Box<dyn Integrator + 'p>>,
    is_stiff: bool,
    /// Implicit steps since the Jacobian was looked at.
    steps: u32,
    /// So many times in a row the explicit method would have been stable.
    stable: u32,
    /// So many times in a row are enough. Each return to the implicit method doubles them.
    enough: u32,
    /// Newton iterations that had failed when the Jacobian was last looked at: steps that are short because of them tell nothing
    /// about stability.
    failed: u64,
    entries: Vec<f64>,
    sums: Vec<f64>,
}

/// Implicit steps from one look at the Jacobian to the next.
const EACH: u32 = 16;
/// So many looks in a row have to agree at first, and at most.
const LOOKS: u32 = 3;
const MOST_LOOKS: u32 = 1000;
/// The explicit method is stable up to a product of 3.25 of the step with the largest eigenvalue.
const STABLE: f64 = 1.5;

impl<'p, 's: 'p> Auto<'p, 's> {
    pub(super) fn new(
        storage: &'p IntegratorStorage<'s>,
        system: &'s dyn System,
        settings: &Settings,
        time: f64,
        states: &[f64],
    ) -> Result<Auto<'p, 's>, IntegratorError> {
        Ok(Auto {
            storage,
            system,
            explicit: Explicit::new(system, settings, time, states)?,
            settings: Settings {
                method: Method::Bdf,
                ..settings.clone()
            },
            implicit: None,
            is_stiff: false,
            steps: 0,
            stable: 0,
            enough: LOOKS,
            failed: 0,
            entries: vec![0.0; system.pattern().nnz()],
            sums: vec![0.0; system.size()],
        })
    }

    fn active(&self) -> &dyn Integrator {
        match &self.implicit {
            Some(implicit) if self.is_stiff => implicit.as_ref(),
            _ => &self.explicit,
        }
    }

    /// Goes on with the implicit method.
    fn become_implicit(&mut self) -> Result<(), IntegratorError> {
        let (time, states) = (self.explicit.time(), self.explicit.states());
        match &mut self.implicit {
            Some(implicit) => {
                implicit.restart(time, states, false)?;
                self.enough = (2 * self.enough).min(MOST_LOOKS);
            }
            None => {
                let made = driver::start(self.storage, self.system, &self.settings, time, states)?;
                self.implicit = Some(made);
            }
        }
        if let (Some(implicit), Some(longest)) = (&mut self.implicit, self.settings.longest) {
            implicit.limit(longest);
        }
        self.is_stiff = true;
        (self.steps, self.stable) = (0, 0);
        Ok(())
    }

    /// Goes on with the explicit method.
    fn become_explicit(&mut self) -> Result<(), IntegratorError> {
        if let Some(implicit) = &self.implicit {
            let (time, states) = (implicit.time(), implicit.states());
            self.explicit.forget_stiffness();
            self.explicit.restart(time, states, false)?;
        }
        self.is_stiff = false;
        Ok(())
    }

    /// Whether the explicit method would be stable with steps of this size: a norm of the Jacobian bounds its eigenvalues.
    fn would_be_stable(&mut self, size: f64) -> bool {
        let active = match &self.implicit {
            Some(implicit) => implicit.as_ref(),
            None => return false,
        };
        (self.system).jacobian(active.time(), active.states(), &mut self.entries);
        self.sums.fill(0.0);
        for (entry, (_, (row, column))) in self.entries.iter().zip(self.system.pattern()) {
            let weight = |k: usize| {
                self.settings.absolute[k].max(1e-300)
                    + self.settings.relative * active.states()[k].abs()
            };
            self.sums[row] += (entry * weight(column) / weight(row)).abs();
        }
        let largest = self.sums.iter().copied().fold(0.0, f64::max);
        size * largest < STABLE
    }
}

impl<'p, 's: 'p> Integrator for Auto<'p, 's> {
    fn time(&self) -> f64 {
        self.active().time()
    }

    fn before(&self) -> f64 {
        self.active().before()
    }

    fn states(&self) -> &[f64] {
        self.active().states()
    }

    fn step(&mut self, stop: f64) -> Result<(), IntegratorError> {
        if self.is_stiff && self.steps >= EACH {
            self.steps = 0;
            let size = self.time() - self.before();
            let failed = self
                .implicit
                .as_ref()
                .map_or(0, |implicit| implicit.counts().failed);
            let fails = std::mem::replace(&mut self.failed, failed) != failed;
            self.stable = match size > 0.0 && !fails && self.would_be_stable(size) {
                true => self.stable + 1,
                false => 0,
            };
            if self.stable >= self.enough {
                self.become_explicit()?;
            }
        }
        if !self.is_stiff {
            if !self.explicit.is_stiff() && self.explicit.step(stop).is_ok() {
                return Ok(());
            }
            self.become_implicit()?;
        }
        self.steps += 1;
        match &mut self.implicit {
            Some(implicit) => implicit.step(stop),
            None => Ok(()),
        }
    }

    fn limit(&mut self, longest: f64) {
        self.settings.longest = Some(longest);
        self.explicit.limit(longest);
        if let Some(implicit) = &mut self.implicit {
            implicit.limit(longest);
        }
    }

    fn interpolate(&self, time: f64, states: &mut [f64]) {
        self.active().interpolate(time, states);
    }

    fn restart(
        &mut self,
        time: f64,
        states: &[f64],
        same_size: bool,
    ) -> Result<(), IntegratorError> {
        match &mut self.implicit {
            Some(implicit) if self.is_stiff => implicit.restart(time, states, same_size),
            _ => self.explicit.restart(time, states, same_size),
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = self.explicit.counts();
        if let Some(implicit) = &self.implicit {
            counts.add(&implicit.counts());
        }
        counts
    }
}
