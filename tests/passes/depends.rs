//! What is computed from what: by columns, between events and at events.

use std::collections::BTreeSet;

use bgm::compile::{Aliases, solved};
use bgm::expr::ExprId;
use bgm::flat::{Leaf, VarId};
use bgm::passes::blocks::{Block, Solved};
use bgm::passes::depends::{AtEvents, Depends, Graph, Relations};
use rustc_hash::FxHashMap;

use crate::support::text::{all_diagnostics, compile_text};

fn model(text: &str) -> Solved {
    let mut compiled = compile_text(text);
    let said = all_diagnostics(&compiled);
    let flat = compiled.flat.take().unwrap_or_else(|| panic!("{said}"));
    solved(flat, Aliases::Eliminate, &mut compiled.diagnostics)
        .expect("a solved model")
        .solved
}

fn gone(model: &Solved) -> FxHashMap<Leaf, ExprId> {
    (model.flat.eliminated.iter())
        .map(|gone| (gone.leaf, gone.expression))
        .collect()
}

fn variable(model: &Solved, name: &str) -> VarId {
    (model.flat.variable_ids())
        .find(|&id| model.flat.name(id) == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The states that something depends on between events.
fn states_of(model: &Solved, names: &[&str]) -> Vec<Vec<String>> {
    let states: Vec<Leaf> = model.flat.states().collect();
    let gone = gone(model);
    let graph = Graph::new(&model.flat, &model.blocks, &gone);
    let mut depends = Depends::new(&graph, Relations::Held, states.len(), usize::MAX);
    for (&state, column) in states.iter().zip(0..) {
        depends.column(state, column);
    }
    depends.follow(|_| true);
    (names.iter())
        .map(|name| {
            let list = depends.leaf(Leaf::Var(variable(model, name)));
            let columns = depends.lists().of(list).iter();
            let names = columns.map(|&at| model.flat.leaf_name(states[at as usize]));
            names.collect()
        })
        .collect()
}

/// `2*z` is computed in the loop and after it: there it depends on what the loop needs.
#[test]
fn what_is_shared_with_a_loop_depends_on_the_loop() {
    let model = model(
        "model M\n  local a, b, y, z\n  output w\n  der(a) = -a\n  der(b) = -b\n  \
         y + exp(2*z) = a\n  z + sin(y) = 3\n  w = sin(2*z) + b\nend\n",
    );
    let is_loop = |block: &Block| matches!(block, Block::Nonlinear(_));
    assert!(model.blocks.iter().any(is_loop));
    let wanted = [vec!["a"], vec!["a", "b"]];
    assert_eq!(states_of(&model, &["y", "w"]), wanted);
}

/// A relation keeps its truth, and mod(x, y) its whole number.
#[test]
fn what_is_held_between_events_does_not_count() {
    let model = model(
        "model M\n  local a, b, c\n  output u, v, w\n  der(a) = -a\n  der(b) = -b\n  der(c) = -c\n  \
         u = if a > 1 then b else 2*b\n  v = sign(a) + floor(b)\n  w = mod(a, b)\nend\n",
    );
    let wanted = [vec!["b"], vec![], vec!["a", "b"]];
    assert_eq!(states_of(&model, &["u", "v", "w"]), wanted);
}

/// Sums inside a sum have no lists of their own, nor do terms: all lists together are as long as the sums.
#[test]
fn a_wide_sum_costs_as_much_as_its_terms() {
    let size = 3000;
    let mut text = format!("model M\n  local x[{size}]\n  output y\n  y = x[1]");
    for at in 2..=size {
        text += &format!(" + x[{at}]");
    }
    text += &format!("\n  for k in 1 to {size} do\n    der(x[k]) = y - x[k]\n  endfor\nend\n");
    let model = model(&text);
    let gone = gone(&model);
    let graph = Graph::new(&model.flat, &model.blocks, &gone);
    let mut depends = Depends::new(&graph, Relations::Held, size, usize::MAX);
    for (state, column) in model.flat.states().zip(0..) {
        depends.column(state, column);
    }
    depends.follow(|_| true);
    let rate = Leaf::Der(variable(&model, "x[7]"), 1);
    let list = depends.leaf(rate);
    assert_eq!(depends.lists().of(list).len(), size);
    let numbers: usize = depends.lists().all().iter().map(Vec::len).sum();
    assert!(numbers < 4 * size, "{numbers}");
}

/// Where lists would take too much room they are given up, and say all.
#[test]
fn lists_that_are_too_long_say_all() {
    let model = model(
        "model M\n  local a, b, c\n  output u, v\n  der(a) = -a\n  der(b) = -b\n  der(c) = -c\n  \
         u = a*b\n  v = u + 1\nend\n",
    );
    let gone = gone(&model);
    let graph = Graph::new(&model.flat, &model.blocks, &gone);
    let mut depends = Depends::new(&graph, Relations::Held, 3, 4);
    for (state, column) in model.flat.states().zip(0..) {
        depends.column(state, column);
    }
    depends.follow(|_| true);
    let list = depends.leaf(Leaf::Var(variable(&model, "v")));
    assert!(depends.lists().is_given_up(list));
    assert_eq!(depends.lists().of(list), [0, 1, 2]);
}

/// `m` follows `n`, which follows `m` and x; `k` follows what its `when` reads, and nothing else.
#[test]
fn discrete_variables_depend_on_each_other_in_circles() {
    let model = model(
        "model M\n  local x, y, z, k, m, n\n  output p, q, r\n  der(x) = 1\n  der(y) = 1\n  der(z) = 1\n  \
         new(m) = n or y > 2\n  new(n) = m and x > 1\n  when z > 3 then\n    new(k) = k + x\n  endwhen\n  \
         p = if m then 1 else 0\n  q = k\n  r = if k > Time then 1 else 2\nend\n",
    );
    let gone = gone(&model);
    let flat = &model.flat;
    let graph = Graph::new(flat, &model.blocks, &gone);
    let leaves: Vec<Leaf> = flat.states().collect();
    let when = &flat.whens[0];
    let set = variable(&model, "k");
    let value = (flat.equations.iter())
        .find(|equation| flat.exprs.node(equation.left) == bgm::expr::Node::Leaf(Leaf::New(set)))
        .expect("what the when sets")
        .right;
    let discretes: Vec<(VarId, Vec<ExprId>)> = ["m", "n", "k"]
        .map(|name| variable(&model, name))
        .into_iter()
        .map(|id| match id == set {
            true => (id, vec![value, when.conditions[0].0]),
            false => (id, Vec::new()),
        })
        .collect();
    let mut depends = AtEvents::new(&graph, &leaves, &discretes);
    let mut of = |name: &str| -> BTreeSet<String> {
        let columns = depends.of(Leaf::Var(variable(&model, name)));
        let columns = columns.expect("few columns").into_iter();
        columns
            .map(|at| match leaves.get(at as usize) {
                Some(&leaf) => flat.leaf_name(leaf),
                None => "Time".to_string(),
            })
            .collect()
    };
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    assert_eq!(of("p"), set(&["x", "y"]));
    assert_eq!(of("q"), set(&["x", "z"]));
    assert_eq!(of("r"), set(&["Time", "x", "z"]));
}
