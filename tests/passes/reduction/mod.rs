//! Index reduction against closed forms: order, derivatives, forces. The models stand in `examples`,
//! `tests/reduction` and `tests/papers`. The formulas are derived by hand, at random values of
//! parameters, states and inputs.

mod mechanisms;
mod storages;
mod truth;

use crate::support::random::Random;
use bgm::flat::Merit;
use bgm::passes::blocks::Solved;
use truth::{Truth, agrees, both, order, states};

/// i = C1*der(u) + (u - y)/R.
#[test]
fn capacitor_on_a_source() {
    let models = both("examples/capacitors.bgm", "OnSource");
    let mut random = Random::new(41);
    for _ in 0..20 {
        let [c1, c2, r] = [(); 3].map(|()| random.real(0.1, 5.0));
        let [u, rate, y] = [(); 3].map(|()| random.real(-10.0, 10.0));
        let behind = (u - y) / r;
        agrees(
            &models,
            &Truth::of(&[
                ("C1.C", c1),
                ("C2.C", c2),
                ("R1.R", r),
                ("u", u),
                ("der(u)", rate),
                ("y", y),
                ("C1.u", u),
                ("C2.u", y),
                ("der(C1.u)", rate),
                ("der(C2.u)", behind / c2),
                ("C1.i", c1 * rate),
                ("i", c1 * rate + behind),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

/// F = m*der2(x) + k*(x - s2).
#[test]
fn input_that_is_differentiated_twice() {
    let models = both("tests/reduction/driven_mass.bgm", "DrivenMass");
    let mut random = Random::new(42);
    for _ in 0..20 {
        let [m, big, k, d] = [(); 4].map(|()| random.real(0.1, 5.0));
        let [x, speed, rate, s2, v2] = [(); 5].map(|()| random.real(-10.0, 10.0));
        agrees(
            &models,
            &Truth::of(&[
                ("m", m),
                ("M", big),
                ("k", k),
                ("d", d),
                ("x", x),
                ("der(x)", speed),
                ("der(der(x))", rate),
                ("s1", x),
                ("v1", speed),
                ("der(v1)", rate),
                ("s2", s2),
                ("v2", v2),
                ("der(v2)", (k * (x - s2) - d * v2) / big),
                ("F", m * rate + k * (x - s2)),
            ]),
        );
    }
    for model in &models {
        assert_eq!(states(model), ["s2", "v2"]);
        let reduction = model.flat.reduction.as_ref().expect("it was reduced");
        assert_eq!(reduction.index, 3);
    }
}

/// C*d/dt(A*sin(w*t)*exp(-t)).
#[test]
fn source_that_depends_on_time() {
    let models = both("tests/reduction/time_source.bgm", "TimeSource");
    let mut random = Random::new(43);
    for _ in 0..20 {
        let [w, a, c] = [(); 3].map(|()| random.real(0.1, 5.0));
        let t = random.real(0.0, 5.0);
        let (sin, cos) = (w * t).sin_cos();
        let rate = a * (w * cos - sin) * (-t).exp();
        let mut truth = Truth::of(&[
            ("w", w),
            ("A", a),
            ("C1.C", c),
            ("C1.e", a * sin * (-t).exp()),
            ("der(C1.e)", rate),
            ("f", c * rate),
        ]);
        truth.time = t;
        agrees(&models, &truth);
    }
    assert_eq!(models.map(|model| order(&model)), [0, 0]);
}

/// (C1 + C0 + 3*k*e**2)*der(e) = i, whether the effort or the charge is the state.
#[test]
fn nonlinear_storage() {
    let file = "tests/reduction/nonlinear_storage.bgm";
    let mut random = Random::new(44);
    for (name, state) in [("Effort", "C1.e"), ("Charge", "N.q")] {
        let models = both(file, name);
        for _ in 0..20 {
            let [c0, c1, k] = [(); 3].map(|()| random.real(0.1, 5.0));
            let [i, e] = [(); 2].map(|()| random.real(-3.0, 3.0));
            let slope = c0 + 3.0 * k * e * e;
            let rate = i / (c1 + slope);
            agrees(
                &models,
                &Truth::of(&[
                    ("C1.C", c1),
                    ("N.C0", c0),
                    ("N.k", k),
                    ("i", i),
                    ("C1.e", e),
                    ("N.e", e),
                    ("N.q", c0 * e + k * e * e * e),
                    ("der(C1.e)", rate),
                    ("der(N.q)", slope * rate),
                    ("N.f", slope * rate),
                ]),
            );
        }
        for model in &models {
            assert_eq!(states(model), [state]);
        }
    }
}

/// Each piece has its own slope.
#[test]
fn tables_and_ifs_are_differentiated_piece_by_piece() {
    let models = both("tests/reduction/pieces.bgm", "Pieces");
    // Effort, charge and slope of the table; the ends are held.
    for (e, table, slope) in [
        (-3.0, -5.0, 0.0),
        (-1.25, -4.25, 1.0),
        (-0.5, -2.0, 4.0),
        (0.25, 0.5, 2.0),
        (2.0, 2.5, 0.5),
        (7.0, 3.0, 0.0),
    ] {
        let side = if e > 0.0 { 3.0 } else { 0.5 };
        for i in [-1.0, 2.0] {
            let rate = i / (2.0 + slope + side);
            agrees(
                &models,
                &Truth::of(&[
                    ("i", i),
                    ("C1.e", e),
                    ("T.q", table),
                    ("S.q", side * e),
                    ("der(C1.e)", rate),
                    ("T.f", slope * rate),
                    ("S.f", side * rate),
                ]),
            );
        }
    }
    assert_eq!(models.map(|model| order(&model)), [1, 1]);
}

fn merits(model: &Solved) -> Vec<(String, Merit)> {
    let reduction = model.flat.reduction.as_ref().expect("it was reduced");
    (reduction.dropped.iter())
        .map(|dropped| (model.flat.leaf_name(dropped.state), dropped.merit))
        .collect()
}

/// Which state is kept, and what is said to be the reason.
#[test]
fn wishes_steer_the_choice() {
    let dropped = |name: &str, merit| vec![(name.to_string(), merit)];
    for (name, state, wanted) in [
        ("Plain", "A.w", dropped("B.w", Merit::Name)),
        ("Start", "B.w", dropped("A.w", Merit::Start)),
        ("Wished", "B.w", dropped("A.w", Merit::Wish)),
        ("Unwished", "B.w", dropped("A.w", Merit::Wish)),
        ("Both", "B.w", dropped("A.w", Merit::Wish)),
        ("Nearer", "z", dropped("A.w", Merit::Nearer)),
        ("Never", "A.w", dropped("B.w", Merit::Name)),
    ] {
        for model in both("tests/reduction/wishes.bgm", name) {
            assert_eq!(states(&model), [state], "{name}");
            assert_eq!(merits(&model), wanted, "{name}");
            let reduction = model.flat.reduction.as_ref().expect("it was reduced");
            assert_eq!(reduction.index, 2, "{name}");
        }
    }
    for model in both("tests/reduction/wishes.bgm", "Inside") {
        assert_eq!(states(&model), ["B.w"]);
        let wanted = [
            ("A.w".to_string(), Merit::Wish),
            ("D.w".to_string(), Merit::Name),
        ];
        assert_eq!(merits(&model), wanted);
    }
}

/// The order in which a model is written changes nothing in what is chosen.
#[test]
fn start_value_at_the_end_of_a_chain() {
    for model in both("tests/reduction/three_inertias.bgm", "ThreeInertias") {
        assert_eq!(states(&model), ["J3.w"]);
        let wanted = ["J1.w", "J2.w"].map(|name| (name.to_string(), Merit::Start));
        assert_eq!(merits(&model), wanted);
    }
}
