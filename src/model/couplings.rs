//! What connections mean: coupling equations and zero flows.
//!
//! Before: groups of simple cuts that meet. After: equations between variables, in coordinates
//! that hold for every instance of the class where its connections are free of arrays.
//!
//! At a node across variables are equal and through variables sum to zero, each counted into its
//! own model; a cut of the enclosing model counts the other way. At a `junction1` the through
//! variables are equal and the across variables sum to zero, with the product of their own sign and
//! that of their through variable. The equations stand in the order of the 1990 paper: the cut
//! connected last comes first.

use super::connect::{Group, Met, OwnerNumber, PointKey, SELF, connect};
use super::instance::Tree;
use super::structure::{Place, Places};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;

#[derive(Clone, Debug)]
pub enum Coupling {
    /// Two variables are equal, or opposite.
    Equal(Place, Place),
    /// The sum with signs is zero.
    Sum(Vec<Place>),
    /// Of a cut that nothing is connected to.
    Zero(Place),
}

#[derive(Clone, Debug, Default)]
pub struct Couplings {
    pub list: Vec<(Coupling, Span)>,
    /// Terminals that are connected: their defaults do not hold.
    pub terminals: Vec<(OwnerNumber, u32)>,
}

/// The coupling equations of an instance; `None` after an error.
pub fn couplings(tree: &mut Tree<'_>, instance: u32) -> Option<Couplings> {
    let met = connect(tree, instance)?;
    let mut couplings = Couplings {
        list: Vec::new(),
        terminals: met.terminals.clone(),
    };
    for group in &met.groups {
        if group.junction1 {
            at_junction1(tree, instance, group, &mut couplings)?;
        } else {
            at_node(group, &mut couplings);
        }
    }
    unconnected(tree, instance, &met, &mut couplings)?;
    Some(couplings)
}

/// How many positions a side of the group has.
fn positions<'g>(sides: impl Iterator<Item = &'g Places>) -> usize {
    sides.flatten().map(Vec::len).max().unwrap_or(0)
}

fn place(side: &Places, position: usize) -> Option<Place> {
    side.as_ref()
        .and_then(|places| places.get(position).copied().flatten())
}

fn at_node(group: &Group, couplings: &mut Couplings) {
    for position in 0..positions(group.members.iter().map(|m| &m.across)) {
        let places: Vec<Place> = (group.members.iter())
            .filter_map(|member| place(&member.across, position))
            .collect();
        equalities(places, group.span, couplings);
    }
    for position in 0..positions(group.members.iter().map(|m| &m.through)) {
        // A cut without a through variable supplies whatever flow is asked for.
        let terms: Option<Vec<Place>> = (group.members.iter())
            .map(|member| place(&member.through, position).map(from_outside))
            .collect();
        sum(terms, group.span, couplings);
    }
}

/// What flows in through a cut of the enclosing model flows out of the node.
fn from_outside(place: Place) -> Place {
    Place {
        negative: place.negative != (place.owner == SELF),
        ..place
    }
}

fn equalities(places: Vec<Place>, span: Span, couplings: &mut Couplings) {
    let mut distinct: Vec<Place> = Vec::with_capacity(places.len());
    for place in places {
        if !distinct.contains(&place) {
            distinct.push(place);
        }
    }
    for pair in distinct.windows(2).rev() {
        let coupling = Coupling::Equal(pair[0], pair[1]);
        couplings.list.push((coupling, span));
    }
}

fn sum(terms: Option<Vec<Place>>, span: Span, couplings: &mut Couplings) {
    let Some(mut terms) = terms else { return };
    terms.reverse();
    // A flow that enters and leaves the same node cancels: a part with both ends at one node.
    let mut at = 0;
    while at < terms.len() {
        let opposite = Place {
            negative: !terms[at].negative,
            ..terms[at]
        };
        match terms.iter().position(|&term| term == opposite) {
            Some(other) => {
                terms.remove(at.max(other));
                terms.remove(at.min(other));
                at = at.min(other);
            }
            None => at += 1,
        }
    }
    if !terms.is_empty() {
        couplings.list.push((Coupling::Sum(terms), span));
    }
}

