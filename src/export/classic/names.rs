//! Unique names that are legal in another language.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flat::{Flat, Leaf};

/// The rules for names.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The separator between the parts of a path; `None` if only letters and digits are allowed.
    pub between: Option<char>,
    /// `a` and `A` are the same name.
    pub folds_case: bool,
    /// The longest name.
    pub longest: usize,
    /// Words that have a meaning, in small letters where case does not count.
    pub reserved: &'static str,
}

#[derive(Clone, Debug)]
pub struct Names {
    rules: Rules,
    taken: FxHashSet<String>,
    leaves: FxHashMap<Leaf, String>,
}

impl Names {
    pub fn new(rules: Rules) -> Names {
        let taken = rules
            .reserved
            .split_whitespace()
            .map(str::to_string)
            .collect();
        Names {
            rules,
            taken,
            leaves: FxHashMap::default(),
        }
    }

    /// A unique name.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let plain = self.plain(wanted);
        let mut name: String = plain.chars().take(self.rules.longest).collect();
        let mut number = 1;
        while self.taken.contains(&self.key(&name)) {
            number += 1;
            let end = number.to_string();
            let room = self.rules.longest.saturating_sub(end.len());
            name = plain.chars().take(room).collect();
            name.push_str(&end);
        }
        self.taken.insert(self.key(&name));
        name
    }

    fn key(&self, name: &str) -> String {
        match self.rules.folds_case {
            true => name.to_lowercase(),
            false => name.to_string(),
        }
    }

    /// Names a variable, or a derivative with `d` before its name.
    pub fn add(&mut self, flat: &Flat, leaf: Leaf) {
        let name = flat.name(leaf.variable());
        let wanted = match leaf {
            Leaf::Der(_, order) => format!("{}{name}", "d".repeat(usize::from(order))),
            _ => name,
        };
        self.add_as(leaf, &wanted);
    }

    pub fn add_as(&mut self, leaf: Leaf, wanted: &str) {
        if !self.leaves.contains_key(&leaf) {
            let name = self.fresh(wanted);
            self.leaves.insert(leaf, name);
        }
    }

    /// The same name for another leaf.
    pub fn share(&mut self, leaf: Leaf, with: Leaf) {
        if let Some(name) = self.leaves.get(&with).cloned() {
            self.leaves.insert(leaf, name);
        }
    }

    /// The name of a leaf; empty if it has none.
    pub fn get(&self, leaf: Leaf) -> &str {
        self.leaves.get(&leaf).map_or("", String::as_str)
    }

    /// `c[2].R1` is `c2$R1`.
    fn plain(&self, text: &str) -> String {
        let mut name = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '[' | ']' => {}
                c if c.is_ascii_alphanumeric() => name.push(c),
                '.' | '_' => name.extend(self.rules.between),
                _ => name.push('x'),
            }
        }
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert(0, 'v');
        }
        name
    }
}
