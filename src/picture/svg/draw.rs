//! Writes a picture panel by panel, with grid, ticks, labels and curves.

use super::figure::{Figure, LANE_NAME, Panel};
use super::text::{self, Anchor, FONT, Words, coordinate};
use super::{Layout, colour, curve};
use crate::picture::scale::Scale;
use std::fmt::Write;

pub(crate) const TITLE: f64 = 17.0;
pub(crate) const LABEL: f64 = 14.0;
pub(crate) const TICK: f64 = 13.0;

/// The largest number of points of one curve, and of all curves: so a browser can open the file of
/// a large sweep.
const POINTS: usize = 2_000;
const ALL_POINTS: usize = 60_000;
const LEAST_POINTS: usize = 200;

pub(crate) fn write(title: &str, figure: &Figure<'_>, layout: &Layout) -> String {
    let (width, height) = (coordinate(layout.width), coordinate(layout.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\">\n"
    );
    let _ = writeln!(out, "<title>{}</title>", text::escaped(title));
    let _ = writeln!(
        out,
        "<rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    );
    let middle = layout.left / 2.0 + layout.right / 2.0;
    if !title.is_empty() {
        // The title is centred over the plot. If it is longer than the plot it is centred over the
        // picture, and shortened if necessary.
        let size = TITLE * text::BOLD;
        let wide = text::width(title, size);
        let over_plot = wide <= 2.0 * (layout.width - middle).min(middle) - 16.0;
        let x = if over_plot {
            middle
        } else {
            layout.width / 2.0
        };
        let short = text::shortened(title, size, layout.width - 16.0);
        let mut words = Words::at(x, 27.0, TITLE, Anchor::Middle, &short);
        words.whole = title;
        words.bold = true;
        words.write(&mut out);
    }
    let curves: usize = figure.panels.iter().map(|panel| panel.curves.len()).sum();
    let most = (ALL_POINTS / curves.max(1)).clamp(LEAST_POINTS, POINTS);
    let count = figure.panels.len();
    for (at, (panel, &place)) in figure.panels.iter().zip(&layout.panels).enumerate() {
        write_panel(panel, layout, place, at + 1 == count, most, &mut out);
    }
    let bottom = layout.panels.last().map_or(0.0, |place| place.1);
    let unit = layout.time.unit(figure.time_label);
    let label = unit.map_or("Time".to_string(), |unit| format!("Time [{unit}]"));
    let y = bottom + 20.0 + LABEL + 6.0;
    Words::at(middle, y, LABEL, Anchor::Middle, &label).write(&mut out);
    if let Some(note) = figure.note {
        let mut words = Words::at(layout.left, y + 22.0, TICK - 1.0, Anchor::Start, note);
        words.colour = colour::FAINT;
        words.write(&mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn write_panel(
    panel: &Panel<'_>,
    layout: &Layout,
    place: (f64, f64),
    lowest: bool,
    most: usize,
    out: &mut String,
) {
    let (top, bottom) = place;
    let (left, right) = (layout.left, layout.right);
    let at_time = |tick: f64| left + (right - left) * layout.time.part_of_scaled(tick);
    for &tick in &layout.time.ticks {
        let x = at_time(tick);
        line((x, top), (x, bottom), colour::GRID, out);
    }
    if panel.lanes.is_empty() {
        let at_value = |tick| bottom - (bottom - top) * panel.scale.part_of_scaled(tick);
        write_values(&panel.scale, at_value, left, right, out);
    } else {
        write_lanes(panel, place, left, right, out);
    }
    // The strokes of the frame are not wider than the margin, so nothing leaves the picture.
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>",
        coordinate(left),
        coordinate(top),
        coordinate(right - left),
        coordinate(bottom - top),
        colour::FRAME
    );
    for (&tick, label) in layout.time.ticks.iter().zip(&layout.time.labels) {
        let x = at_time(tick);
        line((x, bottom), (x, bottom + 4.0), colour::FRAME, out);
        if lowest {
            Words::at(x, bottom + 18.0, TICK, Anchor::Middle, label).write(out);
        }
    }
    if let Some(label) = &panel.label {
        let y = f64::midpoint(top, bottom);
        let mut words = Words::at(layout.label, y, LABEL, Anchor::Middle, label);
        words.upright = true;
        words.write(out);
    }
    out.push_str("<g stroke-linejoin=\"round\" stroke-linecap=\"round\">\n");
    for curve in &panel.curves {
        curve::write(curve, panel, layout, place, most, out);
    }
    out.push_str("</g>\n");
    let finite = |curve: &super::figure::Curve<'_>| {
        let mut points = curve.times.iter().zip(curve.values);
        points.any(|(time, value)| time.is_finite() && value.is_finite())
    };
    if !panel.curves.iter().any(finite) {
        let (x, y) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        let mut words = Words::at(x, y, LABEL, Anchor::Middle, "no values");
        words.colour = colour::FAINT;
        words.write(out);
    }
    panel.legend.write(right + 14.0, top, out);
}

fn write_values(
    scale: &Scale,
    place: impl Fn(f64) -> f64,
    left: f64,
    right: f64,
    out: &mut String,
) {
    for (&tick, label) in scale.ticks.iter().zip(&scale.labels) {
        let y = place(tick);
        line((left, y), (right, y), colour::GRID, out);
        line((left - 4.0, y), (left, y), colour::FRAME, out);
        let baseline = y + TICK * 0.35;
        Words::at(left - 8.0, baseline, TICK, Anchor::End, label).write(out);
    }
}

fn write_lanes(
    panel: &Panel<'_>,
    (top, bottom): (f64, f64),
    left: f64,
    right: f64,
    out: &mut String,
) {
    let height = (bottom - top) / panel.lanes.len() as f64;
    for (at, name) in panel.lanes.iter().enumerate() {
        let y = top + height * at as f64;
        if at > 0 {
            line((left, y), (right, y), colour::GRID, out);
        }
        let baseline = y + height / 2.0 + TICK * 0.35;
        let short = text::shortened(name, TICK, LANE_NAME);
        let mut words = Words::at(left - 8.0, baseline, TICK, Anchor::End, &short);
        words.whole = name;
        words.write(out);
    }
}

fn line(from: (f64, f64), to: (f64, f64), colour: &str, out: &mut String) {
    let _ = writeln!(
        out,
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\"/>",
        coordinate(from.0),
        coordinate(from.1),
        coordinate(to.0),
        coordinate(to.1)
    );
}
