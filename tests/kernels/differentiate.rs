//! Symbolic derivatives against dual numbers and against differences, on random expressions.

use bgm::expr::print::{Form, Source, Style, write};
use bgm::expr::{Arena, Args, BinaryOp, ExprId, Function, Node, UnaryOp, interpolate};

/// Leaves are letters.
type Letters = Arena<char>;

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = (self.0)
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % count as u64) as usize
    }

    fn real(&mut self) -> f64 {
        self.below(1_000_000) as f64 / 250_000.0 - 2.0
    }
}

/// A value with its derivative. Conditions are 1 and 0.
#[derive(Clone, Copy, Debug)]
struct Dual(f64, f64);

/// Node by node, by the rules of school.
fn dual(arena: &Letters, root: ExprId, leaf: &dyn Fn(char) -> Dual, time: Dual) -> Dual {
    let mut values: Vec<Dual> = Vec::new();
    for at in 0..=root.0 {
        let of = |id: ExprId| values[id.index()];
        let value = match arena.node(ExprId(at)) {
            Node::Number(value) => Dual(value.0, 0.0),
            Node::Bool(value) => Dual(f64::from(value), 0.0),
            Node::Time => time,
            Node::Leaf(which) => leaf(which),
            Node::Unary(UnaryOp::Minus, a) => Dual(-of(a).0, -of(a).1),
            Node::Unary(UnaryOp::Plus, a) => of(a),
            Node::Unary(UnaryOp::Not, a) => Dual(1.0 - of(a).0, 0.0),
            Node::Binary(op, a, b) => dual_binary(op, of(a), of(b)),
            Node::If(c, a, b) => {
                if of(c).0.is_nan() {
                    of(c)
                } else if of(c).0 != 0.0 {
                    of(a)
                } else {
                    of(b)
                }
            }
            Node::Call(function, args) => {
                let args = arena.args(args);
                match function {
                    Function::Table => dual_table(arena, args, &of),
                    _ => {
                        let args: Vec<Dual> = args.iter().map(|&id| of(id)).collect();
                        dual_call(function, &args)
                    }
                }
            }
            Node::List(_) => Dual(0.0, 0.0),
        };
        values.push(value);
    }
    values[root.index()]
}

fn dual_binary(op: BinaryOp, Dual(a, da): Dual, Dual(b, db): Dual) -> Dual {
    let truth = |holds: bool| match a.is_nan() || b.is_nan() {
        true => Dual(f64::NAN, f64::NAN),
        false => Dual(f64::from(holds), 0.0),
    };
    match op {
        BinaryOp::Or => truth(a != 0.0 || b != 0.0),
        BinaryOp::And => truth(a != 0.0 && b != 0.0),
        BinaryOp::Less => truth(a < b),
        BinaryOp::LessEqual => truth(a <= b),
        BinaryOp::Greater => truth(a > b),
        BinaryOp::GreaterEqual => truth(a >= b),
        BinaryOp::Equal => truth(a == b),
        BinaryOp::NotEqual => truth(a != b),
        BinaryOp::Add => Dual(a + b, da + db),
        BinaryOp::Sub => Dual(a - b, da - db),
        BinaryOp::Mul => Dual(a * b, da * b + a * db),
        BinaryOp::Div => Dual(a / b, (da * b - a * db) / (b * b)),
        BinaryOp::Pow => {
            // 0**-0.5*0 has no value.
            let by_base = if da == 0.0 && a != 0.0 {
                0.0
            } else {
                b * a.powf(b - 1.0) * da
            };
            let by_exponent = if db == 0.0 || a == 0.0 {
                0.0
            } else {
                a.powf(b) * a.ln() * db
            };
            Dual(a.powf(b), by_base + by_exponent)
        }
    }
}

