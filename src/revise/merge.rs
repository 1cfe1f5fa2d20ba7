//! Merges storages of one kind that share their rate.
//!
//! Before: a text with two or more linear C on one 1-junction, or I on one 0-junction. All of them are independent,
//! but only the sum of their outputs affects other parts: their differences are constant, which gives an eigenvalue
//! of zero. After: the text with one of them, `1/(1/C1 + 1/C2)`, which starts at the sum of the start values. The old
//! variables follow from the new one and the old start values. This goes beyond the thesis and is done only on
//! request.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::Draft;
use super::edit::Edits;
use super::form::{Equivalent, Form};
use super::name_uses::{KnownVariables, NameUses, set};
use super::parameters::Parameters;
use super::reduce::{Step, TracedModel};
use super::removed::removed_parts;
use super::rewrite::{Rewritten, solved_for};
use super::script::Script;
use super::verify::{Addend, StateSum};
use super::{Obstacle, RevisionContext};
use crate::bond::causality::ElementCausality;
use crate::bond::fields::storage::parameter;
use crate::bond::fields::superfluous::without;
use crate::bond::graph::{BondId, ElementKind, Graph, JunctionKind, NodeId, Quantity};
use crate::bond::net::Gives;
use crate::bond::order::natural;
use crate::evaluate::constant;
use crate::expr::ExprId;
use crate::flat::{Flat, InstanceId, Leaf, VarId};

/// Storages at a junction that can be merged; the first one remains.
#[derive(Clone, Debug)]
pub struct Group {
    pub junction: NodeId,
    pub storages: Vec<ReachedStorage>,
    pub is_flow: bool,
}

/// A storage, and the signs of its effort and flow at the junction.
#[derive(Clone, Copy, Debug)]
pub struct ReachedStorage {
    pub node: NodeId,
    effort: f64,
    flow: f64,
    /// True if power flows into the junction.
    inward: bool,
}

