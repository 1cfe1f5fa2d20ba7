//! Experiments: every statement has its effect, on the flat model or on what the simulator is told; the
//! command line counts more; which experiment is taken; sweeps.

use std::io;
use std::path::{Path, PathBuf};

use bgm::base::diagnostics::Diagnostics;
use bgm::base::diagnostics::render::render;
use bgm::compile::{Aliases, Options, Prepared, prepare, solved};
use bgm::experiment::{Experiment, Request, read_sweep, with_parameter};
use bgm::expr::Value;
use bgm::flat::{EquationKind, Flat, Kind, VarId};
use bgm::syntax::load::{Files, Input, NoFiles};

const FILTER: &str = "
@bondgraph
model Filter
  parameter scale = 1, level = 2*scale, on = true, n = 2, m = n
  constant g = 9.81
  submodel (SE) U0
  submodel (R) R1(R = 10*scale)
  submodel (C) C1(C = 0.5) (ic e = level)
  submodel (C) c[2](C = 1)
  junction1 j
  input u = 5*scale
  local h[m], w, count
  output y
  init(w) = level + 1
  der(w) = if on then -w else 0
  when w < 1 then
    new(count) = count + 1
  endwhen
  for i in 1 to m do
    der(h[i]) = -h[i]
  endfor
  connect U0 at j, R1 at j, C1 at j, c[1] at j, c[2] at j
  U0.E0 = u
  y = C1.e
end
";

fn asked(text: &str, request: Request) -> Prepared {
    let options = Options {
        request,
        ..Options::default()
    };
    prepare(
        &Input::Standard(text.as_bytes().to_vec()),
        &options,
        &NoFiles,
    )
}

fn said(prepared: &Prepared) -> String {
    let mut text = String::new();
    for diagnostic in prepared.diagnostics.iter() {
        render(&prepared.sources, diagnostic, false, &mut text);
    }
    text
}

/// The model of the filter with an experiment of these statements.
fn with(body: &str, request: Request) -> (Flat, Experiment) {
    let text = format!("{FILTER}\nexperiment Filter\n{body}\nend\n");
    fine(&text, request)
}

fn fine(text: &str, request: Request) -> (Flat, Experiment) {
    let mut prepared = asked(text, request);
    let all = said(&prepared);
    prepared.model.take().unwrap_or_else(|| panic!("{all}"))
}

/// What is said of a mistake: its code, and words of the message.
fn fails(text: &str, request: Request, code: &str, words: &[&str]) {
    let prepared = asked(text, request);
    let all = said(&prepared);
    assert!(prepared.model.is_none(), "no error: {text}");
    assert!(all.contains(&format!("[{code}]")), "no {code}: {all}");
    for word in words {
        assert!(all.contains(word), "no `{word}`: {all}");
    }
}

