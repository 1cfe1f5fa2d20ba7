//! Patterns of matrices in an exported program: the states and inputs that each rate and each output depends on.
//!
//! Before: a [`Model`]. After: for each of them a sorted list ([`crate::passes::depends`]). What is kept between events
//! (relations, discrete variables) counts as constant. A list may contain too much, never too little; if the lists need
//! too much room, they contain everything.

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::Model;
use crate::flat::Leaf;
use crate::numeric::{Coloring, color};
use crate::passes::blocks::Block;
use crate::passes::depends::{Depends, Graph, Relations};

/// Numbers below the number of states are states; the numbers from there on are inputs. Both are in the order of the
/// model.
#[derive(Clone, Debug)]
pub struct Dependence {
    states: usize,
    lists: Vec<Vec<u32>>,
    rates: Vec<u32>,
    outputs: Vec<u32>,
}

impl Dependence {
    pub fn states(&self) -> usize {
        self.states
    }

    /// The list of the rate of a state.
    pub fn rate(&self, state: usize) -> &[u32] {
        &self.lists[self.rates[state] as usize]
    }

    /// What an output depends on.
    pub fn output(&self, output: usize) -> &[u32] {
        &self.lists[self.outputs[output] as usize]
    }

    /// The number of states in a list: they come first.
    fn states_of(&self, list: &[u32]) -> usize {
        list.partition_point(|&column| (column as usize) < self.states)
    }

    /// The number of derivatives of rates with respect to states.
    pub fn entries(&self) -> usize {
        let counts: Vec<usize> = (self.lists.iter())
            .map(|list| self.states_of(list))
            .collect();
        self.rates.iter().map(|&list| counts[list as usize]).sum()
    }

    /// Unites the dependence of two models with the same states, inputs and outputs.
    pub fn unite(&mut self, other: &Dependence) {
        let mut united: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let lists = &mut self.lists;
        let mut unite = |one: &mut u32, other_list: u32| {
            *one = *united.entry((*one, other_list)).or_insert_with(|| {
                let mut list = lists[*one as usize].clone();
                list.extend(&other.lists[other_list as usize]);
                list.sort_unstable();
                list.dedup();
                if list.len() == lists[*one as usize].len() {
                    return *one;
                }
                lists.push(list);
                (lists.len() - 1) as u32
            });
        };
        let pairs = self.rates.iter_mut().zip(&other.rates);
        for (one, &other) in pairs.chain(self.outputs.iter_mut().zip(&other.outputs)) {
            unite(one, other);
        }
    }

    /// The pattern of the derivatives of rates with respect to states, with its diagonal, and a colouring of its
    /// columns.
    pub fn coloring(&self) -> Coloring {
        let mut lists: Vec<Vec<u32>> = (self.lists.iter())
            .map(|list| list[..self.states_of(list)].to_vec())
            .collect();
        let mut rows = Vec::with_capacity(self.states);
        for (state, &at) in self.rates.iter().enumerate() {
            let list = &lists[at as usize];
            rows.push(match list.binary_search(&(state as u32)) {
                Ok(_) => at,
                Err(place) => {
                    let mut list = list.clone();
                    list.insert(place, state as u32);
                    lists.push(list);
                    (lists.len() - 1) as u32
                }
            });
        }
        color(&lists, &rows, self.states)
    }
}

/// The most numbers in all lists together.
const MOST: usize = 20_000_000;

/// For nonlinear loops with more than `size` equations, the pattern of the derivatives of residuals with respect to
/// iteration variables, and a colouring of its columns. The key is the first iteration variable.
pub fn loop_colorings(model: &Model<'_>, size: usize) -> FxHashMap<Leaf, Coloring> {
    let graph = Graph::new(model.flat, &model.solved.blocks, &model.replacements);
    let mut depends = Depends::new(&graph, Relations::Held, 0, usize::MAX);
    let mut found = FxHashMap::default();
    for block in &model.solved.blocks {
        if let Block::Nonlinear(nonlinear) = block
            && nonlinear.iteration.len() > size
        {
            let (unknowns, residuals) = (&nonlinear.iteration, &nonlinear.residuals);
            let coloring = depends.of_loop(unknowns, &nonlinear.inner, residuals);
            found.insert(unknowns[0], coloring);
        }
    }
    found
}

/// The dependence of rates and outputs, united over all modes.
pub fn dependence(model: &Model<'_>) -> Dependence {
    let Some(switched) = &model.switched else {
        return in_position(model, model);
    };
    let mut all = switched
        .modes
        .iter()
        .map(|mode| in_position(&mode.model, model));
    let mut united = all.next().unwrap_or_else(|| in_position(model, model));
    for other in all {
        united.unite(&other);
    }
    united
}

/// The dependence in one mode, for the states and inputs of all modes: a state of another mode may be computed here.
fn in_position(model: &Model<'_>, all: &Model<'_>) -> Dependence {
    let states = all.states.len();
    let graph = Graph::new(model.flat, &model.solved.blocks, &model.replacements);
    let mut depends = Depends::new(&graph, Relations::Held, states + all.inputs.len(), MOST);
    let own: FxHashSet<Leaf> = model.states.iter().copied().collect();
    for (&state, column) in all.states.iter().zip(0..) {
        if own.contains(&state) {
            depends.column(state, column);
        }
    }
    // Formulas of the experiment for inputs contain only Time and parameters.
    for (&(id, _), column) in all.inputs.iter().zip(states as u32..) {
        depends.column(Leaf::Var(id), column);
    }
    depends.follow(|_| true);
    let rates = (all.states.iter())
        .map(|&state| depends.leaf(state.rate()))
        .collect();
    let flat = model.flat;
    let declared = flat.variable_ids().filter(|&id| flat.variable(id).output);
    let outputs = declared.map(|id| depends.leaf(Leaf::Var(id))).collect();
    Dependence {
        states,
        lists: depends.into_lists(),
        rates,
        outputs,
    }
}
