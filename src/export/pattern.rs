//! What depends on what: of each derivative of a state, and of each output, the states and inputs that it is computed from.
//!
//! Before: a [`Model`]. After: for each of them a sorted list, by structure: what is computed passes on what it needs, and all
//! unknowns of a loop need what any of its equations needs. What is held between events (relations, discrete variables) does
//! not move. A list may have more than there is, never less. Lists are shared, so that a model of sparse structure
//! costs little more than its expressions; where they would take too much room they say "all".

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::Model;
use crate::expr::{ExprId, Function, Node};
use crate::flat::Leaf;
use crate::numeric::{Coloring, color};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Nonlinear};
use crate::program::expressions;

/// Numbers below that of the states are states; the others are inputs, from there on. All in the order of the model.
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

    /// What the derivative of a state depends on.
    pub fn rate(&self, state: usize) -> &[u32] {
        &self.lists[self.rates[state] as usize]
    }

    /// What an output depends on.
    pub fn output(&self, output: usize) -> &[u32] {
        &self.lists[self.outputs[output] as usize]
    }

    /// The states among them: they come first.
    fn states_of(&self, list: &[u32]) -> usize {
        list.partition_point(|&column| (column as usize) < self.states)
    }

    /// How many derivatives of rates by states there are.
    pub fn entries(&self) -> usize {
        let counts: Vec<usize> = (self.lists.iter())
            .map(|list| self.states_of(list))
            .collect();
        self.rates.iter().map(|&list| counts[list as usize]).sum()
    }

    /// What depends on something in either of two models of the same states, inputs and outputs does so in both.
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

    /// The pattern of the derivatives of rates by states, with its diagonal, and colours of its columns.
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

/// Numbers in all lists together; what needs more room depends on all.
const MOST: usize = 20_000_000;

struct Finder<'m> {
    model: &'m Model<'m>,
    lists: Vec<Vec<u32>>,
    /// States and inputs.
    columns: usize,
    /// Numbers in all lists.
    room: usize,
    all: Option<u32>,
    of: FxHashMap<Leaf, u32>,
    /// By expression, the search that met it last.
    seen: Vec<u32>,
    search: u32,
}

/// The list of what depends on nothing.
const NONE: u32 = 0;

/// Residuals of a nonlinear loop by what it iterates on: the pattern of their derivatives, and colours of its columns.
pub fn loop_coloring(model: &Model<'_>, nonlinear: &Nonlinear) -> Coloring {
    let size = nonlinear.iteration.len();
    let mut finder = Finder::new(model, size);
    for (at, &leaf) in nonlinear.iteration.iter().enumerate() {
        let list = finder.add(vec![at as u32]);
        finder.of.insert(leaf, list);
    }
    for inner in &nonlinear.inner {
        finder.assign(inner);
    }
    let rows: Vec<u32> = (nonlinear.residuals.iter())
        .map(|residual| finder.gather([residual.value]))
        .collect();
    color(&finder.lists, &rows, size)
}

/// What derivatives of states and outputs depend on, in any position of switches.
pub fn dependence(model: &Model<'_>) -> Dependence {
    let Some(switched) = &model.switched else {
        return in_position(model, model);
    };
    let mut all = switched
        .seats
        .iter()
        .map(|seat| in_position(&seat.model, model));
    let mut united = all.next().unwrap_or_else(|| in_position(model, model));
    for other in all {
        united.unite(&other);
    }
    united
}

/// The same of one position, for the states and inputs of all: what is a state elsewhere may be computed here.
fn in_position(model: &Model<'_>, all: &Model<'_>) -> Dependence {
    let states = all.states.len();
    let mut finder = Finder::new(model, states + all.inputs.len());
    let own: FxHashSet<Leaf> = model.states.iter().copied().collect();
    for (at, &state) in all.states.iter().enumerate() {
        if own.contains(&state) {
            let list = finder.add(vec![at as u32]);
            finder.of.insert(state, list);
        }
    }
    // What an experiment says of inputs has nothing in it but Time and parameters.
    for (at, &(id, _)) in all.inputs.iter().enumerate() {
        let list = finder.add(vec![(states + at) as u32]);
        finder.of.insert(Leaf::Var(id), list);
    }
    for block in &model.solved.blocks {
        finder.block(block);
    }
    let rates = (all.states.iter())
        .map(|&state| finder.leaf(state.rate()))
        .collect();
    let flat = model.flat;
    let declared = flat.variable_ids().filter(|&id| flat.variable(id).output);
    let outputs = declared.map(|id| finder.leaf(Leaf::Var(id))).collect();
    Dependence {
        states,
        lists: finder.lists,
        rates,
        outputs,
    }
}

