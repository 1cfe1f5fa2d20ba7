//! What every program needs of a solved model, in a fixed order.
//!
//! Before: a solved model, one set of formulas for all modes of its switches. After: lists of states, inputs,
//! parameters, discrete variables and computed variables; relations that keep their truth between events; start values.
//! All candidates of a selection are states: a program integrates them together and projects them back onto their
//! constraints. A model that no program can be made from is refused here by name.

use crate::positions::Positions;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Refusal;
use super::switched::Switched;
use crate::base::words::quoted;
use crate::evaluate::{Point, Walk, evaluate_start, value_of};
use crate::experiment::Experiment;
use crate::expr::{ExprId, Node, Value};
use crate::flat::{EqId, EquationKind, Flat, Given, Kind, Leaf, Type, VarId, WhenId};
use crate::passes::blocks::{Block, Linear, Method, Selected, Solved};
use crate::passes::relations::{Relation, Sample, WatchKind};
use crate::simulate::columns::{self, Column};

/// An action in a branch of a `when`.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// A discrete variable, or a state.
    pub target: Leaf,
    pub value: ExprId,
    pub equation: EqId,
}

/// A condition, and the actions when it becomes true.
pub type Branch = (ExprId, Vec<Action>);

/// A start value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    pub value: f64,
    /// The expression of parameters that gives the value, if there is one.
    pub expression: Option<ExprId>,
}

/// What the experiment says about inputs.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub inputs: FxHashMap<VarId, ExprId>,
    /// Derivatives of inputs at the start, if they are inputs of their own; those not listed are 0.
    pub slopes: Option<FxHashMap<Leaf, f64>>,
}

impl Told {
    /// The derivatives that are inputs: those that one of these forms of the model contains.
    pub fn slopes(&self, forms: &[&Flat]) -> Vec<(Leaf, f64)> {
        let Some(slopes) = &self.slopes else {
            return Vec::new();
        };
        let value = |leaf: Leaf| (leaf, slopes.get(&leaf).copied().unwrap_or(0.0));
        derivatives_of_inputs(forms)
            .into_iter()
            .map(value)
            .collect()
    }
}

/// The derivatives of inputs that forms of a model contain, in order.
pub fn derivatives_of_inputs(forms: &[&Flat]) -> Vec<Leaf> {
    let mut all: Vec<Leaf> = Vec::new();
    for flat in forms {
        let inputs = (flat.variable_ids()).filter(|&id| flat.variable(id).kind == Kind::Input);
        all.extend(inputs.flat_map(|id| {
            (1..=flat.variable(id).order).map(move |order| Leaf::at_order(id, order))
        }));
    }
    all.sort_by_key(|leaf| (leaf.variable(), leaf.order()));
    all.dedup();
    all
}

#[derive(Debug)]
pub struct Model<'s> {
    pub solved: &'s Solved,
    pub flat: &'s Flat,
    /// Variables that are always states, then candidates of selections.
    pub states: Vec<Leaf>,
    /// Inputs, each with its formula in the experiment.
    pub inputs: Vec<(VarId, Option<ExprId>)>,
    /// Derivatives of inputs that are inputs of their own, with their values at the start.
    pub slopes: Vec<(Leaf, f64)>,
    /// Parameters that can get other values,
    pub parameters: Vec<VarId>,
    /// and those that are computed from them or fixed, in the order of evaluation.
    pub derived: Vec<VarId>,
    pub discretes: Vec<VarId>,
    /// For a model with different equations in each mode of its switches.
    pub switched: Option<Switched<'s>>,
    /// Variables whose value before an event is used.
    pub before: Vec<VarId>,
    /// The variables that blocks compute, in order.
    pub computed: Vec<Leaf>,
    pub replacements: FxHashMap<Leaf, ExprId>,
    pub watches: Vec<Relation>,
    /// What relations are at the start, with the values given: equations with branches have other solutions in other branches.
    pub truths_at_start: Vec<f64>,
    pub watch_of: FxHashMap<ExprId, usize>,
    pub samplers: Vec<Sample>,
    /// Arguments of sines that are linear in Time: no step is longer than half a period.
    pub sines: Vec<ExprId>,
    pub whens: Vec<Vec<Branch>>,
    pub starts: FxHashMap<Leaf, Start>,
    /// The columns that the run of a program prints, as `bgm simulate` does.
    pub columns: Vec<Column>,
}

