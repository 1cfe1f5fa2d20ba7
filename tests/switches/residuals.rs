//! Every row of a run, put into the equations as they were flattened: in each position that occurs, and on both
//! sides of each event. The equations are walked by the oracle of the residual test, which shares nothing with
//! what made the rows.

use std::collections::{BTreeSet, HashMap};

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{Options, Prepared, prepare};
use bgm::expr::{ExprId, Node, Value};
use bgm::flat::{Equation, EquationKind, Flat, Kind, Leaf, Type};
use bgm::positions::switches;
use bgm::simulate::job::{Job, RunOptions, job};
use bgm::simulate::run::{End, Observer, RowKind, Summary, run};
use bgm::syntax::load::{Input, NoFiles};

use crate::look::{exact, example};
use crate::support::oracle::{Met, Values, holds_at_all_times, walk};
use crate::support::trial::Trial;

/// Both sides of an equation agree to this part of its largest term.
const SMALL: f64 = 1e-7;
/// And to this part of the largest value of the row: a sum of nothing but rounding has no larger term.
const NOTHING: f64 = 1e-11;
/// Rows are at most so far from the instant of an event that they are on the wrong side of it.
const INSTANT: f64 = 1e-9;
/// A side of a relation that is so near to the other one may be on either side of it.
const TIE: f64 = 1e-8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Point,
    Before,
    After,
}

/// A run with all that its equations speak of.
#[derive(Debug)]
pub struct Record {
    pub flat: Flat,
    pub leaves: Vec<Leaf>,
    pub rows: Vec<(At, f64, Vec<f64>)>,
    pub summary: Summary,
    /// Code and message of what it ended with, if it failed.
    pub failure: Option<(&'static str, String)>,
    pub stopped: bool,
}

/// What was met on the way through the rows.
#[derive(Debug, Default)]
pub struct Checked {
    pub positions: BTreeSet<Vec<bool>>,
    pub rows: usize,
    /// Relations whose sides are equal but for rounding, so that either truth is right.
    pub ties: usize,
}

struct Rows {
    rows: Vec<(At, f64, Vec<f64>)>,
    steps: u64,
}

impl Observer for Rows {
    fn row(&mut self, time: f64, values: &[f64], kind: RowKind) -> Result<(), String> {
        let at = match kind {
            RowKind::Point => At::Point,
            RowKind::Last => At::Before,
            RowKind::Event => match self.rows.last() {
                Some((At::Before, ..)) => At::After,
                _ => At::Before,
            },
        };
        self.rows.push((at, time, values.to_vec()));
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }
}

/// The leaves of the equations that hold at all times.
fn leaves(flat: &Flat) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let equations = flat.equations.iter().filter(|one| holds_at_all_times(one));
    let mut work: Vec<ExprId> = equations.flat_map(|one| [one.left, one.right]).collect();
    let mut met: BTreeSet<u32> = BTreeSet::new();
    while let Some(id) = work.pop() {
        if !met.insert(id.index() as u32) {
            continue;
        }
        flat.exprs.operands(id, &mut work);
        if let Node::Leaf(leaf) = flat.exprs.node(id) {
            let leaf = match leaf {
                Leaf::New(id) | Leaf::Pre(id) => Leaf::Var(id),
                leaf => leaf,
            };
            if seen.insert(flat.leaf_name(leaf)) {
                found.push(leaf);
            }
        }
    }
    found
}

/// Runs a model, for so many steps at most. `Err`: what is wrong before the run.
pub fn record(trial: &Trial, steps: u64) -> Result<Record, Diagnostics> {
    let input = Input::Standard(trial.text.clone().into_bytes());
    let options = Options {
        model: trial.model.clone(),
        request: trial.request.clone(),
        ..Options::default()
    };
    let Prepared {
        model,
        mut diagnostics,
        ..
    } = prepare(&input, &options, &NoFiles);
    let Some((flat, experiment)) = model else {
        return Err(diagnostics);
    };
    let leaves = leaves(&flat);
    let wishes = RunOptions {
        vars: leaves.iter().map(|&leaf| flat.leaf_name(leaf)).collect(),
        ..RunOptions::default()
    };
    let made = job(flat.clone(), &experiment, &wishes, &mut diagnostics);
    let Some(job) = made.expect("all names are known") else {
        return Err(diagnostics);
    };
    let names: Vec<&str> = job.columns.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, wishes.vars);
    Ok(ran(&job, flat, leaves, steps))
}

