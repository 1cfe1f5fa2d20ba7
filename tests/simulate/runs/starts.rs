//! Start equations, `init(x) = v` where v uses variables: closed forms, and random models whose start is solved a second time
//! here, from the equations as they were written.

use crate::support::random::Random;
use crate::support::trial::{Trial, within};

/// The first row of a run.
fn start(text: &str, names: &[&str]) -> Vec<f64> {
    let result = Trial::of(text, 1.0).run(names);
    assert_eq!(result.failure, None, "{text}");
    result.rows[0].clone()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        within((found - expected).abs(), 1e-9 * expected.abs().max(1.0));
    }
}

/// x starts at twice the start of v, and goes on by itself.
#[test]
fn one_follows_another() {
    let text = "model M\n local x, v\n init(v) = 5\n der(v) = -1\n init(x) = 2*v\n der(x) = 1\nend";
    let result = Trial::of(text, 2.0).run(&["x", "v"]);
    within(result.off(0, |t| 10.0 + t), 1e-7);
    within(result.off(1, |t| 5.0 - t), 1e-7);
}

/// In any order, through algebraic loops and derivatives, with Time and parameters.
#[test]
fn any_order_and_loops() {
    let text = "model M
 parameter p = 3
 local a, b, c, y, z
 der(a) = c
 der(b) = -b
 der(c) = 2*a + Time
 init(a) = y + 1
 init(b) = der(c) + p
 y + z = c
 y - z = 0.5*a
 init(c) = 2*p + Time
end";
    // c = 6, y = c/2 + a/4 = 3 + a/4, a = 4 + a/4 = 16/3; b = 2*a + 3.
    let a = 16.0 / 3.0;
    let expected = [a, 2.0 * a + 3.0, 6.0, 3.0 + a / 4.0, 3.0 - a / 4.0];
    close(&start(text, &["a", "b", "c", "y", "z"]), &expected);
    let mut later = Trial::of(text, 4.0);
    later.request.start = Some(2.0);
    let result = later.run(&["c"]);
    close(&[result.rows[0][0]], &[8.0]);
}

/// A start equation is nonlinear, and goes through a nonlinear loop.
#[test]
fn nonlinear() {
    let text = "model M\n local x, y, v\n der(x) = -x\n der(v) = 0\n init(v) = 2\n y**3 + y = x + v\n init(x) = 4*y\nend";
    // y**3 + y = 4*y + 2: y = 2.
    let found = start(text, &["x", "y", "v"]);
    within((found[0] - 4.0 * found[1]).abs(), 1e-9);
    within((found[1].powi(3) - 3.0 * found[1] - 2.0).abs(), 1e-9);
}

/// Discrete variables, real and boolean: those that a `when` sets, and those with a next value.
#[test]
fn discrete_variables() {
    let text = "model M
 local x, n, on, warm, y
 der(x) = 1
 init(x) = 2*n
 init(n) = floor(y) + 1
 y = 3.5
 init(on) = y > 3
 new(on) = x < 100 and on
 init(warm) = x > 9
 when sample(0.5, 10) then
  new(n) = n + 1
  new(warm) = false
 endwhen
end";
    let result = Trial::of(text, 1.0).run(&["x", "n", "on", "warm"]);
    close(&result.rows[0], &[8.0, 4.0, 1.0, 0.0]);
    close(result.last(), &[9.0, 5.0, 1.0, 0.0]);
    let text = text.replace("y = 3.5", "y = 4.5");
    let result = Trial::of(&text, 1.0).run(&["x", "n", "on", "warm"]);
    close(&result.rows[0], &[10.0, 5.0, 1.0, 1.0]);
    close(result.last(), &[11.0, 6.0, 1.0, 0.0]);
}

/// What the event iteration at the start makes of discrete variables counts: y = 10 once d is true.
#[test]
fn after_the_first_event() {
    let text = "model M\n local x, v, y, d\n der(x) = 0\n der(v) = 0\n init(v) = 5\n new(d) = v > 2\n y = if d then 10 else v\n init(x) = y\nend";
    close(&start(text, &["x", "y"]), &[10.0, 10.0]);
}

