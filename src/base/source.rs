//! Source texts and places in them.
//!
//! Every file of a compilation has a [`FileId`]; a [`Span`] is a range of bytes in one of them.
//! [`crate::syntax::load`] reads the files; here they are only stored.

use std::fmt;

/// A file of one compilation. Prints as `f0`, `f1`, ...
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// A range of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        // Files of 4 GiB and more are refused when they are loaded.
        Span {
            file,
            start: start as u32,
            end: end as u32,
        }
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}..{}", self.file, self.start, self.end)
    }
}

/// Where a source text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of the user's, or standard input.
    User,
    /// The standard library embedded in the program.
    Library,
}

/// A source text with the name under which it is shown.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    pub origin: Origin,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// The line (from 0 on) that holds the byte.
    pub fn line_index(&self, byte: usize) -> usize {
        self.line_starts
            .partition_point(|&start| start as usize <= byte)
            .saturating_sub(1)
    }

    /// The bytes of a line, its end included.
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line)? as usize;
        let end = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |&next| next as usize);
        Some(start..end)
    }

    /// Line and column as people count them: from 1 on, columns in characters.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let line = self.line_index(byte);
        let start = self.line_starts[line] as usize;
        let column = self
            .text
            .get(start..byte)
            .map_or(byte - start, |text| text.chars().count());
        (line + 1, column + 1)
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1))
        .collect()
}

/// All source texts of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    pub fn add(&mut self, name: String, text: String, origin: Origin) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile {
            name,
            line_starts: line_starts(&text),
            text,
            origin,
        });
        id
    }

    /// Replaces the text of a file.
    pub fn replace(&mut self, id: FileId, text: String) {
        let file = &mut self.files[id.0 as usize];
        file.line_starts = line_starts(&text);
        file.text = text;
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Whether the span lies in one of these files, on boundaries of characters.
    pub fn holds(&self, span: Span) -> bool {
        let file = self.files.get(span.file.0 as usize);
        file.is_some_and(|file| file.text.get(span.range()).is_some())
    }

    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.range()).unwrap_or("")
    }
}
