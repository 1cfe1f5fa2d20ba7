//! Makes the ports of the flat model from cuts.
//!
//! Before: the instance tree, and the connections of each instance, one after the other. After:
//! [`Ports`], with the node that each port is connected to on either side.

use rustc_hash::FxHashMap;

use super::class::{ClassId, CutBody, CutPlace, Side};
use super::connect::{Group, OwnerNumber, PointKey, SELF};
use super::flatten::Flattener;
use super::instance::Tree;
use crate::base::intern::Symbol;
use crate::flat::{
    EquationKind, InstanceId, Junction, JunctionId, Law, Pair, PortId, Ports, Signed, VarId,
};

/// The cuts that meet in one place of an instance, each by its owner and its place among the ports
/// of it.
#[derive(Clone, Debug)]
pub struct Meeting {
    pub members: Vec<(OwnerNumber, u32)>,
    pub junction1: bool,
    pub has_terminal: bool,
    /// The declared node, with its index in an array.
    pub node: Option<(Symbol, u32)>,
    /// Its place in a bundle, from 1 on.
    pub part: Option<u32>,
}

/// Where the cuts of the groups lie among the ports of their owners.
pub fn meetings(tree: &Tree<'_>, instance: u32, groups: &[Group]) -> Vec<Meeting> {
    // The first port of each cut, once for each class and shape.
    let mut firsts: FxHashMap<(ClassId, u32), Vec<u32>> = FxHashMap::default();
    let mut found = Vec::with_capacity(groups.len());
    for group in groups {
        let mut members = Vec::with_capacity(group.members.len());
        for member in &group.members {
            let PointKey::Cut {
                owner,
                cut,
                element,
            } = member.key
            else {
                continue;
            };
            let inner = tree.owner_instance(instance, owner);
            let record = tree.instances[inner as usize];
            let firsts = (firsts.entry((record.class, record.shape)))
                .or_insert_with(|| port_firsts(tree, inner));
            members.push((owner, firsts[cut as usize] + element.saturating_sub(1)));
        }
        if !members.is_empty() {
            found.push(Meeting {
                has_terminal: members.len() < group.members.len(),
                junction1: group.junction1,
                node: group.node.map(|node| tree.node_name(instance, node)),
                part: group.part,
                members,
            });
        }
    }
    found
}

/// The index of the first port of each cut of an instance, and the number of its ports.
fn port_firsts(tree: &Tree<'_>, instance: u32) -> Vec<u32> {
    let mut next = 0;
    let mut firsts = vec![0];
    for (cut, &size) in tree
        .class(instance)
        .cuts
        .iter()
        .zip(&tree.shape(instance).cuts)
    {
        next += match (&cut.body, cut.array) {
            (CutBody::Bundle(_), _) => 0,
            (CutBody::Simple { .. }, true) => size,
            (CutBody::Simple { .. }, false) => 1,
        };
        firsts.push(next);
    }
    firsts
}

impl Flattener<'_, '_> {
    /// All ports, not connected yet.
    pub(super) fn ports(&mut self) {
        let tree = &*self.tree;
        let mut counts: FxHashMap<(ClassId, u32), u32> = FxHashMap::default();
        self.port_firsts = Vec::with_capacity(tree.instances.len() + 1);
        let mut next = 0;
        for (id, record) in tree.instances.iter().enumerate() {
            self.port_firsts.push(next);
            next += *(counts.entry((record.class, record.shape)))
                .or_insert_with(|| port_firsts(tree, id as u32).last().copied().unwrap_or(0));
        }
        let mut ports = Ports::with_capacity(next as usize);
        for (id, record) in tree.instances.iter().enumerate() {
            let shape = tree.shape(id as u32);
            for (cut, &size) in tree.class(id as u32).cuts.iter().zip(&shape.cuts) {
                let CutBody::Simple { across, through } = &cut.body else {
                    continue;
                };
                let count = across.len().unwrap_or(0).max(through.len().unwrap_or(0));
                let elements = if cut.array { 1..=size } else { 0..=0 };
                for element in elements {
                    let signed = |place: CutPlace| {
                        let run = shape.variables[place.slot as usize];
                        let at = record.variables + run.first + element.saturating_sub(1);
                        Signed::new(VarId(at), place.negative)
                    };
                    let side = |side: &Side, at: usize| side.place(at).map(signed);
                    let pairs = (0..count).map(|at| Pair {
                        across: side(across, at),
                        through: side(through, at),
                    });
                    ports.push(InstanceId(id as u32), cut.name, element, pairs);
                }
            }
        }
        self.parts.ports = ports;
    }

    /// Records the nodes that the connections of an instance lead to.
    pub(super) fn meet(&mut self, instance: u32, meetings: &[Meeting]) {
        for meeting in meetings {
            let junction = JunctionId::new(self.parts.ports.junctions.len());
            self.parts.ports.junctions.push(Junction {
                origin: InstanceId(instance),
                junction1: meeting.junction1,
                has_terminal: meeting.has_terminal,
                node: meeting.node,
                part: meeting.part,
            });
            for &(owner, place) in &meeting.members {
                let inner = self.tree.owner_instance(instance, owner);
                let id = PortId(self.port_firsts[inner as usize] + place);
                let port = self.parts.ports.get_mut(id);
                match owner {
                    SELF => port.inside = Some(junction),
                    _ => port.outside = Some(junction),
                }
            }
        }
    }

    /// Keeps the equations of instances that may be storages, when it is known what is
    /// differentiated.
    pub(super) fn laws(&mut self) {
        let mut is_storing = vec![false; self.tree.instances.len()];
        for variable in &self.parts.variables {
            let at = variable.instance.index();
            let has_ports = self.port_firsts[at]
                < (self.port_firsts.get(at + 1).copied()).unwrap_or(self.parts.ports.len() as u32);
            is_storing[at] |= variable.order > 0 && has_ports;
        }
        let laws = &mut self.parts.ports.laws;
        let own = (self.parts.equations.iter())
            .filter(|equation| equation.kind == EquationKind::Equation)
            .filter(|equation| is_storing[equation.origin.index()]);
        laws.extend(own.map(|equation| Law {
            left: equation.left,
            right: equation.right,
            origin: equation.origin,
        }));
        laws.sort_by_key(|law| law.origin);
    }
}
