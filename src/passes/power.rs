//! The power that flows into a submodel at its ports.
//!
//! It is the sum, over the components of a cut, of across times through variable, each with its
//! sign: through variables are positive into their own model. Where a cut has no variable (`.`),
//! the junction that it is connected to determines it: at a node the across variables are equal and
//! the through variables sum to zero, at a `junction1` it is the other way round.

use crate::expr::ExprId;
use crate::flat::{Flat, InstanceId, JunctionId, Leaf, Pair, PortId, Signed, VarId};

/// Terms of a sum of variables; `true` marks a negative sign.
pub type Terms = Vec<(bool, VarId)>;

/// What is known of the power at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Power {
    /// Across and through for each component.
    Is(Vec<(Terms, Terms)>),
    /// The port has only signals, and no power.
    Nothing,
    /// Several parts without a variable meet there, so the power of each of them is not determined.
    Shared,
}

/// A port that is connected to a junction.
#[derive(Clone, Copy, Debug)]
struct Member {
    junction: JunctionId,
    port: PortId,
    /// A cut of the model that has the junction.
    from_inside: bool,
}

#[derive(Debug)]
pub struct Powers {
    /// By junction.
    members: Vec<Member>,
}

impl Powers {
    pub fn new(flat: &Flat) -> Self {
        let mut members = Vec::with_capacity(flat.ports.len());
        for port in flat.ports.ids() {
            let record = flat.ports.get(port);
            for (junction, from_inside) in [(record.outside, false), (record.inside, true)] {
                members.extend(junction.map(|junction| Member {
                    junction,
                    port,
                    from_inside,
                }));
            }
        }
        members.sort_by_key(|member| member.junction);
        Powers { members }
    }

    fn members(&self, junction: JunctionId) -> &[Member] {
        let first = (self.members).partition_point(|member| member.junction < junction);
        let end = (self.members).partition_point(|member| member.junction <= junction);
        &self.members[first..end]
    }

    pub fn of_port(&self, flat: &Flat, port: PortId) -> Power {
        let pairs = flat.ports.pairs(port).iter().enumerate();
        together(pairs.map(|(position, &pair)| self.of_pair(flat, port, position, pair)))
    }

    /// The power at all ports of a submodel.
    pub fn of_instance(&self, flat: &Flat, instance: InstanceId) -> Power {
        together(flat.ports.of(instance).map(|port| self.of_port(flat, port)))
    }

    fn of_pair(&self, flat: &Flat, port: PortId, position: usize, own: Pair) -> Power {
        if let (Some(across), Some(through)) = (own.across, own.through) {
            return Power::Is(vec![(vec![term(across)], vec![term(through)])]);
        }
        let Some(junction) = flat.ports.get(port).outside else {
            return Power::Nothing;
        };
        let at = |member: &Member| flat.ports.pairs(member.port).get(position).copied();
        let all = self.members(junction);
        let across: Vec<Option<Signed>> = all.iter().map(|m| at(m)?.across).collect();
        let through: Vec<Option<Signed>> = all.iter().map(|m| at(m)?.through).collect();
        let (Some(any_across), Some(any_through)) = (first(&across), first(&through)) else {
            return Power::Nothing;
        };
        let record = flat.ports.junctions[junction.index()];
        // For this member, the sum over the others leaves this.
        let left = |side: &[Option<Signed>], sign: &dyn Fn(usize, Signed) -> bool| {
            let missing = side.iter().filter(|entry| entry.is_none()).count();
            (missing == 1 && !record.has_terminal).then(|| -> Terms {
                (side.iter().enumerate())
                    .filter_map(|(place, entry)| entry.map(|entry| (place, entry)))
                    .map(|(place, entry)| {
                        let negative = sign(place, entry) != all[place].from_inside;
                        (!negative, entry.variable())
                    })
                    .collect()
            })
        };
        let found = match record.junction1 {
            false => {
                let flow = match own.through {
                    Some(flow) => Some(vec![term(flow)]),
                    None => left(&through, &|_, flow| flow.negative()),
                };
                let effort = vec![term(own.across.unwrap_or(any_across))];
                flow.map(|flow| (effort, flow))
            }
            true => {
                // The flows themselves are equal. A member without a flow delivers power.
                let delivers = |flow: Option<Signed>| flow.is_none_or(Signed::negative);
                let sign =
                    |place: usize, effort: Signed| effort.negative() != delivers(through[place]);
                let effort = match own.across {
                    Some(effort) => Some(vec![(
                        effort.negative() != delivers(own.through),
                        effort.variable(),
                    )]),
                    None => left(&across, &sign),
                };
                let flow = vec![(false, any_through.variable())];
                effort.map(|effort| (effort, flow))
            }
        };
        found.map_or(Power::Shared, |found| Power::Is(vec![found]))
    }
}

/// The sum of powers, if each of them is known.
fn together(parts: impl Iterator<Item = Power>) -> Power {
    let mut pairs = Vec::new();
    for part in parts {
        match part {
            Power::Is(found) => pairs.extend(found),
            Power::Nothing => {}
            Power::Shared => return Power::Shared,
        }
    }
    match pairs.is_empty() {
        true => Power::Nothing,
        false => Power::Is(pairs),
    }
}

fn first(side: &[Option<Signed>]) -> Option<Signed> {
    side.iter().copied().flatten().next()
}

fn term(signed: Signed) -> (bool, VarId) {
    (signed.negative(), signed.variable())
}

/// A sum of variables as an expression.
pub fn sum(flat: &mut Flat, terms: &[(bool, VarId)]) -> ExprId {
    let terms: Vec<(bool, ExprId)> = (terms.iter())
        .map(|&(negative, id)| (negative, flat.exprs.leaf(Leaf::Var(id))))
        .collect();
    flat.exprs.sum(&terms)
}

/// The power as an expression.
pub fn expression(flat: &mut Flat, pairs: &[(Terms, Terms)]) -> ExprId {
    let mut products = Vec::with_capacity(pairs.len());
    for (across, through) in pairs {
        let (across, through) = (sum(flat, across), sum(flat, through));
        let product = flat.exprs.tidy_mul(across, through);
        products.push(match flat.exprs.negated(product) {
            Some(inner) => (true, inner),
            None => (false, product),
        });
    }
    flat.exprs.sum(&products)
}
