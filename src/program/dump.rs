//! A program as lines: what has a value from the start, then code in the order in which it runs.
//!
//! ```text
//! x4 Mul x1 x3
//! continuous: 2 steps, 1 for rates, 2 for relations
//! system of b3 [x5, x6]
//!   A[0, 1] = x9
//! ```

use std::fmt::{self, Debug, Write};

use super::code::{Instruction, Op, Register};
use super::{Part, Program, Step, WhenAction};
use crate::expr::show_number;
use crate::flat::Flat;
use crate::flat::dump::Shown;

/// A register: prints as `x12`.
#[derive(Clone, Copy)]
pub struct X(pub Register);

impl Debug for X {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

fn list(registers: &[Register]) -> String {
    let all: Vec<X> = registers.iter().copied().map(X).collect();
    format!("{all:?}")
}

/// The program as lines; with the names of variables if the model is given.
pub fn dump(program: &Program, flat: Option<&Flat>) -> String {
    let name = |leaf| flat.map_or_else(String::new, |flat| format!(" {}", flat.leaf_name(leaf)));
    let mut out = format!("program: {} registers\n", program.registers.len());
    let _ = writeln!(out, "{:?} Time", X(Program::TIME));
    for (at, &state) in program.states.iter().enumerate() {
        let register = X(Program::TIME + 1 + at as Register);
        let _ = writeln!(out, "{register:?} state {}{}", Shown(state), name(state));
    }
    for (at, slots) in program.slots.iter().enumerate() {
        let first = slots.first;
        let _ = writeln!(
            out,
            "selection {at}: {} states from {first} on",
            slots.count
        );
        for one in &slots.candidates {
            let [value, rate, event] = [one.value, one.rate, one.event_rate].map(X);
            let (leaf, name) = (Shown(one.leaf), name(one.leaf));
            let _ = writeln!(
                out,
                "  {value:?} {leaf}{name} rate {rate:?} event {event:?}"
            );
        }
    }
    for &literal in &program.literals {
        let value = program.registers.get(literal as usize);
        let value = show_number(value.copied().unwrap_or(f64::NAN));
        let _ = writeln!(out, "{:?} = {value}", X(literal));
    }
    for &(leaf, register) in &program.given {
        let value = program.registers.get(register as usize);
        let value = show_number(value.copied().unwrap_or(f64::NAN));
        let _ = writeln!(
            out,
            "{:?} given {}{} = {value}",
            X(register),
            Shown(leaf),
            name(leaf)
        );
    }
    for discrete in &program.discretes {
        let next = discrete.next.map(X);
        let (leaf, name) = (Shown(discrete.leaf), name(discrete.leaf));
        let _ = writeln!(
            out,
            "{:?} discrete {leaf}{name} next {next:?}",
            X(discrete.value)
        );
    }
    for &(kept, now) in &program.pres {
        let _ = writeln!(out, "{:?} before an event {:?}", X(kept), X(now));
    }
    for (at, table) in program.tables.iter().enumerate() {
        let (xs, ys) = (list(&table.xs), list(&table.ys));
        let _ = writeln!(out, "table {at}: {xs} {ys}");
    }
    code("once", &program.once, &mut out);
    code("held", &program.held, &mut out);
    let (steps, rates) = (program.continuous.steps.len(), program.rate_steps);
    let watches = program.watch_steps;
    let _ = writeln!(
        out,
        "continuous: {steps} steps, {rates} for rates, {watches} for relations"
    );
    part(&program.continuous, &mut out);
    let _ = writeln!(out, "rates {}", list(&program.rates));
    let _ = writeln!(out, "columns {}", list(&program.columns));
    let _ = writeln!(out, "event: {} steps", program.event.steps.len());
    part(&program.event, &mut out);
    let _ = writeln!(out, "rates {}", list(&program.event_rates));
    events(program, &mut out);
    out
}

fn code(title: &str, code: &[Instruction], out: &mut String) {
    if !code.is_empty() {
        let _ = writeln!(out, "{title}:");
        lines(code, "  ", out);
    }
}

fn lines(code: &[Instruction], indent: &str, out: &mut String) {
    for instruction in code {
        let Instruction { op, to, a, b, c } = *instruction;
        let (to, a, b, c) = (X(to), X(a), X(b), X(c));
        let _ = match op {
            Op::Copy | Op::Negate | Op::Not | Op::Square => {
                writeln!(out, "{indent}{to:?} {op:?} {a:?}")
            }
            Op::Whole => writeln!(out, "{indent}{to:?} {op:?} {a:?} {}", b.0 as i32),
            Op::Table => writeln!(out, "{indent}{to:?} {op:?} {} {a:?}", b.0),
            Op::Select => writeln!(out, "{indent}{to:?} {op:?} {c:?} {a:?} {b:?}"),
            // Functions of one argument have it twice.
            _ if b.0 == a.0 && is_function(op) => writeln!(out, "{indent}{to:?} {op:?} {a:?}"),
            _ => writeln!(out, "{indent}{to:?} {op:?} {a:?} {b:?}"),
        };
    }
}

fn is_function(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Exp
            | Ln
            | Log10
            | Sqrt
            | Abs
            | Sign
            | Floor
            | Ceil
    )
}

