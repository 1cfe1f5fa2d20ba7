//! `modelDescription.xml`, as FMI 2.0 wants it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::depend::{Dependencies, On, graph};
use super::variables::{Role, Variable, Variables};
use crate::base::unit::Unit;
use crate::base::words::xml as escaped;
use crate::export::Request;

/// The place of the guid, which is computed from all other parts.
pub const GUID: &str = "{guid}";

pub struct Description<'d> {
    pub request: &'d Request<'d>,
    pub variables: &'d Variables,
    /// The prefix of the names of files and functions.
    pub identifier: &'d str,
    pub indicators: usize,
    pub nominal: f64,
}

/// As XML Schema writes a double.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "NaN".to_string(),
        f64::INFINITY => "INF".to_string(),
        f64::NEG_INFINITY => "-INF".to_string(),
        value => format!("{value:?}"),
    }
}

/// Whether the naming convention "structured" allows the name.
fn is_structured(name: &str) -> bool {
    let inner = name
        .strip_prefix("der(")
        .and_then(|rest| rest.strip_suffix(')'));
    let path = match inner.and_then(|inner| inner.split_once(',')) {
        Some((path, order)) if order.bytes().all(|c| c.is_ascii_digit()) => path,
        _ => inner.unwrap_or(name),
    };
    path.split('.').all(|part| {
        let (word, index) = match part.split_once('[') {
            Some((word, index)) => (word, index.strip_suffix(']')),
            None => (part, Some("1")),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && index.is_some_and(|index| index.split(',').all(digits))
    })
}

impl Description<'_> {
    pub fn text(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let model = self.request.model;
        let structured = (self.variables.all.iter()).all(|one| is_structured(&one.name));
        let _ = write!(
            out,
            "<fmiModelDescription
  fmiVersion=\"2.0\"
  modelName=\"{}\"
  guid=\"{GUID}\"
  generationTool=\"bgm {}\"
  variableNamingConvention=\"{}\"
  numberOfEventIndicators=\"{}\">
",
            escaped(model.flat.model()),
            env!("CARGO_PKG_VERSION"),
            if structured { "structured" } else { "flat" },
            self.indicators,
        );
        let files = format!(
            "    <SourceFiles>\n      <File name=\"{}.c\"/>\n    </SourceFiles>\n",
            self.identifier
        );
        let abilities = "canNotUseMemoryManagementFunctions=\"false\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"";
        let _ = write!(
            out,
            "  <ModelExchange modelIdentifier=\"{0}\" canBeInstantiatedOnlyOncePerProcess=\"false\"
    {abilities}>
{files}  </ModelExchange>
  <CoSimulation modelIdentifier=\"{0}\" canBeInstantiatedOnlyOncePerProcess=\"false\"
    canHandleVariableCommunicationStepSize=\"true\" canInterpolateInputs=\"false\" maxOutputDerivativeOrder=\"0\"
    {abilities}>
{files}  </CoSimulation>
",
            self.identifier
        );
        self.units(&mut out);
        out.push_str("  <LogCategories>\n");
        for (name, about) in CATEGORIES {
            let _ = writeln!(
                out,
                "    <Category name=\"{name}\" description=\"{about}\"/>"
            );
        }
        out.push_str("  </LogCategories>\n");
        let run = self.request.run;
        let step = match run.step {
            Some(step) => step,
            None => (run.until - run.from) / (run.points.max(2) - 1) as f64,
        };
        let _ = writeln!(
            out,
            "  <DefaultExperiment startTime=\"{}\" stopTime=\"{}\" tolerance=\"{}\" stepSize=\"{}\"/>",
            number(run.from),
            number(run.until),
            number(run.relative),
            number(step)
        );
        out.push_str("  <ModelVariables>\n");
        for (at, variable) in self.variables.all.iter().enumerate() {
            self.variable(at, variable, &mut out);
        }
        out.push_str("  </ModelVariables>\n");
        self.structure(&mut out);
        out.push_str("</fmiModelDescription>\n");
        out
    }

    fn units(&self, out: &mut String) {
        let units: BTreeSet<&str> = (self.variables.all.iter())
            .filter_map(|variable| variable.unit.as_deref())
            .collect();
        if units.is_empty() {
            return;
        }
        out.push_str("  <UnitDefinitions>\n");
        for unit in units {
            let name = escaped(unit);
            let Some(powers) = Unit::read(unit).and_then(|unit| unit.powers()) else {
                let _ = writeln!(out, "    <Unit name=\"{name}\"/>");
                continue;
            };
            let _ = write!(out, "    <Unit name=\"{name}\"><BaseUnit");
            for (base, power) in powers {
                if power != 0 {
                    let _ = write!(out, " {base}=\"{power}\"");
                }
            }
            out.push_str("/></Unit>\n");
        }
        out.push_str("  </UnitDefinitions>\n");
    }

    fn variable(&self, at: usize, variable: &Variable, out: &mut String) {
        let rank = rank(variable);
        let _ = write!(
            out,
            "    <ScalarVariable name=\"{}\" valueReference=\"{at}\"",
            escaped(&variable.name)
        );
        if !variable.description.is_empty() {
            let _ = write!(out, " description=\"{}\"", escaped(&variable.description));
        }
        let _ = write!(
            out,
            " causality=\"{}\" variability=\"{}\"",
            rank.causality, rank.variability
        );
        if let Some(initial) = rank.initial {
            let _ = write!(out, " initial=\"{initial}\"");
        }
        let kind = if variable.boolean { "Boolean" } else { "Real" };
        let _ = write!(out, "><{kind}");
        if let Some(start) = variable.start {
            let start = match variable.boolean {
                true => (start != 0.0).to_string(),
                false => number(start),
            };
            let _ = write!(out, " start=\"{start}\"");
        }
        if let Some(unit) = &variable.unit {
            let _ = write!(out, " unit=\"{}\"", escaped(unit));
        }
        if variable.is_state {
            let _ = write!(out, " nominal=\"{}\"", number(self.nominal));
        }
        if let Some(state) = variable.derivative_of {
            let _ = write!(out, " derivative=\"{}\"", state + 1);
        }
        out.push_str("/></ScalarVariable>\n");
    }

    fn structure(&self, out: &mut String) {
        let all = &self.variables.all;
        let graph = graph(self.request.model);
        let mut dependencies = Dependencies::new(self.request.model, &graph);
        let mut unknown = |at: usize, out: &mut String| {
            let _ = write!(out, "      <Unknown index=\"{}\"", at + 1);
            let found = all[at].leaf.and_then(|leaf| dependencies.of(leaf));
            if let Some(found) = found {
                let mut found: Vec<usize> = (found.iter())
                    .filter_map(|on| match on {
                        On::Leaf(leaf) => self.variables.of.get(leaf).map(|at| at + 1),
                        // Time is the first of all.
                        On::Time => Some(1),
                    })
                    .collect();
                found.sort_unstable();
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                let _ = write!(out, " dependencies=\"{}\"", found.join(" "));
            }
            out.push_str("/>\n");
        };
        out.push_str("  <ModelStructure>\n");
        let outputs: Vec<usize> = (0..all.len()).filter(|&at| all[at].output).collect();
        for (title, list) in [
            ("Outputs", &outputs),
            ("Derivatives", &self.variables.rates),
        ] {
            if !list.is_empty() {
                let _ = writeln!(out, "    <{title}>");
                for &at in list {
                    unknown(at, out);
                }
                let _ = writeln!(out, "    </{title}>");
            }
        }
        // Initial unknowns may depend on everything that is given.
        let mut initial: BTreeSet<usize> = BTreeSet::new();
        let states = self.variables.states.iter().chain(&self.variables.rates);
        let computed = outputs.iter().chain(states);
        initial.extend(computed.filter(|&&at| rank(&all[at]).initial != Some("exact")));
        initial.extend((0..all.len()).filter(|&at| all[at].role == Role::Derived));
        if !initial.is_empty() {
            out.push_str("    <InitialUnknowns>\n");
            for at in initial {
                let _ = writeln!(out, "      <Unknown index=\"{}\"/>", at + 1);
            }
            out.push_str("    </InitialUnknowns>\n");
        }
        out.push_str("  </ModelStructure>\n");
    }
}

