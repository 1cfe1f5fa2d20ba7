//! How C writes expressions.

use rustc_hash::FxHashMap;

use crate::export::model::Model;
use crate::export::names::Names;
use crate::export::places::Place;
use crate::export::write::{Dialect, Kept, Text};
use crate::expr::op::precedence;
use crate::expr::{BinaryOp, ExprId, Function, Node, UnaryOp};
use crate::flat::{Flat, Leaf};

/// Words of C and macros of its headers, and of compilers that define words without `_`.
pub const RESERVED: &str = "
    alignas alignof asm assert auto bool break case char complex const constexpr continue default do double else enum errno
    extern false float for fortran goto i386 if imaginary inline int isfinite isnan isinf isnormal fpclassify signbit isgreater
    isless islessgreater isunordered linux long main near far noreturn nullptr register restrict return short signed sizeof
    static static_assert stderr stdin stdout struct switch thread_local true typedef typeof union unix unsigned void volatile
    while BUFSIZ EOF FILENAME_MAX FOPEN_MAX HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN NULL RAND_MAX EXIT_FAILURE EXIT_SUCCESS
    MB_CUR_MAX SEEK_CUR SEEK_END SEEK_SET TMP_MAX L_tmpnam P_tmpdir DOMAIN OVERFLOW UNDERFLOW PLOSS TLOSS SING M_E M_LOG2E
    M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 FP_NAN FP_INFINITE FP_ZERO FP_NORMAL
    FP_SUBNORMAL FP_FAST_FMA FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT math_errhandling DBL_EPSILON DBL_MAX DBL_MIN
    FLT_RADIX none
";

/// The place of a variable in the structures of the program.
#[derive(Debug)]
pub struct C<'m> {
    pub flat: &'m Flat,
    pub names: Names,
    /// The name of the model, and what all names of the file begin with.
    pub prefix: String,
    /// The index of each state.
    pub states: FxHashMap<Leaf, usize>,
    places: FxHashMap<Leaf, &'static str>,
    /// In a model with modes: the truths of relations, which are variables there.
    truths: FxHashMap<Leaf, String>,
    watches: FxHashMap<ExprId, usize>,
    samplers: FxHashMap<ExprId, usize>,
}

impl<'m> C<'m> {
    pub fn new(model: &'m Model<'m>) -> Self {
        let flat = model.flat;
        let mut names = Names::new(RESERVED);
        let prefix = super::prefix::prefix(&mut names, flat);
        let mut places: FxHashMap<Leaf, &'static str> = FxHashMap::default();
        names.add_all(model);
        for (leaf, place) in model.kept() {
            places.entry(leaf).or_insert(structure(place));
        }
        let mut samplers: FxHashMap<ExprId, usize> = (model.samplers.iter().zip(0..))
            .map(|(one, at)| (one.node, at))
            .collect();
        if model.switched.is_some() {
            samplers.clear();
        }
        C {
            samplers,
            watches: model.watch_of.clone(),
            truths: model.truths("m->held", "m->sampled"),
            states: model.states.iter().copied().zip(0..).collect(),
            flat,
            names,
            prefix,
            places,
        }
    }

    /// The dialect of one mode. A mode has its own auxiliaries; modes share places for them by their names.
    pub fn in_position(&self, of: &'m Model<'m>, shared: &mut Vec<(String, String)>) -> C<'m> {
        let mut names = self.names.clone();
        let mut places = self.places.clone();
        for id in of.flat.variable_ids().skip(self.flat.variables.len()) {
            let shown = of.flat.name(id);
            let known = shared.iter().find(|(other, _)| *other == shown);
            let name = match known {
                Some((_, name)) => name.clone(),
                None => {
                    let name = names.fresh(&shown);
                    shared.push((shown, name.clone()));
                    name
                }
            };
            names.set(Leaf::Var(id), name);
            places.insert(Leaf::Var(id), "v");
        }
        C {
            flat: of.flat,
            names,
            prefix: self.prefix.clone(),
            places,
            truths: self.truths.clone(),
            states: self.states.clone(),
            watches: FxHashMap::default(),
            samplers: FxHashMap::default(),
        }
    }

    /// The name of a member.
    pub fn member(&self, leaf: Leaf) -> &str {
        match leaf {
            // The next values are in a structure of their own.
            Leaf::New(id) => self.names.get(Leaf::Var(id)),
            _ => self.names.get(leaf),
        }
    }

    /// `v->C1_e`
    pub fn place(&self, leaf: Leaf) -> String {
        if let Some(truth) = self.truths.get(&leaf) {
            return truth.clone();
        }
        match self.places.get(&leaf) {
            Some(place) => format!("{place}->{}", self.member(leaf)),
            // A variable that no block computes has a given value, or none.
            None => {
                let value = match leaf {
                    Leaf::Var(id) => self.flat.value(id).and_then(|given| given.value.real()),
                    _ => None,
                };
                number(value.unwrap_or(0.0)).text
            }
        }
    }

    /// Whether it has a place that can be set.
    pub fn has(&self, leaf: Leaf) -> bool {
        self.places.contains_key(&leaf)
    }

    fn function(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix)
    }
}

/// The structure of a group of values.
fn structure(place: Place) -> &'static str {
    match place {
        Place::States => "x",
        Place::Inputs => "u",
        Place::Parameters => "p",
        Place::Discretes => "d",
        Place::Nexts => "next",
        Place::Before => "pre",
        Place::Computed | Place::Eliminated => "v",
    }
}

