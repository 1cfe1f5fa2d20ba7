//! Writes what Modelica has no function for, or no function that causes events.
//!
//! `sign` and `table` become `if`s, because their jumps and corners are events. If this would be long, because an
//! argument with many parts would be repeated or there are many points, `sign` becomes Modelica's function and a table
//! becomes a call of a function in the class. `min` and `max` have two arguments in Modelica.

use super::names::TABLE;
use super::text::{Printer, Want};
use crate::expr::op::precedence as level;
use crate::expr::print::Form;
use crate::expr::{ExprId, Function, Node};

/// Larger arguments are not repeated.
const SMALL: usize = 40;
/// Larger numbers of a table are not repeated.
const TINY: usize = 8;
/// Tables with more points get a function.
const FEW_POINTS: usize = 50;

impl Printer<'_> {
    /// Whether a `sign` or a table is written as `if`s.
    pub(super) fn is_written_out(&self, id: ExprId, args: &[ExprId]) -> bool {
        let exprs = &self.flat.exprs;
        let mut points = Vec::new();
        match exprs.node(id) {
            Node::Call(Function::Sign, _) => {}
            Node::Call(Function::Table, _) => {
                exprs.operands(args[1], &mut points);
                exprs.operands(args[2], &mut points);
            }
            _ => return false,
        }
        points.len() <= 2 * FEW_POINTS
            && self.is_short(args[0], SMALL)
            && points.iter().all(|&point| self.is_short(point, TINY))
    }

    /// Whether an expression has few parts, and none that is written in this way itself.
    fn is_short(&self, root: ExprId, most: usize) -> bool {
        let exprs = &self.flat.exprs;
        let mut work = vec![root];
        let mut count = 0;
        while let Some(id) = work.pop() {
            count += 1;
            let long = matches!(
                exprs.node(id),
                Node::Call(Function::Sign | Function::Table, _)
            );
            if long || count > most {
                return false;
            }
            exprs.operands(id, &mut work);
        }
        true
    }

    /// `if x < x1 then y1 elseif x < x2 then y1 + (y2 - y1)*(x - x1)/(x2 - x1) ... else yn`
    pub(super) fn table(&self, args: &[ExprId], form: &mut Form<'_, Want>) {
        let exprs = &self.flat.exprs;
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        exprs.operands(args[1], &mut xs);
        exprs.operands(args[2], &mut ys);
        let sum = Want::least(level::SUM, true);
        let part = Want::unsigned(level::PRODUCT, true);
        let x = args[0];
        for (at, &border) in xs.iter().enumerate() {
            form.word(if at == 0 { "if " } else { " elseif " });
            form.expr(x, sum);
            form.word(" < ");
            form.expr(border, sum);
            form.word(" then ");
            let Some(before) = at.checked_sub(1) else {
                form.expr(ys[0], sum);
                continue;
            };
            form.expr(ys[before], sum);
            form.word(" + (");
            form.expr(ys[at], sum);
            form.word(" - ");
            form.expr(ys[before], part);
            form.word(")*(");
            form.expr(x, sum);
            form.word(" - ");
            form.expr(xs[before], part);
            form.word(")/(");
            form.expr(border, sum);
            form.word(" - ");
            form.expr(xs[before], part);
            form.word(")");
        }
        form.word(" else ");
        if let Some(&last) = ys.last() {
            form.expr(last, sum);
        }
    }

    /// Whether an expression needs the function for tables.
    pub fn needs_function(&self, root: ExprId) -> bool {
        let exprs = &self.flat.exprs;
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            if let Node::Call(Function::Table, args) = exprs.node(id)
                && !self.is_written_out(id, exprs.args(args))
            {
                return true;
            }
            exprs.operands(id, &mut work);
        }
        false
    }
}

pub(super) fn sign(x: ExprId, form: &mut Form<'_, Want>) {
    form.word("if ");
    form.at(x, level::SUM);
    form.word(" > 0 then 1.0 elseif ");
    form.at(x, level::SUM);
    form.word(" < 0 then -1.0 else 0.0");
}

/// `min(a, min(b, c))`
pub(super) fn pairs(function: Function, args: &[ExprId], real: bool, form: &mut Form<'_, Want>) {
    let begin = match function {
        Function::Min => "min(",
        _ => "max(",
    };
    for (at, &arg) in args.iter().enumerate() {
        if at > 0 {
            form.word(", ");
        }
        if at + 1 < args.len() {
            form.word(begin);
        }
        form.expr(arg, Want::least(level::IF, real));
    }
    form.text(&")".repeat(args.len().saturating_sub(1)));
}

/// The function for tables, for the head of a class.
pub fn function() -> String {
    format!(
        "  function {TABLE} \"Linear interpolation that holds its end values\"
    input Real x;
    input Real xs[:] \"ascending\";
    input Real ys[:];
    output Real y;
  algorithm
    y := ys[1];
    for k in 1:size(xs, 1) - 1 loop
      if x >= xs[k + 1] then
        y := ys[k + 1];
      elseif x >= xs[k] then
        y := ys[k] + (ys[k + 1] - ys[k])*(x - xs[k])/(xs[k + 1] - xs[k]);
      end if;
    end for;
  end {TABLE};
"
    )
}
