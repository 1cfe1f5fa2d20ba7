//! A folder for a test, and runs of bgm in it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A type in a file of its own.
pub const PART: &str = "model type Part\n  local x\n  der(x) = -x\nend\n";

/// A model that includes a file.
pub fn including(name: &str) -> String {
    format!("@{name}\nmodel M\n  submodel (Part) a\n  output y\n  y = a.x\nend\n")
}

/// Longer than any answer takes, so that a test that would hang fails.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Folder(pub PathBuf);

pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// It failed, and said so.
    #[track_caller]
    pub fn fails(&self, code: i32, text: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(text), "no `{text}` in\n{}", self.err);
    }

    #[track_caller]
    pub fn succeeds(&self) {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
    }
}

/// Waits for the end.
pub fn ended(mut child: Child, words: &[&str]) -> Said {
    // What it says is read meanwhile, so that it never waits for us.
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(child.stdout.take().map(|pipe| Box::new(pipe) as Box<_>));
    let err = reader(child.stderr.take().map(|pipe| Box::new(pipe) as Box<_>));
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("bgm can be waited for") {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("bgm {words:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Said {
        code: status.code(),
        out: out.join().expect("it was read"),
        err: err.join().expect("it was read"),
    }
}

impl Folder {
    /// A new folder `NAME/in`, to work in; what is beside it is outside.
    pub fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("guard")
            .join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in/sub")).expect("a folder can be made");
        std::fs::create_dir_all(path.join("out")).expect("a folder can be made");
        let folder = Folder(path.canonicalize().expect("the folder is there"));
        folder.write("in/part.bgm", PART);
        folder.write("in/sub/part.bgm", PART);
        folder.write("out/part.bgm", PART);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).expect("a file can be written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file can be read")
    }

    pub fn has(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.path(name)).is_ok()
    }

    pub fn link(&self, to: &str, name: &str) {
        std::os::unix::fs::symlink(to, self.path(name)).expect("a link can be made");
    }

    /// A pipe that nobody writes into.
    pub fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo fails");
    }

    /// A run in the folder `in`.
    pub fn run(&self, words: &[&str]) -> Said {
        self.run_with(words, Stdio::null())
    }

    pub fn run_with(&self, words: &[&str], input: Stdio) -> Said {
        let child = (self.command(words).stdin(input).spawn()).expect("bgm runs");
        ended(child, words)
    }

    /// A command of bgm, to be run in the folder `in`.
    pub fn command(&self, words: &[&str]) -> Command {
        self.prepared(Command::new(env!("CARGO_BIN_EXE_bgm")), words)
    }

    /// A run in which no file may be larger than so many bytes, as on a full disk.
    pub fn run_with_room(&self, bytes: usize, words: &[&str]) -> Said {
        let mut shell = Command::new("sh");
        // The unit of POSIX.
        let limit = format!("ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
        shell.args(["-c", &limit, env!("CARGO_BIN_EXE_bgm")]);
        let child = (self.prepared(shell, words).spawn()).expect("a shell runs");
        ended(child, words)
    }

    fn prepared(&self, mut command: Command, words: &[&str]) -> Command {
        command
            .current_dir(self.path("in"))
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Files of the folder `in` that bgm should have taken away.
    pub fn litter(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path("in")).expect("a folder can be listed");
        let names = names.map(|entry| entry.expect("an entry").file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let mut litter: Vec<String> = names.filter(|name| name.ends_with(".tmp")).collect();
        litter.sort();
        litter
    }

    /// A run with a text as its input.
    pub fn run_on(&self, words: &[&str], text: &str) -> Said {
        let path = self.path("input");
        let mut file = std::fs::File::create(&path).expect("a file can be made");
        file.write_all(text.as_bytes()).expect("it can be written");
        let file = std::fs::File::open(&path).expect("it can be read");
        self.run_with(words, Stdio::from(file))
    }
}
