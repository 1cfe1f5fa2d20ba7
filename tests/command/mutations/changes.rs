//! Changes of a text that leave much of its sense: numbers, names, operators, statements.

use super::Subject;

/// A plain generator, the same in every run (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }
}

const NUMBERS: &[&str] = &[
    "0", "1", "-1", "2", "0.5", "1e-9", "1e9", "1e300", "Time", "3",
];
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "**", "<", ">", "==", "and", "or", "=", "//",
];
/// Terms that put something special in the place of a name.
const TERMS: &[&str] = &[
    "NAME**0",
    "0*NAME",
    "NAME/NAME",
    "(NAME - NAME)",
    "der(NAME)",
    "sqrt(NAME)",
    "abs(NAME)",
    "sign(NAME)",
    "(if NAME > 0 then NAME else 0)",
    "NAME**2",
    "pre(NAME)",
    "1/NAME",
    "ln(NAME)",
    "mod(NAME, 1)",
    "-NAME",
    "(if Time < 0.5 then NAME else 1)",
    "table(NAME, [0, 1], [1, 2])",
];
const STATEMENTS: &[&str] = &[
    "init(NAME) = 0",
    "NAME = 0",
    "NAME = OTHER",
    "der(NAME) = OTHER",
    "0 = if OTHER > 0 then NAME else OTHER",
    "when sample(0.3, 0.3) then\n init(NAME) = 0\nendwhen",
    "when NAME > 0 then\n init(OTHER) = 0\nendwhen",
    "new(NAME) = not pre(NAME)",
    "state NAME",
    "nostate NAME",
    "connect NAME at OTHER",
    "connect NAME - OTHER",
    "connect NAME from OTHER to OTHER",
    "node NAME2",
    "junction1 NAME1",
    "NAME*OTHER = 1",
    "NAME = NAME",
];

/// The models of a text that are no types.
pub fn model_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if words.next() != Some("model") {
            continue;
        }
        let name = match words.next() {
            Some("type" | "class") | None => continue,
            Some(base) if base.starts_with('(') => line.split(')').nth(1).unwrap_or("").trim(),
            Some(name) => name,
        };
        let name: String = name
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Words, numbers and single signs; blanks are pieces, too.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut before = None;
    for letter in text.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        // `0.5` and `**` are one piece.
        let kind = match letter {
            '.' if before == Some(1) => Some(1),
            _ if is_word && before == Some(1) => Some(1),
            _ if letter.is_ascii_digit() && before != Some(0) => Some(1),
            _ if is_word => Some(0),
            ' ' => Some(2),
            '*' => Some(3),
            _ => None,
        };
        match pieces.last_mut() {
            Some(last) if kind.is_some() && kind == before => last.push(letter),
            _ => pieces.push(letter.to_string()),
        }
        before = kind;
    }
    pieces
}

const KEYWORDS: &[&str] = &[
    "model",
    "type",
    "class",
    "cut",
    "main",
    "path",
    "terminal",
    "local",
    "parameter",
    "constant",
    "input",
    "output",
    "node",
    "junction1",
    "submodel",
    "connect",
    "at",
    "from",
    "to",
    "par",
    "loop",
    "reversed",
    "end",
    "if",
    "then",
    "elseif",
    "else",
    "when",
    "elsewhen",
    "endwhen",
    "for",
    "in",
    "do",
    "endfor",
    "and",
    "or",
    "not",
    "true",
    "false",
    "experiment",
    "der",
    "new",
    "init",
    "pre",
    "Time",
    "ic",
    "golden",
    "sample",
];

fn is_name(piece: &str) -> bool {
    piece.starts_with(char::is_alphabetic) && !KEYWORDS.contains(&piece)
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
}

/// The lines of a model, from its name to its end.
fn lines_of(lines: &[String], model: &str) -> std::ops::Range<usize> {
    let begins = |line: &String| model_names(line).first().is_some_and(|name| name == model);
    let Some(first) = lines.iter().position(begins) else {
        return 0..lines.len();
    };
    let length = lines[first..]
        .iter()
        .position(|line| line.starts_with("end"));
    // Not its first line, and not its last.
    first + 1
        ..length
            .map_or(lines.len(), |length| first + length)
            .max(first + 1)
}

