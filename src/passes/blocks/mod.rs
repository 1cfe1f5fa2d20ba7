//! From sorted equations to formulas: blocks that can be evaluated one after the other.
//!
//! Before: a flat model and its [`Sorted`] blocks. After: [`Solved`]. An equation alone is solved
//! for its unknown; a loop that is proved linear is solved by formulas while it is small (Cramer's
//! rule, with common factors named Q101, Q102, ... as in Cellier, Otter and Elmqvist 1995), else
//! kept as A x = b; any other loop is torn: iteration variables, inner assignments, residuals.

mod auxiliary;
mod cramer;
pub mod dump;
mod linear;
mod nonlinear;
mod scalar;
mod unsolved;
pub mod verify;

use crate::passes::zeros;
use rustc_hash::FxHashMap;

use crate::expr::ExprId;
use crate::flat::{EqId, Flat, InstanceId, Kind, Leaf, Type, WhenId};
use crate::passes::order::{Row, Sorted};
use crate::passes::vanishing::{Vanishing, vanishing_with};
pub use auxiliary::Auxiliaries;
pub use unsolved::{Fault, Unsolved};

/// A formula that gives an unknown its value from values known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub target: Leaf,
    pub value: ExprId,
    /// The equation it comes from; `None` for an auxiliary (Q101).
    pub equation: Option<EqId>,
    /// A divisor in `value` that can vanish. It is checked before `value` is computed.
    pub guard: Option<ExprId>,
}

/// One entry of a matrix; rows and columns are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub row: u32,
    pub column: u32,
    pub value: ExprId,
}

/// How a linear loop is solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Auxiliaries and unknowns in the order of evaluation.
    Formulas(Vec<Assignment>),
    /// The loop is solved at run time. Entries are ordered by rows; an entry that is not listed is zero.
    System {
        matrix: Vec<Entry>,
        right: Vec<ExprId>,
    },
}

/// A loop that is linear in its unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// By column.
    pub unknowns: Vec<Leaf>,
    /// By row.
    pub equations: Vec<EqId>,
    pub method: Method,
}

/// A loop (or a single equation) that is solved by iteration: the iteration variables are guessed, the inner
/// assignments are computed in order, and the residuals have to vanish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonlinear {
    pub unknowns: Vec<Leaf>,
    pub equations: Vec<EqId>,
    pub iteration: Vec<Leaf>,
    pub inner: Vec<Assignment>,
    /// As many as there are iteration variables.
    pub residuals: Vec<Residual>,
    /// The iteration variables are those that an R-field suggests: see [`Guess`].
    pub by_field: bool,
}

/// The iteration variables that an R-field suggests for a nonlinear loop ([`crate::bond::fields::suggest`]).
#[derive(Clone, Debug)]
pub struct Guess {
    /// The suggested iteration variables.
    pub iteration: Vec<Leaf>,
    /// Inputs of the laws of submodels. A law is not solved for its inputs.
    pub inputs: Vec<(InstanceId, Leaf)>,
}

/// Finds what R-fields suggest. It is called at most once, and only if there is a loop that could use a suggestion.
pub type Suggest<'s> = &'s mut dyn FnMut() -> Vec<Guess>;

/// The difference of the two sides of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residual {
    pub equation: EqId,
    pub value: ExprId,
}

/// A block with more unknowns than equations. The other unknowns are states, which the run chooses among the
/// candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    pub unknowns: Vec<Leaf>,
    pub equations: Vec<EqId>,
    /// The selections of the flat model whose candidates are among the unknowns.
    pub selections: Vec<u32>,
    /// One for each equation.
    pub residuals: Vec<Residual>,
}

impl Selected {
    /// The equations of the block as a loop that is solved for some of the unknowns.
    pub fn iterated_on(&self, unknowns: Vec<Leaf>) -> Nonlinear {
        Nonlinear {
            iteration: unknowns.clone(),
            unknowns,
            equations: self.equations.clone(),
            inner: Vec::new(),
            residuals: self.residuals.clone(),
            by_field: false,
        }
    }
}

/// The equations of a `when` for one variable, as they were written: `new(x) = v` or `init(x) = v`, each in its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhenBlock {
    pub target: Leaf,
    pub when: WhenId,
    pub equations: Vec<EqId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Assignment(Assignment),
    Linear(Linear),
    Nonlinear(Nonlinear),
    Selected(Selected),
    When(WhenBlock),
}

