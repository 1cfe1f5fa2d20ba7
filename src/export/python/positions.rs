//! The modes of a model with switches as Python: functions for each mode, and a table of them.
//!
//! After: `_MODES`. `_evaluate` and `_columns` call the functions of the mode that the run is in. A mode computes all
//! variables, also those that it eliminates, because the next mode may begin from them.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::dialect::{Python, Scope};
use super::{Module, tuple, tuple_of};
use crate::base::words::literal;
use crate::export::model::Model;
use crate::export::places::Place;
use crate::export::statements::{Statements, blocks as shared, modes};
use crate::export::switched::{Mode, Switched};
use crate::export::write::Writer;
use crate::flat::Leaf;
use crate::positions::Jump;

impl Module<'_> {
    pub fn modes(&mut self, switched: &Switched<'_>, dialects: &[Python<'_>]) {
        let mut number = 0;
        for (at, (mode, python)) in switched.modes.iter().zip(dialects).enumerate() {
            let mut position = Module::new(&mode.model, python);
            position.states = &self.model.states;
            position.number = number;
            number += mode.model.solved.blocks.len();
            position.evaluate_here(at, self.model, mode);
            python.scope.set(Scope::Values("v"));
            position.columns(&format!("_columns_{at}(t, v, h, s)"));
            // It uses the variables of the model before any are eliminated.
            position.writer = Writer::new(mode.model.flat, &self.model.replacements, python);
            if let Some(jump) = mode.jump {
                position.jump(at, jump);
            }
            self.file.push_str(&position.file);
        }
        self.table(switched);
        self.python.scope.set(Scope::Values("v"));
        let mut bits = Vec::new();
        for (at, switch) in switched.positions.switches.iter().enumerate() {
            bits.push(format!(
                "bool({}) << {at}",
                self.value(switch.condition).text
            ));
        }
        if bits.is_empty() {
            // Without switches there is one mode.
            bits.push("0".to_string());
        }
        let comment = "\n\n# The truths of the switches as bits.";
        self.file.push_str(comment);
        self.function("_key(t, v, h, s)", &format!("return {}", bits.join(" | ")));
        self.python.scope.set(Scope::Locals);
        self.file.push_str(DISPATCH);
    }

    fn evaluate_here(&mut self, at: usize, all: &Model<'_>, mode: &Mode<'_>) {
        self.arguments(all);
        shared::blocks(self);
        shared::eliminated(self, |_| true);
        let mut known = all.kept_in(Place::States);
        known.extend(all.kept_in(Place::Inputs));
        known.extend((all.discretes.iter()).flat_map(|&id| [Leaf::Var(id), Leaf::New(id)]));
        known.extend(all.kept_in(Place::Before));
        known.extend(all.kept_in(Place::Parameters));
        self.line("return {");
        for leaf in known {
            self.shown_as(leaf, &self.place(leaf));
        }
        let rates: FxHashSet<Leaf> = all.states.iter().map(|&state| state.rate()).collect();
        for &leaf in &all.computed {
            let value = match mode.has(leaf) {
                true => self.place(leaf),
                // A state of other modes that has no derivative here is constant.
                false if rates.contains(&leaf) => "0.0".to_string(),
                false => "math.nan".to_string(),
            };
            self.shown_as(leaf, &value);
        }
        self.function(&format!("_evaluate_{at}(t, x, u, p, d, h, s)"), "}");
    }

    /// The system for the jump into a mode, in all variables of the mode.
    fn jump(&mut self, at: usize, jump: &Jump) {
        let size = jump.columns.len();
        self.line(&format!("a = [[0.0] * {size} for _ in range({size})]"));
        self.line(&format!("rest, terms = [0.0] * {size}, [-1.0] * {size}"));
        modes::jump(self, jump);
        let head = format!("_jump_{at}(t, v, s, start, now)");
        self.function(&head, "return rest, terms, a");
        self.line("pass");
        modes::lower(self, jump);
        self.function(&format!("_apart_{at}(t, v, s, sizes)"), "return");
    }

    fn table(&mut self, switched: &Switched<'_>) {
        self.file.push_str(MODE);
        self.file
            .push_str("\n\n# Positions that are possible,\n_MODES = (\n");
        for (at, mode) in switched.modes.iter().enumerate() {
            let name = literal(&switched.positions.position_name(&mode.key));
            let (jump, names) = match mode.jump {
                Some(jump) => (format!("_jump_{at}, _apart_{at}"), names(mode, jump)),
                None => ("None, None".to_string(), "()".to_string()),
            };
            let zero: String = (mode.at_zero.iter())
                .map(|&zero| if zero { "True, " } else { "False, " })
                .collect();
            let _ = writeln!(
                self.file,
                "    _Mode({name}, _evaluate_{at}, _columns_{at}, {jump}, {names}, ({}), ({zero})),",
                sides(switched, mode)
            );
        }
        let keys = tuple_of(switched.by_key.iter().map(i32::to_string));
        let own: String = (switched.own.iter())
            .map(|own| own.map_or("-1, ".to_string(), |at| format!("{at}, ")))
            .collect();
        let hidden = self.model.computed.iter().map(|&leaf| self.shown(leaf));
        let hidden = tuple(hidden.collect::<Vec<_>>());
        let _ = write!(
            self.file,
            ")\n# and where they are, by the truths of the switches as bits.\n_BY_KEY = {keys}\n# Discrete variables that are switches by themselves.\n_OWN = ({own})\n_NAMES = {hidden}\n",
        );
    }
}

