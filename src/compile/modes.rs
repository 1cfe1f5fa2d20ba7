//! The modes of a model with switches, each lowered when somebody asks for it, and once.
//!
//! What has come of a mode is kept beside the model: of a mode as it was written its shape, and from there its formulas; of a mode for
//! runs what its program is made of. Listings get all of it as data ([`Table`]), so that nothing is lowered while they are written.

use std::ops::Deref;

use rustc_hash::FxHashMap;

use super::lower::{Aliases, Goal, Lowered, Model, Reduced, Request, Starts, lower};
use super::lower::{lower_on, reduce};
use super::refused::Refused;
use super::stages::StageObserver;
use crate::base::diagnostics::Diagnostic;
use crate::flat::Flat;
use crate::passes::blocks::Solved;
use crate::passes::order::Sorted;
use crate::positions::{Jump, Key, Loose, Mode, Positions, Shape, form};

/// Of so many modes equations are kept, and listed: of more only the shape.
pub const LISTED: usize = 8;

/// The model in one mode.
#[derive(Debug)]
pub struct CompiledMode {
    pub key: Key,
    pub solved: Solved,
    /// What may jump when it begins.
    pub jump: Option<Jump>,
    /// What was open and has the least norm.
    pub loose: Vec<Loose>,
    /// Why start values contradict each other in it.
    pub contradiction: Option<Box<Diagnostic>>,
}

/// A model with switches and what has come of its modes so far.
#[derive(Debug)]
pub struct Modes {
    pub(super) positions: Positions,
    aliases: Aliases,
    tried: FxHashMap<Key, Tried>,
    /// For runs; `None` where the mode is impossible.
    compiled: FxHashMap<Key, Option<CompiledMode>>,
}

/// What has come of a mode as it was written.
#[derive(Debug)]
struct Tried {
    /// `None` where it is impossible.
    shape: Option<Shape>,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Nothing,
    Reduced(Box<Reduced>),
    Solved(Option<Box<Solved>>),
}

/// Modes with their shapes, and whether these are all.
#[derive(Clone, Debug)]
pub struct Shapes {
    pub modes: Vec<Mode>,
    pub all: bool,
}

/// What listings show of modes.
#[derive(Debug)]
pub struct Table {
    pub positions: Positions,
    pub shapes: Shapes,
    /// Of the first that are possible, where formulas are listed by mode.
    pub solved: FxHashMap<Key, Box<Solved>>,
}

impl Deref for Modes {
    type Target = Positions;

    fn deref(&self) -> &Positions {
        &self.positions
    }
}

impl Modes {
    /// `None` if there are no switches. Formulas of its modes keep aliases or not, all of them alike.
    pub fn new(written: &Flat, aliases: Aliases) -> Option<Modes> {
        Positions::new(written).map(|positions| Modes::of(positions, aliases))
    }

    /// No mode is compiled yet.
    pub fn of(positions: Positions, aliases: Aliases) -> Modes {
        Modes {
            positions,
            aliases,
            tried: FxHashMap::default(),
            compiled: FxHashMap::default(),
        }
    }

    pub fn into_positions(self) -> Positions {
        self.positions
    }

    /// The modes of a model with their shapes, and whether these are all.
    pub fn shapes(&mut self, observer: &mut dyn StageObserver) -> Shapes {
        let (keys, all) = self.positions.keys();
        let modes = (keys.into_iter())
            .map(|key| Mode {
                shape: self.shape(&key, observer).cloned(),
                key,
            })
            .collect();
        Shapes { modes, all }
    }

    fn shape(&mut self, key: &[bool], observer: &mut dyn StageObserver) -> Option<&Shape> {
        if !self.tried.contains_key(key) {
            let (flat, loose) = self.positions.written_in(key);
            let reduced = reduce(flat, observer).ok();
            let shape = (reduced.as_ref())
                .map(|reduced| self.positions.shape(&reduced.flat, !loose.is_empty()));
            self.keep(key, shape, reduced);
        }
        self.tried.get(key)?.shape.as_ref()
    }

    fn keep(&mut self, key: &[bool], shape: Option<Shape>, reduced: Option<Reduced>) {
        let is_kept = |tried: &&Tried| !matches!(tried.kept, Kept::Nothing);
        let few = self.tried.values().filter(is_kept).count() < LISTED;
        let kept = match reduced.filter(|_| few) {
            Some(reduced) => Kept::Reduced(Box::new(reduced)),
            None => Kept::Nothing,
        };
        self.tried.insert(key.into(), Tried { shape, kept });
    }

    /// One mode as it was written, its index reduced; `None` where it is impossible. It is not kept here any more.
    fn reduced(&mut self, key: &[bool], observer: &mut dyn StageObserver) -> Option<Reduced> {
        self.shape(key, observer)?;
        let tried = self.tried.get_mut(key)?;
        match std::mem::replace(&mut tried.kept, Kept::Nothing) {
            Kept::Reduced(reduced) => Some(*reduced),
            // It is one of many.
            kept => {
                tried.kept = kept;
                reduce(self.positions.written_in(key).0, observer).ok()
            }
        }
    }

