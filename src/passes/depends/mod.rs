//! The analysis of dependence. The programs of runs, exported programs and the description of an FMU use it.
//!
//! Before: the blocks of a solved model. After: for every variable the columns that it depends on ([`Depends`]). The
//! caller chooses the columns: states, inputs, Time, unknowns of an iteration. Only structure counts: a value depends
//! on all that its formula contains, and all unknowns of a loop depend on all that any equation of the loop contains.
//! [`Needed`] finds the blocks that have to be evaluated for some variables.

mod events;
mod lists;
mod needed;

use rustc_hash::FxHashMap;

use crate::base::cancel::glance;
use crate::expr::{ExprId, Function, Node, UnaryOp};
use crate::flat::slots::Slots;
use crate::flat::{Flat, Leaf};
use crate::numeric::{Coloring, color};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Residual};

pub use events::AtEvents;
pub use lists::{List, Lists};
pub use needed::Needed;

/// Blocks, and the expressions that they evaluate.
#[derive(Debug)]
pub struct Graph<'s> {
    flat: &'s Flat,
    blocks: &'s [Block],
    /// The expressions that replace eliminated variables.
    replacements: &'s FxHashMap<Leaf, ExprId>,
    slots: Slots<'s>,
    /// How often each expression is used; 2 stands for more than once.
    uses: Vec<u8>,
}

impl<'s> Graph<'s> {
    pub fn new(
        flat: &'s Flat,
        blocks: &'s [Block],
        replacements: &'s FxHashMap<Leaf, ExprId>,
    ) -> Self {
        let computed = blocks.iter().flat_map(Block::expressions);
        Graph {
            uses: flat
                .exprs
                .uses(computed.chain(replacements.values().copied())),
            slots: Slots::new(flat),
            flat,
            blocks,
            replacements,
        }
    }
}

/// Whether relations, and functions that jump, depend on their arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relations {
    /// Between events: each keeps its truth or value, whatever its arguments do.
    Held,
    /// At events: they depend on their arguments.
    Decided,
}

/// The columns that each variable depends on. An expression that is used more than once has a list of its own, so that
/// it is walked once.
#[derive(Debug)]
pub struct Depends<'g> {
    graph: &'g Graph<'g>,
    relations: Relations,
    lists: Lists,
    /// The lists up to this one hold one column each.
    columns: List,
    time: List,
    /// By slot and by expression: the list, or [`UNKNOWN`] before it is found.
    of: Vec<List>,
    found: Vec<List>,
    /// The expressions of the loop at hand. The unknowns of the loop have no list yet, so what is found for these
    /// expressions is wrong outside of it and is forgotten.
    inside: Option<Vec<ExprId>>,
    work: Vec<Visit>,
    operands: Vec<List>,
}

const UNKNOWN: List = List::MAX;

#[derive(Clone, Copy, Debug)]
enum Visit {
    Open(ExprId),
    /// The operands of the expression, which begin at this index, are done.
    Close(ExprId, usize),
}

impl<'g> Depends<'g> {
    /// `most` is the most numbers in all lists together. If there is no room for a list, it is replaced by that of all
    /// `columns`.
    pub fn new(graph: &'g Graph<'g>, relations: Relations, columns: usize, most: usize) -> Self {
        Depends {
            relations,
            lists: Lists::new(columns, most),
            columns: Lists::NOTHING,
            time: Lists::NOTHING,
            of: vec![UNKNOWN; graph.slots.count()],
            found: vec![UNKNOWN; graph.flat.exprs.len()],
            inside: None,
            work: Vec::new(),
            operands: Vec::new(),
            graph,
        }
    }

    /// Makes a variable a column, whichever block computes it.
    pub fn column(&mut self, leaf: Leaf, column: u32) {
        self.columns = self.lists.add(vec![column]);
        if let Some(slot) = self.graph.slots.of(leaf) {
            self.of[slot] = self.columns;
        }
    }

    pub fn time(&mut self, column: u32) {
        self.time = self.lists.add(vec![column]);
    }

    /// Candidates of a selection, some of which are states. Until the list of their block is known, each depends on
    /// these columns.
    pub fn candidates(&mut self, leaves: &[Leaf], columns: std::ops::Range<u32>) {
        let list = self.lists.add(columns.collect());
        for &leaf in leaves {
            self.set(leaf, list);
        }
    }

    /// Visits the chosen blocks in order.
    pub fn follow(&mut self, chosen: impl Fn(usize) -> bool) {
        let blocks = self.graph.blocks;
        for (at, block) in blocks.iter().enumerate() {
            if chosen(at) {
                self.block(block);
            }
        }
    }

    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    pub fn into_lists(self) -> Vec<Vec<u32>> {
        self.lists.into_all()
    }

    pub fn leaf(&mut self, leaf: Leaf) -> List {
        let slot = self.graph.slots.of(leaf);
        match slot.map(|slot| self.of[slot]).filter(|&of| of != UNKNOWN) {
            Some(list) => list,
            None => match self.graph.replacements.get(&leaf) {
                Some(&expression) => self.expressions([expression]),
                None => Lists::NOTHING,
            },
        }
    }

    pub fn union(&mut self, leaves: impl IntoIterator<Item = Leaf>) -> List {
        let mut all: Vec<List> = leaves.into_iter().map(|leaf| self.leaf(leaf)).collect();
        self.lists.merge(&mut all, 0)
    }

