//! The words of messages about units.

use super::form::{Misuse, Misused};
use super::number;
use super::report::{Derivation, leaves};
use super::spread::{Cause, Found, Origin, Spread};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Sources;
use crate::base::unit::{Measure, Power, text};
use crate::expr::{BinaryOp, ExprId, Node, UnaryOp, show_briefly};
use crate::flat::{Leaf, Literal, VarId};

/// The most places that a message shows besides its own.
const PLACES: usize = 4;

pub struct Words<'w, 's> {
    pub spread: &'w Spread<'s>,
    pub sources: &'w Sources,
}

impl Words<'_, '_> {
    /// `g*m`, with values with units as they were written.
    fn shown(&self, expr: ExprId) -> String {
        let flat = self.spread.flat;
        let mut shown = flat.expression(expr);
        for id in leaves(self.spread, expr) {
            if self.spread.literal(id).is_some() {
                let unit = flat.names.name(flat.declaration(id).name);
                shown = shown.replace(&format!("*{unit}"), &format!(" '{unit}'"));
            }
        }
        match shown.chars().count() > 60 {
            true => format!("{}...", shown.chars().take(57).collect::<String>()),
            false => shown,
        }
    }

    /// The unit of a variable as it was declared, or as it follows.
    fn unit_of(&self, id: VarId) -> String {
        let flat = self.spread.flat;
        if let Some(declared) = flat.declaration(id).remarks.unit.as_deref()
            && self.spread.causes[id.index()] == Cause::Declared
        {
            return declared.to_string();
        }
        self.spread.measures[id.index()].map_or("1".to_string(), |measure| text(&measure))
    }

    /// The unit of an expression: `V`, or `plain`.
    fn unit(&self, expr: ExprId) -> String {
        if let Some(id) = self.spread.leaf(expr) {
            return named(&self.unit_of(id));
        }
        let mut walker = super::form::Walker::new(self.spread.flat, self.spread);
        let span = self.spread.flat.instances[0].span;
        let form = walker.form(expr, span);
        named(&text(&form.measure.of_differences()))
    }

    /// Where the units of a message come from, the nearest first.
    fn explained(&self, mut diagnostic: Diagnostic, derivation: &Derivation) -> Diagnostic {
        let flat = self.spread.flat;
        let mut places = 0;
        for &id in &derivation.inferred {
            let Cause::Pair(at) = self.spread.causes[id.index()] else {
                continue;
            };
            if places < PLACES {
                let span = self.spread.kept[at as usize].pair.span;
                let text = format!("from here `{}` is in {}", flat.name(id), self.unit_of(id));
                diagnostic = diagnostic.at(span, text);
                places += 1;
            }
        }
        for &id in &derivation.declared {
            if places < 2 * PLACES && self.spread.literal(id).is_none() {
                let text = format!("`{}` is in {}", flat.name(id), self.unit_of(id));
                diagnostic = diagnostic.at(flat.declaration(id).span, text);
                places += 1;
            }
        }
        diagnostic
    }

    pub fn meeting(&self, found: &Found, derivation: &Derivation) -> Diagnostic {
        let pair = &found.pair;
        let a = self.shown(pair.a);
        let unit = self.unit(pair.a);
        let (message, label) = match (found.origin, pair.b) {
            (Origin::Equation(_), Some(b)) => (
                format!(
                    "`{a}` in {unit} is connected to `{}` in {}",
                    self.shown(b),
                    self.unit(b)
                ),
                "in this connection",
            ),
            (_, Some(b)) => (
                format!("`{a}` is in {unit}, the value given is in {}", self.unit(b)),
                "this value",
            ),
            (_, None) => (
                format!("`{a}` is in {unit} where a plain number is wanted"),
                "here",
            ),
        };
        let diagnostic = Diagnostic::new(Code::UnitsMeet, message).at(pair.span, label);
        let diagnostic = self.explained(diagnostic, derivation);
        match found.origin {
            Origin::Equation(_) => diagnostic.hint(
                "what joins two domains is a transformer or a gyrator; what is the same in both has one unit",
            ),
            _ => diagnostic,
        }
    }

