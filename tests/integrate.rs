//! The integrators on systems written by hand, against closed forms and published references.

use bgm::simulate::integrate::{
    Counts, Integrator, Method, Pattern, Place, Settings, System, Trouble, integrator,
};

type Rates = Box<dyn Fn(f64, &[f64], &mut [f64])>;

struct Hand {
    pattern: Pattern,
    rates: Rates,
    jacobian: Rates,
}

impl System for Hand {
    fn size(&self) -> usize {
        self.pattern.size
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
        pattern: Pattern {
            size,
            starts: (0..=size).map(|column| column * size).collect(),
            rows: (0..size * size).map(|place| place % size).collect(),
        },
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

/// Steps to `stop`, calling `each` after each step.
fn run(
    system: &dyn System,
    settings: &Settings,
    start: &[f64],
    stop: f64,
    mut each: impl FnMut(&dyn Integrator),
) -> Result<(Vec<f64>, Counts), Trouble> {
    let place = Place::default();
    let mut integrator = integrator(&place, system, settings, 0.0, start)?;
    while integrator.time() < stop {
        integrator.step(stop)?;
        each(&*integrator);
    }
    assert_eq!(integrator.time(), stop);
    Ok((integrator.states().to_vec(), integrator.counts()))
}

#[test]
fn explore() {
    for method in Method::ALL {
        for tol in [1e-3, 1e-6, 1e-9, 1e-12] {
            let s = settings(method, tol, tol, 1);
            let system = decay();
            let mut worst: f64 = 0.0;
            let r = run(&system, &s, &[1.0], 10.0, |i| {
                let mut x = [0.0];
                for k in 0..=10 {
                    let t = i.before() + (i.time() - i.before()) * k as f64 / 10.0;
                    i.interpolate(t, &mut x);
                    worst = worst.max((x[0] - (-t).exp()).abs());
                }
            });
            let (x, c) = r.unwrap();
            println!(
                "decay {} {tol:e}: end {:e} inside {worst:e} {c:?}",
                method.name(),
                x[0] - (-10f64).exp()
            );
            let s = settings(method, tol, tol, 2);
            let system = oscillator();
            let stop = 200.0 * std::f64::consts::PI;
            if method == Method::TrBdf2 && tol < 1e-8 || tol < 1e-10 && method != Method::Tsit45 {
                continue;
            }
            let mut worst: f64 = 0.0;
            let (x, c) = run(&system, &s, &[1.0, 0.0], stop, |i| {
                let mut x = [0.0; 2];
                for k in 0..=10 {
                    let t = i.before() + (i.time() - i.before()) * k as f64 / 10.0;
                    i.interpolate(t, &mut x);
                    worst = worst.max((x[0] - t.cos()).abs());
                }
            })
            .unwrap();
            println!(
                "osc {} {tol:e}: end {:e} inside {worst:e} {c:?}",
                method.name(),
                x[0] - 1.0
            );
        }
    }
    for method in Method::ALL {
        if method == Method::Tsit45 {
            continue;
        }
        for tol in [1e-6, 1e-8, 1e-9, 1e-10] {
            if method == Method::TrBdf2 && tol < 1e-8 {
                continue;
            }
            let s = settings(method, tol, tol * 1e-3, 8);
            let now = std::time::Instant::now();
            let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
            match run(&hires(), &s, &start, 321.8122, |_| ()) {
                Ok((x, c)) => println!(
                    "hires {} {tol:e}: y1 {:e} y8 {:e} {c:?} {:?}",
                    method.name(),
                    x[0] / 0.7371312573325668e-3 - 1.0,
                    x[7] / 0.2850001604814231e-2 - 1.0,
                    now.elapsed()
                ),
                Err(e) => println!("hires {} {tol:e}: {e:?}", method.name()),
            }
            let s = settings(method, tol, 1e-18, 3);
            let now = std::time::Instant::now();
            match run(&robertson(), &s, &[1.0, 0.0, 0.0], 1e11, |_| ()) {
                Ok((x, c)) => println!(
                    "robertson {} {tol:e}: {:e} {:e} {:e} {c:?} {:?}",
                    method.name(),
                    x[0] / 0.2083340149701255e-7 - 1.0,
                    x[1] / 0.8333360770334713e-13 - 1.0,
                    x[2] / 0.9999999791665050 - 1.0,
                    now.elapsed()
                ),
                Err(e) => println!("robertson {} {tol:e}: {e:?}", method.name()),
            }
        }
    }
}

fn stops(
    system: &dyn System,
    s: &Settings,
    start: &[f64],
    stop: f64,
    n: usize,
    off: f64,
) -> (Vec<f64>, Counts) {
    let place = Place::default();
    let mut i = integrator(&place, system, s, 0.0, start).unwrap();
    for k in 1..=n {
        let t = if k == n {
            stop
        } else {
            stop * (k as f64 + off) / n as f64
        };
        while i.time() < t {
            i.step(t).unwrap();
        }
        assert_eq!(i.time(), t);
    }
    (i.states().to_vec(), i.counts())
}

#[test]
fn explore_stops() {
    for method in Method::ALL {
        for n in [1, 100, 1000, 10000] {
            let (x, c) = stops(
                &oscillator(),
                &settings(method, 1e-6, 1e-6, 2),
                &[1.0, 0.0],
                200.0 * std::f64::consts::PI,
                n,
                0.3,
            );
            println!("osc {} {n}: err {:e} {c:?}", method.name(), x[0] - 1.0);
            if method == Method::Tsit45 {
                continue;
            }
            let (x, c) = stops(
                &hires(),
                &settings(method, 1e-6, 1e-9, 8),
                &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057],
                321.8122,
                n,
                0.3,
            );
            println!(
                "hires {} {n}: err {:e} {c:?}",
                method.name(),
                x[0] / 0.7371312573325668e-3 - 1.0
            );
        }
    }
}

#[test]
fn explore_slivers() {
    // Stops just behind where the integrator stands.
    for method in Method::ALL {
        for gap in [1e-15, 1e-13, 1e-9, 1e-5] {
            let place = Place::default();
            let system = oscillator();
            let s = settings(method, 1e-6, 1e-6, 2);
            let mut i = integrator(&place, &system, &s, 0.0, &[1.0, 0.0]).unwrap();
            let mut worst: f64 = 0.0;
            let mut inside: f64 = 0.0;
            while i.time() < 10.0 {
                let stop =
                    (i.time() + if i.counts().steps % 10 == 9 { gap } else { 1.0 }).min(10.0);
                i.step(stop).unwrap();
                worst = worst.max((i.states()[0] - i.time().cos()).abs());
                let mut x = [0.0; 2];
                for k in 0..=10 {
                    let t = i.before() + (i.time() - i.before()) * k as f64 / 10.0;
                    i.interpolate(t, &mut x);
                    inside = inside.max((x[0] - t.cos()).abs());
                }
                if i.counts().steps > 100000 || gap < 1e-12 && i.counts().steps % 10 == 9 {
                    i.step((i.time() + 0.01).min(10.0)).unwrap();
                }
                if i.counts().steps > 200000 {
                    break;
                }
            }
            println!(
                "sliver {} {gap:e}: {} err {worst:e} inside {inside:e} {:?}",
                method.name(),
                i.time(),
                i.counts()
            );
        }
    }
}

#[test]
fn explore_trouble() {
    for method in Method::ALL {
        let pole = full(1, |t, _, r| r[0] = 1.0 / (1.0 - t), |_, _, j| j[0] = 0.0);
        let square = full(1, |_, x, r| r[0] = x[0] * x[0], |_, x, j| j[0] = 2.0 * x[0]);
        let root = full(
            1,
            |_, x, r| r[0] = -1.0 / x[0].sqrt(),
            |_, x, j| j[0] = 0.5 * x[0].powf(-1.5),
        );
        let nan = full(
            2,
            |t, x, r| {
                r[0] = -x[0];
                r[1] = if t > 0.5 { f64::NAN } else { x[0] }
            },
            |_, _, j| j.copy_from_slice(&[-1.0, 1.0, 0.0, 0.0]),
        );
        let jnan = full(
            2,
            |_, x, r| {
                r[0] = -x[0];
                r[1] = x[0]
            },
            |t, _, j| j.copy_from_slice(&[if t > 0.5 { f64::NAN } else { -1.0 }, 1.0, 0.0, 0.0]),
        );
        let zero = full(1, |_, _, r| r[0] = f64::INFINITY, |_, _, j| j[0] = 0.0);
        for (name, sys, x0) in [
            ("pole", &pole, vec![0.0]),
            ("square", &square, vec![1.0]),
            ("root", &root, vec![1.0]),
            ("nan", &nan, vec![1.0, 0.0]),
            ("jnan", &jnan, vec![1.0, 0.0]),
            ("zero", &zero, vec![1.0]),
        ] {
            for big in [false, true] {
                // As a part of a larger, sparse system.
                let size = sys.size() + if big { 40 } else { 0 };
                let inner = sys;
                let n0 = inner.size();
                let system = Wide {
                    inner,
                    size,
                    pattern: Pattern {
                        size,
                        starts: (0..=size)
                            .map(|c| if c <= n0 { c * n0 } else { n0 * n0 + c - n0 })
                            .collect(),
                        rows: (0..n0 * n0).map(|p| p % n0).chain(n0..size).collect(),
                    },
                };
                let mut start = x0.clone();
                start.resize(size, 1.0);
                let s = settings(method, 1e-6, 1e-6, size);
                let now = std::time::Instant::now();
                let place = Place::default();
                let text = match integrator(&place, &system, &s, 0.0, &start) {
                    Err(t) => format!("at start {t:?}"),
                    Ok(mut i) => loop {
                        if i.time() >= 2.0 {
                            break format!("went through: {:?} {:?}", &i.states()[..n0], i.counts());
                        }
                        if let Err(t) = i.step(2.0) {
                            break format!("{t:?} states {:?} {:?}", &i.states()[..n0], i.counts());
                        }
                    },
                };
                println!("{} {name} {big}: {text} {:?}", method.name(), now.elapsed());
            }
        }
    }
}

struct Wide<'a> {
    inner: &'a Hand,
    size: usize,
    pattern: Pattern,
}
impl System for Wide<'_> {
    fn size(&self) -> usize {
        self.size
    }
    fn rates(&self, t: f64, x: &[f64], r: &mut [f64]) {
        let n = self.inner.size();
        self.inner.rates(t, &x[..n], &mut r[..n]);
        for k in n..self.size {
            r[k] = -x[k];
        }
    }
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
    fn jacobian(&self, t: f64, x: &[f64], j: &mut [f64]) {
        let n = self.inner.size();
        self.inner.jacobian(t, &x[..n], &mut j[..n * n]);
        j[n * n..].fill(-1.0);
    }
}

#[test]
fn explore_restarts() {
    // A sawtooth: x' = v with v = +1 or -1, through a filter.
    for method in Method::ALL {
        for same in [false, true] {
            let sign = std::rc::Rc::new(std::cell::Cell::new(1.0));
            let inner = sign.clone();
            let system = full(
                2,
                move |_, x, r| {
                    r[0] = inner.get();
                    r[1] = 10.0 * (x[0] - x[1]);
                },
                |_, _, j| j.copy_from_slice(&[0.0, 10.0, 0.0, -10.0]),
            );
            let s = settings(method, 1e-6, 1e-6, 2);
            let place = Place::default();
            let mut i = integrator(&place, &system, &s, 0.0, &[0.0, 0.0]).unwrap();
            for k in 1..=100 {
                while i.time() < k as f64 {
                    i.step(k as f64).unwrap();
                }
                sign.set(-sign.get());
                let x = i.states().to_vec();
                i.restart(k as f64, &x, same).unwrap();
            }
            println!(
                "restart {} {same} {:?} {:?}",
                method.name(),
                i.states(),
                i.counts()
            );
        }
    }
}
