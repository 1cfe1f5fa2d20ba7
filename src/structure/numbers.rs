//! The numbers used in eliminations: integers, and integers modulo a large prime.
//!
//! Integers are exact and stay small in networks. Only an entry 1 or -1 is taken as a pivot, so
//! there are no divisions. Modulo a prime every entry can be a pivot, and no number grows: rows
//! with random coefficients modulo the prime are independent exactly if they are independent for
//! almost all coefficients (Schwartz 1980). The result "independent" is proved. The result
//! "dependent" is wrong with a probability of the number of rows over 2**61.

/// Arithmetic on numbers that are stored as `i64`. Operations return `None` if the result is too
/// large.
pub trait Ring {
    /// Whether an entry of this value may be a pivot.
    fn is_pivot(value: i64) -> bool;
    /// Returns `-1/value`. `value` must be a possible pivot ([`Ring::is_pivot`]).
    fn negative_inverse(value: i64) -> i64;
    fn product(a: i64, b: i64) -> Option<i64>;
    fn sum(a: i64, b: i64) -> Option<i64>;
}

#[derive(Debug)]
pub struct Integers;

impl Ring for Integers {
    fn is_pivot(value: i64) -> bool {
        value.abs() == 1
    }

    fn negative_inverse(value: i64) -> i64 {
        -value
    }

    fn product(a: i64, b: i64) -> Option<i64> {
        a.checked_mul(b)
    }

    fn sum(a: i64, b: i64) -> Option<i64> {
        a.checked_add(b)
    }
}

/// Integers modulo [`PRIME`], from 0 to `PRIME - 1`.
#[derive(Debug)]
pub struct Modular;

/// A Mersenne prime, 2**61 - 1.
pub const PRIME: i64 = (1 << 61) - 1;

impl Modular {
    /// Reduces a number modulo the prime.
    pub fn of(value: i64) -> i64 {
        value.rem_euclid(PRIME)
    }

    pub fn times(a: i64, b: i64) -> i64 {
        let product = (a as u128) * (b as u128);
        let folded = (product & PRIME as u128) as i64 + (product >> 61) as i64;
        if folded >= PRIME {
            folded - PRIME
        } else {
            folded
        }
    }

    pub fn plus(a: i64, b: i64) -> i64 {
        let sum = a + b;
        if sum >= PRIME { sum - PRIME } else { sum }
    }

    pub fn minus(a: i64) -> i64 {
        if a == 0 { 0 } else { PRIME - a }
    }

    /// Returns 1/a, by Euclid's algorithm. `a` must not be zero.
    pub fn inverse(a: i64) -> i64 {
        let (mut r, mut next_r) = (PRIME, a);
        let (mut t, mut next_t) = (0i64, 1i64);
        while next_r != 0 {
            let quotient = r / next_r;
            (r, next_r) = (next_r, r - quotient * next_r);
            (t, next_t) = (next_t, t - quotient * next_t);
        }
        Modular::of(t)
    }

    /// Returns a**exponent; 0 to a negative power is 0.
    pub fn power(a: i64, exponent: i64) -> i64 {
        let (mut base, mut left) = match exponent < 0 {
            true if a == 0 => return 0,
            true => (Modular::inverse(a), exponent.unsigned_abs()),
            false => (a, exponent.unsigned_abs()),
        };
        let mut value = 1;
        while left > 0 {
            if left & 1 == 1 {
                value = Modular::times(value, base);
            }
            base = Modular::times(base, base);
            left >>= 1;
        }
        value
    }

    /// Returns a pseudo-random number other than zero that follows from two numbers.
    pub fn mixed(a: i64, b: i64) -> i64 {
        let halves = |x: i64| Modular::random((x as u64 >> 32) as u32, x as u32);
        halves(halves(a) ^ halves(b).rotate_left(17))
    }

    /// Returns a pseudo-random number other than zero, the same for the same seeds (the finalizer
    /// of Steele, Lea and Flood 2014, SplitMix).
    pub fn random(a: u32, b: u32) -> i64 {
        let mut x = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        1 + (x % (PRIME as u64 - 1)) as i64
    }
}

impl Ring for Modular {
    fn is_pivot(_: i64) -> bool {
        true
    }

    fn negative_inverse(value: i64) -> i64 {
        // Most pivots are 1 or -1.
        match value {
            1 => PRIME - 1,
            _ if value == PRIME - 1 => 1,
            _ => Modular::minus(Modular::inverse(value)),
        }
    }

    fn product(a: i64, b: i64) -> Option<i64> {
        Some(Modular::times(a, b))
    }

    fn sum(a: i64, b: i64) -> Option<i64> {
        Some(Modular::plus(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::{Modular, PRIME, Ring};

    #[test]
    fn inverses_undo_products() {
        for seed in 0..1000 {
            let (a, b) = (Modular::random(seed, 1), Modular::random(seed, 2));
            assert!(0 < a && a < PRIME);
            assert_eq!(Modular::times(a, Modular::inverse(a)), 1);
            for pivot in [b, 1, PRIME - 1] {
                let factor = Modular::times(a, Modular::negative_inverse(pivot));
                assert_eq!(Modular::plus(a, Modular::times(factor, pivot)), 0);
            }
            let wide = (a as u128 * b as u128 % PRIME as u128) as i64;
            assert_eq!(Modular::times(a, b), wide);
        }
        assert_eq!(Modular::power(3, 4), 81);
        assert_eq!(Modular::times(Modular::power(7, -3), 343), 1);
        assert_ne!(Modular::mixed(1, 2), Modular::mixed(2, 1));
        assert_eq!(Modular::of(-1), PRIME - 1);
        assert_eq!(Modular::minus(0), 0);
    }
}
