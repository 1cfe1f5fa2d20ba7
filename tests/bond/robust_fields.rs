//! The best choice of forms in R-fields, looked at with numbers of the test's own: after `--robust` no gain is above one; without
//! transformers no choice has a larger subdeterminant, of all that there are; and Newton's method on the
//! sequence converges at least as well as before, to what the flat equations have as their solution.

#![allow(clippy::print_stdout)]

use crate::support::networks::{Recipe, TYPES, network};
use crate::support::random::Random;
use crate::support::sequence::{Known, Sequence};
use crate::support::text::compile_text;
use bgm::base::diagnostics::Diagnostics;
use bgm::bond::fields::resistive::RField;
use bgm::bond::fields::{Fields, fields, robust};
use bgm::bond::net::Gives;
use bgm::compile::{Aliases, bond_graph, solved};
use bgm::evaluate::{Point, evaluate};
use bgm::expr::Value;
use bgm::flat::{Flat, Leaf, VarId};
use bgm::passes::blocks::Solved;
use nalgebra::{DMatrix, DVector};

/// A model solved at its start, and its fields.
struct Case {
    solved: Solved,
    point: Point,
    fields: Fields,
}

impl Case {
    /// `None` for a model that has no solution, or that is not found.
    fn new(flat: &Flat, with_robust: bool, prefer: &[String]) -> Option<Case> {
        let mut said = Diagnostics::default();
        let graph =
            bond_graph(flat.clone(), prefer, &mut said).expect("the preferences are right")?;
        let graph = if with_robust { robust(graph) } else { graph };
        let fields = fields(&graph, false);
        let solved = solved(flat.clone(), Aliases::Keep, &mut said)?.solved;
        let mut point = Point::new(&solved);
        evaluate(&solved, &mut point).ok()?;
        Some(Case {
            solved,
            point,
            fields,
        })
    }

    fn variable(&self, id: VarId) -> f64 {
        let given = || self.solved.flat.value(id).map(|given| given.value);
        match self.point.get(Leaf::Var(id)).or_else(given) {
            Some(Value::Real(value)) => value,
            _ => panic!("{} has no value", self.solved.flat.name(id)),
        }
    }

    fn sequence(&self, field: &RField) -> Option<Sequence> {
        let known = Known {
            fields: &self.fields,
            variable: &|id| self.variable(id),
            time: 0.0,
        };
        Sequence::new(&known, field)
    }

    /// The parameter R of a resistor: the slope of a linear one.
    fn resistance(&self, field: &RField, name: &str) -> f64 {
        assert!(!field.resistors.is_empty());
        let flat = &self.solved.flat;
        let id = (flat.variable_ids()).find(|&id| flat.name(id) == format!("{name}.R"));
        self.variable(id.expect("a resistor has a resistance"))
    }
}

fn compiled(random: &mut Random, recipe: Recipe<'_>) -> Option<(Flat, String)> {
    let text = format!("{TYPES}{}", network(random, recipe, "Net"));
    Some((compile_text(&text).flat?, text))
}

/// The scaled gains of a field of linear resistors: by port of r and port of g.
fn gains(case: &Case, field: &RField, sequence: &Sequence) -> DMatrix<f64> {
    let name = |at: usize| {
        case.fields
            .view
            .graph
            .node(sequence.lines[at].port.node)
            .name
            .clone()
    };
    let scale = |at: usize| case.resistance(field, &name(at)).sqrt();
    let (rows, columns) = (field.r.len(), field.g.len());
    let mut found = DMatrix::zeros(rows, columns);
    for row in 0..rows {
        for &(from, factor) in &sequence.lines[row].sum {
            assert!(from >= rows, "flows come from g");
            found[(row, from - rows)] += factor * scale(row) / scale(from);
        }
    }
    found
}

fn largest(gains: &DMatrix<f64>) -> f64 {
    gains.iter().fold(0.0, |most: f64, one| most.max(one.abs()))
}

/// The determinant of Newton's matrix.
fn determinant(gains: &DMatrix<f64>) -> f64 {
    (DMatrix::identity(gains.nrows(), gains.nrows()) + gains * gains.transpose()).determinant()
}

/// For every choice of as many ports as there are in r: what |det| of the chosen one is multiplied by, and the largest gain there.
fn all_choices(gains: &DMatrix<f64>) -> Vec<(f64, f64)> {
    let (rows, columns) = gains.shape();
    let count = rows + columns;
    // Rows of [I, -H]: what is chosen as g is put at the right.
    let whole = DMatrix::from_fn(rows, count, |row, column| match column.checked_sub(rows) {
        None => f64::from(u8::from(row == column)),
        Some(at) => -gains[(row, at)],
    });
    let mut found = Vec::new();
    for key in 0u32..1 << count {
        if key.count_ones() as usize != rows {
            continue;
        }
        let pick = |want: bool| -> DMatrix<f64> {
            let list: Vec<usize> = (0..count)
                .filter(|&at| (key >> at & 1 == 1) == want)
                .collect();
            whole.select_columns(&list)
        };
        let (r, g) = (pick(true), pick(false));
        let volume = r.determinant().abs();
        if volume > 1e-12
            && let Some(inverse) = r.try_inverse()
        {
            found.push((volume, largest(&(inverse * g))));
        }
    }
    found
}