fn ran(job: &Job, flat: Flat, leaves: Vec<Leaf>, steps: u64) -> Record {
    let mut rows = Rows {
        rows: Vec::new(),
        steps,
    };
    let outcome = run(job, &mut rows);
    let failure = match &outcome.end {
        End::Failed(halt) => {
            let diagnostic = halt.diagnostic().expect("rows are taken");
            Some((diagnostic.code.text(), diagnostic.message))
        }
        _ => None,
    };
    Record {
        flat,
        leaves,
        rows: rows.rows,
        summary: outcome.summary,
        failure,
        stopped: matches!(outcome.end, End::Stopped),
    }
}

impl Record {
    /// Came to its end.
    pub fn is_done(&self) -> bool {
        self.failure.is_none() && !self.stopped
    }

    /// The values of a row; `new` and `pre` of a variable are what it is when nothing happens.
    fn values(&self, time: f64, row: &[f64]) -> Values {
        let mut of = HashMap::new();
        for (&leaf, &value) in self.leaves.iter().zip(row) {
            let id = leaf.variable();
            let value = match (leaf, self.flat.variable(id).ty) {
                (Leaf::Var(_), Type::Boolean) => Value::Bool(value != 0.0),
                _ => Value::Real(value),
            };
            of.insert(leaf, value);
            if let Leaf::Var(id) = leaf {
                of.insert(Leaf::New(id), value);
                of.insert(Leaf::Pre(id), value);
            }
        }
        Values { of, time }
    }

    /// A variable in the rows.
    pub fn column(&self, name: &str) -> Option<usize> {
        (self.leaves.iter()).position(|&leaf| self.flat.leaf_name(leaf) == name)
    }

    /// Puts every row into the equations; `Err` says where they do not hold.
    pub fn check(&self) -> Result<Checked, String> {
        let flat = &self.flat;
        let switches = switches(flat);
        let mut checked = Checked::default();
        for (place, (at, time, row)) in self.rows.iter().enumerate() {
            let next = self.rows.get(place + 1);
            let last_word = match next {
                // What an impulse has decided may be decided otherwise at once, in an event of its own.
                Some((At::Before, then, _)) => (then - time).abs() > INSTANT * (1.0 + time.abs()),
                _ => true,
            };
            let settled = *at != At::Before && last_word;
            let values = self.values(*time, row);
            let largest = (self.leaves.iter().zip(row))
                .filter(|(leaf, _)| !is_given(flat, **leaf))
                .fold(0.0, |largest: f64, (_, value)| largest.max(value.abs()));
            let equations = flat.equations.iter().filter(|one| holds_at_all_times(one));
            for equation in equations {
                if !settled && decides(flat, equation) {
                    continue;
                }
                let tie = holds(flat, equation, &values, largest)
                    .map_err(|why| format!("{at:?} at Time = {time}: {why}"))?;
                checked.ties += usize::from(tie);
            }
            checked.rows += 1;
            if !settled {
                continue;
            }
            let position = switches.iter().map(|switch| {
                let truth = walk(flat, switch.condition, &values, &mut Met::default());
                matches!(truth, Ok(Value::Bool(true)))
            });
            checked.positions.insert(position.collect());
        }
        Ok(checked)
    }
}

fn is_given(flat: &Flat, leaf: Leaf) -> bool {
    matches!(
        flat.variable(leaf.variable()).kind,
        Kind::Parameter | Kind::Constant
    )
}

/// What an event is about to change.
fn decides(flat: &Flat, equation: &Equation) -> bool {
    let boolean = |id: ExprId| match flat.exprs.node(id) {
        Node::Leaf(leaf) => flat.variable(leaf.variable()).ty == Type::Boolean,
        _ => false,
    };
    equation.kind == EquationKind::New || boolean(equation.left) || boolean(equation.right)
}

/// Whether it holds at the instant before or after only, or by the other truth of a relation whose sides are equal.
fn holds(flat: &Flat, equation: &Equation, values: &Values, largest: f64) -> Result<bool, String> {
    let why = match both_sides(flat, equation, values, largest) {
        (true, _, _) => return Ok(false),
        (false, _, why) => why,
    };
    for shift in [INSTANT, -INSTANT] {
        let time = values.time + shift * (1.0 + values.time.abs());
        let of = values.of.clone();
        if both_sides(flat, equation, &Values { of, time }, largest).0 {
            return Ok(true);
        }
    }
    // A relation of two sides that are equal: each of the values moved by a little.
    let mut leaves = Vec::new();
    let mut work = vec![equation.left, equation.right];
    while let Some(id) = work.pop() {
        flat.exprs.operands(id, &mut work);
        if let Node::Leaf(leaf) = flat.exprs.node(id) {
            leaves.push(leaf);
        }
    }
    let is_truth = both_sides(flat, equation, values, largest).1;
    let moved = is_truth && leaves.len() <= 8;
    for way in 0..if moved { 1 << leaves.len() } else { 0 } {
        let mut near = values.clone();
        for (at, leaf) in leaves.iter().enumerate() {
            if let Some(Value::Real(value)) = near.of.get_mut(leaf) {
                let sign = if way >> at & 1 == 0 { 1.0 } else { -1.0 };
                *value += sign * TIE * (1.0 + largest);
            }
        }
        if both_sides(flat, equation, &near, largest).0 {
            return Ok(true);
        }
    }
    Err(why)
}