fn at_junction1(
    tree: &mut Tree<'_>,
    instance: u32,
    group: &Group,
    couplings: &mut Couplings,
) -> Option<()> {
    for member in &group.members {
        if let (Some(across), Some(through)) = (&member.across, &member.through)
            && across.len() != through.len()
        {
            let name = tree.point_name(instance, member.key);
            tree.diagnostics.push(
                Diagnostic::new(
                    Code::JunctionRoles,
                    format!("`{name}` cannot be connected to a junction1"),
                )
                .at(
                    group.span,
                    format!(
                        "it has {} across and {} through variables",
                        across.len(),
                        through.len()
                    ),
                )
                .hint("at a junction1 each effort belongs to a flow"),
            );
            return None;
        }
    }
    for position in 0..positions(group.members.iter().map(|m| &m.through)) {
        let places: Vec<Place> = (group.members.iter())
            .filter_map(|member| place(&member.through, position))
            .map(|place| Place {
                negative: false,
                ..place
            })
            .collect();
        equalities(places, group.span, couplings);
    }
    for position in 0..positions(group.members.iter().map(|m| &m.across)) {
        // A cut without an across variable takes up whatever effort is left.
        let terms: Option<Vec<Place>> = (group.members.iter())
            .map(|member| {
                let across = place(&member.across, position)?;
                // One without a through variable delivers: its effort enters with minus.
                let flows_out = place(&member.through, position).is_none_or(|f| f.negative);
                Some(from_outside(Place {
                    negative: across.negative != flows_out,
                    ..across
                }))
            })
            .collect();
        sum(terms, group.span, couplings);
    }
    Some(())
}

/// Flows of cuts that nothing is connected to are zero, each once.
fn unconnected(
    tree: &mut Tree<'_>,
    instance: u32,
    met: &Met,
    couplings: &mut Couplings,
) -> Option<()> {
    let touched: rustc_hash::FxHashSet<PointKey> = (met.groups.iter())
        .flat_map(|group| group.members.iter().map(|member| member.key))
        .collect();
    let mut complete = Some(());
    let submodels = &tree.shape(instance).submodels;
    let children = submodels.last().map_or(0, |run| run.first + run.size);
    for owner in 1..=children {
        let inner = tree.owner_instance(instance, owner);
        let record = tree.instances[inner as usize];
        let span = tree.class(instance).submodels[record.submodel as usize].span;
        let cuts = simple_cuts(tree, instance, owner)?;
        if cuts.is_empty() {
            continue;
        }
        let open: Vec<&(PointKey, Places)> = (cuts.iter())
            .filter(|(key, _)| !touched.contains(key))
            .collect();
        if open.len() == cuts.len() {
            let name = tree.path(inner);
            let names: Vec<String> = (cuts.iter())
                .map(|&(key, _)| format!("`{}`", tree.point_name(instance, key)))
                .collect();
            tree.diagnostics.push(
                Diagnostic::new(Code::NotConnected, format!("`{name}` is not connected"))
                    .at(span, "nothing is connected to it")
                    .hint(format!("connect {}, or remove it", names.join(", "))),
            );
            complete = None;
            continue;
        }
        let mut zeros: Vec<Place> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (key, through) in open {
            let flows: Vec<Place> = through.iter().flatten().copied().flatten().collect();
            if !flows.is_empty() {
                names.push(format!("`{}`", tree.point_name(instance, *key)));
            }
            add_zeros(flows, &mut zeros);
        }
        if !zeros.is_empty() {
            tree.diagnostics.push(
                Diagnostic::new(
                    Code::UnconnectedCut,
                    format!("nothing is connected to {}", names.join(", ")),
                )
                .at(span, "its flow is set to zero"),
            );
        }
        let zeros = zeros.into_iter().map(|zero| (Coupling::Zero(zero), span));
        couplings.list.extend(zeros);
    }
    if instance == 0 {
        // Nothing is outside the compiled model.
        let span = tree.class(0).span;
        let mut zeros: Vec<Place> = Vec::new();
        for (_, through) in simple_cuts(tree, 0, SELF)? {
            add_zeros(through.into_iter().flatten().flatten().collect(), &mut zeros);
        }
        let zeros = zeros.into_iter().map(|zero| (Coupling::Zero(zero), span));
        couplings.list.extend(zeros);
    }
    complete
}

fn add_zeros(flows: Vec<Place>, zeros: &mut Vec<Place>) {
    for flow in flows {
        if !zeros.iter().any(|zero| zero.offset == flow.offset) {
            zeros.push(flow);
        }
    }
}

/// All simple cuts of an owner, with their through variables.
fn simple_cuts(
    tree: &mut Tree<'_>,
    instance: u32,
    owner: OwnerNumber,
) -> Option<Vec<(PointKey, Places)>> {
    use super::class::CutBody;
    let class = tree.class(tree.owner_instance(instance, owner));
    let mut found = Vec::new();
    for (cut, decl) in class.cuts.iter().enumerate() {
        if let CutBody::Simple { .. } = decl.body {
            let key = PointKey::Cut {
                owner,
                cut: cut as u32,
                element: 0,
            };
            for member in tree.open(instance, key)?.members {
                found.push((member.key, member.through));
            }
        }
    }
    Some(found)
}