fn id(flat: &Flat, name: &str) -> VarId {
    (flat.variable_ids())
        .find(|&id| flat.name(id) == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn value(flat: &Flat, name: &str) -> Option<Value> {
    flat.value(id(flat, name)).map(|given| given.value)
}

fn start(flat: &Flat, name: &str) -> Option<Value> {
    flat.start(id(flat, name)).map(|given| given.value)
}

fn equations(flat: &Flat) -> Vec<String> {
    flat.equation_ids()
        .map(|id| flat.equation_text(id))
        .collect()
}

const fn real(value: f64) -> Option<Value> {
    Some(Value::Real(value))
}

fn command(set: &[&str], init: &[&str], input: &[&str]) -> Request {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    Request {
        set: texts(set),
        init: texts(init),
        input: texts(input),
        ..Request::default()
    }
}

#[test]
fn a_model_without_an_experiment_is_as_it_was_written() {
    let (flat, experiment) = fine(FILTER, Request::default());
    assert_eq!(experiment, Experiment::default());
    assert_eq!(value(&flat, "level"), real(2.0));
    assert_eq!(start(&flat, "C1.e"), real(2.0));
    assert!(equations(&flat).contains(&"init(w) = level + 1".to_string()));
}

#[test]
fn a_parameter_takes_along_all_that_is_computed_from_it() {
    let (flat, experiment) = with("parameter scale = 3, on = false", Request::default());
    assert_eq!(value(&flat, "scale"), real(3.0));
    assert_eq!(value(&flat, "on"), Some(Value::Bool(false)));
    assert_eq!(value(&flat, "level"), real(6.0));
    assert_eq!(value(&flat, "R1.R"), real(30.0));
    assert_eq!(value(&flat, "u"), real(15.0), "the default of an input");
    assert_eq!(start(&flat, "C1.e"), real(6.0), "a start value");
    assert_eq!(start(&flat, "w"), real(7.0));
    assert_eq!(value(&flat, "C1.C"), real(0.5), "untouched");
    let set: Vec<(String, Value)> = (experiment.set.iter())
        .map(|set| (flat.name(set.variable), set.value))
        .collect();
    let wanted = [("scale", Value::Real(3.0)), ("on", Value::Bool(false))];
    assert_eq!(set, wanted.map(|(name, value)| (name.to_string(), value)));
}

#[test]
fn a_parameter_may_be_given_by_others_that_are_given() {
    let (flat, _) = with(
        "parameter C1.C = level/4, c[2].C = C1.C + 1\n parameter scale = 10",
        Request::default(),
    );
    assert_eq!(value(&flat, "C1.C"), real(5.0));
    assert_eq!(value(&flat, "c[2].C"), real(6.0));
    assert_eq!(value(&flat, "c[1].C"), real(1.0));
}

#[test]
fn a_start_value_is_the_strongest() {
    let (flat, experiment) = with(
        "init C1.e = 7, w = scale/2, h[2] = 4, count = 3",
        Request::default(),
    );
    assert_eq!(start(&flat, "C1.e"), real(7.0));
    assert_eq!(start(&flat, "w"), real(0.5));
    assert_eq!(start(&flat, "h[2]"), real(4.0));
    assert_eq!(start(&flat, "h[1]"), None);
    assert_eq!(start(&flat, "count"), real(3.0));
    assert_eq!(experiment.starts.len(), 4);
    let inits = (flat.equations.iter()).filter(|equation| equation.kind == EquationKind::Init);
    assert_eq!(inits.count(), 0, "init(w) of the model is overruled");
    let depths: Vec<u32> = flat.starts.iter().map(|given| given.depth).collect();
    assert_eq!(depths, [1; 4], "only the command line is further out");
}

#[test]
fn a_start_value_by_the_name_of_an_alias_is_that_of_the_state() {
    for (body, wanted) in [("init y = 7", 7.0), ("parameter scale = 1", 2.0)] {
        let (flat, _) = with(&format!("input u = 1\n{body}"), Request::default());
        let state = id(&flat, "C1.e");
        let mut said = Diagnostics::default();
        let solved = solved(flat, Aliases::Eliminate, &mut said)
            .expect("it can be solved")
            .solved;
        let start = solved.flat.start(state).map(|given| given.value);
        assert_eq!(start, real(wanted), "{body}");
    }
}

#[test]
fn a_start_value_of_the_command_line_is_stronger_by_any_name() {
    for (body, init) in [("init C1.e = 3", "y=7"), ("init y = 3", "C1.e=7")] {
        let (flat, _) = with(&format!("input u = 1\n{body}"), command(&[], &[init], &[]));
        let state = id(&flat, "C1.e");
        let mut said = Diagnostics::default();
        let solved = solved(flat, Aliases::Eliminate, &mut said)
            .expect("it can be solved")
            .solved;
        let start = solved.flat.start(state).map(|given| given.value);
        assert_eq!(start, real(7.0), "{body}, {init}");
    }
}

#[test]
fn an_input_has_an_equation() {
    let (flat, experiment) = with("input u = scale*sin(2*Time)", Request::default());
    assert!(equations(&flat).contains(&"u = scale*sin(2*Time)".to_string()));
    assert_eq!(flat.variable(id(&flat, "u")).kind, Kind::Algebraic);
    assert_eq!(
        value(&flat, "u"),
        None,
        "its default does not count any more"
    );
    assert_eq!(experiment.inputs.len(), 1);
    assert_eq!(experiment.inputs[0].0, id(&flat, "u"));
}

#[test]
fn times_points_and_tolerances() {
    let (flat, experiment) = with(
        "start 1  simutime 2*scale + 1  commupoints 5  step 0.5\n\
         method radau  tolerance 1e-8  absolute 1e-10  absolute y 1e-18  absolute h[1] 1e-12",
        Request::default(),
    );
    assert_eq!(experiment.start, 1.0);
    assert_eq!(experiment.until, Some(3.0));
    assert_eq!(experiment.points, Some(5));
    assert_eq!(experiment.step, Some(0.5));
    assert_eq!(experiment.times(3.0, 100), [1.0, 1.5, 2.0, 2.5, 3.0]);
    assert_eq!(experiment.tolerance, Some(1e-8));
    assert_eq!(experiment.absolute, Some(1e-10));
    let mut wanted = [(id(&flat, "y"), 1e-18), (id(&flat, "h[1]"), 1e-12)];
    wanted.sort_by_key(|&(id, _)| id);
    assert_eq!(experiment.absolutes, wanted);
    let method = experiment.method.as_ref().map(|(name, _)| name.as_str());
    assert_eq!(method, Some("radau"));
    assert!(experiment.places.until.is_some() && experiment.places.step.is_some());
}

#[test]
fn a_step_makes_points() {
    let (_, experiment) = with("simutime 1 step 0.1", Request::default());
    assert_eq!(experiment.points, Some(11));
    assert_eq!(experiment.times(1.0, 3).len(), 11);
    let (_, experiment) = with("simutime 1 step 0.3", Request::default());
    assert_eq!(experiment.points, Some(5));
    let times = experiment.times(1.0, 3);
    assert_eq!(times.len(), 5);
    assert_eq!(times[4], 1.0);
    assert!((times[3] - 0.9).abs() < 1e-15);
    let (_, experiment) = with("commupoints 3", Request::default());
    assert_eq!(experiment.times(4.0, 100), [0.0, 2.0, 4.0]);
    let (_, experiment) = with("", Request::default());
    assert_eq!(experiment.times(4.0, 5), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(experiment.times(0.0, 5), [0.0]);
}

#[test]
fn what_is_shown() {
    let (flat, experiment) = with("plot y, c[2].e, R1.R\nplot C1.A.power", Request::default());
    let shown: Vec<Vec<(String, Option<String>)>> = (experiment.plots.iter())
        .map(|panel| {
            let one = |plotted: &bgm::experiment::Plotted| {
                (
                    plotted.name.clone(),
                    plotted.variable.map(|id| flat.name(id)),
                )
            };
            panel.iter().map(one).collect()
        })
        .collect();
    let variable = |name: &str| (name.to_string(), Some(name.to_string()));
    assert_eq!(shown[0], ["y", "c[2].e", "R1.R"].map(variable));
    assert_eq!(shown[1], [("C1.A.power".to_string(), None)]);
}

#[test]
fn the_command_line_counts_more() {
    let body = "parameter scale = 3\n init w = 1\n input u = 1\n simutime 2 commupoints 11 step 0.2\n\
                method bdf tolerance 1e-3 absolute 1e-5 absolute y 1e-6 absolute w 1e-7";
    let request = Request {
        until: Some(4.0),
        start: Some(-1.0),
        method: Some("euler".to_string()),
        tolerance: Some(1e-9),
        absolute: vec!["1e-12".to_string(), "y=1e-13".to_string()],
        ..command(
            &["scale=5", "C1.C=level, c[1].C=8"],
            &["y=2*scale"],
            &["u=sin(Time)"],
        )
    };
    let (flat, experiment) = with(body, request);
    assert_eq!(value(&flat, "scale"), real(5.0));
    assert_eq!(value(&flat, "C1.C"), real(10.0));
    assert_eq!(value(&flat, "c[1].C"), real(8.0));
    assert_eq!(start(&flat, "w"), real(1.0));
    assert_eq!(start(&flat, "y"), real(10.0));
    assert!(equations(&flat).contains(&"u = sin(Time)".to_string()));
    assert!(!equations(&flat).contains(&"u = 1".to_string()));
    assert_eq!((experiment.start, experiment.until), (-1.0, Some(4.0)));
    assert_eq!(experiment.points, Some(11), "as many as the file says");
    assert_eq!(experiment.step, None, "which was for another time");
    assert_eq!(experiment.tolerance, Some(1e-9));
    assert_eq!(experiment.absolute, Some(1e-12));
    let mut wanted = [(id(&flat, "y"), 1e-13), (id(&flat, "w"), 1e-7)];
    wanted.sort_by_key(|&(id, _)| id);
    assert_eq!(experiment.absolutes, wanted);
    assert_eq!(
        experiment.method.map(|(name, _)| name),
        Some("euler".to_string())
    );
    let points = |points, step| Request {
        points,
        step,
        ..Request::default()
    };
    assert_eq!(with(body, points(Some(7), None)).1.points, Some(7));
    assert_eq!(with(body, points(None, Some(0.5))).1.points, Some(5));
}

#[test]
fn mistakes_on_the_command_line_are_shown_there() {
    let set = |text: &str| command(&[text], &[], &[]);
    fails(
        FILTER,
        set("R1.r=5"),
        "E0303",
        &["command line:1:7", "`R1.R`?", "--set R1.r=5"],
    );
    fails(FILTER, set("R1.R"), "E0106", &["command line:1:"]);
    fails(
        FILTER,
        set("R1.R=5; simutime 3"),
        "E0106",
        &["more than one thing"],
    );
    fails(FILTER, set(""), "E0106", &["the value is missing"]);
    fails(FILTER, set("on=3"), "E0504", &["command line:1:10"]);
    fails(FILTER, set("n=3"), "E0511", &["shapes the model"]);
    fails(FILTER, set("g=3"), "E0511", &["a constant"]);
    fails(FILTER, set("scale=1e400"), "E0107", &["command line:1:13"]);
    fails(FILTER, set("scale=1/0"), "E0510", &["command line:1:13"]);
    let init = |text: &str| command(&[], &[text], &[]);
    fails(FILTER, init("C1.ee=1"), "E0302", &["`C1.e`?"]);
    fails(
        FILTER,
        init("w=u"),
        "E0501",
        &["a start value cannot depend on `u`"],
    );
    fails(
        FILTER,
        command(&[], &[], &["u=w"]),
        "E0501",
        &["an input cannot depend on `w`"],
    );
    let times = |until, points, step, tolerance| Request {
        until,
        points,
        step,
        tolerance,
        ..Request::default()
    };
    let message = &["--until -1", "the end time -1 lies before the start time 0"];
    fails(
        FILTER,
        times(Some(-1.0), None, None, None),
        "E0512",
        message,
    );
    fails(
        FILTER,
        times(None, Some(0), None, None),
        "E0512",
        &["--points 0"],
    );
    fails(
        FILTER,
        times(None, None, Some(0.0), None),
        "E0512",
        &["--step 0"],
    );
    fails(
        FILTER,
        times(None, None, None, Some(-1.0)),
        "E0512",
        &["--tolerance -1"],
    );
    let agree = times(Some(1.0), Some(10), Some(0.1), None);
    fails(
        FILTER,
        agree,
        "E0512",
        &["10 points and a step of 0.1 do not agree"],
    );
}

/// "Bond graph modeling in Dymola", 1990: the experiment of the RLC network as printed.
#[test]
fn the_cmodel_of_the_1990_paper() {
    let text = include_str!("../papers/cellier-1990-rlc.bgm");
    let (flat, experiment) = fine(text, Request::default());
    assert_eq!(experiment.name, None);
    assert_eq!(experiment.until, Some(2e-5));
    assert_eq!(experiment.step, Some(2e-7));
    assert_eq!(experiment.points, Some(101));
    assert!(equations(&flat).contains(&"u = 10".to_string()));
    let names: Vec<&str> = (experiment.plots.iter().flatten())
        .map(|plotted| plotted.name.as_str())
        .collect();
    assert_eq!(names, ["y1", "y2"]);
    let times = experiment.times(2e-5, 0);
    assert_eq!(times.len(), 101);
    assert_eq!((times[0], times[100]), (0.0, 2e-5));
}

#[test]
fn which_experiment_is_taken() {
    let named = |name: &str| format!("experiment {name} for Filter\n input u = 1\nend\n");
    let taken = |text: &str, wanted: Option<&str>| {
        let request = Request {
            experiment: wanted.map(str::to_string),
            ..Request::default()
        };
        fine(&format!("{FILTER}{text}"), request).1
    };
    let (fast, slow) = (named("fast"), named("slow"));
    let own = "experiment Filter\n simutime 3\nend\n";
    assert_eq!(
        taken(&fast, None).name.as_deref(),
        Some("fast"),
        "the only one"
    );
    let all = format!("{fast}{slow}{own}");
    assert_eq!(taken(&all, None).until, Some(3.0), "the one without a name");
    assert_eq!(taken(&all, Some("Filter")).until, Some(3.0));
    assert_eq!(taken(&all, Some("slow")).name.as_deref(), Some("slow"));
    let classic = format!("cmodel\n simutime 4\nend\n{fast}");
    assert_eq!(taken(&classic, None).until, Some(4.0));
    assert_eq!(taken(&format!("{classic}{own}"), None).until, Some(3.0));
    fails(
        &format!("{FILTER}{fast}{slow}"),
        Request::default(),
        "E0208",
        &[
            "several experiments",
            "`--experiment fast` or `--experiment slow`",
        ],
    );
    let other = "model Other\nend\nexperiment odd for Other\nend\n";
    let (_, experiment) = fine(&format!("{other}{FILTER}"), Request::default());
    assert_eq!(experiment, Experiment::default(), "it is for another model");
    fails(
        &format!("{FILTER}experiment Fliter\nend\n"),
        Request::default(),
        "E0206",
        &["`Filter`?"],
    );
    fails(
        &format!("{FILTER}{own}{own}"),
        Request::default(),
        "E0312",
        &["two experiments"],
    );
}

/// A few files in memory.
struct Texts<'t>(&'t [(&'t str, &'t str)]);

impl Files for Texts<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        (found.map(|(_, text)| text.as_bytes().to_vec()))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.to_string()).collect()
    }
}