fn recipe<'r>(laws: &'r [&'r str], transformers: usize, random: &mut Random) -> Recipe<'r> {
    Recipe {
        resistors: random.within(3, 9),
        laws,
        transformers,
        modulated: false,
        chords: random.below(3),
        decades: 4.0,
    }
}

#[test]
fn no_gain_is_above_one_and_no_choice_is_better() {
    let (mut seen, mut moved, mut best, mut with_transformers) = (0, 0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let through = if seed % 2 == 0 { 0 } else { 40 };
        let recipe = recipe(&["R"], through, &mut random);
        let Some((flat, text)) = compiled(&mut random, recipe) else {
            continue;
        };
        let (Some(before), Some(after)) =
            (Case::new(&flat, false, &[]), Case::new(&flat, true, &[]))
        else {
            continue;
        };
        for (old, new) in before.fields.r_fields.iter().zip(&after.fields.r_fields) {
            assert!(old.sequence.is_err() || new.sequence.is_ok(), "{text}");
            let (Some(first), Some(last)) = (before.sequence(old), after.sequence(new)) else {
                continue;
            };
            assert_eq!(old.resistors, new.resistors, "{text}");
            let (first, last) = (gains(&before, old, &first), gains(&after, new, &last));
            seen += 1;
            let told = |case: &RField| case.choice.as_ref().and_then(|choice| choice.largest);
            for (field, found) in [(old, &first), (new, &last)] {
                let told = told(field)
                    .expect("slopes of straight lines are known")
                    .value;
                assert!(
                    (told - largest(found)).abs() <= 1e-6 * told,
                    "{text}: {told}"
                );
            }
            assert!(largest(&last) <= 1.0 + 1e-6, "{text}: {}", largest(&last));
            let better = old.choice.as_ref().and_then(|one| one.better.as_ref());
            assert_eq!(better.is_some(), largest(&first) > 1.0 + 1e-6, "{text}");
            assert!(
                determinant(&last) <= determinant(&first) * (1.0 + 1e-9),
                "{text}"
            );
            if let Some(better) = better {
                moved += 1;
                let told = better.largest.expect("it has gains").value;
                assert!(
                    (told - largest(&last)).abs() <= 1e-6 * told,
                    "{text}: {told}"
                );
                assert_eq!(
                    (&better.r.len(), &better.g.len()),
                    (&new.r.len(), &new.g.len())
                );
            }
            let all = all_choices(&last);
            let greatest = all.iter().fold(0.0, |most: f64, one| most.max(one.0));
            match old.numbers.transformers {
                // A spanning tree that cannot be bettered by an exchange is the best of all.
                0 => assert!(greatest <= 1.0 + 1e-6, "{text}: {greatest}"),
                _ => {
                    with_transformers += 1;
                    best += usize::from(greatest <= 1.0 + 1e-6);
                    // Entries of at most one: no subdeterminant is larger than Hadamard's bound.
                    let size = new.r.len().min(new.g.len());
                    let bound = (size as f64).powf(size as f64 / 2.0);
                    assert!(greatest <= bound * (1.0 + 1e-6), "{text}: {greatest}");
                }
            }
            let least = all
                .iter()
                .fold(f64::INFINITY, |least, one| least.min(one.1));
            assert!(least <= largest(&last) * (1.0 + 1e-6), "{text}");
        }
    }
    println!(
        "{seen} fields, {moved} moved; with transformers {with_transformers}, best of all {best}"
    );
    assert!(
        seen > 150 && moved > 50 && with_transformers > 40,
        "{seen}, {moved}, {with_transformers}"
    );
    assert!(
        best * 10 >= with_transformers * 9,
        "{best} of {with_transformers}"
    );
}

/// What the user prefers is not moved, and the others are as good as they can be beside it.
#[test]
fn preferences_win() {
    let mut kept = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed + 900);
        let recipe = recipe(&["R"], 20, &mut random);
        let Some((flat, text)) = compiled(&mut random, recipe) else {
            continue;
        };
        let Some(plain) = Case::new(&flat, false, &[]) else {
            continue;
        };
        let changes: Vec<(String, Gives)> = (plain.fields.r_fields.iter())
            .filter_map(|field| field.choice.as_ref()?.better.as_ref())
            .flat_map(|better| &better.changes)
            .map(|(port, gives)| (plain.fields.view.graph.node(port.node).name.clone(), *gives))
            .collect();
        let Some((name, gives)) = changes.first() else {
            continue;
        };
        // The opposite of what would be better.
        let wanted = match gives {
            Gives::Effort => "conductance",
            Gives::Flow => "resistance",
        };
        let prefer = [format!("{name}={wanted}")];
        let Some(case) = Case::new(&flat, true, &prefer) else {
            continue;
        };
        let of = |list: &[bgm::bond::fields::resistive::Port]| {
            list.iter()
                .any(|port| case.fields.view.graph.node(port.node).name == *name)
        };
        let inside = (case.fields.r_fields.iter()).any(|field| match gives {
            Gives::Effort => of(&field.g),
            Gives::Flow => of(&field.r),
        });
        assert!(inside, "{text}: {prefer:?}");
        kept += 1;
    }
    assert!(kept > 15, "{kept}");
}

