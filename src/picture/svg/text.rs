//! Text in pictures: escaped, measured without a font, shortened.

use std::fmt::Write;

use crate::base::words::xml;

/// Every viewer has at least one of these fonts. `width` assumes DejaVu, the widest.
pub const FONT: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// The side or the middle of a text that is at its coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Escapes a text for SVG, which shows it in one line.
pub fn escaped(text: &str) -> String {
    xml(&text.replace(['\n', '\r', '\t'], " "))
}

/// The width of bold letters, relative to plain ones.
pub const BOLD: f64 = 1.15;

/// Returns the estimated width of a text, rather too wide than too narrow.
pub fn width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | '\'' | '|' => 0.3,
            '.' | ',' | ' ' | ':' | ';' | 'I' => 0.33,
            'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.42,
            '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.45,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
            'A'..='Z' | '=' | '+' | '<' | '>' | '\u{2212}' => 0.78,
            c if c.is_ascii() => 0.64,
            c if c < '\u{2e80}' => 0.7,
            _ => 1.0,
        })
        .sum();
    ems * size
}

/// Returns the text; if it is wider than `most`, only its two ends.
pub fn shortened(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_string();
    }
    let characters: Vec<char> = text.chars().collect();
    for kept in (2..characters.len()).rev() {
        let head: String = characters[..kept / 2].iter().collect();
        let tail: String = characters[characters.len() - kept.div_ceil(2)..]
            .iter()
            .collect();
        let short = format!("{head}…{tail}");
        if width(&short, size) <= most {
            return short;
        }
    }
    "…".to_string()
}

/// Formats a coordinate: hundredths of a pixel are exact enough.
pub fn coordinate(value: f64) -> String {
    let mut text = format!("{value:.2}");
    while text.ends_with('0') {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    if text == "-0" { "0".to_string() } else { text }
}

/// A text element. If `text` is shortened, a tooltip shows the whole text.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    pub x: f64,
    pub y: f64,
    pub size: f64,
    pub anchor: Anchor,
    pub text: &'a str,
    pub whole: &'a str,
    pub bold: bool,
    pub colour: &'a str,
    pub upright: bool,
}

impl<'a> Words<'a> {
    pub fn at(x: f64, y: f64, size: f64, anchor: Anchor, text: &'a str) -> Words<'a> {
        Words {
            x,
            y,
            size,
            anchor,
            text,
            whole: text,
            bold: false,
            colour: super::colour::INK,
            upright: false,
        }
    }

    pub fn write(&self, out: &mut String) {
        let (x, y) = (coordinate(self.x), coordinate(self.y));
        let anchor = match self.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"",
            coordinate(self.size),
            self.colour
        );
        if self.bold {
            out.push_str(" font-weight=\"bold\"");
        }
        if self.upright {
            let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
        }
        out.push('>');
        if self.whole != self.text {
            let _ = write!(out, "<title>{}</title>", escaped(self.whole));
        }
        let _ = writeln!(out, "{}</text>", escaped(self.text));
    }
}