impl<'s> Model<'s> {
    /// `time` is the start of the experiment.
    pub fn new(
        solved: &'s Solved,
        columns: Vec<Column>,
        told: &Told,
        time: f64,
    ) -> Result<Self, Refusal> {
        let mut model = Model::bare(solved, columns, &told.inputs);
        model.slopes = told.slopes(&[&solved.flat]);
        model.compute()?;
        model.whens = model.whens()?;
        model.watch()?;
        model.begin(time)?;
        Ok(model)
    }

    /// The part that follows from the flat model alone.
    pub(super) fn bare(
        solved: &'s Solved,
        columns: Vec<Column>,
        inputs: &FxHashMap<VarId, ExprId>,
    ) -> Self {
        let flat = &solved.flat;
        let of_kind = |kind: Kind| {
            flat.variable_ids()
                .filter(move |&id| flat.variable(id).kind == kind)
        };
        let mut states: Vec<Leaf> = flat.states().collect();
        for selection in flat.selections() {
            states.extend(&selection.candidates);
        }
        let (parameters, derived) = parameters(flat);
        let replacements = flat.replacements();
        Model {
            inputs: of_kind(Kind::Input)
                .map(|id| (id, inputs.get(&id).copied()))
                .collect(),
            slopes: Vec::new(),
            parameters,
            derived,
            discretes: (of_kind(Kind::Discrete))
                .filter(|&id| !replacements.contains_key(&Leaf::Var(id)))
                .collect(),
            switched: None,
            before: (flat.variable_ids())
                .filter(|&id| flat.exprs.has_leaf(Leaf::Pre(id)))
                .collect(),
            computed: Vec::new(),
            watches: Vec::new(),
            truths_at_start: Vec::new(),
            watch_of: FxHashMap::default(),
            samplers: Vec::new(),
            sines: Vec::new(),
            whens: Vec::new(),
            starts: FxHashMap::default(),
            solved,
            flat,
            states,
            replacements,
            columns,
        }
    }

    pub fn is_real(&self, leaf: Leaf) -> bool {
        self.flat.variable(leaf.variable()).ty == Type::Real
    }

