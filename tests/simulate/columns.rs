//! What a simulation records: names and their order, power at ports, what storages hold.

use crate::support::text;
use std::collections::HashMap;
use std::path::Path;

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::evaluate::{Point, evaluate};
use bgm::experiment::Request;
use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp, Value};
use bgm::flat::{Flat, InstanceId, Kind, Leaf, Type};
use bgm::passes::blocks::Solved;
use bgm::simulate::columns::{Column, ColumnKind, default, matching};
use bgm::syntax::load::{Input, NoFiles};

/// The last model of a text, or the one named, solved; `None` where that cannot be done.
fn try_solve(text: &str, options: &Options, aliases: Aliases) -> Option<Solved> {
    let input = Input::Standard(text.as_bytes().to_vec());
    let flat = load_flat(&input, options, &NoFiles).flat?;
    Some(solved(flat, aliases, &mut Diagnostics::default())?.solved)
}

fn solve(text: &str) -> Solved {
    let found = try_solve(text, &Options::default(), Aliases::Eliminate);
    found.unwrap_or_else(|| panic!("{}", text::all_diagnostics(&text::check_text(text))))
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(format!("{name}.bgm"));
    std::fs::read_to_string(path).expect("the example is there")
}

fn names(columns: &[Column]) -> Vec<&str> {
    columns.iter().map(|column| column.name.as_str()).collect()
}

fn ask(solved: &mut Solved, patterns: &str) -> Vec<Column> {
    matching(solved, &[patterns.to_string()]).unwrap_or_else(|error| panic!("{patterns}: {error}"))
}

fn refused(solved: &mut Solved, pattern: &str) -> String {
    match matching(solved, &[pattern.to_string()]) {
        Ok(columns) => panic!("{pattern}: {:?}", names(&columns)),
        Err(error) => error.to_string(),
    }
}

/// Numbers from 0 to 1 that look random (SplitMix64, Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// States, inputs and so on at random; `None` if the model has no values there. A set of states of which some are
/// chosen keeps its start values: not every other one can be reached.
fn somewhere(solved: &Solved, seed: u64) -> Option<Point> {
    let mut random = Random(seed);
    let mut point = Point::new(solved);
    point.time = random.next();
    let flat = &solved.flat;
    for state in flat.states() {
        point.set(state, Value::Real(0.2 + 1.8 * random.next()));
    }
    for id in flat.variable_ids() {
        let variable = flat.variable(id);
        let value = match variable.ty {
            Type::Real => Value::Real(4.0 * random.next() - 2.0),
            Type::Boolean => Value::Bool(random.next() < 0.5),
        };
        if variable.kind == Kind::Input {
            (0..=variable.order).for_each(|order| {
                point.set(Leaf::at_order(id, order), value);
            });
        }
    }
    evaluate(solved, &mut point).ok()?;
    Some(point)
}

fn value(solved: &Solved, point: &Point, column: &Column) -> f64 {
    let value = point.number(&solved.flat.exprs, column.value);
    value.unwrap_or_else(|| panic!("{} has no value", column.name))
}

fn value_of(solved: &mut Solved, point: &Point, name: &str) -> f64 {
    let columns = ask(solved, name);
    assert_eq!(names(&columns), [name]);
    value(solved, point, &columns[0])
}

/// The time derivative of an expression of variables and parameters, by the rules of the textbook.
fn rate(flat: &Flat, point: &Point, id: ExprId) -> (f64, f64) {
    let of = |id: ExprId| rate(flat, point, id);
    match flat.exprs.node(id) {
        Node::Number(value) => (value.0, 0.0),
        Node::Leaf(leaf) => {
            let value = point.real(leaf).expect("it has a value");
            let variable = flat.variable(leaf.variable());
            if matches!(variable.kind, Kind::Parameter | Kind::Constant) {
                return (value, 0.0);
            }
            let next = leaf.order().expect("no event") + 1;
            let slope = point.real(Leaf::Der(leaf.variable(), next));
            (value, slope.expect("it has a derivative"))
        }
        Node::Unary(UnaryOp::Minus, a) => {
            let (a, da) = of(a);
            (-a, -da)
        }
        Node::Binary(op, a, b) => {
            let ((a, da), (b, db)) = (of(a), of(b));
            match op {
                BinaryOp::Add => (a + b, da + db),
                BinaryOp::Sub => (a - b, da - db),
                BinaryOp::Mul => (a * b, a * db + da * b),
                BinaryOp::Div => (a / b, (da - a / b * db) / b),
                other => panic!("not expected: {other:?}"),
            }
        }
        other => panic!("not expected: {other:?}"),
    }
}

