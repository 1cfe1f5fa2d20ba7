//! Polynomials in several symbols with whole numbers as coefficients, exact.
//!
//! What becomes too large (a coefficient beyond 126 bits, too many terms) is `None`: a formula of that size tells nobody
//! anything. The greatest common divisor is found by primitive remainder sequences (Knuth, 4.6.1), one symbol after the other.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A symbol: its place in a table of atoms.
pub type Symbol = u32;

/// Powers of symbols, ascending by symbol; powers are above zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Monomial(Vec<(Symbol, u32)>);

/// By the power of the first symbol, then of the next: an order that products keep, as division needs it.
impl Ord for Monomial {
    fn cmp(&self, other: &Monomial) -> Ordering {
        let mut pairs = self.0.iter().zip(&other.0);
        let different = pairs.find(|(a, b)| a != b);
        match different {
            Some((a, b)) => b.0.cmp(&a.0).then(a.1.cmp(&b.1)),
            None => self.0.len().cmp(&other.0.len()),
        }
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Monomial) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// More terms than this are too many.
const MOST_TERMS: usize = 5_000;
/// In more symbols no divisor is searched for, but for single symbols.
const MOST_SYMBOLS: usize = 24;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    pub fn constant(value: i128) -> Polynomial {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Monomial::default(), value);
        }
        Polynomial { terms }
    }

    pub fn symbol(symbol: Symbol) -> Polynomial {
        Polynomial {
            terms: BTreeMap::from([(Monomial(vec![(symbol, 1)]), 1)]),
        }
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn is_one(&self) -> bool {
        self.constant_value() == Some(1)
    }

    /// Its value, if it contains no symbol.
    pub fn constant_value(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Monomial::default()).copied(),
            _ => None,
        }
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Terms: coefficients, and powers of symbols.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (i128, &[(Symbol, u32)])> {
        self.terms
            .iter()
            .map(|(monomial, &value)| (value, monomial.0.as_slice()))
    }

    pub fn symbols(&self) -> BTreeSet<Symbol> {
        let all = self.terms.keys().flat_map(|monomial| &monomial.0);
        all.map(|&(symbol, _)| symbol).collect()
    }

    pub fn add(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut terms = self.terms.clone();
        for (monomial, &value) in &other.terms {
            let sum = terms
                .get(monomial)
                .copied()
                .unwrap_or(0)
                .checked_add(value)?;
            match sum {
                0 => terms.remove(monomial),
                _ => terms.insert(monomial.clone(), sum),
            };
        }
        (terms.len() <= MOST_TERMS).then_some(Polynomial { terms })
    }

    pub fn negated(&self) -> Polynomial {
        let terms = self.terms.iter();
        Polynomial {
            terms: terms
                .map(|(monomial, value)| (monomial.clone(), -value))
                .collect(),
        }
    }

    pub fn less(&self, other: &Polynomial) -> Option<Polynomial> {
        self.add(&other.negated())
    }

    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        if self.len().checked_mul(other.len())? > 40 * MOST_TERMS {
            return None;
        }
        let mut terms: BTreeMap<Monomial, i128> = BTreeMap::new();
        for (a, &x) in &self.terms {
            for (b, &y) in &other.terms {
                let product = x.checked_mul(y)?;
                let sum = terms.entry(multiplied(a, b)).or_default();
                *sum = sum.checked_add(product)?;
            }
        }
        terms.retain(|_, value| *value != 0);
        (terms.len() <= MOST_TERMS).then_some(Polynomial { terms })
    }

    /// Divided by a polynomial that is a factor; `None` if it is none.
    pub fn divided(&self, by: &Polynomial) -> Option<Polynomial> {
        let (lead, &coefficient) = by.terms.iter().next_back()?;
        let mut rest = self.clone();
        let mut found = BTreeMap::new();
        while let Some((monomial, &value)) = rest.terms.iter().next_back() {
            let step = quotient(monomial, lead)?;
            if value % coefficient != 0 || found.len() > MOST_TERMS {
                return None;
            }
            let factor = Polynomial {
                terms: BTreeMap::from([(step.clone(), value / coefficient)]),
            };
            found.insert(step, value / coefficient);
            rest = rest.less(&by.times(&factor)?)?;
        }
        Some(Polynomial { terms: found })
    }

    /// By powers of a symbol, from 0 on.
    pub fn by_powers(&self, symbol: Symbol) -> Vec<Polynomial> {
        let mut found: Vec<Polynomial> = Vec::new();
        for (monomial, &value) in &self.terms {
            let power = monomial
                .0
                .iter()
                .find(|(of, _)| *of == symbol)
                .map_or(0, |&(_, power)| power);
            let power = power as usize;
            if found.len() <= power {
                found.resize(power + 1, Polynomial::default());
            }
            let rest = monomial.0.iter().copied().filter(|(of, _)| *of != symbol);
            found[power].terms.insert(Monomial(rest.collect()), value);
        }
        found
    }

    fn from_powers(powers: &[Polynomial], symbol: Symbol) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (power, of) in powers.iter().enumerate() {
            sum = sum.add(&of.times(&Polynomial::power(symbol, power as u32))?)?;
        }
        Some(sum)
    }

    fn power(symbol: Symbol, power: u32) -> Polynomial {
        let monomial = if power == 0 {
            Vec::new()
        } else {
            vec![(symbol, power)]
        };
        let monomial = Monomial(monomial);
        Polynomial {
            terms: BTreeMap::from([(monomial, 1)]),
        }
    }

    /// The sign of the last term.
    pub fn is_negative(&self) -> bool {
        self.terms
            .values()
            .next_back()
            .is_some_and(|value| *value < 0)
    }

    pub fn value(&self, of: &dyn Fn(Symbol) -> f64) -> f64 {
        let terms = self.terms.iter();
        terms
            .map(|(monomial, &value)| {
                let factors = monomial
                    .0
                    .iter()
                    .map(|&(symbol, power)| of(symbol).powi(power as i32));
                value as f64 * factors.product::<f64>()
            })
            .sum()
    }

    /// The greatest number and the highest powers that divide all terms.
    fn common(&self) -> Polynomial {
        let mut numbers = 0;
        let mut powers: Option<Monomial> = None;
        for (monomial, &value) in &self.terms {
            numbers = whole_gcd(numbers, value);
            powers = Some(match powers {
                None => monomial.clone(),
                Some(known) => shared(&known, monomial),
            });
        }
        let mut terms = BTreeMap::new();
        if numbers != 0 {
            terms.insert(powers.unwrap_or_default(), numbers);
        }
        Polynomial { terms }
    }
}