fn dual_call(function: Function, args: &[Dual]) -> Dual {
    use Function::*;
    let Dual(a, da) = args[0];
    let second = args.get(1).copied().unwrap_or(Dual(0.0, 0.0));
    let chain = |value: f64, slope: f64| Dual(value, slope * da);
    match function {
        Sin => chain(a.sin(), a.cos()),
        Cos => chain(a.cos(), -a.sin()),
        Tan => chain(a.tan(), 1.0 / a.cos().powi(2)),
        Asin => chain(a.asin(), 1.0 / (1.0 - a * a).sqrt()),
        Acos => chain(a.acos(), -1.0 / (1.0 - a * a).sqrt()),
        Atan => chain(a.atan(), 1.0 / (1.0 + a * a)),
        Atan2 => {
            let Dual(b, db) = second;
            Dual(a.atan2(b), (b * da - a * db) / (a * a + b * b))
        }
        Sinh => chain(a.sinh(), a.cosh()),
        Cosh => chain(a.cosh(), a.sinh()),
        Tanh => chain(a.tanh(), 1.0 / a.cosh().powi(2)),
        Exp => chain(a.exp(), a.exp()),
        Ln => chain(a.ln(), 1.0 / a),
        Log10 => chain(a.log10(), 1.0 / (a * std::f64::consts::LN_10)),
        Sqrt => chain(a.sqrt(), 0.5 / a.sqrt()),
        Abs => chain(a.abs(), if a == 0.0 { 0.0 } else { a.signum() }),
        Sign => chain(if a == 0.0 { 0.0 } else { a.signum() }, 0.0),
        Floor => chain(a.floor(), 0.0),
        Ceil => chain(a.ceil(), 0.0),
        Mod => {
            let Dual(b, db) = second;
            let turns = (a / b).floor();
            Dual(a - turns * b, da - turns * db)
        }
        Min | Max => args[1..].iter().fold(args[0], |best, &other| {
            let stays = match function {
                Min => best.0 <= other.0,
                _ => best.0 >= other.0,
            };
            match (best.0.is_nan(), other.0.is_nan()) {
                (true, _) => best,
                (_, true) => other,
                _ if stays => best,
                _ => other,
            }
        }),
        other => panic!("{other:?} has no value"),
    }
}

fn dual_table(arena: &Letters, args: &[ExprId], of: &dyn Fn(ExprId) -> Dual) -> Dual {
    let list = |id: ExprId| -> Vec<Dual> {
        match arena.node(id) {
            Node::List(items) => arena.args(items).iter().map(|&item| of(item)).collect(),
            other => panic!("no list: {other:?}"),
        }
    };
    let (x, xs, ys) = (of(args[0]), list(args[1]), list(args[2]));
    if x.0.is_nan() {
        return x;
    }
    let after = xs.iter().take_while(|known| known.0 <= x.0).count();
    if after == 0 {
        return ys[0];
    }
    if after == xs.len() {
        return ys[after - 1];
    }
    let (x0, x1, y0, y1) = (xs[after - 1], xs[after], ys[after - 1], ys[after]);
    let sub = |a, b| dual_binary(BinaryOp::Sub, a, b);
    let rise = dual_binary(BinaryOp::Mul, sub(y1, y0), sub(x, x0));
    let there = dual_binary(
        BinaryOp::Add,
        y0,
        dual_binary(BinaryOp::Div, rise, sub(x1, x0)),
    );
    let numbers = |list: &[Dual]| list.iter().map(|dual| dual.0).collect::<Vec<_>>();
    let value = interpolate(x.0, &numbers(&xs), &numbers(&ys));
    assert!(!there.0.is_finite() || near(value, there.0, 1e-9));
    there
}

