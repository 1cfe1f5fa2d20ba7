//! Tearing against an exhaustive search on small random blocks, on published ones and on large ones.

use bgm::structure::{Incidence, Torn, tear, torn_at};
use proptest::prelude::*;

const GOOD: u8 = 1;

type Rows = Vec<Vec<(u32, u8)>>;

fn incidence(rows: &Rows) -> Incidence {
    let mut incidence = Incidence::new(rows.len());
    for row in rows {
        incidence.push_row(row.iter().copied());
    }
    incidence
}

/// Every row and column has one place, and each inner row uses only what is known before it.
fn check(incidence: &Incidence, torn: &Torn) {
    let count = incidence.rows();
    assert_eq!(torn.iteration.len(), torn.residuals.len());
    let mut rows: Vec<u32> = torn.inner.iter().map(|inner| inner.0).collect();
    rows.extend(&torn.residuals);
    rows.sort_unstable();
    assert_eq!(rows, (0..count as u32).collect::<Vec<_>>());
    let mut known = vec![false; count];
    for &column in &torn.iteration {
        assert!(!known[column as usize]);
        known[column as usize] = true;
    }
    for &(row, column) in &torn.inner {
        assert!(!known[column as usize]);
        let mut found = false;
        for &(other, grade) in incidence.row(row) {
            if other == column {
                assert!(grade <= GOOD);
                found = true;
            } else {
                assert!(known[other as usize], "row {row} uses {other} too early");
            }
        }
        assert!(found);
        known[column as usize] = true;
    }
    assert!(known.iter().all(|&known| known));
}

/// Whether guessing these columns solves all the others, each by a row of its own: rows with one
/// column left are solved for it until there are none, which rows first being no matter.
fn suffices(incidence: &Incidence, guessed: u32) -> bool {
    let count = incidence.rows() as u32;
    let mut known = guessed;
    loop {
        let before = known;
        for row in 0..count {
            let mut open = incidence
                .row(row)
                .iter()
                .filter(|e| known & (1 << e.0) == 0);
            if let (Some(&(column, grade)), None) = (open.next(), open.next())
                && grade <= GOOD
            {
                known |= 1 << column;
            }
        }
        if known == before {
            return known == (1 << count) - 1;
        }
    }
}

/// By trying all sets of columns, the small ones first.
fn least(incidence: &Incidence) -> usize {
    let count = incidence.rows();
    (0..=count)
        .find(|&size| {
            (0..1u32 << count)
                .any(|set| set.count_ones() as usize == size && suffices(incidence, set))
        })
        .expect("guessing everything suffices")
}

