//! Verifier of solved models: each unknown is computed once, each equation is used once, and every formula reads only
//! values that are computed before it, inside loops too.

use super::{Assignment, Block, Linear, Method, Nonlinear, Selected, Solved, WhenBlock};
use crate::base::flaw::{Flaws, Place};
use crate::expr::ExprId;
use crate::flat::dump::Shown;
use crate::flat::{EqId, EquationKind, Flat, Leaf};
use crate::passes::known::{Known, Step};
use crate::passes::order::verify::BlockId;

/// Assumes that the flat model is correct ([`crate::flat::verify`]).
pub fn verify(solved: &Solved) -> Result<(), Flaws> {
    let flat = &solved.flat;
    let mut verifier = Verifier {
        flat,
        known: Known::new(flat),
        used: vec![0; flat.equations.len()],
        step: 0,
        block: BlockId(0),
        reads: Vec::new(),
        flaws: Flaws::default(),
    };
    for (at, block) in solved.blocks.iter().enumerate() {
        verifier.block = BlockId(at as u32);
        verifier.block(block);
    }
    verifier.beside(solved);
    verifier.all();
    verifier.flaws.into_result()
}

/// An expression, and the step that evaluates it.
struct Read {
    block: BlockId,
    id: ExprId,
    step: Step,
}

struct Verifier<'s> {
    flat: &'s Flat,
    known: Known<'s>,
    /// How often each equation is used.
    used: Vec<u32>,
    /// The last step of the evaluation.
    step: Step,
    block: BlockId,
    reads: Vec<Read>,
    flaws: Flaws,
}

