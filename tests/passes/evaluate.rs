//! Single points of solved models, the models solved by hand.

use crate::support::text::{all_diagnostics, compile_text};
use bgm::evaluate::{Failure, Point, Reason, evaluate, settings, show};
use bgm::expr::{BinaryOp, ExprId, Node, Value};
use bgm::flat::{Eliminated, EqId, Flat, Leaf};
use bgm::passes::blocks::{
    Assignment, Block, Entry, Linear, Method, Nonlinear, Residual, Solved, WhenBlock,
};

/// A model in the making: its equations in the order written.
struct Build {
    flat: Flat,
    blocks: Vec<Block>,
}

impl Build {
    fn new(body: &str) -> Self {
        let compiled = compile_text(&format!("model M\n{body}\nend\n"));
        let said = all_diagnostics(&compiled);
        Build {
            flat: compiled.flat.unwrap_or_else(|| panic!("{said}")),
            blocks: Vec::new(),
        }
    }

    fn leaf(&self, name: &str) -> Leaf {
        let (inner, order) = match name.strip_prefix("der(") {
            Some(rest) => (rest.trim_end_matches(')'), 1),
            None => (name, 0),
        };
        let found = self
            .flat
            .variable_ids()
            .find(|&id| self.flat.name(id) == inner);
        let id = found.unwrap_or_else(|| panic!("no {name}"));
        match order {
            0 => Leaf::Var(id),
            _ => Leaf::Der(id, order),
        }
    }

    fn leaves(&self, names: &[&str]) -> Vec<Leaf> {
        names.iter().map(|name| self.leaf(name)).collect()
    }

    /// An equation that is an assignment as it is written.
    fn written(&self, equation: u32) -> Assignment {
        let found = &self.flat.equations[equation as usize];
        let Node::Leaf(target) = self.flat.exprs.node(found.left) else {
            panic!("not an assignment: {}", self.flat.expression(found.left));
        };
        Assignment {
            target,
            value: found.right,
            equation: Some(EqId(equation)),
            guard: None,
        }
    }

    fn residual(&mut self, equation: u32) -> Residual {
        let found = self.flat.equations[equation as usize];
        Residual {
            equation: EqId(equation),
            value: self
                .flat
                .exprs
                .binary(BinaryOp::Sub, found.left, found.right),
        }
    }

    /// All equations as written, one after the other.
    fn all_written(mut self) -> Solved {
        let all =
            (0..self.flat.equations.len() as u32).map(|at| Block::Assignment(self.written(at)));
        self.blocks = all.collect();
        self.done()
    }

    /// All equations as one loop: those named are inner assignments, the others residuals.
    fn one_loop(mut self, iteration: &[&str], inner: &[u32]) -> Solved {
        let count = self.flat.equations.len() as u32;
        let inner: Vec<Assignment> = inner.iter().map(|&at| self.written(at)).collect();
        let used = |id: u32| inner.iter().any(|inner| inner.equation == Some(EqId(id)));
        let others: Vec<u32> = (0..count).filter(|&id| !used(id)).collect();
        let iteration = self.leaves(iteration);
        let targets = inner.iter().map(|inner| inner.target);
        let block = Block::Nonlinear(Nonlinear {
            unknowns: iteration.iter().copied().chain(targets).collect(),
            equations: (0..count).map(EqId).collect(),
            residuals: others.into_iter().map(|at| self.residual(at)).collect(),
            iteration,
            inner,
            by_field: false,
        });
        self.blocks.push(block);
        self.done()
    }

    fn done(self) -> Solved {
        Solved {
            flat: self.flat,
            blocks: self.blocks,
            zeros: Vec::new(),
            divisors: Vec::new(),
            start: None,
        }
    }
}

fn value(solved: &Solved, point: &Point, name: &str) -> Value {
    let found = solved
        .flat
        .variable_ids()
        .find(|&id| solved.flat.name(id) == name);
    let id = found.unwrap_or_else(|| panic!("no {name}"));
    point
        .get(Leaf::Var(id))
        .unwrap_or_else(|| panic!("{name} has no value"))
}

fn real(solved: &Solved, point: &Point, name: &str) -> f64 {
    value(solved, point, name).real().expect("a real")
}

