//! Units of values: what the text in quotes means, and what to say if it means nothing.

use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;
use crate::base::unit::{Measure, NotAUnit, nearest, read};

use super::shorten;

/// The unit of a value; one that is not known is an error, because the value could not be converted.
pub fn read_unit(text: &str, span: Span) -> Result<Measure, Box<Diagnostic>> {
    read(text).map_err(|why| Box::new(unknown_unit(Code::UnknownUnit, text, span, &why)))
}

/// What to say of a text that is no unit.
pub fn unknown_unit(code: Code, text: &str, span: Span, why: &NotAUnit) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        code,
        format!("`{}` is not a unit that is known", shorten(text)),
    );
    match why {
        NotAUnit::Form => diagnostic
            .at(span, "cannot be read")
            .hint("a unit is a product of names with powers: `m/s2`, `J/(kg.K)`, `kOhm`, `1/s`"),
        NotAUnit::Name(name) => {
            let label = match *name == text {
                true => "unknown".to_string(),
                false => format!("`{}` is unknown", shorten(name)),
            };
            let diagnostic = diagnostic.at(span, label);
            match nearest(name) {
                Some(known) => diagnostic.hint(format!("did you mean `{known}`?")),
                None => diagnostic.hint(
                    "units of the SI with their prefixes are known, and the usual others (`bar`, `rpm`, `degC`, `km/h`)",
                ),
            }
        }
    }
}
