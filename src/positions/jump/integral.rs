//! What a term adds over the instant of a jump.

use super::{Coefficient, Jump, Refused, Values};
use crate::evaluate::{Numbers, leaves};

impl Jump {
    fn coefficient(
        &self,
        numbers: &mut Numbers<'_>,
        coefficient: Coefficient,
        values: &Values,
    ) -> Result<f64, Refused> {
        match coefficient {
            Coefficient::Number(number, _) => Ok(number),
            Coefficient::Expression(id) => numbers.value(id, values).ok_or(Refused::NoSolution),
        }
    }

    /// What a term adds over the instant: its coefficient integrated over what its leaf passes through.
    pub(super) fn integral(
        &self,
        numbers: &mut Numbers<'_>,
        (j, coefficient): (usize, Coefficient),
        (from, to): (f64, f64),
        values: &Values,
    ) -> Result<f64, Refused> {
        let leaf = self.columns[j];
        let id = match coefficient {
            Coefficient::Expression(id) if !self.impulsive[j] && from != to => id,
            _ => {
                let value = self.coefficient(numbers, coefficient, values)?;
                return Ok(value * (to - from));
            }
        };
        if !leaves(numbers.exprs(), id).contains(&leaf) {
            let value = numbers.value(id, values).ok_or(Refused::NoSolution)?;
            return Ok(value * (to - from));
        }
        // Gauss and Legendre, on parts in which the value at most doubles.
        let ratio = (to / from).abs();
        let parts = match ratio.is_finite() && ratio > 0.0 && from.signum() == to.signum() {
            true => (ratio.log2().abs().ceil() as usize).clamp(1, 64),
            false => 8,
        };
        let mut moved = values.clone();
        let mut sum = 0.0;
        for part in 0..parts {
            let (a, b) = match parts == 8 && from.signum() != to.signum() {
                true => {
                    let width = (to - from) / parts as f64;
                    (from + part as f64 * width, from + (part + 1) as f64 * width)
                }
                false => {
                    let root = (to / from).powf(1.0 / parts as f64);
                    (
                        from * root.powi(part as i32),
                        from * root.powi(part as i32 + 1),
                    )
                }
            };
            for (node, weight) in GAUSS {
                for sign in [-1.0, 1.0] {
                    moved.insert(leaf, 0.5 * (a + b) + 0.5 * sign * node * (b - a));
                    let value = numbers.value(id, &moved).ok_or(Refused::NoSolution)?;
                    sum += 0.5 * weight * (b - a) * value;
                }
            }
        }
        Ok(sum)
    }
}

/// Nodes and weights of Gauss and Legendre with 10 points, of the upper half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_4),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];
