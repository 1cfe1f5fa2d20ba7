//! Charts: curves over a plain or a logarithmic axis, with marks, in panels one above the other.
//!
//! Before: points, plain numbers. After: SVG text in which everything lies inside the view box. Bode plots and root loci are
//! charts; trajectories have a picture of their own ([`super::svg`]).

use std::fmt::Write;

use super::scale::{Scale, Wish};
use super::svg::colour;
use super::svg::text::{self, Anchor, FONT, Words, coordinate};

/// How an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Plain,
    Logarithmic,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub points: Vec<(f64, f64)>,
    /// By its number among the colours.
    pub colour: usize,
    /// Its points are shown as dots instead of a line.
    pub dots: bool,
}

/// A place that is told: a dot with words, and a line from there to another value.
#[derive(Clone, Debug)]
pub struct Mark {
    pub at: (f64, f64),
    pub to: Option<f64>,
    pub words: String,
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Dot,
    Cross,
    Ring,
}

#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub label: String,
    pub height: f64,
    pub curves: Vec<Curve>,
    /// Values with a line of their own, such as 0 dB.
    pub levels: Vec<f64>,
    pub marks: Vec<Mark>,
    /// Ticks at multiples of 45 or 90 degrees.
    pub degrees: bool,
}

#[derive(Clone, Debug)]
pub struct Chart {
    pub title: String,
    pub axis: Axis,
    /// The name of the axis.
    pub label: String,
    pub panels: Vec<Panel>,
    pub note: Option<String>,
}

const WIDTH: f64 = 800.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 776.0;
const TOP: f64 = 44.0;
const GAP: f64 = 18.0;
const LABEL: f64 = 14.0;
const TICK: f64 = 13.0;

/// Where numbers are along an axis: places from 0 to 1, with ticks and fainter lines.
struct Places {
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
    faint: Vec<f64>,
}

