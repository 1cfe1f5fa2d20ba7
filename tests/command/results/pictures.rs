//! Pictures: SVG and terminal.

use super::trajectories;
use super::xml::{Element, checked, texts};
use bgm::picture::{Run, Series, Trajectories, svg, terminal};
use proptest::prelude::*;

fn plot(data: &Trajectories) -> Vec<Element> {
    checked(&svg::plot("Model", data, None).expect("a picture"))
}

fn lines(elements: &[Element]) -> Vec<&Element> {
    let lines = elements.iter();
    lines.filter(|element| element.name == "polyline").collect()
}

fn data(times: &[f64], series: Vec<Series>) -> Trajectories {
    Trajectories {
        times: times.to_vec(),
        series,
    }
}

fn sine(count: usize) -> Trajectories {
    let times: Vec<f64> = (0..count)
        .map(|at| at as f64 * 10.0 / count as f64)
        .collect();
    let values = times.iter().map(|time| time.sin()).collect();
    data(&times, vec![Series::new("C1.e", Some("V"), values)])
}

fn runs(count: usize) -> Vec<Run> {
    let run = |at: usize| {
        let r = (at + 1) as f64 * 10.0;
        let mut result = sine(50);
        result
            .series
            .push(Series::new("L1.f", Some("A"), vec![r; 50]));
        Run {
            label: format!("R1.R = {r}"),
            parameters: vec![("R1.R".to_string(), r)],
            result,
        }
    };
    (0..count).map(run).collect()
}

#[test]
fn a_picture_has_title_axes_units_and_a_legend() {
    let mut two = sine(200);
    two.series
        .push(Series::new("R1.e", Some("V"), vec![0.5; 200]));
    two.series
        .push(Series::new("L1.f", Some("A"), vec![0.002; 200]));
    let elements = plot(&two);
    let texts = texts(&elements);
    for text in [
        "Model",
        "C1.e",
        "R1.e",
        "[V]",
        "L1.f [mA]",
        "Time [s]",
        "0",
        "10",
        "−0.5",
    ] {
        // The last time is 9.95: the axis ends there and has no tick at 10.
        assert_eq!(texts.contains(&text), text != "10", "{text} in {texts:?}");
    }
    let times = texts.iter().filter(|text| **text == "9").count();
    assert_eq!(times, 1, "only the lowest panel has labels of time");
    assert_eq!(lines(&elements).len(), 3);
    let again = svg::plot("Model", &two, None);
    assert_eq!(again, svg::plot("Model", &two, None));
}

#[test]
fn names_are_escaped() {
    let odd = data(
        &[0.0, 1.0],
        vec![Series::new("a<b & \"c\"[1]\u{1}", None, vec![0.0, 1.0])],
    );
    let picture = svg::plot("x < y & z", &odd, None).expect("a picture");
    let elements = checked(&picture);
    assert!(texts(&elements).contains(&"x < y & z"));
    assert!(texts(&elements).contains(&"a<b & \"c\"[1]"));
}

#[test]
fn long_names_are_shortened_and_whole_under_the_mouse() {
    let name = "Plant.Section[3].Subsection.Pump.Motor.Rotor.Winding.temperature".repeat(3);
    let two = vec![
        Series::new(name.clone(), Some("K"), vec![1.0, 2.0]),
        Series::boolean(format!("{name}.on"), vec![0.0, 1.0]),
    ];
    let elements = plot(&data(&[0.0, 1.0], two));
    assert!(texts(&elements).iter().any(|text| text.contains('…')));
    assert!(elements.iter().any(|e| e.name == "title" && e.text == name));
    let titled = svg::plot(&name, &sine(10), None).expect("a picture");
    checked(&titled);
}

#[test]
fn booleans_are_steps_in_lanes() {
    let times = [0.0, 1.0, 2.0, 3.0, 4.0];
    let elements = plot(&data(
        &times,
        vec![
            Series::boolean("on", vec![0.0, 1.0, 1.0, 0.0, 0.0]),
            Series::boolean("off", vec![1.0, 0.0, 0.0, 1.0, 1.0]),
        ],
    ));
    let lines = lines(&elements);
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let points = line.points();
        assert!(
            points
                .windows(2)
                .all(|p| p[0].0 == p[1].0 || p[0].1 == p[1].1)
        );
        assert_eq!(points.len(), 6, "two steps and no more points");
    }
    let lowest = lines[0].points().iter().map(|p| p.1).fold(0.0, f64::max);
    let highest = lines[1].points().iter().map(|p| p.1).fold(1e9, f64::min);
    assert!(lowest < highest, "lanes do not overlap");
    assert!(texts(&elements).contains(&"on"));
}

