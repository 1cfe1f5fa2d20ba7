//! Relations and actions at events, as statements.

use super::Statements;
use crate::export::write::Dialect;
use crate::expr::BinaryOp;
use crate::expr::print::Text;
use crate::passes::relations::{Relation, WatchKind};

/// The two sides of a relation: their difference decides it.
pub fn sides<'p>(to: &mut impl Statements<'p>, watch: &Relation) -> (Text, Text) {
    let left = to.value(watch.left);
    let zero = Text::atom("0.0");
    match watch.right.map(|right| to.value(right)) {
        Some(right) if watch.kind == WatchKind::Floor => {
            let dialect = to.writer().dialect;
            (dialect.infix(BinaryOp::Div).of(&left, &right), zero)
        }
        Some(right) => (left, right),
        None => (left, zero),
    }
}

/// The actions of the `when`s whose conditions have just become true.
pub fn whens<'p>(to: &mut impl Statements<'p>) {
    let model = to.model();
    let mut number = 0;
    for when in &model.whens {
        to.begin_when();
        for (condition, actions) in when {
            let condition = to.value(*condition);
            to.begin_branch(number, &condition);
            to.writer().forget();
            to.writer().indented(1);
            for action in actions {
                let value = to.value(action.value);
                let about = model.flat.equation_text(action.equation);
                to.act(action, &value, &about);
            }
            to.writer().forget();
            to.writer().indented(-1);
            if let Some(end) = to.writer().dialect.end() {
                to.line(&end);
            }
            number += 1;
        }
        to.cut();
    }
}
