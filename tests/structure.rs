//! The structural kernels against slow, obvious implementations on random patterns.

use bgm::structure::{Incidence, NONE, blocks, maximum_matching, overdetermined, underdetermined};
use proptest::prelude::*;

fn incidence(columns: usize, rows: &[Vec<(u32, u8)>]) -> Incidence {
    let mut incidence = Incidence::new(columns);
    for row in rows {
        incidence.push_row(row.iter().copied());
    }
    incidence
}

/// Kuhn's algorithm, recursive and plain.
fn matching_size(columns: usize, rows: &[Vec<(u32, u8)>]) -> usize {
    fn try_row(
        row: usize,
        rows: &[Vec<(u32, u8)>],
        seen: &mut [bool],
        owner: &mut [usize],
    ) -> bool {
        for &(column, _) in &rows[row] {
            let column = column as usize;
            if !std::mem::replace(&mut seen[column], true)
                && (owner[column] == usize::MAX || try_row(owner[column], rows, seen, owner))
            {
                owner[column] = row;
                return true;
            }
        }
        false
    }
    let mut owner = vec![usize::MAX; columns];
    (0..rows.len())
        .filter(|&row| try_row(row, rows, &mut vec![false; columns], &mut owner))
        .count()
}

fn pattern() -> impl Strategy<Value = (usize, Vec<Vec<(u32, u8)>>)> {
    (1usize..14).prop_flat_map(|columns| {
        let entry = (0..columns as u32, 0u8..3);
        let row = prop::collection::vec(entry, 0..4);
        (Just(columns), prop::collection::vec(row, 1..14))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn matching_is_valid_and_maximum((columns, rows) in pattern()) {
        let incidence = incidence(columns, &rows);
        let matching = maximum_matching(&incidence);
        for (row, &column) in matching.column_of.iter().enumerate() {
            if column != NONE {
                prop_assert_eq!(matching.row_of[column as usize], row as u32);
                let there = incidence.row(row as u32).iter().any(|&(c, _)| c == column);
                prop_assert!(there);
            }
        }
        prop_assert_eq!(matching.len(), matching_size(columns, &rows));
        prop_assert_eq!(maximum_matching(&incidence), matching);
    }

    /// A row is in the block of another exactly if each reaches the other, and comes after what it
    /// depends on.
    #[test]
    fn blocks_are_loops_in_order((columns, rows) in pattern()) {
        let incidence = incidence(columns, &rows);
        let matching = maximum_matching(&incidence);
        let count = rows.len();
        let mut reaches = vec![vec![false; count]; count];
        for (row, direct) in reaches.iter_mut().enumerate() {
            for &(column, _) in incidence.row(row as u32) {
                let other = matching.row_of[column as usize];
                if matching.column_of[row] != NONE && other != NONE {
                    direct[other as usize] = true;
                }
            }
        }
        for k in 0..count {
            for i in 0..count {
                for j in 0..count {
                    reaches[i][j] |= reaches[i][k] && reaches[k][j];
                }
            }
        }
        let found = blocks(&incidence, &matching);
        let matched: usize = found.iter().map(Vec::len).sum();
        prop_assert_eq!(matched, matching.len());
        for (at, block) in found.iter().enumerate() {
            for (other_at, other) in found.iter().enumerate() {
                for &i in block {
                    for &j in other {
                        if i == j { continue; }
                        let (i, j) = (i as usize, j as usize);
                        prop_assert_eq!(at == other_at, reaches[i][j] && reaches[j][i]);
                        prop_assert!(!reaches[i][j] || other_at <= at);
                    }
                }
            }
        }
    }

    /// Each part at fault has one row (column) more than columns (rows), and mends the count.
    #[test]
    fn parts_at_fault_are_off_by_one((columns, rows) in pattern()) {
        let incidence = incidence(columns, &rows);
        let matching = maximum_matching(&incidence);
        let over = overdetermined(&incidence, &matching);
        let under = underdetermined(&incidence, &matching);
        prop_assert_eq!(over.len(), rows.len() - matching.len());
        prop_assert_eq!(under.len(), columns - matching.len());
        for part in &over {
            prop_assert_eq!(part.rows.len(), part.columns.len() + 1);
            for &row in &part.rows {
                for &(column, _) in incidence.row(row) {
                    prop_assert!(part.columns.contains(&column));
                }
            }
        }
        for part in &under {
            prop_assert_eq!(part.columns.len(), part.rows.len() + 1);
            for row in 0..rows.len() as u32 {
                let touches = incidence.row(row).iter().any(|(c, _)| part.columns.contains(c));
                prop_assert_eq!(touches, part.rows.contains(&row));
            }
        }
    }
}

/// Where there is a choice, good entries are used: x0 = x1 - x2 and the like leave no bad one.
#[test]
fn good_grades_come_first() {
    let rows = vec![vec![(0, 2), (1, 0)], vec![(0, 0), (1, 2)]];
    let matching = maximum_matching(&incidence(2, &rows));
    assert_eq!(matching.column_of, vec![1, 0]);
}

/// A chain as long as no stack of calls would be: row i has columns i and i + 1.
#[test]
fn long_chains_do_not_recurse() {
    let count = 300_000u32;
    let run = std::thread::Builder::new().stack_size(128 * 1024);
    let done = run.spawn(move || {
        let mut forward = Incidence::new(count as usize);
        let mut ring = Incidence::new(count as usize);
        for row in 0..count {
            forward.push_row([(row, 0), ((row + 1).min(count - 1), 0)]);
            ring.push_row([(row, 0), ((row + 1) % count, 0)]);
        }
        let matching = maximum_matching(&forward);
        assert!(matching.is_perfect());
        let order = blocks(&forward, &matching);
        assert_eq!(order.len(), count as usize);
        assert_eq!(order[0], vec![count - 1]);
        let matching = maximum_matching(&ring);
        assert_eq!(blocks(&ring, &matching).len(), 1);
    });
    done.expect("a thread starts").join().expect("no overflow");
}