/// The outermost counts: `ic` outside, an experiment, the command line; also where two variables are one.
#[test]
fn outermost_counts() {
    let text = "model type T
 local q, w, s
 q = w
 der(w) = -w
 init(q) = 2*s
 der(s) = 1
 init(s) = 3
end
model M
 submodel (T) a
 local x
 der(x) = 0
end";
    let with = |text: &str| Trial::of(text, 1.0);
    let first = |trial: Trial| trial.run(&["a.w", "a.s"]).rows[0].clone();
    close(&first(with(text)), &[6.0, 3.0]);
    close(&first(with(text).init("a.s=4")), &[8.0, 4.0]);
    close(&first(with(text).init("a.q=1")), &[1.0, 3.0]);
    close(&first(with(text).init("a.w=1")), &[1.0, 3.0]);
    close(
        &first(with(&text.replace(") a", ") a(ic w = 5)"))),
        &[5.0, 3.0],
    );
    close(
        &first(with(&text.replace(") a", ") a(ic q = 5)"))),
        &[5.0, 3.0],
    );
    let outer = text.replace("init(q) = 2*s", "init(q) = 7").replace(
        " der(x) = 0",
        " der(x) = 0\n init(a.w) = x - 1\n init(x) = 11",
    );
    close(&first(with(&outer)), &[10.0, 3.0]);
    let experiment = format!("{text}\nexperiment M\n init a.w = 9\n simutime 1\nend");
    close(
        &first(Trial {
            text: experiment,
            ..Trial::default()
        }),
        &[9.0, 3.0],
    );
}

/// A former state: what it depends on follows from it. Candidates of a selection: a pendulum at a place that a state gives.
#[test]
fn constraints() {
    let text = "model M\n local x, y, f, s\n der(x) = f\n der(y) = -f - y\n x = 2*y\n der(s) = -s\n init(s) = 3\n init(y) = 2*s\nend";
    close(&start(text, &["x", "y", "s"]), &[12.0, 6.0, 3.0]);
    let text = text.replace("init(y)", "init(x)");
    close(&start(&text, &["x", "y", "s"]), &[6.0, 3.0, 3.0]);
    let text = "model Pendulum
 parameter L = 2.0
 local x, y, vx, vy, F, s
 der(x) = vx
 der(y) = vy
 der(vx) = -F*x
 der(vy) = -F*y - 9.81
 x**2 + y**2 = L**2
 der(s) = 0
 init(s) = 0.6
 init(x) = L*s
 init(y) = -1
 init(vx) = 0.8*s
end";
    let found = Trial::of(&text.replace("init(y) = -1", "init(y) = -1.6"), 1.0)
        .run(&["x", "y", "vx", "vy"]);
    close(&found.rows[0], &[1.2, -1.6, 0.48, 0.36]);
    let refused = Trial::of(text, 1.0);
    assert_eq!(failing(&refused), "E0606");
}

/// The code of a model that is refused before it runs.
fn failing(trial: &Trial) -> &'static str {
    let mut said = bgm::base::diagnostics::Diagnostics::default();
    let options = bgm::compile::Options::default();
    let input = bgm::syntax::load::Input::Standard(trial.text.clone().into_bytes());
    let prepared = bgm::compile::prepare(&input, &options, &bgm::syntax::load::NoFiles);
    let (flat, experiment) = prepared.model.expect("it can be read");
    let wishes = bgm::simulate::job::RunOptions::default();
    let made = bgm::simulate::job::job(flat, &experiment, &wishes, &mut said);
    assert!(made.is_ok_and(|made| made.is_none()), "{said:?}");
    said.iter().next().expect("it says why").code.text()
}

/// Equations that go in a circle, or contradict each other.
#[test]
fn circles_and_contradictions() {
    let model = |lines: &str| {
        Trial::of(
            &format!(
                "model M\n local x, y, v\n der(x) = 1\n der(y) = 1\n der(v) = 0\n init(v) = 1\n{lines}\nend"
            ),
            1.0,
        )
    };
    assert_eq!(failing(&model(" init(x) = y\n init(y) = x")), "E0609");
    assert_eq!(failing(&model(" init(x) = y + 1\n init(y) = x")), "E0609");
    assert_eq!(failing(&model(" init(x) = x")), "E0609");
    let same = Trial::of(
        "model M\n local x, y, v\n der(x) = 1\n y = x\n der(v) = 0\n init(v) = 1\n init(x) = 2*v\n init(y) = 3*v\nend",
        1.0,
    );
    assert_eq!(failing(&same), "E0606");
    let same = Trial::of(
        "model M\n local x, y, v\n der(x) = 1\n y = x\n der(v) = 0\n init(v) = 1\n init(x) = 2*v\n init(y) = 3\nend",
        1.0,
    );
    assert_eq!(failing(&same), "E0606");
    // A circle that has one solution is none.
    close(
        &start(
            "model M\n local x, y\n der(x) = 1\n der(y) = 1\n init(x) = 0.5*y + 1\n init(y) = x\nend",
            &["x", "y"],
        ),
        &[2.0, 2.0],
    );
}

