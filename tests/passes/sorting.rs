//! Sorted equations can be evaluated in their order: checked on every model of the examples and the
//! papers by a plain walk over the expressions, with and without elimination.

use std::collections::HashSet;

use bgm::base::diagnostics::Diagnostics;
use bgm::expr::{ExprId, Node};
use bgm::flat::{Flat, Kind, Leaf};
use bgm::listing::sorted::sorted as list;
use bgm::passes::aliases::eliminate;
use bgm::passes::order::{Row, Sorted, report_unsorted, sort};

use crate::support::files;

fn models() -> Vec<Flat> {
    let found: Vec<Flat> = (files::all().iter())
        .flat_map(|file| files::models(file))
        .collect();
    assert!(found.len() > 50);
    found
}

fn leaves(flat: &Flat, root: ExprId, out: &mut HashSet<Leaf>) {
    match flat.exprs.node(root) {
        Node::Number(_) | Node::Bool(_) | Node::Time => {}
        Node::Leaf(leaf) => {
            out.insert(leaf);
        }
        Node::Unary(_, a) => leaves(flat, a, out),
        Node::Binary(_, a, b) => {
            leaves(flat, a, out);
            leaves(flat, b, out);
        }
        Node::If(a, b, c) => {
            for part in [a, b, c] {
                leaves(flat, part, out);
            }
        }
        Node::Call(_, args) | Node::List(args) => {
            for &arg in flat.exprs.args(args) {
                leaves(flat, arg, out);
            }
        }
    }
}

/// Known before anything is evaluated: parameters, inputs, states, values before an event.
fn known(flat: &Flat, leaf: Leaf) -> bool {
    let kind = flat.variable(leaf.variable()).kind;
    match leaf {
        Leaf::Pre(_) => true,
        Leaf::Var(_) | Leaf::Der(..) if flat.is_state(leaf) => true,
        Leaf::Var(_) => !matches!(kind, Kind::State | Kind::Algebraic | Kind::Output),
        // The derivative of an input comes from outside.
        Leaf::Der(..) => kind == Kind::Input,
        Leaf::New(_) | Leaf::Init(_) => false,
    }
}

fn can_be_evaluated(flat: &Flat, sorted: &Sorted) {
    let mut computed: HashSet<Leaf> = HashSet::new();
    let mut rows = 0;
    for block in &sorted.blocks {
        // Within a block everything is solved together.
        for &row in block {
            let unknown = sorted.unknowns[row as usize];
            let restart = matches!(unknown, Leaf::Init(_));
            assert!(
                computed.insert(unknown) || restart,
                "{}: twice",
                flat.model()
            );
        }
        for &row in block {
            rows += 1;
            let mut found = HashSet::new();
            match &sorted.rows[row as usize] {
                Row::Equation(id) => {
                    let equation = &flat.equations[id.index()];
                    leaves(flat, equation.left, &mut found);
                    leaves(flat, equation.right, &mut found);
                }
                Row::When(when, ids) => {
                    for id in ids {
                        let equation = &flat.equations[id.index()];
                        leaves(flat, equation.left, &mut found);
                        leaves(flat, equation.right, &mut found);
                    }
                    for &(condition, _) in &flat.whens[when.index()].conditions {
                        leaves(flat, condition, &mut found);
                    }
                }
                Row::Selection(at) => {
                    found.extend(&flat.selections()[*at as usize].candidates);
                }
            }
            assert!(
                found.contains(&sorted.unknowns[row as usize]),
                "{}",
                flat.model()
            );
            // Of an unknown times a parameter that is zero no notice is taken.
            if sorted.vanished.contains(&row) {
                continue;
            }
            for leaf in found {
                let there = known(flat, leaf) || computed.contains(&leaf);
                // Lower derivatives of a state are states themselves.
                let lower = matches!(leaf, Leaf::Der(variable, order)
                    if sorted.unknowns.iter().any(|unknown| matches!(unknown,
                        Leaf::Der(same, highest) if *same == variable && *highest > order)));
                assert!(
                    there || lower,
                    "{}: {leaf:?} is used before it is known",
                    flat.model()
                );
            }
        }
    }
    assert_eq!(rows, sorted.rows.len());
}

#[test]
fn every_sorted_model_can_be_evaluated() {
    let mut sorted_models = 0;
    for flat in models() {
        let Ok(sorted) = sort(&flat) else {
            let mut diagnostics = Diagnostics::default();
            report_unsorted(&flat, &mut diagnostics);
            assert!(diagnostics.has_errors());
            continue;
        };
        sorted_models += 1;
        can_be_evaluated(&flat, &sorted);
        let text = list(&flat, &sorted, Default::default());
        let again = sort(&flat).expect("sorted once, sorted again");
        assert_eq!(text, list(&flat, &again, Default::default()));

        let before = flat.equations.len();
        let reduced = eliminate(flat);
        let sorted = sort(&reduced).expect("elimination keeps a model regular");
        can_be_evaluated(&reduced, &sorted);
        assert_eq!(before - reduced.equations.len(), reduced.eliminated.len());
        // What is eliminated does not occur any more.
        let gone: HashSet<Leaf> = reduced.eliminated.iter().map(|gone| gone.leaf).collect();
        let mut used = HashSet::new();
        for equation in &reduced.equations {
            leaves(&reduced, equation.left, &mut used);
            leaves(&reduced, equation.right, &mut used);
        }
        for gone in &reduced.eliminated {
            leaves(&reduced, gone.expression, &mut used);
        }
        assert!(used.is_disjoint(&gone), "{}", reduced.model());
    }
    assert!(sorted_models > 40, "{sorted_models}");
}
