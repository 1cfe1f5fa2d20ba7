//! Sparse rows of integers: compressed, and linked by rows and by columns for an elimination.

use super::NONE;

/// `times*a - by*b` of two sums with whole factors; `None` if numbers grow too large.
pub fn difference<T: Copy + Ord>(
    a: &[(T, i64)],
    times: i64,
    b: &[(T, i64)],
    by: i64,
) -> Option<Vec<(T, i64)>> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    for &(what, factor) in a {
        all.push((what, factor.checked_mul(times)?));
    }
    for &(what, factor) in b {
        all.push((what, factor.checked_mul(by)?.checked_neg()?));
    }
    all.sort_unstable_by_key(|&(what, _)| what);
    let mut sum: Vec<(T, i64)> = Vec::with_capacity(all.len());
    for (what, factor) in all {
        match sum.last_mut() {
            Some((same, total)) if *same == what => *total = total.checked_add(factor)?,
            _ => sum.push((what, factor)),
        }
    }
    sum.retain(|&(_, factor)| factor != 0);
    Some(sum)
}

/// Rows of integers, in compressed form.
#[derive(Clone, Debug)]
pub struct IntegerRows {
    starts: Vec<u32>,
    entries: Vec<(u32, i64)>,
    columns: usize,
}

impl IntegerRows {
    pub fn new(columns: usize) -> Self {
        IntegerRows {
            starts: vec![0],
            entries: Vec::new(),
            columns,
        }
    }

    /// Adds a row. Values of the same column are added, and zeros are left out.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, i64)>) {
        let start = self.entries.len();
        self.entries.extend(entries);
        self.entries[start..].sort_unstable_by_key(|&(column, _)| column);
        let mut kept = start;
        for at in start..self.entries.len() {
            let (column, value) = self.entries[at];
            if kept > start && self.entries[kept - 1].0 == column {
                self.entries[kept - 1].1 = self.entries[kept - 1].1.saturating_add(value);
                continue;
            }
            // All values of the previous column have been added.
            if kept > start && self.entries[kept - 1].1 == 0 {
                kept -= 1;
            }
            self.entries[kept] = (column, value);
            kept += 1;
        }
        if kept > start && self.entries[kept - 1].1 == 0 {
            kept -= 1;
        }
        self.entries.truncate(kept);
        self.starts.push(kept as u32);
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Columns of a row, ascending, with their values.
    pub fn row(&self, row: u32) -> &[(u32, i64)] {
        let (start, end) = (self.starts[row as usize], self.starts[row as usize + 1]);
        &self.entries[start as usize..end as usize]
    }
}

/// Returns the linear combination of rows, column by column, without zeros. Returns `None` if a
/// number overflows.
pub fn sum(rows: &IntegerRows, combination: &[(u32, i64)]) -> Option<Vec<(u32, i64)>> {
    let mut all: Vec<(u32, i64)> = Vec::new();
    for &(row, times) in combination {
        for &(column, value) in rows.row(row) {
            all.push((column, value.checked_mul(times)?));
        }
    }
    all.sort_unstable_by_key(|&(column, _)| column);
    let mut left: Vec<(u32, i64)> = Vec::new();
    for (column, value) in all {
        match left.last_mut() {
            Some((same, total)) if *same == column => *total = total.checked_add(value)?,
            _ => left.push((column, value)),
        }
    }
    left.retain(|&(_, value)| value != 0);
    Some(left)
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    column: u32,
    value: i64,
    /// Neighbours in the row, or `NONE`.
    left: u32,
    right: u32,
    /// Neighbours in the column, or `NONE`.
    up: u32,
    down: u32,
}

/// A sparse matrix of entries that are linked by row and by column. To find an entry, its row and
/// its column are searched in parallel: in a matrix that comes from a network one of them is short.
#[derive(Debug)]
pub struct Links {
    entries: Vec<Entry>,
    /// Removed entries, to be used again.
    spare: Vec<u32>,
    row_heads: Vec<u32>,
    column_heads: Vec<u32>,
    pub row_sizes: Vec<u32>,
    pub column_sizes: Vec<u32>,
}

