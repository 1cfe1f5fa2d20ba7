//! Expressions with auxiliaries (Q101) written out, for messages.
//!
//! Before: a solved model. After: an expression as text, each auxiliary replaced by the expression that it is assigned while
//! the text stays short, and the variables that occur in it then.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::print::{Form, Source, Style, write};
use crate::expr::{Args, ExprId, Node};
use crate::flat::{Flat, Kind, Leaf, Printer};
use crate::passes::blocks::Solved;

/// Expressions of more nodes than this are shown with their auxiliaries.
const MOST_NODES: usize = 40;

pub(super) struct Expanded<'s> {
    flat: &'s Flat,
    /// The expressions assigned to auxiliaries. Each contains earlier auxiliaries only, so substitution ends.
    definitions: FxHashMap<Leaf, ExprId>,
}

impl<'s> Expanded<'s> {
    pub fn new(solved: &'s Solved) -> Self {
        let flat = &solved.flat;
        let definitions = (solved.assignments())
            .filter(|a| flat.variable(a.target.variable()).kind == Kind::Auxiliary)
            .map(|a| (a.target, a.value))
            .collect();
        Expanded { flat, definitions }
    }

    /// The definition if the expression is an auxiliary, otherwise the expression.
    fn follow(&self, mut id: ExprId) -> ExprId {
        while let Node::Leaf(leaf) = self.flat.exprs.node(id)
            && let Some(&definition) = self.definitions.get(&leaf)
        {
            id = definition;
        }
        id
    }

    /// Whether there are auxiliaries in the expression.
    pub fn changes(&self, root: ExprId) -> bool {
        let mut found = false;
        (self.flat.exprs).leaves(root, |leaf| found |= self.definitions.contains_key(&leaf));
        found
    }

    /// The expression written out if that is short; otherwise only the outermost auxiliary is replaced.
    pub fn text(&self, root: ExprId) -> String {
        let mut out = String::new();
        match self.is_short(root) {
            true => write(self, root, Style::Plain, &mut out),
            false => {
                let once = match self.flat.exprs.node(root) {
                    Node::Leaf(leaf) => self.definitions.get(&leaf).copied(),
                    _ => None,
                };
                Printer::new(self.flat).write(once.unwrap_or(root), &mut out);
            }
        }
        out
    }

    fn is_short(&self, root: ExprId) -> bool {
        let mut stack = vec![root];
        for _ in 0..MOST_NODES {
            match stack.pop() {
                Some(id) => (self.flat.exprs).operands(self.follow(id), &mut stack),
                None => return true,
            }
        }
        stack.is_empty()
    }

    /// The variables that occur in the expression written out, each once, from left to right.
    pub fn leaves(&self, root: ExprId) -> Vec<Leaf> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let (mut stack, mut operands) = (vec![root], Vec::new());
        while let Some(id) = stack.pop() {
            let id = self.follow(id);
            // Shared expressions are visited once.
            if !seen.insert(id) {
                continue;
            }
            if let Node::Leaf(leaf) = self.flat.exprs.node(id) {
                found.push(leaf);
            }
            self.flat.exprs.operands(id, &mut operands);
            stack.extend(operands.drain(..).rev());
        }
        found
    }
}

impl Source for Expanded<'_> {
    type Leaf = Leaf;

    fn node(&self, id: ExprId) -> Node<Leaf> {
        self.flat.exprs.node(self.follow(id))
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.flat.exprs.args(args)
    }

    fn leaf(&self, leaf: Leaf, form: &mut Form<'_, u8>) {
        form.write(|out| Printer::new(self.flat).leaf(leaf, out));
    }
}
