//! Expressions of all kinds for exported programs: numbers are very small, very large, whole and negative.

/// What an expression may be made of.
#[derive(Clone, Copy)]
pub enum Form {
    Sum,
    Difference,
    Nested,
    Product,
    Quotient,
    /// Signs and powers, in words of the language in which `{}` is an expression.
    Text(&'static str),
    /// One of these functions.
    Of(&'static [&'static str]),
    /// A product of such texts.
    Wholes(&'static [&'static str]),
    If,
}

/// A small generator of numbers that look random.
pub struct Dice {
    pub seed: u64,
    pub numbers: &'static [&'static str],
    pub forms: &'static [Form],
    /// Forms of conditions that have conditions in them.
    pub conditions: &'static [&'static str],
}

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.seed = (self.seed)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % sides
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.roll(list.len())]
    }

    pub fn number(&mut self) -> &'static str {
        self.pick(self.numbers)
    }

    pub fn real(&mut self, names: &[&str], depth: usize) -> String {
        let small = |dice: &mut Dice| dice.real(names, depth - 1);
        if depth == 0 {
            return match self.roll(3) {
                0 => format!("({})", self.number()),
                1 => "Time".into(),
                _ => names[self.roll(names.len())].into(),
            };
        }
        match self.forms[self.roll(self.forms.len())] {
            Form::Sum => format!("({} + {})", small(self), small(self)),
            Form::Difference => format!("{} - {}", small(self), small(self)),
            Form::Nested => format!("({} - ({} - {}))", small(self), small(self), small(self)),
            Form::Product => format!("({})*({})", small(self), small(self)),
            Form::Quotient => format!("({})/(1 + ({})**2)", small(self), small(self)),
            Form::Text(text) => filled(text, || small(self)),
            Form::Of(functions) => {
                let function = self.pick(functions);
                format!("{function}(5*tanh({}))", small(self))
            }
            Form::Wholes(list) => {
                let [a, b, c] = [(); 3].map(|()| self.pick(list));
                format!("({a}*{b}*{c})")
            }
            Form::If => {
                let condition = self.truth(names, depth - 1);
                let (a, b) = (small(self), small(self));
                match self.roll(2) {
                    0 => format!("(if {condition} then {a} else {b})"),
                    _ => {
                        let other = self.truth(names, depth - 1);
                        let c = small(self);
                        format!("(if {condition} then {a} elseif {other} then {b} else {c})")
                    }
                }
            }
        }
    }

    fn truth(&mut self, names: &[&str], depth: usize) -> String {
        let form = self.roll(self.conditions.len() + 2);
        match self.conditions.get(form).filter(|_| depth > 0) {
            Some(text) => filled(text, || self.truth(names, depth - 1)),
            None => {
                let relation = self.pick(&["<", "<=", ">", ">="]);
                let (a, b) = (self.real(names, depth.min(1)), self.real(names, 0));
                format!("(tanh({a}) {relation} tanh({b}))")
            }
        }
    }
}

/// A text with something in the place of each `{}`.
fn filled(text: &str, mut part: impl FnMut() -> String) -> String {
    let mut pieces = text.split("{}");
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        out.push_str(&part());
        out.push_str(piece);
    }
    out
}

/// Outputs of which each may use the names before it.
pub fn outputs(dice: &mut Dice, names: &[&str], first: usize) -> String {
    let mut text = String::new();
    for name in &names[first..] {
        text.push_str(&format!("  output {name}\n"));
    }
    for at in first..names.len() {
        let value = dice.real(&names[..at], 4);
        text.push_str(&format!("  {} = max(-1e9, min(1e9, {value}))\n", names[at]));
    }
    text
}