/// Cuts of a part that no library has,
const CUTS: &[&str] = &[
    "cut A(e/f)",
    "cut A(e/f) B(e/-f)\n main path P <A - B>",
    "cut A(e/f) B(e/f)\n main path P <A - B>",
    "cut A(e/f) B(g/-f)\n main path P <A - B>",
    "cut A(e/f) B(e/h)\n main path P <A - B>",
    "cut A(e/f) B(g/h)\n main path P <A - B>",
    "cut A(e/f) B(g/-h)\n main path P <A - B>",
    "cut A(e/f) B(f/-e)\n main path P <A - B>",
    "cut A(e, g/f, h)",
    "cut A(e/.)",
    "cut A(e/f) B(g/h) D(e/h)\n main path P <A - D>",
];
/// and its equations.
const LAWS: &[&str] = &[
    "e = 1",
    "f = 1",
    "e = k*f**0",
    "f = k*e + 3*e*k",
    "e = k*f",
    "k*der(e) = f",
    "der(f) = e/k",
    "e = g",
    "f + h = 0",
    "e*h = k",
    "0 = if e > 0 then f else e",
    "0 = if Time < 1 then e - g else f",
    "0 = if e > 1 then e - g else f + h",
    "g = 2*e",
    "h = 2*f",
    "e - g = k*f",
    "e = k*f + g*h",
    "k*der(e - g) = f",
    "der(f) = e - g",
    "e = abs(f) + f**3",
    "e = k*h; g = k*f",
    "when e > 1 then\n init(e) = 0\n endwhen",
    "local x; der(x) = f; e = k*x",
    "local x; der(x) = e; x = k*f + g",
    "h = 0*e",
    "e**2 + f**2 = 1",
];

/// One submodel is of a type that is made up.
fn odd(lines: &mut Vec<String>, at: usize, random: &mut Random) {
    let line = &lines[at];
    let Some((_, rest)) = line.split_once("submodel (") else {
        return;
    };
    let Some((_, names)) = rest.split_once(')') else {
        return;
    };
    // Without values of parameters: this type has others.
    let mut depth = 0;
    let names: String = (names.chars())
        .filter(|&letter| {
            depth += i32::from(letter == '(');
            let keeps = depth == 0;
            depth -= i32::from(letter == ')');
            keeps
        })
        .collect();
    let mut odd = random.one_of(CUTS).copied().unwrap_or_default().to_string();
    for _ in 0..=random.below(3) {
        odd.push_str("\n ");
        odd.push_str(random.one_of(LAWS).copied().unwrap_or_default());
    }
    for own in ["g", "h"] {
        let mentions = pieces(&odd).iter().any(|piece| piece == own);
        let of_cut = odd
            .lines()
            .next()
            .is_some_and(|cut| pieces(cut).iter().any(|piece| piece == own));
        if mentions && !of_cut {
            odd.push_str("\n local ");
            odd.push_str(own);
        }
    }
    let number = lines.len();
    lines[at] = format!("  submodel (Odd{number}) {names}");
    lines.push(format!(
        "model type Odd{number}\n parameter k = 2\n {odd}\nend"
    ));
}

/// The text with a few changes, mostly in the model that is asked for.
pub fn changed(subject: &Subject, random: &mut Random) -> String {
    let mut text = subject.text.clone();
    for _ in 0..=random.below(3) {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        let mut range = lines_of(&lines, &subject.model);
        if range.is_empty() || random.below(5) == 0 {
            range = 0..lines.len();
        }
        change(&mut lines, range, random);
        text = lines.join("\n") + "\n";
    }
    text
}

fn change(lines: &mut Vec<String>, range: std::ops::Range<usize>, random: &mut Random) {
    if range.is_empty() {
        return;
    }
    let own: Vec<String> = pieces(&lines[range.clone()].join("\n"));
    let names: Vec<String> = own.into_iter().filter(|piece| is_name(piece)).collect();
    let at = range.start + random.below(range.len());
    let name = |random: &mut Random| random.one_of(&names).cloned().unwrap_or("x".into());
    match random.below(15) {
        12.. => {
            let places: Vec<usize> = range
                .filter(|&at| lines[at].contains("submodel ("))
                .collect();
            if let Some(&at) = random.one_of(&places) {
                odd(lines, at, random);
            }
        }
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(at, range.start + random.below(range.len())),
        3 => {
            let statement = random.one_of(STATEMENTS).copied().unwrap_or_default();
            let statement = statement
                .replace("NAME", &name(random))
                .replace("OTHER", &name(random));
            lines.insert(at, statement);
        }
        kind => {
            // In a line that has something of the kind.
            let wanted = |piece: &String| match kind {
                4 | 5 => is_number(piece),
                6..=9 => is_name(piece),
                _ => OPERATORS.contains(&piece.as_str()),
            };
            let places: Vec<(usize, usize)> = range
                .flat_map(|line| {
                    let pieces = pieces(&lines[line]);
                    let found = (0..pieces.len()).filter(|&at| wanted(&pieces[at]));
                    found.map(|at| (line, at)).collect::<Vec<_>>()
                })
                .collect();
            let Some(&(line, at)) = random.one_of(&places) else {
                return;
            };
            let mut parts = pieces(&lines[line]);
            let term = |name: &str, random: &mut Random| {
                random
                    .one_of(TERMS)
                    .map_or(String::new(), |term| term.replace("NAME", name))
            };
            parts[at] = match kind {
                4 | 5 => random.one_of(NUMBERS).copied().unwrap_or("0").to_string(),
                6 | 7 => name(random),
                8 => term(&parts[at], random),
                9 => random.one_of(NUMBERS).copied().unwrap_or("0").to_string(),
                _ => random.one_of(OPERATORS).copied().unwrap_or("+").to_string(),
            };
            lines[line] = parts.concat();
        }
    }
}