    /// Finds which residuals of a loop depend on which of its unknowns, and a colouring of these. The unknowns are the
    /// only columns.
    pub fn of_loop(
        &mut self,
        unknowns: &[Leaf],
        inner: &[Assignment],
        residuals: &[Residual],
    ) -> Coloring {
        let before = self.lists.count();
        self.inside = Some(Vec::new());
        for (&leaf, at) in unknowns.iter().zip(0..) {
            let list = self.lists.add(vec![at]);
            self.set(leaf, list);
        }
        for assignment in inner {
            self.assign(assignment);
        }
        let rows: Vec<List> = (residuals.iter())
            .map(|residual| self.expressions([residual.value]))
            .collect();
        let coloring = color(self.lists.all(), &rows, unknowns.len());
        self.forget();
        let targets = inner.iter().map(|assignment| assignment.target);
        for leaf in unknowns.iter().copied().chain(targets) {
            self.set(leaf, UNKNOWN);
        }
        self.lists.truncate(before);
        coloring
    }

    fn set(&mut self, leaf: Leaf, list: List) {
        if let Some(slot) = self.graph.slots.of(leaf) {
            let of = &mut self.of[slot];
            let is_column = *of != UNKNOWN && *of > Lists::NOTHING && *of <= self.columns;
            if !is_column {
                *of = list;
            }
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Assignment(assignment) => self.assign(assignment),
            Block::Linear(Linear {
                method: Method::Formulas(assignments),
                ..
            }) => {
                for assignment in assignments {
                    self.assign(assignment);
                }
            }
            Block::Linear(_) | Block::Nonlinear(_) | Block::Selected(_) => {
                self.inside = Some(Vec::new());
                let list = self.expressions(block.expressions());
                self.forget();
                for leaf in block.targets() {
                    self.set(leaf, list);
                }
                if let Block::Nonlinear(nonlinear) = block {
                    for &leaf in &nonlinear.iteration {
                        self.set(leaf, list);
                    }
                }
            }
            // A `when` takes effect at the end of the event; until then its variable keeps its value.
            Block::When(when) => {
                let list = self.leaf(Leaf::Var(when.target.variable()));
                self.set(when.target, list);
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let list = self.expressions([assignment.value]);
        self.set(assignment.target, list);
    }

    /// Forgets what was found inside the loop.
    fn forget(&mut self) {
        for id in self.inside.take().into_iter().flatten() {
            self.found[id.index()] = UNKNOWN;
        }
    }

    /// The columns that some expressions depend on. Unknowns of the loop at hand contribute nothing.
    pub fn expressions(&mut self, roots: impl IntoIterator<Item = ExprId>) -> List {
        let mut work = std::mem::take(&mut self.work);
        let mut operands = std::mem::take(&mut self.operands);
        work.extend(roots.into_iter().map(Visit::Open));
        while let Some(visit) = work.pop() {
            glance();
            match visit {
                Visit::Open(id) => self.open(id, &mut work, &mut operands),
                Visit::Close(id, start) => {
                    let list = self.lists.merge(&mut operands, start);
                    operands.push(list);
                    self.found[id.index()] = list;
                    if let Some(inside) = &mut self.inside {
                        inside.push(id);
                    }
                }
            }
        }
        let list = self.lists.merge(&mut operands, 0);
        (self.work, self.operands) = (work, operands);
        list
    }

    fn open(&self, id: ExprId, work: &mut Vec<Visit>, operands: &mut Vec<List>) {
        let (flat, replacements) = (self.graph.flat, self.graph.replacements);
        let exprs = &flat.exprs;
        let known = self.found[id.index()];
        if known != UNKNOWN {
            operands.push(known);
            return;
        }
        let node = exprs.node(id);
        let start = match node {
            Node::Number(_) | Node::Bool(_) => return,
            Node::Time => return operands.push(self.time),
            Node::Leaf(leaf) => {
                let slot = self.graph.slots.of(leaf);
                match slot.map(|slot| self.of[slot]).filter(|&of| of != UNKNOWN) {
                    Some(list) => return operands.push(list),
                    None if replacements.contains_key(&leaf) => operands.len(),
                    None => return,
                }
            }
            // Between events the value is constant.
            _ if self.relations == Relations::Held && is_held(node) => return,
            _ => operands.len(),
        };
        if self.graph.uses[id.index()] > 1 {
            work.push(Visit::Close(id, start));
        }
        match node {
            Node::Leaf(leaf) => work.extend(replacements.get(&leaf).copied().map(Visit::Open)),
            Node::Call(Function::Sample, _) => operands.push(self.time),
            _ => {}
        }
        exprs.each_operand(id, |operand| work.push(Visit::Open(operand)));
    }
}

/// Truths, and functions that jump. Not mod(x, y): it is x minus a multiple of y, and only the number of multiples is
/// kept.
fn is_held(node: Node<Leaf>) -> bool {
    match node {
        Node::Binary(op, ..) => !op.is_arithmetic(),
        Node::Unary(op, _) => op == UnaryOp::Not,
        Node::Call(function, _) => matches!(
            function,
            Function::Sign | Function::Floor | Function::Ceil | Function::Sample
        ),
        _ => false,
    }
}
