//! Values of all variables at one time.
//!
//! A new point has the values of parameters, the defaults of inputs, the start values of states and discrete variables, and
//! start values as guesses; without these, 0 or false. Values that are set stay; parameters and start values that depend on a
//! parameter that was set are computed anew.

use rustc_hash::FxHashSet;

use super::failure::{Failure, Subject};
use super::walk::{Errors, Known, Rounded, Walk};
use crate::expr::{Arena, ExprId, Node, Value};
use crate::flat::{Flat, Given, Kind, Leaf, Type, VarId};
use crate::passes::blocks::{Selected, Solved};

#[derive(Clone, Debug)]
pub struct Point {
    pub time: f64,
    /// The index of the first value of each variable: its own value, then those of its derivatives.
    firsts: Vec<u32>,
    values: Vec<Option<Value>>,
    /// The next values of discrete variables.
    next: Vec<Option<Value>>,
    set: FxHashSet<Leaf>,
}

impl Point {
    pub fn new(solved: &Solved) -> Self {
        let flat = &solved.flat;
        let orders: Vec<u8> = flat
            .variables
            .iter()
            .map(|variable| variable.order)
            .collect();
        let mut firsts = Vec::with_capacity(orders.len() + 1);
        let mut values = Vec::with_capacity(orders.len());
        for (variable, &order) in flat.variables.iter().zip(&orders) {
            firsts.push(values.len() as u32);
            let nothing = match variable.ty {
                Type::Real => Value::Real(0.0),
                Type::Boolean => Value::Bool(false),
            };
            let known = match variable.kind {
                Kind::State => variable.states,
                Kind::Input => order + 1,
                Kind::Discrete => 1,
                _ => 0,
            };
            values.extend((0..=order).map(|at| (at < known).then_some(nothing)));
        }
        firsts.push(values.len() as u32);
        let mut point = Point {
            time: 0.0,
            next: vec![None; orders.len()],
            firsts,
            values,
            set: FxHashSet::default(),
        };
        for selection in flat.selections() {
            for (&leaf, &value) in selection.candidates.iter().zip(&selection.start) {
                point.put(leaf, Value::Real(value));
            }
        }
        for given in flat.starts.iter().chain(&flat.values) {
            point.put(Leaf::Var(given.variable), given.value);
        }
        if !flat.starts.is_empty() {
            // Start values of derivatives that are states.
            for state in flat.states().filter(|state| matches!(state, Leaf::Der(..))) {
                if let Some(value) = flat.start_of(state) {
                    point.put(state, value);
                }
            }
        }
        point
    }

    /// The same point of a model that has these variables, and others behind them.
    pub(super) fn within(&self, larger: &Solved) -> Point {
        let mut point = Point::new(larger);
        point.time = self.time;
        point.set = self.set.clone();
        for leaf in self.leaves() {
            if let Some(value) = self.get(leaf) {
                point.put(leaf, value);
            }
        }
        point
    }

    /// Takes the values that such a model has.
    pub(super) fn take(&mut self, larger: &Point) {
        let all: Vec<Leaf> = self.leaves().collect();
        for leaf in all {
            if let Some(value) = larger.get(leaf) {
                self.put(leaf, value);
            }
        }
    }

