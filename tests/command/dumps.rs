//! `--dump` and `--timings` as a user of the program sees them; what dumps hold is kept in tests/dumps.

use std::process::{Command, Output};

fn bgm(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bgm"));
    let command = command.current_dir(env!("CARGO_MANIFEST_DIR")).args(words);
    command.output().expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_unknown_stage_lists_the_stages() {
    let output = bgm(&["solve", "examples/rlc.bgm", "--dump", "parsed"]);
    assert_eq!(output.status.code(), Some(2));
    let said = said(&output);
    for stage in ["tree", "flat", "sorted", "program", "graph"] {
        assert!(said.contains(stage), "{said}");
    }
}

#[test]
fn the_short_help_does_not_speak_of_it() {
    let short = String::from_utf8_lossy(&bgm(&["solve", "-h"]).stdout).into_owned();
    let long = String::from_utf8_lossy(&bgm(&["solve", "--help"]).stdout).into_owned();
    for option in ["--dump", "--timings"] {
        assert!(
            !short.contains(option) && long.contains(option),
            "{short}{long}"
        );
    }
}

#[test]
fn a_model_with_errors_shows_the_stages_before_them() {
    let path = std::env::temp_dir().join(format!("bgm-dump-{}.bgm", std::process::id()));
    std::fs::write(&path, "model M\n  local x\n  x = 1\n  x = 2\nend\n").expect("a file");
    let name = path.to_string_lossy().into_owned();
    let flat = bgm(&["solve", &name, "--dump", "flat"]);
    let sorted = bgm(&["solve", &name, "--dump", "sorted"]);
    let _ = std::fs::remove_file(&path);
    assert_eq!(flat.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&flat.stdout).contains("q1 i0 Equation"));
    assert!(sorted.stdout.is_empty() && said(&sorted).contains("error["));
}

#[test]
fn a_dump_goes_to_a_file() {
    let path = std::env::temp_dir().join(format!("bgm-dump-{}.txt", std::process::id()));
    let name = path.to_string_lossy().into_owned();
    let output = bgm(&["solve", "examples/rlc.bgm", "--dump", "sorted", "-o", &name]);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(text.starts_with("sorted RLC: "), "{text}");
}

/// The rows of the table, by name.
fn rows(said: &str) -> Vec<(String, Vec<String>)> {
    let table = said.lines().skip_while(|line| !line.starts_with("stage "));
    (table.skip(1))
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let mut words = line.split_whitespace().map(str::to_string);
            Some((words.next()?, words.collect()))
        })
        .collect()
}

#[track_caller]
fn assert_rows(output: &Output, wanted: &[&str]) {
    assert!(output.status.success());
    let said = said(output);
    let rows = rows(&said);
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, wanted, "{said}");
    for (name, words) in &rows {
        assert!(
            matches!(words[1].as_str(), "us" | "ms" | "s"),
            "{name} has no time: {said}"
        );
        assert!(
            words[0].parse::<f64>().is_ok(),
            "{name} has no time: {said}"
        );
    }
}

#[test]
fn timings_have_a_row_for_each_stage() {
    let solved = bgm(&["solve", "examples/rlc.bgm", "--timings"]);
    let stages = [
        "tree",
        "classes",
        "flat",
        "determined",
        "index",
        "aliases",
        "sorted",
        "solved",
    ];
    let wanted = [&stages[..], &["start", "writing", "other", "all"]].concat();
    assert_rows(&solved, &wanted);
    let said = said(&solved);
    assert!(said.contains("equations 18, unknowns 18"), "{said}");
    assert!(String::from_utf8_lossy(&solved.stdout).contains("END OF SORTED"));
    let run = bgm(&["simulate", "examples/rlc.bgm", "--points", "3", "--timings"]);
    let wanted = [
        &stages[..],
        &["start", "program", "run", "writing", "other", "all"],
    ]
    .concat();
    assert_rows(&run, &wanted);
}

/// How often a stage ran.
fn runs(output: &Output, stage: &str) -> usize {
    let said = said(output);
    assert!(output.status.success(), "{said}");
    let rows = rows(&said);
    let row = rows.iter().find(|(name, _)| name == stage);
    let (_, words) = row.unwrap_or_else(|| panic!("no row `{stage}`: {said}"));
    words[2].parse().expect("how often it ran")
}

#[test]
fn timings_sum_up_the_modes_of_switches() {
    let buck =
        |words: &[&str]| bgm(&[&["solve", "examples/buck.bgm", "--timings"], words].concat());
    // As one, and in four modes, one of which is impossible.
    for words in [&[][..], &["--format", "json"]] {
        let said = buck(words);
        for (stage, wanted) in [
            ("determined", 5),
            ("index", 4),
            ("sorted", 4),
            ("solved", 4),
        ] {
            assert_eq!(runs(&said, stage), wanted, "{stage} {words:?}");
        }
        assert_eq!(runs(&said, "writing"), 1);
    }
    let modes = buck(&["--modes"]);
    assert_eq!((runs(&modes, "determined"), runs(&modes, "sorted")), (5, 1));
    let explained = buck(&["--explain", "L1.i"]);
    assert_eq!(
        (runs(&explained, "determined"), runs(&explained, "writing")),
        (1, 1)
    );
    // The formulas for all modes serve this point; no mode is solved for it.
    let at = buck(&["--at", "Time=0.2,L1.i=1"]);
    assert_eq!((runs(&at, "determined"), runs(&at, "writing")), (1, 1));
    let run = bgm(&[
        "simulate",
        "examples/buck.bgm",
        "--points",
        "3",
        "--timings",
    ]);
    let stages = ["determined", "sorted", "solved", "program"];
    assert_eq!(stages.map(|stage| runs(&run, stage)), [5, 4, 4, 4]);
}

#[test]
fn one_mode_is_dumped() {
    let buck = |mode: &str, stage: &str| {
        bgm(&[
            "solve",
            "examples/buck.bgm",
            "--dump",
            stage,
            "--mode",
            mode,
        ])
    };
    let listed = bgm(&["solve", "examples/buck.bgm", "--modes"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for mode in ["S open, D1 closed", "S closed, D1 open"] {
        assert!(listed.contains(mode), "{listed}");
        for stage in ["flat", "index", "solved", "program"] {
            let output = buck(mode, stage);
            assert!(output.status.success() && !output.stdout.is_empty());
            assert!(said(&output).contains(&format!("of the mode {mode}")));
        }
    }
    let one = buck("S open, D1 closed", "solved").stdout;
    assert_ne!(one, buck("S closed, D1 open", "solved").stdout);
    let impossible = buck("S closed, D1 closed", "solved");
    assert!(!impossible.status.success() && said(&impossible).contains("error["));
    for (mode, stage, wanted) in [
        ("S ajar", "solved", "there are\n  S"),
        ("S open, D1 closed", "tree", "`--mode`"),
    ] {
        let output = buck(mode, stage);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(wanted), "{}", said(&output));
    }
    let plain = bgm(&[
        "solve",
        "examples/rlc.bgm",
        "--dump",
        "solved",
        "--mode",
        "S open",
    ]);
    assert!(said(&plain).contains("no switches"), "{}", said(&plain));
}
