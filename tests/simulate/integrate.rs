//! The integrators on systems written by hand, against closed forms and published references.

use bgm::numeric::Pattern;
use bgm::simulate::integrate::{
    Counts, Integrator, IntegratorError, IntegratorStorage, Method, Settings, System, integrator,
};

type Rates = Box<dyn Fn(f64, &[f64], &mut [f64])>;

struct Hand {
    pattern: Pattern,
    rates: Rates,
    jacobian: Rates,
}

impl System for Hand {
    fn size(&self) -> usize {
        self.pattern.cols()
    }
    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]) {
        (self.rates)(time, states, rates);
    }
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
    fn jacobian(&self, time: f64, states: &[f64], entries: &mut [f64]) {
        (self.jacobian)(time, states, entries);
    }
}

/// A system with a full Jacobian, by columns.
fn full(
    size: usize,
    rates: impl Fn(f64, &[f64], &mut [f64]) + 'static,
    jacobian: impl Fn(f64, &[f64], &mut [f64]) + 'static,
) -> Hand {
    Hand {
        pattern: Pattern::new_csc(
            (size, size),
            (0..=size).map(|column| column * size).collect(),
            (0..size * size).map(|place| place % size).collect(),
            vec![(); size * size],
        ),
        rates: Box::new(rates),
        jacobian: Box::new(jacobian),
    }
}

fn decay() -> Hand {
    full(1, |_, x, r| r[0] = -x[0], |_, _, j| j[0] = -1.0)
}

fn oscillator() -> Hand {
    full(
        2,
        |_, x, r| {
            r[0] = x[1];
            r[1] = -x[0];
        },
        |_, _, j| j.copy_from_slice(&[0.0, -1.0, 1.0, 0.0]),
    )
}

