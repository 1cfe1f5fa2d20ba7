//! Declarations: parameters and variables with unit, start value and description.
//!
//! Before: the model to write, and its start. After: a line for each variable, and initial equations for what a
//! declaration cannot express. A start value with `fixed = true` counts as an equation of the start, so only free
//! variables have one; other start values are guesses. Discrete variables start with their start values.

use rustc_hash::{FxHashMap, FxHashSet};

use super::begin::Beginning;
use super::names::string;
use super::text::{Printer, View, number};
use super::units;
use crate::base::unit::times_seconds;
use crate::expr::{ExprId, Node, Value};
use crate::flat::{EquationKind, Flat, Given, Kind, Leaf, Type, VarId};

#[derive(Debug)]
pub struct Declarations<'d> {
    beginning: &'d Beginning,
    flat: &'d Flat,
    printer: &'d Printer<'d>,
    /// Inputs that the experiment gives.
    inputs: &'d FxHashMap<VarId, ExprId>,
    /// `init(x) = v` where v contains variables: initial equations.
    computed: FxHashMap<VarId, ExprId>,
    /// Variables and derivatives that are fixed at the start, with their values if they have one.
    fixed: FxHashMap<Leaf, Option<f64>>,
    /// Free derivatives that no variable equals.
    left: Vec<Leaf>,
    shaping: FxHashSet<VarId>,
}

impl<'d> Declarations<'d> {
    pub fn new(
        beginning: &'d Beginning,
        printer: &'d Printer<'d>,
        inputs: &'d FxHashMap<VarId, ExprId>,
    ) -> Self {
        let flat = &beginning.written;
        let mut computed = FxHashMap::default();
        for equation in &flat.equations {
            if let (Node::Leaf(Leaf::Init(id)), EquationKind::Init) =
                (flat.exprs.node(equation.left), equation.kind)
                && flat.start(id).is_none()
            {
                computed.insert(id, equation.right);
            }
        }
        let mut declarations = Declarations {
            beginning,
            flat,
            printer,
            inputs,
            computed,
            fixed: FxHashMap::default(),
            left: Vec::new(),
            shaping: flat.shaping.iter().copied().collect(),
        };
        declarations.fix();
        declarations
    }

    /// Each degree of freedom is fixed by the variable that has it.
    fn fix(&mut self) {
        let mut free: Vec<Leaf> = self.beginning.free.iter().copied().collect();
        free.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
        let mut stands_for: FxHashMap<Leaf, (VarId, bool)> = FxHashMap::default();
        for id in self.flat.variable_ids() {
            if let Some((leaf, negative)) = self.beginning.same_as(id)
                && self.flat.variable(id).kind.is_unknown()
            {
                stands_for.entry(leaf).or_insert((id, negative));
            }
        }
        for leaf in free {
            let value = self.beginning.values.get(&leaf).copied();
            let order = leaf.order().unwrap_or(0);
            if order == 0 || order < self.flat.variable(leaf.variable()).order {
                self.fixed.insert(leaf, value);
                continue;
            }
            // A variable that equals the derivative.
            let stands = stands_for.get(&leaf).copied();
            match stands {
                Some((id, negative)) => {
                    let value = value.map(|value| if negative { -value } else { value });
                    self.fixed.insert(Leaf::Var(id), value);
                }
                None => self.left.push(leaf),
            }
        }
    }

