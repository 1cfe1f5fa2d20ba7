//! Failures of an evaluation, as data and in words.

use super::Point;
use super::expanded::Expanded;
use super::linear::Singular;
use super::point::leaves;
use super::walk::EvalError;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::{BinaryOp, ExprId, Node, Value, show_briefly, show_number};
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf};
use crate::passes::blocks::Solved;
use rustc_hash::FxHashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A divisor is zero.
    Divisor,
    /// A value is infinite or not a number.
    NotFinite,
    /// A linear loop has no unique solution.
    Singular,
    /// The iteration of a nonlinear loop found no solution.
    NotFound,
    /// A variable that is needed has no value, or a value of the wrong type.
    NoValue,
    /// A parameter was zero when the model was solved, and is not zero now.
    NotZero,
    /// Two `when`s restart one state from different values.
    Restarts,
    /// Equations of the start do not determine it.
    StartUndetermined,
    /// Start values contradict each other.
    StartsContradict,
}

impl Reason {
    fn code(self) -> Code {
        match self {
            Reason::Divisor => Code::ZeroDivisor,
            Reason::NotFinite | Reason::NoValue => Code::NotFinite,
            Reason::Singular => Code::SingularLoop,
            Reason::NotFound => Code::NoSolution,
            Reason::NotZero => Code::SolvedAsZero,
            Reason::Restarts => Code::RestartsClash,
            Reason::StartUndetermined => Code::StartUndetermined,
            Reason::StartsContradict => Code::StartsContradict,
        }
    }
}

/// Why a model has no value at a point. Equations and unknowns are sorted, the most likely cause first; their ids are those of
/// the model that was evaluated. The texts are made at once, because the caller may hold the model of another mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub reason: Reason,
    pub time: f64,
    pub message: String,
    pub notes: Vec<String>,
    pub unknowns: Vec<Leaf>,
    pub equations: Vec<EquationPlace>,
}

/// An equation of a failure; the first ones come with their span and text.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationPlace {
    pub equation: EqId,
    shown: Option<(Span, String)>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The quantity whose value an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Value(Leaf),
    /// The coefficient of an unknown in a linear loop.
    Coefficient(Leaf),
    /// The right side of an equation in a linear loop; the leaf is one of the unknowns of the loop.
    Known(Leaf),
}

impl Subject {
    fn leaf(self) -> Leaf {
        match self {
            Subject::Value(leaf) | Subject::Coefficient(leaf) | Subject::Known(leaf) => leaf,
        }
    }

    fn words(self, flat: &Flat) -> String {
        let name = flat.leaf_name(self.leaf());
        match self {
            Subject::Value(_) => format!("`{name}`"),
            Subject::Coefficient(_) => format!("the coefficient of `{name}`"),
            Subject::Known(_) => format!("a right side in the linear loop of `{name}`"),
        }
    }

    fn definition(self, flat: &Flat, expression: ExprId) -> String {
        let text = flat.expression(expression);
        match self {
            Subject::Value(leaf) => format!("{} = {text}", flat.leaf_name(leaf)),
            _ => format!("it is `{text}`"),
        }
    }
}

/// The most names or equations that are shown.
const SHOWN: usize = 6;

impl Failure {
    pub fn new(reason: Reason, time: f64, message: String) -> Self {
        Failure {
            reason,
            time,
            message,
            notes: Vec::new(),
            unknowns: Vec::new(),
            equations: Vec::new(),
        }
    }

    /// Adds an equation of the model that was evaluated.
    pub fn add_equation(&mut self, flat: &Flat, id: EqId) {
        let shown = (self.equations.len() < SHOWN).then(|| {
            let span = flat.equations[id.index()].span;
            (span, flat.equation_text(id))
        });
        let equation = id;
        self.equations.push(EquationPlace { equation, shown });
    }