const CATEGORIES: &[(&str, &str)] = &[
    ("logAll", "All messages"),
    ("logEvents", "Events, as they are settled"),
    ("logStatusError", "Failures: what, when, and which equation"),
    ("logStatusDiscard", "Failures that a shorter step may avoid"),
];

struct Rank {
    causality: &'static str,
    variability: &'static str,
    initial: Option<&'static str>,
}

/// The combinations of attributes that the standard allows.
fn rank(variable: &Variable) -> Rank {
    let moving = match variable.discrete {
        true => "discrete",
        false => "continuous",
    };
    let seen = match variable.output {
        true => "output",
        false => "local",
    };
    let (causality, variability, initial) = match variable.role {
        Role::Time => ("independent", "continuous", None),
        Role::Parameter => ("parameter", "tunable", Some("exact")),
        Role::Derived => ("calculatedParameter", "tunable", Some("calculated")),
        Role::Constant => (seen, "constant", Some("exact")),
        Role::Input => ("input", moving, None),
        Role::State => (seen, moving, Some("exact")),
        Role::Guessed => (seen, moving, Some("approx")),
        Role::Follows | Role::Computed => (seen, moving, Some("calculated")),
    };
    Rank {
        causality,
        variability,
        initial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_convention() {
        for name in [
            "x",
            "C1.e",
            "c[2].R1.v[10]",
            "der(x)",
            "der(c[2].x,2)",
            "_a",
        ] {
            assert!(is_structured(name), "{name}");
        }
        for name in ["", "1x", "a..b", "a[", "a[]", "der(der(x))", "a b", "é"] {
            assert!(!is_structured(name), "{name}");
        }
    }

    #[test]
    fn attributes_hold_any_text() {
        assert_eq!(
            escaped("a < \"b\" & c\u{7}\n"),
            "a &lt; &quot;b&quot; &amp; c&#10;"
        );
    }
}