/// Whether both sides agree, whether they are truths, and what they are.
fn both_sides(
    flat: &Flat,
    equation: &Equation,
    values: &Values,
    largest: f64,
) -> (bool, bool, String) {
    let mut met = Met::default();
    let left = walk(flat, equation.left, values, &mut met);
    let right = walk(flat, equation.right, values, &mut met);
    let (agree, truth) = match (&left, &right) {
        (Ok(Value::Real(left)), Ok(Value::Real(right))) => {
            let off = (left - right).abs();
            (off <= SMALL * met.scale + NOTHING * largest, false)
        }
        (Ok(Value::Bool(left)), Ok(Value::Bool(right))) => (left == right, true),
        _ => (false, false),
    };
    let text = |id: ExprId| flat.expression(id);
    let (a, b) = (text(equation.left), text(equation.right));
    (agree, truth, format!("`{a} = {b}`: {left:?} = {right:?}"))
}

/// A run that comes to its end, with all its rows checked.
#[track_caller]
fn positions_of(trial: &Trial) -> usize {
    let record = record(trial, u64::MAX).unwrap_or_else(|said| panic!("{said:?}"));
    assert_eq!(record.failure, None, "{}", trial.text);
    let checked = record.check();
    let checked = checked.unwrap_or_else(|why| panic!("{}\n{why}", trial.text));
    assert!(checked.ties <= checked.rows, "{checked:?}");
    checked.positions.len()
}

#[test]
fn in_every_position_of_the_examples() {
    // Example, model and experiment, and the positions that it comes through.
    let examples: [(&str, &str, &str, usize); 14] = [
        ("bridge", "OnR", "", 2),
        ("bridge", "OnRC", "", 3),
        ("buck", "Charger", "", 3),
        ("buck", "Buck", "Buck", 2),
        ("buck", "Buck", "discontinuous", 3),
        ("clutch", "", "", 2),
        ("freewheel", "", "", 2),
        ("inductive_load", "", "", 2),
        ("inductive_wave", "", "", 2),
        ("interrupted_coil", "", "", 2),
        ("rectifier", "", "", 2),
        ("switched_capacitors", "", "", 2),
        // Between half waves one diode conducts nothing, whichever did before.
        ("thyristor_bridge", "OnR", "", 4),
        ("thyristor_bridge", "OnRL", "", 5),
    ];
    for (name, model, experiment, expected) in examples {
        let mut trial = example(name);
        trial.model = (!model.is_empty()).then(|| model.to_string());
        if !experiment.is_empty() {
            trial = trial.experiment(experiment);
        }
        let found = positions_of(&trial);
        assert_eq!(found, expected, "{name} {model} {experiment}");
    }
}

/// The models that the tests beside this one have in their texts, with the time to which they run them.
fn models_of_tests() -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let mut files: Vec<_> = (std::fs::read_dir("tests/switches").expect("it is here"))
        .map(|entry| entry.expect("it is here").path())
        .filter(|path| !path.ends_with(file!()))
        // Most of its models have no switches.
        .filter(|path| !path.ends_with("impulses.rs"))
        .collect();
    files.sort();
    for path in files {
        let source = std::fs::read_to_string(&path).expect("it is text");
        let pieces: Vec<&str> = source.split('"').collect();
        for (at, text) in pieces.iter().enumerate() {
            let begins = ["@electrical\n", "@bondgraph\n", "model M\n"];
            let is_model = begins.iter().any(|begin| text.starts_with(begin));
            // A text with something left to put in has braces.
            if !is_model || !text.ends_with("\nend") || text.contains('{') {
                continue;
            }
            let rest = pieces[at + 1..].join("\"");
            let until = rest.split_once("exact(").and_then(|(_, rest)| {
                let (_, number) = rest.split_once(')')?.0.rsplit_once(", ")?;
                number.parse().ok()
            });
            found.push((text.to_string(), until.unwrap_or(5.0)));
        }
    }
    found
}

#[test]
fn in_every_position_of_the_tests() {
    let models = models_of_tests();
    assert!(models.len() >= 30, "{}", models.len());
    for (text, until) in models {
        let mut trial = exact(&text, until);
        if text.contains("input v\n") {
            trial = trial.input("v=2*sin(Time)");
        }
        assert!(positions_of(&trial) >= 2, "{text}");
    }
}
