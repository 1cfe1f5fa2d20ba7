//! Problems of the test set for initial value problems, to the values that it publishes.
//!
//! F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4, University of Bari, 2008. ROBER and
//! HIRES are in `stiff.rs`.

// The digits as they were published.
#![allow(clippy::excessive_precision)]

use bgm::simulate::integrate::Method;

use crate::support::trial::{Trial, within};

/// The largest error at the end, each beside its value or beside `least`, if that is more.
fn off(file: &str, names: &[&str], truth: &[f64], least: f64) -> f64 {
    let result = Trial::file(&format!("tests/simulate/ivp/{file}.bgm")).run(names);
    let last = result.last();
    assert_eq!(last.len(), truth.len());
    (last.iter().zip(truth)).fold(0.0, |worst: f64, (found, truth)| {
        worst.max((found - truth).abs() / truth.abs().max(least))
    })
}

/// VDPOL, to 2.
#[test]
fn van_der_pol() {
    let names = ["y1", "y2"];
    let truth = [1.706167732170483, -0.8928097010247975];
    within(off("vdpol", &names, &truth, 0.0), 1e-5);
}

/// OREGO, to 360.
#[test]
fn oregonator() {
    let names = ["y1", "y2", "y3"];
    let truth = [1.000814870318523, 1228.178521549917, 132.0554942846706];
    within(off("orego", &names, &truth, 0.0), 1e-5);
}

/// POLLU, to 60.
#[test]
fn pollution() {
    let names = [
        "y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8", "y9", "y10", "y11", "y12", "y13", "y14",
        "y15", "y16", "y17", "y18", "y19", "y20",
    ];
    let truth = [
        0.5646255480022769e-1,
        0.1342484130422339,
        0.4139734331099427e-8,
        0.5523140207484359e-2,
        0.2018977262302196e-6,
        0.1464541863493966e-6,
        0.7784249118997964e-1,
        0.3245075353396018,
        0.7494013383880406e-2,
        0.1622293157301561e-7,
        0.1135863833257075e-7,
        0.2230505975721359e-2,
        0.2087162882798630e-3,
        0.1396921016840158e-4,
        0.8964884856898295e-2,
        0.4352846369330103e-17,
        0.6899219696263405e-2,
        0.1007803037365946e-3,
        0.1772146513969984e-5,
        0.5682943292316392e-4,
    ];
    within(off("pollution", &names, &truth, 0.0), 1e-5);
}

/// PLEI, to 3.
#[test]
fn pleiades() {
    let names = [
        "x[1]", "x[2]", "x[3]", "x[4]", "x[5]", "x[6]", "x[7]", "y[1]", "y[2]", "y[3]", "y[4]",
        "y[5]", "y[6]", "y[7]",
    ];
    let truth = [
        0.3706139143970502,
        3.237284092057233,
        -3.222559032418324,
        0.6597091455775310,
        0.3425581707156584,
        1.562172101400631,
        -0.7003092922212495,
        -3.943437585517392,
        -3.271380973972550,
        5.225081843456543,
        -2.590612434977470,
        1.198213693392275,
        -0.2429682344935824,
        1.091449240428980,
    ];
    within(off("pleiades", &names, &truth, 0.0), 1e-6);
}

/// MEDAKZO, to 20: 8 of 400 components.
#[test]
fn medical_akzo() {
    let names = [
        "u[40]", "v[40]", "u[67]", "v[67]", "u[86]", "v[86]", "u[100]", "v[100]",
    ];
    let truth = [
        0.2339942217046434e-3,
        0.0,
        0.3576835958481664e-3,
        0.0,
        0.3085949832350532e-3,
        0.0,
        0.1173741304462833e-3,
        0.6190822732534586e-5,
    ];
    within(off("medakzo", &names, &truth, 1e-6), 1e-4);
}

/// RINGMOD, to 1e-3: the components that the fast oscillation of its small capacitors does not reach.
#[test]
fn ring_modulator() {
    let names = ["U1", "U2", "U7", "I1", "I2"];
    let truth = [
        -0.02339057358486745,
        -0.00736748548540825,
        0.1106761861269975,
        0.2939904342435596e-6,
        -0.2840029933642329e-7,
    ];
    within(off("ringmod", &names, &truth, 0.0), 1e-3);
}

/// TRANSAMP, to 0.2.
#[test]
fn transistor_amplifier() {
    let names = ["y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"];
    let truth = [
        -0.5562145012262709e-2,
        3.006522471903042,
        2.849958788608128,
        2.926422536206241,
        2.704617865010554,
        2.761837778393145,
        4.770927631616772,
        1.236995868091548,
    ];
    within(off("transamp", &names, &truth, 0.0), 1e-5);
}

