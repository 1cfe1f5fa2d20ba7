//! Products and powers.

use super::form::{Form, Known, Misuse, Walker, multiply};
use crate::base::unit::{Measure, Power};
use crate::expr::ExprId;

impl<K: Known> Walker<'_, K> {
    pub(super) fn no_offset(&mut self, expr: ExprId, form: &Form) {
        let offset = form.measure.offset;
        if self.offsets && !offset.is_nan() && offset != 0.0 {
            self.misuse(expr, Misuse::Product);
        }
    }

    /// a times b to a power.
    pub(super) fn product(&mut self, a: ExprId, b: ExprId, power: Power) {
        let second = self.pop();
        let first = self.pop();
        let mut offset = 0.0;
        if self.offsets {
            let scales = second.bare && power.as_whole().is_some();
            match (first.bare, scales) {
                (false, true) if first.measure.offset != 0.0 => {
                    let value = self.value(b).unwrap_or(f64::NAN);
                    offset = first.measure.offset
                        * if power == Power::ONE {
                            value
                        } else {
                            1.0 / value
                        };
                }
                (true, _) if second.measure.offset != 0.0 && power == Power::ONE => {
                    offset = second.measure.offset * self.value(a).unwrap_or(f64::NAN);
                }
                _ => {
                    self.no_offset(a, &first);
                    self.no_offset(b, &second);
                }
            }
        }
        let raised = second.measure.raised(power);
        let mut open = first.open;
        let (Some(raised), Some(())) = (raised, multiply(&mut open, &second.open, power)) else {
            return self.forms.push(Form::bare());
        };
        let mut measure = first.measure.times(&raised);
        measure.offset = offset;
        self.forms.push(Form {
            measure,
            open,
            // The root of a number is a number; the sign of a square root's operand that is missing is none.
            number: first.number || second.number || (first.bare != second.bare && a != b),
            bare: first.bare && second.bare,
        });
    }

    pub(super) fn power(&mut self, base: ExprId, exponent: ExprId) {
        let raised_to = self.pop();
        let form = self.pop();
        self.powers = true;
        self.plain(exponent, raised_to);
        if form.bare {
            return self.forms.push(form);
        }
        let value = match self.is_timeless(exponent) {
            true => self.value(exponent),
            false => None,
        };
        let Some(value) = value else {
            self.plain(base, form);
            return self.forms.push(Form::of(Measure::PLAIN));
        };
        if value != 1.0 {
            self.no_offset(base, &form);
        }
        let power = Power::near(value);
        let mut open = Vec::new();
        let raised = power.and_then(|power| {
            multiply(&mut open, &form.open, power)?;
            form.measure.raised(power)
        });
        self.forms.push(match raised {
            Some(measure) => Form {
                measure,
                open,
                number: form.number,
                bare: false,
            },
            // A power such as 1.37 of a unit: nothing can be said.
            None if form.open.is_empty() && form.measure.is_plain() => Form::of(Measure::PLAIN),
            None => Form::bare(),
        });
    }
}
