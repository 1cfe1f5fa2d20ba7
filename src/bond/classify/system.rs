//! The equations of one element as a structural system, and what it can give at its ports.
//!
//! Before: an element with its ports. After: [`System`]: the element's own equations and, for any
//! choice of what is given at each port, an assignment of equations to unknowns, if there is one by
//! structure. Variables of other submodels, signals from outside and discrete variables are known.
//! A state is known if its derivative has to be integrated ([`CausalForm::Integral`]); otherwise a
//! state and its derivatives are one unknown ([`CausalForm::Derivative`]).

use rustc_hash::FxHashMap;

use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{Flat, InstanceId, Kind, Leaf, VarId};
use crate::passes::vanishing::constant;
use crate::structure::{Incidence, NONE, maximum_matching};

/// A power port in the variables of its element.
#[derive(Clone, Debug)]
pub struct Port {
    /// One of its across variables. If there are several, the others count as known, because only
    /// differences matter.
    pub across: Option<VarId>,
    pub through: Option<VarId>,
    /// Further variables of the same port.
    pub others: Vec<VarId>,
    /// One of the variables that are summed, if there are several.
    pub summed: Option<VarId>,
    /// Whether the across variable is the flow.
    pub swapped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CausalForm {
    Integral,
    Derivative,
}

/// A variable of the element that occurs in its equations.
#[derive(Clone, Copy, Debug)]
struct InnerUnknown {
    variable: VarId,
    /// The order of its highest derivative in them.
    order: u8,
}

/// The equations of an element.
#[derive(Clone, Debug)]
pub struct System {
    pub rows: Vec<(ExprId, ExprId)>,
    /// The variables and derivatives in each row.
    leaves: Vec<Vec<Leaf>>,
    /// Unknowns of the element that are not at its ports.
    inner: Vec<InnerUnknown>,
    orders: FxHashMap<VarId, u8>,
    /// Signals from outside, in the order of their declaration.
    pub signals: Vec<VarId>,
}

/// Rows, each with the variable or derivative for which it is solved.
pub type RowAssignments = Vec<(usize, Leaf)>;

impl System {
    /// `computed` tells for a signal whether one of the element's own equations computes it.
    pub fn new(
        flat: &Flat,
        instance: InstanceId,
        rows: Vec<(ExprId, ExprId)>,
        ports: &[Port],
        computed: &dyn Fn(VarId) -> bool,
    ) -> System {
        let leaves: Vec<Vec<Leaf>> = (rows.iter())
            .map(|&(left, right)| unknowns(flat, [left, right]))
            .collect();
        let at_ports: Vec<VarId> = (ports.iter())
            .flat_map(|port| [port.across, port.through].into_iter().flatten())
            .chain(ports.iter().flat_map(|port| port.others.iter().copied()))
            .collect();
        let mut orders: FxHashMap<VarId, u8> = FxHashMap::default();
        for leaf in leaves.iter().flatten() {
            let order = orders.entry(leaf.variable()).or_default();
            *order = (*order).max(leaf.order().unwrap_or(0));
        }
        let mut own: Vec<VarId> = (orders.keys().copied())
            .filter(|&id| flat.variable(id).instance == instance && !at_ports.contains(&id))
            .collect();
        own.sort_unstable();
        let is_signal = |id: VarId| {
            use crate::flat::Role::{Input, Output, Terminal};
            matches!(flat.declaration(id).role, Terminal | Input | Output)
                && orders.get(&id) == Some(&0)
        };
        let (terminals, inner): (Vec<VarId>, Vec<VarId>) =
            own.into_iter().partition(|&id| is_signal(id));
        // The number of equations that are left for signals, after inner variables and ports have
        // theirs.
        let spare = rows.len().saturating_sub(inner.len() + ports.len());
        let (mut made, mut signals): (Vec<VarId>, Vec<VarId>) =
            terminals.into_iter().partition(|&id| computed(id));
        while made.len() > spare {
            signals.extend(made.pop());
        }
        while made.len() < spare && !signals.is_empty() {
            made.push(signals.remove(0));
        }
        signals.sort_unstable();
        let with_order = |id: VarId| InnerUnknown {
            variable: id,
            order: orders[&id],
        };
        let mut inner: Vec<InnerUnknown> = inner.into_iter().chain(made).map(with_order).collect();
        inner.sort_by_key(|own| own.variable);
        System {
            rows,
            leaves,
            inner,
            orders,
            signals,
        }
    }

