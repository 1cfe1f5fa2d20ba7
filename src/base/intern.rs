//! Interned names: a [`Symbol`] is a number that stands for a text.
//!
//! After the parser, names are stored and compared as numbers, so a model of a million variables
//! has no text for each variable.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// Numbers are given in the order of first appearance, so they are the same in every run.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Interner {
    pub fn intern(&mut self, name: &str) -> Symbol {
        let hash = FxBuildHasher.hash_one(name);
        let Interner { text, ends, table } = self;
        if let Some(&found) = table.find(hash, |&id| slice(text, ends, id) == name) {
            return Symbol(found);
        }
        let id = ends.len() as u32;
        text.push_str(name);
        ends.push(text.len() as u32);
        table.insert_unique(hash, id, |&id| {
            FxBuildHasher.hash_one(slice(text, ends, id))
        });
        Symbol(id)
    }

    /// The symbol of a name, if the name has occurred.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        let hash = FxBuildHasher.hash_one(name);
        self.table
            .find(hash, |&id| slice(&self.text, &self.ends, id) == name)
            .map(|&id| Symbol(id))
    }

    /// Whether the symbol is one of these names.
    pub fn holds(&self, symbol: Symbol) -> bool {
        (symbol.0 as usize) < self.ends.len()
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        slice(&self.text, &self.ends, symbol.0)
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], id: u32) -> &'a str {
    let start = match id {
        0 => 0,
        _ => ends[id as usize - 1] as usize,
    };
    &text[start..ends[id as usize] as usize]
}
