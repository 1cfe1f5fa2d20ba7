//! Sizes, bounds and indices: which variable a name means in an instance.

use super::class::{Class, Slot, Template};
use super::instance::Tree;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::intern::Symbol;
use crate::base::source::Span;
use crate::expr::{ExprId, Value, show_number};

impl<'c> Tree<'c> {
    /// The variable that a leaf means in an instance.
    pub fn variable(
        &mut self,
        class: &'c Class,
        instance: u32,
        slot: Slot,
        span: Span,
        index: &dyn Fn(ExprId) -> Value,
    ) -> Option<u32> {
        match slot {
            Slot::Own { slot, index: None } => {
                let run = self.slot(instance, slot);
                Some(self.placed(run, span)?.first)
            }
            Slot::Own {
                slot,
                index: Some(at),
            } => {
                let run = self.slot(instance, slot);
                let run = self.placed(run, span)?;
                let element = self.element(index(at), run.size, span)?;
                Some(run.first + element)
            }
            Slot::Deep(deep) => {
                let deep = &class.code.deep[deep as usize];
                let mut instance = instance;
                for &(step, at) in &deep.steps {
                    let run = self.child(instance, step);
                    let run = self.placed(run, span)?;
                    let element = match at {
                        None => 0,
                        Some(at) => self.element(index(at), run.size, span)?,
                    };
                    instance = run.first + element;
                }
                let run = self.slot(instance, deep.slot);
                let run = self.placed(run, span)?;
                let element = match deep.index {
                    None => 0,
                    Some(at) => self.element(index(at), run.size, span)?,
                };
                Some(run.first + element)
            }
            Slot::Loop(_) | Slot::Unknown => None,
        }
    }

    fn placed<T>(&mut self, run: Option<T>, span: Span) -> Option<T> {
        if run.is_none() {
            self.diagnostics.push(
                Diagnostic::new(
                    Code::BadSize,
                    "a size depends on something that is made later",
                )
                .at(span, "not there yet when the size is needed")
                .hint("let it depend on single parameters of the model itself"),
            );
        }
        run
    }

    /// An index, from 1 on, as an offset from 0 on.
    pub fn element(&mut self, index: Value, size: u32, span: Span) -> Option<u32> {
        let (message, problem) = match index {
            Value::Real(number) if number.fract() != 0.0 || !number.is_finite() => (
                "an array index is not a whole number",
                format!("the index is {}", show_number(number)),
            ),
            Value::Real(number) if number >= 1.0 && number <= f64::from(size) => {
                return Some(number as u32 - 1);
            }
            Value::Real(number) => {
                let range = match size {
                    0 => "the array is empty".to_string(),
                    _ => format!("it must lie from 1 to {size}"),
                };
                (
                    "an array index lies outside its bounds",
                    format!("the index is {}; {range}", show_number(number)),
                )
            }
            Value::Bool(_) => (
                "an array index is not a number",
                format!("the index is {index}"),
            ),
        };
        self.diagnostics
            .push(Diagnostic::new(Code::IndexBounds, message).at(span, problem));
        None
    }

    /// A value that shapes the model: what is read for it is noted.
    pub fn shaping_value(&mut self, instance: u32, root: ExprId, loops: &[f64]) -> Option<Value> {
        let outer = std::mem::replace(&mut self.is_shaping, true);
        let value = self.value(instance, root, loops);
        self.is_shaping = outer;
        value
    }

    /// The size of an array.
    pub fn size(&mut self, instance: u32, size: Template, name: Symbol) -> Option<u32> {
        let value = self.shaping_value(instance, size.root, &[])?;
        let span = self.class(instance).code.span(size);
        let text = self.text(name);
        let problem = match value {
            Value::Real(number) if !number.is_finite() || number.fract() != 0.0 => {
                "is not a whole number"
            }
            Value::Real(number) if number < 0.0 => "is negative",
            Value::Real(number) if number < f64::from(u32::MAX) => return Some(number as u32),
            Value::Real(_) => {
                self.within_limit(usize::MAX, 1, span, "elements of arrays")?;
                return None;
            }
            Value::Bool(_) => "is no number",
        };
        self.diagnostics.push(
            Diagnostic::new(Code::BadSize, format!("the size of `{text}` {problem}"))
                .at(span, format!("gives {value}")),
        );
        None
    }

    /// The bounds of a `for`, both included.
    pub fn bounds(
        &mut self,
        instance: u32,
        from: Template,
        to: Template,
        loops: &[f64],
    ) -> Option<(i64, i64)> {
        let mut ends = [0i64; 2];
        for (end, template) in ends.iter_mut().zip([from, to]) {
            let value = self.shaping_value(instance, template.root, loops)?;
            match value {
                Value::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                    *end = number as i64;
                }
                _ => {
                    let span = self.class(instance).code.span(template);
                    self.diagnostics.push(
                        Diagnostic::new(Code::BadSize, "a bound of a `for` is not a whole number")
                            .at(span, format!("gives {value}")),
                    );
                    return None;
                }
            }
        }
        let count = (ends[1] - ends[0] + 1).max(0) as usize;
        let span = self.class(instance).code.span(to);
        self.turns = self.turns.saturating_add(count);
        self.within_limit(self.turns, 1, span, "turns of `for`")?;
        Some((ends[0], ends[1]))
    }
}
