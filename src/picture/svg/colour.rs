//! Colours that people with colour blindness can distinguish, too.
//!
//! Single curves have the colours of Okabe and Ito ("Color Universal Design", 2008), with grey in
//! place of their yellow, which is too light for a line on white. Families of curves have colour
//! ramps with monotonic lightness, after viridis (van der Walt and Smith, 2015) without its
//! lightest end.

pub const INK: &str = "#222222";
pub const FAINT: &str = "#666666";
pub const FRAME: &str = "#555555";
pub const GRID: &str = "#e3e3e3";

type Rgb = [f64; 3];

const PALETTE: [Rgb; 8] = [
    [0.0, 114.0, 178.0],
    [213.0, 94.0, 0.0],
    [0.0, 158.0, 115.0],
    [204.0, 121.0, 167.0],
    [230.0, 159.0, 0.0],
    [86.0, 180.0, 233.0],
    [0.0, 0.0, 0.0],
    [127.0, 127.0, 127.0],
];

const RAMP: [Rgb; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 190.0, 98.0],
    [185.0, 200.0, 45.0],
];

/// From the ninth curve on, colours repeat with another dash pattern.
const DASHES: [Option<&str>; 4] = [None, Some("7 3"), Some("2 2"), Some("8 3 2 3")];

/// Returns the colour of curve number `at`.
pub fn curve(at: usize) -> String {
    text(PALETTE[at % PALETTE.len()])
}

pub fn dash(at: usize) -> Option<&'static str> {
    DASHES[at / PALETTE.len() % DASHES.len()]
}

/// Returns colour `at` of `count`, from dark to light, for a family of one variable.
pub fn ramp(at: usize, count: usize) -> String {
    let place = part(at, count) * (RAMP.len() - 1) as f64;
    let below = (place as usize).min(RAMP.len() - 2);
    text(mix(RAMP[below], RAMP[below + 1], place - below as f64))
}

/// Returns the same colour if several variables share a panel: from a tint of the variable's colour
/// to a shade.
pub fn tint(variable: usize, at: usize, count: usize) -> String {
    let base = PALETTE[variable % PALETTE.len()];
    let place = part(at, count);
    let white = [255.0; 3];
    text(if place < 0.5 {
        mix(mix(base, white, 0.65), base, place * 2.0)
    } else {
        mix(base, mix(base, [0.0; 3], 0.5), place * 2.0 - 1.0)
    })
}

/// Returns a colour of the ramp that represents all tints in a legend.
pub fn grey(at: usize, count: usize) -> String {
    text(mix([190.0; 3], [40.0; 3], part(at, count)))
}

fn part(at: usize, count: usize) -> f64 {
    if count < 2 {
        return 0.0;
    }
    at as f64 / (count - 1) as f64
}

fn mix(from: Rgb, to: Rgb, part: f64) -> Rgb {
    [0, 1, 2].map(|at| from[at] + (to[at] - from[at]) * part)
}

fn text(colour: Rgb) -> String {
    let [red, green, blue] = colour.map(|value| value.round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}
