//! Mechanisms in Cartesian coordinates, where the choice of states is open, against their equations in
//! angles.

use nalgebra::{DMatrix, DVector};

use super::truth::{
    Truth, agrees, agrees_for_all_choices, both, compare, evaluated, leaf, order, selections,
};
use crate::support::random::Random;

const G: f64 = 9.81;

/// Angles in all four quadrants, some of them near the axes, where one of two choices is singular.
fn angles(random: &mut Random) -> Vec<f64> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let axes = (0..4).map(|at| f64::from(at) * quarter + 0.02);
    let spread = (0..24).map(|at| f64::from(at) * quarter / 6.0 + random.real(0.0, 0.2));
    axes.chain(spread).collect()
}

/// phi'' = -(g/L)*sin(phi) with x = L*sin(phi), y = -L*cos(phi); the rod pulls with
/// m*(g*cos(phi) + L*phi'**2).
#[test]
fn pendulum() {
    let models = both("examples/pendulum.bgm", "Pendulum");
    let mut random = Random::new(21);
    let mut tried = 0;
    let angles = angles(&mut random);
    for &phi in &angles {
        let [m, length] = [(); 2].map(|()| random.real(0.5, 3.0));
        let w = random.real(-4.0, 4.0);
        let (s, c) = phi.sin_cos();
        let alpha = -G / length * s;
        let truth = Truth::of(&[
            ("m", m),
            ("L", length),
            ("x", length * s),
            ("y", -length * c),
            ("vx", length * c * w),
            ("vy", length * s * w),
            ("der(x)", length * c * w),
            ("der(y)", length * s * w),
            ("der(vx)", length * (c * alpha - s * w * w)),
            ("der(vy)", length * (s * alpha + c * w * w)),
            ("F", m * (G * c + length * w * w) / length),
        ]);
        // With x as a state y divides by itself, and the other way round.
        tried += agrees_for_all_choices(&models, &truth, |states| match states {
            [one] if one == "x" || one == "vx" || one == "der(x)" => c.abs() > 0.1,
            [one] if one == "y" || one == "vy" || one == "der(y)" => s.abs() > 0.1,
            other => panic!("states {other:?}"),
        });
    }
    // Four choices of a position and a velocity, but near the axes one; with aliases and without.
    assert!(tried > angles.len() * 2 * 2, "{tried}");
    for model in &models {
        assert_eq!(order(model), 2);
        // Of two positions one, of two velocities one.
        let sizes: Vec<(usize, u32)> = (selections(model).iter())
            .map(|selection| (selection.candidates.len(), selection.states))
            .collect();
        assert_eq!(sizes, [(2, 1), (2, 1)]);
    }
}

/// Where the rod is level x tells nothing of y, nor vx of vy: with them as states there is nothing to
/// compute vy from, and that is said. A guess must not pass for a value.
#[test]
fn a_singular_choice_is_refused() {
    let truth = Truth::of(&[("x", 1.0), ("y", 0.0), ("vx", 0.0), ("vy", 3.0)]);
    for model in &both("examples/pendulum.bgm", "Pendulum") {
        let states = |names: [&str; 2]| names.map(|name| leaf(&model.flat, name));
        for names in [["x", "vx"], ["y", "vx"]] {
            let found = evaluated(model, &states(names), &truth);
            assert!(found.is_err(), "evaluated with the states {names:?}");
        }
        let point = evaluated(model, &states(["y", "vy"]), &truth).expect("regular");
        compare(model, &point, &truth);
    }
}

