//! The old file or the new one is whole at any moment: after a kill, and on a full disk.

use super::folder::{Folder, ended};
use std::time::{Duration, Instant};

/// A chain of so many low passes, the first with two capacitors in parallel: one of them depends on the other.
fn ladder(count: usize) -> String {
    let mut text = String::from(
        "{ golden: solve }\n@electrical\nmodel Ladder\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel Ground\n  \
         submodel (Capacitor) D(C = 2)\n  node g, p\n",
    );
    for at in 0..count {
        text.push_str(&format!(
            "  submodel (Resistor) R{at}(R = 1)\n  submodel (Capacitor) C{at}(C = 1)\n  node p{at}\n"
        ));
    }
    text.push_str("  connect Ground at g, U0 from p to g, D from p0 to g\n");
    for at in 0..count {
        let before = match at {
            0 => "p".to_string(),
            at => format!("p{}", at - 1),
        };
        text.push_str(&format!(
            "  connect R{at} from {before} to p{at}, C{at} from p{at} to g\n"
        ));
    }
    text + "end\nexperiment Ladder\n  simutime 1\n  commupoints 400\nend\n"
}

/// Each command, and the file that it writes.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["solve", "l.bgm", "--format", "json", "-o", "r.json"],
        "r.json",
    ),
    (&["simulate", "l.bgm", "-o", "r.csv"], "r.csv"),
    (&["simulate", "l.bgm", "--plot", "r.svg"], "r.svg"),
    (&["simulate", "l.bgm", "--plot", "r.png"], "r.png"),
    (&["draw", "l.bgm", "-o", "d.svg"], "d.svg"),
    (&["reduce", "l.bgm", "-o", "n.bgm"], "n.bgm"),
    (&["golden", "--bless", "l.bgm"], "l.solve.golden"),
];

fn golden_name(folder: &Folder) -> String {
    folder.run(&["golden", "--bless", "l.bgm"]).succeeds();
    let names = std::fs::read_dir(folder.path("in")).expect("a folder");
    let mut names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .find(|name| name.starts_with("l.") && name != "l.bgm")
        .expect("a golden file")
}

