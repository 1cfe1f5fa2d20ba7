//! Quotients of polynomials, without common factors; the denominator's last term is positive.

use super::polynomial::{Polynomial, Symbol, gcd};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rational {
    pub top: Polynomial,
    pub bottom: Polynomial,
}

impl Rational {
    pub fn whole(value: i128) -> Rational {
        Rational::from(Polynomial::constant(value))
    }

    pub fn symbol(symbol: Symbol) -> Rational {
        Rational::from(Polynomial::symbol(symbol))
    }

    pub fn new(top: Polynomial, bottom: Polynomial) -> Option<Rational> {
        if bottom.is_zero() {
            return None;
        }
        let common = gcd(&top, &bottom);
        let (mut top, mut bottom) = (top.divided(&common)?, bottom.divided(&common)?);
        if bottom.is_negative() {
            (top, bottom) = (top.negated(), bottom.negated());
        }
        Some(Rational { top, bottom })
    }

    pub fn is_zero(&self) -> bool {
        self.top.is_zero()
    }

    pub fn negated(&self) -> Rational {
        Rational {
            top: self.top.negated(),
            bottom: self.bottom.clone(),
        }
    }

    pub fn add(&self, other: &Rational) -> Option<Rational> {
        let common = gcd(&self.bottom, &other.bottom);
        let (a, b) = (
            self.bottom.divided(&common)?,
            other.bottom.divided(&common)?,
        );
        let top = self.top.times(&b)?.add(&other.top.times(&a)?)?;
        Rational::new(top, self.bottom.times(&b)?)
    }

    pub fn less(&self, other: &Rational) -> Option<Rational> {
        self.add(&other.negated())
    }

    pub fn times(&self, other: &Rational) -> Option<Rational> {
        // Common factors are smaller before the product is made.
        let (a, b) = (gcd(&self.top, &other.bottom), gcd(&other.top, &self.bottom));
        let top = self.top.divided(&a)?.times(&other.top.divided(&b)?)?;
        let bottom = self.bottom.divided(&b)?.times(&other.bottom.divided(&a)?)?;
        Rational::new(top, bottom)
    }

    pub fn over(&self, other: &Rational) -> Option<Rational> {
        self.times(&Rational {
            top: other.bottom.clone(),
            bottom: other.top.clone(),
        })
    }

    /// How long it is when written.
    pub fn length(&self) -> usize {
        self.top.len() + self.bottom.len()
    }

    pub fn value(&self, of: &dyn Fn(Symbol) -> f64) -> f64 {
        self.top.value(of) / self.bottom.value(of)
    }
}

impl From<Polynomial> for Rational {
    fn from(top: Polynomial) -> Rational {
        Rational {
            top,
            bottom: Polynomial::constant(1),
        }
    }
}
