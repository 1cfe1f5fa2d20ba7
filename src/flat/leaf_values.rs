//! Numbers by leaf: of variables and first derivatives in tables, of the few others in a map. At each event all variables of a
//! model are looked up, and copied, several times.

use rustc_hash::FxHashMap;

use super::{Leaf, VarId};

#[derive(Debug, Default)]
pub struct LeafValues {
    variables: Table,
    rates: Table,
    others: FxHashMap<Leaf, f64>,
}

/// Numbers by variable.
#[derive(Debug, Default)]
struct Table(Vec<f64>);

/// What no computation gives: other values that are not numbers are kept as they are.
const MISSING: f64 = f64::from_bits(0x7ff8_0000_0bad_1eaf);

impl LeafValues {
    pub fn get(&self, leaf: &Leaf) -> Option<&f64> {
        match *leaf {
            Leaf::Var(id) => self.variables.get(id),
            Leaf::Der(id, 1) => self.rates.get(id),
            other => self.others.get(&other),
        }
    }

    pub fn insert(&mut self, leaf: Leaf, value: f64) {
        match leaf {
            Leaf::Var(id) => *self.variables.slot(id) = value,
            Leaf::Der(id, 1) => *self.rates.slot(id) = value,
            other => {
                self.others.insert(other, value);
            }
        }
    }

    /// Stores the value if it is larger than the known one, or than zero.
    pub fn raise(&mut self, leaf: Leaf, value: f64) {
        let known = self.get(&leaf).copied().unwrap_or(0.0);
        self.insert(leaf, known.max(value));
    }

    pub fn remove(&mut self, leaf: &Leaf) {
        match *leaf {
            Leaf::Var(id) => self.variables.remove(id),
            Leaf::Der(id, 1) => self.rates.remove(id),
            other => {
                self.others.remove(&other);
            }
        }
    }

    pub fn contains_key(&self, leaf: &Leaf) -> bool {
        self.get(leaf).is_some()
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.variables.0.clear();
        self.rates.0.clear();
        self.others.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// In the order of leaves within each kind: variables, first derivatives, others.
    pub fn iter(&self) -> impl Iterator<Item = (Leaf, f64)> + '_ {
        let rates = self
            .rates
            .iter()
            .map(|(id, value)| (Leaf::Der(id, 1), value));
        let variables = self.variables.iter();
        let mut others: Vec<(Leaf, f64)> =
            (self.others.iter().map(|(&leaf, &value)| (leaf, value))).collect();
        others.sort_by_key(|&(leaf, _)| leaf);
        (variables.map(|(id, value)| (Leaf::Var(id), value)))
            .chain(rates)
            .chain(others)
    }
}

impl Table {
    fn get(&self, id: VarId) -> Option<&f64> {
        let found = self.0.get(id.index())?;
        (found.to_bits() != MISSING.to_bits()).then_some(found)
    }

    fn slot(&mut self, id: VarId) -> &mut f64 {
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, MISSING);
        }
        &mut self.0[id.index()]
    }

    fn remove(&mut self, id: VarId) {
        if let Some(value) = self.0.get_mut(id.index()) {
            *value = MISSING;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (VarId, f64)> + '_ {
        let all = self.0.iter().zip(0..);
        all.filter(|(value, _)| value.to_bits() != MISSING.to_bits())
            .map(|(&value, at)| (VarId(at), value))
    }
}

/// Copies into memory that is there.
impl Clone for LeafValues {
    fn clone(&self) -> Self {
        LeafValues {
            variables: self.variables.clone(),
            rates: self.rates.clone(),
            others: self.others.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        self.variables.clone_from(&from.variables);
        self.rates.clone_from(&from.rates);
        self.others.clone_from(&from.others);
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        Table(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

impl FromIterator<(Leaf, f64)> for LeafValues {
    fn from_iter<I: IntoIterator<Item = (Leaf, f64)>>(pairs: I) -> Self {
        let mut values = LeafValues::default();
        values.extend(pairs);
        values
    }
}

impl Extend<(Leaf, f64)> for LeafValues {
    fn extend<I: IntoIterator<Item = (Leaf, f64)>>(&mut self, pairs: I) {
        for (leaf, value) in pairs {
            self.insert(leaf, value);
        }
    }
}
