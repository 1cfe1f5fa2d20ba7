//! Chooses the states: dummy derivatives.
//!
//! Before: how often each equation is differentiated (c), and the highest derivative of each variable (d). After: for
//! each variable how many of it and its derivatives are states, why the others are not, and the sets in which the
//! choice is left to the run.
//!
//! Mattsson and Söderlind 1993, stage by stage: an equation with c >= s, differentiated c - s times, is a constraint on
//! the derivatives of order d - s. As many of these derivatives as there are such equations are no states. One matrix
//! serves all stages: the derivatives of the equations with respect to the highest derivatives, which do not change by
//! differentiation. Of the variables in a row the least wanted becomes an unknown, if the row can certainly be solved
//! for it ([`super::elimination`]).

use crate::base::cancel::glance;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Stuck;
use super::elimination::{Eliminated, Row, eliminate};
use super::matrix::{Matrix, matrix};
use super::orders::Orders;
use super::preference::{Preference, Preferences};
use crate::flat::{Dropped, EqId, Flat, Leaf, Merit, Selection};
use crate::structure::{Incidence, Matching, NONE, Offsets, grow, maximum_matching};

/// The most names that are kept for one explanation.
const MOST_OTHERS: usize = 8;

#[derive(Debug)]
pub struct Statuses {
    /// By column of [`Orders`].
    pub states: Vec<u8>,
    pub dropped: Vec<Dropped>,
    pub selections: Vec<Selection>,
    /// The variables that are no states any more, each with the variables that it depends on, and with why these were
    /// preferred.
    settled: FxHashMap<Leaf, (Vec<Leaf>, Merit)>,
}

pub fn select(flat: &mut Flat, orders: &Orders, offsets: &Offsets) -> Result<Statuses, Stuck> {
    let matrix = matrix(flat, orders, offsets);
    let preferences = Preferences::new(flat);
    let mut statuses = Statuses {
        states: offsets.columns.iter().map(|&order| order as u8).collect(),
        dropped: Vec::new(),
        selections: Vec::new(),
        settled: FxHashMap::default(),
    };
    let most = offsets.rows.iter().copied().max().unwrap_or(0);
    // Columns whose next lower derivative may also be no state.
    let mut open: Vec<u32> = (0..orders.variables.len() as u32)
        .filter(|&column| offsets.columns[column as usize] > 0)
        .collect();
    for stage in 1..=most {
        open.retain(|&column| offsets.columns[column as usize] >= stage);
        let stage = Stage::new(orders, offsets, &matrix, &preferences, &open, stage);
        open = stage.run(flat, &mut statuses)?;
    }
    // Selections of positions come before selections of velocities.
    (statuses.selections).sort_by_key(|selection| selection.times);
    statuses
        .dropped
        .sort_by_cached_key(|dropped| (flat.name(dropped.state.variable()), dropped.state.order()));
    Ok(statuses)
}

/// One stage: derivatives of the same distance from the highest order.
struct Stage<'a> {
    orders: &'a Orders,
    /// Rows of [`Orders`], and how often each is differentiated here.
    equations: Vec<u32>,
    times: Vec<u8>,
    rows: Vec<Row>,
    /// Columns of [`Orders`], and the states that each may be, the most wanted first.
    columns: Vec<u32>,
    leaves: Vec<Leaf>,
    preferences: Vec<Preference>,
}