#[test]
fn a_step_holds_until_the_next_time() {
    let elements = plot(&data(
        &[0.0, 5.0, 10.0],
        vec![Series::boolean("b", vec![0.0, 1.0, 1.0])],
    ));
    let points = lines(&elements)[0].points();
    let middle = (points[0].0 + points[points.len() - 1].0) / 2.0;
    assert!((points[1].0 - middle).abs() < 0.02 && points[1].1 == points[0].1);
}

#[test]
fn gaps_jumps_and_single_points() {
    let nan = f64::NAN;
    let gap = data(
        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        vec![Series::new(
            "x",
            None,
            vec![0.0, 1.0, nan, 2.0, f64::INFINITY, 1.0],
        )],
    );
    let elements = plot(&gap);
    assert_eq!(lines(&elements).len(), 1);
    let dots = elements.iter().filter(|e| e.name == "circle").count();
    assert_eq!(dots, 2, "what has no neighbour is a dot");
    let jump = data(
        &[0.0, 1.0, 1.0, 2.0],
        vec![Series::new("x", None, vec![0.0, 0.0, 1.0, 1.0])],
    );
    let elements = plot(&jump);
    let points = lines(&elements)[0].points();
    assert_eq!(points.len(), 4);
    assert_eq!(points[1].0, points[2].0, "a jump is vertical");
}

#[test]
fn unusual_data_give_pictures() {
    let one = |values: Vec<f64>| {
        let times: Vec<f64> = (0..values.len()).map(|at| at as f64).collect();
        data(&times, vec![Series::new("x", Some("m"), values)])
    };
    for values in [
        vec![],
        vec![2.0],
        vec![0.0; 5],
        vec![7.0; 5],
        vec![1e-300, 2e-300, 5e-324],
        vec![-f64::MAX, f64::MAX],
        vec![f64::NAN; 3],
        vec![101_325.0, 101_325.000_1],
        vec![1.0, 1.0 + f64::EPSILON],
    ] {
        let elements = plot(&one(values.clone()));
        let finite = values.iter().any(|value| value.is_finite());
        let drawn = elements
            .iter()
            .any(|e| e.name == "polyline" || e.name == "circle");
        assert_eq!(drawn, finite, "{values:?}");
        assert_eq!(texts(&elements).contains(&"no values"), !finite);
    }
    checked(&svg::plot("", &Trajectories::default(), None).expect("a picture"));
    checked(&svg::plot_runs("", &[], None).expect("a picture"));
    checked(&svg::plot("", &sine(10), Some(&[vec![], vec![0, 0]])).expect("a picture"));
    let wrong = svg::plot("", &sine(10), Some(&[vec![3]]));
    assert_eq!(wrong, Err("there is no variable 4 of 1".to_string()));
    // A run that broke off has fewer values than times.
    let mut short = sine(10);
    short.series[0].values.truncate(4);
    plot(&short);
}

#[test]
fn long_runs_are_thinned() {
    let mut long = sine(300_000);
    long.series[0].values[123_456] = 50.0;
    let elements = plot(&long);
    let points = lines(&elements)[0].points();
    assert!(points.len() <= 2000, "{} points", points.len());
    let highest = points.iter().map(|p| p.1).fold(1e9, f64::min);
    let second = points.iter().filter(|p| p.1 > highest + 100.0).count();
    assert_eq!(second, points.len() - 1, "the single peak is there");
}

#[test]
fn families_have_ramps_and_legends() {
    let few = svg::plot_runs("Sweep", &runs(5), None).expect("a picture");
    let elements = checked(&few);
    for text in ["R1.R", "10", "50", "C1.e [V]", "L1.f [A]"] {
        assert!(texts(&elements).contains(&text), "{text}");
    }
    let mut colours: Vec<&str> = lines(&elements)
        .iter()
        .filter_map(|l| l.get("stroke"))
        .collect();
    assert_eq!(colours.len(), 10);
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), 5, "a run has one colour in all panels");

    let many = svg::plot_runs("Sweep", &runs(30), Some(&[vec![0]])).expect("a picture");
    let elements = checked(&many);
    let texts_of_many = texts(&elements);
    assert!(
        ["10", "150", "300"]
            .iter()
            .all(|text| texts_of_many.contains(text))
    );
    assert!(!texts_of_many.contains(&"20"), "a bar has three labels");
    assert_eq!(elements.iter().filter(|e| e.name == "rect").count(), 2 + 30);

    let together = svg::plot_runs("Sweep", &runs(3), Some(&[vec![0, 1]])).expect("a picture");
    let elements = checked(&together);
    let mut colours: Vec<&str> = lines(&elements)
        .iter()
        .filter_map(|l| l.get("stroke"))
        .collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), 6, "each variable has its ramp");
    let mut other = runs(2);
    other[1].result.series.pop();
    assert!(svg::plot_runs("Sweep", &other, None).is_err());
}