#[test]
fn newton_converges_at_least_as_well() {
    let (mut fields, mut failed, mut steps, mut worse) = (0, [0, 0], [0, 0], 0);
    for seed in 0..200 {
        let mut random = Random::new(seed + 4_000);
        let recipe = recipe(&["Rs", "R"], 25, &mut random);
        let Some((flat, text)) = compiled(&mut random, recipe) else {
            continue;
        };
        let (Some(before), Some(after)) =
            (Case::new(&flat, false, &[]), Case::new(&flat, true, &[]))
        else {
            continue;
        };
        for (old, new) in before.fields.r_fields.iter().zip(&after.fields.r_fields) {
            let moved = old
                .choice
                .as_ref()
                .is_some_and(|choice| choice.better.is_some());
            let (true, Some(first), Some(last)) =
                (moved, before.sequence(old), after.sequence(new))
            else {
                continue;
            };
            assert!(first.is_explicit() && last.is_explicit(), "{text}");
            fields += 1;
            let mut taken = [100, 100];
            for (at, (case, sequence)) in
                [(&before, &first), (&after, &last)].into_iter().enumerate()
            {
                match sequence.newton(0.0, 1e-10, 100) {
                    Some((takes, count)) => {
                        taken[at] = count;
                        agrees(&text, case, sequence, &takes);
                    }
                    None => failed[at] += 1,
                }
                steps[at] += taken[at];
            }
            worse += usize::from(taken[1] > taken[0] + 2);
        }
    }
    println!(
        "{fields} fields, failed {failed:?}, steps {steps:?}, {worse} more than 2 steps worse"
    );
    assert!(fields > 40, "{fields}");
    assert!(
        failed[1] <= failed[0] && steps[1] <= steps[0],
        "{failed:?}, {steps:?}"
    );
    assert!(worse * 20 <= fields, "{worse} of {fields}");
}

/// What the ports take is what the flat equations have.
fn agrees(text: &str, case: &Case, sequence: &Sequence, takes: &[f64]) {
    let known = Known {
        fields: &case.fields,
        variable: &|id| case.variable(id),
        time: 0.0,
    };
    let mut found = DVector::zeros(takes.len());
    let mut wanted = DVector::zeros(takes.len());
    for (at, line) in sequence.lines.iter().enumerate() {
        let vectors = &case.fields.vectors;
        let entry = (vectors.implicit.iter()).find(|entry| entry.takes.bond == line.port.bond);
        let var = entry.expect("a port of a field is in its vectors").takes;
        if let Some(value) = known.var(var) {
            (found[at], wanted[at]) = (takes[at], value);
        }
    }
    let size = wanted.norm().max(1.0);
    assert!(
        (&found - &wanted).norm() <= 1e-6 * size,
        "{text}\n{found}\n{wanted}"
    );
}

/// Laws that are a formula one way only, moduli that are signals, resistors with two ports in mixed form: the sequence, evaluated, has
/// the solution of the flat equations.
#[test]
fn sequences_solve_the_flat_equations() {
    let (mut fields, mut solved, mut mixed, mut modulated) = (0, 0, 0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed + 8_000);
        let laws: &[&str] = match seed % 4 {
            0 => &["Rr", "Rg", "R", "R"],
            1 => &["Rs", "R"],
            2 => &["Rh", "R", "R", "Rs"],
            _ => &["Rr", "R", "R", "R"],
        };
        let recipe = Recipe {
            modulated: seed % 3 == 0,
            decades: 1.0,
            ..recipe(laws, 30, &mut random)
        };
        let Some((flat, text)) = compiled(&mut random, recipe) else {
            continue;
        };
        let Some(case) = Case::new(&flat, false, &[]) else {
            continue;
        };
        for field in &case.fields.r_fields {
            let Some(sequence) = case.sequence(field).filter(Sequence::is_explicit) else {
                continue;
            };
            fields += 1;
            let both = |node| {
                let of = |list: &[bgm::bond::fields::resistive::Port]| {
                    list.iter().any(|port| port.node == node)
                };
                of(&field.r) && of(&field.g)
            };
            if let Some((takes, _)) = sequence.newton(0.0, 1e-11, 100) {
                agrees(&text, &case, &sequence, &takes);
                solved += 1;
                mixed += usize::from(field.resistors.iter().any(|&node| both(node)));
                modulated += usize::from(recipe.modulated && field.numbers.transformers > 0);
            }
        }
    }
    println!(
        "{fields} fields, {solved} solved, {mixed} mixed, {modulated} with modulated transformers"
    );
    assert!(solved * 10 >= fields * 9, "{solved} of {fields}");
    assert!(
        solved > 150 && mixed > 5 && modulated > 20,
        "{solved}, {mixed}, {modulated}"
    );
}
