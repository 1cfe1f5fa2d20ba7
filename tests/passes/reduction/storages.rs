//! Storages that are tied by constant coefficients: a static choice of states, and closed forms.

use bgm::evaluate::Point;
use bgm::evaluate::evaluate;
use bgm::expr::{BinaryOp, ExprId, Node, UnaryOp};
use bgm::flat::{Kind, Leaf};
use bgm::passes::blocks::Solved;
use nalgebra::{Complex, DMatrix};

use super::truth::{Truth, agrees, both, flat, leaf, order, point};
use crate::support::frequency::characteristic;
use crate::support::random::Random;

/// McCalla 1991, equation (18): m_eq = m1 + (b/a)**2*m2.
#[test]
fn lever_arm() {
    let models = both("examples/lever_arm.bgm", "LeverArm");
    let mut random = Random::new(1);
    for _ in 0..20 {
        let [m1, m2, a, b] = [(); 4].map(|()| random.real(0.2, 5.0));
        let [u, v1] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let g = b / a;
        let m_eq = m1 + g * g * m2;
        let truth = Truth::of(&[
            ("m1", m1),
            ("m2", m2),
            ("a", a),
            ("b", b),
            ("u", u),
            ("y", v1),
            ("I1.f", v1),
            ("I2.f", g * v1),
            ("der(I1.f)", u / m_eq),
            ("der(I2.f)", g * u / m_eq),
            ("I1.e", m1 * u / m_eq),
            ("I2.e", m2 * g * u / m_eq),
        ]);
        agrees(&models, &truth);
        // The divisor itself, in the listing. Had I2.f been kept, it would be m2 + (a/b)**2*m1.
        for model in &models {
            assert_eq!(order(model), 1);
        }
        for model in &models[..1] {
            let state = model.flat.states().next().expect("one state");
            let name = model.flat.leaf_name(state);
            let divisor = match name.as_str() {
                "I1.f" | "y" => m_eq,
                "I2.f" => m_eq / (g * g),
                other => panic!("{other} is a state"),
            };
            let mut point = point(model, &truth);
            evaluate(model, &mut point).expect("regular");
            let found = divisor_of_derivative(model, &point, state);
            assert!(
                (found - divisor).abs() < 1e-12 * divisor,
                "{found} {divisor}"
            );
        }
    }
}

/// The divisor in the formula of the state's derivative: `a/b`, maybe with a sign.
fn divisor_of_derivative(model: &Solved, point: &Point, state: Leaf) -> f64 {
    let target = Leaf::Der(state.variable(), 1);
    let assignment = model.assignments().find(|found| found.target == target);
    let mut at = assignment.expect("its derivative is assigned").value;
    loop {
        match model.flat.exprs.node(at) {
            Node::Unary(UnaryOp::Minus, inner) => at = inner,
            Node::Binary(BinaryOp::Div, _, divisor) => return plain(model, point, divisor).abs(),
            // A divisor that is written as a factor before or behind.
            Node::Binary(BinaryOp::Mul, left, right) => {
                let is_quotient =
                    |id| matches!(model.flat.exprs.node(id), Node::Binary(BinaryOp::Div, ..));
                at = if is_quotient(left) { left } else { right };
            }
            other => panic!("no quotient: {other:?}"),
        }
    }
}

/// A plain walk that shares no code with the evaluator.
fn plain(model: &Solved, point: &Point, id: ExprId) -> f64 {
    let of = |id| plain(model, point, id);
    match model.flat.exprs.node(id) {
        Node::Number(value) => value.0,
        Node::Leaf(leaf) => point.real(leaf).expect("a value"),
        Node::Unary(UnaryOp::Minus, a) => -of(a),
        Node::Binary(BinaryOp::Add, a, b) => of(a) + of(b),
        Node::Binary(BinaryOp::Sub, a, b) => of(a) - of(b),
        Node::Binary(BinaryOp::Mul, a, b) => of(a) * of(b),
        Node::Binary(BinaryOp::Div, a, b) => of(a) / of(b),
        Node::Binary(BinaryOp::Pow, a, b) => of(a).powf(of(b)),
        other => panic!("not expected in a divisor: {other:?}"),
    }
}

