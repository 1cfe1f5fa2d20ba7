//! Verifiers find what is broken: sound representations are broken in every way they speak of. And they find nothing in any model that
//! there is: debug builds look after each stage by themselves, this looks in all builds.

use bgm::base::diagnostics::Diagnostics;
use bgm::base::flaw::Flaws;
use bgm::base::source::{FileId, Span};
use bgm::bond::graph::{Graph, NodeId, NodeKind, Pattern};
use bgm::bond::{BondGraph, verify as bond_verify};
use bgm::compile::{
    Aliases, Goal, Options, Product, Request, Stage, StageObserver, bond_graph, bond_graph_with,
    load_flat_with, lower, solved_with,
};
use bgm::expr::{ExprId, Node};
use bgm::flat::verify::verify as flat_verify;
use bgm::flat::{
    DeclId, Eliminated, EqId, EquationKind, Flat, InstanceId, Kind, Leaf, VarId, WhenId,
};
use bgm::passes::blocks::verify::verify as blocks_verify;
use bgm::passes::blocks::{Block, Method, Solved};
use bgm::passes::order::verify::verify as order_verify;
use bgm::passes::order::{Row, Sorted};
use bgm::program::code::Op;
use bgm::program::verify::verify as program_verify;
use bgm::program::{Program, Shared, Step, build};
use bgm::syntax::ast::{Chain, ChainId, Item, ModelKind};
use bgm::syntax::load::{Input, Loaded, NoFiles, load};
use bgm::syntax::verify::verify as tree_verify;

use crate::support::files::{Disk, inside};

/// A state, a linear loop, a loop that is torn, a `when`.
const MODEL: &str = "\
model M
  parameter R = 2
  local x, y, z, a, b, n
  input u
  output w
  der(x) = -R*x + u
  y + z = x
  y - R*z = 1
  a + b*b*b = x
  b - exp(a) = 1
  when x > 1 then
    new(n) = n + 1
  endwhen
  w = 2*y + b
end
";

fn sound() -> Flat {
    crate::support::text::flat(MODEL)
}

fn lowered(goal: Goal) -> bgm::compile::Lowered {
    let request = Request::new(goal, Aliases::Eliminate);
    match lower(sound(), request, &mut bgm::compile::NoObserver) {
        Ok(lowered) => lowered,
        Err(_) => panic!("the model can be lowered"),
    }
}

fn sorted() -> (Flat, Sorted) {
    lowered(Goal::Sorted).into_sorted().expect("it is sorted")
}

fn solved() -> Solved {
    lowered(Goal::Solved).into_solved().expect("it is solved")
}

#[track_caller]
fn assert_told(found: Result<(), Flaws>, words: &str) {
    let told = match found {
        Ok(()) => String::new(),
        Err(flaws) => flaws.to_string(),
    };
    assert!(told.contains(words), "`{words}` is not in:\n{told}");
}

/// The variable of a name.
fn named(flat: &Flat, name: &str) -> VarId {
    let found = flat.variable_ids().find(|&id| flat.name(id) == name);
    found.expect("the model has the variable")
}

#[track_caller]
fn flat_tells(words: &str, break_it: impl FnOnce(&mut Flat)) {
    let mut flat = sound();
    break_it(&mut flat);
    assert_told(flat_verify(&flat, None), words);
}

