//! Unique names of variables in another language: letters, digits and `_`, and no reserved words.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flat::{Flat, Leaf};

/// The names so far, and what they stand for.
#[derive(Clone, Debug)]
pub struct Names {
    reserved: FxHashSet<&'static str>,
    taken: FxHashSet<String>,
    leaves: FxHashMap<Leaf, String>,
}

impl Names {
    /// Reserved words cannot be names.
    pub fn new(reserved: &'static str) -> Self {
        Names {
            reserved: reserved.split_whitespace().collect(),
            taken: FxHashSet::default(),
            leaves: FxHashMap::default(),
        }
    }

    /// A unique name that resembles the text.
    pub fn fresh(&mut self, text: &str) -> String {
        let mut name = plain(text);
        if self.reserved.contains(name.as_str()) {
            name.push('_');
        }
        let first = name.clone();
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{first}_{count}");
        }
        name
    }

    pub fn add(&mut self, flat: &Flat, leaf: Leaf) {
        if self.leaves.contains_key(&leaf) {
            return;
        }
        let name = flat.name(leaf.variable());
        let name = match leaf {
            Leaf::Var(_) => name,
            Leaf::Der(_, 1) => format!("der_{name}"),
            Leaf::Der(_, order) => format!("der{order}_{name}"),
            Leaf::New(_) => format!("new_{name}"),
            Leaf::Init(_) => format!("init_{name}"),
            Leaf::Pre(_) => format!("pre_{name}"),
        };
        let name = self.fresh(&name);
        self.leaves.insert(leaf, name);
    }

    /// Sets a name that was found elsewhere.
    pub fn set(&mut self, leaf: Leaf, name: String) {
        self.leaves.insert(leaf, name);
    }

    /// The name of a leaf; empty if it has none.
    pub fn get(&self, leaf: Leaf) -> &str {
        self.leaves.get(&leaf).map_or("", String::as_str)
    }
}

/// `c[2].R1` is `c_2_R1`. A name does not begin with a digit or `_`: such names belong to the language.
fn plain(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ']' => {}
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ => name.push('_'),
        }
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 'v');
    }
    name
}
