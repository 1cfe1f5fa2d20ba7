//! Simulation of a ladder of resistors and capacitors, against the same by hand on diffsol.
//!
//! `cargo bench --bench simulate` prints the table. C x_i' = (x_{i-1} - x_i)/R - (x_i - x_{i+1})/R
//! with R = C = 1, fed by 1 V, the last stage open, from 0 to t = 1000 at tolerance 1e-6 with 101
//! points. *By hand*: equations, pattern and Jacobian written straight on diffsol's traits.
//! *Integrator*: the same equations as a `System`, through bgm's integrators. *bgm*: the ladder as a
//! user writes it, of stages with a resistor and a capacitor; measured without the compilation.

#![allow(clippy::print_stdout)]

#[allow(dead_code)]
mod common;

use std::time::Instant;

use bgm::compile::{Aliases, Options, load_flat, solved};
use bgm::numeric::Pattern;
use bgm::program::build;
use bgm::simulate::integrate::{IntegratorStorage, Method, Settings, System, integrator};
use bgm::simulate::job::Job;
use bgm::simulate::run::{Absolute, End, Observer, Plan, RowKind, run};
use bgm::syntax::load::{Input, NoFiles};
use common::{asked, measure_apart, quick};
use diffsol::{
    ConstantOp, FaerContext, FaerSparseLU, FaerSparseMat, FaerVec, Matrix, NonLinearOp,
    NonLinearOpJacobian, OdeEquations, OdeEquationsRef, OdeSolverMethod, OdeSolverProblem, Op,
    UnitCallable, Vector, VectorCommon,
};
use faer::sparse::SymbolicSparseColMat;

const END: f64 = 1000.0;
const POINTS: usize = 101;
const TOLERANCE: f64 = 1e-6;

/// Times of the points.
fn point(k: usize) -> f64 {
    END * k as f64 / (POINTS - 1) as f64
}

fn rates(x: &[f64], r: &mut [f64]) {
    let last = x.len() - 1;
    let mut into = 1.0 - x[0];
    for k in 0..last {
        let on = x[k] - x[k + 1];
        r[k] = into - on;
        into = on;
    }
    r[last] = into;
}

/// Three diagonals, by columns.
fn pattern(size: usize) -> Pattern {
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for column in 0..size {
        rows.extend(column.saturating_sub(1)..(column + 2).min(size));
        starts.push(rows.len());
    }
    let entries = vec![(); rows.len()];
    Pattern::new_csc((size, size), starts, rows, entries)
}

fn jacobian(size: usize, entries: &mut [f64]) {
    let mut place = 0;
    for column in 0..size {
        for row in column.saturating_sub(1)..(column + 2).min(size) {
            entries[place] = match row == column {
                true if column + 1 == size => -1.0,
                true => -2.0,
                false => 1.0,
            };
            place += 1;
        }
    }
}

/// What a run gives: steps, seconds and the sum of the states over all points.
struct Run {
    steps: usize,
    seconds: f64,
    sum: f64,
}

/// The ladder on diffsol's own traits.
struct Direct {
    size: usize,
    context: FaerContext,
}

impl Op for Direct {
    type T = f64;
    type V = FaerVec<f64>;
    type M = FaerSparseMat<f64>;
    type C = FaerContext;
    fn context(&self) -> &FaerContext {
        &self.context
    }
    fn nstates(&self) -> usize {
        self.size
    }
    fn nout(&self) -> usize {
        self.size
    }
    fn nparams(&self) -> usize {
        0
    }
}

impl NonLinearOp for Direct {
    fn call_inplace(&self, x: &FaerVec<f64>, _t: f64, y: &mut FaerVec<f64>) {
        rates(x.inner().col_as_slice(0), y.inner_mut().col_as_slice_mut(0));
    }
}