    /// The diagnostic of this failure.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.reason.code(), self.message.clone());
        let shown = || {
            self.equations
                .iter()
                .filter_map(|place| place.shown.as_ref())
        };
        for (span, text) in shown() {
            if diagnostic.labels.iter().all(|label| label.span != *span) {
                diagnostic = diagnostic.at(*span, text.clone());
            }
        }
        // Notes that repeat an equation in the source are left out.
        let is_shown = |note: &String| shown().any(|(_, text)| text == note);
        let more =
            (self.notes.iter()).filter(|note| !note.starts_with("from `") && !is_shown(note));
        diagnostic.notes.extend(more.cloned());
        diagnostic
    }

    /// A loop whose equations could not be solved.
    pub fn of_block(flat: &Flat, block: &crate::passes::blocks::Block, time: f64) -> Self {
        let names: Vec<String> = (block.unknowns().iter().take(SHOWN))
            .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
            .collect();
        let message = format!(
            "no solution was found for {} at Time = {}",
            names.join(", "),
            show_briefly(time)
        );
        let mut failure = Failure::new(Reason::NotFound, time, message);
        failure.unknowns = block.unknowns().to_vec();
        for &id in block.equations() {
            failure.add_equation(flat, id);
        }
        failure
    }

    pub(super) fn of_zero(flat: &Flat, point: &Point, zero: ExprId) -> Self {
        let text = flat.expression(zero);
        let message = format!("`{text}` is zero in the model, and the model was solved so");
        let mut failure = Failure::new(Reason::NotZero, point.time, message);
        let note =
            "the terms that it multiplies were left out; give another value in the model itself";
        failure.notes.push(note.into());
        failure
    }

    pub(super) fn with_equation(mut self, flat: &Flat, equation: Option<EqId>) -> Self {
        if let Some(id) = equation {
            let text = flat.equation_text(id);
            // An equation that was solved as written has been added as a definition already.
            if !self.notes.contains(&text) {
                self.notes.push(format!("from `{text}`"));
            }
            self.add_equation(flat, id);
        }
        self
    }

    /// A divisor is zero. Auxiliaries in it are written out, because their names mean nothing to the user.
    pub(super) fn of_divisor(
        solved: &Solved,
        point: &Point,
        target: Leaf,
        divisor: ExprId,
    ) -> Self {
        let flat = &solved.flat;
        let message = format!(
            "`{}` cannot be computed at Time = {}: the divisor `{}` is zero",
            flat.leaf_name(target),
            show_briefly(point.time),
            flat.expression(divisor)
        );
        let mut failure = Failure::new(Reason::Divisor, point.time, message);
        let expanded = Expanded::new(solved);
        if expanded.changes(divisor) {
            let text = flat.expression(divisor);
            let made_of = expanded.text(divisor);
            failure.notes.push(format!("{text} = {made_of}"));
        }
        let leaves = expanded.leaves(divisor);
        failure.notes.extend(values_of(flat, point, leaves));
        failure.unknowns.push(target);
        failure
    }

    /// An expression that has no value.
    pub(super) fn of_error(
        flat: &Flat,
        point: &Point,
        subject: Subject,
        expression: ExprId,
        error: EvalError,
    ) -> Self {
        let what = subject.words(flat);
        let time = show_briefly(point.time);
        let (reason, message) = match error {
            EvalError::NotANumber(_) => (
                Reason::NotFinite,
                format!("{what} is not a number at Time = {time}"),
            ),
            EvalError::WrongType(_) => (
                Reason::NoValue,
                format!("{what} mixes real and boolean values"),
            ),
            EvalError::Unknown(leaf) => (
                Reason::NoValue,
                format!(
                    "{what} cannot be computed: `{}` has no value",
                    flat.leaf_name(leaf)
                ),
            ),
        };
        let mut failure = Failure::new(reason, point.time, message);
        failure.notes.push(subject.definition(flat, expression));
        if let EvalError::NotANumber(part) = error {
            if part != expression {
                let text = flat.expression(part);
                failure.notes.push(format!("`{text}` is not a number"));
            }
            failure.notes.extend(values_in(flat, point, part));
        }
        failure.unknowns.push(subject.leaf());
        failure
    }

    pub(super) fn check_finite(
        flat: &Flat,
        point: &Point,
        subject: Subject,
        expression: ExprId,
        value: Value,
    ) -> Result<(), Self> {
        if !matches!(value, Value::Real(value) if !value.is_finite()) {
            return Ok(());
        }
        let message = format!(
            "{} is infinite at Time = {}",
            subject.words(flat),
            show_briefly(point.time)
        );
        let mut failure = Failure::new(Reason::NotFinite, point.time, message);
        failure.notes.push(subject.definition(flat, expression));
        failure.notes.extend(values_in(flat, point, expression));
        failure.unknowns.push(subject.leaf());
        Err(failure)
    }

    pub(super) fn of_singular(
        flat: &Flat,
        point: &Point,
        (unknowns, equations): (&[Leaf], &[EqId]),
        singular: Singular,
    ) -> Self {
        let message = format!(
            "the linear loop of {} has no unique solution at Time = {}",
            names(flat, unknowns),
            show_briefly(point.time)
        );
        let mut failure = Failure::new(Reason::Singular, point.time, message);
        let column = singular.column.and_then(|at| unknowns.get(at as usize));
        let row = singular.row.and_then(|at| equations.get(at as usize));
        if let Some(&unknown) = column {
            failure
                .notes
                .push(format!("`{}` is not determined", flat.leaf_name(unknown)));
            failure.unknowns.push(unknown);
        }
        if let Some(&id) = row {
            let text = flat.equation_text(id);
            failure.notes.push(format!(
                "`{text}` adds nothing to the others, or contradicts them"
            ));
            failure.add_equation(flat, id);
        }
        failure.notes.push(format!(
            "the smallest pivot is {}, of a regular matrix about 1",
            amount(singular.pivot)
        ));
        let others = unknowns.iter().filter(|&leaf| Some(leaf) != column);
        failure.unknowns.extend(others);
        for &id in equations.iter().filter(|&id| Some(id) != row) {
            failure.add_equation(flat, id);
        }
        failure
    }

    /// A choice of states from which the other unknowns cannot be computed.
    pub(super) fn of_choice(
        flat: &Flat,
        point: &Point,
        states: &[Leaf],
        (others, equations): (&[Leaf], &[EqId]),
    ) -> Self {
        let message = format!(
            "with {} given, {} cannot be computed at Time = {}",
            names(flat, states),
            names(flat, others),
            show_briefly(point.time)
        );
        let mut failure = Failure::new(Reason::Singular, point.time, message);
        failure
            .notes
            .push("the slopes of the equations between them vanish there".to_string());
        failure.notes.push(format!("give another of {}", {
            let all: Vec<Leaf> = states.iter().chain(others).copied().collect();
            names(flat, &all)
        }));
        failure.unknowns.extend(others);
        for &id in equations {
            failure.add_equation(flat, id);
        }
        failure
    }

    /// `off` contains, for each residual equation, the difference of its sides at the best point, `near`.
    pub(super) fn not_found(
        flat: &Flat,
        (point, near): (&Point, &Point),
        unknowns: &[Leaf],
        off: &[(EqId, f64)],
        notes: Vec<String>,
    ) -> Self {
        let what = match unknowns {
            [unknown] => format!("no solution for `{}`", flat.leaf_name(*unknown)),
            _ => format!(
                "no solution of the nonlinear loop of {}",
                names(flat, unknowns)
            ),
        };
        let message = format!("{what} was found at Time = {}", show_briefly(point.time));
        let mut failure = Failure::new(Reason::NotFound, point.time, message);
        // The one that is furthest off, beside its terms, comes first.
        let mut off: Vec<(EqId, f64, f64)> = (off.iter())
            .map(|&(id, by)| (id, by, by / size_of_terms(flat, near, id)))
            .collect();
        off.sort_by(|a, b| b.2.total_cmp(&a.2));
        for &(id, by, _) in off.iter().take(SHOWN) {
            let (text, part) = (flat.equation_text(id), part(flat, id));
            let sides = sides(flat, near, id);
            failure
                .notes
                .push(format!("`{text}`{part} is off by {}{sides}", amount(by)));
        }
        if let Some(&(id, ..)) = off.first() {
            failure.notes.extend(hangs_on(flat, near, id, unknowns));
        }
        failure.notes.extend(notes);
        for &(id, ..) in &off {
            failure.add_equation(flat, id);
        }
        failure.unknowns = unknowns.to_vec();
        failure
    }
}

