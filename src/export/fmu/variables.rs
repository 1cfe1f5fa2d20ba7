//! The variables of an FMU: their attributes by FMI 2.0, and their places in the program.
//!
//! Before: a [`Model`]. After: a list in a fixed order. The reference of a variable is its index. No two variables
//! share a reference: a variable that equals another one has its own place in the program.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::unit::times_seconds;
use crate::export::c::C;
use crate::export::model::Model;
use crate::expr::{Node, Value};
use crate::flat::{Flat, Leaf, Type, VarId};

/// How a variable can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is computed.
    Computed,
    /// It is computed from parameters, once.
    Derived,
    /// A number that never changes.
    Constant,
    /// It can be set at any event.
    Parameter,
    /// A state: its start value can be set before the start.
    State,
    /// A state whose start value can be changed by the start.
    Guessed,
    /// A start value that is computed from parameters.
    Follows,
    Input,
    /// Time itself.
    Time,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub leaf: Option<Leaf>,
    /// The place in the structure of an instance.
    pub place: String,
    pub role: Role,
    pub boolean: bool,
    pub output: bool,
    /// It changes only at events.
    pub discrete: bool,
    /// The start value, if it has one.
    pub start: Option<f64>,
    pub unit: Option<String>,
    pub description: String,
    /// For a derivative, the index of its state in the list.
    pub derivative_of: Option<usize>,
    pub is_state: bool,
}

#[derive(Debug)]
pub struct Variables {
    pub all: Vec<Variable>,
    pub of: FxHashMap<Leaf, usize>,
    /// The indices of the states in order, and of their derivatives.
    pub states: Vec<usize>,
    pub rates: Vec<usize>,
}

/// A name in the naming convention of the standard: `der(C1.e)`, `der(x,2)`.
fn name_of(flat: &Flat, leaf: Leaf) -> String {
    let name = flat.name(leaf.variable());
    match leaf {
        Leaf::Der(_, 1) => format!("der({name})"),
        Leaf::Der(_, order) => format!("der({name},{order})"),
        _ => name,
    }
}

pub fn variables(model: &Model<'_>, c: &C<'_>) -> Variables {
    let flat = model.flat;
    let mut list = List {
        model,
        c,
        discretes: FxHashSet::default(),
        variables: Variables {
            all: vec![Variable {
                name: "Time".to_string(),
                leaf: None,
                place: "m.time".to_string(),
                role: Role::Time,
                boolean: false,
                output: false,
                discrete: false,
                start: None,
                unit: Some("s".to_string()),
                description: String::new(),
                derivative_of: None,
                is_state: false,
            }],
            of: FxHashMap::default(),
            states: Vec::new(),
            rates: Vec::new(),
        },
    };
    for &id in &model.parameters {
        let start = flat.value(id).map(|given| given.value.number());
        list.add(Leaf::Var(id), Role::Parameter, start);
    }
    let mut moving: FxHashSet<VarId> = model.parameters.iter().copied().collect();
    for &id in &model.derived {
        let Some(given) = flat.value(id) else {
            continue;
        };
        let mut follows = false;
        (flat.exprs).leaves(given.expression, |leaf| {
            follows |= moving.contains(&leaf.variable());
        });
        if follows {
            moving.insert(id);
            list.add(Leaf::Var(id), Role::Derived, None);
        } else {
            list.add(Leaf::Var(id), Role::Constant, Some(given.value.number()));
        }
    }
    for (leaf, start) in inputs(model) {
        list.add(leaf, Role::Input, Some(start));
    }
    let selected: FxHashSet<Leaf> = (model.all())
        .flat_map(Model::selected)
        .flat_map(|selected| selected.unknowns.iter().copied())
        .collect();
    let states: FxHashSet<Leaf> = model.states.iter().copied().collect();
    let discretes: FxHashSet<Leaf> = model.discretes.iter().map(|&id| Leaf::Var(id)).collect();
    list.discretes.extend(&model.discretes);
    let written = model.leaves().into_iter();
    for leaf in written.filter(|leaf| model.is_written(leaf.variable())) {
        let start = model.start(leaf);
        let begins = states.contains(&leaf) || discretes.contains(&leaf);
        match begins {
            false => list.add(leaf, Role::Computed, None),
            true if start.expression.is_some() => list.add(leaf, Role::Follows, None),
            // With modes, the given value may have to jump.
            true if selected.contains(&leaf)
                || discretes.contains(&leaf)
                || model.switched.is_some() =>
            {
                list.add(leaf, Role::Guessed, Some(start.value));
            }
            true => list.add(leaf, Role::State, Some(start.value)),
        }
    }
    list.derivatives();
    list.variables
}

