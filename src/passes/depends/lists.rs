//! Sorted lists of columns, shared by all that depends on the same: a model of sparse structure costs little more than its expressions.

/// The place of a list.
pub type List = u32;

#[derive(Clone, Debug)]
pub struct Lists {
    lists: Vec<Vec<u32>>,
    columns: usize,
    /// Numbers in all lists, and how many there may be.
    room: usize,
    most: usize,
    /// The list of all columns, once a list needed more room than there was.
    every: Option<List>,
    merged: Vec<u32>,
}

impl Lists {
    /// The list of what depends on nothing.
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

    /// All lists by their places.
    pub fn all(&self) -> &[Vec<u32>] {
        &self.lists
    }

    pub fn into_all(self) -> Vec<Vec<u32>> {
        self.lists
    }

    pub fn count(&self) -> usize {
        self.lists.len()
    }

    /// Whether a list was given up: then it may say more than there is.
    pub fn is_given_up(&self, list: List) -> bool {
        self.every == Some(list)
    }

    /// Ascending, each column once.
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

    /// What is in any of the lists from `start` on, which are taken out.
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
        // The stable sort merges what is sorted already.
        self.merged.sort();
        self.merged.dedup();
        // Often one of them has all that the others have.
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