    pub fn different(&self, found: &Found, ratio: &Measure, derivation: &Derivation) -> Diagnostic {
        let pair = &found.pair;
        let (a, unit) = (self.shown(pair.a), self.unit(pair.a));
        let Some(b) = pair.b else {
            let message = format!("`{a}` is in {unit} where a plain number is wanted");
            let diagnostic =
                Diagnostic::new(Code::UnitsDiffer, message).at(pair.span, "in this equation");
            return self.explained(diagnostic, derivation).hint(format!(
                "divide it by something in {}",
                text(&ratio.of_differences())
            ));
        };
        let message = format!(
            "`{a}` is in {unit} and `{}` in {}",
            self.shown(b),
            self.unit(b)
        );
        let label = match found.origin {
            Origin::Condition => "in this condition",
            Origin::Value(_) => "in this value",
            _ => "in this equation",
        };
        let diagnostic = Diagnostic::new(Code::UnitsDiffer, message).at(pair.span, label);
        let diagnostic = self.explained(diagnostic, derivation);
        let inverse = ratio.raised(-Power::ONE).unwrap_or(Measure::PLAIN);
        let (larger, factor) = match text(ratio).starts_with("1/") {
            true => (&a, text(&inverse)),
            false => (&self.shown(b), text(ratio)),
        };
        diagnostic.hint(format!("`{larger}` lacks a factor in {factor}"))
    }

    pub fn factor(&self, found: &Found, ratio: &Measure, derivation: &Derivation) -> Diagnostic {
        let pair = &found.pair;
        let (a, unit) = (self.shown(pair.a), self.unit(pair.a));
        let (message, b) = match pair.b {
            Some(b) => {
                let shown = self.shown(b);
                let other = self.unit(b);
                (
                    format!("`{a}` is in {unit} and `{shown}` in {other}: a factor is missing"),
                    shown,
                )
            }
            None => (
                format!("`{a}` is in {unit} where a plain number is wanted: a factor is missing"),
                a.clone(),
            ),
        };
        let diagnostic =
            Diagnostic::new(Code::UnitFactor, message).at(pair.span, "in this equation");
        let diagnostic = self.explained(diagnostic, derivation);
        // The value of b is to be multiplied by the inverse of the ratio.
        let wanted = match pair.b {
            Some(_) => 1.0 / ratio.factor,
            None => ratio.factor,
        };
        let bracketed = match pair.b.unwrap_or(pair.a) {
            expr if is_product(self.spread.flat.exprs.node(expr)) => b,
            _ => format!("({b})"),
        };
        let cure = match wanted {
            wanted if wanted < 1.0 && near_whole(1.0 / wanted) => {
                format!("{bracketed}/{}", show_briefly((1.0 / wanted).round()))
            }
            wanted if near_whole(wanted) => format!("{}*{bracketed}", show_briefly(wanted.round())),
            wanted => format!("{}*{bracketed}", show_briefly(wanted)),
        };
        diagnostic.hint(format!("write `{cure}`"))
    }

    /// A number in a product that is not plain; `None` if it is the factor between two scales.
    pub fn number(
        &self,
        found: &Found,
        ratio: &Measure,
        derivation: &Derivation,
    ) -> Option<Diagnostic> {
        let pair = &found.pair;
        let b = pair.b?;
        let first = factors(self.spread, pair.a);
        let second = factors(self.spread, b);
        let mut scale = 1.0;
        if ratio.dimension.is_plain() {
            let (above, below) = (product(&first), product(&second));
            // With the numbers p of a and q of b, the factor of a times q is that of b times p.
            scale = ratio.factor * below / above;
            if (scale - 1.0).abs() < 2e-3 || !scale.is_finite() {
                return None;
            }
        }
        let in_b = !second.is_empty();
        let numbers = if in_b { &second } else { &first };
        let usual = |value: f64| {
            value.fract() == 0.0 || (2.0 * value).fract() == 0.0 || (1.0 / value).fract() == 0.0
        };
        let blamed = numbers
            .iter()
            .find(|factor| !usual(factor.value))
            .or(numbers.first())?;
        let unit = match in_b ^ blamed.below {
            true => *ratio,
            false => ratio.raised(-Power::ONE)?,
        };
        let shown = show_briefly(blamed.value);
        let unit = text(&unit);
        let span = number::place(self.sources, pair.span, blamed.value);
        if scale != 1.0 {
            let wanted = match in_b ^ blamed.below {
                true => blamed.value / scale,
                false => blamed.value * scale,
            };
            let message = format!(
                "the units want {} in the place of {shown}",
                show_briefly(wanted)
            );
            let diagnostic =
                Diagnostic::new(Code::NumberWithUnit, message).at(span, "a factor between units");
            return Some(self.explained(diagnostic, derivation));
        }
        let diagnostic =
            Diagnostic::new(Code::NumberWithUnit, format!("{shown} is in {unit} here"))
                .at(span, "a number with a unit");
        Some(self.explained(diagnostic, derivation).hint(format!(
            "write `({shown} '{unit}')`, or declare a parameter with this unit"
        )))
    }

