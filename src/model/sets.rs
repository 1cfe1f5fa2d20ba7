//! Sets of joined points, with the time at which each was last named.

use rustc_hash::FxHashMap;

use super::connect::PointKey;

/// What the joined points tell about a set of simple cuts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    /// Whether its node is a `junction1`, if it has a node.
    pub junction1: Option<bool>,
    pub node: Option<u32>,
    pub part: Option<u32>,
}

/// Sets of joined things, with when each was named.
#[derive(Debug, Default)]
pub struct Sets {
    pub numbers: FxHashMap<PointKey, u32>,
    pub keys: Vec<PointKey>,
    pub parents: Vec<u32>,
    pub first: Vec<u32>,
    pub last: Vec<u32>,
}

impl Sets {
    pub fn add(&mut self, key: PointKey, time: u32) -> u32 {
        let next = self.keys.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
            self.parents.push(number);
            self.first.push(time);
            self.last.push(time);
        }
        let last = &mut self.last[number as usize];
        *last = (*last).max(time);
        number
    }

    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    /// The sets, each with its members in the order in which they were first named, sorted by when
    /// they were last named: the order in which the 1990 paper lists its nodes.
    pub fn groups(&mut self) -> Vec<Vec<u32>> {
        let mut by_root: FxHashMap<u32, usize> = FxHashMap::default();
        let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_by_key(|&at| self.first[at as usize]);
        for at in order {
            let root = self.find(at);
            let group = *by_root.entry(root).or_insert_with(|| {
                groups.push((0, Vec::new()));
                groups.len() - 1
            });
            groups[group].0 = groups[group].0.max(self.last[at as usize]);
            groups[group].1.push(at);
        }
        groups.sort_by_key(|&(last, _)| last);
        groups.into_iter().map(|(_, members)| members).collect()
    }
}
