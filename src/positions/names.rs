//! How switches and positions are called.

use super::{Positions, Switch};
use crate::expr::Node;
use crate::flat::{Flat, InstanceId, Leaf};

impl Positions {
    /// `Diode`, `S1`; of a condition that the model itself states, its text.
    pub fn switch_name(&self, at: usize) -> String {
        let switch = &self.written_switches[at];
        match switch.origin {
            InstanceId::TOP => self.written.expression(switch.condition),
            origin => {
                let path = self.written.path(origin);
                let twins = (self.written_switches.iter())
                    .filter(|other| other.origin == origin)
                    .count();
                match twins {
                    1 => path,
                    _ => format!("{path}: {}", self.written.expression(switch.condition)),
                }
            }
        }
    }

    /// `open`, `closed`; of other conditions `true`, `false`.
    pub fn word(&self, at: usize, truth: bool) -> &'static str {
        let opens = opens(&self.written, &self.written_switches[at]);
        match (opens, truth) {
            (true, true) => "open",
            (true, false) => "closed",
            (false, true) => "true",
            (false, false) => "false",
        }
    }

    /// `S1 open, D1 closed`
    pub fn position_name(&self, key: &[bool]) -> String {
        let words = key.iter().enumerate().map(|(at, &truth)| {
            let (name, word) = (self.switch_name(at), self.word(at, truth));
            format!("{name} {word}")
        });
        words.collect::<Vec<String>>().join(", ")
    }
}

/// Whether the condition is the signal of a switch that says that it is open.
fn opens(flat: &Flat, switch: &Switch) -> bool {
    match flat.exprs.node(switch.condition) {
        Node::Leaf(Leaf::Var(id)) => flat.names.name(flat.declaration(id).name) == "OpenSwitch",
        _ => false,
    }
}
