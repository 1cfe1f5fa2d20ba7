//! Networks of resistors, as bond graphs: trees of junctions with chords, and with transformers.

use super::random::Random;

/// Laws that are formulas one way, the other way, and both ways, all of them monotone; and a resistor with two ports that likes to be in mixed
/// form.
pub const TYPES: &str = "@bondgraph

model type Rr
  cut A(e/f)
  parameter R = 1, k = 0.1
  e = R*(f + k*f**3)
end

model type Rg
  cut A(e/f)
  parameter R = 1, k = 0.1
  f = (e + k*e**3)/R
end

model type Rs
  cut A(e/f)
  parameter R = 1
  R*((f + 2)**3 - 8) = 12*e
end

model type Rh
  cut A(e1/f1) B(e2/-f2)
  main path P <A - B>
  parameter R = 1, S = 0.3, k = 0.05
  e1 = R*(f1 + k*f1**3) + S*e2
  f2 = S*f1 - e2/R
end

";

/// What a network is made of.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'r> {
    pub resistors: usize,
    /// Types to choose from.
    pub laws: &'r [&'r str],
    /// In percent of the branches.
    pub transformers: usize,
    /// These have a modulus that is a signal.
    pub modulated: bool,
    pub chords: usize,
    /// Resistances lie within so many decades around 1.
    pub decades: f64,
}

/// The body of a model `name`: declarations, connections, sources.
pub fn network(random: &mut Random, recipe: Recipe<'_>, name: &str) -> String {
    let mut parts = String::new();
    let mut connect = String::new();
    let mut equations = String::new();
    let mut ones = vec![true];
    parts.push_str("  submodel (SE) U0\n  junction1 j0\n");
    connect.push_str("  connect U0 at j0\n");
    equations.push_str("  U0.E0 = 2\n");
    let junctions = (recipe.resistors / 2).max(2);
    for at in 1..junctions {
        let above = random.below(at);
        let through = random.chance(recipe.transformers);
        let one = match through {
            true => random.chance(50),
            false => !ones[above],
        };
        ones.push(one);
        let kind = if one { "junction1" } else { "node" };
        parts.push_str(&format!("  {kind} j{at}\n"));
        if through {
            let m = random.number(0.3, 3.0);
            if recipe.modulated {
                parts.push_str(&format!("  submodel (mTF) T{at}\n"));
                equations.push_str(&format!("  T{at}.m = {m} + 0.1*sin(Time + {at})\n"));
            } else {
                parts.push_str(&format!("  submodel (TF) T{at}(m = {m})\n"));
            }
            connect.push_str(&format!("  connect T{at} from j{above} to j{at}\n"));
        } else {
            parts.push_str(&format!("  submodel (link) L{at}\n"));
            connect.push_str(&format!("  connect L{at} from j{above} to j{at}\n"));
        }
    }
    for chord in 0..recipe.chords {
        let (a, b) = (random.below(junctions), random.below(junctions));
        if a != b && ones[a] != ones[b] {
            parts.push_str(&format!("  submodel (link) K{chord}\n"));
            connect.push_str(&format!("  connect K{chord} from j{a} to j{b}\n"));
        }
    }
    for at in 0..recipe.resistors {
        let law = *random.pick(recipe.laws);
        let power = random.real(-recipe.decades / 2.0, recipe.decades / 2.0);
        let value = format!("{:.3e}", 10f64.powf(power));
        parts.push_str(&format!("  submodel ({law}) R{at}(R = {value})\n"));
        // Every junction has something to hold on to.
        let of = |random: &mut Random| match at < junctions {
            true => at,
            false => random.below(junctions),
        };
        match law {
            "Rh" => {
                let (a, b) = (of(random), random.below(junctions));
                connect.push_str(&format!("  connect R{at}:A at j{a}, R{at}:B at j{b}\n"));
            }
            _ => {
                let j = of(random);
                connect.push_str(&format!("  connect R{at} at j{j}\n"));
            }
        }
    }
    format!("model {name}\n{parts}{connect}{equations}end\n\n")
}

/// Laws of circuits: a formula one way, and the other way.
pub const CIRCUITS: &str = "@electrical

model class (TwoTerminal) Er
  parameter R = 1
  u = R*(i + 0.1*i**3)
end

model class (TwoTerminal) Eg
  parameter R = 1
  i = (u + 0.1*u**3)/R
end

";

/// Resistors between the nodes of a rectangle, some left out, and a source from corner to corner.
pub fn mesh(random: &mut Random, width: usize, height: usize, name: &str) -> String {
    let mut parts = String::from("  submodel (ConstantVoltage) U0(E = 2)\n  submodel Ground\n");
    let mut connect = String::new();
    let mut count = 0;
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        parts.push_str(&format!("  node n{x}_{y}\n"));
        for (to_x, to_y) in [(x + 1, y), (x, y + 1)] {
            if to_x < width && to_y < height && random.chance(90) {
                let value = random.number(0.5, 2.0);
                parts.push_str(&format!("  submodel (Resistor) R{count}(R = {value})\n"));
                connect.push_str(&format!(
                    "  connect R{count} from n{x}_{y} to n{to_x}_{to_y}\n"
                ));
                count += 1;
            }
        }
    }
    let (x, y) = (width - 1, height - 1);
    format!(
        "model {name}\n{parts}{connect}  connect U0 from n0_0 to n{x}_{y}\n  connect Ground at n0_0\nend\n\n"
    )
}