fn assert_close(a: f64, b: f64, scale: f64, what: &str) {
    let most = 1e-9 * scale.max(1e-30);
    assert!((a - b).abs() <= most, "{what}: {a} and {b}");
}

// ---------------------------------------------------------------- names and order

#[test]
fn outputs_states_inputs_and_discrete_variables_are_recorded() {
    let mut rlc = solve(&example("rlc"));
    let columns = default(&mut rlc, None);
    assert_eq!(names(&columns), ["y1", "y2", "L1.f", "C1.e", "u"]);
    let what: Vec<ColumnKind> = columns.iter().map(|column| column.kind).collect();
    use ColumnKind::{Discrete, Input, Output, State};
    assert_eq!(what, [Output, Output, State, State, Input]);

    let mut rectifier = solve(&example("rectifier"));
    let columns = default(&mut rectifier, None);
    let last = columns.last().expect("there are columns");
    assert_eq!(
        (last.name.as_str(), last.kind),
        ("Diode.OpenSwitch", Discrete)
    );
    assert!(last.boolean);
}

/// An experiment makes an equation of an input: it is one all the same.
#[test]
fn inputs_of_an_experiment_are_inputs() {
    let options = Options {
        request: Request {
            experiment: Some("RLC".to_string()),
            ..Request::default()
        },
        ..Options::default()
    };
    let text = example("rlc_circuit");
    let mut given = try_solve(&text, &options, Aliases::Eliminate).expect("it is sound");
    let columns = default(&mut given, None);
    assert_eq!(names(&columns), ["y1", "y2", "L1.i", "C1.u", "u"]);
    assert_eq!(columns[4].kind, ColumnKind::Input);
    assert_eq!(columns[4].unit.as_deref(), Some("V"));
}

/// Of a pendulum all candidates are recorded; outputs that are candidates come once.
#[test]
fn all_candidates_are_recorded() {
    let mut pendulum = solve(&example("pendulum"));
    let columns = default(&mut pendulum, None);
    assert_eq!(&names(&columns)[..2], ["x", "y"]);
    assert_eq!(columns.len(), 4);
    assert!(
        columns
            .iter()
            .all(|column| column.kind == ColumnKind::State)
    );
}

#[test]
fn names_and_globs() {
    let mut rlc = solve(&example("rlc_circuit"));
    let all = ask(&mut rlc, "*");
    let flat = &rlc.flat;
    let variables: Vec<String> = (flat.variable_ids())
        .filter(|&id| {
            let kind = flat.variable(id).kind;
            !matches!(kind, Kind::Parameter | Kind::Constant | Kind::Auxiliary)
        })
        .map(|id| flat.name(id))
        .collect();
    assert_eq!(names(&all), variables);
    // In the order asked for, each once, eliminated ones under their own names.
    let some = ask(&mut rlc, "y?, C1.*, C1.u, u,Time");
    let wanted = ["y1", "y2", "C1.Va", "C1.i", "C1.Vb", "C1.u", "u"];
    assert_eq!(names(&some), wanted);
    let one = ask(&mut rlc, "C1.C");
    assert_eq!(one[0].kind, ColumnKind::Parameter);
    assert_eq!(one[0].unit.as_deref(), Some("F"));
    let rates = ask(&mut rlc, "der(*)");
    assert!(names(&rates).contains(&"der(C1.u)"));
    assert_eq!(rates[0].kind, ColumnKind::Derivative);
    // y1 equals the state C1.u, and so do their derivatives.
    let point = somewhere(&rlc, 1).expect("it has values");
    let of_output = ask(&mut rlc, "der(y1)").remove(0);
    assert_eq!(of_output.name, "der(y1)");
    assert_eq!(of_output.unit.as_deref(), Some("V/s"));
    let one = value(&rlc, &point, &of_output);
    let other = value_of(&mut rlc, &point, "der(C1.u)");
    assert!(one != 0.0 && one == other);
}

