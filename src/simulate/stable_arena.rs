//! An arena that is appended to through a shared reference: elements keep their addresses while more are added.
//!
//! Modes of a model are compiled while the run holds references to earlier ones. Memory is allocated page by page.

use std::cell::{Cell, OnceCell};

#[derive(Debug)]
pub struct StableArena<T> {
    pages: Vec<OnceCell<Page<T>>>,
    len: Cell<usize>,
    capacity: usize,
}

type Page<T> = Box<[OnceCell<T>]>;

const PAGE: usize = 64;

impl<T> StableArena<T> {
    pub fn new(capacity: usize) -> Self {
        StableArena {
            pages: (0..capacity.div_ceil(PAGE))
                .map(|_| OnceCell::new())
                .collect(),
            len: Cell::new(0),
            capacity,
        }
    }

    /// Adds an element; `None` if the arena is full.
    pub fn push(&self, element: T) -> Option<&T> {
        let at = self.len.get();
        if at >= self.capacity {
            return None;
        }
        self.len.set(at + 1);
        let page =
            self.pages[at / PAGE].get_or_init(|| (0..PAGE).map(|_| OnceCell::new()).collect());
        Some(page[at % PAGE].get_or_init(|| element))
    }
}
