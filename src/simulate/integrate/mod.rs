//! Integrators behind a trait of ours.
//!
//! Before: the right sides of x' = f(t, x), with the pattern of their Jacobian. After: steps, each
//! with values anywhere inside it. Nothing here knows of models, events or names.

/// Places of the entries of a matrix, by columns: rows of column j are
/// `rows[starts[j]..starts[j + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub size: usize,
    pub starts: Vec<usize>,
    pub rows: Vec<usize>,
}

/// The right sides of x' = f(t, x). What cannot be computed is NaN: the integrator tries a
/// shorter step.
pub trait System {
    fn size(&self) -> usize;
    fn rates(&self, time: f64, states: &[f64], rates: &mut [f64]);
    fn pattern(&self) -> &Pattern;
    /// The entries of df/dx in the order of the pattern.
    fn jacobian(&self, time: f64, states: &[f64], entries: &mut [f64]);
}
