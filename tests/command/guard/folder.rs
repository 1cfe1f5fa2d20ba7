//! A folder for a test, and runs of bgm in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
        let mut child = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .current_dir(self.path("in"))
            .args(words)
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bgm runs");
        let begun = Instant::now();
        while child.try_wait().expect("bgm can be waited for").is_none() {
            if begun.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("bgm {words:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().expect("bgm ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
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