#[test]
fn what_is_not_there_is_told_with_the_nearest_name() {
    let mut rlc = solve(&example("rlc_circuit"));
    for (pattern, parts) in [
        ("C1.U", vec!["no `C1.U` in `RLC`", "did you mean `C1.u`?"]),
        ("C9.*", vec!["no `C9` in `RLC`", "did you mean `C1`?"]),
        ("C1.z*", vec!["nothing in `RLC` is called `C1.z*`"]),
        ("C1.A.powr", vec!["did you mean `C1.A.power`?"]),
        ("C1.displacment", vec!["did you mean `C1.displacement`?"]),
        ("der(R1.u)", vec!["no `der(R1.u)`", "not differentiated"]),
        ("der(C1.C)", vec!["no `der(C1.C)`"]),
        ("R1.momentum", vec!["`R1` has no momentum"]),
        ("C1.momentum", vec!["`C1` has no momentum"]),
        ("y1,nothing.at.all", vec!["no `nothing.at.all`"]),
    ] {
        let said = refused(&mut rlc, pattern);
        for part in parts {
            assert!(said.contains(part), "{pattern}: {said}");
        }
    }
    assert_eq!(matching(&mut rlc, &[]), Ok(Vec::new()));
}

// ---------------------------------------------------------------- power

#[test]
fn power_counts_into_a_submodel() {
    let mut rlc = solve(&example("rlc_circuit"));
    let point = somewhere(&rlc, 5).expect("it has values");
    let mut at = |name: &str| value_of(&mut rlc, &point, name);
    let (u, i) = (at("R1.u"), at("R1.i"));
    assert!(i != 0.0);
    assert_close(at("R1.power"), u * i, (u * i).abs(), "R1");
    assert_close(at("R1.A.power"), at("R1.Va") * i, 1e3, "R1.A");
    assert_close(at("R1.B.power"), -at("R1.Vb") * i, 1e3, "R1.B");
    // A source with this direction gives off what it drives.
    let (u, i) = (at("U0.E0"), at("U0.i"));
    assert_close(at("U0.power"), -u * i, (u * i).abs(), "U0");
    let one = ask(&mut rlc, "R1.power").remove(0);
    assert_eq!(
        (one.unit.as_deref(), one.kind),
        (Some("W"), ColumnKind::Power)
    );
}

/// A cut without a variable supplies what is asked for: its power is that of the others.
#[test]
fn power_of_cuts_without_a_variable() {
    let text = "@bondgraph
model M
  submodel (SE) E1, E2
  submodel (SF) F1, F2
  submodel (R) R1(R = 2), R2(R = 3), R3(R = 5), R4(R = 7)
  junction1 j, k
  node n, m
  input u, v, a, b
  E1.E0 = u
  F1.F0 = v
  E2.E0 = a
  F2.F0 = b
  connect E1 at j, R1 at j
  connect F1 at n, R2 at n
  connect E2 at m, R3 at m
  connect F2 at k, R4 at k
end";
    let mut solved = solve(text);
    let mut point = Point::new(&solved);
    for (name, value) in [("u", 6.0), ("v", 4.0), ("a", 10.0), ("b", 2.0)] {
        let id = (solved.flat.variable_ids()).find(|&id| solved.flat.name(id) == name);
        point.set(Leaf::Var(id.expect("it is there")), Value::Real(value));
    }
    evaluate(&solved, &mut point).expect("it has values");
    for (name, wanted) in [
        ("R1.power", 18.0),
        ("E1.power", -18.0),
        ("R2.power", 48.0),
        ("F1.power", -48.0),
        ("R3.power", 20.0),
        ("E2.A.power", -20.0),
        ("R4.power", 28.0),
        ("F2.A.power", -28.0),
    ] {
        assert_close(value_of(&mut solved, &point, name), wanted, 1.0, name);
    }
}