fn robertson() -> Hand {
    full(
        3,
        |_, x, r| {
            r[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
            r[2] = 3e7 * x[1] * x[1];
            r[1] = -r[0] - r[2];
        },
        |_, x, j| {
            let column = |j: &mut [f64], k: usize, first: f64, last: f64| {
                j[3 * k..3 * k + 3].copy_from_slice(&[first, -first - last, last]);
            };
            column(j, 0, -0.04, 0.0);
            column(j, 1, 1e4 * x[2], 6e7 * x[1]);
            column(j, 2, 1e4 * x[1], 0.0);
        },
    )
}

fn hires() -> Hand {
    full(
        8,
        |_, y, r| {
            r[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
            r[1] = 1.71 * y[0] - 8.75 * y[1];
            r[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
            r[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
            r[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
            r[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
            r[6] = 280.0 * y[5] * y[7] - 1.81 * y[6];
            r[7] = -r[6];
        },
        |_, y, j| {
            j.fill(0.0);
            let (a, b) = (280.0 * y[7], 280.0 * y[5]);
            let entries = [
                (0, 0, -1.71),
                (0, 1, 0.43),
                (0, 2, 8.32),
                (1, 0, 1.71),
                (1, 1, -8.75),
                (2, 2, -10.03),
                (2, 3, 0.43),
                (2, 4, 0.035),
                (3, 1, 8.32),
                (3, 2, 1.71),
                (3, 3, -1.12),
                (4, 4, -1.745),
                (4, 5, 0.43),
                (4, 6, 0.43),
                (5, 3, 0.69),
                (5, 4, 1.71),
                (5, 5, -a - 0.43),
                (5, 6, 0.69),
                (5, 7, -b),
                (6, 5, a),
                (6, 6, -1.81),
                (6, 7, b),
                (7, 5, -a),
                (7, 6, 1.81),
                (7, 7, -b),
            ];
            for (row, column, value) in entries {
                j[8 * column + row] = value;
            }
        },
    )
}

fn settings(method: Method, relative: f64, absolute: f64, size: usize) -> Settings {
    Settings {
        method,
        relative,
        absolute: vec![absolute; size],
        longest: None,
    }
}

const STIFF: [Method; 3] = [Method::Bdf, Method::Esdirk34, Method::TrBdf2];

fn close(found: f64, expected: f64, relative: f64, what: &str) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{what}: {found:e} instead of {expected:e}"
    );
}

/// Steps to `stop`, calling `each` after each step.
fn run(
    system: &dyn System,
    settings: &Settings,
    start: &[f64],
    stop: f64,
    mut each: impl FnMut(&dyn Integrator),
) -> Result<(Vec<f64>, Counts), IntegratorError> {
    let place = IntegratorStorage::default();
    let mut integrator = integrator(&place, system, settings, 0.0, start)?;
    while integrator.time() < stop {
        integrator.step(stop)?;
        each(&*integrator);
    }
    assert_eq!(integrator.time(), stop);
    Ok((integrator.states().to_vec(), integrator.counts()))
}

/// The largest error of the first state in eleven points of the last step.
fn inside(integrator: &dyn Integrator, exact: impl Fn(f64) -> f64) -> f64 {
    let mut states = vec![0.0; integrator.states().len()];
    let (from, to) = (integrator.before(), integrator.time());
    (0..=10).fold(0.0, |worst: f64, k| {
        let time = from + (to - from) * f64::from(k) / 10.0;
        integrator.interpolate(time, &mut states);
        worst.max((states[0] - exact(time)).abs())
    })
}

#[test]
fn methods_have_names() {
    for method in Method::ALL {
        assert_eq!(Method::from_name(method.name()), Some(method));
        assert!(!method.words().is_empty());
    }
    assert_eq!(Method::from_name("euler"), None);
}

/// x' = -x against exp(-t), at ends and inside of steps. At tolerance 1e-9 BDF is within 4e-9
/// everywhere; the methods of low order gather more error in their many steps.
#[test]
fn decay_is_exact_inside_of_steps_too() {
    for (method, factor) in [
        (Method::Bdf, 5.0),
        (Method::Esdirk34, 40.0),
        (Method::TrBdf2, 200.0),
        (Method::Tsit45, 1.0),
    ] {
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let mut worst: f64 = 0.0;
            let settings = settings(method, tolerance, tolerance, 1);
            let done = run(&decay(), &settings, &[1.0], 10.0, |integrator| {
                worst = worst.max(inside(integrator, |time| (-time).exp()));
            });
            done.expect("it ends");
            let allowed = factor * tolerance;
            assert!(
                worst <= allowed,
                "{} {tolerance:e}: {worst:e}",
                method.name()
            );
            assert!(worst > 1e-4 * tolerance, "tolerances matter");
        }
    }
}

/// x'' = -x over 100 periods against cos t: errors of phase and amplitude add up.
#[test]
fn oscillator_over_a_hundred_periods() {
    let stop = 200.0 * std::f64::consts::PI;
    for (method, tolerance, allowed) in [
        (Method::Bdf, 1e-9, 6e-6),
        (Method::Esdirk34, 1e-9, 1e-4),
        (Method::TrBdf2, 1e-6, 2e-2),
        (Method::Tsit45, 1e-9, 2e-7),
    ] {
        let mut worst: f64 = 0.0;
        let settings = settings(method, tolerance, tolerance, 2);
        let done = run(&oscillator(), &settings, &[1.0, 0.0], stop, |integrator| {
            worst = worst.max(inside(integrator, f64::cos));
        });
        done.expect("it ends");
        assert!(worst <= allowed, "{}: {worst:e}", method.name());
    }
}

/// Van der Pol's equation with mu = 1000 to t = 2000. Mazzia and Magherini, Test Set for Initial
/// Value Problem Solvers, problem VDPOL (there in the time t / 1000): 1.706167732170483 and
/// -0.8928097010247975e-3.
#[test]
fn van_der_pol() {
    let system = full(
        2,
        |_, x, r| {
            r[0] = x[1];
            r[1] = 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0];
        },
        |_, x, j| {
            let diagonal = 1000.0 * (1.0 - x[0] * x[0]);
            j.copy_from_slice(&[0.0, -2000.0 * x[0] * x[1] - 1.0, 1.0, diagonal]);
        },
    );
    for (method, tolerance) in [
        (Method::Bdf, 1e-9),
        (Method::Esdirk34, 1e-9),
        (Method::TrBdf2, 1e-8),
    ] {
        let settings = settings(method, tolerance, 1e-3 * tolerance, 2);
        let (states, _) = run(&system, &settings, &[2.0, 0.0], 2000.0, |_| ()).expect("it ends");
        close(states[0], 1.706167732170483, 1e-5, method.name());
        close(states[1], -0.8928097010247975e-3, 1e-5, method.name());
    }
}

/// Robertson's problem to 1e11. Mazzia and Magherini, problem ROBER. BDF reaches a relative 1e-5
/// from relative tolerance 1e-6 on, ESDIRK34 too, TR-BDF2 from 1e-8 on.
#[test]
fn robertson_to_the_end() {
    let reference = [
        0.2083340149701255e-7,
        0.8333360770334713e-13,
        0.999999979166505,
    ];
    for method in STIFF {
        let settings = settings(method, 1e-8, 1e-18, 3);
        let done = run(&robertson(), &settings, &[1.0, 0.0, 0.0], 1e11, |_| ());
        let (states, counts) = done.expect("it ends");
        for (state, expected) in states.iter().zip(reference) {
            close(*state, expected, 1e-5, method.name());
        }
        assert!(counts.steps < 15_000, "{}: {counts:?}", method.name());
    }
}

/// HIRES to 321.8122. Mazzia and Magherini, problem HIRES. With relative tolerance 1e-6 and absolute
/// 1e-9 BDF has 1.4e-5 in y8; with 1e-8 and 1e-11 all three are within 1e-5.
#[test]
fn hires_to_the_end() {
    let reference = [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ];
    let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
    for method in STIFF {
        let settings = settings(method, 1e-9, 1e-12, 8);
        let (states, _) = run(&hires(), &settings, &start, 321.8122, |_| ()).expect("it ends");
        for (state, expected) in states.iter().zip(reference) {
            close(*state, expected, 1e-5, method.name());
        }
    }
}

/// The heat equation in 2,000 points between cold ends, sparse: sin(pi i / 2001) stays what it is and
/// decays with exp(-lambda t), lambda = 4 2001^2 sin^2(pi / 4002).
#[test]
fn heat_in_a_sparse_system() {
    let size = 2000;
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for column in 0..size {
        rows.extend(column.max(1) - 1..(column + 2).min(size));
        starts.push(rows.len());
    }
    let square = 2001.0 * 2001.0;
    let places = rows.clone();
    let system = Hand {
        pattern: Pattern::new_csc((size, size), starts, rows, vec![(); places.len()]),
        rates: Box::new(move |_, x, r| {
            for k in 0..size {
                let left = if k > 0 { x[k - 1] } else { 0.0 };
                let right = if k + 1 < size { x[k + 1] } else { 0.0 };
                r[k] = square * (left - 2.0 * x[k] + right);
            }
        }),
        jacobian: Box::new(move |_, _, j| {
            let mut column = 0;
            for (place, row) in places.iter().enumerate() {
                j[place] = if *row == column {
                    -2.0 * square
                } else {
                    square
                };
                // The last row of a column is the one below the diagonal.
                column += usize::from(*row == column + 1);
            }
        }),
    };
    let angle = std::f64::consts::PI / 2001.0;
    let start: Vec<f64> = (1..=size).map(|k| (angle * k as f64).sin()).collect();
    let decay = (-4.0 * square * (angle / 2.0).sin().powi(2) * 0.1_f64).exp();
    for (method, allowed) in [
        (Method::Bdf, 1e-5),
        (Method::Esdirk34, 1e-4),
        (Method::TrBdf2, 1e-4),
    ] {
        let settings = settings(method, 1e-6, 1e-8, size);
        let (states, counts) = run(&system, &settings, &start, 0.1, |_| ()).expect("it ends");
        for (state, start) in states.iter().zip(&start) {
            close(*state, start * decay, allowed, method.name());
        }
        assert!(counts.jacobians < counts.steps, "{}", method.name());
        assert!(counts.failed <= 2, "{}: {counts:?}", method.name());
    }
}

/// The states and the time until which the integrator comes, and what it says then.
fn fails(system: &dyn System, method: Method, start: &[f64]) -> (IntegratorError, Vec<f64>) {
    let settings = settings(method, 1e-6, 1e-6, system.size());
    let place = IntegratorStorage::default();
    let mut integrator = integrator(&place, system, &settings, 0.0, start).expect("it starts");
    for _ in 0..100_000 {
        if let Err(trouble) = integrator.step(2.0) {
            assert!(integrator.counts().rates < 20_000, "{trouble:?}");
            return (trouble, integrator.states().to_vec());
        }
        assert!(integrator.time() < 2.0, "{} went on", method.name());
    }
    panic!("{} does not end", method.name());
}

/// x' = 1/(1 - t) and x' = x^2, x(0) = 1: there is no solution past 1. A y' = -y beside it is not
/// to blame.
#[test]
fn a_pole_is_told_with_time_and_state() {
    let pole = full(
        2,
        |t, x, r| {
            r[0] = -x[0];
            r[1] = 1.0 / (1.0 - t);
        },
        |_, _, j| j.copy_from_slice(&[-1.0, 0.0, 0.0, 0.0]),
    );
    let square = full(
        2,
        |_, x, r| {
            r[0] = -x[0];
            r[1] = x[1] * x[1];
        },
        |_, x, j| j.copy_from_slice(&[-1.0, 0.0, 0.0, 2.0 * x[1]]),
    );
    for method in Method::ALL {
        for (system, exact) in [(&pole, 1e-9), (&square, 1e-3)] {
            let (trouble, states) = fails(system, method, &[1.0, 1.0]);
            let IntegratorError::StepTooSmall { time, state } = trouble else {
                panic!("{}: {trouble:?}", method.name());
            };
            assert!((time - 1.0).abs() < exact, "{}: {time}", method.name());
            assert_eq!(state, Some(1), "{}", method.name());
            assert!(states.iter().all(|state| state.is_finite()));
        }
    }
}

/// A rate that cannot be computed past t = 0.5: the steps get shorter and end there.
#[test]
fn a_rate_that_is_not_a_number_is_told() {
    let system = full(
        2,
        |t, x, r| {
            r[0] = -x[0];
            r[1] = if t > 0.5 { f64::NAN } else { x[0] };
        },
        |_, _, j| j.copy_from_slice(&[-1.0, 1.0, 0.0, 0.0]),
    );
    for method in Method::ALL {
        let (trouble, states) = fails(&system, method, &[1.0, 0.0]);
        let IntegratorError::NotFinite { time, state } = trouble else {
            panic!("{}: {trouble:?}", method.name());
        };
        assert!((time - 0.5).abs() < 1e-9, "{}: {time}", method.name());
        assert_eq!(state, Some(1), "{}", method.name());
        close(states[0], (-0.5_f64).exp(), 1e-4, method.name());
    }
    let infinite = full(1, |_, _, r| r[0] = f64::INFINITY, |_, _, j| j[0] = 0.0);
    for method in Method::ALL {
        let place = IntegratorStorage::default();
        let settings = settings(method, 1e-6, 1e-6, 1);
        let begun = integrator(&place, &infinite, &settings, 3.0, &[1.0]);
        let expected = IntegratorError::NotFinite {
            time: 3.0,
            state: Some(0),
        };
        assert_eq!(begun.err(), Some(expected));
    }
}

/// x' = -1/sqrt(x) ends at t = 2/3 with x = 0: sparse, beside states that go on, and with a
/// Jacobian that is infinite there.
#[test]
fn a_jacobian_that_is_not_finite_does_not_stay() {
    let size = 41;
    let system = Hand {
        pattern: sprs::CsMat::<f64>::eye_csc(size).map(|_| ()),
        rates: Box::new(|_, x, r| {
            for (x, r) in x.iter().zip(&mut *r) {
                *r = -x;
            }
            r[0] = -1.0 / x[0].sqrt();
        }),
        jacobian: Box::new(|t, x, j| {
            j.fill(-1.0);
            j[0] = 0.5 * x[0].powf(-1.5);
            // And wrong from the beginning in one place, for a while.
            if t == 0.0 {
                j[1] = f64::NAN;
            }
        }),
    };
    for method in Method::ALL {
        let (trouble, states) = fails(&system, method, &vec![1.0; size]);
        let (IntegratorError::NotFinite { time, state }
        | IntegratorError::StepTooSmall { time, state }) = trouble
        else {
            panic!("{}: {trouble:?}", method.name());
        };
        assert!((time - 2.0 / 3.0).abs() < 1e-3, "{}: {time}", method.name());
        assert_eq!(state, Some(0));
        close(states[1], (-2.0_f64 / 3.0).exp(), 1e-3, method.name());
    }
}

/// Every stop is hit to the last bit, however near, and values inside of the steps are right.
#[test]
fn stops_are_hit_exactly() {
    for method in Method::ALL {
        let system = oscillator();
        let settings = settings(method, 1e-6, 1e-6, 2);
        let place = IntegratorStorage::default();
        let begun = integrator(&place, &system, &settings, 0.0, &[1.0, 0.0]);
        let mut integrator = begun.expect("it starts");
        let gaps = [0.0, 1e-18, 1e-13, 1e-9, 1e-6, 1e-3, 0.3, 2.0];
        for round in 0..5 {
            for gap in gaps {
                let stop = integrator.time() + gap;
                for k in 0.. {
                    integrator.step(stop).expect("it goes on");
                    assert!(integrator.time() <= stop && integrator.before() <= stop);
                    let error = inside(&*integrator, f64::cos);
                    assert!(error < 5e-4, "{} {round} {gap:e}: {error:e}", method.name());
                    assert!(k < 2000, "{}", method.name());
                    if integrator.time() == stop {
                        break;
                    }
                }
                // The next double is a stop too.
                let next = stop.next_up();
                integrator.step(next).expect("it goes on");
                assert_eq!(integrator.time(), next);
            }
        }
    }
}

/// What stops cost: some steps each for BDF, which has to grow again, one for the others.
#[test]
fn stops_do_not_ruin_the_step_size() {
    for (method, each) in [
        (Method::Bdf, 8.0),
        (Method::Esdirk34, 1.1),
        (Method::TrBdf2, 1.1),
        (Method::Tsit45, 1.1),
    ] {
        let steps = |stops: usize| {
            let system = oscillator();
            let settings = settings(method, 1e-6, 1e-6, 2);
            let place = IntegratorStorage::default();
            let begun = integrator(&place, &system, &settings, 0.0, &[1.0, 0.0]);
            let mut integrator = begun.expect("it starts");
            for k in 1..=stops {
                let stop = 600.0 * k as f64 / stops as f64;
                while integrator.time() < stop {
                    integrator.step(stop).expect("it goes on");
                }
            }
            integrator.counts().steps as f64
        };
        let (none, many) = (steps(1), steps(1000));
        assert!(
            many - none <= 1000.0 * each,
            "{}: {none} steps without, {many} with stops",
            method.name()
        );
    }
}

/// At 1e11 a double has steps of 1.5e-5; before it, times of 1e-6 count.
#[test]
fn large_times() {
    for method in Method::ALL {
        let system = decay();
        let settings = settings(method, 1e-6, 1e-6, 1);
        let place = IntegratorStorage::default();
        let begun = integrator(&place, &system, &settings, 1e11, &[1.0]);
        let mut integrator = begun.expect("it starts");
        for seconds in [1.0, 2.0, 5.0] {
            while integrator.time() < 1e11 + seconds {
                integrator.step(1e11 + seconds).expect("it goes on");
            }
            close(
                integrator.states()[0],
                (-seconds).exp(),
                1e-3,
                method.name(),
            );
        }
    }
}

/// After an event: other states, another right side, another Jacobian. x' = -k (x - level) jumps to
/// level + 1 every second, where k and the level change; the closed form is an exponential.
#[test]
fn restarts_forget_what_was() {
    use std::{cell::Cell, rc::Rc};
    for method in Method::ALL {
        for same_size in [false, true] {
            let fast = Rc::new(Cell::new(1.0));
            let (first, second) = (fast.clone(), fast.clone());
            let system = full(
                1,
                move |_, x, r| r[0] = -first.get() * (x[0] - first.get()),
                move |_, _, j| j[0] = -second.get(),
            );
            let settings = settings(method, 1e-7, 1e-9, 1);
            let place = IntegratorStorage::default();
            let begun = integrator(&place, &system, &settings, 0.0, &[2.0]);
            let mut integrator = begun.expect("it starts");
            for k in 1..=20 {
                let level = fast.get();
                let exact = |t: f64| level + (-level * (t - f64::from(k - 1))).exp();
                while integrator.time() < f64::from(k) {
                    integrator.step(f64::from(k)).expect("it goes on");
                    let error = inside(&*integrator, exact);
                    assert!(error < 1e-4, "{} {k}: {error:e}", method.name());
                }
                fast.set([1.0, 50.0, 0.1][k as usize % 3]);
                let jumped = integrator.restart(f64::from(k), &[fast.get() + 1.0], same_size);
                jumped.expect("it begins anew");
                assert_eq!(integrator.before(), f64::from(k));
                assert_eq!(integrator.states(), [fast.get() + 1.0]);
                let mut states = [0.0];
                integrator.interpolate(f64::from(k), &mut states);
                assert_eq!(states, [fast.get() + 1.0]);
            }
            let counts = integrator.counts();
            assert!(counts.steps < 200 * 20, "{}: {counts:?}", method.name());
        }
    }
}

#[test]
fn no_step_is_longer_than_the_longest() {
    for method in Method::ALL {
        let settings = Settings {
            longest: Some(0.05),
            ..settings(method, 1e-3, 1e-3, 1)
        };
        let mut steps = 0;
        run(&decay(), &settings, &[1.0], 10.0, |integrator| {
            steps += 1;
            let size = integrator.time() - integrator.before();
            assert!(size <= 0.05 * (1.0 + 1e-9), "{}: {size}", method.name());
        })
        .expect("it ends");
        assert!(steps < 260, "{}: {steps}", method.name());
    }
}

/// Nothing moves until t = 1, and then it does; and a state of zero may have no absolute tolerance.
#[test]
fn a_late_start() {
    let system = full(
        2,
        |t, _, r| {
            r[0] = (t - 1.0).max(0.0);
            r[1] = 0.0;
        },
        |_, _, j| j.fill(0.0),
    );
    for method in Method::ALL {
        let settings = Settings {
            absolute: vec![1e-9, 0.0],
            longest: Some(0.5),
            ..settings(method, 1e-6, 0.0, 2)
        };
        let (states, _) = run(&system, &settings, &[0.0, 0.0], 3.0, |_| ()).expect("it ends");
        close(states[0], 2.0, 1e-4, method.name());
        assert_eq!(states[1], 0.0);
    }
}

#[test]
fn without_states_only_time_goes_on() {
    let system = full(0, |_, _, _| (), |_, _, _| ());
    let settings = Settings {
        longest: Some(0.4),
        ..settings(Method::Bdf, 1e-6, 1e-6, 0)
    };
    let mut times = Vec::new();
    run(&system, &settings, &[], 1.0, |integrator| {
        times.push(integrator.time());
    })
    .expect("it ends");
    assert_eq!(times, [0.4, 0.8, 1.0]);
}

#[test]
fn a_place_holds_one_integrator() {
    let system = decay();
    let settings = settings(Method::Bdf, 1e-6, 1e-6, 1);
    let place = IntegratorStorage::default();
    integrator(&place, &system, &settings, 0.0, &[1.0]).expect("it starts");
    let second = integrator(&place, &system, &settings, 0.0, &[1.0]);
    assert!(matches!(second.err(), Some(IntegratorError::Other(_))));
    let place = IntegratorStorage::default();
    let unfit = integrator(&place, &system, &settings, 0.0, &[1.0, 2.0]);
    assert!(matches!(unfit.err(), Some(IntegratorError::Other(_))));
}
