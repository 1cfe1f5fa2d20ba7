//! What all json of linear analyses begins with. The schema is in docs/json.md.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use crate::analyse::Analysed;
use crate::analyse::matrices::Sparse;

/// `version`, `model`, `time`, `mode`, `point`, and what is written behind them.
#[derive(Debug)]
pub struct Document<'a, T> {
    pub analysed: &'a Analysed,
    pub body: T,
}

/// The fields of one analysis.
pub trait Fields {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl<T: Fields> Serialize for Document<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let linear = &self.analysed.linear;
        let mode = self.analysed.mode.as_ref();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &1)?;
        map.serialize_entry("model", linear.flat().model())?;
        map.serialize_entry("time", &linear.point.time)?;
        map.serialize_entry("mode", &mode.map(|mode| &mode.key))?;
        if let Some(mode) = mode {
            map.serialize_entry("mode_name", &mode.name)?;
        }
        map.serialize_entry("point", &Named(&linear.shown_point()))?;
        self.body.write(&mut map)?;
        map.end()
    }
}

/// Names with their values, in their order.
#[derive(Debug)]
struct Named<'a>(&'a [(String, f64)]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A matrix, row by row or by its entries.
#[derive(Debug)]
pub struct Matrix<'a> {
    pub of: &'a Sparse,
    pub sparse: bool,
}

impl Serialize for Matrix<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.sparse {
            let mut map = serializer.serialize_map(Some(2))?;
            map.serialize_entry("shape", &[self.of.rows.len(), self.of.columns])?;
            let entries: Vec<(usize, usize, f64)> = self.of.entries().collect();
            map.serialize_entry("entries", &entries)?;
            return map.end();
        }
        let mut rows = serializer.serialize_seq(Some(self.of.rows.len()))?;
        let mut full = vec![0.0; self.of.columns];
        for row in &self.of.rows {
            full.fill(0.0);
            for &(column, value) in row {
                full[column as usize] = value;
            }
            rows.serialize_element(&full)?;
        }
        rows.end()
    }
}

/// Several analyses: one for each mode.
#[derive(Debug, Serialize)]
pub struct Several<'a, T: Serialize> {
    pub version: u32,
    pub model: &'a str,
    pub modes: Vec<T>,
}
