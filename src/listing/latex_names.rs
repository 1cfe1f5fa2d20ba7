//! Names of variables in LaTeX: the submodel and the index as subscripts, derivatives as dots.
//!
//! `x` is an italic letter, `Va` an italic word. `C1.e` is e with the subscript C1 (upright), `x[2]` is x with the
//! subscript 2, `c[2].R1.i` is i with the subscript c[2].R1. Different names look different: all letters are kept;
//! only underscores are escaped.

use super::latex_letters::letter;
use crate::expr::latex::Names;
use crate::flat::{Flat, InstanceId, Leaf, VarId};

/// Longer names are written without subscripts, and may break after dots.
const LONG: usize = 36;

/// Names relative to an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatexNames<'f> {
    pub flat: &'f Flat,
    pub from: InstanceId,
    /// The unknown that is set in square brackets.
    pub marked: Option<Leaf>,
    /// Variables that are shown under the name of another one.
    pub renamed: &'f [(VarId, VarId)],
}

impl<'f> LatexNames<'f> {
    /// Makes a printer of full names.
    pub fn new(flat: &'f Flat) -> Self {
        LatexNames {
            flat,
            from: InstanceId::TOP,
            marked: None,
            renamed: &[],
        }
    }

    fn path(&self, variable: VarId) -> String {
        let mut path = String::new();
        let instance = self.flat.variable(variable).instance;
        self.flat.write_path(instance, self.from, &mut path);
        path
    }

    fn last(&self, variable: VarId) -> &'f str {
        self.flat.names.name(self.flat.declaration(variable).name)
    }

    /// Writes a name with subscripts: `\dot{e}_{\mathrm{C1}}`.
    fn dotted(&self, variable: VarId, order: u8, out: &mut String) {
        let path = self.path(variable);
        let index = self.flat.variable(variable).index;
        let name = italic(self.last(variable));
        if path.len() + self.last(variable).len() > LONG {
            self.long(&path, variable, order, out);
            return;
        }
        match order {
            0 => out.push_str(&name),
            1 => out.push_str(&format!("\\dot{{{name}}}")),
            2 => out.push_str(&format!("\\ddot{{{name}}}")),
            _ => out.push_str(&format!("\\overset{{({order})}}{{{name}}}")),
        }
        match (path.is_empty(), index) {
            (true, 0) => {}
            (true, _) => out.push_str(&format!("_{{{index}}}")),
            (false, 0) => out.push_str(&format!("_{{{}}}", upright(&path))),
            (false, _) => out.push_str(&format!("_{{{},{index}}}", upright(&path))),
        }
    }

    /// Writes a long name in one line: `\operatorname{der}(\mathrm{a}.\allowbreak \mathit{x})`.
    fn long(&self, path: &str, variable: VarId, order: u8, out: &mut String) {
        for _ in 0..order {
            out.push_str("\\operatorname{der}(");
        }
        for part in path.split('.').filter(|part| !part.is_empty()) {
            out.push_str(&upright(part));
            out.push_str(".\\allowbreak ");
        }
        out.push_str(&italic(self.last(variable)));
        match self.flat.variable(variable).index {
            0 => {}
            index => out.push_str(&format!("_{{{index}}}")),
        }
        for _ in 0..order {
            out.push(')');
        }
    }
}

impl Names<Leaf> for LatexNames<'_> {
    fn write(&self, leaf: Leaf, out: &mut String) {
        let (word, variable, order) = match leaf {
            Leaf::Var(variable) => ("", variable, 0),
            Leaf::Der(variable, order) => ("", variable, order),
            Leaf::New(variable) => ("new", variable, 0),
            Leaf::Init(variable) => ("init", variable, 0),
            Leaf::Pre(variable) => ("pre", variable, 0),
        };
        let marked = self.marked == Some(leaf);
        if marked {
            out.push_str("\\bigl[");
        }
        let shown = match leaf {
            Leaf::Var(_) => self.renamed.iter().find(|(known, _)| *known == variable),
            _ => None,
        };
        let variable = shown.map_or(variable, |&(_, name)| name);
        if word.is_empty() {
            self.dotted(variable, order, out);
        } else {
            out.push_str(&format!("\\operatorname{{{word}}}("));
            self.dotted(variable, 0, out);
            out.push(')');
        }
        if marked {
            out.push_str("\\bigr]");
        }
    }

    /// Returns an estimate of the width. Letters of subscripts count two thirds.
    fn width(&self, leaf: Leaf) -> u32 {
        let variable = leaf.variable();
        let (path, last) = (self.path(variable), self.last(variable));
        let word = match leaf {
            Leaf::Var(_) | Leaf::Der(..) => 0,
            _ => 5,
        };
        (last.chars().count() + path.chars().count() * 2 / 3 + word) as u32
    }
}

/// Returns an upright word in math mode.
fn upright(name: &str) -> String {
    set(name, "\\mathrm", "")
}

fn italic(name: &str) -> String {
    match name.len() {
        1 if name != "_" => name.to_string(),
        _ => set(name, "\\mathit", "\\itshape "),
    }
}

/// Sets a name with the command `math`, with Greek letters as commands. A name with other non-ASCII letters is set as
/// text.
fn set(name: &str, math: &str, text: &str) -> String {
    let mut out = String::new();
    let mut foreign = false;
    for letter in name.chars() {
        match (letter, greek(letter)) {
            ('_', _) => out.push_str("\\_"),
            (_, Some(word)) => {
                // The braces prevent the next letter from joining the command.
                out.push_str(&format!("{{\\{word}}}"));
            }
            _ => {
                foreign |= !letter.is_ascii();
                out.push(letter);
            }
        }
    }
    match foreign {
        true => format!("\\text{{{text}{}}}", escape(name)),
        false => format!("{math}{{{out}}}"),
    }
}

/// Escapes text that contains only names and words of this program, for text mode.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '_' => out.push_str("\\_"),
            c if c.is_ascii() => out.push(c),
            c => out.push_str(&letter(c)),
        }
    }
    out
}

/// Returns the TeX command of a Greek letter. Capitals that look like Latin letters have none.
pub(super) fn greek(letter: char) -> Option<&'static str> {
    const SMALL: [&str; 25] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
        "lambda", "mu", "nu", "xi", "", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi",
        "chi", "psi", "omega",
    ];
    let word = match letter {
        'α'..='ω' => SMALL[(letter as usize) - ('α' as usize)],
        'Γ' => "Gamma",
        'Δ' => "Delta",
        'Θ' => "Theta",
        'Λ' => "Lambda",
        'Ξ' => "Xi",
        'Π' => "Pi",
        'Σ' => "Sigma",
        'Υ' => "Upsilon",
        'Φ' => "Phi",
        'Ψ' => "Psi",
        'Ω' => "Omega",
        'µ' => "mu",
        _ => "",
    };
    Some(word).filter(|word| !word.is_empty())
}
