//! Verifier of sorted equations: each equation is used once, each unknown is matched once with an equation that
//! contains it, and no block reads what a later one computes.

use super::{Row, Sorted};
use crate::base::flaw::{Flaws, Place};
use crate::base::ids::ids;
use crate::expr::{ExprId, Node};
use crate::flat::dump::Shown;
use crate::flat::{EqId, EquationKind, Flat, Leaf};
use crate::passes::known::{Known, Step};

ids! {
    /// A block, by its place in the order of evaluation.
    BlockId "b";
    /// A row: an equation, a `when`, or a selection.
    RowId "r";
}

/// Assumes that `flat` is correct ([`crate::flat::verify`]).
pub fn verify(flat: &Flat, sorted: &Sorted) -> Result<(), Flaws> {
    let mut verifier = Verifier {
        flat,
        sorted,
        used: vec![0; flat.equations.len()],
        flaws: Flaws::default(),
    };
    verifier.rows();
    let blocks = verifier.blocks();
    // The other checks use these ids as indices.
    if verifier.flaws.is_empty() {
        verifier.order(&blocks);
        verifier.contained();
    }
    verifier.flaws.into_result()
}

struct Verifier<'s> {
    flat: &'s Flat,
    sorted: &'s Sorted,
    /// How often each equation is used.
    used: Vec<u32>,
    flaws: Flaws,
}

impl Verifier<'_> {
    fn rows(&mut self) {
        let Sorted { rows, unknowns, .. } = self.sorted;
        let (count, matched) = (rows.len(), unknowns.len());
        (self.flaws).unless(count == matched, Place("rows"), || {
            format!("{count} rows for {matched} unknowns")
        });
        for (at, row) in rows.iter().enumerate() {
            let place = RowId(at as u32);
            match row {
                Row::Equation(id) => self.used_once(place, *id, None),
                Row::When(when, equations) => {
                    for &id in equations {
                        self.used_once(place, id, Some(when.0));
                    }
                    let some = !equations.is_empty() && when.index() < self.flat.whens.len();
                    (self.flaws).unless(some, place, || format!("there is no such {when:?}"));
                }
                Row::Selection(at) => {
                    let holds = (*at as usize) < self.flat.selections().len();
                    (self.flaws).unless(holds, place, || format!("there is no selection {at}"));
                }
            }
        }
        for id in self.flat.equation_ids() {
            let needed = self.flat.equations[id.index()].kind != EquationKind::Init;
            let used = self.used[id.index()] > 0;
            (self.flaws).unless(used || !needed, id, || "no row uses it".to_string());
        }
    }

    fn used_once(&mut self, row: RowId, id: EqId, when: Option<u32>) {
        let Some(equation) = self.flat.equations.get(id.index()) else {
            self.flaws.add(row, format!("there is no equation {id:?}"));
            return;
        };
        let of = match equation.kind {
            EquationKind::When(when, _) => Some(when.0),
            _ => None,
        };
        self.used[id.index()] += 1;
        let flaws = &mut self.flaws;
        flaws.unless(of == when, row, || format!("{id:?} is of another kind"));
        flaws.unless(self.used[id.index()] == 1, id, || "it is used twice".into());
    }

    /// Returns the step of each row.
    fn blocks(&mut self) -> Vec<Step> {
        let mut step_of = vec![0; self.sorted.rows.len()];
        for (at, block) in self.sorted.blocks.iter().enumerate() {
            let id = BlockId(at as u32);
            (self.flaws).unless(!block.is_empty(), id, || "it is empty".to_string());
            for &row in block {
                match step_of.get_mut(row as usize) {
                    None => (self.flaws).add(id, format!("there is no row {:?}", RowId(row))),
                    Some(step) if *step > 0 => {
                        (self.flaws).add(id, format!("{:?} is in two blocks", RowId(row)));
                    }
                    Some(step) => *step = at as Step + 1,
                }
            }
        }
        for (at, &step) in step_of.iter().enumerate() {
            (self.flaws).unless(step > 0, RowId(at as u32), || "it is in no block".into());
        }
        for &row in &self.sorted.vanished {
            let holds = (row as usize) < step_of.len();
            (self.flaws).unless(holds, RowId(row), || "it vanished, but is no row".into());
        }
        step_of
    }

    fn order(&mut self, steps: &[Step]) {
        let Verifier { flat, sorted, .. } = *self;
        let mut known = Known::new(flat);
        for (at, &unknown) in sorted.unknowns.iter().enumerate() {
            if let Err(what) = known.give(unknown, steps[at]) {
                self.flaws.add(RowId(at as u32), what);
            }
        }
        for leaf in known.open() {
            self.flaws.add(Shown(leaf), "no row is solved for it");
        }
        let ready = known.ready();
        // Sorting does not count coefficients that are zero with the given parameters; these products are taken out
        // later.
        let mut passed = vec![false; steps.len()];
        for &row in &sorted.vanished {
            passed[row as usize] = true;
        }
        for (at, row) in sorted.rows.iter().enumerate() {
            if passed[at] {
                continue;
            }
            let step = steps[at];
            let late = |id: ExprId| ready[id.index()] > step;
            if let Some(id) = reads(flat, row).find(|&id| late(id)) {
                let leaf = known.late(id, &ready, step + 1);
                let name = leaf.map_or_else(String::new, |leaf| Shown(leaf).to_string());
                let block = BlockId(step - 1);
                self.flaws.add(
                    RowId(at as u32),
                    format!("in {block:?} it reads {name}, which a later block gives, or none"),
                );
            }
        }
    }

    /// Checks that each row contains its unknown.
    fn contained(&mut self) {
        let Verifier { flat, sorted, .. } = *self;
        let mut seen = vec![u32::MAX; flat.exprs.len()];
        let mut work = Vec::new();
        for (at, (row, &unknown)) in sorted.rows.iter().zip(&sorted.unknowns).enumerate() {
            let at = at as u32;
            let holds = match row {
                Row::Selection(of) => {
                    let selection = &flat.selections()[*of as usize];
                    selection.candidates.contains(&unknown)
                }
                _ => {
                    let lefts = lefts(flat, row);
                    work.clear();
                    work.extend(reads(flat, row).chain(lefts));
                    contains(flat, unknown, &mut work, &mut seen, at)
                }
            };
            (self.flaws).unless(holds, RowId(at), || {
                format!(
                    "it is solved for {}, which it does not contain",
                    Shown(unknown)
                )
            });
        }
    }
}

