//! Pantelides' algorithm on integers: published examples, and random patterns against the textbook
//! form (one equation at a time, depth-first) and against the least offsets found by search.

use bgm::structure::{Incidence, maximum_matching, pantelides};

/// A small generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

type Orders = Vec<Vec<(u32, u8)>>;

fn incidence(orders: &Orders, columns: usize) -> Incidence {
    let mut pattern = Incidence::new(columns);
    for row in orders {
        pattern.push_row(row.iter().copied());
    }
    pattern
}

/// The textbook form: for each equation in turn, search an augmenting path; if there is none,
/// differentiate what the search has coloured, and try again.
fn textbook(orders: &Orders, columns: usize) -> (Vec<u32>, Vec<u32>) {
    let mut c = vec![0u32; orders.len()];
    let mut d = vec![0u32; columns];
    for row in orders {
        for &(column, order) in row {
            d[column as usize] = d[column as usize].max(order.into());
        }
    }
    let mut assigned: Vec<Option<usize>> = vec![None; columns];
    fn augment(
        row: usize,
        orders: &Orders,
        c: &[u32],
        d: &[u32],
        assigned: &mut [Option<usize>],
        rows: &mut [bool],
        cols: &mut [bool],
    ) -> bool {
        rows[row] = true;
        let tight: Vec<usize> = (orders[row].iter())
            .filter(|&&(column, order)| u32::from(order) + c[row] == d[column as usize])
            .map(|&(column, _)| column as usize)
            .collect();
        for &column in &tight {
            if assigned[column].is_none() {
                cols[column] = true;
                assigned[column] = Some(row);
                return true;
            }
        }
        for &column in &tight {
            if cols[column] {
                continue;
            }
            cols[column] = true;
            let next = assigned[column].expect("free columns were tried first");
            if augment(next, orders, c, d, assigned, rows, cols) {
                assigned[column] = Some(row);
                return true;
            }
        }
        false
    }
    for row in 0..orders.len() {
        loop {
            let (mut rows, mut cols) = (vec![false; orders.len()], vec![false; columns]);
            if augment(row, orders, &c, &d, &mut assigned, &mut rows, &mut cols) {
                break;
            }
            for (at, seen) in rows.iter().enumerate() {
                c[at] += u32::from(*seen);
            }
            for (at, seen) in cols.iter().enumerate() {
                d[at] += u32::from(*seen);
            }
        }
    }
    (c, d)
}

#[test]
fn pendulum() {
    // Pantelides 1988: x' = vx, y' = vy, vx' = T*x, vy' = T*y - g, x^2 + y^2 = L^2.
    // Columns: x, y, vx, vy, T.
    let orders = vec![
        vec![(0, 1), (2, 0)],
        vec![(1, 1), (3, 0)],
        vec![(2, 1), (0, 0), (4, 0)],
        vec![(3, 1), (1, 0), (4, 0)],
        vec![(0, 0), (1, 0)],
    ];
    let offsets = pantelides(&incidence(&orders, 5), 10).expect("the pendulum is regular");
    assert_eq!(offsets.rows, [1, 1, 0, 0, 2]);
    assert_eq!(offsets.columns, [2, 2, 1, 1, 0]);
    // The same in second order: Pryce 2001, section 1.
    let orders = vec![
        vec![(0, 2), (2, 0)],
        vec![(1, 2), (2, 0)],
        vec![(0, 0), (1, 0)],
    ];
    let offsets = pantelides(&incidence(&orders, 3), 10).expect("the pendulum is regular");
    assert_eq!(offsets.rows, [0, 0, 2]);
    assert_eq!(offsets.columns, [2, 2, 0]);
}

#[test]
fn nothing_to_do_and_singular() {
    let orders = vec![vec![(0, 1), (1, 0)], vec![(1, 0), (0, 0)]];
    let offsets = pantelides(&incidence(&orders, 2), 10).expect("index 1");
    assert_eq!(offsets.rows, [0, 0]);
    // Two equations for one unknown: no end if it were not checked.
    let orders = vec![vec![(0, 0)], vec![(0, 0)]];
    assert!(pantelides(&incidence(&orders, 2), 10).is_err());
}

#[test]
fn random_patterns_agree_with_the_textbook() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut regular, mut raised) = (0, 0);
    for _ in 0..4000 {
        let size = 1 + random.below(9);
        let orders: Orders = (0..size)
            .map(|_| {
                let mut row: Vec<(u32, u8)> = (0..1 + random.below(3))
                    .map(|_| (random.below(size) as u32, random.below(3) as u8))
                    .collect();
                row.sort_unstable();
                row.dedup_by_key(|entry| entry.0);
                row
            })
            .collect();
        let pattern = incidence(&orders, size);
        let mut plain = Incidence::new(size);
        for row in &orders {
            plain.push_row(row.iter().map(|&(column, _)| (column, 0)));
        }
        let offsets = pantelides(&pattern, 1000);
        assert_eq!(offsets.is_ok(), maximum_matching(&plain).is_perfect());
        let Ok(offsets) = offsets else { continue };
        regular += 1;
        raised += usize::from(offsets.rows.iter().any(|&times| times > 0));
        let (c, d) = textbook(&orders, size);
        assert_eq!((&offsets.rows, &offsets.columns), (&c, &d), "{orders:?}");
        for (row, entries) in orders.iter().enumerate() {
            for &(column, order) in entries {
                assert!(u32::from(order) + c[row] <= d[column as usize]);
            }
            let column = offsets.matching.column_of[row];
            let order = entries.iter().find(|entry| entry.0 == column);
            let order = order.expect("matched to a column of its own").1;
            assert_eq!(u32::from(order) + c[row], d[column as usize]);
        }
    }
    assert!(regular > 1000 && raised > 500, "{regular} {raised}");
}