/// A model that can be evaluated: blocks in order, each from what is known before it (states,
/// inputs, parameters, Time, discrete variables and earlier blocks).
#[derive(Clone, Debug)]
pub struct Solved {
    /// The model, with the auxiliaries as variables of kind [`crate::flat::Kind::Auxiliary`].
    pub flat: Flat,
    pub blocks: Vec<Block>,
    /// Factors that are zero with the given parameters, and that the structure of the solved model depends on. If these
    /// parameters change, the model has to be solved anew.
    pub zeros: Vec<ExprId>,
    /// Divisors that cannot vanish with the given parameters, each with the unknown whose formula divides by it.
    pub divisors: Vec<(Leaf, ExprId)>,
    /// What start equations determine, if there are any.
    pub start: Option<Box<Start>>,
}

/// Start equations, `init(x) = v` where v uses variables.
#[derive(Clone, Debug)]
pub struct Start {
    pub system: Result<StartSystem, StartRefused>,
    /// The same where discrete variables with a next value keep what they have: they may have changed at the start.
    pub later: Option<StartSystem>,
    /// Equations that only have to agree, because x follows from others or has a start value.
    pub agreeing: Vec<StartEquation>,
    /// Equations that give the first guess for an unknown.
    pub guesses: Vec<StartEquation>,
}

/// Start equations together with the equations of the model: a solved model of its own, in which x is an unknown. Its
/// variables are those of the model, with others behind them.
#[derive(Clone, Debug)]
pub struct StartSystem {
    pub solved: Solved,
    /// The states and discrete variables that it determines, each with the variable that stands for it.
    pub determines: Vec<(Leaf, Leaf)>,
}

/// Why start equations determine nothing.
#[derive(Clone, Debug)]
pub struct StartRefused {
    pub unknowns: Vec<Leaf>,
    pub equations: Vec<EqId>,
    pub why: Vec<String>,
}

/// What a variable is at the start.
#[derive(Clone, Copy, Debug)]
pub struct StartEquation {
    pub target: Leaf,
    pub value: ExprId,
    pub equation: EqId,
}

impl Start {
    /// Whether a state or a discrete variable follows from a start equation.
    pub fn determines(&self, leaf: Leaf) -> bool {
        (self.system.as_ref())
            .is_ok_and(|system| system.determines.iter().any(|&(known, _)| known == leaf))
    }
}

impl Solved {
    /// All assignments in order, also those inside loops.
    pub fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        self.blocks.iter().flat_map(Block::assignments)
    }
}

impl Block {
    /// The unknowns of the block, without auxiliaries.
    pub fn unknowns(&self) -> &[Leaf] {
        match self {
            Block::Assignment(assignment) => std::slice::from_ref(&assignment.target),
            Block::Linear(linear) => &linear.unknowns,
            Block::Nonlinear(nonlinear) => &nonlinear.unknowns,
            Block::Selected(selected) => &selected.unknowns,
            Block::When(when) => std::slice::from_ref(&when.target),
        }
    }

    /// All leaves that the block computes: unknowns, auxiliaries, and the left sides of inner assignments.
    pub fn targets(&self) -> impl Iterator<Item = Leaf> + '_ {
        let inside = match self {
            Block::Assignment(_) => &[],
            _ => self.assignments(),
        };
        let inside = inside.iter().map(|assignment| assignment.target);
        self.unknowns().iter().copied().chain(inside)
    }

    /// The assignments in order, also those inside the loop.
    pub fn assignments(&self) -> &[Assignment] {
        match self {
            Block::Assignment(assignment) => std::slice::from_ref(assignment),
            Block::Linear(Linear {
                method: Method::Formulas(assignments),
                ..
            }) => assignments,
            Block::Nonlinear(nonlinear) => &nonlinear.inner,
            _ => &[],
        }
    }

    /// All expressions that the block evaluates, with the divisors that are checked.
    pub fn expressions(&self) -> impl Iterator<Item = ExprId> + '_ {
        let (entries, right): (&[Entry], &[ExprId]) = match self {
            Block::Linear(Linear {
                method: Method::System { matrix, right },
                ..
            }) => (matrix, right),
            _ => (&[], &[]),
        };
        let residuals: &[Residual] = match self {
            Block::Nonlinear(nonlinear) => &nonlinear.residuals,
            Block::Selected(selected) => &selected.residuals,
            _ => &[],
        };
        let assigned = (self.assignments().iter())
            .flat_map(|assignment| std::iter::once(assignment.value).chain(assignment.guard));
        assigned
            .chain(entries.iter().map(|entry| entry.value))
            .chain(right.iter().copied())
            .chain(residuals.iter().map(|residual| residual.value))
    }

    /// The equations of the block.
    pub fn equations(&self) -> &[EqId] {
        match self {
            Block::Assignment(assignment) => assignment.equation.as_slice(),
            Block::Linear(linear) => &linear.equations,
            Block::Nonlinear(nonlinear) => &nonlinear.equations,
            Block::Selected(selected) => &selected.equations,
            Block::When(when) => &when.equations,
        }
    }
}