impl<'a> Stage<'a> {
    fn new(
        orders: &'a Orders,
        offsets: &Offsets,
        matrix: &Matrix,
        preferences: &Preferences<'_>,
        open: &[u32],
        stage: u32,
    ) -> Self {
        // Only columns that occur in some row can become unknowns.
        let mut there = vec![false; orders.variables.len()];
        for &column in open {
            there[column as usize] = true;
        }
        let taking_part = |row: &u32| offsets.rows[*row as usize] >= stage;
        let mut used = vec![false; orders.variables.len()];
        for (_, row) in matrix.rows.iter().filter(|(row, _)| taking_part(row)) {
            for &(column, _) in row {
                used[column as usize] = there[column as usize];
            }
        }
        let mut columns: Vec<(Preference, u32, Leaf)> = (open.iter().copied())
            .filter(|&column| used[column as usize])
            .map(|column| {
                let order = offsets.columns[column as usize] - stage;
                let leaf = Leaf::at_order(orders.variables[column as usize], order as u8);
                (preferences.of(leaf), column, leaf)
            })
            .collect();
        columns.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let mut local = vec![NONE; orders.variables.len()];
        for (at, &(_, column, _)) in columns.iter().enumerate() {
            local[column as usize] = at as u32;
        }
        let (mut equations, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (row, coefficients) in matrix.rows.iter().filter(|(row, _)| taking_part(row)) {
            equations.push(*row);
            times.push((offsets.rows[*row as usize] - stage) as u8);
            rows.push(
                (coefficients.iter())
                    .map(|&(column, value)| (local[column as usize], value))
                    .filter(|&(column, _)| column != NONE)
                    .collect(),
            );
        }
        let mut stage = Stage {
            orders,
            equations,
            times,
            rows,
            columns: Vec::with_capacity(columns.len()),
            leaves: Vec::with_capacity(columns.len()),
            preferences: Vec::with_capacity(columns.len()),
        };
        for (preference, column, leaf) in columns {
            stage.preferences.push(preference);
            stage.columns.push(column);
            stage.leaves.push(leaf);
        }
        stage
    }

    /// Returns the columns that are no states in this stage, or only at times.
    fn run(self, flat: &Flat, statuses: &mut Statuses) -> Result<Vec<u32>, Stuck> {
        // Columns are in the order of preference.
        let ranks: Vec<u32> = (0..self.columns.len() as u32).collect();
        // A variable that is declared `state` is protected, if that leaves no choice to the run.
        let wished: Vec<bool> = (self.preferences.iter())
            .map(Preference::is_declared)
            .collect();
        let mut eliminated = eliminate(&self.rows, &ranks, &wished);
        if !self.is_settled(&eliminated) {
            eliminated = eliminate(&self.rows, &ranks, &vec![false; ranks.len()]);
        }
        if !eliminated.dependent.is_empty() {
            return Err(Stuck::Dependent(self.around(&eliminated.dependent)));
        }
        let mut non_states: Vec<u32> = Vec::new();
        for &column in eliminated.pivots.iter().filter(|&&column| column != NONE) {
            non_states.push(column);
            let others = eliminated.depends_on(column, MOST_OTHERS);
            self.drop(flat, column, &others, None, statuses);
        }
        self.open_rows(flat, &eliminated, &mut non_states, statuses)?;
        non_states.sort_unstable();
        for &column in &non_states {
            statuses.states[self.columns[column as usize] as usize] -= 1;
        }
        let mut non_states: Vec<u32> = non_states
            .iter()
            .map(|&at| self.columns[at as usize])
            .collect();
        non_states.sort_unstable();
        Ok(non_states)
    }

    /// The equations of some rows and of rows that share columns with them, up to a limit.
    fn around(&self, rows: &[u32]) -> Vec<EqId> {
        const MOST: usize = 8;
        let mut found: Vec<u32> = rows.iter().copied().take(MOST).collect();
        let mut at = 0;
        while at < found.len() && found.len() < MOST {
            glance();
            let columns = &self.rows[found[at] as usize];
            let shares = |row: &Row| {
                let mut both = row.iter().map(|(column, _)| column);
                both.any(|column| columns.iter().any(|(other, _)| other == column))
            };
            for (row, _) in (0..).zip(&self.rows).filter(|(_, row)| shares(row)) {
                if !found.contains(&row) && found.len() < MOST {
                    found.push(row);
                }
            }
            at += 1;
        }
        (found.iter())
            .map(|&row| self.orders.equations[self.equations[row as usize] as usize])
            .collect()
    }

    /// Records why a column is no state, if it is a state in the source. `others` are the columns that it depends on, each
    /// with whether it could certainly have been an unknown instead.
    fn drop(
        &self,
        flat: &Flat,
        column: u32,
        others: &[(u32, bool)],
        merit: Option<Merit>,
        statuses: &mut Statuses,
    ) {
        let state = self.leaves[column as usize];
        let mut order: Vec<(bool, u32)> = (others.iter())
            .map(|&(other, sure)| (!sure, other))
            .collect();
        order.sort_unstable();
        let mut others: Vec<Leaf> = (order.iter())
            .map(|&(_, other)| self.leaves[other as usize])
            .collect();
        let mut merit = merit.unwrap_or_else(|| match order.first() {
            None => Merit::Alone,
            Some(&(doubtful, best)) if doubtful || best > column => Merit::Divisor,
            Some(&(_, best)) => {
                self.preferences[best as usize].merit_over(&self.preferences[column as usize])
            }
        });
        // The reason for its derivative is also the reason for the column.
        let above = state
            .order()
            .map(|order| Leaf::at_order(state.variable(), order + 1));
        if others.is_empty()
            && let Some((above, why)) = above.and_then(|above| statuses.settled.get(&above))
        {
            let lower = |leaf: &Leaf| {
                Some(Leaf::at_order(
                    leaf.variable(),
                    leaf.order()?.checked_sub(1)?,
                ))
            };
            others = above.iter().filter_map(lower).collect();
            merit = *why;
        }
        statuses.settled.insert(state, (others.clone(), merit));
        if state.order().unwrap_or(0) < flat.variable(state.variable()).order {
            statuses.dropped.push(Dropped {
                state,
                others,
                merit,
            });
        }
    }

    /// Whether declarations decide the choice in all open rows.
    fn is_settled(&self, eliminated: &Eliminated) -> bool {
        let wishes: FxHashSet<u32> = (eliminated.open.iter())
            .flat_map(|(_, columns)| columns.iter().copied())
            .filter(|&column| self.preferences[column as usize].is_declared())
            .collect();
        let columns: FxHashSet<u32> = (eliminated.open.iter())
            .flat_map(|(_, columns)| columns.iter().copied())
            .collect();
        wishes.is_empty() || columns.len() == eliminated.open.len() + wishes.len()
    }

    /// Rows that can certainly be solved for none of their columns.
    fn open_rows(
        &self,
        flat: &Flat,
        eliminated: &Eliminated,
        non_states: &mut Vec<u32>,
        statuses: &mut Statuses,
    ) -> Result<(), Stuck> {
        let open = &eliminated.open;
        if open.is_empty() {
            return Ok(());
        }
        let pattern = pattern(self.columns.len(), open, |_| true);
        let matching = maximum_matching(&pattern);
        let unmatched: Vec<u32> = (open.iter().enumerate())
            .filter(|(at, _)| matching.column_of[*at] == NONE)
            .map(|(_, &(row, _))| row)
            .collect();
        if !unmatched.is_empty() {
            return Err(Stuck::Dependent(self.around(&unmatched)));
        }
        let by_column = pattern.transposed();
        let used = |column: u32| !by_column.row(column).is_empty();
        // Columns that can be exchanged for a column that is a state.
        let mut free = vec![false; self.columns.len()];
        let mut work: Vec<u32> = (0..self.columns.len() as u32)
            .filter(|&column| used(column) && matching.row_of[column as usize] == NONE)
            .collect();
        while let Some(column) = work.pop() {
            glance();
            if std::mem::replace(&mut free[column as usize], true) {
                continue;
            }
            for &(row, _) in by_column.row(column) {
                work.push(matching.column_of[row as usize]);
            }
        }
        for column in (0..self.columns.len() as u32).filter(|&column| used(column)) {
            if !free[column as usize] {
                non_states.push(column);
                self.drop(flat, column, &[], None, statuses);
            }
        }
        for group in groups(&pattern, &by_column, &free) {
            self.group(flat, (open, &matching), &group, non_states, statuses);
        }
        Ok(())
    }

    /// Handles rows and columns that are connected: where declarations do not choose the states, the run does, from a
    /// selection.
    fn group(
        &self,
        flat: &Flat,
        (open, matching): (&[(u32, Vec<u32>)], &Matching),
        group: &Group,
        non_states: &mut Vec<u32>,
        statuses: &mut Statuses,
    ) {
        let states = group.columns.len() - group.rows.len();
        let wished: Vec<u32> = (group.columns.iter().copied())
            .filter(|&column| self.preferences[column as usize].is_wished())
            .collect();
        let rows: Vec<(u32, Vec<u32>)> = (group.rows.iter())
            .map(|&row| open[row as usize].clone())
            .collect();
        let matching = of_rows(matching, &group.rows);
        let possible = || without(&rows, &matching, &wished).len() == rows.len();
        if wished.len() == states && possible() {
            for &column in group
                .columns
                .iter()
                .filter(|column| !wished.contains(column))
            {
                non_states.push(column);
                let others: Vec<(u32, bool)> = wished.iter().map(|&other| (other, true)).collect();
                self.drop(flat, column, &others, Some(Merit::Wish), statuses);
            }
            return;
        }
        non_states.extend(&group.columns);
        let choice = regular(&rows, matching, &group.columns, states);
        let candidates: Vec<Leaf> = (group.columns.iter())
            .map(|&column| self.leaves[column as usize])
            .collect();
        // All rows are of the same stage. The last row of a chain of derivatives says how often it is differentiated.
        let times = (group.rows.iter())
            .map(|&row| self.times[open[row as usize].0 as usize])
            .max();
        statuses.selections.push(Selection {
            times: times.unwrap_or(0),
            choice: (choice.iter())
                .map(|&column| self.leaves[column as usize])
                .collect(),
            start: Vec::new(),
            candidates,
            states: states as u32,
        });
    }
}

/// Chooses the most wanted states such that, by structure, the other columns can be determined: each row keeps a column
/// of its own. `matching` has a column for each row.
fn regular(
    rows: &[(u32, Vec<u32>)],
    mut matching: Matching,
    columns: &[u32],
    states: usize,
) -> Vec<u32> {
    const TRIED: usize = 100;
    let mut chosen: Vec<u32> = Vec::new();
    if columns.len() <= TRIED {
        for &column in columns {
            if chosen.len() == states {
                break;
            }
            chosen.push(column);
            let trial = without(rows, &matching, &chosen);
            match trial.len() == rows.len() {
                true => matching = trial,
                false => drop(chosen.pop()),
            }
        }
        return chosen;
    }
    (columns.iter().copied())
        .filter(|&column| matching.row_of[column as usize] == NONE)
        .collect()
}

/// Restricts a matching of all rows to some of them.
fn of_rows(matching: &Matching, rows: &[u32]) -> Matching {
    let mut own = Matching {
        column_of: (rows.iter())
            .map(|&row| matching.column_of[row as usize])
            .collect(),
        row_of: vec![NONE; matching.row_of.len()],
    };
    for (row, &column) in (0..).zip(&own.column_of) {
        if column != NONE {
            own.row_of[column as usize] = row;
        }
    }
    own
}

/// Changes a maximum matching of the rows so that it leaves out some columns.
fn without(rows: &[(u32, Vec<u32>)], matching: &Matching, columns: &[u32]) -> Matching {
    let mut other = matching.clone();
    for &column in columns {
        let row = std::mem::replace(&mut other.row_of[column as usize], NONE);
        if row != NONE {
            other.column_of[row as usize] = NONE;
        }
    }
    let left = |column| !columns.contains(&column);
    grow(&pattern(other.row_of.len(), rows, left), &mut other);
    other
}

fn pattern(columns: usize, rows: &[(u32, Vec<u32>)], wanted: impl Fn(u32) -> bool) -> Incidence {
    let mut pattern = Incidence::new(columns);
    for (_, row) in rows {
        pattern.push_row(
            row.iter()
                .filter(|&&column| wanted(column))
                .map(|&column| (column, 0)),
        );
    }
    pattern
}

struct Group {
    rows: Vec<u32>,
    columns: Vec<u32>,
}

/// The connected components, in the order of their first columns; the columns of each ascend.
fn groups(pattern: &Incidence, by_column: &Incidence, free: &[bool]) -> Vec<Group> {
    let mut row_seen = vec![false; pattern.rows()];
    let mut seen = vec![false; pattern.columns()];
    let mut found = Vec::new();
    for start in 0..pattern.columns() as u32 {
        if !free[start as usize] || seen[start as usize] {
            continue;
        }
        let mut group = Group {
            rows: Vec::new(),
            columns: Vec::new(),
        };
        let mut work = vec![start];
        seen[start as usize] = true;
        while let Some(column) = work.pop() {
            glance();
            group.columns.push(column);
            for &(row, _) in by_column.row(column) {
                if std::mem::replace(&mut row_seen[row as usize], true) {
                    continue;
                }
                group.rows.push(row);
                for &(next, _) in pattern.row(row) {
                    if free[next as usize] && !std::mem::replace(&mut seen[next as usize], true) {
                        work.push(next);
                    }
                }
            }
        }
        group.rows.sort_unstable();
        group.columns.sort_unstable();
        found.push(group);
    }
    found
}