impl<'m> Finder<'m> {
    fn new(model: &'m Model<'m>, columns: usize) -> Self {
        Finder {
            model,
            lists: vec![Vec::new()],
            columns,
            room: 0,
            all: None,
            of: FxHashMap::default(),
            seen: vec![0; model.flat.exprs.len()],
            search: 0,
        }
    }

    fn add(&mut self, list: Vec<u32>) -> u32 {
        self.room += list.len();
        self.lists.push(list);
        (self.lists.len() - 1) as u32
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assignment(assignment) => self.assign(assignment),
            Block::Linear(Linear {
                method: Method::Formulas(assignments),
                ..
            }) => {
                for assignment in assignments {
                    self.assign(assignment);
                }
            }
            Block::Linear(_) | Block::Nonlinear(_) => {
                let list = self.gather(expressions(block));
                for &unknown in block.unknowns() {
                    self.of.insert(unknown, list);
                }
                if let Block::Nonlinear(nonlinear) = block {
                    for leaf in nonlinear.inner.iter().map(|inner| inner.target) {
                        self.of.insert(leaf, list);
                    }
                    for &leaf in &nonlinear.iteration {
                        self.of.insert(leaf, list);
                    }
                }
            }
            // Candidates are states, and what a `when` sets is held.
            Block::Selected(_) | Block::When(_) => {}
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        // The next value of a discrete variable is its value, between events.
        if !matches!(assignment.target, Leaf::New(_)) {
            let list = self.gather([assignment.value]);
            self.of.insert(assignment.target, list);
        }
    }

    fn leaf(&mut self, leaf: Leaf) -> u32 {
        match (self.of.get(&leaf), self.model.gone.get(&leaf)) {
            (Some(&list), _) => list,
            (None, Some(&expression)) => self.gather([expression]),
            (None, None) => NONE,
        }
    }

    /// What some expressions depend on. Unknowns of a loop have no list before they get that of their loop.
    fn gather(&mut self, roots: impl IntoIterator<Item = ExprId>) -> u32 {
        let exprs = &self.model.flat.exprs;
        let mut work: Vec<ExprId> = roots.into_iter().collect();
        let mut found = Vec::new();
        self.search += 1;
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut self.seen[id.index()], self.search) == self.search {
                continue;
            }
            match exprs.node(id) {
                Node::Leaf(leaf) => match self.of.get(&leaf) {
                    Some(&list) => found.push(list),
                    None => work.extend(self.model.gone.get(&leaf)),
                },
                // mod(x, y) is x less a number of times y; all else that is watched stands still.
                Node::Call(Function::Mod, _) => exprs.operands(id, &mut work),
                _ if self.model.watch_of.contains_key(&id) => {}
                _ => exprs.operands(id, &mut work),
            }
        }
        self.merge(found)
    }

    fn merge(&mut self, mut lists: Vec<u32>) -> u32 {
        lists.sort_unstable();
        lists.dedup();
        lists.retain(|&list| list != NONE);
        if lists.is_empty() {
            return NONE;
        }
        if let Some(all) = self.all.filter(|all| lists.contains(all)) {
            return all;
        }
        // Often one of them has all that the others have.
        let length = |list: &u32| self.lists[*list as usize].len();
        let largest = lists.iter().copied().max_by_key(length).unwrap_or(NONE);
        if lists.len() == 1 {
            return largest;
        }
        let mut merged: Vec<u32> = Vec::new();
        for &list in &lists {
            merged.extend(&self.lists[list as usize]);
        }
        merged.sort_unstable();
        merged.dedup();
        if merged.len() == length(&largest) {
            return largest;
        }
        if self.room + merged.len() <= MOST {
            return self.add(merged);
        }
        match self.all {
            Some(all) => all,
            None => {
                let all = self.add((0..self.columns as u32).collect());
                *self.all.insert(all)
            }
        }
    }
}
