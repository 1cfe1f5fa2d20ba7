//! How often a model with switches is lowered: as one, and once in each mode, whatever is asked; and how many matchings that takes.

use std::path::{Path, PathBuf};

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{
    Aliases, Options, Product, Stage, Unwatched, Watch, bond_graph_with, listed, prepare,
    sorted_somewhere,
};
use bgm::experiment::Experiment;
use bgm::flat::Flat;
use bgm::simulate::job::{Wishes, job_with};
use bgm::simulate::run::{End, Observer, RowKind, run_with};
use bgm::structure::matchings_begun;
use bgm::syntax::load::{Files, Input};

/// Stages as they begin, and how many matchings each lowering has begun in them.
#[derive(Default)]
struct Counted {
    begun: Vec<Stage>,
    before: usize,
    matchings: Vec<usize>,
}

impl Counted {
    fn count(&self, stage: Stage) -> usize {
        self.begun.iter().filter(|begun| **begun == stage).count()
    }

    fn ended(&mut self) {
        if let Some(last) = self.matchings.last_mut() {
            *last += matchings_begun() - self.before;
        }
    }
}

impl Watch for Counted {
    fn before(&mut self, stage: Stage) {
        self.begun.push(stage);
        if stage == Stage::Determined {
            self.matchings.push(0);
        }
        self.before = matchings_begun();
    }

    fn after(&mut self, _: Stage, _: Product<'_>) {
        self.ended();
        // Some stages end without having been begun: what was counted is not counted again.
        self.before = matchings_begun();
    }

    fn refused(&mut self, _: Stage) {
        self.ended();
    }
}

struct Root;

impl Files for Root {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
}

fn example(name: &str) -> (Flat, Experiment) {
    let input = Input::File(PathBuf::from(format!("examples/{name}.bgm")));
    let prepared = prepare(&input, &Options::default(), &Root);
    prepared.model.expect("the example is sound")
}

/// Nobody reads the rows.
struct Unread;

impl Observer for Unread {
    fn row(&mut self, _: f64, _: &[f64], _: RowKind) -> Result<(), String> {
        Ok(())
    }

    fn goes_on(&mut self, _: f64, _: u64) -> bool {
        true
    }
}

fn simulated(name: &str) -> (Counted, usize) {
    let (flat, experiment) = example(name);
    let mut counted = Counted::default();
    let said = &mut Diagnostics::default();
    let job = job_with(flat, &experiment, &Wishes::default(), &mut counted, said);
    let job = job.expect("nothing is wished").expect("it can be run");
    let outcome = run_with(&job, &mut Unread, &mut counted);
    assert!(matches!(outcome.end, End::Done), "{name}");
    (counted, outcome.summary.positions as usize)
}

/// The buck converter has four modes. One is impossible, which a run finds when it tries it.
#[test]
fn a_run_lowers_each_mode_that_occurs_once() {
    let (counted, modes) = simulated("buck");
    assert_eq!(modes, 3);
    assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
    for stage in [Stage::Sorted, Stage::Solved, Stage::Program] {
        assert_eq!(counted.count(stage), 1 + modes, "{stage:?}: {counted:?}");
    }
    // Words would be a lowering more.
    let most = counted.matchings.iter().max();
    assert!(most <= Some(&3), "{:?}", counted.matchings);
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.begun.iter().map(|stage| stage.name()).collect();
        write!(f, "{} (matchings {:?})", names.join(" "), self.matchings)
    }
}

/// All four are listed, or looked at to see which form can be.
#[test]
fn a_listing_lowers_each_mode_once() {
    let said = &mut Diagnostics::default();
    for aliases in [Aliases::Eliminate, Aliases::Keep] {
        let mut counted = Counted::default();
        listed(example("buck").0, aliases, &mut counted, said).expect("it is solved");
        assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
        assert_eq!(counted.count(Stage::Index), 1 + 3, "{counted:?}");
        for stage in [Stage::Sorted, Stage::Solved] {
            assert_eq!(counted.count(stage), 1 + 3, "{stage:?}: {counted:?}");
        }
        let most = counted.matchings.iter().max();
        assert!(most <= Some(&3), "{:?}", counted.matchings);
    }
    let mut counted = Counted::default();
    sorted_somewhere(example("buck").0, Aliases::Keep, &mut counted, said).expect("it is sorted");
    assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
    let mut counted = Counted::default();
    let graph = bond_graph_with(example("buck").0, &[], &mut counted, said);
    assert!(graph.is_ok_and(|graph| graph.is_some()));
    assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
    // What is not watched is the same.
    assert!(listed(example("buck").0, Aliases::Keep, &mut Unwatched, said).is_some());
}

/// No lowering of any example with switches takes more, but where the index is looked at in rounds.
#[test]
fn few_matchings_are_begun() {
    for name in [
        "bridge",
        "clutch",
        "freewheel",
        "rectifier",
        "interrupted_coil",
    ] {
        let mut counted = Counted::default();
        let said = &mut Diagnostics::default();
        listed(example(name).0, Aliases::Eliminate, &mut counted, said).expect(name);
        eprintln!("{name}: {counted:?}");
        let most = counted.matchings.iter().max();
        assert!(most <= Some(&4), "{name}: {:?}", counted.matchings);
    }
}
