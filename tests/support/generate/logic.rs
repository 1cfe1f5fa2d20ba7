//! Random models with clutches, impacts, `when` and `sample` logic. A model is a case with numbers; its judge knows the same numbers.

use crate::support::random::Random;

#[derive(Clone, Debug)]
pub enum Case {
    /// A ball on a table that swings: height, speed, restitution, amplitude and frequency of the table.
    Ball {
        h: f64,
        v: f64,
        e: f64,
        a: f64,
        w: f64,
    },
    /// Masses on a line between two walls that throw them back: positions, speeds, masses, restitution.
    Line {
        x: Vec<f64>,
        v: Vec<f64>,
        m: Vec<f64>,
        e: f64,
    },
    /// Two inertias, a clutch that holds so much, torques, frequency.
    Clutch {
        j: [f64; 2],
        w: [f64; 2],
        most: f64,
        drive: f64,
        load: f64,
        f: f64,
        at: f64,
    },
    /// A controller that samples: gains, period, first sample, limit; a plant of second order.
    Sampled {
        k: f64,
        i: f64,
        period: f64,
        first: f64,
        limit: f64,
        d: f64,
    },
    /// A thermostat: limits, power, loss; a counter, and a second one that follows it.
    Thermostat {
        low: f64,
        high: f64,
        power: f64,
        loss: f64,
        w: f64,
    },
    /// A tank with a pump that a `when` with `elsewhen` switches.
    Levels {
        fill: f64,
        drain: f64,
        marks: [f64; 3],
        w: f64,
    },
}

pub const UNTIL: f64 = 2.0;

impl Case {
    pub fn generate(random: &mut Random) -> Case {
        let mut r = |low: f64, high: f64| (random.real(low, high) * 1e4).round() / 1e4;
        let kind = r(0.0, 6.0) as usize;
        match kind {
            0 => Case::Ball {
                h: r(0.8, 2.0),
                v: r(-1.0, 2.0),
                e: r(0.8, 0.95),
                a: r(0.0, 0.2),
                w: r(2.0, 7.0),
            },
            1 => {
                let n = 1 + r(0.0, 2.99) as usize;
                Case::Line {
                    x: (0..n).map(|at| at as f64 + r(0.2, 0.8)).collect(),
                    v: (0..n).map(|_| r(-3.0, 3.0)).collect(),
                    m: (0..n).map(|_| r(0.5, 2.0)).collect(),
                    e: r(0.4, 1.0),
                }
            }
            2 => Case::Clutch {
                j: [r(0.5, 2.0), r(0.5, 2.0)],
                w: [r(-5.0, 5.0), r(-5.0, 5.0)],
                most: r(1.0, 6.0),
                drive: r(0.0, 8.0),
                load: r(0.0, 3.0),
                f: r(1.0, 8.0),
                at: r(0.1, 1.0),
            },
            3 => Case::Sampled {
                k: r(0.5, 4.0),
                i: r(0.0, 3.0),
                period: r(0.03, 0.4),
                first: r(0.0, 0.3),
                limit: r(0.3, 4.0),
                d: r(0.1, 2.0),
            },
            4 => {
                let low = r(15.0, 20.0);
                Case::Thermostat {
                    low,
                    high: low + r(0.3, 4.0),
                    power: r(60.0, 120.0),
                    loss: r(0.5, 2.5),
                    w: r(1.0, 5.0),
                }
            }
            _ => Case::Levels {
                fill: r(1.0, 3.0),
                drain: r(0.5, 2.5),
                marks: [r(0.2, 0.5), r(0.5, 0.8), r(0.8, 1.1)],
                w: r(1.0, 6.0),
            },
        }
    }

