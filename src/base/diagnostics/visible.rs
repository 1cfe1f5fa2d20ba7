//! Makes visible the characters that a terminal would obey, or that change the reading order of others.
//!
//! A model, the name of a file or an argument may contain them by mistake, or to make a message look like another one.
//! Each is replaced by one character of the same width, so that marks below the line stay in place.

use std::borrow::Cow;

/// The replacement of a character; `None` if it needs none. Line ends and tabs need none.
pub fn picture(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => None,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        // The second set of control characters, which some terminals obey.
        '\u{80}'..='\u{9f}'
        // Direction marks, line separators, joiners, and characters without width.
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => {
            Some('\u{fffd}')
        }
        _ => None,
    }
}

/// The text in a form that can be sent to a terminal. Line ends are kept.
pub fn visible(text: &str) -> Cow<'_, str> {
    // Nearly all texts have none.
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let ends_line = c == '\r' && letters.peek() == Some(&'\n');
        match picture(c) {
            Some(shown) if !ends_line => out.push(shown),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The same for a text that has to stay on its line, such as the name of a file.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\t']) {
        false => visible(text),
        true => Cow::Owned(
            visible(&text.replace('\n', "\u{240a}").replace('\t', "\u{2409}")).into_owned(),
        ),
    }
}

/// Whether a character has to be replaced.
pub fn has_hidden(text: &str) -> bool {
    // A character beyond ASCII begins with a byte of at least 0xc2. Only texts with such bytes are examined further.
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    !text.bytes().all(plain) && text.chars().any(|c| picture(c).is_some())
}

/// A text in JSON with such characters as escapes. It means the same.
pub fn escaped(json: &str) -> Cow<'_, str> {
    if !has_hidden(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match picture(c) {
            // The writer of JSON has escaped all ASCII characters except this one.
            Some(_) if c == '\u{7f}' || !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A source text as it is shown, and the new places of its bytes.
#[derive(Debug, Default)]
pub struct Shown {
    pub text: String,
    /// The places after a replaced character, in the source and in the shown text.
    moved: Vec<(usize, usize)>,
    line_starts: Vec<usize>,
}

impl Shown {
    pub fn new(source: &str) -> Shown {
        let mut shown = Shown {
            line_starts: vec![0],
            ..Shown::default()
        };
        for (at, c) in source.char_indices() {
            let end = at + c.len_utf8();
            let ends_line = c == '\r' && source[end..].starts_with('\n');
            // A byte order mark at the beginning of a file does not belong to its text.
            match picture(c).filter(|_| !ends_line && (at, c) != (0, '\u{feff}')) {
                Some(picture) => {
                    shown.text.push(picture);
                    shown.moved.push((end, shown.text.len()));
                }
                None => shown.text.push(c),
            }
            if c == '\n' {
                shown.line_starts.push(shown.text.len());
            }
        }
        shown
    }

    /// The place in the shown text for a place in the source.
    pub fn place(&self, byte: usize) -> usize {
        let before = self.moved.partition_point(|&(at, _)| at <= byte);
        match before.checked_sub(1).map(|last| self.moved[last]) {
            Some((source, text)) => byte - source + text,
            None => byte,
        }
    }

    /// The line (from 0 on) that holds a place of the text.
    pub fn line_index(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= byte) - 1
    }

    /// The bytes of a line, its end included.
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line)?;
        let end = self.line_starts.get(line + 1);
        Some(start..end.copied().unwrap_or(self.text.len()))
    }
}
