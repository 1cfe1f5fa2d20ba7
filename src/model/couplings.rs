//! Equations of connections: couplings and zero flows.
//!
//! Before: groups of simple cuts that are connected. After: equations between variables, in
//! coordinates that hold for every instance of the class if its connections contain no arrays.
//!
//! At a node across variables are equal and through variables sum to zero. A through variable is
//! positive into its own model, so one of a cut of the enclosing model has the opposite sign. At a
//! `junction1` the through variables are equal and the across variables sum to zero; each has the
//! product of its own sign and that of its through variable. The equations are in the order of the
//! 1990 paper: the cut connected last comes first.

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::class::CutBody;
use super::connect::{Group, Met, OwnerNumber, PointKey, SELF, connect};
use super::instance::Tree;
use super::ports::{Meeting, meetings};
use super::structure::{Place, Places};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;

#[derive(Clone, Debug)]
pub enum Coupling {
    /// Two variables are equal, or opposite.
    Equal(Place, Place),
    /// The sum with signs is zero.
    Sum(Vec<Place>),
    /// The through variable of a cut that is not connected is zero.
    Zero(Place),
}

#[derive(Clone, Debug, Default)]
pub struct Couplings {
    pub list: Vec<(Coupling, Span)>,
    /// Terminals that are connected, so that their defaults are not used.
    pub terminals: Vec<(OwnerNumber, u32)>,
    /// Which cuts meet.
    pub meetings: Vec<Meeting>,
}

/// The coupling equations of an instance; `None` after an error.
pub fn couplings(tree: &mut Tree<'_>, instance: u32) -> Option<Couplings> {
    let met = connect(tree, instance)?;
    let mut couplings = Couplings {
        list: Vec::new(),
        terminals: met.terminals.clone(),
        meetings: meetings(tree, instance, &met.groups),
    };
    for group in &met.groups {
        glance();
        if group.junction1 {
            at_junction1(tree, instance, group, &mut couplings)?;
        } else {
            at_node(group, &mut couplings);
        }
    }
    unconnected(tree, instance, &met, &mut couplings)?;
    Some(couplings)
}

/// The number of components on one side of the group.
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
        // A cut without a through variable supplies any flow, so there is no sum.
        let terms: Option<Vec<Place>> = (group.members.iter())
            .map(|member| place(&member.through, position).map(from_outside))
            .collect();
        sum(terms, group.span, couplings);
    }
}

/// A flow into the instance through its own cut flows out of the node inside.
fn from_outside(place: Place) -> Place {
    Place {
        negative: place.negative != (place.owner == SELF),
        ..place
    }
}

fn equalities(places: Vec<Place>, span: Span, couplings: &mut Couplings) {
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let distinct: Vec<Place> = (places.into_iter())
        .filter(|&place| seen.insert(place))
        .collect();
    for pair in distinct.windows(2).rev() {
        let coupling = Coupling::Equal(pair[0], pair[1]);
        couplings.list.push((coupling, span));
    }
}