/// m*L**2*phi'' = -m*g*L*sin(phi) + the moment of the spring.
#[test]
fn coupled_pendulums() {
    let models = both("examples/coupled_pendulums.bgm", "CoupledPendulums");
    let mut random = Random::new(22);
    for _ in 0..12 {
        let [m1, m2, l1, l2, k, l0, pivot] = [(); 7].map(|()| random.real(0.5, 3.0));
        let [p1, p2] = [(); 2].map(|()| random.real(-3.1, 3.1));
        let [w1, w2] = [(); 2].map(|()| random.real(-4.0, 4.0));
        let (bob1, bob2) = (
            [l1 * p1.sin(), -l1 * p1.cos()],
            [l2 * p2.sin(), -l2 * p2.cos()],
        );
        let apart = [pivot + bob2[0] - bob1[0], bob2[1] - bob1[1]];
        let length = apart[0].hypot(apart[1]);
        // On the first bob, towards the second.
        let pull = [0, 1].map(|at| k * (length - l0) * apart[at] / length);
        let mut truth = Truth::of(&[
            ("S.k", k),
            ("S.l0", l0),
            ("P2.pivot", pivot),
            ("x1", bob1[0]),
            ("x2", bob2[0]),
            ("S.l", length),
            ("S.fx", -pull[0]),
            ("S.fy", -pull[1]),
        ]);
        for (at, m, length, phi, w, sign) in [(1, m1, l1, p1, w1, 1.0), (2, m2, l2, p2, w2, -1.0)] {
            let (s, c) = phi.sin_cos();
            let force = pull.map(|part| sign * part);
            let moment = length * (c * force[0] + s * force[1]);
            let alpha = (moment - m * G * length * s) / (m * length * length);
            // Along the rod, towards the pivot.
            let radial = m * length * w * w + m * G * c + s * force[0] - c * force[1];
            let name = |form: &str| form.replace('#', &at.to_string());
            truth.add(&[
                (&name("P#.m"), m),
                (&name("P#.L"), length),
                (&name("P#.x"), length * s),
                (&name("P#.y"), -length * c),
                (&name("P#.Y"), -length * c),
                (&name("P#.vx"), length * c * w),
                (&name("P#.vy"), length * s * w),
                (&name("der(P#.vx)"), length * (c * alpha - s * w * w)),
                (&name("der(P#.vy)"), length * (s * alpha + c * w * w)),
                (&name("P#.F"), radial / length),
            ]);
        }
        agrees_for_all_choices(&models, &truth, |states| match states {
            [one] => {
                let phi = if one.contains("P1") || one == "x1" {
                    p1
                } else {
                    p2
                };
                let along_x = one.contains('x');
                (if along_x { phi.cos() } else { phi.sin() }).abs() > 0.1
            }
            other => panic!("states {other:?}"),
        });
    }
    for model in &models {
        assert_eq!(order(model), 4);
        // The spring couples no choices.
        assert_eq!(selections(model).len(), 4);
    }
}

/// With x(phi): (J + m*x'**2)*phi'' + m*x'*x''*phi'**2 = tau - b*x'**2*phi'.
#[test]
fn slider_crank() {
    let models = both("examples/slider_crank.bgm", "SliderCrank");
    let mut random = Random::new(23);
    let mut tried = 0;
    for phi in angles(&mut random) {
        let [j, m, b] = [(); 3].map(|()| random.real(0.5, 3.0));
        let (r, l) = (random.real(0.2, 0.8), random.real(1.0, 2.0));
        let [tau, w] = [(); 2].map(|()| random.real(-4.0, 4.0));
        // The angle of the rod, its derivatives by phi, and those of the slider's position.
        let theta = (r * phi.sin() / l).asin();
        let theta1 = r * phi.cos() / (l * theta.cos());
        let theta2 = (l * theta.sin() * theta1 * theta1 - r * phi.sin()) / (l * theta.cos());
        let x = r * phi.cos() + l * theta.cos();
        let x1 = -r * phi.sin() - l * theta.sin() * theta1;
        let x2 = -r * phi.cos() - l * theta.cos() * theta1 * theta1 - l * theta.sin() * theta2;
        let alpha = (tau - b * x1 * x1 * w - m * x1 * x2 * w * w) / (j + m * x1 * x1);
        let a = x1 * alpha + x2 * w * w;
        let v = x1 * w;
        let truth = Truth::of(&[
            ("r", r),
            ("l", l),
            ("J", j),
            ("m", m),
            ("b", b),
            ("tau", tau),
            ("phi", phi),
            ("theta", theta),
            ("x", x),
            ("w", w),
            ("v", v),
            ("der(phi)", w),
            ("der(theta)", theta1 * w),
            ("der(x)", v),
            ("der(w)", alpha),
            ("der(v)", a),
            ("S", (m * a + b * v) / theta.cos()),
        ]);
        // What a state says of the others: one over its derivative by phi.
        tried += agrees_for_all_choices(&models, &truth, |states| match states {
            [one] if one == "phi" || one == "w" || one == "der(phi)" => true,
            [one] if one == "theta" || one == "der(theta)" => theta1.abs() > 0.05,
            [one] if one == "x" || one == "v" || one == "der(x)" => x1.abs() > 0.05,
            other => panic!("states {other:?}"),
        });
    }
    assert!(tried > 28 * 2 * 2, "{tried}");
    assert_eq!(models.map(|model| order(&model)), [2, 2]);
}