impl NonLinearOpJacobian for Direct {
    /// The ladder is linear, but for its source.
    fn jac_mul_inplace(&self, _x: &FaerVec<f64>, _t: f64, v: &FaerVec<f64>, y: &mut FaerVec<f64>) {
        let y = y.inner_mut().col_as_slice_mut(0);
        rates(v.inner().col_as_slice(0), y);
        y[0] -= 1.0;
    }
    fn jacobian_inplace(&self, _x: &FaerVec<f64>, _t: f64, y: &mut FaerSparseMat<f64>) {
        jacobian(self.size, y.inner_mut()[0].val_mut());
    }
    fn jacobian_sparsity(&self) -> Option<SymbolicSparseColMat<usize>> {
        let (size, (starts, rows, _)) = (self.size, pattern(self.size).into_raw_storage());
        let pattern = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        Some(pattern)
    }
}

impl ConstantOp for Direct {
    fn call_inplace(&self, _t: f64, y: &mut FaerVec<f64>) {
        y.fill(0.0);
    }
}

impl<'a> OdeEquationsRef<'a> for Direct {
    type Mass = UnitCallable<FaerSparseMat<f64>>;
    type Rhs = &'a Direct;
    type Root = UnitCallable<FaerSparseMat<f64>>;
    type Init = &'a Direct;
    type Out = UnitCallable<FaerSparseMat<f64>>;
    type Reset = UnitCallable<FaerSparseMat<f64>>;
}

impl OdeEquations for Direct {
    fn rhs(&self) -> &Direct {
        self
    }
    fn mass(&self) -> Option<UnitCallable<FaerSparseMat<f64>>> {
        None
    }
    fn init(&self) -> &Direct {
        self
    }
    fn set_params(&mut self, _p: &FaerVec<f64>) {}
    fn get_params(&self, _p: &mut FaerVec<f64>) {}
}

fn by_hand(size: usize) -> Run {
    let start = Instant::now();
    let context = FaerContext::default();
    let problem = OdeSolverProblem {
        eqn: Direct { size, context },
        rtol: TOLERANCE,
        atol: FaerVec::from_element(size, TOLERANCE, context),
        t0: 0.0,
        h0: 1.0,
        integrate_out: false,
        sens_rtol: None,
        sens_atol: None,
        out_rtol: None,
        out_atol: None,
        param_rtol: None,
        param_atol: None,
        ic_options: Default::default(),
        ode_options: Default::default(),
    };
    let mut solver = problem.bdf::<FaerSparseLU<f64>>().expect("it starts");
    let mut states = FaerVec::zeros(size, context);
    let (mut sum, mut next) = (0.0, 0);
    while next < POINTS {
        while next < POINTS && point(next) <= solver.state().t {
            let done = solver.interpolate_inplace(point(next), &mut states);
            done.expect("the point lies in the last step");
            sum += states.inner().col_as_slice(0).iter().sum::<f64>();
            next += 1;
        }
        if next < POINTS {
            solver.step().expect("it goes on");
        }
    }
    Run {
        steps: solver.get_statistics().number_of_steps,
        seconds: start.elapsed().as_secs_f64(),
        sum,
    }
}

/// The ladder as a system of bgm's.
struct Ladder {
    pattern: Pattern,
}

impl System for Ladder {
    fn size(&self) -> usize {
        self.pattern.cols()
    }
    fn rates(&self, _time: f64, states: &[f64], out: &mut [f64]) {
        rates(states, out);
    }
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
    fn jacobian(&self, _time: f64, _states: &[f64], entries: &mut [f64]) {
        jacobian(self.pattern.cols(), entries);
    }
}

fn through_integrator(size: usize) -> Run {
    let start = Instant::now();
    let ladder = Ladder {
        pattern: pattern(size),
    };
    let settings = Settings {
        method: Method::Bdf,
        relative: TOLERANCE,
        absolute: vec![TOLERANCE; size],
        longest: None,
    };
    let mut states = vec![0.0; size];
    let place = IntegratorStorage::default();
    let begun = integrator(&place, &ladder, &settings, 0.0, &states);
    let mut integrator = begun.expect("it starts");
    let (mut sum, mut next) = (0.0, 0);
    while next < POINTS {
        while next < POINTS && point(next) <= integrator.time() {
            integrator.interpolate(point(next), &mut states);
            sum += states.iter().sum::<f64>();
            next += 1;
        }
        if next < POINTS {
            integrator.step(END).expect("it goes on");
        }
    }
    Run {
        steps: integrator.counts().steps as usize,
        seconds: start.elapsed().as_secs_f64(),
        sum,
    }
}

