//! Names of what has no name of its own: cuts, and places where cuts are connected directly.

use super::points::Points;
use crate::bond::order::natural;
use crate::flat::{Flat, InstanceId, PortId};

/// `R1:A`, `c[2]:p[3]`
pub fn cut(flat: &Flat, port: PortId) -> String {
    let record = flat.ports.get(port);
    let mut name = flat.path(record.instance);
    if record.instance != InstanceId::TOP {
        name.push(':');
    }
    name.push_str(flat.names.name(record.name));
    if record.index > 0 {
        name.push_str(&format!("[{}]", record.index));
    }
    name
}

/// Where power variables meet: the name of its node, else of a cut that ends there; and whether a node has it.
pub fn point(flat: &Flat, points: &Points, at: usize) -> (String, bool) {
    let point = &points.list[at];
    let record = flat.ports.junctions[point.junction.index()];
    let Some((symbol, index)) = record.node else {
        let cuts = point.members.iter().map(|member| cut(flat, member.port));
        let depth = |name: &String| name.matches('.').count();
        let name = cuts.min_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| natural(a, b)));
        return (
            with_position(name.unwrap_or_default(), point.position),
            false,
        );
    };
    let mut name = flat.path(record.origin);
    if record.origin != InstanceId::TOP {
        name.push('.');
    }
    name.push_str(flat.names.name(symbol));
    if index > 0 {
        name.push_str(&format!("[{index}]"));
    }
    if let Some(part) = record.part {
        name.push_str(&format!(":{part}"));
    }
    (with_position(name, point.position), true)
}

/// Cuts with several pairs of variables meet in several junctions.
fn with_position(name: String, position: u32) -> String {
    match position {
        0 => name,
        _ => format!("{name}'{}", position + 1),
    }
}
