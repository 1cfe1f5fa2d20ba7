//! Results as files and pictures: rows read back exactly, files are valid at any moment, pictures
//! are well formed and stay inside their frame, whatever the data are.

mod files;
mod pictures;
mod xml;

use bgm::cli::progress::{Progress, Task};
use bgm::picture::scale::{Scale, Wish};
use bgm::picture::thin::thinned;
use bgm::picture::{Series, Trajectories, panels};
use proptest::prelude::*;

/// Values as models give them, and as they should not.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0f64,
        1 => any::<f64>(),
        1 => prop_oneof![Just(0.0), Just(1.0), Just(f64::NAN), Just(f64::INFINITY), Just(f64::MAX)],
    ]
}

fn trajectories() -> impl Strategy<Value = Trajectories> {
    let series = (
        "[A-Za-z.<&\"\\[\\]0-9ä]{1,40}",
        any::<bool>(),
        proptest::option::of("[VAmskg/]{0,4}"),
    );
    (0usize..30, proptest::collection::vec(series, 0..7)).prop_flat_map(|(rows, series)| {
        let columns = proptest::collection::vec(value(), rows * series.len());
        let times = proptest::collection::vec(prop_oneof![0.0..1e-4, any::<f64>()], rows);
        (columns, times).prop_map(move |(values, mut times): (Vec<f64>, Vec<f64>)| {
            times.retain(|time| time.is_finite());
            times.resize(rows, 0.0);
            times.sort_by(f64::total_cmp);
            let one = |(at, (name, boolean, unit)): (usize, &(String, bool, Option<String>))| {
                let values = values[at * rows..(at + 1) * rows].to_vec();
                Series {
                    boolean: *boolean,
                    ..Series::new(name.clone(), unit.as_deref(), values)
                }
            };
            Trajectories {
                series: series.iter().enumerate().map(one).collect(),
                times,
            }
        })
    })
}

