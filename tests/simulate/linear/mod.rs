//! Linear analysis: matrices, poles, zeros and responses, against the flat equations as they were written, the register machine,
//! and closed forms.

mod formulas;
mod judges;
mod random;
mod sensitivities;

use bgm::analyse::{Analysed, Place, Wishes, analyse};
use bgm::base::clock::Clock;
use bgm::base::diagnostics::Diagnostics;
use bgm::compile::NoObserver;
use bgm::experiment::Experiment;
use bgm::flat::Flat;

/// A model linearised at a place, with inputs and outputs by name.
pub fn linearised(
    flat: Flat,
    place: Place,
    inputs: &[&str],
    outputs: &[&str],
) -> Result<Analysed, String> {
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_string()).collect();
    let wishes = Wishes {
        place,
        modes: false,
        inputs: Some(names(inputs)),
        outputs: Some(names(outputs)),
        clock: Clock::default(),
    };
    let (mut said, mut notes) = (Diagnostics::default(), Vec::new());
    let experiment = Experiment::default();
    let found = analyse(
        flat,
        &experiment,
        &wishes,
        &mut NoObserver,
        (&mut said, &mut notes),
    );
    let first = said.iter().next().map(|one| one.message.clone());
    let mut found = found.map_err(|refusal| first.unwrap_or_else(|| format!("{refusal:?}")))?;
    found.pop().ok_or_else(|| "nothing".to_string())
}