/// Solves the blocks. `suggest` finds the iteration variables that R-fields suggest.
pub fn solve(
    mut flat: Flat,
    sorted: &Sorted,
    suggest: Suggest<'_>,
) -> Result<Solved, Box<Unsolved>> {
    let zeros = zeros::drop(&mut flat, sorted);
    let mut solver = Solver {
        auxiliaries: Auxiliaries::new(&flat),
        columns: FxHashMap::default(),
        divisors: Vec::new(),
        guesses: None,
        suggest,
        flat,
        faults: Vec::new(),
    };
    let mut blocks = Vec::with_capacity(sorted.blocks.len());
    for block in &sorted.blocks {
        blocks.extend(solver.block(sorted, block));
    }
    let Solver {
        flat,
        faults,
        divisors,
        ..
    } = solver;
    if !faults.is_empty() {
        return Err(Box::new(Unsolved { flat, faults }));
    }
    Ok(Solved {
        flat,
        blocks,
        zeros,
        divisors,
        start: None,
    })
}

struct Solver<'s> {
    flat: Flat,
    auxiliaries: Auxiliaries,
    /// The column of each unknown of the loop at hand.
    columns: FxHashMap<Leaf, u32>,
    divisors: Vec<(Leaf, ExprId)>,
    /// Suggestions in terms of the variables that are left after elimination, by their first iteration variable.
    guesses: Option<FxHashMap<Leaf, Guess>>,
    suggest: Suggest<'s>,
    faults: Vec<Fault>,
}

impl Solver<'_> {
    /// `None` after an error.
    fn block(&mut self, sorted: &Sorted, block: &[u32]) -> Option<Block> {
        if let [row] = *block {
            let unknown = sorted.unknowns[row as usize];
            return match &sorted.rows[row as usize] {
                Row::Equation(id) => self.scalar(*id, unknown),
                Row::When(when, equations) => Some(Block::When(WhenBlock {
                    target: unknown,
                    when: *when,
                    equations: equations.clone(),
                })),
                Row::Selection(at) => Some(self.selected(vec![unknown], Vec::new(), vec![*at])),
            };
        }
        let unknowns: Vec<Leaf> = (block.iter())
            .map(|&row| sorted.unknowns[row as usize])
            .collect();
        let mut equations = Vec::with_capacity(block.len());
        let mut selections = Vec::new();
        for &row in block {
            match &sorted.rows[row as usize] {
                Row::Equation(id) => equations.push(*id),
                Row::Selection(at) => selections.push(*at),
                // No block reads during the event what a `when` sets, so a `when` belongs to no loop.
                Row::When(_, ids) => {
                    self.faults.push(Fault::BooleanLoop(
                        ids[0],
                        sorted.unknowns[row as usize],
                        unknowns,
                    ));
                    return None;
                }
            }
        }
        for (&id, &unknown) in equations.iter().zip(&unknowns) {
            let real = self.flat.variable(unknown.variable()).ty == Type::Real;
            if !real {
                self.faults.push(Fault::BooleanLoop(id, unknown, unknowns));
                return None;
            }
        }
        if !selections.is_empty() {
            selections.sort_unstable();
            selections.dedup();
            return Some(self.selected(unknowns, equations, selections));
        }
        self.columns = (unknowns.iter().zip(0..))
            .map(|(&unknown, at)| (unknown, at))
            .collect();
        let linear = self.linear(&equations, &unknowns);
        linear.unwrap_or_else(|| self.nonlinear(equations, unknowns))
    }

    /// Solves a block some of whose unknowns are states.
    fn selected(
        &mut self,
        unknowns: Vec<Leaf>,
        equations: Vec<EqId>,
        selections: Vec<u32>,
    ) -> Block {
        Block::Selected(Selected {
            residuals: equations.iter().map(|&id| self.residual(id)).collect(),
            unknowns,
            equations,
            selections,
        })
    }

    fn vanishing(&self, divisor: ExprId) -> Vanishing {
        let definition = |leaf| self.auxiliaries.definition(leaf);
        vanishing_with(&self.flat, divisor, &definition)
    }

    /// Records a divisor that cannot vanish only because of the values of parameters.
    fn depends_on_parameters(&mut self, unknown: Leaf, divisor: ExprId) {
        let mut some = false;
        self.flat.exprs.leaves(divisor, |leaf| {
            some |= self.flat.variable(leaf.variable()).kind == Kind::Parameter;
        });
        if some {
            self.divisors.push((unknown, divisor));
        }
    }
}
