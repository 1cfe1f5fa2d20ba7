//! Every choice of states from the candidates gives the same values.

use bgm::evaluate::evaluate;
use bgm::expr::Value;
use bgm::flat::Leaf;
use bgm::program::machine::Extent;

use super::slopes;
use super::subject::{Setting, Tally};
use super::values::columns;

/// Of all selections together at most so many.
const MOST: usize = 40;

/// The ways to take so many of some things.
fn ways(of: usize, take: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..take {
        all = (all.iter())
            .flat_map(|way: &Vec<usize>| {
                let first = way.last().map_or(0, |last| last + 1);
                (first..of).map(move |next| [way.as_slice(), &[next]].concat())
            })
            .collect();
    }
    all
}

pub fn compare(setting: &Setting<'_>, tally: &mut Tally) -> Result<(), String> {
    let selections = setting.solved.flat.selections();
    if selections.is_empty() {
        return Ok(());
    }
    let mut all: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
    for selection in selections {
        let own = ways(selection.candidates.len(), selection.states as usize);
        all = (all.iter())
            .flat_map(|way| {
                own.iter().map(move |own| {
                    let mut way = way.clone();
                    way.push(own.clone());
                    way
                })
            })
            .collect();
    }
    let stride = all.len().div_ceil(MOST);
    for choice in all.into_iter().step_by(stride) {
        one(setting, choice, tally)?;
    }
    Ok(())
}

fn one(setting: &Setting<'_>, choice: Vec<Vec<usize>>, tally: &mut Tally) -> Result<(), String> {
    let flat = &setting.solved.flat;
    let chosen: Vec<Leaf> = (flat.selections().iter().zip(&choice))
        .flat_map(|(selection, at)| at.iter().map(|&at| selection.candidates[at]))
        .collect();
    let mut point = bgm::evaluate::Point::new(setting.solved);
    point.time = setting.point.time;
    for &leaf in setting.leaves {
        let Some(value) = setting.point.get(leaf) else {
            continue;
        };
        let kind = flat.variable(leaf.variable()).kind;
        let known = chosen.contains(&leaf) || flat.is_state(leaf);
        match kind {
            bgm::flat::Kind::Parameter | bgm::flat::Kind::Constant => {}
            bgm::flat::Kind::Discrete | bgm::flat::Kind::Input => point.set(leaf, value),
            _ if known => point.set(leaf, value),
            _ => point.guess(leaf, value),
        }
    }
    // Not every choice is regular here.
    if evaluate(setting.solved, &mut point).is_err() {
        return Ok(());
    }
    let mut states: Vec<f64> = (setting.program.states.iter())
        .map(|&leaf| point.real(leaf).expect("a state"))
        .collect();
    states.extend(chosen.iter().map(|&leaf| match point.get(leaf) {
        Some(Value::Real(value)) => value,
        _ => f64::NAN,
    }));
    let other = Setting {
        point,
        states,
        choice,
        ..*setting
    };
    tally.choices += 1;
    let mut machine = other.machine(1e-5);
    if (machine.evaluate(other.point.time, &other.states, Extent::All)).is_err() {
        tally.stuck += 1;
        return Ok(());
    }
    let wrong = |why: String| format!("{why}, with the choice {:?}", setting.choice);
    columns(&other, &machine, tally).map_err(wrong)?;
    slopes::jacobian(&other, tally).map_err(wrong)
}
