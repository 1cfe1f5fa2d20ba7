//! Edits of a text.
//!
//! Before: a text and replacements of ranges, in any order. After: the text with all edits applied. An edit inside a
//! range that another edit replaces is dropped. Insertions at one place keep their order.

use std::ops::Range;

#[derive(Clone, Debug, Default)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    pub fn replace(&mut self, range: Range<usize>, by: impl Into<String>) {
        self.list.push((range, by.into()));
    }

    pub fn delete(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Applies all edits.
    pub fn apply(mut self, text: &str) -> String {
        // The sort is stable, so insertions at one place keep their order. A replacement drops edits that begin
        // inside its range.
        (self.list).sort_by_key(|(range, _)| {
            (range.start, !range.is_empty(), std::cmp::Reverse(range.end))
        });
        // If a range is replaced twice, the later edit counts.
        self.list.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0 && !later.0.is_empty();
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, by) in self.list {
            if range.start >= at {
                out.push_str(text.get(at..range.start).unwrap_or(""));
                out.push_str(&by);
            }
            at = at.max(range.end);
        }
        out.push_str(text.get(at..).unwrap_or(""));
        out
    }

    /// Removes items from a list that is separated by commas or blanks; if no item remains, removes the whole
    /// statement.
    pub fn drop_items(
        &mut self,
        text: &str,
        statement: Range<usize>,
        items: &[Range<usize>],
        gone: impl Fn(usize) -> bool,
    ) {
        let mut kept_before = false;
        if (0..items.len()).all(&gone) {
            return self.delete(whole_lines(text, statement));
        }
        for (at, item) in items.iter().enumerate() {
            if !gone(at) {
                kept_before = true;
            } else if kept_before {
                self.delete(items[at - 1].end..item.end);
            } else if let Some(next) = items.get(at + 1) {
                self.delete(item.start..next.start);
            }
        }
    }
}

/// Extends the range of a statement to its line, if the line contains nothing else but a comment after it.
pub fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[range.end..]
        .find('\n')
        .map_or(text.len(), |at| range.end + at);
    let blank = |part: &str| part.trim().is_empty();
    let behind = text[range.end..line_end].trim();
    let comment = behind.starts_with('#')
        || behind.starts_with('{') && behind.find('}') == Some(behind.len() - 1);
    if blank(&text[line_start..range.start]) && (behind.is_empty() || comment) {
        return line_start..(line_end + 1).min(text.len());
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_at_their_places() {
        let text = "a, b, c\n  d\nend";
        let mut edits = Edits::default();
        edits.replace(3..4, "B");
        edits.insert(7, "!");
        edits.insert(7, "?");
        edits.insert(0, ">");
        assert_eq!(edits.apply(text), ">a, B, c!?\n  d\nend");
    }

    #[test]
    fn what_is_replaced_swallows_what_is_inside() {
        let mut edits = Edits::default();
        edits.replace(2..3, "x");
        edits.delete(1..5);
        assert_eq!(edits.apply("abcdefg"), "afg");
    }

    #[test]
    fn what_is_replaced_twice_is_what_was_said_last() {
        let mut edits = Edits::default();
        edits.replace(1..3, "x");
        edits.replace(1..3, "y");
        assert_eq!(edits.apply("abcd"), "ayd");
    }

    #[test]
    fn items_go_with_their_commas_and_statements_with_their_lines() {
        let text = "  s a, b, c   { three }\n  e\n";
        let items = [4..5, 7..8, 10..11];
        let without = |gone: &[usize]| {
            let mut edits = Edits::default();
            edits.drop_items(text, 2..11, &items, |at| gone.contains(&at));
            edits.apply(text)
        };
        assert_eq!(without(&[0]), "  s b, c   { three }\n  e\n");
        assert_eq!(without(&[0, 2]), "  s b   { three }\n  e\n");
        assert_eq!(without(&[1, 2]), "  s a   { three }\n  e\n");
        assert_eq!(without(&[0, 1]), "  s c   { three }\n  e\n");
        assert_eq!(without(&[0, 1, 2]), "  e\n");
    }
}
