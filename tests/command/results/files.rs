//! CSV files: exact, whole at any moment, with plain messages.

use super::value;
use bgm::base::words::number;
use bgm::cli::csv::{Csv, Target};
use bgm::cli::sweep_csv::SweepCsv;
use bgm::cli::writing::inputs::Inputs;
use bgm::cli::writing::kinds::Kind;
use bgm::cli::writing::{self, error_text};
use bgm::picture::{Run, Series, Trajectories};
use proptest::prelude::*;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

/// A CSV in a file of its own.
fn created(name: &str, columns: &[&str]) -> Csv {
    let file = std::fs::File::create(name).expect("a file");
    Csv::over(Box::new(file), name, &[], columns).expect("the header")
}

fn text(value: f64) -> String {
    let mut out = Vec::new();
    number(value, &mut out);
    String::from_utf8(out).expect("text")
}

/// What a target was given, up to its capacity; writes go in small parts.
#[derive(Clone)]
struct Small {
    kept: Arc<Mutex<Vec<u8>>>,
    capacity: usize,
    error: io::ErrorKind,
}

impl Small {
    fn new(capacity: usize, error: io::ErrorKind) -> Small {
        Small {
            kept: Arc::default(),
            capacity,
            error,
        }
    }

    fn text(&self) -> String {
        let kept = self.kept.lock().expect("not poisoned").clone();
        String::from_utf8(kept).expect("text")
    }
}

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.kept.lock().expect("not poisoned");
        let count = bytes.len().min(self.capacity - kept.len()).min(1000);
        if count == 0 {
            return Err(match self.error {
                io::ErrorKind::StorageFull => io::Error::from_raw_os_error(28),
                other => io::Error::from(other),
            });
        }
        kept.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Target for Small {
    fn cut(&mut self, length: u64) {
        let mut kept = self.kept.lock().expect("not poisoned");
        kept.truncate(length as usize);
    }
}

#[test]
fn numbers_are_short() {
    for (value, expected) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e300"),
        (1000.0, "1000"),
        (1e22, "1e22"),
        (1e16, "1e16"),
        (1e15, "1000000000000000"),
        (1e-4, "0.0001"),
        (-1e-5, "-1e-5"),
        (1.5e-5, "1.5e-5"),
        (9.9e-6, "9.9e-6"),
        (5e-324, "5e-324"),
        (1.0 / 3.0, "0.3333333333333333"),
        (-f64::NAN, "nan"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(text(value), expected);
    }
}

proptest! {
    #[test]
    fn numbers_read_back_exactly(value in value()) {
        let read: f64 = text(value).parse().expect("a number");
        prop_assert!(read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan());
    }

    #[test]
    fn rows_read_back_exactly(rows in proptest::collection::vec([value(), value(), value()], 0..40)) {
        let small = Small::new(1 << 20, io::ErrorKind::StorageFull);
        let target = Box::new(small.clone());
        let mut csv = Csv::over(target, "x.csv", &[], &["a", "b"]).expect("a file");
        for row in &rows {
            csv.row(row).expect("a row");
        }
        let infinite = rows.iter().flatten().filter(|value| !value.is_finite()).count();
        prop_assert_eq!(csv.not_finite().map_or(0, |found| found.count), infinite);
        csv.finish().expect("the end");
        let text = small.text();
        prop_assert!(text.ends_with('\n'));
        let mut lines = text.lines();
        prop_assert_eq!(lines.next(), Some("Time,a,b"));
        prop_assert_eq!(lines.clone().count(), rows.len());
        for (line, row) in lines.zip(&rows) {
            let read: Vec<f64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
            prop_assert_eq!(read.len(), 3);
            for (read, value) in read.iter().zip(row) {
                prop_assert!(read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan());
            }
        }
    }

    /// However small the disk: what is there is a beginning of the file, in whole lines.
    #[test]
    fn a_full_disk_leaves_whole_lines(capacity in 30usize..200_000, wide in 0usize..4) {
        let columns = vec!["column"; wide];
        let small = Small::new(capacity, io::ErrorKind::StorageFull);
        let target = Box::new(small.clone());
        let mut csv = Csv::over(target, "x.csv", &[], &columns).expect("the header fits");
        let mut expected = small.text();
        let mut row = vec![0.1; wide + 1];
        let mut failed = None;
        for at in 0..20_000 {
            row[0] = f64::from(at);
            if let Err(message) = csv.row(&row) {
                failed = Some(message);
                break;
            }
            expected.push_str(&format!("{at}{}\n", ",0.1".repeat(wide)));
        }
        let result = csv.finish();
        let text = small.text();
        prop_assert!(text.ends_with('\n') && text.len() <= capacity);
        let full = "cannot write `x.csv`: No space left on device".to_string();
        if expected.len() <= capacity && failed.is_none() {
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(text, expected);
        } else {
            prop_assert_eq!(result, Err(full.clone()));
            prop_assert!(failed.is_none_or(|message| message == full));
            prop_assert!(expected.starts_with(&text));
            // No line that would have fitted is missing.
            let next = expected[text.len()..].find('\n').map_or(0, |at| at + 1);
            prop_assert!(text.len() + next > capacity || next == 0);
        }
    }
}

