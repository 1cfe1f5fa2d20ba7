//! Values at one point.

use super::error::Error;
use super::model::Model;
use crate::base::diagnostics::Diagnostics;
use crate::compile::at_point::{PointError, evaluate_at};
use crate::compile::{Aliases, NoObserver, solved};
use crate::evaluate::show;

/// The values of all variables of a model at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    time: f64,
    mode: Option<String>,
    /// A truth value is 0 or 1.
    values: Vec<(String, f64)>,
}

impl Values {
    /// Returns the value of a variable or of a derivative, `der(x)`. A truth value is 0 or 1.
    pub fn get(&self, name: &str) -> Option<f64> {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.map(|&(_, value)| value)
    }

    pub fn time(&self) -> f64 {
        self.time
    }

    /// The mode of the ideal switches at this point. `None` if the model needs no modes.
    pub fn mode(&self) -> Option<&str> {
        self.mode.as_deref()
    }

    /// Names and values, in the order in which `bgm solve --at` prints them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
    }
}

impl Model {
    /// Solves at a point: states, inputs, parameters, discrete variables and `Time` as given, else their start values.
    ///
    /// ```
    /// let model = bgm::Model::from_text("
    /// model Bridge
    ///   input u
    ///   local i, v
    ///   u = 10*i + v
    ///   v = 30*i
    /// end")?;
    /// let values = model.at(&[("u", 8.0)])?;
    /// assert_eq!(values.get("v"), Some(6.0));
    /// # Ok::<(), bgm::Error>(())
    /// ```
    pub fn at(&self, given: &[(&str, f64)]) -> Result<Values, Error> {
        let mut diagnostics = Diagnostics::default();
        let solution = solved(self.flat.clone(), Aliases::Eliminate, &mut diagnostics);
        let mut solution = solution.ok_or_else(|| Error::new(&self.sources, &diagnostics))?;
        let given: Vec<String> = (given.iter())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let placed = match evaluate_at(&mut solution, &given.join(","), &mut NoObserver) {
            Ok(placed) => placed,
            Err(PointError::Request(message)) => return Err(Error::of_request(message)),
            Err(PointError::Diagnostic(diagnostic)) => {
                diagnostics.push(*diagnostic);
                return Err(Error::new(&self.sources, &diagnostics));
            }
        };
        let (key, other) = placed.mode.unzip();
        let by = other.flatten();
        let by = by.as_deref().unwrap_or(&solution.solved);
        let mode = solution.positions.as_deref().zip(key);
        Ok(Values {
            time: placed.point.time,
            mode: mode.map(|(positions, key)| positions.position_name(&key)),
            values: show::values(by, &placed.point),
        })
    }
}