/// Two cuts on one node that take any flow: how they share it is not determined. A signal carries no power.
#[test]
fn power_that_is_not_there() {
    let text = "@electrical
model type Gain
  cut In(x) Out(y)
  y = 2*x
end
model type Probe
  cut A(v / .)
  local y
  y = v
end
model type Source
  cut Out(y)
  y = Time
end
model M
  submodel (ConstantVoltage) U
  submodel (Resistor) R1
  submodel Ground, Probe, Gain, Source
  connect Ground - U - R1 - Ground, Probe at Ground, Source:Out at Gain:In
end";
    let mut solved = solve(text);
    assert!(refused(&mut solved, "Ground.power").contains("not determined"));
    assert!(refused(&mut solved, "Gain.In.power").contains("has no power"));
}

/// What each model of the examples and papers is made of: for all submodels, what goes in at the ports of their
/// parts goes in at their own. Outer ports are the compiled model's own: what is connected to them is left out.
#[test]
fn power_is_kept_where_ports_meet() {
    let mut junctions = 0;
    let mut models = 0;
    for (name, mut solved) in all_models() {
        let Some(point) = (0..20).find_map(|seed| somewhere(&solved, seed)) else {
            continue;
        };
        models += 1;
        let powers = match matching(&mut solved, &["*.power".to_string()]) {
            Ok(powers) => powers,
            Err(_) => continue,
        };
        let values: HashMap<&str, f64> = (powers.iter())
            .map(|column| (column.name.as_str(), value(&solved, &point, column)))
            .collect();
        let flat = &solved.flat;
        // By junction: the sum, how much there is at all, and whether it is complete.
        let mut sums = vec![(0.0f64, 0.0f64, true); flat.ports.junctions.len()];
        for port in flat.ports.ids() {
            let record = flat.ports.get(port);
            let mut path = flat.path(record.instance);
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(flat.names.name(record.name));
            if record.index > 0 {
                path.push_str(&format!("[{}]", record.index));
            }
            let known = values.get(format!("{path}.power").as_str());
            for (junction, sign) in [(record.outside, 1.0), (record.inside, -1.0)] {
                let Some(junction) = junction else { continue };
                let sum = &mut sums[junction.index()];
                match known {
                    Some(power) => {
                        sum.0 += sign * power;
                        sum.1 += power.abs();
                    }
                    None => sum.2 = false,
                }
            }
        }
        for (at, (total, size, complete)) in sums.into_iter().enumerate() {
            if complete {
                junctions += 1;
                assert_close(
                    total,
                    0.0,
                    size.max(1e-12),
                    &format!("{name}, junction {at}"),
                );
            }
        }
        // All parts of the model together.
        let parts: Vec<f64> = (1..flat.instances.len() as u32)
            .map(InstanceId)
            .filter(|id| flat.instances[id.index()].parent == InstanceId::TOP)
            .filter(|&id| flat.ports.of(id).next().is_some())
            .filter_map(|id| values.get(format!("{}.power", flat.path(id)).as_str()))
            .copied()
            .collect();
        let outer = flat.ports.of(InstanceId::TOP).next().is_some();
        let all_complete = (1..flat.instances.len() as u32)
            .map(InstanceId)
            .filter(|id| flat.instances[id.index()].parent == InstanceId::TOP)
            .filter(|&id| flat.ports.of(id).next().is_some())
            .count()
            == parts.len();
        if !outer && all_complete {
            let size: f64 = parts.iter().map(|part| part.abs()).sum();
            assert_close(parts.iter().sum(), 0.0, size.max(1e-12), &name);
        }
    }
    assert!(models > 25, "only {models} models had values");
    assert!(junctions > 200, "only {junctions} junctions were complete");
}

