//! Runs against closed forms.

#[path = "simulation/trial.rs"]
mod trial;

use trial::Trial;

/// x' = -x.
#[test]
fn decay() {
    let result =
        Trial::of("model M\n local x\n der(x) = -x\n init(x) = 1\nend", 5.0).run(&["x", "der(x)"]);
    assert!(result.off(0, |t| (-t).exp()) < 1e-7);
    assert!(result.off(1, |t| -(-t).exp()) < 1e-7);
}

#[test]
fn rlc() {
    let mut trial = Trial::file("examples/rlc.bgm", 2e-5);
    trial.experiment = Some("RLC".into());
    let result = trial.run(&["y1", "y2", "L1.f"]);
    eprintln!("{:?} {:?}", result.last(), result.summary);
    // C*e' = (u - e)/R1 - e/R2
    let (u, r1, r2, c, l) = (10.0, 100.0, 20.0, 0.1e-6, 1.5e-3);
    let tau = c * r1 * r2 / (r1 + r2);
    let end = u * r2 / (r1 + r2);
    assert!(result.off(0, |t| end * (1.0 - (-t / tau).exp())) < 1e-6);
    assert!(result.off(2, |t| u / l * t) < 1e-6);
}

#[test]
fn rectifier() {
    let result = Trial::file("examples/rectifier.bgm", 0.05).run(&["y", "Diode.f", "Diode.e"]);
    eprintln!("{:?} {:?}", result.last(), result.summary);
}

#[test]
fn pendulum() {
    let result = Trial::file("examples/pendulum.bgm", 10.0)
        .tolerance(1e-9, 1e-9)
        .run(&["x", "y", "vx", "vy"]);
    eprintln!("{:?} {:?}", result.last(), result.summary);
}

#[test]
fn bouncing() {
    let text = "model Ball\n local h, v\n der(h) = v\n der(v) = -9.81\n init(h) = 1\n when h < 0 then init(v) = -0.8*v endwhen\nend";
    let result = Trial::of(text, 2.0).run(&["h", "v"]);
    eprintln!("{:?} {:?}", result.last(), result.summary);
    let result = Trial::of(text, 20.0).run(&["h", "v"]);
    eprintln!("{:?} {:?}", result.failure, result.summary);
}