impl Verifier<'_> {
    fn block(&mut self, block: &Block) {
        for &id in block.equations() {
            self.equation(id);
        }
        match block {
            Block::Assignment(assignment) => self.assignment(assignment),
            Block::Linear(linear) => self.linear(linear),
            Block::Nonlinear(nonlinear) => self.nonlinear(nonlinear),
            Block::Selected(selected) => self.selected(selected),
            Block::When(when) => self.when(when),
        }
    }

    fn equation(&mut self, id: EqId) {
        let block = self.block;
        match self.used.get_mut(id.index()) {
            None => self
                .flaws
                .add(block, format!("there is no equation {id:?}")),
            Some(used) => {
                *used += 1;
                let once = *used == 1;
                (self.flaws).unless(once, block, || format!("{id:?} is used twice"));
            }
        }
    }

    fn give(&mut self, leaf: Leaf) {
        if let Err(what) = self.known.give(leaf, self.step) {
            self.flaws.add(self.block, what);
        }
    }

    /// Records an expression that the next step evaluates.
    fn read(&mut self, id: ExprId) {
        let holds = self.flat.exprs.holds(id);
        (self.flaws).unless(holds, self.block, || {
            format!("there is no expression {id:?}")
        });
        if holds {
            self.reads.push(Read {
                block: self.block,
                id,
                step: self.step + 1,
            });
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.read(assignment.value);
        if let Some(guard) = assignment.guard {
            self.read(guard);
        }
        self.step += 1;
        self.give(assignment.target);
    }

    fn linear(&mut self, linear: &Linear) {
        let (columns, rows) = (linear.unknowns.len(), linear.equations.len());
        (self.flaws).unless(columns == rows, self.block, || {
            format!("{rows} equations for {columns} unknowns")
        });
        match &linear.method {
            Method::Formulas(assignments) => {
                for assignment in assignments {
                    self.assignment(assignment);
                }
            }
            Method::System { matrix, right } => {
                (self.flaws).unless(right.len() == rows, self.block, || {
                    format!("{} right sides for {rows} rows", right.len())
                });
                let mut before = None;
                for entry in matrix {
                    let place = (entry.row, entry.column);
                    let inside = (entry.row as usize) < rows && (entry.column as usize) < columns;
                    (self.flaws).unless(inside, self.block, || format!("no entry at {place:?}"));
                    (self.flaws).unless(before < Some(place), self.block, || {
                        format!("the entry at {place:?} is not in order")
                    });
                    before = Some(place);
                    self.read(entry.value);
                }
                for &id in right {
                    self.read(id);
                }
                self.step += 1;
                for &unknown in &linear.unknowns {
                    self.give(unknown);
                }
            }
        }
    }

    /// Iteration variables come first, then the inner assignments in their order, then the residuals.
    fn nonlinear(&mut self, nonlinear: &Nonlinear) {
        let Nonlinear {
            unknowns,
            equations,
            iteration,
            inner,
            residuals,
            ..
        } = nonlinear;
        self.step += 1;
        for &leaf in iteration {
            self.give(leaf);
        }
        for assignment in inner {
            self.assignment(assignment);
        }
        for residual in residuals {
            self.read(residual.value);
        }
        let flaws = &mut self.flaws;
        flaws.unless(residuals.len() == iteration.len(), self.block, || {
            let (rows, columns) = (residuals.len(), iteration.len());
            format!("{rows} residuals for {columns} iteration variables")
        });
        let targets = inner.iter().map(|assignment| assignment.target);
        let targets: Vec<Leaf> = iteration.iter().copied().chain(targets).collect();
        flaws.unless(same(&targets, unknowns), self.block, || {
            "iteration variables and inner assignments are not its unknowns".to_string()
        });
        let from = inner.iter().filter_map(|assignment| assignment.equation);
        let from: Vec<EqId> = (residuals.iter().map(|residual| residual.equation))
            .chain(from)
            .collect();
        flaws.unless(same(&from, equations), self.block, || {
            "residuals and inner assignments are not from its equations".to_string()
        });
    }

    fn selected(&mut self, selected: &Selected) {
        self.step += 1;
        for &unknown in &selected.unknowns {
            self.give(unknown);
        }
        for residual in &selected.residuals {
            self.read(residual.value);
        }
        let from: Vec<EqId> = selected.residuals.iter().map(|one| one.equation).collect();
        let flaws = &mut self.flaws;
        flaws.unless(from == selected.equations, self.block, || {
            "residuals are not those of its equations".to_string()
        });
        let most = selected.unknowns.len();
        flaws.unless(from.len() <= most, self.block, || {
            format!("{} equations for {most} unknowns", from.len())
        });
        for &at in &selected.selections {
            let holds = (at as usize) < self.flat.selections().len();
            flaws.unless(holds, self.block, || format!("there is no selection {at}"));
        }
    }

    fn when(&mut self, when: &WhenBlock) {
        let flat = self.flat;
        match flat.whens.get(when.when.index()) {
            None => self
                .flaws
                .add(self.block, format!("there is no {:?}", when.when)),
            Some(known) => {
                for &(condition, _) in &known.conditions {
                    self.read(condition);
                }
            }
        }
        for &id in &when.equations {
            if let Some(equation) = flat.equations.get(id.index()) {
                let of = matches!(equation.kind, EquationKind::When(of, _) if of == when.when);
                (self.flaws).unless(of, self.block, || format!("{id:?} is of another kind"));
                self.read(equation.right);
            }
        }
        self.step += 1;
        self.give(when.target);
    }

    /// Checks the lists beside the blocks.
    fn beside(&mut self, solved: &Solved) {
        let divisors = solved.divisors.iter().map(|&(_, id)| id);
        for id in solved.zeros.iter().copied().chain(divisors) {
            let holds = self.flat.exprs.holds(id);
            (self.flaws).unless(holds, Place("divisors"), || format!("there is no {id:?}"));
        }
    }

    /// Checks, when all steps are known, that nothing is missing and nothing was read too early.
    fn all(&mut self) {
        for id in self.flat.equation_ids() {
            let needed = self.flat.equations[id.index()].kind != EquationKind::Init;
            let used = self.used[id.index()] > 0;
            (self.flaws).unless(used || !needed, id, || "no block uses it".to_string());
        }
        for leaf in self.known.open() {
            self.flaws.add(Shown(leaf), "no block gives it");
        }
        let ready = self.known.ready();
        for read in &self.reads {
            if ready[read.id.index()] < read.step {
                continue;
            }
            let leaf = self.known.late(read.id, &ready, read.step);
            let name = leaf.map_or_else(String::new, |leaf| Shown(leaf).to_string());
            self.flaws.add(
                read.block,
                format!("{:?} reads {name}, which is not known before it", read.id),
            );
        }
    }
}

/// Whether two lists contain the same elements, each once, in any order.
fn same<T: Copy + Ord>(a: &[T], b: &[T]) -> bool {
    let sorted = |list: &[T]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}