pub fn number(value: f64) -> Text {
    if value.is_nan() {
        return Text::atom("NAN");
    }
    if value.is_infinite() {
        return match value > 0.0 {
            true => Text::atom("HUGE_VAL"),
            false => Text::new("-HUGE_VAL", precedence::SIGN),
        };
    }
    let text = format!("{value:?}");
    match text.starts_with('-') {
        true => Text::new(text, precedence::SIGN),
        false => Text::atom(text),
    }
}

fn called(name: &str, args: &[&Text]) -> Text {
    let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    Text::atom(format!("{name}({})", args.join(", ")))
}

/// An infix operator such as `a + b`; the right operand has to bind more strongly.
pub fn infix(op: &str, binds: u8, a: &Text, b: &Text) -> Text {
    Text::new(
        format!("{} {op} {}", a.at_least(binds), b.at_least(binds + 1)),
        binds,
    )
}

impl Dialect for C<'_> {
    fn leaf(&self, leaf: Leaf) -> Text {
        let text = self.place(leaf);
        match text.starts_with('-') {
            true => Text::new(text, precedence::SIGN),
            false => Text::atom(text),
        }
    }

    fn number(&self, value: f64) -> Text {
        number(value)
    }

    fn truth(&self, value: bool) -> Text {
        Text::atom(if value { "1.0" } else { "0.0" })
    }

    fn time(&self) -> Text {
        Text::atom("time")
    }

    fn unary(&self, op: UnaryOp, a: &Text) -> Text {
        let sign = match op {
            UnaryOp::Minus => "-",
            UnaryOp::Plus => "+",
            UnaryOp::Not => "!",
        };
        Text::new(
            format!("{sign}{}", a.at_least(precedence::POWER)),
            precedence::SIGN,
        )
    }

    fn binary(&self, op: BinaryOp, a: &Text, b: &Text) -> Text {
        use precedence::{AND, OR, PRODUCT, RELATION, SUM};
        match op {
            BinaryOp::Add => infix("+", SUM, a, b),
            BinaryOp::Sub => infix("-", SUM, a, b),
            BinaryOp::Mul => infix("*", PRODUCT, a, b),
            BinaryOp::Div => infix("/", PRODUCT, a, b),
            BinaryOp::Pow if b.text == "2.0" => called(&self.function("square"), &[a]),
            BinaryOp::Pow => called("pow", &[a, b]),
            BinaryOp::And => Text::new(
                format!("{} && {}", a.at_least(RELATION), b.at_least(RELATION)),
                AND,
            ),
            BinaryOp::Or => Text::new(
                format!("{} || {}", a.at_least(RELATION), b.at_least(RELATION)),
                OR,
            ),
            _ => {
                let op = match op {
                    BinaryOp::NotEqual => "!=",
                    other => other.text(),
                };
                Text::new(
                    format!("{} {op} {}", a.at_least(SUM), b.at_least(SUM)),
                    RELATION,
                )
            }
        }
    }

    fn choice(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let above = precedence::IF + 1;
        let text = format!(
            "{} ? {} : {}",
            condition.at_least(above),
            a.at_least(above),
            b.text
        );
        Text::new(text, precedence::IF)
    }

    fn call(&self, function: Function, args: &[Text]) -> Text {
        use Function::*;
        let name = match function {
            Ln => "log".to_string(),
            Abs => "fabs".to_string(),
            Sign => self.function("sign"),
            Mod => self.function("mod"),
            Min | Max => {
                let name = if function == Min { "fmin" } else { "fmax" };
                let mut args = args.iter();
                let first = args.next().cloned().unwrap_or_else(|| Text::atom("0.0"));
                return args.fold(first, |best, next| called(name, &[&best, next]));
            }
            other => other.text().to_string(),
        };
        let args: Vec<&Text> = args.iter().collect();
        called(&name, &args)
    }

    fn table(&self, x: &Text, xs: &[Text], ys: &[Text]) -> Text {
        let list = |points: &[Text]| {
            let points: Vec<&str> = points.iter().map(|point| point.text.as_str()).collect();
            format!("(const double[]){{{}}}", points.join(", "))
        };
        let name = self.function("table");
        Text::atom(format!(
            "{name}({}, {}, {}, {})",
            x.text,
            xs.len(),
            list(xs),
            list(ys)
        ))
    }

    fn kept(&self, id: ExprId) -> Option<Kept> {
        if self.watches.contains_key(&id) {
            return Some(match self.flat.exprs.node(id) {
                Node::Call(Function::Mod, _) => Kept::WithOperands,
                _ => Kept::Alone,
            });
        }
        self.samplers.contains_key(&id).then_some(Kept::Alone)
    }

    fn kept_text(&self, id: ExprId, operands: &[Text]) -> Text {
        if let Some(at) = self.samplers.get(&id) {
            return Text::atom(format!("m->sampled[{at}]"));
        }
        let at = self.watches.get(&id).copied().unwrap_or(0);
        let held = Text::atom(format!("m->held[{at}]"));
        match operands {
            [x, y] => {
                let part = infix("*", precedence::PRODUCT, &held, y);
                infix("-", precedence::SUM, x, &part)
            }
            _ => held,
        }
    }

    fn define(&self, temporary: &str, value: &Text) -> String {
        format!("double {temporary} = {};", value.text)
    }

    fn set(&self, temporary: &str, value: &Text) -> String {
        format!("{temporary} = {};", value.text)
    }

    fn declare(&self, temporary: &str) -> Option<String> {
        Some(format!("double {temporary};"))
    }

    fn begin_if(&self, condition: &Text) -> String {
        format!("if ({}) {{", condition.text)
    }

    fn begin_unless(&self, condition: &Text) -> String {
        format!("if (!{}) {{", condition.at_least(precedence::ATOM))
    }

    fn begin_else(&self) -> String {
        "} else {".to_string()
    }

    fn end(&self) -> Option<String> {
        Some("}".to_string())
    }
}
