//! A sparse pattern: the columns of each row, in compressed rows.

/// A pattern whose entries have grades. Grade 0 is the best for solving the row for the column;
/// larger grades are worse.
#[derive(Clone, Debug)]
pub struct Incidence {
    starts: Vec<u32>,
    entries: Vec<(u32, u8)>,
    columns: usize,
}

impl Incidence {
    pub fn new(columns: usize) -> Self {
        Incidence {
            starts: vec![0],
            entries: Vec::new(),
            columns,
        }
    }

    /// Adds a row. A column that is given twice becomes one entry with its worst grade.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, u8)>) {
        let start = self.entries.len();
        self.entries.extend(entries);
        self.entries[start..].sort_unstable();
        // After sorting, equal columns are neighbours, with the worst grade last.
        let mut kept = start;
        for at in start..self.entries.len() {
            if kept > start && self.entries[kept - 1].0 == self.entries[at].0 {
                self.entries[kept - 1] = self.entries[at];
            } else {
                self.entries[kept] = self.entries[at];
                kept += 1;
            }
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

    /// The columns of a row, ascending, with their grades.
    pub fn row(&self, row: u32) -> &[(u32, u8)] {
        let (start, end) = (self.starts[row as usize], self.starts[row as usize + 1]);
        &self.entries[start as usize..end as usize]
    }

    /// Returns the same pattern in which the rows that `removed` selects are empty.
    pub fn without_rows(&self, removed: impl Fn(u32) -> bool) -> Incidence {
        let mut kept = Incidence::new(self.columns);
        for row in 0..self.rows() as u32 {
            if !removed(row) {
                kept.entries.extend_from_slice(self.row(row));
            }
            kept.starts.push(kept.entries.len() as u32);
        }
        kept
    }

    /// Returns the same pattern in which all entries of a row have the grade that `grade` gives for
    /// it.
    pub fn with_row_grades(&self, grade: impl Fn(u32) -> u8) -> Incidence {
        let mut graded = self.clone();
        for row in 0..self.rows() {
            let (start, end) = (self.starts[row], self.starts[row + 1]);
            for entry in &mut graded.entries[start as usize..end as usize] {
                entry.1 = grade(row as u32);
            }
        }
        graded
    }

    /// Returns the transposed pattern: the rows of each column, ascending.
    pub fn transposed(&self) -> Incidence {
        let mut starts = vec![0u32; self.columns + 1];
        for &(column, _) in &self.entries {
            starts[column as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); self.entries.len()];
        for row in 0..self.rows() as u32 {
            for &(column, grade) in self.row(row) {
                let place = &mut next[column as usize];
                entries[*place as usize] = (row, grade);
                *place += 1;
            }
        }
        Incidence {
            starts,
            entries,
            columns: self.rows(),
        }
    }
}