/// A rigid body: its centre moves as if all forces acted there, and it turns by their moment about
/// the centre.
#[test]
fn triangle_of_masses() {
    let models = both("tests/reduction/mass_triangle.bgm", "MassTriangle");
    let mut random = Random::new(24);
    let corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]];
    let mut tried = 0;
    for _ in 0..3 {
        let m = [(); 3].map(|()| random.real(0.5, 3.0));
        let total: f64 = m.iter().sum();
        let phi = random.real(-3.0, 3.0);
        let [w, fx, fy, cx, cy, ux, uy] = [(); 7].map(|()| random.real(-3.0, 3.0));
        let middle =
            [0, 1].map(|axis| (0..3).map(|at| m[at] * corners[at][axis]).sum::<f64>() / total);
        // From the centre, turned.
        let arm = corners.map(|corner| {
            let (x, y) = (corner[0] - middle[0], corner[1] - middle[1]);
            [phi.cos() * x - phi.sin() * y, phi.sin() * x + phi.cos() * y]
        });
        let inertia: f64 = (0..3)
            .map(|at| m[at] * (arm[at][0].powi(2) + arm[at][1].powi(2)))
            .sum();
        let alpha = (arm[0][0] * fy - arm[0][1] * fx) / inertia;
        let place = arm.map(|[x, y]| [cx + x, cy + y]);
        let speed = arm.map(|[x, y]| [ux - w * y, uy + w * x]);
        let rate = arm.map(|[x, y]| {
            [
                fx / total - alpha * y - w * w * x,
                fy / total + alpha * x - w * w * y,
            ]
        });
        let between = |a: usize, b: usize| [0, 1].map(|axis| place[a][axis] - place[b][axis]);
        // Two forces that add up to a third.
        let solve = |a: [f64; 2], b: [f64; 2], sum: [f64; 2]| {
            let det = a[0] * b[1] - a[1] * b[0];
            [
                (sum[0] * b[1] - sum[1] * b[0]) / det,
                (a[0] * sum[1] - a[1] * sum[0]) / det,
            ]
        };
        let [f12, f23] = solve(
            between(1, 0),
            between(1, 2),
            rate[1].map(|part| m[1] * part),
        );
        let [_, f31] = solve(
            between(2, 1),
            between(2, 0),
            rate[2].map(|part| m[2] * part),
        );
        let mut truth = Truth::of(&[
            ("fx", fx),
            ("fy", fy),
            ("F12", f12),
            ("F23", f23),
            ("F31", f31),
        ]);
        for at in 0..3 {
            let name = |form: &str| form.replace('#', &(at + 1).to_string());
            truth.add(&[
                (&name("m#"), m[at]),
                (&name("x#"), place[at][0]),
                (&name("y#"), place[at][1]),
                (&name("u#"), speed[at][0]),
                (&name("v#"), speed[at][1]),
                (&name("der(u#)"), rate[at][0]),
                (&name("der(v#)"), rate[at][1]),
            ]);
        }
        // The rods' Jacobian by x1, y1, x2, y2, x3, y3; what is not chosen has to follow from it.
        let mut jacobian = DMatrix::zeros(3, 6);
        for (row, (a, b)) in [(0, 1), (1, 2), (2, 0)].into_iter().enumerate() {
            for axis in 0..2 {
                jacobian[(row, 2 * a + axis)] = between(a, b)[axis];
                jacobian[(row, 2 * b + axis)] = -between(a, b)[axis];
            }
        }
        tried += agrees_for_all_choices(&models, &truth, |states| {
            let columns = states.iter().map(|name| {
                let name = name.trim_start_matches("der(").trim_end_matches(')');
                let axis = usize::from(name.starts_with(['y', 'v']));
                let digit = name[1..].parse::<usize>().expect("x1 .. v3");
                2 * (digit - 1) + axis
            });
            let chosen: Vec<usize> = columns.collect();
            let rest: Vec<usize> = (0..6).filter(|column| !chosen.contains(column)).collect();
            let minor = jacobian.select_columns(&rest);
            // The truth is near by, but not at the start values: stay away from what is nearly singular.
            let length: DVector<f64> =
                DVector::from_iterator(3, jacobian.row_iter().map(|row| row.norm()));
            minor.determinant().abs() > 0.1 * length.product()
        });
    }
    assert!(tried > 3 * 2 * 9, "{tried}");
    for model in &models {
        assert_eq!(order(model), 6);
    }
}