impl Places {
    fn part(&self, value: f64) -> f64 {
        let value = if self.logarithmic {
            value.log10()
        } else {
            value
        };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn plain(low: f64, high: f64, ticks: usize, padding: f64) -> Places {
        let scale = Scale::new(
            low,
            high,
            Wish {
                padding,
                ticks,
                least: 1e-9,
            },
        );
        let power = 10_f64.powi(scale.exponent);
        let suffix = match scale.exponent {
            0 => String::new(),
            exponent => format!("e{exponent}"),
        };
        let labels = scale.ticks.iter().zip(&scale.labels);
        Places {
            low: scale.low * power,
            high: scale.high * power,
            logarithmic: false,
            ticks: labels
                .map(|(tick, label)| {
                    let is_zero = *tick == 0.0;
                    let label = if is_zero {
                        label.clone()
                    } else {
                        format!("{label}{suffix}")
                    };
                    (tick * power, label)
                })
                .collect(),
            faint: Vec::new(),
        }
    }

    /// Ticks at powers of ten.
    fn logarithmic(low: f64, high: f64) -> Places {
        let (mut from, mut to) = (low.log10(), high.log10());
        if !(to - from > 1e-9) {
            (from, to) = (from - 0.5, to + 0.5);
        }
        let (first, last) = ((from - 1e-9).ceil() as i32, (to + 1e-9).floor() as i32);
        let every = ((last - first) / 12 + 1).max(1);
        let ticks = (first..=last)
            .filter(|power| (power - first) % every == 0)
            .map(|power| (10_f64.powi(power), power_text(power)));
        let mut faint = Vec::new();
        if every == 1 && last - first <= 8 {
            for power in first - 1..=last {
                let between = (2..10).map(|digit| f64::from(digit) * 10_f64.powi(power));
                faint.extend(between.filter(|value| (from..=to).contains(&value.log10())));
            }
        }
        Places {
            low: from,
            high: to,
            logarithmic: true,
            ticks: ticks.collect(),
            faint,
        }
    }

    fn degrees(low: f64, high: f64) -> Places {
        let padding = 0.05 * (high - low).max(20.0);
        let (low, high) = (low - padding, high + padding);
        let steps = [
            1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0, 180.0, 360.0, 720.0, 1440.0,
        ];
        let fits = |step: &&f64| (high - low) / **step <= 7.0;
        let step = steps
            .iter()
            .find(fits)
            .copied()
            .unwrap_or_else(|| ((high - low) / 1800.0).ceil() * 360.0);
        let ticks = ((low / step).ceil() as i64..=(high / step).floor() as i64)
            .map(|at| at as f64 * step)
            .map(|value| (value, format!("{value}").replace('-', "−")));
        Places {
            low,
            high,
            logarithmic: false,
            ticks: ticks.collect(),
            faint: Vec::new(),
        }
    }
}

fn power_text(power: i32) -> String {
    match power {
        -2..=3 => format!("{}", 10_f64.powi(power)),
        _ => format!("10{}", super::scale::superscript(power)),
    }
}

/// Draws it.
pub fn svg(chart: &Chart) -> String {
    let heights: f64 = chart.panels.iter().map(|panel| panel.height + GAP).sum();
    let note = if chart.note.is_some() { 22.0 } else { 0.0 };
    let height = TOP + heights - GAP + 20.0 + LABEL + 14.0 + note;
    let (wide, high) = (coordinate(WIDTH), coordinate(height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\" role=\"img\" font-family=\"{FONT}\">\n"
    );
    let _ = writeln!(out, "<title>{}</title>", text::escaped(&chart.title));
    let _ = writeln!(
        out,
        "<rect x=\"0\" y=\"0\" width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>"
    );
    let middle = f64::midpoint(LEFT, RIGHT);
    let short = text::shortened(&chart.title, 17.0 * text::BOLD, WIDTH - 16.0);
    let mut words = Words::at(middle, 27.0, 17.0, Anchor::Middle, &short);
    words.whole = &chart.title;
    words.bold = true;
    words.write(&mut out);
    let points = || {
        (chart.panels.iter())
            .flat_map(|panel| &panel.curves)
            .flat_map(|curve| &curve.points)
    };
    let (low, high) = extent(points().map(|point| point.0)).unwrap_or((1.0, 10.0));
    let across = match chart.axis {
        Axis::Plain => Places::plain(low, high, 8, 0.04),
        Axis::Logarithmic => Places::logarithmic(low, high),
    };
    let mut top = TOP;
    for (at, panel) in chart.panels.iter().enumerate() {
        let last = at + 1 == chart.panels.len();
        panel_svg(panel, &across, (top, top + panel.height), last, &mut out);
        top += panel.height + GAP;
    }
    let y = top - GAP + 20.0 + LABEL + 6.0;
    Words::at(middle, y, LABEL, Anchor::Middle, &chart.label).write(&mut out);
    if let Some(note) = &chart.note {
        let short = text::shortened(note, TICK, WIDTH - LEFT - 8.0);
        let mut words = Words::at(LEFT, y + 22.0, TICK, Anchor::Start, &short);
        words.whole = note;
        words.colour = colour::FAINT;
        words.write(&mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    super::extent(values)
}

fn panel_svg(
    panel: &Panel,
    across: &Places,
    (top, bottom): (f64, f64),
    last: bool,
    out: &mut String,
) {
    let values = (panel.curves.iter()).flat_map(|curve| curve.points.iter().map(|point| point.1));
    let told = panel
        .marks
        .iter()
        .flat_map(|mark| mark.to.into_iter().chain([mark.at.1]));
    let (low, high) = extent(values.chain(told)).unwrap_or((0.0, 1.0));
    let up = match panel.degrees {
        true => Places::degrees(low, high),
        false => Places::plain(low, high, 7, 0.06),
    };
    let x = |value: f64| LEFT + (RIGHT - LEFT) * across.part(value);
    let y = |value: f64| bottom - (bottom - top) * up.part(value);
    for &faint in &across.faint {
        line(
            (x(faint), top),
            (x(faint), bottom),
            "#f1f1f1",
            1.0,
            None,
            out,
        );
    }
    for (tick, label) in &across.ticks {
        line(
            (x(*tick), top),
            (x(*tick), bottom),
            colour::GRID,
            1.0,
            None,
            out,
        );
        line(
            (x(*tick), bottom),
            (x(*tick), bottom + 4.0),
            colour::FRAME,
            1.0,
            None,
            out,
        );
        if last {
            Words::at(x(*tick), bottom + 18.0, TICK, Anchor::Middle, label).write(out);
        }
    }
    for (tick, label) in &up.ticks {
        line(
            (LEFT, y(*tick)),
            (RIGHT, y(*tick)),
            colour::GRID,
            1.0,
            None,
            out,
        );
        line(
            (LEFT - 4.0, y(*tick)),
            (LEFT, y(*tick)),
            colour::FRAME,
            1.0,
            None,
            out,
        );
        Words::at(LEFT - 8.0, y(*tick) + TICK * 0.35, TICK, Anchor::End, label).write(out);
    }
    for &level in panel
        .levels
        .iter()
        .filter(|level| (up.low..=up.high).contains(*level))
    {
        line(
            (LEFT, y(level)),
            (RIGHT, y(level)),
            colour::FAINT,
            1.0,
            None,
            out,
        );
    }
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>",
        coordinate(LEFT),
        coordinate(top),
        coordinate(RIGHT - LEFT),
        coordinate(bottom - top),
        colour::FRAME
    );
    let mut words = Words::at(
        22.0,
        f64::midpoint(top, bottom),
        LABEL,
        Anchor::Middle,
        &panel.label,
    );
    words.upright = true;
    words.write(out);
    for curve in &panel.curves {
        curve_svg(curve, &x, &y, out);
    }
    // Words of neighbouring marks go up and down in turn, and stay inside.
    for (at, mark) in panel.marks.iter().enumerate() {
        let (px, py) = (x(mark.at.0), y(mark.at.1));
        if let Some(to) = mark.to {
            line((px, py), (px, y(to)), colour::INK, 1.2, Some("4 3"), out);
        }
        shape_svg(mark.shape, (px, py), out);
        if mark.words.is_empty() {
            continue;
        }
        let wide = text::width(&mark.words, TICK);
        let fits = px + 8.0 + wide < RIGHT - 4.0;
        let (anchor, wx) = match fits {
            true => (Anchor::Start, px + 8.0),
            false => (Anchor::End, px - 8.0),
        };
        let shift = if at % 2 == 0 { -8.0 } else { 18.0 };
        let wy = (py + shift).clamp(top + TICK + 2.0, bottom - 6.0);
        Words::at(wx, wy, TICK, anchor, &mark.words).write(out);
    }
}

fn curve_svg(curve: &Curve, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64, out: &mut String) {
    let paint = colour::curve(curve.colour);
    let is_finite = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
    if curve.dots {
        for point in curve.points.iter().filter(is_finite) {
            let (cx, cy) = (coordinate(x(point.0)), coordinate(y(point.1)));
            let _ = writeln!(
                out,
                "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"2\" fill=\"{paint}\"/>"
            );
        }
        return;
    }
    let points: Vec<String> = (curve.points.iter().filter(is_finite))
        .map(|point| format!("{},{}", coordinate(x(point.0)), coordinate(y(point.1))))
        .collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{paint}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>",
        points.join(" ")
    );
}

fn shape_svg(shape: Shape, (x, y): (f64, f64), out: &mut String) {
    const SIZE: f64 = 5.0;
    let ink = colour::INK;
    match shape {
        Shape::Dot => {
            let _ = writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"3.5\" fill=\"{ink}\"/>",
                coordinate(x),
                coordinate(y)
            );
        }
        Shape::Ring => {
            let _ = writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"4.5\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"1.5\"/>",
                coordinate(x),
                coordinate(y)
            );
        }
        Shape::Cross => {
            line(
                (x - SIZE, y - SIZE),
                (x + SIZE, y + SIZE),
                ink,
                1.5,
                None,
                out,
            );
            line(
                (x - SIZE, y + SIZE),
                (x + SIZE, y - SIZE),
                ink,
                1.5,
                None,
                out,
            );
        }
    }
}

fn line(
    from: (f64, f64),
    to: (f64, f64),
    paint: &str,
    width: f64,
    dash: Option<&str>,
    out: &mut String,
) {
    let dash = dash.map_or(String::new(), |dash| {
        format!(" stroke-dasharray=\"{dash}\"")
    });
    let _ = writeln!(
        out,
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{paint}\" stroke-width=\"{width}\"{dash}/>",
        coordinate(from.0),
        coordinate(from.1),
        coordinate(to.0),
        coordinate(to.1)
    );
}