#[test]
fn experiments_in_files_of_their_own() {
    let files = Texts(&[
        ("filter.bgm", FILTER),
        (
            "runs/far.bgm",
            "experiment far for Filter\n parameter scale = 9\nend\n",
        ),
        (
            "session.ctl",
            "cmodel\n simutime 7\n input 1, u(independ, 2)\nend\n",
        ),
        (
            "run.bgm",
            "@filter\nexperiment near for Filter\n simutime 8\nend\n",
        ),
        ("classic.bgm", "@filter\ncmodel\n simutime 9\nend\n"),
        ("other.bgm", "model Other\nend\nexperiment Other\nend\n"),
    ]);
    let run = |main: &str, experiment: Option<&str>| {
        let options = Options {
            request: Request {
                experiment: experiment.map(str::to_string),
                ..Request::default()
            },
            ..Options::default()
        };
        prepare(&Input::File(main.into()), &options, &files)
    };
    let fine = |main: &str, experiment: Option<&str>| {
        let mut prepared = run(main, experiment);
        let all = said(&prepared);
        prepared
            .model
            .take()
            .unwrap_or_else(|| panic!("{main}: {all}"))
    };
    let (flat, experiment) = fine("filter.bgm", Some("runs/far.bgm"));
    assert_eq!(value(&flat, "level"), real(18.0));
    assert_eq!(experiment.name.as_deref(), Some("far"));
    let (flat, experiment) = fine("filter.bgm", Some("session.ctl"));
    assert_eq!(experiment.until, Some(7.0));
    assert!(equations(&flat).contains(&"u = 2".to_string()));
    let (flat, experiment) = fine("run.bgm", None);
    assert_eq!((flat.model(), experiment.until), ("Filter", Some(8.0)));
    let (flat, experiment) = fine("classic.bgm", None);
    assert_eq!((flat.model(), experiment.until), ("Filter", Some(9.0)));
    let wrong = |main: &str, experiment: &str, words: &[&str]| {
        let all = said(&run(main, Some(experiment)));
        for word in words {
            assert!(all.contains(word), "no `{word}`: {all}");
        }
    };
    wrong(
        "filter.bgm",
        "runs/near.bgm",
        &["[E0201]", "cannot read the experiment"],
    );
    wrong("filter.bgm", "other.bgm", &["[E0208]", "`--model Other`"]);
}