/// McCalla 1991, Appendix A: on the track y = h*cos(k*x) the slope s makes
/// (1 + s**2)*vx' = -s*(s'*vx + g).
#[test]
fn roller_coaster() {
    let models = both("tests/papers/mccalla-1991.bgm", "RollerCoaster");
    let mut random = Random::new(25);
    for _ in 0..20 {
        let (h, k, mass) = (
            random.real(1.0, 10.0),
            random.real(0.05, 0.5),
            random.real(1.0, 5.0),
        );
        let [x, v] = [(); 2].map(|()| random.real(-10.0, 10.0));
        let s = -h * k * (k * x).sin();
        let s_rate = -h * k * k * (k * x).cos() * v;
        let rate = -s * (s_rate * v + G) / (1.0 + s * s);
        agrees(
            &models,
            &Truth::of(&[
                ("h", h),
                ("k", k),
                ("mass", mass),
                ("x", x),
                ("I1.f", v),
                ("I2.f", s * v),
                ("der(x)", v),
                ("der(I1.f)", rate),
                ("der(I2.f)", s * rate + s_rate * v),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [2, 2]);
}

/// McCalla 1991, Appendix B: Lagrange's equations of the two links.
#[test]
fn robot_arm() {
    let models = both("tests/papers/mccalla-1991.bgm", "RobotArm");
    let mut random = Random::new(26);
    for _ in 0..20 {
        let [l1, a1, m1, j1, a2, m2, j2] = [(); 7].map(|()| random.real(0.3, 2.0));
        let [th1, th2, w1, w2, tau] = [(); 5].map(|()| random.real(-3.0, 3.0));
        let (s, c) = (th1 - th2).sin_cos();
        let couple = m2 * l1 * a2;
        let mass = [j1 + m2 * l1 * l1, couple * c, j2 + m2 * a2 * a2];
        let known = [
            tau - (m1 * a1 + m2 * l1) * G * th1.cos() - couple * s * w2 * w2,
            couple * s * w1 * w1 - m2 * G * a2 * th2.cos(),
        ];
        let det = mass[0] * mass[2] - mass[1] * mass[1];
        let alpha1 = (known[0] * mass[2] - known[1] * mass[1]) / det;
        let alpha2 = (known[1] * mass[0] - known[0] * mass[1]) / det;
        agrees(
            &models,
            &Truth::of(&[
                ("L1", l1),
                ("a1", a1),
                ("m1", m1),
                ("J1", j1),
                ("a2", a2),
                ("m2", m2),
                ("J2", j2),
                ("tau", tau),
                ("th1", th1),
                ("th2", th2),
                ("Iw1.f", w1),
                ("Iw2.f", w2),
                ("Ix2.f", -l1 * th1.sin() * w1 - a2 * th2.sin() * w2),
                ("Iy2.f", l1 * th1.cos() * w1 + a2 * th2.cos() * w2),
                ("der(Iw1.f)", alpha1),
                ("der(Iw2.f)", alpha2),
            ]),
        );
    }
    assert_eq!(models.map(|model| order(&model)), [4, 4]);
}