fn part(part: &Part, out: &mut String) {
    for step in &part.steps {
        match step {
            Step::Code(range) => lines(part.code.get(range.clone()).unwrap_or(&[]), "  ", out),
            Step::System(at) => {
                let Some(system) = part.systems.get(*at) else {
                    continue;
                };
                let unknowns = list(&system.unknowns);
                let _ = writeln!(out, "  system {at} of b{} {unknowns}", system.block);
                for (&register, (row, column)) in &system.matrix {
                    let _ = writeln!(out, "    A[{row}, {column}] {:?}", X(register));
                }
                let _ = writeln!(out, "    b {}", list(&system.right));
            }
            Step::Loop(at) => {
                let Some(of) = part.loops.get(*at) else {
                    continue;
                };
                let (unknowns, selections) = (list(&of.unknowns), &of.selections);
                let _ = write!(out, "  loop {at} of b{} {unknowns}", of.block);
                if !selections.is_empty() {
                    let _ = write!(out, " selections {selections:?}");
                }
                out.push('\n');
                lines(&of.code, "    ", out);
                let _ = writeln!(out, "    residuals {}", list(&of.residuals));
            }
        }
    }
    if !part.guards.is_empty() {
        let _ = writeln!(out, "guards {}", list(&part.guards));
    }
}

fn events(program: &Program, out: &mut String) {
    for (at, watch) in program.watches.iter().enumerate() {
        let (kind, node, held) = (watch.kind, watch.node, X(watch.held));
        let both = |(left, right)| (X(left), X(right));
        let (sides, event) = (both(watch.sides), both(watch.event_sides));
        let timed = if watch.timed { " timed" } else { "" };
        let _ = writeln!(
            out,
            "watch {at}: {kind:?} {node:?} {held:?} sides {sides:?} event {event:?}{timed}"
        );
    }
    for sampler in &program.samplers {
        let [held, start, period] = [sampler.held, sampler.start, sampler.period].map(X);
        let _ = writeln!(out, "sampler {held:?} start {start:?} period {period:?}");
    }
    for when in &program.whens {
        let _ = writeln!(out, "{:?}", when.id);
        for (condition, actions) in &when.branches {
            let _ = writeln!(out, "  branch {:?}", X(*condition));
            for action in actions {
                let _ = match *action {
                    WhenAction::New {
                        to,
                        value,
                        equation,
                        ..
                    } => {
                        writeln!(out, "    {equation:?} new {:?} {:?}", X(to), X(value))
                    }
                    WhenAction::Restart {
                        state,
                        value,
                        equation,
                    } => {
                        let state = Shown(state);
                        writeln!(out, "    {equation:?} restart {state} {:?}", X(value))
                    }
                };
            }
        }
    }
    for &(leaf, register) in &program.frame {
        let _ = writeln!(out, "frame {} {:?}", Shown(leaf), X(register));
    }
    if !program.conditions.is_empty() {
        let _ = writeln!(out, "switches {}", list(&program.conditions));
    }
}