#[test]
fn values_of_a_sweep() {
    fn values(text: &str) -> (&str, Vec<f64>) {
        read_sweep(text).expect(text)
    }
    assert_eq!(values("R1.R=10,20,50"), ("R1.R", vec![10.0, 20.0, 50.0]));
    assert_eq!(values("R1.R = 5"), ("R1.R", vec![5.0]));
    assert_eq!(values("c[2].R=-1, 1e3,"), ("c[2].R", vec![-1.0, 1000.0]));
    assert_eq!(values("R=1..3/5").1, [1.0, 1.5, 2.0, 2.5, 3.0]);
    assert_eq!(values("R=3..1/2").1, [3.0, 1.0]);
    assert_eq!(values("R=2..2/1").1, [2.0]);
    let decades = values("R=1..100/3log").1;
    assert_eq!((decades[0], decades[2]), (1.0, 100.0));
    assert!((decades[1] - 10.0).abs() < 1e-12);
    // The difference or the ratio of the ends overflows.
    assert_eq!(values("R=1e308..-1e308/3").1, [1e308, 0.0, -1e308]);
    let wide = values("R=1e-300..1e300/3log").1;
    assert!((wide[1] - 1.0).abs() < 1e-9, "{wide:?}");
    let many = values("R=1..100/12log").1;
    assert_eq!((many.len(), many[11]), (12, 100.0));
    for pair in many.windows(2) {
        let ratio = pair[1] / pair[0];
        assert!((ratio - 100f64.powf(1.0 / 11.0)).abs() < 1e-12);
    }
    for (text, words) in [
        ("R", "needs a parameter and its values"),
        ("=1,2", "names no parameter"),
        ("R=", "has no values"),
        ("R= ", "has no values"),
        ("R=1,,2", "a value is missing"),
        ("R=1,x", "`x` is not a number"),
        ("R=nan", "`nan` is not a number"),
        ("R=1..10", "how many values"),
        ("R=1..10/0", "has no values"),
        ("R=1..10/-3", "`-3` is not a number of values"),
        ("R=1..10/1.5log", "`1.5` is not a number of values"),
        ("R=0..10/3log", "larger than zero"),
        ("R=1..-10/3log", "larger than zero"),
        ("R=1..10/1", "a single value"),
        ("R=..10/3", "a value is missing"),
    ] {
        let error = read_sweep(text).expect_err(text);
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn sweeps_of_a_model() {
    let sweep = |list: &[&str]| Request {
        sweep: list.iter().map(ToString::to_string).collect(),
        ..Request::default()
    };
    let (flat, experiment) = with(
        "parameter scale = 2",
        sweep(&["scale=1,2", "c[2].C=1..3/3"]),
    );
    let names: Vec<&str> = (experiment.sweeps.iter())
        .map(|sweep| &sweep.name[..])
        .collect();
    assert_eq!(names, ["scale", "c[2].C"]);
    assert_eq!(experiment.sweeps[0].variable, id(&flat, "scale"));
    assert_eq!(experiment.sweeps[1].values, [1.0, 2.0, 3.0]);
    fails(
        FILTER,
        sweep(&["scale="]),
        "E0512",
        &["--sweep scale=", "has no values"],
    );
    fails(
        FILTER,
        sweep(&["scael=1,2"]),
        "E0303",
        &["`scale`?", "command line:1:9"],
    );
    fails(FILTER, sweep(&["C1.e=1,2"]), "E0303", &["no parameter"]);
    fails(FILTER, sweep(&["on=0,1"]), "E0504", &["boolean"]);
    fails(FILTER, sweep(&["n=1,2"]), "E0511", &["shapes the model"]);
    fails(FILTER, sweep(&["g=1,2"]), "E0511", &["a constant"]);
    fails(
        FILTER,
        sweep(&["scale=1", "scale=2"]),
        "E0312",
        &["given twice"],
    );
    fails(
        FILTER,
        sweep(&["scale,level=1"]),
        "E0512",
        &["exactly one parameter is needed"],
    );
    let both = Request {
        set: vec!["scale=1".to_string()],
        ..sweep(&["scale=2"])
    };
    fails(FILTER, both, "E0312", &["--set scale=1", "--sweep scale=2"]);
}

#[test]
fn a_run_of_a_sweep_has_its_own_values() {
    let (flat, _) = with("input u = 1", Request::default());
    let scale = id(&flat, "scale");
    let mut copy = flat.clone();
    with_parameter(&mut copy, scale, 4.0).expect("it can be set");
    assert_eq!(value(&copy, "R1.R"), real(40.0));
    assert_eq!(start(&copy, "C1.e"), real(8.0));
    assert_eq!(
        value(&flat, "R1.R"),
        real(10.0),
        "the original is as it was"
    );
    let text = "model M\n parameter R = 1, G = 1/R\n local x\n der(x) = -G*x\nend";
    let (flat, _) = fine(text, Request::default());
    let mut copy = flat.clone();
    let error = with_parameter(&mut copy, id(&flat, "R"), 0.0).expect_err("a division by zero");
    assert!(error.message.contains("`G`"), "{}", error.message);
}
