//! Runs of whole models against closed forms, published references and the flat equations.

mod circuits;
mod discrete;
mod events;
mod examples;
mod found;
mod ivp;
mod mechanics;
mod methods;
mod program;
mod roots;
mod sines;
mod starts;
mod steady;
mod stiff;
mod truths;
