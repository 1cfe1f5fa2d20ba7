//! The first Ctrl-C or SIGTERM ends every command soon, whatever it does.

use super::folder::{Folder, Said, ended};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A second or so on a machine with nothing else to do; much less than the work itself takes.
const SOON: Duration = Duration::from_secs(5);

/// How long bgm takes to end, without the time in which it could have gone on and others had the processors.
struct Ending {
    child: u32,
    begun: Instant,
    /// How long it had waited for a processor before.
    before: Duration,
    waited: Duration,
}

impl Ending {
    fn of(child: &Child) -> Ending {
        let mut ending = Ending {
            child: child.id(),
            begun: Instant::now(),
            before: Duration::ZERO,
            waited: Duration::ZERO,
        };
        ending.look();
        ending.before = ending.waited;
        ending
    }

    /// Linux tells how long each thread has waited.
    fn look(&mut self) {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child));
        let of_thread = |thread: std::io::Result<std::fs::DirEntry>| -> Option<u64> {
            let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').nth(1)?.parse().ok()
        };
        let longest = threads.ok().and_then(|all| all.filter_map(of_thread).max());
        self.waited = self.waited.max(Duration::from_nanos(longest.unwrap_or(0)));
    }

    fn lasts(&self) -> Duration {
        let waited = self.waited.saturating_sub(self.before);
        self.begun.elapsed().saturating_sub(waited)
    }

    #[track_caller]
    fn is_soon(&mut self, child: &mut Child, what: &dyn std::fmt::Debug) {
        while child.try_wait().expect("it can be asked").is_none() {
            self.look();
            assert!(self.lasts() < SOON, "{what:?} does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// So many low passes: seconds of work.
fn ladder(count: usize) -> String {
    format!(
        "{{ golden: solve }}\n@electrical\nmodel Ladder\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel (Resistor) R[{count}](R = 1)\n  \
         submodel (Capacitor) C[{count}](C = 1)\n  submodel Ground\n  connect Ground - U0 - R[1] - C[1] - Ground\n  \
         for i in 2 to {count} do\n    connect C[i - 1].A at R[i].A\n    connect R[i] - C[i] - Ground\n  endfor\nend\n\
         experiment Ladder\n  simutime 1E9\n  commupoints 100001\nend\n"
    )
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.is_ok_and(|status| status.success()), "kill fails");
}

/// Starts, sends the signal after a while, and waits for the end; None if it was there before the signal.
fn interrupted(folder: &Folder, words: &[&str], after: u64, signal: &str) -> Option<Said> {
    let mut child = folder.command(words).spawn().expect("bgm runs");
    std::thread::sleep(Duration::from_millis(after));
    if child.try_wait().expect("it can be asked").is_some() {
        return None;
    }
    send(&child, signal);
    Ending::of(&child).is_soon(&mut child, &(words, signal, after));
    Some(ended(child, words))
}

#[test]
fn every_command_ends_soon() {
    let folder = Folder::new("interrupted");
    folder.write("in/l.bgm", ladder(60_000));
    let commands: &[&[&str]] = &[
        &["check", "l.bgm"],
        &["solve", "l.bgm", "-o", "r.txt"],
        &["sort", "l.bgm", "--format", "json", "-o", "r.json"],
        &["causality", "l.bgm"],
        &["fields", "l.bgm"],
        &["draw", "l.bgm", "-o", "d.svg"],
        &["simulate", "l.bgm", "-o", "r.csv"],
        &["export", "l.bgm", "--to", "c", "-o", "r.c"],
        &["export", "l.bgm", "--to", "python", "-o", "r.py"],
        &["export", "l.bgm", "--to", "modelica", "-o", "r.mo"],
        &["export", "l.bgm", "--to", "latex", "-o", "r.tex"],
        &["export", "l.bgm", "--to", "fmu", "-o", "r.fmu"],
        &["reduce", "l.bgm", "-o", "n.bgm"],
        &["augment", "l.bgm", "--propose", "-o", "a.txt"],
        &["golden", "--bless", "l.bgm"],
        &["simulate", "l.bgm", "--sweep", "U0.E=1..2/9", "-o", "s.csv"],
    ];
    let moments = [30, 300, 900, 2000];
    let mut found = 0;
    for (at, words) in commands.iter().enumerate() {
        for (turn, after) in moments.into_iter().enumerate() {
            let (signal, code) = match (at + turn) % 2 {
                0 => ("-INT", 130),
                _ => ("-TERM", 143),
            };
            let file = format!("in/{}", words[words.len() - 1]);
            if words.contains(&"-o") {
                let _ = std::fs::remove_file(folder.path(&file));
            }
            let Some(said) = interrupted(&folder, words, after, signal) else {
                continue;
            };
            // It may have come to its end just then.
            if said.code != Some(0) {
                said.fails(code, "interrupted");
                found += 1;
                assert!(!words.contains(&"-o") || !folder.has(&file), "{words:?}");
            }
            assert_eq!(folder.litter(), [""; 0], "{words:?}");
        }
    }
    assert!(found >= commands.len(), "{found} were interrupted");
}

/// Capacitors between the points of a square grid: more states than there can be, and loops of all sizes.
fn grid(side: usize) -> String {
    let mut text = format!(
        "@electrical\nmodel Grid\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel Ground\n  node n[{}]\n",
        side * side
    );
    let mut wires = String::from("  connect Ground at n[1], U0 from n[2] to n[1]\n");
    let mut count = 0;
    for at in 1..=side * side {
        let right = (at % side != 0).then_some(at + 1);
        let down = (at + side <= side * side).then_some(at + side);
        for other in [right, down].into_iter().flatten() {
            text.push_str(&format!(
                "  submodel (Capacitor) C{count}(C = {})\n",
                at % 7 + 1
            ));
            wires.push_str(&format!("  connect C{count} from n[{at}] to n[{other}]\n"));
            count += 1;
        }
    }
    format!("{text}{wires}end\n")
}

/// A loop in which each equation has each unknown; `law` gets the number of the equation and the sum.
fn full(size: usize, law: impl Fn(usize, &str) -> String) -> String {
    let mut text = format!("model Full\n  local x[{size}]\n");
    for row in 1..=size {
        let terms: Vec<String> = (1..=size)
            .map(|at| format!("{}*x[{at}]", (row * row + at * at * row) % 97 + 1))
            .collect();
        text.push_str(&format!("  {}\n", law(row, &terms.join(" + "))));
    }
    text + "end\nexperiment Full\n  simutime 1\n  commupoints 11\nend\n"
}

/// Pendulums in Cartesian coordinates, each hung on the one before.
fn pendulums(count: usize) -> String {
    let mut text = format!(
        "model Pendulums\n  local x[{count}], y[{count}], u[{count}], v[{count}], F[{}]\n  F[{}] = 0\n",
        count + 1,
        count + 1
    );
    for at in 1..=count {
        let (dx, dy) = match at {
            1 => ("x[1]".to_string(), "y[1]".to_string()),
            at => (
                format!("(x[{at}] - x[{}])", at - 1),
                format!("(y[{at}] - y[{}])", at - 1),
            ),
        };
        let next = at + 1;
        let (ax, ay) = match at == count {
            true => ("0".to_string(), "0".to_string()),
            false => (
                format!("F[{next}]*(x[{next}] - x[{at}])"),
                format!("F[{next}]*(y[{next}] - y[{at}])"),
            ),
        };
        text.push_str(&format!(
            "  der(x[{at}]) = u[{at}]\n  der(y[{at}]) = v[{at}]\n  {dx}**2 + {dy}**2 = 1\n  \
             der(u[{at}]) = {ax} - F[{at}]*{dx}\n  der(v[{at}]) = {ay} - F[{at}]*{dy} - 9.81\n  init(x[{at}]) = {}\n",
            0.6 * at as f64
        ));
    }
    text + "end\nexperiment Pendulums\n  simutime 1000\n  commupoints 100001\nend\n"
}

/// Work that is long in other places than a ladder: index reduction, loops, hidden constraints, modes, graphs.
#[test]
fn every_long_stage_ends_soon() {
    let folder = Folder::new("interrupted_stages");
    folder.write("in/grid.bgm", grid(60));
    folder.write(
        "in/linear.bgm",
        full(350, |row, sum| format!("{sum} = {row}")),
    );
    let curved = |row: usize, sum: &str| format!("x[{row}] = sin(({sum})/100000) + Time");
    folder.write("in/curved.bgm", full(350, curved));
    let rootless = |row: usize, sum: &str| format!("exp(x[{row}]) + ({sum})**2 = -1 - Time");
    folder.write("in/rootless.bgm", full(150, rootless));
    folder.write("in/pendulums.bgm", pendulums(150));
    let commands: &[&[&str]] = &[
        &["solve", "grid.bgm"],
        &["causality", "grid.bgm"],
        &["fields", "grid.bgm", "--matrices"],
        &["reduce", "grid.bgm", "--merge", "--matrix"],
        &["simulate", "grid.bgm", "--until", "1"],
        &["solve", "linear.bgm"],
        &["solve", "linear.bgm", "--at", "Time=0"],
        &["simulate", "linear.bgm"],
        &["export", "linear.bgm", "--to", "c"],
        &["solve", "curved.bgm", "--at", "Time=0"],
        &["simulate", "curved.bgm"],
        &["solve", "rootless.bgm", "--at", "Time=0"],
        &["simulate", "rootless.bgm"],
        &["solve", "pendulums.bgm"],
        &["simulate", "pendulums.bgm", "-o", "r.csv"],
    ];
    let mut found = 0;
    for (at, words) in commands.iter().enumerate() {
        for after in [150, 1200] {
            let (signal, code) = match at % 2 {
                0 => ("-INT", 130),
                _ => ("-TERM", 143),
            };
            // Fast work is through, and some of these models are refused.
            if let Some(said) = interrupted(&folder, words, after, signal)
                && said.err.contains("interrupted")
            {
                assert_eq!(said.code, Some(code), "{words:?}");
                found += 1;
            }
            assert_eq!(folder.litter(), [""; 0], "{words:?}");
        }
    }
    assert!(found >= commands.len(), "{found} were interrupted");
}

#[test]
fn sessions_end() {
    let folder = Folder::new("interrupted_session");
    folder.write("in/l.bgm", ladder(60_000));
    let script = "enter model\n@l\npartition eliminate\noutput solved equations\n";
    folder.write("in/script", script);
    for after in [50, 700, 3000] {
        let said = interrupted(&folder, &["session", "script"], after, "-INT");
        // A fast machine may be through.
        if let Some(said) = said.filter(|said| said.code != Some(0)) {
            said.fails(130, "interrupted");
        }
    }
    // One that waits for its next line.
    let mut command = folder.command(&["session"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("bgm runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"help\n").expect("it reads");
    std::thread::sleep(Duration::from_millis(500));
    send(&child, "-TERM");
    Ending::of(&child).is_soon(&mut child, &"session");
    ended(child, &["session"]).fails(143, "interrupted");
    drop(input);
}

/// Who waits for somebody else looks at nothing, and ends all the same.
#[test]
fn what_waits_ends_too() {
    let folder = Folder::new("interrupted_waits");
    folder.write("in/l.bgm", ladder(2000));
    folder.write("in/script", "enter model\n@l\noutput equations\n");
    folder.pipe("in/pipe");
    // For a reader of a pipe, for a text, for a reader of standard output.
    for words in [
        &["solve", "l.bgm", "-o", "pipe"][..],
        &["solve", "-"],
        &["equations", "l.bgm"],
        &["session", "script"],
    ] {
        let mut command = folder.command(words);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("bgm runs");
        let _input = child.stdin.take();
        std::thread::sleep(Duration::from_millis(1500));
        send(&child, "-INT");
        Ending::of(&child).is_soon(&mut child, &words);
        ended(child, words).fails(130, "interrupted");
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = Folder::new("interrupted_twice");
    folder.write("in/l.bgm", ladder(60_000));
    let words = ["solve", "l.bgm", "-o", "r.txt"];
    let child = folder.command(&words).spawn().expect("bgm runs");
    std::thread::sleep(Duration::from_millis(300));
    send(&child, "-INT");
    // The first may have been enough.
    let _ = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    ended(child, &words).fails(130, "");
    assert_eq!(folder.litter(), [""; 0]);
}