impl Links {
    /// Copies the columns that `wanted` selects.
    pub fn new(rows: &IntegerRows, wanted: &[bool]) -> Self {
        let mut links = Links {
            entries: Vec::with_capacity(rows.len()),
            spare: Vec::new(),
            row_heads: vec![NONE; rows.rows()],
            column_heads: vec![NONE; rows.columns()],
            row_sizes: vec![0; rows.rows()],
            column_sizes: vec![0; rows.columns()],
        };
        for row in (0..rows.rows() as u32).rev() {
            for &(column, value) in rows.row(row).iter().rev() {
                if wanted[column as usize] {
                    links.insert(row, column, value);
                }
            }
        }
        links
    }

    pub fn insert(&mut self, row: u32, column: u32, value: i64) {
        let right = self.row_heads[row as usize];
        let down = self.column_heads[column as usize];
        let entry = Entry {
            row,
            column,
            value,
            left: NONE,
            right,
            up: NONE,
            down,
        };
        let at = match self.spare.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        if right != NONE {
            self.entries[right as usize].left = at;
        }
        if down != NONE {
            self.entries[down as usize].up = at;
        }
        self.row_heads[row as usize] = at;
        self.column_heads[column as usize] = at;
        self.row_sizes[row as usize] += 1;
        self.column_sizes[column as usize] += 1;
    }

    pub fn remove(&mut self, at: u32) {
        self.hide(at);
        let Entry {
            row, left, right, ..
        } = self.entries[at as usize];
        match left {
            NONE => self.row_heads[row as usize] = right,
            _ => self.entries[left as usize].right = right,
        }
        if right != NONE {
            self.entries[right as usize].left = left;
        }
        self.row_sizes[row as usize] -= 1;
        self.spare.push(at);
    }

    /// Removes an entry from its column, but not from its row.
    pub fn hide(&mut self, at: u32) {
        let Entry {
            column, up, down, ..
        } = self.entries[at as usize];
        match up {
            NONE => self.column_heads[column as usize] = down,
            _ => self.entries[up as usize].down = down,
        }
        if down != NONE {
            self.entries[down as usize].up = up;
        }
        self.column_sizes[column as usize] -= 1;
    }

    pub fn find(&self, row: u32, column: u32) -> Option<u32> {
        let mut across = self.row_heads[row as usize];
        let mut down = self.column_heads[column as usize];
        while across != NONE && down != NONE {
            let (a, d) = (&self.entries[across as usize], &self.entries[down as usize]);
            if a.column == column {
                return Some(across);
            }
            if d.row == row {
                return Some(down);
            }
            (across, down) = (a.right, d.down);
        }
        None
    }

    pub fn value(&self, at: u32) -> i64 {
        self.entries[at as usize].value
    }

    pub fn set(&mut self, at: u32, value: i64) {
        self.entries[at as usize].value = value;
    }

    /// Entries of a row: number, column, value.
    pub fn row(&self, row: u32) -> impl Iterator<Item = (u32, u32, i64)> + '_ {
        let mut next = self.row_heads[row as usize];
        std::iter::from_fn(move || {
            let at = next;
            let entry = self.entries.get(at as usize)?;
            next = entry.right;
            Some((at, entry.column, entry.value))
        })
    }

    /// Entries of a column: number, row, value.
    pub fn column(&self, column: u32) -> impl Iterator<Item = (u32, u32, i64)> + '_ {
        let mut next = self.column_heads[column as usize];
        std::iter::from_fn(move || {
            let at = next;
            let entry = self.entries.get(at as usize)?;
            next = entry.down;
            Some((at, entry.row, entry.value))
        })
    }
}