#[test]
fn names_that_need_it_are_quoted() {
    let small = Small::new(1000, io::ErrorKind::StorageFull);
    let names = [
        "C1.e",
        "x[1]",
        "a,b",
        "say \"x\"",
        "two\nlines",
        "",
        "Grün_1",
    ];
    let csv = Csv::over(Box::new(small.clone()), "x.csv", &["R1.R"], &names);
    csv.expect("a file").finish().expect("the end");
    let expected = "R1.R,Time,C1.e,\"x[1]\",\"a,b\",\"say \"\"x\"\"\",\"two lines\",\"\",Grün_1\n";
    assert_eq!(small.text(), expected);
}

#[test]
fn rows_arrive_while_the_simulator_is_busy() {
    let folder = folder("busy");
    let name = path(&folder, "busy.csv");
    let mut csv = created(&name, &["x"]);
    let read = || std::fs::read_to_string(&name).expect("the file");
    assert_eq!(read(), "Time,x\n", "the header is there at once");
    csv.row(&[0.0, 1.0]).expect("a row");
    let start = Instant::now();
    // The promise is half a second; a loaded machine may take longer, but never a call of ours.
    while read() != "Time,x\n0,1\n" {
        assert!(start.elapsed() < Duration::from_secs(10), "{}", read());
        std::thread::sleep(Duration::from_millis(20));
    }
    csv.row(&[1.0, 2.0]).expect("a row");
    drop(csv);
    assert_eq!(read(), "Time,x\n0,1\n1,2\n", "dropped is finished");
}

#[test]
fn the_file_is_whole_at_any_moment() {
    let folder = folder("whole");
    let name = path(&folder, "whole.csv");
    let mut csv = created(&name, &["x", "y"]);
    let mut sizes = Vec::new();
    for at in 0..30_000 {
        let time = f64::from(at);
        csv.row(&[time, time.sin(), time.cos()]).expect("a row");
        if at % 1000 == 0 {
            let text = std::fs::read_to_string(&name).expect("the file");
            assert!(text.ends_with('\n'));
            assert!(text.lines().all(|line| line.split(',').count() == 3));
            sizes.push(text.len());
        }
    }
    sizes.dedup();
    assert!(sizes.len() > 5, "it grows as it goes");
    csv.finish().expect("the end");
    let text = std::fs::read_to_string(&name).expect("the file");
    assert_eq!(text.lines().count(), 30_001);
}