#[test]
fn a_broken_flat_model_is_told() {
    assert_eq!(flat_verify(&sound(), None), Ok(()));
    let x = named(&sound(), "x");
    flat_tells("there is no declaration d999", |flat| {
        flat.variables[1].declaration = DeclId(999);
    });
    flat_tells("v1: there is no instance i9", |flat| {
        flat.variables[1].instance = InstanceId(9);
    });
    flat_tells("q0: there is no instance i7", |flat| {
        flat.equations[0].origin = InstanceId(7);
    });
    flat_tells("i1: its parent i1 does not come before it", |flat| {
        let mut instance = flat.instances[0];
        instance.parent = InstanceId(1);
        flat.instances.push(instance);
    });
    flat_tells("there is no expression e9999", |flat| {
        flat.equations[0].left = ExprId(9999);
    });
    flat_tells("there is no variable v999", |flat| {
        flat.exprs.leaf(Leaf::Var(VarId(999)));
    });
    flat_tells("nothing was derived as 3", |flat| {
        flat.equations[0].kind = EquationKind::Derivative(3);
    });
    flat_tells("there is no w5", |flat| {
        flat.equations[0].kind = EquationKind::When(WhenId(5), 0);
    });
    flat_tells("w0 has no branch 4", |flat| {
        flat.equations[0].kind = EquationKind::When(WhenId(0), 4);
    });
    flat_tells("the equations of w0 do not stand together", |flat| {
        let last = flat.equations.len() - 1;
        flat.equations[0].kind = EquationKind::When(WhenId(0), 0);
        flat.equations[last].kind = EquationKind::When(WhenId(0), 0);
    });
    flat_tells("3 states, but order 1", |flat| {
        flat.variables[x.index()].states = 3;
    });
    flat_tells("a parameter has states", |flat| {
        flat.variables[x.index()].kind = Kind::Parameter;
    });
    flat_tells("a parameter without a value", |flat| flat.values.clear());
    flat_tells("value: v0 comes before v0", |flat| {
        let first = flat.values[0];
        flat.values = vec![first, first];
        for given in &mut flat.values {
            given.variable = VarId(0);
        }
    });
    flat_tells("der(v", |flat| {
        flat.variables[x.index()].order = 0;
        flat.variables[x.index()].states = 0;
    });
    flat_tells("an equation reads", |flat| {
        let expression = flat.exprs.number(1.0);
        let leaf = Leaf::Var(x);
        flat.eliminated.push(Eliminated { leaf, expression });
    });
    flat_tells("it was eliminated twice", |flat| {
        let expression = flat.exprs.number(1.0);
        let leaf = Leaf::Var(x);
        flat.eliminated.extend([Eliminated { leaf, expression }; 2]);
    });
    flat_tells("new(v", |flat| {
        flat.equations[0].left = flat.exprs.leaf(Leaf::New(x));
    });
    flat_tells("wish: v1 comes before v0", |flat| {
        flat.wishes = vec![(VarId(1), true), (VarId(0), true)];
    });
}

#[test]
fn places_outside_the_files_are_told() {
    let input = Input::Standard("model Ä\n  local x\n  x = 1 {ä}\nend\n".into());
    let compiled = bgm::compile::load_flat(&input, &Options::default(), &NoFiles);
    let mut flat = compiled.flat.expect("the model has no errors");
    assert_eq!(flat_verify(&flat, Some(&compiled.sources)), Ok(()));
    let good = flat.equations[0].span;
    for span in [
        Span { end: 9999, ..good },
        // In the middle of a character.
        Span { start: 7, ..good },
        Span {
            file: FileId(9),
            ..good
        },
    ] {
        flat.equations[0].span = span;
        assert_told(flat_verify(&flat, Some(&compiled.sources)), "q0: its place");
    }
}

#[track_caller]
fn sorted_tells(words: &str, break_it: impl FnOnce(&Flat, &mut Sorted)) {
    let (flat, mut sorted) = sorted();
    assert_eq!(order_verify(&flat, &sorted), Ok(()));
    break_it(&flat, &mut sorted);
    assert_told(order_verify(&flat, &sorted), words);
}

#[test]
fn broken_blocks_are_told() {
    sorted_tells("which a later block gives", |_, sorted| {
        sorted.blocks.reverse();
    });
    sorted_tells("it is used twice", |_, sorted| {
        let found = sorted
            .rows
            .iter()
            .find(|row| matches!(row, Row::Equation(_)));
        let row = found.expect("there are equations").clone();
        sorted.rows.fill(row);
    });
    sorted_tells("no row uses it", |_, sorted| {
        sorted.rows.pop();
        sorted.unknowns.pop();
    });
    sorted_tells("for 0 unknowns", |_, sorted| sorted.unknowns.clear());
    sorted_tells("is given twice", |_, sorted| {
        sorted.unknowns[1] = sorted.unknowns[0];
    });
    sorted_tells("no row is solved for it", |_, sorted| {
        sorted.unknowns[1] = sorted.unknowns[0];
    });
    sorted_tells("is known and no unknown", |flat, sorted| {
        sorted.unknowns[0] = Leaf::Var(named(flat, "x"));
    });
    sorted_tells("which it does not contain", |_, sorted| {
        // Within a block the order is as good, but each equation has its own unknown.
        let alone: Vec<u32> = (sorted.blocks.iter())
            .filter(|block| block.len() == 1)
            .map(|block| block[0])
            .collect();
        sorted.unknowns.swap(alone[0] as usize, alone[1] as usize);
    });
    sorted_tells("it is in no block", |_, sorted| {
        sorted.blocks.pop();
    });
    sorted_tells("is in two blocks", |_, sorted| {
        let first = sorted.blocks[0].clone();
        sorted.blocks.push(first);
    });
    sorted_tells("it is empty", |_, sorted| sorted.blocks.push(Vec::new()));
    sorted_tells("there is no row r99", |_, sorted| {
        sorted.blocks.push(vec![99]);
    });
    sorted_tells("there is no equation q99", |_, sorted| {
        sorted.rows[0] = Row::Equation(EqId(99));
    });
    sorted_tells("there is no selection 4", |_, sorted| {
        sorted.rows[0] = Row::Selection(4);
    });
    sorted_tells("it vanished, but is no row", |_, sorted| {
        sorted.vanished.push(99);
    });
}

