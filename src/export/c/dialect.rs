//! How C writes expressions.

use rustc_hash::FxHashMap;

use crate::export::model::Model;
use crate::export::names::Names;
use crate::export::places::Place;
use crate::export::write::{Dialect, Kept, write_rest};
use crate::expr::op::precedence;
use crate::expr::print::{Form, Infix, Prefix, Style, Text, infix};
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

/// How C writes the variables of one model, or of one mode: each is a member of a structure.
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

    fn truth(&self, value: bool) -> &'static str {
        if value { "1.0" } else { "0.0" }
    }

    fn time(&self) -> &'static str {
        "time"
    }

    fn prefix(&self, op: UnaryOp) -> Prefix {
        Prefix {
            word: match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::Not => "!",
            },
            operand: precedence::POWER,
            binds: precedence::SIGN,
        }
    }

    fn infix(&self, op: BinaryOp) -> Infix {
        use precedence::{PRODUCT, RELATION, SUM};
        let (word, operands) = match op {
            BinaryOp::Add => return Infix::left_to_right(" + ", SUM),
            BinaryOp::Sub => return Infix::left_to_right(" - ", SUM),
            BinaryOp::Mul => return Infix::left_to_right(" * ", PRODUCT),
            BinaryOp::Div => return Infix::left_to_right(" / ", PRODUCT),
            BinaryOp::And => (" && ", RELATION),
            BinaryOp::Or => (" || ", RELATION),
            BinaryOp::NotEqual => (" != ", SUM),
            other => (infix(other, Style::Plain).word, SUM),
        };
        Infix {
            word,
            left: operands,
            right: operands,
            binds: op.precedence(),
        }
    }

    fn power(&self, [a, b]: [ExprId; 2], square: bool, form: &mut Form<'_, u8>) {
        match square {
            true => form.called(&self.function("square"), &[a], precedence::IF),
            false => form.called("pow", &[a, b], precedence::IF),
        }
    }

    fn choice(&self, [condition, then, otherwise]: [ExprId; 3], form: &mut Form<'_, u8>) {
        let above = precedence::IF + 1;
        form.at(condition, above);
        form.word(" ? ");
        form.at(then, above);
        form.word(" : ");
        form.at(otherwise, precedence::IF);
    }

    fn call(&self, function: Function, args: &[ExprId], form: &mut Form<'_, u8>) {
        use Function::*;
        let name = match function {
            Ln => "log",
            Abs => "fabs",
            Sign | Mod => &self.function(function.text()),
            Min | Max => {
                let name = if function == Min { "fmin(" } else { "fmax(" };
                for _ in 1..args.len() {
                    form.word(name);
                }
                for (at, &arg) in args.iter().enumerate() {
                    form.at(arg, precedence::IF);
                    form.word(if at == 0 { "" } else { ")" });
                    form.word(if at + 1 < args.len() { ", " } else { "" });
                }
                return;
            }
            Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Exp | Log10
            | Sqrt | Floor | Ceil => function.text(),
            // Written otherwise, or no values.
            Table | Sample | Der | Der2 | New | Init | Pre => function.text(),
        };
        form.called(name, args, precedence::IF);
    }

    fn table(&self, x: ExprId, xs: &[ExprId], ys: &[ExprId], form: &mut Form<'_, u8>) {
        form.text(&self.function("table"));
        form.word("(");
        form.at(x, precedence::IF);
        form.text(&format!(", {}", xs.len()));
        for points in [xs, ys] {
            form.word(", (const double[]){");
            form.series(points, precedence::IF, ", ");
            form.word("}");
        }
        form.word(")");
    }

    fn kept(&self, id: ExprId) -> Option<Kept> {
        if self.watches.contains_key(&id) {
            return Some(match self.flat.exprs.node(id) {
                Node::Call(Function::Mod, _) => Kept::WithOperands(precedence::SUM),
                _ => Kept::Alone,
            });
        }
        self.samplers.contains_key(&id).then_some(Kept::Alone)
    }

    fn write_kept(&self, id: ExprId, form: &mut Form<'_, u8>) {
        if let Some(at) = self.samplers.get(&id) {
            return form.text(&format!("m->sampled[{at}]"));
        }
        let held = format!("m->held[{}]", self.watches.get(&id).copied().unwrap_or(0));
        match self.flat.exprs.node(id) {
            Node::Call(Function::Mod, args) => {
                let args = self.flat.exprs.args(args);
                write_rest([args[0], args[1]], &held, form);
            }
            _ => form.text(&held),
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