impl Group {
    pub fn name(&self, traced: &TracedModel) -> String {
        let graph = &traced.fields.named.graph;
        let names = (self.storages.iter()).map(|one| graph.node(one.node).name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Returns all groups, by junction.
pub fn groups(traced: &TracedModel) -> Vec<Group> {
    let named = &traced.fields.named;
    let graph = &named.graph;
    let mut flat = traced.fields.flat.clone();
    let bonds_of = graph.bonds_of();
    let mut found: BTreeMap<NodeId, Vec<ReachedStorage>> = BTreeMap::new();
    for (node, element) in graph.elements() {
        let wanted = match element.kind {
            ElementKind::C => JunctionKind::One,
            ElementKind::I => JunctionKind::Zero,
            _ => continue,
        };
        let causality = named.element(&traced.model.causality, node);
        if element.ports.len() != 1
            || causality != ElementCausality::Integral
            || parameter(&mut flat, graph.node(node).owner, element).is_none()
        {
            continue;
        }
        if let Some((junction, reached)) = reach(graph, &bonds_of, node, element.ports[0])
            && graph.node(junction).junction() == Some(wanted)
        {
            found.entry(junction).or_default().push(reached);
        }
    }
    (found.into_iter())
        .filter(|(_, storages)| storages.len() > 1)
        .map(|(junction, mut storages)| {
            let name = |one: &ReachedStorage| &graph.node(one.node).name;
            storages.sort_by(|a, b| natural(name(a), name(b)));
            Group {
                junction,
                storages,
                is_flow: graph.node(junction).junction() == Some(JunctionKind::Zero),
            }
        })
        .collect()
}

/// Returns the first junction with more than two bonds, through junctions that only transmit power.
fn reach(
    graph: &Graph,
    bonds_of: &[Vec<BondId>],
    node: NodeId,
    port: BondId,
) -> Option<(NodeId, ReachedStorage)> {
    let (mut bond, mut at) = (port, graph.bond(port).other(node));
    let (mut effort, mut flow) = (1.0, 1.0);
    for _ in 0..graph.nodes.len() {
        let kind = graph.node(at).junction()?;
        let into = |bond: BondId| graph.bond(bond).to == at;
        let [a, b] = bonds_of[at.index()][..] else {
            let reached = ReachedStorage {
                node,
                effort,
                flow,
                inward: into(bond),
            };
            return Some((at, reached));
        };
        let next = if a == bond { b } else { a };
        // The summed variable keeps its sign if power flows through the junction.
        let turned = if into(bond) == into(next) { -1.0 } else { 1.0 };
        match kind {
            JunctionKind::Zero => flow *= turned,
            JunctionKind::One => effort *= turned,
        }
        (bond, at) = (next, graph.bond(next).other(at));
    }
    None
}

/// A storage of a group.
struct Member {
    node: NodeId,
    owner: InstanceId,
    own: ExprId,
    /// The primary variable and its partner, and their signs at the junction.
    stored: VarId,
    partner: VarId,
    sign: f64,
    partner_sign: f64,
    start: ExprId,
}

/// Returns the text with one storage in place of a group, its equivalent in the requested form.
pub fn merge(
    context: &RevisionContext<'_>,
    traced: &TracedModel,
    text: &str,
    group: &Group,
    form: Option<Form>,
) -> Result<Rewritten, Obstacle> {
    let (flat, named) = (&traced.written, &traced.fields.named);
    let graph = &named.graph;
    let script = Script::new(text, flat)?;
    let mut work = traced.fields.flat.clone();
    let mut members: Vec<Member> = Vec::new();
    for &reached in &group.storages {
        script.declared(flat, graph.node(reached.node).owner)?;
        members.push(member(&mut work, traced, group, reached)?);
    }
    let sign_of = |member: &Member| member.sign * members[0].sign;
    let zero = if group.is_flow {
        Gives::Flow
    } else {
        Gives::Effort
    };
    let storages: Vec<(NodeId, Gives)> = (group.storages[1..].iter())
        .map(|one| (named.nodes_of[one.node.index()], zero))
        .collect();
    let removal = without(&traced.model.graph, &storages)
        .map_err(|needed| Obstacle::Needed(traced.model.graph.node(needed.0).name.clone()))?;
    let removed = removed_parts(flat, &script, &traced.model, &removal)?;

    // The inverse of the sum of inverses; for two members, product over sum.
    let exprs = &mut work.exprs;
    let total = match &members[..] {
        [a, b] => {
            let (product, sum) = (exprs.tidy_mul(a.own, b.own), exprs.tidy_add(a.own, b.own));
            exprs.tidy_div(product, sum)
        }
        _ => {
            let one = exprs.number(1.0);
            let mut sum = exprs.tidy_div(one, members[0].own);
            for member in &members[1..] {
                let inverse = exprs.tidy_div(one, member.own);
                sum = exprs.tidy_add(sum, inverse);
            }
            exprs.tidy_div(one, sum)
        }
    };
    let mut start = members[0].start;
    for member in &members[1..] {
        start = match sign_of(member) > 0.0 {
            true => exprs.tidy_add(start, member.start),
            false => exprs.tidy_sub(start, member.start),
        };
    }
    let kept = &members[0];
    let name_of = |node: NodeId| graph.node(node).name.clone();
    let (set_parameter, value) = solved_for(&mut work, kept.owner, kept.own, total)
        .ok_or_else(|| Obstacle::NoParameter(name_of(kept.node)))?;
    let mut addends = Vec::new();
    for member in &members {
        let share = work.exprs.tidy_div(total, member.own);
        let no_number = || Obstacle::NoParameter(name_of(member.node));
        addends.push(Addend {
            name: flat.name(member.stored),
            factor: sign_of(member),
            start: constant(&work, member.start).ok_or_else(no_number)?,
            share: constant(&work, share).ok_or_else(no_number)?,
        });
    }
    let was = explained(&mut work, &members, total, start);
    let changed = FxHashSet::from_iter([set_parameter]);
    let mut parameters = Parameters::new(&script, removed.instances.clone(), changed);
    let mut edits = Edits::default();
    let owners = FxHashSet::from_iter([kept.owner]);
    let mut name_uses = NameUses::new(&script, flat, &removed.instances, owners, &[]);
    let mut known = KnownVariables {
        flat: &mut work,
        was,
    };
    name_uses.rename_settings(&mut known, &mut parameters, &mut edits)?;
    name_uses.rewrite_uses(&mut known, &mut parameters, &mut edits)?;
    name_uses.refuse_starts(known.flat)?;
    let kept_name = name_of(kept.node);
    let equivalent = Equivalent {
        name: &kept_name,
        owner: kept.owner,
        is_flow: group.is_flow,
        own: kept.own,
        total,
        parameter: set_parameter,
        value,
    };
    let (value, told) = equivalent.text(known.flat, &mut parameters, form)?;
    let declared = script.declared(flat, kept.owner)?;
    let own_name = flat.names.name(flat.declaration(set_parameter).name);
    set(&script, declared, own_name, false, &value, &mut edits);
    if known.flat.exprs.as_number(start) != Some(0.0) {
        let text = parameters.text(known.flat, start)?;
        let variable = flat.names.name(flat.declaration(kept.stored).name);
        set(&script, declared, variable, true, &text, &mut edits);
    }
    let draft = Draft {
        script: &script,
        model: &traced.model,
        flat,
        removed: &removed,
        parameters: &parameters,
        name_uses: &name_uses,
        touched: members.iter().map(|one| flat.path(one.owner)).collect(),
        sums: vec![StateSum {
            new: flat.name(kept.stored),
            old: addends,
        }],
        line: None,
        connections: Vec::new(),
    };
    let text = draft.finish(context, edits, flat)?;
    let steps = (members[1..].iter())
        .map(|member| Step {
            removed: name_of(member.node),
            into: name_of(kept.node),
            path: format!(
                "{} {}{} {}",
                name_of(member.node),
                u8::from(!group.is_flow),
                name_of(group.junction),
                name_of(kept.node)
            ),
            value: told.clone(),
            dropped: Vec::new(),
        })
        .collect();
    Ok(Rewritten { text, steps })
}

fn member(
    flat: &mut Flat,
    traced: &TracedModel,
    group: &Group,
    reached: ReachedStorage,
) -> Result<Member, Obstacle> {
    let node = reached.node;
    let graph = &traced.fields.named.graph;
    let of = graph.node(node);
    let unwritable = || Obstacle::Unwritable(of.name.clone());
    let element = of.element().ok_or_else(unwritable)?;
    let own = parameter(flat, of.owner, element).ok_or_else(unwritable)?;
    let [[effort, flow]] = &element.quantities[..] else {
        return Err(unwritable());
    };
    let single = |quantity: &Quantity| match quantity.0.as_deref() {
        Some([(negative, id)]) => Ok((*id, if *negative { -1.0 } else { 1.0 })),
        _ => Err(unwritable()),
    };
    let (effort, flow) = (single(effort)?, single(flow)?);
    let effort = (effort.0, effort.1 * reached.effort);
    let flow = (flow.0, flow.1 * reached.flow);
    let (stored, partner) = match group.is_flow {
        true => (flow, effort),
        false => (effort, flow),
    };
    let direction = if reached.inward { 1.0 } else { -1.0 };
    let mut given = flat
        .starts
        .iter()
        .filter(|given| flat.variables[given.variable.index()].instance == of.owner);
    let start = match (given.next().copied(), given.next()) {
        (None, _) => flat.exprs.number(0.0),
        (Some(given), None) if given.variable == stored.0 => given.expression,
        (Some(given), _) => return Err(Obstacle::Used(flat.name(given.variable))),
    };
    Ok(Member {
        node,
        owner: of.owner,
        own,
        stored: stored.0,
        partner: partner.0,
        sign: stored.1 * direction,
        partner_sign: partner.1,
        start,
    })
}

/// Returns the old variables of all members in terms of the remaining one.
fn explained(
    flat: &mut Flat,
    members: &[Member],
    total: ExprId,
    start: ExprId,
) -> FxHashMap<VarId, ExprId> {
    let kept = &members[0];
    let exprs = &mut flat.exprs;
    let now = exprs.leaf(Leaf::Var(kept.stored));
    let grown = exprs.tidy_sub(now, start);
    let flow = exprs.leaf(Leaf::Var(kept.partner));
    let mut was = FxHashMap::default();
    for member in members {
        let share = exprs.tidy_div(total, member.own);
        let part = exprs.tidy_mul(share, grown);
        let value = match member.sign * kept.sign > 0.0 {
            true => exprs.tidy_add(member.start, part),
            false => exprs.tidy_sub(member.start, part),
        };
        was.insert(member.stored, value);
        let same = member.partner_sign * kept.partner_sign > 0.0;
        let partner = if same { flow } else { exprs.tidy_minus(flow) };
        was.insert(member.partner, partner);
    }
    was
}
