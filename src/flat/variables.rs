//! Variables of the flat model: how each was declared, what kind and type it has, how often it is differentiated.

use super::{DeclId, InstanceId};
use crate::base::intern::Symbol;
use crate::base::source::Span;
use crate::syntax::ast::Remarks;

/// How a variable was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Across,
    Through,
    /// Across in one cut and through in another, as in a bond.
    Both,
    Terminal,
    Input,
    Output,
    Local,
    /// Not declared; it counts as a local variable.
    Implicit,
    /// A parameter or a constant.
    Fixed,
}

#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: Symbol,
    pub span: Span,
    pub role: Role,
    pub remarks: Remarks,
    pub doc: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its derivative appears.
    State,
    Algebraic,
    /// Set by `new`.
    Discrete,
    /// An input of the compiled model.
    Input,
    /// An output of the compiled model that is none of the above.
    Output,
    Parameter,
    Constant,
    /// A common factor that the solution of a loop has named: Q101, Q102, ...
    Auxiliary,
}

impl Kind {
    pub fn text(self) -> &'static str {
        match self {
            Kind::State => "state",
            Kind::Algebraic => "algebraic",
            Kind::Discrete => "discrete",
            Kind::Input => "input",
            Kind::Output => "output",
            Kind::Parameter => "parameter",
            Kind::Constant => "constant",
            Kind::Auxiliary => "auxiliary",
        }
    }

    /// Whether equations determine it.
    pub fn is_unknown(self) -> bool {
        matches!(
            self,
            Kind::State | Kind::Algebraic | Kind::Discrete | Kind::Output
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Real,
    Boolean,
}

impl Type {
    pub fn text(self) -> &'static str {
        match self {
            Type::Real => "real",
            Type::Boolean => "boolean",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub instance: InstanceId,
    pub declaration: DeclId,
    /// From 1 on in an array; 0 for a single variable.
    pub index: u32,
    pub kind: Kind,
    pub ty: Type,
    /// Declared as an output of the compiled model, whatever its kind.
    pub output: bool,
    /// The order of its highest derivative in the equations; 0 if it is not differentiated.
    pub order: u8,
    /// How many of the variable and its derivatives are states, counted from the variable itself. After flattening
    /// these are all below the highest derivative; index reduction may leave fewer.
    pub states: u8,
}
