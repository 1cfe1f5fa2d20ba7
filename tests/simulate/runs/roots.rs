//! Rates with unbounded slopes and with corners, by every method: no step may pass over them unseen.

use bgm::simulate::integrate::Method;

use crate::support::trial::{Trial, within};

fn by_every_method(text: &str, until: f64, check: impl Fn(Method, &[f64]), names: &[&str]) {
    for method in Method::ALL {
        let result = Trial::of(text, until).method(method).run(names);
        check(method, result.last());
    }
}

/// Two tanks with turbulent pipes, empty at the start, where both slopes are infinite. The values are those of SciPy's DOP853
/// and Radau at a tolerance of 1e-10.
#[test]
fn tanks() {
    let text = "model Tanks\n output x, y
        der(x) = 1 - sign(x - y)*sqrt(abs(x - y))
        der(y) = sign(x - y)*sqrt(abs(x - y)) - sign(y)*sqrt(abs(y))\nend";
    let check = |method: Method, last: &[f64]| {
        let off = (last[0] - 1.78988314).abs() + (last[1] - 0.87106568).abs();
        assert!(off <= 3e-6, "{}: {off:e}", method.name());
    };
    by_every_method(text, 10.0, check, &["x", "y"]);
    // The tolerance that is used where none is given.
    for method in Method::ALL {
        let trial = Trial::of(text, 10.0).tolerance(1e-6, 1e-9).method(method);
        let result = trial.run(&["x", "y"]);
        let off = (result.last()[0] - 1.78988314).abs();
        assert!(off <= 3e-5, "{}: {off:e}", method.name());
    }
}

/// A tank that runs empty: (1 - t/2)**2 until 2, then nothing.
#[test]
fn empty() {
    let text = "model M\n output x\n init(x) = 1\n der(x) = -sign(x)*sqrt(abs(x))\nend";
    for method in Method::ALL {
        let result = Trial::of(text, 3.0).method(method).run(&["x"]);
        within(result.off(0, |t| (1.0 - t / 2.0).max(0.0).powi(2)), 1e-5);
    }
}

/// The same by the third root: (1 - 2 t/3)**1.5.
#[test]
fn third_root() {
    let text = "model M\n output x\n init(x) = 1\n der(x) = -sign(x)*abs(x)**(1/3)\nend";
    for method in Method::ALL {
        let result = Trial::of(text, 3.0).method(method).run(&["x"]);
        within(
            result.off(0, |t| (1.0 - 2.0 * t / 3.0).max(0.0).powf(1.5)),
            1e-5,
        );
    }
}

/// Through the root of zero in mid-run: the time from -a to 0, and from 0 to a, is 2 (sqrt(a) - ln(1 + sqrt(a))).
#[test]
fn through_a_root() {
    let text = "model M\n output x\n init(x) = -0.25\n der(x) = 1 + sqrt(abs(x))\nend";
    let way = |a: f64| 2.0 * (a.sqrt() - (1.0 + a.sqrt()).ln());
    let check = |method: Method, last: &[f64]| {
        let off = (way(0.25) + way(last[0]) - 2.0).abs();
        assert!(off <= 1e-5, "{}: {off:e}", method.name());
    };
    by_every_method(text, 2.0, check, &["x"]);
}

/// Corners of an absolute value and of a table, each in mid-run.
#[test]
fn corners() {
    let text = "model M\n output x, y\n init(x) = -1
        der(x) = 1 + abs(x)\n der(y) = table(y, [0, 1, 2], [1, 1, 3])\nend";
    let check = |method: Method, last: &[f64]| {
        let x = 1.5_f64.exp() / 2.0 - 1.0;
        let y = 1.0 + (1.0_f64.exp() - 1.0) / 2.0;
        let off = (last[0] - x).abs() + (last[1] - y).abs();
        assert!(off <= 1e-5, "{}: {off:e}", method.name());
    };
    by_every_method(text, 1.5, check, &["x", "y"]);
}