#[track_caller]
fn solved_tells(words: &str, break_it: impl FnOnce(&mut Solved)) {
    let mut solved = solved();
    assert_eq!(blocks_verify(&solved), Ok(()));
    break_it(&mut solved);
    assert_told(blocks_verify(&solved), words);
}

/// The first block of a kind.
macro_rules! first {
    ($solved:expr, $kind:path) => {
        ($solved.blocks.iter_mut())
            .find_map(|block| match block {
                $kind(found) => Some(found),
                _ => None,
            })
            .expect("the model has such a block")
    };
}

#[test]
fn broken_formulas_are_told() {
    solved_tells("which is not known before it", |solved| {
        solved.blocks.reverse();
    });
    solved_tells("no block gives it", |solved| {
        solved.blocks.remove(0);
    });
    solved_tells("no block uses it", |solved| {
        solved.blocks.remove(0);
    });
    solved_tells("is given twice", |solved| {
        let last = solved.blocks[0].clone();
        solved.blocks.push(last);
    });
    solved_tells("is used twice", |solved| {
        let last = solved.blocks[0].clone();
        solved.blocks.push(last);
    });
    // A formula that contains its own unknown.
    solved_tells("which is not known before it", |solved| {
        let own = first!(solved, Block::Assignment).target;
        let own = solved.flat.exprs.leaf(own);
        first!(solved, Block::Assignment).value = own;
    });
    solved_tells("there is no expression e9999", |solved| {
        first!(solved, Block::Assignment).guard = Some(ExprId(9999));
    });
    solved_tells("is known and no unknown", |solved| {
        let x = named(&solved.flat, "x");
        first!(solved, Block::Assignment).target = Leaf::Var(x);
    });
    solved_tells("there is no equation q99", |solved| {
        first!(solved, Block::Assignment).equation = Some(EqId(99));
    });
    solved_tells("there is no e9999", |solved| {
        solved.zeros.push(ExprId(9999));
    });
}

#[test]
fn broken_loops_are_told() {
    solved_tells("which is not known before it", |solved| {
        if let Method::Formulas(all) = &mut first!(solved, Block::Linear).method {
            all.reverse();
        }
    });
    solved_tells("no block gives it", |solved| {
        if let Method::Formulas(all) = &mut first!(solved, Block::Linear).method {
            all.clear();
        }
    });
    solved_tells("2 equations for 1 unknowns", |solved| {
        first!(solved, Block::Linear).unknowns.pop();
    });
    let system = |solved: &mut Solved, places: &[(u32, u32)], right: usize| {
        let value = solved.flat.exprs.number(1.0);
        let entry = |&(row, column): &(u32, u32)| bgm::passes::blocks::Entry { row, column, value };
        first!(solved, Block::Linear).method = Method::System {
            matrix: places.iter().map(entry).collect(),
            right: vec![value; right],
        };
    };
    solved_tells("no entry at (0, 7)", |solved| system(solved, &[(0, 7)], 2));
    solved_tells("is not in order", |solved| {
        system(solved, &[(1, 0), (0, 0)], 2);
    });
    solved_tells("1 right sides for 2 rows", |solved| {
        system(solved, &[(0, 0)], 1);
    });
    solved_tells("which is not known before it", |solved| {
        system(solved, &[(0, 0), (1, 1)], 2);
        let own = first!(solved, Block::Linear).unknowns[0];
        let own = solved.flat.exprs.leaf(own);
        if let Method::System { right, .. } = &mut first!(solved, Block::Linear).method {
            right[0] = own;
        }
    });
    solved_tells("residuals for", |solved| {
        first!(solved, Block::Nonlinear).residuals.clear();
    });
    solved_tells(
        "residuals and inner assignments are not from its equations",
        |solved| {
            first!(solved, Block::Nonlinear).residuals.clear();
        },
    );
    solved_tells(
        "iteration variables and inner assignments are not its unknowns",
        |solved| {
            first!(solved, Block::Nonlinear).inner.clear();
        },
    );
    solved_tells("which is not known before it", |solved| {
        let own = first!(solved, Block::Nonlinear).inner[0].target;
        let own = solved.flat.exprs.leaf(own);
        first!(solved, Block::Nonlinear).inner[0].value = own;
    });
    solved_tells("there is no w9", |solved| {
        first!(solved, Block::When).when = WhenId(9);
    });
}