    /// One mode, as it was written, sorted.
    pub fn sorted_in(
        &mut self,
        key: &[bool],
        observer: &mut dyn StageObserver,
    ) -> Option<(Flat, Sorted)> {
        let request = Request::new(Goal::Sorted, self.aliases);
        let reduced = self.reduced(key, observer)?;
        let lowered = lower_on(reduced, &self.positions.written, request, observer);
        lowered.ok()?.into_sorted()
    }

    /// One mode, as it was written, solved.
    pub fn solved_in(&mut self, key: &[bool], observer: &mut dyn StageObserver) -> Option<&Solved> {
        let is_solved = |tried: &Tried| matches!(tried.kept, Kept::Solved(_));
        if !self.tried.get(key).is_some_and(is_solved) {
            let reduced = self.reduced(key, observer)?;
            let request = in_one_mode(self.aliases);
            let lowered = lower_on(reduced, &self.positions.written, request, observer);
            let solved = lowered.ok().and_then(Lowered::into_solved).map(Box::new);
            self.tried.get_mut(key)?.kept = Kept::Solved(solved);
        }
        match &self.tried.get(key)?.kept {
            Kept::Solved(solved) => solved.as_deref(),
            _ => None,
        }
    }

    /// The same, which is not kept here any more.
    pub fn take_solved(
        &mut self,
        key: &[bool],
        observer: &mut dyn StageObserver,
    ) -> Option<Box<Solved>> {
        self.solved_in(key, observer)?;
        let kept = &mut self.tried.get_mut(key)?.kept;
        match std::mem::replace(kept, Kept::Nothing) {
            Kept::Solved(solved) => solved,
            _ => None,
        }
    }

    /// The first mode that can be solved.
    pub fn first_solved(&mut self, observer: &mut dyn StageObserver) -> Option<(&Solved, Key)> {
        let mut keys = self.positions.candidates();
        let key = keys.find(|key| self.solved_in(key, observer).is_some())?;
        self.solved_in(&key, observer).map(|solved| (solved, key))
    }

    /// The form of the 1995 paper, where the model has one.
    pub fn paper_form(&mut self, observer: &mut dyn StageObserver) -> Option<Flat> {
        let Shapes { modes, all } = self.shapes(observer);
        all.then(|| form(&self.positions, &modes)).flatten()
    }

    /// One mode for runs, without its start values; `None` where it is impossible.
    pub fn compiled(
        &mut self,
        key: &[bool],
        observer: &mut dyn StageObserver,
    ) -> Option<&CompiledMode> {
        if !self.compiled.contains_key(key) {
            let found = mode_with(&self.positions, key, false, observer).ok();
            self.compiled.insert(key.into(), found);
        }
        self.compiled.get(key)?.as_ref()
    }

    /// The same, which is not kept here any more.
    pub fn take_compiled(
        &mut self,
        key: &[bool],
        observer: &mut dyn StageObserver,
    ) -> Option<CompiledMode> {
        self.compiled(key, observer)?;
        self.compiled.remove(key)?
    }

    /// Keeps a mode for who asks for it next.
    pub fn put_back(&mut self, mode: CompiledMode) {
        self.compiled.insert(mode.key.clone(), Some(mode));
    }

    /// What a listing shows of the modes.
    pub fn table(mut self, by_mode: bool, observer: &mut dyn StageObserver) -> Table {
        let shapes = self.shapes(observer);
        let mut solved = FxHashMap::default();
        let possible = shapes.modes.iter().filter(|mode| mode.shape.is_some());
        for mode in possible.take(if by_mode { LISTED } else { 0 }) {
            let found = self.take_solved(&mode.key, observer);
            solved.extend(found.map(|found| (mode.key.clone(), found)));
        }
        Table {
            positions: self.positions,
            shapes,
            solved,
        }
    }
}

/// What is asked for one mode as it was written.
pub(super) fn in_one_mode(aliases: Aliases) -> Request {
    Request {
        // Start values need not suit all modes.
        starts: Starts::Examined,
        suggestions: false,
        ..Request::new(Goal::Solved, aliases)
    }
}

/// One mode for runs, with its relations taken out; why not if it is impossible. `starts` looks at start values, too.
pub fn mode_with(
    positions: &Positions,
    key: &[bool],
    starts: bool,
    observer: &mut dyn StageObserver,
) -> Result<CompiledMode, Refused> {
    let (flat, loose) = positions.in_mode(key);
    let request = Request {
        starts: match starts {
            true => Starts::Examined,
            false => Starts::Left,
        },
        jump: true,
        suggestions: false,
        ..Request::new(Goal::Solved, Aliases::Eliminate)
    };
    let lowered = lower(flat, request, observer)?;
    let contradiction = lowered.contradiction().map(Box::new);
    let Lowered { model, jump, .. } = lowered;
    let Model::Solved(solved) = model else {
        unreachable!("it was lowered to be solved")
    };
    Ok(CompiledMode {
        key: key.into(),
        solved: *solved,
        jump,
        loose,
        contradiction,
    })
}