/// An expression of about `size` nodes over x, y, p and Time; everything real.
fn random_expression(arena: &mut Letters, random: &mut Random, size: usize) -> ExprId {
    let mut pool: Vec<ExprId> = ['x', 'y', 'p'].map(|leaf| arena.leaf(leaf)).to_vec();
    pool.push(arena.time());
    for value in [0.0, 1.0, 0.5, 3.0] {
        pool.push(arena.number(value));
    }
    let leaves = pool.len();
    for _ in 0..size {
        // New nodes are used more often than leaves.
        let any = |random: &mut Random| match random.below(3) {
            0 => pool[random.below(leaves)],
            _ => pool[random.below(pool.len())],
        };
        let (a, b, c, d) = (any(random), any(random), any(random), any(random));
        let id = match random.below(14) {
            0 => arena.binary(BinaryOp::Add, a, b),
            1 => arena.binary(BinaryOp::Sub, a, b),
            2 => arena.binary(BinaryOp::Mul, a, b),
            3 => arena.binary(BinaryOp::Div, a, b),
            4 => arena.unary(UnaryOp::Minus, a),
            5 => arena.binary(BinaryOp::Pow, a, b),
            6 => {
                let exponent = arena.number([0.0, 1.0, 2.0, 3.0, 0.5, 4.0][random.below(6)]);
                let negative = arena.unary(UnaryOp::Minus, exponent);
                arena.binary(BinaryOp::Pow, a, [exponent, negative][random.below(2)])
            }
            7 => {
                let op = [BinaryOp::Less, BinaryOp::GreaterEqual][random.below(2)];
                let condition = arena.binary(op, a, b);
                arena.if_else(condition, c, d)
            }
            8 => arena.call(
                [Function::Min, Function::Max][random.below(2)],
                [&[a, b][..], &[a, b, c][..]][random.below(2)],
            ),
            9 => arena.call([Function::Atan2, Function::Mod][random.below(2)], &[a, b]),
            10 => {
                let count = 1 + random.below(6);
                let mut from = -2.0;
                let (mut xs, mut ys) = (Vec::new(), Vec::new());
                for _ in 0..count {
                    from += 0.1 + random.real().abs();
                    let (x, y) = (arena.number(f64::abs(from)), random.real());
                    xs.push(if from < 0.0 {
                        arena.unary(UnaryOp::Minus, x)
                    } else {
                        x
                    });
                    let number = arena.number(y.abs());
                    ys.push(if random.below(4) == 0 { c } else { number });
                }
                let (xs, ys) = (arena.list(&xs), arena.list(&ys));
                arena.call(Function::Table, &[a, xs, ys])
            }
            _ => {
                use Function::*;
                let all = [
                    Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Ln, Log10, Sqrt, Abs,
                    Sign, Floor, Ceil,
                ];
                arena.call(all[random.below(all.len())], &[a])
            }
        };
        pool.push(id);
    }
    pool[pool.len() - 1]
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

struct Text<'a>(&'a Letters);

impl Source for Text<'_> {
    type Leaf = char;

    fn node(&self, id: ExprId) -> Node<char> {
        self.0.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.0.args(args)
    }

    fn leaf(&self, leaf: char, form: &mut Form<'_, u8>) {
        form.write(|out| out.push(leaf));
    }
}

fn text(arena: &Letters, id: ExprId) -> String {
    let mut out = String::new();
    write(&Text(arena), id, Style::Plain, &mut out);
    out
}

/// The partial derivative by x, and the total one with x' = 0.7, y' = -1.3 and Time' = 1.
#[test]
fn derivatives_agree_with_dual_numbers_and_differences() {
    let (mut compared, mut by_difference, mut undefined) = (0, 0, 0);
    let cases = 6000;
    for seed in 0..cases {
        let mut random = Random(seed);
        let mut arena = Letters::default();
        let size = 1 + random.below(9);
        let root = random_expression(&mut arena, &mut random, size);
        let [x, y, p, t] = [(); 4].map(|()| random.real());
        let value = |leaf: char| match leaf {
            'x' => x,
            'y' => y,
            _ => p,
        };
        let by_x = arena.partial(root, 'x');
        let (dx, dy) = (arena.number(0.7), arena.number(1.3));
        let dy = arena.unary(UnaryOp::Minus, dy);
        let one = arena.number(1.0);
        let total = arena.differentiate(root, Some(one), |_, leaf| match leaf {
            'x' => Some(dx),
            'y' => Some(dy),
            _ => None,
        });
        let rates = [(by_x, [1.0, 0.0, 0.0]), (total, [0.7, -1.3, 1.0])];
        for (symbolic, [dx, dy, dt]) in rates {
            let at = |h: f64| {
                let leaf = |leaf: char| match leaf {
                    'x' => Dual(x + h * dx, dx),
                    'y' => Dual(y + h * dy, dy),
                    _ => Dual(p, 0.0),
                };
                dual(&arena, root, &leaf, Dual(t + h * dt, dt))
            };
            let expected = at(0.0);
            if !expected.0.is_finite() || !expected.1.is_finite() || expected.1.abs() > 1e8 {
                continue;
            }
            let plain = |leaf: char| Dual(value(leaf), 0.0);
            let found = symbolic.map_or(0.0, |id| dual(&arena, id, &plain, Dual(t, 0.0)).0);
            // The logarithm of a negative base, whose exponent varies by 0 just here.
            if found.is_nan() {
                undefined += 1;
                continue;
            }
            let shown = || {
                let rate = symbolic.map_or("0".into(), |id| text(&arena, id));
                format!(
                    "seed {seed}: {} at x {x} y {y} p {p} Time {t}: {rate}",
                    text(&arena, root)
                )
            };
            assert!(
                near(found, expected.1, 1e-9),
                "{found} is not {expected:?}, {}",
                shown()
            );
            compared += 1;
            // Where two differences agree there is no kink near.
            let h = 1e-5;
            let [fine, coarse] = [h, 2.0 * h].map(|h| (at(h).0 - at(-h).0) / (2.0 * h));
            if near(fine, coarse, 1e-6) {
                assert!(
                    near(found, fine, 1e-4),
                    "{found} is not {fine}, {}",
                    shown()
                );
                by_difference += 1;
            }
        }
    }
    // Powers of negative numbers, logarithms and the like have no value at many points.
    assert!(undefined < cases / 1000, "{undefined}");
    assert!(compared > cases, "{compared}");
    assert!(
        by_difference * 10 > compared * 9,
        "{by_difference} of {compared}"
    );
}