    pub fn celsius(&self, misused: &Misused) -> Diagnostic {
        let mut shown = self.shown(misused.expr);
        let mut how = misused.how;
        let id = self.spread.leaf(misused.expr);
        let whole = id.is_some();
        let id = id.or_else(|| {
            leaves(self.spread, misused.expr).into_iter().find(|id| {
                self.spread.measures[id.index()].is_some_and(|measure| measure.offset != 0.0)
            })
        });
        let unit = id.map_or("degC".to_string(), |id| self.unit_of(id));
        if let Some(id) = id.filter(|_| !whole) {
            // A sum is of no scale if degC and K are mixed in it.
            how = Misuse::Sum;
            shown = self.spread.flat.name(id);
        }
        let message = match how {
            Misuse::Product => {
                format!("`{shown}` is in {unit}: a product, a power or a function wants kelvin")
            }
            Misuse::Sum => format!("`{shown}` is in {unit}, and the rest in K"),
        };
        let mut diagnostic =
            Diagnostic::new(Code::CelsiusMixed, message).at(misused.span, "in this equation");
        if let Some(id) = id.filter(|id| self.spread.literal(*id).is_none()) {
            let text = format!("`{}` is in {unit}", self.spread.flat.name(id));
            diagnostic = diagnostic.at(self.spread.flat.declaration(id).span, text);
        }
        let bracketed = match id {
            Some(_) => shown,
            None => format!("({shown})"),
        };
        diagnostic.hint(match unit.as_str() {
            "degF" | "°F" => format!("write `(({bracketed} + 459.67)/1.8)`, or declare it in K"),
            _ => format!("write `({bracketed} + 273.15)`, or declare it in K"),
        })
    }

    /// A value with a unit of another dimension than what it is used for.
    pub fn literal(&self, literal: &Literal) -> Option<Diagnostic> {
        let spread = self.spread;
        let measure = spread.measures[literal.variable.index()]?;
        if measure.dimension == literal.measure.dimension
            || spread.granted[literal.variable.index()]
        {
            return None;
        }
        let Cause::Pair(at) = spread.causes[literal.variable.index()] else {
            return None;
        };
        let kept = &spread.kept[at as usize];
        let flat = spread.flat;
        let declaration = flat.declaration(literal.variable);
        let written = flat.names.name(declaration.name);
        let code = match kept.pair.handed {
            true => Code::UnitsMeet,
            false => Code::UnitsDiffer,
        };
        let wanted = named(&text(&measure));
        let message = format!("the value is in {written}, and {wanted} is wanted here");
        let mut diagnostic = Diagnostic::new(code, message).at(declaration.span, "this unit");
        let other: Vec<VarId> = (leaves(spread, kept.pair.a).into_iter())
            .chain(kept.pair.b.into_iter().flat_map(|b| leaves(spread, b)))
            .filter(|id| *id != literal.variable)
            .collect();
        for id in other.into_iter().take(PLACES) {
            let text = format!("`{}` is in {}", flat.name(id), self.unit_of(id));
            diagnostic = diagnostic.at(flat.declaration(id).span, text);
        }
        Some(diagnostic)
    }
}

fn named(unit: &str) -> String {
    match unit {
        "1" => "1 (plain)".to_string(),
        unit => unit.to_string(),
    }
}

fn near_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6 * value.abs() && value < 1e12
}

fn is_product(node: Node<Leaf>) -> bool {
    matches!(
        node,
        Node::Leaf(_) | Node::Binary(BinaryOp::Mul | BinaryOp::Div, ..) | Node::Call(..)
    )
}

/// A number in a product.
#[derive(Clone, Copy, Debug)]
struct Factor {
    value: f64,
    below: bool,
}

/// The numbers in a product, with those of constants and parameters without a unit that are factors of it, such as pi.
fn factors(spread: &Spread<'_>, root: ExprId) -> Vec<Factor> {
    let mut found = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((id, below)) = stack.pop() {
        match spread.flat.exprs.node(id) {
            Node::Number(value) => found.push(Factor {
                value: value.0,
                below,
            }),
            Node::Unary(UnaryOp::Minus | UnaryOp::Plus, a) => stack.push((a, below)),
            Node::Binary(BinaryOp::Mul, a, b) => stack.extend([(b, below), (a, below)]),
            Node::Binary(BinaryOp::Div, a, b) => stack.extend([(b, !below), (a, below)]),
            Node::Leaf(Leaf::Var(id)) => {
                let plain = spread.measures[id.index()].is_none_or(|measure| measure.is_plain());
                let value = spread.flat.value(id).and_then(|given| given.value.real());
                if let Some(value) = value.filter(|_| plain && spread.literal(id).is_none()) {
                    found.push(Factor { value, below });
                }
            }
            _ => {}
        }
    }
    found
}

fn product(factors: &[Factor]) -> f64 {
    factors
        .iter()
        .fold(1.0, |total, factor| match factor.below {
            true => total / factor.value,
            false => total * factor.value,
        })
}