/// A third root whose argument changes sign again and again: the level follows a sine.
#[test]
fn crossings() {
    let text =
        "model M\n output x\n local d\n d = sin(3*Time) - x\n der(x) = 2*sign(d)*sqrt(abs(d))\nend";
    let rates = |t: f64, x: &[f64], out: &mut [f64]| {
        let d = (3.0 * t).sin() - x[0];
        out[0] = 2.0 * d.signum() * d.abs().sqrt();
    };
    let truth = runge_kutta(&rates, &[0.0], 6.0, 600_000);
    let check = |method: Method, last: &[f64]| {
        let off = (last[0] - truth[0]).abs();
        assert!(off <= 2e-5, "{}: {off:e}", method.name());
    };
    by_every_method(text, 6.0, check, &["x"]);
}

/// The rates at a time and a state.
type Rates<'r> = dyn Fn(f64, &[f64], &mut [f64]) + 'r;

/// Classical Runge and Kutta with equal steps, so short that the roots do no harm.
fn runge_kutta(rates: &Rates<'_>, start: &[f64], until: f64, steps: usize) -> Vec<f64> {
    let (size, h) = (start.len(), until / steps as f64);
    let mut x = start.to_vec();
    let mut k = vec![vec![0.0; size]; 4];
    let mut moved = x.clone();
    for step in 0..steps {
        let t = step as f64 * h;
        for stage in 0..4 {
            let part = [0.0, 0.5, 0.5, 1.0][stage] * h;
            for at in 0..size {
                let before = if stage == 0 { 0.0 } else { k[stage - 1][at] };
                moved[at] = x[at] + part * before;
            }
            let mut out = std::mem::take(&mut k[stage]);
            rates(t + part, &moved, &mut out);
            k[stage] = out;
        }
        for at in 0..size {
            x[at] += h / 6.0 * (k[0][at] + 2.0 * k[1][at] + 2.0 * k[2][at] + k[3][at]);
        }
    }
    x
}

/// Rows of tanks of random widths and pipes, some of which are empty at the start, filled from one end.
#[test]
fn random_tanks() {
    let cases: u64 = std::env::var("BGM_CASES").map_or(6, |text| text.parse().expect("a number"));
    for seed in 0..cases {
        let mut random = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as f64 / (1u64 << 53) as f64
        };
        let size = 2 + (3.0 * next()) as usize;
        let width: Vec<f64> = (0..size).map(|_| 0.5 + next()).collect();
        let pipe: Vec<f64> = (0..size).map(|_| 0.3 + 2.0 * next()).collect();
        let start: Vec<f64> = (0..size).map(|_| (2.0 * next() - 1.0).max(0.0)).collect();
        let mut text = "model M\n".to_string();
        for k in 0..size {
            let below = if k + 1 < size {
                format!(" - x{}", k + 1)
            } else {
                String::new()
            };
            let inflow = if k == 0 {
                "1".to_string()
            } else {
                format!("q{}", k - 1)
            };
            text += &format!(
                " output x{k}\n local q{k}, d{k}\n d{k} = x{k}{below}\n init(x{k}) = {}\n",
                start[k]
            );
            text += &format!(
                " q{k} = {}*sign(d{k})*sqrt(abs(d{k}))\n {}*der(x{k}) = {inflow} - q{k}\n",
                pipe[k], width[k]
            );
        }
        text += "end";
        let rates = |_: f64, x: &[f64], out: &mut [f64]| {
            let mut inflow = 1.0;
            for k in 0..size {
                let d: f64 = x[k] - x.get(k + 1).copied().unwrap_or(0.0);
                let q = if d == 0.0 {
                    0.0
                } else {
                    pipe[k] * d.signum() * d.abs().sqrt()
                };
                out[k] = (inflow - q) / width[k];
                inflow = q;
            }
        };
        let truth = runge_kutta(&rates, &start, 5.0, 500_000);
        let names: Vec<String> = (0..size).map(|k| format!("x{k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for method in Method::ALL {
            let result = Trial::of(&text, 5.0).method(method).run(&names);
            let off = (result.last().iter().zip(&truth)).fold(0.0_f64, |worst, (found, truth)| {
                worst.max((found - truth).abs())
            });
            assert!(
                off <= 1e-4,
                "seed {seed}, {}: {off:e}\n{text}",
                method.name()
            );
        }
    }
}
