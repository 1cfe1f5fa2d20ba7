//! Ports: the simple cuts of all instances with their variables, and where they are connected.
//!
//! [`crate::model`] makes them, and nothing changes them: the ids of variables and expressions stay valid through index
//! reduction and alias elimination. Ports are in the order of their instances, those of an instance in the order of
//! declaration, elements of an array one after the other. A port takes 24 bytes, and 8 for each of its pairs.

use std::num::NonZeroU32;

use super::{InstanceId, VarId};
use crate::base::intern::Symbol;
use crate::expr::ExprId;

/// A variable of a cut with its sign, or none, in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signed(NonZeroU32);

impl Signed {
    pub fn new(variable: VarId, negative: bool) -> Self {
        let code = (variable.0 << 1 | u32::from(negative)).saturating_add(1);
        Signed(NonZeroU32::new(code).unwrap_or(NonZeroU32::MAX))
    }

    pub fn variable(self) -> VarId {
        VarId((self.0.get() - 1) >> 1)
    }

    /// Declared with a minus: `cut A(e/-f)`.
    pub fn negative(self) -> bool {
        (self.0.get() - 1) & 1 == 1
    }
}

/// One component of a cut; `None` stands for `.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub across: Option<Signed>,
    pub through: Option<Signed>,
}

/// A place where cuts are connected: a node or `junction1` of an instance, or cuts that are connected directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JunctionId(NonZeroU32);

impl JunctionId {
    pub fn new(at: usize) -> Self {
        let code = u32::try_from(at + 1).unwrap_or(u32::MAX);
        JunctionId(NonZeroU32::new(code).unwrap_or(NonZeroU32::MAX))
    }

    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junction {
    /// The model that contains the connection.
    pub origin: InstanceId,
    pub junction1: bool,
    /// A terminal is connected here as well, so there is no balance of flows.
    pub has_terminal: bool,
    /// The declared node, with its index in an array (0 for a single one).
    pub node: Option<(Symbol, u32)>,
    /// Its place in a bundle, counted from 1, if bundles were connected.
    pub part: Option<u32>,
}

/// A simple cut of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    pub instance: InstanceId,
    pub name: Symbol,
    /// From 1 on in an array; 0 for a single cut.
    pub index: u32,
    /// Its first pair; the others follow, up to those of the next port.
    first: u32,
    /// Where the enclosing model connects it.
    pub outside: Option<JunctionId>,
    /// Where its own model connects it.
    pub inside: Option<JunctionId>,
}

/// An equation of an instance as it was written.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    pub left: ExprId,
    pub right: ExprId,
    pub origin: InstanceId,
}

/// A port, by its index. Prints as `p12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

impl PortId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Debug for PortId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p{}", self.0)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Ports {
    list: Vec<Port>,
    pairs: Vec<Pair>,
    pub junctions: Vec<Junction>,
    /// The equations, as they were written, of instances that have ports and a derivative, by origin. A storage is
    /// recognised by these; after elimination that would not be possible.
    pub laws: Vec<Law>,
}

impl Ports {
    pub fn with_capacity(ports: usize) -> Self {
        Ports {
            list: Vec::with_capacity(ports),
            pairs: Vec::with_capacity(ports),
            ..Ports::default()
        }
    }

    pub fn push(
        &mut self,
        instance: InstanceId,
        name: Symbol,
        index: u32,
        pairs: impl Iterator<Item = Pair>,
    ) {
        self.list.push(Port {
            instance,
            name,
            index,
            first: self.pairs.len() as u32,
            outside: None,
            inside: None,
        });
        self.pairs.extend(pairs);
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn get(&self, id: PortId) -> &Port {
        &self.list[id.index()]
    }

    pub fn get_mut(&mut self, id: PortId) -> &mut Port {
        &mut self.list[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.list.len() as u32).map(PortId)
    }

    pub fn pairs(&self, id: PortId) -> &[Pair] {
        let first = self.list[id.index()].first as usize;
        let end =
            (self.list.get(id.index() + 1)).map_or(self.pairs.len(), |next| next.first as usize);
        &self.pairs[first..end]
    }

    /// The ports of an instance.
    pub fn of(&self, instance: InstanceId) -> impl Iterator<Item = PortId> + use<> {
        let first = self.list.partition_point(|port| port.instance < instance);
        let end = self.list.partition_point(|port| port.instance <= instance);
        (first as u32..end as u32).map(PortId)
    }

    /// The equations of an instance in [`Ports::laws`].
    pub fn laws_of(&self, instance: InstanceId) -> &[Law] {
        let first = self.laws.partition_point(|law| law.origin < instance);
        let end = self.laws.partition_point(|law| law.origin <= instance);
        &self.laws[first..end]
    }
}
