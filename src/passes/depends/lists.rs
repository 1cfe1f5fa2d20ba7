//! Sorted lists of columns. Expressions that depend on the same columns share a list, so a sparse model needs little
//! more memory than its expressions.

/// The number of a list.
pub type List = u32;

#[derive(Clone, Debug)]
pub struct Lists {
    lists: Vec<Vec<u32>>,
    columns: usize,
    /// The numbers in all lists, and the most that there may be.
    room: usize,
    most: usize,
    /// The list of all columns, which is used when a list needs more room than there is.
    every: Option<List>,
    merged: Vec<u32>,
}

impl Lists {
    /// The empty list.
    pub const NOTHING: List = 0;

    pub fn new(columns: usize, most: usize) -> Self {
        Lists {
            lists: vec![Vec::new()],
            columns,
            room: 0,
            most,
            every: None,
            merged: Vec::new(),
        }
    }

    pub fn of(&self, list: List) -> &[u32] {
        &self.lists[list as usize]
    }

    /// All lists by their numbers.
    pub fn all(&self) -> &[Vec<u32>] {
        &self.lists
    }

    pub fn into_all(self) -> Vec<Vec<u32>> {
        self.lists
    }

    pub fn count(&self) -> usize {
        self.lists.len()
    }

    /// Whether a list was replaced by that of all columns. Then it may name columns that are not needed.
    pub fn is_given_up(&self, list: List) -> bool {
        self.every == Some(list)
    }

    /// Adds a list, which is ascending and has each column once.
    pub fn add(&mut self, list: Vec<u32>) -> List {
        self.room += list.len();
        self.lists.push(list);
        (self.lists.len() - 1) as List
    }

    /// Drops the lists from here on.
    pub fn truncate(&mut self, count: usize) {
        for list in self.lists.drain(count..) {
            self.room -= list.len();
        }
        self.every = self.every.filter(|&every| (every as usize) < count);
    }

    /// Merges the lists from `start` on, and removes these from `of`.
    pub fn merge(&mut self, of: &mut Vec<List>, start: usize) -> List {
        let some = &mut of[start..];
        some.sort_unstable();
        let (mut last, mut count) = (Self::NOTHING, 0);
        for at in 0..some.len() {
            if some[at] != last {
                last = some[at];
                some[count] = last;
                count += 1;
            }
        }
        let list = match some[..count] {
            [] => Self::NOTHING,
            [one] => one,
            _ => self.union(&of[start..start + count]),
        };
        of.truncate(start);
        list
    }

    fn union(&mut self, of: &[List]) -> List {
        if let Some(every) = self.every.filter(|every| of.contains(every)) {
            return every;
        }
        self.merged.clear();
        let mut largest = Self::NOTHING;
        for &list in of {
            let columns = &self.lists[list as usize];
            if columns.len() > self.lists[largest as usize].len() {
                largest = list;
            }
            self.merged.extend(columns);
        }
        // A stable sort merges runs that are sorted already.
        self.merged.sort();
        self.merged.dedup();
        // Often the largest list contains all others.
        if self.merged.len() == self.lists[largest as usize].len() {
            return largest;
        }
        if self.room + self.merged.len() <= self.most {
            return self.add(self.merged.clone());
        }
        match self.every {
            Some(every) => every,
            None => {
                let every = self.add((0..self.columns as u32).collect());
                *self.every.insert(every)
            }
        }
    }
}