/// Every model of the examples and of the papers that can be solved.
fn all_models() -> Vec<(String, Solved)> {
    let mut found = Vec::new();
    for folder in [
        "examples",
        "tests/papers",
        "tests/solving",
        "tests/reduction",
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut paths: Vec<_> = (std::fs::read_dir(folder).expect("the folder is there"))
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "bgm"))
            .collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("the file is there");
            let models = (text.lines()).filter_map(|line| {
                let rest = line.trim().strip_prefix("model ")?;
                let rest = rest
                    .trim_start_matches(|c| c != ')')
                    .strip_prefix(')')
                    .unwrap_or(rest);
                let name = rest.split_whitespace().next()?;
                (!matches!(name, "type" | "class")).then(|| name.to_string())
            });
            for model in models.collect::<Vec<_>>() {
                let options = Options {
                    model: Some(model.clone()),
                    ..Options::default()
                };
                let name = format!("{} {model}", path.display());
                let solved = try_solve(&text, &options, Aliases::Eliminate);
                found.extend(solved.map(|solved| (name, solved)));
            }
        }
    }
    found
}

// ---------------------------------------------------------------- storages

/// A type of the library, a model with it, what is asked of it, and what that is the integral of.
type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const STORAGES: &[Case] = &[
    (
        "C",
        "submodel (C) X(C = 0.3)\n submodel (R) R1\n node n\n connect X at n, R1 at n",
        &[("X.displacement", "X.f")],
    ),
    (
        "I",
        "submodel (I) X(I = 0.3)\n submodel (R) R1\n node n\n connect X at n, R1 at n",
        &[("X.momentum", "X.e")],
    ),
    (
        "Cbond",
        "submodel (Cbond) X(C = 0.3)\n submodel (R) R1, R2(R = 2)\n local s\n s = X.f1 - X.f2\n \
         connect R1 at X:A, R2 at X:B",
        &[("X.displacement", "s")],
    ),
    (
        "Ibond",
        "submodel (Ibond) X(I = 0.3)\n submodel (R) R1, R2(R = 2)\n local s\n s = X.e1 - X.e2\n \
         connect R1 at X:A, R2 at X:B",
        &[("X.momentum", "s")],
    ),
    (
        "CS",
        "submodel (CS) X\n submodel (R) R1\n node n\n X.mu0 = 3*X.n\n connect X at n, R1 at n",
        &[("X.displacement", "X.nu")],
    ),
    (
        "C2",
        "submodel (C2) X(C11 = 2, C12 = 0.5, C21 = 0.5, C22 = 3)\n submodel (R) R1, R2\n \
         connect R1 at X:A, R2 at X:B",
        &[("X.A.displacement", "X.f1"), ("X.B.displacement", "X.f2")],
    ),
    (
        "I2",
        "submodel (I2) X(I11 = 2, I12 = 0.5, I21 = 0.5, I22 = 3)\n submodel (R) R1, R2\n \
         connect R1 at X:A, R2 at X:B",
        &[("X.A.momentum", "X.e1"), ("X.B.momentum", "X.e2")],
    ),
    (
        "Cn",
        "submodel (Cn) X(n = 2, C = [2, 0.5, 0.5, 3])\n submodel (R) R1, R2\n \
         connect R1 at X:p[1], R2 at X:p[2]",
        &[
            ("X.p[1].displacement", "X.f[1]"),
            ("X.p[2].displacement", "X.f[2]"),
        ],
    ),
    (
        "In",
        "submodel (In) X(n = 2, I = [2, 0.5, 0.5, 3])\n submodel (R) R1, R2\n \
         connect R1 at X:p[1], R2 at X:p[2]",
        &[("X.p[1].momentum", "X.e[1]"), ("X.p[2].momentum", "X.e[2]")],
    ),
    (
        "Capacitor",
        "submodel (Capacitor) X(C = 0.3)\n submodel (Resistor) R1\n submodel Ground\n \
         connect Ground - X - R1 - Ground",
        &[("X.displacement", "X.i")],
    ),
    (
        "Inductor",
        "submodel (Inductor) X(L = 0.3)\n submodel (Resistor) R1, R2\n submodel Ground\n \
         connect Ground - R2 - X - R1 - Ground",
        &[("X.momentum", "X.u")],
    ),
    (
        "CoupledCoils",
        "submodel (CoupledCoils) X(L1 = 2, L2 = 3, M = 0.5)\n submodel (Resistor) R1, R2, R3, R4\n submodel Ground\n \
         connect Ground - R1 - X:Primary - R2 - Ground, Ground - R3 - X:Secondary - R4 - Ground",
        &[("X.A1.momentum", "X.u1"), ("X.A2.momentum", "X.u2")],
    ),
];