/// What the rules print as.
#[test]
fn derivatives_are_tidy() {
    let mut arena = Letters::default();
    let (x, p) = (arena.leaf('x'), arena.leaf('p'));
    let two = arena.number(2.0);
    let square = arena.binary(BinaryOp::Pow, x, two);
    let abs = arena.call(Function::Abs, &[x]);
    let flow = arena.binary(BinaryOp::Mul, x, abs);
    let power = arena.binary(BinaryOp::Pow, x, p);
    let exponential = arena.binary(BinaryOp::Pow, two, x);
    let sine = arena.call(Function::Sin, &[square]);
    let cases = [
        (square, "2*x"),
        (flow, "abs(x) + x*sign(x)"),
        (power, "p*x**(p - 1)"),
        (exponential, "2**x*ln(2)"),
        (sine, "2*cos(x**2)*x"),
    ];
    for (root, expected) in cases {
        let rate = arena.partial(root, 'x').expect("not constant");
        assert_eq!(text(&arena, rate), expected);
        assert_eq!(arena.partial(root, 'z'), None);
    }
}

/// A table of points that are numbers: constants on intervals, found by halving.
#[test]
fn the_slope_of_a_table_is_a_small_tree() {
    let mut arena = Letters::default();
    let x = arena.leaf('x');
    let count = 1000;
    let xs: Vec<ExprId> = (0..count).map(|at| arena.number(f64::from(at))).collect();
    let ys: Vec<ExprId> = (0..count)
        .map(|at| arena.number(f64::from(at * at)))
        .collect();
    let (xs, ys) = (arena.list(&xs), arena.list(&ys));
    let table = arena.call(Function::Table, &[x, xs, ys]);
    let before = arena.len();
    let rate = arena.partial(table, 'x').expect("not constant");
    assert!(arena.len() - before < 10 * count as usize);
    let slope = |at: f64| dual(&arena, rate, &|_| Dual(at, 0.0), Dual(0.0, 0.0)).0;
    assert_eq!(slope(-0.5), 0.0);
    assert_eq!(slope(0.0), 1.0);
    assert_eq!(slope(2.5), 5.0);
    assert_eq!(slope(998.5), 1997.0);
    assert_eq!(slope(999.0), 0.0);
    let depth = depth(&arena, rate);
    assert!(depth < 20, "{depth}");
}

fn depth(arena: &Letters, root: ExprId) -> usize {
    let mut depths = vec![0; root.index() + 1];
    for at in 0..=root.0 {
        let of = |id: ExprId| depths[id.index()];
        depths[at as usize] = match arena.node(ExprId(at)) {
            Node::Unary(_, a) => of(a) + 1,
            Node::Binary(_, a, b) => of(a).max(of(b)) + 1,
            Node::If(a, b, c) => of(a).max(of(b)).max(of(c)) + 1,
            _ => 1,
        };
    }
    depths[root.index()]
}

/// x*x*... shared 200 times over would have 2**200 terms as a tree; a sum of 200,000 terms is deep.
#[test]
fn the_cost_is_that_of_the_shared_expression() {
    let run = std::thread::Builder::new().stack_size(128 * 1024);
    let done = run.spawn(|| {
        let mut arena = Letters::default();
        let x = arena.leaf('x');
        let mut power = x;
        for _ in 0..200 {
            power = arena.binary(BinaryOp::Mul, power, power);
        }
        let before = arena.len();
        assert!(arena.partial(power, 'x').is_some());
        assert!(arena.len() - before < 5 * 200);
        let mut sum = x;
        for _ in 0..200_000 {
            sum = arena.call(Function::Sin, &[sum]);
            sum = arena.binary(BinaryOp::Add, sum, x);
        }
        assert!(arena.partial(sum, 'x').is_some());
    });
    done.expect("a thread starts").join().expect("no overflow");
}
