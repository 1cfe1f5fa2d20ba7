//! The numbers of an experiment: times, points, tolerances.
//!
//! Before: the settings of the file and of the command line. After: all numbers are finite and consistent with each other. If
//! the command line gives the number of points or the step, both settings of the file are ignored.

use super::Experiment;
use super::collect::{Number, Settings};
use super::convert::Converter;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::expr::show_number;

/// The most points of output.
const MOST_POINTS: f64 = super::MOST_POINTS as f64;

/// A step divides a span of time if the quotient is an integer up to this relative error.
const DIVIDES: f64 = 1e-6;

/// The number of steps in a span of time; the last step may be shorter.
pub(super) fn intervals(span: f64, step: f64) -> f64 {
    let ratio = span / step;
    match (ratio - ratio.round()).abs() <= DIVIDES * ratio.max(1.0) {
        true => ratio.round().max(1.0),
        false => ratio.ceil(),
    }
}

/// A number with its span; true if it comes from the command line.
type ReadNumber = Option<(f64, Span, bool)>;

/// Puts the numbers into the experiment; mistakes are reported.
pub(super) fn numbers(
    converter: &mut Converter<'_>,
    file: &Settings<'_>,
    command: &Settings<'_>,
    experiment: &mut Experiment,
) {
    let mut read = |file: Option<Number<'_>>, command: Option<Number<'_>>| -> ReadNumber {
        // Both are read, because mistakes in the file are reported even if the command line overrides them.
        let of_file = file.and_then(|it| Some((converter.number(it)?, it.span(), false)));
        let of_command = command.and_then(|it| Some((converter.number(it)?, it.span(), true)));
        of_command.or(of_file)
    };
    let start = read(file.start, command.start);
    let until = read(file.until, command.until);
    let overruled = command.points.is_some() || command.step.is_some();
    let mut points = read(file.points, command.points);
    let mut step = read(file.step, command.step);
    let tolerance = read(file.tolerance, command.tolerance);
    let absolute = read(file.absolute, command.absolute);
    let moved = |found: ReadNumber| found.is_some_and(|(.., command)| command);
    if overruled {
        points = points.filter(|&(.., command)| command);
        step = step.filter(|&(.., command)| command);
    } else if (moved(start) || moved(until)) && points.is_some() {
        // Points and step of the file agree only for the times of the file.
        step = None;
    }
    for (found, what) in [
        (step, "the step"),
        (tolerance, "the tolerance"),
        (absolute, "the absolute tolerance"),
    ] {
        positive(converter, found, what);
    }
    let from = start.map_or(0.0, |(value, ..)| value);
    if let Some((end, span, _)) = until
        && end < from
    {
        let message = format!(
            "the end time {} lies before the start time {}",
            show_number(end),
            show_number(from)
        );
        let mut diagnostic = Diagnostic::new(Code::WrongSetting, message).at(span, "ends here");
        diagnostic = match start {
            Some((_, place, _)) => diagnostic.at(place, "starts here"),
            None => diagnostic.hint("time runs from 0 on unless `start` says otherwise"),
        };
        converter.diagnostics.push(diagnostic);
        return;
    }
    let whole = |value: f64| value.fract() == 0.0 && value >= 1.0;
    if let Some((value, span, _)) = points {
        let problem = match value {
            _ if !whole(value) => "the number of points has to be a whole number from 1 on",
            _ if value > MOST_POINTS => "too many points of output: at most 1e8",
            _ => "",
        };
        if !problem.is_empty() {
            let place = format!("is {}", show_number(value));
            wrong(converter, problem, span, place);
            points = None;
        }
    }
    experiment.start = from;
    experiment.until = until.map(|(value, ..)| value);
    experiment.points = points.map(|(value, ..)| value as usize);
    experiment.step = step.map(|(value, ..)| value);
    experiment.tolerance = tolerance.map(|(value, ..)| value);
    experiment.absolute = absolute.map(|(value, ..)| value);
    let place = |found: ReadNumber| found.map(|(_, span, _)| span);
    experiment.places.start = place(start);
    experiment.places.until = place(until);
    experiment.places.points = place(points);
    experiment.places.step = place(step);
    experiment.places.tolerance = place(tolerance);
    experiment.places.absolute = place(absolute);
    if let (Some((step, span, _)), Some((end, ..))) = (step, until)
        && step > 0.0
        && end > from
    {
        agree(
            converter,
            experiment,
            (step, span),
            end - from,
            place(points),
        );
    }
}

/// Computes the number of points from the step; a number that was given has to agree with it.
fn agree(
    converter: &mut Converter<'_>,
    experiment: &mut Experiment,
    (step, span): (f64, Span),
    time: f64,
    given_at: Option<Span>,
) {
    let count = intervals(time, step) + 1.0;
    if count > MOST_POINTS {
        let message = "the step is too small: there would be too many points of output";
        wrong(converter, message, span, format!("{count:e} points"));
        return;
    }
    match (experiment.points, given_at) {
        (Some(points), Some(place)) if points as f64 != count => {
            let message = format!(
                "{points} points and a step of {} do not agree",
                show_number(step)
            );
            let diagnostic = Diagnostic::new(Code::WrongSetting, message)
                .at(span, format!("makes {} points", show_number(count)))
                .at(place, format!("{points} points"));
            (converter.diagnostics).push(diagnostic.hint("leave one of them out"));
        }
        _ => experiment.points = Some(count as usize),
    }
}

fn positive(converter: &mut Converter<'_>, found: ReadNumber, what: &str) {
    if let Some((value, span, _)) = found
        && value <= 0.0
    {
        let message = format!("{what} has to be larger than zero");
        wrong(
            converter,
            &message,
            span,
            format!("is {}", show_number(value)),
        );
    }
}

/// An absolute tolerance of a single variable.
pub(super) fn tolerance(converter: &mut Converter<'_>, number: Number<'_>) -> Option<f64> {
    let value = converter.number(number)?;
    let found = Some((value, number.span(), false));
    positive(converter, found, "the absolute tolerance");
    (value > 0.0).then_some(value)
}

fn wrong(converter: &mut Converter<'_>, message: &str, span: Span, place: String) {
    let diagnostic = Diagnostic::new(Code::WrongSetting, message);
    converter.diagnostics.push(diagnostic.at(span, place));
}