/// Library types that differentiate, and have no closed form or no ports of their own to speak of.
const OTHERS: &[&str] = &["mC", "CSw", "CD"];

/// Compares what is asked for with what it should be the integral of, at several points.
fn check_storage(body: &str, types: &str, wanted: &[(&str, &str)]) {
    let text = format!("@bondgraph\n@electrical\n{types}\nmodel M\n {body}\nend\n");
    for aliases in [Aliases::Eliminate, Aliases::Keep] {
        let mut solved = try_solve(&text, &Options::default(), aliases).unwrap_or_else(|| {
            panic!(
                "{text}\n{}",
                text::all_diagnostics(&text::check_text(&text))
            )
        });
        for seed in 0..5 {
            let point = somewhere(&solved, seed).unwrap_or_else(|| panic!("{text}"));
            for &(name, of) in wanted {
                let column = ask(&mut solved, name).remove(0);
                let (_, slope) = rate(&solved.flat, &point, column.value);
                let negative = of.strip_prefix('-');
                let right = value_of(&mut solved, &point, negative.unwrap_or(of));
                let right = if negative.is_some() { -right } else { right };
                assert!(right.abs() > 1e-6, "{name}: nothing happens");
                assert_close(slope, right, right.abs(), &format!("{text}{name}"));
            }
        }
    }
}

#[test]
fn storages_of_the_library_hold_what_flows_in() {
    for (_, body, wanted) in STORAGES {
        check_storage(body, "", wanted);
    }
}