    /// The model, and what is compared.
    pub fn text(&self) -> (String, Vec<String>) {
        let (body, names) = match self {
            Case::Ball { h, v, e, a, w } => (
                format!(
                    "local h, v, s, r, n
  der(h) = v
  der(v) = -9.81
  s = {a}*sin({w}*Time)
  r = {a}*{w}*cos({w}*Time)
  when h < s then
    init(v) = r - {e}*(v - r)
    new(n) = n + 1
  endwhen
  init(h) = {h}
  init(v) = {v}"
                ),
                "h v n".to_string(),
            ),
            Case::Line { x, v, m, e } => line(x, v, m, *e),
            Case::Clutch {
                j: [j1, j2],
                w: [w1, w2],
                most,
                drive,
                load,
                f,
                at,
            } => (
                format!(
                    "local w1, w2, T, locked, s
  {j1}*der(w1) = {drive}*sin({f}*Time) - T
  {j2}*der(w2) = T - (if Time < {at} then 0 else {load})
  0 = if locked then w1 - w2 else T - s*{most}
  new(locked) = if locked then T < {most} and T > -{most} else s*(w1 - w2) < 0
  new(s) = if not locked then s elseif T > 0 then 1 else -1
  init(s) = {s}
  init(w1) = {w1}
  init(w2) = {w2}",
                    s = if w1 > w2 { 1 } else { -1 }
                ),
                "w1 w2 locked".to_string(),
            ),
            Case::Sampled {
                k,
                i,
                period,
                first,
                limit,
                d,
            } => (
                format!(
                    "local x, v, u, z, y
  der(x) = v
  der(v) = u - {d}*v - x
  when sample({first}, {period}) then
    new(z) = z + {period}*(1 - x)
    new(u) = min({limit}, max(-{limit}, {k}*(1 - x) + {i}*(z + {period}*(1 - x))))
  endwhen
  y = u + z"
                ),
                "x v y".to_string(),
            ),
            Case::Thermostat {
                low,
                high,
                power,
                loss,
                w,
            } => (
                format!(
                    "local T, on, n, m
  der(T) = (if on then {power} else 0) - {loss}*(T - 5*sin({w}*Time))
  new(on) = if on then T < {high} else T < {low}
  when on then
    new(n) = n + 1
  endwhen
  when n > 2.5 then
    new(m) = n + Time
  endwhen
  init(T) = {}",
                    low - 3.0
                ),
                "T n m".to_string(),
            ),
            Case::Levels {
                fill,
                drain,
                marks: [a, b, c],
                w,
            } => (
                format!(
                    "local h, q, k
  der(h) = q*{fill} - {drain}*(1 + 0.5*sin({w}*Time))*h
  when h < {a} then
    new(q) = 2
    new(k) = k + 1
  elsewhen h > {c} then
    new(q) = 0
    new(k) = k + 10
  elsewhen h > {b} then
    new(q) = 1
    new(k) = k + 100
  endwhen
  init(q) = 2
  init(h) = {}",
                    a + 0.05
                ),
                "h q k".to_string(),
            ),
        };
        let text = format!("model M\n  {body}\nend\n");
        (text, names.split_whitespace().map(str::to_string).collect())
    }
}

fn line(x: &[f64], v: &[f64], m: &[f64], e: f64) -> (String, String) {
    let n = x.len();
    let list =
        |letter: &str| -> Vec<String> { (1..=n).map(|at| format!("{letter}{at}")).collect() };
    let mut lines = vec![format!(
        "local {}, {}",
        list("x").join(", "),
        list("v").join(", ")
    )];
    for at in 1..=n {
        lines.push(format!("der(x{at}) = v{at}"));
        lines.push(format!("der(v{at}) = -0.3*v{at}"));
        lines.push(format!("init(x{at}) = {}", x[at - 1]));
        lines.push(format!("init(v{at}) = {}", v[at - 1]));
    }
    lines.push(format!(
        "when x1 < 0 then\n    init(v1) = -{e}*v1\n  endwhen"
    ));
    lines.push(format!(
        "when x{n} > {n} then\n    init(v{n}) = -{e}*v{n}\n  endwhen"
    ));
    for at in 1..n {
        let (a, b) = (m[at - 1], m[at]);
        let (one, two) = (format!("v{at}"), format!("v{}", at + 1));
        let sum = a + b;
        lines.push(format!(
            "when x{} - x{at} < 0 then
    init({one}) = ({a}*{one} + {b}*{two} - {e}*{b}*({one} - {two}))/{sum}
    init({two}) = ({a}*{one} + {b}*{two} + {e}*{a}*({one} - {two}))/{sum}
  endwhen",
            at + 1
        ));
    }
    let names = format!("{} {}", list("x").join(" "), list("v").join(" "));
    (lines.join("\n  "), names)
}
