//! Ctrl-C and the like: the first one asks for the end of all work, a second one ends the program.
//!
//! Work looks at its token ([`cancel`]) and is left soon. What waits for somebody else (a reader, a writer, a
//! compiler) looks at nothing: it is marked as [`waiting`], and if the first signal finds it there the program ends
//! after a moment all the same. However it ends, no temporary file is left, and a terminal is as it was.

use super::writing::{growing, temporary};
use crate::base::cancel::Token;
use std::io::{self, Write};
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The signal that came first; 0 before that.
static CAME: AtomicI32 = AtomicI32::new(0);
/// So many threads wait for somebody else.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// Waits that have begun.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Signals have these numbers everywhere.
const INTERRUPT: i32 = 2;
const TERMINATE: i32 = 15;

/// The token of this process's command. Signals are listened to from the first call on.
pub fn token() -> &'static Token {
    static TOKEN: OnceLock<Token> = OnceLock::new();
    TOKEN.get_or_init(|| {
        let token = Token::default();
        listen(token.clone());
        token
    })
}

/// The exit code after a signal, as shells have it: 130 after Ctrl-C, 143 after SIGTERM.
pub fn code() -> u8 {
    let signal = match CAME.load(Ordering::SeqCst) {
        0 => INTERRUPT,
        signal => signal,
    };
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// A session at a terminal goes on after Ctrl-C, and after nothing else. Whether it does.
pub fn go_on() -> bool {
    let came = CAME.compare_exchange(INTERRUPT, 0, Ordering::SeqCst, Ordering::SeqCst);
    let goes_on = matches!(came, Ok(_) | Err(0));
    if goes_on {
        token().renew();
    }
    goes_on
}

/// Does what may have to wait for somebody else, or looks at no token for long.
pub fn waiting<T>(work: impl FnOnce() -> T) -> T {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            WAITING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    WAITS.fetch_add(1, Ordering::SeqCst);
    WAITING.fetch_add(1, Ordering::SeqCst);
    let _ends = Ends;
    work()
}

/// A signal came.
fn came(signal: i32, token: &Token) {
    let first = CAME.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if first.is_err() {
        end();
    }
    token.cancel();
    let watched = std::thread::Builder::new()
        .name("end".to_string())
        .spawn(end_if_it_waits);
    if watched.is_err() {
        end();
    }
}

/// Ends the program if it does nothing but wait.
fn end_if_it_waits() {
    /// Longer than any disk takes for a few bytes.
    const MOMENT: Duration = Duration::from_millis(300);
    loop {
        let waits = WAITS.load(Ordering::SeqCst);
        std::thread::sleep(MOMENT);
        if CAME.load(Ordering::SeqCst) == 0 {
            return;
        }
        let still = WAITS.load(Ordering::SeqCst) == waits;
        if still && WAITING.load(Ordering::SeqCst) > 0 {
            let _ = io::stderr().lock().write_all(b"interrupted\n");
            end();
        }
    }
}

/// Ends the program at once.
fn end() -> ! {
    temporary::remove_all();
    growing::tell_all();
    restore_terminal();
    std::process::exit(i32::from(code()))
}

#[cfg(unix)]
fn listen(token: Token) {
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    const _: () = assert!(SIGINT == INTERRUPT && SIGTERM == TERMINATE);
    // A file that may grow no more is an error of writing, and told as such.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    // Without the thread signals would have no effect at all.
    let handle = signals.handle();
    let listening = std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || signals.forever().for_each(|signal| came(signal, &token)));
    if listening.is_err() {
        handle.close();
    }
}

#[cfg(not(unix))]
fn listen(token: Token) {
    // Only the first command of a process sets it: there is one.
    let _ = ctrlc::set_handler(move || came(INTERRUPT, &token));
}

#[cfg(unix)]
static TERMINAL: Mutex<Option<nix::sys::termios::Termios>> = Mutex::new(None);

/// The terminal is to be left as it is now: an editor of lines changes it.
#[cfg(unix)]
pub fn remember_terminal() {
    if let Ok(found) = nix::sys::termios::tcgetattr(io::stdin()) {
        *TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }
}

#[cfg(unix)]
fn restore_terminal() {
    use nix::sys::termios::{SetArg, tcsetattr};
    let before = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = before.as_ref() {
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
    }
}

#[cfg(not(unix))]
pub fn remember_terminal() {}

#[cfg(not(unix))]
fn restore_terminal() {}