fn at_point(solved: &Solved, text: &str) -> Result<Point, Failure> {
    let settings = settings::read(solved, text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let mut point = settings::point(solved, &settings);
    evaluate(solved, &mut point)?;
    Ok(point)
}

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 4e-16 * expected.abs().max(1e-300),
        "{found} is not {expected}"
    );
}

#[test]
fn assignments_in_order() {
    let model = "parameter a = 3, b = 2*a\nconstant c = 10\nlocal x, y, z, on, k\n\
                 x = a*b + Time\n on = x > 18.25\n y = if on then x - c else 1/0\n\
                 z = table(y, [0, 10, 20], [0, 5, -5])\n k = mod(z, 3) + atan2(1, 1)";
    let solved = Build::new(model).all_written();
    let point = at_point(&solved, "Time=0.5").expect("values");
    assert_eq!(value(&solved, &point, "on"), Value::Bool(true));
    assert_eq!(real(&solved, &point, "x"), 18.5);
    assert_eq!(real(&solved, &point, "y"), 8.5);
    assert_eq!(real(&solved, &point, "z"), 4.25);
    near(
        real(&solved, &point, "k"),
        1.25 + std::f64::consts::FRAC_PI_4,
    );
}

/// b = 2*a, c = a + b, and the start value of x: all follow a; what is set itself does not.
#[test]
fn parameters_follow_those_that_are_set() {
    let model = "parameter a = 3, d = c + 1, c = a + b, b = 2*a\nlocal x, y\nder(x) = y\ny = c + d\n\
                 init(x) = 10*a";
    let mut build = Build::new(model);
    build.blocks.push(Block::Assignment(build.written(1)));
    let solved = build.done();
    let values =
        |point: &Point| ["a", "b", "c", "d", "x", "y"].map(|name| real(&solved, point, name));
    assert_eq!(
        values(&at_point(&solved, "").expect("values")),
        [3.0, 6.0, 9.0, 10.0, 30.0, 19.0]
    );
    assert_eq!(
        values(&at_point(&solved, "a=1").expect("values")),
        [1.0, 2.0, 3.0, 4.0, 10.0, 7.0]
    );
    assert_eq!(
        values(&at_point(&solved, "a=1, c=7,x=2").expect("values")),
        [1.0, 2.0, 7.0, 8.0, 2.0, 15.0]
    );
    let failure = at_point(&solved, "a=1e308").expect_err("2e308 is too large");
    assert_eq!(failure.reason, Reason::NotFinite);
    assert_eq!(failure.message, "`b` is infinite at Time = 0");
}