/// The ladder as a user writes it, compiled; the run is measured, from start values to rows.
fn as_a_model(size: usize) -> Run {
    let text = format!(
        "@electrical
model type Stage
  submodel (Resistor) R(R = 1)
  submodel (Capacitor) C(C = 1)
  submodel (Ground) G
  cut A(va / ia), B(vb / ib)
  node n
  connect R from A to n, C from n to G, B at n
end
model Ladder
  submodel (VoltageSource) U
  submodel (Ground) G
  submodel (Stage) s[{size}]
  connect G - U - s[1]:A
  for k in 1 to {size} - 1 do connect s[k]:B at s[k + 1]:A endfor
  U.E0 = 1
end"
    );
    let input = Input::Standard(text.into_bytes());
    let compiled = load_flat(&input, &Options::default(), &NoFiles);
    let mut said = compiled.diagnostics;
    let flat = compiled.flat.unwrap_or_else(|| panic!("{said:?}"));
    let mut model = solved(flat, Aliases::Eliminate, &mut said)
        .expect("it can be solved")
        .solved;
    let states: Vec<_> = model.flat.states().collect();
    assert_eq!(states.len(), size);
    let columns: Vec<_> = (states.into_iter())
        .map(|state| model.flat.exprs.leaf(state))
        .collect();
    let program = build(&model, &columns);
    let start = Instant::now();
    let plan = Plan {
        times: (0..POINTS).map(point).collect(),
        method: Method::Bdf,
        relative: TOLERANCE,
        absolute: Absolute {
            all: TOLERANCE,
            single: Vec::new(),
        },
        steady: false,
        columns: Vec::new(),
    };
    let mut sum = Sum(0.0);
    let job = Job {
        solved: model,
        positions: None,
        program,
        columns: Vec::new(),
        plan,
        panels: None,
        chosen: Vec::new(),
        seconds: (0.0, 0.0),
        clock: bgm::base::clock::Clock::default(),
    };
    let outcome = run(&job, &mut sum);
    assert!(matches!(outcome.end, End::Done), "{:?}", outcome.end);
    Run {
        steps: outcome.summary.counts.steps as usize,
        seconds: start.elapsed().as_secs_f64(),
        sum: sum.0,
    }
}

/// Takes rows and adds them up, as the others do.
struct Sum(f64);

impl Observer for Sum {
    fn row(&mut self, _: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        if kind == RowKind::Point {
            self.0 += values.iter().sum::<f64>();
        }
        Ok(())
    }
    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

const KINDS: [&str; 3] = ["by hand", "integrator", "bgm"];

fn main() {
    if let Some((kind, size)) = asked() {
        let once = || match &kind[..] {
            "by hand" => by_hand(size),
            "bgm" => as_a_model(size),
            _ => through_integrator(size),
        };
        // The best of several: other programs run too.
        let mut best = once();
        for _ in 0..4 {
            let again = once();
            best.seconds = best.seconds.min(again.seconds);
        }
        println!("{} {} {}", best.steps, best.seconds, best.sum);
        return;
    }
    let sizes: &[usize] = match quick() {
        true => &[50],
        false => &[1_000, 10_000],
    };
    println!("ladder            states     steps      time   per step and state   of by hand");
    for &size in sizes {
        let mut reference: Option<(f64, f64)> = None;
        for kind in KINDS {
            let text = measure_apart(kind, size);
            let numbers: Vec<f64> = (text.split_whitespace())
                .map(|word| word.parse().expect("it prints numbers"))
                .collect();
            let [steps, seconds, sum] = numbers[..] else {
                panic!("{kind} printed {text}");
            };
            let (expected, by_hand) = *reference.get_or_insert((sum, seconds));
            assert!(
                (sum - expected).abs() <= 1e-3 * expected,
                "{kind} {size}: {sum} instead of {expected}"
            );
            println!(
                "{kind:<14} {size:>9} {steps:>9} {seconds:>8.3} s {:>17.1} ns {:>12.2}",
                seconds / steps / size as f64 * 1e9,
                seconds / by_hand
            );
        }
    }
}