proptest! {
    #[test]
    fn thinning_keeps_extremes_ends_and_gaps(
        values in proptest::collection::vec(value(), 1..3000),
        most in 50usize..400,
    ) {
        let times: Vec<f64> = (0..values.len()).map(|at| at as f64).collect();
        let kept = thinned(&times, &values, most);
        prop_assert!(kept.len() <= most.max(5));
        prop_assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        let extremes = |at: &mut dyn Iterator<Item = usize>| {
            let finite = at.map(|at| values[at]).filter(|value| value.is_finite());
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let all = extremes(&mut (0..values.len()));
        prop_assert_eq!(all, extremes(&mut kept.iter().copied()));
        let gaps = |mut at: &mut dyn Iterator<Item = usize>| {
            Iterator::any(&mut at, |at| !values[at].is_finite())
        };
        prop_assert_eq!(gaps(&mut (0..values.len())), gaps(&mut kept.iter().copied()));
        if all.0 <= all.1 {
            let finite = |at: &usize| values[*at].is_finite();
            prop_assert_eq!((0..values.len()).find(finite), kept.iter().copied().find(finite));
            prop_assert_eq!(
                (0..values.len()).rev().find(finite),
                kept.iter().rev().copied().find(finite)
            );
        }
    }

    #[test]
    fn an_axis_holds_its_range_with_round_ticks(
        a in any::<f64>(),
        b in any::<f64>(),
        near in any::<bool>(),
        ticks in 2usize..10,
    ) {
        prop_assume!(a.is_finite() && b.is_finite());
        let b = if near { a + a * 1e-5 } else { b };
        prop_assume!(b.is_finite());
        let (low, high) = (a.min(b), a.max(b));
        let scale = Scale::new(low, high, Wish { padding: 0.05, ticks, least: 1e-6 });
        prop_assert!(scale.low.is_finite() && scale.high.is_finite() && scale.low < scale.high);
        prop_assert!(scale.part(low) > 0.0 && scale.part(high) < 1.0);
        prop_assert!(scale.part(low) <= scale.part(high));
        prop_assert!(scale.ticks.len() >= ticks.min(3) && scale.ticks.len() <= ticks + 4);
        let room = (scale.high - scale.low) * 1e-5;
        for (tick, label) in scale.ticks.iter().zip(&scale.labels) {
            prop_assert!(*tick >= scale.low - room && *tick <= scale.high + room);
            let read: f64 = label.replace('\u{2212}', "-").parse().expect("a label is a number");
            prop_assert!((read - tick).abs() <= room, "{label} for {tick}");
            prop_assert!(label.len() <= 14, "{label} is long");
        }
        if let [first, second, ..] = scale.ticks[..] {
            let digits = format!("{:.0e}", second - first);
            prop_assert!(["1e", "2e", "5e"].contains(&&digits[..2]), "step {digits}");
        }
        let mut labels = scale.labels.clone();
        labels.dedup();
        prop_assert_eq!(labels.len(), scale.labels.len());
    }
}

#[test]
fn peaks_stay_where_they_are() {
    let count = 100_000;
    let times: Vec<f64> = (0..count).map(|at| f64::from(at) * 1e-3).collect();
    let mut values = vec![0.0; times.len()];
    for at in [7, 33_333, 77_777] {
        values[at] = 1.0;
    }
    let kept = thinned(&times, &values, 2000);
    assert!(kept.len() <= 2000);
    for at in [7, 33_333, 77_777] {
        assert!(kept.contains(&at), "the peak at {at} is gone");
    }
}

#[test]
fn ticks_are_those_one_would_choose() {
    let labels = |low: f64, high: f64| {
        let scale = Scale::new(
            low,
            high,
            Wish {
                padding: 0.0,
                ticks: 5,
                least: 1e-6,
            },
        );
        (scale.labels.join(" "), scale.exponent)
    };
    assert_eq!(labels(0.0, 10.0), ("0 2 4 6 8 10".to_string(), 0));
    assert_eq!(labels(0.0, 1.0), ("0.0 0.2 0.4 0.6 0.8 1.0".to_string(), 0));
    assert_eq!(labels(0.0, 2e-5), ("0 5 10 15 20".to_string(), -6));
    assert_eq!(labels(-325.0, 325.0), ("−200 0 200".to_string(), 0));
    assert_eq!(labels(0.0, 1e11), ("0 20 40 60 80 100".to_string(), 9));
    assert_eq!(
        labels(0.0, 1e-300),
        ("0.0 0.2 0.4 0.6 0.8 1.0".to_string(), -300)
    );
    let pascals = "101325.00 101325.05 101325.10 101325.15 101325.20";
    assert_eq!(labels(101_325.0, 101_325.2), (pascals.to_string(), 0));
    // Found by chance: a narrow range that has no multiple of the first step.
    let wish = Wish {
        padding: 0.05,
        ticks: 2,
        least: 1e-6,
    };
    let narrow = Scale::new(-4.146_556e-309, -4.146_514e-309, wish);
    assert!(narrow.ticks.len() >= 2, "{narrow:?}");
    assert_eq!(labels(0.0, 0.0), ("−1.0 −0.5 0.0 0.5 1.0".to_string(), 0));
    let unit = |high: f64, unit| {
        let wish = Wish {
            padding: 0.0,
            ticks: 5,
            least: 1e-6,
        };
        Scale::new(0.0, high, wish).unit(unit).unwrap_or_default()
    };
    assert_eq!(unit(2e-5, Some("s")), "µs");
    assert_eq!(unit(2e5, Some("s")), "10³ s");
    assert_eq!(unit(2e5, Some("Pa")), "kPa");
    assert_eq!(unit(2e-3, Some("kg")), "10⁻³ kg");
    assert_eq!(unit(2e-30, None), "10⁻³⁰");
    assert_eq!(unit(2.0, None), "");
}

#[test]
fn panels_hold_what_goes_together() {
    let flat = |name: &str, unit, size: f64| Series::new(name, unit, vec![0.0, size]);
    let mut data = Trajectories {
        times: vec![0.0, 1.0],
        series: vec![
            flat("a", Some("V"), 1.0),
            flat("on", None, 1.0),
            flat("b", Some("A"), 1.0),
            flat("c", Some("V"), 900.0),
            flat("d", Some("V"), 1e-2),
            flat("e", Some("V"), 1e9),
            flat("zero", Some("V"), 0.0),
        ],
    };
    data.series[1].boolean = true;
    let choice = panels::automatic(&data);
    // d is near a, but not near c; e is near nobody; zero is near anyone.
    let expected = vec![vec![0, 3, 6], vec![2], vec![4], vec![5], vec![1]];
    assert_eq!(choice.panels, expected);
    assert_eq!(choice.note, None);
    let named = panels::by_names(&data, &[vec!["c".into(), "on".into()]]);
    assert_eq!(named, Ok(vec![vec![3, 1]]));
    let wrong = panels::by_names(&data, &[vec!["zer".into()]]);
    let message = "`zer` is not in the results; did you mean `zero`?";
    assert_eq!(wrong, Err(message.to_string()));
}

#[test]
fn many_variables_are_limited_and_that_is_said() {
    let series = |count: usize| Trajectories {
        times: vec![0.0],
        series: (0..count)
            .map(|at| Series::new(format!("x{at}"), None, vec![1.0]))
            .collect(),
    };
    let nine = panels::automatic(&series(9));
    assert_eq!(nine.panels, [vec![0, 1, 2, 3, 4], vec![5, 6, 7, 8]]);
    let many = panels::automatic(&series(50));
    assert_eq!(many.panels.len(), panels::PANELS);
    assert!(
        many.panels
            .iter()
            .all(|panel| panel.len() <= panels::CURVES)
    );
    let note = many.note.expect("what is left out is said");
    assert!(note.starts_with("40 of 50 variables"), "{note}");
}

#[test]
fn progress_tells_time_and_events() {
    let progress = Progress::shown(
        Task::Run {
            start: 0.0,
            end: 20.0,
        },
        false,
    );
    assert_eq!(progress.report(), (0.0, "  0 %  Time 0 of 20".to_string()));
    progress.tick(5.000_001);
    progress.event();
    let (part, words) = progress.report();
    assert!((part - 0.25).abs() < 1e-6);
    assert_eq!(words, " 25 %  Time 5 of 20, 1 event");
    progress.event();
    progress.tick(f64::NAN);
    assert_eq!(progress.report().1, "100 %  Time nan of 20, 2 events");
    progress.finish();
    let sweep = Progress::shown(Task::Sweep { runs: 12 }, false);
    sweep.run_done();
    assert_eq!(sweep.report().1, "1 of 12 runs");
}

/// A run of no length, and ends that are far apart.
#[test]
fn progress_of_odd_runs() {
    for (start, end, time, part) in [
        (1.0, 1.0, 1.0, 1.0),
        (-f64::MAX, f64::MAX, 0.0, 0.5),
        (0.0, 1.0, 7.0, 1.0),
        (0.0, 1.0, -1.0, 0.0),
    ] {
        let progress = Progress::shown(Task::Run { start, end }, false);
        progress.tick(time);
        assert_eq!(progress.report().0, part);
    }
}