fn sum(terms: Option<Vec<Place>>, span: Span, couplings: &mut Couplings) {
    let Some(mut terms) = terms else { return };
    terms.reverse();
    // A flow that enters and leaves the same node cancels: both ends of a part are at one node.
    let mut waiting: FxHashMap<Place, Vec<usize>> = FxHashMap::default();
    let mut cancelled: FxHashSet<usize> = FxHashSet::default();
    for (at, &term) in terms.iter().enumerate() {
        let opposite = Place {
            negative: !term.negative,
            ..term
        };
        match waiting.get_mut(&opposite).and_then(Vec::pop) {
            Some(other) => cancelled.extend([at, other]),
            None => waiting.entry(term).or_default().push(at),
        }
    }
    let left: Vec<Place> = (terms.into_iter().enumerate())
        .filter(|(at, _)| !cancelled.contains(at))
        .map(|(_, term)| term)
        .collect();
    if !left.is_empty() {
        couplings.list.push((Coupling::Sum(left), span));
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
        // A cut without an across variable takes any effort, so there is no sum.
        let terms: Option<Vec<Place>> = (group.members.iter())
            .map(|member| {
                let across = place(&member.across, position)?;
                // A cut without a through variable delivers power: its effort has a minus sign.
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

/// The flows of cuts that are not connected are zero; each is listed once.
fn unconnected(
    tree: &mut Tree<'_>,
    instance: u32,
    met: &Met,
    couplings: &mut Couplings,
) -> Option<()> {
    let touched: FxHashSet<PointKey> = (met.groups.iter())
        .flat_map(|group| group.members.iter().map(|member| member.key))
        .collect();
    let mut complete = Some(());
    let submodels = &tree.shape(instance).submodels;
    let children = submodels.last().map_or(0, |run| run.first + run.size);
    for owner in 1..=children {
        let inner = tree.owner_instance(instance, owner);
        let record = tree.instances[inner as usize];
        let span = tree.class(instance).submodels[record.submodel as usize].span;
        let cuts = simple_cuts(tree, instance, owner);
        if cuts.is_empty() {
            continue;
        }
        let open: Vec<PointKey> = (cuts.iter().copied())
            .filter(|key| !touched.contains(key))
            .collect();
        if open.len() == cuts.len() {
            let name = tree.path(inner);
            let names: Vec<String> = (cuts.iter())
                .map(|&key| format!("`{}`", tree.point_name(instance, key)))
                .collect();
            tree.diagnostics.push(
                Diagnostic::new(Code::NotConnected, format!("`{name}` is not connected"))
                    .at(span, "nothing is connected to it")
                    .hint(format!("connect {}, or remove it", listed(&names))),
            );
            complete = None;
            continue;
        }
        let mut zeros: Vec<Place> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for key in open {
            let flows = flows(tree, instance, key)?;
            if !flows.is_empty() {
                names.push(format!("`{}`", tree.point_name(instance, key)));
            }
            zeros.extend(flows);
        }
        if !zeros.is_empty() {
            tree.diagnostics.push(
                Diagnostic::new(
                    Code::UnconnectedCut,
                    format!("nothing is connected to {}", listed(&names)),
                )
                .at(span, "what flows there is set to zero"),
            );
        }
        let zeros = once(zeros)
            .into_iter()
            .map(|zero| (Coupling::Zero(zero), span));
        couplings.list.extend(zeros);
    }
    if instance == 0 {
        // Nothing exists outside the compiled model.
        let span = tree.class(0).span;
        let mut zeros: Vec<Place> = Vec::new();
        for key in simple_cuts(tree, 0, SELF) {
            zeros.extend(flows(tree, 0, key)?);
        }
        let zeros = once(zeros)
            .into_iter()
            .map(|zero| (Coupling::Zero(zero), span));
        couplings.list.extend(zeros);
    }
    complete
}

/// The first few of a list of names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 6;
    match names.len() {
        0..=MOST => names.join(", "),
        _ => format!(
            "{} and {} more",
            names[..MOST].join(", "),
            names.len() - MOST
        ),
    }
}

/// Keeps the first of several equations for the same flow.
fn once(mut zeros: Vec<Place>) -> Vec<Place> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    zeros.retain(|zero| seen.insert(zero.offset));
    zeros
}

/// The through variables of a simple cut.
fn flows(tree: &mut Tree<'_>, instance: u32, key: PointKey) -> Option<Vec<Place>> {
    let members = tree.open(instance, key)?.members;
    let through = members.into_iter().filter_map(|member| member.through);
    Some(through.flatten().flatten().collect())
}

/// All simple cuts of an owner, element by element.
fn simple_cuts(tree: &Tree<'_>, instance: u32, owner: OwnerNumber) -> Vec<PointKey> {
    let inner = tree.owner_instance(instance, owner);
    let class = tree.class(inner);
    let mut found = Vec::with_capacity(class.cuts.len());
    for (cut, decl) in class.cuts.iter().enumerate() {
        if let CutBody::Simple { .. } = decl.body {
            let elements = match decl.array {
                false => 0..=0,
                true => 1..=tree.shape(inner).cuts[cut],
            };
            found.extend(elements.map(|element| PointKey::Cut {
                owner,
                cut: cut as u32,
                element,
            }));
        }
    }
    found
}
