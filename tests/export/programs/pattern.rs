//! What depends on what by structure: against what moves in a C program when something is moved.

use std::collections::BTreeSet;
use std::process::Command;

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::export::model::Model;
use bgm::export::pattern::dependence;
use bgm::syntax::load::{Input, NoFiles};

use crate::support::programs::{compiled, exported, folder, has, run};

/// At some points of a run: which rates (0) and outputs (1) change at all when a state or an input is moved.
const MOVED: &str = r#"
#include "model.c"
enum { COLUMNS = NAME_STATES + NAME_INPUTS };
static double here[NAME_STATES + 1], there[NAME_STATES + 1];
static NAME_outputs y_here, y_there;
static NAME run, one;

static void tell(int column)
{
    const double *a = (const double *)&y_here, *b = (const double *)&y_there;
    for (int i = 0; i < NAME_STATES; i++)
        if (here[i] != there[i])
            printf("0,%d,%d\n", i, column);
    for (int i = 0; i < NAME_OUTPUTS; i++)
        if (a[i] != b[i])
            printf("1,%d,%d\n", i, column);
}

int main(void)
{
    printf("kind,which,column\n");
    NAME_start(&run, NAME_FROM);
    run.own_inputs = 0;
    for (int j = 0; j < NAME_INPUTS; j++)
        ((double *)&run.u)[j] = 0.7 + 0.1 * j;
    if (NAME_begin(&run))
        return 1;
    for (int turn = 1; turn < 8; turn++) {
        if (NAME_advance(&run, NAME_FROM + (NAME_UNTIL - NAME_FROM) * turn / 16.0))
            return 1;
        one = run;
        if (NAME_derivatives(&one, here))
            return 1;
        NAME_read_outputs(&one, &y_here);
        for (int j = 0; j < COLUMNS; j++) {
            one = run;
            double *moved = j < NAME_STATES ? (double *)&one.x + j : (double *)&one.u + (j - NAME_STATES);
            *moved += 1e-3 * (fabs(*moved) + 0.1);
            if (NAME_derivatives(&one, there))
                return 1;
            NAME_read_outputs(&one, &y_there);
            tell(j);
        }
    }
    return 0;
}
"#;

type Pairs = BTreeSet<(usize, usize, usize)>;

/// By the structure of the solved model.
fn structural(text: &str, options: &Options) -> Pairs {
    let input = Input::Standard(text.as_bytes().to_vec());
    let flat = load_flat(&input, options, &NoFiles).flat.expect("a model");
    let mut said = Diagnostics::default();
    let solved = solved(flat, Aliases::Eliminate, &mut said)
        .expect("a solved model")
        .solved;
    let model = Model::new(&solved, Vec::new(), &Default::default(), 0.0).expect("a model");
    let found = dependence(&model);
    let flat = &solved.flat;
    let outputs = flat.variable_ids().filter(|&id| flat.variable(id).output);
    let mut pairs = Pairs::new();
    for state in 0..found.states() {
        let list = found.rate(state);
        assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        pairs.extend(list.iter().map(|&column| (0, state, column as usize)));
    }
    for output in 0..outputs.count() {
        let list = found.output(output).iter();
        pairs.extend(list.map(|&column| (1, output, column as usize)));
    }
    // United with itself it is the same.
    let mut twice = found.clone();
    twice.unite(&found);
    assert!((0..found.states()).all(|state| twice.rate(state) == found.rate(state)));
    pairs
}

/// File, model, and whether all that depends by structure moves: all but the loops of some do.
const MODELS: &[(&str, &str, bool)] = &[
    ("rlc", "RLC", true),
    ("rlc_circuit", "RLC", true),
    ("lever_arm", "LeverArm", false),
    ("dc_motor", "DCMotor", true),
    ("hires", "Hires", true),
    ("robertson", "Robertson", true),
    ("lamp", "LampCircuit", true),
    ("pipes", "Network", true),
    ("gyrator", "Gyrator", true),
    ("rectifier", "Rectifier", true),
    ("bouncing_ball", "BouncingBall", true),
    ("sampled_control", "SampledControl", true),
    ("thermostat", "Thermostat", true),
    ("geared_inertias", "GearedInertias", true),
    ("coupled_pendulums", "CoupledPendulums", false),
    ("differential", "Car", true),
    ("slider_crank", "SliderCrank", false),
];

#[test]
fn what_moves_depends_by_structure() {
    if !has("cc") {
        return;
    }
    for &(name, model, all) in MODELS {
        let folder = folder(&format!("moved-{name}"));
        let source = format!("examples/{name}.bgm");
        exported(&source, "c", &folder.join("model.c"), &["--model", model]);
        let file = folder.join("moved.c");
        std::fs::write(&file, MOVED.replace("NAME", model)).expect("a file");
        let (_, rows) = run(&mut Command::new(compiled(&file, "NONE")));
        let moved: Pairs = (rows.iter())
            .map(|row| (row[0] as usize, row[1] as usize, row[2] as usize))
            .collect();
        let text = std::fs::read_to_string(&source).expect("an example");
        let options = Options {
            model: Some(model.to_string()),
            ..Options::default()
        };
        let known = structural(&text, &options);
        let missing: Vec<_> = moved.difference(&known).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        let idle: Vec<_> = known.difference(&moved).collect();
        assert!(!all || idle.is_empty(), "{name}: {idle:?}");
        assert!(!moved.is_empty(), "{name}");
    }
}

/// Neighbours only.
#[test]
fn a_chain_is_sparse() {
    let text = "model Chain\n  input u\n  output y\n  local x[50]\n  der(x[1]) = u - x[1]\n  \
                for k in 2 to 50 do\n    der(x[k]) = x[k - 1] - x[k]\n  endfor\n  y = x[50] + 2*u\nend\n";
    let pairs = structural(text, &Options::default());
    let mut wanted = Pairs::new();
    for state in 0..50 {
        wanted.insert((0, state, state));
        wanted.insert((0, state, if state == 0 { 50 } else { state - 1 }));
    }
    wanted.extend([(1, 0, 49), (1, 0, 50)]);
    assert_eq!(pairs, wanted);
}