/// Inputs and their derivatives, with their values at the start.
pub fn inputs(model: &Model<'_>) -> Vec<(Leaf, f64)> {
    let flat = model.flat;
    let mut all = Vec::new();
    for &(id, given) in &model.inputs {
        let value = match given.map(|given| flat.exprs.node(given)) {
            Some(Node::Number(value)) => value.0,
            Some(Node::Bool(value)) => Value::Bool(value).number(),
            _ => (flat.value(id)).map_or(0.0, |given| given.value.number()),
        };
        all.push((Leaf::Var(id), value));
        let slopes = (model.slopes.iter()).filter(|(leaf, _)| leaf.variable() == id);
        all.extend(slopes.copied());
    }
    all
}

struct List<'l> {
    model: &'l Model<'l>,
    c: &'l C<'l>,
    discretes: FxHashSet<VarId>,
    variables: Variables,
}

impl List<'_> {
    /// Adds a variable once, and only if the program has a place for it.
    fn add(&mut self, leaf: Leaf, role: Role, start: Option<f64>) {
        if self.variables.of.contains_key(&leaf) {
            return;
        }
        let place = self.c.place(leaf);
        let place = match place.strip_prefix("m->") {
            Some(member) => format!("m.{member}"),
            None if place.contains("->") => format!("m.{}", place.replacen("->", ".", 1)),
            None => return,
        };
        self.put(leaf, place, role, start);
    }

    fn put(&mut self, leaf: Leaf, place: String, role: Role, start: Option<f64>) {
        let flat = self.model.flat;
        let variable = flat.variable(leaf.variable());
        let remarks = &flat.declaration(leaf.variable()).remarks;
        let unit = match (&remarks.unit, leaf) {
            (Some(unit), Leaf::Der(_, order)) => times_seconds(unit, -i32::from(order)),
            (Some(unit), _) => Some(unit.trim().to_string()),
            (None, _) => None,
        };
        let boolean = variable.ty == Type::Boolean;
        let description = match leaf {
            Leaf::Var(id) => {
                let doc = flat.declaration(id).doc.as_deref();
                remarks.description.as_deref().or(doc).unwrap_or("").trim()
            }
            _ => "",
        };
        self.variables.of.insert(leaf, self.variables.all.len());
        self.variables.all.push(Variable {
            name: name_of(flat, leaf),
            leaf: Some(leaf),
            place,
            role,
            boolean,
            output: variable.output && matches!(leaf, Leaf::Var(_)) && role != Role::Input,
            discrete: boolean || self.discretes.contains(&leaf.variable()),
            start,
            unit: unit.filter(|unit| !boolean && !unit.is_empty()),
            description: description.to_string(),
            derivative_of: None,
            is_state: false,
        });
    }

    /// Each state has a derivative among the variables.
    fn derivatives(&mut self) {
        for (at, &state) in self.model.states.iter().enumerate() {
            let Some(&of) = self.variables.of.get(&state) else {
                continue;
            };
            let rate = state.rate();
            // A derivative that is a state has a place already; others are among the rates.
            let place = format!("rate[{at}]");
            match self.variables.of.get(&rate).copied() {
                None => self.put(rate, place, Role::Computed, None),
                Some(found) if self.variables.all[found].role == Role::Computed => {
                    self.variables.all[found].place = place;
                }
                Some(_) => {}
            }
            let found = self.variables.of[&rate];
            self.variables.all[found].derivative_of = Some(of);
            self.variables.all[of].is_state = true;
            self.variables.states.push(of);
            self.variables.rates.push(found);
        }
    }
}