#[test]
fn a_row_of_the_wrong_length_is_refused() {
    let small = Small::new(1000, io::ErrorKind::StorageFull);
    let mut csv = Csv::over(Box::new(small.clone()), "x.csv", &[], &["a"]).expect("a file");
    assert_eq!(
        csv.row(&[1.0]),
        Err("a row of 1 values for 2 columns".to_string())
    );
    csv.row(&[1.0, f64::INFINITY]).expect("a row");
    let found = csv.not_finite().expect("it was seen").clone();
    assert_eq!(
        (found.column.as_str(), found.time, found.count),
        ("a", 1.0, 1)
    );
    csv.finish().expect("the end");
    assert_eq!(small.text(), "Time,a\n1,inf\n");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let small = Small::new(10, io::ErrorKind::BrokenPipe);
    let mut csv = Csv::over(Box::new(small), "-", &[], &["a"]).expect("the header fits");
    csv.row(&[1.0, 2.0]).expect("gathered");
    let message = "cannot write standard output: what read it has ended";
    assert_eq!(csv.flush(), Err(message.to_string()));
    assert!(csv.closed());
    assert_eq!(csv.finish(), Ok(()));
}

#[test]
fn bad_places_are_told_plainly() {
    let folder = folder("places");
    let open = |name: &str| {
        let opened = writing::open_rows(Path::new(name), &Inputs::default());
        opened.map(|_| ()).expect_err("no file").message
    };
    let name = path(&folder, "");
    assert_eq!(
        open(&name),
        format!("cannot write `{name}`: it is the name of a folder; give the name of a file")
    );
    let name = path(&folder, "not/there.csv");
    let parent = path(&folder, "not");
    assert_eq!(
        open(&name),
        format!(
            "cannot write `{name}`: the folder `{parent}` does not exist; create it or choose another"
        )
    );
    std::fs::write(folder.join("file"), "").expect("a file");
    let name = path(&folder, "file/x.csv");
    let parent = path(&folder, "file");
    assert_eq!(
        open(&name),
        format!("cannot write `{name}`: `{parent}` is not a folder")
    );
    assert_eq!(
        open(""),
        "cannot write ``: the name is empty; give the name of a file"
    );
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    assert_eq!(
        error_text::message("x.csv", &denied),
        "cannot write `x.csv`: no permission; choose a file or folder that you may write"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_full() {
    let full = "cannot write `/dev/full`: No space left on device".to_string();
    let device = Path::new("/dev/full");
    let written = writing::write(device, Kind::Text, &Inputs::default(), b"text");
    assert_eq!(written.map_err(|unwritable| unwritable.message), Err(full));
}

fn run(value: f64) -> Run {
    Run {
        label: format!("R1.R = {value}"),
        parameters: vec![("R1.R".to_string(), value)],
        result: Trajectories {
            times: vec![0.0, 1.0],
            series: vec![Series::new("x", None, vec![value, -value])],
        },
    }
}

fn sweep(small: &Small) -> SweepCsv {
    let csv = Csv::over(Box::new(small.clone()), "x.csv", &["R1.R"], &["x"]);
    SweepCsv::over(csv.expect("a file"), &["R1.R"], &["x"])
}

#[test]
fn runs_stand_in_order_whenever_they_finish() {
    let small = Small::new(1000, io::ErrorKind::StorageFull);
    let mut csv = sweep(&small);
    for at in [2, 0, 3] {
        csv.add(at, run(at as f64 + 1.0)).expect("a run");
    }
    csv.skip(1).expect("nothing");
    csv.add(4, run(5.0)).expect("a run");
    assert!(csv.add(4, run(5.0)).is_err(), "no run comes twice");
    csv.finish().expect("the end");
    let rows = "1,0,1\n1,1,-1\n3,0,3\n3,1,-3\n4,0,4\n4,1,-4\n5,0,5\n5,1,-5\n";
    assert_eq!(small.text(), format!("R1.R,Time,x\n{rows}"));
}

#[test]
fn runs_that_wait_in_vain_are_written_at_the_end() {
    let small = Small::new(1000, io::ErrorKind::StorageFull);
    let mut csv = sweep(&small);
    csv.add(3, run(4.0)).expect("a run");
    csv.add(1, run(2.0)).expect("a run");
    let mut other = run(1.0);
    other.result.series[0].name = "y".to_string();
    let message = "run 1 of the sweep has other columns than the file";
    assert_eq!(csv.add(0, other), Err(message.to_string()));
    csv.finish().expect("the end");
    let rows = "2,0,2\n2,1,-2\n4,0,4\n4,1,-4\n";
    assert_eq!(small.text(), format!("R1.R,Time,x\n{rows}"));
}
