//! The structural kernels against slow, obvious implementations on random patterns.

use bgm::structure::{
    Incidence, LEFT_OUT, NONE, blocks, disputed_rows, maximum_matching, overdetermined,
    underdetermined,
};
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

    /// Each part at fault has one row (column) more than columns (rows), and holds all they touch.
    #[test]
    fn parts_at_fault_are_off_by_one((columns, rows) in pattern()) {
        let incidence = incidence(columns, &rows);
        let matched = matching_size(columns, &rows);
        let over = overdetermined(&incidence, &[]);
        let under = underdetermined(&incidence, &[]);
        prop_assert_eq!(over.len(), rows.len() - matched);
        prop_assert_eq!(under.len(), columns - matched);
        for part in &over {
            prop_assert!(part.rows.contains(&part.start));
            prop_assert_eq!(part.rows.len(), part.columns.len() + 1);
            for &row in &part.rows {
                for &(column, _) in incidence.row(row) {
                    prop_assert!(part.columns.contains(&column));
                }
            }
        }
        for part in &under {
            prop_assert!(part.columns.contains(&part.start));
            prop_assert_eq!(part.columns.len(), part.rows.len() + 1);
            for row in 0..rows.len() as u32 {
                let touches = incidence.row(row).iter().any(|(c, _)| part.columns.contains(c));
                prop_assert_eq!(touches, part.rows.contains(&row));
            }
        }
    }

    /// No part can do without any one of its rows, and with one row of each taken away none is left over.
    #[test]
    fn parts_at_fault_are_minimal((columns, rows) in pattern()) {
        let over = overdetermined(&incidence(columns, &rows), &[]);
        for part in &over {
            for &gone in &part.rows {
                let rest: Vec<_> = part.rows.iter().filter(|&&row| row != gone)
                    .map(|&row| rows[row as usize].clone()).collect();
                prop_assert_eq!(matching_size(columns, &rest), rest.len());
            }
        }
        let kept: Vec<_> = (0..rows.len() as u32)
            .filter(|&row| !over.iter().any(|part| part.start == row))
            .map(|row| rows[row as usize].clone())
            .collect();
        prop_assert_eq!(matching_size(columns, &kept), kept.len());
    }

    /// The rows that are left over have as much blame as any choice could have.
    #[test]
    fn the_blamed_are_left_over((columns, rows) in pattern(), blame in prop::collection::vec(0u8..4, 14)) {
        let blame = &blame[..rows.len()];
        let over = overdetermined(&incidence(columns, &rows), blame);
        let found: u32 = over.iter().map(|part| u32::from(blame[part.start as usize])).sum();
        // Rows of little blame are matched first: a greedy choice is the best one in a matroid.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&row| blame[row]);
        let mut kept: Vec<Vec<(u32, u8)>> = Vec::new();
        let mut best = 0;
        for row in order {
            kept.push(rows[row].clone());
            if matching_size(columns, &kept) < kept.len() {
                kept.pop();
                best += u32::from(blame[row]);
            }
        }
        prop_assert_eq!(found, best);
    }

    /// What is left out of account is as if it were not there.
    #[test]
    fn rows_left_out_do_not_count((columns, rows) in pattern(), out in prop::collection::vec(any::<bool>(), 14)) {
        let blame: Vec<u8> = out[..rows.len()].iter().map(|&out| if out { LEFT_OUT } else { 0 }).collect();
        let kept: Vec<_> = (rows.iter().zip(&blame))
            .filter(|&(_, &blame)| blame == 0)
            .map(|(row, _)| row.clone())
            .collect();
        let over = overdetermined(&incidence(columns, &rows), &blame);
        prop_assert_eq!(over.len(), kept.len() - matching_size(columns, &kept));
        for part in &over {
            prop_assert!(part.rows.iter().all(|&row| blame[row as usize] == 0));
        }
    }

    /// A row is disputed exactly if the others can do as much without it.
    #[test]
    fn disputed_rows_can_be_spared((columns, rows) in pattern()) {
        let incidence = incidence(columns, &rows);
        let disputed = disputed_rows(&incidence, &maximum_matching(&incidence));
        let all = matching_size(columns, &rows);
        for (gone, &disputed) in disputed.iter().enumerate() {
            let mut rest = rows.clone();
            rest.remove(gone);
            prop_assert_eq!(disputed, matching_size(columns, &rest) == all);
        }
    }
}

/// All sets of rows that are minimal and cannot be matched, by trying: the size of the smallest.
fn smallest_by_trying(columns: usize, rows: &[Vec<(u32, u8)>]) -> Option<usize> {
    (1u32..1 << rows.len())
        .filter_map(|set| {
            let chosen: Vec<_> = (0..rows.len())
                .filter(|&row| set >> row & 1 == 1)
                .map(|row| rows[row].clone())
                .collect();
            (matching_size(columns, &chosen) < chosen.len()).then_some(chosen.len())
        })
        .min()
}

/// Finding the very smallest part is hard in general; exchanges come near. With one row too many
/// there is only one part, and it is found.
#[test]
fn the_first_part_is_nearly_always_the_smallest() {
    let mut seed = 12345u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let (mut tried, mut larger) = (0, 0);
    for _ in 0..1500 {
        let columns = 3 + random(6) as usize;
        let count = columns + random(4) as usize;
        let rows: Vec<Vec<(u32, u8)>> = (0..count)
            .map(|_| {
                let entries = 1 + random(3);
                (0..entries)
                    .map(|_| (random(columns as u64) as u32, 0))
                    .collect()
            })
            .collect();
        let over = overdetermined(&incidence(columns, &rows), &[]);
        let Some(smallest) = smallest_by_trying(columns, &rows) else {
            assert!(over.is_empty());
            continue;
        };
        tried += 1;
        let found = over[0].rows.len();
        assert!(found >= smallest);
        assert!(over.len() > 1 || found == smallest);
        larger += usize::from(found > smallest);
    }
    assert!(tried > 1000);
    assert!(larger * 50 < tried, "{larger} of {tried}");
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
