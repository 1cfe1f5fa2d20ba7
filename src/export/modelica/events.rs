//! What happens at events: `when`, `reinit`, next values of discrete variables.
//!
//! Before: the equations of the flat model that belong to events. After: the same as `when` equations of Modelica (3.6, section 8.3.5). What
//! is the same in both languages is written as it is. What is not:
//! - a branch of an `elsewhen` acts here if the earlier conditions are false, there if they do not become true at the same moment: so it
//!   changes nothing while one of them is true;
//! - there all branches set the same variables: what a branch does not set stays;
//! - there a state is restarted in one `when` only: several are put together as its branches, the last first, as the last counts; where
//!   one of them is an `elsewhen` that may not act, conditions get names, and one branch chooses;
//! - a real number with its `new(x)` outside `when` is set, there, when a condition that it reads changes.

use rustc_hash::FxHashMap;

use super::super::Refusal;
use super::begin::Beginning;
use super::exclude::exclude;
use super::names::quoted;
use super::text::{Printer, View};
use crate::expr::op::precedence as level;
use crate::expr::{BinaryOp, ExprId, Function, Node};
use crate::flat::{Equation, EquationKind, Flat, Kind, Leaf, VarId, WhenId};

/// A branch, by the place of its `when` and its own.
type Place = (usize, usize);

#[derive(Debug)]
pub struct Events<'e> {
    flat: &'e Flat,
    beginning: &'e Beginning,
    printer: &'e Printer<'e>,
    /// The equations of each branch of each `when`.
    branches: Vec<Vec<Vec<Equation>>>,
    /// What each `when` sets, in the order of its equations.
    targets: Vec<Vec<VarId>>,
    /// States that several `when`s restart, with all restarts.
    shared: Vec<(VarId, Vec<(Place, Equation)>)>,
}