fn program() -> Program {
    let mut solved = solved();
    let w = named(&solved.flat, "w");
    let column = solved.flat.exprs.leaf(Leaf::Var(w));
    build(&solved, &[column])
}

#[track_caller]
fn program_tells(words: &str, break_it: impl FnOnce(&mut Program)) {
    let mut program = program();
    assert_eq!(program_verify(&program), Ok(()));
    break_it(&mut program);
    assert_told(program_verify(&program), words);
}

#[test]
fn a_broken_program_is_told() {
    program_tells("before it is written", |program| {
        program.continuous.code.reverse();
    });
    program_tells("before it is written", |program| {
        program.registers.push(0.0);
        program.rates[0] = program.registers.len() as u32 - 1;
    });
    program_tells("continuous: it is written twice", |program| {
        let code = &mut program.continuous.code;
        let last = code.len() - 1;
        code[last].to = code[0].to;
    });
    program_tells("no register", |program| program.event.code[0].a = 99_999);
    program_tells("rates: a pattern of 1 by 1 in 0 colours", |program| {
        program.coloring.colors.clear();
    });
    program_tells("rates: column 0 cannot have the colour 0", |program| {
        program.coloring.count = 0;
    });
    program_tells("there is no table 3", |program| {
        program.continuous.code[0].op = Op::Table;
        program.continuous.code[0].b = 3;
    });
    program_tells("leave out code", |program| {
        program.continuous.steps.pop();
    });
    program_tells("does not go on from", |program| {
        let code = program.event.steps.iter_mut().find_map(|step| match step {
            Step::Code(range) => Some(range),
            _ => None,
        });
        code.expect("there is code").start += 1;
    });
    program_tells("loop 1 where 0 is next", |program| {
        for step in &mut program.event.steps {
            if let Step::Loop(at) = step {
                *at += 1;
            }
        }
    });
    program_tells("a loop of 0 residuals", |program| {
        program.continuous.loops[0].residuals.clear();
    });
    program_tells("a column reads it", |program| {
        program.registers.push(0.0);
        program.columns[0] = program.registers.len() as u32 - 1;
    });
    program_tells("steps for rates", |program| program.rate_steps = 99);
    program_tells("a relation reads it", |program| {
        program.watches[0].sides.0 = u32::MAX;
    });
    program_tells("a when reads it", |program| {
        program.whens[0].branches[0].0 = u32::MAX;
    });
}

fn graph() -> BondGraph {
    let text = "@bondgraph\nmodel G\n  submodel (SE) E0\n  submodel (R) R1(R = 1)\n  submodel (C) C1(C = 1)\n  \
                submodel (bond) B\n  node a\n  junction1 j\n  input u\n  connect E0 at a\n  connect B from a to j\n  \
                connect R1 at j\n  connect C1 at j\n  E0.E0 = u\nend\n";
    let found = bond_graph(
        crate::support::text::flat(text),
        &[],
        &mut Diagnostics::default(),
    );
    found.expect("no preferences").expect("a bond graph")
}

#[track_caller]
fn graph_tells(words: &str, break_it: impl FnOnce(&mut BondGraph)) {
    let check =
        |found: &BondGraph| bond_verify::verify(&found.flat, &found.graph, Some(&found.causality));
    let mut found = graph();
    assert_eq!(check(&found), Ok(()));
    break_it(&mut found);
    assert_told(check(&found), words);
}

