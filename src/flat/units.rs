//! Units of the variables of a flat model.

use std::sync::Arc;

use super::{Flat, VarId};
use crate::base::unit::Measure;

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
}

impl Units {
    pub fn new(of: Vec<Option<UnitId>>, list: Vec<(String, Measure)>) -> Units {
        Units {
            of: Arc::new(of),
            list: Arc::new(list),
        }
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
}
