//! Reads the settings of a point from a text such as `C1.e=2,u=10,der(x)=1,Time=0.1`.
//!
//! Before: a solved model. After: the settings. Each is checked to be settable: states (with their lower derivatives), inputs,
//! parameters, discrete variables and Time can be set; iteration variables of nonlinear loops can be given a guess. The name
//! of an eliminated variable stands for the variable that replaced it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Point;
use crate::base::diagnostics::nearest;
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, Kind, Leaf, Type, VarId};
use crate::passes::blocks::{Block, Solved};

/// The most names in a hint, for parameters and for other variables.
const MOST: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    Time(f64),
    Value(Leaf, Value),
    /// Of what the others determine in a mode.
    Agrees(Leaf, f64),
}

/// A mistake in a part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  {hint}"),
            None => Ok(()),
        }
    }
}

fn mistake<T>(message: String, hint: Option<String>) -> Result<T, Mistake> {
    Err(Mistake { message, hint })
}

/// Reads a list of settings, and returns all mistakes in it.
pub fn read(solved: &Solved, text: &str) -> Result<Vec<Setting>, Vec<Mistake>> {
    read_with(Reader::new(solved), text)
}

/// The same in a mode, where some that are states in other modes are computed: these have to agree ([`agree`]).
pub fn read_in_mode(
    solved: &Solved,
    text: &str,
    states: FxHashSet<Leaf>,
) -> Result<Vec<Setting>, Vec<Mistake>> {
    let mut reader = Reader::new(solved);
    reader.agreeing = states;
    read_with(reader, text)
}

fn read_with(reader: Reader<'_>, text: &str) -> Result<Vec<Setting>, Vec<Mistake>> {
    let (mut settings, mut mistakes) = (Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    let mut by_leaf: FxHashMap<Leaf, (&str, Value)> = FxHashMap::default();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() {
            continue;
        }
        match reader.setting(part) {
            Ok((name, setting)) => {
                if !seen.insert(name) {
                    let message = format!("`{name}` is given twice");
                    mistakes.push(Mistake {
                        message,
                        hint: None,
                    });
                }
                if let Setting::Value(leaf, value) = setting
                    && let Some((other, known)) = by_leaf.insert(leaf, (name, value))
                    && other != name
                    && !are_alike(known, value)
                {
                    let message = format!(
                        "`{other}` and `{name}` are given values that contradict each other: one is the other, but for the sign"
                    );
                    mistakes.push(Mistake {
                        message,
                        hint: Some(format!("give one of them: leave `{name}` away")),
                    });
                }
                settings.push(setting);
            }
            Err(found) => mistakes.push(found),
        }
    }
    match mistakes.is_empty() {
        true => Ok(settings),
        false => Err(mistakes),
    }
}

/// Whether two values given of one variable are the same: given values are rounded.
fn are_alike(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => (a - b).abs() <= 1e-4 * (a.abs() + b.abs()),
        _ => a == b,
    }
}

/// Whether what has to agree does: given values are rounded.
pub fn agree(settings: &[Setting], point: &Point) -> bool {
    settings.iter().all(|setting| match *setting {
        Setting::Agrees(leaf, wanted) => point.real(leaf).is_some_and(|found| {
            (wanted - found).abs() <= 1e-4 * (wanted.abs() + found.abs()).max(1e-9)
        }),
        _ => true,
    })
}

/// More candidates may be given than are states, if they agree: returns those that do not, with the values that they would
/// have.
pub fn disagreeing(solved: &Solved, settings: &[Setting], point: &Point) -> Vec<(Leaf, f64)> {
    let selections = solved.flat.selections();
    (settings.iter())
        .filter_map(|setting| match *setting {
            Setting::Value(leaf, Value::Real(wanted)) => Some((leaf, wanted)),
            _ => None,
        })
        .filter(|(leaf, _)| selections.iter().any(|one| one.candidates.contains(leaf)))
        .filter_map(|(leaf, wanted)| Some((leaf, wanted, point.real(leaf)?)))
        .filter(|(_, wanted, found)| (wanted - found).abs() > 1e-4 * (wanted.abs() + found.abs()))
        .map(|(leaf, _, found)| (leaf, found))
        .collect()
}

/// A point with these settings.
pub fn point(solved: &Solved, settings: &[Setting]) -> Point {
    let mut point = Point::new(solved);
    for setting in settings {
        match *setting {
            Setting::Time(time) => point.time = time,
            Setting::Value(leaf, value) => point.set(leaf, value),
            Setting::Agrees(..) => {}
        }
    }
    point
}

