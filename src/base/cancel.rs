//! Cancellation of work.
//!
//! The caller gives a [`Token`] to a piece of work ([`catch`]). The work looks at the token from time to time
//! ([`check`]): at the end of a stage, and in loops as long as a model. When the token is cancelled, the next look ends
//! the work by unwinding to the nearest [`catch`], so no function in between has to pass a result on. This is not a
//! panic: nothing is printed, and no hook is called.
//!
//! Tokens belong to threads and not to the process: a program can do several pieces of work at once and cancel one of
//! them. Work on a thread without a token is never cancelled. Threads that help with a piece of work get its token
//! ([`current`]).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether work was cancelled. All clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Token(Arc<AtomicBool>);

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Token {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Makes the token usable for the next piece of work.
    pub fn renew(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Token>> = const { RefCell::new(None) };
    static TURNS: Cell<u32> = const { Cell::new(0) };
}

/// Restores the previous token of the thread.
struct Before(Option<Token>);

impl Drop for Before {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with(|current| *current.borrow_mut() = before);
    }
}

/// Does work that ends when the token is cancelled.
pub fn catch<T>(token: &Token, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    let before = CURRENT.with(|current| current.borrow_mut().replace(token.clone()));
    let _before = Before(before);
    caught(work)
}

/// Does a part of the work of this thread. If that is cancelled, the data that it has made so far remain.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    // Data that the cancelled work has touched are dropped, or the caller reads them only as far as they are complete.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Ok(done),
        Err(payload) if is_cancelled(payload.as_ref()) => Err(Cancelled),
        Err(payload) => resume_unwind(payload),
    }
}

/// Does work that must finish even if the token is cancelled: computed results are written.
pub fn spared<T>(work: impl FnOnce() -> T) -> T {
    let _before = Before(CURRENT.with(|current| current.borrow_mut().take()));
    work()
}

/// Whether a thread unwound because it was cancelled, and not because it failed.
pub fn is_cancelled(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Cancelled>()
}

/// The token of this thread, for threads that work for it.
pub fn current() -> Option<Token> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Whether the work of this thread was cancelled.
pub fn is_asked() -> bool {
    CURRENT.with(|current| current.borrow().as_ref().is_some_and(Token::is_cancelled))
}

/// Ends the work if it was cancelled.
#[inline]
pub fn check() {
    if is_asked() {
        leave();
    }
}

/// The same for very short loops: it looks at the token only now and then.
#[inline]
pub fn glance() {
    /// The number of calls between two looks: some microseconds.
    const TURNS_OF_A_LOOK: u32 = 256;
    TURNS.with(|turns| {
        let next = turns.get().wrapping_add(1);
        turns.set(next);
        if next.is_multiple_of(TURNS_OF_A_LOOK) {
            check();
        }
    });
}

/// Ends the work.
#[cold]
pub fn leave() -> ! {
    resume_unwind(Box::new(Cancelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_left_at_the_next_look_and_goes_on_where_it_was_asked_for() {
        let token = Token::default();
        let mut turns = 0;
        let left = catch(&token, || {
            loop {
                check();
                turns += 1;
                if turns == 3 {
                    current().expect("a token").cancel();
                }
            }
        });
        assert_eq!((left, turns), (Err::<(), _>(Cancelled), 3));
        // The code after this is not reached.
        check();
        assert!(current().is_none());
        assert_eq!(catch(&token, || 7), Ok(7));
        assert_eq!(catch(&token, check), Err(Cancelled));
        token.renew();
        assert_eq!(catch(&token, check), Ok(()));
    }

    #[test]
    fn tokens_nest_and_belong_to_their_thread() {
        let (outer, inner) = (Token::default(), Token::default());
        inner.cancel();
        let done = catch(&outer, || {
            assert_eq!(catch(&inner, check), Err(Cancelled));
            check();
            let elsewhere = std::thread::spawn(|| current().is_none());
            elsewhere.join().expect("it ends")
        });
        assert_eq!(done, Ok(true));
    }

    #[test]
    fn short_loops_are_left_too() {
        let token = Token::default();
        token.cancel();
        let left = catch(&token, || {
            for _ in 0..1000 {
                glance();
            }
        });
        assert_eq!(left, Err(Cancelled));
    }
}
