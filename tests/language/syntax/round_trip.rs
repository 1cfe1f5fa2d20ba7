//! What the printer writes parses back to the same tree.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{generate, read, statements, tree};
use bgm::syntax::{dump::dump, print::print};

proptest! {
    #![proptest_config(super::cases(2000))]

    #[test]
    fn random_trees(choices in vec(any::<u16>(), 0..600)) {
        let (ast, interner) = generate::ast(&choices);
        let text = print(&ast, &interner);
        let back = read(&text);
        prop_assert!(back.diagnostics.is_empty(), "{text}\n{}", back.messages());
        prop_assert_eq!(dump(&ast, &interner), back.dump(), "{}", text);
        prop_assert_eq!(back.print(), text);
    }
}

/// Every file of the project, as it is and printed.
#[test]
fn files_of_the_project() {
    let folders = ["stdlib", "examples", "tests/papers"];
    let mut count = 0;
    for folder in folders {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "bgm") {
                let text = std::fs::read_to_string(&path).unwrap();
                let parsed = read(&text);
                assert_eq!(parsed.messages(), "", "{}", path.display());
                let printed = parsed.print();
                assert_eq!(parsed.dump(), tree(&printed), "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 5);
}

#[track_caller]
fn printed(text: &str) -> String {
    let parsed = read(text);
    assert_eq!(parsed.messages(), "", "{text}");
    parsed.print()
}

#[test]
fn the_usual_form() {
    let text = "\
@bond.bnd @r.bnd
## A resistor.
## Ohm's law.
model type (Base,Other)R cut A(v'V'/i 'A') B(v2/-i) C(e/.)
  main cut D [ A B ] ; main path P<A-B>
  cut p[n](a,b/c,.)
  ## how much
  parameter R=1.0'Ohm'\"resistance\",x[ 3 ]=[1,2,3]
  state a, b.c[2]
  submodel (C)C1(C=1e-6)(ic e=5) C2[4], C3 ( )
  connect a-b-(c//d//(e-f)) at n,reversed (a - b) from x:A to y.z:B,loop x to y par z
  for i in 1 to n do x[i]=-y[i+1]**2 endfor
  when a>b and not c then new(d)=e elsewhen f then init(g)=if h then 1 elseif j then 2 else 3 endwhen
  -(a-(b-c))*d/(e*f)=(-g)**-h
end R
experiment fast for R simutime 2E-5 input u=sin(Time),v=1
  absolute y 1e-18 plot a,b outblock OUT dispt a,b outend end";
    let expected = "\
@bond.bnd
@r.bnd

## A resistor.
## Ohm's law.
model type (Base, Other) R
  cut A(v 'V' / i 'A'), B(v2/-i), C(e/.)
  main cut D[A, B]
  main path P <A - B>
  cut p[n](a, b / c, .)
  ## how much
  parameter R = 1 'Ohm' \"resistance\", x[3] = [1, 2, 3]
  state a, b.c[2]
  submodel (C) C1(C = 1e-6) (ic e = 5), C2[4], C3()
  connect a - b - c // d // (e - f) at n, reversed (a - b) from x:A to y.z:B, loop x - y // z
  for i in 1 to n do
    x[i] = -y[i + 1]**2
  endfor
  when a > b and not c then
    new(d) = e
  elsewhen f then
    init(g) = if h then 1 elseif j then 2 else 3
  endwhen
  -(a - (b - c))*d/(e*f) = (-g)**(-h)
end R

experiment fast for R
  simutime 2e-5
  input u = sin(Time), v = 1
  absolute y 1e-18
  plot a, b
  outblock OUT
    dispt a, b
  outend
end
";
    assert_eq!(printed(text), expected);
    assert_eq!(printed(expected), expected);
}

#[test]
fn brackets_only_where_they_are_needed() {
    for equation in [
        "a - b - c = a - (b - c)",
        "a/b/c = a/(b/c)",
        "a**b**c = (a**b)**c",
        "-a**2 = (-a)**2",
        "-a*b = -(a*b)",
        "(a < b) == c = not (a < b)",
        "a or b and c = (a or b) and c",
        "1 + (if a then b else c) = if a then b else c",
        "a*(-b) = -(-b)",
        "if (if a then b else c) then (if d then e else f) else g = 0",
        "if a then b elseif c then d else e = 0",
        "x[i - 1].y[[1, 2]] = der(x[i])",
    ] {
        let text = format!("model M\n  {equation}\nend\n");
        assert_eq!(printed(&text), text);
    }
    for chain in [
        "a - b - c",
        "a - (b - c)",
        "a // b // c",
        "a // (b // c)",
        "a - b // c",
        "(a - b) // c",
        "reversed a // reversed (b - c)",
        "reversed reversed a - b",
        "reversed (a // b)",
    ] {
        let text = format!("model M\n  connect {chain}\nend\n");
        assert_eq!(printed(&text), text);
    }
}

/// Mistakes are left out, the rest stays.
#[test]
fn what_could_not_be_read_is_left_out() {
    let text = "x = 3\nmodel M\n a = )\n b = 2\n for i = 3 do\n c = 3\n endfor\nend\nexperiment M\n \
                plot\n start 1\nend\n";
    let printed = read(text).print();
    assert_eq!(
        printed,
        "model M\n  b = 2\nend\n\nexperiment M\n  start 1\nend\n"
    );
}

#[test]
fn the_control_block_is_kept_word_for_word() {
    let text = "cmodel\n  ctblock drunr | if X < 0 then {\n\tX = -X ctending\n  ctend\nend\n";
    assert_eq!(printed(text), text);
}

/// The dump shows what the printer may hide.
#[test]
fn dumps_tell_trees_apart() {
    let differ = |a: &str, b: &str| assert_ne!(statements(a), statements(b));
    differ("x = a - (b - c)", "x = a - b - c");
    differ("x = y", "x = y.y");
    differ("x = y[1].z", "x = y.z[1]");
    differ("connect a:b at c", "connect a.b at c");
    differ("cut A(v/i)", "cut A(v/-i)");
    differ("cut A(v/i)", "main cut A(v/i)");
    differ("cut A(v 'V' / i)", "cut A(v \"V\" / i)");
    differ("submodel (R) R", "submodel R");
    differ("submodel R(a = 1) (b = 2)", "submodel R(a = 1, b = 2)");
    differ("submodel R(a = 1)", "submodel R(ic a = 1)");
    differ("state x", "nostate x");
    differ("node x", "junction1 x");
    differ("x = not a == b", "x = (not a) == b");
    assert_eq!(statements("x = ((a)) - ((b))"), statements("x = a - b"));
    assert_eq!(
        statements("equation1 = x[1].e*(-f)"),
        "(model Model M\n  (equation (ref equation1) (Mul (ref x [1.0] .e) (Minus (ref f))))\n)\n"
    );
}

/// The property above is worth what the trees are worth.
#[test]
fn random_trees_have_all_there_is() {
    let mut seed = 1u32;
    let mut number = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as u16
    };
    let mut all = String::new();
    for _ in 0..300 {
        let choices: Vec<u16> = (0..600).map(|_| number()).collect();
        let (ast, interner) = generate::ast(&choices);
        all += &dump(&ast, &interner);
    }
    let words = "include model experiment cmodel base doc cuts paths bundle across through minus \
                 none unit description Terminal Local Parameter Constant Input Output state \
                 nostate node junction1 class submodel settings set ic chain loop at from series \
                 parallel reversed equation when branch for ref list call If Not Minus Plus Or And \
                 Less LessEqual Greater GreaterEqual Equal NotEqual Add Sub Mul Div Pow simutime \
                 start commupoints step inputs parameters initial plot method tolerance absolute \
                 classic ctblock outblock";
    let found: HashSet<&str> = all.split(['(', ')', ' ', '\n']).collect();
    for word in words.split_whitespace() {
        assert!(found.contains(word), "{word}");
    }
    assert!(all.contains("main cuts") && all.contains("main paths") && all.contains(" :"));
}