    /// Constants and parameters; then all others.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let fixed = |id: &VarId| {
            matches!(
                self.flat.variable(*id).kind,
                Kind::Parameter | Kind::Constant
            )
        };
        lines.extend((self.flat.variable_ids().filter(fixed)).map(|id| self.parameter(id)));
        for id in self.flat.variable_ids().filter(|id| !fixed(id)) {
            lines.push(self.variable(id));
            for order in 1..self.flat.variable(id).order {
                lines.push(self.derivative(id, order));
            }
        }
        lines
    }

    fn parameter(&self, id: VarId) -> String {
        let variable = self.flat.variable(id);
        let given = self.flat.value(id);
        let constant = |id: VarId| self.flat.variable(id).kind == Kind::Constant;
        let mut pure = constant(id);
        if let Some(given) = given {
            (self.flat.exprs).leaves(given.expression, |leaf| pure &= constant(leaf.variable()));
        }
        let prefix = match variable.kind {
            _ if pure => "constant",
            // Another value could not change the structure that depends on it. A constant that is computed from
            // parameters is also a final parameter in Modelica.
            Kind::Constant => "final parameter",
            _ if self.shaping.contains(&id) => "final parameter",
            _ => "parameter",
        };
        let value = given.map_or(String::new(), |given| {
            format!(" = {}", self.expression(given.expression))
        });
        let attributes = attributes(&[self.unit(id, 0)]);
        format!(
            "{prefix} {} {}{attributes}{value}{};",
            type_name(variable.ty),
            self.printer.name(id),
            self.description(id)
        )
    }

    fn variable(&self, id: VarId) -> String {
        let variable = self.flat.variable(id);
        let prefix = match (variable.kind, variable.output) {
            (Kind::Input, _) => "input ",
            (Kind::Discrete, true) if variable.ty == Type::Real => "discrete output ",
            (Kind::Discrete, false) if variable.ty == Type::Real => "discrete ",
            (_, true) => "output ",
            (_, false) => "",
        };
        let (mut start, mut fixed) = (self.start(id), false);
        if self.computed.contains_key(&id) {
            start = None;
        } else if variable.kind == Kind::Discrete {
            let nothing = match variable.ty {
                Type::Real => "0",
                Type::Boolean => "false",
            };
            start = start.or(Some(nothing.into()));
            fixed = true;
        } else if self.fixed.contains_key(&Leaf::Var(id)) {
            start = start.or(Some("0".into()));
            fixed = true;
        }
        let attributes = attributes(&[
            self.unit(id, 0),
            start.map(|start| format!("start = {start}")),
            fixed.then(|| "fixed = true".to_string()),
        ]);
        let binding = match self.inputs.get(&id) {
            Some(&given) => format!(" = {}", self.expression(given)),
            None => String::new(),
        };
        let remark = match self.inputs.contains_key(&id) {
            true => " // an input: this is what the experiment gives",
            false => "",
        };
        format!(
            "{prefix}{} {}{attributes}{binding}{};{remark}",
            type_name(variable.ty),
            self.printer.name(id),
            self.description(id)
        )
    }

    /// A variable for a derivative below the highest order.
    fn derivative(&self, id: VarId, order: u8) -> String {
        let leaf = Leaf::at_order(id, order);
        let free = self.fixed.contains_key(&leaf);
        let value = self.beginning.values.get(&leaf).copied();
        let start = value.filter(|value| free || *value != 0.0);
        let start = start.or(free.then_some(0.0));
        let attributes = attributes(&[
            self.unit(id, order),
            start.map(|start| format!("start = {}", number(start, false))),
            free.then(|| "fixed = true".to_string()),
        ]);
        let name = self.printer.derivative(id, order);
        format!("Real {name}{attributes};")
    }

    /// The start value of a variable; `None` if there is none to write.
    fn start(&self, id: VarId) -> Option<String> {
        let leaf = Leaf::Var(id);
        let variable = self.flat.variable(id);
        let given = match variable.kind {
            Kind::Input => self.flat.value(id),
            _ => self.flat.start(id),
        };
        let known = (self.fixed.get(&leaf).copied().flatten())
            .or_else(|| self.beginning.values.get(&leaf).copied());
        let differentiated = variable.order > 0 && variable.kind != Kind::Input;
        let tied = differentiated || self.fixed.contains_key(&leaf);
        match (given, known) {
            (Some(given), Some(value)) if tied && !agrees(given, value) => {
                Some(number(value, false))
            }
            (Some(given), _) => Some(self.expression(given.expression)),
            (None, Some(value)) if tied => {
                let free = self.fixed.contains_key(&leaf);
                (free || value != 0.0).then(|| number(value, false))
            }
            (None, _) => {
                let guess = self.beginning.guesses.get(&leaf).copied();
                guess.filter(|guess| *guess != 0.0).map(rounded)
            }
        }
    }

    /// The initial equations.
    pub fn initial(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for id in self.flat.variable_ids() {
            if let Some(&value) = self.computed.get(&id) {
                let view = View::Event;
                let (name, value) = (self.printer.name(id), self.printer.text(value, view));
                lines.push(format!("{name} = {value};"));
            }
        }
        for &leaf in &self.left {
            let value = self.beginning.values.get(&leaf).copied().unwrap_or(0.0);
            let name = self.printer.leaf(leaf, View::Event);
            lines.push(format!("{name} = {};", number(value, false)));
        }
        lines
    }

    fn expression(&self, id: ExprId) -> String {
        self.printer.text(id, View::Event)
    }

    /// The unit of a derivative, as an attribute.
    fn unit(&self, id: VarId, order: u8) -> Option<String> {
        let written = self.flat.declaration(id).remarks.unit.as_deref()?;
        if self.flat.variable(id).ty == Type::Boolean {
            return None;
        }
        let unit = match order {
            0 => units::unit(written)?,
            _ => units::unit(&times_seconds(written, -i32::from(order))?)?,
        };
        Some(format!("unit = {}", string(&unit)))
    }

    /// The description, with the unit if Modelica does not know it.
    fn description(&self, id: VarId) -> String {
        let remarks = &self.flat.declaration(id).remarks;
        let unit = (remarks.unit.as_deref()).filter(|_| self.unit(id, 0).is_none());
        let text = match (remarks.description.as_deref(), unit) {
            (None, None) => return String::new(),
            (Some(text), None) => text.to_string(),
            (Some(text), Some(unit)) => format!("{text}, in {unit}"),
            (None, Some(unit)) => format!("in {unit}"),
        };
        format!(" {}", string(&text))
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Real => "Real",
        Type::Boolean => "Boolean",
    }
}

fn attributes(list: &[Option<String>]) -> String {
    let list: Vec<&str> = list.iter().flatten().map(String::as_str).collect();
    match list.is_empty() {
        true => String::new(),
        false => format!("({})", list.join(", ")),
    }
}

/// A guess need not be exact.
fn rounded(value: f64) -> String {
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    number(short, false)
}

/// Whether a value equals the given one except for rounding.
fn agrees(given: &Given, value: f64) -> bool {
    let Value::Real(wanted) = given.value else {
        return true;
    };
    (wanted - value).abs() <= 1e-12 * wanted.abs().max(value.abs())
}