fn whole_gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn multiplied(a: &Monomial, b: &Monomial) -> Monomial {
    let mut found = Vec::with_capacity(a.0.len() + b.0.len());
    let (mut x, mut y) = (a.0.iter().peekable(), b.0.iter().peekable());
    loop {
        match (x.peek(), y.peek()) {
            (Some(&&(s, p)), Some(&&(t, q))) if s == t => {
                found.push((s, p + q));
                x.next();
                y.next();
            }
            (Some(&&(s, p)), Some(&&(t, _))) if s < t => {
                found.push((s, p));
                x.next();
            }
            (Some(&&(s, p)), None) => {
                found.push((s, p));
                x.next();
            }
            (_, Some(&&(t, q))) => {
                found.push((t, q));
                y.next();
            }
            (None, None) => return Monomial(found),
        }
    }
}

fn quotient(of: &Monomial, by: &Monomial) -> Option<Monomial> {
    let mut found = of.0.clone();
    for &(symbol, power) in &by.0 {
        let at = found.iter().position(|&(known, _)| known == symbol)?;
        found[at].1 = found[at].1.checked_sub(power)?;
    }
    found.retain(|&(_, power)| power > 0);
    Some(Monomial(found))
}

fn shared(a: &Monomial, b: &Monomial) -> Monomial {
    let powers = a.0.iter().filter_map(|&(symbol, power)| {
        let other = b.0.iter().find(|(known, _)| *known == symbol)?.1;
        Some((symbol, power.min(other)))
    });
    Monomial(powers.collect())
}

/// The greatest common divisor; where it is too much work, one that is smaller.
pub fn gcd(a: &Polynomial, b: &Polynomial) -> Polynomial {
    if a.is_zero() || b.is_zero() {
        let other = if a.is_zero() { b } else { a };
        return match other.is_negative() {
            true => other.negated(),
            false => other.clone(),
        };
    }
    let simple = |a: &Polynomial, b: &Polynomial| {
        let (a, b) = (a.common(), b.common());
        match (a.terms.iter().next(), b.terms.iter().next()) {
            (Some((x, &a)), Some((y, &b))) => Polynomial {
                terms: BTreeMap::from([(shared(x, y), whole_gcd(a, b))]),
            },
            _ => Polynomial::constant(1),
        }
    };
    let (common, found) = (simple(a, b), || {
        let (a, b) = (a.divided(&a.common())?, b.divided(&b.common())?);
        primitive_gcd(&a, &b)
    });
    let few = a.symbols().len().max(b.symbols().len()) <= MOST_SYMBOLS;
    let small = a.len() > 1 && b.len() > 1 && a.len() * b.len() <= MOST_TERMS;
    match (few && small).then(found).flatten() {
        Some(more) => common.times(&more).unwrap_or(common),
        None => common,
    }
}