    /// Variables and derivatives with a value, in the order of the model, without parameters and auxiliaries.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut found: FxHashSet<Leaf> = self.computed.iter().copied().collect();
        found.extend(self.replacements.keys());
        found.extend(&self.states);
        found.extend(self.inputs.iter().map(|&(id, _)| Leaf::Var(id)));
        found.extend(self.slopes.iter().map(|&(leaf, _)| leaf));
        found.extend(self.discretes.iter().map(|&id| Leaf::Var(id)));
        let mut all = Vec::new();
        for id in self.flat.variable_ids() {
            let variable = self.flat.variable(id);
            if variable.kind != Kind::Auxiliary && self.is_written(id) {
                let orders = (0..=variable.order).map(|order| Leaf::at_order(id, order));
                all.extend(orders.filter(|leaf| found.contains(leaf)));
            }
        }
        all
    }

    /// Blocks that contain candidates of selections.
    pub fn selected(&self) -> impl Iterator<Item = &'s Selected> {
        self.solved.blocks.iter().filter_map(|block| match block {
            Block::Selected(selected) => Some(selected),
            _ => None,
        })
    }

    pub(super) fn compute(&mut self) -> Result<(), Refusal> {
        for block in &self.solved.blocks {
            let loops = !matches!(block, Block::Assignment(_) | Block::When(_));
            for &leaf in block.unknowns() {
                if loops && matches!(leaf, Leaf::New(_)) {
                    return Err(self.refuse(leaf, "a discrete variable that is computed in a loop"));
                }
            }
            match block {
                Block::Linear(Linear {
                    method: Method::Formulas(assignments),
                    ..
                }) => (self.computed).extend(assignments.iter().map(|one| one.target)),
                Block::Selected(selected) => {
                    let states: FxHashSet<Leaf> = self.states.iter().copied().collect();
                    if let Some(&other) =
                        (selected.unknowns.iter()).find(|leaf| !states.contains(leaf))
                    {
                        return Err(self.refuse(
                            other,
                            "it is computed together with states that the run chooses",
                        ));
                    }
                }
                // The iteration variables and inner unknowns of a loop.
                Block::Nonlinear(nonlinear) => {
                    self.computed.extend(&nonlinear.unknowns);
                    let unknowns: FxHashSet<Leaf> = nonlinear.unknowns.iter().copied().collect();
                    let inner = nonlinear.inner.iter().map(|one| one.target);
                    (self.computed).extend(inner.filter(|leaf| !unknowns.contains(leaf)));
                }
                Block::When(_) => {}
                _ => self.computed.extend(block.unknowns()),
            }
        }
        self.computed.retain(|leaf| !matches!(leaf, Leaf::New(_)));
        Ok(())
    }

    /// Refuses larger linear loops, for programs with full matrices.
    pub(super) fn loops_up_to(&self, largest: usize) -> Result<(), Refusal> {
        for block in self.all().flat_map(|model| &model.solved.blocks) {
            if let Block::Linear(Linear {
                method: Method::System { .. },
                unknowns,
                ..
            }) = block
                && unknowns.len() > largest
            {
                let why = format!(
                    "it is in a linear loop of {}, and a program of this target solves none of more than {largest}",
                    unknowns.len()
                );
                return Err(self.refuse(unknowns[0], &why));
            }
        }
        Ok(())
    }

    pub(super) fn refuse(&self, leaf: Leaf, why: &str) -> Refusal {
        Refusal(format!("`{}`: {why}", self.flat.leaf_name(leaf)))
    }

    pub(super) fn whens(&self) -> Result<Vec<Vec<Branch>>, Refusal> {
        let flat = self.flat;
        let mut whens: Vec<Vec<Branch>> = (flat.whens.iter())
            .map(|when| {
                when.conditions
                    .iter()
                    .map(|&(condition, _)| (condition, Vec::new()))
                    .collect()
            })
            .collect();
        let discretes: FxHashSet<VarId> = self.discretes.iter().copied().collect();
        let states: FxHashSet<Leaf> = self.states.iter().copied().collect();
        for id in flat.equation_ids() {
            let equation = flat.equations[id.index()];
            let EquationKind::When(WhenId(when), branch) = equation.kind else {
                continue;
            };
            let target = match flat.exprs.node(equation.left) {
                Node::Leaf(Leaf::New(variable) | Leaf::Init(variable)) => Leaf::Var(variable),
                _ => continue,
            };
            let known = match target {
                _ if matches!(flat.exprs.node(equation.left), Node::Leaf(Leaf::New(_))) => {
                    discretes.contains(&target.variable())
                }
                _ => states.contains(&target),
            };
            if !known {
                return Err(self.refuse(
                    target,
                    "a `when` sets it, and it is no state of the solved model",
                ));
            }
            let action = Action {
                target,
                value: equation.right,
                equation: id,
            };
            if let Some((_, actions)) = whens[when as usize].get_mut(branch as usize) {
                actions.push(action);
            }
        }
        Ok(whens)
    }

    /// Computes the values at the start: of states and discrete variables, and guesses for iteration variables.
    fn begin(&mut self, time: f64) -> Result<(), Refusal> {
        let flat = self.flat;
        let mut point = Point::new(self.solved);
        point.time = time;
        let mut walk = Walk::default();
        for &(id, given) in &self.inputs {
            if let Some(value) = given.and_then(|given| point.number(&flat.exprs, given)) {
                point.guess(Leaf::Var(id), Value::Real(value));
            }
        }
        for &(leaf, value) in &self.slopes {
            point.guess(leaf, Value::Real(value));
        }
        evaluate_start(self.solved, &mut point).map_err(|failure| {
            Refusal(format!("its start cannot be computed: {}", failure.message))
        })?;
        for relation in &self.watches {
            let number = |side: ExprId| point.number(&flat.exprs, side);
            let difference = match relation.right {
                Some(right) => number(relation.left).zip(number(right)),
                None => number(relation.left).map(|left| (left, 0.0)),
            };
            let decided = match (relation.kind, difference) {
                (WatchKind::Relation(_) | WatchKind::Sign, Some((left, right))) => {
                    relation.kind.decide(left - right)
                }
                _ => 0.0,
            };
            self.truths_at_start.push(decided);
        }
        let loops = self.solved.blocks.iter().filter_map(|block| match block {
            Block::Nonlinear(nonlinear) => Some(&nonlinear.iteration),
            _ => None,
        });
        let known =
            (self.states.iter().copied()).chain(self.discretes.iter().map(|&id| Leaf::Var(id)));
        for leaf in known.chain(loops.flatten().copied()) {
            let value = point.get(leaf).map_or(0.0, Value::number);
            let given = match leaf {
                Leaf::Var(id) => flat.start(id),
                _ => None,
            };
            let expression =
                given.filter(|given| follows_parameters(flat, given, value, &mut walk));
            self.starts.insert(
                leaf,
                Start {
                    value,
                    expression: expression.map(|given| given.expression),
                },
            );
        }
        Ok(())
    }

    /// Replaces values at the start.
    pub fn start_at(&mut self, values: &FxHashMap<Leaf, f64>) {
        for (leaf, start) in &mut self.starts {
            if let Some(&value) = values.get(leaf) {
                *start = Start {
                    value,
                    expression: None,
                };
            }
        }
    }

    /// What a relation is at first: false where nothing is known.
    pub fn truth_at_start(&self, watch: usize) -> f64 {
        self.truths_at_start.get(watch).copied().unwrap_or(0.0)
    }

    pub fn start(&self, leaf: Leaf) -> Start {
        let nothing = Start {
            value: 0.0,
            expression: None,
        };
        self.starts.get(&leaf).copied().unwrap_or(nothing)
    }
}