/// The first element of a graph.
fn element(graph: &mut Graph) -> &mut bgm::bond::graph::Element {
    let mut elements = graph
        .nodes
        .iter_mut()
        .filter_map(|node| match &mut node.kind {
            NodeKind::Element(element) => Some(element),
            NodeKind::Junction(_) | NodeKind::Box(_) => None,
        });
    elements.next().expect("the graph has an element")
}

#[test]
fn a_broken_graph_is_told() {
    graph_tells("b0: there is no node n99", |found| {
        found.graph.bonds[0].from = NodeId(99);
    });
    graph_tells("b0: both of its ends are", |found| {
        found.graph.bonds[0].from = found.graph.bonds[0].to;
    });
    graph_tells("its ports have the bonds []", |found| {
        element(&mut found.graph).ports.clear();
    });
    graph_tells("quantities for 0 ports", |found| {
        element(&mut found.graph).quantities.clear();
    });
    graph_tells("pattern for 0 ports", |found| {
        element(&mut found.graph).pattern = Pattern::Each(Vec::new());
    });
    graph_tells("there is no variable v999", |found| {
        element(&mut found.graph).states.push(VarId(999));
    });
    graph_tells("there is no instance i99", |found| {
        found.graph.nodes[0].owner = InstanceId(99);
    });
    graph_tells("it is a closed submodel", |found| {
        let at = found
            .graph
            .nodes
            .iter()
            .position(|node| node.junction().is_some());
        found.graph.nodes[at.expect("a junction")].kind = NodeKind::Box("R".to_string());
    });
    graph_tells("it has 0 bonds", |found| found.causality.bonds.clear());
    // A stroke at the other end: two bonds at a junction give what one gives.
    for at in 0..graph().graph.bonds.len() {
        graph_tells("", |found| {
            let gives = &mut found.causality.bonds[at].gives;
            *gives = gives.map(|gives| gives.other());
            let told = bond_verify::verify(&found.flat, &found.graph, Some(&found.causality));
            assert!(told.is_err(), "the stroke of bond {at} may not be turned");
        });
    }
}

#[track_caller]
fn tree_tells(words: &str, break_it: impl FnOnce(&mut Loaded)) {
    let text = "model M\n  submodel S(R = 2)\n  node a\n  connect S - S\n  x[1 + 2] = y*3\nend\n";
    let input = Input::Standard(text.into());
    let mut said = Diagnostics::default();
    let mut loaded = load(&input, None, &[], &NoFiles, &mut said);
    let check = |loaded: &Loaded| tree_verify(&loaded.trees[0], &loaded.interner, &loaded.sources);
    assert_eq!(check(&loaded), Ok(()));
    break_it(&mut loaded);
    assert_told(check(&loaded), words);
}

#[test]
fn a_broken_tree_is_told() {
    tree_tells("does not come before it", |loaded| {
        let exprs = &mut loaded.trees[0].exprs;
        let at = (exprs.nodes.iter()).position(|node| matches!(node, Node::Binary(..)));
        if let Node::Binary(_, a, _) = &mut exprs.nodes[at.expect("a sum")] {
            *a = ExprId(999);
        }
    });
    tree_tells("its operands are not in the pool", |loaded| {
        loaded.trees[0].exprs.parts.clear();
    });
    tree_tells("expression: its place", |loaded| {
        loaded.trees[0].exprs.spans[0].end = 9999;
    });
    tree_tells("places", |loaded| loaded.trees[0].exprs.spans.clear());
    tree_tells("there is no such name", |loaded| {
        loaded.trees[0].exprs.parts[0].name.symbol = bgm::base::intern::Symbol(99);
    });
    tree_tells("its part ChainId(9) does not come before it", |loaded| {
        let chains = &mut loaded.trees[0].chains;
        *chains.nodes.last_mut().expect("a chain") = Chain::Reversed(ChainId(9));
    });
    tree_tells("its place", |loaded| loaded.trees[0].file = FileId(3));
    tree_tells("it begins after itself", |loaded| {
        loaded.trees[0].exprs.firsts[0] = 9;
    });
}

/// Looks at everything in whatever build, and counts.
#[derive(Default)]
struct Inspector {
    stages: usize,
    /// Modes of switches with a program.
    modes: usize,
    /// The models of the file.
    models: Vec<String>,
}

