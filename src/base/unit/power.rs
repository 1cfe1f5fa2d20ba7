//! Powers of units: `m2` has the power 2, the square root of a second 1/2.
//!
//! A power is a whole number of parts of 1/5040, so that all fractions up to 1/10, and many others, are exact.

use std::ops::{Add, Neg, Sub};

/// A rational power. The zero is the power of what is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(i32);

const WHOLE: i32 = 5040;

impl Power {
    pub const ZERO: Power = Power(0);
    pub const ONE: Power = Power(WHOLE);

    pub const fn whole(value: i32) -> Power {
        Power(value * WHOLE)
    }

    /// `None` if the number is none of the fractions, or too large.
    pub fn near(value: f64) -> Option<Power> {
        let parts = value * f64::from(WHOLE);
        let fine = (parts - parts.round()).abs() < 1e-6 && parts.abs() < 1e8;
        fine.then(|| Power(parts.round() as i32))
    }

    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// The product of two powers; `None` if it is none of the fractions.
    pub fn times(self, other: Power) -> Option<Power> {
        let product = i64::from(self.0) * i64::from(other.0);
        let whole = i64::from(WHOLE);
        (product % whole == 0).then_some(())?;
        i32::try_from(product / whole).ok().map(Power)
    }

    /// The quotient of two powers; `None` if it is none of the fractions.
    pub fn over(self, other: Power) -> Option<Power> {
        let product = i64::from(self.0) * i64::from(WHOLE);
        (other.0 != 0 && product % i64::from(other.0) == 0).then_some(())?;
        i32::try_from(product / i64::from(other.0)).ok().map(Power)
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The power as a whole number, if it is one.
    pub fn as_whole(self) -> Option<i32> {
        (self.0 % WHOLE == 0).then_some(self.0 / WHOLE)
    }

    /// Numerator and denominator in lowest terms.
    pub fn fraction(self) -> (i32, i32) {
        let (mut a, mut b) = (self.0.abs(), WHOLE);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = a.max(1);
        (self.0 / divisor, WHOLE / divisor)
    }
}

impl Add for Power {
    type Output = Power;
    fn add(self, other: Power) -> Power {
        Power(self.0.saturating_add(other.0))
    }
}

impl Sub for Power {
    type Output = Power;
    fn sub(self, other: Power) -> Power {
        Power(self.0.saturating_sub(other.0))
    }
}

impl Neg for Power {
    type Output = Power;
    fn neg(self) -> Power {
        Power(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        let half = Power::near(0.5).expect("a half");
        assert_eq!(half.times(Power::whole(4)), Some(Power::whole(2)));
        assert_eq!(
            Power::ONE.over(Power::whole(3)).map(Power::fraction),
            Some((1, 3))
        );
        assert_eq!(Power::whole(-2).fraction(), (-2, 1));
        assert_eq!(half.fraction(), (1, 2));
        assert_eq!(Power::near(std::f64::consts::PI), None);
        assert_eq!(Power::near(1.0 / 3.0).map(Power::fraction), Some((1, 3)));
        assert_eq!(half.as_whole(), None);
        assert_eq!(Power::ONE.over(Power::ZERO), None);
    }
}
