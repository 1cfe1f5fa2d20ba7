//! Expressions of the three languages, read and computed in one go. Truths are 0 and 1.

use std::collections::HashMap;

use super::Language;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Word(String),
    Sign(&'static str),
}

fn tokens(text: &str) -> Vec<Token> {
    const SIGNS: [&str; 22] = [
        ".AND.", ".OR.", ".NOT.", ".TRUE.", ".FALSE.", ".NEQV.", ".EQV.", ".LT.", ".LE.", ".GT.",
        ".GE.", ".EQ.", ".NE.", "**", "+", "-", "*", "/", "^", "(", ")", ",",
    ];
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(&sign) = SIGNS
            .iter()
            .chain(&["<", ">"])
            .find(|sign| rest.starts_with(**sign))
        {
            found.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else if first.is_ascii_digit() {
            let bytes = rest.as_bytes();
            let mut end = 0;
            while end < bytes.len() {
                let sign_of_power = matches!(bytes[end], b'+' | b'-') && bytes[end - 1] == b'E';
                if !(bytes[end].is_ascii_digit()
                    || matches!(bytes[end], b'.' | b'E')
                    || sign_of_power)
                {
                    break;
                }
                end += 1;
            }
            found.push(Token::Number(
                rest[..end].parse().unwrap_or_else(|_| panic!("{rest}")),
            ));
            rest = &rest[end..];
        } else {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '$' || c == '_';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            assert!(end > 0, "cannot read {rest}");
            found.push(Token::Word(rest[..end].to_string()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    found
}

struct Reader<'r> {
    tokens: Vec<Token>,
    at: usize,
    language: Language,
    values: &'r HashMap<String, f64>,
}

pub fn value(text: &str, language: Language, values: &HashMap<String, f64>) -> f64 {
    let mut reader = Reader {
        tokens: tokens(text),
        at: 0,
        language,
        values,
    };
    let value = reader.choice();
    assert_eq!(reader.at, reader.tokens.len(), "too much in {text}");
    value
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

impl Reader<'_> {
    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) if signs.contains(sign) => {
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    /// A word of SIMNON's.
    fn word(&mut self, wanted: &str) -> bool {
        let simnon = self.language == Language::Simnon;
        let there =
            matches!(self.tokens.get(self.at), Some(Token::Word(word)) if simnon && word == wanted);
        self.at += usize::from(there);
        there
    }

    fn choice(&mut self) -> f64 {
        if !self.word("if") {
            return self.equivalence();
        }
        let condition = self.equivalence();
        assert!(self.word("then"));
        let yes = self.equivalence();
        assert!(self.word("else"));
        let no = self.choice();
        if condition != 0.0 { yes } else { no }
    }

    fn equivalence(&mut self) -> f64 {
        let mut value = self.or();
        while let Some(sign) = self.sign(&[".EQV.", ".NEQV."]) {
            let other = self.or();
            value = truth((value == other) == (sign == ".EQV."));
        }
        value
    }

    fn or(&mut self) -> f64 {
        let mut value = self.and();
        while self.sign(&[".OR."]).is_some() || self.word("or") {
            let other = self.and();
            value = truth(value != 0.0 || other != 0.0);
        }
        value
    }

    fn and(&mut self) -> f64 {
        let mut value = self.not();
        while self.sign(&[".AND."]).is_some() || self.word("and") {
            let other = self.not();
            value = truth(value != 0.0 && other != 0.0);
        }
        value
    }

    fn not(&mut self) -> f64 {
        match self.sign(&[".NOT."]).is_some() || self.word("not") {
            true => truth(self.not() == 0.0),
            false => self.relation(),
        }
    }

    fn relation(&mut self) -> f64 {
        let left = self.sum();
        const ALL: [&str; 8] = ["<", ">", ".LT.", ".LE.", ".GT.", ".GE.", ".EQ.", ".NE."];
        let Some(sign) = self.sign(&ALL) else {
            return left;
        };
        let right = self.sum();
        truth(match sign {
            "<" | ".LT." => left < right,
            ">" | ".GT." => left > right,
            ".LE." => left <= right,
            ".GE." => left >= right,
            ".EQ." => left == right,
            _ => left != right,
        })
    }

    fn sum(&mut self) -> f64 {
        // FORTRAN has a sign at the beginning of a sum only.
        let negative = self.sign(&["-"]).is_some();
        let mut value = self.product();
        if negative {
            value = -value;
        }
        while let Some(sign) = self.sign(&["+", "-"]) {
            let other = self.product();
            value = if sign == "+" {
                value + other
            } else {
                value - other
            };
        }
        value
    }

    fn product(&mut self) -> f64 {
        let mut value = self.power();
        while let Some(sign) = self.sign(&["*", "/"]) {
            let other = self.power();
            value = if sign == "*" {
                value * other
            } else {
                value / other
            };
        }
        value
    }

    fn power(&mut self) -> f64 {
        let base = self.atom();
        let wanted = if self.language == Language::Acsl {
            "**"
        } else {
            "^"
        };
        match self.sign(&["**", "^"]) {
            None => base,
            Some(sign) => {
                assert_eq!(sign, wanted);
                base.powf(self.atom())
            }
        }
    }

    fn atom(&mut self) -> f64 {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        match token {
            Some(Token::Number(value)) => value,
            Some(Token::Sign("(")) => {
                let value = self.choice();
                assert!(self.sign(&[")"]).is_some());
                value
            }
            Some(Token::Sign(".TRUE.")) => 1.0,
            Some(Token::Sign(".FALSE.")) => 0.0,
            // A value that is given: no expression.
            Some(Token::Sign("-")) if self.values.is_empty() => -self.atom(),
            Some(Token::Word(name)) => match self.sign(&["("]) {
                None => {
                    let key = self.language.key(&name);
                    *self
                        .values
                        .get(&key)
                        .unwrap_or_else(|| panic!("{name} has no value yet"))
                }
                Some(_) => {
                    let mut args = vec![self.choice()];
                    while self.sign(&[","]).is_some() {
                        args.push(self.choice());
                    }
                    assert!(self.sign(&[")"]).is_some());
                    self.call(&name, &args)
                }
            },
            other => panic!("{other:?} in {:?}", self.tokens),
        }
    }

    fn call(&self, name: &str, args: &[f64]) -> f64 {
        let a = args[0];
        match (self.language, name) {
            (Language::Desire, "swtch") => truth(a > 0.0),
            (Language::Desire, "lim") => a.max(0.0),
            (Language::Desire, "sgn") | (Language::Simnon, "sign") => {
                if a == 0.0 {
                    0.0
                } else {
                    a.signum()
                }
            }
            (Language::Desire | Language::Simnon, "log") | (Language::Acsl, "ALOG10") => a.log10(),
            (Language::Desire | Language::Simnon, "ln") | (Language::Acsl, "ALOG") => a.ln(),
            (Language::Simnon, "int") | (Language::Acsl, "AINT") => a.trunc(),
            (Language::Simnon, "min") => a.min(args[1]),
            (Language::Simnon, "max") => a.max(args[1]),
            (Language::Acsl, "AMIN1") => args.iter().copied().fold(f64::INFINITY, f64::min),
            (Language::Acsl, "AMAX1") => args.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            (Language::Acsl, "RSW") => {
                if a != 0.0 {
                    args[1]
                } else {
                    args[2]
                }
            }
            (Language::Simnon, "arcsin") => a.asin(),
            (Language::Desire, "asin") | (Language::Acsl, "ASIN") => a.asin(),
            (_, "sin" | "SIN") => a.sin(),
            (_, "cos" | "COS") => a.cos(),
            (_, "tanh" | "TANH") => a.tanh(),
            (_, "exp" | "EXP") => a.exp(),
            (_, "sqrt" | "SQRT") => a.sqrt(),
            (_, "abs" | "ABS") => a.abs(),
            (_, "atan2" | "ATAN2") => a.atan2(args[1]),
            _ => panic!("no function {name}"),
        }
    }
}
