//! Modes of a model with switches as data. They are written beside a set of formulas, or of sorted equations, that is
//! valid in one mode only. The schema is in docs/json.md.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::reduction_json::write_reduction;
use super::solved_json::write_solution;
use crate::base::source::Sources;
use crate::compile::Table;
use crate::passes::blocks::Solved;
use crate::positions::{Mode, Positions};

#[derive(Serialize)]
struct SwitchEntry {
    name: String,
    condition: String,
}

fn switches(positions: &Positions) -> Vec<SwitchEntry> {
    (positions.written_switches.iter().enumerate())
        .map(|(at, switch)| SwitchEntry {
            name: positions.switch_name(at),
            condition: positions.written.expression(switch.condition),
        })
        .collect()
}

/// The mode in which values were computed.
#[derive(Debug)]
pub struct PositionOf<'p> {
    pub positions: &'p Positions,
    pub key: &'p [bool],
}

impl PositionOf<'_> {
    pub fn name(&self) -> String {
        self.positions.position_name(self.key)
    }
}

impl Serialize for PositionOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("switches", &switches(self.positions))?;
        map.serialize_entry("key", self.key)?;
        map.end()
    }
}

/// The mode for which sorted equations are valid.
#[derive(Debug)]
pub struct Shown<'p> {
    pub positions: &'p Positions,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("switches", &switches(self.positions))?;
        map.serialize_entry("shown", &self.positions.shown)?;
        map.end()
    }
}

/// The same, with the solution of each mode.
#[derive(Debug)]
pub struct ByPosition<'p> {
    pub table: &'p Table,
    pub sources: &'p Sources,
}

impl Serialize for ByPosition<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let Table {
            positions,
            shapes,
            solved,
        } = self.table;
        map.serialize_entry("switches", &switches(positions))?;
        map.serialize_entry("shown", &positions.shown)?;
        let list: Vec<PositionEntry<'_>> = (shapes.modes.iter())
            .map(|mode| PositionEntry {
                mode,
                solution: solved.get(&mode.key).map(|solved| &**solved),
                sources: self.sources,
            })
            .collect();
        map.serialize_entry("list", &list)?;
        map.serialize_entry("all", &shapes.all)?;
        map.end()
    }
}

struct PositionEntry<'p> {
    mode: &'p Mode,
    solution: Option<&'p Solved>,
    sources: &'p Sources,
}

impl Serialize for PositionEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let shape = self.mode.shape.as_ref();
        map.serialize_entry("key", &self.mode.key)?;
        map.serialize_entry("possible", &shape.is_some())?;
        map.serialize_entry("order", &shape.map(|shape| shape.order))?;
        map.serialize_entry("index", &shape.map(|shape| shape.index))?;
        if let Some(solved) = self.solution {
            map.serialize_entry(
                "solution",
                &Solution {
                    solved,
                    sources: self.sources,
                },
            )?;
        }
        map.end()
    }
}

struct Solution<'s> {
    solved: &'s Solved,
    sources: &'s Sources,
}

impl Serialize for Solution<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_solution(self.solved, self.sources, &mut map)?;
        write_reduction(&self.solved.flat, self.sources, &mut map)?;
        map.end()
    }
}