/// The submodel of an equation, in words; nothing for the model itself.
fn part(flat: &Flat, id: EqId) -> String {
    let origin = flat.equations[id.index()].origin;
    match origin == InstanceId::TOP {
        true => String::new(),
        false => {
            let class = flat.names.name(flat.instances[origin.index()].class);
            format!(" of `{}` ({class})", flat.path(origin))
        }
    }
}

/// The values of both sides of an equation, if they have any.
fn sides(flat: &Flat, near: &Point, id: EqId) -> String {
    let equation = &flat.equations[id.index()];
    let value = |side: ExprId| near.number(&flat.exprs, side);
    match (value(equation.left), value(equation.right)) {
        (Some(left), Some(right)) => {
            format!(": its sides are {} and {}", amount(left), amount(right))
        }
        _ => String::new(),
    }
}

/// The sum of the sizes of all terms on both sides.
fn size_of_terms(flat: &Flat, near: &Point, id: EqId) -> f64 {
    let equation = &flat.equations[id.index()];
    let mut work = vec![equation.left, equation.right];
    let mut size = 0.0;
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => work.extend([a, b]),
            Node::Unary(_, a) => work.push(a),
            _ => size += near.number(&flat.exprs, id).map_or(0.0, f64::abs),
        }
    }
    size.max(f64::MIN_POSITIVE)
}