/// `seen` holds for each expression the number of the last row in which it was visited.
fn contains(flat: &Flat, leaf: Leaf, work: &mut Vec<ExprId>, seen: &mut [u32], row: u32) -> bool {
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id.index()], row) == row {
            continue;
        }
        if flat.exprs.node(id) == Node::Leaf(leaf) {
            return true;
        }
        flat.exprs.operands(id, work);
    }
    false
}

/// The expressions whose values are needed when the row is evaluated.
fn reads(flat: &Flat, row: &Row) -> impl Iterator<Item = ExprId> {
    let (single, when): (&[EqId], _) = match row {
        Row::Equation(id) => (std::slice::from_ref(id), None),
        Row::When(when, equations) => (equations, Some(*when)),
        Row::Selection(_) => (&[], None),
    };
    let sides = (single.iter()).flat_map(move |id| {
        let equation = &flat.equations[id.index()];
        let left = when.is_none().then_some(equation.left);
        left.into_iter().chain([equation.right])
    });
    let conditions = when.map(|when| flat.whens[when.index()].conditions.as_slice());
    sides.chain(conditions.into_iter().flatten().map(|&(id, _)| id))
}

/// The left sides of the equations in a `when`.
fn lefts(flat: &Flat, row: &Row) -> impl Iterator<Item = ExprId> {
    let equations: &[EqId] = match row {
        Row::When(_, equations) => equations,
        _ => &[],
    };
    equations.iter().map(|id| flat.equations[id.index()].left)
}
