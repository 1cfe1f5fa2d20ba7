//! The form in which the equivalent parameter of a storage is written.
//!
//! Before: the equivalent of a storage that replaces others. After: the text of its parameter. ENPORT (McCalla 1991,
//! appendix C) asks for the equation of the remaining storage: a gain, by which the stored quantity is multiplied (`f
//! = p*GAIN`), or an attenuation, by which it is divided (`f = p/ATT`). The type of the storage uses one of them as
//! its parameter (`I*der(f) = e` is an attenuation): in that form the equivalent is the value of the parameter. In
//! the other form it becomes a new parameter of the model, from which the parameter of the type is computed.

use super::Obstacle;
use super::names::text;
use super::parameters::Parameters;
use super::rewrite::solved_for;
use super::script::fresh;
use crate::expr::{BinaryOp, ExprId, Node};
use crate::flat::{Flat, InstanceId, Leaf, Names, VarId};

/// How the equivalent parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The output is a multiple of the stored quantity: `f = p*(1/I)`
    Gain,
    /// The stored quantity is divided: `f = p/I`
    Attenuation,
}

impl Form {
    pub const ALL: [Form; 2] = [Form::Gain, Form::Attenuation];

    pub fn name(self) -> &'static str {
        match self {
            Form::Gain => "gain",
            Form::Attenuation => "attenuation",
        }
    }
}

/// A storage that replaces others.
#[derive(Clone, Copy, Debug)]
pub struct Equivalent<'e> {
    pub name: &'e str,
    pub owner: InstanceId,
    /// True for an inertance, which stores a momentum.
    pub is_flow: bool,
    /// The old attenuation as an expression in the parameters of the type.
    pub own: ExprId,
    /// The equivalent attenuation.
    pub total: ExprId,
    /// The parameter that is set, and its value in the form of the type.
    pub parameter: VarId,
    pub value: ExprId,
}

impl Equivalent<'_> {
    /// Returns the text of the parameter's value, and a note about it. If the form requires it, a parameter of the
    /// model is added.
    pub fn text(
        &self,
        flat: &mut Flat,
        parameters: &mut Parameters<'_>,
        form: Option<Form>,
    ) -> Result<(String, String), Obstacle> {
        let own = flat.declaration(self.parameter).name;
        let own = format!("{}.{}", self.name, flat.names.name(own));
        let alone = |text: String| {
            let told = format!("{own} = {text}");
            (text, told)
        };
        let Some(form) = form else {
            return Ok(alone(parameters.text(flat, self.value)?));
        };
        let one = flat.exprs.number(1.0);
        let equivalent = match form {
            Form::Gain => flat.exprs.tidy_div(one, self.total),
            Form::Attenuation => self.total,
        };
        let of_type = flat.exprs.leaf(Leaf::Var(self.parameter));
        let is_bare = match (form, flat.exprs.node(self.own)) {
            (Form::Attenuation, _) => self.own == of_type,
            (Form::Gain, Node::Binary(BinaryOp::Div, above, below)) => {
                above == one && below == of_type
            }
            (Form::Gain, _) => false,
        };
        if is_bare {
            return Ok(alone(parameters.text(flat, equivalent)?));
        }
        // The parameter of the type stands for the new one while the law is solved for it.
        let attenuation = match form {
            Form::Gain => flat.exprs.tidy_div(one, of_type),
            Form::Attenuation => of_type,
        };
        let missing = || Obstacle::NoParameter(self.name.to_string());
        let found = solved_for(flat, self.owner, self.own, attenuation);
        let (_, value) = found
            .filter(|&(id, _)| id == self.parameter)
            .ok_or_else(missing)?;
        let said = parameters.text(flat, equivalent)?;
        let (word, what) = match (form, self.is_flow) {
            (Form::Gain, true) => ("gain", "flow by momentum"),
            (Form::Gain, false) => ("gain", "effort by displacement"),
            (Form::Attenuation, true) => ("att", "momentum by flow"),
            (Form::Attenuation, false) => ("att", "displacement by effort"),
        };
        let new = fresh(&mut parameters.taken, &format!("{}_{word}", self.name));
        let declared = format!("{new} = {said} \"{}: {what}\"", self.name);
        parameters.new.push(declared);
        let names = Names::from_iter([(self.parameter, new.clone())]);
        let text = text(flat, &names, value);
        let told = format!("{own} = {text}, {new} = {said}");
        Ok((text, told))
    }
}
