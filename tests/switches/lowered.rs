//! How often a model with switches is lowered: as one, and once in each mode, whatever is asked; and how many matchings that takes.

use std::path::{Path, PathBuf};

use bgm::base::diagnostics::Diagnostics;
use bgm::compile::{
    Aliases, NoObserver, Options, Product, Stage, StageObserver, bond_graph_with, listed, prepare,
    sorted_in_some_mode,
};
use bgm::experiment::Experiment;
use bgm::flat::Flat;
use bgm::simulate::job::{RunOptions, job_with};
use bgm::simulate::run::{End, Observer, RowKind, run_with};
use bgm::structure::matchings_begun;
use bgm::syntax::load::{Files, Input};

/// Stages as they begin, and how many matchings each has begun.
#[derive(Default)]
struct Counted {
    begun: Vec<(Stage, usize)>,
    before: usize,
}

impl Counted {
    fn count(&self, stage: Stage) -> usize {
        self.begun
            .iter()
            .filter(|(begun, _)| *begun == stage)
            .count()
    }

    /// A stage has taken so many matchings at most, each time.
    fn most(&self, stage: Stage) -> usize {
        let all = self.begun.iter().filter(|(begun, _)| *begun == stage);
        all.map(|&(_, matchings)| matchings).max().unwrap_or(0)
    }

    /// No lowering has taken more matchings than these, in all its stages.
    #[track_caller]
    fn takes_at_most(&self, in_index: usize) {
        for stage in Stage::ALL {
            let most = match stage {
                Stage::Determined | Stage::Sorted => 1,
                Stage::Index => in_index,
                _ => 0,
            };
            assert!(self.most(stage) <= most, "{stage:?}: {self:?}");
        }
    }

    fn ended(&mut self, stage: Stage) {
        if let Some((begun, matchings)) = self.begun.last_mut()
            && *begun == stage
        {
            *matchings = matchings_begun() - self.before;
        }
    }
}

impl StageObserver for Counted {
    fn before(&mut self, stage: Stage) {
        self.begun.push((stage, 0));
        self.before = matchings_begun();
    }

    fn after(&mut self, stage: Stage, _: Product<'_>) {
        self.ended(stage);
    }

    fn refused(&mut self, stage: Stage) {
        self.ended(stage);
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
    let job = job_with(
        flat,
        &experiment,
        &RunOptions::default(),
        &mut counted,
        said,
    );
    let job = job.expect("nothing is wished").expect("it can be run");
    let outcome = run_with(&job, &mut Unread, &mut counted);
    assert!(matches!(outcome.end, End::Done), "{name}");
    (counted, outcome.summary.modes as usize)
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
    // Words would be a lowering more. A mode takes three matchings.
    counted.takes_at_most(1);
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of_stage =
            |(stage, matchings): &(Stage, usize)| format!("{} {matchings}", stage.name());
        let stages: Vec<String> = self.begun.iter().map(of_stage).collect();
        f.write_str(&stages.join(", "))
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
        counted.takes_at_most(1);
    }
    let mut counted = Counted::default();
    sorted_in_some_mode(example("buck").0, Aliases::Keep, &mut counted, said)
        .expect("it is sorted");
    assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
    let mut counted = Counted::default();
    let graph = bond_graph_with(example("buck").0, &[], &mut counted, said);
    assert!(graph.is_ok_and(|graph| graph.is_some()));
    assert_eq!(counted.count(Stage::Determined), 1 + 4, "{counted:?}");
    // What is not watched is the same.
    assert!(listed(example("buck").0, Aliases::Keep, &mut NoObserver, said).is_some());
}

/// Index reduction looks twice where couplings that it differentiates are put in another form.
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
        counted.takes_at_most(2);
    }
}