#[test]
fn a_large_sweep_stays_a_small_file() {
    let run = |at: usize| Run {
        label: String::new(),
        parameters: vec![("a".into(), 1.0), ("b".into(), at as f64)],
        result: sine(20_000),
    };
    let all: Vec<Run> = (0..200).map(run).collect();
    let picture = svg::plot_runs("Sweep", &all, None).expect("a picture");
    assert!(picture.len() < 1_500_000, "{} bytes", picture.len());
    assert!(texts(&checked(&picture)).contains(&"run 200"));
}

/// The characters of a line, without the codes of colours.
fn length(line: &str) -> usize {
    let mut count = 0;
    let mut parts = line.split('\u{1b}');
    count += parts.next().map_or(0, |part| part.chars().count());
    for part in parts {
        let after = part.split_once('m').expect("a colour ends").1;
        count += after.chars().count();
    }
    count
}

#[test]
fn a_terminal_plot_shows_curve_ticks_and_legend() {
    let text = terminal::plot("RLC", &sine(500), &[0], (60, 12), false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12);
    assert_eq!(lines[0], "RLC");
    assert!(text.contains("0.5 ┤") && text.contains("−0.5 ┤"), "{text}");
    assert!(lines[11].contains("⠒⠒⠒ C1.e [V]") && lines[11].ends_with("Time [s]"));
    // The sine goes up first: dots of the first columns are in the upper half.
    let column = |line: &str| line.chars().nth(15).is_some_and(|c| c > '\u{2800}');
    let row = lines[1..10].iter().position(|line| column(line));
    assert!(row.is_some_and(|row| row < 4), "{text}");
    let painted = terminal::plot("RLC", &sine(500), &[0], (60, 12), true);
    assert!(painted.contains("\u{1b}[38;5;32m") && painted.lines().all(|l| length(l) <= 60));
}

#[test]
fn a_level_line_is_drawn_without_holes() {
    let level = data(&[0.0, 1.0, 2.0], vec![Series::new("x", None, vec![3.0; 3])]);
    let text = terminal::plot("", &level, &[0], (50, 10), false);
    let longest = text.lines().map(|line| {
        line.chars()
            .filter(|c| ('\u{2801}'..='\u{28ff}').contains(c))
            .count()
    });
    let margin = text
        .lines()
        .next()
        .and_then(|l| l.chars().position(|c| "┤│".contains(c)));
    assert_eq!(
        longest.max(),
        margin.map(|margin| 50 - margin - 1),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_data_give_a_picture_inside_its_frame(data in trajectories()) {
        let picture = svg::plot("Any", &data, None);
        prop_assert!(picture.is_ok());
        checked(&picture.unwrap_or_default());
        let all: Vec<usize> = (0..data.series.len()).collect();
        let together = svg::plot("Any", &data, Some(std::slice::from_ref(&all)));
        checked(&together.unwrap_or_default());
        let run = |value: f64| Run {
            label: String::new(),
            parameters: vec![("p".to_string(), value)],
            result: data.clone(),
        };
        let family = svg::plot_runs("Any", &[run(1.0), run(2.0)], Some(std::slice::from_ref(&all)));
        checked(&family.unwrap_or_default());
    }

    #[test]
    fn any_data_fit_the_terminal(
        data in trajectories(),
        width in 0usize..120,
        height in 0usize..40,
        colour in any::<bool>(),
    ) {
        let chosen = terminal::chosen(&data);
        let all: Vec<usize> = (0..data.series.len() + 1).collect();
        for which in [chosen, all] {
            let text = terminal::plot("Any\nmodel", &data, &which, (width, height), colour);
            for line in text.lines() {
                prop_assert!(length(line) <= width.max(28), "{text}");
            }
            prop_assert!(text.lines().count() <= height.max(11), "{text}");
        }
    }
}