/// In a model with modes each mode that is tried at the start has its own values.
#[test]
fn modes() {
    let text = "model type TwoPin
 cut A(va/i) B(vb/-i)
 main path P <A - B>
 local u
 u = va - vb
end
model type (TwoPin) Volt
 u = 10 - Time
end
model type (TwoPin) Res
 u = 2*i
end
model type (TwoPin) Cap
 der(u) = i
end
model type (TwoPin) Dio
 local open
 0 = if open then i else u
 new(open) = if open then u <= 0 else i < 0
end
model type Gnd
 cut A(v/.)
 v = 0
end
model M
 submodel (Volt) U
 submodel (Res) R
 submodel (Dio) D
 submodel (Cap) C
 submodel (Gnd) G
 local s
 node a, b, c
 connect U from a to G, R from a to b, D from b to c, C from c to G
 init(C.u) = 3*s + R.i
 der(s) = 0
 init(s) = 2
end";
    // Closed: 10 - u = 2*i, u = 6 + i. Open: i = 0.
    let found = Trial::of(text, 0.1).run(&["C.u", "R.i"]);
    close(&found.rows[0], &[22.0 / 3.0, 4.0 / 3.0]);
    let found = Trial::of(&text.replace("init(s) = 2", "init(s) = 4"), 0.1).run(&["C.u", "R.i"]);
    close(&found.rows[0], &[12.0, 0.0]);
}

/// A random linear or weakly nonlinear model: states with start equations of states, unknowns and Time.
struct Case {
    text: String,
    names: Vec<String>,
    /// residual(values of all variables)
    rows: Vec<Row>,
}

/// sum of coefficient*variable + bend*sin(variable) = constant
struct Row {
    terms: Vec<(usize, f64)>,
    bend: Option<(usize, f64)>,
    constant: f64,
}

fn case(random: &mut Random) -> Case {
    let states = random.within(2, 6);
    let others = random.within(0, 4);
    let count = states + others;
    let names: Vec<String> = (0..count)
        .map(|at| match at < states {
            true => format!("x{at}"),
            false => format!("y{at}"),
        })
        .collect();
    let mut lines: Vec<String> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    for at in 0..count {
        // Diagonally dominant, so that there is one solution.
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for other in 0..count {
            if other != at && random.chance(45) {
                terms.push((other, random.number(-0.15, 0.15)));
            }
        }
        let bend = random
            .chance(30)
            .then(|| (random.below(count), random.number(-0.1, 0.1)));
        let constant = random.number(-5.0, 5.0);
        let mut right = format!("{constant}");
        for &(other, by) in &terms {
            right += &format!(" + ({by})*{}", names[other]);
        }
        if let Some((of, by)) = bend {
            right += &format!(" + ({by})*sin({})", names[of]);
        }
        let left = match at < states {
            true => format!("init({})", names[at]),
            false => names[at].clone(),
        };
        lines.push(format!("  {left} = {right}"));
        rows.push(Row {
            terms: std::iter::once((at, -1.0)).chain(terms).collect(),
            bend,
            constant,
        });
        if at < states {
            lines.push(format!(
                "  der({}) = 0.1*{}",
                names[at],
                names[(at + 1) % count]
            ));
        }
    }
    random.shuffle(&mut lines);
    let text = format!(
        "model M\n  local {}\n{}\nend",
        names.join(", "),
        lines.join("\n")
    );
    Case { text, names, rows }
}

/// Newton's method on the rows, by Gaussian elimination.
fn solution(rows: &[Row]) -> Vec<f64> {
    let count = rows.len();
    let mut values = vec![0.0; count];
    for _ in 0..50 {
        let mut matrix = vec![vec![0.0; count + 1]; count];
        for (line, row) in matrix.iter_mut().zip(rows) {
            let mut residual = row.constant;
            for &(at, by) in &row.terms {
                line[at] += by;
                residual += by * values[at];
            }
            if let Some((at, by)) = row.bend {
                line[at] += by * f64::cos(values[at]);
                residual += by * f64::sin(values[at]);
            }
            line[count] = residual;
        }
        for at in 0..count {
            let pivot = (at..count)
                .max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))
                .expect("there are rows");
            matrix.swap(at, pivot);
            for below in at + 1..count {
                let factor = matrix[below][at] / matrix[at][at];
                for column in at..=count {
                    let above = matrix[at][column];
                    matrix[below][column] -= factor * above;
                }
            }
        }
        for at in (0..count).rev() {
            let known: f64 = (at + 1..count)
                .map(|column| matrix[at][column] * matrix[column][count])
                .sum();
            let step = (matrix[at][count] - known) / matrix[at][at];
            matrix[at][count] = step;
        }
        for (value, line) in values.iter_mut().zip(&matrix) {
            *value -= line[count];
        }
    }
    values
}

#[test]
fn random_start_equations() {
    let cases = std::env::var("BGM_CASES").map_or(60, |cases| cases.parse().expect("a number"));
    for seed in 0..cases {
        let mut random = Random::new(seed);
        let case = case(&mut random);
        let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
        let found = start(&case.text, &names);
        let expected = solution(&case.rows);
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "seed {seed}: {} is {found} and not {expected}\n{}",
                names[at],
                case.text
            );
        }
    }
}
