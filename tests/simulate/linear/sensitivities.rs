//! Sensitivities of poles against differences, and against closed forms.

use bgm::analyse::Place;
use bgm::analyse::dynamics::dynamics;
use bgm::analyse::matrices::matrices;
use bgm::analyse::poles::Wanted;

use super::linearised;
use crate::support::text::compile_text;

/// A nonlinear model with a loop, whose point moves with its parameters: `STEADY` is no function of time.
fn model(a: f64, b: f64, c: f64) -> String {
    format!(
        "model M\nparameter a = {a:?}, b = {b:?}, c = {c:?}, twice = 2*a\ninput u = 1.5\nlocal x, y, p, q\n\
         der(x) = u - a*x**2 - p\nder(y) = twice*p - b*y - 0.3*x*y\np + exp(0.2*p) = c*x + q\nq = b*p - y\nend\n"
    )
}

fn poles(text: &str, place: Place) -> Vec<(faer::c64, Vec<(String, faer::c64)>)> {
    let steady = place == Place::Steady;
    let flat = compile_text(text).flat.expect("it compiles");
    let mut of = linearised(flat, place, &["u"], &["y"]).expect("it is linearised");
    let matrices = matrices(&of.linear).expect("regular");
    let found = dynamics(&mut of.linear, &matrices, Wanted::All, steady).expect("poles");
    let linear = &of.linear;
    (found.poles.iter())
        .map(|pole| {
            let slopes = pole.sensitivities.iter();
            let slopes = slopes.map(|&(id, slope)| (linear.flat().name(id), slope));
            (pole.pole.value, slopes.collect())
        })
        .collect()
}

fn compared(place: Place) {
    let at = [0.7, 0.9, 1.3];
    let exact = poles(&model(at[0], at[1], at[2]), place.clone());
    for (which, name) in ["a", "b", "c"].iter().enumerate() {
        let step = 1e-5;
        let moved = |by: f64| {
            let mut now = at;
            now[which] += by;
            poles(&model(now[0], now[1], now[2]), place.clone())
        };
        let (more, less) = (moved(step), moved(-step));
        for (at, (value, slopes)) in exact.iter().enumerate() {
            let difference = (more[at].0 - less[at].0) / (2.0 * step);
            let (_, slope) = slopes
                .iter()
                .find(|(known, _)| known == name)
                .expect("it is listed");
            let off = (difference - *slope).norm();
            assert!(
                off <= 2e-6 * (1.0 + slope.norm()),
                "{value} by {name}: {slope}, not {difference} ({place:?})"
            );
            assert!(
                slopes.iter().all(|(known, _)| known != "twice"),
                "it follows from another"
            );
        }
    }
}

#[test]
fn at_fixed_states() {
    compared(Place::At("x=0.8,y=0.4,u=1.5".to_string()));
}

#[test]
fn where_nothing_moves() {
    compared(Place::Steady);
}

/// x'' + 2 d w x' + w**2 x = 0.
#[test]
fn of_an_oscillator() {
    let text = "model M\nparameter w = 3, d = 0.2\ninput u\nlocal x, v, y\nder(x) = v\nder(v) = u - 2*d*w*v - w**2*x\ny = x\nend\n";
    let found = poles(text, Place::Start);
    let root = (1.0_f64 - 0.04).sqrt();
    for (value, slopes) in found {
        let sign = value.im.signum();
        assert!((value - faer::c64::new(-0.6, 3.0 * sign * root)).norm() < 1e-12);
        for (name, slope) in slopes {
            let exact = match name.as_str() {
                "w" => faer::c64::new(-0.2, sign * root),
                _ => faer::c64::new(-3.0, -sign * 3.0 * 0.2 / root),
            };
            assert!(
                (slope - exact).norm() < 1e-12,
                "{name}: {slope}, not {exact}"
            );
        }
    }
}
