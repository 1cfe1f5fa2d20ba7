//! Signals such as Ctrl-C. The first one requests the end of all work, a second one ends the program at once.
//!
//! Work checks its token ([`cancel`]) often and stops soon. Code that waits for something outside (a reader, a
//! writer, a compiler) checks nothing: it is marked by [`waiting`], and if the first signal finds it waiting, the
//! program ends after a moment. In every case temporary files are removed and the terminal is restored.

use super::writing::{partial_file, temporary, to_standard_error};
use crate::base::cancel::Token;
#[cfg(unix)]
use std::io;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The first signal; 0 before it.
static FIRST_SIGNAL: AtomicI32 = AtomicI32::new(0);
/// The number of threads that wait for something outside.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// The number of waits that have begun so far.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// These signals have the same numbers on all systems.
const INTERRUPT: i32 = 2;
const TERMINATE: i32 = 15;

/// Returns the token of this process. The first call installs the signal handlers.
pub fn token() -> &'static Token {
    static TOKEN: OnceLock<Token> = OnceLock::new();
    TOKEN.get_or_init(|| {
        let token = Token::default();
        listen(token.clone());
        token
    })
}

/// Returns the exit code after a signal, as shells define it: 130 after Ctrl-C, 143 after SIGTERM.
pub fn exit_code() -> u8 {
    let signal = match FIRST_SIGNAL.load(Ordering::SeqCst) {
        0 => INTERRUPT,
        signal => signal,
    };
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Returns true if a session at a terminal continues: after Ctrl-C, but after no other signal.
pub fn continues_after_interrupt() -> bool {
    let first = FIRST_SIGNAL.compare_exchange(INTERRUPT, 0, Ordering::SeqCst, Ordering::SeqCst);
    let goes_on = matches!(first, Ok(_) | Err(0));
    if goes_on {
        token().renew();
    }
    goes_on
}

/// Runs work that may wait for something outside, or that does not check the token for long.
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

/// Handles a signal.
fn handle_signal(signal: i32, token: &Token) {
    let first = FIRST_SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    if first.is_err() {
        exit_now();
    }
    token.cancel();
    let watched = std::thread::Builder::new()
        .name("end".to_string())
        .spawn(end_if_waiting);
    if watched.is_err() {
        exit_now();
    }
}

/// Ends the program if it only waits.
fn end_if_waiting() {
    /// Longer than a disk needs for a few bytes.
    const MOMENT: Duration = Duration::from_millis(300);
    loop {
        let waits = WAITS.load(Ordering::SeqCst);
        std::thread::sleep(MOMENT);
        if FIRST_SIGNAL.load(Ordering::SeqCst) == 0 {
            return;
        }
        let still = WAITS.load(Ordering::SeqCst) == waits;
        if still && WAITING.load(Ordering::SeqCst) > 0 {
            exit_with(Some("interrupted\n"));
        }
    }
}

/// Ends the program at once, after cleaning up.
fn exit_now() -> ! {
    exit_with(None)
}

fn exit_with(message: Option<&'static str>) -> ! {
    /// Standard error may be what the program waits for: what cannot be said by then is not said.
    const MOMENT: Duration = Duration::from_millis(200);
    temporary::remove_all();
    restore_terminal();
    let (said, all_said) = std::sync::mpsc::channel();
    let speaker = std::thread::Builder::new().spawn(move || {
        to_standard_error(message.unwrap_or(""));
        partial_file::report_all();
        // The receiver is there until the program ends.
        let _ = said.send(());
    });
    if speaker.is_ok() {
        let _ = all_said.recv_timeout(MOMENT);
    }
    std::process::exit(i32::from(exit_code()))
}

#[cfg(unix)]
fn listen(token: Token) {
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    const _: () = assert!(SIGINT == INTERRUPT && SIGTERM == TERMINATE);
    // Exceeding the limit of the file size is reported as a write error, not as a signal.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    // Without the thread the handlers would swallow signals, so they are removed.
    let handle = signals.handle();
    let listening = std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || {
            signals
                .forever()
                .for_each(|signal| handle_signal(signal, &token));
        });
    if listening.is_err() {
        handle.close();
    }
}

#[cfg(not(unix))]
fn listen(token: Token) {
    // An error means that a handler is installed already.
    let _ = ctrlc::set_handler(move || handle_signal(INTERRUPT, &token));
}

#[cfg(unix)]
static TERMINAL: Mutex<Option<nix::sys::termios::Termios>> = Mutex::new(None);

/// Stores the state of the terminal, which the line editor changes.
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
