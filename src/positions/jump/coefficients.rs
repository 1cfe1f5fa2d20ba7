//! Jumps that coefficients make undecidable: those that jump along with several variables, and those that an event changes.

use super::{Coefficient, Jump, Jumped, Refused, Values, acceptance};
use crate::evaluate::Numbers;
use crate::flat::{Flat, Kind, Leaf, Type};

impl Jump {
    /// Refuses what would need to know how several things jump together: a coefficient that is another one after the
    /// jump, and not because of its own variable alone.
    pub fn one_way(
        &self,
        flat: &Flat,
        time: f64,
        (before, after): (&Values, &Values),
        jumped: &Jumped,
    ) -> Result<(), Refused> {
        if self.is_linear() {
            return Ok(());
        }
        let mut numbers = Numbers::new(flat, time);
        for row in self.rows.iter().filter(|row| row.holds.is_none()) {
            for &(column, coefficient) in &row.entries {
                let (j, Coefficient::Expression(id)) = (column as usize, coefficient) else {
                    continue;
                };
                let leaf = self.columns[j];
                let acts = match self.impulsive[j] {
                    true => jumped.impulses.contains_key(&leaf),
                    false => before.get(&leaf) != jumped.after.get(&leaf),
                };
                if !acts {
                    continue;
                }
                // With its own variable it was integrated.
                let mut there = after.clone();
                if let (false, Some(&own)) = (self.impulsive[j], before.get(&leaf)) {
                    there.insert(leaf, own);
                }
                let values = [before, &there].map(|values| numbers.value(id, values));
                if let [Some(a), Some(b)] = values
                    && acceptance::differs(a, b)
                {
                    return Err(Refused::Coefficient(Box::new(row.equation), leaf));
                }
            }
        }
        Ok(())
    }

    /// Refuses a jump of a variable whose derivative has another coefficient since the event: `before` are the values before it, `now`
    /// those with the truths that hold now.
    pub fn keeps_coefficients(
        &self,
        flat: &Flat,
        time: f64,
        (before, now): (&Values, &Values),
        jumps: impl Fn(Leaf) -> bool,
    ) -> Result<(), Refused> {
        let mut numbers = Numbers::new(flat, time);
        for row in self.rows.iter().filter(|row| row.holds.is_none()) {
            for &(column, coefficient) in &row.entries {
                let (j, Coefficient::Expression(id)) = (column as usize, coefficient) else {
                    continue;
                };
                if self.impulsive[j] || !jumps(self.columns[j]) {
                    continue;
                }
                let values = [before, now].map(|values| numbers.value(id, values));
                if let [Some(a), Some(b)] = values
                    && acceptance::differs(a, b)
                {
                    return Err(Refused::Changed(Box::new(row.equation), self.columns[j]));
                }
            }
        }
        Ok(())
    }
}

/// Whether a coefficient is the same before and after a jump: numbers, and what depends on truths, discrete variables and Time.
pub(super) fn stays(flat: &Flat, coefficient: Coefficient) -> bool {
    let Coefficient::Expression(id) = coefficient else {
        return true;
    };
    let mut stays = true;
    flat.exprs.leaves(id, |leaf| {
        let variable = flat.variable(leaf.variable());
        let jumps = matches!(variable.kind, Kind::State | Kind::Algebraic | Kind::Output);
        stays &= variable.ty == Type::Boolean || !jumps;
    });
    stays
}
