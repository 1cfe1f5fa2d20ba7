//! Numbers with a wide exponent. The ratio of 10,000 gears in a row is far outside the range of a double, but it is not
//! zero.

/// `fraction * 2**exponent`. The size of the fraction is in [0.5, 1), or the number is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    fraction: f64,
    exponent: i64,
}

impl Wide {
    pub const ZERO: Wide = Wide {
        fraction: 0.0,
        exponent: 0,
    };

    /// The number has to be finite.
    pub fn new(value: f64) -> Wide {
        Wide {
            fraction: value,
            exponent: 0,
        }
        .normal()
    }

    fn normal(self) -> Wide {
        let mut fraction = self.fraction;
        let mut exponent = self.exponent;
        if fraction == 0.0 {
            return Wide::ZERO;
        }
        // Denormal numbers first become normal ones.
        if fraction.abs() < f64::MIN_POSITIVE {
            fraction *= 2f64.powi(64);
            exponent -= 64;
        }
        let bits = ((fraction.to_bits() >> 52) & 0x7ff) as i64;
        let shift = bits - 1022;
        let fraction = f64::from_bits((fraction.to_bits() & !(0x7ff << 52)) | (1022 << 52));
        Wide {
            fraction,
            exponent: exponent + shift,
        }
    }

    pub fn is_zero(self) -> bool {
        self.fraction == 0.0
    }

    pub fn times(self, other: Wide) -> Wide {
        Wide {
            fraction: self.fraction * other.fraction,
            exponent: self.exponent + other.exponent,
        }
        .normal()
    }

    /// Divides by a number that is not zero.
    pub fn over(self, other: Wide) -> Wide {
        Wide {
            fraction: self.fraction / other.fraction,
            exponent: self.exponent - other.exponent,
        }
        .normal()
    }

    pub fn minus(self) -> Wide {
        Wide {
            fraction: -self.fraction,
            ..self
        }
    }

    pub fn plus(self, other: Wide) -> Wide {
        let (large, small) =
            match self.is_zero() || (!other.is_zero() && other.exponent > self.exponent) {
                true => (other, self),
                false => (self, other),
            };
        let distance = large.exponent - small.exponent;
        if small.is_zero() || distance > 100 {
            return large;
        }
        Wide {
            fraction: large.fraction + small.fraction * 2f64.powi(-(distance as i32)),
            exponent: large.exponent,
        }
        .normal()
    }

    /// The larger of two sizes.
    pub fn size_with(self, other: Wide) -> Wide {
        let size = |x: Wide| Wide {
            fraction: x.fraction.abs(),
            ..x
        };
        let (a, b) = (size(self), size(other));
        let key = |x: Wide| (!x.is_zero(), x.exponent);
        match key(a).cmp(&key(b)) {
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Equal if a.fraction < b.fraction => b,
            std::cmp::Ordering::Equal => a,
        }
    }

    /// Whether the number is so small compared with a scale that rounding may have made it.
    pub fn is_rounding_of(self, scale: Wide) -> bool {
        const ROUNDING: f64 = 1e-11;
        if self.is_zero() {
            return true;
        }
        let ratio = self.over(scale);
        ratio.exponent < -1000
            || ratio.fraction.abs() * 2f64.powi(ratio.exponent.clamp(-1000, 1000) as i32)
                <= ROUNDING
    }
}

#[cfg(test)]
mod tests {
    use super::Wide;

    #[test]
    fn wide_numbers_compute_as_doubles_do() {
        let values = [1.0, -1.0, 0.75, 3.5e10, -7.25e-300, 5e-320, 1e308, 0.0];
        for a in values {
            for b in values {
                let (x, y) = (Wide::new(a), Wide::new(b));
                if (a + b).is_finite() {
                    assert_eq!(x.plus(y), Wide::new(a + b), "{a} + {b}");
                }
                if (a * b).is_normal() || a * b == 0.0 && (a == 0.0 || b == 0.0) {
                    assert_eq!(x.times(y), Wide::new(a * b), "{a} * {b}");
                }
                if b != 0.0 && (a / b).is_normal() {
                    assert_eq!(x.over(y), Wide::new(a / b), "{a} / {b}");
                }
            }
        }
    }

    #[test]
    fn products_of_many_ratios_do_not_vanish() {
        let ratio = Wide::new(0.1);
        let mut product = Wide::new(1.0);
        for _ in 0..100_000 {
            product = product.times(ratio);
        }
        assert!(!product.is_zero());
        for _ in 0..100_000 {
            product = product.over(ratio);
        }
        assert!(
            product
                .plus(Wide::new(-1.0))
                .is_rounding_of(Wide::new(10.0))
        );
    }
}
