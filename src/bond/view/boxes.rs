//! Closes submodels below a given depth: each becomes one box with the bonds that lead into it.
//!
//! Only a submodel that contains other submodels of the graph is closed. An element is never
//! closed, at any depth.

use std::collections::BTreeMap;

use super::simplify::SimplifiedGraph;
use crate::bond::graph::{Node, NodeId, NodeKind};
use crate::flat::{Flat, InstanceId};

pub fn close(flat: &Flat, simplified: &mut SimplifiedGraph, depth: usize) {
    let depth = depth.max(1);
    let mut depths = vec![0usize; flat.instances.len()];
    for (at, instance) in flat.instances.iter().enumerate().skip(1) {
        // Parents come before their submodels.
        depths[at] = depths[instance.parent.index()] + 1;
    }
    let ancestor = |mut at: InstanceId| {
        while depths[at.index()] > depth {
            at = flat.instances[at.index()].parent;
        }
        at
    };
    let mut members: BTreeMap<InstanceId, (bool, Vec<NodeId>)> = BTreeMap::new();
    for (at, node) in simplified.nodes.iter().enumerate() {
        if depths[node.owner.index()] < depth {
            continue;
        }
        let above = ancestor(node.owner);
        let entry = members.entry(above).or_default();
        entry.0 |= node.owner != above;
        entry.1.push(NodeId(at as u32));
    }
    for (instance, (contains_others, nodes)) in members {
        if contains_others {
            let class = flat.instances[instance.index()].class;
            simplified.join_as(
                &nodes,
                Node {
                    name: flat.path(instance),
                    named: true,
                    owner: instance,
                    kind: NodeKind::Box(flat.names.name(class).to_string()),
                },
            );
        }
    }
}