/// CHEMAKZO, to 180.
#[test]
fn chemical_akzo() {
    let names = ["y1", "y2", "y3", "y4", "y5", "y6"];
    let truth = [
        0.1150794920661702,
        0.1203831471567715e-2,
        0.1611562887407974,
        0.3656156421249283e-3,
        0.1708010885264404e-1,
        0.4873531310307455e-2,
    ];
    within(off("chemakzo", &names, &truth, 0.0), 1e-5);
}

/// CARAXIS, to 3, index 3.
#[test]
fn car_axis() {
    let names = [
        "xl", "yl", "xr", "yr", "ul", "vl", "ur", "vr", "lam1", "lam2",
    ];
    let truth = [
        0.4934557842755629e-1,
        0.4969894602303324,
        1.041742524885400,
        0.3739110272652214,
        -0.7705836840321485e-1,
        0.7446866596327776e-2,
        0.1755681574942899e-1,
        0.7703410437794031,
        -0.4736886750784630e-2,
        -0.1104680411345730e-2,
    ];
    within(off("caraxis", &names, &truth, 0.0), 1e-4);
}

/// ANDREWS, to 0.03, index 3.
#[test]
fn andrews() {
    let names = [
        "be", "th", "ga", "ph", "de", "om", "ep", "bep", "thp", "gap", "php", "dep", "omp", "epp",
    ];
    let truth = [
        15.81077119629904,
        -15.75637105984298,
        0.4082224013073101e-1,
        -0.5347301163226948,
        0.5244099658805304,
        0.5347301163226948,
        1.048080741042263,
        1139.920302151208,
        -1424.379294994111,
        11.03291221937134,
        19.29337464421385,
        0.5735699284790808,
        -19.29337464421385,
        0.3231791658026955,
    ];
    within(off("andrews", &names, &truth, 0.0), 1e-3);
}

/// WATER, to 17 h, index 2.
#[test]
fn water_tubes() {
    let names = [
        "phi[1]",
        "phi[7]",
        "phi[12]",
        "phi[18]",
        "lambda[1]",
        "lambda[7]",
        "lambda[12]",
        "lambda[18]",
        "p[5]",
        "p[8]",
        "p[1]",
        "p[13]",
    ];
    let truth = [
        0.2298488296477430e-2,
        0.3243571480903489e-2,
        0.3403428519096511e-2,
        0.5746220741193575e-2,
        0.4751940452918529e-1,
        0.4311196778792902e-1,
        0.4249217433601160e-1,
        0.3651427026675656e-1,
        111126.8591478108,
        111127.0045592387,
        111127.1078730254,
        111129.8338971779,
    ];
    within(off("water", &names, &truth, 0.0), 1e-4);
}

/// FEKETE, to 1000, index 3: 4 of 20 particles.
#[test]
fn fekete() {
    let names = [
        "x[1]", "y[1]", "z[1]", "x[2]", "y[2]", "z[2]", "x[3]", "y[3]", "z[3]", "x[4]", "y[4]",
        "z[4]",
    ];
    let truth = [
        -0.4070263380333202,
        0.3463758772791802,
        0.8451942450030429,
        0.7752934752521549e-1,
        -0.2628662719972299,
        0.9617122871829146,
        0.7100577833343567,
        0.1212948055586120,
        0.6936177005172217,
        0.2348267744557627,
        0.7449277976923311,
        0.6244509285956391,
    ];
    within(off("fekete", &names, &truth, 0.0), 1e-4);
}

/// RINGMOD without its small capacitors, index 2: voltages follow from how currents of coils change. The values are those of
/// SciPy's Radau with capacitors of 2e-17 F and a
/// tolerance of 1e-7.
#[test]
fn ring_modulator_of_index_2() {
    let names = ["U1", "U2", "U3", "U4", "U7", "I3"];
    let truth = [
        -2.33991346e-2,
        -7.37488257e-3,
        3.23424823e-1,
        -3.41313540e-1,
        1.10674477e-1,
        7.26084730e-4,
    ];
    let trial = Trial::file("tests/simulate/ivp/ringmod.bgm")
        .model("RingModulatorIndex2")
        .method(Method::Esdirk34)
        .points(2);
    let result = trial.run(&names);
    let off = (result.last().iter().zip(&truth)).fold(0.0, |worst: f64, (found, truth)| {
        worst.max((found - truth).abs() / truth.abs())
    });
    within(off, 1e-3);
}