/// Seen from the flywheel the rotor's inertia is multiplied by n**2.
#[test]
fn geared_inertias() {
    let models = both("examples/geared_inertias.bgm", "GearedInertias");
    let mut random = Random::new(2);
    for _ in 0..20 {
        let [jr, jf, n, d] = [(); 4].map(|()| random.real(0.1, 5.0));
        let [tau, w] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let rate = (n * tau - d * w) / (jf + n * n * jr);
        let ta = tau - jr * n * rate;
        agrees(
            &models,
            &Truth::of(&[
                ("Rotor.J", jr),
                ("Flywheel.J", jf),
                ("Gear.n", n),
                ("Friction.d", d),
                ("tau", tau),
                ("w", w),
                ("Flywheel.w", w),
                ("Rotor.w", n * w),
                ("der(Flywheel.w)", rate),
                ("der(Rotor.w)", n * rate),
                ("Gear.ta", ta),
                ("Gear.tb", n * ta),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

/// Each wheel gets the torque T: J1*a1 = T - d1*w1, J2*a2 = T - d2*w2, J3*a3 = tau - 2*T, and
/// a1 + a2 = 2*a3.
#[test]
fn differential() {
    let models = both("examples/differential.bgm", "Car");
    let mut random = Random::new(3);
    for _ in 0..20 {
        let [j1, j2, j3, d1, d2] = [(); 5].map(|()| random.real(0.1, 5.0));
        let [tau, w1, w2] = [(); 3].map(|()| random.real(-10.0, 10.0));
        let half =
            (2.0 * tau / j3 + d1 * w1 / j1 + d2 * w2 / j2) / (1.0 / j1 + 1.0 / j2 + 4.0 / j3);
        let (a1, a2) = ((half - d1 * w1) / j1, (half - d2 * w2) / j2);
        agrees(
            &models,
            &Truth::of(&[
                ("Left.J", j1),
                ("Right.J", j2),
                ("Cage.J", j3),
                ("Dry.d", d1),
                ("Icy.d", d2),
                ("tau", tau),
                ("left", w1),
                ("right", w2),
                ("Left.w", w1),
                ("Right.w", w2),
                ("Cage.w", (w1 + w2) / 2.0),
                ("der(Left.w)", a1),
                ("der(Right.w)", a2),
                ("der(Cage.w)", (tau - 2.0 * half) / j3),
                ("Differential.t1", half),
                ("Differential.t2", half),
                ("Differential.t3", 2.0 * half),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [2, 2]);
}

#[test]
fn capacitors_in_parallel() {
    let models = both("examples/capacitors.bgm", "Parallel");
    let mut random = Random::new(4);
    for _ in 0..20 {
        let [c1, c2, r] = [(); 3].map(|()| random.real(0.1, 5.0));
        let [i, u] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let rate = (i - u / r) / (c1 + c2);
        agrees(
            &models,
            &Truth::of(&[
                ("C1.C", c1),
                ("C2.C", c2),
                ("R1.R", r),
                ("i", i),
                ("y", u),
                ("C1.u", u),
                ("C2.u", u),
                ("der(C1.u)", rate),
                ("der(C2.u)", rate),
                ("C1.i", c1 * rate),
                ("C2.i", c2 * rate),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

/// I + r**2*C, Figure 14 of the thesis.
#[test]
fn gyrator() {
    let models = both("examples/gyrator.bgm", "Gyrator");
    let mut random = Random::new(5);
    for _ in 0..20 {
        let [inertance, c, r, damping] = [(); 4].map(|()| random.real(0.1, 5.0));
        let [u, f] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let rate = (u - damping * f) / (inertance + r * r * c);
        agrees(
            &models,
            &Truth::of(&[
                ("I1.I", inertance),
                ("C1.C", c),
                ("G.r", r),
                ("R1.R", damping),
                ("u", u),
                ("y", f),
                ("I1.f", f),
                ("C1.e", r * f),
                ("der(I1.f)", rate),
                ("der(C1.e)", r * rate),
                ("C1.f", c * r * rate),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

/// Seen from the last: J3 + n2**2*(J2 + n1**2*J1).
#[test]
fn chain_of_three_inertias() {
    let models = both("tests/reduction/three_inertias.bgm", "ThreeInertias");
    let mut random = Random::new(6);
    for _ in 0..20 {
        let [j1, j2, j3, n1, n2] = [(); 5].map(|()| random.real(0.1, 5.0));
        let [drive, load, w] = [(); 3].map(|()| random.real(-10.0, 10.0));
        let rate = (n1 * n2 * drive + load) / (j3 + n2 * n2 * (j2 + n1 * n1 * j1));
        agrees(
            &models,
            &Truth::of(&[
                ("J1.J", j1),
                ("J2.J", j2),
                ("J3.J", j3),
                ("G1.n", n1),
                ("G2.n", n2),
                ("drive", drive),
                ("load", load),
                ("J1.w", n1 * n2 * w),
                ("J2.w", n2 * w),
                ("J3.w", w),
                ("der(J1.w)", n1 * n2 * rate),
                ("der(J2.w)", n2 * rate),
                ("der(J3.w)", rate),
                ("G2.tb", j3 * rate - load),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

/// The voltage of the centre makes the derivatives of the currents sum to zero.
#[test]
fn star_of_inductors() {
    let models = both("tests/reduction/inductor_star.bgm", "InductorStar");
    let mut random = Random::new(7);
    for _ in 0..20 {
        let r = [(); 3].map(|()| random.real(0.1, 5.0));
        let l = [(); 3].map(|()| random.real(0.1, 5.0));
        let u = [(); 3].map(|()| random.real(-10.0, 10.0));
        let [i1, i2] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let i = [i1, i2, -i1 - i2];
        let behind = [0, 1, 2].map(|at| u[at] - r[at] * i[at]);
        let all = |value: &dyn Fn(usize) -> f64| (0..3).map(value).sum::<f64>();
        let v = all(&|at| behind[at] / l[at]) / all(&|at| 1.0 / l[at]);
        let mut truth = Truth::of(&[("v", v)]);
        for at in 0..3 {
            let name = |form: &str| form.replace('#', &(at + 1).to_string());
            truth.add(&[
                (&name("R#.R"), r[at]),
                (&name("L#.L"), l[at]),
                (&name("u#"), u[at]),
                (&name("L#.i"), i[at]),
                (&name("der(L#.i)"), (behind[at] - v) / l[at]),
                (&name("L#.u"), behind[at] - v),
            ]);
        }
        agrees(&models, &truth);
    }
    assert_eq!(models.map(|model| order(&model)), [2, 2]);
}

/// The currents of the resistors sum to zero, which tells where the triangle floats; the current
/// around it makes the derivatives of the voltages sum to zero.
#[test]
fn triangle_of_capacitors() {
    let models = both(
        "tests/reduction/capacitor_triangle.bgm",
        "CapacitorTriangle",
    );
    let mut random = Random::new(8);
    for _ in 0..20 {
        let [r1, r2, r3, c12, c23, c31] = [(); 6].map(|()| random.real(0.1, 5.0));
        let [u1, u2, e12, e23] = [(); 4].map(|()| random.real(-10.0, 10.0));
        // v1 = v3 + e12 + e23, v2 = v3 + e23
        let v3 = ((u1 - e12 - e23) / r1 + (u2 - e23) / r2) / (1.0 / r1 + 1.0 / r2 + 1.0 / r3);
        let (j1, j3) = ((u1 - v3 - e12 - e23) / r1, -v3 / r3);
        let i31 = (j3 / c23 - j1 / c12) / (1.0 / c12 + 1.0 / c23 + 1.0 / c31);
        let (i12, i23) = (i31 + j1, i31 - j3);
        agrees(
            &models,
            &Truth::of(&[
                ("R1.R", r1),
                ("R2.R", r2),
                ("R3.R", r3),
                ("C12.C", c12),
                ("C23.C", c23),
                ("C31.C", c31),
                ("u1", u1),
                ("u2", u2),
                ("y", v3),
                ("C12.u", e12),
                ("C23.u", e23),
                ("C31.u", -e12 - e23),
                ("C12.i", i12),
                ("C23.i", i23),
                ("C31.i", i31),
                ("der(C12.u)", i12 / c12),
                ("der(C23.u)", i23 / c23),
                ("der(C31.u)", i31 / c31),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [2, 2]);
}

/// The matrix A of der(x) = A*x + b, state by state.
fn state_matrix(model: &Solved) -> DMatrix<f64> {
    let states: Vec<Leaf> = model.flat.states().collect();
    let rates = |at: Option<usize>| -> Vec<f64> {
        let mut point = Point::new(model);
        for id in model.flat.variable_ids() {
            if model.flat.variable(id).kind == Kind::Input {
                point.set(Leaf::Var(id), bgm::expr::Value::Real(0.0));
            }
        }
        for (other, &state) in states.iter().enumerate() {
            let value = if at == Some(other) { 1.0 } else { 0.0 };
            point.set(state, bgm::expr::Value::Real(value));
        }
        evaluate(model, &mut point).expect("a linear model has values everywhere");
        (states.iter())
            .map(|state| {
                let rate = Leaf::at_order(state.variable(), state.order().unwrap_or(0) + 1);
                point.real(rate).expect("a derivative")
            })
            .collect()
    };
    let rest = rates(None);
    let columns: Vec<Vec<f64>> = (0..states.len())
        .map(|at| {
            (rates(Some(at)).iter().zip(&rest))
                .map(|(rate, rest)| rate - rest)
                .collect()
        })
        .collect();
    DMatrix::from_fn(states.len(), states.len(), |row, column| {
        columns[column][row]
    })
}

/// det(s*I - A) of the reduced model and det(s*E - A) of the model as it was written are the same polynomial
/// but for a factor: same order, same eigenvalues. A polynomial of degree n is known by n + 1 values.
fn same_eigenvalues(file: &str, name: &str, states: usize) {
    let written = flat(file, name);
    for model in both(file, name) {
        assert_eq!(order(&model), states, "{name}");
        let matrix = state_matrix(&model).map(|value| Complex::new(value, 0.0));
        // Of the size of the eigenvalues.
        let size = matrix.norm().max(1.0);
        let ratio = |s: Complex<f64>| {
            let reduced = DMatrix::identity(states, states) * s - &matrix;
            characteristic(&written, s) / reduced.determinant()
        };
        let first = ratio(Complex::new(size, 0.3 * size));
        for at in 1..40 {
            let angle = f64::from(at);
            let s = Complex::from_polar(size * 0.1 * angle, angle);
            let other = ratio(s);
            assert!(
                (other - first).norm() < 1e-6 * first.norm(),
                "{name} at {s}: {other} {first}"
            );
        }
    }
}

/// Cellier 1990: "while this system exhibits six different energy storages, it is in fact a fifth
/// order system".
#[test]
fn dc_motor() {
    same_eigenvalues("examples/dc_motor.bgm", "DCMotor", 5);
    same_eigenvalues("tests/papers/cellier-1990.bgm", "DCMotor", 5);
    // J2 and m as one inertia: (J2 + r**2*m)*der(w2) with v = r*w2.
    let models = both("examples/dc_motor.bgm", "DCMotor");
    let mut random = Random::new(9);
    for _ in 0..10 {
        let [u, i, w1, w2, e1, e2] = [(); 6].map(|()| random.real(-10.0, 10.0));
        let (r, v) = (0.1, 0.1 * w2);
        let clutch = 0.2 * (w1 - w2);
        let rate = (clutch - e1 + r * (-4.0 * 9.81 - 5.0 * v - e2)) / (0.03 + r * r * 4.0);
        agrees(
            &models,
            &Truth::of(&[
                ("u", u),
                ("i", i),
                ("w", w1),
                ("v", v),
                ("La.f", i),
                ("J1.f", w1),
                ("J2.f", w2),
                ("m.f", v),
                ("k1.e", e1),
                ("k2.e", e2),
                ("der(La.f)", (u - i - 0.5 * w1) / 0.01),
                ("der(J1.f)", (0.5 * i - 0.01 * w1 - clutch) / 0.02),
                ("der(J2.f)", rate),
                ("der(m.f)", r * rate),
                ("der(k1.e)", w2 / 0.1),
                ("der(k2.e)", v / 0.002),
            ]),
        );
    }
}

#[test]
fn linear_models_keep_their_eigenvalues() {
    same_eigenvalues("examples/lever_arm.bgm", "LeverArm", 1);
    same_eigenvalues("examples/geared_inertias.bgm", "GearedInertias", 1);
    same_eigenvalues("examples/differential.bgm", "Car", 2);
    same_eigenvalues("examples/capacitors.bgm", "Parallel", 1);
    same_eigenvalues("examples/capacitors.bgm", "OnSource", 1);
    same_eigenvalues("examples/gyrator.bgm", "Gyrator", 1);
    same_eigenvalues("tests/reduction/three_inertias.bgm", "ThreeInertias", 1);
    same_eigenvalues("tests/reduction/inductor_star.bgm", "InductorStar", 2);
    same_eigenvalues(
        "tests/reduction/capacitor_triangle.bgm",
        "CapacitorTriangle",
        2,
    );
    same_eigenvalues("tests/reduction/driven_mass.bgm", "DrivenMass", 2);
    same_eigenvalues("tests/papers/mccalla-1991.bgm", "TwoMasses", 1);
    same_eigenvalues("tests/papers/mccalla-1991.bgm", "Figure8", 2);
    same_eigenvalues("tests/papers/mccalla-1991.bgm", "LeverArm", 1);
    same_eigenvalues("tests/papers/mccalla-1991.bgm", "Figure13", 1);
}

/// The thesis reduces storage fields by hand; the compiler comes to the same derivative.
#[test]
fn reduced_by_hand_and_by_the_compiler() {
    let file = "tests/papers/mccalla-1991.bgm";
    let mut random = Random::new(10);
    for (whole, reduced) in [
        ("TwoMasses", "TwoMassesReduced"),
        ("LeverArm", "LeverArmReduced"),
        ("Figure13", "Figure14"),
    ] {
        let [by_hand, _] = both(file, reduced);
        let models = both(file, whole);
        for _ in 0..5 {
            let [u, f] = [(); 2].map(|()| random.real(-10.0, 10.0));
            // What may be a state in place of I1.f: the gyrator of Figure 13 has r = 2, the bar b/a = 2.
            let mut truth = Truth::of(&[("u", u), ("y", f), ("I1.f", f)]);
            match whole {
                "TwoMasses" => truth.add(&[("I2.f", f)]),
                "LeverArm" => truth.add(&[("I2.f", 2.0 * f)]),
                _ => truth.add(&[("C1.e", 2.0 * f)]),
            }
            let mut at = point(&by_hand, &truth);
            evaluate(&by_hand, &mut at).expect("regular");
            let rate = at.real(leaf(&by_hand.flat, "der(I1.f)")).expect("a value");
            truth.add(&[("der(I1.f)", rate)]);
            agrees(&models, &truth);
        }
    }
}
