//! Blocks that cannot be solved, and the diagnostics about them.

use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::expr::ExprId;
use crate::flat::{EqId, Flat, Leaf};
use crate::passes::showing::with_equations;

/// The most names in a list.
const SHOWN: usize = 6;

/// A model of which some blocks cannot be solved.
#[derive(Debug)]
pub struct Unsolved {
    pub flat: Flat,
    pub faults: Vec<Fault>,
}

/// What is wrong with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The equation cannot be solved for a boolean unknown.
    Boolean(EqId, Leaf),
    /// The determinant of a linear loop is zero for all values.
    Singular(Vec<EqId>, Vec<Leaf>),
    /// The coefficient of the unknown is this expression, which is zero as given.
    ZeroCoefficient(EqId, Leaf, ExprId),
    /// A boolean unknown stands in a loop. Only loops of numbers can be solved.
    BooleanLoop(EqId, Leaf, Vec<Leaf>),
}

impl Unsolved {
    pub fn report(&self, said: &mut Diagnostics) {
        said.extend(self.faults.iter().map(|fault| self.words(fault)));
    }

    /// The same, without places.
    pub fn messages(&self) -> Vec<String> {
        let words = |fault| self.words(fault).message;
        self.faults.iter().map(words).collect()
    }

    /// The equations that the faults are about.
    pub fn equations(&self) -> Vec<EqId> {
        (self.faults.iter())
            .flat_map(|fault| match fault {
                Fault::Boolean(id, _)
                | Fault::ZeroCoefficient(id, ..)
                | Fault::BooleanLoop(id, ..) => std::slice::from_ref(id),
                Fault::Singular(equations, _) => equations,
            })
            .copied()
            .collect()
    }

    fn words(&self, fault: &Fault) -> Diagnostic {
        match fault {
            Fault::Boolean(id, unknown) => self.boolean(*id, *unknown),
            Fault::Singular(equations, unknowns) => self.singular(equations, unknowns),
            Fault::ZeroCoefficient(id, unknown, divisor) => {
                self.zero_coefficient(*id, *unknown, *divisor)
            }
            Fault::BooleanLoop(id, unknown, unknowns) => self.boolean_loop(*id, *unknown, unknowns),
        }
    }

    fn boolean(&self, id: EqId, unknown: Leaf) -> Diagnostic {
        let name = self.flat.leaf_name(unknown);
        let equation = &self.flat.equations[id.index()];
        Diagnostic::new(
            Code::Unsolvable,
            format!("the boolean `{name}` cannot be computed from its equation"),
        )
        .at(equation.span, self.flat.equation_text(id))
        .hint(format!(
            "write the equation with `{name}` alone on one side"
        ))
    }

    fn singular(&self, equations: &[EqId], unknowns: &[Leaf]) -> Diagnostic {
        let names: Vec<String> = (unknowns.iter().take(SHOWN))
            .map(|&leaf| format!("`{}`", self.flat.leaf_name(leaf)))
            .collect();
        let message = format!(
            "the equations of {} do not determine them: with the values given they depend on each other",
            names.join(", ")
        );
        let diagnostic = Diagnostic::new(Code::ZeroCoefficient, message);
        with_equations(&self.flat, equations.to_vec(), diagnostic)
            .note("the determinant of this linear loop is zero")
            .hint("one of these equations follows from the others or contradicts them: change it, or a value")
    }

    fn zero_coefficient(&self, id: EqId, unknown: Leaf, divisor: ExprId) -> Diagnostic {
        let name = self.flat.leaf_name(unknown);
        let text = self.flat.expression(divisor);
        let equation = &self.flat.equations[id.index()];
        let message = match text.as_str() {
            "0" => format!("`{name}` cannot be computed: it drops out of its equation"),
            _ => format!("`{name}` cannot be computed: `{text}` is zero as given"),
        };
        Diagnostic::new(Code::ZeroCoefficient, message)
            .at(equation.span, self.flat.equation_text(id))
            .note(format!(
                "nothing else determines `{name}`, so this equation would have to be divided by zero"
            ))
            .hint("give another value, or leave the part out")
    }

    fn boolean_loop(&self, id: EqId, unknown: Leaf, unknowns: &[Leaf]) -> Diagnostic {
        let name = self.flat.leaf_name(unknown);
        let mut others: Vec<String> = (unknowns.iter().filter(|&&other| other != unknown))
            .take(SHOWN)
            .map(|&other| format!("`{}`", self.flat.leaf_name(other)))
            .collect();
        if unknowns.len() > SHOWN + 1 {
            others.push("...".into());
        }
        let equation = &self.flat.equations[id.index()];
        let text = self.flat.equation_text(id);
        Diagnostic::new(
            Code::BooleanLoop,
            format!("`{name}` is a boolean in a loop with {}", others.join(", ")),
        )
        .at(equation.span, text)
        .note("each of these depends on the others at the same instant; only numbers can be solved for together")
        .hint(format!(
            "let `{name}` be decided at events: `new({name}) = ...`"
        ))
    }
}
