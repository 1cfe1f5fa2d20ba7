//! Units of the variables of a flat model.

use std::sync::Arc;

use super::{Flat, Leaf, VarId};
use crate::base::unit::{Measure, Power, read, text, times_seconds};

/// A value with a unit: in its expressions this constant stands for the unit.
#[derive(Clone, Copy, Debug)]
pub struct Literal {
    pub variable: VarId,
    pub measure: Measure,
}

crate::base::ids::ids! {
    /// A unit of a model.
    UnitId "u";
}

/// Units by variable. Variables that a pass adds later have none.
#[derive(Clone, Debug, Default)]
pub struct Units {
    of: Arc<Vec<Option<UnitId>>>,
    list: Arc<Vec<(String, Measure)>>,
    /// Whether listings tell units.
    shown: bool,
}

impl Units {
    pub fn new(of: Vec<Option<UnitId>>, list: Vec<(String, Measure)>) -> Units {
        Units {
            of: Arc::new(of),
            list: Arc::new(list),
            shown: false,
        }
    }

    /// From now on listings tell units.
    pub fn show(&mut self) {
        self.shown = true;
    }

    pub fn are_shown(&self) -> bool {
        self.shown
    }

    fn get(&self, id: VarId) -> Option<&(String, Measure)> {
        let unit = self.of.get(id.index()).copied().flatten()?;
        self.list.get(unit.index())
    }

    pub fn measure(&self, id: VarId) -> Option<Measure> {
        self.get(id).map(|(_, measure)| *measure)
    }

    pub fn text(&self, id: VarId) -> Option<&str> {
        self.get(id).map(|(text, _)| text.as_str())
    }
}

impl Flat {
    /// The unit of a variable: as declared, or inferred.
    pub fn unit(&self, id: VarId) -> Option<&str> {
        let declared = self.declaration(id).remarks.unit.as_deref();
        declared.or_else(|| self.units.text(id))
    }

    /// The unit in data that list a model: as declared, unless all units are asked for.
    pub fn listed_unit(&self, id: VarId) -> Option<&str> {
        match self.units.shown {
            true => self.unit(id),
            false => self.declaration(id).remarks.unit.as_deref(),
        }
    }

    /// The unit of a variable or derivative.
    pub fn leaf_unit(&self, leaf: Leaf) -> Option<String> {
        let unit = self
            .unit(leaf.variable())
            .filter(|unit| !unit.trim().is_empty())?;
        match leaf.order().unwrap_or(0) {
            0 => Some(unit.to_string()),
            order => rate(unit, order),
        }
    }
}

/// The unit of a derivative: with the name of the unit where this reads well, V/s, m/s2; K/s for degC.
fn rate(unit: &str, order: u8) -> Option<String> {
    match read(unit) {
        Ok(measure) if measure.offset != 0.0 || unit.contains('^') => {
            let second = Measure::second().raised(Power::whole(i32::from(order)))?;
            Some(text(&measure.of_differences().over(&second)))
        }
        _ => times_seconds(unit, -i32::from(order)),
    }
}
