//! `--symbolic`: formulas with other parameters are the numbers of a model that was solved with these.

use bgm::analyse::Place;
use bgm::analyse::matrices::{Sparse, matrices};
use bgm::analyse::symbolic::transfer::transfers;
use bgm::analyse::symbolic::{Formulas, Grid, formulas};
use bgm::analyse::zeros::zeros;
use bgm::expr::Node;
use bgm::flat::Leaf;

use super::linearised;
use crate::support::random::Random;
use crate::support::text::compile_text;

/// Each `?` is a random number.
const MODELS: [(&str, &str, &str); 4] = [
    (
        "@electrical\nmodel M\nsubmodel (VoltageSource) U0\nsubmodel (Resistor) R1(R = ?), R2(R = ?)\n\
         submodel (Inductor) L1(L = ?)\nsubmodel (Capacitor) C1(C = ?), C2(C = ?)\nsubmodel Ground\ninput u\n\
         connect Ground - U0 - R1 - L1 - (C1 // R2 // C2) - Ground\nU0.E0 = u\nend\n",
        "u",
        "C1.u",
    ),
    (
        "@electrical\nmodel M\nsubmodel (VoltageSource) U0\nsubmodel (Resistor) R1(R = ?)\n\
         submodel (Capacitor) C1(C = ?), C2(C = ?)\nsubmodel Ground\ninput u\nnode a\n\
         connect Ground - U0 - C1 - a\nconnect a - C2 - Ground\nconnect a - R1 - Ground\nU0.E0 = u\nend\n",
        "u",
        "U0.i",
    ),
    (
        "model M\nparameter M = ?, m = ?, l = ?, g = ?\ninput force\nlocal x, v, phi, w\nder(x) = v\nder(phi) = w\n\
         (M + m)*der(v) + m*l*cos(phi)*der(w) - m*l*sin(phi)*w**2 = force\nl*der(w) + cos(phi)*der(v) = g*sin(phi)\nend\n",
        "force",
        "x",
    ),
    (
        "model M\nparameter a = ?, b = ?, c = ?\ninput u\nlocal p, q, r, s\np + q = a*u\nder(r) = -b*p + s\nder(s) = q - c*r\n\
         p - b*q = r\nend\n",
        "u",
        "p",
    ),
];

fn values(formulas: &Formulas, grid: &Grid, of: &dyn Fn(u32) -> f64) -> Vec<Vec<f64>> {
    let _ = formulas;
    grid.iter()
        .map(|row| row.iter().map(|entry| entry.value(of)).collect())
        .collect()
}

fn assert_same(found: &[Vec<f64>], numbers: &Sparse, what: &str) {
    for (row, entries) in found.iter().enumerate() {
        for (column, &value) in entries.iter().enumerate() {
            let number = numbers.get(row, column);
            let off = (value - number).abs();
            assert!(
                off <= 1e-9 * (1.0 + number.abs()),
                "{what}[{row}, {column}]: {value}, not {number}"
            );
        }
    }
}

#[test]
fn formulas_are_the_numbers_at_other_parameters() {
    let mut random = Random::new(5);
    for (model, input, output) in MODELS {
        let mut filled = || {
            let mut text = String::new();
            for (at, part) in model.split('?').enumerate() {
                if at > 0 {
                    text.push_str(&format!("{:.3}", random.real(0.5, 3.0)));
                }
                text.push_str(part);
            }
            let flat = compile_text(&text).flat.expect("it compiles");
            linearised(flat, Place::Start, &[input], &[output]).expect("it is linear")
        };
        let mut first = filled();
        let formulas = formulas(&mut first.linear).expect("short formulas");
        let transfers = transfers(&formulas).expect("few states");
        for _ in 0..5 {
            let other = filled();
            let linear = &other.linear;
            let value = |symbol: u32| {
                let atom = formulas.atoms.list[symbol as usize];
                match first.linear.flat().exprs.node(atom.of) {
                    Node::Leaf(leaf @ Leaf::Var(_)) => linear.value(leaf).expect("a value"),
                    _ => atom.value,
                }
            };
            let numbers = matrices(linear).expect("regular");
            assert_same(&values(&formulas, &formulas.a, &value), &numbers.a, "A");
            assert_same(&values(&formulas, &formulas.c, &value), &numbers.c, "C");
            for order in 0..numbers.b.len() {
                assert_same(
                    &values(&formulas, &formulas.b[order], &value),
                    &numbers.b[order],
                    "B",
                );
                assert_same(
                    &values(&formulas, &formulas.d[order], &value),
                    &numbers.d[order],
                    "D",
                );
            }
            // The leading coefficients of the transfer function make the gain.
            let of = zeros(&numbers, 0, 0).expect("zeros");
            let (top, bottom) = (transfers[0].top.last(), transfers[0].bottom.last());
            let (top, bottom) = (
                top.expect("not zero").value(&value),
                bottom.expect("not zero").value(&value),
            );
            assert!(
                (top / bottom - of.gain).abs() <= 1e-9 * of.gain.abs(),
                "{top}/{bottom} {}",
                of.gain
            );
        }
    }
}
