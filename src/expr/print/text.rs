//! Texts that are combined with others, and the operators that combine them.

use super::level;

/// A text and its binding strength.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    pub binds: u8,
}

impl Text {
    pub fn new(text: impl Into<String>, binds: u8) -> Text {
        let text = text.into();
        Text { text, binds }
    }

    pub fn atom(text: impl Into<String>) -> Text {
        Text::new(text, level::ATOM)
    }

    /// The text, with brackets unless it binds at least as strongly.
    pub fn at_least(&self, binds: u8) -> String {
        match self.binds >= binds {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug)]
pub struct Prefix {
    pub word: &'static str,
    /// The least binding strength of the operand.
    pub operand: u8,
    /// The strength of the whole.
    pub binds: u8,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug)]
pub struct Infix {
    /// With the blanks around it.
    pub word: &'static str,
    /// The least binding strengths of its operands.
    pub left: u8,
    pub right: u8,
    /// The strength of the whole.
    pub binds: u8,
}

impl Infix {
    /// The right operand has to bind more strongly than the operator.
    pub fn left_to_right(word: &'static str, binds: u8) -> Infix {
        Infix {
            word,
            left: binds,
            right: binds + 1,
            binds,
        }
    }

    /// Two texts with the operator between them.
    pub fn of(self, a: &Text, b: &Text) -> Text {
        let (a, b) = (a.at_least(self.left), b.at_least(self.right));
        Text::new(format!("{a}{}{b}", self.word), self.binds)
    }
}
