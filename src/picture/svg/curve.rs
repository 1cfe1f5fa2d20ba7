//! A curve as polylines.
//!
//! Values that are not finite leave gaps. Two rows with the same time are a vertical line. A
//! boolean holds its value until the next time. Points that do not change the picture are left out.

use super::Layout;
use super::figure::{Curve, Panel};
use crate::picture::thin;
use std::fmt::Write;

/// A point in hundredths of a pixel.
type Point = (i64, i64);

/// The fraction of a lane's height that is free above, and below, its curve.
const FREE: f64 = 0.2;

pub(crate) fn write(
    curve: &Curve<'_>,
    panel: &Panel<'_>,
    layout: &Layout,
    place: (f64, f64),
    most: usize,
    out: &mut String,
) {
    let dash = curve.dash.map_or(String::new(), |dash| {
        format!(" stroke-dasharray=\"{dash}\"")
    });
    for line in lines(curve, panel, layout, place, most) {
        if let [(x, y)] = line[..] {
            let _ = writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"2.5\" fill=\"{}\"/>",
                hundredths(x),
                hundredths(y),
                curve.colour
            );
            continue;
        }
        let _ = write!(
            out,
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{dash} points=\"",
            curve.colour
        );
        for (at, &(x, y)) in line.iter().enumerate() {
            if at > 0 {
                out.push(' ');
            }
            let _ = write!(out, "{},{}", hundredths(x), hundredths(y));
        }
        out.push_str("\"/>\n");
    }
}

/// Returns the unbroken parts of a curve. A part of one point is a dot.
fn lines(
    curve: &Curve<'_>,
    panel: &Panel<'_>,
    layout: &Layout,
    (top, bottom): (f64, f64),
    most: usize,
) -> Vec<Vec<Point>> {
    let x = |time: f64| {
        let x = layout.left + (layout.right - layout.left) * layout.time.part(time);
        (x * 100.0).round() as i64
    };
    let y = |value: f64| {
        let part = match curve.lane {
            None => 1.0 - panel.scale.part(value),
            Some(lane) => {
                let down = 1.0 - FREE - (1.0 - 2.0 * FREE) * value.clamp(0.0, 1.0);
                (lane as f64 + down) / panel.lanes.len() as f64
            }
        };
        ((top + (bottom - top) * part) * 100.0).round() as i64
    };
    let mut lines: Vec<Vec<Point>> = Vec::new();
    let mut open = false;
    for at in thin::thinned(curve.times, curve.values, most) {
        let (time, value) = (curve.times[at], curve.values[at]);
        if !time.is_finite() {
            open = false;
            continue;
        }
        if curve.step
            && open
            && let Some(line) = lines.last_mut()
            && let Some(&(_, before)) = line.last()
        {
            push(line, (x(time), before));
        }
        if !value.is_finite() {
            open = false;
            continue;
        }
        if !open {
            lines.push(Vec::new());
            open = true;
        }
        if let Some(line) = lines.last_mut() {
            push(line, (x(time), y(value)));
        }
    }
    lines
}

/// Adds a point, and removes the previous one if it lies between its neighbours on a horizontal
/// line.
fn push(line: &mut Vec<Point>, point: Point) {
    if line.last() == Some(&point) {
        return;
    }
    if let [.., (x1, y1), (x2, y2)] = line[..]
        && y1 == y2
        && y2 == point.1
        && x1 <= x2
        && x2 <= point.0
    {
        line.pop();
    }
    line.push(point);
}

fn hundredths(value: i64) -> String {
    super::text::coordinate(value as f64 / 100.0)
}