    /// Returns the variables that are differentiated, including those of the ports.
    pub fn states(&self, ports: &[Port]) -> Vec<VarId> {
        let at_ports = (ports.iter()).flat_map(|port| [port.across, port.through]);
        let mut all: Vec<VarId> = (at_ports.flatten())
            .chain(self.inner.iter().map(|own| own.variable))
            .filter(|id| self.orders.get(id).is_some_and(|&order| order > 0))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether an equation contains only this variable.
    pub fn sets(&self, id: VarId) -> bool {
        let mut rows = self.leaves.iter();
        rows.any(|leaves| leaves.as_slice() == [Leaf::Var(id)])
    }

    /// Returns the variables and derivatives in a row.
    pub fn leaves(&self, row: usize) -> &[Leaf] {
        &self.leaves[row]
    }

    /// Returns for which variable each row is solved, if at each port the across (true) or the
    /// through variable is given.
    pub fn solve(
        &self,
        ports: &[Port],
        gives_across: &[bool],
        causal_form: CausalForm,
    ) -> Option<RowAssignments> {
        let mut columns: Vec<Leaf> = Vec::new();
        let mut numbers: FxHashMap<Leaf, u32> = FxHashMap::default();
        let mut add = |id: VarId, order: u8| {
            let leaf = match causal_form {
                CausalForm::Integral => Leaf::at_order(id, order),
                CausalForm::Derivative => Leaf::Var(id),
            };
            // If ports share a variable, it is one unknown although it is given at both.
            numbers.entry(leaf).or_insert_with(|| {
                columns.push(leaf);
                columns.len() as u32 - 1
            });
        };
        for own in &self.inner {
            add(own.variable, own.order);
        }
        for (port, &across) in ports.iter().zip(gives_across) {
            // An element cannot give a quantity for which it has no variable; then this is given to
            // it.
            let (given, taken) = match across {
                true => (port.across?, port.through),
                false => (port.through?, port.across),
            };
            // In integral form an input of the element is not differentiated.
            let order = |id: VarId| self.orders.get(&id).copied().unwrap_or(0);
            if causal_form == CausalForm::Integral && taken.is_some_and(|id| order(id) > 0) {
                return None;
            }
            add(given, order(given));
        }
        if columns.len() != self.rows.len() {
            return None;
        }
        let column = |leaf: Leaf| {
            let leaf = match causal_form {
                CausalForm::Integral => leaf,
                CausalForm::Derivative => Leaf::Var(leaf.variable()),
            };
            numbers.get(&leaf).copied()
        };
        let mut incidence = Incidence::new(columns.len());
        for leaves in &self.leaves {
            let entries = leaves.iter().filter_map(|&leaf| column(leaf));
            incidence.push_row(entries.map(|column| (column, 0)));
        }
        let matching = maximum_matching(&incidence);
        let pairs = matching.column_of.iter().enumerate();
        pairs
            .map(|(row, &column)| (column != NONE).then(|| (row, columns[column as usize])))
            .collect()
    }
}

/// Returns the variables in an equation that are not known before the start, except those whose
/// coefficient is zero as given.
fn unknowns(flat: &Flat, sides: [ExprId; 2]) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut work = sides.to_vec();
    while let Some(id) = work.pop() {
        match flat.exprs.node(id) {
            Node::Leaf(leaf @ (Leaf::Var(_) | Leaf::Der(..))) => {
                let kind = flat.variable(leaf.variable()).kind;
                let known = matches!(kind, Kind::Parameter | Kind::Constant | Kind::Discrete);
                if !known && !found.contains(&leaf) {
                    found.push(leaf);
                }
            }
            Node::Leaf(_) => {}
            Node::Binary(BinaryOp::Mul, a, b)
                if [a, b].iter().any(|&x| constant(flat, x) == Some(0.0)) => {}
            _ => flat.exprs.operands(id, &mut work),
        }
    }
    found
}
