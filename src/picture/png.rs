//! A picture as PNG: an SVG of this room, drawn by resvg.
//!
//! All text is set in Noto Sans, which is embedded in the program. So a picture does not depend on
//! the fonts of the machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Pixels for each unit of the SVG, so that letters are sharp.
const SCALE: f32 = 2.0;
/// A picture with fewer pixels cannot be read.
const LEAST_SCALE: f32 = 0.5;
/// Limits that other programs can open: pixels of one side, and of the whole picture.
const MOST_ASIDE: f32 = 16_000.0;
const MOST: f32 = 40_000_000.0;

/// Returns the bytes of the PNG file.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    // Of the fonts that the SVG names only the last one, the generic family, is available.
    fonts.set_sans_serif_family("Noto Sans");
    let options = Options {
        fontdb: Arc::new(fonts),
        font_family: "Noto Sans".to_string(),
        ..Options::default()
    };
    let cannot = |why: &str| format!("the picture cannot be drawn as PNG: {why}");
    // The font lacks one character that we use, the raised minus of 10⁻⁶. A macron looks like it.
    let svg = svg.replace('\u{207b}', "\u{af}");
    let tree = Tree::from_str(&svg, &options).map_err(|error| cannot(&error.to_string()))?;
    let size = tree.size();
    let longest = size.width().max(size.height());
    let area = size.width() * size.height();
    let scale = SCALE.min(MOST_ASIDE / longest).min((MOST / area).sqrt());
    if scale < LEAST_SCALE {
        return Err(cannot("it is too large; SVG has no such limit"));
    }
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut image = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| cannot("there is no room for it"))?;
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut image.as_mut());
    (image.encode_png()).map_err(|error| cannot(&error.to_string()))
}