/// Of polynomials without common factors in their terms. It recurses by symbol, at most [`MOST_SYMBOLS`] deep.
fn primitive_gcd(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    let (of_a, of_b) = (a.symbols(), b.symbols());
    // What has a symbol that the other has not: only its coefficients can be shared.
    if let Some(&symbol) = of_a.difference(&of_b).next() {
        return coefficients_gcd(a, symbol, b);
    }
    if let Some(&symbol) = of_b.difference(&of_a).next() {
        return coefficients_gcd(b, symbol, a);
    }
    let degree = |of: &Polynomial, symbol| of.by_powers(symbol).len();
    let Some(&symbol) = of_a
        .iter()
        .min_by_key(|&&symbol| degree(a, symbol).max(degree(b, symbol)))
    else {
        return Some(Polynomial::constant(1));
    };
    let (of_a, mut x) = primitive(a, symbol)?;
    let (of_b, mut y) = primitive(b, symbol)?;
    let content = gcd(&of_a, &of_b);
    if degree(&x, symbol) < degree(&y, symbol) {
        std::mem::swap(&mut x, &mut y);
    }
    loop {
        let rest = remainder(&x, &y, symbol)?;
        if rest.is_zero() {
            break;
        }
        if degree(&rest, symbol) == 1 {
            y = Polynomial::constant(1);
            break;
        }
        x = y;
        y = primitive(&rest, symbol)?.1;
    }
    content.times(&y)
}

fn coefficients_gcd(of: &Polynomial, symbol: Symbol, other: &Polynomial) -> Option<Polynomial> {
    let mut found = other.clone();
    for coefficient in of.by_powers(symbol) {
        if !coefficient.is_zero() {
            found = gcd(&found, &coefficient);
        }
        if found.is_one() {
            break;
        }
    }
    Some(found)
}

/// The greatest common divisor of the coefficients, and what is left.
fn primitive(of: &Polynomial, symbol: Symbol) -> Option<(Polynomial, Polynomial)> {
    let mut content = Polynomial::default();
    for coefficient in of.by_powers(symbol) {
        content = gcd(&content, &coefficient);
    }
    let rest = of.divided(&content)?;
    Some((content, rest))
}

/// The remainder of a multiple of `a` divided by `b`, as polynomials in a symbol.
fn remainder(a: &Polynomial, b: &Polynomial, symbol: Symbol) -> Option<Polynomial> {
    let (mut rest, by) = (a.by_powers(symbol), b.by_powers(symbol));
    let lead = by.last()?.clone();
    while rest.len() >= by.len() {
        let top = rest.pop()?;
        let shift = rest.len() + 1 - by.len();
        for value in &mut rest {
            *value = value.times(&lead)?;
        }
        for (at, value) in by[..by.len() - 1].iter().enumerate() {
            rest[shift + at] = rest[shift + at].less(&value.times(&top)?)?;
        }
        while rest.last().is_some_and(Polynomial::is_zero) {
            rest.pop();
        }
        if rest.is_empty() {
            return Some(Polynomial::default());
        }
    }
    Polynomial::from_powers(&rest, symbol)
}

#[cfg(test)]
mod tests {
    use super::{Polynomial, gcd};

    /// x y + 2 and x - y, squared and multiplied.
    #[test]
    fn common_factors_are_found() {
        let (x, y) = (Polynomial::symbol(0), Polynomial::symbol(1));
        let two = Polynomial::constant(2);
        let a = x.times(&y).and_then(|of| of.add(&two)).expect("small");
        let b = x.less(&y).expect("small");
        let c = x.add(&two).expect("small");
        let shared = a.times(&b).expect("small");
        let left = shared.times(&a).expect("small");
        let right = shared.times(&c).expect("small");
        let found = gcd(&left, &right);
        assert!(found == shared || found == shared.negated(), "{found:?}");
        assert_eq!(left.divided(&shared), Some(a));
        assert!(gcd(&b, &c).is_one());
    }
}