/// Each type that differentiates something is one of those above.
#[test]
fn no_storage_of_the_library_is_forgotten() {
    let mut found: Vec<&str> = Vec::new();
    for entry in bgm::syntax::library::entries() {
        let own = entry.source.contains("der(") || entry.source.contains("(CSw)");
        if own {
            found.push(entry.name);
        }
    }
    let mut known: Vec<&str> = (STORAGES.iter().map(|&(name, ..)| name))
        .chain(OTHERS.iter().copied())
        .collect();
    found.sort_unstable();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// Laws of the user's own: a shaft with two ends, a nonlinear spring, other signs, other ways to write it.
#[test]
fn storages_are_recognised_by_their_equations() {
    for (types, body, wanted) in [
        (
            // An across variable that is a velocity is a flow: the inertia holds momentum.
            "model type Shaft
               cut A(w 'rad/s' / ta 'N.m') B(w / -tb 'N.m')
               main path P <A - B>
               parameter J = 0.7
               local phi 'rad'
               der(phi) = w
               der(w) = (ta - tb)/J
             end
             model type Drag
               cut A(w 'rad/s' / t 'N.m')
               t = 2*w
             end
             model type Motor
               cut A(w 'rad/s' / -t 'N.m')
               terminal s
               t = s
             end",
            "submodel (Shaft) X\n submodel Drag, Motor\n input u\n Motor.s = u\n local net\n \
             net = X.ta - X.tb\n connect Motor at X:A, Drag at X:B",
            vec![("X.momentum", "net"), ("X.displacement", "X.w")],
        ),
        (
            "model type Stiff
               cut A(e/f)
               local q
               der(q) = f
               e = q + q**3
             end",
            "submodel (Stiff) X\n submodel (R) R1\n node n\n connect X at n, R1 at n",
            vec![("X.displacement", "X.f")],
        ),
        (
            // What flows into the part is -f.
            "model type Out
               cut A(e/-f)
               parameter C = 0.4
               f = -C*der(e)
             end",
            "submodel (Out) X\n submodel (R) R1\n node n\n connect X at n, R1 at n",
            vec![("X.displacement", "-X.f")],
        ),
        (
            "model type Plane
               cut A(vx 'm/s', vy 'm/s' / fx 'N', fy 'N')
               parameter m = 2.5
               m*der(vx) = fx
               m*der(vy) = fy
             end
             model type Drag2
               cut A(vx 'm/s', vy 'm/s' / fx 'N', fy 'N')
               fx = vx
               fy = 3*vy
             end",
            "submodel (Plane) X\n submodel Drag2\n connect X at Drag2",
            vec![("X.vx.momentum", "X.fx"), ("X.vy.momentum", "X.fy")],
        ),
    ] {
        check_storage(body, types, &wanted);
    }
    let mut shaft = solve(&example("geared_inertias"));
    let momentum = ask(&mut shaft, "*.momentum");
    assert_eq!(names(&momentum), ["Rotor.momentum", "Flywheel.momentum"]);
    assert_eq!(momentum[0].unit.as_deref(), Some("N.m.s"));
    let mut rlc = solve(&example("rlc_circuit"));
    let charge = ask(&mut rlc, "*.displacement");
    assert_eq!(names(&charge), ["C1.displacement"]);
    assert_eq!(charge[0].unit.as_deref(), Some("C"));
}

#[test]
fn where_there_is_no_closed_form_this_is_said() {
    let text = "@bondgraph
model type Slow
  cut A(e/f)
  parameter C = 0.4
  (C + Time)*der(e) = f
end
model type Heavy
  cut A(e/f)
  3*der(f) = e - 10
end
model M
  submodel (mC) T(ic e = 300)
  submodel (Slow) S
  submodel (Heavy) H
  submodel (C2) F
  submodel (R) R1, R2, R3, R4, R5
  connect T at R1, S at R2, H at R5, R3 at F:A, R4 at F:B
end";
    let mut solved = solve(text);
    for (pattern, wanted) in [
        ("T.displacement", "`T.C*der(T.e) = T.f`"),
        ("S.displacement", "no closed form"),
        ("H.momentum", "no closed form"),
        ("F.displacement", "`F.A.displacement`, `F.B.displacement`"),
    ] {
        let said = refused(&mut solved, pattern);
        assert!(said.contains(wanted), "{pattern}: {said}");
    }
    let all = ask(&mut solved, "*.displacement");
    assert_eq!(names(&all), ["F.A.displacement", "F.B.displacement"]);
}

// ---------------------------------------------------------------- ports

/// Positions, signs, elements and junctions as they were written.
#[test]
fn ports_of_the_flat_model() {
    let text = "model type Part
  cut A(x, y / f, .) B(. / -g) p[2](-e / h)
  f = x
  y = 1
  g = 2
  for i in 1 to 2 do
    h[i] = e[i]
  endfor
end
model M
  submodel (Part) X[2]
  node n
  connect X[1]:p[1] at n, X[2]:p[2] at n, X[1]:A at X[2]:A, X[1]:B at X[2]:B
end";
    let compiled = text::compile_text(text);
    let flat = compiled.flat.as_ref().unwrap_or_else(|| {
        panic!("{}", text::all_diagnostics(&compiled));
    });
    let mut seen = Vec::new();
    for port in flat.ports.of(InstanceId(2)) {
        let record = flat.ports.get(port);
        let mut line = format!("{}[{}]", flat.names.name(record.name), record.index);
        for pair in flat.ports.pairs(port) {
            for side in [pair.across, pair.through] {
                line.push_str(&match side {
                    None => " .".to_string(),
                    Some(one) => format!(
                        " {}{}",
                        if one.negative() { "-" } else { "" },
                        flat.name(one.variable())
                    ),
                });
            }
        }
        seen.push(line);
    }
    assert_eq!(
        seen,
        [
            "A[0] X[2].x X[2].f X[2].y .",
            "B[0] . -X[2].g",
            "p[1] -X[2].e[1] X[2].h[1]",
            "p[2] -X[2].e[2] X[2].h[2]",
        ]
    );
    let outside = |instance: u32, at: usize| {
        let port = flat.ports.of(InstanceId(instance)).nth(at);
        flat.ports.get(port.expect("it is there")).outside
    };
    assert!(outside(1, 0).is_some() && outside(1, 0) == outside(2, 0));
    assert!(outside(1, 2).is_some() && outside(1, 2) == outside(2, 3));
    assert_eq!((outside(1, 3), outside(2, 2)), (None, None));
}
