//! The kernels that know nothing of models (`structure`, `expr`) against slow, obvious implementations.

mod differentiate;
mod pantelides;
mod structure;
mod tearing;