/// The parameters, states and other known values in an equation: what an engineer can change.
fn hangs_on(flat: &Flat, near: &Point, id: EqId, unknowns: &[Leaf]) -> Option<String> {
    let equation = &flat.equations[id.index()];
    let mut known: Vec<Leaf> = leaves(&flat.exprs, equation.left);
    known.extend(leaves(&flat.exprs, equation.right));
    known.retain(|leaf| !unknowns.contains(leaf));
    let mut seen = FxHashSet::default();
    known.retain(|&leaf| seen.insert(leaf));
    let mut list: Vec<(u8, String)> = (known.into_iter())
        .filter_map(|leaf| {
            let value = match near.get(leaf)? {
                Value::Real(value) => show_briefly(value),
                value => value.to_string(),
            };
            let kind = flat.variable(leaf.variable()).kind;
            let (rank, what) = match kind {
                Kind::Parameter | Kind::Constant => (0, "the parameter "),
                Kind::State if flat.is_state(leaf) => (1, "the state "),
                Kind::Input => (1, "the input "),
                _ => (2, ""),
            };
            Some((rank, format!("{what}{} = {value}", flat.leaf_name(leaf))))
        })
        .collect();
    list.sort_by_key(|&(rank, _)| rank);
    let texts: Vec<String> = (list.into_iter().take(SHOWN))
        .map(|(_, text)| text)
        .collect();
    (!texts.is_empty()).then(|| format!("it hangs on {}", texts.join(", ")))
}

/// A number of which only the magnitude matters.
fn amount(value: f64) -> String {
    match value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        true => format!("{value:.1e}"),
        false => show_number((value * 1e4).round() / 1e4),
    }
}

fn names(flat: &Flat, unknowns: &[Leaf]) -> String {
    let mut list: Vec<String> = (unknowns.iter().take(SHOWN))
        .map(|&leaf| format!("`{}`", flat.leaf_name(leaf)))
        .collect();
    if unknowns.len() > SHOWN {
        list.push(format!("and {} more", unknowns.len() - SHOWN));
    }
    list.join(", ")
}

/// The text "where a = 1, b = 2" for the variables of an expression.
fn values_in(flat: &Flat, point: &Point, expression: ExprId) -> Option<String> {
    values_of(flat, point, leaves(&flat.exprs, expression))
}

fn values_of(flat: &Flat, point: &Point, leaves: Vec<Leaf>) -> Option<String> {
    let mut list: Vec<(Leaf, Value)> = (leaves.into_iter())
        .filter_map(|leaf| Some((leaf, point.get(leaf)?)))
        .collect();
    // Truths come first: they decide which branch of an `if` failed.
    list.sort_by_key(|(_, value)| !matches!(value, Value::Bool(_)));
    let mut texts: Vec<String> = (list.iter().take(SHOWN))
        .map(|&(leaf, value)| {
            let value = match value {
                Value::Real(value) => show_briefly(value),
                Value::Bool(_) => value.to_string(),
            };
            format!("{} = {value}", flat.leaf_name(leaf))
        })
        .collect();
    if list.len() > SHOWN {
        texts.push("...".into());
    }
    (!texts.is_empty()).then(|| format!("where {}", texts.join(", ")))
}
