//! The variables of an FMU: what each is by the rules of FMI 2.0, and where the program keeps it.
//!
//! Before: a [`Model`]. After: a list in a fixed order; the reference of a variable is its place in it. No two share a reference:
//! what equals another has a place of its own in the program.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::unit::times_seconds;
use crate::export::c::C;
use crate::export::model::Model;
use crate::expr::{Node, Value};
use crate::flat::{Flat, Leaf, Type, VarId};

/// What may be done with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Computed.
    Computed,
    /// Computed from parameters, once.
    Derived,
    /// A number that never changes.
    Constant,
    /// May be set at any event.
    Parameter,
    /// Has a start value, which may be set before the start: a state.
    State,
    /// The same, and the start may move it.
    Guessed,
    /// A start value that follows parameters.
    Follows,
    Input,
    /// Time itself.
    Time,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub leaf: Option<Leaf>,
    /// Where the program keeps it, in what an instance keeps.
    pub place: String,
    pub role: Role,
    pub boolean: bool,
    pub output: bool,
    /// Changes at events only.
    pub discrete: bool,
    /// Where it has one.
    pub start: Option<f64>,
    pub unit: Option<String>,
    pub description: String,
    /// The state whose derivative it is, by its place in the list.
    pub derivative_of: Option<usize>,
    pub is_state: bool,
}

#[derive(Debug)]
pub struct Variables {
    pub all: Vec<Variable>,
    pub of: FxHashMap<Leaf, usize>,
    /// Of the states in their order, and of their derivatives.
    pub states: Vec<usize>,
    pub rates: Vec<usize>,
}

/// `der(C1.e)`, `der(x,2)`: as the naming convention of the standard has it.
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
            // Where switches have positions, what is given may have to jump.
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
    /// Once each, and only what the program has a place for.
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
            // One that is a state itself stays where it is; others are where the derivatives are.
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