/// The file of a command: the name of a golden file is not ours to choose.
fn file_of(folder: &Folder, file: &str) -> String {
    match file.ends_with(".golden") {
        true => golden_name(folder),
        false => file.to_string(),
    }
}

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        most.mul_f64((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

#[test]
fn a_kill_leaves_the_old_file_or_the_new_one() {
    const KILLS: usize = 12;
    let folder = Folder::new("killed");
    folder.write("in/l.bgm", ladder(60));
    let old = "old\n".repeat(50_000);
    let mut chance = Chance(1);
    let mut in_writing = 0;
    for (words, file) in COMMANDS {
        let file = format!("in/{}", file_of(&folder, file));
        let read = || std::fs::read(folder.path(&file)).expect("the file is there");
        folder.write(&file, &old);
        let begun = Instant::now();
        folder.run(words).succeeds();
        let lasts = begun.elapsed();
        let new = read();
        let (mut olds, mut news) = (0, 0);
        for at in 0..KILLS {
            folder.write(&file, &old);
            let mut child = folder.command(words).spawn().expect("bgm runs");
            match at % 3 {
                0 => std::thread::sleep(chance.below(lasts)),
                // Mostly near the end, where it writes.
                1 => {
                    std::thread::sleep(lasts.mul_f64(0.7) + chance.below(lasts.mul_f64(0.5)));
                }
                // As soon as the new file has begun.
                _ => {
                    while folder.litter().is_empty()
                        && child.try_wait().expect("it can be asked").is_none()
                    {
                        std::thread::sleep(Duration::from_micros(50));
                    }
                }
            }
            let _ = child.kill();
            ended(child, words);
            // What a kill leaves there had no other name yet.
            for left in folder.litter() {
                in_writing += 1;
                let _ = std::fs::remove_file(folder.path(&format!("in/{left}")));
            }
            let now = read();
            match now == old.as_bytes() {
                true => olds += 1,
                false => {
                    assert_eq!(now.len(), new.len(), "{words:?}: torn");
                    assert!(now == new, "{words:?}: neither the old nor the new file");
                    news += 1;
                }
            }
        }
        assert_eq!(olds + news, KILLS);
    }
    assert!(in_writing > 0, "no kill fell while a file was written");
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = Folder::new("full");
    folder.write("in/l.bgm", ladder(60));
    let old = "old\n".repeat(10);
    for (words, file) in COMMANDS {
        let file = format!("in/{}", file_of(&folder, file));
        folder.write(&file, &old);
        let said = folder.run_with_room(4096, words);
        let golden = words[0] == "golden";
        said.fails(if golden { 2 } else { 1 }, "cannot write `");
        assert!(
            said.err.contains("File too large"),
            "{words:?}: {}",
            said.err
        );
        assert_eq!(
            said.err.contains("error[E0209]"),
            !golden,
            "{words:?}: {}",
            said.err
        );
        assert_eq!(folder.read(&file), old, "{words:?}");
        assert_eq!(folder.litter(), [""; 0], "{words:?}");
    }
    // The rows that there was room for are kept, whole ones only, and that is told.
    let part = folder.read("in/r.csv.part");
    assert!(part.starts_with("Time,") && part.ends_with('\n'), "{part}");
    let columns = part.lines().map(|line| line.split(',').count());
    assert!(
        columns
            .collect::<Vec<_>>()
            .windows(2)
            .all(|two| two[0] == two[1])
    );
    // The next run tells whose they are, and leaves them there.
    let said = folder.run(&["simulate", "l.bgm", "-o", "r.csv"]);
    said.succeeds();
    assert!(
        said.err.contains("note: `r.csv.part` is what a run"),
        "{}",
        said.err
    );
    assert_eq!(folder.read("in/r.csv.part"), part);
    assert!(folder.read("in/r.csv").lines().count() == 401 && !folder.has("in/r.csv.2.part"));
}

/// Rows grow under a name of their own; two runs at once do not meet.
#[test]
fn rows_grow_under_a_name_of_their_own() {
    let folder = Folder::new("growing");
    let swing = "model Swing\n  local x, v\n  der(x) = v\n  der(v) = -x\n  init(x) = 1\nend\nexperiment Swing\n  simutime 1E6\n  commupoints 1000001\nend\n";
    folder.write("in/swing.bgm", swing);
    let words = ["simulate", "swing.bgm", "-o", "r.csv"];
    let mut first = folder.command(&words).spawn().expect("bgm runs");
    let begun = Instant::now();
    let rows = |name: &str| {
        std::fs::read_to_string(folder.path(name)).map_or(0, |text| text.lines().count())
    };
    let wait = |name: &str| {
        while rows(name) < 100 {
            assert!(
                begun.elapsed() < Duration::from_secs(100),
                "no rows in {name}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("in/r.csv.part");
    let mut second = folder.command(&words).spawn().expect("bgm runs");
    wait("in/r.csv.2.part");
    // A kill leaves them.
    for child in [&mut first, &mut second] {
        child.kill().expect("it runs");
    }
    let said = ended(second, &words);
    assert!(
        !said.err.contains("has left"),
        "the first one still ran: {}",
        said.err
    );
    ended(first, &words);
    assert!(!folder.has("in/r.csv") && rows("in/r.csv.part") >= 100);
    // What a kill has left is told, and stays.
    let said = folder.run(&["simulate", "swing.bgm", "--until", "1", "-o", "r.csv"]);
    said.succeeds();
    for name in ["`r.csv.part`", "`r.csv.2.part`"] {
        assert!(said.err.contains(name), "{}", said.err);
    }
    assert!(rows("in/r.csv") > 0 && !folder.has("in/r.csv.3.part"));
    assert!(rows("in/r.csv.part") >= 100);
}