impl StageObserver for Inspector {
    fn after(&mut self, stage: Stage, product: Product<'_>) {
        self.stages += 1;
        if let Product::Tree(loaded) = product {
            let items = loaded.tree(loaded.main).items.iter();
            let names = items.filter_map(|item| match item {
                Item::Model(model) if model.kind == ModelKind::Model => {
                    Some(loaded.interner.name(model.name.symbol).to_string())
                }
                _ => None,
            });
            self.models = names.collect();
        }
        if let Err(flaws) = product.verify(None) {
            panic!(
                "`{}` of one of {:?} is not sound\n{flaws}",
                stage.name(),
                self.models
            );
        }
    }
}

/// Through all stages, in all modes that are tried, with its program and its bond graph.
fn inspect(input: &Input, model: Option<String>, inspector: &mut Inspector) -> bool {
    let options = Options {
        model,
        ..Options::default()
    };
    let compiled = load_flat_with(input, &options, &Disk::default(), inspector);
    let Some(flat) = compiled.flat else {
        return false;
    };
    let mut said = Diagnostics::default();
    let _ = bond_graph_with(flat.clone(), &[], inspector, &mut said);
    for aliases in [Aliases::Keep, Aliases::Eliminate] {
        let Some(solution) = solved_with(flat.clone(), aliases, inspector, &mut said) else {
            continue;
        };
        bgm::compile::program(&solution.solved, &[], None, inspector);
        let Some(mut modes) = solution.positions else {
            continue;
        };
        for key in modes.keys().0 {
            let _ = modes.solved_in(&key, inspector);
            let Some(mode) = modes.take_compiled(&key, inspector) else {
                continue;
            };
            inspector.modes += 1;
            let shared = Shared {
                opened: &modes.opened,
                switches: &modes.switches,
            };
            bgm::compile::program(&mode.solved, &[], Some(shared), inspector);
        }
    }
    true
}

#[test]
fn the_models_that_there_are_are_sound_after_every_stage() {
    let mut inspector = Inspector::default();
    let mut count = 0;
    let mut by_mode = Vec::new();
    for folder in [
        "examples",
        "tests/diagnostics",
        "tests/papers",
        "tests/reduction",
        "tests/solving",
    ] {
        for path in inside(&[folder]) {
            let before = inspector.modes;
            let stem = path.file_stem().unwrap_or_default().to_os_string();
            let input = Input::File(path);
            inspector.models.clear();
            count += usize::from(inspect(&input, None, &mut inspector));
            // The last one was looked at.
            let mut others = inspector.models.clone();
            others.pop();
            for model in others {
                count += usize::from(inspect(&input, Some(model), &mut inspector));
            }
            if inspector.modes > before {
                by_mode.push(stem);
            }
        }
    }
    for model in ["bridge", "buck", "clutch", "freewheel", "interrupted_coil"] {
        assert!(by_mode.iter().any(|known| known == model), "{by_mode:?}");
    }
    assert!(count > 60, "{count} models");
    assert!(inspector.stages > 10 * count, "{} stages", inspector.stages);
}

/// Ladders of resistors that are not linear, with storages in every third stage: large loops, torn and not.
#[test]
fn generated_models_are_sound_after_every_stage() {
    let mut inspector = Inspector::default();
    for (stages, power) in [(3, 1), (12, 1), (40, 3), (200, 1)] {
        let mut text = String::from(
            "@electrical\nmodel type Part\n  cut A(Va/i) B(Vb/-i)\n  main path P <A - B>\n",
        );
        text.push_str(&format!(
            "  local u\n  u = Va - Vb\n  i = u**{power} + u\nend\nmodel Ladder\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel Ground\n"
        ));
        let mut connect = String::from("  connect Ground - U0 - n0\n");
        for at in 0..stages {
            let kind = if at % 3 == 2 { "Capacitor" } else { "Part" };
            text.push_str(&format!(
                "  submodel (Part) S{at}\n  submodel ({kind}) G{at}\n"
            ));
            let next = at + 1;
            connect.push_str(&format!(
                "  connect S{at} from n{at} to n{next}\n  connect n{next} - G{at} - Ground\n"
            ));
        }
        let nodes: Vec<String> = (0..=stages).map(|at| format!("n{at}")).collect();
        text.push_str(&format!("  node {}\n{connect}end\n", nodes.join(", ")));
        let input = Input::Standard(text.clone().into_bytes());
        assert!(inspect(&input, None, &mut inspector), "{text}");
    }
}