/// Whether a start value is the value of an expression of parameters.
pub(super) fn follows_parameters(flat: &Flat, given: &Given, value: f64, walk: &mut Walk) -> bool {
    let mut some = false;
    flat.exprs.leaves(given.expression, |_| some = true);
    some && value_of(flat, given.expression, walk) == Some(Value::Real(value))
}

/// Parameters that can get other values, and those computed from them, in order. Parameters that the structure of the
/// model depends on are fixed.
fn parameters(flat: &Flat) -> (Vec<VarId>, Vec<VarId>) {
    let is_fixed = |id: VarId| matches!(flat.variable(id).kind, Kind::Parameter | Kind::Constant);
    let needs = |given: &Given| {
        let mut needs = Vec::new();
        flat.exprs
            .leaves(given.expression, |leaf| needs.push(leaf.variable()));
        needs
    };
    let mut shaping: FxHashSet<VarId> = FxHashSet::default();
    let mut work = flat.shaping.clone();
    while let Some(id) = work.pop() {
        if shaping.insert(id)
            && let Some(given) = flat.value(id)
        {
            work.extend(needs(given));
        }
    }
    let mut free = Vec::new();
    let mut derived = Vec::new();
    let mut done: FxHashSet<VarId> = FxHashSet::default();
    for given in flat.values.iter().filter(|given| is_fixed(given.variable)) {
        let mut stack = vec![given.variable];
        while let Some(&id) = stack.last() {
            let Some(given) = flat.value(id).filter(|_| !done.contains(&id)) else {
                stack.pop();
                continue;
            };
            let mut needs = needs(given);
            let own = needs.is_empty();
            needs.retain(|other| !done.contains(other) && !stack.contains(other));
            if !needs.is_empty() {
                stack.extend(needs);
                continue;
            }
            stack.pop();
            done.insert(id);
            let settable =
                flat.variable(id).kind == Kind::Parameter && own && !shaping.contains(&id);
            match settable {
                true => free.push(id),
                false => derived.push(id),
            }
        }
    }
    free.sort_unstable();
    (free, derived)
}

/// The header of the rows that a program prints.
pub fn head(columns: &[Column]) -> String {
    let mut line = b"Time".to_vec();
    for column in columns {
        line.push(b',');
        quoted(&column.name, &mut line);
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// The columns of `bgm simulate`.
pub fn columns_of(
    solved: &mut Solved,
    positions: Option<&Positions>,
    experiment: &Experiment,
) -> Vec<Column> {
    let mut all = columns::default(solved, positions);
    for plotted in experiment.plots.iter().flatten() {
        let found = columns::matching(solved, std::slice::from_ref(&plotted.name));
        for column in found.unwrap_or_default() {
            if !all.iter().any(|other| other.name == column.name) {
                all.push(column);
            }
        }
    }
    if all.is_empty() {
        all = columns::matching(solved, &["*".to_string()]).unwrap_or_default();
    }
    all
}