/// Names of the variables that jump; empty for those with an impulse.
fn names(mode: &Mode<'_>, jump: &Jump) -> String {
    let all = jump.columns.iter().zip(&jump.impulsive);
    tuple_of(all.map(|(&leaf, &impulsive)| match impulsive {
        true => "None".to_string(),
        false => literal(&mode.model.flat.leaf_name(leaf)),
    }))
}

/// The columns of the sides of relations in the system for the jump.
fn sides(switched: &Switched<'_>, mode: &Mode<'_>) -> String {
    let mut text = String::new();
    for watch in &switched.positions.opened.watches {
        let places =
            [Some(watch.left), watch.right].map(|side| mode.side(side).map_or(-1, |at| at as i64));
        let _ = write!(text, "({}, {}), ", places[0], places[1]);
    }
    text
}

const MODE: &str = r#"


def _number(a):
    return 0.0 if math.isnan(a) else a


class _Mode:
    """A position of the switches: what it computes; the system of what jumps when it begins, its unknowns by name (nothing for what has an
    impulse) and where the sides of relations are among them; relations of what a switch holds at zero."""

    def __init__(self, name, evaluate, columns, jump, apart, names, sides, at_zero):
        self.name, self.evaluate, self.columns, self.jump, self.apart = name, evaluate, columns, jump, apart
        self.names, self.size, self.sides, self.at_zero = names, len(names), sides, at_zero

    def get(self, v):
        return [0.0 if name is None else _number(v.get(name, 0.0)) for name in self.names]

    def put(self, v, z):
        v.update((name, value) for name, value in zip(self.names, z) if name is not None)
"#;

const DISPATCH: &str = r#"

def _evaluate(t, x, u, p, d, h, s):
    if h is None:
        return _as_written(t, x, u, p, d, s)
    s.h = h
    return _MODES[s.position].evaluate(t, x, u, p, d, h, s)


def _as_written(t, x, u, p, d, s):
    """Where nobody says what relations are: the first position in which they are as they are written, from the last one on."""
    for at in [s.position] + list(range(len(_MODES))):
        s.h = [False] * len(RELATIONS)
        try:
            for _ in range(4):
                values = _MODES[at].evaluate(t, x, u, p, d, s.h, s)
                truths = [_decide(kind, a - b) for (kind, _), (a, b) in zip(RELATIONS, _sides(t, values, s.h, s))]
                if truths == s.h:
                    break
                s.h = truths
        except _TROUBLE:
            continue
        if truths == s.h and _BY_KEY[_key(t, values, s.h, s)] == at:
            s.position = at
            return values
    raise ModelError("no position of the switches is consistent", "", t)


def _columns(t, v, h, s):
    return _MODES[s.position].columns(t, v, h, s)
"#;