/// Parameters on which arrays and `for`s depend, directly or through other parameters.
fn shaping(flat: &Flat) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut stack = flat.shaping.clone();
    while let Some(id) = stack.pop() {
        if found.insert(id)
            && let Some(given) = flat.value(id)
        {
            (flat.exprs).leaves(given.expression, |leaf| stack.push(leaf.variable()));
        }
    }
    found
}

struct Reader<'s> {
    solved: &'s Solved,
    flat: &'s Flat,
    names: FxHashMap<String, VarId>,
    eliminated: FxHashMap<Leaf, ExprId>,
    /// Iteration variables, and candidates for states.
    guesses: FxHashSet<Leaf>,
    /// Parameters whose values are built into the model.
    shaping: FxHashSet<VarId>,
    orders: Point,
    /// States of other modes: what is given of them has to agree.
    agreeing: FxHashSet<Leaf>,
}

impl<'s> Reader<'s> {
    fn new(solved: &'s Solved) -> Self {
        let flat = &solved.flat;
        let mut guesses = FxHashSet::default();
        for block in &solved.blocks {
            if let Block::Nonlinear(block) = block {
                guesses.extend(block.iteration.iter().copied());
            }
        }
        let selections = flat.selections().iter();
        guesses.extend(selections.flat_map(|selection| selection.candidates.iter().copied()));
        Reader {
            solved,
            flat,
            names: flat.variable_ids().map(|id| (flat.name(id), id)).collect(),
            eliminated: flat.replacements(),
            guesses,
            shaping: shaping(flat),
            orders: Point::new(solved),
            agreeing: FxHashSet::default(),
        }
    }

