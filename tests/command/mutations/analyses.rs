//! All that can be asked of a model, through the library.

use std::path::PathBuf;

use bgm::base::diagnostics::Diagnostics;
use bgm::bond::BondGraph;
use bgm::bond::fields::{fields, robust};
use bgm::bond::sketch::sketch;
use bgm::bond::view::{Choice, view};
use bgm::compile::{
    Aliases, Listed, LoadedFlat, Modes, NoObserver, Options, Prepared, bond_graph, check, listed,
    load_flat, prepare, solved, sorted,
};
use bgm::evaluate::{Point, evaluate, settings, show};
use bgm::experiment::Request;
use bgm::export::{Target, export, unit};
use bgm::expr::print::Style;
use bgm::flat::Flat;
use bgm::listing::{self, modes};
use bgm::picture::bond::{dot, svg};
use bgm::positions::Positions;
use bgm::revise::augment::{augment, propose};
use bgm::revise::expand::expand;
use bgm::revise::reduce::{ReduceOptions, reduce};
use bgm::revise::{Failure, RevisionContext};
use bgm::simulate::job::{RunOptions, job};
use bgm::simulate::run::{End, Observer, RowKind, run};
use bgm::syntax::load::{Input, NoFiles};

use super::Subject;
use crate::support::text::all_diagnostics;

type Analysis = fn(&Subject);

#[rustfmt::skip]
pub const ANALYSES: &[(&str, Analysis)] = &[
    ("check", checked), ("equations", equations), ("sort", sort), ("solve", solve), ("modes", modes_of),
    ("causality", causality), ("fields", all_fields), ("draw", draw), ("reduce", reduced), ("augment", augmented),
    ("expand", expanded), ("simulate", simulate), ("simulate", simulate), ("steady", steady), ("export", exported),
    ("export", exported),
];

fn input(subject: &Subject) -> Input {
    Input::Standard(subject.text.clone().into_bytes())
}

fn options(subject: &Subject) -> Options {
    Options {
        model: Some(subject.model.clone()),
        ..Options::default()
    }
}

fn compiled(subject: &Subject) -> LoadedFlat {
    let compiled = load_flat(&input(subject), &options(subject), &NoFiles);
    all_diagnostics(&compiled);
    compiled
}

/// All that was said can be shown.
fn tell(compiled: &mut LoadedFlat, said: Diagnostics) {
    compiled.diagnostics = said;
    all_diagnostics(compiled);
    bgm::base::diagnostics::json::report(&compiled.sources, &compiled.diagnostics);
}

fn checked(subject: &Subject) {
    let (sources, diagnostics) = check(&input(subject), &Options::default(), &NoFiles, |_| {});
    let compiled = LoadedFlat {
        sources,
        flat: None,
        diagnostics,
    };
    all_diagnostics(&compiled);
}

fn equations(subject: &Subject) {
    let compiled = compiled(subject);
    if let Some(flat) = &compiled.flat {
        listing::equations::equations(flat, Style::Plain);
        listing::equations::equations(flat, Style::Classic);
        listing::latex::equations(flat, Style::Plain);
        listing::json::write(flat, &compiled.sources, &mut Vec::new())
            .expect("memory can be written to");
    }
}

fn sort(subject: &Subject) {
    let mut compiled = compiled(subject);
    let Some(flat) = compiled.flat.take() else {
        return;
    };
    for aliases in [Aliases::Keep, Aliases::Eliminate] {
        let mut said = Diagnostics::default();
        if let Some((flat, sorted)) = sorted(flat.clone(), aliases, &mut said) {
            listing::sorted::sorted(&flat, &sorted, Style::Plain);
            listing::latex::sorted(&flat, &sorted, None, Style::Plain);
            let out = &mut Vec::new();
            listing::json::write_sorted(&flat, &sorted, &compiled.sources, None, out)
                .expect("memory can be written to");
        }
        tell(&mut compiled, said);
    }
}

fn solve(subject: &Subject) {
    let mut compiled = compiled(subject);
    let Some(flat) = compiled.flat.take() else {
        return;
    };
    let mut said = Diagnostics::default();
    let done = listed(flat.clone(), Aliases::Eliminate, &mut NoObserver, &mut said);
    tell(&mut compiled, said);
    if let Some(done) = &done {
        let (Listed::One(model) | Listed::Paper(model, _) | Listed::ByPosition(model, _)) = done;
        listing::solved::solved(model, Style::Plain);
        listing::latex_solved::solved(model, None, Style::Plain);
        let out = &mut Vec::new();
        listing::solved_json::write(model, &compiled.sources, None, out)
            .expect("memory can be written to");
        match done {
            Listed::One(_) => {}
            Listed::Paper(_, table) => drop(modes::table_of_positions(table)),
            Listed::ByPosition(_, table) => drop(modes::by_position(table, Style::Plain)),
        }
    }
    let mut said = Diagnostics::default();
    if let Some(solution) = solved(flat.clone(), Aliases::Eliminate, &mut said) {
        let model = solution.solved;
        for id in flat.variable_ids().take(40) {
            let _ = listing::explain::explain(&model, &compiled.sources, &flat.name(id));
        }
        let settings: Vec<String> = (model.flat.states())
            .map(|state| format!("{}=0", model.flat.leaf_name(state)))
            .collect();
        let mut point = match settings::read(&model, &settings.join(",")) {
            Ok(settings) => settings::point(&model, &settings),
            Err(_) => Point::new(&model),
        };
        match evaluate(&model, &mut point) {
            Ok(()) => {
                show::write_text(&model, &point, None, &mut String::new());
                show::write_json(&model, &point, None::<&()>, &mut Vec::new())
                    .expect("memory can be written to");
            }
            Err(failure) => said.push(failure.diagnostic()),
        }
    }
    tell(&mut compiled, said);
}