/// Blocks with a diagonal, as sorting leaves them.
fn block() -> impl Strategy<Value = Rows> {
    (2usize..11).prop_flat_map(|count| {
        let entry = (0..count as u32, 0u8..3);
        let row = prop::collection::vec(entry, 1..4);
        let diagonal = prop::collection::vec(0u8..3, count);
        (prop::collection::vec(row, count), diagonal).prop_map(|(mut rows, diagonal)| {
            for (at, (row, grade)) in rows.iter_mut().zip(diagonal).enumerate() {
                row.push((at as u32, grade));
            }
            rows
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn tearing_is_valid_and_near_the_least(rows in block()) {
        let incidence = incidence(&rows);
        let torn = tear(&incidence, GOOD);
        check(&incidence, &torn);
        prop_assert!(torn.iteration.len() <= least(&incidence) + 1);
        prop_assert_eq!(tear(&incidence, GOOD), torn);
    }

    /// Where the columns are given, all others follow or it is said that they do not.
    #[test]
    fn tearing_at_given_columns(rows in block(), set in 0u32..1 << 11) {
        let incidence = incidence(&rows);
        let set = set & ((1 << incidence.rows()) - 1);
        let guessed: Vec<u32> = (0..incidence.rows() as u32).filter(|at| set >> at & 1 == 1).collect();
        let torn = torn_at(&incidence, GOOD, &guessed);
        prop_assert_eq!(torn.is_some(), suffices(&incidence, set));
        if let Some(torn) = torn {
            check(&incidence, &torn);
            prop_assert_eq!(torn.iteration, guessed);
        }
    }
}

/// A fixed sequence of random blocks: how often the least number is missed.
#[test]
fn the_least_number_is_usually_found() {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut total, mut missed) = (0, 0);
    for _ in 0..1000 {
        let count = 4 + random(7);
        let rows: Rows = (0..count)
            .map(|at| {
                let mut row = vec![(at as u32, random(3) as u8)];
                for _ in 0..1 + random(3) {
                    row.push((random(count) as u32, random(3) as u8));
                }
                row
            })
            .collect();
        let incidence = incidence(&rows);
        let torn = tear(&incidence, GOOD);
        check(&incidence, &torn);
        total += 1;
        missed += usize::from(torn.iteration.len() > least(&incidence));
    }
    assert!(missed * 200 <= total, "{missed} of {total} missed");
}

/// Cellier and Kofman, Continuous System Simulation (2006), 7.5: three resistors,
/// u1 = R1*i1, u2 = R2*i2, u3 = R3*i3, u1 + u3 = u0, u2 = u3, i1 = i2 + i3: one is guessed.
#[test]
fn three_resistors_need_one() {
    let (u1, i1, u2, i2, u3, i3) = (0, 1, 2, 3, 4, 5);
    let row = |columns: &[u32]| columns.iter().map(|&column| (column, 0)).collect();
    let rows = vec![
        row(&[u1, i1]),
        row(&[u2, i2]),
        row(&[u3, i3]),
        row(&[u1, u3]),
        row(&[u2, u3]),
        row(&[i1, i2, i3]),
    ];
    let incidence = incidence(&rows);
    let torn = tear(&incidence, 0);
    check(&incidence, &torn);
    assert_eq!(torn.iteration.len(), 1);
}

/// A bridge of five resistors between 0 and u, every current and voltage unknown: one is guessed.
#[test]
fn a_bridge_needs_one() {
    // Voltages u1..u5 are columns 0..5, currents 5..10: R1 and R2 above, R3 and R4 below.
    let row = |columns: &[u32]| columns.iter().map(|&column| (column, 0)).collect();
    let mut rows: Rows = (0..5).map(|at| row(&[at, at + 5])).collect();
    rows.push(row(&[0, 2]));
    rows.push(row(&[1, 3]));
    rows.push(row(&[0, 4, 1]));
    rows.push(row(&[5, 9, 7]));
    rows.push(row(&[6, 9, 8]));
    let incidence = incidence(&rows);
    let torn = tear(&incidence, 0);
    check(&incidence, &torn);
    assert_eq!(least(&incidence), 1);
    assert_eq!(torn.iteration.len(), 1);
}

/// i = Is*(exp(u/Ut) - 1) can be solved for i alone, u + R*i = u0 for both: u is guessed.
#[test]
fn rows_that_cannot_be_solved_are_residuals() {
    let incidence = incidence(&vec![vec![(0, 2), (1, 2)], vec![(0, 0), (1, 0)]]);
    let torn = tear(&incidence, GOOD);
    check(&incidence, &torn);
    assert_eq!(torn.residuals, vec![0]);
    let nothing = Incidence::new(0);
    assert_eq!(tear(&nothing, GOOD), Torn::default());
}

/// Rings, ladders and grids, in the stack of a small thread.
#[test]
fn large_blocks_take_little_time_and_no_stack() {
    let run = std::thread::Builder::new().stack_size(128 * 1024);
    let done = run.spawn(|| {
        let count = 300_000u32;
        let mut ring = Incidence::new(count as usize);
        for row in 0..count {
            ring.push_row([(row, 0), ((row + 1) % count, 0)]);
        }
        let torn = tear(&ring, 0);
        check(&ring, &torn);
        assert_eq!(torn.iteration.len(), 1);

        // Node equations of a ladder: v[i-1], v[i], v[i+1]. One guess at an end solves the rest.
        let mut ladder = Incidence::new(count as usize);
        for row in 0..count {
            let next = (row + 1).min(count - 1);
            ladder.push_row([(row.saturating_sub(1), 0), (row, 0), (next, 0)]);
        }
        let torn = tear(&ladder, 0);
        check(&ladder, &torn);
        assert_eq!(torn.iteration.len(), 1);

        // A grid of 100 by 100 nodes: one line of them.
        let side = 100u32;
        let mut grid = Incidence::new((side * side) as usize);
        for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
            let at = |y: u32, x: u32| (y * side + x, 0);
            let near = [
                Some(at(y, x)),
                (x > 0).then(|| at(y, x.wrapping_sub(1))),
                (y > 0).then(|| at(y.wrapping_sub(1), x)),
                (x + 1 < side).then(|| at(y, x + 1)),
                (y + 1 < side).then(|| at(y + 1, x)),
            ];
            grid.push_row(near.into_iter().flatten());
        }
        let torn = tear(&grid, 0);
        check(&grid, &torn);
        assert_eq!(torn.iteration.len(), side as usize);
    });
    done.expect("a thread starts").join().expect("no overflow");
}
