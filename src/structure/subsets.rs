//! Subsets of the numbers below a count: the empty set, then those of one number, of two, and so on, each size in the order of
//! the numbers.

#[derive(Clone, Debug)]
pub struct Subsets {
    count: usize,
    next: Option<Vec<usize>>,
}

impl Subsets {
    pub fn new(count: usize) -> Subsets {
        Subsets {
            count,
            next: Some(Vec::new()),
        }
    }
}

impl Iterator for Subsets {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let now = self.next.take()?;
        let size = now.len();
        let mut next = now.clone();
        // The last number that can still grow does, and those behind it follow it.
        let grows = (0..size).rev().find(|&at| now[at] + size - at < self.count);
        self.next = match grows {
            Some(at) => {
                for (more, number) in next[at..].iter_mut().enumerate() {
                    *number = now[at] + 1 + more;
                }
                Some(next)
            }
            None => (size < self.count).then(|| (0..=size).collect()),
        };
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::Subsets;

    #[test]
    fn small_ones_first() {
        let all: Vec<Vec<usize>> = Subsets::new(3).collect();
        let expected: [&[usize]; 8] =
            [&[], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        assert_eq!(all, expected);
        assert_eq!(Subsets::new(0).count(), 1);
        assert_eq!(Subsets::new(10).count(), 1 << 10);
    }
}