fn modes_of(subject: &Subject) {
    let Some(flat) = compiled(subject).flat else {
        return;
    };
    if solved(
        flat.clone(),
        Aliases::Eliminate,
        &mut Diagnostics::default(),
    )
    .is_some()
    {
        let mut positions = Modes::of(Positions::of(&flat), Aliases::Eliminate);
        let shapes = positions.shapes(&mut NoObserver);
        if !positions.switches.is_empty() {
            modes::modes(&positions, &shapes);
        }
        modes::write_json(&positions, &shapes, &mut Vec::new()).expect("memory can be written to");
    }
}

fn graph(subject: &Subject) -> Option<BondGraph> {
    let mut compiled = compiled(subject);
    let flat = compiled.flat.take()?;
    let mut said = Diagnostics::default();
    let graph = bond_graph(flat, &[], &mut said);
    tell(&mut compiled, said);
    graph.ok().flatten()
}

fn causality(subject: &Subject) {
    let Some(model) = graph(subject) else {
        return;
    };
    for expanded in [false, true] {
        let choice = Choice {
            expanded,
            ..Choice::default()
        };
        let view = view(&model.flat, &model.graph, choice);
        listing::causality::causality(&model, &view);
        listing::causality_json::write(&model, &view, &mut Vec::new())
            .expect("memory can be written to");
    }
}

fn all_fields(subject: &Subject) {
    let Some(model) = graph(subject) else {
        return;
    };
    let found = fields(&model, true);
    listing::fields::fields(&found);
    listing::fields_json::write(&found, &mut Vec::new()).expect("memory can be written to");
    listing::fields::fields(&fields(&robust(model), true));
}

fn draw(subject: &Subject) {
    let Some(model) = graph(subject) else {
        return;
    };
    for depth in [None, Some(1)] {
        let choice = Choice {
            depth,
            ..Choice::default()
        };
        let view = view(&model.flat, &model.graph, choice);
        let sketch = sketch(&model, &view);
        svg(&sketch);
        dot(&sketch);
    }
}

/// Changes the text; what comes of it compiles or is refused.
fn revise<T>(
    subject: &Subject,
    change: impl Fn(&RevisionContext<'_>, &str) -> Result<T, Failure>,
) -> Option<T> {
    let path = PathBuf::from("changed.bgm");
    let options = options(subject);
    let context = RevisionContext::new(&path, &options, &NoFiles);
    change(&context, &subject.text).ok()
}

fn reduced(subject: &Subject) {
    for (matrix, merge) in [(false, false), (true, true)] {
        let wishes = ReduceOptions {
            matrix,
            merge,
            ..ReduceOptions::default()
        };
        revise(subject, |context, text| reduce(context, text, &wishes));
    }
}

fn augmented(subject: &Subject) {
    let found = revise(subject, propose);
    for proposal in found.iter().flatten().take(2) {
        let places = [proposal.junction.clone()];
        revise(subject, |context, text| {
            augment(context, text, &places, None)
        });
    }
}

fn expanded(subject: &Subject) {
    let Some(flat) = compiled(subject).flat else {
        return;
    };
    revise(subject, |context, text| Ok(expand(context, text, &flat)));
}

/// Ends a run after so many steps, however long it is meant to be.
struct Few(usize);

impl Observer for Few {
    fn row(&mut self, _: f64, _: &[f64], _: RowKind) -> Result<(), String> {
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        self.0 -= 1;
        self.0 > 0
    }
}

fn prepared(subject: &Subject) -> Option<(Flat, bgm::experiment::Experiment, LoadedFlat)> {
    let mut options = options(subject);
    options.request = Request {
        points: Some(11),
        ..Request::default()
    };
    let Prepared {
        model,
        sources,
        diagnostics,
    } = prepare(&input(subject), &options, &NoFiles);
    let compiled = LoadedFlat {
        sources,
        flat: None,
        diagnostics,
    };
    all_diagnostics(&compiled);
    let (flat, experiment) = model?;
    Some((flat, experiment, compiled))
}

fn simulate(subject: &Subject) {
    run_of(subject, false);
}

fn steady(subject: &Subject) {
    run_of(subject, true);
}

fn run_of(subject: &Subject, steady: bool) {
    let Some((flat, experiment, mut compiled)) = prepared(subject) else {
        return;
    };
    let wishes = RunOptions {
        steady,
        ..RunOptions::default()
    };
    let mut said = Diagnostics::default();
    if let Ok(Some(job)) = job(flat, &experiment, &wishes, &mut said) {
        let outcome = run(&job, &mut Few(60));
        if let End::Failed(halt) = &outcome.end
            && let Ok(diagnostic) = halt.diagnostic()
        {
            said.push(diagnostic);
        }
    }
    tell(&mut compiled, said);
}

fn exported(subject: &Subject) {
    let Some((flat, experiment, mut compiled)) = prepared(subject) else {
        return;
    };
    let mut said = Diagnostics::default();
    for &target in Target::ALL {
        let _ = match target {
            Target::Fmu => unit(flat.clone(), &experiment, &mut said).map(drop),
            _ => export(flat.clone(), &experiment, target, "model", &mut said).map(drop),
        };
    }
    tell(&mut compiled, said);
}
