//! Typed ids: numbers whose type says what they count, and that print as dumps show them.

/// `Name "letter";` makes a type `Name` over `u32` that prints as `letter12`.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $letter:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    )* };
}

pub(crate) use ids;