#[test]
fn what_has_no_value_is_named() {
    let model = "input u\nlocal x, y\nx = sqrt(u - 4) + 1\ny = 1/(u - 5)";
    let solved = Build::new(model).all_written();
    assert!(at_point(&solved, "u=8").is_ok());
    let failure = at_point(&solved, "u=3,Time=2").expect_err("negative root");
    insta::assert_snapshot!(failure, @r"
    `x` is not a number at Time = 2
      x = sqrt(u - 4) + 1
      `sqrt(u - 4)` is not a number
      where u = 3
    ");
    let failure = at_point(&solved, "u=5").expect_err("infinite");
    insta::assert_snapshot!(failure, @r"
    `y` is infinite at Time = 0
      y = 1/(u - 5)
      where u = 5
    ");
    // What compares unequal to everything must not pass for false.
    let solved = Build::new("input u\nlocal x\nx = if sqrt(u) > 1 then 1 else 0").all_written();
    assert!(at_point(&solved, "u=-1").is_err());
    let solved = Build::new("input u\nlocal x\nx = max(ln(u), 0)").all_written();
    assert!(at_point(&solved, "u=-1").is_err());
    assert!(at_point(&solved, "u=0").is_ok());
}

#[test]
fn divisors_that_vanish_are_named() {
    let mut build = Build::new("input u\nparameter R = 2, S = -2\nlocal i\ni*(R + S) = u");
    let Node::Binary(_, _, divisor) = build.flat.exprs.node(build.flat.equations[0].left) else {
        panic!("a product");
    };
    let right = build.flat.equations[0].right;
    let value = build.flat.exprs.binary(BinaryOp::Div, right, divisor);
    build.blocks.push(Block::Assignment(Assignment {
        target: build.leaf("i"),
        value,
        equation: Some(EqId(0)),
        guard: Some(divisor),
    }));
    let solved = build.done();
    let failure = at_point(&solved, "u=1,Time=0.25").expect_err("2 - 2 is zero");
    assert_eq!(failure.reason, Reason::Divisor);
    insta::assert_snapshot!(failure, @r"
    `i` cannot be computed at Time = 0.25: the divisor `R + S` is zero
      where R = 2, S = -2
      from `i*(R + S) = u`
    ");
    let point = at_point(&solved, "u=1,S=2").expect("values");
    assert_eq!(real(&solved, &point, "i"), 0.25);
}

/// A ladder of n resistors R from u to ground, node by node: v[k] falls linearly.
fn ladder(count: u32, floating: bool) -> Solved {
    let mut build = Build::new(&format!(
        "parameter n = {count}, G = 0.5\ninput u\nlocal v[n]\nfor k in 1 to n do\nv[k] = u\nendfor"
    ));
    let unknowns: Vec<Leaf> = (1..=count)
        .map(|at| build.leaf(&format!("v[{at}]")))
        .collect();
    let (g, u) = (build.leaf("G"), build.leaf("u"));
    let exprs = &mut build.flat.exprs;
    let (g, u, zero) = (exprs.leaf(g), exprs.leaf(u), exprs.number(0.0));
    let minus = exprs.unary(bgm::expr::UnaryOp::Minus, g);
    let twice = exprs.binary(BinaryOp::Add, g, g);
    let known = exprs.binary(BinaryOp::Mul, g, u);
    let mut matrix = Vec::new();
    let mut right = vec![zero; count as usize];
    for row in 0..count {
        let end = row == 0 || row + 1 == count;
        let mut entry = |column: u32, value: ExprId| matrix.push(Entry { row, column, value });
        if row > 0 {
            entry(row - 1, minus);
        }
        entry(row, if floating && end { g } else { twice });
        if row + 1 < count {
            entry(row + 1, minus);
        }
    }
    if !floating {
        right[0] = known;
    }
    build.blocks.push(Block::Linear(Linear {
        unknowns,
        equations: (0..count).map(EqId).collect(),
        method: Method::System { matrix, right },
    }));
    build.done()
}

#[test]
fn linear_loops_dense_and_sparse() {
    for count in [2, 50, 1000] {
        let solved = ladder(count, false);
        let point = at_point(&solved, "u=10").expect("values");
        for at in [1, count / 2, count] {
            let expected = 10.0 * f64::from(count + 1 - at) / f64::from(count + 1);
            let found = real(&solved, &point, &format!("v[{at}]"));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        let failure = at_point(&ladder(count, true), "u=10").expect_err("floating");
        assert_eq!(failure.reason, Reason::Singular);
        assert_eq!(failure.unknowns.len(), count as usize);
    }
    let failure = at_point(&ladder(3, true), "u=10").expect_err("floating");
    insta::assert_snapshot!(failure, @r"
    the linear loop of `v[1]`, `v[2]`, `v[3]` has no unique solution at Time = 0
      `v[3]` is not determined
      `v[2] = u` adds nothing to the others, or contradicts them
      the smallest pivot is 0, of a regular matrix about 1
    ");
}

#[test]
fn linear_loops_by_formulas() {
    let mut build = Build::new("input u\nlocal x, y, q\nq = u + 1\nx = q/2\ny = q - x");
    let formulas = (0..3).map(|at| build.written(at)).collect();
    build.blocks.push(Block::Linear(Linear {
        unknowns: build.leaves(&["x", "y"]),
        equations: vec![EqId(1), EqId(2)],
        method: Method::Formulas(formulas),
    }));
    let solved = build.done();
    let point = at_point(&solved, "u=5").expect("values");
    assert_eq!(real(&solved, &point, "y"), 3.0);
}

/// 5 V over 1 kOhm and a diode, from zero: each variable as the one that is guessed.
#[test]
fn a_diode_from_zero() {
    let model = "parameter Is = 1e-14, Vt = 0.02585, R = 1000\ninput u\nlocal v, i\n\
                 i = Is*(exp(v/Vt) - 1)\nu = R*i + v";
    let solved = Build::new(model).one_loop(&["v"], &[0]);
    let check = |solved: &Solved, u: f64| {
        let point = at_point(solved, &format!("u={u}")).unwrap_or_else(|bad| panic!("{bad}"));
        let (v, i) = (real(solved, &point, "v"), real(solved, &point, "i"));
        let off = (u - 1000.0 * i - v).abs();
        assert!(
            off <= 1e-12 * u.abs(),
            "u {u}: v {v}, i {i}, off by {off:e}"
        );
        let off = (v / 0.02585 - (i / 1e-14).ln_1p()).abs();
        assert!(i <= 0.0 || off < 1e-9, "u {u}: off by {off:e}");
    };
    for u in [5.0, 0.1, 1e-6, 0.7, 1000.0, -5.0, 0.0] {
        check(&solved, u);
    }
    // From a guess far beyond.
    let settings = settings::read(&solved, "u=5,v=5").expect("v is iterated on");
    let mut point = settings::point(&solved, &settings);
    evaluate(&solved, &mut point).expect("found");
    // Both guessed at once, nothing torn.
    let solved = Build::new(model).one_loop(&["v", "i"], &[]);
    for u in [5.0, 0.1, 1000.0] {
        check(&solved, u);
    }
    // The voltage from the current, by its logarithm.
    let model = "parameter Is = 1e-14, Vt = 0.02585, R = 1000\ninput u\nlocal v, i\n\
                 v = Vt*ln(i/Is + 1)\nu = R*i + v";
    let solved = Build::new(model).one_loop(&["i"], &[0]);
    for u in [5.0, 0.1, 1000.0] {
        check(&solved, u);
    }
}

/// Two diodes in series, a third across both, through two resistors.
#[test]
fn several_diodes() {
    let model = "input u\nlocal a, b, i1, i2, i3\n\
                 i1 = 1e-12*(exp((a - b)/0.026) - 1)\ni2 = 1e-15*(exp(b/0.026) - 1)\n\
                 i3 = 1e-18*(exp(a/0.026) - 1)\ni1 = i2\n(u - a)/470 = i1 + i3";
    let solved = Build::new(model).one_loop(&["a", "b"], &[0, 1, 2]);
    let point = at_point(&solved, "u=12").expect("found");
    let of = |name: &str| real(&solved, &point, name);
    assert!((of("i1") - of("i2")).abs() < 1e-12);
    assert!(((12.0 - of("a")) / 470.0 - of("i1") - of("i3")).abs() < 1e-14);
    assert!(of("a") > 0.9 && of("a") < 1.5, "{}", of("a"));
}

/// A hydraulic bridge: five pipes dp = k*q*abs(q), a pump of fixed pressure. From zero, where all
/// slopes vanish.
#[test]
fn a_hydraulic_network() {
    let model = "input p\nlocal pa, pb, q1, q2, q3, q4, q5\n\
                 p - pa = 1*q1*abs(q1)\np - pb = 4*q2*abs(q2)\npa - pb = 2*q3*abs(q3)\n\
                 pa = 3*q4*abs(q4)\npb = 0.5*q5*abs(q5)\nq1 = q3 + q4\nq5 = q2 + q3";
    let mut build = Build::new(model);
    let inner = [5, 6, 3, 4].map(|at| build.written(at)).to_vec();
    let iteration = build.leaves(&["q2", "q3", "q4"]);
    let block = Block::Nonlinear(Nonlinear {
        unknowns: build.leaves(&["pa", "pb", "q1", "q2", "q3", "q4", "q5"]),
        equations: (0..7).map(EqId).collect(),
        residuals: (0..3).map(|at| build.residual(at)).collect(),
        iteration,
        inner,
        by_field: false,
    });
    build.blocks.push(block);
    let solved = build.done();
    for p in [1.0, 1e5, 1e-4, -3.0] {
        let point = at_point(&solved, &format!("p={p}")).unwrap_or_else(|bad| panic!("{bad}"));
        let of = |name: &str| real(&solved, &point, name);
        for (drop, k, q) in [
            (p - of("pa"), 1.0, of("q1")),
            (p - of("pb"), 4.0, of("q2")),
            (of("pa") - of("pb"), 2.0, of("q3")),
        ] {
            assert!(
                (drop - k * q * q.abs()).abs() <= 1e-13 * p.abs(),
                "{drop} {q}"
            );
        }
        assert!(of("q1") * p > 0.0 && of("q3") * p > 0.0);
    }
}

/// sqrt has no value left of 0 and no slope at 0; a table is flat at its ends.
#[test]
fn roots_and_tables() {
    let solved = Build::new("input u\nlocal x\nsqrt(x) + x/10 = u").one_loop(&["x"], &[]);
    for u in [1.0, 0.0, 100.0, 1e-5] {
        let point = at_point(&solved, &format!("u={u}")).unwrap_or_else(|bad| panic!("{bad}"));
        let x = real(&solved, &point, "x");
        assert!((x.sqrt() + x / 10.0 - u).abs() <= 1e-15 * u, "u {u}: x {x}");
    }
    let solved =
        Build::new("input u\nlocal x\ntable(x, [10, 20, 30], [0, 1, 5]) = u").one_loop(&["x"], &[]);
    for (u, expected) in [(0.5, 15.0), (3.0, 25.0), (4.999, 29.9975)] {
        let point = at_point(&solved, &format!("u={u}")).unwrap_or_else(|bad| panic!("{bad}"));
        near(real(&solved, &point, "x"), expected);
    }
}

/// The solution is zero: there a step is never small beside the value. And a double one.
#[test]
fn solutions_at_zero_and_double_ones() {
    let solved = Build::new("input u\nlocal x\nsinh(x) = u").one_loop(&["x"], &[]);
    let settings = settings::read(&solved, "x=3").expect("a guess");
    let mut point = settings::point(&solved, &settings);
    evaluate(&solved, &mut point).expect("found");
    assert!(real(&solved, &point, "x").abs() < 1e-300);
    // 0.1 + 0.2 - 0.3 is not zero in floating point: rounding is no reason to fail.
    let solved = Build::new("input u\nlocal x\nexp(x) - 1 + 0.1 + 0.2 - 0.3 = x**3 + u")
        .one_loop(&["x"], &[]);
    let point = at_point(&solved, "").expect("found");
    assert!(real(&solved, &point, "x").abs() < 1e-15);
    let solved = Build::new("local x\n(x - 2)**2 = 0").one_loop(&["x"], &[]);
    let point = at_point(&solved, "").expect("found");
    assert!((real(&solved, &point, "x") - 2.0).abs() < 1e-7);
}

/// A resistance that may be negative (R = -0.293 in all), a diode and a source, as a bond graph with heat
/// gives it; the slopes are far apart: exp(295) is 1e128. A step that is lost beside them is no
/// reason to take the guess for the solution.
fn negative_resistance() -> Solved {
    let model = "input a, c\nlocal x, p, q, e, f, i, k, g, h\n\
                 p = 1.41747338430884*x\nq = -1.7103896742972982*x\ne = -p - q + c\n\
                 f = (0.5*(exp(e) - 1) + e)/2.09\ni = x - f\nk = i\ng = 1.76*k\nh = 1.23*i\n\
                 a + h + g = e";
    Build::new(model).one_loop(&["x"], &[0, 1, 2, 3, 4, 5, 6, 7])
}

#[test]
fn a_lost_step_is_no_solution() {
    let solved = negative_resistance();
    // The curve stays below the axis by more than 15, whatever x is.
    for guess in ["", ",x=1000", ",x=2300", ",x=-1000"] {
        let text = format!("a=-5,c=2.127{guess}");
        let failure = at_point(&solved, &text).expect_err("there is no solution");
        assert_eq!(failure.reason, Reason::NotFound, "{text}");
    }
    // Here are two.
    for guess in ["", ",x=1000", ",x=2300", ",x=-1000"] {
        let text = format!("a=20,c=2.127{guess}");
        let point = at_point(&solved, &text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
        let of = |name: &str| real(&solved, &point, name);
        let off = 20.0 + of("h") + of("g") - of("e");
        assert!(off.abs() < 1e-13, "{text}: x {}, off {off:e}", of("x"));
    }
}

/// No current through the resistor between a and b: u is zero but for rounding, and so is all of its
/// change. This must not keep x from its solution.
#[test]
fn an_unknown_that_is_zero_but_for_rounding() {
    let model = "input s, z\nlocal u, x, i, va, n, j, w, vb\n\
                 va = 1.3*x + (if x > 0 then 0.9*x else 1.8*x) + 0.37\n\
                 n = (0.5*(exp(-va) - 1) - va)/0.7\nj = n + s - x - i - 0.61\nw = 1.83*j\n\
                 vb = va - w\nu = va - vb\ni = z\ni + j = 0";
    let mut seen = 0;
    for at in 0..200 {
        let s = -3.0 + 0.0317 * f64::from(at);
        let solved = Build::new(model).one_loop(&["u", "x", "i"], &[0, 1, 2, 3, 4]);
        for guess in ["", ",x=-2,u=3e-17", ",x=4,i=-1e-40"] {
            let text = format!("s={s}{guess}");
            let point = at_point(&solved, &text).unwrap_or_else(|bad| panic!("{text}: {bad}"));
            let of = |name: &str| real(&solved, &point, name);
            assert!(of("u").abs() < 1e-13 && of("i").abs() < 1e-15, "{text}");
            assert!(of("j").abs() < 1e-13, "{text}: {:e}", of("j"));
            seen += 1;
        }
    }
    assert_eq!(seen, 600);
}

/// Each step goes half of the way, or two thirds: the end is found even so.
#[test]
fn multiple_solutions_at_zero() {
    for (left, guess) in [("x*abs(x)", 1.0), ("x**3", -7.0), ("(x - 3)**4", 1e3)] {
        let solved = Build::new(&format!("local x\n{left} = 0")).one_loop(&["x"], &[]);
        let settings = settings::read(&solved, &format!("x={guess}")).expect("a guess");
        let mut point = settings::point(&solved, &settings);
        evaluate(&solved, &mut point).unwrap_or_else(|bad| panic!("{left}: {bad}"));
        let x = real(&solved, &point, "x");
        let expected = if left.contains('3') && left.contains('-') {
            3.0
        } else {
            0.0
        };
        assert!((x - expected).abs() < 1e-12, "{left}: {x:e}");
    }
}

/// Between -1 and 1 a table is rounded like 1, however near to 0 its value is.
#[test]
fn tables_near_zero_are_rounded() {
    let model = "input u\nlocal x\n0.5*x + table(x, [-2, -1, 1, 3], [-3, -1, 1, 2]) = 1.9*u";
    let solved = Build::new(model).one_loop(&["x"], &[]);
    for at in 1..300 {
        let u = 1e-6 * f64::from(at) * f64::from(at);
        let point = at_point(&solved, &format!("u={u}")).unwrap_or_else(|bad| panic!("{bad}"));
        let x = real(&solved, &point, "x");
        assert!((1.5 * x - 1.9 * u).abs() < 1e-15, "u {u}: x {x}");
    }
}

#[test]
fn a_start_value_chooses_the_solution() {
    let solved = Build::new("local x\nx**2 = 2\ninit(x) = -1").one_loop_but_init(&["x"]);
    let point = at_point(&solved, "").expect("found");
    near(real(&solved, &point, "x"), -std::f64::consts::SQRT_2);
    let point = at_point(&solved, "x=5").expect("found");
    near(real(&solved, &point, "x"), std::f64::consts::SQRT_2);
}

/// y is zero and stays so in the first step, by slopes that are zero there, and then moves.
#[test]
fn a_variable_that_moves_later() {
    let solved = Build::new("local x, y\nx**2 = 4\ny = 1000*(x + 1)**2").one_loop(&["x", "y"], &[]);
    let point = at_point(&solved, "x=-1,y=0").expect("found");
    assert_eq!(real(&solved, &point, "x"), -2.0);
    assert_eq!(real(&solved, &point, "y"), 1000.0);
}

impl Build {
    fn one_loop_but_init(mut self, iteration: &[&str]) -> Solved {
        self.flat.equations.truncate(1);
        self.one_loop(iteration, &[])
    }
}

#[test]
fn what_has_no_solution_is_told() {
    let solved = Build::new("input u\nlocal x, y\ny = exp(x)\ny + u = 0").one_loop(&["x"], &[0]);
    let failure = at_point(&solved, "u=1").expect_err("exp is positive");
    assert_eq!(failure.reason, Reason::NotFound);
    let text = failure.to_string();
    assert!(
        text.starts_with("no solution of the nonlinear loop of `x`, `y` was found at Time = 0")
    );
    assert!(text.contains("`y + u = 0` is off by 1"), "{text}");
    let at: Vec<EqId> = (failure.equations.iter()).map(|one| one.equation).collect();
    assert_eq!(at, vec![EqId(1)]);
    let solved =
        Build::new("input u\nlocal x, y\ny = sqrt(-1 - x**2)\ny + u = x").one_loop(&["x"], &[0]);
    let failure = at_point(&solved, "u=1").expect_err("no value anywhere");
    let text = failure.to_string();
    assert!(
        text.contains("at the guesses tried, y = sqrt(-1 - x**2) is not a finite number"),
        "{text}"
    );
}

/// A chain of 600 nonlinear equations, each with its own iteration variable: the sparse way.
#[test]
fn large_nonlinear_loops() {
    let model = "parameter n = 600\ninput u\nlocal x[n]\nx[1] + exp(x[1]) + x[2] = u\n\
                 for k in 2 to n - 1 do\nx[k] + x[k]**3 + x[k-1]/3 + x[k+1]/3 = 1\nendfor\n\
                 x[n] + x[n-1]/2 = 1";
    let names: Vec<String> = (1..=600).map(|at| format!("x[{at}]")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let solved = Build::new(model).one_loop(&names, &[]);
    let point = at_point(&solved, "u=5").unwrap_or_else(|bad| panic!("{bad}"));
    let x: Vec<f64> = names
        .iter()
        .map(|name| real(&solved, &point, name))
        .collect();
    assert!((x[0] + x[0].exp() + x[1] - 5.0).abs() < 1e-14);
    for k in 1..599 {
        let off = x[k] + x[k].powi(3) + x[k - 1] / 3.0 + x[k + 1] / 3.0 - 1.0;
        assert!(off.abs() < 1e-15, "{off:e}");
    }
}

/// Nothing is triggered at a point, and what was eliminated has a value too.
#[test]
fn discrete_variables_keep_their_values() {
    let model = "input u\nlocal x, y, z, count, on\nder(x) = -x\ny = 2*count\nnew(on) = u > 1\n\
                 init(count) = 3\nwhen x > 1 then\nnew(count) = count + 1\nendwhen";
    let mut build = Build::new(model);
    build.blocks = (0..3)
        .map(|at| Block::Assignment(build.written(at)))
        .collect();
    let count = build.leaf("count");
    build.blocks.push(Block::When(WhenBlock {
        target: Leaf::New(count.variable()),
        when: bgm::flat::WhenId(0),
        equations: vec![EqId(4)],
    }));
    let y = build.leaf("y");
    let y = build.flat.exprs.leaf(y);
    let expression = build.flat.exprs.unary(bgm::expr::UnaryOp::Minus, y);
    let leaf = build.leaf("z");
    build.flat.eliminated.push(Eliminated { leaf, expression });
    let solved = build.done();
    let point = at_point(&solved, "x=5,u=2").expect("values");
    assert_eq!(real(&solved, &point, "y"), 6.0);
    assert_eq!(real(&solved, &point, "z"), -6.0);
    assert_eq!(value(&solved, &point, "on"), Value::Bool(false));
    let mut text = String::new();
    show::write_text(&solved, &point, None, &mut text);
    insta::assert_snapshot!(text, @r"
    VALUES OF M AT Time = 0

    STATES
    x = 5

    DERIVATIVES
    der(x) = -5

    VARIABLES
    u       = 2
    y       = 6
    z       = -6
    count   = 3
    on      = false
    new(on) = true
    ");
    let mut json = Vec::new();
    show::write_json(&solved, &point, None::<&()>, &mut json).expect("memory can be written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("json");
    assert_eq!(json["model"], "M");
    let of = |name: &str| {
        let all = json["values"].as_array().expect("a list");
        all.iter()
            .find(|entry| entry["name"] == name)
            .expect("an entry")
            .clone()
    };
    assert_eq!(of("x")["kind"], "state");
    assert_eq!(of("der(x)")["kind"], "derivative");
    assert_eq!(of("der(x)")["value"], -5.0);
    assert_eq!(of("new(on)")["value"], true);
}

#[test]
fn settings_are_read_and_mistakes_told() {
    let model = "parameter R = 2, closed = false\nconstant pi = 3.14\ninput u\nlocal x, y, v, w, i, a\n\
                 der(der(x)) = -x\ny = 2*x\ni = exp(v)\ni + v = u\nw = if closed then 1 else R";
    let mut build = Build::new(model);
    build.blocks = [0, 1, 4]
        .map(|at| build.written(at))
        .map(Block::Assignment)
        .to_vec();
    let block = Block::Nonlinear(Nonlinear {
        unknowns: build.leaves(&["v", "i"]),
        equations: vec![EqId(2), EqId(3)],
        iteration: build.leaves(&["v"]),
        inner: vec![build.written(2)],
        residuals: vec![build.residual(3)],
        by_field: false,
    });
    build.blocks.push(block);
    let (x, leaf) = (build.leaf("x"), build.leaf("a"));
    let x = build.flat.exprs.leaf(x);
    let expression = build.flat.exprs.unary(bgm::expr::UnaryOp::Minus, x);
    build.flat.eliminated.push(Eliminated { leaf, expression });
    let solved = build.done();
    let point = at_point(
        &solved,
        " R = 5, closed=false, der(x)=2 , x=-1e-1, u=1, v=0.5, Time=3,",
    )
    .expect("values");
    assert_eq!(point.time, 3.0);
    assert_eq!(real(&solved, &point, "w"), 5.0);
    assert_eq!(real(&solved, &point, "y"), -0.2);
    // What was eliminated stands for what replaced it.
    let point = at_point(&solved, "a=4").expect("values");
    assert_eq!(real(&solved, &point, "x"), -4.0);
    let mut told = String::new();
    for text in [
        "X=1",
        "time=1",
        "R",
        "R=abc",
        "R=nan",
        "closed=1",
        "R=true",
        "y=1",
        "i=1",
        "pi=3",
        "der(y)=1",
        "der(der(x))=1",
        "der(der(der(x)))=1",
        "der(x=1",
        "x=1,x=2",
        "Time=true",
    ] {
        let mistakes = settings::read(&solved, text).expect_err(text);
        for mistake in mistakes {
            told.push_str(&format!("{text}: {mistake}\n"));
        }
    }
    insta::assert_snapshot!(told, @r"
    X=1: there is no variable `X`
      did you mean `x`?
    time=1: there is no variable `time`
      did you mean `Time`?
    R: `R` has no value
      write `name=value`, several with commas between
    R=abc: `abc` is not a number, as `R` is
    R=nan: `nan` is not a number, as `R` is
    closed=1: `closed` is boolean, `1` is not
      write `closed=true` or `closed=false`
    R=true: `true` is not a number, as `R` is
    y=1: `y` is computed, so it cannot be given
      states, inputs, parameters, discrete variables and Time can be given: `u`, `x`, `der(x)`, `R`, `closed`
    i=1: `i` is computed, so it cannot be given
      in its nonlinear loop, guesses can be given for `v`
    pi=3: `pi` is a constant
      states, inputs, parameters, discrete variables and Time can be given: `u`, `x`, `der(x)`, `R`, `closed`
    der(y)=1: the model has no `der(y)`
      states, inputs, parameters, discrete variables and Time can be given: `u`, `x`, `der(x)`, `R`, `closed`
    der(der(x))=1: `der(der(x))` is computed, so it cannot be given
      states, inputs, parameters, discrete variables and Time can be given: `u`, `x`, `der(x)`, `R`, `closed`
    der(der(der(x)))=1: the model has no `der(der(der(x)))`
      states, inputs, parameters, discrete variables and Time can be given: `u`, `x`, `der(x)`, `R`, `closed`
    der(x=1: `der(x` has no closing bracket
    x=1,x=2: `x` is given twice
    Time=true: `true` is not a number, as Time is
    ");
}