    /// All variables and their derivatives.
    fn leaves(&self) -> impl Iterator<Item = Leaf> + '_ {
        let variables = (0..self.next.len() as u32).map(VarId);
        variables.flat_map(|id| (0..=self.order(id)).map(move |order| Leaf::at_order(id, order)))
    }

    /// There are no events at a single point: `pre(x)` equals x, and so does `new(x)` unless an equation gives it.
    pub fn get(&self, leaf: Leaf) -> Option<Value> {
        let of = |variable: VarId| self.values[self.firsts[variable.index()] as usize];
        match leaf {
            Leaf::Var(_) | Leaf::Der(..) => self.values[self.slot(leaf)?],
            Leaf::New(variable) => self.next[variable.index()].or_else(|| of(variable)),
            Leaf::Pre(variable) | Leaf::Init(variable) => of(variable),
        }
    }

    pub fn real(&self, leaf: Leaf) -> Option<f64> {
        self.get(leaf).and_then(Value::real)
    }

    /// Whether somebody gave this value.
    pub fn is_given(&self, leaf: Leaf) -> bool {
        self.set.contains(&leaf)
    }

    /// Sets a state, an input, a parameter or a discrete variable. A candidate that is set is chosen as a state.
    pub fn set(&mut self, leaf: Leaf, value: Value) {
        self.set.insert(leaf);
        self.put(leaf, value);
    }

    /// Sets the first guess of an unknown. A candidate is not chosen as a state by this.
    pub fn guess(&mut self, leaf: Leaf, value: Value) {
        self.put(leaf, value);
    }

    /// The states among the candidates of a block: those that were set, then those of the start.
    pub fn chosen(&self, flat: &Flat, block: &Selected) -> Vec<Leaf> {
        let mut chosen = Vec::new();
        for &at in &block.selections {
            let selection = &flat.selections()[at as usize];
            let first = chosen.len();
            let set = (selection.candidates.iter()).filter(|leaf| self.set.contains(leaf));
            for &leaf in set.chain(&selection.choice).chain(&selection.candidates) {
                if chosen.len() - first < selection.states as usize && !chosen.contains(&leaf) {
                    chosen.push(leaf);
                }
            }
        }
        chosen
    }

    /// Whether a parameter was set.
    pub(super) fn has_other_parameters(&self, flat: &Flat) -> bool {
        let parameter = |leaf: &Leaf| flat.variable(leaf.variable()).kind == Kind::Parameter;
        self.set.iter().any(parameter)
    }

    pub(super) fn put(&mut self, leaf: Leaf, value: Value) {
        match leaf {
            Leaf::New(variable) => self.next[variable.index()] = Some(value),
            Leaf::Init(_) | Leaf::Pre(_) => {}
            Leaf::Var(_) | Leaf::Der(..) => {
                if let Some(slot) = self.slot(leaf) {
                    self.values[slot] = Some(value);
                }
            }
        }
    }

    /// The highest derivative that the model has of the variable.
    pub fn order(&self, variable: VarId) -> u8 {
        let at = variable.index();
        (self.firsts[at + 1] - self.firsts[at]).saturating_sub(1) as u8
    }

    fn slot(&self, leaf: Leaf) -> Option<usize> {
        let order = match leaf {
            Leaf::Der(_, order) => order,
            _ => 0,
        };
        let variable = leaf.variable();
        (order <= self.order(variable))
            .then(|| self.firsts[variable.index()] as usize + order as usize)
    }

    /// Computes anew the values that depend on parameters that were set.
    pub(super) fn update_dependents(
        &mut self,
        flat: &Flat,
        walk: &mut Walk,
    ) -> Result<(), Failure> {
        if self.set.is_empty() {
            return Ok(());
        }
        let mut visits = vec![Visit::New; flat.variables.len()];
        for leaf in &self.set {
            if let Leaf::Var(variable) = *leaf {
                visits[variable.index()] = Visit::Changed;
            }
        }
        for given in &flat.values {
            self.update_value(flat, *given, &mut visits, walk)?;
        }
        for given in &flat.starts {
            // Start values of other variables are guesses; a value that was computed before is a better guess.
            let variable = flat.variable(given.variable);
            let unset = visits[given.variable.index()] != Visit::Changed;
            if unset && matches!(variable.kind, Kind::State | Kind::Discrete) {
                self.update_value(flat, *given, &mut visits, walk)?;
            }
        }
        Ok(())
    }

    /// Computes one value anew, after the values on which it depends.
    fn update_value(
        &mut self,
        flat: &Flat,
        given: Given,
        visits: &mut [Visit],
        walk: &mut Walk,
    ) -> Result<(), Failure> {
        let mut stack = vec![given];
        while let Some(&top) = stack.last() {
            let place = top.variable.index();
            if matches!(visits[place], Visit::Changed | Visit::Unchanged) {
                stack.pop();
                continue;
            }
            let needs = variables(&flat.exprs, top.expression);
            let before = stack.len();
            if visits[place] == Visit::New {
                visits[place] = Visit::Open;
                let open = needs
                    .iter()
                    .filter(|need| visits[need.index()] == Visit::New);
                stack.extend(open.filter_map(|&need| flat.value(need)));
                if stack.len() > before {
                    continue;
                }
            }
            stack.pop();
            let moved = needs
                .iter()
                .any(|need| visits[need.index()] == Visit::Changed);
            visits[place] = if moved {
                Visit::Changed
            } else {
                Visit::Unchanged
            };
            if moved {
                let leaf = Leaf::Var(top.variable);
                let what = Subject::Value(leaf);
                let value = self.value(&flat.exprs, top.expression, walk);
                let value = value
                    .map_err(|error| Failure::of_error(flat, self, what, top.expression, error))?;
                Failure::check_finite(flat, self, what, top.expression, value)?;
                self.put(leaf, value);
            }
        }
        Ok(())
    }

    /// The real value of an expression at this point; `None` if it is not finite.
    pub fn number(&self, exprs: &Arena<Leaf>, root: ExprId) -> Option<f64> {
        let value = self.value(exprs, root, &mut Walk::default()).ok()?;
        value.real().filter(|number| number.is_finite())
    }

    /// The value of an expression at this point.
    pub(crate) fn value(
        &self,
        exprs: &Arena<Leaf>,
        root: ExprId,
        walk: &mut Walk,
    ) -> Result<Value, super::walk::EvalError> {
        let known = Known {
            time: self.time,
            leaf: &|leaf| self.get(leaf).map(Rounded::exact),
        };
        (walk.value(exprs, root, &known, Errors::Ignore)).map(|rounded| rounded.value)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Unchanged,
    Changed,
}

/// The leaves of an expression, each once, in the order of their places in the arena.
pub(crate) fn leaves(exprs: &Arena<Leaf>, root: ExprId) -> Vec<Leaf> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        match exprs.node(id) {
            Node::Number(_) | Node::Bool(_) | Node::Time => {}
            Node::Leaf(leaf) => found.push((id, leaf)),
            Node::Unary(_, a) => stack.push(a),
            Node::Binary(_, a, b) => stack.extend([a, b]),
            Node::If(a, b, c) => stack.extend([a, b, c]),
            Node::Call(_, args) | Node::List(args) => stack.extend(exprs.args(args)),
        }
    }
    found.sort_unstable_by_key(|&(id, _)| id);
    found.into_iter().map(|(_, leaf)| leaf).collect()
}

fn variables(exprs: &Arena<Leaf>, root: ExprId) -> Vec<VarId> {
    (leaves(exprs, root).into_iter())
        .map(Leaf::variable)
        .collect()
}