impl<'e> Events<'e> {
    pub fn new(beginning: &'e Beginning, printer: &'e Printer<'e>) -> Self {
        let flat = &beginning.written;
        let mut branches: Vec<Vec<Vec<Equation>>> = (flat.whens.iter())
            .map(|when| vec![Vec::new(); when.conditions.len()])
            .collect();
        let mut targets = vec![Vec::new(); flat.whens.len()];
        let mut restarts: Vec<(VarId, Vec<(Place, Equation)>)> = Vec::new();
        let mut places: FxHashMap<VarId, usize> = FxHashMap::default();
        for &equation in &flat.equations {
            let EquationKind::When(WhenId(when), branch) = equation.kind else {
                continue;
            };
            let place = (when as usize, branch as usize);
            branches[place.0][place.1].push(equation);
            match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::New(id)) if !targets[place.0].contains(&id) => {
                    targets[place.0].push(id);
                }
                Node::Leaf(Leaf::Init(id)) => {
                    let at = *places.entry(id).or_insert_with(|| {
                        restarts.push((id, Vec::new()));
                        restarts.len() - 1
                    });
                    restarts[at].1.push((place, equation));
                }
                _ => {}
            }
        }
        restarts.retain(|(_, all)| all.iter().any(|((when, _), _)| *when != all[0].0.0));
        Events {
            flat,
            beginning,
            printer,
            branches,
            targets,
            shared: restarts,
        }
    }

    /// Conditions that have names: Boolean variables, their conditions, and whether they can stay true. A condition
    /// that stays true may be true at the start, and then it has not just become true.
    pub fn named(&self) -> Vec<(String, String, bool)> {
        let mut found = Vec::new();
        for when in 0..self.branches.len() {
            if self.has_names(when) {
                for branch in 0..self.branches[when].len() {
                    let condition = self.condition(when, branch);
                    let text = self.printer.text(condition, self.view(when));
                    let name = self.condition_name((when, branch));
                    found.push((name, text, !self.is_momentary(condition)));
                }
            }
        }
        found
    }

    fn has_names(&self, when: usize) -> bool {
        let chosen = self.shared.iter().filter(|(_, all)| self.is_chosen(all));
        (chosen.flat_map(|(_, all)| all)).any(|((other, _), _)| *other == when)
    }

    /// Whether one of several restarts may not act although its condition becomes true: then another one may have to
    /// act.
    fn is_chosen(&self, restarts: &[(Place, Equation)]) -> bool {
        restarts.iter().any(|&((when, branch), _)| {
            let own = self.condition(when, branch);
            (0..branch).any(|at| self.may_last(self.condition(when, at), own))
        })
    }

    fn condition_name(&self, (when, branch): Place) -> String {
        match branch {
            0 => quoted(&format!("when {}", when + 1)),
            _ => quoted(&format!("when {}, elsewhen {branch}", when + 1)),
        }
    }

    fn condition(&self, when: usize, branch: usize) -> ExprId {
        self.flat.whens[when].conditions[branch].0
    }

    /// If a condition uses the value before the event, it is meant to notice the change. Then the condition, and the
    /// actions, read next values.
    fn view(&self, when: usize) -> View<'_> {
        let mut before = false;
        for &(condition, _) in &self.flat.whens[when].conditions {
            (self.flat.exprs).leaves(condition, |leaf| before |= matches!(leaf, Leaf::Pre(_)));
        }
        match before {
            true => View::Only(&self.targets[when]),
            false => View::Event,
        }
    }

    fn condition_text(&self, (when, branch): Place, least: u8) -> String {
        match self.has_names(when) {
            true => self.condition_name((when, branch)),
            false => {
                let condition = self.condition(when, branch);
                self.printer.at_least(condition, least, self.view(when))
            }
        }
    }

    /// Earlier conditions that can be true while this one becomes true.
    fn earlier(&self, (when, branch): Place) -> Option<String> {
        let own = self.condition(when, branch);
        let texts: Vec<String> = (0..branch)
            .filter(|&at| self.may_last(self.condition(when, at), own))
            .map(|at| self.condition_text((when, at), level::AND))
            .collect();
        (!texts.is_empty()).then(|| texts.join(" or "))
    }

    /// Whether the condition of an earlier branch can have been true for a while when the own condition becomes true.
    fn may_last(&self, earlier: ExprId, own: ExprId) -> bool {
        !self.is_momentary(earlier) && !exclude(self.flat, earlier, own)
    }

    /// Whether it is true only at single moments, at which it becomes true.
    fn is_momentary(&self, mut id: ExprId) -> bool {
        loop {
            match self.flat.exprs.node(id) {
                Node::Call(Function::Sample, _) => return true,
                Node::Binary(BinaryOp::And, a, b) => match self.flat.exprs.node(b) {
                    Node::Call(Function::Sample, _) => return true,
                    _ => id = a,
                },
                _ => return false,
            }
        }
    }

    /// The `when` itself, as lines.
    pub fn when(&self, WhenId(when): WhenId) -> Vec<String> {
        let when = when as usize;
        let mut lines = Vec::new();
        let mut some = false;
        for (branch, equations) in self.branches[when].iter().enumerate() {
            let word = if branch == 0 { "when" } else { "elsewhen" };
            let condition = self.condition_text((when, branch), level::IF);
            lines.push(format!("{word} {condition} then"));
            let body = self.body((when, branch), equations);
            some |= !body.is_empty();
            lines.extend(body);
        }
        lines.push("end when;".into());
        if some { lines } else { Vec::new() }
    }

    fn body(&self, place: Place, equations: &[Equation]) -> Vec<String> {
        let view = self.view(place.0);
        let guard = self.earlier(place);
        let guarded = |otherwise: &str, value: ExprId| match &guard {
            None => self.printer.text(value, view),
            Some(guard) => {
                let value = self.printer.at_least(value, level::OR, view);
                format!("if {guard} then {otherwise} else {value}")
            }
        };
        let mut lines = Vec::new();
        let sets = |equation: &Equation, id: VarId| {
            self.flat.exprs.node(equation.left) == Node::Leaf(Leaf::New(id))
        };
        for &id in &self.targets[place.0] {
            let name = self.printer.name(id);
            let before = format!("pre({name})");
            let value = match equations.iter().find(|equation| sets(equation, id)) {
                Some(equation) => guarded(&before, equation.right),
                None => before,
            };
            lines.push(format!("  {name} = {value};"));
        }
        for equation in equations {
            if let Node::Leaf(Leaf::Init(id)) = self.flat.exprs.node(equation.left)
                && !self.shared.iter().any(|(shared, _)| *shared == id)
            {
                let value = guarded(self.printer.name(id), equation.right);
                lines.push(format!("  {}", self.reinit(id, &value)));
            }
        }
        lines
    }

    /// Only a differentiated variable can be restarted. It is written instead of a variable that equals it.
    fn reinit(&self, id: VarId, value: &str) -> String {
        let same = self.beginning.same_as(id);
        match same.filter(|_| self.flat.variable(id).order == 0) {
            Some((Leaf::Var(state), false)) => {
                format!("reinit({}, {value});", self.printer.name(state))
            }
            Some((Leaf::Var(state), true)) => {
                format!("reinit({}, -({value}));", self.printer.name(state))
            }
            _ => format!("reinit({}, {value});", self.printer.name(id)),
        }
    }

    /// Restarts of one state by several `when`s: of those that act at the same moment the last one holds.
    pub fn restarts(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (id, all) in &self.shared {
            if self.is_chosen(all) {
                lines.extend(self.choice(*id, all));
                continue;
            }
            for (at, &(place, equation)) in all.iter().rev().enumerate() {
                let word = if at == 0 { "when" } else { "elsewhen" };
                let condition = self.condition_text(place, level::IF);
                let value = self.printer.text(equation.right, self.view(place.0));
                lines.push(format!("{word} {condition} then"));
                lines.push(format!("  {}", self.reinit(*id, &value)));
            }
            lines.push("end when;".into());
        }
        lines
    }

    /// One branch that chooses among restarts by the conditions that become true.
    fn choice(&self, id: VarId, all: &[(Place, Equation)]) -> [String; 3] {
        let mut names: Vec<String> = Vec::new();
        let mut value = String::new();
        for &(place, equation) in all {
            let name = self.condition_name(place);
            let acts = match self.earlier(place) {
                None => format!("edge({name})"),
                Some(earlier) => format!("edge({name}) and not ({earlier})"),
            };
            let text = (self.printer).at_least(equation.right, level::OR, self.view(place.0));
            let rest = match value.is_empty() {
                true => format!(" else {}", self.printer.name(id)),
                false => format!(" else{value}"),
            };
            value = format!("if {acts} then {text}{rest}");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        [
            format!("when {{{}}} then", names.join(", ")),
            format!("  {}", self.reinit(id, &value)),
            "end when;".into(),
        ]
    }

    /// `new(x) = ...` outside `when`.
    pub fn next(&self, id: VarId, value: ExprId) -> Result<Vec<String>, Refusal> {
        let name = self.printer.name(id);
        if self.flat.is_boolean(value) {
            let value = self.printer.text(value, View::Event);
            return Ok(vec![format!("{name} = {value};")]);
        }
        let own = [id];
        let view = View::Only(&own);
        let mut triggers = vec!["initial()".to_string()];
        let mut work = vec![(value, true)];
        while let Some((at, alone)) = work.pop() {
            let refuse = |why: &str| {
                let (name, text) = (self.flat.name(id), self.flat.expression(at));
                Refusal(format!(
                    "`new({name})` outside a `when` reads `{text}`, {why}"
                ))
            };
            match self.flat.exprs.node(at) {
                _ if self.flat.is_boolean(at) => {
                    let text = self.printer.text(at, view);
                    let negated = format!("not {}", self.printer.at_least(at, level::ATOM, view));
                    for trigger in [text, negated] {
                        if !triggers.contains(&trigger) {
                            triggers.push(trigger);
                        }
                    }
                }
                Node::If(condition, a, b) => {
                    work.extend([(b, alone), (a, alone), (condition, false)]);
                }
                Node::Leaf(Leaf::Var(other)) if other == id => {
                    if !alone {
                        return Err(refuse("and computes with it: Modelica would do so once"));
                    }
                }
                Node::Leaf(leaf) => match self.flat.variable(leaf.variable()).kind {
                    Kind::Parameter | Kind::Constant => {}
                    Kind::Discrete => {
                        let text = format!("change({})", self.printer.name(leaf.variable()));
                        if !triggers.contains(&text) {
                            triggers.push(text);
                        }
                    }
                    _ => {
                        return Err(refuse(
                            "which moves: at which events it is read Modelica cannot say",
                        ));
                    }
                },
                Node::Time => {
                    return Err(refuse(
                        "which moves: at which events it is read Modelica cannot say",
                    ));
                }
                _ => {
                    let mut operands = Vec::new();
                    self.flat.exprs.operands(at, &mut operands);
                    work.extend(operands.into_iter().map(|operand| (operand, false)));
                }
            }
        }
        Ok(vec![
            format!("when {{{}}} then", triggers.join(", ")),
            format!("  {name} = {};", self.printer.text(value, view)),
            "end when;".into(),
        ])
    }
}