    fn setting<'t>(&self, part: &'t str) -> Result<(&'t str, Setting), Mistake> {
        let Some((name, text)) = part.split_once('=') else {
            let hint = "write `name=value`, several with commas between".to_string();
            return mistake(format!("`{part}` has no value"), Some(hint));
        };
        let (name, text) = (name.trim(), text.trim());
        if name == "Time" {
            return match value(text) {
                Some(Value::Real(time)) => Ok((name, Setting::Time(time))),
                _ => mistake(format!("`{text}` is not a number, as Time is"), None),
            };
        }
        let leaf = self.leaf(name)?;
        let (leaf, negative) = match (self.settable(name, leaf), value(text)) {
            (Err(_), Some(Value::Real(value))) if self.agreeing.contains(&leaf) => {
                return Ok((name, Setting::Agrees(leaf, value)));
            }
            (found, _) => found?,
        };
        let ty = match leaf {
            Leaf::Var(variable) => self.flat.variable(variable).ty,
            _ => Type::Real,
        };
        let value = match (value(text), ty) {
            (Some(Value::Real(value)), Type::Real) => {
                Value::Real(if negative { -value } else { value })
            }
            (Some(value @ Value::Bool(_)), Type::Boolean) => value,
            (_, Type::Real) => {
                return mistake(format!("`{text}` is not a number, as `{name}` is"), None);
            }
            (_, Type::Boolean) => {
                let hint = format!("write `{name}=true` or `{name}=false`");
                return mistake(format!("`{name}` is boolean, `{text}` is not"), Some(hint));
            }
        };
        Ok((name, Setting::Value(leaf, value)))
    }

    /// The leaf that a name stands for: `x`, `der(x)`, `der(der(x))`, `der2(x)`.
    fn leaf(&self, name: &str) -> Result<Leaf, Mistake> {
        let (mut inner, mut order) = (name, 0u8);
        loop {
            let (rest, more) = match (inner.strip_prefix("der("), inner.strip_prefix("der2(")) {
                (Some(rest), _) => (rest, 1),
                (_, Some(rest)) => (rest, 2),
                _ => break,
            };
            let Some(rest) = rest.strip_suffix(')') else {
                return mistake(format!("`{name}` has no closing bracket"), None);
            };
            inner = rest.trim();
            order = order.saturating_add(more);
        }
        let Some(&variable) = self.names.get(inner) else {
            if let Some(found) = self.array(inner) {
                return Err(found);
            }
            let known = self.names.keys().map(String::as_str);
            let near = nearest(inner, known.chain(["Time"]));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            return mistake(format!("there is no variable `{inner}`"), hint);
        };
        if order > self.orders.order(variable) {
            return mistake(format!("the model has no `{name}`"), self.settable_names());
        }
        Ok(match order {
            0 => Leaf::Var(variable),
            _ => Leaf::Der(variable, order),
        })
    }

    /// The mistake of a name that lacks an index: `k` for `k[1]`, `c.R` for `c[1].R`.
    fn array(&self, name: &str) -> Option<Mistake> {
        let has_index = |id: &VarId| {
            let full = self.flat.name(*id);
            full.contains('[') && without_indices(&full) == name
        };
        let mut elements = (self.flat.variable_ids().filter(has_index)).map(Leaf::Var);
        let first = elements.next()?;
        let hint = match self.settable("", first) {
            Ok(_) => {
                let names = self.list(std::iter::once(first).chain(elements));
                Some(format!("its elements can be given: {names}"))
            }
            Err(_) => self.settable_names(),
        };
        let message = format!("`{name}` is an array");
        Some(Mistake { message, hint })
    }

    /// The leaf that is set for a name; true if it is set to the negative of the value.
    fn settable(&self, name: &str, leaf: Leaf) -> Result<(Leaf, bool), Mistake> {
        if let Some(&expression) = self.eliminated.get(&leaf) {
            if let Some((other, negative)) = self.flat.exprs.signed_leaf(expression)
                && self.is_settable(other)
            {
                return Ok((other, negative));
            }
            let text = self.flat.expression(expression);
            let message = format!("`{name}` cannot be given: it is `{text}`");
            return mistake(message, self.settable_names());
        }
        if self.is_settable(leaf) {
            return Ok((leaf, false));
        }
        if self.flat.variable(leaf.variable()).kind == Kind::Constant {
            let message = format!("`{name}` is a constant");
            return mistake(message, self.settable_names());
        }
        if self.shaping.contains(&leaf.variable()) {
            let message = format!(
                "`{name}` sets the size of an array, a bound of a `for` or an index, so it cannot \
                 be given"
            );
            let hint = "give another value in the model itself".to_string();
            return mistake(message, Some(hint));
        }
        let hint = self.guesses_beside(leaf).or_else(|| self.settable_names());
        mistake(format!("`{name}` is computed, so it cannot be given"), hint)
    }

    fn is_settable(&self, leaf: Leaf) -> bool {
        let kind = self.flat.variable(leaf.variable()).kind;
        let known = match leaf {
            Leaf::Var(_) | Leaf::Der(..) if kind == Kind::State => self.flat.is_state(leaf),
            Leaf::Var(id) if kind == Kind::Parameter => !self.shaping.contains(&id),
            Leaf::Var(_) => matches!(kind, Kind::Input | Kind::Discrete),
            Leaf::Der(..) => kind == Kind::Input,
            _ => false,
        };
        known || self.guesses.contains(&leaf)
    }

    /// For an unknown of a nonlinear loop: the iteration variables, which can be given a guess.
    fn guesses_beside(&self, leaf: Leaf) -> Option<String> {
        let block = self.solved.blocks.iter().find_map(|block| match block {
            Block::Nonlinear(block) if block.unknowns.contains(&leaf) => Some(block),
            _ => None,
        })?;
        let names = self.list(block.iteration.iter().copied());
        Some(format!(
            "in its nonlinear loop, guesses can be given for {names}"
        ))
    }

    fn settable_names(&self) -> Option<String> {
        const WHAT: &str = "states, inputs, parameters, discrete variables and Time can be given";
        let some = self.flat.variable_ids().flat_map(|id| {
            let of = match self.flat.variable(id).kind {
                Kind::State => self.flat.variable(id).states,
                Kind::Input | Kind::Discrete => 1,
                _ => 0,
            };
            (0..of).map(move |order| Leaf::at_order(id, order))
        });
        let selections = self.flat.selections().iter();
        let some = some.chain(selections.flat_map(|one| one.candidates.iter().copied()));
        let mut names = self.list(some);
        let parameters: Vec<Leaf> = (self.flat.variable_ids())
            .filter(|&id| self.flat.variable(id).kind == Kind::Parameter)
            .map(Leaf::Var)
            .filter(|leaf| !self.eliminated.contains_key(leaf) && self.is_settable(*leaf))
            .collect();
        let last = match parameters.len() {
            0 => String::new(),
            1..=MOST => self.list(parameters.into_iter()),
            many => format!("{many} parameters"),
        };
        if !names.is_empty() && !last.is_empty() {
            names.push_str(", ");
        }
        names.push_str(&last);
        Some(match names.is_empty() {
            true => WHAT.into(),
            false => format!("{WHAT}: {names}"),
        })
    }

    fn list(&self, leaves: impl Iterator<Item = Leaf>) -> String {
        let mut names: Vec<String> = (leaves.take(MOST + 1))
            .map(|leaf| format!("`{}`", self.flat.leaf_name(leaf)))
            .collect();
        if names.len() > MOST {
            names[MOST] = "...".into();
        }
        names.join(", ")
    }
}

/// `c[2].R[1]` as `c.R`.
fn without_indices(name: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '[' => inside = true,
            ']' => inside = false,
            _ if !inside => out.push(letter),
            _ => {}
        }
    }
    out
}

fn value(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
            Some(Value::Real(value))
        }
    }
}
